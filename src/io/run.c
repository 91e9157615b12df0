#include "analysis/prediction.h"
#include "io/run.h"
#include "base/text.h"
#include "coupling/formulation.h"
#include "coupling/scheme.h"
#include "io/clock.h"
#include "io/csv.h"
#include "io/result_reader.h"
#include "io/result_writer.h"
#include "io/settings_text.h"
#include "io/step_report.h"
#include "master/simulation.h"
#include <yoke/yoke.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifdef _OPENMP
#include <omp.h>
#endif

const char *yoke_version(void) {
  return YOKE_VERSION;
}

bool yoke_has_hdf5(void) {
#ifdef YOKE_WITH_HDF5
  return true;
#else
  return false;
#endif
}

int yoke_n_solvers(void) {
  return yoke_integrator_n_methods();
}
const char *yoke_solver_name(int i) {
  return yoke_integrator_method_name(i);
}
const char *yoke_solver_summary(int i) {
  return yoke_integrator_method_summary(i);
}

int yoke_n_formulations(void) {
  return yoke_formulation_n();
}
const char *yoke_formulation_name(int i) {
  return yoke_formulation_at(i)->name;
}
const char *yoke_formulation_summary(int i) {
  return yoke_formulation_at(i)->summary;
}

int yoke_n_schemes(void) {
  return yoke_scheme_n();
}
const char *yoke_scheme_name(int i) {
  return yoke_scheme_at(i)->name;
}
const char *yoke_scheme_summary(int i) {
  return yoke_scheme_at(i)->summary;
}

const char *yoke_nearest_name(const char *name, const char *const *list, int n) {
  return yoke_text_nearest(name, list, n);
}

yoke_run_options yoke_run_options_default(void) {
  return (yoke_run_options){0};
}

/* ---- residuals ---- */

const char *yoke_residual_name(int kind) {
  static const char *const names[YOKE_N_RESIDUAL_KINDS] = {"position", "velocity", "acceleration", "force", "moment"};
  return kind >= 0 && kind < YOKE_N_RESIDUAL_KINDS ? names[kind] : "";
}

const char *yoke_residual_unit_name(int kind) {
  static const char *const units[YOKE_N_RESIDUAL_KINDS] = {"m", "m/s", "m/s^2", "N", "N*m"};
  return kind >= 0 && kind < YOKE_N_RESIDUAL_KINDS ? units[kind] : "";
}

const char *yoke_residual_verdict(double share) {
  return share <= 1e-6 ? "held" : share <= 1e-3 ? "small" : "large";
}

/* ---- loading with overrides ---- */

/* A command-line option is an override of the key it stands for. */
static char *override_text(const char *key, const char *value) {
  const size_t size = strlen(key) + strlen(value) + 2;
  char        *text = yoke_allocate(size, 1);
  if (text) snprintf(text, size, "%s=%s", key, value);
  return text;
}

yoke_status yoke_run_load(yoke_context *ctx, const yoke_run_options *options, yoke_model **out) {
  const struct {
    const char *key, *value;
  } own[] = {{"t_end", options->t_end},
             {"solvers.default.kind", options->solver},
             {"solvers.default.rtol", options->rtol},
             {"solvers.default.atol", options->atol},
             {"output.every", options->every},
             {"cosimulation.scheme", options->scheme},
             {"cosimulation.sequence", options->sequence},
             {"cosimulation.order", options->order},
             {"cosimulation.step", options->step},
             {"cosimulation.step.rtol", options->macro_rtol},
             {"cosimulation.step.estimator", options->estimator},
             {"cosimulation.start", options->start},
             {"cosimulation.jacobian", options->jacobian},
             {"cosimulation.predictor", options->predictor},
             {"cosimulation.couplings.formulation", options->formulation},
             {"cosimulation.couplings.decomposition", options->decomposition},
             {"cosimulation.couplings.extension", options->extension}};
  enum { N_OWN = sizeof own / sizeof *own };
  *out                      = NULL;
  const char **sets         = yoke_allocate((size_t)options->n_sets + N_OWN, sizeof *sets);
  char        *texts[N_OWN] = {0};
  int          n            = 0;
  yoke_status  status       = sets ? YOKE_OK : yoke_fail(ctx, YOKE_E_MEMORY, "out of memory for the overrides");
  for (int i = 0; status == YOKE_OK && i < options->n_sets; ++i) sets[n++] = options->sets[i];
  for (int i = 0; status == YOKE_OK && i < N_OWN; ++i) {
    if (!own[i].value) continue;
    texts[i] = override_text(own[i].key, own[i].value);
    if (!texts[i]) status = yoke_fail(ctx, YOKE_E_MEMORY, "out of memory for the overrides");
    sets[n++] = texts[i];
  }
  if (status == YOKE_OK) {
    const yoke_load_options load_options = {.n_set = n, .set = sets};
    status                               = yoke_model_load(ctx, options->model, &load_options, out);
  }
  for (int i = 0; i < N_OWN; ++i) free(texts[i]);
  free(sets);
  return status;
}

