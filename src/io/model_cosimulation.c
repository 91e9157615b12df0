/* Settings of the co-simulation: every key and word is checked and kept as it was given (yoke_cosimulation_def); the modules that read
 * them fill in the rest. The run without a split reads `energy` only. */
#include "io/model_reader.h"
#include "base/text.h"
#include "io/setting_tables.h"
#include "master/macro_settings.h"
#include <stdlib.h>
#include <string.h>

static const char path[] = "cosimulation";

static int n_pieces(const yoke_model *m, int chain) {
  int n = 0;
  for (int k = 0; k < m->n_parts; ++k) n += m->parts[k].n_masses > 0 && m->parts[k].chain == chain;
  return n;
}

/* A connection, a chain that may be cut, or one cut of it: "c.cut[2]". */
static bool names_a_coupling(const reader *r, const char *name) {
  if (yoke_names_find(&r->connection_names, name) != YOKE_NAMES_NONE) return true;
  char        base[NAME_SIZE];
  const char *cut = strstr(name, ".cut[");
  model_print(base, sizeof base, "%.*s", cut == NULL ? (int)strlen(name) : (int)(cut - name), name);
  const int body = yoke_names_find(&r->body_names, base);
  if (body == YOKE_NAMES_NONE || r->model->bodies[body].kind != YOKE_BODY_CHAIN) return false;
  if (cut == NULL) return true;
  char      *end;
  const long j = strtol(cut + 5, &end, 10);
  return strcmp(end, "]") == 0 && j >= 1 && (r->model->n_parts == 0 || j < n_pieces(r->model, body));
}

static void take(reader *r, const char *below, const yoke_setting *row, const yoke_yaml_node *map, int k,
                 yoke_settings *out) {
  yoke_setting_value value;
  if (yoke_yaml_is_nothing(map->items[k])) return;
  if (model_setting(r, below, row, map->keys[k], map->items[k], &value) && !yoke_settings_add(out, &value))
    model_out_of_memory(r);
}

/* Settings of one coupling, on top of those for all. */
static void read_own(reader *r, const yoke_yaml_node *key, const yoke_yaml_node *map) {
  yoke_cosimulation_def *c    = &r->model->cosimulation;
  yoke_coupling_choice  *more = realloc(c->own, ((size_t)c->n_own + 1) * sizeof *more);
  if (more == NULL) {
    model_out_of_memory(r);
    return;
  }
  c->own                    = more;
  yoke_coupling_choice *own = &c->own[c->n_own++];
  *own                      = (yoke_coupling_choice){.name = yoke_text_copy(key->text)};
  if (own->name == NULL) model_out_of_memory(r);
  model_enter(r, YOKE_COUPLING_PATH, key->text);
  for (int k = 0; k < map->n; ++k) {
    const char         *name = map->keys[k]->text;
    const yoke_setting *row  = yoke_setting_below(YOKE_COUPLING_PATH, name);
    if (row != NULL) {
      take(r, YOKE_COUPLING_PATH, row, map, k, &own->given);
    } else if (yoke_shared_setting(name) != NULL) {
      model_mistake(r, map->keys[k], name,
                    "found a setting of the run for one coupling, expected it below 'cosimulation': it is one for all");
    } else {
      model_unknown_key(r, map, k, YOKE_COUPLING_PATH);
    }
  }
  model_enter(r, YOKE_COUPLING_PATH, NULL);
}

/* `couplings:` holds keys for all couplings, and names of connections and chains with keys of their own: a map is one of these. */
static void read_couplings(reader *r, const yoke_yaml_node *node) {
  const yoke_yaml_node *map;
  model_enter(r, YOKE_COUPLING_PATH, NULL);
  if (!model_map(r, node, NULL, &map) || map == NULL) return;
  for (int k = 0; k < map->n; ++k) {
    const char         *key    = map->keys[k]->text;
    const bool          is_map = map->items[k]->kind == YOKE_YAML_MAP;
    const yoke_setting *row    = yoke_setting_below(YOKE_COUPLING_PATH, key);
    if (row == NULL) row = yoke_shared_setting(key);
    if (names_a_coupling(r, key) && (is_map || row == NULL)) {
      const yoke_yaml_node *own;
      model_enter(r, YOKE_COUPLING_PATH, key);
      if (model_map(r, map->items[k], NULL, &own) && own != NULL) read_own(r, map->keys[k], own);
      model_enter(r, YOKE_COUPLING_PATH, NULL);
    } else if (row != NULL) {
      take(r, YOKE_COUPLING_PATH, row, map, k, &r->model->cosimulation.couplings);
    } else if (is_map && model_is_refused(r, r->scopes[0], key)) {
      continue; /* of a connection that is told already */
    } else if (is_map) {
      const char *nearest = yoke_names_nearest(&r->connection_names, key);
      model_mistake(r, map->keys[k], key, "found the name of no connection, expected a connection or a setting%s%s%s",
                    nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                    nearest == NULL ? "" : "'?");
    } else {
      model_unknown_key(r, map, k, YOKE_COUPLING_PATH);
    }
  }
}

