/* bdf: backward differentiation formulas of order 1 to 5 with variable step, fixed leading coefficient.
 *
 * The past is kept as modified divided differences of x at t_n, t_{n-1}, ...,
 *   phi_0 = x_n,  phi_i = psi_0 ... psi_{i-1} x[t_n, ..., t_{n-i}],  psi_i = t_n - t_{n-1-i},
 * so a change of step is exact: with the psi of the step to come, psi~_0 = h, psi~_i = h + psi_{i-1},
 *   phi*_i = beta_i phi_i,  beta_i = prod_{j<i} psi~_j / psi_j,
 *   prediction   x = sum_{i<=k} phi*_i,  x' = sum_{i<=k} gamma_i phi*_i,  gamma_i = sum_{j<i} 1 / psi~_j,
 *   corrector    x' = x'_pred + alpha (x - x_pred),  alpha = (1 + 1/2 + ... + 1/k) / h.
 * With e = x - x_pred = phi_{k+1} at the new point, the differences there are phi_i = phi*_i + phi_{i+1}, i = k ... 0.
 * The order is chosen from the error terms sigma_j |phi_{j+1}| of the orders k-2 ... k+1,
 *   sigma_j = j! h^j / (psi~_1 ... psi~_j).
 * (Brenan, Campbell, Petzold: Numerical Solution of Initial-Value Problems in Differential-Algebraic Equations, ch. 5.)
 *
 * A step changes the state only when it is accepted, except for the factor and the numbers about it. Stopping at a macro
 * point, copying and going on therefore costs neither order nor bits.
 *
 * Near a singular position (collinear bars of a parallel linkage) the velocities that the constraints allow depend on the
 * position like w / (t* - t), w being the rest that the iteration leaves in q, and no step passes the error test. When a
 * step has failed many times, a few steps are bridged by the explicit Runge-Kutta method of order 4 on the ordinary
 * view, whose minimum-norm accelerations stay bounded; then the method starts anew.
 *
 * Fixed steps: the first k + 1 points of the grid are computed by this same method with error control at a tight
 * tolerance; then order k and the constant step are used. */
#include "integrate/methods.h"
#include "base/memory.h"
#include "integrate/bridge.h"
#include "integrate/newton.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ORDER = 5, N_DIFFERENCES = MAX_ORDER + 1, MAX_FAILURES_IN_A_ROW = 60 };
enum {
  BRIDGE_AFTER     = 3 /* failures of one step */,
  BRIDGE_STEPS     = 4 /* usual ones */,
  BRIDGE_DOUBLINGS = 4,
  CALM_STEPS       = 60
};

static const double BRIDGE_BELOW = 1e-3; /* of the usual step */
static const double BRIDGE_SHARE =
    0.01; /* of the error of explicit steps is tested: few of them, with noisy accelerations */
/* Local errors of a method of low order add up over many steps; a tenth of the tolerance for each keeps the sum near it. */
static const double LOCAL_SHARE        = 0.1;
static const double LEAST_RTOL         = 1e-13; /* below it rounding fails the error test */
static const double START_UP_TOLERANCE = 1e-12; /* of the first points of a grid of fixed steps */

typedef struct bdf {
  yoke_newton *newton;
  yoke_newton *start_up; /* == newton unless the step is fixed: same equations, tight tolerance */
  int          max_order;
} bdf;

/* Own part of the state, followed by phi [N_DIFFERENCES, nx], v' at the end of the last step [nv] (left limit) and, for
 * fixed steps, the points of the start-up [N_DIFFERENCES, nx]. */
typedef struct bdf_memory {
  yoke_newton_memory newton;
  double             step[N_DIFFERENCES]; /* t_{n-i} - t_{n-1-i} */
  int                order_used;          /* of the step that led here: degree of the dense output */
  int                n_at_order;          /* accepted steps with state->order */
  bool               is_bridge;           /* explicit steps until t_bridge */
  double             t_bridge;
  int                n_bridges;    /* lately, each twice as long as the one before */
  int                n_calm;       /* steps since the last bridge */
  bool               must_restart; /* a bridge has ended */
  double             h_usual;      /* largest step of late, fading by 2 percent per step */
  bool               is_ramp;      /* after a start: raise the order and double the step every time */
  bool               is_starting;  /* fixed steps: the grid's first points are still being computed */
  int                n_points;     /* of the start-up so far */
  double             t_grid;       /* fixed steps: grid points are t_grid + i_grid * h */
  int64_t            i_grid;
} bdf_memory;

/* Coefficients of one attempted step. */
typedef struct bdf_coefficients {
  double beta[N_DIFFERENCES + 1], gamma[N_DIFFERENCES + 1], sigma[N_DIFFERENCES + 1];
  double alpha; /* leading coefficient [1/s] */
  double error; /* c_k: e to the error to be tested */
} bdf_coefficients;

/* Error terms of an attempted step, in units of the tolerance; index 0 is order k-1, 1 is k, 2 is k+1. */
typedef struct bdf_errors {
  double local;       /* tested against 1 */
  double at[3];       /* sigma_j |phi_{j+1}| */
  double scaled[3];   /* (j + 1) times that: |h^{j+1} x^{(j+1)}| */
  bool   wants_lower; /* the terms grow from order to order */
} bdf_errors;

static bdf_memory *bdf_own(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  return yoke_integrator_own(integrator, state);
}

static size_t own_head_size(void) {
  return (sizeof(bdf_memory) + 63) / 64 * 64;
}

