#include "integrate/explicit.h"
#include "base/simd.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { LINE = 64 /* bytes */, BLOCK = 256 /* entries summed at once, stays in the first cache */ };

size_t explicit_reserve(size_t *size, size_t bytes) {
  const size_t offset = (*size + LINE - 1) / LINE * LINE;
  *size               = offset + (bytes + LINE - 1) / LINE * LINE;
  return offset;
}

yoke_status explicit_evaluate(const yoke_integrator *integrator, void *work, double *u_now, yoke_counts *counters,
                              const yoke_signal *u, double t, yoke_side side, const double *q, const double *v,
                              double *qdot, double *a, double *lambda) {
  const yoke_equations *e = integrator->equations;
  if (e->nu > 0) yoke_signal_value(u, t, side, 0, u_now);
  ++counters->evaluations;
  return e->ops->derivative(e->self, work, t, q, v, u_now, qdot, a, lambda);
}

yoke_status explicit_project(const yoke_integrator *integrator, void *work, double t, double *q, double *v,
                             double *before, bool *moved) {
  const yoke_equations *e = integrator->equations;
  if (moved != NULL) *moved = false;
  if (e->ng + e->n_norms == 0) return YOKE_OK;
  if (moved != NULL) {
    memcpy(before, q, (size_t)e->nq * sizeof *q);
    memcpy(before + e->nq, v, (size_t)e->nv * sizeof *v);
  }
  if (e->ops->project != NULL) {
    YOKE_TRY(e->ops->project(e->self, work, t, q, v));
  } else {
    YOKE_TRY(e->ops->project_position(e->self, work, t, q));
    YOKE_TRY(e->ops->project_velocity(e->self, work, t, q, v));
  }
  if (moved == NULL) return YOKE_OK;
  *moved =
      memcmp(before, q, (size_t)e->nq * sizeof *q) != 0 || memcmp(before + e->nq, v, (size_t)e->nv * sizeof *v) != 0;
  return YOKE_OK;
}

double explicit_clip(double h, double t_left, bool is_fixed) {
  if (is_fixed) return t_left <= h * (1 + 1e-6) ? t_left : h;
  if (t_left <= 1.1 * h) return t_left;
  return t_left < 2 * h ? 0.5 * t_left : h;
}

double explicit_smallest_step(double t, double t_limit) {
  return 8 * DBL_EPSILON * fmax(fabs(t), fabs(t_limit));
}

int explicit_n_q(const yoke_equations *equations) {
  return equations->nq - equations->n_quadratures;
}

/* r = e / scale of one block */
YOKE_SIMD static void relative_errors(int m, const double *restrict e, const double *restrict y0,
                                      const double *restrict y1, double atol, double rtol, double *restrict r) {
  for (int i = 0; i < m; ++i) {
    const double a0 = fabs(y0[i]), a1 = fabs(y1[i]);
    r[i] = e[i] / (atol + rtol * (a0 > a1 ? a0 : a1));
  }
}

static void relative_errors_by_size(int m, const double *e, const double *y0, const double *y1, const double *size,
                                    double atol, double rtol, double *r) {
  for (int i = 0; i < m; ++i) r[i] = e[i] / (atol * size[i] + rtol * fmax(fabs(y0[i]), fabs(y1[i])));
}

double explicit_error_sum(int n, const double *e, const double *y0, const double *y1, const double *size, double atol,
                          double rtol) {
  double sum = 0, r[BLOCK];
  for (int start = 0; start < n; start += BLOCK) {
    const int m = n - start < BLOCK ? n - start : BLOCK;
    if (size == NULL) {
      relative_errors(m, e + start, y0 + start, y1 + start, atol, rtol, r);
    } else {
      relative_errors_by_size(m, e + start, y0 + start, y1 + start, size + start, atol, rtol, r);
    }
    for (int i = 0; i < m; ++i) sum += r[i] * r[i];
  }
  return sum;
}

