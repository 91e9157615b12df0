/* Step report: the public form of the statistics of macro steps (yoke/result.h). */
#ifndef YOKE_API_STEP_REPORT_H
#define YOKE_API_STEP_REPORT_H

#include "io/step_tally.h"
#include <yoke/result.h>

yoke_step_report yoke_step_report_of(const yoke_step_tally *tally);

#endif
