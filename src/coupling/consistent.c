/* Consistent values: coupling values that belong to the outputs at a macro point.
 *
 * Where a formulation has u = phi(y) that is all. Multipliers hold the conditions of their formulation over the whole step, so
 * their end node is off by as much as the signal inside the step; the one that belongs to the outputs makes s'' = 0. The
 * accelerations are linear in the multipliers, with the responses da/du that the subsystems give:
 *   (ds''/da da/du) (u* - u) = -s''(y). */
#include "coupling/comparison.h"

#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Row `row` of a wire feels what feed `feed` gives to input `input` of the subsystem on one side. */
typedef struct entry {
  int wire, row, side, input, feed;
  int slot; /* in the matrix */
} entry;

typedef struct graph_consistent {
  yoke_arena     arena;
  int            n;       /* multipliers */
  int           *unknown; /* [n_channels] index of a channel's multiplier; -1: its value follows from y */
  int            n_entries;
  entry         *entries;
  yoke_pattern  *pattern;
  yoke_linear   *linear;
  yoke_factor   *factor;
  double        *J;      /* [nnz] */
  double        *c;      /* [n] conditions, then corrections */
  double        *work;   /* of the solver */
  double       **dc[2];  /* [n_wires] ds''/dy of both sides, [rows, n_y]; NULL: no multipliers */
  double        *dc_du;  /* of the wire that is looked at, [rows, n_channels] */
  yoke_status   *status; /* [n_subsystems] of the responses */
  double        *values; /* [n_channels] to begin anew with */
  const double **given;  /* [n_wires] into values; NULL: the law gives them */
} graph_consistent;

bool graph_has_instant(const graph_wire *wire) {
  return wire->wire.formulation->instant != NULL && wire->wire.formulation->instant->for_estimates;
}

static bool is_multiplier(const yoke_graph *g, const graph_channel *channel) {
  if (!graph_has_instant(&g->wires[channel->wire])) return false;
  /* one that enters one side only has a displacement side opposite, and its value stands */
  return channel->info.enters[0] == YOKE_ENTRY_LAMBDA && channel->info.enters[1] == YOKE_ENTRY_LAMBDA;
}

/* All entries in index order; counts only when `list` is NULL. */
static int list_entries(const yoke_graph *g, entry *list) {
  const graph_consistent *x = g->consistent;
  int                     n = 0;
  for (int w = 0; w < g->n_wires; ++w) {
    const graph_wire *wire = &g->wires[w];
    for (int row = 0; row < wire->n_channels; ++row) {
      if (x->unknown[wire->first + row] < 0) continue;
      for (int side = 0; side < 2; ++side) {
        const graph_subsystem *s = &g->subsystems[wire->wire.subsystem[side]];
        for (int input = 0; input < s->subsystem->nu; ++input) {
          for (int f = s->feed_at[input]; f < s->feed_at[input + 1]; ++f) {
            if (x->unknown[s->feeds[f].channel] < 0) continue;
            if (list != NULL) list[n] = (entry){.wire = w, .row = row, .side = side, .input = input, .feed = f};
            ++n;
          }
        }
      }
    }
  }
  return n;
}

static int column_of(const yoke_graph *g, const entry *e) {
  const graph_subsystem *s = &g->subsystems[g->wires[e->wire].wire.subsystem[e->side]];
  return g->consistent->unknown[s->feeds[e->feed].channel];
}

static yoke_status create_matrix(yoke_graph *g, yoke_context *ctx) {
  graph_consistent *x = g->consistent;
  x->n_entries        = list_entries(g, NULL);
  x->entries          = yoke_arena_take(&x->arena, (size_t)x->n_entries, sizeof *x->entries);
  const size_t mark   = yoke_arena_mark(&x->arena);
  int         *row    = yoke_arena_take(&x->arena, (size_t)x->n_entries, sizeof *row);
  int         *column = yoke_arena_take(&x->arena, (size_t)x->n_entries, sizeof *column);
  int         *slot   = yoke_arena_take(&x->arena, (size_t)x->n_entries, sizeof *slot);
  if (x->arena.has_failed) return YOKE_E_MEMORY;
  (void)list_entries(g, x->entries);
  for (int i = 0; i < x->n_entries; ++i) {
    row[i]    = x->unknown[g->wires[x->entries[i].wire].first + x->entries[i].row];
    column[i] = column_of(g, &x->entries[i]);
  }
  yoke_status status = yoke_pattern_create(ctx, x->n, x->n, x->n_entries, row, column, slot, &x->pattern);
  for (int i = 0; status == YOKE_OK && i < x->n_entries; ++i) x->entries[i].slot = slot[i];
  yoke_arena_release(&x->arena, mark);
  if (status == YOKE_OK) status = yoke_linear_create(ctx, x->pattern, YOKE_LINEAR_KLU, &x->linear);
  if (status != YOKE_OK) return status;
  x->J    = yoke_arena_take(&x->arena, (size_t)x->pattern->nnz, sizeof *x->J);
  x->work = yoke_arena_take(&x->arena, yoke_linear_work_size(x->linear), sizeof *x->work);
  return x->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
}

