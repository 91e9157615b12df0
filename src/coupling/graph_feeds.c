/* Feeds: what the channels of the wires give to the inputs of the subsystems.
 *
 * A port whose inputs were made for its wires (native) has one input for each channel that enters. A port that takes a wrench gets it as the
 * sum of all channels: force components as they are, and multipliers lambda as lambda grad, grad the row's gradient in the components of the
 * port's velocities. What a layout then interpolates is the product, at past points with grad of the accepted outputs, at the nodes of the
 * step with grad of the ports' motion continued by their accelerations. The product is as good as the polynomials are: exact for rows of
 * constant direction, else off by O(H^(k+1)) inside a step of degree k, which leaves the global order k + 1. */
#include "coupling/graph_feeds.h"

#include <string.h>

/* ---- what enters where ---- */

static const yoke_port *port_of(const yoke_graph *g, const graph_wire *wire, int side) {
  const yoke_subsystem *s = g->subsystems[wire->wire.subsystem[side]].subsystem;
  return wire->wire.port[side] < s->n_ports ? &s->ports[wire->wire.port[side]] : NULL;
}

static bool takes_wrench(const yoke_graph *g, const graph_wire *wire, int side) {
  const yoke_port *port = port_of(g, wire, side);
  return port != NULL && port->wrench_at >= 0;
}

/* Row of the joint that stands at place `own` in its own order. */
static int row_of(const yoke_joint_element *joint, int own) {
  int row = 0;
  while (joint->own[row] != own) ++row;
  return row;
}

bool graph_entry_at(const yoke_graph *g, const graph_wire *wire, int side, int k, int j, graph_entry *out) {
  const yoke_channel *channel = &g->channels[wire->first + k].info;
  if (!wire->takes_wrench[side]) {
    *out = (graph_entry){.input = wire->wire.input_at[side][k], .weight = 1.0, .row = -1};
    return j == 0 && out->input >= 0;
  }
  const int at = port_of(g, wire, side)->wrench_at;
  switch (channel->enters[side]) {
  case YOKE_ENTRY_FORCE:
    *out = (graph_entry){.input = at + channel->component, .weight = channel->sign[side], .row = -1};
    return j == 0;
  case YOKE_ENTRY_LAMBDA:
    *out = (graph_entry){.input     = at + j,
                         .weight    = channel->sign[side],
                         .row       = row_of(wire->wire.joint, channel->component),
                         .component = j};
    return j < wire->wire.shape[side]->n_v;
  case YOKE_ENTRY_NONE:
  case YOKE_ENTRY_MU:
  case YOKE_ENTRY_COPY_P:
  case YOKE_ENTRY_COPY_V:
  case YOKE_ENTRY_ROW_ACCELERATION:
  case YOKE_ENTRY_ROW_ACCELERATION_BARE:
  case YOKE_ENTRY_PRESCRIBED:
  case YOKE_ENTRY_IMAGE_P:
  case YOKE_ENTRY_IMAGE_V: break;
  }
  return false;
}

/* ---- what a port cannot feel ---- */

static const char *what_enters(yoke_entry entry) {
  switch (entry) {
  case YOKE_ENTRY_MU: return "second multipliers";
  case YOKE_ENTRY_ROW_ACCELERATION:
  case YOKE_ENTRY_ROW_ACCELERATION_BARE: return "accelerations of rows";
  case YOKE_ENTRY_PRESCRIBED:
  case YOKE_ENTRY_IMAGE_P:
  case YOKE_ENTRY_IMAGE_V: return "prescribed motions";
  case YOKE_ENTRY_COPY_P:
  case YOKE_ENTRY_COPY_V: return "copies of its partner's motion";
  case YOKE_ENTRY_NONE:
  case YOKE_ENTRY_FORCE:
  case YOKE_ENTRY_LAMBDA: break;
  }
  return NULL;
}

/* Copies beside multipliers are for their gradients only, which the wire knows anyway. */
static bool has_multipliers(const yoke_graph *g, const graph_wire *wire, int side) {
  for (int k = 0; k < wire->n_channels; ++k) {
    if (g->channels[wire->first + k].info.enters[side] == YOKE_ENTRY_LAMBDA) return true;
  }
  return false;
}

static yoke_status check_side(const yoke_graph *g, const graph_wire *wire, int side, yoke_context *ctx) {
  const bool is_force_side = has_multipliers(g, wire, side);
  for (int k = 0; k < wire->n_channels; ++k) {
    const yoke_entry entry   = g->channels[wire->first + k].info.enters[side];
    const bool       is_copy = entry == YOKE_ENTRY_COPY_P || entry == YOKE_ENTRY_COPY_V;
    if (what_enters(entry) == NULL || (is_copy && is_force_side)) continue;
    return yoke_fail(
        ctx, YOKE_E_MODEL,
        "coupling '%s': port '%s' of subsystem '%s' feels a wrench, no %s, which formulation '%s' gives to "
        "side %d; use a decomposition in which this is a force side, or another formulation",
        wire->wire.name, port_of(g, wire, side)->name, g->subsystems[wire->wire.subsystem[side]].subsystem->name,
        what_enters(entry), wire->wire.formulation->name, side + 1);
  }
  return YOKE_OK;
}

