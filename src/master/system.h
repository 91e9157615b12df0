/* System: a plan at work.
 *
 * Fixed step: the macro grid is computed from the step number (macro_grid.h, invariant 4 of the design). Step control: step and degree are
 * chosen (control/controller.h). Either way macro points lie at the end, at switching times of loads, behind whose jumps the history of
 * the couplings begins anew, and at state events that act (system_events.h). A model that is run as a whole is one subsystem without wires,
 * which steps freely: one micro step at a time.
 *
 * Invariants:
 *   1. A sample lies at t_start + k every, computed from k; samples never influence the steps. Inside a step its values come from the
 *      subsystems' own dense output; at a macro point they are the accepted ones.
 *   2. An event that changes the state or stops the run ends the step there: the step is repeated up to the event. Events that only
 *      record leave the accepted steps as they are. */
#ifndef YOKE_MASTER_SYSTEM_H
#define YOKE_MASTER_SYSTEM_H

#include "base/comm.h"
#include "energy/account.h"
#include "master/plan.h"
#include "master/step_choice.h"

typedef struct yoke_system yoke_system;

typedef struct yoke_system_options {
  const char *exec;    /* "threads", "serial", "shuffled", "eager"; NULL: threads */
  int         threads; /* 0: all cores */
  bool        check;   /* wrap subsystems so that they watch their contract */
  const char *forward; /* this subsystem gets no way back, as a foreign one may have none; NULL: none */
  yoke_log    log;     /* macro steps, and every call of a subsystem */
  bool        profile; /* every step is timed, for a timeline and a projection */
  yoke_comm *
      comm; /* kept: subsystems live on its ranks, all of which create the same system and make the same calls. NULL: on this one */
} yoke_system_options;

/* Residuals of one kind over all accepted steps. */
typedef struct yoke_residual_total {
  double largest; /* in its unit */
  double size;    /* what it is measured by, the largest of all steps */
  double share;   /* largest / size, motions: the largest of any step */
} yoke_residual_total;

typedef struct yoke_macro_totals {
  int64_t steps, rejected; /* macro steps */
  int64_t iterations;      /* corrector passes */
  int64_t integrations;    /* of subsystems over a macro step, perturbed ones included */
  int64_t evaluations,
      jacobians; /* right-hand sides and Jacobians of all integrations, also rejected and perturbed ones and tangents */
  int64_t matrices, kept; /* matrices of the corrector that were made; accepted steps that began with an earlier one */
  int64_t unconverged;    /* steps accepted at the noise of the solvers, semi-implicit: with levels that are open */
  int64_t rejected_by[YOKE_N_REJECTIONS];
  int64_t reduced_by[YOKE_N_REDUCTIONS]; /* accepted steps that are shorter than planned, by the last reason */
  int64_t forced;                        /* steps accepted with too large an error: a subsystem cannot go back */
  int64_t degrees[YOKE_ORDER_MAX + 1];   /* steps of each degree */
  double  smallest, largest;             /* H of accepted steps [s] */
  double  rate;     /* slowest convergence of the corrector in accepted steps; 0: none was measured */
  double  residual; /* largest |c| of accepted steps, in mixed units */
  yoke_residual_total residuals[YOKE_N_RESIDUALS];
} yoke_macro_totals;

/* Keeps the plan. options NULL: the standard. Starts all subsystems at the plan's t_start. Gives. */
yoke_status yoke_system_create(yoke_context *ctx, const yoke_plan *plan, const yoke_system_options *options,
                               yoke_system **out);
void        yoke_system_destroy(yoke_system **system);

/* Called for the start (by the first run of a system), for every output time and for the end of a run. */
typedef struct yoke_sink {
  void *user;
  yoke_status (*sample)(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                        int order);
  bool (*progress)(void *user, double t); /* after every step; NULL: none; false: stop (YOKE_E_INTERRUPTED) */
  /* with macro steps: after every accepted one, which ended at t; NULL: none */
  yoke_status (*macro)(void *user, double t, double H, int order, const yoke_step_statistics *statistics);
  void (*event)(void *user, int event, double t); /* number `event` of the plan happened at t; NULL: none */
} yoke_sink;

typedef struct yoke_system_summary {
  double            t; /* reached [s] */
  yoke_counters     counters;
  bool              has_energy;
  double            energy_start, energy_drift; /* balance at the start; its largest change at samples [J] */
  double            constraint_residual;        /* largest |g| at samples */
  const char       *method;                     /* at work at the end ("dopri5" under auto) */
  int               n_events;                   /* located */
  bool              has_macro_steps;
  yoke_macro_totals macro;
} yoke_system_summary;

/* Run to t_end, from where the system is. `summary` is filled also on failure: what was computed before is valid. */
yoke_status yoke_system_run(yoke_system *system, double t_end, const yoke_sink *sink, yoke_system_summary *summary,
                            yoke_context *ctx);

