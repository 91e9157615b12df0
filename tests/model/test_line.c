/* Masses and springs on one line: energies and powers without poses are those with them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "rig.h"

#include <math.h>
#include <stdio.h>

/* %s: a body in space that rests at the origin and takes the model off the line. */
static const char model[] =
    "yoke: 1\nt_end: 1\n"
    "gravity: [-9.81, 0, 0]\n"
    "bodies:\n"
    "  a: {kind: mass1d, mass: 1.3}\n"
    "  b: {kind: mass1d, mass: 0.7}\n"
    "%s"
    "frames: {b: {tip: {at: [0.2, 0, 0]}}}\n"
    "connections:\n"
    "  wall: {kind: spring-damper, between: [ground, a], stiffness: 30, damping: 2, free_length: 0.4}\n"
    "  nonlinear: {kind: spring-damper, between: [a, b.tip], stiffness: 5, stiffness_power: 7,\n"
    "              damping_power: 0.3, exponent_v: 2}\n"
    "  elastic: {kind: spring-damper, between: [b, ground], stiffness: 11}\n"
    "  written: {kind: spring-damper, between: [b, ground], law: 4*x^3 + 0.6*v*abs(v)}\n";

static const double q[2] = {0.31, -0.72}, v[2] = {1.7, -0.4};

static void look(const char *more, yoke_energy *energy, double powers[2]) {
  char text[1200];
  rig  r;
  snprintf(text, sizeof text, model, more);
  rig_open(&r, text, NULL);
  memcpy(r.q, q, sizeof q);
  memcpy(r.v, v, sizeof v);
  r.equations.ops->energy(r.equations.self, r.work, 0.3, r.q, r.v, energy);
  r.equations.ops->powers(r.equations.self, r.work, 0.3, r.q, r.v, NULL, &powers[0], &powers[1]);
  assert_true(yoke_multibody_has_powers(r.mb));
  rig_close(&r);
}

static void energies_on_a_line_have_the_bits_of_those_in_space(void **state) {
  (void)state;
  yoke_energy line, space;
  double      lost[2], lost_in_space[2];
  look("", &line, lost);
  look("  rest: {kind: particle, mass: 1}\n", &space, lost_in_space);
  assert_true(line.kinetic == space.kinetic && line.potential == space.potential);
  assert_true(lost[0] == lost_in_space[0] && lost[1] == 0.0 && lost_in_space[1] == 0.0);
  /* kinetic energy and powers by hand; of a law that reads v all is lost, 4 x^3 too */
  const double rate = v[0] - v[1], x = -q[1], x_rate = -v[1];
  CHECK_NEAR(line.kinetic, 0.5 * (1.3 * v[0] * v[0] + 0.7 * v[1] * v[1]), 1e-15);
  CHECK_NEAR(lost[0],
             2.0 * v[0] * v[0] + 0.3 * fabs(rate * rate * rate) +
                 x_rate * (4.0 * x * x * x + 0.6 * x_rate * fabs(x_rate)),
             1e-14);
}

/* A run counts nothing where nothing can be lost. */
static void springs_alone_have_no_powers(void **state) {
  static const char *const kinds[] = {"stiffness: 5", "stiffness: 5, stiffness_power: 2", "law: 4*x^3",
                                      "stiffness: 5, damping: 0"};
  (void)state;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    char text[400];
    rig  r;
    snprintf(text, sizeof text,
             "yoke: 1\nt_end: 1\nbodies: {a: {kind: mass1d, mass: 1}}\n"
             "connections: {spring: {kind: spring-damper, between: [ground, a], %s}}\n",
             kinds[i]);
    rig_open(&r, text, NULL);
    assert_false(yoke_multibody_has_powers(r.mb));
    rig_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energies_on_a_line_have_the_bits_of_those_in_space),
      cmocka_unit_test(springs_alone_have_no_powers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
