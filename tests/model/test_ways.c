/* Quick ways through a mechanism and the way that every model can go: the same accelerations, multipliers and projections. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "rig.h"
#include "model/multibody_internal.h"
#include <stdlib.h>
#include <string.h>
#include <yoke/model.h>

enum { MOST = 64 };

/* A driven crank with rod and piston, a pendulum on a string below it, and a body in space beside. */
static const char engine[] =
    "yoke: 1\n"
    "t_end: 1\n"
    "gravity: [0.1, -9.81, 0.2]\n"
    "bodies:\n"
    "  crank: {kind: planar, mass: 1.3, inertia: 0.2, position: [0.3, 0.4], angle: atan2(4, 3), omega: 2,\n"
    "          frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"
    "  rod: {kind: planar, mass: 2, inertia: 0.7, position: [0.9, 0.4], angle: -atan2(4, 3),\n"
    "        frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"
    "  piston: {kind: planar, mass: 0.7, inertia: 0.1, position: [1.2, 0], frames: {low: [0.1, -0.2]}}\n"
    "  bob: {kind: planar, mass: 0.4, inertia: 0.05, position: [1.6, -0.7], angle: 0.3}\n"
    "  ball: {kind: rigid, mass: 1, inertia: [0.1, 0.2, 0.3], position: [0, 3, 0], omega: [1, 2, 3]}\n"
    "connections:\n"
    "  motor: {kind: revolute, between: [ground, crank.a], motion: atan2(4, 3) + 2*t}\n"
    "  knee: {kind: revolute, between: [crank.b, rod.a]}\n"
    "  pin: {kind: revolute, between: [rod.b, piston]}\n"
    "  rail: {kind: translational, between: [ground, piston], axis: [1, 0, 0]}\n"
    "  string: {kind: distance, between: [piston.low, bob]}\n";

static const char four_bar[] =
    "yoke: 1\n"
    "t_end: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "bodies:\n"
    "  a: {kind: planar, mass: 1, inertia: 0.1, position: [0, 0.5], angle: pi/2, frames: {low: [-0.5, 0], tip: [0.5, "
    "0]}}\n"
    "  b: {kind: planar, mass: 2, inertia: 0.3, position: [1, 1], frames: {low: [-1, 0], tip: [1, 0]}}\n"
    "  c: {kind: planar, mass: 3, inertia: 0.2, position: [2, 0.5], angle: pi/2, frames: {low: [-0.5, 0], tip: [0.5, "
    "0]}}\n"
    "connections:\n"
    "  left: {kind: revolute, between: [ground, a.low]}\n"
    "  knee: {kind: revolute, between: [a.tip, b.low]}\n"
    "  neck: {kind: revolute, between: [b.tip, c.tip]}\n"
    "  right: {kind: revolute, between: [[2, 0, 0], c.low]}\n";

/* No loop in the plane. */
static const char pendulums[] =
    "yoke: 1\n"
    "t_end: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "bodies:\n"
    "  a: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {low: [-0.5, 0], tip: [0.5, 0]}}\n"
    "  b: {kind: planar, mass: 2, inertia: 0.3, position: [1.5, 0], frames: {low: [-0.5, 0]}}\n"
    "connections:\n"
    "  left: {kind: revolute, between: [ground, a.low]}\n"
    "  knee: {kind: revolute, between: [a.tip, b.low]}\n";

static const char arm[] = "yoke: 1\n"
                          "t_end: 1\n"
                          "gravity: [0, -9.81, 0]\n"
                          "bodies:\n"
                          "  a: {kind: rigid, mass: 1, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 0],\n"
                          "      frames: {low: [-0.5, 0, 0], tip: [0.5, 0, 0]}}\n"
                          "  b: {kind: rigid, mass: 2, inertia: [0.3, 0.2, 0.4], position: [1.5, 0, 0.2],\n"
                          "      frames: {low: [-0.5, 0, -0.2], tip: [0.5, 0, -0.2]}}\n"
                          "  c: {kind: rigid, mass: 3, inertia: [0.5, 0.6, 0.3], position: [2.5, 0.3, 0.1],\n"
                          "      frames: {low: [-0.5, -0.3, -0.1], tip: [0.5, 0, 0]}}\n"
                          "  d: {kind: rigid, mass: 1, inertia: [0.1, 0.1, 0.1], position: [4, 0, 1]}\n"
                          "connections:\n"
                          "  shoulder: {kind: revolute, between: [ground, a.low], axis: [0, 0, 1]}\n"
                          "  elbow: {kind: revolute, between: [a.tip, b.low], axis: [0, 1, 1]}\n"
                          "  wrist: {kind: spherical, between: [b.tip, c.low]}\n";

static void ways_open(rig *r, const char *text, const char *more) {
  char all[4000];
  assert_true(strlen(text) + strlen(more) < sizeof all);
  rig_open(r, strcat(strcpy(all, text), more), NULL);
  assert_true(r->equations.nq <= MOST);
}

