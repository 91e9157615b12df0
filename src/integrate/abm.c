/* Adams-Bashforth-Moulton in PECE form with variable step and order 1 .. 12, two evaluations per step.
 *
 * History is kept as modified divided differences (Shampine, Gordon, Computer Solution of Ordinary Differential
 * Equations, 1975). With psi_i = t_n - t_{n-i} at the old point and Psi_i = t_{n+1} - t_{n+1-i} = h + psi_{i-1} at the
 * new one (Psi_1 = h):
 *   phi_1 = f_n,  phi_{i+1}(n+1) = phi_i(n+1) - beta_i phi_i(n),   beta_1 = 1, beta_i = beta_{i-1} Psi_{i-1} / psi_{i-1}
 *   predict   p = y_n + h sum_{i<=k} g_i beta_i phi_i,       f_p = f(t_{n+1}, p)
 *   correct   y_{n+1} = p + h g_{k+1} (f_p - sum_{i<=k} beta_i phi_i)      (order k + 1 by local extrapolation)
 *   error     h (g_k - g_{k+1}) |f_p - sum_{i<=k} beta_i phi_i|, with at least what g_k - g_{k+1} is for equal steps
 * The coefficients hold for any sequence of steps, so that a step clipped at a stop loses no order. All of it is
 * computed from psi and phi anew in each step: a rejected attempt leaves no trace.
 *
 * A step of order k in this count, one with k differences, is accurate of order k + 1.
 * With a fixed step the history is built up by tiny steps from h 2^-20 on that grow geometrically.
 *
 * Projection on demand: a projection costs more than both evaluations of a step, and what a step leaves open of the joints is a part of its error, which
 * the error test bounds whether it is mended at once or some steps later. So steps go without one as long as the
 * projections behind them move q and v by little of what the test allows a step. Stops are always projected; looks into a step change no bit of the motion,
 * and see joints as open as its error is large. */
#include "base/memory.h"
#include "integrate/explicit.h"
#include "integrate/methods.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { K_MAX = 12, N_PHI = K_MAX + 2, FIXED_ORDER = 4, LONGEST_WAIT = 8 };

typedef struct abm_self {
  int    k_max;
  size_t work, u, q_new, v_new, fq, fv, q_diff, v_diff, temp, lambda; /* scratch */
  size_t phi_q[N_PHI], phi_v[N_PHI];                                  /* own part of the state */
} abm_self;

typedef struct abm_own {
  double  psi[N_PHI + 1]; /* psi[i] = t_n - t_{n-i}, i = 1 .. n_phi - 1 */
  double  t_start;        /* where the history begins */
  int32_t k;              /* order of the next step */
  int32_t k_last;         /* of the last step, for dense output */
  int32_t n_phi;          /* valid differences phi_1 .. phi_{n_phi} */
  int32_t is_growing;     /* start-up: order and step grow every step */
  int32_t wait;           /* steps from one projection to the next, 1 .. LONGEST_WAIT */
  int32_t unprojected;    /* steps since the last one */
} abm_own;

/* Coefficients of one step, index 1 .. */
typedef struct abm_coefficients {
  double Psi[N_PHI + 1], beta[N_PHI + 1], sigma[N_PHI + 2], g[K_MAX + 2];
} abm_coefficients;

typedef struct abm_view {
  const yoke_integrator *integrator;
  const abm_self        *self;
  yoke_integrator_state *state;
  abm_own               *own;
  const yoke_signal     *u;
  void                  *work;
  double                *u_now, *lambda, *temp;
  double                *q, *v, *a;
  double                *q_new, *v_new, *fq, *fv, *q_diff, *v_diff;
  double                *phi_q[N_PHI], *phi_v[N_PHI]; /* phi_i at index i - 1 */
} abm_view;

