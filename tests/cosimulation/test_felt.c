/* Accelerations and forces of joints as what events, loads and laws read: against exact solutions, and in a split model against the whole one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../said.h"
#include "cosimulate.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const char *const solvers[] = {"auto", "dopri5", "dop853", "abm", "radau5", "bdf"};

/* Time of the first event with this name, from the notes; NAN: none. */
static double time_of(const cosim *c, const char *name) {
  char start[64];
  snprintf(start, sizeof start, "event '%s' at t = ", name);
  for (size_t i = 0; i < yoke_context_n_messages(c->ctx); ++i) {
    const char *at = strstr(yoke_context_message(c->ctx, i), start);
    if (at != NULL) return strtod(at + strlen(start), NULL);
  }
  return (double)NAN;
}

static cosim whole_done(const char *model, const char *sets) {
  cosim c;
  cosim_open_monolithic(&c, model, sets);
  if (cosim_run(&c, 0.0, NULL, NULL) != YOKE_OK) cosim_print(c.ctx);
  assert_int_equal(c.status, YOKE_OK);
  return c;
}

static void expect_refused(const char *model, const char *part) {
  cosim c;
  assert_int_not_equal(
      strstr(model, "split:") != NULL ? cosim_open(&c, model, NULL) : cosim_open_monolithic(&c, model, NULL), YOKE_OK);
  expect_said(c.ctx, part);
  cosim_close(&c);
}

/* A rod on a hinge. */
#define ROD                                                                                                            \
  "yoke: 1\n"                                                                                                          \
  "t_end: 1\n"                                                                                                         \
  "gravity: [0, -10, 0]\n"                                                                                             \
  "bodies:\n"                                                                                                          \
  "  rod: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {root: [-0.5, 0], tip: [0.5, 0]}}\n"       \
  "connections: {hinge: {kind: revolute, between: [rod.root, ground]}}\n"

/* ---- events ---- */

/* A bob on a string, thrown upwards: m v^2 / L + m g y / L = T is 0 at y = (v0^2 - 2 g L) / (3 g). */
#define BOB                                                                                                            \
  "yoke: 1\n"                                                                                                          \
  "t_end: 2\n"                                                                                                         \
  "gravity: [0, -10, 0]\n"                                                                                             \
  "bodies: {bob: {kind: particle, mass: 2, position: [0, -1, 0], velocity: [6, 0, 0]}}\n"                              \
  "connections: {string: {kind: distance, between: [ground, bob], length: 1}}\n"

static void f62_an_event_finds_where_a_string_gets_slack(void **state) {
  (void)state;
  for (size_t k = 0; k < COUNT(solvers); ++k) {
    char sets[100];
    snprintf(sets, sizeof sets, "solvers.default={kind: %s, rtol: 1e-10}", solvers[k]);
    cosim c = whole_done(BOB "events: {slack: {when: 'string.force[1]', action: stop}}\n", sets);
    CHECK_NEAR(cosim_value(&c, "bob.y"), 16.0 / 30.0, 1e-8);
    cosim_close(&c);
  }
}

/* x'' = -k x / m: the acceleration of the mass and of the frame on it pass -9 where x = 0.9. */
static void f62_an_event_finds_an_acceleration(void **state) {
  static const char *const names[] = {"m.a", "p.ax", "r.tip.ax", "r.alphaz", "c.a[2]"};
  (void)state;
  for (size_t k = 0; k < COUNT(names); ++k) {
    char model[1200];
    snprintf(model, sizeof model,
             "yoke: 1\n"
             "t_end: 1\n"
             "bodies:\n"
             "  m: {kind: mass1d, mass: 1, v: 10}\n"
             "  p: {kind: particle, mass: 1, velocity: [10, 0, 0]}\n"
             "  r: {kind: rigid, mass: 1, inertia: [1, 1, 1], velocity: [10, 0, 0], omega: [0, 0, 10], frames: {tip: "
             "[0, 0, 1]}}\n"
             "  c: {kind: chain, n: 2, mass: 1, stiffness: [0, 0, 10], v: [0, 10]}\n"
             "loads:\n"
             "  a: {kind: expression, on: m, force: -10*m.x}\n"
             "  b: {kind: expression, on: p, force: [-10*p.x, 0, 0]}\n"
             "  d: {kind: expression, on: r, force: [-10*r.x, 0, 0]}\n"
             "  e: {kind: expression, on: r, torque: [0, 0, -10*sin(10^0.5*t)*10^0.5]}\n"
             "solvers: {default: {rtol: 1e-11}}\n"
             "events: {e: {when: '%s + 9', action: stop}}\n",
             names[k]);
    cosim c = whole_done(model, NULL);
    /* x = sqrt(10) sin(sqrt(10) t) */
    CHECK_NEAR(time_of(&c, "e"), asin(0.9 / sqrt(10.0)) / sqrt(10.0), 1e-9);
    cosim_close(&c);
  }
}

