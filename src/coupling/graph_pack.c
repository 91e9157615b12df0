/* A graph as bytes, between steps: the block, the accepted states of all subsystems, and the factors whose pivot orders later steps use
 * again. What was packed goes on elsewhere, in a graph of the same subsystems, wires and settings, with the same bits. */
#include "coupling/comparison.h"
#include "coupling/graph_feeds.h"
#include "coupling/graph_instant.h"
#include "coupling/kept_matrix.h"

#include <string.h>

void graph_factor_pack(const yoke_factor *factor, yoke_pack *out) {
  yoke_pack_bool(out, factor != NULL);
  if (factor != NULL) yoke_factor_pack(factor, out);
}

yoke_status graph_factor_unpack(const yoke_linear *linear, yoke_unpack *in, yoke_context *ctx, yoke_factor **out) {
  const bool is_there = yoke_unpack_bool(in);
  *out                = NULL;
  if (is_there && linear == NULL) yoke_unpack_refuse(in, "a factor for a graph without a matrix");
  YOKE_TRY(yoke_unpack_check(in, ctx));
  if (is_there) YOKE_TRY(yoke_factor_unpack(linear, in, ctx, out));
  if (is_there && yoke_factor_is_complex(*out)) {
    yoke_factor_release(out);
    yoke_unpack_refuse(in, "a factor is not the one expected");
  }
  return yoke_unpack_check(in, ctx);
}

void graph_factor_replace(yoke_factor **factor, yoke_factor **by) {
  yoke_factor_release(factor);
  *factor = *by;
  *by     = NULL;
}

/* What must agree between the graph that was packed and the one that goes on. */
static void sizes_of(const yoke_graph *g, int32_t size[4]) {
  size[0] = g->n_subsystems;
  size[1] = g->n_wires;
  size[2] = g->n_channels;
  size[3] = g->n_w;
}

static yoke_status check_ability(const yoke_graph *g, yoke_context *ctx) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    const yoke_subsystem *s = g->subsystems[i].subsystem;
    if (s->ops->pack == NULL)
      return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                       "subsystem '%s' cannot be packed: its states are not known to be bytes, and its kind has no "
                       "ability pack",
                       s->name);
  }
  return YOKE_OK;
}

/* A state that a rejected step has moved on is none to pack; to unpack over it is a way back. */
static yoke_status check_states(const yoke_graph *g, yoke_context *ctx) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    const graph_subsystem *s = &g->subsystems[i];
    if (s->is_ahead)
      return yoke_fail(ctx, YOKE_E_SUBSYSTEM,
                       "subsystem '%s' cannot go back to t = %.9g s, where the state would be packed",
                       s->subsystem->name, g->block->past_t[0]);
  }
  return YOKE_OK;
}

yoke_status yoke_graph_pack(const yoke_graph *g, yoke_pack *out, yoke_context *ctx) {
  int32_t size[4];
  YOKE_TRY(check_ability(g, ctx));
  YOKE_TRY(check_states(g, ctx));
  sizes_of(g, size);
  yoke_pack_tag(out, "graph");
  yoke_pack_int32s(out, 4, size);
  yoke_pack_int32(out, g->wanted);
  yoke_pack_int32(out, (int32_t)g->comparison);
  yoke_pack_bool(out, g->has_consistent);
  yoke_pack_int64(out, (int64_t)g->block_size);
  yoke_pack_block(out, g->block_size, g->block);
  graph_matrix_pack(g, out);
  graph_consistent_pack(g, out);
  for (int i = 0; i < g->n_subsystems; ++i) {
    const graph_subsystem *s      = &g->subsystems[i];
    const yoke_status      status = s->subsystem->ops->pack->pack(s->subsystem, s->accepted, out, ctx);
    if (status != YOKE_OK) return yoke_fail(ctx, status, "subsystem '%s' cannot be packed", s->subsystem->name);
  }
  return YOKE_OK;
}

/* States are read into those of trials; a subsystem that cannot go back gets one more, so that a failure leaves no trace. */
static yoke_status unpack_states(yoke_graph *g, yoke_unpack *in, yoke_context *ctx) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    if (s->trial == NULL && s->spare == NULL) s->spare = graph_take_state(g, s->subsystem);
    if (s->trial == NULL) s->trial = s->spare;
    if (s->trial == NULL) return yoke_out_of_memory(ctx, "the states of subsystem '%s'", s->subsystem->name);
    const yoke_status status = s->subsystem->ops->pack->unpack(s->subsystem, g->scratch[0], in, s->trial, ctx);
    if (status == YOKE_E_MEMORY) return yoke_out_of_memory(ctx, "the state of subsystem '%s'", s->subsystem->name);
    if (status != YOKE_OK) return yoke_fail(ctx, status, "subsystem '%s' cannot be unpacked", s->subsystem->name);
  }
  return YOKE_OK;
}

