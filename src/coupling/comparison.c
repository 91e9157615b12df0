#include "coupling/comparison.h"
#include "coupling/correction.h"
#include "coupling/graph_feeds.h"

#include "base/memory.h"
#include <math.h>
#include <string.h>

enum { MAX_POINTS = GRAPH_SIGNAL_DEGREE + 1 };
static const double share_of_prescribed = 0.1; /* of the errors of a motion that every step begins anew */

/* Polynomial through (1, end) and the n newest values of the past. */
static void through_end(const yoke_graph *g, double end, int n, const double *past, double c[MAX_POINTS]) {
  double s[MAX_POINTS], u[MAX_POINTS];
  s[0] = 1.0;
  u[0] = end;
  for (int i = 0; i < n; ++i) {
    s[i + 1] = g->past_s[i];
    u[i + 1] = past[i];
  }
  graph_interpolate(n + 1, s, u, c);
}

bool graph_compare_ahead(yoke_graph *g) {
  const int n = g->degree + 2; /* values of the past */
  if (yoke_predictor_is_motion(g->settings.predictor)) return graph_predict_better(g);
  if (g->block->n_past < n || n > MAX_POINTS) return false;
  for (int k = 0; k < g->n_channels; ++k) {
    graph_channel *channel = &g->channels[k];
    if (g->comparison == YOKE_COMPARISON_HIGHER) {
      graph_interpolate(n, g->past_s, channel->kept->past, channel->comparison);
      continue;
    }
    double weight[MAX_POINTS], end = 0.0;
    yoke_lagrange_weights(n, g->past_s, 1.0, weight);
    for (int i = 0; i < n; ++i) end += weight[i] * channel->kept->past[i];
    through_end(g, end, g->degree, channel->kept->past, channel->comparison);
  }
  return true;
}

static yoke_error_rule rule_of(const graph_wire *wire, int degree) {
  yoke_error_rule rule = {.end_value = true, .comparison_degree = degree + 1, .order = {degree + 3, degree + 2}};
  if (wire->wire.formulation->error != NULL) wire->wire.formulation->error->rule(wire->wire.self, degree, &rule);
  return rule;
}

int graph_comparison_degree(const yoke_graph *g) {
  const int inputs = yoke_graph_input_order(g, g->degree) - 1; /* degree of extrapolation that is as good */
  int       degree = 1;
  for (int i = 0; i < g->n_wires; ++i) {
    const int asked = rule_of(&g->wires[i], inputs).comparison_degree;
    if (asked > degree) degree = asked;
  }
  if (degree > g->block->n_past) degree = g->block->n_past;
  return degree < GRAPH_SIGNAL_DEGREE ? degree : GRAPH_SIGNAL_DEGREE;
}

/* Has the step taken all values of the past that there are for a channel? Then the polynomial of the comparison is its own. */
static bool is_own(const graph_channel *channel, int degree) {
  return channel->layout.kind == YOKE_LAYOUT_END && channel->layout.degree >= degree;
}

bool yoke_graph_takes_whole_past(const yoke_graph *g) {
  const int degree = graph_comparison_degree(g);
  for (int k = 0; k < g->n_channels; ++k) {
    if (is_own(&g->channels[k], degree)) return true;
  }
  return false;
}

static bool has_matrix(const yoke_graph *g) {
  return g->broyden != NULL ? g->made.is_made : g->factor[0] != NULL;
}

/* Copies of poses have a rule for their mean that is not exact. Those of the comparison go through the poses themselves: what the rule would change
 * is its error. (Conditions and unknowns of a coupling are in the same places.) */
static void spare_copies(yoke_graph *g) {
  for (int k = 0; k < g->n_channels; ++k) {
    const graph_channel *channel = &g->channels[k];
    if (channel->info.is_force || channel->n_nodes < 2 || !graph_has_instant(&g->wires[channel->wire])) continue;
    for (int j = 0; j < channel->n_nodes; ++j) g->c[channel->w_at + j] = 0.0;
  }
}

/* The exact motion meets the conditions, the comparison misses them by as much as its polynomials miss the exact inputs. To first
 * order it meets them with other nodes:  y^ += (dy/dw) delta,  (dc/dw) delta = -c(y^).  What is left of its error is what the
 * conditions do not see, as in the step itself. */
