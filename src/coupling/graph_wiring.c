/* Wiring of a graph: channels and conditions of the wires, which unknowns enter which subsystem, and all
 * arrays that a step needs. */
#include "coupling/multirate.h"
#include "coupling/column_sources.h"
#include "coupling/graph_feeds.h"
#include "coupling/newton_matrix.h"
#include "coupling/residuals.h"

#include "base/assert.h"
#include "base/memory.h"
#include <string.h>

/* Sets of conditions, and what each solve counts in the mean. Couplings without sets follow the first that has the most. */
static void share_sets(yoke_graph *g) {
  const graph_wire *most = NULL;
  g->n_sets              = 1;
  for (int i = 0; i < g->n_wires; ++i) {
    graph_wire                 *wire = &g->wires[i];
    const yoke_formulation_ops *ops  = wire->wire.formulation;
    double                      sum  = 0.0;
    wire->n_sets                     = ops->sets != NULL ? ops->sets->n(wire->wire.self) : 1;
    for (int set = 0; set < wire->n_sets; ++set) {
      wire->share[set] = ops->sets != NULL ? ops->sets->weight(wire->wire.self, set) : 1.0;
      sum += wire->share[set];
    }
    for (int set = 0; set < wire->n_sets; ++set) wire->share[set] /= sum;
    if (wire->n_sets > g->n_sets) most = wire;
    if (most == wire) g->n_sets = wire->n_sets;
  }
  for (int i = 0; most != NULL && i < g->n_wires; ++i) {
    graph_wire *wire = &g->wires[i];
    if (wire->wire.formulation->sets == NULL) memcpy(wire->share, most->share, sizeof wire->share);
  }
}

/* Unknown nodes of a wire are as many as its conditions, channel by channel the same at every degree of the run. */
static yoke_status check_nodes(const yoke_graph *g, const graph_wire *wire, yoke_context *ctx) {
  const yoke_formulation_ops *ops = wire->wire.formulation;
  for (int degree = graph_wire_order(g, wire); degree >= 0; --degree) {
    int n = 0;
    for (int k = 0; k < wire->n_channels; ++k) {
      const graph_channel *channel = &g->channels[wire->first + k];
      yoke_layout          layout;
      ops->layout(wire->wire.self, k, degree, &layout);
      n += yoke_layout_n_nodes(&layout);
      if (yoke_layout_n_nodes(&layout) == channel->n_nodes) continue;
      return yoke_fail(ctx, YOKE_E_INTERNAL,
                       "coupling '%s': channel '%s' of formulation '%s' has %d unknown nodes at order %d and %d at "
                       "order %d; a layout keeps their number",
                       wire->wire.name, channel->info.name, ops->name, yoke_layout_n_nodes(&layout), degree,
                       channel->n_nodes, graph_wire_order(g, wire));
    }
    if (n == wire->n_c) continue;
    return yoke_fail(ctx, YOKE_E_INTERNAL,
                     "coupling '%s': formulation '%s' has %d unknown nodes and %d conditions at order %d; they must be "
                     "as many",
                     wire->wire.name, ops->name, n, wire->n_c, degree);
  }
  return YOKE_OK;
}

static size_t larger(size_t a, int b) {
  return a > (size_t)b ? a : (size_t)b;
}

