/* One pass of a graph: all integrations of the macro step. */
#include "coupling/comparison.h"
#include "coupling/multirate.h"
#include "base/cancel.h"
#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Size of a perturbation: what the last step corrected (Kraft), but no less than a share of the value (Lu), so that it stands out of
 * the solver's noise. Responses of positions are of order H^2, so the share is large; linear problems do not mind. Signals may be read by
 * functions that bend within their own size. */
double graph_perturbation(const graph_channel *channel) {
  const bool   is_signal = yoke_channel_is_signal(&channel->info);
  const double share     = is_signal                ? 1e-3
                           : channel->info.is_force ? 1e-2
                                                    : 1e-4,
               least     = is_signal                ? graph_least_signal
                           : channel->info.is_force ? 0.1 * channel->natural
                                                    : channel->natural;
  return fmax(channel->kept->correction,
              share * fmax(fmax(fabs(channel->kept->past[0]), channel->kept->sizes.perturbation), least));
}

/* What moves bodies by this share of L over a step stands out of rounding: forces and accelerations move them by H^2, velocities by H. Rigid
 * joints find their unknowns by that; conditions of force elements see the forces themselves. */
static const double least_response = 1e-9;

double graph_step_perturbation(const yoke_graph *g, const graph_channel *channel) {
  const double ratio = g->settings.time / g->H, own = graph_perturbation(channel);
  if (g->wires[channel->wire].wire.joint == NULL) return own;
  switch (channel->unit.kind) {
  case YOKE_RESIDUAL_FORCE:
  case YOKE_RESIDUAL_MOMENT:
  case YOKE_RESIDUAL_ACCELERATION: return fmax(own, least_response * channel->natural * ratio * ratio);
  case YOKE_RESIDUAL_VELOCITY: return fmax(own, least_response * channel->natural * ratio);
  case YOKE_RESIDUAL_POSITION:
  case YOKE_RESIDUAL_NONE: break;
  }
  return own;
}

/* The main integration of a subsystem is asked for its columns. */
static void ask_columns(const yoke_graph *g, int subsystem, int worker, double *times, yoke_response *response) {
  const graph_subsystem *s = &g->subsystems[subsystem];
  *response                = (yoke_response){.room = g->room[worker], .dy = s->dy, .dx = s->dx, .dy_off = s->dy_off};
  graph_directions(g, subsystem, times, g->entry_c[worker], &response->directions);
  response->directions.moves_states = s->dx != NULL;
}

/* What the last step of a state has cost, its response included; *before is the state that it began from. */
static void count_work(const graph_subsystem *s, const yoke_counters *before, const void *state,
                       const yoke_response *response, graph_task *task) {
  yoke_counters after;
  yoke_subsystem_counters(s->subsystem, state, &after);
  task->evaluations = after.evaluations - before->evaluations + (response != NULL ? response->evaluations : 0);
  task->jacobians   = after.jacobians - before->jacobians + (response != NULL ? response->jacobians : 0);
}

/* What was said in a step that failed is kept for the pass to tell; that of others is not wanted. */
static void keep_messages(graph_subsystem *s, yoke_status status, const yoke_context *said) {
  if (s->said == NULL && yoke_context_create(&s->said) != YOKE_OK) return;
  yoke_context_clear(s->said);
  for (size_t k = 0; k < yoke_context_n_messages(said); ++k)
    (void)yoke_fail(s->said, status, "%s", yoke_context_message(said, k));
}

/* Events inside of a substep that others follow end the macro step with it, so that they are found in its last one. */
static bool ends_at_event(const graph_subsystem *s, const void *state) {
  const yoke_event_ops *events = s->subsystem->ops->events;
  return events != NULL && events->found(s->subsystem, state).n > 0;
}

/* The part of a request that lies in substep k. */
static yoke_step_request substep(const yoke_graph *g, const graph_subsystem *s, const yoke_step_request *whole, int k) {
  yoke_step_request part = *whole;
  part.t                 = graph_time_at(g, k, s->substeps);
  part.t_end             = graph_time_at(g, k + 1, s->substeps);
  part.begins_anew       = whole->begins_anew && k == 0;
  int first              = 0, last;
  while (first < whole->n_times && whole->times[first] <= part.t) ++first;
  for (last = first; last < whole->n_times && whole->times[last] <= part.t_end;) ++last;
  part.n_times = last - first;
  if (first == 0) return part;
  part.times += first;
  part.values += (ptrdiff_t)first * whole->n_handles;
  return part;
}