static double *difference(const yoke_integrator *integrator, const yoke_integrator_state *state, int i) {
  const bdf *self = integrator->self;
  return (double *)((char *)yoke_integrator_own(integrator, state) + own_head_size()) +
         (size_t)i * (size_t)self->newton->dae->nx;
}

static double *last_acceleration(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  return difference(integrator, state, N_DIFFERENCES);
}

/* x at point i of the start-up. */
static double *start_point(const yoke_integrator *integrator, const yoke_integrator_state *state, int i) {
  return difference(integrator, state, N_DIFFERENCES + i) + integrator->equations->nv;
}

static bool is_fixed(const yoke_integrator *integrator) {
  return integrator->options.fixed_step > 0;
}

/* ---- creation ------------------------------------------------------------------------------------------------------ */

static void bdf_destroy(yoke_integrator *integrator) {
  bdf *self = integrator->self;
  if (self == NULL) return;
  if (self->start_up != self->newton) yoke_newton_destroy(&self->start_up);
  yoke_newton_destroy(&self->newton);
  free(self);
  integrator->self = NULL;
}

static yoke_status check_order(yoke_context *ctx, const yoke_integrator *integrator) {
  const int max_order = integrator->options.max_order;
  if (max_order >= 0 && max_order <= MAX_ORDER) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE, "solver 'bdf': max_order is %d, expected 1 to %d", max_order, MAX_ORDER);
}

static void set_sizes(yoke_integrator *integrator, const yoke_implicit *implicit) {
  const size_t n_vectors = is_fixed(integrator) ? 2 * N_DIFFERENCES : N_DIFFERENCES;
  integrator->state_size = yoke_integrator_head_size(integrator->equations) + own_head_size() +
                           (n_vectors * (size_t)implicit->nx + (size_t)implicit->nv) * sizeof(double);
  integrator->scratch_size = yoke_newton_scratch_size(implicit);
}

yoke_status bdf_outline(yoke_context *ctx, yoke_integrator *integrator, const yoke_implicit *outline) {
  set_sizes(integrator, outline);
  return check_order(ctx, integrator);
}

static yoke_status bdf_create(yoke_context *ctx, yoke_integrator *integrator) {
  const int max_order = integrator->options.max_order;
  YOKE_TRY(check_order(ctx, integrator));
  bdf *self = calloc(1, sizeof *self);
  if (self == NULL) return yoke_out_of_memory(ctx, "solver 'bdf'");
  integrator->self   = self;
  self->max_order    = max_order > 0 ? max_order : MAX_ORDER;
  yoke_status status = yoke_newton_create(ctx, integrator, &self->newton);
  if (status == YOKE_OK && !is_fixed(integrator)) {
    self->newton->rtol = fmax(LOCAL_SHARE * self->newton->rtol, LEAST_RTOL);
    self->newton->atol *= LOCAL_SHARE;
  }
  if (status == YOKE_OK && is_fixed(integrator)) {
    status = yoke_newton_create(ctx, integrator, &self->start_up);
    if (status == YOKE_OK) self->start_up->rtol = self->start_up->atol = START_UP_TOLERANCE;
  } else {
    self->start_up = self->newton;
  }
  if (status != YOKE_OK) {
    bdf_destroy(integrator);
    return status;
  }
  set_sizes(integrator, self->newton->implicit);
  return YOKE_OK;
}

/* ---- start --------------------------------------------------------------------------------------------------------- */

/* Order 1 from (t, x, x'); phi_1 = h x' stands for a point at t - h. */
static void begin_history(const yoke_integrator *integrator, const yoke_newton_work *work, yoke_integrator_state *state,
                          const double *x, double h) {
  const bdf  *self   = integrator->self;
  bdf_memory *memory = bdf_own(integrator, state);
  const int   nx     = self->newton->dae->nx;
  double     *phi_0 = difference(integrator, state, 0), *phi_1 = difference(integrator, state, 1);
  memset(phi_0, 0, (size_t)nx * N_DIFFERENCES * sizeof *phi_0);
  memcpy(phi_0, x, (size_t)nx * sizeof *x);
  for (int i = 0; i < nx; ++i) phi_1[i] = h * work->xd[i];
  for (int i = 0; i < N_DIFFERENCES; ++i) memory->step[i] = h;
  memory->order_used = 1;
  memory->n_at_order = 0;
  memory->is_ramp    = true;
  state->order       = 1;
  state->h           = h;
}

/* (Re)start from q, v, a, lambda of the state; inputs from the right. */
static yoke_status restart(const yoke_integrator *integrator, const yoke_newton_work *work,
                           yoke_integrator_state *state, const yoke_signal *u) {
  const bdf         *self   = integrator->self;
  const yoke_newton *newton = self->start_up;
  bdf_memory        *memory = bdf_own(integrator, state);
  double            *x      = work->x_pred;
  yoke_newton_pack(newton, integrator, state, x);
  yoke_newton_weigh(newton, x, work->weight);
  state->counters.evaluations += 2;
  YOKE_TRY(yoke_newton_derivative(newton, work, state->t, x, u, YOKE_SIDE_RIGHT, work->xd));
  double h = integrator->options.first_step;
  if (!(h > 0) || is_fixed(integrator)) {
    YOKE_TRY(yoke_newton_second_derivative(newton, work, state->t, x, u));
    h = yoke_newton_first_step(newton, work, state->t);
  }
  if (integrator->options.max_step > 0) h = fmin(h, integrator->options.max_step);
  if (is_fixed(integrator)) h = fmin(h, integrator->options.fixed_step);
  begin_history(integrator, work, state, x, h);
  if (!memory->must_restart) memory->h_usual = 0;
  memory->is_bridge    = false;
  memory->must_restart = false;
  memory->is_starting  = is_fixed(integrator);
  memory->t_grid       = state->t;
  memory->i_grid       = 0;
  memory->n_points     = 0;
  if (memory->is_starting) {
    memcpy(start_point(integrator, state, 0), x, (size_t)newton->dae->nx * sizeof *x);
    memory->n_points = 1;
  }
  memcpy(last_acceleration(integrator, state), work->xd + newton->dae->i_v,
         (size_t)integrator->equations->nv * sizeof *x);
  state->t_prev = state->t;
  return YOKE_OK;
}

