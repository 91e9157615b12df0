#include "integrate/explicit_rk.h"
#include "base/assert.h"
#include "base/memory.h"
#include "integrate/bridge.h"
#include "integrate/explicit.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The terms of one linear combination of stages, without those whose coefficients vanish.
 * Nystroem form of y' = (v, A): the sum over k_j = (V_j, A_j) with weights w becomes, for q,
 *   h sum_j w_j V_j = h (sum_j w_j) v + h^2 sum_j wbar_j A_j,   wbar = w^T A. */
typedef struct rk_row {
  int16_t n, at; /* terms, and where they start in the lists of rk_self */
} rk_row;

/* Integrators of equal layout and options share it (yoke_arena_share): of many small subsystems every cache line counts. What follows from the
 * tableau alone is not repeated here. */
typedef struct rk_self {
  const rk_tableau *tableau;
  bool              nystroem;    /* fused stages, only accelerations are stored */
  bool              watch;       /* estimate stiffness */
  int               check_every; /* steps from one estimate to the next */
  double            suspect_bound;
  double            fixed_step, max_step, rtol, atol; /* of the options */
  int               n_stages;                         /* with those of dense output */
  int               n_terms;                          /* of all rows */
  /* offsets in the scratch */
  size_t            work, u, q_stage, v_stage, temp;
  size_t            k, k_v, k_next; /* k_q of stage 1; from a k_q to its k_v, and to the k_q of the next stage */
  size_t            start_aside;    /* the values at the start of a step that nobody looks into */
  size_t            v0, a0;         /* from the start on, which is q0 */
  size_t            size_plain;     /* bytes of a state without what dense output needs */
  size_t            lambda, qdot0;  /* likewise, where there are any */
  /* offsets behind yoke_integrator_own */
  size_t            qdot;
  size_t            start;          /* the same as start_aside of other steps */
  size_t            size_cubic;     /* bytes of a state without d */
  size_t            d, d_v, d_next; /* the same of the vectors d_m, from d_0 on */
  rk_row            stage[RK_MAX_STAGES];
  rk_row            error, error3;
  rk_row            dense[RK_MAX_DENSE];
  size_t            most; /* terms that there is room for */
  double terms[]; /* of a row: w [n], wbar [n], for all of them; behind [2 most] of these the stages, bytes [most] */
} rk_self;

static size_t self_size(size_t most) {
  return sizeof(rk_self) + most * (2 * sizeof(double) + sizeof(uint8_t));
}

static const uint8_t *row_j(const rk_self *self, const rk_row *row) {
  return (const uint8_t *)(self->terms + 2 * self->most) + row->at;
}
static const double *row_w(const rk_self *self, const rk_row *row) {
  return self->terms + 2 * (size_t)row->at;
}
static const double *row_wbar(const rk_self *self, const rk_row *row) {
  return row_w(self, row) + row->n;
}

enum { NOT_LOOKED_INTO = -1, NEVER_LOOKED_INTO = -2, RHO_MEMORY = 10, MOST_SUSPECTS = 1 << 20 };

static const double BRIDGE_BELOW = 1e-2; /* of the usual step */
static const double ERR_UNKNOWN  = 1e-4; /* error of the step before the first one */
static const double SETTLED      = 0.8;  /* of the bound of stability, where steps that it limits may lie */

/* Head of the method's own part of a state. */
typedef struct rk_own {
  double  err_old; /* error of the last accepted step that was not clipped */
  double  h_usual; /* largest step of late, fading by 2 percent per step */
  double  log_rho; /* mean of log(h rho) over the last checks */
  int32_t after_reject, checks_left;
  int32_t n_checks; /* that the mean is of, at most RHO_MEMORY */
  int32_t suspects; /* checks of late that found stability to be the limit, less those that did not */
  /* vectors d_m that the last step has; 0: none, cubic Hermite; NOT_LOOKED_INTO: cubic too, not in copies; NEVER_LOOKED_INTO (t_look is
   * infinite): no dense output, its start is not in the state */
  int32_t n_dense;
} rk_own;

/* Views of one step: pointers into state and scratch. Between steps the values at t are q, v, a, qdot of the head.
 * During a step they are copies (q0, v0, a0, qdot0), those that dense output needs anyway where there is one, and new values and stage s
 * go straight to the head. The other stages lie in the scratch. */
typedef struct rk_view {
  const yoke_integrator *integrator;
  const rk_self         *self;
  yoke_integrator_state *state;
  rk_own                *own;
  const yoke_signal     *u;
  void                  *work, *start; /* where the values at t are going to be during the step */
  double                *u_now, *temp, *lambda;
  double                *q, *v, *a, *qdot; /* at t */
  double                *q_stage, *v_stage, *q_new, *v_new;
  bool                   copies_later; /* the first attempt copies the values at t, part by part */
  double                *kq[RK_MAX_STAGES], *kv[RK_MAX_STAGES];
} rk_view;

/* ---- creation ---- */

static bool is_zero(double x) {
  return fabs(x) < 1e-14;
}

/* w^T A over the first n stages */
static void bar(const rk_tableau *tab, int n, const double *w, double *wbar) {
  for (int j = 0; j < RK_MAX_STAGES; ++j) {
    wbar[j] = 0;
    for (int i = j + 1; i < n; ++i) wbar[j] += w[i] * tab->A[i][j];
  }
}

/* A row of the n stages of `list`. */
static void add_row(rk_self *self, int n, const int *list, const double *w, const double *wbar, rk_row *row) {
  double *const  to = self->terms + 2 * (size_t)self->n_terms;
  uint8_t *const j  = (uint8_t *)(self->terms + 2 * self->most) + self->n_terms;
  *row              = (rk_row){.n = (int16_t)n, .at = (int16_t)self->n_terms};
  for (int i = 0; i < n; ++i) {
    j[i]      = (uint8_t)list[i];
    to[i]     = w[list[i]];
    to[n + i] = wbar[list[i]];
  }
  self->n_terms += n;
}

/* A row of those of the first n stages whose w or wbar is not 0. */
static void make_row(rk_self *self, int n, const double *w, rk_row *row) {
  double wbar[RK_MAX_STAGES];
  bar(self->tableau, n, w, wbar);
  int list[RK_MAX_STAGES], count = 0;
  for (int j = 0; j < n; ++j) {
    if (!is_zero(w[j]) || (self->nystroem && !is_zero(wbar[j]))) list[count++] = j;
  }
  add_row(self, count, list, w, wbar, row);
}

