/* The public simulation: steps, reads, saves and records as a run does, alone and beside others. Uses include/yoke only; the library's calls of
 * allocations and of getenv lead here (tests/CMakeLists.txt). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "canceller.h"
#include "../allocations.h"
#include "../check.h"
#include "../folder.h"
#include <yoke/yoke.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- environment ---- */

char *__wrap_getenv(const char *name);
char *__wrap_secure_getenv(const char *name);

static atomic_int n_questions;

char *__wrap_getenv(const char *name) {
  (void)name;
  ++n_questions;
  return NULL;
}

char *__wrap_secure_getenv(const char *name) {
  return __wrap_getenv(name);
}

/* ---- models ---- */

static const char *const two_mass = "examples/two-mass.yaml", *const double_pendulum = "examples/double-pendulum.yaml",
                         *const pendulum = "examples/pendulum.yaml", *const ball = "tests/bits/ball.yaml",
                         *const robot_arm = "examples/robot-arm.yaml";

#define CONTROL "cosimulation.step={rtol: 1e-4}"
#define INSIDE "output.every=3e-4"
#define STOP "events.high={when: ball.x - 0.03, direction: rising, action: stop}"

typedef struct run_case {
  const char *model, *sets; /* sets parted by ';' */
  bool        monolithic;
} run_case;

static const run_case cases[] = {
    {two_mass, "t_end=0.05", false},
    {two_mass, "t_end=0.05;" INSIDE, false},
    {two_mass, "t_end=0.05;output.every=0;cosimulation.scheme=explicit;cosimulation.start=graded", false},
    {two_mass, "t_end=0.05;" INSIDE ";" CONTROL, false},
    {two_mass, "t_end=0.05", true},
    {double_pendulum, "t_end=0.05;output.every=1.3e-3;output.select=['*', total.balance]", false},
    {double_pendulum, "t_end=0.05;output.every=0;" CONTROL, false},
    {double_pendulum, "t_end=0.2", true},
    {pendulum, "t_end=0.5", false},
    {pendulum, "t_end=0.5;output.every=0;solvers.default.kind=radau5", false},
    {ball, NULL, false},
    {ball, "output.every=0", false},
    {ball, CONTROL, false},
    {ball, NULL, true},
    {ball, STOP, false},
    {ball, STOP ";" CONTROL, false},
    {ball, STOP ";output.every=0", true},
};
enum { N_CASES = sizeof cases / sizeof *cases, MOST_SETS = 12, ROOM = 1024 };

/* ---- helpers ---- */

typedef struct set_list {
  char        text[ROOM];
  int         n;
  const char *list[MOST_SETS];
} set_list;

static void split_sets(const char *sets, set_list *out) {
  out->n = 0;
  snprintf(out->text, sizeof out->text, "%s", sets != NULL ? sets : "");
  for (char *rest = out->text, *next = rest; *rest != '\0'; rest = next) {
    next = rest + strcspn(rest, ";");
    if (*next == ';') *next++ = '\0';
    assert_true(out->n < MOST_SETS);
    out->list[out->n++] = rest;
  }
}

static void expect(yoke_context *ctx, yoke_status status, yoke_status wanted) {
  if (status == wanted) return;
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) print_message("%s\n", yoke_context_message(ctx, i));
  fail_msg("%s, expected %s", yoke_status_name(status), yoke_status_name(wanted));
}

/* Failed as it should, with a message that holds `part`. */
static void expect_failure(yoke_context *ctx, yoke_status status, yoke_status wanted, const char *part) {
  expect(ctx, status, wanted);
  if (!has_message(ctx, part)) {
    for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) print_message("%s\n", yoke_context_message(ctx, i));
    fail_msg("no message '%s'", part);
  }
  yoke_context_clear(ctx);
}

static yoke_model *load(yoke_context *ctx, const char *path, const char *sets) {
  set_list    list;
  yoke_model *model = NULL;
  split_sets(sets, &list);
  const yoke_load_options options = {.size = sizeof options, .n_sets = list.n, .sets = list.list};
  expect(ctx, yoke_model_load(ctx, path, &options, &model), YOKE_OK);
  return model;
}

/* The model is gone as soon as the simulation is there. */
static yoke_simulation *open_with(yoke_context *ctx, const char *path, const char *sets,
                                  const yoke_simulation_options *options) {
  yoke_simulation *s     = NULL;
  yoke_model      *model = load(ctx, path, sets);
  expect(ctx, yoke_simulation_create(ctx, model, options, &s), YOKE_OK);
  yoke_model_destroy(&model);
  return s;
}

static yoke_simulation *open_case(yoke_context *ctx, const run_case *c) {
  const yoke_simulation_options options = {
      .size = sizeof options, .monolithic = c->monolithic, .exec = "serial", .threads = 1, .no_predict = true};
  return open_with(ctx, c->model, c->sets, &options);
}

static void record(yoke_context *ctx, yoke_simulation *s, const char *out, const char *csv) {
  const yoke_record_options options = {.size = sizeof options, .out = out, .csv = csv};
  expect(ctx, yoke_simulation_record(ctx, s, &options), YOKE_OK);
}

static void step_to_end(yoke_context *ctx, yoke_simulation *s) {
  while (!yoke_simulation_has_ended(s)) expect(ctx, yoke_simulation_step(ctx, s, NULL), YOKE_OK);
}

static char *text_of(const char *path) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  const long size = ftell(file);
  char      *text = malloc((size_t)size + 1);
  rewind(file);
  assert_true(size > 0 && fread(text, 1, (size_t)size, file) == (size_t)size);
  text[size] = '\0';
  fclose(file);
  return text;
}

/* CSV has all digits: equal texts are equal bits. */
static void expect_same_file(const char *a, const char *b, const char *what) {
  char *text[2] = {text_of(a), text_of(b)};
  if (strcmp(text[0], text[1]) != 0) fail_msg("%s: '%s' and '%s' differ", what, a, b);
  free(text[0]);
  free(text[1]);
}

static yoke_run_summary run(yoke_context *ctx, const run_case *c, const char *out, const char *csv) {
  yoke_run_options options = {.size = sizeof options};
  yoke_run_summary summary = {.size = sizeof summary};
  set_list         list;
  split_sets(c->sets, &list);
  options.model      = c->model;
  options.n_sets     = list.n;
  options.sets       = list.list;
  options.monolithic = c->monolithic;
  options.exec       = "serial";
  options.threads    = 1;
  options.no_predict = true;
  options.out        = out;
  options.csv        = csv;
  expect(ctx, yoke_run(ctx, &options, &summary), YOKE_OK);
  return summary;
}

static void name_case(const run_case *c, char text[ROOM]) {
  snprintf(text, ROOM, "%s%s with %.900s", c->model, c->monolithic ? " as a whole" : "",
           c->sets != NULL ? c->sets : "-");
}

/* ---- steps ---- */

static void expect_same_statistics(const yoke_run_summary *run, const yoke_simulation_statistics *s) {
  assert_int_equal(s->steps, run->steps);
  assert_int_equal(s->rejected_steps, run->rejected_steps);
  assert_int_equal(s->evaluations, run->evaluations);
  assert_int_equal(s->jacobians, run->jacobians);
  assert_int_equal(s->factorizations, run->factorizations);
  assert_string_equal(s->method, run->method);
  assert_int_equal(s->has_energy, run->has_energy);
  assert_memory_equal(&s->energy_drift, &run->energy_drift, sizeof(double));
  assert_memory_equal(&s->constraint_residual, &run->constraint_residual, sizeof(double));
  assert_int_equal(s->n_events, run->n_events);
  assert_int_equal(s->n_rows, run->n_rows);
  assert_int_equal(s->is_split, run->is_split);
  assert_int_equal(s->macro_steps, run->macro_steps);
  assert_int_equal(s->rejected_macro_steps, run->rejected_macro_steps);
  assert_int_equal(s->iterations, run->iterations);
  assert_int_equal(s->integrations, run->integrations);
  assert_int_equal(s->matrices, run->matrices);
  assert_int_equal(s->all_evaluations, run->all_evaluations);
  assert_int_equal(s->all_jacobians, run->all_jacobians);
  assert_int_equal(s->kept_matrices, run->kept_matrices);
  assert_int_equal(s->unconverged, run->unconverged);
  assert_memory_equal(&s->residual, &run->residual, sizeof(double));
  assert_memory_equal(&s->report, &run->report, sizeof run->report);
  for (int k = 0; k < YOKE_N_RESIDUAL_KINDS; ++k)
    assert_memory_equal(&s->residuals[k].largest, &run->residuals[k].largest, sizeof(double));
}