static yoke_status bdf_start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                             const yoke_signal *u) {
  const bdf             *self = integrator->self;
  const yoke_newton_work work = yoke_newton_carve(self->newton, scratch);
  return restart(integrator, &work, state, u);
}

/* A jump of the inputs that changes v by less than a quarter of the tolerance over one step is a kink like any other. */
static yoke_status bdf_disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                               const yoke_signal *u, yoke_disturbance what) {
  const bdf             *self   = integrator->self;
  const yoke_newton     *newton = self->newton;
  const yoke_newton_work work   = yoke_newton_carve(newton, scratch);
  if (what == YOKE_INPUTS_JUMPED) {
    if (bdf_own(integrator, state)->is_bridge) return YOKE_OK; /* Runge-Kutta has no history */
    const int     i_v    = newton->dae->i_v;
    const double *a_left = last_acceleration(integrator, state), *a = yoke_integrator_a(integrator, state);
    yoke_newton_weigh(newton, difference(integrator, state, 0), work.weight);
    memset(work.delta, 0, (size_t)newton->dae->nx * sizeof *work.delta);
    for (int i = 0; i < integrator->equations->nv; ++i) work.delta[i_v + i] = state->h * (a[i] - a_left[i]);
    if (yoke_newton_norm(newton, work.weight, work.delta) <= 0.25) return YOKE_OK;
  }
  return restart(integrator, &work, state, u);
}

/* ---- one attempt --------------------------------------------------------------------------------------------------- */

static bdf_coefficients coefficients(const bdf_memory *memory, double h, int k) {
  bdf_coefficients c   = {.beta = {1}, .gamma = {0}, .sigma = {1}};
  double           psi = 0, psi_new = h; /* psi_{i-1} of the last and of the coming point */
  double           alpha_0 = 0, alpha_s = 0, last = 1;
  for (int i = 1; i <= N_DIFFERENCES - 1; ++i) {
    psi += memory->step[i - 1];
    c.beta[i]  = c.beta[i - 1] * psi_new / psi;
    c.gamma[i] = c.gamma[i - 1] + 1 / psi_new;
    if (i <= k) {
      alpha_0 -= h / psi_new;
      alpha_s -= 1.0 / i;
    }
    psi_new           = h + psi;
    const double part = h / psi_new;
    c.sigma[i]        = i * c.sigma[i - 1] * part;
    if (i == k) last = part;
  }
  c.alpha = -alpha_s / h;
  c.error = fmax(fabs(last + alpha_s - alpha_0), last);
  return c;
}

static void predict(const yoke_integrator *integrator, const yoke_integrator_state *state, const bdf_coefficients *c,
                    const yoke_newton_work *work) {
  const bdf *self = integrator->self;
  const int  nx   = self->newton->dae->nx;
  memcpy(work->x_pred, difference(integrator, state, 0), (size_t)nx * sizeof *work->x_pred);
  memset(work->xd_pred, 0, (size_t)nx * sizeof *work->xd_pred);
  for (int j = 1; j <= state->order; ++j) {
    const double *phi = difference(integrator, state, j);
    const double  b = c->beta[j], g = c->gamma[j] * c->beta[j];
    for (int i = 0; i < nx; ++i) {
      work->x_pred[i] += b * phi[i];
      work->xd_pred[i] += g * phi[i];
    }
  }
}

/* Error of order k and of its lower neighbours. */
static bdf_errors estimate(const yoke_integrator *integrator, const yoke_newton *newton,
                           const yoke_integrator_state *state, const bdf_coefficients *c,
                           const yoke_newton_work *work) {
  const int    k     = state->order;
  const double norm  = yoke_newton_norm(newton, work->weight, work->e);
  bdf_errors   error = {.local = c->error * norm};
  error.at[1]        = c->sigma[k] * norm;
  error.scaled[1]    = (k + 1) * error.at[1];
  if (k == 1) return error;

  double *sum = work->spare; /* phi_k at the new point, then phi_{k-1} */
  memcpy(sum, work->e, (size_t)newton->dae->nx * sizeof *sum);
  const double *phi = difference(integrator, state, k);
  for (int i = 0; i < newton->dae->nx; ++i) sum[i] += c->beta[k] * phi[i];
  error.at[0]     = c->sigma[k - 1] * yoke_newton_norm(newton, work->weight, sum);
  error.scaled[0] = k * error.at[0];
  if (k == 2) {
    error.wants_lower = error.scaled[0] <= 0.5 * error.scaled[1];
    return error;
  }
  phi = difference(integrator, state, k - 1);
  for (int i = 0; i < newton->dae->nx; ++i) sum[i] += c->beta[k - 1] * phi[i];
  const double lowest = (k - 1) * c->sigma[k - 2] * yoke_newton_norm(newton, work->weight, sum);
  error.wants_lower   = fmax(error.scaled[0], lowest) <= error.scaled[1];
  return error;
}

