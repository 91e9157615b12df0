#include "coupling/constraint.h"

#include "linalg/space.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- is the combination possible? ---- */

static int n_displaced(yoke_decomposition decomposition) {
  return decomposition == YOKE_FORCE_FORCE ? 0 : decomposition == YOKE_DISPLACEMENT_DISPLACEMENT ? 2 : 1;
}

static yoke_status check_decomposition(yoke_context *ctx, const yoke_coupling_def *def, int most) {
  const char *name = def->formulation->name;
  if (n_displaced(def->settings->decomposition) <= most) return YOKE_OK;
  if (most == 0) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': formulation %s drives both sides by the multipliers of the joint, so no side can "
                     "follow a motion; use decomposition force/force, or formulation baumgarte, weighted or projection",
                     def->name, name);
  }
  return yoke_fail(ctx, YOKE_E_USAGE,
                   "coupling '%s': formulation %s states conditions on the motion of both sides, which "
                   "displacement/displacement prescribes alike; use decomposition force/force, force/displacement or "
                   "displacement/force, or formulation projection",
                   def->name, name);
}

yoke_status yoke_constraint_check(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme,
                                  int most_displaced) {
  const yoke_coupling_settings *settings = def->settings;
  if (def->joint == NULL) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': formulation %s needs a rigid joint, this is a force element; use formulation "
                     "constitutive",
                     def->name, def->formulation->name);
  }
  YOKE_TRY(check_decomposition(ctx, def, most_displaced));
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
  if (scheme != NULL && scheme->needs_explicit_form) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': the multipliers of a rigid joint have no explicit form, so scheme %s cannot find "
                     "them; use scheme semi-implicit or implicit, %sor a flexible joint",
                     def->name, scheme->name, scheme->extrapolates_only ? "formulation kinematic, " : "");
  }
  return YOKE_OK;
}

/* ---- channels ---- */

/* What of the other pose the gradient of a row on one side depends on. The origins of the frames are the ports' own:
 * forces have no lever but the one to the other origin (inplane and along rows, side of the axis). */
typedef struct pose_need {
  bool position, orientation;
} pose_need;

