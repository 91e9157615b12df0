/* A team of threads: every task once, by workers with numbers of their own, list after list. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "exec/team.h"
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST = 64, N_LISTS = 2000 };

typedef struct ledger {
  int             count[MOST];
  _Atomic int     busy[8]; /* by worker: tasks at work */
  _Atomic int     n_clashes;
  pthread_mutex_t lock;
  pthread_cond_t  met;
  int             n_here; /* under the lock */
} ledger;

static void count_task(void *user, int i, int worker) {
  ledger *l = user;
  if (atomic_fetch_add(&l->busy[worker], 1) != 0) atomic_fetch_add(&l->n_clashes, 1);
  ++l->count[i];
  atomic_fetch_sub(&l->busy[worker], 1);
}

static void pause_for_milliseconds(int n) {
  nanosleep(&(struct timespec){.tv_nsec = n * 1000000L}, NULL);
}

/* n tasks of equal cost for n_workers. */
static void run_list(yoke_team *team, int n_workers, int n, yoke_task task, ledger *l) {
  static yoke_schedule schedule;
  static yoke_cost     costs[MOST];
  double               seconds[YOKE_N_COSTS];
  for (int c = 0; c < YOKE_N_COSTS; ++c) seconds[c] = yoke_cost_seconds((yoke_cost)c);
  memset(costs, yoke_cost_of(1e-5), sizeof costs);
  if (schedule.most_tasks == 0) assert_int_equal(yoke_schedule_expect(NULL, MOST, 8, &schedule), YOKE_OK);
  yoke_schedule_make(&schedule, n, costs, n_workers, seconds);
  yoke_team_run(team, &schedule, task, l);
}

static void every_task_of_many_lists_runs_once(void **state) {
  (void)state;
  for (int n_workers = 1; n_workers <= 4; ++n_workers) {
    yoke_team *team = NULL;
    ledger     l    = {.n_clashes = 0};
    assert_int_equal(yoke_team_create(NULL, n_workers, &team), YOKE_OK);
    assert_int_equal(yoke_team_n_workers(team), n_workers);
    for (int list = 1; list <= N_LISTS; ++list) {
      const int n = 1 + list % MOST;
      memset(l.count, 0, sizeof l.count);
      if (list % 5 == 0) yoke_team_wake(team, 1e-5);
      run_list(team, 1 + list % n_workers, n, count_task, &l);
      for (int i = 0; i < MOST; ++i) assert_int_equal(l.count[i], i < n);
    }
    assert_int_equal(l.n_clashes, 0);
    yoke_team_destroy(&team);
    assert_null(team);
  }
}

/* Each task waits until the other one is at work. */
static void meet(void *user, int i, int worker) {
  ledger *l   = user;
  l->count[i] = worker;
  pthread_mutex_lock(&l->lock);
  ++l->n_here;
  pthread_cond_broadcast(&l->met);
  while (l->n_here < 2) pthread_cond_wait(&l->met, &l->lock);
  pthread_mutex_unlock(&l->lock);
}

static void tasks_run_side_by_side_also_behind_a_pause(void **state) {
  (void)state;
  yoke_team *team = NULL;
  assert_int_equal(yoke_team_create(NULL, 2, &team), YOKE_OK);
  for (int round = 0; round < 3; ++round) {
    ledger l = {.lock = PTHREAD_MUTEX_INITIALIZER, .met = PTHREAD_COND_INITIALIZER};
    pause_for_milliseconds(2); /* the other thread is asleep */
    run_list(team, 2, 2, meet, &l);
    assert_int_equal(l.count[0] + l.count[1], 1); /* workers 0 and 1 */
  }
  yoke_team_destroy(&team);
}

/* The first task of owner 1 waits for all others, of which one is his own too. */
static void wait_for_the_others(void *user, int i, int worker) {
  ledger *l = user;
  (void)worker;
  pthread_mutex_lock(&l->lock);
  ++l->n_here;
  pthread_cond_broadcast(&l->met);
  while (i == 1 && l->n_here < 4) pthread_cond_wait(&l->met, &l->lock);
  pthread_mutex_unlock(&l->lock);
}

static void tasks_of_a_worker_that_is_held_up_are_taken_by_others(void **state) {
  (void)state;
  yoke_team *team = NULL;
  assert_int_equal(yoke_team_create(NULL, 2, &team), YOKE_OK);
  for (int round = 0; round < 100; ++round) {
    ledger l = {.lock = PTHREAD_MUTEX_INITIALIZER, .met = PTHREAD_COND_INITIALIZER};
    run_list(team, 2, 4, wait_for_the_others, &l);
    assert_int_equal(l.n_here, 4);
  }
  yoke_team_destroy(&team);
}

/* Threads of this process that are not asleep, the caller left out. */
static int count_awake(void) {
  DIR *tasks = opendir("/proc/self/task");
  int  n     = -1;
  assert_non_null(tasks);
  for (const struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks)) {
    char path[300], text[200] = "";
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", entry->d_name);
    FILE *file = fopen(path, "r");
    if (file == NULL) continue;
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    const char *name_end = strrchr(text, ')');
    assert_non_null(name_end);
    n += name_end[2] == 'R';
  }
  closedir(tasks);
  return n;
}

static void f53_threads_without_work_sleep(void **state) {
  (void)state;
  yoke_team *team = NULL;
  ledger     l    = {.n_clashes = 0};
  assert_int_equal(yoke_team_create(NULL, 4, &team), YOKE_OK);
  run_list(team, 4, 4, count_task, &l);
  yoke_team_wake(team, 1.0);
  for (int i = 0; i < 200 && count_awake() > 0; ++i) pause_for_milliseconds(10); /* as long as a busy machine needs */
  assert_int_equal(count_awake(), 0);
  yoke_team_destroy(&team);
}

/* Every pthread_create of the library comes here (--wrap of the linker). */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *user);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *user);

static int threads_left = 1000;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *user) {
  return threads_left-- > 0 ? __real_pthread_create(thread, attributes, run, user) : EAGAIN;
}

static void threads_that_cannot_be_started_are_left_out_with_a_warning(void **state) {
  (void)state;
  for (int left = 0; left < 2; ++left) {
    yoke_context *ctx  = NULL;
    yoke_team    *team = NULL;
    ledger        l    = {.n_clashes = 0};
    char          says[40];
    assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
    threads_left = left;
    assert_int_equal(yoke_team_create(ctx, 3, &team), YOKE_OK);
    threads_left = 1000;
    assert_int_equal(yoke_team_n_workers(team), 1 + left);
    assert_int_equal(yoke_context_n_messages(ctx), 1);
    assert_int_equal(yoke_context_message_severity(ctx, 0), YOKE_SEVERITY_WARNING);
    snprintf(says, sizeof says, "only %d of 3 threads", 1 + left);
    assert_non_null(strstr(yoke_context_message(ctx, 0), says));
    run_list(team, 1 + left, 5, count_task, &l);
    for (int i = 0; i < MOST; ++i) assert_int_equal(l.count[i], i < 5);
    yoke_team_destroy(&team);
    yoke_context_destroy(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_task_of_many_lists_runs_once),
      cmocka_unit_test(tasks_run_side_by_side_also_behind_a_pause),
      cmocka_unit_test(tasks_of_a_worker_that_is_held_up_are_taken_by_others),
      cmocka_unit_test(f53_threads_without_work_sleep),
      cmocka_unit_test(threads_that_cannot_be_started_are_left_out_with_a_warning),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
