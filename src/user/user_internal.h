/* What the files of the user subsystem share.
 *
 * State of the engine: a front, numbers that are kept besides, then the block of the type at `at_inner`. Its outputs y are those of the type with
 * integrals of zero behind the accelerations of each port. */
#ifndef YOKE_USER_USER_INTERNAL_H
#define YOKE_USER_USER_INTERNAL_H

#include "user/registry.h"

/* At the start of the state. */
typedef struct user_front {
  double t; /* of the state */
  double t_begin,
      t_before; /* begin of the last step, and of its last piece, which ends at t (events cut a step into pieces) */
  int64_t n_steps;
  int32_t n_found;
  bool    is_in_use; /* the type has seen the block: it is released some time */
  bool    has_ends;  /* outputs at both ends of the last piece are kept */
  double  until;     /* events behind this time found no room */
} user_front;

typedef struct user_self {
  yoke_user_entry        *entry;
  const yoke_user_type   *type;    /* of the entry */
  bool                    is_made; /* the instance: it is destroyed some time */
  yoke_user_instance      instance;
  yoke_subsystem_ops      ops;
  yoke_repeat_ops         repeat;
  int                     ny;                                                  /* outputs of the type */
  const yoke_port_shape **shape;                                               /* [n_ports] mechanical */
  size_t                  at_ends, at_energies, at_inputs, at_found, at_inner; /* bytes into the state */
  size_t                  at_u, at_y, at_dy, at_spare;                         /* bytes into the scratch */
} user_self;

static inline double *user_doubles(const void *block, size_t at) {
  return (double *)(void *)((char *)(uintptr_t)block + at);
}
static inline void *user_inner(const user_self *self, void *state) {
  return (char *)state + self->at_inner;
}
static inline const void *user_inner_seen(const user_self *self, const void *state) {
  return (const char *)state + self->at_inner;
}

/* A code that a function of a type gave as one that it may give. */
yoke_status user_status(yoke_status given);

/* Outputs of the type as outputs of the subsystem: integrals of zero come in between. */
void user_spread(const user_self *self, const double *own, double *y);

/* ---- observation (user_observe.c) ---- */

/* Outputs of the type at the state's time, y [self->ny]. */
yoke_status user_show(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                      yoke_side side, double *y);
/* What interpolation needs of the state's time becomes the end of the last piece; what was there, its begin. */
yoke_status user_keep_end(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                          yoke_side side);
/* Times of the request that lie in the last piece. */
yoke_status user_observe_passed(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                                yoke_step_request *request);
extern const yoke_observe_ops user_observe;
extern const yoke_energy_ops  user_energy;

/* ---- events (user_events.c) ---- */

void                        user_note_found(const user_self *self, void *state, int event, double t);
extern const yoke_event_ops user_events;

/* ---- derivatives (user_response.c) ---- */

extern const yoke_instant_ops  user_instant;
extern const yoke_response_ops user_response;
/* The state before a step into the room of its response. */
yoke_status                    user_response_begin(const user_self *self, const void *state, yoke_response *response);
/* `step` as it was told, NULL: the step has none. Gives back what the room holds. */
yoke_status user_response_end(const yoke_subsystem *subsystem, const void *state, const yoke_signal *u,
                              const yoke_user_step *step, yoke_response *response);

/* ---- bytes (user_pack.c) ---- */

extern const yoke_pack_ops user_packing;

#endif
