/* Clock: seconds that only go forward, for flushing files and for reporting how long a run took. */
#ifndef YOKE_IO_CLOCK_H
#define YOKE_IO_CLOCK_H

#include <time.h>

static inline double yoke_clock_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