/* A mass that a spring presses on a floor: the force of the floor is m g - k (x - 1), and the floor lets it go where it is 0. */
static void an_event_releases_a_mass_where_its_floor_no_longer_pushes(void **state) {
  (void)state;
  cosim c = whole_done("yoke: 1\n"
                       "t_end: 2\n"
                       "gravity: [0, -10, 0]\n"
                       "bodies: {cart: {kind: particle, mass: 1, position: [0, 0, 0], velocity: [2, 0, 0]}}\n"
                       "frames: {ground: {floor: {axis: [0, 1, 0]}}}\n"
                       "connections: {floor: {kind: inplane, between: [cart, ground.floor]}}\n"
                       "loads: {lift: {kind: expression, on: cart, force: [0, 3*cart.x^2, 0]}}\n"
                       "solvers: {default: {kind: dop853, rtol: 1e-11}}\n"
                       "events: {off: {when: 'floor.force[1]', action: stop}}\n",
                       NULL);
  CHECK_NEAR(time_of(&c, "off"), 0.5 * sqrt(10.0 / 3.0), 1e-9);
  cosim_close(&c);
}

static void values_that_an_event_sets_read_forces_as_they_were(void **state) {
  (void)state;
  cosim c =
      whole_done("yoke: 1\n"
                 "t_end: 1\n"
                 "bodies: {m: {kind: mass1d, mass: 2, v: 1}, n: {kind: mass1d, mass: 1}}\n"
                 "connections: {s: {kind: spring-damper, between: [ground, m], stiffness: 8}}\n"
                 "solvers: {default: {kind: dop853, rtol: 1e-11}}\n"
                 "events: {e: {when: m.x - 0.25, direction: rising, set: {n.v: 'm.a + 10*s.force[1]', m.v: 0}}}\n",
                 NULL);
  CHECK_NEAR(cosim_value(&c, "n.v"), -1.0 + 10.0 * 2.0, 1e-8);
  cosim_close(&c);
}

/* The bob hangs below a carriage on a spring, which is another part: its string pulls both. */
#define SWING                                                                                                          \
  "yoke: 1\n"                                                                                                          \
  "t_end: 2\n"                                                                                                         \
  "gravity: [0, -10, 0]\n"                                                                                             \
  "bodies:\n"                                                                                                          \
  "  bob: {kind: particle, mass: 2, position: [0, -1, 0], velocity: [5.5, 0, 0]}\n"                                    \
  "  ball: {kind: particle, mass: 1, position: [0.5, -1, 0]}\n"                                                        \
  "connections:\n"                                                                                                     \
  "  string: {kind: distance, between: [ground, bob], length: 1}\n"                                                    \
  "  band: {kind: spring-damper, between: [bob, ball], stiffness: 20, damping: 0.5}\n"                                 \
  "split: {one: [bob], two: [ball]}\n"                                                                                 \
  "cosimulation: {step: 0.01, order: 2, scheme: implicit}\n"                                                           \
  "solvers: {default: {kind: dop853, rtol: 1e-10}}\n"

