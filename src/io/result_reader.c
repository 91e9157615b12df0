#include "io/result_reader.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/result_writer.h"
#include "io/step_tally.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef YOKE_WITH_HDF5
#include "io/hdf5_file.h"
#include "io/hdf5_quiet.h"
#endif

static yoke_status fail_memory(yoke_context *ctx, const char *path) {
  return yoke_out_of_memory(ctx, "reading '%s'", path);
}

static bool has_hdf5_signature(const char *path) {
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char              start[8]     = {0};
  FILE                      *file         = yoke_file_is_special(path) ? NULL : fopen(path, "rb");
  if (!file) return false; /* nor is anything taken out of a FIFO that may hold a model */
  const bool found = fread(start, 1, sizeof start, file) == sizeof start && memcmp(start, signature, sizeof start) == 0;
  fclose(file);
  return found;
}

bool yoke_result_reader_knows(const char *path) {
  const size_t length = strlen(path);
  return has_hdf5_signature(path) || (length > 4 && strcmp(path + length - 4, ".csv") == 0);
}

/* Room for n more quantities of a new group. */
static yoke_status add_group(yoke_context *ctx, yoke_result *result, const char *name, int n, yoke_result_group **out) {
  const size_t       n_groups = (size_t)result->n_groups + 1, n_all = (size_t)result->n + (size_t)n + 1;
  yoke_result_group *groups = realloc(result->groups, n_groups * sizeof *groups);
  if (groups) result->groups = groups;
  char **names = realloc(result->names, n_all * sizeof *names);
  if (names) result->names = names;
  char **units = realloc(result->units, n_all * sizeof *units);
  if (units) result->units = units;
  char *copy = yoke_text_copy(name);
  if (!groups || !names || !units || !copy) {
    free(copy);
    return fail_memory(ctx, result->path);
  }
  for (int i = result->n; i < result->n + n; ++i) names[i] = units[i] = NULL;
  groups[result->n_groups] = (yoke_result_group){.name = copy, .first = result->n, .n = n, .block_width = 1};
  *out                     = &groups[result->n_groups];
  result->n_groups++;
  result->n += n;
  return YOKE_OK;
}

static void clear_energies(yoke_energy_table *t) {
  for (int i = 0; i < t->n; ++i) free(t->names[i]);
  free(t->names), free(t->values);
  *t = (yoke_energy_table){0};
}

/* ---- CSV ---- */

/* The table of the result becomes its only group. */
static yoke_status open_table(yoke_context *ctx, yoke_result *result, const char *const *units) {
  const int          n     = result->table.n_columns - 1;
  yoke_result_group *group = NULL;
  YOKE_TRY(add_group(ctx, result, "main", n, &group));
  group->n_times = result->table.n_rows;
  group->times   = yoke_allocate(group->n_times ? group->n_times : 1, sizeof(double));
  if (!group->times) return fail_memory(ctx, result->path);
  memcpy(group->times, result->table.values, group->n_times * sizeof(double));
  for (int i = 0; i < n; ++i) {
    result->names[i] = yoke_text_copy(result->table.names[i + 1]);
    result->units[i] = yoke_text_copy(units ? units[i] : "");
    if (!result->names[i] || !result->units[i]) return fail_memory(ctx, result->path);
  }
  if (group->n_times > 0) result->t_reached = group->times[group->n_times - 1];
  return YOKE_OK;
}

static yoke_status open_csv(yoke_context *ctx, yoke_result *result) {
  YOKE_TRY(yoke_csv_read(ctx, result->path, &result->table));
  return open_table(ctx, result, NULL);
}

/* ---- HDF5 ---- */

#ifdef YOKE_WITH_HDF5

static yoke_status fail_hdf5(yoke_context *ctx, const yoke_result *result, const char *what) {
  char reason[200];
  yoke_hdf5_reason(reason, sizeof reason);
  return yoke_fail(ctx, YOKE_E_IO, "cannot read %s of '%s': %s", what, result->path, reason);
}

