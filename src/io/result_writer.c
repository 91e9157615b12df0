#include "io/result_writer.h"

const char *const yoke_subsystem_energies[YOKE_N_SUBSYSTEM_ENERGIES] = {"energy", "dissipated", "external", "work",
                                                                        "leak"};
const char *const yoke_coupling_energies[YOKE_N_COUPLING_ENERGIES]   = {"energy", "dissipated", "work_1",
                                                                        "work_2", "leak",       "corrected"};

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

void yoke_result_writer_part(yoke_result_writer *writer, int part, const yoke_counters *counters, double error) {
  (void)writer, (void)part, (void)counters, (void)error;
}

double *yoke_result_writer_times(yoke_result_writer *writer, int threads) {
  (void)writer, (void)threads;
  return NULL;
}

double *yoke_result_writer_energies(yoke_result_writer *writer, bool of_couplings) {
  (void)writer, (void)of_couplings;
  return NULL;
}

yoke_status yoke_result_writer_macro(yoke_result_writer *writer, yoke_context *ctx, const yoke_macro_row *row) {
  (void)writer, (void)row;
  return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "this build has no HDF5");
}

yoke_status yoke_result_writer_close(yoke_result_writer **writer, yoke_context *ctx, const char *status,
                                     bool is_complete, bool *is_kept) {
  (void)ctx, (void)status, (void)is_complete;
  *writer  = NULL;
  *is_kept = false;
  return YOKE_OK;
}

#else

#include "base/memory.h"
#include "base/output_file.h"
#include "base/text.h"
#include "base/clock.h"
#include "io/hdf5_file.h"
#include "io/hdf5_output.h"
#include "io/hdf5_quiet.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the output rows after `values`, and of the macro steps. Whole numbers up to 2^53 are exact in buffers of doubles. */
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
/* Per subsystem: the first three of them, and its accumulated error. */
enum { PART_ERROR = TRACK_EVALUATIONS + 1, N_PART_TRACKS };
enum {
  MACRO_H,
  MACRO_ORDER,
  MACRO_ITERATIONS,
  MACRO_INTEGRATIONS,
  MACRO_MATRICES,
  MACRO_KEPT,
  MACRO_RATE,
  MACRO_RESIDUAL,
  MACRO_CONVERGED,
  MACRO_ERROR,
  MACRO_LOCAL_ERROR,
  MACRO_LEAK,
  MACRO_FORCED,
  MACRO_REDUCED_BY,
  MACRO_REJECTED, /* by error, and the other reasons behind it */
  N_MACRO = MACRO_REJECTED + YOKE_N_REJECTIONS
};

typedef struct track_def {
  const char *name, *unit;
  bool        is_whole;
} track_def;

static const track_def solver_tracks[N_TRACKS] = {
    [TRACK_STEPS]          = {"steps", "", true},
    [TRACK_REJECTED]       = {"rejected", "", true},
    [TRACK_EVALUATIONS]    = {"evaluations", "", true},
    [TRACK_JACOBIANS]      = {"jacobians", "", true},
    [TRACK_FACTORIZATIONS] = {"factorizations", "", true},
    [TRACK_H]              = {"h", "s", false},
    [TRACK_ORDER]          = {"order", "", true},
};

static const track_def part_tracks[N_PART_TRACKS] = {
    [TRACK_STEPS]       = {"steps", "", true},
    [TRACK_REJECTED]    = {"rejected", "", true},
    [TRACK_EVALUATIONS] = {"evaluations", "", true},
    [PART_ERROR]        = {"accumulated_error", "", false},
};

