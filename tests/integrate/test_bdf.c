#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "integrate/toy_run.h"

/* ---- order --------------------------------------------------------------------------------------------------------- */

static yoke_integrator_options fixed(int order, int n) {
  yoke_integrator_options options = toy_options(1e-12);
  options.fixed_step              = 1.0 / n;
  options.max_order               = order;
  return options;
}

/* Steps per unit of time: coarse enough that the error of order 5 stays above rounding. */
static int steps_for(int order) {
  return order <= 2 ? 400 : 100;
}

static void bdf_has_order_k_on_a_nonlinear_ode(void **unused) {
  (void)unused;
  for (int k = 1; k <= 5; ++k) {
    const yoke_integrator_options coarse = fixed(k, steps_for(k)), fine = fixed(k, 2 * steps_for(k));
    const double measured = log2(toy_run_angle_error("bdf", &coarse) / toy_run_angle_error("bdf", &fine));
    assert_near(measured, k, 0.15);
  }
}

static void bdf_has_order_k_on_a_pendulum_with_constraint(void **unused) {
  (void)unused;
  for (int k = 1; k <= 5; ++k) {
    toy_error error[2];
    for (int i = 0; i < 2; ++i) {
      const yoke_integrator_options options = fixed(k, steps_for(k) << i);
      yoke_equations                equations;
      toy_run                       run = toy_run_pendulum("bdf", &equations, &options);
      toy_run_to(&run, 1, &yoke_signal_none);
      error[i] = toy_run_pendulum_error(&run);
      toy_run_close(&run);
    }
    assert_near(log2(error[0].state / error[1].state), k, 0.15);
    assert_near(log2(error[0].acceleration / error[1].acceleration), k, 0.25);
    assert_true(log2(error[0].reaction / error[1].reaction) > k - 0.4);
  }
}

static void the_last_fixed_step_may_be_shorter(void **unused) {
  (void)unused;
  yoke_equations          equations;
  yoke_integrator_options options = fixed(4, 1);
  options.fixed_step              = 0.0037;
  toy_run run                     = toy_run_pendulum("bdf", &equations, &options);
  toy_run_to(&run, 0.5, &yoke_signal_none);
  toy_run_to(&run, 1, &yoke_signal_none);
  assert_true(toy_run_pendulum_error(&run).state < 1e-5);
  toy_run_close(&run);
}

/* ---- error control ------------------------------------------------------------------------------------------------- */

static void error_follows_the_tolerance(void **unused) {
  (void)unused;
  for (int digits = 4; digits <= 11; ++digits) {
    const yoke_integrator_options options = toy_options(pow(10, -digits));
    yoke_equations                equations;
    toy_run                       run = toy_run_pendulum("bdf", &equations, &options);
    toy_run_to(&run, 1, &yoke_signal_none);
    assert_true(toy_run_pendulum_error(&run).state < 100 * options.rtol);
    assert_true(toy_run_kepler_error("bdf", &options) < 200 * options.rtol);
    toy_run_close(&run);
  }
}

static void joint_drift_stays_below_1e9_at_rtol_1e10(void **unused) {
  (void)unused;
  const yoke_integrator_options options = toy_options(1e-10);
  yoke_equations                equations;
  toy_run                       run = toy_run_pendulum("bdf", &equations, &options);
  assert_true(toy_run_drift(&run, 5) < 1e-9);
  toy_run_close(&run);
}

static void reactions_are_those_of_the_exact_motion(void **unused) {
  (void)unused;
  const yoke_integrator_options options = toy_options(1e-10);
  yoke_equations                equations;
  toy_run                       run = toy_run_pendulum("bdf", &equations, &options);
  for (int i = 1; i <= 8; ++i) {
    toy_run_to(&run, 0.25 * i, &yoke_signal_none);
    assert_true(toy_run_pendulum_error(&run).reaction < 1e-6);
    assert_true(toy_run_pendulum_error(&run).acceleration < 1e-6);
  }
  toy_run_close(&run);
}

static void index_1_with_projection_keeps_the_constraint(void **unused) {
  (void)unused;
  yoke_integrator_options options = toy_options(1e-9);
  options.form                    = YOKE_DAE_INDEX1;
  options.alpha = options.beta = 0;
  yoke_equations equations;
  toy_run        run = toy_run_pendulum("bdf", &equations, &options);
  assert_true(toy_run_drift(&run, 1) < 1e-14);
  assert_true(toy_run_pendulum_error(&run).state < 1e-7);
  toy_run_close(&run);
}

