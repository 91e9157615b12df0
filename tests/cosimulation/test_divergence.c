/* Runs that diverge end with a status and a message that can be acted on; runs with impacts do not end so. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

static void expect_unstable(const char *path, const char *sets, double t_end, const char *coupling) {
  cosim c;
  cosim_open(&c, path, sets);
  const yoke_status status = cosim_run(&c, t_end, NULL, NULL);
  bool              names = false, advises = false;
  for (size_t i = 0; i < yoke_context_n_messages(c.ctx); ++i) {
    names   = names || strstr(yoke_context_message(c.ctx, i), coupling) != NULL;
    advises = advises || strstr(yoke_context_message(c.ctx, i), "use ") != NULL;
  }
  if (status != YOKE_E_UNSTABLE || !names || !advises) cosim_print(c.ctx);
  assert_int_equal(status, YOKE_E_UNSTABLE);
  assert_true(names && advises);
  assert_true(c.summary.t < t_end);
  cosim_close(&c);
}

static void explicit_scheme_with_a_stiff_coupling_diverges_and_names_it(void **state) {
  (void)state;
  for (int order = 0; order <= 3; ++order) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets,
             "cosimulation.scheme=explicit;cosimulation.order=%d;cosimulation.step=5e-3;parameters.cc=1e6", order);
    expect_unstable("examples/two-mass.yaml", sets, 2.0, "'coupling'");
  }
}

static void slow_divergence_is_found_too(void **state) {
  (void)state; /* spectral radius 1.169 per step (Lu 6.2: c = 1e5, d = 100, explicit, k = 0) */
  expect_unstable("examples/two-mass.yaml",
                  "cosimulation.scheme=explicit;cosimulation.order=0;cosimulation.step=5e-3;parameters.c1=1e5;"
                  "parameters.cc=1e5;parameters.c2=1e5;parameters.d1=100;parameters.dc=100;parameters.d2=100",
                  2.0, "'coupling'");
}

static void an_oscillation_that_grows_without_jumps_is_found_too(void **state) {
  (void)state;
  expect_unstable("examples/two-mass-rigid.yaml",
                  "cosimulation.couplings={formulation: baumgarte, index: 2, beta: 2e-2};cosimulation.order=0;"
                  "cosimulation.step=5e-3;parameters.c1=1e6;parameters.c2=1e6",
                  5.0, "'joint'");
}

static void explicit_chain_with_a_large_step_diverges_and_names_the_cut(void **state) {
  (void)state; /* Kraft R2, R3: k = 2 is stable at 1e-5, blows up at 2e-5 near t = 0.018 */
  expect_unstable("examples/chain-conv.yaml", "cosimulation.step=4e-5", 0.04, "c.cut[");
}

/* Kraft R2, R3, R4: chain CONV, the longest explicit steps that stay bounded and steps that do not; a predictor by least squares
 * through 8 values bears five times as long steps with k = 2. */
static void explicit_chain_bears_the_steps_of_kraft_r2_to_r4(void **state) {
  static const struct {
    int         order;
    const char *predictor;
    double      stable, unstable; /* [s] */
  } rows[] = {{0, "extrapolation", 5e-5, 1e-4},
              {2, "extrapolation", 1e-5, 2e-5},
              {3, "extrapolation", 5e-6, 2e-5},
              {2, "least-squares", 5e-5, 7e-5}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    char sets[COSIM_TEXT];
    for (int k = 0; k < 2; ++k) {
      snprintf(sets, sizeof sets, "cosimulation.order=%d;cosimulation.predictor=%s;cosimulation.step=%g", rows[i].order,
               rows[i].predictor, k == 0 ? rows[i].stable : rows[i].unstable);
      if (k == 1) {
        expect_unstable("examples/chain-conv.yaml", sets, 0.03, "c.cut[");
        continue;
      }
      cosim c = cosim_done("examples/chain-conv.yaml", sets, 0.03);
      CHECK_BELOW(fabs(cosim_value(&c, "c.x[50]")), 20.0);
      cosim_close(&c);
    }
  }
}

