/* Events and switching loads of split models: where macro steps end, what happens there, and that accuracy survives it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"
#include "../ball_on_link.h"

/* A ball that bounces, and a bob that hangs on it by a spring. */
#define BALL                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "gravity: [-9.81, 0, 0]\n"                                                                                           \
  "t_end: 1.2\n"                                                                                                       \
  "bodies:\n"                                                                                                          \
  "  ball: {kind: mass1d, mass: 1, x: 0.5}\n"                                                                          \
  "  bob: {kind: mass1d, mass: 0.5, x: 0.8}\n"                                                                         \
  "connections:\n"                                                                                                     \
  "  spring: {kind: spring-damper, between: [ball, bob], stiffness: 200, damping: 1, free_length: 0.3}\n"              \
  "split: {a: [ball], b: [bob]}\n"                                                                                     \
  "cosimulation: {scheme: implicit, order: 2, step: 1e-3}\n"                                                           \
  "solvers: {default: {kind: dopri5, rtol: 1e-11}}\n"
#define BOUNCE "events: {bounce: {when: ball.x, direction: falling, set: {ball.v: -0.9*ball.v}}}\n"

/* Two bars; the upper one hits a stop, the lower one is pushed from t = 0.3021 on. */
#define PENDULUM                                                                                                       \
  "yoke: 1\n"                                                                                                          \
  "assemble: true\n"                                                                                                   \
  "gravity: [0, -9.81, 0]\n"                                                                                           \
  "t_end: 0.8\n"                                                                                                       \
  "bodies:\n"                                                                                                          \
  "  upper: {kind: planar, mass: 1, inertia: 1/12, position: [0.35, -0.35], angle: -pi/4, frames: {top: [-0.5, 0], "   \
  "tip: [0.5, 0]}}\n"                                                                                                  \
  "  lower: {kind: planar, mass: 1, inertia: 1/12, position: [1, -1], angle: -pi/4, frames: {top: [-0.5, 0], tip: "    \
  "[0.5, 0]}}\n"                                                                                                       \
  "connections:\n"                                                                                                     \
  "  hinge: {kind: revolute, between: [ground, upper.top]}\n"                                                          \
  "  knee: {kind: revolute, between: [upper.tip, lower.top]}\n"                                                        \
  "split: {a: [upper], b: [lower]}\n"                                                                                  \
  "cosimulation: {scheme: semi-implicit, order: 1, step: 2e-3}\n"                                                      \
  "solvers: {default: {kind: dopri5, rtol: 1e-11}}\n"
#define HIT "events: {hit: {when: upper.angle + pi/2, direction: falling, set: {upper.omega: -0.5*upper.omega}}}\n"
#define PUSH "loads: {push: {kind: expression, on: lower.tip, force: [5*step(t - 0.3021), 0]}}\n"

static double value_of(cosim *c, const char *name) {
  double value = (double)NAN;
  assert_int_equal(yoke_system_value(c->system, name, &value, c->ctx), YOKE_OK);
  return value;
}

static void must_run(cosim *c) {
  if (cosim_run(c, 0.0, NULL, NULL) == YOKE_OK) return;
  cosim_print(c->ctx);
  fail_msg("%s", yoke_status_name(c->status));
}

static double end_value(const char *text, const char *sets, bool monolithic, const char *name, int *n_events) {
  cosim c;
  assert_int_equal(monolithic ? cosim_open_monolithic(&c, text, sets) : cosim_open(&c, text, sets), YOKE_OK);
  must_run(&c);
  const double value = value_of(&c, name);
  if (n_events != NULL) *n_events = c.summary.n_events;
  cosim_close(&c);
  return value;
}

/* Times of an event from the notes. */
static int times_of(const yoke_context *ctx, const char *name, double *t, int most) {
  char start[64];
  int  n = 0;
  snprintf(start, sizeof start, "event '%s' at t = ", name);
  for (size_t i = 0; i < yoke_context_n_messages(ctx) && n < most; ++i) {
    const char *at = strstr(yoke_context_message(ctx, i), start);
    if (at != NULL) t[n++] = strtod(at + strlen(start), NULL);
  }
  return n;
}

static bool says(const yoke_context *ctx, const char *words) {
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) {
    if (strstr(yoke_context_message(ctx, i), words) != NULL) return true;
  }
  return false;
}

