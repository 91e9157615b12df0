#include "control/error_constants.h"

yoke_error_constants yoke_error_constants_at(int k, const double *s) {
  double c[YOKE_ERROR_MAX_K + 1] = {1.0}; /* powers of s */
  for (int j = 0; j < k; ++j) {           /* c := c (s - s_j) / (1 - s_j) */
    const double scale = 1.0 / (1.0 - s[j]);
    for (int i = j + 1; i > 0; --i) c[i] = scale * (c[i - 1] - s[j] * c[i]);
    c[0] *= -s[j] * scale;
  }
  yoke_error_constants out = {0.0, 0.0};
  for (int i = 0; i <= k; ++i) { /* int s^i = 1/(i+1), int (1 - s) s^i = 1/((i+1)(i+2)) */
    out.velocity += c[i] / (double)(i + 1);
    out.position += c[i] / (double)((i + 1) * (i + 2));
  }
  return out;
}
