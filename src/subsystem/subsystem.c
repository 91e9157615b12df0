#include "subsystem/subsystem.h"

#include "base/memory.h"
#include <math.h>
#include <stdlib.h>

void yoke_subsystem_destroy(yoke_subsystem **subsystem) {
  if (subsystem == NULL || *subsystem == NULL) return;
  (*subsystem)->ops->destroy(*subsystem);
  *subsystem = NULL;
}

yoke_status yoke_subsystem_state_create(const yoke_subsystem *subsystem, void **out) {
  *out = yoke_allocate(1, subsystem->state_size + 1);
  return *out != NULL ? YOKE_OK : YOKE_E_MEMORY;
}

void yoke_subsystem_state_destroy(const yoke_subsystem *subsystem, void **state) {
  if (state == NULL || *state == NULL) return;
  if (subsystem->ops->release != NULL) subsystem->ops->release(subsystem, *state);
  free(*state);
  *state = NULL;
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

yoke_status yoke_subsystem_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u, double t,
                                double H, yoke_context *ctx) {
  YOKE_TRY(check_inputs(s, &u, ctx));
  if (!(H > 0.0) || !isfinite(H) || !isfinite(t) || t + H == t) {
    return yoke_fail(ctx, YOKE_E_USAGE, "subsystem '%s': a step of %g s from t = %.17g s is impossible", s->name, H, t);
  }
  return s->ops->step(s, scratch, state, u, t, H, ctx);
}

yoke_status yoke_subsystem_output(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                  double *y) {
  YOKE_TRY(check_inputs(s, &u, NULL));
  YOKE_TRY(s->ops->output(s, scratch, state, u, y));
  for (int i = 0; i < s->ny; ++i) {
    if (!isfinite(y[i])) return YOKE_NON_FINITE;
  }
  return YOKE_OK;
}

void yoke_subsystem_copy(const yoke_subsystem *s, void *dst, const void *src) {
  if (dst != src && s->ops->copy != NULL) s->ops->copy(s, dst, src);
}

void yoke_subsystem_accept(const yoke_subsystem *s, void *state) {
  if (s->ops->accept != NULL) s->ops->accept(s, state);
}

/* ---- creation ---- */

yoke_status yoke_subsystem_new(yoke_context *ctx, const char *name, size_t self_size, yoke_subsystem **out) {
  yoke_subsystem *s = *out = yoke_allocate(1, sizeof *s);
  if (s == NULL) return yoke_out_of_memory(ctx, "subsystem '%s'", name);
  s->name                  = yoke_arena_text(&s->arena, name);
  s->self                  = yoke_arena_take(&s->arena, 1, self_size);
  const yoke_status status = yoke_arena_check(&s->arena, ctx, "subsystem '%s'", name);
  if (status == YOKE_OK) return YOKE_OK;
  yoke_subsystem_free(s);
  *out = NULL;
  return status;
}

void yoke_subsystem_free(yoke_subsystem *subsystem) {
  yoke_arena_free(&subsystem->arena);
  free(subsystem);
}

yoke_status yoke_subsystem_wrap(yoke_context *ctx, yoke_subsystem *inner, size_t self_size, yoke_subsystem **out) {
  yoke_subsystem   *s      = NULL;
  const yoke_status status = yoke_subsystem_new(ctx, inner->name, self_size, &s);
  *out                     = s;
  if (status != YOKE_OK) {
    yoke_subsystem_destroy(&inner);
    return status;
  }
  s->nu           = inner->nu;
  s->ny           = inner->ny;
  s->state_size   = inner->state_size;
  s->scratch_size = inner->scratch_size;
  s->inner        = inner;
  return YOKE_OK;
}