static void a_run_by_steps_has_the_bits_of_a_run(void **state) {
  const fixture *f = *state;
  char           a[128], b[128];
  in_folder(f, "run.csv", a);
  in_folder(f, "steps.csv", b);
  for (int k = 0; k < N_CASES; ++k) {
    char what[ROOM];
    name_case(&cases[k], what);
    yoke_run_summary           summary    = run(f->ctx, &cases[k], a, "");
    yoke_simulation           *s          = open_case(f->ctx, &cases[k]);
    yoke_simulation_statistics statistics = {.size = sizeof statistics};
    record(f->ctx, s, b, "");
    step_to_end(f->ctx, s);
    expect(f->ctx, yoke_simulation_statistics_get(f->ctx, s, &statistics), YOKE_OK);
    expect_same_statistics(&summary, &statistics);
    assert_true(yoke_simulation_t(s) == summary.t);
    expect(f->ctx, yoke_simulation_record_end(f->ctx, s), YOKE_OK);
    yoke_simulation_destroy(&s);
    assert_null(s);
    expect_same_file(a, b, what);
    yoke_run_summary_release(&summary);
    yoke_context_clear(f->ctx);
  }
}

/* The same file as HDF5, to the macro steps. */
static void a_record_is_the_file_of_a_run(void **state) {
  const fixture *f = *state;
  if (!yoke_has_hdf5()) skip();
  char a[128], b[128];
  in_folder(f, "run.h5", a);
  in_folder(f, "steps.h5", b);
  const run_case   split   = {two_mass, "t_end=0.05;" INSIDE ";" CONTROL, false};
  yoke_run_summary summary = run(f->ctx, &split, a, "");
  yoke_simulation *s       = open_case(f->ctx, &split);
  record(f->ctx, s, b, "");
  expect(f->ctx, yoke_simulation_run_to(f->ctx, s, yoke_simulation_t_end(s)), YOKE_OK);
  yoke_simulation_destroy(&s); /* ends the record too */
  yoke_result          *results[2] = {NULL, NULL};
  yoke_result_facts     facts[2]   = {{.size = sizeof facts[0]}, {.size = sizeof facts[1]}};
  yoke_comparison      *comparison = NULL;
  yoke_comparison_facts found      = {.size = sizeof found};
  expect(f->ctx, yoke_result_open(f->ctx, a, &results[0]), YOKE_OK);
  expect(f->ctx, yoke_result_open(f->ctx, b, &results[1]), YOKE_OK);
  expect(f->ctx, yoke_result_compare(f->ctx, results[0], results[1], &comparison), YOKE_OK);
  expect(f->ctx, yoke_comparison_facts_get(f->ctx, comparison, &found), YOKE_OK);
  assert_true(found.same_bits);
  for (int i = 0; i < 2; ++i) expect(f->ctx, yoke_result_facts_get(f->ctx, results[i], &facts[i]), YOKE_OK);
  assert_string_equal(facts[1].status, "done");
  assert_string_equal(facts[0].model, facts[1].model);
  assert_string_equal(facts[0].settings, facts[1].settings);
  assert_string_equal(facts[0].control, facts[1].control);
  assert_int_equal(facts[0].n_macro_steps, facts[1].n_macro_steps);
  assert_true(facts[1].n_macro_steps > 5);
  assert_memory_equal(&facts[0].report, &facts[1].report, sizeof facts[0].report);
  yoke_comparison_destroy(&comparison);
  for (int i = 0; i < 2; ++i) yoke_result_close(&results[i]);
  yoke_run_summary_release(&summary);
}

static void running_to_macro_points_on_the_way_changes_no_bit(void **state) {
  const fixture *f = *state;
  char           a[128], b[128];
  in_folder(f, "run.csv", a);
  in_folder(f, "legs.csv", b);
  const run_case   c       = {two_mass, "t_end=0.05", false};
  yoke_run_summary summary = run(f->ctx, &c, a, "");
  yoke_simulation *s       = open_case(f->ctx, &c);
  record(f->ctx, s, b, "");
  for (int k = 0; k <= 5; ++k) {
    expect(f->ctx, yoke_simulation_run_to(f->ctx, s, k < 5 ? 10 * k * 1e-3 : 0.05), YOKE_OK);
    assert_true(yoke_simulation_t(s) == (k < 5 ? 10 * k * 1e-3 : 0.05));
  }
  expect(f->ctx, yoke_simulation_record_end(f->ctx, s), YOKE_OK);
  expect_same_file(a, b, "legs");
  yoke_simulation_destroy(&s);
  yoke_run_summary_release(&summary);
}

static void run_to_ends_exactly_where_it_was_asked_to(void **state) {
  const fixture *f = *state;
  for (int whole = 0; whole < 2; ++whole) {
    const run_case   c = {double_pendulum, "t_end=0.05", whole};
    yoke_simulation *s = open_case(f->ctx, &c);
    expect(f->ctx, yoke_simulation_run_to(f->ctx, s, 0.01234), YOKE_OK);
    assert_true(yoke_simulation_t(s) == 0.01234);
    expect(f->ctx, yoke_simulation_run_to(f->ctx, s, 0.01234), YOKE_OK); /* nothing to do */
    assert_false(yoke_simulation_has_ended(s));
    yoke_simulation_destroy(&s);
  }
}

static void a_step_tells_what_it_did(void **state) {
  const fixture  *f     = *state;
  const run_case  c     = {double_pendulum, "t_end=0.01;cosimulation.step=1e-3;cosimulation.scheme=implicit", false};
  yoke_step_facts facts = {.size = sizeof facts};
  for (int whole = 0; whole < 2; ++whole) {
    const run_case   one                            = {c.model, c.sets, whole};
    yoke_simulation *s                              = open_case(f->ctx, &one);
    double           t                              = yoke_simulation_t(s);
    int              n                              = 0;
    double           largest[YOKE_N_RESIDUAL_KINDS] = {0};
    assert_true(t == yoke_simulation_t_start(s));
    do {
      expect(f->ctx, yoke_simulation_step(f->ctx, s, &facts), YOKE_OK);
      assert_int_equal(facts.size, sizeof facts);
      assert_true(facts.t == yoke_simulation_t(s) && facts.H == facts.t - t);
      assert_true(facts.converged && isnan(facts.error));
      assert_int_equal(facts.n_events, 0);
      if (whole == 0) {
        assert_int_equal(facts.order, 1);
        assert_true(facts.iterations >= 1 && facts.integrations >= 4);
        CHECK_NEAR(facts.H, 1e-3, 1e-15);
        for (int i = 0; i < YOKE_N_RESIDUAL_KINDS; ++i) largest[i] = fmax(largest[i], facts.residuals[i]);
      } else {
        assert_int_equal(facts.iterations, 0);
      }
      t = facts.t;
      ++n;
    } while (!facts.has_ended);
    assert_true(t == yoke_simulation_t_end(s) && t == 0.01);
    if (whole == 0) {
      yoke_simulation_statistics statistics = {.size = sizeof statistics};
      expect(f->ctx, yoke_simulation_statistics_get(f->ctx, s, &statistics), YOKE_OK);
      for (int i = 0; i < YOKE_N_RESIDUAL_KINDS; ++i) assert_true(statistics.residuals[i].largest == largest[i]);
      assert_true(n == 10 && largest[0] > 0.0);
    }
    expect_failure(f->ctx, yoke_simulation_step(f->ctx, s, &facts), YOKE_E_USAGE, "has ended at t = 0.01 s");
    yoke_simulation_destroy(&s);
  }
}

