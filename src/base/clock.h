/* Clocks, in seconds: for flushing files, for reporting how long a run took, for choosing who runs a task. No result depends
 * on them. */
#ifndef YOKE_BASE_CLOCK_H
#define YOKE_BASE_CLOCK_H

#include <math.h>
#include <time.h>

static inline double yoke_clock_read(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Only goes forward. */
static inline double yoke_clock_now(void) {
  return yoke_clock_read(CLOCK_MONOTONIC);
}

/* What the calling thread had of a processor. */
static inline double yoke_clock_thread(void) {
  return yoke_clock_read(CLOCK_THREAD_CPUTIME_ID);
}

/* What a look at a clock takes [s]: the least of n that follow each other. */
static inline double yoke_clock_look(double (*clock)(void), int n) {
  double least = INFINITY;
  for (int i = 0; i < n; ++i) {
    const double begin = clock();
    least              = fmin(least, clock() - begin);
  }
  return least;
}

#endif
