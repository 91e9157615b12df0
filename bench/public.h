/* Benchmarks of the public interface: they compile with every revision that has it, so that revisions can be compared. */
#ifndef YOKE_BENCH_PUBLIC_H
#define YOKE_BENCH_PUBLIC_H

#include "figure.h"
#include <yoke/yoke.h>

#include <string.h>

enum { BENCH_SETS = 12, BENCH_LEAST = 5, BENCH_MOST = 200, BENCH_TEXT = 600 };

/* Processor seconds that repeats of one case may take together. */
static inline double bench_budget(void) {
  return bench_is_quick() ? 0.2 : 1.0;
}

static inline void bench_need(yoke_status status, const yoke_context *ctx, const char *what) {
  if (status == YOKE_OK) return;
  fprintf(stderr, "%s: %s\n", what, yoke_status_text(status));
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) fprintf(stderr, "  %s\n", yoke_context_message(ctx, i));
  exit(1);
}

/* Structs begin with their size; those of earlier revisions, which are measured too, do not. */
#ifdef YOKE_INSPECT_H
#define BENCH_EMPTY(type)                                                                                              \
  { .size = sizeof(type) }
#else
#define BENCH_EMPTY(type)                                                                                              \
  { 0 }
#endif

/* One thread, no files, no prediction; `sets` are "path=value" parted by ';'. `text` and `list` keep them for the call. */
static inline yoke_run_options bench_options(const char *model, const char *sets, char text[BENCH_TEXT],
                                             const char *list[BENCH_SETS]) {
  yoke_run_options options = BENCH_EMPTY(yoke_run_options);
  snprintf(text, BENCH_TEXT, "%s", sets);
  options.model = model;
  options.sets  = list;
  for (char *set = strtok(text, ";"); set != NULL && options.n_sets < BENCH_SETS; set = strtok(NULL, ";"))
    list[options.n_sets++] = set;
  options.out        = "";
  options.csv        = "";
  options.threads    = 1;
  options.exec       = "serial";
  options.no_predict = true;
  return options;
}

#endif
