/* Models with subsystems of their own and with inputs, as the program runs and looks at them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "program.h"

#define MODEL                                                                                                          \
  "yoke: 1\nt_end: 0.1\ninputs: {pull: {value: 2, unit: N, description: by hand}}\n"                                   \
  "bodies: {a: {kind: mass1d, mass: 1}}\n"                                                                             \
  "connections: {s: {kind: spring-damper, between: [a, pump.rod], stiffness: 10}}\n"                                   \
  "subsystems:\n"                                                                                                      \
  "  pump: {kind: user, type: gear-pump, ports: {rod: line}}\n"                                                        \
  "  control: {kind: user, type: pd, inputs: {x: a.x}, outputs: {force: N}}\n"                                         \
  "loads: {f: {kind: expression, on: a, force: control.force + pull}}\n"                                               \
  "cosimulation: {step: 0.01}\n"

/* Nothing but a spring between two masses can be cut. */
#define TWO                                                                                                            \
  "yoke: 1\nt_end: 0.1\nbodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, mass: 1}}\n"                            \
  "connections:\n"                                                                                                     \
  "  s: {kind: spring-damper, between: [a, b], stiffness: 3}\n"                                                        \
  "  r: {kind: fixed, between: [b, part1.rod]}\n"                                                                      \
  "subsystems: {part1: {kind: user, type: x, ports: {rod: line}, outputs: [f]}}\n"                                     \
  "loads: {q: {kind: expression, on: a, force: part1.rod.x + part1.f}}\n"                                              \
  "cosimulation: {step: 0.01}\n"

static void write_model(const fixture *f, const char *text) {
  char path[128];
  write_text(in_folder(f, "m.yaml", path), text);
}

static void check_and_info_look_at_a_model_without_the_code_of_its_subsystems(void **state) {
  fixture *f = *state;
  write_model(f, MODEL);
  assert_int_equal(yoke(f, "check @/m.yaml"), 0);
  assert_says(f->out, "fine, 1 body, 1 connection, 2 freedoms, 3 subsystems, 3 couplings");
  assert_says(f->err, "subsystem 'pump': code of type 'gear-pump' is not loaded here, what it does is not looked at");
  assert_int_equal(yoke(f, "info @/m.yaml --all"), 0);
  assert_says(f->out, "pump  user subsystem of type gear-pump, 1 port, 0 inputs, 0 outputs, solver of its own");
  assert_says(f->out, "control.x  signal, model to control, signal, 1 channel: signal");
  assert_says(f->out, "control.force -> model  signal, control to model");
  assert_says(f->out, "control.force  N\n");
  assert_says(f->out, "pull  N  by hand\n");
}

static void a_run_without_the_code_says_what_is_missing(void **state) {
  fixture *f = *state;
  write_model(f, MODEL);
  assert_int_equal(yoke(f, "run @/m.yaml"), 3);
  assert_says(f->err, "no type 'gear-pump' is known for subsystem 'pump': load the plugin that has it (--plugin FILE)");
  assert_int_equal(yoke(f, "run @/m.yaml --monolithic"), 3);
  assert_says(f->err, "'pump' is a subsystem of its own; run it without --monolithic");
  assert_int_equal(yoke(f, "info @/m.yaml --modes"), 2);
  assert_says(f->err, "has no equations as a whole: 'pump' is a subsystem of its own");
}

static void a_split_is_proposed_around_subsystems_of_their_own(void **state) {
  fixture *f = *state;
  write_model(f, TWO);
  assert_int_equal(yoke(f, "split @/m.yaml -n 2 -o @/split.yaml"), 0);
  assert_int_equal(yoke(f, "check @/split.yaml"), 0);
  assert_says(f->out, "3 subsystems");
}

static void settings_of_a_run_with_signals_repeat_it(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "info examples/robot-arm-split.yaml --all"), 0);
  assert_says(f->out, "\"elbow\": {formulation: stabilized-index-2");
  assert_null(strstr(f->out, "-> upper\": {"));
  assert_int_equal(yoke(f, "run examples/robot-arm-split.yaml --t-end 0.01 --set inputs.lift=3 --print lift"), 0);
  assert_string_equal(f->out, "lift 3\n");
  assert_int_equal(yoke(f, "stability examples/robot-arm-split.yaml"), 2);
  assert_says(f->err, "the stability of signals between subsystems ('fore.angle -> upper') is not computed");
}

static void a_law_between_subsystems_that_reads_the_model_is_run_and_has_no_stability_yet(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/two-mass.yaml --t-end 0.01 --set 'connections.coupling={kind: spring-damper, "
                           "between: [m1, m2], law: 300*x + 9*v + 50*m1.x*m2.v}'"),
                   0);
  assert_int_equal(yoke(f, "stability examples/two-mass.yaml --set 'connections.coupling={kind: spring-damper, "
                           "between: [m1, m2], law: 300*x + 9*v + 50*m1.x*m2.v}'"),
                   2);
  assert_says(f->err, "the stability of a law between subsystems that reads the model ('coupling') is not computed");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(check_and_info_look_at_a_model_without_the_code_of_its_subsystems),
      TEST(a_run_without_the_code_says_what_is_missing),
      TEST(a_split_is_proposed_around_subsystems_of_their_own),
      TEST(settings_of_a_run_with_signals_repeat_it),
      TEST(a_law_between_subsystems_that_reads_the_model_is_run_and_has_no_stability_yet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
