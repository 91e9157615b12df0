/* One integrator at work on a toy problem, for the tests of the implicit methods. */
#ifndef TESTS_INTEGRATE_TOY_RUN_H
#define TESTS_INTEGRATE_TOY_RUN_H

#include "integrate/integrator.h"
#include "integrate/toy_equations.h"

/* In double precision, unlike assert_float_equal. */
#define assert_near(x, y, tolerance) assert_true(fabs((x) - (y)) <= (tolerance))

typedef struct toy_run {
  yoke_context          *ctx;
  const yoke_equations  *equations;
  yoke_integrator       *integrator;
  yoke_integrator_state *state;
  void                  *scratch;
  double                *q, *v, *a, *lambda; /* of the state */
} toy_run;

static inline yoke_integrator_options toy_options(double rtol) {
  yoke_integrator_options options = yoke_integrator_options_default();
  options.rtol                    = rtol;
  options.atol                    = 1e-2 * rtol;
  return options;
}

static inline toy_run toy_run_open(const char *method, const yoke_equations *equations,
                                   const yoke_integrator_options *options, const double *q, const double *v,
                                   const yoke_signal *u) {
  toy_run run = {.equations = equations};
  assert_int_equal(yoke_context_create(&run.ctx), YOKE_OK);
  assert_int_equal(yoke_integrator_create(run.ctx, method, equations, options, &run.integrator), YOKE_OK);
  assert_int_equal(yoke_integrator_state_create(run.integrator, &run.state), YOKE_OK);
  assert_int_equal(yoke_integrator_scratch_create(run.integrator, &run.scratch), YOKE_OK);
  assert_int_equal(yoke_integrator_start(run.integrator, run.scratch, run.state, 0, q, v, u, run.ctx), YOKE_OK);
  run.q      = yoke_integrator_q(run.integrator, run.state);
  run.v      = yoke_integrator_v(run.integrator, run.state);
  run.a      = yoke_integrator_a(run.integrator, run.state);
  run.lambda = yoke_integrator_lambda(run.integrator, run.state);
  return run;
}

static inline void toy_run_close(toy_run *run) {
  yoke_integrator_state_destroy(&run->state);
  yoke_integrator_scratch_destroy(&run->scratch);
  yoke_integrator_destroy(&run->integrator);
  yoke_context_destroy(&run->ctx);
}

static inline void toy_run_to(toy_run *run, double t, const yoke_signal *u) {
  assert_int_equal(yoke_integrator_advance(run->integrator, run->scratch, run->state, u, t, run->ctx), YOKE_OK);
  assert_true(run->state->t == t);
}

/* Pendulum from rest at 90 degrees. */
static inline toy_run toy_run_pendulum(const char *method, yoke_equations *equations,
                                       const yoke_integrator_options *options) {
  double q[2], v[2];
  toy_pendulum(equations);
  toy_pendulum_state(acos(0.0), 0, q, v);
  return toy_run_open(method, equations, options, q, v, &yoke_signal_none);
}

typedef struct toy_error {
  double state;        /* of q and v together */
  double acceleration; /* of a */
  double reaction;     /* of lambda */
} toy_error;

/* Of the pendulum at its present time. */
static inline toy_error toy_run_pendulum_error(const toy_run *run) {
  double q[2], v[2], a[2], lambda;
  toy_pendulum_reference(run->state->t, q, v);
  toy_derivative(run->equations->self, NULL, run->state->t, q, v, NULL, NULL, a, &lambda);
  return (toy_error){.state =
                         hypot(hypot(run->q[0] - q[0], run->q[1] - q[1]), hypot(run->v[0] - v[0], run->v[1] - v[1])),
                     .acceleration = hypot(run->a[0] - a[0], run->a[1] - a[1]),
                     .reaction     = fabs(run->lambda[0] - lambda)};
}

/* Largest |g| and |g'| over the steps up to t. */
static inline double toy_run_drift(toy_run *run, double t) {
  double worst = 0;
  while (run->state->t < t) {
    assert_int_equal(yoke_integrator_step(run->integrator, run->scratch, run->state, &yoke_signal_none, t, run->ctx),
                     YOKE_OK);
    double g, gd;
    toy_constraint(run->equations->self, NULL, run->state->t, run->q, run->v, &g, &gd);
    worst = fmax(worst, fmax(fabs(g), fabs(gd)));
  }
  return worst;
}

/* Kepler's problem to t = 2 in one go: error of q and v. */
static inline double toy_run_kepler_error(const char *method, const yoke_integrator_options *options) {
  yoke_equations equations;
  double         q[2], v[2];
  toy_nonlinear(&equations);
  toy_nonlinear_exact(0, q, v);
  toy_run run = toy_run_open(method, &equations, options, q, v, &yoke_signal_none);
  toy_run_to(&run, 2, &yoke_signal_none);
  toy_nonlinear_exact(2, q, v);
  const double error = hypot(hypot(run.q[0] - q[0], run.q[1] - q[1]), hypot(run.v[0] - v[0], run.v[1] - v[1]));
  toy_run_close(&run);
  return error;
}

/* Angle equation of the pendulum to t = 1, from rest at 90 degrees: error of sin, cos of the angle and the velocity. */
static inline double toy_run_angle_error(const char *method, const yoke_integrator_options *options) {
  yoke_equations equations;
  double         q[2], v[2], phi = acos(0.0), w = 0;
  toy_angle(&equations);
  toy_run run = toy_run_open(method, &equations, options, &phi, &w, &yoke_signal_none);
  toy_run_to(&run, 1, &yoke_signal_none);
  double x[2], xd[2];
  toy_pendulum_reference(1, q, v);
  toy_pendulum_state(run.q[0], run.v[0], x, xd);
  const double error = hypot(hypot(x[0] - q[0], x[1] - q[1]), hypot(xd[0] - v[0], xd[1] - v[1]));
  toy_run_close(&run);
  return error;
}

/* Save, n steps, restore, n steps: the same bits in t, h, order and all that follows the head? */
static inline bool toy_run_repeats(toy_run *run, double t_stop, int n, const yoke_signal *u) {
  yoke_integrator_state *saved = NULL, *first = NULL;
  assert_int_equal(yoke_integrator_state_create(run->integrator, &saved), YOKE_OK);
  assert_int_equal(yoke_integrator_state_create(run->integrator, &first), YOKE_OK);
  yoke_integrator_copy(run->integrator, saved, run->state);
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < n && run->state->t < t_stop; ++i) {
      assert_int_equal(yoke_integrator_step(run->integrator, run->scratch, run->state, u, t_stop, run->ctx), YOKE_OK);
    }
    if (pass == 0) {
      yoke_integrator_copy(run->integrator, first, run->state);
      yoke_integrator_copy(run->integrator, run->state, saved);
    }
  }
  const size_t start = sizeof(yoke_integrator_state);
  const bool   same =
      memcmp(&first->t, &run->state->t, sizeof first->t) == 0 && first->h == run->state->h &&
      first->order == run->state->order && first->counters.iterations == run->state->counters.iterations &&
      memcmp((const char *)first + start, (const char *)run->state + start, run->integrator->state_size - start) == 0;
  yoke_integrator_state_destroy(&saved);
  yoke_integrator_state_destroy(&first);
  return same;
}

#endif
