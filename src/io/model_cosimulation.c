/* Settings of the co-simulation: every key and word is checked here; the run without a split reads `energy` only. */
#include "io/model_reader.h"
#include <string.h>

typedef enum value_type {
  TYPE_WORD,
  TYPE_POSITIVE,
  TYPE_SHARE,
  TYPE_INTEGER,
  TYPE_BOOLEAN,
  TYPE_NUMBER,
  TYPE_NODES,
  TYPE_NAME
} value_type;

typedef struct setting {
  const char *key;
  value_type  type;
  quantity    q;
  int         min, max; /* TYPE_INTEGER */
  const char *words[9]; /* TYPE_WORD */
} setting;

/* Keys that may stand for all couplings and for one. */
static const setting coupling_settings[] = {
    {.key   = "formulation",
     .type  = TYPE_WORD,
     .words = {"constitutive", "stabilized-index-2", "baumgarte", "weighted", "projection", "stabilized-index-2-mu",
               "stabilized-index-1", "kinematic"}},
    {.key   = "decomposition",
     .type  = TYPE_WORD,
     .words = {"force/force", "force/displacement", "displacement/force", "displacement/displacement"}},
    {.key = "extension", .type = TYPE_WORD, .words = {"none", "d", "i"}},
    {.key = "index", .type = TYPE_INTEGER, .min = 1, .max = 3},
    {.key = "beta", .type = TYPE_POSITIVE, .q = Q_TIME},
    {.key = "gamma", .type = TYPE_POSITIVE, .q = Q_ANY},
    {.key = "mu", .type = TYPE_POSITIVE, .q = Q_NUMBER},
    {.key = "a", .type = TYPE_NUMBER, .q = Q_NUMBER},
    {.key = "b", .type = TYPE_NUMBER, .q = Q_NUMBER},
    {.key = "relaxation", .type = TYPE_SHARE, .q = Q_NUMBER},
    {.key = "nodes", .type = TYPE_NODES},
    {.key = "prescribed", .type = TYPE_NAME},
    {.key = "force", .type = TYPE_WORD, .words = {"exact", "reduced", "approximate"}},
    {.key = "order_force", .type = TYPE_INTEGER, .min = 0, .max = 5},
    {.key = "order_motion", .type = TYPE_INTEGER, .min = 0, .max = 5},
    {.key = "motion", .type = TYPE_WORD, .words = {"same", "derivative"}},
    {.key = "outputs", .type = TYPE_WORD, .words = {"parallel", "current", "sequential", "held"}},
    {.key   = "predictor",
     .type  = TYPE_WORD,
     .words = {"extrapolation", "least-squares", "acceleration", "acceleration-relaxed"}},
    {.key = "samples", .type = TYPE_INTEGER, .min = 1, .max = 100},
    {.key = "order_acceleration", .type = TYPE_INTEGER, .min = 0, .max = 5},
    {.key = "acceleration_weight", .type = TYPE_NUMBER, .q = Q_NUMBER},
    {.key = "update", .type = TYPE_BOOLEAN},
};

static const setting master_settings[] = {
    {.key = "scheme", .type = TYPE_WORD, .words = {"semi-implicit", "explicit", "implicit", "waveform"}},
    {.key = "sequence", .type = TYPE_WORD, .words = {"jacobi", "gauss-seidel"}},
    {.key = "start", .type = TYPE_WORD, .words = {"ramp", "ramp-low", "graded", "exact"}},
    {.key = "jacobian", .type = TYPE_WORD, .words = {"finite-difference", "analytic", "directional", "broyden"}},
    {.key = "final_update", .type = TYPE_BOOLEAN},
    {.key = "energy", .type = TYPE_WORD, .words = {"monitor", "correct", "off"}},
    {.key = "energy_cap", .type = TYPE_POSITIVE, .q = Q_ANY},
    {.key = "relaxation", .type = TYPE_SHARE, .q = Q_NUMBER},
    {.key   = "predictor",
     .type  = TYPE_WORD,
     .words = {"extrapolation", "least-squares", "acceleration", "acceleration-relaxed"}},
    {.key = "samples", .type = TYPE_INTEGER, .min = 1, .max = 100},
    {.key = "order_acceleration", .type = TYPE_INTEGER, .min = 0, .max = 5},
    {.key = "acceleration_weight", .type = TYPE_NUMBER, .q = Q_NUMBER},
    {.key = "update", .type = TYPE_BOOLEAN},
};

static bool is_part(const yoke_model *m, const char *name) {
  for (int k = 0; k < m->n_parts; ++k) {
    if (strcmp(m->parts[k].name, name) == 0) return true;
  }
  return m->n_parts == 0;
}

