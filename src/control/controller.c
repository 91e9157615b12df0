#include "control/controller.h"
#include "base/cancel.h"

#include "base/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double most_care = 1e7, more_care = 4.0; /* at all, and than in the step before */
static const double shortest = 0.01;                  /* of the average step */
static const double guard =
    10.0; /* [rtol] a budget from here on acts when half of it is used up, and not at any price: */
static const double spared_by_guard = 0.5, care_of_guard = 16.0;
static const double most_bite = 10.0; /* of the budget, times what a step of this length is worth */
enum { MOST_SPARED = 3 };
/* A budget that makes steps so many times shorter than their own errors do, and asks for so many of them, is more than a method can keep. */
static const double high_price = 100.0, most_ahead = 3e5;
enum { PRICED_STEPS = 5000 /* in a row */ };
static const double end_of_growth = 1.2; /* of the step over these: behind a start it grows with what has moved */
static const double start_growth =
    5.0; /* of the first steps, which are short by guess, where multipliers forget them */

struct yoke_controller {
  yoke_graph           *graph;
  yoke_context         *trial_ctx; /* messages of a trial: kept only when the run ends with it */
  yoke_control_settings settings;
  yoke_estimator        estimator;
  double                H;           /* of the next trial */
  int                   degree;      /* likewise */
  int                   n_failed;    /* consecutive rejected trials */
  int                   n_spared;    /* of these for the budget */
  int                   n_good;      /* accepted steps with this degree and without reduction */
  bool                  starts;      /* in the start phase */
  bool                  leaps;       /* in that of the run, where steps grow fast */
  bool                  leaves_gaps; /* one correction per step */
  bool                  is_forward;  /* a subsystem cannot go back: what was tried is accepted */
  yoke_trial_end        end;
  void                 *end_user;
  yoke_monitor         *monitor; /* NULL: none */
  double                t_end;   /* of the run */
  double care; /* >= 1: errors count so many times, since steps like the last one would use up more than the budget */
  bool   has_scales; /* the estimator has seen the start */
  int    n_priced;   /* steps in a row that the budget makes too short ... */
  double H_priced;   /* ... and the first of them */
};

static yoke_status check(const yoke_control_settings *s, yoke_context *ctx) {
  if (!(s->tolerances.rtol > 0.0) || !(s->initial > 0.0) || !(s->max > 0.0) || !(s->min >= 0.0 && s->min <= s->max) ||
      !(s->rule.safety > 0.0) || s->order_min < 0 || s->order_max > YOKE_ORDER_MAX || s->order_min > s->order_max)
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "step control: rtol %g, first step %g, steps from %g to %g, safety %g, orders %d to %d; expected "
        "positive numbers, a least step (cosimulation.step.min) below the largest (cosimulation.step.max, a "
        "tenth of the run when it is not given) and orders 0 to %d",
        s->tolerances.rtol, s->initial, s->min, s->max, s->rule.safety, s->order_min, s->order_max, YOKE_ORDER_MAX);
  return YOKE_OK;
}

/* Multipliers with inner nodes keep a trace of a start with a low degree, and estimates by consistent values need no long past. */
static bool starts_high(const yoke_controller *c) {
  return c->estimator.way == YOKE_ESTIMATE_CONSISTENT || c->estimator.way == YOKE_ESTIMATE_MULTIPLIER;
}

double yoke_growth_share(double growth) {
  static const double usual = 3.0, margin = 10.0, least = 1e-4;
  return growth > usual ? fmax(least, 1.0 / (margin * growth)) : 1.0;
}

static yoke_tolerances working_tolerances(const yoke_control_settings *settings) {
  const double    share = settings->share * yoke_growth_share(settings->growth);
  yoke_tolerances t     = settings->tolerances;
  t.rtol *= share;
  for (int i = 0; i < 3; ++i) t.atol[i] *= share;
  return t;
}

