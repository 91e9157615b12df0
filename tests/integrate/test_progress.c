/* Runs whose time does not move on end with a reason; honest ones with small steps go on. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "check.h"
#include "examples/run_model.h"
#include "base/progress.h"

typedef struct phase {
  int64_t n; /* attempts */
  double  h;
  int     reject_every; /* 0: none is rejected */
} phase;

/* Does a run to t_goal that goes through these phases stand still? */
static bool stands(const phase *phases, int n_phases, double t_goal) {
  yoke_progress   progress = {0};
  yoke_standstill made     = {0};
  double          t        = 0.0;
  int64_t         steps = 0, rejected = 0;
  for (int k = 0; k < n_phases; ++k) {
    for (int64_t i = 1; i <= phases[k].n; ++i) {
      if (phases[k].reject_every > 0 && i % phases[k].reject_every == 0) {
        ++rejected;
        continue;
      }
      t += phases[k].h;
      ++steps;
      if (yoke_progress_stands(&progress, t, t_goal, steps, rejected, &made)) return true;
    }
  }
  return false;
}

static void steps_at_the_resolution_of_time_stand_still(void **state) {
  (void)state;
  assert_true(stands((phase[]){{1000, 1e-3, 0}, {2000, 1e-14, 0}}, 2, 10.0));
}

static void thousands_of_rejections_around_one_time_stand_still(void **state) {
  (void)state;
  assert_true(stands((phase[]){{1000, 1e-3, 0}, {2000, 1e-9, 2}}, 2, 10.0));
}

static void steps_a_million_times_shorter_than_before_stand_still(void **state) {
  (void)state;
  assert_true(stands((phase[]){{1000, 1e-3, 0}, {9000, 5e-10, 0}}, 2, 10.0));
}

static void honest_small_steps_go_on(void **state) {
  (void)state;
  assert_false(stands((phase[]){{300, 1e-13, 3}, {2000, 1e-4, 0}}, 2, 10.0)); /* a start with small steps */
  assert_false(stands((phase[]){{50000, 1e-11, 0}}, 1, 1e-6));                /* all is short */
  assert_false(stands((phase[]){{1000, 1e-3, 0}, {600, 1e-12, 2}, {1000, 1e-3, 0}}, 3, 10.0)); /* an impact */
  assert_false(
      stands((phase[]){{1000, 1e-3, 0}, {6000, 5e-12, 2}, {1000, 1e-3, 0}}, 3, 0.06)); /* one by a method of order 2 */
  assert_false(stands((phase[]){{100000, 1e-7, 5}}, 1, 1.0));  /* stability limits explicit steps */
  assert_false(stands((phase[]){{50000, 1e-8, 0}}, 1, 100.0)); /* fast motion, long run */
}

/* ---- whole runs ---- */

static bool says(const model_run *run, const char *words) {
  for (size_t i = 0; i < yoke_context_n_messages(run->ctx); ++i) {
    if (strstr(yoke_context_message(run->ctx, i), words) != NULL) return true;
  }
  return false;
}

static model_run run_until_it_stands(const char *text, const char *solver) {
  const char *all[RUN_MAX_SETS];
  char        number[2][64];
  model_run   run = {0};
  assert_int_equal(yoke_context_create(&run.ctx), YOKE_OK);
  const yoke_load_options options = {
      .size = sizeof options, .n_sets = run_options(NULL, solver, 0.0, all, number), .sets = all};
  assert_int_equal(yoke_model_load_text(run.ctx, "test.yaml", text, strlen(text), &options, &run.model), YOKE_OK);
  assert_int_equal(run_start(&run), YOKE_OK);
  assert_int_equal(yoke_system_run(run.system, run.model->t_end, NULL, &run.summary, run.ctx), YOKE_E_STEP_TOO_SMALL);
  return run;
}

/* A block on a spring comes to rest where dry friction holds it: amplitude 0.51 m loses 4 F/c = 0.04 m in each of 13 swings of pi/10 s. Jumps of
 * floor are not held. */
#define BLOCK(sign)                                                                                                    \
  "yoke: 1\nt_end: 5\n"                                                                                                \
  "bodies: {block: {kind: mass1d, mass: 1, x: 0.51}}\n"                                                                \
  "connections: {spring: {kind: spring-damper, between: [ground, block], stiffness: 100}}\n"                           \
  "loads: {friction: {kind: expression, on: block, force: -2*" sign "}}\n"

static void f21_jump_that_holds_the_motion_ends_with_the_name_of_the_load(void **state) {
  (void)state;
  static const char *const solvers[] = {"auto", "dopri5", "dop853", "abm", "radau5", "bdf", "genalpha"};
  for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; ++s) {
    model_run run = run_until_it_stands(BLOCK("(2*max(-1, min(0, floor(block.v))) + 1)"), solvers[s]);
    assert_true(says(&run, "does not get on"));
    assert_true(says(&run, "load 'friction' jumps with the velocity"));
    assert_true(says(&run, "tanh"));
    CHECK_NEAR(run.summary.t, 1.3 * 3.14159265358979, 1e-4);
    CHECK_NEAR(run_value(&run, "block.x"), 0.01, 1e-6);
    assert_true(run.summary.counters.evaluations < 100000);
    run_end(&run);
  }
}

/* It creeps by w artanh(1/2) per second then. */
static void f21_the_remedy_that_is_told_ends_right(void **state) {
  (void)state;
  static const char *const solvers[] = {"auto", "radau5", "bdf"};
  for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; ++s) {
    model_run run = run_text(BLOCK("tanh(block.v/1e-6)"), NULL, solvers[s], 0.0, 0.0);
    CHECK_NEAR(run_value(&run, "block.x"), 0.01 - 1e-6 * 0.549306 * (5.0 - 1.3 * 3.14159265), 1e-7);
    assert_true(run.summary.counters.evaluations < 20000);
    run_end(&run);
  }
}

/* A linkage that could pass its singular position but for a length that is off by 3e-10: more than digits that were not typed (F19). */
static void f20_singular_position_is_named_where_it_cannot_be_passed(void **state) {
  (void)state;
  static const char *const sets[] = {"parameters.N=2",
                                     "connections.base.between=[[(i - 1)*(L + 3e-10), 0, 0], crank[i].base]", NULL};
  const char              *all[RUN_MAX_SETS];
  char                     text[2][64];
  model_run                run = {0};
  assert_int_equal(yoke_context_create(&run.ctx), YOKE_OK);
  const yoke_load_options options = {
      .size = sizeof options, .n_sets = run_options(sets, "dopri5", 1e-10, all, text), .sets = all};
  assert_int_equal(yoke_model_load(run.ctx, "examples/n-four-bar.yaml", &options, &run.model), YOKE_OK);
  assert_int_equal(run_start(&run), YOKE_OK);
  assert_int_equal(yoke_system_run(run.system, 1.0, NULL, &run.summary, run.ctx), YOKE_E_STEP_TOO_SMALL);
  assert_true(says(&run, "the position is singular there, joint '"));
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_at_the_resolution_of_time_stand_still),
      cmocka_unit_test(thousands_of_rejections_around_one_time_stand_still),
      cmocka_unit_test(steps_a_million_times_shorter_than_before_stand_still),
      cmocka_unit_test(honest_small_steps_go_on),
      cmocka_unit_test(f21_jump_that_holds_the_motion_ends_with_the_name_of_the_load),
      cmocka_unit_test(f21_the_remedy_that_is_told_ends_right),
      cmocka_unit_test(f20_singular_position_is_named_where_it_cannot_be_passed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