static yoke_status meet_conditions(yoke_graph *g, yoke_context *ctx) {
  if (!has_matrix(g)) return YOKE_OK; /* waveform: the end values settle by themselves */
  g->is_viewing_comparison = true;
  graph_residual(g, 0);
  spare_copies(g);
  const yoke_status status = graph_correct(g, ctx);
  g->is_viewing_comparison = false;
  if (status != YOKE_OK) return status;
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s  = &g->subsystems[i];
    const int        ny = s->subsystem->ny;
    for (int c = 0; c < s->n_columns; ++c) {
      const double *column = s->dy + (size_t)c * (size_t)ny;
      for (int k = 0; k < ny; ++k) s->y_compared[k] += column[k] * g->delta[s->column[c]];
    }
  }
  return YOKE_OK;
}

/* Conditions of a joint see the first two moments of its multipliers over the step, int u and int (1 - s) u, which those of the step have
 * right: the comparison takes them over by a s + b s^2. What is left for the matrix to meet is then as small as the error itself, so that
 * the matrix need not be exact. */
static void take_moments(const yoke_graph *g, const graph_channel *channel, double c[MAX_POINTS]) {
  static const double node[]   = {0.06943184420297371, 0.33000947820757187, 0.6699905217924281, 0.9305681557970263};
  static const double weight[] = {0.17392742256872692, 0.32607257743127307, 0.32607257743127307, 0.17392742256872692};
  double              start = 0.0, mean = 0.0, moment = 0.0;
  for (int p = 0; p < yoke_layout_n_pieces(&channel->layout); ++p) {
    const double end = yoke_layout_break(&channel->layout, p);
    for (int i = 0; i < 4; ++i) { /* exact to degree seven */
      const double s = start + node[i] * (end - start);
      double       u = 0.0;
      for (int j = GRAPH_SIGNAL_DEGREE; j >= 0; --j) u = u * s + c[j];
      const double off = (end - start) * weight[i] * (graph_channel_at(g, channel, s) - u);
      mean += off;
      moment += (1.0 - s) * off;
    }
    start = end;
  }
  c[1] += 24.0 * moment - 6.0 * mean;
  c[2] += 12.0 * mean - 36.0 * moment;
}

static bool is_eased(const yoke_graph *g) {
  for (int i = 0; i < g->n_wires; ++i) {
    if (rule_of(&g->wires[i], 1).is_eased) return true;
  }
  return false;
}

/* The comparison integration through consistent values, or where nobody looks for them those of the history. `differs`: where the
 * polynomials were those of the step they take one value less. */
static yoke_status compare(yoke_graph *g, bool differs, yoke_step_statistics *statistics, yoke_context *ctx) {
  const int degree = graph_comparison_degree(g);
  for (int k = 0; k < g->n_channels; ++k) {
    graph_channel *channel = &g->channels[k];
    const int      n       = differs && is_own(channel, degree) ? degree - 1 : degree;
    if (g->has_consistent)
      through_end(g, channel->consistent_new, n, channel->kept->consistent, channel->comparison);
    else
      through_end(g, channel->value, n, channel->kept->past, channel->comparison);
    if (channel->goes_on_consistent && g->has_consistent && graph_consistent_is_unknown(g, k))
      take_moments(g, channel, channel->comparison);
  }
  g->is_compared = true;
  YOKE_TRY(graph_pass_comparison(g, statistics, ctx));
  YOKE_TRY(meet_conditions(g, ctx));
  if (g->has_consistent && is_eased(g)) graph_consistent_ease(g);
  return YOKE_OK;
}

yoke_status graph_compare_behind(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  YOKE_TRY(graph_consistent_find(g, ctx));
  g->has_consistent = true;
  return g->comparison == YOKE_COMPARISON_VALUES ? YOKE_OK : compare(g, false, statistics, ctx);
}

/* ---- what step control asks (trial.h) ---- */

/* States that are dear to change hands keep one of their own. */
static bool has_own_state(const yoke_graph *g, const yoke_subsystem *subsystem) {
  return graph_has_trial(g, subsystem) && subsystem->ops->repeat->clear == NULL;
}

