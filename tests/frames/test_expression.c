/* Expression: values, derivatives, units, messages, and text that makes no sense. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "frames/expression.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Variables t x y z rod[k].x (k = 1 .. 40 at 10 + k), constants l = 2, i = 3, m = 5, s = 7. */
static yoke_symbol_kind lookup(void *user, const char *name, double *value, int *variable) {
  static const char *const variables[] = {"t", "x", "y", "z", "upper.vx", "c.x[5]"};
  static const struct {
    const char *name;
    double      value;
  } constants[] = {{"l", 2.0}, {"i", 3.0}, {"m", 5.0}, {"s", 7.0}, {"half", 0.5}};
  (void)user;
  for (int k = 0; k < 6; ++k) {
    if (strcmp(name, variables[k]) == 0) return *variable = k, YOKE_SYMBOL_VARIABLE;
  }
  for (int k = 0; k < 5; ++k) {
    if (strcmp(name, constants[k].name) == 0) return *value = constants[k].value, YOKE_SYMBOL_CONSTANT;
  }
  int  k, end = 0;
  char rebuilt[32];
  if (sscanf(name, "rod[%d].x%n", &k, &end) == 1 && name[end] == '\0' && k >= 1 && k <= 40) {
    snprintf(rebuilt, sizeof rebuilt, "rod[%d].x", k);
    if (strcmp(rebuilt, name) == 0) return *variable = 10 + k, YOKE_SYMBOL_VARIABLE;
  }
  return YOKE_SYMBOL_UNKNOWN;
}

static void suggest(void *user, const char *name, char *text, size_t size) {
  (void)user;
  if (name[0] == 'u') snprintf(text, size, "'upper.vx'");
}

static const yoke_symbols symbols = {.lookup = lookup, .suggest = suggest};

enum { N_VALUES = 64 };

static yoke_expression *compile(const char *text) {
  char             message[256];
  yoke_expression *e = NULL;
  if (yoke_expression_compile(text, &symbols, message, sizeof message, &e) != YOKE_OK) {
    fail_msg("'%s': %s", text, message);
  }
  return e;
}

static double value_at(const char *text, const double *variables) {
  yoke_expression *e     = compile(text);
  const double     value = yoke_expression_evaluate(e, variables, NULL);
  yoke_expression_destroy(&e);
  return value;
}

static double constant(const char *text) {
  yoke_expression *e = compile(text);
  assert_true(yoke_expression_is_constant(e));
  const double value = yoke_expression_evaluate(e, NULL, NULL);
  yoke_expression_destroy(&e);
  return value;
}

static void expect_constant(const char *text, double expected) {
  const double value = constant(text);
  if (!(fabs(value - expected) <= 4e-16 * fabs(expected)))
    fail_msg("%s = %.17g, expected %.17g", text, value, expected);
}

/* The message has to start with the column and contain all the words given (up to NULL). */
static void expect_error(const char *text, int column, const char *word1, const char *word2) {
  char             message[512], start[32];
  yoke_expression *e = NULL;
  assert_int_equal(yoke_expression_compile(text, &symbols, message, sizeof message, &e), YOKE_E_MODEL);
  assert_null(e);
  snprintf(start, sizeof start, "column %d: ", column);
  if (strncmp(message, start, strlen(start)) != 0) fail_msg("'%s': '%s', expected %s", text, message, start);
  if (word1 != NULL && strstr(message, word1) == NULL) fail_msg("'%s': '%s' lacks '%s'", text, message, word1);
  if (word2 != NULL && strstr(message, word2) == NULL) fail_msg("'%s': '%s' lacks '%s'", text, message, word2);
}

/* ---- Values ---- */

static void operators_bind_as_in_mathematics(void **state) {
  (void)state;
  expect_constant("1 + 2*3", 7.0);
  expect_constant("(1 + 2)*3", 9.0);
  expect_constant("-2^2", -4.0);
  expect_constant("2^3^2", 512.0);
  expect_constant("2^-1", 0.5);
  expect_constant("2^-2^2", 1.0 / 16.0);
  expect_constant("8/4/2", 1.0);
  expect_constant("7 - 4 - 2", 1.0);
  expect_constant("- -3", 3.0);
  expect_constant("+3 - +2", 1.0);
  expect_constant("1 + 2 < 4 and not 2 > 3", 1.0);
  expect_constant("not 1 == 2", 1.0);
  expect_constant("not not 5", 1.0);
  expect_constant("1 or 0 and 0", 1.0);
  expect_constant("(1 < 2) + (2 <= 2) + (3 > 2) + (2 >= 3) + (1 == 1) + (1 != 1)", 4.0);
}

