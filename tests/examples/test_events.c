/* Events of whole simulations: where they are found, what they change and what they must not change. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "check.h"
#include "examples/run_model.h"
#include "../ball_on_link.h"
#include <stdlib.h>

static const char *const solvers[] = {"auto", "dopri5", "dop853", "abm", "radau5", "bdf"};
enum { N_SOLVERS = sizeof solvers / sizeof solvers[0], MAX_FOUND = 64 };

#define BALL                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, -9.81, 0]\n"                                                                                           \
  "t_end: 3\n"                                                                                                         \
  "bodies:\n"                                                                                                          \
  "  ball: {kind: particle, mass: 2, position: [0, 1, 0], velocity: [0.5, 0, 0]}\n"

/* Times of the events with this name, from the notes. */
static int found(const model_run *run, const char *name, double *t) {
  char start[64];
  int  n = 0;
  snprintf(start, sizeof start, "event '%s' at t = ", name);
  for (size_t i = 0; i < yoke_context_n_messages(run->ctx) && n < MAX_FOUND; ++i) {
    const char *at = strstr(yoke_context_message(run->ctx, i), start);
    if (at != NULL) t[n++] = strtod(at + strlen(start), NULL);
  }
  return n;
}

/* solver NULL: the model's own. */
static yoke_status run_to_failure_with(model_run *run, const char *text, const char *solver) {
  const char *all[RUN_MAX_SETS];
  char        number[2][64];
  *run = (model_run){0};
  assert_int_equal(yoke_context_create(&run->ctx), YOKE_OK);
  const yoke_load_options options = {
      .size = sizeof options, .n_sets = run_options(NULL, solver, 0.0, all, number), .sets = all};
  assert_int_equal(yoke_model_load_text(run->ctx, "test.yaml", text, strlen(text), &options, &run->model), YOKE_OK);
  assert_int_equal(run_start(run), YOKE_OK);
  return yoke_system_run(run->system, run->model->t_end, NULL, &run->summary, run->ctx);
}

static yoke_status run_to_failure(model_run *run, const char *text) {
  return run_to_failure_with(run, text, NULL);
}

/* --- set ---------------------------------------------------------------------------------------------------------- */

/* From height 1 with restitution e: bounce n at t_1 (1 + 2 (e + ... + e^n)), t_1 = sqrt(2 / g). */
static void check_bounces(const char *text, const char *solver, double e) {
  const double g = 9.81, t1           = sqrt(2.0 / g);
  double       t[MAX_FOUND], expected = t1, gap = 2.0 * t1;
  model_run    run   = run_text(text, NULL, solver, 1e-10, 0.0);
  const int    n     = found(&run, "bounce", t);
  int          due   = 0;
  double       speed = g * t1;
  for (; expected < 3.0; ++due) {
    if (due >= n) fail_msg("%s: bounce %d at t = %.9g was missed", solver, due + 1, expected);
    CHECK_NEAR(t[due], expected, 1e-8);
    gap *= e;
    speed *= e;
    expected += gap;
  }
  assert_int_equal(n, due);
  assert_int_equal(run.summary.n_events, due);
  const double since = 3.0 - (expected - gap);
  CHECK_NEAR(run_value(&run, "ball.y"), speed * since - 0.5 * g * since * since, 1e-7);
  CHECK_NEAR(run_value(&run, "ball.x"), 1.5, 1e-9);
  CHECK_BELOW(run.summary.energy_drift, 1e-7); /* what a bounce takes away is counted as work from outside */
  run_end(&run);
}

static void bounces_happen_at_the_exact_times(void **state) {
  (void)state;
  for (int s = 0; s < N_SOLVERS; ++s) {
    check_bounces(BALL "events: {bounce: {when: ball.y, direction: falling, set: {ball.vy: -0.8*ball.vy}}}\n",
                  solvers[s], 0.8);
  }
}

/* The way up again through 0 is no second event. */
static void bounces_need_no_direction(void **state) {
  (void)state;
  for (int s = 0; s < N_SOLVERS; ++s)
    check_bounces(BALL "events: {bounce: {when: ball.y, set: {ball.vy: -0.8*ball.vy}}}\n", solvers[s], 0.8);
}

