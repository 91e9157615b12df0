#include "linalg/lapack.h"

#include "base/memory.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Fortran: all arguments by reference; the lengths of texts follow at the end. */
typedef const lapack_int *in;
typedef const char       *text;

void dgetrf_(in m, in n, double *A, in lda, lapack_int *pivot, lapack_int *info);
void zgetrf_(in m, in n, lapack_complex *A, in lda, lapack_int *pivot, lapack_int *info);
void dgetrs_(text trans, in n, in n_right, const double *A, in lda, in pivot, double *B, in ldb, lapack_int *info,
             size_t);
void zgetrs_(text trans, in n, in n_right, const lapack_complex *A, in lda, in pivot, lapack_complex *B, in ldb,
             lapack_int *info, size_t);
void dgbtrf_(in m, in n, in lower, in upper, double *A, in lda, lapack_int *pivot, lapack_int *info);
void zgbtrf_(in m, in n, in lower, in upper, lapack_complex *A, in lda, lapack_int *pivot, lapack_int *info);
void dgbtrs_(text trans, in n, in lower, in upper, in n_right, const double *A, in lda, in pivot, double *B, in ldb,
             lapack_int *info, size_t);
void zgbtrs_(text trans, in n, in lower, in upper, in n_right, const lapack_complex *A, in lda, in pivot,
             lapack_complex *B, in ldb, lapack_int *info, size_t);
void dgttrf_(in n, double *lower, double *diagonal, double *upper, double *second, lapack_int *pivot, lapack_int *info);
void zgttrf_(in n, lapack_complex *lower, lapack_complex *diagonal, lapack_complex *upper, lapack_complex *second,
             lapack_int *pivot, lapack_int *info);
void dgesv_(in n, in n_right, double *A, in lda, lapack_int *pivot, double *B, in ldb, lapack_int *info);
void dgelsy_(in m, in n, in n_right, double *A, in lda, double *B, in ldb, lapack_int *pivot, const double *rcond,
             lapack_int *rank, double *work, in n_work, lapack_int *info);
void dgelss_(in m, in n, in n_right, double *A, in lda, double *B, in ldb, double *singular, const double *rcond,
             lapack_int *rank, double *work, in n_work, lapack_int *info);
void dgeqp3_(in m, in n, double *A, in lda, lapack_int *pivot, double *tau, double *work, in n_work, lapack_int *info);
void dormqr_(text side, text trans, in m, in n, in k, const double *A, in lda, const double *tau, double *C, in ldc,
             double *work, in n_work, lapack_int *info, size_t, size_t);
void dsyev_(text jobz, text uplo, in n, double *A, in lda, double *w, double *work, in n_work, lapack_int *info, size_t,
            size_t);
void dgeev_(text jobvl, text jobvr, in n, double *A, in lda, double *re, double *im, double *left, in ld_left,
            double *right, in ld_right, double *work, in n_work, lapack_int *info, size_t, size_t);
void dgesvd_(text jobu, text jobvt, in m, in n, double *A, in lda, double *singular, double *U, in ldu, double *Vt,
             in ldvt, double *work, in n_work, lapack_int *info, size_t, size_t);
void dgebal_(text job, in n, double *A, in lda, lapack_int *low, lapack_int *high, double *scale, lapack_int *info,
             size_t);

static bool has_nan(lapack_int m, lapack_int n, const double *A, lapack_int lda) {
  for (lapack_int j = 0; j < n; ++j) {
    for (lapack_int i = 0; i < m; ++i) {
      if (isnan(A[(size_t)j * (size_t)lda + (size_t)i])) return true;
    }
  }
  return false;
}

static double *take_work(double size, lapack_int *n_work) {
  *n_work = (lapack_int)size;
  return yoke_allocate((size_t)*n_work + 1, sizeof(double));
}

/* ---- A = P L U, dense and of bands ---- */

lapack_int lapack_dgetrf(lapack_int m, lapack_int n, double *A, lapack_int lda, lapack_int *pivot) {
  lapack_int info = 0;
  dgetrf_(&m, &n, A, &lda, pivot, &info);
  return info;
}

lapack_int lapack_zgetrf(lapack_int m, lapack_int n, lapack_complex *A, lapack_int lda, lapack_int *pivot) {
  lapack_int info = 0;
  zgetrf_(&m, &n, A, &lda, pivot, &info);
  return info;
}

lapack_int lapack_dgetrs(char trans, lapack_int n, lapack_int n_right, const double *A, lapack_int lda,
                         const lapack_int *pivot, double *B, lapack_int ldb) {
  lapack_int info = 0;
  dgetrs_(&trans, &n, &n_right, A, &lda, pivot, B, &ldb, &info, 1);
  return info;
}

