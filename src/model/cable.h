/* Cables of gradient-deficient ANCF elements (flexible.h says what the calls do). Nodes have r and the slope r_x; between two of them
 *   r(x) = S1 r_1 + S2 r_x1 + S3 r_2 + S4 r_x2,   xi = x / L,
 *   S1 = 1 - 3 xi^2 + 2 xi^3,  S2 = L (xi - 2 xi^2 + xi^3),  S3 = 3 xi^2 - 2 xi^3,  S4 = L (xi^3 - xi^2),
 * and the strain energy is 1/2 E A int e^2 dx + 1/2 E I int kappa^2 dx with e = (r_x . r_x - 1) / 2 and
 * kappa = |r_x x r_xx| / |r_x|^3, by Gauss points of their own. Nothing is stored in torsion. */
#ifndef YOKE_MODEL_CABLE_H
#define YOKE_MODEL_CABLE_H

#include "model/flexible.h"

enum { YOKE_CABLE_MOST_POINTS = 6 }; /* of Gauss */

void yoke_cable_mass(const yoke_cable *cable, yoke_flexible_entry *entry, void *user); /* stride 3 */
void yoke_cable_force(const yoke_cable *cable, const double gravity[3], const double *q, const double *v, double *f);
void yoke_cable_jacobian(const yoke_cable *cable, const double *q, const double *v, yoke_flexible_block *block,
                         void *user);
void yoke_cable_energy(const yoke_cable *cable, const double gravity[3], const double *q, const double *v,
                       double *kinetic, double *potential);
void yoke_cable_power_lost(const yoke_cable *cable, const double *q, const double *v, double *lost);

#endif
