#include "api/accuracy.h"

#include "base/memory.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tally of a run that knows its errors; NULL: it does not. */
static const yoke_error_tally *tally_of(const yoke_run_system *run) {
  const yoke_monitor *monitor = yoke_system_monitor(run->system);
  return monitor != NULL && yoke_monitor_facts_get(monitor).estimates > 0 ? yoke_monitor_tally(monitor) : NULL;
}

double yoke_accuracy_largest(const yoke_run_system *run) {
  const yoke_error_tally *tally   = tally_of(run);
  double                  largest = 0.0;
  if (tally == NULL) return (double)NAN;
  for (int k = 0; k < run->plan->n_couplings; ++k) largest = fmax(largest, yoke_error_tally_coupling(tally, k));
  return largest;
}

void yoke_accuracy_subsystems(const yoke_run_system *run, double *errors) {
  const yoke_error_tally *tally = tally_of(run);
  for (int i = 0; i < run->plan->n_parts; ++i) errors[i] = (double)NAN;
  if (tally != NULL) yoke_error_tally_subsystems(tally, run->plan->n_parts, errors);
}

static void release_list(yoke_error_share **list, int n) {
  for (int i = 0; *list != NULL && i < n; ++i) free((*list)[i].name);
  free(*list);
  *list = NULL;
}

void yoke_accuracy_release(yoke_run_summary *s) {
  release_list(&s->subsystem_errors, s->n_subsystems);
  release_list(&s->coupling_errors, s->n_couplings);
}

/* Errors of one step fall with H^p, their sum with H^(p - 1). */
static int order_of(const yoke_run_system *run) {
  int order[2];
  yoke_graph_local_order(yoke_system_graph(run->system), run->plan->scheme.order, order);
  return order[1] > 2 ? order[1] - 1 : 1;
}

/* Couplings whose estimates are far too large. */
static const char *upper_of(const yoke_run_system *run) {
  const char *name;
  for (int k = 0; k < run->plan->n_couplings; ++k) {
    if (yoke_graph_is_upper(yoke_system_graph(run->system), k, &name)) return name;
  }
  return NULL;
}

static void tell_limits(const yoke_run_system *run, const yoke_monitor_facts *facts, yoke_run_summary *s) {
  const char *upper = upper_of(run);
  size_t      at    = 0;
  if (facts->blind != NULL)
    at = (size_t)snprintf(s->error_limits, sizeof s->error_limits,
                          "subsystem '%.100s' cannot go back: its own error is not known", facts->blind);
  if (upper != NULL && at < sizeof s->error_limits)
    snprintf(s->error_limits + at, sizeof s->error_limits - at,
             "%sthe estimates of formulation %s are too large, up to a hundred times", at > 0 ? "; " : "", upper);
}

yoke_status yoke_accuracy_take(yoke_context *ctx, const yoke_run_system *run, double growth, yoke_run_summary *s) {
  const yoke_plan        *plan    = run->plan;
  const yoke_error_tally *tally   = tally_of(run);
  const yoke_monitor     *monitor = yoke_system_monitor(run->system);
  s->accumulated_error            = yoke_accuracy_largest(run);
  s->predicted_growth             = growth;
  s->convergence_order            = order_of(run);
  if (monitor != NULL) {
    const yoke_monitor_facts facts = yoke_monitor_facts_get(monitor);
    s->estimated_steps             = facts.estimates;
    s->monitor_evaluations         = facts.evaluations;
    s->monitor_integrations        = facts.integrations;
    tell_limits(run, &facts, s);
  }
  if (tally == NULL) return YOKE_OK;
  double *errors      = yoke_allocate((size_t)plan->n_parts + 1, sizeof *errors);
  s->subsystem_errors = yoke_allocate((size_t)plan->n_parts + 1, sizeof *s->subsystem_errors);
  s->coupling_errors  = yoke_allocate((size_t)plan->n_couplings + 1, sizeof *s->coupling_errors);
  bool done           = errors != NULL && s->subsystem_errors != NULL && s->coupling_errors != NULL;
  if (done) yoke_error_tally_subsystems(tally, plan->n_parts, errors);
  for (int i = 0; done && i < plan->n_parts; ++i) {
    s->subsystem_errors[i] = (yoke_error_share){yoke_text_copy(plan->parts[i].name), errors[i]};
    done                   = s->subsystem_errors[i].name != NULL;
  }
  for (int k = 0; done && k < plan->n_couplings; ++k) {
    s->coupling_errors[k] =
        (yoke_error_share){yoke_text_copy(plan->couplings[k].name), yoke_error_tally_coupling(tally, k)};
    done = s->coupling_errors[k].name != NULL;
  }
  free(errors);
  return done ? YOKE_OK : yoke_out_of_memory(ctx, "the accuracy of the run");
}

