/* Models from texts, good and bad. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_LOADED_H
#define YOKE_TESTS_LOADED_H

#include "io/model_file.h"
#include <string.h>

typedef struct loaded {
  yoke_context *ctx;
  yoke_model   *model;
  yoke_status   status;
} loaded;

static inline loaded load_set(const char *text, int n_set, const char *const *set) {
  loaded         l       = {0};
  yoke_overrides options = {.n = n_set, .texts = set};
  assert_int_equal(yoke_context_create(&l.ctx), YOKE_OK);
  l.status = yoke_model_file_read_text(l.ctx, "m.yaml", text, strlen(text), &options, &l.model);
  return l;
}

static inline void release(loaded *l) {
  yoke_model_destroy(&l->model);
  yoke_context_destroy(&l->ctx);
}

static inline bool has_message(const loaded *l, const char *part) {
  for (size_t i = 0; i < yoke_context_n_messages(l->ctx); ++i) {
    if (strstr(yoke_context_message(l->ctx, i), part) != NULL) return true;
  }
  return false;
}

static inline loaded good(const char *text) {
  loaded l = load_set(text, 0, NULL);
  if (l.status != YOKE_OK)
    fail_msg("%s", yoke_context_n_messages(l.ctx) > 0 ? yoke_context_message(l.ctx, 0) : "no message");
  return l;
}

/* `text` is refused as a model; one of the messages contains `part`. */
static inline void bad_set(const char *text, int n_set, const char *const *set, const char *part) {
  loaded l = load_set(text, n_set, set);
  assert_int_equal(l.status, YOKE_E_MODEL);
  assert_null(l.model);
  if (!has_message(&l, part)) fail_msg("'%s' is not in '%s'", part, yoke_context_message(l.ctx, 0));
  release(&l);
}

static inline void bad(const char *text, const char *part) {
  bad_set(text, 0, NULL, part);
}

#endif
