/* One plain step of a subsystem from t over H. */
#ifndef YOKE_TESTS_STEP_OVER_H
#define YOKE_TESTS_STEP_OVER_H

#include "subsystem/subsystem.h"

static inline yoke_status step_over(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u, double t,
                                    double H, yoke_context *ctx) {
  yoke_step_request request = yoke_step_over(u, t, H);
  return yoke_subsystem_step(s, scratch, state, u, &request, ctx);
}

#endif
