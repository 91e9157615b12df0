/* Lengths that shall be equal, typed with finite digits (F19).
 *
 * A joint that is open at the start by less than what is left of ten digits, between bodies whose other joints are closed to the last digit, is off by
 * what was typed of one length or place: its bodies stand where they should, and its frame does not. Moved bodies would close it too, but then
 * a parallelogram is none and turns back where its bars lie on one line. So the frame is moved, and said. */
#ifndef YOKE_MODEL_MODEL_DIGITS_H
#define YOKE_MODEL_MODEL_DIGITS_H

#include "model/model.h"
#include <yoke/context.h>

/* Once, when a model has been read. */
yoke_status yoke_model_close_digits(yoke_context *ctx, yoke_model *model);

#endif
