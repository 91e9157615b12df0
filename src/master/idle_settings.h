/* Idle settings: what was given below `cosimulation` and is read by nothing in this run. */
#ifndef YOKE_MASTER_IDLE_SETTINGS_H
#define YOKE_MASTER_IDLE_SETTINGS_H

#include "master/plan.h"
#include "base/setting.h"

/* Called with the full key ("cosimulation.couplings.knee.mu") and why nothing reads it. */
typedef void yoke_idle_found(void *user, const yoke_setting_value *value, const char *key, const char *reason);

/* All of them, for a plan, whose scheme and formulations are settled. A model that runs as a whole: what belongs to couplings is not looked
 * at. */
void yoke_idle_settings(const yoke_model *model, const yoke_plan *plan, yoke_idle_found *found, void *user);

/* Is a row of the run read under its scheme and step? */
bool yoke_run_setting_is_read(const yoke_plan *plan, const yoke_setting *row);

#endif
