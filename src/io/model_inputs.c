/* Inputs of the model file: numbers that may be set from outside while the model runs. */
#include "io/model_reader.h"
#include "frames/units.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Unit of a value as it was written ("5 N": "N"), or of its dimension where that was another than the SI unit. */
static void unit_of(const char *text, const yoke_expression *value, char *unit, size_t size) {
  int    dimension[4], written[4];
  double factor;
  char  *end;
  (void)strtod(text, &end);
  end += strspn(end, " ");
  unit[0] = '\0';
  if (!yoke_expression_dimension(value, dimension)) return;
  if (yoke_unit_lookup(end, &factor, written) && factor == 1.0)
    model_print(unit, size, "%s", end);
  else
    yoke_unit_text(dimension, unit, size);
}

/* A unit is a label, but not one that contradicts the value: numbers are in SI units. */
static bool check_unit(reader *r, const yoke_yaml_node *node, const char *unit, const yoke_expression *value) {
  int    own[4], dimension[4];
  double factor;
  char   expected[60];
  if (!yoke_unit_lookup(unit, &factor, own)) return true;
  yoke_unit_text(own, expected, sizeof expected);
  if (factor != 1.0)
    return model_mistake(r, node, "unit", "found '%s', expected an SI unit (%s): programs set the input in it", unit,
                         expected);
  if (!yoke_expression_dimension(value, dimension) || memcmp(own, dimension, sizeof own) == 0) return true;
  yoke_unit_text(dimension, expected, sizeof expected);
  return model_mistake(r, node, "unit", "found '%s', expected the unit of the value, %s", unit, expected);
}

static bool read_value(reader *r, const scope *s, const yoke_yaml_node *map, const yoke_yaml_node *node,
                       yoke_model_input *input) {
  const char      *key = map != NULL ? "value" : NULL;
  yoke_expression *value;
  char             unit[60];
  if (!model_expression(r, s, node, key, VARIABLES_NONE, Q_ANY, &value)) return false;
  input->value = yoke_expression_evaluate(value, NULL, NULL);
  bool good    = isfinite(input->value) ||
              model_mistake(r, node, key, "found '%.60s' = %g, expected a finite number", node->text, input->value);
  unit_of(node->text, value, unit, sizeof unit);
  input->unit = yoke_arena_text(&r->model->arena, unit);
  good        = model_short_text(r, map, "unit", MAX_UNIT, &input->unit) && model_has_memory(r) && good;
  if (good && yoke_yaml_find(map, "unit") != NULL)
    good = check_unit(r, yoke_yaml_find(map, "unit"), input->unit, value);
  yoke_expression_destroy(&value);
  return good;
}

static bool read_input(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, bool counted) {
  static const char *const keys[] = {"value", "unit", "description", "count"};
  yoke_model              *m      = r->model;
  const yoke_yaml_node    *map    = node->kind == YOKE_YAML_MAP ? node : NULL;
  const yoke_yaml_node    *value  = map != NULL ? yoke_yaml_find(map, "value") : node;
  char                     name[NAME_SIZE];
  if (!model_check_symbol(r, s, key)) return false;
  model_full_name(s, key->text, counted, name, sizeof name);
  if (!model_is_free(r, key, name) || (map != NULL && !model_check_keys(r, map, keys, MODEL_COUNT(keys)))) return false;
  if (value == NULL) return model_mistake(r, map, "value", "found nothing, expected the number at the start");
  if (!model_grow(r, &m->inputs, m->n_inputs, &r->capacity_inputs, sizeof *m->inputs)) return false;
  yoke_model_input *input = &m->inputs[m->n_inputs];
  *input                  = (yoke_model_input){.name        = yoke_arena_text(&m->arena, name),
                                               .unit        = yoke_arena_text(&m->arena, ""),
                                               .description = yoke_arena_text(&m->arena, "")};
  if (!model_has_memory(r)) return false;
  if (yoke_names_add(&r->input_names, input->name, m->n_inputs) == YOKE_NAMES_NO_MEMORY) return model_out_of_memory(r);
  ++m->n_inputs;
  const bool good = read_value(r, s, map, value, input);
  return model_short_text(r, map, "description", MAX_DESCRIPTION, &input->description) && good;
}

void model_read_inputs(reader *r, scope *s) {
  model_each_value(r, s, "inputs", read_input);
}