static void take_states(yoke_graph *g) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s    = &g->subsystems[i];
    void            *swap = s->accepted;
    s->is_ahead           = false;
    s->accepted           = s->trial;
    s->trial              = swap;
  }
}

static void drop_spare_states(yoke_graph *g) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    if (graph_has_trial(g, s->subsystem) || s->trial == NULL) continue;
    yoke_subsystem_state_release(s->subsystem, s->trial);
    yoke_subsystem_state_clear(s->subsystem, s->trial);
    s->spare = s->trial;
    s->trial = NULL;
  }
}

/* What is read before anything of the graph changes. */
typedef struct unpacked {
  int          wanted, comparison;
  bool         has_consistent;
  const void  *block; /* lies in the bytes */
  yoke_factor *factor[YOKE_COUPLING_MAX_SETS], *consistent;
} unpacked;

/* Degree and comparison that the graph has room for? */
static bool is_sound(const yoke_graph *g, const unpacked *x) {
  bool compares = true;
  for (int i = 0; i < g->n_subsystems; ++i) compares = compares && g->subsystems[i].y_compared != NULL;
  if (x->wanted < 0 || x->wanted > g->settings.order) return false;
  switch (x->comparison) {
  case YOKE_COMPARISON_NONE: return true;
  case YOKE_COMPARISON_HIGHER:
  case YOKE_COMPARISON_END: return compares;
  case YOKE_COMPARISON_CONSISTENT: return compares && g->consistent != NULL;
  case YOKE_COMPARISON_VALUES: return g->consistent != NULL;
  default: return false;
  }
}

static yoke_status unpack_head(const yoke_graph *g, double t, yoke_unpack *in, yoke_context *ctx, unpacked *x) {
  int32_t size[4], own[4];
  sizes_of(g, own);
  yoke_unpack_tag(in, "graph");
  yoke_unpack_int32s(in, 4, size);
  if (memcmp(size, own, sizeof own) != 0) yoke_unpack_refuse(in, "subsystems and couplings are others");
  x->wanted         = yoke_unpack_int32(in);
  x->comparison     = yoke_unpack_int32(in);
  x->has_consistent = yoke_unpack_bool(in);
  if (yoke_unpack_int64(in) != (int64_t)g->block_size)
    yoke_unpack_refuse(in, "the settings of the couplings are others");
  x->block = yoke_unpack_block(in, g->block_size);
  if (x->block != NULL && !(is_sound(g, x) && graph_block_is_sound(g, x->block, t)))
    yoke_unpack_refuse(in, "no graph leaves such a history");
  return yoke_unpack_check(in, ctx);
}

static yoke_status unpack_rest(yoke_graph *g, yoke_unpack *in, yoke_context *ctx, unpacked *x) {
  graph_block head;
  memcpy(&head, x->block, sizeof head);
  YOKE_TRY(graph_matrix_unpack(g, &head.made, in, ctx, x->factor));
  YOKE_TRY(graph_consistent_unpack(g, in, ctx, &x->consistent));
  return unpack_states(g, in, ctx);
}

yoke_status yoke_graph_unpack(yoke_graph *g, double t, yoke_unpack *in, yoke_context *ctx) {
  unpacked x = {0};
  YOKE_TRY(check_ability(g, ctx));
  YOKE_TRY(unpack_head(g, t, in, ctx, &x));
  const yoke_status status = unpack_rest(g, in, ctx, &x);
  if (status == YOKE_OK) { /* from here on nothing fails */
    memcpy(g->block, x.block, g->block_size);
    g->wanted         = x.wanted;
    g->comparison     = (yoke_comparison_kind)x.comparison;
    g->has_consistent = x.has_consistent;
    g->is_stepping = g->trial_ready = false;
    graph_matrix_take(g, x.factor);
    graph_consistent_take(g, &x.consistent);
    take_states(g);
    graph_feeds_look(g);
  }
  drop_spare_states(g);
  for (int set = 0; set < YOKE_COUPLING_MAX_SETS; ++set) yoke_factor_release(&x.factor[set]);
  yoke_factor_release(&x.consistent);
  return status;
}