yoke_status yoke_controller_create(yoke_context *ctx, yoke_graph *graph, const yoke_control_settings *settings,
                                   yoke_controller **out) {
  *out = NULL;
  YOKE_TRY(check(settings, ctx));
  yoke_controller *c = yoke_allocate(1, sizeof *c);
  if (c == NULL) return yoke_out_of_memory(ctx, "step control");
  c->graph                = graph;
  c->settings             = *settings;
  c->care                 = 1.0;
  c->settings.tolerances  = working_tolerances(settings);
  c->estimator.tolerances = c->settings.tolerances;
  c->estimator.compare    = settings->compare;
  yoke_status status      = yoke_estimator_choose(settings->estimator, graph, ctx, &c->estimator.way);
  if (status == YOKE_OK) {
    const bool compares = yoke_estimator_comparison(&c->estimator) != YOKE_COMPARISON_NONE;
    status              = yoke_graph_control(graph, compares, ctx);
    if (status == YOKE_OK && settings->shift == YOKE_SHIFT_ON) status = yoke_graph_take_shifts(graph, ctx);
  }
  const char *name;
  c->leaves_gaps = yoke_graph_traits(graph)->corrects_once;
  c->is_forward  = !yoke_graph_can_repeat(graph, &name);
  if (status == YOKE_OK) status = yoke_context_create(&c->trial_ctx);
  if (status != YOKE_OK) {
    yoke_controller_destroy(&c);
    return status;
  }
  yoke_controller_restart(c, settings->initial);
  c->leaps = c->leaps || (starts_high(c) && yoke_graph_forgets_start(graph));
  *out     = c;
  return YOKE_OK;
}

void yoke_controller_destroy(yoke_controller **controller) {
  if (*controller == NULL) return;
  yoke_context_destroy(&(*controller)->trial_ctx);
  free(*controller);
  *controller = NULL;
}

/* Halos keep the error of a new start away from the cut, and tell it: steps go on with their length and grow fast where they are short by guess. */
void yoke_controller_restart(yoke_controller *c, double H) {
  const bool is_all_overlap = yoke_graph_is_all_overlap(c->graph);
  c->H                      = fmin(is_all_overlap ? H : fmin(H, c->settings.initial), c->settings.max);
  c->degree                 = starts_high(c) ? c->settings.order_max : 0;
  c->n_failed = c->n_good = 0;
  c->starts               = true;
  c->leaps                = is_all_overlap;
  yoke_estimator_restart(&c->estimator);
}

void yoke_controller_watch(yoke_controller *c, yoke_trial_end end, void *user) {
  c->end      = end;
  c->end_user = user;
}

void yoke_controller_monitor(yoke_controller *c, yoke_monitor *monitor, double t_end) {
  c->monitor = monitor;
  c->t_end   = t_end;
}

double yoke_controller_H(const yoke_controller *c) {
  return c->H;
}

const yoke_control_settings *yoke_controller_settings(const yoke_controller *c) {
  return &c->settings;
}

const yoke_estimator *yoke_controller_estimator(const yoke_controller *c) {
  return &c->estimator;
}

/* ---- as bytes ---- */

void yoke_controller_pack(const yoke_controller *c, yoke_pack *out) {
  yoke_pack_tag(out, "controller");
  yoke_pack_double(out, c->H);
  yoke_pack_int32(out, c->degree);
  yoke_pack_int32(out, c->n_failed);
  yoke_pack_int32(out, c->n_good);
  yoke_pack_bool(out, c->starts);
  yoke_pack_bool(out, c->leaps);
  yoke_pack_bool(out, c->has_scales);
  yoke_pack_double(out, c->care);
  yoke_pack_int32(out, c->n_priced);
  yoke_pack_double(out, c->H_priced);
  yoke_estimator_pack(&c->estimator, out);
}

