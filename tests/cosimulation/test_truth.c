/* Truth at the end of a step (invariant 6): joints that one correction leaves open are corrected again, a gap above joint_tolerance
 * ends the run with the joint's name, residuals have kinds and units, and divergence is seen in any run (F3, F4, F7, F45). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"
#include "model/model_length.h"

/* Largest deviation of a few outputs at the end from the whole model, each in units of `size`. */
static double error_of(const char *model, const char *sets, double t_end, int n, const char *const names[],
                       const double size[]) {
  cosim  whole = cosim_done_monolithic(model, "solvers.default.rtol=1e-11", t_end), c = cosim_done(model, sets, t_end);
  double worst = 0.0;
  for (int i = 0; i < n; ++i)
    worst = fmax(worst, fabs(cosim_value(&c, names[i]) - cosim_value(&whole, names[i])) / size[i]);
  cosim_close(&c);
  cosim_close(&whole);
  return worst;
}

static bool says(const cosim *c, const char *text) {
  for (size_t i = 0; i < yoke_context_n_messages(c->ctx); ++i) {
    if (strstr(yoke_context_message(c->ctx, i), text) != NULL) return true;
  }
  return false;
}

/* ---- F3 ---- */

static void f3_a_four_bar_with_a_step_of_a_fifth_of_a_second_ends_with_the_joint_and_its_gap(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, "examples/four-bar-fixed.yaml", "cosimulation.step=0.2");
  cosim_run(&c, 0.0, NULL, NULL);
  cosim_expect(&c, YOKE_E_UNSTABLE);
  assert_true(says(&c, "joint 'weld'") && says(&c, "is open by") && says(&c, "a smaller cosimulation.step"));
  cosim_close(&c);
}

static void f3_a_double_pendulum_with_a_tenth_of_a_second_keeps_its_joint_closed(void **state) {
  (void)state;
  const char *const names[] = {"upper.angle", "lower.angle", "lower.omega"};
  const double      size[]  = {1.0, 1.0, 5.0};
  const char *const sets    = "cosimulation.step=0.1";
  /* twenty steps for 2 s: what is left is the error of the method, which scheme implicit has too (0.034 of the spread) */
  assert_true(error_of("examples/double-pendulum.yaml", sets, 2.0, 3, names, size) < 0.05);
  cosim        c = cosim_done("examples/double-pendulum.yaml", sets, 2.0);
  const double L = yoke_model_length(c.model);
  assert_true(c.summary.macro.residuals[YOKE_RESIDUAL_POSITION].largest <= 1e-6 * L);
  assert_true(c.summary.macro.residuals[YOKE_RESIDUAL_VELOCITY].largest <= 1e-6 * L / 0.1);
  assert_int_equal(c.summary.macro.unconverged, 0);
  cosim_close(&c);
}

static void f3_the_starter_model_with_its_natural_split_is_right_at_every_step_up_to_a_twentieth(void **state) {
  (void)state;
  static const double steps[] = {0.01, 0.02, 0.023, 0.03, 0.04, 0.05};
  const char *const   names[] = {"upper.angle", "lower.angle", "upper.omega", "lower.omega"};
  const double        size[]  = {2.0, 2.0, 10.0, 10.0};
  const char *const   model   = yoke_model_starter();
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; ++i) {
    char sets[64];
    snprintf(sets, sizeof sets, "cosimulation.step=%g", steps[i]);
    const double error = error_of(model, sets, 5.0, 4, names, size);
    if (!(error < 0.01)) fail_msg("step %g s: error %g", steps[i], error);
  }
}

static void corrections_1_is_the_published_scheme_and_says_which_steps_it_leaves_open(void **state) {
  (void)state;
  cosim once = cosim_done("examples/double-pendulum.yaml",
                          "cosimulation.step=0.05;cosimulation.corrections=1;cosimulation.joint_tolerance=1", 1.0);
  cosim more = cosim_done("examples/double-pendulum.yaml", "cosimulation.step=0.05", 1.0);
  assert_int_equal(once.summary.macro.iterations, once.summary.macro.steps);
  assert_true(more.summary.macro.iterations > more.summary.macro.steps);
  assert_true(once.summary.macro.unconverged > 0);
  assert_int_equal(more.summary.macro.unconverged, 0);
  cosim_close(&once);
  cosim_close(&more);
}

static void weighted_sets_have_no_common_solution_and_are_corrected_once(void **state) {
  (void)state;
  cosim c = cosim_done("examples/double-pendulum.yaml",
                       "cosimulation.step=0.01;cosimulation.order=0;cosimulation.couplings.formulation=weighted", 0.2);
  assert_int_equal(c.summary.macro.iterations, c.summary.macro.steps);
  cosim_close(&c);
}