/* States and consistent values, where there are none yet. */
static yoke_status take_comparison(yoke_graph *g, yoke_context *ctx) {
  YOKE_TRY(graph_take_pool(g, ctx));
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    if (s->y_compared != NULL) continue;
    s->y_compared = yoke_arena_take(&g->arena, (size_t)s->subsystem->ny, sizeof(double));
    if (has_own_state(g, s->subsystem)) s->compared = graph_take_state(g, s->subsystem);
    if (g->arena.has_failed || g->rooms.has_failed)
      return yoke_out_of_memory(ctx, "the states of subsystem '%s'", s->subsystem->name);
  }
  if (g->consistent == NULL) YOKE_TRY(graph_consistent_create(g, ctx));
  return graph_consistent_prepare(g, ctx);
}

static bool prescribes(const yoke_graph *g, const graph_wire *wire, int side) {
  for (int k = wire->first; k < wire->first + wire->n_channels; ++k) {
    if (g->channels[k].info.enters[side] == YOKE_ENTRY_PRESCRIBED) return true;
  }
  return false;
}

/* Sides whose motion is given by extrapolation, so that the next step begins without its error. A spring beside such a joint shows the same
 * motion: it counts for all couplings of the two subsystems. */
static void find_prescribed(yoke_graph *g) {
  for (int i = 0; i < 2 * g->n_wires; ++i) {
    const graph_wire *joint = &g->wires[i / 2];
    const int         side = i % 2, *ends = joint->wire.subsystem;
    if (!prescribes(g, joint, side)) continue;
    for (int k = 0; k < 2 * g->n_wires; ++k) {
      const int *others = g->wires[k / 2].wire.subsystem, end = k % 2;
      if (others[end] == ends[side] && others[1 - end] == ends[1 - side]) g->wires[k / 2].is_prescribed[end] = true;
    }
  }
}

/* Corrections are repeated until they are small, by any matrix that is about right. What else reads it are comparisons, which meet conditions of
 * multipliers with inner nodes by little (take_moments). */
static double good_enough(const yoke_graph *g) {
  static const double rough = 1e-3;
  if (!g->scheme->traits.corrects_to_tolerance) return 0.0;
  for (int k = 0; k < g->n_channels; ++k) {
    const graph_channel *channel = &g->channels[k];
    const graph_wire    *wire    = &g->wires[channel->wire];
    const bool           meets   = graph_has_instant(wire) && (!channel->info.is_force || channel->goes_on_consistent);
    if (!meets && !rule_of(wire, 1).end_value) return 0.0;
  }
  return rough;
}

yoke_status yoke_graph_control(yoke_graph *g, bool compares, yoke_context *ctx) {
  g->is_controlled = g->counts_past_low = g->keeps_predicted = g->renews_matrix = g->ignores_jumps = true;
  for (int k = 0; compares && k < g->n_channels; ++k) {
    graph_channel *channel      = &g->channels[k];
    channel->goes_on_consistent = graph_has_instant(&g->wires[channel->wire]) && channel->info.is_force &&
                                  channel->layout.kind == YOKE_LAYOUT_HALF;
  }
  g->response_tolerance = good_enough(g);
  /* One correction of force elements leaves such a part of what the predictor was off by, which is about the estimated error of the step. */
  g->stiff_tolerance = g->has_joints ? g->response_tolerance : 1e-2;
  g->channel_points  = GRAPH_PAST; /* estimates look back further than the step */
  find_prescribed(g);
  return compares ? take_comparison(g, ctx) : YOKE_OK;
}

yoke_status yoke_graph_monitor(yoke_graph *g, bool compares, yoke_context *ctx) {
  g->keeps_predicted = g->keeps_predicted || !compares;
  g->channel_points  = GRAPH_PAST;
  find_prescribed(g);
  return compares ? take_comparison(g, ctx) : YOKE_OK;
}

/* Are there values that do not follow from the outputs alone? */
static bool has_multipliers(const yoke_graph *g) {
  for (int i = 0; i < g->n_wires; ++i) {
    if (graph_has_instant(&g->wires[i])) return true;
  }
  return false;
}

yoke_status yoke_graph_look(yoke_graph *g) {
  if (g->has_consistent || !has_multipliers(g)) return YOKE_OK;
  const yoke_status status = graph_consistent_find(g, NULL);
  if (status == YOKE_E_MEMORY) return status;
  for (int k = 0; k < g->n_channels && status != YOKE_OK; ++k) g->channels[k].consistent_new = g->channels[k].value;
  g->has_consistent = true;
  return YOKE_OK;
}

yoke_status yoke_graph_compare(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  if (g->is_compared) return YOKE_OK;
  return compare(g, true, statistics, ctx);
}

