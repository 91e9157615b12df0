/* Observation of a step: values of the subsystems at times inside it, taken while they step, and what the couplings applied there.
 * A pass that may be the last of its trial writes them; they count once the step is accepted. */
#include "base/assert.h"
#include "base/simd.h"
#include "coupling/graph_feeds.h"

#include <stdlib.h>
#include <string.h>

/* Room for n doubles. */
static bool make_room(double **list, size_t *capacity, size_t n) {
  return yoke_grow(list, capacity, n, sizeof **list);
}

yoke_status yoke_graph_observe(yoke_graph *g, int n_times, const double *times, const yoke_graph_handles *handles,
                               yoke_context *ctx) {
  graph_observation *o  = &g->observation;
  const size_t       n  = (size_t)n_times;
  bool               ok = make_room(&o->times, &o->capacity, n);
  o->n_times = o->n_observed = 0; /* until there is room for all */
  for (int i = 0; ok && i < g->n_subsystems && n_times > 0; ++i) {
    graph_subsystem *s  = &g->subsystems[i];
    s->observed.handles = handles[i];
    if (handles[i].n > 0 && s->subsystem->ops->observe == NULL)
      return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "subsystem '%s' cannot be observed inside a step", s->subsystem->name);
    ok = make_room(&s->observed.values, &s->observed.capacity, n * (size_t)handles[i].n);
  }
  for (int w = 0; ok && w < g->n_wires && n_times > 0; ++w) {
    graph_wire *wire = &g->wires[w];
    ok               = make_room(&wire->observed.values, &wire->observed.capacity, n * (size_t)wire->n_channels);
  }
  if (!ok) return yoke_out_of_memory(ctx, "values at %d times", n_times);
  if (n > 0) memcpy(o->times, times, n * sizeof *times);
  o->n_times = n_times;
  return YOKE_OK;
}

void graph_observe_free(yoke_graph *g) {
  free(g->observation.times);
  for (int i = 0; g->subsystems != NULL && i < g->n_subsystems; ++i) free(g->subsystems[i].observed.values);
  for (int w = 0; g->wires != NULL && w < g->n_wires; ++w) free(g->wires[w].observed.values);
}

/* What lies at the end of the step but for rounding is shown by the accepted states. */
void graph_observe_prepare(yoke_graph *g) {
  graph_observation *o   = &g->observation;
  const double       end = g->t_next - 1e-9 * g->H;
  o->n_observed = o->first = o->n_inside = 0;
  while (o->first < o->n_times && o->times[o->first] <= g->block->past_t[0]) ++o->first;
  while (o->first + o->n_inside < o->n_times && o->times[o->first + o->n_inside] < end) ++o->n_inside;
}

void graph_observe_request(const yoke_graph *g, const graph_subsystem *s, yoke_step_request *request) {
  if (g->observation.n_inside == 0 || s->observed.handles.n == 0) return;
  request->n_times   = g->observation.n_inside;
  request->times     = g->observation.times + g->observation.first;
  request->n_handles = s->observed.handles.n;
  request->handles   = s->observed.handles.list;
  request->values    = s->observed.values;
}

yoke_status yoke_graph_sample(yoke_graph *g, int n, const double *s, yoke_context *ctx) {
  graph_samples *x = &g->samples;
  YOKE_ASSERT(n <= GRAPH_SAMPLES);
  x->s      = yoke_arena_take(&g->arena, (size_t)n, sizeof *x->s);
  x->values = yoke_arena_take(&g->arena, (size_t)n * (size_t)g->n_channels + 1, sizeof *x->values);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "channel values at %d times of a step", n));
  memcpy(x->s, s, (size_t)n * sizeof *s);
  x->n = n;
  return YOKE_OK;
}

const double *yoke_graph_sampled(const yoke_graph *g, int wire) {
  return g->samples.values + (ptrdiff_t)g->samples.n * g->wires[wire].first;
}

void graph_sample_channels(const yoke_graph *g, const graph_wire *wire, double from, double to) {
  const graph_samples *x      = &g->samples;
  double              *values = x->values + (ptrdiff_t)x->n * wire->first;
  int                  first = 0, end = x->n; /* they ascend */
  while (first < end && x->s[first] <= from) ++first;
  while (end > first && x->s[end - 1] > to) --end;
  if (first == end) return;
  for (int k = 0; k < wire->n_channels; ++k)
    graph_channel_at_times(g, &g->channels[wire->first + k], end - first, x->s + first, wire->n_channels,
                           values + (ptrdiff_t)first * wire->n_channels + k);
}

