/* State on the owner: that of the inner subsystem. On other ranks: what is asked of a state without an exchange, its counters and the events of its last step; every call that
 * may change them carries them along. Calls whose caller learns nothing (accept, clear, release, account, take) stay on the owner. */
#include "subsystem/ranked.h"

#include <stdio.h>
#include <string.h>

enum { METHOD_SIZE = 40, MOST_METHODS = 8 };

/* Front of what a state shows; a list of events follows. */
typedef struct ranked_shown {
  int64_t steps, rejected, evaluations, jacobians, factorings, iterations;
  double  h, until;
  int32_t order, n_found;
  char    method[METHOD_SIZE];
} ranked_shown;

typedef struct ranked {
  yoke_subsystem    *inner; /* owned; NULL: on another rank */
  yoke_relay        *relay;
  int                owner;
  int                most_found;
  int64_t            energies[YOKE_N_ENERGIES];
  char               kind[METHOD_SIZE];
  int                n_methods;
  char               methods[MOST_METHODS][METHOD_SIZE]; /* that states had; written by the thread of control */
  yoke_subsystem_ops ops;
#define YOKE_GROUP(type, name) type name;
  YOKE_SUBSYSTEM_GROUPS(YOKE_GROUP)
#undef YOKE_GROUP
} ranked;

static yoke_status begin(const yoke_subsystem *s, yoke_relay_call *call) {
  const ranked *self = s->self;
  return yoke_relay_begin(self->relay, self->owner, call);
}

/* A call that gives doubles. */
static yoke_status end_with(yoke_relay_call *call, yoke_status status, size_t n, double *values) {
  yoke_carry_status(call, &status);
  if (status == YOKE_OK) yoke_carry(call, n * sizeof *values, values);
  return yoke_relay_end(call, status);
}

/* ---- what a state shows ---- */

static yoke_found_event *list_of(const void *state) {
  return (yoke_found_event *)(void *)((char *)(uintptr_t)state + sizeof(ranked_shown));
}

static ranked_shown look(const yoke_subsystem *inner, const void *state, yoke_found_events *found) {
  yoke_counters c;
  ranked_shown  shown;
  memset(&shown, 0, sizeof shown); /* all of it travels */
  yoke_subsystem_counters(inner, state, &c);
  *found         = inner->ops->events != NULL ? inner->ops->events->found(inner, state) : (yoke_found_events){.n = 0};
  shown.steps    = c.steps;
  shown.rejected = c.rejected;
  shown.evaluations = c.evaluations;
  shown.jacobians   = c.jacobians;
  shown.factorings  = c.factorings;
  shown.iterations  = c.iterations;
  shown.h           = c.h;
  shown.order       = c.order;
  shown.until       = found->until;
  shown.n_found     = found->n;
  if (c.method != NULL) memcpy(shown.method, c.method, strnlen(c.method, METHOD_SIZE - 1));
  return shown;
}

static void carry_shown(yoke_relay_call *call, const yoke_subsystem *s, void *state) {
  const ranked     *self  = s->self;
  yoke_found_events found = {.n = 0};
  if (call->broken != YOKE_OK) return;
  if (call->is_own) {
    ranked_shown shown = look(self->inner, state, &found);
    yoke_carry(call, sizeof shown, &shown);
    if (found.n > 0) yoke_carry(call, (size_t)found.n * sizeof *found.list, (void *)(uintptr_t)found.list);
    return;
  }
  ranked_shown *shown = state;
  yoke_carry(call, sizeof *shown, shown);
  if (shown->n_found < 0 || shown->n_found > self->most_found) {
    yoke_unpack_refuse(call->in, "more events than there may be");
    shown->n_found = 0;
  }
  if (shown->n_found > 0) yoke_carry(call, (size_t)shown->n_found * sizeof(yoke_found_event), list_of(state));
}

/* Texts of counters outlive states. */
static const char *keep_method(ranked *self, const char *method) {
  if (method[0] == '\0') return NULL;
  for (int i = 0; i < self->n_methods; ++i) {
    if (strcmp(self->methods[i], method) == 0) return self->methods[i];
  }
  if (self->n_methods == MOST_METHODS) return NULL;
  memcpy(self->methods[self->n_methods], method, METHOD_SIZE);
  return self->methods[self->n_methods++];
}