/* Most terms that the rows of a tableau can have. */
static size_t most_terms(const rk_tableau *tab, int n_stages) {
  const size_t n = (size_t)n_stages;
  return n * (n - 1) / 2 + (2 + (size_t)tab->n_dense) * n;
}

/* Bytes of an array of nq numbers and one of nv behind it, which begins at *v. */
static size_t pair(int nq, int nv, size_t *v) {
  size_t size = 0;
  (void)yoke_array_reserve(&size, nq);
  *v = yoke_array_reserve(&size, nv);
  return size;
}

/* Values at the start of a step: q0, v0, qdot0, a0; their bytes. */
static size_t lay_out_start(rk_self *self, const yoke_equations *e) {
  size_t size = 0;
  (void)yoke_array_reserve(&size, e->nq);
  self->v0    = yoke_array_reserve(&size, e->nv);
  self->qdot0 = yoke_array_reserve(&size, self->nystroem ? 0 : e->nq);
  self->a0    = yoke_array_reserve(&size, e->nv);
  return size;
}

static void lay_out(rk_self *self, yoke_integrator *integrator) {
  const yoke_equations *e   = integrator->equations;
  const int             nqd = self->nystroem ? 0 : e->nq; /* q' = v needs no arrays of its own */

  size_t size              = 0;
  self->work               = explicit_reserve(&size, e->work_size);
  self->u                  = yoke_array_reserve(&size, e->nu * RK_MAX_STAGES + 1);
  self->k_next             = pair(nqd, e->nv, &self->k_v);
  self->k                  = explicit_reserve(&size, (size_t)(self->n_stages - 1) * self->k_next);
  self->q_stage            = yoke_array_reserve(&size, e->nq);
  self->v_stage            = yoke_array_reserve(&size, e->nv);
  self->temp               = yoke_array_reserve(&size, 2 * (e->nq + e->nv));
  self->lambda             = yoke_array_reserve(&size, yoke_n_multipliers(e));
  const size_t start_size  = lay_out_start(self, e);
  self->start_aside        = explicit_reserve(&size, start_size);
  integrator->scratch_size = size;

  size = 0;
  (void)explicit_reserve(&size, sizeof(rk_own));
  self->qdot             = yoke_array_reserve(&size, nqd);
  self->size_plain       = integrator->at->own + size;
  self->start            = explicit_reserve(&size, start_size);
  self->size_cubic       = integrator->at->own + size;
  self->d_next           = pair(e->nq, e->nv, &self->d_v);
  self->d                = explicit_reserve(&size, (size_t)self->tableau->n_dense * self->d_next);
  integrator->state_size = integrator->at->own + size;
}

/* Takes `self`, which is complete. */
static yoke_status keep_self(yoke_context *ctx, yoke_integrator *integrator, rk_self *self) {
  const void *shared = yoke_arena_share(integrator->arena, self, self_size(self->most));
  free(self);
  if (shared == NULL) return yoke_out_of_memory(ctx, "solver '%s'", integrator->ops->name);
  integrator->self = (void *)(uintptr_t)shared; /* only read from now on */
  return YOKE_OK;
}

yoke_status explicit_rk_create(yoke_context *ctx, yoke_integrator *integrator, const rk_tableau *tableau) {
  const int    n_stages = tableau->s + 1 + tableau->n_extra, s = tableau->s;
  const size_t most = most_terms(tableau, n_stages);
  rk_self     *self = yoke_allocate(1, self_size(most));
  if (self == NULL) return yoke_out_of_memory(ctx, "solver '%s'", integrator->ops->name);
  const yoke_equations *e = integrator->equations;
  self->most              = most;
  self->tableau           = tableau;
  self->fixed_step        = integrator->options.fixed_step;
  self->max_step          = integrator->options.max_step;
  self->rtol              = integrator->options.rtol;
  self->atol              = integrator->options.atol;
  self->nystroem          = e->is_second_order && e->ops->stage != NULL && e->ng + e->n_norms == 0;
  self->n_stages          = n_stages;

  for (int i = 1; i < n_stages; ++i) make_row(self, i, tableau->A[i], &self->stage[i]);
  make_row(self, s + 1, tableau->e, &self->error);
  if (tableau->has_second) make_row(self, s + 1, tableau->e3, &self->error3);
  for (int m = 0; m < tableau->n_dense; ++m) make_row(self, n_stages, tableau->D[m], &self->dense[m]);
  lay_out(self, integrator);
  return keep_self(ctx, integrator, self);
}

yoke_status explicit_rk_watch_stiffness(yoke_context *ctx, yoke_integrator *integrator) {
  const rk_self *before = integrator->self;
  rk_self       *self   = yoke_allocate(1, self_size(before->most));
  if (self == NULL) return yoke_out_of_memory(ctx, "solver '%s'", integrator->ops->name);
  memcpy(self, before, self_size(before->most));
  self->watch       = true;
  self->check_every = integrator->equations->nv < 256 ? 1 : 8; /* large: an estimate costs as much as a stage */
  /* A fixed step does not follow stability: it is unstable or it is not. Fused evaluations are so cheap that other methods have to be
   * more than suspected to be better: steps that stability limits on the real axis settle a little below its bound (dopri5: 3.19 to 3.25). */
  const double bound  = self->tableau->stiff_bound;
  self->suspect_bound = self->fixed_step > 0 ? bound : self->nystroem ? SETTLED * bound : self->tableau->suspect_bound;
  /* Rods and cables have fast waves of all rates, which accuracy makes the method follow with steps a little below its bound; implicit
   * steps leave them alone. */
  if (integrator->equations->n_banded > 0) self->suspect_bound *= 0.7;
  return keep_self(ctx, integrator, self);
}