static void a_stiff_oscillator_takes_few_evaluations(void **unused) {
  (void)unused;
  const yoke_integrator_options options = toy_options(1e-6);
  yoke_equations                equations;
  const double                  q = 2, v = -0.66;
  toy_vanderpol(&equations);
  toy_run run = toy_run_open("bdf", &equations, &options, &q, &v, &yoke_signal_none);
  toy_run_to(&run, 2, &yoke_signal_none);
  assert_near(run.q[0], 1.7061674, 1e-4);
  assert_near(run.v[0], -0.8928100, 1e-4);
  assert_in_range(run.state->counters.evaluations, 1, 5000);
  assert_in_range(run.state->counters.factorings, 1, 400);
  toy_run_close(&run);
}

/* ---- made to be stopped and repeated ------------------------------------------------------------------------------- */

static void save_step_restore_step_gives_the_same_bits(void **unused) {
  (void)unused;
  const yoke_integrator_options variable = toy_options(1e-8), constant = fixed(3, 100);
  for (int i = 0; i < 2; ++i) {
    yoke_equations equations;
    toy_run        run = toy_run_pendulum("bdf", &equations, i == 0 ? &variable : &constant);
    for (int part = 0; part < 8; ++part) assert_true(toy_run_repeats(&run, 2, 23, &yoke_signal_none));
    toy_run_close(&run);
  }
}

static void stops_at_macro_points_cost_neither_order_nor_accuracy(void **unused) {
  (void)unused;
  const yoke_integrator_options options = toy_options(1e-8);
  yoke_equations                equations;
  toy_run                       free    = toy_run_pendulum("bdf", &equations, &options);
  toy_run                       stopped = toy_run_pendulum("bdf", &equations, &options);
  toy_run_to(&free, 1, &yoke_signal_none);
  int highest = 0;
  for (int i = 1; i <= 100; ++i) {
    toy_run_to(&stopped, i / 100.0, &yoke_signal_none);
    if (stopped.state->order > highest) highest = stopped.state->order;
  }
  assert_true(toy_run_pendulum_error(&stopped).state < 1e-6);
  assert_in_range(highest, 4, 5);
  assert_true(stopped.state->counters.steps < 2 * free.state->counters.steps);
  toy_run_close(&free);
  toy_run_close(&stopped);
}

static void a_very_short_stop_is_forgotten(void **unused) {
  (void)unused;
  const yoke_integrator_options options = toy_options(1e-8);
  yoke_equations                equations;
  toy_run                       run = toy_run_pendulum("bdf", &equations, &options);
  toy_run_to(&run, 0.5, &yoke_signal_none);
  const double h = run.state->h;
  toy_run_to(&run, 0.5 + 1e-4 * h, &yoke_signal_none);
  assert_true(run.state->h > 0.4 * h);
  toy_run_to(&run, 1, &yoke_signal_none);
  assert_true(toy_run_pendulum_error(&run).state < 1e-6);
  toy_run_close(&run);
}

static void dense_output_is_as_accurate_as_the_steps(void **unused) {
  (void)unused;
  const yoke_integrator_options options = toy_options(1e-8);
  yoke_equations                equations;
  toy_run                       run = toy_run_pendulum("bdf", &equations, &options);
  toy_run_to(&run, 0.5, &yoke_signal_none);
  for (int i = 0; i < 5; ++i) {
    assert_int_equal(yoke_integrator_step(run.integrator, run.scratch, run.state, &yoke_signal_none, 2, run.ctx),
                     YOKE_OK);
    const double t = 0.3 * run.state->t_prev + 0.7 * run.state->t;
    double       q[2], v[2], q_exact[2], v_exact[2];
    yoke_integrator_interpolate(run.integrator, run.state, t, q, v);
    toy_pendulum_reference(t, q_exact, v_exact);
    for (int j = 0; j < 2; ++j) {
      assert_near(q[j], q_exact[j], 1e-6);
      assert_near(v[j], v_exact[j], 1e-6);
    }
  }
  toy_run_close(&run);
}

/* ---- disturbances -------------------------------------------------------------------------------------------------- */

