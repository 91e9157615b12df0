/* LU factors: sparse (KLU; tridiagonal ones by LAPACK), dense and banded (LAPACK).
 *
 * Invariants:
 *   1. A yoke_linear does not change after creation, but for its spare factors. A factor does not change while more than
 *      one reference exists.
 *   2. The bits of a new factor follow from the values and from the pivot order of the factor given to
 *      yoke_factor_make, never from who else holds that factor. So a shared factor is copied before its pivot order is
 *      used again, and after a failure the caller's reference is dropped in either case.
 *   3. Solving writes to the caller's work only. KLU would write to Numeric->Xwork and to Common: each solve uses
 *      private copies of these two small structs. */
#include "linalg/lapack.h"
#include "linalg/block_lu.h"
#include "linalg/condense.h"
#include "linalg/sparse.h"
#include "base/assert.h"
#include "base/finite.h"
#include "base/memory.h"
#include "linalg/numeric.h"
#include "linalg/tridiagonal.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/amd.h>
#include <suitesparse/klu.h>

/* A repeated pivot order is sound while its growth is at most this many times that of the factorisation that chose it. */
static const double SOUND_GROWTH = 100.0;

/* Banded storage (2 lower + upper + 1 rows) must not need more room than a dense matrix, except for tiny matrices. */
static const int BAND_ALWAYS_FINE = 16;

/* Factors that nobody holds any more, kept for the next one of their kind: a matrix made anew while an accepted state still
 * holds the old factor takes its memory from here, so that macro steps need none (invariant 7 of the design). Slots are
 * taken and filled by single exchanges, without locks. What a spare holds has no influence on the bits of its next use. */
enum { N_SPARE = 16 };
typedef struct spare_factors {
  _Atomic(yoke_factor *) slot[2][N_SPARE]; /* real, complex */
} spare_factors;

struct yoke_linear {
  yoke_arena          arena;
  const yoke_pattern *pattern;
  yoke_linear_kind    kind;
  int                 n;
  klu_symbolic       *symbolic;       /* KLU: ordering by BTF and AMD */
  klu_common          common;         /* KLU: settings, copied for each call */
  int                *place;          /* banded: [n] row and column i of the matrix are place[i] of the band */
  int                 lower, upper;   /* banded: widths */
  yoke_block_lu      *blocks;         /* KLU: NULL: no blocks */
  bool                is_tridiagonal; /* KLU has nothing to do */
  yoke_condense      *condense;       /* NULL: none; `inner` has the condensed matrix, and nothing above is used */
  yoke_linear        *inner;
  spare_factors      *spare;
};

struct yoke_factor {
  yoke_arena         arena; /* of values and pivot */
  atomic_int         references;
  const yoke_linear *linear;
  bool               is_complex;
  klu_numeric       *numeric;   /* KLU */
  double             growth;    /* KLU: growth of the factorisation that chose the pivots, see yoke_numeric_growth */
  double            *values;    /* dense, banded, tridiagonal: the LU; KLU complex: room for pairs (re, im) [2 nnz] */
  lapack_int        *pivot;     /* dense, banded, tridiagonal, blocks: [n] */
  bool               is_blocks; /* made by blocks, not by KLU */
  yoke_factor       *inner;     /* of the condensed matrix; values: what solves keep, then room for its values */
};

/* ---- graph of a pattern ---- */

/* Neighbours of every row in the graph of A + A^T, without the diagonal: both halves of each entry. */
typedef struct row_graph {
  int *start, *neighbour, *degree, *queue;
} row_graph;

static bool graph_build(yoke_arena *scratch, const yoke_pattern *p, row_graph *g) {
  const int n  = p->n_cols;
  g->start     = yoke_arena_take(scratch, (size_t)n + 2, sizeof *g->start);
  g->neighbour = yoke_arena_take(scratch, 2 * (size_t)p->nnz + 1, sizeof *g->neighbour);
  g->degree    = yoke_arena_take(scratch, (size_t)n + 1, sizeof *g->degree);
  g->queue     = yoke_arena_take(scratch, (size_t)n + 1, sizeof *g->queue);
  if (scratch->has_failed) return false;
  for (int j = 0; j < n; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      if (p->row[k] == j) continue;
      ++g->degree[j];
      ++g->degree[p->row[k]];
    }
  }
  /* start[i + 1] runs ahead while the lists are filled, and ends as the start of list i + 1 */
  for (int i = 0; i < n; ++i) g->start[i + 2] = g->start[i + 1] + g->degree[i];
  for (int j = 0; j < n; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      if (p->row[k] == j) continue;
      g->neighbour[g->start[j + 1]++]         = p->row[k];
      g->neighbour[g->start[p->row[k] + 1]++] = j;
    }
  }
  return true;
}

/* ---- ordering of a band ---- */

/* Breadth-first order of the part of the graph that holds `root`, neighbours by ascending degree; place[i] < 0 marks
 * what is not yet ordered. Returns the number of rows ordered; queue[first ...] lists them. */
static int breadth_first(const row_graph *g, int root, int first, int *place) {
  int n_queued       = first;
  g->queue[n_queued] = root;
  place[root]        = n_queued++;
  for (int head = first; head < n_queued; ++head) {
    const int i     = g->queue[head];
    const int begin = n_queued;
    for (int k = g->start[i]; k < g->start[i + 1]; ++k) {
      const int j = g->neighbour[k];
      if (place[j] >= 0) continue;
      place[j] = n_queued;
      int at   = n_queued++;
      for (; at > begin && g->degree[g->queue[at - 1]] > g->degree[j]; --at) g->queue[at] = g->queue[at - 1];
      g->queue[at] = j;
    }
  }
  return n_queued - first;
}

