#include "linalg/tridiagonal.h"
#include <complex.h>
#include <math.h>
#include <string.h>

/* P L U by LAPACK (gttrf): rows i and i + 1 change places where pivot[i] is not i (counted from 1). Of its four diagonals, which lie one behind the
 * other, that of U is kept as reciprocals: a solve then has no division, which it would wait for in every row. */
typedef struct diagonals {
  double *lower, *middle, *upper, *second; /* [n] each, or n pairs */
} diagonals;

static diagonals diagonals_in(double *values, int n, bool is_complex) {
  const size_t length = (is_complex ? 2 : 1) * (size_t)n;
  return (diagonals){values, values + length, values + 2 * length, values + 3 * length};
}

bool yoke_tridiagonal_fits(const yoke_pattern *pattern) {
  for (int j = 0; j < pattern->n_cols; ++j) {
    for (int k = pattern->col_start[j]; k < pattern->col_start[j + 1]; ++k) {
      if (pattern->row[k] < j - 1 || pattern->row[k] > j + 1) return false;
    }
  }
  return true;
}

size_t yoke_tridiagonal_n_values(int n, bool is_complex) {
  return (is_complex ? 8 : 4) * (size_t)n;
}

static void put(double *diagonal, int at, const double *re, const double *im, int k) {
  if (im == NULL) {
    diagonal[at] = re[k];
  } else {
    diagonal[2 * at]     = re[k];
    diagonal[2 * at + 1] = im[k];
  }
}

static void fill(const yoke_pattern *p, const double *re, const double *im, const diagonals *d) {
  for (int j = 0; j < p->n_cols; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      const int i = p->row[k];
      if (i == j) put(d->middle, j, re, im, k);
      if (i > j) put(d->lower, j, re, im, k);
      if (i < j) put(d->upper, i, re, im, k);
    }
  }
}

yoke_status yoke_tridiagonal_make(const yoke_pattern *pattern, const double *re, const double *im, double *values,
                                  lapack_int *pivot) {
  const int       n          = pattern->n_cols;
  const bool      is_complex = im != NULL;
  const diagonals d          = diagonals_in(values, n, is_complex);
  memset(values, 0, yoke_tridiagonal_n_values(n, is_complex) * sizeof *values);
  fill(pattern, re, im, &d);
  const lapack_int info = is_complex ? lapack_zgttrf(n, (lapack_complex *)d.lower, (lapack_complex *)d.middle,
                                                     (lapack_complex *)d.upper, (lapack_complex *)d.second, pivot)
                                     : lapack_dgttrf(n, d.lower, d.middle, d.upper, d.second, pivot);
  if (info != 0) return info > 0 ? YOKE_SINGULAR : YOKE_E_INTERNAL;
  bool is_finite = true;
  if (is_complex) {
    lapack_complex *middle = (lapack_complex *)d.middle;
    for (int i = 0; i < n; ++i) {
      middle[i] = 1.0 / middle[i];
      is_finite = is_finite && isfinite(creal(middle[i])) && isfinite(cimag(middle[i]));
    }
  } else {
    for (int i = 0; i < n; ++i) {
      d.middle[i] = 1.0 / d.middle[i];
      is_finite   = is_finite && isfinite(d.middle[i]);
    }
  }
  return is_finite ? YOKE_OK : YOKE_SINGULAR;
}

/* L y = P b, then U x = y: x_i = (y_i - u_i x_(i + 1) - s_i x_(i + 2)) / d_i. The latest one or two values stay in registers. */
static void solve_real(int n, const diagonals *d, const lapack_int *pivot, double *x) {
  double last = x[0];
  for (int i = 0; i + 1 < n; ++i) {
    const double next  = x[i + 1];
    const bool   stays = pivot[i] == i + 1;
    const double first = stays ? last : next;
    x[i]               = first;
    last               = (stays ? next : last) - d->lower[i] * first;
  }
  double one = 0.0, two = 0.0;
  x[n - 1] = last;
  for (int i = n - 1; i >= 0; --i) {
    const double value = (x[i] - d->second[i] * two - d->upper[i] * one) * d->middle[i];
    two                = one;
    one                = value;
    x[i]               = value;
  }
}

static void solve_complex(int n, const diagonals *d, const lapack_int *pivot, double *re, double *im) {
  double last_re = re[0], last_im = im[0];
  for (int i = 0; i + 1 < n; ++i) {
    const double next_re = re[i + 1], next_im = im[i + 1];
    const bool   stays    = pivot[i] == i + 1;
    const double first_re = stays ? last_re : next_re, first_im = stays ? last_im : next_im;
    const double a = d->lower[2 * i], b = d->lower[2 * i + 1];
    re[i]   = first_re;
    im[i]   = first_im;
    last_re = (stays ? next_re : last_re) - (a * first_re - b * first_im);
    last_im = (stays ? next_im : last_im) - (a * first_im + b * first_re);
  }
  double one_re = 0.0, one_im = 0.0, two_re = 0.0, two_im = 0.0;
  re[n - 1] = last_re;
  im[n - 1] = last_im;
  for (int i = n - 1; i >= 0; --i) {
    const double *u = d->upper + 2 * (size_t)i, *s = d->second + 2 * (size_t)i, *r = d->middle + 2 * (size_t)i;
    const double  x = re[i] - (s[0] * two_re - s[1] * two_im) - (u[0] * one_re - u[1] * one_im);
    const double  y = im[i] - (s[0] * two_im + s[1] * two_re) - (u[0] * one_im + u[1] * one_re);
    two_re          = one_re;
    two_im          = one_im;
    one_re          = r[0] * x - r[1] * y;
    one_im          = r[0] * y + r[1] * x;
    re[i]           = one_re;
    im[i]           = one_im;
  }
}

void yoke_tridiagonal_solve(int n, const double *values, const lapack_int *pivot, double *re, double *im) {
  const diagonals d = diagonals_in((double *)values, n, im != NULL);
  if (im == NULL)
    solve_real(n, &d, pivot, re);
  else
    solve_complex(n, &d, pivot, re, im);
}