bool yoke_graph_forgets_start(const yoke_graph *g) {
  bool forgets = false;
  for (int k = 0; k < g->n_channels; ++k) {
    const graph_channel *channel = &g->channels[k];
    if (!channel->info.is_force || !graph_has_instant(&g->wires[channel->wire])) continue;
    if (!channel->goes_on_consistent) return false;
    forgets = true;
  }
  return forgets;
}

bool yoke_graph_is_held_by_joints(const yoke_graph *g) {
  if (!g->scheme->traits.corrects_to_tolerance) return false;
  for (int i = 0; i < g->n_wires; ++i) {
    if (!graph_has_instant(&g->wires[i])) return false;
  }
  return yoke_graph_forgets_start(g);
}

void yoke_graph_set_degree(yoke_graph *g, int degree) {
  g->wanted = degree < g->settings.order ? degree : g->settings.order;
}

void yoke_graph_set_comparison(yoke_graph *g, yoke_comparison_kind comparison) {
  g->comparison = comparison;
}

bool yoke_graph_can_repeat(const yoke_graph *g, const char **name) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    if (g->subsystems[i].subsystem->ops->repeat != NULL) continue;
    *name = g->subsystems[i].subsystem->name;
    return false;
  }
  return true;
}

bool yoke_graph_shows_motion(const yoke_graph *g) {
  for (int i = 0; i < g->n_wires; ++i) {
    if (!g->wires[i].wire.formulation->for_signals) return true;
  }
  return g->n_felt > 0 || g->n_wires == 0;
}

bool yoke_graph_has_end_values(const yoke_graph *g, const char **name) {
  for (int i = 0; i < g->n_wires; ++i) {
    if (rule_of(&g->wires[i], 1).end_value) continue;
    *name = g->wires[i].wire.name;
    return false;
  }
  return true;
}

bool yoke_graph_can_compare(const yoke_graph *g, const char **name) {
  for (int i = 0; i < g->n_wires; ++i) {
    const graph_wire *wire = &g->wires[i];
    if (!graph_has_instant(wire) && wire->wire.formulation->update == NULL) {
      *name = wire->wire.name;
      return false;
    }
  }
  return true;
}

/* Accelerations of degree d are off by O(H^(d+1)), the velocities that they give by O(H^(d+2)): so are forces of dampers and copies
 * of velocities. The relaxed end value has a share of the extrapolated one. Signals are extrapolated. */
int yoke_graph_input_order(const yoke_graph *g, int degree) {
  const int by_motion = graph_acceleration_degree(g, degree) + 2;
  switch (g->settings.predictor) {
  case YOKE_PREDICTOR_ACCELERATION: return g->has_signals && by_motion > degree + 1 ? degree + 1 : by_motion;
  case YOKE_PREDICTOR_ACCELERATION_RELAXED: return by_motion < degree + 1 ? by_motion : degree + 1;
  case YOKE_PREDICTOR_EXTRAPOLATION:
  case YOKE_PREDICTOR_LEAST_SQUARES: break;
  }
  return degree + 1;
}

void yoke_graph_local_order(const yoke_graph *g, int degree, int order[2]) {
  const int inputs = yoke_graph_input_order(g, degree) - 1; /* degree of extrapolation that is as good */
  order[0]         = inputs + 3;
  order[1]         = inputs + 2;
  for (int i = 0; i < g->n_wires; ++i) {
    const yoke_error_rule rule = rule_of(&g->wires[i], inputs);
    for (int k = 0; k < 2; ++k) {
      if (i == 0 || rule.order[k] < order[k]) order[k] = rule.order[k];
    }
  }
}

void yoke_graph_trial(const yoke_graph *g, yoke_trial *out) {
  *out = (yoke_trial){.degree      = g->degree,
                      .t           = g->block->past_t[0],
                      .H           = g->H,
                      .n_past      = g->block->n_past,
                      .past_s      = g->past_s,
                      .is_compared = g->is_compared};
}

int yoke_graph_n_ports(const yoke_graph *g) {
  return 2 * g->n_wires + g->n_felt;
}

