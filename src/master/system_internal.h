/* Inside of a system, shared by system*.c. */
#ifndef YOKE_MASTER_SYSTEM_INTERNAL_H
#define YOKE_MASTER_SYSTEM_INTERNAL_H

#include "base/pool.h"
#include "base/progress.h"
#include "energy/correction.h"
#include "master/macro_grid.h"
#include "master/system.h"
#include "master/system_events.h"

/* Where samples are taken. */
typedef struct system_samples {
  yoke_observer      *observer;
  yoke_graph_handles *handles;       /* [n_parts] */
  double             *times;         /* [n_room] inside the step that is taken */
  size_t              n_room;        /* of times */
  int                 n_channels;    /* of all wires */
  double             *channels;      /* [n_channels] at one time */
  double             *means;         /* [n_channels] over the last macro step */
  const double      **row;           /* [n_parts] values at one time */
  double            **room;          /* [n_parts] for values at the present time */
  double             *outputs;       /* [n_outputs] */
  int64_t             n_done;        /* emitted; the next regular one is at t_start + n_done every */
  int64_t             n_planned;     /* free steps: the sample that the subsystem was told of */
  bool                is_behind;     /* interrupted before all samples of the last step were emitted */
  bool                shows_account; /* numbers of the energy account are among the outputs, or read by them */
} system_samples;

/* Energy that wires have lost. */
typedef struct system_loss {
  bool       is_wanted;
  double     t, sum; /* up to the beginning of the last step [s], [J] */
  double    *before; /* [ny] outputs at that time, subsystem by subsystem */
  size_t     ny;     /* of all */
  yoke_arena scratch;
} system_loss;

/* Does time move on? */
typedef struct system_watch {
  yoke_progress progress;
  int64_t       steps, rejected; /* so far */
} system_watch;

struct yoke_system {
  yoke_arena          arena; /* of all arrays */
  const yoke_plan    *plan;
  yoke_subsystem    **subsystems;
  yoke_relay         *relay; /* NULL: they all live here */
  int                *owner; /* [n_parts] rank; NULL without relay */
  yoke_pool          *pool;  /* what they consist of; NULL: they have memory of their own */
  yoke_exec          *exec;
  yoke_lockstep     **helpers; /* [n_parts] threads inside of each, or NULL; NULL: none has any */
  yoke_ledger        *ledger;
  yoke_graph         *graph;
  yoke_controller    *controller; /* NULL: fixed steps, or free ones */
  yoke_monitor       *monitor;    /* NULL: none */
  yoke_step_choice    choice;
  yoke_macro_grid     grid;
  yoke_system_events  events;
  yoke_macro_totals   totals;
  system_watch        watch;
  yoke_log            log;
  double              t_previous;    /* beginning of the last step */
  double              t_crossed;     /* of the last jump of loads or motions that lies behind; the start */
  bool                has_begun;     /* a run has shown the start */
  bool                is_unfinished; /* a step was accepted whose samples or events were not dealt with */
  bool                is_broken;     /* its events failed half-way, or what follows from other inputs */
  uint64_t            n_sets;        /* how often inputs were set */
  bool                is_fresh; /* at the start, or right behind an event that set states: right limits are shown */
  system_samples      samples;
  system_loss         loss;
  yoke_account       *account;    /* NULL: none */
  yoke_correction    *correction; /* NULL: none */
  yoke_system_summary summary;
  yoke_pack           agreed; /* of system_agree */
};

/* system_step.c: one accepted step without what happens at its end; totals count it. */
yoke_status system_advance(yoke_system *system, double t_end, yoke_step_statistics *statistics, yoke_context *ctx);

/* system_pack.c: what a step begins with is that of rank 0 on all ranks, where they may differ. */
yoke_status system_agree(yoke_system *system, yoke_context *ctx);

double      system_end_at_event(yoke_system *system, double t_next, yoke_context *ctx);
/* system.c: the couplings begin anew at the present time. */
yoke_status system_restart(yoke_system *system, yoke_context *ctx);
/* Where loads or motions jump, behind the samples of the present time, which have the limits from the left: couplings go on from the right-hand limit,
 * and motions kick what hangs on them. Nothing where nothing jumps, or has been crossed. */
yoke_status system_cross_jump(yoke_system *system, yoke_context *ctx);

/* system_samples.c: rooms; the times that fall into the next step; the samples that are due behind it; one at the present time. */
yoke_status system_samples_create(yoke_system *system, yoke_context *ctx);
void        system_samples_clear(yoke_system *system);
yoke_status system_plan_samples(yoke_system *system, double t_end, yoke_context *ctx);
yoke_status system_emit_due(yoke_system *system, double t_end, const yoke_sink *sink, yoke_context *ctx);
/* Is the present time that of a sample, or will the next step show numbers of the account as they are now? */
bool        system_samples_need_account(const yoke_system *system);
/* Regular samples up to now count as taken. */
void        system_pass_due(yoke_system *s);
yoke_status system_emit_now(yoke_system *system, const yoke_sink *sink);
/* May n regular samples have been emitted up to t, all those that were due? */
bool        system_samples_are_at(const yoke_system *system, int64_t n, double t);

/* Any other list of outputs, `list` and `name` are kept: its observer (is_main: with what the summary reads), room for what it asks of every
 * subsystem (NULL: out of memory), and its values at t, the present time or (free steps) one in the last micro step. */
yoke_status system_observer_create(yoke_system *system, int n, const yoke_output *list, char *const *name, bool is_main,
                                   yoke_observer **out, yoke_context *ctx);
double    **system_observer_room(const yoke_system *system, const yoke_observer *observer, yoke_arena *arena);
yoke_status system_observer_show(yoke_system *system, yoke_observer *observer, double *const *room, double t,
                                 double *values, yoke_totals *totals);

/* system_helpers.c: threads inside of subsystems, which must not be stepped any more when these are gone. *n_tasks: those that are left for
 * lists of tasks, as options count them. */
yoke_status system_helpers_create(yoke_system *system, const yoke_system_options *options, int *n_tasks,
                                  yoke_context *ctx);
void        system_helpers_clear(yoke_system *system);

/* system_loss.c: what the wires lose over steps. */
yoke_status system_loss_create(yoke_system *system, yoke_context *ctx);
void        system_loss_begin(yoke_system *system);
double      system_loss_at(yoke_system *system, double t);

#endif
