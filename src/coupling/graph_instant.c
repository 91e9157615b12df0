#include "coupling/graph_instant.h"
#include "linalg/lapack.h"
#include "coupling/graph_feeds.h"
#include "coupling/signal_loops.h"

#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DENSE_LIMIT = 600 };             /* unknowns up to which dependent conditions are solved */
static const double rank_limit = 1e-11; /* of them */

/* Condition `row` of a wire feels an unknown: through feed `feed` of input `input` of the subsystem on one side, or directly. */
typedef struct entry {
  int wire, row;
  int side, input, feed; /* side -1: directly, `input` is the channel of the wire */
  int slot;              /* in the matrix */
} entry;

/* What one wire has in the system. */
typedef struct instant_wire {
  int     n;        /* conditions */
  int    *of;       /* [n] channel of the wire that condition r finds; -1: this one is left out */
  double *dc_du;    /* [n_channels, n_channels] */
  double *dc_dy[2]; /* [n_channels, n_y] */
} instant_wire;

struct graph_instant {
  yoke_arena      arena;
  bool            for_estimates, has_signals;
  int             n;       /* unknowns */
  int            *unknown; /* [n_channels] index of a channel's unknown; -1: its value follows from y */
  instant_wire   *wires;   /* [n_wires]; n 0: it does not take part */
  int             n_entries;
  entry          *entries;
  yoke_pattern   *pattern;
  yoke_linear    *linear;
  yoke_factor    *factor;
  double         *J;      /* [nnz] */
  double         *c;      /* [n] conditions, then corrections */
  double         *work;   /* of the solver */
  double         *dense;  /* [n, n] and the work of dgelsy */
  int            *pivot;  /* [n] */
  graph_moment    moment; /* of the search under way */
  graph_responses responses;
};

/* ---- creation ---- */

/* One that enters one side only has a displacement side opposite, and its value stands. */
static bool is_estimated(const yoke_channel *channel) {
  return channel->enters[0] == YOKE_ENTRY_LAMBDA && channel->enters[1] == YOKE_ENTRY_LAMBDA;
}

bool graph_instant_wants(const graph_wire *wire, graph_instant_kind kind) {
  const yoke_formulation_ops *ops = wire->wire.formulation;
  if (ops->instant == NULL) return false;
  switch (kind) {
  case GRAPH_FOR_ESTIMATES: return ops->instant->for_estimates;
  case GRAPH_FOR_START: return wire->wire.initial == NULL;
  case GRAPH_FOR_SIGNALS: return ops->for_signals;
  case GRAPH_FOR_RESTART: break;
  }
  return true;
}

/* Conditions of a wire at t with values `now` and outputs y; values that follow directly go to u. Returns their number. */
static int look(const graph_wire *wire, const instant_wire *own, double t, const double *const y[2], const double *now,
                double *u, double *c) {
  return wire->wire.formulation->instant->conditions(wire->wire.self, t, y, now, u, wire->lent->which, c, own->dc_du,
                                                     own->dc_dy[0], own->dc_dy[1], wire->scratch);
}

/* Which channels of a wire are unknown: by what they enter, or as its formulation says. */
static yoke_status list_unknowns(graph_instant *x, yoke_graph *g, int w) {
  const graph_wire *wire = &g->wires[w];
  instant_wire     *own  = &x->wires[w];
  const size_t      n    = (size_t)wire->n_channels;
  const double     *y[2];
  x->has_signals = x->has_signals || wire->wire.formulation->for_signals;
  for (int side = 0; side < 2; ++side) x->responses.is_asked[wire->wire.subsystem[side]] = true;
  own->of    = yoke_arena_take(&x->arena, n, sizeof *own->of);
  own->dc_du = yoke_arena_take(&x->arena, n * n, sizeof *own->dc_du);
  for (int side = 0; side < 2; ++side) {
    own->dc_dy[side] = yoke_arena_take(&x->arena, n * (size_t)wire->n_y[side], sizeof(double));
    y[side]          = graph_port(wire, side, g->subsystems[wire->wire.subsystem[side]].y);
  }
  if (x->arena.has_failed) return YOKE_E_MEMORY;
  for (int k = 0; k < wire->n_channels; ++k) wire->lent->now[k] = g->channels[wire->first + k].kept->past[0];
  own->n = look(wire, own, g->block->past_t[0], y, wire->lent->now, wire->lent->u, wire->lent->u_dot);
  for (int r = 0; r < own->n; ++r) {
    const int  channel     = wire->first + wire->lent->which[r];
    const bool is_left_out = x->for_estimates && !is_estimated(&g->channels[channel].info);
    own->of[r]             = is_left_out ? -1 : wire->lent->which[r];
    if (!is_left_out) x->unknown[channel] = x->n++;
  }
  return YOKE_OK;
}

