/* Expressions whose jumps are held. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "check.h"
#include "frames/expression_jumps.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { T, X, Y, FIRST = 10, MOST = 8 };

static yoke_symbol_kind lookup(void *user, const char *name, double *value, int *variable) {
  static const char *const names[] = {"t", "x", "y"};
  (void)user, (void)value;
  for (int k = 0; k < 3; ++k) {
    *variable = k;
    if (strcmp(name, names[k]) == 0) return YOKE_SYMBOL_VARIABLE;
  }
  return YOKE_SYMBOL_UNKNOWN;
}

typedef struct held {
  yoke_expression *plain, *held;
  yoke_jump        jumps[MOST];
  int              n;
} held;

static held hold(const char *text) {
  const yoke_symbols symbols = {.lookup = lookup};
  char               message[200];
  held               h = {0};
  assert_int_equal(yoke_expression_compile(text, &symbols, message, sizeof message, &h.plain), YOKE_OK);
  assert_true(yoke_expression_most_jumps(h.plain) <= MOST);
  assert_int_equal(yoke_expression_hold(h.plain, T, FIRST, h.jumps, &h.n, &h.held), YOKE_OK);
  return h;
}

static void release(held *h) {
  for (int k = 0; k < h->n; ++k) yoke_expression_destroy(&h->jumps[k].s);
  yoke_expression_destroy(&h->held);
  yoke_expression_destroy(&h->plain);
}

/* Value at (x, y) with the first jump held at `first` and the second at `second`. */
static double value(const held *h, double x, double y, double first, double second) {
  double variables[FIRST + MOST] = {[X] = x, [Y] = y, [FIRST] = first, [FIRST + 1] = second};
  return yoke_expression_evaluate(h->held, variables, NULL);
}

static void jumps_and_kinks_are_told_from_what_is_smooth(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int         n_jumps, n_kinks;
  } cases[] = {{"3*sign(x)", 1, 0},
               {"sign(x) + step(y - 1)", 2, 0},
               {"if(x < 0, -x - y, 0)", 1, 0},
               {"if(x < 0, -1e5*x, 0)", 0, 1},
               {"if(x > 2, (x - 2)^2, 0)", 0, 0},
               {"x*sign(x)", 0, 1},
               {"x*abs(x)", 0, 0},
               {"(1 + min(x, 0)/0.1)^(-1.2) + y*abs(y)", 0, 1},
               {"abs(x) + min(x, y) + max(x, 1)", 0, 3},
               {"min(x, 2*x, y)", 0, 2},
               {"if(x > 0 and y > 0, 1, 0)", 2, 0},
               {"sign(t - 1)*x + step(sin(t))", 0, 0},
               {"floor(x) + (x == 1)", 0, 0},
               {"x + 2*y", 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    held h       = hold(cases[i].text);
    int  n_kinks = 0;
    for (int k = 0; k < h.n; ++k) n_kinks += h.jumps[k].is_kink;
    assert_int_equal(n_kinks, cases[i].n_kinks);
    assert_int_equal(h.n, cases[i].n_jumps + cases[i].n_kinks);
    assert_true((h.held != NULL) == (h.n > 0));
    release(&h);
  }
}

/* min of 40 operands would be a program of 2^40 instructions. */
static void what_becomes_too_long_is_not_held(void **state) {
  (void)state;
  char text[1000] = "min(x";
  for (int k = 0; k < 40; ++k) sprintf(text + strlen(text), ", %d*y", k);
  strcat(text, ")");
  const yoke_symbols symbols = {.lookup = lookup};
  char               message[200];
  yoke_jump          jumps[64];
  yoke_expression   *plain, *out;
  int                n;
  assert_int_equal(yoke_expression_compile(text, &symbols, message, sizeof message, &plain), YOKE_OK);
  assert_true(yoke_expression_most_jumps(plain) <= 64);
  assert_int_equal(yoke_expression_hold(plain, T, FIRST, jumps, &n, &out), YOKE_OK);
  assert_int_equal(n, 0);
  assert_null(out);
  yoke_expression_destroy(&plain);
}

static void free_jumps_are_what_is_written(void **state) {
  (void)state;
  static const char *const texts[] = {"3*sign(x) - step(y)", "if(x < 0, -x - y, 2)",
                                      "if(x > 0 and not y > 0, x, 5 - y)", "if(x > 0 or y >= 1, 1, -1)*(x <= y)",
                                      "abs(x - y) + min(x, y, 1) - max(x, -y)"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
    held h = hold(texts[i]);
    for (double x = -2.0; x <= 2.0; x += 1.0) {
      for (double y = -2.0; y <= 2.0; y += 1.0) {
        double variables[FIRST + MOST] = {[X] = x, [Y] = y};
        for (int k = 0; k < MOST; ++k) variables[FIRST + k] = NAN;
        assert_true(yoke_expression_evaluate(h.held, variables, NULL) ==
                    yoke_expression_evaluate(h.plain, variables, NULL));
      }
    }
    release(&h);
  }
}

static void held_jumps_go_on_smoothly_and_mix(void **state) {
  (void)state;
  held h = hold("if(x < 0 and y > 0, 4 - x, 2*y)");
  assert_true(h.jumps[0].low == 1.0 && h.jumps[0].high == 0.0 && h.jumps[1].low == 0.0 && h.jumps[1].high == 1.0);
  CHECK_NEAR(value(&h, 1.0, 1.0, 1.0, 1.0), 3.0, 1e-15);
  CHECK_NEAR(value(&h, -1.0, 1.0, 0.0, 1.0), 2.0, 1e-15);
  CHECK_NEAR(value(&h, -1.0, 1.0, 0.25, 1.0), 0.25 * 5.0 + 0.75 * 2.0, 1e-15);
  CHECK_NEAR(value(&h, -1.0, 1.0, 1.0, 0.25), 0.25 * 5.0 + 0.75 * 2.0, 1e-15);
  release(&h);
}

static void what_is_held_gives_way_where_it_is_not_defined(void **state) {
  (void)state;
  held h = hold("if(x < 0, 1 + sqrt(-x), 7)");
  CHECK_NEAR(value(&h, -4.0, 0.0, 1.0, NAN), 3.0, 1e-15);
  CHECK_NEAR(value(&h, 1e-9, 0.0, 1.0, NAN), 7.0, 1e-15);
  release(&h);
}

static void switching_functions_are_differences(void **state) {
  (void)state;
  held         h           = hold("2*(x^2 > 3*y) + sign(x - y)");
  const double variables[] = {0.0, 2.0, 5.0};
  CHECK_NEAR(yoke_expression_evaluate(h.jumps[0].s, variables, NULL), 4.0 - 15.0, 1e-15);
  CHECK_NEAR(yoke_expression_evaluate(h.jumps[1].s, variables, NULL), -3.0, 1e-15);
  release(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jumps_and_kinks_are_told_from_what_is_smooth),
      cmocka_unit_test(what_becomes_too_long_is_not_held),
      cmocka_unit_test(free_jumps_are_what_is_written),
      cmocka_unit_test(held_jumps_go_on_smoothly_and_mix),
      cmocka_unit_test(what_is_held_gives_way_where_it_is_not_defined),
      cmocka_unit_test(switching_functions_are_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