static void ranked_counters(const yoke_subsystem *s, const void *state, yoke_counters *out) {
  ranked             *self = s->self;
  const ranked_shown *from = state;
  if (self->inner != NULL) {
    yoke_subsystem_counters(self->inner, state, out);
    return;
  }
  *out = (yoke_counters){.steps       = from->steps,
                         .rejected    = from->rejected,
                         .evaluations = from->evaluations,
                         .jacobians   = from->jacobians,
                         .factorings  = from->factorings,
                         .iterations  = from->iterations,
                         .method      = keep_method(self, from->method),
                         .h           = from->h,
                         .order       = from->order};
}

static yoke_found_events ranked_found(const yoke_subsystem *s, const void *state) {
  const ranked       *self = s->self;
  const ranked_shown *from = state;
  if (self->inner != NULL) return self->inner->ops->events->found(self->inner, state);
  return (yoke_found_events){.n = from->n_found, .list = list_of(state), .until = from->until};
}

/* ---- core ---- */

static void ranked_destroy(yoke_subsystem *s) {
  ranked *self = s->self;
  yoke_subsystem_destroy(&self->inner);
  yoke_subsystem_free(s);
}

/* The end of a call that changes a state and may say something. */
static yoke_status end_change(yoke_relay_call *call, const yoke_subsystem *s, void *state, yoke_context *ctx,
                              size_t n_said, yoke_status status) {
  yoke_carry_status(call, &status);
  yoke_carry_messages(call, ctx, n_said);
  if (status >= 0) carry_shown(call, s, state);
  return yoke_relay_end(call, status);
}

static size_t n_said(const yoke_context *ctx) {
  return ctx != NULL ? yoke_context_n_messages(ctx) : 0;
}

static yoke_status ranked_start(const yoke_subsystem *s, void *scratch, void *state, double t, const yoke_signal *u,
                                yoke_context *ctx) {
  const ranked   *self = s->self;
  const size_t    n    = n_said(ctx);
  yoke_relay_call call;
  yoke_status     status = begin(s, &call);
  if (status == YOKE_OK && call.is_own) status = self->inner->ops->start(self->inner, scratch, state, t, u, ctx);
  return end_change(&call, s, state, ctx, n, status);
}

/* What a step tells besides values. */
typedef struct told {
  double  t_reached;
  int64_t evaluations, jacobians; /* of its response */
  double  error;                  /* and the error of that */
  int32_t n_observed, is_made, can_shift;
} told;

static void carry_told(yoke_relay_call *call, const yoke_subsystem *s, yoke_step_request *request, yoke_status status) {
  yoke_response *response = request->response;
  told           x        = {.t_reached = request->t_reached, .n_observed = request->n_observed};
  if (response != NULL) {
    x.evaluations = response->evaluations;
    x.jacobians   = response->jacobians;
    x.is_made     = response->is_made;
    x.can_shift   = response->can_shift;
  }
  yoke_carry(call, sizeof x, &x);
  request->t_reached  = x.t_reached;
  request->n_observed = x.n_observed;
  if (status == YOKE_OK && x.n_observed > 0 && x.n_observed <= request->n_times)
    yoke_carry(call, (size_t)x.n_observed * (size_t)request->n_handles * sizeof *request->values, request->values);
  if (response == NULL) return;
  response->evaluations = x.evaluations;
  response->jacobians   = x.jacobians;
  response->is_made     = x.is_made != 0;
  response->can_shift   = x.can_shift != 0;
  const size_t size     = (size_t)response->directions.n * (size_t)s->ny * sizeof *response->dy;
  if (status == YOKE_OK && response->is_made) yoke_carry(call, size, response->dy);
  if (status == YOKE_OK && response->can_shift) yoke_carry(call, size, response->dy_off);
}

static yoke_status ranked_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                               yoke_step_request *request, yoke_context *ctx) {
  const ranked   *self = s->self;
  const size_t    n    = n_said(ctx);
  yoke_relay_call call;
  yoke_status     status = begin(s, &call);
  if (status == YOKE_OK && call.is_own) status = self->inner->ops->step(self->inner, scratch, state, u, request, ctx);
  yoke_carry_status(&call, &status);
  if (status != YOKE_OK) yoke_carry_messages(&call, ctx, n);
  carry_told(&call, s, request, status);
  if (status >= 0) carry_shown(&call, s, state);
  return yoke_relay_end(&call, status);
}

