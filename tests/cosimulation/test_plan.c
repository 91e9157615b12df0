/* A plan is all that a run needs: the model that it was made of may be gone. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "rig.h"

/* Tables, expressions of laws, loads and events on both sides of the cuts. */
static const char *const everything =
    "yoke: 1\nt_end: 1\nbodies:\n"
    "  a: {kind: mass1d, mass: 1, x: 0.1}\n  b: {kind: mass1d, mass: 2, v: 0.3}\n  d: {kind: mass1d, mass: 1}\n"
    "  c: {kind: chain, n: 8, mass: 1, stiffness: 100 + i, damping: 0.1,\n"
    "      loads: [{on: [2, 7], kind: harmonic, force: 1, omega: 3, phase: 0}]}\n"
    "connections:\n"
    "  table: {kind: spring-damper, between: [a, b], free_length: 0, damping: 0.1,\n"
    "          table: [[-2, -40], [-0.1, -1], [0.1, 1], [2, 40]]}\n"
    "  law: {kind: spring-damper, between: [b, d], free_length: 0, law: 10*x + 3*x^3 + 0.1*v + 0.01*sin(t)}\n"
    "  inner: {kind: spring-damper, between: [ground, a], free_length: 0, law: 20*x + sin(5*t)}\n"
    "  tip: {kind: spring-damper, between: [d, c[1]], stiffness: 30, free_length: 0}\n"
    "loads:\n  push: {kind: expression, on: a, force: cos(3*t) - 0.1*a.v}\n"
    "  pull: {kind: expression, on: d, force: if(t < 0.02, 1, 0)}\n"
    "events:\n  hit: {when: a.x - 0.099, direction: falling, set: {a.v: -0.5*a.v}}\n"
    "split: {p: [a], q: [b, d, c[1..4]], r: [c[5..8]]}\ncosimulation: {step: 5 ms, order: 2}\n";

/* Same bits of ten macro steps with the model and without it. */
static void expect_the_same_without_the_model(const char *path, const char *sets) {
  rig with, without;
  if (rig_open(&with, path, sets, "serial", 1, NULL) != YOKE_OK) {
    cosim_print(with.c.ctx);
    fail_msg("cannot open %s", path);
  }
  assert_int_equal(rig_plan(&without, path, sets), YOKE_OK);
  yoke_model_destroy(&without.c.model);
  assert_int_equal(rig_build(&without, "serial", 1, NULL), YOKE_OK);
  rig_steps(&with, 10);
  rig_steps(&without, 10);
  rig_expect_same(&with, &without);
  rig_close(&with);
  rig_close(&without);
}

static void a_plan_needs_its_model_no_more(void **state) {
  (void)state;
  expect_the_same_without_the_model(everything, NULL);
  expect_the_same_without_the_model(everything, "cosimulation.couplings.decomposition=displacement/displacement");
  expect_the_same_without_the_model("examples/double-pendulum.yaml", "cosimulation.start=exact");
  expect_the_same_without_the_model("examples/slider-crank-classic.yaml", NULL);
}

static void a_model_with_two_owners_is_freed_by_the_last(void **state) {
  (void)state;
  cosim c;
  assert_int_equal(cosim_load(&c, everything, NULL), YOKE_OK);
  yoke_model *other = (yoke_model *)(uintptr_t)yoke_model_retain(c.model);
  yoke_model_destroy(&c.model);
  assert_null(c.model);
  assert_string_equal(other->parts[0].name, "p");
  yoke_model_destroy(&other);
  cosim_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plan_needs_its_model_no_more),
      cmocka_unit_test(a_model_with_two_owners_is_freed_by_the_last),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
