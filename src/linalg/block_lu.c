/* Right-looking block factorisation P S A = L U, S scales rows, P exchanges rows within a block.
 *
 * The panel of column k (in elimination order), m rows and h rows of blocks below it, holds
 *
 *     R [m, m + h]     rows of block k: its diagonal block, then what is right of it; becomes U_kk and U_kr, with 1/pivots on the diagonal, L_kk below
 *     C [m, h]         columns of block k in the rows below it, transposed: C[j][r] = A[r][j]; becomes L_rk
 *
 * so that all inner loops run along h. Step k:
 *   1. rows of R are eliminated with row exchanges among the m,
 *   2. C_j := (C_j - sum over i < j of R[i][j] C_i)/R[j][j],
 *   3. A_rs -= L_rk U_ks for every pair of blocks r, s below: into R or C of the panel of the earlier one of them.
 * A part keeps what it takes from the top in a dense matrix over its *rim*, the blocks of the top below its root: by the theory of elimination trees these are
 * all that it reaches. */
#include "linalg/block_lu.h"

#include "base/assert.h"
#include "base/simd.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/amd.h>

/* Multipliers beyond this lose more than half of the digits of a Newton correction's residual. */
static const double LARGEST_MULTIPLIER = 1e5;

enum { MOST_PARTS = YOKE_BLOCK_MOST_PARTS, WORKERS = 8 /* that parts are chosen for */ };

struct yoke_block_lu {
  yoke_arena          arena;
  const yoke_pattern *pattern;
  int                 n, n_rows, n_parts; /* n: blocks that have rows */
  int                *part_of;            /* [n_blocks] */
  int                *size, *row;         /* [n] by elimination position: rows, and the first of them in the pattern */
  int                *at;                 /* [n + 1] rows before it in elimination order */
  int                *column;             /* [n + 1] into below */
  int                *below;              /* positions of the blocks of a column, increasing */
  int                *below_at;           /* rows of the panel before it */
  int                *height;             /* [n] rows below */
  size_t             *panel;              /* [n] offset of R in values; C is behind it */
  size_t             *pairs;              /* [n] into landing */
  int *
      landing; /* of every pair i > j of blocks below: rows of the panel of block j before block i; -1: both are in the top */
  int    *first;        /* [n_parts + 2] columns of part p; of the top [n_parts] */
  int    *rim, *rim_at; /* blocks of the top that part p reaches, rim_first[p] ..., and rows before each of them */
  int    *rim_first, *rim_rows; /* [n_parts + 1], [n_parts] */
  int    *below_rim;  /* like below: rows of the rim before a block of the top that is below a column of a part */
  size_t *rim_values; /* [n_parts] offset of its matrix [rim_rows, rim_rows] */
  size_t *span;       /* [n_parts + 2] where values of part p begin */
  size_t  scale;      /* offset in values: by elimination order of rows; of part p from at[first[p]] on */
  /* entries of A by column of the factorisation, and by rows in elimination order */
  int    *entry_first, *entry, *entry_row; /* [n + 1], [nnz], [nnz] row in elimination order */
  size_t *entry_to;                        /* [nnz] offset in the panel */
  int    *row_first, *row_entry;           /* [n_rows + 1], [nnz] */
  double *work;                            /* [n_parts + 2] */
};

void yoke_block_lu_destroy(yoke_block_lu **lu) {
  if (lu == NULL || *lu == NULL) return;
  yoke_arena_free(&(*lu)->arena);
  free(*lu);
  *lu = NULL;
}

/* ---- order ---- */

/* Blocks that have rows, and who knows whom. */
typedef struct block_graph {
  int  n;
  int *number;       /* [n] of the caller's */
  int *size, *row;   /* [n] */
  int *start, *list; /* neighbours */
} block_graph;

/* Elimination of a graph in an order. */
typedef struct block_tree {
  int    *order, *place; /* [n] block of a position, and its inverse */
  int    *column, *below;
  size_t  capacity;
  int    *parent;     /* [n] position; -1: a root */
  double *work;       /* [n] of a position, */
  double *below_work; /* and of all in the subtree below it, itself included */
} block_tree;

static int compare_int(const void *x, const void *y) {
  const int a = *(const int *)x, b = *(const int *)y;
  return (a > b) - (a < b);
}

static yoke_status take_blocks(yoke_arena *scratch, const yoke_pattern *p, int n_blocks, const int *first_row,
                               block_graph *g) {
  const size_t n = (size_t)n_blocks;
  g->number      = yoke_arena_take(scratch, n + 1, sizeof(int));
  g->size        = yoke_arena_take(scratch, n + 1, sizeof(int));
  g->row         = yoke_arena_take(scratch, n + 1, sizeof(int));
  g->start       = yoke_arena_take(scratch, n + 2, sizeof(int));
  int *block     = yoke_arena_take(scratch, (size_t)p->n_rows + 1, sizeof *block); /* of a row */
  int *seen      = yoke_arena_take(scratch, n + 1, sizeof *seen);
  if (scratch->has_failed) return YOKE_E_MEMORY;
  for (int i = 0; i < n_blocks; ++i) {
    const int size = first_row[i + 1] - first_row[i];
    if (size == 0) continue;
    for (int r = first_row[i]; r < first_row[i + 1]; ++r) block[r] = g->n;
    g->number[g->n] = i;
    g->row[g->n]    = first_row[i];
    g->size[g->n++] = size;
  }
  for (int pass = 0; pass < 2; ++pass) { /* 0: count; 1: list, start[i + 1] is where the next neighbour of i goes */
    for (int i = 0; i < g->n; ++i) seen[i] = -1;
    for (int j = 0; j < g->n; ++j) {
      seen[j] = j;
      for (int k = p->col_start[g->row[j]]; k < p->col_start[g->row[j] + g->size[j]]; ++k) {
        const int i = block[p->row[k]];
        if (seen[i] == j) continue;
        seen[i] = j;
        if (pass == 0) {
          ++g->start[i + 2];
          ++g->start[j + 2];
        } else { /* both ways: an entry of the other triangle gives a repetition, which does no harm */
          g->list[g->start[i + 1]++] = j;
          g->list[g->start[j + 1]++] = i;
        }
      }
    }
    if (pass == 1) break;
    for (int i = 0; i < g->n; ++i) g->start[i + 2] += g->start[i + 1];
    g->list = yoke_arena_take(scratch, (size_t)g->start[g->n + 1] + 1, sizeof(int));
    if (g->list == NULL) return YOKE_E_MEMORY;
  }
  return YOKE_OK;
}

