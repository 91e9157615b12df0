/* Inputs from outside in a system: values that are set between steps, in a model that runs as a whole and in a split one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "../subsystem/oscillator.h"
#include "master/reader.h"

/* Two masses between walls; the second is pushed by input `pull` through a port of its own. */
static const char *const text =
    "yoke: 1\n"
    "t_end: 0.6\n"
    "bodies:\n"
    "  m1: {kind: mass1d, mass: 1, x: 0.1}\n"
    "  m2: {kind: mass1d, mass: 2, v: 1}\n"
    "connections:\n"
    "  w1: {kind: spring-damper, between: [ground, m1], stiffness: 100, damping: 1, free_length: 0}\n"
    "  w2: {kind: spring-damper, between: [ground, m2], stiffness: 150, damping: 2, free_length: 0}\n"
    "  middle: {kind: spring-damper, between: [m1, m2], stiffness: 80, damping: 0.5, free_length: 0}\n"
    "split: {a: [m1], b: [m2]}\n"
    "cosimulation: {scheme: implicit, order: 3, step: 2e-3}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-11, atol: 1e-12}}\n"
    "output: {every: 0.1}\n";

/* Both masses in one, and the second alone, whose second port is the input's. */
static const osc_def both   = {.name            = "both",
                               .n               = 2,
                               .mass            = {1.0, 2.0},
                               .stiffness       = {100.0, 150.0},
                               .damping         = {1.0, 2.0},
                               .between         = {80.0},
                               .between_damping = {0.5},
                               .q               = {0.1, 0.0},
                               .v               = {0.0, 1.0},
                               .n_ports         = 1,
                               .port            = {{.mass = 1}},
                               .h               = 2e-4,
                               .can             = OSC_ALL};
static const osc_def second = {.name      = "second",
                               .n         = 1,
                               .mass      = {2.0},
                               .stiffness = {150.0},
                               .damping   = {2.0},
                               .v         = {1.0},
                               .n_ports   = 2,
                               .h         = 1e-4,
                               .can       = OSC_ALL};

typedef struct bench {
  cosim           c;
  yoke_plan_input input[2];
  yoke_held_entry held;
  int             part; /* that is pushed */
  int64_t         x, a; /* handles: position and acceleration of the mass */
} bench;

/* Not to be moved: the plan points into it. */
static void open_bench(bench *b, bool is_whole, const char *sets) {
  static char names[2][8] = {"pull", "other"}, unit[2] = "N";
  assert_int_equal(cosim_load(&b->c, text, sets), YOKE_OK);
  const yoke_plan_options options = {.is_whole = is_whole};
  assert_int_equal(yoke_plan_create(b->c.ctx, b->c.model, &options, &b->c.plan), YOKE_OK);
  yoke_plan *plan = b->c.plan;
  b->part         = is_whole ? 0 : 1;
  b->x            = is_whole ? 1 : 0;
  b->a            = yoke_output_handle(2);
  b->input[0]     = (yoke_plan_input){.name = names[0], .unit = unit, .value = 4.0};
  b->input[1]     = (yoke_plan_input){.name = names[1], .unit = unit, .value = -1.0};
  b->held         = (yoke_held_entry){.number = 0, .subsystem = b->part, .input = is_whole ? 0 : 1};
  plan->n_inputs  = 2;
  plan->inputs    = b->input;
  plan->n_held    = 1;
  plan->held      = &b->held;
  yoke_plan_replace_part(plan, b->part, is_whole ? &both : &second, osc_make);
  assert_int_equal(yoke_plan_add_output(b->c.ctx, plan, b->part, b->x, "x", "m"), YOKE_OK);
  for (int i = 0; i < 2; ++i) {
    const yoke_output output = {.source = YOKE_OUTPUT_INPUT, .index = i};
    assert_true(yoke_output_list_add(&plan->outputs, &output, names[i], unit));
  }
  const yoke_system_options serial = {.exec = "serial"};
  assert_int_equal(yoke_system_create(b->c.ctx, plan, &serial, &b->c.system), YOKE_OK);
}

