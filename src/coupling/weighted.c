/* Weighted multipliers (Li 4.16-4.19; Lu 3.1.2, 3.2.3.2): rigid joints corrected three times per macro step from the same
 * predictor and sensitivities, with s = 0, with s' = 0 and with s'' = 0 at T_{N+1}, and the weighted mean of the results,
 *   u = (u_pos + a u_vel + b u_acc) / (1 + a + b),   copies (~p = p in every set) included.
 * Index 1: a, b > 0; index 2: b = 0; index 3: s = 0 alone. Multipliers and copies have the plain end layout, degree 0 to 5. */
#include "coupling/joint_method.h"
#include "coupling/zero_stability.h"

#include <math.h>
#include <string.h>

/* Weights a, b of index 1 that are zero-stable, by degree: parasitic factors 0.58, 0.58, 0.53, 0.47, 0.63, 0.75. */
static const double good_weights[YOKE_LAYOUT_MAX_DEGREE + 1][2] = {{1.0, 1.0}, {1.0, 1.0},  {2.5, 5.0},
                                                                   {2.5, 5.0}, {4.0, 12.0}, {5.0, 20.0}};

typedef struct weighted_settings {
  int    index;
  double a, b;
} weighted_settings;

static const yoke_setting own_rows[] = {
    YOKE_METHOD_INDEX(weighted_settings, 1),
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

static yoke_status check_values(yoke_context *ctx, const yoke_coupling_def *def) {
  YOKE_OWN_SETTINGS(weighted_settings, own, def->settings);
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

static yoke_status check_scheme(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme) {
  if (scheme == NULL || !scheme->corrects_to_tolerance) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE,
                   "coupling '%s': formulation weighted is the mean of solutions of different conditions, which have "
                   "no common solution that scheme %s could converge to; use scheme semi-implicit, or formulation "
                   "baumgarte or stabilized-index-2",
                   def->name, scheme->name);
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

static yoke_status check(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme, int order) {
  YOKE_TRY(check_values(ctx, def));
  YOKE_TRY(check_scheme(ctx, def, scheme));
  warn_if_not_zero_stable(ctx, def, order);
  return YOKE_OK;
}

/* ---- the method ---- */

/* Set l is the level l of every row. */
static void adapt(const void *settings, double H, int set, yoke_row_sums *sums) {
  (void)settings, (void)H;
  sums->weight[0][set] = 1.0;
}

static int n_sets(const void *settings) {
  return 4 - ((const weighted_settings *)settings)->index;
}

static double weight(const void *settings, int set) {
  const weighted_settings *own = settings;
  return set == 0 ? 1.0 : set == 1 ? own->a : own->b;
}

static bool is_index_3(const void *settings) {
  return ((const weighted_settings *)settings)->index == 3;
}

/* Error: the multiplier is off by O(H^(degree + 1)), which accelerates both bodies; a share of it lasts from step to step. */
static const yoke_joint_method method = {
    YOKE_ALL_ORDERS,
    .most_displaced = 1,
    .sums           = {.n = 1},
    .adapt          = adapt,
    .n_sets         = n_sets,
    .weight         = weight,
    .holds          = YOKE_HOLDS_POSITION,
    .keeps          = is_index_3,
    .error          = {.ahead = 2, .order = {3, 2}, .rise = 1, .is_eased = true},
    .check          = check,
};

extern const yoke_formulation_ops weighted_ops;

const yoke_formulation_ops weighted_ops = {
    .name     = "weighted",
    .summary  = "rigid joints: weighted mean of the multipliers for g = 0, g' = 0 and g'' = 0, index 1, 2 or 3",
    .settings = {YOKE_SETTING_ROWS(own_rows)},
    YOKE_JOINT_METHOD(method),
    .sets    = &yoke_joint_method_sets,
    .joint   = &yoke_joint_method_holds,
    .error   = &yoke_joint_method_error,
    .instant = &yoke_joint_method_instant_and_estimate,
};
