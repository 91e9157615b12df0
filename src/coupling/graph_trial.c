/* One trial step of a graph: prepared, driven by its scheme, judged and finished; nothing is accepted. */
#include "coupling/comparison.h"
#include "base/assert.h"
#include "coupling/correction.h"
#include "coupling/graph_feeds.h"
#include "coupling/joint_forces.h"
#include "coupling/joint_gap.h"
#include "coupling/kept_matrix.h"
#include "coupling/residuals.h"
#include "coupling/state_reset.h"
#include "base/cancel.h"

#include <math.h>
#include <string.h>

static const yoke_step_statistics no_statistics = {.rate = (double)NAN, .converged = true};

enum { SHORTER_TRIES = 20 }; /* trials to a time at which no subsystem ends earlier still */

/* A subsystem that cannot go back can be stepped once only. */
static yoke_status can_try(const yoke_graph *g, yoke_context *ctx) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    if (!g->subsystems[i].is_ahead) continue;
    return yoke_fail(ctx, YOKE_E_SUBSYSTEM, "subsystem '%s' cannot go back to t = %.9g s, where the step was rejected",
                     g->subsystems[i].subsystem->name, g->block->past_t[0]);
  }
  return YOKE_OK;
}

/* Values for the history, which step control looks at before it accepts, and the comparison that needs the result. */
static yoke_status finish_trial(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  if (g->forces != NULL) YOKE_TRY(yoke_joint_forces_find(g->forces, g, -1));
  for (int w = 0; w < g->n_wires && !g->values_tell_conditions; ++w) graph_final_values(g, &g->wires[w], g->t_next);
  if (g->settings.update && yoke_predictor_is_motion(g->settings.predictor) && g->n_overlaps < g->n_wires)
    YOKE_TRY(graph_outputs_with_values(g)); /* accelerations that belong to the final coupling values */
  if (g->comparison != YOKE_COMPARISON_CONSISTENT && g->comparison != YOKE_COMPARISON_VALUES) return YOKE_OK;
  return graph_compare_behind(g, statistics, ctx);
}

/* Predicted nodes for a trial to t_next. */
static void begin_trial(yoke_graph *g, double t_next) {
  g->is_compared    = false;
  g->n_passes       = 0;
  g->has_consistent = false;
  graph_matrix_restore(g); /* what a rejected step has learned is forgotten */
  graph_prepare(g, t_next);
  graph_observe_prepare(g);
  graph_feeds_prepare(g);
  g->t_early = t_next;
  graph_predict(g);
}

/* From T_N to t_next, or to where a single subsystem without wires ends its step. */
static yoke_status attempt(yoke_graph *g, double t_next, yoke_step_statistics *statistics, yoke_context *ctx) {
  begin_trial(g, t_next);
  statistics->degree = g->degree;
  yoke_status status = g->scheme->step(g, statistics, ctx);
  YOKE_ASSERT(status != YOKE_OK || (g->aims & GRAPH_LAST) != 0);
  if (g->t_early < t_next && status != YOKE_OK) return status;
  if (g->t_early < t_next) { /* nothing else knows of the time between */
    g->t_next = g->t_early;
    g->H      = g->t_next - g->block->past_t[0];
    graph_observe_prepare(g);
  }
  const bool has_conditions = g->values_tell_conditions || (g->scheme->leaves_conditions && g->n_exchanges == 0);
  if (status == YOKE_OK && g->values_tell_conditions)
    graph_told_conditions(g);
  else if (status == YOKE_OK)
    status = graph_exchange(g);
  if (status == YOKE_OK) status = graph_remainder(g, has_conditions, &statistics->residual, ctx);
  if (status != YOKE_E_INTERRUPTED && !isfinite(statistics->residual)) status = YOKE_NON_FINITE;
  graph_residuals_by_kind(g, statistics);
  if (status == YOKE_OK && g->reset != NULL) status = yoke_state_reset_run(g->reset, g, ctx);
  if (status == YOKE_OK) status = graph_check_gaps(g, statistics);
  if (status == YOKE_OK) status = finish_trial(g, statistics, ctx);
  return status;
}

/* A subsystem ended the step at t_early: can all of them go back to be stepped to that time? */
static yoke_status can_shorten(const yoke_graph *g, yoke_context *ctx) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    if (!g->subsystems[i].is_ahead) continue;
    return yoke_fail(ctx, YOKE_E_SUBSYSTEM,
                     "a subsystem ended the step from t = %.9g s at t = %.9g s, and subsystem '%s' was stepped already "
                     "and cannot go back",
                     g->block->past_t[0], g->t_early, g->subsystems[i].subsystem->name);
  }
  return YOKE_OK;
}

/* No trial is short enough for it. */
static yoke_status name_early(const yoke_graph *g, yoke_status status, yoke_context *ctx) {
  for (int k = 0; k < g->n_tasks; ++k) {
    const graph_task *task = &g->tasks[k];
    if (!task->is_early || task->t_reached != g->t_early) continue;
    return yoke_fail(ctx, status,
                     "subsystem '%s' ended %d steps from t = %.9g s before their end, the last at t = %.9g s",
                     g->subsystems[task->subsystem].subsystem->name, SHORTER_TRIES, g->block->past_t[0], g->t_early);
  }
  return status;
}

yoke_status yoke_graph_try(yoke_graph *g, double t_next, yoke_step_statistics *statistics, yoke_context *ctx) {
  *statistics    = no_statistics;
  g->trial_ready = false;
  g->pass_ctx    = ctx;
  YOKE_TRY(can_try(g, ctx));
  if (g->n_wires == 0 && yoke_context_is_cancelled(ctx)) return YOKE_E_INTERRUPTED;
  yoke_status status = attempt(g, t_next, statistics, ctx);
  for (int tries = 1; status > 0 && g->t_early < t_next && tries < SHORTER_TRIES; ++tries) {
    YOKE_TRY(can_shorten(g, ctx));
    t_next                            = g->t_early;
    const yoke_step_statistics so_far = *statistics;
    *statistics                       = no_statistics;
    status                            = attempt(g, t_next, statistics, ctx);
    yoke_step_add_work(statistics, &so_far);
  }
  YOKE_TRY(yoke_arena_check(&g->work, ctx, "the conditions of %d couplings", g->n_wires));
  status = yoke_graph_agree(g, "trial", status, sizeof *statistics, statistics);
  if (status > 0 && g->t_early < t_next) return name_early(g, status, ctx);
  if (status != YOKE_OK) return graph_explain_failure(g, status, ctx);
  graph_overlap_judge(g);
  g->trial_ready = true;
  return YOKE_OK;
}

yoke_status yoke_graph_rehearse(yoke_graph *g, double t_next, yoke_context *ctx) {
  yoke_step_statistics statistics = no_statistics;
  g->trial_ready                  = false;
  g->pass_ctx                     = ctx;
  begin_trial(g, t_next);
  YOKE_TRY(graph_pass(g, 0, &statistics, ctx));
  for (int i = 0; i < g->n_subsystems; ++i)
    YOKE_TRY(yoke_subsystem_copy(g->subsystems[i].subsystem, g->subsystems[i].accepted, g->subsystems[i].trial));
  return YOKE_OK;
}

double yoke_graph_trial_end(const yoke_graph *g) {
  return g->t_next;
}
