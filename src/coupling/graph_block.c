/* The block of a graph: what is kept from step to step, in one piece of memory. */
#include "coupling/kept_matrix.h"
#include "coupling/multirate.h"

#include <math.h>
#include <string.h>

/* Where the parts lie: bytes from the start of the block. */
typedef struct places {
  size_t channels, outputs, held, fast, broyden, columns, end;
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

/* Bytes up to the next cache line: what every step reads of a channel or a small subsystem lies on few of them. */
static size_t whole_lines(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

static places find_places(const yoke_graph *g) {
  const size_t n_c = g->broyden != NULL ? (size_t)g->n_c : 0;
  places       p   = {.channels = whole_lines(sizeof(graph_block))};
  p.outputs        = whole_lines(p.channels + (size_t)g->n_channels * sizeof(graph_kept));
  p.held           = p.outputs;
  for (int i = 0; i < g->n_subsystems; ++i)
    p.held += (size_t)(g->output_points + 1) * (size_t)g->subsystems[i].subsystem->ny * sizeof(double);
  p.fast    = p.held + (size_t)g->n_held * sizeof(double);
  p.broyden = p.fast + graph_multirate_n_kept(g) * sizeof(double);
  p.columns = p.end = p.broyden + n_c * n_c * sizeof(double);
  for (int i = 0; graph_keeps_columns(g) && i < g->n_subsystems; ++i)
    p.end += (size_t)g->subsystems[i].n_columns * (size_t)g->subsystems[i].subsystem->ny * sizeof(double);
  return p;
}

_Static_assert(sizeof(graph_block) % sizeof(double) == 0 && sizeof(graph_kept) % sizeof(double) == 0,
               "parts of the block lie behind each other");

yoke_status graph_take_block(yoke_graph *g, yoke_context *ctx) {
  g->channel_points     = count_channel_points(g);
  g->output_points      = count_output_points(g);
  g->reads_past_outputs = g->has_shares || g->settings.gauss_seidel || yoke_predictor_is_motion(g->settings.predictor);
  const places p        = find_places(g);
  char        *at       = yoke_arena_take(&g->arena, p.end, 1);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "the history of %d channels", g->n_channels));
  g->block            = (graph_block *)(void *)at;
  g->block_size       = p.end;
  graph_kept *kept    = (graph_kept *)(void *)(at + p.channels);
  double     *outputs = (double *)(void *)(at + p.outputs), *columns = (double *)(void *)(at + p.columns);
  ptrdiff_t   n_y = 0;
  for (int i = 0; i < g->n_subsystems; ++i) n_y += g->subsystems[i].subsystem->ny;
  for (int c = 0; c < g->n_channels; ++c) g->channels[c].kept = &kept[c];
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    s->first_y         = i > 0 ? s[-1].first_y + s[-1].subsystem->ny : 0;
    s->y               = outputs + s->first_y;
    s->past_y          = outputs + n_y + g->output_points * s->first_y;
    s->dy_kept         = columns;
    if (graph_keeps_columns(g)) columns += s->n_columns * (ptrdiff_t)s->subsystem->ny;
  }
  g->held = (double *)(void *)(at + p.held);
  graph_multirate_keep(g, (double *)(void *)(at + p.fast));
  g->broyden_kept = (double *)(void *)(at + p.broyden);
  return YOKE_OK;
}

static bool is_sound_head(const graph_block *head, double t) {
  if (!yoke_is_bool(&head->made.is_made) || !yoke_is_bool(&head->begins_anew)) return false;
  if (!yoke_is_count(head->made.age)) return false;
  if (head->n_accepted < 0 || head->n_accepted > INT64_MAX / 2 || head->n_past < 1 || head->n_past > GRAPH_PAST)
    return false;
  if (head->past_t[0] != t || !isfinite(t)) return false;
  for (int i = 1; i < head->n_past; ++i) {
    if (!(head->past_t[i] < head->past_t[i - 1])) return false;
  }
  return true;
}

static bool is_sound_kept(const graph_kept *kept, int n_nodes) {
  const graph_growth *growth = &kept->growth;
  return (kept->n_inner == 0 || kept->n_inner == n_nodes - 1) && yoke_is_count(growth->n_growing) &&
         yoke_is_count(growth->n_flips) && yoke_is_count(growth->n_quiet);
}

bool graph_block_is_sound(const yoke_graph *g, const void *bytes, double t) {
  const places p = find_places(g);
  graph_block  head;
  memcpy(&head, bytes, sizeof head);
  if (!is_sound_head(&head, t)) return false;
  for (int c = 0; c < g->n_channels; ++c) {
    graph_kept kept;
    memcpy(&kept, (const char *)bytes + p.channels + (size_t)c * sizeof kept, sizeof kept);
    if (!is_sound_kept(&kept, g->channels[c].n_nodes)) return false;
  }
  for (int k = 0; k < g->n_held; ++k) {
    double value;
    memcpy(&value, (const char *)bytes + p.held + (size_t)k * sizeof value, sizeof value);
    if (!isfinite(value)) return false;
  }
  return graph_multirate_is_sound(g, (const char *)bytes + p.fast);
}

const void *yoke_graph_block(const yoke_graph *g, size_t *size) {
  *size = g->block_size;
  return g->block;
}
