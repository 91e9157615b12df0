/* Solvers: what `auto` costs against the best of the solvers that it could have taken, at equal error, on fifteen models.
 *
 * Work is counted, not timed: right-hand sides + weight * factorisations. Weight 2 + n/10, n = unknowns of the implicit view (positions,
 * velocities, two multipliers per constraint row): a sparse factorisation with its Jacobian takes as many instructions as 2 (drive train,
 * n = 18) to 20 (flywheel governor, n = 119) right-hand sides of explicit solvers, as callgrind counts them.
 * Error: root mean square over samples and outputs of (value - reference) / (size of the output, at least 1e-3 of the largest).
 * Every solver runs at nine tolerances; its work at the error of a run of `auto` is interpolated on the polyline of (log error, log work)
 * and never continued: a solver whose loosest run is better costs what that one costs, one that never gets there does not count.
 * Goal: at most 2 in every row. usage: bench_solvers [--list] [MODEL ...]: --list prints every run, MODEL is a name of the table. */
#include "bench.h"
#include <yoke/inspect.h>

enum { N_SOLVERS = 4, N_TOLERANCES = 9, N_ASKED = 3, MAX_VALUES = 20000 };

static const char *const solvers[N_SOLVERS]       = {"dopri5", "dop853", "radau5", "bdf"};
static const double      tolerances[N_TOLERANCES] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11};
static const double      asked[N_ASKED]           = {1e-4, 1e-6, 1e-8}; /* of auto */
static const double      GOAL                     = 2;

typedef struct solver_model {
  const char *name, *path, *sets; /* sets: "path=value" parted by ';' */
  const char *exact;              /* solver of the reference */
} solver_model;

static const solver_model models[] = {
    {"governor", "bench/solvers/governor.yaml", "", "radau5"},
    {"engine-gas", "bench/solvers/engine-gas.yaml", "", "radau5"},
    {"engine-damped", "bench/solvers/engine-damped.yaml", "", "radau5"},
    {"beam", "bench/solvers/beam.yaml", "", "dopri5"},
    {"beam-light", "bench/solvers/beam-light.yaml", "", "dopri5"},
    {"stiff-chain", "bench/solvers/stiff-chain.yaml", "", "radau5"},
    {"half-car", "bench/solvers/half-car.yaml", "", "dop853"},
    {"drive-train", "bench/solvers/drive-train.yaml", "", "radau5"},
    {"pendulum-chain", "examples/pendulum-chain.yaml",
     "output.every=0.1;output.select=[\"rod[*].x\", \"rod[*].y\", \"rod[*].v?\"]", "dop853"},
    {"four-bar", "examples/four-bar-fixed.yaml", "output.every=0.1;output.select=[\"*.angle\", \"*.omega\"]", "dop853"},
    {"slider-crank", "examples/slider-crank-classic.yaml",
     "output.every=0.1;output.select=[\"*.x\", \"*.y\", \"*.v?\"]", "dop853"},
    {"double-pendulum", "examples/double-pendulum.yaml", "output.every=0.2;output.select=[\"*.x\", \"*.y\", \"*.v?\"]",
     "dop853"},
    {"contact", "examples/bouncing-contact.yaml", "output.every=0.15", "dop853"},
    {"spatial four-bar", "examples/four-bar-spatial.yaml",
     "output.every=0.1;output.select=[\"*.x\", \"*.y\", \"*.z\", \"*.v?\"]", "dop853"},
    {"robot-arm", "examples/robot-arm.yaml", "output.every=0.2;output.select=[\"*.angle\", \"load.?\", \"load.v?\"]",
     "dop853"},
};
enum { N_MODELS = sizeof models / sizeof models[0] };

typedef struct solver_run {
  double        rtol, error, work; /* work infinite: the run failed */
  yoke_counters counters;
  char          method[24];
  int           n;      /* values */
  int           n_each; /* of one sample */
  double       *values; /* [n] */
} solver_run;

