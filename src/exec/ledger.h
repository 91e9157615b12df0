/* Ledger: where the time of a run goes (Kraft, section 4): solver, saving and restoring, exchange, master, output, idle.
 *
 * Steps are timed as a whole or not at all: all of them where their tasks are long, else as many as cost less than 1 % of the run, each
 * standing for those up to the next one. What looking at the clock and adding up take is left out. No result depends on it.
 *
 *   solver     integrations of subsystems
 *   save       copies of their states
 *   exchange   inputs made of coupling values, outputs read; what other ranks tell behind a list of tasks, and the wait for it
 *   master     all else that a macro step takes on the thread that drives it
 *   output     samples and result files
 *   idle       of a subsystem: until the longest of the same list of tasks is done, had each one a worker */
#ifndef YOKE_EXEC_LEDGER_H
#define YOKE_EXEC_LEDGER_H

#include "exec/projection.h"
#include "exec/timeline.h"
#include <yoke/context.h>
#include <stdbool.h>
#include <stdint.h>

/* When a task began, had its copy, had integrated, and was done [s]. */
typedef struct yoke_task_times {
  double begin, saved, solved, end;
  double processor; /* what it had of one [s], in a profile: waiting for a processor is no work */
  int    worker;
} yoke_task_times;

typedef struct yoke_part_times {
  double solver, save, exchange, idle; /* [s] */
} yoke_part_times;

typedef struct yoke_ledger {
  int              n_parts;
  yoke_part_times *parts; /* [n_parts]; of parts on other ranks what these have told */
  yoke_part_times  own;   /* all tasks of this process, and its exchange with other ranks; no idle */
  double          *span;  /* [n_parts] longest task of the present list [s]; -1: it has none */
  double          *spans; /* [n_parts] sum of the spans of the present step [s] */
  int             *here;  /* [n_here] parts of the present list */
  int              n_here;
  double           steps, lists, output; /* all steps, the lists of tasks in them, all output [s] */
  double           look;                 /* what one at the clock takes [s] */
  /* the present step */
  bool             is_timed;
  double           step_begin, step_lists, step_lost; /* begin; its lists, and what the ledger itself took [s] */
  double           list_end;
  double           step_longest; /* sum of the longest spans of its lists [s] */
  double           serial_begin; /* profile: clock of the thread where the part between lists begins [s] */
  int64_t          n_tasks;      /* of its lists */
  int64_t          n_driven;     /* of the present list, on the thread that drives the step */
  /* which ones are timed */
  int64_t          n_steps, next, stride, n_outputs, next_output, output_stride;
  double           output_begin, output_processor; /* clock, profile: clock of the thread [s] */
  /* NULL: no profile is wanted */
  yoke_projection *projection;
  yoke_timeline   *timeline;
} yoke_ledger;

yoke_status yoke_ledger_create(yoke_context *ctx, int n_parts, bool is_profile, yoke_ledger **out);
void        yoke_ledger_destroy(yoke_ledger **ledger);

/* Around one accepted step with its rejected trials. */
void yoke_ledger_begin_step(yoke_ledger *ledger);
void yoke_ledger_end_step(yoke_ledger *ledger);

/* In a step that is timed: a list of tasks begins to run, and gives the time; it ran from `begin` until now. Then its tasks, one call each, and its
 * end; tasks of the same `job` follow each other on one worker. */
double yoke_ledger_open_list(yoke_ledger *ledger);
void   yoke_ledger_begin_list(yoke_ledger *ledger, double begin);
void   yoke_ledger_task(yoke_ledger *ledger, int part, int variant, int job, const yoke_task_times *times);
/* The tasks of this process were done at `done`; the rest of the list was exchange with other ranks. */
void   yoke_ledger_ranks(yoke_ledger *ledger, double done);
void   yoke_ledger_end_list(yoke_ledger *ledger);

/* Around one sample. */
void yoke_ledger_begin_output(yoke_ledger *ledger);
void yoke_ledger_end_output(yoke_ledger *ledger);

#endif
