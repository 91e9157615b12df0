/* Formulation overlap on oscillator chains of 10 000 masses (quick: 2000): IMP (impulses) and IMP-M (the same with stiff contacts in two short
 * subsystems at the ends), cut freely: 80 masses around each pair of loads, which need the shortest steps, are a part, and the stretches between them two
 * parts each; one and two threads, against our own model as a whole on one thread (one/this) and on as many (same/this) at equal error (NRMSE(x) + NRMSE(v) at the end against dop853 at rtol 1e-11). Times: stepping alone, the fastest of some.
 * The contacts rule the error: few masses feel them, so that as a whole the mean over all masses hides them, and rtol must be small for all. As parts of
 * their own they have an rtol of their own.
 * Then bodies: a row of rigid ones with hinges and bushings, and a net of particles with springs, in parts of 200 and 1600.
 * Goals of the gain on two threads: 2.5 (IMP), 9 (IMP-M at 2e-3 s), 15 (IMP-M at 1e-2 s).
 * usage: bench_overlap [ida] [IMP] [IMP-M] [row] [net]; ida: IDA with KLU at rtol 1e-6 too; all sets where none is named */
#include "bench.h"

enum { END = 25, NARROW = 80, STRETCHES = 10, N_OWN = 5, N_SPLIT = 3, SPLIT_TEXT = 8000 };

static const double SHARE_OF_ENDS = 0.01; /* rtol of parts with contacts / that of the others */

#define MASSES "[\"c.x[*]\", \"c.v[*]\"]"
#define BODIES "[\"b[*].x\", \"b[*].z\", \"b[*].vx\", \"b[*].vz\"]"

typedef struct overlap_case {
  const char *name, *model, *body, *select;
  int         n, n_quick, per_part; /* per_part 0: a chain whose pairs of loads lie between ten equal stretches */
  double      t_end;
  bool        has_ends; /* short subsystems at the ends */
  double      goal;     /* 0: none */
  const char *more;     /* a setting of the split; NULL: none */
} overlap_case;

static const overlap_case cases[] = {
    {"IMP", "examples/chain-imp.yaml", "c", MASSES, 10000, 2000, 0, 2e-3, false, 2.5, NULL},
    {"IMP-M", "examples/chain-imp-overlap.yaml", "c", MASSES, 10000, 2000, 0, 2e-3, true, 9.0, NULL},
    {"row", "bench/overlap/row.yaml", "b", BODIES, 1600, 400, 200, 0.2, false, 0.0, NULL},
    {"net", "bench/overlap/net.yaml", "b", BODIES, 6400, 3200, 1600, 0.5, false, 0.0, "cosimulation.couplings.halo=6"},
    {"IMP-M", "examples/chain-imp-overlap.yaml", "c", MASSES, 10000, 2000, 0, 1e-2, true, 15.0, NULL},
};
enum { N_CASES = sizeof cases / sizeof *cases, N_QUICK = N_CASES - 1 };

/* Settings of a case: those of all runs, and the split. */
typedef struct overlap_sets {
  char        masses[40], t_end[40], select[100], split[SPLIT_TEXT];
  int         n_parts;
  const char *list[BENCH_MAX_SETS];
} overlap_sets;

typedef struct split_text {
  char       *text;
  size_t      at;
  int         n_parts;
  const char *body;
} split_text;

static void add_part(split_text *s, int from, int to) {
  s->at += (size_t)snprintf(s->text + s->at, SPLIT_TEXT - s->at, "%sp%d: [\"%s[%d..%d]\"]", s->n_parts > 0 ? ", " : "",
                            s->n_parts + 1, s->body, from, to);
  ++s->n_parts;
}

static void add_equal_parts(split_text *s, int from, int to, int parts) {
  const int n = to - from + 1;
  for (int i = 0; i < parts; ++i)
    add_part(s, from + (int)((long)n * i / parts), from + (int)((long)n * (i + 1) / parts) - 1);
}

/* Pairs of loads act on masses k n/10 and k n/10 + 1. */
static void add_parts_of_chain(split_text *s, bool has_ends, int n) {
  const int end = has_ends ? END : 0, half = NARROW / 2;
  if (has_ends) add_part(s, 1, end);
  for (int k = 0; k < STRETCHES; ++k) {
    const int from = k == 0 ? end + 1 : k * (n / STRETCHES) + half + 1;
    const int to   = k == STRETCHES - 1 ? n - end : (k + 1) * (n / STRETCHES) - half;
    add_equal_parts(s, from, to, 2);
    if (k < STRETCHES - 1) add_part(s, to + 1, to + NARROW);
  }
  if (has_ends) add_part(s, n - end + 1, n);
}

