#include "control/estimator.h"

/* Least scales, in the sizes of the model, and of a signal in its own unit: a model at rest has no size yet. */
static const double least_position = 1e-5, least_velocity = 1e-2, least_force = 1e-3, least_signal = 1e-3;
static const double share_of_scale = 0.1;
static const double share_to_miss  = 0.05; /* of the limit */
static const double share_of_inner = 0.3; /* what is off between macro points alone counts once and is not carried on */
static const double surprise       = 10.0; /* times what two extrapolations differ by */

/* A signal that wakes from rest has no size yet and is off by as much as it changes, however short the step. So those that no motion stands
 * for are judged when degree 2 has its points. */
enum { POINTS_TO_JUDGE = 3 };

/* ---- choice ---- */

static yoke_status refuse(yoke_context *ctx, yoke_estimator_kind kind, const char *why, const char *what) {
  return yoke_fail(ctx, YOKE_E_MODEL, "cosimulation.step.estimator: %s %s%s; use estimator cv",
                   kind == YOKE_ESTIMATOR_LE ? "le" : "md", why, what);
}

yoke_status yoke_estimator_choose(yoke_estimator_kind kind, const yoke_graph *graph, yoke_context *ctx,
                                  yoke_estimate_way *out) {
  const yoke_scheme_settings *s           = yoke_graph_settings(graph);
  const bool                  is_explicit = yoke_graph_traits(graph)->extrapolates_only;
  const char                 *name        = "";
  *out                                    = YOKE_ESTIMATE_COUPLING;
  if (yoke_graph_is_all_overlap(graph)) return YOKE_OK; /* copies tell the error, whatever the estimator */
  if (kind == YOKE_ESTIMATOR_CV) {
    const bool is_smooth =
        is_explicit || yoke_graph_has_end_values(graph, &name) || !yoke_graph_can_compare(graph, &name);
    if (!is_smooth) *out = YOKE_ESTIMATE_MULTIPLIER;
    return YOKE_OK;
  }
  if (!yoke_graph_shows_motion(graph)) return YOKE_OK;
  if (!yoke_graph_can_repeat(graph, &name))
    return refuse(ctx, kind, "repeats steps, which it cannot with subsystem ", name);
  if (s->gauss_seidel)
    return refuse(ctx, kind, "compares inputs that all are extrapolated, found sequence gauss-seidel", "");
  if (is_explicit) {
    if (s->predictor == YOKE_PREDICTOR_LEAST_SQUARES)
      return refuse(ctx, kind, "has no constants for predictor least-squares in scheme explicit", "");
    const bool scales =
        !yoke_predictor_is_motion(s->predictor) && kind == YOKE_ESTIMATOR_MD && yoke_graph_has_end_values(graph, &name);
    *out = scales ? YOKE_ESTIMATE_END : YOKE_ESTIMATE_HIGHER;
    return YOKE_OK;
  }
  const bool has_constants = s->predictor == YOKE_PREDICTOR_EXTRAPOLATION && yoke_graph_has_end_values(graph, &name);
  if (kind == YOKE_ESTIMATOR_MD && has_constants) {
    *out = YOKE_ESTIMATE_PREDICTED;
    return YOKE_OK;
  }
  if (!yoke_graph_can_compare(graph, &name)) return refuse(ctx, kind, "finds no consistent coupling values at ", name);
  *out = YOKE_ESTIMATE_CONSISTENT;
  return YOKE_OK;
}

yoke_comparison_kind yoke_estimator_comparison(const yoke_estimator *estimator) {
  switch (estimator->way) {
  case YOKE_ESTIMATE_HIGHER: return YOKE_COMPARISON_HIGHER;
  case YOKE_ESTIMATE_END: return YOKE_COMPARISON_END;
  case YOKE_ESTIMATE_CONSISTENT: return YOKE_COMPARISON_CONSISTENT;
  case YOKE_ESTIMATE_MULTIPLIER: return YOKE_COMPARISON_VALUES;
  case YOKE_ESTIMATE_PREDICTED:
  case YOKE_ESTIMATE_COUPLING: break;
  }
  return YOKE_COMPARISON_NONE;
}

/* ---- what is held ---- */

