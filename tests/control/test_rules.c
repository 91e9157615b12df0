/* The rules of step control as functions of numbers: constants of the estimators, order and step control. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "control/error_constants.h"
#include "control/order_control.h"
#include "control/step_control.h"

/* ---- constants (Kraft 4.5) ---- */

static void constants_on_an_equidistant_grid_are_those_of_kraft_4_5(void **state) {
  static const double position[7] = {1.0 / 2, 1.0 / 6, 1.0 / 8, 19.0 / 180, 3.0 / 32, 863.0 / 10080.0, 275.0 / 3456.0};
  static const double velocity[7] = {1.0, 1.0 / 2, 5.0 / 12, 3.0 / 8, 251.0 / 720.0, 95.0 / 288.0, 19087.0 / 60480.0};
  const double        s[7]        = {0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0};
  (void)state;
  for (int k = 0; k < 7; ++k) {
    const yoke_error_constants c = yoke_error_constants_at(k, s);
    CHECK_NEAR(c.position / position[k], 1.0, 1e-14);
    CHECK_NEAR(c.velocity / velocity[k], 1.0, 1e-14);
  }
}

static void ratios_of_constants_are_those_of_kraft_table_3_1(void **state) {
  static const double position[6] = {1.0 / 3, 3.0 / 4, 38.0 / 45, 135.0 / 152.0, 863.0 / 945.0, 9625.0 / 10356.0};
  static const double velocity[6] = {1.0 / 2, 5.0 / 6, 9.0 / 10, 251.0 / 270.0, 475.0 / 502.0, 19087.0 / 19950.0};
  const double        s[7]        = {0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0};
  (void)state;
  for (int k = 0; k < 6; ++k) {
    const yoke_error_constants low = yoke_error_constants_at(k, s), high = yoke_error_constants_at(k + 1, s);
    CHECK_NEAR(high.position / low.position, position[k], 1e-14);
    CHECK_NEAR(high.velocity / low.velocity, velocity[k], 1e-14);
  }
}

/* Against Simpson's rule with many points, on a grid that is far from equidistant. */
static void constants_on_any_grid_are_the_integrals_of_the_product(void **state) {
  const double s[7] = {0.0, -0.31, -1.7, -1.9, -4.2, -4.7, -9.0};
  enum { N = 2000 };
  (void)state;
  for (int k = 0; k < 8; ++k) {
    double position = 0.0, velocity = 0.0;
    for (int i = 0; i <= N; ++i) {
      const double x = (double)i / N, weight = (i == 0 || i == N ? 1.0 : i % 2 == 1 ? 4.0 : 2.0) / (3.0 * N);
      double       L = 1.0;
      for (int j = 0; j < k; ++j) L *= (x - s[j]) / (1.0 - s[j]);
      velocity += weight * L;
      position += weight * (1.0 - x) * L;
    }
    const yoke_error_constants c = yoke_error_constants_at(k, s);
    CHECK_NEAR(c.position, position, 1e-11);
    CHECK_NEAR(c.velocity, velocity, 1e-11);
  }
}

/* ---- error test ---- */

static void norm_is_the_mean_square_of_weighted_errors(void **state) {
  yoke_wrms norm = {0};
  (void)state;
  CHECK_NEAR(yoke_wrms_value(&norm), 0.0, 0.0);
  yoke_wrms_add(&norm, 3e-3, -1.0, 1e-3, 2e-3); /* 1 */
  yoke_wrms_add(&norm, -7e-3, 5.0, 1e-3, 2e-3); /* 1 */
  yoke_wrms_add(&norm, 4e-3, 0.0, 1e-3, 2e-3);  /* 2 */
  CHECK_NEAR(yoke_wrms_value(&norm), sqrt(6.0 / 3.0), 1e-15);
}

static void a_norm_that_is_not_finite_is_larger_than_any_tolerance(void **state) {
  const yoke_error_norms norms = {.position = 0.1, .velocity = (double)NAN};
  (void)state;
  assert_true(isinf(yoke_error_norms_largest(&norms)));
}

/* ---- order control (Kraft listings 3.1 and 3.2) ---- */

typedef struct order_case {
  yoke_order_rule  rule;
  yoke_order_facts facts;
  int              expected;
} order_case;

