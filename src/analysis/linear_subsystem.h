/* Linear subsystem: x' = f0 + A x + B (u - u0), y = y0 + C x + D (u - u0), stepped exactly for piecewise polynomial inputs (matrix exponential
 * with the moments of the inputs; solver `exact`). It stands in for a native subsystem near the state it was linearised about: same
 * inputs, same outputs, so that graphs with all their formulations and schemes run on it unchanged. x is the deviation, 0 at the start. */
#ifndef YOKE_ANALYSIS_LINEAR_SUBSYSTEM_H
#define YOKE_ANALYSIS_LINEAR_SUBSYSTEM_H

#include "subsystem/subsystem.h"

/* Copies of others' masses, in the order of the halo: entries of the first half of x, and where their originals are when x is 0. */
typedef struct yoke_linear_halo {
  int           n;
  const int    *x;
  const double *p, *v; /* [n] */
} yoke_linear_halo;

typedef struct yoke_linear_def {
  const char             *name;
  int                     n_x, nu, ny;
  const double           *A, *B, *C, *D; /* [n_x, n_x], [n_x, nu], [ny, n_x], [ny, nu], row major; copied */
  const double           *f0, *y0, *u0;  /* [n_x], [ny], [nu] */
  /* [n_x / 2, n_x / 2] of the velocities, the second half of x; its first half are the positions. NULL: no state resets */
  const double           *mass;
  /* Whose outputs y are. Rows of C, D and y0 for integrals are not read: positions are integrated. Copied. */
  int                     n_ports;
  const yoke_port        *ports;
  int                     n_halos;
  const yoke_linear_halo *halos; /* copied */
} yoke_linear_def;

/* Gives. */
yoke_status yoke_linear_create_subsystem(yoke_context *ctx, const yoke_linear_def *def, yoke_subsystem **out);

#endif
