/* Events of a native subsystem: every micro step is searched for zero crossings. */
#include "native/native_internal.h"

#include "base/jump.h"
#include "integrate/event_search.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* A function that has not been larger than this share of its largest value has hardly left zero, and comes back soon before this share of the longest
 * time in between (a motion that dies down keeps its period); so often in a row is too often. */
static const double SHORT_PAUSE = 1e-3, MAX_CHATTER = 8;

/* `u`: inputs over the last micro step. */
static yoke_event_search search_of(const native *n, void *scratch, const void *state, const yoke_signal *u) {
  return (yoke_event_search){.n          = n->equations.n_events,
                             .u          = n->events_see_inputs ? u : NULL,
                             .work       = scratch,
                             .u_now      = native_doubles(scratch, n->at->left),
                             .direction  = n->direction,
                             .is_brought = n->is_brought,
                             .old        = native_doubles(state, n->at->old),
                             .dead       = native_doubles(state, n->at->dead),
                             .most       = native_doubles(state, n->at->most),
                             .since      = native_doubles(state, n->at->since),
                             .now        = native_doubles(scratch, n->at->now),
                             .before     = native_doubles(scratch, n->at->before),
                             .time       = native_doubles(scratch, n->at->time),
                             .q          = native_doubles(scratch, n->at->look_q),
                             .v          = native_doubles(scratch, n->at->look_v)};
}

/* Signals of degree 0 are constant over a macro step, with the value of its end where they are corrected, and jump where it begins; so do others by what the
 * step before has left open. What they show does not: functions of events see signals that go from what was seen last to what they are at the end. What
 * is held from outside jumps where it is set. `bend` [nu] of the state: the rate by which they do so beside their own. */
static void bridge_signals(const native *n, void *scratch, void *state, const yoke_signal *u) {
  const double *seen = native_doubles(state, n->at->u), *size = native_doubles(state, n->at->size);
  double       *bend = native_doubles(state, n->at->bend), *now = native_doubles(scratch, n->at->left);
  const double  H = u->t[u->n_pieces] - u->t[0];
  yoke_signal_value(u, u->t[0], YOKE_SIDE_RIGHT, 0, now);
  for (int i = 0; i < n->equations.nu; ++i) {
    const bool is_bent = n->input_is_shown[i] && H > 0.0 && isfinite(H) && yoke_is_jump(seen[i], now[i], size[i]);
    bend[i]            = is_bent ? (now[i] - seen[i]) / H : 0.0;
  }
}

/* Inputs about the state's time as it has seen them: u + (time - t) u'. */
typedef struct seen_inputs {
  double      t[2];
  yoke_signal u;
} seen_inputs;

static const yoke_signal *see_inputs(const native *n, void *scratch, const void *state, seen_inputs *seen) {
  const double  t = ((const yoke_integrator_state *)state)->t;
  const double *u = native_doubles(state, n->at->u), *rate = native_doubles(state, n->at->rate),
               *bend = native_doubles(state, n->at->bend);
  double *c          = native_doubles(scratch, n->at->seen);
  for (int i = 0; n->events_see_inputs && i < n->equations.nu; ++i) {
    c[2 * i]     = u[i];
    c[2 * i + 1] = rate[i] + bend[i];
  }
  seen->t[0] = t;
  seen->t[1] = (double)INFINITY;
  seen->u    = (yoke_signal){.n = n->equations.nu, .n_pieces = 1, .degree = 1, .t = seen->t, .c = c};
  return &seen->u;
}

static native_found *found_of(const native *n, const void *state) {
  return (native_found *)(void *)((char *)(uintptr_t)state + n->at->found);
}

/* Crossings of a part of the last micro step: all of them or, when they might not fit, none. There is room for the first part. */
static void note_part(const yoke_event_search *search, const yoke_event_part *part, native_found *found) {
  if (found->n > YOKE_MAX_FOUND) found->until = fmin(found->until, part->from);
  for (int k = 0; isinf(found->until) && k < search->n; ++k) {
    if (search->time[k] <= part->to) found->list[found->n++] = (yoke_found_event){k, search->time[k]};
  }
}