static void a_subsystem_finds_events_of_forces_that_others_make(void **state) {
  static const char *const conditions[] = {"string.force[1]", "bob.ax + 20", "string.force[1] + 10*ball.ay"};
  (void)state;
  for (size_t k = 0; k < COUNT(conditions); ++k) {
    char model[1500];
    snprintf(model, sizeof model, SWING "events: {e: {when: '%s', action: stop}}\n", conditions[k]);
    cosim        whole = whole_done(model, NULL), split;
    const double t     = time_of(&whole, "e");
    double       errors[2];
    for (int i = 0; i < 2; ++i) {
      split     = cosim_done(model, i == 0 ? NULL : "cosimulation.step=0.005", 0.0);
      errors[i] = fabs(time_of(&split, "e") - t);
      cosim_close(&split);
    }
    CHECK_BELOW(errors[0], 1e-5);
    CHECK_BELOW(errors[1], 0.3 * errors[0]);
    cosim_close(&whole);
  }
}

static void the_force_of_a_row_that_a_joint_does_not_have_is_refused(void **state) {
  (void)state;
  expect_refused(BOB "events: {e: {when: 'string.force[2]'}}\n", "did you mean 'string.force[1]'?");
  expect_refused(BOB "events: {e: {when: 'strng.force[1]'}}\n", "did you mean 'string.force[1]'?");
  expect_refused(BOB "events: {e: {when: 'rope.force[1]'}}\n", "unknown name 'rope.force[1]'");
  expect_refused(ROD "loads: {f: {kind: expression, on: rod, torque: 'hinge.force[9]'}}\n",
                 "did you mean one of 'hinge.force[1]' to 'hinge.force[5]'?");
  expect_refused(BOB "events: {e: {when: 'ground.ax'}}\n", "ground.ax");
  expect_refused(BOB "events: {e: {when: 'total.energy'}}\n", "energies, gaps and mismatches can be read in 'outputs'");
}

/* ---- loads and laws ---- */

/* Sets for solver k of all, with steps for those that need one. */
static const char *const all_solvers[] = {
    "auto", "dopri5", "dop853", "abm", "radau5", "bdf", "genalpha", "semi-euler", "lin-implicit-euler"};

static const char *solver_sets(size_t k, char sets[120]) {
  const bool is_fixed = k >= 6;
  snprintf(sets, 120, "solvers.default={kind: %s, %s}", all_solvers[k], is_fixed ? "step: 1e-4" : "rtol: 1e-10");
  return sets;
}

static double solver_error(size_t k) {
  return k < 6 ? 1e-8 : k == 6 ? 1e-6 : 2e-3;
}

/* m x'' = -k x - m_a x'': the frequency of m + m_a. */
#define OSCILLATOR                                                                                                     \
  "yoke: 1\n"                                                                                                          \
  "t_end: 1\n"                                                                                                         \
  "bodies: {m: {kind: mass1d, mass: 1, v: 1}}\n"                                                                       \
  "connections: {s: {kind: spring-damper, between: [ground, m], stiffness: 90}}\n"

static void f62_an_added_mass_lowers_the_frequency_in_every_solver(void **state) {
  (void)state;
  for (size_t k = 0; k < COUNT(all_solvers); ++k) {
    char  sets[120];
    cosim c = whole_done(OSCILLATOR "loads: {f: {kind: expression, on: m, force: -1.5*m.a}}\n", solver_sets(k, sets));
    CHECK_NEAR(cosim_value(&c, "m.x"), sin(6.0) / 6.0, solver_error(k));
    cosim_close(&c);
  }
}

static void f62_the_law_of_a_spring_that_reads_an_acceleration_is_an_added_mass(void **state) {
  (void)state;
  for (size_t k = 0; k < COUNT(all_solvers); ++k) {
    char  sets[120];
    cosim c = whole_done("yoke: 1\n"
                         "t_end: 1\n"
                         "bodies: {m: {kind: mass1d, mass: 1, v: 1}}\n"
                         "connections: {s: {kind: spring-damper, between: [ground, m], law: 90*x + 1.5*m.a}}\n",
                         solver_sets(k, sets));
    CHECK_NEAR(cosim_value(&c, "m.x"), sin(6.0) / 6.0, solver_error(k));
    CHECK_NEAR(cosim_value(&c, "s.force[1]"), -cosim_value(&c, "m.a"), 1e-9);
    cosim_close(&c);
  }
}

