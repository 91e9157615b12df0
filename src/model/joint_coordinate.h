/* Coordinates of joints by their kind: 0 is the angle of revolute and cylindrical joints, 1 the distance of translational and cylindrical ones. */
#ifndef YOKE_MODEL_JOINT_COORDINATE_H
#define YOKE_MODEL_JOINT_COORDINATE_H

#include "frames/coordinate.h"
#include "model/model.h"

enum { YOKE_COORDINATE_ANGLE, YOKE_COORDINATE_DISTANCE, YOKE_N_COORDINATES };

bool yoke_joint_has_coordinate(yoke_connection_kind kind, int coordinate);

/* Between poses 0 and 1 of the bodies of the connection's two ends. Angles in the plane are counted over full turns from the one in
 * (-pi, pi] that was drawn, others are in (-pi, pi]. */
void yoke_joint_coordinate(const yoke_model *model, const yoke_connection *connection, int coordinate,
                           yoke_coordinate *out);

#endif