static void run_to(bench *b, double t, const yoke_sink *sink) {
  yoke_system_summary summary;
  const yoke_status   status = yoke_system_run(b->c.system, t, sink, &summary, b->c.ctx);
  if (status != YOKE_OK) cosim_print(b->c.ctx);
  assert_int_equal(status, YOKE_OK);
}

static void set_pull(bench *b, double value) {
  const int input = 0;
  assert_int_equal(yoke_system_set_inputs(b->c.system, 1, &input, &value, b->c.ctx), YOKE_OK);
  assert_true(yoke_system_input(b->c.system, 0) == value && yoke_system_input(b->c.system, 1) == -1.0);
}

static double position(const bench *b) {
  double x;
  assert_int_equal(yoke_system_observe(b->c.system, b->part, 1, &b->x, &x), YOKE_OK);
  return x;
}

/* Three values, each for a third of the run. */
static double end_of_run(bool is_whole, const char *sets) {
  bench b;
  open_bench(&b, is_whole, sets);
  run_to(&b, 0.2, NULL);
  set_pull(&b, -30.0);
  run_to(&b, 0.4, NULL);
  set_pull(&b, 12.0);
  run_to(&b, 0.6, NULL);
  const double x = position(&b);
  cosim_close(&b.c);
  return x;
}

/* The same, independently: force as a constant of the oscillator, from state to state. */
static double end_by_hand(void) {
  static const double values[3] = {4.0, -30.0, 12.0};
  osc_state           x         = {.now = {.t = 0.0, .q = {0.1, 0.0}, .v = {0.0, 1.0}}};
  for (int k = 0; k < 3; ++k) {
    const double      t[2]   = {0.2 * k, 0.2 * (k + 1)};
    const yoke_signal signal = {.n = 1, .n_pieces = 1, .t = t, .c = &values[k]};
    osc_walk(&both, &x, &signal, t[1], NULL);
  }
  return x.now.q[1];
}

static void a_whole_model_follows_its_inputs(void **state) {
  (void)state;
  CHECK_NEAR(end_of_run(true, NULL), end_by_hand(), 1e-12);
}

static void a_split_model_follows_its_inputs(void **state) {
  static const char *const sets[] = {"cosimulation.start=ramp", "cosimulation.scheme=explicit;cosimulation.step=2e-4",
                                     "cosimulation.step={rtol: 1e-7};cosimulation.order=auto"};
  const double             exact  = end_by_hand();
  (void)state;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) CHECK_NEAR(end_of_run(false, sets[i]), exact, 2e-6);
}

static void the_value_before_is_no_jump(void **state) {
  (void)state;
  double x[2];
  for (int k = 0; k < 2; ++k) {
    bench b;
    open_bench(&b, false, NULL);
    run_to(&b, 0.1, NULL);
    if (k == 1) set_pull(&b, 4.0);
    run_to(&b, 0.2, NULL);
    x[k] = position(&b);
    cosim_close(&b.c);
  }
  assert_memory_equal(&x[0], &x[1], sizeof x[0]);
}

static void what_was_saved_behind_a_set_goes_on_with_the_same_bits(void **state) {
  static const char *const sets[] = {NULL, "cosimulation.step={rtol: 1e-6};cosimulation.order=auto"};
  (void)state;
  for (int k = 0; k < 3; ++k) { /* the last: as a whole */
    bench     b, c;
    yoke_pack pack = {0};
    open_bench(&b, k == 2, sets[k % 2]);
    open_bench(&c, k == 2, sets[k % 2]);
    run_to(&b, 0.1, NULL);
    set_pull(&b, -30.0);
    assert_int_equal(yoke_system_save(b.c.system, &pack, b.c.ctx), YOKE_OK);
    assert_int_equal(yoke_system_restore(c.c.system, pack.bytes, pack.size, c.c.ctx), YOKE_OK);
    yoke_pack_free(&pack);
    assert_true(yoke_system_input(c.c.system, 0) == -30.0);
    run_to(&b, 0.3, NULL);
    run_to(&c, 0.3, NULL);
    const double x[2] = {position(&b), position(&c)};
    assert_memory_equal(&x[0], &x[1], sizeof x[0]);
    cosim_close(&b.c);
    cosim_close(&c.c);
  }
}

/* ---- what is shown ---- */