/* |gamma*_k| of the uniform grid */
static const double gamma_star[K_MAX + 2] = {1,      0.5,     0.0833,  0.0417,  0.0264,  0.0188,  0.0143,
                                             0.0114, 0.00936, 0.00789, 0.00679, 0.00592, 0.00524, 0.00468};

static yoke_status create(yoke_context *ctx, yoke_integrator *integrator) {
  const yoke_equations *e     = integrator->equations;
  int                   k_max = integrator->options.max_order;
  if (k_max > K_MAX)
    return yoke_fail(ctx, YOKE_E_USAGE, "solver 'abm': max_order is %d, expected 1 to %d", k_max, K_MAX);
  if (k_max == 0) k_max = integrator->options.fixed_step > 0 ? FIXED_ORDER : K_MAX;

  abm_self *self = yoke_allocate(1, sizeof *self);
  if (self == NULL) return yoke_out_of_memory(ctx, "solver 'abm'");
  self->k_max              = k_max;
  size_t size              = 0;
  self->work               = explicit_reserve(&size, e->work_size);
  self->u                  = yoke_array_reserve(&size, e->nu + 1);
  self->q_new              = yoke_array_reserve(&size, e->nq);
  self->v_new              = yoke_array_reserve(&size, e->nv);
  self->fq                 = yoke_array_reserve(&size, e->nq);
  self->fv                 = yoke_array_reserve(&size, e->nv);
  self->q_diff             = yoke_array_reserve(&size, e->nq);
  self->v_diff             = yoke_array_reserve(&size, e->nv);
  self->temp               = yoke_array_reserve(&size, 2 * (e->nq + e->nv));
  self->lambda             = yoke_array_reserve(&size, yoke_n_multipliers(e));
  integrator->scratch_size = size;

  size = 0;
  (void)explicit_reserve(&size, sizeof(abm_own));
  for (int i = 0; i < k_max + 2; ++i) {
    self->phi_q[i] = yoke_array_reserve(&size, e->nq);
    self->phi_v[i] = yoke_array_reserve(&size, e->nv);
  }
  integrator->state_size = yoke_integrator_head_size(e) + size;
  integrator->self       = self;
  return YOKE_OK;
}

static void destroy(yoke_integrator *integrator) {
  free(integrator->self);
  integrator->self = NULL;
}

static abm_view view(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                     const yoke_signal *u) {
  const abm_self *self = integrator->self;
  abm_own        *own  = yoke_integrator_own(integrator, state);
  abm_view        x    = {.integrator = integrator,
                          .self       = self,
                          .state      = state,
                          .own        = own,
                          .u          = u,
                          .work       = explicit_at(scratch, self->work),
                          .u_now      = explicit_at(scratch, self->u),
                          .lambda     = explicit_at(scratch, self->lambda),
                          .temp       = explicit_at(scratch, self->temp),
                          .q          = yoke_integrator_q(integrator, state),
                          .v          = yoke_integrator_v(integrator, state),
                          .a          = yoke_integrator_a(integrator, state),
                          .q_new      = explicit_at(scratch, self->q_new),
                          .v_new      = explicit_at(scratch, self->v_new),
                          .fq         = explicit_at(scratch, self->fq),
                          .fv         = explicit_at(scratch, self->fv),
                          .q_diff     = explicit_at(scratch, self->q_diff),
                          .v_diff     = explicit_at(scratch, self->v_diff)};
  for (int i = 0; i < self->k_max + 2; ++i) {
    x.phi_q[i] = explicit_at(own, self->phi_q[i]);
    x.phi_v[i] = explicit_at(own, self->phi_v[i]);
  }
  return x;
}

/* ---- one step ---- */

