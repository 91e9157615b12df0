/* Pose: where a body or a frame is, and how it moves. */
#ifndef YOKE_FRAMES_POSE_H
#define YOKE_FRAMES_POSE_H

typedef struct yoke_pose {
  double r[3], R[9]; /* origin (bodies: centre of mass); own to inertial axes, row major */
  double v[3], w[3]; /* velocity of the origin; angular velocity in INERTIAL axes */
  double angle;      /* what turns about z alone: about z, counted over full turns; else 0 */
} yoke_pose;

#endif
