/* What a user does not expect to be refused runs, or is refused with a remedy that applies (F38); divergence names what helps (F61). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../said.h"
#include "../check.h"
#include "cosimulate.h"

/* A hanging arm, a light one on a rigid joint that is cut, and a body on a spring that is cut. */
static const char arms[] =
    "yoke: 1\n"
    "t_end: 0.3\n"
    "gravity: [0, -9.81, 0]\n"
    "bodies:\n"
    "  a: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {l: [-0.5, 0], r: [0.5, 0]}}\n"
    "  b: {kind: planar, mass: 0.3, inertia: 0.01, position: [1.5, 0], frames: {l: [-0.5, 0], r: [0.5, 0]}}\n"
    "  c: {kind: planar, mass: 1, inertia: 0.1, position: [2.5, 0]}\n"
    "connections:\n"
    "  h: {kind: revolute, between: [ground, a.l]}\n"
    "  knee: {kind: revolute, between: [a.r, b.l]}\n"
    "  s: {kind: spring-damper, between: [b.r, c], stiffness: 100, damping: 1}\n"
    "  w: {kind: spring-damper, between: [c, [2.5, 1, 0]], stiffness: 100}\n"
    "split: {p: [a], q: [b], r: [c]}\n"
    "cosimulation: {step: 2e-3}\n";

static void expect_message(const cosim *c, const char *part) {
  if (said(c->ctx, part)) return;
  cosim_print(c->ctx);
  fail_msg("no message has '%s'", part);
}

static double error_of(const char *sets) {
  cosim        whole = cosim_done_monolithic(arms, "solvers.default.rtol=1e-11", 0.0), c = cosim_done(arms, sets, 0.0);
  const double error = fabs(cosim_value(&c, "b.x") - cosim_value(&whole, "b.x")) +
                       fabs(cosim_value(&c, "c.y") - cosim_value(&whole, "c.y"));
  cosim_close(&whole);
  cosim_close(&c);
  return error;
}

static void f38_the_explicit_scheme_drives_a_cut_joint_by_kinematic(void **state) {
  (void)state;
  cosim c = cosim_done(arms, "cosimulation.scheme=explicit", 0.0);
  assert_string_equal(c.plan->couplings[0].settings.formulation, "kinematic");
  assert_string_equal(c.plan->couplings[1].settings.formulation, "constitutive");
  cosim_close(&c);
  CHECK_BELOW(error_of("cosimulation.scheme=explicit"), 1e-4);
}

static void f38_force_elements_have_a_higher_order_than_joints_beside_them(void **state) {
  (void)state;
  cosim c = cosim_done(arms, "cosimulation.order=3", 0.0);
  expect_message(&c, "coupling 'knee' has order 2, the highest that formulation stabilized-index-2 has here");
  cosim_close(&c);
  CHECK_BELOW(error_of("cosimulation.order=3"), 0.3 * error_of("cosimulation.order=2"));
}

static void f38_an_order_that_no_coupling_has_is_refused(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, arms, "cosimulation.order=3;cosimulation.couplings.s.extension=d");
  cosim_expect(&c, YOKE_E_USAGE);
  expect_message(&c, "order is 3, expected 0 to 2");
  cosim_close(&c);
}

static void f38_extension_i_names_what_it_can_be_had_with(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, arms, "cosimulation.couplings.s.extension=i");
  cosim_expect(&c, YOKE_E_USAGE);
  expect_message(&c, "use extension d, or decomposition displacement/displacement");
  cosim_close(&c);
  CHECK_BELOW(error_of("cosimulation.couplings.s={extension: i, decomposition: displacement/displacement}"), 1e-4);
  CHECK_BELOW(error_of("cosimulation.couplings.s={extension: d}"), 1e-4);
}

static void f38_a_predictor_by_accelerations_beside_another_scheme_is_refused_with_a_remedy(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, "examples/two-mass.yaml", "cosimulation.scheme=implicit;cosimulation.predictor=acceleration");
  cosim_expect(&c, YOKE_E_MODEL);
  expect_message(&c, "use scheme explicit, or none, or predictor extrapolation");
  cosim_close(&c);
}

/* The cut of a stiff element. */
static cosim diverged(const char *scheme) {
  char  sets[COSIM_TEXT];
  cosim c;
  snprintf(sets, sizeof sets,
           "cosimulation.scheme=%s;cosimulation.order=2;cosimulation.step=4e-2;parameters.cc=1e6;parameters.dc=0;"
           "cosimulation.couplings.decomposition=displacement/displacement",
           scheme);
  cosim_open(&c, "examples/two-mass.yaml", sets);
  cosim_run(&c, 40.0, NULL, NULL);
  cosim_expect(&c, YOKE_E_UNSTABLE);
  return c;
}

static void f61_divergence_names_a_step_and_the_extension_that_helps(void **state) {
  (void)state;
  cosim c = diverged("semi-implicit");
  expect_message(&c, "use a smaller macro step (try 0.01 s), a lower order, extension d, or scheme implicit");
  cosim_close(&c);
}

static void f61_divergence_of_the_implicit_scheme_does_not_name_it(void **state) {
  (void)state;
  cosim c = diverged("implicit");
  expect_message(&c, "use a smaller macro step (try 0.01 s), a lower order, extension d, or another formulation");
  assert_false(said(c.ctx, "scheme implicit"));
  cosim_close(&c);
}

static void f61_divergence_of_the_explicit_scheme_names_no_extension(void **state) {
  (void)state;
  cosim c = diverged("explicit");
  expect_message(&c, "use a smaller macro step (try 0.01 s), a lower order, or scheme semi-implicit");
  cosim_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f38_the_explicit_scheme_drives_a_cut_joint_by_kinematic),
      cmocka_unit_test(f38_force_elements_have_a_higher_order_than_joints_beside_them),
      cmocka_unit_test(f38_an_order_that_no_coupling_has_is_refused),
      cmocka_unit_test(f38_extension_i_names_what_it_can_be_had_with),
      cmocka_unit_test(f38_a_predictor_by_accelerations_beside_another_scheme_is_refused_with_a_remedy),
      cmocka_unit_test(f61_divergence_names_a_step_and_the_extension_that_helps),
      cmocka_unit_test(f61_divergence_of_the_implicit_scheme_does_not_name_it),
      cmocka_unit_test(f61_divergence_of_the_explicit_scheme_names_no_extension),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
