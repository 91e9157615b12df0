/* Parameters of the model and of instances of assemblies: each is an expression of others, in any order. */
#include "io/model_reader.h"
#include "base/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "a -> b -> a" from the parameters being evaluated. */
static void report_cycle(reader *r, const parameter *p) {
  char   text[600] = "";
  size_t used      = 0;
  int    first     = 0;
  while (first < r->parameter_depth && r->active[first] != p) ++first;
  for (int k = first; k <= r->parameter_depth && used < sizeof text; ++k) {
    const parameter *step = k < r->parameter_depth ? r->active[k] : p;
    used += model_print(text + used, sizeof text - used, "%s%s", k == first ? "" : " -> ", step->key->text);
  }
  model_mistake(r, p->node, p->key->text, "found a cycle: %s, expected parameters that do not depend on themselves",
                text);
}

static void evaluate(reader *r, parameter *p) {
  const int depth_limit = (int)(sizeof r->active / sizeof r->active[0]);
  char      where[NAME_SIZE];
  model_print(where, sizeof where, "%s", r->where);
  model_enter(r, "parameters", NULL);
  if (p->state == PARAMETER_ACTIVE) {
    report_cycle(r, p);
    p->state = PARAMETER_BAD;
  } else if (r->parameter_depth == depth_limit) {
    model_mistake(r, p->node, p->key->text, "found a chain of more than %d parameters that need each other",
                  depth_limit);
    p->state = PARAMETER_BAD;
  } else {
    r->active[r->parameter_depth++] = p;
    p->state                        = PARAMETER_ACTIVE;
    const bool good = model_number_with_unit(r, p->home, p->node, p->key->text, &p->value, &p->has_unit, p->unit);
    --r->parameter_depth;
    p->state = good && p->state == PARAMETER_ACTIVE ? PARAMETER_DONE : PARAMETER_BAD;
  }
  memcpy(r->where, where, sizeof where);
}

yoke_symbol_kind model_parameter(reader *r, const scope *s, const char *name, double *value, bool *bad) {
  for (; s != NULL; s = s->parent) {
    const int k = yoke_names_find(&s->parameter_names, name);
    if (k == YOKE_NAMES_NONE) continue;
    parameter *p = &s->parameters[k];
    p->used      = true;
    if (p->state == PARAMETER_NEW || p->state == PARAMETER_ACTIVE) evaluate(r, p);
    if (p->state == PARAMETER_BAD) *bad = true;
    *value = p->state == PARAMETER_DONE ? p->value : 1.0;
    return YOKE_SYMBOL_CONSTANT;
  }
  return YOKE_SYMBOL_UNKNOWN;
}

bool model_parameter_unit(const scope *s, const char *name, int unit[4]) {
  for (; s != NULL; s = s->parent) {
    const int k = yoke_names_find(&s->parameter_names, name);
    if (k == YOKE_NAMES_NONE) continue;
    memcpy(unit, s->parameters[k].unit, sizeof s->parameters[k].unit);
    return s->parameters[k].state == PARAMETER_DONE && s->parameters[k].has_unit;
  }
  return false;
}

static bool add_parameter(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node) {
  if (!model_check_name(r, key, true)) return false;
  parameter *p = &s->parameters[s->n_parameters];
  *p           = (parameter){.key = key, .node = node, .home = s};
  if (yoke_names_add(&s->parameter_names, key->text, s->n_parameters) == YOKE_NAMES_NO_MEMORY)
    return model_out_of_memory(r);
  ++s->n_parameters;
  return true;
}

/* `own` are declared with their default, `given` replace defaults and are read in the scope `giver`. */
bool model_open_parameters(reader *r, scope *s, const yoke_yaml_node *own, const yoke_yaml_node *given, scope *giver) {
  const yoke_yaml_node *map, *values;
  const bool            good = model_map(r, own, "parameters", &map) && model_map(r, given, "parameters", &values);
  if (!good) return false;
  if (map != NULL) {
    s->parameters = yoke_arena_take(&r->scratch, (size_t)map->n + 1, sizeof *s->parameters);
    if (s->parameters == NULL) return model_out_of_memory(r);
    for (int k = 0; k < map->n; ++k) add_parameter(r, s, map->keys[k], map->items[k]);
  }
  for (int k = 0; values != NULL && k < values->n; ++k) {
    const char *name  = values->keys[k]->text;
    const int   index = yoke_names_find(&s->parameter_names, name);
    if (index == YOKE_NAMES_NONE || s->parameters == NULL) {
      const char *nearest = yoke_names_nearest(&s->parameter_names, name);
      model_mistake(r, values->keys[k], "parameters", "found '%.60s', expected a parameter of the assembly%s%s%s", name,
                    nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                    nearest == NULL ? "" : "'?");
      continue;
    }
    s->parameters[index].node = values->items[k];
    s->parameters[index].home = giver;
  }
  return true;
}

