/* Threads of a run, and where its time goes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "program.h"

#define UNEQUAL "run examples/chain-load.yaml --set parameters.walls=1 "

/* Two of ten subsystems are longer than the others: they are dealt out by their costs, and workers take each other's tasks. */
static void unequal_tasks_have_the_same_bits_for_any_number_of_threads(void **state) {
  static const char *const runs[] = {
      UNEQUAL "-q --t-end 1e-5 --csv @/b.csv --threads 2", UNEQUAL "-q --t-end 1e-5 --csv @/b.csv --threads 3",
      UNEQUAL "-q --t-end 1e-5 --csv @/b.csv --threads 8", UNEQUAL "-q --t-end 1e-5 --csv @/b.csv --exec shuffled"};
  fixture *f = *state;
  assert_int_equal(yoke(f, UNEQUAL "-q --t-end 1e-5 --csv @/a.csv --threads 1"), 0);
  for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
    assert_int_equal(yoke(f, runs[i]), 0);
    assert_int_equal(yoke(f, "compare @/a.csv @/b.csv --exact"), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(unequal_tasks_have_the_same_bits_for_any_number_of_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