/* How many parts there are. */
static int write_split(const overlap_case *one, int n, char *text) {
  split_text s = {.text = text, .body = one->body};
  s.at         = (size_t)snprintf(text, SPLIT_TEXT, "split={");
  if (one->per_part > 0)
    add_equal_parts(&s, 1, n, n / one->per_part);
  else
    add_parts_of_chain(&s, one->has_ends, n);
  snprintf(text + s.at, SPLIT_TEXT - s.at, "}");
  return s.n_parts;
}

static void set(const overlap_case *one, int n, overlap_sets *s) {
  snprintf(s->masses, sizeof s->masses, "parameters.n=%d", n);
  snprintf(s->t_end, sizeof s->t_end, "t_end=%g", one->t_end);
  snprintf(s->select, sizeof s->select, "output.select=%s", one->select);
  s->n_parts               = write_split(one, n, s->split);
  const char *const list[] = {s->masses, s->t_end, s->split, "output.every=1", s->select};
  memset(s->list, 0, sizeof s->list);
  memcpy(s->list, list, sizeof list);
}

static void find_error(bench_run *run, const bench_run *reference) {
  const int half = run->n / 2; /* all positions, then all velocities */
  run->error =
      bench_nrmse(run->values, reference->values, 0, half) + bench_nrmse(run->values, reference->values, half, run->n);
}

