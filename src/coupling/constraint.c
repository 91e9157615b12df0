#include "coupling/constraint.h"

#include "linalg/space.h"
#include <stdio.h>
#include <string.h>

/* ---- is the combination possible? ---- */

yoke_status yoke_constraint_check(yoke_context *ctx, const yoke_coupling_def *def, const char *scheme) {
  const yoke_coupling_settings *settings = def->settings;
  const char                   *name     = settings->formulation;
  if (def->joint == NULL) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': formulation %s needs a rigid joint, this is a force element; use formulation "
                     "constitutive",
                     def->name, name);
  }
  if (settings->decomposition != YOKE_FORCE_FORCE) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': formulation %s drives both sides by the multipliers of the joint; use "
                     "decomposition force/force",
                     def->name, name);
  }
  if (settings->extension != YOKE_EXTENSION_NONE) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': extensions belong to force elements; leave out extension, or use formulation "
                     "stabilized-index-2, which has a half-step node of its own",
                     def->name);
  }
  if (settings->feedthrough) {
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': a rigid joint has no feed-through; leave out feedthrough",
                     def->name);
  }
  if (scheme != NULL && (strcmp(scheme, "explicit") == 0 || strcmp(scheme, "waveform") == 0)) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': the multipliers of a rigid joint have no explicit form, so scheme %s cannot find "
                     "them; use scheme semi-implicit or implicit, or a flexible joint",
                     def->name, scheme);
  }
  return YOKE_OK;
}

yoke_status yoke_constraint_check_index(yoke_context *ctx, const yoke_coupling_def *def, int index) {
  const yoke_coupling_settings *settings = def->settings;
  if (settings->index == 0 || settings->index == index) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE,
                   "coupling '%s': index is %d, but formulation %s is of index %d; leave out index, or use formulation "
                   "baumgarte or weighted, which have index 1, 2 and 3",
                   def->name, settings->index, settings->formulation, index);
}

/* ---- channels ---- */

static bool can_turn(yoke_body_kind kind) {
  for (int k = 0; k < yoke_port_n_v(kind); ++k) {
    if (yoke_port_freedom(kind, k) >= 3) return true;
  }
  return false;
}

/* What of the other pose the gradient of a row on one side depends on. The origins of the frames are the ports' own:
 * forces have no lever but the one to the other origin (inplane and along rows, side of the axis). */
typedef struct pose_need {
  bool position, orientation;
} pose_need;

static pose_need row_needs(const yoke_row *row, int side, yoke_body_kind kind) {
  const bool turns = can_turn(kind);
  switch (row->kind) {
  case YOKE_ROW_POINT:
  case YOKE_ROW_STRETCH:
  case YOKE_ROW_TURN: return (pose_need){false, false};
  case YOKE_ROW_INPLANE: /* n = e2 on side 1; moment e2 x (C1 - C2) on side 2 */
    return side == 0 ? (pose_need){false, true} : (pose_need){turns, false};
  case YOKE_ROW_ALONG: /* the same with the sides exchanged */
    return side == 1 ? (pose_need){false, true} : (pose_need){turns, false};
  case YOKE_ROW_DISTANCE: return (pose_need){true, false};
  case YOKE_ROW_PERPENDICULAR:
  case YOKE_ROW_ANGLE:
  case YOKE_ROW_ROTATION: return (pose_need){false, turns};
  }
  return (pose_need){true, true};
}

static pose_need joint_needs(const yoke_constraint *self, int side) {
  pose_need sum = {false, false};
  for (int i = 0; i < self->n_rows; ++i) {
    const pose_need need = row_needs(&self->joint->row[i], side, self->kind[side]);
    sum.position         = sum.position || need.position;
    sum.orientation      = sum.orientation || need.orientation;
  }
  return sum;
}

/* Is component k of p a coordinate of the origin, else it belongs to the orientation. */
static bool is_position(yoke_body_kind kind, int k) {
  return k < 3 && yoke_port_freedom(kind, k) < 3;
}

static void add_multiplier(yoke_constraint *self, int i, bool extended) {
  yoke_channel *channel = &self->channel[self->n_channels];
  char          label[32];
  yoke_row_label(&self->joint->row[i], label, sizeof label);
  *channel = (yoke_channel){.enters    = {YOKE_ENTRY_LAMBDA, YOKE_ENTRY_LAMBDA},
                            .component = self->joint->own[i],
                            .sign      = {1.0, 1.0},
                            .extended  = extended,
                            .is_force  = true};
  snprintf(channel->name, sizeof channel->name, "lambda %s", label);
  self->copy_of[self->n_channels++] = -1;
}