/* The step of a request; or the steps of a stretch, one after another, to where the next exchange is or one of them ends early
 * (multirate.h). */
static yoke_status step_on(const yoke_graph *g, graph_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                           yoke_step_request *request, yoke_context *ctx) {
  if (g->multirate == NULL) return yoke_subsystem_step(s->subsystem, scratch, state, u, request, ctx);
  const yoke_step_request whole = *request;
  for (int end = s->n_stepped + s->substeps / s->stretches; s->n_stepped < end; ++s->n_stepped) {
    const bool is_last = s->n_stepped + 1 == s->substeps;
    *request           = substep(g, s, &whole, s->n_stepped);
    YOKE_TRY(yoke_subsystem_step(s->subsystem, scratch, state, u, request, ctx));
    if (request->t_reached < request->t_end) return YOKE_OK;
    if (!is_last && ends_at_event(s, state)) {
      request->t_end = whole.t_end;
      return YOKE_OK;
    }
    if (!is_last && s->has_accept) yoke_subsystem_accept(s->subsystem, state);
  }
  return YOKE_OK;
}

/* `clock`: NULL: the pass is not timed. */
static void run_task(yoke_graph *g, graph_task *task, yoke_task_times *clock, int worker) {
  if (clock != NULL) *clock = (yoke_task_times){.begin = yoke_clock_now(), .worker = worker};
  graph_subsystem *s    = &g->subsystems[task->subsystem];
  const bool       main = task->column == -1, compares = task->column == GRAPH_COMPARISON,
             observes   = task->column == GRAPH_OBSERVED;
  const bool    repeats = s->trial != NULL;
  void         *state   = !repeats                                   ? s->accepted
                          : main                                     ? s->trial
                          : task->column < -1 && s->compared != NULL ? s->compared
                                                                     : yoke_state_pool_take(g->pool, worker, s->subsystem);
  double       *y       = main ? s->y_new : compares ? s->y_compared : g->variant_y[worker];
  yoke_context *ctx     = g->worker_ctx[worker];
  const bool    columns = main && (g->aims & GRAPH_COLUMNS);
  const bool    asks    = columns && s->jacobian == YOKE_JACOBIAN_TANGENT;
  const bool    answers = columns && s->jacobian == YOKE_JACOBIAN_ANALYTIC;
  double        times[GRAPH_MAX_BREAKS + 2], times_along[GRAPH_MAX_BREAKS + 2];
  yoke_signal   signal;
  yoke_response response;
  const double  size =
      main || compares || observes ? 0.0 : graph_step_perturbation(g, &g->channels[s->column_channel[task->column]]);
  yoke_context_clear(ctx);
  yoke_context_watch_with(ctx, g->n_wires > 0 ? g->pass_ctx : NULL, worker == 0); /* without wires: before the step */
  graph_signal(g, task->subsystem, observes ? -1 : task->column, size, times, g->signal_c[worker], &signal);
  if (!repeats) s->is_ahead = true;
  yoke_step_request request = yoke_step_over(&signal, g->block->past_t[0], g->H);
  request.begins_anew       = g->block->begins_anew;
  request.most_evaluations  = graph_most_evaluations(g);
  request.stop_anywhere     = main && g->n_wires == 0 && g->settings.stop_anywhere;
  request.is_draft          = !main || !(g->aims & GRAPH_LAST);
  if (!request.is_draft || observes) graph_observe_request(g, s, &request);
  if (asks) {
    ask_columns(g, task->subsystem, worker, times_along, &response);
    request.response = &response;
  }
  const bool  goes_on = main && s->n_stepped > 0; /* behind an exchange inside of the macro step */
  yoke_status status  = repeats && !goes_on ? yoke_subsystem_copy(s->subsystem, state, s->accepted) : YOKE_OK;
  if (status < 0)
    (void)yoke_fail(ctx, status, "its state at t = %.9g s cannot be copied: %s", request.t, yoke_status_text(status));
  yoke_counters before;
  yoke_subsystem_counters(s->subsystem, goes_on ? state : s->accepted, &before);
  if (clock != NULL) clock->saved = yoke_clock_now();
  if (status == YOKE_OK) status = step_on(g, s, g->scratch[worker], state, &signal, &request, ctx);
  if (status == YOKE_OK && answers)
    s->answered = s->subsystem->ops->instant->response(s->subsystem, g->scratch[worker], state, &signal, YOKE_SIDE_LEFT,
                                                       s->da_du);
  if (clock != NULL) clock->solved = yoke_clock_now();
  if (status >= 0) count_work(s, &before, state, asks ? &response : NULL, task);
  if (status == YOKE_OK && s->subsystem->ny > 0)
    status = yoke_subsystem_output(s->subsystem, g->scratch[worker], state, &signal, YOKE_SIDE_LEFT, y);
  if (status == YOKE_OK && !main && request.t_reached < request.t_end) status = YOKE_NOT_CONVERGED;
  task->status = status;
  if (main) {
    task->t_reached = request.t_reached < request.t_end ? request.t_reached : g->t_next;
    task->is_early  = task->t_reached < g->t_next;
    if (asks) {
      s->has_differences = !response.is_made;
      s->can_shift       = response.is_made && response.can_shift;
    }
    if (status != YOKE_OK) keep_messages(s, status, ctx);
    return;
  }
  if (observes) return;
  if (compares) { /* a comparison that fails tells of a large error */
    for (int k = 0; status != YOKE_OK && k < s->subsystem->ny; ++k) y[k] = (double)INFINITY;
    return;
  }
  double *column = s->dy + (size_t)task->column * (size_t)s->subsystem->ny;
  for (int k = 0; k < s->subsystem->ny; ++k) column[k] = status == YOKE_OK ? y[k] : (double)NAN;
}

