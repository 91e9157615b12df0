#include "api/recorder.h"

#include "api/accuracy.h"
#include "api/energies.h"
#include "api/output_check.h"
#include "api/times.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "coupling/scheme_settings.h"
#include "io/settings_text.h"
#include <yoke/version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_csv_name(const char *path) {
  const size_t length = strlen(path);
  return length >= 4 && strcmp(path + length - 4, ".csv") == 0;
}

/* A model may come from anybody: the files it names lie in or below the folder in which the run was started. */
static yoke_status check_folder(yoke_context *ctx, const char *key, const char *option, const char *name) {
  char        *path = yoke_file_resolve(name), *folder = realpath(".", NULL);
  const size_t n = folder ? strlen(folder) : 0;
  /* What cannot be resolved (a folder that does not exist) cannot be opened either. */
  const bool   is_inside =
      !path || (n == 1 && folder[0] == '/') || (n > 1 && strncmp(path, folder, n) == 0 && path[n] == '/');
  const bool is_plain =
      name[0] != '/' && strcmp(name, "..") != 0 && strncmp(name, "../", 3) != 0 && !strstr(name, "/../");
  free(path);
  free(folder);
  if (is_inside && is_plain) return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_MODEL,
      "key '%s': found '%s', expected a file in or below the folder in which the run was started (no '..', "
      "no link that leads out); %s FILE on the command line may name any file",
      key, name, option);
}

yoke_status yoke_recorder_files(yoke_context *ctx, const yoke_model *model, const yoke_recorder_names *given,
                                const char *files[2]) {
  const char *const options[2] = {given->out, given->csv};
  const char *const keys[2]    = {model->output.file, model->output.csv};
  for (int i = 0; i < 2; ++i) {
    files[i] = options[i] ? options[i] : keys[i];
    if (files[i] && !*files[i]) files[i] = NULL;
    if (!options[i] && files[i])
      YOKE_TRY(check_folder(ctx, i == 0 ? "output.file" : "output.csv", i == 0 ? "-o" : "--csv", files[i]));
  }
  const yoke_output_use outputs[4] = {{"the result", files[0]},
                                      {"the CSV file", files[1]},
                                      {"the trace", given->trace},
                                      {"the timeline", given->profile}};
  return yoke_output_check(ctx, model, 4, outputs);
}

static void release_texts(char **texts, int n) {
  for (int i = 0; texts && i < n; ++i) free(texts[i]);
  free(texts);
}

/* "coupling.force x" of every channel, coupling by coupling; NULL when out of memory. */
static char **channel_names(const yoke_recorder *r) {
  const yoke_graph *graph = yoke_system_graph(r->run->system);
  const yoke_plan  *plan  = r->run->plan;
  char            **names = yoke_allocate((size_t)r->n_channels + 1, sizeof *names);
  int               n     = 0;
  for (int k = 0; names && k < plan->n_couplings; ++k) {
    for (int i = 0; i < yoke_graph_n_channels(graph, k); ++i) {
      const char  *channel = yoke_graph_channel_name(graph, k, i);
      const size_t size    = strlen(plan->couplings[k].name) + strlen(channel) + 2;
      names[n]             = yoke_allocate(size, 1);
      if (!names[n]) {
        release_texts(names, n);
        return NULL;
      }
      snprintf(names[n++], size, "%s.%s", plan->couplings[k].name, channel);
    }
  }
  return names;
}

static yoke_status create_hdf5(yoke_recorder *r, yoke_context *ctx, const char *settings,
                               const yoke_result_split *split) {
  bool is_described = false;
  for (int i = 0; i < r->n_outputs; ++i) is_described = is_described || r->descriptions[i][0] != '\0';
  yoke_machine machine;
  yoke_machine_look(&machine);
  const yoke_comm      *comm = yoke_context_comm(ctx);
  const yoke_result_def def  = {
       .path         = r->out,
       .group        = "main",
       .version      = YOKE_VERSION,
       .name         = r->model->name,
       .model        = r->model->text,
       .settings     = settings,
       .machine      = &machine,
       .machines     = comm != NULL ? yoke_comm_machines(comm) : "",
       .t_start      = r->model->t_start,
       .t_end        = r->model->t_end,
       .n            = r->n_outputs,
       .names        = r->names,
       .units        = r->units,
       .descriptions = is_described ? r->descriptions : NULL,
       .split        = split,
  };
  return yoke_result_writer_create(ctx, &def, &r->hdf5);
}

