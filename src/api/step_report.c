#include "api/step_report.h"

_Static_assert((int)YOKE_N_REJECTED == (int)YOKE_N_REJECTIONS, "reasons of the library and of the report");
_Static_assert((int)YOKE_N_REASONS == (int)YOKE_N_REDUCTIONS, "reasons of the library and of the report");
_Static_assert((int)YOKE_N_DEGREES == (int)YOKE_ORDER_MAX + 1, "degrees of the library and of the report");

const char *yoke_reason_word(int reason) {
  return yoke_reduction_word(reason);
}

yoke_step_report yoke_step_report_of(const yoke_step_tally *tally) {
  yoke_step_report report = {.steps         = tally->steps,
                             .forced        = tally->forced,
                             .smallest      = tally->smallest,
                             .mean          = tally->mean,
                             .largest       = tally->largest,
                             .largest_error = tally->largest_error};
  for (int i = 0; i < YOKE_N_REJECTED; ++i) report.rejected[i] = tally->rejected[i];
  for (int i = 0; i < YOKE_N_REASONS; ++i) report.reduced[i] = tally->reduced[i];
  for (int i = 0; i < YOKE_N_DEGREES; ++i) report.degrees[i] = tally->degrees[i];
  return report;
}