/* A braking strip: the ball goes on through, slower. One event, not many. */
static void an_event_that_lets_the_motion_pass_fires_once(void **state) {
  (void)state;
  for (int s = 0; s < N_SOLVERS; ++s) {
    double    t[MAX_FOUND];
    model_run run = run_text(BALL "events: {strip: {when: ball.y - 0.5, set: {ball.vy: 0.5*ball.vy}}}\n", NULL,
                             solvers[s], 1e-10, 1.0);
    assert_int_equal(found(&run, "strip", t), 1);
    CHECK_NEAR(t[0], sqrt(1.0 / 9.81), 1e-9);
    const double v = 0.5 * sqrt(9.81), since = 1.0 - sqrt(1.0 / 9.81);
    CHECK_NEAR(run_value(&run, "ball.y"), 0.5 - v * since - 0.5 * 9.81 * since * since, 1e-7);
    run_end(&run);
  }
}

static void events_at_one_instant_all_happen(void **state) {
  (void)state;
  static const char model[] =
      "yoke: 1\n"
      "gravity: [0, -9.81, 0]\n"
      "t_end: 1\n"
      "bodies:\n"
      "  ball: {kind: particle, count: 3, mass: i, position: [i, 1, 0]}\n"
      "events:\n"
      "  bounce: {count: 3, when: ball[i].y, direction: falling, set: {ball[i].vy: -ball[i].vy}}\n";
  for (int s = 0; s < N_SOLVERS; ++s) {
    model_run run = run_text(model, NULL, solvers[s], 1e-10, 0.0);
    assert_int_equal(run.summary.n_events, 3);
    const double t1 = sqrt(2.0 / 9.81), since = 1.0 - t1, y = 9.81 * t1 * since - 0.5 * 9.81 * since * since;
    CHECK_NEAR(run_value(&run, "ball[1].y"), y, 1e-8);
    CHECK_NEAR(run_value(&run, "ball[2].y"), y, 1e-8);
    CHECK_NEAR(run_value(&run, "ball[3].y"), y, 1e-8);
    run_end(&run);
  }
}

/* Values are read before any is written: two balls exchange their velocities. */
static void set_reads_before_it_writes(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\n"
                              "t_end: 2\n"
                              "bodies:\n"
                              "  a: {kind: mass1d, mass: 1, x: 0, v: 2}\n"
                              "  b: {kind: mass1d, mass: 1, x: 1, v: -1}\n"
                              "events: {hit: {when: b.x - a.x, direction: falling, set: {a.v: b.v, b.v: a.v}}}\n";
  model_run         run     = run_text(model, NULL, "dop853", 1e-10, 0.0);
  CHECK_NEAR(run_value(&run, "a.v"), -1.0, 1e-12);
  CHECK_NEAR(run_value(&run, "b.v"), 2.0, 1e-12);
  CHECK_NEAR(run_value(&run, "a.x"), 2.0 / 3 - (2.0 - 1.0 / 3), 1e-9);
  run_end(&run);
}

/* A set that violates a joint is brought back onto it. */
static void joints_hold_after_a_set(void **state) {
  (void)state;
  static const char model[] =
      "yoke: 1\n"
      "gravity: [0, -9.81, 0]\n"
      "t_end: 2\n"
      "bodies:\n"
      "  rod: {kind: planar, mass: 1, inertia: 1/12, position: [0.5, 0], frames: {top: [-0.5, 0]}}\n"
      "connections: {pin: {kind: revolute, between: [ground, rod.top]}}\n"
      "events: {wall: {when: rod.angle + pi/2, direction: falling, set: {rod.omega: -rod.omega}}}\n";
  for (int s = 0; s < N_SOLVERS; ++s) {
    model_run run = run_text(model, NULL, solvers[s], 1e-10, 0.0);
    assert_true(run.summary.n_events >= 1);
    CHECK_BELOW(run.summary.constraint_residual, 1e-9);
    CHECK_BELOW(run.summary.energy_drift, 1e-6);
    run_end(&run);
  }
}

/* --- short events --------------------------------------------------------------------------------------------------- */