/* Crossings of the last micro step, part by part. */
static void note_found(const native *n, const yoke_event_search *search, const yoke_integrator_state *state,
                       native_found *found) {
  yoke_event_part part = yoke_event_first_part(search, n->integrator, state);
  while (yoke_event_next_part(state, found->is_fresh, &part)) {
    if (yoke_event_search_part(search, n->integrator, state, &part)) note_part(search, &part, found);
    yoke_event_search_move(search);
  }
  found->is_fresh = false;
}

void native_begin_events(const native *n, void *scratch, void *state) {
  seen_inputs seen;
  if (n->equations.n_events == 0) return;
  const yoke_event_search search = search_of(n, scratch, state, see_inputs(n, scratch, state, &seen));
  yoke_event_search_begin(&search, n->integrator, state);
  found_of(n, state)->is_fresh = true;
}

void native_hold_events(const native *n, void *scratch, void *state) {
  if (n->equations.n_events == 0) return;
  const yoke_event_search search = search_of(n, scratch, state, NULL);
  const native_point      own    = native_own_point(n, state);
  n->equations.ops->events(n->equations.self, scratch, own.t, own.q, own.v, native_doubles(state, n->at->u),
                           search.now);
  for (int k = 0; k < search.n; ++k) {
    if (fabs(search.old[k]) <= DBL_MIN) search.dead[k] = fmax(search.dead[k], 2.0 * fabs(search.now[k]));
  }
}

void native_forget_found(const native *n, void *state) {
  if (n->equations.n_events == 0) return;
  found_of(n, state)->n     = 0;
  found_of(n, state)->until = (double)INFINITY;
}

/* The functions at t, from the side of what comes or of what was. */
static void functions(const native *n, const yoke_event_search *search, double t, yoke_side side, const double *q,
                      const double *v, double *out) {
  yoke_event_search_inputs(search, t, side);
  n->equations.ops->events(n->equations.self, search->work, t, q, v, search->u != NULL ? search->u_now : NULL, out);
}

/* `now` := the functions at (t, q, v), which the search holds, `delta` later by the velocities alone, which become v_later; `before`: at (t, q,
 * v). With velocities that are 0 positions stay, whatever pulls. */
static void move_on(const native *n, void *scratch, const yoke_event_search *search, double t, double delta,
                    const double *v_later) {
  const yoke_equations *e  = &n->equations;
  double *const         dv = native_doubles(scratch, n->at->a2);
  functions(n, search, t, YOKE_SIDE_RIGHT, search->q, search->v, search->before);
  for (int i = 0; i < e->nv; ++i) dv[i] = delta * search->v[i];
  yoke_multibody_move(n->mb, search->q, dv);
  functions(n, search, t + delta, YOKE_SIDE_LEFT, search->q, v_later, search->now);
}

static const double SOON = 1e-4; /* of a step */

/* The last micro step was the first behind a start or an event: which way do functions go that are 0 where it begins? */
static void note_turns(const native *n, void *scratch, const yoke_event_search *search,
                       const yoke_integrator_state *state) {
  const double  delta   = SOON * (state->t - state->t_prev);
  double *const v_later = native_doubles(scratch, n->at->a);
  yoke_integrator_interpolate(n->integrator, state, state->t_prev + delta, search->q, v_later);
  yoke_integrator_interpolate(n->integrator, state, state->t_prev, search->q, search->v);
  move_on(n, scratch, search, state->t_prev, delta, v_later);
  yoke_event_search_turn(search, n->integrator, state, SOON);
}

