/* Predictors: the nodes of a step before anything is integrated. */
#include "coupling/graph_internal.h"

#include <math.h>
#include <string.h>

/* The newest known nodes of a channel, inner nodes of the last step included: local times and values, newest first. */
static int known_nodes(const yoke_graph *g, const graph_channel *channel, int most, double *s, double *u) {
  int n  = 0;
  s[n]   = 0.0;
  u[n++] = channel->past[0];
  for (int j = channel->n_inner - 1; j >= 0 && n < most; --j) {
    s[n]   = (channel->inner_t[j] - g->past_t[0]) / g->H;
    u[n++] = channel->inner[j];
  }
  for (int i = 1; i < g->n_past && n < most; ++i) {
    s[n]   = g->past_s[i];
    u[n++] = channel->past[i];
  }
  return n;
}

void graph_extrapolate(const yoke_graph *g, const graph_channel *channel, double *w) {
  double    s[YOKE_LAYOUT_MAX_DEGREE + 1], u[YOKE_LAYOUT_MAX_DEGREE + 1], weight[YOKE_LAYOUT_MAX_DEGREE + 1];
  const int n = known_nodes(g, channel, (channel->order >= 0 ? channel->order : g->wanted) + 1, s, u);
  for (int j = 0; j < channel->n_nodes; ++j) {
    yoke_lagrange_weights(n, s, yoke_layout_node(&channel->layout, j), weight);
    w[j] = 0.0;
    for (int i = 0; i < n; ++i) w[j] += weight[i] * u[i];
  }
}

