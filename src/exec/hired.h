/* Hired: tasks are run by the program's own executor (yoke/context.h), whatever it does with them.
 *
 * Invariants:
 *   1. Every task runs once: a second call is ignored, and what was never called is run by the caller.
 *   2. The caller's worker is 0; other threads have one of the numbers 1 ... n_workers, and wait when all are taken.
 *   3. Nothing is allocated for a list that is not longer than those before. */
#ifndef YOKE_EXEC_HIRED_H
#define YOKE_EXEC_HIRED_H

#include "exec/team.h"

typedef struct yoke_hired yoke_hired;

/* Copies the executor. Gives. */
yoke_status yoke_hired_create(yoke_context *ctx, const yoke_executor *executor, yoke_hired **out);
void        yoke_hired_destroy(yoke_hired **hired);
int         yoke_hired_n_workers(const yoke_hired *hired);
void        yoke_hired_run(yoke_hired *hired, int n, yoke_task task, void *user);

#endif