/* Inner nodes of a step: increasing, inside (0, 1). */
static bool check_nodes(reader *r, const yoke_yaml_node *node) {
  double value[4];
  int    n;
  if (!model_numbers(r, r->scopes[0], node, "nodes", Q_NUMBER, 1, 4, value, &n)) return false;
  for (int k = 0; k < n; ++k) {
    if (value[k] <= (k == 0 ? 0 : value[k - 1]) || value[k] >= 1) {
      return model_mistake(r, node, "nodes", "found %g, expected increasing numbers between 0 and 1", value[k]);
    }
  }
  return true;
}

static bool check_setting(reader *r, const setting *s, const yoke_yaml_node *node) {
  const scope *root = r->scopes[0];
  double       value;
  long         whole;
  bool         truth;
  int          n = 0;
  switch (s->type) {
  case TYPE_WORD:
    while (n < MODEL_COUNT(s->words) && s->words[n] != NULL) ++n;
    return model_word(r, node, s->key, s->words, n) >= 0;
  case TYPE_POSITIVE: return model_positive(r, root, node, s->key, s->q, &value);
  case TYPE_NUMBER: return model_number(r, root, node, s->key, s->q, &value);
  case TYPE_SHARE:
    if (!model_number(r, root, node, s->key, s->q, &value)) return false;
    return (value > 0 && value <= 2) ||
           model_mistake(r, node, s->key, "found %g, expected a share of the new value in (0, 2]", value);
  case TYPE_INTEGER: return model_integer(r, root, node, s->key, s->min, s->max, &whole);
  case TYPE_BOOLEAN: return model_boolean(r, node, s->key, &truth);
  case TYPE_NODES: return check_nodes(r, node);
  case TYPE_NAME:
    if (yoke_yaml_is_nothing(node) || node->kind != YOKE_YAML_SCALAR)
      return model_expected(r, node, s->key, "the name of a subsystem");
    return is_part(r->model, node->text) ||
           model_mistake(r, node, s->key, "found '%.60s', expected the name of a subsystem", node->text);
  }
  return false;
}

static const setting *find_setting(const setting *list, int n, const char *key) {
  for (int k = 0; k < n; ++k) {
    if (strcmp(list[k].key, key) == 0) return &list[k];
  }
  return NULL;
}

/* `couplings:` holds keys for all couplings, and names of connections with keys of their own. */
static void read_couplings(reader *r, const yoke_yaml_node *node, bool inside_one) {
  const char *keys[MODEL_COUNT(coupling_settings)];
  for (int k = 0; k < MODEL_COUNT(coupling_settings); ++k) keys[k] = coupling_settings[k].key;
  const yoke_yaml_node *map;
  if (!model_map(r, node, "couplings", &map) || map == NULL) return;
  for (int k = 0; k < map->n; ++k) {
    const char    *key = map->keys[k]->text;
    const setting *s   = find_setting(coupling_settings, MODEL_COUNT(coupling_settings), key);
    if (s != NULL) {
      check_setting(r, s, map->items[k]);
    } else if (!inside_one && yoke_names_find(&r->connection_names, key) != YOKE_NAMES_NONE) {
      model_enter(r, "cosimulation.couplings", key);
      read_couplings(r, map->items[k], true);
      model_enter(r, "cosimulation.couplings", NULL);
    } else if (!inside_one && map->items[k]->kind == YOKE_YAML_MAP) {
      const char *nearest = yoke_names_nearest(&r->connection_names, key);
      model_mistake(r, map->keys[k], key, "found the name of no connection, expected a connection or a setting%s%s%s",
                    nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                    nearest == NULL ? "" : "'?");
    } else {
      const yoke_yaml_node one = {
          .kind = YOKE_YAML_MAP, .n = 1, .keys = &map->keys[k], .items = &map->items[k], .file = map->file};
      model_check_keys(r, &one, keys, MODEL_COUNT(keys));
    }
  }
}

static bool is_auto(const yoke_yaml_node *node) {
  return node->kind == YOKE_YAML_SCALAR && strcmp(node->text, "auto") == 0;
}