lapack_int lapack_zgetrs(char trans, lapack_int n, lapack_int n_right, const lapack_complex *A, lapack_int lda,
                         const lapack_int *pivot, lapack_complex *B, lapack_int ldb) {
  lapack_int info = 0;
  zgetrs_(&trans, &n, &n_right, A, &lda, pivot, B, &ldb, &info, 1);
  return info;
}

lapack_int lapack_dgbtrf(lapack_int m, lapack_int n, lapack_int lower, lapack_int upper, double *A, lapack_int lda,
                         lapack_int *pivot) {
  lapack_int info = 0;
  dgbtrf_(&m, &n, &lower, &upper, A, &lda, pivot, &info);
  return info;
}

lapack_int lapack_zgbtrf(lapack_int m, lapack_int n, lapack_int lower, lapack_int upper, lapack_complex *A,
                         lapack_int lda, lapack_int *pivot) {
  lapack_int info = 0;
  zgbtrf_(&m, &n, &lower, &upper, A, &lda, pivot, &info);
  return info;
}

lapack_int lapack_dgbtrs(char trans, lapack_int n, lapack_int lower, lapack_int upper, lapack_int n_right,
                         const double *A, lapack_int lda, const lapack_int *pivot, double *B, lapack_int ldb) {
  lapack_int info = 0;
  dgbtrs_(&trans, &n, &lower, &upper, &n_right, A, &lda, pivot, B, &ldb, &info, 1);
  return info;
}

lapack_int lapack_zgbtrs(char trans, lapack_int n, lapack_int lower, lapack_int upper, lapack_int n_right,
                         const lapack_complex *A, lapack_int lda, const lapack_int *pivot, lapack_complex *B,
                         lapack_int ldb) {
  lapack_int info = 0;
  zgbtrs_(&trans, &n, &lower, &upper, &n_right, A, &lda, pivot, B, &ldb, &info, 1);
  return info;
}

lapack_int lapack_dgttrf(lapack_int n, double *lower, double *diagonal, double *upper, double *second,
                         lapack_int *pivot) {
  lapack_int info = 0;
  dgttrf_(&n, lower, diagonal, upper, second, pivot, &info);
  return info;
}

lapack_int lapack_zgttrf(lapack_int n, lapack_complex *lower, lapack_complex *diagonal, lapack_complex *upper,
                         lapack_complex *second, lapack_int *pivot) {
  lapack_int info = 0;
  zgttrf_(&n, lower, diagonal, upper, second, pivot, &info);
  return info;
}

lapack_int lapack_dgesv(lapack_int n, lapack_int n_right, double *A, lapack_int lda, lapack_int *pivot, double *B,
                        lapack_int ldb) {
  lapack_int info = 0;
  if (has_nan(n, n, A, lda) || has_nan(n, n_right, B, ldb)) return LAPACK_NOT_A_NUMBER;
  dgesv_(&n, &n_right, A, &lda, pivot, B, &ldb, &info);
  return info;
}

/* ---- least squares, orthogonal factors ---- */

lapack_int lapack_dgelsy_work(lapack_int m, lapack_int n, lapack_int n_right, double *A, lapack_int lda, double *B,
                              lapack_int ldb, lapack_int *pivot, double rcond, lapack_int *rank, double *work,
                              lapack_int n_work) {
  lapack_int info = 0;
  dgelsy_(&m, &n, &n_right, A, &lda, B, &ldb, pivot, &rcond, rank, work, &n_work, &info);
  return info;
}

lapack_int lapack_dgelsy(lapack_int m, lapack_int n, lapack_int n_right, double *A, lapack_int lda, double *B,
                         lapack_int ldb, lapack_int *pivot, double rcond, lapack_int *rank) {
  double     size = 0.0;
  lapack_int n_work;
  if (has_nan(m, n, A, lda) || has_nan(m > n ? m : n, n_right, B, ldb)) return LAPACK_NOT_A_NUMBER;
  lapack_int info = lapack_dgelsy_work(m, n, n_right, A, lda, B, ldb, pivot, rcond, rank, &size, -1);
  if (info != 0) return info;
  double *work = take_work(size, &n_work);
  if (work == NULL) return LAPACK_NO_MEMORY;
  info = lapack_dgelsy_work(m, n, n_right, A, lda, B, ldb, pivot, rcond, rank, work, n_work);
  free(work);
  return info;
}

lapack_int lapack_dgelss_work(lapack_int m, lapack_int n, lapack_int n_right, double *A, lapack_int lda, double *B,
                              lapack_int ldb, double *singular, double rcond, lapack_int *rank, double *work,
                              lapack_int n_work) {
  lapack_int info = 0;
  dgelss_(&m, &n, &n_right, A, &lda, B, &ldb, singular, &rcond, rank, work, &n_work, &info);
  return info;
}

