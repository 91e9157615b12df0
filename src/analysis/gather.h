/* Gather: positions and velocities of the whole model from the subsystems of a system. */
#ifndef YOKE_ANALYSIS_GATHER_H
#define YOKE_ANALYSIS_GATHER_H

#include "master/system.h"
#include "model/model.h"

typedef struct yoke_gather yoke_gather;

/* Borrows the plan and the model that it was made of. All parts are native. Gives. */
yoke_status yoke_gather_create(yoke_context *ctx, const yoke_model *model, const yoke_plan *plan, yoke_gather **out);
void        yoke_gather_destroy(yoke_gather **gather);

int         yoke_gather_nq(const yoke_gather *gather);
int         yoke_gather_nv(const yoke_gather *gather);
/* q [nq] and v [nv] of all bodies in file order at the present time. */
yoke_status yoke_gather_take(yoke_gather *gather, yoke_system *system, double *q, double *v);

/* Every component of q, then of v, of all bodies in file order: its number `at` among them, its part and the handle there. All parts are native. */
typedef void (*yoke_gather_visitor)(void *user, int at, int part, int64_t handle);
void yoke_gather_visit(const yoke_model *model, const yoke_plan *plan, yoke_gather_visitor visit, void *user);

#endif
