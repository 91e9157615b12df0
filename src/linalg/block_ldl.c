/* Right-looking block factorisation A = L D L^T, L unit lower triangular, D diagonal.
 *
 * Column k (in elimination order) holds its diagonal block and the blocks below it. Step k:
 *   1. A_kk = L_kk D_k L_kk^T; the diagonal block then holds L_kk below and 1/D_k on its diagonal,
 *   2. X_r = A_rk L_kk^-T, L_rk = X_r D_k^-1 for every block r of the column,
 *   3. A_rs -= L_rk X_s^T for every pair r >= s of the column; the offsets of A_rs are in `target`. */
#include "linalg/block_ldl.h"

#include "linalg/columns.h"
#include "base/assert.h"
#include "base/memory.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/amd.h>

struct yoke_block_ldl {
  yoke_arena arena;
  int        n;
  int        n_edges;
  int        n_rows;
  int       *size;     /* [n] by node */
  int       *start;    /* [n] first row of a node */
  int       *order;    /* [n] order[k] is the node eliminated k-th */
  int       *place;    /* [n] inverse of order */
  size_t    *diagonal; /* [n] by elimination position */
  int       *column;   /* [n + 1] into below / below_at */
  int       *below;    /* elimination positions of the blocks of a column, increasing */
  size_t    *below_at; /* their offsets */
  size_t    *target;   /* offsets of updated blocks, in the order of step 3 */
  size_t    *edge_at;  /* [n_edges] */
  int       *edge_row; /* [n_edges] node of the rows */
  size_t     n_blocks; /* doubles in blocks */
  size_t     n_values;
  int        first[4];        /* columns of part 0, of part 1, and between, and their end */
  size_t     first_block[4];  /* where their blocks begin */
  size_t     first_target[3]; /* and their updates */
  size_t     original;        /* in values: diagonal entries before any update */
  size_t     scratch[2];      /* X of a part */
  size_t     copy[2];         /* what a part takes from the blocks between */
  size_t     sums[2];         /* [n_rows] and from right-hand sides */
};

void yoke_block_ldl_destroy(yoke_block_ldl **ldl) {
  if (ldl == NULL || *ldl == NULL) return;
  yoke_arena_free(&(*ldl)->arena);
  free(*ldl);
  *ldl = NULL;
}

/* Compressed neighbours of every node, both directions, repetitions kept (amd_order removes them). */
static yoke_status adjacency(yoke_arena *scratch, int n, int n_edges, const int *a, const int *b, int **start_out,
                             int **list_out) {
  int *start = *start_out = yoke_arena_take(scratch, (size_t)n + 2, sizeof *start);
  int *list = *list_out = yoke_arena_take(scratch, 2 * (size_t)n_edges + 1, sizeof *list);
  if (scratch->has_failed) return YOKE_E_MEMORY;
  for (int e = 0; e < n_edges; ++e) {
    ++start[a[e] + 2];
    ++start[b[e] + 2];
  }
  for (int i = 0; i < n; ++i) start[i + 2] += start[i + 1];
  for (int e = 0; e < n_edges; ++e) {
    list[start[a[e] + 1]++] = b[e];
    list[start[b[e] + 1]++] = a[e];
  }
  return YOKE_OK;
}

static int compare_int(const void *x, const void *y) {
  const int a = *(const int *)x, b = *(const int *)y;
  return (a > b) - (a < b);
}

/* Structure of every column: later neighbours and the structures of its children in the elimination tree. `below` is a list
 * that grows, with room for `capacity` entries. */