/* Index 1 without Baumgarte terms: put q and v onto the constraints; e takes part so that the differences agree. */
static yoke_status project(const yoke_integrator *integrator, const yoke_newton_work *work, double t) {
  const bdf                     *self    = integrator->self;
  const yoke_dae                *dae     = self->newton->dae;
  const yoke_equations          *eq      = integrator->equations;
  const yoke_integrator_options *options = &integrator->options;
  if (dae->form != YOKE_DAE_INDEX1 || eq->ng + eq->n_norms == 0 || options->alpha != 0 || options->beta != 0) {
    return YOKE_OK;
  }
  const int n = dae->i_v + eq->nv;
  YOKE_TRY(eq->ops->project_position(eq->self, work->equations, t, work->x));
  YOKE_TRY(eq->ops->project_velocity(eq->self, work->equations, t, work->x, work->x + dae->i_v));
  for (int i = 0; i < n; ++i) work->e[i] = work->x[i] - work->x_pred[i];
  return YOKE_OK;
}

/* ---- after an accepted attempt ------------------------------------------------------------------------------------- */

/* Order and step from now on. Returns the factor by which the error estimate lets h change (h used -> h next). */
static double choose_order(const yoke_integrator *integrator, const yoke_newton *newton, yoke_integrator_state *state,
                           const bdf_coefficients *c, const yoke_newton_work *work, bdf_errors *error) {
  const bdf  *self   = integrator->self;
  bdf_memory *memory = bdf_own(integrator, state);
  const int   k = state->order, max_order = memory->is_starting ? MAX_ORDER : self->max_order;
  ++memory->n_at_order;
  if (error->wants_lower || k == max_order) memory->is_ramp = false;
  if (memory->is_ramp) {
    /* The first step starts from x' alone and is repeated at order 1. */
    if (state->counters.steps > 0 && memory->n_at_order > (k == 1 ? 1 : 0)) {
      state->order       = k + 1;
      memory->n_at_order = 0;
    }
    return 2;
  }
  int change = error->wants_lower ? -1 : 0;
  if (change == 0 && k < max_order && memory->n_at_order > k + 1) {
    /* phi_{k+2} = phi_{k+1} - phi*_{k+1} */
    const double *phi = difference(integrator, state, k + 1);
    for (int i = 0; i < newton->dae->nx; ++i) work->spare[i] = work->e[i] - c->beta[k + 1] * phi[i];
    error->at[2]     = c->sigma[k + 1] * yoke_newton_norm(newton, work->weight, work->spare);
    error->scaled[2] = (k + 2) * error->at[2];
    if (k == 1) {
      change = error->scaled[2] < 0.5 * error->scaled[1] ? 1 : 0;
    } else if (error->scaled[0] <= fmin(error->scaled[1], error->scaled[2])) {
      change = -1;
    } else {
      change = error->scaled[2] < error->scaled[1] ? 1 : 0;
    }
  }
  if (change != 0) {
    state->order       = k + change;
    memory->n_at_order = 0;
  }
  return pow(2 * error->at[1 + change] + 1e-4, -1.0 / (state->order + 1));
}

/* phi_i := phi*_i + phi_{i+1}, phi_{k+1} := e */
static void update_history(const yoke_integrator *integrator, yoke_integrator_state *state, const bdf_coefficients *c,
                           const yoke_newton_work *work, int k, double h) {
  const bdf  *self   = integrator->self;
  bdf_memory *memory = bdf_own(integrator, state);
  const int   nx     = self->newton->dae->nx;
  if (k < MAX_ORDER) memcpy(difference(integrator, state, k + 1), work->e, (size_t)nx * sizeof *work->e);
  const double *next = work->e;
  for (int j = k; j >= 0; --j) {
    double      *phi = difference(integrator, state, j);
    const double b   = c->beta[j];
    for (int i = 0; i < nx; ++i) phi[i] = b * phi[i] + next[i];
    next = phi;
  }
  /* phi_0 is x itself, without the rounding of the sums */
  memcpy(difference(integrator, state, 0), work->x, (size_t)nx * sizeof *work->x);
  for (int i = N_DIFFERENCES - 1; i > 0; --i) memory->step[i] = memory->step[i - 1];
  memory->step[0]    = h;
  memory->order_used = k;
}

/* The step proposed next; h was used, `proposed` was wanted before it was fitted to the time left. Small increases are
 * not worth a new factor. */
static double next_step(double h, double proposed, double factor) {
  if (h < 0.999 * proposed) { /* fitted: keep the proposal as far as the estimate supports it */
    if (factor > 1) return fmax(fmin(proposed, factor * h), factor >= 2 ? 2 * h : h);
    return h * fmax(0.5, fmin(factor, 0.9));
  }
  if (factor >= 2) return 2 * h;
  if (factor <= 1) return h * fmax(0.5, fmin(factor, 0.9));
  return h;
}

/* ---- fixed steps --------------------------------------------------------------------------------------------------- */

