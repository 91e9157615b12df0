/* Files of a stability study: values as CSV and HDF5, maps and lines as a picture. */
#include "api/run.h"
#include "api/stability_target.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "base/text.h"
#include "io/csv.h"
#include "io/hdf5_output.h"
#include "plot/plot.h"
#include <yoke/version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the files tell of. */
typedef struct study_facts {
  const yoke_stability_options *options;
  const yoke_stability_table   *table;
} study_facts;

/* Values of a row, also of one that was interrupted; NULL: none. */
static const double *values_of(const yoke_stability_row *row) {
  return row->status == YOKE_OK || row->status == YOKE_E_INTERRUPTED ? row->values : NULL;
}

/* ---- CSV ---- */

/* One line per point: the axes, then the radius of every row. */
static void put_csv(FILE *file, const void *user) {
  const study_facts            *facts = user;
  const yoke_stability_options *o     = facts->options;
  const yoke_stability_table   *t     = facts->table;
  yoke_csv_put_quoted(file, o->x.name);
  if (t->facts.y != NULL) fputc(',', file), yoke_csv_put_quoted(file, o->y.name);
  for (int r = 0; r < t->facts.n_rows; ++r) {
    fputc(',', file);
    yoke_csv_put_quoted(file, t->rows[r].label != NULL ? t->rows[r].label : "");
  }
  fputc('\n', file);
  for (int j = 0; j < t->facts.ny; ++j) {
    for (int i = 0; i < t->facts.nx; ++i) {
      yoke_csv_put_number(file, t->facts.x[i]);
      if (t->facts.y != NULL) fputc(',', file), yoke_csv_put_number(file, t->facts.y[j]);
      for (int r = 0; r < t->facts.n_rows; ++r) {
        const double *values = values_of(&t->rows[r]);
        fputc(',', file);
        yoke_csv_put_number(file, values != NULL ? values[(size_t)j * (size_t)t->facts.nx + (size_t)i] : (double)NAN);
      }
      fputc('\n', file);
    }
  }
}

/* ---- HDF5 ---- */

#ifdef YOKE_WITH_HDF5

static bool put_texts(hid_t object, const char *name, int n, const char *const *texts) {
  const hsize_t size      = (hsize_t)n;
  hid_t         type      = H5Tcopy(H5T_C_S1);
  hid_t         space     = H5Screate_simple(1, &size, NULL);
  bool          ok        = H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
  hid_t         attribute = ok ? H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
  ok                      = attribute >= 0 && H5Awrite(attribute, type, texts) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  return ok;
}

/* Values [dims], with a text attribute. */
static bool put_values(hid_t file, const char *name, int n_dims, const hsize_t *dims, const double *values,
                       const char *attribute, int n_texts, const char *const *texts) {
  hid_t space   = H5Screate_simple(n_dims, dims, NULL);
  hid_t dataset = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool  ok      = dataset >= 0 && H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 &&
            put_texts(dataset, attribute, n_texts, texts);
  if (dataset >= 0) H5Dclose(dataset);
  H5Sclose(space);
  return ok;
}

static bool put_table(hid_t file, const yoke_stability_options *o, const yoke_stability_table *t, double *block,
                      const char **labels) {
  const size_t  n       = (size_t)t->facts.nx * (size_t)t->facts.ny;
  const hsize_t all[3]  = {(hsize_t)t->facts.n_rows, (hsize_t)t->facts.ny, (hsize_t)t->facts.nx};
  const char   *texts[] = {YOKE_VERSION, t->facts.model};
  for (int r = 0; r < t->facts.n_rows; ++r) {
    const double *values = values_of(&t->rows[r]);
    labels[r]            = t->rows[r].label != NULL ? t->rows[r].label : "";
    for (size_t i = 0; i < n; ++i) block[(size_t)r * n + i] = values != NULL ? values[i] : (double)NAN;
  }
  bool ok = put_texts(file, "yoke_version", 1, &texts[0]) && put_texts(file, "model", 1, &texts[1]);
  ok      = ok && (o->run->n_sets == 0 || put_texts(file, "settings", o->run->n_sets, o->run->sets));
  ok      = ok && put_values(file, "rho", 3, all, block, "methods", t->facts.n_rows, labels);
  ok      = ok && put_values(file, "x", 1, &all[2], t->facts.x, "name", 1, &o->x.name);
  return ok && (t->facts.y == NULL || put_values(file, "y", 1, &all[1], t->facts.y, "name", 1, &o->y.name));
}