/* Cuthill-McKee: each connected part is ordered breadth first from a row far out, found by two searches. */
static void order_band(const row_graph *g, int n, int *place) {
  for (int i = 0; i < n; ++i) place[i] = -1;
  int first = 0;
  for (int i = 0; i < n; ++i) {
    if (place[i] >= 0) continue;
    int root = i, count = 0;
    for (int search = 0; search < 3; ++search) {
      count = breadth_first(g, root, first, place);
      root  = g->queue[first + count - 1];
      if (search == 2) break;
      for (int k = first; k < first + count; ++k) place[g->queue[k]] = -1;
    }
    for (int k = first; k < first + count; ++k) place[g->queue[k]] = k;
    first += count;
  }
}

static yoke_status analyse_band(yoke_context *ctx, yoke_linear *linear) {
  const yoke_pattern *p       = linear->pattern;
  const int           n       = linear->n;
  yoke_arena          scratch = {0};
  row_graph           g;
  linear->place    = yoke_arena_take(&linear->arena, (size_t)n + 1, sizeof *linear->place);
  const bool built = !linear->arena.has_failed && graph_build(&scratch, p, &g);
  if (built) order_band(&g, n, linear->place);
  yoke_arena_free(&scratch);
  if (!built) return yoke_out_of_memory(ctx, "a banded matrix (%d rows)", n);

  for (int j = 0; j < n; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      const int below = linear->place[p->row[k]] - linear->place[j];
      if (below > linear->lower) linear->lower = below;
      if (-below > linear->upper) linear->upper = -below;
    }
  }
  const int64_t height = 2 * (int64_t)linear->lower + linear->upper + 1;
  if (n > BAND_ALWAYS_FINE && height > n) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "linear solver 'banded': the band has %d rows below and %d above the diagonal of %d rows, wider "
                     "than useful; expected 2 * below + above < %d, use 'klu' or 'dense'",
                     linear->lower, linear->upper, n, n);
  }
  return YOKE_OK;
}

/* ---- what all factors share ---- */

typedef struct keyed_row {
  uint64_t key;
  int      row;
} keyed_row;

static int compare_keyed_rows(const void *x, const void *y) {
  const keyed_row *a = x, *b = y;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

/* Key of the set of weak rows that row i is coupled with in both directions (two edges of the graph); 0: none.
 * `seen` [n], entries other than i. */
static uint64_t weak_set_key(const row_graph *g, int i, const uint8_t *is_weak, int *seen) {
  uint64_t key = 0;
  for (int k = g->start[i]; k < g->start[i + 1]; ++k) {
    const int j = g->neighbour[k];
    if (!is_weak[j]) continue;
    if (seen[j] == i) { /* a sum of scattered bits does not depend on the order */
      uint64_t bits = ((uint64_t)j + 1) * 0x9e3779b97f4a7c15u;
      bits ^= bits >> 29;
      key += bits * 0xbf58476d1ce4e5b9u;
    }
    seen[j] = i;
  }
  return key;
}

/* Strong rows that meet the same weak rows (the coordinates of one body) form a group; each weak row joins one of the
 * groups it is coupled with in both directions, where the fewest weak rows per strong row are. Eliminating the strong
 * rows of a group first leaves a sound pivot for its weak ones. group[i] is the row that leads the group of row i.
 * `strong`, `weak`, `seen` [n] scratch. */
static void group_weak_rows(const row_graph *g, int n, const uint8_t *is_weak, keyed_row *keyed, int *group,
                            int *strong, int *weak, int *seen) {
  for (int i = 0; i < n; ++i) seen[i] = -1;
  for (int i = 0; i < n; ++i) {
    keyed[i]  = (keyed_row){.key = is_weak[i] ? 0 : weak_set_key(g, i, is_weak, seen), .row = i};
    group[i]  = i;
    weak[i]   = 0;
    strong[i] = 0;
  }
  qsort(keyed, (size_t)n, sizeof *keyed, compare_keyed_rows);
  for (int k = 1; k < n; ++k) {
    if (keyed[k].key != 0 && keyed[k].key == keyed[k - 1].key) group[keyed[k].row] = group[keyed[k - 1].row];
  }
  for (int i = 0; i < n; ++i) {
    seen[i] = -1;
    if (!is_weak[i]) ++strong[group[i]];
  }
  for (int i = 0; i < n; ++i) {
    int best = -1;
    for (int k = g->start[i]; is_weak[i] && k < g->start[i + 1]; ++k) {
      const int j = g->neighbour[k], leader = group[j];
      if (is_weak[j]) continue;
      if (seen[j] == i && (best < 0 || (int64_t)weak[leader] * strong[best] < (int64_t)weak[best] * strong[leader])) {
        best = leader;
      }
      seen[j] = i;
    }
    if (best < 0) continue;
    group[i] = best;
    ++weak[best];
  }
}

/* Fill-reducing order of the groups (AMD), expanded to rows: the strong rows of a group, then its weak ones.
 * number[leader] becomes the number of the group; `at`, `order` [n]. */
static yoke_status order_groups(yoke_context *ctx, yoke_arena *scratch, const yoke_pattern *p, const uint8_t *is_weak,
                                const int *group, int *number, int *at, int *order) {
  const int n = p->n_cols;
  int       m = 0;
  for (int i = 0; i < n; ++i) {
    if (group[i] == i) number[i] = m++;
  }
  int          *row      = yoke_arena_take(scratch, (size_t)p->nnz + 1, sizeof *row);
  int          *col      = yoke_arena_take(scratch, (size_t)p->nnz + (size_t)n + 1, sizeof *col);
  int          *sequence = yoke_arena_take(scratch, (size_t)m + 1, sizeof *sequence);
  yoke_pattern *quotient = NULL;
  YOKE_TRY(yoke_arena_check(scratch, ctx, "the order of a sparse matrix (%d rows)", n));
  for (int j = 0; j < n; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      row[k] = number[group[p->row[k]]];
      col[k] = number[group[j]];
    }
  }
  YOKE_TRY(yoke_pattern_create(ctx, m, m, p->nnz, row, col, NULL, &quotient));
  const int result = amd_order(m, quotient->col_start, quotient->row, sequence, NULL, NULL);
  yoke_pattern_destroy(&quotient);
  if (result < AMD_OK) return yoke_out_of_memory(ctx, "the order of a sparse matrix (%d rows)", n);
  for (int i = 0; i < n; ++i) at[i] = 0;
  for (int i = 0; i < n; ++i) {
    ++at[group[i]];                        /* size of the group */
    if (group[i] == i) col[number[i]] = i; /* from here on: the leader of each group */
  }
  int start = 0;
  for (int s = 0; s < m; ++s) { /* from here on at[leader] is where the next row of the group goes */
    const int leader = col[sequence[s]], size = at[leader];
    at[leader] = start;
    start += size;
  }
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < n; ++i) {
      if ((is_weak[i] != 0) == (pass == 1)) order[at[group[i]]++] = i;
    }
  }
  return YOKE_OK;
}

