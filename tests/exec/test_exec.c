/* Exec backends: every task once, results independent of who ran it and when. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "exec/exec.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST = 1000 };

typedef struct ledger {
  double value[MOST];
  int    count[MOST];
  int    order[MOST]; /* serial backends only */
  int    n_done;
  int    n_workers;
  int    bad_worker[MOST];
} ledger;

static void work(void *user, int i, int worker) {
  ledger *l = user;
  double  x = 0.1 * i;
  for (int k = 0; k < 50; ++k) x = sin(x) + 1e-3 * i;
  l->value[i] = x;
  ++l->count[i];
  l->bad_worker[i] = worker < 0 || worker >= l->n_workers;
}

static void note_order(void *user, int i, int worker) {
  ledger *l             = user;
  l->order[l->n_done++] = i;
  work(user, i, worker);
}

static void run_with(const char *kind, int threads, int n, const yoke_cost *costs, yoke_task task, ledger *l) {
  yoke_exec *exec = NULL;
  memset(l, 0, sizeof *l);
  assert_int_equal(yoke_exec_create(NULL, kind, threads, &exec), YOKE_OK);
  l->n_workers = yoke_exec_n_workers(exec);
  assert_int_equal(yoke_exec_expect(exec, NULL, n), YOKE_OK);
  yoke_exec_run(exec, n, costs, task, l);
  yoke_exec_destroy(&exec);
  assert_null(exec);
  for (int i = 0; i < MOST; ++i) {
    assert_int_equal(l->count[i], i < n);
    assert_false(l->bad_worker[i]);
  }
}

static void run(const char *kind, int threads, int n, yoke_task task, ledger *l) {
  run_with(kind, threads, n, NULL, task, l);
}

static void every_task_runs_exactly_once(void **state) {
  const int sizes[] = {0, 1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 257, 1000};
  ledger    l;
  (void)state;
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
    run("serial", 1, sizes[k], work, &l);
    run("shuffled", 1, sizes[k], work, &l);
  }
}

static void shuffled_changes_the_order_from_run_to_run(void **state) {
  static ledger first, second;
  yoke_exec    *exec = NULL;
  (void)state;
  memset(&first, 0, sizeof first);
  memset(&second, 0, sizeof second);
  assert_int_equal(yoke_exec_create(NULL, "shuffled", 0, &exec), YOKE_OK);
  first.n_workers = second.n_workers = yoke_exec_n_workers(exec);
  assert_int_equal(first.n_workers, 1);
  yoke_exec_run(exec, 100, NULL, note_order, &first);
  yoke_exec_run(exec, 100, NULL, note_order, &second);
  yoke_exec_destroy(&exec);
  int sorted = 0, same = 0;
  for (int i = 0; i < 100; ++i) {
    sorted += first.order[i] == i;
    same += first.order[i] == second.order[i];
  }
  assert_true(sorted < 10 && same < 10);
}

static void shuffled_is_the_same_for_every_object(void **state) {
  static ledger first, second;
  (void)state;
  run("shuffled", 0, 500, note_order, &first);
  run("shuffled", 0, 500, note_order, &second);
  assert_memory_equal(first.order, second.order, sizeof first.order);
}

static void results_have_the_same_bits_for_every_backend(void **state) {
  static ledger serial, other;
  (void)state;
  run("serial", 1, MOST, work, &serial);
  run("shuffled", 1, MOST, work, &other);
  assert_memory_equal(serial.value, other.value, sizeof serial.value);
  static const int threads[] = {1, 2, 3, 8};
  static yoke_cost costs[MOST];
  for (int i = 0; i < MOST; ++i) costs[i] = (yoke_cost)(1 + (i * 37) % 30);
  for (size_t k = 0; k < sizeof threads / sizeof *threads; ++k) {
    for (int way = 0; way < 3; ++way) {
      run_with(way == 0 ? "eager" : "threads", threads[k], MOST, way == 2 ? costs : NULL, work, &other);
      assert_int_equal(other.n_workers, threads[k]);
      assert_memory_equal(serial.value, other.value, sizeof serial.value);
    }
  }
}

static void unknown_backend_is_refused_with_the_nearest_name(void **state) {
  yoke_context *ctx  = NULL;
  yoke_exec    *exec = NULL;
  (void)state;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_exec_create(ctx, "seriel", 1, &exec), YOKE_E_USAGE);
  assert_non_null(strstr(yoke_context_message(ctx, 0), "serial"));
  assert_int_equal(yoke_exec_create(ctx, "serial", -1, &exec), YOKE_E_USAGE);
  assert_null(exec);
  yoke_context_destroy(&ctx);
}

