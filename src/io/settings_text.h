/* Settings as text: all settings of a run after defaults and overrides, in the words of the model file. */
#ifndef YOKE_IO_SETTINGS_TEXT_H
#define YOKE_IO_SETTINGS_TEXT_H

#include "master/cosimulation.h"

/* All that the run reads, what was chosen for it included; with the model's text it repeats the run. `cosimulation` NULL: the model runs
 * as a whole. Gives a new string; NULL when out of memory. */
char *yoke_run_settings_text(const yoke_model *model, const yoke_cosimulation *cosimulation, int threads);

#endif
