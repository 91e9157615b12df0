/* Flexible bodies of 200 elements as a whole on one thread: processor time, error, microseconds per element and step and per element and
 * evaluation, and the time against IDA with KLU on the same equations (stabilised index 2) at equal error.
 * Goal: at most 0.8 of IDA's time. */
#include "bench.h"

enum { N_TOLERANCES = 3, MOST_SOLVERS = 3 };

typedef struct flexible {
  const char *name, *path, *select;
  int         n, n_quick; /* elements; with --quick */
  double      t_end;
  const char *solvers[MOST_SOLVERS];
  double      ida[N_TOLERANCES]; /* tolerances at which IDA's errors come near ours */
} flexible;

static const flexible bodies[] = {
    {"ANCF cable",
     "bench/flexible/cable.yaml",
     "[\"cable.node[*].x\", \"cable.node[*].z\", \"cable.node[*].v*\"]",
     200,
     20,
     0.5,
     {"auto", "dopri5", "bdf"},
     {1e-4, 1e-5, 1e-6}},
};

static const double tolerances[N_TOLERANCES] = {1e-4, 1e-6, 1e-8};

static void measure(const flexible *f, int n, const char *const *sets, const char *solver, const double *rtol,
                    const bench_run *reference, bench_run *runs) {
  const int repeats = bench_is_quick() ? 1 : 3;
  for (int k = 0; k < N_TOLERANCES; ++k) {
    runs[k]           = bench_model(f->path, sets, solver, rtol[k], repeats);
    runs[k].error     = bench_nrmse(runs[k].values, reference->values, 0, runs[k].n);
    const double unit = 1e6 * runs[k].seconds / n;
    printf("%-10s %8.0e %12.2e %10.4f %8lld %8lld %14.3f %14.4f\n", solver, rtol[k], runs[k].error, runs[k].seconds,
           (long long)runs[k].counters.steps, (long long)runs[k].counters.evaluations,
           unit / (double)runs[k].counters.steps, unit / (double)runs[k].counters.evaluations);
    fflush(stdout);
    bench_figure(runs[k].seconds, "s", runs[k].error, "%s, %d elements, %s %.0e", f->name, n, solver, rtol[k]);
  }
}

static void free_values(bench_run *runs) {
  for (int k = 0; k < N_TOLERANCES; ++k) free(runs[k].values);
}

static void bench_body(const flexible *f) {
  const int  n = bench_is_quick() ? f->n_quick : f->n;
  bench_size size;
  bench_size_set(&size, n, f->t_end, f->select);
  const char *const *const sets = size.sets;
  printf("%s, %d elements, %g s\n", f->name, n, f->t_end);
  printf("%-10s %8s %12s %10s %8s %8s %14s %14s\n", "solver", "rtol", "error", "seconds", "steps", "evals",
         "us/elem-step", "us/elem-eval");
  bench_run reference = bench_model(f->path, sets, "dop853", 1e-12, 1);
  bench_run own[MOST_SOLVERS][N_TOLERANCES];
  for (int s = 0; s < MOST_SOLVERS; ++s) measure(f, n, sets, f->solvers[s], tolerances, &reference, own[s]);
#ifdef YOKE_WITH_SUNDIALS
  bench_run ida[N_TOLERANCES];
  measure(f, n, sets, "ida", f->ida, &reference, ida);
  for (int k = 0; k < N_TOLERANCES; ++k) {
    printf("at error %.1e:", ida[k].error);
    for (int s = 0; s < MOST_SOLVERS; ++s)
      printf(" %s %.3f", f->solvers[s], bench_time_at(own[s], N_TOLERANCES, ida[k].error) / ida[k].seconds);
    printf(" of IDA's time (goal 0.8)\n");
  }
  free_values(ida);
#endif
  for (int s = 0; s < MOST_SOLVERS; ++s) free_values(own[s]);
  free(reference.values);
}

int main(void) {
  for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; ++i) bench_body(&bodies[i]);
  return 0;
}