static void make_coefficients(const abm_own *own, double h, abm_coefficients *c) {
  const int k = own->k, n = own->n_phi;
  double    alpha[N_PHI + 1] = {0}, w[K_MAX + 2] = {0};
  c->beta[1]  = 1;
  c->sigma[1] = 1;
  for (int i = 1; i <= n; ++i) {
    c->Psi[i] = i == 1 ? h : h + own->psi[i - 1];
    alpha[i]  = h / c->Psi[i];
    if (i > 1) c->beta[i] = c->beta[i - 1] * (c->Psi[i - 1] / own->psi[i - 1]);
    c->sigma[i + 1] = i * alpha[i] * c->sigma[i];
  }
  /* g_i: integrals of the Newton polynomials over the step */
  c->g[1] = 1;
  for (int iq = 1; iq <= k; ++iq) w[iq] = 1.0 / (iq * (iq + 1));
  w[k + 1] = 0;
  c->g[2]  = 0.5;
  for (int i = 3; i <= k + 1; ++i) {
    for (int iq = 1; iq <= k + 2 - i; ++iq) w[iq] -= alpha[i - 1] * w[iq + 1];
    c->g[i] = w[1];
  }
}

static yoke_status evaluate(const abm_view *x, double t, double *lambda) {
  return explicit_evaluate(x->integrator, x->work, x->u_now, &x->state->counters, x->u, t, YOKE_SIDE_LEFT, x->q_new,
                           x->v_new, x->fq, x->fv, lambda);
}

/* q_new, v_new = p and *_diff = f_p - sum beta_i phi_i */
static yoke_status predict(const abm_view *x, const abm_coefficients *c, double h, double t_new) {
  const yoke_equations *e         = x->integrator->equations;
  const int             k         = x->own->k;
  double                gb[K_MAX] = {0};
  const double         *phi_q[K_MAX], *phi_v[K_MAX];
  for (int i = 0; i < k; ++i) {
    gb[i]    = c->g[i + 1] * c->beta[i + 1];
    phi_q[i] = x->phi_q[i];
    phi_v[i] = x->phi_v[i];
  }
  explicit_combine(e->nq, x->q, h, k, gb, phi_q, x->q_new);
  explicit_combine(e->nv, x->v, h, k, gb, phi_v, x->v_new);
  YOKE_TRY(evaluate(x, t_new, NULL));
  explicit_combine(e->nq, NULL, 1, k, c->beta + 1, phi_q, x->q_diff);
  explicit_combine(e->nv, NULL, 1, k, c->beta + 1, phi_v, x->v_diff);
  for (int i = 0; i < e->nq; ++i) x->q_diff[i] = x->fq[i] - x->q_diff[i];
  for (int i = 0; i < e->nv; ++i) x->v_diff[i] = x->fv[i] - x->v_diff[i];
  return YOKE_OK;
}

/* Weighted norms of difference number k+1 (from f_p), k and k-1 at the new point: norm[0 .. 2]. */
static void difference_norms(const abm_view *x, const abm_coefficients *c, double *norm) {
  const yoke_equations          *e  = x->integrator->equations;
  const yoke_integrator_options *o  = &x->integrator->options;
  const int                      nq = explicit_n_q(e), n = nq + e->nv, k = x->own->k;
  double                        *dq = x->temp, *dv = x->temp + e->nq;
  memcpy(dq, x->q_diff, (size_t)e->nq * sizeof *dq);
  memcpy(dv, x->v_diff, (size_t)e->nv * sizeof *dv);
  for (int lower = 0; lower < 3; ++lower) {
    norm[lower] = 0;
    if (lower >= k && lower > 0) continue;
    if (lower > 0) {
      const int i_phi = k - lower; /* phi_{k + 1 - lower} */
      for (int i = 0; i < nq; ++i) dq[i] += c->beta[i_phi + 1] * x->phi_q[i_phi][i];
      for (int i = 0; i < e->nv; ++i) dv[i] += c->beta[i_phi + 1] * x->phi_v[i_phi][i];
    }
    const double sum = explicit_error_sum(nq, dq, x->q, x->q_new, explicit_size(e, true, 0), o->atol, o->rtol) +
                       explicit_error_sum(e->nv, dv, x->v, x->v_new, explicit_size(e, false, 0), o->atol, o->rtol);
    norm[lower] = n > 0 ? sqrt(sum / n) : 0;
  }
}