void native_note_found(const native *n, void *scratch, void *state, const yoke_signal *u) {
  if (n->equations.n_events == 0) return;
  yoke_event_search search = search_of(n, scratch, state, u);
  if (n->has_signals) {
    bridge_signals(n, scratch, state, u);
    search.bend   = native_doubles(state, n->at->bend);
    search.t_bent = u->t[u->n_pieces];
  }
  if (found_of(n, state)->is_fresh) note_turns(n, scratch, &search, state);
  note_found(n, &search, state, found_of(n, state));
}

bool native_found_is_sound(const native *n, const void *found) {
  native_found read;
  if (n->equations.n_events == 0) return true;
  memcpy(&read, found, sizeof read);
  return read.n >= 0 && read.n <= YOKE_MAX_FOUND + n->equations.n_events && yoke_is_bool(&read.is_fresh);
}

static yoke_found_events found_events(const yoke_subsystem *subsystem, const void *state) {
  const native *n = subsystem->self;
  if (n->equations.n_events == 0) return (yoke_found_events){.until = (double)INFINITY};
  const native_found *found = found_of(n, state);
  return (yoke_found_events){.n = found->n, .list = found->list, .until = found->until};
}

/* Size of the rounding errors of an event's function at the state: what changes of all coordinates in their last digits do to it. */
static double rounding(const native *n, const yoke_event_search *search, const void *state, int event) {
  const yoke_equations *e     = &n->equations;
  const native_point    own   = native_own_point(n, state);
  const double          small = 1e-7, digits = 8.0 * DBL_EPSILON;
  double                most = 0.0;
  functions(n, search, own.t, YOKE_SIDE_RIGHT, own.q, own.v, search->before);
  for (int sign = -1; sign <= 1; sign += 2) { /* of every other change */
    const double change[2] = {1.0 + small, 1.0 + sign * small};
    for (int i = 0; i < e->nq; ++i) search->q[i] = own.q[i] * change[i % 2];
    for (int i = 0; i < e->nv; ++i) search->v[i] = own.v[i] * change[i % 2];
    functions(n, search, own.t * change[0], YOKE_SIDE_RIGHT, search->q, search->v, search->now);
    most = fmax(most, fabs(search->now[event] - search->before[event]));
  }
  return digits * most / small;
}

static bool is_zero(const native *n, const yoke_event_search *search, const void *state, int event) {
  const double noise = rounding(n, search, state, event);
  return fabs(search->before[event]) <= noise;
}

/* Does an event's function that is 0 but for rounding errors go on in its direction? */
static bool is_crossing(const native *n, void *scratch, const yoke_event_search *search, const void *state, int event) {
  const yoke_integrator_state *head    = state;
  const native_point           own     = native_own_point(n, state);
  const double                 delta   = SOON * fmax(head->h, head->t - head->t_prev);
  const double *const          a       = yoke_integrator_a(n->integrator, head);
  double *const                v_later = native_doubles(scratch, n->at->a);
  memcpy(search->q, own.q, (size_t)n->equations.nq * sizeof *own.q);
  memcpy(search->v, own.v, (size_t)n->equations.nv * sizeof *own.v);
  for (int i = 0; i < n->equations.nv; ++i) v_later[i] = own.v[i] + delta * a[i];
  move_on(n, scratch, search, own.t, delta, v_later);
  return (search->now[event] - search->before[event]) * search->direction[event] >= 0.0;
}

static double event_ahead(const yoke_subsystem *subsystem, void *scratch, const void *state, int event) {
  const native           *n = subsystem->self;
  seen_inputs             seen;
  const yoke_event_search search = search_of(n, scratch, state, see_inputs(n, scratch, state, &seen));
  const double            t      = ((const yoke_integrator_state *)state)->t;
  if (n->is_brought[event] || !is_zero(n, &search, state, event)) {
    const double at = yoke_event_search_secant(&search, n->integrator, state, event);
    return at < t && n->is_brought[event] ? (double)INFINITY : at; /* a signal may jump there */
  }
  return is_crossing(n, scratch, &search, state, event) ? t : -(double)INFINITY;
}

