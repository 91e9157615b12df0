#include "subsystem/wrapper.h"

#include <string.h>

static void pass_destroy(yoke_subsystem *subsystem) {
  yoke_wrapper *self = subsystem->self;
  yoke_subsystem_destroy(&self->inner);
  yoke_subsystem_free(subsystem);
}

static yoke_status pass_start(const yoke_subsystem *s, void *scratch, void *state, double t, const yoke_signal *u,
                              yoke_context *ctx) {
  return s->inner->ops->start(s->inner, scratch, yoke_wrapper_state(s, state), t, u, ctx);
}

static yoke_status pass_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                             yoke_step_request *request, yoke_context *ctx) {
  return s->inner->ops->step(s->inner, scratch, yoke_wrapper_state(s, state), u, request, ctx);
}

static yoke_status pass_output(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                               yoke_side side, double *y) {
  return s->inner->ops->output(s->inner, scratch, yoke_wrapper_state_seen(s, state), u, side, y);
}

static void pass_accept(const yoke_subsystem *s, void *state) {
  yoke_subsystem_accept(s->inner, yoke_wrapper_state(s, state));
}

static void pass_counters(const yoke_subsystem *s, const void *state, yoke_counters *out) {
  yoke_subsystem_counters(s->inner, yoke_wrapper_state_seen(s, state), out);
}

static void pass_release(const yoke_subsystem *s, void *state) {
  if (s->inner->ops->release != NULL) s->inner->ops->release(s->inner, yoke_wrapper_state(s, state));
}

static const yoke_subsystem_ops pass_ops = {.destroy  = pass_destroy,
                                            .start    = pass_start,
                                            .step     = pass_step,
                                            .output   = pass_output,
                                            .accept   = pass_accept,
                                            .counters = pass_counters,
                                            .release  = pass_release};

/* ---- groups ---- */

static yoke_status pass_copy(const yoke_subsystem *s, void *dst, const void *src) {
  return s->inner->ops->repeat->copy(s->inner, yoke_wrapper_state(s, dst), yoke_wrapper_state_seen(s, src));
}

static void pass_clear(const yoke_subsystem *s, void *block) {
  memset(block, 0, s->inner_at);
  yoke_subsystem_state_clear(s->inner, yoke_wrapper_state(s, block));
}

static yoke_status pass_response(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                 yoke_side side, double *dy_du) {
  return s->inner->ops->instant->response(s->inner, scratch, yoke_wrapper_state_seen(s, state), u, side, dy_du);
}

static size_t pass_room(const yoke_subsystem *s, int n_directions) {
  return s->inner->ops->response->room(s->inner, n_directions);
}

static int pass_n_shifted(const yoke_subsystem *s) {
  const yoke_response_ops *inner = s->inner->ops->response;
  return inner->n_x != NULL ? inner->n_x(s->inner) : 0;
}

static yoke_status pass_shift(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                              const double *dx) {
  return s->inner->ops->response->shift(s->inner, scratch, yoke_wrapper_state(s, state), u, dx);
}

static yoke_found_events pass_found(const yoke_subsystem *s, const void *state) {
  return s->inner->ops->events->found(s->inner, yoke_wrapper_state_seen(s, state));
}

static double pass_ahead(const yoke_subsystem *s, void *scratch, const void *state, int event) {
  return s->inner->ops->events->ahead(s->inner, scratch, yoke_wrapper_state_seen(s, state), event);
}

static void pass_done(const yoke_subsystem *s, void *scratch, void *state, int event) {
  s->inner->ops->events->done(s->inner, scratch, yoke_wrapper_state(s, state), event);
}

static void pass_begin(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u) {
  s->inner->ops->events->begin(s->inner, scratch, yoke_wrapper_state(s, state), u);
}

static yoke_status pass_act(const yoke_subsystem *s, void *scratch, void *state, int event, const yoke_signal *u,
                            yoke_context *ctx) {
  return s->inner->ops->events->act(s->inner, scratch, yoke_wrapper_state(s, state), event, u, ctx);
}

static yoke_status pass_at(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u, double t,
                           yoke_side side, int n, const int64_t *handles, double *values) {
  const void *inside = yoke_wrapper_state_seen(s, state);
  return s->inner->ops->observe->at(s->inner, scratch, inside, u, t, side, n, handles, values);
}

static void pass_handles(const yoke_subsystem *s, int64_t out[YOKE_N_ENERGIES]) {
  s->inner->ops->energy->handles(s->inner, out);
}

static yoke_status pass_row_response(const yoke_subsystem *s, void *scratch, const void *state, int n,
                                     const yoke_port_row *rows, double *W) {
  return s->inner->ops->reset->row_response(s->inner, scratch, yoke_wrapper_state_seen(s, state), n, rows, W);
}