static yoke_status symbolic(yoke_block_ldl *f, yoke_arena *scratch, const int *adj_start, const int *adj, int **below,
                            size_t *capacity) {
  const int n       = f->n;
  int      *mark    = yoke_arena_take(scratch, (size_t)n + 1, sizeof *mark);
  int      *child   = yoke_arena_take(scratch, (size_t)n + 1, sizeof *child);   /* first child */
  int      *sibling = yoke_arena_take(scratch, (size_t)n + 1, sizeof *sibling); /* next child of the same parent */
  f->column         = yoke_arena_take(&f->arena, (size_t)n + 1, sizeof *f->column);
  if (scratch->has_failed || f->arena.has_failed) return YOKE_E_MEMORY;
  for (int k = 0; k < n; ++k) mark[k] = child[k] = sibling[k] = -1;
  for (int k = 0; k < n; ++k) {
    const int    first  = f->column[k];
    const size_t needed = (size_t)first + (size_t)(n - k); /* room for a full column */
    int          n_here = 0;
    if (needed > INT_MAX || !yoke_grow(below, capacity, needed, sizeof **below)) return YOKE_E_MEMORY;
    int *here = *below + first;
    mark[k]   = k;
    for (int i = adj_start[f->order[k]]; i < adj_start[f->order[k] + 1]; ++i) {
      const int r = f->place[adj[i]];
      if (r > k && mark[r] != k) {
        mark[r]        = k;
        here[n_here++] = r;
      }
    }
    for (int c = child[k]; c >= 0; c = sibling[c]) {
      for (int i = f->column[c]; i < f->column[c + 1]; ++i) {
        const int r = (*below)[i];
        if (r > k && mark[r] != k) {
          mark[r]        = k;
          here[n_here++] = r;
        }
      }
    }
    qsort(here, (size_t)n_here, sizeof *here, compare_int);
    f->column[k + 1] = first + n_here;
    if (n_here > 0) {
      sibling[k]     = child[here[0]];
      child[here[0]] = k;
    }
  }
  return YOKE_OK;
}

/* Offset of the block (row r, column c), r > c in elimination positions. */
static size_t find_block(const yoke_block_ldl *f, int r, int c) {
  int low = f->column[c], high = f->column[c + 1] - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (f->below[middle] < r) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return f->below_at[low];
}

/* Behind `at`, so far that caches never move both at once: two threads write here and there all the time. */
static size_t apart(size_t at) {
  return (at + 15) / 16 * 16 + 32;
}

/* What is behind the blocks, and what parts have beside that. */
static void lay_out_scratch(yoke_block_ldl *f, size_t tallest) {
  for (int i = 0; i < 4; ++i) f->first_block[i] = f->first[i] < f->n ? f->diagonal[f->first[i]] : f->n_blocks;
  f->scratch[0] = f->n_blocks;
  f->original   = f->scratch[0] + tallest;
  f->n_values   = f->original + (size_t)f->n_rows;
  if (f->first[2] == 0) return; /* no parts */
  const size_t between = f->first_block[3] - f->first_block[2];
  f->copy[0]           = f->n_values;
  f->sums[0]           = f->copy[0] + between;
  f->scratch[1]        = apart(f->sums[0] + (size_t)f->n_rows);
  f->copy[1]           = f->scratch[1] + tallest;
  f->sums[1]           = f->copy[1] + between;
  f->n_values          = f->sums[1] + (size_t)f->n_rows;
}