/* ---- state events ---- */

static void a_bounce_keeps_the_order_of_the_coupling(void **state) {
  (void)state;
  static const char *const steps[] = {"cosimulation.step=4e-3", "cosimulation.step=2e-3", "cosimulation.step=1e-3"};
  int                      n_whole, n;
  const double             exact = end_value(BALL BOUNCE, NULL, true, "bob.x", &n_whole);
  double                   err[3];
  for (int k = 0; k < 3; ++k) {
    err[k] = fabs(end_value(BALL BOUNCE, steps[k], false, "bob.x", &n) - exact);
    assert_int_equal(n, n_whole);
  }
  CHECK_BELOW(err[2], 1e-6);
  CHECK_ORDER(err, 3, 3.0, 0.4);
}

static void every_scheme_meets_the_first_bounce_at_its_time(void **state) {
  (void)state;
  static const char *const schemes[] = {"explicit", "semi-implicit", "implicit", "waveform"};
  const double             exact     = sqrt(2.0 * 0.5 / 9.81); /* the spring is at rest while all fall */
  for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; ++k) {
    char   sets[80];
    double t[8];
    cosim  c;
    snprintf(sets, sizeof sets, "cosimulation.scheme=%s;t_end=0.35", schemes[k]);
    assert_int_equal(cosim_open(&c, BALL BOUNCE, sets), YOKE_OK);
    must_run(&c);
    assert_int_equal(times_of(c.ctx, "bounce", t, 8), 1);
    CHECK_NEAR(t[0], exact, 1e-10);
    cosim_close(&c);
  }
}

static void a_hit_changes_velocities_across_a_joint(void **state) {
  (void)state;
  static const char *const formulations[] = {"stabilized-index-2", "stabilized-index-1", "baumgarte"};
  const double             exact          = end_value(PENDULUM HIT, NULL, true, "lower.angle", NULL);
  for (size_t k = 0; k < sizeof formulations / sizeof formulations[0]; ++k) {
    char sets[120];
    snprintf(sets, sizeof sets, "cosimulation.couplings.formulation=%s", formulations[k]);
    CHECK_NEAR(end_value(PENDULUM HIT, sets, false, "lower.angle", NULL), exact, 1e-7);
  }
}

/* Both bars are hit; the knee carries impulses either way. */
#define SLAP                                                                                                           \
  "events: {hit: {when: upper.angle + pi/2, direction: falling, set: {upper.omega: -0.5*upper.omega}}, slap: {when: "  \
  "lower.angle + 1.2, set: {lower.omega: 1}}, %s}\n"

static void either_side_of_a_prescribed_joint_feels_the_impulses_of_events(void **state) {
  (void)state;
  char text[2000];
  snprintf(text, sizeof text, PENDULUM SLAP, "mark: {when: t - 0.1}");
  const double exact = end_value(text, NULL, true, "upper.angle", NULL);
  CHECK_NEAR(end_value(text,
                       "cosimulation={scheme: explicit, order: 2, step: 5e-4, couplings: {formulation: kinematic, "
                       "prescribed: b}}",
                       false, "upper.angle", NULL),
             exact, 1e-5);
}

/* upper.omega jumps from -1.28 to -2.14 when the lower bar is slapped. */
static void what_jumps_over_zero_by_impulses_of_a_joint_is_no_crossing(void **state) {
  (void)state;
  char text[2000];
  int  n_whole, n;
  snprintf(text, sizeof text, PENDULUM SLAP, "mark: {when: upper.omega + 2, direction: falling}");
  (void)end_value(text, NULL, true, "upper.angle", &n_whole);
  (void)end_value(text, NULL, false, "upper.angle", &n);
  assert_int_equal(n_whole, 2);
  assert_int_equal(n, 2);
}

/* The upper bar goes on falling behind the hit; closing the gap of the knee lifts it above the stop again. */
static void an_event_that_was_dealt_with_is_not_met_again_where_a_joint_is_closed(void **state) {
  (void)state;
  int n_whole, n;
  (void)end_value(PENDULUM HIT, NULL, true, "upper.angle", &n_whole);
  (void)end_value(PENDULUM HIT, "cosimulation.order=0;cosimulation.couplings.formulation=baumgarte", false,
                  "upper.angle", &n);
  assert_int_equal(n, n_whole);
}

