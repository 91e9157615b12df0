/* Wrapper that reports every call as one line: `step left t = 0.1, H = 0.01, status = YOKE_OK`. Numbers have all digits. */
#include "subsystem/wrapper.h"

typedef struct traced {
  yoke_wrapper wrapper;
  yoke_log     log;
} traced;

static void report(const yoke_subsystem *s, const char *call) {
  const traced       *self = s->self;
  const yoke_log_line line = yoke_log_begin(call, s->name);
  yoke_log_end(&self->log, &line);
}

static yoke_status report_status(const yoke_subsystem *s, const char *call, yoke_status status) {
  const traced *self = s->self;
  yoke_log_line line = yoke_log_begin(call, s->name);
  yoke_log_word(&line, "status", yoke_status_name(status));
  yoke_log_end(&self->log, &line);
  return status;
}

static yoke_status traced_start(const yoke_subsystem *s, void *scratch, void *state, double t, const yoke_signal *u,
                                yoke_context *ctx) {
  const traced     *self   = s->self;
  const yoke_status status = s->inner->ops->start(s->inner, scratch, yoke_wrapper_state(s, state), t, u, ctx);
  yoke_log_line     line   = yoke_log_begin("start", s->name);
  yoke_log_number(&line, "t", t);
  yoke_log_word(&line, "status", yoke_status_name(status));
  yoke_log_end(&self->log, &line);
  return status;
}

static yoke_status traced_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                               yoke_step_request *request, yoke_context *ctx) {
  const traced     *self   = s->self;
  const yoke_status status = s->inner->ops->step(s->inner, scratch, yoke_wrapper_state(s, state), u, request, ctx);
  yoke_log_line     line   = yoke_log_begin("step", s->name);
  yoke_log_number(&line, "t", request->t);
  yoke_log_number(&line, "H", request->t_end - request->t);
  yoke_log_word(&line, "status", yoke_status_name(status));
  yoke_log_end(&self->log, &line);
  return status;
}

static yoke_status traced_output(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                 yoke_side side, double *y) {
  const void *inside = yoke_wrapper_state_seen(s, state);
  return report_status(s, "output", s->inner->ops->output(s->inner, scratch, inside, u, side, y));
}

static void traced_accept(const yoke_subsystem *s, void *state) {
  yoke_subsystem_accept(s->inner, yoke_wrapper_state(s, state));
  report(s, "accept");
}

static yoke_status traced_copy(const yoke_subsystem *s, void *dst, const void *src) {
  const void *from = yoke_wrapper_state_seen(s, src);
  return report_status(s, "copy", s->inner->ops->repeat->copy(s->inner, yoke_wrapper_state(s, dst), from));
}

static yoke_status traced_response(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                   yoke_side side, double *dy_du) {
  const void *inside = yoke_wrapper_state_seen(s, state);
  return report_status(s, "response", s->inner->ops->instant->response(s->inner, scratch, inside, u, side, dy_du));
}

static void traced_done(const yoke_subsystem *s, void *scratch, void *state, int event) {
  const traced *self = s->self;
  s->inner->ops->events->done(s->inner, scratch, yoke_wrapper_state(s, state), event);
  yoke_log_line line = yoke_log_begin("event", s->name);
  yoke_log_count(&line, "number", event);
  yoke_log_end(&self->log, &line);
}

static yoke_status traced_act(const yoke_subsystem *s, void *scratch, void *state, int event, const yoke_signal *u,
                              yoke_context *ctx) {
  void *inside = yoke_wrapper_state(s, state);
  return report_status(s, "act", s->inner->ops->events->act(s->inner, scratch, inside, event, u, ctx));
}

static yoke_status traced_row_response(const yoke_subsystem *s, void *scratch, const void *state, int n,
                                       const yoke_port_row *rows, double *W) {
  const void *inside = yoke_wrapper_state_seen(s, state);
  return report_status(s, "row_response", s->inner->ops->reset->row_response(s->inner, scratch, inside, n, rows, W));
}

static yoke_status traced_push(const yoke_subsystem *s, void *scratch, void *state, int n, const yoke_port_row *rows,
                               const double *move, const double *kick) {
  void *inside = yoke_wrapper_state(s, state);
  return report_status(s, "push", s->inner->ops->reset->push(s->inner, scratch, inside, n, rows, move, kick));
}

static yoke_status traced_reset(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                                yoke_context *ctx) {
  void *inside = yoke_wrapper_state(s, state);
  return report_status(s, "reset", s->inner->ops->reset->reset(s->inner, scratch, inside, u, ctx));
}

yoke_status yoke_subsystem_traced(yoke_context *ctx, yoke_subsystem *inner, yoke_log log, yoke_subsystem **out) {
  YOKE_TRY(yoke_wrapper_create(ctx, "traced", inner, sizeof(traced), 0, out));
  traced       *self        = (*out)->self;
  yoke_wrapper *calls       = &self->wrapper;
  self->log                 = log;
  calls->ops.start          = traced_start;
  calls->ops.step           = traced_step;
  calls->ops.output         = traced_output;
  calls->ops.accept         = traced_accept;
  calls->repeat.copy        = traced_copy;
  calls->instant            = (yoke_instant_ops){.response = traced_response};
  calls->events.done        = traced_done;
  calls->events.act         = traced_act;
  calls->reset.row_response = traced_row_response;
  calls->reset.push         = traced_push;
  calls->reset.reset        = traced_reset;
  return YOKE_OK;
}
