/* Explicit: extrapolate, integrate once, update the coupling values from the new outputs (on acceptance). */
#include "coupling/multirate.h"
#include "coupling/sequence.h"

extern const yoke_scheme_ops explicit_ops;

static yoke_status explicit_step(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  if (g->multirate != NULL) return graph_pass_multirate(g, statistics, ctx);
  if (g->settings.gauss_seidel) return graph_pass_in_sequence(g, false, GRAPH_LAST, statistics, ctx);
  return graph_pass(g, GRAPH_LAST, statistics, ctx);
}

const yoke_scheme_ops explicit_ops = {
    .traits         = {.name = "explicit", .needs_explicit_form = true, .extrapolates_only = true},
    .summary        = "extrapolate, integrate once, update; cheapest step, smallest stable step",
    .can_sequence   = true,
    .relaxation     = 1.0,
    .max_iterations = 10,
    .step           = explicit_step,
};
