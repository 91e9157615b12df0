#include "model/force_elements.h"

#include "linalg/space.h"
#include <math.h>
#include <string.h>

/* ---- compilation ---- */

/* Kind of the body or ghost that a frame sits on; false: the ground. */
static bool frame_kind(const yoke_model *model, const yoke_frame *frame, yoke_body_kind *kind) {
  if (frame->body == YOKE_GROUND) return false;
  *kind = frame->body <= YOKE_FIRST_GHOST ? model->ghosts[YOKE_FIRST_GHOST - frame->body].kind
                                          : model->bodies[frame->body].kind;
  return true;
}

static bool is_on_a_line(const yoke_model *model, const yoke_frame *frame) {
  yoke_body_kind kind = YOKE_BODY_RIGID;
  return !frame_kind(model, frame, &kind) || kind == YOKE_BODY_MASS1D || kind == YOKE_BODY_CHAIN;
}

static bool turns_in_plane(const yoke_model *model, const yoke_frame *frame) {
  yoke_body_kind kind = YOKE_BODY_RIGID;
  return (!frame_kind(model, frame, &kind) || kind == YOKE_BODY_PLANAR) && frame->axes[8] > 1.0 - 1e-12;
}

/* Angle of a frame's x axis in its body's plane. */
static double frame_angle(const yoke_frame *frame) {
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
    const bool line = is_on_a_line(model, side[0]) && is_on_a_line(model, side[1]);
    el->row[0]      = (yoke_row){line ? YOKE_ROW_STRETCH : YOKE_ROW_DISTANCE, 0, 0};
    el->law         = &connection->law;
    el->n           = 1;
    el->offset[0]   = connection->has_length ? connection->length : value_at(el, guess);
    break;
  }
  case YOKE_CONNECTION_TORSION_SPRING: {
    const bool planar = turns_in_plane(model, side[0]) && turns_in_plane(model, side[1]);
    el->row[0]        = (yoke_row){planar ? YOKE_ROW_TURN : YOKE_ROW_ANGLE, 0, 0};
    el->law           = &connection->law;
    el->n             = 1;
    el->offset[0]     = connection->length;
    if (planar) el->offset[0] += frame_angle(side[0]) - frame_angle(side[1]);
    if (!connection->has_length) el->offset[0] = value_at(el, guess);
    break;
  }
  case YOKE_CONNECTION_BUSHING:
    el->n = 6;
    for (int i = 0; i < 6; ++i) el->row[i] = (yoke_row){i < 3 ? YOKE_ROW_ALONG : YOKE_ROW_ROTATION, i % 3, i % 3};
    break;
  default: /* flexible joint */
    el->n = yoke_joint_rows(connection->kind, el->row);
    if (connection->kind == YOKE_CONNECTION_DISTANCE) {
      el->offset[0] = connection->has_length ? connection->length : value_at(el, guess);
    }
    break;
  }
}

/* ---- forces ---- */

static double row_force(const yoke_force_element *el, int i, double x, double v, double t, double *F_x, double *F_v) {
  if (el->law != NULL) return yoke_law_force(el->law, x, v, t, F_x, F_v);
  *F_x = el->stiffness[i];
  *F_v = el->damping[i];
  return el->stiffness[i] * x + el->damping[i] * v;
}

void yoke_force_element_apply(const yoke_force_element *el, const yoke_pose *poses, double t, double *wrench) {
  yoke_link_state state;
  yoke_link_state_set(&el->link, poses, &state);
  for (int i = 0; i < el->n; ++i) {
    double       grad[12], F_x, F_v;
    const double x    = yoke_row_gradient(&el->row[i], &state, grad) - el->offset[i];
    const double F    = row_force(el, i, x, yoke_row_rate(grad, &state), t, &F_x, &F_v);
    double      *side = wrench + 6 * el->link.node[0], *other = wrench + 6 * el->link.node[1];
    for (int k = 0; k < 6; ++k) {
      side[k] -= F * grad[k];
      other[k] -= F * grad[6 + k];
    }
  }
}

void yoke_force_element_jacobian(const yoke_force_element *el, const yoke_pose *poses, double t, double f[12],
                                 double K[144], double D[144]) {
  yoke_link_state state;
  yoke_link_state_set(&el->link, poses, &state);
  memset(f, 0, 12 * sizeof *f);
  memset(K, 0, 144 * sizeof *K);
  memset(D, 0, 144 * sizeof *D);
  for (int i = 0; i < el->n; ++i) {
    double       grad[12], h[12], F_x, F_v;
    const double x = yoke_row_gradient(&el->row[i], &state, grad) - el->offset[i];
    const double F = row_force(el, i, x, yoke_row_rate(grad, &state), t, &F_x, &F_v);
    yoke_row_hessian_add(&el->row[i], &state, -F, K);
    yoke_row_rate_gradient(&el->row[i], &state, grad, h);
    for (int r = 0; r < 12; ++r) {
      f[r] -= F * grad[r];
      for (int c = 0; c < 12; ++c) {
        K[12 * r + c] -= grad[r] * (F_x * grad[c] + F_v * h[c]);
        D[12 * r + c] -= grad[r] * F_v * grad[c];
      }
    }
  }
}

/* Part of the law that yoke_law_potential integrates: an expression counts when it depends on x alone. */
static double elastic_force(const yoke_law *law, double x, double t) {
  yoke_law elastic = *law;
  double   F_x, F_v;
  for (int k = 0; law->expression != NULL && k < yoke_expression_n_variables(law->expression); ++k) {
    if (yoke_expression_variables(law->expression)[k] != 0) elastic.expression = NULL;
  }
  return yoke_law_force(&elastic, x, 0.0, t, &F_x, &F_v);
}

void yoke_force_element_energy(const yoke_force_element *el, const yoke_pose *poses, double t, double *potential,
                               double *power_dissipated) {
  yoke_link_state state;
  yoke_link_state_set(&el->link, poses, &state);
  for (int i = 0; i < el->n; ++i) {
    double       grad[12], F_x, F_v;
    const double x    = yoke_row_gradient(&el->row[i], &state, grad) - el->offset[i];
    const double rate = yoke_row_rate(grad, &state);
    if (el->law != NULL) {
      *potential += yoke_law_potential(el->law, x);
      *power_dissipated += (yoke_law_force(el->law, x, rate, t, &F_x, &F_v) - elastic_force(el->law, x, t)) * rate;
    } else {
      *potential += 0.5 * el->stiffness[i] * x * x;
      *power_dissipated += el->damping[i] * rate * rate;
    }
  }
}

void yoke_force_element_output(const yoke_force_element *el, const yoke_pose *poses, double t, double *force,
                               double *deflection) {
  yoke_link_state state;
  yoke_link_state_set(&el->link, poses, &state);
  for (int i = 0; i < el->n; ++i) {
    double grad[12], F_x, F_v;
    deflection[i] = yoke_row_gradient(&el->row[i], &state, grad) - el->offset[i];
    force[i]      = row_force(el, i, deflection[i], yoke_row_rate(grad, &state), t, &F_x, &F_v);
  }
}

bool yoke_force_element_is_linear(const yoke_force_element *el) {
  for (int i = 0; i < el->n; ++i) {
    if (el->row[i].kind != YOKE_ROW_STRETCH && el->row[i].kind != YOKE_ROW_POINT) return false;
  }
  const yoke_law *law = el->law;
  return law == NULL ||
         (law->expression == NULL && law->table.n == 0 && law->stiffness_power == 0.0 && law->damping_power == 0.0);
}
