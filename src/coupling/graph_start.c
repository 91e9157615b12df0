/* Start of a graph: subsystems and coupling values that belong to each other, and a past that is given. */
#include "coupling/comparison.h"
#include "coupling/graph_balance.h"
#include "coupling/graph_feeds.h"

#include <math.h>
#include <string.h>

void graph_update(const yoke_graph *g, const graph_wire *wire, double t, const double *y1, const double *y2,
                  double *u) {
  double *now = wire->lent->now;
  for (int k = 0; k < wire->n_channels; ++k) {
    const graph_channel *channel = &g->channels[wire->first + k];
    now[k]                       = g->is_stepping ? g->w[channel->w_at + channel->n_nodes - 1] : channel->kept->past[0];
  }
  wire->wire.formulation->update(wire->wire.self, t, y1, y2, now, u, wire->scratch);
}

void graph_settle(const graph_wire *wire, double t, const double *y1, const double *y2, int rounds, double *u) {
  const yoke_formulation_ops *ops = wire->wire.formulation;
  double                     *now = wire->lent->now;
  if (ops->feeds_through != NULL && !ops->feeds_through(wire->wire.self)) rounds = 1;
  for (int round = 0; round < rounds; ++round) {
    memcpy(now, u, (size_t)wire->n_channels * sizeof *now);
    ops->update(wire->wire.self, t, y1, y2, now, u, wire->scratch);
  }
}

/* Constant inputs of one subsystem from the newest values of the history. */
void graph_held_signal(const yoke_graph *g, int i, double t, double *times, double *c, yoke_signal *out) {
  const graph_subsystem *s = &g->subsystems[i];
  for (int k = 0; k < s->subsystem->nu; ++k) {
    c[k] = graph_held_value(g, s, k);
    for (int f = s->feed_at[k]; f < s->feed_at[k + 1]; ++f)
      c[k] += graph_now_share(&s->feeds[f]) * g->channels[s->feeds[f].channel].kept->past[0];
  }
  times[0] = t;
  times[1] = t + 1.0;
  *out     = (yoke_signal){.n = s->subsystem->nu, .n_pieces = 1, .degree = 0, .t = times, .c = c};
}

typedef struct moment {
  double        t;
  yoke_side     limit;
  yoke_context *ctx;
} moment;

static yoke_status show_with_history(yoke_graph *g, int i, void *user) {
  const moment    *at = user;
  graph_subsystem *s  = &g->subsystems[i];
  double           times[2];
  yoke_signal      signal;
  graph_held_signal(g, i, at->t, times, g->signal_c[0], &signal);
  return yoke_subsystem_output(s->subsystem, g->scratch[0], s->accepted, &signal, at->limit, s->y);
}

yoke_status graph_outputs_with_history(yoke_graph *g, double t, yoke_side limit) {
  YOKE_TRY(graph_each_subsystem(g, show_with_history, &(moment){.t = t, .limit = limit}));
  graph_feeds_look(g);
  return YOKE_OK;
}

/* Channel values that the wires give themselves (multipliers of the whole model, copies of its motion). false: some are to be found. */
static bool set_initial(yoke_graph *g) {
  bool all = true;
  for (int c = 0; c < g->n_channels; ++c) {
    graph_channel *channel           = &g->channels[c];
    const double  *initial           = g->wires[channel->wire].wire.initial;
    const bool     is_found          = graph_instant_wants(&g->wires[channel->wire], GRAPH_FOR_START);
    g->wires[channel->wire].is_given = initial != NULL || is_found;
    all                              = all && !is_found;
    const int own                    = c - g->wires[channel->wire].first;
    if (initial == NULL && g->wires[channel->wire].wire.guess != NULL)
      channel->kept->past[0] = g->wires[channel->wire].wire.guess[own];
    if (initial == NULL) continue;
    channel->kept->past[0] = initial[own];
    graph_sizes_set(&channel->kept->sizes, fabs(channel->kept->past[0]));
  }
  return all;
}

/* Values of wires that bring none and have conditions for them: joints of foreign subsystems, signals. */
static yoke_status find_values(yoke_graph *g, double t, yoke_context *ctx) {
  graph_instant *x = NULL;
  YOKE_TRY(graph_outputs_with_history(g, t, YOKE_SIDE_RIGHT));
  yoke_status status = graph_instant_create(g, GRAPH_FOR_START, ctx, &x);
  if (status == YOKE_OK) status = graph_balance_instant(g, x, YOKE_SIDE_RIGHT, ctx);
  for (int c = 0; status == YOKE_OK && c < g->n_channels; ++c) {
    graph_kept *kept = g->channels[c].kept;
    if (graph_instant_takes(x, g->channels[c].wire)) graph_sizes_set(&kept->sizes, fabs(kept->past[0]));
  }
  graph_instant_destroy(&x);
  if (status == YOKE_OK) return graph_outputs_with_history(g, t, YOKE_SIDE_LEFT);
  return status < 0 ? status
                    : yoke_fail(ctx, YOKE_E_MODEL, "the values of the couplings at t = %.9g s cannot be found: %s", t,
                                yoke_status_text(status));
}

static yoke_status start_one(yoke_graph *g, int i, void *user) {
  const moment *at = user;
  double        times[2];
  yoke_signal   signal;
  graph_held_signal(g, i, at->t, times, g->signal_c[0], &signal);
  return yoke_subsystem_start(g->subsystems[i].subsystem, g->scratch[0], g->subsystems[i].accepted, at->t, &signal,
                              at->ctx);
}