void graph_take_lent(yoke_graph *g, graph_lent *lent) {
  const size_t width = GRAPH_SIGNAL_DEGREE + 1;
  size_t       n = 0, n_c = 0, n_y = 0, n_p = 0, n_v = 0;
  for (int i = 0; i < g->n_wires; ++i) {
    const graph_wire *wire = &g->wires[i];
    n                      = larger(n, wire->n_channels);
    n_c                    = larger(n_c, wire->n_c);
    for (int side = 0; side < 2; ++side) {
      n_y = larger(n_y, wire->n_y[side]);
      n_p = larger(n_p, wire->wire.shape[side]->n_p);
      n_v = larger(n_v, wire->wire.shape[side]->n_v);
    }
  }
  double **const by_channel[] = {&lent->u, &lent->u_dot, &lent->u_integral, &lent->now};
  double **const by_both[]    = {&lent->dc_du, &lent->dc_du_dot, &lent->dc_du_integral};
  for (size_t i = 0; i < sizeof by_channel / sizeof *by_channel; ++i)
    *by_channel[i] = yoke_arena_take(&g->arena, n, sizeof(double));
  for (size_t i = 0; i < sizeof by_both / sizeof *by_both; ++i)
    *by_both[i] = yoke_arena_take(&g->arena, n_c * n, sizeof(double));
  lent->which    = yoke_arena_take(&g->arena, n, sizeof *lent->which);
  lent->curves   = yoke_arena_take(&g->arena, n * width, sizeof(double));
  lent->curve_of = yoke_arena_take(&g->arena, n, sizeof *lent->curve_of);
  for (int side = 0; side < 2; ++side) {
    lent->ahead[side]   = yoke_arena_take(&g->arena, n_y, sizeof(double));
    lent->motion[side]  = yoke_arena_take(&g->arena, 3 * n_v + 5 * n_p, sizeof(double));
    lent->tangent[side] = yoke_arena_take(&g->arena, n_p * n_v, sizeof(double));
    lent->dc_dy[side]   = yoke_arena_take(&g->arena, n_c * n_y, sizeof(double));
  }
  for (size_t k = 0; !g->arena.has_failed && k < n; ++k) lent->curve_of[k] = lent->curves + k * width;
}

static void list_felt(yoke_graph *g) {
  for (int i = 0; i < g->n_wires; ++i) g->n_felt += g->wires[i].wire.n_felt;
  g->felt = yoke_arena_take(&g->arena, (size_t)g->n_felt, sizeof *g->felt);
  int n   = 0;
  for (int i = 0; g->felt != NULL && i < g->n_wires; ++i) {
    const yoke_wire *wire = &g->wires[i].wire;
    for (int k = 0; k < wire->n_felt; ++k) g->felt[n++] = (graph_felt){.wire = i, .shown = wire->felt[k]};
  }
}

yoke_status graph_warm_up(const yoke_graph *g, yoke_arena *scratch, yoke_context *ctx) {
  const size_t rows = 64, mark = yoke_arena_mark(scratch);
  size_t       widest = 0;
  for (int i = 0; i < g->n_wires; ++i) {
    const graph_wire *wire  = &g->wires[i];
    const size_t      width = (size_t)wire->n_channels + (size_t)wire->n_y[0] + (size_t)wire->n_y[1];
    if (width > widest) widest = width;
  }
  (void)yoke_arena_take(scratch, rows * widest, sizeof(double));
  yoke_arena_release(scratch, mark);
  return yoke_arena_check(scratch, ctx, "the conditions of %d couplings", g->n_wires);
}

static int kind_of(const yoke_channel *channel) {
  return yoke_channel_is_signal(channel) ? GRAPH_SIGNALS : channel->is_force ? GRAPH_FORCES : GRAPH_MOTIONS;
}

