/* Eigenvalues of small matrices: known spectra, invariance, hard cases. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "analysis/spectrum.h"

#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_N = 100 };

/* Numbers in (-1, 1), the same in every run. */
static double next_number(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

/* The companion matrix of a polynomial with roots at `radius` times the n-th roots of unity has one spectral radius: its roots. */
static void companion(int n, double radius, double *M) {
  memset(M, 0, (size_t)n * (size_t)n * sizeof *M);
  for (int i = 1; i < n; ++i) M[i * n + i - 1] = 1.0;
  M[n - 1] = pow(radius, n);
}

static void companion_matrices_have_the_radius_of_their_roots(void **state) {
  (void)state;
  static double M[MAX_N * MAX_N];
  for (int n = 1; n <= 30; ++n) {
    double rho;
    companion(n, 0.7, M);
    assert_int_equal(yoke_spectral_radius(n, M, &rho), YOKE_OK);
    CHECK_NEAR(rho, 0.7, 1e-8);
  }
}

/* Block diagonal with 2 x 2 rotations of growing size, mixed by a similarity with small entries. */
static void mixed_blocks(int n, uint64_t seed, double *M, double *rho) {
  static double B[MAX_N * MAX_N];
  memset(B, 0, sizeof B);
  for (int i = 0; i + 1 < n; i += 2) {
    const double size = 0.2 + 0.05 * i, angle = 0.3 + 0.4 * i;
    B[i * n + i] = B[(i + 1) * n + i + 1] = size * cos(angle);
    B[i * n + i + 1]                      = size * sin(angle);
    B[(i + 1) * n + i]                    = -size * sin(angle);
    *rho                                  = size;
  }
  if (n % 2 == 1) B[n * n - 1] = -0.1;
  memcpy(M, B, (size_t)n * (size_t)n * sizeof *M);
  for (int k = 0; k < 3 * n; ++k) { /* M := (I + s e_i e_j^T) M (I - s e_i e_j^T) */
    const double s = next_number(&seed);
    const int    i = (int)(fabs(next_number(&seed)) * n), j = (i + 1 + (int)(fabs(next_number(&seed)) * (n - 1))) % n;
    if (i == j) continue;
    for (int c = 0; c < n; ++c) M[i * n + c] += s * M[j * n + c];
    for (int r = 0; r < n; ++r) M[r * n + j] -= s * M[r * n + i];
  }
}

static void similar_matrices_have_the_same_radius(void **state) {
  (void)state;
  static double M[MAX_N * MAX_N];
  for (int n = 2; n <= 24; ++n) {
    double rho, expected = 0.0;
    mixed_blocks(n, (uint64_t)n, M, &expected);
    assert_int_equal(yoke_spectral_radius(n, M, &rho), YOKE_OK);
    CHECK_NEAR(rho, expected, 1e-9);
  }
}

static void eigenvalues_come_in_pairs_with_the_positive_one_first(void **state) {
  (void)state;
  static double M[MAX_N * MAX_N];
  double        re[MAX_N], im[MAX_N], rho;
  mixed_blocks(9, 5, M, &rho);
  assert_int_equal(yoke_eigenvalues(9, M, re, im), YOKE_OK);
  int n_pairs = 0;
  for (int i = 0; i < 9; ++i) {
    if (im[i] == 0.0) continue;
    assert_true(im[i] > 0.0);
    assert_true(re[i] == re[i + 1] && im[i] == -im[i + 1]);
    ++n_pairs;
    ++i;
  }
  assert_int_equal(n_pairs, 4);
}

/* Sum and product of the eigenvalues are trace and determinant. */
static void eigenvalues_add_up_to_the_trace(void **state) {
  (void)state;
  static double M[MAX_N * MAX_N];
  uint64_t      seed = 42;
  for (int trial = 0; trial < 200; ++trial) {
    const int n = 1 + trial % 20;
    double    re[MAX_N], im[MAX_N], trace = 0.0, sum = 0.0, squares = 0.0, sum_squares = 0.0;
    for (int i = 0; i < n * n; ++i) M[i] = next_number(&seed);
    assert_int_equal(yoke_eigenvalues(n, M, re, im), YOKE_OK);
    for (int i = 0; i < n; ++i) {
      trace += M[i * n + i];
      for (int j = 0; j < n; ++j) squares += M[i * n + j] * M[j * n + i];
      sum += re[i];
      sum_squares += re[i] * re[i] - im[i] * im[i];
    }
    CHECK_NEAR(sum, trace, 1e-12 * n);
    CHECK_NEAR(sum_squares, squares, 1e-12 * n * n); /* trace of M^2 */
  }
}

static double lapack_radius(int n, const double *M) {
  static double copy[MAX_N * MAX_N], re[MAX_N], im[MAX_N];
  double        rho = 0.0;
  memcpy(copy, M, (size_t)n * (size_t)n * sizeof *M);
  assert_int_equal(LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', n, copy, n, re, im, NULL, n, NULL, n), 0);
  for (int i = 0; i < n; ++i) rho = fmax(rho, hypot(re[i], im[i]));
  return rho;
}

static void radii_agree_with_lapack_on_random_matrices(void **state) {
  (void)state;
  static double M[MAX_N * MAX_N];
  uint64_t      seed = 7;
  for (int trial = 0; trial < 600; ++trial) {
    const int n = 1 + trial % 24;
    double    rho;
    for (int i = 0; i < n * n; ++i) {
      const double x = next_number(&seed);
      M[i] = trial % 3 == 0 ? x : trial % 3 == 1 ? x * exp(8.0 * next_number(&seed)) : fabs(x) < 0.6 ? 0.0 : x;
    }
    assert_int_equal(yoke_spectral_radius(n, M, &rho), YOKE_OK);
    const double expected = lapack_radius(n, M);
    CHECK_NEAR(rho, expected, 1e-9 * fmax(expected, 1e-3));
  }
}

static void badly_scaled_matrices_keep_their_digits(void **state) {
  (void)state;
  /* diag(1, s, s^2) M0 diag^-1 with the eigenvalues of M0: 2, -1, 0.5 */
  const double M0[9] = {2.0, 1.0, 3.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.5};
  double       M[9], rho;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) M[3 * i + j] = ldexp(M0[3 * i + j], 20 * (i - j));
  }
  assert_int_equal(yoke_spectral_radius(3, M, &rho), YOKE_OK);
  CHECK_NEAR(rho, 2.0, 1e-14);
}