/* Tasks of a small model are shorter than waking a thread takes; the results are the same bits either way. */
enum { MIN_FREEDOMS_FOR_THREADS = 256 };

static const char *choose_exec(const yoke_run_options *options, const yoke_model *model) {
  if (options->exec) return options->exec;
#ifdef YOKE_WITH_OPENMP
  int n_freedoms = 0;
  for (int b = 0; b < model->n_bodies; ++b) n_freedoms += yoke_body_nv(&model->bodies[b]);
  const bool is_wanted = options->threads > 1 || (options->threads == 0 && n_freedoms >= MIN_FREEDOMS_FOR_THREADS);
  return is_wanted ? "openmp" : "serial";
#else
  (void)model;
  return "serial";
#endif
}

/* Options of the co-simulation mean nothing without a split; the user may have forgotten it. */
static void warn_unused(yoke_context *ctx, const yoke_run_options *o, const yoke_model *model) {
  const bool is_any = o->scheme || o->sequence || o->order || o->step || o->start || o->jacobian || o->predictor ||
                      o->macro_rtol || o->estimator || o->formulation || o->decomposition || o->extension || o->check ||
                      o->trace;
  if (model->n_parts == 0 && is_any)
    yoke_warn(ctx, "the model has no split: it runs as a whole, and options of the co-simulation have no effect");
}

yoke_status yoke_run_simulation(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model,
                                yoke_simulation **out) {
  if (model->n_parts == 0 || options->monolithic) return yoke_simulation_create(ctx, model, out);
  const yoke_cosimulation_options split = {
      .exec       = choose_exec(options, model),
      .threads    = options->threads,
      .check      = options->check,
      .trace      = options->trace,
      .trace_user = options->trace_user,
  };
  return yoke_simulation_create_split(ctx, model, &split, out);
}

/* ---- recording ---- */

/* Rows in memory, for a comparison. */
typedef struct row_store {
  bool    is_wanted;
  size_t  n, capacity; /* rows */
  double *rows;        /* [n, 1 + n_outputs], time first */
} row_store;

typedef struct recorder {
  yoke_context            *ctx;
  const yoke_run_options  *options;
  const yoke_model        *model;
  yoke_simulation         *simulation;
  yoke_run_summary        *summary;
  const char             **names, **units; /* [n_outputs], belong to the simulation */
  yoke_result_writer      *hdf5;           /* NULL: none */
  yoke_csv_writer         *csv, *csv_out;  /* csv_out: `out` ended in .csv */
  double                   t_kept;         /* of the last row */
  const yoke_cosimulation *cosimulation;   /* NULL: monolithic */
  double                  *channels;       /* [n_channels] at the present macro point */
  row_store                store;
} recorder;

static bool is_csv_name(const char *path) {
  const size_t length = strlen(path);
  return length >= 4 && strcmp(path + length - 4, ".csv") == 0;
}

static bool is_same_file(const char *a, const char *b) {
  struct stat sa, sb;
  if (strcmp(a, b) == 0) return true;
  return stat(a, &sa) == 0 && stat(b, &sb) == 0 && S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev &&
         sa.st_ino == sb.st_ino;
}