/* Text attribute of fixed or variable length; "" when there is none, or when it cannot be read. NULL: out of memory. */
static char *read_text(yoke_result *result, hid_t object, const char *name) {
  char *text = NULL;
  if (H5Aexists(object, name) <= 0) return yoke_text_copy("");
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1) {
    if (H5Tis_variable_str(type) > 0) {
      char *value = NULL;
      if (H5Aread(attribute, type, &value) >= 0 && value) {
        text = yoke_text_copy(value);
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, &value);
      } else {
        result->is_damaged = true;
      }
    } else {
      const size_t size = H5Tget_size(type);
      text              = yoke_allocate(size + 1, 1);
      if (text && H5Aread(attribute, type, text) < 0) {
        text[0]            = '\0';
        result->is_damaged = true;
      }
    }
  }
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
  return text ? text : yoke_text_copy("");
}

static double read_number(hid_t object, const char *name) {
  double value = (double)NAN;
  if (H5Aexists(object, name) <= 0) return (double)NAN;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  hid_t space     = H5Aget_space(attribute);
  if (H5Sget_simple_extent_npoints(space) != 1 || H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) < 0)
    value = (double)NAN;
  H5Sclose(space);
  H5Aclose(attribute);
  return value;
}

/* Is there an attribute of n texts of fixed width, and has the file room for them? What a damaged file says is not asked of the memory. */
static bool holds_texts(const yoke_result *result, hid_t object, const char *name, hsize_t n) {
  hsize_t room = 0;
  if (H5Aexists(object, name) <= 0 || H5Fget_filesize(result->file, &room) < 0) return false;
  hid_t          attribute = H5Aopen(object, name, H5P_DEFAULT);
  hid_t          type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  const size_t   width    = type >= 0 ? H5Tget_size(type) : 0;
  const hssize_t n_points = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
  const bool is_good = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 && width > 0 &&
                       n_points >= 0 && (hsize_t)n_points == n && n <= room / width;
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
  return is_good;
}

/* Attribute of n texts of fixed width into texts[n]. */
static yoke_status read_texts(yoke_context *ctx, const yoke_result *result, hid_t object, const char *name, int n,
                              char **texts) {
  if (!holds_texts(result, object, name, (hsize_t)n))
    return yoke_fail(ctx, YOKE_E_IO, "'%s' was not written by yoke: '%s' of the values is not %d texts", result->path,
                     name, n);
  hid_t        attribute = H5Aopen(object, name, H5P_DEFAULT);
  hid_t        type      = H5Aget_type(attribute);
  const size_t width     = H5Tget_size(type);
  char        *block     = yoke_allocate((size_t)n + 1, width);
  yoke_status  status    = block ? YOKE_OK : fail_memory(ctx, result->path);
  if (status == YOKE_OK && H5Aread(attribute, type, block) < 0) status = fail_hdf5(ctx, result, name);
  for (int i = 0; status == YOKE_OK && i < n; ++i) {
    texts[i] = strndup(block + (size_t)i * width, width);
    if (!texts[i]) status = fail_memory(ctx, result->path);
  }
  free(block);
  H5Tclose(type);
  H5Aclose(attribute);
  return status;
}

/* Can so many numbers be in the file? Compression makes at most a thousandth of them, and a writer may be behind with the last ones. */
static bool is_stored(hid_t dataset, const hsize_t extent[2]) {
  const double most = 1024.0 * ((double)H5Dget_storage_size(dataset) + 1024.0);
  return (double)extent[0] <= most && (double)extent[0] * (double)extent[1] <= most;
}

/* Number of dimensions of a dataset with its extent; -1: no such dataset, or more numbers than the file can hold, which is damage. */
static int dataset_extent(bool *is_damaged, hid_t parent, const char *name, hsize_t extent[2]) {
  extent[0] = extent[1] = 0;
  hid_t dataset         = H5Dopen2(parent, name, H5P_DEFAULT);
  hid_t space           = dataset >= 0 ? H5Dget_space(dataset) : -1;
  int   rank            = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
  if (rank > 2) rank = -1;
  if (rank > 0) H5Sget_simple_extent_dims(space, extent, NULL);
  if (rank > 0 && !is_stored(dataset, extent)) {
    *is_damaged = true;
    rank        = -1;
  }
  if (space >= 0) H5Sclose(space);
  if (dataset >= 0) H5Dclose(dataset);
  return rank;
}

/* Columns per block: the chunk's, within 64 MB. */
static int block_width(hid_t values, size_t n_times, int n) {
  hsize_t chunk[2]   = {1, (hsize_t)n};
  hid_t   properties = H5Dget_create_plist(values);
  if (H5Pget_layout(properties) == H5D_CHUNKED) H5Pget_chunk(properties, 2, chunk);
  H5Pclose(properties);
  const size_t most  = n_times > 0 ? (size_t)(1 << 23) / n_times : (size_t)n;
  size_t       width = chunk[1] < most ? (size_t)chunk[1] : most;
  if (width > (size_t)n) width = (size_t)n;
  return width > 0 ? (int)width : 1;
}

