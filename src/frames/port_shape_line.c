/* A point on a line along x: masses in one dimension, masses of chains. */
#include "frames/port_shape.h"

static const yoke_shape_p p[]           = {{"x", "m", 0x01, 0}};
static const yoke_shape_v v[]           = {{0, "vx", "m/s", "ax", "m/s^2"}};
static const int          integral_of[] = {0};

const yoke_port_shape yoke_shape_line = {
    .name = "line", .n_p = 1, .n_v = 1, .n_integrals = 1, .p = p, .v = v, .integral_of = integral_of};
