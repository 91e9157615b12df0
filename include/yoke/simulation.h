/* Simulation: a model at work. It is stepped by macro steps (a model that runs as a whole: by micro steps), run to a time or to its end, read
 * by handles, saved and restored; results are recorded as `yoke run` does. A run by steps has the same bits as one call of yoke_run
 * (docs/library.md).
 *
 * Threads: any number of simulations may work at the same time, each on its own thread with a context of its own; one simulation and one
 * context belong to one thread at a time. Only yoke_simulation_cancel and yoke_simulation_clear_cancel may be called from any thread.
 *
 * Functions that a simulation calls (progress, event, trace, those of a user's subsystem) run in the middle of a step: they may cancel it; all else that
 * takes a context is YOKE_E_USAGE there, and it must not be destroyed.
 *
 * Sizes of structs, ownership and failures: yoke/context.h. */
#ifndef YOKE_SIMULATION_H
#define YOKE_SIMULATION_H

#include <yoke/context.h>
#include <yoke/export.h>
#include <yoke/model.h>
#include <yoke/result.h>
#include <yoke/run.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_simulation yoke_simulation;

/* ---- life ---- */

typedef enum yoke_event_effect {
  YOKE_EFFECT_NONE, /* nothing but this message */
  YOKE_EFFECT_SET,  /* states were changed */
  YOKE_EFFECT_END   /* the simulation has ended */
} yoke_event_effect;

typedef struct yoke_event_facts {
  size_t            size;
  const char       *name; /* as in the model; belongs to the simulation */
  double            t;    /* [s] */
  yoke_event_effect effect;
} yoke_event_facts;

typedef struct yoke_simulation_options {
  size_t             size;
  bool               monolithic; /* the model runs as a whole, whatever its split says */
  bool               no_predict; /* no prediction whether the macro step is stable, and no warning when it is not */
  bool               check;      /* subsystems watch their contract (slower) */
  /* Who integrates the subsystems: "threads", "serial", "shuffled", "eager", or "user", the executor of the context (yoke/context.h). NULL: the executor
   * where there is one, else threads. Results do not depend on it. */
  const char        *exec;
  int                threads;   /* at most; 0: one per core. As many of them work as pay (docs/parallel.md) */
  int                n_choices; /* settings on top of those of the model, as in yoke_run_options */
  const yoke_choice *choices;
  /* Quantities that will be read, where they cost something along the way: total.dissipated, total.external and total.balance of a
   * split model exist only if they are named here, in output.select, or switched on by cosimulation.energy. */
  int                n_quantities;
  const char *const *quantities;
  /* One line per call of a subsystem, on the thread that makes it, and two around every macro step. NULL: none. */
  void (*trace)(void *user, const char *line);
  void *trace_user;
  /* Called after every step, and now and then inside long ones with the time of the last call, from the thread that steps.
   * false cancels the simulation (yoke_simulation_cancel). NULL: none. */
  bool (*progress)(void *user, double t, double t_start, double t_end);
  void *progress_user;
  /* Called for every event, behind the step that it lies in, in the order of time, from the thread that steps. NULL: none. */
  void (*event)(void *user, const yoke_event_facts *event);
  void                        *event_user;
  const volatile sig_atomic_t *interrupted; /* not 0: as if cancelled. May be set by a signal handler. NULL: none */
  bool                         profile;     /* every step is timed, for the summary of a run (yoke_run_options) */
  /* The simulation starts from a rest state of the model near its assembled start, found in so many load steps; 0: as many as it takes
   * (docs/program.md). */
  bool                         at_rest;
  int                          load_steps;
} yoke_simulation_options;

/* The model is planned, assembled and started: the simulation stands at the model's t_start. Borrows the options and what they point to, but for
 * functions, their `user` and `interrupted`, which are kept. The model may be destroyed afterwards. options NULL: the standard. Gives.
 *   YOKE_E_USAGE         an unknown exec, a number of threads or a size that cannot be
 *   YOKE_E_MODEL         a choice, a combination of methods or the model cannot be used
 *   YOKE_E_UNSUPPORTED   "user" without an executor in the context
 *   YOKE_E_INTERRUPTED   `interrupted`, or `progress` said so
 *   > 0, YOKE_E_NOT_CONVERGED, YOKE_E_UNSTABLE, YOKE_E_SUBSYSTEM   there is no state to begin from (YOKE_NON_FINITE: accelerations), or no
 *                        rest state */
