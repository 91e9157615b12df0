/* The block of a graph: what is kept from step to step, in one piece of memory. */
#include "coupling/graph_internal.h"

/* Where the parts lie: bytes from the start of the block. */
typedef struct places {
  size_t channels, outputs, broyden, end;
} places;

static places find_places(const yoke_graph *g) {
  const size_t n_c = g->settings.jacobian == YOKE_JACOBIAN_BROYDEN ? (size_t)g->n_c : 0;
  places       p   = {.channels = sizeof(graph_block)};
  p.outputs        = p.channels + (size_t)g->n_channels * sizeof(graph_kept);
  p.broyden        = p.outputs;
  for (int i = 0; i < g->n_subsystems; ++i)
    p.broyden += (GRAPH_PAST + 1) * (size_t)g->subsystems[i].subsystem->ny * sizeof(double);
  p.end = p.broyden + n_c * n_c * sizeof(double);
  return p;
}

_Static_assert(sizeof(graph_block) % sizeof(double) == 0 && sizeof(graph_kept) % sizeof(double) == 0,
               "parts of the block lie behind each other");

yoke_status graph_take_block(yoke_graph *g, yoke_context *ctx) {
  const places p  = find_places(g);
  char        *at = yoke_arena_take(&g->arena, p.end, 1);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "the history of %d channels", g->n_channels));
  g->block            = (graph_block *)(void *)at;
  g->block_size       = p.end;
  graph_kept *kept    = (graph_kept *)(void *)(at + p.channels);
  double     *outputs = (double *)(void *)(at + p.outputs);
  for (int c = 0; c < g->n_channels; ++c) g->channels[c].kept = &kept[c];
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    s->y               = outputs;
    s->past_y          = outputs + s->subsystem->ny;
    outputs += (GRAPH_PAST + 1) * (ptrdiff_t)s->subsystem->ny;
  }
  g->broyden_kept = (double *)(void *)(at + p.broyden);
  return YOKE_OK;
}
