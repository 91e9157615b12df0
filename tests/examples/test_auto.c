/* `auto` takes the solver that the model needs: counts of right-hand sides and factorisations against those of the solver that is best on it
 * (F50; bench_solvers has the whole table). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "check.h"
#include "examples/run_model.h"

static const double WEIGHT = 10.0; /* right-hand sides that a factorisation costs */

static double work(const model_run *run) {
  return (double)run->summary.counters.evaluations + WEIGHT * (double)run->summary.counters.factorings;
}

/* Work of `auto` at rtol 1e-6 is at most twice that of `best`. */
static void check_against(const char *path, const char *best) {
  model_run own = run_file(path, NULL, "auto", 1e-6, 0.0), other = run_file(path, NULL, best, 1e-6, 0.0);
  print_message("%s: auto %.0f, %s %.0f\n", path, work(&own), best, work(&other));
  CHECK_BELOW(work(&own), 2.0 * work(&other));
  run_end(&own);
  run_end(&other);
}

static void f50_auto_leaves_explicit_steps_where_dampers_are_stiff(void **state) {
  (void)state;
  check_against("bench/solvers/governor.yaml", "radau5");
  check_against("bench/solvers/engine-gas.yaml", "radau5");
  check_against("bench/solvers/engine-damped.yaml", "radau5");
  check_against("bench/solvers/stiff-chain.yaml", "radau5");
}

static void f50_auto_finds_stiffness_on_the_imaginary_axis(void **state) {
  (void)state;
  check_against("bench/solvers/beam.yaml", "radau5");
  check_against("bench/solvers/beam-light.yaml", "radau5");
  check_against("bench/solvers/drive-train.yaml", "radau5");
}

static void f50_auto_stays_explicit_where_nothing_is_stiff(void **state) {
  (void)state;
  check_against("bench/solvers/half-car.yaml", "dop853");
  check_against("examples/four-bar-spatial.yaml", "dop853");
  check_against("examples/robot-arm.yaml", "dop853");
  check_against("examples/bouncing-contact.yaml", "dopri5");
}

/* Where loads that differ from mass to mass are the larger part of an evaluation, implicit iterations are cheaper beside it: without their price
 * `auto` goes back to explicit steps, 75 689 evaluations. */
static void auto_knows_what_the_loads_of_a_chain_cost(void **state) {
  (void)state;
  static const char *const sets[] = {"parameters.n=300", "t_end=2e-4", NULL};
  model_run                run    = run_file("bench/cluster/stiff.yaml", sets, "auto", 1e-5, 0.0);
  assert_in_range(run.summary.counters.evaluations, 1, 12000);
  run_end(&run);
}

/* Without joints too; reference: dop853 at 1e-12. At 1e-8 dopri5 takes 12 482 right-hand sides. */
static void f50_auto_takes_the_high_order_at_tight_tolerances(void **state) {
  (void)state;
  model_run run   = run_file("examples/bouncing-contact.yaml", NULL, "auto", 1e-8, 0.0),
            exact = run_file("examples/bouncing-contact.yaml", NULL, "dop853", 1e-12, 0.0);
  assert_string_equal(run.summary.method, "dop853");
  assert_in_range(run.summary.counters.evaluations, 1, 10000);
  CHECK_NEAR(run_value(&run, "box.x"), run_value(&exact, "box.x"), 1e-3 * 0.2);
  run_end(&run);
  run_end(&exact);
}

/* A verdict needs no more than fifteen steps and what a trial costs. */
static void f50_auto_has_its_verdict_within_a_hundred_steps(void **state) {
  (void)state;
  static const char *const models[] = {"governor", "engine-gas", "engine-damped", "beam", "drive-train"};
  for (size_t i = 0; i < sizeof models / sizeof *models; ++i) {
    char path[64];
    snprintf(path, sizeof path, "bench/solvers/%s.yaml", models[i]);
    model_run run = run_file(path, (const char *const[]){"output.every=0", NULL}, "auto", 1e-6, 0.03);
    assert_string_equal(run.summary.method, "radau5");
    assert_in_range(run.summary.counters.steps, 1, 100);
    run_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f50_auto_leaves_explicit_steps_where_dampers_are_stiff),
      cmocka_unit_test(f50_auto_finds_stiffness_on_the_imaginary_axis),
      cmocka_unit_test(f50_auto_stays_explicit_where_nothing_is_stiff),
      cmocka_unit_test(f50_auto_takes_the_high_order_at_tight_tolerances),
      cmocka_unit_test(f50_auto_has_its_verdict_within_a_hundred_steps),
      cmocka_unit_test(auto_knows_what_the_loads_of_a_chain_cost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
