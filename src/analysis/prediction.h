/* Prediction: is the macro step of a run stable for the model linearised about its rest state? */
#ifndef YOKE_ANALYSIS_PREDICTION_H
#define YOKE_ANALYSIS_PREDICTION_H

#include "model/model.h"
#include <yoke/context.h>

/* Leaves a warning in ctx when the couplings are predicted to grow tenfold or more over the run, with the largest step below that is
 * stable. Silent when they are not, and when nothing can be said cheaply: models without a rest state, or larger than a few hundred
 * states. *growth is the factor by which they grow over the run, 1 where they do not; NaN: nothing can be said. Fails with YOKE_E_MEMORY only. */
yoke_status yoke_predict_stability(yoke_context *ctx, const yoke_model *model, double *growth);

#endif
