/* The two rules that carry tangents over a micro step.
 *
 * Explicit: classical Runge-Kutta of order 4. Its two middle stages share a point, and the last one shares the end of the step with the slope
 * from which the next step starts: two points, four slopes per step. Its error is the defect of the Lobatto formula of order 4 with the slope of
 * the cubic through the middle, one more slope: y1 - y0 - h/6 (k(0) + 4 k(1/2) + k(1)).
 * Inputs that are no straight lines over a step are replaced in the middle and at its end by the samples with which the rule gives their
 * integral and first moment as they are: for y'' = du it is exact then, whatever the degree of du.
 *
 * Implicit: the diagonally implicit method of order 4 with five stages, gamma = 1/4, L-stable and stiffly accurate (Hairer, Wanner II, IV.6,
 * table 6.5), on E dx' = J dx + B du with dx = (dq, dv, da, dlambda):
 *   (alpha E - J_i) X_i = alpha E base_i + B_i du_i,  alpha = 1 / (h gamma),  base_i = y + h sum_{j<i} a_ij k_j,  k_i = alpha (X_i - base_i).
 * Where J hardly changes, that of the middle serves all stages of all steps of a trial: one factor instead of five for each step. */
#include "integrate/explicit.h"
#include "integrate/tangents_internal.h"
#include <math.h>
#include <string.h>

/* Step i of m in the micro step of the state, `c` of the way through it. */
static double time_at(const walk *w, int i, double c, int m) {
  const double t0 = w->state->t_prev, t1 = w->state->t;
  return i == m - 1 && c == 1.0 ? t1 : t0 + (t1 - t0) * ((i + c) / m);
}

/* Trials go on where the step before ended. */
static const double *step_start(const walk *w, int i) {
  return i == 0 ? w->y : w->trial;
}

static yoke_status go_to(const walk *w, const tangents_point *p, double t, bool is_middle) {
  tangents_place(w, p, t);
  if (is_middle) tangents_middle(w, p);
  return tangents_linearise(w, p, t, YOKE_SIDE_LEFT, true, is_middle);
}

/* ---- explicit ---- */

static void combine(const walk *w, const double *y, double h, int n_terms, const double *c, const double *const *k,
                    double *out) {
  explicit_combine((int)w->n_y, y, h, n_terms, c, k, out);
}

/* Point at c of step i of m, ready for slopes. Up to four steps it is one of the eighths, which trials before may have seen already. */
static yoke_status reach_point(const walk *w, int i, double c, int m, const tangents_point **point) {
  const double t         = time_at(w, i, c, m);
  const bool   is_eighth = m <= 4 || (i == m - 1 && c == 1.0);
  const int    k         = is_eighth ? (int)((i + c) * END / m) : c == 1.0;
  /* The first point of the first trial: rough tangents do without an evaluation there. */
  const bool   is_middle = m == 1 && c == 0.5 && tangents_are_rough(w) && yoke_n_multipliers(w->equations) == 0;
  *point                 = &w->at[k];
  if (is_eighth && (w->head->known >> k & 1u) != 0) return YOKE_OK;
  YOKE_TRY(go_to(w, *point, t, is_middle));
  YOKE_TRY(tangents_factor(w, *point, t));
  if (is_eighth) w->head->known |= 1u << k;
  return YOKE_OK;
}

/* Samples of du in the middle and at the end of [t0, t0 + h] for which
 *   h/6 (du_0 + 4 du_m + du_1) = int du,   h^2 (du_0/6 + du_m/3) = int (t0 + h - t) du,
 * which are what the rule makes of v' = du and q'' = du. */