static void impulses_that_close_a_joint_behind_an_event_are_work_from_outside(void **state) {
  (void)state;
  static const char *const work  = "output={select: [\"total.*\"]}";
  const double             exact = end_value(PENDULUM HIT, work, true, "total.external", NULL);
  assert_true(fabs(exact) > 0.1);
  CHECK_NEAR(end_value(PENDULUM HIT, work, false, "total.external", NULL), exact, 1e-6);
}

static void subsystems_that_watch_their_contract_bear_events_in_joints(void **state) {
  (void)state;
  const yoke_system_options options = {.exec = "serial", .threads = 1, .check = true};
  const double              exact   = end_value(PENDULUM HIT, NULL, false, "lower.angle", NULL);
  cosim                     c;
  assert_int_equal(cosim_load(&c, PENDULUM HIT, NULL), YOKE_OK);
  assert_int_equal(cosim_start(&c, false, &options), YOKE_OK);
  must_run(&c);
  CHECK_NEAR(value_of(&c, "lower.angle"), exact, 0.0);
  cosim_close(&c);
}

static void an_event_that_stops_ends_the_run_at_its_time(void **state) {
  (void)state;
  cosim c;
  assert_int_equal(cosim_open(&c, BALL "events: {landed: {when: ball.x, action: stop}}\n", NULL), YOKE_OK);
  must_run(&c);
  CHECK_NEAR(c.summary.t, sqrt(2.0 * 0.5 / 9.81), 1e-10);
  CHECK_NEAR(value_of(&c, "ball.x"), 0.0, 1e-10);
  cosim_close(&c);
}

static void an_event_that_records_leaves_the_steps_as_they_are(void **state) {
  (void)state;
  const double quiet = end_value(BALL, "t_end=0.5", false, "bob.x", NULL);
  int          n     = 0;
  const double noted =
      end_value(BALL "events: {pass: {when: ball.x - 0.1, action: record}}\n", "t_end=0.5", false, "bob.x", &n);
  assert_int_equal(n, 1);
  assert_memory_equal(&quiet, &noted, sizeof quiet);
}

static void an_event_of_time_alone_acts_at_its_time(void **state) {
  (void)state;
  double t[4];
  cosim  c;
  assert_int_equal(cosim_open(&c, BALL "events: {kick: {when: t - 0.12345, set: {bob.v: 1}}}\n", "t_end=0.2"), YOKE_OK);
  must_run(&c);
  assert_int_equal(times_of(c.ctx, "kick", t, 4), 1);
  CHECK_NEAR(t[0], 0.12345, 1e-15);
  cosim_close(&c);
}

static void events_are_the_same_bits_for_any_number_of_threads(void **state) {
  (void)state;
  double x[2];
  for (int k = 0; k < 2; ++k) {
    cosim c;
    assert_int_equal(cosim_open_with(&c, BALL BOUNCE, NULL, k == 0 ? "serial" : "shuffled", 2), YOKE_OK);
    must_run(&c);
    x[k] = value_of(&c, "bob.x");
    cosim_close(&c);
  }
  assert_memory_equal(&x[0], &x[1], sizeof x[0]);
}

static void without_a_way_back_an_event_is_reported_and_acts_late(void **state) {
  (void)state;
  const yoke_system_options options = {.exec = "serial", .threads = 1, .forward = "b"};
  double                    t[8];
  cosim                     c;
  assert_int_equal(cosim_load(&c, BALL BOUNCE, "t_end=0.35;cosimulation.scheme=explicit"), YOKE_OK);
  cosim_start(&c, false, &options);
  assert_int_equal(c.status, YOKE_OK);
  must_run(&c);
  assert_true(says(c.ctx, "subsystem 'b' cannot go back"));
  assert_int_equal(times_of(c.ctx, "bounce", t, 8), 2);
  CHECK_NEAR(t[0], sqrt(2.0 * 0.5 / 9.81), 1e-9); /* in the warning */
  CHECK_NEAR(t[1], 0.320, 1e-12);                 /* the end of the step from 0.319 */
  cosim_close(&c);
}