static yoke_status create_split_hdf5(yoke_recorder *r, yoke_context *ctx, const char *settings) {
  static const char *const keys[] = {"sequence", "start", "predictor", "jacobian"};
  char                     words[4][YOKE_SETTING_TEXT];
  const yoke_plan         *plan       = r->run->plan;
  const yoke_step_choice  *choice     = yoke_system_choice(r->run->system);
  char                   **channels   = channel_names(r);
  const char             **subsystems = yoke_allocate((size_t)plan->n_parts, sizeof *subsystems);
  const char             **couplings  = yoke_allocate((size_t)plan->n_couplings + 1, sizeof *couplings);
  yoke_status              status     = YOKE_OK;
  if (!channels || !subsystems || !couplings) status = yoke_out_of_memory(ctx, "the couplings' names");
  for (int i = 0; i < 4; ++i)
    yoke_setting_text(yoke_setting_find(&yoke_scheme_rows, keys[i]), &plan->scheme, words[i], sizeof words[i]);
  for (int i = 0; subsystems && i < plan->n_parts; ++i) subsystems[i] = plan->parts[i].name;
  for (int i = 0; couplings && i < plan->n_couplings; ++i) couplings[i] = plan->couplings[i].name;
  if (status == YOKE_OK) {
    const yoke_result_split split = {
        .n_subsystems = plan->n_parts,
        .subsystems   = subsystems,
        .n_channels   = r->n_channels,
        .channels     = (const char *const *)channels,
        .n_couplings  = plan->n_couplings,
        .couplings    = couplings,
        .scheme       = plan->scheme.scheme,
        .sequence     = words[0],
        .start        = words[1],
        .predictor    = words[2],
        .jacobian     = words[3],
        .order        = plan->scheme.order,
        .step         = yoke_system_H(r->run->system),
        .control      = choice ? choice->reasons : "",
        .rtol         = choice ? choice->settings.tolerances.rtol : (double)NAN,
    };
    status = create_hdf5(r, ctx, settings, &split);
  }
  release_texts(channels, r->n_channels);
  free(subsystems);
  free(couplings);
  return status;
}

static yoke_status open_hdf5(yoke_recorder *r, yoke_context *ctx, int threads) {
  char *settings = yoke_run_settings_text(r->model, r->run->plan, yoke_system_choice(r->run->system), threads);
  if (!settings) return yoke_out_of_memory(ctx, "the settings");
  const yoke_status status = r->is_split ? create_split_hdf5(r, ctx, settings) : create_hdf5(r, ctx, settings, NULL);
  free(settings);
  return status;
}

static yoke_status open_files(yoke_recorder *r, yoke_context *ctx, const yoke_recorder_def *def) {
  const yoke_output_list *outputs = &r->run->plan->outputs;
  if (def->files[0]) r->out = yoke_text_copy(def->files[0]);
  if (def->files[1]) r->csv = yoke_text_copy(def->files[1]);
  r->names        = yoke_allocate((size_t)outputs->n + 1, sizeof *r->names);
  r->units        = yoke_allocate((size_t)outputs->n + 1, sizeof *r->units);
  r->descriptions = yoke_allocate((size_t)outputs->n + 1, sizeof *r->descriptions);
  r->channels     = yoke_allocate((size_t)r->n_channels + 1, sizeof(double));
  r->errors       = yoke_allocate((size_t)r->run->plan->n_parts + 1, sizeof(double));
  if (!r->errors || !r->names || !r->units || !r->descriptions || !r->channels || !r->out != !def->files[0] ||
      !r->csv != !def->files[1])
    return yoke_out_of_memory(ctx, "%d outputs", outputs->n);
  r->n_outputs = outputs->n;
  for (int i = 0; i < outputs->n; ++i) {
    r->names[i]        = outputs->name[i];
    r->units[i]        = outputs->unit[i];
    r->descriptions[i] = yoke_plan_output_description(r->run->plan, i);
  }
  if (r->out) {
    YOKE_TRY(is_csv_name(r->out) ? yoke_csv_writer_create(ctx, r->out, r->n_outputs, r->names, &r->csv_out)
                                 : open_hdf5(r, ctx, def->threads));
  }
  if (r->csv) YOKE_TRY(yoke_csv_writer_create(ctx, r->csv, r->n_outputs, r->names, &r->csv_writer));
  return YOKE_OK;
}

