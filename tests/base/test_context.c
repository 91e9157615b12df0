/* Messages of a context. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <yoke/context.h>

enum { KEPT = 100 };

static void f13a_warnings_and_errors_take_the_places_of_notes(void **state) {
  yoke_context *ctx;
  (void)state;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  for (int i = 0; i < 2 * KEPT; ++i) yoke_note(ctx, "note %d", i);
  yoke_warn(ctx, "warning");
  assert_int_equal(yoke_fail(ctx, YOKE_E_USAGE, "error"), YOKE_E_USAGE);
  assert_int_equal(yoke_context_n_messages(ctx), KEPT);
  assert_int_equal(yoke_context_n_lost(ctx), KEPT + 2);
  assert_string_equal(yoke_context_message(ctx, 0), "note 0");
  assert_string_equal(yoke_context_message(ctx, KEPT - 3), "note 97");
  assert_string_equal(yoke_context_message(ctx, KEPT - 2), "warning");
  assert_string_equal(yoke_context_message(ctx, KEPT - 1), "error");
  yoke_context_destroy(&ctx);
}

static void errors_beyond_all_places_are_counted(void **state) {
  yoke_context *ctx;
  (void)state;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  for (int i = 0; i < KEPT + 5; ++i) (void)yoke_fail(ctx, YOKE_E_USAGE, "error %d", i);
  yoke_note(ctx, "note");
  assert_int_equal(yoke_context_n_messages(ctx), KEPT);
  assert_int_equal(yoke_context_n_errors(ctx), KEPT + 5);
  assert_int_equal(yoke_context_n_lost(ctx), 1);
  yoke_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f13a_warnings_and_errors_take_the_places_of_notes),
      cmocka_unit_test(errors_beyond_all_places_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
