/* Result writer: quantities over time into an HDF5 file that stays readable while it grows and when the run is killed.
 *
 * Layout (docs/program.md): root attributes `yoke_version`, `name`, `model`, `settings`, `status`, `t_start`, `t_end`,
 * `t_reached`, and of the machine `processor`, `cpu_features`, `math_library`, `blas`, of ranks on machines that differ `machines`; the group `/main` with
 *   time   [n]     attribute `units`
 *   values [n, m]  attributes `names` [m], `units` [m]; where users described outputs of their own `descriptions` [m]
 *   solver/{steps, rejected, evaluations, jacobians, factorizations, h, order} [n], cumulative counts at output times.
 *   /times [r, 6]  written at the end: solver, save, exchange, master, output, idle [s] (`names`) of all threads and, in a split run,
 *   of every subsystem (`rows` [r]; NaN: not of a subsystem); attribute `threads`. No other number in the file depends on a clock.
 * A run of a split model adds
 *   /subsystems   attribute `names` [p]; {steps, rejected, evaluations, accumulated_error} [n, p], at the same output times, and
 *   /cosimulation   attributes: settings and `subsystems` [names]; one row per accepted macro step:
 *     {time, H, order, iterations, integrations, residual, converged} [k], time is the end of the step
 *     matrices [k]: of the corrector, made in this step; kept [k]: it began with that of an earlier one; rate [k]: at which corrections
 *     converged, NaN: not known
 *     local_error [k]: largest estimated error of the step in units of the spread of the motion so far, NaN: not known
 *     leak [k]: energy that the step brought out of nothing, NaN: not accounted for
 *     error [k]: estimated local error, 1 is the tolerance, NaN without control; forced [k]: accepted with a larger one;
 *     rejected_{error, corrector, non-finite, event, gap} [k]: trials thrown away before it; reduced_by [k]: the last reason why it
 *     is shorter than planned, a number of its attribute `reasons` (the last one is "none")
 *     couplings/values [k, c]  attribute `names` [c] ("coupling.force x"), values at the end of the step.
 *   /energies/subsystems [p, 5], couplings [w, 6]   written at the end: the energy account [J]; attributes `names` [5], [6] and `rows` [p], [w];
 *     without rows where nothing was accounted for.
 * One matrix, not one dataset per quantity or subsystem: 10^5 of them cost as many open objects, and a row is one write.
 *
 * Invariants:
 *   1. Everything is created before the switch to SWMR; afterwards datasets only grow.
 *   2. `time` grows last in its group: a reader that takes the shortest length sees complete rows.
 *   3. `status` and `t_reached` are written once more at the end, also when writing failed; a killed run leaves `running`. */
#ifndef YOKE_IO_RESULT_WRITER_H
#define YOKE_IO_RESULT_WRITER_H

#include "base/machine.h"
#include "integrate/integrator.h"
#include "io/step_tally.h"

typedef struct yoke_result_writer yoke_result_writer;

typedef struct yoke_result_def { /* borrowed for the call */
  const char                     *path;
  const char                     *group; /* "main" */
  const char                     *version, *name, *model, *settings;
  const yoke_machine             *machine;        /* NULL: not known */
  const char                     *machines;       /* of ranks, where they differ; else "" or NULL */
  double                          t_start, t_end; /* [s] */
  int                             n;              /* quantities */
  const char *const              *names;          /* [n] */
  const char *const              *units;          /* [n] */
  const char *const              *descriptions;   /* [n]; NULL: nobody wrote one */
  const struct yoke_result_split *split;          /* NULL: monolithic */
} yoke_result_def;

typedef struct yoke_result_split { /* borrowed for the call */
  int                n_subsystems;
  const char *const *subsystems;
  int                n_channels;
  const char *const *channels; /* "coupling.force x" */
  int                n_couplings;
  const char *const *couplings;
  const char        *scheme, *sequence, *start, *predictor, *jacobian;
  int                order;
  double             step;    /* [s] */
  const char        *control; /* what step control chose; NULL: fixed step */
  double             rtol;    /* of step control; NaN: fixed step */
} yoke_result_split;

typedef struct yoke_macro_row {
  double        t, H; /* end and length of the step [s] */
  int           order, iterations, integrations, matrices;
  bool          has_kept;
  double        rate; /* NaN: not known */
  double        residual;
  bool          converged;
  double        error;                                   /* NaN: none */
  double        local_error;                             /* of the monitor; NaN: not known */
  double        leak;                                    /* [J]; NaN: not known */
  int           rejected[YOKE_N_REJECTIONS], reduced_by; /* by reason (step_tally.h) */
  bool          is_forced;
  const double *channels; /* [n_channels] */
} yoke_macro_row;

/* Written beside def->path, see base/output_file.h. YOKE_E_UNSUPPORTED in a build without HDF5. */
yoke_status yoke_result_writer_create(yoke_context *ctx, const yoke_result_def *def, yoke_result_writer **out);

/* Work of a subsystem so far and its accumulated error (NaN: not known), for the next row (split runs only). */
void yoke_result_writer_part(yoke_result_writer *writer, int part, const yoke_counters *counters, double error);

/* Where the time went, written at the end: rows of YOKE_N_TIMES numbers [s] to be filled, of all threads and of every subsystem (split runs);
 * NULL: there is no file. */
enum { YOKE_N_TIMES = 6 };
double *yoke_result_writer_times(yoke_result_writer *writer, int threads);

/* The energy account at the end: rows of so many numbers [J] to be filled, of every subsystem or of every coupling of a split run; NULL: there is
 * no file. */
enum { YOKE_N_SUBSYSTEM_ENERGIES = 5, YOKE_N_COUPLING_ENERGIES = 6 };
extern const char *const yoke_subsystem_energies[YOKE_N_SUBSYSTEM_ENERGIES]; /* names of the numbers */
extern const char *const yoke_coupling_energies[YOKE_N_COUPLING_ENERGIES];
double                  *yoke_result_writer_energies(yoke_result_writer *writer, bool of_couplings);

/* Append a macro step (split runs only). */
yoke_status yoke_result_writer_macro(yoke_result_writer *writer, yoke_context *ctx, const yoke_macro_row *row);

/* Append one row; values [n]. Rows are buffered and reach the file after 1 s or when the buffer is full. */
yoke_status yoke_result_writer_row(yoke_result_writer *writer, yoke_context *ctx, double t, const double *values,
                                   const yoke_counters *counters, double h, int order);

/* Write what is buffered, close, and note how the run ended ("done", "interrupted", ...). Destroys in any case. A complete file takes
 * the place of an earlier one; one that ended early does so if it holds a row behind t_start, else it vanishes. */
yoke_status yoke_result_writer_close(yoke_result_writer **writer, yoke_context *ctx, const char *status,
                                     bool is_complete, bool *is_kept);

#endif
