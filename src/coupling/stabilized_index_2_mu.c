/* Stabilised index 2 with a second multiplier (Lu 3.1.4, 3.2.3.3): rigid joints with s = 0 and s' = 0 at every macro point.
 *
 * Beside its multiplier lambda every row has a multiplier mu [m/s, rad/s] that moves the bodies,
 *   q' = T (v + mu grad),   M v' = f + lambda grad,
 * and whose solution is 0 up to the errors of the method. s' is computed with v, not with q'. lambda and mu have the plain end
 * layout, degree 0, 1 or 2; copies are parabolas (constraint.h), else joints with copies had order 1 at degree 0. After the correction u := r u + (1 - r) u_N, r the relaxation (1: none).
 * Channels: those of constraint.h, then mu row by row. */
#include "coupling/constraint.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEGREE = 2 };

static const yoke_row_sums levels = {.n = 2, .weight = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}};

typedef struct stabilized_mu {
  yoke_constraint constraint;
  double          relaxation;
} stabilized_mu;

/* Relaxation below which degree k is zero-stable: for H -> 0 the relative motion is a double integrator driven by both
 * polynomials, and its spectral radius reaches 1 here (Lu appendix A). Degree 0 is sqrt(1 - r). */
static const double largest_relaxation[MAX_DEGREE + 1] = {HUGE_VAL, 1.0, 5.0 / 6.0};

typedef struct mu_settings {
  int    index;
  double relaxation;
} mu_settings;

static const yoke_setting own_rows[] = {
    YOKE_CONSTRAINT_INDEX(mu_settings, 2),
    {.key       = "relaxation",
     .type      = YOKE_SETTING_NUMBER,
     .fits      = yoke_setting_is_share,
     .expected  = YOKE_SETTING_SHARE_WORDS,
     .otherwise = "cosimulation.relaxation, else 1",
     .help      = "share of the new value",
     YOKE_SETTING_AT(mu_settings, relaxation)},
};

static void mu_complete(const yoke_coupling_settings *settings, void *own) {
  YOKE_OWN_SETTINGS(mu_settings, s, settings);
  if (s.relaxation == 0.0) s.relaxation = settings->relaxation > 0.0 ? settings->relaxation : 1.0;
  memcpy(own, &s, sizeof s);
}

static yoke_status check_values(yoke_context *ctx, const yoke_coupling_def *def, const char *scheme, int order) {
  YOKE_OWN_SETTINGS(mu_settings, own, def->settings);
  const double relaxation = own.relaxation;
  if (order < 0 || order > MAX_DEGREE) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': order is %d, expected 0 to %d with formulation stabilized-index-2-mu", def->name,
                     order, MAX_DEGREE);
  }
  if (!(relaxation > 0.0 && relaxation <= 1.0)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': relaxation is %g, expected > 0 and at most 1", def->name,
                     relaxation);
  }
  if (relaxation < 1.0 && scheme != NULL && strcmp(scheme, "semi-implicit") != 0) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': relaxation %g belongs to one correction per step; use scheme semi-implicit, or "
                     "leave out relaxation",
                     def->name, relaxation);
  }
  return YOKE_OK;
}

/* Errors of the relative motion do not decay, whatever the step: warn before the run. */
static void warn_if_not_zero_stable(yoke_context *ctx, const yoke_coupling_def *def, int order) {
  YOKE_OWN_SETTINGS(mu_settings, own, def->settings);
  const double relaxation = own.relaxation;
  if (relaxation < largest_relaxation[order]) return;
  yoke_warn(ctx,
            "coupling '%s': stabilized-index-2-mu with relaxation %g is not zero-stable with order %d: errors %s, "
            "however small the step; use order 0, relaxation %g, or formulation stabilized-index-2",
            def->name, relaxation, order, order == 1 ? "do not decay" : "grow in every step", order == 1 ? 0.9 : 0.7);
}

static yoke_status mu_check(yoke_context *ctx, const yoke_coupling_def *def, const char *scheme, int order) {
  YOKE_TRY(yoke_constraint_check(ctx, def, scheme));
  YOKE_OWN_SETTINGS(mu_settings, own, def->settings);
  YOKE_TRY(yoke_constraint_check_index(ctx, def, own.index, 2));
  YOKE_TRY(check_values(ctx, def, scheme, order));
  warn_if_not_zero_stable(ctx, def, order);
  return YOKE_OK;
}

static yoke_status mu_create(yoke_context *ctx, const yoke_coupling_def *def, void **out) {
  YOKE_OWN_SETTINGS(mu_settings, own, def->settings);
  stabilized_mu *self = calloc(1, sizeof *self);
  *out                = self;
  if (self == NULL) return yoke_out_of_memory(ctx, "coupling '%s'", def->name);
  yoke_constraint_set(&self->constraint, def, false, YOKE_COPY_PARABOLA);
  self->relaxation = own.relaxation;
  return YOKE_OK;
}