/* A rod that a torque c N_y turns, N_y the vertical force of its hinge: N_y = m (g + y''), y = l sin(phi), so that
 * (J + m l^2) phi'' = -m g l cos(phi) + c m (g + l cos(phi) phi'' - l sin(phi) phi'^2). */
typedef struct rod {
  double phi, omega;
} rod;

static rod rod_rate(rod x, double c) {
  const double m = 1.0, l = 0.5, J = 0.1, g = 10.0;
  const double f = -m * g * l * cos(x.phi) + c * m * (g - l * sin(x.phi) * x.omega * x.omega);
  return (rod){x.omega, f / (J + m * l * l - c * m * l * cos(x.phi))};
}

static rod rod_at(double t_end, double c) {
  enum { N = 4000 };
  const double h = t_end / N;
  rod          x = {0.0, 0.0};
  for (int i = 0; i < N; ++i) {
    const rod k1 = rod_rate(x, c), k2 = rod_rate((rod){x.phi + 0.5 * h * k1.phi, x.omega + 0.5 * h * k1.omega}, c),
              k3 = rod_rate((rod){x.phi + 0.5 * h * k2.phi, x.omega + 0.5 * h * k2.omega}, c),
              k4 = rod_rate((rod){x.phi + h * k3.phi, x.omega + h * k3.omega}, c);
    x.phi += h / 6.0 * (k1.phi + 2.0 * k2.phi + 2.0 * k3.phi + k4.phi);
    x.omega += h / 6.0 * (k1.omega + 2.0 * k2.omega + 2.0 * k3.omega + k4.omega);
  }
  return x;
}

static void f62_a_torque_feeds_the_force_of_a_hinge_back_in_every_solver(void **state) {
  const rod exact = rod_at(1.0, 0.2);
  (void)state;
  for (size_t k = 0; k < COUNT(all_solvers); ++k) {
    char  sets[120];
    cosim c =
        whole_done(ROD "loads: {f: {kind: expression, on: rod, torque: '0.2*hinge.force[2]'}}\n", solver_sets(k, sets));
    CHECK_NEAR(cosim_value(&c, "rod.angle"), exact.phi, 10.0 * solver_error(k));
    cosim_close(&c);
  }
}

static void a_loop_of_gain_one_is_refused_with_the_name_of_the_load(void **state) {
  cosim c;
  (void)state;
  assert_int_equal(cosim_open_monolithic(&c, OSCILLATOR "loads: {push: {kind: expression, on: m, force: m.a}}\n", NULL),
                   YOKE_SINGULAR);
  expect_said(c.ctx, "load 'push' reads 'm.a', which answers it with gain 1");
  cosim_close(&c);
}

/* m x'' = f - c x''^3, solved by Cardano's formula for p = m / c, r = f / c: x''^3 + p x'' = r. Newton's method starts far beyond. */
static void a_load_that_is_not_linear_in_an_acceleration_finds_it(void **state) {
  static const char *const forces[] = {"30", "3e4", "3e7"};
  (void)state;
  for (size_t k = 0; k < COUNT(forces); ++k) {
    char  sets[100];
    cosim c;
    snprintf(sets, sizeof sets, "parameters.f=%s", forces[k]);
    cosim_open_monolithic(&c,
                          "yoke: 1\nt_end: 1\nparameters: {f: 1}\n"
                          "bodies: {m: {kind: mass1d, mass: 2}}\n"
                          "loads: {f: {kind: expression, on: m, force: f - 0.5*m.a^3}}\n",
                          sets);
    cosim_expect(&c, YOKE_OK);
    const double p = 4.0, r = 2.0 * strtod(forces[k], NULL), s = cbrt(0.5 * r + sqrt(r * r / 4.0 + p * p * p / 27.0)),
                 exact = s - p / (3.0 * s);
    const double gain  = 0.75 * exact * exact; /* of rounding errors: m.a is what the forces for m.a give */
    CHECK_NEAR(cosim_value(&c, "m.a"), exact, exact * (1e-13 + 1e-15 * gain));
    cosim_close(&c);
  }
}