static void waveform_iteration_that_does_not_contract_ends_the_run_and_names_the_coupling(void **state) {
  (void)state;
  cosim c;
  cosim_open(
      &c, "examples/two-mass.yaml",
      "cosimulation.scheme=waveform;cosimulation.step=5e-2;parameters.cc=1e6;cosimulation.corrector.max_iterations=5");
  const yoke_status status = cosim_run(&c, 1.0, NULL, NULL);
  assert_true(status == YOKE_E_NOT_CONVERGED || status == YOKE_E_UNSTABLE);
  assert_true(yoke_context_n_messages(c.ctx) > 0);
  assert_non_null(strstr(yoke_context_message(c.ctx, yoke_context_n_messages(c.ctx) - 1), "coupling 'coupling' ("));
  cosim_close(&c);
}

static void an_impact_is_no_divergence(void **state) {
  (void)state; /* the heavy mass hits the wall near t = 0.016 s within 1e-7 s */
  cosim        c      = cosim_done("examples/chain-m3.yaml", "solvers.default.rtol=1e-10", 0.03);
  const double before = 1e2;
  assert_true(cosim_value(&c, "c.v[1]") < before);
  cosim_close(&c);
}

static void an_impact_under_the_explicit_scheme_is_no_divergence(void **state) {
  (void)state;
  cosim c = cosim_done("examples/chain-m3.yaml",
                       "cosimulation.scheme=explicit;cosimulation.order=2;solvers.default.rtol=1e-10", 0.03);
  cosim_close(&c);
}

static void a_contact_that_rises_by_itself_is_no_divergence(void **state) {
  (void)state; /* the force of the floor grows from nothing to its largest value within ten macro steps */
  static const char *const orders[] = {"0", "1", "2", "3"};
  for (int k = 0; k < 4; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "cosimulation.order=%s;cosimulation.step=1e-4", orders[k]);
    cosim c = cosim_done("examples/bouncing-contact.yaml", sets, 0.3);
    assert_true(cosim_value(&c, "box.v") > 0.0);
    cosim_close(&c);
  }
}

static void a_wave_that_arrives_at_a_cut_at_rest_is_no_divergence(void **state) {
  (void)state;
  static const char *const cuts[] = {"2", "3", "10"};
  for (int k = 0; k < 3; ++k) {
    for (int order = 0; order <= 3; ++order) {
      char sets[COSIM_TEXT];
      snprintf(sets, sizeof sets, "split.c=%s;cosimulation.order=%d;cosimulation.step=2e-6", cuts[k], order);
      cosim c = cosim_done("examples/chain-conv.yaml", sets, 2e-3);
      cosim_close(&c);
    }
  }
}

static void steps_of_a_run_that_starts_at_rest_are_no_divergence(void **state) {
  (void)state;
  static const char *const schemes[] = {"explicit", "semi-implicit", "implicit", "waveform"};
  for (int k = 0; k < 4; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "cosimulation.scheme=%s;parameters.v1=0;parameters.v2=0", schemes[k]);
    cosim c = cosim_done("examples/two-mass.yaml", sets, 0.5);
    CHECK_NEAR(cosim_value(&c, "m1.x"), 0.0, 0.0);
    cosim_close(&c);
  }
}

static void f23_steps_too_long_for_joints_in_space_end_at_once(void **state) {
  (void)state;
  expect_unstable("examples/four-bar-spatial.yaml", "cosimulation.scheme=semi-implicit;cosimulation.step=0.2", 1.0,
                  "'weld'");
}

