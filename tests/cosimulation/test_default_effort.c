/* What the default costs and leaves, beside fixed steps (F35). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../beside_whole.h"
#include "../folder.h"
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

/* Tangents were made as well as those of joints, in many small steps of their own: 144 times the right-hand sides of the whole model, 1400 times
 * its Jacobians; and the solver of a part stayed explicit where that of the whole was implicit. */
static void rods_on_both_sides_of_a_bushing_cost_no_more_than_ten_times_the_whole(void **state) {
  static const char text[] =
      "yoke: 1\n"
      "t_end: 2e-3\n"
      "bodies:\n"
      "  left: {kind: cosserat-rod, elements: 20, from: [0, 0, 0], to: [0.5, 0, 0], normal: [0, 1, 0], section: "
      "{rectangle: [1e-2, 1e-2]}, young: 2e11, density: 7800, damping: 1e-5}\n"
      "  right: {kind: cosserat-rod, elements: 20, from: [1, 0, 0], to: [0.5, 0, 0], normal: [0, 1, 0], section: "
      "{rectangle: [1e-2, 1e-2]}, young: 2e11, density: 7800, damping: 1e-5}\n"
      "frames: {ground: {wall: [1, 0, 0]}}\n"
      "connections:\n"
      "  clamp: {kind: fixed, between: [ground, left.a]}\n"
      "  other: {kind: fixed, between: [ground.wall, right.a]}\n"
      "  bush: {kind: bushing, between: [left.b, right.b], stiffness: [1e6, 1e6, 1e6, 1e3, 1e3, 1e3], damping: [10, "
      "10, 10, 0.01, 0.01, 0.01]}\n"
      "loads: {push: {kind: expression, on: left.b, force: [0, '200*sin(200*t)', '100*(1 - exp(-t/0.01))']}}\n"
      "split: {l: [left], r: [right]}\n"
      "output: {every: 1e-4, select: ['left.b.*', 'right.b.*', 'bush.force*']}\n";
  const fixture *f = *state;
  char           path[128];
  FILE          *file = fopen(in_folder(f, "rods.yaml", path), "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
  const yoke_run_options options = {.size = sizeof options, .model = path, .no_predict = true, .threads = 1};
  beside_whole           run     = beside_whole_run(&options, "bush.force");
  beside_whole_release(&run);
  assert_int_equal(run.status, YOKE_OK);
  CHECK_BELOW(run.motion, 10 * 1e-4);
  CHECK_BELOW(run.force, 1e-3);
  CHECK_BELOW((double)run.split.all_evaluations, 10 * 2749.0); /* of the whole */
  CHECK_BELOW((double)run.split.all_jacobians, 5000.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f35_default_takes_no_more_than_the_best_fixed_step),
      cmocka_unit_test_setup_teardown(rods_on_both_sides_of_a_bushing_cost_no_more_than_ten_times_the_whole, set_up,
                                      tear_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
