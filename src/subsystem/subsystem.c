#include "subsystem/subsystem.h"

#include "base/assert.h"
#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void yoke_subsystem_destroy(yoke_subsystem **subsystem) {
  if (subsystem == NULL || *subsystem == NULL) return;
  (*subsystem)->ops->destroy(*subsystem);
  *subsystem = NULL;
}

yoke_status yoke_subsystem_state_create(const yoke_subsystem *subsystem, void **out) {
  *out = yoke_allocate(1, subsystem->state_size + 1);
  return *out != NULL ? YOKE_OK : YOKE_E_MEMORY;
}

void yoke_subsystem_state_release(const yoke_subsystem *subsystem, void *state) {
  if (state != NULL && subsystem->ops->release != NULL) subsystem->ops->release(subsystem, state);
}

void yoke_subsystem_state_destroy(const yoke_subsystem *subsystem, void **state) {
  if (state == NULL || *state == NULL) return;
  yoke_subsystem_state_release(subsystem, *state);
  free(*state);
  *state = NULL;
}

void yoke_subsystem_state_clear(const yoke_subsystem *subsystem, void *block) {
  const yoke_repeat_ops *repeat = subsystem->ops->repeat;
  if (repeat != NULL && repeat->clear != NULL)
    repeat->clear(subsystem, block);
  else
    memset(block, 0, subsystem->state_size);
}

yoke_status yoke_subsystem_scratch_create(const yoke_subsystem *subsystem, void **out) {
  *out = yoke_allocate(1, subsystem->scratch_size + 1);
  return *out != NULL ? YOKE_OK : YOKE_E_MEMORY;
}

void yoke_subsystem_scratch_destroy(void **scratch) {
  if (scratch == NULL) return;
  free(*scratch);
  *scratch = NULL;
}

const yoke_subsystem *yoke_subsystem_bare(const yoke_subsystem *subsystem) {
  while (subsystem->inner != NULL) subsystem = subsystem->inner;
  return subsystem;
}

const void *yoke_subsystem_bare_state(const yoke_subsystem *subsystem, const void *state) {
  for (; subsystem->inner != NULL; subsystem = subsystem->inner) state = (const char *)state + subsystem->inner_at;
  return state;
}

/* ---- calls ---- */

static yoke_status check_inputs(const yoke_subsystem *s, const yoke_signal **u, yoke_context *ctx) {
  if (*u == NULL) *u = &yoke_signal_none;
  if ((*u)->n == s->nu) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE, "subsystem '%s': %d inputs were given, expected %d", s->name, (*u)->n, s->nu);
}

yoke_status yoke_subsystem_start(const yoke_subsystem *s, void *scratch, void *state, double t, const yoke_signal *u,
                                 yoke_context *ctx) {
  YOKE_TRY(check_inputs(s, &u, ctx));
  if (!isfinite(t)) return yoke_fail(ctx, YOKE_E_USAGE, "subsystem '%s': start time is %g", s->name, t);
  return s->ops->start(s, scratch, state, t, u, ctx);
}

/* What a step told: it got ahead, not too far, and all times that it reached were observed. */
static yoke_status check_told(const yoke_subsystem *s, const yoke_step_request *request, yoke_context *ctx) {
  int n = 0;
  if (!(request->t_reached > request->t && request->t_reached <= request->t_end)) {
    return yoke_fail(ctx, YOKE_E_SUBSYSTEM,
                     "subsystem '%s': its step from t = %.17g s to %.17g s says that it ended at t = %.17g s", s->name,
                     request->t, request->t_end, request->t_reached);
  }
  while (n < request->n_times && request->times[n] <= request->t_reached) ++n;
  if (request->n_observed == n) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_SUBSYSTEM, "subsystem '%s': %d times were observed up to t = %.9g s, expected %d",
                   s->name, request->n_observed, request->t_reached, n);
}

yoke_status yoke_subsystem_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                                yoke_step_request *request, yoke_context *ctx) {
  YOKE_TRY(check_inputs(s, &u, ctx));
  YOKE_ASSERT(request->size == sizeof *request);
  if (!(request->t_end > request->t) || !isfinite(request->t) || !isfinite(request->t_end)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "subsystem '%s': a step of %g s from t = %.17g s is impossible", s->name,
                     request->t_end - request->t, request->t);
  }
  if (request->n_times > 0 && s->ops->observe == NULL)
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "subsystem '%s' cannot be observed inside a step", s->name);
  request->t_reached  = request->t_end;
  request->n_observed = 0;
  if (request->response != NULL) request->response->is_made = false;
  YOKE_TRY(s->ops->step(s, scratch, state, u, request, ctx));
  return check_told(s, request, ctx);
}

yoke_status yoke_subsystem_output(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                  yoke_side side, double *y) {
  YOKE_TRY(check_inputs(s, &u, NULL));
  YOKE_TRY(s->ops->output(s, scratch, state, u, side, y));
  for (int i = 0; i < s->ny; ++i) {
    if (!isfinite(y[i])) return YOKE_NON_FINITE;
  }
  return YOKE_OK;
}

yoke_status yoke_subsystem_copy(const yoke_subsystem *s, void *dst, const void *src) {
  return dst != src && s->ops->repeat != NULL ? s->ops->repeat->copy(s, dst, src) : YOKE_OK;
}

void yoke_subsystem_accept(const yoke_subsystem *s, void *state) {
  if (s->ops->accept != NULL) s->ops->accept(s, state);
}

void yoke_subsystem_counters(const yoke_subsystem *s, const void *state, yoke_counters *out) {
  *out = (yoke_counters){0};
  if (s->ops->counters != NULL) s->ops->counters(s, state, out);
}

/* ---- creation ---- */

yoke_status yoke_subsystem_new(yoke_context *ctx, const char *name, size_t self_size, yoke_subsystem **out) {
  /* All in one block: steps of many small subsystems cost what they fetch. */
  yoke_arena      arena = yoke_arena_of(ctx);
  yoke_subsystem *s = *out = yoke_arena_take(&arena, 1, sizeof *s);
  if (s == NULL) return yoke_out_of_memory(ctx, "subsystem '%s'", name);
  s->arena                 = arena;
  s->self                  = yoke_arena_take(&s->arena, 1, self_size);
  s->name                  = yoke_arena_text(&s->arena, name);
  const yoke_status status = yoke_arena_check(&s->arena, ctx, "subsystem '%s'", name);
  if (status == YOKE_OK) return YOKE_OK;
  yoke_subsystem_free(s);
  *out = NULL;
  return status;
}

void yoke_subsystem_free(yoke_subsystem *subsystem) {
  yoke_arena arena = subsystem->arena;
  yoke_arena_free(&arena);
}
