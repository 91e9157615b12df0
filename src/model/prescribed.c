#include "model/prescribed.h"

#include "base/memory.h"
#include "model/dependence.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct prescribed {
  yoke_equations        base;
  const yoke_multibody *mb;
  size_t                at_q, at_v, at_x, at_F, at_J; /* bytes into the work: behind that of base */
  int                   n_states;                     /* of q, without quadratures */
  int n_sets, *set, *start, *member; /* of q and v, see yoke_multibody_sets; 0: x has no a and lambda */
} prescribed;

static double *doubles(void *work, size_t at) {
  return (double *)(void *)((char *)work + at);
}

static size_t reserve(size_t *size, int n) {
  const size_t at = *size;
  *size += ((size_t)n * sizeof(double) + 63) / 64 * 64;
  return at;
}

static void prescribed_destroy(void *self) {
  prescribed *p = self;
  if (p == NULL) return;
  if (p->base.ops != NULL) yoke_equations_destroy(&p->base);
  free(p->set);
  free(p);
}

/* ---- ordinary view ---- */

/* (q, v) where the prescribed motions are, at at_q and at_v of the work. */
static yoke_status prescribe(const prescribed *p, void *work, double t, const double *q, const double *v,
                             const double *u) {
  double *q1 = doubles(work, p->at_q), *v1 = doubles(work, p->at_v);
  memcpy(q1, q, (size_t)p->base.nq * sizeof *q1);
  memcpy(v1, v, (size_t)p->base.nv * sizeof *v1);
  if (p->base.ops->normalise != NULL) p->base.ops->normalise(p->base.self, q1);
  return yoke_multibody_prescribe(p->mb, work, t, u, q1, v1);
}

static yoke_status prescribed_derivative(const void *self, void *work, double t, const double *q, const double *v,
                                         const double *u, double *qdot, double *a, double *lambda) {
  const prescribed *p = self;
  YOKE_TRY(prescribe(p, work, t, q, v, u));
  return p->base.ops->derivative(p->base.self, work, t, doubles(work, p->at_q), doubles(work, p->at_v), u, qdot, a,
                                 lambda);
}

static void prescribed_normalise(const void *self, double *q) {
  const prescribed *p = self;
  if (p->base.ops->normalise != NULL) p->base.ops->normalise(p->base.self, q);
}

static yoke_status prescribed_project_position(const void *self, void *work, double t, double *q) {
  (void)work, (void)t;
  prescribed_normalise(self, q);
  return YOKE_OK;
}

static yoke_status prescribed_project_velocity(const void *self, void *work, double t, const double *q, double *v) {
  (void)self, (void)work, (void)t, (void)q, (void)v;
  return YOKE_OK;
}

static void prescribed_constraint(const void *self, void *work, double t, const double *q, const double *v, double *g,
                                  double *gd) {
  (void)self, (void)work, (void)t, (void)q, (void)v, (void)g, (void)gd; /* none */
}

/* ---- implicit view ---- */

static int n_of_x(const prescribed *p) {
  return p->base.nq + p->base.nv;
}

/* Is component i of x a state, else a quadrature, on which nothing depends? */
static bool is_state(const prescribed *p, int i) {
  return i < p->n_states || i >= p->base.nq;
}

typedef struct prescribed_dae {
  yoke_dae               base;
  yoke_dependence_blocks blocks;
} prescribed_dae;

