/* genalpha: the generalised-alpha method in its first-order form (Jansen, Whiting, Hulbert 2000; Kadapa et al. 2017 for
 * structures), second order in q, v, a and lambda, with the damping of high frequencies set by rho_inf in [0, 1].
 *
 * Beside x' the method carries w, an approximation of x' at t_n + (alpha_f - alpha_m) h:
 *   alpha_m w_{n+1} + (1 - alpha_m) w_n = alpha_f x'_{n+1} + (1 - alpha_f) x'_n
 *   x_{n+1} = x_n + h ((1 - gamma) w_n + gamma w_{n+1})
 *   E x'_{n+1} = F(t_{n+1}, x_{n+1}, u)
 *   alpha_m = (3 - rho) / (2 (1 + rho)),  alpha_f = 1 / (1 + rho),  gamma = 1/2 + alpha_m - alpha_f.
 * All equations, constraints on positions and velocities included, hold at t_{n+1}: with the GGL form this is the stabilised
 * index-2 formulation of Arnold, Bruels and Cardona, without order reduction in lambda. Errors of the multipliers die
 * out like (-rho)^n, which is why rho = 1 is refused for constrained systems. Euler parameters are ordinary
 * components of q; their norm is one of the constraints.
 *
 * When h changes, w is moved to its new point: w := w + (alpha_f - alpha_m) (h_new - h_old) x''. After a start or a jump of
 * the inputs it is x' itself, moved the same way from h_old = 0, so the first step has full order.
 *
 * Local error: C h^3 x''', C = 1/12 + D/2 - D^2 - alpha_m D with D = alpha_f - alpha_m, x''' by divided differences of x'. */
#include "integrate/methods.h"
#include "base/memory.h"
#include "integrate/newton.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FAILURES_IN_A_ROW = 60 };

typedef struct genalpha {
  yoke_newton *newton;
  double       alpha_m, alpha_f, gamma;
  double       shift; /* D */
  double       error; /* C */
} genalpha;

/* Vectors of the own part of the state, [nx] each. Components that are not differential are 0 in all but X. */
typedef enum genalpha_vector {
  X,      /* x_n */
  XD,     /* x'_n, limit from the right */
  W,      /* w_n */
  SLOPE,  /* x'': difference of x' over the last step, or the derivative after a start */
  X_PREV, /* dense output: x and x' at both ends of the last step */
  XD_PREV,
  XD_END,
  N_VECTORS
} genalpha_vector;

typedef struct genalpha_memory {
  yoke_newton_memory newton;
  double             h_w;     /* step that w belongs to; 0: w = x' */
  double             h_slope; /* step over which the slope was taken; 0: derivative */
  double             t_grid;  /* fixed steps: grid points are t_grid + i_grid * h */
  int64_t            i_grid;
} genalpha_memory;

static genalpha_memory *genalpha_own(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  return yoke_integrator_own(integrator, state);
}

static size_t own_head_size(void) {
  return (sizeof(genalpha_memory) + 63) / 64 * 64;
}

static double *vector(const yoke_integrator *integrator, const yoke_integrator_state *state, genalpha_vector which) {
  const genalpha *self = integrator->self;
  return (double *)((char *)yoke_integrator_own(integrator, state) + own_head_size()) +
         (size_t)which * (size_t)self->newton->dae->nx;
}

static void copy(const genalpha *self, double *to, const double *from) {
  memcpy(to, from, (size_t)self->newton->dae->nx * sizeof *to);
}

static bool is_fixed(const yoke_integrator *integrator) {
  return integrator->options.fixed_step > 0;
}

static bool is_differential(const yoke_dae *dae, int i) {
  return dae->component[i] <= YOKE_COMPONENT_QUADRATURE;
}

/* ---- creation ------------------------------------------------------------------------------------------------------ */

static void genalpha_destroy(yoke_integrator *integrator) {
  genalpha *self = integrator->self;
  if (self == NULL) return;
  yoke_newton_destroy(&self->newton);
  free(self);
  integrator->self = NULL;
}

