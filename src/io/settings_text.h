/* Settings as text: all settings of a run after defaults and overrides, in the words of the model file. */
#ifndef YOKE_IO_SETTINGS_TEXT_H
#define YOKE_IO_SETTINGS_TEXT_H

#include "model/model.h"

/* With the model's text it repeats the run. Gives a new string; NULL when out of memory. */
char *yoke_run_settings_text(const yoke_model *model, bool is_split, int threads);

#endif
