#include "base/given.h"

yoke_status yoke_given(yoke_context *ctx, const void *given, const char *name) {
  return given != NULL ? YOKE_OK : yoke_fail(ctx, YOKE_E_USAGE, "no %s was given (NULL)", name);
}

yoke_status yoke_given_texts(yoke_context *ctx, int n, const char *const *texts, const char *what) {
  if (n < 0) return yoke_fail(ctx, YOKE_E_USAGE, "a list of %d, expected 0 or more, each %s", n, what);
  if (n > 0 && texts == NULL) return yoke_fail(ctx, YOKE_E_USAGE, "a list of %d is NULL, expected %s each", n, what);
  for (int i = 0; i < n; ++i) {
    if (texts[i] == NULL)
      return yoke_fail(ctx, YOKE_E_USAGE, "number %d of a list of %d is NULL, expected %s", i + 1, n, what);
  }
  return YOKE_OK;
}