static yoke_status pass_push(const yoke_subsystem *s, void *scratch, void *state, int n, const yoke_port_row *rows,
                             const double *move, const double *kick) {
  return s->inner->ops->reset->push(s->inner, scratch, yoke_wrapper_state(s, state), n, rows, move, kick);
}

static yoke_status pass_reset(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                              yoke_context *ctx) {
  return s->inner->ops->reset->reset(s->inner, scratch, yoke_wrapper_state(s, state), u, ctx);
}

static yoke_status pass_kick(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u, bool *is_kicked,
                             yoke_context *ctx) {
  const yoke_reset_ops *inner = s->inner->ops->reset;
  *is_kicked                  = false;
  if (inner->kick == NULL) return YOKE_OK;
  return inner->kick(s->inner, scratch, yoke_wrapper_state(s, state), u, is_kicked, ctx);
}

static void pass_motions(const yoke_subsystem *s, void *scratch, const void *state, double *y) {
  const yoke_reset_ops *inner = s->inner->ops->reset;
  if (inner->motions != NULL) inner->motions(s->inner, scratch, yoke_wrapper_state_seen(s, state), y);
}

static void pass_account(const yoke_subsystem *s, void *scratch, void *state, double sign) {
  const yoke_reset_ops *inner = s->inner->ops->reset;
  if (inner->account != NULL) inner->account(s->inner, scratch, yoke_wrapper_state(s, state), sign);
}

static int pass_n_x(const yoke_subsystem *s) {
  return s->inner->ops->linear->n_x(s->inner);
}

static void pass_get_x(const yoke_subsystem *s, const void *state, double *x) {
  s->inner->ops->linear->get_x(s->inner, yoke_wrapper_state_seen(s, state), x);
}

static yoke_status pass_set_x(const yoke_subsystem *s, void *scratch, void *state, const double *x) {
  return s->inner->ops->linear->set_x(s->inner, scratch, yoke_wrapper_state(s, state), x);
}

static void pass_take(const yoke_subsystem *s, void *state, int halo, const double *y) {
  s->inner->ops->halo->take(s->inner, yoke_wrapper_state(s, state), halo, y);
}

static yoke_status pass_pack(const yoke_subsystem *s, const void *state, yoke_pack *out, yoke_context *ctx) {
  return s->inner->ops->pack->pack(s->inner, yoke_wrapper_state_seen(s, state), out, ctx);
}

static yoke_status pass_unpack(const yoke_subsystem *s, void *scratch, yoke_unpack *in, void *state,
                               yoke_context *ctx) {
  return s->inner->ops->pack->unpack(s->inner, scratch, in, yoke_wrapper_state(s, state), ctx);
}

static const yoke_wrapper pass = {
    .repeat   = {.copy = pass_copy, .clear = pass_clear},
    .instant  = {.response = pass_response},
    .response = {.room = pass_room, .n_x = pass_n_shifted, .shift = pass_shift},
    .events   = {.found = pass_found, .ahead = pass_ahead, .done = pass_done, .begin = pass_begin, .act = pass_act},
    .observe  = {.at = pass_at},
    .energy   = {.handles = pass_handles},
    .reset    = {.row_response = pass_row_response,
                 .push         = pass_push,
                 .reset        = pass_reset,
                 .kick         = pass_kick,
                 .motions      = pass_motions,
                 .account      = pass_account},
    .linear   = {.n_x = pass_n_x, .get_x = pass_get_x, .set_x = pass_set_x},
    .halo     = {.take = pass_take},
    .pack     = {.pack = pass_pack, .unpack = pass_unpack},
};

/* ---- creation ---- */

yoke_status yoke_wrapper_create(yoke_context *ctx, const char *kind, yoke_subsystem *inner, size_t self_size,
                                size_t front, yoke_subsystem **out) {
  yoke_subsystem   *s      = NULL;
  const yoke_status status = yoke_subsystem_new(ctx, inner->name, self_size, &s);
  *out                     = s;
  if (status != YOKE_OK) {
    yoke_subsystem_destroy(&inner);
    return status;
  }
  yoke_wrapper *self = s->self;
  *self              = pass;
  self->inner        = inner;
  self->ops          = pass_ops;
  self->ops.kind     = kind;
#define YOKE_GROUP(type, name)                                                                                         \
  if (inner->ops->name != NULL) self->ops.name = &self->name;
  YOKE_SUBSYSTEM_GROUPS(YOKE_GROUP)
#undef YOKE_GROUP
  if (inner->ops->repeat != NULL) self->repeat.most_states = inner->ops->repeat->most_states;
  s->ops          = &self->ops;
  s->nu           = inner->nu;
  s->ny           = inner->ny;
  s->n_ports      = inner->n_ports;
  s->ports        = inner->ports;
  s->inner        = inner;
  s->inner_at     = (front + 63) / 64 * 64;
  s->state_size   = s->inner_at + inner->state_size;
  s->state_rest   = inner->state_rest;
  s->scratch_size = inner->scratch_size;
  return YOKE_OK;
}
