/* What attaches to nodes of cables, which are places without axes: what needs axes is refused with what to write instead, the rest conserves momenta. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "../io/loaded.h"
#include "linalg/space.h"
#include "model/cable.h"
#include <stdio.h>
#include <string.h>

#define MODEL                                                                                                          \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.1\n"                                                                                                       \
  "bodies:\n"                                                                                                          \
  "  rope: {kind: ancf-cable, elements: 2, points: [[0, 0, 0], [0.5, 0.1, 0], [0.9, 0, 0.2]], length: 1, mass: 0.7,\n" \
  "         axial_stiffness: 300, bending_stiffness: 2, velocity: [0.1, 0, 0.2]}\n"                                    \
  "  ball: {kind: rigid, mass: 1, inertia: [0.02, 0.03, 0.04], position: [1, 0, 0.2], omega: [1, 2, 3],\n"             \
  "         frames: {eye: {at: [-0.1, 0, 0], axis: [1, 0.2, 0.3]}}}\n"

/* Model with this connection, load or frame below its section. */
static void text_of(const char *section, const char *entry, char *text, size_t size) {
  snprintf(text, size, MODEL "%s: {%s}\n", section, entry);
}

static void refused(const char *section, const char *entry, const char *message) {
  char text[1600];
  text_of(section, entry, text, sizeof text);
  bad(text, message);
}

static void accepted(const char *section, const char *entry) {
  char text[1600];
  text_of(section, entry, text, sizeof text);
  loaded l = good(text);
  release(&l);
}

static void joints_that_need_its_axes_are_refused(void **state) {
  (void)state;
  static const char *const held[]  = {"revolute", "universal", "fixed"};
  static const char *const turns[] = {"orientation", "perpendicular"};
  static const char *const lines[] = {"cylindrical", "translational"};
  char                     entry[200], message[400];
  for (int side = 0; side < 2; ++side) {
    const char *ends = side == 0 ? "rope.b, ball.eye" : "ball.eye, rope.b";
    for (int k = 0; k < 3; ++k) {
      snprintf(entry, sizeof entry, "j: {kind: %s, between: [%s]}", held[k], ends);
      snprintf(message, sizeof message,
               "key 'connections.j.between': found kind: %s at 'rope.b', a node of a cable, which is a place without "
               "axes; expected kind: spherical there and, where the direction of the cable is held, kind: tangent at "
               "'rope.slope[3]'",
               held[k]);
      refused("connections", entry, message);
    }
    for (int k = 0; k < 2; ++k) {
      snprintf(entry, sizeof entry, "j: {kind: %s, between: [%s], axis: [1, 0, 0]}", turns[k], ends);
      refused("connections", entry, "expected kind: tangent at 'rope.slope[3]'");
      snprintf(entry, sizeof entry, "j: {kind: %s, between: [%s], stiffness: 3}", lines[k], ends);
      refused("connections", entry, "expected kind: inline with the node as its first end");
    }
    snprintf(entry, sizeof entry, "j: {kind: planar, between: [%s]}", ends);
    refused("connections", entry, "expected kind: inplane with the node as its first end");
  }
  refused("connections", "j: {kind: tangent, between: [rope.slope[1], rope.node[2]]}",
          "found kind: tangent at 'rope.node[2]', a node of a cable, which is a place without axes; expected the "
          "ground or a body that turns as the second end");
}

static void joints_along_axes_of_the_other_end_have_it_first(void **state) {
  (void)state;
  static const char *const kinds[] = {"inline", "inplane"};
  char                     entry[200];
  for (int k = 0; k < 2; ++k) {
    snprintf(entry, sizeof entry, "j: {kind: %s, between: [ball.eye, rope.node[2]]}", kinds[k]);
    refused("connections", entry,
            "at 'rope.node[2]', a node of a cable, which is a place without axes; expected it as the first end "
            "and, as the second, a frame with axes");
    snprintf(entry, sizeof entry, "j: {kind: %s, between: [rope.node[2], ball.eye]}", kinds[k]);
    accepted("connections", entry);
    snprintf(entry, sizeof entry, "j: {kind: %s, between: [rope.node[2], ground], axis: [1, 0, 0]}", kinds[k]);
    accepted("connections", entry);
  }
}

