/* What a run leaves in its HDF5 file and in its summary, column by column: against the same run looked at from inside, and against
 * solutions that are known. A file of zeros would pass most other tests. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cli/program.h"
#include "../cosimulation/cosimulate.h"
#include "io/result_writer.h"
#include <yoke/yoke.h>

#ifdef YOKE_WITH_HDF5
#include "hdf5_read.h"

enum { MAX_ROWS = 2000, MAX_CHANNELS = 12, MAX_OUTPUTS = 48, MAX_PARTS = 3, N_REJECTED = 4 };

/* A run from inside: every macro step and every sample. */
typedef struct seen_macro {
  double               t, H;
  int                  order;
  yoke_step_statistics statistics;
  double               channels[MAX_CHANNELS];
} seen_macro;

typedef struct seen_sample {
  double        t, h, outputs[MAX_OUTPUTS];
  int           order;
  yoke_counters counters, parts[MAX_PARTS];
} seen_sample;

typedef struct witness {
  cosim       c;
  int         n_macro, n_samples, n_channels, n_outputs, n_parts;
  seen_macro  macro[MAX_ROWS];
  seen_sample samples[MAX_ROWS];
} witness;

static yoke_status see_macro(void *user, double t, double H, int order, const yoke_step_statistics *statistics) {
  witness           *w     = user;
  const yoke_system *c     = w->c.system;
  const yoke_graph  *graph = yoke_system_graph(c);
  assert_true(w->n_macro < MAX_ROWS);
  seen_macro *row = &w->macro[w->n_macro++];
  *row            = (seen_macro){.t = t, .H = H, .order = order, .statistics = *statistics};
  w->n_channels   = 0;
  for (int k = 0; k < yoke_system_plan(c)->n_couplings; ++k) {
    for (int i = 0; i < yoke_graph_n_channels(graph, k); ++i) {
      assert_true(w->n_channels < MAX_CHANNELS);
      row->channels[w->n_channels++] = yoke_graph_channel(graph, k, i);
    }
  }
  return YOKE_OK;
}

static yoke_status see_sample(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                              int order) {
  witness *w = user;
  assert_true(w->n_samples < MAX_ROWS && w->n_outputs <= MAX_OUTPUTS && w->n_parts <= MAX_PARTS);
  seen_sample *row = &w->samples[w->n_samples++];
  *row             = (seen_sample){.t = t, .h = h, .order = order, .counters = *counters};
  memcpy(row->outputs, outputs, (size_t)w->n_outputs * sizeof *outputs);
  for (int i = 0; i < w->n_parts; ++i) yoke_system_part_counters(w->c.system, i, &row->parts[i]);
  return YOKE_OK;
}

/* The run of `model` with `sets` (parted by ';') from inside; the caller closes and frees. */
static witness *watch(const char *model, const char *sets) {
  witness *w = calloc(1, sizeof *w);
  assert_non_null(w);
  cosim_open(&w->c, model, sets);
  cosim_expect(&w->c, YOKE_OK);
  w->n_outputs         = w->c.plan->outputs.n;
  w->n_parts           = w->c.plan->n_parts;
  const yoke_sink sink = {.user = w, .sample = see_sample, .macro = see_macro};
  w->c.status          = yoke_system_run(w->c.system, w->c.model->t_end, &sink, &w->c.summary, w->c.ctx);
  cosim_expect(&w->c, YOKE_OK);
  return w;
}

static void unwatch(witness **w) {
  cosim_close(&(*w)->c);
  free(*w);
  *w = NULL;
}

/* The same run by the public call, into `path`. Gives the summary; the caller releases it. */
static yoke_run_summary run_to_file(const char *model, const char *sets, const char *path) {
  char             text[COSIM_TEXT];
  const char      *list[COSIM_MAX_SETS];
  int              n       = 0;
  yoke_run_options options = {.size = sizeof options};
  yoke_run_summary summary = {.size = sizeof summary};
  yoke_context    *ctx     = NULL;
  snprintf(text, sizeof text, "%s", sets);
  for (char *set = strtok(text, ";"); set != NULL; set = strtok(NULL, ";")) list[n++] = set;
  options.model      = model;
  options.n_sets     = n;
  options.sets       = list;
  options.out        = path;
  options.csv        = "";
  options.threads    = 1;
  options.no_predict = true;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_run(ctx, &options, &summary), YOKE_OK);
  yoke_context_destroy(&ctx);
  return summary;
}

