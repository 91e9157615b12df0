/* Predictors: the nodes of a step before anything is integrated. */
#include "coupling/graph_internal.h"

#include <math.h>
#include <string.h>

/* The newest known nodes of a channel, inner nodes of the last step included where it goes on from them: local times and values, newest
 * first. */
static int known_nodes(const yoke_graph *g, const graph_channel *channel, int most, double *s, double *u) {
  int n = 0;
  if (channel->goes_on_consistent) {
    for (; n < g->block->n_past && n < most; ++n) {
      s[n] = g->past_s[n];
      u[n] = channel->kept->consistent[n];
    }
    return n;
  }
  s[n]   = 0.0;
  u[n++] = channel->kept->past[0];
  for (int j = channel->kept->n_inner - 1; j >= 0 && n < most; --j) {
    s[n]   = (channel->kept->inner_t[j] - g->block->past_t[0]) / g->H;
    u[n++] = channel->kept->inner[j];
  }
  for (int i = 1; i < g->block->n_past && n < most; ++i) {
    s[n]   = g->past_s[i];
    u[n++] = channel->kept->past[i];
  }
  return n;
}

void graph_extrapolate(const yoke_graph *g, const graph_channel *channel, double *w) {
  double    s[YOKE_LAYOUT_MAX_DEGREE + 1], u[YOKE_LAYOUT_MAX_DEGREE + 1], weight[YOKE_LAYOUT_MAX_DEGREE + 1];
  const int highest = graph_wire_order(g, &g->wires[channel->wire]), run = g->wanted < highest ? g->wanted : highest;
  const int n = known_nodes(g, channel, (channel->has_own_order ? channel->order : run) + 1, s, u);
  for (int j = 0; j < channel->n_nodes; ++j) {
    yoke_lagrange_weights(n, s, yoke_layout_node(&channel->layout, j), weight);
    w[j] = 0.0;
    for (int i = 0; i < n; ++i) w[j] += weight[i] * u[i];
  }
}

/* What the end node is made of, the same for all channels that have nothing else and as many points. */
typedef struct end_weights {
  int    n;
  double of[GRAPH_PAST];
} end_weights;

/* graph_extrapolate of such a channel. */
static double extrapolate_end(const yoke_graph *g, const graph_channel *channel, end_weights *weights) {
  const int highest = g->settings.order - channel->spare_order, run = g->wanted < highest ? g->wanted : highest;
  const int n = run + 1 < g->block->n_past ? run + 1 : g->block->n_past;
  double    w = 0.0;
  if (n != weights->n) {
    weights->n = n;
    yoke_lagrange_weights(n, g->past_s, 1.0, weights->of);
  }
  for (int i = 0; i < n; ++i) w += weights->of[i] * channel->kept->past[i];
  return w;
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
  const int n = g->block->n_past < g->settings.samples ? g->block->n_past : g->settings.samples;
  const int m = g->degree + 1;
  if (n <= m) {
    graph_extrapolate(g, channel, w);
    return;
  }
  double       A[GRAPH_PAST][YOKE_LAYOUT_MAX_DEGREE + 1], b[GRAPH_PAST];
  const double scale = fmax(-g->past_s[n - 1], 1.0); /* keeps powers near one */
  for (int i = 0; i < n; ++i) {
    double power = 1.0;
    b[i]         = channel->kept->past[i];
    for (int k = 0; k < m; ++k, power *= g->past_s[i] / scale) A[i][k] = power;
  }
  solve_least_squares(n, m, A, b);
  for (int j = 0; j < channel->n_nodes; ++j) {
    const double x = yoke_layout_node(&channel->layout, j) / scale;
    w[j]           = 0.0;
    for (int k = m - 1; k >= 0; --k) w[j] = w[j] * x + b[k];
  }
}

/* ---- polynomials ---- */

void graph_interpolate(int n, const double *s, const double *u, double c[GRAPH_SIGNAL_DEGREE + 1]) {
  double d[GRAPH_SIGNAL_DEGREE + 1];
  memcpy(d, u, (size_t)n * sizeof *d);
  for (int j = 1; j < n; ++j) { /* divided differences, then nested multiplication by (s - s_i) */
    for (int i = n - 1; i >= j; --i) d[i] = (d[i] - d[i - 1]) / (s[i] - s[i - j]);
  }
  memset(c, 0, (GRAPH_SIGNAL_DEGREE + 1) * sizeof *c);
  for (int i = n - 1; i >= 0; --i) {
    for (int j = GRAPH_SIGNAL_DEGREE; j > 0; --j) c[j] = c[j - 1] - c[j] * s[i];
    c[0] = d[i] - c[0] * s[i];
  }
}

