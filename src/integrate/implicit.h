/* What the implicit methods share: the view E x' = F(t, x, u) of the equations, its iteration matrix and its norms.
 *
 * Jacobians are analytic and cost little beside their LU, so a method makes J anew whenever it factors. A state then
 * keeps the factor (by reference) and a few numbers about it, but no J.
 *
 * The iteration matrix for d/dt ~ alpha is  alpha E - J + (delta / alpha) R  with delta = YOKE_IMPLICIT_DELTA: R has
 * entries in the rows of the multipliers only and keeps the matrix regular when constraints are redundant or the
 * position is singular. It changes the speed of the iteration by about delta, not what it converges to. */
#ifndef YOKE_INTEGRATE_IMPLICIT_H
#define YOKE_INTEGRATE_IMPLICIT_H

#include "integrate/integrator.h"
#include "base/finite.h"
#include "base/memory.h"

#define YOKE_IMPLICIT_DELTA 1.0e-11

/* Constant after creation, shared by threads. */
typedef struct yoke_implicit {
  yoke_arena            arena;
  const yoke_equations *equations;
  yoke_dae             *dae;
  yoke_dae             *own_dae; /* NULL: it is not its own */
  yoke_linear          *linear;
  int                   nx, nnz;
  int                   nq, nv, n_lambda; /* n_lambda: those of guided rows too */
  int                   n_normed;         /* components of kind Q and V */
  bool                  has_quadratures;

  double *E_diagonal; /* [nx]; NULL: E has other entries, too */
  /* nonzeros of E by rows: row i has columns E_col[E_start[i] ...] */
  int    *E_start; /* [nx + 1] */
  int    *E_col;
  double *E_value;
} yoke_implicit;

/* Fails with a message when the equations have no implicit view. `equations` is kept. Gives. */
yoke_status yoke_implicit_create(yoke_context *ctx, const yoke_equations *equations,
                                 const yoke_integrator_options *options, yoke_implicit **out);
void        yoke_implicit_destroy(yoke_implicit **implicit);
/* The same with the view `dae` that is there already, and is kept. */
yoke_status yoke_implicit_create_of(yoke_context *ctx, const yoke_equations *equations, yoke_dae *dae,
                                    yoke_linear_kind linear, yoke_implicit **out);
/* What layouts of states and scratch read of a view that is not made yet: nx, nq, nv, n_lambda, and nnz or more. States do not depend on nnz.
 * false: the equations do not tell. */
bool yoke_implicit_outline(const yoke_equations *equations, const yoke_integrator_options *options, yoke_implicit *out);

/* x = (q, v, and what the form has of a, lambda), mu = nu = 0. a and lambda may be NULL: zeros. */
void yoke_implicit_pack(const yoke_implicit *implicit, const double *q, const double *v, const double *a,
                        const double *lambda, double *x);
/* The other way round; each target may be NULL. In GGL `a` is not part of x and is left alone. */
void yoke_implicit_unpack(const yoke_implicit *implicit, const double *x, double *q, double *v, double *a,
                          double *lambda);

/* y = E x, and y += factor * E x; x and y must not overlap. */
void yoke_implicit_mass(const yoke_implicit *implicit, const double *x, double *y);
void yoke_implicit_mass_add(const yoke_implicit *implicit, double factor, const double *x, double *y);

/* F(t, x, u(t)) [nx], and J [nnz]; u is taken as the limit from `side`. `u_work` [max(1, nu)], `work` of the equations. */
yoke_status yoke_implicit_rhs(const yoke_implicit *implicit, void *work, double *u_work, const yoke_signal *u,
                              yoke_side side, double t, const double *x, double *F);
yoke_status yoke_implicit_jacobian(const yoke_implicit *implicit, void *work, double *u_work, const yoke_signal *u,
                                   yoke_side side, double t, const double *x, double *J);

/* LU of  (alpha + i beta) E - J + (delta / alpha) R;  beta = 0: real. alpha > 0.
 * `re`, `im` [nnz] scratch; im may be NULL when beta = 0; re may be J itself (J is then overwritten). */
yoke_status yoke_implicit_factor(const yoke_implicit *implicit, double alpha, double beta, const double *J, double *re,
                                 double *im, yoke_factor **factor);

/* scale[i] = 1 / (atol + rtol max(|x0_i|, |x1_i|)) for components Q and V, 0 for all others (x1 may be NULL). */
void   yoke_implicit_scale(const yoke_implicit *implicit, double atol, double rtol, const double *x0, const double *x1,
                           double *scale);
/* The same for Newton increments, with |x_i| taken as at least 1/100 of the largest |x| of its kind (Q or V), or as
 * 100 atol / rtol if that is less: a component that passes zero has no say in the rate of convergence. */
void   yoke_implicit_scale_newton(const yoke_implicit *implicit, double atol, double rtol, const double *x,
                                  double *scale);
/* sqrt(sum over i of (d_i scale_i)^2 / n_normed), summed in index order; not finite when some d_i is not (of any kind). */
double yoke_implicit_norm(const yoke_implicit *implicit, const double *d, const double *scale);

/* Layout of states and scratch: each part starts a cache line. Take `count` doubles at *at bytes behind base and move
 * *at on; with base NULL only the size is counted. */
static inline size_t yoke_cache_lines(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}
static inline double *yoke_carve(char *base, size_t *at, size_t count) {
  double *part = base != NULL ? (double *)(void *)(base + *at) : NULL;
  *at += yoke_cache_lines(count * sizeof(double));
  return part;
}

/* out [n]: cubic at s in [0, 1] of a step h, from values and rates at both ends. */
static inline void yoke_hermite(int n, double h, double s, const double *x0, const double *rate0, const double *x1,
                                const double *rate1, double *out) {
  const double r = 1.0 - s;
  for (int i = 0; i < n; ++i) {
    const double rise = x1[i] - x0[i];
    out[i]            = r * x0[i] + s * x1[i] + s * r * (r * (h * rate0[i] - rise) - s * (h * rate1[i] - rise));
  }
}

/* How far may a step go? h is shortened to the time left; when a little more than h is left (less than 1.1 h) the step
 * takes all of it, and when less than 2 h is left it takes half of it, so that no tiny step remains. `*is_last`: the
 * step ends at t_limit exactly. Fixed steps are only ever shortened, or stretched over a rest below 1e-9 h. */
double yoke_step_clip(double t, double h, double t_limit, bool is_fixed, bool *is_last);

/* A first step from the size of the solution and of its rates x' = (q', v') [nq + nv]:
 *   h = 0.01 |x| / |x'| in the scaled norm, refined for the order: about 0.01 (1 / |x'|)^(1 / (order + 1)) at most.
 * options->first_step and fixed_step take precedence, max_step limits. */
double yoke_implicit_first_step(const yoke_implicit *implicit, const yoke_integrator_options *options, const double *x,
                                const double *rates, int order);

#endif
