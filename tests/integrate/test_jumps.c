/* Laws and loads that jump with the state: switches are located, and what holds a motion at one holds it. Exact solutions, piece by piece. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "check.h"
#include "examples/run_model.h"
#include <math.h>

static const char *const solvers[] = {"dopri5", "dop853", "radau5", "bdf", "auto"};
enum { N_SOLVERS = 5 };

/* ---- dry friction ---- */

/* Amplitude 0.51 m loses 4 F/c = 0.04 m in each of 13 swings of pi/10 s; then the spring is too weak. */
#define BLOCK                                                                                                          \
  "yoke: 1\nt_end: 5\n"                                                                                                \
  "bodies: {block: {kind: mass1d, mass: 1, x: 0.51}}\n"

static void f21_block_on_a_spring_comes_to_rest(void **state) {
  (void)state;
  static const char *const all[]    = {"auto", "dopri5", "dop853", "abm", "radau5", "bdf", "genalpha"};
  static const char *const models[] = {
      BLOCK "connections: {spring: {kind: spring-damper, between: [ground, block], stiffness: 100}}\n"
            "loads: {friction: {kind: expression, on: block, force: -2*sign(block.v)}}\n",
      BLOCK "connections: {spring: {kind: spring-damper, between: [ground, block], law: 100*x + 2*sign(v)}}\n",
      BLOCK "connections: {spring: {kind: spring-damper, between: [ground, block], law: 100*x + 4*(v > 0) - 2}}\n",
      BLOCK
      "connections: {spring: {kind: spring-damper, between: [ground, block], law: 100*x + if(not v < 0, 2, -2)}}\n",
      BLOCK "connections: {spring: {kind: spring-damper, between: [ground, block], law: 100*x + 2*sign(block.v)}}\n"};
  for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m) {
    for (size_t s = 0; s < sizeof all / sizeof all[0]; ++s) {
      model_run run = run_text(models[m], NULL, all[s], 0.0, 0.0);
      CHECK_NEAR(run_value(&run, "block.x"), 0.01, 2e-7);
      CHECK_NEAR(run_value(&run, "block.v"), 0.0, 1e-12);
      CHECK_NEAR(run_value(&run, "spring.force[1]"), m == 0 ? 1.0 : 0.0, 2e-5);
      assert_true(run.summary.counters.evaluations < 30000);
      run_end(&run);
    }
  }
}

/* Half a swing of pi/10 s about 0.02 m on the side it comes from, again and again; then rest at 0.01 m. */
static double swinging_block(double t) {
  const double half = 0.314159265358979312, i = floor(t / half), side = fmod(i, 2.0) == 0.0 ? 1.0 : -1.0;
  return t < 13.0 * half ? side * (0.02 + (0.49 - 0.04 * i) * cos((t - i * half) / 0.1)) : 0.01;
}

static yoke_status compare_with_swing(void *user, double t, const double *outputs, const yoke_counters *counters,
                                      double h, int order) {
  (void)counters;
  (void)h;
  (void)order;
  CHECK_NEAR(outputs[0], swinging_block(t), 1e-5);
  ++*(int *)user;
  return YOKE_OK;
}

