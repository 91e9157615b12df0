/* Equilibrium: a state in which a model stays at rest.
 *
 * From the start values the positions move downhill, M dq/dtau = f + G^T lambda, by implicit Euler steps in pseudo-time tau whose length
 * grows as the forces fall,
 *   [ M/dtau - K   -G^T ] [ dq     ]   [ f  ]
 *   [ G              0  ] [ lambda ] = [ -g ],      K = d(f + G^T lambda)/dq,
 * so that it ends as Newton's method (dtau -> infinity) and finds, where forces have a potential, a stable rest state rather than the
 * nearest one. A start that is at rest already is kept, stable or not. */
#ifndef YOKE_ANALYSIS_EQUILIBRIUM_H
#define YOKE_ANALYSIS_EQUILIBRIUM_H

#include "analysis/whole_model.h"

/* whole->q and v become the rest state (v = 0). On failure they are unchanged. YOKE_E_NOT_CONVERGED: none was found, the message names the
 * body that keeps accelerating; YOKE_E_UNSUPPORTED: no analytic Jacobian. */
yoke_status yoke_equilibrium_find(yoke_context *ctx, yoke_whole_model *whole);

#endif
