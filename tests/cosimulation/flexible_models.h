/* Rods, cables and linear bodies with few freedoms, and a ball that a joint or a force element couples to them, from either side. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_FLEXIBLE_MODELS_H
#define YOKE_TESTS_FLEXIBLE_MODELS_H

#include "cosimulate.h"

#define FLEXIBLE_ROD                                                                                                   \
  "  rod: {kind: cosserat-rod, elements: 1, length: 0.5, section: {circle: 0.04}, young: 1e5, poisson: 0.4,\n"         \
  "        density: 1100, damping: 2e-3, direction: [1, 0, 0]}\n"
#define FLEXIBLE_CABLE                                                                                                 \
  "  cable: {kind: ancf-cable, elements: 1, from: [0, 0, 0], to: [0.5, 0, 0], mass: 0.5, axial_stiffness: 50,\n"       \
  "          bending_stiffness: 0.2, damping: 0.3}\n"
#define FLEXIBLE_LINEAR                                                                                                \
  "  beam: {kind: linear, mass: [[1, 0, 0, 0.2], [0, 1, 0, 0.1], [0, 0, 1, 0], [0.2, 0.1, 0, 0.5]],\n"                 \
  "         stiffness: [[90, 0, 0, -40], [0, 60, 0, 0], [0, 0, 70, 0], [-40, 0, 0, 80]],\n"                            \
  "         frames: {tip: {x: 1, y: 2, z: 3, at: [0.5, 0, 0]}}}\n"

/* A frame with all six freedoms, and one inside. */
#define FLEXIBLE_FRAME                                                                                                 \
  "  plate: {kind: linear, mass: {size: 7, symmetric: true, entries: [[1, 1, 1], [2, 2, 1], [3, 3, 1], [4, 4, "        \
  "0.02],\n"                                                                                                           \
  "          [5, 5, 0.03], [6, 6, 0.025], [7, 7, 0.5], [1, 7, 0.2], [2, 6, 0.02], [5, 7, 0.02]]},\n"                   \
  "          stiffness: {size: 7, symmetric: true, entries: [[1, 1, 90], [2, 2, 60], [3, 3, 70], [4, 4, 4],\n"         \
  "          [5, 5, 3], [6, 6, 5], [7, 7, 80], [1, 7, -40], [2, 6, 1]]},\n"                                            \
  "          frames: {tip: {x: 1, y: 2, z: 3, rx: 4, ry: 5, rz: 6, at: [0.5, 0, 0]}}}\n"

#define FLEXIBLE_CLAMP "  clamp: {kind: fixed, between: [ground.wall, rod.a]}\n"
#define FLEXIBLE_PIN "  pin: {kind: spherical, between: [ground, cable.a]}\n"

/* The ball hangs on the end of one of them. */
#define FLEXIBLE_MODEL(body, wall, hook, split)                                                                        \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, 0, -9.81]\n"                                                                                           \
  "t_end: 0.01\n"                                                                                                      \
  "bodies:\n" body "  ball: {kind: rigid, mass: 0.5, inertia: [2e-3, 3e-3, 4e-3], position: [0.6, 0, 0],\n"            \
  "         frames: {eye: {at: [-0.1, 0, 0], axis: [1, 0, 0]}, hole: [-0.1, 0, 0]}}\n"                                 \
  "frames: {ground.wall: {at: [0, 0, 0], axis: [1, 0, 0]}}\n"                                                          \
  "connections:\n" wall "  j: {" hook "}\n"                                                                            \
  "loads: {push: {kind: constant, on: ball, force: [0, 20, 0], torque: [0.05, 0, 0]}}\n"                               \
  "split: {" split "}\n"                                                                                               \
  "solvers: {default: {kind: dopri5, rtol: 1e-9, atol: 1e-11}}\n"

/* As side 1 and as side 2 of the coupling. */
#define FLEXIBLE_FIRST(body, name, end, eye, wall, kind)                                                               \
  FLEXIBLE_MODEL(body, wall, kind ", between: [" name "." end ", ball." eye "]", "one: [" name "], two: [ball]")
#define FLEXIBLE_SECOND(body, name, end, eye, wall, kind)                                                              \
  FLEXIBLE_MODEL(body, wall, kind ", between: [ball." eye ", " name "." end "]", "one: [ball], two: [" name "]")

#define FLEXIBLE_AT_ROD(side, kind) side(FLEXIBLE_ROD, "rod", "b", "eye", FLEXIBLE_CLAMP, kind)
#define FLEXIBLE_AT_CABLE(side, kind) side(FLEXIBLE_CABLE, "cable", "b", "eye", FLEXIBLE_PIN, kind)
#define FLEXIBLE_AT_POINT(side, kind) side(FLEXIBLE_LINEAR, "beam", "tip", "eye", "", kind)
#define FLEXIBLE_AT_FRAME(side, kind) side(FLEXIBLE_FRAME, "plate", "tip", "hole", "", kind)