yoke_status yoke_recorder_create(yoke_context *ctx, const yoke_recorder_def *def, yoke_recorder **out) {
  *out             = NULL;
  yoke_recorder *r = yoke_allocate(1, sizeof *r);
  if (r == NULL) return yoke_out_of_memory(ctx, "the results");
  r->model           = def->model;
  r->run             = def->run;
  r->store.is_wanted = def->is_stored;
  r->is_split        = !def->run->plan->step.is_free;
  r->t_kept          = (double)NAN;
  r->t_macro         = -(double)INFINITY;
  for (int k = 0; k < def->run->plan->n_couplings; ++k)
    r->n_channels += yoke_graph_n_channels(yoke_system_graph(def->run->system), k);
  yoke_status status = open_files(r, ctx, def);
  if (status != YOKE_OK) {
    status = yoke_recorder_close(r, ctx, status);
    yoke_recorder_destroy(&r);
  }
  *out = r;
  return status;
}

/* Only files that there are have a name. */
static void forget_file(char **name, bool is_kept) {
  if (is_kept) return;
  free(*name);
  *name = NULL;
}

/* Rows of the writer: all threads, then every subsystem. */
static void record_times(yoke_recorder *r) {
  const yoke_times        t   = yoke_times_of(r->run->system, r->wall);
  const yoke_time_shares *s   = &t.shares;
  double                 *row = yoke_result_writer_times(r->hdf5, t.threads);
  if (row == NULL) return;
  const double all[YOKE_N_TIMES] = {s->solver, s->save, s->exchange, s->master, s->output, s->idle};
  memcpy(row, all, sizeof all);
  for (int i = 0; r->is_split && i < r->run->plan->n_parts; ++i) {
    const yoke_part_times p                 = yoke_times_of_part(r->run->system, &t, i);
    const double          own[YOKE_N_TIMES] = {p.solver, p.save, p.exchange, (double)NAN, (double)NAN, p.idle};
    memcpy(row += YOKE_N_TIMES, own, sizeof own);
  }
}

/* The account at its last balance point: the end of the record, since files of HDF5 have the leak of every macro step. */
static void record_energies(yoke_recorder *r) {
  if (!r->is_split || !yoke_energies_are_known(r->run)) return;
  double *row = yoke_result_writer_energies(r->hdf5, false);
  for (int p = 0; row != NULL && p < r->run->plan->n_parts; ++p, row += YOKE_N_SUBSYSTEM_ENERGIES) {
    const yoke_energy_share e                              = yoke_energies_of_part(r->run, p);
    const double            own[YOKE_N_SUBSYSTEM_ENERGIES] = {e.energy, e.dissipated, e.external, e.work[0], e.leak};
    memcpy(row, own, sizeof own);
  }
  row = yoke_result_writer_energies(r->hdf5, true);
  for (int w = 0; row != NULL && w < r->run->plan->n_couplings; ++w, row += YOKE_N_COUPLING_ENERGIES) {
    const yoke_energy_share e                  = yoke_energies_of_wire(r->run, w);
    const double own[YOKE_N_COUPLING_ENERGIES] = {e.energy, e.dissipated, e.work[0], e.work[1], e.leak, e.corrected};
    memcpy(row, own, sizeof own);
  }
}

yoke_status yoke_recorder_close(yoke_recorder *r, yoke_context *ctx, yoke_status status) {
  const bool done = status == YOKE_OK;
  char       word[100];
  if (done || status == YOKE_E_INTERRUPTED) {
    snprintf(word, sizeof word, "%s", done ? "done" : "interrupted");
  } else {
    snprintf(word, sizeof word, "failed: %s", yoke_status_text(status));
  }
  if (r->hdf5) record_times(r);
  if (r->hdf5) record_energies(r);
  bool              is_kept[3];
  const yoke_status closed[3] = {yoke_result_writer_close(&r->hdf5, ctx, word, done, &is_kept[0]),
                                 yoke_csv_writer_close(&r->csv_out, ctx, done, &is_kept[1]),
                                 yoke_csv_writer_close(&r->csv_writer, ctx, done, &is_kept[2])};
  for (int i = 0; i < 3; ++i) {
    if (status == YOKE_OK || (status == YOKE_E_INTERRUPTED && closed[i] != YOKE_OK)) status = closed[i];
  }
  forget_file(&r->out, is_kept[0] || is_kept[1]);
  forget_file(&r->csv, is_kept[2]);
  return status;
}

