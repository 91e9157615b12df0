#include "io/linear_rows.h"

#include <math.h>
#include <string.h>

/* What is left, when the other rows are taken out, of a row whose largest entry was 1. Masses of T^T M T grow with its inverse square: at `poor` half of the
 * digits are lost. Rows are scaled before, so that their units do not matter. */
static const double dependent = 1e-10, poor = 1e-4;

bool linear_rows_create(yoke_arena *arena, int m, int n, linear_rows *out) {
  const size_t mn = (size_t)m * (size_t)n;
  *out            = (linear_rows){.m = m, .n = n};
  out->C          = yoke_arena_take(arena, mn + 1, sizeof *out->C);
  out->A          = yoke_arena_take(arena, mn + 1, sizeof *out->A);
  out->E          = yoke_arena_take(arena, (size_t)m * (size_t)m + 1, sizeof *out->E);
  out->value      = yoke_arena_take(arena, (size_t)m + 1, sizeof *out->value);
  out->hold       = yoke_arena_take(arena, (size_t)m + 1, sizeof *out->hold);
  out->sum        = yoke_arena_take(arena, (size_t)n + 1, sizeof *out->sum);
  out->filled     = yoke_arena_take(arena, (size_t)n + 1, sizeof *out->filled);
  out->is_filled  = yoke_arena_take(arena, (size_t)n + 1, sizeof *out->is_filled);
  out->pivot      = yoke_arena_take(arena, (size_t)m + 1, sizeof *out->pivot);
  out->row_at     = yoke_arena_take(arena, (size_t)n + 1, sizeof *out->row_at);
  return !arena->has_failed;
}

static double *row_of(double *A, int row, int n) {
  return A + (size_t)row * (size_t)n;
}

/* Largest entry of a row; with `is_taken` of the other columns, and where it is, the last of equals. */
static double largest_of(const double *row, int n, const bool *is_taken, int *column) {
  double largest = 0.0;
  for (int j = 0; j < n; ++j) {
    if ((is_taken != NULL && is_taken[j]) || fabs(row[j]) < largest) continue;
    largest = fabs(row[j]);
    *column = j;
  }
  return largest;
}

/* The row that is left with the largest entry that it may determine. -1: none is large enough. */
static int choose(const linear_rows *r, const bool *is_taken, int *row) {
  double largest = poor;
  int    pivot   = -1;
  for (int l = 0; l < r->m; ++l) {
    if (r->pivot[l] >= 0) continue;
    int          column = 0;
    const double size   = largest_of(row_of(r->A, l, r->n), r->n, is_taken, &column);
    if (!(size > largest)) continue;
    largest = size;
    pivot   = column;
    *row    = l;
  }
  return pivot;
}

static void subtract(double *from, const double *row, double s, int n) {
  for (int j = 0; j < n; ++j) from[j] -= s * row[j];
}

/* Gauss-Jordan: column `pivot` becomes 1 in `row` and 0 in all others. */
static void eliminate(linear_rows *r, int row, int pivot) {
  double      *a = row_of(r->A, row, r->n), *e = row_of(r->E, row, r->m);
  const double s = 1.0 / a[pivot];
  for (int j = 0; j < r->n; ++j) a[j] *= s;
  for (int i = 0; i < r->m; ++i) e[i] *= s;
  a[pivot] = 1.0;
  for (int l = 0; l < r->m; ++l) {
    double      *other = row_of(r->A, l, r->n);
    const double x     = other[pivot];
    if (l == row || x == 0.0) continue;
    subtract(other, a, x, r->n);
    subtract(row_of(r->E, l, r->m), e, x, r->m);
    other[pivot] = 0.0;
  }
  r->pivot[row]    = pivot;
  r->row_at[pivot] = row;
}

/* None of the rows that are left determines a freedom: of those that follow from the others the first, of those that nearly do, or the first one. */
static linear_rows_verdict judge(const linear_rows *r, int *row) {
  static const struct {
    double              most; /* left of the row */
    linear_rows_verdict verdict;
  } kinds[]  = {{dependent, LINEAR_ROWS_DEPENDENT}, {poor, LINEAR_ROWS_NEAR}, {INFINITY, LINEAR_ROWS_TAKEN}};
  int column = 0, k = 0;
  for (;; ++k) {
    for (*row = 0; *row < r->m; ++*row) {
      const bool is_left = r->pivot[*row] < 0;
      if (is_left && largest_of(row_of(r->A, *row, r->n), r->n, NULL, &column) <= kinds[k].most)
        return kinds[k].verdict;
    }
  }
}