yoke_status yoke_controller_unpack(yoke_controller *c, yoke_unpack *in, yoke_context *ctx) {
  yoke_controller read = *c;
  yoke_unpack_tag(in, "controller");
  read.H          = yoke_unpack_double(in);
  read.degree     = yoke_unpack_int32(in);
  read.n_failed   = yoke_unpack_int32(in);
  read.n_good     = yoke_unpack_int32(in);
  read.starts     = yoke_unpack_bool(in);
  read.leaps      = yoke_unpack_bool(in);
  read.has_scales = yoke_unpack_bool(in);
  read.care       = yoke_unpack_double(in);
  read.n_priced   = yoke_unpack_int32(in);
  read.H_priced   = yoke_unpack_double(in);
  yoke_estimator_unpack(&read.estimator, in);
  const bool is_sound = read.H > 0.0 && read.H <= c->settings.max && read.degree >= 0 &&
                        read.degree <= c->settings.order_max && yoke_is_count(read.n_failed) &&
                        yoke_is_count(read.n_good) && yoke_is_count(read.n_priced) && read.H_priced >= 0.0 &&
                        read.care >= 1.0 && read.care <= most_care;
  if (!is_sound) yoke_unpack_refuse(in, "a step or a degree that no control has");
  YOKE_TRY(yoke_unpack_check(in, ctx));
  *c = read;
  return YOKE_OK;
}

/* ---- facts for the order control ---- */

/* The values of a channel at T_M, T_{M-1}, ... with times in units of H relative to T_M: T_M is the new point of an accepted
 * step, else T_N. At most n of them. */
static int values_of(const yoke_trial *trial, const yoke_channel_trial *channel, bool accepted, int n, double *s,
                     double *u) {
  const double *past   = channel->smooth_past;
  const double  origin = accepted ? 1.0 : 0.0;
  int           count  = 0;
  if (accepted) {
    s[count]   = 0.0;
    u[count++] = channel->smooth;
  }
  for (int i = 0; i < trial->n_past && count < n; ++i) {
    s[count]   = trial->past_s[i] - origin;
    u[count++] = past[i];
  }
  return count;
}

/* In place: u[j] becomes the divided difference over the points 0 ... j. */
static void divide(int n, const double *s, double *u) {
  for (int j = 1; j < n; ++j) {
    for (int i = n - 1; i >= j; --i) u[i] = (u[i] - u[i - 1]) / (s[i] - s[i - j]);
  }
}

/* SDN(j) = |j! u[...]| in units of H (Kraft 3.25), in the norm of the coupling values. */
static void derivative_norms(const yoke_controller *c, const yoke_trial *trial, bool accepted,
                             yoke_order_facts *facts) {
  yoke_wrms norm[YOKE_ORDER_N_SDN] = {{0}};
  const int most                   = facts->k + 3 < YOKE_ORDER_N_SDN ? facts->k + 3 : YOKE_ORDER_N_SDN;
  int       n                      = 0;
  for (int i = 0; i < yoke_graph_n_all_channels(c->graph); ++i) {
    yoke_channel_trial channel;
    double             s[YOKE_ORDER_N_SDN], u[YOKE_ORDER_N_SDN], factorial = 1.0;
    yoke_graph_channel_trial(c->graph, i, &channel);
    if (channel.is_edge) continue; /* far from what it couples */
    n                  = values_of(trial, &channel, accepted, most, s, u);
    const double value = u[0], atol = yoke_estimator_atol_coupling(&c->estimator, &channel);
    divide(n, s, u);
    for (int j = 1; j < n; ++j) {
      factorial *= (double)j;
      yoke_wrms_add(&norm[j], factorial * u[j], value, c->settings.tolerances.rtol, atol);
    }
  }
  facts->n_sdn = n > 0 ? n - 1 : 0;
  for (int j = 1; j < n; ++j) facts->sdn[j] = yoke_wrms_value(&norm[j]);
}

/* Error of the coupling values that degree k would have over the next step, if it were as long as this one (Kraft 3.26):
 *   u[T_M ... T_{M-k-1}] prod_{i<=k} (T_M + H - T_{M-i}). */
