/* Linearisation of equations of motion about a state.
 *
 * Independent coordinates: of the nv tangent components of q, the ones P that the constraints leave free are chosen (QR of G with column
 * pivoting; translations are given up before rotations), so that small motions are
 *   dq = T N dxi,   G N = 0,   P^T N = 1,        xi = P^T (q (-) q0).
 * State x = (xi, eta) with eta = P^T v - P^T v0; at rest eta = xi'. With inputs u and outputs y
 *   x' = f0 + A x + B (u - u0),      y = y0 + C x + D (u - u0).
 * Nothing is neglected at a state that moves: velocities follow the turning tangent space (dv = N deta + S dxi with
 * G S = -d(G v + g_t)/dq T N) and accelerations the analytic Jacobian of the index-1 form,
 *   [ M  -G^T ] [ da      ]   [ d(f + G^T lambda)/dq dq + df/dv dv   ]
 *   [ G    0  ] [ dlambda ] = [ -d(G a + gamma)/dq dq - dgamma/dv dv ],
 * geometric stiffness lambda d2g included; guided rows (equations.h) stand beside G on this level only. Time is frozen at t. B, C and D are differences of order four of the equations and of the
 * outputs along exact directions. */
#ifndef YOKE_ANALYSIS_LINEARIZE_H
#define YOKE_ANALYSIS_LINEARIZE_H

#include "model/multibody.h"
#include "base/memory.h"

typedef struct yoke_linearization {
  yoke_arena arena;
  int        n_x, n_freedoms, nv, nu, ny; /* n_x = 2 n_freedoms */
  double    *A, *B, *C, *D;               /* [n_x, n_x], [n_x, nu], [ny, n_x], [ny, nu], row major */
  double    *f0, *y0, *u0;                /* [n_x], [ny], [nu] */
  int       *coordinate;                  /* [n_freedoms] which component of v is independent, increasing */
  double    *N;                           /* [nv, n_freedoms] */
  double    *mass;                        /* [n_freedoms, n_freedoms] N^T M N: what impulses meet */
} yoke_linearization;

/* What outputs are made of: accelerations and multipliers [ng + n_guided] as the equations give them at (q, v) under u. */
typedef struct yoke_linear_point {
  const double *q, *v, *u, *a, *lambda;
} yoke_linear_point;

/* y [ny] there. */
typedef yoke_status (*yoke_linear_output)(void *user, const yoke_linear_point *point, double *y);

typedef struct yoke_linearize_def {
  const yoke_model     *model;
  const yoke_equations *equations;
  const yoke_multibody *mb;
  double                t;
  const double         *q, *v; /* consistent */
  const double         *u;     /* [nu]; NULL: zeros */
  /* nv inputs more, 0 at the point: a generalised force on each component of v (rigid bodies: moments about body axes) */
  bool                  with_forces;
  int                   ny;
  yoke_linear_output    output; /* NULL when ny is 0 */
  void                 *user;
} yoke_linearize_def;

/* YOKE_E_UNSUPPORTED: no analytic Jacobian; YOKE_E_UNSTABLE: a derivative there is not finite. Gives what `out` holds. */
yoke_status yoke_linearize(yoke_context *ctx, const yoke_linearize_def *def, yoke_linearization *out);
void        yoke_linearization_clear(yoke_linearization *linearization);

#endif