void yoke_graph_port_trial(const yoke_graph *g, int port, yoke_port_trial *out) {
  const graph_felt      *felt = port < 2 * g->n_wires ? NULL : &g->felt[port - 2 * g->n_wires];
  const int              i = felt != NULL ? felt->wire : port / 2, side = felt != NULL ? 1 : port % 2;
  const graph_wire      *wire  = &g->wires[i];
  const yoke_port_shape *shape = felt != NULL ? felt->shown.shape : wire->wire.shape[side];
  const graph_subsystem *s     = &g->subsystems[wire->wire.subsystem[side]];
  const int              at    = felt != NULL ? s->subsystem->ports[felt->shown.port].y_at : wire->y_at[side];
  *out                         = (yoke_port_trial){.wire        = i,
                                                   .n_p         = shape->n_p,
                                                   .n_v         = shape->n_v,
                                                   .y           = s->y_new + at,
                                                   .y_predicted = s->y_predicted + at,
                                                   .y_accepted  = s->y + at,
                                                   .shape       = shape,
                                                   .is_felt     = felt != NULL,
                                                   .subsystem   = wire->wire.subsystem[side],
                                                   .can_repeat  = s->trial != NULL,
                                                   .share       = felt == NULL && wire->is_prescribed[side] ? share_of_prescribed : 1.0};
  if (s->y_compared != NULL) out->y_compared = s->y_compared + at;
  if (felt != NULL || !graph_overlaps(wire)) return;
  if (graph_has_copy(wire, side)) {
    out->has_copy   = true;
    out->y_compared = graph_copy(g, wire, side, 0);
  } else {
    out->n_p = out->n_v = 0; /* copies themselves, and what is farther away: nothing to judge */
  }
}

enum { MOST_COPY_ORDER = 10 }; /* errors of solvers, which do not fall with H, would keep steps short */

int yoke_graph_copy_order(const yoke_graph *g) {
  if (g->n_overlaps == 0) return 0;
  return g->narrowest + 2 < MOST_COPY_ORDER ? g->narrowest + 2 : MOST_COPY_ORDER;
}

bool yoke_graph_is_all_overlap(const yoke_graph *g) {
  return g->n_overlaps > 0 && g->n_overlaps == g->n_wires;
}

int yoke_graph_n_subsystems(const yoke_graph *g) {
  return g->n_subsystems;
}

bool yoke_graph_feels_multipliers(const yoke_graph *g, int subsystem) {
  for (int i = 0; i < g->n_wires; ++i) {
    const int *ends = g->wires[i].wire.subsystem;
    if ((ends[0] == subsystem || ends[1] == subsystem) && graph_has_instant(&g->wires[i])) return true;
  }
  return false;
}

const char *yoke_graph_subsystem_name(const yoke_graph *g, int subsystem) {
  return g->subsystems[subsystem].subsystem->name;
}

int yoke_graph_n_all_channels(const yoke_graph *g) {
  return g->n_channels;
}

/* Extrapolation through the n newest of these values to the end of the step. */
static double value_ahead(const yoke_graph *g, const double *past, int n) {
  double weight[GRAPH_PAST], value = 0.0;
  if (n > g->block->n_past) n = g->block->n_past;
  yoke_lagrange_weights(n, g->past_s, 1.0, weight);
  for (int i = 0; i < n; ++i) value += weight[i] * past[i];
  return value;
}

/* How far multipliers are from polynomials: what extrapolation with their degree k misses, in what it misses with k - 1. About 1, the most that
 * is said, where they have a kink or a jump inside the step. */
static double unevenness(const yoke_graph *g, const graph_wire *wire, int k) {
  double low = 0.0, high = 0.0;
  for (int c = wire->first; c < wire->first + wire->n_channels; ++c) {
    const graph_channel *channel = &g->channels[c];
    if (!channel->goes_on_consistent) continue;
    low += fabs(value_ahead(g, channel->kept->consistent, k) - channel->consistent_new) / channel->natural;
    high += fabs(value_ahead(g, channel->kept->consistent, k + 1) - channel->consistent_new) / channel->natural;
  }
  return high < low ? high / low : 1.0;
}

/* Largest |int_0^s e| of the error e of a multiplier through its nodes and the past, in units of the error of its value extrapolated to the end:
 * the product of the distances from all nodes, over that of the distances of the end from the k + 1 points of the past. */
static double error_inside(const yoke_graph *g, const graph_channel *channel) {
  enum { PARTS = 16 };
  const int n_past = yoke_layout_n_past(&channel->layout), k = channel->layout.degree;
  double    whole = 1.0, sum = 0.0, largest = 0.0;
  for (int i = 0; i <= k; ++i) whole *= 1.0 - g->past_s[i];
  for (int part = 0; part < PARTS; ++part) {
    const double s       = (part + 0.5) / PARTS;
    double       product = 1.0;
    for (int j = 0; j < channel->n_nodes; ++j) product *= s - yoke_layout_node(&channel->layout, j);
    for (int i = 0; i < n_past; ++i) product *= s - g->past_s[i];
    sum += product / PARTS;
    largest = fmax(largest, fabs(sum));
  }
  return largest / whole;
}

