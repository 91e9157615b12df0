/* Stabilised index 2 with a second multiplier (Lu 3.1.4, 3.2.3.3): rigid joints with s = 0 and s' = 0 at every macro point.
 *
 * Beside its multiplier lambda every row has a multiplier mu [m/s, rad/s] that moves the bodies,
 *   q' = T (v + mu grad),   M v' = f + lambda grad,
 * and whose solution is 0 up to the errors of the method. s' is computed with v, not with q'. lambda and mu have the plain end
 * layout, degree 0, 1 or 2; copies are parabolas (constraint.h), else joints with copies had order 1 at degree 0. After the
 * correction u := r u + (1 - r) u_N, r the relaxation (1: none). */
#include "coupling/joint_method.h"

#include <math.h>
#include <string.h>

enum { MAX_DEGREE = 2 };

/* Relaxation below which degree k is zero-stable: for H -> 0 the relative motion is a double integrator driven by both
 * polynomials, and its spectral radius reaches 1 here (Lu appendix A). Degree 0 is sqrt(1 - r). */
static const double largest_relaxation[MAX_DEGREE + 1] = {HUGE_VAL, 1.0, 5.0 / 6.0};

typedef struct mu_settings {
  int    index;
  double relaxation;
} mu_settings;

static const yoke_setting own_rows[] = {
    YOKE_METHOD_INDEX(mu_settings, 2),
    {.key       = "relaxation",
     .type      = YOKE_SETTING_NUMBER,
     .fits      = yoke_setting_is_share,
     .expected  = YOKE_SETTING_SHARE_WORDS,
     .otherwise = "cosimulation.relaxation, else 1",
     .help      = "share of the new value",
     YOKE_SETTING_AT(mu_settings, relaxation)},
};

static void mu_complete(const yoke_coupling_settings *settings, void *own) {
  YOKE_OWN_SETTINGS(mu_settings, s, settings);
  if (s.relaxation == 0.0) s.relaxation = settings->relaxation > 0.0 ? settings->relaxation : 1.0;
  memcpy(own, &s, sizeof s);
}

static yoke_status check_values(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme) {
  YOKE_OWN_SETTINGS(mu_settings, own, def->settings);
  const double relaxation = own.relaxation;
  if (!(relaxation > 0.0 && relaxation <= 1.0)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': relaxation is %g, expected > 0 and at most 1", def->name,
                     relaxation);
  }
  if (relaxation < 1.0 && scheme != NULL && !scheme->corrects_once) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': relaxation %g belongs to one correction per step; use scheme semi-implicit, or "
                     "leave out relaxation",
                     def->name, relaxation);
  }
  return YOKE_OK;
}

/* Errors of the relative motion do not decay, whatever the step: warn before the run. */
static void warn_if_not_zero_stable(yoke_context *ctx, const yoke_coupling_def *def, int order) {
  YOKE_OWN_SETTINGS(mu_settings, own, def->settings);
  const double relaxation = own.relaxation;
  if (relaxation < largest_relaxation[order]) return;
  yoke_warn(ctx,
            "coupling '%s': stabilized-index-2-mu with relaxation %g is not zero-stable with order %d: errors %s, "
            "however small the step; use order 0, relaxation %g, or formulation stabilized-index-2",
            def->name, relaxation, order, order == 1 ? "do not decay" : "grow in every step", order == 1 ? 0.9 : 0.7);
}

static yoke_status check(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme, int order) {
  YOKE_TRY(check_values(ctx, def, scheme));
  warn_if_not_zero_stable(ctx, def, order);
  return YOKE_OK;
}

static double relaxation_of(const void *settings) {
  return ((const mu_settings *)settings)->relaxation;
}

static bool is_not_relaxed(const void *settings) {
  return relaxation_of(settings) == 1.0;
}

/* Error: s' = 0 makes int e = 0 for the error e of lambda(s): velocities are one order better than with a free multiplier. */
static const yoke_joint_method method = {
    .index       = 2,
    .orders      = YOKE_ORDERS_UP_TO(MAX_DEGREE),
    .orders_text = "0 to 2",
    .copies      = YOKE_COPY_PARABOLA,
    .has_mu      = true,
    .sums        = {.n = 2, .weight = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}},
    .holds       = YOKE_HOLDS_POSITION | YOKE_HOLDS_VELOCITY,
    .keeps       = is_not_relaxed,
    .relaxation  = relaxation_of,
    .error       = {.ahead = 2, .order = {3, 3}},
    .check       = check,
};

extern const yoke_formulation_ops stabilized_index_2_mu_ops;

const yoke_formulation_ops stabilized_index_2_mu_ops = {
    .name     = "stabilized-index-2-mu",
    .summary  = "rigid joints: g = 0 and g' = 0 at every macro point, a second multiplier in q' = v; with relaxation",
    .settings = {YOKE_SETTING_ROWS(own_rows)},
    .complete = mu_complete,
    YOKE_JOINT_METHOD(method),
    .joint   = &yoke_joint_method_holds,
    .error   = &yoke_joint_method_error,
    .instant = &yoke_joint_method_instant_and_estimate,
};