static const track_def macro_tracks[N_MACRO] = {
    [MACRO_H]            = {"H", "s", false},
    [MACRO_ORDER]        = {"order", "", true},
    [MACRO_ITERATIONS]   = {"iterations", "", true},
    [MACRO_RESIDUAL]     = {"residual", "", false},
    [MACRO_INTEGRATIONS] = {"integrations", "", true},
    [MACRO_MATRICES]     = {"matrices", "", true},
    [MACRO_KEPT]         = {"kept", "", true},
    [MACRO_RATE]         = {"rate", "", false},
    [MACRO_CONVERGED]    = {"converged", "", true},
    [MACRO_ERROR]        = {"error", "", false},
    [MACRO_LOCAL_ERROR]  = {"local_error", "", false},
    [MACRO_LEAK]         = {"leak", "J", false},
    [MACRO_FORCED]       = {"forced", "", true},
    [MACRO_REDUCED_BY]   = {"reduced_by", "", true},
    [MACRO_REJECTED]     = {"rejected_error", "", true},
    [MACRO_REJECTED + 1] = {"rejected_corrector", "", true},
    [MACRO_REJECTED + 2] = {"rejected_non-finite", "", true},
    [MACRO_REJECTED + 3] = {"rejected_event", "", true},
    [MACRO_REJECTED + 4] = {"rejected_gap", "", true},
};

typedef struct column {
  hid_t   dataset; /* < 0: not open */
  int     width;   /* 0: one-dimensional */
  double *rows;    /* [capacity, width] */
} column;

/* Datasets that grow together, and the rows that wait for them. */
typedef struct stream {
  column  time;
  int     n;
  column *columns;              /* [n] */
  hsize_t n_rows;               /* in the file */
  int     capacity, n_buffered; /* rows */
} stream;

/* A table that is written once, at the end. */
typedef struct table {
  column column;
  int    n; /* rows */
  bool   is_filled;
} table;

struct yoke_result_writer {
  yoke_arena       arena;
  yoke_output_file out;
  hid_t            driver, file; /* < 0: not open */
  int              n;            /* quantities */
  int              n_subsystems, n_channels;
  bool             is_split;
  stream           outputs;                       /* values (if n > 0), solver tracks, tracks of the subsystems */
  stream           macro;                         /* macro tracks, coupling values (if n_channels > 0) */
  column           times;                         /* [1 + n_subsystems] of all threads, of subsystems */
  double           threads;                       /* that worked */
  table            energies[2];                   /* of subsystems, of couplings */
  double           t_start, t_reached, t_flushed; /* start, last row, last row that is in the file [s] */
  double           flushed_at;                    /* clock [s] */
  bool             has_failed;                    /* reported; nothing more is written */
  int              error; /* errno of the first write that failed; set by the file driver, see hdf5_file.h */
  char             reason[200];
};

/* Passes `code` of an HDF5 call through and keeps the reason of the first failure. */
static int64_t checked(yoke_result_writer *writer, int64_t code) {
  if (code < 0 && writer->reason[0] == '\0') {
    const bool is_out_of_memory = yoke_hdf5_reason(writer->reason, sizeof writer->reason);
    if (is_out_of_memory && writer->error == 0) writer->error = ENOMEM;
  }
  return code;
}

static yoke_status fail_io(yoke_result_writer *writer, yoke_context *ctx) {
  writer->has_failed = true;
  if (writer->error == ENOMEM) return yoke_out_of_memory(ctx, "the result '%s'", writer->out.name);
  if (writer->error != 0) return yoke_output_file_fail(ctx, &writer->out, writer->error);
  return yoke_fail(ctx, YOKE_E_IO, "cannot write '%s': %s", writer->out.name, writer->reason);
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
    if (writer->error == 0) writer->error = ENOMEM;
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
  static const yoke_machine unknown = {0};
  const yoke_machine       *m       = def->machine != NULL ? def->machine : &unknown;
  return set_text(writer, writer->file, "processor", m->processor) &&
         set_text(writer, writer->file, "cpu_features", m->features) &&
         set_text(writer, writer->file, "math_library", m->math_library) &&
         set_text(writer, writer->file, "blas", m->blas) &&
         (def->machines == NULL || def->machines[0] == '\0' ||
          set_text(writer, writer->file, "machines", def->machines)) &&
         set_text(writer, writer->file, "yoke_version", def->version) &&
         set_text(writer, writer->file, "name", def->name) && set_text(writer, writer->file, "model", def->model) &&
         set_text(writer, writer->file, "settings", def->settings) &&
         set_text(writer, writer->file, "status", "running") &&
         set_number(writer, writer->file, "t_start", def->t_start) &&
         set_number(writer, writer->file, "t_end", def->t_end) &&
         set_number(writer, writer->file, "t_reached", def->t_start);
}

