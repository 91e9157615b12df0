/* Control settings: the rows that fill yoke_control_settings (controller.h). */
#ifndef YOKE_CONTROL_CONTROL_SETTINGS_H
#define YOKE_CONTROL_CONTROL_SETTINGS_H

#include "control/controller.h"

/* The key `step` itself, its keys under step control, their absolute tolerances, and the keys of `order`. */
extern const yoke_setting_table yoke_step_rows, yoke_control_rows, yoke_control_atol_rows, yoke_order_rows;

#endif
