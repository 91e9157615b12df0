/* A point in space: particles. */
#include "frames/port_shape.h"

static const yoke_shape_p p[] = {{"x", "m", 0x01, 0}, {"y", "m", 0x02, 1}, {"z", "m", 0x04, 2}};
static const yoke_shape_v v[] = {
    {0, "vx", "m/s", "ax", "m/s^2"}, {1, "vy", "m/s", "ay", "m/s^2"}, {2, "vz", "m/s", "az", "m/s^2"}};
static const int integral_of[] = {0, 1, 2};

const yoke_port_shape yoke_shape_point = {
    .name = "point", .n_p = 3, .n_v = 3, .n_integrals = 3, .p = p, .v = v, .integral_of = integral_of};
