#include "integrate/hop.h"
#include <math.h>
#include <string.h>

enum { N_STAGES = 6 };

/* J. R. Dormand, P. J. Prince: A family of embedded Runge-Kutta formulae (1980). The last row is b. */
static const double C[N_STAGES + 1]           = {0.0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0, 1.0};
static const double A[N_STAGES + 1][N_STAGES] = {
    {0.0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
};
/* b of order 5 minus b of order 4 */
static const double E[N_STAGES + 1] = {71.0 / 57600,      0.0,        -71.0 / 16695, 71.0 / 1920,
                                       -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

static yoke_status rates_at(const yoke_implicit *implicit, const yoke_hop *hop, const yoke_signal *u, double t,
                            const double *x, yoke_integrator_state *state, double *rates) {
  const yoke_equations *e = implicit->equations;
  if (e->nu > 0) yoke_signal_value(u, t, YOKE_SIDE_LEFT, 0, hop->u);
  ++state->counters.evaluations;
  YOKE_TRY(e->ops->derivative(e->self, hop->equations, t, x, x + e->nq, hop->u, rates, rates + e->nq, hop->lambda));
  return yoke_all_finite(e->nq + e->nv, rates) ? YOKE_OK : YOKE_NON_FINITE;
}

yoke_status yoke_hop_step(const yoke_implicit *implicit, const yoke_hop *hop, const yoke_signal *u, double t, double h,
                          double t_end, yoke_integrator_state *state, double *error) {
  const yoke_equations *e = implicit->equations;
  const int             n = e->nq + e->nv;
  const double         *k[N_STAGES];
  k[0] = hop->rates;
  for (int s = 1; s <= N_STAGES; ++s) {
    for (int i = 0; i < n; ++i) {
      double sum = 0.0;
      for (int j = 0; j < s; ++j) sum += A[s][j] * k[j][i];
      hop->x_new[i] = hop->x[i] + h * sum;
    }
    if (s == N_STAGES) break;
    YOKE_TRY(rates_at(implicit, hop, u, s == N_STAGES - 1 ? t_end : t + C[s] * h, hop->x_new, state, hop->k[s]));
    k[s] = hop->k[s];
  }
  if (e->ops->normalise != NULL) e->ops->normalise(e->self, hop->x_new);
  if (e->ng + e->n_norms > 0) {
    YOKE_TRY(e->ops->project_position(e->self, hop->equations, t_end, hop->x_new));
    YOKE_TRY(e->ops->project_velocity(e->self, hop->equations, t_end, hop->x_new, hop->x_new + e->nq));
  }
  YOKE_TRY(rates_at(implicit, hop, u, t_end, hop->x_new, state, hop->rates_new));

  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    double d = E[N_STAGES] * hop->rates_new[i];
    for (int j = 0; j < N_STAGES; ++j) d += E[j] * k[j][i];
    d *= h * hop->scale[i];
    sum += d * d;
  }
  *error = implicit->n_normed > 0 ? sqrt(sum / implicit->n_normed) : 0.0;
  return isfinite(*error) && yoke_all_finite(n, hop->x_new) ? YOKE_OK : YOKE_NON_FINITE;
}
