#include "io/run.h"
#include "base/text.h"
#include "io/clock.h"
#include "io/csv.h"
#include "io/result_writer.h"
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

const char *yoke_nearest_name(const char *name, const char *const *list, int n) {
  return yoke_text_nearest(name, list, n);
}

yoke_run_options yoke_run_options_default(void) {
  return (yoke_run_options){0};
}

/* ---- settings as text ---- */

typedef struct text_buffer {
  char  *text;
  size_t length, capacity;
  bool   has_failed;
} text_buffer;

__attribute__((format(printf, 2, 3))) static void put(text_buffer *buffer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (n < 0 || buffer->has_failed) return;
  if (buffer->length + (size_t)n + 1 > buffer->capacity) {
    const size_t capacity = 2 * (buffer->length + (size_t)n + 256);
    char        *larger   = realloc(buffer->text, capacity);
    buffer->has_failed    = !larger;
    if (!larger) return;
    buffer->text     = larger;
    buffer->capacity = capacity;
  }
  va_start(arguments, format);
  vsnprintf(buffer->text + buffer->length, buffer->capacity - buffer->length, format, arguments);
  va_end(arguments);
  buffer->length += (size_t)n;
}

/* The shortest form that reads back as the same double. */
static void put_number(text_buffer *buffer, const char *before, double value, const char *after) {
  char text[YOKE_NUMBER_SIZE];
  for (int digits = 6; digits <= 17; ++digits) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  char *separator = text + strspn(text, "+-0123456789e.");
  if (*separator || !isfinite(value)) yoke_number_text(value, text); /* a locale with a decimal comma */
  put(buffer, "%s%s%s", before, text, after);
}

