/* One pass of a graph: inputs from node values, all integrations of the macro step, conditions. */
#include "coupling/comparison.h"
#include "base/cancel.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- degree and layouts ---- */

/* Degree in force for a coupling: the highest, up to the order of the run, for which all its channels have the past they need.
 * ramp: the N + 1 known points count, so the corrector has degree min(k, N + 1) because k = 1 needs only u_N; ramp-low: one point less,
 * min(k, N). The explicit scheme extrapolates from what is known, so both give min(k, N). A history given at the start counts. */
static int degree_now(const yoke_graph *g, const graph_wire *wire) {
  const bool by_nodes = g->comparison != YOKE_COMPARISON_CONSISTENT && g->comparison != YOKE_COMPARISON_VALUES;
  const bool is_low   = g->settings.start == YOKE_START_RAMP_LOW || !g->scheme->needs_repeat ||
                      (g->is_controlled && by_nodes); /* estimates from the predictor need k + 1 values */
  const int available = is_low ? g->n_past - 1 : g->n_past;
  for (int degree = g->wanted; degree > 0; --degree) {
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

void graph_prepare(yoke_graph *g, double t_next) {
  g->t_next     = t_next;
  g->H          = t_next - g->past_t[0];
  g->degree     = g->wanted;
  g->use_curves = false;
  for (int i = 0; i < g->n_past; ++i) g->past_s[i] = (g->past_t[i] - g->past_t[0]) / g->H;
  for (int w = 0; w < g->n_wires; ++w) {
    const graph_wire *wire   = &g->wires[w];
    const bool        is_own = wire->wire.formulation->order != NULL;
    const int         degree = is_own ? 0 : degree_now(g, wire);
    if (!is_own && degree < g->degree) g->degree = degree;
    for (int k = 0; k < wire->n_channels; ++k) {
      graph_channel *channel = &g->channels[wire->first + k];
      const int      own     = channel->order < g->n_past - 1 ? channel->order : g->n_past - 1;
      channel->has_curve     = false;
      if (is_own && own < g->degree) g->degree = own;
      wire->wire.formulation->layout(wire->wire.self, k, is_own ? own : degree, &channel->layout);
    }
  }
}

/* ---- signals ---- */

/* Sorted ends of the pieces of all channels that enter subsystem i; the last is 1. */
static int collect_breaks(const yoke_graph *g, const graph_subsystem *s, bool is_curve, double *breaks) {
  int n       = 0;
  breaks[n++] = 1.0;
  for (int k = 0; k < s->subsystem->nu && !is_curve; ++k) {
    if (s->input_channel[k] < 0) continue;
    const yoke_layout *layout = &g->channels[s->input_channel[k]].layout;
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

/* c(s) about `from` rewritten in powers of (s - to), in place. */
static void shift_origin(double *c, int n, double from, double to) {
  for (int k = 0; k < n; ++k) {
    for (int j = n - 2; j >= k; --j) c[j] += (to - from) * c[j + 1];
  }
}

/* Coefficients of one channel on [start, end] in powers of (s - start). */
static void channel_piece(const yoke_graph *g, const graph_channel *channel, const double *w, double start, double *c) {
  memset(c, 0, (GRAPH_SIGNAL_DEGREE + 1) * sizeof *c);
  if (g->use_curves || channel->has_curve) {
    memcpy(c, channel->curve, sizeof channel->curve);
    shift_origin(c, GRAPH_SIGNAL_DEGREE + 1, 0.0, start);
    return;
  }
  int p = 0;
  while (p + 1 < yoke_layout_n_pieces(&channel->layout) && yoke_layout_break(&channel->layout, p) <= start) ++p;
  const yoke_past past = graph_past(g, channel);
  yoke_layout_piece(&channel->layout, &past, w, p, c);
  shift_origin(c, YOKE_LAYOUT_MAX_DEGREE + 1, p > 0 ? yoke_layout_break(&channel->layout, p - 1) : 0.0, start);
}

void graph_signal(const yoke_graph *g, int i, int column, double shift, double *t, double *c, yoke_signal *out) {
  const graph_subsystem *s = &g->subsystems[i];
  double                 breaks[GRAPH_MAX_BREAKS + 1];
  const bool             compares = column == GRAPH_COMPARISON;
  const int              n_pieces = collect_breaks(g, s, compares || g->use_curves, breaks);
  const int              width    = GRAPH_SIGNAL_DEGREE + 1;
  t[0]                            = g->past_t[0];
  for (int p = 0; p < n_pieces; ++p) {
    const double start = p > 0 ? breaks[p - 1] : 0.0;
    t[p + 1]           = p + 1 < n_pieces ? g->past_t[0] + breaks[p] * g->H : g->t_next;
    for (int k = 0; k < s->subsystem->nu; ++k) {
      double *place = c + ((size_t)p * (size_t)s->subsystem->nu + (size_t)k) * (size_t)width;
      if (s->input_channel[k] < 0) {
        memset(place, 0, (size_t)width * sizeof *place);
        continue;
      }
      const graph_channel *channel = &g->channels[s->input_channel[k]];
      double               w[YOKE_LAYOUT_MAX_NODES];
      memcpy(w, g->w + channel->w_at, (size_t)channel->n_nodes * sizeof *w);
      if (column >= 0 && s->column_channel[column] == s->input_channel[k]) w[s->column_node[column]] += shift;
      if (compares)
        memcpy(place, channel->comparison, sizeof channel->comparison);
      else
        channel_piece(g, channel, w, start, place);
      double scale = 1.0; /* powers of s to powers of time */
      for (int j = 1; j < width; ++j) place[j] *= (scale /= g->H);
    }
  }
  *out = (yoke_signal){.n = s->subsystem->nu, .n_pieces = n_pieces, .degree = GRAPH_SIGNAL_DEGREE, .t = t, .c = c};
}

/* ---- integrations ---- */

/* Size of a perturbation: what the last step corrected (Kraft), but no less than a share of the value (Lu), so that it stands out of
 * the solver's noise. Responses of positions are of order H^2, so the share is large; linear problems do not mind. */
static double perturbation(const graph_channel *channel) {
  const double share = channel->info.is_force ? 1e-2 : 1e-4;
  return fmax(channel->correction, share * fmax(fmax(fabs(channel->past[0]), channel->largest), 1.0));
}

static void run_task(void *user, int index, int worker) {
  yoke_graph      *g    = user;
  graph_task      *task = &g->tasks[index];
  graph_subsystem *s    = &g->subsystems[task->subsystem];
  const bool       main = task->column == -1, compares = task->column == GRAPH_COMPARISON;
  const bool       repeats = s->trial != NULL;
  void            *state   = !repeats ? s->accepted : main ? s->trial : compares ? s->compared : s->variant[worker];
  double          *y       = main ? s->y_new : compares ? s->y_compared : g->variant_y[worker];
  yoke_context    *ctx     = main ? s->ctx : g->worker_ctx[worker];
  double           times[GRAPH_MAX_BREAKS + 2];
  yoke_signal      signal;
  const double     size = main || compares ? 0.0 : perturbation(&g->channels[s->column_channel[task->column]]);
  yoke_context_clear(ctx);
  yoke_context_watch_with(ctx, g->pass_ctx, worker == 0);
  graph_signal(g, task->subsystem, task->column, size, times, g->signal_c[worker], &signal);
  if (repeats)
    yoke_subsystem_copy(s->subsystem, state, s->accepted);
  else
    s->is_ahead = true;
  yoke_status status = yoke_subsystem_step(s->subsystem, g->scratch[worker], state, &signal, g->past_t[0], g->H, ctx);
  if (status == YOKE_OK) status = yoke_subsystem_output(s->subsystem, g->scratch[worker], state, &signal, y);
  task->status = status;
  if (main) {
    s->status = status;
    return;
  }
  if (compares) { /* a comparison that fails tells of a large error */
    for (int k = 0; status != YOKE_OK && k < s->subsystem->ny; ++k) y[k] = (double)INFINITY;
    return;
  }
  double *column = s->dy + (size_t)task->column * (size_t)s->subsystem->ny;
  for (int k = 0; k < s->subsystem->ny; ++k) column[k] = status == YOKE_OK ? y[k] : (double)NAN;
}

/* Perturbed outputs become derivatives once the main outputs are known. */
static yoke_status finish_columns(yoke_graph *g) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    for (int c = 0; c < s->n_columns; ++c) {
      const double size   = perturbation(&g->channels[s->column_channel[c]]);
      double      *column = s->dy + (size_t)c * (size_t)s->subsystem->ny;
      for (int k = 0; k < s->subsystem->ny; ++k) {
        column[k] = (column[k] - s->y_new[k]) / size;
        if (!isfinite(column[k])) return YOKE_NON_FINITE;
      }
    }
  }
  return YOKE_OK;
}

/* The first subsystem that failed speaks for the pass. */
static yoke_status pass_status(const yoke_graph *g, yoke_context *ctx) {
  if (yoke_context_is_cancelled(ctx)) return YOKE_E_INTERRUPTED; /* perturbed integrations may have ended early */
  for (int i = 0; i < g->n_subsystems; ++i) {
    const graph_subsystem *s = &g->subsystems[i];
    if (s->status == YOKE_OK) continue;
    char name[200];
    snprintf(name, sizeof name, "subsystem '%.180s': ", s->subsystem->name);
    for (size_t k = 0; k < yoke_context_n_messages(s->ctx); ++k) {
      const char *said = yoke_context_message(s->ctx, k);
      yoke_fail(ctx, s->status, "%s%s", strncmp(said, name, strlen(name)) == 0 ? "" : name, said);
    }
    return s->status;
  }
  return YOKE_OK;
}

/* Of integrations beside the main ones only a lack of memory ends the pass; all else shows in what they give. */
static yoke_status check_memory(const yoke_graph *g, yoke_context *ctx) {
  for (int k = 0; k < g->n_tasks; ++k) {
    if (g->tasks[k].status == YOKE_E_MEMORY)
      return yoke_out_of_memory(ctx, "a step of subsystem '%s'", g->subsystems[g->tasks[k].subsystem].subsystem->name);
  }
  return YOKE_OK;
}

/* Outputs of the predicted inputs, for the error estimate. */
static void keep_predicted(yoke_graph *g) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    memcpy(s->y_predicted, s->y_new, (size_t)s->subsystem->ny * sizeof(double));
  }
}