/* Channels, conditions and unknowns of all wires at the full degree. */
static yoke_status build_wires(yoke_graph *g, yoke_context *ctx, const yoke_wire *wires) {
  int n = 0;
  for (int i = 0; i < g->n_wires; ++i) {
    int own;
    (void)wires[i].formulation->channels(wires[i].self, &own);
    n += own;
  }
  g->channels = yoke_arena_take(&g->arena, (size_t)n, sizeof *g->channels);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "%d channels", n));
  for (int i = 0; i < g->n_wires; ++i) {
    graph_wire                   *wire = &g->wires[i];
    const yoke_own_extrapolation *own  = wires[i].formulation->extrapolation;
    const yoke_channel           *list = wires[i].formulation->channels(wires[i].self, &wire->n_channels);
    wire->wire                         = wires[i];
    wire->scratch                      = &g->work;
    wire->lent                         = &g->lent;
    wire->first                        = g->n_channels;
    wire->c_at                         = g->n_c;
    wire->n_c                          = wires[i].formulation->n_conditions(wires[i].self);
    g->has_joints                      = g->has_joints || wires[i].joint != NULL;
    for (int k = 0; k < wire->n_channels; ++k) {
      graph_channel *channel = &g->channels[g->n_channels++];
      channel->info          = list[k];
      channel->wire          = i;
      channel->kind          = kind_of(&list[k]);
      for (int side = 0; side < 2; ++side) channel->enters[side] = list[k].enters[side] != YOKE_ENTRY_NONE;
      channel->has_own_order = own != NULL;
      channel->order         = own != NULL ? own->order(wires[i].self, k) : 0;
      channel->spare_order   = wires[i].spare_order;
      wires[i].formulation->layout(wires[i].self, k, g->settings.order - wires[i].spare_order, &channel->layout);
      channel->n_nodes = yoke_layout_n_nodes(&channel->layout);
      channel->w_at    = g->n_w;
      g->n_w += channel->n_nodes;
    }
    g->n_c += wire->n_c;
    YOKE_TRY(check_nodes(g, wire, ctx));
    for (int side = 0; side < 2; ++side) wire->n_y[side] = wires[i].n_y[side];
  }
  list_felt(g);
  graph_take_lent(g, &g->lent);
  share_sets(g);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "%d couplings", g->n_wires));
  return graph_warm_up(g, &g->work, ctx);
}

/* Signals that subsystem i waits for: of subsystems without a place. */
static bool waits(const yoke_graph *g, int i) {
  const graph_subsystem *s = &g->subsystems[i];
  for (int e = 0; e < s->n_ends; ++e) {
    const yoke_wire *wire = &g->wires[s->ends[e].wire].wire;
    if (s->ends[e].side != 1 || !wire->formulation->for_signals || wire->subsystem[0] == i) continue;
    if (g->subsystems[wire->subsystem[0]].place < 0) return true;
  }
  return false;
}

/* One after another: who shows a signal comes before who reads it; else, and where signals go round in a circle, the first in the list. */
static yoke_status find_order(yoke_graph *g, yoke_context *ctx) {
  int first   = 0;
  g->sequence = yoke_arena_take(&g->arena, (size_t)g->n_subsystems, sizeof *g->sequence);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "%d subsystems", g->n_subsystems));
  for (int w = 0; w < g->n_wires; ++w) {
    const yoke_formulation_ops *ops = g->wires[w].wire.formulation;
    g->has_signals                  = g->has_signals || ops->for_signals;
    g->feeds_through = g->feeds_through || (ops->feeds_through != NULL && ops->feeds_through(g->wires[w].wire.self));
  }
  for (int i = 0; i < g->n_subsystems; ++i) {
    g->sequence[i]         = i;
    g->subsystems[i].place = g->has_signals ? -1 : i;
  }
  for (int place = 0; g->has_signals && place < g->n_subsystems; ++place) {
    while (g->subsystems[first].place >= 0) ++first;
    int next = first;
    while (next < g->n_subsystems && (g->subsystems[next].place >= 0 || waits(g, next))) ++next;
    if (next == g->n_subsystems) next = first; /* a circle */
    g->subsystems[next].place = place;
    g->sequence[place]        = next;
  }
  return YOKE_OK;
}

/* Which wires end in which subsystem. */
static yoke_status list_ends(yoke_graph *g, yoke_context *ctx) {
  for (int w = 0; w < g->n_wires; ++w) {
    for (int side = 0; side < 2; ++side) ++g->subsystems[g->wires[w].wire.subsystem[side]].n_ends;
  }
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    s->ends            = yoke_arena_take(&g->arena, (size_t)s->n_ends, sizeof *s->ends);
    s->n_ends          = 0;
  }
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "%d couplings", g->n_wires));
  for (int w = 0; w < g->n_wires; ++w) {
    for (int side = 0; side < 2; ++side) {
      graph_subsystem *s   = &g->subsystems[g->wires[w].wire.subsystem[side]];
      s->ends[s->n_ends++] = (graph_end){w, side};
    }
  }
  return YOKE_OK;
}

