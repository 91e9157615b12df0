/* Instant: coupling values that belong to each other at one instant, from one linear system over all wires that have conditions for it
 * (formulation.h). Their unknowns u (multipliers, row accelerations, signals) change the outputs by the responses dy/du that the subsystems
 * give, or that are differences of their outputs, so that conditions c(u, y), affine in both, hold with
 *   (dc/du + sum over sides dc/dy dy/du) (u* - u) = -c(u, y);
 * for signals, which need not be affine, this is one step of Newton's method (graph_balance.h). */
#ifndef YOKE_COUPLING_GRAPH_INSTANT_H
#define YOKE_COUPLING_GRAPH_INSTANT_H

#include "coupling/graph_responses.h"

/* Which values are found. */
typedef enum graph_instant_kind {
  GRAPH_FOR_ESTIMATES, /* multipliers of the formulations that say so, which enter both sides, of subsystems that give
                        * responses; a displacement side opposite keeps its own */
  GRAPH_FOR_START,     /* all unknowns of wires without values of their own at the start */
  GRAPH_FOR_RESTART,   /* all unknowns */
  GRAPH_FOR_SIGNALS    /* signals */
} graph_instant_kind;

/* Needs outputs y. */
yoke_status graph_instant_create(yoke_graph *graph, graph_instant_kind kind, yoke_context *ctx, graph_instant **out);
void        graph_instant_destroy(graph_instant **instant);

/* Would a wire take part? */
bool graph_instant_wants(const graph_wire *wire, graph_instant_kind kind);
bool graph_instant_has_signals(const graph_instant *instant);
bool graph_instant_takes(const graph_instant *instant, int wire);
bool graph_instant_is_unknown(const graph_instant *instant, int channel);

/* Values of the channels of the wires that take part, into values [n_channels]; the others are left alone. */
yoke_status graph_instant_find(graph_instant *instant, yoke_graph *graph, graph_moment moment, double *values,
                               yoke_context *ctx);

/* Parts of motions along the rows, N S^-1 R d, with the matrix of the last search, which was at the end of a trial: d and along [n_subsystems], of each
 * subsystem [ny], at the places of accelerations. False: there are no unknowns. */
bool graph_instant_along(graph_instant *instant, const yoke_graph *graph, double *const *d, double *const *along);

/* The factor of the last search: its pivot order is used again. Restarts begin without one. */
void        graph_instant_pack(const graph_instant *instant, yoke_pack *out);
yoke_status graph_instant_unpack(const graph_instant *instant, yoke_unpack *in, yoke_context *ctx, yoke_factor **out);
void        graph_instant_take(graph_instant *instant, yoke_factor **factor); /* which was unpacked */

#endif