static void a_step_under_control_tells_its_error_and_what_was_rejected(void **state) {
  const fixture   *f        = *state;
  const run_case   c        = {two_mass, "t_end=0.05;" CONTROL ";cosimulation.step.initial=1e-2", false};
  yoke_simulation *s        = open_case(f->ctx, &c);
  int64_t          rejected = 0;
  while (!yoke_simulation_has_ended(s)) {
    yoke_step_facts facts = {.size = sizeof facts};
    expect(f->ctx, yoke_simulation_step(f->ctx, s, &facts), YOKE_OK);
    assert_true(facts.error > 0.0 && facts.error <= 1.0);
    for (int i = 0; i < YOKE_N_REJECTED; ++i) rejected += facts.rejected[i];
  }
  yoke_simulation_statistics statistics = {.size = sizeof statistics};
  expect(f->ctx, yoke_simulation_statistics_get(f->ctx, s, &statistics), YOKE_OK);
  assert_true(rejected > 0);
  assert_int_equal(rejected, statistics.rejected_macro_steps);
  yoke_simulation_destroy(&s);
}

/* ---- events and progress ---- */

typedef struct witness {
  int    n_events, n_calls, most_calls;
  double t_event, t_progress;
  char   name[40];
} witness;

static void see_event(void *user, const yoke_event_facts *event) {
  witness *w = user;
  assert_int_equal(event->size, sizeof *event);
  ++w->n_events;
  w->t_event = event->t;
  snprintf(w->name, sizeof w->name, "%s", event->name);
}

static bool see_progress(void *user, double t, double t_start, double t_end) {
  witness *w = user;
  assert_true(t >= w->t_progress && t >= t_start && t <= t_end);
  w->t_progress = t;
  return ++w->n_calls != w->most_calls;
}

static void events_are_told_behind_their_step_and_by_callback(void **state) {
  const fixture *f = *state;
  for (int k = 0; k < 3; ++k) { /* fixed, controlled, as a whole */
    witness                       w       = {0};
    const yoke_simulation_options options = {.size          = sizeof options,
                                             .monolithic    = k == 2,
                                             .no_predict    = true,
                                             .exec          = "serial",
                                             .event         = see_event,
                                             .event_user    = &w,
                                             .progress      = see_progress,
                                             .progress_user = &w};
    yoke_simulation              *s       = open_with(f->ctx, ball, k == 1 ? STOP ";" CONTROL : STOP, &options);
    int                           n = 0, n_sets = 0, n_steps = 0;
    yoke_event_facts              event = {.size = sizeof event};
    while (!yoke_simulation_has_ended(s)) {
      yoke_step_facts facts = {.size = sizeof facts};
      expect(f->ctx, yoke_simulation_step(f->ctx, s, &facts), YOKE_OK);
      n += facts.n_events;
      ++n_steps;
      for (int i = 0; i < facts.n_events; ++i) {
        expect(f->ctx, yoke_simulation_event(f->ctx, s, i, &event), YOKE_OK);
        assert_true(event.t == facts.t);
        n_sets += event.effect == YOKE_EFFECT_SET;
      }
      assert_true(w.t_progress == facts.t);
    }
    assert_int_equal(event.effect, YOKE_EFFECT_END);
    assert_string_equal(event.name, "high");
    assert_true(n_sets >= 1 && n == n_sets + 1 && w.n_events == n && w.n_calls >= n_steps);
    assert_string_equal(w.name, "high");
    assert_true(w.t_event == event.t && yoke_simulation_t(s) < yoke_simulation_t_end(s));
    expect_failure(f->ctx, yoke_simulation_event(f->ctx, s, 1, &event), YOKE_E_USAGE, "no event number 1");
    expect_failure(f->ctx, yoke_simulation_step(f->ctx, s, NULL), YOKE_E_USAGE, "by an event");
    expect(f->ctx, yoke_simulation_run_to(f->ctx, s, yoke_simulation_t_end(s)), YOKE_OK); /* it stays where it ended */
    assert_true(w.t_event == yoke_simulation_t(s));
    yoke_simulation_destroy(&s);
    yoke_context_clear(f->ctx);
  }
}

static void an_event_that_only_records_is_told_with_its_own_time(void **state) {
  const fixture   *f = *state;
  const run_case   c = {ball, "events.pass={when: ball.x - 0.4, direction: falling};t_end=0.3", false};
  yoke_simulation *s = open_case(f->ctx, &c);
  int              n = 0;
  while (!yoke_simulation_has_ended(s)) {
    yoke_step_facts facts = {.size = sizeof facts};
    expect(f->ctx, yoke_simulation_step(f->ctx, s, &facts), YOKE_OK);
    for (int i = 0; i < facts.n_events; ++i) {
      yoke_event_facts event = {.size = sizeof event};
      expect(f->ctx, yoke_simulation_event(f->ctx, s, i, &event), YOKE_OK);
      assert_int_equal(event.effect, YOKE_EFFECT_NONE);
      assert_true(event.t > facts.t - facts.H && event.t < facts.t);
      ++n;
    }
  }
  assert_int_equal(n, 1);
  yoke_simulation_destroy(&s);
}

/* ---- quantities ---- */

enum { MOST_QUANTITIES = 128, NAME = 64 };

typedef struct quantity_list {
  int         n, most;
  char        text[MOST_QUANTITIES][NAME];
  const char *names[MOST_QUANTITIES];
} quantity_list;

static bool list_quantity(void *user, const char *name, const char *unit) {
  quantity_list *list = user;
  assert_true(list->n < MOST_QUANTITIES && strlen(name) < NAME && unit[0] != '\0');
  strcpy(list->text[list->n], name);
  list->names[list->n] = list->text[list->n];
  return ++list->n != list->most;
}

/* All quantities of a model at every step against the rows of the file; what only couplings show is asked for too. */
static void handles_read_what_is_recorded(void **state) {
  const fixture *f = *state;
  char           path[128];
  in_folder(f, "record.csv", path);
  const run_case list[] = {{two_mass, "t_end=0.02;output={every: 0, select: ['*', '*.mismatch*']}", false},
                           {double_pendulum, "t_end=0.02;output={every: 0, select: ['*', total.balance]}", false},
                           {double_pendulum, "t_end=0.02;output={every: 0, select: ['*']}", true},
                           {robot_arm, "t_end=0.02;output={every: 0, select: ['*', '*.tip.*', '*.angle*']}", false}};
  for (size_t k = 0; k < sizeof list / sizeof *list; ++k) {
    yoke_simulation *s = open_case(f->ctx, &list[k]);
    quantity_list    q = {0};
    int              handles[MOST_QUANTITIES];
    enum { MOST_ROWS = 200 };
    static double values[MOST_ROWS][MOST_QUANTITIES];
    size_t        n_rows = 0;
    yoke_simulation_list(s, list_quantity, &q);
    expect(f->ctx, yoke_simulation_find(f->ctx, s, q.n, q.names, handles), YOKE_OK);
    record(f->ctx, s, path, "");
    expect(f->ctx, yoke_simulation_get(f->ctx, s, q.n, handles, values[n_rows++]), YOKE_OK);
    while (!yoke_simulation_has_ended(s)) {
      expect(f->ctx, yoke_simulation_step(f->ctx, s, NULL), YOKE_OK);
      assert_true(n_rows < MOST_ROWS);
      expect(f->ctx, yoke_simulation_get(f->ctx, s, q.n, handles, values[n_rows++]), YOKE_OK);
    }
    expect(f->ctx, yoke_simulation_record_end(f->ctx, s), YOKE_OK);
    yoke_simulation_destroy(&s);
    yoke_result *result = NULL;
    expect(f->ctx, yoke_result_open(f->ctx, path, &result), YOKE_OK);
    int n_compared = 0;
    for (int i = 0; i < q.n; ++i) {
      const int column = yoke_result_find(result, q.names[i]);
      double    written[MOST_ROWS];
      size_t    n;
      if (column < 0) continue;
      ++n_compared;
      (void)yoke_result_times(result, column, &n);
      assert_int_equal(n, n_rows);
      expect(f->ctx, yoke_result_read(f->ctx, result, column, written), YOKE_OK);
      for (size_t row = 0; row < n; ++row) assert_memory_equal(&values[row][i], &written[row], sizeof(double));
    }
    assert_int_equal(n_compared, yoke_result_n_quantities(result));
    assert_true(n_compared > 8);
    yoke_result_close(&result);
  }
}

