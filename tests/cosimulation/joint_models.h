/* Two bodies on springs with a joint between them, one model per joint kind. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_JOINT_MODELS_H
#define YOKE_TESTS_JOINT_MODELS_H

#include "cosimulate.h"

/* Both bodies hang in bushings of their own, so that every joint leaves the mechanism movable and its multipliers unique. */
static const char spatial[] =
    "yoke: 1\n"
    "gravity: [1, -9.81, 2]\n"
    "t_end: 0.08\n"
    "bodies:\n"
    "  a: {kind: rigid, mass: 2, inertia: [0.3, 0.5, 0.4], position: [-0.3, 0, 0],\n"
    "      frames: {tip: [0.3, 0.1, 0.05]}}\n"
    "  b: {kind: rigid, mass: 1, inertia: [0.2, 0.1, 0.15], position: [0.4, 0.2, -0.1],\n"
    "      frames: {tip: [-0.4, -0.1, 0.15], cross: {at: [-0.4, -0.1, 0.15], axis: [1, 0, 0]}, off: [0.1, 0.2, 0.1]}}\n"
    "connections:\n"
    "  hold1: {kind: bushing, between: [ground, a], stiffness: [60, 40, 50, 9, 8, 7], damping: 0.5}\n"
    "  hold2: {kind: bushing, between: [ground, b], stiffness: [30, 50, 40, 4, 6, 5], damping: 0.3}\n"
    "  j: {kind: %s, between: [a.tip, b.%s]}\n"
    "loads: {twist: {kind: constant, on: a, force: [0, 0, 0], torque: [2, -1.5, 3]}}\n"
    "split: {one: [a], two: [b]}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-13, atol: 1e-14}}\n";

static const char planar[] =
    "yoke: 1\n"
    "gravity: [1, -9.81]\n"
    "t_end: 0.08\n"
    "bodies:\n"
    "  a: {kind: planar, mass: 2, inertia: 0.4, position: [-0.3, 0], frames: {tip: {at: [0.3, 0.1]%s}}}\n"
    "  b: {kind: planar, mass: 1, inertia: 0.15, position: [0.4, 0.2],\n"
    "      frames: {tip: {at: [-0.4, -0.1]%s}, cross: {at: [-0.4, -0.1], axis: [0, 1, 0]}, off: [0.1, 0.2]}}\n"
    "connections:\n"
    "  hold1: {kind: bushing, between: [ground, a], stiffness: [60, 40, 0, 0, 0, 7], damping: 0.5}\n"
    "  hold2: {kind: bushing, between: [ground, b], stiffness: [30, 50, 0, 0, 0, 5], damping: 0.3}\n"
    "  j: {kind: %s, between: [a.tip, b.%s]}\n"
    "loads: {twist: {kind: constant, on: a, force: [0, 0], torque: 3}}\n"
    "split: {one: [a], two: [b]}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-13, atol: 1e-14}}\n";

typedef struct joint_case {
  const char *kind, *end; /* frame of b */
  bool        in_plane;   /* between planar bodies too */
  bool        lying;      /* there with z axes of the frames along x */
} joint_case;

static const joint_case joints[] = {
    {"atpoint", "tip", true, false},        {"spherical", "tip", true, false},  {"revolute", "tip", true, false},
    {"universal", "cross", false, false},   {"cylindrical", "tip", true, true}, {"translational", "tip", true, true},
    {"planar", "tip", false, false},        {"inline", "tip", true, true},      {"orientation", "tip", true, false},
    {"fixed", "tip", true, false},          {"distance", "off", true, false},   {"inplane", "tip", true, true},
    {"perpendicular", "cross", true, true},
};
enum { N_JOINTS = (int)(sizeof joints / sizeof joints[0]), MODEL_TEXT = 2048, MAX_STATES = 32 };

static inline const joint_case *joint_named(const char *kind) {
  int j = 0;
  while (j < N_JOINTS && strcmp(joints[j].kind, kind) != 0) ++j;
  assert_true(j < N_JOINTS);
  return &joints[j];
}

static inline void joint_model(const joint_case *joint, bool plane, char text[MODEL_TEXT]) {
  const char *axis = joint->lying ? ", axis: [1, 0, 0]" : "";
  const int   n    = plane ? snprintf(text, MODEL_TEXT, planar, axis, axis, joint->kind, joint->end)
                           : snprintf(text, MODEL_TEXT, spatial, joint->kind, joint->end);
  assert_true(n > 0 && n < MODEL_TEXT);
}

/* States of both bodies at the end. */
static inline int states(const cosim *c, bool plane, double z[MAX_STATES]) {
  static const char *const names[2][14] = {
      {"x", "y", "z", "q0", "q1", "q2", "q3", "vx", "vy", "vz", "wx", "wy", "wz", NULL},
      {"x", "y", "angle", "vx", "vy", "omega", NULL}};
  int n = 0;
  for (int body = 0; body < 2; ++body) {
    for (int i = 0; names[plane][i] != NULL; ++i) {
      char name[16];
      snprintf(name, sizeof name, "%s.%s", body == 0 ? "a" : "b", names[plane][i]);
      z[n++] = cosim_value(c, name);
    }
  }
  return n;
}

static inline double distance(int n, const double *a, const double *b) {
  double largest = 0.0;
  for (int i = 0; i < n; ++i) largest = fmax(largest, fabs(a[i] - b[i]));
  return largest;
}

#endif