static void force_elements_that_turn_it_are_refused(void **state) {
  (void)state;
  refused(
      "connections", "j: {kind: torsion-spring, between: [rope.a, ball], stiffness: 3}",
      "found kind: torsion-spring at 'rope.a', a node of a cable, which is a place without axes; expected a node of "
      "a cosserat-rod, which has torsion");
  refused("connections", "j: {kind: bushing, between: [ball, rope.b], stiffness: 5}",
          "key 'connections.j.stiffness': found [5, 5, 5, 5, 5, 5] at 'rope.node[3]', a node of a cable, which has no "
          "axes that turn; expected stiffness: [5, 5, 5, 0, 0, 0]");
  refused("connections",
          "j: {kind: bushing, between: [ball, rope.b], stiffness: [1, 2, 3, 0, 0, 0], damping: [0, 0, 0, 0, 0.1, 0]}",
          "key 'connections.j.damping': found [0, 0, 0, 0, 0.1, 0]");
  refused(
      "connections", "j: {kind: bushing, between: [rope.b, ball], stiffness: [2, 2, 2, 0, 0, 0]}",
      "found kind: bushing at 'rope.b', a node of a cable, which is a place without axes; expected it as the second "
      "end and, as the first, a frame with axes; two nodes take kind: spherical with stiffness");
  accepted("connections", "j: {kind: bushing, between: [ground, rope.b], stiffness: [1, 2, 3]}");
}

static void loads_that_need_its_axes_are_refused(void **state) {
  (void)state;
  refused(
      "loads", "m: {kind: constant, on: rope.b, torque: [0, 0, 1]}",
      "key 'loads.m.torque': found a torque at 'rope.node[3]', a node of a cable, which is a place without axes; "
      "expected a pair of forces at nodes beside each other, or a rigid body that kind: spherical holds at the node "
      "and kind: tangent at 'rope.slope[3]'");
  refused("loads", "f: {kind: constant, on: rope.node[2], force: [0, 0, 1], follower: true}",
          "key 'loads.f.follower': found true at 'rope.node[2]', a node of a cable, which is a place without axes; "
          "expected a force along the cable by its slope, kind: expression, force: [F*rope.slope[2].x, "
          "F*rope.slope[2].y, F*rope.slope[2].z]");
  refused("loads", "f: {kind: drag, on: rope.node[2], rotational: 1}",
          "key 'loads.f.rotational': found drag on the rotation of a particle, expected a rigid or planar body");
  refused("loads", "f: {kind: constant, on: rope.slope[2], force: [0, 0, 1]}",
          "key 'loads.f.on': found 'rope.slope[2]', the slope of a cable and no place, expected a node of the cable: "
          "'rope.node[2]'");
  accepted("loads", "f: {kind: expression, on: rope.node[2], force: [3*rope.slope[2].x, 3*rope.slope[2].y, 0]}");
}

static void frames_beside_it_are_refused(void **state) {
  (void)state;
  refused(
      "frames", "rope.node[2]: {hook: [0, 0, 0.1]}",
      "found a point beside it at 'rope.node[2]', a node of a cable, which is a place without axes; expected a frame "
      "at [0, 0, 0], or on a rigid body that kind: spherical holds at the node and kind: tangent at "
      "'rope.slope[2]'");
  refused("frames", "rope.node[2].hook: {axis: [0, 0, 1]}", "found axes at 'rope.node[2]'");
  refused("frames", "rope.slope[2].hook: [0, 0, 1]",
          "found a frame of 'rope.slope[2]', the slope of a cable and no place, expected none");
  accepted("frames", "rope.node[2]: {hook: [0, 0, 0]}");
}

/* Particles and points of linear bodies are places without axes as well; where nothing turns that is no matter. */
static void joints_that_need_axes_of_other_points_are_refused(void **state) {
  (void)state;
#define POINTS                                                                                                         \
  "yoke: 1\nt_end: 1\nbodies:\n  p: {kind: particle, mass: 1}\n  b: {kind: linear, mass: [1, 1, 1], frames: {tip: "    \
  "{x: 1, y: 2, z: 3}}}\n"                                                                                             \
  "  ball: {kind: rigid, mass: 1, inertia: [1, 1, 1]}\n"
  bad(POINTS "connections: {j: {kind: fixed, between: [ball, p]}}\n",
      "found kind: fixed at 'p', a particle, which is a place without axes; expected kind: spherical, or kind: rigid "
      "with an inertia");
  bad(POINTS "connections: {j: {kind: revolute, between: [b.tip, ball], axis: [0, 1, 0]}}\n",
      "found kind: revolute at 'b.tip', a point of a linear body, which is a place without axes; expected kind: "
      "spherical, or a frame of the linear body with rx, ry and rz");
  bad(POINTS "connections: {j: {kind: inline, between: [ball, p]}}\n",
      "expected it as the first end and, as the second, a frame with axes");
  bad(POINTS "connections: {j: {kind: bushing, between: [ball, p], stiffness: 5}}\n",
      "at 'p', a particle, which has no axes that turn; expected stiffness: [5, 5, 5, 0, 0, 0]");
  loaded l =
      good(POINTS "connections: {j: {kind: inline, between: [p, ball]}, k: {kind: fixed, between: [b.tip, ground]}}\n");
  release(&l);
}