/* Offsets of blocks column by column, then the targets of all updates. */
static yoke_status layout(yoke_block_ldl *f, const int *a, const int *b) {
  const int n = f->n;
  f->diagonal = yoke_arena_take(&f->arena, (size_t)n + 1, sizeof *f->diagonal);
  f->below_at = yoke_arena_take(&f->arena, (size_t)f->column[n] + 1, sizeof *f->below_at);
  f->edge_at  = yoke_arena_take(&f->arena, (size_t)f->n_edges + 1, sizeof *f->edge_at);
  f->edge_row = yoke_arena_take(&f->arena, (size_t)f->n_edges + 1, sizeof *f->edge_row);
  if (f->arena.has_failed) return YOKE_E_MEMORY;
  size_t at = 0, n_targets = 0, tallest = 0;
  for (int k = 0; k < n; ++k) {
    const size_t m = (size_t)f->size[f->order[k]];
    f->diagonal[k] = at;
    at += m * m;
    const size_t first = at;
    for (int i = f->column[k]; i < f->column[k + 1]; ++i) {
      f->below_at[i] = at;
      at += m * (size_t)f->size[f->order[f->below[i]]];
    }
    if (at - first > tallest) tallest = at - first;
    const size_t height = (size_t)(f->column[k + 1] - f->column[k]);
    n_targets += height * (height + 1) / 2;
  }
  f->n_blocks = at;
  lay_out_scratch(f, tallest);
  f->target = yoke_arena_take(&f->arena, n_targets + 1, sizeof *f->target);
  if (f->arena.has_failed) return YOKE_E_MEMORY;
  size_t u = 0;
  for (int k = 0; k < n; ++k) {
    for (int p = 0; p < 3; ++p) {
      if (k == f->first[p]) f->first_target[p] = u;
    }
    for (int i = f->column[k]; i < f->column[k + 1]; ++i) {
      for (int j = f->column[k]; j < i; ++j) f->target[u++] = find_block(f, f->below[i], f->below[j]);
      f->target[u++] = f->diagonal[f->below[i]];
    }
  }
  for (int e = 0; e < f->n_edges; ++e) {
    const int ra = f->place[a[e]], rb = f->place[b[e]];
    f->edge_at[e]  = ra > rb ? find_block(f, ra, rb) : find_block(f, rb, ra);
    f->edge_row[e] = ra > rb ? a[e] : b[e];
  }
  return YOKE_OK;
}

/* Part 0, part 1, then what is between, each in the order that was found. */
static yoke_status sort_parts(yoke_block_ldl *f, yoke_arena *scratch, const int *part) {
  int *found = yoke_arena_copy(scratch, f->order, (size_t)f->n, sizeof *found), n = 0;
  if (scratch->has_failed) return YOKE_E_MEMORY;
  for (int p = 0; p <= YOKE_BLOCK_BETWEEN; ++p) {
    f->first[p] = n;
    for (int k = 0; k < f->n; ++k) {
      if (part[found[k]] == p) f->order[n++] = found[k];
    }
  }
  return YOKE_OK;
}

/* Nodes of least degree first. */
static yoke_status find_order(int n, const int *start, const int *list, int *found) {
  double control[AMD_CONTROL], info[AMD_INFO];
  if (n == 0) return YOKE_OK;
  amd_defaults(control);
  const int result = amd_order(n, start, list, found, control, info);
  return result == AMD_OK || result == AMD_OK_BUT_JUMBLED ? YOKE_OK : YOKE_E_MEMORY;
}

/* The same where what is between comes last: it is tied to nodes that all know each other, so that its degree is large; else the order of
 * the others would count on its going early. Into f->order. */
static yoke_status find_order_of_parts(yoke_block_ldl *f, yoke_arena *scratch, const int *part, const int *a,
                                       const int *b) {
  enum { WEIGHTS = 24 };
  const int n         = f->n;
  int       n_between = 0, e = f->n_edges, *start = NULL, *list = NULL;
  for (int i = 0; i < n; ++i) n_between += part[i] == YOKE_BLOCK_BETWEEN;
  const size_t room  = (size_t)e + (size_t)(WEIGHTS * (WEIGHTS + n_between));
  int         *from  = yoke_arena_take(scratch, room, sizeof *from);
  int         *to    = yoke_arena_take(scratch, room, sizeof *to);
  int         *found = yoke_arena_take(scratch, (size_t)n + WEIGHTS, sizeof *found);
  if (scratch->has_failed) return YOKE_E_MEMORY;
  for (int i = 0; i < e; ++i) from[i] = a[i], to[i] = b[i];
  for (int i = 0; i < n + WEIGHTS; ++i) {
    if (i < n && part[i] != YOKE_BLOCK_BETWEEN) continue;
    for (int k = i < n ? n : i + 1; k < n + WEIGHTS; ++k, ++e) from[e] = i, to[e] = k;
  }
  YOKE_TRY(adjacency(scratch, n + WEIGHTS, e, from, to, &start, &list));
  YOKE_TRY(find_order(n + WEIGHTS, start, list, found));
  e = 0;
  for (int i = 0; i < n + WEIGHTS; ++i) {
    if (found[i] < n) f->order[e++] = found[i];
  }
  return sort_parts(f, scratch, part);
}