static double error_ahead(const yoke_controller *c, const yoke_trial *trial, bool accepted, int k) {
  yoke_wrms norm = {0};
  for (int i = 0; i < yoke_graph_n_all_channels(c->graph); ++i) {
    yoke_channel_trial channel;
    double             s[YOKE_ORDER_N_SDN], u[YOKE_ORDER_N_SDN];
    yoke_graph_channel_trial(c->graph, i, &channel);
    if (channel.is_edge) continue; /* far from what it couples */
    const int    n     = values_of(trial, &channel, accepted, k + 2, s, u);
    const double value = u[0];
    divide(n, s, u);
    double error = u[n - 1];
    for (int j = 0; j < n - 1; ++j) error *= 1.0 - s[j];
    yoke_wrms_add(&norm, error, value, c->settings.tolerances.rtol,
                  yoke_estimator_atol_coupling(&c->estimator, &channel));
  }
  return yoke_wrms_value(&norm);
}

/* ---- one trial ---- */

typedef struct verdict {
  bool             accepted, is_lost;
  double           error; /* largest norm */
  yoke_estimate    estimate;
  yoke_error_norms norms; /* of the degree to come */
  int              worst; /* wire */
  int              tried; /* degree in force, which a short past may keep below the planned one */
  int              degree;
  double           ratio;    /* of the next step to this one */
  bool             is_steep; /* the error asks for a shorter step; the budget alone is no reason to keep the degree */
} verdict;

/* Predictors by accelerations are as good as extrapolation of a degree that is higher by this; so is what the order control sees. */
static int head_start(const yoke_controller *c, int degree) {
  return yoke_graph_input_order(c->graph, degree) - 1 - degree;
}

/* Degree for the next step. A fixed degree and the start phase do not ask the order control to rise. */
static int next_degree(const yoke_controller *c, const yoke_trial *trial, bool accepted) {
  const yoke_control_settings *s = &c->settings;
  if (s->order_min == s->order_max) { /* on its way to the goal */
    const int up = accepted ? trial->degree + 1 : trial->degree;
    return up < s->order_max ? up : s->order_max;
  }
  if (trial->degree < s->order_min) return accepted ? trial->degree + 1 : trial->degree; /* likewise to its limit */
  const int        ahead = head_start(c, trial->degree);
  yoke_order_facts facts = {
      .k = trial->degree + ahead, .k_max = s->order_max + ahead, .n_failed = c->n_failed, .n_good = c->n_good};
  derivative_norms(c, trial, accepted, &facts);
  const int k = yoke_order_next(s->order_rule, &facts) - ahead;
  return k < s->order_min ? s->order_min : k;
}

static void scale(yoke_error_norms *norms, double by) {
  norms->position *= by;
  norms->velocity *= by;
  norms->coupling *= by;
}

/* Norms of the next step with another degree. What accelerations predict is better than extrapolation, by a factor that depends on
 * the law: there the norms of this trial change as those of extrapolation would. */
static void norms_ahead(const yoke_controller *c, const yoke_trial *trial, bool accepted, int degree,
                        yoke_error_norms *norms) {
  const int    ahead = head_start(c, trial->degree), more = degree - trial->degree;
  const double next = error_ahead(c, trial, accepted, degree + ahead),
               now  = ahead != 0 ? error_ahead(c, trial, accepted, trial->degree + ahead) : 0.0;
  if (!(now > 0.0)) {
    *norms = (yoke_error_norms){.coupling = next, .order = {1, 1, degree + ahead + 1}};
    return;
  }
  scale(norms, next / now);
  for (int i = 0; i < 3; ++i) norms->order[i] = norms->order[i] + more > 1 ? norms->order[i] + more : 1;
}

/* Of the next step to this one, if errors counted `care` times: without limits, and within them. */
static double wish_of(const yoke_controller *c, const verdict *v, double care) {
  yoke_error_norms norms = v->norms;
  scale(&norms, care);
  return isfinite(v->error) ? yoke_step_ratio(&c->settings.rule, &norms) : 0.0;
}

static double ratio_of(const yoke_controller *c, const verdict *v, double care) {
  return yoke_step_limited(&c->settings.rule, wish_of(c, v, care), c->n_failed, v->is_lost || !isfinite(v->error));
}

