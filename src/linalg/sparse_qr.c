/* QR by merging rows. A row of A waits in the bucket of its first column. Column c takes all rows of its bucket: no other
 * row that is left reaches c, so the length of c in this block is the pivot. Householder reflections bring the block into
 * staircase form; its first row is row c of R, the others, at most one per column of the block, go on to the buckets of
 * their first columns. A column without a pivot is cleared and its rows go on (Heath 1982; Liu 1986 for the merging). */
#include "linalg/sparse_qr.h"

#include "base/memory.h"
#include "base/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/colamd.h>

/* Of the longest row of a block: what is shorter is the rounding of zero. A body with hundreds of joints leaves as many such
 * rows, which would fill R. */
static const double rounding = 1e-14;

/* A row of A or R. */
typedef struct qr_row {
  struct qr_row *next;
  double        *value;  /* [n + 1]; the last one is of the right-hand side */
  int           *column; /* [n] increasing */
  int            n;
} qr_row;

/* Rows with a common union of columns, as one dense block [m, width + 1], row major. */
typedef struct qr_block {
  int     m, width;
  int    *column; /* [width] increasing */
  int    *at;     /* [n] place of a column in the block; only those of the block are valid */
  double *value;
  size_t  room;
  double *scratch; /* [m + width + 1]: a reflection and its products */
  size_t  scratch_room;
} qr_block;

static qr_row *row_create(int n) {
  char *memory = malloc(sizeof(qr_row) + ((size_t)n + 1) * sizeof(double) + (size_t)n * sizeof(int));
  if (memory == NULL) return NULL;
  qr_row *row = (qr_row *)(void *)memory;
  row->next   = NULL;
  row->value  = (double *)(void *)(memory + sizeof *row);
  row->column = (int *)(void *)(row->value + n + 1);
  row->n      = n;
  return row;
}

static void list_destroy(qr_row *row) {
  while (row != NULL) {
    qr_row *next = row->next;
    free(row);
    row = next;
  }
}

static void push(qr_row **bucket, qr_row *row) {
  row->next              = bucket[row->column[0]];
  bucket[row->column[0]] = row;
}

