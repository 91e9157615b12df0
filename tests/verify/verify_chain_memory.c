/* A chain of ten million masses loads and makes ten steps within 3 GB, as a whole and in a thousand subsystems, and its memory grows linearly: peak
 * memory of the program named by YOKE_PROGRAM, as the operating system counts it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Peak memory [bytes] of ten steps of a chain with n masses, as a whole (parts = 1) or with the standard solver and macro steps. */
static double peak_memory(int n, int parts) {
  char        masses[64], split[64];
  const char *program = getenv("YOKE_PROGRAM");
  if (program == NULL) program = "build/yoke";
  snprintf(masses, sizeof masses, "parameters.n=%d", n);
  snprintf(split, sizeof split, "split.c=%d", parts);
  const pid_t child = fork();
  if (child == 0 && parts > 1) {
    execl(program, program, "run", "examples/chain-imp.yaml", "--quiet", "--set", masses, "--set", "output.every=1",
          "--t-end", "1e-6", "--set", split, "--scheme", "explicit", "--step", "1e-7", (char *)NULL);
    _exit(127);
  }
  if (child == 0) {
    execl(program, program, "run", "examples/chain-imp.yaml", "--quiet", "--set", masses, "--set", "output.every=1",
          "--t-end", "1e-6", "--solver", "dopri5", "--set", "solvers.default.step=1e-7", (char *)NULL);
    _exit(127);
  }
  int           status = 0;
  struct rusage usage;
  assert_int_equal(wait4(child, &status, 0, &usage), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  print_message("%d masses, parts: %d, %.3f GB, %.1f s\n", n, parts, 1024.0 * (double)usage.ru_maxrss / 1e9,
                (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec);
  return 1024.0 * (double)usage.ru_maxrss;
}

static void check_memory(int parts) {
  const double small = peak_memory(1000000, parts > 1 ? parts / 10 : 1), large = peak_memory(10000000, parts);
  assert_true(large < 3e9);
  assert_true(large < 10.5 * small);
}

static void ten_million_masses_fit_into_3_GB_and_memory_is_linear(void **state) {
  (void)state;
  check_memory(1);
}

static void ten_million_masses_in_a_thousand_subsystems_fit_into_3_GB_and_memory_is_linear(void **state) {
  (void)state;
  check_memory(1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ten_million_masses_fit_into_3_GB_and_memory_is_linear),
      cmocka_unit_test(ten_million_masses_in_a_thousand_subsystems_fit_into_3_GB_and_memory_is_linear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
