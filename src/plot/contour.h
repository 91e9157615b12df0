/* Contours of a function given on a grid: the line f = level (marching squares), and the outline of the cells above a level.
 *
 * The grid has nodes (i, j), i < nx, j < ny, values[j * nx + i]. Coordinates are grid coordinates: node (i, j) lies at x = i, y = j.
 * +infinity counts as a very large value; cells with a NaN at a corner have no line. */
#ifndef YOKE_PLOT_CONTOUR_H
#define YOKE_PLOT_CONTOUR_H

#include <yoke/context.h>
#include <stdbool.h>

/* Several polylines, one after another. */
typedef struct yoke_polylines {
  int     n_lines, n_points;
  int    *first;  /* [n_lines + 1] into points */
  bool   *closed; /* [n_lines] */
  double *x, *y;  /* [n_points] */
  int     line_room, point_room;
} yoke_polylines;
void yoke_polylines_release(yoke_polylines *lines);

/* The line f = level, linear between nodes. Gives (also room for later lines; release in any case). */
yoke_status yoke_contour_line(int nx, int ny, const double *values, double level, yoke_polylines *out);

/* Which cells (one around every node) an outline holds. */
typedef bool (*yoke_cell_test)(double value, double level);
/* Outlines of all cells that pass, closed, corners only: node (i, j) is the square [i - 1/2, i + 1/2] x [j - 1/2, j + 1/2]. To be
 * filled by the even-odd rule. Gives. */
yoke_status yoke_contour_cells(int nx, int ny, const double *values, yoke_cell_test test, double level,
                               yoke_polylines *out);

/* Drop points that lie within `tolerance` of the line through those that stay; x and y are scaled by sx, sy before. Works in
 * place. */
void yoke_polylines_simplify(yoke_polylines *lines, double sx, double sy, double tolerance);

#endif
