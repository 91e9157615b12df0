/* Backends: serial, shuffled, threads, eager, user. None allocates memory while it runs, but for longer lists of tasks than before. */
#include "exec/exec.h"

#include "base/clock.h"
#include "base/hooks.h"
#include "base/memory.h"
#include "base/text.h"
#include "exec/hired.h"
#include "exec/pace.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void (*run_function)(yoke_exec *exec, int n, const yoke_cost *costs, yoke_task task, void *user);

struct yoke_exec {
  run_function  run;
  uint32_t      n_runs;                /* shuffled: every run has its own order */
  yoke_team    *team;                  /* threads, eager; NULL: one worker */
  yoke_hired   *hired;                 /* user */
  yoke_schedule schedule;              /* threads, eager */
  yoke_cost    *equal;                 /* [most_tasks of the schedule] the same for all */
  double        seconds[YOKE_N_COSTS]; /* of each cost */
  yoke_pace     pace;
  yoke_exec_use use;
  double        shared_work; /* threads: of the lists that were shared [s] */
};

static void run_serial(yoke_exec *exec, int n, const yoke_cost *costs, yoke_task task, void *user) {
  (void)exec, (void)costs;
  for (int i = 0; i < n; ++i) task(user, i, 0);
}

/* ---- shuffled ---- */

static uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

/* Permutation of the numbers of 2 `half` bits: four rounds of (left, right) -> (right, left ^ f(right)) are invertible whatever f is. */
static uint32_t permute(uint32_t x, int half, uint32_t key) {
  const uint32_t mask = (1u << half) - 1u;
  uint32_t       left = x >> half, right = x & mask;
  for (uint32_t round = 0; round < 4; ++round) {
    const uint32_t next = left ^ (mix(right + 0x9e3779b9u * (key + round)) & mask);
    left                = right;
    right               = next;
  }
  return left << half | right;
}

/* Numbers that leave [0, n) are permuted again until they are back: still a permutation. */
static void run_shuffled(yoke_exec *exec, int n, const yoke_cost *costs, yoke_task task, void *user) {
  (void)costs;
  const uint32_t key  = mix(++exec->n_runs);
  int            half = 1;
  while (half < 15 && 1u << 2 * half < (uint32_t)n) ++half;
  if ((uint32_t)n > 1u << 2 * half) half = 16;
  for (int i = 0; i < n; ++i) {
    uint32_t k = (uint32_t)i;
    do k = permute(k, half, key);
    while (k >= (uint32_t)n);
    task(user, (int)k, 0);
  }
}

/* ---- threads ---- */

/* Least work of a worker [s]: a list with less for each is done sooner than another thread is told of it. */
static const double worth_a_worker = 4e-6;
/* What one more worker holds up the others [s]: of n workers he takes work / n^2 off them. */
static const double telling_a_worker = 1e-6;
/* A task that runs for the first time takes many times as long as later: so much less its measurement is worth. */
static const double share_of_first = 0.05;
/* Least share of the work for threads to be spoken of. */
static const double least_share = 0.01;

static void share_out(yoke_exec *exec, int n_workers, int n, const yoke_cost *costs, yoke_task task, void *user) {
  yoke_schedule_make(&exec->schedule, n, costs, n_workers, exec->seconds);
  yoke_team_run(exec->team, &exec->schedule, task, user);
  ++exec->use.n_shared;
  if (n_workers > exec->use.most) exec->use.most = n_workers;
}

static const yoke_cost *equal_costs(yoke_exec *exec, int n, yoke_cost cost) {
  memset(exec->equal, cost, (size_t)n);
  return exec->equal;
}

static void run_eager(yoke_exec *exec, int n, const yoke_cost *costs, yoke_task task, void *user) {
  const int n_workers = n < yoke_exec_n_workers(exec) ? n : yoke_exec_n_workers(exec);
  if (n > exec->schedule.most_tasks) {
    run_serial(exec, n, costs, task, user);
    return;
  }
  share_out(exec, n_workers, n, equal_costs(exec, n, yoke_cost_of(1e-5)), task, user);
}

/* Workers with enough to do in a list of this work, of which the longest task is one. */
static int count_worth(const yoke_exec *exec, int n, double work, double longest) {
  const double most = fmin(n, yoke_exec_n_workers(exec));
  return (int)fmin(fmin(most, ceil(work / longest)), fmin(work / worth_a_worker, sqrt(work / telling_a_worker)));
}

/* The clock decides who works, never what comes out. */
static void run_known(yoke_exec *exec, int n, const yoke_cost *costs, yoke_task task, void *user) {
  double work = 0.0, longest = 0.0;
  for (int i = 0; i < n; ++i) {
    work += exec->seconds[costs[i]];
    longest = fmax(longest, exec->seconds[costs[i]]);
  }
  exec->use.work += work;
  exec->use.n_known += n;
  const int n_worth = n <= exec->schedule.most_tasks ? count_worth(exec, n, work, longest) : 1;
  if (n_worth < 2) {
    run_serial(exec, n, costs, task, user);
    return;
  }
  const double begin = yoke_clock_now();
  if (exec->pace.is_alone) {
    run_serial(exec, n, costs, task, user);
  } else {
    share_out(exec, n_worth, n, costs, task, user);
    exec->shared_work += work;
  }
  yoke_pace_note(&exec->pace, work, yoke_clock_now() - begin);
}

/* The tasks of a list behind its first one. */
typedef struct remainder_list {
  yoke_task task;
  void     *user;
} remainder_list;

static void run_behind(void *user, int i, int worker) {
  const remainder_list *r = user;
  r->task(r->user, i + 1, worker);
}

