#include "coupling/state_shift.h"

#include "base/memory.h"
#include "coupling/trial.h"

#include <math.h>
#include <string.h>

/* ---- preparation ---- */

/* Are there joints, corrected by rough tangents, and nothing in the steps of this graph that a shift of states would not know of? */
static bool is_plain(const yoke_graph *g) {
  return g->has_joints && g->response_tolerance > 0.0 && g->multirate == NULL && g->reset == NULL &&
         g->forces == NULL && g->n_overlaps == 0 && g->n_sets == 1 && g->broyden == NULL && g->n_exchanges == 0 &&
         g->pool != NULL;
}

static int n_motions(const graph_wire *wire) {
  int n = 0;
  for (int side = 0; side < 2; ++side) n += wire->wire.shape[side]->n_p + wire->wire.shape[side]->n_v;
  return n;
}

yoke_status yoke_graph_take_shifts(yoke_graph *g, yoke_context *ctx) {
  size_t n = 0;
  if (!is_plain(g)) return YOKE_OK;
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem         *s        = &g->subsystems[i];
    const yoke_response_ops *response = s->subsystem->ops->response;
    if (s->n_columns == 0) continue;
    if (s->jacobian != YOKE_JACOBIAN_TANGENT || response->n_x == NULL) return YOKE_OK;
    s->n_x = response->n_x(s->subsystem);
    if (s->n_x == 0) return YOKE_OK;
  }
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    s->dx              = yoke_arena_take(&g->arena, (size_t)(s->n_columns + 1) * (size_t)s->n_x, sizeof *s->dx);
    s->dy_off          = yoke_arena_take(&g->arena, (size_t)s->n_columns * (size_t)s->ny + 1, sizeof *s->dy_off);
  }
  for (int w = 0; w < g->n_wires; ++w) n += (size_t)n_motions(&g->wires[w]);
  g->tolerated = yoke_arena_take(&g->arena, n + 1, sizeof *g->tolerated);
  return yoke_arena_check(&g->arena, ctx, "the responses of the states of %d subsystems", g->n_subsystems);
}

double *yoke_graph_tolerated(const yoke_graph *g) {
  return g->tolerated;
}

bool graph_can_shift(const yoke_graph *g) {
  if (g->tolerated == NULL || g->n_passes != 1 || g->is_kept) return false;
  for (int i = 0; i < g->n_subsystems; ++i) {
    if (g->subsystems[i].n_columns > 0 && !g->subsystems[i].can_shift) return false;
  }
  return true;
}

/* ---- the shift ---- */

/* Row n_columns of dx := S delta. */
static const double *sum_up(const yoke_graph *g, const graph_subsystem *s) {
  const size_t n_x = (size_t)s->n_x;
  double      *sum = s->dx + (size_t)s->n_columns * n_x;
  memset(sum, 0, n_x * sizeof *sum);
  for (int c = 0; c < s->n_columns; ++c) {
    const double *row = s->dx + (size_t)c * n_x, delta = g->delta[s->column[c]];
    for (size_t k = 0; k < n_x; ++k) sum[k] += row[k] * delta;
  }
  return sum;
}

static void shift_one(void *user, int i, int worker) {
  yoke_graph      *g    = user;
  graph_subsystem *s    = &g->subsystems[i];
  graph_task      *task = &g->tasks[i];
  double           times[GRAPH_MAX_BREAKS + 2];
  yoke_signal      signal;
  yoke_counters    before, after;
  *task = (graph_task){.subsystem = i, .column = -1, .t_reached = g->t_next};
  if (s->n_columns == 0) return;
  graph_signal(g, i, -1, 0.0, times, g->signal_c[worker], &signal);
  yoke_subsystem_counters(s->subsystem, s->trial, &before);
  task->status = s->subsystem->ops->response->shift(s->subsystem, g->scratch[worker], s->trial, &signal, sum_up(g, s));
  yoke_subsystem_counters(s->subsystem, s->trial, &after);
  task->evaluations = after.evaluations - before.evaluations;
  if (task->status == YOKE_OK && s->subsystem->ny > 0)
    task->status = yoke_subsystem_output(s->subsystem, g->scratch[worker], s->trial, &signal, YOKE_SIDE_LEFT, s->y_new);
}

static int owner_of(void *user, int i) {
  return ((const yoke_graph *)user)->owner[i];
}

yoke_status graph_shift(yoke_graph *g, yoke_step_statistics *statistics) {
  yoke_status status = YOKE_OK;
  graph_run(g, g->n_subsystems, owner_of, NULL, shift_one, g);
  g->n_tasks = g->n_jobs = 0;
  for (int i = 0; i < g->n_subsystems; ++i) {
    statistics->evaluations += g->tasks[i].evaluations;
    if (status == YOKE_OK) status = g->tasks[i].status;
  }
  return status;
}

/* ---- what it misses ---- */

/* Output k of a subsystem: what it differs by from y0 + (dy/dw) (w - w0), and what the tangents are off by. */
typedef struct missed {
  double defect, off;
} missed;

static missed look_at(const yoke_graph *g, const graph_subsystem *s, int k) {
  double y = s->y_predicted[k], off = 0.0;
  for (int c = 0; c < s->n_columns; ++c) {
    const size_t at    = (size_t)c * (size_t)s->ny + (size_t)k;
    const double delta = g->w[s->column[c]] - g->w_predicted[s->column[c]];
    y += s->dy[at] * delta;
    off += s->dy_off[at] * delta;
  }
  return (missed){fabs(s->y_new[k] - y), fabs(off)};
}

/* Of a port whose outputs begin at `at`: the worst share of `tolerated` [n_p + n_v]. Rotations and translations of positions are moved by those of
 * velocities. */
static double miss_of(const yoke_graph *g, const graph_subsystem *s, const yoke_port_shape *shape, int at,
                      const double *tolerated) {
  double largest[2] = {0.0, 0.0}, miss = 0.0; /* H |d| of translations, of rotations */
  for (int k = 0; k < shape->n_v; ++k) {
    const double  defect = g->H * look_at(g, s, at + yoke_shape_at_a(shape) + k).defect;
    const double  off    = look_at(g, s, at + yoke_shape_at_v(shape) + k).off;
    double *const most   = &largest[yoke_shape_v_turns(shape, k) ? 1 : 0];
    *most                = fmax(*most, defect);
    miss                 = fmax(miss, (defect + off) / tolerated[shape->n_p + k]);
  }
  for (int k = 0; k < shape->n_p; ++k) {
    const double defect = 0.5 * g->H * largest[yoke_shape_p_turns(shape, k) ? 1 : 0];
    miss                = fmax(miss, (defect + look_at(g, s, at + k).off) / tolerated[k]);
  }
  return miss;
}

double graph_shift_miss(const yoke_graph *g) {
  const double *tolerated = g->tolerated;
  double        miss      = 0.0;
  for (int port = 0; port < 2 * g->n_wires; ++port) {
    const graph_wire      *wire  = &g->wires[port / 2];
    const int              side  = port % 2;
    const yoke_port_shape *shape = wire->wire.shape[side];
    miss = fmax(miss, miss_of(g, &g->subsystems[wire->wire.subsystem[side]], shape, wire->y_at[side], tolerated));
    tolerated += shape->n_p + shape->n_v;
  }
  return miss;
}

yoke_status graph_shift_observe(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  g->aims |= GRAPH_LAST;
  return g->observation.n_inside > 0 ? graph_pass_observed(g, statistics, ctx) : YOKE_OK;
}