static yoke_status create_rows(yoke_graph *g) {
  graph_consistent *x = g->consistent;
  x->c                = yoke_arena_take(&x->arena, (size_t)x->n, sizeof *x->c);
  x->status           = yoke_arena_take(&x->arena, (size_t)g->n_subsystems, sizeof *x->status);
  x->values           = yoke_arena_take(&x->arena, (size_t)g->n_channels, sizeof *x->values);
  x->given            = yoke_arena_take(&x->arena, (size_t)g->n_wires, sizeof *x->given);
  size_t most         = 0;
  for (int w = 0; w < g->n_wires; ++w) {
    const size_t n = (size_t)g->wires[w].n_channels;
    if (n > most) most = n;
  }
  x->dc_du = yoke_arena_take(&x->arena, most * most, sizeof *x->dc_du);
  for (int side = 0; side < 2; ++side) {
    x->dc[side] = yoke_arena_take(&x->arena, (size_t)g->n_wires, sizeof *x->dc[side]);
    for (int w = 0; !x->arena.has_failed && w < g->n_wires; ++w) {
      const graph_wire *wire = &g->wires[w];
      if (!graph_has_instant(wire)) continue;
      x->dc[side][w] = yoke_arena_take(&x->arena, (size_t)wire->n_channels * (size_t)wire->n_y[side], sizeof(double));
    }
  }
  return x->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
}

yoke_status graph_consistent_create(yoke_graph *g, yoke_context *ctx) {
  graph_consistent *x = yoke_allocate(1, sizeof *x);
  g->consistent       = x;
  if (x == NULL) return yoke_out_of_memory(ctx, "the error estimate");
  x->unknown = yoke_arena_take(&x->arena, (size_t)g->n_channels, sizeof *x->unknown);
  YOKE_TRY(yoke_arena_check(&x->arena, ctx, "the error estimate"));
  for (int k = 0; k < g->n_channels; ++k) x->unknown[k] = is_multiplier(g, &g->channels[k]) ? x->n++ : -1;
  yoke_status status = create_rows(g);
  if (status == YOKE_OK && x->n > 0) status = create_matrix(g, ctx);
  return status == YOKE_E_MEMORY ? yoke_out_of_memory(ctx, "the error estimate") : status;
}

void graph_consistent_destroy(yoke_graph *g) {
  graph_consistent *x = g->consistent;
  if (x == NULL) return;
  yoke_factor_release(&x->factor);
  yoke_linear_destroy(&x->linear);
  yoke_pattern_destroy(&x->pattern);
  yoke_arena_free(&x->arena);
  free(x);
  g->consistent = NULL;
}

void graph_consistent_start(yoke_graph *g) {
  for (int k = 0; k < g->n_channels; ++k) {
    graph_channel *channel = &g->channels[k];
    memcpy(channel->kept->consistent, channel->kept->past, sizeof channel->kept->consistent);
  }
}

void graph_consistent_accept(yoke_graph *g) {
  for (int k = 0; k < g->n_channels; ++k) {
    graph_channel *channel = &g->channels[k];
    memmove(channel->kept->consistent + 1, channel->kept->consistent,
            (GRAPH_PAST - 1) * sizeof *channel->kept->consistent);
    channel->kept->consistent[0] = channel->consistent_new;
  }
}

/* ---- values ---- */

static void respond(void *user, int i, int worker) {
  yoke_graph      *g = user;
  graph_subsystem *s = &g->subsystems[i];
  double           times[GRAPH_MAX_BREAKS + 2];
  yoke_signal      signal;
  graph_signal(g, i, -1, 0.0, times, g->signal_c[worker], &signal);
  g->consistent->status[i] = s->subsystem->ops->instant->response(s->subsystem, g->scratch[worker], s->trial, &signal,
                                                                  YOKE_SIDE_LEFT, s->da_du);
}