/* All subsystems with the newest coupling values as inputs. */
static yoke_status start_all(yoke_graph *g, double t, yoke_context *ctx) {
  return graph_each_subsystem(g, start_one, &(moment){.t = t, .ctx = ctx});
}

/* The first subsystem that shows something else than what the coupling values were found with; -1: none. Outputs become what is shown. */
static yoke_status find_moved(yoke_graph *g, double t, int *moved) {
  *moved = -1;
  for (int i = 0; i < g->n_subsystems; ++i) {
    const graph_subsystem *s = &g->subsystems[i];
    memcpy(s->y_new, s->y, (size_t)s->subsystem->ny * sizeof(double));
  }
  YOKE_TRY(graph_outputs_with_history(g, t, YOKE_SIDE_LEFT));
  for (int i = g->n_subsystems - 1; i >= 0; --i) {
    const graph_subsystem *s = &g->subsystems[i];
    for (int k = 0; k < s->subsystem->ny; ++k) {
      if (fabs(s->y[k] - s->y_new[k]) > 1e-12 * fmax(fabs(s->y[k]), fabs(s->y_new[k]))) *moved = i;
    }
  }
  return YOKE_OK;
}

enum { MOST_STARTS = 20 };

/* A start may read its inputs (the first sample of a controller): its outputs then ask for other values, and these for another start. */
static yoke_status settle_starts(yoke_graph *g, double t, yoke_context *ctx) {
  int moved;
  YOKE_TRY(find_moved(g, t, &moved));
  for (int n = 0; moved >= 0; ++n) {
    if (n == MOST_STARTS)
      return yoke_fail(ctx, YOKE_E_NOT_CONVERGED,
                       "subsystem '%s': with every start at t = %.9g s its outputs ask for other inputs; let its start "
                       "not depend on them",
                       g->subsystems[moved].subsystem->name, t);
    YOKE_TRY(find_values(g, t, ctx));
    YOKE_TRY(start_all(g, t, ctx));
    YOKE_TRY(find_moved(g, t, &moved));
  }
  return YOKE_OK;
}

yoke_status yoke_graph_start(yoke_graph *g, double t, yoke_context *ctx) {
  g->block->n_past    = 1;
  g->block->past_t[0] = t;
  g->is_stepping      = false;
  const bool has_all  = set_initial(g);
  YOKE_TRY(start_all(g, t, ctx));
  YOKE_TRY(graph_balance(g, t, YOKE_SIDE_LEFT, ctx));
  if (!has_all) YOKE_TRY(find_values(g, t, ctx));
  YOKE_TRY(start_all(g, t, ctx)); /* again, now with the inputs of the first step's left end */
  if (!has_all) YOKE_TRY(settle_starts(g, t, ctx));
  for (int i = 0; i < g->n_subsystems; ++i)
    memcpy(g->subsystems[i].past_y, g->subsystems[i].y, (size_t)g->subsystems[i].subsystem->ny * sizeof(double));
  for (int w = 0; w < g->n_wires; ++w) {
    const graph_wire *wire = &g->wires[w];
    if (wire->wire.formulation->advise == NULL) continue;
    const char *const names[2] = {g->subsystems[wire->wire.subsystem[0]].subsystem->name,
                                  g->subsystems[wire->wire.subsystem[1]].subsystem->name};
    wire->wire.formulation->advise(wire->wire.self, wire->wire.name, names,
                                   graph_port(wire, 0, g->subsystems[wire->wire.subsystem[0]].y),
                                   graph_port(wire, 1, g->subsystems[wire->wire.subsystem[1]].y), ctx);
  }
  graph_consistent_start(g);
  return graph_consistent_prepare(g, ctx);
}

/* Outputs of a subsystem at point n of the past. */
static double *past_outputs(const graph_subsystem *s, int n) {
  return s->past_y + (size_t)n * (size_t)s->subsystem->ny;
}

void yoke_graph_add_past(yoke_graph *g, double t, const double *y, const double *const *given) {
  if (g->block->n_past == GRAPH_PAST) return;
  const int n         = g->block->n_past++;
  g->block->past_t[n] = t;
  for (int i = 0; n < g->output_points && i < g->n_subsystems; ++i) {
    const graph_subsystem *s = &g->subsystems[i];
    memset(past_outputs(s, n), 0, (size_t)s->subsystem->ny * sizeof(double));
  }
  for (int w = 0; w < g->n_wires; ++w) {
    const graph_wire *wire = &g->wires[w];
    double           *u    = wire->lent->u;
    const double     *port[2];
    for (int side = 0; side < 2; ++side) {
      const size_t n_y = (size_t)wire->n_y[side];
      port[side]       = y;
      y += n_y;
      if (n < g->output_points)
        memcpy(past_outputs(&g->subsystems[wire->wire.subsystem[side]], n) + wire->y_at[side], port[side],
               n_y * sizeof(double));
    }
    for (int k = 0; k < wire->n_channels; ++k)
      u[k] = given[w] != NULL ? given[w][k] : g->channels[wire->first + k].kept->past[0];
    if (given[w] == NULL && wire->wire.formulation->update != NULL)
      graph_settle(wire, t, port[0], port[1], GRAPH_CONSISTENT, u);
    for (int k = 0; k < wire->n_channels; ++k) g->channels[wire->first + k].kept->past[n] = u[k];
  }
  graph_consistent_start(g);
}
