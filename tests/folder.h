/* A test with a context and a folder of its own, which is removed behind it. Include after cmocka.h. */
#ifndef YOKE_TESTS_FOLDER_H
#define YOKE_TESTS_FOLDER_H

#include <yoke/context.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fixture {
  yoke_context *ctx;
  char          folder[64];
} fixture;

static inline int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  strcpy(f->folder, P_tmpdir "/yoke-test-XXXXXX");
  assert_non_null(mkdtemp(f->folder));
  assert_int_equal(yoke_context_create(&f->ctx), YOKE_OK);
  *state = f;
  return 0;
}

static inline int tear_down(void **state) {
  fixture *f = *state;
  char     command[100];
  snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
  if (system(command) != 0) fputs("cannot remove the test's folder\n", stderr);
  yoke_context_destroy(&f->ctx);
  free(f);
  return 0;
}

static inline const char *in_folder(const fixture *f, const char *name, char path[128]) {
  snprintf(path, 128, "%s/%s", f->folder, name);
  return path;
}

static inline bool has_message(const yoke_context *ctx, const char *part) {
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) {
    if (strstr(yoke_context_message(ctx, i), part)) return true;
  }
  return false;
}

#endif
