/* Integrators from outside the library, up to NULL. The library has none; a program that is linked with a definition of its
 * own adds solvers under their names. */
#ifndef YOKE_INTEGRATE_GUESTS_H
#define YOKE_INTEGRATE_GUESTS_H

#include "integrate/integrator.h"

extern const yoke_integrator_ops *const yoke_guest_integrators[];

#endif
