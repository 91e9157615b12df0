/* Growth of errors by the motion: closed forms, and a box that bounces under step control. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../beside_whole.h"
#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "analysis/growth.h"

/* examples/bouncing-contact.yaml without its method. */
static const char BOX[] =
    "yoke: 1\ngravity: [-9.81, 0, 0]\nt_end: 1.5\nbodies:\n"
    "  box: {kind: mass1d, mass: 2, x: 0.2}\n  load: {kind: mass1d, mass: 1, x: 0.3}\n"
    "connections:\n  spring: {kind: spring-damper, between: [box, load], stiffness: 2000, damping: 4, "
    "free_length: 0.1}\n"
    "loads: {floor: {kind: contact, on: box, force: 1, slope: -2e4}}\n"
    "split: {box: [box], load: [load]}\noutput: {every: 1e-3}\n";

/* A rope between two parts that becomes taut and slack, and a hammer whose table is in the other part. */
static const char ROPE[] =
    "yoke: 1\ngravity: [0, -9.81, 0]\nt_end: 3\nbodies:\n"
    "  a: {kind: particle, mass: 1, position: [0, 1, 0], velocity: [1, 3, 0]}\n"
    "  b: {kind: particle, mass: 2, position: [0.5, 0, 0], velocity: [0, 8, 1]}\n"
    "connections:\n"
    "  rope: {kind: spring-damper, between: [a, b], law: \"if(x > 0, 1e4*x + 5*v, 0)\", free_length: 1.5}\n"
    "  hold: {kind: spring-damper, between: [[0, 3, 0], a], stiffness: 20, free_length: 1}\n"
    "output: {every: 0.01}\nsplit: {p: [a], q: [b]}\n";
static const char HAMMER[] =
    "yoke: 1\ngravity: [0, -9.81, 0]\nt_end: 1.5\nbodies:\n"
    "  hammer: {kind: planar, mass: 1, inertia: 0.05, position: [0.5, 0.3], frames: {a: [-0.5, 0], h: [0.3, 0]}}\n"
    "  table: {kind: mass1d, mass: 5}\n"
    "connections:\n  h: {kind: revolute, between: [[0, 0.3, 0], hammer.a]}\n"
    "  leg: {kind: spring-damper, between: [ground, table], stiffness: 1e4, damping: 50}\n"
    "loads:\n"
    "  hit: {kind: expression, on: hammer.h, force: [0, \"max(0, 1e5*(table.x - hammer.h.y))\"]}\n"
    "  back: {kind: expression, on: table, force: \"-max(0, 1e5*(table.x - hammer.h.y))\"}\n"
    "output: {every: 0.01}\nsplit: {a: [hammer], b: [table]}\n";

static bool predicts = false;

static yoke_growth growth_of(const char *model, const char *sets) {
  cosim       c;
  yoke_growth growth;
  assert_int_equal(cosim_load(&c, model, sets), YOKE_OK);
  assert_int_equal(yoke_growth_measure(c.ctx, c.model, &growth), YOKE_OK);
  cosim_close(&c);
  return growth;
}

enum { N = 1001, EARLY = 21 }; /* times of a run, and those that count as its beginning */

/* What two motions differ by over n times, in units of how much the first one moves. */
static double difference(const double *x, const double *y, int n) {
  double mean = 0.0, motion = 0.0, sum = 0.0;
  for (int k = 0; k < N; ++k) mean += x[k] / N;
  for (int k = 0; k < N; ++k) motion += (x[k] - mean) * (x[k] - mean) / N;
  for (int k = 0; k < n; ++k) sum += (y[k] - x[k]) * (y[k] - x[k]) / n;
  return sqrt(sum / motion);
}

static double spread(const double *x) {
  double low = x[0], high = x[0];
  for (int k = 1; k < N; ++k) {
    low  = fmin(low, x[k]);
    high = fmax(high, x[k]);
  }
  return high - low;
}

/* The disturbance stays as large as it was. */
static void oscillator_makes_errors_no_larger(void **state) {
  (void)state;
  const yoke_growth g = growth_of("yoke: 1\nt_end: 10\nbodies: {m: {kind: mass1d, mass: 1, x: 1}}\n"
                                  "connections:\n  k: {kind: spring-damper, between: [ground, m], free_length: 0, "
                                  "stiffness: 39.47841760435743}\n",
                                  NULL);
  CHECK_NEAR(g.factor, 1.0, 0.2);
  assert_true(g.evaluations > 100);
}

/* x'' = 9 x from the growing mode: x = exp(3 t), and differences grow with it. */
static void runaway_grows_as_its_mode(void **state) {
  double x[N], y[N];
  (void)state;
  for (int k = 0; k < N; ++k) {
    x[k] = exp(6.0 * k / (N - 1));
    y[k] = (1.0 + 1e-5) * x[k];
  }
  const double found = growth_of("yoke: 1\nt_end: 2\nbodies: {m: {kind: mass1d, mass: 1, x: 1, v: 3}}\n"
                                 "connections: {k: {kind: spring-damper, between: [ground, m], free_length: 0, "
                                 "stiffness: -9}}\n",
                                 NULL)
                           .factor;
  CHECK_NEAR(found / (difference(x, y, N) / difference(x, y, EARLY)), 1.0, 0.01);
}

