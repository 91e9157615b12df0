/* Degree and layouts of a step, and the inputs of subsystems from node values. */
#include "coupling/trial.h"
#include "coupling/graph_feeds.h"

#include <string.h>

/* ---- degree and layouts ---- */

/* Degree in force for a coupling: the highest, up to the order of the run, for which all its channels have the past they need.
 * ramp: the N + 1 known points count, so the corrector has degree min(k, N + 1) because k = 1 needs only u_N; ramp-low: one point less,
 * min(k, N). The explicit scheme extrapolates from what is known, so both give min(k, N). A history given at the start counts. */
static int available_points(const yoke_graph *g) {
  const bool by_nodes = g->comparison != YOKE_COMPARISON_CONSISTENT && g->comparison != YOKE_COMPARISON_VALUES;
  const bool is_low   = g->settings.start == YOKE_START_RAMP_LOW || !g->scheme->needs_repeat ||
                      (g->counts_past_low && by_nodes); /* estimates from the predictor need k + 1 values */
  return is_low ? g->block->n_past - 1 : g->block->n_past;
}

static int wanted_degree(const yoke_graph *g, const graph_wire *wire) {
  const int highest = graph_wire_order(g, wire);
  return g->wanted < highest ? g->wanted : highest;
}

static int degree_now(const yoke_graph *g, const graph_wire *wire, int available) {
  for (int degree = wanted_degree(g, wire); degree > 0; --degree) {
    bool enough = true;
    for (int k = 0; k < wire->n_channels; ++k) {
      yoke_layout layout;
      wire->wire.formulation->layout(wire->wire.self, k, degree, &layout);
      enough = enough && yoke_layout_n_past(&layout) <= available;
    }
    if (enough) return degree;
  }
  return 0;
}

/* Layouts of all channels at the degrees that the past permits. */
static void set_layouts(yoke_graph *g, int available) {
  g->degree   = g->wanted;
  g->prepared = (graph_prepared){.is_full = true, .wanted = g->wanted, .available = available};
  for (int w = 0; w < g->n_wires; ++w) {
    const graph_wire *wire   = &g->wires[w];
    const bool        is_own = wire->wire.formulation->extrapolation != NULL;
    const int         degree = is_own ? 0 : degree_now(g, wire, available);
    if (!is_own && degree < g->degree) g->degree = degree;
    if (is_own || degree < wanted_degree(g, wire)) g->prepared.is_full = false;
    for (int k = 0; k < wire->n_channels; ++k) {
      graph_channel *channel = &g->channels[wire->first + k];
      const int      own     = channel->order < g->block->n_past - 1 ? channel->order : g->block->n_past - 1;
      channel->has_curve     = false;
      if (is_own && own < g->degree) g->degree = own;
      if (channel->has_own_order && own < channel->order) g->prepared.is_full = false;
      wire->wire.formulation->layout(wire->wire.self, k, channel->has_own_order ? own : degree, &channel->layout);
    }
  }
  g->prepared.degree = g->degree;
}

void graph_prepare(yoke_graph *g, double t_next) {
  const graph_prepared *last      = &g->prepared;
  const int             available = available_points(g);
  g->is_stepping                  = true;
  g->t_next                       = t_next;
  g->H                            = t_next - g->block->past_t[0];
  g->use_curves                   = false;
  for (int i = 0; i < g->block->n_past; ++i) g->past_s[i] = (g->block->past_t[i] - g->block->past_t[0]) / g->H;
  if (last->is_full && last->wanted == g->wanted && last->available <= available)
    g->degree = last->degree;
  else
    set_layouts(g, available);
}

bool graph_can_end_only(const yoke_graph *g) {
  if (g->has_shares || g->multirate != NULL) return false;
  for (int k = 0; k < g->n_channels; ++k) {
    if (g->channels[k].n_nodes > 1 || g->channels[k].has_own_order) return false;
  }
  return true;
}

/* ---- signals ---- */