/* Weights of the end node and of the past at the sampled times. */
typedef struct sample_weights {
  int    degree; /* of the polynomials for which they were found; -1: none */
  double of[GRAPH_SAMPLES][YOKE_LAYOUT_MAX_DEGREE + 1];
} sample_weights;

static void find_weights(const yoke_graph *g, int degree, sample_weights *weights) {
  double nodes[YOKE_LAYOUT_MAX_DEGREE + 1] = {1.0};
  weights->degree                          = degree;
  for (int j = 0; j < degree; ++j) nodes[j + 1] = g->past_s[j];
  for (int i = 0; i < g->samples.n; ++i) yoke_lagrange_weights(degree + 1, nodes, g->samples.s[i], weights->of[i]);
}

/* Values of a channel that is the polynomial through its end node and its past; those of a degree share their weights. The number n of
 * samples is a constant wherever this is inlined. */
static YOKE_ALWAYS_INLINE void sample_end(const yoke_graph *g, const graph_channel *channel, sample_weights *weights,
                                          int n, int stride, double *restrict values) {
  const graph_samples *x      = &g->samples;
  const int            degree = channel->layout.degree;
  const double         end    = g->w[channel->w_at];
  double               sum[GRAPH_SAMPLES];
  if (degree == 0) {
    for (int i = 0; i < n; ++i) values[i * stride] = end;
    return;
  }
  const double *restrict past = graph_past(g, channel).u;
  if (degree == 1) { /* from T_N, s = 0 */
    for (int i = 0; i < n; ++i) values[i * stride] = x->s[i] * end + (1.0 - x->s[i]) * past[0];
    return;
  }
  if (degree != weights->degree) find_weights(g, degree, weights);
  for (int i = 0; i < n; ++i) sum[i] = weights->of[i][0] * end;
  for (int j = 0; j < degree; ++j) {
    for (int i = 0; i < n; ++i) sum[i] += weights->of[i][j + 1] * past[j];
  }
  for (int i = 0; i < n; ++i) values[i * stride] = sum[i];
}

/* Those of the whole step, but of wires at rates of their own, which the trial has sampled. */
static YOKE_ALWAYS_INLINE void sample_wires(const yoke_graph *g, int n) {
  const graph_samples *x = &g->samples;
  sample_weights       weights;
  weights.degree = -1;
  for (int w = 0; w < g->n_wires; ++w) {
    const graph_wire    *wire    = &g->wires[w];
    const graph_channel *channel = &g->channels[wire->first];
    double              *values  = x->values + (ptrdiff_t)n * wire->first;
    const int            stride  = wire->n_channels;
    for (int k = 0; k < stride && wire->rate <= 1; ++k, ++channel, ++values) {
      if (channel->layout.kind == YOKE_LAYOUT_END && !channel->has_curve && !g->use_curves)
        sample_end(g, channel, &weights, n, stride, values);
      else
        graph_channel_at_times(g, channel, n, x->s, stride, values);
    }
  }
}

void graph_observe_accept(yoke_graph *g) {
  graph_observation *o = &g->observation;
  if (g->samples.n == GRAPH_SAMPLES) /* of the account: straight code */
    sample_wires(g, GRAPH_SAMPLES);
  else if (g->samples.n > 0)
    sample_wires(g, g->samples.n);
  for (int w = 0; w < g->n_wires && o->n_inside > 0; ++w) {
    const graph_wire *wire = &g->wires[w];
    if (wire->rate > 1) continue; /* in the trial: multirate.c */
    for (int i = 0; i < o->n_inside; ++i) {
      const double s = (o->times[o->first + i] - g->block->past_t[0]) / g->H;
      for (int k = 0; k < wire->n_channels; ++k)
        wire->observed.values[i * wire->n_channels + k] = graph_channel_at(g, &g->channels[wire->first + k], s);
    }
  }
  o->n_observed = o->n_inside;
}

int yoke_graph_n_observed(const yoke_graph *g, const double **times) {
  *times = g->observation.times + g->observation.first;
  return g->observation.n_observed;
}

const double *yoke_graph_observed(const yoke_graph *g, int subsystem) {
  return g->subsystems[subsystem].observed.values;
}

const double *yoke_graph_observed_channels(const yoke_graph *g, int wire) {
  return g->wires[wire].observed.values;
}

