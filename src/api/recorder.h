/* Recorder: receives the samples and macro steps of a run and passes them on to its result files, or keeps them in memory. */
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
  yoke_context           *ctx;
  const yoke_run_options *options;
  const yoke_model       *model;
  yoke_run_system         run;
  yoke_run_summary       *summary;
  const char             *files[2];       /* result and CSV file; NULL: none */
  const char            **names, **units; /* [n_outputs], belong to the plan */
  yoke_result_writer     *hdf5;           /* NULL: none */
  yoke_csv_writer        *csv, *csv_out;  /* csv_out: `out` ended in .csv */
  double                  t_kept;         /* of the last row */
  double                  t_reported;     /* of the last report of progress */
  double                 *channels;       /* [n_channels] at the present macro point */
  yoke_row_store          store;
  yoke_step_tally         steps; /* macro steps so far */
} yoke_recorder;

/* Chooses the result files and makes sure that they overwrite nothing. The model exists, the system not yet: a bad name must
 * not cost an assembly. */
yoke_status yoke_recorder_choose(yoke_recorder *recorder);

/* Opens them. The system exists, the summary knows its sizes. */
yoke_status yoke_recorder_open(yoke_recorder *recorder);

/* What the system calls. Belongs to the recorder. */
yoke_sink yoke_recorder_sink(yoke_recorder *recorder);

/* For the cancel of a run (base/cancel.h): progress between two reports, inside a long macro step. `user` is the recorder. */
bool yoke_recorder_go_on(void *user);

/* Closes the files of a run that ended with `status` and gives the status of both: the first failure decides. */
yoke_status yoke_recorder_close(yoke_recorder *recorder, yoke_status status);

/* The stored rows as a result. Gives. */
yoke_status yoke_recorder_take(yoke_recorder *recorder, yoke_result **out);

void yoke_recorder_clear(yoke_recorder *recorder);

#endif
