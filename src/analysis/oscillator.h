/* Oscillator: exact solution of x'' = -c x - d x' + f over a time h with polynomial input, by the functions
 *   phi_0(Z) = exp Z,   phi_{j+1}(Z) = (phi_j(Z) - I/j!) / Z,   Z = A h,  A = [0 1; -c -d]:
 *   z(h) = phi_0 z(0) + sum_j h^{j+1} phi_{j+1} B w_j    for an input  B sum_j w_j t^j / j!,
 * and the same with every index raised by one, times h, for the integral of z. */
#ifndef YOKE_ANALYSIS_OSCILLATOR_H
#define YOKE_ANALYSIS_OSCILLATOR_H

enum { YOKE_PHI_MAX = 10 };

typedef struct yoke_phi {
  double h;
  double c, d;                                  /* of A */
  double one[YOKE_PHI_MAX], by_A[YOKE_PHI_MAX]; /* phi_j = one I + by_A A */
} yoke_phi;

/* phi_0 ... phi_{n-1}, 1 <= n <= YOKE_PHI_MAX; h > 0; relative error of some 1e-15 |Z|. */
void yoke_phi_make(double c, double d, double h, int n, yoke_phi *phi);

/* y = phi_j x, 2-vectors; y may be x. */
static inline void yoke_phi_apply(const yoke_phi *phi, int j, const double x[2], double y[2]) {
  const double x0 = x[0], x1 = x[1];
  y[0] = phi->one[j] * x0 + phi->by_A[j] * x1;
  y[1] = phi->one[j] * x1 - phi->by_A[j] * (phi->c * x0 + phi->d * x1);
}

#endif
