/* Adams-Bashforth-Moulton: orders, stops without loss of order, few evaluations. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "integrate_helpers.h"

static double fixed_step_error(bool is_pendulum, int order, double t, int n) {
  yoke_integrator_options o = toy_options(1e-8);
  toy_run                 run;
  double                  q[2], v[2], q_exact[2], v_exact[2];
  o.fixed_step = t / n;
  o.max_order  = order;
  if (is_pendulum) {
    toy_pendulum_state(acos(-1.0) / 2, 0, q, v);
    toy_pendulum_reference(t, q_exact, v_exact);
  } else {
    toy_nonlinear_exact(0, q, v);
    toy_nonlinear_exact(t, q_exact, v_exact);
  }
  assert_int_equal(toy_run_begin(&run, is_pendulum ? toy_pendulum : toy_nonlinear, "abm", &o, q, v, &yoke_signal_none),
                   0);
  assert_int_equal(toy_run_to(&run, &yoke_signal_none, t), YOKE_OK);
  assert_int_equal(run.state->order, order);
  const double error = toy_run_error(&run, q_exact, v_exact);
  toy_run_end(&run);
  return error;
}

/* k differences predict, k + 1 correct: accurate of order k + 1 (local extrapolation). */
static void check_orders(bool is_pendulum, double t, const int *n, int k_max) {
  for (int k = 1; k <= k_max; ++k) {
    const double coarse = fixed_step_error(is_pendulum, k, t, n[k - 1]);
    const double fine = fixed_step_error(is_pendulum, k, t, 2 * n[k - 1]), found = log2(coarse / fine);
    if (!(found > k + 0.6)) print_error("k = %d: order %.2f, errors %.3g %.3g\n", k, found, coarse, fine);
    assert_true(found > k + 0.6);
  }
}

static void abm_with_k_differences_has_order_k_plus_1_on_a_nonlinear_ode(void **s) {
  (void)s;
  const int n[] = {800, 800, 800, 400, 400, 300, 200};
  check_orders(false, 3, n, 7);
}

static void abm_with_k_differences_has_order_k_plus_1_on_the_pendulum_dae(void **s) {
  (void)s;
  const int n[] = {640, 320, 320, 160, 160, 160};
  check_orders(true, 2, n, 6);
}

static void run_kepler(double rtol, double H, double *error, yoke_counts *counters, int *order) {
  const yoke_integrator_options o = toy_options(rtol);
  toy_run                       run;
  double                        q[2], v[2];
  toy_nonlinear_exact(0, q, v);
  assert_int_equal(toy_run_begin(&run, toy_nonlinear, "abm", &o, q, v, &yoke_signal_none), YOKE_OK);
  const int n = (int)lround(8 / H);
  for (int i = 1; i <= n; ++i) assert_int_equal(toy_run_to(&run, &yoke_signal_none, i * H), YOKE_OK);
  toy_nonlinear_exact(8, q, v);
  *error    = toy_run_error(&run, q, v);
  *counters = run.state->counters;
  *order    = run.state->order;
  toy_run_end(&run);
}

static void error_follows_the_tolerance(void **s) {
  (void)s;
  double      error;
  yoke_counts counters;
  int         order;
  run_kepler(1e-6, 8, &error, &counters, &order);
  assert_true(error < 3e-3);
  run_kepler(1e-11, 8, &error, &counters, &order);
  assert_true(error < 3e-9);
  assert_true(order >= 8);
  assert_true(counters.evaluations < 700); /* dop853 needs twice as many */
}

/* Stops at macro points as short as the micro steps: high order is kept, one step per macro step. */
static void frequent_stops_lose_no_order(void **s) {
  (void)s;
  double      error;
  yoke_counts counters;
  int         order;
  run_kepler(1e-10, 0.01, &error, &counters, &order);
  assert_true(error < 1e-7);
  assert_true(order >= 6);
  assert_true(counters.steps < 1000); /* 800 macro steps */
}

static void dense_output_is_as_accurate_as_the_steps(void **s) {
  (void)s;
  const yoke_integrator_options o = toy_options(1e-9);
  toy_run                       run;
  double                        q[2], v[2], q_exact[2], v_exact[2];
  toy_nonlinear_exact(0, q, v);
  assert_int_equal(toy_run_begin(&run, toy_nonlinear, "abm", &o, q, v, &yoke_signal_none), YOKE_OK);
  while (run.state->t < 5) {
    assert_int_equal(yoke_integrator_step(run.integrator, run.scratch, run.state, &yoke_signal_none, 5, NULL), YOKE_OK);
    const double t = 0.37 * run.state->t_prev + 0.63 * run.state->t;
    yoke_integrator_interpolate(run.integrator, run.state, t, q, v);
    toy_nonlinear_exact(t, q_exact, v_exact);
    for (int j = 0; j < 2; ++j) assert_true(fabs(q[j] - q_exact[j]) + fabs(v[j] - v_exact[j]) < 1e-6);
  }
  toy_run_end(&run);
}