yoke_status graph_pass_comparison(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  for (int i = 0; i < g->n_subsystems; ++i) g->tasks[i] = (graph_task){.subsystem = i, .column = GRAPH_COMPARISON};
  g->n_tasks = g->n_subsystems;
  statistics->integrations += g->n_tasks;
  yoke_exec_run(g->exec, g->n_tasks, run_task, g);
  return check_memory(g, ctx);
}

yoke_status graph_pass(yoke_graph *g, bool with_columns, yoke_step_statistics *statistics, yoke_context *ctx) {
  const bool analytic = g->settings.jacobian == YOKE_JACOBIAN_ANALYTIC;
  g->n_tasks          = 0;
  for (int i = 0; i < g->n_subsystems; ++i) g->tasks[g->n_tasks++] = (graph_task){.subsystem = i, .column = -1};
  for (int i = 0; with_columns && !analytic && i < g->n_subsystems; ++i) {
    for (int c = 0; c < g->subsystems[i].n_columns; ++c)
      g->tasks[g->n_tasks++] = (graph_task){.subsystem = i, .column = c};
  }
  const bool is_first = g->n_passes++ == 0;
  if (is_first && (g->comparison == YOKE_COMPARISON_HIGHER || g->comparison == YOKE_COMPARISON_END)) {
    g->is_compared = graph_compare_ahead(g);
    for (int i = 0; g->is_compared && i < g->n_subsystems; ++i)
      g->tasks[g->n_tasks++] = (graph_task){.subsystem = i, .column = GRAPH_COMPARISON};
  }
  statistics->integrations += g->n_tasks;
  yoke_exec_run(g->exec, g->n_tasks, run_task, g);
  YOKE_TRY(pass_status(g, ctx));
  YOKE_TRY(check_memory(g, ctx));
  if (is_first && g->is_controlled) keep_predicted(g);
  if (!with_columns) return YOKE_OK;
  return analytic ? graph_analytic_columns(g, ctx) : finish_columns(g);
}

