/* Rows of settings: standards, values, conditions and text. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/setting.h"
#include "check.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum colour { RED, GREEN, BLUE } colour;

typedef struct sample {
  colour colour;
  char   name[12];
  bool   is_big;
  int    count;
  double size, pair[2], limit[3];
} sample;

static bool is_rising(const double *value) {
  return value[0] < value[1];
}

static const yoke_setting rows[] = {
    {.key      = "colour",
     .type     = YOKE_SETTING_WORD,
     .words    = {"red", "green", "blue"},
     .help     = "",
     .standard = {GREEN},
     YOKE_SETTING_AT(sample, colour)},
    {.key = "name", .type = YOKE_SETTING_WORD, .words = {"ash", "oak"}, .help = "", YOKE_SETTING_AT(sample, name)},
    {.key = "is_big", .type = YOKE_SETTING_BOOLEAN, .standard = {1}, .help = "", YOKE_SETTING_AT(sample, is_big)},
    {.key       = "count",
     .type      = YOKE_SETTING_INTEGER,
     .max       = 5,
     .words     = {"auto"},
     .standard  = {-1},
     .otherwise = "as many as fit",
     .help      = "",
     YOKE_SETTING_AT(sample, count)},
    {.key       = "size",
     .type      = YOKE_SETTING_NUMBER,
     .unit      = "m",
     .standard  = {(double)NAN},
     .otherwise = "by colour",
     .with      = "colour",
     .of        = "red blue",
     .without   = "count pair",
     .help      = "",
     YOKE_SETTING_AT(sample, size)},
    {.key       = "pair",
     .type      = YOKE_SETTING_NUMBER,
     .n         = 2,
     .fits      = is_rising,
     .expected  = "two that rise",
     .otherwise = "none",
     .help      = "",
     YOKE_SETTING_AT(sample, pair)},
    {.key      = "limit",
     .type     = YOKE_SETTING_POSITIVE,
     .n        = 3,
     .standard = {2},
     .help     = "",
     YOKE_SETTING_AT(sample, limit)},
};

static const yoke_setting_table table = {.path = "here", YOKE_SETTING_ROWS(rows)};

static sample start(void) {
  sample s;
  memset(&s, 0x55, sizeof s);
  yoke_setting_start(&table, &s);
  return s;
}

static void text_of(const char *key, const sample *s, char text[200]) {
  yoke_setting_text(yoke_setting_find(&table, key), s, text, 200);
}

static void members_start_with_their_standards(void **state) {
  (void)state;
  const sample s = start();
  assert_int_equal(s.colour, GREEN);
  assert_string_equal(s.name, "ash");
  assert_true(s.is_big);
  assert_int_equal(s.count, -1);
  assert_true(isnan(s.size));
  for (int i = 0; i < 3; ++i) CHECK_NEAR(s.limit[i], 2.0, 0.0);
}

static void values_go_to_the_members_of_their_path_and_the_last_one_wins(void **state) {
  (void)state;
  yoke_settings            given    = {0};
  sample                   s        = start();
  const yoke_setting_value values[] = {{.path = "here", .row = &rows[0], .text = "red"},
                                       {.path = "here", .row = &rows[0], .text = "blue"},
                                       {.path = "there", .row = &rows[3], .number = {3}},
                                       {.path = "here", .row = &rows[1], .text = "oak"},
                                       {.path = "here", .row = &rows[6], .number = {7}}};
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) assert_true(yoke_settings_add(&given, &values[i]));
  yoke_setting_fill(&table, "here", &given, &s);
  assert_int_equal(s.colour, BLUE);
  assert_string_equal(s.name, "oak");
  assert_int_equal(s.count, -1);
  for (int i = 0; i < 3; ++i) CHECK_NEAR(s.limit[i], 7.0, 0.0);
  assert_ptr_equal(yoke_settings_find(&given, "here", "colour"), &given.values[1]);
  assert_null(yoke_settings_find(&given, "here", "count"));
  yoke_settings_clear(&given);
}

/* A word may stand instead of a number: the member then says that none was given. */
static void a_word_instead_of_a_number_leaves_it_open(void **state) {
  (void)state;
  sample                   s     = start();
  const yoke_setting_value value = {.path = "here", .row = &rows[3], .text = "auto"};
  yoke_setting_store(&rows[3], &value, &s);
  assert_true(yoke_setting_is_open(&rows[3], &s));
  s.count = 0;
  assert_false(yoke_setting_is_open(&rows[3], &s));
  assert_true(yoke_setting_is_open(&rows[4], &s)); /* NaN */
  assert_false(yoke_setting_is_open(&rows[0], &s));
}

static void a_row_is_read_where_its_conditions_hold(void **state) {
  (void)state;
  sample s = start();
  assert_false(yoke_setting_is_read(&table, &rows[4], &s)); /* green */
  s.colour = RED;
  assert_true(yoke_setting_is_read(&table, &rows[4], &s));
  s.count = 3;
  assert_true(yoke_setting_is_read(&table, &rows[4], &s)); /* pair is still open */
  s.pair[0] = 1.0;
  assert_false(yoke_setting_is_read(&table, &rows[4], &s));
  char text[100];
  yoke_setting_condition_text(&rows[4], text, sizeof text);
  assert_string_equal(text, "colour red or blue, without count and pair");
}

static void texts_read_back_as_the_same_numbers(void **state) {
  (void)state;
  static const double numbers[] = {0.1, 1.0 / 3.0, 1e-300, DBL_MAX, -2.5e-7, 123456789.123, 5e-324, 1e22};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    char text[64];
    yoke_setting_number_text(numbers[i], text, sizeof text);
    CHECK_NEAR(strtod(text, NULL), numbers[i], 0.0);
  }
  char   text[200];
  sample s = start();
  text_of("colour", &s, text);
  assert_string_equal(text, "green");
  text_of("is_big", &s, text);
  assert_string_equal(text, "true");
  text_of("limit", &s, text);
  assert_string_equal(text, "2");
  s.pair[0] = 0.5, s.pair[1] = 2.0 / 3.0;
  text_of("pair", &s, text);
  assert_string_equal(text, "[0.5, 0.6666666666666666]");
}

static void help_says_what_may_be_written(void **state) {
  (void)state;
  static const struct {
    const char *key, *values, *standard;
  } cases[] = {{"colour", "red, green, blue", "green"}, {"count", "0 to 5, auto", "as many as fit"},
               {"size", "a number [m]", "by colour"},   {"pair", "two that rise", "none"},
               {"is_big", "true, false", "true"},       {"limit", "a number > 0", "2"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[200];
    yoke_setting_values_text(yoke_setting_find(&table, cases[i].key), text, sizeof text);
    assert_string_equal(text, cases[i].values);
    yoke_setting_standard_text(yoke_setting_find(&table, cases[i].key), text, sizeof text);
    assert_string_equal(text, cases[i].standard);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_start_with_their_standards),
      cmocka_unit_test(values_go_to_the_members_of_their_path_and_the_last_one_wins),
      cmocka_unit_test(a_word_instead_of_a_number_leaves_it_open),
      cmocka_unit_test(a_row_is_read_where_its_conditions_hold),
      cmocka_unit_test(texts_read_back_as_the_same_numbers),
      cmocka_unit_test(help_says_what_may_be_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
