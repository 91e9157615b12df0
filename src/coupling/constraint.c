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
                     def->name, scheme->name,
                     scheme->extrapolates_only && !def->feels_wrenches ? "formulation kinematic, " : "");
  }
  return YOKE_OK;
}

/* ---- channels ---- */

/* What of the other pose the gradient of a row on one side depends on. The origins of the frames are the ports' own:
 * forces have no lever but the one to the other origin (inplane and along rows, side of the axis). */
typedef struct pose_need {
  bool position, orientation;
} pose_need;

static pose_need row_needs(const yoke_joint_element *joint, int i, int side, const yoke_port_shape *shape) {
  const yoke_row *row   = &joint->row[i];
  const bool      turns = yoke_shape_can_turn(shape);
  yoke_row        carried;
  if (joint->carrier > 0 && yoke_row_carried(row, joint->carrier - 1, &carried))
    return (pose_need){false, joint->carrier == 2 - side && (turns || carried.kind == YOKE_ROW_CARRIED)};
  switch (row->kind) {
  case YOKE_ROW_POINT:
  case YOKE_ROW_CARRIED:
  case YOKE_ROW_CARRIED_TURN:
  case YOKE_ROW_STRETCH:
  case YOKE_ROW_TURN: return (pose_need){false, false};
  case YOKE_ROW_SLOPE:   /* n = e2 on side 1; moment e2 x C1 on side 2 */
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
  const bool      has_axis = side == (row->kind == YOKE_ROW_ALONG ? 0 : 1); /* of inplane, slope and along rows */
  switch (row->kind) {
  case YOKE_ROW_POINT:
  case YOKE_ROW_CARRIED:
  case YOKE_ROW_CARRIED_TURN:
  case YOKE_ROW_STRETCH:
  case YOKE_ROW_TURN: return (motion_need){none, none};
  case YOKE_ROW_SLOPE:
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
  case YOKE_DECOMPOSITION_OPEN:
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

bool yoke_joint_needs_p(const yoke_joint_element *joint, const yoke_port_shape *const shape[2], int side, int k) {
  pose_need sum = {false, false};
  for (int i = 0; i < joint->n; ++i) add_need(&sum, row_needs(joint, i, side, shape[side]));
  return yoke_shape_p_turns(shape[1 - side], k) ? sum.orientation : sum.position;
}

/* What side `side` must know of the other. */
static motion_need joint_needs(const yoke_constraint *self, int side) {
  motion_need sum = {{false, false}, {false, false}};
  for (int i = 0; i < self->n_rows; ++i) {
    const yoke_row *row = &self->joint->row[i];
    add_need(&sum.p, row_needs(self->joint, i, side, self->shape[side]));
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

yoke_status yoke_constraint_set(yoke_context *ctx, const yoke_coupling_def *def, bool extended, yoke_copy_rule rule,
                                bool has_mu, yoke_constraint *self) {
  size_t most = 3 * (size_t)def->joint->n; /* lambda, beta, mu */
  for (int s = 0; s < 2; ++s) most += (size_t)def->shape[s]->n_p + (size_t)def->shape[s]->n_v;
  *self         = (yoke_constraint){.joint         = def->joint,
                                    .shape         = {def->shape[0], def->shape[1]},
                                    .copy_rule     = rule,
                                    .decomposition = def->settings->decomposition,
                                    .n_rows        = def->joint->n};
  self->channel = yoke_arena_take(&self->arena, most, sizeof *self->channel);
  self->copy_of = yoke_arena_take(&self->arena, most, sizeof *self->copy_of);
  YOKE_TRY(yoke_arena_check(&self->arena, ctx, "coupling '%s'", def->name));
  const bool by_force = n_displaced(self->decomposition)<2, by_motion = n_displaced(self->decomposition)> 0;
  for (int i = 0; by_force && i < self->n_rows; ++i) add_multiplier(self, i, extended);
  self->i_beta = self->n_channels;
  for (int i = 0; by_motion && i < self->n_rows; ++i) add_beta(self, i);
  self->i_copies = self->n_channels;
  for (int s = 0; s < 2; ++s) add_copies(self, s);
  self->i_mu = self->n_channels;
  for (int i = 0; has_mu && i < self->n_rows; ++i) add_mu(self, i);
  return YOKE_OK;
}

void yoke_constraint_free(yoke_constraint *self) {
  yoke_arena_free(&self->arena);
}

bool yoke_constraint_is_copy(const yoke_constraint *self, int channel) {
  return self->copy_of[channel] >= 0;
}

void yoke_constraint_copy_layout(const yoke_constraint *self, int degree, yoke_layout *out) {
  *out = self->copy_rule == YOKE_COPY_PARABOLA
             ? (yoke_layout){.kind = YOKE_LAYOUT_HALF, .degree = 2, .inner = {0.5, 0.0}}
             : (yoke_layout){.kind = YOKE_LAYOUT_END, .degree = degree};
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
int yoke_constraint_reaction_at(const yoke_constraint *self, int side, int i) {
  return yoke_shape_n_y(self->shape[side]) + i;
}

/* Outputs of a port. */
static int n_outputs(const yoke_constraint *self, int side) {
  return yoke_shape_n_y(self->shape[side]) + yoke_port_n_extras(yoke_constraint_extras(self, side), self->n_rows);
}

/* Where in y the original of copy channel i is. */
static int original_at(const yoke_constraint *self, int i) {
  const int  side = self->copy_of[i];
  const bool is_v = self->channel[i].enters[1 - side] == YOKE_ENTRY_COPY_V;
  return self->channel[i].component + (is_v ? self->shape[side]->n_p : 0);
}

/* Component k of p' = T v of one side; NaN: no room. */
static double p_rate(const yoke_port_shape *shape, const double *y, int k, yoke_arena *scratch) {
  const int    nv   = shape->n_v;
  const size_t mark = yoke_arena_mark(scratch);
  double      *T = yoke_arena_take(scratch, (size_t)shape->n_p * (size_t)nv, sizeof *T), sum = 0.0;
  if (T == NULL) return (double)NAN;
  yoke_shape_tangent(shape, y, T);
  for (int j = 0; j < nv; ++j) sum += T[k * nv + j] * y[shape->n_p + j];
  yoke_arena_release(scratch, mark);
  return sum;
}

/* Conditions of rows; returns the place behind them. */
static double *row_residual(const yoke_constraint *self, const yoke_coupling_view *view, const yoke_row_sums *sums,
                            double *c) {
  double level[YOKE_JOINT_LEVELS][YOKE_JOINT_MAX_ROWS];
  yoke_joint_levels(self->joint, self->shape, view->y, level);
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
      if (weight != 0.0) *c += weight * view->y[side][yoke_constraint_reaction_at(self, side, i)];
    }
    ++c;
  }
  return c;
}

void yoke_constraint_residual(const yoke_constraint *self, const yoke_coupling_view *view, const yoke_row_sums *sums,
                              double *c) {
  c = row_residual(self, view, sums, c);
  for (int i = self->i_copies; i < self->i_mu; ++i) {
    const int              side = self->copy_of[i], k = original_at(self, i);
    const yoke_port_shape *shape = self->shape[side];
    const double          *y = view->y[side], *y_old = view->y_old[side];
    *c++ = view->u[i] - y[k];
    if (self->copy_rule == YOKE_COPY_PARABOLA) {
      const double rates = p_rate(shape, y_old, k, view->scratch) - p_rate(shape, y, k, view->scratch);
      *c++               = view->u_integral[i] / view->H - 0.5 * (y_old[k] + y[k]) - view->H / 12.0 * rates;
    }
  }
}

/* ---- derivatives of the conditions ---- */

/* Conditions on levels: dc_dy += their derivatives. */
static void sum_jacobian(const yoke_constraint *self, const yoke_coupling_view *view, const yoke_row_sums *sums,
                         const double *const L[2], double *const dc_dy[2]) {
  yoke_joint_frames f;
  yoke_joint_frames_set(self->joint, self->shape, view->y, &f);
  for (int i = 0; i < n_sum_rows(self); ++i) {
    yoke_level_slopes level[YOKE_JOINT_LEVELS];
    yoke_row_level_slopes(&self->joint->row[i], &f, level);
    for (int j = 0; j < sums->n; ++j) {
      const ptrdiff_t c = (ptrdiff_t)i * sums->n + j;
      for (int l = 0; l < YOKE_JOINT_LEVELS; ++l) {
        if (sums->weight[j][l] == 0.0) continue;
        for (int s = 0; s < 2; ++s) {
          yoke_level_slopes_add(self->shape[s], s, L[s], sums->weight[j][l], &level[l], dc_dy[s] + c * view->n_y[s]);
        }
      }
    }
  }
}

/* Conditions of rows; the derivatives are 0 before. Returns their number. */
static ptrdiff_t row_jacobian(const yoke_constraint *self, const yoke_coupling_view *view, const yoke_row_sums *sums,
                              double *dc_du, double *const dc_dy[2]) {
  const size_t mark = yoke_arena_mark(view->scratch);
  double      *L[2];
  for (int s = 0; s < 2; ++s) {
    L[s] = yoke_arena_take(view->scratch, (size_t)self->shape[s]->n_v * (size_t)self->shape[s]->n_p, sizeof *L[s]);
    if (L[s] != NULL) yoke_shape_left_inverse(self->shape[s], view->y[s], L[s]);
  }
  if (L[0] != NULL && L[1] != NULL) {
    const double *const both[2] = {L[0], L[1]};
    sum_jacobian(self, view, sums, both, dc_dy);
  } else {
    dc_dy[0][0] = (double)NAN;
  }
  yoke_arena_release(view->scratch, mark);
  ptrdiff_t c = (ptrdiff_t)sums->n * n_sum_rows(self);
  for (int i = 0; i < n_reaction_rows(self); ++i, ++c) {
    if (lambda_weight(self) != 0.0) dc_du[c * self->n_channels + i] = lambda_weight(self);
    for (int side = 0; side < 2; ++side) {
      if (reaction_weight(self, side) == 0.0) continue;
      dc_dy[side][c * view->n_y[side] + yoke_constraint_reaction_at(self, side, i)] = reaction_weight(self, side);
    }
  }
  return c;
}

/* dy += weight * d(component k of T v)/d(p, v); T is affine in p, so dT/dp_q = T(e_q) - T(0), and fixed by coordinates. */
static void add_p_rate_slopes(const yoke_port_shape *shape, const double *y, int k, double weight, yoke_arena *scratch,
                              double *dy) {
  const int    np = shape->n_p, nv = shape->n_v;
  const size_t mark = yoke_arena_mark(scratch), size = (size_t)np * (size_t)nv;
  double      *T    = yoke_arena_take(scratch, size, sizeof *T);
  double      *T0   = yoke_arena_take(scratch, size, sizeof *T0);
  double      *unit = yoke_arena_take(scratch, (size_t)np, sizeof *unit);
  if (unit == NULL) {
    dy[k] = (double)NAN;
    return;
  }
  yoke_shape_tangent(shape, y, T);
  for (int j = 0; j < nv; ++j) dy[np + j] += weight * T[k * nv + j];
  if (shape->p[k].rate < 0) yoke_shape_tangent(shape, unit, T0);
  for (int q = 0; shape->p[k].rate < 0 && q < np; ++q) {
    if (shape->p[q].rate >= 0) continue;
    unit[q] = 1.0;
    yoke_shape_tangent(shape, unit, T);
    unit[q] = 0.0;
    for (int j = 0; j < nv; ++j) dy[q] += weight * (T[k * nv + j] - T0[k * nv + j]) * y[np + j];
  }
  yoke_arena_release(scratch, mark);
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
  for (int s = 0; s < 2; ++s) memset(dc_dy[s], 0, (size_t)(n_c * view->n_y[s]) * sizeof(double));
  ptrdiff_t c = row_jacobian(self, view, sums, dc_du, dc_dy);
  for (int i = self->i_copies; i < self->i_mu; ++i) {
    const int              side = self->copy_of[i], k = original_at(self, i);
    const yoke_port_shape *shape = self->shape[side];
    const int              ny    = view->n_y[side];
    dc_du[c * n + i]             = 1.0;
    dc_dy[side][c * ny + k]      = -1.0;
    ++c;
    if (self->copy_rule == YOKE_COPY_PARABOLA) {
      dc_du_integral[c * n + i] = 1.0 / view->H;
      dc_dy[side][c * ny + k]   = -0.5;
      add_p_rate_slopes(shape, view->y[side], k, view->H / 12.0, view->scratch, dc_dy[side] + c * ny);
      ++c;
    }
  }
}

/* ---- values at one instant ---- */

/* Conditions are those of rows on the level of accelerations, and reactions; the unknowns are the channels of rows. */
int yoke_constraint_instant(const yoke_constraint *self, const double *const y[2], const double *u_now, double *u,
                            int *unknown, double *c, double *dc_du, double *dc_dy1, double *dc_dy2,
                            yoke_arena *scratch) {
  static const yoke_row_sums acceleration = {.n = 1, .weight = {{0.0, 0.0, 1.0}}};
  const yoke_coupling_view   view         = {
                .u = u_now, .y = {y[0], y[1]}, .n_y = {n_outputs(self, 0), n_outputs(self, 1)}, .scratch = scratch};
  double *const dc_dy[2] = {dc_dy1, dc_dy2};
  const int     n        = self->i_copies; /* as many conditions */
  memset(dc_du, 0, (size_t)n * (size_t)self->n_channels * sizeof *dc_du);
  for (int s = 0; s < 2; ++s) memset(dc_dy[s], 0, (size_t)n * (size_t)view.n_y[s] * sizeof(double));
  (void)row_residual(self, &view, &acceleration, c);
  (void)row_jacobian(self, &view, &acceleration, dc_du, dc_dy);
  for (int i = 0; i < n; ++i) {
    unknown[i] = i;
    u[i]       = u_now[i];
  }
  for (int i = self->i_copies; i < self->i_mu; ++i) u[i] = y[self->copy_of[i]][original_at(self, i)];
  for (int i = self->i_mu; i < self->n_channels; ++i) u[i] = 0.0; /* of an exact motion */
  return n;
}

/* ---- what is shown ---- */

void yoke_constraint_felt(const yoke_constraint *self, const double *u, const double *const y[2],
                          double *const force[2]) {
  const yoke_joint_element *joint = self->joint;
  for (int side = 0; side < 2; ++side) {
    memset(force[side], 0, (size_t)joint->n_own * sizeof *force[side]);
    for (int i = 0; i < joint->n; ++i) {
      const bool is_displaced    = yoke_constraint_is_displaced(self, side);
      force[side][joint->own[i]] = is_displaced ? y[side][yoke_constraint_reaction_at(self, side, i)] : u[i];
    }
    yoke_joint_turn_force(joint, self->shape, y, false, force[side]);
  }
}

void yoke_constraint_shown(const yoke_constraint *self, const double *u, const double *const y[2],
                           double *const force[2], double *g) {
  const yoke_joint_element *joint = self->joint;
  double                    level[YOKE_JOINT_LEVELS][YOKE_JOINT_MAX_ROWS];
  yoke_joint_levels(joint, self->shape, y, level);
  memset(g, 0, (size_t)joint->n_own * sizeof *g);
  for (int i = 0; i < joint->n; ++i) g[joint->own[i]] = level[0][i];
  yoke_constraint_felt(self, u, y, force);
}
