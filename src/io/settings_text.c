#include "io/settings_text.h"

#include "integrate/solver_options.h"
#include "master/idle_settings.h"
#include "master/macro_settings.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void put_number(text_buffer *buffer, const char *before, double value, const char *after) {
  char text[YOKE_SETTING_TEXT];
  yoke_setting_number_text(value, text, sizeof text);
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

/* One member; `n` counts those written so far. */
static void put_row(text_buffer *buffer, const yoke_setting *row, const void *target, int *n) {
  char text[200];
  yoke_setting_text(row, target, text, sizeof text);
  put(buffer, "%s%s: %s", (*n)++ > 0 ? ", " : "", row->key, text);
}

/* Is there something to write: a value, and not one that stands for others? */
static bool has_value(const yoke_setting *row, const void *target) {
  return row->size > 0 && !row->is_part && !yoke_setting_is_open(row, target);
}

/* Of a small model, where it was not given, atol is one for each kind of coordinate, which no number says: it follows from the model again. */
static bool is_of_sizes(const yoke_setting *row, const yoke_solver_def *solver) {
  return solver->time > 0.0 && strcmp(row->key, "atol") == 0;
}

static void put_solver(text_buffer *buffer, const char *name, const yoke_solver_def *solver) {
  int n = 0;
  put(buffer, "  ");
  put_quoted(buffer, name);
  put(buffer, ": {");
  for (int i = 0; i < yoke_solver_rows.n; ++i) {
    const yoke_setting *row = &yoke_solver_rows.rows[i];
    if (has_value(row, solver) && !is_of_sizes(row, solver) && yoke_solver_reads(solver->kind, row->key) &&
        yoke_setting_is_read(&yoke_solver_rows, row, solver))
      put_row(buffer, row, solver, &n);
  }
  put(buffer, "}\n");
}

/* The rows of a table that are read, behind `before` and in braces; nothing when there are none. */
static void put_map(text_buffer *buffer, const char *before, const yoke_setting_table *table, const void *target,
                    const yoke_plan *plan, const char *after) {
  int n = 0;
  for (int i = 0; i < table->n; ++i) {
    const yoke_setting *row = &table->rows[i];
    if (!has_value(row, target) || !yoke_run_setting_is_read(plan, row)) continue;
    if (n == 0) put(buffer, "%s{", before);
    put_row(buffer, row, target, &n);
  }
  if (n > 0) put(buffer, "}%s", after);
}

/* A fixed step, or all that step control does. */
static void put_step(text_buffer *buffer, const yoke_plan *plan, const yoke_step_choice *choice) {
  int n = 0;
  if (choice == NULL) {
    put_number(buffer, "  step: ", plan->step.H, "\n");
    put(buffer, "  order: %d\n", plan->scheme.order);
    return;
  }
  put_map(buffer, "  order: ", &yoke_order_rows, &choice->settings, plan, "\n");
  put(buffer, "  step: {");
  for (int i = 0; i < yoke_control_rows.n; ++i) {
    if (has_value(&yoke_control_rows.rows[i], &choice->settings))
      put_row(buffer, &yoke_control_rows.rows[i], &choice->settings, &n);
  }
  put_map(buffer, ", atol: ", &yoke_control_atol_rows, &choice->settings, plan, "");
  put(buffer, "}\n");
}

static void put_coupling(text_buffer *buffer, const yoke_plan_coupling *k, const yoke_formulation_ops *ops) {
  int n = 0;
  put(buffer, "    ");
  put_quoted(buffer, k->name);
  put(buffer, ": {");
  for (int i = 0; i < yoke_coupling_rows.n; ++i) {
    const yoke_setting *row = &yoke_coupling_rows.rows[i];
    if (has_value(row, &k->settings) && yoke_setting_is_read(&yoke_coupling_rows, row, &k->settings))
      put_row(buffer, row, &k->settings, &n);
  }
  for (int i = 0; i < ops->settings.n; ++i) {
    const yoke_setting *row = &ops->settings.rows[i];
    if (has_value(row, k->settings.own) && yoke_setting_is_read(&ops->settings, row, k->settings.own))
      put_row(buffer, row, k->settings.own, &n);
  }
  put(buffer, "}\n");
}