/* Result files: the options, else the model's keys. Kept in the summary. */
static yoke_status choose_files(recorder *r) {
  const char *out = r->options->out ? r->options->out : r->model->output.file;
  const char *csv = r->options->csv ? r->options->csv : r->model->output.csv;
  if (out && !*out) out = NULL;
  if (csv && !*csv) csv = NULL;
  const char *const files[2] = {out, csv};
  for (int i = 0; i < 2; ++i) {
    if (files[i] && is_same_file(files[i], r->options->model)) {
      return yoke_fail(r->ctx, YOKE_E_USAGE, "the result '%s' would overwrite the model file", files[i]);
    }
  }
  if (out && csv && is_same_file(out, csv)) {
    return yoke_fail(r->ctx, YOKE_E_USAGE, "'%s' is named both as result file and as CSV file", out);
  }
  if (out) r->summary->out = yoke_text_copy(out);
  if (csv) r->summary->csv = yoke_text_copy(csv);
  if ((out && !r->summary->out) || (csv && !r->summary->csv)) return yoke_fail(r->ctx, YOKE_E_MEMORY, "out of memory");
  return YOKE_OK;
}

static void release_texts(char **texts, int n) {
  for (int i = 0; texts && i < n; ++i) free(texts[i]);
  free(texts);
}

/* "coupling.force x" of every channel, coupling by coupling; NULL when out of memory. */
static char **channel_names(const recorder *r) {
  const yoke_graph *graph = yoke_cosimulation_graph(r->cosimulation);
  const yoke_split *split = yoke_cosimulation_split(r->cosimulation);
  char            **names = yoke_allocate((size_t)r->summary->n_channels + 1, sizeof *names);
  int               n     = 0;
  for (int k = 0; names && k < split->n_couplings; ++k) {
    for (int i = 0; i < yoke_graph_n_channels(graph, k); ++i) {
      const char  *channel = yoke_graph_channel_name(graph, k, i);
      const size_t size    = strlen(split->couplings[k].name) + strlen(channel) + 2;
      names[n]             = yoke_allocate(size, 1);
      if (!names[n]) {
        release_texts(names, n);
        return NULL;
      }
      snprintf(names[n++], size, "%s.%s", split->couplings[k].name, channel);
    }
  }
  return names;
}

static yoke_status create_hdf5(recorder *r, const char *settings, const yoke_result_split *split) {
  const yoke_result_def def = {
      .path     = r->summary->out,
      .group    = "main",
      .version  = YOKE_VERSION,
      .name     = r->model->name,
      .model    = r->model->text,
      .settings = settings,
      .t_start  = r->model->t_start,
      .t_end    = r->model->t_end,
      .n        = r->summary->n_outputs,
      .names    = r->names,
      .units    = r->units,
      .split    = split,
  };
  return yoke_result_writer_create(r->ctx, &def, &r->hdf5);
}

static yoke_status create_split_hdf5(recorder *r, const char *settings) {
  const yoke_cosimulation_def *c          = &r->model->cosimulation;
  const int                    n_parts    = r->model->n_parts;
  char                       **channels   = channel_names(r);
  const char                 **subsystems = yoke_allocate((size_t)n_parts, sizeof *subsystems);
  yoke_status                  status     = YOKE_OK;
  if (!channels || !subsystems) status = yoke_fail(r->ctx, YOKE_E_MEMORY, "out of memory for the couplings' names");
  for (int i = 0; subsystems && i < n_parts; ++i) subsystems[i] = r->model->parts[i].name;
  if (status == YOKE_OK) {
    const yoke_result_split split = {
        .n_subsystems = n_parts,
        .subsystems   = subsystems,
        .n_channels   = r->summary->n_channels,
        .channels     = (const char *const *)channels,
        .scheme       = r->summary->scheme,
        .sequence     = c->sequence,
        .start        = c->start,
        .predictor    = c->predictor,
        .jacobian     = c->jacobian,
        .order        = r->summary->order,
        .step         = r->summary->macro_step,
        .control      = r->summary->control,
    };
    status = create_hdf5(r, settings, &split);
  }
  release_texts(channels, r->summary->n_channels);
  free(subsystems);
  return status;
}