/* min |A x - b| with A [n, m] of full rank (powers of distinct times) by Householder reflections; x ends in b[0 .. m-1]. */
static void solve_least_squares(int n, int m, double A[][YOKE_LAYOUT_MAX_DEGREE + 1], double *b) {
  for (int k = 0; k < m; ++k) {
    double norm = 0.0;
    for (int i = k; i < n; ++i) norm += A[i][k] * A[i][k];
    norm               = A[k][k] > 0.0 ? -sqrt(norm) : sqrt(norm);      /* the reflected column is norm e_k */
    const double pivot = A[k][k] - norm, weight = 1.0 / (norm * pivot); /* v = a - norm e_k,  2/|v|^2 = -weight */
    A[k][k] = pivot;
    for (int j = k + 1; j <= m; ++j) { /* column m is b */
      double sum = 0.0;
      for (int i = k; i < n; ++i) sum += A[i][k] * (j < m ? A[i][j] : b[i]);
      for (int i = k; i < n; ++i) *(j < m ? &A[i][j] : &b[i]) += weight * sum * A[i][k];
    }
    A[k][k] = norm;
  }
  for (int k = m - 1; k >= 0; --k) {
    for (int j = k + 1; j < m; ++j) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
}

/* Least squares over the last `samples` macro points, degree k (Kraft 5.1); only the predicted nodes, not the signal, use it. */
static void least_squares(const yoke_graph *g, const graph_channel *channel, double *w) {
  const int n = g->n_past < g->settings.samples ? g->n_past : g->settings.samples;
  const int m = g->degree + 1;
  if (n <= m) {
    graph_extrapolate(g, channel, w);
    return;
  }
  double       A[GRAPH_PAST][YOKE_LAYOUT_MAX_DEGREE + 1], b[GRAPH_PAST];
  const double scale = fmax(-g->past_s[n - 1], 1.0); /* keeps powers near one */
  for (int i = 0; i < n; ++i) {
    double power = 1.0;
    b[i]         = channel->past[i];
    for (int k = 0; k < m; ++k, power *= g->past_s[i] / scale) A[i][k] = power;
  }
  solve_least_squares(n, m, A, b);
  for (int j = 0; j < channel->n_nodes; ++j) {
    const double x = yoke_layout_node(&channel->layout, j) / scale;
    w[j]           = 0.0;
    for (int k = m - 1; k >= 0; --k) w[j] = w[j] * x + b[k];
  }
}

/* ---- acceleration predictor ---- */

/* Outputs of a port at local time s if its accelerations continue as the polynomial through their last points (Kraft App. C):
 *   v(s) = v_N + H int a,  p(s) = p_N + H v_N s + H^2 int int a;  orientations by p' = T v, to second order. */
void graph_port_ahead(const yoke_graph *g, const graph_wire *wire, int side, int degree, double at, double *y) {
  const graph_subsystem *sub  = &g->subsystems[wire->wire.subsystem[side]];
  const yoke_body_kind   kind = wire->wire.kind[side];
  const int              n_p = yoke_port_n_p(kind), n_v = yoke_port_n_v(kind), ny = sub->subsystem->ny;
  if (degree > g->n_past - 1) degree = g->n_past - 1;
  const double       *now = graph_port(wire, side, sub->past_y);
  /* Moments of the Lagrange basis: int_0^s l_i and int_0^s (s - x) l_i dx by Gauss with five points. */
  static const double node5[5]   = {0.046910077030668, 0.230765344947158, 0.5, 0.769234655052842, 0.953089922969332};
  static const double weight5[5] = {0.118463442528095, 0.239314335249683, 0.284444444444444, 0.239314335249683,
                                    0.118463442528095};
  double              first[GRAPH_PAST] = {0}, second[GRAPH_PAST] = {0}, weight[GRAPH_PAST];
  for (int k = 0; k < 5; ++k) {
    const double x = node5[k] * at;
    yoke_lagrange_weights(degree + 1, g->past_s, x, weight);
    for (int i = 0; i <= degree; ++i) {
      first[i] += weight5[k] * at * weight[i];
      second[i] += weight5[k] * at * (at - x) * weight[i];
    }
  }
  double dv[YOKE_PORT_MAX_V] = {0}, dp[YOKE_PORT_MAX_V] = {0}; /* change of v, and the tangent motion */
  for (int k = 0; k < n_v; ++k) {
    dp[k] = g->H * at * now[n_p + k];
    for (int i = 0; i <= degree; ++i) {
      const double a = graph_port(wire, side, sub->past_y + (size_t)i * (size_t)ny)[n_p + n_v + k];
      dv[k] += g->H * first[i] * a;
      dp[k] += g->H * g->H * second[i] * a;
    }
  }
  double T[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V];
  memcpy(y, now, (size_t)yoke_port_n_y(kind) * sizeof *y);
  yoke_port_tangent(kind, now, T);
  for (int r = 0; r < n_p; ++r) {
    for (int k = 0; k < n_v; ++k) y[r] += T[r * n_v + k] * dp[k];
  }
  for (int k = 0; k < n_v; ++k) y[n_p + k] += dv[k];
}

/* u(s) of a coupling from the ports' motion ahead. */
static void channels_ahead(const yoke_graph *g, const graph_wire *wire, double at, double *u) {
  double y[2][YOKE_PORT_MAX_Y];
  for (int side = 0; side < 2; ++side) graph_port_ahead(g, wire, side, g->settings.order_acceleration, at, y[side]);
  for (int k = 0; k < wire->n_channels; ++k) u[k] = g->channels[wire->first + k].past[0];
  graph_settle(wire, g->past_t[0] + at * g->H, y[0], y[1], GRAPH_CONSISTENT, u);
}

/* The signal is u(s) itself: a polynomial of degree order_acceleration + 2 through equidistant points, exact for linear laws. */
static void acceleration_curves(yoke_graph *g, const graph_wire *wire) {
  const int degree = g->settings.order_acceleration + 2 < GRAPH_SIGNAL_DEGREE ? g->settings.order_acceleration + 2
                                                                              : GRAPH_SIGNAL_DEGREE;
  double    value[GRAPH_SIGNAL_DEGREE + 1][YOKE_COUPLING_MAX_CHANNELS], s[GRAPH_SIGNAL_DEGREE + 1];
  for (int i = 0; i <= degree; ++i) {
    s[i] = (double)i / (double)degree;
    channels_ahead(g, wire, s[i], value[i]);
  }
  for (int k = 0; k < wire->n_channels; ++k) {
    graph_channel *channel = &g->channels[wire->first + k];
    double         d[GRAPH_SIGNAL_DEGREE + 1], *c = channel->curve;
    for (int i = 0; i <= degree; ++i) d[i] = value[i][k];
    for (int j = 1; j <= degree; ++j) { /* divided differences, then nested multiplication */
      for (int i = degree; i >= j; --i) d[i] = (d[i] - d[i - 1]) / (s[i] - s[i - j]);
    }
    memset(channel->curve, 0, sizeof channel->curve);
    for (int i = degree; i >= 0; --i) {
      for (int j = degree; j > 0; --j) c[j] = c[j - 1] - c[j] * s[i];
      c[0] = d[i] - c[0] * s[i];
    }
    g->w_predicted[channel->w_at + channel->n_nodes - 1] = value[degree][k];
  }
  g->use_curves = true;
}

/* End value between the acceleration's and the extrapolated one: u* = (1 - omega) u_acc + omega u_ext. */
static void acceleration_relaxed(yoke_graph *g, const graph_wire *wire) {
  double u[YOKE_COUPLING_MAX_CHANNELS];
  channels_ahead(g, wire, 1.0, u);
  for (int k = 0; k < wire->n_channels; ++k) {
    const graph_channel *channel = &g->channels[wire->first + k];
    double              *w       = g->w_predicted + channel->w_at;
    graph_extrapolate(g, channel, w);
    w[channel->n_nodes - 1] += (1.0 - g->settings.acceleration_weight) * (u[k] - w[channel->n_nodes - 1]);
  }
}

/* Signals that a formulation shapes itself, from the extrapolated ones of its channels. */
static void shape_signals(yoke_graph *g, const graph_wire *wire) {
  double        own[YOKE_COUPLING_MAX_CHANNELS][GRAPH_SIGNAL_DEGREE + 1];
  const double *list[YOKE_COUPLING_MAX_CHANNELS];
  memset(own, 0, sizeof own);
  for (int k = 0; k < wire->n_channels; ++k) {
    const graph_channel *channel = &g->channels[wire->first + k];
    const yoke_past      past    = graph_past(g, channel);
    yoke_layout_piece(&channel->layout, &past, g->w_predicted + channel->w_at, 0, own[k]);
    list[k] = own[k];
  }
  for (int k = 0; k < wire->n_channels; ++k) {
    graph_channel *channel = &g->channels[wire->first + k];
    channel->has_curve     = wire->wire.formulation->curve(wire->wire.self, k, channel->layout.degree, g->H,
                                                           GRAPH_SIGNAL_DEGREE + 1, list, channel->curve);
    if (!channel->has_curve) continue;
    double end = 0.0;
    for (int j = GRAPH_SIGNAL_DEGREE; j >= 0; --j) end += channel->curve[j];
    g->w_predicted[channel->w_at + channel->n_nodes - 1] = end;
  }
}

void graph_predict(yoke_graph *g) {
  for (int i = 0; i < g->n_wires; ++i) {
    const graph_wire *wire = &g->wires[i];
    switch (g->settings.predictor) {
    case YOKE_PREDICTOR_ACCELERATION: acceleration_curves(g, wire); break;
    case YOKE_PREDICTOR_ACCELERATION_RELAXED: acceleration_relaxed(g, wire); break;
    case YOKE_PREDICTOR_EXTRAPOLATION:
    case YOKE_PREDICTOR_LEAST_SQUARES:
      for (int k = 0; k < wire->n_channels; ++k) {
        const graph_channel *channel = &g->channels[wire->first + k];
        if (g->settings.predictor == YOKE_PREDICTOR_LEAST_SQUARES) {
          least_squares(g, channel, g->w_predicted + channel->w_at);
        } else {
          graph_extrapolate(g, channel, g->w_predicted + channel->w_at);
        }
      }
      break;
    }
    if (wire->wire.formulation->curve != NULL) shape_signals(g, wire);
  }
  memcpy(g->w, g->w_predicted, (size_t)g->n_w * sizeof *g->w);
}