static void order_follows_the_listings(void **state) {
  static const order_case cases[] = {
      /* 3.2, falling: k = 1 with SDN(1) <= SDN(2)/2; k > 1 with both lower norms at most SDN(k + 1) */
      {YOKE_ORDER_RULE_IDA, {.k = 1, .k_max = 5, .n_sdn = 2, .sdn = {0, 1.0, 2.0}}, 0},
      {YOKE_ORDER_RULE_IDA, {.k = 1, .k_max = 5, .n_sdn = 2, .sdn = {0, 1.0, 1.9}}, 1},
      {YOKE_ORDER_RULE_IDA, {.k = 3, .k_max = 5, .n_sdn = 4, .sdn = {0, 9.0, 1.0, 2.0, 2.0}}, 2},
      {YOKE_ORDER_RULE_IDA, {.k = 3, .k_max = 5, .n_sdn = 4, .sdn = {0, 9.0, 1.0, 2.1, 2.0}}, 3},
      /* 3.2, failures */
      {YOKE_ORDER_RULE_IDA, {.k = 3, .k_max = 5, .n_failed = 3, .n_sdn = 4, .sdn = {0, 4.0, 3.0, 2.0, 1.0}}, 3},
      {YOKE_ORDER_RULE_IDA, {.k = 3, .k_max = 5, .n_failed = 4, .n_sdn = 4, .sdn = {0, 4.0, 3.0, 2.0, 1.0}}, 1},
      {YOKE_ORDER_RULE_IDA, {.k = 3, .k_max = 5, .n_failed = 6, .n_sdn = 4, .sdn = {0, 4.0, 3.0, 2.0, 1.0}}, 0},
      /* 3.2, rising: only after more than k good steps, below k_max, with SDN(k + 2) known and below SDN(k + 1) */
      {YOKE_ORDER_RULE_IDA, {.k = 0, .k_max = 5, .n_good = 1, .n_sdn = 2, .sdn = {0, 1.0, 0.4}}, 1},
      {YOKE_ORDER_RULE_IDA, {.k = 0, .k_max = 5, .n_good = 0, .n_sdn = 2, .sdn = {0, 1.0, 0.4}}, 0},
      {YOKE_ORDER_RULE_IDA, {.k = 0, .k_max = 5, .n_good = 1, .n_sdn = 2, .sdn = {0, 1.0, 0.6}}, 0},
      {YOKE_ORDER_RULE_IDA, {.k = 2, .k_max = 5, .n_good = 3, .n_sdn = 4, .sdn = {0, 9.0, 3.0, 2.0, 1.0}}, 3},
      {YOKE_ORDER_RULE_IDA, {.k = 2, .k_max = 2, .n_good = 3, .n_sdn = 4, .sdn = {0, 9.0, 3.0, 2.0, 1.0}}, 2},
      {YOKE_ORDER_RULE_IDA, {.k = 2, .k_max = 5, .n_good = 3, .n_sdn = 3, .sdn = {0, 9.0, 3.0, 2.0}}, 2},
      {YOKE_ORDER_RULE_IDA, {.k = 2, .k_max = 5, .n_good = 3, .n_sdn = 4, .sdn = {0, 9.0, 1.0, 2.0, 3.0}}, 1},
      {YOKE_ORDER_RULE_IDA, {.k = 2, .k_max = 5, .n_good = 3, .n_sdn = 4, .sdn = {0, 9.0, 3.0, 2.0, 2.5}}, 2},
      /* 3.1: the highest k whose norms all fall */
      {YOKE_ORDER_RULE_CONSERVATIVE, {.k = 3, .k_max = 5, .n_sdn = 4, .sdn = {0, 4.0, 3.0, 2.0, 1.0}}, 3},
      {YOKE_ORDER_RULE_CONSERVATIVE, {.k = 3, .k_max = 5, .n_sdn = 4, .sdn = {0, 4.0, 3.0, 3.0, 1.0}}, 1},
      {YOKE_ORDER_RULE_CONSERVATIVE, {.k = 3, .k_max = 5, .n_sdn = 4, .sdn = {0, 4.0, 5.0, 3.0, 1.0}}, 0},
      {YOKE_ORDER_RULE_CONSERVATIVE, {.k = 1, .k_max = 5, .n_good = 2, .n_sdn = 3, .sdn = {0, 4.0, 3.0, 2.0}}, 2},
      {YOKE_ORDER_RULE_CONSERVATIVE, {.k = 1, .k_max = 5, .n_good = 2, .n_sdn = 3, .sdn = {0, 4.0, 3.0, 3.0}}, 1},
      {YOKE_ORDER_RULE_CONSERVATIVE, {.k = 1, .k_max = 5, .n_good = 1, .n_sdn = 3, .sdn = {0, 4.0, 3.0, 2.0}}, 1},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const int k = yoke_order_next(cases[i].rule, &cases[i].facts);
    if (k != cases[i].expected) fail_msg("case %zu: degree %d, expected %d", i, k, cases[i].expected);
  }
}

