/* Assembly: a model compiled into equations, and its consistent start from what the user gave.
 *
 * Positions: the smallest change of the guess with g = 0 and the joint coordinates the user fixed (`initial`), where one
 * length of the model counts like 1 rad; bodies marked `keep` stand still, unless the joints cannot be closed without them
 * (then a note is left). Velocities: the smallest change in the norm of the masses with g' = 0 and the rates.
 *
 * Redundant constraint rows are found by a rank-revealing QR of G, here and at a second position nearby, since at a singular
 * position some rows depend on others for an instant. Rows that do so but for rounding of what was typed (a cardan shaft whose
 * bearing is given with eight digits) would lock the mechanism: they are left out of the equations, and their gaps are watched. */
#ifndef YOKE_MODEL_ASSEMBLY_H
#define YOKE_MODEL_ASSEMBLY_H

#include "model/multibody.h"

typedef struct yoke_assembly {
  double *q, *v;       /* [nq], [nv] the consistent start; owned, as all that follows */
  int     n_redundant; /* constraint rows that follow from the others, wherever the mechanism goes */
  int    *redundant;   /* [n_redundant] rows, increasing */
  double *probe;       /* [nq] the second position, where they were found; NULL: not needed */
  bool   *left_out;    /* [n_connections, YOKE_CONNECTION_MAX_ROWS] rows that are no constraints; NULL: none */
} yoke_assembly;

/* Keeps `model`; `equations` and `mb` as from yoke_multibody_create. `is_cut` [n_connections] (borrows, NULL: none): rows of these
 * connections are left out rather than those of others. An impossible assembly names the joints that stay open. */
yoke_status yoke_assembly_create(yoke_context *ctx, const yoke_model *model, const yoke_multibody_options *options,
                                 const bool *is_cut, yoke_equations *equations, yoke_multibody **mb,
                                 yoke_assembly *out);
void        yoke_assembly_clear(yoke_assembly *assembly);

#endif