static void zero_and_nilpotent_matrices_have_radius_zero(void **state) {
  (void)state;
  double M[36] = {0}, rho = 1.0;
  assert_int_equal(yoke_spectral_radius(6, M, &rho), YOKE_OK);
  CHECK_NEAR(rho, 0.0, 0.0);
  for (int i = 1; i < 6; ++i) M[6 * i + i - 1] = 1.0; /* a shift register */
  assert_int_equal(yoke_spectral_radius(6, M, &rho), YOKE_OK);
  CHECK_NEAR(rho, 0.0, 1e-12);
}

static void entries_that_are_not_finite_are_refused(void **state) {
  (void)state;
  double M[4] = {1.0, NAN, 0.0, 1.0}, rho, re[2], im[2];
  assert_int_equal(yoke_spectral_radius(2, M, &rho), YOKE_NON_FINITE);
  M[1] = INFINITY;
  assert_int_equal(yoke_eigenvalues(2, M, re, im), YOKE_NON_FINITE);
  assert_int_equal(yoke_dominant_mode(2, M, &rho, NULL, NULL, NULL), YOKE_NON_FINITE);
}

static void the_dominant_mode_is_an_eigenvector(void **state) {
  (void)state;
  /* the second of three coupled entries grows; a pair and a real eigenvalue */
  const double M[9] = {0.5, 0.0, 0.0, 0.25, 1.5, 0.0, 0.0, 0.5, 0.3};
  double       rho, re, im, size[3];
  assert_int_equal(yoke_dominant_mode(3, M, &rho, &re, &im, size), YOKE_OK);
  CHECK_NEAR(rho, 1.5, 1e-14);
  CHECK_NEAR(re, 1.5, 1e-14);
  CHECK_NEAR(im, 0.0, 0.0);
  CHECK_NEAR(size[0], 0.0, 1e-14);
  CHECK_NEAR(size[1], 1.0, 0.0);
  CHECK_NEAR(size[2], 0.5 / 1.2, 1e-14);
  const double R[4] = {0.0, 2.0, -0.5, 0.0}; /* +- i with v = (2, i) */
  assert_int_equal(yoke_dominant_mode(2, R, &rho, &re, &im, size), YOKE_OK);
  CHECK_NEAR(rho, 1.0, 1e-14);
  CHECK_NEAR(im, 1.0, 1e-14);
  CHECK_NEAR(size[0], 1.0, 0.0);
  CHECK_NEAR(size[1], 0.5, 1e-14);
}

static void large_matrices_use_the_heap_and_agree(void **state) {
  (void)state;
  static double M[MAX_N * MAX_N], size[MAX_N];
  double        rho, mode;
  uint64_t      seed = 3;
  for (int i = 0; i < MAX_N * MAX_N; ++i) M[i] = next_number(&seed);
  assert_int_equal(yoke_spectral_radius(MAX_N, M, &rho), YOKE_OK);
  assert_int_equal(yoke_dominant_mode(MAX_N, M, &mode, NULL, NULL, size), YOKE_OK);
  CHECK_NEAR(rho, lapack_radius(MAX_N, M), 1e-11);
  CHECK_NEAR(mode, rho, 1e-11);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(companion_matrices_have_the_radius_of_their_roots),
      cmocka_unit_test(similar_matrices_have_the_same_radius),
      cmocka_unit_test(eigenvalues_come_in_pairs_with_the_positive_one_first),
      cmocka_unit_test(eigenvalues_add_up_to_the_trace),
      cmocka_unit_test(radii_agree_with_lapack_on_random_matrices),
      cmocka_unit_test(badly_scaled_matrices_keep_their_digits),
      cmocka_unit_test(zero_and_nilpotent_matrices_have_radius_zero),
      cmocka_unit_test(entries_that_are_not_finite_are_refused),
      cmocka_unit_test(the_dominant_mode_is_an_eigenvector),
      cmocka_unit_test(large_matrices_use_the_heap_and_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
