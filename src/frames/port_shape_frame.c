/* A frame in space, its axes by Euler parameters q: q' = 1/2 Ebar(q) w. */
#include "frames/port_shape.h"

#include "linalg/space.h"

enum { AT_Q = 3, AT_W = 3, N_P = 7, N_V = 6 };

static const yoke_shape_p p[N_P]        = {{"x", "m", 0x01, 0},   {"y", "m", 0x02, 1},   {"z", "m", 0x04, 2},
                                           {"q0", "1", 0x38, -1}, {"q1", "1", 0x38, -1}, {"q2", "1", 0x38, -1},
                                           {"q3", "1", 0x38, -1}};
static const yoke_shape_v v[N_V]        = {{0, "vx", "m/s", "ax", "m/s^2"},         {1, "vy", "m/s", "ay", "m/s^2"},
                                           {2, "vz", "m/s", "az", "m/s^2"},         {3, "wx", "rad/s", "alphax", "rad/s^2"},
                                           {4, "wy", "rad/s", "alphay", "rad/s^2"}, {5, "wz", "rad/s", "alphaz", "rad/s^2"}};
static const int          integral_of[] = {0, 1, 2};

/* Parameters that are all 0 (inputs that were never given) leave the axes as they are. */
static void orient(const yoke_port_shape *shape, const double *at, yoke_pose *pose) {
  (void)shape;
  if (quaternion_norm2(at + AT_Q) > 0.0) quaternion_rotation(pose->R, at + AT_Q);
}

static void tangent(const yoke_port_shape *shape, const double *at, double *T) {
  double E[12];
  (void)shape;
  quaternion_Ebar(E, at + AT_Q);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 3; ++j) T[(AT_Q + i) * N_V + AT_W + j] = 0.5 * E[3 * i + j];
  }
}

/* dphi = 2 Ebar(q)^T dq / |q|^2: q need not have norm 1. */
static void left_inverse(const yoke_port_shape *shape, const double *at, double *L) {
  double       E[12];
  const double n2 = quaternion_norm2(at + AT_Q);
  (void)shape;
  quaternion_Ebar(E, at + AT_Q);
  for (int k = 0; k < 3; ++k) {
    for (int j = 0; j < 4; ++j) L[(AT_W + k) * N_P + AT_Q + j] = n2 > 0.0 ? 2.0 * E[3 * j + k] / n2 : 0.0;
  }
}

const yoke_port_shape yoke_shape_frame = {.name         = "frame",
                                          .n_p          = N_P,
                                          .n_v          = N_V,
                                          .n_integrals  = 3,
                                          .p            = p,
                                          .v            = v,
                                          .integral_of  = integral_of,
                                          .orient       = orient,
                                          .tangent      = tangent,
                                          .left_inverse = left_inverse};