/* Nodes of least degree first; `last` (NULL: none) are tied to nodes that all know each other, so that their degree is large: they come last, and the order of the
 * others counts on that. */
static yoke_status find_order(yoke_arena *scratch, const block_graph *g, const uint8_t *last, int *order) {
  enum { WEIGHTS = 24 };
  const int    n = g->n, all = last != NULL ? n + WEIGHTS : n;
  const size_t more   = last != NULL ? (size_t)WEIGHTS * (size_t)(n + WEIGHTS) : 0;
  int         *start  = yoke_arena_take(scratch, (size_t)all + 1, sizeof *start);
  int         *list   = yoke_arena_take(scratch, (size_t)g->start[n] + 2 * more + 1, sizeof *list);
  int         *found  = yoke_arena_take(scratch, (size_t)all + 1, sizeof *found);
  int          n_list = 0, n_found = 0;
  if (scratch->has_failed) return YOKE_E_MEMORY;
  for (int i = 0; i < all; ++i) {
    start[i] = n_list;
    for (int k = i < n ? g->start[i] : 0; i < n && k < g->start[i + 1]; ++k) list[n_list++] = g->list[k];
    for (int k = n; k < all && (i >= n || last[i]); ++k) {
      if (k != i) list[n_list++] = k;
    }
    for (int k = 0; i >= n && k < n; ++k) {
      if (last[k]) list[n_list++] = k;
    }
  }
  start[all] = n_list;
  if (amd_order(all, start, list, found, NULL, NULL) < AMD_OK) return YOKE_E_MEMORY;
  for (int pass = 0; pass < 2; ++pass) {
    for (int k = 0; k < all; ++k) {
      const int i = found[k];
      if (i < n && (last != NULL && last[i]) == (pass == 1)) order[n_found++] = i;
    }
  }
  return YOKE_OK;
}

/* Structure of every column: later neighbours, and the structures of its children in the elimination tree. */
static yoke_status eliminate_graph(yoke_arena *scratch, const block_graph *g, block_tree *t) {
  const int    n    = g->n;
  const size_t size = (size_t)n + 1;
  int *mark = yoke_arena_take(scratch, size, sizeof *mark), *child = yoke_arena_take(scratch, size, sizeof *child);
  int *sibling  = yoke_arena_take(scratch, size, sizeof *sibling);
  t->column     = yoke_arena_take(scratch, size, sizeof *t->column);
  t->parent     = yoke_arena_take(scratch, size, sizeof *t->parent);
  t->work       = yoke_arena_take(scratch, size, sizeof *t->work);
  t->below_work = yoke_arena_take(scratch, size, sizeof *t->below_work);
  t->place      = yoke_arena_take(scratch, size, sizeof *t->place);
  if (scratch->has_failed) return YOKE_E_MEMORY;
  for (int k = 0; k < n; ++k) {
    t->place[t->order[k]] = k;
    mark[k] = child[k] = sibling[k] = -1;
  }
  for (int k = 0; k < n; ++k) {
    const int    at     = t->column[k];
    const size_t needed = (size_t)at + (size_t)(n - k); /* room for a full column */
    int          n_here = 0;
    double       h      = 0.0;
    if (needed > INT_MAX || !yoke_grow(&t->below, &t->capacity, needed, sizeof *t->below)) return YOKE_E_MEMORY;
    int *here = t->below + at;
    mark[k]   = k;
    for (int e = g->start[t->order[k]]; e < g->start[t->order[k] + 1]; ++e) {
      const int r = t->place[g->list[e]];
      if (r > k && mark[r] != k) mark[here[n_here++] = r] = k;
    }
    for (int c = child[k]; c >= 0; c = sibling[c]) {
      t->below_work[k] += t->below_work[c];
      for (int e = t->column[c]; e < t->column[c + 1]; ++e) {
        const int r = t->below[e];
        if (r > k && mark[r] != k) mark[here[n_here++] = r] = k;
      }
    }
    qsort(here, (size_t)n_here, sizeof *here, compare_int);
    t->column[k + 1] = at + n_here;
    for (int e = 0; e < n_here; ++e) h += g->size[t->order[here[e]]];
    const double m = g->size[t->order[k]];
    t->work[k]     = m * (m + h) * (m + h);
    t->below_work[k] += t->work[k];
    t->parent[k] = n_here > 0 ? here[0] : -1;
    if (n_here > 0) {
      sibling[k]     = child[here[0]];
      child[here[0]] = k;
    }
  }
  return YOKE_OK;
}

/* ---- parts ---- */