/* With threads the time of the process says nothing. */
static double wall(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The split with overlap, or as a whole; coupling errors of single steps are allowed to be ten times those of the solvers. */
static bench_run run_threads(const overlap_case *one, const overlap_sets *s, bool is_whole, double rtol, int threads,
                             int repeats, int64_t *steps) {
  char         solver[160], control[60];
  const double ends = SHARE_OF_ENDS * rtol;
  if (one->has_ends && !is_whole)
    snprintf(solver, sizeof solver, "solvers={default: {rtol: %g}, p1: {rtol: %g}, p%d: {rtol: %g}}", rtol, ends,
             s->n_parts, ends);
  else
    snprintf(solver, sizeof solver, "solvers.default={rtol: %g}", rtol);
  snprintf(control, sizeof control, "cosimulation.step={rtol: %g, max: %g}", 10.0 * rtol, one->t_end / 20.0);
  const char *sets[BENCH_MAX_SETS + 4] = {solver, control, "cosimulation.couplings.formulation=overlap"};
  int         n                        = 3;
  if (one->more != NULL) sets[n++] = one->more;
  for (int i = 0; s->list[i] != NULL; ++i) sets[n++] = s->list[i];
  const yoke_load_options   options = {.size = sizeof options, .n_sets = n, .sets = sets};
  const yoke_plan_options   planned = {.is_whole = is_whole};
  const yoke_system_options at_work = {.exec = threads > 1 ? "threads" : "serial", .threads = threads};
  yoke_context             *ctx     = NULL;
  yoke_model               *model   = NULL;
  yoke_plan                *plan    = NULL;
  bench_run                 run     = {.seconds = INFINITY};
  if (yoke_context_create(&ctx) != YOKE_OK) exit(1);
  if (yoke_model_load(ctx, one->model, &options, &model) != YOKE_OK) bench_die(ctx, one->model);
  if (yoke_plan_create(ctx, model, &planned, &plan) != YOKE_OK) bench_die(ctx, one->model);
  run.n      = plan->outputs.n;
  run.values = calloc((size_t)run.n + 1, sizeof *run.values);
  for (int k = 0; k < repeats; ++k) {
    bench_last          last   = {run.n, run.values};
    const yoke_sink     sink   = {.user = &last, .sample = bench_keep};
    yoke_system        *system = NULL;
    yoke_system_summary summary;
    if (yoke_system_create(ctx, plan, &at_work, &system) != YOKE_OK) bench_die(ctx, one->model);
    const double start = threads > 1 ? wall() : bench_now();
    if (yoke_system_run(system, plan->t_end, &sink, &summary, ctx) != YOKE_OK) bench_die(ctx, one->model);
    run.seconds  = fmin(run.seconds, (threads > 1 ? wall() : bench_now()) - start);
    run.counters = summary.counters;
    *steps       = summary.macro.steps;
    yoke_system_destroy(&system);
  }
  yoke_plan_destroy(&plan);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return run;
}

static void measure(const overlap_case *one, int n, bool with_ida) {
  static const double own_rtol[N_OWN] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7}, split_rtol[N_SPLIT] = {3e-4, 1e-4, 3e-5};
  const int           repeats = bench_is_quick() ? 2 : one->has_ends ? 5 : 9; /* of all: the same chance */
  overlap_sets        s;
  bench_run           own[N_OWN], same[N_OWN]; /* as a whole, on one thread and on two */
  int64_t             steps;
  set(one, n, &s);
  bench_run reference = bench_model(one->model, s.list, "dop853", 1e-11, 1);
  for (int k = 0; k < N_OWN; ++k) {
    own[k] = bench_model(one->model, s.list, "auto", own_rtol[k], repeats);
    find_error(&own[k], &reference);
    printf("%-6s %6.0e %-12s %8.0e %12.2e %12.5f\n", one->name, one->t_end, "whole, 1", own_rtol[k], own[k].error,
           own[k].seconds);
    fflush(stdout);
  }
  for (int k = 0; k < N_OWN; ++k) {
    same[k] = run_threads(one, &s, true, own_rtol[k], 2, repeats, &steps);
    find_error(&same[k], &reference);
    printf("%-6s %6.0e %-12s %8.0e %12.2e %12.5f\n", one->name, one->t_end, "whole, 2", own_rtol[k], same[k].error,
           same[k].seconds);
    fflush(stdout);
  }
  for (int threads = 1; threads <= 2; ++threads) {
    for (int k = 0; k < N_SPLIT; ++k) {
      bench_run run = run_threads(one, &s, false, split_rtol[k], threads, repeats, &steps);
      find_error(&run, &reference);
      printf("%-6s %6.0e %s%-3d %8.0e %12.2e %12.5f %8lld %8.2f %8.2f\n", one->name, one->t_end, "overlap, ", threads,
             split_rtol[k], run.error, run.seconds, (long long)steps,
             bench_time_at(own, N_OWN, run.error) / run.seconds,
             bench_time_at(threads > 1 ? same : own, N_OWN, run.error) / run.seconds);
      fflush(stdout);
      bench_figure(run.seconds, "s", run.error, "overlap, %s, t = %g, %d threads, rtol %.0e", one->name, one->t_end,
                   threads, split_rtol[k]);
      free(run.values);
    }
  }
  if (one->goal > 0.0) printf("%-6s goal on two threads: %.1f\n", one->name, one->goal);
#ifdef YOKE_WITH_SUNDIALS
  if (with_ida) {
    bench_run ida = bench_model(one->model, s.list, "ida", 1e-6, 1);
    find_error(&ida, &reference);
    printf("%-6s %6.0e %-12s %8.0e %12.2e %12.5f\n", one->name, one->t_end, "IDA, 1", 1e-6, ida.error, ida.seconds);
    free(ida.values);
  }
#else
  (void)with_ida;
#endif
  for (int k = 0; k < N_OWN; ++k) {
    free(own[k].values);
    free(same[k].values);
  }
  free(reference.values);
}

/* Is the set of this name wanted? Where none is named all are. */
static bool is_wanted(const char *name, int n, char **names) {
  bool is_any = true;
  for (int i = 0; i < n; ++i) {
    if (strcmp(names[i], "ida") == 0) continue;
    if (strcmp(names[i], name) == 0) return true;
    is_any = false;
  }
  return is_any;
}

int main(int argc, char **argv) {
  bool with_ida = false;
  for (int i = 1; i < argc; ++i) with_ida = with_ida || strcmp(argv[i], "ida") == 0;
  printf("%-6s %6s %-12s %8s %12s %12s %8s %8s %8s\n", "set", "t", "threads", "rtol", "error", "seconds", "steps",
         "one/this", "same/this");
  for (int i = 0; i < (bench_is_quick() ? N_QUICK : N_CASES); ++i) {
    if (is_wanted(cases[i].name, argc - 1, argv + 1))
      measure(&cases[i], bench_is_quick() ? cases[i].n_quick : cases[i].n, with_ida && cases[i].goal > 0.0);
  }
  return 0;
}
