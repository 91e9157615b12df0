/* What every integrator of the list must do: repeat a step to the bit, stop where it is told, mind break points. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "integrate_helpers.h"
#include "model/chain_kernel.h"
#include <sys/resource.h>

enum { MOST_N = 8 }; /* coordinates of a problem */

typedef void (*toy_maker)(yoke_equations *);

/* Begin with error control, or with a fixed step if the method has none. false: not made for this problem. */
static bool begin_any(toy_run *run, toy_maker problem, const char *name, double rtol, double step, const double *q,
                      const double *v, const yoke_signal *u) {
  yoke_integrator_options o = toy_options(rtol);
  if (toy_run_begin(run, problem, name, &o, q, v, u) == YOKE_OK) return true;
  toy_run_end(run);
  o.fixed_step = step;
  if (toy_run_begin(run, problem, name, &o, q, v, u) == YOKE_OK) return true;
  toy_run_end(run);
  return false;
}

static yoke_status step(toy_run *run, yoke_integrator_state *state, const yoke_signal *u, double t) {
  return yoke_integrator_step(run->integrator, run->scratch, state, u, t, run->ctx);
}

/* Bits of everything a caller sees, dense output included. */
static void assert_same_bits(const toy_run *run, const yoke_integrator_state *a, const yoke_integrator_state *b) {
  const yoke_equations  *e = &run->equations;
  const yoke_integrator *x = run->integrator;
  double                 qa[MOST_N], va[MOST_N], qb[MOST_N], vb[MOST_N];
  assert_true(e->nq <= MOST_N);
  assert_memory_equal(&a->t, &b->t, sizeof a->t);
  assert_memory_equal(&a->h, &b->h, sizeof a->h);
  assert_memory_equal(&a->counters, &b->counters, sizeof a->counters);
  assert_memory_equal(yoke_integrator_q(x, a), yoke_integrator_q(x, b), (size_t)e->nq * sizeof(double));
  assert_memory_equal(yoke_integrator_v(x, a), yoke_integrator_v(x, b), (size_t)e->nv * sizeof(double));
  assert_memory_equal(yoke_integrator_a(x, a), yoke_integrator_a(x, b), (size_t)e->nv * sizeof(double));
  if (e->ng > 0)
    assert_memory_equal(yoke_integrator_lambda(x, a), yoke_integrator_lambda(x, b), e->ng * sizeof(double));
  const double t = 0.4 * a->t_prev + 0.6 * a->t;
  yoke_integrator_interpolate(x, a, t, qa, va);
  yoke_integrator_interpolate(x, b, t, qb, vb);
  assert_memory_equal(qa, qb, (size_t)e->nq * sizeof(double));
  assert_memory_equal(va, vb, (size_t)e->nv * sizeof(double));
}

/* Save, go on, restore, go on: the same bits, also from a copy of the copy and with another scratch. */
static void check_repeats(toy_run *run, const yoke_signal *u, double t_end) {
  yoke_integrator_state *saved = NULL, *second = NULL, *first = NULL;
  void                  *scratch = NULL;
  assert_int_equal(yoke_integrator_state_create(run->integrator, &saved), YOKE_OK);
  assert_int_equal(yoke_integrator_state_create(run->integrator, &first), YOKE_OK);
  assert_int_equal(yoke_integrator_state_create(run->integrator, &second), YOKE_OK);
  assert_int_equal(yoke_integrator_scratch_create(run->integrator, &scratch), YOKE_OK);
  memset(scratch, 0x5a, run->integrator->scratch_size); /* what scratch holds must not matter */
  for (int i = 0; i < 60 && run->state->t < t_end; ++i) {
    yoke_integrator_copy(run->integrator, saved, run->state);
    yoke_integrator_copy(run->integrator, second, saved);
    for (int k = 0; k < 3; ++k) {
      assert_int_equal(step(run, run->state, u, t_end), YOKE_OK);
      assert_int_equal(yoke_integrator_step(run->integrator, scratch, second, u, t_end, NULL), YOKE_OK);
      assert_same_bits(run, run->state, second);
      if (k == 0) yoke_integrator_copy(run->integrator, first, run->state);
    }
    yoke_integrator_copy(run->integrator, run->state, saved);
    assert_int_equal(step(run, run->state, u, t_end), YOKE_OK);
    assert_same_bits(run, run->state, first);
  }
  yoke_integrator_state_destroy(&saved);
  yoke_integrator_state_destroy(&first);
  yoke_integrator_state_destroy(&second);
  yoke_integrator_scratch_destroy(&scratch);
}

static const double      ramp_times[3]  = {0, 0.5, 3};
static const double      ramp_coeffs[4] = {1, 0.5, -2, 0};
static const yoke_signal ramp           = {.n = 1, .n_pieces = 2, .degree = 1, .t = ramp_times, .c = ramp_coeffs};

