#include "coupling/multirate.h"

#include "coupling/joint_forces.h"
#include <math.h>
#include <string.h>

enum { POINTS = YOKE_LAYOUT_MAX_DEGREE + 1, WIDTH = GRAPH_SIGNAL_DEGREE + 1 };

struct graph_multirate {
  int     n_points; /* of a macro step */
  int     n_fast;   /* wires that are exchanged inside of it */
  int    *fast;     /* [n_fast] */
  size_t  n_numbers;
  double *kept, *trial; /* [n_numbers] histories: in the block, and those of the trial */
};

/* History of one wire: number of points, their times, and channel by channel the values there; newest first. */
typedef struct history {
  double *n, *t, *u; /* [1], [POINTS], [n_channels, POINTS] */
} history;

static history history_of(double *numbers, const graph_wire *wire) {
  double *at = numbers + wire->history_at;
  return (history){at, at + 1, at + 1 + POINTS};
}

/* ---- creation ---- */

static int common_divisor(int a, int b) {
  while (b != 0) {
    const int rest = a % b;
    a              = b;
    b              = rest;
  }
  return a;
}

/* 0: it is more than YOKE_MOST_SUBSTEPS. */
static int common_multiple(int a, int b) {
  const int64_t product = (int64_t)a / common_divisor(a, b) * b;
  return product <= YOKE_MOST_SUBSTEPS ? (int)product : 0;
}

static int substeps_of(const yoke_graph *g, int subsystem) {
  return g->settings.own != NULL ? g->settings.own[subsystem].substeps : 1;
}

/* What goes with exchanges at points of the wire's own. */
static yoke_status check_wire(const yoke_graph *g, const graph_wire *wire, yoke_context *ctx) {
  const char *const *names  = (const char *const[]){g->subsystems[wire->wire.subsystem[0]].subsystem->name,
                                                    g->subsystems[wire->wire.subsystem[1]].subsystem->name};
  const int         *parts  = wire->wire.subsystem;
  const int          n[2]   = {substeps_of(g, parts[0]), substeps_of(g, parts[1])};
  const bool         is_one = n[0] == 1 && n[1] == 1;
  if (graph_overlaps(wire) && !is_one)
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "coupling '%s': formulation overlap renews its copies at macro points, and subsystems '%s' and "
                     "'%s' take %d and %d substeps; leave out their substeps, or use formulation constitutive",
                     wire->wire.name, names[0], names[1], n[0], n[1]);
  if (wire->has_shares && wire->rate > 1)
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "coupling '%s': multipliers of a joint enter a wrench, whose gradients are known at macro points, "
                     "but subsystems '%s' and '%s' exchange them %d times in a macro step; leave out the substeps of "
                     "one of them",
                     wire->wire.name, names[0], names[1], wire->rate);
  return YOKE_OK;
}

static yoke_status check_settings(const yoke_graph *g, int subsystem, yoke_context *ctx) {
  const char *name = g->subsystems[subsystem].subsystem->name;
  const int   n    = substeps_of(g, subsystem);
  if (!g->scheme->traits.extrapolates_only)
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "subsystem '%s' takes %d substeps in a macro step, but scheme %s solves its conditions at macro "
                     "points only; use scheme explicit, or leave out the substeps",
                     name, n, g->scheme->traits.name);
  if (g->settings.gauss_seidel)
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "subsystem '%s' takes %d substeps in a macro step, so subsystems cannot run one after another; "
                     "use sequence jacobi, or leave out the substeps",
                     name, n);
  if (g->settings.predictor != YOKE_PREDICTOR_EXTRAPOLATION)
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "subsystem '%s' takes %d substeps in a macro step, which goes with predictor extrapolation only; "
                     "use that, or leave out the substeps",
                     name, n);
  return YOKE_OK;
}

