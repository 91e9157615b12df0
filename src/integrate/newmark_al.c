/* newmark-al: trapezoidal Newmark (beta = 1/4, gamma = 1/2) with the constraints on positions, index 3, found by an augmented Lagrangian
 * iteration and followed by projections of velocities and accelerations (Bayo, Ledesma 1996; Cuadrado, Cardenal, Bayo 1997). Order 2, fixed
 * steps, no numerical damping of its own.
 *
 *   q_1 = q_0 + h/2 (q'_0 + q'_1),  v_1 = v_0 + h/2 (a_0 + a_1)
 *   M a_1 = f(t_1, q_1, v_1, u) + G^T lambda,   g(t_1, q_1) = 0
 *
 * The implicit view in the GGL form has all that it takes: without its second multipliers mu and its rows of velocities there remain the unknowns
 * q, v, lambda, nu and the rows of q', v', g and of the norms. An iteration solves for all increments at once, with
 *   g_q dq - dlambda/p = -g(t_1, q):
 * multipliers grow by the gap times the penalty p, which is measured by the masses: 1/p = eps h^2/4 (G M^-1 G^T)_ii. It keeps the matrix regular
 * where rows depend on each other, and has no part in what the iteration converges to; gaps shrink by eps in every iteration.
 * Where no joint is left (prescribed motions, whose rows ask for accelerations; loads that read these) it may have the form INDEX1: a is an unknown
 * then, and nothing is left out.
 * Behind it v is projected onto g' = 0 and a onto g'' = 0 in the mass norm, the limit of the source's projections for a large penalty; a and
 * lambda are those of the ordinary view at (q_1, v_1). With these, not with the multipliers of the iteration, quadratures follow the rule of q. */
#include "integrate/implicit.h"
#include "integrate/methods.h"
#include "integrate/two_ends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITERATIONS = 20 };

static const double TOLERANCE = 1e-12; /* of increments of q against its size */
static const double NOISE     = 1e-8;  /* increments below may be rounding: they need not shrink any more */
static const double ROUNDING  = 1e-14; /* so may those below this share of the model's size, however small q is */
static const double SOFTNESS  = 1e-8;  /* eps */
static const double SLOW      = 0.1;   /* rate of convergence from which on the matrix is made anew */

/* Unknowns and rows of the iteration: those of the view in their order, [n] each. */
typedef struct newmark {
  yoke_implicit *implicit;
  int            n;
  int           *unknown, *row; /* places in x and in F */
  yoke_pattern  *pattern;
  yoke_linear   *linear;
  int           *entry; /* [nnz of the pattern] in J; -1: only the diagonal of a multiplier */
} newmark;

typedef struct newmark_work {
  void   *equations;
  double *u, *x0, *rates0, *x, *F, *rates, *lambda, *J, *A, *r, *linear;
} newmark_work;

static size_t work_layout(const newmark *self, char *base, newmark_work *work) {
  const yoke_implicit *implicit = self->implicit;
  const size_t         nx       = (size_t)implicit->nx;
  size_t               at       = yoke_cache_lines(implicit->equations->work_size);
  work->equations               = base;
  work->u                       = yoke_carve(base, &at, (size_t)implicit->equations->nu + 1);
  work->x0                      = yoke_carve(base, &at, nx);
  work->rates0                  = yoke_carve(base, &at, nx);
  work->x                       = yoke_carve(base, &at, nx);
  work->F                       = yoke_carve(base, &at, nx);
  work->rates                   = yoke_carve(base, &at, nx);
  work->lambda                  = yoke_carve(base, &at, (size_t)implicit->n_lambda + 1);
  work->J                       = yoke_carve(base, &at, (size_t)implicit->nnz);
  work->A                       = yoke_carve(base, &at, (size_t)self->pattern->nnz);
  work->r                       = yoke_carve(base, &at, (size_t)self->n);
  work->linear                  = yoke_carve(base, &at, yoke_linear_work_size(self->linear));
  return at;
}

/* ---- creation ---- */

static void newmark_destroy(yoke_integrator *integrator) {
  newmark *self = integrator->self;
  if (self == NULL) return;
  yoke_linear_destroy(&self->linear);
  yoke_pattern_destroy(&self->pattern);
  yoke_implicit_destroy(&self->implicit);
  free(self->unknown);
  free(self->row);
  free(self->entry);
  free(self);
  integrator->self = NULL;
}