/* ---- step control (Kraft 3.27) ---- */

static const yoke_step_rule kraft = {.safety = 6.0, .ratio = {0.5, 1.5}, .dead_zone = true};

static void ratio_is_that_of_the_most_demanding_norm(void **state) {
  const yoke_error_norms norms = {.position = 0.5, .velocity = 0.02, .coupling = 0.0, .order = {5, 4, 3}};
  (void)state;
  CHECK_NEAR(yoke_step_ratio(&kraft, &norms), pow(3.0, -1.0 / 5), 1e-14);
}

static void an_error_of_zero_gives_a_large_but_finite_ratio(void **state) {
  const yoke_error_norms norms = {.order = {5, 4, 3}};
  const double           ratio = yoke_step_ratio(&kraft, &norms);
  (void)state;
  assert_true(isfinite(ratio) && ratio > 1e3);
}

static void accepted_steps_have_a_dead_zone_and_limits(void **state) {
  static const double cases[][2] = {{9.0, 1.5},  {1.5, 1.5}, {1.49, 1.0}, {1.0, 1.0},
                                    {0.95, 0.9}, {0.7, 0.7}, {0.1, 0.5}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    CHECK_NEAR(yoke_step_limited(&kraft, cases[i][0], 0, false), cases[i][1], 0.0);
}

static void without_dead_zone_every_ratio_in_the_limits_is_used(void **state) {
  yoke_step_rule rule = kraft;
  rule.dead_zone      = false;
  (void)state;
  CHECK_NEAR(yoke_step_limited(&rule, 1.2, 0, false), 1.2, 0.0);
  CHECK_NEAR(yoke_step_limited(&rule, 0.95, 0, false), 0.95, 0.0);
  CHECK_NEAR(yoke_step_limited(&rule, 0.1, 0, false), 0.5, 0.0);
  CHECK_NEAR(yoke_step_limited(&rule, 7.0, 0, false), 1.5, 0.0);
}

static void rejected_steps_climb_down_the_ladder(void **state) {
  (void)state;
  CHECK_NEAR(yoke_step_limited(&kraft, 0.5, 1, false), 0.45, 1e-15);
  CHECK_NEAR(yoke_step_limited(&kraft, 1.2, 1, false), 0.9, 0.0);
  CHECK_NEAR(yoke_step_limited(&kraft, 0.01, 1, false), 0.25, 0.0);
  CHECK_NEAR(yoke_step_limited(&kraft, 0.9, 2, false), 0.25, 0.0);
  CHECK_NEAR(yoke_step_limited(&kraft, 0.9, 1, true), 0.25, 0.0);
  CHECK_NEAR(yoke_step_limited(&kraft, (double)NAN, 1, false), 0.25, 0.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constants_on_an_equidistant_grid_are_those_of_kraft_4_5),
      cmocka_unit_test(ratios_of_constants_are_those_of_kraft_table_3_1),
      cmocka_unit_test(constants_on_any_grid_are_the_integrals_of_the_product),
      cmocka_unit_test(norm_is_the_mean_square_of_weighted_errors),
      cmocka_unit_test(a_norm_that_is_not_finite_is_larger_than_any_tolerance),
      cmocka_unit_test(order_follows_the_listings),
      cmocka_unit_test(ratio_is_that_of_the_most_demanding_norm),
      cmocka_unit_test(an_error_of_zero_gives_a_large_but_finite_ratio),
      cmocka_unit_test(accepted_steps_have_a_dead_zone_and_limits),
      cmocka_unit_test(without_dead_zone_every_ratio_in_the_limits_is_used),
      cmocka_unit_test(rejected_steps_climb_down_the_ladder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