/* What enters the faster side alone comes from the slower one and has a degree of its own. */
static void set_degrees(yoke_graph *g, const graph_wire *wire) {
  const int *parts = wire->wire.subsystem, n[2] = {substeps_of(g, parts[0]), substeps_of(g, parts[1])};
  const int  fast = n[1] > n[0], order = g->settings.slow_values == YOKE_SLOW_LINEAR ? 1 : 0;
  if (n[0] == n[1] || wire->wire.formulation->extrapolation != NULL) return;
  for (int k = 0; k < wire->n_channels; ++k) {
    graph_channel *channel = &g->channels[wire->first + k];
    if (!channel->enters[fast] || channel->enters[1 - fast]) continue;
    channel->has_own_order = true;
    channel->order         = order;
  }
}

static yoke_status set_wires(yoke_graph *g, graph_multirate *m, yoke_context *ctx) {
  m->n_points = 1;
  for (int w = 0; w < g->n_wires; ++w) {
    graph_wire *wire  = &g->wires[w];
    const int  *parts = wire->wire.subsystem;
    wire->rate        = common_divisor(substeps_of(g, parts[0]), substeps_of(g, parts[1]));
    YOKE_TRY(check_wire(g, wire, ctx));
    set_degrees(g, wire);
    if (m->n_points > 0) m->n_points = common_multiple(m->n_points, wire->rate);
    if (wire->rate == 1) continue;
    wire->history_at   = m->n_numbers;
    m->fast[m->n_fast] = w;
    ++m->n_fast;
    m->n_numbers += 1 + POINTS * (1 + (size_t)wire->n_channels);
  }
  if (m->n_points > 0) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_MODEL,
                   "the substeps of the subsystems have more than %d points in a macro step at which couplings are "
                   "exchanged; use substeps that are multiples of each other",
                   YOKE_MOST_SUBSTEPS);
}

yoke_status graph_multirate_create(yoke_graph *g, yoke_context *ctx) {
  for (int i = 0; i < g->n_subsystems; ++i) g->subsystems[i].substeps = g->subsystems[i].stretches = 1;
  if (!yoke_scheme_has_substeps(&g->settings, g->n_subsystems)) return YOKE_OK;
  graph_multirate *m    = yoke_arena_take(&g->arena, 1, sizeof *m);
  int             *fast = yoke_arena_take(&g->arena, (size_t)g->n_wires, sizeof *fast);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "substeps of %d subsystems", g->n_subsystems));
  m->fast = fast;
  for (int i = 0; i < g->n_subsystems; ++i) {
    if (substeps_of(g, i) > 1) YOKE_TRY(check_settings(g, i, ctx));
  }
  YOKE_TRY(set_wires(g, m, ctx));
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    s->substeps        = substeps_of(g, i);
    for (int e = 0; e < s->n_ends; ++e) s->stretches = common_multiple(s->stretches, g->wires[s->ends[e].wire].rate);
  }
  m->trial     = yoke_arena_take(&g->arena, m->n_numbers, sizeof *m->trial);
  g->multirate = m;
  return yoke_arena_check(&g->arena, ctx, "substeps of %d subsystems", g->n_subsystems);
}

size_t graph_multirate_n_kept(const yoke_graph *g) {
  return g->multirate != NULL ? g->multirate->n_numbers : 0;
}

void graph_multirate_keep(yoke_graph *g, double *numbers) {
  if (g->multirate != NULL) g->multirate->kept = numbers;
}

/* ---- histories ---- */

static void push(const yoke_graph *g, const graph_wire *wire, double t) {
  const history h = history_of(g->multirate->trial, wire);
  memmove(h.t + 1, h.t, (POINTS - 1) * sizeof *h.t);
  h.t[0] = t;
  for (int k = 0; k < wire->n_channels; ++k) {
    double *u = h.u + (ptrdiff_t)k * POINTS;
    memmove(u + 1, u, (POINTS - 1) * sizeof *u);
    u[0] = g->channels[wire->first + k].value;
  }
  if (*h.n < POINTS) *h.n += 1.0;
}

/* Behind a start or restart there are the macro points only. */
static void take_macro_points(const yoke_graph *g, const graph_wire *wire) {
  const history h = history_of(g->multirate->trial, wire);
  const int     n = g->block->n_past < POINTS ? g->block->n_past : POINTS;
  *h.n            = n;
  memcpy(h.t, g->block->past_t, (size_t)n * sizeof *h.t);
  for (int k = 0; k < wire->n_channels; ++k)
    memcpy(h.u + (ptrdiff_t)k * POINTS, g->channels[wire->first + k].kept->past, (size_t)n * sizeof *h.u);
}