/* ---- motion ahead, by accelerations (Kraft App. C) ---- */

/* What the accelerations at the macro points T_{N-i} give until local time `at`, in units of H and H^2:
 *   first[i] = int_0^at l_i dx,  second[i] = int_0^at (at - x) l_i dx,  l_i the Lagrange basis through n points. */
typedef struct moments {
  int    n;
  double at, first[GRAPH_PAST], second[GRAPH_PAST];
} moments;

/* By Gauss with five points. */
static moments moments_until(const yoke_graph *g, int degree, double at) {
  static const double node5[5]   = {0.046910077030668, 0.230765344947158, 0.5, 0.769234655052842, 0.953089922969332};
  static const double weight5[5] = {0.118463442528095, 0.239314335249683, 0.284444444444444, 0.239314335249683,
                                    0.118463442528095};
  moments             m          = {.n = (degree < g->block->n_past - 1 ? degree : g->block->n_past - 1) + 1, .at = at};
  for (int k = 0; k < 5; ++k) {
    const double x = node5[k] * at;
    double       weight[GRAPH_PAST];
    yoke_lagrange_weights(m.n, g->past_s, x, weight);
    for (int i = 0; i < m.n; ++i) {
      m.first[i] += weight5[k] * at * weight[i];
      m.second[i] += weight5[k] * at * (at - x) * weight[i];
    }
  }
  return m;
}

/* Change of the velocities, dv = H int a; and the tangent motion dp = H v_N s + H^2 int int a unless it is NULL. */
static void motion_ahead(const yoke_graph *g, const graph_wire *wire, int side, const moments *m, double *dv,
                         double *dp) {
  const graph_subsystem *sub   = &g->subsystems[wire->wire.subsystem[side]];
  const yoke_port_shape *shape = wire->wire.shape[side];
  const int              n_p = shape->n_p, n_v = shape->n_v, ny = sub->subsystem->ny;
  const double          *now = graph_port(wire, side, sub->past_y);
  for (int k = 0; k < n_v; ++k) {
    dv[k] = 0.0;
    if (dp != NULL) dp[k] = g->H * m->at * now[n_p + k];
    for (int i = 0; i < m->n; ++i) {
      const double a = graph_port(wire, side, sub->past_y + (size_t)i * (size_t)ny)[n_p + n_v + k];
      dv[k] += g->H * m->first[i] * a;
      if (dp != NULL) dp[k] += g->H * g->H * m->second[i] * a;
    }
  }
}

/* dp [n_p] = T(p) (v + dv); dv NULL: 0. */
static void rate(const yoke_port_shape *shape, const double *p, const double *v, const double *dv, double *T,
                 double *dp) {
  const int n_p = shape->n_p, n_v = shape->n_v;
  yoke_shape_tangent(shape, p, T);
  for (int r = 0; r < n_p; ++r) {
    dp[r] = 0.0;
    for (int k = 0; k < n_v; ++k) dp[r] += T[r * n_v + k] * (dv != NULL ? v[k] + dv[k] : v[k]);
  }
}

/* Orientations whose tangent turns with them, p' = T(p) v(s): one step of the classical method of Runge and Kutta, off by O(H^5). */
static void turn(const yoke_graph *g, const graph_wire *wire, int side, const moments *m, const double *now,
                 const double *dv, double *p) {
  const yoke_port_shape *shape = wire->wire.shape[side];
  const int              n_p   = shape->n_p;
  const double           h = g->H * m->at, *v = now + n_p;
  const moments          half    = moments_until(g, m->n - 1, 0.5 * m->at);
  double                *dv_half = wire->lent->motion[side] + 2 * shape->n_v, *stage = dv_half + shape->n_v,
         *T = wire->lent->tangent[side], *k[4];
  for (int i = 0; i < 4; ++i) k[i] = stage + (i + 1) * n_p;
  motion_ahead(g, wire, side, &half, dv_half, NULL);
  rate(shape, now, v, NULL, T, k[0]);
  for (int i = 1; i < 4; ++i) {
    for (int r = 0; r < n_p; ++r) stage[r] = now[r] + (i < 3 ? 0.5 : 1.0) * h * k[i - 1][r];
    rate(shape, stage, v, i < 3 ? dv_half : dv, T, k[i]);
  }
  for (int r = 0; r < n_p; ++r) {
    if (shape->p[r].rate < 0) p[r] = now[r] + h / 6.0 * (k[0][r] + 2.0 * (k[1][r] + k[2][r]) + k[3][r]);
  }
}

