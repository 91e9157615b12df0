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
#include "base/text.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAFETY = 0.9, GROW = 5.0, SHRINK = 0.2;

/* Own part of the state: q', and the start of the last step for dense output. */
typedef struct euler_parts {
  double *qdot, *q_prev, *v_prev, *qdot_prev;
} euler_parts;

typedef struct euler_work {
  void   *equations;
  double *u, *x, *x_new, *dx, *scale, *rates, *rates_new, *lambda, *J, *linear;
} euler_work;

static size_t parts_layout(const yoke_equations *e, char *base, euler_parts *parts) {
  size_t at        = 0;
  parts->qdot      = yoke_carve(base, &at, (size_t)e->nq);
  parts->q_prev    = yoke_carve(base, &at, (size_t)e->nq);
  parts->v_prev    = yoke_carve(base, &at, (size_t)e->nv);
  parts->qdot_prev = yoke_carve(base, &at, (size_t)e->nq);
  return at;
}

static euler_parts parts_of(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  euler_parts parts;
  (void)parts_layout(integrator->equations, yoke_integrator_own(integrator, state), &parts);
  return parts;
}

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
  euler_parts parts;
  euler_work  work;
  integrator->self = implicit;
  integrator->state_size =
      yoke_integrator_head_size(integrator->equations) + parts_layout(integrator->equations, NULL, &parts);
  integrator->scratch_size = work_layout(implicit, NULL, &work);
  return YOKE_OK;
}

static void euler_destroy(yoke_integrator *integrator) {
  yoke_implicit *implicit = integrator->self;
  yoke_implicit_destroy(&implicit);
  integrator->self = NULL;
}

/* q' at the point of the state, with the inputs that hold from here on; a and lambda are known. */
static yoke_status euler_begin(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                               const yoke_signal *u) {
  const yoke_implicit  *implicit = integrator->self;
  const yoke_equations *e        = integrator->equations;
  const euler_parts     parts    = parts_of(integrator, state);
  double               *q = yoke_integrator_q(integrator, state), *v = yoke_integrator_v(integrator, state);
  double               *a = yoke_integrator_a(integrator, state), *lambda = yoke_integrator_lambda(integrator, state);
  euler_work            work;
  (void)work_layout(implicit, scratch, &work);
  if (e->nu > 0) yoke_signal_value(u, state->t, YOKE_SIDE_RIGHT, 0, work.u);
  ++state->counters.evaluations;
  YOKE_TRY(e->ops->derivative(e->self, work.equations, state->t, q, v, work.u, parts.qdot, a, lambda));
  if (!(state->h > 0.0)) {
    yoke_implicit_pack(implicit, q, v, a, lambda, work.x);
    memcpy(work.rates, parts.qdot, (size_t)e->nq * sizeof(double));
    memcpy(work.rates + e->nq, a, (size_t)e->nv * sizeof(double));
    state->h = yoke_implicit_first_step(implicit, &integrator->options, work.x, work.rates, 1);
  }
  return YOKE_OK;
}

static yoke_status euler_start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                               const yoke_signal *u) {
  state->h     = 0.0;
  state->order = 1;
  return euler_begin(integrator, scratch, state, u);
}

static yoke_status euler_disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                 const yoke_signal *u, bool state_was_reset) {
  (void)state_was_reset;
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
                             double h, double t_new, const euler_work *work) {
  const yoke_implicit  *implicit = integrator->self;
  const yoke_equations *e        = integrator->equations;
  double               *q = work->x_new, *v = work->x_new + e->nq;
  if (e->ops->normalise != NULL) e->ops->normalise(e->self, q);
  if (e->ng + e->n_norms > 0) {
    YOKE_TRY(e->ops->project_position(e->self, work->equations, t_new, q));
    YOKE_TRY(e->ops->project_velocity(e->self, work->equations, t_new, q, v));
  }
  if (e->nu > 0) yoke_signal_value(u, t_new, YOKE_SIDE_LEFT, 0, work->u);
  ++state->counters.evaluations;
  YOKE_TRY(e->ops->derivative(e->self, work->equations, t_new, q, v, work->u, work->rates_new, work->rates_new + e->nq,
                              work->lambda));
  for (int k = 0; k < e->nq; ++k) {
    if (implicit->dae->component[k] == YOKE_COMPONENT_INTEGRAL ||
        implicit->dae->component[k] == YOKE_COMPONENT_QUADRATURE) {
      q[k] = work->x[k] + 0.5 * h * (work->rates[k] + work->rates_new[k]);
    }
  }
  return yoke_all_finite(e->nq + e->nv, work->x_new) && yoke_all_finite(e->nq + e->nv, work->rates_new)
             ? YOKE_OK
             : YOKE_NON_FINITE;
}