/* q'' = 1 until t = 0.5, then -3: q(1) = 1/8 + 1/4 - 3/8, v(1) = 1/2 - 3/2. */
static void a_jump_of_the_input_is_passed_without_error(void **unused) {
  (void)unused;
  const double            t[] = {0, 0.5, 1}, c[] = {1, -3}, zero = 0;
  const yoke_signal       u       = {.n = 1, .n_pieces = 2, .degree = 0, .t = t, .c = c};
  yoke_integrator_options options = toy_options(1e-9);
  yoke_equations          equations;
  toy_push(&equations);
  toy_run run = toy_run_open("bdf", &equations, &options, &zero, &zero, &u);
  toy_run_to(&run, 1, &u);
  assert_near(run.q[0], 0, 1e-7);
  assert_near(run.v[0], -1, 1e-7);
  toy_run_close(&run);
}

static void a_jump_below_the_tolerance_keeps_the_order(void **unused) {
  (void)unused;
  const double            t[] = {0, 0.5, 1}, c[] = {1, 0, 1 + 1e-9, 0}, zero[2] = {0};
  const yoke_signal       u       = {.n = 1, .n_pieces = 2, .degree = 1, .t = t, .c = c};
  yoke_integrator_options options = toy_options(1e-6);
  yoke_equations          equations;
  toy_linear(&equations);
  toy_run run = toy_run_open("bdf", &equations, &options, zero, zero, &u);
  toy_run_to(&run, 0.5, &u);
  const int order = run.state->order;
  assert_int_equal(yoke_integrator_step(run.integrator, run.scratch, run.state, &u, 1, run.ctx), YOKE_OK);
  assert_in_range(run.state->order, order - 1, order + 1);
  assert_in_range(order, 3, 5);
  toy_run_close(&run);
}

static void a_reset_state_is_a_new_start(void **unused) {
  (void)unused;
  const yoke_integrator_options options = toy_options(1e-9);
  yoke_equations                equations;
  double                        q[2], v[2];
  toy_run                       run = toy_run_pendulum("bdf", &equations, &options);
  toy_run_to(&run, 0.7, &yoke_signal_none);
  toy_pendulum_reference(0.2, q, v); /* back to where it was at 0.2 */
  assert_int_equal(yoke_integrator_reset(run.integrator, run.scratch, run.state, q, v, &yoke_signal_none, run.ctx),
                   YOKE_OK);
  toy_run_to(&run, 1.5, &yoke_signal_none);
  toy_pendulum_reference(1.0, q, v);
  for (int i = 0; i < 2; ++i) {
    assert_near(run.q[i], q[i], 1e-7);
    assert_near(run.v[i], v[i], 1e-7);
  }
  toy_run_close(&run);
}

/* ---- trouble ------------------------------------------------------------------------------------------------------- */

/* q'' = -1 / sqrt(q): cannot be continued beyond q = 0. */
static void wall_force(const toy_problem *p, double t, const double *q, const double *v, const double *u, double *f,
                       double *df_dq, double *df_dv) {
  (void)p, (void)t, (void)v, (void)u;
  f[0] = -1 / sqrt(q[0]);
  if (df_dq != NULL) df_dq[0] = 0.5 / (q[0] * sqrt(q[0])), df_dv[0] = 0;
}

static void values_that_are_not_finite_end_in_a_message(void **unused) {
  (void)unused;
  const toy_problem             problem = {.n = 1, .force = wall_force};
  const yoke_integrator_options options = toy_options(1e-6);
  const double                  one = 1, zero = 0;
  yoke_equations                equations;
  toy_fill(&equations, &toy_plain_ops, &problem);
  toy_run run = toy_run_open("bdf", &equations, &options, &one, &zero, &yoke_signal_none);
  assert_int_equal(yoke_integrator_advance(run.integrator, run.scratch, run.state, &yoke_signal_none, 10, run.ctx),
                   YOKE_E_STEP_TOO_SMALL);
  assert_true(yoke_context_n_errors(run.ctx) > 0);
  assert_true(isfinite(run.q[0]) && isfinite(run.v[0]));
  toy_run_close(&run);
}

