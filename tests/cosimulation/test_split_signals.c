/* What a load, a law or an event reads of another part is a signal: a split model with such loads is the whole model, of the order of its couplings.
 * Inputs from outside enter whole and split models. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* Two masses that pull at each other by loads. */
#define PAIR                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.5\n"                                                                                                       \
  "inputs: {pull: 3 N}\n"                                                                                              \
  "bodies: {m1: {kind: mass1d, mass: 1, v: 1}, m2: {kind: mass1d, mass: 2, v: -1}}\n"                                  \
  "connections:\n"                                                                                                     \
  "  w1: {kind: spring-damper, between: [ground, m1], stiffness: 100, damping: 1}\n"                                   \
  "  w2: {kind: spring-damper, between: [ground, m2], stiffness: 100, damping: 1}\n"                                   \
  "loads:\n"                                                                                                           \
  "  f1: {kind: expression, on: m1, force: 50*(m2.x - m1.x) + 0.5*(m2.v - m1.v) + pull}\n"                             \
  "  f2: {kind: expression, on: m2, force: 50*(m1.x - m2.x) + 0.5*(m1.v - m2.v)}\n"                                    \
  "split: {a: [m1], b: [m2]}\n"                                                                                        \
  "cosimulation: {step: 0.01, order: 1, scheme: semi-implicit}\n"                                                      \
  "solvers: {default: {kind: dop853, rtol: 1e-11, atol: 1e-13}}\n"

/* A pendulum that is driven by what a slider does, across the split. */
#define ARM                                                                                                            \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.5\n"                                                                                                       \
  "gravity: [0, -9.81, 0]\n"                                                                                           \
  "bodies:\n"                                                                                                          \
  "  arm: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {root: [-0.5, 0], tip: [0.5, 0]}}\n"       \
  "  slider: {kind: mass1d, mass: 1, v: 1}\n"                                                                          \
  "connections:\n"                                                                                                     \
  "  hinge: {kind: revolute, between: [ground, arm.root]}\n"                                                           \
  "  spring: {kind: spring-damper, between: [ground, slider], stiffness: 40}\n"                                        \
  "split: {one: [arm], two: [slider]}\n"                                                                               \
  "cosimulation: {step: 0.005, order: 2, scheme: implicit}\n"                                                          \
  "solvers: {default: {rtol: 1e-10}}\n"

/* ---- loads ---- */

static void a_load_that_reads_the_other_part_has_a_signal_with_a_name(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, PAIR, NULL);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(c.plan->n_couplings, 4);
  assert_string_equal(c.plan->couplings[0].name, "m2.x -> a");
  assert_true(c.plan->couplings[0].is_signal);
  assert_string_equal(c.plan->wires[0].formulation->name, "signal");
  cosim_close(&c);
}

static void explicit_signals_have_the_order_of_their_degree_and_one_more(void **state) {
  (void)state;
  for (int order = 0; order <= 3; ++order) {
    double errors[2];
    for (int k = 0; k < 2; ++k) {
      char sets[200];
      snprintf(sets, sizeof sets,
               "cosimulation.scheme=explicit;cosimulation.start=exact;cosimulation.order=%d;cosimulation.step=%g",
               order, 0.005 / (1 << k));
      errors[k] = cosim_error(PAIR, sets, "m1.x");
    }
    CHECK_ORDER(errors, 2, order + 1.0, 0.25);
  }
}

static void every_scheme_agrees_with_the_whole_model(void **state) {
  static const char *const schemes[] = {"explicit", "semi-implicit", "implicit", "waveform"};
  (void)state;
  for (size_t k = 0; k < COUNT(schemes); ++k) {
    char sets[200];
    snprintf(sets, sizeof sets,
             "cosimulation.scheme=%s;cosimulation.order=2;cosimulation.start=graded;cosimulation.step=0.002",
             schemes[k]);
    CHECK_BELOW(cosim_error(PAIR, sets, "m2.v"), 2e-6);
  }
}