/* Steps that end at a jump are looked into behind it: all samples are those of the motion before. */
static void f21_every_sample_of_a_step_up_to_a_jump_is_right(void **state) {
  (void)state;
  static const char model[] =
      BLOCK "connections: {s: {kind: spring-damper, between: [ground, block], stiffness: 100}}\n"
            "loads: {friction: {kind: expression, on: block, force: -2*sign(block.v)}}\n"
            "output: {every: 0.002, select: [block.x]}\n";
  static const char *const all[] = {"auto", "dopri5", "dop853", "abm", "radau5", "bdf", "genalpha"};
  for (size_t s = 0; s < sizeof all / sizeof all[0]; ++s) {
    const char     *sets[RUN_MAX_SETS];
    char            number[2][64];
    int             n_samples = 0;
    model_run       run       = {0};
    const yoke_sink sink      = {.user = &n_samples, .sample = compare_with_swing};
    assert_int_equal(yoke_context_create(&run.ctx), YOKE_OK);
    const yoke_load_options options = {
        .size = sizeof options, .n_sets = run_options(NULL, all[s], 0.0, sets, number), .sets = sets};
    assert_int_equal(yoke_model_load_text(run.ctx, "test.yaml", model, strlen(model), &options, &run.model), YOKE_OK);
    assert_int_equal(run_start(&run), YOKE_OK);
    assert_int_equal(yoke_system_run(run.system, 5.0, &sink, &run.summary, run.ctx), YOKE_OK);
    assert_int_equal(n_samples, 2501);
    run_end(&run);
  }
}

/* Block of 1 kg on a spring of k = 100 N/m on a belt of V = 0.1 m/s, friction 2 N that becomes less by c = 1 N s/m: it sticks until k x = 2 N, then
 * slips, x'' - c x' + k x = 2 - c V, until x' = V again. */
typedef struct belt {
  double t, x, v;
} belt;

static double slip_v(double z, double w, double A, double B, double s) {
  return exp(z * s) * ((z * A + w * B) * cos(w * s) + (z * B - w * A) * sin(w * s));
}

/* Slips from `from` until x' = V or t_end. */
static belt slip(belt from, double t_end) {
  const double k = 100.0, F = 2.0, c = 1.0, V = 0.1, xe = (F - c * V) / k, z = 0.5 * c, w = sqrt(k - z * z);
  const double A = from.x - xe, B = (from.v - z * A) / w, part = 1e-3;
  double       s = part;
  while (slip_v(z, w, A, B, s) < V && from.t + s < t_end) s += part;
  double low = s - part, high = s;
  for (int i = 0; i < 100; ++i) {
    const double middle                              = 0.5 * (low + high);
    *(slip_v(z, w, A, B, middle) < V ? &low : &high) = middle;
  }
  s = fmin(high, t_end - from.t);
  return (belt){from.t + s, xe + exp(z * s) * (A * cos(w * s) + B * sin(w * s)), slip_v(z, w, A, B, s)};
}

static belt stick_slip(double t_end) {
  belt at = slip((belt){0}, t_end);
  while (at.t < t_end) {
    const double stick = fmin((0.02 - at.x) / 0.1, t_end - at.t);
    at                 = (belt){at.t + stick, at.x + 0.1 * stick, 0.1};
    at                 = slip(at, t_end);
  }
  return at;
}

#define BELT                                                                                                           \
  "yoke: 1\nt_end: 10\n"                                                                                               \
  "bodies: {block: {kind: mass1d, mass: 1}}\n"                                                                         \
  "connections: {spring: {kind: spring-damper, between: [ground, block], stiffness: 100}}\n"                           \
  "loads: {friction: {kind: expression, on: block, force: -2*sign(block.v - 0.1) + block.v - 0.1}}\n"

static void f21_stick_slip_on_a_belt_is_the_exact_one(void **state) {
  (void)state;
  for (int s = 0; s < N_SOLVERS; ++s) {
    for (double t_end = 2.0; t_end <= 10.0; t_end += 2.0) {
      model_run  run   = run_text(BELT, NULL, solvers[s], 0.0, t_end);
      const belt exact = stick_slip(t_end);
      CHECK_NEAR(run_value(&run, "block.x"), exact.x, 1e-8);
      CHECK_NEAR(run_value(&run, "block.v"), exact.v, 1e-7);
      assert_true(run.summary.counters.evaluations < 10000);
      run_end(&run);
    }
  }
}

