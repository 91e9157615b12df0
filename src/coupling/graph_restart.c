/* Events and restarts of a graph: what subsystems found inside a trial step, states that change from outside, and a history that
 * begins anew. */
#include "coupling/comparison.h"

#include <math.h>
#include <string.h>

/* The state that the last trial ended with. */
static void *stepped(const graph_subsystem *s) {
  return s->trial != NULL ? s->trial : s->accepted;
}

yoke_found_events yoke_graph_events(const yoke_graph *g, int i) {
  const graph_subsystem *s = &g->subsystems[i];
  if (s->subsystem->ops->events == NULL) return (yoke_found_events){.until = (double)INFINITY};
  return s->subsystem->ops->events->found(s->subsystem, stepped(s));
}

double yoke_graph_event_ahead(const yoke_graph *g, int i, int event) {
  const graph_subsystem *s = &g->subsystems[i];
  return s->subsystem->ops->events->ahead(s->subsystem, g->scratch[0], stepped(s), event);
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

yoke_status yoke_graph_assign(yoke_graph *g, int i, const double *q, const double *v, yoke_context *ctx) {
  graph_subsystem *s = &g->subsystems[i];
  double           times[2];
  yoke_signal      signal;
  if (s->subsystem->ops->events == NULL || s->subsystem->ops->events->assign == NULL) {
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "subsystem '%s' cannot take new positions and velocities at t = %.9g s",
                     s->subsystem->name, g->block->past_t[0]);
  }
  graph_held_signal(g, i, g->block->past_t[0], times, g->signal_c[0], &signal);
  return s->subsystem->ops->events->assign(s->subsystem, g->scratch[0], s->accepted, q, v, &signal, ctx);
}

yoke_status yoke_graph_refresh(yoke_graph *g, yoke_context *ctx) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    double           times[2];
    yoke_signal      signal;
    graph_held_signal(g, i, g->block->past_t[0], times, g->signal_c[0], &signal);
    const yoke_status status =
        yoke_subsystem_output(s->subsystem, g->scratch[0], s->accepted, &signal, YOKE_SIDE_LEFT, s->y);
    if (status == YOKE_OK) continue;
    return yoke_fail(ctx, YOKE_E_UNSTABLE, "subsystem '%s': outputs at t = %.9g s are not finite", s->subsystem->name,
                     g->block->past_t[0]);
  }
  return YOKE_OK;
}

/* Values before the restart say nothing about those behind it; neither do jumps towards divergence. */
static void forget(yoke_graph *g, const double *const *given) {
  g->block->n_past = 1;
  g->is_stepping   = false;
  for (int c = 0; c < g->n_channels; ++c) {
    graph_channel *channel = &g->channels[c];
    const double  *values  = given[channel->wire];
    channel->kept->n_inner = 0;
    channel->kept->growth  = (graph_growth){0};
    if (values != NULL) channel->kept->past[0] = values[c - g->wires[channel->wire].first];
    graph_sizes_set(&channel->kept->sizes, fmax(channel->kept->sizes.usual, fabs(channel->kept->past[0])));
  }
  for (int w = 0; w < g->n_wires; ++w) g->wires[w].is_given = given[w] != NULL;
}

yoke_status yoke_graph_restart(yoke_graph *g, const double *const *given, yoke_context *ctx) {
  forget(g, given);
  YOKE_TRY(graph_balance(g, g->block->past_t[0], ctx));
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    memcpy(s->past_y, s->y, (size_t)s->subsystem->ny * sizeof(double));
  }
  g->block->begins_anew = true;
  graph_consistent_start(g);
  return YOKE_OK;
}
