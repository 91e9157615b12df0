/* Zero-stability of the kinematic coupling: thresholds and radii of Schneider, section 4 and our check values, and the matrix
 * form against scalars. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "coupling/kinematic_stability.h"
#include <math.h>
#include <string.h>

static double radius_at(double ratio, yoke_kinematic_outputs outputs, int r, int s) {
  const double         one = 1.0;
  const yoke_interface in  = {.n = 1, .W_R = &one, .W_F = &ratio};
  return yoke_kinematic_radius(&in, YOKE_FORCE_APPROXIMATE, outputs, r, s);
}

static void thresholds_of_the_approximate_force_are_those_of_the_source(void **state) {
  (void)state;
  static const double expected[] = {1.0, 6.464101615137754, 31.639861};
  for (int r = 0; r < 3; ++r) {
    CHECK_NEAR(yoke_kinematic_threshold(YOKE_OUTPUTS_PARALLEL, r, r) / expected[r], 1.0, 2e-8);
    CHECK_NEAR(yoke_kinematic_threshold(YOKE_OUTPUTS_CURRENT, r, r) / expected[r], 1.0, 2e-8);
    CHECK_NEAR(yoke_kinematic_threshold(YOKE_OUTPUTS_HELD, r, r) / expected[r], 1.0, 2e-8);
  }
}

static void thresholds_with_sequential_outputs_are_1_3_and_7(void **state) {
  (void)state;
  static const double expected[] = {1.0, 3.0, 7.0};
  for (int r = 0; r < 3; ++r)
    CHECK_NEAR(yoke_kinematic_threshold(YOKE_OUTPUTS_SEQUENTIAL, r, r) / expected[r], 1.0, 1e-8);
}

static void radii_at_mass_ratios_10_and_5_are_those_of_the_source(void **state) {
  (void)state;
  static const double ten[] = {0.316228, 0.851755, 1.410785}, five[] = {0.447214, 1.102368, 1.776491};
  for (int r = 0; r < 3; ++r) {
    CHECK_NEAR(radius_at(10.0, YOKE_OUTPUTS_PARALLEL, r, r), ten[r], 1e-6);
    CHECK_NEAR(radius_at(5.0, YOKE_OUTPUTS_PARALLEL, r, r), five[r], 1e-6);
  }
}

static void force_and_motion_share_the_threshold_whichever_has_the_higher_degree(void **state) {
  (void)state;
  for (int r = 0; r < 3; ++r) {
    for (int s = 0; s < 3; ++s)
      CHECK_NEAR(radius_at(4.0, YOKE_OUTPUTS_PARALLEL, r, s), radius_at(4.0, YOKE_OUTPUTS_PARALLEL, s, r), 1e-7);
  }
}

static void exact_force_feeds_nothing_back(void **state) {
  (void)state;
  const double         W_R = 3.0, W_F = 0.01;
  const yoke_interface in = {.n = 1, .W_R = &W_R, .W_F = &W_F};
  for (int r = 0; r < 3; ++r)
    CHECK_BELOW(yoke_kinematic_radius(&in, YOKE_FORCE_EXACT, YOKE_OUTPUTS_PARALLEL, r, r), 1e-3);
}

static void reduced_force_with_whole_compliances_is_the_exact_one(void **state) {
  (void)state;
  const double         W_R[] = {2.0, 0.3, 0.3, 1.0}, W_F[] = {0.5, 0.1, 0.1, 0.7};
  const yoke_interface in = {.n = 2, .W_R = W_R, .W_F = W_F, .w_R = W_R, .w_F = W_F};
  CHECK_BELOW(yoke_kinematic_radius(&in, YOKE_FORCE_REDUCED, YOKE_OUTPUTS_PARALLEL, 0, 0), 1e-7);
}

/* W_F = V diag(ratio_i) V^T against W_R = 1: the worst direction decides. */
static void the_direction_with_the_smallest_mass_ratio_decides(void **state) {
  (void)state;
  const double         c = cos(0.7), s = sin(0.7), a = 20.0, b = 5.0;
  const double         W_R[] = {1.0, 0.0, 0.0, 1.0};
  const double         W_F[] = {a * c * c + b * s * s, (a - b) * c * s, (a - b) * c * s, a * s * s + b * c * c};
  const yoke_interface in    = {.n = 2, .W_R = W_R, .W_F = W_F};
  double               low, high;
  assert_true(yoke_interface_mass_ratio(&in, &low, &high));
  CHECK_NEAR(low, 5.0, 1e-10);
  CHECK_NEAR(high, 20.0, 1e-10);
  CHECK_NEAR(yoke_kinematic_radius(&in, YOKE_FORCE_APPROXIMATE, YOKE_OUTPUTS_PARALLEL, 1, 1), 1.102368, 1e-6);
}

