/* Short split runs, one thread: every scheme on force elements, joints and chains. Time: the whole run, set-up included, the fastest of
 * at least five. Error: of one output at the end against the whole model with dop853 at rtol 1e-12, relative. */
#include "public.h"

typedef struct split_case {
  const char *name, *model, *sets, *output;
} split_case;

#define RODS "examples/pendulum-chain.yaml"
#define RODS_SPLIT                                                                                                     \
  "parameters.N=12;split.a=[\"rod[1..3]\"];split.b=[\"rod[4..6]\"];split.c=[\"rod[7..9]\"];split.d=[\"rod[10..12]\"];" \
  "t_end=0.05"

static const split_case cases[] = {
    {"springs, explicit", "examples/two-mass.yaml", "cosimulation.scheme=explicit;cosimulation.order=2;t_end=2",
     "m1.x"},
    {"springs, semi-implicit", "examples/two-mass.yaml", "cosimulation.order=2;t_end=2", "m1.x"},
    {"springs, implicit, displacement sides", "examples/two-mass.yaml",
     "cosimulation.scheme=implicit;cosimulation.order=2;cosimulation.couplings.decomposition=displacement/displacement;"
     "t_end=1",
     "m1.x"},
    {"springs, waveform", "examples/two-mass.yaml", "cosimulation.scheme=waveform;cosimulation.order=2;t_end=1",
     "m1.x"},
    {"elastic guide, explicit", "examples/slider-crank-flexible.yaml",
     "cosimulation.scheme=explicit;cosimulation.order=2", "bar1.angle"},
    {"elastic knee, semi-implicit", "examples/double-pendulum-flexible.yaml", "t_end=0.3", "lower.angle"},
    {"bushing, semi-implicit, extension d", "examples/four-bar-bushing.yaml",
     "cosimulation.couplings.extension=d;t_end=0.2", "bar4.angle"},
    {"joint, explicit (kinematic)", "examples/double-pendulum.yaml",
     "cosimulation.scheme=explicit;cosimulation.couplings.formulation=kinematic;cosimulation.couplings.prescribed=b;"
     "t_end=0.5",
     "lower.angle"},
    {"joint, semi-implicit", "examples/double-pendulum.yaml", "t_end=0.3", "lower.angle"},
    {"joint, semi-implicit, analytic Jacobian", "examples/double-pendulum.yaml",
     "cosimulation.couplings.formulation=baumgarte;cosimulation.jacobian=analytic;t_end=0.5", "lower.angle"},
    {"joint, implicit", "examples/slider-crank.yaml", "cosimulation.scheme=implicit;cosimulation.order=2;t_end=0.3",
     "bar2.angle"},
    {"joint, step control", "examples/double-pendulum.yaml", "cosimulation.step={rtol: 1e-5};t_end=2", "lower.angle"},
    {"joints in space, semi-implicit", "examples/four-bar-spatial.yaml", "t_end=0.02", "bar4.q1"},
    {"twelve rods in four parts, semi-implicit", RODS, RODS_SPLIT ";cosimulation.step=5e-3", "rod[12].y"},
    {"chain of 2000, ten parts, explicit", "examples/chain-load.yaml", "t_end=2e-5", "c.x[1000]"},
    {"chain of 1000, ten parts, step control", "examples/chain-imp.yaml",
     "split.c=10;cosimulation.scheme=explicit;cosimulation.step={rtol: 1e-4, estimator: cv};t_end=2e-4", "c.x[500]"},
    {"rod of 100 in twenty parts, implicit", "examples/chain-rod.yaml", "t_end=1e-5", "c.x[100]"},
};

static double end_value(const split_case *one, bool is_reference) {
  char             text[BENCH_TEXT];
  const char      *list[BENCH_SETS];
  yoke_run_options options         = bench_options(one->model, one->sets, text, list);
  yoke_run_summary summary         = BENCH_EMPTY(yoke_run_summary);
  yoke_context    *ctx             = NULL;
  options.n_print                  = 1;
  options.print                    = &one->output;
  options.monolithic               = is_reference;
  static const yoke_choice exact[] = {{"solver", "dop853"}, {"rtol", "1e-12"}, {"atol", "1e-15"}};
  options.n_choices                = is_reference ? 3 : 0;
  options.choices                  = exact;
  bench_need(yoke_context_create(&ctx), ctx, one->name);
  bench_need(yoke_run(ctx, &options, &summary), ctx, one->name);
  const double value = summary.print_values[0];
  yoke_run_summary_release(&summary);
  yoke_context_destroy(&ctx);
  return value;
}

int main(void) {
  printf("split runs, one thread\n%-44s %12s %12s %8s\n", "what", "seconds", "error", "repeats");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const split_case *one   = &cases[i];
    const double      exact = end_value(one, true);
    double            best = (double)INFINITY, total = 0.0, value = 0.0;
    int               n = 0;
    for (; n < BENCH_LEAST || (n < BENCH_MOST && total < bench_budget()); ++n) {
      const double start = bench_now();
      value              = end_value(one, false);
      const double used  = bench_now() - start;
      best               = fmin(best, used);
      total += used;
    }
    const double error = fabs(value - exact) / fabs(exact);
    printf("%-44s %12.6f %12.1e %8d\n", one->name, best, error, n);
    fflush(stdout);
    bench_figure(best, "s", error, "split, %s", one->name);
  }
  return 0;
}