static void run_threads(yoke_exec *exec, int n, const yoke_cost *costs, yoke_task task, void *user) {
  if (costs != NULL || n < 2 || n > exec->schedule.most_tasks) {
    if (costs != NULL)
      run_known(exec, n, costs, task, user);
    else
      run_serial(exec, n, costs, task, user);
    return;
  }
  const double begin = yoke_clock_now();
  task(user, 0, 0);
  remainder_list r = {task, user};
  run_known(exec, n - 1, equal_costs(exec, n - 1, yoke_cost_of(share_of_first * (yoke_clock_now() - begin))),
            run_behind, &r);
}

/* ---- user ---- */

static void run_hired(yoke_exec *exec, int n, const yoke_cost *costs, yoke_task task, void *user) {
  (void)costs;
  if (n > 1) ++exec->use.n_shared;
  yoke_hired_run(exec->hired, n, task, user);
}

/* ---- the list ---- */

static const struct {
  const char  *kind;
  run_function run;
} kinds[] = {
    {"serial", run_serial}, {"shuffled", run_shuffled}, {"threads", run_threads},
    {"eager", run_eager},   {"user", run_hired},
};

enum { N_KINDS = (int)(sizeof kinds / sizeof kinds[0]) };

static yoke_status find_run(yoke_context *ctx, const char *kind, run_function *out) {
  const char *names[N_KINDS];
  for (int i = 0; i < N_KINDS; ++i) {
    names[i] = kinds[i].kind;
    if (strcmp(kind, names[i]) != 0) continue;
    *out = kinds[i].run;
    return YOKE_OK;
  }
  const char *nearest = yoke_text_nearest(kind, names, N_KINDS);
  return yoke_fail(ctx, YOKE_E_USAGE, "exec '%s' is unknown; %s%s", kind,
                   nearest != NULL ? "did you mean " : "expected threads, serial, shuffled, eager or user",
                   nearest != NULL ? nearest : "");
}

yoke_status yoke_exec_create(yoke_context *ctx, const char *kind, int threads, yoke_exec **out) {
  run_function run              = NULL;
  *out                          = NULL;
  const yoke_executor *executor = yoke_context_executor(ctx);
  if (kind == NULL) kind = executor != NULL ? "user" : "threads";
  YOKE_TRY(find_run(ctx, kind, &run));
  if (threads < 0 || threads > YOKE_MOST_WORKERS) {
    return yoke_fail(ctx, YOKE_E_USAGE, "exec '%s': threads is %d, expected 0 (all cores) to %d", kind, threads,
                     YOKE_MOST_WORKERS);
  }
  if (run == run_hired && executor == NULL) {
    return yoke_fail(
        ctx, YOKE_E_UNSUPPORTED,
        "exec 'user': the context has no executor; give it one (yoke_context_set_executor), or use threads");
  }
  yoke_exec *exec = yoke_allocate(1, sizeof *exec);
  if (exec == NULL) return yoke_out_of_memory(ctx, "exec '%s'", kind);
  exec->run      = run;
  exec->use.most = 1;
  for (int c = 0; c < YOKE_N_COSTS; ++c) exec->seconds[c] = yoke_cost_seconds((yoke_cost)c);
  yoke_status status = YOKE_OK;
  if (run == run_threads || run == run_eager) status = yoke_team_create(ctx, threads, &exec->team);
  if (run == run_hired) status = yoke_hired_create(ctx, executor, &exec->hired);
  if (status != YOKE_OK) yoke_exec_destroy(&exec);
  if (exec != NULL && run == run_threads && yoke_exec_n_workers(exec) == 1) exec->run = run_serial; /* no clock */
  *out = exec;
  return status;
}

bool yoke_exec_is_eager(const yoke_exec *exec) {
  return exec->run == run_eager;
}

void yoke_exec_destroy(yoke_exec **exec) {
  if (exec == NULL || *exec == NULL) return;
  yoke_team_destroy(&(*exec)->team);
  yoke_hired_destroy(&(*exec)->hired);
  yoke_schedule_clear(&(*exec)->schedule);
  free((*exec)->equal);
  free(*exec);
  *exec = NULL;
}

int yoke_exec_n_workers(const yoke_exec *exec) {
  if (exec->hired != NULL) return yoke_hired_n_workers(exec->hired);
  return exec->team != NULL ? yoke_team_n_workers(exec->team) : 1;
}

yoke_status yoke_exec_expect(yoke_exec *exec, yoke_context *ctx, int n) {
  if (exec->team == NULL || n <= exec->schedule.most_tasks) return YOKE_OK;
  free(exec->equal);
  exec->equal = yoke_allocate((size_t)n, sizeof *exec->equal);
  if (exec->equal == NULL) return yoke_out_of_memory(ctx, "%d tasks", n);
  return yoke_schedule_expect(ctx, n, yoke_exec_n_workers(exec), &exec->schedule);
}

void yoke_exec_run(yoke_exec *exec, int n, const yoke_cost *costs, yoke_task task, void *user) {
  if (n <= 0) return;
  ++exec->use.n_lists;
  exec->use.n_tasks += n;
  exec->run(exec, n, costs, task, user);
}

yoke_exec_use yoke_exec_used(const yoke_exec *exec) {
  yoke_exec_use use = exec->use;
  use.n_defeats     = exec->pace.n_defeats;
  if (exec->run == run_threads && exec->shared_work < least_share * use.work) {
    use.most     = 1;
    use.n_shared = 0;
  }
  if (exec->hired != NULL && use.n_shared > 0) use.most = yoke_exec_n_workers(exec);
  return use;
}
