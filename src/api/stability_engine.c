/* Stability of a model file: the amplification matrix of the engine itself at every point.
 *
 * A point is the model loaded with the values of the axes as overrides; along an axis `step` it is loaded once. Rows of a map run side
 * by side in threads, each with models of its own. */
#include "analysis/map.h"
#include "analysis/stability.h"
#include "api/method_choice.h"
#include "api/run.h"
#include "api/stability_target.h"
#include "base/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KEY = 256, MAX_STATES = 0 /* as many as the analysis allows */ };

typedef struct engine_region {
  const yoke_stability_variant *variant;
  const yoke_stability_axis    *axes[2];
  char                          key[2][MAX_KEY]; /* override of each axis; "": none, or the step */
  bool                          is_step[2];
  double                       *values; /* of a map, [y.n, x.n] */
} engine_region;

/* The model at (x, y). Gives. */
static yoke_status load_at(yoke_context *ctx, const engine_region *r, double x, double y, yoke_model **out) {
  const yoke_stability_variant *v        = r->variant;
  const double                  value[2] = {x, y};
  char                          axis[2][MAX_KEY + YOKE_NUMBER_SIZE + 2];
  yoke_run_options              base    = *v->options->run;
  const char                  **sets    = yoke_allocate((size_t)v->n_sets + 2, sizeof *sets);
  yoke_choice                  *choices = yoke_allocate((size_t)base.n_choices + YOKE_METHOD_CHOICES, sizeof *choices);
  *out                                  = NULL;
  if (sets == NULL || choices == NULL) {
    free(sets);
    free(choices);
    return yoke_out_of_memory(ctx, "the stability study");
  }
  int n = 0;
  for (; n < v->n_sets; ++n) sets[n] = v->sets[n];
  for (int k = 0; k < 2; ++k) {
    char number[YOKE_NUMBER_SIZE];
    if (r->key[k][0] == '\0') continue;
    yoke_number_text(value[k], number);
    snprintf(axis[k], sizeof axis[k], "%s=%s", r->key[k], number);
    sets[n++] = axis[k];
  }
  base.n_sets                   = n;
  base.sets                     = sets;
  const yoke_run_options run    = yoke_method_options(&base, v->method, NULL, choices);
  const yoke_status      status = yoke_run_load(ctx, &run, out);
  free(sets);
  free(choices);
  return status;
}

static yoke_status need_split(yoke_context *ctx, const engine_region *r, const yoke_model *model) {
  if (model->n_parts > 0) return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_USAGE,
      "'%s' has no split: there is no coupling that could be unstable; add a section split (yoke split proposes one)",
      yoke_run_name(r->variant->options->run));
}

/* Does the model load with axis k, at its first value, under `key`? */
static yoke_status try_key(yoke_context *ctx, const engine_region *r, int k, const char *prefix) {
  engine_region own   = *r;
  yoke_model   *model = NULL;
  if (k == 0) own.key[1][0] = '\0';
  snprintf(own.key[k], MAX_KEY, "%s%s", prefix, r->axes[k]->name);
  const yoke_status status = load_at(ctx, &own, r->axes[0]->from, r->axes[1]->from, &model);
  yoke_model_destroy(&model);
  return status;
}

/* A plain name of an axis is a parameter of the model where there is one, else a key. When it is neither, or its value is bad, the
 * message is that of a key for a path (`bodies.m1.mass`), else that of a parameter. */
static yoke_status find_key(yoke_context *ctx, engine_region *r, int k) {
  static const char parameter[] = "parameters.";
  const char       *name        = r->axes[k]->name;
  if (name == NULL) return YOKE_OK;
  r->is_step[k] = yoke_stability_axis_is_step(r->axes[k]);
  if (r->is_step[k]) return YOKE_OK;
  if (strlen(name) + sizeof parameter > MAX_KEY)
    return yoke_fail(ctx, YOKE_E_USAGE, "the name of an axis is too long: '%s'", name);
  const bool  is_path = strchr(name, '.') != NULL;
  const char *prefix  = parameter;
  yoke_status status  = try_key(NULL, r, k, prefix);
  if (status != YOKE_OK) {
    status = try_key(is_path ? ctx : NULL, r, k, "");
    if (status == YOKE_OK || is_path) prefix = "";
  }
  if (status != YOKE_OK && !is_path) status = try_key(ctx, r, k, prefix);
  snprintf(r->key[k], MAX_KEY, "%s%s", prefix, name);
  return status;
}

