/* Errors and steps of whole runs under step control that were far off (F9, F23). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "cosimulate.h"

/* A mass behind a spring with a table, as seed 1037 of the campaign. */
static const char TABLE[] =
    "yoke: 1\ngravity: [-9.81, 0, 0]\nt_end: 1\nbodies:\n"
    "  m0: {kind: mass1d, mass: 3, x: 0.01, v: -0.3}\n"
    "  m1: {kind: mass1d, mass: 2, x: -0.1, v: -0.2}\n"
    "  m2: {kind: mass1d, mass: 0.2, x: 0.05, v: 0.8}\n"
    "connections:\n"
    "  c0: {kind: spring-damper, between: [ground, m0], stiffness: 200, damping: 0.5, free_length: 0}\n"
    "  c1: {kind: spring-damper, between: [m0, m1], stiffness: 100, damping: 0.6, free_length: 0}\n"
    "  c2: {kind: spring-damper, between: [m1, m2], damping: 1, free_length: 0,\n"
    "       table: [[-0.2, -177], [-0.05, -22], [0, 0], [0.05, 22], [0.2, 177]]}\n"
    "split: {s0: [m0, m1], s1: [m2]}\n";

/* Two bars in space that hang on a spring, as seed 1129. */
static const char SPACE[] =
    "yoke: 1\ngravity: [0, 0, -9.81]\nt_end: 0.5\nbodies:\n"
    "  b0: {kind: rigid, mass: 0.6, inertia: [0.07, 0.068, 0.062], position: [-0.2, -0.3, 0.3],\n"
    "       frames: {a: [0.2, 0.3, -0.3], b: [-0.2, -0.3, 0.3]}}\n"
    "  b1: {kind: rigid, mass: 0.7, inertia: [0.023, 0.028, 0.023], position: [-0.65, -0.5, 0.67],\n"
    "       frames: {a: [0.25, -0.1, -0.07], b: [-0.25, 0.1, 0.07]}}\n"
    "  b2: {kind: rigid, mass: 0.5, inertia: [0.016, 0.016, 0.0157], position: [-1.1, -0.3, 0.6],\n"
    "       frames: {b: [-0.19, 0.08, -0.13]}}\n"
    "connections:\n"
    "  p0: {kind: revolute, between: [ground, b0.a], axis: [0.26, 0.51, -0.34]}\n"
    "  j1: {kind: revolute, between: [b0.b, b1.a], axis: [0.67, -0.8, -0.57]}\n"
    "  j2: {kind: spring-damper, between: [b1.b, b2.b], stiffness: 800, damping: 1.7, free_length: 0.5}\n"
    "  pe: {kind: spherical, between: [[-1.29, -0.22, 0.47], b2.b]}\n"
    "split: {s0: [b0, b1], s1: [b2]}\n";

/* Three bars in the plane, the last one cut off with a spring in its hinge, as seed 1325. */
static const char PLANE[] =
    "yoke: 1\ngravity: [0, -9.81]\nt_end: 0.2\nbodies:\n"
    "  b0: {kind: planar, mass: 0.8, inertia: 0.12, position: [0.5, 0], frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"
    "  b1: {kind: planar, mass: 0.9, inertia: 0.05, position: [1.4, 0], frames: {a: [-0.4, 0], b: [0.4, 0]}}\n"
    "  b2: {kind: planar, mass: 1.2, inertia: 0.024, position: [2, 0], frames: {a: [-0.2, 0]}}\n"
    "connections:\n"
    "  p0: {kind: revolute, between: [ground, b0.a]}\n"
    "  j1: {kind: revolute, between: [b0.b, b1.a]}\n"
    "  j2: {kind: revolute, between: [b1.b, b2.a]}\n"
    "  ts: {kind: torsion-spring, between: [b1, b2], stiffness: 5.5, damping: 0.1}\n"
    "split: {s0: [b0, b1], s1: [b2]}\n";

/* A quantity and how far it moves. */
typedef struct moved {
  const char *name;
  double      spread;
} moved;

static void expect_error_below_10_rtol(const char *model, double rtol, const char *more, const moved *list, int n) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets, "%scosimulation.step.rtol=%g", more, rtol);
  cosim split = cosim_done(model, sets, 0.0), whole = cosim_done_monolithic(model, "solvers.default.rtol=1e-11", 0.0);
  for (int k = 0; k < n; ++k) {
    const double error = fabs(cosim_value(&split, list[k].name) - cosim_value(&whole, list[k].name)) / list[k].spread;
    if (!(error < 10.0 * rtol)) fail_msg("%s: error %g at rtol %g", list[k].name, error, rtol);
  }
  cosim_close(&split);
  cosim_close(&whole);
}