/* ---- columns ---- */

/* A column of the file against what was seen: get(row, k) is the number that belongs into row k. */
typedef double (*column_of)(const witness *w, int row);

#define MACRO(name, expression)                                                                                        \
  static double macro_##name(const witness *w, int row) {                                                              \
    const seen_macro *m = &w->macro[row];                                                                              \
    return (double)(expression);                                                                                       \
  }
#define SAMPLE(name, expression)                                                                                       \
  static double sample_##name(const witness *w, int row) {                                                             \
    const seen_sample *s = &w->samples[row];                                                                           \
    return (double)(expression);                                                                                       \
  }
MACRO(t, m->t)
MACRO(H, m->H)
MACRO(order, m->order)
MACRO(iterations, m->statistics.iterations)
MACRO(integrations, m->statistics.integrations)
MACRO(matrices, m->statistics.matrices)
MACRO(kept, m->statistics.has_kept ? 1.0 : 0.0)
MACRO(rate, m->statistics.rate)
MACRO(residual, m->statistics.residual)
MACRO(converged, m->statistics.converged ? 1.0 : 0.0)
MACRO(forced, m->statistics.is_forced ? 1.0 : 0.0)
MACRO(reduced_by, m->statistics.reduced_by)
MACRO(rejected_error, m->statistics.rejected[0])
MACRO(rejected_corrector, m->statistics.rejected[1])
MACRO(rejected_non_finite, m->statistics.rejected[2])
MACRO(rejected_event, m->statistics.rejected[3])
/* NaN without control. */
MACRO(error, yoke_system_choice(w->c.system) != NULL ? m->statistics.error : (double)NAN)
SAMPLE(t, s->t)
SAMPLE(h, s->h)
SAMPLE(order, s->order)
SAMPLE(steps, s->counters.steps)
SAMPLE(rejected, s->counters.rejected)
SAMPLE(evaluations, s->counters.evaluations)
SAMPLE(jacobians, s->counters.jacobians)
SAMPLE(factorizations, s->counters.factorings)

typedef struct column_check {
  const char *name;
  column_of   get;
} column_check;

static const column_check macro_columns[] = {
    {"time", macro_t},
    {"H", macro_H},
    {"order", macro_order},
    {"iterations", macro_iterations},
    {"integrations", macro_integrations},
    {"matrices", macro_matrices},
    {"kept", macro_kept},
    {"rate", macro_rate},
    {"residual", macro_residual},
    {"converged", macro_converged},
    {"error", macro_error},
    {"forced", macro_forced},
    {"reduced_by", macro_reduced_by},
    {"rejected_error", macro_rejected_error},
    {"rejected_corrector", macro_rejected_corrector},
    {"rejected_non-finite", macro_rejected_non_finite},
    {"rejected_event", macro_rejected_event},
};
static const column_check sample_columns[] = {
    {"time", sample_t},
    {"solver/h", sample_h},
    {"solver/order", sample_order},
    {"solver/steps", sample_steps},
    {"solver/rejected", sample_rejected},
    {"solver/evaluations", sample_evaluations},
    {"solver/jacobians", sample_jacobians},
    {"solver/factorizations", sample_factorizations},
};
enum {
  N_MACRO_COLUMNS  = sizeof macro_columns / sizeof *macro_columns,
  N_SAMPLE_COLUMNS = sizeof sample_columns / sizeof *sample_columns
};

static double numbers[MAX_ROWS * MAX_OUTPUTS];

static void check_column(const char *path, const char *group, const column_check *column, const witness *w,
                         int n_rows) {
  char name[64];
  snprintf(name, sizeof name, "%s/%s", group, column->name);
  assert_int_equal(read_dataset(path, name, MAX_ROWS, numbers), n_rows);
  for (int k = 0; k < n_rows; ++k) {
    const double expected = column->get(w, k);
    if (isnan(numbers[k]) && isnan(expected)) continue;
    if (numbers[k] != expected) fail_msg("%s[%d] is %.17g, the run had %.17g", name, k, numbers[k], expected);
  }
}

