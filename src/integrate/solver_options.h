/* Options of an integrator from the solver settings of a model. */
#ifndef YOKE_INTEGRATE_SOLVER_OPTIONS_H
#define YOKE_INTEGRATE_SOLVER_OPTIONS_H

#include "integrate/integrator.h"
#include "model/model.h"

yoke_integrator_options yoke_solver_options(const yoke_solver_def *def);

#endif