/* Two blocks with a spring between them: alike they move as one alone, against each other as one on a spring of 300 N/m. */
static void f21_two_blocks_that_stick_at_once(void **state) {
  (void)state;
  static const char        model[] = "yoke: 1\nt_end: 5\nparameters: {x: 0.51}\n"
                                     "bodies: {a: {kind: mass1d, mass: 1, x: 0.51}, b: {kind: mass1d, mass: 1, x: x}}\n"
                                     "connections:\n"
                                     "  sa: {kind: spring-damper, between: [ground, a], stiffness: 100}\n"
                                     "  sb: {kind: spring-damper, between: [ground, b], stiffness: 100}\n"
                                     "  sc: {kind: spring-damper, between: [a, b], stiffness: 100}\n"
                                     "loads:\n"
                                     "  fa: {kind: expression, on: a, force: -2*sign(a.v)}\n"
                                     "  fb: {kind: expression, on: b, force: -2*sign(b.v)}\n";
  static const char *const sets[]  = {"parameters.x=-0.51", NULL};
  const double w = sqrt(300.0), center = 2.0 / 300.0, left = 0.51 - 27.0 * 2.0 * center; /* after 27 half swings */
  const double exact = -center + (center - left) * cos(w * (5.0 - 27.0 * 3.14159265358979312 / w));
  for (int s = 0; s < N_SOLVERS; ++s) {
    model_run alike   = run_text(model, NULL, solvers[s], 0.0, 0.0),
              against = run_text(model, sets, solvers[s], 0.0, 0.0);
    CHECK_NEAR(run_value(&alike, "a.x"), 0.01, 2e-7);
    CHECK_NEAR(run_value(&alike, "b.x"), 0.01, 2e-7);
    CHECK_NEAR(run_value(&against, "a.x"), exact, 2e-7);
    CHECK_NEAR(run_value(&against, "b.x"), -exact, 2e-7);
    run_end(&alike);
    run_end(&against);
  }
}

/* The pull t + step(t - 1)/2 is 2 N at 1.5 s: v = (t - 1.5)^2/2 from there. */
static void f21_block_that_is_pulled_breaks_away_in_time(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\nt_end: 3\nbodies: {block: {kind: mass1d, mass: 1}}\n"
                              "loads:\n"
                              "  friction: {kind: expression, on: block, force: -2*sign(block.v)}\n"
                              "  pull: {kind: expression, on: block, force: t + 0.5*step(t - 1)}\n";
  for (int s = 0; s < N_SOLVERS; ++s) {
    model_run rest = run_text(model, NULL, solvers[s], 0.0, 1.4), run = run_text(model, NULL, solvers[s], 0.0, 0.0);
    CHECK_NEAR(run_value(&rest, "block.x"), 0.0, 1e-15);
    CHECK_NEAR(run_value(&rest, "block.a"), 0.0, 1e-15);
    CHECK_NEAR(run_value(&run, "block.x"), 0.5625, 1e-9);
    CHECK_NEAR(run_value(&run, "block.v"), 1.125, 1e-9);
    run_end(&rest);
    run_end(&run);
  }
}

/* A clutch holds two masses together until the pull on one of them jumps: b has 20 N from then on, and v = v0 + 20 (t - 0.7) while it slips. */
static void f21_clutch_slips_from_where_a_load_switches(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\nt_end: 0.72\n"
                              "bodies: {a: {kind: mass1d, mass: 1, x: 0.2}, b: {kind: mass1d, mass: 1, x: 0.3}}\n"
                              "connections:\n"
                              "  wall: {kind: spring-damper, between: [ground, a], stiffness: 100}\n"
                              "  clutch: {kind: spring-damper, between: [a, b], law: 20*sign(v)}\n"
                              "loads: {pull: {kind: expression, on: a, force: 60*step(t - 0.7)}}\n";
  const double      w = sqrt(50.0), v0 = -0.2 * w * sin(0.7 * w), x0 = 0.1 + 0.2 * cos(0.7 * w);
  for (int s = 0; s < N_SOLVERS; ++s) {
    model_run run = run_text(model, NULL, solvers[s], 0.0, 0.0);
    CHECK_NEAR(run_value(&run, "b.v"), v0 + 20.0 * 0.02, 1e-6);
    CHECK_NEAR(run_value(&run, "b.x"), x0 + 0.02 * v0 + 10.0 * 0.02 * 0.02, 1e-7);
    run_end(&run);
  }
}

