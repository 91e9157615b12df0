/* Settings as text: all settings of a run after defaults and overrides, in the words of the model file. */
#ifndef YOKE_IO_SETTINGS_TEXT_H
#define YOKE_IO_SETTINGS_TEXT_H

#include "master/step_choice.h"
#include "model/model.h"

/* All that the run reads, what was chosen for it included (`choice`, NULL: steps are not controlled); with the model's text it repeats the
 * run. Gives a new string; NULL when out of memory. */
char *yoke_run_settings_text(const yoke_model *model, const yoke_plan *plan, const yoke_step_choice *choice,
                             int threads);

#endif
