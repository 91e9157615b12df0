/* Layout: how a channel's value over one macro step follows from node values.
 *
 * Local time s = (t - T_N) / H in [0, 1]. Nodes with s > 0 are the unknowns w of the step, the last one is s = 1;
 * nodes with s <= 0 are accepted values of the past (the history), newest first. Pieces:
 *
 *   kind   degree  pieces and their nodes                                        unknown nodes
 *   end    k       [0,1]: 1, 0, -1, ... (k + 1 nodes; k = 0: node 1 only)         1
 *   half   0       [0,1/2]: 1/2;  [1/2,1]: 1                                      1/2, 1
 *          1       [0,1/2]: 1/2, 0;  [1/2,1]: 1, 1/2                              1/2, 1
 *          2       [0,1]: 1, 1/2, 0                                               1/2, 1
 *          3, 4    [0,1]: 1, 1/2, 0, -1, ... (k + 1 nodes)                        1/2, 1
 *   third  0, 1    the same with n1 = 1/3, n2 = 2/3 (positions can be chosen)     n1, n2, 1
 *          3       [0,1]: 1, n2, n1, 0                                            n1, n2, 1
 *
 * All grids of the past may be non-equidistant. Everything is linear in w. */
#ifndef YOKE_COUPLING_LAYOUT_H
#define YOKE_COUPLING_LAYOUT_H

#include <yoke/status.h>

typedef enum yoke_layout_kind { YOKE_LAYOUT_END, YOKE_LAYOUT_HALF, YOKE_LAYOUT_THIRD } yoke_layout_kind;

enum { YOKE_LAYOUT_MAX_DEGREE = 5, YOKE_LAYOUT_MAX_NODES = 3, YOKE_LAYOUT_MAX_PIECES = 3 };

typedef struct yoke_layout {
  yoke_layout_kind kind;
  int              degree;   /* of its polynomials */
  double           inner[2]; /* positions of inner nodes, 0 < inner[0] < inner[1] < 1 */
} yoke_layout;

int    yoke_layout_n_nodes(const yoke_layout *layout);     /* unknowns per channel */
double yoke_layout_node(const yoke_layout *layout, int j); /* s of unknown node j */
int    yoke_layout_n_pieces(const yoke_layout *layout);
double yoke_layout_break(const yoke_layout *layout, int p); /* s where piece p ends */
int    yoke_layout_n_past(const yoke_layout *layout);       /* past values needed */

/* The past of one channel: values at the macro points before and at T_N, newest first. */
typedef struct yoke_past {
  int           n;
  const double *s; /* [n] local times, s[0] = 0, decreasing */
  const double *u; /* [n] */
} yoke_past;

/* Coefficients of piece p in powers of (s - start of the piece), c[0 .. YOKE_LAYOUT_MAX_DEGREE], unused ones 0. */
void yoke_layout_piece(const yoke_layout *layout, const yoke_past *past, const double *w, int p, double *c);

/* The only piece of an `end` layout: c[0 .. degree] of the polynomial through w at s = 1 and the past u at the times s. */
void yoke_layout_end_piece(int degree, const double *s, const double *u, double w, double *c);

typedef struct yoke_layout_measures {
  double
         end_derivative; /* du/ds at s = 1 from the left. Piecewise constant layouts use the difference of the last two nodes (the
                          * half-step layout's own rule); an `end` layout of degree 0 has derivative 0. */
  double integral; /* of u over s in [0, 1] */
} yoke_layout_measures;

yoke_layout_measures yoke_layout_measure(const yoke_layout *layout, const yoke_past *past, const double *w);

/* Derivatives of both by w [n_nodes]; the past gives its times only. */
void yoke_layout_slopes(const yoke_layout *layout, const yoke_past *past, yoke_layout_measures *by_w);

/* Weights of the polynomial through the times s[0 .. n-1] evaluated at `at`: value = sum weight[i] u[i]. */
void yoke_lagrange_weights(int n, const double *s, double at, double *weight);

#endif
