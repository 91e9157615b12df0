/* Divergence watch: do couplings grow beyond what a mechanism can do? */
#include "coupling/graph_internal.h"
#include "coupling/residuals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  GROWING_STEPS = 20, /* jumps beyond all values so far that make a divergence ... */
  QUIET_STEPS   = 10, /* ... unless so many steps lie between two of them */
  START_STEPS   = 20, /* which show what is usual in this run */
  REMEDY_SIZE   = 160
};
static const double  impact_growth    = 1e5;    /* from one jump to the next: no divergence grows like this */
static const double  beyond_mechanics = 1e12;   /* times what is usual, at least what the model's sizes make */
static const double  rounding         = 1e-12;  /* of L */
static const double  beyond_forces    = 1e15;   /* of a trial: times what the model's sizes make */
static const double  beyond_length    = 1e6;    /* of a motion in one step, likewise */
static const double  beyond_signals   = 1e18;   /* likewise of signals, whose units nobody knows */
static const double  astray           = 1e3;    /* times what the model's sizes make, and what there was at the start */
static const int64_t most_astray      = 200000; /* right-hand sides of an integration with such inputs */

/* What may help a coupling that diverges. */
static void describe_remedy(const yoke_graph *g, const graph_channel *channel, char text[REMEDY_SIZE]) {
  const yoke_scheme_traits   *traits   = &g->scheme->traits;
  const yoke_formulation_ops *ops      = g->wires[channel->wire].wire.formulation;
  const void                 *self     = g->wires[channel->wire].wire.self;
  const char                 *steadier = ops->steadier != NULL ? ops->steadier(self) : NULL;
  const char                 *other    = "another formulation";
  if (ops->extrapolation != NULL) {
    other = "force exact"; /* no other scheme drives it */
  } else if (traits->needs_explicit_form) {
    other = "scheme semi-implicit";
  } else if (!traits->corrects_to_tolerance) {
    other = "scheme implicit";
  }
  if (g->wires[channel->wire].wire.carries_one_end) {
    snprintf(text, REMEDY_SIZE, "formulation projection, order 0, or a solver of higher order than 1");
    return;
  }
  const bool calms = steadier != NULL && !traits->needs_explicit_form;
  snprintf(text, REMEDY_SIZE, "a smaller macro step (try %.2g s)%s, %s%sor %s", 0.25 * g->H,
           g->settings.order > 0 ? ", a lower order" : "", calms ? steadier : "", calms ? ", " : "", other);
}

/* A step that failed while a coupling was growing beyond all bounds failed because of that. */
yoke_status graph_explain_failure(const yoke_graph *g, yoke_status status, yoke_context *ctx) {
  const graph_channel *worst = NULL;
  for (int c = 0; c < g->n_channels; ++c) {
    const int n = g->channels[c].kept->growth.n_growing;
    if (n >= 3 && (worst == NULL || n > worst->kept->growth.n_growing)) worst = &g->channels[c];
  }
  if (worst == NULL || g->ignores_jumps || status == YOKE_E_MEMORY || status == YOKE_E_INTERNAL ||
      status == YOKE_E_INTERRUPTED || status == YOKE_JOINT_OPEN) /* which has a message of its own */
    return status;
  char remedy[REMEDY_SIZE];
  describe_remedy(g, worst, remedy);
  return yoke_fail(ctx, YOKE_E_UNSTABLE,
                   "the co-simulation diverges: coupling '%s' (%s) has jumped beyond its largest value %d times, last "
                   "by %.3g, when the step "
                   "from t = %.9g s failed; use %s",
                   g->wires[worst->wire].wire.name, worst->info.name, worst->kept->growth.n_growing,
                   fabs(worst->kept->growth.jump), g->block->past_t[0], remedy);
}
/* A motion that moves nothing by more than what counts as met (joint_gap.h) diverges from nothing yet, nor does a force that moves bodies by
 * their rounding over the step: multipliers of short steps carry it. */
static bool is_negligible(const yoke_graph *g, const graph_channel *channel, double jump) {
  const double L = g->settings.length, turn = channel->unit.is_turn ? L : 1.0, ratio = g->settings.time / g->H;
  if (channel->info.is_force) return fabs(jump) <= rounding * channel->natural * ratio * ratio;
  return L > 0.0 && fabs(jump) * turn <= 1e-6 * graph_residual_size(g, channel->unit.kind);
}

