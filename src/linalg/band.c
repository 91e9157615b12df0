#include "linalg/band.h"

#include "base/simd.h"
#include <math.h>

static int first_column(const yoke_band *band, int row) {
  return row > band->width ? row - band->width : 0;
}

int yoke_band_factor(const yoke_band *band, double limit) {
  for (int i = 0; i < band->n; ++i) {
    const int first = first_column(band, i);
    for (int j = first; j <= i; ++j) {
      const int    from = first > first_column(band, j) ? first : first_column(band, j);
      double      *x    = yoke_band_at(band, i, j);
      const double a    = *x;
      for (int k = from; k < j; ++k) *x -= *yoke_band_at(band, i, k) * *yoke_band_at(band, j, k);
      if (j < i) {
        *x *= *yoke_band_at(band, j, j);
      } else {
        if (!(*x > limit * a) || !isfinite(*x)) return i;
        *x = 1.0 / sqrt(*x);
      }
    }
  }
  return -1;
}

/* y -= s x */
static YOKE_ALWAYS_INLINE void subtract(double s, int m, const double *restrict x, double *restrict y) {
  for (int k = 0; k < m; ++k) y[k] -= s * x[k];
}

static YOKE_ALWAYS_INLINE void scale(double s, int m, double *x) {
  for (int k = 0; k < m; ++k) x[k] *= s;
}

YOKE_SIMD void yoke_band_solve(const yoke_band *band, int m, double *x) {
  const ptrdiff_t row = m;
  for (int i = 0; i < band->n; ++i) {
    for (int j = first_column(band, i); j < i; ++j) subtract(*yoke_band_at(band, i, j), m, x + j * row, x + i * row);
    scale(*yoke_band_at(band, i, i), m, x + i * row);
  }
  for (int i = band->n - 1; i >= 0; --i) {
    scale(*yoke_band_at(band, i, i), m, x + i * row);
    for (int j = first_column(band, i); j < i; ++j) subtract(*yoke_band_at(band, i, j), m, x + i * row, x + j * row);
  }
}
