/* Settings of the co-simulation: every key and word is checked and kept (yoke_cosimulation_def). The run without a split reads
 * `energy` only. */
#include "io/model_reader.h"
#include "base/text.h"
#include "coupling/formulation.h"
#include "coupling/scheme.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 64, NOT_GIVEN = -2 };

typedef enum value_type {
  TYPE_WORD,     /* char [size] */
  TYPE_POSITIVE, /* double */
  TYPE_SHARE,
  TYPE_NUMBER,
  TYPE_NODES,   /* double [2] */
  TYPE_INTEGER, /* int */
  TYPE_BOOLEAN, /* bool */
  TYPE_NAME     /* char [size]: a subsystem */
} value_type;

typedef struct setting {
  const char *key;
  value_type  type;
  size_t      at, size; /* where the value goes, and its room */
  quantity    q;
  int         min, max;       /* TYPE_INTEGER */
  const char *words[9];       /* TYPE_WORD */
  const char *(*more)(int i); /* TYPE_WORD: further words from a list of the program; NULL behind the last */
} setting;

/* A formulation or scheme is known here as soon as it is in its list. */
static const char *formulation_word(int i) {
  return i < yoke_formulation_n() ? yoke_formulation_at(i)->name : NULL;
}

static const char *scheme_word(int i) {
  return i < yoke_scheme_n() ? yoke_scheme_at(i)->name : NULL;
}

#define OF_COUPLING(member)                                                                                            \
  .at = offsetof(yoke_coupling_choice, member), .size = sizeof(((yoke_coupling_choice *)0)->member)
#define OF_MASTER(member)                                                                                              \
  .at = offsetof(yoke_cosimulation_def, member), .size = sizeof(((yoke_cosimulation_def *)0)->member)

/* Keys that may stand for all couplings and for one. */
static const setting coupling_settings[] = {
    {.key   = "formulation",
     .type  = TYPE_WORD,
     .words = {"constitutive", "stabilized-index-2", "baumgarte", "weighted", "projection", "stabilized-index-2-mu",
               "stabilized-index-1", "kinematic"},
     .more  = formulation_word,
     OF_COUPLING(formulation)},
    {.key   = "decomposition",
     .type  = TYPE_WORD,
     .words = {"force/force", "force/displacement", "displacement/force", "displacement/displacement"},
     OF_COUPLING(decomposition)},
    {.key = "extension", .type = TYPE_WORD, .words = {"none", "d", "i"}, OF_COUPLING(extension)},
    {.key = "feedthrough", .type = TYPE_BOOLEAN, OF_COUPLING(feedthrough)},
    {.key = "index", .type = TYPE_INTEGER, .min = 1, .max = 3, OF_COUPLING(index)},
    {.key = "beta", .type = TYPE_POSITIVE, .q = Q_TIME, OF_COUPLING(beta)},
    {.key = "gamma", .type = TYPE_POSITIVE, .q = Q_ANY, OF_COUPLING(gamma)},
    {.key = "mu", .type = TYPE_POSITIVE, .q = Q_NUMBER, OF_COUPLING(mu)},
    {.key = "a", .type = TYPE_NUMBER, .q = Q_NUMBER, OF_COUPLING(a)},
    {.key = "b", .type = TYPE_NUMBER, .q = Q_NUMBER, OF_COUPLING(b)},
    {.key = "relaxation", .type = TYPE_SHARE, .q = Q_NUMBER, OF_COUPLING(relaxation)},
    {.key = "nodes", .type = TYPE_NODES, OF_COUPLING(nodes)},
    {.key = "prescribed", .type = TYPE_NAME, OF_COUPLING(prescribed)},
    {.key = "force", .type = TYPE_WORD, .words = {"exact", "reduced", "approximate"}, OF_COUPLING(force)},
    {.key = "order_force", .type = TYPE_INTEGER, .min = 0, .max = 5, OF_COUPLING(order_force)},
    {.key = "order_motion", .type = TYPE_INTEGER, .min = 0, .max = 5, OF_COUPLING(order_motion)},
    {.key = "motion", .type = TYPE_WORD, .words = {"same", "derivative"}, OF_COUPLING(motion)},
    {.key = "outputs", .type = TYPE_WORD, .words = {"parallel", "current", "sequential", "held"}, OF_COUPLING(outputs)},
};

