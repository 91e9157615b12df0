/* Balancing by powers of two, Hessenberg form by reflections, implicit double shifts with deflation (Golub, Van Loan, Matrix
 * Computations, chapter 7). Only the active block is transformed, because no vectors are wanted. */
#include "analysis/francis.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { MOST_PER_EIGENVALUE = 30, EXCEPTIONAL = 10 };

/* Row and column i get equal norms up to a power of two, until nothing is gained: D^-1 A D has the same eigenvalues, without rounding. */
static void balance(int n, double *A) {
  for (int sweep = 0, changed = 1; changed && sweep < 50; ++sweep) {
    changed = 0;
    for (int i = 0; i < n; ++i) {
      double row = 0.0, column = 0.0;
      for (int j = 0; j < n; ++j) {
        if (j == i) continue;
        row += fabs(A[i * n + j]);
        column += fabs(A[j * n + i]);
      }
      if (!(row > 0.0 && column > 0.0 && row < HUGE_VAL && column < HUGE_VAL)) continue;
      int by_row, by_column;
      frexp(row, &by_row);
      frexp(column, &by_column);
      const int exponent = (by_row - by_column) / 2; /* column 2^e = row 2^-e, nearly */
      if (exponent == 0 || ldexp(column, exponent) + ldexp(row, -exponent) > 0.95 * (row + column)) continue;
      changed = 1;
      for (int j = 0; j < n; ++j) {
        A[i * n + j] = ldexp(A[i * n + j], -exponent);
        A[j * n + i] = ldexp(A[j * n + i], exponent);
      }
    }
  }
}

/* Reflection I - factor v v^T that maps x [m] onto a multiple of e_1; v overwrites x. Returns that multiple. */
static double reflector(int m, double *x, double *factor) {
  double largest = 0.0, norm = 0.0;
  for (int i = 0; i < m; ++i) largest = fmax(largest, fabs(x[i]));
  *factor = 0.0;
  if (largest == 0.0) return 0.0;
  for (int i = 0; i < m; ++i) {
    x[i] /= largest;
    norm += x[i] * x[i];
  }
  norm             = x[0] > 0.0 ? -sqrt(norm) : sqrt(norm);
  const double top = x[0] - norm; /* no cancellation */
  *factor          = -1.0 / (norm * top);
  x[0]             = top;
  return norm * largest;
}

/* A := P A P for the reflection of rows and columns first .. n - 1; columns left of `column` need no work. */
static void reflect(int n, double *A, int first, const double *v, double factor, int column) {
  const int m = n - first;
  for (int j = column; j < n; ++j) {
    double sum = 0.0;
    for (int i = 0; i < m; ++i) sum += v[i] * A[(first + i) * n + j];
    sum *= factor;
    for (int i = 0; i < m; ++i) A[(first + i) * n + j] -= sum * v[i];
  }
  for (int i = 0; i < n; ++i) {
    double *a = A + i * n + first, sum = 0.0;
    for (int j = 0; j < m; ++j) sum += a[j] * v[j];
    sum *= factor;
    for (int j = 0; j < m; ++j) a[j] -= sum * v[j];
  }
}

static void to_hessenberg(int n, double *A, double *v) {
  for (int k = 0; k + 2 < n; ++k) {
    const int m = n - k - 1;
    double    factor, below = 0.0;
    for (int i = 0; i < m; ++i) v[i] = A[(k + 1 + i) * n + k];
    for (int i = 1; i < m; ++i) below = fmax(below, fabs(v[i]));
    if (below == 0.0) continue;
    const double head = reflector(m, v, &factor);
    reflect(n, A, k + 1, v, factor, k + 1);
    A[(k + 1) * n + k] = head;
    for (int i = 1; i < m; ++i) A[(k + 1 + i) * n + k] = 0.0;
  }
}

/* Eigenvalues of [a b; c d]. */
static void two_by_two(double a, double b, double c, double d, double *re, double *im) {
  const double p = 0.5 * (a - d), q = p * p + b * c;
  im[0] = im[1] = 0.0;
  if (q >= 0.0) {
    const double z = p + (p > 0.0 ? sqrt(q) : -sqrt(q));
    re[0]          = d + z;
    re[1]          = z != 0.0 ? d - b * c / z : d;
  } else {
    re[0] = re[1] = d + p;
    im[0]         = sqrt(-q);
    im[1]         = -im[0];
  }
}

/* Start of the active block that ends at row `last`: where the entry below the diagonal is negligible. */
static int block_start(int n, double *A, int last) {
  for (int l = last; l > 0; --l) {
    double size = fabs(A[(l - 1) * n + l - 1]) + fabs(A[l * n + l]);
    if (size == 0.0) size = fabs(A[(l - 1) * n + l]); /* of the other entries near */
    if (fabs(A[l * n + l - 1]) <= DBL_EPSILON * size || fabs(A[l * n + l - 1]) < DBL_MIN) {
      A[l * n + l - 1] = 0.0;
      return l;
    }
  }
  return 0;
}

