#include "master/step_choice.h"

#include "coupling/scheme.h"
#include "master/macro_settings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool has_joint(const yoke_split *split) {
  for (int k = 0; k < split->n_couplings; ++k) {
    if (split->couplings[k].is_joint) return true;
  }
  return false;
}

/* Does the formulation of a coupling take this degree without a complaint? */
static bool bears(const yoke_split *split, int k, const yoke_scheme_ops *scheme, int order) {
  yoke_context           *quiet = NULL;
  const yoke_coupling_def def   = yoke_split_coupling_def(split, k);
  if (yoke_context_create(&quiet) != YOKE_OK) return false;
  const yoke_status status = def.formulation->check(quiet, &def, scheme != NULL ? &scheme->traits : NULL, order);
  const bool        bears  = status == YOKE_OK && yoke_context_n_messages(quiet) == 0;
  yoke_context_destroy(&quiet);
  return bears;
}

/* Copied motions that are held over a step lead or lag in time and feed energy (Kraft 8): degree 0 is for the start only. Joints
 * whose copies have conditions of their own do not count. */
static bool copies_motion(const yoke_split *split, int k) {
  const yoke_wire    *wire = &split->wires[k];
  int                 n;
  const yoke_channel *channels = wire->formulation->channels(wire->self, &n);
  if (wire->formulation->instant != NULL && wire->formulation->instant->for_estimates) return false;
  for (int i = 0; i < n; ++i) {
    if (!channels[i].is_force) return true;
  }
  return false;
}

/* Highest degree of a coupling that fixes its own. */
static int own_order(const yoke_wire *wire) {
  int n, highest = 0;
  (void)wire->formulation->channels(wire->self, &n);
  for (int i = 0; i < n; ++i) {
    const int order = wire->formulation->extrapolation->order(wire->self, i);
    if (order > highest) highest = order;
  }
  return highest;
}

/* Degrees that the file gives. With predictor acceleration the degree of the run is that of the accelerations, which is as good as
 * coupling values of one degree more; a relaxed end value is no better than its accelerations. */
static void given_orders(const yoke_macro_settings *macro, yoke_control_settings *settings) {
  const int            own       = macro->scheme.order_acceleration;
  const yoke_predictor predictor = macro->scheme.predictor;
  settings->order_min            = macro->order >= 0 ? macro->order : macro->control.order_min;
  settings->order_max            = macro->order >= 0 ? macro->order : macro->control.order_max;
  if (predictor == YOKE_PREDICTOR_ACCELERATION && own >= 0) {
    settings->order_min = settings->order_max = own;
  } else if (yoke_predictor_is_motion(predictor) && macro->order < 0) {
    const int most = own >= 0 ? own + 1 : YOKE_ORDER_MAX - 1;
    if (settings->order_max > most) settings->order_max = most;
    if (settings->order_min > most) settings->order_min = most;
  }
}

void yoke_step_choose_orders(const yoke_split *split, const yoke_scheme_settings *scheme,
                             yoke_control_settings *settings) {
  yoke_macro_settings macro;
  yoke_macro_settings_read(split->model, &macro);
  given_orders(&macro, settings);
  for (int k = 0; macro.order < 0 && k < split->n_couplings; ++k) {
    if (split->wires[k].formulation->extrapolation != NULL) { /* degrees of its own, fixed when it was made */
      settings->order_min = settings->order_max = own_order(&split->wires[k]);
      return;
    }
    if (copies_motion(split, k) && settings->order_min == 0 && settings->order_max > 0) settings->order_min = 1;
    while (settings->order_max > settings->order_min &&
           !bears(split, k, yoke_scheme_find(scheme->scheme), settings->order_max))
      --settings->order_max;
  }
}

void yoke_step_choose_scheme(const yoke_split *split, yoke_scheme_settings *settings) {
  yoke_macro_settings macro;
  yoke_macro_settings_read(split->model, &macro);
  const yoke_scheme_ops *implicit = yoke_scheme_find("implicit");
  if (macro.has_scheme || !has_joint(split) || yoke_predictor_is_motion(settings->predictor)) return;
  for (int k = 0; k < split->n_couplings; ++k) {
    const yoke_formulation_ops *ops = split->wires[k].formulation;
    const bool has_sets = ops->sets != NULL && ops->sets->n(split->wires[k].self) > 1; /* no common solution */
    if (has_sets || !bears(split, k, implicit, macro.order >= 0 ? macro.order : macro.control.order_min)) return;
  }
  snprintf(settings->scheme, sizeof settings->scheme, "%s", implicit->traits.name);
}

