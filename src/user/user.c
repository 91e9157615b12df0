/* User subsystem: creation, start and step. */
#include "user/user_internal.h"

#include "base/cancel.h"
#include "base/memory.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

yoke_status user_status(yoke_status given) {
  switch (given) {
  case YOKE_OK:
  case YOKE_NOT_CONVERGED:
  case YOKE_NON_FINITE:
  case YOKE_SINGULAR:
  case YOKE_E_MEMORY: return given;
  default: return given > 0 ? YOKE_NOT_CONVERGED : YOKE_E_SUBSYSTEM;
  }
}

void user_spread(const user_self *self, const double *own, double *y) {
  const yoke_user_instance *x = &self->instance;
  for (int i = 0; i < x->n_ports; ++i) {
    const yoke_port_shape *shape = self->shape[i];
    const int              n     = yoke_shape_at_integral(shape);
    memcpy(y, own, (size_t)n * sizeof *y);
    memset(y + n, 0, (size_t)shape->n_integrals * sizeof *y);
    own += n;
    y += yoke_shape_n_y(shape);
  }
  memcpy(y, own, (size_t)x->n_outputs * sizeof *y);
}

/* ---- calls ---- */

static yoke_status user_start(const yoke_subsystem *subsystem, void *scratch, void *state, double t,
                              const yoke_signal *u, yoke_context *ctx) {
  const user_self *self = subsystem->self;
  double          *now  = user_doubles(scratch, self->at_u);
  memset(state, 0, self->at_inner);
  *(user_front *)state =
      (user_front){.t = t, .t_begin = t, .t_before = t, .is_in_use = true, .until = (double)INFINITY};
  yoke_signal_value(u, t, YOKE_SIDE_RIGHT, 0, now);
  const yoke_status status = user_status(self->type->start(self->instance.self, user_inner(self, state), t, now, ctx));
  if (status == YOKE_OK) return YOKE_OK;
  return yoke_fail(ctx, status, "subsystem '%s' (type '%s') cannot start at t = %.9g s: %s", subsystem->name,
                   self->type->name, t, yoke_status_text(status));
}

/* What a step told can be. */
static yoke_status check_told(const yoke_subsystem *subsystem, const yoke_user_step *told, double t, double t_end,
                              yoke_context *ctx) {
  const user_self *self     = subsystem->self;
  const int        n_events = self->instance.n_events;
  if (!(told->t_reached > t && told->t_reached <= t_end))
    return yoke_fail(
        ctx, YOKE_E_SUBSYSTEM,
        "subsystem '%s': type '%s': its step from t = %.17g s to %.17g s says that it ended at t = %.17g s",
        subsystem->name, self->type->name, t, t_end, told->t_reached);
  if (told->event < -1 || told->event >= n_events)
    return yoke_fail(ctx, YOKE_E_SUBSYSTEM,
                     "subsystem '%s': type '%s': its step from t = %.9g s tells of event %d, it has %d",
                     subsystem->name, self->type->name, t, told->event, n_events);
  if (told->t_reached < t_end && told->event < 0)
    return yoke_fail(
        ctx, YOKE_E_SUBSYSTEM,
        "subsystem '%s': type '%s': its step from t = %.9g s to %.9g s ended at t = %.9g s and names no event",
        subsystem->name, self->type->name, t, t_end, told->t_reached);
  return YOKE_OK;
}

/* One piece of a step: to its end or to an event. */
static yoke_status step_piece(const yoke_subsystem *subsystem, void *state, const yoke_signal *u, yoke_user_step *step,
                              yoke_context *ctx) {
  const user_self *self = subsystem->self;
  const double     t = step->t, t_end = step->t_end;
  user_front      *front  = state;
  const size_t     n_said = ctx != NULL ? yoke_context_n_errors(ctx) : 0;
  yoke_status      status = user_status(self->type->step(self->instance.self, user_inner(self, state), u, step, ctx));
  if (status != YOKE_OK) {
    if (ctx != NULL && yoke_context_n_errors(ctx) > n_said) return status;
    return yoke_fail(ctx, status, "subsystem '%s': type '%s': the step of %.6g s from t = %.9g s failed: %s",
                     subsystem->name, self->type->name, t_end - t, t, yoke_status_text(status));
  }
  YOKE_TRY(check_told(subsystem, step, t, t_end, ctx));
  front->t_before = t;
  front->t        = step->t_reached;
  if (step->event >= 0) user_note_found(self, state, step->event, front->t);
  return YOKE_OK;
}

