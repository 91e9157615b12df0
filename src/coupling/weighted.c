/* Weighted multipliers (Li 4.16-4.19; Lu 3.1.2, 3.2.3.2): rigid joints corrected three times per macro step from the same
 * predictor and sensitivities, with s = 0, with s' = 0 and with s'' = 0 at T_{N+1}, and the weighted mean of the results,
 *   u = (u_pos + a u_vel + b u_acc) / (1 + a + b),   copies (~p = p in every set) included.
 * Index 1: a, b > 0; index 2: b = 0; index 3: s = 0 alone. Multipliers and copies have the plain end layout, degree 0 to 5. */
#include "coupling/constraint.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEGREE = YOKE_LAYOUT_MAX_DEGREE, MAX_STATES = 2 + MAX_DEGREE };

typedef struct weighted {
  yoke_constraint constraint;
  int             n_sets;
  double          weight[YOKE_CONSTRAINT_LEVELS]; /* 1, a, b */
} weighted;

/* Set l is the level l of every row. */
static const yoke_row_sums levels[YOKE_CONSTRAINT_LEVELS] = {
    {.n = 1, .weight = {{1.0, 0.0, 0.0}}},
    {.n = 1, .weight = {{0.0, 1.0, 0.0}}},
    {.n = 1, .weight = {{0.0, 0.0, 1.0}}},
};

/* Weights a, b of index 1 that are zero-stable, by degree: parasitic factors 0.58, 0.58, 0.53, 0.47, 0.63, 0.75. */
static const double good_weights[MAX_DEGREE + 1][2] = {{1.0, 1.0}, {1.0, 1.0},  {2.5, 5.0},
                                                       {2.5, 5.0}, {4.0, 12.0}, {5.0, 20.0}};

static int index_of(const yoke_coupling_settings *settings) {
  return settings->index == 0 ? 1 : settings->index;
}

/* ---- is the combination possible? ---- */

static yoke_status check_values(yoke_context *ctx, const yoke_coupling_def *def, int order) {
  const yoke_coupling_settings *settings = def->settings;
  if (order < 0 || order > MAX_DEGREE) {
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': order is %d, expected 0 to %d", def->name, order, MAX_DEGREE);
  }
  if (settings->index < 0 || settings->index > 3) {
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': index is %d, expected 1, 2 or 3", def->name, settings->index);
  }
  const int    index    = index_of(settings);
  const double given[2] = {settings->a, settings->b};
  for (int i = 0; i < 3 - index; ++i) {
    if (given[i] > 0.0 && isfinite(given[i])) continue;
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': weight %c is %g, expected > 0 with index %d; use index %d to leave out the %s "
                     "level",
                     def->name, "ab"[i], given[i], index, 3 - i, i == 0 ? "velocity" : "acceleration");
  }
  return YOKE_OK;
}

static yoke_status check_scheme(yoke_context *ctx, const yoke_coupling_def *def, const char *scheme) {
  if (scheme == NULL || strcmp(scheme, "implicit") != 0) return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_USAGE,
      "coupling '%s': formulation weighted is the mean of solutions of different conditions, which have "
      "no common solution that scheme implicit could converge to; use scheme semi-implicit, or formulation "
      "baumgarte or stabilized-index-2",
      def->name);
}

/* P = int (1 - s) l, Q = int l over the step, of the basis function l of node `node` of the multiplier's polynomial:
 * 0 is the end of the step, j the j-th point of the past. */
static void basis_moments(int degree, int node, double *P, double *Q) {
  const yoke_layout layout = {.kind = YOKE_LAYOUT_END, .degree = degree};
  double            s[MAX_DEGREE + 1], u[MAX_DEGREE + 1] = {0.0}, c[MAX_DEGREE + 1];
  const double      w = node == 0 ? 1.0 : 0.0;
  for (int j = 0; j <= MAX_DEGREE; ++j) s[j] = -j;
  if (node > 0) u[node - 1] = 1.0;
  const yoke_past past = {.n = MAX_DEGREE + 1, .s = s, .u = u};
  yoke_layout_piece(&layout, &past, &w, 0, c);
  *P = *Q = 0.0;
  for (int i = 0; i <= degree; ++i) {
    *P += c[i] / ((i + 1.0) * (i + 2.0));
    *Q += c[i] / (i + 1.0);
  }
}

/* Factor per step by which errors grow for H -> 0 (Lu appendix A, Li 4.4). The relative motion e is then a double
 * integrator driven by the multiplier, whatever the masses. In steps, with z = (e, e', l_N, ..., l_{N-k+1}):
 *   e+ = e + e' + P0 l+ + sum P_j l_j,   e'+ = e' + Q0 l+ + sum Q_j l_j,
 *   l+ = -((e + e' + sum P_j l_j) / P0 + a (e' + sum Q_j l_j) / Q0) / (1 + a + b). */