static hid_t create_group(yoke_result_writer *writer, hid_t parent, const char *name) {
  return (hid_t)checked(writer, H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}

static bool create_time(yoke_result_writer *writer, hid_t group, stream *s) {
  s->time.dataset = create_dataset(writer, group, "time", H5T_IEEE_F64LE, 0);
  return s->time.dataset >= 0 && set_text(writer, s->time.dataset, "units", "s");
}

static bool create_tracks(yoke_result_writer *writer, hid_t group, int n, const track_def *tracks, column *columns) {
  bool done = group >= 0;
  for (int k = 0; k < n && done; ++k) {
    columns[k].dataset = create_dataset(writer, group, tracks[k].name,
                                        tracks[k].is_whole ? H5T_STD_I64LE : H5T_IEEE_F64LE, columns[k].width);
    done               = columns[k].dataset >= 0 && set_text(writer, columns[k].dataset, "units", tracks[k].unit);
  }
  return done;
}

/* Columns of the solver tracks within the outputs. */
static column *tracks_of(yoke_result_writer *writer) {
  return writer->outputs.columns + (writer->n > 0 ? 1 : 0);
}

static bool create_main(yoke_result_writer *writer, const yoke_result_def *def) {
  hid_t group = create_group(writer, writer->file, def->group);
  bool  done  = group >= 0 && create_time(writer, group, &writer->outputs);
  if (done && def->n > 0) {
    hid_t values = writer->outputs.columns[0].dataset = create_dataset(writer, group, "values", H5T_IEEE_F64LE, def->n);
    done = values >= 0 && set_texts(writer, values, "names", def->n, def->names) &&
           set_texts(writer, values, "units", def->n, def->units) &&
           (!def->descriptions || set_texts(writer, values, "descriptions", def->n, def->descriptions));
  }
  hid_t solver = done ? create_group(writer, group, "solver") : -1;
  done         = done && create_tracks(writer, solver, N_TRACKS, solver_tracks, tracks_of(writer));
  if (solver >= 0) H5Gclose(solver);
  if (group >= 0) H5Gclose(group);
  return done;
}

/* A group whose attributes may be of any size: names of 10^5 subsystems exceed an object header. */
static hid_t create_named_group(yoke_result_writer *writer, const char *name) {
  hid_t properties = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_attr_phase_change(properties, 0, 0);
  hid_t group = (hid_t)checked(writer, H5Gcreate2(writer->file, name, H5P_DEFAULT, properties, H5P_DEFAULT));
  H5Pclose(properties);
  return group;
}

static bool create_subsystems(yoke_result_writer *writer, const yoke_result_split *split) {
  hid_t      group = create_named_group(writer, "subsystems");
  const bool done  = group >= 0 && set_texts(writer, group, "names", split->n_subsystems, split->subsystems) &&
                    create_tracks(writer, group, N_PART_TRACKS, part_tracks, tracks_of(writer) + N_TRACKS);
  if (group >= 0) H5Gclose(group);
  return done;
}

static bool create_times(yoke_result_writer *writer, const yoke_result_split *split) {
  static const char *const names[YOKE_N_TIMES] = {"solver", "save", "exchange", "master", "output", "idle"};
  const int                n                   = writer->n_subsystems + 1;
  const char             **rows                = yoke_arena_take(&writer->arena, (size_t)n, sizeof *rows);
  if (rows == NULL) return false;
  rows[0] = "all";
  for (int i = 1; i < n; ++i) rows[i] = split->subsystems[i - 1];
  hid_t dataset = writer->times.dataset = create_dataset(writer, writer->file, "times", H5T_IEEE_F64LE, YOKE_N_TIMES);
  return dataset >= 0 && set_texts(writer, dataset, "names", YOKE_N_TIMES, names) &&
         set_texts(writer, dataset, "rows", n, rows) && set_text(writer, dataset, "units", "s") &&
         set_number(writer, dataset, "threads", 0.0);
}

static bool create_couplings(yoke_result_writer *writer, hid_t parent, const yoke_result_split *split) {
  if (split->n_channels == 0) return true;
  hid_t group  = create_group(writer, parent, "couplings");
  hid_t values = group < 0 ? -1 : create_dataset(writer, group, "values", H5T_IEEE_F64LE, split->n_channels);
  writer->macro.columns[N_MACRO].dataset = values;
  const bool done = values >= 0 && set_texts(writer, values, "names", split->n_channels, split->channels);
  if (group >= 0) H5Gclose(group);
  return done;
}

static bool create_cosimulation(yoke_result_writer *writer, const yoke_result_split *split) {
  const char *reasons[YOKE_N_REDUCTIONS + 1];
  for (int i = 0; i <= YOKE_N_REDUCTIONS; ++i) reasons[i] = yoke_reduction_word(i);
  hid_t      group = create_named_group(writer, "cosimulation");
  const bool done =
      group >= 0 && set_text(writer, group, "scheme", split->scheme) &&
      set_text(writer, group, "sequence", split->sequence) && set_text(writer, group, "start", split->start) &&
      set_text(writer, group, "predictor", split->predictor) && set_text(writer, group, "jacobian", split->jacobian) &&
      set_number(writer, group, "order", split->order) && set_number(writer, group, "step", split->step) &&
      set_text(writer, group, "control", split->control != NULL ? split->control : "") &&
      set_number(writer, group, "rtol", split->rtol) &&
      set_texts(writer, group, "subsystems", split->n_subsystems, split->subsystems) &&
      create_time(writer, group, &writer->macro) &&
      create_tracks(writer, group, N_MACRO, macro_tracks, writer->macro.columns) &&
      set_texts(writer, writer->macro.columns[MACRO_REDUCED_BY].dataset, "reasons", YOKE_N_REDUCTIONS + 1, reasons) &&
      create_couplings(writer, group, split);
  if (group >= 0) H5Gclose(group);
  return done;
}

static bool create_energy_table(yoke_result_writer *writer, hid_t group, const char *name, table *t,
                                const char *const *columns, const char *const *rows) {
  if (t->n == 0) return true;
  t->column.dataset = create_dataset(writer, group, name, H5T_IEEE_F64LE, t->column.width);
  return t->column.dataset >= 0 && set_texts(writer, t->column.dataset, "names", t->column.width, columns) &&
         set_texts(writer, t->column.dataset, "rows", t->n, rows) && set_text(writer, t->column.dataset, "units", "J");
}

static bool create_energies(yoke_result_writer *writer, const yoke_result_split *split) {
  hid_t      group = create_group(writer, writer->file, "energies");
  table     *t     = writer->energies;
  const bool done =
      group >= 0 &&
      create_energy_table(writer, group, "subsystems", &t[0], yoke_subsystem_energies, split->subsystems) &&
      create_energy_table(writer, group, "couplings", &t[1], yoke_coupling_energies, split->couplings);
  if (group >= 0) H5Gclose(group);
  return done;
}

static bool create_split(yoke_result_writer *writer, const yoke_result_split *split) {
  return create_subsystems(writer, split) && create_cosimulation(writer, split) && create_energies(writer, split);
}

static bool open_file(yoke_result_writer *writer, const yoke_result_def *def) {
  hid_t access = (hid_t)checked(writer, yoke_hdf5_file_access(&writer->error, &writer->driver));
  if (access < 0) return false;
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  writer->file = (hid_t)checked(writer, H5Fcreate(writer->out.path, H5F_ACC_TRUNC, H5P_DEFAULT, access));
  H5Pclose(access);
  if (writer->file < 0 || !create_root(writer, def) || !create_main(writer, def)) return false;
  if (!create_times(writer, def->split)) return false;
  if (def->split && !create_split(writer, def->split)) return false;
  /* The switch to SWMR reads back what was written: it must have arrived. */
  if (checked(writer, H5Fflush(writer->file, H5F_SCOPE_LOCAL)) < 0 || writer->error != 0) return false;
  return checked(writer, H5Fstart_swmr_write(writer->file)) >= 0 && writer->error == 0; /* invariant 1 */
}

static void close_stream(yoke_result_writer *writer, stream *s) {
  for (int k = 0; k < s->n; ++k) {
    if (s->columns[k].dataset >= 0) checked(writer, H5Dclose(s->columns[k].dataset));
  }
  if (s->time.dataset >= 0) checked(writer, H5Dclose(s->time.dataset));
}

static bool close_file(yoke_result_writer *writer) {
  close_stream(writer, &writer->outputs);
  close_stream(writer, &writer->macro);
  if (writer->times.dataset >= 0) checked(writer, H5Dclose(writer->times.dataset));
  for (int i = 0; i < 2; ++i) {
    if (writer->energies[i].column.dataset >= 0) checked(writer, H5Dclose(writer->energies[i].column.dataset));
  }
  if (writer->file >= 0) checked(writer, H5Fclose(writer->file));
  if (writer->driver >= 0) H5FDunregister(writer->driver);
  return writer->reason[0] == '\0' && writer->error == 0;
}

static void destroy(yoke_result_writer **writer) {
  if (!*writer) return;
  yoke_arena_free(&(*writer)->arena);
  free(*writer);
  *writer = NULL;
}

static void allocate_column(yoke_arena *arena, column *c, int capacity, int width) {
  *c      = (column){.dataset = -1, .width = width};
  c->rows = yoke_arena_take(arena, (size_t)capacity * (size_t)(width > 0 ? width : 1), sizeof(double));
}

static void allocate_table(yoke_arena *arena, table *t, int n, int width) {
  t->n = n;
  allocate_column(arena, &t->column, n, width);
}

/* n columns of these widths (0: one number); 1000 rows, but no more than 8 MB of them. */
static void allocate_stream(yoke_arena *arena, stream *s, int n, const int *widths) {
  long width = n;
  for (int k = 0; k < n; ++k) width += widths[k];
  const long rows = (1 << 20) / width;
  s->capacity     = rows > 1000 ? 1000 : rows < 1 ? 1 : (int)rows;
  s->columns      = yoke_arena_take(arena, (size_t)n, sizeof *s->columns);
  s->n            = s->columns ? n : 0;
  allocate_column(arena, &s->time, s->capacity, 0);
  for (int k = 0; k < s->n; ++k) allocate_column(arena, &s->columns[k], s->capacity, widths[k]);
}

/* Columns in the order of the struct's comments: none for quantities, subsystems or channels that do not exist. */
static void allocate_streams(yoke_result_writer *writer) {
  int widths[1 + N_TRACKS + N_PART_TRACKS] = {writer->n}, n = writer->n > 0 ? 1 : 0;
  n += N_TRACKS;
  for (int k = 0; k < N_PART_TRACKS && writer->is_split; ++k) widths[n++] = writer->n_subsystems;
  allocate_stream(&writer->arena, &writer->outputs, n, widths);
  if (!writer->is_split) return;
  const int macro_widths[N_MACRO + 1] = {[N_MACRO] = writer->n_channels};
  allocate_stream(&writer->arena, &writer->macro, N_MACRO + (writer->n_channels > 0 ? 1 : 0), macro_widths);
}

static yoke_status allocate(yoke_context *ctx, const yoke_result_def *def, yoke_result_writer **out) {
  yoke_result_writer *writer = yoke_allocate(1, sizeof *writer);
  if (!writer) return yoke_out_of_memory(ctx, "the result '%s'", def->path);
  *out           = writer;
  writer->driver = writer->file = writer->outputs.time.dataset = writer->macro.time.dataset = -1;
  writer->n                                                                                 = def->n;
  writer->is_split                                                                          = def->split != NULL;
  if (def->split) {
    writer->n_subsystems = def->split->n_subsystems;
    writer->n_channels   = def->split->n_channels;
  }
  writer->t_start = writer->t_reached = writer->t_flushed = def->t_start;
  writer->flushed_at                                      = yoke_clock_now();
  allocate_streams(writer);
  allocate_column(&writer->arena, &writer->times, writer->n_subsystems + 1, YOKE_N_TIMES);
  allocate_table(&writer->arena, &writer->energies[0], writer->n_subsystems, YOKE_N_SUBSYSTEM_ENERGIES);
  allocate_table(&writer->arena, &writer->energies[1], def->split ? def->split->n_couplings : 0,
                 YOKE_N_COUPLING_ENERGIES);
  const yoke_status status =
      yoke_arena_check(&writer->arena, ctx, "the result '%s' with %d quantities", def->path, def->n);
  if (status != YOKE_OK) destroy(out);
  return status;
}

yoke_status yoke_result_writer_create(yoke_context *ctx, const yoke_result_def *def, yoke_result_writer **out) {
  *out = NULL;
  if (!yoke_memory_has_room(YOKE_HDF5_ROOM)) return yoke_out_of_memory(ctx, "the result '%s'", def->path);
  YOKE_TRY(yoke_hdf5_output_check(ctx, def->path));
  YOKE_TRY(allocate(ctx, def, out));
  yoke_status status = yoke_output_file_open(ctx, def->path, &(*out)->out);
  if (status != YOKE_OK) {
    destroy(out);
    return status;
  }
  yoke_hdf5_quiet quiet;
  yoke_hdf5_quiet_begin(&quiet);
  if (!open_file(*out, def)) {
    status = fail_io(*out, ctx);
    close_file(*out);
    yoke_output_file_drop(&(*out)->out);
    destroy(out);
  }
  yoke_hdf5_quiet_end(&quiet);
  return status;
}

/* Append the waiting rows of a column at row n_rows. */
static bool append(yoke_result_writer *writer, const stream *s, const column *c) {
  const int     rank      = c->width > 0 ? 2 : 1;
  const hsize_t width     = c->width > 0 ? (hsize_t)c->width : 1;
  const hsize_t count[2]  = {(hsize_t)s->n_buffered, width};
  const hsize_t start[2]  = {s->n_rows, 0};
  const hsize_t extent[2] = {s->n_rows + count[0], width};
  if (checked(writer, H5Dset_extent(c->dataset, extent)) < 0) return false;
  hid_t in_file   = H5Dget_space(c->dataset);
  hid_t in_memory = H5Screate_simple(rank, count, NULL);
  bool  done      = in_file >= 0 && in_memory >= 0 &&
              checked(writer, H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, count, NULL)) >= 0 &&
              checked(writer, H5Dwrite(c->dataset, H5T_NATIVE_DOUBLE, in_memory, in_file, H5P_DEFAULT, c->rows)) >= 0;
  H5Sclose(in_memory);
  H5Sclose(in_file);
  return checked(writer, H5Dflush(c->dataset)) >= 0 && done;
}