static yoke_status read_times(yoke_context *ctx, const yoke_result *result, hid_t parent, yoke_result_group *group) {
  hid_t         dataset = H5Dopen2(parent, "time", H5P_DEFAULT);
  hid_t         in_file = H5Dget_space(dataset);
  const hsize_t start = 0, count = group->n_times;
  hid_t         in_memory = H5Screate_simple(1, &count, NULL);
  yoke_status   status    = YOKE_OK;
  group->times            = yoke_allocate(group->n_times ? group->n_times : 1, sizeof(double));
  if (!group->times) {
    status = fail_memory(ctx, result->path);
  } else if (group->n_times > 0 &&
             (H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &start, NULL, &count, NULL) < 0 ||
              H5Dread(dataset, H5T_NATIVE_DOUBLE, in_memory, in_file, H5P_DEFAULT, group->times) < 0)) {
    status = fail_hdf5(ctx, result, "the times");
  }
  H5Sclose(in_memory);
  H5Sclose(in_file);
  H5Dclose(dataset);
  return status;
}

static size_t count_points(hid_t object, const char *attribute_name) {
  if (H5Aexists(object, attribute_name) <= 0) return 0;
  hid_t          attribute = H5Aopen(object, attribute_name, H5P_DEFAULT);
  hid_t          space     = H5Aget_space(attribute);
  const hssize_t n         = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
  if (space >= 0) H5Sclose(space);
  H5Aclose(attribute);
  return n > 0 ? (size_t)n : 0;
}

static int whole_or_0(double value) {
  return value >= 0.0 && value < 1e9 ? (int)value : 0;
}

/* The first n values of a dataset [n]; what is not there stays as it is. */
static void read_track(hid_t group, const char *name, size_t n, double *values) {
  hsize_t extent[2];
  bool    is_damaged; /* told when the file was opened */
  if (H5Lexists(group, name, H5P_DEFAULT) <= 0 || dataset_extent(&is_damaged, group, name, extent) != 1 ||
      extent[0] < n)
    return;
  const hsize_t start = 0, count = n;
  hid_t         dataset = H5Dopen2(group, name, H5P_DEFAULT), in_file = H5Dget_space(dataset);
  hid_t         in_memory = H5Screate_simple(1, &count, NULL);
  if (H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0)
    (void)H5Dread(dataset, H5T_NATIVE_DOUBLE, in_memory, in_file, H5P_DEFAULT, values);
  H5Sclose(in_memory);
  H5Sclose(in_file);
  H5Dclose(dataset);
}

/* Statistics of the macro steps from their rows. */
static void read_report(yoke_result *result, hid_t group) {
  enum { ERROR, H, ORDER, REDUCED, FORCED, REJECTED, N = REJECTED + YOKE_N_REJECTIONS };
  const size_t n     = result->n_macro_steps;
  double      *track = yoke_allocate(n + 1, N * sizeof *track);
  if (track == NULL) return;
  for (size_t k = 0; k < n; ++k) {
    track[ERROR * n + k]   = (double)NAN;
    track[REDUCED * n + k] = (double)YOKE_N_REDUCTIONS;
  }
  read_track(group, "error", n, track + ERROR * n);
  read_track(group, "H", n, track + H * n);
  read_track(group, "order", n, track + ORDER * n);
  read_track(group, "reduced_by", n, track + REDUCED * n);
  read_track(group, "forced", n, track + FORCED * n);
  for (int i = 0; i < YOKE_N_REJECTIONS; ++i) {
    char name[40];
    snprintf(name, sizeof name, "rejected_%s", yoke_reduction_word(i));
    read_track(group, name, n, track + (size_t)(REJECTED + i) * n);
  }
  for (size_t k = 0; k < n; ++k) {
    int64_t rejected[YOKE_N_REJECTIONS];
    for (size_t i = 0; i < YOKE_N_REJECTIONS; ++i) rejected[i] = whole_or_0(track[(REJECTED + i) * n + k]);
    yoke_step_tally_add(&result->steps, track[H * n + k], whole_or_0(track[ORDER * n + k]), track[ERROR * n + k],
                        rejected, whole_or_0(track[REDUCED * n + k]), track[FORCED * n + k] != 0.0);
  }
  free(track);
}

