#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "check.h"
#include <math.h>
#include <yoke/signal.h>

/* Two pieces of two components: u0 = 1 + 2s then 5 - s^2, u1 = s^2 then 4. */
static const double      times[]        = {1.0, 2.0, 4.0};
static const double      coefficients[] = {1, 2, 0, /**/ 0, 0, 1, /**/ 5, 0, -1, /**/ 4, 0, 0};
static const yoke_signal two_pieces     = {.n = 2, .n_pieces = 2, .degree = 2, .t = times, .c = coefficients};

static void value_at_a_break_point_depends_on_the_side(void **state) {
  (void)state;
  double u[2];
  yoke_signal_value(&two_pieces, 2.0, YOKE_SIDE_LEFT, 0, u);
  CHECK_NEAR(u[0], 3.0, 0.0);
  CHECK_NEAR(u[1], 1.0, 0.0);
  yoke_signal_value(&two_pieces, 2.0, YOKE_SIDE_RIGHT, 0, u);
  CHECK_NEAR(u[0], 5.0, 0.0);
  CHECK_NEAR(u[1], 4.0, 0.0);
}

static void derivative_is_exact(void **state) {
  (void)state;
  double u[2];
  yoke_signal_value(&two_pieces, 3.0, YOKE_SIDE_LEFT, 1, u);
  CHECK_NEAR(u[0], -2.0, 0.0);
  yoke_signal_value(&two_pieces, 1.5, YOKE_SIDE_LEFT, 2, u);
  CHECK_NEAR(u[1], 2.0, 0.0);
}

static void first_and_last_piece_are_continued(void **state) {
  (void)state;
  double u[2];
  yoke_signal_value(&two_pieces, 0.0, YOKE_SIDE_LEFT, 0, u);
  CHECK_NEAR(u[0], -1.0, 0.0);
  yoke_signal_value(&two_pieces, 5.0, YOKE_SIDE_LEFT, 0, u);
  CHECK_NEAR(u[0], -4.0, 0.0);
}

static void integral_crosses_pieces(void **state) {
  (void)state;
  double integral[2];
  yoke_signal_integral(&two_pieces, 1.0, 4.0, integral);
  CHECK_NEAR(integral[0], 2.0 + 10.0 - 8.0 / 3.0, 1e-15);
  CHECK_NEAR(integral[1], 1.0 / 3.0 + 8.0, 1e-15);
}

static void next_break_is_strictly_later(void **state) {
  (void)state;
  CHECK_NEAR(yoke_signal_next_break(&two_pieces, 1.0), 2.0, 0.0);
  assert_true(isinf(yoke_signal_next_break(&two_pieces, 2.0)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(value_at_a_break_point_depends_on_the_side),
      cmocka_unit_test(derivative_is_exact),
      cmocka_unit_test(first_and_last_piece_are_continued),
      cmocka_unit_test(integral_crosses_pieces),
      cmocka_unit_test(next_break_is_strictly_later),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