/* Subtrees that begin at some positions. */
typedef struct block_cut {
  int    n, root[MOST_PARTS];
  double top, longest; /* work of what is above them, and of the longest of them or of a worker's share */
} block_cut;

static void judge_cut(const block_tree *t, double all, block_cut *cut) {
  double parts = 0.0, longest = 0.0;
  for (int i = 0; i < cut->n; ++i) {
    parts += t->below_work[cut->root[i]];
    longest = fmax(longest, t->below_work[cut->root[i]]);
  }
  cut->top     = all - parts;
  cut->longest = fmax(longest, parts / WORKERS);
}

/* From the roots down: the root of the longest subtree goes to the top, and its children take its place; the best of what is met on the way is taken. */
static block_cut find_cut(const block_tree *t, int n) {
  block_cut cut = {0}, best;
  double    all = 0.0;
  for (int k = 0; k < n; ++k) {
    if (t->parent[k] >= 0) continue;
    all += t->below_work[k];
    if (cut.n < MOST_PARTS) cut.root[cut.n++] = k; /* the others are in the top */
  }
  judge_cut(t, all, &cut);
  best = cut;
  for (int step = 0; step < 4 * MOST_PARTS && cut.n > 0; ++step) {
    int longest = 0;
    for (int i = 1; i < cut.n; ++i) {
      if (t->below_work[cut.root[i]] > t->below_work[cut.root[longest]]) longest = i;
    }
    const int root    = cut.root[longest];
    cut.root[longest] = cut.root[--cut.n];
    for (int k = 0; k < root; ++k) {
      if (t->parent[k] != root) continue;
      if (cut.n == MOST_PARTS) return best;
      cut.root[cut.n++] = k;
    }
    judge_cut(t, all, &cut);
    if (cut.top + cut.longest < best.top + best.longest) best = cut;
  }
  return best;
}

/* The nodes below the column whose subtree has half of the work part it from the rest: a graph without them falls into halves. */
static void mark_middle(const block_tree *t, int n, uint8_t *last) {
  double all = 0.0, least = (double)INFINITY;
  int    best = -1;
  for (int k = 0; k < n; ++k) all += t->work[k];
  for (int k = 0; k < n; ++k) {
    double between = 0.0;
    for (int e = t->column[k]; e < t->column[k + 1]; ++e) between += t->work[t->below[e]];
    const double longest = fmax(t->below_work[k], all - t->below_work[k] - between) + between;
    if (t->column[k] == t->column[k + 1] || !(longest < least)) continue;
    least = longest;
    best  = k;
  }
  for (int e = best < 0 ? 0 : t->column[best]; best >= 0 && e < t->column[best + 1]; ++e)
    last[t->order[t->below[e]]] = 1;
}

/* An order of least fill, or one with a middle that comes last, whichever is done sooner by some workers; into t. */
static yoke_status choose_order(yoke_arena *scratch, const block_graph *g, block_tree *t, block_cut *cut) {
  block_tree other = {0};
  uint8_t   *last  = yoke_arena_take(scratch, (size_t)g->n + 1, sizeof *last);
  t->order         = yoke_arena_take(scratch, (size_t)g->n + 1, sizeof *t->order);
  other.order      = yoke_arena_take(scratch, (size_t)g->n + 1, sizeof *other.order);
  if (scratch->has_failed) return YOKE_E_MEMORY;
  YOKE_TRY(find_order(scratch, g, NULL, t->order));
  YOKE_TRY(eliminate_graph(scratch, g, t));
  *cut = find_cut(t, g->n);
  mark_middle(t, g->n, last);
  yoke_status status = find_order(scratch, g, last, other.order);
  if (status == YOKE_OK) status = eliminate_graph(scratch, g, &other);
  if (status == YOKE_OK) {
    const block_cut middle = find_cut(&other, g->n);
    if (middle.top + middle.longest < cut->top + cut->longest) {
      const block_tree first = *t;
      *t                     = other;
      other                  = first;
      *cut                   = middle;
    }
  }
  free(other.below);
  return status;
}

/* Positions part by part, then the top, each in its order; the structure is the same, by other numbers. */
static yoke_status sort_parts(yoke_arena *scratch, const block_graph *g, const block_cut *cut, block_tree *t,
                              yoke_block_lu *lu) {
  const int n     = g->n;
  int      *part  = yoke_arena_take(scratch, (size_t)n + 1, sizeof *part);
  int      *order = yoke_arena_copy(scratch, t->order, (size_t)n, sizeof *order);
  int       at    = 0;
  lu->n_parts     = cut->n;
  lu->first       = yoke_arena_take(&lu->arena, (size_t)cut->n + 2, sizeof *lu->first);
  if (scratch->has_failed || lu->arena.has_failed) return YOKE_E_MEMORY;
  for (int k = n - 1; k >= 0; --k) { /* parents come first */
    part[k] = t->parent[k] < 0 ? cut->n : part[t->parent[k]];
    for (int i = 0; i < cut->n; ++i) {
      if (cut->root[i] == k) part[k] = i;
    }
  }
  for (int p = 0; p <= cut->n; ++p) {
    lu->first[p] = at;
    for (int k = 0; k < n; ++k) {
      if (part[k] != p) continue;
      t->order[at++]                   = order[k];
      lu->part_of[g->number[order[k]]] = p;
    }
  }
  lu->first[cut->n + 1] = at;
  return eliminate_graph(scratch, g, t);
}

/* Bytes of panels, of the rims of the parts and of the targets of updates, which are as many as there are pairs of blocks below a column: where many blocks know each other,
 * around a subsystem with hundreds of couplings say, these are far more than the blocks. */
