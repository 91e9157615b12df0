/* Backends: serial, shuffled, threads, eager, user. None allocates memory while it runs, but for longer lists of tasks than before. */
#include "exec/exec.h"

#include "base/hooks.h"
#include "base/memory.h"
#include "base/text.h"
#include "exec/hired.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void (*run_function)(yoke_exec *exec, int n, yoke_task task, void *user);

struct yoke_exec {
  run_function run;
  uint32_t     n_runs;    /* shuffled: every run has its own order; threads: only some runs are measured */
  yoke_team   *team;      /* threads, eager; NULL: one worker */
  yoke_hired  *hired;     /* user */
  double       task_time; /* threads: processor time of a task, mean over the last measurements [s]; 0 at first */
};

static void run_serial(yoke_exec *exec, int n, yoke_task task, void *user) {
  (void)exec;
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
static void run_shuffled(yoke_exec *exec, int n, yoke_task task, void *user) {
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

/* Least work of a thread [s]: a list with less for each is done sooner than another thread is awake. A single task that is
 * shorter never wakes one; many together may. */
static const double worth_a_thread = 5e-5;
enum { MEASURED_AT_FIRST = 8, MEASURED_EVERY = 16 };

static void run_eager(yoke_exec *exec, int n, yoke_task task, void *user) {
  (void)yoke_team_run(exec->team, n - 1, n, task, user, NULL);
}

/* The clock decides who works, never what comes out. Processor time: a busy machine does not make tasks look longer. */
static void run_threads(yoke_exec *exec, int n, yoke_task task, void *user) {
  const bool   is_measured = exec->n_runs < MEASURED_AT_FIRST || exec->n_runs % MEASURED_EVERY == 0;
  const double n_worth     = fmin(n, n * exec->task_time / worth_a_thread); /* workers with enough to do */
  double       seconds     = 0.0;
  const int    n_own       = yoke_team_run(exec->team, (int)n_worth - 1, n, task, user, is_measured ? &seconds : NULL);
  ++exec->n_runs;
  if (!is_measured || n_own == 0) return;
  const double mean = seconds / n_own;
  exec->task_time   = exec->n_runs > 1 ? 0.5 * (exec->task_time + mean) : mean;
}

/* ---- user ---- */

static void run_hired(yoke_exec *exec, int n, yoke_task task, void *user) {
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
  exec->run          = run;
  yoke_status status = YOKE_OK;
  if (run == run_threads || run == run_eager) status = yoke_team_create(ctx, threads, &exec->team);
  if (run == run_hired) status = yoke_hired_create(ctx, executor, &exec->hired);
  if (status != YOKE_OK) yoke_exec_destroy(&exec);
  if (exec != NULL && run == run_threads && yoke_exec_n_workers(exec) == 1) exec->run = run_serial; /* no clock */
  *out = exec;
  return status;
}

void yoke_exec_destroy(yoke_exec **exec) {
  if (exec == NULL || *exec == NULL) return;
  yoke_team_destroy(&(*exec)->team);
  yoke_hired_destroy(&(*exec)->hired);
  free(*exec);
  *exec = NULL;
}

int yoke_exec_n_workers(const yoke_exec *exec) {
  if (exec->hired != NULL) return yoke_hired_n_workers(exec->hired);
  return exec->team != NULL ? yoke_team_n_workers(exec->team) : 1;
}

void yoke_exec_run(yoke_exec *exec, int n, yoke_task task, void *user) {
  if (n > 0) exec->run(exec, n, task, user);
}
