/* LAPACK in C: what the library uses of it, matrices by columns, numbers by value. Names are those of LAPACK with arguments in its order.
 * `_work` takes its work array from the caller, of n_work doubles; it never allocates and takes numbers as they are.
 * The others take work arrays themselves, and refuse matrices with NaN, for which some iterations of LAPACK do not end.
 * Return 0, i > 0 as LAPACK says, LAPACK_NOT_A_NUMBER or LAPACK_NO_MEMORY. */
#ifndef YOKE_LINALG_LAPACK_H
#define YOKE_LINALG_LAPACK_H

typedef int lapack_int;
typedef double _Complex lapack_complex;

enum { LAPACK_NOT_A_NUMBER = -1000, LAPACK_NO_MEMORY = -1001 };

/* ---- A = P L U, dense and of bands ---- */

/* Tridiagonal: lower [n - 1] becomes the multipliers of L; diagonal [n], upper [n - 1] and second [n - 2] become U. */
lapack_int lapack_dgttrf(lapack_int n, double *lower, double *diagonal, double *upper, double *second,
                         lapack_int *pivot);
lapack_int lapack_zgttrf(lapack_int n, lapack_complex *lower, lapack_complex *diagonal, lapack_complex *upper,
                         lapack_complex *second, lapack_int *pivot);

lapack_int lapack_dgetrf(lapack_int m, lapack_int n, double *A, lapack_int lda, lapack_int *pivot);
lapack_int lapack_zgetrf(lapack_int m, lapack_int n, lapack_complex *A, lapack_int lda, lapack_int *pivot);
lapack_int lapack_dgetrs(char trans, lapack_int n, lapack_int n_right, const double *A, lapack_int lda,
                         const lapack_int *pivot, double *B, lapack_int ldb);
lapack_int lapack_zgetrs(char trans, lapack_int n, lapack_int n_right, const lapack_complex *A, lapack_int lda,
                         const lapack_int *pivot, lapack_complex *B, lapack_int ldb);
lapack_int lapack_dgbtrf(lapack_int m, lapack_int n, lapack_int lower, lapack_int upper, double *A, lapack_int lda,
                         lapack_int *pivot);
lapack_int lapack_zgbtrf(lapack_int m, lapack_int n, lapack_int lower, lapack_int upper, lapack_complex *A,
                         lapack_int lda, lapack_int *pivot);
lapack_int lapack_dgbtrs(char trans, lapack_int n, lapack_int lower, lapack_int upper, lapack_int n_right,
                         const double *A, lapack_int lda, const lapack_int *pivot, double *B, lapack_int ldb);
lapack_int lapack_zgbtrs(char trans, lapack_int n, lapack_int lower, lapack_int upper, lapack_int n_right,
                         const lapack_complex *A, lapack_int lda, const lapack_int *pivot, lapack_complex *B,
                         lapack_int ldb);
/* Refuses NaN; needs no work array. */
lapack_int lapack_dgesv(lapack_int n, lapack_int n_right, double *A, lapack_int lda, lapack_int *pivot, double *B,
                        lapack_int ldb);

/* ---- least squares, orthogonal factors ---- */

lapack_int lapack_dgelsy_work(lapack_int m, lapack_int n, lapack_int n_right, double *A, lapack_int lda, double *B,
                              lapack_int ldb, lapack_int *pivot, double rcond, lapack_int *rank, double *work,
                              lapack_int n_work);
lapack_int lapack_dgelsy(lapack_int m, lapack_int n, lapack_int n_right, double *A, lapack_int lda, double *B,
                         lapack_int ldb, lapack_int *pivot, double rcond, lapack_int *rank);
lapack_int lapack_dgelss_work(lapack_int m, lapack_int n, lapack_int n_right, double *A, lapack_int lda, double *B,
                              lapack_int ldb, double *singular, double rcond, lapack_int *rank, double *work,
                              lapack_int n_work);
lapack_int lapack_dgeqp3(lapack_int m, lapack_int n, double *A, lapack_int lda, lapack_int *pivot, double *tau);
lapack_int lapack_dormqr(char side, char trans, lapack_int m, lapack_int n, lapack_int k, const double *A,
                         lapack_int lda, const double *tau, double *C, lapack_int ldc);

/* ---- eigenvalues, singular values ---- */

lapack_int lapack_dsyev_work(char jobz, char uplo, lapack_int n, double *A, lapack_int lda, double *w, double *work,
                             lapack_int n_work);
lapack_int lapack_dgeev_work(char jobvl, char jobvr, lapack_int n, double *A, lapack_int lda, double *re, double *im,
                             double *left, lapack_int ld_left, double *right, lapack_int ld_right, double *work,
                             lapack_int n_work);
lapack_int lapack_dgeev(char jobvl, char jobvr, lapack_int n, double *A, lapack_int lda, double *re, double *im,
                        double *left, lapack_int ld_left, double *right, lapack_int ld_right);
lapack_int lapack_dgesvd(char jobu, char jobvt, lapack_int m, lapack_int n, double *A, lapack_int lda, double *singular,
                         double *U, lapack_int ldu, double *Vt, lapack_int ldvt);
/* Refuses NaN; needs no work array. */
lapack_int lapack_dgebal(char job, lapack_int n, double *A, lapack_int lda, lapack_int *low, lapack_int *high,
                         double *scale);

#endif
