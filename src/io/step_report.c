#include "io/step_report.h"

#include <math.h>

_Static_assert((int)YOKE_N_REJECTED == (int)YOKE_N_REJECTIONS, "reasons of the library and of the result file");
_Static_assert((int)YOKE_N_REASONS == (int)YOKE_N_REDUCTIONS, "reasons of the library and of the result file");
_Static_assert((int)YOKE_N_DEGREES == (int)YOKE_ORDER_MAX + 1, "degrees of the library and of the result file");

const char *yoke_reason_word(int reason) {
  static const char *const words[YOKE_N_REASONS] = {[YOKE_REDUCED_BY_ERROR]      = "error",
                                                    [YOKE_REDUCED_BY_CORRECTOR]  = "corrector",
                                                    [YOKE_REDUCED_BY_NON_FINITE] = "non-finite",
                                                    [YOKE_REDUCED_BY_EVENT]      = "event",
                                                    [YOKE_REDUCED_BY_GAP]        = "gap",
                                                    [YOKE_REDUCED_BY_SWITCH]     = "switch",
                                                    [YOKE_REDUCED_BY_END]        = "end"};
  return reason >= 0 && reason < YOKE_N_REASONS ? words[reason] : "none";
}

void yoke_step_report_clear(yoke_step_report *report) {
  *report = (yoke_step_report){
      .smallest = (double)NAN, .mean = (double)NAN, .largest = (double)NAN, .largest_error = (double)NAN};
}

void yoke_step_report_add(yoke_step_report *r, double H, int degree, double error,
                          const int64_t rejected[YOKE_N_REJECTED], int reduced_by, bool is_forced) {
  const double n = (double)r->steps++;
  r->smallest    = fmin(r->smallest, H); /* fmin and fmax ignore NaN */
  r->largest     = fmax(r->largest, H);
  r->mean        = n > 0.0 ? r->mean + (H - r->mean) / (n + 1.0) : H;
  if (isfinite(error)) r->largest_error = fmax(r->largest_error, error);
  for (int i = 0; i < YOKE_N_REJECTED; ++i) r->rejected[i] += rejected[i];
  if (reduced_by >= 0 && reduced_by < YOKE_N_REASONS) ++r->reduced[reduced_by];
  if (degree >= 0 && degree < YOKE_N_DEGREES) ++r->degrees[degree];
  r->forced += is_forced ? 1 : 0;
}