static yoke_status ranked_output(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                 yoke_side side, double *y) {
  const ranked   *self = s->self;
  yoke_relay_call call;
  yoke_status     status = begin(s, &call);
  if (status == YOKE_OK && call.is_own) status = self->inner->ops->output(self->inner, scratch, state, u, side, y);
  return end_with(&call, status, (size_t)s->ny, y);
}

static void ranked_accept(const yoke_subsystem *s, void *state) {
  const ranked *self = s->self;
  if (self->inner != NULL) yoke_subsystem_accept(self->inner, state);
}

static void ranked_release(const yoke_subsystem *s, void *state) {
  const ranked *self = s->self;
  if (self->inner != NULL && self->inner->ops->release != NULL) self->inner->ops->release(self->inner, state);
}

/* ---- groups ---- */

static yoke_status ranked_copy(const yoke_subsystem *s, void *dst, const void *src) {
  const ranked   *self = s->self;
  yoke_relay_call call;
  yoke_status     status = begin(s, &call);
  if (status == YOKE_OK && call.is_own) status = self->inner->ops->repeat->copy(self->inner, dst, src);
  if (!call.is_own) memcpy(dst, src, s->state_size);
  yoke_carry_status(&call, &status);
  return yoke_relay_end(&call, status);
}

static void ranked_clear(const yoke_subsystem *s, void *block) {
  const ranked *self = s->self;
  if (self->inner != NULL)
    yoke_subsystem_state_clear(self->inner, block);
  else
    memset(block, 0, s->state_size);
}

static yoke_status ranked_response(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                   yoke_side side, double *dy_du) {
  const ranked   *self = s->self;
  yoke_relay_call call;
  yoke_status     status = begin(s, &call);
  if (status == YOKE_OK && call.is_own)
    status = self->inner->ops->instant->response(self->inner, scratch, state, u, side, dy_du);
  return end_with(&call, status, (size_t)s->nu * (size_t)s->ny, dy_du);
}

/* Others need no room, but must know whether there is a response. */
static size_t ranked_room(const yoke_subsystem *s, int n_directions) {
  const ranked   *self = s->self;
  size_t          room = 0;
  yoke_relay_call call;
  if (begin(s, &call) == YOKE_OK && call.is_own) room = self->inner->ops->response->room(self->inner, n_directions);
  yoke_carry_size(&call, &room);
  (void)yoke_relay_end(&call, YOKE_OK);
  return call.is_own ? room : room > 0;
}

/* Others hold no state: one number stands for all. */
static int ranked_n_shifted(const yoke_subsystem *s) {
  const ranked   *self = s->self;
  size_t          n    = 0;
  yoke_relay_call call;
  if (begin(s, &call) == YOKE_OK && call.is_own && self->inner->ops->response->n_x != NULL)
    n = (size_t)self->inner->ops->response->n_x(self->inner);
  yoke_carry_size(&call, &n);
  (void)yoke_relay_end(&call, YOKE_OK);
  return call.is_own ? (int)n : n > 0;
}

static yoke_status ranked_shift(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                                const double *dx) {
  const ranked   *self = s->self;
  yoke_relay_call call;
  yoke_status     status = begin(s, &call);
  if (status == YOKE_OK && call.is_own) status = self->inner->ops->response->shift(self->inner, scratch, state, u, dx);
  return end_change(&call, s, state, NULL, 0, status);
}

static double ranked_ahead(const yoke_subsystem *s, void *scratch, const void *state, int event) {
  const ranked   *self = s->self;
  double          t    = (double)INFINITY;
  yoke_relay_call call;
  if (begin(s, &call) == YOKE_OK && call.is_own)
    t = self->inner->ops->events->ahead(self->inner, scratch, state, event);
  yoke_carry(&call, sizeof t, &t);
  (void)yoke_relay_end(&call, YOKE_OK);
  return t;
}

static void ranked_done(const yoke_subsystem *s, void *scratch, void *state, int event) {
  const ranked   *self = s->self;
  yoke_relay_call call;
  if (begin(s, &call) == YOKE_OK && call.is_own) self->inner->ops->events->done(self->inner, scratch, state, event);
  carry_shown(&call, s, state);
  (void)yoke_relay_end(&call, YOKE_OK);
}

static void ranked_begin(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u) {
  const ranked   *self = s->self;
  yoke_relay_call call;
  if (begin(s, &call) == YOKE_OK && call.is_own) self->inner->ops->events->begin(self->inner, scratch, state, u);
  carry_shown(&call, s, state);
  (void)yoke_relay_end(&call, YOKE_OK);
}

