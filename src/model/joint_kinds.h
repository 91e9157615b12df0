/* Joint kinds: the basic rows (joint_rows.h) that each joint is made of. */
#ifndef YOKE_MODEL_JOINT_KINDS_H
#define YOKE_MODEL_JOINT_KINDS_H

#include "frames/joint_rows.h"
#include "model/model.h"

/* Rows of a joint in its own order, at most 6; 0 for force elements. */
int yoke_joint_rows(yoke_connection_kind kind, yoke_row rows[6]);

/* Row of the joint coordinate (revolute and cylindrical: angle; translational: along z). false: none. */
bool yoke_joint_coordinate_row(yoke_connection_kind kind, yoke_row *row);

/* Units of the force of a row and of its violation or deflection: N and m, N m and rad, or 1 for a cosine between axes. */
void yoke_connection_row_units(const yoke_connection *connection, int row, const char **force, const char **violation);

#endif