static void max_order_is_checked_and_kept(void **s) {
  (void)s;
  yoke_integrator_options o = toy_options(1e-8);
  toy_run                 run;
  double                  q[2], v[2];
  toy_nonlinear_exact(0, q, v);
  o.max_order = 13;
  assert_int_equal(toy_run_begin(&run, toy_nonlinear, "abm", &o, q, v, &yoke_signal_none), YOKE_E_USAGE);
  toy_run_end(&run);
  o.max_order = 3;
  assert_int_equal(toy_run_begin(&run, toy_nonlinear, "abm", &o, q, v, &yoke_signal_none), YOKE_OK);
  for (int i = 0; i < 100; ++i) {
    assert_int_equal(yoke_integrator_step(run.integrator, run.scratch, run.state, &yoke_signal_none, 5, NULL), YOKE_OK);
    assert_true(run.state->order <= 3);
  }
  toy_run_end(&run);
}

/* ---- projection on demand ---- */

static int n_projections;

static yoke_status counted_projection(const void *self, void *work, double t, double *q) {
  ++n_projections;
  return toy_constrained_ops.project_position(self, work, t, q);
}

static void make_counted(yoke_equations *e) {
  static yoke_equations_ops ops;
  toy_pendulum(e);
  ops                  = *e->ops;
  ops.project_position = counted_projection;
  e->ops               = &ops;
}

static double gap_now(const toy_run *run) {
  double g, gd;
  run->equations.ops->constraint(run->equations.self, NULL, run->state->t, toy_run_q(run), toy_run_v(run), &g, &gd);
  return fmax(fabs(g), fabs(gd));
}

/* To t = 2 in n macro steps. Returns the micro steps; gaps at macro points and anywhere. */
static int64_t run_pendulum(int n, double *at_stops, double *anywhere, double *error) {
  const yoke_integrator_options o = toy_options(1e-8);
  toy_run                       run;
  double                        q[2], v[2];
  toy_pendulum_state(acos(-1.0) / 2, 0, q, v);
  assert_int_equal(toy_run_begin(&run, make_counted, "abm", &o, q, v, &yoke_signal_none), YOKE_OK);
  n_projections = 0;
  *anywhere = *at_stops = 0;
  for (int i = 1; i <= n; ++i) {
    const double t_end = 2.0 * i / n;
    while (run.state->t < t_end) {
      assert_int_equal(yoke_integrator_step(run.integrator, run.scratch, run.state, &yoke_signal_none, t_end, NULL),
                       YOKE_OK);
      *anywhere = fmax(*anywhere, gap_now(&run));
    }
    *at_stops = fmax(*at_stops, gap_now(&run));
  }
  toy_pendulum_reference(2, q, v);
  *error              = toy_run_error(&run, q, v);
  const int64_t steps = run.state->counters.steps;
  toy_run_end(&run);
  return steps;
}

/* With a projection behind every step it takes 90 steps with an error of 6.0e-8. */
static void abm_spares_projections_between_stops_at_no_cost_in_accuracy(void **s) {
  (void)s;
  double        at_stops, anywhere, error;
  const int64_t steps = run_pendulum(1, &at_stops, &anywhere, &error);
  if (!(3 * n_projections < 2 * steps)) print_error("%d projections, %d steps\n", n_projections, (int)steps);
  assert_true(3 * n_projections < 2 * steps);
  if (!(error < 1e-7)) print_error("error %g\n", error);
  assert_true(error < 1e-7);
}

/* Speeds are up to 4.4: the error test allows a step about 4e-8. */
static void abm_holds_joints_at_stops_and_to_less_than_the_error_of_a_step_between(void **s) {
  (void)s;
  double at_stops, anywhere, error;
  (void)run_pendulum(8, &at_stops, &anywhere, &error);
  assert_true(at_stops < 1e-13);
  if (!(anywhere < 4e-8)) print_error("gap %g\n", anywhere);
  assert_true(anywhere > 1e-13 && anywhere < 4e-8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(abm_with_k_differences_has_order_k_plus_1_on_a_nonlinear_ode),
      cmocka_unit_test(abm_with_k_differences_has_order_k_plus_1_on_the_pendulum_dae),
      cmocka_unit_test(error_follows_the_tolerance),
      cmocka_unit_test(frequent_stops_lose_no_order),
      cmocka_unit_test(dense_output_is_as_accurate_as_the_steps),
      cmocka_unit_test(max_order_is_checked_and_kept),
      cmocka_unit_test(abm_spares_projections_between_stops_at_no_cost_in_accuracy),
      cmocka_unit_test(abm_holds_joints_at_stops_and_to_less_than_the_error_of_a_step_between),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
