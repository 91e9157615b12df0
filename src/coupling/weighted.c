/* Weighted multipliers (Li 4.16-4.19; Lu 3.1.2, 3.2.3.2): rigid joints corrected three times per macro step from the same
 * predictor and sensitivities, with s = 0, with s' = 0 and with s'' = 0 at T_{N+1}, and the weighted mean of the results,
 *   u = (u_pos + a u_vel + b u_acc) / (1 + a + b),   copies (~p = p in every set) included.
 * Index 1: a, b > 0; index 2: b = 0; index 3: s = 0 alone. Multipliers and copies have the plain end layout, degree 0 to 5. */
#include "coupling/constraint.h"
#include "base/memory.h"
#include "coupling/zero_stability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEGREE = YOKE_LAYOUT_MAX_DEGREE };

typedef struct weighted {
  yoke_constraint constraint;
  int             n_sets;
  double          weight[YOKE_CONSTRAINT_LEVELS]; /* 1, a, b */
} weighted;

/* Set l is the level l of every row. */
static const yoke_row_sums levels[YOKE_CONSTRAINT_LEVELS] = {
    {.n = 1, .weight = {{1.0, 0.0, 0.0}}},
    {.n = 1, .weight = {{0.0, 1.0, 0.0}}},
    {.n = 1, .weight = {{0.0, 0.0, 1.0}}},
};

/* Weights a, b of index 1 that are zero-stable, by degree: parasitic factors 0.58, 0.58, 0.53, 0.47, 0.63, 0.75. */
static const double good_weights[MAX_DEGREE + 1][2] = {{1.0, 1.0}, {1.0, 1.0},  {2.5, 5.0},
                                                       {2.5, 5.0}, {4.0, 12.0}, {5.0, 20.0}};

typedef struct weighted_settings {
  int    index;
  double a, b;
} weighted_settings;

static const yoke_setting own_rows[] = {
    YOKE_CONSTRAINT_INDEX(weighted_settings, 1),
    {.key      = "a",
     .type     = YOKE_SETTING_NUMBER,
     .standard = {1.0},
     .with     = "index",
     .of       = "1 2",
     .help     = "weight of the velocity level",
     YOKE_SETTING_AT(weighted_settings, a)},
    {.key      = "b",
     .type     = YOKE_SETTING_NUMBER,
     .standard = {1.0},
     .with     = "index",
     .of       = "1",
     .help     = "weight of the acceleration level",
     YOKE_SETTING_AT(weighted_settings, b)},
};

/* ---- is the combination possible? ---- */

static yoke_status check_values(yoke_context *ctx, const yoke_coupling_def *def, int order) {
  YOKE_OWN_SETTINGS(weighted_settings, own, def->settings);
  if (order < 0 || order > MAX_DEGREE) {
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': order is %d, expected 0 to %d", def->name, order, MAX_DEGREE);
  }
  if (own.index < 1 || own.index > 3) {
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': index is %d, expected 1, 2 or 3", def->name, own.index);
  }
  const int    index    = own.index;
  const double given[2] = {own.a, own.b};
  for (int i = 0; i < 3 - index; ++i) {
    if (given[i] > 0.0 && isfinite(given[i])) continue;
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': weight %c is %g, expected > 0 with index %d; use index %d to leave out the %s "
                     "level",
                     def->name, "ab"[i], given[i], index, 3 - i, i == 0 ? "velocity" : "acceleration");
  }
  return YOKE_OK;
}

static yoke_status check_scheme(yoke_context *ctx, const yoke_coupling_def *def, const char *scheme) {
  if (scheme == NULL || strcmp(scheme, "implicit") != 0) return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_USAGE,
      "coupling '%s': formulation weighted is the mean of solutions of different conditions, which have "
      "no common solution that scheme implicit could converge to; use scheme semi-implicit, or formulation "
      "baumgarte or stabilized-index-2",
      def->name);
}

static void warn_if_not_zero_stable(yoke_context *ctx, const yoke_coupling_def *def, int order) {
  YOKE_OWN_SETTINGS(weighted_settings, own, def->settings);
  const int    index = own.index;
  const double a = index < 3 ? own.a : 0.0, b = index < 2 ? own.b : 0.0;
  double       beta, gamma;
  yoke_weights_as_times(order, a, b, &beta, &gamma);
  const double factor = yoke_parasitic_factor(order, beta, gamma);
  if (!(factor > 1.0 + 1e-6)) return; /* index 3, order 0 has 1 twice */
  if (index > 1) {
    yoke_warn(ctx,
              "coupling '%s': weighted index %d is not zero-stable with order %d: errors grow by %.3g in every step, "
              "however small; use order 0, index 1, or formulation stabilized-index-2 or stabilized-index-1",
              def->name, index, order, factor);
    return;
  }
  yoke_warn(ctx,
            "coupling '%s': weighted index 1 with a = %g, b = %g is not zero-stable with order %d: errors grow by %.3g "
            "in every step, however small; use a = %g, b = %g, or formulation stabilized-index-2 or stabilized-index-1",
            def->name, a, b, order, factor, good_weights[order][0], good_weights[order][1]);
}

