/* Progress: one line on the terminal with the share done and the time left. Nothing when stderr is no terminal. */
#ifndef YOKE_CLI_PROGRESS_H
#define YOKE_CLI_PROGRESS_H

#include <stdbool.h>

typedef struct progress {
  bool   is_on;
  bool   is_shown;
  double begin, drawn; /* clock [s] */
} progress;

void progress_start(progress *p, bool is_quiet);
/* For yoke_run_options.progress; `user` is the progress. Always true. */
bool progress_update(void *user, double t, double t_start, double t_end);
/* The same where no time runs: `share` done, 0 to 1. */
bool progress_share(void *user, double share);
void progress_clear(progress *p);

/* "3 s", "4 min 10 s", "2 h 5 min" */
void duration_text(double seconds, char *text, int size);

#endif
