#include "analysis/growth.h"

#include "analysis/gather.h"
#include "base/cancel.h"
#include "frames/expression_jumps.h"
#include "model/force_element_compile.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_STATES = 200, MAX_EVALUATIONS = 20000, N_TIMES = 1001 /* the start is one of them */, N_EARLY = 21 };

static const double delta  = 1e-5; /* of the spread: far above what the solver leaves, far below what it becomes */
static const double rtol   = 1e-6;
static const double moving = 1e-6; /* of the largest spread of its kind: what moves less stands still */

/* Which variable of an expression is the time. */
enum { TIME_OF_LOADS = 0, TIME_OF_FORMULAS = 0, TIME_OF_LAWS = 2, BEHIND_LAWS = 3 };

/* May it break where the model comes to, as a rope that becomes taut does? `first`: behind all of its variables. NULL: no. */
static yoke_status find_break(const yoke_expression *e, int time, int first, bool *found) {
  yoke_jump *jumps = NULL;
  int        n     = 0;
  if (e == NULL || *found) return YOKE_OK;
  YOKE_TRY(yoke_jumps_find(e, time, first, &jumps, &n));
  *found = n > 0;
  yoke_jumps_destroy(&jumps, n);
  return YOKE_OK;
}

static yoke_status find_breaks(const yoke_model *model, bool *found) {
  const int first = model->n_variables + 1;
  for (int i = 0; i < model->n_loads; ++i) {
    for (int k = 0; k < 3; ++k) YOKE_TRY(find_break(model->loads[i].value[k], TIME_OF_LOADS, first, found));
  }
  for (int i = 0; i < model->n_connections; ++i) {
    const yoke_connection *c = &model->connections[i];
    YOKE_TRY(find_break(c->law.expression, TIME_OF_LAWS, BEHIND_LAWS, found));
    YOKE_TRY(find_break(c->formula, TIME_OF_FORMULAS, first, found));
  }
  return YOKE_OK;
}

static bool event_hits(const yoke_model *model, const yoke_event *event) {
  for (int k = 0; k < event->n_set; ++k) {
    const yoke_variable *set = &model->variables[event->variable[k] - 1];
    if (set->kind == YOKE_VARIABLE_STATE && set->is_velocity) return true;
  }
  return false;
}

static bool is_hit(const yoke_model *model) {
  for (int i = 0; i < model->n_loads; ++i) {
    if (model->loads[i].kind == YOKE_LOAD_CONTACT) return true;
  }
  for (int i = 0; i < model->n_events; ++i) {
    if (event_hits(model, &model->events[i])) return true;
  }
  for (int b = 0; b < model->n_bodies; ++b) {
    const yoke_chain *chain = model->bodies[b].chain;
    for (int i = 0; chain != NULL && i < chain->n_loads; ++i) {
      if (chain->loads[i].kind == YOKE_CHAIN_CONTACT) return true;
    }
  }
  return false;
}

/* Between points of which one at least does not stay on the line of 1-D masses. */
static bool has_turning_springs(const yoke_model *model) {
  for (int i = 0; i < model->n_connections; ++i) {
    const yoke_connection *c = &model->connections[i];
    if (c->kind == YOKE_CONNECTION_SPRING_DAMPER && !(yoke_frame_is_on_a_line(model, &model->frames[c->frame[0]]) &&
                                                      yoke_frame_is_on_a_line(model, &model->frames[c->frame[1]])))
      return true;
  }
  return false;
}

yoke_status yoke_growth_find_cause(yoke_context *ctx, const yoke_model *model, yoke_growth_cause *cause) {
  bool              hits   = is_hit(model);
  const yoke_status status = hits ? YOKE_OK : find_breaks(model, &hits);
  *cause = hits ? YOKE_GROWTH_HITS : has_turning_springs(model) ? YOKE_GROWTH_SPRINGS : YOKE_GROWTH_NONE;
  return status == YOKE_OK ? YOKE_OK : yoke_out_of_memory(ctx, "the laws and loads of the model");
}

double yoke_growth_of_steps(double factor, yoke_growth_cause cause) {
  return cause == YOKE_GROWTH_SPRINGS ? fmax(1.0, 0.1 * factor) : factor;
}

static bool is_small(const yoke_model *model) {
  int n = 0;
  for (int b = 0; b < model->n_bodies && n <= MAX_STATES; ++b) n += 2 * yoke_body_nv(&model->bodies[b]);
  return n <= MAX_STATES && model->n_foreigns == 0 && model->t_end > model->t_start;
}