/* Nothing moves, so nothing but the force that holds it keeps steps short. */
static void f21_block_at_rest_feels_a_fast_pull(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\nt_end: 10\nbodies: {block: {kind: mass1d, mass: 1}}\n"
                              "loads:\n"
                              "  friction: {kind: expression, on: block, force: -2*sign(block.v)}\n"
                              "  pull: {kind: expression, on: block, force: 0.2 + 1.2*sin(t) + sin(20*t)}\n";
  const char *const tight[] = {"solvers.default.max_step=1e-3", NULL};
  model_run         fine    = run_text(model, tight, "dopri5", 1e-10, 0.0);
  const double      x       = run_value(&fine, "block.x");
  assert_true(fabs(x) > 1e-6);
  run_end(&fine);
  for (int s = 0; s < N_SOLVERS; ++s) {
    model_run run = run_text(model, NULL, solvers[s], 0.0, 0.0);
    CHECK_NEAR(run_value(&run, "block.x"), x, 1e-7);
    run_end(&run);
  }
}

/* Which of them holds how much does not matter. */
static void f21_two_frictions_on_one_block_add_up(void **state) {
  (void)state;
#define PULLED                                                                                                         \
  "yoke: 1\nt_end: 12\nbodies: {block: {kind: mass1d, mass: 1}}\n"                                                     \
  "connections: {wall: {kind: spring-damper, between: [ground, block], law: F*sign(v) + 2*x}}\n"                       \
  "loads:\n"                                                                                                           \
  "  pull: {kind: expression, on: block, force: 3*sin(t)}\n"                                                           \
  "  friction: {kind: expression, on: block, force: '(F - 2.5)*sign(block.v)'}\n"
  model_run    one = run_text("parameters: {F: 2.5}\n" PULLED, NULL, "dop853", 1e-10, 0.0);
  const double x   = run_value(&one, "block.x");
  run_end(&one);
  for (int s = 0; s < N_SOLVERS; ++s) {
    model_run two = run_text("parameters: {F: 1}\n" PULLED, NULL, solvers[s], 0.0, 0.0);
    CHECK_NEAR(run_value(&two, "block.x"), x, 1e-7);
    run_end(&two);
  }
}

/* Friction between two blocks is one law, or two loads, however they are written. */
static void f21_friction_as_two_loads_is_action_and_reaction(void **state) {
  (void)state;
#define BETWEEN(friction)                                                                                              \
  "yoke: 1\nt_end: 3\nbodies: {a: {kind: mass1d, mass: 1, x: 0.3}, b: {kind: mass1d, mass: 3}}\n"                      \
  "connections:\n"                                                                                                     \
  "  wall: {kind: spring-damper, between: [ground, a], stiffness: 100}\n" friction
  static const char *const two[] = {BETWEEN("loads:\n"
                                            "  on_a: {kind: expression, on: a, force: 10*sign(b.v - a.v)}\n"
                                            "  on_b: {kind: expression, on: b, force: -10*sign(b.v - a.v)}\n"),
                                    BETWEEN("loads:\n"
                                            "  on_a: {kind: expression, on: a, force: -10*sign(a.v - b.v)}\n"
                                            "  on_b: {kind: expression, on: b, force: -10*sign(b.v - a.v)}\n"),
                                    BETWEEN("loads:\n"
                                            "  on_b: {kind: expression, on: b, force: 'if(b.v < a.v, 10, -10)'}\n"
                                            "  on_a: {kind: expression, on: a, force: 10*sign(b.v - a.v)}\n"),
                                    BETWEEN("loads:\n"
                                            "  on_a: {kind: expression, on: a, force: 10*sign((b.v - a.v)/0.3)}\n"
                                            "  on_b: {kind: expression, on: b, force: 10*sign(7*a.v - 7*b.v)}\n")};
  model_run    one = run_text(BETWEEN("  slide: {kind: spring-damper, between: [a, b], law: 10*sign(v)}\n"), NULL,
                              "dop853", 1e-10, 0.0);
  const double a = run_value(&one, "a.x"), b = run_value(&one, "b.x");
  run_end(&one);
  for (size_t m = 0; m < sizeof two / sizeof two[0]; ++m) {
    for (int s = 0; s < N_SOLVERS; ++s) {
      model_run run = run_text(two[m], NULL, solvers[s], 0.0, 0.0);
      CHECK_NEAR(run_value(&run, "a.x"), a, 1e-6);
      CHECK_NEAR(run_value(&run, "b.x"), b, 1e-6);
      run_end(&run);
    }
  }
}

