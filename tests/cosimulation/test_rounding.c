/* The corrector knows the rounding of its unknowns: steps are as short as one likes, and multipliers near 0 make no step shorter (F31, F37). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"
#include "three_rods.h"

static const char robot_arm[] =
    "yoke: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "t_end: 0.2\n"
    "bodies:\n"
    "  base: {kind: rigid, mass: 8, inertia: [0.1, 0.1, 0.05], position: [0, 0, 0.2],\n"
    "         frames: {bottom: [0, 0, -0.2], top: [0, 0, 0.2]}}\n"
    "  upper: {kind: rigid, mass: 4, inertia: [0.01, 0.12, 0.12], position: [0.3, 0, 0.4],\n"
    "          frames: {root: [-0.3, 0, 0], tip: [0.3, 0, 0]}}\n"
    "  fore: {kind: rigid, mass: 2, inertia: [0.005, 0.06, 0.06], position: [0.9, 0, 0.4],\n"
    "         frames: {root: [-0.3, 0, 0], tip: [0.3, 0, 0]}}\n"
    "connections:\n"
    "  waist: {kind: revolute, between: [ground, base.bottom], axis: [0, 0, 1]}\n"
    "  shoulder: {kind: revolute, between: [base.top, upper.root], axis: [0, 1, 0]}\n"
    "  elbow: {kind: revolute, between: [upper.tip, fore.root], axis: [0, 1, 0]}\n"
    "loads: {motor: {kind: expression, on: base, torque: [0, 0, 20]}}\n"
    "split: {one: [base], two: [upper], three: [fore]}\n"
    "cosimulation: {scheme: implicit}\n";

/* Two hinges on one axis, a frame on a bushing, an arm with a ball joint and a closer spring. */
static const char door[] =
    "yoke: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "t_end: 0.1\n"
    "bodies:\n"
    "  frame: {kind: rigid, mass: 15, inertia: [5, 5, 1], position: [0, 0, 1],\n"
    "          frames: {foot: [0, 0, -1], low: [0, 0, -0.8], high: [0, 0, 0.8]}}\n"
    "  door: {kind: rigid, mass: 30, inertia: [10, 12, 2.5], position: [0.45, 0, 1],\n"
    "         frames: {low: [-0.45, 0, -0.8], high: [-0.45, 0, 0.8], handle: [0.1, 0.05, 0.9]}}\n"
    "  arm: {kind: rigid, mass: 1, inertia: [0.002, 0.02, 0.02], position: [0.55, 0.25, 1.9],\n"
    "        frames: {pin: [0, -0.2, 0], tip: [0, 0.2, 0]}}\n"
    "connections:\n"
    "  bushing: {kind: bushing, between: [ground, frame.foot], stiffness: [1e5, 1e5, 1e5, 1e4, 1e4, 1e4],\n"
    "            damping: [1e3, 1e3, 1e3, 1e2, 1e2, 1e2]}\n"
    "  hinge1: {kind: revolute, between: [frame.low, door.low], axis: [0, 0, 1]}\n"
    "  hinge2: {kind: revolute, between: [frame.high, door.high], axis: [0, 0, 1]}\n"
    "  ball: {kind: spherical, between: [door.handle, arm.pin]}\n"
    "  closer: {kind: spring-damper, between: [frame.high, arm.tip], stiffness: 200, damping: 20, free_length: 0.3}\n"
    "split: {house: [frame, door], arm: [arm]}\n"
    "cosimulation: {scheme: implicit}\n";

static const char level_pendulum[] =
    "yoke: 1\n"
    "gravity: [0, -9.81]\n"
    "t_end: 0.1\n"
    "solvers: {default: {rtol: 1e-10, atol: 1e-12}}\n"
    "bodies:\n"
    "  a: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {r: [-0.5, 0], p: [0.5, 0]}}\n"
    "  b: {kind: planar, mass: 1, inertia: 0.1, position: [1.5, 0], frames: {r: [-0.5, 0]}}\n"
    "connections:\n"
    "  h: {kind: revolute, between: [ground, a.r]}\n"
    "  k: {kind: revolute, between: [a.p, b.r]}\n"
    "split: {l: [a], r: [b]}\n"
    "cosimulation: {scheme: implicit}\n";

/* Ends, in at most so many macro steps, and a quantity is right to 10 times the tolerance, of `size`. */
static void check_control(const char *model, const char *sets, int most_steps, const char *name, double size,
                          double rtol) {
  char all[256];
  snprintf(all, sizeof all, "cosimulation.step={rtol: %g, budget: 0};%s", rtol, sets);
  cosim        whole = cosim_done_monolithic(model, "solvers.default.rtol=1e-11", 0.0), c = cosim_done(model, all, 0.0);
  const double error = fabs(cosim_value(&c, name) - cosim_value(&whole, name)) / size;
  if (c.summary.macro.steps > most_steps) fail_msg("rtol %g: %lld steps", rtol, (long long)c.summary.macro.steps);
  if (!(error < 10.0 * rtol)) fail_msg("rtol %g: error %g of %s", rtol, error, name);
  assert_int_equal(c.summary.macro.rejected_by[YOKE_REDUCED_BY_CORRECTOR], 0);
  cosim_close(&c);
  cosim_close(&whole);
}

