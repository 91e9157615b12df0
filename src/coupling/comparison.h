/* Signals of the comparison integrations (trial.h). */
#ifndef YOKE_COUPLING_COMPARISON_H
#define YOKE_COUPLING_COMPARISON_H

#include "coupling/graph_internal.h"

/* channel->comparison of all channels for `higher` and `end`; false: the past is too short, nothing is compared. */
bool graph_compare_ahead(yoke_graph *graph);

/* After the last pass: consistent values of the trial, their polynomials, and the comparison integrations. */
yoke_status graph_compare_behind(yoke_graph *graph, yoke_step_statistics *statistics, yoke_context *ctx);

/* Degree of the polynomials through consistent values: the highest that a coupling asks for, as the past permits. */
int graph_comparison_degree(const yoke_graph *graph);

/* ---- consistent values ---- */

yoke_status graph_consistent_create(yoke_graph *graph, yoke_context *ctx);
void        graph_consistent_destroy(yoke_graph *graph);
/* The values at the start are consistent; after acceptance those of the trial join the past. */
void        graph_consistent_start(yoke_graph *graph);
void        graph_consistent_accept(yoke_graph *graph);
/* Once the graph is started and yoke_graph_control was called, whichever comes last. */
yoke_status graph_consistent_prepare(yoke_graph *graph, yoke_context *ctx);
void        graph_consistent_pack(const yoke_graph *graph, yoke_pack *out);
/* The factor of what is packed; the graph itself takes it later. */
yoke_status graph_consistent_unpack(const yoke_graph *graph, yoke_unpack *in, yoke_context *ctx, yoke_factor **out);
void        graph_consistent_take(yoke_graph *graph, yoke_factor **factor);
/* channel->consistent_new from the outputs of the last pass. */
yoke_status graph_consistent_find(yoke_graph *graph, yoke_context *ctx);

/* Behind a comparison and the search for consistent values of this trial: moves it along the rows of joints towards the step, so that little of what later
 * steps take back counts. */
void graph_consistent_ease(yoke_graph *graph);

/* Is the value of a channel found by these conditions? */
bool graph_consistent_is_unknown(const yoke_graph *graph, int channel);

/* Do its consistent values come from conditions at one instant (formulation.h)? Else from `update`. */
bool graph_has_instant(const graph_wire *wire);

#endif