/* Unknowns are all but mu; the rows of g, which are those of mu, stand where lambda does. */
static void list_unknowns(newmark *self, int ng) {
  const yoke_dae *dae = self->implicit->dae;
  for (int i = 0; i < dae->nx; ++i) {
    const bool is_joint = dae->component[i] == YOKE_COMPONENT_LAMBDA;
    if (dae->component[i] == YOKE_COMPONENT_MU) continue;
    self->unknown[self->n] = i;
    self->row[self->n++]   = is_joint && ng > 0 ? dae->i_mu + (i - dae->i_lambda) : i;
  }
}

typedef struct triplets {
  int n, *row, *col, *slot, *entry;
} triplets;

/* Entries of J that are left, and the diagonal of multipliers. place[i]: number of row i of the view among those of the iteration; -1: none. */
static void list_entries(const newmark *self, const int *place, triplets *t) {
  const yoke_dae     *dae  = self->implicit->dae;
  const yoke_pattern *view = dae->pattern;
  for (int c = 0; c < self->n; ++c) {
    const int col = self->unknown[c];
    for (int k = view->col_start[col]; k < view->col_start[col + 1]; ++k) {
      if (place[view->row[k]] < 0) continue;
      t->row[t->n]     = place[view->row[k]];
      t->col[t->n]     = c;
      t->entry[t->n++] = k;
    }
    if (dae->component[col] != YOKE_COMPONENT_LAMBDA) continue;
    t->row[t->n] = t->col[t->n] = c;
    t->entry[t->n++]            = -1;
  }
}

static yoke_status make_pattern(newmark *self, const int *place, triplets *t, yoke_linear_kind kind,
                                yoke_context *ctx) {
  uint8_t *is_weak = yoke_allocate((size_t)self->n + 1, sizeof *is_weak);
  if (is_weak == NULL) return yoke_out_of_memory(ctx, "solver 'newmark-al'");
  list_entries(self, place, t);
  yoke_status status = yoke_pattern_create(ctx, self->n, self->n, t->n, t->row, t->col, t->slot, &self->pattern);
  for (int k = 0; status == YOKE_OK && k < t->n; ++k) self->entry[t->slot[k]] = t->entry[k];
  for (int i = 0; i < self->n; ++i)
    is_weak[i] = self->implicit->dae->component[self->unknown[i]] >= YOKE_COMPONENT_LAMBDA;
  if (status == YOKE_OK) status = yoke_linear_create_saddle(ctx, self->pattern, is_weak, kind, &self->linear);
  free(is_weak);
  return status;
}

static yoke_status make_system(newmark *self, const yoke_integrator *integrator, yoke_context *ctx) {
  const yoke_implicit *implicit = self->implicit;
  const size_t         nx = (size_t)implicit->nx, most = (size_t)(implicit->nnz + implicit->nx);
  self->unknown     = yoke_allocate(nx, sizeof *self->unknown);
  self->row         = yoke_allocate(nx, sizeof *self->row);
  self->entry       = yoke_allocate(most, sizeof *self->entry);
  int        *place = yoke_allocate(nx, sizeof *place), *lists = yoke_allocate(4 * most, sizeof *lists);
  triplets    t      = {.row = lists, .col = lists + most, .slot = lists + 2 * most, .entry = lists + 3 * most};
  yoke_status status = YOKE_OK;
  if (self->unknown == NULL || self->row == NULL || self->entry == NULL || place == NULL || lists == NULL)
    status = yoke_out_of_memory(ctx, "solver 'newmark-al'");
  if (status == YOKE_OK) {
    list_unknowns(self, integrator->equations->ng);
    for (size_t i = 0; i < nx; ++i) place[i] = -1;
    for (int i = 0; i < self->n; ++i) place[self->row[i]] = i;
    status = make_pattern(self, place, &t, integrator->options.linear, ctx);
  }
  free(place);
  free(lists);
  return status;
}

