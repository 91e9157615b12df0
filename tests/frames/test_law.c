/* Laws of force elements: tables, derivatives and potentials. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "formula.h"
#include "frames/law.h"

#include <math.h>

/* ---- Tables ---- */

static double monotone_x[] = {-2.0, -1.0, 0.0, 0.5, 3.0, 4.0, 7.0};
static double monotone_y[] = {-9.0, -8.9, 0.0, 0.1, 0.1, 5.0, 5.5};

static const yoke_table monotone_table = {7, monotone_x, monotone_y};

static void a_table_passes_through_its_points(void **state) {
  (void)state;
  for (int i = 0; i < 7; ++i) {
    assert_true(fabs(yoke_table_value(&monotone_table, monotone_x[i], NULL) - monotone_y[i]) < 1e-14);
  }
}

static void a_table_of_rising_points_never_falls(void **state) {
  (void)state;
  double before = yoke_table_value(&monotone_table, -4.0, NULL);
  for (int k = 1; k <= 13000; ++k) {
    double       slope;
    const double y = yoke_table_value(&monotone_table, -4.0 + 1e-3 * k, &slope);
    assert_true(y >= before - 1e-14);
    assert_true(slope >= -1e-13);
    before = y;
  }
}

static void a_table_has_no_new_extrema(void **state) {
  (void)state;
  double           x[] = {0.0, 1.0, 2.0, 3.0}, y[] = {0.0, 5.0, 4.0, 4.5};
  const yoke_table table = {4, x, y};
  for (int k = 0; k <= 3000; ++k) {
    const double value = yoke_table_value(&table, 1e-3 * k, NULL);
    assert_true(value >= -1e-14 && value <= 5.0 + 1e-14);
    if (k >= 1000) assert_true(value >= 4.0 - 1e-14);
  }
}

static void a_table_is_continuous_with_its_slope(void **state) {
  (void)state;
  const double d = 1e-9;
  for (int i = 0; i < 7; ++i) {
    double       left, right;
    const double y0 = yoke_table_value(&monotone_table, monotone_x[i] - d, &left);
    const double y1 = yoke_table_value(&monotone_table, monotone_x[i] + d, &right);
    assert_true(fabs(y1 - y0) < 1e-7);
    assert_true(fabs(right - left) < 1e-6);
  }
}

static void a_table_slope_agrees_with_differences(void **state) {
  (void)state;
  for (int k = 0; k < 100; ++k) {
    const double x = -3.0 + 0.11037 * k, h = 1e-6;
    double       slope;
    yoke_table_value(&monotone_table, x, &slope);
    const double expected =
        (yoke_table_value(&monotone_table, x + h, NULL) - yoke_table_value(&monotone_table, x - h, NULL)) / (2.0 * h);
    assert_true(fabs(slope - expected) < 2e-5);
  }
}

static void a_table_goes_straight_on_beyond_its_ends(void **state) {
  (void)state;
  double       s0, s1;
  const double y0 = yoke_table_value(&monotone_table, 8.0, &s0), y1 = yoke_table_value(&monotone_table, 10.0, &s1);
  assert_true(s0 == s1);
  assert_true(fabs(y1 - y0 - 2.0 * s0) < 1e-13);
}

static void a_table_of_a_straight_line_is_exact(void **state) {
  (void)state;
  double x[] = {-1.0, 0.5, 2.0, 7.0}, y[4];
  for (int i = 0; i < 4; ++i) y[i] = 3.0 * x[i] - 1.0;
  for (int n = 2; n <= 4; ++n) {
    const yoke_table table = {n, x, y};
    for (int k = -30; k < 100; ++k) {
      double       slope;
      const double at = 0.1 * k;
      assert_true(fabs(yoke_table_value(&table, at, &slope) - (3.0 * at - 1.0)) < 1e-13);
      assert_true(fabs(slope - 3.0) < 1e-13);
      assert_true(fabs(yoke_table_integral(&table, at) - (1.5 * at * at - at)) < 1e-12);
    }
  }
}