static yoke_status weighted_check(yoke_context *ctx, const yoke_coupling_def *def, const char *scheme, int order) {
  YOKE_TRY(yoke_constraint_check_sides(ctx, def, scheme, 1));
  YOKE_TRY(check_values(ctx, def, order));
  YOKE_TRY(check_scheme(ctx, def, scheme));
  warn_if_not_zero_stable(ctx, def, order);
  return YOKE_OK;
}

/* ---- the coupling ---- */

static yoke_status weighted_create(yoke_context *ctx, const yoke_coupling_def *def, void **out) {
  YOKE_OWN_SETTINGS(weighted_settings, own, def->settings);
  weighted *self = calloc(1, sizeof *self);
  *out           = self;
  if (self == NULL) return yoke_out_of_memory(ctx, "coupling '%s'", def->name);
  yoke_constraint_set(&self->constraint, def, false, YOKE_COPY_END);
  self->n_sets    = 4 - own.index;
  self->weight[0] = 1.0;
  self->weight[1] = own.a;
  self->weight[2] = own.b;
  return YOKE_OK;
}

static void weighted_destroy(void *self) {
  free(self);
}

static int weighted_channels(const void *object, yoke_channel *out) {
  const weighted *self = object;
  return yoke_constraint_channels(&self->constraint, out);
}

static int weighted_extras(const void *object, int side) {
  const weighted *self = object;
  return yoke_constraint_extras(&self->constraint, side);
}

static void weighted_layout(const void *self, int channel, int degree, yoke_layout *out) {
  (void)self;
  (void)channel;
  *out = (yoke_layout){.kind = YOKE_LAYOUT_END, .degree = degree};
}

static int weighted_n_conditions(const void *object) {
  const weighted *self = object;
  return yoke_constraint_n_conditions(&self->constraint, 1);
}

static void weighted_residual(const void *object, const yoke_coupling_view *view, double *c) {
  const weighted *self = object;
  yoke_constraint_residual(&self->constraint, view, &levels[view->set], c);
}

static yoke_residual_unit weighted_unit(const void *object, int c) {
  return yoke_constraint_unit(&((const weighted *)object)->constraint, 1, c);
}

static void weighted_jacobian(const void *object, const yoke_coupling_view *view, double *dc_du, double *dc_du_dot,
                              double *dc_du_integral, double *dc_dy1, double *dc_dy2) {
  const weighted *self = object;
  yoke_constraint_jacobian(&self->constraint, view, &levels[view->set], dc_du, dc_du_dot, dc_du_integral, dc_dy1,
                           dc_dy2);
}

static int weighted_n_sets(const void *object) {
  const weighted *self = object;
  return self->n_sets;
}

static double weighted_set_weight(const void *object, int set) {
  const weighted *self = object;
  return self->weight[set];
}

static unsigned weighted_holds(const void *object) {
  const weighted *self = object;
  return self->n_sets == 1 ? YOKE_HOLDS_POSITION : 0;
}

/* The multiplier is off by O(H^(degree + 1)), which accelerates both bodies; a share of it lasts from step to step. */
static void weighted_error_rule(const void *object, int degree, yoke_error_rule *out) {
  (void)object;
  *out = (yoke_error_rule){.comparison_degree = degree + 2, .order = {degree + 3, degree + 2}};
}

static int weighted_consistent(const void *object, const double *const y[2], double *u, double *c, double *dc_dy1,
                               double *dc_dy2) {
  const weighted *self = object;
  return yoke_constraint_consistent(&self->constraint, y, u, c, dc_dy1, dc_dy2);
}

extern const yoke_formulation_ops weighted_ops;

const yoke_formulation_ops weighted_ops = {
    .name         = "weighted",
    .for_joints   = true,
    .summary      = "rigid joints: weighted mean of the multipliers for g = 0, g' = 0 and g'' = 0, index 1, 2 or 3",
    .settings     = {YOKE_SETTING_ROWS(own_rows)},
    .check        = weighted_check,
    .create       = weighted_create,
    .destroy      = weighted_destroy,
    .extras       = weighted_extras,
    .channels     = weighted_channels,
    .layout       = weighted_layout,
    .n_conditions = weighted_n_conditions,
    .residual     = weighted_residual,
    .unit         = weighted_unit,
    .jacobian     = weighted_jacobian,
    .n_sets       = weighted_n_sets,
    .set_weight   = weighted_set_weight,
    .holds        = weighted_holds,
    .error_rule   = weighted_error_rule,
    .consistent   = weighted_consistent,
};
