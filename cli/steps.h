/* Statistics of macro steps, as lines and as JSON members. */
#ifndef YOKE_CLI_STEPS_H
#define YOKE_CLI_STEPS_H

#include "json.h"
#include <yoke/result.h>

/* Lines with a label of `width` columns; nothing that did not happen is told. */
void print_steps(FILE *file, int width, const yoke_step_report *report);

/* Members smallest_step, mean_step, largest_step, largest_error, rejected_by, reduced_by, degrees, forced_steps. */
void json_steps(json *j, const yoke_step_report *report);

#endif
