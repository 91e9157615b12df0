/* Sparse matrices with a fixed pattern, and their factors.
 *
 * A pattern is built once from triplets and never changes. Values are plain arrays of `nnz` doubles
 * in the pattern's order, so assembling is a loop over precomputed slots. A factor is immutable once
 * made and counted by reference: an integrator state that keeps one can be copied by copying the
 * pointer and retaining it. */
#ifndef YOKE_LINALG_SPARSE_H
#define YOKE_LINALG_SPARSE_H

#include "base/memory.h"
#include "base/pack.h"
#include <yoke/context.h>
#include <stdint.h>

/* Compressed columns, rows sorted within a column. */
typedef struct yoke_pattern {
  yoke_arena arena; /* holds the pattern itself too */
  int        n_rows, n_cols;
  int        nnz;
  int       *col_start; /* [n_cols + 1] */
  int       *row;       /* [nnz] */
} yoke_pattern;

/* Unique entries of the n triplets (row[i], col[i]); `slot[i]` (may be NULL) receives where triplet i went. */
yoke_status yoke_pattern_create(yoke_context *ctx, int n_rows, int n_cols, int n, const int *row, const int *col,
                                int *slot, yoke_pattern **out);
void        yoke_pattern_destroy(yoke_pattern **pattern);

/* y = A x and y = A^T x; y is overwritten. */
void yoke_sparse_multiply(const yoke_pattern *pattern, const double *a, const double *x, double *y);
void yoke_sparse_multiply_transposed(const yoke_pattern *pattern, const double *a, const double *x, double *y);

typedef enum yoke_linear_kind { YOKE_LINEAR_KLU, YOKE_LINEAR_DENSE, YOKE_LINEAR_BANDED } yoke_linear_kind;

/* What all factors of one pattern share (ordering, band widths): constant after creation, shared by threads. */
typedef struct yoke_linear yoke_linear;

/* Can factors of a matrix of n rows be had? YOKE_E_MEMORY, with a message, where a dense one is larger than all memory. Part of create. */
yoke_status yoke_linear_check(yoke_context *ctx, yoke_linear_kind kind, int n);

yoke_status yoke_linear_create(yoke_context *ctx, const yoke_pattern *pattern /* keeps */, yoke_linear_kind kind,
                               yoke_linear **out);
/* The same for matrices of constrained systems: is_weak[i] (borrows; NULL: none) marks rows and columns of multipliers,
 * whose diagonal entry is zero or tiny. KLU then orders each of them right behind a variable it is coupled with, which
 * makes the diagonal a sound pivot; without the marks pivoting destroys the ordering (fill-in 10 to 100 times). */
yoke_status yoke_linear_create_saddle(yoke_context *ctx, const yoke_pattern *pattern /* keeps */,
                                      const uint8_t *is_weak, yoke_linear_kind kind, yoke_linear **out);
/* The same for the matrices alpha E - J of motions: in each of the first n_levels times n rows, x_i' = x_(n + i), the later ones (velocities, then accelerations)
 * give the earlier ones, so that factors are of the last alone (condense.h). Where the pattern has other entries there it is as above. */
yoke_status yoke_linear_create_motion(yoke_context *ctx, const yoke_pattern *pattern /* keeps */,
                                      const uint8_t *is_weak, yoke_linear_kind kind, int n, int n_levels,
                                      yoke_linear **out);
/* KLU, and factors by dense blocks, which parts of the matrix have side by side (block_lu.h), where these take no more than twice its memory;
 * first_row [n_blocks + 1]. */
yoke_status yoke_linear_create_blocks(yoke_context *ctx, const yoke_pattern *pattern /* keeps */, int n_blocks,
                                      const int *first_row, yoke_linear **out);
void        yoke_linear_destroy(yoke_linear **linear);

enum { YOKE_BLOCK_MOST_PARTS = 64 };

typedef struct yoke_factor yoke_factor; /* LU of one real or complex matrix */

/* Factor the matrix with real part `re` and imaginary part `im` (NULL: real), both [nnz].
 * `*factor` may hold an earlier factor of the same pattern and kind: its pivot order is used again when
 * that is numerically sound (growth check), and its memory is reused when nobody else holds it; the
 * result has the same bits whether or not memory was reused. On failure `*factor` is unchanged or NULL.
 * Returns YOKE_SINGULAR or YOKE_NON_FINITE (recoverable). */
yoke_status  yoke_factor_make(const yoke_linear *linear, const double *re, const double *im, yoke_factor **factor);
yoke_factor *yoke_factor_retain(yoke_factor *factor); /* NULL is fine; thread safe */
void         yoke_factor_release(yoke_factor **factor);

/* The same by blocks: begin, then every part once, by anybody and in any order, then end. Where pivots within blocks are not good enough one of them gives
 * YOKE_SINGULAR, and yoke_factor_make may do better. On failure *factor is NULL, its reference dropped. */
typedef struct yoke_part_work {
  yoke_factor  *factor;
  const double *re;
  yoke_status   status[YOKE_BLOCK_MOST_PARTS];
} yoke_part_work;
int         yoke_linear_n_parts(const yoke_linear *linear); /* 0: there are no blocks */
/* Of a block; the number of parts: none, it comes last. */
int         yoke_linear_part(const yoke_linear *linear, int block);
/* Products that the factors of a part take. */
double      yoke_linear_part_work(const yoke_linear *linear, int part);
/* Bytes of its factors. */
size_t      yoke_linear_part_size(const yoke_linear *linear, int part);
yoke_status yoke_factor_begin_parts(const yoke_linear *linear, const double *re, yoke_factor **factor,
                                    yoke_part_work *work);
void        yoke_factor_part(yoke_part_work *work, int part);
yoke_status yoke_factor_end_parts(yoke_part_work *work, yoke_factor **factor);
/* What a part writes beside its status: where these come from elsewhere the part need not be made here. */
enum { YOKE_PART_PIECES = 3 };
typedef struct yoke_part_piece {
  void  *at;
  size_t size; /* bytes */
} yoke_part_piece;
void yoke_factor_part_pieces(const yoke_part_work *work, int part, yoke_part_piece piece[YOKE_PART_PIECES]);

const yoke_linear *yoke_factor_linear(const yoke_factor *factor);
bool               yoke_factor_is_complex(const yoke_factor *factor);

/* A factor as bytes: it solves, and hands on its pivot order, with the same bits in another process. `linear` there is made of
 * the same pattern, marks and kind (YOKE_E_USAGE otherwise). Gives; on failure *out is NULL. */
void        yoke_factor_pack(const yoke_factor *factor, yoke_pack *pack);
yoke_status yoke_factor_unpack(const yoke_linear *linear, yoke_unpack *in, yoke_context *ctx, yoke_factor **out);

/* Solve in place. Complex vectors are two separate arrays; `im` is NULL for a real factor.
 * `work`: yoke_linear_work_size(linear) doubles owned by the caller; so many for any matrix of n rows. */
size_t yoke_linear_work_size(const yoke_linear *linear);
size_t yoke_linear_work_of_rows(int n);
void   yoke_factor_solve(const yoke_factor *factor, double *re, double *im, double *work);

#endif