static yoke_status order(yoke_block_ldl *f, yoke_arena *scratch, const int *part, const int *a, const int *b,
                         int **below) {
  const int n     = f->n;
  int      *start = NULL, *list = NULL;
  f->first[3] = n;
  YOKE_TRY(adjacency(scratch, n, f->n_edges, a, b, &start, &list));
  YOKE_TRY(part == NULL ? find_order(n, start, list, f->order) : find_order_of_parts(f, scratch, part, a, b));
  for (int k = 0; k < n; ++k) f->place[f->order[k]] = k;
  size_t capacity = 0;
  if (!yoke_grow(below, &capacity, 4 * (size_t)n + (size_t)start[n] + 16, sizeof **below)) return YOKE_E_MEMORY;
  YOKE_TRY(symbolic(f, scratch, start, list, below, &capacity));
  f->below = yoke_arena_copy(&f->arena, *below, (size_t)f->column[n], sizeof *f->below);
  return f->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
}

static yoke_status build(yoke_block_ldl *f, const int *size, const int *part, const int *a, const int *b) {
  const size_t n       = (size_t)f->n;
  yoke_arena   scratch = {0};
  int         *below   = NULL;
  f->size              = yoke_arena_copy(&f->arena, size, n, sizeof *f->size);
  f->start             = yoke_arena_take(&f->arena, n + 1, sizeof *f->start);
  f->order             = yoke_arena_take(&f->arena, n + 1, sizeof *f->order);
  f->place             = yoke_arena_take(&f->arena, n + 1, sizeof *f->place);
  if (f->arena.has_failed) return YOKE_E_MEMORY;
  for (size_t i = 0; i < n; ++i) f->start[i + 1] = f->start[i] + size[i];
  f->n_rows          = f->start[n];
  yoke_status status = order(f, &scratch, part, a, b, &below);
  free(below);
  yoke_arena_free(&scratch);
  return status == YOKE_OK ? layout(f, a, b) : status;
}

yoke_status yoke_block_ldl_create(yoke_context *ctx, int n_nodes, const int *size, int n_edges, const int *a,
                                  const int *b, yoke_block_ldl **out) {
  return yoke_block_ldl_create_in_parts(ctx, n_nodes, size, NULL, n_edges, a, b, out);
}

yoke_status yoke_block_ldl_create_in_parts(yoke_context *ctx, int n_nodes, const int *size, const int *part,
                                           int n_edges, const int *a, const int *b, yoke_block_ldl **out) {
  *out = NULL;
  for (int i = 0; i < n_nodes; ++i) YOKE_ASSERT(size[i] >= 1 && size[i] <= YOKE_BLOCK_MAX);
  if (n_edges > INT_MAX / 4) return yoke_fail(ctx, YOKE_E_MEMORY, "%d joints that share bodies are too many", n_edges);
  yoke_block_ldl *f = yoke_allocate(1, sizeof *f);
  if (f == NULL) return yoke_out_of_memory(ctx, "the order of %d blocks", n_nodes);
  f->arena   = yoke_arena_of(ctx);
  f->n       = n_nodes;
  f->n_edges = n_edges;
  if (build(f, size, part, a, b) != YOKE_OK) {
    yoke_block_ldl_destroy(&f);
    return yoke_out_of_memory(ctx, "the factors of %d blocks", n_nodes);
  }
  *out = f;
  return YOKE_OK;
}