enum { MOST_PIECES = 1000000 };

/* May a step that was cut into n_pieces so far be cut once more? A type whose events follow each other at once would never come to the end. */
static yoke_status check_pieces(const yoke_subsystem *subsystem, const yoke_user_step *told, int64_t n_pieces,
                                yoke_context *ctx) {
  const user_self *self = subsystem->self;
  if (yoke_context_is_cancelled(ctx)) return YOKE_E_INTERRUPTED;
  if (n_pieces < MOST_PIECES) return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_SUBSYSTEM,
      "subsystem '%s': type '%s': its step to t = %.9g s has more than %d events, the last at t = %.17g s; "
      "its events must not follow each other at once",
      subsystem->name, self->type->name, told->t_end, (int)MOST_PIECES, told->t_reached);
}

/* Events cut the step into pieces; whoever acts on them repeats it. */
static yoke_status advance(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                           yoke_step_request *request, yoke_user_step *told, yoke_context *ctx) {
  const bool  looks    = request->n_times > 0 || request->t_look < request->t_end;
  user_front *front    = state;
  bool        is_new   = request->begins_anew;
  int64_t     n_pieces = 0;
  front->has_ends      = false;
  front->n_found       = 0;
  front->until         = (double)INFINITY;
  front->t_begin       = request->t;
  if (looks) YOKE_TRY(user_keep_end(subsystem, scratch, state, u, YOKE_SIDE_RIGHT));
  do {
    *told = (yoke_user_step){.size      = sizeof *told,
                             .t         = front->t,
                             .t_end     = request->t_end,
                             .is_new    = is_new,
                             .t_reached = request->t_end,
                             .event     = -1};
    YOKE_TRY(step_piece(subsystem, state, u, told, ctx));
    if (looks) YOKE_TRY(user_keep_end(subsystem, scratch, state, u, YOKE_SIDE_LEFT));
    front->has_ends = looks;
    YOKE_TRY(user_observe_passed(subsystem, scratch, state, u, request));
    is_new = false;
    if (front->t < request->t_end) YOKE_TRY(check_pieces(subsystem, told, ++n_pieces, ctx));
  } while (front->t < request->t_end);
  return YOKE_OK;
}

static yoke_status user_step(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                             yoke_step_request *request, yoke_context *ctx) {
  const user_self *self     = subsystem->self;
  user_front      *front    = state;
  yoke_response   *response = self->type->response != NULL ? request->response : NULL;
  yoke_user_step   told;
  if (front->t != request->t)
    return yoke_fail(ctx, YOKE_E_USAGE, "subsystem '%s': a step starts at t = %.17g s but its state is at %.17g s",
                     subsystem->name, request->t, front->t);
  if (response != NULL) YOKE_TRY(user_response_begin(self, state, response));
  yoke_status status = advance(subsystem, scratch, state, u, request, &told, ctx);
  if (response != NULL) {
    const bool        has_one = status == YOKE_OK && front->n_found == 0;
    const yoke_status made    = user_response_end(subsystem, state, u, has_one ? &told : NULL, response);
    if (status == YOKE_OK) status = made;
  }
  if (status != YOKE_OK) return status;
  ++front->n_steps;
  if (self->instance.n_events > 0)
    yoke_signal_value(u, front->t, YOKE_SIDE_LEFT, 0, user_doubles(state, self->at_inputs));
  return YOKE_OK;
}

static yoke_status user_output(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                               yoke_side side, double *y) {
  double *own = user_doubles(scratch, ((const user_self *)subsystem->self)->at_y);
  YOKE_TRY(user_show(subsystem, scratch, state, u, side, own));
  user_spread(subsystem->self, own, y);
  return YOKE_OK;
}

