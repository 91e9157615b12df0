#include "analysis/downhill.h"

#include "linalg/lapack.h"
#include "base/cancel.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { STEPS = 16, DECADES = 15 };

static const double converged = 0.05;               /* |T x - theta x| / |theta x| */
static const double rounding  = 64.0 * DBL_EPSILON; /* of x^T K x, relative to |x|^T |K| |x| */

typedef struct hill {
  const yoke_downhill_def *def;
  int                      n;
  yoke_factor             *factor;                /* of (-K + sigma M, -G^T; G, 0) */
  yoke_factor             *projection;            /* of (M, -G^T; G, 0) */
  double                  *A, *V, *W, *Mx, *work; /* [nnz], [STEPS + 1, n], [STEPS, n] T V, [n], solutions */
} hill;

static void multiply_mass(const hill *h, const double *x, double *y) {
  yoke_sparse_multiply(h->def->pattern, h->def->M, x, y);
}

static double dot(int n, const double *x, const double *y) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

/* y := factor^-1 M x, for `projection` x without what is not in the null space of G. False: a number is not finite. */
static bool apply(const hill *h, const yoke_factor *factor, const double *x, double *y) {
  multiply_mass(h, x, y);
  memset(y + h->def->nv, 0, (size_t)(h->n - h->def->nv) * sizeof *y);
  yoke_factor_solve(factor, y, NULL, h->work);
  return isfinite(dot(h->n, y, y));
}

/* x := x / |x|_M, its multipliers 0; false: nothing is left of what had the size `before`. */
static bool normalise(const hill *h, double before, double *x) {
  memset(x + h->def->nv, 0, (size_t)(h->n - h->def->nv) * sizeof *x);
  multiply_mass(h, x, h->Mx);
  const double size = sqrt(dot(h->n, x, h->Mx));
  if (!(size > 1e-10 * before)) return false;
  for (int i = 0; i < h->n; ++i) x[i] /= size;
  return true;
}

/* x := x - V V^T M x of the first k vectors. */
static void remove_known(const hill *h, int k, double *x) {
  const size_t n = (size_t)h->n;
  multiply_mass(h, x, h->Mx);
  for (int j = 0; j < k; ++j) {
    const double share = dot(h->n, h->V + (size_t)j * n, h->Mx);
    for (size_t i = 0; i < n; ++i) x[i] -= share * h->V[(size_t)j * n + i];
  }
}

/* V^T M T V = H [k, k] in the space of the first k vectors; how many there are. */
static int span(const hill *h, double H[STEPS * STEPS]) {
  const size_t n    = (size_t)h->n;
  uint32_t     seed = 2463534242u;
  for (size_t i = 0; i < n; ++i) {
    seed    = seed * 1664525u + 1013904223u;
    h->W[i] = (double)seed / 4294967296.0 - 0.5;
  }
  if (!apply(h, h->factor, h->W, h->V) || !normalise(h, 0.0, h->V)) return 0;
  for (int k = 0; k < STEPS; ++k) {
    double *w = h->W + (size_t)k * n, *next = h->V + (size_t)(k + 1) * n;
    if (!apply(h, h->factor, h->V + (size_t)k * n, w)) return k;
    multiply_mass(h, w, h->Mx);
    const double size = sqrt(dot(h->n, w, h->Mx));
    for (int j = 0; j < STEPS; ++j) H[j * STEPS + k] = j <= k ? dot(h->n, h->V + (size_t)j * n, h->Mx) : 0.0;
    memcpy(h->A, w, n * sizeof *w);
    remove_known(h, k + 1, h->A);
    if (!apply(h, h->projection, h->A, next)) return k + 1; /* what is left may be small, and off the null space */
    remove_known(h, k + 1, next);
    if (!normalise(h, size, next)) return k + 1; /* that is the whole space */
  }
  return STEPS;
}

/* mu of x, x^T (-K) x / x^T M x; 0: rounding may be all of it. */
static double quotient(const hill *h, const double *x) {
  const yoke_pattern *p   = h->def->pattern;
  double              sum = 0.0, size = 0.0, mass = 0.0;
  for (int c = 0; c < h->def->nv; ++c) {
    for (int k = p->col_start[c]; k < p->col_start[c + 1]; ++k) {
      if (p->row[k] >= h->def->nv) continue;
      const double part = x[p->row[k]] * h->def->S[k] * x[c];
      sum += part;
      size += fabs(part);
      mass += x[p->row[k]] * h->def->M[k] * x[c];
    }
  }
  return fabs(sum) > rounding * size ? sum / mass : 0.0;
}