/* Those that have settings of their own. */
static void put_subsystems(text_buffer *buffer, const yoke_plan *plan) {
  const yoke_own_settings *own   = plan->scheme.own;
  int                      n_all = 0;
  for (int p = 0; own != NULL && p < plan->n_parts; ++p) {
    int n = 0;
    if (!own[p].has_jacobian && own[p].substeps == 1) continue;
    if (n_all++ == 0) put(buffer, "  subsystems:\n");
    put(buffer, "    ");
    put_quoted(buffer, plan->parts[p].name);
    put(buffer, ": {");
    for (int i = 0; i < yoke_subsystem_rows.n; ++i) {
      const yoke_setting *row = &yoke_subsystem_rows.rows[i];
      if (has_value(row, &own[p]) && yoke_run_setting_is_read(plan, row)) put_row(buffer, row, &own[p], &n);
    }
    put(buffer, "}\n");
  }
}

static const char *energy_word(const yoke_model *model) {
  const yoke_setting_value *given = yoke_settings_find(&model->cosimulation.given, yoke_macro_rows.path, "energy");
  return given != NULL ? given->text : model->energy > 0 ? "monitor" : "off";
}

static void put_cosimulation(text_buffer *buffer, const yoke_model *model, const yoke_plan *plan,
                             const yoke_step_choice *choice) {
  const yoke_scheme_settings *settings = &plan->scheme;
  put(buffer, "cosimulation:\n");
  if (model->energy >= 0) put(buffer, "  energy: %s\n", energy_word(model));
  if (yoke_plan_has_account(plan)) put_number(buffer, "  energy_limit: ", yoke_macro_energy_limit(model), "\n");
  for (int i = 0; i < yoke_scheme_rows.n; ++i) {
    const yoke_setting *row = &yoke_scheme_rows.rows[i];
    int                 n   = 0;
    if (strcmp(row->key, "order") == 0 || !has_value(row, settings) || !yoke_run_setting_is_read(plan, row)) continue;
    put(buffer, "  ");
    put_row(buffer, row, settings, &n);
    put(buffer, "\n");
  }
  put_step(buffer, plan, choice);
  put_map(buffer, "  corrector: ", &yoke_corrector_rows, settings, plan, "\n");
  put_subsystems(buffer, plan);
  for (int k = 0, n = 0; k < plan->n_couplings; ++k) {
    if (plan->couplings[k].is_signal) continue; /* nothing to choose */
    if (n++ == 0) put(buffer, "  couplings:\n");
    put_coupling(buffer, &plan->couplings[k], plan->wires[k].formulation);
  }
}

char *yoke_run_settings_text(const yoke_model *model, const yoke_plan *plan, const yoke_step_choice *choice,
                             int threads) {
  const bool  is_split = !plan->step.is_free;
  text_buffer buffer   = {0};
  put_number(&buffer, "t_start: ", model->t_start, "\n");
  put_number(&buffer, "t_end: ", model->t_end, "\n");
  put_number(&buffer, "gravity: [", model->gravity[0], ", ");
  put_number(&buffer, "", model->gravity[1], ", ");
  put_number(&buffer, "", model->gravity[2], "]\n");
  if (model->assemble) put(&buffer, "assemble: true\n");
  put(&buffer, "solvers:\n");
  put_solver(&buffer, "default", &model->solver);
  for (int i = 0; is_split && i < model->n_parts; ++i) {
    if (model->parts[i].has_solver) put_solver(&buffer, model->parts[i].name, &model->parts[i].solver);
  }
  if (is_split) put_cosimulation(&buffer, model, plan, choice);
  if (!is_split && model->energy >= 0) put(&buffer, "cosimulation: {energy: %s}\n", energy_word(model));
  put_number(&buffer, "output: {every: ", model->output.every, "");
  if (model->output.n_select > 0) put_list(&buffer, "select", model->output.n_select, model->output.select);
  if (model->output.n_integrals > 0) put_list(&buffer, "integrals", model->output.n_integrals, model->output.integrals);
  put(&buffer, "}\n");
  if (model->n_parts > 0 && !is_split) put(&buffer, "# monolithic\n");
  if (threads > 0) put(&buffer, "# threads: %d\n", threads);
  if (!buffer.has_failed) return buffer.text;
  free(buffer.text);
  return NULL;
}