/* A pendulum with friction in its hinge stays where weight cannot turn it. */
static void f21_pendulum_sticks_in_its_hinge(void **state) {
  (void)state;
  static const char model[] =
      "yoke: 1\nt_end: 6\ngravity: [0, -9.81, 0]\n"
      "bodies: {rod: {kind: planar, mass: 1, inertia: 1/12, position: [0.5, 0], frames: {top: [-0.5, 0]}}}\n"
      "connections: {hinge: {kind: revolute, between: [ground, rod.top]}}\n"
      "loads: {friction: {kind: expression, on: rod, torque: -sign(hinge.angle_rate)}}\n";
  model_run    fine  = run_text(model, NULL, "dop853", 1e-12, 0.0);
  const double angle = run_value(&fine, "rod.angle");
  assert_true(fabs(9.81 * 0.5 * cos(angle)) < 1.0);
  run_end(&fine);
  for (int s = 0; s < N_SOLVERS; ++s) {
    model_run run = run_text(model, NULL, solvers[s], 0.0, 0.0);
    CHECK_NEAR(run_value(&run, "rod.angle"), angle, 1e-7);
    CHECK_NEAR(run_value(&run, "rod.omega"), 0.0, 1e-9);
    run_end(&run);
  }
}

/* ---- other jumps ---- */

/* x = 1 is driven to x + x' = 0, which it reaches at t1 = (sqrt(35) - 5)/5, and along it to 0. */
static void motion_slides_along_a_surface_of_states(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\nt_end: 4\nbodies: {block: {kind: mass1d, mass: 1, x: 1}}\n"
                              "loads: {control: {kind: expression, on: block, force: -5*sign(block.x + block.v)}}\n";
  const double      t1 = (sqrt(35.0) - 5.0) / 5.0, exact = (1.0 - 2.5 * t1 * t1) * exp(t1 - 4.0);
  for (int s = 0; s < N_SOLVERS; ++s) {
    model_run run = run_text(model, NULL, solvers[s], 0.0, 0.0);
    CHECK_NEAR(run_value(&run, "block.x"), exact, 1e-9);
    CHECK_NEAR(run_value(&run, "block.v"), -exact, 1e-9);
    assert_true(run.summary.counters.evaluations < 1000);
    run_end(&run);
  }
}