/* ---- judgement ---- */

static const double plain = 0.01, strong = 0.1; /* of the spread */
static const double upper = 30.0; /* by which estimates that are far too large are lowered before they are judged */

/* What would bring the error to half of what is warned of. */
static void find_remedy(const yoke_run_system *run, const yoke_run_summary *s, double error, char *text, size_t size) {
  const yoke_plan *plan  = run->plan;
  const double     share = 0.5 * plain / error;
  if (plan->step.is_controlled) {
    snprintf(text, size, "cosimulation.step.rtol %.1g", share * s->macro_rtol);
    return;
  }
  const double H = s->macro_step * pow(share, 1.0 / (double)s->convergence_order);
  if (error > 1.0) /* no order holds there */
    snprintf(text, size, "step control (cosimulation.step auto)%s",
             plan->scheme.order == 0 ? ", or cosimulation.order 1 or 2" : "");
  else if (plan->scheme.order == 0)
    snprintf(text, size, "cosimulation.order 1 or 2, or cosimulation.step %.1g s", H);
  else
    snprintf(text, size, "cosimulation.step %.1g s, or step control (cosimulation.step auto)", H);
}

static const char *worst_coupling(const yoke_run_summary *s) {
  int worst = 0;
  for (int k = 1; k < s->n_couplings; ++k) {
    if (s->coupling_errors[k].error > s->coupling_errors[worst].error) worst = k;
  }
  return s->coupling_errors[worst].name;
}

/* "; 3 of 20 macro steps ..." where conditions do not hold. */
static void tell_open_steps(const yoke_run_summary *s, char *text, size_t size) {
  text[0] = '\0';
  if (s->unconverged == 0) return;
  snprintf(text, size,
           "%lld of %lld macro steps were accepted although the conditions of their couplings do not hold to tolerance",
           (long long)s->unconverged, (long long)s->macro_steps);
}

void yoke_accuracy_judge(yoke_context *ctx, const yoke_run_system *run, const yoke_run_summary *s) {
  char         remedy[160], open[200];
  const bool   grows = s->predicted_growth > 1.0;
  const double error =
      s->accumulated_error * (grows ? s->predicted_growth : 1.0) / (upper_of(run) != NULL ? upper : 1.0);
  tell_open_steps(s, open, sizeof open);
  if (!(error > plain)) {
    if (open[0] != '\0')
      yoke_warn(ctx,
                "%s; see the residuals, and use a smaller step, or more passes (cosimulation.corrector.max_iterations)",
                open);
    return;
  }
  /* what grows by instability is another matter: the prediction has said which step is stable */
  find_remedy(run, s, fmax(plain, grows ? error / s->predicted_growth : error), remedy, sizeof remedy);
  char growth[120] = "";
  if (grows)
    snprintf(growth, sizeof growth, ", and the couplings are predicted to let errors grow by a factor of %.3g",
             s->predicted_growth);
  yoke_warn(ctx,
            "the errors of the macro steps add up to %s %.3g %% of the motion%s%s, most of it at coupling "
            "'%s'%s%s%s; %suse %s",
            s->accumulated_error > 10.0 ? "more than" : "about", fmin(100.0 * s->accumulated_error, 1e3),
            s->error_limits[0] != '\0' ? ", where " : "", s->error_limits, worst_coupling(s), growth,
            open[0] != '\0' ? "; " : "", open, error > strong ? "do not use this result, " : "", remedy);
}
