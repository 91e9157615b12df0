/* Run: the glue from a model file to its results (load, simulate, write). Public part: yoke/run.h. */
#ifndef YOKE_API_RUN_H
#define YOKE_API_RUN_H

#include "master/simulation.h"
#include <yoke/run.h>

/* The model with all overrides that the options stand for. Gives. */
yoke_status yoke_run_load(yoke_context *ctx, const yoke_run_options *options, yoke_model **out);

/* Value of the last choice of this name; NULL: none. */
const char *yoke_run_choice(const yoke_run_options *options, const char *name);
/* Warns when options of the co-simulation were given for a model without a split. */
void        yoke_run_warn_unused(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model);

/* Its simulation: the split of the model, unless it has none or the options say monolithic. Keeps `model`, gives. */
yoke_status yoke_run_simulation(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model,
                                yoke_simulation **out);

#endif
