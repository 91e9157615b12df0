/* Result reader: the quantities of an HDF5 or CSV result, read column by column.
 *
 * A quantity lives in a group (a subsystem) and shares the group's times. HDF5 values are read in blocks of columns as
 * wide as the file's chunks, so that reading all quantities in order touches every chunk once. */
#ifndef YOKE_IO_RESULT_READER_H
#define YOKE_IO_RESULT_READER_H

#include "io/csv.h"
#include "io/step_tally.h"
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

/* A table of the energy account (result_writer.h). */
typedef struct yoke_energy_table {
  int     n;      /* rows; 0: not known */
  char  **names;  /* [n] */
  double *values; /* [n, columns] */
} yoke_energy_table;

typedef struct yoke_result {
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
  double             macro_step, macro_rtol, accumulated_error;
  size_t             n_macro_steps;
  char              *control;
  yoke_step_tally    steps;
  yoke_energy_table  energies[2]; /* of subsystems, of couplings */
} yoke_result;

/* HDF5 is recognised by its contents, everything else is read as CSV. A file that a run is still writing, or that a killed run left, can
 * be read too. Gives. */
yoke_status yoke_result_reader_open(yoke_context *ctx, const char *path, yoke_result **out);
void        yoke_result_reader_close(yoke_result **result);

/* A result that never was a file: takes `table` (emptied, also on failure), copies the texts. `path` stands for it in messages. Gives. */
yoke_status yoke_result_reader_from_table(yoke_context *ctx, const char *path, const char *const *units,
                                          yoke_csv_table *table, yoke_result **out);

/* Number of the quantity; -1: there is none. */
int           yoke_result_reader_find(const yoke_result *result, const char *name);
/* Output times of quantity i; belong to the result. */
const double *yoke_result_reader_times(const yoke_result *result, int i, size_t *n_times);
/* Values of quantity i at its times, [n_times]. */
yoke_status   yoke_result_reader_values(yoke_context *ctx, yoke_result *result, int i, double *values);

/* Number `track` of every macro step ("time", "H", "order", "error", ...), [n_macro_steps]; NaN where the file does not tell. */
void yoke_result_reader_macro(const yoke_result *result, const char *track, double *values);

/* Clear the mark that a killed run left in an HDF5 file. Not while a run writes it. */
yoke_status yoke_result_reader_repair(yoke_context *ctx, const char *path);

/* Does the file look like a result (HDF5 by contents, CSV by name)? false when it cannot be read. */
bool yoke_result_reader_knows(const char *path);

#endif
