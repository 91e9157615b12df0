/* CSV: one header line, `time` first, then one line per output time; 17 digits, so that every double survives. */
#ifndef YOKE_IO_CSV_H
#define YOKE_IO_CSV_H

#include <yoke/context.h>
#include <stdio.h>

/* For tables that are no results: a number with 17 digits; a text in quotes, on one line. */
void yoke_csv_put_number(FILE *file, double value);
void yoke_csv_put_quoted(FILE *file, const char *text);

typedef struct yoke_csv_writer yoke_csv_writer;

/* Written beside `path`, see base/output_file.h. Names [n] that hold a comma or a quote are quoted. */
yoke_status yoke_csv_writer_create(yoke_context *ctx, const char *path, int n, const char *const *names,
                                   yoke_csv_writer **out);
yoke_status yoke_csv_writer_row(yoke_csv_writer *writer, yoke_context *ctx, double t, const double *values);
/* Destroys in any case; a disk that filled up is noticed here at the latest. A complete file takes the place of an earlier one;
 * one that ended early does so if it holds a row behind its start time, else it vanishes. */
yoke_status yoke_csv_writer_close(yoke_csv_writer **writer, yoke_context *ctx, bool is_complete, bool *is_kept);

typedef struct yoke_csv_table {
  int     n_columns; /* `time` included */
  char  **names;     /* [n_columns] */
  size_t  n_rows;
  double *values; /* [n_columns, n_rows]: a column is contiguous */
} yoke_csv_table;

/* Gives. An unfinished last line (of a killed run) is dropped with a warning; any other defect is an error with its line. */
yoke_status yoke_csv_read(yoke_context *ctx, const char *path, yoke_csv_table *out);
void        yoke_csv_table_release(yoke_csv_table *table);

#endif
