/* Newton correction of the node values: (dc/dw) delta = -c.
 *
 * With weighted sets of conditions (formulation.h) one solve per set s, J_s delta_s = -c_s, all with the same dy/dw; the
 * nodes of a coupling take the mean of the delta_s with its own weights. Couplings without sets have the same conditions
 * in every solve and take the mean with the weights of the first coupling that has the most sets: linear conditions then
 * hold at the mean as they hold in every solve. */
#ifndef YOKE_COUPLING_CORRECTION_H
#define YOKE_COUPLING_CORRECTION_H

#include "coupling/graph_internal.h"

/* dc/dw of every set from the columns dy/dw of the last pass, factored. */
yoke_status graph_make_matrix(yoke_graph *graph, yoke_context *ctx);

/* x := (dc/dw)^-1 x with the matrix of set 0, x [n_c]. */
yoke_status graph_solve(yoke_graph *graph, double *x, yoke_context *ctx);

/* delta := -(dc/dw)^-1 c for graph->c. With Broyden's method `graph->delta` and the change of c since the last correction
 * improve the matrix first (`improve`). */
yoke_status graph_correct(yoke_graph *graph, yoke_context *ctx);

/* Largest |c| of the last pass, which graph->c holds afterwards, and with `has_conditions` before. With several sets the
 * combination that the correction brings to zero: J_0 times the mean correction that is still missing, with the matrices of the
 * step (one set: c itself). graph->delta is lost. */
yoke_status graph_remainder(yoke_graph *graph, bool has_conditions, double *largest, yoke_context *ctx);

/* Broyden: B += (c_new - c_old - B delta) delta^T / |delta|^2. `c_old` [n_c]. */
void graph_broyden_improve(yoke_graph *graph, const double *c_old, const double *delta);

#endif
