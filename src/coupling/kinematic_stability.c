#include "coupling/kinematic_stability.h"
#include "base/finite.h"
#include "linalg/lapack.h"

#include <math.h>
#include <string.h>

enum {
  MAX_ROWS   = 6,
  MAX_ORDER  = YOKE_LAYOUT_MAX_DEGREE,
  MAX_SIZE   = 2 * MAX_ROWS * (MAX_ORDER + 1), /* of the recursion */
  BISECTIONS = 60
};

static const double rank_limit = 1e-11; /* eigenvalues below this share of the largest are zero */

/* Compliances of forces, 1/m, stand beside those of moments, 1/(m L^2), and no share of one says anything about the other: rank is
 * a matter of rows and columns whose diagonal is about 1. Powers of two add no rounding. */
static void find_scales(int n, const double *A, double *scale) {
  for (int i = 0; i < n; ++i) scale[i] = A[n * i + i] > 0.0 ? exp2(-nearbyint(0.5 * log2(A[n * i + i]))) : 1.0;
}

/* D A D = V diag(d) V^T, D = diag(scale), d ascending; V [n, n], column k at V + n k. */
static bool decompose(int n, const double *A, const double *scale, double *V, double *d) {
  double work[8 * MAX_ROWS];
  if (!yoke_all_finite(n * n, A)) return false;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) V[n * j + i] = 0.5 * (A[n * i + j] + A[n * j + i]) * scale[i] * scale[j];
  }
  return lapack_dsyev_work('V', 'U', n, V, n, d, work, 8 * MAX_ROWS) == 0;
}

void yoke_symmetric_solve(int n, const double *A, const double *b, double *x) {
  double V[MAX_ROWS * MAX_ROWS], d[MAX_ROWS], scale[MAX_ROWS];
  find_scales(n, A, scale);
  if (!yoke_all_finite(n, b) || !decompose(n, A, scale, V, d)) {
    for (int i = 0; i < n; ++i) x[i] = (double)NAN;
    return;
  }
  memset(x, 0, (size_t)n * sizeof *x);
  for (int k = 0; k < n; ++k) {
    double sum = 0.0;
    if (!(d[k] > rank_limit * d[n - 1])) continue;
    for (int i = 0; i < n; ++i) sum += V[n * k + i] * (scale[i] * b[i]);
    for (int i = 0; i < n; ++i) x[i] += scale[i] * (V[n * k + i] * sum / d[k]);
  }
}

/* X := A^-1 B for a symmetric A >= 0, [n, n] row major. */
static void solve_columns(int n, const double *A, const double *B, double *X) {
  for (int j = 0; j < n; ++j) {
    double b[MAX_ROWS] = {0.0}, x[MAX_ROWS];
    for (int i = 0; i < n; ++i) b[i] = B[n * i + j];
    yoke_symmetric_solve(n, A, b, x);
    for (int i = 0; i < n; ++i) X[n * i + j] = x[i];
  }
}

static void multiply(int n, const double *A, const double *B, double *C) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int k = 0; k < n; ++k) sum += A[n * i + k] * B[n * k + j];
      C[n * i + j] = sum;
    }
  }
}

/* With the common compliance S = W_R + W_F: W_F x = theta S x has theta in [0, 1] and the ratio is theta / (1 - theta).
 * Directions that no side can move (S x = 0) do not count. */
bool yoke_interface_mass_ratio(const yoke_interface *in, double *smallest, double *largest) {
  const int n = in->n;
  double    S[MAX_ROWS * MAX_ROWS], V[MAX_ROWS * MAX_ROWS], d[MAX_ROWS], C[MAX_ROWS * MAX_ROWS], theta[MAX_ROWS];
  double    scale[MAX_ROWS], ones[MAX_ROWS];
  int       rank = 0;
  for (int i = 0; i < n * n; ++i) S[i] = in->W_R[i] + in->W_F[i];
  find_scales(n, S, scale);
  if (!decompose(n, S, scale, V, d) || !(d[n - 1] > 0.0)) return false;
  for (int k = 0; k < n; ++k) { /* columns of V become those of S^(-1/2) that span its range */
    if (!(d[k] > rank_limit * d[n - 1])) continue;
    for (int i = 0; i < n; ++i) V[n * rank + i] = scale[i] * V[n * k + i] / sqrt(d[k]);
    ++rank;
  }
  for (int a = 0; a < rank; ++a) {
    for (int b = 0; b < rank; ++b) {
      double sum = 0.0;
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) sum += V[n * a + i] * in->W_F[n * i + j] * V[n * b + j];
      }
      C[rank * a + b] = sum;
    }
  }
  for (int i = 0; i < rank; ++i) ones[i] = 1.0;
  if (!decompose(rank, C, ones, V, theta)) return false;
  const double low = fmax(theta[0], 0.0), high = fmin(theta[rank - 1], 1.0);
  *smallest = low < rank_limit ? 0.0 : low / (1.0 - low);
  *largest  = high > 1.0 - rank_limit ? (double)INFINITY : high / (1.0 - high);
  return true;
}

