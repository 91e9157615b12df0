/* Levels of a rigid joint between two ports: s, s' and s'' of its rows, their gradients and derivatives. Needs the joint and the shapes of
 * its ports only, so whatever couples it can be watched, reset and shown. With V, A velocities and accelerations of the frames:
 *   s = value - offset,   s' = grad . V,   s'' = grad . A + gamma. */
#ifndef YOKE_COUPLING_JOINT_LEVELS_H
#define YOKE_COUPLING_JOINT_LEVELS_H

#include "frames/joint_rows.h"
#include "frames/port.h"

/* Two frames have six relative freedoms. */
enum { YOKE_JOINT_MAX_ROWS = 6, YOKE_JOINT_LEVELS = 3 };

/* Rows of a rigid joint that crosses a split, between poses 0 and 1 (frames of the ports: zero origins, axes of the connection's ends in the
 * link). Rows that vanish for the shapes of the two ports are already dropped. */
typedef struct yoke_joint_element {
  yoke_link link;
  int       connection; /* of the model */
  int       n, n_own;   /* rows that are kept, and of the joint itself */
  yoke_row  row[YOKE_JOINT_MAX_ROWS];
  int       own[YOKE_JOINT_MAX_ROWS];    /* place of a kept row in the joint's own order */
  double    offset[YOKE_JOINT_MAX_ROWS]; /* s = value - offset */
  int carrier; /* 1 or 2: multipliers are those of the carried rows of this end (joint_rows.h); 0: of the rows themselves */
} yoke_joint_element;

/* The two frames at one instant, with V = (v1, w1, v2, w2) and A = V'. */
typedef struct yoke_joint_frames {
  yoke_link_state link;
  double          V[12], A[12];
} yoke_joint_frames;

/* y: p, v and accelerations of both ports. */
void yoke_joint_frames_set(const yoke_joint_element *joint, const yoke_port_shape *const shape[2],
                           const double *const y[2], yoke_joint_frames *out);

/* s, s', s'' of every row, level[l][row]. */
void yoke_joint_levels(const yoke_joint_element *joint, const yoke_port_shape *const shape[2], const double *const y[2],
                       double level[YOKE_JOINT_LEVELS][YOKE_JOINT_MAX_ROWS]);

/* Share of one side in s'' of the row with number `own` in the joint's own order: grad . A of that side, with gamma on wish. */
double yoke_joint_row_share(const yoke_joint_element *joint, const yoke_port_shape *const shape[2],
                            const double *const y[2], int own, int side, bool with_gamma);

/* Multipliers in the joint's own order, from those of carried rows to those of its own rows or back. Rows of a carrier come with all their
 * companions, and the joint is closed. */
void yoke_joint_turn_force(const yoke_joint_element *joint, const yoke_port_shape *const shape[2],
                           const double *const y[2], bool is_back, double *force);

/* Rows of a state reset, joint->n of them: s, s', and their gradients in the components of the ports' velocities. */
typedef struct yoke_reset_rows {
  double s[YOKE_JOINT_MAX_ROWS], rate[YOKE_JOINT_MAX_ROWS];
  double L[2][YOKE_JOINT_MAX_ROWS][YOKE_PORT_MAX_V];
  double size, speed; /* what |s| and |s'| are measured by: the largest position and velocity of the ports */
} yoke_reset_rows;
void yoke_joint_reset_rows(const yoke_joint_element *joint, const yoke_port_shape *const shape[2],
                           const double *const y[2], yoke_reset_rows *out);

/* Power [W] of the multipliers that each side feels, in the joint's own order: force . L v. */
void yoke_joint_power(const yoke_joint_element *joint, const yoke_port_shape *const shape[2], const double *const y[2],
                      double *const force[2], double power[2]);

/* The same where every row is linear in one coordinate of each port, whatever else these do: those of points, of the angle in the plane, and all between
 * ports that move along x alone. Else, and where rows are carried, it is not such. */
typedef struct yoke_joint_line {
  bool is_such;
  int  p[2][YOKE_JOINT_MAX_ROWS],
      v[2][YOKE_JOINT_MAX_ROWS];        /* place of the coordinate and its rate in y; p -1: the port has none */
  double slope[2][YOKE_JOINT_MAX_ROWS]; /* grad of the kept rows on both sides, along it */
} yoke_joint_line;
void yoke_joint_line_set(const yoke_joint_element *joint, const yoke_port_shape *const shape[2], yoke_joint_line *out);

/* Derivatives of one level of one row by the tangents of the frames (at fixed V and A in inertial axes), V and A. */
typedef struct yoke_level_slopes {
  double x[12], V[12], A[12];
} yoke_level_slopes;
void yoke_row_level_slopes(const yoke_row *row, const yoke_joint_frames *frames,
                           yoke_level_slopes level[YOKE_JOINT_LEVELS]);
/* The same of one side's share in s'' without gamma, grad . A. */
void yoke_row_share_slopes(const yoke_row *row, const yoke_joint_frames *frames, int side, yoke_level_slopes *out);
/* dy += weight * slopes on side `side`, from freedoms of the frame to the components of y = (p, v, v', ...). L [n_v, n_p] is the
 * left inverse of the shape. */
void yoke_level_slopes_add(const yoke_port_shape *shape, int side, const double *L, double weight,
                           const yoke_level_slopes *slopes, double *dy);

#endif