/* Free flight is integrated in one step, in which the ball rises above the line and falls below it again. */
static void two_crossings_in_one_step_are_found(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\n"
                              "gravity: [0, -10, 0]\n"
                              "t_end: 2\n"
                              "bodies: {ball: {kind: particle, mass: 1, velocity: [0, 10, 0]}}\n"
                              "events: {line: {when: ball.y - 4.2}, start: {when: ball.y}}\n";
  for (int s = 0; s < N_SOLVERS; ++s) {
    double    t[MAX_FOUND];
    model_run run = run_text(model, NULL, solvers[s], 1e-9, 0.0);
    assert_int_equal(found(&run, "line", t), 2);
    CHECK_NEAR(t[0], 0.6, 1e-8);
    CHECK_NEAR(t[1], 1.4, 1e-8);
    run_end(&run);
  }
}

static void endless_bounces_are_refused(void **state) {
  (void)state;
  static const double restitution[] = {0.1, 0.5, 0.7};
  for (size_t i = 0; i < sizeof restitution / sizeof restitution[0]; ++i) {
    char      text[1000];
    model_run run;
    snprintf(text, sizeof text, "%sevents: {bounce: {when: ball.y, direction: falling, set: {ball.vy: -%g*ball.vy}}}\n",
             BALL, restitution[i]);
    assert_int_equal(run_to_failure(&run, text), YOKE_E_STEP_TOO_SMALL);
    bool is_named = false;
    for (size_t k = 0; k < yoke_context_n_messages(run.ctx); ++k) {
      is_named = is_named || strstr(yoke_context_message(run.ctx, k), "'bounce' happens again and again") != NULL;
    }
    assert_true(is_named);
    CHECK_NEAR(run.summary.t, sqrt(2 / 9.81) * (1 + 2 * restitution[i] / (1 - restitution[i])), 1e-6);
    run_end(&run);
  }
}

/* Bounces that become smaller than the errors of the solver do not let anything through, with or without a floor at rounded numbers. */
static void f11_nothing_falls_through_a_floor(void **state) {
  (void)state;
  static const char        link[]   = "t_end: 3\n" BALL_ON_LINK;
  static const char *const models[] = {
      link, BALL "events: {bounce: {when: ball.y, direction: falling, set: {ball.vy: -0.5*ball.vy}}}\n",
      BALL "events: {bounce: {when: ball.y - 0.3, direction: falling, set: {ball.vy: -0.5*ball.vy}}}\n",
      BALL "events: {bounce: {when: ball.y, direction: falling, set: {ball.vy: 0}}}\n"};
  static const double floors[] = {-0.5, 0.0, 0.3, 0.0};
  for (int s = 0; s < N_SOLVERS; ++s) {
    for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m) {
      model_run run;
      assert_int_equal(run_to_failure_with(&run, models[m], solvers[s]), YOKE_E_STEP_TOO_SMALL);
      CHECK_NEAR(run_value(&run, "ball.y"), floors[m], 1e-9);
      bool is_named = false;
      for (size_t k = 0; k < yoke_context_n_messages(run.ctx); ++k) {
        is_named = is_named || strstr(yoke_context_message(run.ctx, k), "'bounce' happens again and again") != NULL;
      }
      assert_true(is_named);
      run_end(&run);
    }
  }
}

/* What an event sets need not turn its function back: this one lets the ball go on, half as fast. */
static void f11_event_that_sets_something_else_is_passed(void **state) {
  (void)state;
  for (int s = 0; s < N_SOLVERS; ++s) {
    model_run run = run_text(BALL "events: {slow: {when: ball.y, direction: falling, set: {ball.vy: 0.5*ball.vy}}}\n",
                             NULL, solvers[s], 1e-10, 0.0);
    assert_int_equal(run.summary.n_events, 1);
    const double t = 3.0 - sqrt(2.0 / 9.81);
    CHECK_NEAR(run_value(&run, "ball.y"), -0.5 * sqrt(2.0 * 9.81) * t - 0.5 * 9.81 * t * t, 1e-6);
    run_end(&run);
  }
}

/* --- stop and record ---------------------------------------------------------------------------------------------- */

static void stop_ends_the_run_at_the_event(void **state) {
  (void)state;
  for (int s = 0; s < N_SOLVERS; ++s) {
    model_run run = run_text(BALL "events: {hit: {when: ball.y, action: stop}}\n", NULL, solvers[s], 1e-10, 0.0);
    CHECK_NEAR(run.summary.t, sqrt(2.0 / 9.81), 1e-9);
    CHECK_NEAR(run_value(&run, "ball.y"), 0.0, 1e-12);
    assert_int_equal(run.summary.n_events, 1);
    run_end(&run);
  }
}

