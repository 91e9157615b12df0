/* Inputs of a simulation: numbers that a program sets while a model runs. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "canceller.h"
#include "check.h"
#include "folder.h"
#include <yoke/yoke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two masses with a spring between them; a force on the first and the stiffness of a second spring are inputs. */
static const char text[] = "yoke: 1\n"
                           "t_end: 1\n"
                           "inputs: {pull: 5 N, k: {value: 100, unit: N/m, description: of the wall}}\n"
                           "bodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, mass: 2, x: 1}}\n"
                           "connections: {spring: {kind: spring-damper, between: [a, b], stiffness: 1000, damping: 2, "
                           "free_length: 1}}\n"
                           "loads:\n"
                           "  push: {kind: expression, on: a, force: pull}\n"
                           "  wall: {kind: expression, on: b, force: -k*(b.x - 1)}\n"
                           "split: {left: [a], right: [b]}\n"
                           "solvers: {default: {rtol: 1e-11, atol: 1e-13}}\n"
                           "cosimulation: {step: 1e-3, order: 2}\n";

static yoke_simulation *open_text(fixture *f, const char *source, bool is_whole) {
  const yoke_simulation_options options = {
      .size = sizeof options, .monolithic = is_whole, .no_predict = true, .exec = "serial", .threads = 1};
  yoke_model      *model  = NULL;
  yoke_simulation *s      = NULL;
  yoke_status      status = yoke_model_load_text(f->ctx, "inputs", source, strlen(source), NULL, &model);
  if (status == YOKE_OK) status = yoke_simulation_create(f->ctx, model, &options, &s);
  if (status != YOKE_OK) fail_msg("%s", yoke_context_message(f->ctx, 0));
  yoke_model_destroy(&model);
  return s;
}

static void set(fixture *f, yoke_simulation *s, const char *name, double value) {
  int input;
  assert_int_equal(yoke_simulation_find_inputs(f->ctx, s, 1, &name, &input), YOKE_OK);
  const yoke_status status = yoke_simulation_set(f->ctx, s, 1, &input, &value);
  if (status != YOKE_OK) fail_msg("%s", yoke_context_message(f->ctx, 0));
}

static void run_to(fixture *f, yoke_simulation *s, double t) {
  if (yoke_simulation_run_to(f->ctx, s, t) != YOKE_OK) fail_msg("%s", yoke_context_message(f->ctx, 0));
}

static void look(fixture *f, yoke_simulation *s, int n, const char *const *names, double *values) {
  int handles[8];
  assert_int_equal(yoke_simulation_find(f->ctx, s, n, names, handles), YOKE_OK);
  assert_int_equal(yoke_simulation_get(f->ctx, s, n, handles, values), YOKE_OK);
}

static const char *const states[] = {"a.x", "b.x", "a.v", "b.v"};

static void inputs_tell_their_names_units_and_values(void **state) {
  fixture         *f     = *state;
  yoke_simulation *s     = open_text(f, text, false);
  yoke_input_facts facts = {.size = sizeof facts};
  assert_int_equal(yoke_simulation_n_inputs(s), 2);
  assert_int_equal(yoke_simulation_input(f->ctx, s, 1, &facts), YOKE_OK);
  assert_string_equal(facts.name, "k");
  assert_string_equal(facts.unit, "N/m");
  assert_string_equal(facts.description, "of the wall");
  assert_true(facts.value == 100.0);
  set(f, s, "k", 50.0);
  assert_int_equal(yoke_simulation_input(f->ctx, s, 1, &facts), YOKE_OK);
  assert_true(facts.value == 50.0);
  yoke_simulation_destroy(&s);
}

/* The same story told by expressions of time. */
static void a_load_that_is_set_on_the_way_is_a_load_that_switches(void **state) {
  fixture *f = *state;
  for (int whole = 0; whole < 2; ++whole) {
    char   switched[sizeof text + 200], *p;
    double x[2][4];
    memcpy(switched, text, sizeof text);
    assert_non_null(p = strstr(switched, "force: pull"));
    memmove(p + 35, p + 11, strlen(p + 11) + 1);
    memcpy(p, "force: if(t < 0.2, 5, -3)          ", 35);
    assert_non_null(p = strstr(switched, "force: -k"));
    memmove(p + 29, p + 9, strlen(p + 9) + 1);
    memcpy(p, "force: -if(t < 0.3, 100, 400)", 29);
    yoke_simulation *s = open_text(f, text, whole), *other = open_text(f, switched, whole);
    run_to(f, s, 0.2);
    set(f, s, "pull", -3.0);
    run_to(f, s, 0.3);
    set(f, s, "k", 400.0);
    run_to(f, s, 0.5);
    run_to(f, other, 0.5);
    look(f, s, 4, states, x[0]);
    look(f, other, 4, states, x[1]);
    for (int i = 0; i < 4; ++i) CHECK_NEAR(x[0][i], x[1][i], whole ? 1e-9 : 1e-6);
    yoke_simulation_destroy(&s);
    yoke_simulation_destroy(&other);
  }
}

