/* lin-implicit-euler: order 1, stiff at large steps, constraints by projection, repetition to the bit. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "check.h"
#include "integrate/integrator.h"
#include "integrate/toy_equations.h"

typedef struct run {
  yoke_equations         equations;
  yoke_integrator       *integrator;
  yoke_integrator_state *state;
  void                  *scratch;
  yoke_context          *ctx;
} run;

static void run_open(run *r, const char *method, const yoke_integrator_options *options, const double *q,
                     const double *v, const yoke_signal *u) {
  assert_int_equal(yoke_context_create(&r->ctx), YOKE_OK);
  assert_int_equal(yoke_integrator_create(r->ctx, method, &r->equations, options, &r->integrator), YOKE_OK);
  assert_int_equal(yoke_integrator_state_create(r->integrator, &r->state), YOKE_OK);
  assert_int_equal(yoke_integrator_scratch_create(r->integrator, &r->scratch), YOKE_OK);
  assert_int_equal(yoke_integrator_start(r->integrator, r->scratch, r->state, 0, q, v, u, r->ctx), YOKE_OK);
}

static void run_to(run *r, double t, const yoke_signal *u) {
  assert_int_equal(yoke_integrator_advance(r->integrator, r->scratch, r->state, u, t, r->ctx), YOKE_OK);
  assert_true(r->state->t == t);
}

static void run_close(run *r) {
  yoke_integrator_state_destroy(&r->state);
  yoke_integrator_scratch_destroy(&r->scratch);
  yoke_integrator_destroy(&r->integrator);
  yoke_context_destroy(&r->ctx);
}

/* q, v of the Duffing oscillator at t = 2 from (1, 0). */
static void duffing(const char *method, const yoke_integrator_options *options, double *q, double *v) {
  run          r;
  const double q0 = 1, v0 = 0;
  toy_duffing_plain(&r.equations);
  run_open(&r, method, options, &q0, &v0, &yoke_signal_none);
  run_to(&r, 2, &yoke_signal_none);
  *q = yoke_integrator_q(r.integrator, r.state)[0];
  *v = yoke_integrator_v(r.integrator, r.state)[0];
  run_close(&r);
}

static void order_is_1_on_a_nonlinear_equation(void **unused) {
  (void)unused;
  yoke_integrator_options o = yoke_integrator_options_default();
  double                  q_exact, v_exact, q, v, error_q[3], error_v[3];
  o.rtol = 1e-12, o.atol = 1e-13;
  duffing("radau5", &o, &q_exact, &v_exact);
  for (int k = 0; k < 3; ++k) {
    o.fixed_step = 2.0 / (400 << k);
    duffing("lin-implicit-euler", &o, &q, &v);
    error_q[k] = fabs(q - q_exact), error_v[k] = fabs(v - v_exact);
  }
  CHECK_ORDER(error_q, 3, 1.0, 0.1);
  CHECK_ORDER(error_v, 3, 1.0, 0.1);
}

static void check_pendulum_order(yoke_dae_form form) {
  yoke_integrator_options o = yoke_integrator_options_default();
  double                  error_q[3], error_v[3], q[2], v[2], g, gd;
  o.form = form;
  for (int k = 0; k < 3; ++k) {
    run r;
    o.fixed_step = 0.3 / (100 << k);
    toy_pendulum(&r.equations);
    toy_pendulum_state(acos(0.0), 0, q, v);
    run_open(&r, "lin-implicit-euler", &o, q, v, &yoke_signal_none);
    run_to(&r, 0.3, &yoke_signal_none);
    const double *q_end = yoke_integrator_q(r.integrator, r.state), *v_end = yoke_integrator_v(r.integrator, r.state);
    toy_pendulum_reference(0.3, q, v);
    error_q[k] = hypot(q[0] - q_end[0], q[1] - q_end[1]);
    error_v[k] = hypot(v[0] - v_end[0], v[1] - v_end[1]);
    toy_constraint(r.equations.self, NULL, 0.3, q_end, v_end, &g, &gd);
    CHECK_BELOW(fmax(fabs(g), fabs(gd)), 1e-14);
    run_close(&r);
  }
  CHECK_ORDER(error_q, 3, 1.0, 0.15);
  CHECK_ORDER(error_v, 3, 1.0, 0.15);
}

static void order_is_1_on_the_pendulum_and_constraints_hold_in_stabilised_index_2(void **unused) {
  (void)unused;
  check_pendulum_order(YOKE_DAE_GGL);
}

static void order_is_1_on_the_pendulum_and_constraints_hold_in_index_1(void **unused) {
  (void)unused;
  check_pendulum_order(YOKE_DAE_INDEX1);
}

static void tolerance_controls_the_error(void **unused) {
  (void)unused;
  yoke_integrator_options o = yoke_integrator_options_default();
  double                  q_exact, v_exact, q, v;
  o.rtol = 1e-12, o.atol = 1e-13;
  duffing("radau5", &o, &q_exact, &v_exact);
  for (int k = 4; k <= 6; ++k) { /* global error of a first-order method: square root of the tolerance */
    o.rtol = o.atol = pow(10, -k);
    duffing("lin-implicit-euler", &o, &q, &v);
    CHECK_NEAR(q, q_exact, 2 * sqrt(o.rtol));
    CHECK_NEAR(v, v_exact, 2 * sqrt(o.rtol));
  }
}

