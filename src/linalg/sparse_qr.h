/* Sparse QR: which rows of a sparse matrix follow from others, and least squares with the rest.
 *
 * G has shape [n_rows, n_cols] in compressed columns. The columns of A = G^T are taken in the given order; column c has a
 * pivot when its part outside the span of those before it is longer than `tolerance`. The cost follows the fill of R,
 * R^T R = A^T A: linear for chains. */
#ifndef YOKE_LINALG_SPARSE_QR_H
#define YOKE_LINALG_SPARSE_QR_H

#include "linalg/sparse.h"

/* Rows order[0 .. n-1] of G take part. follows [n] (may be NULL): does row order[i] follow from rows before it?
 * x [n] (may be NULL): min |sum_i x[i] G[order[i], :] - f|, 0 for rows that follow; f [n_cols] (read with x only).
 * Returns YOKE_OK or YOKE_E_MEMORY. */
yoke_status yoke_sparse_qr(const yoke_pattern *pattern, const double *g, int n, const int *order, double tolerance,
                           const double *f, double *x, bool *follows);

/* An order of all rows [n_rows] that keeps R sparse (COLAMD). */
yoke_status yoke_sparse_qr_order(const yoke_pattern *pattern, int *order);

#endif
