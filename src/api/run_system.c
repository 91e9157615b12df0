/* A plan of a model and a system that works with it. */
#include "api/run.h"

#include "base/delivery.h"
#include "master/macro_settings.h"
#include "master/idle_settings.h"
#include "master/native_part.h"
#include "master/plan_bytes.h"
#include <stdlib.h>

static void warn_idle(void *user, const yoke_setting_value *value, const char *key, const char *reason) {
  yoke_warn(user, "%s: key '%s' has no effect: %s; leave it out, or change the other", value->position, key, reason);
}

/* Rank 0 plans, and every other rank gets its share of the plan. */
static yoke_status send_shares(yoke_context *ctx, yoke_comm *comm, const yoke_plan *plan) {
  const int   n      = yoke_comm_size(comm);
  yoke_pack   share  = {0};
  int        *owner  = yoke_allocate((size_t)plan->n_parts + 1, sizeof *owner);
  yoke_status status = owner != NULL ? YOKE_OK : yoke_out_of_memory(ctx, "the shares of %d ranks", n);
  if (owner != NULL) yoke_plan_place(plan, n, owner);
  for (int r = 1; r < n && status == YOKE_OK; ++r) {
    status = yoke_plan_pack(plan, owner, r, &share, ctx);
    if (status == YOKE_OK) status = yoke_comm_deliver(comm, r, &share);
  }
  yoke_pack_free(&share);
  free(owner);
  return status;
}

static yoke_status receive_share(yoke_context *ctx, yoke_comm *comm, yoke_plan **out) {
  yoke_pack   share  = {0};
  yoke_status status = YOKE_OK;
  for (int r = 1; r < yoke_comm_size(comm) && status == YOKE_OK; ++r) status = yoke_comm_deliver(comm, r, &share);
  if (status == YOKE_OK && share.has_failed) status = yoke_out_of_memory(ctx, "the plan of this rank");
  if (status == YOKE_OK) status = yoke_plan_unpack(ctx, share.bytes, share.size, out);
  yoke_pack_free(&share);
  return status;
}

static yoke_status make_plan(yoke_context *ctx, yoke_comm *comm, const yoke_model *model,
                             const yoke_plan_options *options, yoke_plan **out) {
  if (comm != NULL && yoke_comm_rank(comm) > 0) return receive_share(ctx, comm, out);
  YOKE_TRY(yoke_plan_create(ctx, model, options, out));
  return comm != NULL ? send_shares(ctx, comm, *out) : YOKE_OK;
}

static yoke_status create(yoke_context *ctx, const yoke_simulation_options *options, const yoke_model *model,
                          const yoke_rest *rest, double growth, bool is_dry, yoke_run_system *out) {
  const bool                in_parts = !options->monolithic && yoke_macro_is_lockstep(model);
  const yoke_plan_options   plan     = {.is_whole = model->n_parts == 0 || options->monolithic || in_parts,
                                        .in_parts = in_parts,
                                        .q        = rest != NULL ? rest->whole.q : NULL,
                                        .v        = rest != NULL ? rest->whole.v : NULL,
                                        .n_print  = options->n_quantities,
                                        .print    = options->quantities,
                                        .is_dry   = is_dry,
                                        .growth   = growth};
  const yoke_system_options own      = {
           .exec    = options->exec,
           .threads = options->threads,
           .check   = options->check,
           .log     = {options->trace, options->trace_user},
           .profile = options->profile,
           .comm    = is_dry || plan.is_whole ? NULL : yoke_context_comm(ctx),
  };
  *out = (yoke_run_system){0};
  YOKE_TRY(make_plan(ctx, own.comm, model, &plan, &out->plan));
  YOKE_TRY(yoke_system_create(ctx, out->plan, &own, &out->system));
  if (yoke_context_is_first(ctx)) yoke_idle_settings(model, out->plan, warn_idle, ctx);
  return YOKE_OK;
}

yoke_status yoke_run_system_create(yoke_context *ctx, const yoke_simulation_options *options, const yoke_model *model,
                                   const yoke_rest *rest, double growth, yoke_run_system *out) {
  return create(ctx, options, model, rest, growth, false, out);
}

yoke_status yoke_run_system_look(yoke_context *ctx, const yoke_simulation_options *options, const yoke_model *model,
                                 yoke_run_system *out) {
  return create(ctx, options, model, NULL, 0.0, true, out);
}

void yoke_run_system_clear(yoke_run_system *run) {
  yoke_system_destroy(&run->system);
  yoke_plan_destroy(&run->plan);
}

yoke_plan_facts yoke_run_system_facts(const yoke_run_system *run) {
  return yoke_native_part_facts(run->plan, yoke_system_subsystem(run->system, 0));
}