static yoke_status ranked_act(const yoke_subsystem *s, void *scratch, void *state, int event, const yoke_signal *u,
                              yoke_context *ctx) {
  const ranked   *self = s->self;
  const size_t    n    = n_said(ctx);
  yoke_relay_call call;
  yoke_status     status = begin(s, &call);
  if (status == YOKE_OK && call.is_own)
    status = self->inner->ops->events->act(self->inner, scratch, state, event, u, ctx);
  return end_change(&call, s, state, ctx, n, status);
}

static yoke_status ranked_at(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u, double t,
                             yoke_side side, int n, const int64_t *handles, double *values) {
  const ranked   *self = s->self;
  yoke_relay_call call;
  yoke_status     status = begin(s, &call);
  if (status == YOKE_OK && call.is_own)
    status = self->inner->ops->observe->at(self->inner, scratch, state, u, t, side, n, handles, values);
  return end_with(&call, status, (size_t)n, values);
}

static void ranked_handles(const yoke_subsystem *s, int64_t out[YOKE_N_ENERGIES]) {
  const ranked *self = s->self;
  memcpy(out, self->energies, sizeof self->energies);
}

static yoke_status ranked_row_response(const yoke_subsystem *s, void *scratch, const void *state, int n,
                                       const yoke_port_row *rows, double *W) {
  const ranked   *self = s->self;
  yoke_relay_call call;
  yoke_status     status = begin(s, &call);
  if (status == YOKE_OK && call.is_own)
    status = self->inner->ops->reset->row_response(self->inner, scratch, state, n, rows, W);
  return end_with(&call, status, (size_t)n * (size_t)n, W);
}

static yoke_status ranked_push(const yoke_subsystem *s, void *scratch, void *state, int n, const yoke_port_row *rows,
                               const double *move, const double *kick) {
  const ranked   *self = s->self;
  yoke_relay_call call;
  yoke_status     status = begin(s, &call);
  if (status == YOKE_OK && call.is_own)
    status = self->inner->ops->reset->push(self->inner, scratch, state, n, rows, move, kick);
  return end_change(&call, s, state, NULL, 0, status);
}

static yoke_status ranked_reset(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                                yoke_context *ctx) {
  const ranked   *self = s->self;
  const size_t    n    = n_said(ctx);
  yoke_relay_call call;
  yoke_status     status = begin(s, &call);
  if (status == YOKE_OK && call.is_own) status = self->inner->ops->reset->reset(self->inner, scratch, state, u, ctx);
  return end_change(&call, s, state, ctx, n, status);
}

static yoke_status ranked_kick(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                               bool *is_kicked, yoke_context *ctx) {
  const ranked   *self = s->self;
  const size_t    n    = n_said(ctx);
  int32_t         any  = 0;
  yoke_relay_call call;
  yoke_status     status = begin(s, &call);
  *is_kicked             = false;
  if (status == YOKE_OK && call.is_own && self->inner->ops->reset->kick != NULL) {
    status = self->inner->ops->reset->kick(self->inner, scratch, state, u, is_kicked, ctx);
    any    = *is_kicked ? 1 : 0;
  }
  yoke_carry(&call, sizeof any, &any);
  *is_kicked = any != 0;
  return end_change(&call, s, state, ctx, n, status);
}

static void ranked_motions(const yoke_subsystem *s, void *scratch, const void *state, double *y) {
  const ranked   *self = s->self;
  yoke_relay_call call;
  if (begin(s, &call) == YOKE_OK && call.is_own) self->inner->ops->reset->motions(self->inner, scratch, state, y);
  yoke_carry(&call, (size_t)s->ny * sizeof *y, y);
  (void)yoke_relay_end(&call, YOKE_OK);
}

static void ranked_account(const yoke_subsystem *s, void *scratch, void *state, double sign) {
  const ranked *self = s->self;
  if (self->inner != NULL && self->inner->ops->reset->account != NULL)
    self->inner->ops->reset->account(self->inner, scratch, state, sign);
}

/* Every rank gets the bytes that one process alone would have written. */
static void ranked_take(const yoke_subsystem *s, void *state, int halo, const double *y) {
  const ranked *self = s->self;
  if (self->inner != NULL) self->inner->ops->halo->take(self->inner, state, halo, y);
}

