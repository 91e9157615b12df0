/* Linear subsystem: x' = f0 + A x + B (u - u0), y = y0 + C x + D (u - u0), stepped exactly for piecewise polynomial inputs (matrix exponential
 * with the moments of the inputs; solver `exact`). It stands in for a native subsystem near the state it was linearised about: same
 * inputs, same outputs, so that graphs with all their formulations and schemes run on it unchanged. x is the deviation, 0 at the start. */
#ifndef YOKE_ANALYSIS_LINEAR_SUBSYSTEM_H
#define YOKE_ANALYSIS_LINEAR_SUBSYSTEM_H

#include "subsystem/subsystem.h"

/* Copies of others' bodies: entries of the first half of x that follow from the ports of their originals, which stand one behind the other in
 * what is taken,
 *   x[x_k] = P_k (p - p0),   velocities likewise by V_k,   p and v of port `from[k]`, p0 and v0 what it shows when x is 0. */
typedef struct yoke_linear_halo {
  const yoke_port_shape *shape;
  int                    n_ports, n; /* n entries */
  const int             *x, *from;   /* [n] */
  const double          *P, *V;      /* [n, shape->n_p], [n, shape->n_v] */
  const double          *p, *v;      /* p0 [n_ports, shape->n_p], v0 [n_ports, shape->n_v] */
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
