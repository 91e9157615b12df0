/* What the default costs and leaves, beside fixed steps (F35). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include <yoke/result.h>
#include <yoke/run.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A co-simulation beside the model as a whole. */
typedef struct outcome {
  yoke_status status;
  double      motion, force; /* largest NRMSE of motions and of forces at couplings */
  double      evaluations;
} outcome;

/* `set` takes the place of the method in the file. */
static outcome compare(const char *model, const char *coupling, const char *set) {
  const char            *sets[] = {set, "solvers={default: {kind: dop853, rtol: 1e-9}}"};
  yoke_run_summary       split = {.size = sizeof split}, whole = {.size = sizeof whole};
  yoke_comparison       *comparison = NULL;
  yoke_difference        d          = {.size = sizeof d};
  outcome                out        = {0};
  yoke_context          *ctx;
  const yoke_run_options options = {
      .size = sizeof options, .model = model, .n_sets = 2, .sets = sets, .no_predict = true, .threads = 1};
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  out.status      = yoke_run_compare(ctx, &options, &split, &whole, &comparison);
  out.evaluations = (double)split.all_evaluations;
  for (int i = 0; out.status == YOKE_OK && yoke_comparison_get(ctx, comparison, i, &d) == YOKE_OK; ++i) {
    if (d.is_motion) out.motion = fmax(out.motion, d.nrmse);
    if (strncmp(d.name, coupling, strlen(coupling)) == 0) out.force = fmax(out.force, d.nrmse);
  }
  yoke_comparison_destroy(&comparison);
  yoke_run_summary_release(&split);
  yoke_run_summary_release(&whole);
  yoke_context_destroy(&ctx);
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
    const outcome own  = compare(cases[i].model, cases[i].coupling, "cosimulation={}");
    int           n_ok = 0;
    assert_int_equal(own.status, YOKE_OK);
    CHECK_BELOW(own.motion, 10 * 1e-4);
    assert_true(own.force > 0.0);
    CHECK_BELOW(own.force, 5e-3);
    for (int k = 4; k <= 9; ++k) {
      char set[80];
      snprintf(set, sizeof set, "cosimulation={step: %.17g}", cases[i].span / (1 << k));
      const outcome fixed = compare(cases[i].model, cases[i].coupling, set);
      if (fixed.status != YOKE_OK || fixed.motion > 10 * 1e-4) continue;
      CHECK_BELOW(own.evaluations, 1.5 * fixed.evaluations);
      ++n_ok;
    }
    assert_true(n_ok > 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(f35_default_takes_no_more_than_the_best_fixed_step)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