/* A loop of five bars, seed 1017 of the campaign: 25 steps did not end. */
static void f23_steps_too_long_for_a_loop_end_at_once(void **state) {
  static const char loop[] = "yoke: 1\n"
                             "gravity: [0, -9.81]\n"
                             "bodies:\n"
                             "  b0: {kind: planar, mass: 0.54623, inertia: 0.0077607, position: [0.12381, -0.16521], "
                             "angle: -0.92767, omega: -0.83092, frames: {a: [-0.20645, 0], b: [0.20645, 0]}}\n"
                             "  b1: {kind: planar, mass: 0.20576, inertia: 0.0371, position: [0.96186, -0.50584], "
                             "angle: -0.24084, omega: -0.85963, frames: {a: [-0.73546, 0], b: [0.73546, 0]}}\n"
                             "  b2: {kind: planar, mass: 1.52, inertia: 0.22772, position: [2.3168, -0.8786], angle: "
                             "-0.29878, omega: 0.495, frames: {a: [-0.6704, 0], b: [0.6704, 0]}}\n"
                             "  b3: {kind: planar, mass: 2.1053, inertia: 0.066059, position: [3.2629, -1.1049], "
                             "angle: -0.094492, omega: -0.13976, frames: {a: [-0.30681, 0], b: [0.30681, 0]}}\n"
                             "  b4: {kind: planar, mass: 1.5573, inertia: 0.28441, position: [3.836, -1.8239], angle: "
                             "-1.2008, omega: -0.98953, frames: {a: [-0.74019, 0], b: [0.74019, 0]}}\n"
                             "connections:\n"
                             "  p0: {kind: revolute, between: [ground, b0.a]}\n"
                             "  j1: {kind: revolute, between: [b0.b, b1.a]}\n"
                             "  j2: {kind: revolute, between: [b1.b, b2.a]}\n"
                             "  j3: {kind: revolute, between: [b2.b, b3.a]}\n"
                             "  j4: {kind: revolute, between: [b3.b, b4.a]}\n"
                             "  pe: {kind: revolute, between: [[4.1037, -2.514, 0], b4.b]}\n"
                             "  ts: {kind: torsion-spring, between: [b3, b4], stiffness: 28.484, damping: 0.1}\n"
                             "  ts0: {kind: torsion-spring, between: [ground, b0.a], stiffness: 16.747, damping: 0.3}\n"
                             "t_end: 0.8324\n"
                             "split: {s0: [b0], s1: [b1, b2, b3], s2: [b4]}\n";
  (void)state;
  expect_unstable(loop, "cosimulation={step: 0.034, couplings: {formulation: stabilized-index-1}}", 0.8324, "'j1'");
}

/* Its first correction asks for copies of 1e17, with which an integration would not end in an hour. */
static void f23_a_fixed_step_far_too_long_ends_at_once(void **state) {
  (void)state;
  expect_unstable("tests/campaign/real/door.yaml", "cosimulation.step=0.375", 3.0, "'spindle'");
}

/* Behind one step the spring pushes b over thousands of teeth in the next, and its solver would follow each of them for hours. */
static void f23_an_integration_that_its_inputs_lead_astray_is_given_up(void **state) {
  static const char teeth[] =
      "yoke: 1\n"
      "bodies:\n"
      "  a: {kind: mass1d, mass: 1}\n"
      "  b: {kind: mass1d, mass: 1, x: 1, v: 0.1}\n"
      "connections:\n"
      "  cut: {kind: spring-damper, between: [a, b], stiffness: 1e4, damping: 10, free_length: 1}\n"
      "loads: {teeth: {kind: expression, on: b, force: 'b.v*sin(1e3*b.x)'}}\n"
      "t_end: 20\n"
      "split: {p: [a], q: [b]}\n";
  (void)state;
  expect_unstable(teeth, "cosimulation={scheme: explicit, order: 0, step: 1}", 20.0, "coupling 'cut' (force x) would");
}