static void numbers_are_read_to_the_last_bit(void **state) {
  (void)state;
  assert_true(constant("0.1") == 0.1);
  assert_true(constant("3.25e2") == 325.0);
  assert_true(constant(".5") == 0.5);
  assert_true(constant("5.") == 5.0);
  assert_true(constant("1.7976931348623157e308") == 1.7976931348623157e308);
  assert_true(constant("4.9e-324") == 4.9e-324);
  assert_true(constant("2.2250738585072011E-308") == 2.2250738585072011E-308);
  assert_true(constant("0.000000000000000000000000000000123456789012345678901234567890") ==
              0.000000000000000000000000000000123456789012345678901234567890);
  assert_true(constant("1e-99999999999999999999") == 0.0);
}

static void functions_give_their_values(void **state) {
  (void)state;
  expect_constant("sin(0.3) + cos(0.3)", sin(0.3) + cos(0.3));
  expect_constant("tan(0.3)", tan(0.3));
  expect_constant("asin(0.3) + acos(0.3)", asin(0.3) + acos(0.3));
  expect_constant("atan(2) + atan2(1, -2)", atan(2.0) + atan2(1.0, -2.0));
  expect_constant("sinh(1) * cosh(1) * tanh(1)", sinh(1.0) * cosh(1.0) * tanh(1.0));
  expect_constant("exp(2) + log(3) + log10(1000)", exp(2.0) + log(3.0) + 3.0);
  expect_constant("sqrt(2)", sqrt(2.0));
  expect_constant("abs(-3) + sign(-2) + sign(0)", 2.0);
  expect_constant("min(3, 1, 2) + 10*max(3, 1, 2)", 31.0);
  expect_constant("pow(2, 0.5)", pow(2.0, 0.5));
  expect_constant("floor(-1.5) + ceil(1.2)", 0.0);
  expect_constant("mod(-1, 3) + mod(7, 3)", 3.0);
  expect_constant("step(0) + step(-1e-9) + step(2)", 2.0);
  expect_constant("hypot(3, 4)", 5.0);
  expect_constant("if(2 > 1, 10, 20) + if(0, 1, 2)", 12.0);
  expect_constant("2*pi + e", 2.0 * 3.14159265358979323846 + 2.71828182845904523536);
}

static void names_may_be_dotted_and_indexed(void **state) {
  (void)state;
  double v[N_VALUES];
  for (int k = 0; k < N_VALUES; ++k) v[k] = 100.0 + k;
  assert_true(value_at("upper.vx", v) == 104.0);
  assert_true(value_at("c.x[5]", v) == 105.0);
  assert_true(value_at("c.x[ l + i ]", v) == 105.0);
  assert_true(value_at("rod[3].x", v) == 113.0);
  assert_true(value_at("rod[i-1].x - rod[i].x", v) == -1.0);
  assert_true(value_at("rod[2*floor(half*i + 0.6)].x", v) == 114.0);
}

static void variables_are_listed_once_and_sorted(void **state) {
  (void)state;
  yoke_expression *e = compile("rod[2].x*t + y*t + l*rod[2].x + 0*x");
  assert_int_equal(yoke_expression_n_variables(e), 4);
  const int *v = yoke_expression_variables(e);
  assert_int_equal(v[0], 0);
  assert_int_equal(v[1], 1);
  assert_int_equal(v[2], 2);
  assert_int_equal(v[3], 12);
  assert_false(yoke_expression_is_constant(e));
  assert_string_equal(yoke_expression_text(e), "rod[2].x*t + y*t + l*rod[2].x + 0*x");
  yoke_expression_destroy(&e);
  assert_null(e);
  yoke_expression_destroy(&e);
  yoke_expression_destroy(NULL);
}

static void what_is_not_taken_has_no_influence(void **state) {
  (void)state;
  yoke_expression *e    = compile("if(x > 0, sqrt(x)/x, 3*x)");
  const double     v[4] = {0.0, -1.0, 0.0, 0.0};
  double           g;
  assert_true(yoke_expression_evaluate(e, v, &g) == -3.0);
  assert_true(g == 3.0);
  yoke_expression_destroy(&e);
}

/* ---- Derivatives ---- */

static double next_random(uint64_t *seed) { /* in [0, 1) */
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) / 9007199254740992.0;
}

/* Central differences at two steps, extrapolated. The error is far below the distance of the two. */
static double difference(const yoke_expression *e, double *v, int variable, double *distance) {
  const double x = v[variable], h = 1e-4;
  double       d[2];
  for (int k = 0; k < 2; ++k) {
    const double step = h / (k + 1);
    v[variable]       = x + step;
    const double f1   = yoke_expression_evaluate(e, v, NULL);
    v[variable]       = x - step;
    const double f0   = yoke_expression_evaluate(e, v, NULL);
    d[k]              = (f1 - f0) / (2.0 * step);
  }
  v[variable] = x;
  *distance   = fabs(d[1] - d[0]);
  return (4.0 * d[1] - d[0]) / 3.0;
}

