/* Inputs from outside: constant over a step, set between steps. */
#include "coupling/graph_internal.h"

#include <string.h>

/* An input takes one value, and no channel beside it but where it adds. */
static yoke_status check_entry(const yoke_graph *g, int n_values, const yoke_held_entry *entry, yoke_context *ctx) {
  const bool is_there = entry->number >= 0 && entry->number < n_values && entry->subsystem >= 0 &&
                        entry->subsystem < g->n_subsystems && entry->input >= 0 &&
                        entry->input < g->subsystems[entry->subsystem].subsystem->nu;
  if (!is_there)
    return yoke_fail(ctx, YOKE_E_INTERNAL,
                     "value %d from outside enters input %d of subsystem %d, which does not exist", entry->number,
                     entry->input, entry->subsystem);
  const graph_subsystem *s      = &g->subsystems[entry->subsystem];
  const bool             is_fed = s->feed_at[entry->input] != s->feed_at[entry->input + 1];
  if ((entry->adds || !is_fed) && (s->held == NULL || s->held[entry->input] < 0)) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_INTERNAL, "value %d from outside enters input %d of subsystem '%s', which is taken",
                   entry->number, entry->input, s->subsystem->name);
}

static yoke_status list_entry(yoke_graph *g, const yoke_held_entry *entry, yoke_context *ctx) {
  graph_subsystem *s  = &g->subsystems[entry->subsystem];
  const int        nu = s->subsystem->nu;
  if (s->held == NULL) {
    s->held = yoke_arena_take(&g->arena, (size_t)nu, sizeof *s->held);
    YOKE_TRY(yoke_arena_check(&g->arena, ctx, "inputs from outside"));
    for (int k = 0; k < nu; ++k) s->held[k] = -1;
  }
  s->held[entry->input] = entry->number;
  return YOKE_OK;
}

yoke_status yoke_graph_hold(yoke_graph *g, int n_values, const double *values, int n_entries,
                            const yoke_held_entry *entries, yoke_context *ctx) {
  if (n_values == 0) return YOKE_OK;
  for (int e = 0; e < n_entries; ++e) {
    YOKE_TRY(check_entry(g, n_values, &entries[e], ctx));
    YOKE_TRY(list_entry(g, &entries[e], ctx));
  }
  const int points = g->channel_points; /* control may have asked for more */
  g->n_held        = n_values;
  YOKE_TRY(graph_take_block(g, ctx)); /* nothing is in the one before */
  g->channel_points = points;
  memcpy(g->held, values, (size_t)n_values * sizeof *values);
  return YOKE_OK;
}

void yoke_graph_set_held(yoke_graph *g, int number, double value) {
  g->held[number] = value;
}

double yoke_graph_held(const yoke_graph *g, int number) {
  return g->held[number];
}

const double *yoke_graph_all_held(const yoke_graph *g) {
  return g->held;
}