static double predict_bytes(const block_graph *g, const block_tree *t, const yoke_block_lu *lu) {
  double n_values = 0.0, n_pairs = 0.0;
  for (int k = 0, p = 0; k < lu->n; ++k) {
    const double m = g->size[t->order[k]], n_below = t->column[k + 1] - t->column[k];
    double       h = 0.0;
    for (int e = t->column[k]; e < t->column[k + 1]; ++e) h += g->size[t->order[t->below[e]]];
    while (k >= lu->first[p + 1]) ++p;
    n_values += m * (m + 2.0 * h);
    n_pairs += 0.5 * n_below * (n_below + 1.0);
    if (p < lu->n_parts && k == lu->first[p + 1] - 1) n_values += h * h; /* the root of a part */
  }
  return n_values * (double)sizeof(double) + n_pairs * (double)sizeof(int);
}

/* ---- layout ---- */

/* Rows of the panel of column c before block r. */
static int find_below(const yoke_block_lu *lu, int r, int c) {
  int low = lu->column[c], high = lu->column[c + 1] - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (lu->below[middle] < r)
      low = middle + 1;
    else
      high = middle;
  }
  YOKE_ASSERT(lu->below[low] == r);
  return lu->below_at[low];
}

static yoke_status lay_out_columns(yoke_block_lu *lu, const block_graph *g, const block_tree *t) {
  const size_t n = (size_t)lu->n, n_below = (size_t)t->column[lu->n];
  lu->size     = yoke_arena_take(&lu->arena, n + 1, sizeof(int));
  lu->row      = yoke_arena_take(&lu->arena, n + 1, sizeof(int));
  lu->at       = yoke_arena_take(&lu->arena, n + 1, sizeof(int));
  lu->height   = yoke_arena_take(&lu->arena, n + 1, sizeof(int));
  lu->column   = yoke_arena_copy(&lu->arena, t->column, n + 1, sizeof(int));
  lu->below    = yoke_arena_copy(&lu->arena, t->below, n_below, sizeof(int));
  lu->below_at = yoke_arena_take(&lu->arena, n_below + 1, sizeof(int));
  lu->panel    = yoke_arena_take(&lu->arena, n + 1, sizeof(size_t));
  lu->pairs    = yoke_arena_take(&lu->arena, n + 1, sizeof(size_t));
  lu->span     = yoke_arena_take(&lu->arena, (size_t)lu->n_parts + 3, sizeof(size_t));
  lu->work     = yoke_arena_take(&lu->arena, (size_t)lu->n_parts + 2, sizeof(double));
  if (lu->arena.has_failed) return YOKE_E_MEMORY;
  size_t n_pairs = 0;
  for (int k = 0; k < lu->n; ++k) {
    const size_t height = (size_t)(lu->column[k + 1] - lu->column[k]);
    lu->size[k]         = g->size[t->order[k]];
    lu->row[k]          = g->row[t->order[k]];
    lu->at[k + 1]       = lu->at[k] + lu->size[k];
    lu->pairs[k]        = n_pairs;
    n_pairs += height * (height + 1) / 2;
  }
  for (int k = 0, p = 0; k < lu->n; ++k) {
    for (int e = lu->column[k]; e < lu->column[k + 1]; ++e) {
      lu->below_at[e] = lu->height[k];
      lu->height[k] += lu->size[lu->below[e]];
    }
    while (k >= lu->first[p + 1]) ++p;
    lu->work[p] += t->work[k];
    lu->work[lu->n_parts + 1] += t->work[k];
  }
  lu->landing = yoke_arena_take(&lu->arena, n_pairs + 1, sizeof(int));
  if (lu->arena.has_failed) return YOKE_E_MEMORY;
  for (int k = 0; k < lu->n; ++k) {
    int      *to = lu->landing + lu->pairs[k];
    const int top =
        k < lu->first[lu->n_parts] ? lu->first[lu->n_parts] : lu->n; /* updates from here on go to the rim */
    for (int i = lu->column[k]; i < lu->column[k + 1]; ++i) {
      for (int j = lu->column[k]; j < i; ++j)
        *to++ = lu->below[j] < top ? find_below(lu, lu->below[i], lu->below[j]) : -1;
      *to++ = lu->below[i] < top ? 0 : -1;
    }
  }
  return YOKE_OK;
}

/* Where in its part's rim are the blocks of the top below column k? */
static void find_rim(yoke_block_lu *lu, int part, int k) {
  int at = lu->rim_first[part];
  for (int e = lu->column[k]; e < lu->column[k + 1]; ++e) {
    if (lu->below[e] < lu->first[lu->n_parts]) continue;
    while (lu->rim[at] < lu->below[e]) ++at;
    YOKE_ASSERT(at < lu->rim_first[part + 1] && lu->rim[at] == lu->below[e]);
    lu->below_rim[e] = lu->rim_at[at];
  }
}

