/* Responses dy/du of the accelerations to the inputs at one instant (subsystem.h), of the subsystems that are asked: what they tell, else
 * central differences of their outputs under constant inputs. They go to graph_subsystem.da_du, where the next ones replace them. */
#ifndef YOKE_COUPLING_GRAPH_RESPONSES_H
#define YOKE_COUPLING_GRAPH_RESPONSES_H

#include "coupling/graph_internal.h"

/* Which states, outputs, inputs and values are meant. */
typedef enum graph_moment {
  GRAPH_END_OF_TRIAL, /* trial states, y_new, the signals of the trial from the left, end nodes */
  GRAPH_BEHIND_NOW    /* accepted states at T_N, y, newest values of the history, from the right */
} graph_moment;

typedef struct graph_responses {
  bool        *is_asked; /* [n_subsystems]; the caller's to set */
  yoke_status *status;   /* [n_subsystems] of the last search; YOKE_OK where nothing was asked */
  double     **held;     /* [n_subsystems] inputs [nu] of those that tell no response; else NULL */
  graph_moment moment;   /* of the last search */
} graph_responses;

/* Its arrays; the arena tells a failure. */
void graph_responses_take(graph_responses *responses, const yoke_graph *graph, yoke_arena *arena);
void graph_responses_find(graph_responses *responses, yoke_graph *graph, graph_moment moment);

#endif
