/* Modes: eigenvalues and shapes of a linearised model.
 *
 * lambda of A with eigenvector x = (xi, eta): natural frequency |lambda| / 2 pi, damping ratio -Re lambda / |lambda|. A motion with
 * lambda = 0, one per vector of the null space of A, is a rigid-body mode: the model can stay anywhere along it. Shapes are motions of
 * bodies, N xi, the component with most kinetic energy first and equal to 1. */
#ifndef YOKE_ANALYSIS_MODES_H
#define YOKE_ANALYSIS_MODES_H

#include "analysis/linearize.h"
#include <yoke/linearize.h>

/* `names`: n of out are given, slowest first. Gives. */
yoke_status yoke_modes_of(yoke_context *ctx, const yoke_model *model, const yoke_multibody *mb,
                          const yoke_linearization *linearization, yoke_modes *out);

#endif
