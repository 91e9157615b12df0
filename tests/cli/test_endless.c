/* Runs that could not end are refused, runs that merely take long can be interrupted at any time. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "cli/program.h"
#include <yoke/run.h>
#include <math.h>
#include <signal.h>
#include <sys/time.h>

/* Two masses with a spring; one macro step of 1 s. */
static const char model[] = "yoke: 1\n"
                            "t_end: 10\n"
                            "bodies: {a: {kind: mass1d, mass: 1, x: 0.1}, b: {kind: mass1d, mass: 2}}\n"
                            "connections:\n"
                            "  wall: {kind: spring-damper, between: [ground, a], stiffness: 10, damping: 1}\n"
                            "  tie: {kind: spring-damper, between: [a, b], stiffness: 10, damping: 1}\n"
                            "split: {p: [a], q: [b]}\n"
                            "cosimulation: {step: 1, scheme: explicit, order: 0}\n"
                            "output: {every: 1}\n";

static void f22_steps_that_time_cannot_resolve_are_refused(void **state) {
  static const char *const keys[] = {"solvers.default.step", "solvers.default.max_step", "solvers.p.step",
                                     "output.every", "cosimulation.step"};
  fixture                 *f      = *state;
  char                     path[128], arguments[300];
  write_text(in_folder(f, "m.yaml", path), model);
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
    snprintf(arguments, sizeof arguments, "run @/m.yaml --set %s=1e-17", keys[i]);
    assert_int_equal(yoke(f, arguments), 3);
    assert_says(f->err, keys[i]);
    assert_says(f->err, "is 1e-17 s, but times near t = 10 s can only be told apart from 8.88e-15 s on");
    assert_says(f->err, "use at least 1e-11 s");
    assert_null(strstr(f->err, "warning"));
  }
  assert_int_equal(yoke(f, "run @/m.yaml --set solvers.default.step=1e-300"), 3);
  assert_int_equal(yoke(f, "check @/m.yaml --set output.every=1e-17"), 3);
}

static void f22_more_than_1e12_steps_are_refused(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "m.yaml", path), model);
  assert_int_equal(yoke(f, "run @/m.yaml --set solvers.default.step=9e-12"), 3);
  assert_says(f->err, "solvers.default.step is 9e-12 s: 1.11e+12 of them from t = 0 s to 10 s");
  assert_says(f->err, "use at least 1e-11 s, or a nearer t_end");
  assert_int_equal(yoke(f, "run @/m.yaml --t-end 1e-6 --set output.every=0 --set cosimulation.step=1e-7 --set "
                           "solvers.default.step=1e-9"),
                   0);
}

/* Swings about x = 0 that have an end in time and are not held there: in the end they are smaller than what the solver can tell from 0. */
static void f21_swings_below_the_tolerance_of_the_solver_end_with_the_name_of_the_load(void **state) {
  static const char *const solvers[] = {"auto", "dopri5", "dop853", "radau5", "bdf", "abm"};
  fixture                 *f         = *state;
  char                     path[128], arguments[300];
  write_text(in_folder(f, "m.yaml", path),
             "yoke: 1\n"
             "t_end: 100\n"
             "bodies: {a: {kind: mass1d, mass: 1, x: 0.1}}\n"
             "loads: {f: {kind: expression, on: a, force: '-5*sign(a.x) - 2*sign(a.v)*sqrt(abs(a.v))'}}\n");
  for (size_t i = 0; i < sizeof solvers / sizeof solvers[0]; ++i) {
    snprintf(arguments, sizeof arguments, "run @/m.yaml --rtol 1e-5 --solver %s", solvers[i]);
    assert_int_equal(yoke(f, arguments), 4);
    assert_says(f->err, "load 'f' jumps at t = 2.");
    assert_says(f->err, "does so again and again");
  }
}

/* ---- interrupts ---- */

static volatile sig_atomic_t flag;

static void raise_flag(int number) {
  (void)number;
  flag = 1;
}

static bool stop_at_the_second_question(void *user, double t, double t_start, double t_end) {
  (void)t, (void)t_start, (void)t_end;
  return ++*(int *)user < 2;
}

/* The flag is raised 20 ms of processor time after the run has begun: on a busy machine the clock may have passed that while the model is set
 * up, which is another interrupt. */
static bool set_the_alarm(void *user, double t, double t_start, double t_end) {
  (void)t, (void)t_start, (void)t_end;
  const struct itimerval soon = {.it_value = {.tv_usec = 20000}};
  if (++*(int *)user == 1) (void)setitimer(ITIMER_VIRTUAL, &soon, NULL);
  return true;
}