static yoke_status make_region(yoke_context *ctx, const yoke_stability_variant *v, engine_region *r) {
  *r = (engine_region){.variant = v, .axes = {&v->options->x, &v->options->y}};
  YOKE_TRY(find_key(ctx, r, 0));
  return find_key(ctx, r, 1);
}

/* ---- point and limit ---- */

static void take_point(const yoke_stability_point *from, yoke_stability_row *row) {
  row->step      = from->H;
  row->rho       = from->rho;
  row->re        = from->re;
  row->im        = from->im;
  row->model_rho = from->model;
  row->n_states  = from->n;
  row->is_stable = yoke_stability_is_stable(from, yoke_stability_slack);
  snprintf(row->coupling, sizeof row->coupling, "%s", from->coupling);
  snprintf(row->channel, sizeof row->channel, "%s", from->channel);
  snprintf(row->body, sizeof row->body, "%s", from->body);
}

static void take_facts(const yoke_stability *from, yoke_stability_row *row) {
  row->is_linearized = yoke_stability_is_linearized(from);
  yoke_stability_method(from, row->judged, sizeof row->judged);
}

/* Load and prepare without axes. Gives both. */
static yoke_status open_model(yoke_context *ctx, const yoke_stability_variant *v, yoke_model **model,
                              yoke_stability **stability) {
  engine_region r = {.variant = v, .axes = {&v->options->x, &v->options->y}};
  *stability      = NULL;
  YOKE_TRY(load_at(ctx, &r, 0.0, 0.0, model));
  YOKE_TRY(need_split(ctx, &r, *model));
  return yoke_stability_create(ctx, *model, MAX_STATES, stability);
}

static yoke_status engine_point(yoke_context *ctx, const yoke_stability_variant *v, yoke_stability_row *row) {
  yoke_model          *model     = NULL;
  yoke_stability      *stability = NULL;
  yoke_stability_point point     = {0};
  yoke_status          status    = open_model(ctx, v, &model, &stability);
  if (status == YOKE_OK && !model->cosimulation.has_step)
    status = yoke_fail(ctx, YOKE_E_USAGE, "the macro step is chosen during the run; say for which one (--step H)");
  if (status == YOKE_OK) status = yoke_stability_at(stability, 0.0, &point, ctx);
  if (status == YOKE_OK) {
    take_point(&point, row);
    take_facts(stability, row);
  }
  yoke_stability_destroy(&stability);
  yoke_model_destroy(&model);
  return status;
}

typedef struct limit_progress {
  bool (*progress)(void *user, double share);
  void *user;
} limit_progress;

static bool report_limit(void *user, int done, int n) {
  const limit_progress *p = user;
  return p->progress == NULL || p->progress(p->user, n > 0 ? (double)done / n : 1.0);
}

static yoke_status engine_limit(yoke_context *ctx, const yoke_stability_variant *v, yoke_stability_row *row,
                                bool (*progress)(void *user, double share), void *user) {
  yoke_model                 *model     = NULL;
  yoke_stability             *stability = NULL;
  yoke_stability_limit_result limit     = {0};
  limit_progress              p         = {progress, user};
  yoke_stability_search       search    = {.tolerance = yoke_stability_slack, .progress = report_limit, .user = &p};
  yoke_status                 status    = open_model(ctx, v, &model, &stability);
  if (status == YOKE_OK) {
    const double fastest = yoke_stability_fastest(stability);
    search.from          = fastest > 0.0 ? 1e-3 / fastest : 1e-6;
    search.to            = fastest > 0.0 ? 1e2 / fastest : 1.0;
    status               = yoke_stability_limit(stability, &search, &limit, ctx);
  }
  if (status == YOKE_OK) {
    take_point(&limit.above, row);
    row->step           = model->cosimulation.has_step ? model->cosimulation.step : (double)NAN;
    row->limit          = limit.is_none ? (double)INFINITY : limit.is_zero ? 0.0 : limit.H;
    row->limit_searched = search.to;
    row->stable_again   = limit.next;
    take_facts(stability, row);
  }
  yoke_stability_destroy(&stability);
  yoke_model_destroy(&model);
  return status;
}

/* ---- maps ---- */

static bool is_interrupted(const engine_region *r) {
  const volatile sig_atomic_t *flag = r->variant->options->run->interrupted;
  return flag != NULL && *flag != 0;
}

/* Statuses that end a map; others leave a point without a value. */
static bool is_final(yoke_status status) {
  return status == YOKE_E_MEMORY || status == YOKE_E_INTERRUPTED || status == YOKE_E_INTERNAL;
}

/* Values of a map are 1 at most where the point is stable, as those of a point of its own: neither what the model grows by itself nor
 * rounding is the coupling's. */
