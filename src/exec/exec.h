/* Exec: runs a list of independent tasks and returns when all are done.
 * Task i writes only what index i owns; results do not depend on who ran it or when. `worker` < n_workers names the
 * scratch a task may use. */
#ifndef YOKE_EXEC_EXEC_H
#define YOKE_EXEC_EXEC_H

#include "exec/cost.h"
#include "exec/team.h"

typedef struct yoke_exec yoke_exec;

/* "serial", "shuffled" (serial in a random order, to catch dependence), "threads" (NULL: this one; as many workers as pay, judged by the costs
 * of the tasks and the pace of the machine), "eager" (threads whatever the work, to catch races), "user" (the executor of the context; NULL: this one
 * where there is one). threads 0: all cores. */
yoke_status yoke_exec_create(yoke_context *ctx, const char *kind, int threads, yoke_exec **out);
void        yoke_exec_destroy(yoke_exec **exec);
int         yoke_exec_n_workers(const yoke_exec *exec);
bool        yoke_exec_is_eager(const yoke_exec *exec);

/* Lists will have up to n tasks; longer ones are run by the caller alone. */
yoke_status yoke_exec_expect(yoke_exec *exec, yoke_context *ctx, int n);

/* costs [n], none of them unknown; NULL: not known, the first task is measured. */
void yoke_exec_run(yoke_exec *exec, int n, const yoke_cost *costs, yoke_task task, void *user);

/* Who worked so far. */
typedef struct yoke_exec_use {
  int64_t n_lists, n_tasks;
  int64_t
      n_shared; /* lists that more than one worker was asked to work off; 0 also where these hold less than 1 % of the work */
  int     most;      /* workers of one list */
  double  work;      /* of all lists with known costs, by these [s] ... */
  int64_t n_known;   /* ... and their tasks */
  int     n_defeats; /* how often more threads were slower than one: the machine was busy */
} yoke_exec_use;
yoke_exec_use yoke_exec_used(const yoke_exec *exec);

#endif