/* A step of length H was accepted. Its pace is the error norm that it should have had, safety included. The budget shortens steps to come, to a
 * hundredth of the average at most, and rejects none: where errors are noise it does no harm. */
static void mind_budget(yoke_controller *c, double H, verdict *v) {
  const double limit    = c->settings.budget * c->settings.tolerances.rtol;
  const bool   is_guard = c->settings.budget >= guard;
  const double pace     = yoke_monitor_pace(c->monitor, limit, is_guard ? spared_by_guard : 0.0, c->t_end);
  const double wanted   = v->error > 0.0 ? pace / (c->settings.rule.safety * v->error) : 1.0;
  c->care               = fmin(fmax(fmin(wanted, more_care * c->care), 1.0), is_guard ? care_of_guard : most_care);
  const double least    = shortest * yoke_monitor_mean_step(c->monitor) / H;
  v->ratio              = fmin(v->ratio, fmax(ratio_of(c, v, c->care), least));
}

/* A trial that a contact or a kink makes take far more of the budget than its length is worth: steps behind it cannot make up for that. Its error falls
 * with H^2. Shorter ones than a hundredth of the average are left alone, and so is what three shorter ones have not mended. */
static void spare_budget(yoke_controller *c, double H, verdict *v) {
  if (c->monitor == NULL || !(c->settings.budget > 0.0) || c->settings.budget >= guard || c->is_forward || c->starts ||
      c->n_spared >= MOST_SPARED || H < shortest * yoke_monitor_mean_step(c->monitor))
    return;
  const double limit = c->settings.budget * c->settings.tolerances.rtol;
  const double bite  = yoke_monitor_bite(c->monitor, &c->estimator, limit, c->t_end);
  if (!(bite > most_bite)) return;
  v->accepted = false;
  v->ratio    = fmax(sqrt(most_bite / bite) * 0.9, 0.25);
  ++c->n_spared;
  ++c->n_failed;
}

/* Error norms, acceptance, and what comes next. c->n_failed counts this trial already when it is rejected. */
static void judge(yoke_controller *c, yoke_status status, verdict *v) {
  yoke_trial    trial;
  yoke_estimate estimate = {.norms = {.position = (double)INFINITY, .order = {1, 1, 1}}};
  yoke_graph_trial(c->graph, &trial);
  v->tried   = trial.degree;
  v->is_lost = status != YOKE_OK;
  if (!v->is_lost) yoke_estimator_estimate(&c->estimator, c->graph, &estimate);
  v->estimate = estimate;
  v->error    = yoke_error_norms_largest(&estimate.norms);
  v->worst    = estimate.worst;
  v->accepted = v->error <= 1.0 || (c->is_forward && isfinite(v->error));
  c->n_failed = v->accepted ? 0 : c->n_failed + 1;
  v->degree   = v->is_lost ? trial.degree : next_degree(c, &trial, v->accepted);
  if (v->accepted && starts_high(c) && trial.degree < c->degree) v->degree = c->degree; /* the past is short still */

  const bool is_fixed = c->settings.order_min == c->settings.order_max;
  v->norms            = estimate.norms;
  if (v->degree != trial.degree && !is_fixed && !starts_high(c))
    norms_ahead(c, &trial, v->accepted, v->degree, &v->norms);
  v->ratio    = ratio_of(c, v, 1.0);
  v->is_steep = v->ratio < 1.0;
}

/* The verdict of all ranks, and what it counts. */
static yoke_status agree(yoke_controller *c, verdict *v) {
  struct {
    verdict v;
    int     n_failed, n_spared;
  } x = {*v, c->n_failed, c->n_spared};
  YOKE_TRY(yoke_graph_agree(c->graph, "verdict", YOKE_OK, sizeof x, &x));
  *v          = x.v;
  c->n_failed = x.n_failed;
  c->n_spared = x.n_spared;
  return YOKE_OK;
}

