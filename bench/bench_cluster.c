/* The published cluster cases on this machine: chains as a whole and split, against IDA with KLU as a whole (rtol 1e-6). Times are those of the clock, without set-up,
 * the least of some. Error: NRMSE(x) + NRMSE(v) at the end against dop853 (rtol 1e-12 but for TOL1 and STIFF). Of every variant the loosest of its tolerances counts
 * whose error is no larger than that of IDA, or than 1e-4 in other cases than IMP and IMP-M; or the most accurate one where there is none (marked !).
 *   ida/this     against the baseline; of the first row (one thread, as a whole) it is the gain of the solver
 *   equal        against IDA at the error of the row: its times at rtol 1e-4, 1e-5 and 1e-6, interpolated (no looser than the first)
 *   one/this     gain of threads and coupling: against our own fastest run as a whole with one thread
 *   same/this    gain of the coupling: against our own fastest run as a whole with the same number of threads
 * usage: bench_cluster [CASE ...] [PATH=VALUE ...], the latter for all runs; --quick of bench/run: some, shorter, without IDA, at an error of 1e-4. */
#include "bench.h"

#include <strings.h>

enum { MOST_VARIANTS = 16, MOST_SETS = 24, TEXT = 4000, REPEATS = 3 };

static const double quick_error = 1e-4, tightest = 1e-9, patience = 40.0 /* s: no tighter run behind a longer one */;
/* Tolerance of parts with contacts, which rule the error, over that of the others: those called left and right. */
static const double share_of_ends = 1e-2;

typedef struct variant {
  const char *name;
  int         threads;
  const char *sets;  /* parted by ';'; NULL: none */
  const char *step;  /* of a split: what stands behind rtol in cosimulation.step; NULL: as a whole */
  double      first; /* loosest tolerance of macro steps, or of the solver as a whole */
  double      micro; /* of a split: tolerance of the solvers over that of macro steps */
} variant;

typedef struct cluster_case {
  const char *name, *model, *sets, *quick; /* sets of all runs, and those of a short one besides; NULL: there is none */
  double      exact;                       /* tolerance of the reference */
  double      enough;                      /* error that is small enough, though that of IDA be smaller */
  variant     variants[MOST_VARIANTS];     /* up to the first without a name; as a whole with one thread first */
} cluster_case;

#define CV ", estimator: cv"
#define MD ", estimator: md"
#define EXPLICIT "cosimulation.scheme=explicit;"
#define IMPLICIT "cosimulation.scheme=implicit;"
/* Its matrix lives on from step to step: columns of all parts are made for one step in three, or less. */
#define BROYDEN IMPLICIT "cosimulation.jacobian=broyden;"
/* Copies of the motion instead of forces: a stiff damper that is cut is integrated on both sides, by solvers that know it. */
#define COPIES "cosimulation.couplings.decomposition=displacement/displacement;"
/* Where stability holds macro steps, those of values that run on straight are longer than those of parabolas, which are as accurate at shorter ones. */
#define STRAIGHT "cosimulation.order=1;"
#define ACCELERATIONS EXPLICIT "cosimulation.predictor=acceleration;"
#define OVERLAP EXPLICIT "cosimulation.couplings.formulation=overlap;"
#define DENSE "solvers.default.linear=dense;"
/* 80 masses around each pair of loads, which need the shortest steps, are a part of their own, and the stretches between them two each. */
#define NARROW(k) ", n" #k ": [\"c[" #k "*part - 39.." #k "*part + 40]\"]"
#define WIDE(k, from, to)                                                                                              \
  "a" #k ": [\"c[" from ".." #k "*part + floor(part/2)]\"], "                                                          \
  "b" #k ": [\"c[" #k "*part + floor(part/2) + 1.." to "]\"]"
#define INNER(k, next) NARROW(k) ", " WIDE(k, #k "*part + 41", #next "*part - 40")
#define NARROW_AT_LOADS(first, last)                                                                                   \
  WIDE(0, first, "part - 40")                                                                                          \
  INNER(1, 2)                                                                                                          \
  INNER(2, 3)                                                                                                          \
  INNER(3, 4) INNER(4, 5) INNER(5, 6) INNER(6, 7) INNER(7, 8) INNER(8, 9) NARROW(9) ", " WIDE(9, "9*part + 41", last)