static void a_name_has_one_handle_and_reading_allocates_nothing(void **state) {
  const fixture   *f       = *state;
  const run_case   c       = {double_pendulum, "t_end=0.2;output.every=1", false};
  yoke_simulation *s       = open_case(f->ctx, &c);
  const char      *names[] = {"upper.x", "knee.force[1]", "total.energy", "upper.x", "lower.omega", "knee.mismatch[2]"};
  int              handles[6], again[6];
  double           values[6];
  expect(f->ctx, yoke_simulation_find(f->ctx, s, 6, names, handles), YOKE_OK);
  expect(f->ctx, yoke_simulation_find(f->ctx, s, 6, names, again), YOKE_OK);
  assert_memory_equal(handles, again, sizeof handles);
  assert_int_equal(handles[0], handles[3]);
  for (int k = 0; k < 100; ++k) {
    if (k > 0) expect(f->ctx, yoke_simulation_step(f->ctx, s, NULL), YOKE_OK);
    const int before = n_allocations;
    expect(f->ctx, yoke_simulation_get(f->ctx, s, 6, handles, values), YOKE_OK);
    assert_int_equal(n_allocations, before);
    assert_true(values[0] == values[3]);
  }
  yoke_simulation_destroy(&s);
}

static void a_list_ends_when_it_is_told_to(void **state) {
  const fixture   *f = *state;
  const run_case   c = {two_mass, NULL, false};
  yoke_simulation *s = open_case(f->ctx, &c);
  quantity_list    q = {.most = 3};
  yoke_simulation_list(s, list_quantity, &q);
  assert_int_equal(q.n, 3);
  assert_string_equal(q.names[0], "m1.x");
  yoke_simulation_destroy(&s);
}

static void unknown_names_are_all_told_with_the_nearest_and_leave_nothing(void **state) {
  const fixture   *f        = *state;
  const run_case   c        = {two_mass, NULL, false};
  yoke_simulation *s        = open_case(f->ctx, &c);
  const char      *names[3] = {"m1.y", "m2.v", "copling.force[1]"};
  int              handles[3];
  double           value;
  expect(f->ctx, yoke_simulation_find(f->ctx, s, 3, names, handles), YOKE_E_USAGE);
  assert_true(has_message(f->ctx, "'m1.y'; did you mean 'm1.a'?"));
  expect_failure(f->ctx, YOKE_E_USAGE, YOKE_E_USAGE, "did you mean 'coupling.force[1]'?");
  handles[0] = 0;
  expect_failure(f->ctx, yoke_simulation_get(f->ctx, s, 1, handles, &value), YOKE_E_USAGE, "no quantity number 0");
  expect(f->ctx, yoke_simulation_find(f->ctx, s, 1, &names[1], handles), YOKE_OK);
  assert_int_equal(handles[0], 0);
  expect(f->ctx, yoke_simulation_get(f->ctx, s, 1, handles, &value), YOKE_OK);
  assert_true(value == -100.0);
  handles[0] = -1;
  expect_failure(f->ctx, yoke_simulation_get(f->ctx, s, 1, handles, &value), YOKE_E_USAGE, "no quantity number -1");
  yoke_simulation_destroy(&s);
}

/* Where it is not counted anyway: rigid joints under step control, and drag. */
static void work_exists_where_it_was_announced(void **state) {
  static const char dear[] = "t_end=0.01;cosimulation.step={rtol: 1e-4}";
  const fixture    *f      = *state;
  for (int k = 0; k < 2; ++k) {
    const char *const             names[1] = {"total.balance"};
    const yoke_simulation_options options  = {
         .size = sizeof options, .no_predict = true, .exec = "serial", .n_quantities = k, .quantities = names};
    yoke_simulation *s = open_with(f->ctx, double_pendulum, dear, &options);
    int              handle;
    double           values[2];
    if (k == 0) {
      expect_failure(f->ctx, yoke_simulation_find(f->ctx, s, 1, names, &handle), YOKE_E_USAGE,
                     "work is not integrated");
    } else {
      expect(f->ctx, yoke_simulation_find(f->ctx, s, 1, names, &handle), YOKE_OK);
      expect(f->ctx, yoke_simulation_get(f->ctx, s, 1, &handle, &values[0]), YOKE_OK);
      expect(f->ctx, yoke_simulation_run_to(f->ctx, s, 0.01), YOKE_OK);
      expect(f->ctx, yoke_simulation_get(f->ctx, s, 1, &handle, &values[1]), YOKE_OK);
      CHECK_NEAR(values[1], values[0], 1e-4);
    }
    yoke_simulation_destroy(&s);
  }
}

/* A mass so fast that the square of its velocity is no number. */
static void a_value_that_is_not_finite_is_named_and_others_are_there(void **state) {
  const fixture   *f       = *state;
  const char      *text    = "yoke: 1\nt_end: 1\nbodies: {a: {kind: mass1d, mass: 1, v: 1e200}}\n"
                             "solvers: {default: exact}\noutput: {select: [a.x]}\n";
  const char      *names[] = {"a.v", "total.kinetic"};
  yoke_model      *model   = NULL;
  yoke_simulation *s       = NULL;
  int              handles[2];
  double           values[2] = {0};
  expect(f->ctx, yoke_model_load_text(f->ctx, "fast.yaml", text, strlen(text), NULL, &model), YOKE_OK);
  expect(f->ctx, yoke_simulation_create(f->ctx, model, NULL, &s), YOKE_OK);
  yoke_model_destroy(&model);
  expect(f->ctx, yoke_simulation_find(f->ctx, s, 2, names, handles), YOKE_OK);
  expect_failure(f->ctx, yoke_simulation_get(f->ctx, s, 2, handles, values), YOKE_E_UNSTABLE,
                 "'total.kinetic' is not finite at t = 0 s");
  assert_true(values[0] == 1e200);
  expect(f->ctx, yoke_simulation_get(f->ctx, s, 1, handles, values), YOKE_OK);
  yoke_simulation_destroy(&s);
}

/* ---- states ---- */

static void go(yoke_context *ctx, yoke_simulation *s, int n_steps) {
  for (int i = 0; i < n_steps && !yoke_simulation_has_ended(s); ++i)
    expect(ctx, yoke_simulation_step(ctx, s, NULL), YOKE_OK);
}

/* The rest of a simulation from where it is, as a file. */
static void record_rest(yoke_context *ctx, yoke_simulation *s, const char *path) {
  record(ctx, s, path, "");
  step_to_end(ctx, s);
  expect(ctx, yoke_simulation_record_end(ctx, s), YOKE_OK);
}

static void a_restored_simulation_goes_on_with_the_same_bits(void **state) {
  const fixture *f = *state;
  char           a[128], b[128], c[128];
  in_folder(f, "a.csv", a);
  in_folder(f, "b.csv", b);
  in_folder(f, "c.csv", c);
  for (int k = 0; k < N_CASES; ++k) {
    char what[ROOM];
    name_case(&cases[k], what);
    yoke_simulation           *s = open_case(f->ctx, &cases[k]), *other = open_case(f->ctx, &cases[k]);
    yoke_snapshot             *early = NULL, *late = NULL, *sent = NULL;
    yoke_simulation_statistics end[2] = {{.size = sizeof *end}, {.size = sizeof *end}};
    go(f->ctx, s, 7);
    expect(f->ctx, yoke_simulation_save(f->ctx, s, &early), YOKE_OK);
    const double t = yoke_simulation_t(s);
    record_rest(f->ctx, s, a);
    expect(f->ctx, yoke_simulation_statistics_get(f->ctx, s, &end[0]), YOKE_OK);
    expect(f->ctx, yoke_simulation_save(f->ctx, s, &late), YOKE_OK);
    for (int again = 0; again < 2; ++again) {
      expect(f->ctx, yoke_simulation_restore(f->ctx, s, early), YOKE_OK);
      assert_true(yoke_simulation_t(s) == t);
      record_rest(f->ctx, s, b);
      expect_same_file(a, b, what);
    }
    expect(f->ctx, yoke_simulation_statistics_get(f->ctx, s, &end[1]), YOKE_OK);
    assert_memory_equal(&end[0].report, &end[1].report, sizeof end[0].report);
    assert_int_equal(end[0].evaluations, end[1].evaluations);
    assert_int_equal(end[0].n_events, end[1].n_events);
    size_t      size;
    const void *bytes = yoke_snapshot_bytes(early, &size);
    expect(f->ctx, yoke_snapshot_from_bytes(f->ctx, bytes, size, &sent), YOKE_OK);
    yoke_snapshot_destroy(&early);
    go(f->ctx, other, 3);
    expect(f->ctx, yoke_simulation_restore(f->ctx, other, sent), YOKE_OK);
    record_rest(f->ctx, other, c);
    expect_same_file(a, c, what);
    expect(f->ctx, yoke_simulation_restore(f->ctx, other, late), YOKE_OK); /* the end is a state too */
    assert_true(yoke_simulation_has_ended(other));
    yoke_snapshot_destroy(&late);
    yoke_snapshot_destroy(&sent);
    assert_null(sent);
    yoke_simulation_destroy(&s);
    yoke_simulation_destroy(&other);
    yoke_context_clear(f->ctx);
  }
}