static void accelerations_at_the_start_are_those_of_the_whole_model(void **state) {
  static const char *const names[] = {"upper.alpha", "fore.alpha", "fore.ax", "fore.ay"};
  cosim                    split, whole;
  (void)state;
  cosim_open(&split, "examples/robot-arm-split.yaml", "inputs.lift=7");
  cosim_open_monolithic(&whole, "examples/robot-arm-split.yaml", "inputs.lift=7");
  cosim_expect(&split, YOKE_OK);
  cosim_expect(&whole, YOKE_OK);
  for (size_t k = 0; k < COUNT(names); ++k)
    CHECK_NEAR(cosim_value(&split, names[k]), cosim_value(&whole, names[k]), 1e-10);
  cosim_close(&split);
  cosim_close(&whole);
}

static void work_of_loads_that_read_signals_is_accounted_for(void **state) {
  (void)state;
  cosim c = cosim_done(PAIR, "cosimulation.energy=monitor", 0.0);
  CHECK_BELOW(fabs(c.summary.energy_drift), 1e-9);
  cosim_close(&c);
}

static void an_exact_start_knows_the_past_of_signals(void **state) {
  (void)state;
  const double exact = cosim_error(PAIR, "cosimulation.scheme=explicit;cosimulation.start=exact;cosimulation.order=3",
                                   "m1.x"),
               ramp  = cosim_error(PAIR, "cosimulation.scheme=explicit;cosimulation.start=ramp;cosimulation.order=3",
                                   "m1.x");
  CHECK_BELOW(exact, 0.2 * ramp);
}

static void step_control_keeps_signals_to_the_tolerance(void **state) {
  (void)state;
  CHECK_BELOW(cosim_error(PAIR, "cosimulation.step={rtol: 1e-6};cosimulation.order=auto", "m1.x"), 2e-5);
}

static int64_t steps_of(const char *model, const char *sets) {
  cosim         c = cosim_done(model, sets, 0.0);
  const int64_t n = c.summary.macro.steps;
  cosim_close(&c);
  return n;
}

/* The loads of the pair as the spring that they are. */
static void step_control_takes_signals_for_what_they_do_not_for_their_size(void **state) {
  static const char        spring[]  = "yoke: 1\nt_end: 0.5\n"
                                       "bodies: {m1: {kind: mass1d, mass: 1, v: 1}, m2: {kind: mass1d, mass: 2, v: -1}}\n"
                                       "connections:\n"
                                       "  w1: {kind: spring-damper, between: [ground, m1], stiffness: 100, damping: 1}\n"
                                       "  w2: {kind: spring-damper, between: [ground, m2], stiffness: 100, damping: 1}\n"
                                       "  s: {kind: spring-damper, between: [m1, m2], stiffness: 50, damping: 0.5}\n"
                                       "split: {a: [m1], b: [m2]}\n"
                                       "solvers: {default: {kind: dop853, rtol: 1e-11, atol: 1e-13}}\n";
  static const char *const schemes[] = {"explicit", "semi-implicit", "implicit", "waveform"};
  (void)state;
  for (size_t k = 0; k < COUNT(schemes); ++k) {
    char sets[200];
    snprintf(sets, sizeof sets, "cosimulation.scheme=%s;cosimulation.order=auto;cosimulation.step={rtol: 1e-5}",
             schemes[k]);
    CHECK_BELOW((double)steps_of(PAIR, sets), 1.25 * (double)steps_of(spring, sets));
    CHECK_BELOW(cosim_error(PAIR, sets, "m1.x"), 1e-5);
  }
}

/* The controllers of both motors and an event read angles and rates that are 0 at the start. */
static void step_control_of_an_arm_that_wakes_from_rest_goes_on_where_its_joint_can(void **state) {
  static const char sets[] = "cosimulation.step={rtol: 1e-4, budget: 3};solvers.default.rtol=1e-9";
  (void)state;
  CHECK_BELOW((double)steps_of("examples/robot-arm-split.yaml", sets), 300.0);
  CHECK_BELOW(cosim_error("examples/robot-arm-split.yaml", sets, "fore.tip.x"), 1e-4);
}

