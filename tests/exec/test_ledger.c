/* Where the time goes: classes, which steps are timed, and what more workers would do. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/clock.h"
#include "exec/ledger.h"
#include <math.h>

static void near(double value, double expected) {
  assert_true(fabs(value - expected) <= 1e-9 * fabs(expected));
}

/* Looks at the clock take nothing. */
static yoke_ledger *ledger_new(int n_parts, bool is_profile) {
  yoke_ledger *l = NULL;
  assert_int_equal(yoke_ledger_create(NULL, n_parts, is_profile, &l), YOKE_OK);
  assert_true(l->look > 0.0 && l->look < 1e-3);
  l->look = 0.0;
  return l;
}

/* A list of two tasks: the second part has twice the work. */
static void add_list(yoke_ledger *l) {
  const yoke_task_times first = {.begin = 1.0, .saved = 1.1, .solved = 1.4, .end = 1.5, .worker = 0};
  const yoke_task_times other = {.begin = 1.0, .saved = 1.2, .solved = 1.8, .end = 2.0, .worker = 1};
  yoke_ledger_begin_list(l, yoke_clock_now());
  yoke_ledger_task(l, 0, -1, 0, &first);
  yoke_ledger_task(l, 1, -1, 1, &other);
  yoke_ledger_end_list(l);
}

static void times_of_tasks_are_added_up_by_class_and_part(void **state) {
  yoke_ledger *l = ledger_new(2, false);
  (void)state;
  yoke_ledger_begin_step(l);
  assert_true(l->is_timed);
  add_list(l);
  add_list(l);
  yoke_ledger_end_step(l);
  assert_false(l->is_timed);
  near(l->parts[0].save, 0.2), near(l->parts[1].save, 0.4);
  near(l->parts[0].solver, 0.6), near(l->parts[1].solver, 1.2);
  near(l->parts[0].exchange, 0.2), near(l->parts[1].exchange, 0.4);
  yoke_ledger_destroy(&l);
}

/* One between every two of a task, four per task on the thread that waits for the list. */
static void what_the_ledger_takes_itself_is_left_out(void **state) {
  yoke_ledger *l = ledger_new(2, false);
  (void)state;
  l->look = 0.05;
  yoke_ledger_begin_step(l);
  add_list(l); /* one of its two tasks ran there */
  near(l->own.save, 0.05 + 0.15), near(l->own.solver, 0.25 + 0.55), near(l->own.exchange, 0.05 + 0.15);
  assert_true(l->step_lost >= 4 * 0.05 && l->step_lost < 4 * 0.05 + 0.1);
  assert_true(l->lists > -4 * 0.05 && l->lists < -4 * 0.05 + 0.1); /* this list took no time */
  yoke_ledger_end_step(l);
  yoke_ledger_destroy(&l);
}

/* Kraft (4.5): what a part waits for the longest of the same list. */
static void idle_is_the_wait_for_the_longest(void **state) {
  yoke_ledger *l = ledger_new(2, false);
  (void)state;
  yoke_ledger_begin_step(l);
  add_list(l);
  yoke_ledger_end_step(l);
  near(l->parts[0].idle, 0.5);
  assert_true(l->parts[1].idle == 0.0);
  yoke_ledger_destroy(&l);
}

/* Behind the tasks of this process. */
static void waiting_for_other_ranks_is_exchange(void **state) {
  yoke_ledger *l = ledger_new(2, false);
  (void)state;
  yoke_ledger_begin_step(l);
  add_list(l);
  near(l->own.exchange, 0.3);
  yoke_ledger_ranks(l, l->list_end - 0.5);
  near(l->own.exchange, 0.8), near(l->own.solver, 0.9), near(l->own.save, 0.3);
  near(l->parts[0].exchange + l->parts[1].exchange, 0.3);
  yoke_ledger_ranks(l, l->list_end + 0.5);
  near(l->own.exchange, 0.8);
  yoke_ledger_end_step(l);
  yoke_ledger_destroy(&l);
}