/* E = 1, and J where a block of states acts on another. */
static yoke_status set_pattern(const prescribed *p, yoke_context *ctx, prescribed_dae *dae) {
  const yoke_dependence_blocks *b       = &dae->blocks;
  const int                     nx      = n_of_x(p);
  yoke_arena                    scratch = {0};
  size_t                        most    = (size_t)nx;
  for (int j = 0; j < b->n; ++j) {
    for (int k = b->acts_on->col_start[j]; k < b->acts_on->col_start[j + 1]; ++k)
      most += (size_t)yoke_block_size(b, j) * (size_t)yoke_block_size(b, b->acts_on->row[k]);
  }
  int        *row    = yoke_arena_take(&scratch, most, sizeof *row);
  int        *col    = yoke_arena_take(&scratch, most, sizeof *col);
  int        *slot   = yoke_arena_take(&scratch, most, sizeof *slot);
  int         n      = 0;
  yoke_status status = scratch.has_failed || most > INT_MAX ? YOKE_E_MEMORY : YOKE_OK;
  for (int i = 0; status == YOKE_OK && i < nx; ++i) row[n] = col[n] = i, ++n;
  for (int j = 0; status == YOKE_OK && j < b->n; ++j) {
    for (int k = b->acts_on->col_start[j]; k < b->acts_on->col_start[j + 1]; ++k) {
      const int i = b->acts_on->row[k];
      for (int c = b->start[j]; c < b->start[j + 1]; ++c) {
        for (int r = b->start[i]; r < b->start[i + 1]; ++r) row[n] = b->member[r], col[n++] = b->member[c];
      }
    }
  }
  if (status == YOKE_OK) status = yoke_pattern_create(ctx, nx, nx, n, row, col, slot, &dae->base.pattern);
  if (status == YOKE_OK) {
    dae->base.component = yoke_arena_take(&dae->base.arena, (size_t)nx + 1, sizeof *dae->base.component);
    dae->base.E         = yoke_arena_take(&dae->base.arena, (size_t)dae->base.pattern->nnz + 1, sizeof *dae->base.E);
    dae->base.R         = yoke_arena_take(&dae->base.arena, (size_t)dae->base.pattern->nnz + 1, sizeof *dae->base.R);
    if (dae->base.arena.has_failed) status = YOKE_E_MEMORY;
  }
  for (int i = 0; status == YOKE_OK && i < nx; ++i) { /* the diagonal came first */
    dae->base.E[slot[i]]   = 1.0;
    dae->base.component[i] = i >= p->base.nq  ? YOKE_COMPONENT_V
                             : is_state(p, i) ? YOKE_COMPONENT_Q
                                              : YOKE_COMPONENT_INTEGRAL;
  }
  yoke_arena_free(&scratch);
  return status;
}

static yoke_status rates(const prescribed *p, void *work, double t, const double *x, const double *u, double *F) {
  return prescribed_derivative(p, work, t, x, x + p->base.nq, u, F, F + p->base.nq, NULL);
}

/* E = 1, which makes all points of a body with a band for its masses act on each other. */
static yoke_status create_ordinary(const prescribed *p, yoke_context *ctx, yoke_dae_form form, yoke_dae **out) {
  yoke_dae *base = NULL; /* what acts on what, before motions are prescribed */
  YOKE_TRY(p->base.ops->dae_create(p->base.self, ctx, YOKE_DAE_INDEX1, &base));
  prescribed_dae *dae    = yoke_allocate(1, sizeof *dae);
  yoke_status     status = dae != NULL ? YOKE_OK : YOKE_E_MEMORY;
  if (status == YOKE_OK) {
    dae->base =
        (yoke_dae){.form = form, .nx = n_of_x(p), .i_v = p->base.nq, .i_a = -1, .i_lambda = -1, .i_mu = -1, .i_nu = -1};
    status = yoke_dependence_blocks_set(ctx, base, p->n_states, p->base.nv, &dae->base.arena, &dae->blocks);
  }
  if (status == YOKE_OK) status = set_pattern(p, ctx, dae);
  if (dae != NULL) yoke_dependence_blocks_forget(&dae->blocks);
  yoke_dae_destroy(&base);
  if (status != YOKE_OK) {
    yoke_dae *half = dae != NULL ? &dae->base : NULL;
    yoke_dae_destroy(&half);
    return yoke_out_of_memory(ctx, "the Jacobian of %d prescribed states", n_of_x(p));
  }
  *out = &dae->base;
  return YOKE_OK;
}

static double difference(double x, double size) {
  return sqrt(DBL_EPSILON) * fmax(fabs(x), fmax(1e-2 * size, 1e-6));
}