static void values_are_read_anew_behind_a_restore(void **state) {
  const fixture   *f        = *state;
  const run_case   c        = {two_mass, "t_end=0.05", false};
  yoke_simulation *s        = open_case(f->ctx, &c);
  const char      *name     = "m1.x";
  yoke_snapshot   *snapshot = NULL;
  int              handle;
  double           x[3];
  expect(f->ctx, yoke_simulation_find(f->ctx, s, 1, &name, &handle), YOKE_OK);
  go(f->ctx, s, 5);
  expect(f->ctx, yoke_simulation_save(f->ctx, s, &snapshot), YOKE_OK);
  expect(f->ctx, yoke_simulation_get(f->ctx, s, 1, &handle, &x[0]), YOKE_OK);
  go(f->ctx, s, 5);
  expect(f->ctx, yoke_simulation_get(f->ctx, s, 1, &handle, &x[1]), YOKE_OK);
  expect(f->ctx, yoke_simulation_restore(f->ctx, s, snapshot), YOKE_OK);
  expect(f->ctx, yoke_simulation_get(f->ctx, s, 1, &handle, &x[2]), YOKE_OK);
  assert_true(x[0] == x[2] && x[0] != x[1]);
  expect(f->ctx, yoke_simulation_save(f->ctx, s, &snapshot), YOKE_OK); /* over the same one, twice */
  go(f->ctx, s, 5);
  expect(f->ctx, yoke_simulation_save(f->ctx, s, &snapshot), YOKE_OK);
  expect(f->ctx, yoke_simulation_restore(f->ctx, s, snapshot), YOKE_OK);
  expect(f->ctx, yoke_simulation_get(f->ctx, s, 1, &handle, &x[2]), YOKE_OK);
  assert_true(x[1] == x[2]);
  yoke_snapshot_destroy(&snapshot);
  yoke_snapshot_destroy(&snapshot);
  yoke_simulation_destroy(&s);
}

static void a_snapshot_of_another_model_is_refused_with_what_differs(void **state) {
  const fixture   *f    = *state;
  const run_case   c[2] = {{two_mass, "t_end=0.05", false}, {two_mass, "t_end=0.05;parameters.cc=999", false}};
  yoke_simulation *s = open_case(f->ctx, &c[0]), *other = open_case(f->ctx, &c[1]);
  yoke_snapshot   *snapshot = NULL, *broken = NULL;
  size_t           size;
  go(f->ctx, s, 3);
  go(f->ctx, other, 1);
  expect(f->ctx, yoke_simulation_save(f->ctx, s, &snapshot), YOKE_OK);
  const double t = yoke_simulation_t(other);
  expect_failure(f->ctx, yoke_simulation_restore(f->ctx, other, snapshot), YOKE_E_USAGE, "coupling");
  assert_true(yoke_simulation_t(other) == t);
  go(f->ctx, other, 1);
  /* bytes that are none */
  const unsigned char *bytes = yoke_snapshot_bytes(snapshot, &size);
  unsigned char       *copy  = malloc(size);
  memcpy(copy, bytes, size);
  copy[size / 2] ^= 1;
  expect_failure(f->ctx, yoke_snapshot_from_bytes(f->ctx, copy, size, &broken), YOKE_E_IO, "");
  assert_null(broken);
  expect_failure(f->ctx, yoke_snapshot_from_bytes(f->ctx, bytes, size / 2, &broken), YOKE_E_IO, "");
  copy[size / 2] ^= 1;
  copy[16] ^= 1; /* the version, and the checksum behind all (FNV-1a) */
  uint64_t sum = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size - 8; ++i) sum = (sum ^ copy[i]) * 0x100000001b3u;
  for (size_t i = 0; i < 8; ++i) copy[size - 8 + i] = (unsigned char)(sum >> (8 * i));
  expect_failure(f->ctx, yoke_snapshot_from_bytes(f->ctx, copy, size, &broken), YOKE_E_UNSUPPORTED,
                 "written by version");
  free(copy);
  yoke_snapshot_destroy(&snapshot);
  yoke_simulation_destroy(&s);
  yoke_simulation_destroy(&other);
  yoke_context_clear(f->ctx);
}

/* ---- cancel ---- */

/* Wherever in a step it is cancelled. */
static void a_cancelled_simulation_goes_on_with_the_same_bits(void **state) {
  const fixture *f = *state;
  char           a[128], b[128];
  in_folder(f, "run.csv", a);
  in_folder(f, "cancelled.csv", b);
  const run_case list[] = {
      {two_mass, "t_end=0.02;" INSIDE, false},
      {two_mass, "t_end=0.02;solvers.default={kind: dopri5};" INSIDE ";" CONTROL ";cosimulation.step.initial=1e-2",
       false},
      {double_pendulum, "t_end=0.02;cosimulation.scheme=implicit;" INSIDE, false},
      {ball, "t_end=0.4", false},
      {ball, "t_end=0.4", true},
      {pendulum, "t_end=1;output.every=2e-3", false}};
  int n_between = 0; /* samples of a step */
  for (size_t k = 0; k < sizeof list / sizeof *list; ++k) {
    yoke_run_summary summary = run(f->ctx, &list[k], a, "");
    int              n_hits  = 0;
    for (int at = 7; at < 400; at = at * 3 / 2) {
      canceller                     c       = {.at = at};
      const yoke_simulation_options options = {.size       = sizeof options,
                                               .monolithic = list[k].monolithic,
                                               .no_predict = true,
                                               .exec       = "serial",
                                               .trace      = cancel_at_line,
                                               .trace_user = &c};
      yoke_simulation              *s       = open_with(f->ctx, list[k].model, list[k].sets, &options);
      c.s                                   = s;
      record(f->ctx, s, b, "");
      while (!yoke_simulation_has_ended(s)) {
        const yoke_status status = yoke_simulation_run_to(f->ctx, s, yoke_simulation_t_end(s));
        if (status == YOKE_OK) break;
        expect_failure(f->ctx, status, YOKE_E_INTERRUPTED, "interrupted at t = ");
        ++n_hits;
        yoke_snapshot *snapshot = NULL;
        n_between += yoke_simulation_save(f->ctx, s, &snapshot) == YOKE_E_UNSUPPORTED;
        yoke_snapshot_destroy(&snapshot);
        yoke_simulation_clear_cancel(s);
      }
      expect(f->ctx, yoke_simulation_run_to(f->ctx, s, yoke_simulation_t_end(s)), YOKE_OK);
      expect(f->ctx, yoke_simulation_record_end(f->ctx, s), YOKE_OK);
      yoke_simulation_destroy(&s);
      expect_same_file(a, b, list[k].model);
    }
    assert_true(n_hits > 3);
    yoke_run_summary_release(&summary);
    yoke_context_clear(f->ctx);
  }
  assert_true(n_between > 0);
}

typedef struct runner {
  yoke_simulation *s;
  yoke_context    *ctx;
  yoke_status      status;
  atomic_bool      has_begun;
} runner;

static bool tell_begun(void *user, double t, double t_start, double t_end) {
  runner *r = user;
  (void)t_start, (void)t_end;
  if (t > 0.0) r->has_begun = true;
  return true;
}