/* Without the spring bounces come ever faster and end at t_1 (1 + e) / (1 - e) = 0.58 s. */
static void bounces_that_pile_up_are_an_error(void **state) {
  (void)state;
  cosim c;
  assert_int_equal(cosim_open(&c,
                              BALL "events: {bounce: {when: ball.x, direction: falling, set: {ball.v: -0.3*ball.v}}}\n",
                              "connections.spring.stiffness=0;connections.spring.damping=0"),
                   YOKE_OK);
  (void)cosim_run(&c, 0.0, NULL, NULL);
  assert_int_equal(c.status, YOKE_E_STEP_TOO_SMALL);
  assert_true(says(c.ctx, "again and again"));
  CHECK_NEAR(c.summary.t, sqrt(1.0 / 9.81) * 1.3 / 0.7, 1e-3);
  cosim_close(&c);
}

/* A ball on a stiff link to a pendulum bounces until it rests; fixed steps and step control, solvers whose errors are larger than the last bounces. */
static void f11_ball_on_a_stiff_link_does_not_fall_through_the_floor(void **state) {
  (void)state;
  static const char        model[] = "t_end: 1\n" BALL_ON_LINK "split: {a: [rod], b: [ball]}\n"
                                     "cosimulation: {step: 1e-3}\n";
  static const char *const sets[]  = {"solvers.default.kind=radau5", "solvers.default.kind=dopri5",
                                      "solvers.default.kind=bdf;cosimulation={scheme: implicit}",
                                      "solvers.default.kind=dopri5;cosimulation={scheme: implicit}"};
  for (size_t k = 0; k < sizeof sets / sizeof sets[0]; ++k) {
    cosim c;
    assert_int_equal(cosim_open(&c, model, sets[k]), YOKE_OK);
    (void)cosim_run(&c, 0.0, NULL, NULL);
    assert_int_equal(c.status, YOKE_E_STEP_TOO_SMALL);
    assert_true(says(c.ctx, "'bounce' happens again and again"));
    CHECK_NEAR(value_of(&c, "ball.y"), -0.5, 1e-9);
    cosim_close(&c);
  }
}

#define CONTROL "cosimulation.order=auto;cosimulation.step={rtol: 1e-6, estimator: cv}"

static void with_step_control_an_event_ends_its_step(void **state) {
  (void)state;
  static const char *const schemes[] = {"explicit", "semi-implicit", "implicit"};
  int                      n_whole;
  const double             exact = end_value(BALL BOUNCE, NULL, true, "bob.x", &n_whole);
  for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; ++k) {
    char  sets[COSIM_TEXT];
    cosim c;
    snprintf(sets, sizeof sets, "cosimulation.scheme=%s;%s", schemes[k], CONTROL);
    assert_int_equal(cosim_open(&c, BALL BOUNCE, sets), YOKE_OK);
    must_run(&c);
    CHECK_NEAR(value_of(&c, "bob.x"), exact, 1e-6);
    assert_int_equal(c.summary.n_events, n_whole);
    assert_int_equal(c.summary.macro.reduced_by[YOKE_REDUCED_BY_EVENT], n_whole);
    assert_true(c.summary.macro.rejected_by[YOKE_REDUCED_BY_EVENT] >= n_whole);
    cosim_close(&c);
  }
}

static void with_step_control_a_hit_changes_velocities_across_a_joint(void **state) {
  (void)state;
  const double exact = end_value(PENDULUM HIT PUSH, NULL, true, "lower.angle", NULL);
  CHECK_NEAR(end_value(PENDULUM HIT PUSH, "cosimulation.order=auto;cosimulation.step={rtol: 1e-6}", false,
                       "lower.angle", NULL),
             exact, 1e-5);
}

/* ---- switching loads ---- */

typedef struct points {
  double wanted;
  int    n_hits, n;
} points;

static void look(void *user, double t, const double *q, const double *v) {
  (void)q, (void)v;
  points *p = user;
  p->n_hits += t == p->wanted ? 1 : 0;
  ++p->n;
}

static void the_macro_grid_hits_the_switch_of_a_load(void **state) {
  (void)state;
  points p = {.wanted = 0.3021};
  cosim  c;
  assert_int_equal(cosim_open(&c, PENDULUM PUSH, NULL), YOKE_OK);
  assert_int_equal(cosim_run(&c, 0.0, look, &p), YOKE_OK);
  assert_int_equal(p.n_hits, 1);
  assert_int_equal(p.n, 401); /* 400 of the grid and the switch */
  cosim_close(&c);
}

