/* Explicit Runge-Kutta methods and semi-implicit Euler: orders, dense output, both forms of a stage, step control. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "integrate_helpers.h"
#include "base/pool.h"
#include "integrate/explicit_rk.h"
#include "model/chain_kernel.h"

typedef void (*toy_maker)(yoke_equations *);

/* Error at t after n equal steps; the pendulum starts at rest from 90 degrees, else Kepler's problem at perihelion. */
static double fixed_step_error(const char *name, toy_maker problem, double t, int n) {
  const bool              is_pendulum = problem == toy_pendulum;
  yoke_integrator_options o           = toy_options(1e-8);
  toy_run                 run;
  double                  q[2], v[2], q_exact[2], v_exact[2];
  o.fixed_step = t / n;
  if (is_pendulum) {
    toy_pendulum_state(acos(-1.0) / 2, 0, q, v);
    toy_pendulum_reference(t, q_exact, v_exact);
  } else {
    toy_nonlinear_exact(0, q, v);
    toy_nonlinear_exact(t, q_exact, v_exact);
  }
  assert_int_equal(toy_run_begin(&run, problem, name, &o, q, v, &yoke_signal_none), YOKE_OK);
  assert_int_equal(toy_run_to(&run, &yoke_signal_none, t), YOKE_OK);
  assert_int_equal(run.state->counters.steps, n);
  const double error = toy_run_error(&run, q_exact, v_exact);
  toy_run_end(&run);
  return error;
}

static void check_order(const char *name, toy_maker problem, double t, int n, double order) {
  const double coarse = fixed_step_error(name, problem, t, n), fine = fixed_step_error(name, problem, t, 4 * n);
  const double found = log2(coarse / fine) / 2;
  if (!(found > order - 0.35 && found < order + 0.65))
    print_error("%s: order %.2f, errors %.3g %.3g\n", name, found, coarse, fine);
  assert_true(found > order - 0.35 && found < order + 0.65);
}

static void dopri5_has_order_5_on_a_nonlinear_ode(void **s) {
  (void)s, check_order("dopri5", toy_nonlinear, 3, 60, 5);
}
static void dop853_has_order_8_on_a_nonlinear_ode(void **s) {
  (void)s, check_order("dop853", toy_nonlinear, 3, 14, 8);
}
static void semi_euler_has_order_1_on_a_nonlinear_ode(void **s) {
  (void)s, check_order("semi-euler", toy_nonlinear, 2, 400, 1);
}
static void dopri5_has_order_5_on_the_pendulum_dae(void **s) {
  (void)s, check_order("dopri5", toy_pendulum, 2, 40, 5);
}
static void dop853_has_order_8_on_the_pendulum_dae(void **s) {
  (void)s, check_order("dop853", toy_pendulum, 2, 14, 8);
}
static void semi_euler_has_order_1_on_the_pendulum_dae(void **s) {
  (void)s, check_order("semi-euler", toy_pendulum, 2, 400, 1);
}

/* Error in the middle of one step from exact values. */
static double dense_error(const char *name, toy_maker problem, bool is_looked_into, double h) {
  yoke_integrator_options o = toy_options(1e-8);
  toy_run                 run;
  double                  q[2], v[2], q_exact[2], v_exact[2], error = 0;
  o.fixed_step = h;
  toy_nonlinear_exact(0, q, v);
  assert_int_equal(toy_run_begin(&run, problem, name, &o, q, v, &yoke_signal_none), YOKE_OK);
  if (!is_looked_into) run.state->t_look = 2 * h;
  assert_int_equal(toy_run_to(&run, &yoke_signal_none, h), YOKE_OK);
  for (int i = 1; i < 10; ++i) {
    yoke_integrator_interpolate(run.integrator, run.state, 0.1 * i * h, q, v);
    toy_nonlinear_exact(0.1 * i * h, q_exact, v_exact);
    for (int j = 0; j < 2; ++j) error = fmax(error, fmax(fabs(q[j] - q_exact[j]), fabs(v[j] - v_exact[j])));
  }
  toy_run_end(&run);
  return error;
}

