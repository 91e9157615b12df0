/* Two ends: what implicit one-step methods keep of the last step when q, v and their rates at its ends are all that they know of it.
 *
 * Own part of the state: q' at t, and q, v, q' at t_prev. Both ends have a and lambda of the ordinary view of the equations. */
#ifndef YOKE_INTEGRATE_TWO_ENDS_H
#define YOKE_INTEGRATE_TWO_ENDS_H

#include "integrate/implicit.h"

typedef struct yoke_two_ends {
  double *qdot, *q_prev, *v_prev, *qdot_prev;
} yoke_two_ends;

/* Bytes of the own part. */
size_t        yoke_two_ends_size(const yoke_equations *equations);
yoke_two_ends yoke_two_ends_of(const yoke_integrator *integrator, const yoke_integrator_state *state);

/* The end that a step is tried to: x holds q and v, rates their derivatives, both [nq + nv] and more; `work` and u_now [nu] are scratch. */
typedef struct yoke_step_end {
  void   *work;
  double *u_now, *x, *rates, *lambda;
} yoke_step_end;

/* q', a and lambda at the point of the state, with the inputs that hold from here on. `work`, u_now: as above. */
yoke_status yoke_two_ends_begin(const yoke_integrator *integrator, yoke_integrator_state *state, const yoke_signal *u,
                                void *work, double *u_now);
/* Rates at the point of the state, q' and a, as one array [nq + nv]. */
void        yoke_two_ends_rates(const yoke_integrator *integrator, const yoke_integrator_state *state, double *rates);
/* Brings x onto the constraints at t, positions first, and finds its rates and lambda with the left limit of the inputs.
 * YOKE_NON_FINITE: one of x or rates is not. */
yoke_status yoke_two_ends_project(const yoke_equations *equations, yoke_integrator_state *state, const yoke_signal *u,
                                  double t, const yoke_step_end *end);
/* Then quadratures, h behind x with these rates, by the trapezoidal rule. */
void        yoke_two_ends_quadratures(const yoke_implicit *implicit, double h, const double *x, const double *rates,
                                      const yoke_step_end *end);
/* The state moves on to this end, at t. */
void        yoke_two_ends_accept(const yoke_integrator *integrator, yoke_integrator_state *state, double t,
                                 const yoke_step_end *end);
/* q: cubic from q, q' at both ends; v: linear, because accelerations of stiff parts are rough. */
void        yoke_two_ends_interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t,
                                      double *q, double *v);

#endif
