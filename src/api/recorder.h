/* Recorder: receives the samples and macro steps of a simulation and passes them on to its result files, or keeps them in memory. */
#ifndef YOKE_API_RECORDER_H
#define YOKE_API_RECORDER_H

#include "api/run.h"
#include "io/csv.h"
#include "io/result_reader.h"
#include "io/result_writer.h"

/* Rows in memory, for a comparison. */
typedef struct yoke_row_store {
  bool    is_wanted;
  size_t  n, capacity; /* rows */
  double *rows;        /* [n, 1 + n_outputs], time first */
} yoke_row_store;

typedef struct yoke_recorder {
  const yoke_model      *model;
  const yoke_run_system *run;
  bool                   is_split;
  int                    n_outputs, n_channels;
  char                  *out, *csv; /* result and CSV file; NULL: none, after closing: none was kept */
  const char           **names, **units, **descriptions; /* [n_outputs], belong to the plan */
  yoke_result_writer    *hdf5;                           /* NULL: none */
  yoke_csv_writer       *csv_writer, *csv_out;           /* csv_out: `out` ended in .csv */
  double                 t_kept, t_macro; /* of the last row (NaN: none) and macro step (-infinity: none) */
  int64_t                n_rows;
  double                *channels; /* [n_channels] at the present macro point */
  double                *errors;   /* [n_parts] accumulated so far */
  double                 wall;     /* that steps and samples took [s]; 0: as far as they were timed */
  yoke_row_store         store;
} yoke_recorder;

/* Files that are asked for. NULL: what the model's keys say, the trace: none; "": none. */
typedef struct yoke_recorder_names {
  const char *out, *csv, *trace, *profile;
} yoke_recorder_names;

/* Chooses result and CSV file (NULL: none; they belong to the model or to the names) and makes sure that they overwrite nothing. */
yoke_status yoke_recorder_files(yoke_context *ctx, const yoke_model *model, const yoke_recorder_names *given,
                                const char *files[2]);

typedef struct yoke_recorder_def {
  const yoke_model      *model;     /* kept */
  const yoke_run_system *run;       /* kept */
  const char            *files[2];  /* NULL: none */
  int                    threads;   /* as asked for, a setting in the file */
  bool                   is_stored; /* rows are kept in memory besides */
} yoke_recorder_def;

/* Opens the files. Gives. */
yoke_status yoke_recorder_create(yoke_context *ctx, const yoke_recorder_def *def, yoke_recorder **out);
void        yoke_recorder_destroy(yoke_recorder **recorder);

/* What the system tells (yoke_sink). */
yoke_status yoke_recorder_sample(yoke_recorder *recorder, yoke_context *ctx, double t, const double *outputs,
                                 const yoke_counters *counters, double h, int order);
yoke_status yoke_recorder_macro(yoke_recorder *recorder, yoke_context *ctx, double t, double H, int order,
                                const yoke_step_statistics *statistics);

/* Closes the files of a run that ended with `status` and gives the status of both: the first failure decides. */
yoke_status yoke_recorder_close(yoke_recorder *recorder, yoke_context *ctx, yoke_status status);

/* The stored rows as a result of this name. Gives. */
yoke_status yoke_recorder_take(yoke_recorder *recorder, yoke_context *ctx, const char *name, yoke_result **out);

#endif
