#include "integrate/newton.h"

#include "base/memory.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITERATIONS = 5, MANY_ITERATIONS = 3 };

static const double TOLERANCE   = 0.1;  /* of the remaining error, in units of the error tolerance */
static const double CONSTRAINED = 0.03; /* the same with constraints: noise in q and v is alpha times that in lambda */
static const double ROUNDING    = 50 * DBL_EPSILON;
static const double WORST_RATE  = 0.9;

/* ---- constant part ------------------------------------------------------------------------------------------------- */

yoke_status yoke_newton_create(yoke_context *ctx, const yoke_integrator *integrator, yoke_newton **out) {
  yoke_newton *newton = yoke_allocate(1, sizeof *newton);
  if (newton == NULL) return yoke_out_of_memory(ctx, "solver '%s'", integrator->ops->name);
  const yoke_status status = yoke_implicit_create(ctx, integrator->equations, &integrator->options, &newton->implicit);
  if (status != YOKE_OK) {
    yoke_newton_destroy(&newton);
    return status;
  }
  newton->equations = integrator->equations;
  newton->dae       = newton->implicit->dae;
  newton->rtol      = integrator->options.rtol;
  newton->atol      = integrator->options.atol;
  newton->is_fixed  = integrator->options.fixed_step > 0;
  newton->tolerance = newton->equations->ng + newton->equations->n_norms > 0 ? CONSTRAINED : TOLERANCE;
  *out              = newton;
  return YOKE_OK;
}

void yoke_newton_destroy(yoke_newton **newton) {
  if (newton == NULL || *newton == NULL) return;
  yoke_implicit_destroy(&(*newton)->implicit);
  free(*newton);
  *newton = NULL;
}

/* ---- scratch ------------------------------------------------------------------------------------------------------- */

static size_t padded(size_t n_doubles) {
  return (n_doubles + 7) / 8 * 8;
}

static size_t equations_doubles(const yoke_equations *equations) {
  return padded((equations->work_size + sizeof(double) - 1) / sizeof(double));
}

size_t yoke_newton_scratch_size(const yoke_implicit *implicit) {
  const size_t nx = padded((size_t)implicit->nx), nnz = padded((size_t)implicit->nnz);
  return sizeof(double) * (equations_doubles(implicit->equations) + padded((size_t)implicit->equations->nu + 1) +
                           8 * nx + nnz + padded(yoke_linear_work_of_rows(implicit->nx)));
}

yoke_newton_work yoke_newton_carve(const yoke_newton *newton, void *scratch) {
  const size_t     nx = padded((size_t)newton->dae->nx);
  double          *p  = scratch;
  yoke_newton_work work;
  work.equations = p;
  p += equations_doubles(newton->equations);
  work.u = p;
  p += padded((size_t)newton->equations->nu + 1);
  double **const vectors[] = {&work.weight, &work.x,       &work.xd,    &work.e,
                              &work.x_pred, &work.xd_pred, &work.delta, &work.spare};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i, p += nx) *vectors[i] = p;
  work.matrix = p;
  work.linear = p + padded((size_t)newton->dae->pattern->nnz);
  return work;
}

void yoke_newton_weigh(const yoke_newton *newton, const double *x, double *weight) {
  yoke_implicit_scale(newton->implicit, newton->atol, newton->rtol, x, NULL, weight);
  /* No component is asked for more than the rounding errors that the largest of its kind brings in through the constraints. */
  const uint8_t *component  = newton->dae->component;
  double         largest[2] = {0, 0}; /* of Q, of V */
  for (int i = 0; i < newton->dae->nx; ++i) {
    if (component[i] == YOKE_COMPONENT_Q) largest[0] = fmax(largest[0], fabs(x[i]));
    if (component[i] == YOKE_COMPONENT_V) largest[1] = fmax(largest[1], fabs(x[i]));
  }
  for (int i = 0; i < newton->dae->nx; ++i) {
    const double size = ROUNDING * largest[component[i] == YOKE_COMPONENT_V];
    if (weight[i] * size > 1) weight[i] = 1 / size;
  }
}

double yoke_newton_norm(const yoke_newton *newton, const double *weight, const double *x) {
  return newton->implicit->n_normed > 0 ? yoke_implicit_norm(newton->implicit, x, weight) : 0;
}

/* ---- state and x --------------------------------------------------------------------------------------------------- */

void yoke_newton_pack(const yoke_newton *newton, const yoke_integrator *integrator, const yoke_integrator_state *state,
                      double *x) {
  yoke_implicit_pack(newton->implicit, yoke_integrator_q(integrator, state), yoke_integrator_v(integrator, state),
                     yoke_integrator_a(integrator, state), yoke_integrator_lambda(integrator, state), x);
}