/* Differences; blocks of one colour act on different rows and move together, one state of each at a time. */
static yoke_status ordinary_jacobian(const prescribed *p, const yoke_dae *dae, void *work, double t, const double *x,
                                     const double *u, double *J) {
  const yoke_dependence_blocks *b       = &((const prescribed_dae *)(const void *)dae)->blocks;
  const int                     nx      = dae->nx;
  const yoke_pattern           *pattern = dae->pattern;
  double                       *x1 = doubles(work, p->at_x), *F0 = doubles(work, p->at_F), *F1 = F0 + nx;
  double                        size[2] = {0.0, 0.0}; /* of q and of v */
  for (int i = 0; i < nx; ++i) size[i >= p->base.nq] = fmax(size[i >= p->base.nq], fabs(x[i]));
  memcpy(x1, x, (size_t)nx * sizeof *x);
  YOKE_TRY(rates(p, work, t, x, u, F0));
  memset(J, 0, (size_t)pattern->nnz * sizeof *J);
  for (int colour = 0; colour < b->n_colours; ++colour) {
    for (int s = 0;; ++s) {
      int n_moved = 0;
      for (int k = b->colour_start[colour]; k < b->colour_start[colour + 1]; ++k) {
        const int block = b->coloured[k];
        if (s >= yoke_block_size(b, block)) continue;
        const int j = b->member[b->start[block] + s];
        x1[j]       = x[j] + difference(x[j], size[j >= p->base.nq]);
        ++n_moved;
      }
      if (n_moved == 0) break;
      YOKE_TRY(rates(p, work, t, x1, u, F1));
      for (int k = b->colour_start[colour]; k < b->colour_start[colour + 1]; ++k) {
        const int block = b->coloured[k];
        if (s >= yoke_block_size(b, block)) continue;
        const int    j     = b->member[b->start[block] + s];
        const double delta = x1[j] - x[j];
        for (int e = pattern->col_start[j]; e < pattern->col_start[j + 1]; ++e) {
          const int i = pattern->row[e];
          J[e]        = (F1[i] - F0[i]) / delta;
        }
        x1[j] = x[j];
      }
    }
  }
  return YOKE_OK;
}

/* ---- implicit view with accelerations ---- */

/* Does i of q or v move with j, hence column i of what is inside count in column j? Positions do not depend on velocities. */
static bool is_moved_by(const prescribed *p, int i, int j) {
  return i >= p->base.nq || j < p->base.nq;
}

/* Columns of the inner view that make column j: those of its set. Calls with place = the first one, until false. */
static bool next_column(const prescribed *p, int j, int *place, int *column) {
  const int set = j < n_of_x(p) ? p->set[j] : -1;
  if (set < 0) {
    *column = j;
    return (*place)++ == 0;
  }
  while (*place < p->start[set + 1] - p->start[set]) {
    *column = p->member[p->start[set] + (*place)++];
    if (is_moved_by(p, *column, j)) return true;
  }
  return false;
}

static yoke_status set_inner_pattern(const prescribed *p, yoke_context *ctx, yoke_dae *dae) {
  const yoke_pattern *from    = dae->inner->pattern;
  yoke_arena          scratch = {0};
  size_t              most    = 0;
  for (int j = 0; j < dae->nx; ++j) {
    for (int place = 0, i; next_column(p, j, &place, &i);)
      most += (size_t)(from->col_start[i + 1] - from->col_start[i]);
  }
  int        *row    = yoke_arena_take(&scratch, most + 1, sizeof *row);
  int        *col    = yoke_arena_take(&scratch, most + 1, sizeof *col);
  int         n      = 0;
  yoke_status status = scratch.has_failed || most > INT_MAX ? YOKE_E_MEMORY : YOKE_OK;
  for (int j = 0; status == YOKE_OK && j < dae->nx; ++j) {
    for (int place = 0, i; next_column(p, j, &place, &i);) {
      for (int k = from->col_start[i]; k < from->col_start[i + 1]; ++k) row[n] = from->row[k], col[n++] = j;
    }
  }
  if (status == YOKE_OK) status = yoke_pattern_create(ctx, dae->nx, dae->nx, n, row, col, NULL, &dae->pattern);
  yoke_arena_free(&scratch);
  return status;
}

/* Column j of `to` += s times column i of `from`, whose rows are all there; both have them in order. */
static void add_column(const yoke_pattern *to, double *values, int j, double s, const yoke_pattern *from,
                       const double *given, int i) {
  int at = to->col_start[j];
  for (int k = from->col_start[i]; k < from->col_start[i + 1]; ++k) {
    while (to->row[at] != from->row[k]) ++at;
    values[at] += s * given[k];
  }
}

