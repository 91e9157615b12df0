/* LU factors of tridiagonal matrices, real or complex: those of chains, in the order of their masses. A solve takes some ten operations per row,
 * where one of KLU takes two hundred for its indices, scales and permutations. */
#ifndef YOKE_LINALG_TRIDIAGONAL_H
#define YOKE_LINALG_TRIDIAGONAL_H

#include "linalg/lapack.h"
#include "linalg/sparse.h"

/* Does no entry lie farther from the diagonal than one row? */
bool yoke_tridiagonal_fits(const yoke_pattern *pattern);

/* Doubles of the factors of n rows. */
size_t yoke_tridiagonal_n_values(int n, bool is_complex);

/* re, im (NULL: real) [nnz]; values [n_values], pivot [n]. YOKE_SINGULAR where a pivot vanishes. */
yoke_status yoke_tridiagonal_make(const yoke_pattern *pattern, const double *re, const double *im, double *values,
                                  lapack_int *pivot);

/* In place; im is NULL for real factors. */
void yoke_tridiagonal_solve(int n, const double *values, const lapack_int *pivot, double *re, double *im);

#endif
