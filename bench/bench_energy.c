/* The energy account by the clock: every example with a split, `energy: off` and `monitor` in turn, one thread, no files. Long runs are
 * cut short, and joints under step control have fixed steps, as in tests/verify/energy_cost.sh: with an account works are counted along the way and
 * states may be found otherwise (docs/step-control.md), which would compare two computations.
 * Time: of the steps alone, without set-up, in microseconds per macro step; the cost of the account is the ratio of the least times, of the
 * medians, and the median of the ratios of neighbours. `of a run`: the same ratio of the least times of runs with all that belongs to them but
 * the start of the program: model file, plan, set-up, steps, summary. Error: 0, an output at the end has the same bits in all runs.
 *   bench_energy [RUNS] [EXAMPLE ...]      RUNS of each kind: 15 */
#include "public.h"

enum { MOST_RUNS = 200, OFF = 0, MONITOR = 1 };

typedef struct energy_case {
  const char *example, *sets, *output;
} energy_case;

static const energy_case cases[] = {
    {"bouncing-contact", "t_end=0.3", "box.x"},
    {"cable-in-mbs", "t_end=0.02", "slider.x"},
    {"cable-on-mass", "t_end=0.02", "mass.x"},
    {"chain-asym", "t_end=0.1", "c.x[1]"},
    {"chain-conv", "t_end=0.1", "c.x[25]"},
    {"chain-imp-overlap", "t_end=1e-3", "c.x[100]"},
    {"chain-load", "t_end=1e-3", "c.x[1000]"},
    {"chain-m1", "", "c.x[1]"},
    {"chain-m2", "t_end=0.05", "c.x[1]"},
    {"chain-m3", "", "c.x[1]"},
    {"chain-rod", "t_end=2e-4", "c.x[50]"},
    {"chain-safe", "t_end=0.02", "c.x[75]"},
    {"crane", "t_end=0.02;cosimulation.step=1e-3", "trolley.x"},
    {"beam-slider-crank", "t_end=0.001;cosimulation.step=1e-4", "slider.x"},
    {"double-pendulum-flexible", "", "lower.angle"},
    {"double-pendulum", "cosimulation.step=1e-3", "lower.angle"},
    {"energy-oscillator", "", "m1.x"},
    {"four-bar-bushing", "", "bar4.angle"},
    {"four-bar-fixed", "t_end=0.2;cosimulation.step=1e-3", "bar4.angle"},
    {"four-bar-spatial", "t_end=0.3;cosimulation.step=1e-3", "bar4.q1"},
    {"haptic", "t_end=2", "device.x"},
    {"kinematic-two-mass", "", "r.x"},
    {"nonlinear-two-mass", "", "m1.x"},
    {"pendulum-cable", "t_end=0.2", "total.energy"},
    {"quarter-car", "", "body.x"},
    {"robot-arm-split", "", "fore.angle"},
    {"robot-arm", "", "fore.angle"},
    {"slider-crank-classic", "cosimulation.step=1e-3", "rod.angle"},
    {"slider-crank-flexible", "", "bar2.angle"},
    {"slider-crank", "cosimulation.step=1e-3", "bar2.angle"},
    {"two-mass-rigid", "", "m1.x"},
    {"two-mass", "", "m1.x"},
};

typedef struct energy_run {
  double  seconds, whole; /* of the steps, of all */
  double  value;
  int64_t steps;
} energy_run;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static energy_run run(const energy_case *one, int kind) {
  char model[80], text[BENCH_TEXT];
  snprintf(model, sizeof model, "examples/%s.yaml", one->example);
  const char       *list[BENCH_SETS];
  yoke_run_options  options = bench_options(model, one->sets, text, list);
  yoke_run_summary  summary = BENCH_EMPTY(yoke_run_summary);
  yoke_context     *ctx     = NULL;
  const yoke_choice energy  = {"energy", kind == MONITOR ? "monitor" : "off"};
  options.no_predict        = false; /* as the program runs */
  options.n_choices         = 1;
  options.choices           = &energy;
  options.n_print           = 1;
  options.print             = &one->output;
  const double start        = now();
  bench_need(yoke_context_create(&ctx), ctx, one->example);
  bench_need(yoke_run(ctx, &options, &summary), ctx, one->example);
  const energy_run out = {summary.wall_time, now() - start, summary.print_values[0], summary.macro_steps};
  yoke_run_summary_release(&summary);
  yoke_context_destroy(&ctx);
  return out;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(int n, double *list) {
  qsort(list, (size_t)n, sizeof *list, by_size);
  return 0.5 * (list[(n - 1) / 2] + list[n / 2]);
}

static double per_cent(double with, double without) {
  return 100.0 * (with / without - 1.0);
}

static void measure(const energy_case *one, int n) {
  double  seconds[2][MOST_RUNS], pairs[MOST_RUNS], whole[2] = {(double)INFINITY, (double)INFINITY}, error = 0.0;
  int64_t steps = 1;
  for (int i = 0; i < n; ++i) {
    energy_run runs[2];
    for (int k = 0; k < 2; ++k) { /* who begins is behind in every second pair */
      const int kind = (i + k) % 2;
      runs[kind]     = run(one, kind);
    }
    for (int kind = 0; kind < 2; ++kind) {
      seconds[kind][i] = runs[kind].seconds;
      whole[kind]      = fmin(whole[kind], runs[kind].whole);
    }
    pairs[i] = runs[MONITOR].seconds / runs[OFF].seconds;
    error    = fmax(error, fabs(runs[MONITOR].value - runs[OFF].value));
    steps    = runs[OFF].steps;
  }
  const double middle[2] = {median(n, seconds[OFF]), median(n, seconds[MONITOR])}; /* sorted: the least comes first */
  const double least[2] = {seconds[OFF][0], seconds[MONITOR][0]}, per_step = 1e6 / (double)steps;
  printf("%-26s %8lld %10.3f %10.3f %9.2f %9.2f %9.2f %9.2f %9.1e\n", one->example, (long long)steps,
         per_step * least[OFF], per_step * least[MONITOR], per_cent(least[MONITOR], least[OFF]),
         per_cent(middle[MONITOR], middle[OFF]), per_cent(median(n, pairs), 1.0), per_cent(whole[MONITOR], whole[OFF]),
         error);
  fflush(stdout);
  bench_figure(least[MONITOR] / least[OFF], "", error, "energy account, %s", one->example);
}

static bool is_wanted(const char *example, int n, char *const *list) {
  for (int i = 0; i < n; ++i) {
    if (strcmp(list[i], example) == 0) return true;
  }
  return n == 0;
}

int main(int argc, char **argv) {
  const int given = argc > 1 ? atoi(argv[1]) : 0, from = given > 0 ? 2 : 1;
  const int n = given > MOST_RUNS ? MOST_RUNS : given > 0 ? given : bench_is_quick() ? 5 : 15;
  printf("energy account, one thread, %d runs each way in turn; microseconds per macro step, cost in per cent\n", n);
  printf("%-26s %8s %10s %10s %9s %9s %9s %9s %9s\n", "example", "steps", "off", "monitor", "least", "median",
         "of pairs", "of a run", "error");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (is_wanted(cases[i].example, argc - from, argv + from)) measure(&cases[i], n);
  }
  return 0;
}