/* Order of the rows and columns of a matrix with weak diagonal entries; lies in `scratch`. */
static yoke_status order_saddle(yoke_context *ctx, yoke_arena *scratch, const yoke_pattern *p, const uint8_t *is_weak,
                                int **order) {
  const size_t n      = (size_t)p->n_cols;
  int         *group  = yoke_arena_take(scratch, n, sizeof *group);
  int         *number = yoke_arena_take(scratch, n, sizeof *number);
  int         *at     = yoke_arena_take(scratch, n, sizeof *at);
  keyed_row   *keyed  = yoke_arena_take(scratch, n, sizeof *keyed);
  *order              = yoke_arena_take(scratch, n, sizeof **order);
  row_graph g;
  if (!graph_build(scratch, p, &g)) return yoke_out_of_memory(ctx, "the order of a sparse matrix (%zu rows)", n);
  group_weak_rows(&g, p->n_cols, is_weak, keyed, group, number, at, *order);
  return order_groups(ctx, scratch, p, is_weak, group, number, at, *order);
}

/* klu_factor writes its first count of entries into a symbolic object that has none: give it one, so that the object
 * stays constant (invariant 1). It only sizes the first allocation. */
static void settle_estimates(klu_symbolic *symbolic) {
  for (int b = 0; b < symbolic->nblocks; ++b) {
    const double share = (double)(symbolic->R[b + 1] - symbolic->R[b]) / symbolic->n;
    if (symbolic->Lnz[b] < 0.0) symbolic->Lnz[b] = 2.0 * share * symbolic->nz;
  }
}

static yoke_status analyse_sparse(yoke_context *ctx, yoke_linear *linear, const uint8_t *is_weak) {
  klu_defaults(&linear->common);
  if (linear->n == 0) return YOKE_OK;
  const yoke_pattern *p        = linear->pattern;
  bool                has_weak = false;
  for (int i = 0; is_weak != NULL && i < linear->n; ++i) has_weak = has_weak || is_weak[i];
  klu_common  common  = linear->common;
  yoke_arena  scratch = {0};
  int        *order   = NULL;
  yoke_status status  = has_weak ? order_saddle(ctx, &scratch, p, is_weak, &order) : YOKE_OK;
  if (status == YOKE_OK) {
    if (has_weak) common.btf = 0;
    linear->symbolic = has_weak ? klu_analyze_given(p->n_cols, p->col_start, p->row, order, order, &common)
                                : klu_analyze(linear->n, p->col_start, p->row, &common);
  }
  yoke_arena_free(&scratch);
  if (status != YOKE_OK) return status;
  if (linear->symbolic == NULL && common.status == KLU_OUT_OF_MEMORY)
    return yoke_out_of_memory(ctx, "the order of a sparse matrix (%d rows, %d entries)", linear->n, p->nnz);
  if (linear->symbolic == NULL) {
    return yoke_fail(ctx, YOKE_E_INTERNAL, "sparse matrix: ordering failed with code %d (%d rows, %d entries)",
                     common.status, linear->n, p->nnz);
  }
  settle_estimates(linear->symbolic);
  return YOKE_OK;
}

yoke_status yoke_linear_check(yoke_context *ctx, yoke_linear_kind kind, int n) {
  const double bytes = (double)n * n * (double)sizeof(double);
  if (kind != YOKE_LINEAR_DENSE || (bytes < (double)(SIZE_MAX / 4) && yoke_memory_has_room((size_t)bytes + 1)))
    return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_MEMORY,
                   "linear solver 'dense': a matrix of %d rows takes %.3g GB, more memory than there is; use 'klu' or "
                   "'banded', or split the model: the matrices of its parts are smaller",
                   n, 1e-9 * bytes);
}

/* ---- creation ---- */

static yoke_status analyse(yoke_context *ctx, yoke_linear *linear, const uint8_t *is_weak) {
  switch (linear->kind) {
  case YOKE_LINEAR_KLU: return linear->is_tridiagonal ? YOKE_OK : analyse_sparse(ctx, linear, is_weak);
  case YOKE_LINEAR_BANDED: return analyse_band(ctx, linear);
  case YOKE_LINEAR_DENSE: break;
  }
  return YOKE_OK;
}

