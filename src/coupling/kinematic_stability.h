/* Zero-stability of the kinematic coupling (Schneider et al. 2017, section 4): what remains of the recursion for H -> 0.
 *
 * States stand still, and the exchanged values lambda (n rows) and beta = acceleration of side R in the rows feed each
 * other. With the interface compliances W_R, W_F and their local counterparts w_R, w_F, extrapolated values marked ~:
 *   side R:  A_R = a_R + W_R lambda~,           beta' = A_R
 *   side F:  0 = a_F + W_F mu + beta~,          A_F = -beta~
 *   approximate  lambda' = mu                                                     = -W_F^-1 beta~ + ...
 *   reduced      lambda' = Q (w_R lambda~ + w_F mu - A_R - A_F),  Q = (w_R + w_F)^-1
 *                        = Q (w_R - W_R) lambda~ + Q (I - w_F W_F^-1) beta~ + ...
 *   exact        the same with w = W: nothing is fed back.
 * Outputs `sequential` use beta' in place of beta~. Zero-stable: all roots inside the unit circle. */
#ifndef YOKE_COUPLING_KINEMATIC_STABILITY_H
#define YOKE_COUPLING_KINEMATIC_STABILITY_H

#include "coupling/formulation.h"

/* Interface at one instant, all [n, n] row major, n <= 6. w_R, w_F NULL: not known (needed for `reduced` only). */
typedef struct yoke_interface {
  int           n;
  const double *W_R, *W_F, *w_R, *w_F;
} yoke_interface;

/* x with A x = b for a symmetric A >= 0 [n, n] of any rank: the one of least norm, each unknown measured by what its own
 * diagonal makes of it, so that units of length do not matter. NaN when A or b is not finite. */
void yoke_symmetric_solve(int n, const double *A, const double *b, double *x);

/* Largest and smallest ratio of effective masses m_R / m_F = (W_R)^-1 / (W_F)^-1 over all directions: eigenvalues of
 * W_F x = ratio W_R x. 0 and infinity where a side does not move at all. false: not finite. */
bool yoke_interface_mass_ratio(const yoke_interface *interface, double *smallest, double *largest);

/* Largest |mu| of the recursion with extrapolation of degree `order_force` for lambda and `order_motion` for beta. NaN
 * when it cannot be found. */
double yoke_kinematic_radius(const yoke_interface *interface, yoke_kinematic_force force,
                             yoke_kinematic_outputs outputs, int order_force, int order_motion);

/* Mass ratio m_R / m_F above which `approximate` is zero-stable. */
double yoke_kinematic_threshold(yoke_kinematic_outputs outputs, int order_force, int order_motion);

#endif
