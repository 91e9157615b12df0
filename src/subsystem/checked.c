/* Wrapper that watches the contract of subsystem.h.
 *
 * State: what is known about the inner state, then that one. Scratch: that of the inner one, then a state and two sets of outputs for
 * repeated steps. */
#include "subsystem/wrapper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPEAT_EVERY = 7 };

typedef enum check_phase {
  PHASE_EMPTY = 0, /* never started */
  PHASE_READY,     /* started or accepted, or a copy of such a one */
  PHASE_STEPPED,   /* a step ended here and was not accepted */
  PHASE_BROKEN     /* a step failed: only copying something else over it helps */
} check_phase;

/* At the start of the state. */
typedef struct check_front {
  check_phase phase;
  double      t;
  int64_t     n_steps;
} check_front;

typedef struct checked {
  yoke_wrapper wrapper;
  size_t       at_spare, at_y, at_y_spare; /* bytes into the scratch */
} checked;

static int first_not_finite(int n, const double *x) {
  for (int i = 0; i < n; ++i) {
    if (!isfinite(x[i])) return i;
  }
  return -1;
}

/* ---- rules ---- */

static yoke_status check_inputs(const yoke_subsystem *s, const yoke_signal *u, double t, yoke_context *ctx) {
  const size_t n = (size_t)u->n_pieces * (size_t)u->n * (size_t)(u->degree + 1);
  if (u->n != s->nu) {
    return yoke_fail(ctx, YOKE_E_INTERNAL, "subsystem '%s': %d inputs were given, expected %d", s->name, u->n, s->nu);
  }
  for (size_t k = 0; k < n; ++k) {
    if (isfinite(u->c[k])) continue;
    const int i = (int)(k / (size_t)(u->degree + 1) % (size_t)u->n);
    return yoke_fail(ctx, YOKE_NON_FINITE, "subsystem '%s': input %d is not finite after t = %.9g s", s->name, i, t);
  }
  return YOKE_OK;
}

/* Rule 1 */
static yoke_status check_start_of_step(const yoke_subsystem *s, const check_front *front, double t, yoke_context *ctx) {
  static const char *const text[] = {[PHASE_EMPTY]   = "it was never started",
                                     [PHASE_STEPPED] = "its last step was not accepted",
                                     [PHASE_BROKEN]  = "its last step failed"};
  if (front->phase != PHASE_READY) {
    return yoke_fail(ctx, YOKE_E_INTERNAL, "subsystem '%s': a step cannot start at t = %.17g s from this state: %s",
                     s->name, t, text[front->phase]);
  }
  if (front->t == t) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_INTERNAL, "subsystem '%s': a step starts at t = %.17g s but its state is at %.17g s",
                   s->name, t, front->t);
}

/* Times to observe rise and lie inside the step. */
static yoke_status check_times(const yoke_subsystem *s, const yoke_step_request *request, yoke_context *ctx) {
  for (int i = 0; i < request->n_times; ++i) {
    const double t = request->times[i], before = i > 0 ? request->times[i - 1] : request->t;
    if (t > before && t <= request->t_end) continue;
    return yoke_fail(
        ctx, YOKE_E_INTERNAL,
        "subsystem '%s': time %d to observe is %.17g s, expected one behind %.17g s and not behind %.17g s", s->name, i,
        t, before, request->t_end);
  }
  return YOKE_OK;
}

/* Rule 3 for what was observed; how much of it is asked by yoke_subsystem_step. */
static yoke_status check_observed(const yoke_subsystem *s, const yoke_step_request *request, yoke_context *ctx) {
  if (first_not_finite(request->n_observed * request->n_handles, request->values) < 0) return YOKE_OK;
  return yoke_fail(ctx, YOKE_NON_FINITE, "subsystem '%s': a value observed up to t = %.9g s is not finite", s->name,
                   request->t_reached);
}

/* Rule 2: the step once more from the copy `spare`, neither observed nor asked for its response, compared with the outputs y of the first one. */
static yoke_status repeat_step(const yoke_subsystem *s, void *scratch, void *spare, const yoke_signal *u,
                               yoke_step_request again, const double *y, yoke_context *ctx) {
  const checked *self    = s->self;
  const double   t       = again.t;
  double        *y_again = (double *)(void *)((char *)scratch + self->at_y_spare);
  again.n_times          = 0;
  again.response         = NULL;
  yoke_status status     = s->inner->ops->step(s->inner, scratch, spare, u, &again, ctx);
  if (status == YOKE_OK) status = s->inner->ops->output(s->inner, scratch, spare, u, YOKE_SIDE_LEFT, y_again);
  if (status != YOKE_OK) {
    return yoke_fail(ctx, YOKE_E_SUBSYSTEM, "subsystem '%s': the step from t = %.9g s succeeds, repeated it fails (%s)",
                     s->name, t, yoke_status_text(status));
  }
  for (int i = 0; i < s->ny; ++i) {
    if (memcmp(&y[i], &y_again[i], sizeof y[i]) == 0) continue;
    return yoke_fail(ctx, YOKE_E_SUBSYSTEM,
                     "subsystem '%s': the step of %.6g s from t = %.9g s is not repeatable: output %d is %.17g, then "
                     "%.17g",
                     s->name, again.t_end - t, t, i, y[i], y_again[i]);
  }
  return YOKE_OK;
}