/* What counts inside the step of an error of extrapolation: with nodes in its middle little, but all that an end node leaves where the multiplier
 * is no polynomial. */
static double share_inside(const yoke_graph *g, const graph_channel *channel, double end_share) {
  const int k = channel->layout.degree;
  if (!channel->goes_on_consistent || k < 2 || g->block->n_past < k + 1) return end_share;
  const double uneven = unevenness(g, &g->wires[channel->wire], k);
  return fmin(error_inside(g, channel) + pow(uneven, 4.0) * end_share, end_share);
}

void yoke_graph_channel_trial(const yoke_graph *g, int k, yoke_channel_trial *out) {
  const graph_channel *channel       = &g->channels[k];
  const bool           is_consistent = g->has_consistent;

  *out = (yoke_channel_trial){.is_force      = channel->info.is_force,
                              .is_signal     = yoke_channel_is_signal(&channel->info),
                              .is_felt       = g->wires[channel->wire].wire.is_felt,
                              .is_edge       = graph_overlaps(&g->wires[channel->wire]),
                              .is_multiplier = is_consistent && graph_consistent_is_unknown(g, k),
                              .size          = channel->kept->sizes.usual,
                              .natural       = channel->natural,
                              .value         = channel->value,
                              .predicted     = g->w_predicted[channel->w_at + channel->n_nodes - 1],
                              .past          = channel->kept->past,
                              .smooth        = is_consistent ? channel->consistent_new : channel->value,
                              .smooth_past   = is_consistent ? channel->kept->consistent : channel->kept->past,
                              .wire          = channel->wire};
  for (int j = GRAPH_SIGNAL_DEGREE; g->is_compared && j >= 0; --j) out->compared += channel->comparison[j];
  out->smooth_predicted = value_ahead(g, out->smooth_past, g->degree + 1);
}

const char *yoke_graph_wire_name(const yoke_graph *g, int wire) {
  return g->wires[wire].wire.name;
}

void yoke_graph_jumps(const yoke_graph *g, const double *size, double *jumps) {
  double    weight[GRAPH_PAST];
  const int n = g->degree + 1 < g->block->n_past ? g->degree + 1 : g->block->n_past;
  if (g->has_consistent) yoke_lagrange_weights(n, g->past_s, 1.0, weight);
  memset(jumps, 0, (size_t)g->n_subsystems * sizeof *jumps);
  for (int k = 0; k < g->n_channels; ++k) {
    const graph_channel *channel = &g->channels[k];
    const int           *ends    = g->wires[channel->wire].wire.subsystem;
    double               jump    = g->has_consistent ? -channel->consistent_new
                                                     : g->w_predicted[channel->w_at + channel->n_nodes - 1] - channel->value;
    for (int i = 0; g->has_consistent && i < n; ++i) jump += weight[i] * channel->kept->consistent[i];
    const double share = fabs(jump) / size[k];
    for (int side = 0; side < 2; ++side) {
      if (channel->enters[side]) jumps[ends[side]] = fmax(jumps[ends[side]], share);
    }
  }
}

/* ---- breaks ---- */

static const double breaking =
    10.0; /* times the largest in the history: a smooth signal of any frequency stays below */

/* Weights of u[s_0 ... s_(n-1)], the divided difference. */
static void difference_weights(int n, const double *s, double *weight) {
  for (int i = 0; i < n; ++i) {
    weight[i] = 1.0;
    for (int j = 0; j < n; ++j) weight[i] /= j != i ? s[i] - s[j] : 1.0;
  }
}

/* Sum over the channels of a wire, each in its own size, of |u[...]| over n points of the past from `from` on; -1: the new point and the newest
 * n - 1. */
