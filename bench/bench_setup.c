/* Set-up, one thread: reading, assembling and splitting a model, without a step. The fastest of at least five.
 *
 * Large chains: set-up until the first step could begin, the run to t = 1e-5 s, peak memory, and the exponents p of n^p from the smallest size on; of
 * peak memory what comes on top of that of 10^4 masses, one subsystem, counts. Step control takes the shorter steps the more couplings there are, because it looks
 * at the worst of them: beside the exponent of the run stands that of its right-hand sides, counted in masses, which does not depend on the machine. Each run is a process of its own; 10^7 masses are left out with --quick. */
#include "public.h"

#ifdef YOKE_SIMULATION_H
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

typedef struct setup_case {
  const char *name, *model, *sets;
} setup_case;

static const setup_case cases[] = {
    {"squeezer", "examples/squeezer.yaml", ""},
    {"four-bar linkages, N = 20", "examples/n-four-bar.yaml", "parameters.N=20"},
    {"pendulum chain, 300 rods", "examples/pendulum-chain.yaml", "parameters.N=300"},
    {"spatial four-bar, two parts", "examples/four-bar-spatial.yaml", ""},
    {"pendulum chain, 20 rods in two parts", "examples/pendulum-chain.yaml",
     "parameters.N=20;split.a=[\"rod[1..10]\"];split.b=[\"rod[11..20]\"];cosimulation.step=1e-3"},
    {"chain of 20000 masses", "examples/chain-imp.yaml", "parameters.n=20000"},
    {"chain of 20000 masses, ten parts", "examples/chain-load.yaml", "parameters.n=20000"},
};

/* Freedoms of the model, which tell that it was understood. */
static int set_up(const setup_case *one) {
  char                   text[BENCH_TEXT];
  const char            *list[BENCH_SETS];
  const yoke_run_options options = bench_options(one->model, one->sets, text, list);
  yoke_model_facts       facts   = BENCH_EMPTY(yoke_model_facts);
  yoke_context          *ctx     = NULL;
  bench_need(yoke_context_create(&ctx), ctx, one->name);
#ifdef YOKE_INSPECT_H
  yoke_inspection *inspection = NULL;
  bench_need(yoke_model_inspect(ctx, &options, &inspection), ctx, one->name);
  bench_need(yoke_inspection_facts_get(ctx, inspection, &facts), ctx, one->name);
  const int n_freedoms = facts.n_freedoms;
  yoke_inspection_destroy(&inspection);
#else
  bench_need(yoke_model_inspect(ctx, &options, &facts), ctx, one->name);
  const int n_freedoms = facts.n_freedoms;
  yoke_model_facts_release(&facts);
#endif
  yoke_context_destroy(&ctx);
  return n_freedoms;
}

#ifdef YOKE_SIMULATION_H

/* ---- large chains ---- */

enum { PART = 10000 /* masses of a subsystem */, LARGE_REPEATS = 3, SMALLEST = 100000, LARGEST = 10000000 };
static const double T_END = 1e-5; /* [s] */

typedef struct large_run {
  double setup, run; /* processor time [s] */
  double work;       /* right-hand sides of all integrations, of one mass each */
  double peak;       /* [bytes] */
} large_run;

static large_run run_large_here(int n, bool is_split) {
  char                          masses[40], split[40];
  const char                   *sets[]     = {masses, split};
  const yoke_choice             choices[]  = {{"scheme", "explicit"}, {"step", "auto"}};
  yoke_load_options             load       = {.size = sizeof load, .n_sets = is_split ? 2 : 1, .sets = sets};
  const yoke_simulation_options options    = {.size       = sizeof options,
                                              .no_predict = true,
                                              .exec       = "serial",
                                              .threads    = 1,
                                              .n_choices  = is_split ? 2 : 0,
                                              .choices    = choices};
  yoke_context                 *ctx        = NULL;
  yoke_model                   *model      = NULL;
  yoke_simulation              *simulation = NULL;
  large_run                     out        = {0};
  snprintf(masses, sizeof masses, "parameters.n=%d", n);
  snprintf(split, sizeof split, "split.c=%d", n > PART ? n / PART : 1);
  bench_need(yoke_context_create(&ctx), ctx, "large chain");
  const double start = bench_now();
  bench_need(yoke_model_load(ctx, "examples/chain-imp.yaml", &load, &model), ctx, "large chain");
  bench_need(yoke_simulation_create(ctx, model, &options, &simulation), ctx, "large chain");
  yoke_model_destroy(&model);
  out.setup = bench_now() - start;
  bench_need(yoke_simulation_run_to(ctx, simulation, T_END), ctx, "large chain");
  out.run                               = bench_now() - start - out.setup;
  yoke_simulation_statistics statistics = BENCH_EMPTY(yoke_simulation_statistics);
  bench_need(yoke_simulation_statistics_get(ctx, simulation, &statistics), ctx, "large chain");
  const int parts = is_split && n > PART ? n / PART : 1;
  out.work        = (double)(is_split ? statistics.all_evaluations : statistics.evaluations) * n / parts;
  yoke_simulation_destroy(&simulation);
  yoke_context_destroy(&ctx);
  return out;
}