/* Values that follow from y, and the conditions of the others. */
static void set_wire(yoke_graph *g, int w) {
  graph_consistent *x    = g->consistent;
  const graph_wire *wire = &g->wires[w];
  const size_t      mark = yoke_arena_mark(wire->scratch), n_channels = (size_t)wire->n_channels;
  double           *now      = yoke_arena_take(wire->scratch, n_channels, sizeof *now);
  double           *u        = yoke_arena_take(wire->scratch, n_channels, sizeof *u);
  double           *c        = yoke_arena_take(wire->scratch, n_channels, sizeof *c);
  int              *channels = yoke_arena_take(wire->scratch, n_channels, sizeof *channels);
  const double     *y[2];
  for (int side = 0; side < 2; ++side)
    y[side] = graph_port(wire, side, g->subsystems[wire->wire.subsystem[side]].y_new);
  for (int k = 0; k < wire->n_channels; ++k) {
    const graph_channel *channel = &g->channels[wire->first + k];
    now[k]                       = g->w[channel->w_at + channel->n_nodes - 1];
  }
  if (graph_has_instant(wire)) {
    const int n = wire->wire.formulation->instant->conditions(wire->wire.self, y, now, u, channels, c, x->dc_du,
                                                              x->dc[0][w], x->dc[1][w], wire->scratch);
    for (int row = 0; row < n; ++row) {
      const int at = x->unknown[wire->first + channels[row]];
      if (at >= 0) x->c[at] = -c[row];
    }
  } else {
    memcpy(u, now, (size_t)wire->n_channels * sizeof *u);
    graph_settle(wire, g->t_next, y[0], y[1], GRAPH_CONSISTENT, u);
  }
  for (int k = 0; k < wire->n_channels; ++k) g->channels[wire->first + k].consistent_new = u[k];
  yoke_arena_release(wire->scratch, mark);
}

static void set_matrix(yoke_graph *g) {
  graph_consistent *x = g->consistent;
  memset(x->J, 0, (size_t)x->pattern->nnz * sizeof *x->J);
  for (int i = 0; i < x->n_entries; ++i) {
    const entry           *e     = &x->entries[i];
    const graph_wire      *wire  = &g->wires[e->wire];
    const graph_subsystem *s     = &g->subsystems[wire->wire.subsystem[e->side]];
    const yoke_port_shape *shape = wire->wire.shape[e->side];
    const int              from = shape->n_p + shape->n_v, n_v = shape->n_v;
    const double          *row = x->dc[e->side][e->wire] + (size_t)e->row * (size_t)wire->n_y[e->side];
    const double *a      = s->da_du + (size_t)e->input * (size_t)s->subsystem->ny + (size_t)wire->wire.y_at[e->side];
    const double  weight = s->feeds[e->feed].weight;
    for (int k = from; k < from + n_v; ++k) x->J[e->slot] += row[k] * (weight * a[k]);
  }
}

yoke_status graph_consistent_find(yoke_graph *g, yoke_context *ctx) {
  graph_consistent *x = g->consistent;
  for (int w = 0; w < g->n_wires; ++w) set_wire(g, w);
  if (x->n > 0) {
    yoke_exec_run(g->exec, g->n_subsystems, respond, g);
    for (int i = 0; i < g->n_subsystems; ++i) {
      if (x->status[i] != YOKE_OK)
        return yoke_fail(ctx, x->status[i], "subsystem '%s': no response of the accelerations",
                         g->subsystems[i].subsystem->name);
    }
    set_matrix(g);
    YOKE_TRY(yoke_factor_make(x->linear, x->J, NULL, &x->factor));
    yoke_factor_solve(x->factor, x->c, NULL, x->work);
  }
  for (int k = 0; k < g->n_channels; ++k) {
    graph_channel *channel = &g->channels[k];
    if (x->unknown[k] >= 0) channel->consistent_new += x->c[x->unknown[k]];
    if (!isfinite(channel->consistent_new)) return YOKE_NON_FINITE;
  }
  return YOKE_OK;
}

/* ---- modes of inner nodes ---- */

static const double least_multiplier = 1.0; /* [N]: a model at rest has no size yet */

bool yoke_graph_multipliers_are_off(yoke_graph *g) {
  graph_consistent *x   = g->consistent;
  double            off = 0.0;
  if (x == NULL || !g->has_consistent) return false;
  g->block->largest_multiplier = fmax(g->block->largest_multiplier, least_multiplier);
  for (int k = 0; k < g->n_channels; ++k) {
    const graph_channel *channel = &g->channels[k];
    if (x->unknown[k] < 0 || channel->n_nodes < 2) continue;
    g->block->largest_multiplier = fmax(g->block->largest_multiplier, fabs(channel->kept->consistent[0]));
    off                          = fmax(off, fabs(channel->kept->past[0] - channel->kept->consistent[0]));
  }
  return off > 0.5 * g->block->largest_multiplier;
}

yoke_status yoke_graph_restart_consistent(yoke_graph *g, yoke_context *ctx) {
  graph_consistent *x = g->consistent;
  for (int k = 0; k < g->n_channels; ++k) x->values[k] = g->channels[k].kept->consistent[0];
  for (int w = 0; w < g->n_wires; ++w) {
    const bool has_multipliers = graph_has_instant(&g->wires[w]);
    x->given[w]                = has_multipliers ? x->values + g->wires[w].first : NULL;
  }
  return yoke_graph_restart(g, x->given, ctx);
}