typedef struct rows {
  int    n, n_outputs; /* the inputs are the last two of them */
  double t[16], pull[16];
} rows;

static yoke_status take_row(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                            int order) {
  rows *r = user;
  (void)counters, (void)h, (void)order;
  assert_true(r->n < 16 && outputs[r->n_outputs - 1] == -1.0);
  r->t[r->n]      = t;
  r->pull[r->n++] = outputs[r->n_outputs - 2];
  return YOKE_OK;
}

static void inputs_are_outputs_like_any_other(void **state) {
  (void)state;
  for (int whole = 0; whole < 2; ++whole) {
    rows            r    = {0};
    const yoke_sink sink = {.user = &r, .sample = take_row};
    bench           b;
    open_bench(&b, whole == 1, NULL);
    r.n_outputs = b.c.plan->outputs.n;
    run_to(&b, 0.25, &sink);
    set_pull(&b, -30.0);
    run_to(&b, 0.6, &sink);
    assert_true(r.n >= 7);
    for (int i = 0; i < r.n; ++i) assert_true(r.pull[i] == (r.t[i] > 0.26 ? -30.0 : 4.0));
    cosim_close(&b.c);
  }
}

static void a_reader_shows_what_belongs_to_the_new_value(void **state) {
  (void)state;
  for (int whole = 0; whole < 2; ++whole) {
    bench        b;
    yoke_reader *reader;
    const int    numbers[2] = {0, 1};
    double       before[2], behind[2];
    open_bench(&b, whole == 1, NULL);
    const yoke_output list[2]     = {{.source = YOKE_OUTPUT_PART, .index = b.part, .handle = b.a},
                                     {.source = YOKE_OUTPUT_INPUT, .index = 0}};
    static char       names[2][8] = {"a", "pull"};
    char *const       name[2]     = {names[0], names[1]};
    assert_int_equal(yoke_reader_create(b.c.ctx, b.c.system, &reader), YOKE_OK);
    assert_int_equal(yoke_reader_add(reader, 2, list, name, b.c.ctx), YOKE_OK);
    run_to(&b, 0.1, NULL);
    yoke_reader_forget(reader);
    assert_int_equal(yoke_reader_get(reader, 2, numbers, before, b.c.ctx), YOKE_OK);
    set_pull(&b, -30.0);
    assert_int_equal(yoke_reader_get(reader, 2, numbers, behind, b.c.ctx), YOKE_OK);
    assert_true(before[1] == 4.0 && behind[1] == -30.0);
    CHECK_NEAR(behind[0] - before[0], -34.0 / 2.0, 1e-6);
    yoke_reader_destroy(&reader);
    cosim_close(&b.c);
  }
}

/* ---- refusals ---- */

static void inputs_that_do_not_exist_and_values_that_are_none_are_refused(void **state) {
  static const struct {
    int         input;
    double      value;
    const char *message;
  } cases[] = {{2, 1.0, "there is no input number 2: the model has 2"},
               {-1, 1.0, "there is no input number -1"},
               {0, (double)NAN, "input 'pull' cannot be nan"}};
  bench b;
  (void)state;
  open_bench(&b, false, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const int    inputs[2] = {1, cases[i].input};
    const double values[2] = {8.0, cases[i].value};
    yoke_context_clear(b.c.ctx);
    assert_int_equal(yoke_system_set_inputs(b.c.system, 2, inputs, values, b.c.ctx), YOKE_E_USAGE);
    assert_non_null(strstr(yoke_context_message(b.c.ctx, 0), cases[i].message));
    assert_true(yoke_system_input(b.c.system, 1) == -1.0);
  }
  cosim_close(&b.c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_whole_model_follows_its_inputs),
      cmocka_unit_test(a_split_model_follows_its_inputs),
      cmocka_unit_test(the_value_before_is_no_jump),
      cmocka_unit_test(what_was_saved_behind_a_set_goes_on_with_the_same_bits),
      cmocka_unit_test(inputs_are_outputs_like_any_other),
      cmocka_unit_test(a_reader_shows_what_belongs_to_the_new_value),
      cmocka_unit_test(inputs_that_do_not_exist_and_values_that_are_none_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
