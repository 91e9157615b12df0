/* A frame in the plane z = 0; its angle counts over full turns. */
#include "frames/port_shape.h"

#include <math.h>

static const yoke_shape_p p[] = {{"x", "m", 0x01, 0}, {"y", "m", 0x02, 1}, {"angle", "rad", 0x20, 2}};
static const yoke_shape_v v[] = {
    {0, "vx", "m/s", "ax", "m/s^2"}, {1, "vy", "m/s", "ay", "m/s^2"}, {5, "omega", "rad/s", "alpha", "rad/s^2"}};
static const int integral_of[] = {0, 1, 2};

static void orient(const yoke_port_shape *shape, const double *at, yoke_pose *pose) {
  (void)shape;
  const double angle = at[2], c = cos(angle), s = sin(angle); /* side by side: one call */
  pose->angle = angle;
  pose->R[0] = pose->R[4] = c;
  pose->R[3]              = s;
  pose->R[1]              = -s;
}

const yoke_port_shape yoke_shape_plane = {.name        = "plane",
                                          .n_p         = 3,
                                          .n_v         = 3,
                                          .n_integrals = 3,
                                          .p           = p,
                                          .v           = v,
                                          .integral_of = integral_of,
                                          .orient      = orient};
