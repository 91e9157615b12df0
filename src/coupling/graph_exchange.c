/* Exchange at the end of a step: outputs that are evaluated anew with other channel values, and the values that the history gets. */
#include "coupling/graph_feeds.h"
#include "coupling/joint_forces.h"

/* The outputs of the last pass belong to the end nodes. */
static void apply_end_nodes(yoke_graph *g) {
  for (int c = 0; c < g->n_channels; ++c) {
    graph_channel *channel = &g->channels[c];
    channel->applied       = g->w[channel->w_at + channel->n_nodes - 1];
  }
}

static int n_exchanges(const yoke_wire *wire) {
  return wire->formulation->extrapolation != NULL ? wire->formulation->extrapolation->n_exchanges(wire->self) : 0;
}

/* Does exchange `number` of a coupling change an input of this subsystem? */
static bool is_exchanged(const yoke_graph *g, const graph_subsystem *s, int number) {
  for (int e = 0; e < s->n_ends; ++e) {
    const graph_wire *wire = &g->wires[s->ends[e].wire];
    if (!wire->waits && number < n_exchanges(&wire->wire)) return true;
  }
  return false;
}

/* Outputs of a trial state with the values that are applied. */
static yoke_status show(yoke_graph *g, int i, void *unused) {
  graph_subsystem *s = &g->subsystems[i];
  double          *c = g->signal_c[0];
  (void)unused;
  const double times[2] = {g->block->past_t[0], g->t_next};
  for (int k = 0; k < s->subsystem->nu; ++k) {
    c[k] = graph_held_value(g, s, k);
    for (int f = s->feed_at[k]; f < s->feed_at[k + 1]; ++f)
      c[k] += graph_end_share(g, &s->feeds[f]) * g->channels[s->feeds[f].channel].applied;
  }
  const yoke_signal signal = {.n = s->subsystem->nu, .n_pieces = 1, .degree = 0, .t = times, .c = c};
  return yoke_subsystem_output(s->subsystem, g->scratch[0], s->trial != NULL ? s->trial : s->accepted, &signal,
                               YOKE_SIDE_LEFT, s->y_new);
}

/* The same where exchange *number changes an input. */
static yoke_status show_exchanged(yoke_graph *g, int i, void *number) {
  return is_exchanged(g, &g->subsystems[i], *(const int *)number) ? show(g, i, NULL) : YOKE_OK;
}

/* Multipliers that were found together go into the values u of a coupling. */
static void take_force(const yoke_graph *g, const graph_wire *wire, int stage, const double *now, double *u) {
  const yoke_force_finding *forces = wire->wire.formulation->forces;
  const double             *lambda = yoke_joint_forces_of(g->forces, (int)(wire - g->wires));
  if (lambda == NULL || forces->n_rows(wire->wire.self, stage) == 0) return;
  forces->take(wire->wire.self, stage, now, lambda, u);
}

int graph_n_exchanges(const yoke_graph *g) {
  int most = 0;
  for (int w = 0; w < g->n_wires; ++w) {
    const int n = n_exchanges(&g->wires[w].wire);
    if (n > most) most = n;
  }
  return most;
}

yoke_status graph_exchange_at(yoke_graph *g, double t) {
  for (int number = 0; number < g->n_exchanges; ++number) {
    if (g->forces != NULL) YOKE_TRY(yoke_joint_forces_find(g->forces, g, number));
    for (int w = 0; w < g->n_wires; ++w) {
      const graph_wire *wire = &g->wires[w];
      double           *now = wire->lent->now, *u = wire->lent->u;
      if (wire->waits || number >= n_exchanges(&wire->wire)) continue;
      for (int k = 0; k < wire->n_channels; ++k) now[k] = u[k] = g->channels[wire->first + k].applied;
      wire->wire.formulation->extrapolation->exchange(
          wire->wire.self, number, t, graph_port(wire, 0, g->subsystems[wire->wire.subsystem[0]].y_new),
          graph_port(wire, 1, g->subsystems[wire->wire.subsystem[1]].y_new), now, u);
      take_force(g, wire, number, now, u);
      for (int k = 0; k < wire->n_channels; ++k) g->channels[wire->first + k].applied = u[k];
    }
    YOKE_TRY(graph_each_subsystem(g, show_exchanged, &number));
  }
  return YOKE_OK;
}

