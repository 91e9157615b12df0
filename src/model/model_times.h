/* Times of a run: steps and output intervals with which it could never end are refused before it begins. */
#ifndef YOKE_MODEL_MODEL_TIMES_H
#define YOKE_MODEL_MODEL_TIMES_H

#include "model/model.h"

#define YOKE_MOST_STEPS 1e12 /* of one kind in a run: at 1 microsecond each they take 11 days */

/* Fixed and largest steps of solvers, the macro step and the output interval (0: not given) must be at least
 * (t_end - t_start) / YOKE_MOST_STEPS and four times the distance of neighbouring numbers at the ends of the run.
 * YOKE_E_MODEL with a message for each that is not. What merely takes long is accepted. */
yoke_status yoke_model_check_times(yoke_context *ctx, const yoke_model *model);

#endif
