/* Symmetric positive definite band matrices, factored once and solved often: A = L L^T. */
#ifndef YOKE_LINALG_BAND_H
#define YOKE_LINALG_BAND_H

#include <stddef.h>

typedef struct yoke_band {
  int n, width; /* rows; entries beside the diagonal on each side */
  double *
      L; /* [n, width + 1] row i holds columns i - width ... i, its diagonal last; the reciprocal of it once factored */
} yoke_band;

/* Doubles of L. */
static inline size_t yoke_band_size(int n, int width) {
  return (size_t)n * ((size_t)width + 1);
}

static inline double *yoke_band_at(const yoke_band *band, int row, int column) {
  return band->L + (ptrdiff_t)row * (band->width + 1) + band->width - row + column;
}

/* In place, from the lower part of A. -1: done; else the first row whose pivot is not above `limit` of its diagonal. */
int yoke_band_factor(const yoke_band *band, double limit);

/* A x = x for m right-hand sides, x [n, m]. */
void yoke_band_solve(const yoke_band *band, int m, double *x);

#endif