/* On the constraints, moving with them. */
static void rig_settle(rig *r) {
  const yoke_equations *e = &r->equations;
  for (int i = 0; i < e->nv; ++i) r->v[i] = 0.3 + 0.1 * i - 0.02 * i * i;
  assert_int_equal(e->ops->project_position(e->self, r->work, 0.0, r->q), YOKE_OK);
  assert_int_equal(e->ops->project_velocity(e->self, r->work, 0.0, r->q, r->v), YOKE_OK);
}

static void disturb(const rig *r, double size, double *q, double *v) {
  for (int i = 0; i < r->equations.nq; ++i) q[i] = r->q[i] + size * (i % 5 - 2);
  for (int i = 0; i < r->equations.nv; ++i) v[i] = r->v[i] + 100.0 * size * (i % 3 - 1);
}

static void check_plane(const char *text) {
  rig r;
  ways_open(&r, text, "");
  const yoke_equations *e = &r.equations;
  assert_true(r.mb->is_plane);
  rig_settle(&r);
  double q[2][MOST], v[2][MOST], qdot[2][MOST], a[2][MOST], lambda[2][MOST];
  for (int way = 0; way < 2; ++way) {
    r.mb->is_plane = way == 0;
    disturb(&r, 1e-3, q[way], v[way]);
    memset(lambda[way], 0, sizeof lambda[way]);
    assert_int_equal(e->ops->derivative(e->self, r.work, 0.3, q[way], v[way], NULL, qdot[way], a[way], lambda[way]),
                     YOKE_OK);
    assert_int_equal(e->ops->project_position(e->self, r.work, 0.0, q[way]), YOKE_OK);
    assert_int_equal(e->ops->project_velocity(e->self, r.work, 0.0, q[way], v[way]), YOKE_OK);
  }
  assert_memory_equal(a[0], a[1], (size_t)e->nv * sizeof(double));
  assert_memory_equal(qdot[0], qdot[1], (size_t)e->nq * sizeof(double));
  assert_memory_equal(lambda[0], lambda[1], (size_t)e->ng * sizeof(double));
  assert_memory_equal(q[0], q[1], (size_t)e->nq * sizeof(double));
  assert_memory_equal(v[0], v[1], (size_t)e->nv * sizeof(double));
  r.mb->is_plane = true;
  rig_close(&r);
}

static void mechanism_in_the_plane_has_the_bits_of_the_common_way(void **state) {
  (void)state;
  check_plane(engine);
  check_plane(four_bar);
}

/* All bars on one line: rows of the loop depend on each other, and the solution of least norm is the common one. */
static void singular_mechanism_in_the_plane_goes_the_common_way(void **state) {
  (void)state;
  rig r;
  ways_open(&r, four_bar, "  again: {kind: revolute, between: [a.tip, b.low]}\n");
  const yoke_equations *e          = &r.equations;
  double                a[2][MOST] = {{0.0}}, lambda[2][MOST] = {{0.0}};
  assert_true(r.mb->is_plane);
  for (int way = 0; way < 2; ++way) {
    r.mb->is_plane = way == 0;
    assert_int_equal(e->ops->derivative(e->self, r.work, 0.0, r.q, r.v, NULL, NULL, a[way], lambda[way]), YOKE_OK);
  }
  assert_memory_equal(a[0], a[1], sizeof a[0]);
  assert_memory_equal(lambda[0], lambda[1], sizeof lambda[0]);
  r.mb->is_plane = true;
  rig_close(&r);
}

/* Both projections with one factorisation, against one each; and the constraints hold at the end. */
static void check_projection(const char *text, const char *more) {
  rig r;
  ways_open(&r, text, more);
  const yoke_equations *e = &r.equations;
  double                q[2][MOST], v[2][MOST], g[MOST], gd[MOST];
  rig_settle(&r);
  for (int way = 0; way < 2; ++way) disturb(&r, 1e-9, q[way], v[way]);
  assert_int_equal(e->ops->project(e->self, r.work, 0.0, q[0], v[0]), YOKE_OK);
  assert_int_equal(e->ops->project_position(e->self, r.work, 0.0, q[1]), YOKE_OK);
  assert_int_equal(e->ops->project_velocity(e->self, r.work, 0.0, q[1], v[1]), YOKE_OK);
  assert_memory_equal(q[0], q[1], (size_t)e->nq * sizeof(double));
  for (int i = 0; i < e->nv; ++i) CHECK_NEAR(v[0][i], v[1][i], 3e-15 * (1.0 + fabs(v[1][i])));
  e->ops->constraint(e->self, r.work, 0.0, q[0], v[0], g, gd);
  for (int i = 0; i < e->ng; ++i) {
    CHECK_NEAR(g[i], 0.0, 1e-13);
    CHECK_NEAR(gd[i], 0.0, 1e-14);
  }
  rig_close(&r);
}

static void both_projections_together_are_one_after_the_other(void **state) {
  (void)state;
  check_projection(pendulums, "");                                         /* plane */
  check_projection(arm, "");                                               /* tree */
  check_projection(arm, "  tip: {kind: distance, between: [c.tip, d]}\n"); /* neither */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mechanism_in_the_plane_has_the_bits_of_the_common_way),
      cmocka_unit_test(singular_mechanism_in_the_plane_goes_the_common_way),
      cmocka_unit_test(both_projections_together_are_one_after_the_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