static yoke_status open_hdf5(recorder *r) {
  char *settings = yoke_run_settings_text(r->model, r->cosimulation != NULL, r->options->threads);
  if (!settings) return yoke_fail(r->ctx, YOKE_E_MEMORY, "out of memory for the settings");
  const yoke_status status = r->cosimulation ? create_split_hdf5(r, settings) : create_hdf5(r, settings, NULL);
  free(settings);
  return status;
}

static yoke_status open_files(recorder *r) {
  const int n = yoke_simulation_n_outputs(r->simulation);
  YOKE_TRY(choose_files(r));
  r->summary->n_outputs = n;
  r->names              = yoke_allocate((size_t)n + 1, sizeof *r->names);
  r->units              = yoke_allocate((size_t)n + 1, sizeof *r->units);
  r->channels           = yoke_allocate((size_t)r->summary->n_channels + 1, sizeof(double));
  if (!r->names || !r->units || !r->channels)
    return yoke_fail(r->ctx, YOKE_E_MEMORY, "out of memory for %d outputs", n);
  for (int i = 0; i < n; ++i) {
    r->names[i] = yoke_simulation_output_name(r->simulation, i);
    r->units[i] = yoke_simulation_output_unit(r->simulation, i);
  }
  if (r->summary->out) {
    YOKE_TRY(is_csv_name(r->summary->out) ? yoke_csv_writer_create(r->ctx, r->summary->out, n, r->names, &r->csv_out)
                                          : open_hdf5(r));
  }
  if (r->summary->csv) YOKE_TRY(yoke_csv_writer_create(r->ctx, r->summary->csv, n, r->names, &r->csv));
  return YOKE_OK;
}

/* The first failure decides; the others are still closed. */
static yoke_status close_files(recorder *r, yoke_status status) {
  const bool done = status == YOKE_OK;
  char       word[100];
  if (done || status == YOKE_E_INTERRUPTED) {
    snprintf(word, sizeof word, "%s", done ? "done" : "interrupted");
  } else {
    snprintf(word, sizeof word, "failed: %s", yoke_status_text(status));
  }
  const yoke_status closed[] = {yoke_result_writer_close(&r->hdf5, r->ctx, word),
                                yoke_csv_writer_close(&r->csv_out, r->ctx), yoke_csv_writer_close(&r->csv, r->ctx)};
  for (size_t i = 0; i < sizeof closed / sizeof *closed; ++i) {
    if (status == YOKE_OK || (status == YOKE_E_INTERRUPTED && closed[i] != YOKE_OK)) status = closed[i];
  }
  return status;
}

static yoke_status store_row(recorder *r, double t, const double *outputs) {
  row_store   *store = &r->store;
  const size_t width = (size_t)r->summary->n_outputs + 1;
  if (store->n == store->capacity) {
    const size_t capacity = 2 * store->capacity + 256;
    double      *larger =
        capacity > SIZE_MAX / sizeof(double) / width ? NULL : realloc(store->rows, capacity * width * sizeof *larger);
    if (!larger) return yoke_fail(r->ctx, YOKE_E_MEMORY, "out of memory for %zu output times", capacity);
    store->rows     = larger;
    store->capacity = capacity;
  }
  double *row = store->rows + store->n++ * width;
  row[0]      = t;
  memcpy(row + 1, outputs, (width - 1) * sizeof *row);
  return YOKE_OK;
}

