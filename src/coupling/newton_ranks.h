/* Newton matrix on ranks: each rank makes rows and factors of some parts of the matrix (linalg/block_lu.h) and tells the others the factors, in one exchange more; couplings
 * between the parts, and solutions, are everybody's. The numbers are those of the matrix that a rank makes alone, to the bit.
 *
 * What that gains depends on processors and network. Where it can gain at all, from the sizes, the first matrices are made both ways in turn, and the way goes on that
 * took rank 0 less time. */
#ifndef YOKE_COUPLING_NEWTON_RANKS_H
#define YOKE_COUPLING_NEWTON_RANKS_H

#include "coupling/graph_internal.h"

/* Collective: parts and who makes them, into graph->newton_ranks; NULL there where every rank makes the whole matrix: one set of conditions, factors by blocks, and products worth
 * their bytes are what it takes. The graph has its relay. */
yoke_status newton_ranks_create(yoke_graph *graph, yoke_context *ctx);

/* Collective: graph->factor[0] of the columns of the last pass. Status as of graph_newton_factor, or what ended the work of all ranks. */
yoke_status newton_ranks_make(yoke_graph *graph);

#endif