/* Rule 3 */
static yoke_status check_outputs(const yoke_subsystem *s, double t, const double *y, yoke_context *ctx) {
  const int i = first_not_finite(s->ny, y);
  if (i < 0) return YOKE_OK;
  return yoke_fail(ctx, YOKE_NON_FINITE, "subsystem '%s': output %d is not finite at t = %.9g s", s->name, i, t);
}

/* Outputs are read from a state, which stays as it is. */
static yoke_status read_outputs(const yoke_subsystem *s, void *scratch, const void *inside, const yoke_signal *u,
                                double t, bool is_watched, double *y, yoke_context *ctx) {
  const size_t   size   = is_watched ? s->inner->state_size : 0;
  const uint64_t before = yoke_checksum(YOKE_CHECKSUM_START, inside, size);
  YOKE_TRY(s->inner->ops->output(s->inner, scratch, inside, u, YOKE_SIDE_LEFT, y));
  if (yoke_checksum(YOKE_CHECKSUM_START, inside, size) == before) return check_outputs(s, t, y, ctx);
  return yoke_fail(ctx, YOKE_E_SUBSYSTEM, "subsystem '%s': its outputs change its state at t = %.9g s", s->name, t);
}

static yoke_status check_response(const yoke_subsystem *s, const yoke_step_request *request, yoke_context *ctx) {
  const yoke_response *response = request->response;
  if (response == NULL || !response->is_made) return YOKE_OK;
  const int i = first_not_finite(response->directions.n * s->ny, response->dy);
  if (i < 0) return YOKE_OK;
  return yoke_fail(ctx, YOKE_NON_FINITE,
                   "subsystem '%s': the response of output %d to direction %d of the step from "
                   "t = %.9g s is not finite",
                   s->name, i % s->ny, i / s->ny, request->t);
}

/* ---- calls ---- */

static yoke_status checked_start(const yoke_subsystem *s, void *scratch, void *state, double t, const yoke_signal *u,
                                 yoke_context *ctx) {
  check_front *front = state;
  YOKE_TRY(check_inputs(s, u, t, ctx));
  *front = (check_front){.phase = PHASE_BROKEN, .t = t};
  YOKE_TRY(s->inner->ops->start(s->inner, scratch, yoke_wrapper_state(s, state), t, u, ctx));
  front->phase = PHASE_READY;
  return YOKE_OK;
}

static yoke_status checked_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                                yoke_step_request *request, yoke_context *ctx) {
  const checked          *self   = s->self;
  const yoke_subsystem   *inner  = s->inner;
  const yoke_step_request asked  = *request;
  check_front            *front  = state;
  void                   *inside = yoke_wrapper_state(s, state), *spare = (char *)scratch + self->at_spare;
  double                 *y = (double *)(void *)((char *)scratch + self->at_y);
  YOKE_TRY(check_inputs(s, u, asked.t, ctx));
  YOKE_TRY(check_start_of_step(s, front, asked.t, ctx));
  YOKE_TRY(check_times(s, &asked, ctx));
  const bool looks  = ++front->n_steps % REPEAT_EVERY == 0;
  const bool repeat = inner->ops->repeat != NULL && looks;
  front->phase      = PHASE_BROKEN;
  if (repeat) {
    memset(spare, 0, inner->state_size);
    YOKE_TRY(inner->ops->repeat->copy(inner, spare, inside));
  }
  yoke_status status = inner->ops->step(inner, scratch, inside, u, request, ctx);
  if (status == YOKE_OK) status = read_outputs(s, scratch, inside, u, request->t_reached, looks, y, ctx);
  if (status == YOKE_OK) status = check_observed(s, request, ctx);
  if (status == YOKE_OK) status = check_response(s, request, ctx);
  if (status == YOKE_OK && repeat) status = repeat_step(s, scratch, spare, u, asked, y, ctx);
  if (repeat && inner->ops->release != NULL) inner->ops->release(inner, spare);
  if (status != YOKE_OK) return status;
  front->phase = PHASE_STEPPED;
  front->t     = request->t_reached;
  return YOKE_OK;
}

static yoke_status checked_output(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                  yoke_side side, double *y) {
  const check_front *front = state;
  if (front->phase == PHASE_EMPTY || front->phase == PHASE_BROKEN) return YOKE_E_INTERNAL;
  YOKE_TRY(check_inputs(s, u, front->t, NULL));
  YOKE_TRY(s->inner->ops->output(s->inner, scratch, yoke_wrapper_state_seen(s, state), u, side, y));
  return check_outputs(s, front->t, y, NULL);
}

static yoke_status checked_copy(const yoke_subsystem *s, void *dst, const void *src) {
  *(check_front *)dst = *(const check_front *)src;
  return s->inner->ops->repeat->copy(s->inner, yoke_wrapper_state(s, dst), yoke_wrapper_state_seen(s, src));
}