/* Sorted ends of the pieces of all channels that enter subsystem i; the last is 1. */
static int collect_breaks(const yoke_graph *g, const graph_subsystem *s, bool is_curve, double *breaks) {
  int n       = 0;
  breaks[n++] = 1.0;
  for (int f = 0; f < s->feed_at[s->subsystem->nu] && !is_curve; ++f) {
    const yoke_layout *layout = &g->channels[s->feeds[f].channel].layout;
    for (int p = 0; p + 1 < yoke_layout_n_pieces(layout); ++p) {
      const double at    = yoke_layout_break(layout, p);
      int          place = 0;
      while (breaks[place] < at) ++place;
      if (breaks[place] == at || n == GRAPH_MAX_BREAKS) continue;
      memmove(breaks + place + 1, breaks + place, (size_t)(n - place) * sizeof *breaks);
      breaks[place] = at;
      ++n;
    }
  }
  return n;
}

void graph_shift_origin(double *c, int degree, double from, double to) {
  for (int k = 0; k < degree && from != to; ++k) {
    for (int j = degree - 1; j >= k; --j) c[j] += (to - from) * c[j + 1];
  }
}

/* Coefficients c[0 .. YOKE_LAYOUT_MAX_DEGREE] of one channel from `start` on, in powers of (s - start); those beyond its degree are 0. */
static void channel_piece(const graph_channel *channel, const yoke_past *past, const double *w, double start,
                          double *c) {
  int p = 0;
  while (p + 1 < yoke_layout_n_pieces(&channel->layout) && yoke_layout_break(&channel->layout, p) <= start) ++p;
  yoke_layout_piece(&channel->layout, past, w, p, c);
  graph_shift_origin(c, channel->layout.degree, p > 0 ? yoke_layout_break(&channel->layout, p - 1) : 0.0, start);
}

static void curve_piece(const double *curve, double start, double *c) {
  memcpy(c, curve, (GRAPH_SIGNAL_DEGREE + 1) * sizeof *c);
  graph_shift_origin(c, GRAPH_SIGNAL_DEGREE, 0.0, start);
}

static bool is_curve(const yoke_graph *g, const graph_channel *channel) {
  return g->use_curves || channel->has_curve;
}

/* Degree of what a channel gives. */
static int channel_degree(const yoke_graph *g, const graph_channel *channel, int column) {
  return column == GRAPH_COMPARISON || is_curve(g, channel) ? GRAPH_SIGNAL_DEGREE : channel->layout.degree;
}

/* The highest degree of all that enters a subsystem. */
static int signal_degree(const yoke_graph *g, const graph_subsystem *s, int column) {
  int degree = 0;
  for (int f = 0; f < s->feed_at[s->subsystem->nu]; ++f) {
    const int own = channel_degree(g, &g->channels[s->feeds[f].channel], column);
    if (own > degree) degree = own;
  }
  return degree;
}

/* Polynomial of a channel on the piece that begins at `start`, in powers of s - start. Returns the degree. */
static int polynomial_of(const yoke_graph *g, const graph_channel *channel, double start, double *c) {
  const yoke_past past = graph_past(g, channel);
  if (is_curve(g, channel))
    curve_piece(channel->curve, start, c);
  else
    channel_piece(channel, &past, g->w + channel->w_at, start, c);
  return channel_degree(g, channel, -1);
}

/* The same where a channel has one piece: curves, and the polynomial through the end node and the past. */
static void one_piece_at_times(const yoke_graph *g, const graph_channel *channel, int n, const double *s,
                               ptrdiff_t stride, double *u) {
  double        own[YOKE_LAYOUT_MAX_DEGREE + 1];
  const double *c      = is_curve(g, channel) ? channel->curve : own;
  const int     degree = channel_degree(g, channel, -1);
  if (c == own) yoke_layout_end_piece(degree, g->past_s, graph_past(g, channel).u, g->w[channel->w_at], own);
  for (int i = 0; i < n; ++i) {
    double value = c[degree];
    for (int j = degree - 1; j >= 0; --j) value = value * s[i] + c[j];
    u[i * stride] = value;
  }
}