static bool flush_stream(yoke_result_writer *writer, stream *s) {
  if (s->n_buffered == 0) return true;
  bool done = true;
  for (int k = 0; k < s->n && done; ++k) done = append(writer, s, &s->columns[k]);
  done = done && append(writer, s, &s->time); /* invariant 2 */
  if (done) s->n_rows += (hsize_t)s->n_buffered;
  s->n_buffered = 0;
  return done;
}

static bool flush_rows(yoke_result_writer *writer) {
  writer->flushed_at = yoke_clock_now();
  if (writer->outputs.n_buffered == 0 && writer->macro.n_buffered == 0) return true;
  /* The end of the file is noted in its head, else a reader of a killed run takes the last rows for lost. */
  const bool done = flush_stream(writer, &writer->macro) && flush_stream(writer, &writer->outputs) &&
                    checked(writer, H5Fflush(writer->file, H5F_SCOPE_LOCAL)) >= 0 && writer->error == 0;
  if (done) writer->t_flushed = writer->t_reached;
  return done;
}

/* One more row of `s` is complete. */
static yoke_status finish_row(yoke_result_writer *writer, stream *s, yoke_context *ctx) {
  s->n_buffered++;
  if (s->n_buffered < s->capacity && yoke_clock_now() - writer->flushed_at < 1.0) return YOKE_OK;
  yoke_hdf5_quiet quiet;
  yoke_hdf5_quiet_begin(&quiet);
  if (!yoke_memory_has_room(YOKE_HDF5_ROOM) && writer->error == 0) writer->error = ENOMEM;
  const yoke_status status = writer->error == 0 && flush_rows(writer) ? YOKE_OK : fail_io(writer, ctx);
  yoke_hdf5_quiet_end(&quiet);
  return status;
}