/* The largest entry of the last row of a dataset [n, m]; NaN: there is none, or one is not known. */
static double largest_of_last_row(yoke_result *result, const char *name) {
  hsize_t     extent[2];
  const hid_t file = result->file;
  if (H5Lexists(file, "subsystems", H5P_DEFAULT) <= 0 || H5Lexists(file, name, H5P_DEFAULT) <= 0 ||
      dataset_extent(&result->is_damaged, file, name, extent) != 2 || extent[0] == 0 || extent[1] == 0)
    return (double)NAN;
  const hsize_t start[2] = {extent[0] - 1, 0}, count[2] = {1, extent[1]};
  double       *row     = yoke_allocate((size_t)extent[1], sizeof *row);
  double        largest = row ? 0.0 : (double)NAN;
  hid_t         dataset = H5Dopen2(file, name, H5P_DEFAULT), in_file = H5Dget_space(dataset);
  hid_t         in_memory = H5Screate_simple(2, count, NULL);
  if (row && (H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
              H5Dread(dataset, H5T_NATIVE_DOUBLE, in_memory, in_file, H5P_DEFAULT, row) < 0))
    largest = (double)NAN;
  for (hsize_t i = 0; isfinite(largest) && i < extent[1]; ++i)
    largest = row[i] > largest || isnan(row[i]) ? row[i] : largest;
  H5Sclose(in_memory);
  H5Sclose(in_file);
  H5Dclose(dataset);
  free(row);
  return largest;
}

/* Facts of a split run. Its macro steps have times of their own and are no quantities. */
static void open_cosimulation(yoke_result *result) {
  if (H5Lexists(result->file, "cosimulation", H5P_DEFAULT) <= 0) return;
  hid_t group = H5Oopen(result->file, "cosimulation", H5P_DEFAULT);
  if (group < 0) return;
  hsize_t extent[2];
  free(result->scheme), result->scheme     = read_text(result, group, "scheme");
  free(result->sequence), result->sequence = read_text(result, group, "sequence");
  result->order        = whole_or_0(read_number(group, "order"));
  result->macro_step   = read_number(group, "step");
  result->macro_rtol   = read_number(group, "rtol");
  result->n_subsystems = whole_or_0((double)count_points(group, "subsystems"));
  if (H5Lexists(group, "time", H5P_DEFAULT) > 0 && dataset_extent(&result->is_damaged, group, "time", extent) == 1)
    result->n_macro_steps = (size_t)extent[0];
  if (H5Aexists(group, "control") > 0) {
    free(result->control);
    result->control = read_text(result, group, "control");
  }
  result->accumulated_error = largest_of_last_row(result, "subsystems/accumulated_error");
  read_report(result, group);
  if (H5Lexists(group, "couplings", H5P_DEFAULT) > 0 && H5Lexists(group, "couplings/values", H5P_DEFAULT) > 0 &&
      dataset_extent(&result->is_damaged, group, "couplings/values", extent) == 2)
    result->n_channels = whole_or_0((double)extent[1]);
  H5Oclose(group);
}

/* Are these n texts those of the attribute? YOKE_E_IO: no. */
static yoke_status compare_texts(yoke_context *ctx, const yoke_result *result, hid_t object, const char *name, int n,
                                 const char *const *expected) {
  if (!holds_texts(result, object, name, (hsize_t)n)) return YOKE_E_IO;
  char      **texts  = yoke_allocate((size_t)n + 1, sizeof *texts);
  yoke_status status = texts ? read_texts(NULL, result, object, name, n, texts) : fail_memory(ctx, result->path);
  for (int i = 0; status == YOKE_OK && i < n; ++i) status = strcmp(texts[i], expected[i]) == 0 ? YOKE_OK : YOKE_E_IO;
  for (int i = 0; texts != NULL && i < n; ++i) free(texts[i]);
  free(texts);
  return status;
}

