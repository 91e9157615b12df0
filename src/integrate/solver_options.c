#include "integrate/solver_options.h"

#include <string.h>

yoke_integrator_options yoke_solver_options(const yoke_solver_def *def) {
  yoke_integrator_options o = yoke_integrator_options_default();
  o.rtol                    = def->rtol;
  o.atol                    = def->atol > 0.0 ? def->atol : 1e-2 * def->rtol; /* not given: follows rtol */
  o.fixed_step              = def->step;
  o.max_step                = def->max_step;
  o.max_order               = def->max_order;
  o.rho_inf                 = def->rho_inf;
  o.linear                  = strcmp(def->linear, "dense") == 0    ? YOKE_LINEAR_DENSE
                              : strcmp(def->linear, "banded") == 0 ? YOKE_LINEAR_BANDED
                                                                   : YOKE_LINEAR_KLU;
  o.form = strcmp(def->constraints, "ggl") == 0 || def->constraints[0] == '\0' ? YOKE_DAE_GGL : YOKE_DAE_INDEX1;
  if (strcmp(def->constraints, "baumgarte") == 0) {
    o.alpha = def->baumgarte_alpha;
    o.beta  = def->baumgarte_beta;
  }
  return o;
}