static void accept(const yoke_integrator *integrator, yoke_integrator_state *state, double t_new,
                   const euler_work *work) {
  const yoke_equations *e     = integrator->equations;
  const euler_parts     parts = parts_of(integrator, state);
  const size_t          nq = (size_t)e->nq * sizeof(double), nv = (size_t)e->nv * sizeof(double);
  double               *q = yoke_integrator_q(integrator, state), *v = yoke_integrator_v(integrator, state);
  memcpy(parts.q_prev, q, nq);
  memcpy(parts.v_prev, v, nv);
  memcpy(parts.qdot_prev, parts.qdot, nq);
  memcpy(q, work->x_new, nq);
  memcpy(v, work->x_new + e->nq, nv);
  memcpy(parts.qdot, work->rates_new, nq);
  memcpy(yoke_integrator_a(integrator, state), work->rates_new + e->nq, nv);
  memcpy(yoke_integrator_lambda(integrator, state), work->lambda, (size_t)yoke_n_multipliers(e) * sizeof(double));
  state->t_prev = state->t;
  state->t      = t_new;
  ++state->counters.steps;
}

/* One try with step h: YOKE_OK, or a recoverable status and *shrink. *error is what the next proposal is based on. */
static yoke_status try_step(const yoke_integrator *integrator, yoke_integrator_state *state, const yoke_signal *u,
                            double h, double t_new, const euler_work *work, double *error, double *shrink) {
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
  return end_point(integrator, state, u, h, t_new, work);
}

static yoke_status euler_step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                              const yoke_signal *u, double t_limit, yoke_context *ctx) {
  const yoke_implicit *implicit = integrator->self;
  const euler_parts    parts    = parts_of(integrator, state);
  const bool           is_fixed = integrator->options.fixed_step > 0.0;
  double              *a        = yoke_integrator_a(integrator, state);
  euler_work           work;
  (void)work_layout(implicit, scratch, &work);
  yoke_implicit_pack(implicit, yoke_integrator_q(integrator, state), yoke_integrator_v(integrator, state), a,
                     yoke_integrator_lambda(integrator, state), work.x);
  memcpy(work.rates, parts.qdot, (size_t)implicit->nq * sizeof(double));
  memcpy(work.rates + implicit->nq, a, (size_t)implicit->nv * sizeof(double));

  double proposal = state->h;
  for (;;) {
    bool         is_last = false;
    const double h       = yoke_step_clip(state->t, proposal, t_limit, is_fixed, &is_last);
    const double t_new   = is_last ? t_limit : state->t + h;
    double       error = 0.0, shrink = 1.0;
    yoke_status  status = try_step(integrator, state, u, h, t_new, &work, &error, &shrink);
    if (status == YOKE_OK) {
      accept(integrator, state, t_new, &work);
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

/* q: cubic from q, q' at both ends; v: linear, because accelerations of stiff parts are rough. */
static void euler_interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t,
                              double *q, double *v) {
  const yoke_equations *e     = integrator->equations;
  const euler_parts     parts = parts_of(integrator, state);
  const double         *v1    = yoke_integrator_v(integrator, state);
  const double          h = state->t - state->t_prev, s = (t - state->t_prev) / h, r = 1.0 - s;
  yoke_hermite(e->nq, h, s, parts.q_prev, parts.qdot_prev, yoke_integrator_q(integrator, state), parts.qdot, q);
  for (int i = 0; i < e->nv; ++i) v[i] = r * parts.v_prev[i] + s * v1[i];
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
    .interpolate = euler_interpolate,
    .disturb     = euler_disturb,
    .linear      = euler_linear,
};