static void joint_tolerance_holds_for_formulations_that_declare_nothing(void **state) {
  (void)state;
  cosim             c;
  const char *const sets = "cosimulation.step=2e-3;cosimulation.order=0;cosimulation.couplings.formulation=baumgarte;"
                           "cosimulation.joint_tolerance=%s";
  static const struct {
    const char *tolerance;
    yoke_status status;
  } cases[] = {{"1e-9", YOKE_E_UNSTABLE}, {"1", YOKE_OK}};
  for (int i = 0; i < 2; ++i) {
    char text[256];
    snprintf(text, sizeof text, sets, cases[i].tolerance);
    cosim_open(&c, "examples/double-pendulum.yaml", text);
    cosim_run(&c, 0.1, NULL, NULL);
    cosim_expect(&c, cases[i].status);
    if (i == 0) assert_true(says(&c, "joint 'knee'"));
    cosim_close(&c);
  }
}

static void under_control_a_gap_is_a_rejected_step(void **state) {
  (void)state;
  const char *const sets = "cosimulation.step={rtol: 1e-2, initial: 0.02};cosimulation.order=0;"
                           "cosimulation.couplings.formulation=baumgarte;cosimulation.joint_tolerance=2e-4";
  cosim             c    = cosim_done("examples/double-pendulum.yaml", sets, 0.3);
  assert_true(c.summary.macro.rejected_by[YOKE_REDUCED_BY_GAP] > 0);
  assert_true(c.summary.macro.residuals[YOKE_RESIDUAL_POSITION].largest <= 2e-4);
  cosim_close(&c);
}

static void motions_held_over_the_first_step_are_cured_by_an_exact_start_as_the_message_says(void **state) {
  (void)state;
  const char *const sets = "cosimulation.step=1e-3;cosimulation.joint_tolerance=1e-4;cosimulation.start=%s";
  for (int i = 0; i < 2; ++i) {
    char  text[128];
    cosim c;
    snprintf(text, sizeof text, sets, i == 0 ? "ramp" : "exact");
    cosim_open(&c, "examples/kinematic-two-mass.yaml", text);
    cosim_run(&c, 0.1, NULL, NULL);
    cosim_expect(&c, i == 0 ? YOKE_E_UNSTABLE : YOKE_OK);
    if (i == 0) assert_true(says(&c, "cosimulation.start exact"));
    cosim_close(&c);
  }
}

/* ---- residuals ---- */

static void residuals_of_forces_are_those_of_the_law_and_kinds_without_conditions_have_no_size(void **state) {
  (void)state;
  cosim c = cosim_done("examples/two-mass.yaml", "cosimulation.scheme=explicit;cosimulation.order=0", 0.01);
  const yoke_residual_total *r = c.summary.macro.residuals;
  assert_true(r[YOKE_RESIDUAL_FORCE].largest > 0.0 && r[YOKE_RESIDUAL_FORCE].size > 0.0);
  assert_true(r[YOKE_RESIDUAL_FORCE].largest == c.summary.macro.residual); /* the only conditions are laws of forces */
  assert_true(r[YOKE_RESIDUAL_POSITION].size == 0.0 && r[YOKE_RESIDUAL_MOMENT].size == 0.0);
  cosim_close(&c);
}

/* ---- F4 ---- */

static const char three_rods[] =
    "yoke: 1\n"
    "parameters: {l: 1}\n"
    "gravity: [0, -9.81, 0]\n"
    "t_end: 0.2\n"
    "bodies:\n"
    "  b1: {kind: planar, mass: 1, inertia: l^2/12, position: [l/2, 0], frames: {a: [-l/2, 0], b: [l/2, 0]}}\n"
    "  b2: {kind: planar, mass: 1, inertia: l^2/12, position: [1.5*l, 0], frames: {a: [-l/2, 0], b: [l/2, 0]}}\n"
    "  b3: {kind: planar, mass: 1, inertia: l^2/12, position: [2.5*l, 0], frames: {a: [-l/2, 0], b: [l/2, 0]}}\n"
    "connections:\n"
    "  j1: {kind: revolute, between: [ground, b1.a]}\n"
    "  j2: {kind: revolute, between: [b1.b, b2.a]}\n"
    "  j3: {kind: revolute, between: [b2.b, b3.a]}\n"
    "  tie: {kind: spring-damper, between: [b1.b, b3.b], stiffness: 200, damping: 1}\n"
    "split: {p: [b1], q: [b2], r: [b3]}\n"
    "cosimulation: {step: 2e-3, order: 2, jacobian: broyden}\n";

