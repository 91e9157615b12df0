/* Subsystems of their own in the model file: code that no part of the file describes. What they take and show is written here. */
#include "io/model_reader.h"
#include <ctype.h>
#include <string.h>

/* Kinds, which decide what `type` names. */
static const char *const kinds[] = {"user"};

static const char *const keys[] = {"kind", "type", "parameters", "ports", "inputs", "outputs", "count"};

const yoke_foreign *model_port_owner(const yoke_model *m, int body) {
  for (int i = 0; body >= 0 && i < m->n_foreigns; ++i) {
    for (int k = 0; k < m->foreigns[i].n_ports; ++k) {
      if (m->foreigns[i].ports[k].body == body) return &m->foreigns[i];
    }
  }
  return NULL;
}

/* ---- parameters ---- */

/* A word that is no name of a parameter is a text, without quotes too. */
static bool is_word(const char *text) {
  for (const char *c = text; *c != '\0'; ++c) {
    if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-') return false;
  }
  return isalpha((unsigned char)text[0]);
}

static bool read_arguments(reader *r, const scope *s, const yoke_yaml_node *node, yoke_foreign *f) {
  const yoke_yaml_node *map;
  bool                  good = model_map(r, node, "parameters", &map);
  if (!good || map == NULL) return good;
  f->arguments = yoke_arena_take(&r->model->arena, (size_t)map->n + 1, sizeof *f->arguments);
  if (!model_has_memory(r)) return false;
  for (int k = 0; k < map->n; ++k) {
    const yoke_yaml_node  *value    = map->items[k];
    yoke_foreign_argument *argument = &f->arguments[f->n_arguments++];
    char                   key[NAME_SIZE];
    model_print(key, sizeof key, "parameters.%.64s", map->keys[k]->text);
    argument->name = yoke_arena_text(&r->model->arena, map->keys[k]->text);
    if (yoke_yaml_is_nothing(value) || value->kind != YOKE_YAML_SCALAR)
      good = model_expected(r, value, key, "a number or a text");
    else if (value->quoted || (is_word(value->text) && !model_is_number(r, s, value->text)))
      argument->text = yoke_arena_text(&r->model->arena, value->text);
    else
      good = model_number(r, s, value, key, Q_ANY, &argument->value) && good;
  }
  return model_has_memory(r) && good;
}

/* ---- ports ---- */

static const yoke_port_shape *const shapes[] = {&yoke_shape_line, &yoke_shape_plane, &yoke_shape_point,
                                                &yoke_shape_frame};
static const yoke_body_kind bodies[] = {YOKE_BODY_MASS1D, YOKE_BODY_PLANAR, YOKE_BODY_PARTICLE, YOKE_BODY_RIGID};

