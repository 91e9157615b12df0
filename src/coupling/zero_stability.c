#include "coupling/zero_stability.h"
#include "linalg/lapack.h"

#include <math.h>
#include <stddef.h>

enum { MAX_DEGREE = YOKE_LAYOUT_MAX_DEGREE, MAX_STATES = 2 + MAX_DEGREE, WORK = 34 };

/* P = int (1 - s) l, Q = int l over the step, of the basis function l of node `node` of the multiplier's polynomial:
 * 0 is the end of the step, j the j-th point of the past. */
static void basis_moments(int degree, int node, double *P, double *Q) {
  const yoke_layout layout = {.kind = YOKE_LAYOUT_END, .degree = degree};
  double            s[MAX_DEGREE + 1], u[MAX_DEGREE + 1] = {0.0}, c[MAX_DEGREE + 1];
  const double      w = node == 0 ? 1.0 : 0.0;
  for (int j = 0; j <= MAX_DEGREE; ++j) s[j] = -j;
  if (node > 0) u[node - 1] = 1.0;
  const yoke_past past = {.n = MAX_DEGREE + 1, .s = s, .u = u};
  yoke_layout_piece(&layout, &past, &w, 0, c);
  *P = *Q = 0.0;
  for (int i = 0; i <= degree; ++i) {
    *P += c[i] / ((i + 1.0) * (i + 2.0));
    *Q += c[i] / (i + 1.0);
  }
}

/* In steps, with z = (e, e', l_N, ..., l_{N-k+1}):
 *   e+ = e + e' + P0 l+ + sum P_j l_j,   e'+ = e' + Q0 l+ + sum Q_j l_j,   e''+ = l+,
 *   l+ = -(e + e' + sum P_j l_j + beta (e' + sum Q_j l_j)) / (P0 + beta Q0 + gamma). */
double yoke_parasitic_factor(int degree, double beta, double gamma) {
  double    A[MAX_STATES][MAX_STATES] = {{0.0}}, P[MAX_DEGREE + 1] = {0.0}, Q[MAX_DEGREE + 1] = {0.0};
  double    re[MAX_STATES], im[MAX_STATES], by_columns[MAX_STATES * MAX_STATES], work[WORK * MAX_STATES];
  const int n = 2 + degree;
  for (int j = 0; j <= degree; ++j) basis_moments(degree, j, &P[j], &Q[j]);
  for (int c = 0; c < n; ++c) {
    const double e = c < 2 ? 1.0 : P[c - 1], v = c == 0 ? 0.0 : c == 1 ? 1.0 : Q[c - 1];
    const double next = -(e + beta * v) / (P[0] + beta * Q[0] + gamma);
    A[0][c]           = e + P[0] * next;
    A[1][c]           = v + Q[0] * next;
    if (degree > 0) A[2][c] = next;
  }
  for (int r = 3; r < n; ++r) A[r][r - 1] = 1.0;
  for (int r = 0; r < n; ++r) { /* by columns */
    for (int c = 0; c < n; ++c) {
      if (isnan(A[r][c])) return NAN;
      by_columns[c * n + r] = A[r][c];
    }
  }
  if (lapack_dgeev_work('N', 'N', n, by_columns, n, re, im, NULL, 1, NULL, 1, work, WORK * n) != 0) return NAN;
  double largest = 0.0;
  for (int i = 0; i < n; ++i) largest = fmax(largest, hypot(re[i], im[i]));
  return largest;
}

void yoke_weights_as_times(int degree, double a, double b, double *beta, double *gamma) {
  double P, Q;
  basis_moments(degree, 0, &P, &Q);
  *beta  = a * P / Q;
  *gamma = b * P;
}
