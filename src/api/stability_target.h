/* Stability target: what `yoke stability` asks for a spectral radius, a test model in closed form or a model file run by the engine.
 * Private to src/api/stability*.c. */
#ifndef YOKE_API_STABILITY_TARGET_H
#define YOKE_API_STABILITY_TARGET_H

#include "base/memory.h"
#include <yoke/stability.h>

struct yoke_stability_table {
  yoke_arena           arena; /* of rows, values and texts */
  yoke_stability_facts facts;
  yoke_stability_row  *rows; /* [n_rows] */
};

/* One method in one case. All pointers are kept by the caller. */
typedef struct yoke_stability_variant {
  const yoke_stability_options *options;
  const yoke_method_choice     *method;
  int                           n_sets; /* those of the options and of the case */
  const char *const            *sets;
} yoke_stability_variant;

static const double yoke_stability_slack = 1e-9; /* stable up to 1 + this */

/* Each fills what it says of `row`; failures leave their message in `ctx`. Maps write values[y.n, x.n] with NaN where nothing is
 * defined; share done goes to `progress` (NULL: none; false stops). */
typedef struct yoke_stability_target {
  yoke_status (*point)(yoke_context *ctx, const yoke_stability_variant *variant, yoke_stability_row *row);
  yoke_status (*limit)(yoke_context *ctx, const yoke_stability_variant *variant, yoke_stability_row *row,
                       bool (*progress)(void *user, double share), void *user);
  yoke_status (*map)(yoke_context *ctx, const yoke_stability_variant *variant, yoke_stability_row *row, double *values,
                     bool (*progress)(void *user, double share), void *user);
} yoke_stability_target;

extern const yoke_stability_target yoke_closed_form_target, yoke_engine_target;

/* Value i of an axis. */
double yoke_stability_axis_value(const yoke_stability_axis *axis, int i);

/* Is it the macro step? */
bool yoke_stability_axis_is_step(const yoke_stability_axis *axis);

/* CSV, HDF5 and picture of a table with maps or lines, as the options ask. */
yoke_status yoke_stability_write(yoke_context *ctx, const yoke_stability_options *options,
                                 const yoke_stability_table *table);

#endif