static void expect_gradient(const char *text, double *v, double tolerance) {
  yoke_expression *e = compile(text);
  double           g[N_VALUES];
  const double     with = yoke_expression_evaluate(e, v, g), without = yoke_expression_evaluate(e, v, NULL);
  if (isfinite(without)) assert_true(with == without);
  for (int k = 0; k < yoke_expression_n_variables(e); ++k) {
    const int    variable = yoke_expression_variables(e)[k];
    double       distance;
    const double expected = difference(e, v, variable, &distance);
    const double limit    = tolerance * (1.0 + fabs(expected) + fabs(without)) + 0.05 * distance;
    if (isfinite(without) && !(fabs(g[k] - expected) <= limit)) {
      fail_msg("%s: derivative %d is %.15g, by differences %.15g", text, variable, g[k], expected);
    }
  }
  yoke_expression_destroy(&e);
}

static void derivatives_agree_with_differences(void **state) {
  (void)state;
  static const char *const list[]      = {"x",
                                          "-x + 3*y - z/2",
                                          "x*y*z",
                                          "x/y",
                                          "x^2",
                                          "x^3*y^-2",
                                          "x^0",
                                          "x^16",
                                          "x^2.5",
                                          "x^y",
                                          "2^x",
                                          "pow(x, z)*t",
                                          "sin(x*y)",
                                          "cos(x)/tan(y)",
                                          "asin(x/3)+acos(y/3)",
                                          "atan(x*z)",
                                          "atan2(x, y)",
                                          "sinh(x)-cosh(y)*tanh(z)",
                                          "exp(-x*t)*sin(10*t)",
                                          "log(x)*log10(y)",
                                          "sqrt(x^2+y^2)",
                                          "hypot(x, y)*hypot(1, z)",
                                          "abs(x-10)",
                                          "sign(x)*y + step(x)*z",
                                          "min(x, y, z)",
                                          "max(x*2, y/2)",
                                          "floor(x)*y + ceil(y)*x",
                                          "mod(7.3*x, y)",
                                          "if(x > y, x^2, y^3)",
                                          "(x > y)*z + (x < y and z > 0)*x",
                                          "10 N/mm*sin(2*pi*50*t)*x",
                                          "5*(tanh((t-0.1)/0.01) - tanh((t-0.2)/0.01))"};
  double                   v[N_VALUES] = {0.3, 1.234, 0.777, 1.9};
  for (size_t k = 0; k < sizeof list / sizeof list[0]; ++k) expect_gradient(list[k], v, 1e-9);
}

/* Second derivatives are differences of first ones. */
static void second_derivatives_agree_with_differences(void **state) {
  (void)state;
  static const char *const list[] = {"3",
                                     "-x",
                                     "x^2 + x^-3*x^1*x^0",
                                     "x^2.5",
                                     "x^x",
                                     "2^x",
                                     "sin(x)*cos(x^2)",
                                     "tan(x)/x",
                                     "asin(x/3)*acos(x^2/4)",
                                     "atan(x^2)",
                                     "sinh(x) - cosh(2*x)",
                                     "tanh(3*x)",
                                     "exp(-x)*log(x)",
                                     "log10(x)/sqrt(x)",
                                     "abs(x - 10)^3",
                                     "sign(x)*x^2 + step(x)*x^3",
                                     "atan2(x^2, 1 - x)",
                                     "hypot(x^2, 3*x - 1)",
                                     "min(x^2, 3)*max(x^3, 1)",
                                     "mod(x^2, 0.7)",
                                     "floor(x)*x^2",
                                     "if(x > 1, x^2, x^3)",
                                     "(x > 1)*x^2"};
  const double             h      = 1e-5;
  for (size_t k = 0; k < sizeof list / sizeof list[0]; ++k) {
    yoke_expression *e = compile(list[k]);
    for (double x = 0.31; x < 1.6; x += 0.4) {
      double       first, second, before, behind, unused, v[N_VALUES];
      const double value = yoke_expression_second(e, x, &first, &second);
      for (int i = 0; i < N_VALUES; ++i) v[i] = x;
      assert_true(value == yoke_expression_evaluate(e, v, NULL));
      (void)yoke_expression_second(e, x - h, &before, &unused);
      (void)yoke_expression_second(e, x + h, &behind, &unused);
      const double expected = (behind - before) / (2.0 * h);
      if (!(fabs(second - expected) <= 1e-6 * (1.0 + fabs(expected))))
        fail_msg("%s at %g: second derivative %.15g, by differences %.15g", list[k], x, second, expected);
    }
    yoke_expression_destroy(&e);
  }
}