static yoke_status ranked_pack(const yoke_subsystem *s, const void *state, yoke_pack *out, yoke_context *ctx) {
  const ranked   *self = s->self;
  const size_t    n = n_said(ctx), at = out->size;
  yoke_relay_call call;
  yoke_status     status = begin(s, &call);
  if (status == YOKE_OK && call.is_own) status = self->inner->ops->pack->pack(self->inner, state, out, ctx);
  if (status == YOKE_OK && call.is_own && out->has_failed) status = YOKE_E_MEMORY;
  size_t size = call.is_own ? out->size - at : 0;
  yoke_carry_status(&call, &status);
  yoke_carry_messages(&call, ctx, n);
  yoke_carry_size(&call, &size);
  if (status == YOKE_OK && call.is_own) yoke_carry(&call, size, out->bytes + at);
  if (status == YOKE_OK && !call.is_own) {
    const void *bytes = yoke_unpack_block(call.in, size);
    if (bytes != NULL) yoke_pack_append(out, size, bytes);
  }
  return yoke_relay_end(&call, status);
}

/* Every rank has all bytes; the owner tells how many were those of the state. */
static yoke_status ranked_unpack(const yoke_subsystem *s, void *scratch, yoke_unpack *in, void *state,
                                 yoke_context *ctx) {
  const ranked   *self = s->self;
  const size_t    n = n_said(ctx), at = in->at;
  yoke_relay_call call;
  yoke_status     status = begin(s, &call);
  if (status == YOKE_OK && call.is_own) status = self->inner->ops->pack->unpack(self->inner, scratch, in, state, ctx);
  size_t size = call.is_own ? in->at - at : 0;
  yoke_carry_size(&call, &size);
  if (!call.is_own && size <= in->size - at) in->at = at + size;
  return end_change(&call, s, state, ctx, n, status);
}

/* ---- creation ---- */

/* What a subsystem is to those who call it; ports follow. */
typedef struct ranked_facts {
  int32_t nu, ny, n_ports, most_states;
  int32_t has_motions;
  int64_t energies[YOKE_N_ENERGIES];
  char    kind[METHOD_SIZE];
#define YOKE_GROUP(type, name) bool has_##name;
  YOKE_SUBSYSTEM_GROUPS(YOKE_GROUP)
#undef YOKE_GROUP
} ranked_facts;

static ranked_facts facts_of(const yoke_subsystem *inner) {
  const yoke_subsystem_ops *ops = inner->ops;
  ranked_facts              x;
  memset(&x, 0, sizeof x);
  x.nu          = inner->nu;
  x.ny          = inner->ny;
  x.n_ports     = inner->n_ports;
  x.most_states = ops->repeat != NULL ? ops->repeat->most_states : 0;
  x.has_motions = ops->reset != NULL && ops->reset->motions != NULL;
  if (ops->energy != NULL) ops->energy->handles(inner, x.energies);
  snprintf(x.kind, sizeof x.kind, "%s", ops->kind);
#define YOKE_GROUP(type, name) x.has_##name = ops->name != NULL;
  YOKE_SUBSYSTEM_GROUPS(YOKE_GROUP)
#undef YOKE_GROUP
  x.has_linear = false;
  return x;
}

static const ranked all_groups = {
    .repeat   = {.copy = ranked_copy, .clear = ranked_clear},
    .instant  = {.response = ranked_response},
    .response = {.room = ranked_room, .n_x = ranked_n_shifted, .shift = ranked_shift},
    .events =
        {.found = ranked_found, .ahead = ranked_ahead, .done = ranked_done, .begin = ranked_begin, .act = ranked_act},
    .observe = {.at = ranked_at},
    .energy  = {.handles = ranked_handles},
    .reset   = {.row_response = ranked_row_response,
                .push         = ranked_push,
                .reset        = ranked_reset,
                .kick         = ranked_kick,
                .motions      = ranked_motions,
                .account      = ranked_account},
    .halo    = {.take = ranked_take},
    .pack    = {.pack = ranked_pack, .unpack = ranked_unpack},
    .ops     = {.destroy  = ranked_destroy,
                .start    = ranked_start,
                .step     = ranked_step,
                .output   = ranked_output,
                .accept   = ranked_accept,
                .counters = ranked_counters,
                .release  = ranked_release},
};

