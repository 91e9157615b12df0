/* Step report: statistics of macro steps, gathered from a run or from the rows of a result file. */
#ifndef YOKE_IO_STEP_REPORT_H
#define YOKE_IO_STEP_REPORT_H

#include "master/cosimulation.h"
#include <yoke/result.h>

/* No step yet. */
void yoke_step_report_clear(yoke_step_report *report);

/* One accepted step. `reduced_by` as yoke_reduction; error NaN: no estimate. */
void yoke_step_report_add(yoke_step_report *report, double H, int degree, double error,
                          const int64_t rejected[YOKE_N_REJECTED], int reduced_by, bool is_forced);

#endif