static void put(stream *s, column *c, double value) {
  c->rows[s->n_buffered] = value;
}

static void put_all(stream *s, column *c, const double *values) {
  memcpy(c->rows + (size_t)s->n_buffered * (size_t)c->width, values, (size_t)c->width * sizeof(double));
}

yoke_status yoke_result_writer_row(yoke_result_writer *writer, yoke_context *ctx, double t, const double *values,
                                   const yoke_counters *counters, double h, int order) {
  stream      *s               = &writer->outputs;
  column      *tracks          = tracks_of(writer);
  const double track[N_TRACKS] = {
      [TRACK_STEPS]          = (double)counters->steps,
      [TRACK_REJECTED]       = (double)counters->rejected,
      [TRACK_EVALUATIONS]    = (double)counters->evaluations,
      [TRACK_JACOBIANS]      = (double)counters->jacobians,
      [TRACK_FACTORIZATIONS] = (double)counters->factorings,
      [TRACK_H]              = h,
      [TRACK_ORDER]          = (double)order,
  };
  put(s, &s->time, t);
  if (writer->n > 0) put_all(s, &s->columns[0], values);
  for (int k = 0; k < N_TRACKS; ++k) put(s, &tracks[k], track[k]);
  writer->t_reached = t;
  return finish_row(writer, s, ctx);
}