/* Copies of the motion of `side`: they enter the other side. */
static void add_copies(yoke_constraint *self, int side) {
  const pose_need      need = joint_needs(self, 1 - side);
  const yoke_body_kind kind = self->kind[side];
  for (int k = 0; k < yoke_port_n_p(kind); ++k) {
    if (!(is_position(kind, k) ? need.position : need.orientation)) continue;
    yoke_channel *channel     = &self->channel[self->n_channels];
    *channel                  = (yoke_channel){.component = k, .sign = {1.0, 1.0}};
    channel->enters[1 - side] = YOKE_ENTRY_COPY_P;
    channel->extended         = self->copy_rule == YOKE_COPY_PARABOLA;
    snprintf(channel->name, sizeof channel->name, "copy %d %s", side + 1, yoke_port_p_name(kind, k));
    self->copy_of[self->n_channels++] = side;
  }
}

void yoke_constraint_set(yoke_constraint *self, const yoke_coupling_def *def, bool extended, yoke_copy_rule rule) {
  memset(self, 0, sizeof *self);
  self->joint     = def->joint;
  self->kind[0]   = def->kind[0];
  self->kind[1]   = def->kind[1];
  self->copy_rule = rule;
  self->n_rows    = def->joint->n;
  for (int i = 0; i < self->n_rows; ++i) add_multiplier(self, i, extended);
  for (int s = 0; s < 2; ++s) add_copies(self, s);
}

int yoke_constraint_channels(const yoke_constraint *self, yoke_channel *out) {
  memcpy(out, self->channel, (size_t)self->n_channels * sizeof *out);
  return self->n_channels;
}

bool yoke_constraint_is_copy(const yoke_constraint *self, int channel) {
  return self->copy_of[channel] >= 0;
}

void yoke_constraint_copy_layout(const yoke_constraint *self, int degree, yoke_layout *out) {
  *out = self->copy_rule == YOKE_COPY_PARABOLA
             ? (yoke_layout){.kind = YOKE_LAYOUT_HALF, .degree = 2, .inner = {0.5, 0.0}}
             : (yoke_layout){.kind = YOKE_LAYOUT_END, .degree = degree};
}

/* ---- levels ---- */

/* The two frames at one instant, with V = (v1, w1, v2, w2) and A = V'. */
typedef struct frames {
  yoke_link_state link;
  double          V[12], A[12];
} frames;

static void frames_set(const yoke_constraint *self, const double *const y[2], frames *out) {
  yoke_pose poses[2];
  memset(out->V, 0, sizeof out->V);
  memset(out->A, 0, sizeof out->A);
  for (int s = 0; s < 2; ++s) {
    const yoke_body_kind kind = self->kind[s];
    const int            nv   = yoke_port_n_v(kind);
    const double        *v = y[s] + yoke_port_n_p(kind), *a = v + nv;
    yoke_port_pose(kind, y[s], v, &poses[s]);
    for (int k = 0; k < nv; ++k) {
      out->V[6 * s + yoke_port_freedom(kind, k)] = v[k];
      out->A[6 * s + yoke_port_freedom(kind, k)] = a[k];
    }
  }
  yoke_link_state_set(&self->joint->link, poses, &out->link);
}

static double dot12(const double *a, const double *b) {
  double sum = 0.0;
  for (int k = 0; k < 12; ++k) sum += a[k] * b[k];
  return sum;
}

void yoke_constraint_levels(const yoke_constraint *self, const double *const y[2],
                            double level[YOKE_CONSTRAINT_LEVELS][YOKE_CONSTRAINT_MAX_ROWS]) {
  frames x;
  frames_set(self, y, &x);
  for (int i = 0; i < self->n_rows; ++i) {
    const yoke_row *row = &self->joint->row[i];
    double          grad[12];
    level[0][i] = yoke_row_gradient(row, &x.link, grad) - self->joint->offset[i];
    level[1][i] = yoke_row_rate(grad, &x.link);
    level[2][i] = dot12(grad, x.A) + yoke_row_gamma(row, &x.link);
  }
}

/* ---- conditions ---- */

int yoke_constraint_n_conditions(const yoke_constraint *self, int n_sums) {
  const int n_copies = self->n_channels - self->n_rows;
  return n_sums * self->n_rows + (self->copy_rule == YOKE_COPY_PARABOLA ? 2 : 1) * n_copies;
}

