/* The factor per step by which a recorded signal grows or decays. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_MODES_H
#define YOKE_TESTS_MODES_H

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { MODES_WINDOW = 7, MODES_LEAST = 5, MODES_MOST = 3 }; /* points, modes */

/* Factor of the last points before `end` as a sum of m modes, m = 1, 2, 3: l_{n+m} = sum a_j l_{n+j} by least squares, every line
 * divided by its size; the largest root is an eigenvalue of the companion matrix. -1: they are not of this kind. */
static inline double modes_factor(const double *lambda, int end, int m) {
  double A[MODES_WINDOW * MODES_MOST], b[MODES_WINDOW], a[MODES_WINDOW], C[MODES_MOST * MODES_MOST] = {0.0},
                                                                                        re[MODES_MOST], im[MODES_MOST];
  double sigma[MODES_MOST], off = 0.0, factor = 0.0;
  int    n = 0, rank;
  for (int i = end > MODES_WINDOW ? end - MODES_WINDOW : 0; i + m < end; ++i, ++n) {
    double size = 0.0;
    for (int j = 0; j <= m; ++j) size = fmax(size, fabs(lambda[i + j]));
    for (int j = 0; j < m; ++j) A[n * m + j] = lambda[i + j] / size;
    a[n] = b[n] = lambda[i + m] / size;
  }
  double kept[MODES_WINDOW * MODES_MOST];
  memcpy(kept, A, sizeof A);
  assert_int_equal(LAPACKE_dgelss(LAPACK_ROW_MAJOR, n, m, 1, A, m, a, 1, sigma, 1e-9, &rank), 0);
  for (int i = 0; i < n; ++i) {
    double sum = -b[i];
    for (int j = 0; j < m; ++j) sum += kept[i * m + j] * a[j];
    off = fmax(off, fabs(sum));
  }
  if (off > 1e-3) return -1.0;
  for (int j = 0; j < m; ++j) C[(m - 1) * m + j] = a[j];
  for (int j = 0; j + 1 < m; ++j) C[j * m + j + 1] = 1.0;
  assert_int_equal(LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', m, C, m, re, im, NULL, 1, NULL, 1), 0);
  for (int j = 0; j < m; ++j) factor = fmax(factor, hypot(re[j], im[j]));
  return factor;
}

/* Late, where lesser modes have gone, but before rounding shows. 0: it is gone at once. */
static inline double modes_measured(int n, const double *lambda) {
  int end = 1;
  while (end < n && fabs(lambda[end]) > 1e-9 * fabs(lambda[0])) ++end;
  for (int m = 1; m <= MODES_MOST && end >= MODES_LEAST; ++m) {
    const double factor = modes_factor(lambda, end, m);
    if (factor >= 0.0) return factor;
  }
  return end >= MODES_LEAST ? -1.0 : 0.0;
}

#endif
