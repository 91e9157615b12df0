/* dy/dw from the instant responses of the accelerations. */
#include "coupling/graph_feeds.h"

#include <string.h>

/* An input that grows by the basis function l(s) of a node moves a port whose acceleration responds by A to a unit input
 * (Kraft App. A "sap", Lu App. B):
 *   dv' = A l(1),  dv = A H int l,  dp = T A H^2 int (1 - s) l,  d(integral p) = A H^3 int (1 - s)^2 / 2 l. */
static void basis_moments(const yoke_graph *g, const graph_channel *channel, int node, double moment[3]) {
  double          w[YOKE_LAYOUT_MAX_NODES] = {0};
  const double    zeros[GRAPH_PAST]        = {0};
  const yoke_past past                     = {.n = g->block->n_past, .s = g->past_s, .u = zeros};
  w[node]                                  = 1.0;
  moment[0] = moment[1] = moment[2] = 0.0;
  for (int p = 0; p < yoke_layout_n_pieces(&channel->layout); ++p) {
    const double a = p > 0 ? yoke_layout_break(&channel->layout, p - 1) : 0.0,
                 b = yoke_layout_break(&channel->layout, p);
    double c[YOKE_LAYOUT_MAX_DEGREE + 1];
    yoke_layout_piece(&channel->layout, &past, w, p, c);
    /* Gauss-Legendre with five points is exact to degree nine: (1 - s)^2 times degree five is seven. */
    static const double node5[5]   = {0.046910077030668, 0.230765344947158, 0.5, 0.769234655052842, 0.953089922969332};
    static const double weight5[5] = {0.118463442528095, 0.239314335249683, 0.284444444444444, 0.239314335249683,
                                      0.118463442528095};
    for (int k = 0; k < 5; ++k) {
      const double x = node5[k] * (b - a), s = a + x, weight = weight5[k] * (b - a);
      double       l = 0.0;
      for (int j = YOKE_LAYOUT_MAX_DEGREE; j >= 0; --j) l = l * x + c[j];
      moment[0] += weight * l;
      moment[1] += weight * (1.0 - s) * l;
      moment[2] += weight * 0.5 * (1.0 - s) * (1.0 - s) * l;
    }
  }
}

/* Share of one port in a column, from `weight` times the response A of its accelerations. */
static void port_column(const yoke_port_shape *shape, const double *y, const double *A, double weight, bool is_end,
                        double H, const double moment[3], double *T, double *column) {
  const int n_p = shape->n_p, n_v = shape->n_v;
  yoke_shape_tangent(shape, y, T);
  for (int r = 0; r < n_p; ++r) {
    for (int k = 0; k < n_v; ++k) column[r] += T[r * n_v + k] * (weight * A[k]) * H * H * moment[1];
  }
  for (int k = 0; k < n_v; ++k) {
    column[n_p + k] += weight * A[k] * H * moment[0];
    if (is_end) column[n_p + n_v + k] += weight * A[k];
  }
  for (int i = 0; i < shape->n_integrals; ++i) {
    const double a = weight * A[shape->p[shape->integral_of[i]].rate];
    column[yoke_shape_at_integral(shape) + i] += a * H * H * H * moment[2];
  }
}

/* Several signals may read one port, which responds once. */
static bool is_first_end(const yoke_graph *g, const graph_subsystem *s, int e) {
  const graph_end *end = &s->ends[e];
  for (int k = 0; k < e; ++k) {
    if (g->wires[s->ends[k].wire].wire.port[s->ends[k].side] == g->wires[end->wire].wire.port[end->side]) return false;
  }
  return true;
}

/* Columns of one feed: every port of the subsystem responds. */
static void add_feed(const yoke_graph *g, const graph_subsystem *s, const graph_feed *feed, const double *response) {
  const graph_channel *channel = &g->channels[feed->channel];
  for (int node = 0; node < channel->n_nodes; ++node) {
    const bool   is_end = node == channel->n_nodes - 1;
    const double weight = graph_node_share(feed, node);
    double      *column = s->dy + (size_t)(feed->column + node) * (size_t)s->subsystem->ny;
    double       moment[3];
    basis_moments(g, channel, node, moment);
    for (int e = 0; e < s->n_ends; ++e) {
      const graph_wire      *wire = &g->wires[s->ends[e].wire];
      const int              side = s->ends[e].side, at = wire->y_at[side];
      const yoke_port_shape *shape = wire->wire.shape[side];
      if (g->has_signals && !is_first_end(g, s, e)) continue;
      port_column(shape, s->y_new + at, response + at + yoke_shape_at_a(shape), weight, is_end, g->H, moment,
                  wire->lent->tangent[side], column + at);
      if (!is_end) continue;
      for (int k = yoke_shape_n_y(shape); k < wire->n_y[side]; ++k) /* extras: direct response */
        column[at + k] += weight * response[at + k];
    }
  }
}

yoke_status graph_analytic_columns(yoke_graph *g, int i, yoke_context *ctx) {
  graph_subsystem *s = &g->subsystems[i];
  if (s->answered != YOKE_OK)
    return yoke_fail(ctx, s->answered, "subsystem '%s': no response of the accelerations", s->subsystem->name);
  memset(s->dy, 0, (size_t)s->n_columns * (size_t)s->subsystem->ny * sizeof(double));
  for (int input = 0; input < s->subsystem->nu; ++input) {
    for (int f = s->feed_at[input]; f < s->feed_at[input + 1]; ++f)
      add_feed(g, s, &s->feeds[f], s->da_du + (size_t)input * (size_t)s->subsystem->ny);
  }
  return YOKE_OK;
}
