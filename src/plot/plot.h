/* Plots: figures of panels side by side, written as SVG. Lines are told apart by dashes and marks as well as by colour, shades of
 * maps by lightness, so that a figure can be printed in black and white. The same figure gives the same bytes. */
#ifndef YOKE_PLOT_PLOT_H
#define YOKE_PLOT_PLOT_H

#include <yoke/context.h>
#include <stdbool.h>

typedef struct yoke_plot_axis {
  const char *caption; /* with unit: "macro step H [s]" */
  bool        is_log;
  bool        is_count; /* whole numbers: marks at them alone, and half a unit of room */
  double      from, to; /* equal: by the data; from > to is drawn as [to, from] */
} yoke_plot_axis;

typedef struct yoke_plot_series {
  const char   *label; /* NULL: not in the legend */
  int           n;
  const double *x, *y; /* values that are not finite (log: not positive) leave a gap */
  bool          has_marks;
  bool          is_stair; /* each value holds until the next abscissa */
  int           style;    /* number of its colour, dashes and mark, from 0 */
  int           dash;     /* number of its dashes from 1; 0: those of its style */
} yoke_plot_series;

/* Triangle that shows a slope on log-log axes: from (x, y) to (x factor, y factor^slope). */
typedef struct yoke_plot_slope {
  double x, y, factor, slope;
} yoke_plot_slope;

enum { YOKE_PLOT_MAX_LEVELS = 6 };

/* Values on an equidistant grid over both axes (equidistant in the logarithm where an axis is logarithmic), shown as cells
 * in shades; NaN is hatched. Node (0, 0) is at (x.from, y.from). */
typedef struct yoke_plot_map {
  int           nx, ny;
  const double *values;                       /* [ny, nx] */
  int           n_levels;                     /* shades: up to levels[0], up to levels[1], ..., above the last */
  double        levels[YOKE_PLOT_MAX_LEVELS]; /* increasing */
  bool          has_line;                     /* draw the line value = levels[0] */
} yoke_plot_map;

typedef struct yoke_plot_panel {
  const char             *title; /* NULL: none */
  yoke_plot_axis          x, y;
  int                     n_series;
  const yoke_plot_series *series;
  int                     n_slopes;
  const yoke_plot_slope  *slopes;
  int                     n_points, n_lines;
  const double           *points;    /* [n_points] abscissas with a short mark at the lower edge */
  const double           *lines;     /* [n_lines] with a dashed line over the whole height */
  const yoke_plot_map    *map;       /* NULL: none; needs x.from != x.to, y.from != y.to */
  const char             *empty;     /* not NULL: nothing is drawn but this text */
  bool                    is_absent; /* the place stays white */
} yoke_plot_panel;

typedef struct yoke_plot_figure {
  const char            *title;
  const char            *description; /* read by screen readers; NULL: none */
  int                    n_columns, n_rows;
  double                 width, height;    /* of the drawing area of a panel [pt]; 0: by the number of columns */
  bool                   has_side_legends; /* every panel has its own, on its right; else one below all. One column */
  const yoke_plot_panel *panels;           /* [n_rows * n_columns], row by row */
  /* Names of the shades of maps for the legend, n_levels + 1 of them; NULL: none. */
  const char *const     *shades;
  const char            *line_label; /* of the line of maps; NULL: not in the legend */
} yoke_plot_figure;

/* An existing file is replaced. YOKE_E_IO: it cannot be written; YOKE_E_MEMORY. */
yoke_status yoke_plot_write(yoke_context *ctx, const char *path, const yoke_plot_figure *figure);

/* The same as a text that the caller frees. Gives; NULL when out of memory. */
char *yoke_plot_text(const yoke_plot_figure *figure);

#endif