/* Rows of an open table [n, columns]; YOKE_E_IO: they cannot be read. */
static yoke_status read_energy_rows(yoke_context *ctx, const yoke_result *result, hid_t dataset, hsize_t n, int columns,
                                    yoke_energy_table *t) {
  if (n > INT32_MAX || !holds_texts(result, dataset, "rows", n)) return YOKE_E_IO;
  t->names  = yoke_allocate((size_t)n + 1, sizeof *t->names);
  t->values = yoke_allocate((size_t)n + 1, (size_t)columns * sizeof *t->values);
  if (!t->names || !t->values) return fail_memory(ctx, result->path);
  t->n = (int)n;
  YOKE_TRY(read_texts(NULL, result, dataset, "rows", t->n, t->names));
  return H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, t->values) < 0 ? YOKE_E_IO : YOKE_OK;
}

/* A table of the energy account with these columns. One without rows is not known, as one that is not there; one of another shape or kind is
 * left out, with a warning: the quantities of the result do not depend on it. */
static yoke_status read_energies(yoke_context *ctx, yoke_result *result, const char *name, int columns,
                                 const char *const *names, yoke_energy_table *t) {
  hsize_t extent[2];
  if (H5Lexists(result->file, "energies", H5P_DEFAULT) <= 0 || H5Lexists(result->file, name, H5P_DEFAULT) == 0)
    return YOKE_OK;
  const int   rank    = dataset_extent(&result->is_damaged, result->file, name, extent);
  hid_t       dataset = rank == 2 ? H5Dopen2(result->file, name, H5P_DEFAULT) : -1;
  yoke_status status  = YOKE_E_IO;
  if (dataset >= 0 && extent[1] == (hsize_t)columns)
    status = compare_texts(ctx, result, dataset, "names", columns, names);
  if (status == YOKE_OK && extent[0] > 0) status = read_energy_rows(ctx, result, dataset, extent[0], columns, t);
  if (dataset >= 0) H5Dclose(dataset);
  if (status == YOKE_E_IO) {
    clear_energies(t);
    yoke_warn(ctx, "'%s': /%s is no table of energies with %d named columns and named rows, it is left out",
              result->path, name, columns);
  }
  return status == YOKE_E_IO ? YOKE_OK : status;
}

static yoke_status open_energies(yoke_context *ctx, yoke_result *result) {
  YOKE_TRY(read_energies(ctx, result, "energies/subsystems", YOKE_N_SUBSYSTEM_ENERGIES, yoke_subsystem_energies,
                         &result->energies[0]));
  return read_energies(ctx, result, "energies/couplings", YOKE_N_COUPLING_ENERGIES, yoke_coupling_energies,
                       &result->energies[1]);
}

static void read_macro(const yoke_result *result, const char *track, double *values) {
  hid_t group = H5Oopen(result->file, "cosimulation", H5P_DEFAULT);
  if (group < 0) return;
  read_track(group, track, result->n_macro_steps, values);
  H5Oclose(group);
}

/* A group of quantities: `time` and, with at least one quantity, `values`. Other objects are no concern of ours. */
static yoke_status open_group(yoke_context *ctx, yoke_result *result, const char *name) {
  hid_t object = H5Oopen(result->file, name, H5P_DEFAULT);
  if (object < 0) return YOKE_OK;
  hsize_t     time_extent[2], extent[2];
  yoke_status status = YOKE_OK;
  if (H5Iget_type(object) != H5I_GROUP || H5Lexists(object, "time", H5P_DEFAULT) <= 0 ||
      dataset_extent(&result->is_damaged, object, "time", time_extent) != 1) {
    H5Oclose(object);
    return status;
  }
  const bool has_values = H5Lexists(object, "values", H5P_DEFAULT) > 0 &&
                          dataset_extent(&result->is_damaged, object, "values", extent) == 2;
  if (!has_values) extent[0] = time_extent[0], extent[1] = 0;
  yoke_result_group *group  = NULL;
  hid_t              values = has_values && extent[1] > 0 ? H5Dopen2(object, "values", H5P_DEFAULT) : -1;
  if (values >= 0 && !holds_texts(result, values, "names", extent[1])) {
    status = yoke_fail(ctx, YOKE_E_IO, "'%s' was not written by yoke: 'names' of the values is not %llu texts",
                       result->path, (unsigned long long)extent[1]);
  } else if (extent[1] > (hsize_t)(INT32_MAX - result->n - 1)) {
    status = yoke_fail(ctx, YOKE_E_IO, "'%s' holds more quantities than can be read", result->path);
  } else {
    status = add_group(ctx, result, name, (int)extent[1], &group);
  }
  if (status == YOKE_OK) {
    group->n_times = (size_t)(time_extent[0] < extent[0] ? time_extent[0] : extent[0]);
    status         = read_times(ctx, result, object, group);
  }
  if (status == YOKE_OK && values >= 0) {
    group->block_width = block_width(values, group->n_times, group->n);
    status             = read_texts(ctx, result, values, "names", group->n, result->names + group->first);
    if (status == YOKE_OK) status = read_texts(ctx, result, values, "units", group->n, result->units + group->first);
  }
  if (values >= 0) H5Dclose(values);
  H5Oclose(object);
  return status;
}