/* ---- projection on demand ---- */

/* Moves of a projection in the norm of the error test, where 1 is what it allows a step: above LARGE_MOVE every step is projected again; up to SMALL_MOVE
 * the next one may wait twice as long, over which a gap, the integral of one of velocities, grows fourfold. */
static const double LARGE_MOVE = 0.1, SMALL_MOVE = 0.025;

/* Steps of fixed length have no tolerance to go by. */
static bool is_projection_due(const abm_view *x, bool is_stop) {
  return is_stop || x->integrator->options.fixed_step > 0 || x->own->unprojected + 1 >= x->own->wait;
}

/* How far q_new, v_new are from where they were, x->temp, in the norm of the error test. */
static double move_norm(const abm_view *x) {
  const yoke_equations          *e  = x->integrator->equations;
  const yoke_integrator_options *o  = &x->integrator->options;
  const int                      nq = explicit_n_q(e), n = nq + e->nv;
  double                        *dq = x->temp, *dv = x->temp + e->nq;
  for (int i = 0; i < e->nq; ++i) dq[i] = x->q_new[i] - dq[i];
  for (int i = 0; i < e->nv; ++i) dv[i] = x->v_new[i] - dv[i];
  const double sum = explicit_error_sum(nq, dq, x->q, x->q_new, explicit_size(e, true, 0), o->atol, o->rtol) +
                     explicit_error_sum(e->nv, dv, x->v, x->v_new, explicit_size(e, false, 0), o->atol, o->rtol);
  return n > 0 ? sqrt(sum / n) : 0;
}

static yoke_status project(const abm_view *x, double t_new) {
  abm_own   *own      = x->own;
  const bool is_whole = own->unprojected + 1 >= own->wait; /* not cut short by a stop */
  bool       moved;
  YOKE_TRY(explicit_project(x->integrator, x->work, t_new, x->q_new, x->v_new, x->temp, &moved));
  const double move = moved ? move_norm(x) : 0;
  if (!(move <= LARGE_MOVE)) {
    own->wait = 1;
  } else if (is_whole && move <= SMALL_MOVE && own->wait < LONGEST_WAIT) {
    own->wait *= 2;
  }
  own->unprojected = 0;
  return YOKE_OK;
}

static yoke_status correct(const abm_view *x, const abm_coefficients *c, double h, double t_new, bool is_stop) {
  const yoke_equations *e  = x->integrator->equations;
  const double          hg = h * c->g[x->own->k + 1];
  for (int i = 0; i < e->nq; ++i) x->q_new[i] += hg * x->q_diff[i];
  for (int i = 0; i < e->nv; ++i) x->v_new[i] += hg * x->v_diff[i];
  if (e->ng + e->n_norms > 0) {
    if (is_projection_due(x, is_stop)) {
      YOKE_TRY(project(x, t_new));
    } else {
      ++x->own->unprojected;
    }
  }
  return evaluate(x, t_new, x->lambda);
}

static void commit(const abm_view *x, const abm_coefficients *c, double t_new) {
  const yoke_equations *e      = x->integrator->equations;
  abm_own              *own    = x->own;
  const int             m      = own->n_phi < own->k + 1 ? own->n_phi : own->k + 1;
  const size_t          q_size = (size_t)e->nq * sizeof(double), v_size = (size_t)e->nv * sizeof(double);
  explicit_shift_differences(e->nq, m, c->beta + 1, x->fq, x->phi_q);
  explicit_shift_differences(e->nv, m, c->beta + 1, x->fv, x->phi_v);
  memcpy(x->q, x->q_new, q_size);
  memcpy(x->v, x->v_new, v_size);
  memcpy(x->a, x->fv, v_size);
  const int n_lambda = yoke_n_multipliers(e);
  if (n_lambda > 0)
    memcpy(yoke_integrator_lambda(x->integrator, x->state), x->lambda, (size_t)n_lambda * sizeof(double));
  for (int i = 1; i <= m; ++i) own->psi[i] = c->Psi[i];
  own->n_phi       = m + 1;
  own->k_last      = own->k;
  x->state->t_prev = x->state->t;
  x->state->t      = t_new;
  x->state->order  = own->k;
  ++x->state->counters.steps;
}

