/* Works of dampers and loads from both ends of a micro step: those of the powers at its points of Gauss, on motions that are quintic in time. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "model/ends.h"
#include "rig.h"

#include <math.h>
#include <stdio.h>

#define BEGIN "yoke: 1\nt_end: 1\nbodies:\n"
#define LINE "  a: {kind: mass1d, mass: 1.3}\n  b: {kind: mass1d, mass: 0.7}\n"
#define BAR "  bar: {kind: planar, mass: 1, inertia: 0.2, frames: {tip: [0.4, 0]}}\n"

static const char *const told[] = {
    BEGIN LINE "connections:\n"
               "  wall: {kind: spring-damper, between: [ground, a], stiffness: 30, damping: 2}\n"
               "  floor: {kind: spring-damper, between: [b, ground], stiffness: 30, damping: 1.5}\n"
               "  link: {kind: spring-damper, between: [a, b], stiffness: 5, damping: 0.4}\n"
               "  powers: {kind: spring-damper, between: [b, a], stiffness_power: 7, damping: 0.1, damping_power: 0.3, "
               "exponent_v: 2}\n"
               "  elastic: {kind: spring-damper, between: [b, ground], law: 4*x^3}\n"
               "loads:\n"
               "  air: {kind: drag, on: b, linear: 0.2, quadratic: 0.3}\n"
               "  push: {kind: constant, on: a, force: -3}\n",
    BEGIN BAR "  ball: {kind: particle, mass: 2}\n"
              "loads:\n"
              "  air: {kind: drag, on: bar, linear: 0.2, quadratic: 0.3, rotational: 0.7}\n"
              "  turn: {kind: drag, on: bar, rotational: 0.1}\n"
              "  mist: {kind: drag, on: ball, quadratic: 0.6}\n"
              "  push: {kind: constant, on: bar, force: [2, -1]}\n"
              "  pull: {kind: constant, on: ball, force: [2, -1, 4]}\n"
              "  motor: {kind: constant, on: bar, torque: [0, 0, 5]}\n",
};

/* What depends on where bodies are, or on time. */
static const char *const not_told[] = {
    BEGIN LINE "connections: {e: {kind: spring-damper, between: [a, b], law: x*v}}\n",
    BEGIN BAR "loads: {air: {kind: drag, on: bar.tip, linear: 0.2}}\n",
    BEGIN BAR "loads: {push: {kind: constant, on: bar.tip, force: [1, 0]}}\n",
    BEGIN BAR "loads: {push: {kind: constant, on: bar, force: [1, 0], follower: true}}\n",
    BEGIN BAR "loads: {push: {kind: expression, on: bar, force: [sin(t), 0]}}\n",
    BEGIN BAR "  foo: {kind: planar, mass: 1, inertia: 1}\n"
              "connections: {e: {kind: torsion-spring, between: [bar, foo], stiffness: 1, damping: 1}}\n",
};

enum { DEGREE = 5 };

static double pseudo_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

/* Motion c [n, DEGREE + 1] at t. */
static void move(int n, const double *c, double t, double *q, double *v, double *a) {
  for (int i = 0; i < n; ++i, c += DEGREE + 1) {
    q[i] = v[i] = a[i] = 0.0;
    for (int k = DEGREE; k >= 0; --k) {
      q[i] = q[i] * t + c[k];
      if (k > 0) v[i] = v[i] * t + k * c[k];
      if (k > 1) a[i] = a[i] * t + k * (k - 1) * c[k];
    }
  }
}

static void works_between_two_ends_are_those_of_powers_at_three_points(void **state) {
  const double point[] = {0.5 * (1.0 - sqrt(0.6)), 0.5, 0.5 * (1.0 + sqrt(0.6))}, weight[] = {5.0, 8.0, 5.0};
  const double h = 0.7;
  (void)state;
  for (size_t i = 0; i < sizeof told / sizeof *told; ++i) {
    double   c[RIG_MOST * (DEGREE + 1)], end[2][3][RIG_MOST], a[RIG_MOST], sum[2] = {0.0}, expected[2] = {0.0};
    uint32_t seed = 3u;
    rig      r;
    rig_open(&r, told[i], NULL);
    const int n = r.equations.nv;
    for (int k = 0; k < n * (DEGREE + 1); ++k) c[k] = pseudo_random(&seed);
    for (int k = 0; k < 2; ++k) move(n, c, k * h, end[k][0], end[k][1], end[k][2]);
    const yoke_ends ends = {0.0, h, end[0][0], end[0][1], end[0][2], end[1][0], end[1][1], end[1][2]};
    assert_true(r.equations.ops->work(r.equations.self, &ends, sum));
    for (int k = 0; k < 3; ++k) {
      double lost, brought;
      move(n, c, point[k] * h, r.q, r.v, a);
      r.equations.ops->powers(r.equations.self, r.work, point[k] * h, r.q, r.v, NULL, &lost, &brought);
      expected[0] += h * weight[k] / 18.0 * lost;
      expected[1] += h * weight[k] / 18.0 * brought;
    }
    assert_true(expected[0] > 0.1 && fabs(expected[1]) > 0.1);
    CHECK_NEAR(sum[0], expected[0], 1e-13 * expected[0]);
    CHECK_NEAR(sum[1], expected[1], 1e-13 * fabs(expected[1]) + 1e-14);
    rig_close(&r);
  }
}

static void what_depends_on_places_is_not_told_by_ends(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof not_told / sizeof *not_told; ++i) {
    const double    none[RIG_MOST] = {0.0};
    const yoke_ends ends           = {0.0, 1.0, none, none, none, none, none, none};
    double          sum[2]         = {0.0};
    rig             r;
    rig_open(&r, not_told[i], NULL);
    assert_true(yoke_multibody_has_powers(r.mb));
    assert_false(r.equations.ops->work(r.equations.self, &ends, sum));
    rig_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(works_between_two_ends_are_those_of_powers_at_three_points),
      cmocka_unit_test(what_depends_on_places_is_not_told_by_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