/* The start-up reached a point of the grid: keep it; with k + 1 of them, take them as the history. */
static void collect_start_point(const yoke_integrator *integrator, yoke_integrator_state *state, const double *x) {
  const bdf   *self   = integrator->self;
  bdf_memory  *memory = bdf_own(integrator, state);
  const int    nx = self->newton->dae->nx, k = self->max_order;
  const double h = integrator->options.fixed_step;
  memcpy(start_point(integrator, state, memory->n_points), x, (size_t)nx * sizeof *x);
  ++memory->n_points;
  ++memory->i_grid;
  if (memory->n_points <= k) return;

  /* With equal steps phi_i is the i-th backward difference. */
  double *d[N_DIFFERENCES] = {NULL};
  for (int j = 0; j <= k; ++j) {
    d[j] = difference(integrator, state, j);
    memcpy(d[j], start_point(integrator, state, k - j), (size_t)nx * sizeof *x);
  }
  for (int order = 1; order <= k; ++order) {
    for (int j = k; j >= order; --j) {
      for (int i = 0; i < nx; ++i) d[j][i] = d[j - 1][i] - d[j][i];
    }
  }
  for (int i = 0; i < N_DIFFERENCES; ++i) memory->step[i] = h;
  memory->is_starting = false;
  memory->order_used  = k;
  state->order        = k;
  state->h            = h;
}

static double grid_point(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  const bdf_memory *memory = bdf_own(integrator, state);
  return memory->t_grid + (double)(memory->i_grid + 1) * integrator->options.fixed_step;
}

/* ---- step ---------------------------------------------------------------------------------------------------------- */

/* An attempt failed: `error` NULL when the equations could not be solved. Returns the step to try next. */
static double shrink(const yoke_integrator *integrator, yoke_integrator_state *state, double h, int n_failures,
                     const bdf_errors *error) {
  bdf_memory *memory = bdf_own(integrator, state);
  ++state->counters.rejected;
  memory->is_ramp = false;
  if (error == NULL) {
    if (n_failures > 3 && state->order > 1) state->order = 1, memory->n_at_order = 0;
    return 0.25 * h;
  }
  const int lower = error->wants_lower ? 1 : 0;
  if (lower || n_failures > 2) memory->n_at_order = 0;
  if (n_failures > 2) {
    state->order = 1;
    return 0.25 * h;
  }
  state->order -= lower;
  if (n_failures > 1) return 0.25 * h;
  const double factor = 0.9 * pow(2 * error->at[1 - lower] + 1e-4, -1.0 / (state->order + 1));
  return h * fmax(0.25, fmin(factor, 0.9));
}

static yoke_status accept(const yoke_integrator *integrator, const yoke_newton *newton, const yoke_newton_work *work,
                          yoke_integrator_state *state, const bdf_coefficients *c, bdf_errors *error, double t_new,
                          double h, double proposed) {
  bdf_memory *memory = bdf_own(integrator, state);
  const bool  grid   = is_fixed(integrator) && !memory->is_starting;
  const int   k      = state->order;
  if (!grid && h < 0.2 * proposed) { /* a short rest before a stop says nothing about order and step */
    state->h = proposed;
  } else if (!grid) {
    const double factor = choose_order(integrator, newton, state, c, work, error);
    state->h            = next_step(h, proposed, factor);
    if (integrator->options.max_step > 0) state->h = fmin(state->h, integrator->options.max_step);
  }
  memory->h_usual = fmax(h, 0.98 * memory->h_usual);
  update_history(integrator, state, c, work, k, h);
  yoke_newton_unpack(newton, integrator, work->x, work->xd, state);
  memcpy(last_acceleration(integrator, state), yoke_integrator_a(integrator, state),
         (size_t)integrator->equations->nv * sizeof(double));
  state->t_prev = state->t;
  state->t      = t_new;
  ++state->counters.steps;
  return YOKE_OK;
}

/* One attempt to t + h. Recoverable status: equations not solved. `error` is 0 where it is not estimated. */
static yoke_status attempt(const yoke_integrator *integrator, const yoke_newton *newton, const yoke_newton_work *work,
                           yoke_integrator_state *state, const yoke_signal *u, double t_new, double h,
                           bdf_coefficients *c, bdf_errors *error) {
  bdf_memory *memory = bdf_own(integrator, state);
  *c                 = coefficients(memory, h, state->order);
  predict(integrator, state, c, work);
  yoke_signal_value(u, t_new, YOKE_SIDE_LEFT, 0, work->u);
  YOKE_TRY(yoke_newton_solve(newton, work, &memory->newton, state, t_new, c->alpha));
  YOKE_TRY(project(integrator, work, t_new));
  *error = estimate(integrator, newton, state, c, work);
  if (!isfinite(error->local) || !yoke_all_finite(newton->dae->nx, work->x)) return YOKE_NON_FINITE;
  return YOKE_OK;
}

static yoke_status too_small(yoke_context *ctx, const yoke_integrator_state *state, double h, yoke_status why) {
  return yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL, "solver 'bdf': step %.3g s at t = %.17g s is too small (%s)", h,
                   state->t, why == YOKE_OK ? "the error test fails" : yoke_status_text(why));
}

/* ---- bridges ------------------------------------------------------------------------------------------------------- */

/* out := x after h by the classical Runge-Kutta method; k1 = x' at (t, x). work->x and work->xd are used. */
static yoke_status runge_kutta(const yoke_newton *newton, const yoke_newton_work *work, const yoke_signal *u, double t,
                               double h, const double *x, const double *k1, double *out) {
  static const double node[] = {0.5, 0.5, 1}, weight[] = {1.0 / 3, 1.0 / 3, 1.0 / 6};
  const int           nx = newton->dae->nx;
  const double       *k  = k1;
  for (int i = 0; i < nx; ++i) out[i] = x[i] + h / 6 * k1[i];
  for (int stage = 0; stage < 3; ++stage) {
    for (int i = 0; i < nx; ++i) work->x[i] = x[i] + h * node[stage] * k[i];
    YOKE_TRY(yoke_newton_derivative(newton, work, t + h * node[stage], work->x, u, YOKE_SIDE_LEFT, work->xd));
    for (int i = 0; i < nx; ++i) out[i] += h * weight[stage] * work->xd[i];
    k = work->xd;
  }
  return YOKE_OK;
}