/* What a law reads beside the motion of the port has no accelerations: the polynomial through its last points. */
static void readings_ahead(const yoke_graph *g, const graph_wire *wire, int side, double at, double *y) {
  const graph_subsystem *s    = &g->subsystems[wire->wire.subsystem[side]];
  const size_t           ny   = (size_t)s->subsystem->ny;
  const int              kept = g->block->n_past < g->output_points ? g->block->n_past : g->output_points;
  const int              n    = kept < g->wanted + 1 ? kept : g->wanted + 1;
  double                 weight[GRAPH_PAST];
  yoke_lagrange_weights(n, g->past_s, at, weight);
  for (int k = yoke_shape_n_y(wire->wire.shape[side]); k < wire->n_y[side]; ++k) {
    y[k] = 0.0;
    for (int i = 0; i < n; ++i) y[k] += weight[i] * graph_port(wire, side, s->past_y + (size_t)i * ny)[k];
  }
}

/* Outputs of a port if its accelerations continue as the polynomial through their last points:
 *   v(s) = v_N + H int a,  p(s) = p_N + T (H v_N s + H^2 int int a). */
static void port_ahead(const yoke_graph *g, const graph_wire *wire, int side, const moments *m, double *y) {
  const yoke_port_shape *shape = wire->wire.shape[side];
  const int              n_p = shape->n_p, n_v = shape->n_v;
  const double          *now = graph_port(wire, side, g->subsystems[wire->wire.subsystem[side]].past_y);
  double                *dv = wire->lent->motion[side], *dp = dv + n_v, *T = wire->lent->tangent[side];
  motion_ahead(g, wire, side, m, dv, dp);
  memcpy(y, now, (size_t)yoke_shape_n_y(shape) * sizeof *y);
  yoke_shape_tangent(shape, now, T);
  for (int r = 0; r < n_p; ++r) {
    for (int k = 0; k < n_v; ++k) y[r] += T[r * n_v + k] * dp[k];
  }
  if (yoke_shape_n_turned(shape) > 0) turn(g, wire, side, m, now, dv, y);
  for (int k = 0; k < n_v; ++k) y[n_p + k] += dv[k];
  if (wire->n_y[side] > yoke_shape_n_y(shape)) readings_ahead(g, wire, side, m->at, y);
}

/* The same of a point on a line that nothing else is read of, whose tangent is 1: for chains, which have little more to do than this. */
static void line_ahead(const yoke_graph *g, const graph_wire *wire, int side, const moments *m, double *y) {
  const graph_subsystem *sub = &g->subsystems[wire->wire.subsystem[side]];
  const double          *now = graph_port(wire, side, sub->past_y), H = g->H;
  const ptrdiff_t        ny = sub->subsystem->ny;
  double                 dv = 0.0, dp = H * m->at * now[1];
  for (int i = 0; i < m->n; ++i) {
    const double a = now[i * ny + 2];
    dv += H * m->first[i] * a;
    dp += H * H * m->second[i] * a;
  }
  y[0] = now[0] + dp;
  y[1] = now[1] + dv;
  y[2] = now[2];
}

static bool is_line_alone(const graph_wire *wire, int side) {
  return wire->wire.shape[side] == &yoke_shape_line && wire->n_y[side] == yoke_shape_n_y(&yoke_shape_line);
}

/* The two bodies at the edge of the halo that the other side holds, on a line. */
static void edge_ahead(const yoke_graph *g, const graph_wire *wire, int side, const moments *m, double *y) {
  const graph_subsystem *s   = &g->subsystems[wire->wire.subsystem[side]];
  const int              n_y = yoke_shape_n_y(&yoke_shape_line), ny = s->ny;
  const int              at_v = yoke_shape_at_v(&yoke_shape_line), at_a = yoke_shape_at_a(&yoke_shape_line);
  for (int port = wire->n_held[side] - 1; port <= wire->n_held[side]; ++port) {
    const double *now = graph_port(wire, side, s->past_y) + port * n_y;
    double       *out = y + port * n_y, dv = 0.0, dp = m->at * now[at_v];
    for (int i = 0; i < m->n; ++i) {
      const double a = now[(ptrdiff_t)i * ny + at_a];
      dv += m->first[i] * a;
      dp += g->H * m->second[i] * a;
    }
    out[0]    = now[0] + g->H * dp;
    out[at_v] = now[at_v] + g->H * dv;
  }
}