void yoke_newton_unpack(const yoke_newton *newton, const yoke_integrator *integrator, const double *x, const double *xd,
                        yoke_integrator_state *state) {
  double *a = yoke_integrator_a(integrator, state);
  yoke_implicit_unpack(newton->implicit, x, yoke_integrator_q(integrator, state), yoke_integrator_v(integrator, state),
                       a, yoke_integrator_lambda(integrator, state));
  if (newton->dae->i_a < 0) memcpy(a, xd + newton->dae->i_v, (size_t)newton->equations->nv * sizeof *a);
}

yoke_status yoke_newton_derivative(const yoke_newton *newton, const yoke_newton_work *work, double t, const double *x,
                                   const yoke_signal *u, yoke_side side, double *xd) {
  const yoke_dae       *dae = newton->dae;
  const yoke_equations *eq  = newton->equations;
  yoke_signal_value(u, t, side, 0, work->u);
  memset(xd, 0, (size_t)dae->nx * sizeof *xd);
  return eq->ops->derivative(eq->self, work->equations, t, x, x + dae->i_v, work->u, xd, xd + dae->i_v, NULL);
}

/* Difference of x' along the tangent, over a step that changes x by about 1e-2 sqrt(rtol) of its size. */
yoke_status yoke_newton_second_derivative(const yoke_newton *newton, const yoke_newton_work *work, double t,
                                          const double *x, const yoke_signal *u) {
  const int    nx = newton->dae->nx;
  const double d1 = yoke_newton_norm(newton, work->weight, work->xd);
  double       h  = d1 > 0 ? 1e-2 / (d1 * sqrt(newton->rtol)) : 1e-6;
  h               = fmin(fmax(h, 1e4 * DBL_EPSILON * fmax(fabs(t), 1e-6)), 1e-3);
  for (int i = 0; i < nx; ++i) work->x[i] = x[i] + h * work->xd[i];
  YOKE_TRY(yoke_newton_derivative(newton, work, t + h, work->x, u, YOKE_SIDE_RIGHT, work->spare));
  for (int i = 0; i < nx; ++i) work->spare[i] = (work->spare[i] - work->xd[i]) / h;
  return YOKE_OK;
}

double yoke_newton_first_step(const yoke_newton *newton, const yoke_newton_work *work, double t) {
  const double d1 = yoke_newton_norm(newton, work->weight, work->xd);
  const double d2 = yoke_newton_norm(newton, work->weight, work->spare);
  double       h  = d2 > 0 && isfinite(d2) ? sqrt(0.5 / d2) : 1e-3;
  if (d1 > 0 && isfinite(d1)) h = fmin(h, 0.01 / (d1 * newton->rtol)); /* x changes by at most one percent */
  return fmax(h, 64 * DBL_EPSILON * fabs(t));
}

/* ---- iteration ----------------------------------------------------------------------------------------------------- */

/* delta = F(t, x, u) - E xd */
static yoke_status residual(const yoke_newton *newton, const yoke_newton_work *work, yoke_integrator_state *state,
                            double t) {
  const yoke_equations *eq = newton->equations;
  ++state->counters.evaluations;
  YOKE_TRY(eq->ops->dae_rhs(eq->self, newton->dae, work->equations, t, work->x, work->u, work->delta));
  yoke_implicit_mass_add(newton->implicit, -1, work->xd, work->delta);
  return YOKE_OK;
}

static yoke_status make_factor(const yoke_newton *newton, const yoke_newton_work *work, yoke_newton_memory *memory,
                               yoke_integrator_state *state, double t, double alpha) {
  const yoke_equations *eq  = newton->equations;
  const yoke_dae       *dae = newton->dae;
  double               *m   = work->matrix;
  ++state->counters.jacobians;
  ++state->counters.factorings;
  YOKE_TRY(eq->ops->dae_jacobian(eq->self, dae, work->equations, t, work->x_pred, work->u, m));
  memory->alpha = 0; /* the old factor is of no use when the new one cannot be made */
  YOKE_TRY(yoke_implicit_factor(newton->implicit, alpha, 0, m, m, NULL, &state->factor[0]));
  memory->alpha = alpha;
  memory->ratio = 20; /* rate unknown: a first correction alone is believed only when it is very small */
  return YOKE_OK;
}

/* Did the multipliers change so much in the first iteration that one more is worth it? They are in no norm, and their
 * remaining error is the change times the relative age of the constraint Jacobian. */
