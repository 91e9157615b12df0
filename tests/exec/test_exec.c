/* Exec backends: every task once, results independent of who ran it and when. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "exec/exec.h"
#include <math.h>
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

static void run(const char *kind, int threads, int n, yoke_task task, ledger *l) {
  yoke_exec *exec = NULL;
  memset(l, 0, sizeof *l);
  assert_int_equal(yoke_exec_create(NULL, kind, threads, &exec), YOKE_OK);
  l->n_workers = yoke_exec_n_workers(exec);
  yoke_exec_run(exec, n, task, l);
  yoke_exec_destroy(&exec);
  assert_null(exec);
  for (int i = 0; i < MOST; ++i) {
    assert_int_equal(l->count[i], i < n);
    assert_false(l->bad_worker[i]);
  }
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
  yoke_exec_run(exec, 100, note_order, &first);
  yoke_exec_run(exec, 100, note_order, &second);
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
  for (int threads = 1; threads <= 4; ++threads) {
    for (int eager = 0; eager < 2; ++eager) {
      run(eager ? "eager" : "threads", threads, MOST, work, &other);
      assert_int_equal(other.n_workers, threads);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_task_runs_exactly_once),
      cmocka_unit_test(shuffled_changes_the_order_from_run_to_run),
      cmocka_unit_test(shuffled_is_the_same_for_every_object),
      cmocka_unit_test(results_have_the_same_bits_for_every_backend),
      cmocka_unit_test(unknown_backend_is_refused_with_the_nearest_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