void graph_port_ahead(const yoke_graph *g, const graph_wire *wire, int side, int degree, double at, double *y) {
  const moments m = moments_until(g, degree, at);
  port_ahead(g, wire, side, &m, y);
}

/* u(s) of a coupling from the ports' motion ahead. */
static void channels_ahead(const yoke_graph *g, const graph_wire *wire, const moments *m, double *u) {
  for (int side = 0; side < 2; ++side) {
    if (graph_overlaps(wire) && wire->halo == NULL)
      edge_ahead(g, wire, side, m, wire->lent->ahead[side]);
    else if (is_line_alone(wire, side))
      line_ahead(g, wire, side, m, wire->lent->ahead[side]);
    else
      port_ahead(g, wire, side, m, wire->lent->ahead[side]);
  }
  for (int k = 0; k < wire->n_channels; ++k) u[k] = g->channels[wire->first + k].kept->past[0];
  graph_settle(wire, g->block->past_t[0] + m->at * g->H, wire->lent->ahead[0], wire->lent->ahead[1], GRAPH_CONSISTENT,
               u);
}

/* Places at which the motion ahead is looked at: enough for the polynomial of degree d + 2 that accelerations of degree d give
 * with a linear law. The last one is the end of the step. */
typedef struct places {
  int     n;
  double  s[GRAPH_SIGNAL_DEGREE + 1];
  moments m[GRAPH_SIGNAL_DEGREE + 1];
} places;

static void places_set(const yoke_graph *g, int degree, places *p) {
  const int last = degree + 2 < GRAPH_SIGNAL_DEGREE ? degree + 2 : GRAPH_SIGNAL_DEGREE;
  p->n           = last + 1;
  for (int i = 0; i <= last; ++i) {
    p->s[i] = (double)i / (double)last;
    p->m[i] = moments_until(g, degree, p->s[i]);
  }
}

/* Signals have no motion to be continued: their extrapolation as u(s), and for the comparison of one degree more as the past permits. */
static void extrapolated_curve(const yoke_graph *g, const graph_wire *wire, bool compares) {
  graph_channel *channel = &g->channels[wire->first];
  if (compares) {
    const int n = g->degree + 2 < g->block->n_past ? g->degree + 2 : g->block->n_past;
    graph_interpolate(n, g->past_s, channel->kept->past, channel->comparison);
    return;
  }
  const yoke_past past = graph_past(g, channel);
  graph_extrapolate(g, channel, g->w_predicted + channel->w_at);
  memset(channel->curve, 0, sizeof channel->curve);
  yoke_layout_piece(&channel->layout, &past, g->w_predicted + channel->w_at, 0, channel->curve);
}

/* The signals of a coupling, or those of the comparison, are u(s) itself. */
static void curves_ahead(const yoke_graph *g, const graph_wire *wire, const places *p, bool compares) {
  double *value = wire->lent->curves, u[GRAPH_SIGNAL_DEGREE + 1]; /* value [p->n, n_channels] */
  if (wire->wire.formulation->for_signals) {
    extrapolated_curve(g, wire, compares);
    return;
  }
  for (int i = 0; i < p->n; ++i) channels_ahead(g, wire, &p->m[i], value + i * wire->n_channels);
  for (int k = 0; k < wire->n_channels; ++k) {
    graph_channel *channel = &g->channels[wire->first + k];
    for (int i = 0; i < p->n; ++i) u[i] = value[i * wire->n_channels + k];
    graph_interpolate(p->n, p->s, u, compares ? channel->comparison : channel->curve);
    if (!compares) g->w_predicted[channel->w_at + channel->n_nodes - 1] = u[p->n - 1];
  }
}

bool graph_predict_better(yoke_graph *g) {
  const bool is_relaxed = g->settings.predictor == YOKE_PREDICTOR_ACCELERATION_RELAXED;
  const int  own        = graph_acceleration_degree(g, g->degree);
  const int  degree     = !is_relaxed ? own + 1 : own > g->degree ? own : g->degree;
  places     p;
  if (degree > g->block->n_past - 1) return false;
  places_set(g, degree, &p);
  for (int i = 0; i < g->n_wires; ++i) curves_ahead(g, &g->wires[i], &p, true);
  return true;
}