static double difference_at(const yoke_graph *g, const graph_wire *wire, int n, int from) {
  double s[GRAPH_PAST], weight[GRAPH_PAST], sum = 0.0;
  for (int i = 0; i < n; ++i) s[i] = from + i < 0 ? 1.0 : g->past_s[from + i];
  difference_weights(n, s, weight);
  for (int k = wire->first; k < wire->first + wire->n_channels; ++k) {
    const graph_channel *channel = &g->channels[k];
    const double        *past    = g->has_consistent ? channel->kept->consistent : channel->kept->past;
    const double         value   = g->has_consistent ? channel->consistent_new : channel->value;
    const double         size    = fmax(channel->kept->sizes.usual, fabs(value));
    double               u       = 0.0;
    for (int i = 0; i < n; ++i) u += weight[i] * (from + i < 0 ? value : past[from + i]);
    if (size > 0.0) sum += fabs(u) / size;
  }
  return sum;
}

static bool breaks(const yoke_graph *g, const graph_wire *w) {
  const int n = g->degree + 2, n_past = g->block->n_past;
  if (n_past < n || n > GRAPH_PAST) return false;
  const double now = difference_at(g, w, n, -1);
  for (int from = 0; from + n <= n_past; ++from) {
    if (!(now > breaking * difference_at(g, w, n, from))) return false;
  }
  return true;
}

/* What extrapolation of degree k misses at the end of the step: u[...] over the new point and k + 1 of the past times the distances. */
static double missed(const yoke_graph *g, const graph_wire *w, int k) {
  double way = 1.0;
  for (int i = 0; i <= k; ++i) way *= 1.0 - g->past_s[i];
  return difference_at(g, w, k + 2, -1) * way;
}

double yoke_graph_roughness(const yoke_graph *g, int wire) {
  const graph_wire *w = &g->wires[wire];
  const int         k = g->degree;
  if (graph_has_instant(w)) return 0.0;
  if (breaks(g, w)) return 1.0;
  if (k < 2 || g->block->n_past < k + 1) return 0.0;
  const double high = missed(g, w, k), low = missed(g, w, k - 1), lower = missed(g, w, k - 2);
  const double r = fmin(high / low, sqrt(high / lower)); /* an oscillation has low = 0 at times, but not lower too */
  return r < 1.0 ? pow(r, 8.0) : high > 0.0 ? fmin(fmin(low, lower) / high, 1.0) : 0.0;
}

/* ---- inner errors ---- */

enum { INNER_POINTS = 8 };

/* int_0^s (u^ - u) of a channel over the step, H left out, at s = j / INNER_POINTS, j = 1 ...; u^ = c in powers of s; trapezoidal rule. */
static void integrate_difference(const yoke_graph *g, const graph_channel *channel, const double c[MAX_POINTS],
                                 double sums[INNER_POINTS]) {
  double sum = 0.0, before = c[0] - graph_channel_at(g, channel, 0.0);
  for (int j = 0; j < INNER_POINTS; ++j) {
    const double s   = (double)(j + 1) / INNER_POINTS;
    double       now = 0.0;
    for (int i = GRAPH_SIGNAL_DEGREE; i >= 0; --i) now = now * s + c[i];
    now -= graph_channel_at(g, channel, s);
    sum += 0.5 * (before + now) / INNER_POINTS;
    before  = now;
    sums[j] = sum;
  }
}

/* Multipliers with inner nodes hold g = 0 and g' = 0 at the end, whatever they do in between: what they are off by leaves neither a velocity nor a
 * distance there,  int_0^1 (u^ - u) = int_0^1 (1 - s)(u^ - u) = 0.  The curve through few consistent values does not know this. It meets both
 * by the least polynomial that keeps its values at the ends,  u^ - a s(1 - s) - b s(1 - s)(1 - 2s). */
static void meet_moments(double sums[INNER_POINTS]) {
  double first = 0.0; /* int_0^1 of the sums: trapezoidal rule, the first is 0 */
  for (int j = 0; j < INNER_POINTS; ++j) first += (j + 1 < INNER_POINTS ? 1.0 : 0.5) * sums[j] / INNER_POINTS;
  const double a = 6.0 * sums[INNER_POINTS - 1], b = 60.0 * (first - a / 12.0);
  for (int j = 0; j < INNER_POINTS; ++j) {
    const double s = (double)(j + 1) / INNER_POINTS;
    sums[j] -= a * s * s * (0.5 - s / 3.0) + b * 0.5 * s * s * (1.0 - s) * (1.0 - s);
  }
}

