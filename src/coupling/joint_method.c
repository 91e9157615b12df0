/* The core of all formulations of rigid joints that are rows of data: their ops, which read the row. */
#include "coupling/joint_method.h"

#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

typedef struct joint_coupling {
  const yoke_joint_method *method;
  yoke_constraint          constraint;
  yoke_joint_line          line;
  double                   own[YOKE_COUPLING_OWN]; /* settings of the method */
} joint_coupling;

/* ---- is the combination possible? ---- */

static yoke_status check_index(yoke_context *ctx, const yoke_coupling_def *def, int index) {
  YOKE_OWN_SETTINGS(yoke_index_settings, own, def->settings);
  if (index == 0 && (own.index < 1 || own.index > 3)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': index is %d, expected 1, 2 or 3", def->name, own.index);
  }
  if (index == 0 || own.index == index) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE,
                   "coupling '%s': index is %d, but formulation %s is of index %d; leave out index, or use formulation "
                   "baumgarte or weighted, which have index 1, 2 and 3",
                   def->name, own.index, def->formulation->name, index);
}

yoke_status yoke_joint_method_check(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme,
                                    int order) {
  const yoke_joint_method *method = def->formulation->data;
  YOKE_TRY(yoke_constraint_check(ctx, def, scheme, method->most_displaced));
  YOKE_TRY(check_index(ctx, def, method->index));
  const unsigned orders = method->orders | (def->has_consistent ? YOKE_ORDERS_UP_TO(method->most_chosen) : 0u);
  if (order < 0 || order > YOKE_LAYOUT_MAX_DEGREE || (orders >> order & 1u) == 0u) {
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': order is %d, expected %s with formulation %s", def->name, order,
                     method->orders_text, def->formulation->name);
  }
  return method->check != NULL ? method->check(ctx, def, scheme, order) : YOKE_OK;
}

/* ---- the coupling ---- */

yoke_status yoke_joint_method_create(yoke_context *ctx, const yoke_coupling_def *def, void **out) {
  const yoke_joint_method *method = def->formulation->data;
  joint_coupling          *self   = calloc(1, sizeof *self);
  *out                            = self;
  if (self == NULL) return yoke_out_of_memory(ctx, "coupling '%s'", def->name);
  self->method = method;
  memcpy(self->own, def->settings->own, sizeof self->own);
  yoke_joint_line_set(def->joint, def->shape, &self->line);
  return yoke_constraint_set(ctx, def, method->layout != NULL, method->copies, method->has_mu, &self->constraint);
}

void yoke_joint_method_destroy(void *object) {
  joint_coupling *self = object;
  yoke_constraint_free(&self->constraint);
  free(self);
}

int yoke_joint_method_extras(const void *object, int side) {
  const joint_coupling *self = object;
  return yoke_constraint_extras(&self->constraint, side);
}

const yoke_channel *yoke_joint_method_channels(const void *object, int *n) {
  const joint_coupling *self = object;
  *n                         = self->constraint.n_channels;
  return self->constraint.channel;
}

void yoke_joint_method_layout(const void *object, int channel, int degree, yoke_layout *out) {
  const joint_coupling *self = object;
  *out                       = (yoke_layout){.kind = YOKE_LAYOUT_END, .degree = degree};
  if (yoke_constraint_is_copy(&self->constraint, channel)) {
    yoke_constraint_copy_layout(&self->constraint, degree, out);
  } else if (self->method->layout != NULL) {
    self->method->layout(self->own, degree, out);
  }
}

/* ---- conditions ---- */

static yoke_row_sums sums_at(const joint_coupling *self, const yoke_coupling_view *view) {
  yoke_row_sums sums = self->method->sums;
  if (self->method->adapt != NULL) self->method->adapt(self->own, view->H, view->set, &sums);
  return sums;
}

int yoke_joint_method_n_conditions(const void *object) {
  const joint_coupling *self = object;
  return yoke_constraint_n_conditions(&self->constraint, self->method->sums.n);
}

void yoke_joint_method_residual(const void *object, const yoke_coupling_view *view, double *c) {
  const joint_coupling *self = object;
  const yoke_row_sums   sums = sums_at(self, view);
  yoke_constraint_residual(&self->constraint, view, &sums, c);
}

yoke_residual_unit yoke_joint_method_unit(const void *object, int c) {
  const joint_coupling *self = object;
  return yoke_constraint_unit(&self->constraint, self->method->sums.n, c);
}

