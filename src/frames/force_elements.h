/* Force elements between two frames: springs, torsion springs, bushings and flexible joints. Each is a list of joint rows
 * (joint_rows.h) whose value x = s - offset is resisted by a force:
 *   generalised force = -F(x, x', t) grad,   F from a law, or F = c x + d x'.
 * An element of a rod (rod_element.h) between the two bodies themselves has no rows, but six forces and strains. */
#ifndef YOKE_FRAMES_FORCE_ELEMENTS_H
#define YOKE_FRAMES_FORCE_ELEMENTS_H

#include "frames/joint_rows.h"
#include "frames/law.h"
#include "frames/rod_element.h"

typedef struct yoke_force_element {
  yoke_link       link;
  int             connection; /* number that its owner knows it by */
  int             n;          /* rows, <= 6; of an element of a rod its forces, 6 */
  yoke_row        row[6];
  double          offset[6];                /* free length or angle */
  double          stiffness[6], damping[6]; /* used when law is NULL */
  const yoke_law *law;                      /* kept; NULL: linear */
  yoke_law_room  *room; /* of a law that reads further numbers, filled by who evaluates it; NULL: it reads none */
  const yoke_rod_element *rod; /* kept; NULL: rows */
} yoke_force_element;

/* wrench [n_nodes, 6] += force and moment on the bodies, inertial axes. */
void yoke_force_element_apply(const yoke_force_element *element, const yoke_pose *poses, double t, double *wrench);

/* Force f [12] and its derivatives with respect to (dr1, dphi1, dr2, dphi2), K [12, 12], and
 * (dv1, R1 domega1, dv2, R2 domega2), D [12, 12]; inertial axes, overwritten. */
void yoke_force_element_jacobian(const yoke_force_element *element, const yoke_pose *poses, double t, double f[12],
                                 double K[144], double D[144]);

/* Adds the stored energy [J] and the power lost in dampers [W]; NULL: it is not asked for. */
void yoke_force_element_energy(const yoke_force_element *element, const yoke_pose *poses, double t, double *potential,
                               double *power_lost);
/* Can that power be other than 0? */
bool yoke_force_element_loses(const yoke_force_element *element);

/* F and x of every row. */
void yoke_force_element_output(const yoke_force_element *element, const yoke_pose *poses, double t, double *force,
                               double *deflection);

/* Is F linear in x and x' for all motions of one-dimensional masses? */
bool yoke_force_element_is_linear(const yoke_force_element *element);

#endif