/* Nothing of the follower is shown but for the estimate. */
static void step_control_holds_a_follower_that_shows_nothing_to_the_tolerance(void **state) {
  static const char   model[] = ARM "loads: {turn: {kind: expression, on: arm, torque: 3*slider.x}}\n";
  static const double rtol[]  = {1e-3, 1e-5};
  (void)state;
  for (size_t k = 0; k < COUNT(rtol); ++k) {
    char sets[200];
    snprintf(sets, sizeof sets, "cosimulation.order=auto;cosimulation.step={rtol: %g}", rtol[k]);
    CHECK_BELOW(cosim_error(model, sets, "arm.angle"), rtol[k]);
    snprintf(sets, sizeof sets, "cosimulation.order=auto;cosimulation.step={rtol: %g, estimator: md}", rtol[k]);
    const int64_t by_motion = steps_of(model, sets);
    snprintf(sets, sizeof sets, "cosimulation.order=auto;cosimulation.step={rtol: %g, estimator: cv}", rtol[k]);
    CHECK_BELOW((double)by_motion, 0.8 * (double)steps_of(model, sets));
  }
}

static void loads_read_frames_and_joints_inside_other_parts(void **state) {
  static const char model[] = ARM
      "loads:\n"
      "  push: {kind: expression, on: slider, force: 2*hinge.angle + 0.3*hinge.angle_rate + arm.tip.vy - arm.tip.x}\n"
      "  turn: {kind: expression, on: arm, torque: 3*slider.x}\n";
  (void)state;
  CHECK_BELOW(cosim_error(model, NULL, "slider.x"), 1e-6);
  CHECK_BELOW(cosim_error(model, NULL, "arm.angle"), 1e-6);
}

/* ---- laws and events ---- */

static void a_law_inside_a_part_reads_another_part(void **state) {
  (void)state;
  static const char model[] = ARM "loads: {turn: {kind: expression, on: arm, torque: 3*slider.x}}\n";
  CHECK_BELOW(
      cosim_error(model, "connections.spring={kind: spring-damper, between: [ground, slider], law: 40*x}", "slider.x"),
      1e-8);
  cosim             split, whole;
  static const char law[] =
      "connections.spring={kind: spring-damper, between: [ground, slider], law: (40 + 9*arm.angle)*x}";
  split = cosim_done(model, law, 0.0);
  whole = cosim_done_monolithic(model, law, 0.0);
  assert_int_equal(split.plan->n_couplings, 2);
  CHECK_NEAR(cosim_value(&split, "slider.x"), cosim_value(&whole, "slider.x"), 1e-6);
  cosim_close(&split);
  cosim_close(&whole);
}

static void an_event_of_two_parts_is_found_where_they_meet(void **state) {
  static const char model[] = PAIR "events: {meet: {when: m1.x - m2.x - 0.05, direction: rising, action: stop}}\n";
  (void)state;
  const double split = cosim_event_time(model, false), whole = cosim_event_time(model, true);
  assert_true(whole > 0.0 && whole < 0.5);
  CHECK_NEAR(split, whole, 2e-5);
}

static void an_event_sets_a_state_to_what_another_part_shows(void **state) {
  static const char model[] = PAIR "events: {swap: {when: m1.x - 0.05, direction: rising, set: {m1.v: m2.v}}}\n";
  (void)state;
  CHECK_BELOW(cosim_error(model, "cosimulation.step=0.002", "m1.x"), 2e-5);
}

/* Two swings. */
#define SWINGS                                                                                                         \
  "yoke: 1\n"                                                                                                          \
  "t_end: 2\n"                                                                                                         \
  "bodies: {m1: {kind: mass1d, mass: 1, x: 1}, m2: {kind: mass1d, mass: 2, v: 1}}\n"                                   \
  "connections:\n"                                                                                                     \
  "  w1: {kind: spring-damper, between: [ground, m1], stiffness: 40}\n"                                                \
  "  w2: {kind: spring-damper, between: [ground, m2], stiffness: 10}\n"                                                \
  "split: {a: [m1], b: [m2]}\n"                                                                                        \
  "cosimulation: {step: 0.02}\n"                                                                                       \
  "solvers: {default: {kind: dopri5, rtol: 1e-10}}\n"

/* As many events and the same end as the whole model, in every scheme. */
static void expect_events(const char *model, const char *sets, double tolerance) {
  static const char *const schemes[] = {"explicit", "semi-implicit", "implicit", "waveform"};
  cosim                    whole     = cosim_done_monolithic(model, sets, 0.0);
  for (size_t k = 0; k < COUNT(schemes); ++k) {
    char all[200];
    snprintf(all, sizeof all, "%s;cosimulation.scheme=%s", sets, schemes[k]);
    cosim split = cosim_done(model, all, 0.0);
    assert_int_equal(split.summary.n_events, whole.summary.n_events);
    CHECK_NEAR(cosim_value(&split, "m2.x"), cosim_value(&whole, "m2.x"), tolerance);
    cosim_close(&split);
  }
  cosim_close(&whole);
}

