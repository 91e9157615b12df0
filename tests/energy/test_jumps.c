/* Jumps of states and prescribed motions at an element that a coupling holds: what it stores behind them and did not before is work from outside. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"

/* Two masses between walls, one of which is moved and kicked at once. */
static const char masses[] = "yoke: 1\n"
                             "t_end: 1\n"
                             "bodies: {m1: {kind: mass1d, mass: 1, x: 0.1}, m2: {kind: mass1d, mass: 2}}\n"
                             "connections:\n"
                             "  wall1: {kind: spring-damper, between: [ground, m1], stiffness: 100, damping: 0.5}\n"
                             "  middle: {kind: spring-damper, between: [m1, m2], stiffness: 200, damping: 1}\n"
                             "  wall2: {kind: spring-damper, between: [m2, ground], stiffness: 300, damping: 0.3}\n"
                             "events: {push: {when: t - 0.3003, set: {m1.x: m1.x + 0.3, m1.v: m1.v + 2}}}\n"
                             "split: {a: [m1], b: [m2]}\n"
                             "cosimulation: {step: 1e-3, energy: monitor}\n"
                             "solvers: {default: {kind: dop853, rtol: 1e-10}}\n";

/* A mass on a rail hangs on a support that is moved. */
#define SUPPORT(MOTION)                                                                                                \
  "yoke: 1\n"                                                                                                          \
  "t_end: 1\n"                                                                                                         \
  "bodies:\n"                                                                                                          \
  "  cart: {kind: planar, mass: 2, inertia: 1}\n"                                                                      \
  "  m: {kind: planar, mass: 1, inertia: 0.1, position: [1, 0]}\n"                                                     \
  "connections:\n"                                                                                                     \
  "  drive: {kind: translational, between: [ground, cart], axis: [1, 0, 0], motion: '" MOTION "'}\n"                   \
  "  rail: {kind: translational, between: [ground, m], axis: [1, 0, 0]}\n"                                             \
  "  spring: {kind: spring-damper, between: [cart, m], stiffness: 100, damping: 1, free_length: 1}\n"                  \
  "split: {a: [cart], b: [m]}\n"                                                                                       \
  "cosimulation: {step: 1e-3, energy: monitor}\n"                                                                      \
  "solvers: {default: {kind: dop853, rtol: 1e-10}}\n"

static const char *const methods[] = {"cosimulation.couplings.decomposition=force/force",
                                      "cosimulation.couplings.decomposition=displacement/force",
                                      "cosimulation.couplings.decomposition=force/displacement",
                                      "cosimulation={scheme: explicit, order: 2, step: 1e-3, energy: monitor}",
                                      "cosimulation={scheme: implicit, order: 2, step: 2e-3, energy: monitor}",
                                      "cosimulation={step: {rtol: 1e-6}, energy: monitor}"};
enum { N_METHODS = sizeof methods / sizeof methods[0] };

/* Work from outside as in the whole model; the balance has no more than the account names a leak. */
static void expect_work(const char *model, double start, double limit) {
  cosim        whole = cosim_done_monolithic(model, NULL, 0.0);
  const double work  = cosim_value(&whole, "total.external");
  cosim_close(&whole);
  assert_true(work > 100.0 * limit);
  for (int k = 0; k < N_METHODS; ++k) {
    cosim c = cosim_done(model, methods[k], 0.0);
    CHECK_NEAR(cosim_value(&c, "total.external"), work, limit);
    CHECK_NEAR(cosim_value(&c, "total.balance"), start, limit);
    cosim_close(&c);
  }
}

static void event_that_stretches_a_coupling_is_work(void **state) {
  (void)state;
  expect_work(masses, 0.5 * 300.0 * 0.01, 1e-2); /* both springs of m1 */
}

/* All is at rest before, so that the work is k dx^2 / 2. */
static void support_that_jumps_stretches_a_coupling_by_work(void **state) {
  (void)state;
  for (int k = 0; k < N_METHODS; ++k) {
    cosim c = cosim_done(SUPPORT("0.1*step(t - 0.3)"), methods[k], 0.0);
    CHECK_NEAR(cosim_value(&c, "total.external"), 0.5, 1e-12);
    CHECK_NEAR(cosim_value(&c, "total.balance"), 0.0, 1e-4);
    cosim_close(&c);
  }
}