lapack_int lapack_dgeqp3(lapack_int m, lapack_int n, double *A, lapack_int lda, lapack_int *pivot, double *tau) {
  double     size = 0.0;
  lapack_int info = 0, n_work = -1;
  if (has_nan(m, n, A, lda)) return LAPACK_NOT_A_NUMBER;
  dgeqp3_(&m, &n, A, &lda, pivot, tau, &size, &n_work, &info);
  if (info != 0) return info;
  double *work = take_work(size, &n_work);
  if (work == NULL) return LAPACK_NO_MEMORY;
  dgeqp3_(&m, &n, A, &lda, pivot, tau, work, &n_work, &info);
  free(work);
  return info;
}

lapack_int lapack_dormqr(char side, char trans, lapack_int m, lapack_int n, lapack_int k, const double *A,
                         lapack_int lda, const double *tau, double *C, lapack_int ldc) {
  double     size = 0.0;
  lapack_int info = 0, n_work = -1;
  if (has_nan(side == 'L' ? m : n, k, A, lda) || has_nan(m, n, C, ldc) || has_nan(k, 1, tau, k))
    return LAPACK_NOT_A_NUMBER;
  dormqr_(&side, &trans, &m, &n, &k, A, &lda, tau, C, &ldc, &size, &n_work, &info, 1, 1);
  if (info != 0) return info;
  double *work = take_work(size, &n_work);
  if (work == NULL) return LAPACK_NO_MEMORY;
  dormqr_(&side, &trans, &m, &n, &k, A, &lda, tau, C, &ldc, work, &n_work, &info, 1, 1);
  free(work);
  return info;
}

/* ---- eigenvalues, singular values ---- */

lapack_int lapack_dsyev_work(char jobz, char uplo, lapack_int n, double *A, lapack_int lda, double *w, double *work,
                             lapack_int n_work) {
  lapack_int info = 0;
  dsyev_(&jobz, &uplo, &n, A, &lda, w, work, &n_work, &info, 1, 1);
  return info;
}

lapack_int lapack_dgeev_work(char jobvl, char jobvr, lapack_int n, double *A, lapack_int lda, double *re, double *im,
                             double *left, lapack_int ld_left, double *right, lapack_int ld_right, double *work,
                             lapack_int n_work) {
  lapack_int info = 0;
  dgeev_(&jobvl, &jobvr, &n, A, &lda, re, im, left, &ld_left, right, &ld_right, work, &n_work, &info, 1, 1);
  return info;
}

lapack_int lapack_dgeev(char jobvl, char jobvr, lapack_int n, double *A, lapack_int lda, double *re, double *im,
                        double *left, lapack_int ld_left, double *right, lapack_int ld_right) {
  double     size = 0.0;
  lapack_int n_work;
  if (has_nan(n, n, A, lda)) return LAPACK_NOT_A_NUMBER;
  lapack_int info = lapack_dgeev_work(jobvl, jobvr, n, A, lda, re, im, left, ld_left, right, ld_right, &size, -1);
  if (info != 0) return info;
  double *work = take_work(size, &n_work);
  if (work == NULL) return LAPACK_NO_MEMORY;
  info = lapack_dgeev_work(jobvl, jobvr, n, A, lda, re, im, left, ld_left, right, ld_right, work, n_work);
  free(work);
  return info;
}

lapack_int lapack_dgesvd(char jobu, char jobvt, lapack_int m, lapack_int n, double *A, lapack_int lda, double *singular,
                         double *U, lapack_int ldu, double *Vt, lapack_int ldvt) {
  double     size = 0.0;
  lapack_int info = 0, n_work = -1;
  if (has_nan(m, n, A, lda)) return LAPACK_NOT_A_NUMBER;
  dgesvd_(&jobu, &jobvt, &m, &n, A, &lda, singular, U, &ldu, Vt, &ldvt, &size, &n_work, &info, 1, 1);
  if (info != 0) return info;
  double *work = take_work(size, &n_work);
  if (work == NULL) return LAPACK_NO_MEMORY;
  dgesvd_(&jobu, &jobvt, &m, &n, A, &lda, singular, U, &ldu, Vt, &ldvt, work, &n_work, &info, 1, 1);
  free(work);
  return info;
}

lapack_int lapack_dgebal(char job, lapack_int n, double *A, lapack_int lda, lapack_int *low, lapack_int *high,
                         double *scale) {
  lapack_int info = 0;
  if (has_nan(n, n, A, lda)) return LAPACK_NOT_A_NUMBER;
  dgebal_(&job, &n, A, &lda, low, high, scale, &info, 1);
  return info;
}