static void user_accept(const yoke_subsystem *subsystem, void *state) {
  const user_self *self = subsystem->self;
  self->type->accept(self->instance.self, user_inner(self, state));
}

static void user_counters(const yoke_subsystem *subsystem, const void *state, yoke_counters *out) {
  const user_front *front = state;
  (void)subsystem;
  out->steps = front->n_steps;
  out->h     = front->t - front->t_begin;
}

static void user_release(const yoke_subsystem *subsystem, void *state) {
  const user_self *self  = subsystem->self;
  const user_front front = *(const user_front *)state;
  if (front.is_in_use && self->type->release != NULL) self->type->release(self->instance.self, user_inner(self, state));
  memset(state, 0, subsystem->state_size);
}

/* Blocks without pointers are copied as a whole. */
static yoke_status user_copy(const yoke_subsystem *subsystem, void *dst, const void *src) {
  const user_self *self = subsystem->self;
  if (self->type->repeat->copy == NULL) {
    memcpy(dst, src, subsystem->state_size);
    return YOKE_OK;
  }
  memcpy(dst, src, self->at_inner);
  return user_status(self->type->repeat->copy(self->instance.self, user_inner(self, dst), user_inner_seen(self, src)));
}

/* ---- creation ---- */

static void user_destroy(yoke_subsystem *subsystem) {
  user_self *self = subsystem->self;
  if (self->is_made && self->type->destroy != NULL) self->type->destroy(self->instance.self);
  yoke_user_release(&self->entry);
  yoke_subsystem_free(subsystem);
}

enum { MOST = 100000 /* of each list of an instance */ };

static yoke_status refuse(yoke_context *ctx, const yoke_subsystem *s, const char *what) {
  const user_self *self = s->self;
  return yoke_fail(ctx, YOKE_E_SUBSYSTEM, "subsystem '%s': type '%s' makes an instance with %s", s->name,
                   self->type->name, what);
}

static yoke_status check_list(yoke_context *ctx, const yoke_subsystem *s, int n, const void *list, const char *what) {
  char text[80];
  if (n >= 0 && n <= MOST && (n == 0 || list != NULL)) return YOKE_OK;
  snprintf(text, sizeof text, "%d %s%s, expected 0 to %d", n, what, n > 0 && n <= MOST ? " and no list of them" : "",
           MOST);
  return refuse(ctx, s, text);
}

static yoke_status check_name(yoke_context *ctx, const yoke_subsystem *s, const char *name, const char *what, int i) {
  char text[80];
  if (name != NULL && name[0] != '\0') return YOKE_OK;
  snprintf(text, sizeof text, "no name for its %s %d", what, i + 1);
  return refuse(ctx, s, text);
}

static yoke_status check_names(yoke_context *ctx, const yoke_subsystem *s) {
  const yoke_user_instance *x = &((const user_self *)s->self)->instance;
  for (int i = 0; i < x->n_ports; ++i) YOKE_TRY(check_name(ctx, s, x->ports[i].name, "port", i));
  for (int i = 0; i < x->n_inputs; ++i) YOKE_TRY(check_name(ctx, s, x->inputs[i].name, "input", i));
  for (int i = 0; i < x->n_outputs; ++i) YOKE_TRY(check_name(ctx, s, x->outputs[i].name, "output", i));
  for (int i = 0; i < x->n_events; ++i) YOKE_TRY(check_name(ctx, s, x->events[i], "event", i));
  return YOKE_OK;
}

static yoke_status check_instance(yoke_context *ctx, const yoke_subsystem *s) {
  const user_self          *self = s->self;
  const yoke_user_instance *x    = &self->instance;
  YOKE_TRY(check_list(ctx, s, x->n_ports, x->ports, "ports"));
  YOKE_TRY(check_list(ctx, s, x->n_inputs, x->inputs, "inputs"));
  YOKE_TRY(check_list(ctx, s, x->n_outputs, x->outputs, "outputs"));
  YOKE_TRY(check_list(ctx, s, x->n_events, x->events, "events"));
  YOKE_TRY(check_names(ctx, s));
  if (x->n_events > 0 && self->type->events == NULL) return refuse(ctx, s, "events, and has no ability events");
  return x->state_size > SIZE_MAX / 4 ? refuse(ctx, s, "states that no memory can hold") : YOKE_OK;
}