static void *run_there(void *user) {
  runner *r = user;
  r->status = yoke_simulation_run_to(r->ctx, r->s, yoke_simulation_t_end(r->s));
  return NULL;
}

static void another_thread_ends_a_run_that_would_take_days(void **state) {
  const fixture *f = *state;
  for (int whole = 0; whole < 2; ++whole) {
    runner                        r       = {.status = YOKE_OK};
    const yoke_simulation_options options = {.size          = sizeof options,
                                             .monolithic    = whole,
                                             .no_predict    = true,
                                             .threads       = 1,
                                             .progress      = tell_begun,
                                             .progress_user = &r};
    pthread_t                     thread;
    r.s = open_with(f->ctx, double_pendulum, "t_end=1e5;output.every=1e5", &options);
    assert_int_equal(yoke_context_create(&r.ctx), YOKE_OK);
    assert_int_equal(pthread_create(&thread, NULL, run_there, &r), 0);
    while (!r.has_begun) sched_yield();
    yoke_simulation_cancel(r.s);
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect(r.ctx, r.status, YOKE_E_INTERRUPTED);
    assert_true(yoke_simulation_t(r.s) > 0.0 && !yoke_simulation_has_ended(r.s));
    expect_failure(r.ctx, yoke_simulation_step(r.ctx, r.s, NULL), YOKE_E_INTERRUPTED, "interrupted at t = ");
    yoke_simulation_clear_cancel(r.s);
    expect(r.ctx, yoke_simulation_step(r.ctx, r.s, NULL), YOKE_OK);
    yoke_context_destroy(&r.ctx);
    yoke_simulation_destroy(&r.s);
  }
}

static void progress_that_says_no_and_a_flag_cancel_too(void **state) {
  const fixture                *f       = *state;
  witness                       w       = {.most_calls = 3};
  volatile sig_atomic_t         flag    = 0;
  const yoke_simulation_options options = {.size          = sizeof options,
                                           .no_predict    = true,
                                           .exec          = "serial",
                                           .progress      = see_progress,
                                           .progress_user = &w,
                                           .interrupted   = &flag};
  yoke_simulation              *s       = open_with(f->ctx, two_mass, "t_end=0.05", &options);
  expect_failure(f->ctx, yoke_simulation_run_to(f->ctx, s, 0.05), YOKE_E_INTERRUPTED, "interrupted at t = 0.003 s");
  yoke_simulation_clear_cancel(s);
  expect(f->ctx, yoke_simulation_step(f->ctx, s, NULL), YOKE_OK);
  flag = 1;
  expect(f->ctx, yoke_simulation_step(f->ctx, s, NULL), YOKE_E_INTERRUPTED);
  flag = 0;
  expect(f->ctx, yoke_simulation_step(f->ctx, s, NULL), YOKE_OK);
  yoke_simulation_destroy(&s);
  yoke_model *model        = load(f->ctx, two_mass, NULL);
  flag                     = 1; /* also while the start is prepared, where it is looked at */
  const yoke_status status = yoke_simulation_create(f->ctx, model, &options, &s);
  assert_true(status == YOKE_OK || status == YOKE_E_INTERRUPTED);
  yoke_simulation_destroy(&s);
  yoke_model_destroy(&model);
}

/* ---- several at once ---- */

typedef struct worker {
  const run_case *c;
  const char     *path;
  yoke_model     *model; /* shared by all */
} worker;

static void *work_there(void *user) {
  const worker                 *w       = user;
  const yoke_simulation_options options = {
      .size = sizeof options, .monolithic = w->c->monolithic, .no_predict = true, .exec = "eager", .threads = 2};
  yoke_context    *ctx   = NULL;
  yoke_simulation *s     = NULL;
  yoke_snapshot   *early = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  expect(ctx, yoke_simulation_create(ctx, w->model, &options, &s), YOKE_OK);
  record(ctx, s, w->path, "");
  go(ctx, s, 5);
  expect(ctx, yoke_simulation_save(ctx, s, &early), YOKE_OK);
  step_to_end(ctx, s);
  expect(ctx, yoke_simulation_record_end(ctx, s), YOKE_OK);
  expect(ctx, yoke_simulation_restore(ctx, s, early), YOKE_OK);
  yoke_snapshot_destroy(&early);
  yoke_simulation_destroy(&s);
  yoke_context_destroy(&ctx);
  return NULL;
}

static void simulations_in_two_threads_have_the_bits_of_one(void **state) {
  const fixture *f       = *state;
  const run_case list[2] = {{double_pendulum, "t_end=0.05", false}, {ball, CONTROL, false}};
  for (int k = 0; k < 2; ++k) {
    char      path[3][128];
    worker    workers[2];
    pthread_t threads[2];
    in_folder(f, "one.csv", path[2]);
    yoke_run_summary summary = run(f->ctx, &list[k], path[2], "");
    yoke_model      *model   = load(f->ctx, list[k].model, list[k].sets);
    for (int i = 0; i < 2; ++i) {
      workers[i] = (worker){&list[k], in_folder(f, i == 0 ? "first.csv" : "second.csv", path[i]), model};
      assert_int_equal(pthread_create(&threads[i], NULL, work_there, &workers[i]), 0);
    }
    for (int i = 0; i < 2; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 2; ++i) expect_same_file(path[2], path[i], list[k].model);
    yoke_model_destroy(&model);
    yoke_run_summary_release(&summary);
    yoke_context_clear(f->ctx);
  }
}

/* ---- hooks ---- */

/* From the last task to the first. */
static void run_backwards(void *user, int n, void (*task)(void *data, int i), void *data) {
  ++*(int *)user;
  for (int i = n; i-- > 0;) task(data, i);
}

static void an_executor_of_the_program_changes_no_bit(void **state) {
  const fixture *f = *state;
  char           a[128], b[128];
  const run_case c[2]     = {{double_pendulum, "t_end=0.05", false}, {double_pendulum, "t_end=0.05", true}};
  int            n_calls  = 0;
  yoke_executor  executor = {.size = sizeof executor, .n_workers = 2, .run = run_backwards, .user = &n_calls};
  for (int whole = 0; whole < 2; ++whole) {
    const yoke_simulation_options options = {.size = sizeof options, .no_predict = true, .monolithic = whole};
    yoke_run_summary              summary = run(f->ctx, &c[whole], in_folder(f, "run.csv", a), "");
    expect(f->ctx, yoke_context_set_executor(f->ctx, &executor), YOKE_OK);
    yoke_simulation *s = open_with(f->ctx, c[whole].model, c[whole].sets, &options);
    expect(f->ctx, yoke_context_set_executor(f->ctx, NULL), YOKE_OK);
    n_calls = 0;
    record_rest(f->ctx, s, in_folder(f, "user.csv", b));
    assert_true(whole == 1 || n_calls > 50);
    expect_same_file(a, b, "executor");
    yoke_simulation_destroy(&s);
    yoke_run_summary_release(&summary);
  }
}

static void count_notes(void *user, yoke_severity severity, const char *text) {
  *(int *)user += severity == YOKE_SEVERITY_NOTE && strstr(text, "event 'bounce'") != NULL;
}

static void a_log_hears_of_an_event_in_its_step(void **state) {
  const fixture   *f       = *state;
  const run_case   c       = {ball, NULL, false};
  int              n_notes = 0, n_events = 0;
  yoke_simulation *s = open_case(f->ctx, &c);
  yoke_context_set_log(f->ctx, count_notes, &n_notes);
  while (!yoke_simulation_has_ended(s)) {
    yoke_step_facts facts = {.size = sizeof facts};
    expect(f->ctx, yoke_simulation_step(f->ctx, s, &facts), YOKE_OK);
    n_events += facts.n_events;
    assert_int_equal(n_notes, n_events);
  }
  assert_int_equal(n_notes, 2);
  yoke_simulation_destroy(&s);
}

/* ---- settings ---- */

