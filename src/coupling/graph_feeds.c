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

/* NULL: a signal enters an input that was made for it, without a port. */
static const yoke_port *port_of(const yoke_graph *g, const graph_wire *wire, int side) {
  if (wire->wire.port[side] < 0) return NULL;
  return &g->subsystems[wire->wire.subsystem[side]].subsystem->ports[wire->wire.port[side]];
}

/* Row of the joint that stands at place `own` in its own order. */
static int row_of(const yoke_joint_element *joint, int own) {
  int row = 0;
  while (joint->own[row] != own) ++row;
  return row;
}

bool graph_entry_at(const yoke_graph *g, const graph_wire *wire, int side, int k, int j, graph_entry *out) {
  const yoke_channel *channel = &g->channels[wire->first + k].info;
  if (channel->enters[side] == YOKE_ENTRY_NONE) return false;
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
  case YOKE_ENTRY_SIGNAL: *out = (graph_entry){.input = at, .weight = channel->sign[side], .row = -1}; return j == 0;
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

/* ---- what a port cannot feel or show ---- */

/* What an entry asks of a port beside a wrench; ability 0: nothing. */
typedef struct need {
  unsigned    ability;
  const char *what;
} need;

static need need_of(yoke_entry entry) {
  switch (entry) {
  case YOKE_ENTRY_MU: return (need){YOKE_TAKES_SECOND_MULTIPLIER, "take second multipliers"};
  case YOKE_ENTRY_ROW_ACCELERATION:
  case YOKE_ENTRY_ROW_ACCELERATION_BARE: return (need){YOKE_TAKES_ROW_ACCELERATION, "follow accelerations of rows"};
  case YOKE_ENTRY_PRESCRIBED: return (need){YOKE_TAKES_PRESCRIBED_MOTION, "follow a prescribed motion"};
  case YOKE_ENTRY_IMAGE_P:
  case YOKE_ENTRY_IMAGE_V: return (need){YOKE_TAKES_PRESCRIBED_MOTION, "show accelerations at an image of itself"};
  case YOKE_ENTRY_COPY_P:
  case YOKE_ENTRY_COPY_V: return (need){YOKE_TAKES_COPY, "take copies of its partner's motion"};
  case YOKE_ENTRY_LAMBDA: return (need){YOKE_TAKES_ROW_MULTIPLIER, "take multipliers of rows"};
  case YOKE_ENTRY_NONE:
  case YOKE_ENTRY_FORCE:
  case YOKE_ENTRY_SIGNAL: break;
  }
  return (need){0u, ""};
}

/* A decomposition that drives the side by forces, or a formulation that does with them. */
static const char *remedy(unsigned ability, int side) {
  if (ability == YOKE_TAKES_COPY || ability == YOKE_TAKES_ROW_ACCELERATION)
    return side == 0 ? "decomposition force/force or force/displacement"
                     : "decomposition force/force or displacement/force";
  return "formulation stabilized-index-2 or baumgarte with decomposition force/force and scheme semi-implicit or "
         "implicit";
}

static yoke_status refuse(const yoke_graph *g, const graph_wire *wire, int side, const need *what, yoke_context *ctx) {
  return yoke_fail(
      ctx, YOKE_E_MODEL,
      "coupling '%s': port '%s' of subsystem '%s' cannot %s, which formulation '%s' needs on side %d; use %s",
      wire->wire.name, port_of(g, wire, side)->name, g->subsystems[wire->wire.subsystem[side]].subsystem->name,
      what->what, wire->wire.formulation->name, side + 1, remedy(what->ability, side));
}

static bool is_signal(const graph_wire *wire) {
  return wire->wire.formulation->for_signals;
}

/* The port that a wire ends at is there and has its shape. */
static yoke_status check_port(const yoke_graph *g, const graph_wire *wire, int side, yoke_context *ctx) {
  const yoke_subsystem *s = g->subsystems[wire->wire.subsystem[side]].subsystem;
  if (is_signal(wire) && side == 1 && wire->wire.port[side] < 0) return YOKE_OK;
  if (wire->wire.port[side] < 0 || wire->wire.port[side] >= s->n_ports) {
    return yoke_fail(ctx, YOKE_E_MODEL, "coupling '%s' ends at port %d of subsystem '%s', which has %d",
                     wire->wire.name, wire->wire.port[side] + 1, s->name, s->n_ports);
  }
  const yoke_port *port = port_of(g, wire, side);
  if (port->shape == wire->wire.shape[side]) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_MODEL, "coupling '%s': port '%s' of subsystem '%s' has shape '%s', expected '%s'",
                   wire->wire.name, port->name, s->name, port->shape->name, wire->wire.shape[side]->name);
}