/* Sizes of all motions, forces and signals as the watch goes through the channels, in natural sizes. */
typedef struct watched_sizes {
  double largest[GRAPH_N_KINDS], start_size[GRAPH_N_KINDS];
} watched_sizes;

/* Is a jump beyond all values so far one too many? */
static bool is_divergence(const yoke_graph *g, const graph_channel *channel, const graph_growth *growth, double jump) {
  const graph_wire *wire  = &g->wires[channel->wire];
  const bool        flips = growth->n_flips >= 3;
  const double      share = fabs(jump) / growth->first_jump; /* grown since the first of them */
  /* Forces and accelerations that are fed back by extrapolation alone run far ahead of the motion, which decides there. */
  const bool        is_ahead = graph_overlaps(wire) ||
                        (wire->wire.formulation->extrapolation != NULL &&
                         channel->info.enters[0] != YOKE_ENTRY_COPY_P && channel->info.enters[1] != YOKE_ENTRY_COPY_P);
  if (is_ahead) return share > 1e8;
  const bool explodes = growth->n_growing >= 5 && flips && share > 1e4;
  const bool grows    = growth->n_growing >= GROWING_STEPS && flips && share > 1e2;
  return explodes || grows || growth->n_growing >= 10 * GROWING_STEPS;
}

/* fmax of numbers, without a call. */
static inline double larger(double x, double y) {
  return y > x ? y : x;
}

/* Divergence shows as jumps |accepted - predicted| larger than any value so far, again and again, each larger than the one before, with
 * changing sign. A single large jump (an impact) does not come again. The first signs of a wave that arrives at a coupling at rest grow for
 * many steps too, but with one sign and far below the values of other couplings; an undamped start from rest shows such jumps for some
 * time, but they hardly grow. What was seen goes to channel->growth and `sizes`. */
static yoke_status watch_channel(const yoke_graph *g, graph_channel *channel, watched_sizes *sizes, yoke_context *ctx) {
  const int     kind   = channel->kind;
  graph_growth *growth = &channel->growth;
  const double  value  = channel->value;
  const double  jump   = value - g->w_predicted[channel->w_at + channel->n_nodes - 1];
  *growth              = channel->kept->growth;
  /* controllers make signals jump, with any sign and size */
  const bool exceeds = kind != GRAPH_SIGNALS && fabs(jump) > channel->kept->sizes.usual &&
                       fabs(jump) > fabs(growth->jump) && fabs(jump) > 1e-9 * channel->natural * sizes->largest[kind] &&
                       !is_negligible(g, channel, jump);
  if (exceeds) {
    /* an impact behind a time of rest jumps far beyond the rounding errors before it, which are no part of it */
    if (fabs(jump) > impact_growth * fabs(growth->jump)) growth->n_growing = growth->n_flips = 0;
    if (growth->n_growing == 0) growth->first_jump = fabs(jump);
    growth->n_flips += growth->n_growing > 0 && (jump > 0.0) != (growth->jump > 0.0) ? 1 : 0;
    ++growth->n_growing;
    growth->jump    = jump;
    growth->n_quiet = 0;
  } else if (++growth->n_quiet > QUIET_STEPS) {
    growth->n_growing = growth->n_flips = 0;
    growth->jump                        = 0.0;
  }
  const bool   diverges = exceeds && is_divergence(g, channel, growth, jump);
  /* A slow growing oscillation never jumps beyond its largest value, but leaves all that a mechanism can do in the end. */
  const bool   is_starting = g->block->n_accepted < START_STEPS;
  const double beyond      = kind == GRAPH_SIGNALS ? beyond_signals : beyond_mechanics;
  const double size        = fabs(value) / channel->natural;
  const bool   is_beyond   = !is_starting && size > beyond * larger(1.0, sizes->start_size[kind]);
  sizes->largest[kind]     = larger(sizes->largest[kind], size);
  if (is_starting) sizes->start_size[kind] = larger(sizes->start_size[kind], size);
  char remedy[REMEDY_SIZE];
  if (g->settings.bears_any_size && isfinite(value)) return YOKE_OK;
  if (is_beyond && isfinite(value)) {
    describe_remedy(g, channel, remedy);
    return yoke_fail(ctx, YOKE_E_UNSTABLE,
                     "the co-simulation diverges: coupling '%s' (%s) has grown to %.3g at t = %.9g s; use %s",
                     g->wires[channel->wire].wire.name, channel->info.name, fabs(value), g->t_next, remedy);
  }
  if ((!diverges || g->ignores_jumps) && isfinite(value)) return YOKE_OK;
  describe_remedy(g, channel, remedy);
  return yoke_fail(ctx, YOKE_E_UNSTABLE,
                   "the co-simulation diverges: coupling '%s' (%s) jumps by %.3g at t = %.9g s, more than its largest "
                   "value before, as it did %d times until now; use %s",
                   g->wires[channel->wire].wire.name, channel->info.name, fabs(jump), g->t_next, growth->n_growing,
                   remedy);
}

