/* lin-implicit-euler: one linear system per step, order 1, for stiff models at fixed steps (real time).
 *
 *   (E / h - J) dx = F(t_{n+1}, x_n, u(t_{n+1})),  x_{n+1} = x_n + dx,   J at (t_{n+1}, x_n)
 *
 * Constraints are met in linearised form by dx; q, then v are projected onto them afterwards, so nothing drifts.
 * Without a fixed step the local error (h^2 / 2) x'' is estimated from  x'' ~ (dx / h - x'(t_n)) / h, filtered:
 *   e = (E / h - J)^-1 E (dx / h - x'(t_n)) / 2.
 * a and lambda at the new point come from the equations on the acceleration level; quadratures by the trapezoidal rule.
 * J is made in every step, so the state keeps a factor only for its pivot order. */
#include "integrate/implicit.h"
#include "integrate/methods.h"
#include "integrate/two_ends.h"
#include "base/text.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAFETY = 0.9, GROW = 5.0, SHRINK = 0.2;

typedef struct euler_work {
  void   *equations;
  double *u, *x, *x_new, *dx, *scale, *rates, *rates_new, *lambda, *J, *linear;
} euler_work;

static size_t work_layout(const yoke_implicit *implicit, char *base, euler_work *work) {
  const size_t nx = (size_t)implicit->nx;
  size_t       at = yoke_cache_lines(implicit->equations->work_size);
  work->equations = base;
  work->u         = yoke_carve(base, &at, (size_t)implicit->equations->nu + 1);
  work->x         = yoke_carve(base, &at, nx);
  work->x_new     = yoke_carve(base, &at, nx);
  work->dx        = yoke_carve(base, &at, nx);
  work->scale     = yoke_carve(base, &at, nx);
  work->rates     = yoke_carve(base, &at, nx);
  work->rates_new = yoke_carve(base, &at, nx);
  work->lambda    = yoke_carve(base, &at, (size_t)implicit->n_lambda + 1);
  work->J         = yoke_carve(base, &at, (size_t)implicit->nnz);
  work->linear    = yoke_carve(base, &at, yoke_linear_work_size(implicit->linear));
  return at;
}

static yoke_status euler_create(yoke_context *ctx, yoke_integrator *integrator) {
  yoke_implicit *implicit = NULL;
  YOKE_TRY(yoke_implicit_create(ctx, integrator->equations, &integrator->options, &implicit));
  euler_work work;
  integrator->self       = implicit;
  integrator->state_size = yoke_integrator_head_size(integrator->equations) + yoke_two_ends_size(integrator->equations);
  integrator->scratch_size = work_layout(implicit, NULL, &work);
  return YOKE_OK;
}

static void euler_destroy(yoke_integrator *integrator) {
  yoke_implicit *implicit = integrator->self;
  yoke_implicit_destroy(&implicit);
  integrator->self = NULL;
}

/* x and its rates at the point of the state. */
static void pack(const yoke_integrator *integrator, const yoke_integrator_state *state, const euler_work *work) {
  yoke_implicit_pack(integrator->self, yoke_integrator_q(integrator, state), yoke_integrator_v(integrator, state),
                     yoke_integrator_a(integrator, state), yoke_integrator_lambda(integrator, state), work->x);
  yoke_two_ends_rates(integrator, state, work->rates);
}

/* q', a and lambda at the point of the state, and a first step where there is none yet. */
static yoke_status euler_begin(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                               const yoke_signal *u) {
  const yoke_implicit *implicit = integrator->self;
  euler_work           work;
  (void)work_layout(implicit, scratch, &work);
  YOKE_TRY(yoke_two_ends_begin(integrator, state, u, work.equations, work.u));
  if (state->h > 0.0) return YOKE_OK;
  pack(integrator, state, &work);
  state->h = yoke_implicit_first_step(implicit, &integrator->options, work.x, work.rates, 1);
  return YOKE_OK;
}

static yoke_status euler_start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                               const yoke_signal *u) {
  state->h     = 0.0;
  state->order = 1;
  return euler_begin(integrator, scratch, state, u);
}

static yoke_status euler_disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                 const yoke_signal *u, yoke_disturbance what) {
  (void)what;
  return euler_begin(integrator, scratch, state, u);
}

/* dx of a step to t_new in work->dx, x_new = x + dx. */
static yoke_status solve_step(const yoke_implicit *implicit, yoke_integrator_state *state, const yoke_signal *u,
                              double h, double t_new, const euler_work *work) {
  ++state->counters.jacobians;
  YOKE_TRY(yoke_implicit_jacobian(implicit, work->equations, work->u, u, YOKE_SIDE_LEFT, t_new, work->x, work->J));
  ++state->counters.factorings;
  YOKE_TRY(yoke_implicit_factor(implicit, 1.0 / h, 0.0, work->J, work->J, NULL, &state->factor[0]));
  ++state->counters.evaluations;
  YOKE_TRY(yoke_implicit_rhs(implicit, work->equations, work->u, u, YOKE_SIDE_LEFT, t_new, work->x, work->dx));
  yoke_factor_solve(state->factor[0], work->dx, NULL, work->linear);
  ++state->counters.iterations;
  for (int k = 0; k < implicit->nx; ++k) work->x_new[k] = work->x[k] + work->dx[k];
  return yoke_all_finite(implicit->nx, work->x_new) ? YOKE_OK : YOKE_NON_FINITE;
}