/* Slow curve of the stiff Van der Pol equation: v = -q / (q^2 - 1) to O(eps). Step 1e3 times the fast time scale. */
static void stiff_equation_is_stable_at_large_fixed_steps(void **unused) {
  (void)unused;
  yoke_integrator_options o  = yoke_integrator_options_default();
  const double            q0 = 2, v0 = -0.66;
  run                     r;
  o.fixed_step = 1e-3;
  toy_vanderpol(&r.equations);
  run_open(&r, "lin-implicit-euler", &o, &q0, &v0, &yoke_signal_none);
  run_to(&r, 0.5, &yoke_signal_none);
  const double q = yoke_integrator_q(r.integrator, r.state)[0], v = yoke_integrator_v(r.integrator, r.state)[0];
  CHECK_NEAR(v, -q / (q * q - 1), 5e-3);
  assert_int_equal(r.state->counters.steps, 500);
  run_close(&r);
}

static void restored_state_repeats_to_the_bit(void **unused) {
  (void)unused;
  yoke_integrator_options o = yoke_integrator_options_default();
  run                     r;
  double                  q[2], v[2];
  o.rtol = o.atol = 1e-4;
  toy_pendulum(&r.equations);
  toy_pendulum_state(1.0, 0.5, q, v);
  run_open(&r, "lin-implicit-euler", &o, q, v, &yoke_signal_none);
  run_to(&r, 0.1, &yoke_signal_none);
  yoke_integrator_state *saved = NULL, *other = NULL;
  assert_int_equal(yoke_integrator_state_create(r.integrator, &saved), YOKE_OK);
  assert_int_equal(yoke_integrator_state_create(r.integrator, &other), YOKE_OK);
  yoke_integrator_copy(r.integrator, saved, r.state);
  run_to(&r, 0.4, &yoke_signal_none);
  yoke_integrator_copy(r.integrator, other, r.state);
  yoke_integrator_copy(r.integrator, r.state, saved);
  run_to(&r, 0.4, &yoke_signal_none);
  yoke_factor_release(&r.state->factor[0]);
  yoke_factor_release(&other->factor[0]);
  assert_memory_equal(r.state, other, r.integrator->state_size);
  yoke_integrator_state_destroy(&saved);
  yoke_integrator_state_destroy(&other);
  run_close(&r);
}

static void dense_output_meets_both_ends_and_lies_near_the_solution(void **unused) {
  (void)unused;
  yoke_integrator_options o = yoke_integrator_options_default();
  run                     r;
  double                  q[2], v[2], q_exact[2], v_exact[2], q_before[2];
  o.fixed_step = 1e-3;
  toy_nonlinear(&r.equations);
  toy_nonlinear_exact(0, q, v);
  memcpy(q_before, q, sizeof q);
  run_open(&r, "lin-implicit-euler", &o, q, v, &yoke_signal_none);
  assert_int_equal(yoke_integrator_step(r.integrator, r.scratch, r.state, &yoke_signal_none, 1, r.ctx), YOKE_OK);
  yoke_integrator_interpolate(r.integrator, r.state, r.state->t_prev, q, v);
  assert_memory_equal(q, q_before, sizeof q);
  yoke_integrator_interpolate(r.integrator, r.state, 0.5e-3, q, v);
  toy_nonlinear_exact(0.5e-3, q_exact, v_exact);
  for (int i = 0; i < 2; ++i) {
    CHECK_NEAR(q[i], q_exact[i], 1e-5);
    CHECK_NEAR(v[i], v_exact[i], 1e-4);
  }
  run_close(&r);
}

static void input_force_of_the_new_point_is_used(void **unused) {
  (void)unused;
  const double            t[] = {0, 1}, c[] = {0, 2}; /* u = 2 t */
  const yoke_signal       u = {.n = 1, .n_pieces = 1, .degree = 1, .t = t, .c = c};
  yoke_integrator_options o = yoke_integrator_options_default();
  const double            q = 0, v = 0;
  run                     r;
  o.fixed_step = 0.25;
  toy_push(&r.equations);
  run_open(&r, "lin-implicit-euler", &o, &q, &v, &u);
  run_to(&r, 1, &u);
  /* v_n = h sum u(t_k), k = 1 ... n */
  CHECK_NEAR(yoke_integrator_v(r.integrator, r.state)[0], 0.25 * 2 * (0.25 + 0.5 + 0.75 + 1), 1e-14);
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_is_1_on_a_nonlinear_equation),
      cmocka_unit_test(order_is_1_on_the_pendulum_and_constraints_hold_in_stabilised_index_2),
      cmocka_unit_test(order_is_1_on_the_pendulum_and_constraints_hold_in_index_1),
      cmocka_unit_test(tolerance_controls_the_error),
      cmocka_unit_test(stiff_equation_is_stable_at_large_fixed_steps),
      cmocka_unit_test(restored_state_repeats_to_the_bit),
      cmocka_unit_test(dense_output_meets_both_ends_and_lies_near_the_solution),
      cmocka_unit_test(input_force_of_the_new_point_is_used),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