/* Errors of order 0 add up over 50 s: 1e-5 of the motion would take 3e9 macro steps. The advice helps. */
static void f23_an_order_that_cannot_keep_the_tolerance_ends_with_its_price(void **state) {
  static const char model[] = "examples/two-mass.yaml";
  cosim             c;
  (void)state;
  cosim_open(&c, model, "cosimulation.order=0;cosimulation.step={rtol: 1e-5}");
  assert_int_equal(cosim_run(&c, 50.0, NULL, NULL), YOKE_E_STEP_TOO_SMALL);
  const char *said = yoke_context_message(c.ctx, yoke_context_n_messages(c.ctx) - 1);
  if (strstr(said, "macro steps") == NULL || strstr(said, "'coupling'") == NULL || strstr(said, "order 2") == NULL)
    fail_msg("%s", said);
  cosim_close(&c);
  c = cosim_done(model, "cosimulation.order=2;cosimulation.step={rtol: 1e-5}", 5.0);
  cosim_close(&c);
  c = cosim_done(model, "cosimulation.order=0;cosimulation.step={rtol: 1e-5, budget: 0}", 5.0);
  cosim_close(&c);
}

/* A shorter macro step does not help a solver that takes one step in it. */
static void conditions_that_one_step_of_a_solver_cannot_tell_apart_are_explained(void **state) {
  (void)state;
  static const char text[] = "yoke: 1\n"
                             "t_end: 1\n"
                             "bodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, mass: 1}}\n"
                             "connections:\n"
                             "  wall: {kind: spring-damper, between: [ground, a], stiffness: 100}\n"
                             "  weld: {kind: fixed, between: [a, b]}\n"
                             "loads: {push: {kind: constant, on: a, force: 1}}\n"
                             "split: {left: [a], right: [b]}\n"
                             "solvers: {default: {kind: semi-euler, step: 1e-3}}\n"
                             "cosimulation: {step: 1e-3}\n";
  cosim             c;
  bool              explains = false;
  cosim_open(&c, text, NULL);
  assert_int_not_equal(cosim_run(&c, 0.1, NULL, NULL), YOKE_OK);
  for (size_t i = 0; i < yoke_context_n_messages(c.ctx); ++i)
    explains = explains || strstr(yoke_context_message(c.ctx, i), "needs several of them in a macro step") != NULL;
  assert_true(explains);
  cosim_close(&c);
}

/* ---- solvers of order 1, which read forces at one end of their steps ---- */

static const char *told(const cosim *c, const char *what) {
  for (size_t i = 0; i < yoke_context_n_messages(c->ctx); ++i) {
    const char *said = yoke_context_message(c->ctx, i);
    if (strstr(said, what) != NULL) return said;
  }
  return NULL;
}

static const char knee[] = "examples/double-pendulum.yaml";

/* Smaller macro steps and scheme implicit make it worse: neither the warning nor the end advises them. */
static void a_solver_of_order_1_at_a_joint_is_named_before_the_run_and_when_it_diverges(void **state) {
  static const char *const kinds[] = {"semi-euler", "lin-implicit-euler"};
  (void)state;
  for (int k = 0; k < 2; ++k) {
    char  sets[COSIM_TEXT], solver[40];
    cosim c;
    snprintf(sets, sizeof sets, "solvers.default={kind: %s, step: 1e-4}", kinds[k]);
    snprintf(solver, sizeof solver, "solver '%s' of subsystem 'a'", kinds[k]);
    cosim_open(&c, knee, sets);
    const char *said = told(&c, solver);
    assert_non_null(said);
    assert_non_null(strstr(said, "'knee'"));
    assert_non_null(strstr(said, "use formulation projection"));
    assert_int_equal(cosim_run(&c, 0.4, NULL, NULL), YOKE_E_UNSTABLE);
    const char *last = yoke_context_message(c.ctx, yoke_context_n_messages(c.ctx) - 1);
    assert_non_null(strstr(last, "use formulation projection, order 0"));
    assert_null(strstr(last, "scheme implicit"));
    cosim_close(&c);
  }
}