/* ---- what is accepted ---- */

/* Momentum and, about the origin, angular momentum: sums of M_ij v_j and r_i x M_ij v_j over positions and slopes, and of the ball. */
typedef struct momenta {
  const double *r, *v; /* of positions and slopes in turn, [n, 3] */
  double        p[3], L[3];
} momenta;

static void add_entry(void *user, int row, int column, double mass) {
  momenta *m = user;
  if (row % 2 == 0) vec3_add(m->p, mass, m->v + 3 * column);
  double c[3];
  vec3_cross(c, m->r + 3 * row, m->v + 3 * column);
  vec3_add(m->L, mass, c);
}

static momenta momenta_of(const cosim *c) {
  enum { N_CABLE = 18, N_Q = N_CABLE + 7, N_V = N_CABLE + 6 };
  double        q[N_Q + 1], v[N_V + 1], R[9], spin[3], at[3];
  const double *ball_q = q + N_CABLE, *ball_v = v + N_CABLE;
  cosim_gather(c, q, v);
  momenta m = {.r = q, .v = v};
  yoke_cable_mass(c->model->flexibles[0].cable, add_entry, &m);
  vec3_add(m.p, 1.0, ball_v); /* mass 1 */
  vec3_cross(at, ball_q, ball_v);
  vec3_add(m.L, 1.0, at);
  const double Jw[3] = {0.02 * ball_v[3], 0.03 * ball_v[4], 0.04 * ball_v[5]};
  quaternion_rotation(R, ball_q + 3);
  mat3_apply(spin, R, Jw);
  vec3_add(m.L, 1.0, spin);
  return m;
}

static void what_it_takes_conserves_momenta(void **state) {
  (void)state;
  static const char *const attached[] = {
      ("j: {kind: spherical, between: [rope.b, ball.eye]}, t: {kind: tangent, between: [rope.slope[3], ball], axis: "
       "[0.35, -0.2, 0.3]}"),
      "j: {kind: inline, between: [rope.b, ball.eye]}",
      "j: {kind: inplane, between: [rope.node[2], ball.eye], axis: [0.1, 0.4, 0]}",
      "j: {kind: distance, between: [ball.eye, rope.node[2]]}",
      "j: {kind: spring-damper, between: [ball.eye, rope.b], stiffness: 30, damping: 1, free_length: 0.2}",
      "j: {kind: bushing, between: [ball.eye, rope.b], stiffness: [10, 20, 30, 0, 0, 0], damping: [1, 2, 3, 0, 0, 0]}",
  };
  for (size_t k = 0; k < sizeof attached / sizeof attached[0]; ++k) {
    char  text[1600];
    cosim c;
    text_of("connections", attached[k], text, sizeof text);
    cosim_open_monolithic(&c, text, "solvers={default: {kind: dop853, rtol: 1e-11, atol: 1e-12}}");
    cosim_expect(&c, YOKE_OK);
    const momenta before = momenta_of(&c);
    cosim_run(&c, 0.0, NULL, NULL);
    cosim_expect(&c, YOKE_OK);
    const momenta after = momenta_of(&c);
    for (int i = 0; i < 3; ++i) {
      CHECK_NEAR(after.p[i], before.p[i], 1e-9);
      CHECK_NEAR(after.L[i], before.L[i], 1e-9);
    }
    cosim_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joints_that_need_its_axes_are_refused),
      cmocka_unit_test(joints_along_axes_of_the_other_end_have_it_first),
      cmocka_unit_test(force_elements_that_turn_it_are_refused),
      cmocka_unit_test(loads_that_need_its_axes_are_refused),
      cmocka_unit_test(frames_beside_it_are_refused),
      cmocka_unit_test(joints_that_need_axes_of_other_points_are_refused),
      cmocka_unit_test(what_it_takes_conserves_momenta),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
