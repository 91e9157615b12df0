/* The numeric object of KLU: pivot order, L and U of every diagonal block, entries of the blocks above them.
 *
 * KLU makes one, refactors it and solves with it. What KLU has no function for is here: room for one, the pivot order of another
 * one, its growth, and its content as bytes. `entry` is the size of a number: one double, or two (complex).
 *
 * Packed is the content itself, not the matrix with its pivot order: klu_refactor sums in the order in which KLU found the entries
 * of the columns of L and U, so that these patterns would have to be packed in either case, and every factor would have to keep
 * the matrix it was made of. So the bits are the same in the other process without a further factorisation in this one. */
#ifndef YOKE_LINALG_NUMERIC_H
#define YOKE_LINALG_NUMERIC_H

#include "base/pack.h"
#include <suitesparse/klu.h>

/* A copy with the pivots and patterns of another one, for klu_refactor: numbers will be overwritten. Gives; NULL: no memory. */
klu_numeric *yoke_numeric_clone(const klu_numeric *from, size_t entry, const klu_common *common);

/* Pivots and patterns of `from` into `to`. False: their sizes differ, nothing changed. */
bool yoke_numeric_assign(klu_numeric *to, const klu_numeric *from, size_t entry);

void yoke_numeric_free(klu_numeric **numeric, size_t entry, const klu_common *common);

/* Growth: the largest entry of U (complex: |re| + |im|); rows of the matrix were scaled to a largest entry of 1. Infinity when a
 * pivot is zero or not finite. */
double yoke_numeric_growth(const klu_symbolic *symbolic, const klu_numeric *numeric, size_t entry);

/* `numeric` of the matrix that `symbolic` has ordered; the other process must have the same. Gives; NULL: `in` has failed
 * (indices out of place are a failure too) or there is no memory. */
void         yoke_numeric_pack(const klu_symbolic *symbolic, const klu_numeric *numeric, size_t entry, yoke_pack *pack);
klu_numeric *yoke_numeric_unpack(const klu_symbolic *symbolic, size_t entry, const klu_common *common, yoke_unpack *in);

#endif
