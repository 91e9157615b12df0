/* How good a trial is: errors of the tangents at the end of a micro step beside their size, each direction by itself.
 *
 * Positions, velocities and accelerations count each by itself, quadratures do not. The error of accelerations is that of dv times a rate: how
 * much da and dv move between the last two slopes of the explicit rule, which belong to the same point. */
#include "base/simd.h"
#include "integrate/tangents_internal.h"
#include <math.h>
#include <string.h>

/* Motion that is smaller than this part of what the inputs would cause without joints is left of forces that joints take: rounding errors. The
 * same for velocities beside the mean of dq'. */
static const double HELD = 1e-7;

/* Where joints take most of what the inputs would cause, the partner of the coupling still feels all of it: motion that is smaller than this
 * part of what they take does not show in the matrix. */
static const double TAKEN = 1e-3;

/* Of a slope, or of what the inputs would cause without joints. */
static const double ROUNDING = 1e-14;

YOKE_SIMD static void add_squares(size_t rows, size_t n, const double *restrict x, double *restrict sum) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t i = 0; i < n; ++i) sum[i] += x[r * n + i] * x[r * n + i];
  }
}

YOKE_SIMD static void add_squared_differences(size_t rows, size_t n, const double *restrict x,
                                              const double *restrict x0, double *restrict sum) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t i = 0; i < n; ++i) sum[i] += (x[r * n + i] - x0[r * n + i]) * (x[r * n + i] - x0[r * n + i]);
  }
}

/* norm[i] = sqrt(sum over rows of (x - x0)^2), x [rows, n]; x0 NULL: 0. */
static void norms(const walk *w, int first, int rows, const double *x, const double *x0, double *norm) {
  const size_t n = (size_t)w->n, offset = (size_t)first * n;
  memset(norm, 0, n * sizeof *norm);
  if (x0 == NULL) {
    add_squares((size_t)rows, n, x + offset, norm);
  } else {
    add_squared_differences((size_t)rows, n, x + offset, x0 + offset, norm);
  }
  for (size_t i = 0; i < n; ++i) norm[i] = sqrt(norm[i]);
}

/* Changes `worst` where an error beside the larger one of two sizes and a floor is worse; what is not a number stays. */
static void note(int n, const double *error, const double *start, const double *end, const double *floor,
                 double *worst) {
  for (int i = 0; i < n; ++i) {
    const double ratio = error[i] == 0.0 ? 0.0 : error[i] / fmax(fmax(start[i], end[i]), floor[i]);
    if (!(ratio <= worst[i])) worst[i] = ratio;
  }
}

void tangents_rates(const walk *w) {
  const yoke_equations *e     = w->equations;
  double               *slope = w->norm, *distance = slope + w->n, *size = distance + w->n;
  norms(w, e->nq, e->nv, w->slope[3], w->slope[4], slope);
  norms(w, e->nq, e->nv, w->stage, w->trial, distance);
  /* slopes of a short step that differ by their rounding only tell no rate */
  norms(w, e->nq, e->nv, w->slope[4], NULL, size);
  for (int i = 0; i < w->n; ++i)
    w->rate[i] = slope[i] <= ROUNDING * fmax(size[i], w->reach[i]) ? 0.0 : slope[i] / distance[i];
}

/* Accelerations [n] below which errors do not count: of what the inputs would cause without joints (w->reach), and of what joints take of it. */
static void set_floor(const walk *w, double *start, double *end, double *floor) {
  const yoke_equations *e = w->equations;
  norms(w, e->nq, e->nv, w->k, NULL, start);
  norms(w, e->nq, e->nv, w->slope[4], NULL, end);
  for (int i = 0; i < w->n; ++i) {
    const double taken = yoke_n_multipliers(e) > 0 ? fmax(0.0, w->reach[i] - fmax(start[i], end[i])) : 0.0;
    floor[i]           = HELD * w->reach[i] + TAKEN * taken;
  }
}

const double *tangents_errors(const walk *w, int m) {
  const yoke_equations *e  = w->equations;
  const int             nq = e->nq - e->n_quadratures, n = w->n;
  const double          h     = w->state->t - w->state->t_prev;
  double               *worst = w->norm, *error = worst + n, *start = error + n, *end = start + n, *floor = end + n,
         *least = floor + n;
  set_floor(w, start, end, least);
  norms(w, e->nq, e->nv, w->trial, w->y, floor); /* dq may come back to 0 where inputs change their sign */
  for (int i = 0; i < n; ++i) {
    worst[i] = 0.0;
    floor[i] = fmax(h * floor[i], h * h * least[i]);
  }
  norms(w, 0, nq, w->error, NULL, error);
  norms(w, 0, nq, w->y, NULL, start);
  norms(w, 0, nq, w->trial, NULL, end);
  note(n, error, start, end, floor, worst);

  norms(w, 0, nq, w->trial, w->y, floor); /* dv may be 0 where inputs move q */
  for (int i = 0; i < n; ++i) floor[i] = fmax(HELD * floor[i] / h, h * least[i]);
  norms(w, e->nq, e->nv, w->error, NULL, error);
  norms(w, e->nq, e->nv, w->y, NULL, start);
  norms(w, e->nq, e->nv, w->trial, NULL, end);
  note(n, error, start, end, floor, worst);

  norms(w, e->nq, e->nv, w->trial, w->y, floor);
  for (int i = 0; i < n; ++i) {
    floor[i] = fmax(floor[i] / h, least[i]);
    error[i] *= w->rate[i];
  }
  norms(w, e->nq, e->nv, w->k, NULL, start);
  norms(w, e->nq, e->nv, w->slope[4], NULL, end);
  note(n, error, start, end, floor, worst);

  for (int i = 0; m > 1 && i < n; ++i) worst[i] /= 15.0; /* what was left after the last doubling of the steps */
  return worst;
}