/* The first two of every case. */
#define AS_A_WHOLE                                                                                                     \
  {"as a whole", 1, NULL, NULL, 1e-3, 0}, {                                                                            \
    "as a whole", 2, NULL, NULL, 1e-3, 0                                                                               \
  }

static const cluster_case cases[] = {
    {"IMP",
     "examples/chain-imp.yaml",
     "parameters.n=10000;t_end=2e-3",
     "t_end=5e-5",
     1e-12,
     0.0,
     {AS_A_WHOLE,
      {"10 parts, cut at the loads", 2, EXPLICIT "split.c=10", CV, 1e-2, 1e-2},
      {"10 parts, accelerations", 2, ACCELERATIONS "split.c=10", CV, 1e-2, 1e-2},
      {"10 parts, cut at the loads, overlap", 2, OVERLAP "split.c=10", "", 1e-2, 1e-1},
      {"21 parts, cut elsewhere", 2, EXPLICIT "split.c=21", CV, 1e-2, 1e-2},
      {"21 parts, accelerations", 2, ACCELERATIONS "split.c=21", CV, 1e-2, 1e-2},
      {"41 parts, accelerations", 2, ACCELERATIONS "split.c=41", CV, 1e-2, 1e-2},
      {"41 parts, overlap", 2, OVERLAP "split.c=41", "", 1e-2, 1e-1},
      {"29 parts, narrow at loads, overlap", 2, OVERLAP "split={" NARROW_AT_LOADS("1", "n") "}", "", 1e-2, 1e-1}}},
    {"IMP-M",
     "bench/cluster/imp-m.yaml",
     "parameters.n=10000;t_end=2e-3",
     NULL,
     1e-12,
     0.0,
     {AS_A_WHOLE,
      {"13 parts", 2, EXPLICIT, CV, 1e-2, 1e-2},
      {"13 parts, accelerations", 2, ACCELERATIONS, CV, 1e-2, 1e-2},
      {"13 parts, overlap", 2, OVERLAP, "", 1e-2, 1e-1},
      {"31 parts, narrow at loads, overlap", 2,
       OVERLAP "split={left: [\"c[1..25]\"], " NARROW_AT_LOADS("26", "n - 25") ", right: [\"c[n - 24..n]\"]}", "", 1e-2,
       1e-1}}},
    {"TOL1",
     "bench/cluster/tol1.yaml",
     "t_end=2e-4",
     NULL,
     1e-9,
     1e-4, /* below lies rounding of the forces, which are stiff */
     {AS_A_WHOLE,
      {"5 parts, explicit", 2, EXPLICIT, CV, 1e-2, 1e-2},
      {"5 parts, implicit", 2, BROYDEN, CV, 1e-2, 1e-2},
      {"100 parts, explicit", 2, EXPLICIT STRAIGHT "split.c=100", CV, 1e-2, 1e-2},
      {"100 parts, implicit", 2, BROYDEN "split.c=100", CV, 1e-2, 1e-2},
      {"5 parts, overlap", 2, OVERLAP, "", 1e-2, 1e-1},
      {"100 parts, overlap", 2, OVERLAP "split.c=100", "", 1e-2, 1e-1}}},
    {"TOL2",
     "bench/cluster/tol2.yaml",
     "parameters.k=10;t_end=5e-3",
     "parameters.k=1;t_end=1e-3",
     1e-12,
     1e-4,
     {AS_A_WHOLE,
      {"11 parts, explicit", 2, EXPLICIT, CV, 1e-2, 1e-2},
      {"11 parts, implicit", 2, IMPLICIT, CV, 1e-2, 1e-2},
      {"a mass shifted over each cut, explicit", 2, EXPLICIT "parameters.shift=1", CV, 1e-2, 1e-2},
      {"a mass shifted over each cut, implicit", 2, IMPLICIT "parameters.shift=1", CV, 1e-2, 1e-2},
      {"11 parts, overlap", 2, OVERLAP, "", 1e-2, 1e-1}}},
    {"DENSE",
     "bench/cluster/dense.yaml",
     "parameters.n=1000", /* to 1 s, as published: to 5e-3 s no load acts yet */
     NULL,
     1e-12,
     1e-4,
     {AS_A_WHOLE,
      {"10 parts, explicit", 2, EXPLICIT, CV, 1e-3, 1e-2},
      {"10 parts, implicit, forces", 2, BROYDEN, CV, 3e-3, 1e-2},
      {"10 parts, implicit, copies", 2, BROYDEN COPIES, CV, 1e-2, 1e-2},
      {"10 parts, overlap", 2, OVERLAP, "", 1e-2, 1e-1}}},
    {"DENSE-D",
     "bench/cluster/dense.yaml",
     "parameters.n=1000;t_end=5e-3;solvers.default.kind=radau5",
     NULL,
     1e-12,
     1e-4,
     {{"as a whole, KLU", 1, NULL, NULL, 1e-4, 0},
      {"10 parts, implicit, copies, KLU", 2, BROYDEN COPIES, CV, 1e-2, 1e-1},
      {"10 parts, overlap, KLU", 2, OVERLAP, "", 1e-2, 1e-1},
      {"as a whole, dense", 1, DENSE, NULL, 1e-4, 0},
      {"10 parts, implicit, copies, dense", 2, DENSE BROYDEN COPIES, CV, 1e-2, 1e-1},
      {"10 parts, implicit, copies, dense, auto", 2, DENSE BROYDEN COPIES "solvers.default.kind=auto;", CV, 1e-2, 1e-1},
      {"10 parts, overlap, dense", 2, DENSE OVERLAP, "", 1e-2, 1e-1},
      {"50 parts, overlap, dense", 2, DENSE OVERLAP "split.c=50;", "", 1e-2, 1e-1}}},
    {"SAFE",
     "examples/chain-safe.yaml",
     "parameters.n=3000;t_end=2e-3;cosimulation.order=auto",
     "parameters.n=150",
     1e-12,
     1e-4,
     {AS_A_WHOLE,
      {"15 parts, explicit", 2, EXPLICIT, CV, 1e-2, 1e-2},
      {"15 parts, implicit", 2, IMPLICIT, CV, 1e-2, 1e-2},
      {"15 parts, overlap", 2, OVERLAP, "", 1e-2, 1e-1}}},
    {"STIFF",
     "bench/cluster/stiff.yaml",
     "parameters.n=15000;t_end=1e-4", /* as many masses as published; to 5e-5 s hardly a load acts */
     NULL,
     1e-10,
     1e-4,
     {AS_A_WHOLE,
      {"15 parts, explicit", 2, EXPLICIT, CV, 1e-2, 1e-2},
      {"15 parts, implicit", 2, BROYDEN, MD, 1e-2, 1e-2},
      {"15 parts, implicit, copies", 2, BROYDEN COPIES, CV, 1e-2, 1e-2},
      {"15 parts, overlap", 2, OVERLAP, "", 1e-2, 1e-1}}},
};

