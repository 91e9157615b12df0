#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"

static void keep(void *user, const char *line) {
  snprintf(user, 300, "%s", line);
}

static void a_line_is_a_label_and_pairs_with_all_digits(void **state) {
  (void)state;
  char           text[300] = "";
  const yoke_log log       = {keep, text};
  yoke_log_line  line      = yoke_log_begin("step", "left");
  yoke_log_number(&line, "t", 0.1);
  yoke_log_count(&line, "number", -3);
  yoke_log_word(&line, "status", "YOKE_OK");
  yoke_log_end(&log, &line);
  assert_string_equal(text, "step left t = 0.10000000000000001, number = -3, status = YOKE_OK");
  line = yoke_log_begin("begin-step", NULL);
  yoke_log_end(&log, &line);
  assert_string_equal(text, "begin-step");
}

static void a_line_that_is_too_long_is_cut(void **state) {
  (void)state;
  char           name[400], text[300] = "";
  const yoke_log log = {keep, text};
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  yoke_log_line line    = yoke_log_begin("accept", name);
  for (int i = 0; i < 30; ++i) yoke_log_number(&line, "t", i);
  yoke_log_end(&log, &line);
  assert_int_equal(strlen(text), sizeof line.text - 1);
}

static void a_log_without_a_sink_swallows_its_lines(void **state) {
  (void)state;
  const yoke_log      log  = {0};
  const yoke_log_line line = yoke_log_begin("begin-step", NULL);
  yoke_log_end(&log, &line);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_is_a_label_and_pairs_with_all_digits),
      cmocka_unit_test(a_line_that_is_too_long_is_cut),
      cmocka_unit_test(a_log_without_a_sink_swallows_its_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
