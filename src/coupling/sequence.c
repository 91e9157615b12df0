#include "coupling/sequence.h"
#include "coupling/graph_feeds.h"

/* End node from an interpolated value; the relaxed predictor takes its share of the extrapolated one (Kraft 4.12). */
static void set_end(yoke_graph *g, const graph_channel *channel, double u) {
  double *end = &g->w[channel->w_at + channel->n_nodes - 1];
  *end        = u;
  if (g->settings.predictor != YOKE_PREDICTOR_ACCELERATION_RELAXED || yoke_channel_is_signal(&channel->info)) return;
  double extrapolated[YOKE_LAYOUT_MAX_NODES];
  graph_extrapolate(g, channel, extrapolated);
  *end += graph_acceleration_weight(g) * (extrapolated[channel->n_nodes - 1] - u);
}

/* Does anything of a wire enter this side? */
static bool is_driven(const yoke_graph *g, const graph_wire *wire, int side) {
  for (int k = 0; k < wire->n_channels; ++k) {
    if (graph_enters(g, wire, side, k)) return true;
  }
  return false;
}

/* New end nodes for what enters subsystem i from partners already integrated. */
static void refresh_inputs(yoke_graph *g, int i, bool has_pass) {
  const graph_subsystem *mine = &g->subsystems[i];
  for (int e = 0; e < mine->n_ends; ++e) {
    const graph_wire      *wire  = &g->wires[mine->ends[e].wire];
    const int              side  = mine->ends[e].side;
    const graph_subsystem *other = &g->subsystems[wire->wire.subsystem[1 - side]];
    double                *own = wire->lent->ahead[side], *u = wire->lent->u;
    const double          *y[2];
    if (other->place >= mine->place || !is_driven(g, wire, side)) continue;
    if (has_pass) {
      y[side] = graph_port(wire, side, mine->y_new);
    } else {
      const bool relaxed = g->settings.predictor == YOKE_PREDICTOR_ACCELERATION_RELAXED;
      const int  lower   = g->wanted > 0 ? g->wanted - 1 : 0;
      graph_port_ahead(g, wire, side, relaxed ? graph_acceleration_degree(g, g->wanted) : lower, 1.0, own);
      y[side] = own;
    }
    y[1 - side] = graph_port(wire, 1 - side, other->y_new);
    graph_update(g, wire, g->t_next, y[0], y[1], u);
    for (int k = 0; k < wire->n_channels; ++k) {
      const graph_channel *channel = &g->channels[wire->first + k];
      if (graph_enters(g, wire, side, k)) set_end(g, channel, u[k]);
    }
  }
}

yoke_status graph_pass_in_sequence(yoke_graph *g, bool has_pass, int aims, yoke_step_statistics *statistics,
                                   yoke_context *ctx) {
  for (int k = 0; k < g->n_subsystems; ++k) {
    if (k > 0) refresh_inputs(g, g->sequence[k], has_pass);
    YOKE_TRY(graph_pass_one(g, g->sequence[k], aims, statistics, ctx));
  }
  return YOKE_OK;
}