/* A port that moves a million times the length of the model in one step, or gains as much speed as that takes, belongs to no
 * mechanism: this needs no past, so that short runs are watched too. */
static yoke_status watch_motion(const yoke_graph *g, const graph_wire *wire, yoke_context *ctx) {
  const double L = g->settings.length, limit = beyond_length * L, most = larger(1.0, L);
  for (int side = 0; L > 0.0 && side < 2; ++side) {
    const graph_subsystem *s     = &g->subsystems[wire->wire.subsystem[side]];
    const yoke_port_shape *shape = wire->wire.shape[side];
    const double          *y = graph_port(wire, side, s->y), *y_new = graph_port(wire, side, s->y_new);
    const int              n_p = shape->n_p, n_v = shape->n_v;
    for (int k = 0; k < n_p + n_v; ++k) {
      const double plain = fabs(y_new[k] - y[k]) * (k < n_p ? 1.0 : g->H);
      if (plain * most <= limit) continue; /* be it a turn or not */
      const bool is_turn = k < n_p ? yoke_shape_p_turns(shape, k) : yoke_shape_v_turns(shape, k - n_p);
      if (plain * (is_turn ? L : 1.0) <= limit) continue;
      const char *name = k < n_p ? shape->p[k].name : shape->v[k - n_p].name;
      char        remedy[REMEDY_SIZE];
      describe_remedy(g, &g->channels[wire->first], remedy);
      return yoke_fail(
          ctx, YOKE_E_UNSTABLE,
          "the co-simulation diverges: %s of subsystem '%s' at coupling '%s' goes from %.3g to %.3g in the "
          "macro step of %.3g s to t = %.9g s, in a model of %.3g m; use %s",
          name, s->subsystem->name, wire->wire.name, y[k], y_new[k], g->H, g->t_next, L, remedy);
    }
  }
  return YOKE_OK;
}

static bool is_watched(const graph_channel *channel) {
  return channel->enters[0] || channel->enters[1];
}

static watched_sizes sizes_so_far(const yoke_graph *g) {
  watched_sizes sizes;
  memcpy(sizes.largest, g->block->largest, sizeof sizes.largest);
  memcpy(sizes.start_size, g->block->start_size, sizeof sizes.start_size);
  return sizes;
}

/* What motions over `lengths` of the model in the step, or so many forces, are in the units of a node; `ratio` is the model's time in units of the
 * step. Forces that move bodies by their rounding over a short step are large too. */
static double size_of_node(const graph_channel *channel, double ratio, double lengths, double forces) {
  switch (channel->unit.kind) {
  case YOKE_RESIDUAL_POSITION: return channel->natural * lengths;
  case YOKE_RESIDUAL_VELOCITY: return channel->natural * lengths * fmax(1.0, ratio);
  case YOKE_RESIDUAL_ACCELERATION: return channel->natural * lengths * fmax(1.0, ratio * ratio);
  default: return channel->natural * forces * fmax(1.0, rounding * ratio * ratio);
  }
}

static void add_first_sizes(const yoke_graph *g, double size[GRAPH_N_KINDS]) {
  for (int c = 0; c < g->n_channels; ++c) {
    const graph_channel *channel = &g->channels[c];
    if (is_watched(channel))
      size[channel->kind] = fmax(size[channel->kind], fabs(channel->kept->past[0]) / channel->natural);
  }
}

