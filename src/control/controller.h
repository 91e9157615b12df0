/* Controller: drives a graph from macro point to macro point with a step and a degree of its own choice.
 *
 * One call makes one accepted step: trials, error estimate, error test, acceptance or another trial with a smaller step; then
 * the degree (order_control.h) and the step (step_control.h) of the next.
 *   start phase  degree 0 and the first step; after each accepted step the step doubles and the degree rises by one, until the
 *                highest degree, a rejection, or a control that asks for less
 *   fixed degree (order_min = order_max) rises by one per accepted step to its goal, whatever the step does
 *   last step    is shortened to the given end; the planned step stays
 *   no way back  when a subsystem cannot repeat a step, every step is accepted and its error sets the next one only
 * All decisions are functions of accepted values and estimates: the same bits on repetition, for any number of threads. */
#ifndef YOKE_CONTROL_CONTROLLER_H
#define YOKE_CONTROL_CONTROLLER_H

#include "control/monitor.h"
#include "control/order_control.h"
#include "control/step_control.h"

typedef enum yoke_shift { YOKE_SHIFT_AUTO, YOKE_SHIFT_ON, YOKE_SHIFT_OFF } yoke_shift;

typedef struct yoke_control_settings {
  yoke_estimator_kind estimator;
  yoke_tolerances     tolerances;
  double              initial, min, max; /* steps [s] */
  yoke_step_rule      rule;
  yoke_order_rule     order_rule;
  int                 order_min, order_max;
  int                 compare; /* comparisons with consistent values: at least one in so many steps (estimator.h) */
  yoke_shift          shift;   /* do states follow corrected coupling values by their tangents (trial.h)? */
  double
      budget; /* E at the end of the run, in rtol (error_tally.h); 0: the error of single steps alone is controlled */
  double growth; /* >= 1: so many times larger does the motion itself make an error (analysis/growth.h) */
  double share;  /* of the tolerances that steps are held to, beside that of the growth */
} yoke_control_settings;

/* Share of the tolerances that is left to errors which the motion makes `growth` times larger: 1 / (10 growth), but not below 1e-4, since
 * solvers leave errors of their own, and no step is short enough for a motion that is chaotic. One disturbance shows only a part of the growth,
 * hence 10. Up to a growth of 3 all of them. */
double yoke_growth_share(double growth);

/* md, rtol 1e-4, safety 6, ratios 0.5 to 1.5, degrees 0 to 5; steps must be set. */
yoke_control_settings yoke_control_settings_default(void);

typedef struct yoke_controller yoke_controller;

/* Keeps the graph, which has made no step yet. */
yoke_status yoke_controller_create(yoke_context *ctx, yoke_graph *graph, const yoke_control_settings *settings,
                                   yoke_controller **out);
void        yoke_controller_destroy(yoke_controller **controller);

/* One accepted step, at most to t_stop, which is hit exactly. The statistics are those of all trials together; `degree`, `error`
 * and `rejected` tell of the control. YOKE_E_STEP_TOO_SMALL names the coupling with the largest error. */
yoke_status yoke_controller_step(yoke_controller *controller, double t_stop, yoke_step_statistics *statistics,
                                 yoke_context *ctx);

/* Called when a trial that ended at t_next has passed the error test: +infinity lets it be accepted, another time ends the step
 * there instead (an event): it is tried again. NULL: never. */
typedef double (*yoke_trial_end)(void *user, double t_next, yoke_context *ctx);
void yoke_controller_watch(yoke_controller *controller, yoke_trial_end end, void *user);

/* Every trial that is accepted is shown to the monitor before (kept; NULL: none), which says how fast the run up to t_end uses its budget. */
void yoke_controller_monitor(yoke_controller *controller, yoke_monitor *monitor, double t_end);

/* The motion has a break at the present point (impact, switched load): the past does not continue. Degree 0 and a step of at
 * most `H` [s] again, with a new start phase. */
void yoke_controller_restart(yoke_controller *controller, double H);

/* What it has learned so far, between steps, as bytes; into a controller of a graph with the same settings. After a failure it is as before. */
void        yoke_controller_pack(const yoke_controller *controller, yoke_pack *out);
yoke_status yoke_controller_unpack(yoke_controller *controller, yoke_unpack *in, yoke_context *ctx);

double                       yoke_controller_H(const yoke_controller *controller); /* planned for the next step */
const yoke_control_settings *yoke_controller_settings(const yoke_controller *controller);
const yoke_estimator        *yoke_controller_estimator(const yoke_controller *controller); /* tells of the last trial */

#endif