/* Inner errors of a port's velocities with polynomials of this degree through consistent values. */
static void inner_errors_at(const yoke_graph *g, int port, int degree, double inner[YOKE_PORT_MAX_V]) {
  const graph_wire      *wire  = &g->wires[port / 2];
  const yoke_port_shape *shape = wire->wire.shape[port % 2];
  const graph_subsystem *s     = &g->subsystems[wire->wire.subsystem[port % 2]];
  const int              ny = s->subsystem->ny, at = wire->y_at[port % 2] + yoke_shape_at_a(shape);
  double                 off[YOKE_PORT_MAX_V][INNER_POINTS] = {{0.0}};
  for (int input = 0; input < s->subsystem->nu; ++input) {
    for (int f = s->feed_at[input]; f < s->feed_at[input + 1]; ++f) {
      const graph_channel *channel = &g->channels[s->feeds[f].channel];
      double               c[MAX_POINTS], sums[INNER_POINTS];
      if (!graph_consistent_is_unknown(g, s->feeds[f].channel)) continue;
      through_end(g, channel->consistent_new, is_own(channel, degree) ? degree - 1 : degree, channel->kept->consistent,
                  c);
      integrate_difference(g, channel, c, sums);
      if (channel->layout.kind != YOKE_LAYOUT_END) meet_moments(sums);
      for (int k = 0; k < shape->n_v; ++k) {
        const double a = graph_end_share(g, &s->feeds[f]) * s->da_du[(size_t)input * (size_t)ny + (size_t)(at + k)];
        for (int j = 0; j < INNER_POINTS; ++j) off[k][j] += g->H * a * sums[j];
      }
    }
  }
  for (int k = 0; k < shape->n_v; ++k) {
    inner[k] = 0.0;
    for (int j = 0; j < INNER_POINTS; ++j) inner[k] = fmax(inner[k], fabs(off[k][j]));
  }
}

void yoke_graph_multiplier_effects(const yoke_graph *g, int port, double end_share, double *effects) {
  const graph_wire      *wire  = &g->wires[port / 2];
  const yoke_port_shape *shape = wire->wire.shape[port % 2];
  const graph_subsystem *s     = &g->subsystems[wire->wire.subsystem[port % 2]];
  const int              ny = s->subsystem->ny, at = wire->y_at[port % 2] + yoke_shape_at_a(shape);
  for (int k = 0; k < shape->n_v; ++k) effects[k] = 0.0;
  for (int input = 0; input < s->subsystem->nu; ++input) {
    for (int f = s->feed_at[input]; f < s->feed_at[input + 1]; ++f) {
      yoke_channel_trial channel;
      yoke_graph_channel_trial(g, s->feeds[f].channel, &channel);
      if (!channel.is_multiplier) continue;
      const double share = share_inside(g, &g->channels[s->feeds[f].channel], end_share);
      const double u = share * g->H * graph_end_share(g, &s->feeds[f]) * (channel.smooth_predicted - channel.smooth);
      for (int k = 0; k < shape->n_v; ++k) effects[k] += u * s->da_du[(size_t)input * (size_t)ny + (size_t)(at + k)];
    }
  }
}

/* Into inner [n_p + n_v] of one port; `degree` is that of the comparison. */
static void inner_errors_of(const yoke_graph *g, int port, int degree, double *inner) {
  enum { LOW_DEGREE = 2 };
  const yoke_port_shape *shape = g->wires[port / 2].wire.shape[port % 2];
  double                 high[YOKE_PORT_MAX_V], low[YOKE_PORT_MAX_V];
  if (shape->n_v > YOKE_PORT_MAX_V) return;
  inner_errors_at(g, port, degree, high);
  /* in steps that are too long for high degrees a low one is the better judge */
  inner_errors_at(g, port, degree < LOW_DEGREE ? degree : LOW_DEGREE, low);
  for (int k = 0; k < shape->n_v; ++k) inner[shape->n_p + k] = fmin(high[k], low[k]);
}

bool yoke_graph_inner_errors(const yoke_graph *g, int n, double *inner) {
  if (!(g->is_compared || g->comparison == YOKE_COMPARISON_VALUES) || !g->has_consistent) return false;
  memset(inner, 0, (size_t)n * sizeof *inner);
  const int degree = graph_comparison_degree(g);
  for (int port = 0; port < 2 * g->n_wires; ++port) {
    const yoke_port_shape *shape = g->wires[port / 2].wire.shape[port % 2];
    inner_errors_of(g, port, degree, inner);
    inner += shape->n_p + shape->n_v;
  }
  return true;
}
