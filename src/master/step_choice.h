/* Step choice: settings of step control for a plan at work; what the plan leaves open is chosen and explained. */
#ifndef YOKE_MASTER_STEP_CHOICE_H
#define YOKE_MASTER_STEP_CHOICE_H

#include "master/plan.h"

typedef struct yoke_step_choice {
  yoke_control_settings settings;
  char                  reasons[400]; /* "estimator md: ...; first step ...; order 0 to 5: ..." */
} yoke_step_choice;

/* For a graph of the plan that is built but not started. */
yoke_status yoke_step_choose(yoke_context *ctx, const yoke_plan *plan, const yoke_graph *graph,
                             yoke_step_choice *choice);

#endif