static yoke_status genalpha_create(yoke_context *ctx, yoke_integrator *integrator) {
  const double          rho = integrator->options.rho_inf;
  const yoke_equations *eq  = integrator->equations;
  if (!(rho >= 0 && rho <= 1)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "solver 'genalpha': rho_inf is %g, expected 0 to 1", rho);
  }
  if (eq->ng + eq->n_norms > 0 && rho > 0.99) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "solver 'genalpha': rho_inf is %g, expected at most 0.99 for systems with joints", rho);
  }
  genalpha *self = calloc(1, sizeof *self);
  if (self == NULL) return yoke_out_of_memory(ctx, "solver 'genalpha'");
  integrator->self = self;
  self->alpha_m    = (3 - rho) / (2 * (1 + rho));
  self->alpha_f    = 1 / (1 + rho);
  self->gamma      = 0.5 + self->alpha_m - self->alpha_f;
  self->shift      = self->alpha_f - self->alpha_m;
  self->error      = 1.0 / 12 + self->shift / 2 - self->shift * self->shift - self->alpha_m * self->shift;

  const yoke_status status = yoke_newton_create(ctx, integrator, &self->newton);
  if (status != YOKE_OK) {
    genalpha_destroy(integrator);
    return status;
  }
  integrator->state_size =
      yoke_integrator_head_size(eq) + own_head_size() + N_VECTORS * (size_t)self->newton->dae->nx * sizeof(double);
  integrator->scratch_size = yoke_newton_scratch_size(self->newton->implicit);
  return YOKE_OK;
}

/* ---- start --------------------------------------------------------------------------------------------------------- */

/* x', x'' and w from the equations; x is in place, weights are set. */
static yoke_status take_derivatives(const yoke_integrator *integrator, const yoke_newton_work *work,
                                    yoke_integrator_state *state, const yoke_signal *u) {
  const genalpha  *self   = integrator->self;
  genalpha_memory *memory = genalpha_own(integrator, state);
  const double    *x      = vector(integrator, state, X);
  state->counters.evaluations += 2;
  YOKE_TRY(yoke_newton_derivative(self->newton, work, state->t, x, u, YOKE_SIDE_RIGHT, work->xd));
  YOKE_TRY(yoke_newton_second_derivative(self->newton, work, state->t, x, u));
  copy(self, vector(integrator, state, XD), work->xd);
  copy(self, vector(integrator, state, W), work->xd);
  copy(self, vector(integrator, state, SLOPE), work->spare);
  memory->h_w     = 0;
  memory->h_slope = 0;
  return YOKE_OK;
}

/* From q, v, a, lambda of the state. */
static yoke_status take_state(const yoke_integrator *integrator, const yoke_newton_work *work,
                              yoke_integrator_state *state, const yoke_signal *u) {
  const genalpha  *self   = integrator->self;
  genalpha_memory *memory = genalpha_own(integrator, state);
  double          *x      = vector(integrator, state, X);
  yoke_newton_pack(self->newton, integrator, state, x);
  yoke_newton_weigh(self->newton, x, work->weight);
  YOKE_TRY(take_derivatives(integrator, work, state, u));
  copy(self, vector(integrator, state, X_PREV), x);
  copy(self, vector(integrator, state, XD_PREV), work->xd);
  copy(self, vector(integrator, state, XD_END), work->xd);
  memory->t_grid = state->t;
  memory->i_grid = 0;
  state->t_prev  = state->t;
  return YOKE_OK;
}

static yoke_status genalpha_start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                  const yoke_signal *u) {
  const genalpha                *self    = integrator->self;
  const yoke_integrator_options *options = &integrator->options;
  const yoke_newton_work         work    = yoke_newton_carve(self->newton, scratch);
  YOKE_TRY(take_state(integrator, &work, state, u));
  state->order = 2;
  state->h     = options->first_step > 0 ? options->first_step : yoke_newton_first_step(self->newton, &work, state->t);
  if (options->max_step > 0) state->h = fmin(state->h, options->max_step);
  if (is_fixed(integrator)) state->h = options->fixed_step;
  return YOKE_OK;
}