/* Reflection of three rows and columns; the last one of a sweep has two and a zero third component. v = (1, v1, v2). */
static inline void reflect_three(int n, double *A, int k, const double v[3], double factor, int end, int row,
                                 int end_row) {
  const double v1 = v[1], v2 = v[2], f1 = factor * v1, f2 = factor * v2;
  double      *a = A + k * n, *b = a + n, *c = b + n;
  for (int j = k; j < end; ++j) {
    const double sum = a[j] + v1 * b[j] + v2 * c[j];
    a[j] -= factor * sum;
    b[j] -= f1 * sum;
    c[j] -= f2 * sum;
  }
  for (int i = row; i < end_row; ++i) {
    double      *x   = A + i * n + k;
    const double sum = x[0] + v1 * x[1] + v2 * x[2];
    x[0] -= factor * sum;
    x[1] -= f1 * sum;
    x[2] -= f2 * sum;
  }
}

static inline void reflect_two(int n, double *A, int k, double v1, double factor, int end, int row, int end_row) {
  const double f1 = factor * v1;
  double      *a = A + k * n, *b = a + n;
  for (int j = k; j < end; ++j) {
    const double sum = a[j] + v1 * b[j];
    a[j] -= factor * sum;
    b[j] -= f1 * sum;
  }
  for (int i = row; i < end_row; ++i) {
    double      *x   = A + i * n + k;
    const double sum = x[0] + v1 * x[1];
    x[0] -= factor * sum;
    x[1] -= f1 * sum;
  }
}

/* One sweep on rows and columns l .. last with the two shifts of trace s and determinant t: the bulge runs down the diagonal. */
static void sweep(int n, double *A, int l, int last, double s, double t) {
  const double *a = A + l * n + l, h10 = a[n];
  /* first column of H^2 - s H + t, over h10 */
  double        v[3] = {(a[0] * (a[0] - s) + t) / h10 + a[1], a[0] + a[n + 1] - s, a[2 * n + 1]};
  for (int k = l; k < last; ++k) {
    const bool three = k + 2 <= last;
    if (k > l) {
      v[0] = A[k * n + k - 1];
      v[1] = A[(k + 1) * n + k - 1];
      v[2] = three ? A[(k + 2) * n + k - 1] : 0.0;
    }
    const double size = fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
    if (size == 0.0) continue;
    const double scale = 1.0 / size, x = scale * v[0], y = scale * v[1], z = scale * v[2];
    const double norm = x > 0.0 ? -sqrt(x * x + y * y + z * z) : sqrt(x * x + y * y + z * z), top = x - norm;
    const double by_top = 1.0 / top, factor = -top / norm; /* I - factor v v^T with v = (1, y/top, z/top) */
    if (k > l) {
      A[k * n + k - 1]       = norm * size;
      A[(k + 1) * n + k - 1] = 0.0;
      if (three) A[(k + 2) * n + k - 1] = 0.0;
    }
    v[1]              = y * by_top;
    v[2]              = z * by_top;
    const int end_row = (k + 3 < last ? k + 3 : last) + 1;
    if (three) {
      reflect_three(n, A, k, v, factor, last + 1, l, end_row);
    } else {
      reflect_two(n, A, k, v[1], factor, last + 1, l, end_row);
    }
  }
}

/* Trace and determinant of the two shifts: eigenvalues of the trailing block; real ones: twice the one nearer to the corner. Now and then
 * others, which break a cycle. */
static void shifts(int n, const double *A, int last, int count, double *s, double *t) {
  const double *corner = A + (last - 1) * n + last - 1;
  const double  a = corner[0], b = corner[1], c = corner[n], d = corner[n + 1];
  if (count % EXCEPTIONAL == 0) {
    const double size = fabs(c) + fabs(A[(last - 1) * n + last - 2]), middle = d + 0.75 * size;
    *s = 2.0 * middle;
    *t = middle * middle + 0.4375 * size * size;
    return;
  }
  const double p = 0.5 * (a - d), q = p * p + b * c;
  *s = a + d;
  *t = a * d - b * c;
  if (q < 0.0) return;
  const double far = p + (p > 0.0 ? sqrt(q) : -sqrt(q)), near = far != 0.0 ? d - b * c / far : d;
  *s = 2.0 * near;
  *t = near * near;
}

yoke_status yoke_francis(int n, double *A, double *re, double *im) {
  balance(n, A);
  to_hessenberg(n, A, re); /* re is scratch */
  int last = n - 1, count = 0;
  while (last >= 0) {
    const int l = block_start(n, A, last);
    if (l == last) {
      re[last]   = A[last * n + last];
      im[last--] = 0.0;
      count      = 0;
      continue;
    }
    const double *corner = A + (last - 1) * n + last - 1; /* trailing 2 x 2 block */
    if (l == last - 1) {
      two_by_two(corner[0], corner[1], corner[n], corner[n + 1], re + l, im + l);
      last -= 2;
      count = 0;
      continue;
    }
    if (++count > MOST_PER_EIGENVALUE) return YOKE_NOT_CONVERGED;
    double s, t;
    shifts(n, A, last, count, &s, &t);
    sweep(n, A, l, last, s, t);
  }
  return YOKE_OK;
}
