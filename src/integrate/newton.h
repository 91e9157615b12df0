/* Newton: the nonlinear system of one step of a multistep or generalised-alpha method.
 *
 * The methods here write the derivative at the new point as x' = xd + alpha (x - x_pred), alpha ~ 1/h, and solve
 *   E x' = F(t, x, u)
 * by simplified Newton iteration with the matrix  alpha E - J + (delta / alpha) R. The factor is kept by reference in
 * the state, with the alpha it was made for; it is made anew (with a new J) when alpha has left [3/5, 5/3] of that value
 * or when the iteration does not converge. Corrections of q and v are scaled by 2 / (1 + alpha / alpha of the factor);
 * those of multipliers are not, because constraint forces do not depend on alpha. */
#ifndef YOKE_INTEGRATE_NEWTON_H
#define YOKE_INTEGRATE_NEWTON_H

#include "integrate/implicit.h"

/* Constant part, shared by threads. */
typedef struct yoke_newton {
  const yoke_equations *equations;
  yoke_implicit        *implicit;
  yoke_dae             *dae;
  double                rtol, atol;
  double                tolerance; /* of the iteration, in units of the error tolerance */
  bool                  is_fixed;  /* the step: a failure cannot make it shorter */
} yoke_newton;

/* Part of the integrator state: plain data, copied with it. */
typedef struct yoke_newton_memory {
  double alpha;      /* of state->factor[0] */
  double alpha_last; /* of the last solve */
  double ratio;      /* theta / (1 - theta), theta the rate of convergence last seen */
} yoke_newton_memory;

/* Scratch of one task. Vectors are [nx]. */
typedef struct yoke_newton_work {
  void   *equations; /* [work_size] */
  double *u;         /* [nu] */
  double *weight;    /* 1 / (atol + rtol |x|) for Q and V, 0 for the others */
  double *x, *xd;    /* iterate and its derivative */
  double *e;         /* x - x_pred */
  double *x_pred, *xd_pred;
  double *delta, *spare;
  double *matrix; /* [nnz] */
  double *linear; /* [yoke_linear_work_size] */
} yoke_newton_work;

/* Builds the implicit view of integrator->equations; options rtol, atol, form and linear are used. */
yoke_status yoke_newton_create(yoke_context *ctx, const yoke_integrator *integrator, yoke_newton **out);
void        yoke_newton_destroy(yoke_newton **newton);

size_t           yoke_newton_scratch_size(const yoke_implicit *implicit); /* an outline will do */
yoke_newton_work yoke_newton_carve(const yoke_newton *newton, void *scratch);

/* Weights from x. */
void   yoke_newton_weigh(const yoke_newton *newton, const double *x, double *weight);
double yoke_newton_norm(const yoke_newton *newton, const double *weight, const double *x);

/* x of the state (mu = nu = 0) and back; xd gives a in the GGL form. */
void yoke_newton_pack(const yoke_newton *newton, const yoke_integrator *integrator, const yoke_integrator_state *state,
                      double *x);
void yoke_newton_unpack(const yoke_newton *newton, const yoke_integrator *integrator, const double *x, const double *xd,
                        yoke_integrator_state *state);

/* xd = (q', v', 0) at (t, x) by the ordinary view; inputs at t from `side`. Components that are not differential get 0. */
yoke_status yoke_newton_derivative(const yoke_newton *newton, const yoke_newton_work *work, double t, const double *x,
                                   const yoke_signal *u, yoke_side side, double *xd);

/* First step for a method that starts with order 1, from the second derivative along the solution: h^2 |x''| / 2 is a quarter
 * of the tolerance. `work->xd` holds x' at (t, x), weights are set; work->spare receives x''. */
yoke_status yoke_newton_second_derivative(const yoke_newton *newton, const yoke_newton_work *work, double t,
                                          const double *x, const yoke_signal *u);
double      yoke_newton_first_step(const yoke_newton *newton, const yoke_newton_work *work, double t);

/* Solve from work->x_pred, work->xd_pred; result in work->x, xd, e. work->weight and work->u are set.
 * YOKE_OK or a recoverable status (not converged with a fresh matrix, singular, not finite) or a final one. */
yoke_status yoke_newton_solve(const yoke_newton *newton, const yoke_newton_work *work, yoke_newton_memory *memory,
                              yoke_integrator_state *state, double t, double alpha);

#endif
