#include "coupling/sequence.h"

#include <string.h>

/* Outputs of a port at T_{N+1} if it keeps the acceleration of T_N: p + T (H v + H^2/2 a), v + H a. */
static void continued(const yoke_graph *g, yoke_body_kind kind, const double *now, double *y) {
  const int n_p = yoke_port_n_p(kind), n_v = yoke_port_n_v(kind);
  double    T[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V];
  memcpy(y, now, (size_t)yoke_port_n_y(kind) * sizeof *y);
  yoke_port_tangent(kind, now, T);
  for (int k = 0; k < n_v; ++k) {
    const double v = now[n_p + k], a = now[n_p + n_v + k];
    for (int r = 0; r < n_p; ++r) y[r] += T[r * n_v + k] * (g->H * v + 0.5 * g->H * g->H * a);
    y[n_p + k] += g->H * a;
  }
}

/* New end nodes for what enters subsystem i from partners already integrated (index below i). */
static void refresh_inputs(yoke_graph *g, int i, bool has_pass) {
  for (int w = 0; w < g->n_wires; ++w) {
    const graph_wire *wire = &g->wires[w];
    for (int side = 0; side < 2; ++side) {
      if (wire->wire.subsystem[side] != i || wire->wire.subsystem[1 - side] >= i) continue;
      double                 own[YOKE_PORT_MAX_Y], u[YOKE_COUPLING_MAX_CHANNELS];
      const graph_subsystem *mine = &g->subsystems[i], *other = &g->subsystems[wire->wire.subsystem[1 - side]];
      const double          *y[2];
      if (has_pass) {
        y[side] = graph_port(wire, side, mine->y_new);
      } else {
        continued(g, wire->wire.kind[side], graph_port(wire, side, mine->y), own);
        y[side] = own;
      }
      y[1 - side] = graph_port(wire, 1 - side, other->y_new);
      graph_update(g, wire, g->t_next, y[0], y[1], u);
      for (int k = 0; k < wire->n_channels; ++k) {
        const graph_channel *channel = &g->channels[wire->first + k];
        if (wire->wire.input_at[side][k] >= 0) g->w[channel->w_at + channel->n_nodes - 1] = u[k];
      }
    }
  }
}

yoke_status graph_pass_in_sequence(yoke_graph *g, bool has_pass, yoke_step_statistics *statistics, yoke_context *ctx) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    if (i > 0) refresh_inputs(g, i, has_pass);
    YOKE_TRY(graph_pass_one(g, i, statistics, ctx));
  }
  return YOKE_OK;
}
