/* Matrix file: named matrices with names of their rows and columns, as HDF5, CSV or plain text by the end of the file's name. */
#ifndef YOKE_IO_MATRIX_FILE_H
#define YOKE_IO_MATRIX_FILE_H

#include <yoke/context.h>

typedef struct yoke_matrix_item {
  const char   *name; /* "A" */
  int           n_rows, n_cols;
  const double *values;                /* row major */
  const char   *row_names, *col_names; /* blocks of name_width characters each; col_names NULL: a vector */
  const char   *meaning;
} yoke_matrix_item;

typedef struct yoke_matrix_file {
  const char             *path;
  const char             *model, *about; /* name of the model; the state it was linearised about */
  size_t                  name_width;
  int                     n_items;
  const yoke_matrix_item *items;
} yoke_matrix_file;

/* .h5, .hdf5: one dataset each with attributes `rows`, `columns`, `meaning`. .csv: `matrix,row,column,value`, entries that are not 0.
 * Else: text with one block per matrix. */
yoke_status yoke_matrix_file_write(yoke_context *ctx, const yoke_matrix_file *file);

#endif