static void check_dense_order(const char *name, toy_maker problem, bool is_looked_into, double h, double least) {
  const double found =
      log2(dense_error(name, problem, is_looked_into, h) / dense_error(name, problem, is_looked_into, h / 2));
  if (!(found > least)) print_error("%s: dense output has local order %.2f\n", name, found);
  assert_true(found > least);
}

/* Order p of dense output: local error h^(p+1). */
static void dense_output_of_dopri5_has_order_4(void **s) {
  (void)s;
  check_dense_order("dopri5", toy_nonlinear, true, 0.05, 4.7);
  check_dense_order("dopri5", toy_nonlinear_fused, true, 0.05, 4.7);
}

static void dense_output_of_dop853_has_order_7(void **s) {
  (void)s;
  check_dense_order("dop853", toy_nonlinear, true, 0.1, 7.5);
  check_dense_order("dop853", toy_nonlinear_fused, true, 0.1, 7.5);
}

static void dense_output_is_cubic_hermite_where_nobody_looks(void **s) {
  (void)s;
  check_dense_order("dop853", toy_nonlinear, false, 0.05, 3.6);
  check_dense_order("dopri5", toy_nonlinear_fused, false, 0.05, 3.6);
}

/* Three further stages in every step, or only in the one that is looked into: the same steps to the bit. */
static void a_look_into_one_step_costs_that_step_only(void **s) {
  const yoke_integrator_options o = toy_options(1e-8);
  double                        q[3][2], v[3][2], t_look[3] = {-(double)INFINITY, 1.0, (double)INFINITY};
  int64_t                       evaluations[3];
  (void)s;
  for (int k = 0; k < 3; ++k) {
    toy_run run;
    toy_nonlinear_exact(0, q[k], v[k]);
    assert_int_equal(toy_run_begin(&run, toy_nonlinear, "dop853", &o, q[k], v[k], &yoke_signal_none), YOKE_OK);
    run.state->t_look = t_look[k];
    assert_int_equal(toy_run_to(&run, &yoke_signal_none, 1.0), YOKE_OK);
    evaluations[k] = run.state->counters.evaluations;
    assert_true(run.state->counters.steps > 3);
    yoke_integrator_interpolate(run.integrator, run.state, 1.0, q[k], v[k]);
    if (k == 1) assert_int_equal(evaluations[0] - evaluations[1], 3 * (run.state->counters.steps - 1));
    toy_run_end(&run);
  }
  assert_int_equal(evaluations[1] - evaluations[2], 3);
  assert_memory_equal(q[0], q[1], sizeof q[0]);
  assert_memory_equal(v[0], v[2], sizeof v[0]);
}

/* Fused stages and plain ones are the same method: equal steps, values equal up to rounding. */
static void check_fused(const char *name) {
  const yoke_integrator_options o  = toy_options(1e-9);
  const double                  q0 = 1, v0 = 0;
  toy_run                       plain, fused;
  assert_int_equal(toy_run_begin(&plain, toy_duffing_plain, name, &o, &q0, &v0, &yoke_signal_none), YOKE_OK);
  assert_int_equal(toy_run_begin(&fused, toy_duffing, name, &o, &q0, &v0, &yoke_signal_none), YOKE_OK);
  for (int i = 0; i < 40; ++i) {
    double qa, va, qb, vb;
    assert_int_equal(yoke_integrator_step(plain.integrator, plain.scratch, plain.state, &yoke_signal_none, 10, NULL),
                     0);
    assert_int_equal(yoke_integrator_step(fused.integrator, fused.scratch, fused.state, &yoke_signal_none, 10, NULL),
                     0);
    assert_true(fabs(plain.state->t - fused.state->t) < 1e-6 * plain.state->t);
    const double t = fmin(plain.state->t, fused.state->t) - 0.3 * (plain.state->t - plain.state->t_prev);
    yoke_integrator_interpolate(plain.integrator, plain.state, t, &qa, &va);
    yoke_integrator_interpolate(fused.integrator, fused.state, t, &qb, &vb);
    assert_true(fabs(qa - qb) + fabs(va - vb) < 1e-9);
  }
  assert_int_equal(plain.state->counters.rejected, fused.state->counters.rejected);
  toy_run_end(&plain);
  toy_run_end(&fused);
}