enum { N_CASES = (int)(sizeof cases / sizeof *cases) };

static char *const *arguments; /* of the program, behind its name; up to NULL */

/* ---- one run ---- */

typedef struct cluster_run {
  double  seconds, error; /* error is infinite where the run did not get to its end */
  double  rtol;
  int64_t n_macro, n_micro;
  int     n;
  double *values; /* [n] positions, then velocities */
} cluster_run;

typedef struct set_list {
  char        text[TEXT];
  size_t      length;
  int         n;
  const char *sets[MOST_SETS];
} set_list;

static void add_set(set_list *l, const char *set) {
  const size_t size = strlen(set) + 1;
  if (l->n == MOST_SETS || l->length + size > TEXT) {
    fprintf(stderr, "too many settings at '%s'\n", set);
    exit(1);
  }
  l->sets[l->n++] = memcpy(l->text + l->length, set, size);
  l->length += size;
}

/* Parted by ';'. */
static void add_sets(set_list *l, const char *sets) {
  while (sets != NULL && *sets != '\0') {
    const size_t length = strcspn(sets, ";");
    char         one[TEXT];
    snprintf(one, sizeof one, "%.*s", (int)length, sets);
    if (length > 0) add_set(l, one);
    sets += length + (sets[length] == ';');
  }
}