static void every_method_repeats_its_steps_to_the_bit(void **s) {
  (void)s;
  const double q_linear[2] = {0.1, -0.2}, v_linear[2] = {0.3, 0.05};
  for (int i = 0; i < yoke_integrator_n_methods(); ++i) {
    const char *name = yoke_integrator_method_name(i);
    toy_run     run;
    double      q[2], v[2];
    int         n_problems = 0;
    toy_pendulum_state(2, 0.5, q, v);
    if (begin_any(&run, toy_pendulum, name, 1e-6, 1e-3, q, v, &yoke_signal_none)) {
      if (!run.integrator->ops->no_copy) check_repeats(&run, &yoke_signal_none, 2);
      toy_run_end(&run);
      ++n_problems;
    }
    if (begin_any(&run, toy_linear, name, 1e-6, 1e-3, q_linear, v_linear, &ramp)) {
      if (!run.integrator->ops->no_copy) check_repeats(&run, &ramp, 2);
      toy_run_end(&run);
      ++n_problems;
    }
    assert_true(n_problems > 0);
  }
}

static void every_method_stops_exactly_where_it_is_told(void **s) {
  (void)s;
  const double q[2] = {0.1, -0.2}, v[2] = {0.3, 0.05};
  for (int i = 0; i < yoke_integrator_n_methods(); ++i) {
    toy_run run;
    assert_true(begin_any(&run, toy_linear, yoke_integrator_method_name(i), 1e-6, 1e-3, q, v, &ramp));
    const double stops[] = {1e-3, 0.1, 0.1 + 1e-15, 0.3, nextafter(0.3, 1), 0.5, 0.7};
    for (int k = 0; k < 7; ++k) {
      assert_int_equal(toy_run_to(&run, &ramp, stops[k]), YOKE_OK);
      assert_true(run.state->t == stops[k]);
    }
    toy_run_end(&run);
  }
}

/* q'' = u with u = 0 up to 0.5, then 1: v(1) = 0.5, q(1) = 0.125. */
static const double      jump_times[3]  = {0, 0.5, 2};
static const double      jump_coeffs[2] = {0, 1};
static const yoke_signal jump           = {.n = 1, .n_pieces = 2, .degree = 0, .t = jump_times, .c = jump_coeffs};

static void no_step_crosses_a_break_point_and_jumps_are_seen(void **s) {
  (void)s;
  const double zero = 0;
  for (int i = 0; i < yoke_integrator_n_methods(); ++i) {
    const char *name = yoke_integrator_method_name(i);
    toy_run     run;
    if (!begin_any(&run, toy_push, name, 1e-8, 1e-4, &zero, &zero, &jump)) continue;
    while (run.state->t < 1) {
      assert_int_equal(step(&run, run.state, &jump, 1), YOKE_OK);
      assert_false(run.state->t_prev < 0.5 && run.state->t > 0.5);
      if (run.state->t == 0.5)
        assert_true(fabs(yoke_integrator_a(run.integrator, run.state)[0]) < 1e-9); /* left limit */
    }
    const double q1 = 0.125, v1 = 0.5;
    if (!(toy_run_error(&run, &q1, &v1) < 1e-4)) print_error("%s: %g\n", name, toy_run_error(&run, &q1, &v1));
    assert_true(toy_run_error(&run, &q1, &v1) < 1e-4);
    toy_run_end(&run);
  }
}

/* v' = 1 from t = 0.25 on, 0 before; announced by next_break. */
static void late_force(const toy_problem *p, double t, const double *q, const double *v, const double *u, double *f,
                       double *df_dq, double *df_dv) {
  (void)p, (void)q, (void)v, (void)u;
  f[0] = t >= 0.25 ? 1 : 0;
  if (df_dq != NULL) df_dq[0] = df_dv[0] = 0;
}

static double late_break(const void *self, double t) {
  (void)self;
  return t < 0.25 ? 0.25 : (double)INFINITY;
}

static void make_late(yoke_equations *e) {
  static const yoke_equations_ops ops     = {.kind = "late", .derivative = toy_derivative, .next_break = late_break};
  static const toy_problem        problem = {.n = 1, .force = late_force};
  toy_fill(e, &ops, &problem);
}

static void break_points_of_the_equations_are_stops(void **s) {
  (void)s;
  const char *const names[] = {"dopri5", "dop853", "abm", "auto"};
  const double      zero    = 0;
  for (int i = 0; i < 4; ++i) {
    const yoke_integrator_options o = toy_options(1e-9);
    toy_run                       run;
    bool                          stopped = false;
    assert_int_equal(toy_run_begin(&run, make_late, names[i], &o, &zero, &zero, &yoke_signal_none), YOKE_OK);
    while (run.state->t < 1) {
      assert_int_equal(step(&run, run.state, &yoke_signal_none, 1), YOKE_OK);
      if (run.state->t == 0.25) stopped = true;
    }
    assert_true(stopped);
    assert_true(fabs(toy_run_v(&run)[0] - 0.75) < 1e-6);
    toy_run_end(&run);
  }
}