/* ---- how many work ---- */

static yoke_exec_use use_by(const char *kind, int threads, int n, double seconds_of_each) {
  static yoke_cost costs[MOST];
  ledger           l    = {.n_workers = threads};
  yoke_exec       *exec = NULL;
  memset(costs, yoke_cost_of(seconds_of_each), sizeof costs);
  assert_int_equal(yoke_exec_create(NULL, kind, threads, &exec), YOKE_OK);
  assert_int_equal(yoke_exec_expect(exec, NULL, n), YOKE_OK);
  yoke_exec_run(exec, n, costs, work, &l);
  const yoke_exec_use use = yoke_exec_used(exec);
  yoke_exec_destroy(&exec);
  return use;
}

static yoke_exec_use use_of(const char *kind, int n, double seconds_of_each) {
  return use_by(kind, 3, n, seconds_of_each);
}

static void short_lists_are_left_to_one_worker(void **state) {
  (void)state;
  assert_int_equal(use_of("threads", 7, 1e-6).most, 1);
  assert_int_equal(use_of("threads", 1, 1.0).most, 1);
  assert_int_equal(use_of("eager", 7, 1e-6).most, 3);
}

static void lists_get_as_many_workers_as_pay(void **state) {
  (void)state;
  assert_int_equal(use_of("threads", 10, 1e-6).most, 2); /* 4 us for each */
  assert_int_equal(use_of("threads", 20, 1e-6).most, 3);
  assert_int_equal(use_of("threads", 2, 1.0).most, 2);
  assert_int_equal(use_by("threads", 8, 40, 1e-6).most, 6); /* to tell one more takes 1 us */
  const yoke_exec_use use = use_of("threads", 100, 1e-6);
  assert_int_equal(use.n_lists, 1);
  assert_int_equal(use.n_shared, 1);
  assert_int_equal(use.n_tasks, 100);
  assert_true(fabs(use.work - 1e-4) < 2e-5);
}

/* A task that is far longer than all others together leaves nothing for a third worker. */
static void the_longest_task_limits_the_workers(void **state) {
  yoke_cost  costs[3] = {yoke_cost_of(1.0), yoke_cost_of(0.01), yoke_cost_of(0.01)};
  ledger     l        = {.n_workers = 3};
  yoke_exec *exec     = NULL;
  (void)state;
  assert_int_equal(yoke_exec_create(NULL, "threads", 3, &exec), YOKE_OK);
  assert_int_equal(yoke_exec_expect(exec, NULL, 3), YOKE_OK);
  yoke_exec_run(exec, 3, costs, work, &l);
  assert_int_equal(yoke_exec_used(exec).most, 2);
  yoke_exec_destroy(&exec);
}

/* ---- executors of a program ---- */

enum { HELPERS = 3 };

typedef struct helper_list {
  int n, first;
  void (*task)(void *data, int i);
  void *data;
} helper_list;

static void *help(void *user) {
  const helper_list *list = user;
  for (int i = list->first; i < list->n; i += HELPERS) list->task(list->data, i);
  return NULL;
}

/* All tasks on threads of its own; the caller waits. */
static void run_on_threads(void *user, int n, void (*task)(void *data, int i), void *data) {
  pthread_t   threads[HELPERS];
  helper_list lists[HELPERS];
  ++*(int *)user;
  for (int k = 0; k < HELPERS; ++k) {
    lists[k] = (helper_list){n, k, task, data};
    assert_int_equal(pthread_create(&threads[k], NULL, help, &lists[k]), 0);
  }
  for (int k = 0; k < HELPERS; ++k) pthread_join(threads[k], NULL);
}

static void run_nothing(void *user, int n, void (*task)(void *data, int i), void *data) {
  (void)n, (void)task, (void)data;
  ++*(int *)user;
}

/* Every other task, twice, and some that there are not. */
static void run_badly(void *user, int n, void (*task)(void *data, int i), void *data) {
  ++*(int *)user;
  for (int i = 0; i < n + 5; i += 2) {
    task(data, i);
    task(data, i);
  }
  task(data, -1);
}

