/* Loads: forces and moments on one body, from expressions of time and states, drag and exponential contact. */
#ifndef YOKE_MODEL_LOADS_H
#define YOKE_MODEL_LOADS_H

#include "frames/joint_rows.h"
#include "model/model.h"

typedef struct yoke_load_element {
  const yoke_load *load; /* kept */
  int              node;
  double           origin[3], axes[9]; /* of the frame, body axes */
} yoke_load_element;

/* wrench [n_nodes, 6] += force and moment, inertial axes. `variables` are those of the model's expressions.
 * YOKE_NON_FINITE when a contact overflows or an expression is not finite. */
yoke_status yoke_load_apply(const yoke_load_element *element, const yoke_pose *poses, const double *variables,
                            double *wrench);

/* f [6] and its derivatives with respect to (dr, dphi), K [6, 6], and (dv, R domega), D [6, 6], inertial axes; overwritten. */
void yoke_load_jacobian(const yoke_load_element *element, const yoke_pose *poses, const double *variables, double f[6],
                        double K[36], double D[36]);

/* Direction of component k of a force or torque load: f = sum_k value_k direction_k, [6] inertial axes. */
void yoke_load_direction(const yoke_load_element *element, const yoke_pose *poses, int k, double direction[6]);

/* Adds the potential energy of a contact [J]; the power lost (drag) and supplied (forces, torques) [W]. */
void yoke_load_energy(const yoke_load_element *element, const yoke_pose *poses, double *potential);
void yoke_load_powers(const yoke_load_element *element, const yoke_pose *poses, const double *variables,
                      double *power_dissipated, double *power_external);

#endif