static void a_clipped_step_does_not_set_the_next_one(void **s) {
  (void)s;
  const char *const names[] = {"dopri5", "dop853", "abm", "auto"};
  for (int i = 0; i < 4; ++i) {
    const yoke_integrator_options o = toy_options(1e-7);
    toy_run                       run;
    double                        q[2], v[2];
    toy_nonlinear_exact(0, q, v);
    assert_int_equal(toy_run_begin(&run, toy_nonlinear, names[i], &o, q, v, &yoke_signal_none), YOKE_OK);
    assert_int_equal(toy_run_to(&run, &yoke_signal_none, 3), YOKE_OK);
    const double h = run.state->h;
    assert_int_equal(toy_run_to(&run, &yoke_signal_none, run.state->t + 1e-4 * h), YOKE_OK);
    assert_true(run.state->h > 0.99 * h);
    toy_run_end(&run);
  }
}

/* v' = -sqrt(1 - q), defined for q <= 1 only: q = 1 - (1 - t / 2)^4 ... from rest near the edge. */
static void edge_force(const toy_problem *p, double t, const double *q, const double *v, const double *u, double *f,
                       double *df_dq, double *df_dv) {
  (void)p, (void)t, (void)v, (void)u, (void)df_dq, (void)df_dv;
  f[0] = -4 * sqrt(1 - q[0]);
}

static void make_edge(yoke_equations *e) {
  static const yoke_equations_ops ops     = {.kind = "edge", .derivative = toy_derivative};
  static const toy_problem        problem = {.n = 1, .force = edge_force};
  toy_fill(e, &ops, &problem);
}

static void a_stage_that_is_not_finite_is_a_rejected_step(void **s) {
  (void)s;
  const char *const names[] = {"dopri5", "dop853", "abm", "auto"};
  for (int i = 0; i < 4; ++i) {
    yoke_integrator_options o  = toy_options(1e-8);
    const double            q0 = 0, v0 = 1; /* thrown towards the edge, turns before it */
    toy_run                 run;
    o.first_step = 5;
    assert_int_equal(toy_run_begin(&run, make_edge, names[i], &o, &q0, &v0, &yoke_signal_none), YOKE_OK);
    assert_int_equal(toy_run_to(&run, &yoke_signal_none, 0.4), YOKE_OK);
    assert_int_equal(toy_run_to(&run, &yoke_signal_none, 1), YOKE_OK);
    o.first_step = 0;
    o.rtol = o.atol = 1e-12;
    toy_run reference;
    assert_int_equal(toy_run_begin(&reference, make_edge, "dop853", &o, &q0, &v0, &yoke_signal_none), YOKE_OK);
    assert_int_equal(toy_run_to(&reference, &yoke_signal_none, 1), YOKE_OK);
    assert_true(toy_run_error(&run, toy_run_q(&reference), toy_run_v(&reference)) < 1e-6);
    toy_run_end(&run);
    toy_run_end(&reference);
  }
}

/* Beyond the edge there is nothing: an error with a message, no endless loop. */
static void an_impossible_motion_ends_with_a_message(void **s) {
  (void)s;
  const char *const names[] = {"dopri5", "dop853", "abm", "auto"};
  for (int i = 0; i < 4; ++i) {
    const yoke_integrator_options o  = toy_options(1e-8);
    const double                  q0 = 0, v0 = 5;
    toy_run                       run;
    assert_int_equal(toy_run_begin(&run, make_edge, names[i], &o, &q0, &v0, &yoke_signal_none), YOKE_OK);
    assert_true(yoke_integrator_advance(run.integrator, run.scratch, run.state, &yoke_signal_none, 3, run.ctx) < 0);
    assert_true(yoke_context_n_errors(run.ctx) > 0);
    assert_true(run.state->t < 1 && toy_run_q(&run)[0] <= 1);
    toy_run_end(&run);
  }
}

