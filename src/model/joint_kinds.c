#include "model/joint_kinds.h"

#include <string.h>

/* Joints as lists of basic rows. Axis pairs are regular at the assembled position: x1.z2 and y1.z2 keep z1 and z2
 * parallel, x1.y2 stops the rotation about them. */
#define POINT_ROWS                                                                                                     \
  {YOKE_ROW_POINT, 0, 0}, {YOKE_ROW_POINT, 1, 0}, {                                                                    \
    YOKE_ROW_POINT, 2, 0                                                                                               \
  }
#define PARALLEL_ROWS                                                                                                  \
  {YOKE_ROW_PERPENDICULAR, 0, 2}, {                                                                                    \
    YOKE_ROW_PERPENDICULAR, 1, 2                                                                                       \
  }
#define NO_TURN_ROW                                                                                                    \
  { YOKE_ROW_PERPENDICULAR, 0, 1 }
#define LINE_ROWS                                                                                                      \
  {YOKE_ROW_INPLANE, 0, 0}, {                                                                                          \
    YOKE_ROW_INPLANE, 1, 1                                                                                             \
  }

static const struct {
  yoke_connection_kind kind;
  int                  n;
  yoke_row             rows[6];
} composition[] = {
    {YOKE_CONNECTION_ATPOINT, 3, {POINT_ROWS}},
    {YOKE_CONNECTION_SPHERICAL, 3, {POINT_ROWS}},
    {YOKE_CONNECTION_INPLANE, 1, {{YOKE_ROW_INPLANE, 2, 2}}},
    {YOKE_CONNECTION_PERPENDICULAR, 1, {{YOKE_ROW_PERPENDICULAR, 2, 2}}},
    {YOKE_CONNECTION_REVOLUTE, 5, {POINT_ROWS, PARALLEL_ROWS}},
    {YOKE_CONNECTION_UNIVERSAL, 4, {POINT_ROWS, {YOKE_ROW_PERPENDICULAR, 2, 2}}},
    {YOKE_CONNECTION_CYLINDRICAL, 4, {PARALLEL_ROWS, LINE_ROWS}},
    {YOKE_CONNECTION_TRANSLATIONAL, 5, {PARALLEL_ROWS, NO_TURN_ROW, LINE_ROWS}},
    {YOKE_CONNECTION_PLANAR, 3, {PARALLEL_ROWS, {YOKE_ROW_INPLANE, 2, 2}}},
    {YOKE_CONNECTION_INLINE, 2, {LINE_ROWS}},
    {YOKE_CONNECTION_ORIENTATION, 3, {PARALLEL_ROWS, NO_TURN_ROW}},
    {YOKE_CONNECTION_FIXED, 6, {POINT_ROWS, PARALLEL_ROWS, NO_TURN_ROW}},
    {YOKE_CONNECTION_DISTANCE, 1, {{YOKE_ROW_DISTANCE, 0, 0}}},
    {YOKE_CONNECTION_TANGENT, 2, {{YOKE_ROW_SLOPE, 0, 0}, {YOKE_ROW_SLOPE, 1, 1}}},
};

int yoke_joint_rows(yoke_connection_kind kind, yoke_row rows[6]) {
  for (size_t i = 0; i < sizeof composition / sizeof composition[0]; ++i) {
    if (composition[i].kind != kind) continue;
    memcpy(rows, composition[i].rows, sizeof composition[i].rows);
    return composition[i].n;
  }
  return 0;
}

bool yoke_joint_coordinate_row(yoke_connection_kind kind, yoke_row *row) {
  switch (kind) {
  case YOKE_CONNECTION_REVOLUTE:
  case YOKE_CONNECTION_CYLINDRICAL: *row = (yoke_row){YOKE_ROW_ANGLE, 0, 0}; return true;
  case YOKE_CONNECTION_TRANSLATIONAL: *row = (yoke_row){YOKE_ROW_ALONG, 2, 2}; return true;
  default: return false;
  }
}

/* Does a row, or the coordinate behind the rows of a joint, turn? */
static bool row_turns(const yoke_connection *connection, int row) {
  enum { BUSHING_TRANSLATIONS = 3 };
  yoke_row  rows[6], coordinate;
  const int n = yoke_joint_rows(connection->kind, rows);
  if (connection->kind == YOKE_CONNECTION_TORSION_SPRING) return true;
  if (connection->kind == YOKE_CONNECTION_BUSHING) return row >= BUSHING_TRANSLATIONS;
  if (row < n) return rows[row].kind == YOKE_ROW_PERPENDICULAR || rows[row].kind == YOKE_ROW_SLOPE;
  return yoke_joint_coordinate_row(connection->kind, &coordinate) && coordinate.kind == YOKE_ROW_ANGLE;
}

void yoke_connection_row_units(const yoke_connection *connection, int row, const char **force, const char **violation) {
  yoke_row   rows[6];
  const bool is_cosine = !connection->flexible && row < yoke_joint_rows(connection->kind, rows);
  const bool turns     = row_turns(connection, row);
  *force               = turns ? "N m" : "N";
  *violation           = !turns ? "m" : is_cosine ? "1" : "rad";
}