/* Step and degree after an accepted trial of length H. */
static void plan(yoke_controller *c, const verdict *v, double H, bool is_clipped) {
  const int  degree  = c->degree;
  const bool smaller = v->ratio < 1.0;
  if (c->starts && (smaller || v->degree < degree)) c->starts = false;
  double next = v->ratio * H;
  if (c->leaps) {
    const double wish = wish_of(c, v, c->care);
    next              = fmin(wish, start_growth) * H;
    c->degree         = v->degree;
    c->leaps          = wish > start_growth;
    c->starts         = false;
  } else if (c->starts) {
    next      = 2.0 * H;
    c->degree = degree < c->settings.order_max ? degree + 1 : degree;
    c->starts = c->degree < c->settings.order_max;
  } else {
    c->degree = v->degree;
  }
  if (is_clipped && !smaller) next = fmax(next, c->H); /* a short step says nothing against the planned one */
  c->H      = fmin(next, c->settings.max);
  c->n_good = v->is_steep || c->degree != degree ? 0 : c->n_good + 1;
}

/* A step of length H was accepted, the next one is planned: does the run come to its end like this? */
static yoke_status watch_price(yoke_controller *c, const verdict *v, double H, yoke_context *ctx) {
  const double t = yoke_graph_t(c->graph), ahead = (c->t_end - t) / c->H, price = wish_of(c, v, 1.0) * H / c->H;
  if (!(c->care > 1.0 && price > high_price && ahead > most_ahead && isfinite(c->t_end))) {
    c->n_priced = 0;
    return YOKE_OK;
  }
  if (c->n_priced++ == 0) c->H_priced = c->H;
  if (c->n_priced < PRICED_STEPS) return YOKE_OK;
  c->n_priced = 0;
  if (c->H > end_of_growth * c->H_priced) return YOKE_OK;
  const bool is_low = c->settings.order_max < 2;
  return yoke_fail(
      ctx, YOKE_E_STEP_TOO_SMALL,
      "step control: at t = %.9g s the run has %.2g macro steps of %.3g s ahead of it: errors of order %d "
      "add up, most of them at coupling '%s', and for all of them to stay within %g rtol = %.3g steps are %.3g times "
      "shorter than the error of each of them allows; use %sa larger cosimulation.step.rtol, or "
      "cosimulation.step.budget 0, which lets errors add up",
      t, ahead, c->H, v->tried, yoke_graph_wire_name(c->graph, v->worst), c->settings.budget,
      c->settings.budget * c->settings.tolerances.rtol, price, is_low ? "cosimulation.order 2, " : "");
}

static yoke_reduction reason_of(yoke_status status) {
  if (status == YOKE_OK) return YOKE_REDUCED_BY_ERROR;
  if (status == YOKE_JOINT_OPEN) return YOKE_REDUCED_BY_GAP;
  return status == YOKE_NON_FINITE || status == YOKE_E_UNSTABLE ? YOKE_REDUCED_BY_NON_FINITE
                                                                : YOKE_REDUCED_BY_CORRECTOR;
}

/* Does a trial that failed like this deserve a shorter one? A solver that could not finish may have been led astray by the inputs
 * of the trial, or needs the macro point to be nearer (fixed micro steps at an impact). */
static bool is_worth_another(const yoke_controller *c, yoke_status status) {
  if (status == YOKE_OK) return true;
  if (c->is_forward) return false;
  return status > 0 || status == YOKE_E_STEP_TOO_SMALL || status == YOKE_E_NOT_CONVERGED || status == YOKE_E_UNSTABLE;
}

/* Below this, times and their differences lose their digits. */
static double least_step(const yoke_controller *c) {
  return fmax(c->settings.min, 64.0 * 2.2204460492503131e-16 * fabs(yoke_graph_t(c->graph)));
}