static void inputs_of_a_snapshot_are_restored(void **state) {
  fixture         *f        = *state;
  yoke_simulation *s        = open_text(f, text, false);
  yoke_snapshot   *snapshot = NULL;
  yoke_input_facts facts    = {.size = sizeof facts};
  double           x[2][4];
  run_to(f, s, 0.05);
  set(f, s, "pull", 7.0);
  assert_int_equal(yoke_simulation_save(f->ctx, s, &snapshot), YOKE_OK);
  for (int k = 0; k < 2; ++k) {
    run_to(f, s, 0.1);
    set(f, s, "k", 0.0);
    run_to(f, s, 0.15);
    look(f, s, 4, states, x[k]);
    set(f, s, "pull", 0.0);
    assert_int_equal(yoke_simulation_restore(f->ctx, s, snapshot), YOKE_OK);
    assert_int_equal(yoke_simulation_input(f->ctx, s, 0, &facts), YOKE_OK);
    assert_true(facts.value == 7.0);
    assert_int_equal(yoke_simulation_input(f->ctx, s, 1, &facts), YOKE_OK);
    assert_true(facts.value == 100.0);
  }
  assert_memory_equal(x[0], x[1], sizeof x[0]);
  yoke_snapshot_destroy(&snapshot);
  yoke_simulation_destroy(&s);
}

static void setting_what_is_there_changes_no_bit(void **state) {
  fixture         *f    = *state;
  yoke_simulation *s[2] = {open_text(f, text, false), open_text(f, text, false)};
  double           x[2][4];
  for (int k = 0; k < 2; ++k) {
    run_to(f, s[k], 0.05);
    if (k == 1) set(f, s[k], "pull", 5.0);
    run_to(f, s[k], 0.1);
    look(f, s[k], 4, states, x[k]);
    yoke_simulation_destroy(&s[k]);
  }
  assert_memory_equal(x[0], x[1], sizeof x[0]);
}

/* Handles of quantities look at the values that are in force. */
static void present_values_and_what_follows_from_them_are_seen_at_once(void **state) {
  static const char *const names[] = {"pull", "a.a"};
  fixture                 *f       = *state;
  for (int whole = 0; whole < 2; ++whole) {
    yoke_simulation *s = open_text(f, text, whole);
    double           values[2], before;
    look(f, s, 2, names, values);
    assert_true(values[0] == 5.0);
    before = values[1];
    set(f, s, "pull", 8.0);
    look(f, s, 2, names, values);
    assert_true(values[0] == 8.0);
    CHECK_NEAR(values[1] - before, 3.0, 1e-9); /* m = 1 */
    yoke_simulation_destroy(&s);
  }
}

static void wrong_names_numbers_and_values_are_refused_and_nothing_is_set(void **state) {
  static const char *const names[] = {"pull", "pul", "K"};
  fixture                 *f       = *state;
  yoke_simulation         *s       = open_text(f, text, false);
  yoke_input_facts         facts = {.size = sizeof facts}, no_size = {0};
  int                      inputs[3];
  const int                both[] = {0, 1}, bad[] = {0, 2};
  const double             good[] = {1.0, 2.0}, nan_behind[] = {1.0, (double)NAN};
  assert_int_equal(yoke_simulation_find_inputs(f->ctx, s, 3, names, inputs), YOKE_E_USAGE);
  assert_true(has_message(f->ctx, "there is no input 'pul'; did you mean 'pull'?"));
  assert_true(has_message(f->ctx, "there is no input 'K'"));
  assert_int_equal(yoke_simulation_set(f->ctx, s, 2, bad, good), YOKE_E_USAGE);
  assert_true(has_message(f->ctx, "there is no input number 2: the model has 2"));
  assert_int_equal(yoke_simulation_set(f->ctx, s, 2, both, nan_behind), YOKE_E_USAGE);
  assert_true(has_message(f->ctx, "input 'k' cannot be nan"));
  assert_int_equal(yoke_simulation_input(f->ctx, s, 2, &facts), YOKE_E_USAGE);
  assert_int_equal(yoke_simulation_input(f->ctx, s, 0, &no_size), YOKE_E_USAGE);
  assert_int_equal(yoke_simulation_input(f->ctx, s, 0, &facts), YOKE_OK);
  assert_true(facts.value == 5.0);
  yoke_simulation_destroy(&s);
  yoke_context_clear(f->ctx);
  s = open_text(f, "yoke: 1\nt_end: 1\nbodies: {a: {kind: mass1d, mass: 1}}\n", false);
  assert_int_equal(yoke_simulation_n_inputs(s), 0);
  assert_int_equal(yoke_simulation_find_inputs(f->ctx, s, 1, names, inputs), YOKE_E_USAGE);
  assert_true(has_message(f->ctx, "the model has no `inputs`"));
  yoke_simulation_destroy(&s);
}