static void view(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state, const yoke_signal *u,
                 rk_view *x) {
  const rk_self *self = integrator->self;
  rk_own        *own  = yoke_integrator_own(integrator, state);
  x->integrator       = integrator;
  x->self             = self;
  x->state            = state;
  x->own              = own;
  x->u                = u;
  x->work             = explicit_at(scratch, self->work);
  x->start            = explicit_at(scratch, self->start_aside);
  x->u_now            = explicit_at(scratch, self->u);
  x->temp             = explicit_at(scratch, self->temp);
  x->lambda           = self->nystroem ? NULL : explicit_at(scratch, self->lambda);
  x->q                = yoke_integrator_q(integrator, state);
  x->v                = yoke_integrator_v(integrator, state);
  x->a                = yoke_integrator_a(integrator, state);
  x->q_stage          = explicit_at(scratch, self->q_stage);
  x->v_stage          = explicit_at(scratch, self->v_stage);
  x->q_new            = x->q;
  x->v_new            = x->v;
  x->copies_later     = false;
  x->qdot             = self->nystroem ? x->v : explicit_at(own, self->qdot);
  x->kq[0]            = x->qdot;
  x->kv[0]            = x->a;
  double *k           = explicit_at(scratch, self->k);
  for (int i = 1; i < self->n_stages; ++i, k = explicit_at(k, self->k_next)) { /* the others stay unset */
    x->kq[i] = k;
    x->kv[i] = explicit_at(k, self->k_v);
  }
}

static bool is_never_looked_into(const rk_view *x) {
  return x->state->t_look == (double)INFINITY;
}

/* Part i of n of the copies of q, q', v, a of other steps. */
static void copy_plain_part(void *user, int i, int n) {
  const rk_view        *x    = user;
  const rk_self        *self = x->self;
  const yoke_equations *e    = x->integrator->equations;
  const size_t          q    = (size_t)e->nq * (size_t)i / (size_t)n,
               q_size        = ((size_t)e->nq * (size_t)(i + 1) / (size_t)n - q) * sizeof(double);
  const size_t v             = (size_t)e->nv * (size_t)i / (size_t)n,
               v_size        = ((size_t)e->nv * (size_t)(i + 1) / (size_t)n - v) * sizeof(double);
  memcpy(explicit_at(x->start, 0) + q, x->q + q, q_size);
  memcpy(explicit_at(x->start, self->qdot0) + q, x->qdot + q, q_size);
  memcpy(explicit_at(x->start, self->v0) + v, x->v + v, v_size);
  memcpy(explicit_at(x->start, self->a0) + v, x->a + v, v_size);
}

/* Part i of n of the copies of q, v, a of a fused step. */
static void copy_part(void *user, int i, int n) {
  const rk_view   *x     = user;
  const yoke_range range = yoke_lockstep_range(x->integrator->equations->nv, i, n);
  const size_t     at = (size_t)range.begin, size = (size_t)(range.end - range.begin) * sizeof(double);
  memcpy(explicit_at(x->start, 0) + at, x->q + at, size);
  memcpy(explicit_at(x->start, x->self->v0) + at, x->v + at, size);
  memcpy(explicit_at(x->start, x->self->a0) + at, x->a + at, size);
}

/* Keep the values at t beside the head, where the new ones are going to be written: in the state, where dense output finds them, unless
 * nobody ever looks into the step. */
static void begin_step(rk_view *x) {
  const rk_self        *self = x->self;
  const yoke_equations *e    = x->integrator->equations;
  const int             s    = self->tableau->s;
  if (!is_never_looked_into(x)) x->start = explicit_at(x->own, self->start);
  x->kv[s] = x->a;
  x->kq[s] = x->qdot;
  if (self->nystroem) {
    yoke_lockstep_follow(e->helpers, e->nv, copy_part, x);
    x->q    = explicit_at(x->start, 0);
    x->v    = explicit_at(x->start, self->v0);
    x->a    = explicit_at(x->start, self->a0);
    x->qdot = x->v;
  } else {
    x->copies_later = e->ops->parts != NULL && e->ops->parts->open(e->self, x->work) != NULL;
    if (!x->copies_later) yoke_lockstep_follow(e->helpers, e->nv, copy_plain_part, x);
    x->q    = explicit_at(x->start, 0);
    x->v    = explicit_at(x->start, self->v0);
    x->a    = explicit_at(x->start, self->a0);
    x->qdot = explicit_at(x->start, self->qdot0);
  }
  x->kv[0] = x->a;
  x->kq[0] = x->qdot;
}

/* The step failed for good: the head gets its values back, dense output shrinks to the point t. */
static void undo_step(const rk_view *x) {
  const yoke_equations *e      = x->integrator->equations;
  const int             s      = x->self->tableau->s;
  const size_t          q_size = (size_t)e->nq * sizeof(double), v_size = (size_t)e->nv * sizeof(double);
  memcpy(x->q_new, x->q, q_size);
  memcpy(x->v_new, x->v, v_size);
  memcpy(x->kv[s], x->a, v_size);
  if (!x->self->nystroem) memcpy(x->kq[s], x->qdot, q_size);
  x->state->t_prev = x->state->t;
}

/* ---- stages ---- */

enum { BLOCK = 256 /* entries whose stages stay in the first cache while several combinations are formed */ };

/* Linear combination of the row over entries start .. start + m of q or v: out = y0 + h sum_j w_j k_j;
 * without y0 (with_start false) the weights sum to 0. */
static void combine_range(const rk_view *x, const rk_row *row, double h, bool with_start, bool is_q, int start, int m,
                          double *out) {
  const bool     is_nystroem_q = is_q && x->self->nystroem;
  const uint8_t *j             = row_j(x->self, row);
  const double  *w = row_w(x->self, row), *y0 = is_q ? x->q : x->v, *K[RK_MAX_STAGES] = {NULL};
  for (int i = 0; i < row->n; ++i) K[i] = (is_q && !is_nystroem_q ? x->kq : x->kv)[j[i]] + start;
  explicit_combine(m, with_start ? y0 + start : NULL, is_nystroem_q ? h * h : h, row->n,
                   is_nystroem_q ? row_wbar(x->self, row) : w, K, out);
  if (!is_nystroem_q || !with_start) return;
  double c = 0; /* sum_j w_j */
  for (int i = 0; i < row->n; ++i) c += w[i];
  for (int i = 0; i < m; ++i) out[i] += h * c * x->v[start + i];
}

static int block_length(int n, int start) {
  return n - start < BLOCK ? n - start : BLOCK;
}

static int n_blocks(int n) {
  return (n + BLOCK - 1) / BLOCK;
}

typedef struct combination {
  const rk_view *x;
  const rk_row  *row;
  double         h;
  bool           with_start;
  double        *q_out, *v_out;
} combination;