/* Two runs of a whole model. */
typedef struct pilot {
  yoke_model   model; /* the given one with a solver and outputs for this purpose; a share of all else */
  char        *selected[1];
  yoke_arena   arena;
  int          nq, n;          /* nq + nv */
  int          first_output;   /* of q and v in a row of outputs */
  double      *first, *second; /* [N_TIMES, n] q and v of the two runs */
  double      *start, *spread; /* [n] */
  double      *rows;           /* of the run under way */
  int          n_rows;
  yoke_system *system;      /* of the run under way */
  int64_t      evaluations; /* of all runs before */
  bool         is_too_long;
} pilot;

/* One output stands for all that the model shows, which nobody asks for. */
static yoke_status prepare(pilot *p, const yoke_model *model) {
  yoke_body *body = &model->bodies[0];
  char       component[64];
  p->model                 = *model;
  p->model.solver          = (yoke_solver_def){.kind = "auto", .rtol = rtol, .rho_inf = model->solver.rho_inf};
  p->model.output.every    = (model->t_end - model->t_start) / (N_TIMES - 1);
  p->model.output.select   = p->selected;
  p->model.output.n_select = 1;
  if (!yoke_body_component_name(body, false, 0, component, sizeof component)) return YOKE_E_UNSUPPORTED;
  const size_t length = strlen(body->name) + sizeof component + 2;
  p->selected[0]      = yoke_arena_take(&p->arena, length, 1);
  if (p->selected[0] != NULL) snprintf(p->selected[0], length, "%s.%s", body->name, component);
  for (int b = 0; b < model->n_bodies; ++b) {
    p->nq += yoke_body_nq(&model->bodies[b]);
    p->n += yoke_body_nq(&model->bodies[b]) + yoke_body_nv(&model->bodies[b]);
  }
  const size_t n = (size_t)p->n;
  p->first       = yoke_arena_take(&p->arena, n * N_TIMES, sizeof *p->first);
  p->second      = yoke_arena_take(&p->arena, n * N_TIMES, sizeof *p->second);
  p->start       = yoke_arena_take(&p->arena, n, sizeof *p->start);
  p->spread      = yoke_arena_take(&p->arena, n, sizeof *p->spread);
  return p->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
}

typedef struct showing {
  yoke_plan    *plan;
  yoke_context *quiet;
  yoke_status   status;
} showing;

static void show(void *user, int at, int part, int64_t handle) {
  showing *s = user;
  (void)at; /* they come in order */
  if (s->status == YOKE_OK) s->status = yoke_plan_add_output(s->quiet, s->plan, part, handle, "motion", "");
}

/* All components of q, then of v, behind what the plan shows. */
static yoke_status show_motion(pilot *p, yoke_plan *plan, yoke_context *quiet) {
  showing s       = {.plan = plan, .quiet = quiet, .status = YOKE_OK};
  p->first_output = plan->outputs.n;
  for (int k = 0; k < plan->n_events; ++k) plan->events[k].is_quiet = true;
  yoke_gather_visit(&p->model, plan, show, &s);
  return s.status;
}

static yoke_status take_row(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                            int order) {
  pilot *p = user;
  (void)t, (void)counters, (void)h, (void)order;
  if (p->n_rows < N_TIMES)
    memcpy(&p->rows[(size_t)p->n_rows * (size_t)p->n], outputs + p->first_output, (size_t)p->n * sizeof *p->rows);
  ++p->n_rows;
  return YOKE_OK;
}

static bool go_on(void *user, double t) {
  pilot        *p = user;
  yoke_counters counters;
  (void)t;
  yoke_system_counters(p->system, &counters);
  p->is_too_long = counters.evaluations > MAX_EVALUATIONS;
  return !p->is_too_long;
}

static yoke_status run(pilot *p, yoke_plan *plan, yoke_context *quiet) {
  const yoke_system_options options = {.exec = "serial", .threads = 1};
  const yoke_sink           sink    = {.user = p, .sample = take_row, .progress = go_on};
  yoke_system_summary       summary = {0};
  YOKE_TRY(show_motion(p, plan, quiet));
  YOKE_TRY(yoke_system_create(quiet, plan, &options, &p->system));
  const yoke_status status = yoke_system_run(p->system, p->model.t_end, &sink, &summary, quiet);
  p->evaluations += summary.counters.evaluations;
  yoke_system_destroy(&p->system);
  return status;
}