static void start_and_reset_project_onto_the_constraints(void **s) {
  (void)s;
  for (int i = 0; i < yoke_integrator_n_methods(); ++i) {
    const double off_q[2] = {1.1, -0.1}, off_v[2] = {0.5, 1};
    toy_run      run;
    double       q[2], v[2], g, gd;
    if (!begin_any(&run, toy_pendulum, yoke_integrator_method_name(i), 1e-7, 1e-4, off_q, off_v, &yoke_signal_none))
      continue;
    run.equations.ops->constraint(run.equations.self, NULL, 0, toy_run_q(&run), toy_run_v(&run), &g, &gd);
    assert_true(fabs(g) < 1e-12 && fabs(gd) < 1e-12);
    assert_int_equal(toy_run_to(&run, &yoke_signal_none, 0.1), YOKE_OK);

    /* go on from the rest at 90 degrees: the same as the reference 0.2 s later */
    toy_pendulum_state(acos(-1.0) / 2, 0, q, v);
    q[0] *= 1.01;
    assert_int_equal(yoke_integrator_reset(run.integrator, run.scratch, run.state, q, v, &yoke_signal_none, run.ctx),
                     0);
    run.equations.ops->constraint(run.equations.self, NULL, 0, toy_run_q(&run), toy_run_v(&run), &g, &gd);
    assert_true(fabs(g) < 1e-12 && fabs(gd) < 1e-12);
    assert_int_equal(toy_run_to(&run, &yoke_signal_none, 0.3), YOKE_OK);
    toy_pendulum_reference(0.3 - 0.1, q, v);
    const double error = toy_run_error(&run, q, v);
    if (!(error < 2e-3)) print_error("%s: %g\n", yoke_integrator_method_name(i), error);
    assert_true(error < 2e-3);
    toy_run_end(&run);
  }
}

/* x'' = -x and a quadrature w' = S v^2 of any size S: the steps do not depend on S. */
static yoke_status work_derivative(const void *self, void *work, double t, const double *q, const double *v,
                                   const double *u, double *qdot, double *a, double *lambda) {
  (void)work, (void)t, (void)u, (void)lambda;
  a[0] = -q[0];
  if (qdot != NULL) {
    qdot[0] = v[0];
    qdot[1] = *(const double *)self * v[0] * v[0];
  }
  return YOKE_OK;
}

static void quadratures_are_in_no_error_norm(void **s) {
  (void)s;
  static const yoke_equations_ops ops       = {.kind = "quadrature", .derivative = work_derivative};
  const char *const               names[]   = {"dopri5", "dop853", "abm"};
  double                          scales[2] = {1, 1e9};
  for (int i = 0; i < 3; ++i) {
    int64_t steps[2];
    for (int k = 0; k < 2; ++k) {
      yoke_equations e = {.ops = &ops, .self = &scales[k], .nq = 2, .nv = 1, .n_quadratures = 1, .work_size = 8};
      const yoke_integrator_options o    = toy_options(1e-7);
      const double                  q[2] = {1, 0}, v = 0;
      yoke_integrator              *integrator;
      yoke_integrator_state        *state;
      void                         *scratch;
      assert_int_equal(yoke_integrator_create(NULL, names[i], &e, &o, &integrator), YOKE_OK);
      assert_int_equal(yoke_integrator_state_create(integrator, &state), YOKE_OK);
      assert_int_equal(yoke_integrator_scratch_create(integrator, &scratch), YOKE_OK);
      assert_int_equal(yoke_integrator_start(integrator, scratch, state, 0, q, &v, &yoke_signal_none, NULL), YOKE_OK);
      assert_int_equal(yoke_integrator_advance(integrator, scratch, state, &yoke_signal_none, 5, NULL), YOKE_OK);
      steps[k] = state->counters.steps;
      /* integral of sin^2 */
      assert_true(fabs(yoke_integrator_q(integrator, state)[1] / scales[k] - (2.5 - sin(10) / 4)) < 1e-4);
      yoke_integrator_state_destroy(&state);
      yoke_integrator_scratch_destroy(&scratch);
      yoke_integrator_destroy(&integrator);
    }
    assert_int_equal(steps[0], steps[1]);
  }
}

static void wrong_use_is_refused_with_a_message(void **s) {
  (void)s;
  yoke_integrator_options o = toy_options(1e-6);
  toy_run                 run;
  double                  q[2], v[2];
  toy_nonlinear_exact(0, q, v);
  assert_int_equal(toy_run_begin(&run, toy_nonlinear, "dopri", &o, q, v, &yoke_signal_none), YOKE_E_USAGE);
  assert_non_null(strstr(yoke_context_message(run.ctx, 0), "dopri5"));
  toy_run_end(&run);
  o.rtol = -1;
  assert_int_equal(toy_run_begin(&run, toy_nonlinear, "dopri5", &o, q, v, &yoke_signal_none), YOKE_E_USAGE);
  toy_run_end(&run);
  o.rtol = (double)NAN;
  assert_int_equal(toy_run_begin(&run, toy_nonlinear, "dopri5", &o, q, v, &yoke_signal_none), YOKE_E_USAGE);
  toy_run_end(&run);
  o.rtol = 1e-6;
  assert_int_equal(toy_run_begin(&run, toy_linear, "dopri5", &o, q, v, &yoke_signal_none), YOKE_E_USAGE);
  toy_run_end(&run);
  assert_int_equal(toy_run_begin(&run, toy_nonlinear, "dopri5", &o, q, v, &yoke_signal_none), YOKE_OK);
  assert_int_equal(yoke_integrator_advance(run.integrator, run.scratch, run.state, &yoke_signal_none, -1, run.ctx),
                   YOKE_E_USAGE);
  assert_int_equal(step(&run, run.state, &yoke_signal_none, -1), YOKE_E_USAGE);
  toy_run_end(&run);
}