/* One step of h and two of h/2, extrapolated to order 5; x in work->x_pred, x' at t in work->xd_pred. `share` of the error is tested. */
static yoke_status bridge_attempt(const yoke_integrator *integrator, const yoke_newton *newton,
                                  const yoke_newton_work *work, const yoke_integrator_state *state,
                                  const yoke_signal *u, double t_new, double h, double share, double *error) {
  const double *x        = difference(integrator, state, 0);
  const double  t_middle = state->t + h / 2;
  YOKE_TRY(yoke_newton_derivative(newton, work, state->t, x, u, YOKE_SIDE_RIGHT, work->xd_pred));
  YOKE_TRY(runge_kutta(newton, work, u, state->t, h, x, work->xd_pred, work->e));
  YOKE_TRY(runge_kutta(newton, work, u, state->t, h / 2, x, work->xd_pred, work->delta));
  YOKE_TRY(yoke_newton_derivative(newton, work, t_middle, work->delta, u, YOKE_SIDE_LEFT, work->spare));
  YOKE_TRY(runge_kutta(newton, work, u, t_middle, h / 2, work->delta, work->spare, work->x_pred));
  for (int i = 0; i < newton->dae->nx; ++i) {
    work->e[i] = (work->x_pred[i] - work->e[i]) / 15;
    work->x_pred[i] += work->e[i];
  }
  *error = share * yoke_newton_norm(newton, work->weight, work->e);
  if (!isfinite(*error) || *error > 1) return YOKE_OK;
  const yoke_equations *eq = integrator->equations;
  YOKE_TRY(eq->ops->project_position(eq->self, work->equations, t_new, work->x_pred));
  return eq->ops->project_velocity(eq->self, work->equations, t_new, work->x_pred, work->x_pred + newton->dae->i_v);
}

/* Take over work->x_pred. The differences become those of the cubic Hermite polynomial of the step, for the dense output. */
static yoke_status bridge_accept(const yoke_integrator *integrator, const yoke_newton *newton,
                                 const yoke_newton_work *work, yoke_integrator_state *state, const yoke_signal *u,
                                 double t_new, double h) {
  bdf_memory           *memory = bdf_own(integrator, state);
  const yoke_equations *eq     = integrator->equations;
  const yoke_dae       *dae    = newton->dae;
  double               *lambda = yoke_integrator_lambda(integrator, state), *a = yoke_integrator_a(integrator, state);
  double               *x = work->x_pred, *xd = work->xd;
  yoke_signal_value(u, t_new, YOKE_SIDE_LEFT, 0, work->u);
  memset(xd, 0, (size_t)dae->nx * sizeof *xd);
  YOKE_TRY(eq->ops->derivative(eq->self, work->equations, t_new, x, x + dae->i_v, work->u, xd, xd + dae->i_v, lambda));
  memcpy(a, xd + dae->i_v, (size_t)eq->nv * sizeof *a);
  memcpy(last_acceleration(integrator, state), a, (size_t)eq->nv * sizeof *a);
  yoke_implicit_unpack(newton->implicit, x, yoke_integrator_q(integrator, state), yoke_integrator_v(integrator, state),
                       NULL, NULL);
  yoke_newton_pack(newton, integrator, state, x);

  double *phi[4] = {NULL};
  for (int j = 0; j < 4; ++j) phi[j] = difference(integrator, state, j);
  for (int i = 0; i < dae->nx; ++i) {
    /* values at t, t - h, t - 2h, t - 3h of the polynomial p with p and p' given at t - h and t */
    const double x0 = phi[0][i], d0 = h * work->xd_pred[i], d1 = h * xd[i], dx = x[i] - x0;
    const double c2 = 3 * dx - 2 * d0 - d1, c3 = d0 + d1 - 2 * dx;
    const double y[4] = {x[i], x0, x0 - d0 + c2 - c3, x0 - 2 * d0 + 4 * c2 - 8 * c3};
    phi[0][i]         = y[0];
    phi[1][i]         = y[0] - y[1];
    phi[2][i]         = y[0] - 2 * y[1] + y[2];
    phi[3][i]         = y[0] - 3 * y[1] + 3 * y[2] - y[3];
  }
  for (int i = 0; i < N_DIFFERENCES; ++i) memory->step[i] = h;
  memory->order_used = 3;
  state->order       = 4;
  state->t_prev      = state->t;
  state->t           = t_new;
  ++state->counters.steps;
  return YOKE_OK;
}

static bool is_singular(const yoke_integrator *integrator, const yoke_newton_work *work,
                        const yoke_integrator_state *state) {
  const yoke_equations *e = integrator->equations;
  return e->ops->is_singular != NULL &&
         e->ops->is_singular(e->self, work->equations, state->t, yoke_integrator_q(integrator, state));
}