/* The signal goes on through 0, and what the step saw of it and what the couplings make of its end differ by a little. */
static void an_event_that_a_signal_brings_acts_once(void **state) {
  (void)state;
  expect_events(SWINGS "loads: {pull: {kind: expression, on: m1, force: 3*sin(4*m2.x)}}\n"
                       "events: {e: {when: m1.v + 0.1, direction: rising, set: {m2.v: -0.8*m2.v}}}\n",
                "cosimulation.order=2", 1e-3);
}

/* The impulses that close the knee move the signal by a little. */
static void an_event_that_a_signal_brings_acts_once_where_a_joint_is_closed(void **state) {
  static const char model[] =
      "yoke: 1\ngravity: [0, -9.81, 0]\nt_end: 0.6\nassemble: true\n"
      "bodies:\n"
      "  upper: {kind: planar, mass: 1, inertia: 1/12, position: [0.35, -0.35], angle: -pi/4, frames: {top: [-0.5, 0], "
      "tip: [0.5, 0]}}\n"
      "  lower: {kind: planar, mass: 1, inertia: 1/12, position: [1, -1], angle: -pi/4, frames: {top: [-0.5, 0]}}\n"
      "  m2: {kind: mass1d, mass: 1, v: 1}\n"
      "connections:\n"
      "  hinge: {kind: revolute, between: [ground, upper.top]}\n"
      "  knee: {kind: revolute, between: [upper.tip, lower.top]}\n"
      "  w: {kind: spring-damper, between: [ground, m2], stiffness: 10}\n"
      "events: {e: {when: -1.5 - hinge.angle_rate, direction: rising, set: {m2.v: -0.8*m2.v}}}\n"
      "split: {a: [upper], b: [lower], c: [m2]}\n"
      "cosimulation: {order: 2, step: 0.015}\n"
      "solvers: {default: {kind: dopri5, rtol: 1e-10}}\n";
  (void)state;
  cosim split = cosim_done(model, "cosimulation.scheme=semi-implicit", 0.0);
  assert_int_equal(split.summary.n_events, 1);
  CHECK_BELOW(cosim_error(model, "cosimulation.scheme=semi-implicit", "m2.x"), 1e-4);
  cosim_close(&split);
}

static void a_signal_that_jumps_at_an_event_elsewhere_is_no_crossing(void **state) {
  (void)state;
  expect_events(SWINGS "events:\n"
                       "  turn: {when: m1.x, direction: falling, set: {m1.v: -0.5*m1.v}}\n"
                       "  seen: {when: m1.v + 1, direction: rising, set: {m2.v: 0.5*m2.v}}\n",
                "cosimulation.order=2", 1e-7);
}

/* The signal itself is constant over a step. */
static void an_event_that_a_signal_of_degree_0_jumps_over_ends_its_step(void **state) {
  (void)state;
  expect_events(SWINGS "events: {meet: {when: m2.x - m1.x, direction: rising, set: {m2.v: -m2.v}}}\n",
                "cosimulation.order=0;cosimulation.step=0.002;t_end=1.5", 3e-3);
}

/* Behind the event the function goes on in its direction. In the first step the signal has degree 0 and jumps to its value at the end, by far more than what
 * the function has gone until then: under step control the event happened five times in a row. */
#define NUDGED                                                                                                         \
  "yoke: 1\n"                                                                                                          \
  "t_end: 3\n"                                                                                                         \
  "bodies: {m1: {kind: mass1d, mass: 1, x: 0.2}, m2: {kind: mass1d, mass: 2, v: 1}}\n"                                 \
  "connections:\n"                                                                                                     \
  "  s0: {kind: spring-damper, between: [ground, m1], stiffness: 100, damping: 0.1}\n"                                 \
  "  s1: {kind: spring-damper, between: [m1, m2], stiffness: 50, damping: 0.2}\n"                                      \
  "  s2: {kind: spring-damper, between: [m2, ground], stiffness: 50, damping: 0.2}\n"                                  \
  "events: {hit: {when: m1.x - m2.x - 0.1, direction: rising, set: {m1.v: m1.v - 0.3}}}\n"                             \
  "split: {a: [m1], b: [m2]}\n"