static void motions_that_jump_and_kick_again_and_again_are_work(void **state) {
  (void)state;
  expect_work(SUPPORT("0.1*step(t - 0.3) - 0.05*step(t - 0.6) + max(0, t - 0.8) + 0.02*step(sin(20*t - 1))"), 0.0,
              2e-3);
}

/* In terms of what is a leak, to rounding: where both sides feel one force the balance moves by the leak alone. */
static void balance_moves_by_the_leak_across_jumps(void **state) {
  static const char *const models[] = {masses, SUPPORT("0.1*step(t - 0.3) - 0.05*step(t - 0.6) + max(0, t - 0.8)")};
  (void)state;
  for (int k = 0; k < 2; ++k) {
    cosim        c     = cosim_done(models[k], "output.every=0.1", 0.0);
    const double start = c.summary.energy_start, leak = cosim_value(&c, "total.leak");
    assert_true(fabs(leak) > 1e-7);
    CHECK_NEAR(cosim_value(&c, "total.balance") - start, leak, 1e-12);
    cosim_close(&c);
  }
}

/* Bars between joints and a bushing, of which events move and turn all. */
static const char mechanism[] =
    "yoke: 1\n"
    "t_end: 0.5\n"
    "gravity: [0, -9.81]\n"
    "bodies:\n"
    "  up: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"
    "  low: {kind: planar, mass: 1, inertia: 0.1, position: [1.5, 0], frames: {a: [-0.5, 0]}}\n"
    "  bob: {kind: planar, mass: 0.5, inertia: 0.05, position: [2.2, 0]}\n"
    "connections:\n"
    "  h: {kind: revolute, between: [ground, up.a]}\n"
    "  knee: {kind: revolute, between: [up.b, low.a]}\n"
    "  s: {kind: bushing, between: [low, bob], stiffness: [500, 500, 20], damping: [2, 2, 0.1]}\n"
    "events:\n"
    "  hit: {when: t - 0.1234, set: {low.omega: low.omega + 1}}\n"
    "  turn: {when: t - 0.2345, set: {bob.angle: bob.angle + 0.2, bob.x: bob.x + 0.05}}\n"
    "  bend: {when: t - 0.3456, set: {up.angle: up.angle + 0.02}}\n"
    "split: {a: [up], b: [low], c: [bob]}\n"
    "cosimulation: {step: 1e-3, energy: monitor}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-9}}\n";

/* A linear body, driven, and two masses of which one runs into a wall; several events at once. */
static const char beam[] =
    "yoke: 1\n"
    "t_end: 0.2\n"
    "bodies:\n"
    "  beam: {kind: linear, mass: [2, 1, 1], stiffness: [[4000, -1000, 0], [-1000, 3000, -1000], [0, -1000, 2000]],\n"
    "         damping: [1, 1, 1], frames: {tip: {x: 3}}}\n"
    "  m1: {kind: mass1d, mass: 1, x: 0.1}\n"
    "  m2: {kind: mass1d, mass: 0.5}\n"
    "connections:\n"
    "  s1: {kind: spring-damper, between: [beam.tip, m1], stiffness: 800, damping: 2}\n"
    "  s2: {kind: spring-damper, between: [m1, m2], stiffness: 500, damping: 1}\n"
    "loads:\n"
    "  push: {kind: harmonic, on: beam.tip, force: 20, omega: 30}\n"
    "  wall: {kind: contact, on: m2, force: -0.1, slope: 300}\n"
    "events:\n"
    "  move: {when: t - 0.0333, set: {m1.x: m1.x + 0.05}}\n"
    "  kick: {when: t - 0.0333, set: {m2.v: m2.v - 1, m2.x: m2.x - 0.02}}\n"
    "  stop: {when: t - 0.1111, set: {m1.v: 0}}\n"
    "split: {a: [beam], b: [m1], c: [m2]}\n"
    "cosimulation: {step: 1e-3, energy: monitor}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-9}}\n";

