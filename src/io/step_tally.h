/* Step tally: statistics of macro steps, gathered from a run or from the rows of a result file. */
#ifndef YOKE_IO_STEP_TALLY_H
#define YOKE_IO_STEP_TALLY_H

#include "control/order_control.h"
#include "coupling/graph.h"

typedef struct yoke_step_tally {
  int64_t steps;                       /* accepted */
  int64_t rejected[YOKE_N_REJECTIONS]; /* trials, by reason */
  int64_t reduced[YOKE_N_REDUCTIONS];  /* accepted steps that are shorter than planned, by the last reason */
  int64_t degrees[YOKE_ORDER_MAX + 1]; /* accepted steps of each polynomial degree */
  int64_t forced;                      /* accepted although their error was too large */
  double  smallest, mean, largest;     /* accepted steps [s]; NaN: none */
  double  largest_error;               /* NaN: no estimate */
} yoke_step_tally;

/* No step yet. */
void yoke_step_tally_clear(yoke_step_tally *tally);

/* One accepted step. `reduced_by` as yoke_reduction; error NaN: no estimate. */
void yoke_step_tally_add(yoke_step_tally *tally, double H, int degree, double error,
                         const int64_t rejected[YOKE_N_REJECTIONS], int reduced_by, bool is_forced);

/* The word of a yoke_reduction in result files: "error"; "none" for every other number. */
const char *yoke_reduction_word(int reason);

#endif
