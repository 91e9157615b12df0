/* Wrapper without a way back: everything is that of the inner subsystem except `copy`, which is refused. */
#include "subsystem/subsystem.h"

#include "base/text.h"
#include <stdlib.h>

typedef struct forward {
  yoke_subsystem    *inner; /* owned */
  yoke_subsystem_ops ops;   /* of the inner one, whose `self` the calls see */
} forward;

static const forward *of(const yoke_subsystem *subsystem) {
  return subsystem->self;
}

static void forward_destroy(yoke_subsystem *subsystem) {
  forward *self = subsystem->self;
  yoke_subsystem_destroy(&self->inner);
  yoke_subsystem_free(subsystem);
}

static yoke_status forward_start(const yoke_subsystem *s, void *scratch, void *state, double t, const yoke_signal *u,
                                 yoke_context *ctx) {
  return of(s)->inner->ops->start(of(s)->inner, scratch, state, t, u, ctx);
}

static yoke_status forward_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u, double t,
                                double H, yoke_context *ctx) {
  return of(s)->inner->ops->step(of(s)->inner, scratch, state, u, t, H, ctx);
}

static yoke_status forward_output(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                  double *y) {
  return of(s)->inner->ops->output(of(s)->inner, scratch, state, u, y);
}

static void forward_accept(const yoke_subsystem *s, void *state) {
  of(s)->inner->ops->accept(of(s)->inner, state);
}

static yoke_status forward_disturb(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                                   yoke_context *ctx) {
  return of(s)->inner->ops->disturb(of(s)->inner, scratch, state, u, ctx);
}

static void forward_counters(const yoke_subsystem *s, const void *state, yoke_counters *out) {
  of(s)->inner->ops->counters(of(s)->inner, state, out);
}

static yoke_status forward_compliance(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                      double *da_du) {
  return of(s)->inner->ops->compliance(of(s)->inner, scratch, state, u, da_du);
}

static void forward_release(const yoke_subsystem *s, void *state) {
  of(s)->inner->ops->release(of(s)->inner, state);
}

static yoke_found_events forward_events(const yoke_subsystem *s, const void *state) {
  return of(s)->inner->ops->events(of(s)->inner, state);
}

static double forward_event_ahead(const yoke_subsystem *s, void *scratch, const void *state, int event) {
  return of(s)->inner->ops->event_ahead(of(s)->inner, scratch, state, event);
}

static void forward_event_done(const yoke_subsystem *s, void *scratch, void *state, int event) {
  of(s)->inner->ops->event_done(of(s)->inner, scratch, state, event);
}

static yoke_status forward_assign(const yoke_subsystem *s, void *scratch, void *state, const double *q, const double *v,
                                  const yoke_signal *u, yoke_context *ctx) {
  return of(s)->inner->ops->assign(of(s)->inner, scratch, state, q, v, u, ctx);
}

static yoke_subsystem_ops ops_around(const yoke_subsystem_ops *inner) {
  return (yoke_subsystem_ops){
      .kind        = "forward",
      .destroy     = forward_destroy,
      .start       = forward_start,
      .step        = forward_step,
      .output      = forward_output,
      .accept      = inner->accept != NULL ? forward_accept : NULL,
      .disturb     = inner->disturb != NULL ? forward_disturb : NULL,
      .counters    = inner->counters != NULL ? forward_counters : NULL,
      .compliance  = inner->compliance != NULL ? forward_compliance : NULL,
      .release     = inner->release != NULL ? forward_release : NULL,
      .events      = inner->events != NULL ? forward_events : NULL,
      .event_ahead = inner->event_ahead != NULL ? forward_event_ahead : NULL,
      .event_done  = inner->event_done != NULL ? forward_event_done : NULL,
      .assign      = inner->assign != NULL ? forward_assign : NULL,
  };
}

yoke_status yoke_subsystem_forward(yoke_context *ctx, yoke_subsystem *inner, yoke_subsystem **out) {
  YOKE_TRY(yoke_subsystem_wrap(ctx, inner, sizeof(forward), out));
  forward *self = (*out)->self;
  *self         = (forward){.inner = inner, .ops = ops_around(inner->ops)};
  (*out)->ops   = &self->ops;
  return YOKE_OK;
}
