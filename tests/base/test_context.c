/* Messages of a context. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <yoke/context.h>
#include <string.h>

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

typedef struct journal {
  int           n;
  yoke_severity severity;
  char          text[40];
} journal;

static void write_down(void *user, yoke_severity severity, const char *text) {
  journal *j = user;
  ++j->n;
  j->severity = severity;
  strncpy(j->text, text, sizeof j->text - 1);
}

static void a_log_hears_every_message_as_it_comes(void **state) {
  yoke_context *ctx;
  journal       j = {0};
  (void)state;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  yoke_context_set_log(ctx, write_down, &j);
  for (int i = 0; i < 2 * KEPT; ++i) {
    yoke_note(ctx, "note %d", i); /* also those that are not kept */
    assert_int_equal(j.n, i + 1);
  }
  assert_int_equal(j.severity, YOKE_SEVERITY_NOTE);
  assert_string_equal(j.text, "note 199");
  assert_int_equal(yoke_context_n_lost(ctx), KEPT);
  (void)yoke_fail(ctx, YOKE_E_USAGE, "%s is wrong", "this");
  assert_int_equal(j.severity, YOKE_SEVERITY_ERROR);
  assert_string_equal(j.text, "this is wrong");
  assert_string_equal(yoke_context_message(ctx, KEPT - 1), "this is wrong");
  yoke_context_set_log(ctx, NULL, NULL);
  yoke_warn(ctx, "unheard");
  assert_int_equal(j.n, 2 * KEPT + 1);
  yoke_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f13a_warnings_and_errors_take_the_places_of_notes),
      cmocka_unit_test(errors_beyond_all_places_are_counted),
      cmocka_unit_test(a_log_hears_every_message_as_it_comes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