static void put_one(stream *s, column *c, int i, double value) {
  c->rows[(size_t)s->n_buffered * (size_t)c->width + (size_t)i] = value;
}

void yoke_result_writer_part(yoke_result_writer *writer, int part, const yoke_counters *counters, double error) {
  column *tracks = tracks_of(writer) + N_TRACKS;
  if (part < 0 || part >= writer->n_subsystems) return;
  put_one(&writer->outputs, &tracks[TRACK_STEPS], part, (double)counters->steps);
  put_one(&writer->outputs, &tracks[TRACK_REJECTED], part, (double)counters->rejected);
  put_one(&writer->outputs, &tracks[TRACK_EVALUATIONS], part, (double)counters->evaluations);
  put_one(&writer->outputs, &tracks[PART_ERROR], part, error);
}

yoke_status yoke_result_writer_macro(yoke_result_writer *writer, yoke_context *ctx, const yoke_macro_row *row) {
  stream *s = &writer->macro;
  if (!writer->is_split) return YOKE_OK;
  const double track[N_MACRO] = {
      [MACRO_H]            = row->H,
      [MACRO_ORDER]        = (double)row->order,
      [MACRO_ITERATIONS]   = (double)row->iterations,
      [MACRO_INTEGRATIONS] = (double)row->integrations,
      [MACRO_MATRICES]     = (double)row->matrices,
      [MACRO_KEPT]         = row->has_kept ? 1.0 : 0.0,
      [MACRO_RATE]         = row->rate,
      [MACRO_RESIDUAL]     = row->residual,
      [MACRO_CONVERGED]    = row->converged ? 1.0 : 0.0,
      [MACRO_ERROR]        = row->error,
      [MACRO_LOCAL_ERROR]  = row->local_error,
      [MACRO_LEAK]         = row->leak,
      [MACRO_FORCED]       = row->is_forced ? 1.0 : 0.0,
      [MACRO_REDUCED_BY]   = (double)row->reduced_by,
      [MACRO_REJECTED]     = (double)row->rejected[0],
      [MACRO_REJECTED + 1] = (double)row->rejected[1],
      [MACRO_REJECTED + 2] = (double)row->rejected[2],
      [MACRO_REJECTED + 3] = (double)row->rejected[3],
      [MACRO_REJECTED + 4] = (double)row->rejected[4],
  };
  put(s, &s->time, row->t);
  for (int k = 0; k < N_MACRO; ++k) put(s, &s->columns[k], track[k]);
  if (writer->n_channels > 0) put_all(s, &s->columns[N_MACRO], row->channels);
  return finish_row(writer, s, ctx);
}

