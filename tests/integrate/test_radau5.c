/* radau5: order, constraints, stiffness, repetition to the bit, dense output. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "check.h"
#include "integrate/hop.h"
#include "integrate/integrator.h"
#include "integrate/toy_equations.h"
#include "base/memory.h"

/* An integrator with one state. */
typedef struct run {
  yoke_equations         equations;
  yoke_integrator       *integrator;
  yoke_integrator_state *state;
  void                  *scratch;
  yoke_context          *ctx;
} run;

static void run_open(run *r, const yoke_integrator_options *options) {
  assert_int_equal(yoke_context_create(&r->ctx), YOKE_OK);
  assert_int_equal(yoke_integrator_create(r->ctx, "radau5", &r->equations, options, &r->integrator), YOKE_OK);
  assert_int_equal(yoke_integrator_state_create(r->integrator, &r->state), YOKE_OK);
  assert_int_equal(yoke_integrator_scratch_create(r->integrator, &r->scratch), YOKE_OK);
}

static void run_start(run *r, const double *q, const double *v) {
  assert_int_equal(yoke_integrator_start(r->integrator, r->scratch, r->state, 0, q, v, &yoke_signal_none, r->ctx),
                   YOKE_OK);
}

static void run_to(run *r, double t) {
  assert_int_equal(yoke_integrator_advance(r->integrator, r->scratch, r->state, &yoke_signal_none, t, r->ctx), YOKE_OK);
  assert_true(r->state->t == t);
}

static void run_close(run *r) {
  yoke_integrator_state_destroy(&r->state);
  yoke_integrator_scratch_destroy(&r->scratch);
  yoke_integrator_destroy(&r->integrator);
  yoke_context_destroy(&r->ctx);
}

static double largest_difference(int n, const double *a, const double *b) {
  double largest = 0;
  for (int i = 0; i < n; ++i) largest = fmax(largest, fabs(a[i] - b[i]));
  return largest;
}

/* Errors of q and v of Kepler's problem at t = 2. */
static void kepler_error(const yoke_integrator_options *options, double *error_q, double *error_v) {
  run    r;
  double q[2], v[2];
  toy_nonlinear(&r.equations);
  toy_nonlinear_exact(0, q, v);
  run_open(&r, options);
  run_start(&r, q, v);
  run_to(&r, 2);
  toy_nonlinear_exact(2, q, v);
  *error_q = largest_difference(2, q, yoke_integrator_q(r.integrator, r.state));
  *error_v = largest_difference(2, v, yoke_integrator_v(r.integrator, r.state));
  run_close(&r);
}

/* The same for the pendulum from 90 degrees; also the largest |g|, |g'| after a step and the error of lambda. */
typedef struct pendulum_result {
  double error_q, error_v, error_lambda, drift;
} pendulum_result;

static pendulum_result pendulum(const yoke_integrator_options *options, double t) {
  run             r;
  double          q[2], v[2], g, gd;
  pendulum_result result = {0};
  toy_pendulum(&r.equations);
  toy_pendulum_state(acos(0.0), 0, q, v);
  run_open(&r, options);
  run_start(&r, q, v);
  const double *q_now = yoke_integrator_q(r.integrator, r.state), *v_now = yoke_integrator_v(r.integrator, r.state);
  while (r.state->t < t) {
    assert_int_equal(yoke_integrator_step(r.integrator, r.scratch, r.state, &yoke_signal_none, t, r.ctx), YOKE_OK);
    toy_constraint(r.equations.self, NULL, r.state->t, q_now, v_now, &g, &gd);
    result.drift = fmax(result.drift, fmax(fabs(g), fabs(gd)));
  }
  toy_pendulum_reference(t, q, v);
  result.error_q = largest_difference(2, q, q_now);
  result.error_v = largest_difference(2, v, v_now);
  /* tension of the unit pendulum: lambda = -(v.v - g y) with y the height */
  const double lambda = -(toy_dot(2, v, v) - TOY_GRAVITY * q[1]);
  result.error_lambda = fabs(lambda - yoke_integrator_lambda(r.integrator, r.state)[0]);
  run_close(&r);
  return result;
}