/* Position at t = 2 s by the classical Runge-Kutta method with 500 000 and 2 000 000 steps, the acceleration by Newton's method to the last digit. */
static void solvers_agree_where_a_load_is_far_from_linear_in_an_acceleration(void **state) {
  (void)state;
  for (size_t k = 0; k < COUNT(solvers); ++k) {
    char sets[120];
    snprintf(sets, sizeof sets, "solvers.default={kind: %s, rtol: 1e-9}", solvers[k]);
    cosim c = whole_done("yoke: 1\n"
                         "t_end: 2\n"
                         "bodies: {m: {kind: mass1d, mass: 3, x: 0.1}}\n"
                         "connections: {s: {kind: spring-damper, between: [ground, m], stiffness: 2e5, damping: 3}}\n"
                         "loads: {f: {kind: expression, on: m, force: -0.7*m.a^3 - 0.2*m.a}}\n",
                         sets);
    CHECK_NEAR(cosim_value(&c, "m.x"), 0.096379452273, 3e-7);
    cosim_close(&c);
  }
}

/* A cart on a floor with friction mu N, whose floor is pressed by a part of its own force: N = m g / (1 + 0.1), a = -3 - mu N; it stops and
 * sticks. */
static void dry_friction_by_the_force_of_a_joint_stops_and_sticks(void **state) {
  (void)state;
  for (size_t k = 0; k < COUNT(solvers); ++k) {
    char sets[100];
    snprintf(sets, sizeof sets, "solvers.default={kind: %s, rtol: 1e-10}", solvers[k]);
    if (k == 3) continue; /* abm does not hold jumps */
    cosim        c = whole_done("yoke: 1\n"
                                       "t_end: 3\n"
                                       "gravity: [-3, -10, 0]\n"
                                       "bodies: {cart: {kind: particle, mass: 1, velocity: [5, 0, 0]}}\n"
                                       "frames: {ground: {floor: {axis: [0, 1, 0]}}}\n"
                                       "connections: {floor: {kind: inplane, between: [cart, ground.floor]}}\n"
                                       "loads: {friction: {kind: expression, on: cart,\n"
                                       "  force: ['-0.4*abs(floor.force[1])*sign(cart.vx)', '0.1*floor.force[1]', 0]}}\n",
                                sets);
    const double N = 10.0 / 1.1, a = 3.0 + 0.4 * N;
    CHECK_NEAR(cosim_value(&c, "floor.force[1]"), N, 1e-9);
    CHECK_NEAR(cosim_value(&c, "cart.x"), 0.5 * 25.0 / a, 1e-8);
    CHECK_NEAR(cosim_value(&c, "cart.vx"), 0.0, 1e-13);
    cosim_close(&c);
  }
}

/* Friction in a hinge, in proportion to the force that it turns and bears. */
static void friction_of_a_hinge_that_follows_its_own_force_is_the_same_in_explicit_and_implicit_solvers(void **state) {
  static const char model[] = ROD "loads: {f: {kind: expression, on: rod, torque: "
                                  "'-0.05*sqrt(hinge.force[1]^2 + hinge.force[2]^2 + 1e-6)*sign(rod.omega)'}}\n";
  (void)state;
  cosim one   = whole_done(model, "t_end=6;solvers.default={kind: dop853, rtol: 1e-10}"),
        other = whole_done(model, "t_end=6;solvers.default={kind: radau5, rtol: 1e-9}");
  CHECK_NEAR(cosim_value(&one, "rod.angle"), cosim_value(&other, "rod.angle"), 1e-7);
  CHECK_NEAR(cosim_value(&one, "rod.omega"), 0.0, 1e-12);
  cosim_close(&one);
  cosim_close(&other);
}

static void loads_that_jump_with_what_they_bring_about_are_refused(void **state) {
  (void)state;
  expect_refused(OSCILLATOR "loads: {push: {kind: expression, on: m, force: -sign(m.a)}}\n",
                 "load 'push' jumps with an acceleration or a force of a joint");
}

