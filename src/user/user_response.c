/* Derivatives of a user subsystem that its type tells itself. */
#include "user/user_internal.h"

#include <math.h>
#include <string.h>

/* Rows of the type's outputs as rows of the subsystem's. YOKE_NON_FINITE where one is not finite. */
static yoke_status spread_rows(const yoke_subsystem *subsystem, int n, const double *own, double *rows) {
  const user_self *self = subsystem->self;
  for (int i = 0; i < n; ++i) user_spread(self, own + (ptrdiff_t)i * self->ny, rows + (ptrdiff_t)i * subsystem->ny);
  for (ptrdiff_t k = 0; k < (ptrdiff_t)n * subsystem->ny; ++k) {
    if (!isfinite(rows[k])) return YOKE_NON_FINITE;
  }
  return YOKE_OK;
}

static yoke_status instant(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                           yoke_side side, double *dy_du) {
  const user_self  *self  = subsystem->self;
  const user_front *front = state;
  double           *now = user_doubles(scratch, self->at_u), *own = user_doubles(scratch, self->at_dy);
  memset(own, 0, (size_t)subsystem->nu * (size_t)self->ny * sizeof *own);
  yoke_signal_value(u, front->t, side, 0, now);
  YOKE_TRY(user_status(
      self->type->instant->response(self->instance.self, user_inner_seen(self, state), front->t, now, own)));
  return spread_rows(subsystem, subsystem->nu, own, dy_du);
}

/* ---- over a step ---- */

/* The room holds the block of the type before the step, then dy of the type. */
static size_t block_size(const user_self *self) {
  return (self->instance.state_size + 63) / 64 * 64;
}

static size_t room(const yoke_subsystem *subsystem, int n_directions) {
  const user_self *self = subsystem->self;
  return n_directions > 0 ? block_size(self) + (size_t)n_directions * (size_t)self->ny * sizeof(double) + 1 : 0;
}

static void give_back(const user_self *self, void *from) {
  if (self->type->release != NULL) self->type->release(self->instance.self, from);
}

yoke_status user_response_begin(const user_self *self, const void *state, yoke_response *response) {
  const void *now = user_inner_seen(self, state);
  if (self->type->repeat->copy == NULL) {
    memcpy(response->room, now, self->instance.state_size);
    return YOKE_OK;
  }
  memset(response->room, 0, self->instance.state_size);
  const yoke_status status = user_status(self->type->repeat->copy(self->instance.self, response->room, now));
  if (status != YOKE_OK) give_back(self, response->room);
  return status;
}

yoke_status user_response_end(const yoke_subsystem *subsystem, const void *state, const yoke_signal *u,
                              const yoke_user_step *step, yoke_response *response) {
  const user_self           *self       = subsystem->self;
  const yoke_directions     *d          = &response->directions;
  const yoke_user_directions directions = {.size      = sizeof directions,
                                           .n         = d->n,
                                           .n_entries = d->n_entries,
                                           .direction = d->direction,
                                           .input     = d->input,
                                           .du        = d->du};
  double                    *own        = user_doubles(response->room, block_size(self));
  yoke_status                status     = YOKE_E_UNSUPPORTED;
  if (step != NULL)
    status = self->type->response->response(self->instance.self, response->room, user_inner_seen(self, state), u, step,
                                            &directions, own);
  give_back(self, response->room);
  if (status == YOKE_E_UNSUPPORTED) return YOKE_OK;
  status = user_status(status);
  if (status == YOKE_OK) status = spread_rows(subsystem, d->n, own, response->dy);
  response->is_made = status == YOKE_OK;
  return status;
}

const yoke_instant_ops  user_instant  = {.response = instant};
const yoke_response_ops user_response = {.room = room};