/* The subsystem of this name. NULL: there is none, which is a mistake unless there is no split. */
static yoke_split_part *own_part(reader *r, const yoke_yaml_node *key) {
  yoke_split_part *part = model_part(r->model, key->text);
  model_enter(r, YOKE_SUBSYSTEM_PATH, NULL);
  if (part == NULL && r->model->n_parts > 0)
    model_mistake(r, key, key->text, "found the name of no subsystem, expected a name below 'split' or 'subsystems'");
  return part;
}

/* `subsystems:` holds names of subsystems with keys of their own. Without a split names mean nothing. */
static void read_subsystems(reader *r, const yoke_yaml_node *node) {
  yoke_settings         unused = {0};
  const yoke_yaml_node *map, *own;
  model_enter(r, path, NULL);
  if (!model_map(r, node, "subsystems", &map) || map == NULL) return;
  for (int i = 0; i < map->n; ++i) {
    yoke_split_part *part = own_part(r, map->keys[i]);
    if (part == NULL && r->model->n_parts > 0) continue;
    model_enter(r, YOKE_SUBSYSTEM_PATH, map->keys[i]->text);
    if (!model_map(r, map->items[i], NULL, &own) || own == NULL) continue;
    for (int k = 0; k < own->n; ++k) {
      const yoke_setting *row = yoke_setting_find(&yoke_subsystem_rows, own->keys[k]->text);
      if (row == NULL)
        model_unknown_key(r, own, k, YOKE_SUBSYSTEM_PATH);
      else
        take(r, YOKE_SUBSYSTEM_PATH, row, own, k, part != NULL ? &part->given : &unused);
    }
  }
  yoke_settings_clear(&unused);
}

/* `substeps: {a: 10}` is `subsystems: {a: {substeps: 10}}`. */
static void read_substeps(reader *r, const yoke_yaml_node *node) {
  const yoke_setting   *row = yoke_setting_find(&yoke_subsystem_rows, "substeps");
  const yoke_yaml_node *map;
  model_enter(r, path, NULL);
  if (!model_map(r, node, row->key, &map) || map == NULL) return;
  for (int i = 0; i < map->n; ++i) {
    yoke_settings    unused = {0};
    yoke_split_part *part   = own_part(r, map->keys[i]);
    model_enter(r, YOKE_SUBSYSTEM_PATH, map->keys[i]->text);
    if (part != NULL || r->model->n_parts == 0)
      take(r, YOKE_SUBSYSTEM_PATH, row, map, i, part != NULL ? &part->given : &unused);
    yoke_settings_clear(&unused);
  }
}

/* A number that was given; 0: it was not. */
static double number_of(const reader *r, const char *below, const char *key) {
  const yoke_setting_value *value = yoke_settings_find(&r->model->cosimulation.given, below, key);
  return value != NULL && value->text[0] == '\0' ? value->number[0] : 0.0;
}

/* Steps that are given must be in order: min <= initial <= max. */
static void check_steps(reader *r, const yoke_yaml_node *node) {
  static const char below[] = "cosimulation.step";
  const double      min = number_of(r, below, "min"), initial = number_of(r, below, "initial"),
               max = number_of(r, below, "max");
  model_enter(r, below, NULL);
  if (min > 0.0 && max > 0.0 && min > max)
    model_mistake(r, node, "min", "found %g s, expected at most max, which is %g s", min, max);
  else if (initial > 0.0 && max > 0.0 && initial > max)
    model_mistake(r, node, "initial", "found %g s, expected at most max, which is %g s", initial, max);
  else if (initial > 0.0 && initial < min)
    model_mistake(r, node, "initial", "found %g s, expected at least min, which is %g s", initial, min);
}

static void check_orders(reader *r, const yoke_yaml_node *node) {
  static const char         below[] = "cosimulation.order";
  const yoke_setting_value *max     = yoke_settings_find(&r->model->cosimulation.given, below, "max");
  const double              min     = number_of(r, below, "min");
  model_enter(r, below, NULL);
  if (max != NULL && min > max->number[0])
    model_mistake(r, node, "min", "found %g, expected at most max, which is %g", min, max->number[0]);
}

void model_read_cosimulation(reader *r) {
  yoke_cosimulation_def *c = &r->model->cosimulation;
  const yoke_yaml_node  *map;
  r->model->energy = -1;
  model_enter(r, "", NULL);
  if (!model_map(r, yoke_yaml_find(r->root, path), path, &map) || map == NULL) return;
  model_setting_map(r, map, path, &c->given);
  if (r->n_errors == 0) check_steps(r, yoke_yaml_find(map, "step"));
  if (r->n_errors == 0) check_orders(r, yoke_yaml_find(map, "order"));
  const yoke_setting_value *energy = yoke_settings_find(&c->given, path, "energy");
  if (energy != NULL) r->model->energy = strcmp(energy->text, "off") == 0 ? 0 : 1;
  c->step     = number_of(r, path, "step");
  c->has_step = c->step > 0.0;
  read_subsystems(r, yoke_yaml_find(map, "subsystems"));
  read_substeps(r, yoke_yaml_find(map, "substeps"));
  read_couplings(r, yoke_yaml_find(map, "couplings"));
  model_enter(r, "", NULL);
}