/* Weights of the extrapolation by one step from equidistant points: +-binomial(order + 1, i + 1). */
static void weights(int order, double alpha[MAX_ORDER + 1]) {
  double binomial = 1.0;
  for (int i = 0; i <= order; ++i) {
    binomial *= (double)(order + 1 - i) / (double)(i + 1);
    alpha[i] = i % 2 == 0 ? binomial : -binomial;
  }
}

/* lambda' = by_lambda lambda~ + by_beta beta~ */
static void feedback(const yoke_interface *in, yoke_kinematic_force force, double *by_lambda, double *by_beta) {
  const int n                         = in->n;
  double    unit[MAX_ROWS * MAX_ROWS] = {0.0}, mu[MAX_ROWS * MAX_ROWS];
  memset(by_lambda, 0, (size_t)(n * n) * sizeof *by_lambda);
  memset(by_beta, 0, (size_t)(n * n) * sizeof *by_beta);
  if (force == YOKE_FORCE_EXACT) return;
  for (int i = 0; i < n; ++i) unit[n * i + i] = 1.0;
  solve_columns(n, in->W_F, unit, mu); /* mu = -W_F^-1 beta~ */
  if (force == YOKE_FORCE_APPROXIMATE) {
    for (int i = 0; i < n * n; ++i) by_beta[i] = -mu[i];
    return;
  }
  double S[MAX_ROWS * MAX_ROWS], right[MAX_ROWS * MAX_ROWS];
  for (int i = 0; i < n * n; ++i) S[i] = in->w_R[i] + in->w_F[i];
  for (int i = 0; i < n * n; ++i) right[i] = in->w_R[i] - in->W_R[i];
  solve_columns(n, S, right, by_lambda);
  multiply(n, in->w_F, mu, right);
  for (int i = 0; i < n * n; ++i) right[i] = unit[i] - right[i];
  solve_columns(n, S, right, by_beta);
}

/* Block [n, n] times alpha_i for every point of the past, into the recursion z' = C z (column major). */
static void put_block(int n, const double *block, int order, int row, int column, int size, double *C) {
  double alpha[MAX_ORDER + 1];
  weights(order, alpha);
  for (int p = 0; p <= order; ++p) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j)
        C[(size_t)size * (size_t)(column + p * n + j) + (size_t)(row + i)] = alpha[p] * block[n * i + j];
    }
  }
}

static double spectral_radius(int size, double *C) {
  double re[MAX_SIZE], im[MAX_SIZE], work[8 * MAX_SIZE], unused[1], radius = 0.0;
  if (!yoke_all_finite(size * size, C)) return (double)NAN;
  if (lapack_dgeev_work('N', 'N', size, C, size, re, im, unused, 1, unused, 1, work, 8 * MAX_SIZE) != 0) {
    return (double)NAN;
  }
  for (int i = 0; i < size; ++i) radius = fmax(radius, hypot(re[i], im[i]));
  return radius;
}

double yoke_kinematic_radius(const yoke_interface *in, yoke_kinematic_force force, yoke_kinematic_outputs outputs,
                             int order_force, int order_motion) {
  const int n = in->n, beta = n * (order_force + 1);
  const int size                   = outputs == YOKE_OUTPUTS_SEQUENTIAL ? beta : beta + n * (order_motion + 1);
  double    C[MAX_SIZE * MAX_SIZE] = {0.0}, by_lambda[MAX_ROWS * MAX_ROWS], by_beta[MAX_ROWS * MAX_ROWS];
  feedback(in, force, by_lambda, by_beta);
  if (outputs == YOKE_OUTPUTS_SEQUENTIAL) { /* beta' = W_R lambda~ at once */
    double through[MAX_ROWS * MAX_ROWS];
    multiply(n, by_beta, in->W_R, through);
    for (int i = 0; i < n * n; ++i) by_lambda[i] += through[i];
  } else {
    put_block(n, by_beta, order_motion, 0, beta, size, C);
    put_block(n, in->W_R, order_force, beta, 0, size, C);
  }
  put_block(n, by_lambda, order_force, 0, 0, size, C);
  for (int i = 0; i < n * order_force; ++i) C[(size_t)size * (size_t)i + (size_t)(n + i)] = 1.0; /* shifts */
  for (int i = beta; i < size - n; ++i) C[(size_t)size * (size_t)i + (size_t)(n + i)] = 1.0;
  return spectral_radius(size, C);
}

double yoke_kinematic_threshold(yoke_kinematic_outputs outputs, int order_force, int order_motion) {
  double low = 1e-3, high = 1e9;
  for (int k = 0; k < BISECTIONS; ++k) { /* of the logarithm */
    const double         ratio = sqrt(low * high), one = 1.0;
    const yoke_interface in = {.n = 1, .W_R = &one, .W_F = &ratio};
    const double radius     = yoke_kinematic_radius(&in, YOKE_FORCE_APPROXIMATE, outputs, order_force, order_motion);
    *(radius < 1.0 ? &high : &low) = ratio;
  }
  return high;
}
