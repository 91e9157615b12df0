/* State shift: corrected nodes without a second integration.
 *
 * A pass with the nodes w0 leads to the states x0 and tells S = dx/dw beside dy/dw (yoke_response). Corrected nodes w = w0 + delta lead to
 *   x(w) = x0 + S delta + O(|delta|^2),
 * so that states go there and show their outputs y, where an integration from T_N would take a right-hand side for every stage.
 * What this misses is found, not believed. Along x0 + S delta the equations of motion are not met by the defect
 *   d = a(x0 + S delta, u) - a(x0, u0) - (da/dw) delta,
 * which grows from 0 at T_N: velocities are off by less than H |d(T_N+1)|, positions by H^2 |d| / 2. The accelerations that ports show tell it. S itself is
 * off by what its rule estimates, S_off, which the ports show as (dy/dw)_off delta: forces that hold each other, as those at both ends of a light body,
 * are off together by as little as they move. Step control says how much of both
 * may be (yoke_graph_tolerated); where it is more, the nodes are integrated with. Conditions are those of the outputs y that the shifted states show, so that
 * joints are as closed as they are found.
 * What is observed inside of a step comes from an integration with the corrected nodes beside the states: whether somebody looks changes no bit of them. */
#ifndef YOKE_COUPLING_STATE_SHIFT_H
#define YOKE_COUPLING_STATE_SHIFT_H

#include "coupling/graph_internal.h"

/* May the states of the first pass, which told its columns, be shifted? */
bool graph_can_shift(const yoke_graph *graph);

/* By S g->delta, where g->w is corrected by it already; y_new follows. Not YOKE_OK: the states are of no use, but the nodes may be integrated with. */
yoke_status graph_shift(yoke_graph *graph, yoke_step_statistics *statistics);

/* What y_new misses, in what is tolerated: the largest of all ports. */
double graph_shift_miss(const yoke_graph *graph);

/* The shifted states are those of the trial: what is to be observed inside of the step is. */
yoke_status graph_shift_observe(yoke_graph *graph, yoke_step_statistics *statistics, yoke_context *ctx);

#endif