/* Gauss-seidel: every part has a list of its own. */
static void a_part_waits_for_lists_without_it(void **state) {
  const yoke_task_times times[] = {{.begin = 1.0, .saved = 1.1, .solved = 1.4, .end = 1.5},
                                   {.begin = 2.0, .saved = 2.1, .solved = 2.9, .end = 3.0}};
  yoke_ledger          *l       = ledger_new(3, false);
  (void)state;
  yoke_ledger_begin_step(l);
  for (int i = 0; i < 2; ++i) {
    yoke_ledger_begin_list(l, yoke_clock_now());
    yoke_ledger_task(l, i, -1, 0, &times[i]);
    yoke_ledger_task(l, i, -1, 0, &times[i]); /* the longest of its tasks counts, once */
    yoke_ledger_end_list(l);
  }
  yoke_ledger_end_step(l);
  near(l->parts[0].idle, 1.0), near(l->parts[1].idle, 0.5), near(l->parts[2].idle, 1.5);
  yoke_ledger_destroy(&l);
}

/* Empty steps are as short as can be: after the first ones few of them are timed, and these stand for all. */
static void short_steps_are_timed_now_and_then(void **state) {
  enum { N = 100000 };
  yoke_ledger *l       = ledger_new(1, false);
  int          n_timed = 0;
  double       stands  = 0.0;
  (void)state;
  for (int i = 0; i < N; ++i) {
    yoke_ledger_begin_step(l);
    const double weight = (double)l->stride;
    n_timed += l->is_timed;
    stands += l->is_timed ? weight : 0.0;
    yoke_ledger_end_step(l);
  }
  assert_true(n_timed >= 8 && n_timed < N / 4);
  assert_true(stands > 0.95 * N && stands < 1.05 * N);
  yoke_ledger_destroy(&l);
}

static void a_profile_times_every_step(void **state) {
  yoke_ledger *l = ledger_new(1, true);
  (void)state;
  for (int i = 0; i < 1000; ++i) {
    yoke_ledger_begin_step(l);
    assert_true(l->is_timed);
    yoke_ledger_end_step(l);
  }
  assert_int_equal(l->timeline->n, 1000);
  yoke_ledger_destroy(&l);
}

/* A task of 1000 s that had a processor for 600 of them, in a step that takes no time. */
static void the_projection_counts_processor_time(void **state) {
  const yoke_task_times task = {.begin = 0.0, .saved = 0.0, .solved = 1000.0, .end = 1000.0, .processor = 600.0};
  yoke_ledger          *l    = ledger_new(1, true);
  (void)state;
  yoke_ledger_begin_step(l);
  yoke_ledger_begin_list(l, yoke_ledger_open_list(l));
  yoke_ledger_task(l, 0, -1, 0, &task);
  yoke_ledger_end_list(l);
  yoke_ledger_end_step(l);
  const double time = yoke_projection_time(l->projection, 0);
  assert_true(time >= 600.0 && time < 610.0);
  yoke_ledger_destroy(&l);
}

/* ---- projection ---- */

static void project(yoke_projection *p, int n, const double *jobs) {
  yoke_projection_begin(p);
  for (int i = 0; i < n; ++i) yoke_projection_task(p, i, jobs[i]);
  yoke_projection_end(p);
}

