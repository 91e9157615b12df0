/* Team: threads that live as long as their object and work off lists of independent tasks together with the caller.
 *
 * Invariants:
 *   1. A list is done when all its tasks are. Everybody begins with the batches that the schedule gave him and then takes those that others have
 *      not begun, the last ones first: the caller never waits for a thread that has not come, so a list costs at most one
 *      wake-up more than without threads when the machine is busy.
 *   2. Who waits looks again and again, for some microseconds or a share of the time that he has just worked, then sleeps: what lies
 *      between two long lists takes longer than what lies between short ones.
 *   3. Nothing is allocated while a list runs. */
#ifndef YOKE_EXEC_TEAM_H
#define YOKE_EXEC_TEAM_H

#include "exec/schedule.h"
#include <yoke/context.h>

/* `worker` < n_workers is a number that no two tasks have at the same time; the caller's is 0. */
typedef void (*yoke_task)(void *user, int i, int worker);

typedef struct yoke_team yoke_team;

/* Processors that this process may use. */
int yoke_team_n_processors(void);

/* n_workers >= 1, the caller counted; 0: one per processor this process may use. Threads that cannot be started are left out,
 * with a warning. YOKE_E_MEMORY: no memory. */
yoke_status yoke_team_create(yoke_context *ctx, int n_workers, yoke_team **out);
void        yoke_team_destroy(yoke_team **team);
int         yoke_team_n_workers(const yoke_team *team);

/* The tasks of the schedule, by as many workers as it has owners (the caller is owner 0). Not to be called from a task, nor by two callers at
 * once. */
void yoke_team_run(yoke_team *team, const yoke_schedule *schedule, yoke_task task, void *user);

/* Whoever sleeps wakes and looks out for a list, for so long [s] or a millisecond: threads that sleep are late for the list that wakes them. */
void yoke_team_wake(yoke_team *team, double seconds);

#endif
