/* Hop: one explicit step for an implicit method that is stuck near a singular position.
 *
 * Where the constraint Jacobian G nearly loses rank, the constraint rows of the stabilised index-2 form fix q only to
 * eps / sigma and v to eps / sigma^2 (sigma: smallest singular value of G), and G changes by more than itself within a
 * step: Newton does not converge at any step size. On the acceleration level, with the minimum-norm multipliers of
 * ops->derivative, the motion is smooth there. So the step is made by the explicit formula of Dormand and Prince
 * (order 5, error estimate of order 4), followed by projection. */
#ifndef YOKE_INTEGRATE_HOP_H
#define YOKE_INTEGRATE_HOP_H

#include "integrate/implicit.h"

typedef struct yoke_hop {
  const double *x;         /* [nq + nv]: q, v at t */
  const double *rates;     /* [nq + nv]: q', v' at t */
  double       *x_new;     /* [nq + nv], result */
  double       *rates_new; /* [nq + nv], result */
  double       *lambda;    /* [ng], result */
  double       *k[6];      /* [nq + nv] each, scratch; the first is not used */
  void         *equations; /* scratch of the equations */
  double       *u;         /* [max(1, nu)], scratch */
  const double *scale;     /* [nq + nv], 1 / allowed error; 0: not in the norm */
} yoke_hop;

/* From t to t_end = t + h (without its rounding), inputs there as left limit. *error: scaled norm of the estimated error;
 * above 1 the result is not to be used. Evaluations are counted in `state`, nothing else is touched. */
yoke_status yoke_hop_step(const yoke_implicit *implicit, const yoke_hop *hop, const yoke_signal *u, double t, double h,
                          double t_end, yoke_integrator_state *state, double *error);

#endif