static const setting master_settings[] = {
    {.key   = "scheme",
     .type  = TYPE_WORD,
     .words = {"semi-implicit", "explicit", "implicit", "waveform"},
     .more  = scheme_word,
     OF_MASTER(scheme)},
    {.key = "sequence", .type = TYPE_WORD, .words = {"jacobi", "gauss-seidel"}, OF_MASTER(sequence)},
    {.key = "start", .type = TYPE_WORD, .words = {"ramp", "ramp-low", "graded", "exact"}, OF_MASTER(start)},
    {.key   = "jacobian",
     .type  = TYPE_WORD,
     .words = {"finite-difference", "analytic", "directional", "broyden"},
     OF_MASTER(jacobian)},
    {.key = "final_update", .type = TYPE_BOOLEAN, OF_MASTER(final_update)},
    {.key = "corrections", .type = TYPE_INTEGER, .min = 1, .max = 1000, OF_MASTER(corrections)},
    {.key = "joint_tolerance", .type = TYPE_POSITIVE, .q = Q_LENGTH, OF_MASTER(joint_tolerance)},
    {.key = "energy", .type = TYPE_WORD, .words = {"monitor", "correct", "off"}, OF_MASTER(energy)},
    {.key = "energy_cap", .type = TYPE_POSITIVE, .q = Q_ANY, OF_MASTER(energy_cap)},
    {.key = "relaxation", .type = TYPE_SHARE, .q = Q_NUMBER, OF_MASTER(relaxation)},
    {.key   = "predictor",
     .type  = TYPE_WORD,
     .words = {"extrapolation", "least-squares", "acceleration", "acceleration-relaxed"},
     OF_MASTER(predictor)},
    {.key = "samples", .type = TYPE_INTEGER, .min = 1, .max = 100, OF_MASTER(samples)},
    {.key = "order_acceleration", .type = TYPE_INTEGER, .min = 0, .max = 5, OF_MASTER(order_acceleration)},
    {.key = "acceleration_weight", .type = TYPE_NUMBER, .q = Q_NUMBER, OF_MASTER(acceleration_weight)},
    {.key = "update", .type = TYPE_BOOLEAN, OF_MASTER(update)},
};

static const setting corrector_settings[] = {
    {.key = "rtol", .type = TYPE_POSITIVE, .q = Q_NUMBER, OF_MASTER(corrector_rtol)},
    {.key = "atol", .type = TYPE_POSITIVE, .q = Q_ANY, OF_MASTER(corrector_atol)},
    {.key = "tau", .type = TYPE_POSITIVE, .q = Q_NUMBER, OF_MASTER(corrector_tau)},
    {.key = "max_iterations", .type = TYPE_INTEGER, .min = 1, .max = 1000, OF_MASTER(max_iterations)},
};

static yoke_cosimulation_def cosimulation_default(void) {
  return (yoke_cosimulation_def){.scheme              = "semi-implicit",
                                 .sequence            = "jacobi",
                                 .start               = "ramp",
                                 .order               = NOT_GIVEN,
                                 .order_max           = 5,
                                 .order_rule          = "ida",
                                 .predictor           = "extrapolation",
                                 .order_acceleration  = -1,
                                 .acceleration_weight = NAN,
                                 .update              = true,
                                 .jacobian            = "finite-difference",
                                 .final_update        = true,
                                 .corrector_tau       = 0.33,
                                 .energy              = "monitor",
                                 .couplings           = {.decomposition = "force/force",
                                                         .extension     = "none",
                                                         .a             = 1,
                                                         .b             = 1,
                                                         .nodes         = {1.0 / 3.0, 2.0 / 3.0},
                                                         .force         = "exact",
                                                         .motion        = "same",
                                                         .outputs       = "parallel",
                                                         .order_force   = -1,
                                                         .order_motion  = -1}};
}

static yoke_split_part *find_part(const yoke_model *m, const char *name) {
  for (int k = 0; k < m->n_parts; ++k) {
    if (strcmp(m->parts[k].name, name) == 0) return &m->parts[k];
  }
  return NULL;
}

/* Without a split the names of subsystems mean nothing. */
static bool is_part(const yoke_model *m, const char *name) {
  return m->n_parts == 0 || find_part(m, name) != NULL;
}

/* Inner nodes of a step: increasing, inside (0, 1). */
static bool read_nodes(reader *r, const yoke_yaml_node *node, double out[2]) {
  double value[2];
  if (!model_numbers(r, r->scopes[0], node, "nodes", Q_NUMBER, 2, 2, value, NULL)) return false;
  for (int k = 0; k < 2; ++k) {
    if (value[k] <= (k == 0 ? 0 : value[k - 1]) || value[k] >= 1) {
      return model_mistake(r, node, "nodes", "found %g, expected increasing numbers between 0 and 1", value[k]);
    }
  }
  memcpy(out, value, sizeof value);
  return true;
}

