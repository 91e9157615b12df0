/* Backends: serial, shuffled, openmp. None allocates memory while it runs. */
#include "exec/exec.h"

#include "base/memory.h"
#include "base/text.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef YOKE_WITH_OPENMP
#include <omp.h>
#endif

typedef void (*run_function)(yoke_exec *exec, int n, yoke_task task, void *user);

struct yoke_exec {
  run_function run;
  int          n_workers;
  uint32_t     n_runs; /* shuffled: every run has its own order */
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

/* ---- openmp ---- */

#ifdef YOKE_WITH_OPENMP
static void run_openmp(yoke_exec *exec, int n, yoke_task task, void *user) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(exec->n_workers)
  for (int i = 0; i < n; ++i) task(user, i, omp_get_thread_num());
}

static int all_cores(void) {
  return omp_get_num_procs();
}
#else
static int all_cores(void) {
  return 1;
}
#endif

/* ---- the list ---- */

static const struct {
  const char  *kind;
  run_function run; /* NULL: not in this build */
} kinds[] = {
    {"serial", run_serial},
    {"shuffled", run_shuffled},
#ifdef YOKE_WITH_OPENMP
    {"openmp", run_openmp},
#else
    {"openmp", NULL},
#endif
};

enum { N_KINDS = (int)(sizeof kinds / sizeof kinds[0]), MOST_THREADS = 4096 };

static yoke_status find_run(yoke_context *ctx, const char *kind, run_function *out) {
  const char *names[N_KINDS];
  for (int i = 0; i < N_KINDS; ++i) {
    names[i] = kinds[i].kind;
    if (kind == NULL || strcmp(kind, names[i]) != 0) continue;
    *out = kinds[i].run;
    if (*out != NULL) return YOKE_OK;
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "exec '%s' is not part of this build (YOKE_WITH_OPENMP)", kind);
  }
  const char *nearest = kind != NULL ? yoke_text_nearest(kind, names, N_KINDS) : NULL;
  return yoke_fail(ctx, YOKE_E_USAGE, "exec '%s' is unknown; %s%s", kind != NULL ? kind : "",
                   nearest != NULL ? "did you mean " : "expected serial, shuffled or openmp",
                   nearest != NULL ? nearest : "");
}

yoke_status yoke_exec_create(yoke_context *ctx, const char *kind, int threads, yoke_exec **out) {
  run_function run = NULL;
  *out             = NULL;
  YOKE_TRY(find_run(ctx, kind, &run));
  if (threads < 0 || threads > MOST_THREADS) {
    return yoke_fail(ctx, YOKE_E_USAGE, "exec '%s': threads is %d, expected 0 (all cores) to %d", kind, threads,
                     MOST_THREADS);
  }
  yoke_exec *exec = yoke_allocate(1, sizeof *exec);
  if (exec == NULL) return yoke_out_of_memory(ctx, "exec '%s'", kind);
  exec->run       = run;
  exec->n_workers = strcmp(kind, "openmp") != 0 ? 1 : threads > 0 ? threads : all_cores();
  *out            = exec;
  return YOKE_OK;
}

void yoke_exec_destroy(yoke_exec **exec) {
  if (exec == NULL) return;
  free(*exec);
  *exec = NULL;
}

int yoke_exec_n_workers(const yoke_exec *exec) {
  return exec->n_workers;
}

void yoke_exec_run(yoke_exec *exec, int n, yoke_task task, void *user) {
  if (n > 0) exec->run(exec, n, task, user);
}
