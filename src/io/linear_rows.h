/* Constraint rows C x = c of a linear body, written as coordinates of their own.
 *
 * Every row gives y = C x and takes the place of one freedom p of the body that it determines. With E the inverse of the columns P of C,
 *   x_P = E y - A x_R,   A = E C_R,   x = T (y at P, x_R),
 * so that the body is a linear one again, with matrices T^T M T and loads T^T f, and the rows are joints that hold y at c: their multipliers are those
 * of C x = c, rows scaled to a largest entry of 1. */
#ifndef YOKE_IO_LINEAR_ROWS_H
#define YOKE_IO_LINEAR_ROWS_H

#include "base/memory.h"
#include "model/model.h"

typedef struct linear_rows {
  int     m, n;      /* rows, freedoms */
  double *C;         /* [m, n] */
  double *value;     /* [m] c */
  double *A;         /* [m, n] row l: how much of x_j is in x_pivot[l], and 1 in that column */
  double *E;         /* [m, m] */
  double *hold;      /* [m] scratch */
  double *sum;       /* [n] a row of a product */
  int    *filled;    /* [n] its columns that were touched */
  bool   *is_filled; /* [n] false in between */
  int    *pivot;     /* [m] which freedom a row determines */
  int    *row_at;    /* [n] which row determines a freedom; -1: none */
} linear_rows;

bool linear_rows_create(yoke_arena *arena, int m, int n, linear_rows *out);

typedef enum linear_rows_verdict {
  LINEAR_ROWS_SOLVED,
  LINEAR_ROWS_EMPTY,     /* a row is 0 */
  LINEAR_ROWS_DEPENDENT, /* a row follows from the others */
  LINEAR_ROWS_NEAR,      /* it nearly does: digits would be lost without a word */
  LINEAR_ROWS_TAKEN      /* a row, with the help of the others, is over freedoms alone that it may not determine */
} linear_rows_verdict;

/* C and value are given, rows are scaled to a largest entry of 1. `is_taken` [n]: it may not be determined. *row: of which one the verdict tells. */
linear_rows_verdict linear_rows_solve(linear_rows *rows, const bool *is_taken, int *row);

/* Row i of T^T A T: numbers in `sum`, in the columns `filled`, in any order; the result is how many these are, all others are 0.
 * A is stored in another order of the freedoms: its row place[i] is freedom i, its column j freedom number[j]. */
int linear_rows_product(linear_rows *rows, const yoke_symmetric *A, const int *place, const int *number, int i);

/* f := T^T f; x := (C x at P, x_R). */
void linear_rows_load(const linear_rows *rows, double *f);
void linear_rows_state(const linear_rows *rows, double *x);

#endif