static void f31_three_rods_end_with_scheme_implicit_and_order_1(void **state) {
  (void)state;
  check_control(three_rods, "cosimulation.scheme=implicit;cosimulation.order=1", 200, "b3.omega", 10.0, 1e-4);
}

static void f31_a_double_pendulum_ends_with_estimator_cv(void **state) {
  (void)state;
  cosim c = cosim_done("examples/double-pendulum.yaml",
                       "cosimulation.scheme=implicit;cosimulation.order=auto;cosimulation.step={rtol: 1e-5, "
                       "estimator: cv}",
                       0.1);
  assert_int_equal(c.summary.macro.rejected_by[YOKE_REDUCED_BY_CORRECTOR], 0);
  cosim_close(&c);
}

static void f31_a_pendulum_from_level_ends_at_tight_tolerances(void **state) {
  (void)state;
  check_control(level_pendulum, "", 40, "b.omega", 1.0, 1e-6);
  check_control(level_pendulum, "", 40, "b.omega", 1.0, 1e-7);
}

static void f31_a_robot_arm_in_three_parts_ends_at_tight_tolerances(void **state) {
  (void)state;
  check_control(robot_arm, "", 60, "fore.wy", 5.0, 1e-5);
  check_control(robot_arm, "", 90, "fore.wy", 5.0, 1e-6);
}

static void f37_a_door_ends_at_loose_tolerances(void **state) {
  (void)state;
  check_control(door, "", 40, "arm.vy", 1.0, 1e-3);
  check_control(door, "", 45, "arm.vy", 1.0, 1e-4);
}

/* Behind five steps of any length the joints are closed as far as digits go, and no step takes long. */
static void check_any_step(const char *model, const char *jacobian) {
  for (int k = 4; k <= 12; k += 2) {
    const double H = pow(10.0, -k);
    char         sets[128];
    snprintf(sets, sizeof sets, "cosimulation.scheme=implicit;cosimulation.step=%g;cosimulation.jacobian=%s", H,
             jacobian);
    cosim c = cosim_done(model, sets, 5.0 * H);
    assert_int_equal(c.summary.macro.unconverged, 0);
    assert_true(c.summary.macro.iterations <= 4 * c.summary.macro.steps);
    assert_true(c.summary.macro.residuals[YOKE_RESIDUAL_POSITION].largest < 1e-12);
    cosim_close(&c);
  }
}

static void f31_steps_of_any_length_converge(void **state) {
  (void)state;
  check_any_step(three_rods, "tangent");
  check_any_step(robot_arm, "tangent");
  check_any_step(door, "tangent");
}

static void f31_perturbed_integrations_stand_out_of_rounding_at_any_step(void **state) {
  (void)state;
  check_any_step(three_rods, "finite-difference");
  check_any_step(robot_arm, "finite-difference");
  check_any_step(door, "finite-difference");
}

/* ---- messages ---- */

static void f31_the_remedy_is_not_in_use_already(void **state) {
  (void)state;
  static const struct {
    const char *sets, *said, *not_said;
  } cases[] = {{"estimator: md", "cosimulation.corrector.max_iterations", "estimator md"},
               {"estimator: cv", "estimator md", "scheme implicit"}};
  for (int i = 0; i < 2; ++i) {
    char  sets[256];
    cosim c;
    snprintf(sets, sizeof sets,
             "cosimulation.scheme=implicit;cosimulation.corrector.max_iterations=1;cosimulation.step={rtol: 1e-5, %s}",
             cases[i].sets);
    cosim_open(&c, "examples/four-bar-bushing.yaml", sets);
    cosim_run(&c, 0.0, NULL, NULL);
    cosim_expect(&c, YOKE_E_STEP_TOO_SMALL);
    const char *const text = yoke_context_message(c.ctx, yoke_context_n_messages(c.ctx) - 1);
    assert_true(strstr(text, "coupling 'bushing'") != NULL && strstr(text, cases[i].said) != NULL);
    assert_true(strstr(text, cases[i].not_said) == NULL);
    cosim_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f31_three_rods_end_with_scheme_implicit_and_order_1),
      cmocka_unit_test(f31_a_double_pendulum_ends_with_estimator_cv),
      cmocka_unit_test(f31_a_pendulum_from_level_ends_at_tight_tolerances),
      cmocka_unit_test(f31_a_robot_arm_in_three_parts_ends_at_tight_tolerances),
      cmocka_unit_test(f37_a_door_ends_at_loose_tolerances),
      cmocka_unit_test(f31_steps_of_any_length_converge),
      cmocka_unit_test(f31_perturbed_integrations_stand_out_of_rounding_at_any_step),
      cmocka_unit_test(f31_the_remedy_is_not_in_use_already),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
