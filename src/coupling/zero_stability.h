/* Zero-stability: does an error of the relative motion decay, whatever the step? (Li 4.4, Lu appendix A)
 *
 * For H -> 0 springs and dampers do not matter and the relative motion e of a rigid joint is a double integrator driven by the
 * multiplier's polynomial of degree k, whatever the masses. One condition per step,
 *   e + beta e' + gamma e'' = 0 at its end,
 * makes a linear recurrence of (e, e', l_N, ..., l_{N-k+1}); its spectral radius is the factor by which errors grow. */
#ifndef YOKE_COUPLING_ZERO_STABILITY_H
#define YOKE_COUPLING_ZERO_STABILITY_H

#include "coupling/layout.h"

/* beta in steps, gamma in steps squared; 0 <= degree <= YOKE_LAYOUT_MAX_DEGREE. NaN: no eigenvalues were found. */
double yoke_parasitic_factor(int degree, double beta, double gamma);

/* beta and gamma [steps, steps^2] that have the effect of the weights a and b of three separate corrections:
 * beta = a P / Q, gamma = b P with the responses P of e and Q of e' to the multiplier at the end of the step. */
void yoke_weights_as_times(int degree, double a, double b, double *beta, double *gamma);

#endif