static void check_macro_steps(const char *path, const witness *w) {
  for (int i = 0; i < N_MACRO_COLUMNS; ++i) check_column(path, "/cosimulation", &macro_columns[i], w, w->n_macro);
  const int n = read_dataset(path, "/cosimulation/couplings/values", MAX_ROWS * MAX_OUTPUTS, numbers);
  assert_int_equal(n, w->n_macro * w->n_channels);
  for (int k = 0; k < w->n_macro; ++k)
    assert_memory_equal(numbers + k * w->n_channels, w->macro[k].channels, (size_t)w->n_channels * sizeof *numbers);
}

static void check_samples(const char *path, const witness *w) {
  for (int i = 0; i < N_SAMPLE_COLUMNS; ++i) check_column(path, "/main", &sample_columns[i], w, w->n_samples);
  const int n = read_dataset(path, "/main/values", MAX_ROWS * MAX_OUTPUTS, numbers);
  assert_int_equal(n, w->n_samples * w->n_outputs);
  for (int k = 0; k < w->n_samples; ++k)
    assert_memory_equal(numbers + k * w->n_outputs, w->samples[k].outputs, (size_t)w->n_outputs * sizeof *numbers);
}

static void check_parts(const char *path, const witness *w, int part, const char *subsystem) {
  static const char *const columns[] = {"steps", "rejected", "evaluations"};
  char                     name[64];
  assert_string_equal(read_name(path, "/subsystems", "names", part, name), subsystem);
  for (int i = 0; i < 3; ++i) {
    snprintf(name, sizeof name, "/subsystems/%s", columns[i]);
    const int n_parts = read_dataset(path, name, MAX_ROWS * MAX_OUTPUTS, numbers) / w->n_samples;
    assert_int_equal(n_parts, 2);
    for (int k = 0; k < w->n_samples; ++k) {
      const yoke_counters *c           = &w->samples[k].parts[part];
      const double         expected[3] = {(double)c->steps, (double)c->rejected, (double)c->evaluations};
      const double         found       = numbers[k * n_parts + part];
      if (found != expected[i]) fail_msg("%s[%d] is %g, the run had %g", name, k, found, expected[i]);
    }
  }
}

/* A jump and an event under step control: degrees, errors and lengths change, trials are rejected, subsystems work unequally. */
#define CONTROLLED "tests/bits/ball.yaml"
#define CONTROLLED_SETS                                                                                                \
  "cosimulation.step={rtol: 1e-5, growth: 1, initial: "                                                                \
  "0.04};cosimulation.order=auto;cosimulation.couplings.decomposition=force/displacement;"                             \
  "solvers.b={kind: radau5}"

static void every_column_holds_what_the_run_had(void **state) {
  fixture         *f = *state;
  char             path[128];
  witness         *w       = watch(CONTROLLED, CONTROLLED_SETS);
  yoke_run_summary summary = run_to_file(CONTROLLED, CONTROLLED_SETS, in_folder(f, "a.h5", path));
  check_macro_steps(path, w);
  check_samples(path, w);
  check_parts(path, w, 0, "a");
  check_parts(path, w, 1, "b");
  char text[64];
  for (int i = 0; i < w->n_outputs; ++i) {
    assert_string_equal(read_name(path, "/main/values", "names", i, text), w->c.plan->outputs.name[i]);
    assert_string_equal(read_name(path, "/main/values", "units", i, text), w->c.plan->outputs.unit[i]);
  }
  unwatch(&w);
  yoke_run_summary_release(&summary);
}

static void descriptions_of_outputs_stand_beside_their_names(void **state) {
  fixture         *f = *state;
  char             path[128], text[64];
  yoke_run_summary summary = run_to_file(
      "examples/two-mass.yaml",
      "t_end=0.01;outputs={far: {value: 2*m1.x, unit: m, description: twice as far}};output.select=[m1.x, far]",
      in_folder(f, "a.h5", path));
  assert_string_equal(read_name(path, "/main/values", "names", 1, text), "far");
  assert_string_equal(read_name(path, "/main/values", "units", 1, text), "m");
  assert_string_equal(read_name(path, "/main/values", "descriptions", 0, text), "");
  assert_string_equal(read_name(path, "/main/values", "descriptions", 1, text), "twice as far");
  yoke_run_summary_release(&summary);
}

