/* Run: the glue from a model file to its results (load, simulate, write). Public part: yoke/run.h. */
#ifndef YOKE_IO_RUN_H
#define YOKE_IO_RUN_H

#include "model/model.h"

/* All settings of a run after defaults and overrides, as text of a model file: with the model's text it repeats the run.
 * Gives a new string; NULL when out of memory. */
char *yoke_run_settings_text(const yoke_model *model, int threads);

#endif