/* Every macro step, or the whole run, takes 1e9 micro steps: minutes. */
static void run_until_interrupted(fixture *f, bool monolithic, const char *step, int threads, int *n_asked,
                                  yoke_run_summary *summary) {
  char              path[128], csv[128];
  const char *const sets[]  = {step, "solvers.default.kind=dopri5"};
  yoke_context     *ctx     = NULL;
  yoke_run_options  options = {.size = sizeof options};
  int               n_own   = 0;
  write_text(in_folder(f, "m.yaml", path), model);
  options.model       = path;
  options.csv         = in_folder(f, "o.csv", csv);
  options.sets        = sets;
  options.n_sets      = 2;
  options.threads     = threads;
  options.monolithic  = monolithic;
  options.no_predict  = true;
  options.interrupted = n_asked == NULL ? &flag : NULL;
  options.progress    = n_asked != NULL ? stop_at_the_second_question : set_the_alarm;
  options.user        = n_asked != NULL ? n_asked : &n_own;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  flag = 0;
  if (n_asked == NULL) {
    struct sigaction action = {.sa_handler = raise_flag};
    sigaction(SIGVTALRM, &action, NULL);
  }
  assert_int_equal(yoke_run(ctx, &options, summary), YOKE_E_INTERRUPTED);
  assert_int_equal(yoke_context_n_errors(ctx), 1);
  assert_says(yoke_context_message(ctx, 0), "interrupted at t = ");
  yoke_context_destroy(&ctx);
}

static void f22_an_interrupt_is_read_inside_a_long_macro_step(void **state) {
  yoke_run_summary summary = {.size = sizeof summary};
  for (int threads = 1; threads <= 2; ++threads) {
    run_until_interrupted(*state, false, "solvers.default.step=1e-9", threads, NULL, &summary);
    assert_true(summary.t == 0.0); /* no macro step was accepted: there is nothing to keep but the start */
    assert_int_equal(summary.n_rows, 1);
    yoke_run_summary_release(&summary);
  }
}

static void f22_progress_is_asked_inside_a_long_macro_step(void **state) {
  yoke_run_summary summary = {.size = sizeof summary};
  int              n_asked = 0;
  run_until_interrupted(*state, false, "solvers.default.step=1e-9", 1, &n_asked, &summary);
  assert_int_equal(n_asked, 2);
  yoke_run_summary_release(&summary);
}

static void f22_an_interrupt_is_read_between_micro_steps_and_samples_of_a_whole_model(void **state) {
  yoke_run_summary summary = {.size = sizeof summary};
  run_until_interrupted(*state, true, "solvers.default.step=1e-9", 1, NULL, &summary);
  assert_true(summary.t > 0.0 && summary.t < 1.0);
  assert_int_equal(summary.n_rows, 2);
  yoke_run_summary_release(&summary);
  run_until_interrupted(*state, true, "output.every=1e-10", 1, NULL, &summary);
  assert_true(summary.n_rows > 1);
  yoke_run_summary_release(&summary);
  char  path[128];
  char *text = read_text(in_folder(*state, "o.csv", path));
  assert_says(text, "1e-10,"); /* what was sampled is kept */
  free(text);
}

static void f22_an_interrupt_is_read_while_a_model_is_set_up(void **state) {
  static volatile sig_atomic_t already = 1;
  char                         path[128];
  for (int monolithic = 0; monolithic <= 1; ++monolithic) {
    yoke_context    *ctx     = NULL;
    yoke_run_options options = {.size = sizeof options};
    yoke_run_summary summary = {.size = sizeof summary};
    write_text(in_folder(*state, "m.yaml", path), model);
    options.model       = path;
    options.monolithic  = monolithic != 0;
    options.no_predict  = true;
    options.interrupted = &already;
    assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
    assert_int_equal(yoke_run(ctx, &options, &summary), YOKE_E_INTERRUPTED);
    assert_int_equal(yoke_context_n_errors(ctx), 1);
    assert_says(yoke_context_message(ctx, 0), "interrupted while the model was set up");
    assert_int_equal(summary.n_rows, 0);
    yoke_run_summary_release(&summary);
    yoke_context_destroy(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(f21_swings_below_the_tolerance_of_the_solver_end_with_the_name_of_the_load),
      TEST(f22_steps_that_time_cannot_resolve_are_refused),
      TEST(f22_more_than_1e12_steps_are_refused),
      TEST(f22_an_interrupt_is_read_inside_a_long_macro_step),
      TEST(f22_progress_is_asked_inside_a_long_macro_step),
      TEST(f22_an_interrupt_is_read_while_a_model_is_set_up),
      TEST(f22_an_interrupt_is_read_between_micro_steps_and_samples_of_a_whole_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