/* ---- order ---- */

static void order_is_5_in_q_and_v_on_a_nonlinear_equation(void **unused) {
  (void)unused;
  yoke_integrator_options o = yoke_integrator_options_default();
  double                  error_q[3], error_v[3];
  for (int k = 0; k < 3; ++k) {
    o.fixed_step = 2.0 / (25 << k);
    kepler_error(&o, &error_q[k], &error_v[k]);
  }
  CHECK_ORDER(error_q, 3, 5.0, 0.3);
  CHECK_ORDER(error_v, 3, 5.0, 0.3);
}

static void order_is_5_in_q_and_v_on_the_pendulum_in_stabilised_index_2(void **unused) {
  (void)unused;
  yoke_integrator_options o = yoke_integrator_options_default();
  double                  error_q[3], error_v[3];
  for (int k = 0; k < 3; ++k) {
    o.fixed_step             = 1.0 / (30 << k);
    const pendulum_result at = pendulum(&o, 1);
    error_q[k] = at.error_q, error_v[k] = at.error_v;
  }
  CHECK_ORDER(error_q, 3, 5.0, 0.4);
  CHECK_ORDER(error_v, 3, 5.0, 0.4);
}

static void order_is_5_in_v_on_the_pendulum_in_index_1_with_projection(void **unused) {
  (void)unused;
  yoke_integrator_options o = yoke_integrator_options_default();
  o.form                    = YOKE_DAE_INDEX1;
  double error_v[3];
  for (int k = 0; k < 3; ++k) {
    o.fixed_step = 1.0 / (30 << k);
    error_v[k]   = pendulum(&o, 1).error_v;
  }
  CHECK_ORDER(error_v, 3, 5.0, 0.4);
}

/* Largest error inside the steps of Kepler's problem. */
static double dense_error(double h) {
  yoke_integrator_options o = yoke_integrator_options_default();
  run                     r;
  double                  q[2], v[2], q_exact[2], v_exact[2], largest = 0;
  o.fixed_step = h;
  toy_nonlinear(&r.equations);
  toy_nonlinear_exact(0, q, v);
  run_open(&r, &o);
  run_start(&r, q, v);
  while (r.state->t < 2) {
    assert_int_equal(yoke_integrator_step(r.integrator, r.scratch, r.state, &yoke_signal_none, 2, r.ctx), YOKE_OK);
    for (int k = 1; k < 8; ++k) {
      const double t = r.state->t_prev + (r.state->t - r.state->t_prev) * k / 8;
      yoke_integrator_interpolate(r.integrator, r.state, t, q, v);
      toy_nonlinear_exact(t, q_exact, v_exact);
      largest = fmax(largest, fmax(largest_difference(2, q, q_exact), largest_difference(2, v, v_exact)));
    }
  }
  run_close(&r);
  return largest;
}

static void dense_output_error_is_of_fifth_power_in_h(void **unused) {
  (void)unused;
  double error[3];
  for (int k = 0; k < 3; ++k) error[k] = dense_error(2.0 / (40 << k));
  CHECK_ORDER(error, 3, 5.0, 0.5);
}

/* ---- accuracy at a tolerance ---- */

static void error_follows_the_tolerance(void **unused) {
  (void)unused;
  for (int k = 4; k <= 12; k += 2) {
    yoke_integrator_options o = yoke_integrator_options_default();
    o.rtol                    = pow(10, -k);
    o.atol                    = 0.01 * o.rtol;
    double error_q, error_v;
    kepler_error(&o, &error_q, &error_v);
    CHECK_BELOW(error_q, 30 * o.rtol);
    CHECK_BELOW(error_v, 30 * o.rtol);
  }
}

