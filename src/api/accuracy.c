#include "api/accuracy.h"

#include "base/memory.h"
#include "base/text.h"
#include <math.h>
#include <stdlib.h>

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

static void release_list(yoke_error_share **list, int n) {
  for (int i = 0; *list != NULL && i < n; ++i) free((*list)[i].name);
  free(*list);
  *list = NULL;
}

void yoke_accuracy_release(yoke_run_summary *s) {
  release_list(&s->subsystem_errors, s->n_subsystems);
  release_list(&s->coupling_errors, s->n_couplings);
}

yoke_status yoke_accuracy_take(yoke_context *ctx, const yoke_run_system *run, yoke_run_summary *s) {
  const yoke_plan        *plan    = run->plan;
  const yoke_error_tally *tally   = tally_of(run);
  const yoke_monitor     *monitor = yoke_system_monitor(run->system);
  s->accumulated_error            = yoke_accuracy_largest(run);
  if (monitor != NULL) {
    const yoke_monitor_facts facts = yoke_monitor_facts_get(monitor);
    s->estimated_steps             = facts.estimates;
    s->monitor_evaluations         = facts.evaluations;
    s->monitor_integrations        = facts.integrations;
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