static yoke_status keep(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                        int order) {
  solver_run *run = user;
  (void)t;
  (void)counters;
  (void)h;
  (void)order;
  if (run->n + run->n_each > MAX_VALUES) return YOKE_E_USAGE;
  memcpy(run->values + run->n, outputs, (size_t)run->n_each * sizeof *outputs);
  run->n += run->n_each;
  return YOKE_OK;
}

/* Relative weight of a factorisation. */
static double weight_of(const yoke_model_facts *facts) {
  return 2 + 0.1 * (facts->nq + facts->nv + 2.0 * facts->n_constraints);
}

/* A run as a whole; one that fails has no values and infinite work. */
static solver_run run_with(const solver_model *m, const char *solver, double rtol, double atol, double weight) {
  char        text[600], own[3][64];
  const char *list[BENCH_MAX_SETS];
  int         n = 0;
  snprintf(text, sizeof text, "%s", m->sets);
  for (char *set = strtok(text, ";"); set != NULL; set = strtok(NULL, ";")) list[n++] = set;
  snprintf(own[0], sizeof own[0], "solvers.default.kind=%s", solver);
  snprintf(own[1], sizeof own[1], "solvers.default.rtol=%g", rtol);
  snprintf(own[2], sizeof own[2], "solvers.default.atol=%g", atol);
  for (int i = 0; i < 3; ++i) list[n++] = own[i];

  solver_run    run = {.rtol = rtol, .error = INFINITY, .work = INFINITY};
  yoke_context *ctx = NULL;
  if (yoke_context_create(&ctx) != YOKE_OK) exit(1);
  yoke_model             *model   = NULL;
  const yoke_load_options options = {.size = sizeof options, .n_sets = n, .sets = list};
  if (yoke_model_load(ctx, m->path, &options, &model) != YOKE_OK) bench_die(ctx, m->path);
  bench_whole whole        = bench_begin(ctx, model, m->path);
  run.n_each               = whole.plan->outputs.n;
  run.values               = calloc(MAX_VALUES, sizeof *run.values);
  const yoke_sink     sink = {.user = &run, .sample = keep};
  yoke_system_summary summary;
  if (run.values == NULL) exit(1);
  if (yoke_system_run(whole.system, whole.plan->t_end, &sink, &summary, ctx) == YOKE_OK) {
    run.counters = summary.counters;
    run.work     = (double)summary.counters.evaluations + weight * (double)summary.counters.factorings;
    snprintf(run.method, sizeof run.method, "%s", summary.method);
  }
  bench_end(&whole);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return run;
}

/* Root mean square of the differences, each in units of the size of its output. */
static double error_of(const solver_run *run, const solver_run *exact) {
  double largest = 0, sum = 0;
  for (int i = 0; i < exact->n; ++i) largest = fmax(largest, fabs(exact->values[i]));
  if (run->n != exact->n) return INFINITY;
  for (int k = 0; k < exact->n_each; ++k) {
    double size = 1e-3 * largest;
    for (int i = k; i < exact->n; i += exact->n_each) size = fmax(size, fabs(exact->values[i]));
    for (int i = k; i < exact->n; i += exact->n_each) {
      const double d = (run->values[i] - exact->values[i]) / size;
      sum += d * d;
    }
  }
  return sqrt(sum / fmax(1, exact->n));
}

/* Least work with which a solver reaches `error`. */
static double work_at(const solver_run *runs, double error) {
  double least = INFINITY;
  for (int i = 0; i < N_TOLERANCES; ++i) {
    const solver_run *a = &runs[i], *b = a + 1;
    if (a->error <= error) least = fmin(least, a->work);
    if (i + 1 == N_TOLERANCES || !isfinite(a->work) || !isfinite(b->work)) continue;
    if (a->error > error && b->error < error) {
      const double share = log(a->error / error) / log(a->error / b->error);
      least              = fmin(least, a->work * pow(b->work / a->work, share));
    }
  }
  return least;
}

static void show(const solver_model *m, const char *solver, const solver_run *run) {
  printf("  %-16s %-7s %-7s %6.0e %10.2e %9lld %8lld %10.0f\n", m->name, solver, run->method, run->rtol, run->error,
         (long long)run->counters.evaluations, (long long)run->counters.factorings, run->work);
}