/* The eigenvector of the smallest theta < 0, as far as it is one. */
static double smallest(const hill *h, double *x) {
  const size_t n = (size_t)h->n;
  double       H[STEPS * STEPS], Q[STEPS * STEPS], theta[STEPS], work[34 * STEPS];
  const int    m = span(h, H);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) Q[j * m + i] = H[i < j ? i * STEPS + j : j * STEPS + i];
  }
  if (m == 0 || lapack_dsyev_work('V', 'U', m, Q, m, theta, work, 34 * STEPS) != 0 || !(theta[0] < 0.0)) return 0.0;
  memset(x, 0, n * sizeof *x);
  memset(h->A, 0, n * sizeof *h->A); /* T x - theta x */
  for (int k = 0; k < m; ++k) {
    for (size_t i = 0; i < n; ++i) {
      x[i] += Q[k] * h->V[(size_t)k * n + i];
      h->A[i] += Q[k] * (h->W[(size_t)k * n + i] - theta[0] * h->V[(size_t)k * n + i]);
    }
  }
  memset(h->A + h->def->nv, 0, (n - (size_t)h->def->nv) * sizeof *h->A);
  multiply_mass(h, h->A, h->Mx);
  if (sqrt(dot(h->n, h->A, h->Mx)) > converged * fabs(theta[0])) return 0.0;
  return fmin(quotient(h, x), 0.0);
}

/* max over rows of sum |K| / M. */
static double largest_quotient(const yoke_downhill_def *def, double *sum, double *mass) {
  const yoke_pattern *p    = def->pattern;
  double              most = 0.0;
  memset(sum, 0, (size_t)p->n_rows * sizeof *sum);
  memset(mass, 0, (size_t)p->n_rows * sizeof *mass);
  for (int c = 0; c < def->nv; ++c) {
    for (int k = p->col_start[c]; k < p->col_start[c + 1]; ++k) {
      sum[p->row[k]] += fabs(def->S[k]);
      if (p->row[k] == c) mass[c] = def->M[k];
    }
  }
  for (int i = 0; i < def->nv; ++i) {
    if (mass[i] > 0.0) most = fmax(most, sum[i] / mass[i]);
  }
  return most;
}

/* (M, -G^T; G, 0) */
static yoke_status factor_projection(hill *h) {
  const yoke_pattern *p = h->def->pattern;
  for (int c = 0; c < h->n; ++c) {
    for (int k = p->col_start[c]; k < p->col_start[c + 1]; ++k)
      h->A[k] = c < h->def->nv && p->row[k] < h->def->nv ? h->def->M[k] : h->def->S[k];
  }
  return yoke_factor_make(h->def->linear, h->A, NULL, &h->projection);
}

static yoke_status search(yoke_context *ctx, hill *h, double *x, double *mu) {
  double            sigma     = largest_quotient(h->def, h->V, h->W);
  const yoke_status projected = factor_projection(h);
  if (projected != YOKE_OK) return projected < 0 ? projected : YOKE_OK;
  for (int k = 0; k < DECADES && *mu == 0.0 && sigma > 0.0; ++k, sigma *= 0.1) {
    YOKE_TRY(yoke_context_go_on(ctx));
    for (int i = 0; i < h->def->pattern->nnz; ++i) h->A[i] = h->def->S[i] + sigma * h->def->M[i];
    const yoke_status status = yoke_factor_make(h->def->linear, h->A, NULL, &h->factor);
    if (status == YOKE_SINGULAR || status == YOKE_NON_FINITE) continue;
    YOKE_TRY(status);
    *mu = smallest(h, x);
  }
  return YOKE_OK;
}

yoke_status yoke_downhill_find(yoke_context *ctx, const yoke_downhill_def *def, double *x, double *mu) {
  yoke_arena   arena = {0};
  const size_t n     = (size_t)def->pattern->n_rows;
  hill         h     = {.def = def, .n = def->pattern->n_rows};
  *mu                = 0.0;
  h.A                = yoke_arena_take(&arena, (size_t)def->pattern->nnz + n, sizeof(double));
  h.V                = yoke_arena_take(&arena, (STEPS + 1) * n, sizeof(double));
  h.W                = yoke_arena_take(&arena, STEPS * n, sizeof(double));
  h.Mx               = yoke_arena_take(&arena, n, sizeof(double));
  h.work             = yoke_arena_take(&arena, yoke_linear_work_size(def->linear) + 1, sizeof(double));
  yoke_status status = yoke_arena_check(&arena, ctx, "the stability of a rest state of %d velocities", def->nv);
  if (status == YOKE_OK && n > 0) status = search(ctx, &h, x, mu);
  yoke_factor_release(&h.factor);
  yoke_factor_release(&h.projection);
  yoke_arena_free(&arena);
  return status;
}