static void a_jump_of_a_load_does_not_disturb_multipliers(void **state) {
  (void)state;
  const double exact = end_value(PENDULUM PUSH, NULL, true, "lower.angle", NULL);
  CHECK_NEAR(end_value(PENDULUM PUSH, NULL, false, "lower.angle", NULL), exact, 1e-8);
}

typedef struct first_step { /* behind the switch */
  double t, H;
} first_step;

static void look_behind(void *user, double t, const double *q, const double *v) {
  (void)q, (void)v;
  first_step *s = user;
  if (s->t == 0.3021) s->H = t - s->t;
  s->t = t;
}

static void step_control_hits_a_switch_and_begins_anew_behind_it(void **state) {
  (void)state;
  first_step s = {0};
  cosim      c;
  assert_int_equal(cosim_open(&c, PENDULUM PUSH, "cosimulation.order=auto;cosimulation.step={rtol: 1e-5}"), YOKE_OK);
  assert_int_equal(cosim_run(&c, 0.0, look_behind, &s), YOKE_OK);
  assert_true(s.H > 0.0);
  CHECK_BELOW(s.H, 0.8e-4 * (1.0 + 1e-9)); /* the first step of the run */
  assert_int_equal(c.summary.macro.reduced_by[YOKE_REDUCED_BY_SWITCH], 1);
  cosim_close(&c);
}

/* A push that a solver with large steps would not see. */
static void a_short_impulse_on_a_system_at_rest_is_not_missed(void **state) {
  (void)state;
  static const char *const text =
      "yoke: 1\nt_end: 2\nbodies:\n  a: {kind: mass1d, mass: 1}\n  b: {kind: mass1d, mass: 1}\n"
      "connections: {s: {kind: spring-damper, between: [a, b], stiffness: 1, free_length: 0}}\n"
      "loads: {p: {kind: impulse, on: b, force: 1e3, time: 1, width: 1e-3, rise: 1e-6}}\n"
      "split: {left: [a], right: [b]}\ncosimulation: {scheme: implicit, order: 2, step: 0.05}\n";
  const double momentum = 1.0; /* force times width */
  CHECK_NEAR(end_value(text, NULL, true, "a.v", NULL) + end_value(text, NULL, true, "b.v", NULL), momentum, 1e-6);
  CHECK_NEAR(end_value(text, NULL, false, "a.v", NULL) + end_value(text, NULL, false, "b.v", NULL), momentum, 1e-6);
}

/* ---- many events ---- */

/* Both move with 1 m/s and the spring is at rest: cos(1000 x) crosses zero 318 times in a second, with a handful of micro steps. */
#define TICKS                                                                                                          \
  "yoke: 1\nt_end: 1\nbodies:\n"                                                                                       \
  "  a: {kind: mass1d, mass: 1, v: 1}\n"                                                                               \
  "  b: {kind: mass1d, mass: 1, x: 0.1, v: 1}\n"                                                                       \
  "connections: {c: {kind: spring-damper, between: [a, b], stiffness: 0.1, free_length: 0.1}}\n"                       \
  "split: {p: [a], q: [b]}\n"                                                                                          \
  "cosimulation: {scheme: implicit, step: 0.4}\n"

static void f13a_no_crossing_of_a_fast_function_is_lost(void **state) {
  static const char *const sets[] = {"solvers.default.kind=dop853", "solvers.default.kind=dopri5",
                                     "solvers.default.kind=radau5", "solvers.default.kind=bdf"};
  (void)state;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
    for (int monolithic = 0; monolithic < 2; ++monolithic) {
      int n;
      (void)end_value(TICKS "events: {tick: {when: cos(1000*a.x)}}\n", sets[i], monolithic == 1, "a.x", &n);
      assert_int_equal(n, 318);
    }
  }
}

