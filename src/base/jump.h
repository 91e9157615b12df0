/* Jump: do two limits of an input differ by more than rounding errors? */
#ifndef YOKE_BASE_JUMP_H
#define YOKE_BASE_JUMP_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* `size`: what the input has been. Rounding of values of this size is no jump, also where one limit is 0. */
static inline bool yoke_is_jump(double before, double after, double size) {
  const double change = fabs(after - before);
  return !(change <= 1e-11 * fmax(fabs(before), fabs(after)) || change <= 8.0 * DBL_EPSILON * size);
}

#endif
