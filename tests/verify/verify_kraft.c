/* Findings of Kraft's study that run in minutes (numbers R15 to R18): analytic interface Jacobians, use of the degrees, and which
 * schemes bear unequal masses. Counts are those of step control with rtol 1e-4 unless said otherwise. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"

static yoke_macro_totals totals_of(const char *path, const char *sets, double t_end) {
  cosim c;
  if (cosim_open(&c, path, sets) != YOKE_OK || cosim_run(&c, t_end, NULL, NULL) != YOKE_OK) {
    cosim_print(c.ctx);
    fail_msg("%s, %s: %s", path, sets, yoke_status_name(c.status));
  }
  const yoke_macro_totals totals = c.summary.macro;
  print_message("%-60s %lld steps, %lld rejected, %.2f passes, %lld integrations\n", sets, (long long)totals.steps,
                (long long)totals.rejected, (double)totals.iterations / (double)totals.steps,
                (long long)totals.integrations);
  cosim_close(&c);
  return totals;
}

static double passes(const yoke_macro_totals *t) {
  return (double)t->iterations / (double)t->steps;
}

static double mean_degree(const yoke_macro_totals *t) {
  double sum = 0.0;
  for (int k = 0; k <= YOKE_ORDER_MAX; ++k) sum += (double)k * (double)t->degrees[k];
  return sum / (double)t->steps;
}

/* Kraft judges every step by itself. */
#define CONTROL "cosimulation.order=auto;cosimulation.step={rtol: 1e-4, budget: 0};cosimulation.scheme="

/* R15: equal steps. Passes were equal, too, as long as every correction was confirmed by another pass; now a matrix that is exact is spared most of
 * them (docs/step-control.md), and analytic responses, which are not, need two at most. */
static void analytic_responses_need_as_many_steps_for_the_rod(void **state) {
  (void)state;
  static const char *const rod = "examples/chain-rod.yaml";
  const yoke_macro_totals  sap = totals_of(rod, CONTROL "implicit;cosimulation.jacobian=analytic", 1e-4);
  const yoke_macro_totals  fd  = totals_of(rod, CONTROL "implicit;cosimulation.jacobian=finite-difference", 1e-4);
  CHECK_NEAR((double)sap.steps / (double)fd.steps, 1.0, 0.01);
  CHECK_BELOW(passes(&sap), 2.0);
  CHECK_BELOW(passes(&fd), 1.1);
  CHECK_BELOW((double)sap.integrations, 0.75 * (double)fd.integrations);
}

/* Solvers far below the tolerances: at the default their noise moves the counts of the damped pair by 3 %. */
#define TIGHT "solvers.default={kind: dopri5, rtol: 1e-11}"

/* R16: equal counts without damping; with damping the analytic responses, which neglect it, need no fewer passes. */
static void analytic_responses_bear_a_mass_ratio_of_a_thousand(void **state) {
  (void)state;
  static const char *const asym = "examples/chain-asym.yaml";
  static const char *const dc[] = {"0", "1e4"};
  for (int k = 0; k < 2; ++k) {
    char sets[2][COSIM_TEXT];
    snprintf(sets[0], sizeof sets[0], CONTROL "implicit;parameters.dc=%s;cosimulation.jacobian=analytic;" TIGHT, dc[k]);
    snprintf(sets[1], sizeof sets[1],
             CONTROL "implicit;parameters.dc=%s;cosimulation.jacobian=finite-difference;" TIGHT, dc[k]);
    const yoke_macro_totals sap = totals_of(asym, sets[0], 0.02), fd = totals_of(asym, sets[1], 0.02);
    CHECK_NEAR((double)sap.steps / (double)fd.steps, 1.0, 0.05);
    assert_true(passes(&sap) > 0.99 * passes(&fd));
  }
}

/* R17. Solvers far below the tolerances: at rtol 1e-5 their noise at 1e-8 or 1e-10 tips the mean degree of cv from 3.7 to 4.1. */
static void tighter_tolerances_and_estimates_of_motion_use_higher_degrees(void **state) {
  (void)state;
  static const char *const imp = "examples/chain-imp.yaml";
  double                   degree[2][2];
  static const char *const estimators[] = {"cv", "md"}, *const rtol[] = {"1e-3", "1e-5"};
  for (int e = 0; e < 2; ++e) {
    for (int r = 0; r < 2; ++r) {
      char sets[COSIM_TEXT];
      snprintf(
          sets, sizeof sets,
          "parameters.n=400;split.c=10;cosimulation.scheme=explicit;cosimulation.order=auto;solvers.default.rtol=1e-12;"
          "cosimulation.step={rtol: %s, estimator: %s, budget: 0}",
          rtol[r], estimators[e]);
      const yoke_macro_totals totals = totals_of(imp, sets, 0.0);
      degree[e][r]                   = mean_degree(&totals);
      assert_true(totals.degrees[0] > 0); /* at the edges of the impulses */
    }
    assert_true(degree[e][1] > degree[e][0] + 0.5);
  }
  for (int r = 0; r < 2; ++r) assert_true(degree[0][r] < degree[1][r]);
}

/* R18 */
static void only_implicit_steps_bear_unequal_masses_with_a_strong_damper(void **state) {
  (void)state;
  static const char *const asym = "examples/chain-asym.yaml";
  static const char *const rest = ";parameters.m1=1e-2;parameters.dc=1e4", *const schemes[] = {"explicit", "waveform",
                                                                                               "implicit"};
  double cost[3];
  for (int k = 0; k < 3; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, CONTROL "%s%s", schemes[k], rest);
    const yoke_macro_totals totals = totals_of(asym, sets, 0.01);
    cost[k]                        = (double)totals.integrations;
  }
  assert_true(cost[0] > 3.0 * cost[2]);
  assert_true(cost[1] > 10.0 * cost[2]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(analytic_responses_need_as_many_steps_for_the_rod),
      cmocka_unit_test(analytic_responses_bear_a_mass_ratio_of_a_thousand),
      cmocka_unit_test(tighter_tolerances_and_estimates_of_motion_use_higher_degrees),
      cmocka_unit_test(only_implicit_steps_bear_unequal_masses_with_a_strong_damper),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
