/* Whole runs of the examples with rods: with step control a split run follows its tolerance to the model as a whole, at all times and in all
 * motions. tests/examples/test_rods.c has the beginnings of these runs. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../beside_whole.h"
#include "../check.h"
#include <stdio.h>

enum { N_TOLERANCES = 4 };

/* Largest NRMSE of a motion over the whole run; and its macro steps. */
static double error_with(const char *path, double rtol, int64_t *n_steps) {
  char        step[80];
  const char *sets[] = {"solvers.default.rtol=1e-10", step};
  snprintf(step, sizeof step, "cosimulation.step={rtol: %g}", rtol);
  const yoke_run_options options = {.size = sizeof options, .model = path, .n_sets = 2, .sets = sets, .threads = 1};
  beside_whole           run     = beside_whole_run(&options, NULL);
  assert_int_equal(run.status, YOKE_OK);
  *n_steps = run.split.macro_steps;
  beside_whole_release(&run);
  return run.motion;
}

static void follows(const char *path) {
  static const double rtol[N_TOLERANCES] = {1e-3, 1e-4, 1e-5, 1e-6};
  double              error[N_TOLERANCES];
  int64_t             n_steps[N_TOLERANCES];
  for (int k = 0; k < N_TOLERANCES; ++k) {
    error[k] = error_with(path, rtol[k], &n_steps[k]);
    print_message("%s, rtol %g: error %.3g, %lld macro steps\n", path, rtol[k], error[k], (long long)n_steps[k]);
    CHECK_BELOW(error[k], rtol[k]);
    if (k == 0) continue;
    assert_true(error[k] < error[k - 1] / 2.0);
    assert_true(n_steps[k] > n_steps[k - 1]);
  }
}

static void the_whole_run_of_the_crane_follows_the_tolerance(void **state) {
  (void)state;
  follows("examples/crane.yaml");
}

static void the_whole_run_of_the_elastic_slider_crank_follows_the_tolerance(void **state) {
  (void)state;
  follows("examples/beam-slider-crank.yaml");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_whole_run_of_the_elastic_slider_crank_follows_the_tolerance),
      cmocka_unit_test(the_whole_run_of_the_crane_follows_the_tolerance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
