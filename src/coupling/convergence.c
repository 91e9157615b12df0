#include "coupling/convergence.h"

#include <math.h>
#include <stdio.h>

/* Of values that the model's sizes make, where no absolute change is given. */
static const double atol_share = 1e-11;

/* Signals are measured by themselves, in whatever unit they are, also in the step that wakes them: atol is meant for a size of 1. */
static double weighted_signal(const yoke_graph *g, const graph_channel *channel, int j, const double *delta) {
  const double known = fmax(channel->kept->sizes.tolerance, graph_least_signal);
  const double size  = fmax(fmax(fabs(g->w_predicted[channel->w_at + j]), fabs(g->w[channel->w_at + j])), known);
  const double atol  = g->settings.atol > 0.0 ? g->settings.atol : atol_share;
  return delta[channel->w_at + j] / (atol * fmin(size, 1.0) + g->settings.rtol * size);
}

/* Change of node j of a channel, in units of what is allowed. */
static double weighted(const yoke_graph *g, const graph_channel *channel, int j, const double *delta) {
  if (yoke_channel_is_signal(&channel->info)) return weighted_signal(g, channel, j, delta);
  const double size = fmax(fabs(g->w_predicted[channel->w_at + j]), channel->kept->sizes.tolerance);
  const double atol = g->settings.atol > 0.0 ? g->settings.atol : atol_share * channel->natural;
  return delta[channel->w_at + j] / (atol + g->settings.rtol * size);
}

double graph_weighted_norm(const yoke_graph *g, const double *delta) {
  double sum = 0.0;
  for (int c = 0; c < g->n_channels; ++c) {
    const graph_channel *channel = &g->channels[c];
    for (int j = 0; j < channel->n_nodes; ++j) {
      const double part = weighted(g, channel, j, delta);
      sum += part * part;
    }
  }
  return g->n_w > 0 ? sqrt(sum / (double)g->n_w) : 0.0;
}

bool graph_is_nothing(const yoke_graph *g, double norm) {
  return norm < 1e-4 * g->settings.tau;
}

/* Without a Jacobian a signal takes one pass for each subsystem that hands it on at once, and only then shows what it does: changes may grow on
 * the way. So do copies, which a force that is evaluated with them follows one pass later. */
static int most_grown(const yoke_graph *g) {
  return (g->has_signals || g->feeds_through) && g->scheme->traits.needs_explicit_form ? 3 : 0;
}

yoke_verdict graph_judge(const yoke_graph *g, yoke_convergence *convergence, double norm) {
  const bool is_first = convergence->previous <= 0.0;
  if (!isfinite(norm)) return YOKE_VERDICT_DIVERGED;
  if (graph_is_nothing(g, norm)) return YOKE_VERDICT_CONVERGED;
  convergence->rate     = is_first ? 1.0 : norm / convergence->previous;
  convergence->previous = norm;
  if (is_first) convergence->first = norm;
  if (is_first) return YOKE_VERDICT_GO_ON;
  if (convergence->rate < 1.0 && convergence->rate / (1.0 - convergence->rate) * norm < g->settings.tau)
    return YOKE_VERDICT_CONVERGED;
  /* changes that turn round as they shrink are small by chance once in a while: growth from there is none */
  const bool grows     = convergence->rate > 2.0 && norm > convergence->first;
  convergence->n_grown = grows ? convergence->n_grown + 1 : 0;
  return convergence->n_grown > most_grown(g) && !graph_is_stalled(g, norm) ? YOKE_VERDICT_DIVERGED
                                                                            : YOKE_VERDICT_GO_ON;
}

bool graph_is_stalled(const yoke_graph *g, double norm) {
  return norm * g->settings.rtol < 1e-6;
}

void yoke_graph_unsettled(const yoke_graph *g, char *text, size_t size) {
  const graph_channel *worst   = NULL;
  double               largest = 0.0;
  for (int c = 0; c < g->n_channels; ++c) {
    const graph_channel *channel = &g->channels[c];
    for (int j = 0; j < channel->n_nodes && !isnan(largest); ++j) {
      const double part = fabs(weighted(g, channel, j, g->delta));
      if (part <= largest) continue;
      worst   = channel; /* NaN too: the first one */
      largest = part;
    }
  }
  text[0] = '\0';
  if (worst != NULL) snprintf(text, size, "coupling '%s' (%s): ", g->wires[worst->wire].wire.name, worst->info.name);
}
