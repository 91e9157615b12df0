/* Events and restarts of a graph: what subsystems found inside a trial step, states that change from outside, and a history that
 * begins anew. */
#include "coupling/comparison.h"
#include "coupling/graph_balance.h"
#include "coupling/kept_matrix.h"
#include "coupling/multirate.h"
#include "coupling/state_reset.h"

#include <math.h>
#include <string.h>

/* The state that the last trial ended with; once that is accepted, the accepted one. */
static void *stepped(const yoke_graph *g, const graph_subsystem *s) {
  return s->trial != NULL && g->is_stepping ? s->trial : s->accepted;
}

yoke_found_events yoke_graph_events(const yoke_graph *g, int i) {
  const graph_subsystem *s = &g->subsystems[i];
  if (s->subsystem->ops->events == NULL) return (yoke_found_events){.until = (double)INFINITY};
  return s->subsystem->ops->events->found(s->subsystem, stepped(g, s));
}

double yoke_graph_event_ahead(const yoke_graph *g, int i, int event) {
  const graph_subsystem *s = &g->subsystems[i];
  return s->subsystem->ops->events->ahead(s->subsystem, g->scratch[0], stepped(g, s), event);
}

void yoke_graph_event_done(yoke_graph *g, int i, int event) {
  const graph_subsystem *s = &g->subsystems[i];
  s->subsystem->ops->events->done(s->subsystem, g->scratch[0], s->accepted, event);
}

yoke_status yoke_graph_act(yoke_graph *g, int i, int event, yoke_context *ctx) {
  const graph_subsystem *s = &g->subsystems[i];
  double                 times[2];
  yoke_signal            signal;
  graph_held_signal(g, i, g->block->past_t[0], times, g->signal_c[0], &signal);
  return s->subsystem->ops->events->act(s->subsystem, g->scratch[0], s->accepted, event, &signal, ctx);
}

static yoke_status refresh_one(yoke_graph *g, int i, void *ctx) {
  graph_subsystem *s = &g->subsystems[i];
  double           times[2];
  yoke_signal      signal;
  graph_held_signal(g, i, g->block->past_t[0], times, g->signal_c[0], &signal);
  const yoke_status status =
      yoke_subsystem_output(s->subsystem, g->scratch[0], s->accepted, &signal, YOKE_SIDE_LEFT, s->y);
  if (status == YOKE_OK) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_UNSTABLE, "subsystem '%s': outputs at t = %.9g s are not finite", s->subsystem->name,
                   g->block->past_t[0]);
}

/* Outputs of states that were assigned. */
static yoke_status refresh(yoke_graph *g, yoke_context *ctx) {
  return graph_each_subsystem(g, refresh_one, ctx);
}

yoke_status yoke_graph_reset_joints(yoke_graph *g, yoke_context *ctx) {
  if (g->joints == NULL) YOKE_TRY(yoke_state_reset_create(ctx, g, false, &g->joints));
  if (g->joints != NULL) YOKE_TRY(yoke_state_reset_run(g->joints, g, ctx));
  return refresh(g, ctx);
}

static yoke_status kick(yoke_graph *g, int i, bool *is_kicked, yoke_context *ctx) {
  const graph_subsystem *s = &g->subsystems[i];
  double                 times[2];
  yoke_signal            signal;
  *is_kicked = false;
  if (s->subsystem->ops->reset == NULL || s->subsystem->ops->reset->kick == NULL) return YOKE_OK;
  graph_held_signal(g, i, g->block->past_t[0], times, g->signal_c[0], &signal);
  return s->subsystem->ops->reset->kick(s->subsystem, g->scratch[0], s->accepted, &signal, is_kicked, ctx);
}

yoke_status yoke_graph_kick(yoke_graph *g, bool *any, yoke_context *ctx) {
  *any = false;
  for (int i = 0; i < g->n_subsystems; ++i) {
    bool is_kicked;
    YOKE_TRY(kick(g, i, &is_kicked, ctx));
    *any = *any || is_kicked;
  }
  return *any ? yoke_graph_reset_joints(g, ctx) : YOKE_OK;
}

/* Values before the restart say nothing about those behind it; neither do jumps towards divergence. */
static void forget(yoke_graph *g) {
  g->block->n_past = 1;
  g->is_stepping   = false;
  graph_matrix_drop(g);
  graph_multirate_forget(g);
  for (int c = 0; c < g->n_channels; ++c) {
    graph_kept *kept = g->channels[c].kept;
    kept->n_inner    = 0;
    kept->growth     = (graph_growth){0};
    graph_sizes_set(&kept->sizes, fmax(kept->sizes.usual, fabs(kept->past[0])));
  }
}

/* What outputs y at T_N were computed with is the past from here on. */
static void keep_outputs(yoke_graph *g) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    memcpy(s->past_y, s->y, (size_t)s->subsystem->ny * sizeof(double));
  }
  g->block->begins_anew = true;
  graph_consistent_start(g);
}

yoke_status graph_begin_anew(yoke_graph *g, const graph_instant *kept, yoke_context *ctx) {
  for (int w = 0; w < g->n_wires; ++w)
    g->wires[w].is_given = (kept != NULL && graph_instant_takes(kept, w)) || g->wires[w].wire.formulation->for_signals;
  forget(g);
  YOKE_TRY(graph_balance(g, g->block->past_t[0], YOKE_SIDE_LEFT, ctx));
  if (g->has_signals && g->signals == NULL) YOKE_TRY(graph_instant_create(g, GRAPH_FOR_SIGNALS, ctx, &g->signals));
  if (g->has_signals) YOKE_TRY(graph_balance_instant(g, g->signals, YOKE_SIDE_LEFT, ctx));
  keep_outputs(g);
  return YOKE_OK;
}

yoke_status yoke_graph_restart(yoke_graph *g, yoke_context *ctx) {
  const double t = g->block->past_t[0];
  YOKE_TRY(graph_outputs_with_history(g, t, YOKE_SIDE_RIGHT));
  if (g->n_overlaps > 0) { /* what was assigned to originals */
    graph_overlap_renew(g);
    YOKE_TRY(graph_outputs_with_history(g, t, YOKE_SIDE_RIGHT));
  }
  if (g->anew == NULL) YOKE_TRY(graph_instant_create(g, GRAPH_FOR_RESTART, ctx, &g->anew));
  for (int w = 0; w < g->n_wires; ++w) g->wires[w].is_given = graph_instant_takes(g->anew, w);
  YOKE_TRY(graph_balance_instant(g, g->anew, YOKE_SIDE_RIGHT, ctx));
  forget(g);
  keep_outputs(g);
  return YOKE_OK;
}

void yoke_graph_begin_events(yoke_graph *g) {
  for (int i = 0; g->has_signals && i < g->n_subsystems; ++i) {
    const graph_subsystem *s = &g->subsystems[i];
    double                 times[2];
    yoke_signal            signal;
    if (s->subsystem->ops->events == NULL) continue;
    graph_held_signal(g, i, g->block->past_t[0], times, g->signal_c[0], &signal);
    s->subsystem->ops->events->begin(s->subsystem, g->scratch[0], s->accepted, &signal);
  }
}