size_t yoke_block_ldl_n_values(const yoke_block_ldl *ldl) {
  return ldl->n_values;
}

size_t yoke_block_ldl_n_blocks(const yoke_block_ldl *ldl) {
  return ldl->n_blocks;
}

size_t yoke_block_ldl_diagonal(const yoke_block_ldl *ldl, int node) {
  return ldl->diagonal[ldl->place[node]];
}

size_t yoke_block_ldl_edge(const yoke_block_ldl *ldl, int edge, int *row_node) {
  *row_node = ldl->edge_row[edge];
  return ldl->edge_at[edge];
}

/* Step 1. `original` are the diagonal entries before any update. */
static YOKE_ALWAYS_INLINE bool factor_diagonal(int m, double *A, const double *original, double smallest) {
  for (int j = 0; j < m; ++j) {
    double       *row       = A + j * m;
    const double *pivot_row = A;
    double        d         = row[j];
    /* Row j holds A_ji (i < j): turn it into X_ji = A_ji - sum X_jk L_ik, then L_ji = X_ji / D_i. */
    for (int i = 0; i < j; ++i) {
      double x  = row[i];
      pivot_row = A + i * m;
      for (int k = 0; k < i; ++k) x -= row[k] * pivot_row[k];
      row[i] = x;
    }
    for (int i = 0; i < j; ++i) {
      const double x = row[i];
      row[i]         = x * A[i * m + i];
      d -= x * row[i];
    }
    if (!(d > smallest * original[j])) return false;
    row[j] = 1.0 / d;
  }
  return true;
}

/* Step 2 for one block of `n` rows: B becomes L_rk, X receives X_r^T [m, n] (transposed: the inner loops run over independent
 * numbers). */
static YOKE_ALWAYS_INLINE void solve_block(int m, int n, const double *A, double *restrict B, double *restrict X) {
  for (int j = 0; j < m; ++j) {
    for (int r = 0; r < n; ++r) X[j * n + r] = B[r * m + j];
    for (int i = 0; i < j; ++i) {
      const double a = A[j * m + i];
      for (int r = 0; r < n; ++r) X[j * n + r] -= a * X[i * n + r];
    }
  }
  for (int j = 0; j < m; ++j) {
    const double d = A[j * m + j];
    for (int r = 0; r < n; ++r) B[r * m + j] = X[j * n + r] * d;
  }
}

/* Step 3 for one pair: C [nr, ns] -= L [nr, m] X, X [m, ns]. */
static YOKE_ALWAYS_INLINE void update_block(int m, int nr, int ns, double *restrict C, const double *restrict L,
                                            const double *restrict X) {
  for (int r = 0; r < nr; ++r) {
    double sum[YOKE_BLOCK_MAX];
    for (int s = 0; s < ns; ++s) sum[s] = C[r * ns + s];
    for (int i = 0; i < m; ++i) {
      const double l = L[r * m + i];
      for (int s = 0; s < ns; ++s) sum[s] -= l * X[i * ns + s];
    }
    for (int s = 0; s < ns; ++s) C[r * ns + s] = sum[s];
  }
}

/* Where a column writes: scratch, and blocks from `between` on are found `away` from there. */
typedef struct ldl_run {
  double       *X;
  const size_t *target;
  size_t        between, away;
} ldl_run;

static YOKE_ALWAYS_INLINE double *updated(ldl_run *run, double *values) {
  const size_t at = *run->target++;
  return values + (at >= run->between ? at + run->away : at);
}

