#include "integrate/event_search.h"

#include <float.h>
#include <math.h>

enum {
  MAX_BISECTIONS = 200, /* until neighbouring numbers */
  LEAST_PARTS    = 8,   /* a step is searched for signs in this many parts, more where a function turns often, ... */
  EVENT_OCTAVES  = 40   /* ... and its first part, behind an event, in halves of halves */
};

bool yoke_event_crosses(int direction, double before, double after) {
  const bool rising = before < 0.0 && after >= 0.0, falling = before > 0.0 && after <= 0.0;
  return (rising && direction >= 0) || (falling && direction <= 0);
}

/* Size of `old` that says on which side a function is that cannot be told from 0. */
static const double TOUCH = DBL_MIN;
static const double NOISE = 32 * DBL_EPSILON; /* rounding of dense output, relative to the largest values of its step */
static const double STILL =
    1e-12; /* a change over a step by velocities that are 0 but for rounding, relative to the whole change */

void yoke_event_search_inputs(const yoke_event_search *s, double t, yoke_side side) {
  if (s->u == NULL) return;
  yoke_signal_value(s->u, t, side, 0, s->u_now);
  for (int i = 0; s->bend != NULL && i < s->u->n; ++i) s->u_now[i] -= s->bend[i] * (s->t_bent - t);
}

static void values(const yoke_event_search *s, const yoke_integrator *integrator, const yoke_integrator_state *state,
                   double t) {
  const yoke_equations *e = integrator->equations;
  yoke_integrator_interpolate(integrator, state, t, s->q, s->v);
  yoke_event_search_inputs(s, t, t > state->t_prev ? YOKE_SIDE_LEFT : YOKE_SIDE_RIGHT);
  e->ops->events(e->self, s->work, t, s->q, s->v, s->u != NULL ? s->u_now : NULL, s->now);
}

void yoke_event_search_begin(const yoke_event_search *s, const yoke_integrator *integrator,
                             const yoke_integrator_state *state) {
  values(s, integrator, state, state->t);
  for (int k = 0; k < s->n; ++k) s->old[k] = fabs(s->now[k]) <= s->dead[k] ? 0.0 : s->now[k];
}

void yoke_event_search_turn(const yoke_event_search *s, const yoke_integrator *integrator,
                            const yoke_integrator_state *state, double share) {
  for (int k = 0; k < s->n; ++k) s->time[k] = (s->now[k] - s->before[k]) / share;
  for (int i = 1; i <= 2; ++i) {
    values(s, integrator, state, i == 2 ? state->t : 0.5 * (state->t_prev + state->t));
    for (int k = 0; k < s->n; ++k) {
      const double change = s->time[k];
      if (fabs(s->old[k]) > TOUCH || s->is_brought[k]) continue;
      if (fabs(change) > STILL * fabs(s->now[k]))
        s->old[k] = copysign(TOUCH, change);
      else if (s->dead[k] > 0.0) /* the event stopped it: it is still where it came from */
        s->old[k] = -TOUCH * s->direction[k];
      s->dead[k] = fmax(s->dead[k], NOISE * fabs(s->now[k]));
    }
  }
}

/* The function, or what it was as long as it cannot be told from 0. */
static double seen(const yoke_event_search *s, int k) {
  return s->dead[k] > 0.0 && fabs(s->now[k]) <= s->dead[k] ? s->old[k] : s->now[k];
}

/* Bisection down to neighbouring numbers: the first time the function has its new sign. */
double yoke_event_search_locate(const yoke_event_search *s, const yoke_integrator *integrator,
                                const yoke_integrator_state *state, int k, double from, double to) {
  for (int i = 0; i < MAX_BISECTIONS; ++i) {
    const double middle = from + 0.5 * (to - from);
    if (middle <= from || middle >= to) break;
    values(s, integrator, state, middle);
    if (yoke_event_crosses(s->direction[k], s->old[k], seen(s, k)))
      to = middle;
    else
      from = middle;
  }
  return to;
}

