/* Wrapper that reports every call as one line: `step left t = 0.1, H = 0.01, status = YOKE_OK`. Numbers have all digits. */
#include "subsystem/subsystem.h"

typedef struct traced {
  yoke_subsystem    *inner; /* owned */
  yoke_subsystem_ops ops;   /* without what the inner one cannot do */
  yoke_log           log;
} traced;

static void traced_destroy(yoke_subsystem *subsystem) {
  traced *self = subsystem->self;
  yoke_subsystem_destroy(&self->inner);
  yoke_subsystem_free(subsystem);
}

static void report(const traced *self, const char *call) {
  const yoke_log_line line = yoke_log_begin(call, self->inner->name);
  yoke_log_end(&self->log, &line);
}

static yoke_status report_status(const traced *self, const char *call, yoke_status status) {
  yoke_log_line line = yoke_log_begin(call, self->inner->name);
  yoke_log_word(&line, "status", yoke_status_name(status));
  yoke_log_end(&self->log, &line);
  return status;
}

static yoke_status traced_start(const yoke_subsystem *subsystem, void *scratch, void *state, double t,
                                const yoke_signal *u, yoke_context *ctx) {
  const traced     *self   = subsystem->self;
  const yoke_status status = self->inner->ops->start(self->inner, scratch, state, t, u, ctx);
  yoke_log_line     line   = yoke_log_begin("start", subsystem->name);
  yoke_log_number(&line, "t", t);
  yoke_log_word(&line, "status", yoke_status_name(status));
  yoke_log_end(&self->log, &line);
  return status;
}

static yoke_status traced_step(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                               double t, double H, yoke_context *ctx) {
  const traced     *self   = subsystem->self;
  const yoke_status status = self->inner->ops->step(self->inner, scratch, state, u, t, H, ctx);
  yoke_log_line     line   = yoke_log_begin("step", subsystem->name);
  yoke_log_number(&line, "t", t);
  yoke_log_number(&line, "H", H);
  yoke_log_word(&line, "status", yoke_status_name(status));
  yoke_log_end(&self->log, &line);
  return status;
}

static yoke_status traced_output(const yoke_subsystem *subsystem, void *scratch, const void *state,
                                 const yoke_signal *u, double *y) {
  const traced *self = subsystem->self;
  return report_status(self, "output", self->inner->ops->output(self->inner, scratch, state, u, y));
}

static void traced_copy(const yoke_subsystem *subsystem, void *dst, const void *src) {
  const traced *self = subsystem->self;
  self->inner->ops->copy(self->inner, dst, src);
  report(self, "copy");
}

static void traced_accept(const yoke_subsystem *subsystem, void *state) {
  const traced *self = subsystem->self;
  self->inner->ops->accept(self->inner, state);
  report(self, "accept");
}

static yoke_status traced_disturb(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                                  yoke_context *ctx) {
  const traced *self = subsystem->self;
  return report_status(self, "disturb", self->inner->ops->disturb(self->inner, scratch, state, u, ctx));
}

static void traced_counters(const yoke_subsystem *subsystem, const void *state, yoke_counters *out) {
  const traced *self = subsystem->self;
  self->inner->ops->counters(self->inner, state, out);
}

static yoke_status traced_compliance(const yoke_subsystem *subsystem, void *scratch, const void *state,
                                     const yoke_signal *u, double *da_du) {
  const traced *self = subsystem->self;
  return report_status(self, "compliance", self->inner->ops->compliance(self->inner, scratch, state, u, da_du));
}

static yoke_status traced_row_response(const yoke_subsystem *subsystem, void *scratch, const void *state, int n,
                                       const yoke_port_row *rows, double *W) {
  const traced *self = subsystem->self;
  return report_status(self, "row_response", self->inner->ops->row_response(self->inner, scratch, state, n, rows, W));
}

static yoke_status traced_push(const yoke_subsystem *subsystem, void *scratch, void *state, int n,
                               const yoke_port_row *rows, const double *move, const double *kick) {
  const traced *self = subsystem->self;
  return report_status(self, "push", self->inner->ops->push(self->inner, scratch, state, n, rows, move, kick));
}

static yoke_status traced_reset(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                                yoke_context *ctx) {
  const traced *self = subsystem->self;
  return report_status(self, "reset", self->inner->ops->reset(self->inner, scratch, state, u, ctx));
}

static void traced_release(const yoke_subsystem *subsystem, void *state) {
  const traced *self = subsystem->self;
  self->inner->ops->release(self->inner, state);
}

static yoke_found_events traced_events(const yoke_subsystem *subsystem, const void *state) {
  const traced *self = subsystem->self;
  return self->inner->ops->events(self->inner, state);
}

static double traced_event_ahead(const yoke_subsystem *subsystem, void *scratch, const void *state, int event) {
  const traced *self = subsystem->self;
  return self->inner->ops->event_ahead(self->inner, scratch, state, event);
}

static void traced_event_done(const yoke_subsystem *subsystem, void *scratch, void *state, int event) {
  const traced *self = subsystem->self;
  self->inner->ops->event_done(self->inner, scratch, state, event);
  yoke_log_line line = yoke_log_begin("event", subsystem->name);
  yoke_log_count(&line, "number", event);
  yoke_log_end(&self->log, &line);
}

static yoke_status traced_assign(const yoke_subsystem *subsystem, void *scratch, void *state, const double *q,
                                 const double *v, const yoke_signal *u, yoke_context *ctx) {
  const traced *self = subsystem->self;
  return report_status(self, "assign", self->inner->ops->assign(self->inner, scratch, state, q, v, u, ctx));
}

static yoke_subsystem_ops ops_around(const yoke_subsystem_ops *inner) {
  return (yoke_subsystem_ops){
      .kind         = "traced",
      .destroy      = traced_destroy,
      .start        = traced_start,
      .step         = traced_step,
      .output       = traced_output,
      .copy         = inner->copy != NULL ? traced_copy : NULL,
      .accept       = inner->accept != NULL ? traced_accept : NULL,
      .disturb      = inner->disturb != NULL ? traced_disturb : NULL,
      .counters     = inner->counters != NULL ? traced_counters : NULL,
      .compliance   = inner->compliance != NULL ? traced_compliance : NULL,
      .row_response = inner->row_response != NULL ? traced_row_response : NULL,
      .push         = inner->push != NULL ? traced_push : NULL,
      .reset        = inner->reset != NULL ? traced_reset : NULL,
      .release      = inner->release != NULL ? traced_release : NULL,
      .events       = inner->events != NULL ? traced_events : NULL,
      .event_ahead  = inner->event_ahead != NULL ? traced_event_ahead : NULL,
      .event_done   = inner->event_done != NULL ? traced_event_done : NULL,
      .assign       = inner->assign != NULL ? traced_assign : NULL,
  };
}

yoke_status yoke_subsystem_traced(yoke_context *ctx, yoke_subsystem *inner, yoke_log log, yoke_subsystem **out) {
  YOKE_TRY(yoke_subsystem_wrap(ctx, inner, sizeof(traced), out));
  traced *self = (*out)->self;
  *self        = (traced){.inner = inner, .ops = ops_around(inner->ops), .log = log};
  (*out)->ops  = &self->ops;
  return YOKE_OK;
}