/* ---- the rest ---- */

static void say(yoke_step_choice *choice, const char *format, ...) {
  const size_t used = strlen(choice->reasons);
  va_list      args;
  va_start(args, format);
  vsnprintf(choice->reasons + used, sizeof choice->reasons - used, format, args);
  va_end(args);
}

static yoke_status choose_estimator(yoke_context *ctx, const yoke_graph *graph, yoke_step_choice *choice) {
  static const char *const ways[] = {
      [YOKE_ESTIMATE_HIGHER]     = "motion against a second integration of a higher degree",
      [YOKE_ESTIMATE_END]        = "motion against a second integration with better end values",
      [YOKE_ESTIMATE_PREDICTED]  = "motion of the corrector against that of the predictor",
      [YOKE_ESTIMATE_CONSISTENT] = "motion against a second integration with consistent coupling values",
      [YOKE_ESTIMATE_COUPLING]   = "coupling values against predicted ones",
      [YOKE_ESTIMATE_MULTIPLIER] = "consistent coupling values against predicted ones"};
  yoke_estimate_way   way;
  const yoke_setting *row      = yoke_setting_find(&yoke_control_rows, "estimator");
  const bool          is_given = !yoke_setting_is_open(row, &choice->settings);
  char                word[8];
  if (!is_given) choice->settings.estimator = YOKE_ESTIMATOR_MD;
  yoke_status status = yoke_estimator_choose(choice->settings.estimator, graph, is_given ? ctx : NULL, &way);
  if (status != YOKE_OK && !is_given) {
    choice->settings.estimator = YOKE_ESTIMATOR_CV;
    status                     = yoke_estimator_choose(YOKE_ESTIMATOR_CV, graph, ctx, &way);
  }
  yoke_setting_text(row, &choice->settings, word, sizeof word);
  if (status == YOKE_OK) say(choice, "estimator %s (%s)", word, ways[way]);
  return status;
}

/* A multiplier that holds a gap over a step H carries the noise of positions divided by H^2: joints bear no tiny first step. */
static void choose_steps(const yoke_split *split, yoke_step_choice *choice) {
  const double           run = split->model->t_end - split->model->t_start, span = run > 0.0 ? run : 1.0;
  yoke_control_settings *s        = &choice->settings;
  const bool             is_given = s->initial > 0.0;
  if (!(s->max > 0.0)) s->max = span / 10.0;
  if (!(s->min > 0.0)) s->min = 1e-12 * span;
  if (!is_given) s->initial = span * (has_joint(split) ? 1e-4 : 1e-6);
  s->initial = fmin(s->initial, s->max);
  if (is_given)
    say(choice, "; first step %.3g s", s->initial);
  else
    say(choice, "; first step %.3g s (%s)", s->initial, has_joint(split) ? "rigid joints" : "no rigid joint");
}

yoke_status yoke_step_choose(yoke_context *ctx, const yoke_split *split, const yoke_graph *graph,
                             yoke_step_choice *choice) {
  const int           low = choice->settings.order_min, high = choice->settings.order_max;
  yoke_macro_settings macro;
  yoke_macro_settings_read(split->model, &macro);
  *choice                    = (yoke_step_choice){.settings = macro.control};
  choice->settings.order_min = low;
  choice->settings.order_max = high;
  const bool is_motion       = yoke_predictor_is_motion(yoke_graph_settings(graph)->predictor);
  if (!macro.has_scheme)
    say(choice, "scheme %s (%s); ", yoke_graph_settings(graph)->scheme,
        is_motion          ? "predictor by accelerations"
        : has_joint(split) ? "rigid joints"
                           : "one correction is enough for force elements");
  YOKE_TRY(choose_estimator(ctx, graph, choice));
  choose_steps(split, choice);
  const char *fixed = NULL;
  if (!yoke_graph_can_repeat(graph, &fixed))
    say(choice, "; uncontrolled acceptance (subsystem '%s' cannot go back)", fixed);
  if (low == high)
    say(choice, "; order %d", low);
  else
    say(choice, "; order %d to %d%s", low, high,
        macro.order >= 0 || high == macro.control.order_max ? ""
        : is_motion                                         ? " (accelerations)"
                                                            : " (as the formulations bear)");
  return YOKE_OK;
}
