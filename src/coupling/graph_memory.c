/* The memory of a graph between macro steps as one vector (graph.h): what analyses of the step map read and write. */
#include "coupling/kept_matrix.h"
#include "coupling/multirate.h"

#include <math.h>
#include <string.h>

/* Macro points whose channel values a step at full degree reads: predictors k + 1, k the highest degree of the run and of channels with one
 * of their own; least squares all its samples. */
static int channel_depth(const yoke_graph *g) {
  const int depth = yoke_graph_depth(g);
  return g->settings.predictor == YOKE_PREDICTOR_LEAST_SQUARES && g->settings.samples > depth ? g->settings.samples
                                                                                              : depth;
}

/* Macro points whose outputs are continued by their accelerations: by the acceleration predictors, one after another for subsystems that
 * are still to come, and where gradients of joints are looked at (graph_feeds.c). */
static int output_depth(const yoke_graph *g) {
  const bool is_motion = yoke_predictor_is_motion(g->settings.predictor);
  const int  predictor = is_motion ? graph_acceleration_degree(g, g->settings.order) + 1 : 0;
  const int  sequence  = g->settings.gauss_seidel ? g->settings.order + 1 : 0;
  const int  gradients = g->has_shares ? g->settings.order + 1 : 0;
  const int  most      = predictor > sequence ? predictor : sequence;
  return gradients > most ? gradients : most;
}

static int whole_depth(const yoke_graph *g) {
  const int channels = channel_depth(g), outputs = output_depth(g);
  return channels > outputs ? channels : outputs;
}

int yoke_graph_memory_size(const yoke_graph *g) {
  const int depth = channel_depth(g);
  int       n     = 0;
  for (int c = 0; c < g->n_channels; ++c) n += depth + g->channels[c].n_nodes - 1;
  for (int i = 0; i < g->n_subsystems; ++i) n += output_depth(g) * g->subsystems[i].subsystem->ny;
  return n;
}

yoke_memory_place yoke_graph_memory_place(const yoke_graph *g, int k) {
  const int depth = channel_depth(g);
  for (int c = 0; c < g->n_channels; ++c) {
    const int n = depth + g->channels[c].n_nodes - 1, wire = g->channels[c].wire;
    if (k < n) return (yoke_memory_place){.wire = wire, .channel = c - g->wires[wire].first, .subsystem = -1};
    k -= n;
  }
  for (int i = 0; i < g->n_subsystems; ++i) {
    const int ny = g->subsystems[i].subsystem->ny, n = output_depth(g) * ny;
    if (k < n) return (yoke_memory_place){.wire = -1, .channel = -1, .subsystem = i, .output = k % ny};
    k -= n;
  }
  return (yoke_memory_place){.wire = -1, .channel = -1, .subsystem = -1};
}

void yoke_graph_memory_get(const yoke_graph *g, double *memory) {
  const int depth = channel_depth(g);
  for (int c = 0; c < g->n_channels; ++c) {
    const graph_channel *channel = &g->channels[c];
    for (int i = 0; i < depth; ++i) *memory++ = i < g->block->n_past ? channel->kept->past[i] : channel->kept->past[0];
    for (int j = 0; j < channel->n_nodes - 1; ++j)
      *memory++ = j < channel->kept->n_inner ? channel->kept->inner[j] : channel->kept->past[0];
  }
  for (int i = 0; i < g->n_subsystems; ++i) {
    const graph_subsystem *s = &g->subsystems[i];
    for (int k = 0; k < output_depth(g); ++k) {
      const size_t ny = (size_t)s->subsystem->ny;
      memcpy(memory, s->past_y + (k < g->block->n_past ? (size_t)k * ny : 0), ny * sizeof *memory);
      memory += ny;
    }
  }
}

/* A channel as if it had always been at its newest value: nothing grows, nothing was corrected. */
static void forget(graph_kept *kept) {
  kept->correction = 0.0;
  kept->growth     = (graph_growth){0};
  graph_sizes_set(&kept->sizes, fabs(kept->past[0]));
}

yoke_status yoke_graph_memory_set(yoke_graph *g, double t, double H, const double *memory) {
  const int depth  = channel_depth(g);
  g->block->n_past = whole_depth(g);
  g->trial_ready   = false;
  g->is_stepping   = false;
  memset(g->block->largest, 0, sizeof g->block->largest);
  for (int i = 0; i < g->block->n_past; ++i) g->block->past_t[i] = t - (double)i * H;
  for (int c = 0; c < g->n_channels; ++c) {
    graph_channel *channel = &g->channels[c];
    yoke_layout    layout;
    const int      wire = channel->wire;
    g->wires[wire].wire.formulation->layout(g->wires[wire].wire.self, c - g->wires[wire].first,
                                            graph_wire_order(g, &g->wires[wire]), &layout);
    for (int i = 0; i < g->block->n_past; ++i) channel->kept->past[i] = i < depth ? *memory++ : 0.0;
    channel->kept->n_inner = channel->n_nodes - 1;
    for (int j = 0; j < channel->kept->n_inner; ++j) {
      channel->kept->inner[j]   = *memory++;
      channel->kept->inner_t[j] = t - H + H * yoke_layout_node(&layout, j);
    }
    forget(channel->kept);
  }
  YOKE_TRY(graph_outputs_with_history(g, t, YOKE_SIDE_LEFT));
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s  = &g->subsystems[i];
    const size_t     ny = (size_t)s->subsystem->ny;
    s->is_ahead         = false;
    memcpy(s->past_y, s->y, ny * sizeof(double));
    memcpy(s->past_y, memory, (size_t)output_depth(g) * ny * sizeof(double));
    memory += (size_t)output_depth(g) * ny;
  }
  graph_matrix_drop(g);
  graph_multirate_forget(g);
  return YOKE_OK;
}

void *yoke_graph_state_edit(yoke_graph *g, int subsystem) {
  return g->subsystems[subsystem].accepted;
}