static void constraints_hold_to_1e_9_at_rtol_1e_10(void **unused) {
  (void)unused;
  yoke_integrator_options o = yoke_integrator_options_default();
  o.rtol = 1e-10, o.atol = 1e-12;
  const pendulum_result ggl = pendulum(&o, 3);
  CHECK_BELOW(ggl.drift, 1e-9);
  CHECK_BELOW(ggl.error_q, 1e-9);
  CHECK_BELOW(ggl.error_lambda, 1e-7);
  o.form                       = YOKE_DAE_INDEX1;
  const pendulum_result index1 = pendulum(&o, 3);
  CHECK_BELOW(index1.drift, 1e-14);
  CHECK_BELOW(index1.error_q, 1e-7);
}

static void stiff_van_der_pol_takes_few_steps(void **unused) {
  (void)unused;
  yoke_integrator_options o = yoke_integrator_options_default();
  o.rtol = o.atol = 1e-6;
  run          r;
  const double q = 2, v = -0.66;
  toy_vanderpol(&r.equations);
  run_open(&r, &o);
  run_start(&r, &q, &v);
  run_to(&r, 2);
  assert_true(r.state->counters.steps < 700); /* explicit methods: about 1e6 */
  const double coarse = yoke_integrator_q(r.integrator, r.state)[0];
  run_close(&r);
  o.rtol = o.atol = 1e-9;
  run_open(&r, &o);
  run_start(&r, &q, &v);
  run_to(&r, 2);
  CHECK_NEAR(coarse, yoke_integrator_q(r.integrator, r.state)[0], 1e-5);
  run_close(&r);
}

static void linear_solvers_agree_to_rounding(void **unused) {
  (void)unused;
  double error_q[3], error_v[3];
  for (int kind = YOKE_LINEAR_KLU; kind <= YOKE_LINEAR_BANDED; ++kind) {
    yoke_integrator_options o = yoke_integrator_options_default();
    o.linear                  = (yoke_linear_kind)kind;
    kepler_error(&o, &error_q[kind], &error_v[kind]);
    CHECK_NEAR(error_q[kind], error_q[0], 1e-12);
    CHECK_NEAR(error_v[kind], error_v[0], 1e-12);
  }
}

/* ---- repetition ---- */

static void restored_state_repeats_to_the_bit(void **unused) {
  (void)unused;
  for (int form = YOKE_DAE_GGL; form <= YOKE_DAE_INDEX1; ++form) {
    yoke_integrator_options o = yoke_integrator_options_default();
    o.form                    = (yoke_dae_form)form;
    run    r;
    double q[2], v[2];
    toy_pendulum(&r.equations);
    toy_pendulum_state(1.0, 0.5, q, v);
    run_open(&r, &o);
    run_start(&r, q, v);
    run_to(&r, 0.1);
    yoke_integrator_state *saved = NULL, *other = NULL;
    assert_int_equal(yoke_integrator_state_create(r.integrator, &saved), YOKE_OK);
    assert_int_equal(yoke_integrator_state_create(r.integrator, &other), YOKE_OK);
    yoke_integrator_copy(r.integrator, saved, r.state);
    run_to(&r, 1.0);
    yoke_integrator_copy(r.integrator, other, r.state);
    yoke_integrator_copy(r.integrator, r.state, saved);
    run_to(&r, 1.0);
    /* all but the addresses of the factors */
    r.state->counters = other->counters;
    for (int i = 0; i < 2; ++i) {
      yoke_factor_release(&r.state->factor[i]);
      yoke_factor_release(&other->factor[i]);
    }
    assert_memory_equal(r.state, other, r.integrator->state_size);
    yoke_integrator_state_destroy(&saved);
    yoke_integrator_state_destroy(&other);
    run_close(&r);
  }
}

static void clipped_step_does_not_set_the_next_one(void **unused) {
  (void)unused;
  yoke_integrator_options o = yoke_integrator_options_default();
  run                     r;
  double                  q[2], v[2];
  toy_nonlinear(&r.equations);
  toy_nonlinear_exact(0, q, v);
  run_open(&r, &o);
  run_start(&r, q, v);
  run_to(&r, 1);
  const double proposal = r.state->h;
  run_to(&r, 1 + 1e-3 * proposal);
  assert_true(r.state->h >= proposal);
  run_close(&r);
}