enum { FIRST_COMPARED = 3 }; /* behind a start */
static const double share_to_hold =
    0.05; /* of the limit: errors of motions below it are not looked for in every step */

static double grown(double norm, double H_ratio, int order) {
  return norm * pow(H_ratio, (double)order);
}

/* Norms of positions and velocities over a step of length H, by those that are held. */
static void expect_motion(const yoke_estimator *e, const yoke_graph *graph, double H, yoke_error_norms *norms) {
  const yoke_held_norms *held = &e->held;
  yoke_trial             trial;
  yoke_graph_trial(graph, &trial);
  yoke_graph_local_order(graph, trial.degree, norms->order);
  norms->position = grown(held->position, H / held->H, norms->order[0]);
  norms->velocity = grown(held->velocity, H / held->H, norms->order[1]);
}

yoke_comparison_kind yoke_estimator_next_comparison(const yoke_estimator *e, const yoke_graph *graph, double H) {
  const yoke_comparison_kind kind     = yoke_estimator_comparison(e);
  yoke_error_norms           expected = {0};
  if (kind != YOKE_COMPARISON_CONSISTENT || e->held.n_compared < FIRST_COMPARED || e->held.age + 1 >= e->compare)
    return kind;
  expect_motion(e, graph, H, &expected);
  return yoke_error_norms_largest(&expected) < share_to_hold ? YOKE_COMPARISON_VALUES : kind;
}

bool yoke_estimator_holds(const yoke_estimator *e, const yoke_graph *graph) {
  yoke_trial trial;
  yoke_graph_trial(graph, &trial);
  return e->way == YOKE_ESTIMATE_CONSISTENT && !trial.is_compared;
}

/* What multipliers do inside the step tells when motions change; of other couplings the comparison alone does. */
static void hold(yoke_estimator *e, const yoke_graph *graph, const yoke_estimate *of_trial) {
  yoke_held_norms *held = &e->held;
  yoke_trial       trial;
  yoke_graph_trial(graph, &trial);
  if (e->way != YOKE_ESTIMATE_CONSISTENT || !yoke_graph_is_held_by_joints(graph)) return;
  if (!trial.is_compared) {
    ++held->age;
    return;
  }
  const int32_t n = held->n_compared < FIRST_COMPARED ? held->n_compared + 1 : FIRST_COMPARED;
  *held =
      (yoke_held_norms){.H = trial.H, .position = of_trial->position, .velocity = of_trial->velocity, .n_compared = n};
}

void yoke_estimator_restart(yoke_estimator *e) {
  e->held = (yoke_held_norms){0};
}

/* ---- tolerances ---- */

static double absolute(const yoke_tolerances *t, int kind, double scale, double least) {
  return t->atol[kind] > 0.0 ? t->atol[kind] : t->rtol * fmax(share_of_scale * scale, least);
}

double yoke_estimator_atol_coupling(const yoke_estimator *e, const yoke_channel_trial *channel) {
  if (channel->is_signal) return absolute(&e->tolerances, 2, channel->size, least_signal);
  return absolute(&e->tolerances, 2, channel->natural * e->scales.coupling[channel->is_force ? 1 : 0],
                  channel->natural * (channel->is_force ? least_force : least_position));
}

/* Size of component k of (p, v) of a port by those of the model. */
static double natural_size(const yoke_graph *graph, const yoke_port_trial *port, int k) {
  const bool is_p    = k < port->n_p;
  const bool is_turn = is_p ? yoke_shape_p_turns(port->shape, k) : yoke_shape_v_turns(port->shape, k - port->n_p);
  const yoke_residual_unit unit = {is_p ? YOKE_RESIDUAL_POSITION : YOKE_RESIDUAL_VELOCITY, is_turn};
  return yoke_graph_natural_size(graph, unit);
}

/* A tolerance that is not given. */
static double atol_motion(const yoke_estimator *e, double natural, bool is_p) {
  return absolute(&e->tolerances, is_p ? 0 : 1, natural * (is_p ? e->scales.position : e->scales.velocity),
                  natural * (is_p ? least_position : least_velocity));
}