static yoke_status open_groups(yoke_context *ctx, yoke_result *result) {
  H5G_info_t info;
  if (H5Gget_info(result->file, &info) < 0) return fail_hdf5(ctx, result, "the groups");
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    char name[1024];
    if (H5Lget_name_by_idx(result->file, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT) < 0) {
      return fail_hdf5(ctx, result, "the groups");
    }
    if (strcmp(name, "cosimulation") != 0) YOKE_TRY(open_group(ctx, result, name));
  }
  if (result->n_groups > 0) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_IO, "'%s' was not written by yoke: it has no group with a dataset 'time'", result->path);
}

static yoke_status open_hdf5(yoke_context *ctx, yoke_result *result) {
  yoke_hdf5_quiet quiet;
  yoke_hdf5_quiet_begin(&quiet);
  hid_t driver   = -1;
  hid_t access   = yoke_hdf5_file_access(&result->error, &driver);
  result->driver = driver;
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  result->file = H5Fopen(result->path, H5F_ACC_RDONLY, access);
  if (result->file < 0) { /* marked as open for writing: a run is at it, or was killed */
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    /* Pieces that do not fit together are read again: a writer may be at them. HDF5 doubles its pause from 1 ns on and would do so a
     * hundred times; 28 times are a quarter of a second. */
    H5Pset_metadata_read_attempts(access, 28);
    result->file                = H5Fopen(result->path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
    result->is_open_for_writing = true;
  }
  yoke_status status = result->file < 0 ? fail_hdf5(ctx, result, "the contents") : YOKE_OK;
  H5Pclose(access);
  if (status == YOKE_OK) {
    free(result->version), result->version   = read_text(result, result->file, "yoke_version");
    free(result->name), result->name         = read_text(result, result->file, "name");
    free(result->model), result->model       = read_text(result, result->file, "model");
    free(result->settings), result->settings = read_text(result, result->file, "settings");
    free(result->status), result->status     = read_text(result, result->file, "status");
    result->t_end     = read_number(result->file, "t_end");
    result->t_reached = read_number(result->file, "t_reached");
    open_cosimulation(result);
    status = open_groups(ctx, result);
    if (status == YOKE_OK) status = open_energies(ctx, result);
  }
  if (status == YOKE_OK && result->is_damaged)
    yoke_warn(ctx, "'%s' is damaged: some of what it says of its run cannot be read", result->path);
  /* A killed run could not write how far it came. */
  for (int i = 0; status == YOKE_OK && i < result->n_groups; ++i) {
    const yoke_result_group *group = &result->groups[i];
    if (group->n_times > 0) result->t_reached = fmax(result->t_reached, group->times[group->n_times - 1]);
  }
  yoke_hdf5_quiet_end(&quiet);
  return status;
}

static yoke_status read_block(yoke_context *ctx, yoke_result *result, yoke_result_group *group, int column) {
  const int first = column - column % group->block_width;
  const int n     = group->n - first < group->block_width ? group->n - first : group->block_width;
  group->block_n  = 0;
  if (!group->block) group->block = yoke_allocate(group->n_times * (size_t)group->block_width, sizeof(double));
  if (!group->block) return fail_memory(ctx, result->path);
  yoke_hdf5_quiet quiet;
  yoke_hdf5_quiet_begin(&quiet);
  char path[1100];
  snprintf(path, sizeof path, "/%s/values", group->name);
  const hsize_t start[2] = {0, (hsize_t)first}, count[2] = {group->n_times, (hsize_t)n};
  hid_t         values    = H5Dopen2(result->file, path, H5P_DEFAULT);
  hid_t         in_file   = H5Dget_space(values);
  hid_t         in_memory = H5Screate_simple(2, count, NULL);
  yoke_status   status    = YOKE_OK;
  if (H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
      H5Dread(values, H5T_NATIVE_DOUBLE, in_memory, in_file, H5P_DEFAULT, group->block) < 0) {
    status = fail_hdf5(ctx, result, "the values");
  } else {
    group->block_first = first;
    group->block_n     = n;
  }
  H5Sclose(in_memory);
  H5Sclose(in_file);
  H5Dclose(values);
  yoke_hdf5_quiet_end(&quiet);
  return status;
}

static void close_hdf5(yoke_result *result) {
  yoke_hdf5_quiet quiet;
  yoke_hdf5_quiet_begin(&quiet);
  if (result->file >= 0) H5Fclose(result->file);
  if (result->driver >= 0) H5FDunregister(result->driver);
  yoke_hdf5_quiet_end(&quiet);
}

yoke_status yoke_result_reader_repair(yoke_context *ctx, const char *path) {
  if (!has_hdf5_signature(path)) return yoke_fail(ctx, YOKE_E_IO, "cannot repair '%s': it is not an HDF5 file", path);
  yoke_hdf5_quiet quiet;
  yoke_hdf5_quiet_begin(&quiet);
  yoke_status status = YOKE_OK;
  hid_t       access = H5Pcreate(H5P_FILE_ACCESS);
  hid_t       file   = yoke_hdf5_open_marked(path, access);
  if (file < 0 || H5Fclose(file) < 0) {
    char reason[200];
    yoke_hdf5_reason(reason, sizeof reason);
    const bool is_locked = strcmp(reason, strerror(EWOULDBLOCK)) == 0;
    status = yoke_fail(ctx, YOKE_E_IO, "cannot repair '%s': %s", path, is_locked ? "a run is writing it" : reason);
  }
  H5Pclose(access);
  yoke_hdf5_quiet_end(&quiet);
  return status;
}

#else

static yoke_status open_hdf5(yoke_context *ctx, yoke_result *result) {
  return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "cannot read '%s': this build has no HDF5", result->path);
}

