/* Linear systems by the matrix exponential. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "integrate_helpers.h"

static const double start_q[2] = {0.1, -0.2}, start_v[2] = {0.3, 0.05};

/* u = 1 - 2 s + 3 s^2 + 0.5 s^3 up to t = 0.7, then 4 - s (jump) */
static const double      times[3]  = {0, 0.7, 2};
static const double      coeffs[8] = {1, -2, 3, 0.5, 4, -1, 0, 0};
static const yoke_signal input     = {.n = 1, .n_pieces = 2, .degree = 3, .t = times, .c = coeffs};

static void run_reference(double t, double *q, double *v) {
  const yoke_integrator_options o = toy_options(1e-13);
  toy_run                       run;
  assert_int_equal(toy_run_begin(&run, toy_linear, "dop853", &o, start_q, start_v, &input), YOKE_OK);
  assert_int_equal(toy_run_to(&run, &input, t), YOKE_OK);
  memcpy(q, toy_run_q(&run), 2 * sizeof *q);
  memcpy(v, toy_run_v(&run), 2 * sizeof *v);
  toy_run_end(&run);
}

static void polynomial_inputs_with_a_jump_are_integrated_exactly(void **s) {
  (void)s;
  const yoke_integrator_options o = toy_options(1e-3); /* plays no part */
  toy_run                       run;
  double                        q[2], v[2];
  run_reference(1.9, q, v);
  assert_int_equal(toy_run_begin(&run, toy_linear, "exact", &o, start_q, start_v, &input), YOKE_OK);
  assert_int_equal(toy_run_to(&run, &input, 1.9), YOKE_OK);
  assert_int_equal(run.state->counters.steps, 2);
  assert_true(toy_run_error(&run, q, v) < 2e-12);
  toy_run_end(&run);
}

static void interpolation_is_exact_within_a_long_step(void **s) {
  (void)s;
  const yoke_integrator_options o = toy_options(1e-3);
  toy_run                       run;
  double                        q[2], v[2], q_exact[2], v_exact[2];
  assert_int_equal(toy_run_begin(&run, toy_linear, "exact", &o, start_q, start_v, &input), YOKE_OK);
  assert_int_equal(toy_run_to(&run, &input, 1.9), YOKE_OK);
  run_reference(1.1, q_exact, v_exact);
  yoke_integrator_interpolate(run.integrator, run.state, 1.1, q, v);
  for (int i = 0; i < 2; ++i) assert_true(fabs(q[i] - q_exact[i]) + fabs(v[i] - v_exact[i]) < 2e-12);
  toy_run_end(&run);
}

/* Macro steps of equal length up to rounding use one exponential. */
static void steps_of_equal_length_share_one_exponential(void **s) {
  (void)s;
  const yoke_integrator_options o = toy_options(1e-3);
  toy_run                       run;
  double                        q[2], v[2];
  run_reference(1.9, q, v);
  assert_int_equal(toy_run_begin(&run, toy_linear, "exact", &o, start_q, start_v, &input), YOKE_OK);
  for (int i = 1; i <= 19; ++i) assert_int_equal(toy_run_to(&run, &input, i == 7 ? 0.7 : i * 0.1), YOKE_OK);
  assert_int_equal(run.state->counters.factorings, 1);
  assert_true(toy_run_error(&run, q, v) < 2e-12);
  toy_run_end(&run);
}

static void a_fixed_step_divides_the_way(void **s) {
  (void)s;
  yoke_integrator_options o = toy_options(1e-3);
  toy_run                 run;
  double                  q[2], v[2];
  o.fixed_step = 0.1;
  run_reference(0.65, q, v);
  assert_int_equal(toy_run_begin(&run, toy_linear, "exact", &o, start_q, start_v, &input), YOKE_OK);
  assert_int_equal(toy_run_to(&run, &input, 0.65), YOKE_OK);
  assert_int_equal(run.state->counters.steps, 7);
  assert_true(toy_run_error(&run, q, v) < 2e-12);
  toy_run_end(&run);
}

/* Stiff: a spring of 1e10 N/m beside slow motion; scaling and squaring must not overflow or lose the slow part. */
static void toy_stiff_force(const toy_problem *p, double t, const double *q, const double *v, const double *u,
                            double *f, double *df_dq, double *df_dv) {
  (void)p, (void)t, (void)u, (void)df_dq, (void)df_dv;
  f[0] = -q[0];
  f[1] = -1e10 * q[1] - 1e4 * v[1];
}

static yoke_status toy_stiff_linear(const void *self, void *work, double *A, double *B, double *b) {
  (void)self, (void)work, (void)B;
  memset(A, 0, 16 * sizeof *A);
  memset(b, 0, 4 * sizeof *b);
  A[2] = A[7] = 1;
  A[8]        = -1;
  A[13]       = -1e10;
  A[15]       = -1e4;
  return YOKE_OK;
}

static void make_stiff(yoke_equations *e) {
  static const yoke_equations_ops ops     = {.kind = "stiff", .derivative = toy_derivative, .linear = toy_stiff_linear};
  static const toy_problem        problem = {.n = 2, .force = toy_stiff_force};
  toy_fill(e, &ops, &problem);
}

static void stiff_linear_systems_keep_their_slow_part(void **s) {
  (void)s;
  const yoke_integrator_options o    = toy_options(1e-3);
  const double                  q[2] = {1, 0}, v[2] = {0, 0};
  toy_run                       run;
  assert_int_equal(toy_run_begin(&run, make_stiff, "exact", &o, q, v, &yoke_signal_none), YOKE_OK);
  assert_int_equal(toy_run_to(&run, &yoke_signal_none, 1), YOKE_OK);
  assert_true(fabs(toy_run_q(&run)[0] - cos(1)) < 1e-8 && fabs(toy_run_v(&run)[0] + sin(1)) < 1e-8);
  toy_run_end(&run);
}

static void nonlinear_models_are_refused(void **s) {
  (void)s;
  yoke_equations   equations;
  yoke_integrator *integrator = NULL;
  toy_nonlinear(&equations);
  assert_int_equal(yoke_integrator_create(NULL, "exact", &equations, NULL, &integrator), YOKE_E_UNSUPPORTED);
  toy_pendulum(&equations);
  assert_int_equal(yoke_integrator_create(NULL, "exact", &equations, NULL, &integrator), YOKE_E_UNSUPPORTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polynomial_inputs_with_a_jump_are_integrated_exactly),
      cmocka_unit_test(interpolation_is_exact_within_a_long_step),
      cmocka_unit_test(steps_of_equal_length_share_one_exponential),
      cmocka_unit_test(a_fixed_step_divides_the_way),
      cmocka_unit_test(stiff_linear_systems_keep_their_slow_part),
      cmocka_unit_test(nonlinear_models_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