/* ---- trouble ---- */

/* q'' = -q where |q| < 1.05, not a number elsewhere: the solution sin(t) stays inside. */
static void fenced_force(const toy_problem *p, double t, const double *q, const double *v, const double *u, double *f,
                         double *df_dq, double *df_dv) {
  (void)p, (void)t, (void)v, (void)u;
  f[0] = fabs(q[0]) < 1.05 ? -q[0] : (double)NAN;
  if (df_dq != NULL) df_dq[0] = -1, df_dv[0] = 0;
}

static void stages_that_are_not_finite_are_rejected(void **unused) {
  (void)unused;
  static const toy_problem fenced = {.n = 1, .force = fenced_force};
  yoke_integrator_options  o      = yoke_integrator_options_default();
  run                      r;
  const double             q = 0, v = 1;
  o.first_step = 4;
  toy_fill(&r.equations, &toy_plain_ops, &fenced);
  run_open(&r, &o);
  run_start(&r, &q, &v);
  run_to(&r, 5);
  assert_true(r.state->counters.rejected > 0);
  CHECK_NEAR(yoke_integrator_q(r.integrator, r.state)[0], sin(5), 1e-7);
  run_close(&r);
}

/* q'' = q'^2 from v = 1: v = 1 / (1 - t). */
static void exploding_force(const toy_problem *p, double t, const double *q, const double *v, const double *u,
                            double *f, double *df_dq, double *df_dv) {
  (void)p, (void)t, (void)q, (void)u;
  f[0] = v[0] * v[0];
  if (df_dq != NULL) df_dq[0] = 0, df_dv[0] = 2 * v[0];
}

static void solution_that_ends_gives_step_too_small_with_a_message(void **unused) {
  (void)unused;
  static const toy_problem exploding = {.n = 1, .force = exploding_force};
  yoke_integrator_options  o         = yoke_integrator_options_default();
  run                      r;
  const double             q = 0, v = 1;
  toy_fill(&r.equations, &toy_plain_ops, &exploding);
  run_open(&r, &o);
  run_start(&r, &q, &v);
  assert_int_equal(yoke_integrator_advance(r.integrator, r.scratch, r.state, &yoke_signal_none, 2, r.ctx),
                   YOKE_E_STEP_TOO_SMALL);
  assert_true(yoke_context_n_messages(r.ctx) > 0);
  CHECK_NEAR(r.state->t, 1, 1e-6);
  assert_true(isfinite(yoke_integrator_v(r.integrator, r.state)[0]));
  run_close(&r);
}

/* The explicit step that crosses singular positions: order 5 and a consistent end point, here on the pendulum. */
static void hop_is_of_order_5_and_ends_on_the_constraint(void **unused) {
  (void)unused;
  const yoke_integrator_options o = yoke_integrator_options_default();
  yoke_equations                e;
  yoke_implicit                *implicit = NULL;
  yoke_integrator_state         state    = {0};
  double       x[4], rates[4], x_new[4], rates_new[4], lambda[1], k[6][4], work[64], u[1], local[2], error = 0, g, gd;
  const double scale[4] = {1e6, 1e6, 1e6, 1e6};
  toy_pendulum(&e);
  assert_int_equal(yoke_implicit_create(NULL, &e, &o, &implicit), YOKE_OK);
  yoke_hop hop = {.x         = x,
                  .rates     = rates,
                  .x_new     = x_new,
                  .rates_new = rates_new,
                  .lambda    = lambda,
                  .equations = work,
                  .u         = u,
                  .scale     = scale};
  for (int i = 0; i < 6; ++i) hop.k[i] = k[i];
  for (int refine = 0; refine < 2; ++refine) {
    const double h = 0.1 / (1 << refine);
    double       q[2], v[2];
    toy_pendulum_state(acos(0.0), 0, x, x + 2);
    assert_int_equal(e.ops->derivative(e.self, work, 0, x, x + 2, u, rates, rates + 2, lambda), YOKE_OK);
    assert_int_equal(yoke_hop_step(implicit, &hop, &yoke_signal_none, 0, h, h, &state, &error), YOKE_OK);
    toy_pendulum_reference(h, q, v);
    local[refine] = largest_difference(2, v, x_new + 2);
    toy_constraint(e.self, NULL, h, x_new, x_new + 2, &g, &gd);
    CHECK_BELOW(fmax(fabs(g), fabs(gd)), 1e-14);
  }
  assert_true(log2(local[0] / local[1]) > 5.5); /* local error: power 6 */
  yoke_implicit_destroy(&implicit);
}

