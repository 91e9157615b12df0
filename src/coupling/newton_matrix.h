/* Newton matrix: dc/dw of all couplings, from the columns dy/dw of the last pass, and its factors.
 *
 * Conditions of a coupling see its own unknowns and all that enter its two subsystems, so rows of different couplings are found side by side; and its unknowns are one dense block
 * of the matrix, whose factors are found part by part (linalg/block_lu.h) where that is quicker than KLU. Both are lists of tasks where they are long enough, with the same bits for any number of
 * threads. Every rank makes the whole matrix for itself, or a part of it (newton_ranks.h). */
#ifndef YOKE_COUPLING_NEWTON_MATRIX_H
#define YOKE_COUPLING_NEWTON_MATRIX_H

#include "coupling/graph_internal.h"

/* Pattern, order of elimination and tasks. Nothing where there are no conditions. */
yoke_status graph_newton_create(yoke_graph *graph, yoke_context *ctx);
void        graph_newton_destroy(yoke_graph *graph);

/* graph->J: the matrices of all sets of conditions. */
void graph_newton_assemble(yoke_graph *graph);

/* graph->factor[set] of graph->J. YOKE_SINGULAR, YOKE_NON_FINITE, or YOKE_E_MEMORY without a message. */
yoke_status graph_newton_factor(yoke_graph *graph, int set);

/* Rows of one coupling of the first set, added to graph->J, by a worker of graph->exec; and how many products they take. */
void   graph_newton_add_rows(const yoke_graph *graph, int wire, int worker);
double graph_newton_products(const yoke_graph *graph, int wire);

#endif
