/* Step control against a fixed macro step at equal error: chain IMP, 2000 masses in 10 subsystems, t = 0.0999 s (impulses for 1 ms,
 * then 99 ms of free vibration). Cost is the number of integrations of a subsystem over a macro step, comparison and perturbed
 * ones included; processor times are printed too. Error: NRMSE(x) + NRMSE(v) over all masses and 100 times, against dop853 at
 * rtol 1e-12.
 * Before that, fixed steps over the first 2 ms (20 times) tell which of them get through the impulses and with what error; the
 * best of them are run to the end.
 * Goals: 10 times fewer integrations explicit, 5 times implicit. */
#include "bench.h"

enum { MAX_ROWS = 128 };

/* All samples of the reference; later runs are compared with it as they come. */
typedef struct samples {
  int     n, n_rows; /* values per sample; samples of the reference */
  double *rows;      /* [MAX_ROWS, n] */
  double  t[MAX_ROWS];
  bool    is_reference;
  int     row;
  double  error[2], size[2]; /* sums of squares: x, v */
} samples;

typedef struct result {
  double  error, seconds;
  int64_t integrations, steps, rejected;
  double  mean;
} result;

static yoke_status keep(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                        int order) {
  samples *s = user;
  (void)counters, (void)h, (void)order;
  if (s->is_reference) {
    if (s->n_rows == MAX_ROWS) return YOKE_E_MEMORY;
    s->t[s->n_rows] = t;
    memcpy(s->rows + (ptrdiff_t)s->n_rows++ * s->n, outputs, (size_t)s->n * sizeof *outputs);
    return YOKE_OK;
  }
  if (s->row >= s->n_rows || fabs(t - s->t[s->row]) > 1e-9) return YOKE_E_INTERNAL;
  const double *reference = s->rows + (ptrdiff_t)s->row++ * s->n;
  for (int i = 0; i < s->n; ++i) { /* all positions, then all velocities */
    const int    part       = i < s->n / 2 ? 0 : 1;
    const double difference = outputs[i] - reference[i];
    s->error[part] += difference * difference;
    s->size[part] += reference[i] * reference[i]; /* their means are 0 */
  }
  return YOKE_OK;
}

/* One run; `sets` ends with NULL. Negative error: it failed. */
static result run(const char *const *sets, bool is_split, samples *s) {
  yoke_context       *ctx    = NULL;
  yoke_model         *model  = NULL;
  yoke_plan          *plan   = NULL;
  yoke_system        *system = NULL;
  yoke_system_summary summary;
  int                 n = 0;
  while (sets[n] != NULL) ++n;
  const yoke_load_options   options = {.size = sizeof options, .n_sets = n, .sets = sets};
  const yoke_system_options serial  = {.exec = "serial", .threads = 1};
  if (yoke_context_create(&ctx) != YOKE_OK) exit(1);
  if (yoke_model_load(ctx, "examples/chain-imp.yaml", &options, &model) != YOKE_OK) bench_die(ctx, "loading");
  const yoke_plan_options planned = {.is_whole = !is_split};
  if (yoke_plan_create(ctx, model, &planned, &plan) != YOKE_OK) bench_die(ctx, "planning");
  if (yoke_system_create(ctx, plan, &serial, &system) != YOKE_OK) bench_die(ctx, "starting");
  s->n            = plan->outputs.n;
  s->is_reference = s->rows == NULL;
  if (s->rows == NULL) s->rows = calloc((size_t)MAX_ROWS * (size_t)s->n, sizeof *s->rows);
  if (s->rows == NULL) exit(1);
  s->row      = 0;
  s->error[0] = s->error[1] = s->size[0] = s->size[1] = 0.0;
  const yoke_sink   sink                              = {.user = s, .sample = keep};
  const double      begin                             = bench_now();
  const yoke_status status                            = yoke_system_run(system, plan->t_end, &sink, &summary, ctx);
  result            out                               = {.seconds      = bench_now() - begin,
                                                         .integrations = summary.macro.integrations,
                                                         .steps        = summary.macro.steps,
                                                         .rejected     = summary.macro.rejected,
                                                         .mean         = summary.macro.steps > 0 ? summary.t / (double)summary.macro.steps : 0.0};
  out.error = status != YOKE_OK ? -1.0 : sqrt(s->error[0] / s->size[0]) + sqrt(s->error[1] / s->size[1]);
  yoke_system_destroy(&system);
  yoke_plan_destroy(&plan);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return out;
}

typedef struct trial {
  const char *scheme, *order, *step;
} trial;

/* Ends of the two parts and their output. */
typedef struct span {
  const char *t_end, *output;
} span;

static const span impulses = {"t_end=2e-3", "output={every: 1e-4, select: [\"c.x[*]\", \"c.v[*]\"]}"},
                  whole    = {"t_end=0.0999", "output={every: 1e-3, select: [\"c.x[*]\", \"c.v[*]\"]}"};

