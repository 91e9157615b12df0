/* Accuracy: what a run knows of its own errors, in public form. */
#ifndef YOKE_API_ACCURACY_H
#define YOKE_API_ACCURACY_H

#include "api/run.h"

/* Largest accumulated error of all subsystems; NaN: not known. */
double yoke_accuracy_largest(const yoke_run_system *run);

/* Accumulated errors of a run, where they are known. */
yoke_status yoke_accuracy_take(yoke_context *ctx, const yoke_run_system *run, yoke_run_summary *summary);
void        yoke_accuracy_release(yoke_run_summary *summary);

#endif
