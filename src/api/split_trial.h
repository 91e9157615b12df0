/* Split trial: how fast a model runs for a moment, as a whole or with its split. */
#ifndef YOKE_API_SPLIT_TRIAL_H
#define YOKE_API_SPLIT_TRIAL_H

#include "api/run.h"

enum { YOKE_MOST_SPLIT_TRIALS = 12 }; /* the whole, 2 ... 2048 parts */

/* *time: seconds per simulated second with so many threads, projected from a run with one (docs/parallel.md). Fails as a run does, but for
 * the end of the moment. */
yoke_status yoke_split_try(const yoke_model *model, bool is_whole, int threads,
                           const volatile sig_atomic_t *interrupted, double *time);

#endif