static int compare_ints(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

static bool make_room(double **array, size_t *room, size_t count) {
  if (count <= *room) return true;
  free(*array);
  *array = malloc(2 * count * sizeof **array);
  *room  = *array != NULL ? 2 * count : 0;
  return *array != NULL;
}

/* Columns of G become rows of A: place[row of G] is the column of A, -1: left out. */
static bool fill_buckets(const yoke_pattern *pattern, const double *g, const int *place, const double *f,
                         int *position /* [n_rows] scratch */, qr_row **bucket) {
  for (int v = 0; v < pattern->n_cols; ++v) {
    const int begin = pattern->col_start[v], end = pattern->col_start[v + 1];
    int       n = 0;
    for (int k = begin; k < end; ++k) n += place[pattern->row[k]] >= 0;
    if (n == 0) continue;
    qr_row *row = row_create(n);
    if (row == NULL) return false;
    n = 0;
    for (int k = begin; k < end; ++k) {
      const int column = place[pattern->row[k]];
      if (column < 0) continue;
      position[column] = k;
      row->column[n++] = column;
    }
    qsort(row->column, (size_t)n, sizeof *row->column, compare_ints);
    for (int k = 0; k < n; ++k) row->value[k] = g[position[row->column[k]]];
    row->value[n] = f != NULL ? f[v] : 0.0;
    push(bucket, row);
  }
  return true;
}

/* The rows of a bucket as a block; `seen` [n] holds the last column that asked for an entry, -1 at first. */
static bool block_take(qr_block *b, const qr_row *rows, int c, int *seen) {
  b->m = b->width = 0;
  for (const qr_row *row = rows; row != NULL; row = row->next, ++b->m) {
    for (int k = 0; k < row->n; ++k) {
      if (seen[row->column[k]] == c) continue;
      seen[row->column[k]]  = c;
      b->column[b->width++] = row->column[k];
    }
  }
  const size_t stride = (size_t)b->width + 1, size = (size_t)b->m * stride;
  if (!make_room(&b->value, &b->room, size) || !make_room(&b->scratch, &b->scratch_room, (size_t)b->m + stride))
    return false;
  qsort(b->column, (size_t)b->width, sizeof *b->column, compare_ints);
  for (int k = 0; k < b->width; ++k) b->at[b->column[k]] = k;
  memset(b->value, 0, size * sizeof *b->value);
  double *to = b->value;
  for (const qr_row *row = rows; row != NULL; row = row->next, to += stride) {
    for (int k = 0; k < row->n; ++k) to[b->at[row->column[k]]] = row->value[k];
    to[b->width] = row->value[row->n];
  }
  return true;
}

/* H = I - v v^T / (v_0 a) with v = x + sign(x_0) |x| e_0, a = sign(x_0) |x|, turns column k below `top` into -a e_0. */
static void block_reflect(qr_block *b, int top, int k, double length) {
  const size_t stride = (size_t)b->width + 1;
  const int    m      = b->m - top;
  double      *v = b->scratch, *sum = v + b->m, *first = b->value + (size_t)top * stride;
  for (int i = 0; i < m; ++i) v[i] = first[(size_t)i * stride + (size_t)k];
  const double a = copysign(length, v[0]);
  v[0] += a;
  for (int j = k + 1; j <= b->width; ++j) sum[j] = 0.0;
  for (int i = 0; i < m; ++i) {
    const double *row = first + (size_t)i * stride;
    for (int j = k + 1; j <= b->width; ++j) sum[j] += v[i] * row[j];
  }
  for (int j = k + 1; j <= b->width; ++j) sum[j] /= v[0] * a;
  for (int i = 0; i < m; ++i) {
    double *row = first + (size_t)i * stride;
    for (int j = k + 1; j <= b->width; ++j) row[j] -= sum[j] * v[i];
  }
  first[k] = -a;
  for (int i = 1; i < m; ++i) first[(size_t)i * stride + (size_t)k] = 0.0;
}

/* Staircase form. Returns the number of rows that are not zero; *has_pivot: the first of them belongs to column 0. */
static int block_reduce(qr_block *b, double tolerance, bool *has_pivot) {
  const size_t stride = (size_t)b->width + 1;
  int          top    = 0;
  for (int k = 0; k < b->width && top < b->m; ++k) {
    double length = 0.0;
    for (int i = top; i < b->m; ++i) length = hypot(length, b->value[(size_t)i * stride + (size_t)k]);
    if (length > (k == 0 ? tolerance : 1e-100)) { /* its square must not vanish */
      block_reflect(b, top++, k, length);
    } else {
      for (int i = top; i < b->m; ++i) b->value[(size_t)i * stride + (size_t)k] = 0.0;
    }
    if (k == 0) *has_pivot = top == 1;
  }
  return top;
}

static double block_row_length(const qr_block *b, int i) {
  const double *value  = b->value + (size_t)i * ((size_t)b->width + 1);
  double        square = 0.0;
  for (int k = 0; k < b->width; ++k) square += value[k] * value[k];
  return sqrt(square);
}

/* Row i of the block from its first entry on; NULL: no memory. */
static qr_row *block_row(const qr_block *b, int i) {
  const double *value = b->value + (size_t)i * ((size_t)b->width + 1);
  int           first = 0;
  while (first < b->width - 1 && value[first] == 0.0) ++first;
  qr_row *row = row_create(b->width - first);
  if (row == NULL) return NULL;
  memcpy(row->column, b->column + first, (size_t)row->n * sizeof *row->column);
  memcpy(row->value, value + first, ((size_t)row->n + 1) * sizeof *row->value);
  return row;
}

/* Column c: its bucket is emptied, what is left goes on; *pivot: row c of R (NULL: none). */
static bool eliminate(qr_block *b, int c, double tolerance, int *seen, qr_row **bucket, qr_row **pivot) {
  bool   has_pivot = false;
  double longest   = 0.0;
  *pivot           = NULL;
  if (bucket[c] == NULL) return true;
  if (!block_take(b, bucket[c], c, seen)) return false;
  list_destroy(bucket[c]);
  bucket[c] = NULL;
  for (int i = 0; i < b->m; ++i) longest = fmax(longest, block_row_length(b, i));
  const int n = block_reduce(b, tolerance, &has_pivot);
  for (int i = 0; i < n; ++i) {
    const bool is_pivot = i == 0 && has_pivot;
    if (!is_pivot && block_row_length(b, i) <= rounding * longest) continue;
    qr_row *row = block_row(b, i);
    if (row == NULL) return false;
    if (is_pivot) {
      *pivot = row;
    } else {
      push(bucket, row);
    }
  }
  return true;
}

static void back_substitute(int n, qr_row *const *R, double *x) {
  for (int c = n - 1; c >= 0; --c) {
    x[c] = 0.0;
    if (R[c] == NULL) continue;
    double sum = R[c]->value[R[c]->n];
    for (int k = 1; k < R[c]->n; ++k) sum -= R[c]->value[k] * x[R[c]->column[k]];
    x[c] = sum / R[c]->value[0];
  }
}

yoke_status yoke_sparse_qr(const yoke_pattern *pattern, const double *g, int n, const int *order, double tolerance,
                           const double *f, double *x, bool *follows) {
  const size_t ng     = (size_t)pattern->n_rows;
  qr_row     **bucket = yoke_allocate(2 * (size_t)n + 1, sizeof *bucket), **R = bucket != NULL ? bucket + n : NULL;
  int         *place = yoke_allocate(4 * ng + 1, sizeof *place), *seen = place != NULL ? place + ng : NULL;
  qr_block     block  = {0};
  yoke_status  status = YOKE_E_MEMORY;
  if (bucket != NULL && place != NULL) {
    block.column = seen + ng;
    block.at     = block.column + ng;
    for (size_t r = 0; r < ng; ++r) place[r] = seen[r] = -1;
    for (int i = 0; i < n; ++i) place[order[i]] = i;
    if (fill_buckets(pattern, g, place, x != NULL ? f : NULL, block.at, bucket)) status = YOKE_OK;
  }
  for (int c = 0; c < n && status == YOKE_OK; ++c) {
    if (!eliminate(&block, c, tolerance, seen, bucket, &R[c])) status = YOKE_E_MEMORY;
    if (follows != NULL) follows[c] = R[c] == NULL;
    if (x == NULL) {
      free(R[c]);
      R[c] = NULL;
    }
  }
  if (x != NULL && status == YOKE_OK) back_substitute(n, R, x);
  for (int i = 0; i < 2 * n && bucket != NULL; ++i) list_destroy(bucket[i]);
  free(bucket);
  free(place);
  free(block.value);
  free(block.scratch);
  return status;
}

yoke_status yoke_sparse_qr_order(const yoke_pattern *pattern, int *order) {
  const int    ng = pattern->n_rows, nv = pattern->n_cols;
  const size_t size   = colamd_recommended(pattern->nnz, nv, ng);
  int         *index  = yoke_allocate(size + 1, sizeof *index);
  int         *start  = yoke_allocate((size_t)ng + 2, sizeof *start);
  yoke_status  status = YOKE_E_MEMORY;
  if (size > 0 && index != NULL && start != NULL) {
    /* A in compressed columns is G in compressed rows. */
    for (int k = 0; k < pattern->nnz; ++k) ++start[pattern->row[k] + 2];
    for (int r = 0; r < ng; ++r) start[r + 1] += start[r];
    for (int v = 0; v < nv; ++v) {
      for (int k = pattern->col_start[v]; k < pattern->col_start[v + 1]; ++k) index[start[pattern->row[k] + 1]++] = v;
    }
    int stats[COLAMD_STATS];
    if (colamd(nv, ng, (int)size, index, start, NULL, stats)) {
      memcpy(order, start, (size_t)ng * sizeof *order);
      status = YOKE_OK;
    }
  }
  free(index);
  free(start);
  return status;
}
