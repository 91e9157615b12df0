/* Joint lanes: joints of one kind in space, eight side by side, and what their rows are where their bodies are.
 *
 * A tree goes from body to body, but what a joint needs from the poses of its two bodies waits for no other joint. The rows are three of inertial axes,
 * then the cosines of a revolute joint or none of a spherical one (multibody_tree.c has them one by one, the same to the bit). */
#ifndef YOKE_MODEL_JOINT_LANES_H
#define YOKE_MODEL_JOINT_LANES_H

#include "frames/pose.h"
#include <stdbool.h>

enum { YOKE_JOINT_LANES = 8 };
typedef double yoke_lane[YOKE_JOINT_LANES];

/* Which joints: constant. Lanes without a joint hold one of the others again. Ends: the child, the parent. */
typedef struct yoke_joint_lanes {
  bool      is_revolute; /* else spherical */
  int       n;
  int       node[2][YOKE_JOINT_LANES];
  yoke_lane origin[2][3];
  yoke_lane axis[2][2][3]; /* of both ends of both cosines, body axes */
  yoke_lane inertia[9];    /* of the child, body axes */
} yoke_joint_lanes;

/* In inertial axes. */
typedef struct yoke_joint_view {
  yoke_lane arm[2][3];  /* from the centres of mass to the joint */
  yoke_lane known[6];   /* acceleration of the child over that of the parent, at the joint: its rows ask for that */
  yoke_lane inertia[6]; /* R J R^T of the child: 00 01 02 11 12 22 */
  yoke_lane s[3];       /* revolute: the axis, of any length; across the gradients of the cosines */
  yoke_lane turn_dual[2][3];  /* the basis dual to these */
  yoke_lane cross2, product2; /* |t1 x t2|^2 and |t1|^2 |t2|^2 of the gradients: how independent they are */
} yoke_joint_view;

void yoke_joint_lanes_view(const yoke_joint_lanes *joints, const yoke_pose *poses, yoke_joint_view *restrict out);

#endif