static void event_done(const yoke_subsystem *subsystem, void *scratch, void *state, int event) {
  const native           *n = subsystem->self;
  seen_inputs             seen;
  const yoke_event_search search = search_of(n, scratch, state, see_inputs(n, scratch, state, &seen));
  yoke_event_search_done(&search, n->integrator, state, event);
  search.dead[event]           = fmax(search.dead[event], rounding(n, &search, state, event));
  found_of(n, state)->is_fresh = true;
}

/* Signals become u, without a jump: they move by no more than couplings left open. Functions that were at 0 stay there. */
static void shift_signals(const native *n, void *scratch, void *state, const yoke_signal *u) {
  native_remember_inputs(n, state, u, ((const yoke_integrator_state *)state)->t, YOKE_SIDE_RIGHT);
  native_hold_events(n, scratch, state);
}

static const double left_open = 1e-3; /* of a signal's size, at most */

static bool signals_jump(const native *n, void *scratch, const void *state, const yoke_signal *u) {
  const double *seen = native_doubles(state, n->at->u), *size = native_doubles(state, n->at->size);
  double       *now   = native_doubles(scratch, n->at->left);
  bool          jumps = false;
  yoke_signal_value(u, ((const yoke_integrator_state *)state)->t, YOKE_SIDE_RIGHT, 0, now);
  for (int i = 0; i < n->equations.nu; ++i)
    jumps = jumps || (n->input_kind[i] == YOKE_INPUT_SIGNAL && fabs(now[i] - seen[i]) > left_open * size[i]);
  return jumps;
}

static void begin(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u) {
  const native *n     = subsystem->self;
  const bool    jumps = n->has_signals && signals_jump(n, scratch, state, u);
  native_begin_events(n, scratch, state);
  if (n->has_signals && !jumps) shift_signals(n, scratch, state, u);
  if (jumps) native_remember_inputs(n, state, u, ((const yoke_integrator_state *)state)->t, YOKE_SIDE_RIGHT);
  if (n->has_signals) native_begin_events(n, scratch, state);
}

/* The state becomes (q, v). */
static yoke_status take_state(const native *n, void *scratch, void *state, double *q, const double *v,
                              const yoke_signal *u, yoke_context *ctx) {
  yoke_integrator_state *const head = state;
  native_free_jumps(n, head, q);
  YOKE_TRY(yoke_integrator_reset(n->integrator, scratch, head, q, v, u, ctx));
  YOKE_TRY(native_begin_jumps(n, scratch, head, u, ctx));
  native_remember_inputs(n, state, u, head->t, YOKE_SIDE_RIGHT);
  native_begin_events(n, scratch, state);
  return YOKE_OK;
}

/* q and v := the state's with the event's values, all read before any is written. */
static yoke_status set_values(const native *n, void *scratch, const void *state, const yoke_event *event,
                              const yoke_signal *u, double *q, double *v, yoke_context *ctx) {
  const native_point own = native_own_point(n, state);
  double *variables = native_doubles(scratch, n->at->variables), *values = native_doubles(scratch, n->at->set);
  double *now = native_doubles(scratch, n->at->left);
  memcpy(q, own.q, (size_t)n->equations.nq * sizeof *q);
  memcpy(v, own.v, (size_t)n->equations.nv * sizeof *v);
  if (n->equations.nu > 0) yoke_signal_value(u, own.t, YOKE_SIDE_LEFT, 0, now);
  yoke_multibody_variables(n->mb, scratch, own.t, own.q, own.v, now, variables);
  for (int k = 0; k < event->n_set; ++k) {
    values[k] = yoke_expression_evaluate(event->value[k], variables, NULL);
    if (!isfinite(values[k]))
      return yoke_fail(ctx, YOKE_E_UNSTABLE, "event '%s' sets a value that is not finite", event->name);
  }
  for (int k = 0; k < event->n_set; ++k) {
    bool      is_velocity;
    const int at              = yoke_multibody_variable_at(n->mb, event->variable[k], &is_velocity);
    (is_velocity ? v : q)[at] = values[k];
  }
  return YOKE_OK;
}

