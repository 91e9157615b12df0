/* Exec: runs a list of independent tasks and returns when all are done.
 * Task i writes only what index i owns; results do not depend on who ran it or when. `worker` < n_workers names the
 * scratch a task may use. */
#ifndef YOKE_EXEC_EXEC_H
#define YOKE_EXEC_EXEC_H

#include "exec/team.h"

typedef struct yoke_exec yoke_exec;

/* "serial", "shuffled" (serial in a random order, to catch dependence), "threads" (NULL: this one; lists with little
 * work are run by the caller alone), "eager" (threads whatever the work, to catch races), "user" (the executor of the context; NULL: this one
 * where there is one). threads 0: all cores. */
yoke_status yoke_exec_create(yoke_context *ctx, const char *kind, int threads, yoke_exec **out);
void        yoke_exec_destroy(yoke_exec **exec);
int         yoke_exec_n_workers(const yoke_exec *exec);
void        yoke_exec_run(yoke_exec *exec, int n, yoke_task task, void *user);

#endif