static bool put_hdf5(hid_t file, const void *user) {
  const study_facts          *facts = user;
  const yoke_stability_table *t     = facts->table;
  double *block = yoke_allocate((size_t)t->facts.n_rows * (size_t)t->facts.nx * (size_t)t->facts.ny, sizeof *block);
  const char **labels = yoke_allocate((size_t)t->facts.n_rows, sizeof *labels);
  const bool   done   = block != NULL && labels != NULL && put_table(file, facts->options, t, block, labels);
  free(block);
  free(labels);
  return done;
}

static yoke_status write_hdf5(yoke_context *ctx, const char *path, const study_facts *facts) {
  return yoke_hdf5_output_write(ctx, path, put_hdf5, facts);
}

#else

static yoke_status write_hdf5(yoke_context *ctx, const char *path, const study_facts *facts) {
  (void)facts;
  return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "cannot write '%s': this build has no HDF5; write CSV (--csv FILE) instead",
                   path);
}

#endif

/* ---- picture ---- */

enum { MAX_TEXT = 400, MAX_COLUMNS = 6 };

/* Is `part` of length n one of the parts of `label`, which are separated by ", "? */
static bool has_part(const char *label, const char *part, size_t n) {
  for (const char *at = label; at != NULL;) {
    const char  *comma = strstr(at, ", ");
    const size_t size  = comma != NULL ? (size_t)(comma - at) : strlen(at);
    if (size == n && strncmp(at, part, n) == 0) return true;
    at = comma != NULL ? comma + 2 : NULL;
  }
  return false;
}

/* The parts of row r's label that all rows have (`common`), or that not all have. */
static void pick_parts(const yoke_stability_table *t, int r, bool common, char *text, size_t size) {
  size_t used = strlen(text);
  for (const char *at = t->rows[r].label; at != NULL;) {
    const char  *comma  = strstr(at, ", ");
    const size_t n      = comma != NULL ? (size_t)(comma - at) : strlen(at);
    bool         in_all = true;
    for (int k = 0; k < t->facts.n_rows && in_all; ++k)
      in_all = t->rows[k].label != NULL && has_part(t->rows[k].label, at, n);
    if (in_all == common && used < size)
      used += (size_t)snprintf(text + used, size - used, "%s%.*s", used > 0 ? ", " : "", (int)n, at);
    at = comma != NULL ? comma + 2 : NULL;
  }
}

static void make_title(const yoke_stability_options *o, const yoke_stability_table *t, char *text, size_t size) {
  const char *slash = strrchr(t->facts.model, '/');
  if (o->title != NULL) {
    snprintf(text, size, "%s", o->title);
    return;
  }
  snprintf(text, size, "%s", slash != NULL ? slash + 1 : t->facts.model);
  if (t->rows[0].label != NULL && strcmp(t->rows[0].label, "as the model says") != 0)
    pick_parts(t, 0, true, text, size);
  const char *const words[2] = {yoke_run_choice(o->run, "sequence"), yoke_run_choice(o->run, "predictor")};
  for (int i = 0; i < 2 + o->run->n_sets; ++i) {
    const size_t used = strlen(text);
    const char  *word = i < 2 ? words[i] : o->run->sets[i - 2];
    if (word != NULL) snprintf(text + used, size - used, ", %s", word);
  }
}