/* Part i of n of the blocks. */
static void combine_part(void *user, int i, int n) {
  const combination *c  = user;
  const int          nq = c->x->integrator->equations->nq, nv = c->x->integrator->equations->nv;
  const int          most = n_blocks(nq > nv ? nq : nv);
  for (int at = most * i / n * BLOCK; at < most * (i + 1) / n * BLOCK; at += BLOCK) {
    if (at < nv) combine_range(c->x, c->row, c->h, c->with_start, false, at, block_length(nv, at), c->v_out + at);
    if (at < nq) combine_range(c->x, c->row, c->h, c->with_start, true, at, block_length(nq, at), c->q_out + at);
  }
}

static void combine(const rk_view *x, const rk_row *row, double h, bool with_start, double *q_out, double *v_out) {
  combination c = {x, row, h, with_start, q_out, v_out};
  yoke_lockstep_follow(x->integrator->equations->helpers, x->integrator->equations->nv, combine_part, &c);
}

/* Is the stiffness estimated after this step? */
static bool is_check_due(const rk_view *x) {
  return x->self->watch && x->own->checks_left == 0;
}

static double stage_time(const rk_view *x, int i, double h, double t_new) {
  const double c = x->self->tableau->c[i];
  return c == 1 ? t_new : x->state->t + c * h;
}

/* Plain stage i: k_i = f(t + c_i h, y_i); the values y_i are left in q_stage, v_stage. */
static yoke_status run_plain(const rk_view *x, int i, double h, double t_new) {
  combine(x, &x->self->stage[i], h, true, x->q_stage, x->v_stage);
  return explicit_evaluate(x->integrator, x->work, x->u_now, &x->state->counters, x->u, stage_time(x, i, h, t_new),
                           YOKE_SIDE_LEFT, x->q_stage, x->v_stage, x->kq[i], x->kv[i], NULL);
}

/* Fused stage i, over all stages before it; `before` is the description of one of them or NULL. */
static void describe_fused(const rk_view *x, int i, double h, double t_new, const yoke_stage *before, yoke_stage *out) {
  const rk_tableau *tab     = x->self->tableau;
  const int         nu      = x->integrator->equations->nu;
  const double      t       = stage_time(x, i, h, t_new);
  const bool        is_same = before != NULL && before->t == t;
  double           *u       = x->u_now + (size_t)i * (size_t)nu;
  if (nu > 0 && !is_same) yoke_signal_value(x->u, t, YOKE_SIDE_LEFT, 0, u);
  out->t     = t;
  out->h     = h;
  out->c     = tab->c[i];
  out->s     = i;
  out->a     = tab->A[i];
  out->abar  = tab->wbar[i];
  out->q     = x->q;
  out->v     = x->v;
  out->A     = (const double *const *)x->kv;
  out->u     = is_same ? before->u : u;
  out->out   = x->kv[i];
  out->X_out = out->V_out = NULL;
  out->e = out->ebar = NULL;
  out->atol = out->rtol = 0.0;
}

/* Fused stages first .. last; the one at the new point (stage s) also gives the new values and the error. */
static yoke_status run_fused(const rk_view *x, int first, int last, double h, double t_new, double *error_sum) {
  const yoke_equations *e    = x->integrator->equations;
  const rk_self        *self = x->self;
  const int             s = self->tableau->s, n = last - first + 1;
  yoke_stage            stages[RK_MAX_STAGES];
  for (int i = first; i <= last; ++i) {
    yoke_stage *g = &stages[i - first];
    describe_fused(x, i, h, t_new, i > first ? g - 1 : NULL, g);
    if (i == s) {
      g->X_out = x->q_new;
      g->V_out = x->v_new;
      g->e     = self->tableau->e;
      g->ebar  = self->tableau->ebar;
      g->atol  = self->atol;
      g->rtol  = self->rtol;
    } else if (i == s - 1 && is_check_due(x)) { /* for the estimate of stiffness */
      g->X_out = x->q_stage;
      g->V_out = x->v_stage;
    }
  }
  x->state->counters.evaluations += n;
  if (e->ops->sweep != NULL) return e->ops->sweep(e->self, x->work, e->helpers, n, stages, error_sum);
  for (const yoke_stage *g = stages; g < stages + n; ++g) {
    YOKE_TRY(e->ops->stage(e->self, x->work, g->t, g->h, g->c, g->s, g->a, g->abar, g->q, g->v, g->A, g->u, g->X_out,
                           g->V_out, g->out, g->e, g->ebar, g->atol, g->rtol, g->e != NULL ? error_sum : NULL));
  }
  return YOKE_OK;
}

/* ---- stages in parts ---- */

/* Stages first .. last one after the other, each part by itself where it can (equations.h), and at the end the new point and its errors. Sums of
 * squares are formed part by part: they do not depend on who did which. */
typedef struct rk_rounds {
  const rk_view        *x;
  const yoke_parts_ops *ops;
  yoke_parted          *parted;
  double                h, t_new;
  int                   i, last;                 /* the stage that is entered, from `first` on */
  bool                  is_first;                /* there is none to be left */
  bool                  is_inside;               /* the stage is entered once more */
  const rk_row         *new_point, *errors[2];   /* behind the last stage; NULL: none */
  double                sum[YOKE_N_PARTS][2][2]; /* of each part: of v and of q, of each row */
  yoke_status           status;
} rk_rounds;

/* Part of a stage or of the new point. Quadratures go with part 0. */
static void combine_in_part(const rk_rounds *r, const rk_row *row, int part, double *q_out, double *v_out) {
  const yoke_equations *e = r->x->integrator->equations;
  for (int is_q = 0; is_q <= 1; ++is_q) {
    const yoke_range *spans;
    const int         n   = r->ops->spans(r->parted, part, is_q, &spans);
    double           *out = is_q ? q_out : v_out;
    for (int k = 0; k < n; ++k) {
      const int begin = spans[k].begin;
      combine_range(r->x, row, r->h, true, is_q, begin, spans[k].end - begin, out + begin);
    }
  }
  const int at = explicit_n_q(e);
  if (part == 0) combine_range(r->x, row, r->h, true, true, at, e->nq - at, q_out + at);
}

static void copy_span(double *to, const double *from, yoke_range span) {
  memcpy(to + span.begin, from + span.begin, (size_t)(span.end - span.begin) * sizeof *to);
}

