/* Every function of A is one I + by_A A, because A^2 = -c I - d A: products need four multiplications. phi_j by its series at
 * Z / 2^s, which is small, then s doublings:
 *   phi_j(2 Z) = 2^-j [exp(Z) phi_j(Z) + sum_{k=1..j} phi_k(Z) / (j - k)!]. */
#include "analysis/oscillator.h"

#include <math.h>

enum { N_TERMS = 15 }; /* of the series, with |Z| <= 1/2: the first one left out is below 1e-16 */

static const double inverse_factorial[YOKE_PHI_MAX + N_TERMS + 1] = {
    1.0,
    1.0,
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40320.0,
    1.0 / 362880.0,
    1.0 / 3628800.0,
    1.0 / 39916800.0,
    1.0 / 479001600.0,
    1.0 / 6227020800.0,
    1.0 / 87178291200.0,
    1.0 / 1307674368000.0,
    1.0 / 20922789888000.0,
    1.0 / 355687428096000.0,
    1.0 / 6402373705728000.0,
    1.0 / 121645100408832000.0,
    1.0 / 2432902008176640000.0,
    1.0 / 51090942171709440000.0,
    1.0 / 1124000727777607680000.0,
    1.0 / 25852016738884976640000.0,
    1.0 / 620448401733239439360000.0,
    1.0 / 15511210043330985984000000.0,
};

/* one I + by_Z Z with Z^2 = -p I - q Z */
typedef struct pair {
  double one, by_Z;
} pair;

/* phi_0 ... phi_{n-1} at a small Z: the highest by its series, the others by phi_j = Z phi_{j+1} + I/j!. */
static void series(double p, double q, int n, pair *phi) {
  pair sum = {inverse_factorial[n - 1 + N_TERMS], 0.0};
  for (int k = N_TERMS - 1; k >= 0; --k) {
    sum = (pair){inverse_factorial[n - 1 + k] - p * sum.by_Z, sum.one - q * sum.by_Z};
  }
  phi[n - 1] = sum;
  for (int j = n - 2; j >= 0; --j) {
    phi[j] = (pair){inverse_factorial[j] - p * phi[j + 1].by_Z, phi[j + 1].one - q * phi[j + 1].by_Z};
  }
}

/* From Z to 2 Z; p and q are those of Z. */
static void double_argument(double p, double q, int n, pair *phi) {
  const pair e     = phi[0];
  double     scale = 1.0; /* 2^-j */
  pair       next[YOKE_PHI_MAX];
  for (int j = 0; j < n; ++j, scale *= 0.5) {
    const double both = e.by_Z * phi[j].by_Z;
    pair         sum  = {e.one * phi[j].one - p * both, e.one * phi[j].by_Z + e.by_Z * phi[j].one - q * both};
    for (int k = 1; k <= j; ++k) {
      sum.one += phi[k].one * inverse_factorial[j - k];
      sum.by_Z += phi[k].by_Z * inverse_factorial[j - k];
    }
    next[j] = (pair){scale * sum.one, 0.5 * scale * sum.by_Z}; /* by_Z counts for 2 Z now */
  }
  for (int j = 0; j < n; ++j) phi[j] = next[j];
}

void yoke_phi_make(double c, double d, double h, int n, yoke_phi *phi) {
  double       p = c * h * h, q = d * h;
  const double size = fmax(sqrt(fabs(p)), fabs(q));
  int          s    = 0;
  if (size > 0.5 && isfinite(size)) {
    frexp(2.0 * size, &s); /* 2 size = f 2^s, f < 1 */
  }
  pair list[YOKE_PHI_MAX];
  p = ldexp(p, -2 * s);
  q = ldexp(q, -s);
  series(p, q, n, list);
  for (int k = 0; k < s; ++k, p *= 4.0, q *= 2.0) double_argument(p, q, n, list);
  *phi = (yoke_phi){.h = h, .c = c, .d = d};
  for (int j = 0; j < n; ++j) {
    phi->one[j]  = list[j].one;
    phi->by_A[j] = h * list[j].by_Z;
  }
}