/* The pendulum with its constraint written twice: lambda is not unique, the motion is. */
static yoke_status twice_dae_create(const void *self, yoke_context *ctx, yoke_dae_form form, yoke_dae **out) {
  toy_problem wide = *(const toy_problem *)self;
  wide.ng          = 2;
  YOKE_TRY(toy_dae_create(&wide, ctx, form, out)); /* x = (q, v, lambda_1, lambda_2, mu_1, mu_2) */
  for (int i = 4; i < 8; ++i) (*out)->R[i * 8 + i] = -1;
  return YOKE_OK;
}

static yoke_status twice_dae_rhs(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                 const double *u, double *F) {
  (void)self, (void)dae, (void)work, (void)t, (void)u;
  for (int i = 0; i < 2; ++i) {
    F[i]     = x[2 + i] + x[i] * (x[6] + x[7]);
    F[2 + i] = (i == 1 ? -TOY_GRAVITY : 0) + x[i] * (x[4] + x[5]);
    F[4 + i] = toy_dot(2, x, x + 2);
    F[6 + i] = (toy_dot(2, x, x) - 1) / 2;
  }
  return toy_finite(8, F);
}

static yoke_status twice_dae_jacobian(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                      const double *u, double *J) {
  (void)self, (void)dae, (void)work, (void)t, (void)u;
  memset(J, 0, 64 * sizeof *J);
  for (int i = 0; i < 2; ++i) {
    J[i * 8 + i]       = x[6] + x[7];
    J[(2 + i) * 8 + i] = 1;
    J[i * 8 + 2 + i]   = x[4] + x[5];
    for (int j = 0; j < 2; ++j) {
      J[(6 + j) * 8 + i]     = x[i];
      J[(4 + j) * 8 + 2 + i] = x[i];
      J[i * 8 + 4 + j]       = x[2 + i];
      J[(2 + i) * 8 + 4 + j] = x[i];
      J[i * 8 + 6 + j]       = x[i];
    }
  }
  return YOKE_OK;
}

static yoke_status twice_derivative(const void *self, void *work, double t, const double *q, const double *v,
                                    const double *u, double *qdot, double *a, double *lambda) {
  double            sum;
  const yoke_status status = toy_derivative(self, work, t, q, v, u, qdot, a, &sum);
  if (lambda != NULL) lambda[0] = lambda[1] = sum / 2;
  return status;
}

static void redundant_constraints_do_not_disturb_the_motion(void **unused) {
  (void)unused;
  const yoke_equations_ops      ops     = {.kind             = "toy redundant",
                                           .derivative       = twice_derivative,
                                           .project_position = toy_project_position,
                                           .project_velocity = toy_project_velocity,
                                           .dae_create       = twice_dae_create,
                                           .dae_rhs          = twice_dae_rhs,
                                           .dae_jacobian     = twice_dae_jacobian};
  const yoke_integrator_options options = toy_options(1e-8);
  yoke_equations                equations;
  double                        q[2], v[2];
  toy_pendulum(&equations);
  equations.ops = &ops;
  equations.ng  = 2;
  toy_pendulum_state(acos(0.0), 0, q, v);
  toy_run run = toy_run_open("bdf", &equations, &options, q, v, &yoke_signal_none);
  toy_run_to(&run, 1, &yoke_signal_none);
  toy_pendulum_reference(1, q, v);
  for (int i = 0; i < 2; ++i) {
    assert_near(run.q[i], q[i], 1e-6);
    assert_near(run.v[i], v[i], 1e-6);
  }
  assert_in_range(run.state->counters.steps, 1, 600);
  toy_run_close(&run);
}

/* A mass on two crossing lines, g = (d . q) (n . q) with d = (0.8, 0.6), n = (-0.6, 0.8), under the force -9 q:
 * it swings like cos(3 t) d through the crossing, where G vanishes. */
static const double crossing_d[2] = {0.8, 0.6}, crossing_n[2] = {-0.6, 0.8};

static double crossing_gradient(const double *q, double *G) {
  const double along = toy_dot(2, crossing_d, q), across = toy_dot(2, crossing_n, q);
  for (int i = 0; i < 2; ++i) G[i] = crossing_d[i] * across + crossing_n[i] * along;
  return along * across;
}

/* d(G)/dq in the direction w: H w, H = d n^T + n d^T */
static void crossing_turn(const double *w, double *H_w) {
  crossing_gradient(w, H_w);
}