/* Which unknowns enter a subsystem: nodes of the channels that feed an input of it. */
static yoke_status list_columns(yoke_graph *g, yoke_context *ctx, graph_subsystem *s) {
  for (int pass = 0; pass < 2; ++pass) { /* 0: count; 1: list */
    s->n_columns = 0;
    for (int e = 0; e < s->n_ends; ++e) {
      const graph_wire *wire = &g->wires[s->ends[e].wire];
      for (int k = 0; k < wire->n_channels; ++k) {
        if (!graph_enters(g, wire, s->ends[e].side, k)) continue;
        for (int node = 0; node < g->channels[wire->first + k].n_nodes; ++node, ++s->n_columns) {
          if (pass == 0) continue;
          s->column_channel[s->n_columns] = wire->first + k;
          s->column_node[s->n_columns]    = node;
          s->column[s->n_columns]         = g->channels[wire->first + k].w_at + node;
        }
      }
    }
    if (pass == 1) break;
    const size_t n    = (size_t)s->n_columns;
    s->column_channel = yoke_arena_take(&g->arena, n, sizeof(int));
    s->column_node    = yoke_arena_take(&g->arena, n, sizeof(int));
    s->column         = yoke_arena_take(&g->arena, n, sizeof(int));
    s->dy             = yoke_arena_take(&g->arena, n * (size_t)s->subsystem->ny, sizeof(double));
    YOKE_TRY(yoke_arena_check(&g->arena, ctx, "subsystem '%s'", s->subsystem->name));
  }
  return YOKE_OK;
}

/* Zero until somebody has looked at outputs. */
static graph_share *take_share(yoke_graph *g, const graph_entry *entry) {
  if (entry->row < 0) return NULL;
  graph_share *share = yoke_arena_take(&g->arena, 1, sizeof *share);
  if (share == NULL) return NULL;
  share->row       = entry->row;
  share->component = entry->component;
  return share;
}

/* Feeds and where those of each input begin, in one piece: of a small subsystem both are on one cache line. */
static yoke_status take_feeds(yoke_graph *g, yoke_context *ctx, graph_subsystem *s, int n, const int *feed_at) {
  const int    nu    = s->subsystem->nu;
  const size_t bytes = (size_t)n * sizeof *s->feeds, more = ((size_t)nu + 2) * sizeof *feed_at;
  char        *at = yoke_arena_take(&g->arena, bytes + more, 1);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "subsystem '%s'", s->subsystem->name));
  s->feeds   = (graph_feed *)(void *)at;
  s->feed_at = memcpy(at + bytes, feed_at, more);
  return YOKE_OK;
}

/* Which channels feed which input. */
static yoke_status list_feeds(yoke_graph *g, yoke_context *ctx, graph_subsystem *s) {
  const int    nu    = s->subsystem->nu;
  const size_t mark  = yoke_arena_mark(&g->work);
  int         *count = s->feed_at = yoke_arena_take(&g->work, (size_t)nu + 2, sizeof *s->feed_at);
  YOKE_TRY(yoke_arena_check(&g->work, ctx, "subsystem '%s'", s->subsystem->name));
  for (int pass = 0; pass < 2; ++pass) { /* 0: count; 1: list, feed_at[k + 1] is where the next one of input k goes */
    int column = 0;
    for (int e = 0; e < s->n_ends; ++e) {
      const graph_wire *wire = &g->wires[s->ends[e].wire];
      for (int k = 0; k < wire->n_channels; ++k) {
        graph_entry entry;
        int         n = 0;
        for (; graph_entry_at(g, wire, s->ends[e].side, k, n, &entry); ++n) {
          YOKE_ASSERT(entry.input < nu);
          if (pass == 0)
            ++s->feed_at[entry.input + 2];
          else
            s->feeds[s->feed_at[entry.input + 1]++] = (graph_feed){
                .channel = wire->first + k, .column = column, .weight = entry.weight, .share = take_share(g, &entry)};
        }
        if (n == 0) continue;
        column += g->channels[wire->first + k].n_nodes;
      }
    }
    if (pass == 1) break;
    for (int k = 0; k < nu; ++k) s->feed_at[k + 2] += s->feed_at[k + 1];
    YOKE_TRY(take_feeds(g, ctx, s, count[nu + 1], count));
    yoke_arena_release(&g->work, mark);
  }
  return yoke_arena_check(&g->arena, ctx, "subsystem '%s'", s->subsystem->name);
}