/* Values at t beside the head, as in begin_step. */
static void copy_in_part(const rk_rounds *r, int part) {
  const rk_view    *x = r->x;
  const int         s = x->self->tableau->s, nq = x->integrator->equations->nq;
  const yoke_range  rest = {explicit_n_q(x->integrator->equations), nq};
  const yoke_range *spans;
  int               n = r->ops->spans(r->parted, part, true, &spans);
  for (int k = 0; k < n + (part == 0); ++k) {
    const yoke_range span = k < n ? spans[k] : rest;
    copy_span(x->q, x->q_new, span);
    copy_span(x->qdot, x->kq[s], span);
  }
  n = r->ops->spans(r->parted, part, false, &spans);
  for (int k = 0; k < n; ++k) {
    copy_span(x->v, x->v_new, spans[k]);
    copy_span(x->a, x->kv[s], spans[k]);
  }
}

static void sum_errors_in_part(rk_rounds *r, int part) {
  const rk_view *x = r->x;
  double         error[BLOCK];
  for (int is_q = 0; is_q <= 1; ++is_q) {
    const yoke_range *spans;
    const int         n  = r->ops->spans(r->parted, part, is_q, &spans);
    const double     *y0 = is_q ? x->q : x->v, *y1 = is_q ? x->q_new : x->v_new;
    for (int k = 0; k < n; ++k) {
      for (int at = spans[k].begin; at < spans[k].end; at += BLOCK) {
        const int m = block_length(spans[k].end, at);
        for (int row = 0; row < 2 && r->errors[row] != NULL; ++row) {
          combine_range(x, r->errors[row], r->h, false, is_q, at, m, error);
          r->sum[part][is_q][row] +=
              explicit_error_sum(m, error, y0 + at, y1 + at, explicit_size(x->integrator->equations, is_q, at),
                                 x->self->atol, x->self->rtol);
        }
      }
    }
  }
}

/* Where stage i is evaluated: the one at the new point in its place. */
static bool is_at_end(const rk_rounds *r, int i) {
  return i == r->x->self->tableau->s;
}

static void run_round(void *user, int part) {
  rk_rounds     *r = user;
  const rk_view *x = r->x;
  if (!r->is_inside && !r->is_first) r->ops->leave(r->parted, part);
  if (!r->is_inside && r->is_first && x->copies_later) copy_in_part(r, part);
  if (r->i > r->last) {
    if (r->new_point != NULL) combine_in_part(r, r->new_point, part, x->q_new, x->v_new);
    sum_errors_in_part(r, part);
    return;
  }
  const bool at_end = is_at_end(r, r->i);
  if (!r->is_inside) {
    combine_in_part(r, &x->self->stage[r->i], part, at_end ? x->q_new : x->q_stage, at_end ? x->v_new : x->v_stage);
  }
  r->ops->enter(r->parted, part);
}

static void begin_stage(rk_rounds *r) {
  const rk_view        *x      = r->x;
  const yoke_equations *e      = x->integrator->equations;
  const double          t      = stage_time(x, r->i, r->h, r->t_new);
  const bool            at_end = is_at_end(r, r->i);
  if (e->nu > 0) yoke_signal_value(x->u, t, YOKE_SIDE_LEFT, 0, x->u_now);
  ++x->state->counters.evaluations;
  r->ops->begin(r->parted, t, at_end ? x->q_new : x->q_stage, at_end ? x->v_new : x->v_stage, x->u_now, x->kq[r->i],
                x->kv[r->i], at_end ? x->lambda : NULL);
}

static bool meet_round(void *user) {
  rk_rounds *r = user;
  if (r->i > r->last) {
    r->status = r->ops->end(r->parted);
    return false;
  }
  bool is_met;
  r->status = r->ops->meet(r->parted, &is_met);
  if (r->status != YOKE_OK) return false;
  r->is_inside = !is_met;
  if (!is_met) return true;
  r->is_first = false;
  if (++r->i <= r->last) begin_stage(r);
  return true;
}

/* False: these equations have no parts. */
static bool open_rounds(const rk_view *x, double h, double t_new, rk_rounds *r) {
  const yoke_equations *e = x->integrator->equations;
  if (e->ops->parts == NULL || x->self->nystroem) return false;
  *r = (rk_rounds){
      .x = x, .ops = e->ops->parts, .parted = e->ops->parts->open(e->self, x->work), .h = h, .t_new = t_new};
  return r->parted != NULL;
}

static yoke_status run_rounds(rk_rounds *r, int first, int last) {
  const yoke_equations *e = r->x->integrator->equations;
  r->i                    = first;
  r->last                 = last;
  r->is_first             = true;
  begin_stage(r);
  const double amount = (double)e->nv * (last - first + 1);
  yoke_lockstep_rounds(e->helpers, YOKE_N_PARTS, amount, run_round, meet_round, r);
  return r->status;
}

/* Of all parts. */
static double sum_of_parts(const rk_rounds *r, int row) {
  double sum = 0;
  for (int is_q = 1; is_q >= 0; --is_q) {
    for (int part = 0; part < YOKE_N_PARTS; ++part) sum += r->sum[part][is_q][row];
  }
  return sum;
}

/* ---- steps ---- */

static double mean_error(const rk_view *x, double sum) {
  const yoke_equations *e = x->integrator->equations;
  const int             n = explicit_n_q(e) + e->nv;
  return n > 0 ? sqrt(sum / n) : 0;
}

typedef struct error_blocks {
  const rk_view *x;
  const rk_row  *row;
  double         h;
  double        *sum[2]; /* of each block of v, and of q */
} error_blocks;

static void sum_error_part(void *user, int i, int n) {
  const error_blocks *e = user;
  const rk_view      *x = e->x;
  double              error[BLOCK];
  for (int is_q = 0; is_q <= 1; ++is_q) {
    const int     count = is_q ? explicit_n_q(x->integrator->equations) : x->integrator->equations->nv;
    const int     most  = n_blocks(count);
    const double *y0 = is_q ? x->q : x->v, *y1 = is_q ? x->q_new : x->v_new;
    for (int k = most * i / n; k < most * (i + 1) / n; ++k) {
      const int at = k * BLOCK, m = block_length(count, at);
      combine_range(x, e->row, e->h, false, is_q, at, m, error);
      e->sum[is_q][k] = explicit_error_sum(
          m, error, y0 + at, y1 + at, explicit_size(x->integrator->equations, is_q, at), x->self->atol, x->self->rtol);
    }
  }
}