void yoke_estimator_tolerate(const yoke_estimator *e, const yoke_graph *graph) {
  double *tolerated = yoke_graph_tolerated(graph);
  for (int i = 0; tolerated != NULL && i < yoke_graph_n_ports(graph); ++i) {
    yoke_port_trial port;
    yoke_graph_port_trial(graph, i, &port);
    if (port.is_felt) break; /* they come last */
    for (int k = 0; k < port.n_p + port.n_v; ++k)
      *tolerated++ = share_to_miss * (atol_motion(e, natural_size(graph, &port, k), k < port.n_p) +
                                      e->tolerances.rtol * fabs(port.y_accepted[k]));
  }
}

static void enlarge(double *scale, double size) {
  *scale = fmax(*scale, fabs(size));
}

static void enlarge_scales(yoke_estimator *e, const yoke_graph *graph, bool of_trial) {
  for (int i = 0; i < yoke_graph_n_ports(graph); ++i) {
    yoke_port_trial port;
    yoke_graph_port_trial(graph, i, &port);
    const double *y = of_trial ? port.y : port.y_accepted;
    for (int k = 0; k < port.n_p + port.n_v; ++k)
      enlarge(k < port.n_p ? &e->scales.position : &e->scales.velocity, y[k] / natural_size(graph, &port, k));
  }
  for (int i = 0; i < yoke_graph_n_all_channels(graph); ++i) {
    yoke_channel_trial channel;
    yoke_graph_channel_trial(graph, i, &channel);
    if (channel.is_signal) continue; /* each has its own */
    enlarge(&e->scales.coupling[channel.is_force ? 1 : 0],
            (of_trial ? channel.value : *channel.past) / channel.natural);
  }
}

void yoke_estimator_start(yoke_estimator *e, const yoke_graph *graph) {
  enlarge_scales(e, graph, false);
}

void yoke_estimator_accept(yoke_estimator *e, const yoke_graph *graph, const yoke_estimate *of_trial) {
  enlarge_scales(e, graph, true);
  hold(e, graph, of_trial);
}

void yoke_estimator_pack(const yoke_estimator *e, yoke_pack *out) {
  const yoke_scales     *s = &e->scales;
  const yoke_held_norms *h = &e->held;
  const double all[7]      = {s->position, s->velocity, s->coupling[0], s->coupling[1], h->H, h->position, h->velocity};
  yoke_pack_doubles(out, 7, all);
  yoke_pack_int32(out, h->n_compared);
  yoke_pack_int32(out, h->age);
}

void yoke_estimator_unpack(yoke_estimator *e, yoke_unpack *in) {
  double all[7];
  yoke_unpack_doubles(in, 7, all);
  e->scales          = (yoke_scales){.position = all[0], .velocity = all[1], .coupling = {all[2], all[3]}};
  e->held            = (yoke_held_norms){.H = all[4], .position = all[5], .velocity = all[6]};
  e->held.n_compared = yoke_unpack_int32(in);
  e->held.age        = yoke_unpack_int32(in);
  if (e->held.n_compared < 0 || e->held.n_compared > FIRST_COMPARED || e->held.age < 0 || e->held.age > e->compare ||
      (e->held.n_compared > 0 && !(e->held.H > 0.0)))
    yoke_unpack_refuse(in, "no estimator holds such errors");
}

/* ---- errors ---- */

/* Keeps the wire with the largest weighted error. */
typedef struct search {
  double largest;
  int    wire;
} search;

static void add(yoke_wrms *norm, search *worst, int wire, double error, double value, double rtol, double atol) {
  const double part = fabs(error) / (atol + rtol * fabs(value));
  yoke_wrms_add(norm, error, value, rtol, atol);
  if (part > worst->largest || !isfinite(part)) *worst = (search){part, wire};
}

/* Points of the past that the constants need. A step may begin with a degree that its past does not bear yet: then they are those of equal steps before. */
static void find_past(const yoke_trial *trial, double s[YOKE_ERROR_MAX_K]) {
  for (int j = 0; j <= trial->degree; ++j) s[j] = j < trial->n_past ? trial->past_s[j] : s[j - 1] - 1.0;
}

/* Mean over the step of the error of an input, in units of the error of its predicted end value: L^(k+1)(s), corrected at the end
 * L^(k+1)(s) - L^k(s). */