/* Inputs of a subsystem are cut at the inner nodes of all channels that enter: their positions must fit into one signal. */
static yoke_status check_breaks(const yoke_graph *g, yoke_context *ctx, const graph_subsystem *s) {
  double at[GRAPH_MAX_BREAKS];
  int    n = 0;
  for (int c = 0; c < s->n_columns; ++c) {
    const graph_channel *channel = &g->channels[s->column_channel[c]];
    const double         node    = yoke_layout_node(&channel->layout, s->column_node[c]);
    bool                 is_new  = node < 1.0;
    for (int k = 0; k < n; ++k) is_new = is_new && at[k] != node;
    if (!is_new) continue;
    if (n == GRAPH_MAX_BREAKS - 1) {
      return yoke_fail(
          ctx, YOKE_E_MODEL,
          "subsystem '%s': its couplings have more than %d different inner nodes; give several of them the "
          "same nodes",
          s->subsystem->name, GRAPH_MAX_BREAKS - 1);
    }
    at[n++] = node;
  }
  return YOKE_OK;
}

yoke_status graph_take_pool(yoke_graph *g, yoke_context *ctx) {
  size_t size = 64, rest = SIZE_MAX;
  if (g->pool != NULL) return YOKE_OK;
  for (int i = 0; i < g->n_subsystems; ++i) {
    const yoke_subsystem *s = g->subsystems[i].subsystem;
    if (s->ops->repeat == NULL) continue;
    if (s->state_size > size) size = s->state_size;
    if (s->state_rest < rest) rest = s->state_rest;
  }
  return yoke_state_pool_create(ctx, yoke_exec_n_workers(g->exec), size, rest < size ? size - rest : size, &g->pool);
}

static yoke_status build_subsystems(yoke_graph *g, yoke_context *ctx, yoke_subsystem *const *subsystems) {
  const int n_workers = yoke_exec_n_workers(g->exec);
  size_t    scratch = 64, most_u = 1, most_y = 1;
  int       n_tasks = 0;
  YOKE_TRY(list_ends(g, ctx));
  for (int i = 0; i < g->n_subsystems; ++i) {
    const yoke_subsystem_ops *ops = subsystems[i]->ops;
    g->subsystems[i].subsystem    = subsystems[i];
    g->subsystems[i].ny           = subsystems[i]->ny;
    g->subsystems[i].has_accept   = ops->accept != NULL;
    g->subsystems[i].is_alone     = ops->repeat != NULL && ops->repeat->most_states > 0;
  }
  YOKE_TRY(graph_feeds_check(g, ctx));
  YOKE_TRY(find_order(g, ctx));
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    YOKE_TRY(list_columns(g, ctx, s));
    YOKE_TRY(list_feeds(g, ctx, s));
    YOKE_TRY(check_breaks(g, ctx, s));
    const size_t ny = (size_t)s->subsystem->ny;
    s->y_new        = yoke_arena_take(&g->arena, ny, sizeof(double));
    s->y_predicted  = yoke_arena_take(&g->arena, ny, sizeof(double));
    s->da_du        = yoke_arena_take(&g->arena, ny * (size_t)s->subsystem->nu, sizeof(double));
    s->accepted     = graph_take_state(g, s->subsystem);
    if (graph_has_trial(g, s->subsystem)) s->trial = graph_take_state(g, s->subsystem);
    if (g->arena.has_failed || g->rooms.has_failed)
      return yoke_out_of_memory(ctx, "the states of subsystem '%s'", s->subsystem->name);
    if (s->subsystem->scratch_size > scratch) scratch = s->subsystem->scratch_size;
    if ((size_t)s->subsystem->nu > most_u) most_u = (size_t)s->subsystem->nu;
    if (ny > most_y) most_y = ny;
    n_tasks += 2 + s->n_columns; /* main, comparison, perturbed */
  }
  YOKE_TRY(yoke_exec_expect(g->exec, ctx, n_tasks));
  if (g->scheme->needs_repeat) YOKE_TRY(graph_take_pool(g, ctx));
  g->tasks      = yoke_arena_take(&g->arena, (size_t)n_tasks, sizeof *g->tasks);
  g->jobs       = yoke_arena_take(&g->arena, (size_t)n_tasks, sizeof *g->jobs);
  g->costs      = yoke_arena_take(&g->arena, (size_t)n_tasks, sizeof *g->costs);
  g->times      = yoke_arena_take(&g->arena, (size_t)n_tasks, sizeof *g->times);
  g->scratch    = yoke_arena_take(&g->arena, (size_t)n_workers, sizeof *g->scratch);
  g->signal_c   = yoke_arena_take(&g->arena, (size_t)n_workers, sizeof *g->signal_c);
  g->variant_y  = yoke_arena_take(&g->arena, (size_t)n_workers, sizeof *g->variant_y);
  g->worker_ctx = yoke_arena_take(&g->arena, (size_t)n_workers, sizeof *g->worker_ctx);
  bool ok       = !g->arena.has_failed;
  for (int k = 0; ok && k < n_workers; ++k) {
    g->scratch[k]   = yoke_arena_take_unset(&g->rooms, scratch);
    g->signal_c[k]  = yoke_arena_take(&g->arena, most_u * GRAPH_MAX_BREAKS * (GRAPH_SIGNAL_DEGREE + 1), sizeof(double));
    g->variant_y[k] = yoke_arena_take(&g->arena, most_y, sizeof(double));
    ok              = !g->arena.has_failed && !g->rooms.has_failed && yoke_context_create(&g->worker_ctx[k]) == YOKE_OK;
  }
  return ok ? YOKE_OK : yoke_out_of_memory(ctx, "%d workers", n_workers);
}