yoke_status graph_pass_one(yoke_graph *g, int subsystem, yoke_step_statistics *statistics, yoke_context *ctx) {
  g->tasks[0] = (graph_task){.subsystem = subsystem, .column = -1};
  g->n_tasks  = 1;
  ++statistics->integrations;
  yoke_exec_run(g->exec, 1, run_task, g);
  for (int i = 0; i < g->n_subsystems; ++i) {
    if (i != subsystem) g->subsystems[i].status = YOKE_OK;
  }
  return pass_status(g, ctx);
}

/* ---- analytic columns ---- */

/* An input that grows by the basis function l(s) of a node moves a port whose acceleration responds by A to a unit input
 * (Kraft App. A "sap", Lu App. B):
 *   dv' = A l(1),  dv = A H int l,  dp = T A H^2 int (1 - s) l,  d(integral p) = A H^3 int (1 - s)^2 / 2 l. */
static void basis_moments(const yoke_graph *g, const graph_channel *channel, int node, double moment[3]) {
  double          w[YOKE_LAYOUT_MAX_NODES] = {0};
  const double    zeros[GRAPH_PAST]        = {0};
  const yoke_past past                     = {.n = g->n_past, .s = g->past_s, .u = zeros};
  w[node]                                  = 1.0;
  moment[0] = moment[1] = moment[2] = 0.0;
  for (int p = 0; p < yoke_layout_n_pieces(&channel->layout); ++p) {
    const double a = p > 0 ? yoke_layout_break(&channel->layout, p - 1) : 0.0,
                 b = yoke_layout_break(&channel->layout, p);
    double c[YOKE_LAYOUT_MAX_DEGREE + 1];
    yoke_layout_piece(&channel->layout, &past, w, p, c);
    /* Gauss-Legendre with five points is exact to degree nine: (1 - s)^2 times degree five is seven. */
    static const double node5[5]   = {0.046910077030668, 0.230765344947158, 0.5, 0.769234655052842, 0.953089922969332};
    static const double weight5[5] = {0.118463442528095, 0.239314335249683, 0.284444444444444, 0.239314335249683,
                                      0.118463442528095};
    for (int k = 0; k < 5; ++k) {
      const double x = node5[k] * (b - a), s = a + x, weight = weight5[k] * (b - a);
      double       l = 0.0;
      for (int j = YOKE_LAYOUT_MAX_DEGREE; j >= 0; --j) l = l * x + c[j];
      moment[0] += weight * l;
      moment[1] += weight * (1.0 - s) * l;
      moment[2] += weight * 0.5 * (1.0 - s) * (1.0 - s) * l;
    }
  }
}