static void run_job(void *user, int index, int worker) {
  yoke_graph      *g           = user;
  const graph_job *job         = &g->jobs[index];
  const bool       is_profiled = graph_is_timed(g) && g->ledger->projection != NULL;
  for (int k = job->first; k < job->first + job->n; ++k) {
    yoke_task_times *clock  = graph_is_timed(g) ? &g->times[k] : NULL;
    const double     before = is_profiled ? yoke_clock_thread() : 0.0;
    run_task(g, &g->tasks[k], clock, worker);
    if (clock != NULL) clock->end = yoke_clock_now();
    if (is_profiled) clock->processor = yoke_clock_thread() - before;
  }
}

static int owner_of_job(void *user, int index) {
  const yoke_graph *g = user;
  return g->owner[g->tasks[g->jobs[index].first].subsystem];
}

/* One more task of the pass. Those of a subsystem that runs alone follow each other and are one job. */
static void add_task(yoke_graph *g, int subsystem, int column) {
  const bool follows =
      g->subsystems[subsystem].is_alone && g->n_tasks > 0 && g->tasks[g->n_tasks - 1].subsystem == subsystem;
  if (follows)
    ++g->jobs[g->n_jobs - 1].n;
  else
    g->jobs[g->n_jobs++] = (graph_job){.first = g->n_tasks, .n = 1};
  g->tasks[g->n_tasks++] = (graph_task){.subsystem = subsystem, .column = column};
}

static void begin_tasks(yoke_graph *g) {
  g->n_tasks = g->n_jobs = 0;
}

/* The pass is the same on all ranks: of the same step and trial, with the same tasks. So are its inputs, to the bit where machines are the same. */
static void expect_pass(const yoke_graph *g) {
  const double place[] = {g->t_next,         (double)g->block->n_accepted, (double)g->n_passes, (double)g->aims,
                          (double)g->degree, (double)g->comparison};
  yoke_relay_expect(g->relay, sizeof place / sizeof *place, place);
  for (int k = 0; k < g->n_tasks; ++k) {
    const double task[] = {(double)g->tasks[k].subsystem, (double)g->tasks[k].column};
    yoke_relay_expect(g->relay, 2, task);
  }
  if (!yoke_relay_is_mixed(g->relay)) yoke_relay_expect(g->relay, (size_t)g->n_w, g->w);
}

