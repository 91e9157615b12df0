/* Stabilised index 2 (Li 4.65-4.78): rigid joints with s = 0 and s' = 0 at every macro point.
 *
 * Every multiplier has two unknowns per step, at the middle and at the end (half-step layout, degree 0, 1 or 2): one for
 * each condition. Copies are parabolas with the mean of the original (constraint.h). */
#include "coupling/constraint.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEGREE = 2 };

static const yoke_row_sums levels = {.n = 2, .weight = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}};

static const yoke_setting own_rows[] = {YOKE_CONSTRAINT_INDEX(yoke_index_settings, 2)};

static yoke_status stabilized_2_check(yoke_context *ctx, const yoke_coupling_def *def, const char *scheme, int order) {
  YOKE_OWN_SETTINGS(yoke_index_settings, own, def->settings);
  YOKE_TRY(yoke_constraint_check(ctx, def, scheme));
  YOKE_TRY(yoke_constraint_check_index(ctx, def, own.index, 2));
  if (order < 0 || order > MAX_DEGREE) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': order is %d, expected 0 to %d with formulation stabilized-index-2", def->name,
                     order, MAX_DEGREE);
  }
  return YOKE_OK;
}

static yoke_status stabilized_2_create(yoke_context *ctx, const yoke_coupling_def *def, void **out) {
  yoke_constraint *self = calloc(1, sizeof *self);
  *out                  = self;
  if (self == NULL) return yoke_out_of_memory(ctx, "coupling '%s'", def->name);
  yoke_constraint_set(self, def, true, YOKE_COPY_PARABOLA);
  return YOKE_OK;
}

static void stabilized_2_destroy(void *self) {
  free(self);
}

static int stabilized_2_channels(const void *self, yoke_channel *out) {
  return yoke_constraint_channels(self, out);
}

static void stabilized_2_layout(const void *self, int channel, int degree, yoke_layout *out) {
  if (yoke_constraint_is_copy(self, channel)) {
    yoke_constraint_copy_layout(self, degree, out);
  } else {
    const int k = degree < MAX_DEGREE ? degree : MAX_DEGREE;
    *out        = (yoke_layout){.kind = YOKE_LAYOUT_HALF, .degree = k, .inner = {0.5, 0.0}};
  }
}

static int stabilized_2_n_conditions(const void *self) {
  return yoke_constraint_n_conditions(self, levels.n);
}

static void stabilized_2_residual(const void *self, const yoke_coupling_view *view, double *c) {
  yoke_constraint_residual(self, view, &levels, c);
}

static yoke_residual_unit stabilized_2_unit(const void *object, int c) {
  return yoke_constraint_unit(object, levels.n, c);
}

static void stabilized_2_jacobian(const void *self, const yoke_coupling_view *view, double *dc_du, double *dc_du_dot,
                                  double *dc_du_integral, double *dc_dy1, double *dc_dy2) {
  yoke_constraint_jacobian(self, view, &levels, dc_du, dc_du_dot, dc_du_integral, dc_dy1, dc_dy2);
}

static unsigned stabilized_2_holds(const void *self) {
  (void)self;
  return YOKE_HOLDS_POSITION | YOKE_HOLDS_VELOCITY;
}

/* With e the error of lambda(s), s = 0 and s' = 0 at the end make int e = int (1 - s) e = 0 to leading order: positions and
 * velocities feel e through the stiffness, damping and turning of the bodies only, two powers of H later. */
static void stabilized_2_error_rule(const void *object, int degree, yoke_error_rule *out) {
  (void)object;
  *out = (yoke_error_rule){.comparison_degree = degree + 2, .order = {5, 5}};
}

static int stabilized_2_consistent(const void *object, const double *const y[2], double *u, double *c, double *dc_dy1,
                                   double *dc_dy2) {
  return yoke_constraint_consistent(object, y, u, c, dc_dy1, dc_dy2);
}

extern const yoke_formulation_ops stabilized_index_2_ops;

const yoke_formulation_ops stabilized_index_2_ops = {
    .name         = "stabilized-index-2",
    .for_joints   = true,
    .summary      = "rigid joints: g = 0 and g' = 0 at every macro point, multipliers with a half-step node",
    .settings     = {YOKE_SETTING_ROWS(own_rows)},
    .check        = stabilized_2_check,
    .create       = stabilized_2_create,
    .destroy      = stabilized_2_destroy,
    .channels     = stabilized_2_channels,
    .layout       = stabilized_2_layout,
    .n_conditions = stabilized_2_n_conditions,
    .residual     = stabilized_2_residual,
    .unit         = stabilized_2_unit,
    .jacobian     = stabilized_2_jacobian,
    .holds        = stabilized_2_holds,
    .error_rule   = stabilized_2_error_rule,
    .consistent   = stabilized_2_consistent,
};