static double wall_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The values are the caller's to free. */
static cluster_run run_sets(const char *path, const set_list *sets, bool is_whole, int threads) {
  cluster_run               run     = {.error = 0.0};
  yoke_context             *ctx     = NULL;
  yoke_model               *model   = NULL;
  bench_whole               it      = {0};
  const yoke_load_options   load    = {.size = sizeof load, .n_sets = sets->n, .sets = sets->sets};
  const yoke_plan_options   plan    = {.is_whole = is_whole};
  const yoke_system_options options = {.threads = threads};
  if (yoke_context_create(&ctx) != YOKE_OK) exit(7);
  if (yoke_model_load(ctx, path, &load, &model) != YOKE_OK) bench_die(ctx, path);
  if (yoke_plan_create(ctx, model, &plan, &it.plan) != YOKE_OK) bench_die(ctx, path);
  if (yoke_system_create(ctx, it.plan, &options, &it.system) != YOKE_OK) bench_die(ctx, path);
  run.n      = it.plan->outputs.n;
  run.values = calloc((size_t)run.n + 1, sizeof *run.values);
  if (run.values == NULL) exit(7);
  bench_last          last = {run.n, run.values};
  const yoke_sink     sink = {.user = &last, .sample = bench_keep};
  yoke_system_summary summary;
  const double        start = wall_clock();
  if (yoke_system_run(it.system, it.plan->t_end, &sink, &summary, ctx) != YOKE_OK) run.error = (double)INFINITY;
  run.seconds = wall_clock() - start;
  run.n_macro = summary.macro.steps;
  run.n_micro = summary.counters.steps;
  bench_end(&it);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return run;
}

static void begin_sets(const cluster_case *c, const char *sets, set_list *l) {
  l->n      = 0;
  l->length = 0;
  add_sets(l, c->sets);
  if (bench_is_quick()) add_sets(l, c->quick);
  for (char *const *a = arguments; *a != NULL; ++a) {
    if (strchr(*a, '=') != NULL) add_set(l, *a);
  }
  add_sets(l, "output.every=1000;output.select=[\"c.x[*]\", \"c.v[*]\"]");
  add_sets(l, sets);
}

/* IDA from loose to the baseline, which is the last. */
enum { N_IDA = 3 };
static const double ida_rtol[N_IDA] = {1e-4, 1e-5, 1e-6};

/* As a whole by one method. */
static cluster_run run_method(const cluster_case *c, const char *kind, double rtol) {
  char     text[80];
  set_list l;
  begin_sets(c, NULL, &l);
  snprintf(text, sizeof text, "solvers.default.kind=%s;solvers.default.rtol=%g", kind, rtol);
  add_sets(&l, text);
  cluster_run run = run_sets(c->model, &l, true, 1);
  run.rtol        = rtol;
  return run;
}

static cluster_run run_variant(const cluster_case *c, const variant *v, double rtol, const cluster_run *exact) {
  char       text[160];
  set_list   l;
  const bool is_whole = v->step == NULL, has_ends = v->sets != NULL && strstr(v->sets, "left:") != NULL;
  begin_sets(c, v->sets, &l);
  snprintf(text, sizeof text, "solvers.default.rtol=%g", is_whole ? rtol : v->micro * rtol);
  add_set(&l, text);
  if (!is_whole) {
    snprintf(text, sizeof text, "cosimulation.step={rtol: %g%s}", rtol, v->step);
    add_set(&l, text);
    add_set(&l, "cosimulation.monitor=off");
    for (int end = 0; has_ends && end < 2; ++end) {
      snprintf(text, sizeof text, "solvers.%s.rtol=%g", end == 0 ? "left" : "right", share_of_ends * v->micro * rtol);
      add_set(&l, text);
    }
  }
  cluster_run run = run_sets(c->model, &l, is_whole, v->threads);
  run.rtol        = rtol;
  run.error       = fmax(run.error, bench_nrmse_of(run.values, exact->values, run.n));
  return run;
}

/* ---- tables ---- */

/* The loosest tolerance, in steps of the root of ten, with an error no larger than `error`; the most accurate one where there is none. */
static cluster_run find(const cluster_case *c, const variant *v, double error, const cluster_run *exact) {
  cluster_run best = {.error = (double)INFINITY};
  for (double rtol = v->first; rtol > 0.99 * tightest; rtol *= 0.316227766) {
    cluster_run  run     = run_variant(c, v, rtol, exact);
    const double seconds = run.seconds;
    free(best.error > run.error || best.values == NULL ? best.values : run.values);
    if (best.error > run.error || best.values == NULL) best = run;
    if (best.error <= error || seconds > patience) break;
  }
  return best;
}

