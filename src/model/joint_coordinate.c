#include "model/joint_coordinate.h"

#include "model/force_element_compile.h"
#include <math.h>
#include <string.h>

bool yoke_joint_has_coordinate(yoke_connection_kind kind, int coordinate) {
  switch (kind) {
  case YOKE_CONNECTION_REVOLUTE: return coordinate == YOKE_COORDINATE_ANGLE;
  case YOKE_CONNECTION_TRANSLATIONAL: return coordinate == YOKE_COORDINATE_DISTANCE;
  case YOKE_CONNECTION_CYLINDRICAL: return true;
  default: return false;
  }
}

static double start_angle(const yoke_model *model, const yoke_frame *frame) {
  return yoke_frame_angle(frame) + (frame->body >= 0 ? model->bodies[frame->body].angle : 0.0);
}

/* Full turns in the angle as drawn. The border is beside pi, where mechanisms are often drawn: rounding does not choose there. */
static double full_turns(double angle) {
  const double pi = acos(-1.0);
  return 2.0 * pi * ceil((angle - pi - 0.01) / (2.0 * pi));
}

void yoke_joint_coordinate(const yoke_model *model, const yoke_connection *connection, int coordinate,
                           yoke_coordinate *out) {
  const yoke_frame *side[2] = {&model->frames[connection->frame[0]], &model->frames[connection->frame[1]]};
  *out                      = (yoke_coordinate){.link.node = {0, 1}, .row = {YOKE_ROW_ALONG, 2, 2}};
  for (int k = 0; k < 2; ++k) {
    memcpy(out->link.origin[k], side[k]->origin, sizeof side[k]->origin);
    memcpy(out->link.axes[k], side[k]->axes, sizeof side[k]->axes);
  }
  if (coordinate == YOKE_COORDINATE_DISTANCE) return;
  const bool is_planar = yoke_frame_turns_in_plane(model, side[0]) && yoke_frame_turns_in_plane(model, side[1]);
  out->row             = (yoke_row){is_planar ? YOKE_ROW_TURN : YOKE_ROW_ANGLE, 0, 0};
  if (!is_planar) return;
  out->offset = yoke_frame_angle(side[0]) - yoke_frame_angle(side[1]);
  out->offset += full_turns(start_angle(model, side[1]) - start_angle(model, side[0]));
}