static yoke_status read_block(yoke_context *ctx, yoke_result *result, yoke_result_group *group, int column) {
  (void)group, (void)column;
  return open_hdf5(ctx, result);
}

static void close_hdf5(yoke_result *result) {
  (void)result;
}

yoke_status yoke_result_reader_repair(yoke_context *ctx, const char *path) {
  return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "cannot repair '%s': this build has no HDF5", path);
}

#endif

/* ---- both ---- */

/* Sort numbers by name (merge sort: 10^6 names, no state outside the call). */
static void sort_by_name(char *const *names, int *order, int *scratch, int n) {
  if (n < 2) return;
  const int half = n / 2;
  sort_by_name(names, order, scratch, half);
  sort_by_name(names, order + half, scratch, n - half);
  memcpy(scratch, order, (size_t)n * sizeof *order);
  for (int i = 0, j = half, k = 0; k < n; ++k) {
    const bool left = j >= n || (i < half && strcmp(names[scratch[i]], names[scratch[j]]) <= 0);
    order[k]        = left ? scratch[i++] : scratch[j++];
  }
}

static yoke_status index_names(yoke_context *ctx, yoke_result *result) {
  int *scratch    = yoke_allocate((size_t)result->n + 1, sizeof *scratch);
  result->by_name = yoke_allocate((size_t)result->n + 1, sizeof *result->by_name);
  if (scratch && result->by_name) {
    for (int i = 0; i < result->n; ++i) result->by_name[i] = i;
    sort_by_name(result->names, result->by_name, scratch, result->n);
  }
  const bool done = scratch && result->by_name;
  free(scratch);
  return done ? YOKE_OK : fail_memory(ctx, result->path);
}

/* All that is common: texts are "", numbers unknown. */
static yoke_status create_result(yoke_context *ctx, const char *path, yoke_result **out) {
  *out                = NULL;
  yoke_result *result = yoke_allocate(1, sizeof *result);
  if (!result) return fail_memory(ctx, path);
  *out         = result;
  result->file = result->driver = -1;
  yoke_step_tally_clear(&result->steps);
  result->t_end = result->t_reached = result->macro_step = result->macro_rtol = (double)NAN;
  result->accumulated_error                                                   = (double)NAN;
  result->path                                                                = yoke_text_copy(path);
  char **const texts[] = {&result->version, &result->name,   &result->model,    &result->settings,
                          &result->status,  &result->scheme, &result->sequence, &result->control};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) *texts[i] = yoke_text_copy("");
  return result->path ? YOKE_OK : fail_memory(ctx, path);
}

