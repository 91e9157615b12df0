#include "master/system_events.h"

#include "base/memory.h"
#include "coupling/trial.h"
#include <math.h>
#include <stdlib.h>

enum {
  MAX_TRIES     = 5, /* to make the time of an event and the end of its step agree */
  MAX_AT_A_TIME = 4  /* of one event, each within 1e-9 of the time before the next */
};

static const double jump_share = 1e-3; /* of the step: how well the end at an event that jumps is found */

yoke_status yoke_system_events_create(yoke_context *ctx, const yoke_plan *plan, yoke_system_events *out) {
  *out         = (yoke_system_events){.plan = plan, .capacity = plan->n_parts * YOKE_MAX_FOUND + plan->n_events};
  out->found   = yoke_allocate((size_t)out->capacity + 1, sizeof *out->found);
  out->last    = yoke_allocate((size_t)plan->n_events + 1, sizeof *out->last);
  out->repeats = yoke_allocate((size_t)plan->n_events + 1, sizeof *out->repeats);
  if (out->found == NULL || out->last == NULL || out->repeats == NULL)
    return yoke_out_of_memory(ctx, "the events of the model");
  for (int k = 0; k < plan->n_events; ++k) out->last[k] = -(double)INFINITY;
  return YOKE_OK;
}

void yoke_system_events_clear(yoke_system_events *events) {
  free(events->found);
  free(events->last);
  free(events->repeats);
  *events = (yoke_system_events){0};
}

yoke_status yoke_system_events_count(yoke_system_events *e, int k, double t, double near, yoke_context *ctx) {
  const bool again = t - e->last[k] <= fmax(1e-9 * fmax(fabs(t), 1e-6), near);
  e->repeats[k]    = again ? e->repeats[k] + 1 : 0;
  e->last[k]       = t;
  if (e->repeats[k] < MAX_AT_A_TIME) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL,
                   "event '%s' happens again and again at t = %.9g s; let it end with an event that stops the run",
                   e->plan->events[k].name, t);
}

const char *yoke_system_events_last(const yoke_system_events *e) {
  return e->n_tries > 1 ? e->plan->events[e->tried].name : NULL;
}

static bool acts(const yoke_system_events *e, int event) {
  return e->plan->events[event].sets || e->plan->events[event].stops;
}

/* Event of the whole model that is number `own` of a part. */
static int whole_event(const yoke_plan *plan, int part, int own) {
  for (int k = 0; k < plan->n_events; ++k) {
    if (plan->events[k].part == part && plan->events[k].own == own) return k;
  }
  return -1;
}

static int compare(const void *a, const void *b) {
  const yoke_system_event *p = a, *q = b;
  if (p->t != q->t) return p->t < q->t ? -1 : 1;
  return p->event - q->event;
}

/* Read the events of the last trial. Returns the first that sets or stops; -1: none. *t is its time. */
static int look(yoke_system_events *e, const yoke_graph *graph, double *t) {
  e->n     = 0;
  e->until = (double)INFINITY;
  for (int part = 0; part < e->plan->n_parts; ++part) {
    const yoke_found_events found = yoke_graph_events(graph, part);
    for (int i = 0; i < found.n; ++i) {
      const int event = whole_event(e->plan, part, found.list[i].event);
      if (event >= 0) e->found[e->n++] = (yoke_system_event){event, found.list[i].t};
    }
    if (found.until < e->until) {
      e->until     = found.until;
      e->full_part = part;
    }
  }
  if (e->n > 1) qsort(e->found, (size_t)e->n, sizeof *e->found, compare);
  for (int i = 0; i < e->n; ++i) {
    if (!acts(e, e->found[i].event)) continue;
    *t = e->found[i].t;
    return e->found[i].event;
  }
  *t = (double)INFINITY;
  return -1;
}

void yoke_system_events_begin(yoke_system_events *e) {
  e->n       = 0;
  e->acting  = -1;
  e->until   = (double)INFINITY;
  e->n_tries = 0;
}

static void report_late(yoke_system_events *e, int event, double t, double t_next, const char *subsystem,
                        yoke_context *ctx) {
  if (e->plan->step.is_free) {
    e->is_stuck = true;
    (void)yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                    "event '%s' at t = %.9g s: the solver cannot go back to it, use bdf, radau5 or an explicit one",
                    e->plan->events[event].name, t);
    return;
  }
  if (e->n_late++ > 0) return;
  yoke_warn(
      ctx,
      "event '%s' at t = %.9g s lies inside a macro step, and subsystem '%s' cannot go back: it acts at the end of "
      "the step, %.3g s late",
      e->plan->events[event].name, t, subsystem, t_next - t);
}

