/* Tendencies of the published cluster cases (Kraft, section 5), by counts of macro steps; bench_cluster has the times. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

static double macro_steps(const char *path, const char *sets, double t_end) {
  cosim        c     = cosim_done(path, sets, t_end);
  const double steps = (double)c.summary.macro.steps;
  cosim_close(&c);
  return steps;
}

/* Statement F6: published are 2 941 675 steps against 334 829 explicit, 708 876 against 319 041 implicit. */
static void a_heavy_mass_shifted_over_each_cut_makes_macro_steps_longer(void **state) {
  (void)state;
  const char *const model = "bench/cluster/tol2.yaml";
  CHECK_BELOW(4.0 * macro_steps(model, "parameters.shift=1;cosimulation.scheme=explicit", 2e-3),
              macro_steps(model, "parameters.shift=0;cosimulation.scheme=explicit", 2e-3));
  CHECK_BELOW(1.2 * macro_steps(model, "parameters.shift=1;cosimulation.scheme=implicit", 2e-3),
              macro_steps(model, "parameters.shift=0;cosimulation.scheme=implicit", 2e-3));
}

/* Statement F11: the mean macro step is 1.8e-4 s implicit, 3.1e-6 s explicit. */
static void stiff_dampers_at_the_cuts_make_implicit_macro_steps_ten_times_as_long(void **state) {
  (void)state;
  const char *const model = "bench/cluster/dense.yaml", *const sets = "parameters.n=100;solvers.default.rtol=1e-5;"
                                                                      "cosimulation.step={rtol: 1e-3, estimator: md}";
  char both[2][200];
  for (int i = 0; i < 2; ++i)
    snprintf(both[i], sizeof both[i], "%s;cosimulation.scheme=%s", sets, i == 0 ? "implicit" : "explicit");
  CHECK_BELOW(10.0 * macro_steps(model, both[0], 2e-4), macro_steps(model, both[1], 2e-4));
}

/* The chain is linear: one correction is exact but for the noise of the solvers, and an integration that confirms it would be one too many. */
static void a_correction_that_leaves_nothing_is_not_integrated_again(void **state) {
  (void)state;
  cosim c = cosim_done("bench/cluster/tol1.yaml", "cosimulation.step={rtol: 1e-3, estimator: cv}", 5e-6);
  CHECK_BELOW((double)c.summary.macro.iterations, 1.1 * (double)c.summary.macro.steps);
  cosim_close(&c);
}

/* Values at the cuts that are good enough for the motion may be too rough for the degree of later predictions: with all of the corrector's
 * tolerance left, 73 % of the steps have degree 0, and there are three times as many. */
static void stiff_cuts_keep_their_degree(void **state) {
  (void)state;
  cosim c =
      cosim_done("bench/cluster/stiff.yaml",
                 "parameters.n=150;solvers.default.rtol=1e-4;cosimulation.step={rtol: 1e-2, estimator: md}", 5e-5);
  CHECK_BELOW((double)c.summary.macro.steps, 120.0);
  CHECK_BELOW((double)c.summary.macro.degrees[0], 0.2 * (double)c.summary.macro.steps);
  cosim_close(&c);
}

/* What F/F limits to steps as short as the damper is stiff: copies of the motion, with the damper on both sides, do not. */
static void copies_at_stiff_dampers_allow_three_times_longer_steps_than_forces(void **state) {
  (void)state;
  const char *const model = "bench/cluster/dense.yaml", *const sets = "parameters.n=100;solvers.default.rtol=1e-5;"
                                                                      "cosimulation.step={rtol: 1e-3, estimator: cv}";
  char both[2][200];
  for (int i = 0; i < 2; ++i)
    snprintf(both[i], sizeof both[i], "%s;cosimulation.couplings.decomposition=%s/%s", sets,
             i == 0 ? "displacement" : "force", i == 0 ? "displacement" : "force");
  CHECK_BELOW(3.0 * macro_steps(model, both[0], 1e-3), macro_steps(model, both[1], 1e-3));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_heavy_mass_shifted_over_each_cut_makes_macro_steps_longer),
      cmocka_unit_test(stiff_dampers_at_the_cuts_make_implicit_macro_steps_ten_times_as_long),
      cmocka_unit_test(a_correction_that_leaves_nothing_is_not_integrated_again),
      cmocka_unit_test(stiff_cuts_keep_their_degree),
      cmocka_unit_test(copies_at_stiff_dampers_allow_three_times_longer_steps_than_forces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