static yoke_status finish_result(yoke_context *ctx, yoke_result **out, yoke_status status) {
  const yoke_result *r       = *out;
  const char *const  texts[] = {r->version, r->name,   r->model,    r->settings,
                                r->status,  r->scheme, r->sequence, r->control};
  for (size_t i = 0; status == YOKE_OK && i < sizeof texts / sizeof *texts; ++i) {
    if (!texts[i]) status = fail_memory(ctx, r->path);
  }
  if (status == YOKE_OK) status = index_names(ctx, *out);
  if (status != YOKE_OK) yoke_result_reader_close(out);
  return status;
}

yoke_status yoke_result_reader_open(yoke_context *ctx, const char *path, yoke_result **out) {
  yoke_status status = create_result(ctx, path, out);
  if (!*out) return status;
  (*out)->is_hdf5 = has_hdf5_signature(path);
  if (status == YOKE_OK) status = (*out)->is_hdf5 ? open_hdf5(ctx, *out) : open_csv(ctx, *out);
  return finish_result(ctx, out, status);
}

yoke_status yoke_result_reader_from_table(yoke_context *ctx, const char *path, const char *const *units,
                                          yoke_csv_table *table, yoke_result **out) {
  yoke_status status = create_result(ctx, path, out);
  if (!*out) {
    yoke_csv_table_release(table);
    return status;
  }
  (*out)->table     = *table;
  (*out)->is_memory = true;
  *table            = (yoke_csv_table){0};
  if (status == YOKE_OK) status = open_table(ctx, *out, units);
  return finish_result(ctx, out, status);
}

void yoke_result_reader_close(yoke_result **result) {
  yoke_result *r = *result;
  if (!r) return;
  close_hdf5(r);
  for (int i = 0; i < r->n_groups; ++i) {
    free(r->groups[i].name);
    free(r->groups[i].times);
    free(r->groups[i].block);
  }
  for (int i = 0; i < r->n; ++i) {
    free(r->names[i]);
    free(r->units[i]);
  }
  for (int k = 0; k < 2; ++k) clear_energies(&r->energies[k]);
  free(r->groups), free(r->names), free(r->units), free(r->by_name);
  free(r->scheme), free(r->sequence), free(r->control);
  free(r->path), free(r->version), free(r->name), free(r->model), free(r->settings), free(r->status);
  yoke_csv_table_release(&r->table);
  free(r);
  *result = NULL;
}

int yoke_result_reader_find(const yoke_result *result, const char *name) {
  int low = 0, high = result->n;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (strcmp(result->names[result->by_name[middle]], name) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < result->n && strcmp(result->names[result->by_name[low]], name) == 0 ? result->by_name[low] : -1;
}

static yoke_result_group *group_of(const yoke_result *result, int i) {
  int g = 0;
  while (i >= result->groups[g].first + result->groups[g].n) g++;
  return &result->groups[g];
}

const double *yoke_result_reader_times(const yoke_result *result, int i, size_t *n_times) {
  const yoke_result_group *group = group_of(result, i);
  *n_times                       = group->n_times;
  return group->times;
}

yoke_status yoke_result_reader_values(yoke_context *ctx, yoke_result *result, int i, double *values) {
  yoke_result_group *group  = group_of(result, i);
  const int          column = i - group->first;
  if (group->n_times == 0) return YOKE_OK;
  if (!result->is_hdf5) {
    memcpy(values, result->table.values + (size_t)(column + 1) * group->n_times, group->n_times * sizeof(double));
    return YOKE_OK;
  }
  if (column < group->block_first || column >= group->block_first + group->block_n) {
    YOKE_TRY(read_block(ctx, result, group, column));
  }
  const double *from = group->block + (column - group->block_first);
  for (size_t k = 0; k < group->n_times; ++k) values[k] = from[k * (size_t)group->block_n];
  return YOKE_OK;
}

void yoke_result_reader_macro(const yoke_result *result, const char *track, double *values) {
  for (size_t i = 0; i < result->n_macro_steps; ++i) values[i] = (double)NAN;
#ifdef YOKE_WITH_HDF5
  if (result->is_hdf5 && result->n_macro_steps > 0) read_macro(result, track, values);
#else
  (void)track;
#endif
}