static void sample_inputs(const walk *w, double t0, double h) {
  static const double node[]   = {0.06943184420297371, 0.33000947820757187, 0.6699905217924281, 0.9305681557970263};
  static const double weight[] = {0.17392742256872692, 0.32607257743127307, 0.32607257743127307, 0.17392742256872692};
  const yoke_signal  *du       = &w->directions->du;
  const size_t        n        = (size_t)du->n;
  double             *start = w->sample[0], *middle = w->sample[1], *end = w->sample[2], *now = w->sample[3];
  yoke_signal_value(du, t0, YOKE_SIDE_RIGHT, 0, start);
  memset(middle, 0, n * sizeof *middle);
  memset(end, 0, n * sizeof *end);
  for (int k = 0; k < 4; ++k) { /* exact to degree seven */
    yoke_signal_value(du, t0 + node[k] * h, YOKE_SIDE_LEFT, 0, now);
    for (size_t e = 0; e < n; ++e) {
      middle[e] += weight[k] * (1.0 - node[k]) * now[e];
      end[e] += weight[k] * now[e];
    }
  }
  for (size_t e = 0; e < n; ++e) {
    middle[e] = 3.0 * middle[e] - 0.5 * start[e];
    end[e]    = 6.0 * end[e] - start[e] - 4.0 * middle[e];
  }
}

/* The point with such samples, number `which`, where du is no straight line. */
static tangents_point with_samples(const walk *w, const tangents_point *p, int which) {
  tangents_point at = *p;
  if (w->directions->du.degree > 1) at.du = w->sample[which];
  return at;
}

/* The slope at the end for the inputs themselves from that for their samples: slopes are linear. */
static void take_true_inputs(const walk *w, const tangents_point *p, double t, double *k) {
  const size_t   n          = (size_t)w->directions->du.n;
  tangents_point difference = *p;
  difference.du             = w->sample[3];
  for (size_t e = 0; e < n; ++e) w->sample[3][e] = p->du[e] - w->sample[2][e];
  tangents_slope(w, &difference, t, NULL, w->slope[1]);
  for (size_t i = 0; i < w->n_slope; ++i) k[i] += w->slope[1][i];
}

/* w->error of a trial with one step; `middle` and the slope at its end are those of the samples. */
static void find_defect(const walk *w, double h, const tangents_point *middle) {
  const double *k0 = w->k, *k1 = w->slope[4];
  double       *k_middle = w->slope[0];
  tangents_rates(w);
  for (size_t i = 0; i < w->n_y; ++i) w->stage[i] = 0.5 * (w->y[i] + w->trial[i]) + 0.125 * h * (k0[i] - k1[i]);
  tangents_slope(w, middle, time_at(w, 0, 0.5, 1), w->stage, k_middle);
  for (size_t i = 0; i < w->n_y; ++i) {
    w->error[i] = w->trial[i] - w->y[i] - h / 6.0 * (k0[i] + 4.0 * k_middle[i] + k1[i]);
  }
}

yoke_status tangents_explicit_trial(const walk *w, int m) {
  static const double one[] = {1.0}, b[] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  const double        h = (w->state->t - w->state->t_prev) / m;
  tangents_point      middle, end;
  for (int i = 0; i < m; ++i) {
    const double         *y = step_start(w, i), *k1 = i == 0 ? w->k : w->slope[4];
    double               *k2 = w->slope[1], *k3 = w->slope[2], *k4 = w->slope[3];
    const double          t_middle = time_at(w, i, 0.5, m), t_end = time_at(w, i, 1.0, m);
    const tangents_point *p;
    if (w->directions->du.degree > 1) sample_inputs(w, time_at(w, i, 0.0, m), h);
    YOKE_TRY(reach_point(w, i, 0.5, m, &p));
    middle = with_samples(w, p, 1);
    combine(w, y, 0.5 * h, 1, one, &k1, w->stage);
    tangents_slope(w, &middle, t_middle, w->stage, k2);
    combine(w, y, 0.5 * h, 1, one, (const double *const[]){k2}, w->stage);
    tangents_slope(w, &middle, t_middle, w->stage, k3);
    YOKE_TRY(reach_point(w, i, 1.0, m, &p));
    end = with_samples(w, p, 2);
    combine(w, y, h, 1, one, (const double *const[]){k3}, w->stage);
    tangents_slope(w, &end, t_end, w->stage, k4);
    combine(w, y, h, 4, b, (const double *const[]){k1, k2, k3, k4}, w->trial);
    tangents_slope(w, &end, t_end, w->trial, w->slope[4]);
    if (m == 1) find_defect(w, h, &middle);
    if (end.du != p->du) take_true_inputs(w, p, t_end, w->slope[4]);
  }
  return YOKE_OK;
}