/* The same by steps: the sample at the start, once in the life of a system; one accepted step, to t_stop at most, with the samples and
 * events that it reached (*stop: one of them ends the run); a sample at the present time; what was summed up so far. The end of the
 * plan is left to a sample of its own, which the caller takes there. Where a step was interrupted between its samples the next call does what
 * it left to be done, and `statistics` stay as they are. The sink may be NULL. */
yoke_status yoke_system_begin(yoke_system *system, const yoke_sink *sink, yoke_context *ctx);
yoke_status yoke_system_step(yoke_system *system, double t_stop, const yoke_sink *sink,
                             yoke_step_statistics *statistics, bool *stop, yoke_context *ctx);
yoke_status yoke_system_sample(yoke_system *system, const yoke_sink *sink, yoke_context *ctx);
void        yoke_system_summarise(yoke_system *system, yoke_system_summary *summary);
/* Says that the run was interrupted where it is, and gives YOKE_E_INTERRUPTED. */
yoke_status yoke_system_interrupt(const yoke_system *system, yoke_context *ctx);

/* The system between steps as bytes (base/pack.h), also in `progress` of a sink: states, past of the couplings, control, samples that are
 * done, totals. `unpack` puts a system of the same plan there, in this process or another; it goes on with the same bits. A plan or settings
 * that are others are refused with the name of what differs (YOKE_E_USAGE), and after a failure the system is as before. What only belongs
 * to a process may be another: threads, log, selected outputs, the end of the run. */
yoke_status yoke_system_pack(const yoke_system *system, yoke_pack *out, yoke_context *ctx);
yoke_status yoke_system_unpack(yoke_system *system, yoke_unpack *in, yoke_context *ctx);
/* The same as a pack of its own: `save` begins and ends `out`. */
yoke_status yoke_system_save(const yoke_system *system, yoke_pack *out, yoke_context *ctx);
yoke_status yoke_system_restore(yoke_system *system, const void *bytes, size_t size, yoke_context *ctx);

/* Inputs of the plan: values from the present time on, until they are set again. Where one is another than before the next step begins as
 * behind an event that sets states: right limits count, the past of the couplings is forgotten. Between steps only; part of pack.
 * YOKE_E_USAGE: no such input, or no finite value; nothing is set then. Where the couplings find no values behind the jump the
 * system cannot go on but from a state that was saved. */
yoke_status yoke_system_set_inputs(yoke_system *system, int n, const int *inputs, const double *values,
                                   yoke_context *ctx);
double      yoke_system_input(const yoke_system *system, int input);

/* One value by name at the present time, also of outputs that were not selected. Unknown names fail with the nearest ones. */
yoke_status yoke_system_value(yoke_system *system, const char *name, double *value, yoke_context *ctx);
/* n handles of a subsystem at the present time, left limits. */
yoke_status yoke_system_observe(yoke_system *system, int part, int n, const int64_t *handles, double *values);

double                  yoke_system_t(const yoke_system *system);
double                  yoke_system_last_H(const yoke_system *system); /* length of the last step [s] */
/* Was a step accepted whose samples or events were not dealt with? */
bool                    yoke_system_is_unfinished(const yoke_system *system);
/* Macro step of the plan; with control the one that is planned next; of a system that steps freely the last step. */
double                  yoke_system_H(const yoke_system *system);
/* With control: settings and why they were chosen; NULL: none. */
const yoke_step_choice *yoke_system_choice(const yoke_system *system);
void                    yoke_system_counters(const yoke_system *system, yoke_counters *out); /* of all subsystems */
void                    yoke_system_part_counters(const yoke_system *system, int part, yoke_counters *out);
const yoke_ledger      *yoke_system_ledger(const yoke_system *system); /* where the time went */
/* Collective: the ledger learns the times of parts on other ranks. What it has timed stands for `factor` times as much. */
void                    yoke_system_share_times(yoke_system *system, double factor);
yoke_exec_use           yoke_system_exec_use(const yoke_system *system);
int                     yoke_system_n_workers(const yoke_system *system);
/* Threads inside of subsystems, of all together; most: the largest number that worked, one of them on a task. */
yoke_lockstep_use       yoke_system_inside(const yoke_system *system);
const yoke_plan        *yoke_system_plan(const yoke_system *system);
const yoke_subsystem   *yoke_system_subsystem(const yoke_system *system, int part);
const yoke_controller  *yoke_system_controller(const yoke_system *system); /* NULL: none */
const yoke_monitor     *yoke_system_monitor(const yoke_system *system);    /* NULL: none */
const yoke_graph       *yoke_system_graph(const yoke_system *system);
const yoke_account     *yoke_system_account(const yoke_system *system); /* NULL: none */

#endif