static void fused_stages_of_dopri5_agree_with_plain_ones(void **s) {
  (void)s, check_fused("dopri5");
}
static void fused_stages_of_dop853_agree_with_plain_ones(void **s) {
  (void)s, check_fused("dop853");
}

/* A chain of 700 masses (more than one block) by sweeps, single stages and plain evaluations. */
enum { CHAIN_N = 700 };

static void make_chain(yoke_equations *equations, yoke_equations_ops *ops, bool with_sweep, bool with_stage) {
  const yoke_chain chain = {.n               = CHAIN_N,
                            .mass            = {.value = 0.7},
                            .stiffness       = {.value = 30.0},
                            .damping         = {.value = 0.4},
                            .stiffness_power = {.value = 50.0},
                            .damping_power   = {.value = 0.3},
                            .exponent_x      = 3,
                            .exponent_v      = 3};
  const int        input = CHAIN_N / 2;
  assert_int_equal(yoke_chain_equations_create(NULL, &chain, 0, 1, &input, NULL, equations), YOKE_OK);
  *ops = *equations->ops;
  if (!with_sweep) ops->sweep = NULL;
  if (!with_stage) ops->stage = NULL, ops->sweep = NULL;
  equations->ops = ops;
}

static void run_chain(const char *name, bool with_sweep, bool with_stage, double *x) {
  const yoke_integrator_options o        = toy_options(1e-7);
  const double                  times[2] = {0, 5}, coefficients[3] = {1, -2, 3};
  const yoke_signal             u = {.n = 1, .n_pieces = 1, .degree = 2, .t = times, .c = coefficients};
  double                        q[CHAIN_N], v[CHAIN_N];
  yoke_equations                equations;
  yoke_equations_ops            ops;
  yoke_integrator              *integrator;
  yoke_integrator_state        *state;
  void                         *scratch;
  for (int i = 0; i < CHAIN_N; ++i) q[i] = 0.1 * sin(0.1 * i), v[i] = 0.1 * cos(0.2 * i);
  make_chain(&equations, &ops, with_sweep, with_stage);
  assert_int_equal(yoke_integrator_create(NULL, name, &equations, &o, &integrator), YOKE_OK);
  assert_int_equal(yoke_integrator_state_create(integrator, &state), YOKE_OK);
  assert_int_equal(yoke_integrator_scratch_create(integrator, &scratch), YOKE_OK);
  assert_int_equal(yoke_integrator_start(integrator, scratch, state, 0, q, v, &u, NULL), YOKE_OK);
  assert_int_equal(yoke_integrator_advance(integrator, scratch, state, &u, 1, NULL), YOKE_OK);
  yoke_integrator_interpolate(integrator, state, 0.5 * (state->t_prev + state->t), x, x + CHAIN_N);
  yoke_integrator_state_destroy(&state);
  yoke_integrator_scratch_destroy(&scratch);
  yoke_integrator_destroy(&integrator);
  yoke_equations_destroy(&equations);
}

static void check_chain(const char *name) {
  static double sweep[2 * CHAIN_N], stage[2 * CHAIN_N], plain[2 * CHAIN_N];
  run_chain(name, true, true, sweep);
  run_chain(name, false, true, stage);
  run_chain(name, false, false, plain);
  assert_memory_equal(sweep, stage, sizeof sweep);
  for (int i = 0; i < 2 * CHAIN_N; ++i) assert_true(fabs(sweep[i] - plain[i]) < 1e-9);
}

