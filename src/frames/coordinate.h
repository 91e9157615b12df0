/* Coordinate: how far frame 2 has turned or moved against frame 1, as a joint shows it: the value of a row minus an offset. */
#ifndef YOKE_FRAMES_COORDINATE_H
#define YOKE_FRAMES_COORDINATE_H

#include "frames/joint_rows.h"

typedef struct yoke_coordinate {
  yoke_link link;
  yoke_row  row;
  double    offset;
} yoke_coordinate;

/* Value; *rate is its derivative by time. */
double yoke_coordinate_value(const yoke_coordinate *coordinate, const yoke_pose *poses, double *rate);

#endif