/* Overwrite an attribute that exists: allowed in SWMR, unlike adding one. */
static bool change_attribute(yoke_result_writer *writer, hid_t file, const char *name, hid_t type, const void *data) {
  hid_t attribute = (hid_t)checked(writer, H5Aopen(file, name, H5P_DEFAULT));
  if (attribute < 0) return false;
  const bool done = checked(writer, H5Awrite(attribute, type, data)) >= 0;
  return checked(writer, H5Aclose(attribute)) >= 0 && done;
}

double *yoke_result_writer_times(yoke_result_writer *writer, int threads) {
  writer->threads = threads;
  return writer->times.rows;
}

static bool write_times(yoke_result_writer *writer) {
  const stream once = {.n_buffered = writer->n_subsystems + 1};
  return append(writer, &once, &writer->times) &&
         change_attribute(writer, writer->times.dataset, "threads", H5T_NATIVE_DOUBLE, &writer->threads);
}

double *yoke_result_writer_energies(yoke_result_writer *writer, bool of_couplings) {
  table *t     = &writer->energies[of_couplings ? 1 : 0];
  t->is_filled = t->n > 0;
  return t->column.rows;
}

static bool write_energies(yoke_result_writer *writer) {
  bool done = true;
  for (int i = 0; i < 2 && done; ++i) {
    const table *t    = &writer->energies[i];
    const stream once = {.n_buffered = t->n};
    if (t->is_filled) done = append(writer, &once, &t->column);
  }
  return done;
}

