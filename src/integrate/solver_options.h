/* Options of an integrator from the solver settings of a model, and the rows of these settings. */
#ifndef YOKE_INTEGRATE_SOLVER_OPTIONS_H
#define YOKE_INTEGRATE_SOLVER_OPTIONS_H

#include "integrate/integrator.h"
#include "model/model.h"

yoke_integrator_options yoke_solver_options(const yoke_solver_def *def);

/* They fill yoke_solver_def; `reads` of an integrator names those it reads beside `kind`. */
extern const yoke_setting_table yoke_solver_rows;
/* Does a solver of this kind read this key? Unknown kinds: none. */
bool                            yoke_solver_reads(const char *kind, const char *key);

#endif