/* Inputs: q'' = u, u jumps from 1 to -1 at t = 1. */
static void jumping_input_is_met_exactly(void **unused) {
  (void)unused;
  const double            t[] = {0, 1, 2}, c[] = {1, -1};
  const yoke_signal       u = {.n = 1, .n_pieces = 2, .degree = 0, .t = t, .c = c};
  yoke_integrator_options o = yoke_integrator_options_default();
  run                     r;
  const double            q = 0, v = 0;
  toy_push(&r.equations);
  run_open(&r, &o);
  assert_int_equal(yoke_integrator_start(r.integrator, r.scratch, r.state, 0, &q, &v, &u, r.ctx), YOKE_OK);
  assert_int_equal(yoke_integrator_advance(r.integrator, r.scratch, r.state, &u, 2, r.ctx), YOKE_OK);
  CHECK_NEAR(yoke_integrator_q(r.integrator, r.state)[0], 1, 1e-12);
  CHECK_NEAR(yoke_integrator_v(r.integrator, r.state)[0], 0, 1e-12);
  run_close(&r);
}

/* ---- redundant constraints and quadratures ---- */

/* The pendulum with its constraint written twice, and the quadrature w' = drag v.v of its energy loss:
 * q = (x, y, w), v = (x', y'), lambda = mu = 2 rows. Full pattern, R = -1 on the multipliers. */
enum { R_NQ = 3, R_NV = 2, R_NG = 2, R_NX = R_NQ + R_NV + 2 * R_NG };
static const double R_DRAG = 0.3;

static yoke_status redundant_derivative(const void *self, void *work, double t, const double *q, const double *v,
                                        const double *u, double *qdot, double *a, double *lambda) {
  (void)self, (void)work, (void)t, (void)u;
  a[0] = -R_DRAG * v[0], a[1] = -R_DRAG * v[1] - TOY_GRAVITY;
  const double l = -(toy_dot(2, q, a) + toy_dot(2, v, v)) / toy_dot(2, q, q);
  for (int i = 0; i < 2; ++i) a[i] += q[i] * l;
  if (lambda != NULL) lambda[0] = lambda[1] = l / 2;
  if (qdot != NULL) qdot[0] = v[0], qdot[1] = v[1], qdot[2] = R_DRAG * toy_dot(2, v, v);
  return toy_finite(2, a);
}

static const toy_problem redundant_shape = {.n = 2};

static yoke_status redundant_project_position(const void *self, void *work, double t, double *q) {
  (void)self;
  return toy_project_position(&redundant_shape, work, t, q);
}

static yoke_status redundant_project_velocity(const void *self, void *work, double t, const double *q, double *v) {
  (void)self;
  return toy_project_velocity(&redundant_shape, work, t, q, v);
}

