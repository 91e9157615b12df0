/* Result writer: quantities over time into an HDF5 file that stays readable while it grows and when the run is killed.
 *
 * Layout (docs/program.md): root attributes `yoke_version`, `name`, `model`, `settings`, `status`, `t_start`, `t_end`,
 * `t_reached`; per subsystem a group (`/main` without a split) with
 *   time   [n]     attribute `units`
 *   values [n, m]  attributes `names` [m], `units` [m]
 *   solver/{steps, rejected, evaluations, jacobians, factorizations, h, order} [n], cumulative counts at output times.
 * One matrix, not one dataset per quantity: 10^5 quantities cost as many open objects, and a row is one write.
 *
 * Invariants:
 *   1. Everything is created before the switch to SWMR; afterwards datasets only grow.
 *   2. `time` grows last: a reader that takes the shortest length sees complete rows.
 *   3. `status` and `t_reached` are written once more at the end; a killed run leaves `running`. */
#ifndef YOKE_IO_RESULT_WRITER_H
#define YOKE_IO_RESULT_WRITER_H

#include "integrate/integrator.h"

typedef struct yoke_result_writer yoke_result_writer;

typedef struct yoke_result_def { /* borrowed for the call */
  const char        *path;
  const char        *group; /* "main" */
  const char        *version, *name, *model, *settings;
  double             t_start, t_end; /* [s] */
  int                n;              /* quantities */
  const char *const *names;          /* [n] */
  const char *const *units;          /* [n] */
} yoke_result_def;

/* An existing file is replaced. YOKE_E_UNSUPPORTED in a build without HDF5. */
yoke_status yoke_result_writer_create(yoke_context *ctx, const yoke_result_def *def, yoke_result_writer **out);

/* Append one row; values [n]. Rows are buffered and reach the file after 1 s or when the buffer is full. */
yoke_status yoke_result_writer_row(yoke_result_writer *writer, yoke_context *ctx, double t, const double *values,
                                   const yoke_counters *counters, double h, int order);

/* Write what is buffered, close, and note how the run ended ("done", "interrupted", ...). Destroys in any case. */
yoke_status yoke_result_writer_close(yoke_result_writer **writer, yoke_context *ctx, const char *status);

#endif
