/* Consistent values: coupling values that belong to the outputs at a macro point.
 *
 * Where a formulation has u = phi(y) that is all. Multipliers hold the conditions of their formulation over the whole step, so
 * their end node is off by as much as the signal inside the step; the one that belongs to the outputs makes s'' = 0
 * (graph_instant.h). */
#include "coupling/comparison.h"
#include "coupling/graph_instant.h"

#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct graph_consistent {
  yoke_arena     arena;
  graph_instant *instant; /* NULL: the graph was not started yet */
  double        *values;  /* [n_channels] */
  double       **d;       /* [n_subsystems] differences of motions, [ny], and their parts along the rows */
  double       **along;
} graph_consistent;

bool graph_has_instant(const graph_wire *wire) {
  return wire->wire.formulation->instant != NULL && wire->wire.formulation->instant->for_estimates;
}

yoke_status graph_consistent_create(yoke_graph *g, yoke_context *ctx) {
  graph_consistent *x = yoke_allocate(1, sizeof *x);
  g->consistent       = x;
  if (x == NULL) return yoke_out_of_memory(ctx, "the error estimate");
  x->values = yoke_arena_take(&x->arena, (size_t)g->n_channels, sizeof *x->values);
  x->d      = yoke_arena_take(&x->arena, (size_t)g->n_subsystems, sizeof *x->d);
  x->along  = yoke_arena_take(&x->arena, (size_t)g->n_subsystems, sizeof *x->along);
  for (int i = 0; !x->arena.has_failed && i < g->n_subsystems; ++i) {
    x->d[i]     = yoke_arena_take(&x->arena, (size_t)g->subsystems[i].subsystem->ny, sizeof(double));
    x->along[i] = yoke_arena_take(&x->arena, (size_t)g->subsystems[i].subsystem->ny, sizeof(double));
  }
  return yoke_arena_check(&x->arena, ctx, "the error estimate");
}

yoke_status graph_consistent_prepare(yoke_graph *g, yoke_context *ctx) {
  graph_consistent *x = g->consistent;
  if (x == NULL || x->instant != NULL || g->block->n_past == 0) return YOKE_OK;
  return graph_instant_create(g, GRAPH_FOR_ESTIMATES, ctx, &x->instant);
}

