/* Block LDL^T: factors of a symmetric positive definite matrix made of small dense blocks on a graph.
 *
 * Node i carries a diagonal block of size[i] <= YOKE_BLOCK_MAX rows, edge e an off-diagonal block. The elimination
 * order (approximate minimum degree), the fill and the target of every update are found once; a numeric factorisation
 * is a loop over precomputed offsets. The object is constant; values live in an array of the caller. */
#ifndef YOKE_LINALG_BLOCK_LDL_H
#define YOKE_LINALG_BLOCK_LDL_H

#include <yoke/context.h>
#include <stddef.h>

enum { YOKE_BLOCK_MAX = 8 };

typedef struct yoke_block_ldl yoke_block_ldl;

/* Edges (a[e], b[e]) with a != b; repeated edges share one block. */
yoke_status yoke_block_ldl_create(yoke_context *ctx, int n_nodes, const int *size, int n_edges, const int *a,
                                  const int *b, yoke_block_ldl **out);
void        yoke_block_ldl_destroy(yoke_block_ldl **ldl);

/* Doubles that `values` needs: blocks, then scratch of the factorisation. The first `n_blocks` of them are the blocks. */
size_t yoke_block_ldl_n_values(const yoke_block_ldl *ldl);
size_t yoke_block_ldl_n_blocks(const yoke_block_ldl *ldl);

/* Offset of a block in values. Diagonal blocks: [size, size] row major, the lower triangle is read. Edge blocks: rows of node
 * *row_node, columns of the other one, row major. */
size_t yoke_block_ldl_diagonal(const yoke_block_ldl *ldl, int node);
size_t yoke_block_ldl_edge(const yoke_block_ldl *ldl, int edge, int *row_node);

/* Values (all blocks set, zero where there is only fill) are overwritten by the factors. A pivot that is not larger than
 * `smallest` times the original diagonal entry gives YOKE_SINGULAR (values are then lost). */
yoke_status yoke_block_ldl_factor(const yoke_block_ldl *ldl, double *values, double smallest);

/* Solve in place; x is ordered by node: node i starts at the sum of the sizes of the nodes before it. */
void yoke_block_ldl_solve(const yoke_block_ldl *ldl, const double *values, double *x);
/* The same for n right-hand sides side by side, x [rows, n] (columns.h). */
void yoke_block_ldl_solve_many(const yoke_block_ldl *ldl, const double *values, int n, double *x);

#endif
