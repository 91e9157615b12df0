/* A graph as an object: creation, destruction, questions about the accepted state. */
#include "coupling/comparison.h"
#include "coupling/graph_instant.h"
#include "coupling/newton_matrix.h"
#include "coupling/newton_ranks.h"
#include "coupling/joint_forces.h"
#include "coupling/state_reset.h"

#include "base/memory.h"
#include <stdlib.h>

/* ---- creation ---- */

/* What a graph takes, about: arrays of one subsystem or wire and its states lie behind each other, in huge pages if they are many. */
static size_t likely_size(const yoke_graph *g, yoke_subsystem *const *subsystems) {
  const size_t arrays = 1024, wires = (size_t)g->n_wires;
  size_t       size = wires * (sizeof(graph_wire) + sizeof(graph_channel) + sizeof(graph_kept) + arrays);
  for (int i = 0; i < g->n_subsystems; ++i) {
    const size_t n_states = graph_has_trial(g, subsystems[i]) ? 2 : 1;
    size += sizeof(graph_subsystem) + arrays;
    if (!graph_is_roomy(subsystems[i])) size += n_states * subsystems[i]->state_size;
  }
  return size;
}

yoke_status yoke_graph_create(yoke_context *ctx, int n_subsystems, yoke_subsystem *const *subsystems, int n_wires,
                              const yoke_wire *wires, const yoke_scheme_settings *settings, yoke_exec *exec,
                              yoke_graph **out) {
  *out          = NULL;
  yoke_graph *g = yoke_allocate(1, sizeof *g);
  if (g == NULL) return yoke_out_of_memory(ctx, "the couplings");
  g->arena         = yoke_arena_of(ctx);
  g->work          = yoke_arena_of(ctx);
  g->rooms         = yoke_arena_of(ctx);
  g->settings      = *settings;
  g->wanted        = settings->order;
  g->exec          = exec;
  g->renews_matrix = settings->renewal != YOKE_RENEWAL_SLOW;
  g->scheme        = yoke_scheme_find(settings->scheme);
  g->n_subsystems  = n_subsystems;
  g->n_wires       = n_wires;
  yoke_arena_expect(&g->arena, likely_size(g, subsystems));
  g->subsystems      = yoke_arena_take(&g->arena, (size_t)n_subsystems, sizeof *g->subsystems);
  g->wires           = yoke_arena_take(&g->arena, (size_t)n_wires, sizeof *g->wires);
  yoke_status status = yoke_arena_check(&g->arena, ctx, "the couplings");
  if (status == YOKE_OK && g->scheme == NULL)
    status = yoke_fail(ctx, YOKE_E_MODEL, "there is no scheme '%s'", settings->scheme);
  if (status == YOKE_OK) status = graph_wire_up(g, wires, subsystems, ctx);
  if (status == YOKE_OK) status = graph_check_settings(g, ctx);
  if (status == YOKE_OK) status = graph_take_unknowns(g, ctx);
  if (status == YOKE_OK) status = graph_take_block(g, ctx);
  if (status == YOKE_OK) status = yoke_state_reset_create(ctx, g, true, &g->reset);
  if (status == YOKE_OK) status = yoke_joint_forces_create(ctx, g, &g->forces);
  if (status != YOKE_OK) {
    yoke_graph_destroy(&g);
    return status;
  }
  g->values_tell_conditions = graph_can_tell_conditions(g);
  g->has_end_nodes_only     = graph_can_end_only(g);
  *out                      = g;
  return YOKE_OK;
}

yoke_status yoke_graph_spread(yoke_graph *graph, yoke_relay *relay, const int *owner, yoke_context *ctx) {
  graph->relay       = relay;
  graph->owner       = owner;
  graph->each_status = yoke_arena_take(&graph->arena, (size_t)graph->n_subsystems, sizeof *graph->each_status);
  YOKE_TRY(yoke_arena_check(&graph->arena, ctx, "%d subsystems on ranks", graph->n_subsystems));
  return newton_ranks_create(graph, ctx);
}

yoke_status yoke_graph_agree(yoke_graph *g, const char *what, yoke_status status, size_t bytes, void *values) {
  return g->relay != NULL ? yoke_relay_agree(g->relay, what, status, bytes, values) : status;
}

yoke_status yoke_graph_agree_block(yoke_graph *g, const char *what) {
  return yoke_graph_agree(g, what, YOKE_OK, g->block_size, g->block);
}

bool yoke_graph_may_differ(const yoke_graph *g) {
  return g->relay != NULL && yoke_relay_is_mixed(g->relay);
}