static yoke_status find_shapes(yoke_context *ctx, yoke_subsystem *s) {
  user_self                *self = s->self;
  const yoke_user_instance *x    = &self->instance;
  self->shape                    = yoke_arena_take(&s->arena, (size_t)x->n_ports, sizeof *self->shape);
  YOKE_TRY(yoke_arena_check(&s->arena, ctx, "subsystem '%s'", s->name));
  for (int i = 0; i < x->n_ports; ++i) {
    const char *name = x->ports[i].shape;
    self->shape[i]   = name != NULL ? yoke_shape_find(name) : NULL;
    if (self->shape[i] != NULL && self->shape[i]->n_v > 0) continue;
    return yoke_fail(ctx, YOKE_E_SUBSYSTEM,
                     "subsystem '%s': type '%s' gives port '%s' the shape '%s', expected line, plane, point or frame",
                     s->name, self->type->name, x->ports[i].name, name != NULL ? name : "");
  }
  return YOKE_OK;
}

/* Ports, inputs, outputs: user.h */
static yoke_status set_ports(yoke_context *ctx, yoke_subsystem *s) {
  user_self                *self = s->self;
  const yoke_user_instance *x    = &self->instance;
  s->n_ports                     = x->n_ports + x->n_inputs + x->n_outputs;
  yoke_port *port                = yoke_arena_take(&s->arena, (size_t)s->n_ports, sizeof *port);
  s->ports                       = port;
  YOKE_TRY(yoke_arena_check(&s->arena, ctx, "subsystem '%s'", s->name));
  for (int i = 0; i < x->n_ports; ++i, ++port) {
    const yoke_port_shape *shape = self->shape[i];
    *port                        = (yoke_port){.name         = x->ports[i].name,
                                               .shape        = shape,
                                               .y_at         = s->ny,
                                               .n_y          = yoke_shape_n_y(shape),
                                               .takes        = YOKE_TAKES_WRENCH,
                                               .wrench_at    = s->nu,
                                               .no_integrals = true};
    s->nu += shape->n_v;
    s->ny += yoke_shape_n_y(shape);
    self->ny += yoke_shape_at_integral(shape);
  }
  for (int i = 0; i < x->n_inputs; ++i, ++port)
    *port = (yoke_port){.name      = x->inputs[i].name,
                        .shape     = &yoke_shape_signal,
                        .y_at      = s->ny,
                        .takes     = YOKE_TAKES_SIGNAL,
                        .wrench_at = s->nu++};
  for (int i = 0; i < x->n_outputs; ++i, ++port)
    *port = (yoke_port){
        .name = x->outputs[i].name, .shape = &yoke_shape_signal, .y_at = s->ny++, .n_y = 1, .wrench_at = -1};
  self->ny += x->n_outputs;
  return YOKE_OK;
}

enum { LINE = 64 /* bytes */ };

static size_t reserve(size_t *size, size_t n, size_t bytes) {
  const size_t at = *size;
  *size += (n * bytes + LINE - 1) / LINE * LINE;
  return at;
}

