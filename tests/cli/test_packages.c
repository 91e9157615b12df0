/* What the program is linked with: nothing under the GPL, nothing that only tests need; BLAS without threads. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "program.h"
#include <sys/stat.h>

static void the_program_is_linked_with_what_it_needs_only(void **state) {
  (void)state;
  static const char *const foreign[] = {"spqr", "cholmod", "umfpack", "gomp", "sundials"};
  char                     command[4200], line[4096];
  snprintf(command, sizeof command, "ldd '%s'", program());
  FILE *list = popen(command, "r");
  assert_non_null(list);
  int n = 0;
  while (fgets(line, sizeof line, list) != NULL) {
    ++n;
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; ++i) {
      if (strstr(line, foreign[i]) != NULL) fail_msg("linked with %s", line);
    }
  }
  assert_int_equal(pclose(list), 0);
  assert_true(n > 3);
}

static void ida_and_cvode_are_no_solvers_of_the_program(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/pendulum.yaml -q --solver ida"), 2);
  assert_non_null(strstr(f->err, "unknown solver 'ida'"));
  assert_int_equal(yoke(f, "run examples/pendulum.yaml -q --set solvers.default.kind=cvode"), 3);
  assert_non_null(strstr(f->err, "found 'cvode', expected one of: auto, "));
}

/* Dense factors, large enough for BLAS to share them out. */
static void f15_threads_of_blas_do_not_change_a_bit(void **state) {
  fixture *f = *state;
  for (int threads = 1; threads <= 2; ++threads) {
    char number[12], command[200];
    snprintf(number, sizeof number, "%d", threads);
    snprintf(command, sizeof command,
             "run examples/pendulum-chain.yaml -q --solver radau5 --set solvers.default.linear=dense --t-end 0.01 "
             "--csv @/%d.csv",
             threads);
    setenv("OPENBLAS_NUM_THREADS", number, 1);
    assert_int_equal(yoke(f, command), 0);
  }
  assert_int_equal(yoke(f, "compare @/1.csv @/2.csv --exact"), 0);
}

/* What scripts/setup would install on a machine without packages, root or sudo. */
static void list_packages(fixture *f, const char *level, char *out, size_t size) {
  char path[200], command[600];
  for (int i = 0; i < 3; ++i) {
    static const char *const tools[][2] = {{"dpkg-query", "exit 1"}, {"sudo", "exit 1"}, {"id", "echo 1000"}};
    snprintf(path, sizeof path, "%s/%s", f->folder, tools[i][0]);
    snprintf(command, sizeof command, "#!/bin/sh\n%s\n", tools[i][1]);
    write_text(path, command);
    assert_int_equal(chmod(path, 0755), 0);
  }
  snprintf(command, sizeof command, "PATH='%s':$PATH scripts/setup %s 2>&1 </dev/null", f->folder, level);
  FILE *list = popen(command, "r");
  assert_non_null(list);
  out[fread(out, 1, size - 1, list)] = '\0';
  assert_int_equal(WEXITSTATUS(pclose(list)), 1);
  assert_non_null(strstr(out, "apt-get update && apt-get install"));
}

static void f80_the_program_is_built_without_the_packages_of_the_tests(void **state) {
  static const char *const of_tests[] = {"libcmocka-dev", "libsundials-dev", "clang"};
  char                     program_list[4000], test_list[4000];
  list_packages(*state, "program", program_list, sizeof program_list);
  list_packages(*state, "test", test_list, sizeof test_list);
  assert_non_null(strstr(program_list, "libsuitesparse-dev"));
  for (int i = 0; i < 3; ++i) {
    assert_null(strstr(program_list, of_tests[i]));
    assert_non_null(strstr(test_list, of_tests[i]));
  }
}

static void f81_make_alone_lists_its_targets(void **state) {
  (void)state;
  char  text[4000];
  FILE *list = popen("env -u MAKEFLAGS -u MAKELEVEL make -s", "r");
  assert_non_null(list);
  text[fread(text, 1, sizeof text - 1, list)] = '\0';
  assert_int_equal(pclose(list), 0);
  assert_non_null(strstr(text, "make demo"));
  assert_non_null(strstr(text, "make test"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_program_is_linked_with_what_it_needs_only),
      TEST(ida_and_cvode_are_no_solvers_of_the_program),
      TEST(f15_threads_of_blas_do_not_change_a_bit),
      TEST(f80_the_program_is_built_without_the_packages_of_the_tests),
      cmocka_unit_test(f81_make_alone_lists_its_targets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