/* ---- choice of order and step ---- */

/* Errors that a step of this length would have at order k, k-1, k-2 on a uniform grid. */
typedef struct abm_errors {
  double at_k, below, two_below;
} abm_errors;

static abm_errors order_errors(const abm_own *own, const abm_coefficients *c, double h, const double *norm) {
  const int  k = own->k;
  abm_errors r = {.at_k = h * c->sigma[k + 1] * gamma_star[k] * norm[0]};
  if (k >= 2) r.below = h * c->sigma[k] * gamma_star[k - 1] * norm[1];
  if (k >= 3) r.two_below = h * c->sigma[k - 1] * gamma_star[k - 2] * norm[2];
  return r;
}

/* The error of the step. Behind far longer ones g_k and g_{k+1} are nearly the same, which only says that neither looks at what is new: there the
 * coefficient of the uniform grid counts. */
static double step_error(const abm_own *own, const abm_coefficients *c, double h, const double *norm) {
  return h * norm[0] * fmax(fabs(c->g[own->k] - c->g[own->k + 1]), gamma_star[own->k]);
}

static bool should_lower(int k, const abm_errors *r) {
  if (k == 2) return r->below <= 0.5 * r->at_k;
  return k > 2 && fmax(r->below, r->two_below) <= r->at_k;
}

/* Error at order k + 1 from phi_{k+2} at the new point; infinite when the history is too short. */
static double error_above(const abm_view *x, const abm_coefficients *c, double h) {
  const yoke_equations          *e   = x->integrator->equations;
  const yoke_integrator_options *o   = &x->integrator->options;
  const abm_own                 *own = x->own;
  const int                      k = own->k, nq = explicit_n_q(e), n = nq + e->nv;
  if (own->n_phi < k + 2 || k >= x->self->k_max) return (double)INFINITY;
  const double sum =
      explicit_error_sum(nq, x->phi_q[k + 1], x->q, x->q, explicit_size(e, true, 0), o->atol, o->rtol) +
      explicit_error_sum(e->nv, x->phi_v[k + 1], x->v, x->v, explicit_size(e, false, 0), o->atol, o->rtol);
  return h * c->sigma[k + 2] * gamma_star[k + 1] * (n > 0 ? sqrt(sum / n) : 0);
}

/* After an accepted step of length h: order and step of the next one (Shampine, Gordon, block 4). */
static void choose_next(const abm_view *x, const abm_coefficients *c, const abm_errors *r, double proposal, double h) {
  abm_own   *own = x->own;
  const int  k = own->k, k_max = x->self->k_max;
  const bool lower = should_lower(k, r);
  double     err = r->at_k, h_next = h;
  if (lower || k == k_max) own->is_growing = 0;
  if (own->is_growing) {
    own->k = k + 1;
    h_next = 2 * h;
    if (h < proposal) h_next = fmax(proposal, h_next);
  } else {
    const double above = error_above(x, c, h);
    if (lower || (k > 1 && r->below <= fmin(err, above))) {
      own->k = k - 1;
      err    = r->below;
    } else if (above < (k == 1 ? 0.5 * err : err)) {
      own->k = k + 1;
      err    = above;
    }
    const double ratio = pow(0.5 / fmax(err, 1e-30), 1.0 / (own->k + 1));
    if (ratio >= 1.5) h_next = h * fmin(2, ratio);
    if (ratio < 1) h_next = h * fmax(0.5, fmin(0.9, ratio));
    /* Clipped: keep what was wanted unless the error speaks against it (invariant 2). */
    if (h < proposal && ratio >= 1) h_next = ratio >= 2 ? fmax(h_next, proposal) : h * ratio;
  }
  if (x->integrator->options.max_step > 0) h_next = fmin(h_next, x->integrator->options.max_step);
  x->state->h = h_next;
}