static solver_run judged(const solver_model *m, const char *solver, double rtol, double weight, const solver_run *exact,
                         bool is_listed) {
  solver_run run = run_with(m, solver, rtol, 0.01 * rtol, weight);
  if (isfinite(run.work)) run.error = error_of(&run, exact);
  free(run.values);
  run.values = NULL;
  if (is_listed) show(m, solver, &run);
  return run;
}

/* Rows of one model; the number of those that miss the goal. */
static int measure(const solver_model *m, bool is_listed, double *largest) {
  const yoke_run_options options    = {.size = sizeof options, .model = m->path, .monolithic = true};
  yoke_model_facts       facts      = {.size = sizeof facts};
  yoke_inspection       *inspection = NULL;
  yoke_context          *ctx        = NULL;
  if (yoke_context_create(&ctx) != YOKE_OK) exit(1);
  if (yoke_model_inspect(ctx, &options, &inspection) != YOKE_OK) bench_die(ctx, m->path);
  if (yoke_inspection_facts_get(ctx, inspection, &facts) != YOKE_OK) bench_die(ctx, m->path);
  const double weight = weight_of(&facts);
  yoke_inspection_destroy(&inspection);
  yoke_context_destroy(&ctx);

  solver_run exact    = run_with(m, m->exact, 1e-12, 1e-14, weight), runs[N_SOLVERS][N_TOLERANCES];
  int        n_missed = 0;
  for (int s = 0; s < N_SOLVERS; ++s) {
    for (int k = 0; k < N_TOLERANCES; ++k) runs[s][k] = judged(m, solvers[s], tolerances[k], weight, &exact, is_listed);
  }
  for (int k = 0; k < N_ASKED; ++k) {
    const solver_run own  = judged(m, "auto", asked[k], weight, &exact, is_listed);
    double           best = INFINITY, work[N_SOLVERS];
    int              who  = 0;
    for (int s = 0; s < N_SOLVERS; ++s) {
      work[s] = work_at(runs[s], own.error);
      if (work[s] < best) {
        best = work[s];
        who  = s;
      }
    }
    const double ratio = own.work / best; /* none gets there: 0 */
    n_missed += !(ratio <= GOAL);
    *largest = fmax(*largest, ratio);
    printf("%-16s %5.1f %6.0e %9.1e %-7s %8lld %6lld %9.0f |", m->name, weight, own.rtol, own.error, own.method,
           (long long)own.counters.evaluations, (long long)own.counters.factorings, own.work);
    for (int s = 0; s < N_SOLVERS; ++s) printf(" %9.0f", work[s]);
    printf(" | %-6s %5.2f%s\n", solvers[who], ratio, ratio <= GOAL ? "" : " *");
    fflush(stdout);
    bench_figure(own.work, "work", own.error, "solvers, %s, auto %.0e", m->name, own.rtol);
  }
  free(exact.values);
  return n_missed;
}

static bool is_wanted(const char *name, int argc, char **argv, int first) {
  if (first >= argc) return true;
  for (int i = first; i < argc; ++i) {
    if (strcmp(argv[i], name) == 0) return true;
  }
  return false;
}

int main(int argc, char **argv) {
  const bool is_listed = argc > 1 && strcmp(argv[1], "--list") == 0;
  int        n_missed = 0, n_rows = 0;
  double     largest = 0;
  printf("work = right-hand sides + weight * factorisations; of the others at the error of auto\n");
  printf("%-16s %5s %6s %9s %-7s %8s %6s %9s | %9s %9s %9s %9s | %-6s ratio\n", "model", "wgt", "rtol", "error",
         "ends as", "rhs", "factor", "auto", solvers[0], solvers[1], solvers[2], solvers[3], "best");
  for (int i = 0; i < N_MODELS; ++i) {
    if (!is_wanted(models[i].name, argc, argv, is_listed ? 2 : 1)) continue;
    n_missed += measure(&models[i], is_listed, &largest);
    n_rows += N_ASKED;
  }
  printf("auto / best: %d of %d rows above %g (marked *), largest %.2f\n", n_missed, n_rows, GOAL, largest);
  return 0;
}
