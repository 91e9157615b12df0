/* Progress: does time move on? Counted in attempts (accepted and rejected steps), never by the clock.
 *
 * Every thousand attempts the way that they made is compared with the way that is left, and with the best that a thousand made before. A run
 * stands still when to its goal it would take
 *   - more than 1e12 attempts, the number of steps that settings may ask for;
 *   - more than 1e9, and the last eight thousand were a million times slower than the best: an impact takes methods of low order some thousand;
 *   - more than 3e8, and more than an eighth of them is rejected, which smooth motions do not need.
 * Starts with small steps, impacts and fast motions of any length are far from all three. */
#ifndef YOKE_BASE_PROGRESS_H
#define YOKE_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Part of every state, so it is short. */
typedef struct yoke_progress {
  double   t;               /* where attempts were counted last */
  uint32_t steps, rejected; /* counts there, without what does not fit */
  float    best;            /* largest mean way of an attempt so far [s] */
  uint32_t n_slow;          /* how often in a row it was slow */
} yoke_progress;

/* What a run that stands still did last. */
typedef struct yoke_standstill {
  int64_t steps, rejected;
  double  way; /* [s] */
} yoke_standstill;

/* At t, on the way to t_goal, with so many steps accepted and rejected in all. */
bool yoke_progress_stands(yoke_progress *progress, double t, double t_goal, int64_t steps, int64_t rejected,
                          yoke_standstill *out);

#endif
