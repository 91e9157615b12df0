/* Macro grid: where macro steps of a given length end.
 *
 *   T_N = t_start + N H, computed from N and never summed (invariant 4 of the design);
 *   graded start (Kraft, listing 5.1): steps of `share` 2^n H until the next would pass 2 H, one step to 2 H, then the grid;
 *   switching times of loads and of events of time alone are macro points besides, and so is the end.
 * Points nearer than `merge` H are one: a switch, then the end, takes the place of a point of the grid. The end does so within 1e-3 H:
 * the last step takes a short rest along. */
#ifndef YOKE_MASTER_MACRO_GRID_H
#define YOKE_MASTER_MACRO_GRID_H

#include "frames/switches.h"
#include <stdint.h>

typedef enum yoke_point_kind { YOKE_POINT_GRID, YOKE_POINT_SWITCH, YOKE_POINT_END } yoke_point_kind;

typedef struct yoke_macro_grid {
  double               t_start, H;
  double               share;    /* of H, of the first graded step; 0: no graded start */
  double               merge;    /* 1e-6 */
  const yoke_switches *switches; /* kept; NULL: none */
  int64_t              n;        /* number of the last point of the regular grid that was passed */
  int64_t              n_graded; /* graded steps that are done */
} yoke_macro_grid;

yoke_macro_grid yoke_macro_grid_make(double t_start, double H, double share, const yoke_switches *switches);

/* Where a step from t ends. The grid itself does not change: a step may be tried again. */
double yoke_macro_grid_next(const yoke_macro_grid *grid, double t, double t_end, yoke_point_kind *kind);

/* A step that ended at t was accepted. */
void yoke_macro_grid_accept(yoke_macro_grid *grid, double t);

/* Is t behind the last point that was passed, and not behind the next? */
bool yoke_macro_grid_is_at(const yoke_macro_grid *grid, double t);

/* For steps of any length: the latest end of a step from t that would like to end at t + H. A stop less than a tenth of H behind that
 * is reached by two steps of equal length. */
double yoke_macro_grid_limit(const yoke_switches *switches, double t, double H, double t_end, yoke_point_kind *kind);

#endif