static void read_order(reader *r, const yoke_yaml_node *node) {
  static const char *const keys[] = {"min", "max"};
  long                     order, limit[2] = {0, 5};
  if (is_auto(node)) return;
  if (node->kind != YOKE_YAML_MAP) {
    model_integer(r, r->scopes[0], node, "order", 0, 5, &order);
    return;
  }
  model_check_keys(r, node, keys, 2);
  for (int k = 0; k < 2; ++k) {
    const yoke_yaml_node *value = yoke_yaml_find(node, keys[k]);
    if (value != NULL && !model_integer(r, r->scopes[0], value, keys[k], 0, 5, &limit[k])) return;
  }
  if (limit[0] > limit[1]) model_mistake(r, node, "order", "found min %ld above max %ld", limit[0], limit[1]);
}

static void read_step(reader *r, const yoke_yaml_node *node) {
  static const char *const keys[] = {"rtol", "atol", "estimator", "initial", "max"}, *const atol_keys[] = {"position",
                                                                                                           "velocity",
                                                                                                           "coupling"};
  static const char *const estimators[] = {"md", "cv", "le"};
  const scope             *s            = r->scopes[0];
  double                   value;
  if (is_auto(node)) return;
  if (node->kind != YOKE_YAML_MAP) {
    model_positive(r, s, node, "step", Q_TIME, &value);
    return;
  }
  model_enter(r, "cosimulation.step", NULL);
  model_check_keys(r, node, keys, MODEL_COUNT(keys));
  const yoke_yaml_node *rtol = yoke_yaml_find(node, "rtol"), *atol = yoke_yaml_find(node, "atol"),
                       *estimator = yoke_yaml_find(node, "estimator"), *initial = yoke_yaml_find(node, "initial"),
                       *max = yoke_yaml_find(node, "max");
  if (rtol != NULL) model_positive(r, s, rtol, "rtol", Q_NUMBER, &value);
  if (initial != NULL) model_positive(r, s, initial, "initial", Q_TIME, &value);
  if (max != NULL) model_positive(r, s, max, "max", Q_TIME, &value);
  if (estimator != NULL) model_word(r, estimator, "estimator", estimators, 3);
  if (atol != NULL && atol->kind == YOKE_YAML_MAP) {
    model_check_keys(r, atol, atol_keys, 3);
    for (int k = 0; k < atol->n; ++k) model_positive(r, s, atol->items[k], "atol", Q_ANY, &value);
  } else if (atol != NULL) {
    model_positive(r, s, atol, "atol", Q_ANY, &value);
  }
  model_enter(r, "cosimulation", NULL);
}

static void read_substeps(reader *r, const yoke_yaml_node *node) {
  const yoke_yaml_node *map;
  long                  n;
  if (!model_map(r, node, "substeps", &map) || map == NULL) return;
  for (int k = 0; k < map->n; ++k) {
    if (!is_part(r->model, map->keys[k]->text)) {
      model_mistake(r, map->keys[k], "substeps", "found '%.60s', expected the name of a subsystem", map->keys[k]->text);
    } else {
      model_integer(r, r->scopes[0], map->items[k], "substeps", 1, 1000000, &n);
    }
  }
}

void model_read_cosimulation(reader *r) {
  static const char *const others[] = {"order", "step", "substeps", "couplings"};
  const char              *keys[MODEL_COUNT(master_settings) + MODEL_COUNT(others)];
  const yoke_yaml_node    *map;
  r->model->energy = -1;
  model_enter(r, "", NULL);
  if (!model_map(r, yoke_yaml_find(r->root, "cosimulation"), "cosimulation", &map) || map == NULL) return;
  for (int k = 0; k < MODEL_COUNT(master_settings); ++k) keys[k] = master_settings[k].key;
  for (int k = 0; k < MODEL_COUNT(others); ++k) keys[MODEL_COUNT(master_settings) + k] = others[k];
  model_enter(r, "cosimulation", NULL);
  model_check_keys(r, map, keys, MODEL_COUNT(keys));
  for (int k = 0; k < map->n; ++k) {
    const char           *key  = map->keys[k]->text;
    const yoke_yaml_node *node = map->items[k];
    const setting        *s    = find_setting(master_settings, MODEL_COUNT(master_settings), key);
    if (yoke_yaml_is_nothing(node)) continue;
    if (s != NULL && check_setting(r, s, node) && strcmp(key, "energy") == 0)
      r->model->energy = strcmp(node->text, "off") == 0 ? 0 : 1;
    if (strcmp(key, "order") == 0) read_order(r, node);
    if (strcmp(key, "step") == 0) read_step(r, node);
    if (strcmp(key, "substeps") == 0) read_substeps(r, node);
    if (strcmp(key, "couplings") == 0) {
      model_enter(r, "cosimulation.couplings", NULL);
      read_couplings(r, node, false);
      model_enter(r, "cosimulation", NULL);
    }
  }
  model_enter(r, "", NULL);
}
