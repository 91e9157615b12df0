/* Event search: zero crossings of event functions inside a micro step, on its dense output.
 *
 * Invariants:
 *   1. `old` holds the functions at the end of what was searched. A function that fired is 0 until it leaves the rounding errors
 *      around 0 (`dead`), so that a bounce is neither an event on its way up nor lost on its way down. Where it goes from there
 *      is known from its rate (`yoke_event_search_turn`): `old` is then next to nothing on that side, so that a function that
 *      leaves on the other side, because it has turned among the rounding errors, has crossed zero.
 *   2. A step is searched in parts, so that two crossings of one function in a step are seen: as many as its turns ask for. The
 *      first part behind a start or an event is searched in halves of halves. */
#ifndef YOKE_INTEGRATE_EVENT_SEARCH_H
#define YOKE_INTEGRATE_EVENT_SEARCH_H

#include "integrate/integrator.h"

typedef struct yoke_event_search {
  int                n;
  const int         *direction;   /* [n] +1 rising, -1 falling, 0 both */
  const bool        *is_brought;  /* [n] reads signals, whose rates behind a restart say nothing */
  double            *old, *dead;  /* [n] belong to a state */
  double            *most;        /* [n] the same: largest size so far */
  double            *since;       /* [n] the same: largest size since the event was dealt with */
  double            *now, *q, *v; /* scratch: [n], [nq], [nv] */
  double            *before;      /* scratch: [n] */
  double            *time;        /* [n] result */
  /* Inputs over the last micro step, or about the state's time; NULL: no function reads them. */
  const yoke_signal *u;
  double            *u_now; /* scratch: [nu] */
  const double      *bend;  /* [nu] rates: functions see u - bend (t_bent - t), which is u at t_bent; NULL: u itself */
  double             t_bent;
  void              *work; /* of the equations */
} yoke_event_search;

/* u_now := what functions see at t. */
void yoke_event_search_inputs(const yoke_event_search *search, double t, yoke_side side);

/* Does a function that goes from `before` to `after` have an event? */
bool yoke_event_crosses(int direction, double before, double after);

/* Values at the state's time become `old`. */
void yoke_event_search_begin(const yoke_event_search *search, const yoke_integrator *integrator,
                             const yoke_integrator_state *state);

/* Functions that are 0 where the last step begins: `now` holds what they become from `before` after a share of the step, by the velocities
 * alone. */
void yoke_event_search_turn(const yoke_event_search *search, const yoke_integrator *integrator,
                            const yoke_integrator_state *state, double share);

/* A step is searched in at most so many parts. */
enum { YOKE_EVENT_MOST_PARTS = 1024 };

/* Parts of the last step, from the first on; false: no more. */
typedef struct yoke_event_part {
  int    n; /* of equal parts */
  int    number;
  double from, to;
} yoke_event_part;
yoke_event_part yoke_event_first_part(const yoke_event_search *search, const yoke_integrator *integrator,
                                      const yoke_integrator_state *state);
bool            yoke_event_next_part(const yoke_integrator_state *state, bool is_fresh, yoke_event_part *part);

/* Crossings in a part: `time` of each, +infinity where there is none; false: nowhere. `old` stays. */
bool yoke_event_search_part(const yoke_event_search *search, const yoke_integrator *integrator,
                            const yoke_integrator_state *state, const yoke_event_part *part);
/* Done with the part that was searched last: `old` moves on to its end. */
void yoke_event_search_move(const yoke_event_search *search);

/* First time in (from, to] at which function k has its new sign. */
double yoke_event_search_locate(const yoke_event_search *search, const yoke_integrator *integrator,
                                const yoke_integrator_state *state, int k, double from, double to);

/* Event k has been dealt with at the state's time. */
void yoke_event_search_done(const yoke_event_search *search, const yoke_integrator *integrator,
                            const yoke_integrator_state *state, int k);

/* Where function k, which is not yet 0 at the state's time, would be 0: along the secant of the last thousandth of the step. */
double yoke_event_search_secant(const yoke_event_search *search, const yoke_integrator *integrator,
                                const yoke_integrator_state *state, int k);

#endif
