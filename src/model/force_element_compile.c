#include "model/force_element_compile.h"

#include "model/joint_kinds.h"
#include <math.h>
#include <string.h>

/* Shape of the body or ghost that a frame sits on; NULL: the ground. */
static const yoke_port_shape *frame_shape(const yoke_model *model, const yoke_frame *frame) {
  if (frame->body == YOKE_GROUND) return NULL;
  return frame->body <= YOKE_FIRST_GHOST ? model->ghosts[YOKE_FIRST_GHOST - frame->body].shape
                                         : yoke_body_shape(model->bodies[frame->body].kind);
}

bool yoke_frame_is_on_a_line(const yoke_model *model, const yoke_frame *frame) {
  const yoke_port_shape *shape = frame_shape(model, frame);
  return shape == NULL || yoke_shape_freedoms(shape) == YOKE_FREEDOM_TRANSLATION_X;
}

bool yoke_frame_turns_in_plane(const yoke_model *model, const yoke_frame *frame) {
  const yoke_port_shape *shape = frame_shape(model, frame);
  return (shape == NULL || (yoke_shape_freedoms(shape) & YOKE_FREEDOM_ROTATIONS) == YOKE_FREEDOM_ROTATION_Z) &&
         frame->axes[8] > 1.0 - 1e-12;
}

double yoke_frame_angle(const yoke_frame *frame) {
  return atan2(frame->axes[3], frame->axes[0]);
}

static double value_at(const yoke_force_element *el, const yoke_pose *guess) {
  yoke_link_state state;
  double          grad[12];
  yoke_link_state_set(&el->link, guess, &state);
  return yoke_row_gradient(&el->row[0], &state, grad);
}

void yoke_force_element_compile(const yoke_model *model, int c, const int node[2], const yoke_pose *guess,
                                yoke_force_element *el) {
  const yoke_connection *connection = &model->connections[c];
  const yoke_frame      *side[2]    = {&model->frames[connection->frame[0]], &model->frames[connection->frame[1]]};
  memset(el, 0, sizeof *el);
  el->connection = c;
  for (int k = 0; k < 2; ++k) {
    el->link.node[k] = node[k];
    memcpy(el->link.origin[k], side[k]->origin, sizeof side[k]->origin);
    memcpy(el->link.axes[k], side[k]->axes, sizeof side[k]->axes);
  }
  memcpy(el->stiffness, connection->stiffness, sizeof el->stiffness);
  memcpy(el->damping, connection->damping, sizeof el->damping);
  switch (connection->kind) {
  case YOKE_CONNECTION_SPRING_DAMPER: {
    const bool line = yoke_frame_is_on_a_line(model, side[0]) && yoke_frame_is_on_a_line(model, side[1]);
    el->row[0]      = (yoke_row){line ? YOKE_ROW_STRETCH : YOKE_ROW_DISTANCE, 0, 0};
    el->law         = &connection->law;
    el->n           = 1;
    el->offset[0]   = connection->has_length ? connection->length : value_at(el, guess);
    break;
  }
  case YOKE_CONNECTION_TORSION_SPRING: {
    const bool planar = yoke_frame_turns_in_plane(model, side[0]) && yoke_frame_turns_in_plane(model, side[1]);
    el->row[0]        = (yoke_row){planar ? YOKE_ROW_TURN : YOKE_ROW_ANGLE, 0, 0};
    el->law           = &connection->law;
    el->n             = 1;
    el->offset[0]     = connection->length;
    if (planar) el->offset[0] += yoke_frame_angle(side[0]) - yoke_frame_angle(side[1]);
    if (!connection->has_length) el->offset[0] = value_at(el, guess);
    break;
  }
  case YOKE_CONNECTION_BUSHING:
    el->n = 6;
    for (int i = 0; i < 6; ++i) el->row[i] = (yoke_row){i < 3 ? YOKE_ROW_ALONG : YOKE_ROW_ROTATION, i % 3, i % 3};
    break;
  case YOKE_CONNECTION_ROD_ELEMENT:
    el->n   = 6;
    el->rod = connection->rod;
    break;
  default: /* flexible joint */
    el->n = yoke_joint_rows(connection->kind, el->row);
    if (connection->kind == YOKE_CONNECTION_DISTANCE) {
      el->offset[0] = connection->has_length ? connection->length : value_at(el, guess);
    }
    break;
  }
}
