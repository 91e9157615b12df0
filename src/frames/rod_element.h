/* Element of a geometrically exact rod between two neighbouring frames of it (docs/methods/flexible.md).
 *
 * The element measures, in axes that move with the rod,
 *   the edge       c = R_o^T (r2 - r1) / l,  Gamma = c - e3          two shears and the extension
 *   the curvature  K = (2 / k) Im(conj(p1) p2)                       two bendings and the torsion, [1/m]
 * where o is the side whose frame belongs to the edge, l and k are the lengths for which the two stand, and p1, p2 the Euler parameters of
 * the frames, with the sign that makes the rotation between them the smaller one. It resists by
 *   n = C_G (Gamma - Gamma0) + D_G Gamma',  m = C_K (K - K0) + D_K K',
 * stores l/2 (Gamma - Gamma0).C_G (Gamma - Gamma0) + k/2 (K - K0).C_K (K - K0) and loses l Gamma'.D_G Gamma' + k K'.D_K K'. */
#ifndef YOKE_FRAMES_ROD_ELEMENT_H
#define YOKE_FRAMES_ROD_ELEMENT_H

#include "frames/port_shape.h"

typedef struct yoke_rod_element {
  int    owner;        /* side whose frame belongs to the edge, 0 or 1 */
  double edge, bend;   /* l, k [m] */
  double stiffness[6]; /* C_G [N]: shear along d1, d2, extension; C_K [N m^2]: bending about d1, d2, torsion */
  double damping[6];   /* D_G [N s], D_K [N m^2 s] */
  double natural[6];   /* Gamma0, K0 [1/m] */
} yoke_rod_element;

/* f [12] := forces and moments on the two bodies, inertial axes. */
void yoke_rod_element_force(const yoke_rod_element *el, const yoke_pose *a, const yoke_pose *b, double f[12]);

/* Derivatives of f as those of force elements (force_elements.h), K and D [12, 12], overwritten. */
void yoke_rod_element_jacobian(const yoke_rod_element *el, const yoke_pose *a, const yoke_pose *b, double f[12],
                               double K[144], double D[144]);

/* Adds the stored energy [J] and the power lost in dampers [W]. */
void yoke_rod_element_energy(const yoke_rod_element *el, const yoke_pose *a, const yoke_pose *b, double *potential,
                             double *power_dissipated);

/* Section forces (n, m) [6] and strains (Gamma - Gamma0, K - K0) [6], each may be NULL. */
void yoke_rod_element_output(const yoke_rod_element *el, const yoke_pose *a, const yoke_pose *b, double *force,
                             double *strain);

#endif