/* Bytes of state and scratch of dopri5 on a chain of n masses. */
static double chain_memory(int n) {
  yoke_chain chain = {.n = n, .mass = {.value = 1.0}, .stiffness = {.value = 1.0}};
  chain.exponent_x = chain.exponent_v = 3;
  const yoke_integrator_options o     = toy_options(1e-6);
  yoke_equations                equations;
  yoke_integrator              *integrator;
  assert_int_equal(yoke_chain_equations_create(NULL, &chain, 0, 0, NULL, NULL, &equations), YOKE_OK);
  assert_int_equal(yoke_integrator_create(NULL, "dopri5", &equations, &o, &integrator), YOKE_OK);
  const double size = (double)integrator->state_size + (double)integrator->scratch_size;
  yoke_integrator_destroy(&integrator);
  yoke_equations_destroy(&equations);
  return size;
}

static void memory_of_a_chain_grows_linearly_and_stays_below_400_bytes_per_mass(void **s) {
  (void)s;
  const double small = chain_memory(10000), large = chain_memory(100000);
  assert_true(large < 10.01 * small);
  assert_true(large < 400.0 * 100000);
}

static void sweeps_of_dopri5_have_the_bits_of_single_stages(void **s) {
  (void)s, check_chain("dopri5");
}
static void sweeps_of_dop853_have_the_bits_of_single_stages(void **s) {
  (void)s, check_chain("dop853");
}

/* Error control: the error follows the tolerance. */
static double controlled_error(const char *name, double rtol) {
  const yoke_integrator_options o = toy_options(rtol);
  toy_run                       run;
  double                        q[2], v[2];
  toy_nonlinear_exact(0, q, v);
  assert_int_equal(toy_run_begin(&run, toy_nonlinear, name, &o, q, v, &yoke_signal_none), YOKE_OK);
  assert_int_equal(toy_run_to(&run, &yoke_signal_none, 10), YOKE_OK);
  toy_nonlinear_exact(10, q, v);
  const double error = toy_run_error(&run, q, v);
  toy_run_end(&run);
  return error;
}

static void error_control_reaches_tight_tolerances(void **s) {
  (void)s;
  assert_true(controlled_error("dopri5", 1e-6) < 1e-3);
  assert_true(controlled_error("dopri5", 1e-12) < 1e-9);
  assert_true(controlled_error("dop853", 1e-12) < 1e-9);
}

/* Bits of h and of the solution at t = 10 with stops every 0.3 s, disturbed there or not. */
static void run_with_stops(const char *name, bool disturbs, double *end, int64_t *steps) {
  const yoke_integrator_options o = toy_options(1e-6);
  toy_run                       run;
  double                        q[2], v[2];
  toy_nonlinear_exact(0, q, v);
  assert_int_equal(toy_run_begin(&run, toy_nonlinear, name, &o, q, v, &yoke_signal_none), YOKE_OK);
  for (int k = 1; k <= 33; ++k) {
    assert_int_equal(toy_run_to(&run, &yoke_signal_none, 0.3 * k), YOKE_OK);
    if (disturbs)
      assert_int_equal(yoke_integrator_disturb(run.integrator, run.scratch, run.state, &yoke_signal_none, NULL),
                       YOKE_OK);
  }
  end[0] = run.state->h;
  end[1] = toy_run_q(&run)[0];
  *steps = run.state->counters.steps;
  toy_run_end(&run);
}