/* true: all of them came to their end, so that nobody has to look for one that did not. */
static bool run_tasks(yoke_graph *g, int aims, yoke_step_statistics *statistics) {
  bool is_fine = true;
  g->aims      = aims;
  statistics->integrations += g->n_tasks;
  if (g->relay != NULL) expect_pass(g);
  const double begin = graph_is_timed(g) ? yoke_ledger_open_list(g->ledger) : 0.0;
  graph_run(g, g->n_jobs, owner_of_job, graph_costs(g), run_job, g);
  if (graph_is_timed(g)) graph_account(g, begin);
  for (int k = 0; k < g->n_tasks; ++k) {
    const graph_task *task = &g->tasks[k];
    statistics->evaluations += task->evaluations;
    statistics->jacobians += task->jacobians;
    is_fine = is_fine && task->status == YOKE_OK && !task->is_early;
  }
  return is_fine;
}

/* Perturbed outputs become derivatives once the main outputs are known. */
static yoke_status finish_columns(const yoke_graph *g, const graph_subsystem *s) {
  for (int c = 0; c < s->n_columns; ++c) {
    const double size   = graph_step_perturbation(g, &g->channels[s->column_channel[c]]);
    double      *column = s->dy + (size_t)c * (size_t)s->subsystem->ny;
    for (int k = 0; k < s->subsystem->ny; ++k) {
      if (s->has_differences) column[k] = (column[k] - s->y_new[k]) / size;
      if (!isfinite(column[k])) return YOKE_NON_FINITE;
    }
  }
  return YOKE_OK;
}

/* Outputs that are not finite where the step itself said nothing: code of others may show anything. */
static void name_output(const yoke_graph *g, const graph_subsystem *s, yoke_context *ctx) {
  for (int i = 0; i < s->subsystem->n_ports; ++i) {
    const yoke_port *port = &s->subsystem->ports[i];
    for (int k = 0; k < port->n_y; ++k) {
      if (isfinite(s->y_new[port->y_at + k])) continue;
      (void)yoke_fail(ctx, YOKE_NON_FINITE,
                      "subsystem '%s': number %d that port '%s' shows is %g behind the step of %.6g s from t = %.9g s",
                      s->subsystem->name, k + 1, port->name, s->y_new[port->y_at + k], g->H, g->block->past_t[0]);
      return;
    }
  }
}

/* What the integration of one subsystem says, its messages with its name. One that gives up without a word is named all the same. */
static yoke_status main_status(const yoke_graph *g, const graph_task *task, yoke_context *ctx) {
  const graph_subsystem *s      = &g->subsystems[task->subsystem];
  const yoke_status      status = task->status;
  const size_t           n_said = s->said != NULL ? yoke_context_n_messages(s->said) : 0;
  char                   name[200];
  if (status == YOKE_OK || status == YOKE_E_INTERRUPTED) return status;
  if (status < 0 && n_said == 0)
    return yoke_fail(ctx, status, "subsystem '%s': the step of %.6g s from t = %.9g s failed: %s", s->subsystem->name,
                     g->H, g->block->past_t[0], yoke_status_text(status));
  if (status == YOKE_NON_FINITE && n_said == 0) name_output(g, s, ctx);
  snprintf(name, sizeof name, "subsystem '%.180s': ", s->subsystem->name);
  for (size_t k = 0; k < n_said; ++k) {
    const char *said = yoke_context_message(s->said, k);
    yoke_fail(ctx, status, "%s%s", strncmp(said, name, strlen(name)) == 0 ? "" : name, said);
  }
  return status;
}

/* A subsystem that ends its step early ends the pass, for the trial to be made again (yoke_graph_try). A single one that nothing is coupled
 * to just has a shorter step. */
static yoke_status look_for_end(yoke_graph *g, const graph_task *task) {
  if (task->t_reached >= g->t_early) return YOKE_OK;
  g->t_early = task->t_reached;
  return g->n_subsystems == 1 && g->n_wires == 0 ? YOKE_OK : YOKE_NOT_CONVERGED;
}

/* Cancelled, and all can go back to where the trial began? A state that was stepped for good is finished with. */
static bool is_cancelled(const yoke_graph *g, yoke_context *ctx) {
  const char *name;
  return g->n_wires > 0 && yoke_context_is_cancelled(ctx) && yoke_graph_can_repeat(g, &name);
}

