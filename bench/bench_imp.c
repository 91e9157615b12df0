/* Oscillator chain IMP with n = 1000 masses, t = 2e-3 s, one thread: `auto` against IDA with KLU at equal error
 * (NRMSE(x) + NRMSE(v) at the end against dop853 at rtol 1e-13). Goal: 80 times faster. */
#include "bench.h"

static void measure(const char *const *sets, const char *solver, const double *rtol, int n, int repeats,
                    const bench_run *reference, bench_run *runs) {
  for (int k = 0; k < n; ++k) {
    runs[k]       = bench_model("examples/chain-imp.yaml", sets, solver, rtol[k], repeats);
    runs[k].error = bench_nrmse_of(runs[k].values, reference->values, runs[k].n);
    printf("%-8s %8.0e %12.2e %12.5f %8lld %8lld\n", solver, rtol[k], runs[k].error, runs[k].seconds,
           (long long)runs[k].counters.steps, (long long)runs[k].counters.rejected);
    fflush(stdout);
    bench_figure(runs[k].seconds, "s", runs[k].error, "chain IMP, 1000 masses, %s %.0e", solver, rtol[k]);
  }
}

int main(void) {
  enum { N_OWN = 4, N_IDA = 3 };
  const char *const sets[]     = {"parameters.n=1000", "output.every=1", NULL};
  const double      own_rtol[] = {1e-3, 1e-4, 1e-5, 1e-6}, ida_rtol[] = {1e-4, 1e-5, 1e-6};
  printf("chain IMP, 1000 masses, 2 ms\n");
  printf("%-8s %8s %12s %12s %8s %8s\n", "solver", "rtol", "error", "seconds", "steps", "rejected");
  bench_run reference = bench_model("examples/chain-imp.yaml", sets, "dop853", 1e-13, 1);
  bench_run own[N_OWN], ida[N_IDA];
  measure(sets, "auto", own_rtol, N_OWN, 25, &reference, own);
#ifdef YOKE_WITH_SUNDIALS
  if (!bench_is_quick()) measure(sets, "ida", ida_rtol, N_IDA, 1, &reference, ida);
  for (int k = 0; k < N_IDA && !bench_is_quick(); ++k) {
    printf("at error %.1e: auto is %.0f times faster than IDA (goal 80)\n", ida[k].error,
           ida[k].seconds / bench_time_at(own, N_OWN, ida[k].error));
  }
#else
  (void)ida;
  (void)ida_rtol;
#endif
  return 0;
}
