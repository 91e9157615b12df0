/* Whole simulations keep the tolerance they were given: switching forces, prescribed motions, bodies at the origin. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "check.h"
#include "examples/run_model.h"

/* Crank, rod and piston with a gas force that jumps at the dead centres; a flywheel on a flexible shaft. */
#define ENGINE                                                                                                         \
  "yoke: 1\n"                                                                                                          \
  "parameters: {r: 0.05, l: 0.3, gas: 4e4, w0: 100, k: 1e3, d: 200}\n"                                                 \
  "gravity: [0, -9.81, 0]\n"                                                                                           \
  "t_end: 0.5\n"                                                                                                       \
  "frames: {ground: {rail: {at: [0, 0, 0], axis: [1, 0, 0]}}}\n"                                                       \
  "bodies:\n"                                                                                                          \
  "  wheel: {kind: planar, mass: 10, inertia: 1, omega: w0}\n"                                                         \
  "  crank: {kind: planar, mass: 2, inertia: 0.01, omega: w0, frames: {pin: [r, 0]}}\n"                                \
  "  rod: {kind: planar, mass: 0.5, inertia: 0.5*l^2/12, position: [r + l/2, 0],\n"                                    \
  "        frames: {a: [-l/2, 0], b: [l/2, 0]}}\n"                                                                     \
  "  piston: {kind: planar, mass: 0.4, inertia: 1e-3, position: [r + l, 0],\n"                                         \
  "           frames: {guide: {at: [0, 0], axis: [1, 0, 0]}}}\n"                                                       \
  "connections:\n"                                                                                                     \
  "  main: {kind: revolute, between: [ground, crank]}\n"                                                               \
  "  tail: {kind: revolute, between: [ground, wheel]}\n"                                                               \
  "  big_end: {kind: revolute, between: [crank.pin, rod.a]}\n"                                                         \
  "  small_end: {kind: revolute, between: [rod.b, piston]}\n"                                                          \
  "  bore: {kind: translational, between: [ground.rail, piston.guide]}\n"                                              \
  "  shaft: {kind: torsion-spring, between: [crank, wheel], stiffness: k, damping: d}\n"                               \
  "loads:\n"                                                                                                           \
  "  gas: {kind: expression, on: piston,\n"                                                                            \
  "        force: [\"-gas*step(sin(crank.angle))*exp(-5*(1 - cos(crank.angle)))\", 0]}\n"                              \
  "  brake: {kind: drag, on: wheel, rotational: 0.2}\n"

static void f50a_radau5_keeps_loose_tolerances_across_jumps_of_a_force(void **state) {
  (void)state;
  static const double rtol[] = {1e-2, 1e-3, 1e-4};
  model_run           exact  = run_text(ENGINE, NULL, "dop853", 1e-9, 0.0);
  const double        speed = run_value(&exact, "wheel.omega"), energy = run_value(&exact, "total.energy");
  run_end(&exact);
  for (int k = 0; k < 3; ++k) {
    model_run run = run_text(ENGINE, NULL, "radau5", rtol[k], 0.0);
    CHECK_NEAR(run_value(&run, "wheel.omega"), speed, 10 * rtol[k] * speed);
    CHECK_NEAR(run_value(&run, "total.energy"), energy, 10 * rtol[k] * energy);
    CHECK_BELOW(run.summary.energy_drift, 10 * rtol[k] * energy);
    run_end(&run);
  }
}

/* speed.md, ranked item 7: gaps of the main bearing, of 1e-19 m, were divided by the crank's distance from the origin. */
static void speed_item_7_a_crank_that_turns_about_the_origin_can_be_projected(void **state) {
  (void)state;
  static const char *const solvers[] = {"dopri5", "dop853", "abm", "auto"};
  model_run                exact     = run_text(ENGINE, NULL, "radau5", 1e-9, 0.0);
  const double             speed     = run_value(&exact, "wheel.omega");
  run_end(&exact);
  for (int k = 0; k < 4; ++k) {
    model_run run = run_text(ENGINE, NULL, solvers[k], 1e-7, 0.0);
    CHECK_NEAR(run_value(&run, "wheel.omega"), speed, 1e-6 * speed);
    assert_in_range(run.summary.counters.evaluations, 1, 40000);
    run_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f50a_radau5_keeps_loose_tolerances_across_jumps_of_a_force),
      cmocka_unit_test(speed_item_7_a_crank_that_turns_about_the_origin_can_be_projected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
