/* Files of a command: what it is about to write must be neither a file that its model was read from nor another of its outputs. */
#ifndef YOKE_API_OUTPUT_CHECK_H
#define YOKE_API_OUTPUT_CHECK_H

#include "model/model.h"

typedef struct yoke_output_use {
  const char *use;  /* "the picture" */
  const char *name; /* NULL: not wanted */
} yoke_output_use;

/* To be asked before the first of them is opened. `model` may be NULL: nothing was read. YOKE_E_USAGE: the message names both uses. */
yoke_status yoke_output_check(yoke_context *ctx, const yoke_model *model, int n, const yoke_output_use *outputs);

#endif
