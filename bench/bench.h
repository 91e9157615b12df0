/* Shared by the benchmarks: run a model with one solver and tolerance, take the time and the end values; compare
 * methods at equal error by interpolating log(time) over log(error). */
#ifndef YOKE_BENCH_H
#define YOKE_BENCH_H

#include "figure.h"
#include "master/system.h"
#include <yoke/model.h>

#include <string.h>

enum { BENCH_MAX_RUNS = 16, BENCH_MAX_SETS = 12 };

#ifdef YOKE_WITH_SUNDIALS
enum { BENCH_HAS_IDA = 1 };
#else
enum { BENCH_HAS_IDA = 0 };
#endif

typedef struct bench_run {
  double        seconds; /* minimum over repeats, stepping only */
  double        error;   /* NRMSE(x) + NRMSE(v) against a reference */
  int           n;
  double       *values; /* selected outputs at the end */
  yoke_counters counters;
  char          method[24];
} bench_run;

typedef struct bench_last {
  int     n;
  double *values;
} bench_last;

static inline yoke_status bench_keep(void *user, double t, const double *outputs, const yoke_counters *counters,
                                     double h, int order) {
  bench_last *last = user;
  (void)t;
  (void)counters;
  (void)h;
  (void)order;
  memcpy(last->values, outputs, (size_t)last->n * sizeof *outputs);
  return YOKE_OK;
}

static inline void bench_die(const yoke_context *ctx, const char *what) {
  fprintf(stderr, "%s failed\n", what);
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) fprintf(stderr, "  %s\n", yoke_context_message(ctx, i));
  exit(1);
}

/* Overrides of a model whose size is the parameter N, for values of some outputs at its end. */
typedef struct bench_size {
  char        count[32], t_end[32], every[40], select[128];
  const char *sets[BENCH_MAX_SETS];
} bench_size;

static inline void bench_size_set(bench_size *size, int n, double t_end, const char *select) {
  snprintf(size->count, sizeof size->count, "parameters.N=%d", n);
  snprintf(size->t_end, sizeof size->t_end, "t_end=%g", t_end);
  snprintf(size->every, sizeof size->every, "output.every=%g", t_end);
  snprintf(size->select, sizeof size->select, "output.select=%s", select);
  memset(size->sets, 0, sizeof size->sets);
  size->sets[0] = size->count;
  size->sets[1] = size->t_end;
  size->sets[2] = size->every;
  size->sets[3] = size->select;
}

/* The model as a whole, ready to run. */
typedef struct bench_whole {
  yoke_plan   *plan;
  yoke_system *system;
} bench_whole;

static inline bench_whole bench_begin(yoke_context *ctx, const yoke_model *model, const char *path) {
  const yoke_plan_options options = {.is_whole = true};
  bench_whole             whole   = {0};
  if (yoke_plan_create(ctx, model, &options, &whole.plan) != YOKE_OK) bench_die(ctx, path);
  if (yoke_system_create(ctx, whole.plan, &(yoke_system_options){.threads = 1}, &whole.system) != YOKE_OK)
    bench_die(ctx, path);
  return whole;
}

static inline void bench_end(bench_whole *whole) {
  yoke_system_destroy(&whole->system);
  yoke_plan_destroy(&whole->plan);
}

/* `sets`: NULL-terminated `path=value` list. The fastest of `repeats` runs counts. */
static inline bench_run bench_model(const char *path, const char *const *sets, const char *solver, double rtol,
                                    int repeats) {
  char        solver_set[64], rtol_set[64];
  const char *all[BENCH_MAX_SETS] = {0};
  int         n                   = 0;
  while (sets[n] != NULL && n < BENCH_MAX_SETS - 3) {
    all[n] = sets[n];
    ++n;
  }
  snprintf(solver_set, sizeof solver_set, "solvers.default.kind=%s", solver);
  snprintf(rtol_set, sizeof rtol_set, "solvers.default.rtol=%g", rtol);
  all[n++]          = solver_set;
  all[n++]          = rtol_set;
  bench_run     run = {.seconds = INFINITY};
  yoke_context *ctx = NULL;
  if (yoke_context_create(&ctx) != YOKE_OK) exit(1);
  yoke_model             *model   = NULL;
  const yoke_load_options options = {.size = sizeof options, .n_sets = n, .sets = all};
  if (yoke_model_load(ctx, path, &options, &model) != YOKE_OK) bench_die(ctx, path);
  for (int k = 0; k < repeats; ++k) {
    bench_whole whole = bench_begin(ctx, model, path);
    run.n             = whole.plan->outputs.n;
    if (run.values == NULL) run.values = calloc((size_t)run.n + 1, sizeof *run.values);
    bench_last          last = {run.n, run.values};
    const yoke_sink     sink = {.user = &last, .sample = bench_keep};
    yoke_system_summary summary;
    const double        start = bench_now();
    if (yoke_system_run(whole.system, whole.plan->t_end, &sink, &summary, ctx) != YOKE_OK) bench_die(ctx, solver);
    run.seconds  = fmin(run.seconds, bench_now() - start);
    run.counters = summary.counters;
    snprintf(run.method, sizeof run.method, "%s", summary.method);
    bench_end(&whole);
  }
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return run;
}

/* Root mean square difference over the root mean square of the reference, over outputs [from, to). */
static inline double bench_nrmse(const double *values, const double *reference, int from, int to) {
  double difference = 0.0, size = 0.0;
  for (int i = from; i < to; ++i) {
    difference += (values[i] - reference[i]) * (values[i] - reference[i]);
    size += reference[i] * reference[i];
  }
  return sqrt(difference / fmax(size, 1e-300));
}

/* The same of n outputs, all positions, then all velocities: the sum of both. */
static inline double bench_nrmse_of(const double *values, const double *reference, int n) {
  return bench_nrmse(values, reference, 0, n / 2) + bench_nrmse(values, reference, n / 2, n);
}

/* Time at `error` on the polyline of (log error, log time); outside its range the nearest end is continued. */
static inline double bench_time_at(const bench_run *runs, int n, double error) {
  int best = 0;
  for (int i = 0; i + 1 < n; ++i) {
    if (runs[i].error >= error) best = i;
  }
  const bench_run *a = &runs[best], *b = &runs[best + 1 < n ? best + 1 : best];
  if (a == b || a->error == b->error) return a->seconds;
  const double share = log(a->error / error) / log(a->error / b->error);
  return a->seconds * pow(b->seconds / a->seconds, share);
}

#endif