void graph_channel_at_times(const yoke_graph *g, const graph_channel *channel, int n, const double *s, ptrdiff_t stride,
                            double *u) {
  if (channel->layout.kind == YOKE_LAYOUT_END) {
    one_piece_at_times(g, channel, n, s, stride, u);
    return;
  }
  const int n_pieces = yoke_layout_n_pieces(&channel->layout);
  double    c[GRAPH_SIGNAL_DEGREE + 1], start = -1.0; /* none yet */
  int       degree = 0;
  for (int i = 0; i < n; ++i) {
    double begin = 0.0, value = 0.0;
    for (int p = 0; p + 1 < n_pieces && yoke_layout_break(&channel->layout, p) < s[i]; ++p)
      begin = yoke_layout_break(&channel->layout, p);
    if (begin != start) degree = polynomial_of(g, channel, begin, c);
    start = begin;
    for (int j = degree; j >= 0; --j) value = value * (s[i] - start) + c[j];
    u[i * stride] = value;
  }
}

double graph_channel_at(const yoke_graph *g, const graph_channel *channel, double s) {
  double u;
  graph_channel_at_times(g, channel, 1, &s, 1, &u);
  return u;
}

/* Nodes and past become their products with the shares of a feed. */
static yoke_past shared_past(const yoke_past *past, const graph_feed *feed, int n_nodes, double *u, double *w) {
  for (int i = 0; i < past->n; ++i) u[i] = past->u[i] * feed->share->at[i];
  for (int j = 0; j < n_nodes; ++j) w[j] *= feed->share->at[GRAPH_PAST + j];
  return (yoke_past){.n = past->n, .s = past->s, .u = u};
}

/* place += what a feed gives on the piece from `start`, in powers of s - start. */
static void add_feed(const yoke_graph *g, const graph_subsystem *s, const graph_feed *feed, int column, double shift,
                     double start, double *place) {
  const graph_channel *channel = &g->channels[feed->channel];
  double               c[GRAPH_SIGNAL_DEGREE + 1], product[GRAPH_SIGNAL_DEGREE + 1];
  if (column == GRAPH_COMPARISON || is_curve(g, channel)) {
    const double *curve = column == GRAPH_COMPARISON ? channel->comparison : channel->curve;
    if (feed->share != NULL) graph_feed_curve(g, feed, curve, product);
    curve_piece(feed->share != NULL ? product : curve, start, c);
  } else {
    double    w[YOKE_LAYOUT_MAX_NODES], u[GRAPH_PAST];
    yoke_past past = graph_past(g, channel);
    memcpy(w, g->w + channel->w_at, (size_t)channel->n_nodes * sizeof *w);
    if (column >= 0 && s->column_channel[column] == feed->channel) w[s->column_node[column]] += shift;
    if (feed->share != NULL) past = shared_past(&past, feed, channel->n_nodes, u, w);
    channel_piece(channel, &past, w, start, c);
  }
  const int degree = channel_degree(g, channel, column);
  for (int j = 0; j <= degree; ++j) place[j] += feed->weight * c[j];
}

/* Pieces of n inputs: where they start in s, and their times. */
static yoke_signal begin_signal(const yoke_graph *g, int n, int n_pieces, int degree, const double *breaks, double *t,
                                double *c) {
  t[0] = g->block->past_t[0];
  for (int p = 0; p < n_pieces; ++p) t[p + 1] = p + 1 < n_pieces ? g->block->past_t[0] + breaks[p] * g->H : g->t_next;
  return (yoke_signal){.n = n, .n_pieces = n_pieces, .degree = degree, .t = t, .c = c};
}

/* Powers of s to powers of time. */
static void scale_to_time(const yoke_graph *g, int degree, double *place) {
  double scale = 1.0;
  for (int j = 1; j <= degree; ++j) place[j] *= (scale /= g->H);
}