static void what_is_advised_for_a_solver_of_order_1_is_right_and_says_nothing(void **state) {
  static const char *const kinds[] = {"semi-euler", "lin-implicit-euler"};
  static const char *const cures[] = {"cosimulation.couplings.formulation=projection", "cosimulation.order=0"};
  (void)state;
  for (int k = 0; k < 4; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "t_end=1;%s;solvers.default={kind: %s, step: 1e-4}", cures[k / 2], kinds[k % 2]);
    cosim split = cosim_done(knee, sets, 0.0), whole = cosim_done_monolithic(knee, "t_end=1", 0.0);
    assert_true(fabs(cosim_value(&split, "lower.x") - cosim_value(&whole, "lower.x")) < 2e-3);
    assert_null(told(&split, "has order 1"));
    cosim_close(&split);
    cosim_close(&whole);
  }
}

/* (1 + 3/n) / (1 - 3/n) per macro step: 3.3 in 200 steps of n = 1000 micro steps, 1.6e5 with n = 100. */
static void many_micro_steps_of_order_1_at_a_straight_joint_are_right_and_not_warned_of(void **state) {
  static const char two[] = "examples/two-mass-rigid.yaml";
  (void)state;
  cosim many = cosim_done(two, "t_end=2;cosimulation.step=1e-2;solvers={default: {kind: semi-euler, step: 1e-5}}", 0.0);
  cosim few  = cosim_done(two, "t_end=2;cosimulation.step=1e-2;solvers={default: {kind: semi-euler, step: 1e-4}}", 0.0);
  cosim line =
      cosim_done(two, "t_end=2;cosimulation.step=1e-2;solvers={default: {kind: lin-implicit-euler, step: 1e-4}}", 0.0);
  cosim whole = cosim_done_monolithic(two, "t_end=2;solvers={default: {rtol: 1e-10}}", 0.0);
  assert_true(fabs(cosim_value(&many, "joint.force[1]") - cosim_value(&whole, "joint.force[1]")) < 0.1);
  assert_null(told(&many, "has order 1"));
  assert_null(told(&line, "has order 1"));
  assert_true(fabs(cosim_value(&few, "joint.force[1]")) > 100.0); /* 1.54 */
  assert_non_null(told(&few, "grow by 1.06"));
  cosim_close(&many);
  cosim_close(&few);
  cosim_close(&line);
  cosim_close(&whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(explicit_scheme_with_a_stiff_coupling_diverges_and_names_it),
      cmocka_unit_test(slow_divergence_is_found_too),
      cmocka_unit_test(an_oscillation_that_grows_without_jumps_is_found_too),
      cmocka_unit_test(explicit_chain_with_a_large_step_diverges_and_names_the_cut),
      cmocka_unit_test(explicit_chain_bears_the_steps_of_kraft_r2_to_r4),
      cmocka_unit_test(waveform_iteration_that_does_not_contract_ends_the_run_and_names_the_coupling),
      cmocka_unit_test(an_impact_is_no_divergence),
      cmocka_unit_test(an_impact_under_the_explicit_scheme_is_no_divergence),
      cmocka_unit_test(a_contact_that_rises_by_itself_is_no_divergence),
      cmocka_unit_test(a_wave_that_arrives_at_a_cut_at_rest_is_no_divergence),
      cmocka_unit_test(steps_of_a_run_that_starts_at_rest_are_no_divergence),
      cmocka_unit_test(f23_steps_too_long_for_joints_in_space_end_at_once),
      cmocka_unit_test(f23_steps_too_long_for_a_loop_end_at_once),
      cmocka_unit_test(f23_a_fixed_step_far_too_long_ends_at_once),
      cmocka_unit_test(f23_an_integration_that_its_inputs_lead_astray_is_given_up),
      cmocka_unit_test(f23_an_order_that_cannot_keep_the_tolerance_ends_with_its_price),
      cmocka_unit_test(conditions_that_one_step_of_a_solver_cannot_tell_apart_are_explained),
      cmocka_unit_test(a_solver_of_order_1_at_a_joint_is_named_before_the_run_and_when_it_diverges),
      cmocka_unit_test(what_is_advised_for_a_solver_of_order_1_is_right_and_says_nothing),
      cmocka_unit_test(many_micro_steps_of_order_1_at_a_straight_joint_are_right_and_not_warned_of),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