/* sum += c0 k0, then c1 k1, ...: four terms at once keep the sums in registers */
YOKE_SIMD static void add_four(int m, const double *restrict c, const double *restrict k0, const double *restrict k1,
                               const double *restrict k2, const double *restrict k3, double *restrict sum) {
  const double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
  for (int i = 0; i < m; ++i) {
    double s = sum[i] + c0 * k0[i];
    s += c1 * k1[i];
    s += c2 * k2[i];
    sum[i] = s + c3 * k3[i];
  }
}

YOKE_SIMD static void add_one(int m, double c, const double *restrict k, double *restrict sum) {
  for (int i = 0; i < m; ++i) sum[i] += c * k[i];
}

YOKE_SIMD static void scale_and_add(int m, const double *restrict y0, double h, const double *restrict sum,
                                    double *restrict out) {
  for (int i = 0; i < m; ++i) out[i] = y0[i] + h * sum[i];
}

void explicit_combine(int n, const double *y0, double h, int n_terms, const double *c, const double *const *K,
                      double *out) {
  static const double zero[BLOCK];
  double              sum[BLOCK];
  for (int start = 0; start < n; start += BLOCK) {
    const int m = n - start < BLOCK ? n - start : BLOCK;
    int       j = 0;
    memset(sum, 0, (size_t)m * sizeof *sum);
    for (; j + 4 <= n_terms; j += 4) {
      add_four(m, c + j, K[j] + start, K[j + 1] + start, K[j + 2] + start, K[j + 3] + start, sum);
    }
    for (; j < n_terms; ++j) add_one(m, c[j], K[j] + start, sum);
    scale_and_add(m, y0 != NULL ? y0 + start : zero, h, sum, out + start);
  }
}

YOKE_SIMD double explicit_distance(int n, const double *a, const double *b) {
  enum { LANES = 8 };
  double sum[LANES] = {0};
  int    i          = 0;
  for (; i + LANES <= n; i += LANES) {
    for (int k = 0; k < LANES; ++k) sum[k] += (a[i + k] - b[i + k]) * (a[i + k] - b[i + k]);
  }
  for (int k = 0; i < n; ++i, ++k) sum[k] += (a[i] - b[i]) * (a[i] - b[i]);
  double total = 0;
  for (int k = 0; k < LANES; ++k) total += sum[k];
  return total;
}

/* Two sums of the same terms, each read once. */
YOKE_SIMD static void add_four_twice(int m, const double *restrict c, const double *restrict d,
                                     const double *restrict k0, const double *restrict k1, const double *restrict k2,
                                     const double *restrict k3, double *restrict sum, double *restrict other) {
  const double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3];
  for (int i = 0; i < m; ++i) {
    double s = sum[i] + c0 * k0[i], r = other[i] + d0 * k0[i];
    s += c1 * k1[i];
    r += d1 * k1[i];
    s += c2 * k2[i];
    r += d2 * k2[i];
    sum[i]   = s + c3 * k3[i];
    other[i] = r + d3 * k3[i];
  }
}

void explicit_combine_pair(int n, double h, const double *c, double *out, double g, const double *d, double *other,
                           int n_terms, const double *const *K) {
  static const double zero[BLOCK];
  double              sum[BLOCK], second[BLOCK];
  for (int start = 0; start < n; start += BLOCK) {
    const int m = n - start < BLOCK ? n - start : BLOCK;
    int       j = 0;
    memset(sum, 0, (size_t)m * sizeof *sum);
    memset(second, 0, (size_t)m * sizeof *second);
    for (; j + 4 <= n_terms; j += 4) {
      add_four_twice(m, c + j, d + j, K[j] + start, K[j + 1] + start, K[j + 2] + start, K[j + 3] + start, sum, second);
    }
    for (; j < n_terms; ++j) {
      add_one(m, c[j], K[j] + start, sum);
      add_one(m, d[j], K[j] + start, second);
    }
    scale_and_add(m, zero, h, sum, out + start);
    scale_and_add(m, zero, g, second, other + start);
  }
}