/* The first subsystem that failed speaks for the pass. */
static yoke_status pass_status(yoke_graph *g, yoke_context *ctx) {
  yoke_status status = YOKE_OK;
  for (int k = 0; k < g->n_tasks; ++k) {
    if (g->tasks[k].column != -1) continue;
    status = main_status(g, &g->tasks[k], ctx);
    if (status == YOKE_E_UNSTABLE && g->astray != NULL) return graph_blame_nodes(g, ctx);
    YOKE_TRY(status);
  }
  for (int k = 0; k < g->n_tasks; ++k) {
    const yoke_status ended = g->tasks[k].column == -1 ? look_for_end(g, &g->tasks[k]) : YOKE_OK;
    if (ended != YOKE_OK) status = ended;
  }
  return status;
}

/* A perturbed integration that failed leaves a column without numbers. */
static yoke_status check_columns(const yoke_graph *g, yoke_context *ctx) {
  for (int k = 0; k < g->n_tasks; ++k) {
    const graph_task *task = &g->tasks[k];
    if (task->column < 0 || task->status == YOKE_OK) continue;
    const graph_subsystem *s       = &g->subsystems[task->subsystem];
    const graph_channel   *channel = &g->channels[s->column_channel[task->column]];
    return yoke_fail(ctx, YOKE_NON_FINITE,
                     "subsystem '%s': the step of %.6g s from t = %.9g s, repeated with other inputs of coupling '%s', "
                     "failed: %s; use another solver for it, or looser tolerances",
                     s->subsystem->name, g->H, g->block->past_t[0], g->wires[channel->wire].wire.name,
                     yoke_status_text(task->status));
  }
  return YOKE_OK;
}

/* Of integrations beside the main ones a lack of memory, a subsystem that gives up and perturbed ones end the pass; all else shows in what they
 * give. */
static yoke_status check_tasks(const yoke_graph *g, yoke_context *ctx) {
  for (int k = 0; k < g->n_tasks; ++k) {
    const yoke_status status = g->tasks[k].status;
    if (status == YOKE_OK) continue;
    const char *name = g->subsystems[g->tasks[k].subsystem].subsystem->name;
    if (status == YOKE_E_MEMORY) return yoke_out_of_memory(ctx, "a step of subsystem '%s'", name);
    if (status == YOKE_E_SUBSYSTEM)
      return yoke_fail(ctx, status,
                       "subsystem '%s': the step of %.6g s from t = %.9g s, repeated with other inputs, failed", name,
                       g->H, g->block->past_t[0]);
  }
  return check_columns(g, ctx);
}

/* Outputs of the predicted inputs, for the error estimate. */
static void keep_predicted(yoke_graph *g) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    memcpy(s->y_predicted, s->y_new, (size_t)s->subsystem->ny * sizeof(double));
  }
}

yoke_status graph_pass_comparison(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  begin_tasks(g);
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    if (s->trial != NULL)
      add_task(g, i, GRAPH_COMPARISON);
    else
      memcpy(s->y_compared, s->y_new, (size_t)s->subsystem->ny * sizeof(double)); /* it cannot go back */
  }
  return run_tasks(g, g->aims, statistics) ? YOKE_OK : check_tasks(g, ctx);
}

yoke_status graph_pass_observed(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  begin_tasks(g);
  for (int i = 0; i < g->n_subsystems; ++i) add_task(g, i, GRAPH_OBSERVED);
  if (run_tasks(g, g->aims, statistics)) return YOKE_OK;
  YOKE_TRY(check_tasks(g, ctx));
  return YOKE_NOT_CONVERGED;
}

/* Perturbed integrations of a subsystem whose columns are differences. */
static void add_columns(yoke_graph *g, int i) {
  const graph_subsystem *s = &g->subsystems[i];
  for (int c = 0; s->has_differences && c < s->n_columns; ++c) add_task(g, i, c);
}

/* All integrations of a subsystem. */
static void add_all_of(yoke_graph *g, int i, bool with_columns, bool compares) {
  graph_subsystem *s = &g->subsystems[i];
  add_task(g, i, -1);
  if (with_columns) {
    s->has_differences = s->jacobian == YOKE_JACOBIAN_FINITE_DIFFERENCE;
    add_columns(g, i);
  }
  if (compares) add_task(g, i, GRAPH_COMPARISON);
}

