/* Mechanisms in parts against the same as a whole: the pendulum chain in space with 1000 rods, 1 s, and 200 four-bar linkages in a row up to
 * shortly before their first singular position, in two parts and in 16. Processor seconds of the steps, projected for 1, 2 and 16 threads from
 * the tasks as they were measured; `whole` is the time of the model as a whole (auto) at the same error, `ratio` that of two threads to it (goal for two
 * parts: 0.65). In lockstep the projection for two threads has the longer half of every round; what it takes the threads to meet is not in it, so two
 * threads in earnest are measured too (`bench_halves --threads`: that alone): steps of the whole on one thread and of the halves on two, in turn,
 * least wall times. Error: root mean square of the differences of selected quantities at the end to dop853 at rtol 1e-12, relative. */
#include "public.h"

#include "bench.h"

enum { N_WHOLE = 8, REPEATS = 3 };

typedef struct mechanism {
  const char *name, *path, *select, *rest; /* `rest`: a body kind beside `first` in every part, "": none */
  const char *first;
  int         n, n_quick, more; /* parameter N; bodies of the first kind: N + more */
  double      t_end;
} mechanism;

static const mechanism mechanisms[] = {
    {"pendulum chain", "examples/pendulum-chain.yaml", "[\"rod[*].x\", \"rod[*].y\", \"rod[*].v*\"]", "", "rod", 1000,
     200, 0, 1.0},
    {"four-bar linkages", "examples/n-four-bar.yaml", "[\"crank[*].x\", \"crank[*].y\", \"coupler[*].v*\"]", "coupler",
     "crank", 200, 50, 1, 0.6},
};

typedef struct variant {
  const char *name;
  int         parts;
  double      H[2]; /* of each mechanism */
  const char *sets;
  double      first[2]; /* share of the first of two parts; 0: they are equal */
} variant;

#define SEMI "cosimulation.scheme=semi-implicit;cosimulation.order=2;cosimulation.jacobian="
static const variant variants[] = {
    {"lockstep", 2, {1.0, 0.6}, "cosimulation={lockstep: true}", {0.43, 0.5}},
    {"kinematic",
     2,
     {0.01, 0.01},
     "cosimulation={scheme: explicit, order: 2, couplings: {formulation: kinematic}}",
     {0.0, 0.0}},
    {"semi-implicit, analytic", 2, {0.02, 0.05}, SEMI "analytic", {0.0, 0.0}},
    {"semi-implicit, tangents", 2, {0.02, 0.05}, SEMI "tangent", {0.0, 0.0}},
    {"semi-implicit, analytic", 16, {0.005, 0.02}, SEMI "analytic", {0.0, 0.0}},
};

/* `{p1: ["rod[1..500]"], ...}` */
static void write_split(const mechanism *m, int n, int parts, double first, char *text, size_t room) {
  size_t used = (size_t)snprintf(text, room, "split={");
  int    from = 1;
  for (int p = 0; p < parts; ++p) {
    const int to = first > 0.0 && p == 0 ? (int)(first * n) : (p + 1) * n / parts, more = p == parts - 1 ? m->more : 0;
    used += (size_t)snprintf(text + used, room - used, "p%d: [\"%s[%d..%d]\"", p + 1, m->first, from, to + more);
    if (*m->rest != '\0') used += (size_t)snprintf(text + used, room - used, ", \"%s[%d..%d]\"", m->rest, from, to);
    used += (size_t)snprintf(text + used, room - used, "], ");
    from = to + 1;
  }
  snprintf(text + used, room - used, "}");
}

/* Names of the selected quantities, in the order of `values` of whole runs. Gives the plan that holds them. */
static yoke_plan *name_outputs(yoke_context *ctx, const mechanism *m, const char *const *sets, int n_sets) {
  const yoke_load_options options = {.size = sizeof options, .n_sets = n_sets, .sets = sets};
  const yoke_plan_options whole   = {.is_whole = true};
  yoke_model             *model   = NULL;
  yoke_plan              *plan    = NULL;
  if (yoke_model_load(ctx, m->path, &options, &model) != YOKE_OK) bench_die(ctx, m->path);
  if (yoke_plan_create(ctx, model, &whole, &plan) != YOKE_OK) bench_die(ctx, m->path);
  yoke_model_destroy(&model);
  return plan;
}

typedef struct split_run {
  double  seconds[3], error; /* with 1, 2 and 16 threads */
  int64_t evaluations, integrations, macro_steps;
} split_run;