static void nothing_is_set_in_the_middle_of_an_unfinished_step(void **state) {
  fixture                  *f         = *state;
  const yoke_record_options record    = {.size = sizeof record, .out = "", .csv = "", .in_memory = true};
  const yoke_choice         every[]   = {{"output.every", "3e-4"}};
  const int                 pull      = 0;
  const double              value     = 1.0;
  int                       n_refused = 0, n_set = 0;
  for (int at = 1; at < 40; ++at) {
    canceller                     c       = {.at = at};
    const yoke_simulation_options options = {.size       = sizeof options,
                                             .no_predict = true,
                                             .exec       = "serial",
                                             .n_choices  = 1,
                                             .choices    = every,
                                             .trace      = cancel_at_line,
                                             .trace_user = &c};
    yoke_model                   *model   = NULL;
    yoke_snapshot                *saved   = NULL;
    assert_int_equal(yoke_model_load_text(f->ctx, "inputs", text, strlen(text), NULL, &model), YOKE_OK);
    assert_int_equal(yoke_simulation_create(f->ctx, model, &options, &c.s), YOKE_OK);
    assert_int_equal(yoke_simulation_record(f->ctx, c.s, &record), YOKE_OK);
    assert_int_equal(yoke_simulation_run_to(f->ctx, c.s, 0.02), YOKE_E_INTERRUPTED);
    const bool is_unfinished = yoke_simulation_save(f->ctx, c.s, &saved) == YOKE_E_UNSUPPORTED;
    assert_int_equal(yoke_simulation_set(f->ctx, c.s, 1, &pull, &value), is_unfinished ? YOKE_E_UNSUPPORTED : YOKE_OK);
    n_refused += is_unfinished;
    n_set += !is_unfinished;
    yoke_snapshot_destroy(&saved);
    yoke_simulation_destroy(&c.s);
    yoke_model_destroy(&model);
  }
  assert_true(n_refused > 0 && n_set > 0);
}

/* ---- functions that a simulation calls ---- */

typedef struct intruder {
  yoke_context    *ctx;
  yoke_simulation *s;
  int              n_calls, n_refused;
} intruder;

/* All that takes a context, from inside a step. */
static void intrude(void *user, const char *line) {
  intruder                  *x      = user;
  const yoke_record_options  record = {.size = sizeof record, .out = "", .csv = "", .in_memory = true};
  const char *const          name   = "a.x";
  const int                  first  = 0;
  yoke_simulation_statistics sums   = {.size = sizeof sums};
  yoke_snapshot             *saved  = NULL;
  double                     value  = 1.0;
  int                        handle;
  (void)line;
  if (x->s == NULL || x->n_calls > 0) return;
  const yoke_status codes[] = {
      yoke_simulation_step(x->ctx, x->s, NULL),
      yoke_simulation_run_to(x->ctx, x->s, 0.02),
      yoke_simulation_find(x->ctx, x->s, 1, &name, &handle),
      yoke_simulation_get(x->ctx, x->s, 1, &first, &value),
      yoke_simulation_set(x->ctx, x->s, 1, &first, &value),
      yoke_simulation_save(x->ctx, x->s, &saved),
      yoke_simulation_restore(x->ctx, x->s, saved),
      yoke_simulation_record(x->ctx, x->s, &record),
      yoke_simulation_record_end(x->ctx, x->s),
      yoke_simulation_statistics_get(x->ctx, x->s, &sums),
  };
  x->n_calls = (int)(sizeof codes / sizeof *codes);
  for (int i = 0; i < x->n_calls; ++i) x->n_refused += codes[i] == YOKE_E_USAGE;
}

static void what_a_step_calls_may_cancel_and_nothing_else(void **state) {
  fixture                      *f       = *state;
  intruder                      x       = {.ctx = f->ctx};
  const yoke_simulation_options options = {
      .size = sizeof options, .no_predict = true, .exec = "serial", .trace = intrude, .trace_user = &x};
  yoke_model *model = NULL;
  double      quiet[4], end[4];
  assert_int_equal(yoke_model_load_text(f->ctx, "inputs", text, strlen(text), NULL, &model), YOKE_OK);
  assert_int_equal(yoke_simulation_create(f->ctx, model, &options, &x.s), YOKE_OK);
  run_to(f, x.s, 0.02);
  assert_true(x.n_calls > 0);
  assert_int_equal(x.n_refused, x.n_calls);
  assert_true(has_message(f->ctx, "the simulation is in the middle of a step"));
  look(f, x.s, 4, states, end);
  yoke_simulation_destroy(&x.s);
  yoke_model_destroy(&model);
  x.s = open_text(f, text, false);
  run_to(f, x.s, 0.02);
  look(f, x.s, 4, states, quiet);
  assert_memory_equal(end, quiet, sizeof end);
  yoke_simulation_destroy(&x.s);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(inputs_tell_their_names_units_and_values),
      TEST(a_load_that_is_set_on_the_way_is_a_load_that_switches),
      TEST(inputs_of_a_snapshot_are_restored),
      TEST(setting_what_is_there_changes_no_bit),
      TEST(present_values_and_what_follows_from_them_are_seen_at_once),
      TEST(nothing_is_set_in_the_middle_of_an_unfinished_step),
      TEST(what_a_step_calls_may_cancel_and_nothing_else),
      TEST(wrong_names_numbers_and_values_are_refused_and_nothing_is_set),
  };
  return cmocka_run_group_tests_name("inputs", tests, NULL, NULL);
}
