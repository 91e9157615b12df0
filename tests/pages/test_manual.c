/* What the README and the pages of the manual show is run. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../cli/program.h"
#include "page.h"

#if defined(YOKE_WITH_HDF5) && defined(YOKE_WITH_METIS) /* they keep results, and let the program propose a split */
#define PAGE(test, file)                                                                                               \
  static void test##_does_what_it_shows(void **state) {                                                                \
    assert_page_holds(*state, file);                                                                                   \
  }
#include "page_list.def"
#undef PAGE
#define PAGE(test, file) TEST(test##_does_what_it_shows),
#endif

static void pages_can_be_run(void **state) {
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(pages_can_be_run),
#ifdef PAGE
#include "page_list.def"
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