static double parasitic_factor(int degree, double a, double b) {
  double    A[MAX_STATES][MAX_STATES] = {{0.0}}, P[MAX_DEGREE + 1] = {0.0}, Q[MAX_DEGREE + 1] = {0.0};
  double    re[MAX_STATES], im[MAX_STATES];
  const int n = 2 + degree;
  for (int j = 0; j <= degree; ++j) basis_moments(degree, j, &P[j], &Q[j]);
  for (int c = 0; c < n; ++c) {
    const double e = c < 2 ? 1.0 : P[c - 1], v = c == 0 ? 0.0 : c == 1 ? 1.0 : Q[c - 1];
    const double next = -(e / P[0] + a * v / Q[0]) / (1.0 + a + b);
    A[0][c]           = e + P[0] * next;
    A[1][c]           = v + Q[0] * next;
    if (degree > 0) A[2][c] = next;
  }
  for (int r = 3; r < n; ++r) A[r][r - 1] = 1.0;
  if (LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', n, &A[0][0], MAX_STATES, re, im, NULL, 1, NULL, 1) != 0) return 0.0;
  double largest = 0.0;
  for (int i = 0; i < n; ++i) largest = fmax(largest, hypot(re[i], im[i]));
  return largest;
}

static void warn_if_not_zero_stable(yoke_context *ctx, const yoke_coupling_def *def, int order) {
  const yoke_coupling_settings *settings = def->settings;
  const int                     index    = index_of(settings);
  const double                  a = index < 3 ? settings->a : 0.0, b = index < 2 ? settings->b : 0.0;
  const double                  factor = parasitic_factor(order, a, b);
  if (factor <= 1.0 + 1e-6) return; /* index 3, order 0 has 1 twice */
  if (index > 1) {
    yoke_warn(ctx,
              "coupling '%s': weighted index %d is not zero-stable with order %d: errors grow by %.3g in every step, "
              "however small; use order 0, index 1, or formulation stabilized-index-2 or stabilized-index-1",
              def->name, index, order, factor);
    return;
  }
  yoke_warn(ctx,
            "coupling '%s': weighted index 1 with a = %g, b = %g is not zero-stable with order %d: errors grow by %.3g "
            "in every step, however small; use a = %g, b = %g, or formulation stabilized-index-2 or stabilized-index-1",
            def->name, a, b, order, factor, good_weights[order][0], good_weights[order][1]);
}

static yoke_status weighted_check(yoke_context *ctx, const yoke_coupling_def *def, const char *scheme, int order) {
  YOKE_TRY(yoke_constraint_check_sides(ctx, def, scheme, 1));
  YOKE_TRY(check_values(ctx, def, order));
  YOKE_TRY(check_scheme(ctx, def, scheme));
  warn_if_not_zero_stable(ctx, def, order);
  return YOKE_OK;
}

/* ---- the coupling ---- */

static yoke_status weighted_create(yoke_context *ctx, const yoke_coupling_def *def, void **out) {
  weighted *self = calloc(1, sizeof *self);
  *out           = self;
  if (self == NULL) return yoke_fail(ctx, YOKE_E_MEMORY, "coupling '%s': out of memory", def->name);
  yoke_constraint_set(&self->constraint, def, false, YOKE_COPY_END);
  self->n_sets    = 4 - index_of(def->settings);
  self->weight[0] = 1.0;
  self->weight[1] = def->settings->a;
  self->weight[2] = def->settings->b;
  return YOKE_OK;
}

static void weighted_destroy(void *self) {
  free(self);
}

static int weighted_channels(const void *object, yoke_channel *out) {
  const weighted *self = object;
  return yoke_constraint_channels(&self->constraint, out);
}

static int weighted_extras(const void *object, int side) {
  const weighted *self = object;
  return yoke_constraint_extras(&self->constraint, side);
}

static void weighted_layout(const void *self, int channel, int degree, yoke_layout *out) {
  (void)self;
  (void)channel;
  *out = (yoke_layout){.kind = YOKE_LAYOUT_END, .degree = degree};
}

static int weighted_n_conditions(const void *object) {
  const weighted *self = object;
  return yoke_constraint_n_conditions(&self->constraint, 1);
}

static void weighted_residual(const void *object, const yoke_coupling_view *view, double *c) {
  const weighted *self = object;
  yoke_constraint_residual(&self->constraint, view, &levels[view->set], c);
}

static void weighted_jacobian(const void *object, const yoke_coupling_view *view, double *dc_du, double *dc_du_dot,
                              double *dc_du_integral, double *dc_dy1, double *dc_dy2) {
  const weighted *self = object;
  yoke_constraint_jacobian(&self->constraint, view, &levels[view->set], dc_du, dc_du_dot, dc_du_integral, dc_dy1,
                           dc_dy2);
}

static int weighted_n_sets(const void *object) {
  const weighted *self = object;
  return self->n_sets;
}

static double weighted_set_weight(const void *object, int set) {
  const weighted *self = object;
  return self->weight[set];
}

static unsigned weighted_holds(const void *object) {
  const weighted *self = object;
  return self->n_sets == 1 ? YOKE_HOLDS_POSITION : 0;
}

/* The multiplier is off by O(H^(degree + 1)), which accelerates both bodies; a share of it lasts from step to step. */
static void weighted_error_rule(const void *object, int degree, yoke_error_rule *out) {
  (void)object;
  *out = (yoke_error_rule){.comparison_degree = degree + 2, .order = {degree + 3, degree + 2}};
}

static int weighted_consistent(const void *object, const double *const y[2], double *u, double *c, double *dc_dy1,
                               double *dc_dy2) {
  const weighted *self = object;
  return yoke_constraint_consistent(&self->constraint, y, u, c, dc_dy1, dc_dy2);
}

extern const yoke_formulation_ops weighted_ops;

const yoke_formulation_ops weighted_ops = {
    .name         = "weighted",
    .for_joints   = true,
    .summary      = "rigid joints: weighted mean of the multipliers for g = 0, g' = 0 and g'' = 0, index 1, 2 or 3",
    .check        = weighted_check,
    .create       = weighted_create,
    .destroy      = weighted_destroy,
    .extras       = weighted_extras,
    .channels     = weighted_channels,
    .layout       = weighted_layout,
    .n_conditions = weighted_n_conditions,
    .residual     = weighted_residual,
    .jacobian     = weighted_jacobian,
    .n_sets       = weighted_n_sets,
    .set_weight   = weighted_set_weight,
    .holds        = weighted_holds,
    .error_rule   = weighted_error_rule,
    .consistent   = weighted_consistent,
};
