/* What the default costs and leaves, beside fixed steps (F35). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../beside_whole.h"
#include <stdio.h>

/* `set` takes the place of the method in the file. */
static beside_whole compare(const char *model, const char *coupling, const char *set) {
  const char            *sets[]  = {set, "solvers={default: {kind: dop853, rtol: 1e-9}}"};
  const yoke_run_options options = {
      .size = sizeof options, .model = model, .n_sets = 2, .sets = sets, .no_predict = true, .threads = 1};
  beside_whole out = beside_whole_run(&options, coupling);
  beside_whole_release(&out); /* its numbers stay */
  return out;
}

/* They took up to 4 times the integrations of the best fixed step (2.9 times with force elements), and forces of joints were off by 4 %. */
static void f35_default_takes_no_more_than_the_best_fixed_step(void **state) {
  static const struct {
    const char *model, *coupling;
    double      span;
  } cases[] = {{"examples/double-pendulum.yaml", "knee.force", 2.0},
               {"examples/slider-crank.yaml", "guide.force", 0.5},
               {"examples/nonlinear-two-mass.yaml", "joint.force", 0.06}};
  (void)state;
  for (int i = 0; i < 3; ++i) {
    const beside_whole own  = compare(cases[i].model, cases[i].coupling, "cosimulation={}");
    int                n_ok = 0;
    assert_int_equal(own.status, YOKE_OK);
    CHECK_BELOW(own.motion, 10 * 1e-4);
    assert_true(own.force > 0.0);
    CHECK_BELOW(own.force, 5e-3);
    for (int k = 4; k <= 9; ++k) {
      char set[80];
      snprintf(set, sizeof set, "cosimulation={step: %.17g}", cases[i].span / (1 << k));
      const beside_whole fixed = compare(cases[i].model, cases[i].coupling, set);
      if (fixed.status != YOKE_OK || fixed.motion > 10 * 1e-4) continue;
      CHECK_BELOW((double)own.split.all_evaluations, 1.5 * (double)fixed.split.all_evaluations);
      ++n_ok;
    }
    assert_true(n_ok > 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(f35_default_takes_no_more_than_the_best_fixed_step)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