/* x = (q, v, a, lambda) as base has it: M a is a band. */
static yoke_status create_inner(const prescribed *p, yoke_context *ctx, yoke_dae **out) {
  yoke_dae *inner = NULL;
  YOKE_TRY(p->base.ops->dae_create(p->base.self, ctx, YOKE_DAE_INDEX1, &inner));
  yoke_dae   *dae    = yoke_allocate(1, sizeof *dae);
  yoke_status status = dae != NULL ? YOKE_OK : YOKE_E_MEMORY;
  if (dae == NULL) {
    yoke_dae_destroy(&inner);
  } else {
    *dae   = (yoke_dae){.form     = inner->form,
                        .nx       = inner->nx,
                        .i_v      = inner->i_v,
                        .i_a      = inner->i_a,
                        .i_lambda = inner->i_lambda,
                        .i_mu     = -1,
                        .i_nu     = -1,
                        .inner    = inner};
    status = set_inner_pattern(p, ctx, dae);
  }
  if (status == YOKE_OK) {
    dae->component = yoke_arena_take(&dae->arena, (size_t)dae->nx + 1, sizeof *dae->component);
    dae->E         = yoke_arena_take(&dae->arena, (size_t)dae->pattern->nnz + 1, sizeof *dae->E);
    dae->R         = yoke_arena_take(&dae->arena, (size_t)dae->pattern->nnz + 1, sizeof *dae->R);
    if (dae->arena.has_failed) status = YOKE_E_MEMORY;
  }
  if (status != YOKE_OK) {
    yoke_dae_destroy(&dae);
    return yoke_out_of_memory(ctx, "the Jacobian of %d prescribed states", n_of_x(p));
  }
  memcpy(dae->component, inner->component, (size_t)dae->nx * sizeof *dae->component);
  for (int j = 0; j < dae->nx; ++j) {
    add_column(dae->pattern, dae->E, j, 1.0, inner->pattern, inner->E, j);
    add_column(dae->pattern, dae->R, j, 1.0, inner->pattern, inner->R, j);
  }
  *out = dae;
  return YOKE_OK;
}

/* x where the prescribed motions are, at at_x of the work. */
static yoke_status prescribe_x(const prescribed *p, const yoke_dae *dae, void *work, double t, const double *x,
                               const double *u) {
  const int n  = n_of_x(p);
  double   *x1 = doubles(work, p->at_x);
  YOKE_TRY(prescribe(p, work, t, x, x + p->base.nq, u));
  memcpy(x1, doubles(work, p->at_q), (size_t)p->base.nq * sizeof *x1);
  memcpy(x1 + p->base.nq, doubles(work, p->at_v), (size_t)p->base.nv * sizeof *x1);
  memcpy(x1 + n, x + n, (size_t)(dae->nx - n) * sizeof *x1);
  return YOKE_OK;
}

static yoke_status inner_rhs(const prescribed *p, const yoke_dae *dae, void *work, double t, const double *x,
                             const double *u, double *F) {
  YOKE_TRY(prescribe_x(p, dae, work, t, x, u));
  return p->base.ops->dae_rhs(p->base.self, dae->inner, work, t, doubles(work, p->at_x), u, F);
}

/* F(x^(x)): J = J^ dx^/dx, dx^/dx by differences, of all sets at once. x^ is smooth over lengths of the model, and known to about 1e-14 of them. */
static yoke_status inner_jacobian(const prescribed *p, const yoke_dae *dae, void *work, double t, const double *x,
                                  const double *u, double *J) {
  const yoke_pattern *inner = dae->inner->pattern;
  const int           n     = n_of_x(p);
  double             *given = doubles(work, p->at_J), *x0 = doubles(work, p->at_x), *x1 = doubles(work, p->at_F);
  const double       *q = doubles(work, p->at_q), *v = doubles(work, p->at_v);
  const double        share   = 5e-8;
  double              size[2] = {1e-6, 1e-6}; /* of q and of v */
  bool                is_any  = true;
  for (int i = 0; i < n; ++i) size[i >= p->base.nq] = fmax(size[i >= p->base.nq], fabs(x[i]));
  YOKE_TRY(prescribe_x(p, dae, work, t, x, u));
  YOKE_TRY(p->base.ops->dae_jacobian(p->base.self, dae->inner, work, t, x0, u, given));
  memset(J, 0, (size_t)dae->pattern->nnz * sizeof *J);
  for (int j = 0; j < dae->nx; ++j) {
    if (j >= n || p->set[j] < 0) add_column(dae->pattern, J, j, 1.0, inner, given, j);
  }
  memcpy(x1, x, (size_t)n * sizeof *x1);
  for (int m = 0; is_any; ++m) { /* the m-th of every set */
    is_any = false;
    for (int set = 0; set < p->n_sets; ++set) {
      if (m >= p->start[set + 1] - p->start[set]) continue;
      const int j = p->member[p->start[set] + m];
      x1[j]       = x[j] + share * size[j >= p->base.nq];
      is_any      = true;
    }
    if (!is_any) break;
    YOKE_TRY(prescribe(p, work, t, x1, x1 + p->base.nq, u));
    for (int set = 0; set < p->n_sets; ++set) {
      if (m >= p->start[set + 1] - p->start[set]) continue;
      const int j = p->member[p->start[set] + m];
      for (int place = 0, i; next_column(p, j, &place, &i);) {
        const double moved = (i < p->base.nq ? q[i] : v[i - p->base.nq]) - x0[i];
        if (moved != 0.0) add_column(dae->pattern, J, j, moved / (x1[j] - x[j]), inner, given, i);
      }
      x1[j] = x[j];
    }
  }
  return YOKE_OK;
}

