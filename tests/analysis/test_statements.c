/* Statements about stability maps (Li 8.1) that are more than numbers of the tables in test_radii and test_limits:
 * 4, 18, 19, 25, 32, 33. Statements 1 to 3, 5, 6, 10 to 14, 18 to 26 follow from the counts in test_limits. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "tags.h"

static void implicit_methods_are_stable_again_for_very_large_eigenvalues(void **state) {
  (void)state;
  static const char *const decompositions[] = {"FF", "FD", "DD"};
  static const double      points[3][2]     = {{-5.0, 50.0}, {-1.0, 100.0}, {-20.0, 200.0}};
  for (size_t d = 0; d < 3; ++d) {
    for (int k = 0; k < 4; ++k) {
      const yoke_test_method method = method_of(decompositions[d], 'O', k);
      for (int i = 0; i < 3; ++i) CHECK_BELOW(radius_at('O', &method, points[i][0], points[i][1], symmetrical), 0.5);
    }
  }
}

/* Equal subsystem eigenvalues and another mass: the same relative motion. */
static void the_mass_ratio_alone_does_not_matter_in_ff_and_dd(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    const yoke_test_method methods[] = {method_of("FF", 'B', k), method_of("FF", 'W', k), method_of("FF", 'P', k),
                                        method_of("DD", 'P', k)};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i) {
      for (int j = 1; j < 20; ++j) {
        const double light[3] = {0.1, 1.0, 1.0}, rho = radius_at('B', &methods[i], -0.1 * j, 0.1 * j, symmetrical);
        CHECK_NEAR(radius_at('B', &methods[i], -0.1 * j, 0.1 * j, light), rho, 1e-8 * rho);
      }
    }
  }
}

static void weights_of_one_are_unstable_near_the_origin_with_degree_2(void **state) {
  (void)state;
  const yoke_test_method method = method_of("FF", 'W', 2);
  CHECK_NEAR(radius_at('W', &method, -1e-7, 1e-5, symmetrical), 1.132472, 1e-6);
}

/* Points of the undamped axis, im = 0.1 ... 10, where energy grows. */
static int n_growing(char family, int order, const double *ratios) {
  const yoke_test_method method = method_of("FF", family, order);
  int                    n      = 0;
  for (int j = 1; j <= 100; ++j) n += radius_at(family, &method, 0.0, 0.1 * j, ratios) > 1.0 + 1e-7;
  return n;
}

static void stabilized_methods_keep_undamped_symmetrical_systems_stable(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) assert_int_equal(n_growing('2', k, symmetrical), 0);
  for (int k = 0; k < 2; ++k) assert_int_equal(n_growing('1', k, symmetrical), 0);
}

static void stabilized_methods_lose_some_undamped_unsymmetrical_points(void **state) {
  (void)state;
  assert_int_equal(n_growing('2', 0, unsymmetrical), 3);
  assert_int_equal(n_growing('2', 1, unsymmetrical), 0);
  assert_int_equal(n_growing('2', 2, unsymmetrical), 0);
  assert_int_equal(n_growing('1', 0, unsymmetrical), 77);
  assert_int_equal(n_growing('1', 1, unsymmetrical), 2);
}

/* The in-phase motion of equal subsystems does not feel the coupling: force/force never gets below its decay exp(re). */
static void in_phase_motion_is_exact_in_symmetrical_force_force(void **state) {
  (void)state;
  static const char families[] = "EODI";
  for (const char *family = families; *family != '\0'; ++family) {
    for (int k = 0; k < 3; ++k) {
      const yoke_test_method method = method_of("FF", *family, k);
      for (int j = 1; j < 40; ++j) {
        assert_true(radius_at(*family, &method, -0.05 * j, 0.25 * j, symmetrical) >= exp(-0.05 * j) * (1.0 - 1e-12));
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(implicit_methods_are_stable_again_for_very_large_eigenvalues),
      cmocka_unit_test(the_mass_ratio_alone_does_not_matter_in_ff_and_dd),
      cmocka_unit_test(weights_of_one_are_unstable_near_the_origin_with_degree_2),
      cmocka_unit_test(stabilized_methods_keep_undamped_symmetrical_systems_stable),
      cmocka_unit_test(stabilized_methods_lose_some_undamped_unsymmetrical_points),
      cmocka_unit_test(in_phase_motion_is_exact_in_symmetrical_force_force),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
