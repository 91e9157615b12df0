/* The table of every integrator of integrator_list.def; each is defined in the file of its name. */
#ifndef YOKE_INTEGRATE_METHODS_H
#define YOKE_INTEGRATE_METHODS_H

#include "integrate/integrator.h"

#define X(symbol) extern const yoke_integrator_ops symbol;
#include "integrate/integrator_list.def"
#undef X

#endif
