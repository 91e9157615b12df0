#include "io/result_writer.h"

#ifndef YOKE_WITH_HDF5

yoke_status yoke_result_writer_create(yoke_context *ctx, const yoke_result_def *def, yoke_result_writer **out) {
  *out = NULL;
  return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "cannot write '%s': this build has no HDF5; write CSV (--csv FILE) instead",
                   def->path);
}

yoke_status yoke_result_writer_row(yoke_result_writer *writer, yoke_context *ctx, double t, const double *values,
                                   const yoke_counters *counters, double h, int order) {
  (void)writer, (void)t, (void)values, (void)counters, (void)h, (void)order;
  return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "this build has no HDF5");
}

yoke_status yoke_result_writer_close(yoke_result_writer **writer, yoke_context *ctx, const char *status) {
  (void)ctx, (void)status;
  *writer = NULL;
  return YOKE_OK;
}

#else

#include "base/text.h"
#include "io/clock.h"
#include "io/hdf5_file.h"
#include "io/hdf5_quiet.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Solver statistics of a row, in the order of `track_def`. Whole numbers up to 2^53 are exact in the buffer of doubles. */
enum {
  TRACK_STEPS,
  TRACK_REJECTED,
  TRACK_EVALUATIONS,
  TRACK_JACOBIANS,
  TRACK_FACTORIZATIONS,
  TRACK_H,
  TRACK_ORDER,
  N_TRACKS
};

static const struct track_def {
  const char *name, *unit;
  bool        is_whole;
} track_def[N_TRACKS] = {
    [TRACK_STEPS]          = {"steps", "", true},
    [TRACK_REJECTED]       = {"rejected", "", true},
    [TRACK_EVALUATIONS]    = {"evaluations", "", true},
    [TRACK_JACOBIANS]      = {"jacobians", "", true},
    [TRACK_FACTORIZATIONS] = {"factorizations", "", true},
    [TRACK_H]              = {"h", "s", false},
    [TRACK_ORDER]          = {"order", "", true},
};

struct yoke_result_writer {
  char   *path;
  hid_t   driver, file, group, time, values, track[N_TRACKS]; /* < 0: not open */
  int     n;
  hsize_t n_rows;               /* in the file */
  int     capacity, n_buffered; /* rows */
  double *row_time;             /* [capacity] */
  double *row_values;           /* [capacity, n] */
  double *row_track;            /* [N_TRACKS, capacity] */
  double  t_reached;
  double  flushed_at; /* clock [s] */
  bool    has_failed; /* reported; nothing more is written */
  int     error;      /* errno of the first write that failed; set by the file driver, see hdf5_file.h */
  char    reason[200];
};

/* Passes `code` of an HDF5 call through and keeps the reason of the first failure. */
static int64_t checked(yoke_result_writer *writer, int64_t code) {
  if (code < 0 && writer->reason[0] == '\0') yoke_hdf5_reason(writer->reason, sizeof writer->reason);
  return code;
}

static yoke_status fail_io(yoke_result_writer *writer, yoke_context *ctx) {
  writer->has_failed = true;
  const char *reason = writer->error == EWOULDBLOCK ? "another run is writing it, or a program has it open"
                       : writer->error              ? strerror(writer->error)
                                                    : writer->reason;
  return yoke_fail(ctx, YOKE_E_IO, "cannot write '%s': %s", writer->path, reason);
}

static hid_t string_type(size_t size) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, size);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