/* ... and it had something to write: a column that is the same number throughout shows nothing. */
static void the_run_of_that_test_moves_every_column_that_can_move(void **state) {
  (void)state;
  static const char *const still[] = {"kept", "converged", "forced", "rejected_corrector", "rejected_non-finite"};
  witness                 *w       = watch(CONTROLLED, CONTROLLED_SETS);
  for (int i = 0; i < N_MACRO_COLUMNS; ++i) {
    bool moves = false, may_stand = false;
    for (int k = 1; k < w->n_macro; ++k) moves = moves || macro_columns[i].get(w, k) != macro_columns[i].get(w, 0);
    for (size_t k = 0; k < sizeof still / sizeof *still; ++k)
      may_stand = may_stand || strcmp(still[k], macro_columns[i].name) == 0;
    if (!moves && !may_stand) fail_msg("%s is %g in all steps", macro_columns[i].name, macro_columns[i].get(w, 0));
  }
  for (int i = 0; i < N_SAMPLE_COLUMNS; ++i) {
    const double last = sample_columns[i].get(w, w->n_samples - 1);
    if (last == 0.0) fail_msg("%s ends with 0", sample_columns[i].name);
  }
  assert_true(w->samples[w->n_samples - 1].parts[0].steps != w->samples[w->n_samples - 1].parts[1].steps);
  unwatch(&w);
}

static void the_summary_is_the_sum_of_the_steps(void **state) {
  fixture         *f = *state;
  char             path[128];
  witness         *w       = watch(CONTROLLED, CONTROLLED_SETS);
  yoke_run_summary summary = run_to_file(CONTROLLED, CONTROLLED_SETS, in_folder(f, "a.h5", path));
  int64_t rejected = 0, iterations = 0, integrations = 0, matrices = 0, kept = 0, unconverged = 0, evaluations = 0;
  double  residual = 0.0, rate = 0.0;
  for (int k = 0; k < w->n_macro; ++k) {
    const yoke_step_statistics *s = &w->macro[k].statistics;
    for (int i = 0; i < N_REJECTED; ++i) rejected += s->rejected[i];
    iterations += s->iterations;
    integrations += s->integrations;
    matrices += s->matrices;
    evaluations += s->evaluations;
    kept += s->has_kept ? 1 : 0;
    rate = fmax(rate, s->rate);
    unconverged += s->converged ? 0 : 1;
    residual = fmax(residual, s->residual);
  }
  assert_int_equal(summary.macro_steps, w->n_macro);
  assert_int_equal(summary.rejected_macro_steps, rejected);
  assert_int_equal(summary.iterations, iterations);
  assert_int_equal(summary.integrations, integrations);
  assert_int_equal(summary.matrices, matrices);
  assert_int_equal(summary.all_evaluations, evaluations);
  assert_true(evaluations > summary.evaluations); /* first passes are not accepted */
  assert_int_equal(summary.kept_matrices, kept);
  assert_true(rate > 0.0 ? summary.rate == rate : isnan(summary.rate));
  assert_int_equal(summary.unconverged, unconverged);
  assert_true(summary.residual == residual && residual > 0.0);
  yoke_counters sum = {0};
  for (int i = 0; i < w->n_parts; ++i) {
    const yoke_counters *part = &w->samples[w->n_samples - 1].parts[i];
    sum.steps += part->steps;
    sum.rejected += part->rejected;
    sum.evaluations += part->evaluations;
    sum.jacobians += part->jacobians;
    sum.factorings += part->factorings;
  }
  assert_int_equal(summary.steps, sum.steps);
  assert_int_equal(summary.rejected_steps, sum.rejected);
  assert_int_equal(summary.evaluations, sum.evaluations);
  assert_int_equal(summary.jacobians, sum.jacobians);
  assert_int_equal(summary.factorizations, sum.factorings);
  assert_true(sum.rejected > 0 && sum.jacobians > 0 && sum.factorings > 0);
  unwatch(&w);
  yoke_run_summary_release(&summary);
}