static bool read_part_name(reader *r, const yoke_yaml_node *node, const setting *s, char *out) {
  if (yoke_yaml_is_nothing(node) || node->kind != YOKE_YAML_SCALAR)
    return model_expected(r, node, s->key, "the name of a subsystem");
  if (!is_part(r->model, node->text))
    return model_mistake(r, node, s->key, "found '%.60s', expected the name of a subsystem", node->text);
  model_print(out, s->size, "%s", node->text);
  return true;
}

static int list_words(const setting *s, const char *words[MAX_WORDS]) {
  int n = 0;
  while (n < MODEL_COUNT(s->words) && s->words[n] != NULL) {
    words[n] = s->words[n];
    ++n;
  }
  for (int i = 0; s->more != NULL && n < MAX_WORDS && s->more(i) != NULL; ++i) {
    bool is_new = true;
    for (int k = 0; k < n; ++k) is_new = is_new && strcmp(words[k], s->more(i)) != 0;
    if (is_new) words[n++] = s->more(i);
  }
  return n;
}

/* Reads one key into the struct `target` that the table is about. */
static bool read_setting(reader *r, const setting *s, const yoke_yaml_node *node, void *target) {
  const scope *root  = r->scopes[0];
  char        *place = (char *)target + s->at;
  double       value;
  long         whole;
  bool         truth;
  int          n = 0;
  switch (s->type) {
  case TYPE_WORD: {
    const char *words[MAX_WORDS];
    n              = list_words(s, words);
    const int word = model_word(r, node, s->key, words, n);
    if (word < 0) return false;
    model_print(place, s->size, "%s", words[word]);
    return true;
  }
  case TYPE_POSITIVE:
  case TYPE_NUMBER:
  case TYPE_SHARE:
    if (s->type == TYPE_POSITIVE ? !model_positive(r, root, node, s->key, s->q, &value)
                                 : !model_number(r, root, node, s->key, s->q, &value))
      return false;
    if (s->type == TYPE_SHARE && !(value > 0 && value <= 2))
      return model_mistake(r, node, s->key, "found %g, expected a share of the new value in (0, 2]", value);
    memcpy(place, &value, sizeof value);
    return true;
  case TYPE_INTEGER:
    if (!model_integer(r, root, node, s->key, s->min, s->max, &whole)) return false;
    n = (int)whole;
    memcpy(place, &n, sizeof n);
    return true;
  case TYPE_BOOLEAN:
    if (!model_boolean(r, node, s->key, &truth)) return false;
    memcpy(place, &truth, sizeof truth);
    return true;
  case TYPE_NODES: {
    double nodes[2] = {0.0, 0.0};
    if (!read_nodes(r, node, nodes)) return false;
    memcpy(place, nodes, sizeof nodes);
    return true;
  }
  case TYPE_NAME: return read_part_name(r, node, s, place);
  }
  return false;
}

static const setting *find_setting(const setting *list, int n, const char *key) {
  for (int k = 0; k < n; ++k) {
    if (strcmp(list[k].key, key) == 0) return &list[k];
  }
  return NULL;
}

static const setting *find_coupling_setting(const char *key) {
  return find_setting(coupling_settings, MODEL_COUNT(coupling_settings), key);
}

/* Keys of the predictor belong to the master, but may stand below `couplings` too. */
static const setting *find_predictor_setting(const char *key) {
  static const char *const keys[] = {"predictor", "samples", "order_acceleration", "acceleration_weight", "update"};
  for (int k = 0; k < MODEL_COUNT(keys); ++k) {
    if (strcmp(keys[k], key) == 0) return find_setting(master_settings, MODEL_COUNT(master_settings), key);
  }
  return NULL;
}

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

static void unknown_coupling_key(reader *r, const yoke_yaml_node *map, int k, bool inside_one) {
  const char *key = map->keys[k]->text;
  if (!inside_one && map->items[k]->kind == YOKE_YAML_MAP) {
    const char *nearest = yoke_names_nearest(&r->connection_names, key);
    model_mistake(r, map->keys[k], key, "found the name of no connection, expected a connection or a setting%s%s%s",
                  nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                  nearest == NULL ? "" : "'?");
    return;
  }
  const char *keys[MODEL_COUNT(coupling_settings)];
  for (int i = 0; i < MODEL_COUNT(coupling_settings); ++i) keys[i] = coupling_settings[i].key;
  const yoke_yaml_node one = {
      .kind = YOKE_YAML_MAP, .n = 1, .keys = &map->keys[k], .items = &map->items[k], .file = map->file};
  model_check_keys(r, &one, keys, MODEL_COUNT(keys));
}