YOKE_API yoke_status yoke_simulation_create(yoke_context *ctx, const yoke_model *model,
                                            const yoke_simulation_options *options, yoke_simulation **out);

/* Closes a record that is still open. NULL and a pointer to NULL are fine. */
YOKE_API void yoke_simulation_destroy(yoke_simulation **simulation);

/* ---- time ---- */

YOKE_API double yoke_simulation_t(const yoke_simulation *simulation);       /* present time [s] */
YOKE_API double yoke_simulation_t_start(const yoke_simulation *simulation); /* of the model [s] */
YOKE_API double yoke_simulation_t_end(const yoke_simulation *simulation);   /* of the model, or of the choices [s] */
/* Was t_end reached, or did an event end it? */
YOKE_API bool   yoke_simulation_has_ended(const yoke_simulation *simulation);

/* ---- stepping ---- */

/* What one step did. */
typedef struct yoke_step_facts {
  size_t  size;
  double  t, H;         /* its end and its length [s] */
  int     order;        /* polynomial degree; of a micro step the order of the solver */
  int     iterations;   /* corrector passes; 0 without couplings */
  int     integrations; /* of subsystems over the step, perturbed ones included */
  bool    converged;    /* the conditions of the couplings hold as they should; true without couplings */
  double  residual;     /* largest violation of a coupling condition, in mixed units */
  double  residuals[YOKE_N_RESIDUAL_KINDS]; /* largest by kind (yoke_residual_unit_name) */
  double  error;                            /* estimated local error, 1 is the tolerance; NaN: fixed step */
  int64_t rejected[YOKE_N_REJECTED];        /* trials before this step was accepted, by reason (yoke_reason_word) */
  int     n_events;                         /* that happened: yoke_simulation_event */
  bool    has_ended;                        /* the step reached the end, or an event ended the simulation there */
} yoke_step_facts;

/* One accepted macro step; of a model that runs as a whole one micro step. `facts` NULL: not wanted; filled after success only.
 *   YOKE_E_USAGE          the simulation has ended; a size that cannot be
 *   YOKE_E_INTERRUPTED    cancelled; where the step was begun it is taken from its beginning, or finished, by the next call
 *   YOKE_E_NOT_CONVERGED, YOKE_E_STEP_TOO_SMALL   the step did not converge: the simulation stands at its beginning
 *   YOKE_E_UNSTABLE       a value is not finite, a joint is open, or the couplings diverge
 *   YOKE_E_SUBSYSTEM      a subsystem failed
 *   YOKE_E_IO             the record could not be written
 *   YOKE_E_UNSUPPORTED    an event acts in the middle of a step that cannot be repeated, or events failed half-way before: only restore
 *                         leads on */
YOKE_API yoke_status yoke_simulation_step(yoke_context *ctx, yoke_simulation *simulation, yoke_step_facts *facts);

/* Steps up to t, where the last one ends, or to an event that ends the simulation before. Where t is no end of a step by itself the steps, and
 * with them the last digits of all that follows, are others than without this stop. Fails as a step does; YOKE_E_USAGE also: t lies before the
 * present time or behind the end. */
YOKE_API yoke_status yoke_simulation_run_to(yoke_context *ctx, yoke_simulation *simulation, double t);

/* Event i < n_events of the last step. YOKE_E_USAGE: there is no such event, or a size that cannot be. */
YOKE_API yoke_status yoke_simulation_event(yoke_context *ctx, const yoke_simulation *simulation, int i,
                                           yoke_event_facts *out);

/* A call that steps ends as soon as it can (looked at before every micro step) with YOKE_E_INTERRUPTED, and so does every later one until
 * the cancel is cleared; then the simulation goes on with the same bits. From any thread, `cancel` also from a signal handler. */
YOKE_API void yoke_simulation_cancel(yoke_simulation *simulation);
YOKE_API void yoke_simulation_clear_cancel(yoke_simulation *simulation);

/* ---- quantities ---- */