/* Unknowns that a condition of a wire feels, in index order; counts only when `list` is NULL. */
static int list_row(const graph_instant *x, const yoke_graph *g, int w, int row, entry *list) {
  const graph_wire *wire = &g->wires[w];
  int               n    = 0;
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
  for (int k = 0; k < wire->n_channels && !x->for_estimates; ++k) {
    if (x->unknown[wire->first + k] < 0) continue;
    if (list != NULL) list[n] = (entry){.wire = w, .row = row, .side = -1, .input = k};
    ++n;
  }
  return n;
}

static int list_entries(const graph_instant *x, const yoke_graph *g, entry *list) {
  int n = 0;
  for (int w = 0; w < g->n_wires; ++w) {
    for (int r = 0; r < x->wires[w].n; ++r) {
      if (x->wires[w].of[r] >= 0) n += list_row(x, g, w, r, list != NULL ? list + n : NULL);
    }
  }
  return n;
}

static int row_of(const graph_instant *x, const yoke_graph *g, const entry *e) {
  return x->unknown[g->wires[e->wire].first + x->wires[e->wire].of[e->row]];
}

static int column_of(const graph_instant *x, const yoke_graph *g, const entry *e) {
  const graph_wire *wire = &g->wires[e->wire];
  if (e->side < 0) return x->unknown[wire->first + e->input];
  return x->unknown[g->subsystems[wire->wire.subsystem[e->side]].feeds[e->feed].channel];
}

static yoke_status create_matrix(graph_instant *x, const yoke_graph *g, yoke_context *ctx) {
  const size_t n      = (size_t)x->n;
  x->n_entries        = list_entries(x, g, NULL);
  x->entries          = yoke_arena_take(&x->arena, (size_t)x->n_entries, sizeof *x->entries);
  x->c                = yoke_arena_take(&x->arena, n, sizeof *x->c);
  const size_t mark   = yoke_arena_mark(&x->arena);
  int         *row    = yoke_arena_take(&x->arena, (size_t)x->n_entries, sizeof *row);
  int         *column = yoke_arena_take(&x->arena, (size_t)x->n_entries, sizeof *column);
  int         *slot   = yoke_arena_take(&x->arena, (size_t)x->n_entries, sizeof *slot);
  if (x->arena.has_failed) return YOKE_E_MEMORY;
  (void)list_entries(x, g, x->entries);
  for (int i = 0; i < x->n_entries; ++i) {
    row[i]    = row_of(x, g, &x->entries[i]);
    column[i] = column_of(x, g, &x->entries[i]);
  }
  yoke_status status = yoke_pattern_create(ctx, x->n, x->n, x->n_entries, row, column, slot, &x->pattern);
  for (int i = 0; status == YOKE_OK && i < x->n_entries; ++i) x->entries[i].slot = slot[i];
  yoke_arena_release(&x->arena, mark);
  if (status == YOKE_OK) status = yoke_linear_create(ctx, x->pattern, YOKE_LINEAR_KLU, &x->linear);
  if (status != YOKE_OK) return status;
  const size_t nd = !x->for_estimates && x->n <= DENSE_LIMIT ? n : 0;
  x->J            = yoke_arena_take(&x->arena, (size_t)x->pattern->nnz, sizeof *x->J);
  x->work         = yoke_arena_take(&x->arena, yoke_linear_work_size(x->linear), sizeof *x->work);
  x->dense        = yoke_arena_take(&x->arena, nd > 0 ? nd * nd + 70 * (nd + 1) : 0, sizeof *x->dense);
  x->pivot        = yoke_arena_take(&x->arena, nd, sizeof *x->pivot);
  return x->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
}

