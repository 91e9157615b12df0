/* Columns: many vectors side by side. Row i of x [m, n] holds the i-th number of n vectors, so that loops over vectors are innermost and
 * contiguous. A column has the same bits whatever n is. */
#ifndef YOKE_LINALG_COLUMNS_H
#define YOKE_LINALG_COLUMNS_H

#include "base/simd.h"
#include <stddef.h>

/* y [n] += sum over i < M of a[i] x[i, n], in this order; M is a constant, at most 3. */
static YOKE_ALWAYS_INLINE void yoke_columns_add_some(int M, const double *a, int n, const double *x,
                                                     double *restrict y) {
  const ptrdiff_t row = n;
  const double    a0 = a[0], a1 = M > 1 ? a[1] : 0.0, a2 = M > 2 ? a[2] : 0.0;
  for (int k = 0; k < n; ++k) {
    double sum = y[k] + a0 * x[k];
    if (M > 1) sum += a1 * x[row + k];
    if (M > 2) sum += a2 * x[2 * row + k];
    y[k] = sum;
  }
}

/* The same for any m. y is no row of x. */
static YOKE_ALWAYS_INLINE void yoke_columns_add(int m, const double *a, int n, const double *x, double *restrict y) {
  const ptrdiff_t row = n;
  for (; m > 3; m -= 3, a += 3, x += 3 * row) yoke_columns_add_some(3, a, n, x, y);
  if (m == 1) yoke_columns_add_some(1, a, n, x, y);
  if (m == 2) yoke_columns_add_some(2, a, n, x, y);
  if (m == 3) yoke_columns_add_some(3, a, n, x, y);
}

#endif
