/* Wrapper that watches the contract of subsystem.h.
 *
 * State: that of the inner subsystem, then what is known about it. Scratch: that of the inner one, then a state and two sets of
 * outputs for repeated steps. */
#include "subsystem/subsystem.h"

#include "base/text.h"
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

typedef struct check_tail {
  check_phase phase;
  double      t;
  int64_t     n_steps;
} check_tail;

typedef struct checked {
  yoke_subsystem    *inner;                      /* owned */
  yoke_subsystem_ops ops;                        /* without what the inner one cannot do */
  size_t             at_tail;                    /* bytes into the state */
  size_t             at_spare, at_y, at_y_spare; /* bytes into the scratch */
} checked;

static void checked_destroy(yoke_subsystem *subsystem) {
  checked *self = subsystem->self;
  yoke_subsystem_destroy(&self->inner);
  yoke_subsystem_free(subsystem);
}

static check_tail *tail_of(const checked *self, void *state) {
  return (check_tail *)(void *)((char *)state + self->at_tail);
}

static const check_tail *tail_seen(const checked *self, const void *state) {
  return (const check_tail *)(const void *)((const char *)state + self->at_tail);
}

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
static yoke_status check_start_of_step(const yoke_subsystem *s, const check_tail *tail, double t, yoke_context *ctx) {
  static const char *const text[] = {[PHASE_EMPTY]   = "it was never started",
                                     [PHASE_STEPPED] = "its last step was not accepted",
                                     [PHASE_BROKEN]  = "its last step failed"};
  if (tail->phase != PHASE_READY) {
    return yoke_fail(ctx, YOKE_E_INTERNAL, "subsystem '%s': a step cannot start at t = %.17g s from this state: %s",
                     s->name, t, text[tail->phase]);
  }
  if (tail->t == t) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_INTERNAL, "subsystem '%s': a step starts at t = %.17g s but its state is at %.17g s",
                   s->name, t, tail->t);
}

/* Rule 2: the step once more from the copy `spare`, compared with the outputs y of the first one. */
static yoke_status repeat_step(const yoke_subsystem *s, void *scratch, void *spare, const yoke_signal *u, double t,
                               double H, const double *y, yoke_context *ctx) {
  const checked        *self    = s->self;
  const yoke_subsystem *inner   = self->inner;
  double               *y_again = (double *)(void *)((char *)scratch + self->at_y_spare);
  yoke_status           status  = inner->ops->step(inner, scratch, spare, u, t, H, ctx);
  if (status == YOKE_OK) status = inner->ops->output(inner, scratch, spare, u, y_again);
  if (status != YOKE_OK) {
    return yoke_fail(ctx, YOKE_E_SUBSYSTEM, "subsystem '%s': the step from t = %.9g s succeeds, repeated it fails (%s)",
                     s->name, t, yoke_status_text(status));
  }
  for (int i = 0; i < s->ny; ++i) {
    if (memcmp(&y[i], &y_again[i], sizeof y[i]) == 0) continue;
    return yoke_fail(ctx, YOKE_E_SUBSYSTEM,
                     "subsystem '%s': the step of %.6g s from t = %.9g s is not repeatable: output %d is %.17g, then "
                     "%.17g",
                     s->name, H, t, i, y[i], y_again[i]);
  }
  return YOKE_OK;
}

/* Rule 3 */
static yoke_status check_outputs(const yoke_subsystem *s, double t, const double *y, yoke_context *ctx) {
  const int i = first_not_finite(s->ny, y);
  if (i < 0) return YOKE_OK;
  return yoke_fail(ctx, YOKE_NON_FINITE, "subsystem '%s': output %d is not finite at t = %.9g s", s->name, i, t);
}

/* ---- calls ---- */

static yoke_status checked_start(const yoke_subsystem *s, void *scratch, void *state, double t, const yoke_signal *u,
                                 yoke_context *ctx) {
  const checked *self = s->self;
  check_tail    *tail = tail_of(self, state);
  YOKE_TRY(check_inputs(s, u, t, ctx));
  *tail = (check_tail){.phase = PHASE_BROKEN, .t = t};
  YOKE_TRY(self->inner->ops->start(self->inner, scratch, state, t, u, ctx));
  tail->phase = PHASE_READY;
  return YOKE_OK;
}

