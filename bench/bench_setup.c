/* Set-up, one thread: reading, assembling and splitting a model, without a step. The fastest of at least five.
 *
 * Large chains: set-up until the first step could begin, the run to t = 1e-5 s, peak memory, and the exponents p of n^p from the smallest size on; of
 * peak memory what comes on top of that of 10^4 masses, one subsystem, counts. Halos are as wide for any number of couplings; steps with extrapolated forces become
 * shorter with more couplings, because step control looks at the worst of them: beside the exponent of the run stands that of its right-hand sides, counted in
 * masses, which does not depend on the machine. Each run is a process of its own; 10^7 masses are left out with --quick.
 * usage: bench_setup [whole | overlap | explicit]; one kind of large chains alone */
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

enum {
  PART          = 10000 /* masses of a subsystem */,
  LARGE_REPEATS = 5,
  SMALLEST      = 100000,
  LARGEST       = 10000000,
  N_CHOICES     = 2
};
static const double T_END = 1e-5; /* [s] */

typedef struct large_kind {
  const char *name, *what;
  bool        is_split;
  int         most; /* masses */
  yoke_choice choices[N_CHOICES];
} large_kind;

/* The whole comes first: processes begin with the memory of this one. */
static const large_kind kinds[] = {
    {.name = "whole", .what = "as a whole", .most = LARGEST},
    {.name     = "overlap",
     .what     = "subsystems of 10000 masses with halos (overlap)",
     .is_split = true,
     .most     = LARGEST,
     .choices  = {{"formulation", "overlap"}, {"step", "auto"}}},
    {.name     = "explicit",
     .what     = "subsystems of 10000 masses, forces extrapolated (explicit)",
     .is_split = true,
     .most     = LARGEST / 10,
     .choices  = {{"scheme", "explicit"}, {"step", "auto"}}},
};

typedef struct large_run {
  double setup, run; /* processor time [s] */
  double work;       /* right-hand sides of all integrations, of one mass each */
  double peak;       /* [bytes] */
} large_run;

static large_run run_large_here(int n, const large_kind *kind, double t_end) {
  char                          masses[40], split[40];
  const char                   *sets[]     = {masses, split};
  const bool                    is_split   = kind->is_split;
  yoke_load_options             load       = {.size = sizeof load, .n_sets = is_split ? 2 : 1, .sets = sets};
  const yoke_simulation_options options    = {.size       = sizeof options,
                                              .no_predict = true,
                                              .exec       = "serial",
                                              .threads    = 1,
                                              .n_choices  = is_split ? N_CHOICES : 0,
                                              .choices    = kind->choices};
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
  if (t_end > 0.0) bench_need(yoke_simulation_run_to(ctx, simulation, t_end), ctx, "large chain");
  out.run                               = bench_now() - start - out.setup;
  yoke_simulation_statistics statistics = BENCH_EMPTY(yoke_simulation_statistics);
  bench_need(yoke_simulation_statistics_get(ctx, simulation, &statistics), ctx, "large chain");
  const int parts = is_split && n > PART ? n / PART : 1;
  out.work        = (double)(is_split ? statistics.all_evaluations : statistics.evaluations) * n / parts;
  yoke_simulation_destroy(&simulation);
  yoke_context_destroy(&ctx);
  return out;
}

static large_run run_large(int n, const large_kind *kind, double t_end) {
  int           ends[2], status = 0;
  struct rusage usage;
  large_run     out = {0};
  if (pipe(ends) != 0) exit(7);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    out = run_large_here(n, kind, t_end);
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

static void show_large(const large_kind *kind) {
  const char  *what  = kind->what;
  const double base  = run_large(PART, kind, T_END).peak;
  const int    most  = bench_is_quick() ? LARGEST / 10 : kind->most;
  large_run    first = {0};
  printf("\nchain under impulses to t = %g s, %s\n%12s %12s %12s %12s %12s %12s %8s %8s %8s %8s\n", T_END, what,
         "masses", "set-up [s]", "run [s]", "ns per f", "peak [MB]", "bytes/mass", "p set-up", "p run", "p work",
         "p peak");
  for (int n = SMALLEST; n <= most; n *= 10) {
    large_run best = run_large(n, kind, T_END);
    for (int k = 1; k < LARGE_REPEATS; ++k) { /* of the largest the set-up alone, which new pages make differ most */
      const bool      is_whole = n < LARGEST;
      const large_run one      = run_large(n, kind, is_whole ? T_END : 0.0);
      best.setup               = fmin(best.setup, one.setup);
      if (!is_whole) continue;
      best.run  = fmin(best.run, one.run);
      best.peak = fmin(best.peak, one.peak);
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

int main(int argc, char **argv) {
#ifdef YOKE_SIMULATION_H
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (argc < 2 || strcmp(argv[1], kinds[i].name) == 0) show_large(&kinds[i]);
  printf("\n");
#endif
  if (argc > 1) return 0;
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