/* What may help trials that fail however short they are, and is not in use yet. */
static void name_remedies(const yoke_controller *c, yoke_status status, char *text, size_t size) {
  const yoke_scheme_traits *traits    = yoke_graph_traits(c->graph);
  const bool                corrects  = !traits->extrapolates_only && status == YOKE_NOT_CONVERGED;
  const char *const         scheme    = traits->corrects_to_tolerance ? "" : "scheme implicit, ";
  const char               *estimator = "", *passes = "";
  yoke_estimate_way         way;
  if (c->settings.estimator == YOKE_ESTIMATOR_CV &&
      yoke_estimator_choose(YOKE_ESTIMATOR_MD, c->graph, NULL, &way) == YOKE_OK)
    estimator = "estimator md, ";
  if (corrects) passes = "a larger cosimulation.corrector.max_iterations or cosimulation.corrector.rtol, ";
  snprintf(text, size, "%s%s%sanother formulation, or tighter solvers", scheme, passes, estimator);
}

static yoke_status too_small(const yoke_controller *c, const verdict *v, yoke_status status, double H,
                             yoke_context *ctx) {
  const double t = yoke_graph_t(c->graph);
  if (status == YOKE_JOINT_OPEN) {
    char joint[300];
    yoke_graph_open_joint(c->graph, joint, sizeof joint);
    return yoke_fail(ctx, YOKE_E_UNSTABLE,
                     "step control: the macro step from t = %.9g s fell below %.3g s, and with %.3g s %s; use another "
                     "formulation, or a larger cosimulation.joint_tolerance if that gap is meant",
                     t, least_step(c), H, joint);
  }
  if (status != YOKE_OK) {
    char who[400], remedy[300];
    yoke_graph_unsettled(c->graph, who, sizeof who);
    name_remedies(c, status, remedy, sizeof remedy);
    return yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL,
                     "step control: %sthe macro step from t = %.9g s fell below %.3g s, the last trial of %.3g s "
                     "failed: %s; use %s",
                     who, t, least_step(c), H, yoke_status_text(status), remedy);
  }
  return yoke_fail(
      ctx, YOKE_E_STEP_TOO_SMALL,
      "step control: the macro step from t = %.9g s fell below %.3g s; with %.3g s the error is still "
      "%.3g times its tolerance, most of it at coupling '%s'; use a larger cosimulation.step.rtol or atol, "
      "a smaller cosimulation.step.min, tighter solvers, or another scheme",
      t, least_step(c), H, v->error, yoke_graph_wire_name(c->graph, v->worst));
}

/* A joint is open, and a subsystem cannot go back to try a shorter step. */
static yoke_status too_wide(const yoke_controller *c, double H, yoke_context *ctx) {
  char joint[300];
  yoke_graph_open_joint(c->graph, joint, sizeof joint);
  return yoke_fail(
      ctx, YOKE_E_UNSTABLE,
      "step control: behind the macro step of %.3g s from t = %.9g s %s, and a subsystem cannot go back; use a "
      "smaller cosimulation.step.max or cosimulation.step.rtol",
      H, yoke_graph_t(c->graph), joint);
}

/* The messages of the last trial belong to the run now. */
static void tell(const yoke_controller *c, yoke_context *ctx) {
  for (size_t i = 0; i < yoke_context_n_messages(c->trial_ctx); ++i) {
    if (yoke_context_message_severity(c->trial_ctx, i) == YOKE_SEVERITY_ERROR)
      (void)yoke_fail(ctx, YOKE_E_SUBSYSTEM, "%s", yoke_context_message(c->trial_ctx, i));
    else
      yoke_warn(ctx, "%s", yoke_context_message(c->trial_ctx, i));
  }
}

/* T_{N+1}: the planned step, or the stop when that is nearer; a rest of rounding is taken along. Two halves where multipliers would have to
 * close over a sliver of a step what the step before has left open, m gap / H^2. */
static double target(const yoke_controller *c, double t_stop, bool *is_clipped) {
  static const double sliver = 0.05;
  const double        t = yoke_graph_t(c->graph), rest = t_stop - t;
  *is_clipped = rest <= c->H * (1.0 + 1e-6);
  if (*is_clipped) return t_stop;
  return t + (rest < (1.0 + sliver) * c->H && yoke_graph_forgets_start(c->graph) ? 0.5 * rest : c->H);
}

