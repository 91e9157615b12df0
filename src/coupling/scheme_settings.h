/* Scheme settings: the rows that fill yoke_scheme_settings (graph.h). */
#ifndef YOKE_COUPLING_SCHEME_SETTINGS_H
#define YOKE_COUPLING_SCHEME_SETTINGS_H

#include "coupling/graph.h"

extern const yoke_setting_table yoke_scheme_rows, yoke_corrector_rows;

/* Below the name of a subsystem: the rows that fill yoke_own_settings. */
#define YOKE_SUBSYSTEM_PATH "cosimulation.subsystems"
extern const yoke_setting_table yoke_subsystem_rows;

/* What was not given and follows from others. order: degree of the run, -1 where it is chosen during it; step_rtol: relative error that
 * step control allows, 0 for a fixed step. */
void yoke_scheme_settings_complete(yoke_scheme_settings *settings, int order, double step_rtol);

#endif