static void choices_are_those_of_a_run(void **state) {
  const fixture    *f = *state;
  char              a[128], b[128];
  const yoke_choice choices[] = {{"order", "2"}, {"scheme", "implicit"}, {"output.every", "1.7e-3"}, {"t_end", "0.03"}};
  yoke_run_options  options   = {.size = sizeof options};
  yoke_run_summary  summary   = {.size = sizeof summary};
  options.model               = two_mass;
  options.n_choices           = 4;
  options.choices             = choices;
  options.out                 = in_folder(f, "run.csv", a);
  options.csv                 = "";
  options.no_predict          = true;
  expect(f->ctx, yoke_run(f->ctx, &options, &summary), YOKE_OK);
  const yoke_simulation_options own = {.size = sizeof own, .no_predict = true, .n_choices = 4, .choices = choices};
  yoke_simulation              *s   = open_with(f->ctx, two_mass, NULL, &own);
  assert_true(yoke_simulation_t_end(s) == 0.03);
  record_rest(f->ctx, s, in_folder(f, "steps.csv", b));
  expect_same_file(a, b, "choices");
  yoke_simulation_destroy(&s);
  yoke_run_summary_release(&summary);
}

static void what_cannot_be_created_says_why(void **state) {
  const fixture          *f     = *state;
  yoke_model             *model = load(f->ctx, two_mass, NULL);
  yoke_simulation        *s     = NULL;
  const yoke_choice       bad[] = {{"order", "17"}, {"cosimulation.scheme", "explicit"}, {"formulation", "baumgarte"}};
  yoke_simulation_options options = {.size = 0};
  expect_failure(f->ctx, yoke_simulation_create(f->ctx, model, &options, &s), YOKE_E_USAGE,
                 "`size` of a yoke_simulation_options is 0");
  options.size = sizeof options;
  options.exec = "serail";
  expect_failure(f->ctx, yoke_simulation_create(f->ctx, model, &options, &s), YOKE_E_USAGE, "did you mean serial");
  options.exec    = NULL;
  options.threads = -1;
  expect_failure(f->ctx, yoke_simulation_create(f->ctx, model, &options, &s), YOKE_E_USAGE, "threads is -1");
  options.threads   = 0;
  options.n_choices = 1;
  options.choices   = &bad[0];
  expect_failure(f->ctx, yoke_simulation_create(f->ctx, model, &options, &s), YOKE_E_MODEL, "order");
  options.choices = &bad[2];
  expect_failure(f->ctx, yoke_simulation_create(f->ctx, model, &options, &s), YOKE_E_MODEL, "baumgarte");
  options.n_choices = 0;
  options.exec      = "user";
  expect_failure(f->ctx, yoke_simulation_create(f->ctx, model, &options, &s), YOKE_E_UNSUPPORTED,
                 "the context has no executor");
  assert_null(s);
  struct {
    yoke_simulation_options known;
    int                     unknown;
  } newer = {.known = {.size = sizeof newer, .no_predict = true}};
  expect(f->ctx, yoke_simulation_create(f->ctx, model, &newer.known, &s), YOKE_OK);
  yoke_simulation_destroy(&s);
  newer.unknown = 1;
  expect_failure(f->ctx, yoke_simulation_create(f->ctx, model, &newer.known, &s), YOKE_E_USAGE, "newer library");
  const size_t older = offsetof(yoke_simulation_options, exec);
  expect(f->ctx, yoke_simulation_create(f->ctx, model, &(yoke_simulation_options){.size = older, .threads = -1}, &s),
         YOKE_OK);
  yoke_simulation_destroy(&s);
  yoke_model_destroy(&model);
}

static void a_model_without_a_start_is_no_simulation(void **state) {
  const fixture   *f     = *state;
  const char      *text  = "yoke: 1\nt_end: 1\nbodies: {a: {kind: mass1d, mass: 1, x: 0}}\n"
                           "loads: {l: {kind: expression, on: a, force: 1/a.x}}\n";
  yoke_model      *model = NULL;
  yoke_simulation *s     = NULL;
  expect(f->ctx, yoke_model_load_text(f->ctx, "pole.yaml", text, strlen(text), NULL, &model), YOKE_OK);
  expect_failure(f->ctx, yoke_simulation_create(f->ctx, model, NULL, &s), YOKE_NON_FINITE,
                 "cannot be computed at t = 0");
  assert_null(s);
  yoke_model_destroy(&model);
}

static void a_caller_who_knows_less_gets_less(void **state) {
  const fixture   *f     = *state;
  const run_case   c     = {two_mass, "t_end=0.05", false};
  yoke_simulation *s     = open_case(f->ctx, &c);
  yoke_step_facts  facts = {.size = offsetof(yoke_step_facts, order), .order = -7};
  expect(f->ctx, yoke_simulation_step(f->ctx, s, &facts), YOKE_OK);
  assert_true(facts.t == 1e-3 && facts.order == -7);
  struct {
    yoke_step_facts known;
    int             unknown;
  } newer = {.known = {.size = sizeof newer}, .unknown = 5};
  expect(f->ctx, yoke_simulation_step(f->ctx, s, &newer.known), YOKE_OK);
  assert_true(newer.known.size == sizeof newer.known && newer.unknown == 5);
  facts.size = 0;
  expect_failure(f->ctx, yoke_simulation_step(f->ctx, s, &facts), YOKE_E_USAGE, "yoke_step_facts is 0");
  assert_true(yoke_simulation_t(s) == 2e-3);
  yoke_simulation_statistics statistics = {.size = 1};
  expect_failure(f->ctx, yoke_simulation_statistics_get(f->ctx, s, &statistics), YOKE_E_USAGE, "statistics is 1");
  yoke_event_facts event = {.size = 0};
  expect_failure(f->ctx, yoke_simulation_event(f->ctx, s, 0, &event), YOKE_E_USAGE, "yoke_event_facts is 0");
  yoke_record_options record_options = {.size = 0};
  expect_failure(f->ctx, yoke_simulation_record(f->ctx, s, &record_options), YOKE_E_USAGE, "yoke_record_options is 0");
  yoke_simulation_destroy(&s);
  yoke_simulation_destroy(&s);
  yoke_simulation_destroy(NULL);
}

/* ---- failures ---- */

static void times_outside_are_refused(void **state) {
  const fixture   *f = *state;
  const run_case   c = {two_mass, "t_end=0.05", false};
  yoke_simulation *s = open_case(f->ctx, &c);
  expect(f->ctx, yoke_simulation_run_to(f->ctx, s, 0.01), YOKE_OK);
  expect_failure(f->ctx, yoke_simulation_run_to(f->ctx, s, 0.005), YOKE_E_USAGE, "cannot run to 0.005 s; go back");
  expect_failure(f->ctx, yoke_simulation_run_to(f->ctx, s, 0.06), YOKE_E_USAGE, "choose a later t_end");
  expect_failure(f->ctx, yoke_simulation_run_to(f->ctx, s, (double)NAN), YOKE_E_USAGE, "cannot run to nan");
  assert_true(yoke_simulation_t(s) == 0.01);
  yoke_simulation_destroy(&s);
}

static void a_step_that_fails_leaves_the_simulation_before_it(void **state) {
  const fixture *f = *state;
  char           path[128];
  const run_case list[] = {
      {two_mass, "t_end=0.05;cosimulation.scheme=implicit;cosimulation.corrector.max_iterations=1;parameters.cc=1e9",
       false},
      {two_mass, "t_end=5;cosimulation.scheme=explicit;cosimulation.order=3;parameters.cc=1e7", false},
      {two_mass, "t_end=0.05;" CONTROL ";cosimulation.step.rtol=1e-13;cosimulation.step.min=1e-3", false}};
  const yoke_status wanted[] = {YOKE_E_NOT_CONVERGED, YOKE_E_UNSTABLE, YOKE_E_STEP_TOO_SMALL};
  in_folder(f, "failed.h5", path);
  for (size_t k = 0; k < sizeof list / sizeof *list; ++k) {
    yoke_simulation *s = open_case(f->ctx, &list[k]);
    yoke_status      status;
    double           t = 0.0;
    if (yoke_has_hdf5()) record(f->ctx, s, path, "");
    while ((status = yoke_simulation_step(f->ctx, s, NULL)) == YOKE_OK) t = yoke_simulation_t(s);
    expect(f->ctx, status, wanted[k]);
    assert_true(yoke_simulation_t(s) == t && !yoke_simulation_has_ended(s));
    if (k == 0) expect(f->ctx, yoke_simulation_step(f->ctx, s, NULL), wanted[k]); /* and again */
    if (k == 1 && yoke_has_hdf5()) {
      yoke_result      *result = NULL;
      yoke_result_facts facts  = {.size = sizeof facts};
      expect(f->ctx, yoke_simulation_record_end(f->ctx, s), YOKE_OK);
      expect(f->ctx, yoke_result_open(f->ctx, path, &result), YOKE_OK);
      yoke_result_facts_get(f->ctx, result, &facts);
      assert_string_equal(facts.status, "failed: values are not finite or the run is unstable");
      yoke_result_close(&result);
    }
    yoke_simulation_destroy(&s);
    yoke_context_clear(f->ctx);
  }
}