/* A random formula of smooth operations whose values stay of order one. */
static void write_random(uint64_t *seed, int depth, char *text, size_t size) {
  static const char *const leaf[] = {"x", "y", "z", "t", "0.7", "l", "rod[i].x", "pi"};
  static const char *const one[]  = {"sin(%s)",        "cos(%s)",      "tanh(%s)", "atan(%s)",
                                     "sqrt(1+(%s)^2)", "exp(-(%s)^2)", "-(%s)",    "log(2+(%s)^2)"};
  static const char *const two[]  = {"(%s) + (%s)",          "(%s)-(%s)",           "(%s)*(%s)",
                                     "(%s)/(3+sin(%s))",     "hypot(%s, 1+(%s)^2)", "(2+sin(%s))^(%s)",
                                     "atan2(%s, 4+cos(%s))", "if(1 > 2, %s, %s)"};
  char                     a[2000], b[2000];
  const double             r = next_random(seed);
  const int                k = (int)(8.0 * next_random(seed));
  if (depth == 0 || r < 0.1) {
    snprintf(text, size, "%s", leaf[k]);
    return;
  }
  write_random(seed, depth - 1, a, sizeof a);
  write_random(seed, depth - 1, b, sizeof b);
  /* The patterns are the constants above. */
  const char *pattern = r < 0.5 ? one[k] : two[k];
  size_t      n       = 0;
  for (int used = 0; *pattern != '\0' && n + 1 < size; ++pattern) {
    if (pattern[0] == '%') {
      const int written = snprintf(text + n, size - n, "%s", used++ == 0 ? a : b);
      n += (size_t)written;
      ++pattern;
    } else {
      text[n++] = *pattern;
    }
  }
  if (n >= size) n = size - 1;
  text[n] = '\0';
}

static void derivatives_of_random_formulas_agree_with_differences(void **state) {
  (void)state;
  uint64_t seed = 11;
  char     text[8000];
  for (int k = 0; k < 400; ++k) {
    double v[N_VALUES];
    for (int i = 0; i < N_VALUES; ++i) v[i] = 2.0 * next_random(&seed) - 1.0;
    write_random(&seed, 1 + k % 4, text, sizeof text);
    expect_gradient(text, v, 1e-9);
  }
}

static void gradients_of_many_variables_are_complete(void **state) {
  (void)state;
  char   text[2000] = "0";
  double v[N_VALUES], g[40];
  for (int k = 0; k < N_VALUES; ++k) v[k] = 1.0 + k;
  for (int k = 1; k <= 40; ++k) {
    const size_t n = strlen(text);
    snprintf(text + n, sizeof text - n, " + %d*rod[%d].x^2", k, k);
  }
  yoke_expression *e = compile(text);
  assert_int_equal(yoke_expression_n_variables(e), 40);
  yoke_expression_evaluate(e, v, g);
  for (int k = 1; k <= 40; ++k) assert_true(g[k - 1] == 2.0 * k * v[10 + k]);
  yoke_expression_destroy(&e);
}

static double slope_at(const char *text, double x) {
  yoke_expression *e    = compile(text);
  const double     v[6] = {0.0, x, 0.0, 0.0, 0.0, 0.0};
  double           g[6];
  assert_int_equal(yoke_expression_n_variables(e), 1);
  yoke_expression_evaluate(e, v, g);
  yoke_expression_destroy(&e);
  return g[0];
}

static void slopes_at_zero_are_finite_where_they_exist(void **state) {
  (void)state;
  assert_true(slope_at("x^2", 0.0) == 0.0);
  assert_true(slope_at("x^1", 0.0) == 1.0);
  assert_true(slope_at("x^0", 0.0) == 0.0);
  assert_true(slope_at("x^2.5", 0.0) == 0.0);
  assert_true(slope_at("abs(x)^1.5*sign(x)", 0.0) == 0.0);
  assert_true(slope_at("0^abs(x+1)", 0.0) == 0.0);
  assert_true(slope_at("sqrt(x^2)", 0.0) == 0.0);
  assert_true(slope_at("hypot(x, 0)", 0.0) == 0.0);
  assert_true(slope_at("abs(x)", 0.0) == 0.0);
  assert_true(slope_at("x + sqrt(0*l)", 0.0) == 1.0);
  assert_true(slope_at("x*sqrt(x)", 0.0) == 0.0);
  assert_true(isinf(slope_at("sqrt(x)", 0.0)));
}

/* ---- Units ---- */

static void expect_dimension(const char *text, double value, int m, int kg, int s, int rad) {
  yoke_expression *e            = compile(text);
  int              dimension[4] = {99, 99, 99, 99};
  const double     found        = yoke_expression_evaluate(e, NULL, NULL);
  if (!(fabs(found - value) <= 4e-16 * fabs(value))) fail_msg("%s = %.17g, expected %.17g", text, found, value);
  assert_true(yoke_expression_dimension(e, dimension));
  const int expected[4] = {m, kg, s, rad};
  for (int k = 0; k < 4; ++k) {
    if (dimension[k] != expected[k]) fail_msg("%s: exponent %d is %d, expected %d", text, k, dimension[k], expected[k]);
  }
  yoke_expression_destroy(&e);
}

