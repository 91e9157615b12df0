/* Flexible bodies as a whole on one thread: a rod of 200 elements that swings down and a cable of 200 that falls between its ends (bench/flexible). Processor time, error, microseconds per element and step,
 * and the time against IDA with KLU on the same equations (stabilised index 2) at equal error. Goal: at most 0.8 of IDA's time. */
#include "bench.h"

enum { N_TOLERANCES = 3 };

typedef struct flexible {
  const char *name, *path, *select;
  int         n, n_quick; /* parameter N: elements; with --quick */
  double      t_end;
  double      ida[N_TOLERANCES]; /* tolerances at which IDA's errors come near ours */
} flexible;

static const char nodes[] = "[\"cable.node[*].x\", \"cable.node[*].z\", \"cable.node[*].vx\", \"cable.node[*].vz\"]";

static const flexible bodies[] = {
    {"rod", "bench/flexible/rod.yaml", nodes, 200, 50, 0.5, {1e-4, 1e-5, 1e-6}},
    {"cable", "bench/flexible/cable.yaml", nodes, 200, 20, 0.02, {1e-4, 1e-5, 1e-6}},
};

static const double tolerances[N_TOLERANCES] = {1e-3, 1e-5, 1e-7};

/* The fastest of `repeats` runs at every tolerance. */
static void measure(const flexible *f, int n, const char *const *sets, const char *solver, const double *rtol,
                    int repeats, const bench_run *reference, bench_run *runs) {
  for (int k = 0; k < N_TOLERANCES; ++k) {
    runs[k]       = bench_model(f->path, sets, solver, rtol[k], repeats);
    runs[k].error = bench_nrmse_of(runs[k].values, reference->values, runs[k].n);
    printf("%-10s %8.0e %12.2e %10.4f %8lld %8lld %8lld %16.2f\n", solver, rtol[k], runs[k].error, runs[k].seconds,
           (long long)runs[k].counters.steps, (long long)runs[k].counters.evaluations,
           (long long)runs[k].counters.factorings, 1e6 * runs[k].seconds / n / (double)runs[k].counters.steps);
    fflush(stdout);
    bench_figure(runs[k].seconds, "s", runs[k].error, "%s, %d elements, %s %.0e", f->name, n, solver, rtol[k]);
  }
}

static void bench_flexible(const flexible *f) {
  const int  n = bench_is_quick() ? f->n_quick : f->n, repeats = 3;
  bench_size size;
  bench_size_set(&size, n, f->t_end, f->select);
  const char *const *const sets = size.sets;
  printf("%s of %d elements, %g s\n", f->name, n, f->t_end);
  printf("%-10s %8s %12s %10s %8s %8s %8s %16s\n", "solver", "rtol", "error", "seconds", "steps", "evals", "factors",
         "us/element-step");
  bench_run reference = bench_model(f->path, sets, "radau5", 1e-11, 1);
  bench_run own[N_TOLERANCES], bdf[N_TOLERANCES];
  measure(f, n, sets, "auto", tolerances, repeats, &reference, own);
  measure(f, n, sets, "bdf", tolerances, repeats, &reference, bdf);
#ifdef YOKE_WITH_SUNDIALS
  bench_run ida[N_TOLERANCES];
  if (!bench_is_quick()) measure(f, n, sets, "ida", f->ida, 1, &reference, ida);
  for (int k = 0; k < N_TOLERANCES && !bench_is_quick(); ++k) {
    printf("at error %.1e: auto takes %.3f of IDA's time, bdf %.3f (goal 0.8)\n", ida[k].error,
           bench_time_at(own, N_TOLERANCES, ida[k].error) / ida[k].seconds,
           bench_time_at(bdf, N_TOLERANCES, ida[k].error) / ida[k].seconds);
    free(ida[k].values);
  }
#endif
  for (int k = 0; k < N_TOLERANCES; ++k) {
    free(own[k].values);
    free(bdf[k].values);
  }
  free(reference.values);
}

int main(void) {
  for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; ++i) bench_flexible(&bodies[i]);
  return 0;
}