static yoke_status linear_begin(yoke_context *ctx, const yoke_pattern *pattern, yoke_linear_kind kind,
                                yoke_linear **out) {
  yoke_linear *linear = yoke_allocate(1, sizeof *linear);
  *out                = linear;
  if (linear == NULL) return yoke_out_of_memory(ctx, "a linear solver");
  linear->arena   = yoke_arena_of(ctx);
  linear->pattern = pattern;
  linear->kind    = kind;
  linear->n       = pattern->n_rows;
  linear->spare   = yoke_arena_take(&linear->arena, 1, sizeof *linear->spare);
  return yoke_arena_check(&linear->arena, ctx, "a linear solver");
}

/* KLU orders its matrix, for factors by blocks too, which fall back to it. */
static yoke_status linear_create(yoke_context *ctx, const yoke_pattern *pattern, const uint8_t *is_weak,
                                 yoke_linear_kind kind, bool has_blocks, yoke_linear **out) {
  *out = NULL;
  YOKE_ASSERT(pattern->n_rows == pattern->n_cols);
  YOKE_TRY(yoke_linear_check(ctx, kind, pattern->n_rows));
  yoke_status status = linear_begin(ctx, pattern, kind, out);
  if (status == YOKE_OK) {
    (*out)->is_tridiagonal = kind == YOKE_LINEAR_KLU && !has_blocks && yoke_tridiagonal_fits(pattern);
    status                 = analyse(ctx, *out, is_weak);
  }
  if (status != YOKE_OK) yoke_linear_destroy(out);
  return status;
}

yoke_status yoke_linear_create_motion(yoke_context *ctx, const yoke_pattern *pattern, const uint8_t *is_weak,
                                      yoke_linear_kind kind, int n, int n_levels, yoke_linear **out) {
  yoke_condense *condense = NULL;
  *out                    = NULL;
  if (n_levels > 0) YOKE_TRY(yoke_condense_create(ctx, pattern, n, &condense));
  if (condense == NULL) return linear_create(ctx, pattern, is_weak, kind, false, out);
  yoke_status status = linear_begin(ctx, pattern, kind, out);
  if (*out == NULL)
    yoke_condense_destroy(&condense);
  else
    (*out)->condense = condense;
  if (status == YOKE_OK) {
    status = yoke_linear_create_motion(ctx, yoke_condense_pattern(condense), is_weak != NULL ? is_weak + n : NULL, kind,
                                       n, n_levels - 1, &(*out)->inner);
  }
  if (status != YOKE_OK) yoke_linear_destroy(out);
  return status;
}

yoke_status yoke_linear_create_saddle(yoke_context *ctx, const yoke_pattern *pattern, const uint8_t *is_weak,
                                      yoke_linear_kind kind, yoke_linear **out) {
  return linear_create(ctx, pattern, is_weak, kind, false, out);
}

yoke_status yoke_linear_create(yoke_context *ctx, const yoke_pattern *pattern, yoke_linear_kind kind,
                               yoke_linear **out) {
  return yoke_linear_create_saddle(ctx, pattern, NULL, kind, out);
}

/* Blocks may take so many times the memory of KLU's factors, a number and its row for every entry; -1 entries: not known. Beyond it KLU is
 * quicker, too. */
static double most_of_blocks(const yoke_linear *linear) {
  static const double times = 2.0;
  const klu_symbolic *s     = linear->symbolic;
  if (s == NULL || !(s->lnz > 0.0 && s->unz > 0.0)) return 0.0;
  return times * (s->lnz + s->unz + s->nzoff) * (double)(sizeof(double) + sizeof(int));
}

yoke_status yoke_linear_create_blocks(yoke_context *ctx, const yoke_pattern *pattern, int n_blocks,
                                      const int *first_row, yoke_linear **out) {
  YOKE_TRY(linear_create(ctx, pattern, NULL, YOKE_LINEAR_KLU, true, out));
  const yoke_status status =
      yoke_block_lu_create(ctx, pattern, n_blocks, first_row, most_of_blocks(*out), &(*out)->blocks);
  if (status != YOKE_OK) yoke_linear_destroy(out);
  return status;
}

int yoke_linear_n_parts(const yoke_linear *linear) {
  return linear->blocks != NULL ? yoke_block_lu_n_parts(linear->blocks) : 0;
}

int yoke_linear_part(const yoke_linear *linear, int block) {
  return yoke_block_lu_part(linear->blocks, block);
}

double yoke_linear_part_work(const yoke_linear *linear, int part) {
  return yoke_block_lu_work(linear->blocks, part);
}

size_t yoke_linear_part_size(const yoke_linear *linear, int part) {
  const yoke_block_span span = yoke_block_lu_span(linear->blocks, part);
  return (span.value_end - span.value_begin) * sizeof(double) +
         (span.row_end - span.row_begin) * (sizeof(double) + sizeof(lapack_int));
}

size_t yoke_linear_work_of_rows(int n) {
  return 4 * (size_t)n + 8; /* KLU complex: n pairs of the vector and n pairs of work */
}

size_t yoke_linear_work_size(const yoke_linear *linear) {
  return yoke_linear_work_of_rows(linear->n);
}

/* ---- life of a factor ---- */

static size_t band_height(const yoke_linear *linear) {
  return 2 * (size_t)linear->lower + (size_t)linear->upper + 1;
}

static size_t value_count(const yoke_linear *linear, bool is_complex) {
  const size_t n = (size_t)linear->n, parts = is_complex ? 2 : 1;
  if (linear->condense != NULL) {
    return yoke_condense_n_kept(linear->condense, is_complex) + parts * (size_t)linear->inner->pattern->nnz;
  }
  switch (linear->kind) {
  case YOKE_LINEAR_DENSE: return parts * n * n;
  case YOKE_LINEAR_BANDED: return parts * n * band_height(linear);
  case YOKE_LINEAR_KLU: break;
  }
  if (linear->is_tridiagonal) return yoke_tridiagonal_n_values(linear->n, is_complex);
  if (is_complex) return 2 * (size_t)linear->pattern->nnz;
  return linear->blocks != NULL ? yoke_block_lu_n_values(linear->blocks) : 0;
}