static bool multipliers_moved(const yoke_newton *newton, const yoke_newton_work *work) {
  const yoke_dae *dae = newton->dae;
  if (dae->i_lambda < 0) return false;
  double change = 0, size = 0;
  for (int i = dae->i_lambda; i < dae->i_lambda + yoke_n_multipliers(newton->equations); ++i) {
    change = fmax(change, fabs(work->delta[i]));
    size   = fmax(size, fabs(work->x[i]));
  }
  return change > 100 * (newton->rtol * size + newton->atol);
}

/* Corrections of v, in fixed steps, that are rounding errors of q, which x' = xd + alpha (x - x_pred) multiplies by alpha, in units of the tolerance. */
static double noise_of_v(const yoke_newton *newton, const yoke_newton_work *work, double alpha) {
  const yoke_dae *dae = newton->dae;
  double          q = 0, weight = 0;
  if (!newton->is_fixed) return 0.0;
  for (int i = 0; i < dae->nx; ++i) {
    if (dae->component[i] == YOKE_COMPONENT_Q) q = fmax(q, fabs(work->x[i]));
    if (dae->component[i] == YOKE_COMPONENT_V) weight = fmax(weight, work->weight[i]);
  }
  return 16 * DBL_EPSILON * q * alpha * weight;
}

static yoke_status iterate(const yoke_newton *newton, const yoke_newton_work *work, yoke_newton_memory *memory,
                           yoke_integrator_state *state, double t, double alpha) {
  const yoke_dae *dae   = newton->dae;
  const double    scale = 2 / (1 + alpha / memory->alpha);
  const double    floor = 50 * DBL_EPSILON / newton->rtol; /* corrections of this size are rounding errors */
  double          last  = 0;                               /* norm of the last correction */
  memcpy(work->x, work->x_pred, (size_t)dae->nx * sizeof *work->x);
  memcpy(work->xd, work->xd_pred, (size_t)dae->nx * sizeof *work->xd);
  memset(work->e, 0, (size_t)dae->nx * sizeof *work->e);
  for (int m = 0; m < MAX_ITERATIONS; ++m) {
    YOKE_TRY(residual(newton, work, state, t));
    yoke_factor_solve(state->factor[0], work->delta, NULL, work->linear);
    ++state->counters.iterations;
    for (int i = 0; i < dae->nx; ++i) {
      const double d = dae->component[i] <= YOKE_COMPONENT_QUADRATURE ? scale * work->delta[i] : work->delta[i];
      work->e[i] += d;
      work->x[i] += d;
      work->xd[i] += alpha * d;
    }
    const double norm = scale * yoke_newton_norm(newton, work->weight, work->delta);
    if (!isfinite(norm)) return YOKE_NON_FINITE;
    if (m == 0) {
      if (norm <= fmax(1e-4 * newton->tolerance, floor) && !multipliers_moved(newton, work)) return YOKE_OK;
    } else {
      if (norm <= floor) return YOKE_OK;
      /* The first correction of q and v may be smaller than what the multipliers bring in with the second: a bad rate
       * counts from the third correction on, or when the correction is large. */
      const double rate = last > 0 ? norm / last : 0;
      if (rate > WORST_RATE && (m > 1 || norm > 1))
        return norm <= fmax(1e-2 * newton->tolerance, noise_of_v(newton, work, alpha)) ? YOKE_OK : YOKE_NOT_CONVERGED;
      const double bounded = fmin(rate, WORST_RATE);
      memory->ratio        = bounded / (1 - bounded);
    }
    last = norm;
    if (m == 0 && multipliers_moved(newton, work)) continue;
    if (memory->ratio * norm <= newton->tolerance) return YOKE_OK;
  }
  return YOKE_NOT_CONVERGED;
}

yoke_status yoke_newton_solve(const yoke_newton *newton, const yoke_newton_work *work, yoke_newton_memory *memory,
                              yoke_integrator_state *state, double t, double alpha) {
  /* The matrix ages: what was seen in an earlier step is believed less and less. */
  memory->ratio      = alpha == memory->alpha_last ? fmax(pow(memory->ratio, 0.8), 0.02) : 100;
  memory->alpha_last = alpha;
  bool usable        = state->factor[0] != NULL && alpha > 0.6 * memory->alpha && 0.6 * alpha < memory->alpha;
  for (int attempt = 0;; ++attempt) {
    const bool fresh = !usable;
    if (fresh) YOKE_TRY(make_factor(newton, work, memory, state, t, alpha));
    const int64_t     before = state->counters.iterations;
    const yoke_status status = iterate(newton, work, memory, state, t, alpha);
    /* more than MANY_ITERATIONS cost as much as the new matrix that would have saved them: make it at the next step */
    if (!fresh && state->counters.iterations - before > MANY_ITERATIONS) memory->alpha = 0;
    if (status <= YOKE_OK || fresh || attempt > 0) return status;
    usable = false;
  }
}
