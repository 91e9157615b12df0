/* Signal loops: signals that depend on themselves at one instant, through direct feed-through of subsystems.
 *
 * The unknowns of an instant (graph_instant.h) have the matrix J; without multipliers, signals have J = 1 - G, G the gains from one to
 * the next. Where an eigenvalue of G is 1 the loops have no solution or many. Eigenvalues do not depend on units. */
#ifndef YOKE_COUPLING_SIGNAL_LOOPS_H
#define YOKE_COUPLING_SIGNAL_LOOPS_H

#include "coupling/graph_internal.h"

/* YOKE_SINGULAR: in_loop [n] tells which signals are in a loop of gain 1. `values` of the square pattern, `is_signal` [n] of its columns; other
 * unknowns are found along with the signals. Scratch is taken and left. */
yoke_status graph_singular_loop(const yoke_pattern *pattern, const double *values, const bool *is_signal, bool *in_loop,
                                yoke_arena *scratch);

/* Says which couplings and subsystems are in the loop, and gives YOKE_E_MODEL. */
yoke_status graph_name_loop(const yoke_graph *graph, int n, const int *channel_of, const bool *in_loop,
                            yoke_context *ctx);

#endif
