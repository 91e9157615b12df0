/* Interface Jacobians: 200 rods in ten parts, stabilized-index-2, semi-implicit, one thread. Seconds of a macro step, from runs of two
 * lengths so that the set-up drops out, with perturbed integrations, with instant responses (analytic) and with tangents; right-hand
 * sides and Jacobians of all integrations, perturbed ones and tangents included; the largest residual of a coupling condition; error of the last rod at the end against the whole model with
 * dop853 at rtol 1e-12, relative. */
#include "public.h"

enum { SHORT = 2, LONG = 22, REPEATS = 5 }; /* macro steps */

#define RODS                                                                                                           \
  "parameters.N=200;split={a: [\"rod[1..20]\"], b: [\"rod[21..40]\"], c: [\"rod[41..60]\"], d: [\"rod[61..80]\"], "    \
  "e: [\"rod[81..100]\"], f: [\"rod[101..120]\"], g: [\"rod[121..140]\"], h: [\"rod[141..160]\"], "                    \
  "i: [\"rod[161..180]\"], j: [\"rod[181..200]\"]}"

typedef struct jacobian_run {
  double  seconds, value, residual; /* seconds NaN: this revision has no such Jacobian */
  int64_t evaluations, jacobians;
} jacobian_run;

/* `steps` macro steps H, the fastest of some; jacobian NULL: the reference. */
static jacobian_run run(const char *jacobian, double H, int steps) {
  char                     sets[600], text[BENCH_TEXT];
  const char              *list[BENCH_SETS], *output = "rod[200].y";
  static const yoke_choice exact[] = {{"solver", "dop853"}, {"rtol", "1e-12"}, {"atol", "1e-15"}};
  jacobian_run             best    = {.seconds = (double)INFINITY};
  snprintf(sets, sizeof sets, RODS ";cosimulation.step=%g;t_end=%.17g;cosimulation.jacobian=%s", H, steps * H,
           jacobian != NULL ? jacobian : "analytic");
  for (int i = 0; i < (jacobian == NULL ? 1 : REPEATS); ++i) {
    yoke_run_options options = bench_options("examples/pendulum-chain.yaml", sets, text, list);
    yoke_run_summary summary = BENCH_EMPTY(yoke_run_summary);
    yoke_context    *ctx     = NULL;
    options.n_print          = 1;
    options.print            = &output;
    options.monolithic       = jacobian == NULL;
    options.n_choices        = jacobian == NULL ? 3 : 0;
    options.choices          = exact;
    const double start       = bench_now();
    bench_need(yoke_context_create(&ctx), ctx, output);
    const yoke_status status = yoke_run(ctx, &options, &summary);
    if (status == YOKE_E_MODEL) {
      yoke_run_summary_release(&summary);
      yoke_context_destroy(&ctx);
      return (jacobian_run){.seconds = (double)NAN};
    }
    bench_need(status, ctx, output);
    best.seconds     = fmin(best.seconds, bench_now() - start);
    best.value       = summary.print_values[0];
    best.residual    = summary.residual;
    best.evaluations = summary.all_evaluations;
    best.jacobians   = summary.all_jacobians;
    yoke_run_summary_release(&summary);
    yoke_context_destroy(&ctx);
  }
  return best;
}

int main(void) {
  static const char *const kinds[]   = {"analytic", "tangent", "finite-difference"};
  static const double      lengths[] = {1e-3, 5e-3, 2e-2};
  printf("200 rods in ten parts: seconds of a macro step; ratio to jacobian analytic\n");
  printf("%10s %-20s %12s %8s %14s %12s %12s %12s\n", "H [s]", "jacobian", "step", "ratio", "evaluations", "Jacobians",
         "residual", "error");
  for (int h = 0; h < (bench_is_quick() ? 1 : 3); ++h) {
    const double exact    = run(NULL, lengths[h], LONG).value;
    double       analytic = 0.0;
    for (int k = 0; k < 3; ++k) {
      const jacobian_run brief = run(kinds[k], lengths[h], SHORT), whole = run(kinds[k], lengths[h], LONG);
      const double       step  = (whole.seconds - brief.seconds) / (LONG - SHORT);
      const double       error = fabs(whole.value - exact) / fabs(exact);
      if (isnan(step)) continue;
      if (k == 0) analytic = step;
      printf("%10g %-20s %12.3e %8.2f %14lld %12lld %12.1e %12.1e\n", lengths[h], kinds[k], step, step / analytic,
             (long long)whole.evaluations, (long long)whole.jacobians, whole.residual, error);
      fflush(stdout);
      bench_figure(step, "s", error, "200 rods in ten parts, H = %g, %s: macro step", lengths[h], kinds[k]);
    }
  }
  return 0;
}
