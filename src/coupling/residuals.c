#include "coupling/residuals.h"

#include <math.h>
#include <string.h>

void graph_units_set(yoke_graph *g) {
  for (int w = 0; w < g->n_wires; ++w) {
    const graph_wire           *wire = &g->wires[w];
    const yoke_formulation_ops *ops  = wire->wire.formulation;
    for (int c = 0; c < wire->n_c; ++c) {
      const yoke_residual_unit none = {YOKE_RESIDUAL_NONE, false};
      g->units[wire->c_at + c]      = ops->unit != NULL ? ops->unit(wire->wire.self, c) : none;
    }
    for (int k = wire->first; k < wire->first + wire->n_channels; ++k) {
      g->channels[k].unit    = yoke_channel_unit(&g->channels[k].info, wire->wire.shape, wire->wire.joint);
      g->channels[k].natural = yoke_graph_natural_size(g, g->channels[k].unit);
    }
  }
}

static double or_one(double size) {
  return size > 0.0 ? size : 1.0;
}

double yoke_graph_natural_size(const yoke_graph *g, yoke_residual_unit unit) {
  const double L = or_one(g->settings.length), T = or_one(g->settings.time), F = or_one(g->settings.force);
  const double X = unit.is_turn ? 1.0 : L;
  switch (unit.kind) {
  case YOKE_RESIDUAL_POSITION: return X;
  case YOKE_RESIDUAL_VELOCITY: return X / T;
  case YOKE_RESIDUAL_ACCELERATION: return X / (T * T);
  case YOKE_RESIDUAL_FORCE: return F;
  case YOKE_RESIDUAL_MOMENT: return F * L;
  case YOKE_RESIDUAL_NONE: break;
  }
  return 1.0;
}

double graph_residual_size(const yoke_graph *g, yoke_residual_kind kind) {
  const double L = or_one(g->settings.length);
  switch (kind) {
  case YOKE_RESIDUAL_POSITION: return L;
  case YOKE_RESIDUAL_VELOCITY: return L / g->H;
  case YOKE_RESIDUAL_ACCELERATION: return L / (g->H * g->H);
  case YOKE_RESIDUAL_FORCE:
  case YOKE_RESIDUAL_MOMENT:
  case YOKE_RESIDUAL_NONE: break;
  }
  return g->force_size[kind];
}

static void set_force_sizes(yoke_graph *g) {
  memset(g->force_size, 0, sizeof g->force_size);
  for (int k = 0; k < g->n_channels; ++k) {
    const graph_channel *channel = &g->channels[k];
    double              *largest = &g->force_size[channel->unit.kind];
    *largest                     = fmax(*largest, fabs(g->w[channel->w_at + channel->n_nodes - 1]));
  }
}

void graph_residuals_by_kind(yoke_graph *g, yoke_step_statistics *statistics) {
  const double L                            = or_one(g->settings.length);
  bool         exists[YOKE_N_RESIDUALS + 1] = {false};
  set_force_sizes(g);
  for (int c = 0; c < g->n_c; ++c) {
    const yoke_residual_unit unit = g->units[c];
    if (unit.kind == YOKE_RESIDUAL_NONE) continue;
    const double value = fabs(g->c[c]) * (unit.is_turn ? L : 1.0);
    if (!(value <= statistics->residuals[unit.kind])) statistics->residuals[unit.kind] = value;
    exists[unit.kind] = true;
  }
  for (int kind = 0; kind < YOKE_N_RESIDUALS; ++kind) {
    if (exists[kind]) statistics->sizes[kind] = graph_residual_size(g, (yoke_residual_kind)kind);
  }
}