/* A beam on two hinges: how they share what lies along it cannot be told. */
static void a_load_that_reads_a_force_which_is_not_unique_is_refused(void **state) {
  (void)state;
  expect_refused("yoke: 1\nt_end: 1\ngravity: [0, -10, 0]\n"
                 "bodies: {beam: {kind: planar, mass: 1, inertia: 1, frames: {l: [-1, 0], r: [1, 0]}}}\n"
                 "connections:\n"
                 "  left: {kind: revolute, between: [beam.l, [-1, 0, 0]]}\n"
                 "  right: {kind: revolute, between: [beam.r, [1, 0, 0]]}\n"
                 "loads: {f: {kind: expression, on: beam, force: ['left.force[1]', 0]}}\n",
                 "load 'f' reads 'left.force[1]', which is not unique");
}

/* Across the beam it is: the left hinge bears half of the weight and of what the load adds, N = 5 - N / 2. */
static void forces_that_are_unique_are_read_beside_others_that_are_not(void **state) {
  (void)state;
  cosim c = whole_done("yoke: 1\nt_end: 1\ngravity: [0, -10, 0]\n"
                       "bodies:\n"
                       "  beam: {kind: planar, mass: 1, inertia: 1, frames: {l: [-1, 0], r: [1, 0]}}\n"
                       "  ball: {kind: mass1d, mass: 1}\n"
                       "connections:\n"
                       "  left: {kind: revolute, between: [beam.l, [-1, 0, 0]]}\n"
                       "  right: {kind: revolute, between: [beam.r, [1, 0, 0]]}\n"
                       "loads:\n"
                       "  f: {kind: expression, on: beam, force: [0, 'left.force[2]']}\n"
                       "  g: {kind: expression, on: ball, force: 'left.force[2]'}\n",
                       NULL);
  CHECK_NEAR(cosim_value(&c, "ball.a"), 10.0 / 3.0, 1e-9);
  cosim_close(&c);
}

/* ---- across a split ---- */

/* Each mass feels the acceleration of the other, and one its own: a loop through both parts. */
#define PAIR                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.5\n"                                                                                                       \
  "bodies: {m1: {kind: mass1d, mass: 1, v: 1}, m2: {kind: mass1d, mass: 2, v: -1}}\n"                                  \
  "connections:\n"                                                                                                     \
  "  w1: {kind: spring-damper, between: [ground, m1], stiffness: 100, damping: 1}\n"                                   \
  "  w2: {kind: spring-damper, between: [ground, m2], stiffness: 100, damping: 1}\n"                                   \
  "split: {a: [m1], b: [m2]}\n"                                                                                        \
  "solvers: {default: {kind: dop853, rtol: 1e-11, atol: 1e-13}}\n"

static void f62_accelerations_of_other_parts_are_signals_with_the_order_of_the_coupling(void **state) {
  static const char        model[]   = PAIR "loads:\n"
                                            "  f1: {kind: expression, on: m1, force: 50*(m2.x - m1.x) - 0.5*m2.a}\n"
                                            "  f2: {kind: expression, on: m2, force: 50*(m1.x - m2.x) + 0.3*m1.a - 0.2*m2.a}\n"
                                            "cosimulation: {start: exact}\n";
  static const char *const schemes[] = {"semi-implicit", "implicit", "waveform"};
  (void)state;
  for (size_t k = 0; k < COUNT(schemes); ++k) {
    for (int order = 1; order <= 2; ++order) {
      double errors[2];
      for (int i = 0; i < 2; ++i) {
        char sets[200];
        snprintf(sets, sizeof sets, "cosimulation.scheme=%s;cosimulation.order=%d;cosimulation.step=%g", schemes[k],
                 order, 0.005 / (1 << i));
        errors[i] = cosim_error(model, sets, "m1.x");
      }
      CHECK_ORDER(errors, 2, order + 1.0, 0.2);
    }
  }
}