static large_run run_large(int n, bool is_split) {
  int           ends[2], status = 0;
  struct rusage usage;
  large_run     out = {0};
  if (pipe(ends) != 0) exit(7);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    out = run_large_here(n, is_split);
    _exit(write(ends[1], &out, sizeof out) == (ssize_t)sizeof out ? 0 : 7);
  }
  close(ends[1]);
  const bool is_told = read(ends[0], &out, sizeof out) == (ssize_t)sizeof out;
  close(ends[0]);
  if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0 ||
      !is_told)
    exit(7);
  out.peak = 1024.0 * (double)usage.ru_maxrss;
  return out;
}

/* p of n^p, from `small` at SMALLEST to `large` at n; sizes less `base`. */
static double exponent(double small, double large, int n, int base) {
  return log(large / small) / log((double)(n - base) / (double)(SMALLEST - base));
}

static void show_large(bool is_split) {
  const char  *what  = is_split ? "subsystems of 10000 masses" : "as a whole";
  const double base  = run_large(PART, is_split).peak;
  const int    most  = bench_is_quick() ? LARGEST / 10 : LARGEST;
  large_run    first = {0};
  printf("\nchain under impulses to t = %g s, %s\n%12s %12s %12s %12s %12s %12s %8s %8s %8s %8s\n", T_END, what,
         "masses", "set-up [s]", "run [s]", "ns per f", "peak [MB]", "bytes/mass", "p set-up", "p run", "p work",
         "p peak");
  for (int n = SMALLEST; n <= most; n *= 10) {
    large_run best = run_large(n, is_split);
    for (int k = 1; n < LARGEST && k < LARGE_REPEATS; ++k) {
      const large_run one = run_large(n, is_split);
      best.setup          = fmin(best.setup, one.setup);
      best.run            = fmin(best.run, one.run);
      best.peak           = fmin(best.peak, one.peak);
    }
    if (n == SMALLEST) first = best;
    printf("%12d %12.3f %12.3f %12.3f %12.1f %12.1f", n, best.setup, best.run, 1e9 * best.run / best.work,
           best.peak / 1e6, (best.peak - base) / (n - PART));
    if (n > SMALLEST)
      printf(" %8.2f %8.2f %8.2f %8.2f", exponent(first.setup, best.setup, n, 0), exponent(first.run, best.run, n, 0),
             exponent(first.work, best.work, n, 0), exponent(first.peak - base, best.peak - base, n, PART));
    printf("\n");
    bench_figure(best.setup, "s", (double)NAN, "set-up, chain of %d masses, %s", n, what);
    bench_figure(best.run, "s", (double)NAN, "run, chain of %d masses, %s", n, what);
    bench_figure(best.peak / 1e6, "MB", (double)NAN, "peak memory, chain of %d masses, %s", n, what);
  }
}
#endif

int main(void) {
#ifdef YOKE_SIMULATION_H
  show_large(false); /* first: processes begin with the memory of this one */
  show_large(true);
  printf("\n");
#endif
  printf("set-up\n%-44s %12s %12s %8s\n", "what", "seconds", "freedoms", "repeats");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    double best = (double)INFINITY, total = 0.0;
    int    n = 0, n_freedoms = 0;
    for (; n < BENCH_LEAST || (n < BENCH_MOST && total < bench_budget()); ++n) {
      const double start = bench_now();
      n_freedoms         = set_up(&cases[i]);
      const double used  = bench_now() - start;
      best               = fmin(best, used);
      total += used;
    }
    printf("%-44s %12.6f %12d %8d\n", cases[i].name, best, n_freedoms, n);
    fflush(stdout);
    bench_figure(best, "s", (double)NAN, "set-up, %s", cases[i].name);
  }
  return 0;
}