static bool has_multipliers(const yoke_graph *g, const graph_wire *wire, int side) {
  for (int k = 0; k < wire->n_channels; ++k) {
    if (g->channels[wire->first + k].info.enters[side] == YOKE_ENTRY_LAMBDA) return true;
  }
  return false;
}

/* A wrench stands for multipliers; copies beside them are for their gradients only, which the wire knows anyway. */
static yoke_status check_side(const yoke_graph *g, const graph_wire *wire, int side, yoke_context *ctx) {
  const yoke_port *port          = port_of(g, wire, side);
  const unsigned   gradients     = YOKE_TAKES_ROW_MULTIPLIER | YOKE_TAKES_COPY;
  const bool       is_force_side = wire->takes_wrench[side] && has_multipliers(g, wire, side);
  const unsigned   takes         = wire->takes_wrench[side] ? 0u : port->takes; /* there are inputs for nothing else */
  need             missing       = {0u, ""}; /* the one that asks most: copies often come with it */
  for (int k = 0; k < wire->n_channels; ++k) {
    const need asks = need_of(g->channels[wire->first + k].info.enters[side]);
    if ((asks.ability & ~(takes | (is_force_side ? gradients : 0u))) > missing.ability) missing = asks;
  }
  if (missing.ability != 0u) return refuse(g, wire, side, &missing, ctx);
  const yoke_formulation_ops *formulation = wire->wire.formulation;
  if (port->no_integrals && formulation->reads_integrals != NULL && formulation->reads_integrals(wire->wire.self))
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "coupling '%s': port '%s' of subsystem '%s' does not show integrals of its positions, which "
                     "extension i needs; use extension d or none",
                     wire->wire.name, port->name, g->subsystems[wire->wire.subsystem[side]].subsystem->name);
  if (graph_overlaps(wire)) return YOKE_OK; /* it has several ports */
  const need extras = {YOKE_TAKES_PRESCRIBED_MOTION, "show its reaction or compliance"};
  return port->n_y < wire->n_y[side] ? refuse(g, wire, side, &extras, ctx) : YOKE_OK;
}

/* Side 1 shows what the signal is made of, side 2 has an input for it. */
static yoke_status check_signal(const yoke_graph *g, const graph_wire *wire, int side, yoke_context *ctx) {
  const yoke_port      *port = port_of(g, wire, side);
  const yoke_subsystem *s    = g->subsystems[wire->wire.subsystem[side]].subsystem;
  const int            *made = wire->wire.input_at[side];
  if (side == 0 && port->n_y < wire->n_y[side])
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "coupling '%s': the signal reads %d values of port '%s' of subsystem '%s', which shows %d",
                     wire->wire.name, wire->n_y[side], port->name, s->name, port->n_y);
  const bool takes = port != NULL && port->wrench_at >= 0 ? (port->takes & YOKE_TAKES_SIGNAL) != 0u
                                                          : made != NULL && made[0] >= 0 && made[0] < s->nu;
  if (side == 0 || takes) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_MODEL, "coupling '%s': %s%s%ssubsystem '%s' takes no signal", wire->wire.name,
                   port != NULL ? "port '" : "", port != NULL ? port->name : "", port != NULL ? "' of " : "", s->name);
}

yoke_status graph_feeds_check(yoke_graph *g, yoke_context *ctx) {
  for (int w = 0; w < g->n_wires; ++w) {
    graph_wire *wire = &g->wires[w];
    for (int side = 0; side < 2; ++side) {
      YOKE_TRY(check_port(g, wire, side, ctx));
      const yoke_port *port    = port_of(g, wire, side);
      wire->y_at[side]         = port != NULL ? port->y_at : 0;
      wire->takes_wrench[side] = port != NULL && port->wrench_at >= 0;
      YOKE_TRY(is_signal(wire) ? check_signal(g, wire, side, ctx) : check_side(g, wire, side, ctx));
      wire->has_shares = wire->has_shares || (wire->takes_wrench[side] && has_multipliers(g, wire, side));
    }
    g->has_shares = g->has_shares || wire->has_shares;
    if (graph_overlaps(wire)) YOKE_TRY(graph_overlap_check(g, wire, ctx));
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
        feed->share->at[at] = rows.L[side][feed->share->row][feed->share->component];
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
        graph_port_ahead(g, wire, side, g->wanted, yoke_layout_node(&channel->layout, j), wire->lent->ahead[side]);
        y[side] = wire->lent->ahead[side];
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
    value[i] *= i == 0 ? feed->share->at[GRAPH_PAST + g->channels[feed->channel].n_nodes - 1] : feed->share->at[i - 1];
  }
  graph_interpolate(n, s, value, out);
}