static bool is_stable(const yoke_stability_point *point) {
  return yoke_stability_is_stable(point, yoke_stability_slack);
}

/* Line `j` across the steps (or, without an axis `step`, along x). */
static yoke_status run_line(const engine_region *r, int across, int j) {
  const int       along = 1 - across, n = r->axes[along]->name != NULL ? r->axes[along]->n : 1;
  const bool      is_step   = r->is_step[along];
  yoke_model     *model     = NULL;
  yoke_stability *stability = NULL;
  yoke_status     status    = YOKE_OK;
  for (int i = 0; i < n && !is_final(status); ++i) {
    double value[2];
    value[along]                = yoke_stability_axis_value(r->axes[along], i);
    value[across]               = yoke_stability_axis_value(r->axes[across], j);
    const int            column = along == 0 ? i : j, line = along == 0 ? j : i;
    double              *out   = &r->values[(size_t)line * (size_t)r->axes[0]->n + (size_t)column];
    yoke_stability_point point = {0};
    *out                       = NAN;
    if (is_interrupted(r)) {
      status = YOKE_E_INTERRUPTED;
      break;
    }
    if (stability == NULL && (i == 0 || !is_step)) {
      yoke_model_destroy(&model);
      status = load_at(NULL, r, value[0], value[1], &model);
      if (status == YOKE_OK) status = yoke_stability_create(NULL, model, MAX_STATES, &stability);
    }
    if (stability == NULL) continue;
    const double H = is_step ? value[along] : r->is_step[across] ? value[across] : 0.0;
    status         = yoke_stability_at(stability, H, &point, NULL);
    if (status == YOKE_OK) *out = is_stable(&point) ? fmin(point.rho, 1.0) : point.rho;
    if (!is_step) yoke_stability_destroy(&stability);
  }
  yoke_stability_destroy(&stability);
  yoke_model_destroy(&model);
  return is_final(status) ? status : YOKE_OK;
}

typedef struct line_task {
  const engine_region *region;
  int                  across;
} line_task;

static yoke_status line_value(const void *user, double x, double j, double *out) {
  const line_task *task = user;
  (void)x;
  *out = 0.0;
  return run_line(task->region, task->across, (int)lround(j));
}

/* Can the first point be made? Otherwise the message says why: most mistakes concern all points. */
static yoke_status try_first(yoke_context *ctx, const engine_region *r, yoke_stability_row *row) {
  yoke_model     *model     = NULL;
  yoke_stability *stability = NULL;
  yoke_status     status    = load_at(ctx, r, r->axes[0]->from, r->axes[1]->from, &model);
  if (status == YOKE_OK) status = need_split(ctx, r, model);
  if (status == YOKE_OK) status = yoke_stability_create(ctx, model, MAX_STATES, &stability);
  if (status == YOKE_OK) take_facts(stability, row);
  yoke_stability_destroy(&stability);
  yoke_model_destroy(&model);
  return status;
}

static yoke_status engine_map(yoke_context *ctx, const yoke_stability_variant *v, yoke_stability_row *row,
                              double *values, bool (*progress)(void *user, double share), void *user) {
  engine_region r;
  YOKE_TRY(make_region(ctx, v, &r));
  r.values           = values;
  const int       nx = r.axes[0]->n, ny = r.axes[1]->name != NULL ? r.axes[1]->n : 1;
  const int       across = r.is_step[1] ? 0 : 1; /* lines go along the step where there is one */
  const int       n      = across == 0 ? nx : ny;
  const line_task task   = {&r, across};
  double         *done   = yoke_allocate((size_t)n, sizeof *done);
  yoke_status     status = done != NULL ? try_first(ctx, &r, row) : yoke_out_of_memory(ctx, "the stability study");
  for (int i = 0; i < nx * ny; ++i) values[i] = NAN;
  const yoke_map map = {.x             = {.n = 1},
                        .y             = {.from = 0.0, .to = n - 1, .n = n},
                        .value         = line_value,
                        .user          = &task,
                        .progress      = progress,
                        .progress_user = user,
                        .n_threads     = v->options->run->threads};
  if (status == YOKE_OK) status = yoke_map_run(ctx, &map, done);
  free(done);
  if (status == YOKE_E_INTERRUPTED && yoke_context_n_errors(ctx) == 0) return yoke_fail(ctx, status, "interrupted");
  return status;
}

const yoke_stability_target yoke_engine_target = {
    .point = engine_point,
    .limit = engine_limit,
    .map   = engine_map,
};