static yoke_status allocate_unknowns(yoke_graph *g, yoke_context *ctx) {
  const size_t n   = (size_t)g->n_w;
  g->w             = yoke_arena_take(&g->arena, n, sizeof(double));
  g->w_predicted   = yoke_arena_take(&g->arena, n, sizeof(double));
  g->w_before      = yoke_arena_take(&g->arena, n, sizeof(double));
  g->c             = yoke_arena_take(&g->arena, n, sizeof(double));
  g->delta         = yoke_arena_take(&g->arena, n, sizeof(double));
  g->c_before      = yoke_arena_take(&g->arena, n, sizeof(double));
  g->delta_set     = yoke_arena_take(&g->arena, n, sizeof(double));
  g->rounding      = yoke_arena_take(&g->arena, 3 * n, sizeof(double));
  g->units         = yoke_arena_take(&g->arena, n, sizeof *g->units);
  const size_t nnz = (size_t)(g->pattern != NULL ? g->pattern->nnz : 0);
  g->J             = yoke_arena_take(&g->arena, (size_t)g->n_sets * nnz, sizeof(double));
  g->linear_work = yoke_arena_take(&g->arena, g->linear != NULL ? yoke_linear_work_size(g->linear) : 1, sizeof(double));
  if (g->settings.jacobian == YOKE_JACOBIAN_BROYDEN)
    g->broyden = yoke_arena_take(&g->arena, 2 * n * n + n, sizeof(double));
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "%d coupling unknowns", g->n_w));
  graph_units_set(g);
  return YOKE_OK;
}

yoke_status graph_wire_up(yoke_graph *g, const yoke_wire *wires, yoke_subsystem *const *subsystems, yoke_context *ctx) {
  YOKE_TRY(build_wires(g, ctx, wires));
  g->n_exchanges = graph_n_exchanges(g);
  YOKE_TRY(build_subsystems(g, ctx, subsystems));
  YOKE_TRY(graph_multirate_create(g, ctx));
  return graph_choose_columns(g, ctx);
}

yoke_status graph_take_unknowns(yoke_graph *g, yoke_context *ctx) {
  if (g->scheme->needs_repeat) YOKE_TRY(graph_newton_create(g, ctx));
  return allocate_unknowns(g, ctx);
}