void yoke_joint_method_jacobian(const void *object, const yoke_coupling_view *view, double *dc_du, double *dc_du_dot,
                                double *dc_du_integral, double *dc_dy1, double *dc_dy2) {
  const joint_coupling *self = object;
  const yoke_row_sums   sums = sums_at(self, view);
  yoke_constraint_jacobian(&self->constraint, view, &sums, dc_du, dc_du_dot, dc_du_integral, dc_dy1, dc_dy2);
}

/* ---- tables ---- */

static int n_sets(const void *object) {
  const joint_coupling *self = object;
  return self->method->n_sets(self->own);
}

static double set_weight(const void *object, int set) {
  const joint_coupling *self = object;
  return self->method->weight(self->own, set);
}

const yoke_condition_sets yoke_joint_method_sets = {.n = n_sets, .weight = set_weight};

static void error_rule(const void *object, int degree, yoke_error_rule *out) {
  const joint_coupling *self = object;
  const int             rise = self->method->error.rise * degree, *order = self->method->error.order;
  *out = (yoke_error_rule){.comparison_degree = degree + self->method->error.ahead,
                           .order             = {order[0] + rise, order[1] + rise},
                           .is_eased          = self->method->error.is_eased};
}

const yoke_error_form yoke_joint_method_error = {.rule = error_rule};

static unsigned holds(const void *object) {
  const joint_coupling *self = object;
  return self->method->keeps == NULL || self->method->keeps(self->own) ? self->method->holds : 0u;
}

static double relaxation(const void *object) {
  const joint_coupling *self = object;
  return self->method->relaxation != NULL ? self->method->relaxation(self->own) : 1.0;
}

const yoke_joint_form yoke_joint_method_holds            = {.holds = holds, .relaxation = relaxation};
const yoke_joint_form yoke_joint_method_holds_and_resets = {
    .holds = holds, .relaxation = relaxation, .resets_states = true};

static int instant(const void *object, double t, const double *const y[2], const double *u_now, double *u, int *unknown,
                   double *c, double *dc_du, double *dc_dy1, double *dc_dy2, yoke_arena *scratch) {
  const joint_coupling *self = object;
  (void)t;
  return yoke_constraint_instant(&self->constraint, y, u_now, u, unknown, c, dc_du, dc_dy1, dc_dy2, scratch);
}

const yoke_instant_form yoke_joint_method_instant              = {.conditions = instant};
const yoke_instant_form yoke_joint_method_instant_and_estimate = {.conditions = instant, .for_estimates = true};

static int n_shown(const void *object) {
  return ((const joint_coupling *)object)->constraint.joint->n_own;
}

static void shown(const void *object, double t, const double *u, const double *const y[2], double *const force[2],
                  double *g, yoke_arena *scratch) {
  const joint_coupling *self = object;
  (void)t, (void)scratch;
  yoke_constraint_shown(&self->constraint, u, y, force, g);
}

static void power(const void *object, double t, const double *u, const double *const y[2], bool with_stored,
                  yoke_wire_power *out, yoke_arena *scratch) {
  const joint_coupling *self = object;
  *out                       = (yoke_wire_power){.is_true = true};
  if (with_stored) return; /* nothing is */
  (void)t, (void)scratch;
  double force[2][YOKE_JOINT_MAX_ROWS], *const felt[2] = {force[0], force[1]};
  yoke_constraint_felt(&self->constraint, u, y, felt);
  yoke_joint_power(self->constraint.joint, self->constraint.shape, y, felt, out->in);
}

static bool line_work(const void *object, const yoke_line_step *step, yoke_wire_work *out) {
  const joint_coupling  *self = object;
  const yoke_constraint *c    = &self->constraint;
  *out                        = (yoke_wire_work){0};
  for (int side = 0; self->line.is_such && side < 2; ++side) {
    const bool is_displaced = yoke_constraint_is_displaced(c, side);
    for (int i = 0; i < c->joint->n; ++i) {
      double felt[2] = {step->u[i], step->u[c->n_channels + i]};
      if (is_displaced) yoke_line_between(step, side, yoke_constraint_reaction_at(c, side, i), felt);
      out->out[side] +=
          yoke_line_work_of(step, side, self->line.p[side][i], self->line.v[side][i], self->line.slope[side][i], felt);
    }
  }
  return self->line.is_such;
}

const yoke_shown_form yoke_joint_method_shown = {
    .n_rows = n_shown, .values = shown, .power = power, .line_work = line_work};