void graph_multirate_accept(yoke_graph *g) {
  graph_multirate *m = g->multirate;
  if (m == NULL) return;
  for (int f = 0; f < m->n_fast; ++f) push(g, &g->wires[m->fast[f]], g->t_next);
  memcpy(m->kept, m->trial, m->n_numbers * sizeof *m->kept);
}

void graph_multirate_forget(yoke_graph *g) {
  graph_multirate *m = g->multirate;
  for (int f = 0; m != NULL && f < m->n_fast; ++f) *history_of(m->kept, &g->wires[m->fast[f]]).n = 0.0;
}

bool graph_multirate_is_sound(const yoke_graph *g, const void *numbers) {
  const graph_multirate *m = g->multirate;
  for (int f = 0; m != NULL && f < m->n_fast; ++f) {
    double head[1 + POINTS];
    memcpy(head, (const char *)numbers + g->wires[m->fast[f]].history_at * sizeof *head, sizeof head);
    if (!(head[0] >= 0.0 && head[0] <= POINTS) || head[0] != floor(head[0])) return false;
    for (int i = 1; i < (int)head[0]; ++i) {
      if (!(head[1 + i] < head[i])) return false;
    }
  }
  return true;
}

/* ---- points ---- */

double graph_time_at(const yoke_graph *g, int k, int n) {
  if (k == 0) return g->block->past_t[0];
  return k == n ? g->t_next : g->block->past_t[0] + g->H * ((double)k / (double)n);
}

/* Is something that happens `rate` times in a macro step due at this point? */
static bool is_due(const graph_multirate *m, int rate, int point) {
  return point % (m->n_points / rate) == 0;
}

bool graph_begins_stretch(const yoke_graph *g, int subsystem, int point) {
  return is_due(g->multirate, g->subsystems[subsystem].stretches, point);
}

/* ---- signals ---- */

static int degree_of(const yoke_graph *g, const graph_wire *wire, const graph_channel *channel, int n_points) {
  const int highest = graph_wire_order(g, wire), run = g->wanted < highest ? g->wanted : highest;
  const int degree = channel->has_own_order ? channel->order : run;
  return degree < n_points ? degree : n_points - 1;
}

/* Powers of local time x of one exchange to those of local time s = start + x/rate of the macro step. */
static void to_macro_step(int rate, double start, double *c) {
  double power = 1.0;
  for (int j = 1; j < WIDTH; ++j) c[j] *= (power *= (double)rate);
  graph_shift_origin(c, WIDTH - 1, start, 0.0);
}

/* The signals of a wire from this point on until its next exchange, through the last points of its history. */
static void set_curves(yoke_graph *g, const graph_wire *wire, int point) {
  const yoke_own_extrapolation *own    = wire->wire.formulation->extrapolation;
  const history                 h      = history_of(g->multirate->trial, wire);
  const double                  length = g->H / (double)wire->rate;
  const double                  start  = (double)point / (double)g->multirate->n_points;
  double                        x[POINTS];
  for (int i = 0; i < (int)*h.n; ++i) x[i] = (h.t[i] - h.t[0]) / length;
  for (int k = 0; k < wire->n_channels; ++k) {
    const int degree = degree_of(g, wire, &g->channels[wire->first + k], (int)*h.n);
    graph_interpolate(degree + 1, x, h.u + (ptrdiff_t)k * POINTS, wire->lent->curves + (ptrdiff_t)k * WIDTH);
  }
  for (int k = 0; k < wire->n_channels; ++k) {
    graph_channel *channel = &g->channels[wire->first + k];
    const int      degree  = degree_of(g, wire, channel, (int)*h.n);
    const bool     is_own  = own != NULL && own->curve(wire->wire.self, k, degree, length, WIDTH, wire->lent->curve_of,
                                                       channel->curve, wire->scratch);
    if (!is_own) memcpy(channel->curve, wire->lent->curves + (ptrdiff_t)k * WIDTH, sizeof channel->curve);
    to_macro_step(wire->rate, start, channel->curve);
    channel->has_curve = true;
  }
}

