/* Run: the glue from a model file to its results (load, simulate, write). Public part: yoke/run.h. */
#ifndef YOKE_API_RUN_H
#define YOKE_API_RUN_H

#include "api/rest.h"
#include "io/yaml.h"
#include "master/system.h"
#include "model/model.h"
#include <yoke/run.h>
#include <yoke/simulation.h>

/* What the caller gave, checked: one model. */
yoke_status yoke_run_options_take(yoke_context *ctx, const yoke_run_options *given, yoke_run_options *own);

/* Of the model, in messages. */
const char *yoke_run_name(const yoke_run_options *options);

/* The model with all overrides that the options stand for. Gives. */
yoke_status yoke_run_load(yoke_context *ctx, const yoke_run_options *options, yoke_model **out);

/* One run. `keep` (NULL: not wanted) receives the outputs of a run that reached its end. Given to the caller's form of the summary. */
yoke_status yoke_run_and_keep(yoke_context *ctx, const yoke_run_options *options, yoke_run_summary *summary,
                              yoke_result **keep);
void        yoke_run_summary_give(yoke_run_summary *summary, yoke_run_summary *filled);

/* YOKE_E_UNSUPPORTED: it does not run as a whole, and its couplings cannot be compared with that. */
yoke_status yoke_run_needs_whole(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model);

/* The model of a tree of keys and values, which is borrowed. Gives. */
yoke_status yoke_model_from_tree(yoke_context *ctx, const char *name, const yoke_yaml_node *tree,
                                 const yoke_load_options *options, yoke_model **out);

/* The same model with overrides: its text is read again; without any, a share of it. Gives. */
yoke_status yoke_model_choose(yoke_context *ctx, const yoke_model *model, const yoke_load_options *options,
                              yoke_model **out);

/* What the options of a run say of the simulation that it is made of; borrows. Settings are in the model already. */
yoke_simulation_options yoke_run_simulation(const yoke_run_options *options);

/* Value of the last choice of this name; NULL: none. */
const char *yoke_run_choice(const yoke_run_options *options, const char *name);
/* Warns when options of the co-simulation were given for a model without a split. */
void        yoke_run_warn_unused(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model);

/* A plan and a system that works with it. */
typedef struct yoke_run_system {
  yoke_plan   *plan;
  yoke_system *system;
} yoke_run_system;

/* Those of the model: its split, unless it has none or the options say monolithic. rest NULL: from the assembled start. growth: of errors
 * by the motion (analysis/growth.h), 0: not measured. Borrows `model`, gives;
 * clear in any case. */
yoke_status yoke_run_system_create(yoke_context *ctx, const yoke_simulation_options *options, const yoke_model *model,
                                   const yoke_rest *rest, double growth, yoke_run_system *out);
/* The same to look at, not to run: code of foreign subsystems is not asked for. */
yoke_status yoke_run_system_look(yoke_context *ctx, const yoke_simulation_options *options, const yoke_model *model,
                                 yoke_run_system *out);
void        yoke_run_system_clear(yoke_run_system *run);

/* Sizes of the model. */
yoke_plan_facts yoke_run_system_facts(const yoke_run_system *run);

#endif
