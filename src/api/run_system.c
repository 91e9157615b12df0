/* A plan of a model and a system that works with it. */
#include "api/run.h"

#include "base/comm.h"
#include "master/idle_settings.h"
#include "master/native_part.h"

static void warn_idle(void *user, const yoke_setting_value *value, const char *key, const char *reason) {
  yoke_warn(user, "%s: key '%s' has no effect: %s; leave it out, or change the other", value->position, key, reason);
}

static yoke_status create(yoke_context *ctx, const yoke_simulation_options *options, const yoke_model *model,
                          const yoke_rest *rest, bool is_dry, yoke_run_system *out) {
  const yoke_plan_options   plan = {.is_whole = model->n_parts == 0 || options->monolithic,
                                    .q        = rest != NULL ? rest->whole.q : NULL,
                                    .v        = rest != NULL ? rest->whole.v : NULL,
                                    .n_print  = options->n_quantities,
                                    .print    = options->quantities,
                                    .is_dry   = is_dry};
  const yoke_system_options own  = {
       .exec    = options->exec,
       .threads = options->threads,
       .check   = options->check,
       .log     = {options->trace, options->trace_user},
       .profile = options->profile,
       .comm    = is_dry || plan.is_whole ? NULL : yoke_context_comm(ctx),
  };
  *out = (yoke_run_system){0};
  YOKE_TRY(yoke_plan_create(ctx, model, &plan, &out->plan));
  YOKE_TRY(yoke_system_create(ctx, out->plan, &own, &out->system));
  yoke_idle_settings(model, out->plan, warn_idle, ctx);
  return YOKE_OK;
}

yoke_status yoke_run_system_create(yoke_context *ctx, const yoke_simulation_options *options, const yoke_model *model,
                                   const yoke_rest *rest, yoke_run_system *out) {
  return create(ctx, options, model, rest, false, out);
}

yoke_status yoke_run_system_look(yoke_context *ctx, const yoke_simulation_options *options, const yoke_model *model,
                                 yoke_run_system *out) {
  return create(ctx, options, model, NULL, true, out);
}

void yoke_run_system_clear(yoke_run_system *run) {
  yoke_system_destroy(&run->system);
  yoke_plan_destroy(&run->plan);
}

yoke_plan_facts yoke_run_system_facts(const yoke_run_system *run) {
  return yoke_native_part_facts(run->plan, yoke_system_subsystem(run->system, 0));
}