/* A record event in the same step, before the one that stops. */
static void records_before_a_stop_are_kept_and_later_ones_are_not(void **state) {
  (void)state;
  double    t[MAX_FOUND];
  model_run run = run_text(BALL "events:\n"
                                "  late: {when: ball.y + 0.1}\n"
                                "  hit: {when: ball.y, action: stop}\n"
                                "  early: {when: ball.y - 0.1}\n",
                           NULL, "dop853", 1e-10, 0.0);
  assert_int_equal(found(&run, "early", t), 1);
  CHECK_NEAR(t[0], sqrt(1.8 / 9.81), 1e-9);
  assert_int_equal(found(&run, "late", t), 0);
  CHECK_NEAR(run.summary.t, sqrt(2.0 / 9.81), 1e-9);
  run_end(&run);
}

#define PENDULUM                                                                                                       \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, -9.81, 0]\n"                                                                                           \
  "t_end: 3\n"                                                                                                         \
  "bodies:\n"                                                                                                          \
  "  rod: {kind: rigid, mass: 1, inertia: [0.01, 0.1, 0.1], position: [0.5, 0, 0], frames: {top: [-0.5, 0, 0]}}\n"     \
  "connections: {pin: {kind: revolute, between: [ground, rod.top]}}\n"                                                 \
  "output: {every: 0.1}\n"

static const char *const pendulum_outputs[] = {"rod.x",  "rod.y",  "rod.q0", "rod.q3",
                                               "rod.vx", "rod.vy", "rod.wz", "pin.force[1]"};
enum { N_PENDULUM_OUTPUTS = sizeof pendulum_outputs / sizeof pendulum_outputs[0] };

static void run_pendulum(const char *text, const char *solver, double values[N_PENDULUM_OUTPUTS], int *n_events) {
  model_run run = run_text(text, NULL, solver, 1e-8, 0.0);
  for (int k = 0; k < N_PENDULUM_OUTPUTS; ++k) values[k] = run_value(&run, pendulum_outputs[k]);
  *n_events = run.summary.n_events;
  run_end(&run);
}

static void record_changes_no_bit(void **state) {
  (void)state;
  for (int s = 0; s < N_SOLVERS; ++s) {
    double without[N_PENDULUM_OUTPUTS], with[N_PENDULUM_OUTPUTS];
    int    n_without, n_with;
    run_pendulum(PENDULUM, solvers[s], without, &n_without);
    run_pendulum(PENDULUM "events: {low: {when: rod.x}, half: {when: rod.x - 0.25}}\n", solvers[s], with, &n_with);
    assert_int_equal(n_without, 0);
    assert_true(n_with > 2);
    assert_memory_equal(with, without, sizeof with);
  }
}

static void repeated_runs_have_the_same_bits(void **state) {
  (void)state;
  for (int s = 0; s < N_SOLVERS; ++s) {
    static const char model[] =
        PENDULUM "events: {wall: {when: rod.x, set: {rod.wz: -0.9*rod.wz, rod.vx: -0.9*rod.vx}}}\n";
    double first[N_PENDULUM_OUTPUTS], second[N_PENDULUM_OUTPUTS];
    int    n_first, n_second;
    run_pendulum(model, solvers[s], first, &n_first);
    run_pendulum(model, solvers[s], second, &n_second);
    assert_true(n_first > 2);
    assert_int_equal(n_first, n_second);
    assert_memory_equal(first, second, sizeof first);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounces_happen_at_the_exact_times),
      cmocka_unit_test(bounces_need_no_direction),
      cmocka_unit_test(an_event_that_lets_the_motion_pass_fires_once),
      cmocka_unit_test(events_at_one_instant_all_happen),
      cmocka_unit_test(set_reads_before_it_writes),
      cmocka_unit_test(joints_hold_after_a_set),
      cmocka_unit_test(two_crossings_in_one_step_are_found),
      cmocka_unit_test(endless_bounces_are_refused),
      cmocka_unit_test(f11_nothing_falls_through_a_floor),
      cmocka_unit_test(f11_event_that_sets_something_else_is_passed),
      cmocka_unit_test(stop_ends_the_run_at_the_event),
      cmocka_unit_test(records_before_a_stop_are_kept_and_later_ones_are_not),
      cmocka_unit_test(record_changes_no_bit),
      cmocka_unit_test(repeated_runs_have_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
