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
  "  crank: {kind: planar, mass: 2, inertia: 0.01, frames: {pin: [r, 0]}}\n"                                           \
  "  rod: {kind: planar, mass: 0.5, inertia: 0.5*l^2/12, position: [r + l/2, 0],\n"                                    \
  "        frames: {a: [-l/2, 0], b: [l/2, 0]}}\n"                                                                     \
  "  piston: {kind: planar, mass: 0.4, inertia: 1e-3, position: [r + l, 0],\n"                                         \
  "           frames: {guide: {at: [0, 0], axis: [1, 0, 0]}}}\n"                                                       \
  "connections:\n"                                                                                                     \
  "  main: {kind: revolute, between: [ground, crank], initial_rate: 97.238165980147201}\n"                             \
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

/* Speed, item 7: gaps of the main bearing, of 1e-19 m, were divided by the crank's distance from the origin. */
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

/* A shaker of 20 kg under a soft spring: the shaker's motion is given, nothing else limits the steps. */
#define SHAKER                                                                                                         \
  "yoke: 1\n"                                                                                                          \
  "t_end: 1\n"                                                                                                         \
  "frames: {ground: {guide: {at: [0, 0, 0], axis: [0, 1, 0]}}}\n"                                                      \
  "bodies:\n"                                                                                                          \
  "  table: {kind: planar, mass: 20, inertia: 1, frames: {guide: {at: [0, 0], axis: [0, 1, 0]}}}\n"                    \
  "  load: {kind: particle, mass: 100, position: [0, 1, 0]}\n"                                                         \
  "connections:\n"                                                                                                     \
  "  drive: {kind: translational, between: [ground.guide, table.guide], motion: 0.01*sin(53*t) + 0.005*sin(201*t)}\n"  \
  "  spring: {kind: spring-damper, between: [table, load], stiffness: 100, damping: 2, free_length: 1}\n"              \
  "output: {every: 0.01}\n"

static void f12_the_work_of_a_prescribed_motion_is_as_accurate_as_the_states(void **state) {
  (void)state;
  static const struct {
    const char *solver;
    double      rtol, drift; /* allowed [J]; 1500 J go back and forth between drive and table */
  } run_as[]         = {{"radau5", 1e-3, 10},   {"radau5", 1e-6, 0.01}, {"radau5", 1e-8, 5e-4},
                        {"bdf", 1e-6, 0.02},    {"genalpha", 1e-4, 3},  {"dopri5", 1e-6, 3e-3},
                        {"dop853", 1e-6, 3e-3}, {"abm", 1e-8, 3e-3},    {"auto", 1e-6, 3e-3}};
  model_run    exact = run_text(SHAKER, NULL, "dop853", 1e-11, 0.0);
  const double work  = run_value(&exact, "total.external");
  run_end(&exact);
  for (size_t k = 0; k < sizeof run_as / sizeof run_as[0]; ++k) {
    model_run run = run_text(SHAKER, NULL, run_as[k].solver, run_as[k].rtol, 0.0);
    CHECK_BELOW(run.summary.energy_drift, run_as[k].drift);
    CHECK_NEAR(run_value(&run, "total.external"), work, run_as[k].drift);
    run_end(&run);
  }
}

/* Two rods of length L; the motion over sqrt(L) is the same for all L. */
#define RODS                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, -9.81, 0]\n"                                                                                           \
  "parameters: {L: 1, m: L^3}\n"                                                                                       \
  "t_end: 10*sqrt(L)\n"                                                                                                \
  "bodies:\n"                                                                                                          \
  "  one: {kind: planar, mass: m, inertia: m*L^2/12, position: [L/2, 0], frames: {a: [-L/2, 0], b: [L/2, 0]}}\n"       \
  "  two: {kind: planar, mass: m, inertia: m*L^2/12, position: [L, L/2], angle: pi/2, frames: {a: [-L/2, 0]}}\n"       \
  "connections:\n"                                                                                                     \
  "  h: {kind: revolute, between: [ground, one.a]}\n"                                                                  \
  "  k: {kind: revolute, between: [one.b, two.a]}\n"

