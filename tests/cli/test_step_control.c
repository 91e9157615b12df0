/* The program with step control: options, summary, what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "program.h"

#define MODEL "examples/two-mass.yaml"

static void options_of_step_control_override_keys_like_set_does(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.1 --macro-rtol 1e-5 --estimator cv --order auto --csv @/a.csv"),
                   0);
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.1 --set cosimulation.step.rtol=1e-5 --set "
                           "cosimulation.step.estimator=cv --set cosimulation.order=auto --csv @/b.csv"),
                   0);
  assert_int_equal(yoke(f, "compare @/a.csv @/b.csv --exact"), 0);
}

static void summary_and_json_tell_what_step_control_chose(void **state) {
  fixture *f = *state;
  assert_answers(f, "run " MODEL " --t-end 0.1 --step auto --order auto", 0, "step control with rtol 0.0001");
  assert_says(f->out, "estimator md (motion of the corrector against that of the predictor)");
  assert_says(f->out, "order 0 to 5");
  assert_answers(f, "run " MODEL " --t-end 0.1 --macro-rtol 1e-3 --json", 0, "\"macro_rtol\": 0.001");
  assert_says(f->out, "\"control\": \"estimator md");
  assert_answers(f, "run " MODEL " --t-end 0.1 --json", 0, "\"control\": null");
  assert_answers(f, "info " MODEL " --set cosimulation.step=auto", 0, "step control: estimator md");
}

static void a_tighter_macro_rtol_gives_a_smaller_coupling_error(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "compare " MODEL " --t-end 0.1 --macro-rtol 1e-8 --order auto --tol 1e-6"), 0);
  assert_int_equal(yoke(f, "compare " MODEL " --t-end 0.1 --macro-rtol 1e-2 --order auto --tol 1e-6"), 1);
}

/* A run that keeps what it was asked for is not called different because of a tolerance that nobody gave. */
static void f63_a_model_is_compared_by_the_tolerance_of_its_own_run(void **state) {
  fixture *f = *state;
  assert_answers(f, "compare " MODEL " --t-end 0.1 --step auto --order auto", 0, "is within 0.001: ten times the rtol");
  assert_answers(f, "compare " MODEL " --t-end 0.1 --macro-rtol 1e-6 --order auto", 0, "is within 1e-05: ten times");
  assert_answers(f, "compare " MODEL " --t-end 0.1", 0, "is within 0.01: where a run with a fixed step begins to warn");
  assert_int_equal(yoke(f, "compare " MODEL " --t-end 0.1 --step 0.01 --order 0"), 1);
  assert_says(f->out, "exceeds 0.01: where a run");
  assert_says(f->out, "a smaller --step, or --step auto, brings the runs together");
}

#ifdef YOKE_WITH_HDF5
static void f63_results_are_judged_by_what_their_runs_asked_for(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.1 --step auto --order auto -o @/a.h5"), 0);
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.1 --monolithic -o @/b.h5"), 0);
  assert_answers(f, "info @/a.h5", 0, "verdict        complete; coupling errors add up to 0.0");
  assert_answers(f, "info @/b.h5", 0, "verdict        complete; the model as a whole");
  assert_answers(f, "compare @/a.h5 @/b.h5", 0, "is within 0.001: ten times the rtol of its step control");
  assert_answers(f, "compare @/b.h5 @/a.h5", 0, "is within 0.001: ten times the rtol of its step control");
  assert_answers(f, "compare @/b.h5 @/b.h5", 0, "is within 1e-06\n");
}
#endif