/* Inputs of a subsystem kink at every macro point. A kink of size 0 must not change a step. */
static void speed_item_3_step_control_remembers_the_last_error_across_macro_points(void **s) {
  (void)s;
  const char *const names[] = {"dopri5", "dop853"};
  for (int i = 0; i < 2; ++i) {
    double  plain[2], disturbed[2];
    int64_t steps[2];
    run_with_stops(names[i], false, plain, &steps[0]);
    run_with_stops(names[i], true, disturbed, &steps[1]);
    assert_int_equal(steps[0], steps[1]);
    assert_memory_equal(plain, disturbed, sizeof plain);
  }
}

/* abm: test_abm.c */
static void constraints_hold_after_every_step_of_runge_and_kutta(void **s) {
  (void)s;
  const char *const names[] = {"dopri5", "dop853"};
  for (int i = 0; i < 2; ++i) {
    const yoke_integrator_options o = toy_options(1e-5);
    toy_run                       run;
    double                        q[2], v[2], g, gd;
    toy_pendulum_state(2, 1, q, v);
    assert_int_equal(toy_run_begin(&run, toy_pendulum, names[i], &o, q, v, &yoke_signal_none), YOKE_OK);
    while (run.state->t < 3) {
      assert_int_equal(yoke_integrator_step(run.integrator, run.scratch, run.state, &yoke_signal_none, 3, NULL),
                       YOKE_OK);
      run.equations.ops->constraint(run.equations.self, NULL, run.state->t, toy_run_q(&run), toy_run_v(&run), &g, &gd);
      assert_true(fabs(g) < 1e-14 && fabs(gd) < 1e-13);
    }
    toy_run_end(&run);
  }
}

static void symplectic_euler_keeps_the_energy_bounded(void **s) {
  (void)s;
  yoke_integrator_options o = toy_options(1e-8);
  toy_run                 run;
  const double            q0 = 0.5, v0 = 0;
  o.fixed_step = 0.01;
  assert_int_equal(toy_run_begin(&run, toy_angle, "semi-euler", &o, &q0, &v0, &yoke_signal_none), YOKE_OK);
  const double start = -TOY_GRAVITY * cos(q0);
  for (int i = 1; i <= 50; ++i) {
    assert_int_equal(toy_run_to(&run, &yoke_signal_none, 2.0 * i), YOKE_OK);
    const double energy = 0.5 * toy_run_v(&run)[0] * toy_run_v(&run)[0] - TOY_GRAVITY * cos(toy_run_q(&run)[0]);
    assert_true(fabs(energy - start) < 0.03);
  }
  toy_run_end(&run);
}

static void semi_euler_asks_for_a_step(void **s) {
  (void)s;
  const yoke_integrator_options o = toy_options(1e-8);
  yoke_equations                equations;
  yoke_integrator              *integrator = NULL;
  toy_nonlinear(&equations);
  assert_int_equal(yoke_integrator_create(NULL, "semi-euler", &equations, &o, &integrator), YOKE_E_USAGE);
  assert_null(integrator);
}

/* Of many small subsystems every cache line counts. */
enum { LINE = 64 /* bytes */, SMALL_N = 10, MOST_LINES = 9 };

static size_t copied(const toy_run *run) {
  return yoke_integrator_used(run->integrator, run->state) + run->integrator->state_size -
         yoke_integrator_tail(run->integrator);
}

static void make_small_chain(yoke_equations *equations) {
  const yoke_chain chain = {
      .n = SMALL_N, .mass = {.value = 1.0}, .stiffness = {.value = 1.0}, .exponent_x = 3.0, .exponent_v = 3.0};
  assert_int_equal(yoke_chain_equations_create(NULL, &chain, 0, 0, NULL, NULL, equations), YOKE_OK);
}

