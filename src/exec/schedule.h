/* Schedule: which worker begins with which tasks of a list. Long tasks come first, each to the worker with the least work so far; short
 * ones are put together to batches. The same costs give the same schedule, so that a subsystem stays with its worker, and its data in
 * that worker's cache, from step to step. */
#ifndef YOKE_EXEC_SCHEDULE_H
#define YOKE_EXEC_SCHEDULE_H

#include "exec/cost.h"
#include <yoke/context.h>
#include <stdbool.h>

enum { YOKE_MOST_BATCHES = 32 }; /* of short tasks per owner */

typedef struct yoke_schedule {
  int        n, n_owners, n_batches;
  int       *order; /* [n] tasks, batch by batch */
  int       *begin; /* [n_batches + 1] of each batch in `order` */
  int       *first; /* [n_owners + 1] first batch of each owner */
  /* inside */
  yoke_cost *costs; /* [n] that it was made for */
  int        most_tasks, most_owners;
  int       *sorted;      /* [most_tasks] */
  int       *cut, *owner; /* [most_tasks + 1] batches before they are dealt out: begin in `sorted`, owner */
  double    *load;        /* [most_owners] [s] */
  bool       is_made;
} yoke_schedule;

/* Room for lists of so many tasks; what was made before is gone. */
yoke_status yoke_schedule_expect(yoke_context *ctx, int most_tasks, int most_owners, yoke_schedule *schedule);
void        yoke_schedule_clear(yoke_schedule *schedule);

/* Deals out tasks 0 ... n - 1 to n_owners <= most_owners; n <= most_tasks. Nothing is done where the list is the one before.
 * seconds[c]: of a cost c. */
void yoke_schedule_make(yoke_schedule *schedule, int n, const yoke_cost *costs, int n_owners,
                        const double seconds[YOKE_N_COSTS]);

#endif