/* Constant inputs of one subsystem as the last step left them. */
static void applied_signal(const yoke_graph *g, const graph_subsystem *s, double *times, double *c, yoke_signal *out) {
  for (int k = 0; k < s->subsystem->nu; ++k) {
    c[k] = graph_held_value(g, s, k);
    for (int f = s->feed_at[k]; f < s->feed_at[k + 1]; ++f)
      c[k] += graph_now_share(&s->feeds[f]) * g->channels[s->feeds[f].channel].kept->applied;
  }
  times[0] = g->block->past_t[0] - 1.0;
  times[1] = g->block->past_t[0];
  *out     = (yoke_signal){.n = s->subsystem->nu, .n_pieces = 1, .degree = 0, .t = times, .c = c};
}

double yoke_graph_applied(const yoke_graph *graph, int wire, int channel) {
  return graph->channels[graph->wires[wire].first + channel].kept->applied;
}

double yoke_graph_mean(const yoke_graph *graph, int wire, int channel) {
  return graph->channels[graph->wires[wire].first + channel].kept->mean;
}

/* Outputs that the last step ended with are there already: those of the first handles, which are taken from them. */
static int take_outputs(const graph_subsystem *s, int n, const int64_t *handles, double *values) {
  int k = 0;
  for (; k < n && handles[k] < 0; ++k) values[k] = s->y[yoke_handle_output(handles[k])];
  return k;
}

/* Do outputs y belong to t and to this limit of the inputs? */
static bool shows_outputs(const yoke_graph *g, double t, yoke_side side) {
  return side == YOKE_SIDE_LEFT && t == g->block->past_t[0] && !g->block->begins_anew;
}

yoke_status yoke_graph_show(yoke_graph *g, int i, double t, yoke_side side, int n, const int64_t *handles,
                            double *values, yoke_context *ctx) {
  const graph_subsystem *s = &g->subsystems[i];
  double                 times[2];
  yoke_signal            signal;
  if (shows_outputs(g, t, side)) {
    const int n_there = take_outputs(s, n, handles, values);
    n -= n_there;
    handles += n_there;
    values += n_there;
  }
  if (n == 0) return YOKE_OK;
  if (s->subsystem->ops->observe == NULL)
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "subsystem '%s' cannot be observed", s->subsystem->name);
  if (side == YOKE_SIDE_LEFT)
    applied_signal(g, s, times, g->signal_c[0], &signal);
  else
    graph_held_signal(g, i, g->block->past_t[0], times, g->signal_c[0], &signal);
  return s->subsystem->ops->observe->at(s->subsystem, g->scratch[0], s->accepted, &signal, t, side, n, handles, values);
}

bool yoke_graph_energies_reached(yoke_graph *g, int i, double out[YOKE_N_ENERGIES]) {
  const graph_subsystem *s = &g->subsystems[i];
  if (g->relay != NULL || g->block->begins_anew || s->subsystem->ops->energy->reached == NULL) return false;
  return s->subsystem->ops->energy->reached(s->subsystem, g->scratch[0], s->accepted, out);
}

typedef struct show_call {
  double    t;
  yoke_side side;
  yoke_graph_handles (*handles)(const void *user, int i);
  const void    *user;
  double *const *values;
} show_call;

static yoke_status show_one(yoke_graph *g, int i, void *user) {
  const show_call         *x    = user;
  const yoke_graph_handles asks = x->handles(x->user, i);
  return yoke_graph_show(g, i, x->t, x->side, asks.n, asks.list, x->values[i], NULL);
}

/* Is there a value that only a subsystem has? Handles of outputs come first. */
static bool asks_subsystems(const yoke_graph *g, const show_call *x) {
  const bool has_outputs = shows_outputs(g, x->t, x->side);
  for (int i = 0; i < g->n_subsystems; ++i) {
    const yoke_graph_handles asks = x->handles(x->user, i);
    if (asks.n > 0 && (!has_outputs || asks.list[asks.n - 1] >= 0)) return true;
  }
  return false;
}

yoke_status yoke_graph_show_all(yoke_graph *g, double t, yoke_side side,
                                yoke_graph_handles (*handles)(const void *user, int i), const void *user,
                                double *const *values) {
  show_call call = {t, side, handles, user, values};
  if (asks_subsystems(g, &call)) return graph_each_subsystem(g, show_one, &call);
  for (int i = 0; i < g->n_subsystems; ++i) YOKE_TRY(show_one(g, i, &call));
  return YOKE_OK;
}
