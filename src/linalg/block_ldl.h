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
/* The same in two parts that no edge joins, and what is between them: part[node] is 0, 1 or YOKE_BLOCK_BETWEEN, which is eliminated last, so that
 * the parts are factored and solved side by side (below). */
enum { YOKE_BLOCK_BETWEEN = 2 };
yoke_status yoke_block_ldl_create_in_parts(yoke_context *ctx, int n_nodes, const int *size, const int *part,
                                           int n_edges, const int *a, const int *b, yoke_block_ldl **out);
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

/* In parts. Part 0 and part 1 may go side by side, what is between comes behind both: nothing that they write is shared, and what they leave between
 * them is summed there in their order. So the bits do not depend on who goes when; they are not those of yoke_block_ldl_factor and _solve.
 *   clear    blocks of one part (edges to what is between are those of the part), or between
 *   forward  begins a solve, `between` has both ways, backward ends it
 * Solves keep sums behind the values. */
void        yoke_block_ldl_clear_part(const yoke_block_ldl *ldl, double *values, int part);
yoke_status yoke_block_ldl_factor_part(const yoke_block_ldl *ldl, double *values, double smallest, int part);
yoke_status yoke_block_ldl_factor_between(const yoke_block_ldl *ldl, double *values, double smallest);
void        yoke_block_ldl_forward_part(const yoke_block_ldl *ldl, double *values, double *x, int part);
void        yoke_block_ldl_solve_between(const yoke_block_ldl *ldl, double *values, double *x);
void        yoke_block_ldl_backward_part(const yoke_block_ldl *ldl, const double *values, double *x, int part);

#endif
