/* Many subsystems: a chain with ten masses per part, one thread. Time of a macro step per subsystem, from runs of two lengths so that the
 * set-up drops out, and of the set-up per subsystem; with 1000 parts (quick: 100) against 10 the ratio is what the number of subsystems
 * costs beyond their work. Master: what a macro step takes besides the steps of the solvers, by the shares that the run tells. Error: of the first mass at the end against the whole model with dop853 at rtol 1e-12, relative. */
#include "public.h"

enum { SHORT = 10, LONG = 60 };    /* macro steps */
enum { RUNS = 5000, FEWEST = 10 }; /* subsystems in the repeats of a run: short runs are repeated more often */

typedef struct parts_case {
  const char *name, *sets;
} parts_case;

static const parts_case cases[] = {
    {"explicit", "cosimulation.scheme=explicit"},
    {"explicit, accelerations", "cosimulation.scheme=explicit;cosimulation.predictor=acceleration"},
    {"explicit, gauss-seidel", "cosimulation.scheme=explicit;cosimulation.sequence=gauss-seidel"},
    {"semi-implicit", "cosimulation.scheme=semi-implicit"},
};

typedef struct parts_run {
  double seconds, value;
  double solver; /* seconds of it in steps of solvers */
} parts_run;

/* Short runs are timed now and then: the mean share of all repeats is meant. */
static double solver_share(const yoke_time_shares *x) {
  return x->solver / (x->solver + x->save + x->exchange + x->master + x->output + x->idle);
}

/* Set-up and `steps` macro steps, the fastest of some. */
static parts_run run(const parts_case *one, int parts, int steps, bool is_reference) {
  char                     sets[400], text[BENCH_TEXT];
  const char              *list[BENCH_SETS], *output = "c.x[1]";
  static const yoke_choice exact[] = {{"solver", "dop853"}, {"rtol", "1e-12"}, {"atol", "1e-15"}};
  parts_run                best    = {.seconds = (double)INFINITY};
  snprintf(sets, sizeof sets, "parameters.n=%d;split.c=%d;output.select=[\"c.x[1]\"];output.every=1;t_end=%de-7;%s",
           10 * parts, parts, steps, one->sets);
  const int repeats = is_reference ? 1 : parts * FEWEST > RUNS ? FEWEST : RUNS / parts;
  double    share   = 0.0;
  for (int i = 0; i < repeats; ++i) {
    yoke_run_options options = bench_options("examples/chain-load.yaml", sets, text, list);
    yoke_run_summary summary = BENCH_EMPTY(yoke_run_summary);
    yoke_context    *ctx     = NULL;
    options.n_print          = 1;
    options.print            = &output;
    options.monolithic       = is_reference;
    options.n_choices        = is_reference ? 3 : 0;
    options.choices          = exact;
    const double start       = bench_now();
    bench_need(yoke_context_create(&ctx), ctx, one->name);
    bench_need(yoke_run(ctx, &options, &summary), ctx, one->name);
    best.seconds = fmin(best.seconds, bench_now() - start);
    best.value   = summary.print_values[0];
    share += solver_share(&summary.times) / repeats;
    yoke_run_summary_release(&summary);
    yoke_context_destroy(&ctx);
  }
  best.solver = share * best.seconds;
  return best;
}

int main(void) {
  const int most = bench_is_quick() ? 100 : 1000;
  printf("ten masses per part, one thread: seconds per macro step and subsystem, set-up per subsystem\n");
  printf("%-24s %8s %14s %14s %14s %8s %12s\n", "scheme", "parts", "step", "of it master", "set-up", "ratio", "error");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    double few = 0.0;
    for (int parts = 10; parts <= most; parts *= 10) {
      const parts_run brief = run(&cases[i], parts, SHORT, false), whole = run(&cases[i], parts, LONG, false);
      const double    exact  = run(&cases[i], parts, LONG, true).value;
      const double    step   = (whole.seconds - brief.seconds) / (double)((LONG - SHORT) * parts);
      const double    master = step - (whole.solver - brief.solver) / (double)((LONG - SHORT) * parts);
      const double    setup  = brief.seconds / (double)parts - SHORT * step;
      const double    error  = fabs(whole.value - exact) / fabs(exact);
      if (parts == 10) few = step;
      printf("%-24s %8d %14.3e %14.3e %14.3e %8.2f %12.1e\n", cases[i].name, parts, step, master, setup, step / few,
             error);
      fflush(stdout);
      bench_figure(step, "s", error, "parts, %s, %d: macro step per subsystem", cases[i].name, parts);
      bench_figure(master, "s", NAN, "parts, %s, %d: master per macro step and subsystem", cases[i].name, parts);
      bench_figure(setup, "s", NAN, "parts, %s, %d: set-up per subsystem", cases[i].name, parts);
    }
  }
  return 0;
}