yoke_status graph_feeds_check(yoke_graph *g, yoke_context *ctx) {
  for (int w = 0; w < g->n_wires; ++w) {
    graph_wire *wire = &g->wires[w];
    for (int side = 0; side < 2; ++side) {
      wire->takes_wrench[side] = takes_wrench(g, wire, side);
      if (!wire->takes_wrench[side]) continue;
      YOKE_TRY(check_side(g, wire, side, ctx));
      wire->has_shares = wire->has_shares || has_multipliers(g, wire, side);
    }
    g->has_shares = g->has_shares || wire->has_shares;
  }
  return YOKE_OK;
}

/* ---- gradients ---- */

/* Gradients of a joint for outputs y of its ports become the shares of its feeds at place `at`. */
static void set_shares(const yoke_graph *g, const graph_wire *wire, const double *const y[2], int at) {
  yoke_reset_rows rows;
  yoke_joint_reset_rows(wire->wire.joint, wire->wire.shape, y, &rows);
  for (int side = 0; side < 2; ++side) {
    const graph_subsystem *s = &g->subsystems[wire->wire.subsystem[side]];
    if (!wire->takes_wrench[side]) continue;
    const int first = port_of(g, wire, side)->wrench_at;
    for (int f = s->feed_at[first]; f < s->feed_at[first + wire->wire.shape[side]->n_v]; ++f) {
      const graph_feed *feed = &s->feeds[f];
      if (feed->share != NULL && &g->wires[g->channels[feed->channel].wire] == wire)
        feed->share[at] = rows.L[side][feed->row][feed->component];
    }
  }
}

void graph_feeds_look(const yoke_graph *g) {
  for (int w = 0; g->has_shares && w < g->n_wires; ++w) {
    const graph_wire *wire = &g->wires[w];
    const double     *y[2];
    if (!wire->has_shares) continue;
    for (int side = 0; side < 2; ++side) y[side] = graph_port(wire, side, g->subsystems[wire->wire.subsystem[side]].y);
    set_shares(g, wire, y, 0);
  }
}

/* The multipliers of a wire have one layout. */
static const graph_channel *first_multiplier(const yoke_graph *g, const graph_wire *wire) {
  for (int k = 0;; ++k) {
    const graph_channel *channel = &g->channels[wire->first + k];
    for (int side = 0; side < 2; ++side) {
      if (channel->info.enters[side] == YOKE_ENTRY_LAMBDA) return channel;
    }
  }
}

void graph_feeds_prepare(const yoke_graph *g) {
  const int n_past = g->block->n_past < g->output_points ? g->block->n_past : g->output_points;
  for (int w = 0; g->has_shares && w < g->n_wires; ++w) {
    const graph_wire *wire = &g->wires[w];
    const double     *y[2];
    if (!wire->has_shares) continue;
    for (int i = 0; i < n_past; ++i) {
      for (int side = 0; side < 2; ++side) {
        const graph_subsystem *s = &g->subsystems[wire->wire.subsystem[side]];
        y[side]                  = graph_port(wire, side, s->past_y + (size_t)i * (size_t)s->subsystem->ny);
      }
      set_shares(g, wire, y, i);
    }
    const graph_channel *channel = first_multiplier(g, wire);
    for (int j = 0; j < channel->n_nodes; ++j) {
      for (int side = 0; side < 2; ++side) {
        graph_port_ahead(g, wire, side, g->wanted, yoke_layout_node(&channel->layout, j), wire->ahead[side]);
        y[side] = wire->ahead[side];
      }
      set_shares(g, wire, y, GRAPH_PAST + j);
    }
  }
}

void graph_feed_curve(const yoke_graph *g, const graph_feed *feed, const double *u, double *out) {
  double    s[GRAPH_SIGNAL_DEGREE + 1], value[GRAPH_SIGNAL_DEGREE + 1];
  const int n_past = g->block->n_past < g->output_points ? g->block->n_past : g->output_points;
  const int n      = n_past < GRAPH_SIGNAL_DEGREE ? n_past + 1 : GRAPH_SIGNAL_DEGREE + 1;
  for (int i = 0; i < n; ++i) {
    s[i]     = i == 0 ? 1.0 : g->past_s[i - 1];
    value[i] = 0.0;
    for (int j = GRAPH_SIGNAL_DEGREE; j >= 0; --j) value[i] = value[i] * s[i] + u[j];
    value[i] *= i == 0 ? feed->share[GRAPH_PAST + g->channels[feed->channel].n_nodes - 1] : feed->share[i - 1];
  }
  graph_interpolate(n, s, value, out);
}
