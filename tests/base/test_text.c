#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <yoke/context.h>
#include "base/text.h"

static void nearest_name_survives_a_swapped_pair(void **state) {
  (void)state;
  const char *const list[] = {"stiffness", "damping", "length"};
  assert_string_equal(yoke_text_nearest("stifnfess", list, 3), "stiffness");
}

static void far_names_have_no_nearest(void **state) {
  (void)state;
  const char *const list[] = {"stiffness", "damping", "length"};
  assert_null(yoke_text_nearest("quaternion", list, 3));
}

static void a_word_without_a_common_letter_has_no_nearest(void **state) {
  (void)state;
  const char *const list[] = {"0", "1", "d", "i"};
  assert_null(yoke_text_nearest("7", list, 4));
  assert_string_equal(yoke_text_nearest("dd", list, 4), "d");
}

static void patterns_match_stars_and_letters(void **state) {
  (void)state;
  assert_true(yoke_text_matches("knee.*", "knee.force[1]"));
  assert_true(yoke_text_matches("*.x[?]", "c.x[5]"));
  assert_false(yoke_text_matches("knee.*", "hip.force[1]"));
  assert_true(yoke_text_matches("*", ""));
}

static void ranges_match_an_index_among_their_numbers(void **state) {
  (void)state;
  assert_true(yoke_text_matches("c.x[9..11]", "c.x[10]"));
  assert_true(yoke_text_matches("*[9..11]", "c.x[11]"));
  assert_true(yoke_text_matches("rod[2..3].*", "rod[3].angle"));
  assert_false(yoke_text_matches("c.x[9..11]", "c.x[12]"));
  assert_false(yoke_text_matches("c.x[9..11]", "c.x[1]"));
  assert_true(yoke_text_matches("c.x[10..100..10]", "c.x[100]"));
  assert_false(yoke_text_matches("c.x[10..100..10]", "c.x[95]"));
  assert_false(yoke_text_matches("c.x[11..9]", "c.x[10]"));
  assert_false(yoke_text_matches("c.x[1..9..0]", "c.x[1]"));
  assert_false(yoke_text_matches("c.x[9..11]", "c.x[9..11"));
}

static void context_counts_what_it_cannot_keep(void **state) {
  (void)state;
  yoke_context *ctx = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  for (int i = 0; i < 250; ++i) assert_int_equal(yoke_fail(ctx, YOKE_E_MODEL, "error %d", i), YOKE_E_MODEL);
  assert_int_equal(yoke_context_n_errors(ctx), 250);
  assert_string_equal(yoke_context_message(ctx, 7), "error 7");
  yoke_context_destroy(&ctx);
  assert_null(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nearest_name_survives_a_swapped_pair),
      cmocka_unit_test(far_names_have_no_nearest),
      cmocka_unit_test(a_word_without_a_common_letter_has_no_nearest),
      cmocka_unit_test(patterns_match_stars_and_letters),
      cmocka_unit_test(ranges_match_an_index_among_their_numbers),
      cmocka_unit_test(context_counts_what_it_cannot_keep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