/* Ports of the owner, by names of shapes. */
static void write_ports(yoke_pack *out, const yoke_subsystem *inner) {
  for (int i = 0; i < inner->n_ports; ++i) {
    const yoke_port *port = &inner->ports[i];
    yoke_pack_text(out, port->name != NULL ? port->name : "");
    yoke_pack_text(out, port->shape->name);
    yoke_pack_int32(out, port->y_at);
    yoke_pack_int32(out, port->n_y);
    yoke_pack_int32(out, (int32_t)port->takes);
    yoke_pack_int32(out, port->wrench_at);
    yoke_pack_bool(out, port->no_integrals);
  }
}

static void read_ports(yoke_unpack *in, yoke_subsystem *s, yoke_port *ports) {
  for (int i = 0; ports != NULL && i < s->n_ports && in->failure == NULL; ++i) {
    yoke_port *port    = &ports[i];
    port->name         = yoke_arena_text(&s->arena, yoke_unpack_text(in));
    port->shape        = yoke_shape_find(yoke_unpack_text(in));
    port->y_at         = yoke_unpack_int32(in);
    port->n_y          = yoke_unpack_int32(in);
    port->takes        = (unsigned)yoke_unpack_int32(in);
    port->wrench_at    = yoke_unpack_int32(in);
    port->no_integrals = yoke_unpack_bool(in);
    if (port->shape == NULL) yoke_unpack_refuse(in, "a shape that is not known");
  }
}

static void take_facts(yoke_subsystem *s, const ranked_facts *x) {
  ranked *self             = s->self;
  self->repeat.most_states = x->most_states;
  if (!x->has_motions) self->reset.motions = NULL;
  memcpy(self->energies, x->energies, sizeof self->energies);
  memcpy(self->kind, x->kind, sizeof self->kind);
  self->ops.kind = self->kind;
#define YOKE_GROUP(type, name)                                                                                         \
  if (x->has_##name) self->ops.name = &self->name;
  YOKE_SUBSYSTEM_GROUPS(YOKE_GROUP)
#undef YOKE_GROUP
  s->nu      = x->nu;
  s->ny      = x->ny;
  s->n_ports = x->n_ports;
}

static void lay_out(yoke_subsystem *s) {
  const ranked *self = s->self;
  s->inner           = self->inner;
  if (self->inner != NULL) {
    s->state_size   = self->inner->state_size;
    s->state_rest   = self->inner->state_rest;
    s->scratch_size = self->inner->scratch_size;
    s->ports        = self->inner->ports;
  } else {
    s->state_size   = (sizeof(ranked_shown) + (size_t)self->most_found * sizeof(yoke_found_event) + 63) / 64 * 64;
    s->scratch_size = 64;
  }
}

yoke_status yoke_subsystem_ranked(yoke_context *ctx, yoke_relay *relay, const yoke_ranked_def *def,
                                  yoke_subsystem *inner, yoke_subsystem **out) {
  yoke_subsystem *s      = NULL;
  yoke_status     status = yoke_subsystem_new(ctx, def->name, sizeof(ranked), &s);
  *out                   = s;
  if (status != YOKE_OK) {
    yoke_subsystem_destroy(&inner);
    return status;
  }
  ranked *self     = s->self;
  *self            = all_groups;
  self->inner      = inner;
  self->relay      = relay;
  self->owner      = def->owner;
  self->most_found = YOKE_MAX_FOUND + def->n_events + 1;
  s->ops           = &self->ops;
  yoke_relay_call call;
  ranked_facts    facts;
  memset(&facts, 0, sizeof facts);
  status = yoke_relay_begin(relay, def->owner, &call);
  if (call.is_own) facts = facts_of(inner);
  yoke_carry(&call, sizeof facts, &facts);
  if (status == YOKE_OK && (call.is_own || call.in->failure == NULL)) {
    take_facts(s, &facts);
    yoke_port *ports = call.is_own ? NULL : yoke_arena_take(&s->arena, (size_t)s->n_ports + 1, sizeof *ports);
    s->ports         = ports;
    if (call.is_own)
      write_ports(call.out, inner);
    else
      read_ports(call.in, s, ports);
  }
  status = yoke_relay_end(&call, status);
  lay_out(s);
  if (status == YOKE_OK) status = yoke_arena_check(&s->arena, ctx, "subsystem '%s'", def->name);
  if (status != YOKE_OK) yoke_subsystem_destroy(out);
  return status;
}
