/* What results depend on in their last bits. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/machine.h"
#include <yoke/yoke.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__)
/* Does /proc/cpuinfo have this word, with blanks around it? */
static bool system_says(const char *word) {
  static char line[1 << 14];
  char        padded[80];
  FILE       *file  = fopen("/proc/cpuinfo", "r");
  bool        found = false;
  assert_non_null(file);
  snprintf(padded, sizeof padded, " %s ", word);
  while (!found && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = ' ';
    found                     = strncmp(line, "flags", 5) == 0 && strstr(line, padded);
  }
  fclose(file);
  return found;
}

static void features_are_those_of_the_system(void **state) {
  static const char *const words[] = {"avx", "avx2", "fma", "avx512f"};
  yoke_machine             m;
  char                     all[80];
  (void)state;
  yoke_machine_look(&m);
  snprintf(all, sizeof all, " %s ", m.features);
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
    char padded[20];
    snprintf(padded, sizeof padded, " %s ", words[i]);
    assert_int_equal(strstr(all, padded) != NULL, system_says(words[i]));
  }
  assert_true(m.processor[0] != '\0');
}
#endif

static void libraries_are_named(void **state) {
  yoke_machine_facts facts = {.size = sizeof facts};
  (void)state;
  assert_int_equal(yoke_machine_facts_get(NULL, &facts), YOKE_OK);
#if defined(__GLIBC__)
  assert_int_equal(strncmp(facts.math_library, "glibc 2.", 8), 0);
#endif
  if (facts.blas[0] != '\0') assert_non_null(strchr(facts.blas, ' '));
  facts.size = 3;
  assert_int_equal(yoke_machine_facts_get(NULL, &facts), YOKE_E_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#if defined(__x86_64__) && defined(__linux__)
    cmocka_unit_test(features_are_those_of_the_system),
#endif
    cmocka_unit_test(libraries_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
