#include "model/redundancy.h"
#include "base/memory.h"
#include "base/text.h"
#include "linalg/sparse_qr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* G [nnz] at (t, q), each row divided by its length [ng]. `unit` [nv], NULL: 1, of the freedoms. */
static void scaled_rows(const yoke_multibody *mb, void *work, double t, const double *q, const double *unit, double *G,
                        double *length) {
  const yoke_pattern *pattern = yoke_multibody_G_pattern(mb);
  yoke_multibody_G(mb, work, t, q, G);
  for (int c = 0; c < pattern->n_cols && unit != NULL; ++c) {
    for (int k = pattern->col_start[c]; k < pattern->col_start[c + 1]; ++k) G[k] *= unit[c];
  }
  memset(length, 0, (size_t)pattern->n_rows * sizeof *length);
  for (int k = 0; k < pattern->nnz; ++k) length[pattern->row[k]] = hypot(length[pattern->row[k]], G[k]);
  for (int k = 0; k < pattern->nnz; ++k) {
    const double l = length[pattern->row[k]];
    G[k]           = l > 0.0 ? G[k] / l : 0.0;
  }
}

yoke_status yoke_redundancy_rows(const yoke_multibody *mb, void *work, double t, const double *q, const int *order,
                                 double distance, int *n, int **rows) {
  const yoke_pattern *pattern = yoke_multibody_G_pattern(mb);
  const int           ng      = pattern->n_rows;
  double             *G       = yoke_allocate((size_t)(pattern->nnz + ng + pattern->n_cols) + 1, sizeof *G);
  int                *own     = yoke_allocate((size_t)ng + 1, sizeof *own);
  bool               *follows = yoke_allocate(2 * (size_t)ng + 1, sizeof *follows);
  yoke_status         status  = G != NULL && own != NULL && follows != NULL ? YOKE_OK : YOKE_E_MEMORY;
  *n                          = 0;
  *rows                       = NULL;
  if (status == YOKE_OK && order == NULL) status = yoke_sparse_qr_order(pattern, own);
  if (status == YOKE_OK) {
    const int *taken = order != NULL ? order : own;
    double    *unit  = G + pattern->nnz + ng;
    yoke_multibody_units(mb, unit);
    scaled_rows(mb, work, t, q, unit, G, G + pattern->nnz);
    status = yoke_sparse_qr(pattern, G, ng, taken, distance, NULL, NULL, follows);
    for (int i = 0; i < ng; ++i) follows[ng + taken[i]] = follows[i];
  }
  if (status == YOKE_OK) {
    for (int r = 0; r < ng; ++r) {
      if (follows[ng + r]) own[(*n)++] = r;
    }
    *rows = own;
    own   = NULL;
  }
  free(G);
  free(own);
  free(follows);
  return status;
}

yoke_status yoke_redundancy_express(const yoke_multibody *mb, void *work, double t, const double *q,
                                    const bool *retired, const double *f, double *x) {
  const yoke_pattern *pattern = yoke_multibody_G_pattern(mb);
  const int           ng      = pattern->n_rows;
  double             *G       = yoke_allocate((size_t)pattern->nnz + 2 * (size_t)ng + 1, sizeof *G);
  int                *kept    = yoke_allocate(2 * (size_t)ng + 1, sizeof *kept);
  yoke_status         status  = G != NULL && kept != NULL ? YOKE_OK : YOKE_E_MEMORY;
  memset(x, 0, (size_t)ng * sizeof *x);
  if (status == YOKE_OK) status = yoke_sparse_qr_order(pattern, kept + ng);
  if (status == YOKE_OK) {
    double *length = G + pattern->nnz, *solution = length + ng;
    int     n = 0;
    for (int i = 0; i < ng; ++i) {
      if (!retired[kept[ng + i]]) kept[n++] = kept[ng + i];
    }
    scaled_rows(mb, work, t, q, NULL, G, length);
    status = yoke_sparse_qr(pattern, G, n, kept, YOKE_REDUNDANCY_DISTANCE, f, solution, NULL);
    for (int i = 0; i < n && status == YOKE_OK; ++i) {
      if (length[kept[i]] > 0.0) x[kept[i]] = solution[i] / length[kept[i]];
    }
  }
  free(G);
  free(kept);
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
