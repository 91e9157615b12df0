/* The matrix of the corrector is kept over steps while it converges well: fewer integrations, the same results, and no trace of trials. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "control/controller.h"
#include "rig.h"

static const char *const double_pendulum = "examples/double-pendulum.yaml", *const two_mass = "examples/two-mass.yaml",
                         *const four_bar = "examples/four-bar-fixed.yaml";

#define IMPLICIT "cosimulation.scheme=implicit"
#define DIFFERENCES ";cosimulation.jacobian=finite-difference"
#define RENEW ";cosimulation.corrector.renew="

static void open_with(rig *r, const char *model, const char *sets) {
  const yoke_status status = rig_open(r, model, sets, "serial", 1, NULL);
  if (status == YOKE_OK) return;
  cosim_print(r->c.ctx);
  fail_msg("%s: %s", sets, yoke_status_name(status));
}

static yoke_step_statistics step(rig *r) {
  yoke_step_statistics s;
  assert_int_equal(yoke_graph_try(r->graph, (double)(r->n_steps + 1) * r->H, &s, r->c.ctx), YOKE_OK);
  assert_int_equal(yoke_graph_accept(r->graph, r->c.ctx), YOKE_OK);
  ++r->n_steps;
  return s;
}

static void a_linear_system_makes_one_matrix(void **state) {
  (void)state;
  rig r;
  open_with(&r, two_mass, IMPLICIT);
  for (int n = 0; n < 20; ++n) {
    const yoke_step_statistics s = step(&r);
    assert_int_equal(s.matrices, n == 0 ? 1 : 0);
    assert_int_equal(s.has_kept, n > 0);
    assert_true(s.converged);
    CHECK_BELOW(s.rate, 1e-6);
  }
  rig_close(&r);
}

/* The published scheme has a matrix per step, Newton's method one per correction but the last. */
static void renew_says_when_matrices_are_made(void **state) {
  (void)state;
  rig r;
  open_with(&r, double_pendulum, IMPLICIT RENEW "step");
  for (int n = 0; n < 10; ++n) assert_int_equal(step(&r).matrices, 1);
  rig_close(&r);
  open_with(&r, double_pendulum, IMPLICIT RENEW "pass");
  for (int n = 0; n < 10; ++n) {
    const yoke_step_statistics s = step(&r);
    assert_int_equal(s.matrices, s.iterations);
  }
  rig_close(&r);
  open_with(&r, double_pendulum, "cosimulation.scheme=semi-implicit;cosimulation.corrections=3" RENEW "pass");
  for (int n = 0; n < 10; ++n) assert_int_equal(step(&r).matrices, 3);
  rig_close(&r);
}

static void one_correction_per_step_has_its_own_matrix(void **state) {
  (void)state;
  rig r;
  open_with(&r, double_pendulum, "cosimulation.scheme=semi-implicit");
  for (int n = 0; n < 10; ++n) {
    const yoke_step_statistics s = step(&r);
    assert_int_equal(s.matrices, 1);
    assert_false(s.has_kept);
  }
  rig_close(&r);
}

static void keeping_saves_integrations_and_leaves_the_results(void **state) {
  (void)state;
  static const struct {
    const char *model, *value;
    double      share; /* of the integrations */
  } rows[] = {{"examples/double-pendulum.yaml", "lower.angle", 0.7}, {"examples/four-bar-fixed.yaml", "bar2.x", 0.65}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    double                   x[2], integrations[2];
    static const char *const sets[] = {IMPLICIT DIFFERENCES ";solvers.default.kind=dop853" RENEW "step",
                                       IMPLICIT DIFFERENCES ";solvers.default.kind=dop853" RENEW "slow"};
    for (int k = 0; k < 2; ++k) {
      cosim c         = cosim_done(rows[i].model, sets[k], 0.2);
      x[k]            = cosim_value(&c, rows[i].value);
      integrations[k] = (double)c.summary.macro.integrations;
      assert_int_equal(c.summary.macro.unconverged, 0);
      assert_int_equal(c.summary.macro.kept > 0, k == 1);
      cosim_close(&c);
    }
    CHECK_NEAR(x[1], x[0], 1e-9);
    CHECK_BELOW(integrations[1], rows[i].share * integrations[0]);
  }
}