/* Component k of p' = T v of one side. */
static double p_rate(yoke_body_kind kind, const double *y, int k) {
  const int nv = yoke_port_n_v(kind);
  double    T[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V], sum = 0.0;
  yoke_port_tangent(kind, y, T);
  for (int j = 0; j < nv; ++j) sum += T[k * nv + j] * y[yoke_port_n_p(kind) + j];
  return sum;
}

void yoke_constraint_residual(const yoke_constraint *self, const yoke_coupling_view *view, const yoke_row_sums *sums,
                              double *c) {
  double level[YOKE_CONSTRAINT_LEVELS][YOKE_CONSTRAINT_MAX_ROWS];
  yoke_constraint_levels(self, view->y, level);
  for (int i = 0; i < self->n_rows; ++i) {
    for (int j = 0; j < sums->n; ++j) {
      const double *w = sums->weight[j];
      *c++            = w[0] * level[0][i] + w[1] * level[1][i] + w[2] * level[2][i];
    }
  }
  for (int i = self->n_rows; i < self->n_channels; ++i) {
    const int            side = self->copy_of[i], k = self->channel[i].component;
    const yoke_body_kind kind = self->kind[side];
    const double        *y = view->y[side], *y_old = view->y_old[side];
    *c++ = view->u[i] - y[k];
    if (self->copy_rule == YOKE_COPY_PARABOLA) {
      const double rates = p_rate(kind, y_old, k) - p_rate(kind, y, k);
      *c++               = view->u_integral[i] / view->H - 0.5 * (y_old[k] + y[k]) - view->H / 12.0 * rates;
    }
  }
}

/* ---- derivatives of the conditions ---- */

/* Derivatives of one level of one row by the tangents of the frames (at fixed V and A in inertial axes), V and A. */
typedef struct level_slopes {
  double x[12], V[12], A[12];
} level_slopes;

/* With the Hessian H of the row (d grad = H dx): s_x = grad, s'_x = V H, s''_x = A H + gamma_x.
 * The gradient of gamma keeps w fixed in the bodies; fixed in space: gamma_x phi - gamma_w (phi x w). */
static void row_slopes(const yoke_row *row, const frames *f, level_slopes level[YOKE_CONSTRAINT_LEVELS]) {
  double grad[12], gamma[24], H[144] = {0.0};
  memset(level, 0, YOKE_CONSTRAINT_LEVELS * sizeof *level);
  (void)yoke_row_gradient(row, &f->link, grad);
  yoke_row_hessian_add(row, &f->link, 1.0, H);
  yoke_row_gamma_gradient(row, &f->link, gamma);
  for (int s = 0; s < 2; ++s) vec3_add_cross(gamma + 6 * s + 3, -1.0, f->link.w[s], gamma + 12 + 6 * s + 3);
  for (int c = 0; c < 12; ++c) {
    level[0].x[c] = level[1].V[c] = level[2].A[c] = grad[c];
    level[2].x[c]                                 = gamma[c];
    level[2].V[c]                                 = gamma[12 + c];
    for (int r = 0; r < 12; ++r) {
      level[1].x[c] += f->V[r] * H[12 * r + c];
      level[2].x[c] += f->A[r] * H[12 * r + c];
    }
  }
}

/* Tangent (dC, dphi) of the frame that belongs to dp: L [n_v, n_p]. Euler parameters q need not have norm 1 (the pose
 * normalises them): dphi = 2 Ebar(q)^T dq / |q|^2. */
static void left_inverse(yoke_body_kind kind, const double *p, double L[YOKE_PORT_MAX_V][YOKE_PORT_MAX_P]) {
  memset(L, 0, sizeof(double[YOKE_PORT_MAX_V][YOKE_PORT_MAX_P]));
  const bool has_quaternion = yoke_port_n_p(kind) == YOKE_PORT_MAX_P;
  for (int k = 0; k < (has_quaternion ? 3 : yoke_port_n_v(kind)); ++k) L[k][k] = 1.0;
  if (!has_quaternion) return;
  double       E[12];
  const double n2 = quaternion_norm2(p + 3);
  quaternion_Ebar(E, p + 3);
  for (int k = 0; k < 3; ++k) {
    for (int j = 0; j < 4; ++j) L[3 + k][3 + j] = n2 > 0.0 ? 2.0 * E[3 * j + k] / n2 : 0.0;
  }
}