/* Share of one port in a column, from the response A of its accelerations. */
static void port_column(yoke_body_kind kind, const double *y, const double *A, bool is_end, double H,
                        const double moment[3], double *column) {
  const int n_p = yoke_port_n_p(kind), n_v = yoke_port_n_v(kind), n_i = yoke_port_n_integrals(kind);
  double    T[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V];
  yoke_port_tangent(kind, y, T);
  for (int r = 0; r < n_p; ++r) {
    for (int k = 0; k < n_v; ++k) column[r] += T[r * n_v + k] * A[k] * H * H * moment[1];
  }
  for (int k = 0; k < n_v; ++k) {
    column[n_p + k] += A[k] * H * moment[0];
    if (is_end) column[n_p + n_v + k] += A[k];
  }
  for (int k = 0; k < n_i && k < n_v; ++k) column[n_p + 2 * n_v + k] += A[k] * H * H * H * moment[2];
}

yoke_status graph_analytic_columns(yoke_graph *g, yoke_context *ctx) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    double           times[GRAPH_MAX_BREAKS + 2];
    yoke_signal      signal;
    graph_signal(g, i, -1, 0.0, times, g->signal_c[0], &signal);
    const yoke_status status = s->subsystem->ops->compliance(s->subsystem, g->scratch[0], s->trial, &signal, s->da_du);
    if (status != YOKE_OK)
      return yoke_fail(ctx, status, "subsystem '%s': no response of the accelerations", s->subsystem->name);
    memset(s->dy, 0, (size_t)s->n_columns * (size_t)s->subsystem->ny * sizeof(double));
    for (int c = 0; c < s->n_columns; ++c) {
      const graph_channel *channel = &g->channels[s->column_channel[c]];
      double               moment[3];
      basis_moments(g, channel, s->column_node[c], moment);
      for (int input = 0; input < s->subsystem->nu; ++input) {
        if (s->input_channel[input] != s->column_channel[c]) continue;
        const double *response = s->da_du + (size_t)input * (size_t)s->subsystem->ny;
        double       *column   = s->dy + (size_t)c * (size_t)s->subsystem->ny;
        for (int w = 0; w < g->n_wires; ++w) { /* every port of this subsystem once */
          for (int side = 0; side < 2; ++side) {
            const graph_wire *wire = &g->wires[w];
            if (wire->wire.subsystem[side] != i) continue;
            const int at = wire->wire.y_at[side], n_p = yoke_port_n_p(wire->wire.kind[side]),
                      n_v = yoke_port_n_v(wire->wire.kind[side]);
            port_column(wire->wire.kind[side], s->y_new + at, response + at + n_p + n_v,
                        s->column_node[c] == channel->n_nodes - 1, g->H, moment, column + at);
            if (s->column_node[c] != channel->n_nodes - 1) continue;
            for (int k = yoke_port_n_y(wire->wire.kind[side]); k < wire->n_y[side]; ++k) /* extras: direct response */
              column[at + k] += response[at + k];
          }
        }
      }
    }
  }
  return YOKE_OK;
}

