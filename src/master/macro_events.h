/* Macro events: state events of a split model, found by the subsystems inside a macro step.
 *
 * Every event belongs to one subsystem, whose solver locates it. The first event of a trial that sets or stops ends the step:
 * the step is repeated up to there, and its time improved, because the repeated step has other inputs, until the steps agree.
 * Events that only record leave the steps as they are. Without a way back an event acts at the end of its step. */
#ifndef YOKE_MASTER_MACRO_EVENTS_H
#define YOKE_MASTER_MACRO_EVENTS_H

#include "master/split.h"

typedef struct yoke_macro_event {
  int    event; /* of the whole model */
  double t;
} yoke_macro_event;

typedef struct yoke_macro_events {
  const yoke_split *split;
  int               n, capacity;
  int               acting; /* the event that ended the last accepted step although it was not found in it; -1: none */
  yoke_macro_event *found;  /* [n] of the last trial that was looked at, by time, then in the order of the file */
} yoke_macro_events;

yoke_status yoke_macro_events_create(yoke_context *ctx, const yoke_split *split, yoke_macro_events *out);
void        yoke_macro_events_clear(yoke_macro_events *events);

/* Read the events of the graph's last trial. Returns the first that sets or stops; -1: none. *t is its time. */
int yoke_macro_events_look(yoke_macro_events *events, const yoke_graph *graph, double *t);

/* Where event `event`, for which a step was repeated up to t, is in that step: < t when it is found before, > t when it is not
 * reached yet. Another event that acts and comes first takes its place. */
double yoke_macro_events_improve(yoke_macro_events *events, const yoke_graph *graph, int *event);

/* The last trial was accepted. Those that act are not found again until they have left 0. */
void yoke_macro_events_accept(yoke_macro_events *events, yoke_graph *graph);

/* Does event k act at the end of the accepted step? */
bool yoke_macro_events_acts(const yoke_macro_events *events, int k);

#endif