/* Captions of settings of the test models and of the step; a parameter or key of a model stands for itself. */
static const char *caption_of(const yoke_stability_axis *axis) {
  static const struct {
    const char *name, *caption;
  } known[] = {{"re", "Re \xce\x9b\xe2\x82\x81 = H Re \xce\xbb\xe2\x82\x81 [1]"},
               {"im", "Im \xce\x9b\xe2\x82\x81 = H Im \xce\xbb\xe2\x82\x81 [1]"},
               {"step", "macro step H [s]"},
               {"am", "mass ratio m\xe2\x82\x82 / m\xe2\x82\x81 [1]"},
               {"ratio", "mass ratio m_R / m_Fco [1]"},
               {"mu", "\xce\xbc / H [1]"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    if (strcmp(known[i].name, axis->name) == 0) return known[i].caption;
  }
  return axis->name;
}

static yoke_plot_axis axis_of(const yoke_stability_axis *axis) {
  return (yoke_plot_axis){.caption = caption_of(axis), .is_log = axis->is_log, .from = axis->from, .to = axis->to};
}

#define RHO "\xcf\x81"
#define AT_MOST "\xe2\x89\xa4"

static yoke_status draw_maps(yoke_context *ctx, const char *path, const yoke_stability_options *o,
                             const yoke_stability_table *t, const char *title) {
  static const char *const shades[] = {"stable (" RHO " " AT_MOST " 1)", RHO " " AT_MOST " 1.1", RHO " " AT_MOST " 1.5",
                                       RHO " " AT_MOST " 3", RHO " > 3"};
  const int                columns  = o->n_columns > 0 && o->n_columns <= MAX_COLUMNS ? o->n_columns
                                      : t->facts.n_rows < 4                           ? t->facts.n_rows
                                                                                      : 4;
  const int                lines    = (t->facts.n_rows + columns - 1) / columns;
  yoke_plot_panel         *panels   = yoke_allocate((size_t)lines * (size_t)columns, sizeof *panels);
  yoke_plot_map           *maps     = yoke_allocate((size_t)t->facts.n_rows, sizeof *maps);
  char(*titles)[MAX_TEXT]           = yoke_allocate((size_t)t->facts.n_rows, sizeof *titles);
  yoke_status status =
      panels != NULL && maps != NULL && titles != NULL ? YOKE_OK : yoke_out_of_memory(ctx, "the picture");
  for (int r = 0; status == YOKE_OK && r < lines * columns; ++r) {
    if (r >= t->facts.n_rows) {
      panels[r] = (yoke_plot_panel){.is_absent = true};
      continue;
    }
    const yoke_stability_row *row = &t->rows[r];
    if (row->label != NULL && t->facts.n_rows > 1) pick_parts(t, r, false, titles[r], MAX_TEXT);
    maps[r]   = (yoke_plot_map){.nx       = t->facts.nx,
                                .ny       = t->facts.ny,
                                .values   = row->values,
                                .n_levels = 4,
                                .levels   = {1.0 + yoke_stability_slack, 1.1, 1.5, 3.0},
                                .has_line = true};
    panels[r] = (yoke_plot_panel){.title = titles[r],
                                  .x     = axis_of(&o->x),
                                  .y     = axis_of(&o->y),
                                  .map   = &maps[r],
                                  .empty = values_of(row) != NULL ? NULL : "not possible"};
  }
  const yoke_plot_figure figure = {.title       = title,
                                   .description = "Spectral radius of one macro step",
                                   .n_columns   = columns,
                                   .n_rows      = lines,
                                   .panels      = panels,
                                   .shades      = shades,
                                   .line_label  = RHO " = 1"};
  if (status == YOKE_OK) status = yoke_plot_write(ctx, path, &figure);
  free(panels);
  free(maps);
  free(titles);
  return status;
}

static yoke_status draw_lines(yoke_context *ctx, const char *path, const yoke_stability_options *o,
                              const yoke_stability_table *t, const char *title) {
  yoke_plot_series *series = yoke_allocate((size_t)t->facts.n_rows + 1, sizeof *series);
  if (series == NULL) return yoke_out_of_memory(ctx, "the picture");
  const double ends[2] = {t->facts.x[0], t->facts.x[t->facts.nx - 1]}, one[2] = {1.0, 1.0};
  double       least = INFINITY, most = 0.0;
  int          n = 0;
  for (int r = 0; r < t->facts.n_rows; ++r) {
    const yoke_stability_row *row = &t->rows[r];
    if (values_of(row) == NULL) continue;
    for (int i = 0; i < t->facts.nx; ++i) {
      if (!isfinite(row->values[i])) continue;
      least = fmin(least, row->values[i]);
      most  = fmax(most, row->values[i]);
    }
    series[n++] = (yoke_plot_series){.label     = row->label,
                                     .n         = t->facts.nx,
                                     .x         = t->facts.x,
                                     .y         = row->values,
                                     .has_marks = t->facts.nx <= 30,
                                     .style     = r + 1};
  }
  series[n++]                   = (yoke_plot_series){.label = RHO " = 1", .n = 2, .x = ends, .y = one, .style = 0};
  const yoke_plot_panel  panel  = {.x = axis_of(&o->x),
                                   .y = {.caption = "spectral radius " RHO " [1]", .is_log = most > 3.0 && least > 0.0},
                                   .n_series = n,
                                   .series   = series};
  const yoke_plot_figure figure = {.title       = title,
                                   .description = "Spectral radius of one macro step",
                                   .n_columns   = 1,
                                   .n_rows      = 1,
                                   .panels      = &panel};
  const yoke_status      status = yoke_plot_write(ctx, path, &figure);
  free(series);
  return status;
}

yoke_status yoke_stability_write(yoke_context *ctx, const yoke_stability_options *o, const yoke_stability_table *t) {
  const study_facts facts = {.options = o, .table = t};
  char              title[MAX_TEXT];
  make_title(o, t, title, sizeof title);
  if (o->out != NULL) YOKE_TRY(write_hdf5(ctx, o->out, &facts));
  if (o->csv != NULL) YOKE_TRY(yoke_output_file_write(ctx, o->csv, put_csv, &facts));
  if (o->svg == NULL) return YOKE_OK;
  return t->facts.y != NULL ? draw_maps(ctx, o->svg, o, t, title) : draw_lines(ctx, o->svg, o, t, title);
}
