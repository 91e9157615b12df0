/* The table of every integrator of integrator_list.def; each is defined in the file of its name. */
#ifndef YOKE_INTEGRATE_METHODS_H
#define YOKE_INTEGRATE_METHODS_H

#include "integrate/integrator.h"

#define X(symbol) extern const yoke_integrator_ops symbol;
#include "integrate/integrator_list.def"
#undef X

/* For `auto`: all that create checks, and the sizes of states and scratch that it would set, before anything is made. */
struct yoke_implicit;
yoke_status bdf_outline(yoke_context *ctx, yoke_integrator *integrator, const struct yoke_implicit *outline);
yoke_status radau5_outline(yoke_context *ctx, yoke_integrator *integrator, const struct yoke_implicit *outline);

#endif
