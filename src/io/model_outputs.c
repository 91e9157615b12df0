/* Outputs that the user writes as expressions of others. */
#include "io/model_reader.h"
#include <string.h>

static const char *const keys[] = {"value", "unit", "description", "count"};

enum { MAX_DEPTH = 64 };

/* ---- names first: expressions may read outputs that stand behind them ---- */

static bool name_output(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, bool counted) {
  yoke_model *m = r->model;
  char        name[NAME_SIZE];
  if (!model_check_symbol(r, s, key)) return false;
  model_full_name(s, key->text, counted, name, sizeof name);
  if (!model_grow(r, &m->user_outputs, m->n_user_outputs, &r->capacity_outputs, sizeof *m->user_outputs)) return false;
  yoke_user_output *output = &m->user_outputs[m->n_user_outputs];
  *output                  = (yoke_user_output){.name        = yoke_arena_text(&m->arena, name),
                                                .unit        = yoke_arena_text(&m->arena, ""),
                                                .description = yoke_arena_text(&m->arena, ""),
                                                .where       = model_where(r, node, NULL)};
  if (!model_has_memory(r)) return false;
  ++m->n_user_outputs;
  if (!model_is_free(r, key, name)) return false;
  switch (yoke_names_add(&r->output_names, output->name, m->n_user_outputs - 1)) {
  case YOKE_NAMES_ADDED: return true;
  case YOKE_NAMES_EXISTS:
    return model_mistake(r, key, NULL, "found a second output '%s', expected different names", name);
  default: return model_out_of_memory(r);
  }
}

/* ---- expressions ---- */

static bool read_output(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, bool counted) {
  const bool            is_map = node->kind == YOKE_YAML_MAP;
  const yoke_yaml_node *value  = is_map ? yoke_yaml_find(node, "value") : node;
  char                  name[NAME_SIZE];
  model_full_name(s, key->text, counted, name, sizeof name);
  const int i    = yoke_names_find(&r->output_names, name);
  bool      good = !is_map || model_check_keys(r, node, keys, MODEL_COUNT(keys));
  if (value == NULL) return model_mistake(r, node, "value", "found nothing, expected an expression of outputs");
  yoke_expression *expression;
  good = model_expression(r, s, value, is_map ? "value" : NULL, VARIABLES_OUTPUTS, Q_ANY, &expression) && good;
  yoke_user_output *output = &r->model->user_outputs[i];
  output->value            = expression;
  good                     = model_short_text(r, node, "unit", MAX_UNIT, &output->unit) && good;
  return model_short_text(r, node, "description", MAX_DESCRIPTION, &output->description) && good;
}

/* ---- circles ---- */

/* Sets the depth of all outputs that read none without one; the number of those that are left. */
static int settle(yoke_model *m) {
  int n_open = 0, n_before;
  do {
    n_before = n_open;
    n_open   = 0;
    for (int i = 0; i < m->n_user_outputs; ++i) {
      yoke_user_output *output = &m->user_outputs[i];
      int               depth  = 0;
      if (output->depth >= 0) continue;
      for (int k = 0; depth >= 0 && k < yoke_expression_n_variables(output->value); ++k) {
        const int number = yoke_expression_variables(output->value)[k];
        const int user   = number > 0 ? m->references[number - 1].user : -1;
        if (user < 0) continue;
        const int below = m->user_outputs[user].depth;
        depth           = below < 0 ? -1 : below + 1 > depth ? below + 1 : depth;
      }
      output->depth = depth;
      n_open += depth < 0;
    }
  } while (n_open > 0 && n_open != n_before);
  return n_open;
}

/* An output without a depth that this one reads. */
static int next_open(const yoke_model *m, int i) {
  const yoke_expression *x = m->user_outputs[i].value;
  for (int k = 0; k < yoke_expression_n_variables(x); ++k) {
    const int number = yoke_expression_variables(x)[k];
    const int user   = number > 0 ? m->references[number - 1].user : -1;
    if (user >= 0 && m->user_outputs[user].depth < 0) return user;
  }
  return -1;
}

/* Names of a circle among the outputs without a depth: "a, b, a". */
static void name_circle(const yoke_model *m, char *text, size_t size) {
  int at = 0, first;
  while (m->user_outputs[at].depth >= 0) ++at;
  for (int k = 0; k < m->n_user_outputs; ++k) at = next_open(m, at); /* surely inside a circle by now */
  first       = at;
  size_t used = model_print(text, size, "%s", m->user_outputs[at].name);
  do {
    at = next_open(m, at);
    used += model_print(text + used, size - used, ", %s", m->user_outputs[at].name);
  } while (at != first && used + 1 < size);
}

static void check_circles(reader *r) {
  yoke_model *m = r->model;
  char        circle[400];
  for (int i = 0; i < m->n_user_outputs; ++i) m->user_outputs[i].depth = -1;
  const int n_open = settle(m);
  model_enter(r, "", NULL);
  for (int i = 0; n_open == 0 && i < m->n_user_outputs; ++i) {
    if (m->user_outputs[i].depth <= MAX_DEPTH) continue;
    model_mistake(r, yoke_yaml_find(r->root, "outputs"), "outputs",
                  "found that '%s' needs %d others in a row, expected at most %d", m->user_outputs[i].name,
                  m->user_outputs[i].depth, MAX_DEPTH);
    return;
  }
  if (n_open == 0) return;
  name_circle(m, circle, sizeof circle);
  model_mistake(r, yoke_yaml_find(r->root, "outputs"), "outputs",
                "found outputs that read each other in a circle: %s; expected an order", circle);
}

void model_read_outputs(reader *r) {
  const int before = r->n_errors;
  for (int k = 0; k < r->n_scopes; ++k) model_each_value(r, r->scopes[k], "outputs", name_output);
  if (r->n_errors != before) return;
  for (int k = 0; k < r->n_scopes; ++k) model_each_value(r, r->scopes[k], "outputs", read_output);
  if (r->n_errors == 0) check_circles(r); /* every output has its expression */
}