/* The stored rows as a result. */
static yoke_status take_store(recorder *r, yoke_result **out) {
  const size_t   n = (size_t)r->summary->n_outputs + 1, n_rows = r->store.n;
  yoke_csv_table table = {.n_columns = (int)n, .n_rows = n_rows};
  table.names          = yoke_allocate(n, sizeof *table.names);
  table.values         = yoke_allocate(n * n_rows + 1, sizeof(double));
  bool done            = table.names && table.values;
  for (size_t i = 0; table.names && i < n; ++i) {
    table.names[i] = yoke_text_copy(i == 0 ? "time" : r->names[i - 1]);
    done           = done && table.names[i];
  }
  for (size_t i = 0; done && i < n; ++i) {
    for (size_t k = 0; k < n_rows; ++k) table.values[i * n_rows + k] = r->store.rows[k * n + i];
  }
  if (done) return yoke_result_from_table(r->ctx, r->options->model, r->units, &table, out);
  if (!table.names) table.n_columns = 0;
  yoke_csv_table_release(&table);
  return yoke_fail(r->ctx, YOKE_E_MEMORY, "out of memory for %zu output times", n_rows);
}

static void record_parts(recorder *r) {
  for (int i = 0; i < r->summary->n_subsystems; ++i) {
    yoke_counters counters;
    yoke_cosimulation_part_counters(r->cosimulation, i, &counters);
    yoke_result_writer_part(r->hdf5, i, &counters);
  }
}

static yoke_status record_macro(void *user, double t, double H, int order, const yoke_step_statistics *statistics) {
  recorder    *r     = user;
  const double error = r->summary->control[0] ? statistics->error : (double)NAN;
  int64_t      rejected[YOKE_N_REJECTED];
  for (int i = 0; i < YOKE_N_REJECTED; ++i) rejected[i] = statistics->rejected[i];
  yoke_step_report_add(&r->summary->report, H, order, error, rejected, (int)statistics->reduced_by,
                       statistics->is_forced);
  if (!r->hdf5) return YOKE_OK;
  const yoke_graph *graph = yoke_cosimulation_graph(r->cosimulation);
  int               n     = 0;
  for (int k = 0; k < r->summary->n_couplings; ++k) {
    for (int i = 0; i < yoke_graph_n_channels(graph, k); ++i) r->channels[n++] = yoke_graph_channel(graph, k, i);
  }
  yoke_macro_row row = {
      .t            = t,
      .H            = H,
      .order        = order,
      .iterations   = statistics->iterations,
      .integrations = statistics->integrations,
      .residual     = statistics->residual,
      .converged    = statistics->converged,
      .error        = error,
      .reduced_by   = (int)statistics->reduced_by,
      .is_forced    = statistics->is_forced,
      .channels     = r->channels,
  };
  memcpy(row.rejected, statistics->rejected, sizeof row.rejected);
  return yoke_result_writer_macro(r->hdf5, r->ctx, &row);
}

static yoke_status record_sample(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                                 int order) {
  recorder *r = user;
  for (int i = 0; i < r->summary->n_outputs; ++i) {
    if (isfinite(outputs[i])) continue;
    return yoke_fail(r->ctx, YOKE_E_UNSTABLE, "output '%s' is not finite at t = %.9g s", r->names[i], t);
  }
  if (r->hdf5 && r->cosimulation) record_parts(r);
  if (r->hdf5) YOKE_TRY(yoke_result_writer_row(r->hdf5, r->ctx, t, outputs, counters, h, order));
  if (r->csv_out) YOKE_TRY(yoke_csv_writer_row(r->csv_out, r->ctx, t, outputs));
  if (r->csv) YOKE_TRY(yoke_csv_writer_row(r->csv, r->ctx, t, outputs));
  if (r->store.is_wanted) YOKE_TRY(store_row(r, t, outputs));
  r->t_kept = t;
  r->summary->n_rows++;
  return YOKE_OK;
}

static bool report_progress(void *user, double t) {
  recorder *r = user;
  if (r->options->interrupted && *r->options->interrupted) return false;
  return !r->options->progress || r->options->progress(r->options->user, t, r->model->t_start, r->model->t_end);
}

/* ---- named values ---- */

