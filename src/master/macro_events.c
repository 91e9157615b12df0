#include "master/macro_events.h"

#include "base/text.h"
#include "coupling/trial.h"
#include <math.h>
#include <stdlib.h>

enum { MAX_TRIES = 5 }; /* to make the time of an event and the end of its step agree */

yoke_status yoke_macro_events_create(yoke_context *ctx, const yoke_split *split, yoke_macro_events *out) {
  *out       = (yoke_macro_events){.split = split, .capacity = split->n_parts * YOKE_MAX_FOUND};
  out->found = yoke_allocate((size_t)out->capacity + 1, sizeof *out->found);
  return out->found != NULL ? YOKE_OK : yoke_fail(ctx, YOKE_E_MEMORY, "no memory for the events of the model");
}

void yoke_macro_events_clear(yoke_macro_events *events) {
  free(events->found);
  *events = (yoke_macro_events){0};
}

static bool acts(const yoke_macro_events *e, int event) {
  return e->split->model->events[event].action != YOKE_EVENT_RECORD;
}

/* Event of the whole model that is number `own` of a part. */
static int whole_event(const yoke_split *split, int part, int own) {
  for (int k = 0; k < split->model->n_events; ++k) {
    if (split->events[k].part == part && split->events[k].own == own) return k;
  }
  return -1;
}

static int compare(const void *a, const void *b) {
  const yoke_macro_event *p = a, *q = b;
  if (p->t != q->t) return p->t < q->t ? -1 : 1;
  return p->event - q->event;
}

/* Read the events of the last trial. Returns the first that sets or stops; -1: none. *t is its time. */
static int look(yoke_macro_events *e, const yoke_graph *graph, double *t) {
  e->n = 0;
  for (int part = 0; part < e->split->n_parts; ++part) {
    yoke_found_event list[YOKE_MAX_FOUND];
    const int        n = yoke_graph_events(graph, part, list);
    for (int i = 0; i < n; ++i) {
      const int event = whole_event(e->split, part, list[i].event);
      if (event >= 0) e->found[e->n++] = (yoke_macro_event){event, list[i].t};
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

void yoke_macro_events_begin(yoke_macro_events *e) {
  e->n       = 0;
  e->acting  = -1;
  e->n_tries = 0;
}

static void report_late(yoke_macro_events *e, int event, double t, double t_next, const char *subsystem,
                        yoke_context *ctx) {
  if (e->n_late++ > 0) return;
  yoke_warn(
      ctx,
      "event '%s' at t = %.9g s lies inside a macro step, and subsystem '%s' cannot go back: it acts at the end of "
      "the step, %.3g s late",
      e->split->model->events[event].name, t, subsystem, t_next - t);
}

/* The first trial shows whether an event acts inside the step. Every other one was made to end at it, and either finds it (or
 * another before it) again, or ends a little too early: then the subsystem says where it will be. */
double yoke_macro_events_end(yoke_macro_events *e, const yoke_graph *graph, double t_next, yoke_context *ctx) {
  const double t     = yoke_graph_t(graph);
  const char  *fixed = NULL;
  double       at;
  const int    event = look(e, graph, &at);
  if (e->n_tries++ == 0) {
    e->latest = t_next;
    if (event < 0 || at >= t_next) return (double)INFINITY;
    if (!yoke_graph_can_repeat(graph, &fixed)) {
      report_late(e, event, at, t_next, fixed, ctx);
      return (double)INFINITY;
    }
  }
  if (event >= 0) e->acting = event;
  if (e->acting < 0) return (double)INFINITY;
  if (event < 0) at = yoke_graph_event_ahead(graph, e->split->events[e->acting].part, e->split->events[e->acting].own);
  if (event < 0 && at - t_next > 1e-3 * (t_next - t)) { /* a rejection made the step end well before the event */
    e->acting = -1;
    return (double)INFINITY;
  }
  const double earliest = t + fmax(1e-6 * (e->latest - t), 1e-14 * fabs(t));
  const bool   is_there = fabs(at - t_next) <= 1e-13 * fmax(fabs(e->latest), e->latest - t);
  if (is_there || !(at > t && at < e->latest) || e->n_tries > MAX_TRIES) return (double)INFINITY;
  return fmax(at, earliest) == t_next ? (double)INFINITY : fmax(at, earliest);
}

bool yoke_macro_events_acts(const yoke_macro_events *e, int k) {
  if (!acts(e, k)) return false;
  if (e->acting == k) return true;
  for (int i = 0; i < e->n; ++i) {
    if (e->found[i].event == k) return true;
  }
  return false;
}

void yoke_macro_events_accept(yoke_macro_events *e, yoke_graph *graph) {
  if (e->n == 0 && e->acting < 0) return;
  for (int k = 0; k < e->split->model->n_events; ++k) {
    if (yoke_macro_events_acts(e, k)) yoke_graph_event_done(graph, e->split->events[k].part, e->split->events[k].own);
  }
}
