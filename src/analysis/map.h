/* Map: a function of two parameters on a grid, points side by side in threads; and where it crosses a limit along one axis. */
#ifndef YOKE_ANALYSIS_MAP_H
#define YOKE_ANALYSIS_MAP_H

#include <yoke/context.h>

#include <stdbool.h>
#include <stddef.h>

/* n equidistant values from `from` to `to`, both included; n = 1: `from`. */
typedef struct yoke_axis {
  double from, to;
  int    n;
} yoke_axis;

double yoke_axis_value(const yoke_axis *axis, int i); /* from + i (to - from) / (n - 1), the ends exactly */

typedef struct yoke_map {
  yoke_axis x, y;
  /* Value at a point. Called from several threads at once, `user` is shared and constant. A failure < 0 ends the map with that status;
   * a failure > 0 (pole, overflow) makes the value INFINITY. */
  yoke_status (*value)(const void *user, double x, double y, double *out);
  const void *user;
  /* Called in one thread at a time with the share done, 0 to 1, now and then; false: stop. May be NULL. */
  bool (*progress)(void *progress_user, double share);
  void *progress_user;
  int   n_threads; /* 0: all cores */
} yoke_map;

/* values[j * x.n + i] at (x_i, y_j). The same bits for any number of threads. YOKE_E_INTERRUPTED: stopped by `progress`; rows not done are NaN. */
yoke_status yoke_map_run(yoke_context *ctx, const yoke_map *map, double *values);

/* A function of one parameter for the searches below. Failures as above. */
typedef yoke_status (*yoke_scan_value)(const void *user, double x, double *out);

typedef struct yoke_scan {
  yoke_scan_value value;
  const void     *user;
  double          first, last; /* scanned upwards from first in equal steps, or by a factor */
  double          step;        /* > 0: x = first + i step */
  double          factor;      /* > 1: x = first factor^i; used when step is 0 */
  double          limit;       /* the value is "beyond" when it is > limit, or not a number */
  double          tolerance;   /* of x, relative to x; 1e-10 when 0 */
} yoke_scan;

/* First x at which the value goes beyond the limit: scanned, then refined by bisection. *onset = first when it is beyond already there,
 * INFINITY when it is not up to `last`. */
yoke_status yoke_scan_onset(yoke_context *ctx, const yoke_scan *scan, double *onset);

#endif