static yoke_status genalpha_disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                    const yoke_signal *u, yoke_disturbance what) {
  const genalpha        *self = integrator->self;
  const yoke_newton_work work = yoke_newton_carve(self->newton, scratch);
  if (what != YOKE_INPUTS_JUMPED) return take_state(integrator, &work, state, u);

  const yoke_dae *dae    = self->newton->dae;
  double         *x      = vector(integrator, state, X);
  const double   *lambda = yoke_integrator_lambda(integrator, state), *a = yoke_integrator_a(integrator, state);
  for (int i = 0; dae->i_lambda >= 0 && i < yoke_n_multipliers(integrator->equations); ++i)
    x[dae->i_lambda + i] = lambda[i];
  for (int i = 0; dae->i_a >= 0 && i < integrator->equations->nv; ++i) x[dae->i_a + i] = a[i];
  yoke_newton_weigh(self->newton, x, work.weight);
  return take_derivatives(integrator, &work, state, u);
}

/* ---- one attempt --------------------------------------------------------------------------------------------------- */

/* Prediction x_n + h x' + h^2/2 x'' and the x' that the method gives for it. work->spare: w_n at its point for this h. */
static void predict(const yoke_integrator *integrator, const yoke_integrator_state *state, const yoke_newton_work *work,
                    double h) {
  const genalpha        *self   = integrator->self;
  const genalpha_memory *memory = genalpha_own(integrator, state);
  const yoke_dae        *dae    = self->newton->dae;
  const double          *x = vector(integrator, state, X), *xd = vector(integrator, state, XD);
  const double          *w = vector(integrator, state, W), *slope = vector(integrator, state, SLOPE);
  const double          *x_prev = vector(integrator, state, X_PREV); /* multipliers are extrapolated */
  const double           move = self->shift * (h - memory->h_w), m = self->alpha_m, f = self->alpha_f, g = self->gamma;
  for (int i = 0; i < dae->nx; ++i) {
    const double w_n  = w[i] + move * slope[i];
    const double rate = xd[i] + 0.5 * h * slope[i];
    const double w_1  = (rate - (1 - g) * w_n) / g;
    work->spare[i]    = w_n;
    work->x_pred[i]   = x[i] + h * rate;
    work->xd_pred[i]  = (m * w_1 + (1 - m) * w_n - (1 - f) * xd[i]) / f;
    if (memory->h_slope > 0 && !is_differential(dae, i)) work->x_pred[i] += h / memory->h_slope * (x[i] - x_prev[i]);
  }
}

/* Index 1 without Baumgarte terms: put q and v onto the constraints. */
static yoke_status project(const yoke_integrator *integrator, const yoke_newton_work *work, double t) {
  const genalpha                *self    = integrator->self;
  const yoke_dae                *dae     = self->newton->dae;
  const yoke_equations          *eq      = integrator->equations;
  const yoke_integrator_options *options = &integrator->options;
  if (dae->form != YOKE_DAE_INDEX1 || eq->ng + eq->n_norms == 0 || options->alpha != 0 || options->beta != 0) {
    return YOKE_OK;
  }
  YOKE_TRY(eq->ops->project_position(eq->self, work->equations, t, work->x));
  return eq->ops->project_velocity(eq->self, work->equations, t, work->x, work->x + dae->i_v);
}

/* Local error in units of the tolerance. */
static double estimate(const yoke_integrator *integrator, const yoke_integrator_state *state,
                       const yoke_newton_work *work, double h) {
  const genalpha        *self   = integrator->self;
  const genalpha_memory *memory = genalpha_own(integrator, state);
  const double          *xd = vector(integrator, state, XD), *slope = vector(integrator, state, SLOPE);
  const double           factor = 2 * self->error * h * h * h / (h + memory->h_slope);
  for (int i = 0; i < self->newton->dae->nx; ++i) {
    work->delta[i] = factor * ((work->xd[i] - xd[i]) / h - slope[i]);
  }
  return yoke_newton_norm(self->newton, work->weight, work->delta);
}