/* ---- implicit ---- */

#define GAMMA 0.25

static const double A[N_SLOPES][N_SLOPES] = {
    {GAMMA},
    {1.0 / 2.0, GAMMA},
    {17.0 / 50.0, -1.0 / 25.0, GAMMA},
    {371.0 / 1360.0, -137.0 / 2720.0, 15.0 / 544.0, GAMMA},
    {25.0 / 24.0, -49.0 / 48.0, 125.0 / 16.0, -85.0 / 12.0, GAMMA},
};
static const double C[N_SLOPES] = {1.0 / 4.0, 3.0 / 4.0, 11.0 / 20.0, 1.0 / 2.0, 1.0};

/* Last row of A minus the embedded method of order 3: for y' = (z / h) y about z^4 / 100 where the error is z^5 / 1000. A fortieth of it is the
 * error where that is about 1e-6. */
static const double E[N_SLOPES] = {-3.0 / 640.0, -27.0 / 1280.0, 5.0 / 256.0, 0.0, 1.0 / 160.0};

/* Column i of w->change grows by the size of (dq, dv) of (alpha E - J)^-1 (J_end - J_middle) X, which is what the change of J over half of a step
 * adds to a stage, of first order in it; as it changes its sign in the middle, the step is off by less. */
static void add_change(const walk *w, const yoke_factor *factor, const double *X, size_t i) {
  const yoke_pattern *p     = w->implicit->dae->pattern;
  const double       *J_end = w->at[END].J, *J_middle = w->at[MIDDLE].J;
  const size_t        n = (size_t)w->n, n_states = w->n_y / n;
  double             *r = w->matrix; /* the factor is made */
  memset(r, 0, (size_t)w->implicit->nx * sizeof *r);
  for (int j = 0; j < w->implicit->nx; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) r[p->row[k]] += (J_end[k] - J_middle[k]) * X[j];
  }
  yoke_factor_solve(factor, r, NULL, w->linear);
  for (size_t s = 0; s < n_states; ++s) w->change[s * n + i] += fabs(r[s]);
}

/* w->stage = (dq, dv) of X, for one direction after another, where it takes part. */
static void solve_stage(const walk *w, const tangents_point *at, const yoke_factor *factor, double alpha,
                        bool with_change) {
  const yoke_implicit   *implicit = w->implicit;
  const yoke_directions *d        = w->directions;
  const yoke_pattern    *p        = implicit->dae->input_pattern;
  const size_t           n = (size_t)w->n, n_states = n > 0 ? w->n_y / n : 0;
  int                    entry = 0;
  memset(w->column, 0, (size_t)implicit->nx * sizeof *w->column);
  for (size_t i = 0; i < n; ++i) {
    if (!tangents_takes_part(w, (int)i)) {
      for (size_t r = 0; r < n_states; ++r) w->stage[r * n + i] = w->base[r * n + i];
      while (entry < d->n_entries && d->direction[entry] == (int)i) ++entry;
      continue;
    }
    for (size_t r = 0; r < n_states; ++r) w->column[r] = alpha * w->base[r * n + i];
    yoke_implicit_mass(implicit, w->column, w->right);
    for (; entry < d->n_entries && d->direction[entry] == (int)i; ++entry) {
      const int col = d->input[entry];
      for (int k = p->col_start[col]; k < p->col_start[col + 1]; ++k) w->right[p->row[k]] += at->B[k] * at->du[entry];
    }
    yoke_factor_solve(factor, w->right, NULL, w->linear);
    for (size_t r = 0; r < n_states; ++r) w->stage[r * n + i] = w->right[r];
    if (with_change) add_change(w, factor, w->right, i);
  }
}