static split_run run_split(const mechanism *m, const variant *one, int which, int n, const char *const *sets,
                           const yoke_plan *names, const bench_run *reference) {
  char        split[2000], step[60], text[BENCH_TEXT];
  const char *list[BENCH_SETS];
  split_run   best = {.seconds = {INFINITY, INFINITY, INFINITY}};
  write_split(m, n, one->parts, one->first[which], split, sizeof split);
  snprintf(step, sizeof step, "cosimulation.step=%g", one->H[which]);
  for (int k = 0; k < REPEATS; ++k) {
    yoke_run_options options = bench_options(m->path, one->sets, text, list);
    yoke_run_summary summary = BENCH_EMPTY(yoke_run_summary);
    yoke_context    *ctx     = NULL;
    for (int i = 0; sets[i] != NULL; ++i) list[options.n_sets++] = sets[i];
    list[options.n_sets++] = split;
    list[options.n_sets++] = step;
    list[options.n_sets++] = "solvers.default.rtol=1e-6";
    list[options.n_sets++] = "cosimulation.monitor=off";
    options.profile        = true;
    options.n_print        = names->outputs.n;
    options.print          = (const char *const *)names->outputs.name;
    bench_need(yoke_context_create(&ctx), ctx, one->name);
    bench_need(yoke_run(ctx, &options, &summary), ctx, one->name);
    static const int at[] = {0, 1, 4}; /* 1, 2, 16 threads */
    for (int i = 0; i < 3; ++i) best.seconds[i] = fmin(best.seconds[i], summary.projection[at[i]].time);
    best.error        = bench_nrmse(summary.print_values, reference->values, 0, reference->n);
    best.evaluations  = summary.all_evaluations;
    best.integrations = summary.integrations;
    best.macro_steps  = summary.macro_steps;
    if (best.macro_steps ==
        0) { /* in lockstep: one evaluation of all parts is one, and steps are those of the solver */
      best.evaluations  = summary.evaluations;
      best.macro_steps  = summary.steps;
      best.integrations = summary.steps * one->parts;
    }
    yoke_run_summary_release(&summary);
    yoke_context_destroy(&ctx);
  }
  return best;
}

