/* What the conditions of the couplings see, and what they leave. */
#include "coupling/graph_internal.h"

/* End value, end derivative and integral of a polynomial in s. */
static void curve_view(const double *c, double H, double *u, double *u_dot, double *u_integral) {
  *u = *u_dot = *u_integral = 0.0;
  for (int j = GRAPH_SIGNAL_DEGREE; j >= 0; --j) {
    *u += c[j];
    *u_dot += (double)j * c[j] / H;
    *u_integral += c[j] / (double)(j + 1) * H;
  }
}

yoke_coupling_view graph_view(const yoke_graph *g, const graph_wire *wire) {
  for (int k = 0; k < wire->n_channels; ++k) {
    const graph_channel *channel = &g->channels[wire->first + k];
    const double        *w       = g->w + channel->w_at;
    const yoke_past      past    = graph_past(g, channel);
    if (g->is_viewing_comparison) {
      curve_view(channel->comparison, g->H, &wire->lent->u[k], &wire->lent->u_dot[k], &wire->lent->u_integral[k]);
      continue;
    }
    const yoke_layout_measures m = yoke_layout_measure(&channel->layout, &past, w);
    wire->lent->u[k]             = w[channel->n_nodes - 1];
    wire->lent->u_dot[k]         = m.end_derivative / g->H;
    wire->lent->u_integral[k]    = m.integral * g->H;
  }
  yoke_coupling_view view = {.t          = g->t_next,
                             .H          = g->H,
                             .u          = wire->lent->u,
                             .u_dot      = wire->lent->u_dot,
                             .u_integral = wire->lent->u_integral,
                             .scratch    = wire->scratch};
  for (int side = 0; side < 2; ++side) {
    const graph_subsystem *s = &g->subsystems[wire->wire.subsystem[side]];
    view.y[side]             = graph_port(wire, side, g->is_viewing_comparison ? s->y_compared : s->y_new);
    view.y_old[side]         = graph_port(wire, side, s->y);
    view.n_y[side]           = wire->n_y[side];
  }
  return view;
}

void graph_residual(yoke_graph *g, int set) {
  for (int i = 0; i < g->n_wires; ++i) {
    const graph_wire  *wire = &g->wires[i];
    yoke_coupling_view view = graph_view(g, wire);
    view.set                = graph_set(wire, set);
    wire->wire.formulation->residual(wire->wire.self, &view, g->c + wire->c_at);
  }
}