/* Ask for every name before the run: a typo must not cost a night. */
static yoke_status check_names(recorder *r) {
  yoke_status status = YOKE_OK;
  for (int i = 0; i < r->options->n_print; ++i) {
    double            value;
    const yoke_status one = yoke_simulation_value(r->simulation, r->options->print[i], &value, r->ctx);
    if (one != YOKE_OK) status = one == YOKE_E_MEMORY ? one : YOKE_E_USAGE;
  }
  return status;
}

static yoke_status read_values(recorder *r) {
  for (int i = 0; i < r->options->n_print; ++i) {
    double *value = &r->summary->print_values[i];
    YOKE_TRY(yoke_simulation_value(r->simulation, r->options->print[i], value, r->ctx));
    if (isfinite(*value)) continue;
    return yoke_fail(r->ctx, YOKE_E_UNSTABLE, "output '%s' is not finite at t = %.9g s", r->options->print[i],
                     r->summary->t);
  }
  return YOKE_OK;
}

/* ---- the run ---- */

static yoke_status start_summary(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model,
                                 yoke_run_summary *summary) {
  summary->name    = yoke_text_copy(model->name ? model->name : "");
  summary->t_start = summary->t = model->t_start;
  summary->t_end                = model->t_end;
  summary->rtol                 = model->solver.rtol;
  summary->atol                 = model->solver.atol;
  summary->n_print              = options->n_print;
  summary->print_values         = yoke_allocate((size_t)options->n_print + 1, sizeof(double));
  snprintf(summary->solver, sizeof summary->solver, "%s", model->solver.kind);
  snprintf(summary->method, sizeof summary->method, "%s", model->solver.kind);
  if (!summary->name || !summary->print_values) return yoke_fail(ctx, YOKE_E_MEMORY, "out of memory");
  for (int i = 0; i < options->n_print; ++i) summary->print_values[i] = (double)NAN;
  return YOKE_OK;
}

static void take_facts(const yoke_simulation *simulation, yoke_run_summary *summary) {
  yoke_simulation_facts facts = {0};
  yoke_simulation_facts_get(simulation, &facts);
  summary->n_bodies      = facts.n_bodies;
  summary->n_connections = facts.n_connections;
  summary->n_freedoms    = facts.n_freedoms;
  summary->n_constraints = facts.ng;
}

static void take_split(recorder *r) {
  yoke_run_summary *s = r->summary;
  r->cosimulation     = yoke_simulation_cosimulation(r->simulation);
  if (!r->cosimulation) return;
  const yoke_scheme_settings *settings = yoke_cosimulation_settings(r->cosimulation);
  const yoke_split           *split    = yoke_cosimulation_split(r->cosimulation);
  s->is_split                          = true;
  s->n_subsystems                      = split->n_parts;
  s->n_couplings                       = split->n_couplings;
  for (int k = 0; k < split->n_couplings; ++k)
    s->n_channels += yoke_graph_n_channels(yoke_cosimulation_graph(r->cosimulation), k);
  snprintf(s->scheme, sizeof s->scheme, "%s", settings->scheme);
  snprintf(s->sequence, sizeof s->sequence, "%s", settings->gauss_seidel ? "gauss-seidel" : "jacobi");
  const yoke_step_choice *choice = yoke_cosimulation_choice(r->cosimulation);
  s->order                       = settings->order;
  s->macro_step                  = yoke_cosimulation_H(r->cosimulation);
  s->macro_rtol                  = choice ? choice->settings.tolerances.rtol : (double)NAN;
  if (choice) snprintf(s->control, sizeof s->control, "%s", choice->reasons);
}

_Static_assert((int)YOKE_N_RESIDUAL_KINDS == (int)YOKE_N_RESIDUALS,
               "kinds of residuals of the library and of the summary");

static void take_residuals(const yoke_macro_totals *from, yoke_residual_summary to[YOKE_N_RESIDUAL_KINDS]) {
  for (int k = 0; k < YOKE_N_RESIDUAL_KINDS; ++k) {
    const yoke_residual_total *total = &from->residuals[k];
    to[k] = (yoke_residual_summary){.exists = total->size > 0.0, .largest = total->largest, .share = total->share};
  }
}