static void states_and_scratch_start_on_a_cache_line(void **s) {
  (void)s;
  const yoke_integrator_options o = toy_options(1e-6);
  toy_run                       run;
  double                        q[2], v[2];
  toy_nonlinear_exact(0, q, v);
  assert_int_equal(toy_run_begin(&run, toy_nonlinear, "dopri5", &o, q, v, &yoke_signal_none), YOKE_OK);
  assert_int_equal((uintptr_t)run.state % 64, 0);
  assert_int_equal((uintptr_t)run.scratch % 64, 0);
  assert_int_equal((uintptr_t)yoke_integrator_own(run.integrator, run.state) % 64, 0);
  toy_run_end(&run);
}

static void error_norm_is_the_weighted_mean_square(void **s) {
  (void)s;
  const double  e[3] = {3e-3, 4e-3, 1e9}, y0[3] = {0, -1, 0}, y1[3] = {1, 0.5, 0};
  const uint8_t weight[3] = {1, 1, 0};
  assert_true(fabs(yoke_error_norm(3, e, y0, y1, 1e-3, 0, weight) - sqrt(12.5)) < 1e-12);
  assert_true(fabs(yoke_error_norm(2, e, y0, y1, 0, 1e-3, NULL) - sqrt(12.5)) < 1e-12);
  assert_true(yoke_error_norm(0, e, y0, y1, 1e-3, 0, NULL) == 0);
}

/* Van der Pol with eps = 1e-6 over two falls; reference: Test Set for Initial Value Problems, problem vdpol. */
static void auto_turns_implicit_where_it_is_stiff(void **s) {
  (void)s;
  const yoke_integrator_options o  = toy_options(1e-6);
  const double                  q0 = 2, v0 = 0;
  toy_run                       run;
  assert_int_equal(toy_run_begin(&run, toy_vanderpol, "auto", &o, &q0, &v0, &yoke_signal_none), YOKE_OK);
  assert_string_equal(yoke_integrator_method_at_work(run.integrator, run.state), "dopri5");
  assert_int_equal(toy_run_to(&run, &yoke_signal_none, 2), YOKE_OK);
  assert_string_not_equal(yoke_integrator_method_at_work(run.integrator, run.state), "dopri5");
  assert_true(fabs(toy_run_q(&run)[0] - 1.706167732170469) < 1e-5);
  assert_true(run.state->counters.evaluations < 20000);
  toy_run_end(&run);
}

