/* Events of a system: state events, found by the subsystems inside a step.
 *
 * Every event belongs to one subsystem, whose solver locates it. The first event of a trial that sets or stops ends the step:
 * the step is repeated up to there, and its time improved, because the repeated step has other inputs, until the steps agree. Inputs of degree
 * 0 jump where the step begins, and with them events: a step up to there has none, so the end is searched between steps without and with it.
 * Events that only record leave the steps as they are, unless a subsystem found more than it can remember: then the step is repeated
 * up to where its memory ended. Without a way back an event acts at the end of its macro step; a step of a system that steps freely
 * then fails. */
#ifndef YOKE_MASTER_SYSTEM_EVENTS_H
#define YOKE_MASTER_SYSTEM_EVENTS_H

#include "master/plan.h"

typedef struct yoke_system_event {
  int    event; /* of the plan */
  double t;
} yoke_system_event;

typedef struct yoke_system_events {
  const yoke_plan   *plan;
  int                n, capacity;
  yoke_system_event *found;   /* [n] of the last trial that was looked at, by time, then in the order of the file */
  int                acting;  /* the event that the step is repeated for; -1: none */
  int                tried;   /* the last one that acting was */
  int                n_tries; /* of this step */
  double             latest;  /* end of the first trial of this step */
  double             asked;   /* end of the next trial */
  double             before,
      behind;    /* ends of the latest trial of this step without an acting event and of the earliest with one */
  double  until; /* of the last trial that was looked at: later events of `full_part` did not fit */
  int     full_part;
  int     n_late;   /* events that acted at the end of their step because a subsystem cannot go back */
  bool    is_stuck; /* one would have to act inside a free step that cannot be repeated */
  double *last;     /* [n_events] when it acted last */
  int    *repeats;  /* [n_events] how often in a row at nearly one time */
} yoke_system_events;

yoke_status yoke_system_events_create(yoke_context *ctx, const yoke_plan *plan, yoke_system_events *out);
void        yoke_system_events_clear(yoke_system_events *events);

/* A step begins. */
void yoke_system_events_begin(yoke_system_events *events);

/* A trial that ended at t_next is about to be accepted: +infinity when it may be, else the time to which it is to be repeated. */
double yoke_system_events_end(yoke_system_events *events, const yoke_graph *graph, double t_next, yoke_context *ctx);

/* The last trial was accepted. Events that act are not found again until they have left 0. Fails where events got lost. */
yoke_status yoke_system_events_accept(yoke_system_events *events, yoke_graph *graph, yoke_context *ctx);

/* Does event k of the plan act at the end of the accepted step? */
bool yoke_system_events_acts(const yoke_system_events *events, int k);

/* Name of the event that the last step ended at, or would have; NULL: none. */
const char *yoke_system_events_last(const yoke_system_events *events);

/* Event k acts at t; fails when it has done so again and again at one time: within `near` [s]. */
yoke_status yoke_system_events_count(yoke_system_events *events, int k, double t, double near, yoke_context *ctx);

#endif
