/* Monitor: estimates the local error of every accepted step and adds it up (error_tally.h), whoever chose the step. It changes nothing of a trial; step control
 * chooses the next step by what it says (yoke_monitor_pace).
 *
 *   step control    its own estimate, where it looks at motions; in steps that it does not compare its last one, as errors fall with H
 *   PREDICTED       corrected schemes: the corrector against the predictor, in every step; needs no integration
 *   copies          couplings that overlap: copies against their originals, in every step; needs no integration
 *   CONSISTENT      all else: a second integration, through the values that belong to the new outputs (trial.h). In the first
 *                   three steps behind a start or a break, then as often as its right-hand sides stay below 5 % of those of the run.
 * Between two estimates the error is held in proportion to the jump |u_pre - u| of the coupling values of its subsystem, and
 * to H in velocities and H^2 in positions; when the jump has doubled beyond all those that were estimated, the step is estimated at once, twenty
 * times in a run, then while 10 % are not exceeded. All is a function of
 * accepted values and counters: the same bits on repetition, for any number of threads. */
#ifndef YOKE_CONTROL_MONITOR_H
#define YOKE_CONTROL_MONITOR_H

#include "control/error_tally.h"
#include "control/estimator.h"

typedef struct yoke_monitor yoke_monitor;

/* Keeps the graph, which has made no step yet. Behind yoke_graph_control, where there is one. */
yoke_status yoke_monitor_create(yoke_context *ctx, yoke_graph *graph, yoke_monitor **out);
void        yoke_monitor_destroy(yoke_monitor **monitor);

/* Between a trial and its acceptance. `by` has made an estimate of it (NULL: nobody has). The work of the run is read from `statistics`,
 * which receive `local_error`. YOKE_E_MEMORY only: an estimate that fails is none. */
yoke_status yoke_monitor_look(yoke_monitor *monitor, const yoke_estimator *by, yoke_step_statistics *statistics);

/* Behind a look that has estimated: how fast that step uses up what the accumulated error may become by t_end (yoke_error_tally_pace). An average
 * step of the run so far, and a longer one in proportion, may take its share of the time that is left. */
double yoke_monitor_mean_step(const yoke_monitor *monitor); /* up to the end of the step that was looked at */
double yoke_monitor_pace(const yoke_monitor *monitor, double limit, double spared, double t_end);

/* What the last trial, which is not accepted yet, would take of what is left of `limit`, in units of the share of its time in what is left of the run; 0
 * in the first steps and where `by` has no errors. */
double yoke_monitor_bite(yoke_monitor *monitor, const yoke_estimator *by, double limit, double t_end);

/* The past does not continue: the next steps are estimated. */
void yoke_monitor_restart(yoke_monitor *monitor);

typedef struct yoke_monitor_facts {
  bool        knows;                     /* errors of motions are estimated at all */
  const char *blind;                     /* a subsystem that cannot go back, whose own error is not known; NULL: none */
  int64_t     steps, estimates;          /* looked at; of them estimated, the others are held */
  int64_t     evaluations, integrations; /* that the estimates took, beside those of the run */
} yoke_monitor_facts;
yoke_monitor_facts      yoke_monitor_facts_get(const yoke_monitor *monitor);
const yoke_error_tally *yoke_monitor_tally(const yoke_monitor *monitor);

void        yoke_monitor_pack(const yoke_monitor *monitor, yoke_pack *out);
/* After a failure it must be unpacked again. */
yoke_status yoke_monitor_unpack(yoke_monitor *monitor, yoke_unpack *in, yoke_context *ctx);

#endif