static void reference(const span *part, samples *s) {
  const char *const sets[]  = {"parameters.n=2000", part->t_end, part->output,
                               "solvers.default={kind: dop853, rtol: 1e-12}", NULL};
  const double      seconds = run(sets, false, s).seconds;
  printf("\n%s s, reference %.1f s\n", part->t_end, seconds);
  printf("%-10s %-5s %-34s %10s %10s %9s %8s %10s %8s\n", "scheme", "order", "step [s]", "error", "integrat.", "steps",
         "rejected", "mean step", "seconds");
}

static result measure(const trial *one, const span *part, samples *s) {
  char scheme[64], order[64], step[160];
  snprintf(scheme, sizeof scheme, "cosimulation.scheme=%s", one->scheme);
  snprintf(order, sizeof order, "cosimulation.order=%s", one->order);
  snprintf(step, sizeof step, "cosimulation.step=%s", one->step);
  const char *const sets[] = {"parameters.n=2000",
                              part->t_end,
                              part->output,
                              "split.c=10",
                              "solvers.default={kind: dopri5, rtol: 1e-8}",
                              scheme,
                              order,
                              step,
                              NULL};
  const result      r      = run(sets, true, s);
  printf("%-10s %-5s %-34s ", one->scheme, one->order, one->step);
  if (r.error < 0.0)
    printf("%10s", "failed");
  else
    printf("%10.2e", r.error);
  printf(" %10lld %9lld %8lld %10.2e %8.1f\n", (long long)r.integrations, (long long)r.steps, (long long)r.rejected,
         r.mean, r.seconds);
  fflush(stdout);
  bench_figure(r.seconds, "s", r.error, "step control, %s, order %s, %s, %s", one->scheme, one->order, one->step,
               part->t_end);
  return r;
}

/* Ratio of the costs when the controlled run is at least as accurate. */
static void compare(const char *scheme, const result *fixed, const result *controlled, double goal) {
  if (fixed->error < 0.0 || controlled->error < 0.0 || controlled->error > fixed->error) return;
  printf("%s: error %.1e with %.3g integrations, fixed step %.1e with %.3g: %.1f times fewer (goal %g)\n", scheme,
         controlled->error, (double)controlled->integrations, fixed->error, (double)fixed->integrations,
         (double)fixed->integrations / (double)controlled->integrations, goal);
}

/* Fixed steps that are candidates: which get through the impulses, and how well. */
static void survey(const char *scheme) {
  static const trial list[] = {{"explicit", "1", "5e-8"},   {"explicit", "1", "4e-8"},   {"explicit", "1", "3.33e-8"},
                               {"explicit", "1", "2.5e-8"}, {"explicit", "2", "2.5e-8"}, {"explicit", "3", "5e-8"},
                               {"explicit", "3", "2.5e-8"}, {"implicit", "1", "1e-6"},   {"implicit", "1", "5e-7"},
                               {"implicit", "2", "5e-7"},   {"implicit", "2", "3e-7"},   {"implicit", "2", "2e-7"},
                               {"implicit", "3", "5e-7"},   {"implicit", "3", "3e-7"}};
  samples            s      = {0};
  reference(&impulses, &s);
  for (size_t k = 0; k < sizeof list / sizeof *list; ++k) {
    if (strcmp(list[k].scheme, scheme) == 0) (void)measure(&list[k], &impulses, &s);
  }
  free(s.rows);
}

/* Every controlled run against every fixed step. */
static void compare_all(const char *scheme, double goal) {
  static const trial list[] = {{"explicit", "auto", "{rtol: 1e-6, estimator: cv}"},
                               {"explicit", "auto", "{rtol: 1e-5, estimator: md}"},
                               {"explicit", "1", "2.5e-8"},
                               {"implicit", "auto", "{rtol: 1e-4, estimator: cv}"},
                               {"implicit", "auto", "{rtol: 3e-5, estimator: cv}"},
                               {"implicit", "auto", "{rtol: 3e-5, estimator: md}"},
                               {"implicit", "1", "5e-7"},
                               {"implicit", "2", "2e-7"}};
  enum { N = sizeof list / sizeof *list };
  samples s = {0};
  result  r[N];
  reference(&whole, &s);
  for (int k = 0; k < N; ++k) {
    r[k] = (result){.error = -1.0};
    if (strcmp(list[k].scheme, scheme) == 0) r[k] = measure(&list[k], &whole, &s);
  }
  for (int k = 0; k < N * N; ++k) {
    const bool is_pair = strcmp(list[k / N].order, "auto") != 0 && strcmp(list[k % N].order, "auto") == 0;
    if (is_pair) compare(scheme, &r[k / N], &r[k % N], goal);
  }
  free(s.rows);
}

/* Both schemes, or the one that is named (two programs side by side take half the time). */
int main(int argc, char **argv) {
  static const char *const schemes[] = {"explicit", "implicit"};
  static const double      goals[]   = {10.0, 5.0};
  printf("step control, chain IMP, 2000 masses in 10 subsystems, one thread\n");
  for (int i = 0; i < 2; ++i) {
    if (argc > 1 && strcmp(argv[1], schemes[i]) != 0) continue;
    survey(schemes[i]);
    compare_all(schemes[i], goals[i]);
  }
  return 0;
}