/* The order follows the tolerance, and the stops: where they are near, the low one does. */
static void auto_stays_explicit_where_it_is_not_stiff(void **s) {
  (void)s;
  static const struct {
    double      rtol, stop;
    const char *method;
  } rows[] = {{1e-6, 20.0, "dopri5"}, {1e-7, 20.0, "dop853"}, {1e-8, 20.0, "dop853"}, {1e-8, 1e-3, "dopri5"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    const yoke_integrator_options o = toy_options(rows[i].rtol);
    toy_run                       run;
    double                        q[2], v[2];
    toy_nonlinear_exact(0, q, v);
    assert_int_equal(toy_run_begin(&run, toy_nonlinear, "auto", &o, q, v, &yoke_signal_none), YOKE_OK);
    for (int k = 1; rows[i].stop * k < 20.5; ++k)
      assert_int_equal(toy_run_to(&run, &yoke_signal_none, rows[i].stop * k), YOKE_OK);
    assert_string_equal(yoke_integrator_method_at_work(run.integrator, run.state), rows[i].method);
    toy_nonlinear_exact(run.state->t, q, v);
    assert_true(toy_run_error(&run, q, v) < 1e3 * rows[i].rtol);
    toy_run_end(&run);
  }
}

/* One step of dop853 from stop to stop takes 12 evaluations, one of dopri5 6, and one at the stop itself. */
static void auto_takes_the_low_order_where_stops_are_near(void **s) {
  (void)s;
  const yoke_integrator_options o     = toy_options(1e-8);
  const double                  q0[2] = {1, 0}, v0[2] = {0, 0};
  toy_run                       run;
  assert_int_equal(toy_run_begin(&run, toy_pendulum, "auto", &o, q0, v0, &yoke_signal_none), YOKE_OK);
  assert_int_equal(toy_run_to(&run, &yoke_signal_none, 1), YOKE_OK);
  assert_string_equal(yoke_integrator_method_at_work(run.integrator, run.state), "dop853");
  for (int i = 1; i <= 20; ++i) assert_int_equal(toy_run_to(&run, &yoke_signal_none, 1 + 1e-3 * i), YOKE_OK);
  assert_string_equal(yoke_integrator_method_at_work(run.integrator, run.state), "dopri5");
  const int64_t before = run.state->counters.evaluations;
  for (int i = 21; i <= 120; ++i) assert_int_equal(toy_run_to(&run, &yoke_signal_none, 1 + 1e-3 * i), YOKE_OK);
  assert_in_range(run.state->counters.evaluations - before, 600, 750);
  assert_int_equal(toy_run_to(&run, &yoke_signal_none, 3), YOKE_OK);
  assert_string_equal(yoke_integrator_method_at_work(run.integrator, run.state), "dop853");
  toy_run_end(&run);
}

static void auto_returns_to_the_explicit_method_and_repeats_to_the_bit(void **s) {
  (void)s;
  const yoke_integrator_options o  = toy_options(1e-6);
  const double                  q0 = 0, v0 = 1;
  toy_run                       run;
  yoke_integrator_state        *copy;
  void                         *scratch;
  int                           turns = 0;
  assert_int_equal(toy_run_begin(&run, toy_fading, "auto", &o, &q0, &v0, &yoke_signal_none), YOKE_OK);
  assert_int_equal(yoke_integrator_state_create(run.integrator, &copy), YOKE_OK);
  assert_int_equal(yoke_integrator_scratch_create(run.integrator, &scratch), YOKE_OK);
  while (run.state->t < 8) {
    const int method = run.state->method;
    yoke_integrator_copy(run.integrator, copy, run.state);
    assert_int_equal(step(&run, run.state, &yoke_signal_none, 8), YOKE_OK);
    assert_int_equal(yoke_integrator_step(run.integrator, scratch, copy, &yoke_signal_none, 8, NULL), YOKE_OK);
    assert_same_bits(&run, run.state, copy);
    turns += run.state->method != method;
  }
  assert_int_equal(turns, 2);
  assert_string_equal(yoke_integrator_method_at_work(run.integrator, run.state), "dopri5");
  yoke_integrator_state_destroy(&copy);
  yoke_integrator_scratch_destroy(&scratch);
  toy_run_end(&run);
}

/* A stiff chain, whose implicit view tells its size before it is made, or keeps it to itself. */
enum { STIFF_N = MOST_N, LONG_N = 600 /* bdf instead of radau5 */ };
static int  n_stiff = STIFF_N;
static bool tells_size;

static void make_stiff_chain(yoke_equations *equations) {
  static yoke_equations_ops silent;
  const yoke_chain          chain = {.n          = n_stiff,
                                     .mass       = {.value = 1.0},
                                     .stiffness  = {.value = 1e3},
                                     .damping    = {.value = 1e5},
                                     .exponent_x = 3.0,
                                     .exponent_v = 3.0};
  assert_int_equal(yoke_chain_equations_create(NULL, &chain, 0, 0, NULL, NULL, equations), YOKE_OK);
  silent          = *equations->ops;
  silent.dae_size = NULL;
  if (!tells_size) equations->ops = &silent;
}

static void end_chain(toy_run *run) {
  yoke_equations equations = run->equations;
  toy_run_end(run);
  yoke_equations_destroy(&equations);
}

static void auto_makes_its_implicit_method_when_it_turns_and_not_before(void **s) {
  const double rtol[] = {1e-6, 1e-10};
  (void)s;
  for (int i = 0; i < 4; ++i) {
    const yoke_integrator_options o          = toy_options(rtol[i / 2]);
    double                        q[STIFF_N] = {1.0}, v[STIFF_N] = {0.0};
    toy_run                       run, other;
    tells_size = i % 2 == 0;
    assert_int_equal(toy_run_begin(&run, make_stiff_chain, "auto", &o, q, v, &yoke_signal_none), YOKE_OK);
    assert_int_equal(run.integrator->ops->linear(run.integrator, 0) == NULL, tells_size);
    assert_int_equal(toy_run_to(&run, &yoke_signal_none, 1), YOKE_OK);
    assert_string_equal(yoke_integrator_method_at_work(run.integrator, run.state), "radau5");
    assert_non_null(run.integrator->ops->linear(run.integrator, 0));
    tells_size = !tells_size;
    assert_int_equal(toy_run_begin(&other, make_stiff_chain, "auto", &o, q, v, &yoke_signal_none), YOKE_OK);
    assert_int_equal(other.integrator->state_size, run.integrator->state_size);
    assert_int_equal(other.integrator->scratch_size, run.integrator->scratch_size);
    assert_int_equal(toy_run_to(&other, &yoke_signal_none, 1), YOKE_OK);
    assert_same_bits(&run, run.state, other.state);
    end_chain(&run);
    end_chain(&other);
  }
}

static void auto_has_room_for_either_implicit_method_before_that_is_made(void **s) {
  (void)s;
  for (int i = 0; i < 4; ++i) {
    yoke_integrator_options o       = toy_options(i % 2 == 0 ? 1e-6 : 1e-10); /* bdf, radau5 */
    size_t                  size[2] = {0, 0}, scratch[2] = {0, 0};
    o.fixed_step = i < 2 ? 0.0 : 1e-3;
    n_stiff      = LONG_N;
    for (int k = 0; k < 2; ++k) {
      yoke_equations   e;
      yoke_integrator *integrator = NULL;
      tells_size                  = k == 0;
      make_stiff_chain(&e);
      assert_int_equal(yoke_integrator_create(NULL, "auto", &e, &o, &integrator), YOKE_OK);
      size[k]    = integrator->state_size;
      scratch[k] = integrator->scratch_size;
      yoke_integrator_destroy(&integrator);
      yoke_equations_destroy(&e);
    }
    n_stiff = STIFF_N;
    assert_int_equal(size[0], size[1]);
    assert_int_equal(scratch[0], scratch[1]);
  }
}

/* Equations that tell the size of their view tell the size that it has. */
static void sizes_of_views_are_told_as_they_are(void **s) {
  (void)s;
  for (int n = 1; n <= 5; ++n) {
    for (int form = YOKE_DAE_GGL; form <= YOKE_DAE_INDEX1; ++form) {
      const yoke_chain chain = {.n = n, .mass = {.value = 1.0}, .exponent_x = 3.0, .exponent_v = 3.0};
      yoke_equations   e;
      yoke_dae        *dae = NULL;
      int              nx, nnz;
      assert_int_equal(yoke_chain_equations_create(NULL, &chain, 0, 0, NULL, NULL, &e), YOKE_OK);
      e.ops->dae_size(e.self, (yoke_dae_form)form, &nx, &nnz);
      assert_int_equal(e.ops->dae_create(e.self, NULL, (yoke_dae_form)form, &dae), YOKE_OK);
      assert_int_equal(nx, dae->nx);
      assert_int_equal(nnz, dae->pattern->nnz);
      yoke_dae_destroy(&dae);
      yoke_equations_destroy(&e);
    }
  }
}

/* What a method wants zero is zero, and the rest of a state is not touched before it is used. */
static void a_start_leaves_alone_what_only_other_methods_use(void **s) {
  const yoke_integrator_options o          = toy_options(1e-6);
  double                        q[STIFF_N] = {1.0}, v[STIFF_N] = {0.0};
  toy_run                       run;
  (void)s;
  tells_size = true;
  assert_int_equal(toy_run_begin(&run, make_stiff_chain, "auto", &o, q, v, &yoke_signal_none), YOKE_OK);
  const size_t fresh = yoke_integrator_fresh(run.integrator), tail = yoke_integrator_tail(run.integrator);
  char *const  room = (char *)run.state + fresh;
  assert_true(fresh + 64 * STIFF_N < tail);
  memset(room, 0x55, tail - fresh);
  assert_int_equal(yoke_integrator_start(run.integrator, run.scratch, run.state, 0, q, v, &yoke_signal_none, run.ctx),
                   YOKE_OK);
  for (size_t i = 0; i < tail - fresh; ++i) assert_int_equal(room[i], 0x55);
  end_chain(&run);
}

/* The chain of Kraft's study of dense solvers (set DENSE), short; and a pendulum with its multipliers. */
static void make_dense_chain(yoke_equations *equations) {
  const yoke_chain chain = {.n               = MOST_N,
                            .mass            = {.value = 10.0},
                            .stiffness       = {.value = 1e5},
                            .damping         = {.value = 1.0},
                            .stiffness_power = {.value = 1e9},
                            .damping_power   = {.value = 1e4},
                            .exponent_x      = 3.0,
                            .exponent_v      = 3.0};
  assert_int_equal(yoke_chain_equations_create(NULL, &chain, 0, 0, NULL, NULL, equations), YOKE_OK);
}

/* q and v at t = 0.01 s. */
static void run_with(yoke_linear_kind linear, const char *name, bool is_chain, double *x) {
  yoke_integrator_options o         = toy_options(1e-6);
  double                  q[MOST_N] = {1.0}, v[MOST_N] = {0.0};
  toy_run                 run;
  o.linear     = linear;
  o.fixed_step = strcmp(name, "lin-implicit-euler") == 0 ? 1e-4 : 0.0;
  if (is_chain) q[0] = 1e-2;
  assert_int_equal(toy_run_begin(&run, is_chain ? make_dense_chain : toy_pendulum, name, &o, q, v, &yoke_signal_none),
                   YOKE_OK);
  assert_int_equal(toy_run_to(&run, &yoke_signal_none, 0.01), YOKE_OK);
  const int n = run.equations.nq;
  memcpy(x, yoke_integrator_q(run.integrator, run.state), (size_t)n * sizeof *x);
  memcpy(x + n, yoke_integrator_v(run.integrator, run.state), (size_t)n * sizeof *x);
  assert_true(run.state->counters.factorings > 0);
  if (is_chain)
    end_chain(&run);
  else
    toy_run_end(&run);
}

static void linear_solvers_agree_to_rounding_in_every_implicit_method(void **s) {
  static const char *const names[] = {"radau5", "bdf", "genalpha", "lin-implicit-euler"};
  (void)s;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    for (int is_chain = strcmp(names[i], "lin-implicit-euler") == 0; is_chain < 2; ++is_chain) {
      double x[3][2 * MOST_N] = {{0.0}};
      for (int kind = YOKE_LINEAR_KLU; kind <= YOKE_LINEAR_BANDED; ++kind)
        run_with((yoke_linear_kind)kind, names[i], is_chain, x[kind]);
      for (int k = 0; k < 2 * MOST_N; ++k) {
        assert_true(fabs(x[YOKE_LINEAR_DENSE][k] - x[YOKE_LINEAR_KLU][k]) <= 1e-11);
        assert_true(fabs(x[YOKE_LINEAR_BANDED][k] - x[YOKE_LINEAR_KLU][k]) <= 1e-11);
      }
    }
  }
}

