/* Parts of a recurrence: linear forms, signals and sides. Private to src/analysis/recurrence*.c.
 *
 * Everything in a macro step is a linear form over the vector V = (Y_N, w): Y_N the state of the recurrence, w the unknown node values
 * of the step. A form is an array of `nv` coefficients. Time runs from 0 to 1. */
#ifndef YOKE_ANALYSIS_RECURRENCE_PARTS_H
#define YOKE_ANALYSIS_RECURRENCE_PARTS_H

#include "analysis/oscillator.h"
#include "analysis/recurrence.h"

enum {
  PART_UNKNOWNS = 8,
  PART_NV       = YOKE_RECURRENCE_MAX + PART_UNKNOWNS,
  PART_DEGREE   = 7,
  PART_PIECES   = 3,
  PART_NODES    = 16,
  PART_CHANNELS = 5,
  PART_LENGTHS  = 6
};

typedef double part_form[PART_NV];

/* u(start + t) = sum_j coefficient_j t^j / j!,  0 <= t <= length */
typedef struct part_piece {
  double    start, length;
  int       degree;
  part_form coefficient[PART_DEGREE + 1];
} part_piece;

typedef struct part_signal {
  int        n_pieces;
  part_piece piece[PART_PIECES];
} part_signal;

/* A node of a piece: the value of the signal at `at` is the form, or entry `unit` of V. */
typedef struct part_node {
  double        at;
  int           unit;
  const double *form; /* NULL: unit */
} part_node;

/* y += s x */
static inline void part_add(int nv, double *y, double s, const double *x) {
  for (int i = 0; i < nv; ++i) y[i] += s * x[i];
}

void part_clear(int nv, double *form);
void part_unit(int nv, int unit, double *form);

/* Coefficients of t^j / j!, t = time - start, of the n Lagrange polynomials of the times at[]: [n][PART_DEGREE + 1]. n <= PART_DEGREE + 1. */
void part_lagrange(int n, const double *at, double start, double coefficient[][PART_DEGREE + 1]);

/* Value of the polynomial with these coefficients at t. */
double part_polynomial(const double coefficient[PART_DEGREE + 1], double t);

/* The piece through n nodes. */
void part_interpolate(int nv, double start, double length, int n, const part_node *nodes, part_piece *piece);

void part_end_value(int nv, const part_signal *signal, double *form); /* at time 1, from the left */

/* One mass on a spring and a damper, x'' = -c x - d x' + input. */
typedef struct part_side {
  double   c, d;
  int      n_phi;
  int      n_lengths;
  yoke_phi phi[PART_LENGTHS]; /* by length, made when first asked for */
} part_side;

void part_side_open(part_side *side, double c, double d, int n_phi);

/* z(1) and, when p is not NULL, its integral p of x over the step, from z(0) = (x, v). */
typedef struct part_motion {
  part_form x, v, p;
} part_motion;

/* Free motion from entries x and v of V. */
void part_free_motion(part_side *side, int nv, int x, int v, bool with_integral, part_motion *motion);
/* Adds what the input B signal does, B = (rate of x, rate of v). */
void part_add_input(part_side *side, int nv, const double B[2], const part_signal *signal, bool with_integral,
                    part_motion *motion);

/* Solve the n conditions  row . V = 0  for the last n entries of V: w = solution Y,  solution [n][n_Y]. */
yoke_status part_solve(int n_Y, int n, part_form *rows, part_form *solution);

#endif
