/* The exact step of an oscillator against closed forms, in every regime of damping and for any size of the step. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "analysis/oscillator.h"

enum { N_PHI = YOKE_PHI_MAX };

static void without_forces_the_functions_are_those_of_free_flight(void **state) {
  (void)state;
  yoke_phi phi;
  double   factorial = 1.0; /* phi_j = I/j! + A h/(j+1)! */
  yoke_phi_make(0.0, 0.0, 0.3, N_PHI, &phi);
  for (int j = 0; j < N_PHI; ++j) {
    CHECK_NEAR(phi.one[j] * factorial, 1.0, 1e-15);
    factorial *= (double)(j + 1);
    CHECK_NEAR(phi.by_A[j] * factorial / 0.3, 1.0, 1e-15);
  }
}

/* Free motion from (1, 0) and (0, 1): oscillating, creeping and critical. */
static void closed_form(double c, double d, double h, double z[2][2]) {
  const double r = -0.5 * d, w2 = c - r * r, e = exp(r * h);
  double       cosine, sine; /* sine: sin(w h) / w */
  if (fabs(w2) * h * h < 1e-8) {
    cosine = 1.0 - 0.5 * w2 * h * h;
    sine   = h * (1.0 - w2 * h * h / 6.0);
  } else if (w2 > 0.0) {
    cosine = cos(sqrt(w2) * h);
    sine   = sin(sqrt(w2) * h) / sqrt(w2);
  } else {
    cosine = cosh(sqrt(-w2) * h);
    sine   = sinh(sqrt(-w2) * h) / sqrt(-w2);
  }
  z[0][0] = e * (cosine - r * sine);
  z[0][1] = e * -c * sine;
  z[1][0] = e * sine;
  z[1][1] = e * (cosine + r * sine);
}

static const double cases[][2] = {{1.0, 0.0},   {4.0, 0.3},  {100.0, 20.0}, {1e-6, 1e-4}, {0.0, 3.0},
                                  {25.0, 40.0}, {1e4, 10.0}, {9000.0, 0.0}, {-2.0, 0.1},  {3.0, -0.2}};
enum { N_CASES = sizeof cases / sizeof *cases };

static void free_motion_is_exact(void **state) {
  (void)state;
  for (int i = 0; i < N_CASES; ++i) {
    const double c = cases[i][0], d = cases[i][1], w = sqrt(fmax(fabs(c), 1.0));
    for (double h = 1e-3; h < 1.5; h *= 3.0) {
      yoke_phi phi;
      double   z[2][2];
      yoke_phi_make(c, d, h, 3, &phi);
      closed_form(c, d, h, z);
      const double size = fmax(1.0, fabs(z[0][0]));
      for (int k = 0; k < 2; ++k) {
        const double unit[2] = {k == 0, k == 1};
        double       y[2];
        yoke_phi_apply(&phi, 0, unit, y);
        /* velocities in units of w */
        CHECK_NEAR(y[0] * (k == 1 ? w : 1.0), z[k][0] * (k == 1 ? w : 1.0), 4e-13 * size);
        CHECK_NEAR(y[1] / (k == 0 ? w : 1.0), z[k][1] / (k == 0 ? w : 1.0), 4e-13 * size);
      }
    }
  }
}

/* phi_j = Z phi_{j+1} + I/j!, with Z = A h and A^2 = -c I - d A */
static void the_recursion_of_the_functions_holds(void **state) {
  (void)state;
  for (int i = 0; i < N_CASES; ++i) {
    const double c = cases[i][0], d = cases[i][1], w = sqrt(fmax(fabs(c), 1.0));
    for (double h = 1e-3; h < 1.5; h *= 3.0) {
      yoke_phi phi;
      double   inverse = 1.0;
      yoke_phi_make(c, d, h, N_PHI, &phi);
      for (int j = 0; j + 1 < N_PHI; ++j) {
        const double size = fmax(1.0, h * (w + fabs(d))) * fmax(1.0, fabs(phi.one[0]));
        CHECK_NEAR(phi.one[j], inverse - h * c * phi.by_A[j + 1], 1e-13 * size);
        CHECK_NEAR(w * phi.by_A[j], w * h * (phi.one[j + 1] - d * phi.by_A[j + 1]), 1e-13 * size);
        inverse /= (double)(j + 1);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_forces_the_functions_are_those_of_free_flight),
      cmocka_unit_test(free_motion_is_exact),
      cmocka_unit_test(the_recursion_of_the_functions_holds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
