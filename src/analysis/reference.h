/* Reference: the whole model without a split, integrated so accurately that what differs from it is the error of a coupling.
 *
 * Linear models without constraints are solved exactly, others with a tight tolerance. A start that violates the constraints (a coupling
 * that drifts) is projected, and what was taken away is carried along with its own velocity,
 *   q(t) = q*(t) + dq + (t - t0) dv,   v(t) = v*(t) + dv,
 * where q*, v* start from the projected state: the drift of earlier steps does not count as an error of this one. */
#ifndef YOKE_ANALYSIS_REFERENCE_H
#define YOKE_ANALYSIS_REFERENCE_H

#include "model/model.h"
#include <yoke/context.h>

typedef struct yoke_reference yoke_reference;

/* Keeps `model`. solver NULL: `exact` where it can, else `dop853`; rtol 0: 1e-13. Gives. */
yoke_status yoke_reference_create(yoke_context *ctx, const yoke_model *model, const char *solver, double rtol,
                                  yoke_reference **out);
void        yoke_reference_destroy(yoke_reference **reference);

const char *yoke_reference_solver(const yoke_reference *reference);
int         yoke_reference_nq(const yoke_reference *reference); /* positions of all bodies in file order */
int         yoke_reference_nv(const yoke_reference *reference);

/* Start at t from q, v, then go on to t_end; q and v receive the state there. */
yoke_status yoke_reference_start(yoke_reference *reference, double t, const double *q, const double *v,
                                 yoke_context *ctx);
yoke_status yoke_reference_advance(yoke_reference *reference, double t_end, double *q, double *v, yoke_context *ctx);

#endif