static yoke_status store_row(yoke_recorder *r, yoke_context *ctx, double t, const double *outputs) {
  yoke_row_store *store = &r->store;
  const size_t    width = (size_t)r->n_outputs + 1;
  if (store->n == store->capacity) {
    const size_t capacity = 2 * store->capacity + 256;
    double      *larger =
        capacity > SIZE_MAX / sizeof(double) / width ? NULL : realloc(store->rows, capacity * width * sizeof *larger);
    if (!larger) return yoke_out_of_memory(ctx, "%zu output times", capacity);
    store->rows     = larger;
    store->capacity = capacity;
  }
  double *row = store->rows + store->n++ * width;
  row[0]      = t;
  memcpy(row + 1, outputs, (width - 1) * sizeof *row);
  return YOKE_OK;
}

yoke_status yoke_recorder_take(yoke_recorder *r, yoke_context *ctx, const char *name, yoke_result **out) {
  const size_t   n = (size_t)r->n_outputs + 1, n_rows = r->store.n;
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
  if (done) return yoke_result_reader_from_table(ctx, name, r->units, &table, out);
  if (!table.names) table.n_columns = 0;
  yoke_csv_table_release(&table);
  return yoke_out_of_memory(ctx, "%zu output times", n_rows);
}

static void record_parts(yoke_recorder *r) {
  yoke_accuracy_subsystems(r->run, r->errors);
  for (int i = 0; i < r->run->plan->n_parts; ++i) {
    yoke_counters counters;
    yoke_system_part_counters(r->run->system, i, &counters);
    yoke_result_writer_part(r->hdf5, i, &counters, r->errors[i]);
  }
}

yoke_status yoke_recorder_macro(yoke_recorder *r, yoke_context *ctx, double t, double H, int order,
                                const yoke_step_statistics *statistics) {
  r->t_macro = t;
  if (!r->hdf5) return YOKE_OK;
  const yoke_graph *graph = yoke_system_graph(r->run->system);
  int               n     = 0;
  for (int k = 0; k < r->run->plan->n_couplings; ++k) {
    for (int i = 0; i < yoke_graph_n_channels(graph, k); ++i) r->channels[n++] = yoke_graph_channel(graph, k, i);
  }
  yoke_macro_row row = {
      .t            = t,
      .H            = H,
      .order        = order,
      .iterations   = statistics->iterations,
      .integrations = statistics->integrations,
      .matrices     = statistics->matrices,
      .has_kept     = statistics->has_kept,
      .rate         = statistics->rate,
      .residual     = statistics->residual,
      .converged    = statistics->converged,
      .error        = yoke_system_choice(r->run->system) ? statistics->error : (double)NAN,
      .local_error  = statistics->local_error,
      .leak         = statistics->leak,
      .reduced_by   = (int)statistics->reduced_by,
      .is_forced    = statistics->is_forced,
      .channels     = r->channels,
  };
  memcpy(row.rejected, statistics->rejected, sizeof row.rejected);
  return yoke_result_writer_macro(r->hdf5, ctx, &row);
}

yoke_status yoke_recorder_sample(yoke_recorder *r, yoke_context *ctx, double t, const double *outputs,
                                 const yoke_counters *counters, double h, int order) {
  for (int i = 0; i < r->n_outputs; ++i) {
    if (isfinite(outputs[i])) continue;
    return yoke_fail(ctx, YOKE_E_UNSTABLE, "output '%s' is not finite at t = %.9g s", r->names[i], t);
  }
  if (r->hdf5 && r->is_split) record_parts(r);
  if (r->hdf5) YOKE_TRY(yoke_result_writer_row(r->hdf5, ctx, t, outputs, counters, h, order));
  if (r->csv_out) YOKE_TRY(yoke_csv_writer_row(r->csv_out, ctx, t, outputs));
  if (r->csv_writer) YOKE_TRY(yoke_csv_writer_row(r->csv_writer, ctx, t, outputs));
  if (r->store.is_wanted) YOKE_TRY(store_row(r, ctx, t, outputs));
  r->t_kept = t;
  ++r->n_rows;
  return YOKE_OK;
}

void yoke_recorder_destroy(yoke_recorder **recorder) {
  yoke_recorder *r = *recorder;
  if (r == NULL) return;
  free(r->out);
  free(r->csv);
  free(r->names);
  free(r->units);
  free(r->descriptions);
  free(r->channels);
  free(r->errors);
  free(r->store.rows);
  free(r);
  *recorder = NULL;
}