static void equal_tasks_speed_up_to_their_number(void **state) {
  const double     jobs[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  yoke_projection *p       = NULL;
  (void)state;
  assert_int_equal(yoke_projection_create(NULL, &p), YOKE_OK);
  project(p, 8, jobs);
  for (int k = 0; k < YOKE_N_PROJECTED; ++k) near(yoke_projection_time(p, k), k < 3 ? 8.0 / (1 << k) : 1.0);
  near(yoke_projection_path(p), 1.0);
  yoke_projection_destroy(&p);
}

/* Longest first: 5 + 3 + 3 and 5 + 4 + 2 of 22. */
static void long_tasks_are_dealt_out_first(void **state) {
  const double     jobs[6] = {2, 3, 5, 3, 4, 5};
  yoke_projection *p       = NULL;
  (void)state;
  assert_int_equal(yoke_projection_create(NULL, &p), YOKE_OK);
  project(p, 6, jobs);
  near(yoke_projection_time(p, 0), 22.0);
  near(yoke_projection_time(p, 1), 11.0);
  near(yoke_projection_time(p, 2), 6.0); /* 5, 5, 4 + 2, 3 + 3 */
  yoke_projection_destroy(&p);
}

/* Amdahl: what lies between the lists stays. */
static void what_is_not_in_lists_is_not_shared(void **state) {
  const double     jobs[4] = {1, 1, 1, 1};
  yoke_projection *p       = NULL;
  (void)state;
  assert_int_equal(yoke_projection_create(NULL, &p), YOKE_OK);
  yoke_projection_serial(p, 2.0);
  project(p, 4, jobs);
  project(p, 4, jobs);
  near(yoke_projection_time(p, 0), 10.0);
  near(yoke_projection_time(p, 1), 6.0);
  near(yoke_projection_path(p), 4.0);
  yoke_projection_destroy(&p);
}

static void tasks_of_one_job_follow_each_other(void **state) {
  yoke_projection *p = NULL;
  (void)state;
  assert_int_equal(yoke_projection_create(NULL, &p), YOKE_OK);
  yoke_projection_begin(p);
  for (int i = 0; i < 6; ++i) yoke_projection_task(p, i / 3, 1.0);
  yoke_projection_end(p);
  near(yoke_projection_time(p, 10), 3.0);
  yoke_projection_destroy(&p);
}

/* With w workers no list takes less than its longest task or the w-th part of its sum, and the last task to end begins when all are busy:
 * time <= sum / w + (1 - 1 / w) longest (Graham 1966). Whole numbers: no rounding. */
static void any_list_is_between_its_critical_path_and_its_sum(void **state) {
  uint64_t seed = 3;
  (void)state;
  for (int trial = 0; trial < 200; ++trial) {
    double           jobs[40], sum = 0.0, longest = 0.0;
    const int        n = 1 + trial % 40;
    yoke_projection *p = NULL;
    assert_int_equal(yoke_projection_create(NULL, &p), YOKE_OK);
    for (int i = 0; i < n; ++i) {
      seed    = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      jobs[i] = (double)(seed >> 54);
      sum += jobs[i];
      longest = fmax(longest, jobs[i]);
    }
    project(p, n, jobs);
    assert_true(yoke_projection_time(p, 0) == sum && yoke_projection_path(p) == longest);
    for (int k = 1; k < YOKE_N_PROJECTED; ++k) {
      const double w = 1 << k, time = yoke_projection_time(p, k);
      assert_true(time >= longest && time >= sum / w && time <= sum);
      assert_true(time <= sum / w + (1.0 - 1.0 / w) * longest);
    }
    yoke_projection_destroy(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times_of_tasks_are_added_up_by_class_and_part),
      cmocka_unit_test(what_the_ledger_takes_itself_is_left_out),
      cmocka_unit_test(idle_is_the_wait_for_the_longest),
      cmocka_unit_test(waiting_for_other_ranks_is_exchange),
      cmocka_unit_test(a_part_waits_for_lists_without_it),
      cmocka_unit_test(short_steps_are_timed_now_and_then),
      cmocka_unit_test(a_profile_times_every_step),
      cmocka_unit_test(the_projection_counts_processor_time),
      cmocka_unit_test(equal_tasks_speed_up_to_their_number),
      cmocka_unit_test(long_tasks_are_dealt_out_first),
      cmocka_unit_test(what_is_not_in_lists_is_not_shared),
      cmocka_unit_test(tasks_of_one_job_follow_each_other),
      cmocka_unit_test(any_list_is_between_its_critical_path_and_its_sum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
