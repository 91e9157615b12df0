/* Halos: copies of bodies get the motion of their originals. */
#include "coupling/graph_internal.h"

#include <math.h>

static yoke_status check_holder(const yoke_graph *g, const graph_wire *wire, int side, yoke_context *ctx) {
  const yoke_subsystem *s = g->subsystems[wire->wire.subsystem[side]].subsystem;
  if (s->ops->halo != NULL) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_MODEL,
                   "coupling '%s': subsystem '%s' cannot hold copies of others' bodies, which formulation overlap "
                   "needs; use formulation constitutive",
                   wire->wire.name, s->name);
}

/* The ports of a side stand one behind the other, and its subsystem has a halo. */
static yoke_status check_side(const yoke_graph *g, const graph_wire *wire, int side, yoke_context *ctx) {
  const yoke_subsystem *s = g->subsystems[wire->wire.subsystem[side]].subsystem;
  const int first = wire->wire.port[side], n = yoke_overlap_n_ports(wire->n_held[side], wire->n_held[1 - side]);
  const int n_y = yoke_shape_n_y(&yoke_shape_line);
  YOKE_TRY(check_holder(g, wire, side, ctx));
  for (int k = 0; k < n; ++k) {
    const yoke_port *port = first + k < s->n_ports ? &s->ports[first + k] : NULL;
    if (port != NULL && port->shape == &yoke_shape_line && port->y_at == s->ports[first].y_at + k * n_y) continue;
    return yoke_fail(ctx, YOKE_E_INTERNAL,
                     "coupling '%s': port %d of subsystem '%s' is none on a line behind the one before",
                     wire->wire.name, first + k + 1, s->name);
  }
  return YOKE_OK;
}

yoke_status graph_overlap_check(yoke_graph *g, graph_wire *wire, yoke_context *ctx) {
  const yoke_formulation_ops *ops = wire->wire.formulation;
  if (ops->overlap->halo != NULL) {
    wire->halo = ops->overlap->halo(wire->wire.self);
    YOKE_TRY(check_holder(g, wire, 1, ctx));
  } else {
    for (int side = 0; side < 2; ++side) wire->n_held[side] = ops->overlap->n_held(wire->wire.self, side);
    for (int side = 0; side < 2; ++side) YOKE_TRY(check_side(g, wire, side, ctx));
  }
  for (int side = 0; side < 2; ++side) {
    const int width = wire->halo != NULL ? wire->halo->n_rings : wire->n_held[side];
    if (g->n_overlaps == 0 || width < g->narrowest) g->narrowest = width;
    g->n_overlaps += side;
  }
  if (!g->scheme->traits.extrapolates_only)
    return yoke_fail(ctx, YOKE_E_INTERNAL,
                     "coupling '%s': formulation overlap integrates every step once, scheme is %s", wire->wire.name,
                     g->settings.scheme);
  if (!g->settings.gauss_seidel) return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_MODEL,
      "coupling '%s': formulation overlap gives all subsystems their inputs beforehand, so they cannot run "
      "one after another; use sequence jacobi",
      wire->wire.name);
}

const double *graph_copy(const yoke_graph *g, const graph_wire *wire, int side, int k) {
  const graph_subsystem *other = &g->subsystems[wire->wire.subsystem[1 - side]];
  if (wire->halo != NULL) return graph_port(wire, 1, other->y_new);
  return graph_port(wire, 1 - side, other->y_new) + (wire->n_held[1 - side] + 1 + k) * yoke_shape_n_y(&yoke_shape_line);
}

/* Largest error of p (level 0) and v of all copies of ring 1 and 2 that a subsystem holds. */
static void ring_errors(const yoke_graph *g, const graph_subsystem *holder, double error[2][2]) {
  for (int e = 0; e < holder->n_ends; ++e) {
    const graph_wire *wire = &g->wires[holder->ends[e].wire];
    if (wire->halo == NULL || holder->ends[e].side != 1) continue;
    if (wire->halo->ring < 1 || wire->halo->ring > YOKE_OVERLAP_COPIES) continue;
    const yoke_port_shape *shape = wire->wire.shape[0];
    const double          *own   = graph_port(wire, 0, g->subsystems[wire->wire.subsystem[0]].y_new),
                 *copy           = graph_copy(g, wire, 0, 0);
    for (int k = 0; k < shape->n_p + shape->n_v; ++k) {
      double *most = &error[wire->halo->ring - 1][k >= shape->n_p];
      *most        = fmax(*most, fabs(own[k] - copy[k]));
    }
  }
}

/* Errors of bodies fade from ring to ring. */
static double halo_fade(const yoke_graph *g, const graph_subsystem *holder) {
  double error[2][2] = {{0.0}}, fade = 0.0;
  ring_errors(g, holder, error);
  for (int level = 0; level < 2; ++level) {
    if (!(error[0][level] < error[1][level])) return 1.0;
    fade = fmax(fade, error[0][level] / error[1][level]);
  }
  return fade;
}

void graph_overlap_judge(yoke_graph *g) {
  for (int i = 0; g->n_overlaps > 0 && i < g->n_subsystems; ++i)
    g->subsystems[i].fade = halo_fade(g, &g->subsystems[i]);
}

double yoke_graph_fade(const yoke_graph *g, int port) {
  const graph_wire *wire = &g->wires[port / 2];
  if (wire->halo != NULL)
    return wire->halo->n_rings < YOKE_OVERLAP_COPIES ? 1.0 : g->subsystems[wire->wire.subsystem[1]].fade;
  const int     side = port % 2;
  const int     n_y = yoke_shape_n_y(&yoke_shape_line), at_v = yoke_shape_at_v(&yoke_shape_line);
  const double *own  = graph_port(wire, side, g->subsystems[wire->wire.subsystem[side]].y_new);
  double        fade = 0.0;
  if (wire->n_held[side] < YOKE_OVERLAP_COPIES) return 1.0;
  for (int k = 0; k <= at_v; k += at_v) {
    const double near = fabs(own[k] - graph_copy(g, wire, side, 0)[k]),
                 far  = fabs(own[n_y + k] - graph_copy(g, wire, side, 1)[k]);
    if (!(near < far)) return 1.0;
    fade = fmax(fade, near / far);
  }
  return fade;
}

void graph_overlap_renew(yoke_graph *g) {
  for (int w = 0; g->n_overlaps > 0 && w < g->n_wires; ++w) {
    const graph_wire *wire = &g->wires[w];
    if (!graph_overlaps(wire)) continue;
    for (int side = wire->halo == NULL ? 0 : 1; side < 2; ++side) {
      if (wire->halo != NULL && wire->halo->ring == 0) continue;
      const graph_subsystem *s = &g->subsystems[wire->wire.subsystem[side]];
      const double          *y = graph_port(wire, 1 - side, g->subsystems[wire->wire.subsystem[1 - side]].y);
      s->subsystem->ops->halo->take(s->subsystem, s->accepted, wire->wire.halo[side], y);
    }
  }
}