/* Panels of every part, and its matrix of the rim, one after another; then the top; then scales of the rows. */
static yoke_status lay_out_values(yoke_block_lu *lu) {
  const int top = lu->first[lu->n_parts];
  size_t    at = 0, n_rim = 0;
  lu->rim_first  = yoke_arena_take(&lu->arena, (size_t)lu->n_parts + 1, sizeof(int));
  lu->rim_rows   = yoke_arena_take(&lu->arena, (size_t)lu->n_parts + 1, sizeof(int));
  lu->rim_values = yoke_arena_take(&lu->arena, (size_t)lu->n_parts + 1, sizeof(size_t));
  if (lu->arena.has_failed) return YOKE_E_MEMORY;
  for (int p = 0; p < lu->n_parts; ++p) {
    const int root = lu->first[p + 1] - 1; /* the last of its subtree */
    n_rim += (size_t)(lu->column[root + 1] - lu->column[root]);
  }
  lu->rim       = yoke_arena_take(&lu->arena, n_rim + 1, sizeof(int));
  lu->rim_at    = yoke_arena_take(&lu->arena, n_rim + 1, sizeof(int));
  lu->below_rim = yoke_arena_take(&lu->arena, (size_t)lu->column[lu->n] + 1, sizeof(int));
  if (lu->arena.has_failed) return YOKE_E_MEMORY;
  for (int p = 0; p <= lu->n_parts; ++p) {
    lu->span[p] = at;
    for (int k = lu->first[p]; k < lu->first[p + 1]; ++k) {
      lu->panel[k] = at;
      at += (size_t)lu->size[k] * (size_t)(lu->size[k] + 2 * lu->height[k]);
    }
    if (p == lu->n_parts) break;
    const int root = lu->first[p + 1] - 1;
    int       n    = lu->rim_first[p];
    for (int e = lu->column[root]; e < lu->column[root + 1]; ++e, ++n) {
      YOKE_ASSERT(lu->below[e] >= top);
      lu->rim[n]    = lu->below[e];
      lu->rim_at[n] = lu->below_at[e];
    }
    lu->rim_first[p + 1] = n;
    lu->rim_rows[p]      = lu->height[root];
    for (int k = lu->first[p]; k < lu->first[p + 1]; ++k) find_rim(lu, p, k);
    lu->rim_values[p] = at;
    at += (size_t)lu->height[root] * (size_t)lu->height[root];
    at = (at + 15) / 16 * 16 + 32; /* so far that caches never move values of two parts at once */
  }
  lu->span[lu->n_parts + 1] = at;
  lu->scale                 = at;
  return YOKE_OK;
}

/* Where every entry of A goes. */
static yoke_status place_entries(yoke_block_lu *lu, yoke_arena *scratch) {
  const yoke_pattern *p     = lu->pattern;
  const size_t        nnz   = (size_t)p->nnz;
  int                *block = yoke_arena_take(scratch, (size_t)lu->n_rows + 1, sizeof *block); /* position of a row */
  lu->entry_first           = yoke_arena_take(&lu->arena, (size_t)lu->n + 2, sizeof(int));
  lu->entry                 = yoke_arena_take(&lu->arena, nnz + 1, sizeof(int));
  lu->entry_row             = yoke_arena_take(&lu->arena, nnz + 1, sizeof(int));
  lu->entry_to              = yoke_arena_take(&lu->arena, nnz + 1, sizeof(size_t));
  lu->row_first             = yoke_arena_take(&lu->arena, (size_t)lu->n_rows + 2, sizeof(int));
  lu->row_entry             = yoke_arena_take(&lu->arena, nnz + 1, sizeof(int));
  if (scratch->has_failed || lu->arena.has_failed) return YOKE_E_MEMORY;
  for (int k = 0; k < lu->n; ++k) {
    for (int i = 0; i < lu->size[k]; ++i) block[lu->row[k] + i] = k;
  }
  for (int pass = 0; pass < 2; ++pass) { /* 0: count; 1: list */
    for (int j = 0; j < p->n_cols; ++j) {
      const int c = block[j], jj = j - lu->row[c];
      for (int e = p->col_start[j]; e < p->col_start[j + 1]; ++e) {
        const int r = block[p->row[e]], ii = p->row[e] - lu->row[r], k = r < c ? r : c, row = lu->at[r] + ii;
        if (pass == 0) {
          ++lu->entry_first[k + 2];
          ++lu->row_first[row + 2];
          continue;
        }
        const int    at = lu->entry_first[k + 1]++;
        const size_t m = (size_t)lu->size[k], h = (size_t)lu->height[k];
        lu->row_entry[lu->row_first[row + 1]++] = e;
        lu->entry[at]                           = e;
        lu->entry_row[at]                       = row;
        lu->entry_to[at]                        = r == c ? (size_t)ii * (m + h) + (size_t)jj
                                                  : r < c ? (size_t)ii * (m + h) + m + (size_t)(find_below(lu, c, r) + jj)
                                                          : m * (m + h) + (size_t)jj * h + (size_t)(find_below(lu, r, c) + ii);
      }
    }
    for (int k = 0; pass == 0 && k < lu->n; ++k) lu->entry_first[k + 2] += lu->entry_first[k + 1];
    for (int i = 0; pass == 0 && i < lu->n_rows; ++i) lu->row_first[i + 2] += lu->row_first[i + 1];
  }
  return YOKE_OK;
}

/* *is_small: it takes `most` bytes at most, and is there. */
static yoke_status build(yoke_block_lu *lu, yoke_arena *scratch, int n_blocks, const int *first_row, double most,
                         block_tree *tree, bool *is_small) {
  block_graph g   = {0};
  block_cut   cut = {0};
  lu->part_of     = yoke_arena_take(&lu->arena, (size_t)n_blocks + 1, sizeof *lu->part_of);
  if (lu->arena.has_failed) return YOKE_E_MEMORY;
  YOKE_TRY(take_blocks(scratch, lu->pattern, n_blocks, first_row, &g));
  lu->n = g.n;
  YOKE_TRY(choose_order(scratch, &g, tree, &cut));
  YOKE_TRY(sort_parts(scratch, &g, &cut, tree, lu));
  *is_small = most == 0.0 || predict_bytes(&g, tree, lu) <= most;
  if (!*is_small) return YOKE_OK;
  YOKE_TRY(lay_out_columns(lu, &g, tree));
  YOKE_TRY(lay_out_values(lu));
  return place_entries(lu, scratch);
}