/* A ball falls onto a floor with stiffness and damping, where the force begins with a jump: fall, half a damped swing, flight. */
static void jump_of_a_contact_is_located(void **state) {
  (void)state;
  static const char model[] =
      "yoke: 1\nt_end: 0.8\ngravity: [-9.81, 0, 0]\nbodies: {ball: {kind: mass1d, mass: 1, x: 1}}\n"
      "loads: {floor: {kind: expression, on: ball, force: 'if(ball.x < 0, -1e5*ball.x - 50*ball.v, 0)'}}\n";
  const double g = 9.81, t1 = sqrt(2.0 / g), v1 = -g * t1, z = 25.0, w = sqrt(1e5 - z * z), xe = -g / 1e5;
  const double A = -xe, B = (v1 + z * A) / w; /* x = xe + exp(-z s) (A cos + B sin) */
  double       low = 2.0 / w, high = 4.0 / w;
  for (int i = 0; i < 100; ++i) {
    const double s = 0.5 * (low + high), x = xe + exp(-z * s) * (A * cos(w * s) + B * sin(w * s));
    *(x < 0.0 ? &low : &high) = s;
  }
  const double s = high, v = exp(-z * s) * ((w * B - z * A) * cos(w * s) - (w * A + z * B) * sin(w * s));
  const double t = 0.8 - t1 - s, exact = v * t - 0.5 * g * t * t;
  for (int i = 0; i < N_SOLVERS; ++i) {
    model_run run = run_text(model, NULL, solvers[i], 0.0, 0.0);
    CHECK_NEAR(run_value(&run, "ball.x"), exact, 1e-6);
    assert_true(run.summary.counters.rejected < 20); /* 60 and more where it is not located */
    run_end(&run);
  }
}

/* A swing touches a stop for a moment, shorter than a part of a step: cos t < -0.9995 over 0.063 s. */
static void short_contact_inside_of_a_step_is_seen(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\nt_end: 6\nbodies: {m: {kind: mass1d, mass: 1, x: 1}}\n"
                              "connections: {s: {kind: spring-damper, between: [ground, m], stiffness: 1}}\n"
                              "loads: {stop: {kind: expression, on: m, force: 'if(m.x < -0.9995, 20, 0)'}}\n";
  const double      pi = 3.14159265358979312, t1 = acos(-0.9995), v1 = -sin(t1);
  /* inside: x = 20 + A cos s + B sin s, A = -20.9995, B = v1; it leaves with -v1 */
  const double      s = 2.0 * atan(v1 / -20.9995), exact = -0.9995 * cos(6.0 - t1 - s) - v1 * sin(6.0 - t1 - s);
  assert_true(t1 + s < pi);
  for (int i = 0; i < N_SOLVERS; ++i) {
    model_run run = run_text(model, NULL, solvers[i], 1e-4, 0.0);
    CHECK_NEAR(run_value(&run, "m.x"), exact, 2e-3);
    run_end(&run);
  }
}

/* The branch that is held is not defined on the other side. */
static void power_of_a_contact_is_not_asked_for_outside(void **state) {
  (void)state;
  static const char model[] =
      "yoke: 1\nt_end: 1\ngravity: [-9.81, 0, 0]\nbodies: {ball: {kind: mass1d, mass: 1, x: 1}}\n"
      "loads: {floor: {kind: expression, on: ball, force: 'if(ball.x < 0, 10 + 1e6*(-ball.x)^1.5, 0)'}}\n";
  model_run    fine  = run_text(model, NULL, "dop853", 1e-12, 0.0);
  const double exact = run_value(&fine, "ball.x");
  run_end(&fine);
  for (int i = 0; i < N_SOLVERS; ++i) {
    model_run run = run_text(model, NULL, solvers[i], 0.0, 0.0);
    CHECK_NEAR(run_value(&run, "ball.x"), exact, 1e-5);
    run_end(&run);
  }
}

