/* Inside of a simulation, shared by simulation*.c and by the run that is made of one. Public part: yoke/simulation.h. */
#ifndef YOKE_API_SIMULATION_H
#define YOKE_API_SIMULATION_H

#include "analysis/growth.h"
#include "api/recorder.h"
#include "base/cancel.h"
#include "io/names.h"
#include "io/step_tally.h"
#include "master/reader.h"
#include <yoke/simulation.h>

typedef struct simulation_event {
  int    event; /* of the plan */
  double t;
} simulation_event;

struct yoke_simulation {
  const yoke_model       *given, *model; /* as it was given, and with the choices; own shares */
  yoke_simulation_options options;       /* functions, their users and plain values */
  yoke_equilibrium_facts  rest;          /* with options.at_rest */
  yoke_run_system         run;
  yoke_cancel             cancel;
  bool          is_at_work;  /* a call is under way: what it calls back finds the simulation in the middle of a step */
  yoke_context *ctx;         /* of that call */
  double        t_reported;  /* of the last report of progress */
  double        t_sampled;   /* of the last sample; NaN: none */
  bool          has_stopped; /* an event ended it */
  yoke_status   status;      /* of the last step */
  yoke_step_statistics statistics; /* likewise */
  yoke_step_tally      tally;      /* of all macro steps */
  double               growth;     /* of the couplings over the run, as predicted; NaN: not known */
  yoke_growth          motion;     /* by which the motion itself makes errors larger */
  double               obeyed;     /* what the steps follow of it; 0: nothing */
  int                  n_events;
  size_t               capacity;
  simulation_event    *events;   /* [n_events] of the last step */
  yoke_recorder       *recorder; /* NULL: none */
  yoke_reader         *reader;
  yoke_names           names; /* of the reader's numbers */
  yoke_arena           texts; /* of the names */
};

/* YOKE_E_USAGE where a function that a step called back calls the simulation. */
yoke_status simulation_check_idle(yoke_context *ctx, const yoke_simulation *simulation);

/* A call that works begins and ends: its messages go to ctx. */
void simulation_enter(yoke_context *ctx, yoke_simulation *simulation);
void simulation_leave(yoke_simulation *simulation);

/* What the system calls. */
yoke_sink simulation_sink(yoke_simulation *simulation);

/* The present time is the last row of the record, where it may be and is not yet. */
yoke_status simulation_last_row(yoke_context *ctx, yoke_simulation *simulation);

/* Records to files as they are, `is_stored`: and in memory. Closing behind a run that ended with `status` leaves the recorder, whose files are closed, to be asked
 * and destroyed. */
yoke_status simulation_record_to(yoke_context *ctx, yoke_simulation *simulation, const char *const files[2],
                                 bool is_stored);
yoke_status simulation_record_close(yoke_context *ctx, yoke_simulation *simulation, yoke_status status);

/* Residuals of the summary by kind, in public form. */
void simulation_residuals(const yoke_macro_totals *from, yoke_residual_summary to[YOKE_N_RESIDUAL_KINDS]);

#endif
