/* What tolerance proportionality is worth: global errors of controlled runs over macro rtol 1e-2 ... 1e-7.
 *
 * Global error: root of the time mean of squared errors at macro points against the whole model, integrated by Runge-Kutta with
 * many steps per macro step; positions and velocities each relative to their largest value. It must fall with every tolerance, with
 * a slope (least squares of the logarithms) near 1, and few trials may be in vain. Of rigid joints errors between macro points count. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../control/local_error.h"
#include <yoke/yoke.h>

enum { N_TOLERANCES = 6 };

typedef struct study {
  const char *file;
  double      t_end;
  int         n_substeps;
  const char *scheme, *estimator;
  bool        is_joint;
} study;

static const study studies[] = {
    {"chain-m1", 0.05, 60, "explicit", "md", false},        {"chain-m1", 0.05, 60, "explicit", "le", false},
    {"chain-m1", 0.05, 60, "explicit", "cv", false},        {"chain-m1", 0.05, 60, "implicit", "md", false},
    {"chain-m1", 0.05, 60, "implicit", "cv", false},        {"chain-m1", 0.05, 60, "waveform", "cv", false},
    {"chain-m2", 0.02, 60, "explicit", "md", false},        {"chain-m2", 0.02, 60, "explicit", "le", false},
    {"chain-m2", 0.02, 60, "explicit", "cv", false},        {"chain-m2", 0.02, 60, "implicit", "md", false},
    {"chain-m2", 0.02, 60, "implicit", "cv", false},        {"chain-conv", 0.04, 10, "explicit", "md", false},
    {"chain-conv", 0.04, 10, "explicit", "le", false},      {"chain-conv", 0.04, 10, "explicit", "cv", false},
    {"chain-conv", 0.04, 10, "semi-implicit", "md", false}, {"chain-conv", 0.04, 10, "implicit", "cv", false},
    {"chain-safe", 0.01, 6, "explicit", "md", false},       {"chain-safe", 0.01, 6, "explicit", "le", false},
    {"chain-safe", 0.01, 6, "explicit", "cv", false},       {"chain-safe", 0.01, 6, "implicit", "md", false},
    {"chain-safe", 0.01, 6, "implicit", "cv", false},       {"double-pendulum", 2.0, 0, "implicit", "md", true},
    {"slider-crank", 3.0, 0, "implicit", "md", true},
};

typedef struct global_error {
  local_error reference;
  double      sum[2], largest[2]; /* positions, velocities */
} global_error;

static double mean_square(int n, const double *a, const double *b) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum / n;
}

static void look(void *user, double t, const double *q, const double *v) {
  global_error *g  = user;
  local_error  *l  = &g->reference;
  const int     nq = l->equations.nq, nv = l->equations.nv;
  const double  H = t - l->t;
  for (int i = 0; i < l->n_substeps; ++i) local_substep(l, l->t + H * i / l->n_substeps, H / l->n_substeps);
  for (int i = 0; i < nq; ++i) g->largest[0] = fmax(g->largest[0], fabs(l->q[i]));
  for (int i = 0; i < nv; ++i) g->largest[1] = fmax(g->largest[1], fabs(l->v[i]));
  g->sum[0] += H * mean_square(nq, q, l->q);
  g->sum[1] += H * mean_square(nv, v, l->v);
  l->t = t;
}

static double run(const study *s, double rtol, yoke_macro_totals *totals) {
  char         file[COSIM_TEXT], sets[COSIM_TEXT];
  cosim        c;
  global_error g = {0};
  snprintf(file, sizeof file, "examples/%s.yaml", s->file);
  snprintf(sets, sizeof sets,
           "t_end=%g;cosimulation.scheme=%s;cosimulation.start=ramp;cosimulation.order=auto;"
           "cosimulation.step={rtol: %g, estimator: %s, budget: 0};"
           "solvers.default.rtol=1e-12;solvers.default.atol=1e-13",
           s->t_end, s->scheme, rtol, s->estimator);
  cosim_open(&c, file, sets);
  cosim_expect(&c, YOKE_OK);
  local_open(&g.reference, &c, s->n_substeps, false);
  cosim_run(&c, 0.0, look, &g);
  cosim_expect(&c, YOKE_OK);
  *totals = c.summary.macro;
  local_close(&g.reference);
  cosim_close(&c);
  return sqrt((g.sum[0] / (g.largest[0] * g.largest[0]) + g.sum[1] / (g.largest[1] * g.largest[1])) / s->t_end);
}