static void repeat(const cluster_case *c, const variant *v, cluster_run *best, const cluster_run *exact) {
  for (int i = 1; i < REPEATS && best->seconds < patience / REPEATS; ++i) {
    cluster_run run = run_variant(c, v, best->rtol, exact);
    best->seconds   = fmin(best->seconds, run.seconds);
    free(run.values);
  }
}

static void print_ratio(double a, double b) {
  if (a > 0.0)
    printf(" %9.2f", a / b);
  else
    printf(" %9s", "-");
}

/* Time and error at a tolerance; the run itself, without its values, goes to `last`. */
static bench_run run_ida(const cluster_case *c, double rtol, const cluster_run *exact, cluster_run *last) {
  const bool is_baseline = rtol <= ida_rtol[N_IDA - 1];
  double     seconds     = (double)INFINITY;
  for (int i = 0; i < (!is_baseline ? 1 : seconds < patience / REPEATS ? REPEATS : 2); ++i) {
    *last       = run_method(c, "ida", rtol);
    last->error = fmax(last->error, bench_nrmse_of(last->values, exact->values, last->n));
    seconds = last->seconds = fmin(seconds, last->seconds);
    free(last->values);
  }
  return (bench_run){.seconds = seconds, .error = last->error};
}

static void show(const cluster_case *c) {
  const bool  has_ida      = !bench_is_quick() && BENCH_HAS_IDA;
  double      whole[3]     = {0.0, 0.0, 0.0}; /* fastest as a whole by number of threads */
  cluster_run exact        = run_method(c, "dop853", c->exact);
  cluster_run ida          = {.error = quick_error};
  bench_run   loose[N_IDA] = {0};
  double      wanted       = quick_error;
  printf("\n%s: %d masses\n%-40s %7s %8s %9s   %11s %9s %9s %9s %9s %9s %9s\n", c->name, exact.n / 2, "variant",
         "threads", "rtol", "error", "seconds", "macro", "micro", "ida/this", "equal", "one/this", "same/this");
  fflush(stdout);
  if (has_ida) {
    for (int k = 0; k < N_IDA; ++k) loose[k] = run_ida(c, ida_rtol[k], &exact, &ida);
    printf("%-40s %7d %8.1e %9.1e   %11.4g %9s %9lld\n", "ida, as a whole", 1, ida.rtol, ida.error, ida.seconds, "-",
           (long long)ida.n_micro);
    bench_figure(ida.seconds, "s", ida.error, "cluster %s, ida", c->name);
    wanted = fmax(ida.error, c->enough);
  }
  for (const variant *v = c->variants; v < c->variants + MOST_VARIANTS && v->name != NULL; ++v) {
    cluster_run best = find(c, v, wanted, &exact);
    repeat(c, v, &best, &exact);
    const bool is_good = best.error <= wanted;
    double    *least   = &whole[v->threads];
    if (v->step == NULL && is_good && (*least == 0.0 || best.seconds < *least)) *least = best.seconds;
    printf("%-40s %7d %8.1e %9.1e %c %11.4g", v->name, v->threads, best.rtol, best.error, is_good ? ' ' : '!',
           best.seconds);
    if (v->step != NULL)
      printf(" %9lld", (long long)best.n_macro);
    else
      printf(" %9s", "-");
    printf(" %9lld", (long long)best.n_micro);
    print_ratio(ida.seconds, best.seconds);
    print_ratio(has_ida ? bench_time_at(loose, N_IDA, fmin(best.error, loose[0].error)) : 0.0, best.seconds);
    print_ratio(whole[1], best.seconds);
    print_ratio(whole[v->threads], best.seconds);
    printf("\n");
    fflush(stdout);
    bench_figure(best.seconds, "s", best.error, "cluster %s, %s, %d threads", c->name, v->name, v->threads);
    free(best.values);
  }
  free(exact.values);
}

static bool is_asked_for(const cluster_case *c) {
  bool has_names = false;
  for (char *const *a = arguments; *a != NULL; ++a) {
    if (strchr(*a, '=') != NULL) continue;
    has_names = true;
    if (strcasecmp(*a, c->name) == 0) return true;
  }
  return !has_names;
}

int main(int n, char **list) {
  (void)n;
  arguments = list + 1;
  for (int i = 0; i < N_CASES; ++i) {
    if (is_asked_for(&cases[i]) && !(bench_is_quick() && cases[i].quick == NULL)) show(&cases[i]);
  }
  return 0;
}