static yoke_status bridge_step(const yoke_integrator *integrator, const yoke_newton *newton,
                               const yoke_newton_work *work, yoke_integrator_state *state, const yoke_signal *u,
                               double t_limit, yoke_context *ctx) {
  bdf_memory  *memory    = bdf_own(integrator, state);
  const double least     = fmax(64 * DBL_EPSILON * fabs(state->t), 1e-9 * state->h);
  double       share     = BRIDGE_SHARE;
  int          n_bridges = 0;
  yoke_newton_weigh(newton, difference(integrator, state, 0), work->weight);
  for (;;) {
    bool         is_last;
    const double h     = yoke_step_clip(state->t, state->h, t_limit, false, &is_last);
    const double t_new = is_last ? t_limit : state->t + h;
    double       error = INFINITY;
    state->counters.evaluations += 11;
    yoke_status status = bridge_attempt(integrator, newton, work, state, u, t_new, h, share, &error);
    if (status < YOKE_OK) return status;
    if (status == YOKE_OK && error <= 1 && yoke_all_finite(newton->dae->nx, work->x_pred)) {
      status = bridge_accept(integrator, newton, work, state, u, t_new, h);
      if (status < YOKE_OK) return status;
    } else if (status == YOKE_OK) {
      status = YOKE_NOT_CONVERGED;
    }
    const double factor = error > 0 && isfinite(error) ? 0.9 * pow(error, -0.2) : error > 0 ? 0.2 : 2;
    if (status == YOKE_OK) {
      if (!is_last || factor < 1) state->h = h * fmax(0.3, fmin(factor, 2));
      if (integrator->options.max_step > 0) state->h = fmin(state->h, integrator->options.max_step);
      memory->is_bridge    = state->t < memory->t_bridge;
      memory->must_restart = !memory->is_bridge;
      return YOKE_OK;
    }
    ++state->counters.rejected;
    state->h = h * fmax(0.1, fmin(factor, 0.5));
    yoke_bridge bridge;
    if (is_singular(integrator, work, state) && yoke_bridge_attempt(n_bridges, integrator->options.rtol, &bridge)) {
      ++n_bridges;
      share    = fmin(BRIDGE_SHARE, newton->rtol / bridge.rtol);
      state->h = bridge.share * memory->h_usual;
    }
    if (!(state->h > least)) return too_small(ctx, state, state->h, YOKE_OK);
  }
}

/* The error test fails again and again: may explicit steps try? */
static bool begin_bridge(const yoke_integrator *integrator, yoke_integrator_state *state) {
  bdf_memory *memory = bdf_own(integrator, state);
  if (integrator->equations->ng == 0 || is_fixed(integrator) || !(memory->h_usual > 0)) return false;
  memory->is_bridge = true;
  memory->t_bridge  = state->t + (double)(BRIDGE_STEPS << memory->n_bridges) * memory->h_usual;
  memory->n_calm    = 0;
  if (memory->n_bridges < BRIDGE_DOUBLINGS) ++memory->n_bridges;
  state->h = 0.25 * memory->h_usual;
  return true;
}

/* Steps with error control, at most to t_limit. */
static yoke_status controlled_step(const yoke_integrator *integrator, const yoke_newton *newton,
                                   const yoke_newton_work *work, yoke_integrator_state *state, const yoke_signal *u,
                                   double t_limit, yoke_context *ctx) {
  const bdf_memory *memory = bdf_own(integrator, state);
  yoke_newton_weigh(newton, difference(integrator, state, 0), work->weight);
  /* No more than twice the longest of the last steps, so that a short last step before a stop does not matter. */
  double proposed = fmin(state->h, 2 * fmax(memory->step[0], fmax(memory->step[1], memory->step[2])));
  for (int n_failures = 1;; ++n_failures) {
    bool             is_last;
    const double     h     = yoke_step_clip(state->t, proposed, t_limit, false, &is_last);
    const double     t_new = is_last ? t_limit : state->t + h;
    bdf_coefficients c;
    bdf_errors       error;
    if (!(t_new > state->t) || !(h > 8 * DBL_EPSILON * fabs(state->t))) {
      if ((!is_last || n_failures > 1) && begin_bridge(integrator, state)) {
        return bridge_step(integrator, newton, work, state, u, t_limit, ctx);
      }
      if (!is_last || n_failures > 1) return too_small(ctx, state, h, YOKE_OK);
    }
    const yoke_status status = attempt(integrator, newton, work, state, u, t_new, h, &c, &error);
    if (status < YOKE_OK) return status;
    if (status == YOKE_OK && error.local <= 1) {
      return accept(integrator, newton, work, state, &c, &error, t_new, h, fmax(proposed, is_last ? state->h : 0));
    }
    if (n_failures >= BRIDGE_AFTER && h < BRIDGE_BELOW * memory->h_usual && begin_bridge(integrator, state)) {
      return bridge_step(integrator, newton, work, state, u, t_limit, ctx);
    }
    if (n_failures > MAX_FAILURES_IN_A_ROW) return too_small(ctx, state, h, status);
    proposed = shrink(integrator, state, h, n_failures, status == YOKE_OK ? &error : NULL);
    state->h = proposed;
  }
}

/* A step of the grid, or up to t_limit when that comes first. */
static yoke_status grid_step(const yoke_integrator *integrator, const yoke_newton_work *work,
                             yoke_integrator_state *state, const yoke_signal *u, double t_limit, yoke_context *ctx) {
  const bdf         *self    = integrator->self;
  const yoke_newton *newton  = self->newton;
  bdf_memory        *memory  = bdf_own(integrator, state);
  const double       h_grid  = integrator->options.fixed_step;
  bool               is_grid = true;
  double             t_new   = grid_point(integrator, state);
  if (fabs(t_new - t_limit) <= 1e-9 * h_grid) {
    t_new = t_limit;
  } else if (t_new > t_limit) {
    t_new   = t_limit;
    is_grid = false;
  }
  /* equal steps are equal to the bit, whatever the rounding of the grid times */
  double h = t_new - state->t;
  if (fabs(h - h_grid) <= 1e-9 * h_grid) h = h_grid;
  yoke_newton_weigh(newton, difference(integrator, state, 0), work->weight);
  bdf_coefficients  c;
  bdf_errors        error;
  const yoke_status status = attempt(integrator, newton, work, state, u, t_new, h, &c, &error);
  if (status > YOKE_OK) {
    return yoke_fail(ctx, YOKE_E_NOT_CONVERGED, "solver 'bdf': fixed step %.3g s at t = %.17g s cannot be solved (%s)",
                     h, state->t, yoke_status_text(status));
  }
  YOKE_TRY(status);
  YOKE_TRY(accept(integrator, newton, work, state, &c, &error, t_new, h, h));
  if (is_grid) {
    ++memory->i_grid;
  } else { /* a stop between grid points: the grid goes on from here */
    memory->t_grid = t_new;
    memory->i_grid = 0;
  }
  return YOKE_OK;
}