static yoke_status prescribed_dae_create(const void *self, yoke_context *ctx, yoke_dae_form form, yoke_dae **out) {
  const prescribed *p = self;
  *out                = NULL;
  return p->n_sets > 0 ? create_inner(p, ctx, out) : create_ordinary(p, ctx, form, out);
}

static yoke_status prescribed_dae_rhs(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                      const double *u, double *F) {
  return dae->inner != NULL ? inner_rhs(self, dae, work, t, x, u, F) : rates(self, work, t, x, u, F);
}

static yoke_status prescribed_dae_jacobian(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                           const double *u, double *J) {
  return dae->inner != NULL ? inner_jacobian(self, dae, work, t, x, u, J)
                            : ordinary_jacobian(self, dae, work, t, x, u, J);
}

/* ---- linear systems ---- */

/* Column of x' = A x + B u + b for one unit, the rest 0. */
static bool response(const prescribed *p, void *work, double *x, double *u, double *F) {
  return rates(p, work, 0.0, x, u, F) == YOKE_OK;
}

static yoke_status prescribed_linear(const void *self, void *work, double *A, double *B, double *b) {
  const prescribed *p = self;
  const int         n = n_of_x(p), nu = p->base.nu;
  if (p->base.ops->linear == NULL) return YOKE_E_UNSUPPORTED;
  YOKE_TRY(p->base.ops->linear(p->base.self, work, NULL, NULL, NULL));
  if (A == NULL && B == NULL && b == NULL) return YOKE_OK;
  double *x = doubles(work, p->at_x), *F0 = doubles(work, p->at_F), *F1 = F0 + n, *u = F1 + n;
  memset(x, 0, (size_t)n * sizeof *x);
  memset(u, 0, (size_t)nu * sizeof *u);
  if (!response(p, work, x, u, F0)) return YOKE_E_UNSUPPORTED;
  if (b != NULL) memcpy(b, F0, (size_t)n * sizeof *b);
  for (int j = 0; A != NULL && j < n; ++j) {
    x[j] = 1.0;
    if (!response(p, work, x, u, F1)) return YOKE_E_UNSUPPORTED;
    for (int i = 0; i < n; ++i) A[(size_t)i * (size_t)n + (size_t)j] = F1[i] - F0[i];
    x[j] = 0.0;
  }
  for (int j = 0; B != NULL && j < nu; ++j) {
    u[j] = 1.0;
    if (!response(p, work, x, u, F1)) return YOKE_E_UNSUPPORTED;
    for (int i = 0; i < n; ++i) B[(size_t)i * (size_t)nu + (size_t)j] = F1[i] - F0[i];
    u[j] = 0.0;
  }
  return YOKE_OK;
}

/* ---- what base knows ---- */

static void prescribed_energy(const void *self, void *work, double t, const double *q, const double *v,
                              yoke_energy *out) {
  const prescribed *p = self;
  p->base.ops->energy(p->base.self, work, t, q, v, out);
}

