/* The commands of the README and of the manual run. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../cli/program.h"
#include "page.h"

#if defined(YOKE_WITH_HDF5) && defined(YOKE_WITH_METIS) /* they keep results, and let the program propose a split */
static void every_command_of_the_readme_runs(void **state) {
  assert_page_holds(*state, "README.md");
}
static void every_command_of_the_page_of_the_program_runs(void **state) {
  assert_page_holds(*state, "docs/program.md");
}
#endif
static void every_command_of_the_page_of_accuracy_runs(void **state) {
  assert_page_holds(*state, "docs/accuracy.md");
}
static void every_command_of_the_page_of_methods_runs(void **state) {
  assert_page_holds(*state, "docs/which-method.md");
}

int main(void) {
  const struct CMUnitTest tests[] = {
#if defined(YOKE_WITH_HDF5) && defined(YOKE_WITH_METIS)
    TEST(every_command_of_the_readme_runs),
    TEST(every_command_of_the_page_of_the_program_runs),
#endif
    TEST(every_command_of_the_page_of_accuracy_runs),
    TEST(every_command_of_the_page_of_methods_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