static yoke_status crossing_derivative(const void *self, void *work, double t, const double *q, const double *v,
                                       const double *u, double *qdot, double *a, double *lambda) {
  double G[2], G_v[2];
  (void)self, (void)work, (void)t, (void)u;
  crossing_gradient(q, G);
  crossing_turn(v, G_v);
  for (int i = 0; i < 2; ++i) a[i] = -9 * q[i];
  const double square = toy_dot(2, G, G), l = square > 1e-11 ? -(toy_dot(2, G, a) + toy_dot(2, G_v, v)) / square : 0;
  for (int i = 0; i < 2; ++i) a[i] += G[i] * l;
  if (lambda != NULL) lambda[0] = l;
  if (qdot != NULL) memcpy(qdot, v, 2 * sizeof *v);
  return toy_finite(2, a);
}

static yoke_status crossing_project_position(const void *self, void *work, double t, double *q) {
  double G[2];
  (void)self, (void)work, (void)t;
  for (int i = 0; i < 3; ++i) {
    const double g = crossing_gradient(q, G), square = toy_dot(2, G, G);
    for (int j = 0; j < 2 && square > 1e-11; ++j) q[j] -= G[j] * g / square;
  }
  return YOKE_OK;
}

static yoke_status crossing_project_velocity(const void *self, void *work, double t, const double *q, double *v) {
  double G[2];
  (void)self, (void)work, (void)t;
  crossing_gradient(q, G);
  const double square = toy_dot(2, G, G), s = square > 1e-11 ? toy_dot(2, G, v) / square : 0;
  for (int j = 0; j < 2; ++j) v[j] -= G[j] * s;
  return YOKE_OK;
}

static yoke_status crossing_dae_create(const void *self, yoke_context *ctx, yoke_dae_form form, yoke_dae **out) {
  YOKE_TRY(toy_dae_create(self, ctx, form, out)); /* x = (q, v, lambda, mu) */
  for (int i = 4; i < 6; ++i) (*out)->R[i * 6 + i] = -1;
  return YOKE_OK;
}

static yoke_status crossing_dae_rhs(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                    const double *u, double *F) {
  double G[2];
  (void)self, (void)dae, (void)work, (void)t, (void)u;
  F[5] = crossing_gradient(x, G);
  F[4] = toy_dot(2, G, x + 2);
  for (int i = 0; i < 2; ++i) {
    F[i]     = x[2 + i] + G[i] * x[5];
    F[2 + i] = -9 * x[i] + G[i] * x[4];
  }
  return toy_finite(6, F);
}

static yoke_status crossing_dae_jacobian(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                         const double *u, double *J) {
  double G[2], G_v[2];
  (void)self, (void)dae, (void)work, (void)t, (void)u;
  memset(J, 0, 36 * sizeof *J);
  crossing_gradient(x, G);
  crossing_turn(x + 2, G_v);
  for (int i = 0; i < 2; ++i) {
    J[(2 + i) * 6 + i] = 1;
    J[i * 6 + 2 + i]   = -9;
    for (int j = 0; j < 2; ++j) {
      const double H = crossing_d[i] * crossing_n[j] + crossing_n[i] * crossing_d[j];
      J[j * 6 + i] += H * x[5];
      J[j * 6 + 2 + i] += H * x[4];
    }
    J[5 * 6 + i]       = G[i];
    J[4 * 6 + 2 + i]   = G[i];
    J[i * 6 + 4]       = G_v[i];
    J[(2 + i) * 6 + 4] = G[i];
    J[i * 6 + 5]       = G[i];
  }
  return YOKE_OK;
}

static void a_singular_position_is_passed(void **unused) {
  (void)unused;
  const yoke_equations_ops ops     = {.kind             = "toy crossing",
                                      .derivative       = crossing_derivative,
                                      .project_position = crossing_project_position,
                                      .project_velocity = crossing_project_velocity,
                                      .dae_create       = crossing_dae_create,
                                      .dae_rhs          = crossing_dae_rhs,
                                      .dae_jacobian     = crossing_dae_jacobian};
  const double             zero[2] = {0};
  for (int digits = 6; digits <= 10; digits += 2) {
    const yoke_integrator_options options = toy_options(pow(10, -digits));
    yoke_equations                equations;
    toy_pendulum(&equations);
    equations.ops = &ops;
    toy_run run   = toy_run_open("bdf", &equations, &options, crossing_d, zero, &yoke_signal_none);
    toy_run_to(&run, 2, &yoke_signal_none);
    for (int i = 0; i < 2; ++i) {
      assert_near(run.q[i], cos(6) * crossing_d[i], 1e4 * options.rtol);
      assert_near(run.v[i], -3 * sin(6) * crossing_d[i], 1e4 * options.rtol);
    }
    toy_run_close(&run);
  }
}