/* Blocks are summed in their order, whoever helped. */
static double error_sum(const rk_view *x, const rk_row *row, double h) {
  const yoke_equations *eq     = x->integrator->equations;
  const int             n[2]   = {n_blocks(eq->nv), n_blocks(explicit_n_q(eq))};
  error_blocks          e      = {.x = x, .row = row, .h = h, .sum = {x->temp, x->temp + n[0]}};
  double                sum[2] = {0};
  yoke_lockstep_follow(eq->helpers, eq->nv, sum_error_part, &e);
  for (int is_q = 0; is_q <= 1; ++is_q) {
    for (int k = 0; k < n[is_q]; ++k) sum[is_q] += e.sum[is_q][k];
  }
  return sum[1] + sum[0];
}

static yoke_status evaluate_new(const rk_view *x, double t_new) {
  const int s = x->self->tableau->s;
  return explicit_evaluate(x->integrator, x->work, x->u_now, &x->state->counters, x->u, t_new, YOKE_SIDE_LEFT, x->q_new,
                           x->v_new, x->self->nystroem ? NULL : x->kq[s], x->kv[s], x->lambda);
}

/* Hairer, Norsett, Wanner I, II.10: the estimates of order 5 and 3 together behave like one of order 7. */
static double joint_error(const rk_view *x, double e5, double e3) {
  const double denominator = e5 + 0.01 * e3;
  if (!isfinite(e3)) return e3;
  return denominator > 0 ? mean_error(x, e5) * sqrt(e5 / denominator) : 0;
}

/* The same as `attempt` of equations in parts. */
static yoke_status attempt_in_parts(rk_rounds *r, double *err) {
  const rk_view    *x    = r->x;
  const rk_self    *self = x->self;
  const rk_tableau *tab  = self->tableau;
  r->errors[0]           = &self->error;
  if (tab->has_second) {
    r->new_point = &self->stage[tab->s];
    r->errors[1] = &self->error3;
  }
  YOKE_TRY(run_rounds(r, 1, tab->has_second ? tab->s - 1 : tab->s));
  *err = tab->has_second ? joint_error(x, sum_of_parts(r, 0), sum_of_parts(r, 1)) : mean_error(x, sum_of_parts(r, 0));
  return isfinite(*err) ? YOKE_OK : YOKE_NON_FINITE;
}

/* Try a step of length h: new point (not projected), its derivative unless has_second, error. */
static yoke_status attempt(const rk_view *x, double h, double t_new, double *err) {
  const rk_self    *self = x->self;
  const rk_tableau *tab  = self->tableau;
  rk_rounds         rounds;
  if (open_rounds(x, h, t_new, &rounds)) return attempt_in_parts(&rounds, err);
  if (self->nystroem && !tab->has_second) {
    double sum = 0;
    YOKE_TRY(run_fused(x, 1, tab->s, h, t_new, &sum));
    *err = mean_error(x, sum);
    return isfinite(*err) ? YOKE_OK : YOKE_NON_FINITE;
  }
  if (self->nystroem) {
    YOKE_TRY(run_fused(x, 1, tab->s - 1, h, t_new, NULL));
  } else {
    for (int i = 1; i < tab->s; ++i) YOKE_TRY(run_plain(x, i, h, t_new));
  }
  combine(x, &self->stage[tab->s], h, true, x->q_new, x->v_new);
  if (!tab->has_second) {
    YOKE_TRY(evaluate_new(x, t_new));
    *err = mean_error(x, error_sum(x, &self->error, h));
  } else {
    const double e5 = error_sum(x, &self->error, h), e3 = error_sum(x, &self->error3, h);
    *err = joint_error(x, e5, e3);
  }
  return isfinite(*err) ? YOKE_OK : YOKE_NON_FINITE;
}

/* Further stages of dense output. */
static yoke_status run_dense(const rk_view *x, double h, double t_new) {
  const rk_tableau *tab   = x->self->tableau;
  const int         first = tab->s + 1, last = tab->s + tab->n_extra;
  if (tab->n_extra == 0) return YOKE_OK;
  if (x->self->nystroem) return run_fused(x, first, last, h, t_new, NULL);
  rk_view y = *x; /* q_stage, v_stage of stage s - 1 are still wanted for the estimate of stiffness */
  y.q_stage = x->temp;
  y.v_stage = x->temp + x->integrator->equations->nq;
  rk_rounds rounds;
  if (open_rounds(&y, h, t_new, &rounds)) return run_rounds(&rounds, first, last);
  for (int i = first; i <= last; ++i) YOKE_TRY(run_plain(&y, i, h, t_new));
  return YOKE_OK;
}

/* After the error test: project, derivative at the new point, and what dense output needs where somebody looks. A look does not decide about
 * the step: where the further stages fail, dense output is the cubic. */
static yoke_status complete(const rk_view *x, double h, double t_new) {
  const rk_tableau *tab   = x->self->tableau;
  bool              moved = false;
  bool *const       asks  = tab->has_second ? NULL : &moved;
  YOKE_TRY(explicit_project(x->integrator, x->work, t_new, x->q_new, x->v_new, x->temp, asks));
  if (tab->has_second || moved) YOKE_TRY(evaluate_new(x, t_new));
  x->own->n_dense = is_never_looked_into(x) ? NEVER_LOOKED_INTO : NOT_LOOKED_INTO;
  if (t_new < x->state->t_look) return YOKE_OK;
  const yoke_status status = run_dense(x, h, t_new);
  x->own->n_dense          = status == YOKE_OK ? tab->n_dense : 0;
  return status < 0 ? status : YOKE_OK;
}

/* Sums of squares of what the last two stages differ by, in accelerations and velocities. */
typedef struct stage_difference {
  const rk_view *x;
  double         square[2];
} stage_difference;

static void sum_difference(void *user, int i, int n) {
  stage_difference *d = user;
  const rk_view    *x = d->x;
  const int         s = x->self->tableau->s, nv = x->integrator->equations->nv;
  for (int k = i; k < 2; k += n) {
    d->square[k] = k == 0 ? explicit_distance(nv, x->kv[s], x->kv[s - 1]) : explicit_distance(nv, x->v_new, x->v_stage);
  }
}