/* Norm of the local error; destroys work->dx. */
static double estimate_error(const yoke_integrator *integrator, const yoke_integrator_state *state, double h,
                             const euler_work *work) {
  const yoke_implicit *implicit = integrator->self;
  for (int k = 0; k < implicit->nq + implicit->nv; ++k) work->dx[k] = 0.5 * (work->dx[k] / h - work->rates[k]);
  for (int k = implicit->nq + implicit->nv; k < implicit->nx; ++k) work->dx[k] = 0.0;
  yoke_implicit_mass(implicit, work->dx, work->rates_new);
  yoke_factor_solve(state->factor[0], work->rates_new, NULL, work->linear);
  yoke_implicit_scale(implicit, integrator->options.atol, integrator->options.rtol, work->x, work->x_new, work->scale);
  return yoke_implicit_norm(implicit, work->rates_new, work->scale);
}

/* Project the end point, compute q', a, lambda there, then the quadratures. */
static yoke_status end_point(const yoke_integrator *integrator, yoke_integrator_state *state, const yoke_signal *u,
                             double h, double t_new, const euler_work *work, const yoke_step_end *end) {
  const yoke_implicit *implicit = integrator->self;
  YOKE_TRY(yoke_two_ends_project(integrator->equations, state, u, t_new, end));
  yoke_two_ends_quadratures(implicit, h, work->x, work->rates, end);
  return yoke_all_finite(implicit->nq, work->x_new) ? YOKE_OK : YOKE_NON_FINITE;
}

/* One try with step h: YOKE_OK, or a recoverable status and *shrink. *error is what the next proposal is based on. */
static yoke_status try_step(const yoke_integrator *integrator, yoke_integrator_state *state, const yoke_signal *u,
                            double h, double t_new, const euler_work *work, const yoke_step_end *end, double *error,
                            double *shrink) {
  *shrink = 0.25;
  YOKE_TRY(solve_step(integrator->self, state, u, h, t_new, work));
  *error = 0.0;
  if (!(integrator->options.fixed_step > 0.0)) {
    *error = estimate_error(integrator, state, h, work);
    if (!isfinite(*error)) return YOKE_NON_FINITE;
    if (*error > 1.0) {
      *shrink = fmax(SHRINK, SAFETY / sqrt(*error));
      return YOKE_NOT_CONVERGED;
    }
  }
  return end_point(integrator, state, u, h, t_new, work, end);
}

static yoke_status euler_step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                              const yoke_signal *u, double t_limit, yoke_context *ctx) {
  const yoke_implicit *implicit = integrator->self;
  const bool           is_fixed = integrator->options.fixed_step > 0.0;
  euler_work           work;
  (void)work_layout(implicit, scratch, &work);
  pack(integrator, state, &work);
  const yoke_step_end end = {work.equations, work.u, work.x_new, work.rates_new, work.lambda};

  double proposal = state->h;
  for (;;) {
    bool         is_last = false;
    const double h       = yoke_step_clip(state->t, proposal, t_limit, is_fixed, &is_last);
    const double t_new   = is_last ? t_limit : state->t + h;
    double       error = 0.0, shrink = 1.0;
    yoke_status  status = try_step(integrator, state, u, h, t_new, &work, &end, &error, &shrink);
    if (status == YOKE_OK) {
      yoke_two_ends_accept(integrator, state, t_new, &end);
      if (is_fixed) return YOKE_OK;
      double h_new = h * fmin(GROW, SAFETY / sqrt(fmax(error, 1.0e-10)));
      if (integrator->options.max_step > 0.0) h_new = fmin(h_new, integrator->options.max_step);
      state->h = h < proposal ? fmax(proposal, h_new) : h_new; /* a clipped step only ever lengthens the proposal */
      return YOKE_OK;
    }
    if (status < 0) {
      return yoke_fail(ctx, status, "solver 'lin-implicit-euler' failed at t = %.9g s (%s)", state->t,
                       yoke_status_text(status));
    }
    ++state->counters.rejected;
    proposal = shrink * h;
    if (is_fixed || proposal < 10.0 * DBL_EPSILON * fabs(state->t) || proposal < 1.0e-30) {
      return yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL,
                       "solver 'lin-implicit-euler': step %.3g s at t = %.9g s failed (%s)%s", h, state->t,
                       yoke_status_text(status),
                       is_fixed ? ", and the step is fixed" : ", and the step cannot become smaller");
    }
    state->h = proposal;
  }
}

static const yoke_linear *euler_linear(const yoke_integrator *integrator, int i) {
  return i == 0 ? ((const yoke_implicit *)integrator->self)->linear : NULL;
}

const yoke_integrator_ops lin_implicit_euler_ops = {
    .name        = "lin-implicit-euler",
    .summary     = "linearly implicit Euler, order 1, one linear solve per step",
    .reads       = "rtol atol step max_step linear constraints alpha beta",
    .create      = euler_create,
    .destroy     = euler_destroy,
    .start       = euler_start,
    .step        = euler_step,
    .interpolate = yoke_two_ends_interpolate,
    .disturb     = euler_disturb,
    .linear      = euler_linear,
    .reads_end   = 1,
};