/* x'' + 2 z x' + w^2 x = 0 with other z for v > 0 than for v < 0: half a swing has exp(-z pi/w') of its amplitude left. */
static void kinks_of_a_damper_are_located(void **state) {
  (void)state;
  static const char *const laws[] = {"100*x + if(v > 0, 2*v, v)", "100*x + max(2*v, v)", "100*x + 1.5*v + 0.5*abs(v)"};
  const double             w_up = sqrt(99.0), w_down = sqrt(99.75), pi = 3.14159265358979312;
  const double             swings[2] = {pi / w_down, pi / w_up}, z[2] = {0.5, 1.0}; /* it begins downwards */
  const double             t_end = 2.0 * swings[0] + 2.0 * swings[1];
  const double             exact = exp(-2.0 * (z[0] * swings[0] + z[1] * swings[1]));
  for (size_t m = 0; m < sizeof laws / sizeof laws[0]; ++m) {
    for (int s = 0; s < N_SOLVERS; ++s) {
      char model[400];
      snprintf(model, sizeof model,
               "yoke: 1\nt_end: 5\nbodies: {m: {kind: mass1d, mass: 1, x: 1}}\n"
               "connections: {s: {kind: spring-damper, between: [ground, m], law: '%s'}}\n",
               laws[m]);
      model_run run = run_text(model, NULL, solvers[s], 1e-6, t_end);
      CHECK_NEAR(run_value(&run, "m.x"), exact, 2e-5);
      assert_true(run.summary.counters.rejected < 40);
      run_end(&run);
    }
  }
}

/* A motion that dies down passes its jump ever nearer to zero, but not ever sooner. */
static void jump_of_a_motion_that_dies_down_is_passed_to_the_end(void **state) {
  (void)state;
  for (int s = 0; s < N_SOLVERS; ++s) {
    model_run run =
        run_text("yoke: 1\nt_end: 40\nbodies: {m: {kind: mass1d, mass: 1, x: 1}}\n"
                 "connections:\n"
                 "  s: {kind: spring-damper, between: [ground, m], law: 'if(x < 0, 100*x + 3*v, 100*x + 2*v)'}\n",
                 NULL, solvers[s], 1e-4, 0.0);
    CHECK_NEAR(run_value(&run, "m.x"), 0.0, 1e-7);
    run_end(&run);
  }
}

/* x abs(x) is smooth, so nothing is held; sixty such laws beside a load that reads the model. */
static void f21_many_laws_that_are_smooth_are_what_they_say(void **state) {
  (void)state;
#define ROW(law)                                                                                                       \
  "yoke: 1\nt_end: 0.2\n"                                                                                              \
  "bodies: {m: {kind: mass1d, count: 60, mass: 1, x: 0.01*i + 0.001*mod(i, 7)}}\n"                                     \
  "connections: {s: {kind: spring-damper, count: 60, between: [ground, 'm[i]'], " law "}}\n"                           \
  "loads: {pull: {kind: expression, on: 'm[3]', force: '-m[4].v'}}\n"
  model_run laws   = run_text(ROW("law: 100*x + 5000*x*abs(x)"), NULL, "dopri5", 0.0, 0.0);
  model_run powers = run_text(ROW("stiffness: 100, stiffness_power: 5000, exponent_x: 2"), NULL, "dopri5", 0.0, 0.0);
  CHECK_NEAR(run_value(&laws, "m[3].x"), run_value(&powers, "m[3].x"), 1e-7);
  CHECK_NEAR(run_value(&laws, "m[60].x"), run_value(&powers, "m[60].x"), 1e-7);
  run_end(&laws);
  run_end(&powers);
}

/* Twisting: every swing is 3/7 of the one before and the swings have an end in time. Then block and control rest, with any force up to 7 N between them;
 * 8 N from t = 4 s on leave 1 N, and x = 0.5 m after a second. */
