/* Patterns and products of sparse matrices with a fixed pattern. */
#include "linalg/sparse.h"
#include "base/memory.h"
#include <stdlib.h>

/* Stable counting sort: order_out lists the entries of order_in (NULL: 0, 1, ...) by ascending key[entry] < n_keys.
 * `start` has n_keys + 1 entries of scratch. */
static void sort_by_key(int n, const int *key, int n_keys, const int *order_in, int *start, int *order_out) {
  for (int k = 0; k <= n_keys; ++k) start[k] = 0;
  for (int i = 0; i < n; ++i) ++start[key[i] + 1];
  for (int k = 0; k < n_keys; ++k) start[k + 1] += start[k];
  for (int i = 0; i < n; ++i) {
    const int entry                = order_in != NULL ? order_in[i] : i;
    order_out[start[key[entry]]++] = entry;
  }
}

static yoke_status check_triplets(yoke_context *ctx, int n_rows, int n_cols, int n, const int *row, const int *col) {
  if (n_rows < 0 || n_cols < 0 || n < 0) {
    return yoke_fail(ctx, YOKE_E_INTERNAL, "sparse pattern: negative size (%d rows, %d columns, %d entries)", n_rows,
                     n_cols, n);
  }
  for (int i = 0; i < n; ++i) {
    if (row[i] < 0 || row[i] >= n_rows || col[i] < 0 || col[i] >= n_cols) {
      return yoke_fail(ctx, YOKE_E_INTERNAL, "sparse pattern: entry %d is (%d, %d) in a %d x %d matrix", i, row[i],
                       col[i], n_rows, n_cols);
    }
  }
  return YOKE_OK;
}

/* `order` lists the triplets by column, then row: drop repeated ones and count the columns. */
static void compress(yoke_pattern *p, int n, const int *order, const int *row, const int *col, int *slot) {
  int previous = -1;
  for (int i = 0; i < n; ++i) {
    const int entry = order[i];
    if (previous < 0 || row[entry] != row[previous] || col[entry] != col[previous]) {
      p->row[p->nnz++] = row[entry];
      ++p->col_start[col[entry] + 1];
    }
    if (slot != NULL) slot[entry] = p->nnz - 1;
    previous = entry;
  }
  for (int j = 0; j < p->n_cols; ++j) p->col_start[j + 1] += p->col_start[j];
}

yoke_status yoke_pattern_create(yoke_context *ctx, int n_rows, int n_cols, int n, const int *row, const int *col,
                                int *slot, yoke_pattern **out) {
  *out = NULL;
  YOKE_TRY(check_triplets(ctx, n_rows, n_cols, n, row, col));
  const int     n_keys = n_rows > n_cols ? n_rows : n_cols;
  const size_t  count  = (size_t)n + 1;
  yoke_arena    kept = yoke_arena_of(ctx), scratch = {0};
  yoke_pattern *pattern   = yoke_arena_take(&kept, 1, sizeof *pattern);
  int          *col_start = yoke_arena_take(&kept, (size_t)n_cols + 1, sizeof *col_start);
  int          *rows      = yoke_arena_take(&kept, count, sizeof *rows);
  int          *start     = yoke_arena_take(&scratch, (size_t)n_keys + 1, sizeof *start);
  int          *by_row    = yoke_arena_take(&scratch, count, sizeof *by_row);
  int          *order     = yoke_arena_take(&scratch, count, sizeof *order);
  yoke_status   status    = yoke_arena_check(&scratch, ctx, "a sparse pattern of %d rows and %d entries", n_rows, n);
  if (status == YOKE_OK) status = yoke_arena_check(&kept, ctx, "a sparse pattern of %d rows and %d entries", n_rows, n);
  if (status == YOKE_OK) {
    *pattern = (yoke_pattern){.arena = kept, .n_rows = n_rows, .n_cols = n_cols, .col_start = col_start, .row = rows};
    sort_by_key(n, row, n_rows, NULL, start, by_row);
    sort_by_key(n, col, n_cols, by_row, start, order);
    compress(pattern, n, order, row, col, slot);
    *out = pattern;
  } else {
    yoke_arena_free(&kept);
  }
  yoke_arena_free(&scratch);
  return status;
}

void yoke_pattern_destroy(yoke_pattern **pattern) {
  if (pattern == NULL || *pattern == NULL) return;
  yoke_arena arena = (*pattern)->arena;
  yoke_arena_free(&arena);
  *pattern = NULL;
}

void yoke_sparse_multiply(const yoke_pattern *pattern, const double *a, const double *x, double *y) {
  for (int i = 0; i < pattern->n_rows; ++i) y[i] = 0.0;
  for (int j = 0; j < pattern->n_cols; ++j) {
    for (int k = pattern->col_start[j]; k < pattern->col_start[j + 1]; ++k) y[pattern->row[k]] += a[k] * x[j];
  }
}

void yoke_sparse_multiply_transposed(const yoke_pattern *pattern, const double *a, const double *x, double *y) {
  for (int j = 0; j < pattern->n_cols; ++j) {
    double sum = 0.0;
    for (int k = pattern->col_start[j]; k < pattern->col_start[j + 1]; ++k) sum += a[k] * x[pattern->row[k]];
    y[j] = sum;
  }
}
