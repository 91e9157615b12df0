/* Assembly: a consistent start from what the user gave.
 *
 * Positions: the smallest weighted change of the guess with g = 0 and the joint coordinates the user fixed
 * (`initial`); bodies marked `keep` stand still, unless the joints cannot be closed without them (then a note is
 * left). Velocities the same on the velocity level. Redundant constraint rows are found by a rank-revealing QR of G,
 * here and at a second position nearby, since at a singular position some rows depend on others for an instant. */
#ifndef YOKE_MODEL_ASSEMBLY_H
#define YOKE_MODEL_ASSEMBLY_H

#include "model/multibody.h"

typedef struct yoke_assembly {
  int     n_redundant; /* constraint rows that follow from the others, wherever the mechanism goes */
  int    *redundant;   /* [n_redundant] rows, increasing; owned */
  double *probe;       /* [nq] the second position, where they were found; owned, NULL: not needed */
  double  moved;       /* largest change of a position component of the guess [m or rad] */
} yoke_assembly;

/* q [nq] and v [nv] receive the consistent start at time t. An impossible assembly names the joint that
 * stays open. `work` of equations->work_size. */
yoke_status yoke_assembly_solve(yoke_context *ctx, const yoke_model *model, const yoke_multibody *mb,
                                const yoke_equations *equations, void *work, double t, double *q, double *v,
                                yoke_assembly *out);
void        yoke_assembly_clear(yoke_assembly *assembly);

#endif