void model_evaluate_parameters(reader *r, scope *s) {
  for (int k = 0; k < s->n_parameters; ++k) {
    if (s->parameters[k].state == PARAMETER_NEW) evaluate(r, &s->parameters[k]);
  }
}

/* ---- scopes ---- */

static scope *add_scope(reader *r, scope *parent, const char *prefix, const yoke_yaml_node *node) {
  if (!model_grow(r, &r->scopes, r->n_scopes, &r->capacity_scopes, sizeof *r->scopes)) return NULL;
  scope *s = yoke_arena_take(&r->scratch, 1, sizeof *s);
  prefix   = yoke_arena_text(&r->scratch, prefix);
  if (r->scratch.has_failed) {
    model_out_of_memory(r);
    return NULL;
  }
  s->parent                = parent;
  s->node                  = node;
  s->prefix                = prefix;
  r->scopes[r->n_scopes++] = s;
  return s;
}

static const char *const assembly_keys[] = {"parameters", "bodies", "frames", "connections", "inputs",
                                            "subsystems", "loads",  "events", "outputs",     "instances"};

static void open_instances(reader *r, scope *s);

static int scope_depth(const scope *s) {
  int depth = 0;
  for (; s != NULL; s = s->parent) ++depth;
  return depth;
}

static bool open_instance(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, bool counted) {
  static const char *const keys[] = {"of", "parameters", "count"};
  if (!model_check_keys(r, node, keys, MODEL_COUNT(keys))) return false;
  const yoke_yaml_node *of = yoke_yaml_find(node, "of"), *assemblies = yoke_yaml_find(r->root, "assemblies");
  if (yoke_yaml_is_nothing(of) || of->kind != YOKE_YAML_SCALAR)
    return model_expected(r, of == NULL ? node : of, "of", "the name of an assembly");
  const yoke_yaml_node *assembly = yoke_yaml_find(assemblies, of->text);
  if (assembly == NULL)
    return model_mistake(r, of, "of", "found '%.60s', expected the name of an assembly below 'assemblies'", of->text);
  if (assembly->kind != YOKE_YAML_MAP)
    return model_expected(r, assembly, "of", "an assembly (a map with bodies, connections, ...)");
  if (scope_depth(s) >= MAX_SCOPE_DEPTH) {
    return model_mistake(r, node, NULL, "found assemblies nested deeper than %d; does '%.60s' contain itself?",
                         MAX_SCOPE_DEPTH, of->text);
  }
  if (r->n_scopes > MAX_COUNT) return model_mistake(r, node, NULL, "found more than %d instances", MAX_COUNT);
  char name[NAME_SIZE], prefix[NAME_SIZE + 2];
  model_full_name(s, key->text, counted, name, sizeof name);
  model_print(prefix, sizeof prefix, "%s.", name);
  if (strlen(prefix) > NAME_SIZE - 100)
    return model_mistake(r, key, NULL, "found a name longer than %d letters: '%.60s...'", NAME_SIZE - 100, name);
  scope *inner = add_scope(r, s, prefix, assembly);
  if (inner == NULL) return false;
  if (counted) {
    inner->has_index = true;
    inner->index     = s->index;
  }
  if (!model_open_parameters(r, inner, yoke_yaml_find(assembly, "parameters"), yoke_yaml_find(node, "parameters"), s))
    return false;
  model_evaluate_parameters(r, inner);
  char where[NAME_SIZE];
  model_print(where, sizeof where, "%s", r->where);
  open_instances(r, inner);
  memcpy(r->where, where, sizeof where);
  return true;
}

static void open_instances(reader *r, scope *s) {
  model_each(r, s, "instances", open_instance);
}

bool model_open_scopes(reader *r) {
  scope *s = add_scope(r, NULL, "", r->root);
  if (s == NULL) return false;
  model_enter(r, "", NULL);
  if (!model_open_parameters(r, s, yoke_yaml_find(r->root, "parameters"), NULL, NULL)) return false;
  model_evaluate_parameters(r, s);
  const yoke_yaml_node *assemblies;
  if (!model_map(r, yoke_yaml_find(r->root, "assemblies"), "assemblies", &assemblies)) return false;
  for (int k = 0; assemblies != NULL && k < assemblies->n; ++k) {
    model_enter(r, "assemblies", assemblies->keys[k]->text);
    if (assemblies->items[k]->kind != YOKE_YAML_MAP) {
      model_expected(r, assemblies->items[k], NULL, "a map with parameters, bodies, connections, ...");
    } else {
      model_check_keys(r, assemblies->items[k], assembly_keys, MODEL_COUNT(assembly_keys));
    }
  }
  open_instances(r, s);
  return true;
}

void model_close_scopes(reader *r) {
  for (int k = 0; k < r->n_scopes; ++k) yoke_names_clear(&r->scopes[k]->parameter_names);
  free(r->scopes);
}
