/* The table of every integrator of integrator_list.def; each is defined in the file of its name. */
#ifndef YOKE_INTEGRATE_METHODS_H
#define YOKE_INTEGRATE_METHODS_H

#include "integrate/integrator.h"

#define X(symbol) extern const yoke_integrator_ops symbol;
#include "integrate/integrator_list.def"
#undef X

/* auto: name of the method that state->method stands for. */
const char *auto_method_name(const yoke_integrator *integrator, const yoke_integrator_state *state);

#endif