static void an_executor_of_the_program_runs_every_task_once(void **state) {
  static void (*const runs[])(void *, int, void (*)(void *, int), void *) = {run_on_threads, run_nothing, run_badly};
  static const int sizes[]                                                = {1, 2, 7, MOST, 3};
  ledger           serial, l;
  (void)state;
  run("serial", 1, MOST, work, &serial);
  for (size_t k = 0; k < sizeof runs / sizeof *runs; ++k) {
    for (int n_workers = 1; n_workers <= HELPERS; n_workers += 2) { /* fewer than threads: they wait for each other */
      int                 n_calls  = 0;
      yoke_context       *ctx      = NULL;
      yoke_exec          *exec     = NULL;
      const yoke_executor executor = {sizeof executor, n_workers, runs[k], &n_calls};
      assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
      assert_int_equal(yoke_context_set_executor(ctx, &executor), YOKE_OK);
      assert_int_equal(yoke_exec_create(ctx, n_workers == 1 ? NULL : "user", 0, &exec), YOKE_OK);
      assert_int_equal(yoke_exec_n_workers(exec), n_workers + 1);
      yoke_context_destroy(&ctx);
      for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        memset(&l, 0, sizeof l);
        l.n_workers = n_workers + 1;
        yoke_exec_run(exec, sizes[i], NULL, work, &l);
        for (int j = 0; j < MOST; ++j) {
          assert_int_equal(l.count[j], j < sizes[i]);
          assert_false(l.bad_worker[j]);
        }
        assert_memory_equal(l.value, serial.value, (size_t)sizes[i] * sizeof(double));
      }
      assert_int_equal(n_calls, (int)(sizeof sizes / sizeof *sizes));
      yoke_exec_destroy(&exec);
    }
  }
}

static void note_worker(void *user, int i, int worker) {
  ((int *)user)[i] = worker;
}

/* Who asks whether to go on is the caller (worker 0). */
static void only_the_caller_is_worker_0(void **state) {
  int                 n_calls = 0, workers[12] = {0};
  yoke_context       *ctx      = NULL;
  yoke_exec          *exec     = NULL;
  const yoke_executor executor = {sizeof executor, HELPERS, run_on_threads, &n_calls};
  (void)state;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_context_set_executor(ctx, &executor), YOKE_OK);
  assert_int_equal(yoke_exec_create(ctx, NULL, 0, &exec), YOKE_OK);
  yoke_exec_run(exec, 12, NULL, note_worker, workers);
  for (int i = 0; i < 12; ++i) assert_true(workers[i] >= 1 && workers[i] <= HELPERS);
  yoke_exec_destroy(&exec);
  yoke_context_destroy(&ctx);
}

static void executors_that_cannot_be_are_refused(void **state) {
  int           n_calls  = 0;
  yoke_context *ctx      = NULL;
  yoke_exec    *exec     = NULL;
  yoke_executor executor = {0, 1, run_nothing, &n_calls};
  (void)state;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_exec_create(ctx, "user", 0, &exec), YOKE_E_UNSUPPORTED);
  assert_non_null(strstr(yoke_context_message(ctx, 0), "yoke_context_set_executor"));
  assert_int_equal(yoke_context_set_executor(ctx, &executor), YOKE_E_USAGE); /* its size */
  executor.size      = sizeof executor;
  executor.n_workers = 0;
  assert_int_equal(yoke_context_set_executor(ctx, &executor), YOKE_E_USAGE);
  executor.n_workers = 1;
  executor.run       = NULL;
  assert_int_equal(yoke_context_set_executor(ctx, &executor), YOKE_E_USAGE);
  executor.run = run_nothing;
  assert_int_equal(yoke_context_set_executor(ctx, &executor), YOKE_OK);
  assert_int_equal(yoke_context_set_executor(ctx, NULL), YOKE_OK); /* none again */
  assert_int_equal(yoke_exec_create(ctx, "user", 0, &exec), YOKE_E_UNSUPPORTED);
  assert_null(exec);
  yoke_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_task_runs_exactly_once),
      cmocka_unit_test(shuffled_changes_the_order_from_run_to_run),
      cmocka_unit_test(shuffled_is_the_same_for_every_object),
      cmocka_unit_test(results_have_the_same_bits_for_every_backend),
      cmocka_unit_test(short_lists_are_left_to_one_worker),
      cmocka_unit_test(lists_get_as_many_workers_as_pay),
      cmocka_unit_test(the_longest_task_limits_the_workers),
      cmocka_unit_test(unknown_backend_is_refused_with_the_nearest_name),
      cmocka_unit_test(an_executor_of_the_program_runs_every_task_once),
      cmocka_unit_test(only_the_caller_is_worker_0),
      cmocka_unit_test(executors_that_cannot_be_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