yoke_status graph_instant_create(yoke_graph *g, graph_instant_kind kind, yoke_context *ctx, graph_instant **out) {
  graph_instant *x = yoke_allocate(1, sizeof *x);
  *out             = x;
  if (x == NULL) return yoke_out_of_memory(ctx, "coupling values at one instant");
  x->arena         = yoke_arena_of(ctx);
  x->for_estimates = kind == GRAPH_FOR_ESTIMATES;
  x->unknown       = yoke_arena_take(&x->arena, (size_t)g->n_channels, sizeof *x->unknown);
  x->wires         = yoke_arena_take(&x->arena, (size_t)g->n_wires, sizeof *x->wires);
  graph_responses_take(&x->responses, g, &x->arena);
  yoke_status status = x->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
  for (int k = 0; status == YOKE_OK && k < g->n_channels; ++k) x->unknown[k] = -1;
  for (int w = 0; status == YOKE_OK && w < g->n_wires; ++w) {
    if (graph_instant_wants(&g->wires[w], kind)) status = list_unknowns(x, g, w);
  }
  if (status == YOKE_OK && x->n > 0) status = create_matrix(x, g, ctx);
  if (status == YOKE_OK) return YOKE_OK;
  graph_instant_destroy(out);
  return status == YOKE_E_MEMORY ? yoke_out_of_memory(ctx, "coupling values at one instant") : status;
}

void graph_instant_destroy(graph_instant **instant) {
  graph_instant *x = *instant;
  if (x == NULL) return;
  yoke_factor_release(&x->factor);
  yoke_linear_destroy(&x->linear);
  yoke_pattern_destroy(&x->pattern);
  yoke_arena_free(&x->arena);
  free(x);
  *instant = NULL;
}

bool graph_instant_has_signals(const graph_instant *x) {
  return x->has_signals;
}

bool graph_instant_takes(const graph_instant *x, int wire) {
  return x->wires[wire].n > 0;
}

bool graph_instant_is_unknown(const graph_instant *x, int channel) {
  return x->unknown[channel] >= 0;
}

void graph_instant_pack(const graph_instant *x, yoke_pack *out) {
  graph_factor_pack(x->factor, out);
}

yoke_status graph_instant_unpack(const graph_instant *x, yoke_unpack *in, yoke_context *ctx, yoke_factor **out) {
  return graph_factor_unpack(x->linear, in, ctx, out);
}

void graph_instant_take(graph_instant *x, yoke_factor **factor) {
  graph_factor_replace(&x->factor, factor);
}

/* ---- values ---- */

/* Values that follow from y, and the conditions of the others. */
static yoke_status set_wire(graph_instant *x, const yoke_graph *g, int w, double *values) {
  const graph_wire   *wire     = &g->wires[w];
  const instant_wire *own      = &x->wires[w];
  const bool          is_trial = x->moment == GRAPH_END_OF_TRIAL;
  const double       *y[2];
  for (int side = 0; side < 2; ++side) {
    const graph_subsystem *s = &g->subsystems[wire->wire.subsystem[side]];
    y[side]                  = graph_port(wire, side, is_trial ? s->y_new : s->y);
  }
  for (int k = 0; k < wire->n_channels; ++k) {
    const graph_channel *channel = &g->channels[wire->first + k];
    wire->lent->now[k]           = is_trial ? g->w[channel->w_at + channel->n_nodes - 1] : channel->kept->past[0];
  }
  double   *c = wire->lent->u_dot;
  const int n =
      look(wire, own, is_trial ? g->t_next : g->block->past_t[0], y, wire->lent->now, values + wire->first, c);
  if (n != own->n) return YOKE_E_INTERNAL;
  for (int r = 0; r < n; ++r) {
    if (own->of[r] >= 0) x->c[x->unknown[wire->first + own->of[r]]] = -c[r];
  }
  return YOKE_OK;
}