/* q and v are where the prescribed motions put them already. */
static void prescribed_powers(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                              double *dissipated, double *external) {
  const prescribed *p = self;
  p->base.ops->powers(p->base.self, work, t, q, v, u, dissipated, external);
}

static bool prescribed_work(const void *self, const struct yoke_ends *ends, double sum[2]) {
  const prescribed *p = self;
  return p->base.ops->work != NULL && p->base.ops->work(p->base.self, ends, sum);
}

/* What is felt is felt where the prescribed motions are. */
static void prescribed_events(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                              double *value) {
  const prescribed *p = self;
  if (yoke_multibody_events_feel(p->mb) && prescribe(p, work, t, q, v, u) == YOKE_OK) {
    q = doubles(work, p->at_q);
    v = doubles(work, p->at_v);
  }
  p->base.ops->events(p->base.self, work, t, q, v, u, value);
}

static double prescribed_next_break(const void *self, double t) {
  const prescribed *p = self;
  return p->base.ops->next_break != NULL ? p->base.ops->next_break(p->base.self, t) : (double)INFINITY;
}

static const yoke_equations_ops prescribed_ops = {
    .kind             = "prescribed",
    .destroy          = prescribed_destroy,
    .derivative       = prescribed_derivative,
    .project_position = prescribed_project_position,
    .project_velocity = prescribed_project_velocity,
    .normalise        = prescribed_normalise,
    .constraint       = prescribed_constraint,
    .dae_create       = prescribed_dae_create,
    .dae_rhs          = prescribed_dae_rhs,
    .dae_jacobian     = prescribed_dae_jacobian,
    .energy           = prescribed_energy,
    .powers           = prescribed_powers,
    .work             = prescribed_work,
    .linear           = prescribed_linear,
    .events           = prescribed_events,
    .next_break       = prescribed_next_break,
};

/* Sets with their members, ascending. */
static bool set_sets(prescribed *p) {
  const int n = n_of_x(p);
  p->set      = yoke_allocate(3 * (size_t)n + 2, sizeof *p->set);
  if (p->set == NULL) return false;
  p->start  = p->set + n;
  p->member = p->start + n + 2;
  p->n_sets = yoke_multibody_sets(p->mb, p->set);
  if (p->n_sets < 0) return false;
  for (int i = 0; i < n; ++i) {
    if (p->set[i] >= 0) ++p->start[p->set[i] + 2];
  }
  for (int k = 2; k <= p->n_sets; ++k) p->start[k] += p->start[k - 1];
  for (int i = 0; i < n; ++i) { /* start[k + 1] runs over set k while it is filled */
    if (p->set[i] >= 0) p->member[p->start[p->set[i] + 1]++] = i;
  }
  return true;
}

yoke_status yoke_prescribed_create(yoke_context *ctx, yoke_equations *base, const yoke_multibody *mb,
                                   yoke_equations *out) {
  prescribed *p = yoke_allocate(1, sizeof *p);
  if (p == NULL) {
    yoke_equations_destroy(base);
    return yoke_out_of_memory(ctx, "the prescribed motions");
  }
  p->base     = *base;
  p->mb       = mb;
  p->n_states = base->nq - base->n_quadratures;
  int nx = n_of_x(p), nnz = 0;
  if (yoke_multibody_has_points(mb) && base->ops->dae_size != NULL) {
    if (!set_sets(p)) {
      prescribed_destroy(p);
      return yoke_out_of_memory(ctx, "the prescribed motions");
    }
    base->ops->dae_size(base->self, YOKE_DAE_INDEX1, &nx, &nnz);
  }
  size_t size = (base->work_size + 63) / 64 * 64;
  p->at_q     = reserve(&size, base->nq);
  p->at_v     = reserve(&size, base->nv);
  p->at_x     = reserve(&size, nx);
  p->at_F     = reserve(&size, 2 * n_of_x(p) + base->nu);
  p->at_J     = reserve(&size, nnz);
  *out        = (yoke_equations){.ops           = &prescribed_ops,
                                 .self          = p,
                                 .nq            = base->nq,
                                 .nv            = base->nv,
                                 .n_norms       = base->n_norms,
                                 .nu            = base->nu,
                                 .n_events      = base->n_events,
                                 .n_quadratures = base->n_quadratures,
                                 .n_guided      = base->ng + base->n_guided,
                                 .work_size     = size};
  return YOKE_OK;
}
