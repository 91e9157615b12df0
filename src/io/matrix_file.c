#include "io/matrix_file.h"

#include "base/output_file.h"
#include "base/text.h"
#include "io/hdf5_output.h"
#include <stdio.h>
#include <string.h>

static bool ends_in(const char *path, const char *end) {
  const size_t n = strlen(path), k = strlen(end);
  return n >= k && strcmp(path + n - k, end) == 0;
}

static double value_at(const yoke_matrix_item *item, int i, int j) {
  return item->values[(size_t)i * (size_t)item->n_cols + (size_t)j];
}

/* ---- text ---- */

static void write_csv(FILE *out, const void *user) {
  const yoke_matrix_file *file = user;
  fputs("matrix,row,column,value\n", out);
  for (int k = 0; k < file->n_items; ++k) {
    const yoke_matrix_item *item = &file->items[k];
    for (int i = 0; i < item->n_rows; ++i) {
      for (int j = 0; j < item->n_cols; ++j) {
        char text[YOKE_TEXT_NUMBER];
        if (value_at(item, i, j) == 0.0) continue;
        yoke_text_number(value_at(item, i, j), text);
        fprintf(out, "%s,%s,%s,%s\n", item->name, item->row_names + (size_t)i * file->name_width,
                item->col_names != NULL ? item->col_names + (size_t)j * file->name_width : "1", text);
      }
    }
  }
}

static void write_text(FILE *out, const void *user) {
  const yoke_matrix_file *file = user;
  fprintf(out, "# %s, linearised about its %s: x' = f0 + A x + B u, y = y0 + C x + D u\n", file->model, file->about);
  for (int k = 0; k < file->n_items; ++k) {
    const yoke_matrix_item *item = &file->items[k];
    fprintf(out, "\n# %s [%d, %d], %s\n", item->name, item->n_rows, item->n_cols, item->meaning);
    if (item->col_names != NULL) fputs("# columns:", out);
    for (int j = 0; item->col_names != NULL && j < item->n_cols; ++j)
      fprintf(out, "%s %s", j > 0 ? "," : "", item->col_names + (size_t)j * file->name_width);
    if (item->col_names != NULL) fputc('\n', out);
    for (int i = 0; i < item->n_rows; ++i) {
      for (int j = 0; j < item->n_cols; ++j) {
        char text[YOKE_TEXT_NUMBER];
        yoke_text_number(value_at(item, i, j), text);
        fprintf(out, "%24s ", text);
      }
      fprintf(out, " # %s\n", item->row_names + (size_t)i * file->name_width);
    }
  }
}

/* ---- HDF5 ---- */

#ifdef YOKE_WITH_HDF5
static bool put_texts(hid_t object, const char *name, int n, size_t width, const char *texts) {
  const hsize_t count = (hsize_t)n;
  hid_t         type  = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, width);
  H5Tset_cset(type, H5T_CSET_UTF8);
  hid_t      space     = H5Screate_simple(1, &count, NULL);
  hid_t      attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool done      = attribute >= 0 && H5Awrite(attribute, type, texts) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  return done;
}

static bool put_item(hid_t parent, const yoke_matrix_file *file, const yoke_matrix_item *item) {
  const hsize_t extent[2] = {(hsize_t)item->n_rows, (hsize_t)item->n_cols};
  hid_t         space     = H5Screate_simple(item->col_names != NULL ? 2 : 1, extent, NULL);
  hid_t         create    = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_attr_phase_change(create, 0, 0); /* many names exceed an object header */
  hid_t dataset = H5Dcreate2(parent, item->name, H5T_IEEE_F64LE, space, H5P_DEFAULT, create, H5P_DEFAULT);
  bool  done    = dataset >= 0;
  if (done && item->n_rows > 0 && item->n_cols > 0)
    done = H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, item->values) >= 0;
  done = done && put_texts(dataset, "meaning", 1, strlen(item->meaning) + 1, item->meaning);
  if (item->n_rows > 0) done = done && put_texts(dataset, "rows", item->n_rows, file->name_width, item->row_names);
  if (item->col_names != NULL && item->n_cols > 0)
    done = done && put_texts(dataset, "columns", item->n_cols, file->name_width, item->col_names);
  if (dataset >= 0) H5Dclose(dataset);
  H5Pclose(create);
  H5Sclose(space);
  return done;
}

static bool put_items(hid_t out, const void *user) {
  const yoke_matrix_file *file = user;
  bool                    done = put_texts(out, "model", 1, strlen(file->model) + 1, file->model) &&
              put_texts(out, "about", 1, strlen(file->about) + 1, file->about);
  for (int k = 0; done && k < file->n_items; ++k) done = put_item(out, file, &file->items[k]);
  return done;
}

static yoke_status write_hdf5(yoke_context *ctx, const yoke_matrix_file *file) {
  return yoke_hdf5_output_write(ctx, file->path, put_items, file);
}
#else
static yoke_status write_hdf5(yoke_context *ctx, const yoke_matrix_file *file) {
  return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "'%s': this build cannot write HDF5; use a name that ends in .csv or .txt",
                   file->path);
}
#endif

yoke_status yoke_matrix_file_write(yoke_context *ctx, const yoke_matrix_file *file) {
  if (ends_in(file->path, ".h5") || ends_in(file->path, ".hdf5")) return write_hdf5(ctx, file);
  return yoke_output_file_write(ctx, file->path, ends_in(file->path, ".csv") ? write_csv : write_text, file);
}