static void set_matrix(graph_instant *x, const yoke_graph *g) {
  memset(x->J, 0, (size_t)x->pattern->nnz * sizeof *x->J);
  for (int i = 0; i < x->n_entries; ++i) {
    const entry        *e    = &x->entries[i];
    const graph_wire   *wire = &g->wires[e->wire];
    const instant_wire *own  = &x->wires[e->wire];
    if (e->side < 0) {
      x->J[e->slot] += own->dc_du[(size_t)e->row * (size_t)wire->n_channels + (size_t)e->input];
      continue;
    }
    const graph_subsystem *s    = &g->subsystems[wire->wire.subsystem[e->side]];
    const double          *row  = own->dc_dy[e->side] + (size_t)e->row * (size_t)wire->n_y[e->side];
    const double          *a    = s->da_du + (size_t)e->input * (size_t)s->subsystem->ny + (size_t)wire->y_at[e->side];
    const graph_feed      *feed = &s->feeds[e->feed];
    const double           weight = x->moment == GRAPH_END_OF_TRIAL ? graph_end_share(g, feed) : graph_now_share(feed);
    for (int k = yoke_shape_at_a(wire->wire.shape[e->side]); k < wire->n_y[e->side]; ++k)
      x->J[e->slot] += row[k] * (weight * a[k]);
  }
}

/* Dependent conditions: the solution of least norm. */
static yoke_status solve_dense(graph_instant *x) {
  const int  n    = x->n;
  lapack_int rank = 0;
  if (n > DENSE_LIMIT || x->for_estimates) return YOKE_SINGULAR;
  memset(x->dense, 0, (size_t)n * (size_t)n * sizeof *x->dense);
  for (int c = 0; c < n; ++c) {
    for (int k = x->pattern->col_start[c]; k < x->pattern->col_start[c + 1]; ++k)
      x->dense[(size_t)c * (size_t)n + (size_t)x->pattern->row[k]] = x->J[k];
    x->pivot[c] = 0;
  }
  const lapack_int info = lapack_dgelsy_work(n, n, 1, x->dense, n, x->c, n, x->pivot, rank_limit, &rank,
                                             x->dense + (size_t)n * (size_t)n, 70 * (n + 1));
  return info == 0 ? YOKE_OK : YOKE_SINGULAR;
}

static bool is_signal(const yoke_graph *g, int channel) {
  return yoke_channel_is_signal(&g->channels[channel].info);
}

/* Signals that go round in a circle of gain 1 have no values. */
static yoke_status check_loops(graph_instant *x, const yoke_graph *g, yoke_context *ctx) {
  if (!x->has_signals || x->n > DENSE_LIMIT) return YOKE_OK;
  const size_t mark       = yoke_arena_mark(&x->arena);
  int         *channel_of = yoke_arena_take(&x->arena, (size_t)x->n, sizeof *channel_of);
  bool        *signal     = yoke_arena_take(&x->arena, (size_t)x->n, sizeof *signal);
  bool        *in_loop    = yoke_arena_take(&x->arena, (size_t)x->n, sizeof *in_loop);
  yoke_status  status     = x->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
  for (int k = 0; status == YOKE_OK && k < g->n_channels; ++k) {
    if (x->unknown[k] < 0) continue;
    channel_of[x->unknown[k]] = k;
    signal[x->unknown[k]]     = is_signal(g, k);
  }
  if (status == YOKE_OK) status = graph_singular_loop(x->pattern, x->J, signal, in_loop, &x->arena);
  if (status == YOKE_SINGULAR) status = graph_name_loop(g, x->n, channel_of, in_loop, ctx);
  yoke_arena_release(&x->arena, mark);
  return status == YOKE_E_MEMORY ? yoke_out_of_memory(ctx, "the loops of %d coupling values", x->n) : status;
}

