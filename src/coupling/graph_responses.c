#include "coupling/graph_responses.h"

#include <math.h>
#include <string.h>

void graph_responses_take(graph_responses *r, const yoke_graph *g, yoke_arena *arena) {
  r->is_asked = yoke_arena_take(arena, (size_t)g->n_subsystems, sizeof *r->is_asked);
  r->status   = yoke_arena_take(arena, (size_t)g->n_subsystems, sizeof *r->status);
  r->held     = yoke_arena_take(arena, (size_t)g->n_subsystems, sizeof *r->held);
  for (int i = 0; !arena->has_failed && i < g->n_subsystems; ++i) {
    const yoke_subsystem *subsystem = g->subsystems[i].subsystem;
    if (subsystem->ops->instant == NULL) r->held[i] = yoke_arena_take(arena, (size_t)subsystem->nu, sizeof(double));
  }
}

/* Size of the difference in an input; 0: nothing enters. */
static double difference(const yoke_graph *g, const graph_subsystem *s, int input) {
  double size = 0.0;
  for (int f = s->feed_at[input]; f < s->feed_at[input + 1]; ++f)
    size = fmax(size, graph_perturbation(&g->channels[s->feeds[f].channel]));
  return size;
}

/* Response of a subsystem that tells none: central differences of the outputs of a state at t under constant inputs c [nu]. */
static yoke_status differ(const yoke_graph *g, const graph_subsystem *s, const void *state, double t, double *c,
                          int worker) {
  const size_t      ny       = (size_t)s->subsystem->ny;
  const double      times[2] = {t, t + 1.0};
  const yoke_signal u        = {.n = s->subsystem->nu, .n_pieces = 1, .degree = 0, .t = times, .c = c};
  memset(s->da_du, 0, ny * (size_t)s->subsystem->nu * sizeof *s->da_du);
  for (int k = 0; k < s->subsystem->nu; ++k) {
    const double kept = c[k], size = difference(g, s, k);
    double *row = s->da_du + (size_t)k * ny, *const y[2] = {g->variant_y[worker], row};
    if (size == 0.0) continue;
    for (int side = 0; side < 2; ++side) {
      c[k] = side == 0 ? kept - size : kept + size;
      YOKE_TRY(yoke_subsystem_output(s->subsystem, g->scratch[worker], state, &u, YOKE_SIDE_RIGHT, y[side]));
    }
    c[k] = kept;
    for (size_t i = 0; i < ny; ++i) row[i] = (y[1][i] - y[0][i]) / (2.0 * size);
  }
  return YOKE_OK;
}

typedef struct search {
  graph_responses *r;
  yoke_graph      *g;
} search;

static void respond(void *user, int i, int worker) {
  const search    *f = user;
  graph_responses *r = f->r;
  yoke_graph      *g = f->g;
  graph_subsystem *s = &g->subsystems[i];
  double           times[GRAPH_MAX_BREAKS + 2];
  yoke_signal      signal;
  const bool       is_trial = r->moment == GRAPH_END_OF_TRIAL;
  if (!r->is_asked[i]) return;
  if (is_trial)
    graph_signal(g, i, -1, 0.0, times, g->signal_c[worker], &signal);
  else
    graph_held_signal(g, i, g->block->past_t[0], times, g->signal_c[worker], &signal);
  const void     *state = is_trial && s->trial != NULL ? s->trial : s->accepted;
  const double    t     = is_trial ? g->t_next : g->block->past_t[0];
  const yoke_side side  = is_trial ? YOKE_SIDE_LEFT : YOKE_SIDE_RIGHT;
  if (s->subsystem->ops->instant == NULL) {
    yoke_signal_value(&signal, t, side, 0, r->held[i]);
    r->status[i] = differ(g, s, state, t, r->held[i], worker);
    return;
  }
  r->status[i] = s->subsystem->ops->instant->response(s->subsystem, g->scratch[worker], state, &signal, side, s->da_du);
}

static int owner_of(void *user, int i) {
  const search *f = user;
  return f->g->owner[i];
}

void graph_responses_find(graph_responses *r, yoke_graph *g, graph_moment moment) {
  search task = {r, g};
  r->moment   = moment;
  memset(r->status, 0, (size_t)g->n_subsystems * sizeof *r->status);
  graph_run(g, g->n_subsystems, owner_of, NULL, respond, &task);
}

/* ---- for those who drive the graph ---- */

yoke_status yoke_graph_ask_responses(yoke_graph *g, const bool *is_asked, yoke_context *ctx) {
  g->asked = yoke_arena_take(&g->arena, 1, sizeof *g->asked);
  if (g->asked != NULL) graph_responses_take(g->asked, g, &g->arena);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "the responses of %d subsystems", g->n_subsystems));
  memcpy(g->asked->is_asked, is_asked, (size_t)g->n_subsystems * sizeof *is_asked);
  return YOKE_OK;
}

void yoke_graph_respond(yoke_graph *g) {
  graph_responses_find(g->asked, g, GRAPH_BEHIND_NOW);
}

const double *yoke_graph_response(const yoke_graph *g, int subsystem) {
  return g->asked->status[subsystem] == YOKE_OK ? g->subsystems[subsystem].da_du : NULL;
}
