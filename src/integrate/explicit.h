/* What the explicit integrators share: evaluation of the ordinary view, projection, first step, clipping at stops. */
#ifndef YOKE_INTEGRATE_EXPLICIT_H
#define YOKE_INTEGRATE_EXPLICIT_H

#include "integrate/integrator.h"

/* Room for `bytes` on cache lines of its own, behind *size: returns its offset [bytes]. */
size_t explicit_reserve(size_t *size, size_t bytes);

/* Array at an offset of a state or of scratch; states are handed around const although their owner may write. */
static inline double *explicit_at(const void *base, size_t offset) {
  return (double *)(void *)((const char *)base + offset);
}

/* Right-hand side at (t, q, v) with the inputs at t taken from `side`; counted in `counters`. u_now [nu]. */
yoke_status explicit_evaluate(const yoke_integrator *integrator, void *work, double *u_now, yoke_counts *counters,
                              const yoke_signal *u, double t, yoke_side side, const double *q, const double *v,
                              double *qdot, double *a, double *lambda);

/* Project q and v at t. `before` [nq + nv] receives what was there; *moved: did a bit change? (NULL: not asked, `before` is left alone.) No constraints: nothing. */
yoke_status explicit_project(const yoke_integrator *integrator, void *work, double t, double *q, double *v,
                             double *before, bool *moved);

/* Length of the step to try when h is proposed and t_left remains: the rest if it is below 1.1 h, half of it if it is
 * below 2 h, so that no sliver is left over. With fixed steps: h, the last one what is left. */
double explicit_clip(double h, double t_left, bool is_fixed);

/* First step for a method of order p (Hairer, Norsett, Wanner I, II.4): needs qdot, a at the start; one evaluation.
 * work_arrays [2 nq + 2 nv]. */
double explicit_first_step(const yoke_integrator *integrator, void *work, double *u_now, double *work_arrays,
                           yoke_integrator_state *state, const yoke_signal *u, const double *qdot, int order);

/* Smallest useful step at t. */
double explicit_smallest_step(double t, double t_limit);

/* q entries that count in error norms. */
int explicit_n_q(const yoke_equations *equations);

/* sum_i (e_i / (atol size_i + rtol max(|y0_i|, |y1_i|)))^2, in index order; size NULL: 1. */
double explicit_error_sum(int n, const double *e, const double *y0, const double *y1, const double *size, double atol,
                          double rtol);

/* Sizes of q, or of v, from number i on. */
static inline const double *explicit_size(const yoke_equations *e, bool is_q, int i) {
  return e->size != NULL ? e->size + (is_q ? 0 : e->nq) + i : NULL;
}

/* sum_i (a_i - b_i)^2, in eight sums of every eighth entry. */
double explicit_distance(int n, const double *a, const double *b);

/* out = y0 + h sum_j c[j] K[j] (y0 NULL: 0), terms in the order of j. */
void explicit_combine(int n, const double *y0, double h, int n_terms, const double *c, const double *const *K,
                      double *out);

/* out = h sum_j c[j] K[j] and other = g sum_j d[j] K[j] in one pass. */
void explicit_combine_pair(int n, double h, const double *c, double *out, double g, const double *d, double *other,
                           int n_terms, const double *const *K);

/* New modified divided differences at the next point, whose derivative is f, in place of the old phi[0 .. m-1]:
 *   phi[0] = f, phi[j + 1] = phi[j] - beta[j] phi[j](old), j < m. */
void explicit_shift_differences(int n, int m, const double *beta, const double *f, double *const *phi);

/* Failures that every explicit method reports in the same words. */
yoke_status explicit_fail_small(const yoke_integrator *integrator, const yoke_integrator_state *state, double h,
                                bool is_finite, yoke_context *ctx);

#endif