yoke_status yoke_block_lu_create(yoke_context *ctx, const yoke_pattern *pattern, int n_blocks, const int *first_row,
                                 double most, yoke_block_lu **out) {
  YOKE_ASSERT(pattern->n_rows == pattern->n_cols && first_row[n_blocks] == pattern->n_rows);
  *out              = NULL;
  yoke_block_lu *lu = yoke_allocate(1, sizeof *lu);
  if (lu == NULL) return yoke_out_of_memory(ctx, "the order of %d blocks", n_blocks);
  yoke_arena scratch         = {0};
  block_tree tree            = {0};
  lu->arena                  = yoke_arena_of(ctx);
  lu->pattern                = pattern;
  lu->n_rows                 = pattern->n_rows;
  bool              is_small = false;
  const yoke_status status   = build(lu, &scratch, n_blocks, first_row, most, &tree, &is_small);
  if (status == YOKE_OK && is_small)
    *out = lu;
  else
    yoke_block_lu_destroy(&lu);
  free(tree.below);
  yoke_arena_free(&scratch);
  return status == YOKE_OK ? YOKE_OK : yoke_out_of_memory(ctx, "the factors of %d blocks", n_blocks);
}

int yoke_block_lu_n_parts(const yoke_block_lu *lu) {
  return lu->n_parts;
}

int yoke_block_lu_part(const yoke_block_lu *lu, int block) {
  return lu->part_of[block];
}

double yoke_block_lu_work(const yoke_block_lu *lu, int part) {
  return lu->work[part < 0 ? lu->n_parts + 1 : part];
}

size_t yoke_block_lu_n_values(const yoke_block_lu *lu) {
  return lu->scale + (size_t)lu->n_rows;
}

size_t yoke_block_lu_scales(const yoke_block_lu *lu) {
  return lu->scale;
}

yoke_block_span yoke_block_lu_span(const yoke_block_lu *lu, int part) {
  return (yoke_block_span){.value_begin = lu->span[part],
                           .value_end   = lu->span[part + 1],
                           .row_begin   = (size_t)lu->at[lu->first[part]],
                           .row_end     = (size_t)lu->at[lu->first[part + 1]]};
}

bool yoke_block_lu_fits(const yoke_block_lu *lu, const int *pivots) {
  for (int k = 0; k < lu->n; ++k) {
    for (int j = 0; j < lu->size[k]; ++j) {
      if (pivots[lu->at[k] + j] < j || pivots[lu->at[k] + j] >= lu->size[k]) return false;
    }
  }
  return true;
}

/* ---- factors ---- */

/* What is in two places of a panel: rows of it, `step` apart. */
typedef struct panel_rows {
  const double *at;
  size_t        step;
} panel_rows;

/* to [M, N] (rows `step` apart) -= sum over j < m of a[j][r] b[j][c]; M and N are constants. */
static YOKE_ALWAYS_INLINE void subtract_some(int M, int N, int m, double *restrict to, size_t step, panel_rows a,
                                             panel_rows b) {
  double sum[4][8];
  for (int r = 0; r < M; ++r) {
    for (int c = 0; c < N; ++c) sum[r][c] = to[(size_t)r * step + (size_t)c];
  }
  for (int j = 0; j < m; ++j, a.at += a.step, b.at += b.step) {
    for (int r = 0; r < M; ++r) {
      for (int c = 0; c < N; ++c) sum[r][c] -= a.at[r] * b.at[c];
    }
  }
  for (int r = 0; r < M; ++r) {
    for (int c = 0; c < N; ++c) to[(size_t)r * step + (size_t)c] = sum[r][c];
  }
}

static YOKE_ALWAYS_INLINE void subtract_columns(int N, int rows, int m, double *to, size_t step, panel_rows a,
                                                panel_rows b) {
  for (; rows >= 4; rows -= 4, to += 4 * step, a.at += 4) subtract_some(4, N, m, to, step, a, b);
  for (; rows > 0; --rows, to += step, ++a.at) subtract_some(1, N, m, to, step, a, b);
}

/* The same for any numbers of rows and columns. */
static YOKE_ALWAYS_INLINE void subtract(int rows, int columns, int m, double *to, size_t step, panel_rows a,
                                        panel_rows b) {
  for (; columns >= 8; columns -= 8, to += 8, b.at += 8) subtract_columns(8, rows, m, to, step, a, b);
  if (columns >= 4) {
    subtract_columns(4, rows, m, to, step, a, b);
    columns -= 4, to += 4, b.at += 4;
  }
  for (; columns > 0; --columns, ++to, ++b.at) subtract_columns(1, rows, m, to, step, a, b);
}

/* x [n] -= f y [n] */
static YOKE_ALWAYS_INLINE void subtract_row(size_t n, double f, const double *y, double *restrict x) {
  for (size_t i = 0; i < n; ++i) x[i] -= f * y[i];
}

/* Step 1: R [m, m + h]. */
static YOKE_ALWAYS_INLINE bool eliminate_rows(int m, size_t width, double *R, int *pivot) {
  for (int j = 0; j < m; ++j) {
    double *own  = R + (size_t)j * width;
    int     best = j;
    for (int i = j + 1; i < m; ++i) {
      if (fabs(R[(size_t)i * width + (size_t)j]) > fabs(R[(size_t)best * width + (size_t)j])) best = i;
    }
    pivot[j] = best;
    if (best != j) {
      double *other = R + (size_t)best * width;
      for (size_t c = 0; c < width; ++c) {
        const double x = own[c];
        own[c]         = other[c];
        other[c]       = x;
      }
    }
    if (!(fabs(own[j]) > 0.0)) return false;
    own[j] = 1.0 / own[j];
    for (int i = j + 1; i < m; ++i) {
      double      *row = R + (size_t)i * width;
      const double f   = row[j] * own[j];
      row[j]           = f;
      subtract_row(width - (size_t)j - 1, f, own + j + 1, row + j + 1);
    }
  }
  return true;
}

