/* One pass of a graph: all integrations of the macro step. */
#include "coupling/comparison.h"
#include "base/cancel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Size of a perturbation: what the last step corrected (Kraft), but no less than a share of the value (Lu), so that it stands out of
 * the solver's noise. Responses of positions are of order H^2, so the share is large; linear problems do not mind. */
static double perturbation(const graph_channel *channel) {
  const double share = channel->info.is_force ? 1e-2 : 1e-4;
  return fmax(channel->kept->correction,
              share * fmax(fmax(fabs(channel->kept->past[0]), channel->kept->sizes.perturbation), 1.0));
}

static void run_task(void *user, int index, int worker) {
  yoke_graph      *g    = user;
  graph_task      *task = &g->tasks[index];
  graph_subsystem *s    = &g->subsystems[task->subsystem];
  const bool       main = task->column == -1, compares = task->column == GRAPH_COMPARISON;
  const bool       repeats = s->trial != NULL;
  void            *state   = !repeats ? s->accepted : main ? s->trial : compares ? s->compared : s->variant[worker];
  double          *y       = main ? s->y_new : compares ? s->y_compared : g->variant_y[worker];
  yoke_context    *ctx     = main ? s->ctx : g->worker_ctx[worker];
  double           times[GRAPH_MAX_BREAKS + 2];
  yoke_signal      signal;
  const double     size = main || compares ? 0.0 : perturbation(&g->channels[s->column_channel[task->column]]);
  yoke_context_clear(ctx);
  yoke_context_watch_with(ctx, g->pass_ctx, worker == 0);
  graph_signal(g, task->subsystem, task->column, size, times, g->signal_c[worker], &signal);
  if (!repeats) s->is_ahead = true;
  yoke_step_request request = yoke_step_over(&signal, g->block->past_t[0], g->H);
  request.begins_anew       = g->block->begins_anew;
  yoke_status status        = repeats ? yoke_subsystem_copy(s->subsystem, state, s->accepted) : YOKE_OK;
  if (status == YOKE_OK) status = yoke_subsystem_step(s->subsystem, g->scratch[worker], state, &signal, &request, ctx);
  if (status == YOKE_OK)
    status = yoke_subsystem_output(s->subsystem, g->scratch[worker], state, &signal, YOKE_SIDE_LEFT, y);
  task->status = status;
  if (main) {
    s->status = status;
    return;
  }
  if (compares) { /* a comparison that fails tells of a large error */
    for (int k = 0; status != YOKE_OK && k < s->subsystem->ny; ++k) y[k] = (double)INFINITY;
    return;
  }
  double *column = s->dy + (size_t)task->column * (size_t)s->subsystem->ny;
  for (int k = 0; k < s->subsystem->ny; ++k) column[k] = status == YOKE_OK ? y[k] : (double)NAN;
}

/* Perturbed outputs become derivatives once the main outputs are known. */
static yoke_status finish_columns(yoke_graph *g) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    for (int c = 0; c < s->n_columns; ++c) {
      const double size   = perturbation(&g->channels[s->column_channel[c]]);
      double      *column = s->dy + (size_t)c * (size_t)s->subsystem->ny;
      for (int k = 0; k < s->subsystem->ny; ++k) {
        column[k] = (column[k] - s->y_new[k]) / size;
        if (!isfinite(column[k])) return YOKE_NON_FINITE;
      }
    }
  }
  return YOKE_OK;
}

/* What the integration of one subsystem says, its messages with its name. */
static yoke_status subsystem_status(const graph_subsystem *s, yoke_context *ctx) {
  char name[200];
  if (s->status == YOKE_OK) return YOKE_OK;
  snprintf(name, sizeof name, "subsystem '%.180s': ", s->subsystem->name);
  for (size_t k = 0; k < yoke_context_n_messages(s->ctx); ++k) {
    const char *said = yoke_context_message(s->ctx, k);
    yoke_fail(ctx, s->status, "%s%s", strncmp(said, name, strlen(name)) == 0 ? "" : name, said);
  }
  return s->status;
}

/* The first subsystem that failed speaks for the pass. */
static yoke_status pass_status(const yoke_graph *g, yoke_context *ctx) {
  if (yoke_context_is_cancelled(ctx)) return YOKE_E_INTERRUPTED; /* perturbed integrations may have ended early */
  for (int i = 0; i < g->n_subsystems; ++i) YOKE_TRY(subsystem_status(&g->subsystems[i], ctx));
  return YOKE_OK;
}

/* Of integrations beside the main ones only a lack of memory ends the pass; all else shows in what they give. */
static yoke_status check_memory(const yoke_graph *g, yoke_context *ctx) {
  for (int k = 0; k < g->n_tasks; ++k) {
    if (g->tasks[k].status == YOKE_E_MEMORY)
      return yoke_out_of_memory(ctx, "a step of subsystem '%s'", g->subsystems[g->tasks[k].subsystem].subsystem->name);
  }
  return YOKE_OK;
}

/* Outputs of the predicted inputs, for the error estimate. */
static void keep_predicted(yoke_graph *g) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    memcpy(s->y_predicted, s->y_new, (size_t)s->subsystem->ny * sizeof(double));
  }
}

yoke_status graph_pass_comparison(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  for (int i = 0; i < g->n_subsystems; ++i) g->tasks[i] = (graph_task){.subsystem = i, .column = GRAPH_COMPARISON};
  g->n_tasks = g->n_subsystems;
  statistics->integrations += g->n_tasks;
  yoke_exec_run(g->exec, g->n_tasks, run_task, g);
  return check_memory(g, ctx);
}

yoke_status graph_pass(yoke_graph *g, bool with_columns, yoke_step_statistics *statistics, yoke_context *ctx) {
  const bool analytic = g->settings.jacobian == YOKE_JACOBIAN_ANALYTIC;
  g->n_tasks          = 0;
  for (int i = 0; i < g->n_subsystems; ++i) g->tasks[g->n_tasks++] = (graph_task){.subsystem = i, .column = -1};
  for (int i = 0; with_columns && !analytic && i < g->n_subsystems; ++i) {
    for (int c = 0; c < g->subsystems[i].n_columns; ++c)
      g->tasks[g->n_tasks++] = (graph_task){.subsystem = i, .column = c};
  }
  const bool is_first = g->n_passes++ == 0;
  if (is_first && (g->comparison == YOKE_COMPARISON_HIGHER || g->comparison == YOKE_COMPARISON_END)) {
    g->is_compared = graph_compare_ahead(g);
    for (int i = 0; g->is_compared && i < g->n_subsystems; ++i)
      g->tasks[g->n_tasks++] = (graph_task){.subsystem = i, .column = GRAPH_COMPARISON};
  }
  statistics->integrations += g->n_tasks;
  yoke_exec_run(g->exec, g->n_tasks, run_task, g);
  YOKE_TRY(pass_status(g, ctx));
  YOKE_TRY(check_memory(g, ctx));
  if (is_first && g->keeps_predicted) keep_predicted(g);
  if (!with_columns) return YOKE_OK;
  return analytic ? graph_analytic_columns(g, ctx) : finish_columns(g);
}

yoke_status graph_pass_one(yoke_graph *g, int subsystem, yoke_step_statistics *statistics, yoke_context *ctx) {
  g->tasks[0] = (graph_task){.subsystem = subsystem, .column = -1};
  g->n_tasks  = 1;
  ++statistics->integrations;
  yoke_exec_run(g->exec, 1, run_task, g);
  return yoke_context_is_cancelled(ctx) ? YOKE_E_INTERRUPTED : subsystem_status(&g->subsystems[subsystem], ctx);
}
