/* The program as a child with a limit of processor time, and what it said in its JSON object. */
#ifndef YOKE_TESTS_CAMPAIGN_CHILD_H
#define YOKE_TESTS_CAMPAIGN_CHILD_H

#include <stdbool.h>

typedef struct outcome {
  int    exit_code;         /* -1: ended by a signal */
  bool   out_of_time;       /* ... that of the limit */
  bool   warned;            /* of the result; not of keys without effect and the like */
  bool   warned_strongly;   /* not to use the result */
  bool   split;             /* was a co-simulation */
  double t_start, t_end;    /* [s] */
  double seconds;           /* of processor time */
  double evaluations;       /* right-hand sides, all integrations of a split */
  double accumulated_error; /* that the run itself reports, in units of the spread; NaN: none */
  char   message[200];      /* first error or warning */
} outcome;

/* Runs `program arguments` (words between blanks), output into files of `folder`. False: the program cannot be started. */
bool child_run(const char *program, const char *folder, const char *arguments, double seconds, outcome *out);

/* Reads what a JSON object of the program tells into *out. */
void outcome_read(const char *json, outcome *out);

#endif