/* A text in double quotes, as YAML reads it. */
static void put_quoted(text_buffer *buffer, const char *text) {
  put(buffer, "\"");
  for (const char *c = text; *c; ++c) put(buffer, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
  put(buffer, "\"");
}

static void put_list(text_buffer *buffer, const char *key, int n, char *const *texts) {
  put(buffer, ", %s: [", key);
  for (int i = 0; i < n; ++i) {
    if (i > 0) put(buffer, ", ");
    put_quoted(buffer, texts[i]);
  }
  put(buffer, "]");
}

static void put_solver(text_buffer *buffer, const yoke_solver_def *solver) {
  put(buffer, "solvers:\n  default: {kind: %s", solver->kind);
  put_number(buffer, ", rtol: ", solver->rtol, "");
  put_number(buffer, ", atol: ", solver->atol, "");
  if (solver->step > 0.0) put_number(buffer, ", step: ", solver->step, "");
  if (solver->max_step > 0.0) put_number(buffer, ", max_step: ", solver->max_step, "");
  if (solver->max_order > 0) put(buffer, ", max_order: %d", solver->max_order);
  if (solver->linear[0]) put(buffer, ", linear: %s", solver->linear);
  if (solver->constraints[0]) put(buffer, ", constraints: %s", solver->constraints);
  if (strcmp(solver->constraints, "baumgarte") == 0) {
    put_number(buffer, ", alpha: ", solver->baumgarte_alpha, "");
    put_number(buffer, ", beta: ", solver->baumgarte_beta, "");
  }
  put_number(buffer, ", rho_inf: ", solver->rho_inf, "}\n");
}

char *yoke_run_settings_text(const yoke_model *model, int threads) {
  text_buffer buffer = {0};
  put_number(&buffer, "t_start: ", model->t_start, "\n");
  put_number(&buffer, "t_end: ", model->t_end, "\n");
  put_number(&buffer, "gravity: [", model->gravity[0], ", ");
  put_number(&buffer, "", model->gravity[1], ", ");
  put_number(&buffer, "", model->gravity[2], "]\n");
  put_solver(&buffer, &model->solver);
  put_number(&buffer, "output: {every: ", model->output.every, "");
  if (model->output.n_select > 0) put_list(&buffer, "select", model->output.n_select, model->output.select);
  if (model->output.n_integrals > 0) put_list(&buffer, "integrals", model->output.n_integrals, model->output.integrals);
  put(&buffer, "}\n");
  if (threads > 0) put(&buffer, "# threads: %d\n", threads);
  if (!buffer.has_failed) return buffer.text;
  free(buffer.text);
  return NULL;
}

/* ---- loading with overrides ---- */

/* A command-line option is an override of the key it stands for. */
static char *override_text(const char *key, const char *value) {
  const size_t size = strlen(key) + strlen(value) + 2;
  char        *text = yoke_allocate(size, 1);
  if (text) snprintf(text, size, "%s=%s", key, value);
  return text;
}

static yoke_status load(yoke_context *ctx, const yoke_run_options *options, yoke_model **out) {
  const struct {
    const char *key, *value;
  } own[] = {{"t_end", options->t_end},
             {"solvers.default.kind", options->solver},
             {"solvers.default.rtol", options->rtol},
             {"solvers.default.atol", options->atol}};
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

/* ---- recording ---- */

typedef struct recorder {
  yoke_context           *ctx;
  const yoke_run_options *options;
  const yoke_model       *model;
  yoke_simulation        *simulation;
  yoke_run_summary       *summary;
  const char            **names, **units; /* [n_outputs], belong to the simulation */
  yoke_result_writer     *hdf5;           /* NULL: none */
  yoke_csv_writer        *csv, *csv_out;  /* csv_out: `out` ended in .csv */
  double                  t_kept;         /* of the last row */
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

static yoke_status open_hdf5(recorder *r) {
  char *settings = yoke_run_settings_text(r->model, r->options->threads);
  if (!settings) return yoke_fail(r->ctx, YOKE_E_MEMORY, "out of memory for the settings");
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
  };
  const yoke_status status = yoke_result_writer_create(r->ctx, &def, &r->hdf5);
  free(settings);
  return status;
}

static yoke_status open_files(recorder *r) {
  const int n = yoke_simulation_n_outputs(r->simulation);
  YOKE_TRY(choose_files(r));
  r->summary->n_outputs = n;
  r->names              = yoke_allocate((size_t)n + 1, sizeof *r->names);
  r->units              = yoke_allocate((size_t)n + 1, sizeof *r->units);
  if (!r->names || !r->units) return yoke_fail(r->ctx, YOKE_E_MEMORY, "out of memory for %d outputs", n);
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
  free(r->names);
  free(r->units);
  return status;
}

static yoke_status record_sample(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                                 int order) {
  recorder *r = user;
  for (int i = 0; i < r->summary->n_outputs; ++i) {
    if (isfinite(outputs[i])) continue;
    return yoke_fail(r->ctx, YOKE_E_UNSTABLE, "output '%s' is not finite at t = %.9g s", r->names[i], t);
  }
  if (r->hdf5) YOKE_TRY(yoke_result_writer_row(r->hdf5, r->ctx, t, outputs, counters, h, order));
  if (r->csv_out) YOKE_TRY(yoke_csv_writer_row(r->csv_out, r->ctx, t, outputs));
  if (r->csv) YOKE_TRY(yoke_csv_writer_row(r->csv, r->ctx, t, outputs));
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
  const yoke_sink         sink   = {.user = r, .sample = record_sample, .progress = report_progress};
  yoke_simulation_summary result = {.t = r->model->t_start};
  const double            begin  = yoke_clock_now();
  yoke_status             status = yoke_simulation_run(r->simulation, r->model->t_end, &sink, &result, r->ctx);
  take_summary(&result, r->summary);
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

yoke_status yoke_run(yoke_context *ctx, const yoke_run_options *options, yoke_run_summary *summary) {
  *summary            = (yoke_run_summary){0};
  const double begin  = yoke_clock_now();
  yoke_model  *model  = NULL;
  recorder     r      = {.ctx = ctx, .options = options, .summary = summary};
  yoke_status  status = load(ctx, options, &model);
  r.model             = model;
  use_threads(options->threads);
  if (status == YOKE_OK) status = start_summary(ctx, options, model, summary);
  if (status == YOKE_OK) status = yoke_simulation_create(ctx, model, &r.simulation);
  if (status == YOKE_OK) {
    take_facts(r.simulation, summary);
    r.t_kept = model->t_start;
    status   = check_names(&r);
  }
  if (status == YOKE_OK) {
    status             = open_files(&r);
    summary->load_time = yoke_clock_now() - begin;
    status             = status == YOKE_OK ? simulate(&r) : close_files(&r, status);
  }
  yoke_simulation_destroy(&r.simulation);
  yoke_model_destroy(&model);
  return status;
}

void yoke_run_summary_release(yoke_run_summary *summary) {
  free(summary->name);
  free(summary->out);
  free(summary->csv);
  free(summary->print_values);
  *summary = (yoke_run_summary){0};
}

/* ---- inspection ---- */

static void release_items(yoke_model_item **items, int n) {
  for (int i = 0; *items && i < n; ++i) {
    free((*items)[i].name);
    free((*items)[i].kind);
  }
  free(*items);
  *items = NULL;
}

/* Copies of n items; `item` gives name and kind of number i. */
static bool take_items(yoke_model_item **items, int n, const void *from,
                       const char *(*item)(const void *from, int i, const char **kind)) {
  *items = yoke_allocate((size_t)n + 1, sizeof **items);
  for (int i = 0; *items && i < n; ++i) {
    const char *kind = NULL;
    const char *name = item(from, i, &kind);
    (*items)[i].name = yoke_text_copy(name ? name : "");
    (*items)[i].kind = yoke_text_copy(kind ? kind : "");
    if (!(*items)[i].name || !(*items)[i].kind) return false;
  }
  return *items != NULL;
}

static const char *body_item(const void *from, int i, const char **kind) {
  const yoke_model *model = from;
  *kind                   = yoke_body_kind_name(model->bodies[i].kind);
  return model->bodies[i].name;
}

static const char *connection_item(const void *from, int i, const char **kind) {
  const yoke_model *model = from;
  *kind                   = yoke_connection_kind_name(model->connections[i].kind);
  return model->connections[i].name;
}

static const char *output_item(const void *from, int i, const char **kind) {
  *kind = yoke_simulation_output_unit(from, i);
  return yoke_simulation_output_name(from, i);
}

static yoke_status take_model_facts(yoke_context *ctx, const yoke_model *model, const yoke_simulation *simulation,
                                    yoke_model_facts *facts) {
  yoke_simulation_facts sizes = {0};
  yoke_simulation_facts_get(simulation, &sizes);
  facts->t_start       = model->t_start;
  facts->t_end         = model->t_end;
  facts->rtol          = model->solver.rtol;
  facts->atol          = model->solver.atol;
  facts->every         = model->output.every;
  facts->n_bodies      = model->n_bodies;
  facts->n_connections = model->n_connections;
  facts->n_loads       = model->n_loads;
  facts->n_events      = model->n_events;
  facts->nq            = sizes.nq;
  facts->nv            = sizes.nv;
  facts->n_constraints = sizes.ng;
  facts->n_redundant   = sizes.n_redundant;
  facts->n_freedoms    = sizes.n_freedoms;
  facts->n_outputs     = yoke_simulation_n_outputs(simulation);
  facts->n_outputs_all = sizes.n_outputs_all;
  snprintf(facts->solver, sizeof facts->solver, "%s", model->solver.kind);
  facts->name = yoke_text_copy(model->name ? model->name : "");
  if (model->output.file) facts->output_file = yoke_text_copy(model->output.file);
  if (model->output.csv) facts->output_csv = yoke_text_copy(model->output.csv);
  if (facts->name && take_items(&facts->bodies, facts->n_bodies, model, body_item) &&
      take_items(&facts->connections, facts->n_connections, model, connection_item) &&
      take_items(&facts->outputs, facts->n_outputs, simulation, output_item)) {
    return YOKE_OK;
  }
  return yoke_fail(ctx, YOKE_E_MEMORY, "out of memory for the facts of '%s'", facts->name ? facts->name : "the model");
}

yoke_status yoke_model_inspect(yoke_context *ctx, const yoke_run_options *options, yoke_model_facts *facts) {
  *facts                      = (yoke_model_facts){0};
  yoke_model      *model      = NULL;
  yoke_simulation *simulation = NULL;
  yoke_status      status     = load(ctx, options, &model);
  if (status == YOKE_OK) status = yoke_simulation_create(ctx, model, &simulation);
  if (status == YOKE_OK) status = take_model_facts(ctx, model, simulation, facts);
  yoke_simulation_destroy(&simulation);
  yoke_model_destroy(&model);
  if (status != YOKE_OK) yoke_model_facts_release(facts);
  return status;
}

void yoke_model_facts_release(yoke_model_facts *facts) {
  release_items(&facts->bodies, facts->n_bodies);
  release_items(&facts->connections, facts->n_connections);
  release_items(&facts->outputs, facts->n_outputs);
  free(facts->name);
  free(facts->output_file);
  free(facts->output_csv);
  *facts = (yoke_model_facts){0};
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
