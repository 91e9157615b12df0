/* Waveform relaxation: fixed-point iteration u := phi(y(u)) with relaxation, no Jacobian (Kraft 2.34, 2.35). */
#include "coupling/convergence.h"
#include "coupling/sequence.h"

#include <math.h>
#include <string.h>

extern const yoke_scheme_ops waveform_ops;

/* delta = share of the new value times (phi(y) - w); w += delta. */
static yoke_status relax(yoke_graph *g) {
  memset(g->delta, 0, (size_t)g->n_w * sizeof *g->delta);
  for (int i = 0; i < g->n_wires; ++i) {
    const graph_wire *wire = &g->wires[i];
    double           *u    = wire->lent->u;
    graph_update(g, wire, g->t_next, graph_port(wire, 0, g->subsystems[wire->wire.subsystem[0]].y_new),
                 graph_port(wire, 1, g->subsystems[wire->wire.subsystem[1]].y_new), u);
    for (int k = 0; k < wire->n_channels; ++k) {
      const graph_channel *channel = &g->channels[wire->first + k];
      const int            last    = channel->w_at + channel->n_nodes - 1;
      g->delta[last]               = g->settings.relaxation * (u[k] - g->w[last]);
    }
  }
  YOKE_TRY(yoke_graph_agree(g, "relaxation", YOKE_OK, (size_t)g->n_w * sizeof *g->delta, g->delta));
  for (int i = 0; i < g->n_w; ++i) g->w[i] += g->delta[i];
  return YOKE_OK;
}

static yoke_status waveform_step(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  yoke_convergence convergence = {0};
  double           norm        = 0.0;
  for (statistics->iterations = 0; statistics->iterations < g->settings.max_iterations; ++statistics->iterations) {
    YOKE_TRY(g->settings.gauss_seidel ? graph_pass_in_sequence(g, statistics->iterations > 0, 0, statistics, ctx)
                                      : graph_pass(g, 0, statistics, ctx));
    YOKE_TRY(relax(g));
    norm                       = graph_weighted_norm(g, g->delta);
    const yoke_verdict verdict = graph_judge(g, &convergence, norm);
    if (verdict == YOKE_VERDICT_CONVERGED) return graph_pass(g, GRAPH_LAST, statistics, ctx);
    if (verdict == YOKE_VERDICT_DIVERGED) return YOKE_NOT_CONVERGED;
  }
  statistics->converged = false;
  return graph_is_stalled(g, norm) ? graph_pass(g, GRAPH_LAST, statistics, ctx) : YOKE_NOT_CONVERGED;
}

const yoke_scheme_ops waveform_ops = {
    .traits         = {.name = "waveform", .needs_explicit_form = true},
    .summary        = "fixed-point iteration with relaxation; no Jacobian, more passes",
    .needs_repeat   = true,
    .can_sequence   = true,
    .relaxation     = 0.7,
    .max_iterations = 50,
    .step           = waveform_step,
};
