#include "coupling/graph_balance.h"

#include <math.h>

enum { START_ITERATIONS = 20, JOINT_ROUNDS = 2, SIGNAL_ROUNDS = 40 };

static const double settled = 1e-13; /* change of signals, of their size */
static const double at_rest = 1e-9;  /* change that rounding may leave */

/* Positions and velocities do not depend on the inputs, accelerations do: two rounds settle forces, a third what depends on accelerations. */
yoke_status graph_balance(yoke_graph *g, double t, yoke_side limit, yoke_context *ctx) {
  for (int round = 0; round < START_ITERATIONS; ++round) {
    double      change = 0.0;
    yoke_status status = graph_outputs_with_history(g, t, limit);
    if (status != YOKE_OK) return yoke_fail(ctx, YOKE_E_UNSTABLE, "outputs at t = %.9g s are not finite", t);
    for (int w = 0; w < g->n_wires; ++w) {
      const graph_wire *wire = &g->wires[w];
      double           *u    = wire->lent->u;
      if (wire->is_given || wire->wire.formulation->update == NULL) continue;
      graph_update(g, wire, t, graph_port(wire, 0, g->subsystems[wire->wire.subsystem[0]].y),
                   graph_port(wire, 1, g->subsystems[wire->wire.subsystem[1]].y), u);
      for (int k = 0; k < wire->n_channels; ++k) {
        graph_channel *channel = &g->channels[wire->first + k];
        change = fmax(change, fabs(u[k] - channel->kept->past[0]) / fmax(fabs(u[k]), 1e-12 * channel->natural));
        channel->kept->past[0] = u[k];
        graph_sizes_set(&channel->kept->sizes, fabs(u[k]));
      }
    }
    YOKE_TRY(yoke_graph_agree_block(g, "values"));
    YOKE_TRY(yoke_graph_agree(g, "change", YOKE_OK, sizeof change, &change));
    if (change < 1e-14) break;
  }
  return graph_outputs_with_history(g, t, limit);
}

/* ---- with conditions at one instant ---- */

/* The largest change of a signal in the last round, and whose it is. */
typedef struct round_change {
  double largest;
  int    channel;
} round_change;

static void note(const graph_channel *channel, int c, double from, double to, round_change *change) {
  if (!yoke_channel_is_signal(&channel->info)) return;
  const double part = fabs(to - from) / fmax(fmax(fabs(from), fabs(to)), graph_least_signal);
  if (part > change->largest) *change = (round_change){part, c};
}

/* Values of the wires that take part from the outputs y, as the newest of the history. */
static yoke_status find_values(yoke_graph *g, graph_instant *x, double *values, round_change *change,
                               yoke_context *ctx) {
  *change = (round_change){0};
  YOKE_TRY(graph_instant_find(x, g, GRAPH_BEHIND_NOW, values, ctx));
  for (int c = 0; c < g->n_channels; ++c) {
    graph_channel *channel = &g->channels[c];
    if (!graph_instant_takes(x, channel->wire)) continue;
    if (!isfinite(values[c])) return YOKE_NON_FINITE;
    note(channel, c, channel->kept->past[0], values[c], change);
    channel->kept->past[0] = values[c];
  }
  return YOKE_OK;
}

static yoke_status unsettled(const yoke_graph *g, const round_change *change, yoke_context *ctx) {
  const yoke_wire *wire = &g->wires[g->channels[change->channel].wire].wire;
  return yoke_fail(
      ctx, YOKE_E_NOT_CONVERGED,
      "coupling '%s': the signal of subsystem '%s' at t = %.9g s depends on itself and does not settle, its "
      "last change was %.3g of its size; is there a value that fits, and is it near 0 or the one before?",
      wire->name, g->subsystems[wire->subsystem[0]].subsystem->name, g->block->past_t[0], change->largest);
}

/* Positions and velocities give the forces of elements and the copies; with these the accelerations give the multipliers. One more round
 * takes what rounding left. Signals are nonlinear: rounds of Newton's method until they settle. */
static yoke_status settle(yoke_graph *g, graph_instant *x, yoke_side limit, double *values, yoke_context *ctx) {
  const double t          = g->block->past_t[0];
  const bool   has_signal = graph_instant_has_signals(x);
  round_change change     = {0};
  for (int round = 0; round < (has_signal ? SIGNAL_ROUNDS : JOINT_ROUNDS); ++round) {
    YOKE_TRY(graph_balance(g, t, limit, ctx));
    YOKE_TRY(find_values(g, x, values, &change, ctx));
    if (has_signal && round > 0 && change.largest <= settled) break;
  }
  if (change.largest > at_rest) return unsettled(g, &change, ctx);
  return graph_balance(g, t, limit, ctx);
}

yoke_status graph_balance_instant(yoke_graph *g, graph_instant *x, yoke_side limit, yoke_context *ctx) {
  const size_t mark   = yoke_arena_mark(&g->work);
  double      *values = yoke_arena_take(&g->work, (size_t)g->n_channels, sizeof *values);
  yoke_status  status = values != NULL ? settle(g, x, limit, values, ctx) : YOKE_E_MEMORY;
  yoke_arena_release(&g->work, mark);
  return status == YOKE_E_MEMORY ? yoke_out_of_memory(ctx, "a new start of the couplings") : status;
}
