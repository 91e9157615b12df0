/* Port: a frame through which a subsystem is coupled. What it shows and feels is its shape (port_shape.h); here is what comes on top.
 *
 * Behind the outputs of its shape come extras, for the ports of rigid joints that ask for them (n rows that both sides can feel):
 *   reaction           mu of the rows [n], of a side whose rows are guided; else 0
 *   compliance         W [n, n] = grad . (accelerations under unit multipliers), own joints honoured, no row guided
 *   local compliance   the same for the body of the port alone, without joints
 *   image              acceleration [6, by freedom] that the port would have if it were at its image: p and v that inputs
 *                      give it (an extrapolation of its own motion) */
#ifndef YOKE_FRAMES_PORT_H
#define YOKE_FRAMES_PORT_H

#include "frames/port_shape.h"

/* Extras of a port, a set of bits; behind the outputs of its shape in this order. */
enum { YOKE_EXTRA_REACTION = 1, YOKE_EXTRA_COMPLIANCE = 2, YOKE_EXTRA_LOCAL_COMPLIANCE = 4, YOKE_EXTRA_IMAGE = 8 };

/* How many outputs extras are for a joint with n rows. */
int yoke_port_n_extras(int extras, int n_rows);

/* One direction at a port: a wrench [n_v] in the components of its shape. An impulse kappa along it is kappa times this wrench. */
typedef struct yoke_port_row {
  int    port;
  double wrench[YOKE_PORT_MAX_V];
} yoke_port_row;

#endif
