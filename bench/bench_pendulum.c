/* Three-dimensional pendulum chain (B10), N = 1000 rigid bodies, one thread: microseconds per body and step, and the
 * time against IDA with KLU on the same equations (stabilised index 2) at equal error.
 * Goals: 6 microseconds or less at rtol 1e-6; at most 0.8 of IDA's time. */
#include "bench.h"

static void measure(const char *const *sets, const char *solver, const double *rtol, int n, const bench_run *reference,
                    int n_bodies, bench_run *runs) {
  for (int k = 0; k < n; ++k) {
    runs[k]       = bench_model("examples/pendulum-chain.yaml", sets, solver, rtol[k], 2);
    runs[k].error = bench_nrmse(runs[k].values, reference->values, 0, runs[k].n);
    printf("%-10s %8.0e %12.2e %10.3f %8lld %8lld %14.2f\n", solver, rtol[k], runs[k].error, runs[k].seconds,
           (long long)runs[k].counters.steps, (long long)runs[k].counters.evaluations,
           1e6 * runs[k].seconds / ((double)runs[k].counters.steps * (double)n_bodies));
    fflush(stdout);
  }
}

int main(void) {
  enum { N_BODIES = 1000, N_TOLERANCES = 3 };
  const char *const sets[]             = {"parameters.N=1000", "output.every=1",
                                          "output.select=[\"rod[*].x\", \"rod[*].y\", \"rod[*].v*\"]", NULL};
  const double      rtol[N_TOLERANCES] = {1e-4, 1e-6, 1e-8};
  printf("pendulum chain, %d rigid bodies, 1 s\n", N_BODIES);
  printf("%-10s %8s %12s %10s %8s %8s %14s\n", "solver", "rtol", "error", "seconds", "steps", "evals", "us/body-step");
  bench_run reference = bench_model("examples/pendulum-chain.yaml", sets, "dop853", 1e-12, 1);
  bench_run own[N_TOLERANCES], bdf[N_TOLERANCES];
  measure(sets, "auto", rtol, N_TOLERANCES, &reference, N_BODIES, own);
  measure(sets, "bdf", rtol, N_TOLERANCES, &reference, N_BODIES, bdf);
#ifdef YOKE_WITH_SUNDIALS
  bench_run ida[N_TOLERANCES];
  measure(sets, "ida", rtol, N_TOLERANCES, &reference, N_BODIES, ida);
  const double error     = ida[1].error;
  const double auto_time = bench_time_at(own, N_TOLERANCES, error), bdf_time = bench_time_at(bdf, N_TOLERANCES, error);
  printf("at error %.1e: auto takes %.3f of IDA's time, bdf %.3f (goal 0.8)\n", error, auto_time / ida[1].seconds,
         bdf_time / ida[1].seconds);
#endif
  return 0;
}
