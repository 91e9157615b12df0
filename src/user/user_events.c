/* Events of a user subsystem. Steps do not end at them: they are noted on the way, and the engine repeats the step to where one acts. */
#include "user/user_internal.h"

#include <math.h>
#include <string.h>

static yoke_found_event *found_of(const user_self *self, const void *state) {
  return (yoke_found_event *)(void *)user_doubles(state, self->at_found);
}

void user_note_found(const user_self *self, void *state, int event, double t) {
  user_front *front = state;
  if (front->n_found < YOKE_MAX_FOUND)
    found_of(self, state)[front->n_found++] = (yoke_found_event){.event = event, .t = t};
  else if (t < front->until)
    front->until = found_of(self, state)[YOKE_MAX_FOUND - 1].t;
}

static yoke_found_events found(const yoke_subsystem *subsystem, const void *state) {
  const user_front *front = state;
  return (yoke_found_events){.n = front->n_found, .list = found_of(subsystem->self, state), .until = front->until};
}

enum { SHARE = 500 /* of the last step is looked at ahead: beyond it nobody asks */ };

/* A copy of the state goes on a little, under the inputs of the end. */
static double look_ahead(const yoke_subsystem *subsystem, void *copy, const void *state, int event) {
  const user_self  *self     = subsystem->self;
  const user_front *front    = state;
  const double      end      = front->t + (front->t - front->t_begin) / (double)SHARE;
  const double      times[2] = {front->t, end};
  const yoke_signal u        = {
             .n = subsystem->nu, .n_pieces = 1, .degree = 0, .t = times, .c = user_doubles(state, self->at_inputs)};
  yoke_user_step step     = {.size = sizeof step, .event = -1};
  int            n_pieces = 0;
  for (double t = front->t; t < end && n_pieces < YOKE_MAX_FOUND; t = step.t_reached, ++n_pieces) {
    step = (yoke_user_step){.size = sizeof step, .t = t, .t_end = end, .t_reached = end, .event = -1};
    if (self->type->step(self->instance.self, user_inner(self, copy), &u, &step, NULL) != YOKE_OK) break;
    if (step.event == event) return step.t_reached;
    if (!(step.t_reached > t)) break;
  }
  return (double)INFINITY;
}

/* Asked only where all can go back. */
static double ahead(const yoke_subsystem *subsystem, void *scratch, const void *state, int event) {
  const user_self *self = subsystem->self;
  void            *copy = (char *)scratch + self->at_spare;
  double           t    = (double)INFINITY;
  memset(copy, 0, subsystem->state_size);
  if (self->repeat.copy(subsystem, copy, state) == YOKE_OK) t = look_ahead(subsystem, copy, state, event);
  subsystem->ops->release(subsystem, copy);
  return t;
}

/* The type knows by itself that it has told an event. */
static void done(const yoke_subsystem *subsystem, void *scratch, void *state, int event) {
  (void)subsystem, (void)scratch, (void)state, (void)event;
}

/* Nothing but `act` makes its states jump. */
static void begin(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u) {
  (void)subsystem, (void)scratch, (void)state, (void)u;
}

static yoke_status act(const yoke_subsystem *subsystem, void *scratch, void *state, int event, const yoke_signal *u,
                       yoke_context *ctx) {
  const user_self *self  = subsystem->self;
  user_front      *front = state;
  double          *now   = user_doubles(scratch, self->at_u);
  if (self->type->events->act == NULL) return YOKE_OK;
  front->has_ends = false;
  yoke_signal_value(u, front->t, YOKE_SIDE_RIGHT, 0, now);
  const yoke_status status =
      user_status(self->type->events->act(self->instance.self, user_inner(self, state), event, front->t, now, ctx));
  if (status == YOKE_OK) return YOKE_OK;
  return yoke_fail(ctx, status, "subsystem '%s': type '%s': event '%s' at t = %.9g s failed: %s", subsystem->name,
                   self->type->name, self->instance.events[event], front->t, yoke_status_text(status));
}

const yoke_event_ops user_events = {.found = found, .ahead = ahead, .done = done, .begin = begin, .act = act};
