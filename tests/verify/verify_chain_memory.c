/* A chain of ten million masses loads and makes ten steps within 8 GB, and its memory grows linearly: peak memory of the
 * program named by YOKE_PROGRAM, as the operating system counts it. */
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

/* Peak memory [bytes] of ten steps of a chain with n masses. */
static double peak_memory(int n) {
  char        masses[64];
  const char *program = getenv("YOKE_PROGRAM");
  if (program == NULL) program = "build/yoke";
  snprintf(masses, sizeof masses, "parameters.n=%d", n);
  const pid_t child = fork();
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
  print_message("%d masses: %.3f GB, %.1f s\n", n, 1024.0 * (double)usage.ru_maxrss / 1e9,
                (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec);
  return 1024.0 * (double)usage.ru_maxrss;
}

static void ten_million_masses_fit_into_8_GB_and_memory_is_linear(void **state) {
  (void)state;
  const double small = peak_memory(1000000), large = peak_memory(10000000);
  assert_true(large < 8e9);
  assert_true(large < 10.5 * small);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ten_million_masses_fit_into_8_GB_and_memory_is_linear)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