static void mu_destroy(void *self) {
  free(self);
}

static int mu_channels(const void *object, yoke_channel *out) {
  const stabilized_mu *self = object;
  const int            n    = yoke_constraint_channels(&self->constraint, out);
  for (int i = 0; i < self->constraint.n_rows; ++i) {
    const yoke_channel *lambda  = &self->constraint.channel[i];
    yoke_channel       *channel = &out[n + i];
    char                label[32];
    yoke_row_label(&self->constraint.joint->row[i], label, sizeof label);
    *channel =
        (yoke_channel){.enters = {YOKE_ENTRY_MU, YOKE_ENTRY_MU}, .component = lambda->component, .sign = {1.0, 1.0}};
    snprintf(channel->name, sizeof channel->name, "mu %s", label);
  }
  return n + self->constraint.n_rows;
}

static void mu_layout(const void *object, int channel, int degree, yoke_layout *out) {
  const stabilized_mu *self = object;
  *out                      = (yoke_layout){.kind = YOKE_LAYOUT_END, .degree = degree};
  if (channel < self->constraint.n_channels && yoke_constraint_is_copy(&self->constraint, channel)) {
    yoke_constraint_copy_layout(&self->constraint, degree, out);
  }
}

static int mu_n_conditions(const void *object) {
  const stabilized_mu *self = object;
  return yoke_constraint_n_conditions(&self->constraint, levels.n);
}

static void mu_residual(const void *object, const yoke_coupling_view *view, double *c) {
  const stabilized_mu *self = object;
  yoke_constraint_residual(&self->constraint, view, &levels, c);
}

/* [rows, n] packed with n numbers per row become [rows, n + extra], the extra ones 0; in place. */
static void widen(double *A, int rows, int n, int extra) {
  for (ptrdiff_t r = rows - 1; r >= 0; --r) {
    memmove(A + r * (n + extra), A + r * n, (size_t)n * sizeof *A);
    memset(A + r * (n + extra) + n, 0, (size_t)extra * sizeof *A);
  }
}

static yoke_residual_unit mu_unit(const void *object, int c) {
  return yoke_constraint_unit(&((const stabilized_mu *)object)->constraint, levels.n, c);
}

/* No condition depends on mu itself: its columns are 0. */
static void mu_jacobian(const void *object, const yoke_coupling_view *view, double *dc_du, double *dc_du_dot,
                        double *dc_du_integral, double *dc_dy1, double *dc_dy2) {
  const stabilized_mu *self  = object;
  double *const        by[3] = {dc_du, dc_du_dot, dc_du_integral};
  yoke_constraint_jacobian(&self->constraint, view, &levels, dc_du, dc_du_dot, dc_du_integral, dc_dy1, dc_dy2);
  for (int k = 0; k < 3; ++k) widen(by[k], mu_n_conditions(self), self->constraint.n_channels, self->constraint.n_rows);
}

static double mu_relaxation(const void *object) {
  const stabilized_mu *self = object;
  return self->relaxation;
}

static unsigned mu_holds(const void *object) {
  const stabilized_mu *self = object;
  return self->relaxation == 1.0 ? YOKE_HOLDS_POSITION | YOKE_HOLDS_VELOCITY : 0;
}

/* s' = 0 makes int e = 0 for the error e of lambda(s): velocities are one order better than with a free multiplier. */
static void mu_error_rule(const void *object, int degree, yoke_error_rule *out) {
  (void)object;
  *out = (yoke_error_rule){.comparison_degree = degree + 2, .order = {3, 3}};
}

/* The second multiplier of an exact motion is 0. */
static int mu_consistent(const void *object, const double *const y[2], double *u, double *c, double *dc_dy1,
                         double *dc_dy2) {
  const stabilized_mu *self = object;
  for (int i = 0; i < self->constraint.n_rows; ++i) u[self->constraint.n_channels + i] = 0.0;
  return yoke_constraint_consistent(&self->constraint, y, u, c, dc_dy1, dc_dy2);
}

extern const yoke_formulation_ops stabilized_index_2_mu_ops;

const yoke_formulation_ops stabilized_index_2_mu_ops = {
    .name       = "stabilized-index-2-mu",
    .for_joints = true,
    .summary    = "rigid joints: g = 0 and g' = 0 at every macro point, a second multiplier in q' = v; with relaxation",
    .settings   = {YOKE_SETTING_ROWS(own_rows)},
    .complete   = mu_complete,
    .check      = mu_check,
    .create     = mu_create,
    .destroy    = mu_destroy,
    .channels   = mu_channels,
    .layout     = mu_layout,
    .n_conditions = mu_n_conditions,
    .residual     = mu_residual,
    .unit         = mu_unit,
    .jacobian     = mu_jacobian,
    .relaxation   = mu_relaxation,
    .holds        = mu_holds,
    .error_rule   = mu_error_rule,
    .consistent   = mu_consistent,
};
