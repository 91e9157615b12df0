/* The program in a folder of its own: runs it and keeps what it printed. The path of the program is in YOKE_PROGRAM (default
 * build/yoke). Include after cmocka.h. */
#ifndef YOKE_TESTS_CLI_PROGRAM_H
#define YOKE_TESTS_CLI_PROGRAM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

typedef struct fixture {
  char  folder[64];
  char *out; /* stdout of the last call */
  char *err; /* stderr of the last call */
} fixture;

static inline int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  strcpy(f->folder, P_tmpdir "/yoke-cli-XXXXXX");
  assert_non_null(mkdtemp(f->folder));
  *state = f;
  return 0;
}

static inline int tear_down(void **state) {
  fixture *f = *state;
  char     command[100];
  snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
  if (system(command) != 0) fputs("cannot remove the test's folder\n", stderr);
  free(f->out);
  free(f->err);
  free(f);
  return 0;
}

static inline const char *program(void) {
  const char *path = getenv("YOKE_PROGRAM");
  return path && *path ? path : "build/yoke";
}

static inline char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t length = 0, room = 1 << 16;
  char  *text = malloc(room);
  for (;;) {
    length += fread(text + length, 1, room - length - 1, file);
    if (length + 1 < room) break;
    text = realloc(text, room *= 2);
    assert_non_null(text);
  }
  text[length] = '\0';
  fclose(file);
  return text;
}

static inline void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static inline const char *in_folder(const fixture *f, const char *name, char path[128]) {
  snprintf(path, 128, "%s/%s", f->folder, name);
  return path;
}

/* Runs the program with `arguments` (shell words; @ stands for the test's folder) and gives its exit code. */
static inline int yoke(fixture *f, const char *arguments) {
  char   command[4000], path[128];
  size_t n = (size_t)snprintf(command, sizeof command, "'%s' ", program());
  for (const char *c = arguments; *c; ++c) {
    n += (size_t)snprintf(command + n, sizeof command - n, *c == '@' ? "%s" : "%.1s", *c == '@' ? f->folder : c);
  }
  n += (size_t)snprintf(command + n, sizeof command - n, " 2>'%s/err'", f->folder);
  if (!strchr(arguments, '>')) snprintf(command + n, sizeof command - n, " >'%s/out'", f->folder);
  const int status = system(command);
  free(f->out), free(f->err);
  f->out = f->err = NULL;
  if (access(in_folder(f, "out", path), R_OK) == 0) f->out = read_text(path);
  f->err = read_text(in_folder(f, "err", path));
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static inline void assert_says(const char *text, const char *part) {
  if (strstr(text, part)) return;
  print_error("expected '%s' in:\n%s\n", part, text);
  fail();
}

/* The program ends with `code`, and its messages (code 0: what it prints) say `part`. */
static inline void assert_answers(fixture *f, const char *arguments, int code, const char *part) {
  assert_int_equal(yoke(f, arguments), code);
  assert_says(code == 0 ? f->out : f->err, part);
}

/* It ends well, with a warning that says `part`. */
static inline void assert_warns(fixture *f, const char *arguments, const char *part) {
  assert_int_equal(yoke(f, arguments), 0);
  assert_says(f->err, part);
}

#endif
