#include "integrate/two_ends.h"

#include <string.h>

static size_t lay_out(const yoke_equations *e, char *base, yoke_two_ends *ends) {
  size_t at       = 0;
  ends->qdot      = yoke_carve(base, &at, (size_t)e->nq);
  ends->q_prev    = yoke_carve(base, &at, (size_t)e->nq);
  ends->v_prev    = yoke_carve(base, &at, (size_t)e->nv);
  ends->qdot_prev = yoke_carve(base, &at, (size_t)e->nq);
  return at;
}

size_t yoke_two_ends_size(const yoke_equations *equations) {
  yoke_two_ends ends;
  return lay_out(equations, NULL, &ends);
}

yoke_two_ends yoke_two_ends_of(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  yoke_two_ends ends;
  (void)lay_out(integrator->equations, yoke_integrator_own(integrator, state), &ends);
  return ends;
}

yoke_status yoke_two_ends_begin(const yoke_integrator *integrator, yoke_integrator_state *state, const yoke_signal *u,
                                void *work, double *u_now) {
  const yoke_equations *e    = integrator->equations;
  const yoke_two_ends   ends = yoke_two_ends_of(integrator, state);
  if (e->nu > 0) yoke_signal_value(u, state->t, YOKE_SIDE_RIGHT, 0, u_now);
  ++state->counters.evaluations;
  return e->ops->derivative(e->self, work, state->t, yoke_integrator_q(integrator, state),
                            yoke_integrator_v(integrator, state), u_now, ends.qdot,
                            yoke_integrator_a(integrator, state), yoke_integrator_lambda(integrator, state));
}

void yoke_two_ends_rates(const yoke_integrator *integrator, const yoke_integrator_state *state, double *rates) {
  const yoke_equations *e = integrator->equations;
  memcpy(rates, yoke_two_ends_of(integrator, state).qdot, (size_t)e->nq * sizeof *rates);
  memcpy(rates + e->nq, yoke_integrator_a(integrator, state), (size_t)e->nv * sizeof *rates);
}

yoke_status yoke_two_ends_project(const yoke_equations *e, yoke_integrator_state *state, const yoke_signal *u, double t,
                                  const yoke_step_end *end) {
  double *q = end->x, *v = end->x + e->nq;
  if (e->ops->normalise != NULL) e->ops->normalise(e->self, q);
  if (e->ng + e->n_norms > 0) {
    YOKE_TRY(e->ops->project_position(e->self, end->work, t, q));
    YOKE_TRY(e->ops->project_velocity(e->self, end->work, t, q, v));
  }
  if (e->nu > 0) yoke_signal_value(u, t, YOKE_SIDE_LEFT, 0, end->u_now);
  ++state->counters.evaluations;
  YOKE_TRY(e->ops->derivative(e->self, end->work, t, q, v, end->u_now, end->rates, end->rates + e->nq, end->lambda));
  return yoke_all_finite(e->nq + e->nv, end->x) && yoke_all_finite(e->nq + e->nv, end->rates) ? YOKE_OK
                                                                                              : YOKE_NON_FINITE;
}

void yoke_two_ends_quadratures(const yoke_implicit *implicit, double h, const double *x, const double *rates,
                               const yoke_step_end *end) {
  for (int k = 0; k < implicit->nq; ++k) {
    if (implicit->dae->component[k] == YOKE_COMPONENT_INTEGRAL ||
        implicit->dae->component[k] == YOKE_COMPONENT_QUADRATURE)
      end->x[k] = x[k] + 0.5 * h * (rates[k] + end->rates[k]);
  }
}

void yoke_two_ends_accept(const yoke_integrator *integrator, yoke_integrator_state *state, double t,
                          const yoke_step_end *end) {
  const yoke_equations *e    = integrator->equations;
  const yoke_two_ends   ends = yoke_two_ends_of(integrator, state);
  const size_t          nq = (size_t)e->nq * sizeof(double), nv = (size_t)e->nv * sizeof(double);
  double               *q = yoke_integrator_q(integrator, state), *v = yoke_integrator_v(integrator, state);
  memcpy(ends.q_prev, q, nq);
  memcpy(ends.v_prev, v, nv);
  memcpy(ends.qdot_prev, ends.qdot, nq);
  memcpy(q, end->x, nq);
  memcpy(v, end->x + e->nq, nv);
  memcpy(ends.qdot, end->rates, nq);
  memcpy(yoke_integrator_a(integrator, state), end->rates + e->nq, nv);
  memcpy(yoke_integrator_lambda(integrator, state), end->lambda, (size_t)yoke_n_multipliers(e) * sizeof(double));
  state->t_prev = state->t;
  state->t      = t;
  ++state->counters.steps;
}

void yoke_two_ends_interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t,
                               double *q, double *v) {
  const yoke_equations *e    = integrator->equations;
  const yoke_two_ends   ends = yoke_two_ends_of(integrator, state);
  const double         *v1   = yoke_integrator_v(integrator, state);
  const double          h = state->t - state->t_prev, s = (t - state->t_prev) / h, r = 1.0 - s;
  yoke_hermite(e->nq, h, s, ends.q_prev, ends.qdot_prev, yoke_integrator_q(integrator, state), ends.qdot, q);
  for (int i = 0; i < e->nv; ++i) v[i] = r * ends.v_prev[i] + s * v1[i];
}