static void f21_block_that_twists_to_rest_stays_there_until_it_is_torn_off(void **state) {
  (void)state;
  static const char *const all[]   = {"auto", "dopri5", "dop853", "abm", "radau5", "bdf", "genalpha"};
  static const char        model[] = "yoke: 1\nt_end: 5\nbodies: {block: {kind: mass1d, mass: 1, x: 1}}\n"
                                     "loads:\n"
                                     "  control: {kind: expression, on: block, force: -5*sign(block.x) - 2*sign(block.v)}\n"
                                     "  pull: {kind: expression, on: block, force: 'if(t < 4, 6.9*step(t - 3.5), 8)'}\n";
  for (size_t s = 0; s < sizeof all / sizeof all[0]; ++s) {
    model_run rest = run_text(model, NULL, all[s], 0.0, 3.99), off = run_text(model, NULL, all[s], 0.0, 0.0);
    CHECK_NEAR(run_value(&rest, "block.x"), 0.0, 1e-10);
    CHECK_NEAR(run_value(&rest, "block.v"), 0.0, 1e-12);
    CHECK_NEAR(run_value(&off, "block.x"), 0.5, 1e-9);
    CHECK_NEAR(run_value(&off, "block.v"), 1.0, 1e-9);
    run_end(&rest);
    run_end(&off);
  }
}

/* ---- loads that jump with time ---- */

/* Half waves of pi/10 s with 1 and -1 N on 1 kg: v goes up and down between 0 and pi/10, x = v^2/2 on the way up, and the mean of v is pi/20. */
static void steps_up_to_a_jump_of_a_load_have_its_left_limit(void **state) {
  (void)state;
  static const char *const all[]   = {"auto", "dopri5", "dop853", "abm", "radau5", "bdf", "genalpha"};
  static const char *const fixed[] = {"solvers.default.step=0.01", NULL};
  static const char        model[] = "yoke: 1\nt_end: 2.1\nbodies: {block: {kind: mass1d, mass: 1}}\n"
                                     "loads: {wave: {kind: expression, on: block, force: sign(sin(10*t))}}\n";
  const double half = 0.314159265358979312, rest = 2.1 - 6.0 * half, x = 3.0 * half * half + 0.5 * rest * rest;
  for (size_t s = 0; s < sizeof all / sizeof all[0]; ++s) {
    model_run run = run_text(model, NULL, all[s], 1e-6, 0.0);
    CHECK_NEAR(run_value(&run, "block.v"), rest, 1e-6);
    CHECK_NEAR(run_value(&run, "block.x"), x, strcmp(all[s], "bdf") == 0 ? 1e-7 : 1e-12);
    assert_true(run.summary.counters.rejected <= 8); /* there were up to 104 */
    run_end(&run);
  }
  /* no error control: the weights of the last stages count */
  model_run run = run_text(model, fixed, "dopri5", 0.0, 0.0);
  CHECK_NEAR(run_value(&run, "block.x"), x, 1e-12);
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f21_block_on_a_spring_comes_to_rest),
      cmocka_unit_test(f21_every_sample_of_a_step_up_to_a_jump_is_right),
      cmocka_unit_test(f21_stick_slip_on_a_belt_is_the_exact_one),
      cmocka_unit_test(f21_two_blocks_that_stick_at_once),
      cmocka_unit_test(f21_block_that_is_pulled_breaks_away_in_time),
      cmocka_unit_test(f21_clutch_slips_from_where_a_load_switches),
      cmocka_unit_test(f21_block_at_rest_feels_a_fast_pull),
      cmocka_unit_test(f21_two_frictions_on_one_block_add_up),
      cmocka_unit_test(f21_friction_as_two_loads_is_action_and_reaction),
      cmocka_unit_test(f21_pendulum_sticks_in_its_hinge),
      cmocka_unit_test(motion_slides_along_a_surface_of_states),
      cmocka_unit_test(jump_of_a_contact_is_located),
      cmocka_unit_test(short_contact_inside_of_a_step_is_seen),
      cmocka_unit_test(power_of_a_contact_is_not_asked_for_outside),
      cmocka_unit_test(kinks_of_a_damper_are_located),
      cmocka_unit_test(jump_of_a_motion_that_dies_down_is_passed_to_the_end),
      cmocka_unit_test(f21_many_laws_that_are_smooth_are_what_they_say),
      cmocka_unit_test(f21_block_that_twists_to_rest_stays_there_until_it_is_torn_off),
      cmocka_unit_test(steps_up_to_a_jump_of_a_load_have_its_left_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