static void an_event_whose_function_goes_on_behind_it_acts_once(void **state) {
  static const char *const methods[] = {NULL, "cosimulation.step=0.002", "cosimulation={order: 0, step: 5e-4}",
                                        "cosimulation={order: 0, step: 5e-4, scheme: implicit}",
                                        "cosimulation={order: 0, step: 5e-4, scheme: explicit}"};
  (void)state;
  cosim whole = cosim_done_monolithic(NUDGED, NULL, 0.0);
  assert_int_equal(whole.summary.n_events, 5);
  for (size_t k = 0; k < COUNT(methods); ++k) {
    cosim split = cosim_done(NUDGED, methods[k], 0.0);
    assert_int_equal(split.summary.n_events, 5);
    CHECK_NEAR(cosim_value(&split, "m2.x"), cosim_value(&whole, "m2.x"), k < 2 ? 2e-5 : 1e-2);
    cosim_close(&split);
  }
  cosim_close(&whole);
}

static void an_event_that_sets_two_parts_is_refused(void **state) {
  cosim c;
  (void)state;
  cosim_open(&c, PAIR "events: {both: {when: m1.x - 0.05, set: {m1.v: 0, m2.v: 0}}}\n", NULL);
  cosim_expect(&c, YOKE_E_MODEL);
  assert_non_null(strstr(yoke_context_message(c.ctx, 0), "event 'both' sets states of subsystems 'a' and 'b'"));
  cosim_close(&c);
}

/* ---- inputs from outside ---- */

/* x and v of a mass under a constant force, behind t_set under another one. */
enum { MOST_TIMES = 8 };
typedef struct event_times {
  int     n;
  double *times; /* [MOST_TIMES] */
} event_times;

static void list_time(void *user, int event, double t) {
  event_times *list = user;
  (void)event;
  assert_true(list->n < MOST_TIMES);
  list->times[list->n++] = t;
}

static void inputs_of(bool is_whole, double *x, double *shown) {
  static const char model[]   = "yoke: 1\nt_end: 1\ninputs: {other: 1, pull: {value: 3, unit: N}}\n"
                                "bodies: {m1: {kind: mass1d, mass: 2}, m2: {kind: mass1d, mass: 1}}\n"
                                "loads: {f: {kind: expression, on: m1, force: 2*pull}}\n"
                                "outputs: {twice: 2*pull}\n"
                                "split: {a: [m1], b: [m2]}\ncosimulation: {step: 0.125}\n";
  const int         numbers[] = {1};
  const double      values[]  = {-1.0};
  cosim             c;
  cosim_load(&c, model, NULL);
  cosim_start(&c, is_whole, NULL);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(c.plan->n_inputs, 2);
  assert_string_equal(c.plan->inputs[1].name, "pull");
  assert_int_equal(c.plan->n_held, 1);
  assert_int_equal(yoke_system_run(c.system, 0.5, NULL, &c.summary, c.ctx), YOKE_OK);
  assert_true(cosim_value(&c, "twice") == 6.0);
  assert_int_equal(yoke_system_set_inputs(c.system, 1, numbers, values, c.ctx), YOKE_OK);
  assert_int_equal(yoke_system_run(c.system, 1.0, NULL, &c.summary, c.ctx), YOKE_OK);
  *x     = cosim_value(&c, "m1.x");
  *shown = cosim_value(&c, "pull");
  cosim_close(&c);
}

static void inputs_enter_loads_of_whole_and_split_models(void **state) {
  (void)state;
  for (int is_whole = 0; is_whole < 2; ++is_whole) {
    double x, shown;
    inputs_of(is_whole, &x, &shown); /* a = 3 for half a second, then -1 */
    CHECK_NEAR(x, 0.5 * 3.0 * 0.25 + 1.5 * 0.5 - 0.5 * 0.25, 1e-9);
    assert_true(shown == -1.0);
  }
}