static double mean_error(const yoke_estimator *e, const yoke_trial *trial) {
  double s[YOKE_ERROR_MAX_K];
  find_past(trial, s);
  const double high = yoke_error_constants_at(trial->degree + 1, s).velocity;
  if (e->way == YOKE_ESTIMATE_HIGHER || e->way == YOKE_ESTIMATE_END) return high;
  return yoke_error_constants_at(trial->degree, s).velocity - high;
}

/* Errors of the coupling values, of all channels or of those alone whose effect no port shows, which count by their mean over the step.
 * Keeps *worst where it is worse. */
static void estimate_coupling(const yoke_estimator *e, const yoke_graph *graph, const yoke_trial *trial,
                              bool unfelt_only, search *worst, yoke_estimate *out) {
  const double share = unfelt_only ? mean_error(e, trial) : 1.0;
  yoke_wrms    norm  = {0};
  for (int i = 0; i < yoke_graph_n_all_channels(graph); ++i) {
    yoke_channel_trial channel;
    yoke_graph_channel_trial(graph, i, &channel);
    if (channel.is_edge || (unfelt_only && (!channel.is_signal || channel.is_felt))) continue;
    const bool smooth = e->way == YOKE_ESTIMATE_MULTIPLIER;
    if (smooth && channel.is_multiplier) continue; /* by what it does to the motion */
    const double value = smooth ? channel.smooth : channel.value;
    const double error = (smooth ? channel.smooth_predicted : channel.predicted) - value;
    add(&norm, worst, channel.wire, share * error, value, e->tolerances.rtol,
        yoke_estimator_atol_coupling(e, &channel));
  }
  if (unfelt_only && norm.n == 0) return;
  out->norms.coupling = yoke_wrms_value(&norm);
  out->norms.order[2] = yoke_graph_input_order(graph, trial->degree);
  out->worst          = worst->wire;
}

/* C^(k+1)/C^k */
static yoke_error_constants ratios(const yoke_trial *trial, int k) {
  double s[YOKE_ERROR_MAX_K];
  find_past(trial, s);
  const yoke_error_constants low = yoke_error_constants_at(k, s), high = yoke_error_constants_at(k + 1, s);
  return (yoke_error_constants){high.position / low.position, high.velocity / low.velocity};
}

/* Factors of the difference in position and velocity. */
static yoke_error_constants factors(const yoke_estimator *e, const yoke_trial *trial) {
  if (e->way != YOKE_ESTIMATE_END && e->way != YOKE_ESTIMATE_PREDICTED) return (yoke_error_constants){1.0, 1.0};
  if (e->way == YOKE_ESTIMATE_PREDICTED &&
      trial->degree >= trial->n_past) { /* both begin with the same values: of the degree below */
    const yoke_error_constants below = ratios(trial, trial->degree - 1);
    return (yoke_error_constants){1.0 / below.position - 1.0, 1.0 / below.velocity - 1.0};
  }
  const yoke_error_constants ratio = ratios(trial, trial->degree);
  if (e->way == YOKE_ESTIMATE_END) return ratio;
  return (yoke_error_constants){1.0 - ratio.position, 1.0 - ratio.velocity};
}

yoke_error_constants yoke_estimator_surplus(const yoke_graph *graph, int wire) {
  const double rough = yoke_graph_traits(graph)->extrapolates_only ? 0.0 : yoke_graph_roughness(graph, wire);
  if (!(rough > 0.0)) return (yoke_error_constants){1.0, 1.0};
  yoke_trial trial;
  yoke_graph_trial(graph, &trial);
  const yoke_error_constants ratio = ratios(&trial, trial.degree);
  return (yoke_error_constants){1.0 + rough * ratio.position / (1.0 - ratio.position),
                                1.0 + rough * ratio.velocity / (1.0 - ratio.velocity)};
}

/* Is the error of the motion known, or do coupling values stand in? */
static bool has_motion(const yoke_estimator *e, const yoke_trial *trial) {
  if (e->way == YOKE_ESTIMATE_COUPLING || e->way == YOKE_ESTIMATE_MULTIPLIER) return false;
  return e->way == YOKE_ESTIMATE_PREDICTED || trial->is_compared;
}