static void copies_of_small_states_are_few_lines_where_nobody_looks(void **s) {
  const yoke_integrator_options o          = toy_options(1e-6);
  double                        q[SMALL_N] = {1.0}, v[SMALL_N] = {0.0};
  yoke_integrator_state        *copy = NULL;
  toy_run                       run;
  (void)s;
  assert_int_equal(toy_run_begin(&run, make_small_chain, "auto", &o, q, v, &yoke_signal_none), YOKE_OK);
  assert_int_equal(yoke_integrator_step(run.integrator, run.scratch, run.state, NULL, 1.0, run.ctx), YOKE_OK);
  assert_true(copied(&run) > MOST_LINES * LINE);
  run.state->t_look = (double)INFINITY;
  assert_int_equal(yoke_integrator_step(run.integrator, run.scratch, run.state, NULL, 1.0, run.ctx), YOKE_OK);
  assert_true(copied(&run) <= MOST_LINES * LINE);

  assert_int_equal(yoke_integrator_state_create(run.integrator, &copy), YOKE_OK);
  yoke_integrator_copy(run.integrator, copy, run.state);
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(yoke_integrator_step(run.integrator, run.scratch, run.state, NULL, 9.0, run.ctx), YOKE_OK);
    assert_int_equal(yoke_integrator_step(run.integrator, run.scratch, copy, NULL, 9.0, run.ctx), YOKE_OK);
  }
  assert_memory_equal(toy_run_q(&run), yoke_integrator_q(run.integrator, copy), sizeof q);
  assert_memory_equal(toy_run_v(&run), yoke_integrator_v(run.integrator, copy), sizeof v);
  yoke_integrator_state_destroy(&copy);
  toy_run_end(&run);
  yoke_equations_destroy(&run.equations);
}

/* What is not copied of a state is not written either by a step that nobody ever looks into. */
static void a_step_that_nobody_looks_into_keeps_no_start(void **s) {
  enum { MARK = 0x5a };
  const yoke_integrator_options o          = toy_options(1e-8);
  double                        q[SMALL_N] = {0.1}, v[SMALL_N] = {0};
  toy_run                       run;
  (void)s;
  assert_int_equal(toy_run_begin(&run, make_small_chain, "dopri5", &o, q, v, &yoke_signal_none), YOKE_OK);
  run.state->t_look = (double)INFINITY;
  assert_int_equal(yoke_integrator_step(run.integrator, run.scratch, run.state, NULL, 1.0, run.ctx), YOKE_OK);
  const size_t used = yoke_integrator_used(run.integrator, run.state);
  assert_true(used < run.integrator->state_size);
  memset((char *)run.state + used, MARK, run.integrator->state_size - used);
  assert_int_equal(yoke_integrator_step(run.integrator, run.scratch, run.state, NULL, 1.0, run.ctx), YOKE_OK);
  for (size_t i = used; i < run.integrator->state_size; ++i) assert_int_equal(((const char *)run.state)[i], MARK);
  toy_run_end(&run);
  yoke_equations_destroy(&run.equations);
}

static void weights_of_the_nystroem_form_are_products_of_the_tableau(void **s) {
  static const rk_tableau *const list[] = {&dopri5_tableau, &dop853_tableau};
  (void)s;
  for (int k = 0; k < 2; ++k) {
    const rk_tableau *t = list[k];
    for (int stage = 1; stage <= t->s + t->n_extra + 1; ++stage) {
      const bool    is_error = stage == t->s + t->n_extra + 1;
      const double *w = is_error ? t->e : t->A[stage], *wbar = is_error ? t->ebar : t->wbar[stage];
      const int     n = is_error ? t->s + 1 : stage;
      for (int j = 0; j < RK_MAX_STAGES; ++j) {
        double sum = 0;
        for (int i = j + 1; i < n; ++i) sum += w[i] * t->A[i][j];
        const bool is_nothing = j >= n || (fabs(w[j]) < 1e-14 && fabs(sum) < 1e-14);
        assert_true(wbar[j] == (is_nothing ? 0 : sum)); /* to the bit */
      }
    }
  }
}