static pose_need row_needs(const yoke_row *row, int side, const yoke_port_shape *shape) {
  const bool turns = yoke_shape_can_turn(shape);
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

/* What of the other motion gamma of a row depends on, where `side` carries it. The frames are the ports' own, so an origin has no
 * acceleration by rotation. */
typedef struct motion_need {
  pose_need p, v; /* v: velocity of the origin, angular velocity */
} motion_need;

static motion_need gamma_needs(const yoke_row *row, int side, const yoke_port_shape *shape) {
  const pose_need none = {false, false}, place = {true, false}, turn = {false, true}, all = {true, true};
  const bool      has_axis = side == (row->kind == YOKE_ROW_INPLANE ? 1 : 0); /* of inplane and along rows */
  switch (row->kind) {
  case YOKE_ROW_POINT:
  case YOKE_ROW_STRETCH:
  case YOKE_ROW_TURN: return (motion_need){none, none};
  case YOKE_ROW_INPLANE: /* e . D'' + 2 e' . D' + e'' . D with the axis e of one side */
  case YOKE_ROW_ALONG:
    if (!has_axis) return (motion_need){all, all};
    return yoke_shape_can_turn(shape) ? (motion_need){place, place} : (motion_need){none, none};
  case YOKE_ROW_DISTANCE: return (motion_need){place, place};
  case YOKE_ROW_PERPENDICULAR:
  case YOKE_ROW_ANGLE:
  case YOKE_ROW_ROTATION: return (motion_need){turn, turn};
  }
  return (motion_need){all, all};
}

static void add_need(pose_need *sum, pose_need more) {
  sum->position    = sum->position || more.position;
  sum->orientation = sum->orientation || more.orientation;
}

bool yoke_constraint_is_displaced(const yoke_constraint *self, int side) {
  switch (self->decomposition) {
  case YOKE_FORCE_FORCE: return false;
  case YOKE_FORCE_DISPLACEMENT: return side == 1;
  case YOKE_DISPLACEMENT_FORCE: return side == 0;
  case YOKE_DISPLACEMENT_DISPLACEMENT: return true;
  }
  return false;
}

int yoke_constraint_extras(const yoke_constraint *self, int side) {
  return yoke_constraint_is_displaced(self, side) ? YOKE_EXTRA_REACTION : 0;
}

/* Side 2 when both follow. */
static bool carries_gamma(const yoke_constraint *self, int side) {
  return yoke_constraint_is_displaced(self, side) && (side == 1 || !yoke_constraint_is_displaced(self, 1));
}

/* What side `side` must know of the other. */
static motion_need joint_needs(const yoke_constraint *self, int side) {
  motion_need sum = {{false, false}, {false, false}};
  for (int i = 0; i < self->n_rows; ++i) {
    const yoke_row *row = &self->joint->row[i];
    add_need(&sum.p, row_needs(row, side, self->shape[side]));
    if (!carries_gamma(self, side)) continue;
    const motion_need gamma = gamma_needs(row, side, self->shape[side]);
    add_need(&sum.p, gamma.p);
    add_need(&sum.v, gamma.v);
  }
  return sum;
}

/* Multipliers of a joint whose sides are not both displaced: they enter the force sides. */
static void add_multiplier(yoke_constraint *self, int i, bool extended) {
  yoke_channel *channel = &self->channel[self->n_channels];
  char          label[32];
  yoke_row_label(&self->joint->row[i], label, sizeof label);
  *channel =
      (yoke_channel){.component = self->joint->own[i], .sign = {1.0, 1.0}, .extended = extended, .is_force = true};
  for (int side = 0; side < 2; ++side) {
    if (!yoke_constraint_is_displaced(self, side)) channel->enters[side] = YOKE_ENTRY_LAMBDA;
  }
  snprintf(channel->name, sizeof channel->name, "lambda %s", label);
  self->copy_of[self->n_channels++] = -1;
}

/* An acceleration answers to forces at once: its channel counts as a force where perturbations and tolerances are chosen. */
static void add_beta(yoke_constraint *self, int i) {
  yoke_channel *channel = &self->channel[self->n_channels];
  char          label[32];
  yoke_row_label(&self->joint->row[i], label, sizeof label);
  *channel = (yoke_channel){.component = self->joint->own[i], .sign = {1.0, -1.0}, .is_force = true};
  for (int side = 0; side < 2; ++side) {
    if (!yoke_constraint_is_displaced(self, side)) continue;
    channel->enters[side] = carries_gamma(self, side) ? YOKE_ENTRY_ROW_ACCELERATION : YOKE_ENTRY_ROW_ACCELERATION_BARE;
  }
  snprintf(channel->name, sizeof channel->name, "beta %s", label);
  self->copy_of[self->n_channels++] = -1;
}

static void add_copy(yoke_constraint *self, int side, yoke_entry entry, int k) {
  const yoke_port_shape *shape   = self->shape[side];
  yoke_channel          *channel = &self->channel[self->n_channels];
  *channel                       = (yoke_channel){.component = k, .sign = {1.0, 1.0}};
  channel->enters[1 - side]      = entry;
  channel->extended              = self->copy_rule == YOKE_COPY_PARABOLA;
  snprintf(channel->name, sizeof channel->name, "copy %d %s", side + 1,
           entry == YOKE_ENTRY_COPY_P ? shape->p[k].name : shape->v[k].name);
  self->copy_of[self->n_channels++] = side;
}

/* Copies of the motion of `side`: they enter the other side. */
static void add_copies(yoke_constraint *self, int side) {
  const motion_need      need  = joint_needs(self, 1 - side);
  const yoke_port_shape *shape = self->shape[side];
  for (int k = 0; k < shape->n_p; ++k) {
    if (yoke_shape_p_turns(shape, k) ? need.p.orientation : need.p.position) add_copy(self, side, YOKE_ENTRY_COPY_P, k);
  }
  for (int k = 0; k < shape->n_v; ++k) {
    if (yoke_shape_v_turns(shape, k) ? need.v.orientation : need.v.position) add_copy(self, side, YOKE_ENTRY_COPY_V, k);
  }
}

static void add_mu(yoke_constraint *self, int i) {
  yoke_channel *channel = &self->channel[self->n_channels];
  char          label[32];
  yoke_row_label(&self->joint->row[i], label, sizeof label);
  *channel =
      (yoke_channel){.enters = {YOKE_ENTRY_MU, YOKE_ENTRY_MU}, .component = self->joint->own[i], .sign = {1.0, 1.0}};
  snprintf(channel->name, sizeof channel->name, "mu %s", label);
  self->copy_of[self->n_channels++] = -1;
}

void yoke_constraint_set(yoke_constraint *self, const yoke_coupling_def *def, bool extended, yoke_copy_rule rule,
                         bool has_mu) {
  memset(self, 0, sizeof *self);
  self->joint         = def->joint;
  self->shape[0]      = def->shape[0];
  self->shape[1]      = def->shape[1];
  self->copy_rule     = rule;
  self->decomposition = def->settings->decomposition;
  self->n_rows        = def->joint->n;
  const bool by_force = n_displaced(self->decomposition)<2, by_motion = n_displaced(self->decomposition)> 0;
  for (int i = 0; by_force && i < self->n_rows; ++i) add_multiplier(self, i, extended);
  self->i_beta = self->n_channels;
  for (int i = 0; by_motion && i < self->n_rows; ++i) add_beta(self, i);
  self->i_copies = self->n_channels;
  for (int s = 0; s < 2; ++s) add_copies(self, s);
  self->i_mu = self->n_channels;
  for (int i = 0; has_mu && i < self->n_rows; ++i) add_mu(self, i);
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

/* The two frames between which a row of a joint lies; accelerations of the sides are in A. */
static void joint_frames_set(const yoke_joint_element *joint, const yoke_port_shape *const shape[2],
                             const double *const y[2], frames *out) {
  yoke_pose poses[2];
  for (int s = 0; s < 2; ++s) {
    const double *v = y[s] + yoke_shape_at_v(shape[s]), *a = y[s] + yoke_shape_at_a(shape[s]);
    yoke_shape_pose(shape[s], y[s], v, &poses[s]);
    yoke_shape_spread(shape[s], v, out->V + 6 * s);
    yoke_shape_spread(shape[s], a, out->A + 6 * s);
  }
  yoke_link_state_set(&joint->link, poses, &out->link);
}

static void frames_set(const yoke_constraint *self, const double *const y[2], frames *out) {
  joint_frames_set(self->joint, self->shape, y, out);
}

double yoke_joint_row_share(const yoke_joint_element *joint, const yoke_port_shape *const shape[2],
                            const double *const y[2], int own, int side, bool with_gamma) {
  frames x;
  double grad[12], sum = 0.0;
  joint_frames_set(joint, shape, y, &x);
  for (int i = 0; i < joint->n; ++i) {
    if (joint->own[i] != own) continue;
    (void)yoke_row_gradient(&joint->row[i], &x.link, grad);
    for (int k = 6 * side; k < 6 * side + 6; ++k) sum += grad[k] * x.A[k];
    if (with_gamma) sum += yoke_row_gamma(&joint->row[i], &x.link);
  }
  return sum;
}

static double dot12(const double *a, const double *b) {
  double sum = 0.0;
  for (int k = 0; k < 12; ++k) sum += a[k] * b[k];
  return sum;
}

void yoke_joint_levels(const yoke_joint_element *joint, const yoke_port_shape *const shape[2], const double *const y[2],
                       double level[YOKE_CONSTRAINT_LEVELS][YOKE_CONSTRAINT_MAX_ROWS]) {
  frames x;
  joint_frames_set(joint, shape, y, &x);
  for (int i = 0; i < joint->n; ++i) {
    const yoke_row *row = &joint->row[i];
    double          grad[12];
    level[0][i] = yoke_row_gradient(row, &x.link, grad) - joint->offset[i];
    level[1][i] = yoke_row_rate(grad, &x.link);
    level[2][i] = dot12(grad, x.A) + yoke_row_gamma(row, &x.link);
  }
}

void yoke_constraint_levels(const yoke_constraint *self, const double *const y[2],
                            double level[YOKE_CONSTRAINT_LEVELS][YOKE_CONSTRAINT_MAX_ROWS]) {
  yoke_joint_levels(self->joint, self->shape, y, level);
}

/* |s| counts in units of the two positions, |s'| in units of the two velocities. */
void yoke_joint_reset_rows(const yoke_joint_element *joint, const yoke_port_shape *const shape[2],
                           const double *const y[2], yoke_reset_rows *out) {
  frames x;
  joint_frames_set(joint, shape, y, &x);
  out->size = out->speed = 1e-300;
  for (int s = 0; s < 2; ++s) {
    const int n_p = shape[s]->n_p;
    for (int k = 0; k < n_p; ++k) out->size = fmax(out->size, fabs(y[s][k]));
    for (int k = 0; k < shape[s]->n_v; ++k) out->speed = fmax(out->speed, fabs(y[s][n_p + k]));
  }
  for (int i = 0; i < joint->n; ++i) {
    double grad[12];
    out->s[i]    = yoke_row_gradient(&joint->row[i], &x.link, grad) - joint->offset[i];
    out->rate[i] = yoke_row_rate(grad, &x.link);
    for (int s = 0; s < 2; ++s) {
      for (int k = 0; k < shape[s]->n_v; ++k) {
        out->L[s][i][k] = grad[6 * s + shape[s]->v[k].freedom];
      }
    }
  }
}

/* ---- conditions ---- */

/* Rows of the two kinds of conditions that rows have: both-sided motion and reactions. */
static int n_sum_rows(const yoke_constraint *self) {
  return n_displaced(self->decomposition) < 2 ? self->n_rows : 0;
}

static int n_reaction_rows(const yoke_constraint *self) {
  return n_displaced(self->decomposition) > 0 ? self->n_rows : 0;
}

int yoke_constraint_n_conditions(const yoke_constraint *self, int n_sums) {
  const int n_copies = self->i_mu - self->i_copies;
  return n_sums * n_sum_rows(self) + n_reaction_rows(self) + (self->copy_rule == YOKE_COPY_PARABOLA ? 2 : 1) * n_copies;
}

/* What row i's reaction is made of: mu2 - lambda, mu1 - lambda, or mu2 - mu1. Weight of mu of a side, and of lambda. */
static double reaction_weight(const yoke_constraint *self, int side) {
  if (!yoke_constraint_is_displaced(self, side)) return 0.0;
  return side == 0 && yoke_constraint_is_displaced(self, 1) ? -1.0 : 1.0;
}

static double lambda_weight(const yoke_constraint *self) {
  return n_displaced(self->decomposition) == 1 ? -1.0 : 0.0;
}

/* Where mu of row i is in y: the first extra. */
static int reaction_at(const yoke_constraint *self, int side, int i) {
  return yoke_shape_n_y(self->shape[side]) + i;
}

/* Where in y the original of copy channel i is. */
static int original_at(const yoke_constraint *self, int i) {
  const int  side = self->copy_of[i];
  const bool is_v = self->channel[i].enters[1 - side] == YOKE_ENTRY_COPY_V;
  return self->channel[i].component + (is_v ? self->shape[side]->n_p : 0);
}

/* Component k of p' = T v of one side. */
static double p_rate(const yoke_port_shape *shape, const double *y, int k) {
  const int nv = shape->n_v;
  double    T[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V], sum = 0.0;
  yoke_shape_tangent(shape, y, T);
  for (int j = 0; j < nv; ++j) sum += T[k * nv + j] * y[shape->n_p + j];
  return sum;
}

void yoke_constraint_residual(const yoke_constraint *self, const yoke_coupling_view *view, const yoke_row_sums *sums,
                              double *c) {
  double level[YOKE_CONSTRAINT_LEVELS][YOKE_CONSTRAINT_MAX_ROWS];
  yoke_constraint_levels(self, view->y, level);
  for (int i = 0; i < n_sum_rows(self); ++i) {
    for (int j = 0; j < sums->n; ++j) {
      const double *w = sums->weight[j];
      *c++            = w[0] * level[0][i] + w[1] * level[1][i] + w[2] * level[2][i];
    }
  }
  for (int i = 0; i < n_reaction_rows(self); ++i) {
    *c = lambda_weight(self) != 0.0 ? lambda_weight(self) * view->u[i] : 0.0;
    for (int side = 0; side < 2; ++side) {
      const double weight = reaction_weight(self, side);
      if (weight != 0.0) *c += weight * view->y[side][reaction_at(self, side, i)];
    }
    ++c;
  }
  for (int i = self->i_copies; i < self->i_mu; ++i) {
    const int              side = self->copy_of[i], k = original_at(self, i);
    const yoke_port_shape *shape = self->shape[side];
    const double          *y = view->y[side], *y_old = view->y_old[side];
    *c++ = view->u[i] - y[k];
    if (self->copy_rule == YOKE_COPY_PARABOLA) {
      const double rates = p_rate(shape, y_old, k) - p_rate(shape, y, k);
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

/* dy += weight * slopes on side s, from frame freedoms to the components of y = (p, v, v', ...). */
static void add_slopes(const yoke_port_shape *shape, int s, const double *L, double weight, const level_slopes *slopes,
                       double *dy) {
  const int np = shape->n_p, nv = shape->n_v;
  for (int k = 0; k < nv; ++k) {
    const int r = 6 * s + shape->v[k].freedom;
    for (int j = 0; j < np; ++j) dy[j] += weight * slopes->x[r] * L[k * np + j];
    dy[np + k] += weight * slopes->V[r];
    dy[np + nv + k] += weight * slopes->A[r];
  }
}

/* Outputs of a side. */
static int n_y_of(const yoke_constraint *self, const yoke_coupling_view *view, int side) {
  return view->n_y[side] > 0 ? view->n_y[side] : yoke_shape_n_y(self->shape[side]);
}

static void row_jacobian(const yoke_constraint *self, const yoke_coupling_view *view, const yoke_row_sums *sums,
                         double *const dc_dy[2]) {
  frames f;
  double L[2][YOKE_PORT_MAX_V * YOKE_PORT_MAX_P];
  frames_set(self, view->y, &f);
  for (int s = 0; s < 2; ++s) yoke_shape_left_inverse(self->shape[s], view->y[s], L[s]);
  for (int i = 0; i < n_sum_rows(self); ++i) {
    level_slopes level[YOKE_CONSTRAINT_LEVELS];
    row_slopes(&self->joint->row[i], &f, level);
    for (int j = 0; j < sums->n; ++j) {
      const ptrdiff_t c = (ptrdiff_t)i * sums->n + j;
      for (int l = 0; l < YOKE_CONSTRAINT_LEVELS; ++l) {
        if (sums->weight[j][l] == 0.0) continue;
        for (int s = 0; s < 2; ++s) {
          add_slopes(self->shape[s], s, L[s], sums->weight[j][l], &level[l], dc_dy[s] + c * n_y_of(self, view, s));
        }
      }
    }
  }
}

/* dy += weight * d(component k of T v)/d(p, v); T is affine in p, so dT/dp_q = T(e_q) - T(0), and fixed by coordinates. */
static void add_p_rate_slopes(const yoke_port_shape *shape, const double *y, int k, double weight, double *dy) {
  const int np = shape->n_p, nv = shape->n_v;
  double    T[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V], T0[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V];
  double    unit[YOKE_PORT_MAX_P] = {0.0};
  yoke_shape_tangent(shape, y, T);
  for (int j = 0; j < nv; ++j) dy[np + j] += weight * T[k * nv + j];
  if (shape->p[k].rate >= 0) return;
  yoke_shape_tangent(shape, unit, T0);
  for (int q = 0; q < np; ++q) {
    if (shape->p[q].rate >= 0) continue;
    unit[q] = 1.0;
    yoke_shape_tangent(shape, unit, T);
    unit[q] = 0.0;
    for (int j = 0; j < nv; ++j) dy[q] += weight * (T[k * nv + j] - T0[k * nv + j]) * y[np + j];
  }
}

yoke_residual_unit yoke_constraint_unit(const yoke_constraint *self, int n_sums, int c) {
  const yoke_residual_unit none = {YOKE_RESIDUAL_NONE, false};
  c -= n_sums * n_sum_rows(self);
  if (c < 0) return none;
  if (c < n_reaction_rows(self)) {
    const bool is_force = yoke_row_is_length(&self->joint->row[c]);
    return (yoke_residual_unit){is_force ? YOKE_RESIDUAL_FORCE : YOKE_RESIDUAL_MOMENT, false};
  }
  c -= n_reaction_rows(self);
  const int per_copy = self->copy_rule == YOKE_COPY_PARABOLA ? 2 : 1;
  if (c % per_copy != 0) return none; /* the mean over the step */
  return yoke_channel_unit(&self->channel[self->i_copies + c / per_copy], self->shape, self->joint);
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
  for (int s = 0; s < 2; ++s) memset(dc_dy[s], 0, (size_t)(n_c * n_y_of(self, view, s)) * sizeof(double));
  row_jacobian(self, view, sums, dc_dy);
  ptrdiff_t c = (ptrdiff_t)sums->n * n_sum_rows(self);
  for (int i = 0; i < n_reaction_rows(self); ++i, ++c) {
    if (lambda_weight(self) != 0.0) dc_du[c * n + i] = lambda_weight(self);
    for (int side = 0; side < 2; ++side) {
      if (reaction_weight(self, side) == 0.0) continue;
      dc_dy[side][c * n_y_of(self, view, side) + reaction_at(self, side, i)] = reaction_weight(self, side);
    }
  }
  for (int i = self->i_copies; i < self->i_mu; ++i) {
    const int              side = self->copy_of[i], k = original_at(self, i);
    const yoke_port_shape *shape = self->shape[side];
    const int              ny    = n_y_of(self, view, side);
    dc_du[c * n + i]             = 1.0;
    dc_dy[side][c * ny + k]      = -1.0;
    ++c;
    if (self->copy_rule == YOKE_COPY_PARABOLA) {
      dc_du_integral[c * n + i] = 1.0 / view->H;
      dc_dy[side][c * ny + k]   = -0.5;
      add_p_rate_slopes(shape, view->y[side], k, view->H / 12.0, dc_dy[side] + c * ny);
      ++c;
    }
  }
}

/* ---- error estimate ---- */

/* With a displacement side lambda and beta belong together, mu(beta) = lambda: the values of the step stand for both. */
int yoke_constraint_consistent(const yoke_constraint *self, const double *const y[2], double *u, double *c,
                               double *dc_dy1, double *dc_dy2) {
  static const yoke_row_sums acceleration = {.n = 1, .weight = {{0.0, 0.0, 1.0}}};
  const yoke_coupling_view   view         = {.y = {y[0], y[1]}};
  double *const              dc_dy[2]     = {dc_dy1, dc_dy2};
  const bool                 by_force     = n_displaced(self->decomposition) == 0;
  double                     level[YOKE_CONSTRAINT_LEVELS][YOKE_CONSTRAINT_MAX_ROWS];
  if (by_force) {
    yoke_constraint_levels(self, y, level);
    for (int i = 0; i < self->n_rows; ++i) c[i] = level[2][i];
    for (int s = 0; s < 2; ++s)
      memset(dc_dy[s], 0, (size_t)self->n_rows * (size_t)yoke_shape_n_y(self->shape[s]) * sizeof(double));
    row_jacobian(self, &view, &acceleration, dc_dy);
  }
  for (int i = self->i_copies; i < self->i_mu; ++i) u[i] = y[self->copy_of[i]][original_at(self, i)];
  for (int i = self->i_mu; i < self->n_channels; ++i) u[i] = 0.0; /* of an exact motion */
  return by_force ? self->n_rows : 0;
}