/* Wall time. */
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Wall time of the steps [s]; values at the end into `values`. */
static double time_steps(yoke_context *ctx, const yoke_model *model, bool in_parts, int threads, double *values) {
  const yoke_plan_options   as_one  = {.is_whole = true, .in_parts = in_parts};
  const yoke_system_options options = {.threads = threads};
  yoke_plan                *plan    = NULL;
  yoke_system              *system  = NULL;
  yoke_system_summary       summary;
  if (yoke_plan_create(ctx, model, &as_one, &plan) != YOKE_OK) bench_die(ctx, "plan");
  if (yoke_system_create(ctx, plan, &options, &system) != YOKE_OK) bench_die(ctx, "system");
  bench_last      last  = {plan->outputs.n, values};
  const yoke_sink sink  = {.user = &last, .sample = bench_keep};
  const double    begin = now();
  if (yoke_system_run(system, plan->t_end, &sink, &summary, ctx) != YOKE_OK) bench_die(ctx, "run");
  const double seconds = now() - begin;
  yoke_system_destroy(&system);
  yoke_plan_destroy(&plan);
  return seconds;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* In turn, so that the machine is the same for all. */
static void bench_threads(const mechanism *m, int which) {
  enum { WHOLE, HALVES, TWO, KINDS, MOST = 400 };
  static double seconds[KINDS][MOST];
  const int     n = bench_is_quick() ? m->n_quick : m->n;
  bench_size    size;
  char          split[2000];
  bench_size_set(&size, n, m->t_end, m->select);
  bench_run reference = bench_model(m->path, size.sets, "dop853", 1e-12, 1);
  write_split(m, n, 2, variants[0].first[which], split, sizeof split);
  size.sets[4]                      = "solvers.default.rtol=1e-6";
  size.sets[5]                      = split;
  const yoke_load_options options   = {.size = sizeof options, .n_sets = 6, .sets = size.sets};
  yoke_context           *ctx       = NULL;
  yoke_model             *model     = NULL;
  double                 *values    = calloc((size_t)reference.n + 1, sizeof *values), error[KINDS];
  const double            end       = now() + (bench_is_quick() ? 1.0 : 5.0);
  int                     n_repeats = 0;
  if (yoke_context_create(&ctx) != YOKE_OK || values == NULL) exit(1);
  if (yoke_model_load(ctx, m->path, &options, &model) != YOKE_OK) bench_die(ctx, m->path);
  while (n_repeats < MOST && (n_repeats < 5 || now() < end)) {
    for (int kind = 0; kind < KINDS; ++kind) {
      seconds[kind][n_repeats] = time_steps(ctx, model, kind != WHOLE, kind == TWO ? 2 : 1, values);
      error[kind]              = bench_nrmse(values, reference.values, 0, reference.n);
    }
    ++n_repeats;
  }
  printf("%s, N = %d, wall time of the steps [ms], least and median of %d\n", m->name, n, n_repeats);
  for (int kind = 0; kind < KINDS; ++kind) {
    static const char *const names[KINDS] = {"whole, one thread", "in lockstep, one thread",
                                             "in lockstep, two threads"};
    qsort(seconds[kind], (size_t)n_repeats, sizeof(double), compare);
    printf("  %-26s error %.1e  %9.3f %9.3f  of the whole %6.3f %6.3f\n", names[kind], error[kind],
           1e3 * seconds[kind][0], 1e3 * seconds[kind][n_repeats / 2], seconds[kind][0] / seconds[WHOLE][0],
           seconds[kind][n_repeats / 2] / seconds[WHOLE][n_repeats / 2]);
  }
  bench_figure(seconds[TWO][0] / seconds[WHOLE][0], "-", error[TWO],
               "%s, N = %d, in lockstep: two threads in earnest in units of the whole", m->name, n);
  fflush(stdout);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  free(values);
  free(reference.values);
}

static void bench_mechanism(const mechanism *m, int which) {
  static const double tolerances[N_WHOLE] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
  const int           n                   = bench_is_quick() ? m->n_quick : m->n;
  bench_size          size;
  bench_size_set(&size, n, m->t_end, m->select);
  const char *const *const sets      = size.sets;
  yoke_context            *ctx       = NULL;
  bench_run                reference = bench_model(m->path, sets, "dop853", 1e-12, 1), whole[N_WHOLE];
  bench_need(yoke_context_create(&ctx), ctx, m->name);
  yoke_plan *names = name_outputs(ctx, m, sets, 4);
  printf("%s, N = %d, %g s\n", m->name, n, m->t_end);
  printf("%-26s %8s %10s %8s %8s %8s %10s %10s %10s %10s %8s\n", "what", "parts", "error", "steps", "passes", "evals",
         "1 thread", "2", "16", "whole", "ratio");
  for (int k = 0; k < N_WHOLE; ++k) {
    whole[k]       = bench_model(m->path, sets, "auto", tolerances[k], REPEATS);
    whole[k].error = bench_nrmse(whole[k].values, reference.values, 0, reference.n);
    free(whole[k].values);
    printf("whole, rtol %-14.0e %8d %10.1e %8lld %8s %8lld %10.4f\n", tolerances[k], 1, whole[k].error,
           (long long)whole[k].counters.steps, "", (long long)whole[k].counters.evaluations, whole[k].seconds);
  }
  for (size_t i = 0; i < sizeof variants / sizeof *variants; ++i) {
    const variant  *one = &variants[i];
    const split_run run = run_split(m, one, which, n, sets, names, &reference);
    /* no run as a whole is as rough as the roughest */
    const double    alone = run.error >= whole[0].error ? whole[0].seconds : bench_time_at(whole, N_WHOLE, run.error);
    printf("%-26s %8d %10.1e %8lld %8.2f %8lld %10.4f %10.4f %10.4f %10.4f %8.2f\n", one->name, one->parts, run.error,
           (long long)run.macro_steps, (double)run.integrations / (double)(run.macro_steps * one->parts),
           (long long)run.evaluations, run.seconds[0], run.seconds[1], run.seconds[2], alone, run.seconds[1] / alone);
    fflush(stdout);
    bench_figure(run.seconds[1] / alone, "-", run.error, "%s, N = %d, %d parts, %s: two threads in units of the whole",
                 m->name, n, one->parts, one->name);
  }
  yoke_plan_destroy(&names);
  yoke_context_destroy(&ctx);
  free(reference.values);
}

int main(int argc, char **argv) {
  const int  n       = (int)(sizeof mechanisms / sizeof *mechanisms);
  const bool is_only = argc > 1 && strcmp(argv[1], "--threads") == 0;
  for (int i = 0; i < n; ++i) bench_threads(&mechanisms[i], i);
  for (int i = 0; i < n && !is_only; ++i) bench_mechanism(&mechanisms[i], i);
  return 0;
}