/* Settings of one coupling, on top of those for all. */
static void read_own(reader *r, const yoke_yaml_node *key, const yoke_yaml_node *node) {
  yoke_cosimulation_def *c = &r->model->cosimulation;
  const yoke_yaml_node  *map;
  model_enter(r, "cosimulation.couplings", key->text);
  if (model_map(r, node, NULL, &map) && map != NULL) {
    yoke_coupling_choice *more = realloc(c->own, ((size_t)c->n_own + 1) * sizeof *more);
    if (more == NULL) {
      model_out_of_memory(r);
      return;
    }
    c->own                    = more;
    yoke_coupling_choice *own = &c->own[c->n_own++];
    *own                      = c->couplings;
    own->name                 = yoke_text_copy(key->text);
    if (own->name == NULL) model_out_of_memory(r);
    for (int k = 0; k < map->n; ++k) {
      const setting *s = find_coupling_setting(map->keys[k]->text);
      if (s != NULL) {
        read_setting(r, s, map->items[k], own);
      } else if (find_predictor_setting(map->keys[k]->text) != NULL) {
        model_mistake(
            r, map->keys[k], map->keys[k]->text,
            "found a setting of the predictor for one coupling, expected it below 'cosimulation': it is one for all");
      } else {
        unknown_coupling_key(r, map, k, true);
      }
    }
  }
  model_enter(r, "cosimulation.couplings", NULL);
}

/* `couplings:` holds keys for all couplings, and names of connections and chains with keys of their own. */
static void read_couplings(reader *r, const yoke_yaml_node *node) {
  yoke_cosimulation_def *c = &r->model->cosimulation;
  const yoke_yaml_node  *map;
  model_enter(r, "cosimulation.couplings", NULL);
  if (!model_map(r, node, NULL, &map) || map == NULL) return;
  for (int k = 0; k < map->n; ++k) { /* those for all first, whatever the order in the file */
    const char    *key = map->keys[k]->text;
    const setting *s = find_coupling_setting(key), *predictor = find_predictor_setting(key);
    if (s != NULL) read_setting(r, s, map->items[k], &c->couplings);
    if (predictor != NULL) read_setting(r, predictor, map->items[k], c);
  }
  for (int k = 0; k < map->n; ++k) {
    const char *key = map->keys[k]->text;
    if (find_coupling_setting(key) != NULL || find_predictor_setting(key) != NULL) continue;
    if (names_a_coupling(r, key))
      read_own(r, map->keys[k], map->items[k]);
    else
      unknown_coupling_key(r, map, k, false);
  }
}

static bool is_auto(const yoke_yaml_node *node) {
  return node->kind == YOKE_YAML_SCALAR && strcmp(node->text, "auto") == 0;
}

static void read_order(reader *r, const yoke_yaml_node *node) {
  static const char *const keys[]  = {"min", "max", "rule"};
  static const char *const rules[] = {"ida", "conservative"};
  yoke_cosimulation_def   *c       = &r->model->cosimulation;
  long                     order, limit[2] = {0, 5};
  if (!is_auto(node) && node->kind != YOKE_YAML_MAP) {
    if (model_integer(r, r->scopes[0], node, "order", 0, 5, &order)) c->order = (int)order;
    return;
  }
  c->order = -1;
  if (is_auto(node)) return;
  model_enter(r, "cosimulation.order", NULL);
  model_check_keys(r, node, keys, 3);
  const yoke_yaml_node *rule = yoke_yaml_find(node, "rule");
  const int             word = rule == NULL ? -1 : model_word(r, rule, "rule", rules, 2);
  if (word >= 0) model_print(c->order_rule, sizeof c->order_rule, "%s", rules[word]);
  bool ok = true;
  for (int k = 0; k < 2; ++k) {
    const yoke_yaml_node *value = yoke_yaml_find(node, keys[k]);
    if (value != NULL) ok = model_integer(r, r->scopes[0], value, keys[k], 0, 5, &limit[k]) && ok;
  }
  if (ok && limit[0] > limit[1])
    model_mistake(r, node, "min", "found %ld, expected at most max, which is %ld", limit[0], limit[1]);
  model_enter(r, "cosimulation", NULL);
  c->order_min = (int)limit[0];
  c->order_max = (int)limit[1];
}