void graph_consistent_destroy(yoke_graph *g) {
  graph_consistent *x = g->consistent;
  if (x == NULL) return;
  graph_instant_destroy(&x->instant);
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

void graph_consistent_pack(const yoke_graph *g, yoke_pack *out) {
  const graph_instant *instant = g->consistent != NULL ? g->consistent->instant : NULL;
  yoke_pack_bool(out, instant != NULL);
  if (instant != NULL) graph_instant_pack(instant, out);
}

yoke_status graph_consistent_unpack(const yoke_graph *g, yoke_unpack *in, yoke_context *ctx, yoke_factor **out) {
  const graph_instant *instant  = g->consistent != NULL ? g->consistent->instant : NULL;
  const bool           is_there = yoke_unpack_bool(in);
  if (is_there != (instant != NULL)) yoke_unpack_refuse(in, "one of both runs has no error estimate");
  YOKE_TRY(yoke_unpack_check(in, ctx));
  return is_there ? graph_instant_unpack(instant, in, ctx, out) : YOKE_OK;
}

void graph_consistent_take(yoke_graph *g, yoke_factor **factor) {
  if (g->consistent != NULL) graph_instant_take(g->consistent->instant, factor);
}

bool graph_consistent_is_unknown(const yoke_graph *g, int channel) {
  return g->consistent != NULL && g->consistent->instant != NULL &&
         graph_instant_is_unknown(g->consistent->instant, channel);
}

/* Values of a wire that follow from y. */
static void set_wire(const yoke_graph *g, const graph_wire *wire, double *u) {
  for (int k = 0; k < wire->n_channels; ++k) {
    const graph_channel *channel = &g->channels[wire->first + k];
    u[k]                         = g->w[channel->w_at + channel->n_nodes - 1];
  }
  graph_settle(wire, g->t_next, graph_port(wire, 0, g->subsystems[wire->wire.subsystem[0]].y_new),
               graph_port(wire, 1, g->subsystems[wire->wire.subsystem[1]].y_new), GRAPH_CONSISTENT, u);
}

yoke_status graph_consistent_find(yoke_graph *g, yoke_context *ctx) {
  graph_consistent *x = g->consistent;
  for (int w = 0; w < g->n_wires; ++w) {
    if (!graph_instant_takes(x->instant, w)) set_wire(g, &g->wires[w], x->values + g->wires[w].first);
  }
  YOKE_TRY(graph_instant_find(x->instant, g, GRAPH_END_OF_TRIAL, x->values, ctx));
  for (int k = 0; k < g->n_channels; ++k) {
    g->channels[k].consistent_new = x->values[k];
    if (!isfinite(x->values[k])) return YOKE_NON_FINITE;
  }
  return YOKE_OK;
}

/* ---- what later steps take back ---- */

static const double share_along = 0.03; /* of it that counts */

/* Tangent of the difference at a port, of positions or of velocities. */
static void find_difference(const graph_wire *wire, int side, const graph_subsystem *s, bool of_p, double *d) {
  const yoke_port_shape *shape = wire->wire.shape[side];
  const double          *y = graph_port(wire, side, s->y_new), *other = graph_port(wire, side, s->y_compared);
  double                 L[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V];
  if (of_p) yoke_shape_left_inverse(shape, y, L);
  for (int k = 0; k < shape->n_v; ++k) {
    const int at = shape->n_p + k;
    d[k]         = of_p ? 0.0 : y[at] - other[at];
    for (int i = 0; of_p && i < shape->n_p; ++i) d[k] += L[k * shape->n_p + i] * (y[i] - other[i]);
  }
}

/* Moves the comparison along the rows towards the step. What was added is cleared: couplings may share a port. */
static void add_part(const graph_wire *wire, int side, const graph_subsystem *s, bool of_p, double *along) {
  const yoke_port_shape *shape = wire->wire.shape[side];
  double                *other = s->y_compared + wire->y_at[side], T[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V];
  if (of_p) yoke_shape_tangent(shape, graph_port(wire, side, s->y_new), T);
  for (int k = 0; k < shape->n_v; ++k) {
    const double part = (1.0 - share_along) * along[k];
    if (!of_p) other[shape->n_p + k] += part;
    for (int i = 0; of_p && i < shape->n_p; ++i) other[i] += T[i * shape->n_v + k] * part;
    along[k] = 0.0;
  }
}

void graph_consistent_ease(yoke_graph *g) {
  const graph_consistent *x = g->consistent;
  for (int of_p = 0; of_p < 2; ++of_p) {
    for (int port = 0; port < 2 * g->n_wires; ++port) {
      const graph_wire *wire = &g->wires[port / 2];
      const int         side = port % 2, i = wire->wire.subsystem[side];
      find_difference(wire, side, &g->subsystems[i], of_p == 1,
                      x->d[i] + wire->y_at[side] + yoke_shape_at_a(wire->wire.shape[side]));
    }
    if (!graph_instant_along(x->instant, g, x->d, x->along)) return;
    for (int port = 0; port < 2 * g->n_wires; ++port) {
      const graph_wire *wire = &g->wires[port / 2];
      const int         side = port % 2, i = wire->wire.subsystem[side];
      add_part(wire, side, &g->subsystems[i], of_p == 1,
               x->along[i] + wire->y_at[side] + yoke_shape_at_a(wire->wire.shape[side]));
    }
  }
}

/* ---- modes of inner nodes ---- */

static const double least_multiplier = 0.1; /* of its natural size: a model at rest has no size yet */

bool yoke_graph_multipliers_are_off(yoke_graph *g) {
  graph_consistent *x   = g->consistent;
  double            off = 0.0;
  if (x == NULL || !g->has_consistent) return false;
  g->block->largest_multiplier = fmax(g->block->largest_multiplier, least_multiplier);
  for (int k = 0; k < g->n_channels; ++k) {
    const graph_channel *channel = &g->channels[k];
    if (!graph_instant_is_unknown(x->instant, k) || channel->n_nodes < 2) continue;
    const double consistent      = channel->kept->consistent[0];
    g->block->largest_multiplier = fmax(g->block->largest_multiplier, fabs(consistent) / channel->natural);
    off                          = fmax(off, fabs(channel->kept->past[0] - consistent) / channel->natural);
  }
  return off > 0.5 * g->block->largest_multiplier;
}

yoke_status yoke_graph_restart_consistent(yoke_graph *g, yoke_context *ctx) {
  for (int k = 0; k < g->n_channels; ++k) {
    graph_channel *channel = &g->channels[k];
    if (graph_instant_takes(g->consistent->instant, channel->wire))
      channel->kept->past[0] = channel->kept->consistent[0];
  }
  return graph_begin_anew(g, g->consistent->instant, ctx);
}
