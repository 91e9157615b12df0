/* Vector loops of the chain kernel: each is one pass over a block of masses, compiled once per instruction set.
 * Same bits from every version: every result comes from the same operations in the same order, no contraction,
 * no reordered sums. All arrays are distinct; `n` is at most YOKE_CHAIN_BLOCK. */
#ifndef YOKE_MODEL_CHAIN_LOOPS_H
#define YOKE_MODEL_CHAIN_LOOPS_H

#include "model/chain_private.h"

/* Sums of a stage with the terms whose coefficients are not all 0:
 *   X = q + (hc v + sum_j x[j] A[j]),  V = v + sum_j v[j] A[j],
 * and for the last stage the error without its last term
 *   EX = sum_j ex[j] A[j],  EV = sum_j ev[j] A[j]. */
typedef struct yoke_chain_sum {
  double        hc;
  int           n_terms;
  double        x[YOKE_CHAIN_TERMS], v[YOKE_CHAIN_TERMS], ex[YOKE_CHAIN_TERMS], ev[YOKE_CHAIN_TERMS];
  const double *A[YOKE_CHAIN_TERMS]; /* all valid, also beyond n_terms */
} yoke_chain_sum;

void yoke_chain_loop_sum(const yoke_chain_sum *sum, int i0, int n, const double *q, const double *v, double *X,
                         double *V);
void yoke_chain_loop_sum_error(const yoke_chain_sum *sum, int i0, int n, const double *q, const double *v, double *X,
                               double *V, double *EX, double *EV);

/* Forces of n elements, dx[k] = x[k + 1] - x[k]:
 *   F = dx (c + C g(dx)) + dv (d + D g(dv)),  g(y) = |y|^(e-1): nothing, y y, or given in gx, gv.
 * p[4]: c, d, C, D, one number each (uniform) or an array each. */
void yoke_chain_loop_linear_uniform(int n, const yoke_chain_element *p, const double *x, const double *v, double *F);
void yoke_chain_loop_linear_each(int n, const double *const *p, const double *x, const double *v, double *F);
void yoke_chain_loop_cubic_uniform(int n, const yoke_chain_element *p, const double *x, const double *v, double *F);
void yoke_chain_loop_cubic_each(int n, const double *const *p, const double *x, const double *v, double *F);
/* Power lost in n dampers between v[k] and v[k + 1], and its rate under the accelerations a: d[k] and D[k] (NULL: equal ones, *d0 and *D0),
 *   P = sum dv^2 (d + D g),  P' = sum dv dv' (2 d + (e + 1) D g),  g = |dv|^(e - 1): g[k], NULL: e = 3. a = NULL: P alone. */
void yoke_chain_loop_losses(int n, const double *d, const double *D, double d0, double D0, const double *g, double e_1,
                            const double *v, const double *a, double out[2]);
/* Energy stored in n springs between x[k] and x[k + 1], by c and C likewise:  U = sum dx^2 (c/2 + C g/(e + 1)). */
double yoke_chain_loop_potential(int n, const double *c, const double *C, double c0, double C0, const double *g,
                                 double e_1, const double *x);
/* Sums of m v^2 / 2 and of m x. */
double yoke_chain_loop_kinetic(int n, const double *m, const double *v);
double yoke_chain_loop_moment(int n, const double *m, const double *x);
void   yoke_chain_loop_power_uniform(int n, const yoke_chain_element *p, const double *gx, const double *gv,
                                     const double *x, const double *v, double *F);
void   yoke_chain_loop_power_each(int n, const double *const *p, const double *gx, const double *gv, const double *x,
                                  const double *v, double *F);
/* g[k] := |x[k+1] - x[k]|^p, and with exponent p + 1/2, p <= 7. */
void   yoke_chain_loop_integer_power(int n, unsigned p, const double *x, double *g);
void   yoke_chain_loop_half_power(int n, unsigned p, const double *x, double *g);

/* a[k] := (F[k + 1] - F[k]) w[k] + gx, w = inverse mass. Nonzero result: an a is not finite. */
uint64_t yoke_chain_loop_accelerate(int n, const double *F, const double *w, double gx, double *a);
uint64_t yoke_chain_loop_accelerate_uniform(int n, const double *F, double w, double gx, double *a);
/* f[k] := (F[k + 1] - F[k]) + m[k] gx */
uint64_t yoke_chain_loop_force(int n, const double *F, const double *m, double gx, double *f);

/* Sum over the block of (eq / sq)^2 + (ev / sv)^2, eq = EX + ex a, ev = EV + ev a,
 * s = atol + rtol max(|old|, |new|). */
double yoke_chain_loop_error(int n, double ex, double ev, double atol, double rtol, const double *EX, const double *EV,
                             const double *a, const double *q, const double *v, const double *X, const double *V);

/* x[k] := omega[k] t + phase[k] */
void yoke_chain_loop_argument(int n, const double *omega, const double *phase, double t, double *x);
/* y[k] := amplitude[k] y[k] scale, -0 where that is 0: added to a number, it leaves it as it is. */
void yoke_chain_loop_scale(int n, const double *amplitude, double scale, double *y);
/* y[k] := sin(x[k]), within 2 units of the last place of 1. */
void yoke_chain_loop_sine(int n, const double *x, double *y);
/* y[k] := (1 + tanh x[k]) / 2, |x| <= 100, within some units of the last place; [YOKE_LOAD_TIMES]. */
void yoke_chain_loop_step(const double *x, double *y);
/* y[k] := y[k]^p[k], p >= 0; p is used up. */
void yoke_chain_loop_raise(int n, uint64_t *p, double *y);
/* y[k] := y[k]^p, p > 0; the same bits. */
void yoke_chain_loop_raise_all(int n, uint64_t p, double *y);
/* y[k] := sin(omega t[k] + phase)^p, p > 0, in the bits of those above; [YOKE_LOAD_TIMES]. */
void yoke_chain_loop_pulse(double omega, double phase, uint64_t p, const double *t, double *y);

#endif