linear_rows_verdict linear_rows_solve(linear_rows *r, const bool *is_taken, int *row) {
  int column = 0;
  for (int l = 0; l < r->m; ++l) {
    const double size = largest_of(row_of(r->C, l, r->n), r->n, NULL, &column);
    *row              = l;
    if (size == 0.0) return LINEAR_ROWS_EMPTY;
    for (int j = 0; j < r->n; ++j) row_of(r->C, l, r->n)[j] /= size;
    r->value[l] /= size;
    row_of(r->E, l, r->m)[l] = 1.0;
    r->pivot[l]              = -1;
  }
  for (int j = 0; j < r->n; ++j) r->row_at[j] = -1;
  memcpy(r->A, r->C, (size_t)r->m * (size_t)r->n * sizeof *r->A);
  for (int k = 0; k < r->m; ++k) {
    const int pivot = choose(r, is_taken, row);
    if (pivot < 0) return judge(r, row);
    eliminate(r, *row, pivot);
  }
  return LINEAR_ROWS_SOLVED;
}

/* T_ij. */
static double T_of(const linear_rows *r, int i, int j) {
  const int l = r->row_at[i], k = r->row_at[j];
  if (l < 0) return i == j ? 1.0 : 0.0;
  return k >= 0 ? r->E[(size_t)l * (size_t)r->m + (size_t)k] : -r->A[(size_t)l * (size_t)r->n + (size_t)j];
}

static int add(linear_rows *r, int n_filled, int column, double value) {
  if (value == 0.0) return n_filled;
  if (!r->is_filled[column]) {
    r->is_filled[column]  = true;
    r->sum[column]        = 0.0;
    r->filled[n_filled++] = column;
  }
  r->sum[column] += value;
  return n_filled;
}

/* `scale` times row i of A: what falls on freedoms that rows determine is kept in `hold` until all rows are there. */
static int add_row(linear_rows *r, int n_filled, double scale, const yoke_symmetric *A, const int *place,
                   const int *number, int i) {
  for (int k = A->start[place[i]]; scale != 0.0 && k < A->start[place[i] + 1]; ++k) {
    const int    j = number[A->column[k]], l = r->row_at[j];
    const double x = scale * A->value[k];
    if (l < 0)
      n_filled = add(r, n_filled, j, x);
    else
      r->hold[l] += x;
  }
  return n_filled;
}

int linear_rows_product(linear_rows *r, const yoke_symmetric *A, const int *place, const int *number, int i) {
  int n_filled = 0;
  memset(r->hold, 0, (size_t)r->m * sizeof *r->hold);
  if (r->row_at[i] < 0) n_filled = add_row(r, n_filled, 1.0, A, place, number, i);
  for (int l = 0; l < r->m; ++l)
    n_filled = add_row(r, n_filled, T_of(r, r->pivot[l], i), A, place, number, r->pivot[l]);
  for (int l = 0; l < r->m; ++l) {
    for (int j = 0; r->hold[l] != 0.0 && j < r->n; ++j)
      n_filled = add(r, n_filled, j, r->hold[l] * T_of(r, r->pivot[l], j));
  }
  for (int k = 0; k < n_filled; ++k) r->is_filled[r->filled[k]] = false;
  return n_filled;
}

void linear_rows_load(const linear_rows *r, double *f) {
  for (int l = 0; l < r->m; ++l) r->hold[l] = f[r->pivot[l]];
  for (int j = 0; j < r->n; ++j) {
    if (r->row_at[j] >= 0) f[j] = 0.0;
    for (int l = 0; l < r->m; ++l) f[j] += T_of(r, r->pivot[l], j) * r->hold[l];
  }
}

void linear_rows_state(const linear_rows *r, double *x) {
  for (int l = 0; l < r->m; ++l) {
    r->hold[l] = 0.0;
    for (int j = 0; j < r->n; ++j) r->hold[l] += row_of(r->C, l, r->n)[j] * x[j];
  }
  for (int l = 0; l < r->m; ++l) x[r->pivot[l]] = r->hold[l];
}
