#include "coupling/rounding.h"
#include "coupling/convergence.h"
#include "coupling/correction.h"
#include "coupling/joint_gap.h"

#include <math.h>

enum { N_SIGNS = 4 };             /* combinations of signs that are tried */
static const double unit = 1e-13; /* of the numbers that a condition is the difference of */

/* What outputs y of a side are measured by: all positions, velocities and accelerations of a port alike, extras by themselves. */
static double output_size(const graph_wire *wire, int side, const double *y, int k, const double size[3], double L,
                          double H) {
  const yoke_port_shape *shape = wire->wire.shape[side];
  const int              n_p = shape->n_p, n_v = shape->n_v;
  if (k < n_p) return yoke_shape_p_turns(shape, k) ? size[0] / L : size[0];
  if (k < n_p + 2 * n_v) {
    const int    level = k < n_p + n_v ? 1 : 2;
    const double own   = level == 1 ? fmax(size[1], H * size[2]) : size[2];
    return yoke_shape_v_turns(shape, (k - n_p) % n_v) ? own / L : own;
  }
  return k < yoke_shape_n_y(shape) ? H * size[0] : fabs(y[k]);
}

/* eta of the conditions of one coupling into g->rounding. */
static void find_eta(const yoke_graph *g, const graph_wire *wire) {
  const double       L    = g->settings.length > 0.0 ? g->settings.length : 1.0;
  yoke_coupling_view view = graph_view(g, wire);
  const graph_lent  *lent = wire->lent;
  double             size[3];
  wire->wire.formulation->jacobian(wire->wire.self, &view, lent->dc_du, lent->dc_du_dot, lent->dc_du_integral,
                                   lent->dc_dy[0], lent->dc_dy[1]);
  graph_port_sizes(wire, view.y, L, size);
  size[0] = fmax(size[0], L); /* positions of ports are sums of positions and arms */
  for (int r = 0; r < wire->n_c; ++r) {
    double eta = 0.0;
    for (int k = 0; k < wire->n_channels; ++k) {
      const int at = r * wire->n_channels + k;
      eta += fabs(lent->dc_du[at] * view.u[k]) + fabs(lent->dc_du_dot[at] * view.u_dot[k]) +
             fabs(lent->dc_du_integral[at] * view.u_integral[k]);
    }
    for (int side = 0; side < 2; ++side) {
      const double *row = lent->dc_dy[side] + (size_t)r * (size_t)wire->n_y[side];
      for (int k = 0; k < wire->n_y[side]; ++k) {
        if (row[k] != 0.0) eta += fabs(row[k]) * output_size(wire, side, view.y[side], k, size, L, g->H);
      }
    }
    g->rounding[wire->c_at + r] = unit * eta;
  }
}

/* One of the signs that every condition has in turn: bits of a number that has nothing to do with its place. */
static double sign_of(int condition, int turn) {
  const uint32_t bits = ((uint32_t)condition + 1u) * 2654435761u;
  return (bits >> (20 + turn) & 1u) != 0 ? 1.0 : -1.0;
}

yoke_status graph_is_rounding(yoke_graph *g, bool *is_rounding, yoke_context *ctx) {
  double *eta = g->rounding, *largest = eta + g->n_c, *one = largest + g->n_c;
  for (int i = 0; i < g->n_wires; ++i) find_eta(g, &g->wires[i]);
  for (int i = 0; i < g->n_c; ++i) largest[i] = 0.0;
  for (int turn = 0; turn < N_SIGNS; ++turn) {
    for (int i = 0; i < g->n_c; ++i) one[i] = sign_of(i, turn) * eta[i];
    YOKE_TRY(graph_solve(g, one, ctx));
    for (int i = 0; i < g->n_c; ++i) largest[i] = fmax(largest[i], fabs(one[i]));
  }
  for (int i = 0; i < g->n_c; ++i) one[i] = fmax(0.0, fabs(g->delta[i]) - largest[i]);
  *is_rounding = graph_is_nothing(g, graph_weighted_norm(g, one));
  return YOKE_OK;
}
