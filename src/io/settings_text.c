#include "io/settings_text.h"

#include "coupling/formulation.h"
#include "io/result_reader.h"
#include <math.h>
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

static void put_solver(text_buffer *buffer, const char *name, const yoke_solver_def *solver) {
  put(buffer, "  ");
  put_quoted(buffer, name);
  put(buffer, ": {kind: %s", solver->kind);
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

/* Numbers of the formulations of rigid joints: what was given and is read, 0 where it was not. */
static void put_joint_numbers(text_buffer *buffer, const yoke_coupling_choice *c) {
  const yoke_formulation_ops *ops = yoke_formulation_find(c->formulation);
  const struct {
    const char *key;
    double      value;
  } numbers[] = {{"beta", c->beta}, {"gamma", c->gamma}, {"mu", c->mu},
                 {"a", c->a},       {"b", c->b},         {"relaxation", c->relaxation}};
  if (c->index > 0) put(buffer, ", index: %d", c->index);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    if (ops == NULL || numbers[i].value == 0.0 || !yoke_formulation_reads(ops, numbers[i].key)) continue;
    put(buffer, ", %s", numbers[i].key);
    put_number(buffer, ": ", numbers[i].value, "");
  }
  if (ops == NULL || !yoke_formulation_reads(ops, "nodes")) return;
  put_number(buffer, ", nodes: [", c->nodes[0], "");
  put_number(buffer, ", ", c->nodes[1], "]");
}

static void put_coupling(text_buffer *buffer, const yoke_coupling_choice *c) {
  put(buffer, "decomposition: %s, extension: %s, feedthrough: %s", c->decomposition, c->extension,
      c->feedthrough ? "true" : "false");
  if (c->formulation[0]) put(buffer, ", formulation: %s", c->formulation);
  put_joint_numbers(buffer, c);
  if (strcmp(c->formulation, "kinematic") != 0) return;
  put(buffer, ", force: %s, motion: %s, outputs: %s", c->force, c->motion, c->outputs);
  if (c->prescribed[0]) {
    put(buffer, ", prescribed: ");
    put_quoted(buffer, c->prescribed);
  }
  if (c->order_force >= 0) put(buffer, ", order_force: %d", c->order_force);
  if (c->order_motion >= 0) put(buffer, ", order_motion: %d", c->order_motion);
}

/* A fixed step with its order, or step control: what was given; the rest is chosen as before. */
static void put_step(text_buffer *buffer, const yoke_cosimulation_def *c) {
  static const char *const kinds[] = {"position", "velocity", "coupling"};
  if (c->order >= 0)
    put(buffer, "  order: %d\n", c->order);
  else
    put(buffer, "  order: {min: %d, max: %d, rule: %s}\n", c->order_min, c->order_max, c->order_rule);
  if (c->step > 0.0) {
    put_number(buffer, "  step: ", c->step, "\n");
    return;
  }
  put(buffer, "  step: {dead_zone: %s", c->step_free ? "false" : "true");
  if (c->estimator[0]) put(buffer, ", estimator: %s", c->estimator);
  const struct {
    const char *key;
    double      value;
  } numbers[] = {{"rtol", c->step_rtol},
                 {"initial", c->step_initial},
                 {"min", c->step_min},
                 {"max", c->step_max},
                 {"safety", c->step_safety}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    if (!(numbers[i].value > 0.0)) continue;
    put(buffer, ", %s", numbers[i].key);
    put_number(buffer, ": ", numbers[i].value, "");
  }
  if (c->step_ratio[0] > 0.0) {
    put_number(buffer, ", ratio: [", c->step_ratio[0], "");
    put_number(buffer, ", ", c->step_ratio[1], "]");
  }
  bool has_atol = false;
  for (int k = 0; k < 3; ++k) {
    if (!(c->step_atol[k] > 0.0)) continue;
    put(buffer, "%s%s", has_atol ? ", " : ", atol: {", kinds[k]);
    put_number(buffer, ": ", c->step_atol[k], "");
    has_atol = true;
  }
  put(buffer, has_atol ? "}}\n" : "}\n");
}

static void put_cosimulation(text_buffer *buffer, const yoke_model *model) {
  const yoke_cosimulation_def *c = &model->cosimulation;
  put(buffer, "cosimulation:\n  sequence: %s\n", c->sequence);
  if (c->has_scheme || c->step > 0.0) put(buffer, "  scheme: %s\n", c->scheme);
  put_step(buffer, c);
  put(buffer, "  start: %s\n  predictor: %s\n  jacobian: %s\n  final_update: %s\n", c->start, c->predictor, c->jacobian,
      c->final_update ? "true" : "false");
  put_number(buffer, "  corrector: {tau: ", c->corrector_tau, "");
  if (c->corrector_rtol > 0.0) put_number(buffer, ", rtol: ", c->corrector_rtol, "");
  if (c->corrector_atol > 0.0) put_number(buffer, ", atol: ", c->corrector_atol, "");
  put(buffer, "}\n");
  if (c->corrections > 0) put(buffer, "  corrections: %d\n", c->corrections);
  if (c->joint_tolerance > 0.0) put_number(buffer, "  joint_tolerance: ", c->joint_tolerance, "\n");
  put(buffer, "  couplings: {");
  put_coupling(buffer, &c->couplings);
  for (int i = 0; i < c->n_own; ++i) {
    put(buffer, ", ");
    put_quoted(buffer, c->own[i].name);
    put(buffer, ": {");
    put_coupling(buffer, &c->own[i]);
    put(buffer, "}");
  }
  put(buffer, "}\n");
}

char *yoke_run_settings_text(const yoke_model *model, bool is_split, int threads) {
  text_buffer buffer = {0};
  put_number(&buffer, "t_start: ", model->t_start, "\n");
  put_number(&buffer, "t_end: ", model->t_end, "\n");
  put_number(&buffer, "gravity: [", model->gravity[0], ", ");
  put_number(&buffer, "", model->gravity[1], ", ");
  put_number(&buffer, "", model->gravity[2], "]\n");
  put(&buffer, "solvers:\n");
  put_solver(&buffer, "default", &model->solver);
  for (int i = 0; is_split && i < model->n_parts; ++i) {
    if (model->parts[i].has_solver) put_solver(&buffer, model->parts[i].name, &model->parts[i].solver);
  }
  if (is_split) put_cosimulation(&buffer, model);
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