/* Where every channel is the polynomial through its end node and its past: one piece. */
static void end_signal(const yoke_graph *g, const graph_subsystem *s, int column, double shift, double *t, double *c,
                       yoke_signal *out) {
  const int    nu = s->subsystem->nu, degree = signal_degree(g, s, column);
  const int    shifted = column >= 0 ? s->column_channel[column] : -1;
  const double whole   = 1.0;
  *out                 = begin_signal(g, nu, 1, degree, &whole, t, c);
  for (int k = 0; k < nu; ++k, c += degree + 1) {
    for (int j = 1; j <= degree; ++j) c[j] = 0.0;
    c[0] = graph_held_value(g, s, k);
    for (int f = s->feed_at[k]; f < s->feed_at[k + 1]; ++f) {
      const graph_feed    *feed    = &s->feeds[f];
      const graph_channel *channel = &g->channels[feed->channel];
      double               u[YOKE_LAYOUT_MAX_DEGREE + 1];
      const double         w = g->w[channel->w_at];
      yoke_layout_end_piece(channel->layout.degree, g->past_s, channel->kept->past,
                            feed->channel == shifted ? w + shift : w, u);
      for (int j = 0; j <= channel->layout.degree; ++j) c[j] += feed->weight * u[j];
    }
    scale_to_time(g, degree, c);
  }
}

void graph_signal(const yoke_graph *g, int i, int column, double shift, double *t, double *c, yoke_signal *out) {
  const graph_subsystem *s = &g->subsystems[i];
  if (column != GRAPH_COMPARISON && g->has_end_nodes_only && !g->use_curves) {
    end_signal(g, s, column, shift, t, c, out);
    return;
  }
  double       breaks[GRAPH_MAX_BREAKS + 1];
  const int    n_pieces = collect_breaks(g, s, column == GRAPH_COMPARISON || g->use_curves, breaks);
  const int    degree   = signal_degree(g, s, column);
  const size_t width    = (size_t)degree + 1;
  *out                  = begin_signal(g, s->subsystem->nu, n_pieces, degree, breaks, t, c);
  for (int p = 0; p < n_pieces; ++p) {
    const double start = p > 0 ? breaks[p - 1] : 0.0;
    for (int k = 0; k < s->subsystem->nu; ++k) {
      double *place = c + ((size_t)p * (size_t)s->subsystem->nu + (size_t)k) * width;
      memset(place, 0, width * sizeof *place);
      place[0] = graph_held_value(g, s, k);
      for (int f = s->feed_at[k]; f < s->feed_at[k + 1]; ++f) add_feed(g, s, &s->feeds[f], column, shift, start, place);
      scale_to_time(g, degree, place);
    }
  }
}

/* What a feed gives of a unit at one node, nothing of the others and of the past, on the piece from `start`. */
static void unit_piece(const yoke_graph *g, const graph_feed *feed, int node, double start, double *c) {
  const graph_channel *channel                  = &g->channels[feed->channel];
  const double         zeros[GRAPH_PAST]        = {0};
  const yoke_past      past                     = {.n = g->block->n_past, .s = g->past_s, .u = zeros};
  double               w[YOKE_LAYOUT_MAX_NODES] = {0};
  w[node]                                       = is_curve(g, channel) ? 0.0 : graph_node_share(feed, node);
  channel_piece(channel, &past, w, start, c);
}

void graph_directions(const yoke_graph *g, int i, double *t, double *c, yoke_directions *out) {
  const graph_subsystem *s = &g->subsystems[i];
  const graph_entries   *x = &s->entries;
  double                 breaks[GRAPH_MAX_BREAKS + 1];
  const int              n_pieces = collect_breaks(g, s, g->use_curves, breaks);
  const int              degree   = signal_degree(g, s, -1);
  const size_t           width    = (size_t)degree + 1;
  *out                            = (yoke_directions){.n               = s->n_columns,
                                                      .n_entries       = x->n,
                                                      .direction       = x->column,
                                                      .input           = x->input,
                                                      .tolerance       = g->response_tolerance,
                                                      .stiff_tolerance = g->stiff_tolerance,
                                                      .du              = begin_signal(g, x->n, n_pieces, degree, breaks, t, c)};
  for (int p = 0; p < n_pieces; ++p) {
    for (int e = 0; e < x->n; ++e) {
      double *place                         = c + ((size_t)p * (size_t)x->n + (size_t)e) * width;
      double  unit[GRAPH_SIGNAL_DEGREE + 1] = {0};
      unit_piece(g, &s->feeds[x->feed[e]], s->column_node[x->column[e]], p > 0 ? breaks[p - 1] : 0.0, unit);
      scale_to_time(g, degree, unit);
      memcpy(place, unit, width * sizeof *place);
    }
  }
}