static void long_arrays_begin_on_cache_lines_and_short_ones_share_them(void **s) {
  size_t size = 8;
  (void)s;
  assert_int_equal(yoke_array_reserve(&size, SMALL_N), 8);
  assert_int_equal(yoke_array_reserve(&size, SMALL_N), 8 + SMALL_N * sizeof(double));
  const size_t first = yoke_array_reserve(&size, CHAIN_N), second = yoke_array_reserve(&size, CHAIN_N);
  assert_int_equal(first % LINE, 0);
  assert_int_equal(second % LINE, 0);
  assert_true(second >= first + CHAIN_N * sizeof(double));
}

/* Of many small subsystems every cache line counts. */
static void solvers_of_equal_parts_share_their_tables(void **state) {
  yoke_integrator_options o[3] = {toy_options(1e-8), toy_options(1e-8), toy_options(1e-5)};
  yoke_integrator        *x[3];
  yoke_equations          e[3];
  yoke_context           *ctx = NULL;
  yoke_pool              *pool;
  (void)state;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_pool_create(ctx, &pool), YOKE_OK);
  yoke_pool_open(pool, ctx);
  for (int i = 0; i < 3; ++i) {
    toy_nonlinear(&e[i]);
    assert_int_equal(yoke_integrator_create(ctx, "dopri5", &e[i], &o[i], &x[i]), YOKE_OK);
  }
  yoke_pool_close(pool, ctx);
  assert_ptr_equal(x[0]->self, x[1]->self);
  assert_ptr_equal(x[0]->at, x[1]->at);
  assert_ptr_equal(x[0]->at, x[2]->at);
  assert_ptr_not_equal(x[0]->self, x[2]->self); /* another tolerance */
  for (int i = 0; i < 3; ++i) yoke_integrator_destroy(&x[i]);
  yoke_pool_destroy(&pool);
  yoke_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dopri5_has_order_5_on_a_nonlinear_ode),
      cmocka_unit_test(dop853_has_order_8_on_a_nonlinear_ode),
      cmocka_unit_test(semi_euler_has_order_1_on_a_nonlinear_ode),
      cmocka_unit_test(dopri5_has_order_5_on_the_pendulum_dae),
      cmocka_unit_test(dop853_has_order_8_on_the_pendulum_dae),
      cmocka_unit_test(semi_euler_has_order_1_on_the_pendulum_dae),
      cmocka_unit_test(dense_output_of_dopri5_has_order_4),
      cmocka_unit_test(dense_output_of_dop853_has_order_7),
      cmocka_unit_test(dense_output_is_cubic_hermite_where_nobody_looks),
      cmocka_unit_test(a_look_into_one_step_costs_that_step_only),
      cmocka_unit_test(fused_stages_of_dopri5_agree_with_plain_ones),
      cmocka_unit_test(fused_stages_of_dop853_agree_with_plain_ones),
      cmocka_unit_test(memory_of_a_chain_grows_linearly_and_stays_below_400_bytes_per_mass),
      cmocka_unit_test(sweeps_of_dopri5_have_the_bits_of_single_stages),
      cmocka_unit_test(sweeps_of_dop853_have_the_bits_of_single_stages),
      cmocka_unit_test(error_control_reaches_tight_tolerances),
      cmocka_unit_test(constraints_hold_after_every_step_of_runge_and_kutta),
      cmocka_unit_test(speed_item_3_step_control_remembers_the_last_error_across_macro_points),
      cmocka_unit_test(symplectic_euler_keeps_the_energy_bounded),
      cmocka_unit_test(semi_euler_asks_for_a_step),
      cmocka_unit_test(copies_of_small_states_are_few_lines_where_nobody_looks),
      cmocka_unit_test(a_step_that_nobody_looks_into_keeps_no_start),
      cmocka_unit_test(weights_of_the_nystroem_form_are_products_of_the_tableau),
      cmocka_unit_test(long_arrays_begin_on_cache_lines_and_short_ones_share_them),
      cmocka_unit_test(solvers_of_equal_parts_share_their_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