static yoke_status redundant_dae_create(const void *self, yoke_context *ctx, yoke_dae_form form, yoke_dae **out) {
  (void)self;
  yoke_dae *dae = yoke_allocate(1, sizeof *dae);
  int       row[R_NX * R_NX], col[R_NX * R_NX];
  assert_non_null(dae);
  for (int i = 0; i < R_NX * R_NX; ++i) row[i] = i % R_NX, col[i] = i / R_NX;
  dae->form      = form;
  dae->nx        = R_NX;
  dae->i_v       = R_NQ;
  dae->i_a       = -1;
  dae->i_lambda  = R_NQ + R_NV;
  dae->i_mu      = R_NQ + R_NV + R_NG;
  dae->i_nu      = -1;
  dae->component = yoke_arena_take(&dae->arena, R_NX, 1);
  dae->E         = yoke_arena_take(&dae->arena, R_NX * R_NX, sizeof(double));
  dae->R         = yoke_arena_take(&dae->arena, R_NX * R_NX, sizeof(double));
  assert_true(dae->component != NULL && dae->E != NULL && dae->R != NULL);
  for (int i = 0; i < R_NX; ++i) {
    dae->component[i]                                   = i < 2               ? YOKE_COMPONENT_Q
                                                          : i < R_NQ          ? YOKE_COMPONENT_QUADRATURE
                                                          : i < dae->i_lambda ? YOKE_COMPONENT_V
                                                          : i < dae->i_mu     ? YOKE_COMPONENT_LAMBDA
                                                                              : YOKE_COMPONENT_MU;
    (i < dae->i_lambda ? dae->E : dae->R)[i * R_NX + i] = i < dae->i_lambda ? 1 : -1;
  }
  *out = dae;
  return yoke_pattern_create(ctx, R_NX, R_NX, R_NX * R_NX, row, col, NULL, &dae->pattern);
}

static yoke_status redundant_dae_rhs(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                     const double *u, double *F) {
  (void)self, (void)work, (void)t, (void)u;
  const double *q = x, *v = x + R_NQ, *lambda = x + dae->i_lambda, *mu = x + dae->i_mu;
  for (int i = 0; i < 2; ++i) {
    F[i]        = v[i] + q[i] * (mu[0] + mu[1]);
    F[R_NQ + i] = -R_DRAG * v[i] - (i == 1 ? TOY_GRAVITY : 0) + q[i] * (lambda[0] + lambda[1]);
  }
  F[2] = R_DRAG * toy_dot(2, v, v);
  for (int k = 0; k < R_NG; ++k) {
    F[dae->i_lambda + k] = toy_dot(2, q, v);
    F[dae->i_mu + k]     = (toy_dot(2, q, q) - 1) / 2;
  }
  return toy_finite(R_NX, F);
}

static yoke_status redundant_dae_jacobian(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                          const double *u, double *J) {
  (void)self, (void)work, (void)t, (void)u;
  const double *q = x, *v = x + R_NQ, *lambda = x + dae->i_lambda, *mu = x + dae->i_mu;
  memset(J, 0, sizeof(double) * R_NX * R_NX);
#define AT(row, col) J[(col)*R_NX + (row)]
  for (int i = 0; i < 2; ++i) {
    AT(i, i)               = mu[0] + mu[1];
    AT(i, R_NQ + i)        = 1;
    AT(R_NQ + i, i)        = lambda[0] + lambda[1];
    AT(R_NQ + i, R_NQ + i) = -R_DRAG;
    for (int k = 0; k < R_NG; ++k) {
      AT(i, dae->i_mu + k)            = q[i];
      AT(R_NQ + i, dae->i_lambda + k) = q[i];
      AT(dae->i_lambda + k, i)        = v[i];
      AT(dae->i_lambda + k, R_NQ + i) = q[i];
      AT(dae->i_mu + k, i)            = q[i];
    }
  }
#undef AT
  return YOKE_OK;
}

