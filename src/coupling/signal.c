/* Signal: a number that side 1 shows is an input of side 2,
 *   u = phi(t, y1) = factor f(t, y1) + offset.
 * One channel with an end node, one condition at T_{N+1}: u - phi(t, y1) = 0. What y1 owes to inputs at the same instant (direct feed-through)
 * is in dy/dw, so that schemes which solve the condition solve algebraic loops with it. */
#include "coupling/formulation.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const yoke_formulation_ops signal_ops;

static const yoke_channel channel = {
    .name = "signal", .enters = {YOKE_ENTRY_NONE, YOKE_ENTRY_SIGNAL}, .sign = {1.0, 1.0}};

static yoke_status signal_check(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme,
                                int order) {
  (void)scheme;
  if (def->signal == NULL)
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': formulation signal carries a number of one subsystem to another and couples no "
                     "frames; use formulation %s",
                     def->name, def->joint != NULL ? "stabilized-index-2" : "constitutive");
  if (order < 0 || order > YOKE_LAYOUT_MAX_DEGREE)
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': order is %d, expected 0 to %d", def->name, order,
                     YOKE_LAYOUT_MAX_DEGREE);
  return YOKE_OK;
}

static yoke_status signal_create(yoke_context *ctx, const yoke_coupling_def *def, void **out) {
  yoke_signal_law *self = yoke_allocate(1, sizeof *self);
  *out                  = self;
  if (self == NULL) return yoke_out_of_memory(ctx, "coupling '%s'", def->name);
  *self = *def->signal;
  return YOKE_OK;
}

static void signal_destroy(void *self) {
  free(self);
}

static const yoke_channel *signal_channels(const void *self, int *n) {
  (void)self;
  *n = 1;
  return &channel;
}

static void signal_layout(const void *self, int k, int degree, yoke_layout *out) {
  (void)self, (void)k;
  *out = (yoke_layout){.kind = YOKE_LAYOUT_END, .degree = degree};
}

static int signal_n_conditions(const void *self) {
  (void)self;
  return 1;
}

/* phi, and into dy [n] (not NULL) its derivatives by y1. NaN: no room. */
static double phi(const yoke_signal_law *law, double t, const double *y, double *dy, yoke_arena *scratch) {
  const size_t n = (size_t)law->n, mark = yoke_arena_mark(scratch);
  if (dy != NULL) memset(dy, 0, n * sizeof *dy);
  if (law->expression == NULL) {
    if (dy != NULL) dy[0] = law->factor;
    return law->factor * y[0] + law->offset;
  }
  double *x = yoke_arena_take(scratch, n + 1, sizeof *x), *gradient = yoke_arena_take(scratch, n + 1, sizeof *gradient);
  if (gradient == NULL) return (double)NAN;
  x[0] = t;
  memcpy(x + 1, y, n * sizeof *x);
  const double value    = yoke_expression_evaluate(law->expression, x, dy != NULL ? gradient : NULL);
  const int   *variable = yoke_expression_variables(law->expression);
  for (int k = 0; dy != NULL && k < yoke_expression_n_variables(law->expression); ++k) {
    if (variable[k] > 0) dy[variable[k] - 1] = law->factor * gradient[k];
  }
  yoke_arena_release(scratch, mark);
  return law->factor * value + law->offset;
}

/* u - phi, and into dc_dy [n] (not NULL) its derivatives by y1. */
static double defect(const yoke_signal_law *law, double t, const double *y, double u, double *dc_dy,
                     yoke_arena *scratch) {
  const double value = phi(law, t, y, dc_dy, scratch);
  for (int k = 0; dc_dy != NULL && k < law->n; ++k) dc_dy[k] = -dc_dy[k];
  return u - value;
}

static void signal_residual(const void *self, const yoke_coupling_view *view, double *c) {
  c[0] = defect(self, view->t, view->y[0], view->u[0], NULL, view->scratch);
}

static void signal_jacobian(const void *self, const yoke_coupling_view *view, double *dc_du, double *dc_du_dot,
                            double *dc_du_integral, double *dc_dy1, double *dc_dy2) {
  dc_du[0]     = 1.0;
  dc_du_dot[0] = dc_du_integral[0] = 0.0;
  (void)defect(self, view->t, view->y[0], view->u[0], dc_dy1, view->scratch);
  memset(dc_dy2, 0, (size_t)view->n_y[1] * sizeof *dc_dy2);
}

static void signal_update(const void *self, double t, const double *y1, const double *y2, const double *u_now,
                          double *u, yoke_arena *scratch) {
  (void)y2, (void)u_now;
  u[0] = phi(self, t, y1, NULL, scratch);
}

static bool signal_feeds_through(const void *self) {
  (void)self;
  return false;
}

static int signal_instant(const void *self, double t, const double *const y[2], const double *u_now, double *u,
                          int *unknown, double *c, double *dc_du, double *dc_dy1, double *dc_dy2, yoke_arena *scratch) {
  (void)dc_dy2; /* side 2 shows nothing */
  unknown[0] = 0;
  u[0]       = u_now[0];
  c[0]       = defect(self, t, y[0], u_now[0], dc_dy1, scratch);
  dc_du[0]   = 1.0;
  return 1;
}

static const yoke_instant_form instant_form = {.conditions = signal_instant};

const yoke_formulation_ops signal_ops = {
    .name          = "signal",
    .summary       = "a number of one subsystem is an input of another: loads, laws, events, inputs that read it",
    .for_signals   = true,
    .check         = signal_check,
    .create        = signal_create,
    .destroy       = signal_destroy,
    .channels      = signal_channels,
    .layout        = signal_layout,
    .n_conditions  = signal_n_conditions,
    .residual      = signal_residual,
    .jacobian      = signal_jacobian,
    .update        = signal_update,
    .feeds_through = signal_feeds_through,
    .instant       = &instant_form,
};