static void the_integral_of_a_table_has_the_table_as_slope(void **state) {
  (void)state;
  assert_true(yoke_table_integral(&monotone_table, 0.0) == 0.0);
  for (int k = 0; k < 120; ++k) {
    const double x = -4.0 + 0.10137 * k, h = 1e-3;
    /* Simpson over [x - h, x + h] is exact for cubics, except across a point of the table. */
    const double expected =
        h / 3.0 *
        (yoke_table_value(&monotone_table, x - h, NULL) + 4.0 * yoke_table_value(&monotone_table, x, NULL) +
         yoke_table_value(&monotone_table, x + h, NULL));
    const double found = yoke_table_integral(&monotone_table, x + h) - yoke_table_integral(&monotone_table, x - h);
    assert_true(fabs(found - expected) < 1e-8);
  }
  /* A table that does not contain 0: the integral starts on the straight part. */
  double           x[] = {2.0, 3.0, 5.0}, y[] = {2.0, 3.0, 5.0};
  const yoke_table right = {3, x, y};
  assert_true(fabs(yoke_table_integral(&right, 8.0) - 32.0) < 1e-12);
  assert_true(fabs(yoke_table_integral(&right, -8.0) - 32.0) < 1e-12);
  assert_true(fabs(yoke_table_integral(&right, 1.0) - 0.5) < 1e-14);
}

static void tables_of_one_point_and_none_are_constant(void **state) {
  (void)state;
  double           x[] = {1.0}, y[] = {4.0}, slope = 1.0;
  const yoke_table one = {1, x, y}, none = {0, NULL, NULL};
  assert_true(yoke_table_value(&one, 9.0, &slope) == 4.0 && slope == 0.0);
  assert_true(yoke_table_integral(&one, 2.0) == 8.0);
  assert_true(yoke_table_value(&none, 9.0, &slope) == 0.0);
  assert_true(yoke_table_integral(&none, 2.0) == 0.0);
}

/* ---- Laws ---- */

static void expect_law_derivatives(const yoke_law *law) {
  for (int k = 0; k < 40; ++k) {
    const double x = -2.03 + 0.1 * k, v = 1.97 - 0.11 * k, t = 0.3, h = 1e-6;
    double       F_x, F_v;
    yoke_law_force(law, x, v, t, &F_x, &F_v);
    const double d_x =
        (yoke_law_force(law, x + h, v, t, NULL, NULL) - yoke_law_force(law, x - h, v, t, NULL, NULL)) / (2.0 * h);
    const double d_v =
        (yoke_law_force(law, x, v + h, t, NULL, NULL) - yoke_law_force(law, x, v - h, t, NULL, NULL)) / (2.0 * h);
    assert_true(fabs(F_x - d_x) <= 1e-7 * (1.0 + fabs(d_x)));
    assert_true(fabs(F_v - d_v) <= 1e-7 * (1.0 + fabs(d_v)));
  }
}

static void law_derivatives_agree_with_differences(void **state) {
  (void)state;
  yoke_law laws[] = {
      {.stiffness = 3.0, .damping = 0.2},
      {.stiffness = 3.0, .stiffness_power = 2.0, .exponent_x = 3.0, .damping_power = 0.5, .exponent_v = 2.0},
      {.stiffness_power = 2.0, .exponent_x = 1.5, .damping_power = 0.5, .exponent_v = 2.7},
      {.stiffness_power = 2.0, .exponent_x = 1.0, .damping_power = 0.5, .exponent_v = 5.0},
      {.damping = 0.4, .table = {7, monotone_x, monotone_y}},
      {.expression = compile_formula("3*x + x^3*exp(-v^2) + sin(t)*v")},
      {.expression = compile_formula("v")},
  };
  for (size_t i = 0; i < sizeof laws / sizeof laws[0]; ++i) {
    expect_law_derivatives(&laws[i]);
    yoke_expression_destroy(&laws[i].expression);
  }
}

static void a_power_law_is_odd_and_safe_at_zero(void **state) {
  (void)state;
  static const double exponents[] = {0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.2};
  for (int i = 0; i < 7; ++i) {
    const yoke_law law = {
        .stiffness_power = 2.0, .exponent_x = exponents[i], .damping_power = 1.0, .exponent_v = exponents[i]};
    double F_x, F_v;
    assert_true(yoke_law_force(&law, 0.0, 0.0, 0.0, &F_x, &F_v) == 0.0);
    assert_true(isfinite(F_x) && isfinite(F_v));
    assert_true(yoke_law_force(&law, 5e-324, -5e-324, 0.0, &F_x, &F_v) >= 0.0);
    assert_true(isfinite(F_x) && isfinite(F_v));
    assert_true(yoke_law_force(&law, -1.3, 0.0, 0.0, NULL, NULL) == -yoke_law_force(&law, 1.3, 0.0, 0.0, NULL, NULL));
    assert_true(fabs(yoke_law_force(&law, 1.3, 0.0, 0.0, NULL, NULL) - 2.0 * pow(1.3, exponents[i])) < 1e-14 * 10.0);
  }
}