static YOKE_ALWAYS_INLINE bool eliminate(const yoke_block_ldl *f, int k, int m, double *values, const double *original,
                                         double smallest, ldl_run *run) {
  double *X = run->X;
  double *A = values + f->diagonal[k];
  if (!factor_diagonal(m, A, original + f->start[f->order[k]], smallest)) return false;
  double *x = X;
  for (int i = f->column[k]; i < f->column[k + 1]; ++i) {
    const int n  = f->size[f->order[f->below[i]]];
    double   *L  = values + f->below_at[i];
    double   *xs = X;
    if (n == m) { /* a mechanism of equal joints: constant sizes let the compiler unroll */
      solve_block(m, m, A, L, x);
    } else {
      solve_block(m, n, A, L, x);
    }
    for (int j = f->column[k]; j <= i; ++j) {
      const int ns = f->size[f->order[f->below[j]]];
      if (n == m && ns == m) {
        update_block(m, m, m, updated(run, values), L, xs);
      } else {
        update_block(m, n, ns, updated(run, values), L, xs);
      }
      xs += ns * m;
    }
    x += n * m;
  }
  return true;
}

/* Diagonal entries of columns [first, last) before any update. */
static void keep_original(const yoke_block_ldl *f, int first, int last, double *values) {
  double *original = values + f->original;
  for (int k = first; k < last; ++k) {
    const int     m = f->size[f->order[k]];
    const double *A = values + f->diagonal[k];
    for (int i = 0; i < m; ++i) original[f->start[f->order[k]] + i] = A[i * m + i];
  }
}

static YOKE_ALWAYS_INLINE yoke_status factor_columns(const yoke_block_ldl *f, int first, int last, double *values,
                                                     double smallest, ldl_run run) {
  const double *original = values + f->original;
  bool          fine     = true;
  for (int k = first; fine && k < last; ++k) {
    switch (f->size[f->order[k]]) {
    case 1: fine = eliminate(f, k, 1, values, original, smallest, &run); break;
    case 2: fine = eliminate(f, k, 2, values, original, smallest, &run); break;
    case 3: fine = eliminate(f, k, 3, values, original, smallest, &run); break;
    case 5: fine = eliminate(f, k, 5, values, original, smallest, &run); break;
    default: fine = eliminate(f, k, f->size[f->order[k]], values, original, smallest, &run); break;
    }
  }
  return fine ? YOKE_OK : YOKE_SINGULAR;
}

YOKE_SIMD yoke_status yoke_block_ldl_factor(const yoke_block_ldl *f, double *values, double smallest) {
  const ldl_run run = {.X = values + f->scratch[0], .target = f->target, .between = f->n_blocks};
  keep_original(f, 0, f->n, values);
  return factor_columns(f, 0, f->n, values, smallest, run);
}

/* z [n] -= L [n, m] y [m] */
static YOKE_ALWAYS_INLINE void subtract_product(int n, int m, const double *L, const double *y, double *restrict z) {
  for (int r = 0; r < n; ++r) {
    double sum = 0.0;
    for (int j = 0; j < m; ++j) sum += L[r * m + j] * y[j];
    z[r] -= sum;
  }
}

/* y [m] -= L [n, m]^T z [n] */
static YOKE_ALWAYS_INLINE void subtract_transposed(int n, int m, const double *L, const double *z, double *restrict y) {
  for (int r = 0; r < n; ++r) {
    for (int j = 0; j < m; ++j) y[j] -= L[r * m + j] * z[r];
  }
}

/* L y = b, column k; what it takes from columns from `between` on, it takes from z. */
static YOKE_ALWAYS_INLINE void forward(const yoke_block_ldl *f, int k, int m, const double *values, double *x,
                                       int between, double *z) {
  const double *A = values + f->diagonal[k];
  double       *y = x + f->start[f->order[k]];
  for (int j = 1; j < m; ++j) {
    for (int i = 0; i < j; ++i) y[j] -= A[j * m + i] * y[i];
  }
  for (int i = f->column[k]; i < f->column[k + 1]; ++i) {
    const int     node = f->order[f->below[i]], n = f->size[node];
    const double *L  = values + f->below_at[i];
    double       *to = (f->below[i] < between ? x : z) + f->start[node];
    if (n == m) {
      subtract_product(m, m, L, y, to);
    } else {
      subtract_product(n, m, L, y, to);
    }
  }
}