yoke_status graph_exchange(yoke_graph *g) {
  apply_end_nodes(g);
  return graph_exchange_at(g, g->t_next);
}

/* Values of a coupling at t for the history. Explicit: u = phi(y, u), which without final update is one evaluation with the
 * predicted values in place of u (Kraft 4.1, simplified update). Else: the same, or without final update the corrected nodes. */
void graph_final_values(yoke_graph *g, const graph_wire *wire, double t) {
  double    *u           = wire->lent->u;
  const bool is_explicit = g->scheme->traits.extrapolates_only;
  const bool is_once     = !g->settings.final_update || wire->wire.formulation->extrapolation != NULL;
  for (int k = 0; k < wire->n_channels; ++k) u[k] = g->channels[wire->first + k].applied;
  if (wire->wire.formulation->update != NULL && (is_explicit || g->settings.final_update)) {
    graph_settle(wire, t, graph_port(wire, 0, g->subsystems[wire->wire.subsystem[0]].y_new),
                 graph_port(wire, 1, g->subsystems[wire->wire.subsystem[1]].y_new), is_once ? 1 : GRAPH_CONSISTENT, u);
    double *now = wire->lent->now;
    for (int k = 0; k < wire->n_channels; ++k) now[k] = g->channels[wire->first + k].applied;
    take_force(g, wire, YOKE_STAGE_UPDATE, now, u);
  }
  for (int k = 0; k < wire->n_channels; ++k) g->channels[wire->first + k].value = u[k];
}

/* Is `update` called once with the values that were applied, and does it tell what the conditions compare? */
static bool tells_conditions(const yoke_graph *g, const graph_wire *wire) {
  const yoke_formulation_ops *ops    = wire->wire.formulation;
  const void                 *self   = wire->wire.self;
  const bool                  is_met = ops->is_met_by_update != NULL && ops->is_met_by_update(self);
  for (int k = 0; k < wire->n_channels; ++k) {
    if (g->channels[wire->first + k].n_nodes != 1) return false;
  }
  return is_met && (!g->settings.final_update || (ops->feeds_through != NULL && !ops->feeds_through(self)));
}

bool graph_can_tell_conditions(const yoke_graph *g) {
  if (!g->scheme->traits.extrapolates_only || g->n_exchanges > 0 || g->forces != NULL || g->reset != NULL) return false;
  for (int w = 0; w < g->n_wires; ++w) {
    if (!tells_conditions(g, &g->wires[w])) return false;
  }
  return true;
}

/* graph_exchange, graph_final_values and the conditions at once. */
void graph_told_conditions(yoke_graph *g) {
  double *u = g->lent.u, *now = g->lent.now;
  for (int w = 0; w < g->n_wires; ++w) {
    const graph_wire *wire    = &g->wires[w];
    graph_channel    *channel = &g->channels[wire->first];
    const int        *ends    = wire->wire.subsystem;
    for (int k = 0; k < wire->n_channels; ++k) now[k] = u[k] = channel[k].applied = g->w[channel[k].w_at];
    wire->wire.formulation->update(wire->wire.self, g->t_next, graph_port(wire, 0, g->subsystems[ends[0]].y_new),
                                   graph_port(wire, 1, g->subsystems[ends[1]].y_new), now, u, &g->work);
    for (int k = 0; k < wire->n_channels; ++k) {
      channel[k].value     = u[k];
      g->c[wire->c_at + k] = channel[k].applied - u[k];
    }
  }
}

yoke_status graph_outputs_with_values(yoke_graph *g) {
  for (int c = 0; c < g->n_channels; ++c) g->channels[c].applied = g->channels[c].value;
  return graph_each_subsystem(g, show, NULL);
}