/* ---- records ---- */

static void a_record_may_begin_on_the_way_and_end_early(void **state) {
  const fixture *f = *state;
  char           path[128];
  const run_case c = {two_mass, "t_end=0.05;output.every=2e-3", false};
  if (!yoke_has_hdf5()) skip();
  in_folder(f, "middle.h5", path);
  yoke_simulation           *s          = open_case(f->ctx, &c);
  yoke_simulation_statistics statistics = {.size = sizeof statistics};
  expect(f->ctx, yoke_simulation_run_to(f->ctx, s, 0.011), YOKE_OK);
  record(f->ctx, s, path, "");
  expect(f->ctx, yoke_simulation_run_to(f->ctx, s, 0.017), YOKE_OK);
  expect(f->ctx, yoke_simulation_statistics_get(f->ctx, s, &statistics), YOKE_OK);
  assert_int_equal(statistics.n_rows, 4); /* 0.011, 0.012, 0.014, 0.016 */
  expect(f->ctx, yoke_simulation_record_end(f->ctx, s), YOKE_OK);
  expect_failure(f->ctx, yoke_simulation_record_end(f->ctx, s), YOKE_E_USAGE, "no record is open");
  yoke_result      *result = NULL;
  yoke_result_facts facts  = {.size = sizeof facts};
  size_t            n;
  expect(f->ctx, yoke_result_open(f->ctx, path, &result), YOKE_OK);
  yoke_result_facts_get(f->ctx, result, &facts);
  assert_string_equal(facts.status, "interrupted");
  const double *t = yoke_result_times(result, 0, &n);
  assert_int_equal(n, 5);
  assert_true(t[0] == 0.011 && t[4] == 0.017);
  yoke_result_close(&result);
  yoke_simulation_destroy(&s);
}

static void a_record_does_not_go_back(void **state) {
  const fixture   *f = *state;
  char             path[128];
  const run_case   c        = {two_mass, "t_end=0.05", false};
  yoke_simulation *s        = open_case(f->ctx, &c);
  yoke_snapshot   *snapshot = NULL;
  record(f->ctx, s, in_folder(f, "forward.csv", path), "");
  go(f->ctx, s, 3);
  expect(f->ctx, yoke_simulation_save(f->ctx, s, &snapshot), YOKE_OK);
  expect(f->ctx, yoke_simulation_restore(f->ctx, s, snapshot), YOKE_OK);
  go(f->ctx, s, 3);
  expect_failure(f->ctx, yoke_simulation_restore(f->ctx, s, snapshot), YOKE_E_USAGE, "recorded up to t = 0.006 s");
  expect(f->ctx, yoke_simulation_record_end(f->ctx, s), YOKE_OK);
  expect(f->ctx, yoke_simulation_restore(f->ctx, s, snapshot), YOKE_OK);
  yoke_snapshot_destroy(&snapshot);
  yoke_simulation_destroy(&s);
}

static void files_that_cannot_be_written_are_refused(void **state) {
  const fixture      *f = *state;
  char                path[128];
  const run_case      c       = {two_mass, "t_end=0.05;output.file=/elsewhere/a.csv", false};
  yoke_simulation    *s       = open_case(f->ctx, &c);
  yoke_record_options options = {.size = sizeof options, .out = in_folder(f, "none/a.csv", path), .csv = ""};
  expect_failure(f->ctx, yoke_simulation_record(f->ctx, s, &options), YOKE_E_IO, "none/a.csv");
  expect_failure(f->ctx, yoke_simulation_record(f->ctx, s, NULL), YOKE_E_MODEL, "output.file");
  if (!yoke_has_hdf5()) {
    options.out = in_folder(f, "a.h5", path);
    expect_failure(f->ctx, yoke_simulation_record(f->ctx, s, &options), YOKE_E_UNSUPPORTED, "HDF5");
  }
  options.out = two_mass;
  expect_failure(f->ctx, yoke_simulation_record(f->ctx, s, &options), YOKE_E_USAGE, "overwrite the model file");
  options.out = options.csv = in_folder(f, "a.csv", path);
  expect_failure(f->ctx, yoke_simulation_record(f->ctx, s, &options), YOKE_E_USAGE, "are one file");
  options.csv = "";
  expect(f->ctx, yoke_simulation_record(f->ctx, s, &options), YOKE_OK);
  expect_failure(f->ctx, yoke_simulation_record(f->ctx, s, &options), YOKE_E_USAGE, "recorded already");
  expect(f->ctx, yoke_simulation_record_end(f->ctx, s), YOKE_OK);
  assert_int_equal(access(path, F_OK), -1); /* nothing but the start */
  options.out = "";
  options.csv = "/dev/full";
  expect(f->ctx, yoke_simulation_record(f->ctx, s, &options), YOKE_OK);
  yoke_status status = YOKE_OK;
  for (int i = 0; i < 10 && status == YOKE_OK; ++i) status = yoke_simulation_step(f->ctx, s, NULL);
  const yoke_status ended = yoke_simulation_record_end(f->ctx, s);
  assert_true(status == YOKE_E_IO || ended == YOKE_E_IO);
  yoke_context_clear(f->ctx);
  step_to_end(f->ctx, s); /* it goes on without a record */
  yoke_simulation_destroy(&s);
}

/* The last of all tests. */
static void the_library_has_asked_for_no_environment_variable(void **state) {
  (void)state;
  assert_int_equal(n_questions, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_run_by_steps_has_the_bits_of_a_run),
      TEST(a_record_is_the_file_of_a_run),
      TEST(running_to_macro_points_on_the_way_changes_no_bit),
      TEST(run_to_ends_exactly_where_it_was_asked_to),
      TEST(a_step_tells_what_it_did),
      TEST(a_step_under_control_tells_its_error_and_what_was_rejected),
      TEST(events_are_told_behind_their_step_and_by_callback),
      TEST(an_event_that_only_records_is_told_with_its_own_time),
      TEST(handles_read_what_is_recorded),
      TEST(a_name_has_one_handle_and_reading_allocates_nothing),
      TEST(a_list_ends_when_it_is_told_to),
      TEST(unknown_names_are_all_told_with_the_nearest_and_leave_nothing),
      TEST(work_exists_where_it_was_announced),
      TEST(a_value_that_is_not_finite_is_named_and_others_are_there),
      TEST(a_restored_simulation_goes_on_with_the_same_bits),
      TEST(values_are_read_anew_behind_a_restore),
      TEST(a_snapshot_of_another_model_is_refused_with_what_differs),
      TEST(a_cancelled_simulation_goes_on_with_the_same_bits),
      TEST(another_thread_ends_a_run_that_would_take_days),
      TEST(progress_that_says_no_and_a_flag_cancel_too),
      TEST(simulations_in_two_threads_have_the_bits_of_one),
      TEST(an_executor_of_the_program_changes_no_bit),
      TEST(a_log_hears_of_an_event_in_its_step),
      TEST(choices_are_those_of_a_run),
      TEST(what_cannot_be_created_says_why),
      TEST(a_model_without_a_start_is_no_simulation),
      TEST(a_caller_who_knows_less_gets_less),
      TEST(times_outside_are_refused),
      TEST(a_step_that_fails_leaves_the_simulation_before_it),
      TEST(a_record_may_begin_on_the_way_and_end_early),
      TEST(a_record_does_not_go_back),
      TEST(files_that_cannot_be_written_are_refused),
      TEST(the_library_has_asked_for_no_environment_variable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