/* Multipliers that lost their way are replaced by those that belong to the motion (trial.h). */
static yoke_status settle(yoke_controller *c, yoke_context *ctx) {
  if (!c->leaves_gaps || !yoke_graph_multipliers_are_off(c->graph)) return YOKE_OK;
  const yoke_status status = yoke_graph_restart_consistent(c->graph, ctx);
  if (status == YOKE_OK) return YOKE_OK;
  return yoke_fail(ctx, status > 0 ? YOKE_E_UNSTABLE : status,
                   "step control: the couplings cannot begin anew at t = %.9g s; use %s", yoke_graph_t(c->graph),
                   yoke_graph_traits(c->graph)->corrects_to_tolerance ? "another formulation" : "scheme implicit");
}

yoke_status yoke_controller_step(yoke_controller *c, double t_stop, yoke_step_statistics *statistics,
                                 yoke_context *ctx) {
  yoke_step_statistics total = {.rate = (double)NAN, .converged = true, .reduced_by = YOKE_NOT_REDUCED};
  const double         t     = yoke_graph_t(c->graph);
  if (!c->has_scales) yoke_estimator_start(&c->estimator, c->graph);
  c->has_scales = true;
  yoke_context_watch_with(c->trial_ctx, ctx, true);
  for (;;) {
    bool                 is_clipped;
    const double         t_next = target(c, t_stop, &is_clipped), H = t_next - t;
    yoke_step_statistics one;
    verdict              v;
    yoke_graph_set_degree(c->graph, c->degree);
    yoke_graph_set_comparison(c->graph, yoke_estimator_next_comparison(&c->estimator, c->graph, H));
    yoke_estimator_tolerate(&c->estimator, c->graph);
    yoke_context_clear(c->trial_ctx);
    yoke_status status = yoke_graph_try(c->graph, t_next, &one, c->trial_ctx);
    yoke_step_add_work(&total, &one);
    *statistics = total;
    if (!is_worth_another(c, status)) {
      tell(c, ctx);
      return status == YOKE_JOINT_OPEN ? too_wide(c, H, ctx) : status;
    }
    judge(c, status, &v);
    if (v.accepted) spare_budget(c, H, &v);
    YOKE_TRY(agree(c, &v));
    if (v.accepted && c->end != NULL) {
      const double end = c->end(c->end_user, t_next, ctx);
      if (end < t_next || (end > t_next && isfinite(end))) {
        ++total.rejected[YOKE_REDUCED_BY_EVENT];
        total.reduced_by = YOKE_REDUCED_BY_EVENT;
        t_stop           = end;
        continue;
      }
    }
    if (v.accepted) {
      total.local_error = (double)NAN;
      if (c->monitor != NULL) YOKE_TRY(yoke_monitor_look(c->monitor, &c->estimator, &total));
      if (c->settings.budget > 0.0 && !isnan(total.local_error)) mind_budget(c, H, &v);
      yoke_estimator_accept(&c->estimator, c->graph, &v.estimate);
      YOKE_TRY(yoke_graph_accept(c->graph, ctx));
      total.residual = one.residual;
      memcpy(total.residuals, one.residuals, sizeof total.residuals);
      memcpy(total.sizes, one.sizes, sizeof total.sizes);
      total.has_kept  = one.has_kept;
      total.rate      = one.rate;
      total.converged = one.converged;
      total.degree    = v.tried;
      total.error     = v.error;
      total.is_forced = v.error > 1.0;
      *statistics     = total;
      c->n_spared     = 0;
      plan(c, &v, H, is_clipped);
      YOKE_TRY(watch_price(c, &v, H, ctx));
      return settle(c, ctx);
    }
    ++total.rejected[reason_of(status)];
    total.reduced_by = reason_of(status);
    *statistics      = total;
    c->starts = c->leaps = false;
    c->n_good            = 0;
    c->degree            = v.degree;
    c->H                 = v.ratio * H;
    if (c->H < least_step(c)) {
      tell(c, ctx);
      return too_small(c, &v, status, H, ctx);
    }
  }
}
