/* Statistics of a simulation. */
#include "api/simulation.h"

#include "base/sized.h"
#include "api/step_report.h"
#include <math.h>
#include <stdio.h>

_Static_assert((int)YOKE_N_RESIDUAL_KINDS == (int)YOKE_N_RESIDUALS,
               "kinds of residuals of the library and of the statistics");

void simulation_residuals(const yoke_macro_totals *from, yoke_residual_summary to[YOKE_N_RESIDUAL_KINDS]) {
  for (int k = 0; k < YOKE_N_RESIDUAL_KINDS; ++k) {
    const yoke_residual_total *total = &from->residuals[k];
    to[k] = (yoke_residual_summary){.exists = total->size > 0.0, .largest = total->largest, .share = total->share};
  }
}

yoke_status yoke_simulation_statistics_get(yoke_context *ctx, yoke_simulation *s, yoke_simulation_statistics *out) {
  YOKE_TRY(simulation_check_idle(ctx, s));
  YOKE_TRY(yoke_sized_check(ctx, out, "yoke_simulation_statistics"));
  yoke_system_summary        sum;
  yoke_simulation_statistics own = {0};
  yoke_system_summarise(s->run.system, &sum);
  own.steps               = sum.counters.steps;
  own.rejected_steps      = sum.counters.rejected;
  own.evaluations         = sum.counters.evaluations;
  own.jacobians           = sum.counters.jacobians;
  own.factorizations      = sum.counters.factorings;
  own.has_energy          = sum.has_energy && isfinite(sum.energy_drift);
  own.energy_start        = sum.energy_start;
  own.energy_drift        = sum.energy_drift;
  own.constraint_residual = sum.constraint_residual;
  own.n_events            = sum.n_events;
  own.n_rows              = s->recorder != NULL ? s->recorder->n_rows : 0;
  own.is_split            = sum.has_macro_steps;
  own.report              = yoke_step_report_of(&s->tally);
  snprintf(own.method, sizeof own.method, "%s", sum.method != NULL ? sum.method : "");
  if (sum.has_macro_steps) {
    own.macro_steps          = sum.macro.steps;
    own.rejected_macro_steps = sum.macro.rejected;
    own.iterations           = sum.macro.iterations;
    own.integrations         = sum.macro.integrations;
    own.unconverged          = sum.macro.unconverged;
    own.matrices             = sum.macro.matrices;
    own.all_evaluations      = sum.macro.evaluations;
    own.all_jacobians        = sum.macro.jacobians;
    own.kept_matrices        = sum.macro.kept;
    own.residual             = sum.macro.residual;
    simulation_residuals(&sum.macro, own.residuals);
  }
  yoke_sized_give(out, &own, sizeof own);
  return YOKE_OK;
}