/* Values at the times of observation that lie before its next exchange. */
static void observe(const yoke_graph *g, const graph_wire *wire, int point) {
  const graph_observation *o    = &g->observation;
  const int                n    = g->multirate->n_points;
  const double             from = graph_time_at(g, point, n), to = graph_time_at(g, point + n / wire->rate, n);
  for (int i = 0; i < o->n_inside; ++i) {
    const double t = o->times[o->first + i];
    if (t <= from || t > to) continue;
    for (int k = 0; k < wire->n_channels; ++k)
      wire->observed.values[i * wire->n_channels + k] =
          graph_channel_at(g, &g->channels[wire->first + k], (t - g->block->past_t[0]) / g->H);
  }
}

/* ---- exchanges ---- */

/* Wires that are due at a point inside of the macro step; all others wait. */
static int find_due(yoke_graph *g, int point) {
  int n = 0;
  for (int w = 0; w < g->n_wires; ++w) {
    graph_wire *wire = &g->wires[w];
    wire->waits      = wire->rate == 1 || !is_due(g->multirate, wire->rate, point);
    n += !wire->waits;
  }
  return n;
}

static void end_waiting(yoke_graph *g) {
  for (int w = 0; w < g->n_wires; ++w) g->wires[w].waits = false;
}

static yoke_status exchange(yoke_graph *g, int point) {
  const int    n = g->multirate->n_points;
  const double s = (double)point / (double)n, t = graph_time_at(g, point, n);
  if (find_due(g, point) == 0) return YOKE_OK;
  for (int c = 0; c < g->n_channels; ++c) g->channels[c].applied = graph_channel_at(g, &g->channels[c], s);
  YOKE_TRY(graph_exchange_at(g, t));
  if (g->forces != NULL) YOKE_TRY(yoke_joint_forces_find(g->forces, g, YOKE_STAGE_UPDATE));
  for (int f = 0; f < g->multirate->n_fast; ++f) {
    const graph_wire *wire = &g->wires[g->multirate->fast[f]];
    if (wire->waits) continue;
    graph_final_values(g, wire, t);
    push(g, wire, t);
  }
  return YOKE_OK;
}

/* ---- the trial ---- */

static void begin(yoke_graph *g) {
  graph_multirate *m = g->multirate;
  memcpy(m->trial, m->kept, m->n_numbers * sizeof *m->trial);
  for (int f = 0; f < m->n_fast; ++f) {
    const graph_wire *wire = &g->wires[m->fast[f]];
    if (*history_of(m->trial, wire).n == 0.0) take_macro_points(g, wire);
  }
  for (int i = 0; i < g->n_subsystems; ++i) g->subsystems[i].n_stepped = 0;
}

/* What fast wires apply at the end of the trial. */
static void set_end_nodes(yoke_graph *g) {
  for (int f = 0; f < g->multirate->n_fast; ++f) {
    const graph_wire *wire = &g->wires[g->multirate->fast[f]];
    for (int k = 0; k < wire->n_channels; ++k) {
      const graph_channel *channel = &g->channels[wire->first + k];
      g->w[channel->w_at] = g->w_predicted[channel->w_at] = graph_channel_at(g, channel, 1.0);
    }
  }
}

yoke_status graph_pass_multirate(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  const graph_multirate *m      = g->multirate;
  yoke_status            status = graph_watch_nodes(g, ctx);
  begin(g);
  for (int point = 0; point < m->n_points && status == YOKE_OK; ++point) {
    if (point > 0) status = exchange(g, point);
    end_waiting(g);
    for (int f = 0; f < m->n_fast && status == YOKE_OK; ++f) {
      const graph_wire *wire = &g->wires[m->fast[f]];
      if (!is_due(m, wire->rate, point)) continue;
      set_curves(g, wire, point);
      observe(g, wire, point);
      graph_sample_channels(g, wire, (double)point / (double)m->n_points,
                            (double)(point + m->n_points / wire->rate) / (double)m->n_points);
    }
    if (status == YOKE_OK) status = graph_pass_stretches(g, point, statistics, ctx);
  }
  if (status == YOKE_OK) set_end_nodes(g);
  return status;
}