static void numbers_with_units_become_si(void **state) {
  (void)state;
  expect_dimension("350 mm", 0.35, 1, 0, 0, 0);
  expect_dimension("350mm", 0.35, 1, 0, 0, 0);
  expect_dimension("30 deg", 3.14159265358979323846 / 6.0, 0, 0, 0, 1);
  expect_dimension("30\xC2\xB0", 3.14159265358979323846 / 6.0, 0, 0, 0, 1);
  expect_dimension("2 N/mm", 2000.0, 0, 1, -2, 0);
  expect_dimension("1e-3 kg*m^2", 1e-3, 2, 1, 0, 0);
  expect_dimension("9.81 m/s^2", 9.81, 1, 0, -2, 0);
  expect_dimension("3 N*s/mm", 3000.0, 0, 1, -1, 0);
  expect_dimension("2 N*mm/deg", 2e-3 * 180.0 / 3.14159265358979323846, 2, 1, -2, -1);
  expect_dimension("5 mm^-1", 5000.0, -1, 0, 0, 0);
  expect_dimension("5 1/s", 5.0, 0, 0, -1, 0);
  expect_dimension("60 rpm", 2.0 * 3.14159265358979323846, 0, 0, -1, 1);
  expect_dimension("36 km/h", 10.0, 1, 0, -1, 0);
  expect_dimension("7 \xC2\xB5m", 7e-6, 1, 0, 0, 0);
  expect_dimension("210 GPa", 2.1e11, -1, 1, -2, 0);
}

static void dimensions_follow_sums_and_products(void **state) {
  (void)state;
  expect_dimension("1 m + 350 mm", 1.35, 1, 0, 0, 0);
  expect_dimension("-2*(350 mm + 0.05)", -0.8, 1, 0, 0, 0);
  expect_dimension("3 m * 2 m", 6.0, 2, 0, 0, 0);
  expect_dimension("3 m / 2 s", 1.5, 1, 0, -1, 0);
  expect_dimension("(3 mm)^2", 9e-6, 2, 0, 0, 0);
  expect_dimension("sqrt(4 m^2)", 2.0, 1, 0, 0, 0);
  expect_dimension("hypot(3 mm, 4 mm)", 5e-3, 1, 0, 0, 0);
  expect_dimension("if(1 > 2, 1 kg, 2 g)", 2e-3, 0, 1, 0, 0);
  expect_dimension("1 m * sin(30 deg) / 1 s", sin(3.14159265358979323846 / 6.0), 1, 0, -1, 0);
  expect_dimension("(9 m^2)^half", 3.0, 1, 0, 0, 0);
}

static void dimension_is_unknown_without_units(void **state) {
  (void)state;
  static const char *const list[] = {"3", "3*l", "l*1 mm", "pi/4", "sin(30 deg)", "sqrt(2 m)", "x*1 mm"};
  for (size_t k = 0; k < sizeof list / sizeof list[0]; ++k) {
    int              dimension[4];
    yoke_expression *e = compile(list[k]);
    if (yoke_expression_dimension(e, dimension)) fail_msg("%s has a dimension", list[k]);
    yoke_expression_destroy(&e);
  }
}

static void a_unit_stands_behind_its_number_and_a_symbol_behind_an_operator(void **state) {
  (void)state;
  expect_constant("3*m", 15.0);       /* the parameter */
  expect_constant("3 m", 3.0);        /* the unit */
  expect_constant("6 m/s", 6.0);      /* the unit, though m and s are parameters */
  expect_constant("6 mm * m", 0.03);  /* blanks: the parameter */
  expect_constant("6 mm*half", 3e-3); /* half is no unit */
  expect_constant("6 mm/l + 0", 3e-3);
  expect_constant("4/2 + 1 < 3 mm or 1", 1.0);
  expect_constant("8/2 s", 4.0);
  expect_constant("12 mm/min(2, 3)", 6e-3);
}

static void inconsistent_units_are_refused(void **state) {
  (void)state;
  expect_error("1 m + 2 s", 5, "inconsistent units", "[m] and [s]");
  expect_error("2 N/mm - 3 N", 8, "inconsistent units", "[kg s^-2] and [kg m s^-2]");
  expect_error("min(1 m, 2 kg)", 1, "inconsistent units", NULL);
  expect_error("1 m < 2 s", 5, "inconsistent units", NULL);
  expect_error("sin(3 mm)", 1, "inconsistent units", "sin");
  expect_error("2^(3 mm)", 2, "inconsistent units", "exponent");
  expect_error("x*1 m + 1 m + 1 s", 13, "inconsistent units", NULL);
}

