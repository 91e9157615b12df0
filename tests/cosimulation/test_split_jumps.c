/* Subsystems with laws and loads that jump: switches and sticking inside a part, as in the whole model. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* A block that sticks and slips on a belt, with a mass on a spring in another part. */
#define BELT                                                                                                           \
  "yoke: 1\nt_end: 0.7\n"                                                                                              \
  "bodies: {block: {kind: mass1d, mass: 1}, bob: {kind: mass1d, mass: 0.3, x: 0.05}}\n"                                \
  "connections:\n"                                                                                                     \
  "  spring: {kind: spring-damper, between: [ground, block], stiffness: 100}\n"                                        \
  "  tie: {kind: spring-damper, between: [block, bob], stiffness: 200, damping: 0.5}\n"                                \
  "split: {a: [block], b: [bob]}\n"                                                                                    \
  "cosimulation: {step: 2e-3}\n"                                                                                       \
  "loads: {friction: {kind: expression, on: block, force: -2*sign(block.v - 0.1) + block.v - 0.1}}\n"

static void f21_stick_slip_inside_a_part_is_that_of_the_whole_model(void **state) {
  (void)state;
  static const char *const solvers[] = {"dopri5", "radau5", "bdf"};
  static const char *const schemes[] = {"explicit", "semi-implicit", "implicit", "waveform"};
  for (size_t s = 0; s < COUNT(solvers); ++s) {
    char sets[200];
    snprintf(sets, sizeof sets, "solvers.default.kind=%s", solvers[s]);
    cosim whole = cosim_done_monolithic(BELT, sets, 0.0);
    for (size_t k = 0; k < COUNT(schemes); ++k) {
      snprintf(sets, sizeof sets, "solvers.default.kind=%s;cosimulation.scheme=%s", solvers[s], schemes[k]);
      cosim split = cosim_done(BELT, sets, 0.0);
      CHECK_NEAR(cosim_value(&split, "block.x"), cosim_value(&whole, "block.x"), 1e-4);
      CHECK_NEAR(cosim_value(&split, "block.v"), cosim_value(&whole, "block.v"), 2e-3);
      cosim_close(&split);
    }
    cosim_close(&whole);
  }
}

/* A double pendulum with friction in its upper hinge, cut at the knee. */
static void f21_friction_beside_a_joint_that_is_cut(void **state) {
  (void)state;
  static const char model[] =
      "yoke: 1\ngravity: [0, -9.81, 0]\nt_end: 1.4\n"
      "bodies:\n"
      "  upper: {kind: planar, mass: 1, inertia: 1/12, position: [0.5, 0], frames: {top: [-0.5, 0], tip: [0.5, 0]}}\n"
      "  lower: {kind: planar, mass: 0.5, inertia: 1/24, position: [1.5, 0], frames: {top: [-0.5, 0]}}\n"
      "connections:\n"
      "  hinge: {kind: revolute, between: [ground, upper.top]}\n"
      "  knee: {kind: revolute, between: [upper.tip, lower.top]}\n"
      "loads: {friction: {kind: expression, on: upper, torque: -3*sign(hinge.angle_rate)}}\n"
      "split: {a: [upper], b: [lower]}\n"
      "cosimulation: {step: 2e-3}\n"
      "solvers: {default: {kind: dopri5}}\n";
  static const char *const sets[] = {"cosimulation.couplings.formulation=baumgarte",
                                     "cosimulation.couplings.formulation=projection",
                                     "cosimulation.couplings.formulation=stabilized-index-1"};
  cosim                    whole  = cosim_done_monolithic(model, NULL, 0.0);
  for (size_t k = 0; k < COUNT(sets); ++k) {
    cosim split = cosim_done(model, sets[k], 0.0);
    CHECK_NEAR(cosim_value(&split, "upper.angle"), cosim_value(&whole, "upper.angle"), 2e-3);
    cosim_close(&split);
  }
  cosim_close(&whole);
}

/* Rates of signals are not known. */
static void f21_sticking_to_another_part_is_refused_by_name(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\nt_end: 3\n"
                              "bodies: {block: {kind: mass1d, mass: 1}, belt: {kind: mass1d, mass: 1, v: 0.1}}\n"
                              "connections:\n"
                              "  s1: {kind: spring-damper, between: [ground, block], stiffness: 100}\n"
                              "  s2: {kind: spring-damper, between: [ground, belt], stiffness: 10}\n"
                              "loads: {friction: {kind: expression, on: block, force: -2*sign(block.v - belt.v)}}\n"
                              "split: {a: [block], b: [belt]}\n"
                              "cosimulation: {step: 1e-3}\n"
                              "solvers: {default: {kind: dopri5}}\n";
  cosim             c;
  bool              found = false;
  assert_int_equal(cosim_open(&c, model, NULL), YOKE_OK);
  (void)cosim_run(&c, 0.0, NULL, NULL);
  assert_int_equal(c.status, YOKE_E_STEP_TOO_SMALL);
  for (size_t i = 0; i < yoke_context_n_messages(c.ctx); ++i) {
    const char *message = yoke_context_message(c.ctx, i);
    found = found || (strstr(message, "load 'friction' jumps at t = ") != NULL && strstr(message, "in one subsystem"));
  }
  assert_true(found);
  cosim_close(&c);
}

