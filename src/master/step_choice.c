#include "master/step_choice.h"

#include "control/control_settings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* [rtol], measured (tests/campaign): contacts amplify what force elements leave, rigid joints leave less than they tell. */
static const double usual_budget = 1.0, joint_budget = 2.0, wide_budget = 10.0;

static bool has_joint(const yoke_plan *plan) {
  for (int k = 0; k < plan->n_couplings; ++k) {
    if (plan->wires[k].joint != NULL) return true;
  }
  return false;
}

static void say(yoke_step_choice *choice, const char *format, ...) {
  const size_t used = strlen(choice->reasons);
  va_list      args;
  va_start(args, format);
  vsnprintf(choice->reasons + used, sizeof choice->reasons - used, format, args);
  va_end(args);
}

/* Who names an estimator wants that control as it was published, of single steps, unless they add up to far more; those of cv do not. Copies in
 * halos differ from their originals by what the solvers of both leave, too, and no shorter macro step lowers that; nor what solvers leave in multipliers that
 * take other steps in every pass: there a budget makes steps ever shorter, and that noise only adds up more often. */
static double open_budget(const yoke_plan *plan, const yoke_graph *graph, bool names_estimator,
                          yoke_estimator_kind estimator) {
  bool is_all_joints = true;
  for (int k = 0; k < plan->n_couplings; ++k) is_all_joints = is_all_joints && plan->couplings[k].is_joint;
  if (yoke_graph_is_all_overlap(graph) || plan->step.wanders) return 0.0;
  if (names_estimator) return estimator == YOKE_ESTIMATOR_CV ? 0.0 : wide_budget;
  return is_all_joints ? joint_budget : usual_budget;
}

static void choose_budget(const yoke_plan *plan, const yoke_graph *graph, bool names_estimator,
                          yoke_step_choice *choice) {
  double *budget = &choice->settings.budget;
  if (yoke_setting_is_open(yoke_setting_find(&yoke_control_rows, "budget"), &choice->settings))
    *budget = open_budget(plan, graph, names_estimator, choice->settings.estimator);
  if (*budget > 0.0) say(choice, "; budget %.3g rtol", *budget);
}

static void tell_share(yoke_step_choice *choice) {
  if (choice->settings.share < 1.0)
    say(choice, "; steps held to %.2g rtol, since their errors add up", choice->settings.share);
}

static void tell_growth(yoke_step_choice *choice) {
  const double growth = choice->settings.growth, share = yoke_growth_share(growth);
  if (share < 1.0)
    say(choice, "; steps held to %.2g rtol, since the motion makes errors %.0f times larger", share, growth);
}

/* Who names md wants all of its comparisons. */
static void choose_comparisons(bool names_estimator, yoke_step_choice *choice) {
  enum { USUAL = 5 };
  if (yoke_setting_is_open(yoke_setting_find(&yoke_control_rows, "compare"), &choice->settings))
    choice->settings.compare = names_estimator ? 1 : USUAL;
}

/* Who names md wants its steps as they were published, and who names a corrector that is finer than usual what it finds. */
static void choose_shifts(const yoke_plan *plan, bool names_estimator, yoke_step_choice *choice) {
  static const double usual   = 0.09; /* of step.rtol: a tenth, but for rounding */
  const double        rtol    = yoke_growth_share(choice->settings.growth) * choice->settings.tolerances.rtol;
  const bool          is_fine = plan->scheme.rtol < usual * rtol;
  if (choice->settings.shift == YOKE_SHIFT_AUTO)
    choice->settings.shift = names_estimator || is_fine ? YOKE_SHIFT_OFF : YOKE_SHIFT_ON;
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
  if (status == YOKE_OK && yoke_graph_is_all_overlap(graph))
    say(choice, "errors of copies in halos, whatever the estimator");
  else if (status == YOKE_OK)
    say(choice, "estimator %s (%s)", word, ways[way]);
  return status;
}

/* A multiplier that holds a gap over a step H carries the noise of positions divided by H^2: joints bear no tiny first step. */
static void choose_steps(const yoke_plan *plan, yoke_step_choice *choice) {
  const double           run = plan->t_end - plan->t_start, span = run > 0.0 ? run : 1.0;
  yoke_control_settings *s        = &choice->settings;
  const bool             is_given = s->initial > 0.0;
  if (!(s->max > 0.0)) s->max = span / 10.0;
  if (!(s->min > 0.0)) s->min = 1e-12 * span;
  if (!is_given) s->initial = span * (has_joint(plan) ? 1e-4 : 1e-6);
  s->initial = fmin(s->initial, s->max);
  if (is_given)
    say(choice, "; first step %.3g s", s->initial);
  else
    say(choice, "; first step %.3g s (%s)", s->initial, has_joint(plan) ? "rigid joints" : "no rigid joint");
}

yoke_status yoke_step_choose(yoke_context *ctx, const yoke_plan *plan, const yoke_graph *graph,
                             yoke_step_choice *choice) {
  const yoke_plan_step *step = &plan->step;
  *choice                    = (yoke_step_choice){.settings = step->control};
  if (step->scheme_reason[0] != '\0') say(choice, "%s; ", step->scheme_reason);
  const bool names_estimator =
      !yoke_setting_is_open(yoke_setting_find(&yoke_control_rows, "estimator"), &step->control);
  YOKE_TRY(choose_estimator(ctx, graph, choice));
  choose_budget(plan, graph, names_estimator, choice);
  tell_share(choice);
  tell_growth(choice);
  choose_comparisons(names_estimator, choice);
  choose_shifts(plan, names_estimator, choice);
  choose_steps(plan, choice);
  const char *fixed = NULL;
  if (!yoke_graph_can_repeat(graph, &fixed))
    say(choice, "; uncontrolled acceptance (subsystem '%s' cannot go back)", fixed);
  say(choice, "; %s", step->order_reason);
  return YOKE_OK;
}