/* Height and velocity of a ball that bounces without loss. */
static void throw_ball(double x, double v, double t, double y[2]) {
  const double g = 9.81, speed = sqrt(v * v + 2.0 * g * x), first = (v + speed) / g, period = 2.0 * speed / g;
  if (t > first) {
    t -= first + period * floor((t - first) / period);
    x = 0.0;
    v = speed;
  }
  y[0] = x + v * t - 0.5 * g * t * t;
  y[1] = v - g * t;
}

/* Events that hit: the same two motions in closed form. */
static void ball_grows_as_its_bounces(void **state) {
  const double  T = 3.0, d = 1e-5;
  static double x[2][N], y[2][N];
  double        one[2];
  (void)state;
  for (int k = 0; k < N; ++k) {
    throw_ball(1.0, 0.0, T * k / (N - 1), one);
    x[0][k] = one[0];
    x[1][k] = one[1];
  }
  for (int k = 0; k < N; ++k) {
    throw_ball(1.0 + d * spread(x[0]), d * spread(x[1]), T * k / (N - 1), one);
    y[0][k] = one[0];
    y[1][k] = one[1];
  }
  const double early = fmax(difference(x[0], y[0], EARLY), difference(x[1], y[1], EARLY)),
               all   = fmax(difference(x[0], y[0], N), difference(x[1], y[1], N));
  const double found =
      growth_of("yoke: 1\ngravity: [-9.81, 0, 0]\nt_end: 3\nbodies: {m: {kind: mass1d, mass: 1, x: 1}}\n"
                "events: {bounce: {when: m.x, direction: falling, set: {m.v: -m.v}}}\n",
                NULL)
          .factor;
  assert_true(all / early > 3.0);
  CHECK_NEAR(found / (all / early), 1.0, 0.02);
}

static void growth_is_not_known_of_runs_that_an_event_ends_and_of_large_models(void **state) {
  (void)state;
  assert_true(isnan(growth_of("yoke: 1\nt_end: 1\nbodies: {m: {kind: mass1d, mass: 1, x: 1, v: -2}}\n"
                              "events: {end: {when: m.x, direction: falling, action: stop}}\n",
                              NULL)
                        .factor));
  assert_true(
      isnan(growth_of("yoke: 1\nt_end: 1\nbodies: {c: {kind: chain, n: 101, mass: 1, stiffness: 1}}\n", NULL).factor));
}

/* `text` by step control with a setting, and a solver that leaves nothing. */
static beside_whole run(const char *text, const char *set) {
  const char             *sets[] = {"solvers.default={kind: dop853, rtol: 1e-12}", set};
  const yoke_load_options load   = {.size = sizeof load, .n_sets = 2, .sets = sets};
  yoke_context           *ctx;
  yoke_model             *model = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_model_load_text(ctx, "test.yaml", text, strlen(text), &load, &model), YOKE_OK);
  const yoke_run_options options = {.size = sizeof options, .loaded = model, .no_predict = !predicts, .threads = 1};
  const beside_whole     out     = beside_whole_run(&options, NULL);
  assert_int_equal(out.status, YOKE_OK);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return out;
}

/* F9: single steps were right, and the box was off by 250 rtol. */
static void f9_control_holds_what_arrives_at_the_end(void **state) {
  (void)state;
  for (int k = 3; k <= 6; ++k) {
    const double rtol = pow(10.0, -k);
    char         set[60];
    snprintf(set, sizeof set, "cosimulation.step.rtol=%g", rtol);
    beside_whole box = run(BOX, set);
    print_message("rtol %g: %.3g rtol off\n", rtol, box.motion / rtol);
    CHECK_BELOW(box.motion, 10.0 * rtol);
    assert_true(box.split.motion_growth > 300.0 && box.split.motion_growth < 3000.0);
    assert_true(box.split.accumulated_error < 1e-3 * rtol);
    assert_non_null(strstr(box.split.control, "since the motion makes errors"));
    assert_true(box.split.macro_rtol == strtod(strchr(set, '=') + 1, NULL)); /* what was asked for */
    beside_whole_release(&box);
  }
}

/* They were off by 21 and 27 rtol. */
static void f9_laws_and_loads_that_break_are_held_too(void **state) {
  static const char *const models[] = {ROPE, HAMMER};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    beside_whole held = run(models[i], "cosimulation.step.rtol=1e-4"),
                 free = run(models[i], "cosimulation.step={rtol: 1e-4, growth: 1}");
    CHECK_BELOW(held.motion, 10 * 1e-4);
    assert_true(free.motion > 10 * 1e-4);
    assert_true(held.split.motion_growth > 3.0);
    beside_whole_release(&held);
    beside_whole_release(&free);
  }
}

