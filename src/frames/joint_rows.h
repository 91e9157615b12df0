/* Joint rows: the scalar functions s(q) of two frames from which joints and two-body forces are built.
 *
 * A link is two frames on two bodies, each thought of as a body with six freedoms (centre of mass r and velocity v in
 * inertial axes; small rotations phi and angular velocity w here also in inertial axes, so that d(R c) = dphi x R c).
 * Every row gives
 *   value     s
 *   gradient  ds = grad . (dr1, dphi1, dr2, dphi2)          grad = (n, t1, -n, t2), [12]
 *   rate      s' = grad . V,  V = (v1, w1, v2, w2)
 *   gamma     s'' = grad . (v1', R1 omega1', v2', R2 omega2') + gamma
 *   hessian   d(grad) = H (dr1, dphi1, dr2, dphi2), [12, 12], hence gamma = V . H V
 * With D = C1 - C2 the vector from origin 2 to origin 1 and e1, e2 axes of the frames (Lu 2015, 2.2.2):
 *   point k       D_k                   stretch        -D_x (one-dimensional masses)
 *   inplane k     D . e2_k              along k        -D . e1_k   (position of frame 2 on axis k of frame 1)
 *   perpendicular e1_k . e2_l           distance       |D|
 *   angle         of x2 about z1, atan2(y1 . x2, x1 . x2)
 *   turn          angle2 - angle1 of planar bodies, counted over full turns
 *   rotation k    component k of the rotation vector of frame 2 against frame 1, in axes of frame 1
 *   slope k       C1 . e2_k: body 1 is a direction, whose "place" C1 is a vector without origin
 *   carried k     force along axis k of frame l + 1 at both origins, as that of a point row; carried turn k: moment about it
 * Carried rows are directions of multipliers only: no condition is stated by them, so they have neither value nor gamma, and `hessian` is the
 * derivative of their directions.
 * The force that belongs to a row and to a multiplier lambda is lambda grad: it does the power lambda s'. */
#ifndef YOKE_FRAMES_JOINT_ROWS_H
#define YOKE_FRAMES_JOINT_ROWS_H

#include "frames/port_shape.h"
#include <stddef.h>

typedef struct yoke_link {
  int    node[2];      /* which pose */
  double origin[2][3]; /* from the centre of mass, body axes */
  double axes[2][9];   /* columns are unit vectors, body axes */
} yoke_link;

typedef enum yoke_row_kind {
  YOKE_ROW_POINT,
  YOKE_ROW_STRETCH,
  YOKE_ROW_INPLANE,
  YOKE_ROW_ALONG,
  YOKE_ROW_PERPENDICULAR,
  YOKE_ROW_DISTANCE,
  YOKE_ROW_ANGLE,
  YOKE_ROW_TURN,
  YOKE_ROW_ROTATION,
  YOKE_ROW_CARRIED,
  YOKE_ROW_CARRIED_TURN,
  YOKE_ROW_SLOPE
} yoke_row_kind;

typedef struct yoke_row {
  yoke_row_kind kind;
  int           k, l; /* axis of frame 1 (or the only axis), axis of frame 2; carried: axis and frame, 0 or 1 */
} yoke_row;

/* Vectors of a link in inertial axes at one instant. */
typedef struct yoke_link_state {
  double p[2][3];    /* R origin */
  double e[2][3][3]; /* e[side][axis] */
  double w[2][3];
  double D[3];                /* C1 - C2 */
  double Dd[3];               /* D' */
  double Ddd[3];              /* D'' without the accelerations of the bodies */
  double C[3], Cd[3], Cdd[3]; /* the same of origin 1 alone */
  double v[2][3];
  double turn; /* angle2 - angle1 */
} yoke_link_state;

void yoke_link_state_set(const yoke_link *link, const yoke_pose *poses, yoke_link_state *out);
/* As far as these rows read it: `e` is left out where none has axes. */
void yoke_link_state_for(const yoke_link *link, int n, const yoke_row *rows, const yoke_pose *poses,
                         yoke_link_state *out);

/* Value and gradient; returns s. */
double yoke_row_gradient(const yoke_row *row, const yoke_link_state *x, double grad[12]);

/* gamma; all kinds but YOKE_ROW_ROTATION and carried ones. */
double yoke_row_gamma(const yoke_row *row, const yoke_link_state *x);

/* H += factor * hessian, row major [12, 12]. */
void yoke_row_hessian_add(const yoke_row *row, const yoke_link_state *x, double factor, double H[144]);

/* Derivatives of s'' = grad . A + gamma of n rows with respect to (dr1, dphi1, dr2, dphi2, dv1, R1 domega1, dv2, R2 domega2), [24] each, for
 * fixed v1', v2' and body-frame omega1', omega2' in A [12] (NULL: 0, which leaves gamma). All kinds but YOKE_ROW_ROTATION. */
void yoke_rows_second_gradient(int n, const yoke_row *rows, const yoke_link_state *x, const double *A, double (*d)[24]);

/* Derivative of the rate s' with respect to (dr1, dphi1, dr2, dphi2) for fixed v and fixed body-frame omega, [12]. */
void yoke_row_rate_gradient(const yoke_row *row, const yoke_link_state *x, const double grad[12], double h[12]);

/* grad . V */
double yoke_row_rate(const double grad[12], const yoke_link_state *x);

/* The carried row of frame `carrier` (0 or 1) that bears what this one bears in a closed joint together with its companions: those of the point, or of
 * x1.z2 and y1.z2 with or without x1.y2. False: there is none. */
bool yoke_row_carried(const yoke_row *row, int carrier, yoke_row *out);

/* Does a row move no freedom of two frames of these shapes, wherever they are? NULL: the ground. Tried at fixed pseudo-random
 * places; the nodes of the link are not used. */
bool yoke_row_is_idle(const yoke_row *row, const yoke_link *link, const yoke_port_shape *const shape[2]);

/* "atpoint x", "perpendicular xz", ... */
void yoke_row_label(const yoke_row *row, char *label, size_t size);

/* Is s a length [m], else an angle or a cosine? */
bool yoke_row_is_length(const yoke_row *row);

#endif