/* It is made anew where it converges slowly, so that steps still converge, each as well as it must. */
static void a_matrix_that_grows_old_is_made_anew(void **state) {
  (void)state;
  rig r;
  int n_made = 0;
  open_with(&r, four_bar, IMPLICIT);
  for (int n = 0; n < 200; ++n) {
    const yoke_step_statistics s = step(&r);
    assert_true(s.converged);
    n_made += s.matrices;
  }
  assert_true(n_made > 3 && n_made < 100);
  rig_close(&r);
}

static void a_restart_drops_the_matrix(void **state) {
  (void)state;
  static const char *const sets[] = {IMPLICIT, IMPLICIT ";cosimulation.jacobian=broyden"};
  for (int i = 0; i < 2; ++i) {
    rig r;
    open_with(&r, two_mass, sets[i]);
    rig_steps(&r, 5);
    assert_true(step(&r).has_kept);
    assert_int_equal(yoke_graph_restart(r.graph, r.c.ctx), YOKE_OK);
    const yoke_step_statistics s = step(&r);
    assert_false(s.has_kept);
    assert_int_equal(s.matrices, 1);
    assert_true(step(&r).has_kept);
    rig_close(&r);
  }
}

static void another_step_needs_another_matrix(void **state) {
  (void)state;
  rig                  r;
  yoke_step_statistics s;
  open_with(&r, two_mass, IMPLICIT);
  rig_steps(&r, 5);
  const double t = yoke_graph_t(r.graph);
  assert_int_equal(yoke_graph_try(r.graph, t + 1.05 * r.H, &s, r.c.ctx), YOKE_OK);
  assert_true(s.has_kept);
  assert_int_equal(yoke_graph_try(r.graph, t + 0.8 * r.H, &s, r.c.ctx), YOKE_OK);
  assert_false(s.has_kept);
  rig_close(&r);
}

/* A matrix made in a rejected trial, for another step, is not the one that the next trial finds. */
static void a_rejected_trial_leaves_the_matrix(void **state) {
  (void)state;
  rig                  straight, tried;
  yoke_step_statistics s;
  open_with(&straight, double_pendulum, IMPLICIT);
  open_with(&tried, double_pendulum, IMPLICIT);
  for (int n = 0; n < 30; ++n) {
    if (n % 3 == 1) {
      assert_int_equal(yoke_graph_try(tried.graph, yoke_graph_t(tried.graph) + 0.4 * tried.H, &s, tried.c.ctx),
                       YOKE_OK);
      assert_int_equal(s.matrices, 1);
    }
    assert_int_equal(step(&straight).has_kept, step(&tried).has_kept);
    rig_expect_same(&straight, &tried);
  }
  rig_close(&straight);
  rig_close(&tried);
}

static void steps_under_control_make_their_own(void **state) {
  (void)state;
  yoke_control_settings control = yoke_control_settings_default();
  yoke_controller      *controller;
  rig                   r;
  open_with(&r, two_mass, IMPLICIT ";cosimulation.order=2");
  control.initial   = 1e-4;
  control.max       = 1e-3;
  control.order_max = 2;
  assert_int_equal(yoke_controller_create(r.c.ctx, r.graph, &control, &controller), YOKE_OK);
  for (int n = 0; n < 20; ++n) {
    yoke_step_statistics s;
    assert_int_equal(yoke_controller_step(controller, 0.1, &s, r.c.ctx), YOKE_OK);
    assert_true(s.matrices > 0 && !s.has_kept);
  }
  yoke_controller_destroy(&controller);
  rig_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_linear_system_makes_one_matrix),
      cmocka_unit_test(renew_says_when_matrices_are_made),
      cmocka_unit_test(one_correction_per_step_has_its_own_matrix),
      cmocka_unit_test(keeping_saves_integrations_and_leaves_the_results),
      cmocka_unit_test(a_matrix_that_grows_old_is_made_anew),
      cmocka_unit_test(a_restart_drops_the_matrix),
      cmocka_unit_test(another_step_needs_another_matrix),
      cmocka_unit_test(a_rejected_trial_leaves_the_matrix),
      cmocka_unit_test(steps_under_control_make_their_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