static yoke_status attempt(const yoke_integrator *integrator, const yoke_newton_work *work,
                           yoke_integrator_state *state, const yoke_signal *u, double t_new, double h, double *error) {
  const genalpha  *self   = integrator->self;
  const yoke_dae  *dae    = self->newton->dae;
  genalpha_memory *memory = genalpha_own(integrator, state);
  predict(integrator, state, work, h);
  yoke_signal_value(u, t_new, YOKE_SIDE_LEFT, 0, work->u);
  const double alpha = self->alpha_m / (self->alpha_f * self->gamma * h);
  YOKE_TRY(yoke_newton_solve(self->newton, work, &memory->newton, state, t_new, alpha));
  for (int i = 0; i < dae->nx; ++i) {
    if (!is_differential(dae, i)) work->xd[i] = 0;
  }
  *error = estimate(integrator, state, work, h);
  if (!isfinite(*error)) return YOKE_NON_FINITE;
  YOKE_TRY(project(integrator, work, t_new));
  return yoke_all_finite(dae->nx, work->x) ? YOKE_OK : YOKE_NON_FINITE;
}

static void accept(const yoke_integrator *integrator, const yoke_newton_work *work, yoke_integrator_state *state,
                   double t_new, double h) {
  const genalpha  *self   = integrator->self;
  genalpha_memory *memory = genalpha_own(integrator, state);
  const yoke_dae  *dae    = self->newton->dae;
  double          *x = vector(integrator, state, X), *xd = vector(integrator, state, XD);
  double          *w = vector(integrator, state, W), *slope = vector(integrator, state, SLOPE);
  copy(self, vector(integrator, state, X_PREV), x);
  copy(self, vector(integrator, state, XD_PREV), xd);
  copy(self, vector(integrator, state, XD_END), work->xd);
  /* w_{n+1} from the first equation, so that a projection of x does not enter it */
  const double m = self->alpha_m, f = self->alpha_f;
  for (int i = 0; i < dae->nx; ++i) {
    slope[i] = (work->xd[i] - xd[i]) / h;
    w[i]     = is_differential(dae, i) ? (f * work->xd[i] + (1 - f) * xd[i] - (1 - m) * work->spare[i]) / m : 0;
  }
  copy(self, x, work->x);
  copy(self, xd, work->xd);
  yoke_newton_unpack(self->newton, integrator, x, xd, state);
  memory->h_w     = h;
  memory->h_slope = h;
  state->t_prev   = state->t;
  state->t        = t_new;
  ++state->counters.steps;
}

/* ---- step ---------------------------------------------------------------------------------------------------------- */

static yoke_status grid_step(const yoke_integrator *integrator, const yoke_newton_work *work,
                             yoke_integrator_state *state, const yoke_signal *u, double t_limit, yoke_context *ctx) {
  genalpha_memory *memory = genalpha_own(integrator, state);
  const double     h_grid = integrator->options.fixed_step;
  double           t_new  = memory->t_grid + (double)(memory->i_grid + 1) * h_grid;
  const bool       is_off = t_new > t_limit + 1e-9 * h_grid; /* a stop between grid points */
  if (is_off || fabs(t_new - t_limit) <= 1e-9 * h_grid) t_new = t_limit;
  double h = t_new - state->t;
  if (fabs(h - h_grid) <= 1e-9 * h_grid) h = h_grid; /* equal to the bit, whatever the rounding of the grid times */
  double            error;
  const yoke_status status = attempt(integrator, work, state, u, t_new, h, &error);
  if (status > YOKE_OK) {
    return yoke_fail(ctx, YOKE_E_NOT_CONVERGED,
                     "solver 'genalpha': fixed step %.3g s at t = %.17g s cannot be solved (%s)", h, state->t,
                     yoke_status_text(status));
  }
  YOKE_TRY(status);
  accept(integrator, work, state, t_new, h);
  memory->i_grid = is_off ? 0 : memory->i_grid + 1;
  if (is_off) memory->t_grid = t_new;
  return YOKE_OK;
}

/* Small changes of the step are not worth a new factor. */
static double next_step(double h, double proposed, double error) {
  const double factor = fmin(3, 0.9 * pow(fmax(error, 1e-10), -1.0 / 3));
  if (factor < 1) return h * fmax(0.3, factor);
  if (h < 0.2 * proposed) return proposed; /* a short rest before a stop says nothing about the step */
  if (h < 0.999 * proposed) return fmax(h, fmin(proposed, factor * h));
  return factor > 1.25 ? factor * h : h;
}

