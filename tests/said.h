/* What a context was told. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_SAID_H
#define YOKE_TESTS_SAID_H

#include <yoke/context.h>
#include <stdbool.h>
#include <string.h>

/* Has one of the messages this part? */
static inline bool said(const yoke_context *ctx, const char *part) {
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) {
    if (strstr(yoke_context_message(ctx, i), part) != NULL) return true;
  }
  return false;
}

static inline void expect_said(const yoke_context *ctx, const char *part) {
  if (said(ctx, part)) return;
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) print_message("%s\n", yoke_context_message(ctx, i));
  fail_msg("nobody said: %s", part);
}

#endif
