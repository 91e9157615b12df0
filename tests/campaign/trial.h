/* One seed: a model, its reference, some runs, and what becomes of them. */
#ifndef YOKE_TESTS_CAMPAIGN_TRIAL_H
#define YOKE_TESTS_CAMPAIGN_TRIAL_H

#include "method.h"

/* VERDICT(name, words) */
#define VERDICTS(VERDICT)                                                                                              \
  VERDICT(RIGHT, "right")               /* ended, error at most 10 % of the spread */                                  \
  VERDICT(SILENT, "silent")             /* ended without a warning, error above 10 % */                                \
  VERDICT(WARNED, "warned")             /* ended with a warning, error above 10 % */                                   \
  VERDICT(FALSE_ALARM, "false alarm")   /* strong warning, error below 1 % */                                          \
  VERDICT(ENDED, "ended early")         /* exit codes 4 and 5 */                                                       \
  VERDICT(NO_END, "no end")             /* stopped by the limit of time */                                             \
  VERDICT(FAILED, "failed")             /* every other exit code, signals */                                           \
  VERDICT(REFUSED, "refused")           /* exit codes 2 and 3: not counted as accepted */                              \
  VERDICT(CHAOTIC, "chaotic")           /* of a model: its reference is not settled */                                 \
  VERDICT(NO_REFERENCE, "no reference") /* of a model: it cannot be run as a whole */

typedef enum verdict {
#define VERDICT(name, words) VERDICT_##name,
  VERDICTS(VERDICT)
#undef VERDICT
      N_VERDICTS
} verdict;

const char *verdict_words(verdict v);

typedef struct record {
  long        seed; /* -1 - i: file i of the command line */
  int         family;
  int         slot, trial; /* run of the seed, and how many methods were refused before */
  verdict     verdict;
  method_kind kind;
  double      error;                         /* NaN: no result */
  double      time;                          /* where it is largest, in units of T */
  double      estimated;                     /* NaN: the run reports none */
  double      seconds;                       /* of processor time */
  double      rtol;                          /* 0: fixed step */
  double      size;                          /* length of L [m] */
  double      evaluations, best_evaluations; /* with `grid`: of the best fixed step as accurate; NaN: none */
  int         exit_code;
  bool        split, warned, warned_strongly;
  char        arguments[300], quantity[48], message[200];
} record;

typedef struct trial_settings {
  const char *program; /* path of yoke */
  const char *folder;  /* of this worker alone */
  const char *method;  /* options in place of the drawn ones; NULL: drawn */
  double      seconds; /* of processor time for a run */
  bool        grid;    /* the default alone, against a grid of fixed steps */
} trial_settings;

typedef void trial_take(void *user, const record *r);

/* The model of a seed. */
int         trial_family(long seed);
const char *trial_family_name(int family); /* N_FAMILIES: files */
void        trial_model(long seed, sketch *s, text *model);

/* The method of a run: slots 0 ... TRIAL_SLOTS - 1, each tried until the program takes it. */
enum { TRIAL_SLOTS = 4, TRIAL_METHODS = 5 };
method trial_method(long seed, const sketch *s, int slot, int trial, const char *given);

void trial_seed(const trial_settings *t, long seed, trial_take *take, void *user);

/* A model file with a split, without its settings: the default, and the grid. `i` numbers it; one without a split is refused. */
void trial_file(const trial_settings *t, const char *path, int i, trial_take *take, void *user);

#endif