/* As a whole the load answers with gain 0.1 / 2.1; the ring alone has no other mass. */
static void a_loop_of_gain_one_in_a_part_alone_is_named(void **state) {
  cosim c;
  (void)state;
  cosim_open(&c,
             "yoke: 1\n"
             "t_end: 1\n"
             "bodies: {cart: {kind: planar, mass: 2, inertia: 1}, ring: {kind: planar, mass: 0.1, inertia: 1}}\n"
             "connections: {weld: {kind: fixed, between: [cart, ring]}}\n"
             "loads: {f: {kind: expression, on: ring, force: [0.1*ring.ax, 0]}}\n"
             "split: {a: [cart], b: [ring]}\n",
             NULL);
  assert_int_equal(c.status, YOKE_SINGULAR);
  expect_said(c.ctx, "load 'f' reads 'ring.ax', which answers it with gain 1");
  expect_said(c.ctx, "keep the bodies that hold it in the same subsystem");
  cosim_close(&c);
}

static void a_loop_of_gain_one_through_two_parts_is_named(void **state) {
  cosim c;
  (void)state;
  cosim_open(&c,
             PAIR "loads:\n"
                  "  f1: {kind: expression, on: m1, force: 2*m2.a}\n"
                  "  f2: {kind: expression, on: m2, force: m1.a}\n"
                  "cosimulation: {step: 0.01, scheme: implicit}\n",
             NULL);
  cosim_run(&c, 0.0, NULL, NULL);
  assert_int_equal(c.status, YOKE_SINGULAR);
  expect_said(c.ctx, "gain 1");
  cosim_close(&c);
}

/* A double pendulum that is cut at the knee, and a ball elsewhere. */
#define LEG                                                                                                            \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.5\n"                                                                                                       \
  "gravity: [0, -10, 0]\n"                                                                                             \
  "bodies:\n"                                                                                                          \
  "  upper: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {root: [-0.5, 0], tip: [0.5, 0]}}\n"     \
  "  lower: {kind: planar, mass: 1, inertia: 0.1, position: [1.5, 0], frames: {root: [-0.5, 0], tip: [0.5, 0]}}\n"     \
  "  ball: {kind: mass1d, mass: 1}\n"                                                                                  \
  "connections:\n"                                                                                                     \
  "  hinge: {kind: revolute, between: [upper.root, ground]}\n"                                                         \
  "  knee: {kind: revolute, between: [lower.root, upper.tip]}\n"                                                       \
  "  s: {kind: spring-damper, between: [ground, ball], stiffness: 50}\n"                                               \
  "split: {one: [upper], two: [lower], three: [ball]}\n"                                                               \
  "cosimulation: {order: 2, scheme: implicit}\n"                                                                       \
  "solvers: {default: {kind: dop853, rtol: 1e-10}}\n"

static const char *const leg_methods[] = {"stabilized-index-2", "baumgarte", "projection"};

/* Orders of the whole chain of effects: 2 of the multipliers of stabilized-index-2, 3 of the others. */
static void f62_the_force_of_a_cut_joint_is_read_by_both_sides_and_by_others(void **state) {
  static const char model[] = LEG "loads:\n"
                                  "  a: {kind: expression, on: upper, torque: '0.1*knee.force[2]'}\n"
                                  "  b: {kind: expression, on: ball, force: '0.5*knee.force[1] + 0.1*hinge.force[1]'}\n"
                                  "  c: {kind: expression, on: lower, torque: '-0.05*knee.force[1]'}\n";
  (void)state;
  for (size_t k = 0; k < COUNT(leg_methods); ++k) {
    double errors[2];
    for (int i = 0; i < 2; ++i) {
      char sets[200];
      snprintf(sets, sizeof sets, "cosimulation.couplings.formulation=%s;cosimulation.step=%g", leg_methods[k],
               0.005 / (1 << i));
      CHECK_BELOW(cosim_error(model, sets, "upper.angle"), 1e-6);
      errors[i] = cosim_error(model, sets, "ball.x");
    }
    CHECK_ORDER(errors, 2, k == 0 ? 2.0 : 3.0, 0.3);
  }
}

