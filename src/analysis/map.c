/* Rows of the grid are the tasks: each is written by one thread, its values depend on nothing else. */
#include "analysis/map.h"

#include "exec/exec.h"
#include <math.h>
#include <pthread.h>

double yoke_axis_value(const yoke_axis *axis, int i) {
  if (i <= 0 || axis->n <= 1) return axis->from;
  if (i >= axis->n - 1) return axis->to;
  const double share = (double)i / (double)(axis->n - 1);
  return axis->from + share * (axis->to - axis->from);
}

static yoke_status check_axis(yoke_context *ctx, const char *name, const yoke_axis *axis) {
  if (axis->n >= 1 && isfinite(axis->from) && isfinite(axis->to)) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE, "axis %s: %d points from %g to %g, expected at least one and finite ends", name,
                   axis->n, axis->from, axis->to);
}

static yoke_status run_row(const yoke_map *map, int j, double *row) {
  const double y = yoke_axis_value(&map->y, j);
  for (int i = 0; i < map->x.n; ++i) {
    const yoke_status status = map->value(map->user, yoke_axis_value(&map->x, i), y, &row[i]);
    if (status > 0) row[i] = INFINITY;
    if (status < 0) return status;
  }
  return YOKE_OK;
}

typedef struct map_run {
  const yoke_map *map;
  double         *values;
  pthread_mutex_t lock;   /* of what follows, and of `progress` */
  int             n_done; /* rows */
  bool            stopped;
  yoke_status     status; /* of the failed row with the lowest index */
  int             failed; /* that row */
} map_run;

static bool is_wanted(map_run *run, int j) {
  pthread_mutex_lock(&run->lock);
  const bool wanted = !run->stopped && j < run->failed;
  pthread_mutex_unlock(&run->lock);
  return wanted;
}

static void finish_row(map_run *run, int j, yoke_status status) {
  const yoke_map *map = run->map;
  pthread_mutex_lock(&run->lock);
  ++run->n_done;
  if (status != YOKE_OK && j < run->failed) {
    run->failed = j;
    run->status = status;
  }
  if (map->progress != NULL && !run->stopped)
    run->stopped = !map->progress(map->progress_user, (double)run->n_done / (double)map->y.n);
  pthread_mutex_unlock(&run->lock);
}

static void do_row(void *user, int j, int worker) {
  map_run *run = user;
  (void)worker;
  if (is_wanted(run, j)) finish_row(run, j, run_row(run->map, j, run->values + (size_t)j * (size_t)run->map->x.n));
}

yoke_status yoke_map_run(yoke_context *ctx, const yoke_map *map, double *values) {
  YOKE_TRY(check_axis(ctx, "x", &map->x));
  YOKE_TRY(check_axis(ctx, "y", &map->y));
  map_run      run  = {.map = map, .values = values, .failed = map->y.n};
  const size_t size = (size_t)map->x.n * (size_t)map->y.n;
  yoke_exec   *exec = NULL;
  for (size_t k = 0; k < size; ++k) values[k] = NAN;
  YOKE_TRY(yoke_exec_create(ctx, "eager", map->n_threads, &exec));
  const yoke_status status = yoke_exec_expect(exec, ctx, map->y.n);
  pthread_mutex_init(&run.lock, NULL);
  if (status == YOKE_OK) yoke_exec_run(exec, map->y.n, NULL, do_row, &run);
  pthread_mutex_destroy(&run.lock);
  yoke_exec_destroy(&exec);
  YOKE_TRY(status);
  if (run.status != YOKE_OK) {
    return yoke_fail(ctx, run.status, "the map failed in row %d at %g", run.failed,
                     yoke_axis_value(&map->y, run.failed));
  }
  return run.stopped && run.n_done < map->y.n ? YOKE_E_INTERRUPTED : YOKE_OK;
}

/* ---- scan ---- */

static yoke_status is_beyond(const yoke_scan *scan, double x, bool *beyond) {
  double            value  = INFINITY;
  const yoke_status status = scan->value(scan->user, x, &value);
  if (status < 0) return status;
  *beyond = status > 0 || !(value <= scan->limit);
  return YOKE_OK;
}

/* inside < onset <= outside */
static yoke_status bisect(const yoke_scan *scan, double inside, double outside, double *onset) {
  const double tolerance = scan->tolerance > 0.0 ? scan->tolerance : 1e-10;
  while (fabs(outside - inside) > tolerance * fmax(fabs(inside), fabs(outside))) {
    const double middle = inside + 0.5 * (outside - inside);
    bool         beyond;
    if (middle == inside || middle == outside) break;
    YOKE_TRY(is_beyond(scan, middle, &beyond));
    if (beyond) {
      outside = middle;
    } else {
      inside = middle;
    }
  }
  *onset = outside;
  return YOKE_OK;
}

yoke_status yoke_scan_onset(yoke_context *ctx, const yoke_scan *scan, double *onset) {
  if (!(scan->step > 0.0 || scan->factor > 1.0) || !(scan->last >= scan->first)) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "scan from %g to %g with step %g or factor %g: expected an upward range and a positive step, or a "
                     "factor > 1",
                     scan->first, scan->last, scan->step, scan->factor);
  }
  double inside = scan->first;
  *onset        = INFINITY;
  for (int i = 0;; ++i) {
    double x = scan->step > 0.0 ? scan->first + (double)i * scan->step : scan->first * pow(scan->factor, (double)i);
    bool   beyond;
    if (!(x < scan->last)) x = scan->last;
    YOKE_TRY(is_beyond(scan, x, &beyond));
    if (beyond && i == 0) {
      *onset = x;
      return YOKE_OK;
    }
    if (beyond) return bisect(scan, inside, x, onset);
    if (x >= scan->last) return YOKE_OK;
    inside = x;
  }
}
