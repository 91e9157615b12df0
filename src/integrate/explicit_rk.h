/* Explicit Runge-Kutta methods with an embedded error estimate and dense output, driven by a tableau.
 *
 * Stages 0 .. s-1 are those of the method, stage s lies at the new point (its row of A holds the weights b; it is
 * stage 0 of the next step), stages s+1 .. s+n_extra serve dense output only.
 *
 * Dense output over one step, theta = (t - t_prev) / h (Hairer, Norsett, Wanner I, II.6):
 *   y(theta) = y0 + theta (r2 + (1-theta) (r3 + theta (r4 + (1-theta) (d0 + theta (d1 + (1-theta) (d2 + theta d3))))))
 *   r2 = y1 - y0,  r3 = h y0' - r2,  r4 = r2 - h y1' - r3,  d_m = h sum_j D[m][j] k_j */
#ifndef YOKE_INTEGRATE_EXPLICIT_RK_H
#define YOKE_INTEGRATE_EXPLICIT_RK_H

#include "integrate/integrator.h"

enum { RK_MAX_STAGES = 16, RK_MAX_DENSE = 4 };

typedef struct rk_tableau {
  int    order;   /* of the solution that is carried on */
  int    s;       /* stages without the one at the new point */
  int    n_extra; /* further stages for dense output */
  int    n_dense; /* vectors d_m */
  double c[RK_MAX_STAGES];
  double A[RK_MAX_STAGES][RK_MAX_STAGES];
  double e[RK_MAX_STAGES];  /* error weights over stages 0 .. s */
  double e3[RK_MAX_STAGES]; /* second estimate, used when has_second: err = e^2 / sqrt(e^2 + 0.01 e3^2) */
  bool   has_second;        /* then e and e3 do not use stage s: it is evaluated for accepted steps only */
  double D[RK_MAX_DENSE][RK_MAX_STAGES];
  /* Nystroem form of the sums with the weights of A and e, which makes of h sum_j w_j V_j, q' = V, the sum h (sum_j w_j) v + h^2 sum_j wbar_j A_j:
   * wbar = w^T A, with 0 for what is rounding of 0. */
  double wbar[RK_MAX_STAGES][RK_MAX_STAGES], ebar[RK_MAX_STAGES];

  double safety;               /* h_new = h safety err^-(exponent - 0.75 beta) err_old^beta */
  double error_exponent, beta; /* beta 0: no memory */
  double min_ratio, max_ratio; /* limits of h_new / h */
  double stiff_bound;          /* h rho where stability limits steps of a damped motion (real axis) */
  double suspect_bound;        /* h rho from which stability may be what limits a step (imaginary axis) */
} rk_tableau;

extern const rk_tableau dopri5_tableau, dop853_tableau;

yoke_status explicit_rk_create(yoke_context *ctx, yoke_integrator *integrator, const rk_tableau *tableau);
yoke_status explicit_rk_start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                              const yoke_signal *u);
yoke_status explicit_rk_step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                             const yoke_signal *u, double t_limit, yoke_context *ctx);
void explicit_rk_interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t, double *q,
                             double *v);
yoke_status explicit_rk_disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                const yoke_signal *u, yoke_disturbance what);
yoke_status explicit_rk_renew(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                              const yoke_signal *u);
size_t      explicit_rk_used(const yoke_integrator *integrator, const yoke_integrator_state *state);
size_t      explicit_rk_fresh(const yoke_integrator *integrator);
bool        explicit_rk_is_sound(const yoke_integrator *integrator, const yoke_integrator_state *state);

/* For `auto`: from now on (before states are made) estimate h rho after accepted steps. suspects: so many steps of late, less
 * those that were clearly limited by their accuracy, may have been limited by stability. */
yoke_status explicit_rk_watch_stiffness(yoke_context *ctx, yoke_integrator *integrator);
int         explicit_rk_suspects(const yoke_integrator *integrator, const yoke_integrator_state *state);
double      explicit_rk_stiff_bound(const yoke_integrator *integrator);
int         explicit_rk_n_stages(const yoke_integrator *integrator); /* evaluations per step */
bool        explicit_rk_is_fused(const yoke_integrator *integrator);

#endif
