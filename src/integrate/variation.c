/* The linear variational equations at a point of the motion: products with J and B for all directions, accelerations by the equations. */
#include "base/simd.h"
#include "integrate/tangents_internal.h"
#include <math.h>
#include <string.h>

enum { LANES = 16 };

void tangents_place(const walk *w, const tangents_point *p, double t) {
  const yoke_equations *e = w->equations;
  double               *q = p->x, *v = p->x + w->tangents->dae->i_v;
  yoke_integrator_interpolate(w->tangents->integrator, w->state, t, q, v);
  if (t != w->state->t && e->ops->normalise != NULL) e->ops->normalise(e->self, q);
}

/* w->reach from sum |B du| / M at the point. */
static void note_reach(const walk *w, const tangents_point *at) {
  const yoke_directions *d   = w->directions;
  const yoke_tangents   *x   = w->tangents;
  const yoke_pattern    *p   = x->dae->input_pattern;
  double                *sum = w->norm;
  memset(sum, 0, (size_t)w->n * sizeof *sum);
  for (int e = 0; e < d->n_entries; ++e) {
    for (int i = p->col_start[d->input[e]]; i < p->col_start[d->input[e] + 1]; ++i) {
      const int k = x->row_of[p->row[i]] - w->equations->nq;
      if (k >= 0 && k < w->equations->nv) sum[d->direction[e]] += fabs(at->B[i] * at->du[e] / at->J[x->mass[k]]);
    }
  }
  for (int i = 0; i < w->n; ++i) w->reach[i] = fmax(w->reach[i], sum[i]);
}

void tangents_middle(const walk *w, const tangents_point *p) {
  const yoke_integrator *integrator = w->tangents->integrator;
  const yoke_dae        *dae        = w->tangents->dae;
  const double          *start = w->at[END].x, h = w->state->t - w->state->t_prev;
  const double          *v = yoke_integrator_v(integrator, w->state), *a = yoke_integrator_a(integrator, w->state);
  for (int i = 0; i < w->equations->nv; ++i)
    p->x[dae->i_a + i] = 1.5 * (v[i] - start[dae->i_v + i]) / h - 0.25 * (start[dae->i_a + i] + a[i]);
}

yoke_status tangents_linearise(const walk *w, const tangents_point *p, double t, yoke_side side, bool with_jacobian,
                               bool has_a) {
  const yoke_equations *e   = w->equations;
  const yoke_dae       *dae = w->tangents->dae;
  double               *q = p->x, *v = p->x + dae->i_v, *a = p->x + dae->i_a;
  if (e->nu > 0) yoke_signal_value(w->u, t, side, 0, p->u);
  if (e->ops->branch != NULL && e->ops->branch(e->self, w->work, t, q, v, p->u) != w->head->branch)
    return YOKE_NOT_CONVERGED;
  yoke_signal_value(&w->directions->du, t, side, 0, p->du);
  double *lambda = dae->i_lambda >= 0 ? p->x + dae->i_lambda : NULL;
  if (has_a) {                                     /* and there are no multipliers */
  } else if (t == w->state->t && w->is_explicit) { /* the step has left them, or whoever told the method of a jump */
    memcpy(a, yoke_integrator_a(w->tangents->integrator, w->state), (size_t)e->nv * sizeof *a);
    if (lambda != NULL)
      memcpy(lambda, yoke_integrator_lambda(w->tangents->integrator, w->state),
             (size_t)yoke_n_multipliers(e) * sizeof *lambda);
  } else {
    ++w->head->evaluations;
    YOKE_TRY(e->ops->derivative(e->self, w->work, t, q, v, p->u, NULL, a, lambda));
  }
  YOKE_TRY(e->ops->dae_input_jacobian(e->self, dae, w->work, t, p->x, p->u, p->B));
  if (!with_jacobian) return YOKE_OK;
  ++w->head->jacobians;
  YOKE_TRY(e->ops->dae_jacobian(e->self, dae, w->work, t, p->x, p->u, p->J));
  note_reach(w, p);
  return YOKE_OK;
}