/* Six passes of a waveform with relaxation come near the fixed point in some steps and reach it in others. */
static void a_step_that_has_not_converged_is_marked_and_counted(void **state) {
  fixture         *f     = *state;
  const char      *model = "examples/two-mass.yaml";
  const char      *sets  = "t_end=0.005;cosimulation.scheme=waveform;cosimulation.order=2;cosimulation.start=exact;"
                           "cosimulation.step=1e-4;cosimulation.corrector={max_iterations: 6, atol: 1e-10}";
  char             path[128];
  witness         *w         = watch(model, sets);
  yoke_run_summary summary   = run_to_file(model, sets, in_folder(f, "a.h5", path));
  int              converged = 0;
  check_macro_steps(path, w);
  for (int k = 0; k < w->n_macro; ++k) converged += w->macro[k].statistics.converged ? 1 : 0;
  assert_true(converged > 0 && converged < w->n_macro);
  assert_int_equal(summary.unconverged, w->n_macro - converged);
  unwatch(&w);
  yoke_run_summary_release(&summary);
}

/* ---- solutions that are known ---- */

#define RIGID "examples/two-mass-rigid.yaml"

/* force = m1 m2/(m1 + m2) ((c1/m1 - c2/m2) x + (d1/m1 - d2/m2) v) with the example's numbers. */
static void the_coupling_values_in_the_file_are_the_force_of_the_joint(void **state) {
  enum { N_STEPS = 100, N_SKIP = 3 };
  static double    x[N_STEPS + 1], v[N_STEPS + 1];
  fixture         *f = *state;
  char             path[128];
  const char      *sets    = "t_end=0.1;output.select=[m1.x, m1.v]";
  yoke_run_summary summary = run_to_file(RIGID, sets, in_folder(f, "a.h5", path));
  assert_int_equal(read_dataset(path, "/main/values", 2 * (N_STEPS + 1), numbers), 2 * (N_STEPS + 1));
  for (int k = 0; k <= N_STEPS; ++k) x[k] = numbers[2 * k], v[k] = numbers[2 * k + 1];
  assert_int_equal(read_dataset(path, "/cosimulation/couplings/values", N_STEPS, numbers), N_STEPS);
  for (int k = N_SKIP; k < N_STEPS; ++k) { /* row k is the end of step k, sample k + 1 */
    const double force = 2.0 / 3.0 * (500.0 * x[k + 1] + 5.0 * v[k + 1]);
    CHECK_NEAR(numbers[k], force, 0.01 * 1500.0); /* the multiplier has order 2; its amplitude is 1500 N */
  }
  yoke_run_summary_release(&summary);
}

/* Side 2 follows copies of the ball's motion; which column is which is said by its name. */
static void the_columns_of_coupling_values_have_the_names_of_what_they_hold(void **state) {
  static const char *const names[] = {"spring.force x", "spring.copy 1 x", "spring.copy 1 vx", ""};
  fixture                 *f       = *state;
  char                     path[128], text[64];
  double                   ball[2];
  yoke_run_summary         summary = run_to_file("tests/bits/ball.yaml",
                                                 "t_end=0.2;cosimulation.couplings.decomposition=force/displacement;"
                                                         "output={every: 1, select: [ball.x, ball.v]}",
                                                 in_folder(f, "a.h5", path));
  for (int i = 0; i < 4; ++i)
    assert_string_equal(read_name(path, "/cosimulation/couplings/values", "names", i, text), names[i]);
  const int n_samples = read_dataset(path, "/main/values", MAX_ROWS, numbers);
  memcpy(ball, numbers + n_samples - 2, sizeof ball);
  const int n = read_dataset(path, "/cosimulation/couplings/values", MAX_ROWS, numbers);
  CHECK_NEAR(numbers[n - 2], ball[0], 1e-8);
  CHECK_NEAR(numbers[n - 1], ball[1], 1e-8);
  yoke_run_summary_release(&summary);
}

/* Explicit, degree 0: a step holds the force of the step before, and c = law - force is what the force jumps by. */
static void the_residual_in_the_file_is_the_jump_of_a_held_force(void **state) {
  enum { N_STEPS = 50 };
  static double    residual[N_STEPS];
  fixture         *f = *state;
  char             path[128];
  yoke_run_summary summary =
      run_to_file("examples/two-mass.yaml", "t_end=0.05;cosimulation.scheme=explicit;cosimulation.order=0",
                  in_folder(f, "a.h5", path));
  assert_int_equal(read_dataset(path, "/cosimulation/residual", N_STEPS, residual), N_STEPS);
  assert_int_equal(read_dataset(path, "/cosimulation/couplings/values", N_STEPS, numbers), N_STEPS);
  for (int k = 1; k < N_STEPS; ++k) {
    const double jump = fabs(numbers[k] - numbers[k - 1]);
    CHECK_NEAR(residual[k], jump, 1e-9 * fabs(numbers[k]));
    assert_true(jump > 0.0);
  }
  yoke_run_summary_release(&summary);
}