/* Error of component k of (p, v) of a port. */
static double port_error(const yoke_estimator *e, const yoke_port_trial *port, const yoke_error_constants *factor,
                         int k) {
  const double *other = e->way == YOKE_ESTIMATE_PREDICTED ? port->y_predicted : port->y_compared;
  if (port->has_copy) return port->y[k] - port->y_compared[k];
  return port->share * (k < port->n_p ? factor->position : factor->velocity) * (port->y[k] - other[k]);
}

bool yoke_estimator_port_errors(const yoke_estimator *e, const yoke_graph *graph, int i, double *error) {
  yoke_trial      trial;
  yoke_port_trial port;
  yoke_graph_trial(graph, &trial);
  yoke_graph_port_trial(graph, i, &port);
  if (port.n_p + port.n_v == 0) return true;
  if (!port.has_copy && !has_motion(e, &trial)) return false;
  const yoke_error_constants factor = factors(e, &trial);
  const double               fade   = port.has_copy ? yoke_graph_fade(graph, i) : 1.0;
  for (int k = 0; k < port.n_p + port.n_v; ++k) error[k] = fade * port_error(e, &port, &factor, k);
  return true;
}

/* exLE and exMD compare two extrapolations: what happens on the other side of a coupling during the step changes neither, and they
 * see it one step late. Where the new coupling values are off by far more than the two extrapolations differ, the motion is off by
 * that factor more than it seems; where they differ by nothing, the error of the coupling values has to do. */
static void watch_partners(const yoke_estimator *e, const yoke_graph *graph, const yoke_trial *trial,
                           yoke_estimate *out) {
  yoke_wrms expected = {0};
  for (int i = 0; i < yoke_graph_n_all_channels(graph); ++i) {
    yoke_channel_trial channel;
    yoke_graph_channel_trial(graph, i, &channel);
    if (channel.is_edge) continue;
    yoke_wrms_add(&expected, channel.compared - channel.predicted, channel.value, e->tolerances.rtol,
                  yoke_estimator_atol_coupling(e, &channel));
  }
  search        worst    = {0};
  yoke_estimate coupling = *out;
  estimate_coupling(e, graph, trial, false, &worst, &coupling);
  const double actual = coupling.norms.coupling, factor = actual / yoke_wrms_value(&expected);
  if (!(factor > surprise)) return;
  const double motion = factor * fmax(out->norms.position, out->norms.velocity);
  if (motion < actual) { /* not when it is not a number */
    out->norms.position *= factor;
    out->norms.velocity *= factor;
  } else {
    *out = coupling;
  }
}

/* What a multiplier is off by matters by what it does to the velocities over the step; its own error is larger by 1/H. */
static void estimate_multipliers(const yoke_estimator *e, const yoke_graph *graph, const yoke_trial *trial,
                                 search *worst, yoke_estimate *out) {
  const double share = share_of_inner * mean_error(e, trial);
  yoke_wrms    norm  = {0};
  for (int i = 0; i < yoke_graph_n_ports(graph); ++i) {
    double          effects[YOKE_PORT_MAX_V];
    yoke_port_trial port;
    yoke_graph_port_trial(graph, i, &port);
    if (port.is_felt || port.has_copy) continue;
    yoke_graph_multiplier_effects(graph, i, share, effects);
    for (int k = 0; k < port.n_v; ++k)
      add(&norm, worst, port.wire, effects[k], port.y[port.n_p + k], e->tolerances.rtol,
          atol_motion(e, natural_size(graph, &port, port.n_p + k), false));
  }
  const double velocity = yoke_wrms_value(&norm);
  out->worst            = worst->wire;
  if (velocity <= out->norms.velocity) return; /* not when it is not a number */
  out->norms.velocity = velocity;
  out->norms.order[1] = yoke_graph_input_order(graph, trial->degree) + 1;
}

