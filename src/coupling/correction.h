/* Newton correction of the node values: (dc/dw) delta = -c. */
#ifndef YOKE_COUPLING_CORRECTION_H
#define YOKE_COUPLING_CORRECTION_H

#include "coupling/graph_internal.h"

/* dc/dw from the columns dy/dw of the last pass, factored. */
yoke_status graph_make_matrix(yoke_graph *graph, yoke_context *ctx);

/* delta := -(dc/dw)^-1 c for graph->c. With Broyden's method `graph->delta` and the change of c since the last correction
 * improve the matrix first (`improve`). */
yoke_status graph_correct(yoke_graph *graph, yoke_context *ctx);

/* Broyden: B += (c_new - c_old - B delta) delta^T / |delta|^2. `c_old` [n_c]. */
void graph_broyden_improve(yoke_graph *graph, const double *c_old, const double *delta);

#endif