/* An impulse on a chain whose masses are moved at the cut. */
static const char chain[] =
    "yoke: 1\n"
    "t_end: 0.02\n"
    "bodies:\n"
    "  c: {kind: chain, n: 40, mass: 0.05, stiffness: 2.5e6, damping: 25, x: {random: [-1e-4, 1e-4], seed: 1},\n"
    "      loads: [{on: 20, kind: impulse, force: 1e3, time: 2e-3, width: 5e-3, rise: 1e-5}]}\n"
    "events:\n"
    "  hit: {when: t - 0.0111, set: {'c.x[20]': 'c.x[20] + 1e-3'}}\n"
    "  kick: {when: t - 0.013, set: {'c.v[24]': 'c.v[24] + 1', 'c.x[22]': 'c.x[22] + 1e-4'}}\n"
    "split: {a: ['c[1..21]'], b: ['c[22..40]']}\n"
    "cosimulation: {step: 1e-5, energy: monitor}\n"
    "solvers: {default: {rtol: 1e-8}}\n";

static void jumps_of_mechanisms_linear_bodies_and_chains_are_work(void **state) {
  static const struct {
    const char *model, *sets;
    double      share; /* of the work: how well it is that of the whole model */
  } list[] = {
      {mechanism, NULL, 1e-3},
      {mechanism, "cosimulation.step={rtol: 1e-5}", 1e-4},
      {beam, NULL, 1e-3},
      {beam, "cosimulation={scheme: explicit, step: 1e-3, substeps: {b: 4, c: 10}, order: 1, energy: monitor}", 3e-3},
      {chain, NULL, 1e-3},
      {chain, "cosimulation={couplings: {formulation: overlap, halo: 4}, step: {rtol: 1e-4}, energy: monitor}", 1e-3},
  };
  (void)state;
  for (size_t k = 0; k < sizeof list / sizeof list[0]; ++k) {
    cosim whole = cosim_done_monolithic(list[k].model, NULL, 0.0), c = cosim_done(list[k].model, list[k].sets, 0.0);
    const double work = cosim_value(&whole, "total.external"), size = fabs(work) + fabs(c.summary.energy_start);
    assert_true(fabs(work) > 1.0);
    CHECK_NEAR(cosim_value(&c, "total.external"), work, list[k].share * work);
    CHECK_NEAR(cosim_value(&c, "total.balance") - c.summary.energy_start, cosim_value(&c, "total.leak"), 1e-12 * size);
    cosim_close(&whole);
    cosim_close(&c);
  }
}

static void work_of_jumps_is_packed(void **state) {
  yoke_pack bytes = {0};
  cosim     from, to;
  (void)state;
  assert_int_equal(cosim_open(&from, masses, NULL), YOKE_OK);
  assert_int_equal(cosim_run(&from, 0.5, NULL, NULL), YOKE_OK);
  assert_int_equal(yoke_system_save(from.system, &bytes, from.ctx), YOKE_OK);
  assert_int_equal(cosim_open(&to, masses, NULL), YOKE_OK);
  assert_int_equal(yoke_system_restore(to.system, bytes.bytes, bytes.size, to.ctx), YOKE_OK);
  const double work = cosim_value(&from, "total.external"), same = cosim_value(&to, "total.external");
  assert_true(work > 10.0);
  assert_memory_equal(&work, &same, sizeof work);
  yoke_pack_free(&bytes);
  cosim_close(&from);
  cosim_close(&to);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(event_that_stretches_a_coupling_is_work),
      cmocka_unit_test(support_that_jumps_stretches_a_coupling_by_work),
      cmocka_unit_test(motions_that_jump_and_kick_again_and_again_are_work),
      cmocka_unit_test(balance_moves_by_the_leak_across_jumps),
      cmocka_unit_test(jumps_of_mechanisms_linear_bodies_and_chains_are_work),
      cmocka_unit_test(work_of_jumps_is_packed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
