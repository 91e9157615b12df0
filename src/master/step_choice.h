/* Step choice: settings of step control from a model, with what the file leaves open chosen and explained. */
#ifndef YOKE_MASTER_STEP_CHOICE_H
#define YOKE_MASTER_STEP_CHOICE_H

#include "control/controller.h"
#include "master/split.h"

typedef struct yoke_step_choice {
  yoke_control_settings settings;
  char                  reasons[400]; /* "estimator md: ...; first step ...; order 0 to 5: ..." */
} yoke_step_choice;

/* Limits of the degree: those of the file, lowered to what all formulations of the split support and bear (no warning). */
void yoke_step_choose_orders(const yoke_split *split, const yoke_scheme_settings *scheme,
                             yoke_control_settings *settings);

/* Scheme, where the file names none: implicit for rigid joints when all formulations take it, since one correction leaves gaps as
 * large as the errors of the method; else the default. */
void yoke_step_choose_scheme(const yoke_split *split, yoke_scheme_settings *settings);

/* Everything else, for a graph that is built but not started. `settings` holds the orders already. */
yoke_status yoke_step_choose(yoke_context *ctx, const yoke_split *split, const yoke_graph *graph,
                             yoke_step_choice *choice);

#endif