static void f13a_a_step_with_more_crossings_than_are_remembered_is_shortened(void **state) {
  double t[80];
  cosim  c;
  (void)state;
  cosim_open(&c, TICKS "events: {tick: {when: cos(250*a.x)}}\n", "cosimulation.step=1");
  must_run(&c);
  assert_int_equal(c.summary.n_events, 80);
  assert_int_equal(c.summary.macro.steps, 2);
  assert_int_equal(times_of(c.ctx, "tick", t, 80), 80);
  for (int k = 0; k < 80; ++k) CHECK_NEAR(t[k], (k + 0.5) * acos(-1.0) / 250.0, 1e-9);
  cosim_close(&c);
}

static void f13a_a_function_too_fast_for_one_search_is_met_by_shorter_steps(void **state) {
  cosim c;
  (void)state;
  cosim_open_monolithic(&c, TICKS "events: {tick: {when: cos(2e4*a.x)}}\n", "solvers.default.kind=dop853");
  must_run(&c);
  assert_int_equal(c.summary.n_events, (int)floor(2e4 / acos(-1.0) + 0.5));
  cosim_close(&c);
}

static void f13a_a_hundred_events_at_one_time_are_a_hundred(void **state) {
  int n;
  (void)state;
  (void)end_value(TICKS "events: {tick: {count: 100, when: a.x - 0.5}}\n", NULL, false, "a.x", &n);
  assert_int_equal(n, 100);
}

static void f13a_events_that_would_be_lost_without_a_way_back_are_an_error(void **state) {
  const yoke_system_options options = {.exec = "serial", .threads = 1, .forward = "q"};
  cosim                     c;
  (void)state;
  assert_int_equal(cosim_load(&c, TICKS "events: {tick: {when: cos(1000*a.x)}}\n", "cosimulation.scheme=explicit"),
                   YOKE_OK);
  assert_int_equal(cosim_start(&c, false, &options), YOKE_OK);
  assert_int_equal(cosim_run(&c, 0.0, NULL, NULL), YOKE_E_SUBSYSTEM);
  assert_true(says(c.ctx, "subsystem 'p'") && says(c.ctx, "use a smaller macro step"));
  cosim_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bounce_keeps_the_order_of_the_coupling),
      cmocka_unit_test(every_scheme_meets_the_first_bounce_at_its_time),
      cmocka_unit_test(a_hit_changes_velocities_across_a_joint),
      cmocka_unit_test(either_side_of_a_prescribed_joint_feels_the_impulses_of_events),
      cmocka_unit_test(what_jumps_over_zero_by_impulses_of_a_joint_is_no_crossing),
      cmocka_unit_test(an_event_that_was_dealt_with_is_not_met_again_where_a_joint_is_closed),
      cmocka_unit_test(impulses_that_close_a_joint_behind_an_event_are_work_from_outside),
      cmocka_unit_test(subsystems_that_watch_their_contract_bear_events_in_joints),
      cmocka_unit_test(an_event_that_stops_ends_the_run_at_its_time),
      cmocka_unit_test(an_event_that_records_leaves_the_steps_as_they_are),
      cmocka_unit_test(an_event_of_time_alone_acts_at_its_time),
      cmocka_unit_test(events_are_the_same_bits_for_any_number_of_threads),
      cmocka_unit_test(without_a_way_back_an_event_is_reported_and_acts_late),
      cmocka_unit_test(bounces_that_pile_up_are_an_error),
      cmocka_unit_test(f11_ball_on_a_stiff_link_does_not_fall_through_the_floor),
      cmocka_unit_test(with_step_control_an_event_ends_its_step),
      cmocka_unit_test(with_step_control_a_hit_changes_velocities_across_a_joint),
      cmocka_unit_test(step_control_hits_a_switch_and_begins_anew_behind_it),
      cmocka_unit_test(the_macro_grid_hits_the_switch_of_a_load),
      cmocka_unit_test(a_jump_of_a_load_does_not_disturb_multipliers),
      cmocka_unit_test(a_short_impulse_on_a_system_at_rest_is_not_missed),
      cmocka_unit_test(f13a_no_crossing_of_a_fast_function_is_lost),
      cmocka_unit_test(f13a_a_step_with_more_crossings_than_are_remembered_is_shortened),
      cmocka_unit_test(f13a_a_function_too_fast_for_one_search_is_met_by_shorter_steps),
      cmocka_unit_test(f13a_a_hundred_events_at_one_time_are_a_hundred),
      cmocka_unit_test(f13a_events_that_would_be_lost_without_a_way_back_are_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