static yoke_status newmark_create(yoke_context *ctx, yoke_integrator *integrator) {
  yoke_integrator_options options = integrator->options;
  newmark_work            work;
  if (!(options.fixed_step > 0.0))
    return yoke_fail(ctx, YOKE_E_USAGE, "solver 'newmark-al' has no error control: give it a fixed step (key step)");
  newmark *self = yoke_allocate(1, sizeof *self);
  if (self == NULL) return yoke_out_of_memory(ctx, "solver 'newmark-al'");
  integrator->self   = self;
  options.form       = YOKE_DAE_GGL;
  yoke_status status = yoke_implicit_create(ctx, integrator->equations, &options, &self->implicit);
  if (status == YOKE_OK && self->implicit->dae->form != YOKE_DAE_GGL && integrator->equations->ng > 0)
    status = yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                       "solver 'newmark-al' does not know accelerations of joints before a step is solved, and here "
                       "loads or laws read accelerations, or a coupling sets them; use genalpha or radau5");
  if (status == YOKE_OK) status = make_system(self, integrator, ctx);
  if (status != YOKE_OK) {
    newmark_destroy(integrator);
    return status;
  }
  integrator->state_size = yoke_integrator_head_size(integrator->equations) + yoke_two_ends_size(integrator->equations);
  integrator->scratch_size = work_layout(self, NULL, &work);
  return YOKE_OK;
}

/* ---- start ---- */

static yoke_status newmark_disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                   const yoke_signal *u, yoke_disturbance what) {
  newmark_work work;
  (void)what;
  (void)work_layout(integrator->self, scratch, &work);
  return yoke_two_ends_begin(integrator, state, u, work.equations, work.u);
}

static yoke_status newmark_start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                 const yoke_signal *u) {
  state->h     = integrator->options.fixed_step;
  state->order = 2;
  return newmark_disturb(integrator, scratch, state, u, YOKE_STATE_RESET);
}

/* ---- the iteration ---- */

/* Of the regularisation of a multiplier. */
static double diagonal(const yoke_dae *dae, int col) {
  for (int k = dae->pattern->col_start[col]; k < dae->pattern->col_start[col + 1]; ++k) {
    if (dae->pattern->row[k] == col) return dae->R[k];
  }
  return -1.0;
}

/* The matrix at the present iterate, which later iterations use too. */
static yoke_status make_matrix(const newmark *self, yoke_integrator_state *state, const yoke_signal *u, double h,
                               double t, const newmark_work *work) {
  const yoke_implicit *implicit = self->implicit;
  const yoke_dae      *dae      = implicit->dae;
  const double         softness = dae->form == YOKE_DAE_GGL ? 0.25 * h * h * SOFTNESS : SOFTNESS; /* rows of g, of a */
  ++state->counters.jacobians;
  YOKE_TRY(yoke_implicit_jacobian(implicit, work->equations, work->u, u, YOKE_SIDE_LEFT, t, work->x, work->J));
  for (int c = 0; c < self->n; ++c) {
    const int col = self->unknown[c];
    for (int k = self->pattern->col_start[c]; k < self->pattern->col_start[c + 1]; ++k) {
      const int at = self->entry[k];
      work->A[k]   = at >= 0 ? 2.0 / h * dae->E[at] - work->J[at] : 0.0;
      if (dae->component[col] == YOKE_COMPONENT_LAMBDA && self->pattern->row[k] == c)
        work->A[k] += softness * diagonal(dae, col);
    }
  }
  ++state->counters.factorings;
  return yoke_factor_make(self->linear, work->A, NULL, &state->factor[0]);
}

/* r = F - E x' of the iterate, x' by Newmark's rules. */
static yoke_status residual(const newmark *self, yoke_integrator_state *state, const yoke_signal *u, double h, double t,
                            const newmark_work *work) {
  const yoke_implicit  *implicit = self->implicit;
  const yoke_equations *e        = implicit->equations;
  const int             n        = e->nq + e->nv;
  ++state->counters.evaluations;
  YOKE_TRY(yoke_implicit_rhs(implicit, work->equations, work->u, u, YOKE_SIDE_LEFT, t, work->x, work->F));
  for (int k = 0; k < n; ++k) work->rates[k] = 2.0 / h * (work->x[k] - work->x0[k]) - work->rates0[k];
  for (int k = n; k < implicit->nx; ++k) work->rates[k] = 0.0;
  yoke_implicit_mass_add(implicit, -1.0, work->rates, work->F);
  for (int i = 0; i < self->n; ++i) work->r[i] = work->F[self->row[i]];
  return YOKE_OK;
}

/* Largest of those of q that are coordinates. */
static double largest_q(const yoke_implicit *implicit, const double *x) {
  double most = 0.0;
  for (int k = 0; k < implicit->nq; ++k) {
    if (implicit->dae->component[k] == YOKE_COMPONENT_Q) most = fmax(most, fabs(x[k]));
  }
  return most;
}