/* The energy that an event brings in or takes away is counted as work from outside, so that the balance stays. */
static void account_for_jump(const native *n, void *scratch, void *state, double *q, const double *v) {
  const yoke_equations *e   = &n->equations;
  const native_point    own = native_own_point(n, state);
  yoke_energy           before, after;
  if (!n->tells_work) return;
  native_close_work(n, scratch, state);
  e->ops->energy(e->self, scratch, own.t, own.q, own.v, &before);
  e->ops->energy(e->self, scratch, own.t, q, v, &after);
  native_bring_in(n, state, q, after.kinetic + after.potential - before.kinetic - before.potential);
}

static native_pause *pauses_of(const void *state, size_t at) {
  return (native_pause *)(void *)native_doubles(state, at);
}

void native_begin_pauses(const native *n, void *state, double t) {
  const int n_jumps = n->holds_jumps ? yoke_multibody_n_jumps(n->mb) : 0;
  for (int k = 0; k < n->equations.n_events; ++k) pauses_of(state, n->at->pause)[k].last = t;
  for (int k = 0; k < n_jumps; ++k) pauses_of(state, n->at->jump_pause)[k].last = t;
}

bool native_chatters(double t, double small, double *since, native_pause *pause) {
  const double between = t - pause->last;
  const bool   is_rest = *since <= small && between <= SHORT_PAUSE * pause->longest;
  pause->chatter       = is_rest ? pause->chatter + 1.0 : 0.0;
  pause->longest       = fmax(pause->longest, between);
  pause->last          = t;
  *since               = 0.0;
  return pause->chatter >= MAX_CHATTER;
}

/* Between one time and the next an event's function hardly left zero, again and again: what it sets does not get it away from there. */
static yoke_status watch_chatter(const native *n, const yoke_event_search *search, void *state, int k, double t,
                                 yoke_context *ctx) {
  const double small = NATIVE_CHATTER * search->most[k];
  if (!native_chatters(t, small, &search->since[k], pauses_of(state, n->at->pause) + k)) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL,
                   "event '%s' happens again and again at t = %.9g s: what it sets does not lead away from there (a "
                   "bounce that has come to rest?); stop the run there (an event with action: stop), or replace the "
                   "event by a force (a load of kind contact, or a law)",
                   n->model->events[k].name, t);
}

static yoke_status act(const yoke_subsystem *subsystem, void *scratch, void *state, int number, const yoke_signal *u,
                       yoke_context *ctx) {
  const native         *n     = subsystem->self;
  const yoke_equations *e     = &n->equations;
  const yoke_event     *event = &n->model->events[number];
  const double          t     = ((const yoke_integrator_state *)state)->t;
  double               *q = native_doubles(scratch, n->at->look_q), *v = native_doubles(scratch, n->at->look_v);
  if (event->action != YOKE_EVENT_SET) return YOKE_OK;
  if (n->has_signals) shift_signals(n, scratch, state, u);
  const yoke_event_search search = search_of(n, scratch, state, u);
  YOKE_TRY(watch_chatter(n, &search, state, number, t, ctx));
  YOKE_TRY(set_values(n, scratch, state, event, u, q, v, ctx));
  yoke_status status = YOKE_OK;
  if (e->ng + e->n_norms > 0) status = e->ops->project_position(e->self, scratch, t, q);
  if (status == YOKE_OK && e->ng + e->n_norms > 0) status = e->ops->project_velocity(e->self, scratch, t, q, v);
  if (status != YOKE_OK)
    return yoke_fail(ctx, status, "event '%s' at t = %.9g s: its values do not fit the joints of subsystem '%s'",
                     event->name, t, subsystem->name);
  account_for_jump(n, scratch, state, q, v);
  return take_state(n, scratch, state, q, v, u, ctx);
}

const yoke_event_ops native_events = {
    .found = found_events, .ahead = event_ahead, .done = event_done, .begin = begin, .act = act};