/* The last two stages lie at the same time: their difference d is rich in what is fast, and |d a| / |d v| is rho where one rate
 * dominates (Hairer, Wanner II, IV.2). Of an oscillation it is rho cot(phase): the mean of its logarithm over steps is that of rho.
 * Positions are left out, slow motions hide the fast ones there. */
static void watch_stiffness(const rk_view *x, double h) {
  rk_own *own = x->own;
  if (!is_check_due(x)) {
    if (own->checks_left > 0) --own->checks_left;
    return;
  }
  own->checks_left   = x->self->check_every - 1;
  stage_difference d = {.x = x};
  yoke_lockstep_follow(x->integrator->equations->helpers, 2, sum_difference, &d);
  const double a_sum = d.square[0], v_sum = d.square[1];
  if (!(a_sum > 0) || !(v_sum > 0)) return;
  if (own->n_checks < RHO_MEMORY) ++own->n_checks;
  own->log_rho += (log(h) + 0.5 * log(a_sum / v_sum) - own->log_rho) / own->n_checks;
  if (exp(own->log_rho) > x->self->suspect_bound) {
    if (own->suspects < MOST_SUSPECTS) ++own->suspects;
  } else if (own->suspects > 0) {
    --own->suspects;
  }
}

/* q, v, a, qdot of the new point are in place: dense output, multipliers, time. */
static void commit(const rk_view *x, double h, double t_new) {
  const rk_self        *self = x->self;
  const yoke_equations *e    = x->integrator->equations;
  for (int m = 0; m < x->own->n_dense; ++m) {
    const rk_row *row = &self->dense[m];
    double       *dq = explicit_at(x->own, self->d + (size_t)m * self->d_next), *dv = explicit_at(dq, self->d_v);
    if (self->nystroem) {
      const double *A[RK_MAX_STAGES];
      for (int j = 0; j < row->n; ++j) A[j] = x->kv[row_j(self, row)[j]];
      explicit_combine_pair(e->nv, h, row_w(self, row), dv, h * h, row_wbar(self, row), dq, row->n, A);
    } else {
      combine(x, row, h, false, dq, dv);
    }
  }
  const int n_lambda = yoke_n_multipliers(e);
  if (n_lambda > 0)
    memcpy(yoke_integrator_lambda(x->integrator, x->state), x->lambda, (size_t)n_lambda * sizeof(double));
  x->state->t_prev = x->state->t;
  x->state->t      = t_new;
  ++x->state->counters.steps;
}

/* ---- step control ---- */

/* h of the next step after one of length h_try with error err <= 1; `proposal` was wanted before clipping. */
static double next_step(const rk_view *x, double proposal, double h_try, double err) {
  const rk_tableau *tab = x->self->tableau;
  const double      ratio =
      tab->safety * pow(fmax(err, 1e-30), -(tab->error_exponent - 0.75 * tab->beta)) * pow(x->own->err_old, tab->beta);
  const bool capped = !(ratio < tab->max_ratio);
  double     h      = h_try * fmax(tab->min_ratio, fmin(tab->max_ratio, ratio));
  if (h_try < proposal && capped) {
    /* A short last step says nothing beyond max_ratio times its length: keep what was wanted (invariant 2). */
    h = fmax(h, proposal);
  } else if (x->own->after_reject) {
    h = fmin(h, h_try);
  }
  if (h_try >= proposal) x->own->err_old = fmax(err, 1e-4);
  x->own->after_reject = 0;
  if (x->self->max_step > 0) h = fmin(h, x->self->max_step);
  return h;
}

/* The step falls and falls near a singular position: noise of the accelerations, not their variation, is what the error
 * test sees. A larger error is allowed for a step of usual length across it. */
static bool may_bridge(const rk_view *x, double h) {
  const yoke_equations *e = x->integrator->equations;
  return e->ng > 0 && e->ops->is_singular != NULL && h < BRIDGE_BELOW * x->own->h_usual &&
         e->ops->is_singular(e->self, x->work, x->state->t, x->q);
}

yoke_status explicit_rk_step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                             const yoke_signal *u, double t_limit, yoke_context *ctx) {
  rk_view           x;
  const rk_self    *self     = integrator->self;
  const rk_tableau *tab      = self->tableau;
  const bool        is_fixed = self->fixed_step > 0;
  const double      t_left = t_limit - state->t, h_min = explicit_smallest_step(state->t, t_limit);
  const double      rtol      = self->rtol;
  double            h         = is_fixed ? self->fixed_step : state->h;
  double            loose     = 1; /* error that may be / error that the user allows */
  int               n_bridges = 0;
  state->order                = tab->order;
  view(integrator, scratch, state, u, &x);
  begin_step(&x);

  for (;;) {
    const double h_try  = explicit_clip(h, t_left, is_fixed);
    const double t_new  = h_try == t_left ? t_limit : state->t + h_try;
    double       err    = 0;
    yoke_status  status = attempt(&x, h_try, t_new, &err);
    x.copies_later      = false;
    err /= loose;
    if (status == YOKE_OK && (err <= 1 || is_fixed)) {
      status = complete(&x, h_try, t_new);
      if (status == YOKE_OK) {
        watch_stiffness(&x, h_try);
        commit(&x, h_try, t_new);
        state->h       = is_fixed ? h : next_step(&x, h, h_try, err);
        x.own->h_usual = fmax(h_try, 0.98 * x.own->h_usual);
        return YOKE_OK;
      }
    }
    if (status < 0) {
      undo_step(&x);
      return yoke_fail(ctx, status, "solver '%s' failed at t = %.9g s", integrator->ops->name, state->t);
    }

    /* Rejected: too large an error, a value that is not finite (invariant 3), a projection that failed. */
    ++state->counters.rejected;
    x.own->after_reject = 1;
    h = status != YOKE_OK ? h_try / 4 : h_try * fmax(tab->min_ratio, tab->safety * pow(err, -tab->error_exponent));
    yoke_bridge bridge;
    if (!is_fixed && rtol > 0 && (n_bridges > 0 || may_bridge(&x, h)) &&
        yoke_bridge_attempt(n_bridges, rtol, &bridge)) {
      ++n_bridges;
      loose = bridge.rtol / rtol;
      h     = bridge.share * x.own->h_usual;
      if (self->max_step > 0) h = fmin(h, self->max_step);
    }
    if (is_fixed || h < h_min) {
      undo_step(&x);
      return explicit_fail_small(integrator, state, h, status != YOKE_NON_FINITE, ctx);
    }
  }
}

