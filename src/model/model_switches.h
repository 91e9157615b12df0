/* Switches of a model: all times at which its loads, prescribed motions and laws jump, kink, or begin and end to act. */
#ifndef YOKE_MODEL_MODEL_SWITCHES_H
#define YOKE_MODEL_MODEL_SWITCHES_H

#include "frames/switches.h"
#include "model/model.h"

/* `with_events`: also those of events whose condition depends on the time alone. Gives; clear in any case. */
yoke_status yoke_model_switches(yoke_context *ctx, const yoke_model *model, bool with_events, yoke_switches *out);

#endif