/* The same of a rigid joint, over 501 times wherever they lie in the steps: what a user sees. At macro points the conditions of the joint
 * hold, and errors are smaller by orders than between them. */
static double run_joint(const study *s, double rtol, yoke_macro_totals *totals) {
  const yoke_choice choices[] = {{"t-end", NULL},
                                 {"scheme", s->scheme},
                                 {"start", "ramp"},
                                 {"order", "auto"},
                                 {"macro-rtol", NULL},
                                 {"estimator", s->estimator},
                                 {"rtol", "1e-12"},
                                 {"atol", "1e-13"},
                                 {"output.every", NULL},
                                 {"cosimulation.step.budget", "0"},
                                 {"output.select", "[\"*.x\", \"*.y\", \"*.angle\", \"*.v?\", \"*.omega\"]"}};
  enum { N = sizeof choices / sizeof *choices };
  yoke_choice own[N];
  char        path[COSIM_TEXT], end[40], tolerance[40], every[40];
  snprintf(path, sizeof path, "examples/%s.yaml", s->file);
  snprintf(end, sizeof end, "%.17g", s->t_end);
  snprintf(tolerance, sizeof tolerance, "%.17g", rtol);
  snprintf(every, sizeof every, "%.17g", s->t_end / 500);
  memcpy(own, choices, sizeof own);
  own[0].value                   = end;
  own[4].value                   = tolerance;
  own[8].value                   = every;
  const yoke_run_options options = {
      .size = sizeof options, .model = path, .n_choices = N, .choices = own, .no_predict = true};
  yoke_run_summary      split = {.size = sizeof split}, whole = {.size = sizeof whole};
  yoke_comparison      *comparison = NULL;
  yoke_comparison_facts facts      = {.size = sizeof facts};
  yoke_context         *ctx        = NULL;
  double                sum        = 0.0;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_run_compare(ctx, &options, &split, &whole, &comparison), YOKE_OK);
  assert_int_equal(yoke_comparison_facts_get(ctx, comparison, &facts), YOKE_OK);
  for (int i = 0; i < facts.n_common; ++i) {
    yoke_difference one = {.size = sizeof one};
    assert_int_equal(yoke_comparison_get(ctx, comparison, i, &one), YOKE_OK);
    sum += one.nrmse * one.nrmse / facts.n_common;
  }
  *totals = (yoke_macro_totals){.steps = split.macro_steps, .rejected = split.rejected_macro_steps};
  yoke_comparison_destroy(&comparison);
  yoke_run_summary_release(&split);
  yoke_run_summary_release(&whole);
  yoke_context_destroy(&ctx);
  return sqrt(sum);
}

/* Least squares through (log rtol, log error). */
static double slope(const double error[N_TOLERANCES]) {
  double sxy = 0.0, sxx = 0.0;
  for (int k = 0; k < N_TOLERANCES; ++k) {
    const double x = -2.0 - k + 4.5;
    sxy += x * log10(error[k]);
    sxx += x * x;
  }
  return sxy / sxx;
}

static void errors_follow_the_tolerance(void **state) {
  int n_bad = 0;
  (void)state;
  for (size_t i = 0; i < sizeof studies / sizeof *studies; ++i) {
    const study *s = &studies[i];
    double       error[N_TOLERANCES];
    bool         falls = true, is_quiet = true;
    print_message("%-16s %-13s %s:", s->file, s->scheme, s->estimator);
    for (int k = 0; k < N_TOLERANCES; ++k) {
      yoke_macro_totals totals;
      error[k] = (s->is_joint ? run_joint : run)(s, pow(10.0, -2.0 - k), &totals);
      falls    = falls && isfinite(error[k]) && (k == 0 || error[k] < error[k - 1]);
      is_quiet = is_quiet && (totals.rejected <= 10 || (double)totals.rejected < 0.05 * (double)totals.steps);
      print_message("  %.1e (%ld, %ld)", error[k], (long)totals.steps, (long)totals.rejected);
    }
    const bool   is_cv = strcmp(s->estimator, "cv") == 0;
    const double fit   = slope(error);
    const bool   good  = falls && is_quiet && fit >= (is_cv ? 0.8 : 0.5) && fit <= (is_cv ? 1.2 : 1.3);
    print_message("  slope %.2f%s%s%s\n", fit, falls ? "" : ", not falling", is_quiet ? "" : ", too many rejected",
                  good ? "" : "  <--");
    n_bad += good ? 0 : 1;
  }
  assert_int_equal(n_bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(errors_follow_the_tolerance)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