/* Does the numeric object of KLU hold it? */
static bool is_by_klu(const yoke_factor *factor) {
  const yoke_linear *linear = factor->linear;
  return linear->kind == YOKE_LINEAR_KLU && !factor->is_blocks && !linear->is_tridiagonal && linear->condense == NULL;
}

static size_t entry_size(const yoke_factor *factor) {
  return (factor->is_complex ? 2 : 1) * sizeof(double);
}

/* No pivot order. */
static void factor_forget(yoke_factor *factor) {
  yoke_factor_release(&factor->inner);
  yoke_numeric_free(&factor->numeric, entry_size(factor), &factor->linear->common);
}

static void factor_destroy(yoke_factor *factor) {
  factor_forget(factor);
  yoke_arena_free(&factor->arena);
  free(factor);
}

void yoke_linear_destroy(yoke_linear **linear) {
  if (linear == NULL || *linear == NULL) return;
  for (int i = 0; (*linear)->spare != NULL && i < 2 * N_SPARE; ++i) {
    yoke_factor *spare = atomic_load(&(*linear)->spare->slot[i / N_SPARE][i % N_SPARE]);
    if (spare != NULL) factor_destroy(spare);
  }
  if ((*linear)->symbolic != NULL) {
    klu_common common = (*linear)->common;
    klu_free_symbolic(&(*linear)->symbolic, &common);
  }
  yoke_block_lu_destroy(&(*linear)->blocks);
  yoke_linear_destroy(&(*linear)->inner); /* behind the spare factors, which hold factors of it */
  yoke_condense_destroy(&(*linear)->condense);
  yoke_arena_free(&(*linear)->arena);
  free(*linear);
  *linear = NULL;
}

static yoke_factor *factor_create(const yoke_linear *linear, bool is_complex) {
  yoke_factor *factor = yoke_allocate(1, sizeof *factor);
  if (factor == NULL) return NULL;
  factor->arena = yoke_arena_like(&linear->arena);
  atomic_init(&factor->references, 1);
  factor->linear     = linear;
  factor->is_complex = is_complex;
  factor->values     = yoke_arena_take(&factor->arena, value_count(linear, is_complex) + 1, sizeof *factor->values);
  if (linear->condense == NULL && (linear->kind != YOKE_LINEAR_KLU || linear->blocks != NULL || linear->is_tridiagonal))
    factor->pivot = yoke_arena_take(&factor->arena, (size_t)linear->n + 1, sizeof *factor->pivot);
  if (factor->arena.has_failed) {
    factor_destroy(factor);
    return NULL;
  }
  return factor;
}

yoke_factor *yoke_factor_retain(yoke_factor *factor) {
  if (factor != NULL) atomic_fetch_add_explicit(&factor->references, 1, memory_order_relaxed);
  return factor;
}

void yoke_factor_release(yoke_factor **factor) {
  if (factor == NULL || *factor == NULL) return;
  yoke_factor *last = *factor;
  *factor           = NULL;
  if (atomic_fetch_sub_explicit(&last->references, 1, memory_order_acq_rel) != 1) return;
  for (int i = 0; i < N_SPARE; ++i) {
    yoke_factor *empty = NULL;
    if (atomic_compare_exchange_strong(&last->linear->spare->slot[last->is_complex][i], &empty, last)) return;
  }
  factor_destroy(last);
}

/* A spare or new factor that only the caller holds. */
static yoke_factor *factor_take(const yoke_linear *linear, bool is_complex) {
  for (int i = 0; i < N_SPARE; ++i) {
    yoke_factor *factor = atomic_exchange(&linear->spare->slot[is_complex][i], NULL);
    if (factor == NULL) continue;
    atomic_store_explicit(&factor->references, 1, memory_order_relaxed);
    return factor;
  }
  return factor_create(linear, is_complex);
}

/* ---- KLU ---- */

/* The values as KLU wants them: as they are, or as pairs. KLU does not write to them. */
static double *sparse_values(yoke_factor *factor, const double *re, const double *im) {
  if (!factor->is_complex) return (double *)re;
  for (int k = 0; k < factor->linear->pattern->nnz; ++k) {
    factor->values[2 * k]     = re[k];
    factor->values[2 * k + 1] = im[k];
  }
  return factor->values;
}

/* Is the refactored matrix about as good as the pivot order was when it was chosen? */
static bool sparse_refactor(yoke_factor *factor, double *values, klu_common *common) {
  const yoke_linear *linear = factor->linear;
  int               *start = linear->pattern->col_start, *row = linear->pattern->row;
  const int    done = factor->is_complex ? klu_z_refactor(start, row, values, linear->symbolic, factor->numeric, common)
                                         : klu_refactor(start, row, values, linear->symbolic, factor->numeric, common);
  const double limit = SOUND_GROWTH * fmax(1.0, factor->growth);
  return done && common->status == KLU_OK &&
         yoke_numeric_growth(linear->symbolic, factor->numeric, entry_size(factor)) <= limit;
}