/* Inputs that no mechanism has, a motion by a million times the length of the model in one step or a force far beyond all sizes, make bodies spin so
 * fast that an integration of the step would hardly end: it is not begun. With those that are only large it may take so long and no longer. */
yoke_status graph_watch_nodes(yoke_graph *g, yoke_context *ctx) {
  const double ratio = g->settings.time / g->H;
  double       first[GRAPH_N_KINDS];
  g->astray = NULL;
  if (g->settings.bears_any_size) return YOKE_OK;
  memcpy(first, g->block->first_size, sizeof first);
  if (g->block->n_accepted == 0) add_first_sizes(g, first);
  for (int c = 0; c < g->n_channels; ++c) {
    const graph_channel *channel = &g->channels[c];
    const int            kind    = channel->kind;
    const double         origin  = kind == GRAPH_MOTIONS ? channel->kept->past[0] : 0.0;
    const double         limit   = size_of_node(channel, ratio, beyond_length, beyond_forces);
    const double         usual   = size_of_node(channel, ratio, astray, astray) * fmax(1.0, first[kind]);
    for (int j = 0; kind != GRAPH_SIGNALS && is_watched(channel) && j < channel->n_nodes; ++j) {
      const double value = g->w[channel->w_at + j];
      if (fabs(value - origin) > usual && g->astray == NULL) g->astray = channel;
      if (!(fabs(value - origin) > limit)) continue;
      char remedy[REMEDY_SIZE];
      describe_remedy(g, channel, remedy);
      return yoke_fail(ctx, YOKE_E_UNSTABLE,
                       "the co-simulation diverges: coupling '%s' (%s) would reach %.3g in the macro step of %.3g s to "
                       "t = %.9g s; use %s",
                       g->wires[channel->wire].wire.name, channel->info.name, value, g->H, g->t_next, remedy);
    }
  }
  return YOKE_OK;
}

int64_t graph_most_evaluations(const yoke_graph *g) {
  return g->astray != NULL ? most_astray : 0;
}

yoke_status graph_blame_nodes(const yoke_graph *g, yoke_context *ctx) {
  const graph_channel *channel = g->astray;
  char                 remedy[REMEDY_SIZE];
  describe_remedy(g, channel, remedy);
  return yoke_fail(
      ctx, YOKE_E_UNSTABLE,
      "the co-simulation diverges: coupling '%s' (%s) would reach %.3g in the macro step of %.3g s to t = "
      "%.9g s, where forces and motions of the model are about %.3g, and integrating that takes forever; use %s",
      g->wires[channel->wire].wire.name, channel->info.name, g->w[channel->w_at + channel->n_nodes - 1], g->H,
      g->t_next, channel->natural, remedy);
}

yoke_status graph_watch(yoke_graph *g, yoke_context *ctx) {
  watched_sizes sizes = sizes_so_far(g);
  for (int w = 0; w < g->n_wires && !g->settings.bears_any_size; ++w) YOKE_TRY(watch_motion(g, &g->wires[w], ctx));
  for (int c = 0; c < g->n_channels; ++c) {
    if (is_watched(&g->channels[c])) YOKE_TRY(watch_channel(g, &g->channels[c], &sizes, ctx));
  }
  return YOKE_OK;
}

void graph_watch_accept(yoke_graph *g) {
  if (g->block->n_accepted == 0) add_first_sizes(g, g->block->first_size);
  for (int c = 0; c < g->n_channels; ++c) {
    const graph_channel *channel = &g->channels[c];
    graph_kept          *kept    = channel->kept;
    const int            kind    = channel->kind;
    const double         size    = fabs(channel->value);
    if (!is_watched(channel)) continue;
    kept->growth     = channel->growth;
    kept->correction = fabs(channel->value - g->w_predicted[channel->w_at + channel->n_nodes - 1]);
    graph_sizes_set(&kept->sizes, larger(kept->sizes.usual, size));
    const double relative   = size / channel->natural;
    g->block->largest[kind] = larger(g->block->largest[kind], relative);
    if (g->block->n_accepted < START_STEPS) g->block->start_size[kind] = larger(g->block->start_size[kind], relative);
  }
}
