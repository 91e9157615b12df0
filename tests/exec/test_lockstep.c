/* Threads inside of one task: every part once, by whom pays. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/clock.h"
#include "exec/lockstep.h"
#include <stdatomic.h>

enum { MOST = 8 };

typedef struct tally {
  yoke_lockstep *lockstep;
  atomic_int     count[MOST], n_nested;
  double         seconds; /* that all parts take together */
} tally;

static yoke_lockstep *create(int n, bool is_eager) {
  yoke_lockstep *l = NULL;
  assert_int_equal(yoke_lockstep_create(NULL, n, is_eager, &l), YOKE_OK);
  return l;
}

static void count_part(void *user, int i, int n) {
  tally       *t   = user;
  const double end = yoke_clock_now() + t->seconds / n;
  atomic_fetch_add(&t->count[i], n);
  while (yoke_clock_now() < end) {
  }
}

static void every_part_runs_once(void **state) {
  (void)state;
  for (int n = 2; n <= MOST; n += 3) {
    yoke_lockstep *l = create(n, true);
    for (int most = 1; most <= MOST; ++most) {
      tally     t        = {.seconds = 0.0};
      const int expected = most < n ? most : n;
      yoke_lockstep_run(l, most, 1.0, count_part, &t);
      yoke_lockstep_follow(l, most, count_part, &t);
      for (int i = 0; i < MOST; ++i) assert_int_equal(t.count[i], i < expected ? 2 * expected : 0);
    }
    yoke_lockstep_destroy(&l);
    assert_null(l);
  }
}

static void without_helpers_there_is_one_part(void **state) {
  (void)state;
  tally t = {.seconds = 0.0};
  yoke_lockstep_run(NULL, MOST, 1.0, count_part, &t);
  yoke_lockstep_follow(NULL, MOST, count_part, &t);
  assert_int_equal(t.count[0], 2);
  assert_int_equal(t.count[1], 0);
}

static void come_again(void *user, int i, int n) {
  tally *t      = user;
  tally  nested = {.seconds = 0.0};
  (void)i, (void)n;
  yoke_lockstep_run(t->lockstep, MOST, 1.0, count_part, &nested);
  yoke_lockstep_follow(t->lockstep, MOST, count_part, &nested);
  if (nested.count[0] == 2 && nested.count[1] == 0) atomic_fetch_add(&t->n_nested, 1);
}

static void who_comes_while_another_is_helped_works_alone(void **state) {
  (void)state;
  tally t = {.lockstep = create(4, true)};
  yoke_lockstep_run(t.lockstep, 4, 1.0, come_again, &t);
  assert_int_equal(t.n_nested, 4);
  yoke_lockstep_destroy(&t.lockstep);
}

static void short_work_is_never_shared(void **state) {
  (void)state;
  yoke_lockstep *l = create(4, false);
  tally          t = {.seconds = 2e-6};
  for (int k = 0; k < 100; ++k) yoke_lockstep_run(l, 4, 1.0, count_part, &t);
  assert_int_equal(t.count[0], 100);
  assert_int_equal(yoke_lockstep_used(l).n_runs, 100);
  assert_int_equal(yoke_lockstep_used(l).n_shared, 0);
  assert_int_equal(yoke_lockstep_used(l).most, 1);
  yoke_lockstep_destroy(&l);
}

/* After two runs, that tell how long it takes. */
static void long_work_is_shared(void **state) {
  (void)state;
  yoke_lockstep *l = create(3, false);
  tally          t = {.seconds = 2e-4};
  for (int k = 0; k < 3; ++k) yoke_lockstep_run(l, 8, 1.0, count_part, &t);
  assert_int_equal(t.count[0], 2 + 3);
  assert_int_equal(t.count[2], 3);
  assert_int_equal(yoke_lockstep_used(l).n_shared, 1);
  assert_int_equal(yoke_lockstep_used(l).most, 3);
  yoke_lockstep_destroy(&l);
}

static void ranges_are_whole_grains_and_leave_nothing_out(void **state) {
  (void)state;
  static const int sizes[] = {1, 511, 512, 513, 2048, 2049, 10000, INT32_MAX};
  for (int k = 0; k < 8; ++k) {
    for (int n = 1; n <= 9; ++n) {
      int end = 0;
      for (int i = 0; i < n; ++i) {
        const yoke_range range = yoke_lockstep_range(sizes[k], i, n);
        assert_true(range.begin == end || range.begin >= range.end); /* of few grains some parts have none */
        assert_true(range.begin % YOKE_LOCKSTEP_GRAIN == 0);
        if (range.begin < range.end) end = range.end;
      }
      assert_int_equal(end, sizes[k]);
    }
  }
}

/* Rounds of parts that read what all others wrote in the round before: any that runs early, late, twice or not at all is seen. */
enum { N_ROUNDS = 2000 };
typedef struct relay {
  int  round, n_parts, n_meetings;
  int  seen[YOKE_LOCKSTEP_MOST_PARTS]; /* last round of each part, on lines that they share */
  bool is_wrong[YOKE_LOCKSTEP_MOST_PARTS];
} relay;

static void run_relay(void *user, int part) {
  relay *r = user;
  if (r->seen[part] != r->round) r->is_wrong[part] = true;
  r->seen[part] = r->round + 1;
}

static bool meet_relay(void *user) {
  relay *r = user;
  for (int i = 0; i < r->n_parts; ++i) {
    if (r->seen[i] != r->round + 1) r->is_wrong[0] = true;
  }
  ++r->n_meetings;
  return ++r->round < N_ROUNDS;
}

static void check_relay(yoke_lockstep *l, int n_parts, double amount) {
  relay r = {.n_parts = n_parts};
  yoke_lockstep_rounds(l, n_parts, amount, run_relay, meet_relay, &r);
  assert_int_equal(r.n_meetings, N_ROUNDS);
  for (int i = 0; i < n_parts; ++i) assert_false(r.is_wrong[i]);
}

static void parts_meet_once_in_every_round(void **state) {
  (void)state;
  for (int n_parts = 2; n_parts <= YOKE_LOCKSTEP_MOST_PARTS; ++n_parts) {
    check_relay(NULL, n_parts, 1.0);
    for (int threads = 2; threads <= 3; ++threads) {
      yoke_lockstep *l = create(threads, true);
      check_relay(l, n_parts, 1.0);
      check_relay(l, n_parts, 0.0);
      assert_int_equal(yoke_lockstep_used(l).n_runs, 1);
      yoke_lockstep_destroy(&l);
    }
    yoke_lockstep *l = NULL;
    assert_int_equal(yoke_lockstep_create_rehearsal(NULL, &l), YOKE_OK);
    check_relay(l, n_parts, 1.0);
    yoke_lockstep_destroy(&l);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_part_runs_once),
      cmocka_unit_test(without_helpers_there_is_one_part),
      cmocka_unit_test(who_comes_while_another_is_helped_works_alone),
      cmocka_unit_test(short_work_is_never_shared),
      cmocka_unit_test(long_work_is_shared),
      cmocka_unit_test(parts_meet_once_in_every_round),
      cmocka_unit_test(ranges_are_whole_grains_and_leave_nothing_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