static void f4_broyden_follows_three_rods_with_a_tie(void **state) {
  (void)state;
  const char *const names[] = {"b1.omega", "b2.omega", "b3.omega"};
  const double      size[]  = {1.0, 1.0, 1.0};
  assert_true(error_of(three_rods, NULL, 0.2, 3, names, size) < 1e-4);
}

static void f4_broyden_follows_joints_at_every_step(void **state) {
  (void)state;
  static const struct {
    const char *file, *name;
    double      size;
  } cases[] = {{"examples/double-pendulum.yaml", "lower.omega", 5.0},
               {"examples/four-bar-fixed.yaml", "bar2.omega", 5.0},
               {"examples/slider-crank-classic.yaml", "rod.omega", 5.0}};
  for (int i = 0; i < 3; ++i) {
    for (int order = 1; order <= 2; ++order) {
      char sets[128];
      snprintf(sets, sizeof sets, "cosimulation.step=4e-3;cosimulation.order=%d;cosimulation.jacobian=broyden", order);
      const double error = error_of(cases[i].file, sets, 0.8, 1, &cases[i].name, &cases[i].size);
      if (!(error < 1e-4)) fail_msg("%s, order %d: error %g", cases[i].file, order, error);
    }
  }
}

/* ---- F7 ---- */

static void f7_multipliers_that_move_nothing_are_no_divergence(void **state) {
  (void)state;
  const char *const sets = "cosimulation.couplings.formulation=stabilized-index-2-mu;cosimulation.order=1";
  cosim             c    = cosim_done("examples/double-pendulum.yaml", sets, 0.2);
  cosim_close(&c);
}

static void f7_a_run_of_fewer_than_twenty_steps_that_explodes_is_seen(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\n"
                              "t_end: 0.016\n"
                              "bodies:\n"
                              "  a: {kind: mass1d, mass: 1e-6, x: 0}\n"
                              "  b: {kind: mass1d, mass: 1e-6, x: 1}\n"
                              "connections:\n"
                              "  c: {kind: spring-damper, between: [a, b], stiffness: 1e6, free_length: 0.9}\n"
                              "split: {p: [a], q: [b]}\n"
                              "cosimulation: {scheme: explicit, order: 2, step: 1e-3}\n";
  cosim             c;
  cosim_open(&c, model, NULL);
  cosim_run(&c, 0.0, NULL, NULL);
  cosim_expect(&c, YOKE_E_UNSTABLE);
  assert_true(c.summary.macro.steps < 20 && says(&c, "coupling 'c'"));
  cosim_close(&c);
}

/* ---- F45 ---- */

static void f45_a_step_longer_than_the_run_is_one_macro_step_and_said(void **state) {
  (void)state;
  cosim c = cosim_done("examples/two-mass.yaml", "cosimulation.step=1e300", 0.0);
  assert_int_equal(c.summary.macro.steps, 1);
  assert_true(says(&c, "longer than the run") && !says(&c, "'?'") && !says(&c, "inf"));
  cosim_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f3_a_four_bar_with_a_step_of_a_fifth_of_a_second_ends_with_the_joint_and_its_gap),
      cmocka_unit_test(f3_a_double_pendulum_with_a_tenth_of_a_second_keeps_its_joint_closed),
      cmocka_unit_test(f3_the_starter_model_with_its_natural_split_is_right_at_every_step_up_to_a_twentieth),
      cmocka_unit_test(corrections_1_is_the_published_scheme_and_says_which_steps_it_leaves_open),
      cmocka_unit_test(weighted_sets_have_no_common_solution_and_are_corrected_once),
      cmocka_unit_test(joint_tolerance_holds_for_formulations_that_declare_nothing),
      cmocka_unit_test(under_control_a_gap_is_a_rejected_step),
      cmocka_unit_test(motions_held_over_the_first_step_are_cured_by_an_exact_start_as_the_message_says),
      cmocka_unit_test(residuals_of_forces_are_those_of_the_law_and_kinds_without_conditions_have_no_size),
      cmocka_unit_test(f4_broyden_follows_three_rods_with_a_tie),
      cmocka_unit_test(f4_broyden_follows_joints_at_every_step),
      cmocka_unit_test(f7_multipliers_that_move_nothing_are_no_divergence),
      cmocka_unit_test(f7_a_run_of_fewer_than_twenty_steps_that_explodes_is_seen),
      cmocka_unit_test(f45_a_step_longer_than_the_run_is_one_macro_step_and_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
