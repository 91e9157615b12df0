/* Three-dimensional pendulum chain (B10), N = 1000 rigid bodies, one thread: microseconds per body and step, and the
 * time against IDA with KLU on the same equations (stabilised index 2) at equal error.
 * Goals: 6 microseconds or less at rtol 1e-6; at most 0.8 of IDA's time. */
#include "bench.h"

enum { N_TOLERANCES = 3 };

static int n_bodies = 1000; /* --quick: 200 */

/* The fastest of `repeats` runs at every tolerance; microseconds per body and step at the second one are returned. */
static double measure(const char *const *sets, const char *solver, const double *rtol, int repeats,
                      const bench_run *reference, bench_run *runs) {
  double per_body_step = 0.0;
  for (int k = 0; k < N_TOLERANCES; ++k) {
    runs[k]            = bench_model("examples/pendulum-chain.yaml", sets, solver, rtol[k], repeats);
    runs[k].error      = bench_nrmse(runs[k].values, reference->values, 0, runs[k].n);
    const double price = 1e6 * runs[k].seconds / ((double)runs[k].counters.steps * n_bodies);
    if (k == 1) per_body_step = price;
    printf("%-10s %8.0e %12.2e %10.3f %8lld %8lld %14.2f\n", solver, rtol[k], runs[k].error, runs[k].seconds,
           (long long)runs[k].counters.steps, (long long)runs[k].counters.evaluations, price);
    fflush(stdout);
    bench_figure(runs[k].seconds, "s", runs[k].error, "pendulum chain, %d rods, %s %.0e", n_bodies, solver, rtol[k]);
  }
  return per_body_step;
}

int main(void) {
  if (bench_is_quick()) n_bodies = 200;
  char count[32];
  snprintf(count, sizeof count, "parameters.N=%d", n_bodies);
  const char *const sets[] = {count, "output.every=1", "output.select=[\"rod[*].x\", \"rod[*].y\", \"rod[*].v*\"]",
                              NULL};
  const double      rtol[N_TOLERANCES] = {1e-4, 1e-6, 1e-8};
  const int         repeats            = 5;
  printf("pendulum chain, %d rigid bodies, 1 s\n", n_bodies);
  printf("%-10s %8s %12s %10s %8s %8s %14s\n", "solver", "rtol", "error", "seconds", "steps", "evals", "us/body-step");
  bench_run    reference = bench_model("examples/pendulum-chain.yaml", sets, "dop853", 1e-12, 1);
  bench_run    own[N_TOLERANCES], abm[N_TOLERANCES], dopri5[N_TOLERANCES];
  const double auto_price   = measure(sets, "auto", rtol, repeats, &reference, own);
  const double abm_price    = measure(sets, "abm", rtol, repeats, &reference, abm);
  const double dopri5_price = measure(sets, "dopri5", rtol, repeats, &reference, dopri5);
  printf("at rtol 1e-6: abm %.2f us per body and step, dopri5 %.2f, auto (dop853) %.2f (goal 6)\n", abm_price,
         dopri5_price, auto_price);
#ifdef YOKE_WITH_SUNDIALS
  const double loose[N_TOLERANCES] = {1e-3, 1e-4, 1e-5};
  bench_run    ida[N_TOLERANCES];
  if (!bench_is_quick()) measure(sets, "ida", loose, 1, &reference, ida);
  for (int k = 0; k < N_TOLERANCES && !bench_is_quick(); ++k) {
    printf("at error %.1e: auto takes %.3f of IDA's time, abm %.3f (goal 0.8)\n", ida[k].error,
           bench_time_at(own, N_TOLERANCES, ida[k].error) / ida[k].seconds,
           bench_time_at(abm, N_TOLERANCES, ida[k].error) / ida[k].seconds);
    free(ida[k].values);
  }
#endif
  for (int k = 0; k < N_TOLERANCES; ++k) {
    free(own[k].values);
    free(abm[k].values);
    free(dopri5[k].values);
  }
  free(reference.values);
  return 0;
}