/* The size of the model, by which tolerances are measured: 1 where nothing is said of it. */
static double model_size(const yoke_equations *e) {
  double most = 0.0;
  if (e->size == NULL) return 1.0;
  for (int k = 0; k < e->nq; ++k) most = fmax(most, e->size[k]);
  return most;
}

/* q and v as far as their rates lead, lambda as it was. */
static void predict(const newmark *self, double h, const newmark_work *work) {
  const yoke_equations *e = self->implicit->equations;
  memcpy(work->x, work->x0, (size_t)self->implicit->nx * sizeof *work->x);
  for (int k = 0; k < e->nq + e->nv; ++k) work->x[k] += h * work->rates0[k];
}

static yoke_status iterate(const newmark *self, yoke_integrator_state *state, const yoke_signal *u, double h, double t,
                           const newmark_work *work) {
  const yoke_implicit *implicit = self->implicit;
  double               last     = (double)INFINITY;
  bool                 is_slow  = true; /* or there is no matrix yet */
  predict(self, h, work);
  const double rounding = ROUNDING * model_size(implicit->equations);
  double       size     = largest_q(implicit, work->x0) + h * largest_q(implicit, work->rates0);
  for (int k = 0; k < MAX_ITERATIONS; ++k) {
    if (is_slow) YOKE_TRY(make_matrix(self, state, u, h, t, work));
    YOKE_TRY(residual(self, state, u, h, t, work));
    yoke_factor_solve(state->factor[0], work->r, NULL, work->linear);
    ++state->counters.iterations;
    for (int i = 0; i < self->n; ++i) work->x[self->unknown[i]] += work->r[i];
    if (!yoke_all_finite(implicit->nx, work->x)) return YOKE_NON_FINITE;
    size = fmax(size, largest_q(implicit, work->x)); /* a model that starts at rest with q = 0 has it from its step */
    const double change   = largest_q(implicit, work->r);
    const bool   is_noise = change <= fmax(NOISE * size, rounding);
    if (change <= TOLERANCE * size || (is_noise && change > 0.5 * last)) return YOKE_OK;
    is_slow = !is_noise && change > SLOW * last;
    last    = change;
  }
  return YOKE_NOT_CONVERGED;
}

/* ---- step ---- */

static yoke_status newmark_step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                const yoke_signal *u, double t_limit, yoke_context *ctx) {
  const newmark *self = integrator->self;
  bool           is_last;
  newmark_work   work;
  (void)work_layout(self, scratch, &work);
  yoke_implicit_pack(self->implicit, yoke_integrator_q(integrator, state), yoke_integrator_v(integrator, state),
                     yoke_integrator_a(integrator, state), yoke_integrator_lambda(integrator, state), work.x0);
  yoke_two_ends_rates(integrator, state, work.rates0);
  const yoke_step_end end    = {work.equations, work.u, work.x, work.rates, work.lambda};
  const double        h      = yoke_step_clip(state->t, state->h, t_limit, true, &is_last);
  const double        t_new  = is_last ? t_limit : state->t + h;
  yoke_status         status = iterate(self, state, u, h, t_new, &work);
  if (status == YOKE_OK) status = yoke_two_ends_project(integrator->equations, state, u, t_new, &end);
  if (status == YOKE_OK) {
    yoke_two_ends_quadratures(self->implicit, t_new - state->t, work.x0, work.rates0, &end);
    yoke_two_ends_accept(integrator, state, t_new, &end);
    return YOKE_OK;
  }
  ++state->counters.rejected;
  if (status < 0)
    return yoke_fail(ctx, status, "solver 'newmark-al' failed at t = %.9g s (%s)", state->t, yoke_status_text(status));
  return yoke_fail(ctx, YOKE_E_NOT_CONVERGED,
                   "solver 'newmark-al': fixed step %.3g s at t = %.9g s cannot be solved (%s); use a smaller step", h,
                   state->t, yoke_status_text(status));
}

static const yoke_linear *newmark_linear(const yoke_integrator *integrator, int i) {
  return i == 0 ? ((const newmark *)integrator->self)->linear : NULL;
}

const yoke_integrator_ops newmark_al_ops = {
    .name        = "newmark-al",
    .summary     = "trapezoidal Newmark of order 2, index 3 by augmented Lagrangian and projections, with a fixed step",
    .reads       = "step linear",
    .create      = newmark_create,
    .destroy     = newmark_destroy,
    .start       = newmark_start,
    .step        = newmark_step,
    .interpolate = yoke_two_ends_interpolate,
    .disturb     = newmark_disturb,
    .linear      = newmark_linear,
};
