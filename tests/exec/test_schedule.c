/* Who begins with which tasks, and whether more threads pay. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "exec/pace.h"
#include "exec/schedule.h"
#include <string.h>

enum { MOST = 5000 };

static double seconds[YOKE_N_COSTS];

static void make(yoke_schedule *s, int n, const yoke_cost *costs, int n_owners) {
  for (int c = 0; c < YOKE_N_COSTS; ++c) seconds[c] = yoke_cost_seconds((yoke_cost)c);
  if (s->most_tasks == 0) assert_int_equal(yoke_schedule_expect(NULL, MOST, 16, s), YOKE_OK);
  yoke_schedule_make(s, n, costs, n_owners, seconds);
}

static double load_of(const yoke_schedule *s, const yoke_cost *costs, int owner) {
  double load = 0.0;
  for (int i = s->begin[s->first[owner]]; i < s->begin[s->first[owner + 1]]; ++i) load += seconds[costs[s->order[i]]];
  return load;
}

static void costs_are_within_a_fifth_of_the_time(void **state) {
  (void)state;
  for (double t = 2e-8; t < 1e3; t *= 1.1) {
    const double ratio = yoke_cost_seconds(yoke_cost_of(t)) / t;
    assert_true(ratio > 0.84 && ratio < 1.19);
  }
  assert_int_equal(yoke_cost_of(0.0), 1);
}

static void tasks_that_had_to_wait_do_not_look_longer(void **state) {
  yoke_cost cost = yoke_cost_of(1e-5);
  (void)state;
  for (int i = 0; i < 300; ++i)
    cost = yoke_cost_follow(cost, i % 3 == 0 ? 4e-3 : 1e-4); /* every third one had to wait */
  assert_true(yoke_cost_seconds(cost) > 0.5e-4 && yoke_cost_seconds(cost) < 3e-4);
}

static void every_task_is_dealt_out_once(void **state) {
  static yoke_cost costs[MOST];
  static int       count[MOST];
  yoke_schedule    s = {0};
  (void)state;
  for (int n = 1; n <= MOST; n = 3 * n + 1) {
    for (int i = 0; i < n; ++i) costs[i] = (yoke_cost)(1 + (i * 7919) % 40);
    for (int owners = 1; owners <= 16; owners *= 2) {
      make(&s, n, costs, owners);
      memset(count, 0, sizeof count);
      for (int i = 0; i < n; ++i) ++count[s.order[i]];
      for (int i = 0; i < n; ++i) assert_int_equal(count[i], 1);
      assert_int_equal(s.begin[s.n_batches], n);
      assert_int_equal(s.first[owners], s.n_batches);
    }
  }
  yoke_schedule_clear(&s);
}

static void the_longest_task_comes_first(void **state) {
  yoke_cost     costs[6] = {40, 41, 60, 42, 43, 44};
  yoke_schedule s        = {0};
  (void)state;
  make(&s, 6, costs, 2);
  assert_int_equal(s.order[0], 2);
  assert_int_equal(s.first[1], 1); /* nothing beside it */
  assert_int_equal(s.order[1], 5);
  yoke_schedule_clear(&s);
}

/* Longest first is at most 4/3 of the best; with many tasks it is close to equal shares. */
static void shares_are_equal(void **state) {
  static yoke_cost costs[500];
  yoke_schedule    s = {0};
  (void)state;
  for (int i = 0; i < 500; ++i) costs[i] = (yoke_cost)(25 + (i * 31) % 10);
  make(&s, 500, costs, 4);
  double total = 0.0;
  for (int w = 0; w < 4; ++w) total += load_of(&s, costs, w);
  for (int w = 0; w < 4; ++w) {
    const double share = load_of(&s, costs, w) / total;
    assert_true(share > 0.24 && share < 0.26);
  }
  yoke_schedule_clear(&s);
}

static void short_tasks_are_put_together(void **state) {
  static yoke_cost costs[MOST];
  yoke_schedule    s = {0};
  (void)state;
  memset(costs, yoke_cost_of(1e-7), sizeof costs);
  make(&s, MOST, costs, 2);
  assert_true(s.n_batches <= 2 * YOKE_MOST_BATCHES + 1 && s.n_batches > YOKE_MOST_BATCHES);
  for (int b = 0; b + 1 < s.n_batches; ++b) { /* neighbours stay together */
    for (int i = s.begin[b]; i + 1 < s.begin[b + 1]; ++i) assert_int_equal(s.order[i + 1], s.order[i] + 1);
  }
  yoke_schedule_clear(&s);
}

/* ---- pace ---- */

/* A run of `total` seconds of work in lists of 100 us on a machine where one thread needs `alone` times, several `together` times the work. */
static double run_at(yoke_pace *pace, double total, double alone, double together) {
  double wall = 0.0;
  for (double work = 0.0; work < total; work += 1e-4) {
    const double took = 1e-4 * (pace->is_alone ? alone : together);
    yoke_pace_note(pace, 1e-4, took);
    wall += took;
  }
  return wall;
}

static void f53_threads_that_are_slower_than_one_cost_little(void **state) {
  static const double factors[] = {1.1, 2.0, 10.0, 100.0};
  (void)state;
  for (size_t i = 0; i < sizeof factors / sizeof *factors; ++i) {
    yoke_pace pace = {0};
    assert_true(run_at(&pace, 2.0, 1.5, 1.5 * factors[i]) < 1.2 * 1.5 * 2.0);
    assert_true(pace.n_defeats > 0);
  }
}

/* 6 ms of work, of which the first 0.6 are lost and 1.2 the comparison. */
static void a_short_run_on_a_busy_machine_is_decided_early(void **state) {
  yoke_pace pace = {0};
  (void)state;
  assert_true(run_at(&pace, 6e-3, 1.5, 3.0) < 1.2 * 1.5 * 6e-3);
  assert_true(pace.n_defeats > 0);
}

static void threads_that_pay_are_never_left_idle(void **state) {
  yoke_pace pace = {0};
  (void)state;
  assert_true(run_at(&pace, 2.0, 1.0, 0.55) < 0.551 * 2.0);
  assert_int_equal(pace.n_defeats, 0);
}

static void threads_that_pay_a_little_are_used_nearly_always(void **state) {
  yoke_pace pace = {0};
  (void)state;
  assert_true(run_at(&pace, 5.0, 1.5, 0.9) < 1.05 * 0.9 * 5.0);
}

static void a_machine_that_is_free_again_is_used(void **state) {
  yoke_pace pace = {0};
  (void)state;
  (void)run_at(&pace, 0.5, 1.5, 5.0);
  assert_true(run_at(&pace, 4.0, 1.0, 0.5) < 0.65 * 4.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(costs_are_within_a_fifth_of_the_time),
      cmocka_unit_test(tasks_that_had_to_wait_do_not_look_longer),
      cmocka_unit_test(every_task_is_dealt_out_once),
      cmocka_unit_test(the_longest_task_comes_first),
      cmocka_unit_test(shares_are_equal),
      cmocka_unit_test(short_tasks_are_put_together),
      cmocka_unit_test(f53_threads_that_are_slower_than_one_cost_little),
      cmocka_unit_test(a_short_run_on_a_busy_machine_is_decided_early),
      cmocka_unit_test(threads_that_pay_are_never_left_idle),
      cmocka_unit_test(threads_that_pay_a_little_are_used_nearly_always),
      cmocka_unit_test(a_machine_that_is_free_again_is_used),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
