/* Baumgarte (Li 4.1-4.15; Lu 3.1.1, 3.2.3.1): rigid joints with one condition per row at T_{N+1},
 *   s + beta s' + gamma s'' = 0.
 * Index 1: beta, gamma > 0, when not given 2 mu H and (mu H)^2; index 2: gamma = 0; index 3: s = 0 alone.
 * Multipliers and copies have the plain end layout, degree 0 to 5. */
#include "coupling/joint_method.h"
#include "coupling/zero_stability.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Index 1 is zero-stable from this mu on, by degree. For H -> 0 the relative motion is a double integrator driven by the
 * multiplier's polynomial; the numbers are where the spectral radius of that recurrence falls below 1 (degrees 1 and 2:
 * 1/sqrt(12), 1/2; Li 4.4, Lu appendix A). */
static const double smallest_mu[YOKE_LAYOUT_MAX_DEGREE + 1] = {0.0, 0.288675, 0.5, 0.768, 1.147, 1.717};

typedef struct baumgarte_settings {
  int    index;
  double beta, gamma; /* 0: from mu and H */
  double mu;
} baumgarte_settings;

static const yoke_setting own_rows[] = {
    YOKE_METHOD_INDEX(baumgarte_settings, 1),
    {.key       = "beta",
     .type      = YOKE_SETTING_POSITIVE,
     .unit      = "s",
     .otherwise = "2 mu H",
     .with      = "index",
     .of        = "1 2",
     .help      = "weight of g' in g + beta g' + gamma g'' = 0",
     YOKE_SETTING_AT(baumgarte_settings, beta)},
    {.key       = "gamma",
     .type      = YOKE_SETTING_POSITIVE,
     .unit      = "s^2",
     .otherwise = "(mu H)^2",
     .with      = "index",
     .of        = "1",
     .help      = "weight of g''",
     YOKE_SETTING_AT(baumgarte_settings, gamma)},
    {.key      = "mu",
     .type     = YOKE_SETTING_POSITIVE,
     .standard = {1.0},
     .with     = "index",
     .of       = "1 2",
     .without  = "beta gamma",
     .help     = "beta and gamma in macro steps: 2 mu H and (mu H)^2",
     YOKE_SETTING_AT(baumgarte_settings, mu)},
};

static yoke_status check_values(yoke_context *ctx, const yoke_coupling_def *def) {
  YOKE_OWN_SETTINGS(baumgarte_settings, own, def->settings);
  const struct {
    const char *key;
    double      value;
  } given[] = {{"beta", own.beta}, {"gamma", own.gamma}, {"mu", own.mu}};
  for (size_t i = 0; i < sizeof given / sizeof given[0]; ++i) {
    if (given[i].value >= 0.0 && isfinite(given[i].value)) continue;
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': %s is %g, expected > 0", def->name, given[i].key,
                     given[i].value);
  }
  return YOKE_OK;
}

/* beta and gamma of a step, index 1 and 2; not given: from mu. */
static double beta_of(const baumgarte_settings *own, double H) {
  return own->beta > 0.0 ? own->beta : 2.0 * own->mu * H;
}

static double gamma_of(const baumgarte_settings *own, double H) {
  const double time = own->mu * H;
  return own->gamma > 0.0 ? own->gamma : time * time;
}

/* Growth of errors per step with macro step H; index 1. */
static double growth(const baumgarte_settings *own, int order, double H) {
  return yoke_parasitic_factor(order, beta_of(own, H) / H, gamma_of(own, H) / (H * H));
}

/* A step, H halved again and again, at which given beta and gamma are zero-stable; 0: none. */
static double stable_step(const baumgarte_settings *own, int order, double H) {
  for (int i = 0; i < 40; ++i) {
    H *= 0.5;
    if (growth(own, order, H) <= 1.0) return H;
  }
  return 0.0;
}

/* beta and gamma are times: the step decides. */
static void warn_of_times(yoke_context *ctx, const yoke_coupling_def *def, const baumgarte_settings *own, int order) {
  const double H = def->settings->step;
  if (!(H > 0.0)) return; /* not known yet */
  const double factor = growth(own, order, H), good = stable_step(own, order, H);
  if (!(factor > 1.0 + 1e-6)) return;
  char remedy[64] = "mu = 1 instead of beta and gamma";
  if (good > 0.0) snprintf(remedy, sizeof remedy, "a step of %.3g s", good);
  yoke_warn(
      ctx,
      "coupling '%s': baumgarte index 1 with beta = %g s, gamma = %g s^2 is not zero-stable with order %d at a step "
      "of %g s: errors grow by %.3g in every step; use %s, larger times, a lower order, or formulation "
      "stabilized-index-2 or stabilized-index-1",
      def->name, beta_of(own, H), gamma_of(own, H), order, H, factor, remedy);
}

/* Errors of the relative motion grow by a factor per step: warn before the run. */
static void warn_if_not_zero_stable(yoke_context *ctx, const yoke_coupling_def *def, int order) {
  YOKE_OWN_SETTINGS(baumgarte_settings, own, def->settings);
  if (order == 0) return;
  if (own.index > 1) {
    yoke_warn(ctx,
              "coupling '%s': baumgarte index %d is not zero-stable with order %d: errors grow in every step, however "
              "small; use order 0, index 1, or formulation stabilized-index-2 or stabilized-index-1",
              def->name, own.index, order);
    return;
  }
  if (own.beta > 0.0 || own.gamma > 0.0) {
    warn_of_times(ctx, def, &own, order);
    return;
  }
  const double mu = own.mu;
  if (mu < smallest_mu[order]) {
    yoke_warn(ctx,
              "coupling '%s': baumgarte index 1 with mu = %g is not zero-stable with order %d: errors grow in every "
              "step, however small; use mu >= %g, a lower order, or formulation stabilized-index-2 or "
              "stabilized-index-1",
              def->name, mu, order, smallest_mu[order]);
  }
}

static yoke_status check(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme, int order) {
  (void)scheme;
  YOKE_TRY(check_values(ctx, def));
  warn_if_not_zero_stable(ctx, def, order);
  return YOKE_OK;
}

static void adapt(const void *settings, double H, int set, yoke_row_sums *sums) {
  const baumgarte_settings *own = settings;
  (void)set;
  if (own->index <= 2) sums->weight[0][1] = beta_of(own, H);
  if (own->index == 1) sums->weight[0][2] = gamma_of(own, H);
}

static bool is_index_3(const void *settings) {
  return ((const baumgarte_settings *)settings)->index == 3;
}

/* Error: the multiplier is off by O(H^(degree + 1)), which accelerates both bodies; a share of it lasts from step to step. */
static const yoke_joint_method method = {
    YOKE_ALL_ORDERS,
    .most_displaced = 1,
    .sums           = {.n = 1, .weight = {{1.0, 0.0, 0.0}}},
    .adapt          = adapt,
    .holds          = YOKE_HOLDS_POSITION,
    .keeps          = is_index_3,
    .error          = {.ahead = 2, .order = {3, 2}, .rise = 1, .is_eased = true},
    .check          = check,
};

extern const yoke_formulation_ops baumgarte_ops;

const yoke_formulation_ops baumgarte_ops = {
    .name     = "baumgarte",
    .summary  = "rigid joints: g + beta g' + gamma g'' = 0, index 1, 2 or 3; fewest unknowns",
    .settings = {YOKE_SETTING_ROWS(own_rows)},
    YOKE_JOINT_METHOD(method),
    .joint   = &yoke_joint_method_holds,
    .error   = &yoke_joint_method_error,
    .instant = &yoke_joint_method_instant_and_estimate,
};
