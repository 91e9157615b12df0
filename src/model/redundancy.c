#include "model/redundancy.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/SuiteSparseQR_C.h>

static const double rank_tolerance =
    1e-9; /* of a row of length one: what is shorter, outside the span of others, is zero */

/* G at (t, q) as a matrix of cholmod, its rows at the places place[row] (-1: left out) among n, each divided by its length;
 * transposed: [nv, n]. NULL: no memory. */
static cholmod_sparse *scaled_transpose(const yoke_multibody *mb, void *work, double t, const double *q, int n,
                                        const int *place, double *length, cholmod_common *common) {
  const yoke_pattern *pattern = yoke_multibody_G_pattern(mb);
  double             *G       = yoke_allocate((size_t)pattern->nnz + 1, sizeof *G);
  cholmod_sparse *rows    = cholmod_l_allocate_sparse((size_t)n, (size_t)pattern->n_cols, (size_t)pattern->nnz, 0, 1, 0,
                                                      CHOLMOD_REAL, common);
  cholmod_sparse *columns = NULL;
  if (G != NULL && rows != NULL) {
    SuiteSparse_long *start = rows->p, *row = rows->i, at = 0;
    double           *value = rows->x;
    yoke_multibody_G(mb, work, t, q, G);
    memset(length, 0, (size_t)pattern->n_rows * sizeof *length);
    for (int k = 0; k < pattern->nnz; ++k) length[pattern->row[k]] = hypot(length[pattern->row[k]], G[k]);
    for (int c = 0; c < pattern->n_cols; ++c) {
      start[c] = at;
      for (int k = pattern->col_start[c]; k < pattern->col_start[c + 1]; ++k) {
        const int r = pattern->row[k];
        if (place[r] < 0) continue;
        row[at]     = place[r];
        value[at++] = length[r] > 0.0 ? G[k] / length[r] : 0.0;
      }
    }
    start[pattern->n_cols] = at;
    columns                = cholmod_l_transpose(rows, 1, common);
  }
  free(G);
  cholmod_l_free_sparse(&rows, common);
  return columns;
}