static void units_are_looked_up_with_factor_and_dimension(void **state) {
  (void)state;
  double f      = 0.0;
  int    dim[4] = {0, 0, 0, 0};
  assert_true(yoke_unit_lookup("mm", &f, dim));
  assert_true(f == 1e-3 && dim[0] == 1 && dim[1] == 0 && dim[2] == 0 && dim[3] == 0);
  assert_true(yoke_unit_lookup("N*m/rad", &f, dim));
  assert_true(f == 1.0 && dim[0] == 2 && dim[1] == 1 && dim[2] == -2 && dim[3] == -1);
  assert_false(yoke_unit_lookup("furlong", &f, dim));
  assert_false(yoke_unit_lookup("", &f, dim));
  assert_false(yoke_unit_lookup("m/", &f, dim));
  assert_false(yoke_unit_lookup("m s", &f, dim));
}

/* ---- Messages ---- */

static void messages_say_where_what_and_what_else(void **state) {
  (void)state;
  expect_error("", 1, "found the end", "expected a number");
  expect_error("   ", 4, "found the end", NULL);
  expect_error("1 +", 4, "found the end", "expected a number, a name or '('");
  expect_error("(1 + 2", 7, "found the end", "')'");
  expect_error("1 + 2)", 6, "found ')'", "expected an operator or the end");
  expect_error("2 ** 3", 4, "found '*'", "^");
  expect_error("x = 2", 3, "found '='", "==");
  expect_error("x && y", 3, "found '&'", "and");
  expect_error("1,5", 2, "found ','", "dot");
  expect_error("1.2.3", 4, "found '.3'", "operator");
  expect_error("2 furlong", 3, "found 'furlong' after a number", "unit");
  expect_error("2 radd", 3, "'radd'", "did you mean the unit 'rad'");
  expect_error("2pi", 2, "found 'pi' after a number", "*");
  expect_error("2*mm", 3, "unknown name 'mm'", "unit");
  expect_error("2 N / mm", 7, "unknown name 'mm'", "without blanks");
  expect_error("2 m^0.5", 4, "'^' after a unit", "integer exponent");
  expect_error("3 mm ^2", 6, "'^' after a unit", NULL);
  expect_error("1 + uper.vx", 5, "unknown name 'uper.vx'", "did you mean 'upper.vx'?");
  expect_error("qqq", 1, "unknown name 'qqq'", "expected");
  expect_error("sinn(1)", 1, "unknown function 'sinn'", "did you mean sin");
  expect_error("2*sin", 3, "'sin' without arguments", NULL);
  expect_error("atan2(1)", 1, "found 1 argument of atan2", "expected 2");
  expect_error("sin(1, 2)", 1, "found 2 arguments of sin", "expected 1");
  expect_error("min(1)", 1, "found 1 argument of min", "at least 2");
  expect_error("rod[x].x", 5, "index", "constant");
  expect_error("rod[1.5].x", 5, "1.5", "integer");
  expect_error("rod[41].x", 1, "rod[41].x", NULL);
  expect_error("rod[1.x", 5 + 2, NULL, NULL);
  expect_error("1 < 2 < 3", 7, "second comparison", "and");
  expect_error("1e999", 1, "1e999", "expected");
  expect_error("1/0", 1, "infinite", "finite");
  expect_error("sqrt(-1)", 1, "not defined", NULL);
  expect_error("\xC3\xA4 + 1", 1, "found '\xC3\xA4'", NULL);
  expect_error("1 + \xC2\xB5", 5, NULL, NULL);
  expect_error("1 + \x01", 5, "byte 0x01", NULL);
}

static void columns_count_characters(void **state) {
  (void)state;
  expect_error("1 \xC2\xB5m + 1 s", 6, "inconsistent units", NULL);
}

static void short_message_buffers_are_respected(void **state) {
  (void)state;
  yoke_expression *e = NULL;
  char             message[8];
  memset(message, 'x', sizeof message);
  for (size_t size = 0; size < sizeof message; ++size) {
    assert_int_equal(yoke_expression_compile("1 +", NULL, message, size, &e), YOKE_E_MODEL);
    if (size > 0) assert_true(memchr(message, '\0', size) != NULL);
    assert_true(message[7] == 'x');
  }
  assert_int_equal(yoke_expression_compile("x", NULL, NULL, 0, &e), YOKE_E_MODEL);
  assert_int_equal(yoke_expression_compile(NULL, NULL, NULL, 0, &e), YOKE_E_MODEL);
}

/* ---- Hostile text ---- */

