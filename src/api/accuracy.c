#include "api/accuracy.h"

#include "master/plan_bytes.h"

#include "base/memory.h"
#include "base/text.h"
#include <math.h>
#include <stdarg.h>
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

static void tell_limits(const yoke_run_system *run, const yoke_monitor_facts *facts, yoke_run_summary *s) {
  if (yoke_scheme_has_substeps(&run->plan->scheme, run->plan->n_parts))
    snprintf(s->error_limits, sizeof s->error_limits,
             "exchanges inside of macro steps (substeps) are not estimated; yoke run --verify gives error bars");
  if (facts != NULL && facts->blind != NULL)
    snprintf(s->error_limits, sizeof s->error_limits, "subsystem '%.100s' cannot go back: its own error is not known",
             facts->blind);
}

yoke_status yoke_accuracy_take(yoke_context *ctx, const yoke_run_system *run, double growth, const yoke_growth *motion,
                               yoke_run_summary *s) {
  const yoke_plan        *plan    = run->plan;
  const yoke_error_tally *tally   = tally_of(run);
  const yoke_monitor     *monitor = yoke_system_monitor(run->system);
  s->accumulated_error            = yoke_accuracy_largest(run);
  s->predicted_growth             = growth;
  s->motion_growth                = motion->factor;
  s->monitor_evaluations          = motion->evaluations;
  s->convergence_order            = order_of(run);
  if (monitor == NULL) {
    tell_limits(run, NULL, s);
  } else {
    const yoke_monitor_facts facts = yoke_monitor_facts_get(monitor);
    s->estimated_steps             = facts.estimates;
    s->monitor_evaluations += facts.evaluations;
    s->monitor_integrations = facts.integrations;
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

/* ---- energy ---- */

yoke_status yoke_accuracy_energy(yoke_context *ctx, const yoke_run_system *run, yoke_passive_energy *out) {
  *out = (yoke_passive_energy){0};
  if (run->plan->step.is_free || !yoke_plan_is_passive(run->plan)) return YOKE_OK;
  yoke_status status = yoke_system_value(run->system, "total.energy", &out->total, NULL);
  if (status == YOKE_OK) status = yoke_system_value(run->system, "total.kinetic", &out->kinetic, NULL);
  out->is_known = status == YOKE_OK;
  return status == YOKE_E_MEMORY ? yoke_out_of_memory(ctx, "the energy of the model") : YOKE_OK;
}

void yoke_accuracy_gain(const yoke_passive_energy *before, const yoke_passive_energy *after, yoke_run_summary *s) {
  const double size = fmax(before->kinetic, after->kinetic);
  s->energy_gain =
      before->is_known && after->is_known && size > 0.0 ? (after->total - before->total) / size : (double)NAN;
}

/* ---- judgement ---- */

static const double small = 1e-3, plain = 0.01, strong = 0.1; /* of the spread */
static const double usual_growth = 3.0, most_growth = 1e4;    /* of errors by the motion */
static const double moved_far =
    0.03; /* the growth of one disturbance at the start is that of others within a factor of 3 */

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

/* What counts against a run. */
typedef struct evidence {
  double error, grown; /* accumulated, alone and with the predicted growth; NaN: not known */
  double moved;        /* with what the motion makes of it, 0: not measured */
  double gain;         /* of energy */
} evidence;

static evidence weigh(const yoke_run_summary *s) {
  evidence e      = {.error = s->accumulated_error};
  e.grown         = s->predicted_growth > 1.0 ? e.error * s->predicted_growth : e.error;
  e.moved         = s->motion_growth > usual_growth ? e.error * fmin(s->motion_growth, most_growth) : 0.0;
  const bool fits = e.error < small && s->error_limits[0] == '\0';
  /* where errors are known to be small a gain is no sign of them: the kinetic energy may be small at both ends */
  e.gain = fits || !(s->energy_gain > 0.0) ? 0.0 : s->energy_gain;
  return e;
}

static bool is_warned(const evidence *e) {
  return e->grown > plain || e->moved > moved_far || e->gain > strong;
}

/* Errors that grow show in those of later steps: a small sum belies the prediction, which is of small motions about the rest state. */
static bool is_strong(const evidence *e) {
  return e->error > strong || (e->error > plain && e->grown > strong) || e->moved > 10.0 * moved_far || e->gain > 1.0;
}

static void add(char *text, size_t size, const char *format, ...) {
  const size_t used = strlen(text);
  va_list      args;
  va_start(args, format);
  vsnprintf(text + used, size - used, format, args);
  va_end(args);
}

static void tell_errors(const yoke_run_summary *s, char *text, size_t size) {
  if (isnan(s->accumulated_error)) return;
  add(text, size, "the errors of the macro steps add up to %s %.3g %% of the motion",
      s->accumulated_error > 10.0 ? "more than" : "about", fmin(100.0 * s->accumulated_error, 1e3));
  if (s->error_limits[0] != '\0') add(text, size, " (%s)", s->error_limits);
  add(text, size, ", most of it at coupling '%.100s'", worst_coupling(s));
  if (s->predicted_growth > 1.0)
    add(text, size, ", and the couplings are predicted to let errors grow by a factor of %.3g", s->predicted_growth);
  if (s->motion_growth > usual_growth)
    add(text, size, ", and the motion itself makes small errors %s%.0f times larger",
        s->motion_growth > most_growth ? "more than " : "", fmin(s->motion_growth, most_growth));
  add(text, size, "; ");
}

static void tell_open_steps(const yoke_run_summary *s, char *text, size_t size) {
  if (s->unconverged == 0) return;
  add(text, size,
      "%lld of %lld macro steps were accepted although the conditions of their couplings do not hold to tolerance; ",
      (long long)s->unconverged, (long long)s->macro_steps);
}

void yoke_accuracy_judge(yoke_context *ctx, const yoke_run_system *run, const yoke_run_summary *s) {
  char           text[900] = "", remedy[160];
  const evidence e         = weigh(s);
  if (!is_warned(&e)) {
    tell_open_steps(s, text, sizeof text);
    if (text[0] != '\0')
      yoke_warn(ctx,
                "%ssee the residuals, and use a smaller step, or more passes (cosimulation.corrector.max_iterations)",
                text);
    return;
  }
  tell_errors(s, text, sizeof text);
  if (e.gain > strong)
    add(text, sizeof text, "nothing drives the model, and it has gained %.3g %% of its kinetic energy; ",
        100.0 * e.gain);
  tell_open_steps(s, text, sizeof text);
  find_remedy(run, s, fmax(fmax(e.error, plain), e.moved * plain / moved_far), remedy, sizeof remedy);
  yoke_warn(ctx, "%s%suse %s", text, is_strong(&e) ? "do not use this result, " : "", remedy);
}
