/* A port shape of a test's own, wider than those of the list: a frame in space whose Euler parameters are q = qa + qb, eleven positions.
 *   q' = 1/2 Ebar(q) w, one half of it in qa and one in qb;   dphi = 2 Ebar(q)^T (dqa + dqb) / |q|^2. */
#ifndef YOKE_TESTS_COUPLING_WIDE_SHAPE_H
#define YOKE_TESTS_COUPLING_WIDE_SHAPE_H

#include "frames/port_shape.h"
#include "linalg/space.h"

enum { WIDE_P = 11, WIDE_V = 6, WIDE_Y = WIDE_P + 2 * WIDE_V + 3 };

static inline void wide_parameters(const double *p, double q[4]) {
  for (int k = 0; k < 4; ++k) q[k] = p[3 + k] + p[7 + k];
}

static inline void wide_orient(const yoke_port_shape *shape, const double *p, yoke_pose *pose) {
  double q[4];
  (void)shape;
  wide_parameters(p, q);
  if (quaternion_norm2(q) > 0.0) quaternion_rotation(pose->R, q);
}

static inline void wide_tangent(const yoke_port_shape *shape, const double *p, double *T) {
  double q[4], E[12];
  (void)shape;
  wide_parameters(p, q);
  quaternion_Ebar(E, q);
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 3; ++j) T[(3 + i) * WIDE_V + 3 + j] = 0.25 * E[3 * (i % 4) + j];
  }
}

static inline void wide_left_inverse(const yoke_port_shape *shape, const double *p, double *L) {
  double q[4], E[12];
  (void)shape;
  wide_parameters(p, q);
  quaternion_Ebar(E, q);
  for (int k = 0; k < 3; ++k) {
    for (int j = 0; j < 8; ++j) L[(3 + k) * WIDE_P + 3 + j] = 2.0 * E[3 * (j % 4) + k] / quaternion_norm2(q);
  }
}

static const yoke_shape_p wide_p[WIDE_P] = {{"x", "m", 0x01, 0},    {"y", "m", 0x02, 1},    {"z", "m", 0x04, 2},
                                            {"qa0", "1", 0x38, -1}, {"qa1", "1", 0x38, -1}, {"qa2", "1", 0x38, -1},
                                            {"qa3", "1", 0x38, -1}, {"qb0", "1", 0x38, -1}, {"qb1", "1", 0x38, -1},
                                            {"qb2", "1", 0x38, -1}, {"qb3", "1", 0x38, -1}};
static const yoke_shape_v wide_v[WIDE_V] = {
    {0, "vx", "m/s", "ax", "m/s^2"},         {1, "vy", "m/s", "ay", "m/s^2"},
    {2, "vz", "m/s", "az", "m/s^2"},         {3, "wx", "rad/s", "alphax", "rad/s^2"},
    {4, "wy", "rad/s", "alphay", "rad/s^2"}, {5, "wz", "rad/s", "alphaz", "rad/s^2"}};
static const int wide_integral_of[] = {0, 1, 2};

static const yoke_port_shape shape_wide = {.name         = "wide",
                                           .n_p          = WIDE_P,
                                           .n_v          = WIDE_V,
                                           .n_integrals  = 3,
                                           .p            = wide_p,
                                           .v            = wide_v,
                                           .integral_of  = wide_integral_of,
                                           .orient       = wide_orient,
                                           .tangent      = wide_tangent,
                                           .left_inverse = wide_left_inverse};

#endif
