#include "master/macro_events.h"

#include "base/text.h"
#include <math.h>
#include <stdlib.h>

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

int yoke_macro_events_look(yoke_macro_events *e, const yoke_graph *graph, double *t) {
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

double yoke_macro_events_improve(yoke_macro_events *e, const yoke_graph *graph, int *event) {
  double    t;
  const int first = yoke_macro_events_look(e, graph, &t);
  if (first < 0) return yoke_graph_event_ahead(graph, e->split->events[*event].part, e->split->events[*event].own);
  *event = first;
  return t;
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