/* Step 2: C [m, h]. */
static YOKE_ALWAYS_INLINE bool eliminate_columns(int m, size_t h, const double *R, double *C) {
  int bad = 0;
  for (int j = 0; j < m; ++j) {
    double      *own = C + (size_t)j * h;
    const double f   = R[(size_t)j * (m + h) + (size_t)j];
    for (int i = 0; i < j; ++i) subtract_row(h, R[(size_t)i * (m + h) + (size_t)j], C + (size_t)i * h, own);
    for (size_t r = 0; r < h; ++r) {
      own[r] *= f;
      bad |= !(fabs(own[r]) <= LARGEST_MULTIPLIER);
    }
  }
  return bad == 0;
}

/* Step 3 for column k; `rim` [rim_rows, rim_rows] of its part (a column of the top: none). */
static YOKE_ALWAYS_INLINE void update(const yoke_block_lu *lu, int k, double *values, double *rim, size_t rim_rows) {
  const int     m = lu->size[k];
  const size_t  h = (size_t)lu->height[k], width = (size_t)m + h;
  const double *U = values + lu->panel[k] + m, *L = values + lu->panel[k] + (size_t)m * width;
  const int    *to = lu->landing + lu->pairs[k];
  for (int i = lu->column[k]; i < lu->column[k + 1]; ++i) {
    const int        n_i = lu->size[lu->below[i]];
    const panel_rows L_i = {L + lu->below_at[i], h}, U_i = {U + lu->below_at[i], width};
    for (int j = lu->column[k]; j <= i; ++j, ++to) {
      const int        s = lu->below[j], n_j = lu->size[s];
      const panel_rows L_j = {L + lu->below_at[j], h}, U_j = {U + lu->below_at[j], width};
      if (*to < 0) {
        const size_t at_i = (size_t)lu->below_rim[i], at_j = (size_t)lu->below_rim[j];
        subtract(n_j, n_i, m, rim + at_j * rim_rows + at_i, rim_rows, L_j, U_i);
        if (j < i) subtract(n_i, n_j, m, rim + at_i * rim_rows + at_j, rim_rows, L_i, U_j);
        continue;
      }
      const size_t h_s = (size_t)lu->height[s], width_s = (size_t)n_j + h_s;
      double      *R = values + lu->panel[s], *C = R + (size_t)n_j * width_s;
      if (j == i) {
        subtract(n_j, n_j, m, R, width_s, L_j, U_j);
        continue;
      }
      subtract(n_j, n_i, m, R + n_j + *to, width_s, L_j, U_i);
      subtract(n_j, n_i, m, C + *to, h_s, U_j, L_i);
    }
  }
}

/* The entries of A in the panel of column k, rows scaled. */
static void load(const yoke_block_lu *lu, int k, const double *a, double *values) {
  const size_t  m = (size_t)lu->size[k], h = (size_t)lu->height[k];
  double       *panel = values + lu->panel[k];
  const double *scale = values + lu->scale;
  memset(panel, 0, m * (m + 2 * h) * sizeof *panel);
  for (int e = lu->entry_first[k]; e < lu->entry_first[k + 1]; ++e)
    panel[lu->entry_to[e]] = a[lu->entry[e]] * scale[lu->entry_row[e]];
}

/* 1 over the largest entry of rows [first, last) in elimination order. */
static yoke_status set_scales(const yoke_block_lu *lu, int first, int last, const double *a, double *values) {
  for (int i = first; i < last; ++i) {
    double largest = 0.0, sum = 0.0;
    for (int e = lu->row_first[i]; e < lu->row_first[i + 1]; ++e) {
      const double size = fabs(a[lu->row_entry[e]]);
      largest           = size > largest ? size : largest;
      sum += size; /* NaN too */
    }
    if (!(sum <= DBL_MAX)) return YOKE_NON_FINITE;
    if (!(largest > 0.0)) return YOKE_SINGULAR;
    values[lu->scale + (size_t)i] = 1.0 / largest;
  }
  return YOKE_OK;
}

static YOKE_ALWAYS_INLINE yoke_status factor_columns(const yoke_block_lu *lu, int first, int last, double *values,
                                                     int *pivots, double *rim, size_t rim_rows) {
  for (int k = first; k < last; ++k) {
    const int    m = lu->size[k];
    const size_t h = (size_t)lu->height[k];
    double      *R = values + lu->panel[k];
    if (!eliminate_rows(m, (size_t)m + h, R, pivots + lu->at[k])) return YOKE_SINGULAR;
    if (!eliminate_columns(m, h, R, R + (size_t)m * ((size_t)m + h))) return YOKE_SINGULAR;
    update(lu, k, values, rim, rim_rows);
  }
  return YOKE_OK;
}

yoke_status yoke_block_lu_begin(const yoke_block_lu *lu, const double *a, double *values) {
  return set_scales(lu, lu->at[lu->first[lu->n_parts]], lu->n_rows, a, values);
}

