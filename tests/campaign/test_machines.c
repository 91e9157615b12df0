/* The machines of tests/campaign/real: split as projects split them, without a setting. `campaign --grid` runs them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../cli/program.h"

#include <glob.h>

enum { N_MACHINES = 12 };

static void find_machines(glob_t *found) {
  assert_int_equal(glob("tests/campaign/real/*.yaml", 0, NULL, found), 0);
  assert_int_equal(found->gl_pathc, N_MACHINES);
}

static void twelve_machines_are_split_and_fine_without_a_warning(void **state) {
  fixture *f = *state;
  glob_t   found;
  find_machines(&found);
  for (size_t i = 0; i < N_MACHINES; ++i) {
    char arguments[200];
    snprintf(arguments, sizeof arguments, "check %s", found.gl_pathv[i]);
    if (yoke(f, arguments) != 0 || *f->err != '\0' || !strstr(f->out, " subsystems, ")) {
      fail_msg("%s\n%s%s", arguments, f->out, f->err);
    }
  }
  globfree(&found);
}

static void machines_leave_solvers_and_coupling_to_the_default(void **state) {
  glob_t found;
  (void)state;
  find_machines(&found);
  for (size_t i = 0; i < N_MACHINES; ++i) {
    char *words = read_text(found.gl_pathv[i]);
    if (strstr(words, "\ncosimulation") || strstr(words, "\nsolvers")) fail_msg("%s has settings", found.gl_pathv[i]);
    free(words);
  }
  globfree(&found);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(twelve_machines_are_split_and_fine_without_a_warning),
      cmocka_unit_test(machines_leave_solvers_and_coupling_to_the_default),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