static void estimate_motion(const yoke_estimator *e, const yoke_graph *graph, const yoke_trial *trial,
                            yoke_estimate *out) {
  const yoke_error_constants factor  = factors(e, trial);
  yoke_wrms                  norm[2] = {0};
  search                     worst   = {0};
  yoke_error_constants       surplus = {1.0, 1.0}; /* of the wire at hand, whose ports stand side by side */
  for (int i = 0; i < yoke_graph_n_ports(graph); ++i) {
    yoke_port_trial port;
    yoke_graph_port_trial(graph, i, &port);
    if (port.has_copy) continue;
    if (i % 2 == 0 && !port.is_felt) surplus = yoke_estimator_surplus(graph, port.wire);
    for (int k = 0; k < port.n_p + port.n_v; ++k) {
      const int    level = k < port.n_p ? 0 : 1;
      const double more  = port.is_felt ? 1.0 : level == 0 ? surplus.position : surplus.velocity;
      add(&norm[level], &worst, port.wire, more * port_error(e, &port, &factor, k), port.y[k], e->tolerances.rtol,
          atol_motion(e, natural_size(graph, &port, k), level == 0));
    }
  }
  out->norms.position = yoke_wrms_value(&norm[0]);
  out->norms.velocity = yoke_wrms_value(&norm[1]);
  out->worst          = worst.wire;
  yoke_graph_local_order(graph, trial->degree, out->norms.order);
  out->position = out->norms.position;
  out->velocity = out->norms.velocity;
  if (e->way == YOKE_ESTIMATE_CONSISTENT) estimate_multipliers(e, graph, trial, &worst, out);
  if (trial->n_past >= POINTS_TO_JUDGE) estimate_coupling(e, graph, trial, true, &worst, out);
  if (e->way == YOKE_ESTIMATE_HIGHER || e->way == YOKE_ESTIMATE_END) watch_partners(e, graph, trial, out);
}

/* A trial that was not compared. */
static void estimate_held(const yoke_estimator *e, const yoke_graph *graph, const yoke_trial *trial, search *worst,
                          yoke_estimate *out) {
  expect_motion(e, graph, trial->H, &out->norms);
  estimate_multipliers(e, graph, trial, worst, out);
  if (trial->n_past >= POINTS_TO_JUDGE) estimate_coupling(e, graph, trial, true, worst, out);
}

/* Copies in halos against their originals, beside all other errors. */
static void estimate_copies(const yoke_estimator *e, const yoke_graph *graph, search *worst, yoke_estimate *out) {
  const yoke_error_constants one     = {1.0, 1.0};
  yoke_wrms                  norm[2] = {0};
  for (int i = 0; i < yoke_graph_n_ports(graph); ++i) {
    yoke_port_trial port;
    yoke_graph_port_trial(graph, i, &port);
    if (!port.has_copy) continue;
    const double fade = yoke_graph_fade(graph, i);
    for (int k = 0; k < port.n_p + port.n_v; ++k) {
      const int level = k < port.n_p ? 0 : 1;
      add(&norm[level], worst, port.wire, fade * port_error(e, &port, &one, k), port.y[k], e->tolerances.rtol,
          atol_motion(e, natural_size(graph, &port, k), level == 0));
    }
  }
  double *const norms[2] = {&out->norms.position, &out->norms.velocity};
  for (int level = 0; level < 2; ++level) {
    const double error = yoke_wrms_value(&norm[level]);
    if (norm[level].n == 0 || error <= *norms[level]) continue; /* not when it is not a number */
    *norms[level]           = error;
    out->norms.order[level] = yoke_graph_copy_order(graph);
  }
  out->worst = worst->wire;
}

void yoke_estimator_estimate(const yoke_estimator *e, const yoke_graph *graph, yoke_estimate *out) {
  yoke_trial trial;
  search     worst = {0};
  *out             = (yoke_estimate){.norms = {.order = {1, 1, 1}}};
  yoke_graph_trial(graph, &trial);
  if (has_motion(e, &trial))
    estimate_motion(e, graph, &trial, out);
  else if (yoke_estimator_holds(e, graph))
    estimate_held(e, graph, &trial, &worst, out);
  else
    estimate_coupling(e, graph, &trial, false, &worst, out);
  if (e->way == YOKE_ESTIMATE_MULTIPLIER) estimate_multipliers(e, graph, &trial, &worst, out);
  if (yoke_graph_copy_order(graph) > 0) estimate_copies(e, graph, &worst, out);
}
