/* LAPACK by our own declarations: the bits that LAPACKE has, and what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "linalg/lapack.h" /* before LAPACKE, which defines lapack_int as a macro */

#include <lapacke.h>

enum { N = 5, NB = 2 };

/* Full, regular, without symmetry; the same in every run. */
static void fill(double *A, int n, double seed) {
  for (int i = 0; i < n; ++i) A[i] = sin(seed + 1.7 * i) + (i % (N + 1) == 0 ? 2.0 : 0.0);
}

#define SAME(a, b) assert_memory_equal((a), (b), sizeof(a))

static void solutions_have_the_bits_of_lapacke(void **state) {
  (void)state;
  double     A[2][N * N], B[2][N * NB];
  lapack_int pivot[2][N];
  for (int k = 0; k < 2; ++k) fill(A[k], N * N, 1.0), fill(B[k], N * NB, 2.0);
  assert_int_equal(lapack_dgesv(N, NB, A[0], N, pivot[0], B[0], N), 0);
  assert_int_equal(LAPACKE_dgesv(LAPACK_COL_MAJOR, N, NB, A[1], N, pivot[1], B[1], N), 0);
  SAME(A[0], A[1]);
  SAME(B[0], B[1]);
  for (int k = 0; k < 2; ++k) fill(B[k], N * NB, 3.0);
  assert_int_equal(lapack_dgetrs('T', N, NB, A[0], N, pivot[0], B[0], N), 0);
  assert_int_equal(LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'T', N, NB, A[1], N, pivot[1], B[1], N), 0);
  SAME(B[0], B[1]);
}

static void least_squares_and_factors_have_the_bits_of_lapacke(void **state) {
  (void)state;
  double     A[2][N * N], B[2][N * NB], tau[2][N];
  lapack_int pivot[2][N] = {{0}}, rank[2];
  for (int k = 0; k < 2; ++k) fill(A[k], N * N, 1.0), fill(B[k], N * NB, 2.0);
  assert_int_equal(lapack_dgelsy(N, N, NB, A[0], N, B[0], N, pivot[0], 1e-12, &rank[0]), 0);
  assert_int_equal(LAPACKE_dgelsy(LAPACK_COL_MAJOR, N, N, NB, A[1], N, B[1], N, pivot[1], 1e-12, &rank[1]), 0);
  SAME(B[0], B[1]);
  assert_int_equal(rank[0], N);
  memset(pivot, 0, sizeof pivot);
  for (int k = 0; k < 2; ++k) fill(A[k], N * N, 4.0), fill(B[k], N * NB, 2.0);
  assert_int_equal(lapack_dgeqp3(N, N, A[0], N, pivot[0], tau[0]), 0);
  assert_int_equal(LAPACKE_dgeqp3(LAPACK_COL_MAJOR, N, N, A[1], N, pivot[1], tau[1]), 0);
  SAME(A[0], A[1]);
  assert_int_equal(lapack_dormqr('L', 'T', N, NB, N, A[0], N, tau[0], B[0], N), 0);
  assert_int_equal(LAPACKE_dormqr(LAPACK_COL_MAJOR, 'L', 'T', N, NB, N, A[1], N, tau[1], B[1], N), 0);
  SAME(B[0], B[1]);
}

static void eigenvalues_and_singular_values_have_the_bits_of_lapacke(void **state) {
  (void)state;
  double A[2][N * N], re[2][N], im[2][N], V[2][N * N], rest[N];
  for (int k = 0; k < 2; ++k) fill(A[k], N * N, 1.0);
  assert_int_equal(lapack_dgeev('N', 'V', N, A[0], N, re[0], im[0], NULL, 1, V[0], N), 0);
  assert_int_equal(LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'V', N, A[1], N, re[1], im[1], NULL, 1, V[1], N), 0);
  SAME(re[0], re[1]);
  SAME(im[0], im[1]);
  SAME(V[0], V[1]);
  for (int k = 0; k < 2; ++k) fill(A[k], N * N, 5.0);
  assert_int_equal(lapack_dgesvd('N', 'A', N, N, A[0], N, re[0], NULL, 1, V[0], N), 0);
  assert_int_equal(LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', 'A', N, N, A[1], N, re[1], NULL, 1, V[1], N, rest), 0);
  SAME(re[0], re[1]);
  SAME(V[0], V[1]);
}

static void nan_is_refused_and_singular_is_told(void **state) {
  (void)state;
  double     A[N * N], B[N] = {1.0}, re[N], im[N], tau[N], scale[N];
  lapack_int pivot[N] = {0}, rank, low, high;
  fill(A, N * N, 1.0);
  A[7] = (double)NAN;
  assert_int_equal(lapack_dgesv(N, 1, A, N, pivot, B, N), LAPACK_NOT_A_NUMBER);
  assert_int_equal(lapack_dgelsy(N, N, 1, A, N, B, N, pivot, 1e-12, &rank), LAPACK_NOT_A_NUMBER);
  assert_int_equal(lapack_dgeqp3(N, N, A, N, pivot, tau), LAPACK_NOT_A_NUMBER);
  assert_int_equal(lapack_dgeev('N', 'N', N, A, N, re, im, NULL, 1, NULL, 1), LAPACK_NOT_A_NUMBER);
  assert_int_equal(lapack_dgesvd('N', 'N', N, N, A, N, re, NULL, 1, NULL, 1), LAPACK_NOT_A_NUMBER);
  assert_int_equal(lapack_dgebal('S', N, A, N, &low, &high, scale), LAPACK_NOT_A_NUMBER);
  memset(A, 0, sizeof A);
  assert_int_equal(lapack_dgesv(N, 1, A, N, pivot, B, N), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solutions_have_the_bits_of_lapacke),
      cmocka_unit_test(least_squares_and_factors_have_the_bits_of_lapacke),
      cmocka_unit_test(eigenvalues_and_singular_values_have_the_bits_of_lapacke),
      cmocka_unit_test(nan_is_refused_and_singular_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