static void checked_accept(const yoke_subsystem *s, void *state) {
  check_front *front = state;
  if (front->phase == PHASE_STEPPED)
    front->phase = PHASE_READY; /* what failed cannot be accepted: the next step says so */
  yoke_subsystem_accept(s->inner, yoke_wrapper_state(s, state));
}

static yoke_status checked_row_response(const yoke_subsystem *s, void *scratch, const void *state, int n,
                                        const yoke_port_row *rows, double *W) {
  const void *inside = yoke_wrapper_state_seen(s, state);
  YOKE_TRY(s->inner->ops->reset->row_response(s->inner, scratch, inside, n, rows, W));
  return first_not_finite(n * n, W) < 0 ? YOKE_OK : YOKE_NON_FINITE;
}

/* Only a step that is not accepted yet can be followed by a reset. */
/* The end of a trial, or an accepted state behind an event. */
static bool can_be_reset(const check_front *front) {
  return front->phase == PHASE_STEPPED || front->phase == PHASE_READY;
}

static yoke_status checked_push(const yoke_subsystem *s, void *scratch, void *state, int n, const yoke_port_row *rows,
                                const double *move, const double *kick) {
  const check_front *front = state;
  if (!can_be_reset(front)) return YOKE_E_INTERNAL;
  return s->inner->ops->reset->push(s->inner, scratch, yoke_wrapper_state(s, state), n, rows, move, kick);
}

static yoke_status checked_reset(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                                 yoke_context *ctx) {
  const check_front *front = state;
  YOKE_TRY(check_inputs(s, u, front->t, ctx));
  if (!can_be_reset(front)) {
    return yoke_fail(ctx, YOKE_E_INTERNAL, "subsystem '%s': a reset at t = %.17g s does not follow a step", s->name,
                     front->t);
  }
  return s->inner->ops->reset->reset(s->inner, scratch, yoke_wrapper_state(s, state), u, ctx);
}

static yoke_status checked_act(const yoke_subsystem *s, void *scratch, void *state, int event, const yoke_signal *u,
                               yoke_context *ctx) {
  const check_front *front = state;
  YOKE_TRY(check_inputs(s, u, front->t, ctx));
  YOKE_TRY(check_start_of_step(s, front, front->t, ctx));
  return s->inner->ops->events->act(s->inner, scratch, yoke_wrapper_state(s, state), event, u, ctx);
}

static yoke_status checked_pack(const yoke_subsystem *s, const void *state, yoke_pack *out, yoke_context *ctx) {
  const check_front *front = state;
  yoke_pack_tag(out, "checked");
  yoke_pack_int32(out, (int32_t)front->phase);
  yoke_pack_double(out, front->t);
  yoke_pack_int64(out, front->n_steps);
  return s->inner->ops->pack->pack(s->inner, yoke_wrapper_state_seen(s, state), out, ctx);
}

static yoke_status checked_unpack(const yoke_subsystem *s, void *scratch, yoke_unpack *in, void *state,
                                  yoke_context *ctx) {
  yoke_unpack_tag(in, "checked");
  const int32_t     phase = yoke_unpack_int32(in);
  const double      t     = yoke_unpack_double(in);
  const check_front front = {.phase = (check_phase)phase, .t = t, .n_steps = yoke_unpack_int64(in)};
  if (phase < PHASE_EMPTY || phase > PHASE_BROKEN || front.n_steps < 0 || front.n_steps > INT64_MAX / 2)
    yoke_unpack_refuse(in, "a phase or a count that no state has");
  YOKE_TRY(yoke_unpack_check(in, ctx));
  YOKE_TRY(s->inner->ops->pack->unpack(s->inner, scratch, in, yoke_wrapper_state(s, state), ctx));
  *(check_front *)state = front;
  return YOKE_OK;
}

/* ---- creation ---- */

static size_t reserve(size_t *size, size_t bytes) {
  const size_t at = (*size + 63) / 64 * 64;
  *size           = at + (bytes + 63) / 64 * 64;
  return at;
}

yoke_status yoke_subsystem_check(yoke_context *ctx, yoke_subsystem *inner, yoke_subsystem **out) {
  YOKE_TRY(yoke_wrapper_create(ctx, "checked", inner, sizeof(checked), sizeof(check_front), out));
  yoke_subsystem *s         = *out;
  checked        *self      = s->self;
  yoke_wrapper   *calls     = &self->wrapper;
  self->at_spare            = reserve(&s->scratch_size, inner->state_size);
  self->at_y                = reserve(&s->scratch_size, (size_t)inner->ny * sizeof(double));
  self->at_y_spare          = reserve(&s->scratch_size, (size_t)inner->ny * sizeof(double));
  calls->ops.start          = checked_start;
  calls->ops.step           = checked_step;
  calls->ops.output         = checked_output;
  calls->ops.accept         = checked_accept;
  calls->repeat.copy        = checked_copy;
  calls->pack               = (yoke_pack_ops){.pack = checked_pack, .unpack = checked_unpack};
  calls->events.act         = checked_act;
  calls->reset.row_response = checked_row_response;
  calls->reset.push         = checked_push;
  calls->reset.reset        = checked_reset;
  return YOKE_OK;
}
