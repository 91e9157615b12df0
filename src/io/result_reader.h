/* Result reader: the quantities of an HDF5 or CSV result, read column by column. Public part: yoke/result.h.
 *
 * A quantity lives in a group (a subsystem) and shares the group's times. HDF5 values are read in blocks of columns as
 * wide as the file's chunks, so that reading all quantities in order touches every chunk once. */
#ifndef YOKE_IO_RESULT_READER_H
#define YOKE_IO_RESULT_READER_H

#include "io/csv.h"
#include <yoke/result.h>
#include <stdint.h>

typedef struct yoke_result_group {
  char   *name;                              /* "main" */
  int     first;                             /* number of its first quantity */
  int     n;                                 /* quantities */
  size_t  n_times;                           /* complete rows */
  double *times;                             /* [n_times] */
  double *block;                             /* cached columns [n_times, block_n], row major; NULL: none */
  int     block_first, block_n, block_width; /* columns within the group; width of a full block */
} yoke_result_group;

struct yoke_result {
  char              *path;
  char              *version, *name, *model, *settings, *status;
  double             t_end, t_reached;
  bool               is_hdf5, is_memory, is_open_for_writing, is_damaged;
  int64_t            file, driver;   /* HDF5 handles, < 0: none */
  int                error;          /* of the driver */
  int                n;              /* quantities */
  char             **names, **units; /* [n] */
  int               *by_name;        /* [n] numbers sorted by name */
  int                n_groups;
  yoke_result_group *groups;
  yoke_csv_table     table;             /* CSV and memory; its column 0 is the time */
  char              *scheme, *sequence; /* of a split run, else "" */
  int                order, n_subsystems, n_channels;
  double             macro_step;
  size_t             n_macro_steps;
  char              *control;
  yoke_step_report   report;
};

/* A result that never was a file: takes `table` (emptied, also on failure), copies the texts. `path` stands for it in messages. Gives. */
yoke_status yoke_result_from_table(yoke_context *ctx, const char *path, const char *const *units, yoke_csv_table *table,
                                   yoke_result **out);

#endif