/* The body that stands in for a port: free in the freedoms of its shape. */
static bool add_body(reader *r, const yoke_yaml_node *key, const char *name, yoke_body_kind kind, int *out) {
  yoke_model      *m     = r->model;
  const yoke_frame frame = {.body = m->n_bodies, .axes = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  if (!model_grow(r, &m->bodies, m->n_bodies, &r->capacity_bodies, sizeof *m->bodies)) return false;
  yoke_body *body = &m->bodies[m->n_bodies];
  *body           = (yoke_body){.name        = yoke_arena_text(&m->arena, name),
                                .kind        = kind,
                                .mass        = 1.0,
                                .inertia     = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                .orientation = {1, 0, 0, 0}};
  if (!model_has_memory(r)) return false;
  *out = m->n_bodies++;
  switch (yoke_names_add(&r->body_names, body->name, *out)) {
  case YOKE_NAMES_ADDED: return model_add_frame(r, key, name, &frame) >= 0;
  case YOKE_NAMES_EXISTS:
    return model_mistake(r, key, NULL, "found a second body '%s', expected different names", name);
  default: return model_out_of_memory(r);
  }
}

static bool read_ports(reader *r, const yoke_yaml_node *node, yoke_foreign *f) {
  const char           *words[MODEL_COUNT(shapes)];
  const yoke_yaml_node *map;
  bool                  good = model_map(r, node, "ports", &map);
  if (!good || map == NULL) return good;
  for (int k = 0; k < MODEL_COUNT(shapes); ++k) words[k] = shapes[k]->name;
  f->ports = yoke_arena_take(&r->model->arena, (size_t)map->n + 1, sizeof *f->ports);
  if (!model_has_memory(r)) return false;
  for (int k = 0; k < map->n; ++k) {
    char key[NAME_SIZE], name[2 * NAME_SIZE];
    model_print(key, sizeof key, "ports.%.64s", map->keys[k]->text);
    model_print(name, sizeof name, "%s.%s", f->name, map->keys[k]->text);
    const bool is_name = model_check_name(r, map->keys[k], false);
    const int  shape   = model_word(r, map->items[k], key, words, MODEL_COUNT(shapes));
    good               = good && is_name && shape >= 0;
    if (!is_name || shape < 0) continue;
    yoke_foreign_port *port = &f->ports[f->n_ports];
    *port                   = (yoke_foreign_port){
                          .name = yoke_arena_text(&r->model->arena, map->keys[k]->text), .shape = shapes[shape], .body = -1};
    if (!add_body(r, map->keys[k], name, bodies[shape], &port->body)) return false;
    ++f->n_ports;
  }
  return model_has_memory(r) && good;
}

/* ---- signals ---- */

static bool has_port(const yoke_foreign *f, const char *name) {
  for (int k = 0; k < f->n_ports; ++k) {
    if (strcmp(f->ports[k].name, name) == 0) return true;
  }
  return false;
}

static bool has_output(const yoke_foreign *f, const char *name) {
  for (int k = 0; k < f->n_outputs; ++k) {
    if (strcmp(f->outputs[k].name, name) == 0) return true;
  }
  return false;
}

/* `[torque, speed]` or `{torque: N m, speed: rad/s}`; a unit may be empty. */
static bool read_outputs(reader *r, const yoke_yaml_node *node, yoke_foreign *f) {
  bool good = true;
  if (node == NULL || yoke_yaml_is_nothing(node)) return true;
  if (node->kind == YOKE_YAML_SCALAR)
    return model_expected(r, node, "outputs", "a list of names, or a map ('name: unit')");
  f->outputs = yoke_arena_take(&r->model->arena, (size_t)node->n + 1, sizeof *f->outputs);
  if (!model_has_memory(r)) return false;
  for (int k = 0; k < node->n; ++k) {
    const yoke_yaml_node *name = node->kind == YOKE_YAML_MAP ? node->keys[k] : node->items[k];
    const yoke_yaml_node *unit = node->kind == YOKE_YAML_MAP ? node->items[k] : NULL;
    char                 *text = yoke_arena_text(&r->model->arena, "");
    if (name->kind != YOKE_YAML_SCALAR || yoke_yaml_is_nothing(name)) {
      good = model_expected(r, name, "outputs", "the name of an output");
    } else if (!model_check_name(r, name, false)) {
      good = false;
    } else if (has_output(f, name->text) || has_port(f, name->text)) {
      good = model_mistake(r, name, "outputs", "found a second '%s', expected different names of ports and outputs",
                           name->text);
    } else if (unit != NULL && !yoke_yaml_is_nothing(unit) && !model_short_text(r, node, name->text, MAX_UNIT, &text)) {
      good = false;
    } else {
      f->outputs[f->n_outputs++] =
          (yoke_foreign_output){.name = yoke_arena_text(&r->model->arena, name->text), .unit = text};
    }
  }
  return model_has_memory(r) && good;
}

static bool read_type(reader *r, const yoke_yaml_node *map, yoke_foreign *f) {
  const yoke_yaml_node *node = yoke_yaml_find(map, "type");
  if (node == NULL || yoke_yaml_is_nothing(node) || node->kind != YOKE_YAML_SCALAR || node->text[0] == '\0')
    return model_expected(r, node == NULL ? map : node, "type",
                          "the name of a type, registered by a program or a plugin");
  f->type = yoke_arena_text(&r->model->arena, node->text);
  return model_has_memory(r);
}

static bool read_subsystem(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, bool counted) {
  yoke_model           *m    = r->model;
  const yoke_yaml_node *kind = yoke_yaml_find(node, "kind");
  char                  name[NAME_SIZE];
  if (kind == NULL) return model_mistake(r, node, "kind", "found nothing, expected a kind: %s", kinds[0]);
  const int word = model_word(r, kind, "kind", kinds, MODEL_COUNT(kinds));
  if (word < 0) return false;
  bool good = model_check_keys(r, node, keys, MODEL_COUNT(keys));
  model_full_name(s, key->text, counted, name, sizeof name);
  if (!model_is_free(r, key, name)) return false;
  if (!model_grow(r, &m->foreigns, m->n_foreigns, &r->capacity_foreigns, sizeof *m->foreigns)) return false;
  yoke_foreign *f = &m->foreigns[m->n_foreigns];
  *f              = (yoke_foreign){.name  = yoke_arena_text(&m->arena, name),
                                   .kind  = yoke_arena_text(&m->arena, kinds[word]),
                                   .where = model_where(r, key, NULL),
                                   .part  = -1};
  if (!model_has_memory(r)) return false;
  if (yoke_names_add(&r->foreign_names, f->name, m->n_foreigns) == YOKE_NAMES_NO_MEMORY) return model_out_of_memory(r);
  ++m->n_foreigns;
  good = read_type(r, node, f) && good;
  good = read_arguments(r, s, yoke_yaml_find(node, "parameters"), f) && good;
  good = read_ports(r, yoke_yaml_find(node, "ports"), f) && good;
  return read_outputs(r, yoke_yaml_find(node, "outputs"), f) && good;
}

void model_read_subsystems(reader *r, scope *s) {
  model_each(r, s, "subsystems", read_subsystem);
}

/* ---- inputs ---- */

/* Outputs that the user wrote are put in place of their names. Takes `value`, NULL on failure. */
static yoke_expression *expand(reader *r, const yoke_yaml_node *at, const char *key, yoke_expression *value) {
  yoke_model             *m     = r->model;
  const yoke_expression **inner = yoke_arena_take(&r->scratch, (size_t)m->n_references + 1, sizeof *inner);
  bool                    is_open;
  if (inner == NULL) {
    yoke_expression_destroy(&value);
    model_out_of_memory(r);
    return NULL;
  }
  do {
    yoke_expression *next = NULL;
    is_open               = false;
    for (int k = 0; k < yoke_expression_n_variables(value); ++k) {
      const int number = yoke_expression_variables(value)[k], user = number > 0 ? m->references[number - 1].user : -1;
      if (user >= 0) inner[number] = m->user_outputs[user].value;
      is_open = is_open || user >= 0;
    }
    if (!is_open) return value;
    const yoke_status status = yoke_expression_replace(value, NULL, inner, &next);
    yoke_expression_destroy(&value);
    value = next;
    if (status == YOKE_E_MEMORY) model_out_of_memory(r);
    if (status == YOKE_E_MODEL)
      model_mistake(r, at, key, "found outputs that make the expression too long, expected fewer of them");
  } while (value != NULL);
  return value;
}

static bool read_inputs(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, bool counted) {
  const yoke_yaml_node *map;
  char                  name[NAME_SIZE];
  model_full_name(s, key->text, counted, name, sizeof name);
  const int i    = yoke_names_find(&r->foreign_names, name);
  bool      good = model_map(r, yoke_yaml_find(node, "inputs"), "inputs", &map);
  if (i < 0 || !good || map == NULL) return good; /* told already */
  yoke_foreign *f = &r->model->foreigns[i];
  f->inputs       = yoke_arena_take(&r->model->arena, (size_t)map->n + 1, sizeof *f->inputs);
  if (!model_has_memory(r)) return false;
  for (int k = 0; k < map->n; ++k) {
    yoke_expression *value;
    char             path[NAME_SIZE];
    model_print(path, sizeof path, "inputs.%.64s", map->keys[k]->text);
    good = model_check_name(r, map->keys[k], false) && good;
    if (!model_expression(r, s, map->items[k], path, VARIABLES_OUTPUTS, Q_ANY, &value)) return false;
    value = expand(r, map->items[k], path, value);
    if (value == NULL) return false;
    f->inputs[f->n_inputs++] = (yoke_foreign_input){.name  = yoke_arena_text(&r->model->arena, map->keys[k]->text),
                                                    .where = model_where(r, map->items[k], path),
                                                    .value = value};
  }
  return model_has_memory(r) && good;
}

void model_read_subsystem_inputs(reader *r, scope *s) {
  if (r->n_errors == 0)
    model_each(r, s, "subsystems", read_inputs); /* outputs that read each other in a circle are told */
}