/* Steps whose conditions do not hold: the user must know, whatever the exit code. */
static void warn_of_open_steps(yoke_context *ctx, const yoke_macro_totals *macro) {
  if (macro->unconverged == 0) return;
  yoke_warn(
      ctx,
      "%lld of %lld macro steps were accepted although the conditions of their couplings do not hold to tolerance; "
      "see the residuals, and use a smaller step, or more passes (cosimulation.corrector.max_iterations)",
      (long long)macro->unconverged, (long long)macro->steps);
}

static void take_summary(const yoke_simulation_summary *from, yoke_run_summary *to) {
  to->t                   = from->t;
  to->steps               = from->counters.steps;
  to->rejected_steps      = from->counters.rejected;
  to->evaluations         = from->counters.evaluations;
  to->jacobians           = from->counters.jacobians;
  to->factorizations      = from->counters.factorings;
  to->has_energy          = from->has_energy && isfinite(from->energy_drift);
  to->energy_start        = from->energy_start;
  to->energy_drift        = from->energy_drift;
  to->constraint_residual = from->constraint_residual;
  to->n_events            = from->n_events;
  if (from->is_split) {
    to->macro_steps          = from->macro.steps;
    to->rejected_macro_steps = from->macro.rejected;
    to->iterations           = from->macro.iterations;
    to->integrations         = from->macro.integrations;
    to->unconverged          = from->macro.unconverged;
    to->residual             = from->macro.residual;
    take_residuals(&from->macro, to->residuals);
    if (to->control[0] && from->macro.steps > 0) to->macro_step = (to->t - to->t_start) / (double)from->macro.steps;
  }
  if (from->method) snprintf(to->method, sizeof to->method, "%s", from->method);
}

/* Say where an unfinished run stopped and what is left of it. */
static void note_kept(const recorder *r, yoke_status status) {
  const char *file = r->summary->out ? r->summary->out : r->summary->csv;
  const char *word = status == YOKE_E_INTERRUPTED ? "interrupted" : "stopped";
  if (status == YOKE_OK) return;
  if (file && r->summary->n_rows > 0 && status != YOKE_E_IO) {
    yoke_note(r->ctx, "%s at t = %.9g s; results up to t = %.9g s are kept in '%s'", word, r->summary->t, r->t_kept,
              file);
  } else {
    yoke_note(r->ctx, "%s at t = %.9g s", word, r->summary->t);
  }
}

static yoke_status simulate(recorder *r) {
  const yoke_sink sink = {.user = r, .sample = record_sample, .progress = report_progress, .macro = record_macro};
  yoke_simulation_summary result = {.t = r->model->t_start};
  const double            begin  = yoke_clock_now();
  yoke_status             status = yoke_simulation_run(r->simulation, r->model->t_end, &sink, &result, r->ctx);
  take_summary(&result, r->summary);
  if (result.is_split) warn_of_open_steps(r->ctx, &result.macro);
  r->summary->stopped_by_event = status == YOKE_OK && result.t < r->model->t_end;
  if (status == YOKE_OK || status == YOKE_E_INTERRUPTED) {
    const yoke_status values = read_values(r);
    if (status == YOKE_OK) status = values;
  }
  status                = close_files(r, status);
  r->summary->wall_time = yoke_clock_now() - begin;
  note_kept(r, status);
  return status;
}

static void use_threads(int threads) {
#ifdef _OPENMP
  if (threads > 0) omp_set_num_threads(threads);
#else
  (void)threads;
#endif
}

