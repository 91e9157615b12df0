/* Acceptance: the last trial becomes the state and the history at its time. */
#include "coupling/comparison.h"

#include <math.h>
#include <string.h>

static void shift(double *list, int n) {
  memmove(list + 1, list, (size_t)(n - 1) * sizeof *list);
}

yoke_status yoke_graph_accept(yoke_graph *g, yoke_context *ctx) {
  if (!g->trial_ready) return yoke_fail(ctx, YOKE_E_INTERNAL, "there is no trial step to accept");
  g->trial_ready = false;
  for (int w = 0; w < g->n_wires; ++w) YOKE_TRY(graph_watch_motion(g, &g->wires[w], ctx));
  for (int c = 0; c < g->n_channels; ++c) {
    graph_channel *channel = &g->channels[c];
    const double   jump    = channel->value - g->w_predicted[channel->w_at + channel->n_nodes - 1];
    if (channel->info.enters[0] == YOKE_ENTRY_NONE && channel->info.enters[1] == YOKE_ENTRY_NONE) continue;
    YOKE_TRY(graph_watch(g, channel, jump, channel->value, ctx));
    channel->correction = fabs(jump);
  }
  for (int c = 0; c < g->n_channels; ++c) {
    graph_channel *channel = &g->channels[c];
    channel->n_inner       = channel->n_nodes - 1;
    for (int j = 0; j < channel->n_inner; ++j) {
      channel->inner[j]   = g->w[channel->w_at + j];
      channel->inner_t[j] = g->past_t[0] + g->H * yoke_layout_node(&channel->layout, j);
    }
    shift(channel->past, GRAPH_PAST);
    channel->past[0] = channel->value;
  }
  if (g->has_consistent) graph_consistent_accept(g);
  if (g->broyden != NULL) {
    const size_t n = (size_t)g->n_c;
    memcpy(g->broyden + n * n, g->broyden, n * n * sizeof *g->broyden);
    g->made_accepted = g->made;
  }
  shift(g->past_t, GRAPH_PAST);
  g->past_t[0] = g->t_next;
  if (g->n_past < GRAPH_PAST) ++g->n_past;
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s    = &g->subsystems[i];
    void            *swap = s->accepted;
    if (s->trial != NULL) {
      s->accepted = s->trial;
      s->trial    = swap;
    }
    s->is_ahead = false;
    yoke_subsystem_accept(s->subsystem, s->accepted);
    memcpy(s->y, s->y_new, (size_t)s->subsystem->ny * sizeof(double));
  }
  g->H = 0.0;
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s  = &g->subsystems[i];
    const size_t     ny = (size_t)s->subsystem->ny;
    memmove(s->past_y + ny, s->past_y, (GRAPH_PAST - 1) * ny * sizeof(double));
    memcpy(s->past_y, s->y, ny * sizeof(double));
  }
  g->begins_anew = false;
  ++g->n_accepted;
  return YOKE_OK;
}
