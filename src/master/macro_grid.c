#include "master/macro_grid.h"

#include <math.h>

yoke_macro_grid yoke_macro_grid_make(double t_start, double H, double share, const yoke_switches *switches) {
  return (yoke_macro_grid){.t_start = t_start, .H = H, .share = share, .merge = 1e-6, .switches = switches};
}

static double regular(const yoke_macro_grid *grid, int64_t n) {
  return grid->t_start + (double)n * grid->H;
}

static double graded(const yoke_macro_grid *grid, double t) {
  return t + ldexp(grid->share * grid->H, (int)grid->n_graded);
}

static bool is_graded(const yoke_macro_grid *grid) {
  return grid->share > 0.0 && grid->n < 2;
}

/* Share of H that the last step takes along: a multiplier that holds a joint over a step h carries rounding errors divided by h^2,
 * so that a sliver of a step at the end would show forces that nothing feels. */
static const double last_rest = 1e-3;

/* Share of H that steps of any length do not leave over before a stop: a step that is far shorter than its past makes of the gap of a joint that the past
 * has left forces of gap / h^2, which are felt. Two steps share it. */
static const double small_rest = 0.1;

/* `next` is where the step would end; a switch or the end may come before, or so shortly behind that it takes its place. */
static double limited(const yoke_switches *switches, double t, double H, double merge, double next, double t_end,
                      yoke_point_kind *kind) {
  const double rest = merge * H;
  *kind             = YOKE_POINT_GRID;
  if (switches != NULL) {
    const double at = yoke_switches_next(switches, t + rest);
    if (at <= next + rest) {
      next  = at;
      *kind = YOKE_POINT_SWITCH;
    }
  }
  const bool is_end = next > t_end - (*kind == YOKE_POINT_GRID ? last_rest * H : rest);
  if (!is_end) return next;
  *kind = YOKE_POINT_END; /* a rest this short is taken along */
  return t_end;
}

double yoke_macro_grid_next(const yoke_macro_grid *grid, double t, double t_end, yoke_point_kind *kind) {
  double next = regular(grid, grid->n + 1);
  if (is_graded(grid)) next = fmin(graded(grid, t), regular(grid, 2));
  return limited(grid->switches, t, grid->H, grid->merge, next, t_end, kind);
}

void yoke_macro_grid_accept(yoke_macro_grid *grid, double t) {
  const double rest = grid->merge * grid->H;
  if (is_graded(grid)) {
    ++grid->n_graded;
    if (t >= regular(grid, 2) - rest) grid->n = 2;
    return;
  }
  while (regular(grid, grid->n + 1) <= t + rest) ++grid->n;
}

bool yoke_macro_grid_is_at(const yoke_macro_grid *grid, double t) {
  const double rest = grid->merge * grid->H;
  if (grid->n < 0 || grid->n > INT64_MAX / 2 || grid->n_graded < 0 || grid->n_graded > INT32_MAX / 2) return false;
  return regular(grid, grid->n) <= t + rest && (is_graded(grid) || regular(grid, grid->n + 1) > t + rest);
}

double yoke_macro_grid_limit(const yoke_switches *switches, double t, double H, double t_end, yoke_point_kind *kind) {
  const double merge = 1e-6, reach = (1.0 + small_rest) * H;
  const double next = limited(switches, t, H, merge, t + H, t_end, kind);
  if (*kind != YOKE_POINT_GRID) return next;
  yoke_point_kind ahead;
  const double    stop = limited(switches, t, reach, merge, t + reach, t_end, &ahead);
  return ahead == YOKE_POINT_GRID ? next : t + 0.5 * (stop - t);
}