/* Times of its events, sets pull to `values` at 0.1 s, 0.2 s, ... */
static int events_of_inputs(bool is_whole, const char *direction, int n, const double *values, double *times) {
  char            model[2000];
  event_times     list = {.times = times};
  const yoke_sink sink = {.user = &list, .event = list_time};
  cosim           c;
  snprintf(model, sizeof model, "%sevents: {over: {when: pull + 1e-3*m1.x - 5, direction: %s}}\n", PAIR, direction);
  cosim_load(&c, model, NULL);
  cosim_start(&c, is_whole, NULL);
  cosim_expect(&c, YOKE_OK);
  for (int k = 0; k <= n; ++k) {
    assert_int_equal(yoke_system_run(c.system, 0.1 * (double)(k + 1), &sink, &c.summary, c.ctx), YOKE_OK);
    if (k < n) assert_int_equal(yoke_system_set_inputs(c.system, 1, &(int){0}, &values[k], c.ctx), YOKE_OK);
  }
  cosim_close(&c);
  return list.n;
}

static void an_input_that_is_set_across_the_zero_of_an_event_makes_it_happen_there(void **state) {
  static const double values[] = {7.0, 2.0, 4.0};
  (void)state;
  for (int whole = 0; whole < 2; ++whole) {
    double times[MOST_TIMES] = {0.0};
    assert_int_equal(events_of_inputs(whole == 1, "both", 3, values, times), 2);
    CHECK_NEAR(times[0], 0.1, 1e-12);
    CHECK_NEAR(times[1], 0.2, 1e-12);
    assert_int_equal(events_of_inputs(whole == 1, "falling", 3, values, times), 1);
    CHECK_NEAR(times[0], 0.2, 1e-12);
  }
}

static void a_stiffness_from_outside_enters_a_law(void **state) {
  static const char model[] = "yoke: 1\nt_end: 1\ninputs: {k: 100}\n"
                              "bodies: {m: {kind: mass1d, mass: 1, x: 1}}\n"
                              "connections: {s: {kind: spring-damper, between: [ground, m], law: k*x}}\n"
                              "solvers: {default: {rtol: 1e-10}}\n";
  (void)state;
  cosim c = cosim_done_monolithic(model, "inputs.k=400", 0.0);
  CHECK_NEAR(cosim_value(&c, "m.x"), cos(20.0), 1e-7);
  cosim_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_load_that_reads_the_other_part_has_a_signal_with_a_name),
      cmocka_unit_test(explicit_signals_have_the_order_of_their_degree_and_one_more),
      cmocka_unit_test(every_scheme_agrees_with_the_whole_model),
      cmocka_unit_test(accelerations_at_the_start_are_those_of_the_whole_model),
      cmocka_unit_test(work_of_loads_that_read_signals_is_accounted_for),
      cmocka_unit_test(an_exact_start_knows_the_past_of_signals),
      cmocka_unit_test(step_control_keeps_signals_to_the_tolerance),
      cmocka_unit_test(step_control_takes_signals_for_what_they_do_not_for_their_size),
      cmocka_unit_test(step_control_of_an_arm_that_wakes_from_rest_goes_on_where_its_joint_can),
      cmocka_unit_test(step_control_holds_a_follower_that_shows_nothing_to_the_tolerance),
      cmocka_unit_test(loads_read_frames_and_joints_inside_other_parts),
      cmocka_unit_test(a_law_inside_a_part_reads_another_part),
      cmocka_unit_test(an_event_of_two_parts_is_found_where_they_meet),
      cmocka_unit_test(an_event_sets_a_state_to_what_another_part_shows),
      cmocka_unit_test(an_event_that_a_signal_brings_acts_once),
      cmocka_unit_test(an_event_that_a_signal_brings_acts_once_where_a_joint_is_closed),
      cmocka_unit_test(a_signal_that_jumps_at_an_event_elsewhere_is_no_crossing),
      cmocka_unit_test(an_event_that_a_signal_of_degree_0_jumps_over_ends_its_step),
      cmocka_unit_test(an_event_whose_function_goes_on_behind_it_acts_once),
      cmocka_unit_test(an_event_that_sets_two_parts_is_refused),
      cmocka_unit_test(inputs_enter_loads_of_whole_and_split_models),
      cmocka_unit_test(an_input_that_is_set_across_the_zero_of_an_event_makes_it_happen_there),
      cmocka_unit_test(a_stiffness_from_outside_enters_a_law),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