static void deep_nesting_is_an_error_not_a_crash(void **state) {
  (void)state;
  static const char *const openers[] = {"(", "-", "sin(", "2^", "not ", "rod[", "if(1,", "1+(", "min(x,", "(x^"};
  enum { N = 100000 };
  char *text = malloc(N * 8 + 8);
  assert_non_null(text);
  for (size_t k = 0; k < sizeof openers / sizeof openers[0]; ++k) {
    size_t n = 0;
    for (int i = 0; i < N; ++i) {
      memcpy(text + n, openers[k], strlen(openers[k]));
      n += strlen(openers[k]);
    }
    text[n++] = '1';
    text[n]   = '\0';
    char             message[200];
    yoke_expression *e = NULL;
    assert_int_equal(yoke_expression_compile(text, &symbols, message, sizeof message, &e), YOKE_E_MODEL);
    assert_true(strstr(message, "nested deeper") != NULL || strstr(message, "values wait") != NULL);
  }
  free(text);
}

static void moderate_nesting_and_long_sums_are_fine(void **state) {
  (void)state;
  char text[40000] = "";
  for (int k = 0; k < 60; ++k) strcat(text, "(1+");
  strcat(text, "x");
  for (int k = 0; k < 60; ++k) strcat(text, ")");
  const double v[2] = {0.0, 4.0};
  assert_true(value_at(text, v) == 64.0);
  strcpy(text, "x");
  for (int k = 0; k < 10000; ++k) memcpy(text + 1 + 2 * k, "+x", 3);
  assert_true(value_at(text, v) == 4.0 * 10001);
}

static void a_text_without_end_is_refused(void **state) {
  (void)state;
  const size_t n    = 3u << 20;
  char        *text = malloc(n + 1);
  assert_non_null(text);
  memset(text, '1', n);
  text[n]            = '\0';
  yoke_expression *e = NULL;
  assert_int_equal(yoke_expression_compile(text, NULL, NULL, 0, &e), YOKE_E_MODEL);
  text[500] = '\0';
  assert_int_equal(yoke_expression_compile(text, NULL, NULL, 0, &e), YOKE_E_MODEL);
  memset(text, 'a', 5000);
  text[5000] = '\0';
  assert_int_equal(yoke_expression_compile(text, NULL, NULL, 0, &e), YOKE_E_MODEL);
  free(text);
}

/* What compiles must also evaluate; nothing may be read or written out of bounds (the sanitizers watch). */
static void try_junk(const char *text) {
  char             message[120];
  yoke_expression *e = NULL;
  double           v[N_VALUES], g[N_VALUES];
  for (int k = 0; k < N_VALUES; ++k) v[k] = 0.1 * k;
  const yoke_status status = yoke_expression_compile(text, &symbols, message, sizeof message, &e);
  if (status == YOKE_OK) {
    assert_non_null(e);
    (void)yoke_expression_evaluate(e, v, g);
  } else {
    assert_null(e);
    assert_int_equal(strncmp(message, "column ", 7), 0);
  }
  yoke_expression_destroy(&e);
}

static void junk_never_crashes(void **state) {
  (void)state;
  static const char *const pieces[] = {"1",    "2.5e3", "x",      "y",      "l",    " ",    "(",   ")",    "+",
                                       "-",    "*",     "/",      "^",      ",",    "sin(", "if(", "min(", "rod[",
                                       "]",    ".x",    "i",      "mm",     " N",   "deg",  "and", " or ", "not",
                                       "<",    "==",    "!=",     "=",      "1/",   "e",    "E-",  "..",   "\"",
                                       "\xC2", "\xFF",  "upper.", "c.x[5]", "pow(", "mod(", "\n",  "0"};
  const int                n_pieces = (int)(sizeof pieces / sizeof pieces[0]);
  uint64_t                 seed     = 5;
  for (int k = 0; k < 20000; ++k) {
    char      text[256] = "";
    const int n         = 1 + (int)(20.0 * next_random(&seed));
    for (int i = 0; i < n; ++i) strcat(text, pieces[(int)(n_pieces * next_random(&seed))]);
    try_junk(text);
  }
  for (int k = 0; k < 5000; ++k) {
    char      text[64];
    const int n = (int)(60.0 * next_random(&seed));
    for (int i = 0; i < n; ++i) text[i] = (char)(1 + (int)(255.0 * next_random(&seed)));
    text[n] = '\0';
    try_junk(text);
  }
}

/* Every prefix of a good formula, and every formula with one letter changed. */
static void damaged_formulas_never_crash(void **state) {
  (void)state;
  static const char good[] =
      "if(x > 350 mm and not y < 1e-3 kg*m^2, rod[i-1].x^2.5*atan2(x, -y), min(1, 2 N/mm, z)^-2)";
  char text[sizeof good];
  for (size_t n = 0; n < sizeof good; ++n) {
    memcpy(text, good, n);
    text[n] = '\0';
    try_junk(text);
  }
  for (size_t n = 0; n + 1 < sizeof good; ++n) {
    for (int letter = 1; letter < 256; letter += 3) {
      memcpy(text, good, sizeof good);
      text[n] = (char)letter;
      try_junk(text);
    }
  }
}

