/* Times: where the time of a run went, for its summary and its result file. */
#ifndef YOKE_API_TIMES_H
#define YOKE_API_TIMES_H

#include "api/run.h"

/* What the ledger of a system tells. `wall`: what its steps and samples took [s]; <= 0: the sum of what was timed. */
typedef struct yoke_times {
  int              threads;
  double           wall, factor; /* of what was timed */
  yoke_time_shares shares;       /* add up to threads * wall */
} yoke_times;
yoke_times yoke_times_of(const yoke_system *system, double wall);

/* Collective: ranks tell each other the times of their parts. `wall` as above; all else stays that of this process. After a failure nobody
 * knows who else failed, and it is not called. */
void yoke_times_share(yoke_system *system, double wall);

/* Times of one part, to the same scale. */
yoke_part_times yoke_times_of_part(const yoke_system *system, const yoke_times *times, int part);

/* Into the summary of a run that took summary->wall_time, of which its steps and samples `loop`, and closing its files `closing` [s]. */
yoke_status yoke_times_take(yoke_context *ctx, const yoke_run_system *run, double loop, double closing,
                            yoke_run_summary *summary);
void        yoke_times_release(yoke_run_summary *summary);

#endif