/* k of a stage at t, which is solved; `p` is the motion there. */
static void take_slope(const walk *w, const tangents_point *p, double t, double alpha, double *k) {
  const yoke_equations *e = w->equations;
  for (size_t i = 0; i < w->n_y; ++i) k[i] = alpha * (w->stage[i] - w->base[i]);
  /* J has no rows of quadratures, and nothing depends on them. */
  tangents_quadratures(w, p, t, w->stage, k);
  const size_t first = (size_t)(e->nq - e->n_quadratures) * (size_t)w->n, end = (size_t)e->nq * (size_t)w->n;
  for (size_t i = first; i < end; ++i) w->stage[i] = w->base[i] + k[i] / alpha;
}

/* One stage at t; w->base is set. */
static yoke_status run_stage(const walk *w, double t, double alpha, double *k) {
  YOKE_TRY(go_to(w, &w->at[END], t, false));
  YOKE_TRY(yoke_implicit_factor(w->implicit, alpha, 0.0, w->at[END].J, w->matrix, NULL, w->pivots));
  solve_stage(w, &w->at[END], *w->pivots, alpha, false);
  take_slope(w, &w->at[END], t, alpha, k);
  return YOKE_OK;
}

yoke_status tangents_implicit_trial(const walk *w, int m) {
  const double        h = (w->state->t - w->state->t_prev) / m, alpha = 1.0 / (h * GAMMA);
  const double *const k[N_SLOPES] = {w->slope[0], w->slope[1], w->slope[2], w->slope[3], w->slope[4]};
  for (int i = 0; i < m; ++i) {
    for (int s = 0; s < N_SLOPES; ++s) {
      combine(w, step_start(w, i), h, s, A[s], k, w->base);
      YOKE_TRY(run_stage(w, time_at(w, i, C[s], m), alpha, w->slope[s]));
    }
    memcpy(w->trial, w->stage, w->n_y * sizeof *w->trial);
  }
  if (m == 1) combine(w, NULL, h, N_SLOPES, E, k, w->error);
  return YOKE_OK;
}

/* B and the directions of the inputs at `part` of the micro step, which is at t: a straight line through the middle and the end. */
static void follow_inputs(const walk *w, const tangents_point *p, double part, double t) {
  const double *B_end = w->at[END].B, *B_middle = w->at[MIDDLE].B;
  for (int k = 0; k < w->implicit->dae->input_pattern->nnz; ++k)
    p->B[k] = B_middle[k] + (2.0 * part - 1.0) * (B_end[k] - B_middle[k]);
  yoke_signal_value(&w->directions->du, t, YOKE_SIDE_LEFT, 0, p->du);
}

yoke_status tangents_frozen_trial(const walk *w, int m) {
  const double          h = (w->state->t - w->state->t_prev) / m, alpha = 1.0 / (h * GAMMA);
  const double *const   k[N_SLOPES] = {w->slope[0], w->slope[1], w->slope[2], w->slope[3], w->slope[4]};
  const tangents_point *stage       = &w->at[0]; /* no trial before has been there */
  YOKE_TRY(yoke_implicit_factor(w->implicit, alpha, 0.0, w->at[MIDDLE].J, w->matrix, NULL, w->pivots));
  if (m == 1) memset(w->change, 0, w->n_y * sizeof *w->change);
  for (int i = 0; i < m; ++i) {
    for (int s = 0; s < N_SLOPES; ++s) {
      const double t = time_at(w, i, C[s], m);
      combine(w, step_start(w, i), h, s, A[s], k, w->base);
      follow_inputs(w, stage, (i + C[s]) / m, t);
      solve_stage(w, stage, *w->pivots, alpha, m == 1 && (C[s] == 0.75 || C[s] == 1.0));
      if (w->equations->n_quadratures > 0) tangents_place(w, stage, t);
      take_slope(w, stage, t, alpha, w->slope[s]);
    }
    memcpy(w->trial, w->stage, w->n_y * sizeof *w->trial);
  }
  if (m == 1) combine(w, NULL, h, N_SLOPES, E, k, w->error);
  return YOKE_OK;
}
