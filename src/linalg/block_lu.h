/* Block LU: factors of a matrix made of dense blocks on a graph, by its elimination tree.
 *
 * Block i holds rows and columns first_row[i] ... first_row[i + 1] - 1; two blocks are neighbours where the pattern has an entry in one's rows and the other's
 * columns. Order, fill and the target of every update are found once. The columns fall into *parts*, subtrees that know nothing of each other, and the
 * *top*, which is eliminated last: parts may be factored side by side, and what they leave to the top is summed there in their order, so that the bits do not depend on who
 * goes when. A chain of blocks is eliminated from both ends and has two parts.
 *
 * Rows are scaled by their largest entry, pivots are chosen within a block. Where that is not good enough the caller has to do without: a multiplier above
 * 1e5, or a pivot that is 0, is YOKE_SINGULAR. The object is constant; factors live in an array of the caller. */
#ifndef YOKE_LINALG_BLOCK_LU_H
#define YOKE_LINALG_BLOCK_LU_H

#include "linalg/sparse.h"
#include <stdbool.h>

typedef struct yoke_block_lu yoke_block_lu;

/* first_row [n_blocks + 1] from 0 to the rows of the pattern (keeps), which is square; blocks of no rows are fine. Where factors and the targets of their
 * updates take more than `most` bytes (0: any number is fine) *out is NULL, and nothing has failed. Gives. */
yoke_status yoke_block_lu_create(yoke_context *ctx, const yoke_pattern *pattern, int n_blocks, const int *first_row,
                                 double most, yoke_block_lu **out);
void        yoke_block_lu_destroy(yoke_block_lu **lu);

int yoke_block_lu_n_parts(const yoke_block_lu *lu);
/* Of a block; the number of parts: the top. */
int yoke_block_lu_part(const yoke_block_lu *lu, int block);

/* Products of a factorisation: of a part, of the top (part: their number), of all (-1). */
double yoke_block_lu_work(const yoke_block_lu *lu, int part);

/* Doubles of the factors; there is one pivot for every row. What a part writes are values[value_begin, value_end), scales[row_begin, row_end), which lie behind
 * the values of all, and pivots[row_begin, row_end). */
typedef struct yoke_block_span {
  size_t value_begin, value_end, row_begin, row_end;
} yoke_block_span;
size_t          yoke_block_lu_n_values(const yoke_block_lu *lu);
size_t          yoke_block_lu_scales(const yoke_block_lu *lu);
yoke_block_span yoke_block_lu_span(const yoke_block_lu *lu, int part);

/* Factors of the values a [nnz] of the pattern. First the scales of the rows of the top, then parts, which read their rows and those of the top, then the
 * top, behind all parts. YOKE_SINGULAR, or YOKE_NON_FINITE where a row has no size. */
yoke_status yoke_block_lu_begin(const yoke_block_lu *lu, const double *a, double *values);
yoke_status yoke_block_lu_factor_part(const yoke_block_lu *lu, const double *a, double *values, int *pivots, int part);
yoke_status yoke_block_lu_factor_top(const yoke_block_lu *lu, const double *a, double *values, int *pivots);

/* Can pivots that came from elsewhere be those of a factorisation? */
bool yoke_block_lu_fits(const yoke_block_lu *lu, const int *pivots);

/* x [rows] in place; work [2 rows]. */
void yoke_block_lu_solve(const yoke_block_lu *lu, const double *values, const int *pivots, double *x, double *work);

#endif
