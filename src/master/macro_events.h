/* Macro events: state events of a split model, found by the subsystems inside a macro step.
 *
 * Every event belongs to one subsystem, whose solver locates it. The first event of a trial that sets or stops ends the step:
 * the step is repeated up to there, and its time improved, because the repeated step has other inputs, until the steps agree.
 * Events that only record leave the steps as they are, unless a subsystem found more than it can remember: then the step is repeated
 * up to where its memory ended. Without a way back an event acts at the end of its step. */
#ifndef YOKE_MASTER_MACRO_EVENTS_H
#define YOKE_MASTER_MACRO_EVENTS_H

#include "master/plan.h"

typedef struct yoke_macro_event {
  int    event; /* of the whole model */
  double t;
} yoke_macro_event;

typedef struct yoke_macro_events {
  const yoke_plan  *plan;
  int               n, capacity;
  yoke_macro_event *found;   /* [n] of the last trial that was looked at, by time, then in the order of the file */
  int               acting;  /* the event that the step is repeated for; -1: none */
  int               n_tries; /* of this step */
  double            latest;  /* end of the first trial of this step */
  double            until;   /* of the last trial that was looked at: later events of `full_part` did not fit */
  int               full_part;
  int               n_late; /* events that acted at the end of their step because a subsystem cannot go back */
} yoke_macro_events;

yoke_status yoke_macro_events_create(yoke_context *ctx, const yoke_plan *plan, yoke_macro_events *out);
void        yoke_macro_events_clear(yoke_macro_events *events);

/* A step begins. */
void yoke_macro_events_begin(yoke_macro_events *events);

/* A trial that ended at t_next is about to be accepted: +infinity when it may be, else the time to which it is to be repeated. */
double yoke_macro_events_end(yoke_macro_events *events, const yoke_graph *graph, double t_next, yoke_context *ctx);

/* The last trial was accepted. Events that act are not found again until they have left 0. Fails where events got lost. */
yoke_status yoke_macro_events_accept(yoke_macro_events *events, yoke_graph *graph, yoke_context *ctx);

/* Does event k of the model act at the end of the accepted step? */
bool yoke_macro_events_acts(const yoke_macro_events *events, int k);

#endif