/* Subsystem by subsystem, so that what one of them needs is still in the cache for its next integration. */
static void add_pass(yoke_graph *g, bool with_columns, bool compares) {
  begin_tasks(g);
  for (int i = 0; i < g->n_subsystems; ++i) add_all_of(g, i, with_columns, compares);
}

/* Subsystems that had no response to tell in this step are perturbed now. */
static yoke_status pass_refused(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  begin_tasks(g);
  for (int i = 0; i < g->n_subsystems; ++i) {
    if (g->subsystems[i].jacobian == YOKE_JACOBIAN_TANGENT) add_columns(g, i);
  }
  if (g->n_tasks == 0) return YOKE_OK;
  const bool is_fine = run_tasks(g, g->aims, statistics);
  if (yoke_context_is_cancelled(ctx)) return YOKE_E_INTERRUPTED;
  return is_fine ? YOKE_OK : check_tasks(g, ctx);
}

/* dy/dw behind the integrations that give it. */
static yoke_status take_columns(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  YOKE_TRY(pass_refused(g, statistics, ctx));
  for (int i = 0; i < g->n_subsystems; ++i) {
    if (g->subsystems[i].jacobian == YOKE_JACOBIAN_ANALYTIC)
      YOKE_TRY(graph_analytic_columns(g, i, ctx));
    else
      YOKE_TRY(finish_columns(g, &g->subsystems[i]));
  }
  return YOKE_OK;
}

/* dy/dw of linear subsystems is that of an earlier step of the same length and degree. */
static bool has_columns(const yoke_graph *g) {
  return g->settings.has_linear_parts && g->columns.is_made && g->columns.degree == g->degree &&
         fabs(g->H - g->columns.H) <= 1e-10 * g->H;
}

yoke_status graph_pass(yoke_graph *g, int aims, yoke_step_statistics *statistics, yoke_context *ctx) {
  if (has_columns(g)) aims &= ~GRAPH_COLUMNS;
  const bool with_columns = aims & GRAPH_COLUMNS;
  const bool is_first     = g->n_passes++ == 0;
  YOKE_TRY(graph_watch_nodes(g, ctx));
  bool compares = is_first && (g->comparison == YOKE_COMPARISON_HIGHER || g->comparison == YOKE_COMPARISON_END);
  if (compares) compares = g->is_compared = graph_compare_ahead(g);
  g->is_touched = g->is_touched || with_columns;
  add_pass(g, with_columns, compares);
  const bool is_fine = run_tasks(g, aims, statistics);
  if (is_cancelled(g, ctx)) return YOKE_E_INTERRUPTED; /* perturbed integrations may have ended early */
  if (!is_fine) {
    YOKE_TRY(pass_status(g, ctx));
    YOKE_TRY(check_tasks(g, ctx));
  }
  if (is_first && g->keeps_predicted) keep_predicted(g);
  if (!with_columns) return YOKE_OK;
  YOKE_TRY(take_columns(g, statistics, ctx));
  g->columns = (matrix_tag){.is_made = true, .degree = g->degree, .H = g->H};
  return YOKE_OK;
}

yoke_status graph_pass_one(yoke_graph *g, int subsystem, int aims, yoke_step_statistics *statistics,
                           yoke_context *ctx) {
  begin_tasks(g);
  add_task(g, subsystem, -1);
  const bool is_fine = run_tasks(g, aims, statistics);
  if (is_cancelled(g, ctx)) return YOKE_E_INTERRUPTED;
  if (is_fine) return YOKE_OK;
  YOKE_TRY(main_status(g, &g->tasks[0], ctx));
  return look_for_end(g, &g->tasks[0]);
}

yoke_status graph_pass_stretches(yoke_graph *g, int point, yoke_step_statistics *statistics, yoke_context *ctx) {
  begin_tasks(g);
  for (int i = 0; i < g->n_subsystems; ++i) {
    if (graph_begins_stretch(g, i, point)) add_task(g, i, -1);
  }
  const bool is_fine = run_tasks(g, GRAPH_LAST, statistics);
  if (is_cancelled(g, ctx)) return YOKE_E_INTERRUPTED;
  return is_fine ? YOKE_OK : pass_status(g, ctx);
}