/* dy += weight * slopes on side s, from frame freedoms to the components of y = (p, v, v', ...). */
static void add_slopes(yoke_body_kind kind, int s, double L[YOKE_PORT_MAX_V][YOKE_PORT_MAX_P], double weight,
                       const level_slopes *slopes, double *dy) {
  const int np = yoke_port_n_p(kind), nv = yoke_port_n_v(kind);
  for (int k = 0; k < nv; ++k) {
    const int r = 6 * s + yoke_port_freedom(kind, k);
    for (int j = 0; j < np; ++j) dy[j] += weight * slopes->x[r] * L[k][j];
    dy[np + k] += weight * slopes->V[r];
    dy[np + nv + k] += weight * slopes->A[r];
  }
}

static void row_jacobian(const yoke_constraint *self, const yoke_coupling_view *view, const yoke_row_sums *sums,
                         double *const dc_dy[2]) {
  frames f;
  double L[2][YOKE_PORT_MAX_V][YOKE_PORT_MAX_P];
  frames_set(self, view->y, &f);
  for (int s = 0; s < 2; ++s) left_inverse(self->kind[s], view->y[s], L[s]);
  for (int i = 0; i < self->n_rows; ++i) {
    level_slopes level[YOKE_CONSTRAINT_LEVELS];
    row_slopes(&self->joint->row[i], &f, level);
    for (int j = 0; j < sums->n; ++j) {
      const ptrdiff_t c = (ptrdiff_t)i * sums->n + j;
      for (int l = 0; l < YOKE_CONSTRAINT_LEVELS; ++l) {
        if (sums->weight[j][l] == 0.0) continue;
        for (int s = 0; s < 2; ++s) {
          add_slopes(self->kind[s], s, L[s], sums->weight[j][l], &level[l],
                     dc_dy[s] + c * yoke_port_n_y(self->kind[s]));
        }
      }
    }
  }
}

/* dy += weight * d(component k of T v)/d(p, v); T is linear in the Euler parameters. */
static void add_p_rate_slopes(yoke_body_kind kind, const double *y, int k, double weight, double *dy) {
  const int np = yoke_port_n_p(kind), nv = yoke_port_n_v(kind);
  double    T[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V];
  yoke_port_tangent(kind, y, T);
  for (int j = 0; j < nv; ++j) dy[np + j] += weight * T[k * nv + j];
  for (int q = 3; np == YOKE_PORT_MAX_P && k >= 3 && q < np; ++q) {
    double unit[YOKE_PORT_MAX_P] = {0.0};
    unit[q]                      = 1.0;
    yoke_port_tangent(kind, unit, T);
    for (int j = 3; j < nv; ++j) dy[q] += weight * T[k * nv + j] * y[np + j];
  }
}

void yoke_constraint_jacobian(const yoke_constraint *self, const yoke_coupling_view *view, const yoke_row_sums *sums,
                              double *dc_du, double *dc_du_dot, double *dc_du_integral, double *dc_dy1,
                              double *dc_dy2) {
  const int     n_c = yoke_constraint_n_conditions(self, sums->n), n = self->n_channels;
  const size_t  block    = (size_t)n_c * (size_t)n * sizeof(double);
  double *const dc_dy[2] = {dc_dy1, dc_dy2};
  memset(dc_du, 0, block);
  memset(dc_du_dot, 0, block);
  memset(dc_du_integral, 0, block);
  for (int s = 0; s < 2; ++s) memset(dc_dy[s], 0, (size_t)(n_c * yoke_port_n_y(self->kind[s])) * sizeof(double));
  row_jacobian(self, view, sums, dc_dy);
  ptrdiff_t c = (ptrdiff_t)sums->n * self->n_rows;
  for (int i = self->n_rows; i < n; ++i) {
    const int            side = self->copy_of[i], k = self->channel[i].component;
    const yoke_body_kind kind = self->kind[side];
    const int            ny   = yoke_port_n_y(kind);
    dc_du[c * n + i]          = 1.0;
    dc_dy[side][c * ny + k]   = -1.0;
    ++c;
    if (self->copy_rule == YOKE_COPY_PARABOLA) {
      dc_du_integral[c * n + i] = 1.0 / view->H;
      dc_dy[side][c * ny + k]   = -0.5;
      add_p_rate_slopes(kind, view->y[side], k, view->H / 12.0, dc_dy[side] + c * ny);
      ++c;
    }
  }
}
