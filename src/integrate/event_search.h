/* Event search: zero crossings of event functions inside a micro step, on its dense output.
 *
 * Invariants:
 *   1. `old` holds the functions at the end of what was searched. A function that fired is 0 until it leaves the rounding errors
 *      around 0 (`dead`), so that a bounce is neither an event on its way up nor lost on its way down.
 *   2. A step is searched in parts, so that two crossings of one function in a step are seen; the first part behind a start or an
 *      event in halves of halves. */
#ifndef YOKE_INTEGRATE_EVENT_SEARCH_H
#define YOKE_INTEGRATE_EVENT_SEARCH_H

#include "integrate/integrator.h"

typedef struct yoke_event_search {
  int        n;
  const int *direction;   /* [n] +1 rising, -1 falling, 0 both */
  double    *old, *dead;  /* [n] belong to a state */
  double    *now, *q, *v; /* scratch: [n], [nq], [nv] */
} yoke_event_search;

/* Does a function that goes from `before` to `after` have an event? */
bool yoke_event_crosses(int direction, double before, double after);

/* Values at the state's time become `old`. */
void yoke_event_search_begin(const yoke_event_search *search, const yoke_integrator *integrator,
                             const yoke_integrator_state *state);

/* All crossings of the last step of `state`: `found` is called with event and time, part by part in order of time. */
void yoke_event_search_step(const yoke_event_search *search, const yoke_integrator *integrator,
                            const yoke_integrator_state *state, bool              is_fresh,
                            void (*found)(void *user, int event, double t), void *user);

/* Event k has been dealt with at the state's time. */
void yoke_event_search_done(const yoke_event_search *search, const yoke_integrator *integrator,
                            const yoke_integrator_state *state, int k);

/* Where function k, which is not yet 0 at the state's time, would be 0: along the secant of the last thousandth of the step. */
double yoke_event_search_secant(const yoke_event_search *search, const yoke_integrator *integrator,
                                const yoke_integrator_state *state, int k);

#endif