static bool note_end(yoke_result_writer *writer, hid_t file, double t, const char *status) {
  hid_t      type = string_type(H5T_VARIABLE);
  const bool done = change_attribute(writer, file, "t_reached", H5T_NATIVE_DOUBLE, &t) &&
                    change_attribute(writer, file, "status", type, &status);
  H5Tclose(type);
  return done;
}

/* A write failed and all later ones were dropped: the file is as if the run had been killed. What is to be said fits into the
 * room that the file has, so it is opened once more, as --repair does, and told. If that fails too, it stays "running". */
static void note_failure(yoke_result_writer *writer) {
  char  status[160];
  int   error  = 0;
  hid_t driver = -1, file = -1;
  snprintf(status, sizeof status, "failed: %.140s", writer->error != 0 ? strerror(writer->error) : writer->reason);
  hid_t access = yoke_hdf5_file_access(&error, &driver);
  if (access >= 0) {
    file = yoke_hdf5_open_marked(writer->out.path, access);
    H5Pclose(access);
  }
  if (file >= 0) {
    note_end(writer, file, writer->t_flushed, status);
    H5Fclose(file);
  }
  if (driver >= 0) H5FDunregister(driver);
}

yoke_status yoke_result_writer_close(yoke_result_writer **writer, yoke_context *ctx, const char *status,
                                     bool is_complete, bool *is_kept) {
  yoke_result_writer *w = *writer;
  *is_kept              = false;
  if (!w) return YOKE_OK;
  yoke_hdf5_quiet quiet;
  yoke_hdf5_quiet_begin(&quiet);
  const bool had_failed = w->has_failed;
  bool       done       = !had_failed && flush_rows(w) && write_times(w) && write_energies(w) &&
              note_end(w, w->file, w->t_reached, status); /* invariant 3 */
  done            = close_file(w) && done;
  yoke_status out = done || had_failed ? YOKE_OK : fail_io(w, ctx);
  if ((is_complete && done) || w->t_flushed > w->t_start) {
    if (!done) note_failure(w);
    const yoke_status kept = yoke_output_file_keep(ctx, &w->out);
    *is_kept               = kept == YOKE_OK;
    if (out == YOKE_OK) out = kept;
  } else {
    yoke_output_file_drop(&w->out);
  }
  yoke_hdf5_quiet_end(&quiet);
  destroy(writer);
  return out;
}

#endif