/* The step is repeated between one that ends too early and one that has the event, and ends with the latter. */
static double halve(yoke_system_events *e, double t, bool has_event) {
  if (e->behind - e->before > jump_share * (e->latest - t)) return e->asked = e->before + 0.5 * (e->behind - e->before);
  return has_event ? (double)INFINITY : (e->asked = e->behind);
}

/* The first trial shows whether an event acts inside the step. Every other one was made to end at it, and either finds it (or
 * another before it) again, or ends a little too early: then the subsystem says where it will be. */
double yoke_system_events_end(yoke_system_events *e, const yoke_graph *graph, double t_next, yoke_context *ctx) {
  const double t     = yoke_graph_t(graph);
  const char  *fixed = NULL;
  double       at;
  const int    event = look(e, graph, &at);
  if (!(event >= 0 && at <= e->until) && e->until < t_next && yoke_graph_can_repeat(graph, &fixed)) return e->until;
  if (e->n_tries++ == 0) {
    e->latest = e->behind = e->asked = t_next;
    e->before                        = t;
    if (event < 0 || at >= t_next) return (double)INFINITY;
    if (!yoke_graph_can_repeat(graph, &fixed)) {
      report_late(e, event, at, t_next, fixed, ctx);
      return (double)INFINITY;
    }
  }
  if (event >= 0) e->acting = e->tried = event;
  if (e->acting < 0) return (double)INFINITY;
  if (event < 0) at = yoke_graph_event_ahead(graph, e->plan->events[e->acting].part, e->plan->events[e->acting].own);
  const bool is_early = event < 0 && at - t_next > jump_share * (t_next - t);
  const bool is_gone  = event < 0 && at < t_next;
  const bool can_jump = e->plan->events[e->acting].is_brought && t_next == e->asked;
  /* A rejection made the step end well before the event, or the function turned away from zero before it was there. Where a function jumps the
   * place ahead says nothing. */
  if ((is_early && !can_jump) || is_gone) {
    e->acting = -1;
    return (double)INFINITY;
  }
  if (event < 0)
    e->before = fmax(e->before, t_next);
  else
    e->behind = fmin(e->behind, t_next);
  /* couplings do not bear a macro step that is next to nothing; a solver does */
  const double earliest = t + fmax((e->plan->step.is_free ? 1e-14 : 1e-6) * (e->latest - t), 1e-14 * fabs(t));
  const double end      = fmax(at, earliest);
  const bool   is_there = fabs(at - t_next) <= 1e-13 * fmax(fabs(e->latest), e->latest - t);
  const bool   is_lost  = is_early && !(at < e->behind && e->n_tries <= MAX_TRIES);
  if (is_lost || (event >= 0 && e->before - end > jump_share * (e->latest - t))) return halve(e, t, event >= 0);
  if (is_there || !(at > t && at < e->latest) || e->n_tries > MAX_TRIES) return (double)INFINITY;
  return end == t_next ? (double)INFINITY : (e->asked = end);
}

bool yoke_system_events_acts(const yoke_system_events *e, int k) {
  if (!acts(e, k)) return false;
  if (e->acting == k) return true;
  for (int i = 0; i < e->n; ++i) {
    if (e->found[i].event == k) return true;
  }
  return false;
}

yoke_status yoke_system_events_accept(yoke_system_events *e, yoke_graph *graph, yoke_context *ctx) {
  if (e->n == 0 && e->acting < 0) return YOKE_OK;
  if (e->until < yoke_graph_t(graph)) { /* no way back to a shorter step */
    return yoke_fail(ctx, YOKE_E_SUBSYSTEM,
                     "more than %d events happen in subsystem '%s' in the step that ends at t = %.9g s, and not "
                     "all subsystems can go back to a shorter one; use a smaller macro step",
                     YOKE_MAX_FOUND, e->plan->parts[e->full_part].name, yoke_graph_t(graph));
  }
  for (int k = 0; k < e->plan->n_events; ++k) {
    if (yoke_system_events_acts(e, k)) yoke_graph_event_done(graph, e->plan->events[k].part, e->plan->events[k].own);
  }
  return YOKE_OK;
}
