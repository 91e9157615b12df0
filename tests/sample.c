/* Every test program is linked with --wrap=_cmocka_run_group_tests: YOKE_LONGEST=s leaves out tests of which tests/long.txt says that they
 * take s seconds or more; YOKE_TIMES=FILE adds lines of that list to FILE, one per test that passed (scripts/long-tests). */
#include "sample.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int __real__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
                                   CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
                                   CMFixtureFunction teardown);

enum { MAX_TESTS = 200 };

/* Not getenv, whose calls a test counts. */
static const char *value_of(const char *variable) {
  const size_t n = strlen(variable);
  for (char **at = environ; *at != NULL; ++at) {
    if (strncmp(*at, variable, n) == 0 && (*at)[n] == '=') return *at + n + 1;
  }
  return NULL;
}

static bool is_set(const char *variable) {
  const char *value = value_of(variable);
  return value != NULL && strcmp(value, "1") == 0;
}

/* NULL: nothing is said, or all is wanted. `make test-quick` takes the samples of sanitizers (tests/CMakeLists.txt). */
static const char *wish(const char *variable) {
  if (is_set("YOKE_WHOLE")) return NULL;
  if (is_set("YOKE_QUICK")) return strcmp(variable, "YOKE_STRIDE") == 0 ? "53" : "0.1";
  return value_of(variable);
}

/* The test that runs runs in part elsewhere: its time is no reason to leave it out. */
static bool has_stride;

int sample_stride(void) {
  const char *text = wish("YOKE_STRIDE");
  has_stride       = true;
  return text != NULL && atoi(text) > 1 ? atoi(text) : 1;
}

int sample_stride_sanitized(void) {
#ifdef YOKE_SANITIZED
  return sample_stride();
#else
  has_stride = true;
  return 1;
#endif
}

/* Leaves out[0..] the tests that are not too long. Returns their number. */
static size_t choose(const struct CMUnitTest *tests, size_t n, double longest, struct CMUnitTest *out) {
  bool   is_long[MAX_TESTS] = {false};
  char   line[300], program[100], name[200];
  double seconds;
  FILE  *file = fopen("tests/long.txt", "r");
  if (file == NULL)
    fprintf(stderr, "tests/long.txt: %s; test programs run in the folder of the sources\n", strerror(errno));
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "%lf %99s %199s", &seconds, program, name) != 3 || seconds < longest) continue;
    for (size_t i = 0; i < n && strcmp(program, program_invocation_short_name) == 0; ++i) {
      if (strcmp(name, tests[i].name) == 0) is_long[i] = true;
    }
  }
  if (file != NULL) fclose(file);
  size_t n_out = 0;
  for (size_t i = 0; i < n; ++i) {
    if (!is_long[i]) out[n_out++] = tests[i];
  }
  return n_out;
}

/* Processor time of this program and of those that it started and waited for [s]. */
static double processor_time(void) {
  double sum = 0.0;
  for (int i = 0; i < 2; ++i) {
    struct rusage used = {0};
    getrusage(i == 0 ? RUSAGE_SELF : RUSAGE_CHILDREN, &used);
    sum += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  }
  return sum;
}

/* Tests run in the order of their table: the next one, and where its time goes. */
static const struct CMUnitTest *next_test;
static const char              *times;

static void timed(void **state) {
  const struct CMUnitTest *test  = next_test++;
  const double             start = processor_time();
  has_stride                     = false;
  test->test_func(state);
  FILE *file = fopen(times, "a");
  if (file == NULL) fail_msg("YOKE_TIMES=%s: %s", times, strerror(errno));
  if (!has_stride) fprintf(file, "%.2f %s %s\n", processor_time() - start, program_invocation_short_name, test->name);
  fclose(file);
}

static int run_timed(const char *group, const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
                     CMFixtureFunction teardown) {
  struct CMUnitTest all[MAX_TESTS];
  next_test = tests;
  for (size_t i = 0; i < n; ++i) {
    all[i]           = tests[i];
    all[i].test_func = timed;
  }
  return __real__cmocka_run_group_tests(group, all, n, setup, teardown);
}

int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
                                   CMFixtureFunction teardown) {
  const char       *longest = wish("YOKE_LONGEST");
  struct CMUnitTest some[MAX_TESTS];
  times = value_of("YOKE_TIMES");
  if (times != NULL && n <= MAX_TESTS) return run_timed(group, tests, n, setup, teardown);
  if (longest == NULL || n > MAX_TESTS) return __real__cmocka_run_group_tests(group, tests, n, setup, teardown);
  const size_t n_some = choose(tests, n, atof(longest), some);
  if (n_some < n) print_message("a sample: %zu of %zu tests; `make verify` runs all\n", n_some, n);
  return n_some == 0 ? 0 : __real__cmocka_run_group_tests(group, some, n_some, setup, teardown);
}