/* Forces of rigid joints jump where the motion has a kink: they are shown and do not decide. */
static void f63_forces_are_listed_first_and_not_judged(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "m.yaml", path),
             "yoke: 1\nt_end: 0.5\nbodies:\n  a: {kind: mass1d, mass: 1}\n  b: {kind: mass1d, mass: 1}\nconnections:\n"
             "  wall: {kind: spring-damper, between: [ground, a], stiffness: 100, free_length: 0}\n"
             "  cut: {kind: spring-damper, between: [a, b], stiffness: 1e4, damping: 100, free_length: 0}\n"
             "loads: {kick: {kind: expression, on: b, force: 10*sign(t - 0.2503)}}\n"
             "split: {p: [a], q: [b]}\ncosimulation: {step: 1e-3, order: 1}\noutput: {every: 0.01}\n");
  const int code = yoke(f, "compare @/m.yaml");
  assert_int_equal(code, 0);
  assert_says(f->out, "at t [s]\ncut.force[1] ");
  assert_says(f->out, "not judged: ");
  assert_says(f->out, "cut.force[1] is worst, NRMSE ");
  assert_int_equal(yoke(f, "compare @/m.yaml --tol 1e-5"), 1);
  assert_says(f->out, "different: of all quantities cut.force[1] is worst");
}

static void wrong_values_of_step_control_are_refused(void **state) {
  fixture *f = *state;
  assert_answers(f, "run " MODEL " --macro-rtol x", 2, "--macro-rtol is 'x', expected a number > 0");
  assert_answers(f, "run " MODEL " --estimator dm", 2, "expected md, cv, le");
  assert_answers(f, "run " MODEL " --order auto", 3, "use cosimulation.step auto"); /* the file has a fixed step */
  assert_answers(f, "run " MODEL " --step 1e-3 --macro-rtol 1e-4", 2, "give it or --macro-rtol");
}

static void wrong_keys_of_step_control_are_refused_by_their_path(void **state) {
  static const struct {
    const char *set, *says;
  } rows[] = {
      {"step={rtol: -1}", "'cosimulation.step.rtol': found -1"},
      {"step={estimator: xy}", "'cosimulation.step.estimator': found 'xy', expected one of: md, cv, le"},
      {"step={min: 1, max: 0.1}", "'cosimulation.step.min': found 1 s, expected at most max, which is 0.1 s"},
      {"step={initial: 1, max: 0.1}", "'cosimulation.step.initial': found 1 s, expected at most max"},
      {"step={initial: 1e-8, min: 1e-5}", "'cosimulation.step.initial': found 1e-08 s, expected at least min"},
      {"step={min: 10}", "a least step (cosimulation.step.min) below the largest"},
      {"step={atol: {velo: 1}}", "'cosimulation.step.atol.velo': found an unknown key"},
      {"step={atol: {velocity: -1}}", "'cosimulation.step.atol.velocity': found -1"},
      {"step={foo: 1}", "'cosimulation.step.foo': found an unknown key"},
      {"order={min: 3, max: 1}", "'cosimulation.order.min': found 3, expected at most max, which is 1"},
      {"order={max: 9}", "'cosimulation.order.max': found 9, expected a whole number from 0 to 5"},
      {"order={rule: idea}", "'cosimulation.order.rule': found 'idea', expected one of: ida, conservative"},
  };
  fixture *f = *state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    char command[256];
    snprintf(command, sizeof command, "run " MODEL " --set 'cosimulation.%s'", rows[i].set);
    const int code = yoke(f, command);
    assert_says(f->err, rows[i].says);
    assert_int_equal(code, strstr(rows[i].set, "min: 10") != NULL ? 2 : 3);
  }
}

static void options_of_step_control_have_no_effect_without_a_split(void **state) {
  fixture *f = *state;
  assert_warns(f, "run examples/pendulum.yaml --t-end 0.1 --macro-rtol 1e-3", "the model has no split");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(options_of_step_control_override_keys_like_set_does),
      TEST(summary_and_json_tell_what_step_control_chose),
      TEST(a_tighter_macro_rtol_gives_a_smaller_coupling_error),
      TEST(f63_a_model_is_compared_by_the_tolerance_of_its_own_run),
      TEST(f63_forces_are_listed_first_and_not_judged),
#ifdef YOKE_WITH_HDF5
      TEST(f63_results_are_judged_by_what_their_runs_asked_for),
#endif
      TEST(wrong_values_of_step_control_are_refused),
      TEST(wrong_keys_of_step_control_are_refused_by_their_path),
      TEST(options_of_step_control_have_no_effect_without_a_split),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
