/* The block of a graph: what is kept from step to step, in one piece of memory. */
#include "coupling/graph_internal.h"

/* Where the parts lie: bytes from the start of the block. */
typedef struct places {
  size_t channels, outputs, broyden, end;
} places;

/* Who reads the past: predictors and layouts k + 1 points, k the highest degree of the run and of channels with one of their own; least
 * squares all its samples; step control (yoke_graph_control) as many as there are. */
static int count_channel_points(const yoke_graph *g) {
  const bool reads_samples = g->settings.predictor == YOKE_PREDICTOR_LEAST_SQUARES;
  const int  depth         = yoke_graph_depth(g);
  return reads_samples || depth > GRAPH_PAST ? GRAPH_PAST : depth;
}

/* Outputs are continued by their accelerations: by the predictors that are named so and, one degree higher, in their comparison; and one
 * after another for subsystems that are still to come. Gradients of joints belong to them (graph_feeds.c). */
static int count_output_points(const yoke_graph *g) {
  const bool is_motion = yoke_predictor_is_motion(g->settings.predictor);
  const int  degree    = graph_acceleration_degree(g, g->settings.order);
  const int  predictor = is_motion ? (degree > g->settings.order ? degree : g->settings.order) + 2 : 1;
  const int  sequence  = g->settings.gauss_seidel ? g->settings.order + 1 : 1;
  const int  gradients = g->has_shares ? GRAPH_SIGNAL_DEGREE : 1; /* at all points that a signal goes through */
  int        most      = predictor > sequence ? predictor : sequence;
  if (gradients > most) most = gradients;
  return most < GRAPH_PAST ? most : GRAPH_PAST;
}

static places find_places(const yoke_graph *g) {
  const size_t n_c = g->settings.jacobian == YOKE_JACOBIAN_BROYDEN ? (size_t)g->n_c : 0;
  places       p   = {.channels = sizeof(graph_block)};
  p.outputs        = p.channels + (size_t)g->n_channels * sizeof(graph_kept);
  p.broyden        = p.outputs;
  for (int i = 0; i < g->n_subsystems; ++i)
    p.broyden += (size_t)(g->output_points + 1) * (size_t)g->subsystems[i].subsystem->ny * sizeof(double);
  p.end = p.broyden + n_c * n_c * sizeof(double);
  return p;
}

_Static_assert(sizeof(graph_block) % sizeof(double) == 0 && sizeof(graph_kept) % sizeof(double) == 0,
               "parts of the block lie behind each other");

yoke_status graph_take_block(yoke_graph *g, yoke_context *ctx) {
  g->channel_points = count_channel_points(g);
  g->output_points  = count_output_points(g);
  const places p    = find_places(g);
  char        *at   = yoke_arena_take(&g->arena, p.end, 1);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "the history of %d channels", g->n_channels));
  g->block            = (graph_block *)(void *)at;
  g->block_size       = p.end;
  graph_kept *kept    = (graph_kept *)(void *)(at + p.channels);
  double     *outputs = (double *)(void *)(at + p.outputs);
  for (int c = 0; c < g->n_channels; ++c) g->channels[c].kept = &kept[c];
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    s->first_y         = i > 0 ? s[-1].first_y + s[-1].subsystem->ny : 0;
    s->y               = outputs;
    s->past_y          = outputs + s->subsystem->ny;
    outputs += (g->output_points + 1) * (ptrdiff_t)s->subsystem->ny;
  }
  g->broyden_kept = (double *)(void *)(at + p.broyden);
  return YOKE_OK;
}

const void *yoke_graph_block(const yoke_graph *g, size_t *size) {
  *size = g->block_size;
  return g->block;
}