static void lay_out(user_self *self, yoke_subsystem *s) {
  const yoke_user_type *type  = self->type;
  const bool            finds = self->instance.n_events > 0;
  const size_t          ny = (size_t)self->ny, nu = (size_t)s->nu;
  (void)reserve(&s->state_size, 1, sizeof(user_front));
  self->at_ends     = reserve(&s->state_size, type->inside == NULL ? 2 * ny : 0, sizeof(double));
  self->at_energies = reserve(&s->state_size, type->energy != NULL ? 2 * YOKE_N_ENERGIES : 0, sizeof(double));
  self->at_inputs   = reserve(&s->state_size, finds ? nu : 0, sizeof(double));
  self->at_found    = reserve(&s->state_size, finds ? YOKE_MAX_FOUND : 0, sizeof(yoke_found_event));
  self->at_inner    = reserve(&s->state_size, self->instance.state_size, 1);
  self->at_u        = reserve(&s->scratch_size, nu, sizeof(double));
  self->at_y        = reserve(&s->scratch_size, ny, sizeof(double));
  self->at_dy       = reserve(&s->scratch_size, type->instant != NULL ? nu * ny : 0, sizeof(double));
  self->at_spare    = reserve(&s->scratch_size, finds && type->repeat != NULL ? s->state_size : 0, 1);
}

static bool is_bytes(const yoke_user_type *type) {
  return type->repeat != NULL && type->repeat->copy == NULL;
}

static void set_ops(user_self *self, yoke_subsystem *s) {
  const yoke_user_type *type = self->type;
  if (type->repeat != NULL)
    self->repeat = (yoke_repeat_ops){.copy = user_copy, .most_states = type->repeat->most_states};
  self->ops = (yoke_subsystem_ops){
      .kind     = "user",
      .destroy  = user_destroy,
      .start    = user_start,
      .step     = user_step,
      .output   = user_output,
      .accept   = type->accept != NULL ? user_accept : NULL,
      .counters = user_counters,
      .release  = user_release,
      .repeat   = type->repeat != NULL ? &self->repeat : NULL,
      .instant  = type->instant != NULL ? &user_instant : NULL,
      .response = type->response != NULL ? &user_response : NULL,
      .events   = self->instance.n_events > 0 ? &user_events : NULL,
      .observe  = &user_observe,
      .energy   = type->energy != NULL ? &user_energy : NULL,
      .pack     = type->pack != NULL || is_bytes(type) ? &user_packing : NULL,
  };
  s->ops = &self->ops;
}

/* What `create` of a type may give. */
static yoke_status create_status(yoke_status given) {
  return given == YOKE_E_MODEL || given == YOKE_E_IO || given == YOKE_E_MEMORY || given == YOKE_OK ? given
                                                                                                   : YOKE_E_SUBSYSTEM;
}

static yoke_status make_instance(yoke_context *ctx, const yoke_user_def *def, yoke_subsystem *s) {
  user_self *self          = s->self;
  self->instance.size      = sizeof self->instance;
  const yoke_status status = create_status(
      self->type->create(ctx, self->type->user, def->name, def->n_arguments, def->arguments, &self->instance));
  self->is_made = status == YOKE_OK;
  if (status == YOKE_OK) return check_instance(ctx, s);
  return yoke_fail(ctx, status, "subsystem '%s' cannot be made by type '%s': %s", s->name, self->type->name,
                   yoke_status_text(status));
}

yoke_status yoke_user_create(yoke_context *ctx, const yoke_user_def *def, yoke_subsystem **out) {
  YOKE_TRY(yoke_subsystem_new(ctx, def->name, sizeof(user_self), out));
  yoke_subsystem *s    = *out;
  user_self      *self = s->self;
  self->entry          = yoke_user_retain(def->entry);
  self->type           = &self->entry->type;
  set_ops(self, s);
  yoke_status status = make_instance(ctx, def, s);
  if (status == YOKE_OK) status = find_shapes(ctx, s);
  if (status == YOKE_OK) status = set_ports(ctx, s);
  if (status == YOKE_OK) {
    lay_out(self, s);
    set_ops(self, s);
    return YOKE_OK;
  }
  yoke_subsystem_destroy(out);
  return status;
}

const yoke_user_instance *yoke_user_instance_of(const yoke_subsystem *subsystem) {
  const user_self *self = yoke_subsystem_bare(subsystem)->self;
  return &self->instance;
}

bool yoke_user_acts(const yoke_subsystem *subsystem) {
  const user_self *self = yoke_subsystem_bare(subsystem)->self;
  return self->type->events != NULL && self->type->events->act != NULL;
}