static yoke_status controlled_step(const yoke_integrator *integrator, const yoke_newton_work *work,
                                   yoke_integrator_state *state, const yoke_signal *u, double t_limit,
                                   yoke_context *ctx) {
  const double max_step = integrator->options.max_step;
  for (int n_failures = 1;; ++n_failures) {
    bool         is_last;
    const double h      = yoke_step_clip(state->t, state->h, t_limit, false, &is_last);
    const double t_new  = is_last ? t_limit : state->t + h;
    double       error  = 0;
    const bool   small  = !(t_new > state->t) || !(h > 8 * DBL_EPSILON * fabs(state->t));
    yoke_status  status = YOKE_OK;
    if (!small || (is_last && n_failures == 1)) {
      status = attempt(integrator, work, state, u, t_new, h, &error);
      if (status < YOKE_OK) return status;
      if (status == YOKE_OK && error <= 1) {
        accept(integrator, work, state, t_new, h);
        state->h = next_step(h, state->h, error);
        if (max_step > 0) state->h = fmin(state->h, max_step);
        return YOKE_OK;
      }
      ++state->counters.rejected;
      state->h = status == YOKE_OK ? h * fmax(0.2, 0.9 * pow(error, -1.0 / 3)) : 0.25 * h;
    }
    if (small || n_failures > MAX_FAILURES_IN_A_ROW) {
      return yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL, "solver 'genalpha': step %.3g s at t = %.17g s is too small (%s)", h,
                       state->t, status == YOKE_OK ? "the error test fails" : yoke_status_text(status));
    }
  }
}

static yoke_status genalpha_step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                 const yoke_signal *u, double t_limit, yoke_context *ctx) {
  const genalpha        *self = integrator->self;
  const yoke_newton_work work = yoke_newton_carve(self->newton, scratch);
  yoke_newton_weigh(self->newton, vector(integrator, state, X), work.weight);
  if (is_fixed(integrator)) return grid_step(integrator, &work, state, u, t_limit, ctx);
  return controlled_step(integrator, &work, state, u, t_limit, ctx);
}

/* Cubic Hermite polynomial of the last step. */
static void hermite(int n, double s, double h, const double *x0, const double *d0, const double *x1, const double *d1,
                    double *out) {
  const double r = 1 - s;
  for (int i = 0; i < n; ++i) {
    out[i] = r * r * (1 + 2 * s) * x0[i] + s * s * (3 - 2 * s) * x1[i] + h * s * r * (r * d0[i] - s * d1[i]);
  }
}

static void genalpha_interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t,
                                 double *q, double *v) {
  const genalpha       *self = integrator->self;
  const yoke_equations *eq   = integrator->equations;
  const int             i_v  = self->newton->dae->i_v;
  const double         *x0 = vector(integrator, state, X_PREV), *d0 = vector(integrator, state, XD_PREV);
  const double         *x1 = vector(integrator, state, X), *d1 = vector(integrator, state, XD_END);
  const double          h = state->t - state->t_prev, s = h > 0 ? (t - state->t_prev) / h : 1;
  if (q != NULL) hermite(eq->nq, s, h, x0, d0, x1, d1, q);
  if (v != NULL) hermite(eq->nv, s, h, x0 + i_v, d0 + i_v, x1 + i_v, d1 + i_v, v);
}

static const yoke_linear *genalpha_linear(const yoke_integrator *integrator, int i) {
  return i == 0 ? ((const genalpha *)integrator->self)->newton->implicit->linear : NULL;
}

const yoke_integrator_ops genalpha_ops = {
    .name        = "genalpha",
    .summary     = "generalised alpha, order 2 with chosen numerical damping, structures and constraints",
    .reads       = "rtol atol step max_step linear constraints alpha beta rho_inf",
    .create      = genalpha_create,
    .destroy     = genalpha_destroy,
    .start       = genalpha_start,
    .step        = genalpha_step,
    .interpolate = genalpha_interpolate,
    .disturb     = genalpha_disturb,
    .linear      = genalpha_linear,
    .wanders     = true,
};