/* handles[i] of names[i] ("upper.x", "knee.force[1]", "total.energy"), for yoke_simulation_get of this simulation. A name that is
 * found again has the same handle. After a failure `handles` mean nothing. Names are borrowed.
 *   YOKE_E_USAGE   there is no such quantity: every unknown name has a message, with the nearest name there is
 *   YOKE_E_MODEL   the owner of a quantity cannot show it */
YOKE_API yoke_status yoke_simulation_find(yoke_context *ctx, yoke_simulation *simulation, int n,
                                          const char *const *names, int *handles);

/* values[i] of handles[i] at the present time: left limits at the end of a step, right limits at the start and behind an event that set states.
 * Allocates nothing; a second look at the same time is a look into an array.
 *   YOKE_E_USAGE      a number that is no handle
 *   YOKE_E_UNSTABLE   a value is not finite, or cannot be evaluated; the first such quantity is named */
YOKE_API yoke_status yoke_simulation_get(yoke_context *ctx, yoke_simulation *simulation, int n, const int *handles,
                                         double *values);

/* Calls `visit` for every quantity that can be found, in the order of a result file, until it gives false. A chain shows every mass: nothing is stored,
 * so a list of millions costs only the calls. Name and unit are good for the call. */
YOKE_API void yoke_simulation_list(const yoke_simulation *simulation,
                                   bool (*visit)(void *user, const char *name, const char *unit), void *user);

/* ---- inputs ---- */

/* Inputs of the model (`inputs:` of the model file): numbers that loads, laws, events and outputs read, constant until they are set. Their present
 * values are quantities like all others, under their names. Number i < n_inputs, in the order of the file. */
typedef struct yoke_input_facts {
  size_t      size;
  const char *name, *unit, *description; /* "": none; belong to the simulation */
  double      value;                     /* at present */
} yoke_input_facts;

YOKE_API int         yoke_simulation_n_inputs(const yoke_simulation *simulation);
/* YOKE_E_USAGE: there is no such number, or a size that cannot be. */
YOKE_API yoke_status yoke_simulation_input(yoke_context *ctx, const yoke_simulation *simulation, int i,
                                           yoke_input_facts *out);

/* inputs[i] is the number of the input names[i]. YOKE_E_USAGE: there is no such input: every unknown name has a message, with the nearest name there is. */
YOKE_API yoke_status yoke_simulation_find_inputs(yoke_context *ctx, const yoke_simulation *simulation, int n,
                                                 const char *const *names, int *inputs);

/* values[i] for inputs[i] from the present time on, all at once. Where one is another than before, the next step begins as behind an event that sets states, and
 * values at the present time are right limits. A snapshot holds them. After YOKE_E_USAGE nothing is set.
 *   YOKE_E_USAGE         there is no such input, or a value is not finite
 *   YOKE_E_UNSUPPORTED   a step was interrupted between its samples (step again), or events failed
 *   > 0, YOKE_E_NOT_CONVERGED, YOKE_E_SUBSYSTEM   the couplings find no values behind the jump: only restore leads on */
YOKE_API yoke_status yoke_simulation_set(yoke_context *ctx, yoke_simulation *simulation, int n, const int *inputs,
                                         const double *values);

/* ---- states ---- */

/* All that a simulation is at one time. Belongs to no simulation: any of the same model and settings goes on from it with the same bits, in this
 * process or another. Constant; several may exist. */
typedef struct yoke_snapshot yoke_snapshot;

/* *snapshot NULL: a new one (gives); else it is written over, and its memory used again. YOKE_E_UNSUPPORTED: a step was interrupted between its
 * samples (step again), events failed, or a subsystem of a user has states that are no bytes and no ability pack. After a failure *snapshot is NULL, or what it was if it was given. */
YOKE_API yoke_status yoke_simulation_save(yoke_context *ctx, const yoke_simulation *simulation,
                                          yoke_snapshot **snapshot);

/* The simulation is as it was saved, any number of times. What only belongs to a simulation stays: handles, callbacks, a cancel, threads, the
 * record. After a failure it is as before.
 *   YOKE_E_USAGE   it was saved by another model or with other settings (the message names what differs), or a record holds later times */
YOKE_API yoke_status yoke_simulation_restore(yoke_context *ctx, yoke_simulation *simulation,
                                             const yoke_snapshot *snapshot);

