/* Reads values of settings as their rows say (base/setting.h). */
#include "io/model_reader.h"
#include "coupling/scheme_settings.h"
#include "io/setting_tables.h"
#include <string.h>

static quantity quantity_of(const char *unit) {
  static const struct {
    const char *unit;
    quantity    q;
  } list[] = {{"s", Q_TIME}, {"1/s", Q_PER_TIME}, {"m", Q_LENGTH}};
  if (unit == NULL) return Q_NUMBER;
  for (int i = 0; i < MODEL_COUNT(list); ++i) {
    if (strcmp(list[i].unit, unit) == 0) return list[i].q;
  }
  return Q_ANY;
}

/* Without a split the names of subsystems mean nothing. */
static bool is_part(const yoke_model *m, const char *name) {
  bool found = m->n_parts == 0;
  for (int k = 0; k < m->n_parts; ++k) found = found || strcmp(m->parts[k].name, name) == 0;
  return found;
}

static bool read_subsystem(reader *r, const yoke_setting *row, const yoke_yaml_node *node, yoke_setting_value *out) {
  if (yoke_yaml_is_nothing(node) || node->kind != YOKE_YAML_SCALAR)
    return model_expected(r, node, row->key, "the name of a subsystem");
  if (!is_part(r->model, node->text))
    return model_mistake(r, node, row->key, "found '%.60s', expected the name of a subsystem", node->text);
  model_print(out->text, sizeof out->text, "%s", node->text);
  return true;
}

static bool read_numbers(reader *r, const yoke_setting *row, const yoke_yaml_node *node, double *out) {
  const scope   *root = r->scopes[0];
  const quantity q    = quantity_of(row->unit);
  if (row->type == YOKE_SETTING_POSITIVE && row->fits == NULL) return model_positive(r, root, node, row->key, q, out);
  if (row->n > 1 ? !model_numbers(r, root, node, row->key, q, row->n, row->n, out, NULL)
                 : !model_number(r, root, node, row->key, q, out))
    return false;
  if (row->fits == NULL || row->fits(out)) return true;
  char found[80];
  model_print(found, sizeof found, row->n > 1 ? "%g and %g" : "%g", out[0], out[1]);
  return model_mistake(r, node, row->key, "found %s, expected %s", found, row->expected);
}

bool model_setting(reader *r, const char *path, const yoke_setting *row, const yoke_yaml_node *key,
                   const yoke_yaml_node *node, yoke_setting_value *out) {
  const char *words[YOKE_SETTING_MAX_WORDS];
  const int   n     = yoke_setting_words(row, words);
  long        whole = 0;
  bool        truth = false;
  *out              = (yoke_setting_value){.path = path, .row = row};
  model_position(key, out->position, sizeof out->position);
  if (row->refused != NULL) return model_mistake(r, key, row->key, "found a key that is refused: %s", row->refused);
  if (row->type == YOKE_SETTING_WORD) {
    const int word = model_word(r, node, row->key, words, n);
    if (word >= 0) model_print(out->text, sizeof out->text, "%s", words[word]);
    return word >= 0;
  }
  for (int k = 0; k < n; ++k) { /* a word instead of a number */
    if (node->kind != YOKE_YAML_SCALAR || strcmp(node->text, words[k]) != 0) continue;
    model_print(out->text, sizeof out->text, "%s", words[k]);
    return true;
  }
  switch (row->type) {
  case YOKE_SETTING_NUMBER:
  case YOKE_SETTING_POSITIVE: return read_numbers(r, row, node, out->number);
  case YOKE_SETTING_INTEGER:
    if (!model_integer(r, r->scopes[0], node, row->key, row->min, row->max, &whole)) return false;
    out->number[0] = (double)whole;
    return true;
  case YOKE_SETTING_BOOLEAN:
    if (!model_boolean(r, node, row->key, &truth)) return false;
    out->number[0] = truth ? 1.0 : 0.0;
    return true;
  case YOKE_SETTING_SUBSYSTEM: return read_subsystem(r, row, node, out);
  case YOKE_SETTING_WORD:
  case YOKE_SETTING_OTHER: break;
  }
  return false;
}

/* Adds a key that is not in the list yet. */
static void add_key(const char *key, const char **keys, int most, int *n) {
  for (int i = 0; i < *n; ++i) {
    if (strcmp(keys[i], key) == 0) return;
  }
  if (*n < most) keys[(*n)++] = key;
}

int model_setting_keys(const char *path, const char **keys, int most) {
  const size_t      length = strlen(path);
  yoke_joined_table t;
  int               n = 0;
  for (int i = 0; (t = yoke_setting_tables(i)).path != NULL; ++i) {
    const bool is_below = strncmp(t.path, path, length) == 0 && t.path[length] == '.';
    for (int k = 0; strcmp(t.path, path) == 0 && k < t.table->n; ++k) {
      if (t.table->rows[k].refused == NULL) add_key(t.table->rows[k].key, keys, most, &n);
    }
    if (is_below && strchr(t.path + length + 1, '.') == NULL) add_key(t.path + length + 1, keys, most, &n);
  }
  return n;
}

void model_unknown_key(reader *r, const yoke_yaml_node *map, int k, const char *path) {
  const char          *keys[MAX_SETTING_KEYS];
  const int            n   = model_setting_keys(path, keys, MAX_SETTING_KEYS);
  const yoke_yaml_node one = {
      .kind = YOKE_YAML_MAP, .n = 1, .keys = &map->keys[k], .items = &map->items[k], .file = map->file};
  model_check_keys(r, &one, keys, n);
}

void model_setting_map(reader *r, const yoke_yaml_node *map, const char *path, yoke_settings *out) {
  for (int k = 0; k < map->n; ++k) {
    const char           *key  = map->keys[k]->text;
    const yoke_yaml_node *node = map->items[k];
    const yoke_setting   *row  = yoke_setting_below(path, key);
    char                  name[YOKE_SETTING_PATH];
    yoke_setting_value    value;
    model_print(name, sizeof name, "%s.%s", path, key);
    const char *below = yoke_setting_path(name);
    model_enter(r, path, NULL);
    const bool has_names =
        below != NULL && (strcmp(below, YOKE_COUPLING_PATH) == 0 || strcmp(below, YOKE_SUBSYSTEM_PATH) == 0);
    const bool is_other = row != NULL && row->type == YOKE_SETTING_OTHER && row->refused == NULL;
    if (has_names || is_other) continue; /* read_couplings, read_subsystems, read_substeps */
    if (below != NULL && node->kind == YOKE_YAML_MAP) {
      model_setting_map(r, node, below, out);
    } else if (row != NULL && (row->refused != NULL || !yoke_yaml_is_nothing(node))) {
      if (model_setting(r, path, row, map->keys[k], node, &value) && !yoke_settings_add(out, &value))
        model_out_of_memory(r);
    } else if (row == NULL && below == NULL) {
      model_unknown_key(r, map, k, path);
    } else if (!yoke_yaml_is_nothing(node)) {
      model_expected(r, node, key, "a map ('name: value')");
    }
  }
}
