/* Tangents: how q, v, a and lambda at the end of a step change with its inputs, carried along over the accepted micro steps.
 *
 * With x = (q, v) and directions du(t) of the inputs the tangents obey the linear variational equations of the index-1 form,
 *   dq' = (dq'/dq) dq + (dq'/dv) dv + (dq'/du) du,    M da - G^T dlambda = r_a,  G da = r_g     (equations.h)
 * along the motion that the integrator found (its dense output); they start from 0: the accepted past is constant. They take no part in the
 * choice of steps, so states have the same bits with and without them. Explicit methods at work: classical Runge-Kutta of order 4, whose two
 * middle stages share a Jacobian; implicit ones: an L-stable method of order 4,
 * unless their step is short for the explicit one. Where a micro step is long for these, it is divided, so that it
 * adds about 5e-6 of the tangents to their error at most, or what the directions bear.
 * Each direction has the same bits alone and among others: directions may be cut into blocks.
 * Error-controlled methods carry tangents (yoke_tangent_rule). With methods of fixed steps and for linear systems (`exact`) differences are as
 * good. */
#ifndef YOKE_INTEGRATE_TANGENTS_H
#define YOKE_INTEGRATE_TANGENTS_H

#include "base/directions.h"
#include "integrate/integrator.h"

typedef struct yoke_tangents yoke_tangents; /* constant, shared by tasks */

/* For the method and equations of an integrator, which is kept. *out NULL and YOKE_OK: they have no tangents. Gives. */
yoke_status yoke_tangents_create(yoke_context *ctx, const yoke_integrator *integrator, yoke_tangents **out);
void        yoke_tangents_destroy(yoke_tangents **tangents);

/* The index-1 view with dF/du that they read; theirs. */
const yoke_dae *yoke_tangents_dae(const yoke_tangents *tangents);

/* Bytes of room for n directions, 64-byte aligned. */
size_t yoke_tangents_room(const yoke_tangents *tangents, int n);

/* One macro step: begin at the state's time (behind a disturb), advance behind each accepted micro step of [t_prev, t], whose dense output
 * must be good (t_look at or before its start; with a tolerance finite). `scratch` is that of the integrator. A direction has an input at most once; du has no break
 * points but those of u. Not YOKE_OK: there are no tangents for this step (singular position, jump of a law, no accuracy; a block of directions
 * may fail where another does not), and nothing of the room is to be used; the state is never changed. */
yoke_status yoke_tangents_begin(const yoke_tangents *tangents, void *room, void *scratch,
                                const yoke_integrator_state *state, const yoke_signal *u,
                                const yoke_directions *directions);
yoke_status yoke_tangents_advance(const yoke_tangents *tangents, void *room, void *scratch,
                                  const yoke_integrator_state *state, const yoke_signal *u,
                                  const yoke_directions *directions);
/* The equations have a kink at the state, which has turned to its other side. */
yoke_status yoke_tangents_turn(const yoke_tangents *tangents, void *room, void *scratch,
                               const yoke_integrator_state *state, const yoke_signal *u,
                               const yoke_directions *directions);

/* At the state's time, left limit of the inputs (behind begin: right limit); inside the room. */
typedef struct yoke_tangent_view {
  int           n; /* directions, side by side: dq [nq, n] ... */
  const double *dq, *dv, *da, *dlambda;
  const double *q, *v, *a;              /* the point itself */
  int64_t       evaluations, jacobians; /* right-hand sides and Jacobians since the begin */
  const double *off_q, *off_v; /* what dq and dv are off by, as the rule estimates it, summed over the micro steps */
} yoke_tangent_view;
yoke_tangent_view yoke_tangents_view(const yoke_tangents *tangents, const void *room);

#endif