#define FLEXIBLE_ROD_WITH_A_BALL FLEXIBLE_AT_ROD(FLEXIBLE_FIRST, "kind: fixed")
#define FLEXIBLE_CABLE_WITH_A_BALL FLEXIBLE_AT_CABLE(FLEXIBLE_FIRST, "kind: spherical")

/* By a joint. */
typedef struct flexible_case {
  const char *name, *model;
  const char *at_point; /* for what takes no rows of turned axes (extension i); NULL: the same */
} flexible_case;

static const flexible_case flexible_joints[] = {
    {"cosserat-rod", FLEXIBLE_ROD_WITH_A_BALL, NULL},
    {"ancf-cable", FLEXIBLE_CABLE_WITH_A_BALL, NULL},
    {"linear", FLEXIBLE_AT_POINT(FLEXIBLE_FIRST, "kind: spherical"), NULL},
    {"cosserat-rod, revolute", FLEXIBLE_AT_ROD(FLEXIBLE_FIRST, "kind: revolute"), NULL},
    {"frame of a linear body", FLEXIBLE_AT_FRAME(FLEXIBLE_FIRST, "kind: fixed"), NULL},
    {"cosserat-rod as side 2", FLEXIBLE_AT_ROD(FLEXIBLE_SECOND, "kind: fixed"), NULL},
    {"cosserat-rod as side 2, revolute", FLEXIBLE_AT_ROD(FLEXIBLE_SECOND, "kind: revolute"), NULL},
    {"ancf-cable as side 2", FLEXIBLE_AT_CABLE(FLEXIBLE_SECOND, "kind: spherical"), NULL},
    {"frame of a linear body as side 2", FLEXIBLE_AT_FRAME(FLEXIBLE_SECOND, "kind: fixed"), NULL},
};
enum { N_FLEXIBLE_JOINTS = (int)(sizeof flexible_joints / sizeof flexible_joints[0]) };

/* By a force element: a flexible joint with all six, or one with three. The end of a rod is light: stiffer elements have smaller limits of
 * stability (`yoke stability --limit`), not other errors. */
#define FLEXIBLE_SIX "kind: bushing, stiffness: [400, 400, 400, 4, 4, 4], damping: [2, 2, 2, 0.02, 0.02, 0.02]"
#define FLEXIBLE_THREE "kind: spherical, stiffness: 300, damping: 2"

#define FLEXIBLE_ROD_AT_A_POINT FLEXIBLE_AT_ROD(FLEXIBLE_FIRST, FLEXIBLE_THREE)
#define FLEXIBLE_CABLE_ON_A_SPRING FLEXIBLE_AT_CABLE(FLEXIBLE_FIRST, FLEXIBLE_THREE)

static const flexible_case flexible_elements[] = {
    {"cosserat-rod", FLEXIBLE_AT_ROD(FLEXIBLE_FIRST, FLEXIBLE_SIX), FLEXIBLE_ROD_AT_A_POINT},
    {"ancf-cable", FLEXIBLE_CABLE_ON_A_SPRING, NULL},
    {"linear", FLEXIBLE_AT_POINT(FLEXIBLE_FIRST, FLEXIBLE_THREE), NULL},
    {"frame of a linear body", FLEXIBLE_AT_FRAME(FLEXIBLE_FIRST, FLEXIBLE_SIX),
     FLEXIBLE_AT_FRAME(FLEXIBLE_FIRST, FLEXIBLE_THREE)},
    {"cosserat-rod as side 2", FLEXIBLE_AT_ROD(FLEXIBLE_SECOND, FLEXIBLE_SIX),
     FLEXIBLE_AT_ROD(FLEXIBLE_SECOND, FLEXIBLE_THREE)},
    {"ancf-cable as side 2", FLEXIBLE_AT_CABLE(FLEXIBLE_SECOND, FLEXIBLE_THREE), NULL},
    {"frame of a linear body as side 2", FLEXIBLE_AT_FRAME(FLEXIBLE_SECOND, FLEXIBLE_SIX),
     FLEXIBLE_AT_FRAME(FLEXIBLE_SECOND, FLEXIBLE_THREE)},
};
enum { N_FLEXIBLE_ELEMENTS = (int)(sizeof flexible_elements / sizeof flexible_elements[0]) };

/* Motion of the ball at t: positions and velocities. */
enum { N_FLEXIBLE_STATES = 6 };
static inline void flexible_states(const cosim *c, double z[N_FLEXIBLE_STATES]) {
  static const char *const names[N_FLEXIBLE_STATES] = {"ball.x", "ball.y", "ball.z", "ball.vx", "ball.vy", "ball.vz"};
  for (int i = 0; i < N_FLEXIBLE_STATES; ++i) z[i] = cosim_value(c, names[i]);
}

#endif