/* Before the run, also where `auto` would make the matrix later. */
static void a_dense_matrix_that_is_larger_than_memory_is_refused_with_its_size(void **s) {
  static const char *const names[] = {"radau5", "bdf", "genalpha", "auto"};
  (void)s;
#if !defined(YOKE_SANITIZED) /* ends the program there */
  struct rlimit limit, low;
  assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0); /* systems may promise more than there is */
  low          = limit;
  low.rlim_cur = (rlim_t)1 << 40;
  assert_int_equal(setrlimit(RLIMIT_AS, &low), 0);
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    const yoke_chain        chain = {.n = 400000, .mass = {.value = 1.0}, .exponent_x = 3.0, .exponent_v = 3.0};
    yoke_integrator_options o     = toy_options(1e-6);
    yoke_equations          e;
    yoke_integrator        *integrator = NULL;
    yoke_context           *ctx        = NULL;
    o.linear                           = YOKE_LINEAR_DENSE;
    assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
    assert_int_equal(yoke_chain_equations_create(ctx, &chain, 0, 0, NULL, NULL, &e), YOKE_OK);
    assert_int_equal(yoke_integrator_create(ctx, names[i], &e, &o, &integrator), YOKE_E_MEMORY);
    assert_non_null(strstr(yoke_context_message(ctx, 0), "a matrix of 400000 rows takes 1.28e+03 GB, more memory"));
    yoke_equations_destroy(&e);
    yoke_context_destroy(&ctx);
  }
  assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
