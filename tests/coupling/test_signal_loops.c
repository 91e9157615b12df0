/* Loops of signals by their matrix J = 1 - G: which have gain 1, also where multipliers follow the signals. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "coupling/signal_loops.h"

enum { MAX = 4 };

/* J [n, n] row major; *loop: set of bits of the signals in the loop. */
static yoke_status judge(int n, const double *J, const bool *is_signal, unsigned *loop) {
  int           row[MAX * MAX] = {0}, column[MAX * MAX] = {0}, slot[MAX * MAX];
  double        values[MAX * MAX] = {0};
  bool          in_loop[MAX]      = {0};
  yoke_pattern *pattern;
  yoke_arena    scratch = {0};
  for (int i = 0; i < n * n; ++i) {
    row[i]    = i / n;
    column[i] = i % n;
  }
  assert_int_equal(yoke_pattern_create(NULL, n, n, n * n, row, column, slot, &pattern), YOKE_OK);
  for (int i = 0; i < n * n; ++i) values[slot[i]] = J[i];
  const yoke_status status = graph_singular_loop(pattern, values, is_signal, in_loop, &scratch);
  *loop                    = 0u;
  for (int i = 0; i < n; ++i) *loop |= in_loop[i] ? 1u << i : 0u;
  yoke_arena_free(&scratch);
  yoke_pattern_destroy(&pattern);
  return status;
}

static const bool all_signals[MAX] = {true, true, true, true};

static void a_chain_is_no_loop(void **state) {
  const double J[9] = {1.0, 0.0, 0.0, -5.0, 1.0, 0.0, 0.0, -1.0, 1.0};
  unsigned     loop;
  (void)state;
  assert_int_equal(judge(3, J, all_signals, &loop), YOKE_OK);
}

/* Signals 0 and 2 in units that differ by 1e12; 1 reads them, 3 is read. */
static void a_loop_of_gain_one_is_found_in_any_units(void **state) {
  const double J[16] = {1.0, 0.0, -1e6, -2.0, -7.0, 1.0, 0.0, 0.0, -1e-6, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0};
  unsigned     loop;
  (void)state;
  assert_int_equal(judge(4, J, all_signals, &loop), YOKE_SINGULAR);
  assert_int_equal(loop, 5u);
}

static void a_loop_of_another_gain_is_none(void **state) {
  const double J[4] = {1.0, -1.0, 0.5, 1.0}; /* gain -0.5 */
  unsigned     loop;
  (void)state;
  assert_int_equal(judge(2, J, all_signals, &loop), YOKE_OK);
}

static void a_signal_that_reads_itself_is_a_loop(void **state) {
  const double J[1] = {0.0};
  unsigned     loop;
  (void)state;
  assert_int_equal(judge(1, J, all_signals, &loop), YOKE_SINGULAR);
  assert_int_equal(loop, 1u);
}

/* A multiplier takes half of what the signal does: the direct gain is not that of the loop. */
static void multipliers_follow_the_signals(void **state) {
  static const bool is_signal[2] = {true, false};
  const double      fine[4] = {0.0, 1.0, 1.0, 2.0}, singular[4] = {0.5, 1.0, 1.0, 2.0};
  unsigned          loop;
  (void)state;
  assert_int_equal(judge(2, fine, is_signal, &loop), YOKE_OK);
  assert_int_equal(judge(2, singular, is_signal, &loop), YOKE_SINGULAR);
  assert_int_equal(loop, 1u);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_chain_is_no_loop),
      cmocka_unit_test(a_loop_of_gain_one_is_found_in_any_units),
      cmocka_unit_test(a_loop_of_another_gain_is_none),
      cmocka_unit_test(a_signal_that_reads_itself_is_a_loop),
      cmocka_unit_test(multipliers_follow_the_signals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