static yoke_status start_up_step(const yoke_integrator *integrator, const yoke_newton_work *work,
                                 yoke_integrator_state *state, const yoke_signal *u, double t_limit,
                                 yoke_context *ctx) {
  const bdf *self   = integrator->self;
  double     t_grid = grid_point(integrator, state);
  if (fabs(t_grid - t_limit) <= 1e-9 * integrator->options.fixed_step) t_grid = t_limit;
  YOKE_TRY(controlled_step(integrator, self->start_up, work, state, u, fmin(t_grid, t_limit), ctx));
  if (state->t >= t_grid) collect_start_point(integrator, state, work->x);
  return YOKE_OK;
}

static yoke_status bdf_step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                            const yoke_signal *u, double t_limit, yoke_context *ctx) {
  const bdf             *self   = integrator->self;
  const yoke_newton_work work   = yoke_newton_carve(self->newton, scratch);
  bdf_memory            *memory = bdf_own(integrator, state);
  if (memory->is_bridge) return bridge_step(integrator, self->newton, &work, state, u, t_limit, ctx);
  if (memory->must_restart) YOKE_TRY(restart(integrator, &work, state, u));
  if (++memory->n_calm > CALM_STEPS) memory->n_bridges = 0;
  if (!is_fixed(integrator)) return controlled_step(integrator, self->newton, &work, state, u, t_limit, ctx);
  if (memory->is_starting) return start_up_step(integrator, &work, state, u, t_limit, ctx);
  return grid_step(integrator, &work, state, u, t_limit, ctx);
}

/* x(t) = sum_{i<=k} phi_i prod_{j<i} (t - t_{n-j}) / psi_j */
static void bdf_interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t, double *q,
                            double *v) {
  const bdf            *self   = integrator->self;
  const yoke_equations *eq     = integrator->equations;
  const bdf_memory     *memory = bdf_own(integrator, state);
  const int             i_v    = self->newton->dae->i_v;
  double                c = 1, psi = 0;
  if (q != NULL) memset(q, 0, (size_t)eq->nq * sizeof *q);
  if (v != NULL) memset(v, 0, (size_t)eq->nv * sizeof *v);
  for (int j = 0; j <= memory->order_used; ++j) {
    const double *phi = difference(integrator, state, j);
    for (int i = 0; q != NULL && i < eq->nq; ++i) q[i] += c * phi[i];
    for (int i = 0; v != NULL && i < eq->nv; ++i) v[i] += c * phi[i_v + i];
    c *= t - state->t + psi; /* t - t_{n-j} */
    psi += memory->step[j < N_DIFFERENCES ? j : N_DIFFERENCES - 1];
    c /= psi;
  }
}

/* The start-up of fixed steps has one of its own. */
static const yoke_linear *bdf_linear(const yoke_integrator *integrator, int i) {
  const bdf *self = integrator->self;
  if (i == 0) return self->newton->implicit->linear;
  return i == 1 && self->start_up != self->newton ? self->start_up->implicit->linear : NULL;
}

static bool bdf_is_sound(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  const bdf        *self     = integrator->self;
  const bdf_memory *memory   = bdf_own(integrator, state);
  const bool       *flag[]   = {&memory->is_bridge, &memory->must_restart, &memory->is_ramp, &memory->is_starting};
  const int         n_points = is_fixed(integrator) ? self->max_order + 1 : 0;
  for (size_t i = 0; i < sizeof flag / sizeof *flag; ++i) {
    if (!yoke_is_bool(flag[i])) return false;
  }
  return state->order >= 1 && state->order <= MAX_ORDER && memory->order_used >= 1 && memory->order_used <= MAX_ORDER &&
         memory->n_points >= 0 && memory->n_points <= n_points &&
         !(memory->is_starting && memory->n_points == n_points) && memory->n_bridges >= 0 &&
         memory->n_bridges <= BRIDGE_DOUBLINGS && yoke_is_count(memory->n_at_order) && yoke_is_count(memory->n_calm) &&
         memory->i_grid >= 0 && memory->i_grid < INT64_MAX / 2;
}

const yoke_integrator_ops bdf_ops = {
    .name        = "bdf",
    .summary     = "backward differentiation, order 1 to 5, stiff systems and constraints",
    .reads       = "rtol atol step max_step max_order linear constraints alpha beta",
    .create      = bdf_create,
    .destroy     = bdf_destroy,
    .start       = bdf_start,
    .step        = bdf_step,
    .interpolate = bdf_interpolate,
    .disturb     = bdf_disturb,
    .linear      = bdf_linear,
    .is_sound    = bdf_is_sound,
    .tangents    = YOKE_TANGENTS_IMPLICIT,
    .wanders     = true,
};