/* The pendulum with an implicit view that is useless for a while, as at a singular position: between 0.4 and 0.45 s its velocity
 * constraint is noisy and no step passes the error test, however short. */
static yoke_status noisy_dae_rhs(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                 const double *u, double *F) {
  const yoke_status status = toy_dae_rhs(self, dae, work, t, x, u, F);
  if (t > 0.4 && t < 0.45) F[dae->i_lambda] += 1e-3 * sin(1e13 * t);
  return status;
}

static void a_span_without_implicit_steps_is_bridged_and_repeats_to_the_bit(void **unused) {
  (void)unused;
  const yoke_integrator_options options = toy_options(1e-8);
  yoke_equations_ops            ops     = toy_constrained_ops;
  yoke_equations                equations;
  double                        q[2], v[2];
  ops.dae_rhs = noisy_dae_rhs;
  toy_pendulum(&equations);
  equations.ops = &ops;
  toy_pendulum_state(acos(0.0), 0, q, v);
  toy_run run = toy_run_open("bdf", &equations, &options, q, v, &yoke_signal_none);
  while (run.state->t < 1) {
    assert_true(toy_run_repeats(&run, 1, 7, &yoke_signal_none));
    const double t = (run.state->t_prev + run.state->t) / 2;
    double       q_exact[2], v_exact[2];
    yoke_integrator_interpolate(run.integrator, run.state, t, q, v);
    toy_pendulum_reference(t, q_exact, v_exact);
    for (int i = 0; i < 2; ++i) assert_near(q[i], q_exact[i], 1e-6);
  }
  assert_true(toy_run_pendulum_error(&run).state < 1e-6);
  toy_run_close(&run);
}

static void an_order_above_5_is_refused(void **unused) {
  (void)unused;
  yoke_integrator_options options = toy_options(1e-8);
  yoke_equations          equations;
  yoke_context           *ctx;
  yoke_integrator        *integrator = NULL;
  toy_pendulum(&equations);
  options.max_order = 6;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_integrator_create(ctx, "bdf", &equations, &options, &integrator), YOKE_E_USAGE);
  assert_null(integrator);
  assert_int_equal(yoke_context_n_errors(ctx), 1);
  yoke_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bdf_has_order_k_on_a_nonlinear_ode),
      cmocka_unit_test(bdf_has_order_k_on_a_pendulum_with_constraint),
      cmocka_unit_test(the_last_fixed_step_may_be_shorter),
      cmocka_unit_test(error_follows_the_tolerance),
      cmocka_unit_test(joint_drift_stays_below_1e9_at_rtol_1e10),
      cmocka_unit_test(reactions_are_those_of_the_exact_motion),
      cmocka_unit_test(index_1_with_projection_keeps_the_constraint),
      cmocka_unit_test(a_stiff_oscillator_takes_few_evaluations),
      cmocka_unit_test(save_step_restore_step_gives_the_same_bits),
      cmocka_unit_test(stops_at_macro_points_cost_neither_order_nor_accuracy),
      cmocka_unit_test(a_very_short_stop_is_forgotten),
      cmocka_unit_test(dense_output_is_as_accurate_as_the_steps),
      cmocka_unit_test(a_jump_of_the_input_is_passed_without_error),
      cmocka_unit_test(a_jump_below_the_tolerance_keeps_the_order),
      cmocka_unit_test(a_reset_state_is_a_new_start),
      cmocka_unit_test(values_that_are_not_finite_end_in_a_message),
      cmocka_unit_test(redundant_constraints_do_not_disturb_the_motion),
      cmocka_unit_test(a_singular_position_is_passed),
      cmocka_unit_test(a_span_without_implicit_steps_is_bridged_and_repeats_to_the_bit),
      cmocka_unit_test(an_order_above_5_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