static yoke_status checked_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u, double t,
                                double H, yoke_context *ctx) {
  const checked        *self  = s->self;
  const yoke_subsystem *inner = self->inner;
  check_tail           *tail  = tail_of(self, state);
  void                 *spare = (char *)scratch + self->at_spare;
  double               *y     = (double *)(void *)((char *)scratch + self->at_y);
  YOKE_TRY(check_inputs(s, u, t, ctx));
  YOKE_TRY(check_start_of_step(s, tail, t, ctx));
  const bool repeat = inner->ops->copy != NULL && ++tail->n_steps % REPEAT_EVERY == 0;
  if (repeat) {
    memset(spare, 0, inner->state_size);
    inner->ops->copy(inner, spare, state);
  }
  tail->phase        = PHASE_BROKEN;
  yoke_status status = inner->ops->step(inner, scratch, state, u, t, H, ctx);
  if (status == YOKE_OK) status = inner->ops->output(inner, scratch, state, u, y);
  if (status == YOKE_OK) status = check_outputs(s, yoke_step_end(u, t, H), y, ctx);
  if (status == YOKE_OK && repeat) status = repeat_step(s, scratch, spare, u, t, H, y, ctx);
  if (repeat && inner->ops->release != NULL) inner->ops->release(inner, spare);
  if (status != YOKE_OK) return status;
  tail->phase = PHASE_STEPPED;
  tail->t     = yoke_step_end(u, t, H);
  return YOKE_OK;
}

static yoke_status checked_output(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                  double *y) {
  const checked    *self  = s->self;
  const check_phase phase = tail_seen(self, state)->phase;
  if (phase == PHASE_EMPTY || phase == PHASE_BROKEN) return YOKE_E_INTERNAL;
  YOKE_TRY(check_inputs(s, u, tail_seen(self, state)->t, NULL));
  YOKE_TRY(self->inner->ops->output(self->inner, scratch, state, u, y));
  return check_outputs(s, tail_seen(self, state)->t, y, NULL);
}

static void checked_copy(const yoke_subsystem *s, void *dst, const void *src) {
  const checked *self = s->self;
  self->inner->ops->copy(self->inner, dst, src);
  *tail_of(self, dst) = *tail_seen(self, src);
}

static void checked_accept(const yoke_subsystem *s, void *state) {
  const checked *self = s->self;
  check_tail    *tail = tail_of(self, state);
  if (tail->phase == PHASE_STEPPED)
    tail->phase = PHASE_READY; /* what failed cannot be accepted: the next step says so */
  if (self->inner->ops->accept != NULL) self->inner->ops->accept(self->inner, state);
}

static yoke_status checked_disturb(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                                   yoke_context *ctx) {
  const checked    *self = s->self;
  const check_tail *tail = tail_of(self, state);
  YOKE_TRY(check_inputs(s, u, tail->t, ctx));
  YOKE_TRY(check_start_of_step(s, tail, tail->t, ctx));
  return self->inner->ops->disturb(self->inner, scratch, state, u, ctx);
}

static void checked_counters(const yoke_subsystem *s, const void *state, yoke_counters *out) {
  const checked *self = s->self;
  self->inner->ops->counters(self->inner, state, out);
}

static yoke_status checked_compliance(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                      double *da_du) {
  const checked *self = s->self;
  return self->inner->ops->compliance(self->inner, scratch, state, u, da_du);
}

static yoke_status checked_row_response(const yoke_subsystem *s, void *scratch, const void *state, int n,
                                        const yoke_port_row *rows, double *W) {
  const checked *self = s->self;
  YOKE_TRY(self->inner->ops->row_response(self->inner, scratch, state, n, rows, W));
  return first_not_finite(n * n, W) < 0 ? YOKE_OK : YOKE_NON_FINITE;
}

/* Only a step that is not accepted yet can be followed by a reset. */
static yoke_status checked_push(const yoke_subsystem *s, void *scratch, void *state, int n, const yoke_port_row *rows,
                                const double *move, const double *kick) {
  const checked *self = s->self;
  if (tail_of(self, state)->phase != PHASE_STEPPED) return YOKE_E_INTERNAL;
  return self->inner->ops->push(self->inner, scratch, state, n, rows, move, kick);
}

