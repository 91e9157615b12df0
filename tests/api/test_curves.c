/* Curves of results from a program. Uses include/yoke only. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../folder.h"
#include <yoke/yoke.h>
#include <stdio.h>
#include <string.h>

/* Two lines over three times. Gives. */
static yoke_result *lines(const fixture *f) {
  yoke_result *result = NULL;
  char         path[128];
  FILE        *file = fopen(in_folder(f, "line.csv", path), "w");
  assert_non_null(file);
  fputs("time,x,y\n0,0,5\n1,2,5\n2,4,5\n", file);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(yoke_result_open(f->ctx, path, &result), YOKE_OK);
  return result;
}

static void a_picture_is_written(void **state) {
  fixture          *f      = *state;
  yoke_result      *result = lines(f);
  const yoke_curves curves = {.size = sizeof curves, .n_results = 1, .results = &result, .title = "two lines"};
  char              path[128];
  assert_int_equal(yoke_curves_write(f->ctx, &curves, in_folder(f, "line.svg", path)), YOKE_OK);
  assert_int_equal(access(path, F_OK), 0);
  yoke_result_close(&result);
}

static void count_line(void *user, const char *line) {
  int *n = user;
  assert_true(strlen(line) <= 60);
  ++*n;
}

/* One panel, because a CSV file tells no units: title, ordinate, field, abscissa and a legend of two. */
static void lines_are_printed(void **state) {
  fixture          *f      = *state;
  yoke_result      *result = lines(f);
  int               n      = 0;
  const yoke_curves curves = {.size = sizeof curves, .n_results = 1, .results = &result, .title = "two lines"};
  assert_int_equal(yoke_curves_print(f->ctx, &curves, 60, count_line, &n), YOKE_OK);
  yoke_result_close(&result);
  assert_int_equal(n, 1 + 1 + 16 + 2 + 2);
}

static void a_program_without_a_result_is_told_so(void **state) {
  fixture          *f      = *state;
  const yoke_curves curves = {.size = sizeof curves};
  assert_int_equal(yoke_curves_write(f->ctx, &curves, "unused.svg"), YOKE_E_USAGE);
}

static void a_result_without_a_model_has_no_mechanism(void **state) {
  fixture             *f         = *state;
  yoke_result         *result    = lines(f);
  const yoke_mechanism mechanism = {.size = sizeof mechanism, .result = result};
  assert_int_equal(yoke_mechanism_write(f->ctx, &mechanism, "unused.svg"), YOKE_E_UNSUPPORTED);
  assert_int_equal(yoke_mechanism_write(f->ctx, &mechanism, "unused.bmp"), YOKE_E_USAGE);
  yoke_result_close(&result);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_picture_is_written),
      TEST(lines_are_printed),
      TEST(a_program_without_a_result_is_told_so),
      TEST(a_result_without_a_model_has_no_mechanism),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
