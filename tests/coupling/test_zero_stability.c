/* Growth of parasitic errors for H -> 0: the tables of Li 8.5 and Lu 4.8. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "coupling/zero_stability.h"

typedef struct row {
  double p, q;      /* beta, gamma in steps, or weights a, b */
  double factor[3]; /* degree 0, 1, 2 */
} row;

static const row times[] = {
    {0.0, 0.0, {1.0, 3.732051, 5.343059}},      /* index 3 */
    {0.4, 0.0, {0.111111, 1.866878, 2.877210}}, /* index 2 */
    {0.5, 0.0, {0.0, 1.716515, 2.686141}},         {2.0, 0.0, {0.6, 1.177857, 1.976271}},
    {10.0, 0.0, {0.904762, 1.033870, 1.767737}},   {40.0, 0.0, {0.975309, 1.008368, 1.729257}},
    {0.4, 0.04, {0.206284, 1.431168, 2.259990}}, /* index 1 */
    {0.5, 0.0625, {0.242536, 1.167670, 1.926101}}, {2.0, 1.0, {0.534522, 0.440927, 0.403640}},
    {10.0, 25.0, {0.839181, 0.827249, 0.818878}},  {20.0, 100.0, {0.910975, 0.907310, 0.904847}},
};

static const row weights[] = {
    {0.5, 0.0, {0.333333, 2.535184, 3.833880}},  {1.0, 0.0, {0.0, 2.0, 3.147784}},
    {2.5, 0.0, {0.428571, 1.440395, 2.394065}},  {5.0, 0.0, {0.666667, 1.215250, 2.063000}},
    {0.5, 0.25, {0.377964, 1.755929, 2.908288}}, {1.0, 1.0, {0.577350, 0.577350, 1.132472}},
    {2.0, 2.0, {0.632456, 0.447214, 0.589119}},  {2.5, 5.0, {0.766965, 0.641689, 0.531807}},
};

/* A double eigenvalue (0 or 1) is met to the root of the rounding error only. */
static void check_factor(double found, double printed) {
  CHECK_NEAR(found, printed, printed == 0.0 || printed == 1.0 ? 1e-7 : 1e-6);
}

static void factors_of_times_are_those_of_li_and_lu(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof times / sizeof times[0]; ++i) {
    for (int k = 0; k < 3; ++k) check_factor(yoke_parasitic_factor(k, times[i].p, times[i].q), times[i].factor[k]);
  }
}

static void factors_of_weights_are_those_of_li_and_lu(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof weights / sizeof weights[0]; ++i) {
    for (int k = 0; k < 3; ++k) {
      double beta, gamma;
      yoke_weights_as_times(k, weights[i].p, weights[i].q, &beta, &gamma);
      check_factor(yoke_parasitic_factor(k, beta, gamma), weights[i].factor[k]);
    }
  }
}

static void index_two_of_degree_zero_has_the_closed_form_of_lu(void **state) {
  (void)state;
  for (double beta = 0.1; beta < 10.0; beta *= 1.7)
    CHECK_NEAR(yoke_parasitic_factor(0, beta, 0.0), fabs((beta - 0.5) / (beta + 0.5)), 1e-12);
}

/* 1 / sqrt(12) and 1 / 2 in steps; a = b: 1 / 2 and 10 / 9. */
static void critical_parameters_are_those_of_li(void **state) {
  (void)state;
  static const double mu[] = {0.28867513, 0.5}, a[] = {0.5, 1.1111111};
  for (int k = 1; k <= 2; ++k) {
    for (int side = -1; side <= 1; side += 2) {
      const double m = mu[k - 1] + 1e-6 * side, w = a[k - 1] + 1e-6 * side;
      double       beta, gamma;
      yoke_weights_as_times(k, w, w, &beta, &gamma);
      assert_true((yoke_parasitic_factor(k, 2.0 * m, m * m) < 1.0) == (side > 0));
      assert_true((yoke_parasitic_factor(k, beta, gamma) < 1.0) == (side > 0));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_of_times_are_those_of_li_and_lu),
      cmocka_unit_test(factors_of_weights_are_those_of_li_and_lu),
      cmocka_unit_test(index_two_of_degree_zero_has_the_closed_form_of_lu),
      cmocka_unit_test(critical_parameters_are_those_of_li),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