/* Samples every so many steps; how many rows tell a leak, the last one among them, and how many of these lie at samples. */
static int told_leaks(const fixture *f, const char *every, int steps, double *leak, int *sampled) {
  enum { N_STEPS = 500 };
  char path[128], sets[200];
  int  n = 0;
  snprintf(sets, sizeof sets, "t_end=0.5;cosimulation.scheme=explicit;cosimulation.energy=monitor;output.every=%s",
           every);
  yoke_run_summary summary = run_to_file("examples/two-mass.yaml", sets, in_folder(f, "a.h5", path));
  double           sum     = 0.0;
  *leak                    = summary.leak;
  *sampled                 = 0;
  assert_true(fabs(summary.leak) > 0.0);
  assert_int_equal(read_dataset(path, "/cosimulation/leak", N_STEPS, numbers), N_STEPS);
  for (int k = 0; k < N_STEPS; ++k) {
    if (isnan(numbers[k])) continue;
    assert_true(fabs(numbers[k]) > 0.0);
    sum += numbers[k];
    if ((k + 1) % steps == 0) ++*sampled;
    ++n;
  }
  assert_false(isnan(numbers[N_STEPS - 1]));
  CHECK_NEAR(sum, summary.leak, 1e-9 * fabs(summary.leak));
  yoke_run_summary_release(&summary);
  return n;
}

/* A row has the leak since the last row that has one: NaN where nobody has looked at the energies. */
static void leaks_in_the_file_add_up_to_that_of_the_run(void **state) {
  double all, some, few;
  int    sampled;
  assert_int_equal(told_leaks(*state, "1e-3", 1, &all, &sampled), 500);
  const int n_some = told_leaks(*state, "2.5e-2", 25, &some, &sampled);
  assert_int_equal(sampled, 20);
  assert_true(n_some < 100);
  assert_true(told_leaks(*state, "1", 1, &few, &sampled) < n_some);
  CHECK_NEAR(some, all, 1e-9 * fabs(all));
  CHECK_NEAR(few, all, 1e-9 * fabs(all));
}

/* Energies are looked at in the same points with and without a file. */
static void a_file_does_not_change_the_leak_that_is_told(void **state) {
  const fixture *const f = *state;
  char                 path[128];
  static const char    sets[] = "t_end=0.5;cosimulation.scheme=explicit;cosimulation.energy=monitor;output.every=0.1";
  yoke_run_summary     with   = run_to_file("examples/two-mass.yaml", sets, in_folder(f, "a.h5", path)),
                   without    = run_to_file("examples/two-mass.yaml", sets, "");
  assert_true(with.leak_largest > 0.0);
  assert_true(with.leak == without.leak && with.leak_largest == without.leak_largest);
  yoke_run_summary_release(&with);
  yoke_run_summary_release(&without);
}

/* ---- the writer alone: columns that no short run fills ---- */

