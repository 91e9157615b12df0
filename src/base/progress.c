#include "base/progress.h"

#include <math.h>

enum { LOOK_EVERY = 1000 /* attempts */, SLOW_LOOKS = 8 };
static const double SLOW          = 1e-6; /* of the best way */
static const double MOST_ATTEMPTS = 1e12, MOST_SLOW = 1e9, MOST_REJECTED = 3e8;

bool yoke_progress_stands(yoke_progress *p, double t, double t_goal, int64_t steps, int64_t rejected,
                          yoke_standstill *out) {
  const yoke_standstill made = {(uint32_t)steps - p->steps, (uint32_t)rejected - p->rejected, t - p->t};
  const int64_t         n    = made.steps + made.rejected;
  if (n < LOOK_EVERY) return false;
  const double mean = made.way / (double)n, left = t_goal - t;
  p->best     = (float)fmax((double)p->best, mean);
  p->n_slow   = mean < SLOW * (double)p->best ? p->n_slow + 1 : 0;
  p->t        = t;
  p->steps    = (uint32_t)steps;
  p->rejected = (uint32_t)rejected;
  *out        = made;
  return left > MOST_ATTEMPTS * mean || (p->n_slow >= SLOW_LOOKS && left > MOST_SLOW * mean) ||
         (8 * made.rejected > n && left > MOST_REJECTED * mean);
}
