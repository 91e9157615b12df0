/* Stand-in: a linear subsystem in place of a native one, linearised about a state of it, with the same inputs and outputs. */
#ifndef YOKE_ANALYSIS_STAND_IN_H
#define YOKE_ANALYSIS_STAND_IN_H

#include "analysis/linearize.h"
#include "master/submodel.h"
#include "native/native.h"

/* `part` is what `native` was made of, `state` a state of it, u [nu] its inputs there. Gives the subsystem and what it is made of, which it
 * does not need any more. */
yoke_status yoke_stand_in_create(yoke_context *ctx, const yoke_subsystem *native, const yoke_submodel *part,
                                 const void *state, const double *u, yoke_linearization *linearization,
                                 yoke_subsystem **out);

#endif
