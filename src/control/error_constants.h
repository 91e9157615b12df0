/* Constants that turn a difference of coupling values at T_{N+1} into errors of velocity and position (Kraft 3.11, 3.15).
 *
 * On the grid s_j = (T_{N-j} - T_N) / H (s_0 = 0, decreasing) the difference of two input polynomials of degree k that
 * share k old points and differ by 1 at the end is
 *   L^k(s) = prod_{j < k} (s - s_j) / (1 - s_j),   L^0 = 1.
 * A body that feels it is off by C_vel^k H in velocity and C_pos^k H^2 in position, per unit of acceleration:
 *   C_vel^k = int_0^1 L^k ds,   C_pos^k = int_0^1 (1 - s) L^k ds. */
#ifndef YOKE_CONTROL_ERROR_CONSTANTS_H
#define YOKE_CONTROL_ERROR_CONSTANTS_H

enum { YOKE_ERROR_MAX_K = 7 };

typedef struct yoke_error_constants {
  double position, velocity;
} yoke_error_constants;

/* s [k], 0 <= k <= YOKE_ERROR_MAX_K. Exact: the product is expanded in powers and integrated term by term. */
yoke_error_constants yoke_error_constants_at(int k, const double *s);

#endif
