/* Where dy/dw of each subsystem comes from, and the room that responses need. */
#include "coupling/column_sources.h"
#include "coupling/scheme.h"

#include <stdio.h>

/* The word for a subsystem; *is_named: somebody has written it. */
static yoke_jacobian word_for(const yoke_scheme_settings *settings, int i, bool *is_named) {
  const yoke_own_settings *own    = settings->own != NULL ? &settings->own[i] : NULL;
  const bool               is_own = own != NULL && own->has_jacobian;
  *is_named                       = is_own || settings->names_jacobian;
  return is_own ? own->jacobian : settings->jacobian;
}

static bool corrects_by_newton(const yoke_scheme_ops *scheme) {
  return scheme != NULL && (scheme->traits.corrects_once || scheme->traits.corrects_to_tolerance);
}

bool yoke_scheme_asks_response(const yoke_scheme_settings *settings, int subsystem) {
  bool                is_named;
  const yoke_jacobian word = word_for(settings, subsystem, &is_named);
  return corrects_by_newton(yoke_scheme_find(settings->scheme)) &&
         (word == YOKE_JACOBIAN_TANGENT || word == YOKE_JACOBIAN_BROYDEN);
}

/* Bytes that a response to all columns needs; 0: there is none. */
static size_t room_of(const graph_subsystem *s) {
  const yoke_response_ops *response = s->subsystem->ops->response;
  return response != NULL && s->n_columns > 0 ? response->room(s->subsystem, s->n_columns) : 0;
}

/* Every feed of every input that the channel of a column enters. */
static void list_entries(graph_subsystem *s, graph_entries *x) {
  x->n = 0;
  for (int c = 0; c < s->n_columns; ++c) {
    for (int input = 0; input < s->subsystem->nu; ++input) {
      for (int f = s->feed_at[input]; f < s->feed_at[input + 1]; ++f) {
        if (s->feeds[f].channel != s->column_channel[c]) continue;
        if (x->column != NULL) {
          x->column[x->n] = c;
          x->input[x->n]  = input;
          x->feed[x->n]   = f;
        }
        ++x->n;
      }
    }
  }
}

static yoke_status take_entries(yoke_graph *g, graph_subsystem *s, yoke_context *ctx) {
  graph_entries *x = &s->entries;
  list_entries(s, x);
  const size_t n      = (size_t)x->n;
  int *const   column = yoke_arena_take(&g->arena, n, sizeof(int));
  x->input            = yoke_arena_take(&g->arena, n, sizeof(int));
  x->feed             = yoke_arena_take(&g->arena, n, sizeof(int));
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "subsystem '%s'", s->subsystem->name));
  x->column = column;
  list_entries(s, x);
  return YOKE_OK;
}

static yoke_status take_rooms(yoke_graph *g, size_t room, size_t most_entries, yoke_context *ctx) {
  const int n_workers = yoke_exec_n_workers(g->exec);
  g->room             = yoke_arena_take(&g->arena, (size_t)n_workers, sizeof *g->room);
  g->entry_c          = yoke_arena_take(&g->arena, (size_t)n_workers, sizeof *g->entry_c);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "responses on %d workers", n_workers));
  const size_t entries = most_entries * GRAPH_MAX_BREAKS * (GRAPH_SIGNAL_DEGREE + 1) * sizeof(double);
  for (int k = 0; k < n_workers; ++k) {
    g->room[k]    = yoke_arena_take_unset(&g->rooms, room);
    g->entry_c[k] = yoke_arena_take_unset(&g->rooms, entries);
  }
  return yoke_arena_check(&g->rooms, ctx, "responses on %d workers", n_workers);
}

/* Who was asked for tangents by name and has none. */
static void note_missing(const yoke_graph *g, yoke_context *ctx) {
  const graph_subsystem *first    = NULL;
  int                    n_others = 0;
  for (int i = 0; i < g->n_subsystems; ++i) {
    const graph_subsystem *s = &g->subsystems[i];
    bool                   is_named;
    const bool             is_tangent = word_for(&g->settings, i, &is_named) == YOKE_JACOBIAN_TANGENT;
    if (!is_tangent || !is_named || s->n_columns == 0 || s->jacobian == YOKE_JACOBIAN_TANGENT) continue;
    if (first == NULL)
      first = s;
    else
      ++n_others;
  }
  if (first == NULL) return;
  char others[40] = "";
  if (n_others > 0) snprintf(others, sizeof others, " and %d other%s", n_others, n_others > 1 ? "s" : "");
  yoke_note(ctx, "jacobian tangent: subsystem '%s'%s has no tangents; perturbed integrations take their place",
            first->subsystem->name, others);
}

bool graph_corrects_by_newton(const yoke_graph *g) {
  return corrects_by_newton(g->scheme);
}

yoke_status graph_choose_columns(yoke_graph *g, yoke_context *ctx) {
  size_t room = 0, most_entries = 0;
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    bool             is_named;
    s->jacobian = word_for(&g->settings, i, &is_named);
    if (s->jacobian == YOKE_JACOBIAN_BROYDEN) s->jacobian = YOKE_JACOBIAN_TANGENT; /* the best first matrix */
    if (s->jacobian != YOKE_JACOBIAN_TANGENT || !graph_corrects_by_newton(g)) continue;
    const size_t own = room_of(s);
    if (own == 0) {
      s->jacobian = YOKE_JACOBIAN_FINITE_DIFFERENCE;
      continue;
    }
    YOKE_TRY(take_entries(g, s, ctx));
    if (own > room) room = own;
    if ((size_t)s->entries.n > most_entries) most_entries = (size_t)s->entries.n;
  }
  if (graph_corrects_by_newton(g)) note_missing(g, ctx);
  return room > 0 ? take_rooms(g, room, most_entries, ctx) : YOKE_OK;
}
