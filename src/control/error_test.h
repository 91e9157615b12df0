/* Local error test: weighted root mean square of estimated errors (Kraft 3.22, 3.23).
 *   |e| = sqrt(1/n sum (e_i / (atol + rtol |x_i|))^2) <= 1,
 * x_i at the new macro point. Positions, velocities and coupling values have norms of their own; the largest decides. */
#ifndef YOKE_CONTROL_ERROR_TEST_H
#define YOKE_CONTROL_ERROR_TEST_H

#include <math.h>

/* Running sum of one norm; add in index order, so that the bits do not depend on threads. */
typedef struct yoke_wrms {
  double sum;
  int    n;
} yoke_wrms;

static inline void yoke_wrms_add(yoke_wrms *norm, double error, double value, double rtol, double atol) {
  const double part = error / (atol + rtol * fabs(value));
  norm->sum += part * part;
  ++norm->n;
}

/* Not finite when an error is not; 0 for an empty norm. */
static inline double yoke_wrms_value(const yoke_wrms *norm) {
  return norm->n > 0 ? sqrt(norm->sum / (double)norm->n) : 0.0;
}

/* Norms of the errors of a trial step. What an estimator does not monitor is 0. */
typedef struct yoke_error_norms {
  double position, velocity, coupling;
  int    order[3]; /* local order of each: how it falls with H; > 0 */
} yoke_error_norms;

static inline double yoke_error_norms_largest(const yoke_error_norms *norms) {
  if (!isfinite(norms->position) || !isfinite(norms->velocity) || !isfinite(norms->coupling)) return (double)INFINITY;
  return fmax(norms->position, fmax(norms->velocity, norms->coupling));
}

#endif