yoke_status tangents_factor(const walk *w, const tangents_point *p, double t) {
  const yoke_equations *e = w->equations;
  return e->ops->motion_factor(e->self, w->work, t, p->x, p->x + w->tangents->dae->i_v, p->u, p->factor);
}

/* y [n_rows, n] = J x [., n], J by rows: `width` directions from `first` on, whose sums stay in registers. */
static YOKE_ALWAYS_INLINE void multiply_some(int n_rows, const int *restrict start, const int *restrict col,
                                             const int *restrict slot, const double *restrict J, int n, int first,
                                             int width, const double *restrict x, double *restrict y) {
  for (int r = 0; r < n_rows; ++r) {
    double sum[LANES] = {0};
    for (int k = start[r]; k < start[r + 1]; ++k) {
      const double  c    = J[slot[k]];
      const double *from = x + (size_t)col[k] * (size_t)n + first;
      for (int i = 0; i < width; ++i) sum[i] += c * from[i];
    }
    memcpy(y + (size_t)r * (size_t)n + first, sum, (size_t)width * sizeof *sum);
  }
}

YOKE_SIMD static void multiply(int n_rows, const int *restrict start, const int *restrict col, const int *restrict slot,
                               const double *restrict J, int n, const double *restrict x, double *restrict y) {
  int first = 0;
  for (; first + LANES <= n; first += LANES) multiply_some(n_rows, start, col, slot, J, n, first, LANES, x, y);
  for (; first + 4 <= n; first += 4) multiply_some(n_rows, start, col, slot, J, n, first, 4, x, y);
  for (; first < n; ++first) multiply_some(n_rows, start, col, slot, J, n, first, 1, x, y);
}

/* k += B du */
static void add_inputs(const walk *w, const tangents_point *at, double *k) {
  const yoke_directions *d = w->directions;
  const yoke_pattern    *p = w->tangents->dae->input_pattern;
  for (int e = 0; e < d->n_entries; ++e) {
    const int col = d->input[e];
    for (int i = p->col_start[col]; i < p->col_start[col + 1]; ++i) {
      const int row = w->tangents->row_of[p->row[i]];
      if (row >= 0) k[(size_t)row * (size_t)w->n + (size_t)d->direction[e]] += at->B[i] * at->du[e];
    }
  }
}

void tangents_quadratures(const walk *w, const tangents_point *p, double t, const double *y, double *k) {
  const yoke_equations *e     = w->equations;
  const size_t          first = (size_t)(e->nq - e->n_quadratures) * (size_t)w->n;
  if (e->n_quadratures == 0) return;
  e->ops->quadrature_tangent(e->self, w->work, t, p->x, p->x + w->tangents->dae->i_v, w->n, y,
                             y + (size_t)e->nq * (size_t)w->n, k + first);
}

void tangents_slope(const walk *w, const tangents_point *p, double t, const double *y, double *k) {
  const yoke_tangents  *tangents = w->tangents;
  const yoke_equations *e        = w->equations;
  double               *lambda   = k + w->n_y;
  if (y != NULL) {
    multiply(tangents->n_rows, tangents->start, tangents->col, tangents->slot, p->J, w->n, y, k);
  } else {
    memset(k, 0, w->n_slope * sizeof *k);
  }
  add_inputs(w, p, k);
  if (y != NULL) tangents_quadratures(w, p, t, y, k);
  /* M da - G^T dlambda = r_a, G da = r_g: the rows of F have G a + ... = 0, hence the sign */
  for (size_t i = 0; i < w->n_slope - w->n_y; ++i) lambda[i] = -lambda[i];
  e->ops->motion_solve(e->self, p->factor, w->n, k + (size_t)e->nq * (size_t)w->n, lambda);
}