static yoke_status solve(graph_instant *x, yoke_context *ctx) {
  if (!x->for_estimates) yoke_factor_release(&x->factor); /* nothing of an earlier restart */
  const yoke_status status = yoke_factor_make(x->linear, x->J, NULL, &x->factor);
  if (status == YOKE_E_MEMORY) return yoke_out_of_memory(ctx, "the factors of %d coupling values", x->n);
  if (status == YOKE_SINGULAR) return solve_dense(x);
  if (status == YOKE_OK) yoke_factor_solve(x->factor, x->c, NULL, x->work);
  return status;
}

yoke_status graph_instant_find(graph_instant *x, yoke_graph *g, graph_moment moment, double *values,
                               yoke_context *ctx) {
  x->moment = moment;
  for (int w = 0; w < g->n_wires; ++w) {
    if (graph_instant_takes(x, w)) YOKE_TRY(set_wire(x, g, w, values));
  }
  if (x->n == 0) return YOKE_OK;
  graph_responses_find(&x->responses, g, moment);
  for (int i = 0; i < g->n_subsystems; ++i) {
    if (x->responses.status[i] != YOKE_OK)
      return yoke_fail(ctx, x->responses.status[i], "subsystem '%s': no response of the accelerations",
                       g->subsystems[i].subsystem->name);
  }
  set_matrix(x, g);
  YOKE_TRY(check_loops(x, g, ctx));
  YOKE_TRY(yoke_graph_agree(g, "instant", solve(x, ctx), (size_t)x->n * sizeof *x->c, x->c));
  for (int k = 0; k < g->n_channels; ++k) {
    if (x->unknown[k] >= 0) values[k] += x->c[x->unknown[k]];
  }
  return YOKE_OK;
}

/* ---- parts of motions ---- */

/* R d. */
static void multiply_rows(graph_instant *x, const yoke_graph *g, double *const *d) {
  for (int w = 0; w < g->n_wires; ++w) {
    const graph_wire   *wire = &g->wires[w];
    const instant_wire *own  = &x->wires[w];
    for (int r = 0; r < own->n; ++r) {
      if (own->of[r] < 0) continue;
      double sum = 0.0;
      for (int side = 0; side < 2; ++side) {
        const yoke_port_shape *shape = wire->wire.shape[side];
        const double          *row   = own->dc_dy[side] + (size_t)r * (size_t)wire->n_y[side];
        const double          *part  = d[wire->wire.subsystem[side]] + wire->y_at[side];
        for (int k = yoke_shape_at_a(shape); k < yoke_shape_at_a(shape) + shape->n_v; ++k) sum += row[k] * part[k];
      }
      x->c[x->unknown[wire->first + own->of[r]]] = sum;
    }
  }
}

bool graph_instant_along(graph_instant *x, const yoke_graph *g, double *const *d, double *const *along) {
  if (x->n == 0 || x->factor == NULL) return false;
  multiply_rows(x, g, d);
  yoke_factor_solve(x->factor, x->c, NULL, x->work);
  for (int i = 0; i < g->n_subsystems; ++i) {
    const graph_subsystem *s  = &g->subsystems[i];
    const size_t           ny = (size_t)s->subsystem->ny;
    memset(along[i], 0, ny * sizeof *along[i]);
    for (int input = 0; input < s->subsystem->nu; ++input) {
      for (int f = s->feed_at[input]; f < s->feed_at[input + 1]; ++f) {
        const int unknown = x->unknown[s->feeds[f].channel];
        if (unknown < 0) continue;
        const double u = graph_end_share(g, &s->feeds[f]) * x->c[unknown];
        for (size_t k = 0; k < ny; ++k) along[i][k] += s->da_du[(size_t)input * ny + k] * u;
      }
    }
  }
  return true;
}
