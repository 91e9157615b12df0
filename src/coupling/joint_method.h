/* Joint method: what a formulation of rigid joints has of its own, as a row of data over one core (joint_method.c).
 *
 * All of them have the channels and conditions of constraint.h. They differ in the sums of levels that vanish at T_{N+1}, in the nodes that
 * the multipliers have for them, and in the numbers below. A file per method holds its row, its own settings and its warnings:
 *
 *   static const yoke_joint_method method = {.orders = ..., .sums = ...};
 *   const yoke_formulation_ops name_ops = {.name = "name", .summary = "...", .settings = ..., YOKE_JOINT_METHOD(method)};
 *
 * Own settings are a struct that begins with `int index` (YOKE_METHOD_INDEX); `own` below is that struct. */
#ifndef YOKE_COUPLING_JOINT_METHOD_H
#define YOKE_COUPLING_JOINT_METHOD_H

#include "coupling/constraint.h"

typedef struct yoke_joint_method {
  int         index;       /* level of the conditions; 0: the user's choice of 1, 2 and 3 */
  unsigned    orders;      /* bit k: polynomial degree k is possible */
  const char *orders_text; /* the same in words */
  int most_chosen;    /* highest degree that step control may choose: through consistent values. 0: as `orders` says */
  int most_displaced; /* sides that may follow a motion: 0, 1, 2 */
  yoke_copy_rule copies;
  bool           has_mu; /* every row has a second multiplier, which moves the bodies */

  /* Sums of levels that vanish, of every row. Where they depend on the step H [s], on own settings or on the set of conditions,
   * `adapt` changes the weights. NULL: they are as they stand. */
  yoke_row_sums sums;
  void (*adapt)(const void *own, double H, int set, yoke_row_sums *sums);
  /* Weighted sets of conditions. NULL, both: one. */
  int (*n_sets)(const void *own);
  double (*weight)(const void *own, int set);
  /* Nodes of the multipliers, one for each sum. NULL: the end of the step. */
  void (*layout)(const void *own, int degree, yoke_layout *out);

  unsigned holds; /* YOKE_HOLDS_..., where `keeps` says so. NULL: always */
  bool (*keeps)(const void *own);
  double (*relaxation)(const void *own); /* share of the new value. NULL: 1 */

  /* Error of a step: the degree of a clearly better polynomial is `ahead` above that of the signal; local orders of positions and
   * velocities are order[i] + rise * degree. */
  struct {
    int  ahead, order[2], rise;
    bool is_eased;
  } error;

  /* Values of own settings, and warnings before the run. NULL: no more to say. Index and order are in range. */
  yoke_status (*check)(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme, int order);
} yoke_joint_method;

/* Bits of the degrees 0 .. k. */
#define YOKE_ORDERS_UP_TO(k) ((1u << ((k) + 1)) - 1u)
/* All that an end layout has. */
#define YOKE_ALL_ORDERS .orders = YOKE_ORDERS_UP_TO(YOKE_LAYOUT_MAX_DEGREE), .orders_text = "0 to 5"

/* The setting `index`; `number` is the method's own, or the standard of the user's choice. */
#define YOKE_METHOD_INDEX(owner, number)                                                                               \
  {                                                                                                                    \
    .key = "index", .type = YOKE_SETTING_INTEGER, .min = 1, .max = 3, .standard = {number},                            \
    .help = "level of the conditions: 1 accelerations, 2 velocities, 3 positions", YOKE_SETTING_AT(owner, index)       \
  }
/* Own settings of methods that have no others. */
typedef struct yoke_index_settings {
  int index;
} yoke_index_settings;

/* What the core gives every method in its ops table; sets and error rules are named by those that have them. */
#define YOKE_JOINT_METHOD(method)                                                                                      \
  .for_joints = true, .data = &(method), .check = yoke_joint_method_check, .create = yoke_joint_method_create,         \
  .destroy = yoke_joint_method_destroy, .extras = yoke_joint_method_extras, .channels = yoke_joint_method_channels,    \
  .layout = yoke_joint_method_layout, .n_conditions = yoke_joint_method_n_conditions,                                  \
  .residual = yoke_joint_method_residual, .unit = yoke_joint_method_unit, .jacobian = yoke_joint_method_jacobian,      \
  .shown = &yoke_joint_method_shown

yoke_status yoke_joint_method_check(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme,
                                    int order);
yoke_status yoke_joint_method_create(yoke_context *ctx, const yoke_coupling_def *def, void **out);
void        yoke_joint_method_destroy(void *self);
int         yoke_joint_method_extras(const void *self, int side);
const yoke_channel *yoke_joint_method_channels(const void *self, int *n);
void                yoke_joint_method_layout(const void *self, int channel, int degree, yoke_layout *out);
int                 yoke_joint_method_n_conditions(const void *self);
void                yoke_joint_method_residual(const void *self, const yoke_coupling_view *view, double *c);
yoke_residual_unit  yoke_joint_method_unit(const void *self, int c);
void yoke_joint_method_jacobian(const void *self, const yoke_coupling_view *view, double *dc_du, double *dc_du_dot,
                                double *dc_du_integral, double *dc_dy1, double *dc_dy2);
extern const yoke_condition_sets yoke_joint_method_sets;
extern const yoke_error_form     yoke_joint_method_error;
extern const yoke_joint_form     yoke_joint_method_holds;            /* levels and relaxation as the row says */
extern const yoke_joint_form     yoke_joint_method_holds_and_resets; /* the same, and states are reset */
extern const yoke_instant_form   yoke_joint_method_instant;
extern const yoke_instant_form   yoke_joint_method_instant_and_estimate;
extern const yoke_shown_form     yoke_joint_method_shown;

#endif