double graph_acceleration_weight(const yoke_graph *g) {
  if (!isnan(g->settings.acceleration_weight)) return g->settings.acceleration_weight;
  return g->degree == 0 ? 1.0 / 2.0 : 1.0 / 6.0;
}

/* End value between the acceleration's and the extrapolated one: u* = (1 - omega) u_acc + omega u_ext. */
static void relax(yoke_graph *g, const graph_wire *wire, const moments *end) {
  double *u = wire->lent->u;
  if (wire->wire.formulation->for_signals) {
    graph_extrapolate(g, &g->channels[wire->first], g->w_predicted + g->channels[wire->first].w_at);
    return;
  }
  channels_ahead(g, wire, end, u);
  for (int k = 0; k < wire->n_channels; ++k) {
    const graph_channel *channel = &g->channels[wire->first + k];
    double              *w       = g->w_predicted + channel->w_at;
    graph_extrapolate(g, channel, w);
    w[channel->n_nodes - 1] += (1.0 - graph_acceleration_weight(g)) * (u[k] - w[channel->n_nodes - 1]);
  }
}

static void predict_by_accelerations(yoke_graph *g) {
  const int degree = graph_acceleration_degree(g, g->degree);
  if (g->settings.predictor == YOKE_PREDICTOR_ACCELERATION) {
    places p;
    places_set(g, degree, &p);
    for (int i = 0; i < g->n_wires; ++i) curves_ahead(g, &g->wires[i], &p, false);
    g->use_curves = true;
  } else {
    const moments end = moments_until(g, degree, 1.0);
    for (int i = 0; i < g->n_wires; ++i) relax(g, &g->wires[i], &end);
  }
}

/* ---- all channels ---- */

/* Signals that a formulation shapes itself, from the extrapolated ones of its channels. */
static void shape_signals(yoke_graph *g, const graph_wire *wire) {
  const size_t width = GRAPH_SIGNAL_DEGREE + 1;
  memset(wire->lent->curves, 0, (size_t)wire->n_channels * width * sizeof *wire->lent->curves);
  for (int k = 0; k < wire->n_channels; ++k) {
    const graph_channel *channel = &g->channels[wire->first + k];
    const yoke_past      past    = graph_past(g, channel);
    yoke_layout_piece(&channel->layout, &past, g->w_predicted + channel->w_at, 0,
                      wire->lent->curves + (size_t)k * width);
  }
  const yoke_own_extrapolation *extrapolation = wire->wire.formulation->extrapolation;
  for (int k = 0; k < wire->n_channels; ++k) {
    graph_channel *channel = &g->channels[wire->first + k];
    channel->has_curve = extrapolation->curve(wire->wire.self, k, channel->layout.degree, g->H, GRAPH_SIGNAL_DEGREE + 1,
                                              wire->lent->curve_of, channel->curve, wire->scratch);
    if (!channel->has_curve) continue;
    double end = 0.0;
    for (int j = GRAPH_SIGNAL_DEGREE; j >= 0; --j) end += channel->curve[j];
    g->w_predicted[channel->w_at + channel->n_nodes - 1] = end;
  }
}

void graph_predict(yoke_graph *g) {
  if (yoke_predictor_is_motion(g->settings.predictor)) {
    predict_by_accelerations(g);
  } else {
    end_weights weights = {.n = 0};
    for (int k = 0; k < g->n_channels; ++k) {
      const graph_channel *channel = &g->channels[k];
      double              *w       = g->w_predicted + channel->w_at;
      if (g->settings.predictor == YOKE_PREDICTOR_LEAST_SQUARES)
        least_squares(g, channel, w);
      else if (channel->n_nodes == 1 && !channel->has_own_order)
        w[0] = extrapolate_end(g, channel, &weights);
      else
        graph_extrapolate(g, channel, w);
    }
  }
  for (int i = 0; i < g->n_wires; ++i) {
    if (g->wires[i].wire.formulation->extrapolation != NULL) shape_signals(g, &g->wires[i]);
  }
  memcpy(g->w, g->w_predicted, (size_t)g->n_w * sizeof *g->w);
}