YOKE_API void yoke_snapshot_destroy(yoke_snapshot **snapshot); /* NULL and a pointer to NULL are fine */

/* As bytes, to be stored or sent: they belong to the snapshot. And back: the bytes are copied. Gives.
 *   YOKE_E_IO            damaged, or no snapshot
 *   YOKE_E_UNSUPPORTED   of another version, or of a machine with another order of bytes */
YOKE_API const void *yoke_snapshot_bytes(const yoke_snapshot *snapshot, size_t *size);
YOKE_API yoke_status yoke_snapshot_from_bytes(yoke_context *ctx, const void *bytes, size_t size, yoke_snapshot **out);

/* ---- results ---- */

/* Result files, as in yoke_run_options. */
typedef struct yoke_record_options {
  size_t      size;
  const char *out;       /* NULL: what the key output.file says, "": none. A name that ends in .csv is written as CSV */
  const char *csv;       /* likewise output.csv */
  bool        in_memory; /* rows are kept in memory besides, for yoke_simulation_record_take */
} yoke_record_options;

/* From now on results are recorded: the present time, then what a run writes (output.every, output.select, macro steps). options NULL: the files that
 * the model names. Borrows the options.
 *   YOKE_E_USAGE         a record is open already; a file that was read, or one file twice; a size that cannot be
 *   YOKE_E_MODEL         a file that the model names lies outside of the folder in which the program was started
 *   YOKE_E_IO            a file cannot be written
 *   YOKE_E_UNSUPPORTED   this build writes no HDF5 */
YOKE_API yoke_status yoke_simulation_record(yoke_context *ctx, yoke_simulation *simulation,
                                            const yoke_record_options *options);

/* The present time becomes the last row, and the files are complete under their names. They say "done" where the simulation has ended, "failed: ..."
 * behind a step that failed, else "interrupted"; a record that holds nothing but the start of an unfinished run leaves no file.
 * YOKE_E_USAGE: no record is open. YOKE_E_IO: a file could not be finished. YOKE_E_UNSTABLE: the present time cannot be shown. */
YOKE_API yoke_status yoke_simulation_record_end(yoke_context *ctx, yoke_simulation *simulation);

/* The same for a record in memory, and what it holds: a result to be read and compared like one of a file, called `name`. Gives.
 * YOKE_E_USAGE also: the record is not in memory (it stays open). */
YOKE_API yoke_status yoke_simulation_record_take(yoke_context *ctx, yoke_simulation *simulation, const char *name,
                                                 yoke_result **out);

/* ---- statistics ---- */

/* Sums since t_start. Restoring a snapshot restores them too, all but n_rows. */
typedef struct yoke_simulation_statistics {
  size_t  size;
  int64_t steps, rejected_steps; /* micro steps */
  int64_t evaluations, jacobians, factorizations;
  char    method[24]; /* solver at work ("dopri5" under auto); with a split the standard one of the model */
  bool    has_energy;
  double  energy_start, energy_drift; /* as in yoke_run_summary [J] */
  double  constraint_residual;        /* largest |g| at output times */
  int     n_events;
  int64_t n_rows; /* recorded, of the record that is open; 0: none */
  bool    is_split;
  int64_t macro_steps, rejected_macro_steps;
  int64_t iterations;   /* corrector passes */
  int64_t integrations; /* of subsystems over a macro step, perturbed ones included */
  int64_t unconverged;  /* macro steps accepted although their conditions do not hold as they should */
  double  residual;     /* largest violation of a coupling condition, in mixed units */
  yoke_residual_summary residuals[YOKE_N_RESIDUAL_KINDS];
  yoke_step_report      report;        /* of the macro steps, by reason and degree */
  int64_t               matrices;      /* of the corrector, that were made */
  int64_t               kept_matrices; /* macro steps that began with the matrix of an earlier one */
  int64_t               all_evaluations,
      all_jacobians; /* right-hand sides and Jacobians of all integrations, also rejected and perturbed ones and tangents */
} yoke_simulation_statistics;

/* YOKE_E_USAGE: a size that cannot be. */
YOKE_API yoke_status yoke_simulation_statistics_get(yoke_context *ctx, yoke_simulation *simulation,
                                                    yoke_simulation_statistics *out);

#ifdef __cplusplus
}
#endif
#endif