/* `factor` is ours alone; it holds a numeric object with a pivot order to try, or none. */
static yoke_status sparse_make(yoke_factor *factor, const double *re, const double *im) {
  const yoke_linear *linear = factor->linear;
  if (linear->is_tridiagonal) return yoke_tridiagonal_make(linear->pattern, re, im, factor->values, factor->pivot);
  klu_common common = linear->common;
  double    *values = sparse_values(factor, re, im);
  int       *start = linear->pattern->col_start, *row = linear->pattern->row;
  factor->is_blocks = false;
  if (factor->numeric != NULL) {
    if (sparse_refactor(factor, values, &common)) return YOKE_OK;
    factor_forget(factor);
  }
  common          = linear->common;
  factor->numeric = factor->is_complex ? klu_z_factor(start, row, values, linear->symbolic, &common)
                                       : klu_factor(start, row, values, linear->symbolic, &common);
  if (common.status == KLU_OUT_OF_MEMORY || common.status == KLU_TOO_LARGE) return YOKE_E_MEMORY;
  if (factor->numeric == NULL || common.status != KLU_OK) return YOKE_SINGULAR;
  factor->growth = yoke_numeric_growth(linear->symbolic, factor->numeric, entry_size(factor));
  return isfinite(factor->growth) ? YOKE_OK : YOKE_SINGULAR;
}

/* ---- LAPACK ---- */

static void put(yoke_factor *factor, size_t at, const double *re, const double *im, int k) {
  if (factor->is_complex) {
    factor->values[2 * at]     = re[k];
    factor->values[2 * at + 1] = im[k];
  } else {
    factor->values[at] = re[k];
  }
}

static yoke_status dense_make(yoke_factor *factor, const double *re, const double *im) {
  const yoke_pattern *p = factor->linear->pattern;
  const lapack_int    n = factor->linear->n;
  memset(factor->values, 0, value_count(factor->linear, factor->is_complex) * sizeof(double));
  for (int j = 0; j < n; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      put(factor, (size_t)j * (size_t)n + (size_t)p->row[k], re, im, k);
    }
  }
  const lapack_int info = factor->is_complex ? lapack_zgetrf(n, n, (lapack_complex *)factor->values, n, factor->pivot)
                                             : lapack_dgetrf(n, n, factor->values, n, factor->pivot);
  return info == 0 ? YOKE_OK : info > 0 ? YOKE_SINGULAR : YOKE_E_INTERNAL;
}

static yoke_status band_make(yoke_factor *factor, const double *re, const double *im) {
  const yoke_linear  *linear = factor->linear;
  const yoke_pattern *p      = linear->pattern;
  const lapack_int    n = linear->n, lower = linear->lower, upper = linear->upper, height = 2 * lower + upper + 1;
  memset(factor->values, 0, value_count(linear, factor->is_complex) * sizeof(double));
  for (int j = 0; j < n; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      const int row = linear->place[p->row[k]], col = linear->place[j];
      put(factor, (size_t)col * (size_t)height + (size_t)(lower + upper + row - col), re, im, k);
    }
  }
  const lapack_int info =
      factor->is_complex ? lapack_zgbtrf(n, n, lower, upper, (lapack_complex *)factor->values, height, factor->pivot)
                         : lapack_dgbtrf(n, n, lower, upper, factor->values, height, factor->pivot);
  return info == 0 ? YOKE_OK : info > 0 ? YOKE_SINGULAR : YOKE_E_INTERNAL;
}

/* ---- condensed ---- */

static yoke_status condensed_make(yoke_factor *factor, const double *re, const double *im) {
  const yoke_linear *linear   = factor->linear;
  double            *small_re = factor->values + yoke_condense_n_kept(linear->condense, factor->is_complex);
  double            *small_im = im != NULL ? small_re + linear->inner->pattern->nnz : NULL;
  yoke_condense_make(linear->condense, re, im, small_re, small_im, factor->values);
  const yoke_status status = yoke_factor_make(linear->inner, small_re, small_im, &factor->inner);
  return status == YOKE_NON_FINITE ? YOKE_SINGULAR : status; /* the whole matrix is finite: a row of q has no pivot */
}

/* ---- make and solve ---- */

/* The pivot order of another factor of the same kind. False: out of memory. */
static bool factor_assign(yoke_factor *factor, const yoke_factor *from) {
  const size_t entry = entry_size(from);
  factor->growth     = from->growth;
  if (from->inner != NULL) {
    yoke_factor_release(&factor->inner);
    factor->inner = yoke_factor_retain(from->inner); /* is copied when it is made anew */
    return true;
  }
  if (from->numeric == NULL) {
    factor_forget(factor);
    return true;
  }
  if (factor->numeric != NULL && yoke_numeric_assign(factor->numeric, from->numeric, entry)) return true;
  factor_forget(factor);
  factor->numeric = yoke_numeric_clone(from->numeric, entry, &factor->linear->common);
  return factor->numeric != NULL;
}

/* A factor object that only the caller holds, with the pivot order of `old` where there is one. Takes the reference. */
static yoke_factor *own_factor(const yoke_linear *linear, bool is_complex, yoke_factor **old) {
  yoke_factor *previous = *old;
  *old                  = NULL;
  if (previous == NULL || previous->linear != linear || previous->is_complex != is_complex) {
    yoke_factor_release(&previous);
    yoke_factor *factor = factor_take(linear, is_complex);
    if (factor != NULL) factor_forget(factor);
    return factor;
  }
  if (atomic_load_explicit(&previous->references, memory_order_acquire) == 1) return previous;
  yoke_factor *factor = factor_take(linear, is_complex);
  if (factor != NULL && !factor_assign(factor, previous)) {
    factor_destroy(factor);
    factor = NULL;
  }
  yoke_factor_release(&previous);
  return factor;
}