static void read_step_atol(reader *r, const yoke_yaml_node *atol, double out[3]) {
  static const char *const keys[] = {"position", "velocity", "coupling"};
  double                   value;
  if (atol == NULL) return;
  if (atol->kind != YOKE_YAML_MAP) {
    if (!model_positive(r, r->scopes[0], atol, "atol", Q_ANY, &value)) return;
    for (int k = 0; k < 3; ++k) out[k] = value;
    return;
  }
  model_enter(r, "cosimulation.step.atol", NULL);
  model_check_keys(r, atol, keys, 3);
  for (int k = 0; k < 3; ++k) {
    const yoke_yaml_node *node = yoke_yaml_find(atol, keys[k]);
    if (node != NULL) model_positive(r, r->scopes[0], node, keys[k], Q_ANY, &out[k]);
  }
  model_enter(r, "cosimulation.step", NULL);
}

/* Least and largest H_new / H of accepted steps, around 1. */
static void read_step_ratio(reader *r, const yoke_yaml_node *node, double out[2]) {
  double value[2];
  if (node == NULL || !model_numbers(r, r->scopes[0], node, "ratio", Q_NUMBER, 2, 2, value, NULL)) return;
  if (!(value[0] > 0.0 && value[0] < 1.0 && value[1] > 1.0)) {
    model_mistake(r, node, "ratio", "found %g and %g, expected a number in (0, 1) and one above 1", value[0], value[1]);
    return;
  }
  memcpy(out, value, sizeof value);
}

/* Steps that are given must be in order: min <= initial <= max. */
static void check_steps(reader *r, const yoke_yaml_node *node, const yoke_cosimulation_def *c) {
  const double min = c->step_min, initial = c->step_initial, max = c->step_max; /* 0: not given */
  if (min > 0.0 && max > 0.0 && min > max)
    model_mistake(r, node, "min", "found %g s, expected at most max, which is %g s", min, max);
  else if (initial > 0.0 && max > 0.0 && initial > max)
    model_mistake(r, node, "initial", "found %g s, expected at most max, which is %g s", initial, max);
  else if (initial > 0.0 && initial < min)
    model_mistake(r, node, "initial", "found %g s, expected at least min, which is %g s", initial, min);
}

static void read_step(reader *r, const yoke_yaml_node *node) {
  static const char *const keys[]       = {"rtol", "atol",   "estimator", "initial",  "min",
                                           "max",  "safety", "ratio",     "dead_zone"};
  static const char *const estimators[] = {"md", "cv", "le"};
  const scope             *s            = r->scopes[0];
  yoke_cosimulation_def   *c            = &r->model->cosimulation;
  c->has_control                        = is_auto(node) || node->kind == YOKE_YAML_MAP;
  if (is_auto(node)) return;
  if (node->kind != YOKE_YAML_MAP) {
    model_positive(r, s, node, "step", Q_TIME, &c->step);
    return;
  }
  model_enter(r, "cosimulation.step", NULL);
  model_check_keys(r, node, keys, MODEL_COUNT(keys));
  const yoke_yaml_node *rtol = yoke_yaml_find(node, "rtol"), *estimator = yoke_yaml_find(node, "estimator"),
                       *initial = yoke_yaml_find(node, "initial"), *max = yoke_yaml_find(node, "max"),
                       *min = yoke_yaml_find(node, "min"), *safety = yoke_yaml_find(node, "safety"),
                       *dead_zone = yoke_yaml_find(node, "dead_zone");
  if (rtol != NULL) model_positive(r, s, rtol, "rtol", Q_NUMBER, &c->step_rtol);
  if (initial != NULL) model_positive(r, s, initial, "initial", Q_TIME, &c->step_initial);
  if (max != NULL) model_positive(r, s, max, "max", Q_TIME, &c->step_max);
  if (min != NULL) model_positive(r, s, min, "min", Q_TIME, &c->step_min);
  if (safety != NULL) model_positive(r, s, safety, "safety", Q_NUMBER, &c->step_safety);
  bool has_dead_zone = true;
  if (dead_zone != NULL && model_boolean(r, dead_zone, "dead_zone", &has_dead_zone)) c->step_free = !has_dead_zone;
  read_step_ratio(r, yoke_yaml_find(node, "ratio"), c->step_ratio);
  check_steps(r, node, c);
  const int word = estimator == NULL ? -1 : model_word(r, estimator, "estimator", estimators, 3);
  if (word >= 0) model_print(c->estimator, sizeof c->estimator, "%s", estimators[word]);
  read_step_atol(r, yoke_yaml_find(node, "atol"), c->step_atol);
  model_enter(r, "cosimulation", NULL);
}