static bool set_attribute(yoke_result_writer *writer, hid_t object, const char *name, hid_t type, hid_t space,
                          const void *data) {
  hid_t attribute = (hid_t)checked(writer, H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
  if (attribute < 0) return false;
  const bool done = checked(writer, H5Awrite(attribute, type, data)) >= 0;
  return checked(writer, H5Aclose(attribute)) >= 0 && done;
}

/* Text of any length: variable length, which every reader turns into a string. */
static bool set_text(yoke_result_writer *writer, hid_t object, const char *name, const char *text) {
  hid_t       type  = string_type(H5T_VARIABLE);
  hid_t       space = H5Screate(H5S_SCALAR);
  const char *value = text ? text : "";
  const bool  done  = set_attribute(writer, object, name, type, space, &value);
  H5Sclose(space);
  H5Tclose(type);
  return done;
}

static bool set_number(yoke_result_writer *writer, hid_t object, const char *name, double value) {
  hid_t      space = H5Screate(H5S_SCALAR);
  const bool done  = set_attribute(writer, object, name, H5T_NATIVE_DOUBLE, space, &value);
  H5Sclose(space);
  return done;
}

/* Texts [n] as one attribute of fixed width. */
static bool set_texts(yoke_result_writer *writer, hid_t object, const char *name, int n, const char *const *texts) {
  size_t width = 1;
  for (int i = 0; i < n; ++i) {
    const size_t length = texts[i] ? strlen(texts[i]) : 0;
    if (length + 1 > width) width = length + 1;
  }
  char *block = yoke_allocate((size_t)n, width);
  if (!block) {
    snprintf(writer->reason, sizeof writer->reason, "out of memory for the names of %d quantities", n);
    return false;
  }
  for (int i = 0; i < n; ++i) {
    if (texts[i]) memcpy(block + (size_t)i * width, texts[i], strlen(texts[i]));
  }
  const hsize_t count = (hsize_t)n;
  hid_t         type  = string_type(width);
  hid_t         space = H5Screate_simple(1, &count, NULL);
  const bool    done  = set_attribute(writer, object, name, type, space, block);
  H5Sclose(space);
  H5Tclose(type);
  free(block);
  return done;
}

/* Extendible dataset [0, columns] (columns 0: [0]) in chunks of about 64 KB. */
static hid_t create_dataset(yoke_result_writer *writer, hid_t parent, const char *name, hid_t type, int columns) {
  const int     rank       = columns > 0 ? 2 : 1;
  const hsize_t width      = columns > 0 ? (hsize_t)columns : 1;
  const hsize_t chunk_cols = width < 2048 ? width : 2048;
  hsize_t       chunk_rows = 8192 / chunk_cols;
  if (chunk_rows > 512) chunk_rows = 512;
  const hsize_t extent[2] = {0, width}, limit[2] = {H5S_UNLIMITED, width}, chunk[2] = {chunk_rows, chunk_cols};
  hid_t         space      = H5Screate_simple(rank, extent, limit);
  hid_t         properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, rank, chunk);
  H5Pset_attr_phase_change(properties, 0, 0); /* attributes of any size: 10^5 names exceed an object header */
  hid_t dataset = (hid_t)checked(writer, H5Dcreate2(parent, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
  H5Pclose(properties);
  H5Sclose(space);
  return dataset;
}

static bool create_root(yoke_result_writer *writer, const yoke_result_def *def) {
  return set_text(writer, writer->file, "yoke_version", def->version) &&
         set_text(writer, writer->file, "name", def->name) && set_text(writer, writer->file, "model", def->model) &&
         set_text(writer, writer->file, "settings", def->settings) &&
         set_text(writer, writer->file, "status", "running") &&
         set_number(writer, writer->file, "t_start", def->t_start) &&
         set_number(writer, writer->file, "t_end", def->t_end) &&
         set_number(writer, writer->file, "t_reached", def->t_start);
}

static bool create_group(yoke_result_writer *writer, const yoke_result_def *def) {
  writer->group = (hid_t)checked(writer, H5Gcreate2(writer->file, def->group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  if (writer->group < 0) return false;
  writer->time = create_dataset(writer, writer->group, "time", H5T_IEEE_F64LE, 0);
  if (writer->time < 0 || !set_text(writer, writer->time, "units", "s")) return false;
  if (def->n > 0) {
    writer->values = create_dataset(writer, writer->group, "values", H5T_IEEE_F64LE, def->n);
    if (writer->values < 0 || !set_texts(writer, writer->values, "names", def->n, def->names) ||
        !set_texts(writer, writer->values, "units", def->n, def->units)) {
      return false;
    }
  }
  hid_t solver = (hid_t)checked(writer, H5Gcreate2(writer->group, "solver", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  if (solver < 0) return false;
  bool done = true;
  for (int k = 0; k < N_TRACKS && done; ++k) {
    const struct track_def *track = &track_def[k];
    writer->track[k] = create_dataset(writer, solver, track->name, track->is_whole ? H5T_STD_I64LE : H5T_IEEE_F64LE, 0);
    done             = writer->track[k] >= 0 && set_text(writer, writer->track[k], "units", track->unit);
  }
  H5Gclose(solver);
  return done;
}

static bool open_file(yoke_result_writer *writer, const yoke_result_def *def) {
  hid_t access = (hid_t)checked(writer, yoke_hdf5_file_access(&writer->error, &writer->driver));
  if (access < 0) return false;
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  writer->file = (hid_t)checked(writer, H5Fcreate(def->path, H5F_ACC_TRUNC, H5P_DEFAULT, access));
  H5Pclose(access);
  if (writer->file < 0 || !create_root(writer, def) || !create_group(writer, def)) return false;
  /* The switch to SWMR reads back what was written: it must have arrived. */
  if (checked(writer, H5Fflush(writer->file, H5F_SCOPE_LOCAL)) < 0 || writer->error != 0) return false;
  return checked(writer, H5Fstart_swmr_write(writer->file)) >= 0 && writer->error == 0; /* invariant 1 */
}

static bool close_file(yoke_result_writer *writer) {
  for (int k = 0; k < N_TRACKS; ++k) {
    if (writer->track[k] >= 0) checked(writer, H5Dclose(writer->track[k]));
  }
  if (writer->values >= 0) checked(writer, H5Dclose(writer->values));
  if (writer->time >= 0) checked(writer, H5Dclose(writer->time));
  if (writer->group >= 0) checked(writer, H5Gclose(writer->group));
  if (writer->file >= 0) checked(writer, H5Fclose(writer->file));
  if (writer->driver >= 0) H5FDunregister(writer->driver);
  return writer->reason[0] == '\0' && writer->error == 0;
}

static void destroy(yoke_result_writer **writer) {
  if (!*writer) return;
  free((*writer)->path);
  free((*writer)->row_time);
  free((*writer)->row_values);
  free((*writer)->row_track);
  free(*writer);
  *writer = NULL;
}

static yoke_status allocate(yoke_context *ctx, const yoke_result_def *def, yoke_result_writer **out) {
  yoke_result_writer *writer = yoke_allocate(1, sizeof *writer);
  if (!writer) return yoke_fail(ctx, YOKE_E_MEMORY, "out of memory for the result '%s'", def->path);
  *out           = writer;
  writer->driver = writer->file = writer->group = writer->time = writer->values = -1;
  for (int k = 0; k < N_TRACKS; ++k) writer->track[k] = -1;
  writer->n = def->n;
  /* 1000 rows, but no more than 8 MB of them. */
  const long rows    = (1 << 20) / (def->n > 0 ? (long)def->n : 1);
  writer->capacity   = rows > 1000 ? 1000 : rows < 1 ? 1 : (int)rows;
  const size_t rows_ = (size_t)writer->capacity;
  writer->path       = yoke_text_copy(def->path);
  writer->row_time   = yoke_allocate(rows_, sizeof(double));
  writer->row_values = yoke_allocate(rows_ * (size_t)(def->n > 0 ? def->n : 1), sizeof(double));
  writer->row_track  = yoke_allocate(rows_ * N_TRACKS, sizeof(double));
  writer->t_reached  = def->t_start;
  writer->flushed_at = yoke_clock_now();
  if (writer->path && writer->row_time && writer->row_values && writer->row_track) return YOKE_OK;
  destroy(out);
  return yoke_fail(ctx, YOKE_E_MEMORY, "out of memory for the result '%s' with %d quantities", def->path, def->n);
}

yoke_status yoke_result_writer_create(yoke_context *ctx, const yoke_result_def *def, yoke_result_writer **out) {
  struct stat status_now;
  *out = NULL;
  if (stat(def->path, &status_now) == 0 && !S_ISREG(status_now.st_mode)) {
    return yoke_fail(ctx, YOKE_E_IO, "cannot write '%s': an HDF5 result needs an ordinary file", def->path);
  }
  YOKE_TRY(allocate(ctx, def, out));
  yoke_hdf5_quiet quiet;
  yoke_hdf5_quiet_begin(&quiet);
  yoke_status status = YOKE_OK;
  if (!open_file(*out, def)) {
    status = fail_io(*out, ctx);
    close_file(*out);
    destroy(out);
  }
  yoke_hdf5_quiet_end(&quiet);
  return status;
}

/* Append `count` rows of data (row major, `columns` wide; 0: one-dimensional) at row n_rows. */
static bool append(yoke_result_writer *writer, hid_t dataset, int columns, const double *data) {
  const int     rank      = columns > 0 ? 2 : 1;
  const hsize_t width     = columns > 0 ? (hsize_t)columns : 1;
  const hsize_t count[2]  = {(hsize_t)writer->n_buffered, width};
  const hsize_t start[2]  = {writer->n_rows, 0};
  const hsize_t extent[2] = {writer->n_rows + count[0], width};
  if (checked(writer, H5Dset_extent(dataset, extent)) < 0) return false;
  hid_t in_file   = H5Dget_space(dataset);
  hid_t in_memory = H5Screate_simple(rank, count, NULL);
  bool  done      = in_file >= 0 && in_memory >= 0 &&
              checked(writer, H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, count, NULL)) >= 0 &&
              checked(writer, H5Dwrite(dataset, H5T_NATIVE_DOUBLE, in_memory, in_file, H5P_DEFAULT, data)) >= 0;
  H5Sclose(in_memory);
  H5Sclose(in_file);
  return checked(writer, H5Dflush(dataset)) >= 0 && done;
}

static bool flush_rows(yoke_result_writer *writer) {
  if (writer->n_buffered == 0) return true;
  bool done = writer->values < 0 || append(writer, writer->values, writer->n, writer->row_values);
  for (int k = 0; k < N_TRACKS && done; ++k) {
    done = append(writer, writer->track[k], 0, writer->row_track + (size_t)k * (size_t)writer->capacity);
  }
  done = done && append(writer, writer->time, 0, writer->row_time); /* invariant 2 */
  /* The end of the file is noted in its head, else a reader of a killed run takes the last rows for lost. */
  done = done && checked(writer, H5Fflush(writer->file, H5F_SCOPE_LOCAL)) >= 0 && writer->error == 0;
  if (done) writer->n_rows += (hsize_t)writer->n_buffered;
  writer->n_buffered = 0;
  writer->flushed_at = yoke_clock_now();
  return done;
}

yoke_status yoke_result_writer_row(yoke_result_writer *writer, yoke_context *ctx, double t, const double *values,
                                   const yoke_counters *counters, double h, int order) {
  const size_t row = (size_t)writer->n_buffered, capacity = (size_t)writer->capacity;
  const double track[N_TRACKS] = {
      [TRACK_STEPS]          = (double)counters->steps,
      [TRACK_REJECTED]       = (double)counters->rejected,
      [TRACK_EVALUATIONS]    = (double)counters->evaluations,
      [TRACK_JACOBIANS]      = (double)counters->jacobians,
      [TRACK_FACTORIZATIONS] = (double)counters->factorings,
      [TRACK_H]              = h,
      [TRACK_ORDER]          = (double)order,
  };
  writer->row_time[row] = t;
  if (writer->n > 0) memcpy(writer->row_values + row * (size_t)writer->n, values, (size_t)writer->n * sizeof(double));
  for (size_t k = 0; k < N_TRACKS; ++k) writer->row_track[k * capacity + row] = track[k];
  writer->n_buffered++;
  writer->t_reached = t;
  if (writer->n_buffered < writer->capacity && yoke_clock_now() - writer->flushed_at < 1.0) return YOKE_OK;
  yoke_hdf5_quiet quiet;
  yoke_hdf5_quiet_begin(&quiet);
  const yoke_status status = flush_rows(writer) ? YOKE_OK : fail_io(writer, ctx);
  yoke_hdf5_quiet_end(&quiet);
  return status;
}

/* Overwrite an attribute that exists: allowed in SWMR, unlike adding one. */
static bool change_attribute(yoke_result_writer *writer, const char *name, hid_t type, const void *data) {
  hid_t attribute = (hid_t)checked(writer, H5Aopen(writer->file, name, H5P_DEFAULT));
  if (attribute < 0) return false;
  const bool done = checked(writer, H5Awrite(attribute, type, data)) >= 0;
  return checked(writer, H5Aclose(attribute)) >= 0 && done;
}

static bool note_end(yoke_result_writer *writer, const char *status) {
  hid_t      type = string_type(H5T_VARIABLE);
  const bool done = change_attribute(writer, "t_reached", H5T_NATIVE_DOUBLE, &writer->t_reached) &&
                    change_attribute(writer, "status", type, &status);
  H5Tclose(type);
  return done;
}

yoke_status yoke_result_writer_close(yoke_result_writer **writer, yoke_context *ctx, const char *status) {
  if (!*writer) return YOKE_OK;
  yoke_hdf5_quiet quiet;
  yoke_hdf5_quiet_begin(&quiet);
  const bool had_failed = (*writer)->has_failed;
  bool       done       = !had_failed && flush_rows(*writer) && note_end(*writer, status); /* invariant 3 */
  done                  = close_file(*writer) && done;
  const yoke_status out = done || had_failed ? YOKE_OK : fail_io(*writer, ctx);
  yoke_hdf5_quiet_end(&quiet);
  destroy(writer);
  return out;
}

#endif