#else
  (void)names;
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linear_solvers_agree_to_rounding_in_every_implicit_method),
      cmocka_unit_test(a_dense_matrix_that_is_larger_than_memory_is_refused_with_its_size),
      cmocka_unit_test(auto_makes_its_implicit_method_when_it_turns_and_not_before),
      cmocka_unit_test(auto_has_room_for_either_implicit_method_before_that_is_made),
      cmocka_unit_test(sizes_of_views_are_told_as_they_are),
      cmocka_unit_test(a_start_leaves_alone_what_only_other_methods_use),
      cmocka_unit_test(every_method_repeats_its_steps_to_the_bit),
      cmocka_unit_test(every_method_stops_exactly_where_it_is_told),
      cmocka_unit_test(no_step_crosses_a_break_point_and_jumps_are_seen),
      cmocka_unit_test(break_points_of_the_equations_are_stops),
      cmocka_unit_test(a_clipped_step_does_not_set_the_next_one),
      cmocka_unit_test(a_stage_that_is_not_finite_is_a_rejected_step),
      cmocka_unit_test(an_impossible_motion_ends_with_a_message),
      cmocka_unit_test(start_and_reset_project_onto_the_constraints),
      cmocka_unit_test(quadratures_are_in_no_error_norm),
      cmocka_unit_test(wrong_use_is_refused_with_a_message),
      cmocka_unit_test(states_and_scratch_start_on_a_cache_line),
      cmocka_unit_test(error_norm_is_the_weighted_mean_square),
      cmocka_unit_test(auto_turns_implicit_where_it_is_stiff),
      cmocka_unit_test(auto_stays_explicit_where_it_is_not_stiff),
      cmocka_unit_test(auto_takes_the_low_order_where_stops_are_near),
      cmocka_unit_test(auto_returns_to_the_explicit_method_and_repeats_to_the_bit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