/* ---- start, interpolation, disturbance ---- */

static yoke_status refresh(const rk_view *x) {
  if (x->self->nystroem) return YOKE_OK;
  return explicit_evaluate(
      x->integrator, x->work, x->u_now, &x->state->counters, x->u, x->state->t, YOKE_SIDE_RIGHT, x->q, x->v, x->qdot,
      x->a, yoke_n_multipliers(x->integrator->equations) > 0 ? yoke_integrator_lambda(x->integrator, x->state) : NULL);
}

yoke_status explicit_rk_start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                              const yoke_signal *u) {
  rk_view x;
  view(integrator, scratch, state, u, &x);
  x.own->err_old = ERR_UNKNOWN;
  x.own->n_dense = NOT_LOOKED_INTO; /* there is no step yet */
  YOKE_TRY(refresh(&x));
  state->order = x.self->tableau->order;
  state->h     = explicit_first_step(integrator, x.work, x.u_now, x.temp, state, u, x.qdot, state->order);
  return YOKE_OK;
}

/* One-step methods only drop the derivative at the point; step length and last error are kept, error control corrects them:
 * at every macro point inputs kink a little. */
yoke_status explicit_rk_disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                const yoke_signal *u, yoke_disturbance what) {
  const rk_self *self = integrator->self;
  rk_own        *own  = yoke_integrator_own(integrator, state);
  if (what == YOKE_STATE_RESET) own->err_old = ERR_UNKNOWN;
  if (self->nystroem) return YOKE_OK; /* a is there already */
  rk_view x;
  view(integrator, scratch, state, u, &x);
  return refresh(&x);
}

yoke_status explicit_rk_renew(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                              const yoke_signal *u) {
  rk_view x;
  view(integrator, scratch, state, u, &x);
  return explicit_evaluate(integrator, x.work, x.u_now, &state->counters, u, state->t, YOKE_SIDE_LEFT, x.q, x.v,
                           x.self->nystroem ? NULL : x.qdot, x.a,
                           yoke_n_multipliers(integrator->equations) > 0 ? yoke_integrator_lambda(integrator, state)
                                                                         : NULL);
}

typedef struct rk_step_data { /* of q or v over the last step */
  const double *y0, *y1, *f0, *f1, *d[RK_MAX_DENSE];
} rk_step_data;

static void interpolate(int n, int n_dense, const rk_step_data *s, double h, double theta, double *y) {
  const double rest = 1 - theta;
  for (int i = 0; i < n; ++i) {
    const double r2 = s->y1[i] - s->y0[i], r3 = h * s->f0[i] - r2, r4 = r2 - h * s->f1[i] - r3;
    double       d = 0;
    for (int m = n_dense - 1; m >= 0; --m) d = s->d[m][i] + (m % 2 == 0 ? theta : rest) * d;
    y[i] = s->y0[i] + theta * (r2 + rest * (r3 + theta * (r4 + rest * d)));
  }
}

void explicit_rk_interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t, double *q,
                             double *v) {
  const rk_self        *self = integrator->self;
  const yoke_equations *e    = integrator->equations;
  const rk_own         *own  = yoke_integrator_own(integrator, state);
  const double          h = state->t - state->t_prev, theta = h > 0 ? (t - state->t_prev) / h : 1;

  const double *start = explicit_at(own, self->start);
  YOKE_ASSERT(own->n_dense != NEVER_LOOKED_INTO);

  rk_step_data sq   = {.y0 = start, .y1 = yoke_integrator_q(integrator, state)};
  rk_step_data sv   = {.y0 = explicit_at(start, self->v0),
                       .y1 = yoke_integrator_v(integrator, state),
                       .f0 = explicit_at(start, self->a0),
                       .f1 = yoke_integrator_a(integrator, state)};
  sq.f0             = self->nystroem ? sv.y0 : explicit_at(start, self->qdot0);
  sq.f1             = self->nystroem ? sv.y1 : explicit_at(own, self->qdot);
  const int n_dense = own->n_dense;
  for (int m = 0; m < RK_MAX_DENSE; ++m) {
    sq.d[m] = sq.y0;
    sv.d[m] = sv.y0;
  }
  for (int m = 0; m < n_dense; ++m) {
    sq.d[m] = explicit_at(own, self->d + (size_t)m * self->d_next);
    sv.d[m] = explicit_at(sq.d[m], self->d_v);
  }
  interpolate(e->nq, n_dense, &sq, h, theta, q);
  interpolate(e->nv, n_dense, &sv, h, theta, v);
}

size_t explicit_rk_used(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  const rk_self *self = integrator->self;
  const rk_own  *own  = yoke_integrator_own(integrator, state);
  if (own->n_dense > 0) return integrator->state_size;
  return own->n_dense == 0 ? self->size_cubic : self->size_plain;
}

size_t explicit_rk_fresh(const yoke_integrator *integrator) {
  return ((const rk_self *)integrator->self)->size_plain;
}

bool explicit_rk_is_sound(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  const rk_self *self = integrator->self;
  const rk_own  *own  = yoke_integrator_own(integrator, state);
  return (own->n_dense == NOT_LOOKED_INTO || own->n_dense == NEVER_LOOKED_INTO || own->n_dense == 0 ||
          own->n_dense == self->tableau->n_dense) &&
         yoke_is_count(own->suspects) && yoke_is_count(own->checks_left) && yoke_is_count(own->n_checks) &&
         own->n_checks <= RHO_MEMORY;
}

/* ---- for `auto` ---- */

int explicit_rk_suspects(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  const rk_self *self = integrator->self;
  const rk_own  *own  = yoke_integrator_own(integrator, state);
  return own->suspects * self->check_every;
}

double explicit_rk_stiff_bound(const yoke_integrator *integrator) {
  return ((const rk_self *)integrator->self)->tableau->stiff_bound;
}

int explicit_rk_n_stages(const yoke_integrator *integrator) {
  return ((const rk_self *)integrator->self)->tableau->s;
}

bool explicit_rk_is_fused(const yoke_integrator *integrator) {
  return ((const rk_self *)integrator->self)->nystroem;
}