/* YOKE_NOT_CONVERGED: too long a way, or it ended before its time. */
static yoke_status fly(pilot *p, double *rows, yoke_context *quiet) {
  const bool              is_second = rows == p->second;
  const yoke_plan_options options   = {
        .is_whole = true, .q = is_second ? p->start : NULL, .v = is_second ? p->start + p->nq : NULL};
  yoke_plan *plan    = NULL;
  p->rows            = rows;
  p->n_rows          = 0;
  yoke_status status = yoke_plan_create(quiet, &p->model, &options, &plan);
  if (status == YOKE_OK) status = run(p, plan, quiet);
  yoke_plan_destroy(&plan);
  if (p->is_too_long || (status == YOKE_OK && p->n_rows != N_TIMES)) return YOKE_NOT_CONVERGED;
  return status;
}

static void measure_spreads(pilot *p) {
  for (int i = 0; i < p->n; ++i) {
    double low = p->first[i], high = p->first[i];
    for (int k = 1; k < N_TIMES; ++k) {
      low  = fmin(low, p->first[(size_t)k * (size_t)p->n + (size_t)i]);
      high = fmax(high, p->first[(size_t)k * (size_t)p->n + (size_t)i]);
    }
    p->start[i]  = p->first[i];
    p->spread[i] = high - low;
  }
}

static double largest_spread(const pilot *p, int from, int to) {
  double largest = 0.0;
  for (int i = from; i < to; ++i) largest = fmax(largest, p->spread[i]);
  return largest;
}

/* What stands still has no spread from here on. Neighbours move to different sides: nothing is merely moved as a whole. */
static void disturb(pilot *p) {
  const int    nq     = p->nq;
  const double q_most = largest_spread(p, 0, nq), v_most = largest_spread(p, nq, p->n);
  for (int i = 0; i < p->n; ++i) {
    if (p->spread[i] <= moving * (i < nq ? q_most : v_most)) p->spread[i] = 0.0;
    p->start[i] += ((i < nq ? i : i - nq) % 2 == 0 ? delta : -delta) * p->spread[i];
  }
}

/* Root mean square of the differences of coordinate i at times from .. to - 1, in units of that of its motion. */
static double difference(const pilot *p, int i, int from, int to) {
  double sum = 0.0, mean = 0.0, motion = 0.0;
  for (int k = 0; k < N_TIMES; ++k) mean += p->first[(size_t)k * (size_t)p->n + (size_t)i] / N_TIMES;
  for (int k = 0; k < N_TIMES; ++k) {
    const size_t at = (size_t)k * (size_t)p->n + (size_t)i;
    const double x = p->first[at] - mean, d = p->second[at] - p->first[at];
    motion += x * x / N_TIMES;
    if (k >= from && k < to) sum += d * d / (to - from);
  }
  return sqrt(sum / motion);
}

static double largest_difference(const pilot *p, int from, int to) {
  double largest = 0.0;
  for (int i = 0; i < p->n; ++i) {
    if (p->spread[i] > 0.0) largest = fmax(largest, difference(p, i, from, to));
  }
  return largest;
}

static double compare(const pilot *p) {
  const double before = largest_difference(p, 0, N_EARLY), all = largest_difference(p, 0, N_TIMES);
  return before > 0.0 ? fmax(1.0, all / before) : 1.0;
}

static yoke_status measure(pilot *p, const yoke_model *model, yoke_context *quiet, double *factor) {
  YOKE_TRY(prepare(p, model));
  YOKE_TRY(fly(p, p->first, quiet));
  measure_spreads(p);
  disturb(p);
  YOKE_TRY(fly(p, p->second, quiet));
  *factor = compare(p);
  return YOKE_OK;
}

yoke_status yoke_growth_measure(yoke_context *ctx, const yoke_model *model, yoke_growth *growth) {
  yoke_context *quiet = NULL;
  pilot         p     = {0};
  *growth             = (yoke_growth){.factor = (double)NAN};
  if (!is_small(model)) return YOKE_OK;
  yoke_status status = yoke_context_create(&quiet);
  if (status == YOKE_OK) yoke_context_watch_with(quiet, ctx, true);
  if (status == YOKE_OK) status = measure(&p, model, quiet, &growth->factor);
  growth->evaluations = p.evaluations;
  yoke_arena_free(&p.arena);
  yoke_context_destroy(&quiet);
  if (status == YOKE_E_MEMORY)
    return yoke_out_of_memory(ctx, "the growth of errors; cosimulation.step.growth 1 skips it");
  return status == YOKE_E_INTERRUPTED && !p.is_too_long ? status : YOKE_OK;
}