void explicit_shift_differences(int n, int m, const double *beta, const double *f, double *const *phi) {
  double now[BLOCK], before[BLOCK];
  for (int start = 0; start < n; start += BLOCK) {
    const int length = n - start < BLOCK ? n - start : BLOCK;
    memcpy(now, f + start, (size_t)length * sizeof *now);
    for (int j = 0; j < m; ++j) {
      memcpy(before, phi[j] + start, (size_t)length * sizeof *before);
      memcpy(phi[j] + start, now, (size_t)length * sizeof *now);
      add_one(length, -beta[j], before, now);
    }
    memcpy(phi[m] + start, now, (size_t)length * sizeof *now);
  }
}

double explicit_first_step(const yoke_integrator *integrator, void *work, double *u_now, double *work_arrays,
                           yoke_integrator_state *state, const yoke_signal *u, const double *qdot, int order) {
  const yoke_equations          *e = integrator->equations;
  const yoke_integrator_options *o = &integrator->options;
  if (o->fixed_step > 0) return o->fixed_step;
  const double h_max = o->max_step > 0 ? o->max_step : (double)INFINITY;
  if (o->first_step > 0) return fmin(o->first_step, h_max);

  const double *q = yoke_integrator_q(integrator, state), *v = yoke_integrator_v(integrator, state);
  const double *a  = yoke_integrator_a(integrator, state);
  const int     nq = explicit_n_q(e), n = nq + e->nv;
  double       *q1 = work_arrays, *qdot1 = q1 + e->nq, *v1 = qdot1 + e->nq, *a1 = v1 + e->nv;
  const double  sc     = n > 0 ? 1.0 / n : 1;
  const double *size_q = explicit_size(e, true, 0), *size_v = explicit_size(e, false, 0);

  /* h0 with |h0 y'| = |y| / 100 in the norm of the tolerances */
  const double d0 = sqrt(sc * (explicit_error_sum(nq, q, q, q, size_q, o->atol, o->rtol) +
                               explicit_error_sum(e->nv, v, v, v, size_v, o->atol, o->rtol)));
  const double d1 = sqrt(sc * (explicit_error_sum(nq, qdot, q, q, size_q, o->atol, o->rtol) +
                               explicit_error_sum(e->nv, a, v, v, size_v, o->atol, o->rtol)));
  double       h0 = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
  h0              = fmin(h0, h_max);
  if (!isfinite(h0) || h0 <= 0) h0 = 1e-6;

  /* Change of y' over an explicit Euler step */
  for (int attempt = 0; attempt < 10; ++attempt, h0 *= 0.1) {
    for (int i = 0; i < e->nq; ++i) q1[i] = q[i] + h0 * qdot[i];
    for (int i = 0; i < e->nv; ++i) v1[i] = v[i] + h0 * a[i];
    const yoke_status status = explicit_evaluate(integrator, work, u_now, &state->counters, u, state->t + h0,
                                                 YOKE_SIDE_LEFT, q1, v1, qdot1, a1, NULL);
    if (status != YOKE_OK) continue;
    for (int i = 0; i < nq; ++i) qdot1[i] -= qdot[i];
    for (int i = 0; i < e->nv; ++i) a1[i] -= a[i];
    const double d2 = sqrt(sc * (explicit_error_sum(nq, qdot1, q, q, size_q, o->atol, o->rtol) +
                                 explicit_error_sum(e->nv, a1, v, v, size_v, o->atol, o->rtol))) /
                      h0;
    const double d12 = fmax(d1, d2);
    const double h1  = d12 <= 1e-15 ? fmax(1e-6, h0 * 1e-3) : pow(0.01 / d12, 1.0 / (order + 1));
    const double h   = fmin(fmin(100 * h0, h1), h_max);
    if (isfinite(h) && h > 0) return h;
  }
  return h0;
}

yoke_status explicit_fail_small(const yoke_integrator *integrator, const yoke_integrator_state *state, double h,
                                bool is_finite, yoke_context *ctx) {
  if (!is_finite) {
    return yoke_fail(ctx, YOKE_E_UNSTABLE,
                     "solver '%s': values are not finite after t = %.9g s, even with a step of %.3g s",
                     integrator->ops->name, state->t, h);
  }
  return yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL,
                   "solver '%s': the step fell to %.3g s at t = %.9g s; the equations may be stiff or not smooth there",
                   integrator->ops->name, h, state->t);
}