static void read_substeps(reader *r, const yoke_yaml_node *node) {
  const yoke_yaml_node *map;
  long                  n;
  if (!model_map(r, node, "substeps", &map) || map == NULL) return;
  for (int k = 0; k < map->n; ++k) {
    const char      *name = map->keys[k]->text;
    yoke_split_part *part = find_part(r->model, name);
    if (part == NULL && r->model->n_parts > 0) {
      model_mistake(r, map->keys[k], "substeps", "found '%.60s', expected the name of a subsystem", name);
    } else if (model_integer(r, r->scopes[0], map->items[k], "substeps", 1, 1000000, &n) && part != NULL) {
      part->substeps = (int)n;
    }
  }
}

static void read_corrector(reader *r, const yoke_yaml_node *node) {
  const char           *keys[MODEL_COUNT(corrector_settings)];
  const yoke_yaml_node *map;
  if (!model_map(r, node, "corrector", &map) || map == NULL) return;
  for (int k = 0; k < MODEL_COUNT(corrector_settings); ++k) keys[k] = corrector_settings[k].key;
  model_enter(r, "cosimulation.corrector", NULL);
  model_check_keys(r, map, keys, MODEL_COUNT(keys));
  for (int k = 0; k < map->n; ++k) {
    const setting *s = find_setting(corrector_settings, MODEL_COUNT(corrector_settings), map->keys[k]->text);
    if (s != NULL) read_setting(r, s, map->items[k], &r->model->cosimulation);
  }
  model_enter(r, "cosimulation", NULL);
}

/* Without a step there is control, and without an order the control chooses it; predictors by accelerations are explicit. */
static void settle_defaults(yoke_cosimulation_def *c) {
  if (!(c->step > 0.0)) c->has_control = true;
  if (!c->has_scheme && strncmp(c->predictor, "acceleration", strlen("acceleration")) == 0)
    model_print(c->scheme, sizeof c->scheme, "explicit");
  if (c->order == NOT_GIVEN) c->order = c->has_control ? -1 : 1;
}

void model_read_cosimulation(reader *r) {
  static const struct {
    const char *key;
    void (*read)(reader *r, const yoke_yaml_node *node);
  } others[] = {{"order", read_order},
                {"step", read_step},
                {"substeps", read_substeps},
                {"corrector", read_corrector},
                {"couplings", read_couplings}};
  const char            *keys[MODEL_COUNT(master_settings) + MODEL_COUNT(others)];
  const yoke_yaml_node  *map;
  yoke_cosimulation_def *c = &r->model->cosimulation;
  *c                       = cosimulation_default();
  r->model->energy         = -1;
  model_enter(r, "", NULL);
  if (!model_map(r, yoke_yaml_find(r->root, "cosimulation"), "cosimulation", &map) || map == NULL) {
    settle_defaults(c);
    return;
  }
  for (int k = 0; k < MODEL_COUNT(master_settings); ++k) keys[k] = master_settings[k].key;
  for (int k = 0; k < MODEL_COUNT(others); ++k) keys[MODEL_COUNT(master_settings) + k] = others[k].key;
  model_enter(r, "cosimulation", NULL);
  model_check_keys(r, map, keys, MODEL_COUNT(keys));
  for (int k = 0; k < map->n; ++k) {
    const char           *key  = map->keys[k]->text;
    const yoke_yaml_node *node = map->items[k];
    const setting        *s    = find_setting(master_settings, MODEL_COUNT(master_settings), key);
    if (yoke_yaml_is_nothing(node)) continue;
    const bool is_read = s != NULL && read_setting(r, s, node, c);
    if (is_read && strcmp(key, "energy") == 0) r->model->energy = strcmp(c->energy, "off") == 0 ? 0 : 1;
    if (is_read && strcmp(key, "scheme") == 0) c->has_scheme = true;
    for (int i = 0; i < MODEL_COUNT(others); ++i) {
      if (strcmp(key, others[i].key) == 0) others[i].read(r, node);
      model_enter(r, "cosimulation", NULL);
    }
  }
  settle_defaults(c);
  model_warn_unused(r, yoke_yaml_find(map, "couplings"));
  model_enter(r, "", NULL);
}