void graph_run(yoke_graph *g, int n, int (*owner)(void *user, int i), const yoke_cost *costs, yoke_task task,
               void *user) {
  if (g->relay != NULL)
    yoke_relay_run(g->relay, g->exec, n, owner, costs, task, user);
  else
    yoke_exec_run(g->exec, n, costs, task, user);
}

typedef struct each_call {
  yoke_graph *g;
  int (*which)(const void *user, int k);
  yoke_status (*one)(yoke_graph *g, int i, void *user);
  void *user;
} each_call;

static void call_one(void *data, int k, int worker) {
  const each_call *call = data;
  (void)worker;
  call->g->each_status[k] = call->one(call->g, k, call->user);
}

static int owner_of(void *data, int k) {
  const each_call *call = data;
  return call->g->owner[call->which != NULL ? call->which(call->user, k) : k];
}

yoke_status graph_each(yoke_graph *g, int n, int (*which)(const void *user, int k),
                       yoke_status (*one)(yoke_graph *g, int k, void *user), void *user) {
  each_call call = {g, which, one, user};
  if (g->relay != NULL) yoke_relay_run(g->relay, NULL, n, owner_of, NULL, call_one, &call);
  for (int k = 0; k < n; ++k) YOKE_TRY(g->relay != NULL ? g->each_status[k] : one(g, k, user));
  return YOKE_OK;
}

yoke_status graph_each_subsystem(yoke_graph *g, yoke_status (*one)(yoke_graph *g, int i, void *user), void *user) {
  return graph_each(g, g->n_subsystems, NULL, one, user);
}

static void destroy_subsystem(graph_subsystem *s) {
  if (s->subsystem != NULL) {
    yoke_subsystem_state_release(s->subsystem, s->accepted);
    yoke_subsystem_state_release(s->subsystem, s->trial);
    yoke_subsystem_state_release(s->subsystem, s->compared);
  }
  yoke_context_destroy(&s->said);
}

void yoke_graph_destroy(yoke_graph **graph) {
  yoke_graph *g = *graph;
  if (g == NULL) return;
  const int n_workers = yoke_exec_n_workers(g->exec);
  graph_consistent_destroy(g);
  graph_observe_free(g);
  yoke_state_pool_destroy(&g->pool);
  for (int i = 0; g->subsystems != NULL && i < g->n_subsystems; ++i) destroy_subsystem(&g->subsystems[i]);
  for (int k = 0; g->worker_ctx != NULL && k < n_workers; ++k) yoke_context_destroy(&g->worker_ctx[k]);
  for (int set = 0; set < YOKE_COUPLING_MAX_SETS; ++set) {
    yoke_factor_release(&g->factor[set]);
    yoke_factor_release(&g->factor_kept[set]);
  }
  graph_newton_destroy(g);
  yoke_state_reset_destroy(&g->reset);
  yoke_state_reset_destroy(&g->joints);
  graph_instant_destroy(&g->anew);
  graph_instant_destroy(&g->signals);
  yoke_joint_forces_destroy(&g->forces);
  yoke_arena_free(&g->work);
  yoke_arena_free(&g->rooms);
  yoke_arena_free(&g->arena);
  free(g);
  *graph = NULL;
}

/* ---- questions ---- */

int yoke_graph_depth(const yoke_graph *graph) {
  int order = graph->settings.order;
  for (int c = 0; c < graph->n_channels; ++c) {
    if (graph->channels[c].order > order) order = graph->channels[c].order;
  }
  return order + 1;
}

double yoke_graph_t(const yoke_graph *graph) {
  return graph->block->past_t[0];
}

const yoke_scheme_settings *yoke_graph_settings(const yoke_graph *graph) {
  return &graph->settings;
}

const yoke_scheme_traits *yoke_graph_traits(const yoke_graph *graph) {
  return &graph->scheme->traits;
}

const void *yoke_graph_state(const yoke_graph *graph, int subsystem) {
  return graph->subsystems[subsystem].accepted;
}

const double *yoke_graph_y(const yoke_graph *graph, int subsystem) {
  return graph->subsystems[subsystem].y;
}

int yoke_graph_n_channels(const yoke_graph *graph, int wire) {
  return graph->wires[wire].n_channels;
}

const char *yoke_graph_channel_name(const yoke_graph *graph, int wire, int channel) {
  return graph->channels[graph->wires[wire].first + channel].info.name;
}

double yoke_graph_channel(const yoke_graph *graph, int wire, int channel) {
  return graph->channels[graph->wires[wire].first + channel].kept->past[0];
}