/* `keep` (NULL: not wanted) receives the outputs of a run that reached its end. */
static yoke_status run_and_keep(yoke_context *ctx, const yoke_run_options *options, yoke_run_summary *summary,
                                yoke_result **keep) {
  *summary = (yoke_run_summary){0};
  yoke_step_report_clear(&summary->report);
  const double begin  = yoke_clock_now();
  yoke_model  *model  = NULL;
  recorder     r      = {.ctx = ctx, .options = options, .summary = summary, .store.is_wanted = keep != NULL};
  yoke_status  status = yoke_run_load(ctx, options, &model);
  r.model             = model;
  use_threads(options->threads);
  if (status == YOKE_OK) status = start_summary(ctx, options, model, summary);
  if (status == YOKE_OK) {
    warn_unused(ctx, options, model);
    if (!options->monolithic && !options->no_predict) yoke_predict_stability(ctx, model);
    status = yoke_run_simulation(ctx, options, model, &r.simulation);
  }
  if (status == YOKE_OK) {
    take_facts(r.simulation, summary);
    take_split(&r);
    r.t_kept = model->t_start;
    status   = check_names(&r);
  }
  if (status == YOKE_OK) {
    status             = open_files(&r);
    summary->load_time = yoke_clock_now() - begin;
    status             = status == YOKE_OK ? simulate(&r) : close_files(&r, status);
  }
  if (status == YOKE_OK && keep) status = take_store(&r, keep);
  free(r.names);
  free(r.units);
  free(r.channels);
  free(r.store.rows);
  yoke_simulation_destroy(&r.simulation);
  yoke_model_destroy(&model);
  return status;
}

yoke_status yoke_run(yoke_context *ctx, const yoke_run_options *options, yoke_run_summary *summary) {
  return run_and_keep(ctx, options, summary, NULL);
}

enum { COMPARED_TIMES = 200 }; /* with step control */

/* Where the model keeps every step, the macro step, or with step control equal parts of the run; the text goes to `text`. */
static yoke_status common_times(yoke_context *ctx, yoke_run_options *options, char text[YOKE_NUMBER_SIZE]) {
  yoke_model *model = NULL;
  YOKE_TRY(yoke_run_load(ctx, options, &model));
  yoke_status status = YOKE_OK;
  if (model->n_parts == 0) {
    status = yoke_fail(ctx, YOKE_E_USAGE, "'%s' has no split: there is nothing to compare it with", options->model);
  } else if (model->output.every <= 0.0) {
    const double step = model->cosimulation.step, span = model->t_end - model->t_start;
    yoke_number_text(step > 0.0 ? step : span / COMPARED_TIMES, text);
    options->every = text;
  }
  yoke_model_destroy(&model);
  return status;
}

yoke_status yoke_run_compare(yoke_context *ctx, const yoke_run_options *options, yoke_run_summary *split,
                             yoke_run_summary *monolithic, yoke_comparison *comparison) {
  yoke_run_options own    = *options;
  yoke_result     *result = NULL, *reference = NULL;
  char             every[YOKE_NUMBER_SIZE];
  *split = *monolithic = (yoke_run_summary){0};
  *comparison          = (yoke_comparison){0};
  own.out = own.csv  = "";
  own.monolithic     = false;
  yoke_status status = common_times(ctx, &own, every);
  if (status == YOKE_OK) status = run_and_keep(ctx, &own, split, &result);
  own.monolithic = true;
  if (status == YOKE_OK) status = run_and_keep(ctx, &own, monolithic, &reference);
  if (status == YOKE_OK) status = yoke_result_compare(ctx, result, reference, comparison);
  yoke_result_close(&result);
  yoke_result_close(&reference);
  return status;
}

void yoke_run_summary_release(yoke_run_summary *summary) {
  free(summary->name);
  free(summary->out);
  free(summary->csv);
  free(summary->print_values);
  *summary = (yoke_run_summary){0};
}

/* ---- a new model ---- */

yoke_status yoke_starter_write(yoke_context *ctx, const char *path) {
  errno      = 0;
  FILE *file = fopen(path, "wx"); /* x: fails when the file exists, also when another program creates it right now */
  if (!file) {
    return yoke_fail(ctx, YOKE_E_IO, "cannot create '%s': %s", path,
                     errno == EEXIST ? "it exists already and is not overwritten" : strerror(errno));
  }
  const bool written = fputs(yoke_model_starter(), file) >= 0;
  const bool closed  = fclose(file) == 0;
  if (written && closed) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_IO, "cannot write '%s': %s", path, strerror(errno ? errno : EIO));
}