static void f16_micrometres_are_as_accurate_as_metres(void **state) {
  (void)state;
  static const char *const solvers[] = {"auto", "dopri5", "radau5", "bdf"};
  static const char *const small[]   = {"parameters.L=1e-5", NULL};
  model_run                exact     = run_text(RODS, NULL, "dop853", 1e-12, 0.0);
  const double             angle     = run_value(&exact, "two.angle");
  for (size_t s = 0; s < sizeof solvers / sizeof *solvers; ++s) {
    model_run metres      = run_text(RODS, NULL, solvers[s], 0.0, 0.0),
              micrometres = run_text(RODS, small, solvers[s], 0.0, 0.0);
    CHECK_NEAR(run_value(&micrometres, "two.angle"), angle, 2.0 * fabs(run_value(&metres, "two.angle") - angle));
    run_end(&metres);
    run_end(&micrometres);
  }
  run_end(&exact);
}

/* A steel beam of length s and a load at its end; the motion over s is the same for all s, at times that go with s. */
#define BEAM                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "parameters: {s: 1}\n"                                                                                               \
  "t_end: 0.02*s\n"                                                                                                    \
  "bodies:\n"                                                                                                          \
  "  beam: {kind: cosserat-rod, elements: 6, from: [0, 0, 0], to: [s, 0, 0], normal: [0, 1, 0], section: {rectangle: " \
  "[2e-2*s, 1e-2*s]}, young: 2e11, density: 7800, damping: 1e-5*s}\n"                                                  \
  "connections: {wall: {kind: fixed, between: [ground, beam.a]}}\n"                                                    \
  "loads: {push: {kind: expression, on: beam.b, force: [0, '50*s^2*sin(200*t/s)', "                                    \
  "'20*s^2*(1 - exp(-t/(0.01*s)))']}}\n"

/* Rates of its light nodes had the tolerance of its positions, which doubles do not hold there: solvers did not get on below a centimetre. */
static void a_beam_of_micrometres_takes_the_steps_of_one_of_metres(void **state) {
  (void)state;
  static const char *const solvers[] = {"auto", "radau5"};
  static const char *const set[]     = {"parameters.s=1e-5", NULL};
  model_run                exact     = run_text(BEAM, NULL, "radau5", 1e-10, 0.0);
  const double             y         = run_value(&exact, "beam.b.y");
  run_end(&exact);
  for (size_t s = 0; s < sizeof solvers / sizeof *solvers; ++s) {
    model_run metres = run_text(BEAM, NULL, solvers[s], 0.0, 0.0), small = run_text(BEAM, set, solvers[s], 0.0, 0.0);
    CHECK_NEAR(run_value(&small, "beam.b.y") / 1e-5, y,
               fmax(3.0 * fabs(run_value(&metres, "beam.b.y") - y), 1e-7 * fabs(y)));
    CHECK_BELOW((double)small.summary.counters.steps, 1.2 * (double)metres.summary.counters.steps);
    CHECK_BELOW((double)metres.summary.counters.steps, 1.5 * (double)small.summary.counters.steps);
    run_end(&metres);
    run_end(&small);
  }
}

/* Steps become a thousand times shorter before an impact of 1e-8 s, and the differences behind them are those of long ones. */
static void f51_abm_keeps_the_tolerance_where_an_impact_follows_long_steps(void **state) {
  (void)state;
  const char *const path  = "examples/chain-m3.yaml";
  model_run         exact = run_file(path, NULL, "dop853", 1e-11, 0.02);
  const double      v     = run_value(&exact, "c.v[1]");
  run_end(&exact);
  for (int digits = 5; digits <= 9; ++digits) {
    model_run run = run_file(path, NULL, "abm", pow(10.0, -digits), 0.02);
    CHECK_NEAR(run_value(&run, "c.v[1]"), v, 100.0 * pow(10.0, -digits) * fabs(v)); /* there were 6 % at 1e-6 */
    run_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f50a_radau5_keeps_loose_tolerances_across_jumps_of_a_force),
      cmocka_unit_test(speed_item_7_a_crank_that_turns_about_the_origin_can_be_projected),
      cmocka_unit_test(f12_the_work_of_a_prescribed_motion_is_as_accurate_as_the_states),
      cmocka_unit_test(f51_abm_keeps_the_tolerance_where_an_impact_follows_long_steps),
      cmocka_unit_test(f16_micrometres_are_as_accurate_as_metres),
      cmocka_unit_test(a_beam_of_micrometres_takes_the_steps_of_one_of_metres),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