/* ---- structure ---- */

static void affine_formulas_are_known_by_their_program(void **state) {
  (void)state;
  static const char *const affine[] = {"3*(x - y)/l + t", "-(x + 2)^1*l", "5", "x/s - if(1, 2, 3)", "(x + y)*0"};
  static const char *const others[] = {"x*y", "l/x", "abs(x)", "x^2", "min(x, y)", "if(x > 0, 1, 2)", "x - sin(t)"};
  for (size_t k = 0; k < sizeof affine / sizeof *affine; ++k) {
    yoke_expression *e = compile(affine[k]);
    if (!yoke_expression_is_affine(e)) fail_msg("%s", affine[k]);
    yoke_expression_destroy(&e);
  }
  for (size_t k = 0; k < sizeof others / sizeof *others; ++k) {
    yoke_expression *e = compile(others[k]);
    if (yoke_expression_is_affine(e)) fail_msg("%s", others[k]);
    yoke_expression_destroy(&e);
  }
}

static void variables_are_replaced_by_others_and_by_formulas(void **state) {
  (void)state;
  const double           x[]   = {0.5, 2.0, 3.0, 7.0};
  const int              to[]  = {0, 3, 2};
  yoke_expression       *outer = compile("x^2 - y*t"), *square = compile("(x + y)*(x - y)"), *out = NULL;
  const yoke_expression *with[] = {NULL, NULL, square};
  double                 slope[3];
  assert_int_equal(yoke_expression_replace(outer, to, NULL, &out), YOKE_OK);
  assert_true(fabs(yoke_expression_evaluate(out, x, slope) - 47.5) < 1e-13);
  assert_int_equal(yoke_expression_variables(out)[2], 3);
  assert_true(fabs(slope[2] - 14.0) < 1e-13);
  yoke_expression_destroy(&out);
  assert_int_equal(yoke_expression_replace(outer, NULL, with, &out), YOKE_OK);
  assert_true(fabs(yoke_expression_evaluate(out, x, slope) - 6.5) < 1e-13);
  assert_true(fabs(slope[1] - 2.0) < 1e-13);
  yoke_expression_destroy(&out);
  yoke_expression_destroy(&outer);
  yoke_expression_destroy(&square);
}

static void a_formula_that_would_become_too_long_is_refused(void **state) {
  (void)state;
  yoke_expression *e = compile("x + x"), *longer = NULL;
  yoke_status      status;
  do {
    const yoke_expression *with[] = {NULL, e};
    status                        = yoke_expression_replace(e, NULL, with, &longer);
    yoke_expression_destroy(&e);
    e = longer;
  } while (status == YOKE_OK);
  assert_int_equal(status, YOKE_E_MODEL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators_bind_as_in_mathematics),
      cmocka_unit_test(numbers_are_read_to_the_last_bit),
      cmocka_unit_test(functions_give_their_values),
      cmocka_unit_test(names_may_be_dotted_and_indexed),
      cmocka_unit_test(variables_are_listed_once_and_sorted),
      cmocka_unit_test(what_is_not_taken_has_no_influence),
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(second_derivatives_agree_with_differences),
      cmocka_unit_test(derivatives_of_random_formulas_agree_with_differences),
      cmocka_unit_test(gradients_of_many_variables_are_complete),
      cmocka_unit_test(slopes_at_zero_are_finite_where_they_exist),
      cmocka_unit_test(numbers_with_units_become_si),
      cmocka_unit_test(dimensions_follow_sums_and_products),
      cmocka_unit_test(dimension_is_unknown_without_units),
      cmocka_unit_test(a_unit_stands_behind_its_number_and_a_symbol_behind_an_operator),
      cmocka_unit_test(inconsistent_units_are_refused),
      cmocka_unit_test(units_are_looked_up_with_factor_and_dimension),
      cmocka_unit_test(messages_say_where_what_and_what_else),
      cmocka_unit_test(columns_count_characters),
      cmocka_unit_test(short_message_buffers_are_respected),
      cmocka_unit_test(deep_nesting_is_an_error_not_a_crash),
      cmocka_unit_test(moderate_nesting_and_long_sums_are_fine),
      cmocka_unit_test(a_text_without_end_is_refused),
      cmocka_unit_test(affine_formulas_are_known_by_their_program),
      cmocka_unit_test(variables_are_replaced_by_others_and_by_formulas),
      cmocka_unit_test(a_formula_that_would_become_too_long_is_refused),
      cmocka_unit_test(junk_never_crashes),
      cmocka_unit_test(damaged_formulas_never_crash),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