static void a_side_that_does_not_move_is_infinitely_heavy(void **state) {
  (void)state;
  const double         W_R[] = {1.0, 0.0, 0.0, 0.0}, W_F[] = {2.0, 0.0, 0.0, 3.0};
  const yoke_interface in = {.n = 2, .W_R = W_R, .W_F = W_F}, turned = {.n = 2, .W_R = W_F, .W_F = W_R};
  double               low, high;
  assert_true(yoke_interface_mass_ratio(&in, &low, &high));
  CHECK_NEAR(low, 2.0, 1e-10);
  assert_true(isinf(high));
  assert_true(yoke_interface_mass_ratio(&turned, &low, &high));
  CHECK_NEAR(low, 0.0, 0.0);
}

static void a_singular_system_gets_its_shortest_solution(void **state) {
  (void)state;
  const double A[] = {1.0, 1.0, 1.0, 1.0}, b[] = {2.0, 2.0};
  double       x[2];
  yoke_symmetric_solve(2, A, b, x);
  CHECK_NEAR(x[0], 1.0, 1e-14);
  CHECK_NEAR(x[1], 1.0, 1e-14);
}

/* A translational joint of a wheel of 1 kg and 1e-14 kg m^2: compliances of forces and moments differ by 1e14, and none of them is 0. */
static void f16_rows_of_lengths_and_angles_are_solved_at_any_size(void **state) {
  (void)state;
  static const double A[] = {1.0, 0.0, 0.0, 1e14}, b[] = {2.0, 3e14};
  double              x[2];
  yoke_symmetric_solve(2, A, b, x);
  CHECK_NEAR(x[0], 2.0, 1e-12);
  CHECK_NEAR(x[1], 3.0, 1e-12);
}

static void f16_mass_ratios_of_lengths_and_angles_are_found_at_any_size(void **state) {
  (void)state;
  static const double  W_R[] = {1.0, 0.0, 0.0, 1e14}, W_F[] = {5.0, 0.0, 0.0, 2e14};
  const yoke_interface in = {.n = 2, .W_R = W_R, .W_F = W_F};
  double               smallest, largest;
  assert_true(yoke_interface_mass_ratio(&in, &smallest, &largest));
  CHECK_NEAR(smallest, 2.0, 1e-12);
  CHECK_NEAR(largest, 5.0, 1e-12);
}

static void values_that_are_not_finite_give_no_number(void **state) {
  (void)state;
  const double A[] = {1.0, (double)NAN, 0.0, 1.0}, b[] = {2.0, 2.0}, B[] = {1.0, 0.0, 0.0, 1.0};
  double       x[2];
  yoke_symmetric_solve(2, A, b, x);
  assert_true(isnan(x[0]));
  const yoke_interface in = {.n = 2, .W_R = A, .W_F = B};
  assert_true(isnan(yoke_kinematic_radius(&in, YOKE_FORCE_APPROXIMATE, YOKE_OUTPUTS_PARALLEL, 1, 1)));
  double low, high;
  assert_false(yoke_interface_mass_ratio(&in, &low, &high));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thresholds_of_the_approximate_force_are_those_of_the_source),
      cmocka_unit_test(thresholds_with_sequential_outputs_are_1_3_and_7),
      cmocka_unit_test(radii_at_mass_ratios_10_and_5_are_those_of_the_source),
      cmocka_unit_test(force_and_motion_share_the_threshold_whichever_has_the_higher_degree),
      cmocka_unit_test(exact_force_feeds_nothing_back),
      cmocka_unit_test(reduced_force_with_whole_compliances_is_the_exact_one),
      cmocka_unit_test(the_direction_with_the_smallest_mass_ratio_decides),
      cmocka_unit_test(a_side_that_does_not_move_is_infinitely_heavy),
      cmocka_unit_test(a_singular_system_gets_its_shortest_solution),
      cmocka_unit_test(f16_rows_of_lengths_and_angles_are_solved_at_any_size),
      cmocka_unit_test(f16_mass_ratios_of_lengths_and_angles_are_found_at_any_size),
      cmocka_unit_test(values_that_are_not_finite_give_no_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
