/* Rods, cables and linear bodies with few freedoms, and a ball that a joint couples to them. Include after <cmocka.h>. */
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

/* The ball hangs on the end of one of them by a joint. */
#define FLEXIBLE_JOINT(body, wall, hook, split)                                                                        \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, 0, -9.81]\n"                                                                                           \
  "t_end: 0.01\n"                                                                                                      \
  "bodies:\n" body "  ball: {kind: rigid, mass: 0.5, inertia: [2e-3, 3e-3, 4e-3], position: [0.6, 0, 0],\n"            \
  "         frames: {eye: {at: [-0.1, 0, 0], axis: [1, 0, 0]}}}\n"                                                     \
  "frames: {ground.wall: {at: [0, 0, 0], axis: [1, 0, 0]}}\n"                                                          \
  "connections:\n" wall "  j: {" hook "}\n"                                                                            \
  "loads: {push: {kind: constant, on: ball, force: [0, 20, 0], torque: [0.05, 0, 0]}}\n"                               \
  "split: {one: [" split "], two: [ball]}\n"                                                                           \
  "solvers: {default: {kind: dopri5, rtol: 1e-9, atol: 1e-11}}\n"

static const char *const flexible_joints[] = {
    FLEXIBLE_JOINT(FLEXIBLE_ROD, "  clamp: {kind: fixed, between: [ground.wall, rod.a]}\n",
                   "kind: fixed, between: [rod.b, ball.eye]", "rod"),
    FLEXIBLE_JOINT(FLEXIBLE_CABLE, "  pin: {kind: spherical, between: [ground, cable.a]}\n",
                   "kind: spherical, between: [cable.b, ball.eye]", "cable"),
    FLEXIBLE_JOINT(FLEXIBLE_LINEAR, "", "kind: spherical, between: [beam.tip, ball.eye]", "beam"),
};
static const char *const flexible_kinds[] = {"cosserat-rod", "ancf-cable", "linear"};
enum { N_FLEXIBLE = (int)(sizeof flexible_kinds / sizeof flexible_kinds[0]) };

/* The ball hangs on the same ends by force elements: a flexible joint with all six, one with three, and a bushing that pulls at a point. The
 * end of a rod is light: stiffer elements have smaller limits of stability (`yoke stability --limit`), not other errors. */
static const char *const flexible_elements[] = {
    FLEXIBLE_JOINT(FLEXIBLE_ROD, "  clamp: {kind: fixed, between: [ground.wall, rod.a]}\n",
                   "kind: bushing, between: [rod.b, ball.eye], stiffness: [400, 400, 400, 4, 4, 4],\n"
                   "      damping: [2, 2, 2, 0.02, 0.02, 0.02]",
                   "rod"),
    FLEXIBLE_JOINT(FLEXIBLE_CABLE, "  pin: {kind: spherical, between: [ground, cable.a]}\n",
                   "kind: spherical, between: [cable.b, ball.eye], stiffness: 300, damping: 2", "cable"),
    FLEXIBLE_JOINT(FLEXIBLE_LINEAR, "", "kind: spherical, between: [beam.tip, ball.eye], stiffness: 300, damping: 2",
                   "beam"),
    FLEXIBLE_JOINT(FLEXIBLE_ROD, "  clamp: {kind: fixed, between: [ground.wall, rod.a]}\n",
                   "kind: spherical, between: [rod.b, ball.eye], stiffness: 300, damping: 2", "rod"),
};
enum { FLEXIBLE_POINT_OF_ROD = N_FLEXIBLE }; /* extension i has no rows of turned axes */

/* Motion of the ball at t: positions and velocities. */
enum { N_FLEXIBLE_STATES = 6 };
static inline void flexible_states(const cosim *c, double z[N_FLEXIBLE_STATES]) {
  static const char *const names[N_FLEXIBLE_STATES] = {"ball.x", "ball.y", "ball.z", "ball.vx", "ball.vy", "ball.vz"};
  for (int i = 0; i < N_FLEXIBLE_STATES; ++i) z[i] = cosim_value(c, names[i]);
}

#endif