/* Could a function with the values a, m, b, m at `share` of the way, cross zero between them unseen? Not where it goes one way, and
 * not where its bend is small against its distance from zero. */
static bool is_clear(double a, double m, double b, double share) {
  if ((a <= m && m <= b) || (a >= m && m >= b)) return true;
  return a * b > 0.0 && fabs(m - a - share * (b - a)) <= 0.5 * fmin(fabs(a), fabs(b));
}

/* Are all functions clear if looked at once in each of n parts? Places at equal distances would take a fast oscillation for a slow
 * one; these lie off the middle of their parts by a quadratic sequence of the golden section, whose gaps never repeat. */
static bool are_clear(const yoke_event_search *s, const yoke_integrator *integrator, const yoke_integrator_state *state,
                      int n) {
  static const double golden = 0.6180339887498949;
  const double        t0 = state->t_prev, length = (state->t - t0) / n;
  double             *f[2] = {s->time, s->before}, t[2] = {t0, t0}; /* the last two places */
  for (int j = -1; j <= n; ++j) {
    const double turn = (double)(j + 1) * (j + 1) * golden;
    const double at   = j < 0 ? t0 : j == n ? state->t : t0 + (j + 0.2 + 0.6 * (turn - floor(turn))) * length;
    values(s, integrator, state, at);
    for (int k = 0; k < s->n; ++k) {
      if (j > 0 && !is_clear(f[0][k], f[1][k], s->now[k], (t[1] - t[0]) / (at - t[0]))) return false;
      f[0][k] = f[1][k];
      f[1][k] = s->now[k];
    }
    t[0] = t[1];
    t[1] = at;
  }
  return true;
}

yoke_event_part yoke_event_first_part(const yoke_event_search *s, const yoke_integrator *integrator,
                                      const yoke_integrator_state *state) {
  yoke_event_part part = {.n = LEAST_PARTS, .to = state->t_prev};
  while (part.n < YOKE_EVENT_MOST_PARTS && !are_clear(s, integrator, state, part.n)) part.n *= 2;
  return part;
}

bool yoke_event_next_part(const yoke_integrator_state *state, bool is_fresh, yoke_event_part *part) {
  const double t0 = state->t_prev, t1 = state->t, length = (t1 - t0) / part->n;
  const int    first = is_fresh ? -EVENT_OCTAVES : 1;
  for (;;) {
    const int j = first + part->number++;
    if (j > part->n) return false;
    const double to = j == part->n ? t1 : j > 0 ? t0 + j * length : t0 + ldexp(length, j - 1);
    if (!(to > part->to)) continue;
    part->from = part->to;
    part->to   = to;
    return true;
  }
}

bool yoke_event_search_part(const yoke_event_search *s, const yoke_integrator *integrator,
                            const yoke_integrator_state *state, const yoke_event_part *part) {
  bool any = false;
  values(s, integrator, state, part->to);
  for (int k = 0; k < s->n; ++k) {
    s->time[k] = yoke_event_crosses(s->direction[k], s->old[k], seen(s, k)) ? part->to : (double)INFINITY;
    any        = any || s->time[k] <= part->to;
  }
  if (!any) return false;
  for (int k = 0; k < s->n; ++k) {
    if (s->time[k] <= part->to) s->time[k] = yoke_event_search_locate(s, integrator, state, k, part->from, part->to);
  }
  values(s, integrator, state, part->to);
  return true;
}

void yoke_event_search_move(const yoke_event_search *s) {
  for (int k = 0; k < s->n; ++k) {
    s->old[k] = seen(s, k);
    if (fabs(s->now[k]) > s->dead[k]) s->dead[k] = 0.0;
    s->most[k]  = fmax(s->most[k], fabs(s->now[k]));
    s->since[k] = fmax(s->since[k], fabs(s->now[k]));
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
