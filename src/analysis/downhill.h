/* Downhill: a motion along which a state of rest is unstable.
 *
 * With the tangent stiffness -K, K = d(f + G^T lambda)/dq, small motions without dampers are
 *   M x'' = K x + G^T dlambda,  G x = 0,    x = e^(t sqrt(-mu)):    -K x = mu M x + G^T dlambda.
 * A real mu < 0 makes the state of rest unstable, whatever dampers there are.
 *
 * Shifts sigma fall by decades from the largest |mu| that the entries allow. T = (-K + sigma M)^-1 M on the null space of G has the
 * eigenvalues 1/(mu + sigma): below -1/(9 sigma) for mu in (-10 sigma, -sigma), between 0 and 1/sigma where the state is stable, so that a few
 * steps of Lanczos' method (full reorthogonalisation, inner product M) show whether there is one. About 15 factorisations and 500 solutions. */
#ifndef YOKE_ANALYSIS_DOWNHILL_H
#define YOKE_ANALYSIS_DOWNHILL_H

#include "linalg/sparse.h"

typedef struct yoke_downhill_def {
  int                 nv;      /* velocities; behind them the joints */
  const yoke_pattern *pattern; /* [n, n] of both matrices */
  const yoke_linear  *linear;  /* of the pattern */
  const double       *S;       /* [nnz] (-K, -G^T; G, 0) */
  const double       *M;       /* [nnz] */
} yoke_downhill_def;

/* x [n]: such a motion and its *mu [1/s^2], the smallest one; *mu = 0: none is found. That matrices are singular is no failure. */
yoke_status yoke_downhill_find(yoke_context *ctx, const yoke_downhill_def *def, double *x, double *mu);

#endif
