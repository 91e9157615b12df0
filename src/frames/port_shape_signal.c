/* A plain number: no motion, no freedoms. What a port of this shape shows stands behind the outputs of the shape, of which there are none. */
#include "frames/port_shape.h"

const yoke_port_shape yoke_shape_signal = {.name = "signal"};