static yoke_status checked_reset(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                                 yoke_context *ctx) {
  const checked    *self = s->self;
  const check_tail *tail = tail_of(self, state);
  YOKE_TRY(check_inputs(s, u, tail->t, ctx));
  if (tail->phase != PHASE_STEPPED) {
    return yoke_fail(ctx, YOKE_E_INTERNAL, "subsystem '%s': a reset at t = %.17g s does not follow a step", s->name,
                     tail->t);
  }
  return self->inner->ops->reset(self->inner, scratch, state, u, ctx);
}

static void checked_release(const yoke_subsystem *s, void *state) {
  const checked *self = s->self;
  self->inner->ops->release(self->inner, state);
}

static yoke_found_events checked_events(const yoke_subsystem *s, const void *state) {
  const checked *self = s->self;
  return self->inner->ops->events(self->inner, state);
}

static double checked_event_ahead(const yoke_subsystem *s, void *scratch, const void *state, int event) {
  const checked *self = s->self;
  return self->inner->ops->event_ahead(self->inner, scratch, state, event);
}

static void checked_event_done(const yoke_subsystem *s, void *scratch, void *state, int event) {
  const checked *self = s->self;
  self->inner->ops->event_done(self->inner, scratch, state, event);
}

static yoke_status checked_assign(const yoke_subsystem *s, void *scratch, void *state, const double *q, const double *v,
                                  const yoke_signal *u, yoke_context *ctx) {
  const checked    *self = s->self;
  const check_tail *tail = tail_of(self, state);
  YOKE_TRY(check_inputs(s, u, tail->t, ctx));
  YOKE_TRY(check_start_of_step(s, tail, tail->t, ctx));
  return self->inner->ops->assign(self->inner, scratch, state, q, v, u, ctx);
}

/* ---- creation ---- */

static yoke_subsystem_ops ops_around(const yoke_subsystem_ops *inner) {
  return (yoke_subsystem_ops){
      .kind         = "checked",
      .destroy      = checked_destroy,
      .start        = checked_start,
      .step         = checked_step,
      .output       = checked_output,
      .copy         = inner->copy != NULL ? checked_copy : NULL,
      .accept       = checked_accept,
      .disturb      = inner->disturb != NULL ? checked_disturb : NULL,
      .counters     = inner->counters != NULL ? checked_counters : NULL,
      .compliance   = inner->compliance != NULL ? checked_compliance : NULL,
      .row_response = inner->row_response != NULL ? checked_row_response : NULL,
      .push         = inner->push != NULL ? checked_push : NULL,
      .reset        = inner->reset != NULL ? checked_reset : NULL,
      .release      = inner->release != NULL ? checked_release : NULL,
      .events       = inner->events != NULL ? checked_events : NULL,
      .event_ahead  = inner->event_ahead != NULL ? checked_event_ahead : NULL,
      .event_done   = inner->event_done != NULL ? checked_event_done : NULL,
      .assign       = inner->assign != NULL ? checked_assign : NULL,
  };
}

static size_t reserve(size_t *size, size_t bytes) {
  const size_t at = (*size + 63) / 64 * 64;
  *size           = at + (bytes + 63) / 64 * 64;
  return at;
}

yoke_status yoke_subsystem_check(yoke_context *ctx, yoke_subsystem *inner, yoke_subsystem **out) {
  YOKE_TRY(yoke_subsystem_wrap(ctx, inner, sizeof(checked), out));
  yoke_subsystem *s    = *out;
  checked        *self = s->self;
  *self                = (checked){.inner = inner, .ops = ops_around(inner->ops)};
  s->ops               = &self->ops;
  self->at_tail        = reserve(&s->state_size, sizeof(check_tail));
  self->at_spare       = reserve(&s->scratch_size, inner->state_size);
  self->at_y           = reserve(&s->scratch_size, (size_t)inner->ny * sizeof(double));
  self->at_y_spare     = reserve(&s->scratch_size, (size_t)inner->ny * sizeof(double));
  return YOKE_OK;
}
