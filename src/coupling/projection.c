/* Projection (Li 4.20-4.24, 4.46-4.48, 4.49-4.62): rigid joints on the acceleration level, s'' = 0 at T_{N+1}, and after the last
 * pass of a step a state reset: the nearest q (in the mass norm) with s = 0, then the nearest v with s' = 0.
 *   force/force                 s'' = 0
 *   force/displacement          s'' = 0 and mu2 - lambda = 0 (displacement/force: mu1)
 *   displacement/displacement   mu2 - mu1 = 0 alone: both sides follow the same accelerations
 * The history of the coupling variables is not touched. Plain end layout, degree 0 to 5. */
#include "coupling/constraint.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEGREE = YOKE_LAYOUT_MAX_DEGREE };

static const yoke_row_sums acceleration = {.n = 1, .weight = {{0.0, 0.0, 1.0}}};

static const yoke_setting own_rows[] = {YOKE_CONSTRAINT_INDEX(yoke_index_settings, 1)};

static yoke_status projection_check(yoke_context *ctx, const yoke_coupling_def *def, const char *scheme, int order) {
  YOKE_OWN_SETTINGS(yoke_index_settings, own, def->settings);
  YOKE_TRY(yoke_constraint_check_sides(ctx, def, scheme, 2));
  if (order < 0 || order > MAX_DEGREE) {
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': order is %d, expected 0 to %d", def->name, order, MAX_DEGREE);
  }
  if (own.index > 1) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': index is %d, but formulation projection is on the acceleration level, index 1; "
                     "leave out index, or use formulation baumgarte or weighted",
                     def->name, own.index);
  }
  return YOKE_OK;
}

static yoke_status projection_create(yoke_context *ctx, const yoke_coupling_def *def, void **out) {
  yoke_constraint *self = calloc(1, sizeof *self);
  *out                  = self;
  if (self == NULL) return yoke_out_of_memory(ctx, "coupling '%s'", def->name);
  yoke_constraint_set(self, def, false, YOKE_COPY_END);
  return YOKE_OK;
}

static void projection_destroy(void *self) {
  free(self);
}

static int projection_extras(const void *self, int side) {
  return yoke_constraint_extras(self, side);
}

static int projection_channels(const void *self, yoke_channel *out) {
  return yoke_constraint_channels(self, out);
}

static void projection_layout(const void *self, int channel, int degree, yoke_layout *out) {
  (void)self;
  (void)channel;
  *out = (yoke_layout){.kind = YOKE_LAYOUT_END, .degree = degree};
}

static int projection_n_conditions(const void *self) {
  return yoke_constraint_n_conditions(self, 1);
}

static void projection_residual(const void *self, const yoke_coupling_view *view, double *c) {
  yoke_constraint_residual(self, view, &acceleration, c);
}

static yoke_residual_unit projection_unit(const void *object, int c) {
  return yoke_constraint_unit(object, 1, c);
}

static void projection_jacobian(const void *self, const yoke_coupling_view *view, double *dc_du, double *dc_du_dot,
                                double *dc_du_integral, double *dc_dy1, double *dc_dy2) {
  yoke_constraint_jacobian(self, view, &acceleration, dc_du, dc_du_dot, dc_du_integral, dc_dy1, dc_dy2);
}

static int projection_reset_rows(const void *self, const double *const y[2], yoke_reset_rows *out) {
  return yoke_constraint_reset_rows(self, y, out);
}

static unsigned projection_holds(const void *self) {
  (void)self;
  return YOKE_HOLDS_POSITION | YOKE_HOLDS_VELOCITY;
}

extern const yoke_formulation_ops projection_ops;

const yoke_formulation_ops projection_ops = {
    .name         = "projection",
    .for_joints   = true,
    .summary      = "rigid joints: g'' = 0, then positions and velocities projected onto g = 0 and g' = 0",
    .settings     = {YOKE_SETTING_ROWS(own_rows)},
    .check        = projection_check,
    .create       = projection_create,
    .destroy      = projection_destroy,
    .extras       = projection_extras,
    .channels     = projection_channels,
    .layout       = projection_layout,
    .n_conditions = projection_n_conditions,
    .residual     = projection_residual,
    .unit         = projection_unit,
    .jacobian     = projection_jacobian,
    .reset_rows   = projection_reset_rows,
    .holds        = projection_holds,
};