/* ---- fixed steps ---- */

/* Length of the next step. Tiny ones come first, then each is a fixed part of the history, until the fixed length is
 * reached after one step's time (low orders) or after four (high orders, whose differences amplify rounding errors by
 * the powers ratio^(k (k-1) / 2) of the ratio of neighbouring steps). */
static double fixed_length(const abm_view *x) {
  const double h = x->integrator->options.fixed_step, done = x->state->t - x->own->t_start;
  const double part = x->self->k_max <= 4 ? 1 : 0.25;
  if (x->self->k_max == 1 || done >= h / part * (1 - 1e-9)) return h;
  const double tiny = fmax(ldexp(h, -20), fmin(h, 64 * DBL_EPSILON * fabs(x->state->t)));
  return fmin(fmax(tiny, part * done), fmin(h, h / part - done));
}

static void raise_fixed_order(const abm_view *x) {
  abm_own *own = x->own;
  own->k       = own->n_phi < x->self->k_max ? own->n_phi : x->self->k_max;
}

/* ---- interface ---- */

static const double SHORTEST = 1e-3; /* of a step that failed three times */

static yoke_status begin(const abm_view *x) {
  const yoke_equations *e   = x->integrator->equations;
  abm_own              *own = x->own;
  YOKE_TRY(explicit_evaluate(x->integrator, x->work, x->u_now, &x->state->counters, x->u, x->state->t, YOKE_SIDE_RIGHT,
                             x->q, x->v, x->phi_q[0], x->phi_v[0], NULL));
  memcpy(x->a, x->phi_v[0], (size_t)e->nv * sizeof(double));
  own->k           = 1;
  own->n_phi       = 1;
  own->is_growing  = 1;
  own->t_start     = x->state->t;
  own->wait        = 1;
  own->unprojected = 0;
  x->state->order  = 1;
  x->state->h      = explicit_first_step(x->integrator, x->work, x->u_now, x->temp, x->state, x->u, x->phi_q[0], 1);
  return YOKE_OK;
}

static yoke_status start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                         const yoke_signal *u) {
  const abm_view x = view(integrator, scratch, state, u);
  return begin(&x);
}

/* The history belongs to other inputs or another state: begin anew with order 1. */
static yoke_status disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                           const yoke_signal *u, yoke_disturbance what) {
  const abm_view x = view(integrator, scratch, state, u);
  (void)what;
  return begin(&x);
}