static void the_force_is_the_slope_of_the_potential(void **state) {
  (void)state;
  yoke_law laws[] = {
      {.stiffness = 3.0, .damping = 9.0},
      {.stiffness_power = 2.0, .exponent_x = 3.0},
      {.stiffness = 1.0, .stiffness_power = 2.0, .exponent_x = 1.5},
      {.table = {7, monotone_x, monotone_y}},
      {.expression = compile_formula("3*x + x^3*exp(-x^2)")},
      {.expression = compile_formula("abs(x - 0.3)")},
      {.expression = compile_formula("2.5")},
  };
  for (size_t i = 0; i < sizeof laws / sizeof laws[0]; ++i) {
    assert_true(yoke_law_potential(&laws[i], 0.0) == 0.0);
    for (int k = 0; k < 30; ++k) {
      const double x = -2.03 + 0.15 * k, h = 1e-5;
      const double slope = (yoke_law_potential(&laws[i], x + h) - yoke_law_potential(&laws[i], x - h)) / (2.0 * h);
      const double F     = yoke_law_force(&laws[i], x, 0.0, 0.0, NULL, NULL);
      assert_true(fabs(slope - F) <= 1e-6 * (1.0 + fabs(F)));
    }
    yoke_expression_destroy(&laws[i].expression);
  }
}

static void the_potential_of_an_expression_is_accurate(void **state) {
  (void)state;
  yoke_law smooth = {.expression = compile_formula("cos(3*x) + x^22")};
  for (int k = -10; k <= 10; ++k) {
    const double x = 0.1 * k, expected = sin(3.0 * x) / 3.0 + pow(x, 23.0) / 23.0;
    assert_true(fabs(yoke_law_potential(&smooth, x) - expected) < 1e-15 * 4.0);
  }
  yoke_expression_destroy(&smooth.expression);
  yoke_law kink = {.expression = compile_formula("max(0, x - 0.123)")};
  assert_true(fabs(yoke_law_potential(&kink, 2.0) - 0.5 * 1.877 * 1.877) < 1e-12);
  yoke_expression_destroy(&kink.expression);
  yoke_law jump = {.expression = compile_formula("if(x > 0.123, 5, 1)")};
  assert_true(fabs(yoke_law_potential(&jump, 2.0) - (0.123 + 5.0 * 1.877)) < 1e-9);
  yoke_expression_destroy(&jump.expression);
  yoke_law noise = {.expression = compile_formula("mod(1e9*x, 1)")}; /* ends, with some value between the extremes */
  assert_true(fabs(yoke_law_potential(&noise, 2.0) - 1.0) < 1.0);
  yoke_expression_destroy(&noise.expression);
}

static void an_expression_of_rate_or_time_has_no_potential(void **state) {
  (void)state;
  static const char *const texts[] = {"x*v", "x + t", "v"};
  for (int i = 0; i < 3; ++i) {
    yoke_law law = {.stiffness = 2.0, .expression = compile_formula(texts[i])};
    assert_true(yoke_law_potential(&law, 3.0) == 9.0);
    yoke_expression_destroy(&law.expression);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_table_passes_through_its_points),
      cmocka_unit_test(a_table_of_rising_points_never_falls),
      cmocka_unit_test(a_table_has_no_new_extrema),
      cmocka_unit_test(a_table_is_continuous_with_its_slope),
      cmocka_unit_test(a_table_slope_agrees_with_differences),
      cmocka_unit_test(a_table_goes_straight_on_beyond_its_ends),
      cmocka_unit_test(a_table_of_a_straight_line_is_exact),
      cmocka_unit_test(the_integral_of_a_table_has_the_table_as_slope),
      cmocka_unit_test(tables_of_one_point_and_none_are_constant),
      cmocka_unit_test(law_derivatives_agree_with_differences),
      cmocka_unit_test(a_power_law_is_odd_and_safe_at_zero),
      cmocka_unit_test(the_force_is_the_slope_of_the_potential),
      cmocka_unit_test(the_potential_of_an_expression_is_accurate),
      cmocka_unit_test(an_expression_of_rate_or_time_has_no_potential),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