/* ---- conditions ---- */

/* End value, end derivative and integral of a polynomial in s. */
static void curve_view(const double *c, double H, double *u, double *u_dot, double *u_integral) {
  *u = *u_dot = *u_integral = 0.0;
  for (int j = GRAPH_SIGNAL_DEGREE; j >= 0; --j) {
    *u += c[j];
    *u_dot += (double)j * c[j] / H;
    *u_integral += c[j] / (double)(j + 1) * H;
  }
}

void graph_view_set(const yoke_graph *g, const graph_wire *wire, graph_view *out) {
  for (int k = 0; k < wire->n_channels; ++k) {
    const graph_channel *channel = &g->channels[wire->first + k];
    const double        *w       = g->w + channel->w_at;
    const yoke_past      past    = graph_past(g, channel);
    if (g->is_viewing_comparison) {
      curve_view(channel->comparison, g->H, &out->u[k], &out->u_dot[k], &out->u_integral[k]);
      continue;
    }
    out->u[k]          = w[channel->n_nodes - 1];
    out->u_dot[k]      = yoke_layout_end_derivative(&channel->layout, &past, w, NULL) / g->H;
    out->u_integral[k] = yoke_layout_integral(&channel->layout, &past, w, NULL) * g->H;
  }
  out->view =
      (yoke_coupling_view){.t = g->t_next, .H = g->H, .u = out->u, .u_dot = out->u_dot, .u_integral = out->u_integral};
  for (int side = 0; side < 2; ++side) {
    const graph_subsystem *s = &g->subsystems[wire->wire.subsystem[side]];
    out->view.y[side]        = graph_port(wire, side, g->is_viewing_comparison ? s->y_compared : s->y_new);
    out->view.y_old[side]    = graph_port(wire, side, s->y);
    out->view.n_y[side]      = wire->n_y[side];
  }
}

double graph_residual(yoke_graph *g, int set) {
  double largest = 0.0;
  for (int i = 0; i < g->n_wires; ++i) {
    const graph_wire *wire = &g->wires[i];
    graph_view        view;
    graph_view_set(g, wire, &view);
    view.view.set = graph_set(wire, set);
    wire->wire.formulation->residual(wire->wire.self, &view.view, g->c + wire->c_at);
    for (int r = 0; r < wire->n_c; ++r) {
      const double size = fabs(g->c[wire->c_at + r]);
      if (!(size <= largest)) largest = size;
    }
  }
  return largest;
}