static void given_growth_is_taken_and_a_named_estimator_is_as_published(void **state) {
  static const char *const sets[] = {"cosimulation.step={rtol: 1e-4, growth: 1}",
                                     "cosimulation.step={rtol: 1e-4, estimator: md}"};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    beside_whole box = run(BOX, sets[i]);
    assert_true(box.motion > 10 * 1e-4);
    assert_true(isnan(box.split.motion_growth));
    assert_null(strstr(box.split.control, "since the motion makes errors"));
    beside_whole_release(&box);
  }
  beside_whole box = run(BOX, "cosimulation.step={rtol: 1e-4, growth: 840}");
  CHECK_BELOW(box.motion, 10 * 1e-4);
  assert_true(isnan(box.split.motion_growth)); /* it was not measured */
  beside_whole_release(&box);
}

/* A body on a stiff spring that begins far from its free length and is flung past its end again and again: seed 7099 of a campaign. */
static const char FLUNG[] =
    "yoke: 1\ngravity: [0, 0, -9.81]\nt_end: 0.4922306153561003\nbodies:\n"
    "  b0: {kind: rigid, mass: 1.2387234118513482, inertia: [0.18112270408040013, 0.21042508434873128, "
    "0.24049522804905196], position: [0.5330124094588973, -0.17509865735972083, 0.20992607452747575], omega: "
    "[-0.9769528040135635, 1.7007122084330204, 1.314597416444729], frames: {a: [-0.5330124094588973, "
    "0.17509865735972083, -0.20992607452747575]}}\n"
    "  b1: {kind: rigid, mass: 0.377965570195697, inertia: [0.0559268940654595, 0.051131515847334504, "
    "0.052492885273956236], position: [1.4696218884599532, 0.03913494766912873, 0.45873074812649395], omega: "
    "[-0.6030950001553208, -0.29188381320715484, -1.3065052892265352], frames: {b: [0.4035970695421587, "
    "0.3893322623885704, 0.03887859907154245]}}\n"
    "  b2: {kind: rigid, mass: 0.6132021929395108, inertia: [0.057759502196331254, 0.07563979642670839, "
    "0.07242315956715795], position: [1.4413019076459466, 0.14669448268901408, 0.5093652334424664], omega: "
    "[-1.3696004491994844, -0.7033498788992985, -0.3395556714571706], frames: {a: [0.43191705035616534, "
    "0.281772727368685, -0.01175588624443002]}}\n"
    "connections:\n  p0: {kind: spherical, between: [ground, b0.a]}\n"
    "  j1: {kind: spring-damper, between: [b0.a, b1.b], stiffness: 3437.7892923804066, damping: 1.802335977354959, "
    "free_length: 0.2}\n"
    "  j2: {kind: bushing, between: [b1.b, b2.a], stiffness: [45.35424419915101, 45.35424419915101, "
    "45.35424419915101, 0, 0, 0], damping: [0.0414, 0.0414, 0.0414, 0, 0, 0]}\n"
    "output: {every: 0.0082}\nsplit: {s0: [b0], s1: [b1], s2: [b2]}\n";

/* Single steps were right, and the body was off by 700 rtol. */
static void control_holds_what_a_spring_flings(void **state) {
  (void)state;
  beside_whole held = run(FLUNG, "cosimulation.step.rtol=1e-3");
  CHECK_BELOW(held.motion, 10 * 1e-3);
  assert_true(held.split.motion_growth > 100.0);
  assert_false(held.is_warned);
  beside_whole_release(&held);
}

/* A control as published is left as it is, and the run says what the motion makes of its errors. */
static void named_estimator_warns_of_what_a_spring_flings(void **state) {
  (void)state;
  predicts           = true;
  beside_whole flung = run(FLUNG, "cosimulation={order: 1, step: {rtol: 2.83e-3, estimator: cv}}");
  predicts           = false;
  CHECK_BELOW(flung.split.accumulated_error, 0.01);
  assert_true(flung.motion > 0.1);
  assert_true(flung.is_warned);
  beside_whole_release(&flung);
}

static void growth_is_named_with_a_fixed_step_and_changes_no_bit(void **state) {
  (void)state;
  beside_whole without = run(BOX, "cosimulation.step=1e-3");
  assert_true(isnan(without.split.motion_growth)); /* nothing is predicted */
  predicts          = true;
  beside_whole with = run(BOX, "cosimulation.step=1e-3");
  predicts          = false;
  assert_true(with.motion == without.motion);
  assert_true(with.split.motion_growth > 300.0);
  beside_whole_release(&with);
  beside_whole_release(&without);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(oscillator_makes_errors_no_larger),
      cmocka_unit_test(runaway_grows_as_its_mode),
      cmocka_unit_test(ball_grows_as_its_bounces),
      cmocka_unit_test(growth_is_not_known_of_runs_that_an_event_ends_and_of_large_models),
      cmocka_unit_test(f9_control_holds_what_arrives_at_the_end),
      cmocka_unit_test(f9_laws_and_loads_that_break_are_held_too),
      cmocka_unit_test(given_growth_is_taken_and_a_named_estimator_is_as_published),
      cmocka_unit_test(control_holds_what_a_spring_flings),
      cmocka_unit_test(named_estimator_warns_of_what_a_spring_flings),
      cmocka_unit_test(growth_is_named_with_a_fixed_step_and_changes_no_bit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