YOKE_SIMD yoke_status yoke_block_lu_factor_part(const yoke_block_lu *lu, const double *a, double *values, int *pivots,
                                                int part) {
  const int    first = lu->first[part], last = lu->first[part + 1];
  const size_t rim_rows = (size_t)lu->rim_rows[part];
  double      *rim      = values + lu->rim_values[part];
  YOKE_TRY(set_scales(lu, lu->at[first], lu->at[last], a, values));
  for (int k = first; k < last; ++k) load(lu, k, a, values);
  memset(rim, 0, rim_rows * rim_rows * sizeof *rim);
  return factor_columns(lu, first, last, values, pivots, rim, rim_rows);
}

/* What part p takes from the top. */
static void add_rim(const yoke_block_lu *lu, int p, double *values) {
  const size_t  n   = (size_t)lu->rim_rows[p];
  const double *rim = values + lu->rim_values[p];
  for (int i = lu->rim_first[p]; i < lu->rim_first[p + 1]; ++i) {
    const double *row = rim + (size_t)lu->rim_at[i] * n;
    for (int j = lu->rim_first[p]; j < lu->rim_first[p + 1]; ++j) {
      const int     r = lu->rim[i], s = lu->rim[j], k = r < s ? r : s, m = lu->size[k];
      const size_t  h = (size_t)lu->height[k], width = (size_t)m + h;
      double       *R = values + lu->panel[k], *C = R + (size_t)m * width;
      const size_t  at   = r == s ? 0 : (size_t)find_below(lu, r < s ? s : r, k);
      const double *from = row + lu->rim_at[j];
      for (int c = 0; c < lu->size[r]; ++c, from += n) {
        for (int d = 0; d < lu->size[s]; ++d) {
          if (r > s)
            C[(size_t)d * h + at + (size_t)c] += from[d];
          else
            R[(size_t)c * width + (r == s ? 0 : (size_t)m + at) + (size_t)d] += from[d];
        }
      }
    }
  }
}

YOKE_SIMD yoke_status yoke_block_lu_factor_top(const yoke_block_lu *lu, const double *a, double *values, int *pivots) {
  const int first = lu->first[lu->n_parts];
  for (int k = first; k < lu->n; ++k) load(lu, k, a, values);
  for (int p = 0; p < lu->n_parts; ++p) add_rim(lu, p, values);
  return factor_columns(lu, first, lu->n, values, pivots, NULL, 0);
}

/* ---- solve ---- */

/* L y = P b of column k; y [rows] in elimination order. t [height]: what the rows below lose. */
static YOKE_ALWAYS_INLINE void forward(const yoke_block_lu *lu, int k, const double *values, const int *pivots,
                                       double *y, double *t) {
  const int     m = lu->size[k];
  const size_t  h = (size_t)lu->height[k], width = (size_t)m + h;
  const double *R = values + lu->panel[k], *C = R + (size_t)m * width;
  double       *own   = y + lu->at[k];
  const int    *pivot = pivots + lu->at[k];
  for (int j = 0; j < m; ++j) {
    const double x = own[pivot[j]];
    own[pivot[j]]  = own[j];
    own[j]         = x;
  }
  memset(t, 0, h * sizeof *t);
  for (int j = 0; j < m; ++j) {
    for (int i = j + 1; i < m; ++i) own[i] -= R[(size_t)i * width + (size_t)j] * own[j];
    subtract_row(h, own[j], C + (size_t)j * h, t);
  }
  for (int e = lu->column[k]; e < lu->column[k + 1]; ++e) {
    double       *to   = y + lu->at[lu->below[e]];
    const double *from = t + lu->below_at[e];
    for (int r = 0; r < lu->size[lu->below[e]]; ++r) to[r] += from[r];
  }
}

/* U x = y of column k. */
static YOKE_ALWAYS_INLINE void backward(const yoke_block_lu *lu, int k, const double *values, double *y, double *t) {
  const int     m = lu->size[k];
  const size_t  h = (size_t)lu->height[k], width = (size_t)m + h;
  const double *R   = values + lu->panel[k];
  double       *own = y + lu->at[k];
  for (int e = lu->column[k]; e < lu->column[k + 1]; ++e)
    memcpy(t + lu->below_at[e], y + lu->at[lu->below[e]], (size_t)lu->size[lu->below[e]] * sizeof *t);
  for (int j = m - 1; j >= 0; --j) {
    const double *row    = R + (size_t)j * width;
    double        sum[4] = {own[j], 0.0, 0.0, 0.0}; /* side by side */
    size_t        c      = 0;
    for (int i = j + 1; i < m; ++i) sum[0] -= row[i] * own[i];
    for (; c + 4 <= h; c += 4) {
      for (size_t q = 0; q < 4; ++q) sum[q] -= row[(size_t)m + c + q] * t[c + q];
    }
    for (; c < h; ++c) sum[0] -= row[(size_t)m + c] * t[c];
    own[j] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) * row[j];
  }
}

YOKE_SIMD void yoke_block_lu_solve(const yoke_block_lu *lu, const double *values, const int *pivots, double *x,
                                   double *work) {
  double *y = work, *t = work + lu->n_rows;
  for (int k = 0; k < lu->n; ++k) {
    const double *scale = values + lu->scale + lu->at[k];
    for (int i = 0; i < lu->size[k]; ++i) y[lu->at[k] + i] = x[lu->row[k] + i] * scale[i];
  }
  for (int k = 0; k < lu->n; ++k) forward(lu, k, values, pivots, y, t);
  for (int k = lu->n - 1; k >= 0; --k) backward(lu, k, values, y, t);
  for (int k = 0; k < lu->n; ++k) memcpy(x + lu->row[k], y + lu->at[k], (size_t)lu->size[k] * sizeof *x);
}
