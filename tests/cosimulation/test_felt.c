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
  assert_int_not_equal(cosim_open(&c, model, NULL), YOKE_OK);
  expect_said(c.ctx, part);
  cosim_close(&c);
}

/* ---- events ---- */

/* A bob on a string, thrown upwards: m v^2 / L + m g y / L = T is 0 at y = (v0^2 - 2 g L) / (3 g). */
#define BOB                                                                                                            \
  "yoke: 1\n"                                                                                                          \
  "t_end: 2\n"                                                                                                         \
  "gravity: [0, -10, 0]\n"                                                                                             \
  "bodies: {bob: {kind: particle, mass: 2, position: [0, -1, 0], velocity: [6, 0, 0]}}\n"                              \
  "connections: {string: {kind: distance, between: [ground, bob], length: 1}}\n"

static void an_event_finds_where_a_string_gets_slack(void **state) {
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
static void an_event_finds_an_acceleration(void **state) {
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
    print_message("%s: t = %.9g, errors %.3g %.3g\n", conditions[k], t, errors[0], errors[1]);
    CHECK_BELOW(errors[0], 1e-5);
    CHECK_BELOW(errors[1], 0.3 * errors[0]);
    cosim_close(&whole);
  }
}

static void the_force_of_a_row_that_a_joint_does_not_have_is_refused(void **state) {
  (void)state;
  expect_refused(BOB "events: {e: {when: 'string.force[2]'}}\n", "string.force[2]");
  expect_refused(BOB "events: {e: {when: 'rope.force[1]'}}\n", "rope.force[1]");
  expect_refused(BOB "events: {e: {when: 'ground.ax'}}\n", "ground.ax");
  expect_refused(BOB "events: {e: {when: 'total.energy'}}\n", "energies, gaps and mismatches can be read in 'outputs'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_event_finds_where_a_string_gets_slack),
      cmocka_unit_test(an_event_finds_an_acceleration),
      cmocka_unit_test(an_event_releases_a_mass_where_its_floor_no_longer_pushes),
      cmocka_unit_test(values_that_an_event_sets_read_forces_as_they_were),
      cmocka_unit_test(a_subsystem_finds_events_of_forces_that_others_make),
      cmocka_unit_test(the_force_of_a_row_that_a_joint_does_not_have_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