yoke_status yoke_factor_make(const yoke_linear *linear, const double *re, const double *im, yoke_factor **factor) {
  const int nnz = linear->pattern->nnz;
  if (!yoke_all_finite(nnz, re) || (im != NULL && !yoke_all_finite(nnz, im))) {
    yoke_factor_release(factor);
    return YOKE_NON_FINITE;
  }
  yoke_factor *made = own_factor(linear, im != NULL, factor);
  if (made == NULL) return YOKE_E_MEMORY;
  yoke_status status = YOKE_OK;
  if (linear->condense != NULL) {
    status = condensed_make(made, re, im);
  } else if (linear->n > 0) {
    switch (linear->kind) {
    case YOKE_LINEAR_KLU: status = sparse_make(made, re, im); break;
    case YOKE_LINEAR_DENSE: status = dense_make(made, re, im); break;
    case YOKE_LINEAR_BANDED: status = band_make(made, re, im); break;
    }
  }
  if (status != YOKE_OK) {
    yoke_factor_release(&made);
    return status;
  }
  *factor = made;
  return YOKE_OK;
}

/* ---- by blocks ---- */

yoke_status yoke_factor_begin_parts(const yoke_linear *linear, const double *re, yoke_factor **factor,
                                    yoke_part_work *work) {
  *work = (yoke_part_work){.factor = own_factor(linear, false, factor), .re = re};
  if (work->factor == NULL) return YOKE_E_MEMORY;
  factor_forget(work->factor);
  work->factor->is_blocks  = true;
  const yoke_status status = yoke_block_lu_begin(linear->blocks, re, work->factor->values);
  if (status != YOKE_OK) yoke_factor_release(&work->factor);
  return status;
}

void yoke_factor_part(yoke_part_work *work, int part) {
  yoke_factor *factor = work->factor;
  work->status[part] = yoke_block_lu_factor_part(factor->linear->blocks, work->re, factor->values, factor->pivot, part);
}

void yoke_factor_part_pieces(const yoke_part_work *work, int part, yoke_part_piece piece[YOKE_PART_PIECES]) {
  const yoke_factor    *factor = work->factor;
  const yoke_block_lu  *blocks = factor->linear->blocks;
  const yoke_block_span span   = yoke_block_lu_span(blocks, part);
  double               *scales = factor->values + yoke_block_lu_scales(blocks);
  const size_t          n_rows = span.row_end - span.row_begin;
  piece[0] = (yoke_part_piece){factor->values + span.value_begin, (span.value_end - span.value_begin) * sizeof(double)};
  piece[1] = (yoke_part_piece){scales + span.row_begin, n_rows * sizeof(double)};
  piece[2] = (yoke_part_piece){factor->pivot + span.row_begin, n_rows * sizeof *factor->pivot};
}

yoke_status yoke_factor_end_parts(yoke_part_work *work, yoke_factor **factor) {
  const yoke_block_lu *blocks = work->factor->linear->blocks;
  yoke_status          status = YOKE_OK;
  for (int p = 0; p < yoke_block_lu_n_parts(blocks) && status == YOKE_OK; ++p) status = work->status[p];
  if (status == YOKE_OK) status = yoke_block_lu_factor_top(blocks, work->re, work->factor->values, work->factor->pivot);
  if (status != YOKE_OK) yoke_factor_release(&work->factor);
  *factor      = work->factor;
  work->factor = NULL;
  return status;
}

/* ---- solve ---- */

/* x [n or n pairs] in place; `work` [n or n pairs] for KLU, [2 n] for blocks. */
static void solve_packed(const yoke_factor *factor, double *x, double *work) {
  const yoke_linear *linear = factor->linear;
  const lapack_int   n = linear->n, lower = linear->lower, upper = linear->upper, height = 2 * lower + upper + 1;
  if (factor->is_blocks) {
    yoke_block_lu_solve(linear->blocks, factor->values, factor->pivot, x, work);
  } else if (is_by_klu(factor)) {
    klu_common  common  = linear->common; /* invariant 3 */
    klu_numeric numeric = *factor->numeric;
    numeric.Xwork       = work;
    if (factor->is_complex) {
      klu_z_solve(linear->symbolic, &numeric, n, 1, x, &common);
    } else {
      klu_solve(linear->symbolic, &numeric, n, 1, x, &common);
    }
  } else if (linear->kind == YOKE_LINEAR_DENSE) {
    if (factor->is_complex) {
      lapack_zgetrs('N', n, 1, (const lapack_complex *)factor->values, n, factor->pivot, (lapack_complex *)x, n);
    } else {
      lapack_dgetrs('N', n, 1, factor->values, n, factor->pivot, x, n);
    }
  } else {
    if (factor->is_complex) {
      lapack_zgbtrs('N', n, lower, upper, 1, (const lapack_complex *)factor->values, height, factor->pivot,
                    (lapack_complex *)x, n);
    } else {
      lapack_dgbtrs('N', n, lower, upper, 1, factor->values, height, factor->pivot, x, n);
    }
  }
}

void yoke_factor_solve(const yoke_factor *factor, double *re, double *im, double *work) {
  const int  n     = factor->linear->n;
  const int *place = factor->linear->place;
  if (n == 0) return;
  if (factor->linear->condense != NULL) {
    const yoke_condense *condense = factor->linear->condense;
    const int            m        = yoke_condense_n(condense);
    double              *left     = factor->is_complex ? im : NULL;
    yoke_condense_right(condense, factor->values, re, left);
    yoke_factor_solve(factor->inner, re + m, left != NULL ? left + m : NULL, work);
    yoke_condense_expand(condense, factor->values, re, left);
    return;
  }
  if (factor->linear->is_tridiagonal) {
    yoke_tridiagonal_solve(n, factor->values, factor->pivot, re, factor->is_complex ? im : NULL);
    return;
  }
  if (!factor->is_complex && place == NULL) {
    solve_packed(factor, re, work);
    return;
  }
  double   *x     = work;
  const int parts = factor->is_complex ? 2 : 1;
  for (int i = 0; i < n; ++i) {
    const int at = parts * (place != NULL ? place[i] : i);
    x[at]        = re[i];
    if (parts == 2) x[at + 1] = im[i];
  }
  solve_packed(factor, x, work + 2 * (size_t)n);
  for (int i = 0; i < n; ++i) {
    const int at = parts * (place != NULL ? place[i] : i);
    re[i]        = x[at];
    if (parts == 2) im[i] = x[at + 1];
  }
}

