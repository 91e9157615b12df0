#include "io/step_tally.h"

#include <math.h>

const char *yoke_reduction_word(int reason) {
  static const char *const words[YOKE_N_REDUCTIONS] = {[YOKE_REDUCED_BY_ERROR]      = "error",
                                                       [YOKE_REDUCED_BY_CORRECTOR]  = "corrector",
                                                       [YOKE_REDUCED_BY_NON_FINITE] = "non-finite",
                                                       [YOKE_REDUCED_BY_EVENT]      = "event",
                                                       [YOKE_REDUCED_BY_GAP]        = "gap",
                                                       [YOKE_REDUCED_BY_SWITCH]     = "switch",
                                                       [YOKE_REDUCED_BY_END]        = "end"};
  return reason >= 0 && reason < YOKE_N_REDUCTIONS ? words[reason] : "none";
}

void yoke_step_tally_clear(yoke_step_tally *tally) {
  *tally = (yoke_step_tally){
      .smallest = (double)NAN, .mean = (double)NAN, .largest = (double)NAN, .largest_error = (double)NAN};
}

void yoke_step_tally_add(yoke_step_tally *r, double H, int degree, double error,
                         const int64_t rejected[YOKE_N_REJECTIONS], int reduced_by, bool is_forced) {
  const double n = (double)r->steps++;
  r->smallest    = fmin(r->smallest, H); /* fmin and fmax ignore NaN */
  r->largest     = fmax(r->largest, H);
  r->mean        = n > 0.0 ? r->mean + (H - r->mean) / (n + 1.0) : H;
  if (isfinite(error)) r->largest_error = fmax(r->largest_error, error);
  for (int i = 0; i < YOKE_N_REJECTIONS; ++i) r->rejected[i] += rejected[i];
  if (reduced_by >= 0 && reduced_by < YOKE_N_REDUCTIONS) ++r->reduced[reduced_by];
  if (degree >= 0 && degree <= YOKE_ORDER_MAX) ++r->degrees[degree];
  r->forced += is_forced ? 1 : 0;
}