/* L^T x = D^-1 y, column k */
static YOKE_ALWAYS_INLINE void backward(const yoke_block_ldl *f, int k, int m, const double *values, double *x) {
  const double *A = values + f->diagonal[k];
  double       *y = x + f->start[f->order[k]];
  for (int j = 0; j < m; ++j) y[j] *= A[j * m + j];
  for (int i = f->column[k]; i < f->column[k + 1]; ++i) {
    const int     node = f->order[f->below[i]], n = f->size[node];
    const double *L = values + f->below_at[i];
    if (n == m) {
      subtract_transposed(m, m, L, x + f->start[node], y);
    } else {
      subtract_transposed(n, m, L, x + f->start[node], y);
    }
  }
  for (int j = m - 1; j > 0; --j) {
    for (int i = 0; i < j; ++i) y[i] -= A[j * m + i] * y[j];
  }
}

static YOKE_ALWAYS_INLINE void forward_columns(const yoke_block_ldl *f, int first, int last, const double *values,
                                               double *x, int between, double *z) {
  for (int k = first; k < last; ++k) {
    switch (f->size[f->order[k]]) {
    case 2: forward(f, k, 2, values, x, between, z); break;
    case 3: forward(f, k, 3, values, x, between, z); break;
    case 5: forward(f, k, 5, values, x, between, z); break;
    default: forward(f, k, f->size[f->order[k]], values, x, between, z); break;
    }
  }
}

static YOKE_ALWAYS_INLINE void backward_columns(const yoke_block_ldl *f, int first, int last, const double *values,
                                                double *x) {
  for (int k = last - 1; k >= first; --k) {
    switch (f->size[f->order[k]]) {
    case 2: backward(f, k, 2, values, x); break;
    case 3: backward(f, k, 3, values, x); break;
    case 5: backward(f, k, 5, values, x); break;
    default: backward(f, k, f->size[f->order[k]], values, x); break;
    }
  }
}

YOKE_SIMD void yoke_block_ldl_solve(const yoke_block_ldl *f, const double *values, double *x) {
  forward_columns(f, 0, f->n, values, x, f->n, x);
  backward_columns(f, 0, f->n, values, x);
}

/* ---- in parts ---- */

void yoke_block_ldl_clear_part(const yoke_block_ldl *f, double *values, int part) {
  memset(values + f->first_block[part], 0, (f->first_block[part + 1] - f->first_block[part]) * sizeof *values);
}

YOKE_SIMD yoke_status yoke_block_ldl_factor_part(const yoke_block_ldl *f, double *values, double smallest, int part) {
  const ldl_run run = {.X       = values + f->scratch[part],
                       .target  = f->target + f->first_target[part],
                       .between = f->first_block[2],
                       .away    = f->copy[part] - f->first_block[2]};
  memset(values + f->copy[part], 0, (f->first_block[3] - f->first_block[2]) * sizeof *values);
  keep_original(f, f->first[part], f->first[part + 1], values);
  return factor_columns(f, f->first[part], f->first[part + 1], values, smallest, run);
}

YOKE_SIMD yoke_status yoke_block_ldl_factor_between(const yoke_block_ldl *f, double *values, double smallest) {
  const ldl_run run = {.X = values + f->scratch[0], .target = f->target + f->first_target[2], .between = f->n_blocks};
  double       *A   = values + f->first_block[2];
  const size_t  n   = f->first_block[3] - f->first_block[2];
  const double *a = values + f->copy[0], *b = values + f->copy[1];
  keep_original(f, f->first[2], f->n, values);
  for (size_t i = 0; i < n; ++i) A[i] += a[i] + b[i];
  return factor_columns(f, f->first[2], f->n, values, smallest, run);
}