static yoke_status step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                        const yoke_signal *u, double t_limit, yoke_context *ctx) {
  const abm_view x        = view(integrator, scratch, state, u);
  const bool     is_fixed = integrator->options.fixed_step > 0;
  const double   t_left = t_limit - state->t, h_min = explicit_smallest_step(state->t, t_limit);
  double         h = is_fixed ? fixed_length(&x) : state->h;

  for (int failures = 0;;) {
    const double     h_try = explicit_clip(h, t_left, is_fixed), t_new = h_try == t_left ? t_limit : state->t + h_try;
    abm_coefficients c       = {0};
    double           norm[3] = {0};
    abm_errors       r       = {0};
    double           err     = 0;
    make_coefficients(x.own, h_try, &c);
    yoke_status status = predict(&x, &c, h_try, t_new);
    if (status == YOKE_OK) {
      difference_norms(&x, &c, norm);
      r   = order_errors(x.own, &c, h_try, norm);
      err = step_error(x.own, &c, h_try, norm);
      if (!isfinite(err) || !isfinite(r.at_k)) status = YOKE_NON_FINITE;
    }
    if (status == YOKE_OK && (err <= 1 || is_fixed)) {
      status = correct(&x, &c, h_try, t_new, t_new == t_limit);
      if (status == YOKE_OK) {
        const int k = x.own->k;
        commit(&x, &c, t_new);
        x.own->k = k;
        if (is_fixed) {
          raise_fixed_order(&x);
        } else {
          choose_next(&x, &c, &r, h, h_try);
        }
        return YOKE_OK;
      }
    }
    if (status < 0) return yoke_fail(ctx, status, "solver 'abm' failed at t = %.9g s", state->t);

    /* Rejected. After three failures the history is not to be trusted: order 1 from here. */
    ++state->counters.rejected;
    x.own->is_growing = 0;
    x.own->wait       = 1;
    h                 = status != YOKE_OK ? h_try / 4 : h_try / 2;
    if (++failures >= 3) {
      x.own->k     = 1;
      x.own->n_phi = 1;
      /* an error inside of a steep wall says little of shorter steps */
      if (failures == 3 && status == YOKE_OK && r.at_k > 1) h = fmin(h, h_try * fmax(SHORTEST, sqrt(0.5 / r.at_k)));
    } else if (status == YOKE_OK && should_lower(x.own->k, &r)) {
      --x.own->k;
    }
    if (is_fixed || h < h_min) return explicit_fail_small(integrator, state, h, status != YOKE_NON_FINITE, ctx);
  }
}

/* The polynomial through the last k + 1 derivatives, integrated back from the new point:
 *   y(t) = y_n + s sum_{i<=k+1} g_i phi_i,  s = t - t_n. */
static void interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t, double *q,
                        double *v) {
  const abm_self       *self     = integrator->self;
  const yoke_equations *e        = integrator->equations;
  const abm_own        *own      = yoke_integrator_own(integrator, state);
  const int             ki       = own->k_last + 1 < own->n_phi ? own->k_last + 1 : own->n_phi;
  const double          s        = t - state->t;
  double                g[N_PHI] = {0}, w[N_PHI + 2] = {0}, term = 0;
  const double         *phi_q[N_PHI], *phi_v[N_PHI];
  for (int i = 1; i <= ki + 1; ++i) w[i] = 1.0 / i;
  g[0] = 1;
  for (int j = 2; j <= ki; ++j) {
    const double gamma = (s + term) / own->psi[j - 1], eta = s / own->psi[j - 1];
    for (int i = 1; i <= ki + 1 - j; ++i) w[i] = gamma * w[i] - eta * w[i + 1];
    g[j - 1] = w[1];
    term     = own->psi[j - 1];
  }
  for (int i = 0; i < ki; ++i) {
    phi_q[i] = explicit_at(own, self->phi_q[i]);
    phi_v[i] = explicit_at(own, self->phi_v[i]);
  }
  explicit_combine(e->nq, yoke_integrator_q(integrator, state), s, ki, g, phi_q, q);
  explicit_combine(e->nv, yoke_integrator_v(integrator, state), s, ki, g, phi_v, v);
}

static bool is_sound(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  const abm_self *self = integrator->self;
  const abm_own  *own  = yoke_integrator_own(integrator, state);
  return own->k >= 1 && own->k <= self->k_max && own->k_last >= 0 && own->k_last <= self->k_max &&
         own->n_phi >= own->k && own->n_phi <= N_PHI && own->wait >= 1 && own->wait <= LONGEST_WAIT &&
         own->unprojected >= 0 && own->unprojected < LONGEST_WAIT;
}

const yoke_integrator_ops abm_ops = {
    .name        = "abm",
    .summary     = "explicit Adams-Bashforth-Moulton of order 1 to 12, two evaluations per step",
    .reads       = "rtol atol step max_step max_order constraints alpha beta",
    .create      = create,
    .destroy     = destroy,
    .start       = start,
    .step        = step,
    .interpolate = interpolate,
    .disturb     = disturb,
    .is_sound    = is_sound,
    .tangents    = YOKE_TANGENTS_EXPLICIT,
};
