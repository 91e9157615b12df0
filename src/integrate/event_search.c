#include "integrate/event_search.h"

#include <math.h>
#include <string.h>

enum {
  MAX_BISECTIONS = 200, /* until neighbouring numbers */
  EVENT_SAMPLES  = 8,   /* a step is searched for signs in this many parts ... */
  EVENT_OCTAVES  = 40   /* ... and its first part, behind an event, in halves of halves */
};

bool yoke_event_crosses(int direction, double before, double after) {
  const bool rising = before < 0.0 && after >= 0.0, falling = before > 0.0 && after <= 0.0;
  return (rising && direction >= 0) || (falling && direction <= 0);
}

static void values(const yoke_event_search *s, const yoke_integrator *integrator, const yoke_integrator_state *state,
                   double t) {
  const yoke_equations *e = integrator->equations;
  yoke_integrator_interpolate(integrator, state, t, s->q, s->v);
  e->ops->events(e->self, t, s->q, s->v, s->now);
}

void yoke_event_search_begin(const yoke_event_search *s, const yoke_integrator *integrator,
                             const yoke_integrator_state *state) {
  values(s, integrator, state, state->t);
  for (int k = 0; k < s->n; ++k) s->old[k] = fabs(s->now[k]) <= s->dead[k] ? 0.0 : s->now[k];
}

/* Bisection down to neighbouring numbers: the first time the function has its new sign. */
static double locate(const yoke_event_search *s, const yoke_integrator *integrator, const yoke_integrator_state *state,
                     int k, double from, double to) {
  for (int i = 0; i < MAX_BISECTIONS; ++i) {
    const double middle = from + 0.5 * (to - from);
    if (middle <= from || middle >= to) break;
    values(s, integrator, state, middle);
    if (yoke_event_crosses(s->direction[k], s->old[k], s->now[k]))
      to = middle;
    else
      from = middle;
  }
  return to;
}

static void search_part(const yoke_event_search *s, const yoke_integrator *integrator,
                        const yoke_integrator_state *state, double from, double to,
                        void (*found)(void *user, int event, double t), void *user) {
  values(s, integrator, state, to);
  for (int k = 0; k < s->n; ++k) {
    if (fabs(s->now[k]) <= s->dead[k])
      s->now[k] = 0.0;
    else
      s->dead[k] = 0.0;
  }
  for (int k = 0; k < s->n; ++k) {
    const double at_end = fabs(s->now[k]) <= s->dead[k] ? 0.0 : s->now[k];
    if (!yoke_event_crosses(s->direction[k], s->old[k], at_end)) continue;
    found(user, k, locate(s, integrator, state, k, from, to));
    values(s, integrator, state, to); /* locate has used `now` */
  }
  for (int k = 0; k < s->n; ++k) s->old[k] = fabs(s->now[k]) <= s->dead[k] ? 0.0 : s->now[k];
}

void yoke_event_search_step(const yoke_event_search *s, const yoke_integrator *integrator,
                            const yoke_integrator_state *state, bool              is_fresh,
                            void (*found)(void *user, int event, double t), void *user) {
  const double t0 = state->t_prev, t1 = state->t, part = (t1 - t0) / EVENT_SAMPLES;
  double       from = t0;
  for (int j = is_fresh ? -EVENT_OCTAVES : 1; j <= EVENT_SAMPLES; ++j) {
    const double to = j == EVENT_SAMPLES ? t1 : j > 0 ? t0 + j * part : t0 + ldexp(part, j - 1);
    if (!(to > from)) continue;
    search_part(s, integrator, state, from, to, found, user);
    from = to;
  }
}

void yoke_event_search_done(const yoke_event_search *s, const yoke_integrator *integrator,
                            const yoke_integrator_state *state, int k) {
  values(s, integrator, state, state->t);
  s->dead[k] = 2.0 * fabs(s->now[k]);
  s->old[k]  = 0.0;
}

double yoke_event_search_secant(const yoke_event_search *s, const yoke_integrator *integrator,
                                const yoke_integrator_state *state, int k) {
  const double back = 1e-3 * (state->t - state->t_prev);
  values(s, integrator, state, state->t);
  const double value = s->now[k];
  values(s, integrator, state, state->t - back);
  return state->t - value * back / (value - s->now[k]);
}
