/* Stabilised index 1 (Li 4.79-4.92): rigid joints with s = 0, s' = 0 and s'' = 0 at every macro point.
 *
 * Every multiplier has three unknowns per step, at n1, n2 and at the end (third-step layout; degree 0 and 1 piecewise,
 * 3: one cubic): one for each condition. Copies are parabolas with the mean of the original (constraint.h). */
#include "coupling/constraint.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const yoke_row_sums levels = {.n = 3, .weight = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};

typedef struct stabilized_1 {
  yoke_constraint constraint;
  double          nodes[2]; /* n1 < n2 in ]0, 1[ */
} stabilized_1;

typedef struct stabilized_1_settings {
  int    index;
  double nodes[2];
} stabilized_1_settings;

static bool are_nodes(const double *nodes) {
  return 0.0 < nodes[0] && nodes[0] < nodes[1] && nodes[1] < 1.0;
}

static const yoke_setting own_rows[] = {
    YOKE_CONSTRAINT_INDEX(stabilized_1_settings, 1),
    {.key       = "nodes",
     .type      = YOKE_SETTING_NUMBER,
     .n         = 2,
     .fits      = are_nodes,
     .expected  = "increasing numbers between 0 and 1",
     .otherwise = "[1/3, 2/3]",
     .help      = "where the inner nodes of the multiplier are, in shares of the step",
     YOKE_SETTING_AT(stabilized_1_settings, nodes)},
};

static void stabilized_1_complete(const yoke_coupling_settings *settings, void *own) {
  YOKE_OWN_SETTINGS(stabilized_1_settings, s, settings);
  if (s.nodes[0] == 0.0 && s.nodes[1] == 0.0) {
    s.nodes[0] = 1.0 / 3.0;
    s.nodes[1] = 2.0 / 3.0;
  }
  memcpy(own, &s, sizeof s);
}

static yoke_status stabilized_1_check(yoke_context *ctx, const yoke_coupling_def *def, const char *scheme, int order) {
  YOKE_OWN_SETTINGS(stabilized_1_settings, own, def->settings);
  YOKE_TRY(yoke_constraint_check(ctx, def, scheme));
  YOKE_TRY(yoke_constraint_check_index(ctx, def, own.index, 1));
  if (order != 0 && order != 1 && order != 3) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': order is %d, expected 0, 1 or 3 with formulation stabilized-index-1: its three "
                     "nodes carry steps, lines or one cubic",
                     def->name, order);
  }
  if (!are_nodes(own.nodes)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': nodes are %g and %g, expected 0 < first < second < 1",
                     def->name, own.nodes[0], own.nodes[1]);
  }
  return YOKE_OK;
}

static yoke_status stabilized_1_create(yoke_context *ctx, const yoke_coupling_def *def, void **out) {
  YOKE_OWN_SETTINGS(stabilized_1_settings, own, def->settings);
  stabilized_1 *self = calloc(1, sizeof *self);
  *out               = self;
  if (self == NULL) return yoke_out_of_memory(ctx, "coupling '%s'", def->name);
  yoke_constraint_set(&self->constraint, def, true, YOKE_COPY_PARABOLA);
  memcpy(self->nodes, own.nodes, sizeof self->nodes);
  return YOKE_OK;
}

static void stabilized_1_destroy(void *self) {
  free(self);
}

static int stabilized_1_channels(const void *object, yoke_channel *out) {
  const stabilized_1 *self = object;
  return yoke_constraint_channels(&self->constraint, out);
}

/* The cubic needs one value of the past only, so that it can replace degree 2, which three nodes do not have. */
static void stabilized_1_layout(const void *object, int channel, int degree, yoke_layout *out) {
  const stabilized_1 *self = object;
  if (yoke_constraint_is_copy(&self->constraint, channel)) {
    yoke_constraint_copy_layout(&self->constraint, degree, out);
  } else {
    const int k = degree >= 2 ? 3 : degree;
    *out        = (yoke_layout){.kind = YOKE_LAYOUT_THIRD, .degree = k, .inner = {self->nodes[0], self->nodes[1]}};
  }
}

static int stabilized_1_n_conditions(const void *object) {
  const stabilized_1 *self = object;
  return yoke_constraint_n_conditions(&self->constraint, levels.n);
}

static void stabilized_1_residual(const void *object, const yoke_coupling_view *view, double *c) {
  const stabilized_1 *self = object;
  yoke_constraint_residual(&self->constraint, view, &levels, c);
}

static yoke_residual_unit stabilized_1_unit(const void *object, int c) {
  return yoke_constraint_unit(&((const stabilized_1 *)object)->constraint, levels.n, c);
}

static void stabilized_1_jacobian(const void *object, const yoke_coupling_view *view, double *dc_du, double *dc_du_dot,
                                  double *dc_du_integral, double *dc_dy1, double *dc_dy2) {
  const stabilized_1 *self = object;
  yoke_constraint_jacobian(&self->constraint, view, &levels, dc_du, dc_du_dot, dc_du_integral, dc_dy1, dc_dy2);
}

static unsigned stabilized_1_holds(const void *self) {
  (void)self;
  return YOKE_HOLDS_POSITION | YOKE_HOLDS_VELOCITY | YOKE_HOLDS_ACCELERATION;
}

/* As for stabilized-index-2: the first two moments of the error of lambda(s) vanish. */
static void stabilized_1_error_rule(const void *object, int degree, yoke_error_rule *out) {
  (void)object;
  *out = (yoke_error_rule){.comparison_degree = degree + 3, .order = {degree + 4, degree + 4}};
}

static int stabilized_1_consistent(const void *object, const double *const y[2], double *u, double *c, double *dc_dy1,
                                   double *dc_dy2) {
  const stabilized_1 *self = object;
  return yoke_constraint_consistent(&self->constraint, y, u, c, dc_dy1, dc_dy2);
}

extern const yoke_formulation_ops stabilized_index_1_ops;

const yoke_formulation_ops stabilized_index_1_ops = {
    .name         = "stabilized-index-1",
    .for_joints   = true,
    .summary      = "rigid joints: g = 0, g' = 0 and g'' = 0 at every macro point, multipliers with two inner nodes",
    .settings     = {YOKE_SETTING_ROWS(own_rows)},
    .complete     = stabilized_1_complete,
    .check        = stabilized_1_check,
    .create       = stabilized_1_create,
    .destroy      = stabilized_1_destroy,
    .channels     = stabilized_1_channels,
    .layout       = stabilized_1_layout,
    .n_conditions = stabilized_1_n_conditions,
    .residual     = stabilized_1_residual,
    .unit         = stabilized_1_unit,
    .jacobian     = stabilized_1_jacobian,
    .holds        = stabilized_1_holds,
    .error_rule   = stabilized_1_error_rule,
    .consistent   = stabilized_1_consistent,
};
