#include "io/linear_rows.h"

#include <math.h>
#include <string.h>

static const double dependent = 1e-10; /* what is left of a row with a largest entry of 1 */

bool linear_rows_create(yoke_arena *arena, int m, int n, linear_rows *out) {
  const size_t mn = (size_t)m * (size_t)n;
  *out            = (linear_rows){.m = m, .n = n};
  out->C          = yoke_arena_take(arena, mn + 1, sizeof *out->C);
  out->A          = yoke_arena_take(arena, mn + 1, sizeof *out->A);
  out->E          = yoke_arena_take(arena, (size_t)m * (size_t)m + 1, sizeof *out->E);
  out->value      = yoke_arena_take(arena, (size_t)m + 1, sizeof *out->value);
  out->hold       = yoke_arena_take(arena, (size_t)m + 1, sizeof *out->hold);
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

/* The row that is left with the largest entry that it may determine. -1: none is large enough; *row is one of those that are left. */
static int choose(const linear_rows *r, const bool *is_taken, int *row) {
  double largest = dependent;
  int    pivot   = -1;
  for (int l = 0; l < r->m; ++l) {
    if (r->pivot[l] >= 0) continue;
    int          column = 0;
    const double size   = largest_of(row_of(r->A, l, r->n), r->n, is_taken, &column);
    if (pivot < 0) *row = l;
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
    if (pivot < 0) {
      const double left = largest_of(row_of(r->A, *row, r->n), r->n, NULL, &column);
      return left > dependent ? LINEAR_ROWS_TAKEN : LINEAR_ROWS_DEPENDENT;
    }
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

/* Columns of row i of T: i itself where no row determines it. */
static int first_of(const linear_rows *r, int i) {
  return r->row_at[i] < 0 ? i : 0;
}
static int behind_of(const linear_rows *r, int i) {
  return r->row_at[i] < 0 ? i + 1 : r->n;
}

bool linear_rows_product(const linear_rows *r, int row, int column, double value, linear_rows_entry *entry,
                         void *user) {
  for (int a = first_of(r, row); a < behind_of(r, row); ++a) {
    const double left = T_of(r, row, a) * value;
    if (left == 0.0) continue;
    for (int b = first_of(r, column) > a ? first_of(r, column) : a; b < behind_of(r, column); ++b) {
      const double x = left * T_of(r, column, b);
      if (x != 0.0 && !entry(user, a, b, x)) return false;
    }
  }
  return true;
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
