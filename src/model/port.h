/* Port: a frame through which a subsystem is coupled, and the motion it shows.
 *
 * The kind of the frame's body decides the components (C is the frame's origin, all in inertial axes):
 *   kind                p                          v                    integral
 *   mass1d, chain       x                          vx                   x
 *   planar              x y angle                  vx vy omega          x y angle
 *   particle            x y z                      vx vy vz             x y z
 *   rigid, ground       x y z q0 q1 q2 q3          vx vy vz wx wy wz    x y z
 * q: Euler parameters of the frame's axes, w: angular velocity in INERTIAL axes.
 * The outputs y of a port are p, v, the accelerations v' and the integrals of the positions since the start of the
 * subsystem's present macro step, in this order.
 * Behind them come extras, for the ports of rigid joints that ask for them (n rows that both bodies can feel):
 *   reaction           mu of the rows [n], of a side whose rows are guided (multibody.h); else 0
 *   compliance         W [n, n] = grad . (accelerations under unit multipliers), own joints honoured, no row guided
 *   local compliance   the same for the body of the port alone, without joints
 *   image              acceleration [6, by freedom] that the port would have if it were at its image: p and v that inputs
 *                      give it (an extrapolation of its own motion)
 * A wrench on a port has nv components: force and moment about C in inertial axes, those that the kind can feel. */
#ifndef YOKE_MODEL_PORT_H
#define YOKE_MODEL_PORT_H

#include "model/joint_rows.h"

enum { YOKE_PORT_MAX_P = 7, YOKE_PORT_MAX_V = 6, YOKE_PORT_MAX_Y = 22 };

/* Extras of a port, a set of bits; behind the outputs of its kind in this order. */
enum { YOKE_EXTRA_REACTION = 1, YOKE_EXTRA_COMPLIANCE = 2, YOKE_EXTRA_LOCAL_COMPLIANCE = 4, YOKE_EXTRA_IMAGE = 8 };

/* How many outputs extras are for a joint with n rows. */
int yoke_port_n_extras(int extras, int n_rows);

int yoke_port_n_p(yoke_body_kind kind);         /* 1, 3, 3, 7 */
int yoke_port_n_v(yoke_body_kind kind);         /* 1, 3, 3, 6 */
int yoke_port_n_integrals(yoke_body_kind kind); /* 1, 3, 3, 3 */
int yoke_port_n_y(yoke_body_kind kind);         /* n_p + 2 n_v + n_integrals, without extras */

/* One direction at a port: a wrench [n_v] in the components of its kind. An impulse kappa along it is kappa times this wrench. */
typedef struct yoke_port_row {
  int    port;
  double wrench[YOKE_PORT_MAX_V];
} yoke_port_row;

/* Which of the six freedoms (force x y z, moment x y z) component k of v or of a wrench is. */
int yoke_port_freedom(yoke_body_kind kind, int k);

/* Does component k of p belong to the orientation, else it is a coordinate of the origin. */
bool yoke_port_p_turns(yoke_body_kind kind, int k);

/* Names and units of the components of p, v: "x", "q0", "omega"; "m", "1", "rad/s". */
const char *yoke_port_p_name(yoke_body_kind kind, int k);
const char *yoke_port_v_name(yoke_body_kind kind, int k);

/* Pose of a body that sits in the frame, from p and v (Euler parameters are normalised). v NULL: at rest. */
void yoke_port_pose(yoke_body_kind kind, const double *p, const double *v, yoke_pose *pose);

/* How p changes with the tangent (dC, dphi; inertial axes) of the frame: dp = T d, T [n_p, n_v] row major at p. Also p' = T v. */
void yoke_port_tangent(yoke_body_kind kind, const double *p, double *T);

#endif
