/* State reset: what formulations with `reset_rows` do with the states at the end of a step.
 *
 * All their rows together, over all subsystems:
 *   minimise 1/2 dq^T M dq  subject to s(q + dq) = 0  (Newton), then  1/2 dv^T M dv  subject to s' = 0,
 * the subsystems' own constraints kept. Subsystems answer to impulses kappa along the rows on their ports; with W_i
 * the answers of the rows of subsystem i,
 *   S kappa = -s,   S = sum over i of W_i,
 * one block per coupling and one per pair of couplings that share a subsystem. Rows that depend on others give a
 * minimum-norm solution. Trial states and y_new change; accepted states, the history and w do not. */
#ifndef YOKE_COUPLING_STATE_RESET_H
#define YOKE_COUPLING_STATE_RESET_H

#include "coupling/graph_internal.h"

/* `of_trials`: trial states and y_new, of couplings whose formulation resets states and of all joints that these may open, whatever their
 * formulation (F8); else accepted states and y, of all joints. *out NULL:
 * there is nothing to reset. Refuses subsystems that cannot be reset. */
yoke_status yoke_state_reset_create(yoke_context *ctx, const yoke_graph *graph, bool of_trials, yoke_state_reset **out);
void        yoke_state_reset_destroy(yoke_state_reset **reset);

/* States onto s = 0 and s' = 0. YOKE_NOT_CONVERGED when positions cannot get there. */
yoke_status yoke_state_reset_run(yoke_state_reset *reset, yoke_graph *graph, yoke_context *ctx);

#endif