/* Variables of jumps stand behind those of the model: who asks for all of them needs room for both (sanitizers see it). */
static void f21_signals_and_laws_that_read_beside_frictions(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\nt_end: 0.5\n"
                              "bodies: {a: {kind: mass1d, mass: 1, x: 0.2}, b: {kind: mass1d, mass: 1, v: 1}}\n"
                              "connections:\n"
                              "  wall: {kind: spring-damper, between: [ground, a], law: 100*x + 2*sign(v)}\n"
                              "  tie: {kind: spring-damper, between: [a, b], law: '50*x*(1 + a.x^2) + v'}\n"
                              "loads:\n"
                              "  brake: {kind: expression, on: b, force: '-2*sign(b.v) - min(b.x, 0.3)'}\n"
                              "  pull: {kind: expression, on: a, force: 3*b.x}\n"
                              "split: {p: [a], q: [b]}\n";
  cosim             whole = cosim_done_monolithic(model, NULL, 0.0), split = cosim_done(model, NULL, 0.0);
  CHECK_NEAR(cosim_value(&split, "a.x"), cosim_value(&whole, "a.x"), 1e-4);
  CHECK_NEAR(cosim_value(&split, "b.x"), cosim_value(&whole, "b.x"), 1e-4);
  cosim_close(&split);
  cosim_close(&whole);
}

static void f21_law_between_two_parts_that_would_stick_is_warned_of(void **state) {
  (void)state;
  static const struct {
    const char *law;
    bool        would_stick;
  } laws[] = {{"100*x + 2*sign(v)", true},  {"100*x + if(v - z.v > 0, 3, 1)", true}, {"100*x + 2*sign(x)", false},
              {"100*x + max(v, 0)", false}, {"100*x + 2*sign(t - 0.1)", false},      {"100*x + 2*tanh(v)", false}};
  for (size_t i = 0; i < COUNT(laws); ++i) {
    char  model[600];
    cosim c;
    bool  found = false;
    snprintf(model, sizeof model,
             "yoke: 1\nt_end: 1e-3\n"
             "bodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, mass: 1, v: 1}, z: {kind: mass1d, mass: 1}}\n"
             "connections: {tie: {kind: spring-damper, between: [a, b], law: '%s'}}\n"
             "split: {p: [a], q: [b], r: [z]}\n",
             laws[i].law);
    assert_int_equal(cosim_open(&c, model, NULL), YOKE_OK);
    for (size_t k = 0; k < yoke_context_n_messages(c.ctx); ++k)
      found = found || strstr(yoke_context_message(c.ctx, k), "'tie': its law jumps with the velocity") != NULL;
    assert_int_equal(found, laws[i].would_stick);
    cosim_close(&c);
  }
}

/* It crept for 100 000 macro steps. */
static void f21_motion_that_twists_to_rest_does_not_creep_under_step_control(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\nt_end: 2.5\n"
                              "bodies: {a: {kind: mass1d, mass: 1, x: 0.5}, b: {kind: mass1d, mass: 1, x: 0.1}}\n"
                              "connections:\n"
                              "  tie: {kind: spring-damper, between: [a, b], stiffness: 20}\n"
                              "  wall: {kind: spring-damper, between: [b, ground], stiffness: 20}\n"
                              "loads: {control: {kind: expression, on: a, force: -5*sign(a.x) - 2*sign(a.v)}}\n"
                              "split: {p: [a], q: [b]}\n";
  cosim             whole = cosim_done_monolithic(model, NULL, 0.0), split = cosim_done(model, NULL, 0.0);
  assert_in_range(split.summary.macro.steps, 10, 300);
  CHECK_NEAR(cosim_value(&split, "a.x"), cosim_value(&whole, "a.x"), 1e-5);
  CHECK_NEAR(cosim_value(&split, "b.x"), cosim_value(&whole, "b.x"), 1e-4);
  cosim_close(&whole);
  cosim_close(&split);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f21_stick_slip_inside_a_part_is_that_of_the_whole_model),
      cmocka_unit_test(f21_friction_beside_a_joint_that_is_cut),
      cmocka_unit_test(f21_sticking_to_another_part_is_refused_by_name),
      cmocka_unit_test(f21_signals_and_laws_that_read_beside_frictions),
      cmocka_unit_test(f21_law_between_two_parts_that_would_stick_is_warned_of),
      cmocka_unit_test(f21_motion_that_twists_to_rest_does_not_creep_under_step_control),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
