/* Figures: what a benchmark measured, in a form that bench/run can store and compare. Smaller is better for every one of them. */
#ifndef YOKE_BENCH_FIGURE_H
#define YOKE_BENCH_FIGURE_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Time of this process: other programs on the machine disturb it little, and no benchmark here waits or has threads. */
static inline double bench_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* bench/run --quick: no oracles, no large cases. */
static inline bool bench_is_quick(void) {
  const char *quick = getenv("YOKE_BENCH_QUICK");
  return quick != NULL && *quick != '\0';
}

/* Appends `name value unit error`, parted by tabs, to the file named by YOKE_BENCH_FIGURES, if there is one. The name (a format) says
 * what was done and is the same in every revision; `error` is the accuracy beside the time, NaN: none. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static inline void
bench_figure(double value, const char *unit, double error, const char *name, ...) {
  const char *path = getenv("YOKE_BENCH_FIGURES");
  if (path == NULL || *path == '\0') return;
  FILE *file = fopen(path, "a");
  if (file == NULL) {
    fprintf(stderr, "cannot write '%s'\n", path);
    exit(7);
  }
  va_list list;
  va_start(list, name);
  vfprintf(file, name, list);
  va_end(list);
  fprintf(file, "\t%.6g\t%s\t", value, unit);
  fprintf(file, isnan(error) ? "-\n" : "%.2e\n", error);
  if (fclose(file) != 0) exit(7);
}

#endif
