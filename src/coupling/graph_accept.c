/* Acceptance: the last trial becomes the state and the history at its time. */
#include "coupling/comparison.h"
#include "coupling/graph_feeds.h"
#include "coupling/kept_matrix.h"
#include "coupling/multirate.h"

#include <math.h>
#include <string.h>

static void shift(double *list, int n) {
  memmove(list + 1, list, (size_t)(n - 1) * sizeof *list);
}

yoke_status yoke_graph_accept(yoke_graph *g, yoke_context *ctx) {
  if (!g->trial_ready) return yoke_fail(ctx, YOKE_E_INTERNAL, "there is no trial step to accept");
  g->trial_ready = false;
  YOKE_TRY(graph_watch(g, ctx)); /* from here on nothing fails */
  graph_watch_accept(g);
  graph_observe_accept(g);
  for (int c = 0; c < g->n_channels; ++c) {
    graph_channel *channel = &g->channels[c];
    channel->kept->mean    = channel->applied;
    if (channel->n_nodes > 1) {
      const yoke_past past = graph_past(g, channel);
      channel->kept->mean  = yoke_layout_measure(&channel->layout, &past, g->w + channel->w_at).integral;
    }
    channel->kept->n_inner = channel->n_nodes - 1;
    for (int j = 0; j < channel->kept->n_inner; ++j) {
      channel->kept->inner[j]   = g->w[channel->w_at + j];
      channel->kept->inner_t[j] = g->block->past_t[0] + g->H * yoke_layout_node(&channel->layout, j);
    }
    shift(channel->kept->past, g->channel_points);
    channel->kept->past[0] = channel->value;
    channel->kept->applied = channel->applied;
  }
  if (g->has_consistent) graph_consistent_accept(g);
  graph_matrix_accept(g);
  graph_multirate_accept(g);
  shift(g->block->past_t, GRAPH_PAST);
  g->block->H         = g->H;
  g->block->past_t[0] = g->t_next;
  if (g->block->n_past < GRAPH_PAST) ++g->block->n_past;
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s    = &g->subsystems[i];
    void            *swap = s->accepted;
    if (s->trial != NULL) {
      s->accepted = s->trial;
      s->trial    = swap;
    }
    s->is_ahead = false;
    if (s->has_accept) yoke_subsystem_accept(s->subsystem, s->accepted);
    const size_t ny = (size_t)s->ny;
    memcpy(s->y, s->y_new, ny * sizeof(double));
    if (!g->reads_past_outputs) continue;
    memmove(s->past_y + ny, s->past_y, (size_t)(g->output_points - 1) * ny * sizeof(double));
    memcpy(s->past_y, s->y, ny * sizeof(double));
  }
  graph_overlap_renew(g);
  graph_feeds_look(g);
  g->block->begins_anew = false;
  g->is_stepping        = false;
  ++g->block->n_accepted;
  return YOKE_OK;
}