static int compare_ints(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

/* Columns without a pivot. Fixed order: R is a staircase, and a column with a pivot is one that reaches a new row; else
 * the permutation has them last. */
static int columns_without_pivot(int n, int rank, const cholmod_sparse *R, const SuiteSparse_long *permutation,
                                 bool is_fixed, int *out) {
  int found = 0;
  if (!is_fixed) {
    for (int i = rank; i < n; ++i) out[found++] = permutation != NULL ? (int)permutation[i] : i;
    return found;
  }
  const SuiteSparse_long *start = R->p, *row = R->i;
  int                     depth = 0;
  for (int c = 0; c < n; ++c) {
    bool reaches = false;
    for (SuiteSparse_long k = start[c]; k < start[c + 1]; ++k) reaches = reaches || row[k] == depth;
    if (reaches)
      ++depth;
    else
      out[found++] = c;
  }
  return found;
}

yoke_status yoke_redundancy_rows(const yoke_multibody *mb, void *work, double t, const double *q, const int *order,
                                 int *n, int **rows) {
  const int      ng     = yoke_multibody_G_pattern(mb)->n_rows;
  int           *place  = yoke_allocate((size_t)ng + 1, sizeof *place);
  double        *length = yoke_allocate((size_t)ng + 1, sizeof *length);
  cholmod_common common;
  *n    = 0;
  *rows = NULL;
  cholmod_l_start(&common);
  common.print              = 0;
  cholmod_sparse   *columns = NULL, *R = NULL;
  SuiteSparse_long *permutation = NULL;
  yoke_status       status      = YOKE_E_MEMORY;
  if (place == NULL || length == NULL) goto done;
  for (int i = 0; i < ng; ++i) place[order != NULL ? order[i] : i] = i;
  columns = scaled_transpose(mb, work, t, q, ng, place, length, &common);
  if (columns == NULL) goto done;
  const SuiteSparse_long rank =
      SuiteSparseQR_C(order != NULL ? SPQR_ORDERING_FIXED : SPQR_ORDERING_DEFAULT, rank_tolerance, 0, 0, columns, NULL,
                      NULL, NULL, NULL, &R, &permutation, NULL, NULL, NULL, &common);
  if (rank < 0) goto done;
  *rows = yoke_allocate((size_t)ng + 1, sizeof **rows);
  if (*rows == NULL) goto done;
  *n = columns_without_pivot(ng, (int)rank, R, permutation, order != NULL, *rows);
  for (int i = 0; i < *n && order != NULL; ++i) (*rows)[i] = order[(*rows)[i]];
  qsort(*rows, (size_t)*n, sizeof **rows, compare_ints);
  status = YOKE_OK;
done:
  cholmod_l_free((size_t)ng, sizeof *permutation, permutation, &common);
  cholmod_l_free_sparse(&R, &common);
  cholmod_l_free_sparse(&columns, &common);
  cholmod_l_finish(&common);
  free(place);
  free(length);
  return status;
}

yoke_status yoke_redundancy_express(const yoke_multibody *mb, void *work, double t, const double *q,
                                    const bool *retired, const double *f, double *x) {
  const yoke_pattern *pattern = yoke_multibody_G_pattern(mb);
  const int           ng      = pattern->n_rows;
  int                *place   = yoke_allocate((size_t)ng + 1, sizeof *place);
  double             *length  = yoke_allocate((size_t)ng + 1, sizeof *length);
  cholmod_common      common;
  cholmod_l_start(&common);
  common.print          = 0;
  cholmod_sparse *kept  = NULL;
  cholmod_dense  *right = NULL, *solution = NULL;
  yoke_status     status = YOKE_E_MEMORY;
  int             n      = 0;
  memset(x, 0, (size_t)ng * sizeof *x);
  if (place == NULL || length == NULL) goto done;
  for (int r = 0; r < ng; ++r) place[r] = retired[r] ? -1 : n++;
  status = YOKE_OK;
  if (n == 0) goto done;
  status = YOKE_E_MEMORY;
  kept   = scaled_transpose(mb, work, t, q, n, place, length, &common);
  right  = cholmod_l_allocate_dense((size_t)pattern->n_cols, 1, (size_t)pattern->n_cols, CHOLMOD_REAL, &common);
  if (kept == NULL || right == NULL) goto done;
  memcpy(right->x, f, (size_t)pattern->n_cols * sizeof *f);
  solution = SuiteSparseQR_C_backslash(SPQR_ORDERING_DEFAULT, rank_tolerance, kept, right, &common);
  if (solution == NULL) goto done;
  for (int r = 0; r < ng; ++r) {
    if (place[r] >= 0 && length[r] > 0.0) x[r] = ((const double *)solution->x)[place[r]] / length[r];
  }
  status = YOKE_OK;
done:
  cholmod_l_free_dense(&solution, &common);
  cholmod_l_free_dense(&right, &common);
  cholmod_l_free_sparse(&kept, &common);
  cholmod_l_finish(&common);
  free(place);
  free(length);
  return status;
}

yoke_status yoke_redundancy_move(const yoke_multibody *mb, void *work, double t, const double *q, const bool *retired,
                                 double *lambda) {
  const yoke_pattern *pattern = yoke_multibody_G_pattern(mb);
  const size_t        ng = (size_t)pattern->n_rows, nv = (size_t)pattern->n_cols;
  double             *block  = yoke_allocate((size_t)pattern->nnz + 2 * ng + nv + 1, sizeof *block);
  yoke_status         status = block != NULL ? YOKE_OK : YOKE_E_MEMORY;
  if (status == YOKE_OK) {
    double *G = block, *share = G + pattern->nnz, *x = share + ng, *f = x + ng;
    for (size_t r = 0; r < ng; ++r) share[r] = retired[r] ? lambda[r] : 0.0;
    yoke_multibody_G(mb, work, t, q, G);
    yoke_sparse_multiply_transposed(pattern, G, share, f);
    status = yoke_redundancy_express(mb, work, t, q, retired, f, x);
    for (size_t r = 0; r < ng && status == YOKE_OK; ++r) lambda[r] = retired[r] ? 0.0 : lambda[r] + x[r];
  }
  free(block);
  return status;
}