/* Sums of a part for rows between. */
static void clear_sums(const yoke_block_ldl *f, double *z) {
  for (int k = f->first[2]; k < f->n; ++k) {
    const int node = f->order[k];
    memset(z + f->start[node], 0, (size_t)f->size[node] * sizeof *z);
  }
}

YOKE_SIMD void yoke_block_ldl_forward_part(const yoke_block_ldl *f, double *values, double *x, int part) {
  double *z = values + f->sums[part];
  clear_sums(f, z);
  forward_columns(f, f->first[part], f->first[part + 1], values, x, f->first[2], z);
}

YOKE_SIMD void yoke_block_ldl_solve_between(const yoke_block_ldl *f, double *values, double *x) {
  for (int k = f->first[2]; k < f->n; ++k) {
    const int node = f->order[k];
    for (int i = f->start[node]; i < f->start[node] + f->size[node]; ++i)
      x[i] += values[f->sums[0] + (size_t)i] + values[f->sums[1] + (size_t)i];
  }
  forward_columns(f, f->first[2], f->n, values, x, f->n, x);
  backward_columns(f, f->first[2], f->n, values, x);
}

YOKE_SIMD void yoke_block_ldl_backward_part(const yoke_block_ldl *f, const double *values, double *x, int part) {
  backward_columns(f, f->first[part], f->first[part + 1], values, x);
}

/* ---- many right-hand sides ---- */

/* y [n] -= sum over i < m of a[i stride] x[i, n]: exact negatives, since a product has no other rounding with the other sign. */
static YOKE_ALWAYS_INLINE void subtract_rows(int m, const double *a, int stride, int n, const double *x,
                                             double *restrict y) {
  double minus[YOKE_BLOCK_MAX] = {0.0};
  for (int i = 0; i < m; ++i) minus[i] = -a[i * stride];
  yoke_columns_add(m, minus, n, x, y);
}

static YOKE_ALWAYS_INLINE void forward_many(const yoke_block_ldl *f, int k, const double *values, int n, double *x) {
  const ptrdiff_t row = n;
  const int       m   = f->size[f->order[k]];
  const double   *A   = values + f->diagonal[k];
  double         *y   = x + f->start[f->order[k]] * row;
  for (int j = 1; j < m; ++j) subtract_rows(j, A + j * m, 1, n, y, y + j * row);
  for (int i = f->column[k]; i < f->column[k + 1]; ++i) {
    const int node = f->order[f->below[i]];
    double   *z    = x + f->start[node] * row;
    for (int r = 0; r < f->size[node]; ++r) subtract_rows(m, values + f->below_at[i] + r * m, 1, n, y, z + r * row);
  }
}

static YOKE_ALWAYS_INLINE void backward_many(const yoke_block_ldl *f, int k, const double *values, int n, double *x) {
  const ptrdiff_t row = n;
  const int       m   = f->size[f->order[k]];
  const double   *A   = values + f->diagonal[k];
  double         *y   = x + f->start[f->order[k]] * row;
  for (int j = 0; j < m; ++j) {
    const double d = A[j * m + j];
    for (int c = 0; c < n; ++c) y[j * row + c] *= d;
  }
  for (int i = f->column[k]; i < f->column[k + 1]; ++i) {
    const int node = f->order[f->below[i]];
    for (int j = 0; j < m; ++j) {
      subtract_rows(f->size[node], values + f->below_at[i] + j, m, n, x + f->start[node] * row, y + j * row);
    }
  }
  for (int j = m - 2; j >= 0; --j) subtract_rows(m - 1 - j, A + (j + 1) * m + j, m, n, y + (j + 1) * row, y + j * row);
}

YOKE_SIMD void yoke_block_ldl_solve_many(const yoke_block_ldl *f, const double *values, int n, double *x) {
  for (int k = 0; k < f->n; ++k) forward_many(f, k, values, n, x);
  for (int k = f->n - 1; k >= 0; --k) backward_many(f, k, values, n, x);
}