static void f9_errors_of_a_spring_with_a_table_follow_the_tolerance(void **state) {
  static const moved list[] = {{"m2.x", 0.3}, {"m2.v", 3.0}, {"m1.x", 0.4}};
  (void)state;
  for (double rtol = 1e-3; rtol > 5e-6; rtol *= 0.1) expect_error_below_10_rtol(TABLE, rtol, "", list, 3);
}

static void f9_errors_of_a_spring_in_space_follow_the_tolerance(void **state) {
  static const moved list[] = {{"b0.x", 0.3}, {"b1.wz", 5.0}, {"b1.vx", 2.0}};
  (void)state;
  for (double rtol = 1e-3; rtol > 5e-6; rtol *= 0.1) {
    expect_error_below_10_rtol(SPACE, rtol, "", list, 3);
    expect_error_below_10_rtol(SPACE, rtol, "cosimulation.scheme=implicit;", list, 3);
  }
}

static void f9_errors_of_baumgarte_of_order_0_with_a_displacement_side_follow_the_tolerance(void **state) {
  static const moved list[] = {{"b2.omega", 8.0}, {"b2.y", 0.6}, {"b0.angle", 0.3}};
  static const char  method[] =
      "cosimulation.couplings={formulation: baumgarte, decomposition: force/displacement};cosimulation.order=0;";
  (void)state;
  expect_error_below_10_rtol(PLANE, 1e-2, method, list, 3);
  expect_error_below_10_rtol(PLANE, 3e-3, method, list, 3);
}

/* 29 736 macro steps for 0.1 s. */
static void f23_a_beam_that_is_cut_once_takes_the_steps_of_its_fastest_mode(void **state) {
  static const char beam[] =
      "yoke: 1\nparameters: {n: 20}\ngravity: [0, -9.81]\nt_end: 0.005\nbodies:\n"
      "  seg: {kind: planar, count: n, mass: 0.8/n, inertia: 0.8/n^3/12, position: [\"(i - 0.5)/n\", 0],\n"
      "        frames: {a: [-0.5/n, 0], b: [0.5/n, 0]}}\n"
      "connections:\n"
      "  root: {kind: fixed, between: [ground, \"seg[1].a\"]}\n"
      "  joint: {kind: revolute, count: n-1, between: [\"seg[i].b\", \"seg[i+1].a\"]}\n"
      "  bend: {kind: torsion-spring, count: n-1, between: [\"seg[i]\", \"seg[i+1]\"], stiffness: 20*n, damping: "
      "0.002}\n"
      "split: {one: [\"seg[1..10]\"], two: [\"seg[11..20]\"]}\n";
  (void)state;
  cosim c = cosim_done(beam, NULL, 0.0);
  if (c.summary.macro.steps > 400) fail_msg("%lld macro steps", (long long)c.summary.macro.steps);
  cosim_close(&c);
}

static void a_double_pendulum_with_a_constant_torque_in_its_upper_hinge_runs_at_every_tolerance(void **state) {
  static const char pendulum[] =
      "yoke: 1\ngravity: [0, -9.81]\nt_end: 1\nbodies:\n"
      "  upper: {kind: planar, mass: 1, inertia: 1/12, angle: -pi/2, position: [0, -0.5], frames: {a: [-0.5, 0], b: "
      "[0.5, 0]}}\n"
      "  lower: {kind: planar, mass: 1, inertia: 1/12, angle: -pi/2, position: [0, -1.5], frames: {a: [-0.5, 0]}}\n"
      "connections:\n"
      "  shoulder: {kind: revolute, between: [ground, upper.a]}\n"
      "  knee: {kind: revolute, between: [upper.b, lower.a]}\n"
      "loads: {motor: {kind: constant, on: upper, torque: 3}}\n"
      "split: {one: [upper], two: [lower]}\ncosimulation: {couplings: {formulation: stabilized-index-2}}\n";
  static const moved list[] = {{"lower.omega", 2.0}, {"upper.angle", 0.4}};
  (void)state;
  for (double rtol = 1e-3; rtol > 5e-8; rtol *= 0.1) expect_error_below_10_rtol(pendulum, rtol, "", list, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f9_errors_of_a_spring_with_a_table_follow_the_tolerance),
      cmocka_unit_test(f9_errors_of_a_spring_in_space_follow_the_tolerance),
      cmocka_unit_test(f9_errors_of_baumgarte_of_order_0_with_a_displacement_side_follow_the_tolerance),
      cmocka_unit_test(a_double_pendulum_with_a_constant_torque_in_its_upper_hinge_runs_at_every_tolerance),
      cmocka_unit_test(f23_a_beam_that_is_cut_once_takes_the_steps_of_its_fastest_mode),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
