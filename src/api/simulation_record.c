/* Results of a simulation. */
#include "api/simulation.h"
#include "api/times.h"

#include "base/given.h"
#include "base/sized.h"

yoke_status simulation_record_to(yoke_context *ctx, yoke_simulation *s, const char *const files[2], bool is_stored) {
  const yoke_recorder_def def = {.model     = s->model,
                                 .run       = &s->run,
                                 .files     = {files[0], files[1]},
                                 .threads   = s->options.threads,
                                 .is_stored = is_stored};
  return yoke_recorder_create(ctx, &def, &s->recorder);
}

yoke_status yoke_simulation_record(yoke_context *ctx, yoke_simulation *s, const yoke_record_options *options) {
  yoke_record_options own;
  const char         *files[2] = {NULL, NULL};
  YOKE_TRY(simulation_check_idle(ctx, s));
  YOKE_TRY(yoke_sized_take(ctx, options, &own, sizeof own, "yoke_record_options"));
  if (s->recorder != NULL)
    return yoke_fail(ctx, YOKE_E_USAGE, "results are recorded already; end the record before another one begins");
  const yoke_recorder_names names = {.out = own.out, .csv = own.csv};
  if (yoke_context_is_first(ctx)) YOKE_TRY(yoke_recorder_files(ctx, s->given, &names, files));
  return simulation_record_to(ctx, s, files, own.in_memory);
}

static bool is_shown(const yoke_simulation *s) {
  return s->recorder->n_rows > 0 && s->t_sampled == yoke_simulation_t(s);
}

yoke_status simulation_last_row(yoke_context *ctx, yoke_simulation *s) {
  if (is_shown(s) || yoke_system_is_unfinished(s->run.system)) return YOKE_OK;
  const yoke_sink sink = simulation_sink(s);
  simulation_enter(ctx, s);
  yoke_status status = yoke_system_begin(s->run.system, &sink, ctx);
  if (status == YOKE_OK && !is_shown(s)) status = yoke_system_sample(s->run.system, &sink, ctx);
  simulation_leave(s);
  return status;
}

yoke_status simulation_record_close(yoke_context *ctx, yoke_simulation *s, yoke_status status) {
  return yoke_recorder_close(s->recorder, ctx, status);
}

/* The last row, and the files are complete; the recorder is still there. */
static yoke_status complete(yoke_context *ctx, yoke_simulation *s) {
  const yoke_status behind = s->status;
  yoke_status       ended = behind, status = YOKE_OK;
  if (behind == YOKE_OK || behind == YOKE_E_INTERRUPTED) {
    status = simulation_last_row(ctx, s);
    ended  = status != YOKE_OK ? status : yoke_simulation_has_ended(s) ? YOKE_OK : YOKE_E_INTERRUPTED;
  }
  if (ended == YOKE_OK || ended == YOKE_E_INTERRUPTED) yoke_times_share(s->run.system, s->recorder->wall);
  const yoke_status closed = yoke_recorder_close(s->recorder, ctx, ended);
  return status == YOKE_OK && closed != ended ? closed : status;
}

static yoke_status no_record(yoke_context *ctx) {
  return yoke_fail(ctx, YOKE_E_USAGE, "no record is open");
}

yoke_status yoke_simulation_record_end(yoke_context *ctx, yoke_simulation *s) {
  YOKE_TRY(simulation_check_idle(ctx, s));
  if (s->recorder == NULL) return no_record(ctx);
  const yoke_status status = complete(ctx, s);
  yoke_recorder_destroy(&s->recorder);
  return status;
}

yoke_status yoke_simulation_record_take(yoke_context *ctx, yoke_simulation *s, const char *name, yoke_result **out) {
  *out = NULL;
  YOKE_TRY(simulation_check_idle(ctx, s));
  YOKE_TRY(yoke_given(ctx, name, "name of a result"));
  if (s->recorder == NULL) return no_record(ctx);
  if (!s->recorder->store.is_wanted)
    return yoke_fail(ctx, YOKE_E_USAGE, "the record is in files only; begin it with `in_memory`");
  yoke_status status = complete(ctx, s);
  if (status == YOKE_OK) status = yoke_recorder_take(s->recorder, ctx, name, out);
  yoke_recorder_destroy(&s->recorder);
  return status;
}