static void an_event_finds_where_the_force_of_a_cut_joint_passes_a_value(void **state) {
  static const char model[] = LEG "events: {e: {when: 'knee.force[2] - 3'}}\n";
  cosim             whole   = whole_done(model, NULL);
  (void)state;
  for (size_t k = 0; k < COUNT(leg_methods); ++k) {
    char sets[200];
    snprintf(sets, sizeof sets, "cosimulation.couplings.formulation=%s;cosimulation.step=0.0025", leg_methods[k]);
    cosim split = cosim_done(model, sets, 0.0);
    CHECK_NEAR(time_of(&split, "e"), time_of(&whole, "e"), 1e-6);
    cosim_close(&split);
  }
  cosim_close(&whole);
}

static void the_law_of_a_cut_spring_reads_accelerations_and_forces_of_joints(void **state) {
  static const char model[] = LEG "events: {}\n";
  char              text[2000];
  double            errors[2];
  (void)state;
  snprintf(text, sizeof text, "%s", model);
  char *at = strstr(text, "  s: {kind");
  assert_non_null(at);
  char rest[1200];
  snprintf(rest, sizeof rest, "%s", at);
  snprintf(
      at, sizeof text - (size_t)(at - text),
      "  pull: {kind: spring-damper, between: [ball, upper.tip], law: '20*x + 0.2*ball.a + 0.1*hinge.force[2]'}\n%s",
      rest);
  for (int i = 0; i < 2; ++i) {
    char sets[100];
    snprintf(sets, sizeof sets, "cosimulation.step=%g", 0.005 / (1 << i));
    errors[i] = cosim_error(text, sets, "ball.x");
  }
  CHECK_BELOW(errors[0], 1e-3);
  CHECK_BELOW(errors[1], 0.3 * errors[0]);
}

static void the_force_of_a_cut_spring_is_refused_with_a_remedy(void **state) {
  (void)state;
  expect_refused(SWING "events: {e: {when: 'band.force[1]'}}\n",
                 "the force of 'band', a force element between subsystems 'one' and 'two', cannot be read by events");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f62_an_event_finds_where_a_string_gets_slack),
      cmocka_unit_test(f62_an_event_finds_an_acceleration),
      cmocka_unit_test(an_event_releases_a_mass_where_its_floor_no_longer_pushes),
      cmocka_unit_test(values_that_an_event_sets_read_forces_as_they_were),
      cmocka_unit_test(a_subsystem_finds_events_of_forces_that_others_make),
      cmocka_unit_test(the_force_of_a_row_that_a_joint_does_not_have_is_refused),
      cmocka_unit_test(f62_an_added_mass_lowers_the_frequency_in_every_solver),
      cmocka_unit_test(f62_the_law_of_a_spring_that_reads_an_acceleration_is_an_added_mass),
      cmocka_unit_test(f62_a_torque_feeds_the_force_of_a_hinge_back_in_every_solver),
      cmocka_unit_test(a_loop_of_gain_one_is_refused_with_the_name_of_the_load),
      cmocka_unit_test(a_load_that_is_not_linear_in_an_acceleration_finds_it),
      cmocka_unit_test(solvers_agree_where_a_load_is_far_from_linear_in_an_acceleration),
      cmocka_unit_test(dry_friction_by_the_force_of_a_joint_stops_and_sticks),
      cmocka_unit_test(friction_of_a_hinge_that_follows_its_own_force_is_the_same_in_explicit_and_implicit_solvers),
      cmocka_unit_test(loads_that_jump_with_what_they_bring_about_are_refused),
      cmocka_unit_test(a_load_that_reads_a_force_which_is_not_unique_is_refused),
      cmocka_unit_test(forces_that_are_unique_are_read_beside_others_that_are_not),
      cmocka_unit_test(f62_accelerations_of_other_parts_are_signals_with_the_order_of_the_coupling),
      cmocka_unit_test(a_loop_of_gain_one_in_a_part_alone_is_named),
      cmocka_unit_test(a_loop_of_gain_one_through_two_parts_is_named),
      cmocka_unit_test(f62_the_force_of_a_cut_joint_is_read_by_both_sides_and_by_others),
      cmocka_unit_test(an_event_finds_where_the_force_of_a_cut_joint_passes_a_value),
      cmocka_unit_test(the_law_of_a_cut_spring_reads_accelerations_and_forces_of_joints),
      cmocka_unit_test(the_force_of_a_cut_spring_is_refused_with_a_remedy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