/* ---- bytes ---- */

/* What must be equal for a factor of one linear solver to be one of another. */
static uint64_t fingerprint(const yoke_linear *linear) {
  const yoke_pattern *p      = linear->pattern;
  const size_t        n      = (size_t)linear->n;
  const int           head[] = {(int)linear->kind, linear->n,     p->nnz,
                                linear->lower,     linear->upper, (int)value_count(linear, false)};
  uint64_t            sum    = yoke_checksum(YOKE_CHECKSUM_START, head, sizeof head);
  sum                        = yoke_checksum(sum, p->col_start, (n + 1) * sizeof(int));
  sum                        = yoke_checksum(sum, p->row, (size_t)p->nnz * sizeof(int));
  if (linear->place != NULL) sum = yoke_checksum(sum, linear->place, n * sizeof(int));
  if (linear->inner != NULL) {
    const uint64_t inner = fingerprint(linear->inner);
    return yoke_checksum(sum, &inner, sizeof inner);
  }
  if (linear->symbolic == NULL) return sum;
  sum = yoke_checksum(sum, linear->symbolic->P, n * sizeof(int));
  sum = yoke_checksum(sum, linear->symbolic->Q, n * sizeof(int));
  return yoke_checksum(sum, linear->symbolic->R, ((size_t)linear->symbolic->nblocks + 1) * sizeof(int));
}

const yoke_linear *yoke_factor_linear(const yoke_factor *factor) {
  return factor->linear;
}

bool yoke_factor_is_complex(const yoke_factor *factor) {
  return factor->is_complex;
}

void yoke_factor_pack(const yoke_factor *factor, yoke_pack *pack) {
  const yoke_linear *linear = factor->linear;
  yoke_pack_tag(pack, "factor");
  yoke_pack_bool(pack, factor->is_complex);
  yoke_pack_int64(pack, (int64_t)fingerprint(linear));
  yoke_pack_bool(pack, factor->is_blocks);
  if (linear->n == 0) return;
  if (linear->condense != NULL) {
    yoke_pack_doubles(pack, yoke_condense_n_kept(linear->condense, factor->is_complex), factor->values);
    yoke_factor_pack(factor->inner, pack);
  } else if (is_by_klu(factor)) {
    yoke_pack_double(pack, factor->growth);
    yoke_numeric_pack(linear->symbolic, factor->numeric, entry_size(factor), pack);
  } else {
    yoke_pack_int32s(pack, (size_t)linear->n, factor->pivot);
    yoke_pack_doubles(pack, value_count(linear, factor->is_complex), factor->values);
  }
}

/* The content of a factor that only the caller holds. */
static yoke_status factor_read(yoke_factor *factor, yoke_unpack *in, yoke_context *ctx) {
  const yoke_linear *linear = factor->linear;
  if (linear->condense != NULL) {
    yoke_unpack_doubles(in, yoke_condense_n_kept(linear->condense, factor->is_complex), factor->values);
    return yoke_factor_unpack(linear->inner, in, ctx, &factor->inner);
  }
  if (is_by_klu(factor)) {
    factor->growth  = yoke_unpack_double(in);
    factor->numeric = yoke_numeric_unpack(linear->symbolic, entry_size(factor), &linear->common, in);
    return factor->numeric != NULL || in->failure != NULL ? YOKE_OK : YOKE_E_MEMORY;
  }
  yoke_unpack_int32s(in, (size_t)linear->n, factor->pivot);
  yoke_unpack_doubles(in, value_count(linear, factor->is_complex), factor->values);
  if (factor->is_blocks) {
    if (!yoke_block_lu_fits(linear->blocks, factor->pivot)) yoke_unpack_refuse(in, "a pivot is not a row");
    return YOKE_OK;
  }
  for (int i = 0; i < linear->n; ++i) {
    if (factor->pivot[i] < 1 || factor->pivot[i] > linear->n) yoke_unpack_refuse(in, "a pivot is not a row");
  }
  return YOKE_OK;
}

yoke_status yoke_factor_unpack(const yoke_linear *linear, yoke_unpack *in, yoke_context *ctx, yoke_factor **out) {
  *out = NULL;
  yoke_unpack_tag(in, "factor");
  const bool    is_complex = yoke_unpack_bool(in);
  const int64_t print      = yoke_unpack_int64(in);
  const bool    is_blocks  = yoke_unpack_bool(in);
  YOKE_TRY(yoke_unpack_check(in, ctx));
  if (print != (int64_t)fingerprint(linear) || (is_blocks && (is_complex || linear->blocks == NULL))) {
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "packed state: its matrix is not that of this model (%d rows, %d entries); unpack it with the model "
        "and the linear solver that it was packed with",
        linear->n, linear->pattern->nnz);
  }
  yoke_factor *factor = factor_take(linear, is_complex);
  if (factor == NULL) return yoke_out_of_memory(ctx, "the factors of a packed state (%d rows)", linear->n);
  factor_forget(factor);
  factor->is_blocks  = is_blocks;
  yoke_status status = linear->n > 0 ? factor_read(factor, in, ctx) : YOKE_OK;
  if (status == YOKE_E_MEMORY) status = yoke_out_of_memory(ctx, "the factors of a packed state (%d rows)", linear->n);
  if (status == YOKE_OK) status = yoke_unpack_check(in, ctx);
  if (status != YOKE_OK) {
    yoke_factor_release(&factor);
    return status;
  }
  *out = factor;
  return YOKE_OK;
}