static void redundant_constraints_and_quadratures_keep_the_energy_balance(void **unused) {
  (void)unused;
  static const yoke_equations_ops ops = {.kind             = "redundant pendulum",
                                         .derivative       = redundant_derivative,
                                         .project_position = redundant_project_position,
                                         .project_velocity = redundant_project_velocity,
                                         .dae_create       = redundant_dae_create,
                                         .dae_rhs          = redundant_dae_rhs,
                                         .dae_jacobian     = redundant_dae_jacobian};
  for (int k = 6; k <= 11; k += 5) {
    yoke_integrator_options o = yoke_integrator_options_default();
    o.rtol                    = pow(10, -k);
    o.atol                    = 0.01 * o.rtol;
    run r = {.equations = {.ops = &ops, .nq = R_NQ, .nv = R_NV, .ng = R_NG, .n_quadratures = 1, .work_size = 64}};
    const double q[R_NQ] = {1, 0, 0}, v[R_NV] = {0, 0};
    run_open(&r, &o);
    run_start(&r, q, v);
    run_to(&r, 3);
    const double *q_end = yoke_integrator_q(r.integrator, r.state), *v_end = yoke_integrator_v(r.integrator, r.state);
    /* m = 1: v.v / 2 + g y + w stays 0 */
    CHECK_NEAR(toy_dot(2, v_end, v_end) / 2 + TOY_GRAVITY * q_end[1] + q_end[2], 0, 100 * o.rtol);
    CHECK_BELOW((double)r.state->counters.steps, k == 6 ? 300 : 3000);
    run_close(&r);
  }
}

/* Jacobians of the step behind a point at which q and v changed, from outside, by 1e-9. */
static int64_t jacobians_behind(bool is_nudge) {
  run                     r;
  double                  q[2], v[2];
  yoke_integrator_options o = yoke_integrator_options_default();
  o.fixed_step              = 1e-3;
  toy_nonlinear(&r.equations);
  toy_nonlinear_exact(0, q, v);
  run_open(&r, &o);
  run_start(&r, q, v);
  run_to(&r, 0.01);
  const int64_t before = r.state->counters.jacobians;
  double       *at     = yoke_integrator_q(r.integrator, r.state);
  memcpy(v, yoke_integrator_v(r.integrator, r.state), sizeof v);
  at[0] += 1e-9;
  memcpy(q, at, sizeof q);
  assert_int_equal(is_nudge ? yoke_integrator_nudge(r.integrator, r.scratch, r.state, &yoke_signal_none, r.ctx)
                            : yoke_integrator_reset(r.integrator, r.scratch, r.state, q, v, &yoke_signal_none, r.ctx),
                   YOKE_OK);
  run_to(&r, 0.011);
  const int64_t n = r.state->counters.jacobians - before;
  run_close(&r);
  return n;
}

static void factors_stay_where_the_state_is_nudged(void **unused) {
  (void)unused;
  assert_int_equal(jacobians_behind(true), 0);
  assert_int_equal(jacobians_behind(false), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_stay_where_the_state_is_nudged),
      cmocka_unit_test(order_is_5_in_q_and_v_on_a_nonlinear_equation),
      cmocka_unit_test(order_is_5_in_q_and_v_on_the_pendulum_in_stabilised_index_2),
      cmocka_unit_test(order_is_5_in_v_on_the_pendulum_in_index_1_with_projection),
      cmocka_unit_test(dense_output_error_is_of_fifth_power_in_h),
      cmocka_unit_test(error_follows_the_tolerance),
      cmocka_unit_test(constraints_hold_to_1e_9_at_rtol_1e_10),
      cmocka_unit_test(stiff_van_der_pol_takes_few_steps),
      cmocka_unit_test(linear_solvers_agree_to_rounding),
      cmocka_unit_test(restored_state_repeats_to_the_bit),
      cmocka_unit_test(clipped_step_does_not_set_the_next_one),
      cmocka_unit_test(stages_that_are_not_finite_are_rejected),
      cmocka_unit_test(solution_that_ends_gives_step_too_small_with_a_message),
      cmocka_unit_test(hop_is_of_order_5_and_ends_on_the_constraint),
      cmocka_unit_test(jumping_input_is_met_exactly),
      cmocka_unit_test(redundant_constraints_and_quadratures_keep_the_energy_balance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