static void every_column_of_the_writer_has_its_own_number(void **state) {
  static const char *const subsystems[] = {"a", "b"}, *const channels[] = {"knee.force x", "knee.force y"};
  static const char *const names[] = {"bob.x", "bob.vx"}, *const units[] = {"m", "m/s"};
  static const struct {
    const char *name;
    double      value;
  } columns[] = {
      {"/main/time", 0.125},
      {"/main/solver/steps", 1},
      {"/main/solver/rejected", 2},
      {"/main/solver/evaluations", 3},
      {"/main/solver/jacobians", 4},
      {"/main/solver/factorizations", 5},
      {"/main/solver/h", 0.0625},
      {"/main/solver/order", 7},
      {"/cosimulation/time", 0.25},
      {"/cosimulation/H", 0.5},
      {"/cosimulation/order", 8},
      {"/cosimulation/iterations", 9},
      {"/cosimulation/integrations", 10},
      {"/cosimulation/matrices", 17},
      {"/cosimulation/kept", 1},
      {"/cosimulation/rate", 0.25},
      {"/cosimulation/residual", 1.5},
      {"/cosimulation/converged", 1},
      {"/cosimulation/error", 2.5},
      {"/cosimulation/forced", 1},
      {"/cosimulation/reduced_by", 3},
      {"/cosimulation/rejected_error", 11},
      {"/cosimulation/rejected_corrector", 12},
      {"/cosimulation/rejected_non-finite", 13},
      {"/cosimulation/rejected_event", 14},
  };
  fixture                *f = *state;
  char                    path[128];
  double                  values[2];
  yoke_context           *ctx = NULL;
  yoke_result_writer     *writer;
  const yoke_result_split split = {
      .n_subsystems = 2, .subsystems = subsystems, .n_channels = 2, .channels = channels, .scheme = "implicit"};
  const yoke_result_def def = {
      .path = in_folder(f, "a.h5", path), .group = "main", .n = 2, .names = names, .units = units, .split = &split};
  const yoke_macro_row row     = {.t            = 0.25,
                                  .H            = 0.5,
                                  .order        = 8,
                                  .iterations   = 9,
                                  .integrations = 10,
                                  .matrices     = 17,
                                  .has_kept     = true,
                                  .rate         = 0.25,
                                  .residual     = 1.5,
                                  .converged    = true,
                                  .error        = 2.5,
                                  .rejected     = {11, 12, 13, 14},
                                  .reduced_by   = 3,
                                  .is_forced    = true,
                                  .channels     = (const double[2]){15.0, 16.0}};
  const yoke_macro_row other   = {.channels = (const double[2]){0.0, 0.0}}; /* neither converged nor forced */
  const yoke_counters  total   = {.steps = 1, .rejected = 2, .evaluations = 3, .jacobians = 4, .factorings = 5};
  const yoke_counters  part[2] = {{.steps = 21, .rejected = 22, .evaluations = 23},
                                  {.steps = 31, .rejected = 32, .evaluations = 33}};
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_result_writer_create(ctx, &def, &writer), YOKE_OK);
  assert_int_equal(yoke_result_writer_macro(writer, ctx, &row), YOKE_OK);
  assert_int_equal(yoke_result_writer_macro(writer, ctx, &other), YOKE_OK);
  for (int i = 0; i < 2; ++i) yoke_result_writer_part(writer, i, &part[i], 0.0);
  assert_int_equal(yoke_result_writer_row(writer, ctx, 0.125, (const double[2]){17.0, 18.0}, &total, 0.0625, 7),
                   YOKE_OK);
  bool is_kept;
  assert_int_equal(yoke_result_writer_close(&writer, ctx, "done", true, &is_kept), YOKE_OK);
  for (size_t i = 0; i < sizeof columns / sizeof *columns; ++i) {
    const int n = read_dataset(path, columns[i].name, 2, values);
    if (values[0] != columns[i].value) fail_msg("%s is %g, not %g", columns[i].name, values[0], columns[i].value);
    if (n == 2) assert_true(values[1] == 0.0);
  }
  static const char *const works[] = {"/subsystems/steps", "/subsystems/rejected", "/subsystems/evaluations"};
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(read_dataset(path, works[i], 2, values), 2);
    assert_true(values[0] == 21.0 + i && values[1] == 31.0 + i);
  }
  assert_int_equal(read_dataset(path, "/cosimulation/couplings/values", 4, numbers), 4);
  assert_true(numbers[0] == 15.0 && numbers[1] == 16.0 && numbers[2] == 0.0);
  assert_int_equal(read_dataset(path, "/main/values", 2, values), 2);
  assert_true(values[0] == 17.0 && values[1] == 18.0);
  yoke_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_column_holds_what_the_run_had),
      TEST(descriptions_of_outputs_stand_beside_their_names),
      TEST(the_run_of_that_test_moves_every_column_that_can_move),
      TEST(the_summary_is_the_sum_of_the_steps),
      TEST(a_step_that_has_not_converged_is_marked_and_counted),
      TEST(the_coupling_values_in_the_file_are_the_force_of_the_joint),
      TEST(the_columns_of_coupling_values_have_the_names_of_what_they_hold),
      TEST(the_residual_in_the_file_is_the_jump_of_a_held_force),
      TEST(leaks_in_the_file_add_up_to_that_of_the_run),
      TEST(a_file_does_not_change_the_leak_that_is_told),
      TEST(every_column_of_the_writer_has_its_own_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { /* no HDF5, no file */
  return 0;
}

#endif
