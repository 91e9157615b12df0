/* Feeds: what the channels of the wires give to the inputs of the subsystems (graph_feeds.c). */
#ifndef YOKE_COUPLING_GRAPH_FEEDS_H
#define YOKE_COUPLING_GRAPH_FEEDS_H

#include "coupling/graph_internal.h"

/* One input that a channel enters: `weight` times its value, with a row of the joint times component `component` of its gradient too. */
typedef struct graph_entry {
  int    input;
  double weight;
  int    row, component; /* row -1: no gradient */
} graph_entry;

/* Number j of the inputs that channel k of a wire enters on a side; false: there are no more. */
bool graph_entry_at(const yoke_graph *graph, const graph_wire *wire, int side, int k, int j, graph_entry *out);

static inline bool graph_enters(const yoke_graph *graph, const graph_wire *wire, int side, int k) {
  graph_entry entry;
  return graph_entry_at(graph, wire, side, k, 0, &entry);
}

/* Ports of all wires: where their outputs are, and which take a wrench; refuses what a port cannot feel or show. */
yoke_status graph_feeds_check(yoke_graph *graph, yoke_context *ctx);

/* Gradients at T_N from the outputs y; and at the past points and the nodes of the step that was prepared. */
void graph_feeds_look(const yoke_graph *graph);
void graph_feeds_prepare(const yoke_graph *graph);

/* Share of a channel's value at the end of the trial, at T_N, at node j. */
static inline double graph_node_share(const graph_feed *feed, int j) {
  return feed->share != NULL ? feed->weight * feed->share->at[GRAPH_PAST + j] : feed->weight;
}
static inline double graph_end_share(const yoke_graph *graph, const graph_feed *feed) {
  return graph_node_share(feed, graph->channels[feed->channel].n_nodes - 1);
}
static inline double graph_now_share(const graph_feed *feed) {
  return feed->share != NULL ? feed->weight * feed->share->at[0] : feed->weight;
}

/* Powers of s of the product with the gradient, through the end of the step and the points of the past, from those of the channel. */
void graph_feed_curve(const yoke_graph *graph, const graph_feed *feed, const double *u, double *out);

#endif
