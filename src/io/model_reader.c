#include "io/model_reader.h"
#include "base/memory.h"
#include "base/text.h"
#include "frames/units.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct quantity_info {
  const char *text;         /* "a mass [kg]" */
  int         dimension[4]; /* exponents of m, kg, s, rad */
} quantity_info;

static const quantity_info quantities[] = {
    [Q_NUMBER]            = {"a number without unit", {0, 0, 0, 0}},
    [Q_ANY]               = {"a number", {0, 0, 0, 0}},
    [Q_LENGTH]            = {"a length [m]", {1, 0, 0, 0}},
    [Q_MASS]              = {"a mass [kg]", {0, 1, 0, 0}},
    [Q_TIME]              = {"a time [s]", {0, 0, 1, 0}},
    [Q_ANGLE]             = {"an angle [rad]", {0, 0, 0, 1}},
    [Q_VELOCITY]          = {"a velocity [m/s]", {1, 0, -1, 0}},
    [Q_ANGULAR_VELOCITY]  = {"an angular velocity [rad/s]", {0, 0, -1, 1}},
    [Q_ACCELERATION]      = {"an acceleration [m/s^2]", {1, 0, -2, 0}},
    [Q_INERTIA]           = {"a moment of inertia [kg*m^2]", {2, 1, 0, 0}},
    [Q_FORCE]             = {"a force [N]", {1, 1, -2, 0}},
    [Q_TORQUE]            = {"a torque [N*m]", {2, 1, -2, 0}},
    [Q_STIFFNESS]         = {"a stiffness [N/m]", {0, 1, -2, 0}},
    [Q_DAMPING]           = {"a damping constant [N*s/m]", {0, 1, -1, 0}},
    [Q_TORSION_STIFFNESS] = {"a torsional stiffness [N*m/rad]", {2, 1, -2, -1}},
    [Q_TORSION_DAMPING]   = {"a torsional damping constant [N*m*s/rad]", {2, 1, -1, -1}},
    [Q_QUADRATIC_DRAG]    = {"a quadratic drag constant [N*s^2/m^2]", {-1, 1, 0, 0}},
    [Q_PER_LENGTH]        = {"a number per length [1/m]", {-1, 0, 0, 0}},
    [Q_PER_TIME]          = {"a number per time [1/s]", {0, 0, -1, 0}},
};

/* ---- texts ---- */

size_t model_print(char *text, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(text, size, format, arguments);
  va_end(arguments);
  if (n < 0 || size == 0) return 0;
  return (size_t)n < size ? (size_t)n : size - 1;
}

/* ---- mistakes ---- */

void model_position(const yoke_yaml_node *at, char *text, size_t size) {
  if (at == NULL) {
    model_print(text, size, "model");
  } else if (at->line == 0) {
    model_print(text, size, "%s", at->file);
  } else {
    model_print(text, size, "%s:%d:%d", at->file, at->line, at->column);
  }
}

enum { MISTAKE_SIZE = 2048 + 2 * NAME_SIZE };

/* "m.yaml:12:3: key 'bodies.rod.mass': <text>" */
static void describe_mistake(const reader *r, const yoke_yaml_node *at, const char *key, const char *format,
                             va_list arguments, char text[MISTAKE_SIZE]) {
  const bool both = r->where[0] != '\0' && key != NULL, any = r->where[0] != '\0' || key != NULL;
  model_position(at, text, MISTAKE_SIZE / 2);
  size_t used = strlen(text);
  if (any) {
    used += model_print(text + used, MISTAKE_SIZE - used, ": key '%s%s%s'", r->where, both ? "." : "",
                        key == NULL ? "" : key);
  }
  used += model_print(text + used, MISTAKE_SIZE - used, ": ");
  vsnprintf(text + used, MISTAKE_SIZE - used, format, arguments);
}

bool model_mistake(reader *r, const yoke_yaml_node *at, const char *key, const char *format, ...) {
  if (++*(r->forgives ? &r->n_forgiven : &r->n_errors) > MAX_REPORTED || r->is_out_of_memory) return false;
  char    text[MISTAKE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  describe_mistake(r, at, key, format, arguments, text);
  va_end(arguments);
  if (r->forgives)
    yoke_warn(r->ctx, "%s; the split does not fit, the model runs as a whole without it", text);
  else
    yoke_fail(r->ctx, YOKE_E_MODEL, "%s", text);
  return false;
}

void model_warning(reader *r, const yoke_yaml_node *at, const char *key, const char *format, ...) {
  char    text[MISTAKE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  describe_mistake(r, at, key, format, arguments, text);
  va_end(arguments);
  yoke_warn(r->ctx, "%s", text);
}

void model_warn_if_negative(reader *r, const yoke_yaml_node *at, const char *key, double value) {
  if (!(value < 0.0)) return;
  model_warning(r, at, key, "found %g, less than 0: %s; write a positive value unless this is meant", value,
                strstr(key, "damping") != NULL ? "it drives the motion, and energy grows"
                                               : "it pushes away from its free position");
}

bool model_out_of_memory(reader *r) {
  if (!r->is_out_of_memory) yoke_out_of_memory(r->ctx, "reading the model");
  r->is_out_of_memory = true;
  ++r->n_errors;
  return false;
}

bool model_has_memory(reader *r) {
  return !r->model->arena.has_failed || model_out_of_memory(r);
}

bool model_unreadable(reader *r, yoke_status status) {
  if (status == YOKE_E_MEMORY) r->is_out_of_memory = true;
  if (status == YOKE_E_IO) r->lacks_file = true;
  ++r->n_errors;
  return false;
}

bool model_no_file(reader *r, const yoke_yaml_node *at, const char *key, const char *path) {
  r->lacks_file = true;
  return model_mistake(r, at, key, "found '%.200s', expected a file that can be read (looked for '%.200s')", at->text,
                       path);
}

const char *model_describe(const yoke_yaml_node *node, char *text, size_t size) {
  if (node == NULL || yoke_yaml_is_nothing(node)) {
    model_print(text, size, "nothing");
  } else if (node->kind == YOKE_YAML_SCALAR) {
    model_print(text, size, "'%.60s%s'", node->text, strlen(node->text) > 60 ? "..." : "");
  } else if (node->kind == YOKE_YAML_LIST) {
    model_print(text, size, "a list of %d", node->n);
  } else {
    model_print(text, size, "a map");
  }
  return text;
}

bool model_expected(reader *r, const yoke_yaml_node *at, const char *key, const char *expected) {
  char text[100];
  return model_mistake(r, at, key, "found %s, expected %s", model_describe(at, text, sizeof text), expected);
}

void model_enter(reader *r, const char *section, const char *name) {
  model_print(r->where, sizeof r->where, "%s%s%s", section, name == NULL || section[0] == '\0' ? "" : ".",
              name == NULL ? "" : name);
}

/* ---- keys and words ---- */

/* Words of other programs. */
static const char *const synonyms[][2] = {
    {"hinge", "revolute"},
    {"pin", "revolute"},
    {"rotational", "revolute"},
    {"rotation", "revolute"},
    {"ball", "spherical"},
    {"socket", "spherical"},
    {"slider", "translational"},
    {"prismatic", "translational"},
    {"sliding", "translational"},
    {"cardan", "universal"},
    {"hooke", "universal"},
    {"weld", "fixed"},
    {"welded", "fixed"},
    {"clamp", "fixed"},
    {"link", "distance"},
    {"strut", "distance"},
    {"rope", "distance"},
    {"spring", "spring-damper"},
    {"damper", "spring-damper"},
    {"dashpot", "spring-damper"},
    {"torsion", "torsion-spring"},
    {"rotational-spring", "torsion-spring"},
    {"mount", "bushing"},
    {"mass", "mass1d"},
    {"mass-1d", "mass1d"},
    {"point", "particle"},
    {"point-mass", "particle"},
    {"body", "rigid"},
    {"rigid-body", "rigid"},
    {"3d", "rigid"},
    {"2d", "planar"},
    {"plane", "planar"},
    {"moment", "torque"},
    {"friction", "drag"},
    {"sine", "harmonic"},
    {"sinusoidal", "harmonic"},
    {"pulse", "impulse"},
    {"joints", "connections"},
    {"constraints", "connections"},
    {"length", "free_length"},
    {"rest-length", "free_length"},
};

/* The word of list[n] that means the same, else the nearest one; NULL: none. '_' and capital letters are as good as '-' and small ones. */
static const char *meant(const char *text, const char *const *list, int n) {
  char   word[40];
  size_t k = 0;
  for (; text[k] != '\0' && k + 1 < sizeof word; ++k)
    word[k] = text[k] == '_' || text[k] == ' ' ? '-' : (char)tolower((unsigned char)text[k]);
  word[k] = '\0';
  for (int i = 0; i < n; ++i) {
    if (strcmp(word, list[i]) == 0) return list[i];
    for (int s = 0; s < MODEL_COUNT(synonyms); ++s) {
      if (strcmp(synonyms[s][0], word) == 0 && strcmp(synonyms[s][1], list[i]) == 0) return list[i];
    }
  }
  return yoke_text_nearest(text, list, n);
}

/* "; did you mean 'x'?" or "". */
static const char *hint(const char *nearest, char *text, size_t size) {
  if (nearest == NULL) return "";
  model_print(text, size, "; did you mean '%s'?", nearest);
  return text;
}

static void join(const char *const *list, int n, char *text, size_t size) {
  size_t used = 0;
  text[0]     = '\0';
  for (int i = 0; i < n && used < size; ++i) {
    used += model_print(text + used, size - used, "%s%s", i == 0 ? "" : ", ", list[i]);
  }
}

bool model_check_keys(reader *r, const yoke_yaml_node *map, const char *const *list, int n) {
  bool good = true;
  for (int i = 0; i < map->n; ++i) {
    const yoke_yaml_node *key   = map->keys[i];
    bool                  known = false;
    for (int k = 0; k < n && !known; ++k) known = strcmp(key->text, list[k]) == 0;
    if (known) continue;
    char        did_you_mean[100], expected[600];
    const char *nearest = meant(key->text, list, n);
    join(list, n, expected, sizeof expected);
    char shown[80];
    model_print(shown, sizeof shown, "%.60s", key->text);
    good = model_mistake(r, key, shown, "found an unknown key, expected one of: %s%s", expected,
                         hint(nearest, did_you_mean, sizeof did_you_mean));
  }
  return good;
}

bool model_map(reader *r, const yoke_yaml_node *node, const char *key, const yoke_yaml_node **out) {
  *out = NULL;
  if (node == NULL || yoke_yaml_is_nothing(node)) return true;
  if (node->kind != YOKE_YAML_MAP) return model_expected(r, node, key, "a map ('name: value')");
  *out = node;
  return true;
}

int model_word(reader *r, const yoke_yaml_node *node, const char *key, const char *const *list, int n) {
  const bool is_word = node != NULL && !yoke_yaml_is_nothing(node) && node->kind == YOKE_YAML_SCALAR;
  for (int i = 0; is_word && i < n; ++i) {
    if (strcmp(node->text, list[i]) == 0) return i;
  }
  char expected[600], all[500], did_you_mean[100];
  join(list, n, all, sizeof all);
  model_print(expected, sizeof expected, "one of: %s", all);
  if (!is_word) {
    model_expected(r, node, key, expected);
    return -1;
  }
  model_mistake(r, node, key, "found '%.60s', expected %s%s", node->text, expected,
                hint(meant(node->text, list, n), did_you_mean, sizeof did_you_mean));
  return -1;
}

bool model_boolean(reader *r, const yoke_yaml_node *node, const char *key, bool *out) {
  static const char *const words[] = {"true", "false"};
  const int                i       = model_word(r, node, key, words, 2);
  if (i < 0) return false;
  *out = i == 0;
  return true;
}

bool model_is_name(const char *text) {
  if (!isalpha((unsigned char)text[0]) && text[0] != '_') return false;
  for (const char *p = text; *p != '\0'; ++p) {
    if (!isalnum((unsigned char)*p) && *p != '_') return false;
  }
  return strlen(text) <= 64;
}

bool model_check_name(reader *r, const yoke_yaml_node *key, bool is_parameter) {
  static const char *const words[] = {"ground", "total", "time"}, *const symbols[] = {"t", "i", "pi"};
  const char *const *reserved = is_parameter ? symbols : words;
  if (!model_is_name(key->text)) {
    return model_mistake(r, key, NULL,
                         "found the name '%.60s', expected letters, digits and '_' (at most 64, no digit first)",
                         key->text);
  }
  for (int k = 0; k < (is_parameter ? MODEL_COUNT(symbols) : MODEL_COUNT(words)); ++k) {
    if (strcmp(key->text, reserved[k]) == 0) {
      return model_mistake(r, key, NULL, "found the name '%s', which has a meaning of its own; expected another name",
                           key->text);
    }
  }
  return true;
}

bool model_check_symbol(reader *r, const scope *s, const yoke_yaml_node *key) {
  static const char *const words[] = {"t", "i", "pi", "e"};
  double                   unused;
  bool                     is_bad = false;
  for (int k = 0; k < MODEL_COUNT(words); ++k) {
    if (strcmp(key->text, words[k]) == 0)
      return model_mistake(r, key, NULL, "found the name '%s', which has a meaning of its own; expected another name",
                           key->text);
  }
  if (model_parameter(r, s, key->text, &unused, &is_bad) == YOKE_SYMBOL_UNKNOWN && !is_bad) return true;
  return model_mistake(r, key, NULL, "found the name '%s' of a parameter, expected another name", key->text);
}

bool model_is_free(reader *r, const yoke_yaml_node *key, const char *name) {
  const struct {
    const yoke_names *names;
    const char       *what;
  } list[] = {{&r->body_names, "a body"},
              {&r->rod_names, "a body"},
              {&r->connection_names, "a connection"},
              {&r->foreign_names, "a subsystem"},
              {&r->input_names, "an input"}};
  for (int k = 0; k < MODEL_COUNT(list); ++k) {
    if (yoke_names_find(list[k].names, name) != YOKE_NAMES_NONE)
      return model_mistake(r, key, NULL, "found the name '%s' of %s, expected another name", name, list[k].what);
  }
  return true;
}

bool model_short_text(reader *r, const yoke_yaml_node *map, const char *key, size_t most, char **out) {
  const yoke_yaml_node *node = yoke_yaml_find(map, key);
  if (node == NULL) return true;
  if (yoke_yaml_is_nothing(node) || node->kind != YOKE_YAML_SCALAR || strlen(node->text) > most ||
      strpbrk(node->text, "\n\r\t") != NULL) {
    char expected[80];
    model_print(expected, sizeof expected, "a text of one line with at most %zu letters", most);
    return model_expected(r, node, key, expected);
  }
  *out = yoke_arena_text(&r->model->arena, node->text);
  return model_has_memory(r);
}

char *model_where(reader *r, const yoke_yaml_node *at, const char *key) {
  char position[1024], where[1024 + 2 * NAME_SIZE];
  model_position(at, position, sizeof position);
  model_print(where, sizeof where, "%s: key '%s%s%s'", position, r->where, key != NULL ? "." : "",
              key != NULL ? key : "");
  return yoke_arena_text(&r->model->arena, where);
}

/* ---- expressions ---- */

typedef struct lookup_context {
  reader               *r;
  const scope          *s;
  variables             v;
  const yoke_yaml_node *at;
  const char           *key;
  bool                  bad;             /* met a name whose own mistake is already recorded */
  bool                  has_units;       /* of parameters */
  const char           *text;            /* of the expression */
  bool                  is_probe, reads; /* only asked whether the text reads quantities of the model */
} lookup_context;

/* May such expressions read quantities of the model that are variables? */
static bool reads_model(variables v) {
  return v == VARIABLES_STATES || v == VARIABLES_FORMULA || v == VARIABLES_EVENT;
}

/* A quantity of the model where it cannot be read: the message says what can be. */
static yoke_symbol_kind refuse(lookup_context *c, const char *name) {
  static const char *const expected[] = {
      [VARIABLES_NONE]    = "a number: expressions of parameters only",
      [VARIABLES_TIME]    = "an expression of t alone",
      [VARIABLES_LAW]     = "an expression of x, v and t",
      [VARIABLES_MASS]    = "an expression of i",
      [VARIABLES_FORMULA] = "x, v, t, positions, velocities, accelerations, coordinates and forces of rigid joints; "
                            "energies, gaps and mismatches can be read in 'outputs'",
      [VARIABLES_STATES]  = "positions, velocities, accelerations, coordinates and forces of rigid joints; energies, "
                            "gaps and mismatches can be read in 'outputs'",
      [VARIABLES_EVENT]   = "positions, velocities, accelerations, coordinates of joints and forces of connections; "
                            "energies, gaps and mismatches can be read in 'outputs'",
  };
  c->bad = true;
  model_mistake(c->r, c->at, c->key, "found '%s', a quantity of the model, expected %s", name, expected[c->v]);
  return YOKE_SYMBOL_UNKNOWN;
}

static yoke_symbol_kind refuse_element(lookup_context *c, const char *name) {
  c->bad = true;
  model_mistake(
      c->r, c->at, c->key,
      "found '%s', the force of a force element or of a flexible joint, expected a function of what its law reads: "
      "write that law here too; 'outputs' and 'events' can read the force",
      name);
  return YOKE_SYMBOL_UNKNOWN;
}

static yoke_symbol_kind lookup_quantity(lookup_context *c, const char *name, double *value, int *variable) {
  yoke_variable        found = {0};
  const model_quantity kind  = model_find_quantity(c->r, c->s, name, &found, value);
  if (c->is_probe) {
    c->reads = c->reads || (kind != QUANTITY_NONE && kind != QUANTITY_CONSTANT);
    return kind != QUANTITY_NONE ? YOKE_SYMBOL_VARIABLE : YOKE_SYMBOL_UNKNOWN;
  }
  switch (kind) {
  case QUANTITY_NONE: return YOKE_SYMBOL_UNKNOWN;
  case QUANTITY_CONSTANT: return YOKE_SYMBOL_CONSTANT;
  case QUANTITY_SHOWN: return refuse(c, name);
  case QUANTITY_OF_ELEMENT:
    if (reads_model(c->v) && c->v != VARIABLES_EVENT) return refuse_element(c, name);
    break;
  case QUANTITY_FELT:
  case QUANTITY_OF_MOTION: break;
  }
  if (!reads_model(c->v)) return refuse(c, name);
  *variable = model_variable(c->r, &found);
  return *variable < 0 ? YOKE_SYMBOL_UNKNOWN : YOKE_SYMBOL_VARIABLE;
}

static yoke_symbol_kind find_symbol(lookup_context *c, const char *name, double *value, int *variable) {
  static const char *const law[] = {"x", "v", "t"};
  const bool               is_t  = strcmp(name, "t") == 0;
  *variable                      = 0;
  if (is_t && c->v != VARIABLES_NONE && c->v != VARIABLES_LAW && c->v != VARIABLES_MASS) return YOKE_SYMBOL_VARIABLE;
  if (c->v == VARIABLES_FORMULA && (strcmp(name, "x") == 0 || strcmp(name, "v") == 0)) {
    *variable = model_deflection(c->r, name[0] == 'v');
    return *variable < 0 ? YOKE_SYMBOL_UNKNOWN : YOKE_SYMBOL_VARIABLE;
  }
  if (c->v == VARIABLES_MASS && strcmp(name, "i") == 0) return YOKE_SYMBOL_VARIABLE;
  for (int k = 0; k < 3 && c->v == VARIABLES_LAW; ++k) {
    *variable = k;
    if (strcmp(name, law[k]) == 0) return YOKE_SYMBOL_VARIABLE;
  }
  if (strcmp(name, "i") == 0) {
    for (const scope *s = c->s; s != NULL; s = s->parent) {
      if (!s->has_index) continue;
      *value = s->index;
      return YOKE_SYMBOL_CONSTANT;
    }
  }
  const yoke_symbol_kind kind = model_parameter(c->r, c->s, name, value, &c->bad);
  if (kind != YOKE_SYMBOL_UNKNOWN) return kind;
  if (c->v != VARIABLES_OUTPUTS) return lookup_quantity(c, name, value, variable);
  *variable = model_reference(c->r, c->s, name);
  if (*variable >= 0) return YOKE_SYMBOL_VARIABLE;
  yoke_variable unused = {0};
  return model_find_quantity(c->r, c->s, name, &unused, value) == QUANTITY_CONSTANT ? YOKE_SYMBOL_CONSTANT
                                                                                    : YOKE_SYMBOL_UNKNOWN;
}

static yoke_symbol_kind lookup(void *user, const char *name, double *value, int *variable) {
  lookup_context        *c    = user;
  const yoke_symbol_kind kind = find_symbol(c, name, value, variable);
  if (kind == YOKE_SYMBOL_UNKNOWN && model_is_refused(c->r, c->s, name)) c->bad = true;
  return kind;
}

static bool lookup_unit(void *user, const char *name, int unit[4]) {
  lookup_context *c     = user;
  const bool      known = model_parameter_unit(c->s, name, unit);
  c->has_units          = c->has_units || known;
  return known;
}

static void warn_of_clash(void *user, const char *text) {
  const lookup_context *c = user;
  model_warning(c->r, c->at, c->key,
                "found '%.60s', whose parameters have units that do not fit: %s; numbers are used as they are: correct "
                "the units, or leave them out",
                c->text, text);
}

/* A force of a connection that exists, for one that does not. */
static bool suggest_force(const lookup_context *c, const char *object, char *text, size_t size) {
  const int   connection = model_find(c->s, &c->r->connection_names, object);
  const char *close      = connection >= 0 ? object : yoke_names_nearest(&c->r->connection_names, object);
  const int   found      = close != NULL ? model_find(c->s, &c->r->connection_names, close) : -1;
  if (found < 0) return false;
  const int n = yoke_connection_n_rows(&c->r->model->connections[found]);
  if (n == 1)
    model_print(text, size, "'%s.force[1]'", close);
  else
    model_print(text, size, "one of '%s.force[1]' to '%s.force[%d]'", close, close, n);
  return true;
}

/* States of a body are named by the part in front of the last dot. */
static void suggest(void *user, const char *name, char *text, size_t size) {
  lookup_context *c       = user;
  const char     *nearest = NULL;
  for (const scope *s = c->s; s != NULL && nearest == NULL; s = s->parent)
    nearest = yoke_names_nearest(&s->parameter_names, name);
  const char *dot              = strrchr(name, '.');
  const bool  reads_quantities = reads_model(c->v) || c->v == VARIABLES_OUTPUTS;
  if (nearest == NULL && reads_quantities) nearest = yoke_names_nearest(&c->r->input_names, name);
  if (nearest == NULL && dot != NULL && reads_quantities) {
    char body[NAME_SIZE];
    model_print(body, sizeof body, "%.*s", (int)(dot - name), name);
    if (strncmp(dot + 1, "force", 5) == 0 && suggest_force(c, body, text, size)) return;
    const char *close = model_find(c->s, &c->r->body_names, body) == YOKE_NAMES_NONE
                            ? yoke_names_nearest(&c->r->body_names, body)
                            : NULL;
    if (close != NULL) {
      model_print(text, size, "'%s%s'", close, dot);
      return;
    }
  }
  if (nearest != NULL) model_print(text, size, "'%s'", nearest);
}

/* The same m, kg, s. Radians are counted only against pure numbers: 10 N*m is a fine torsional stiffness, 30 deg is no exponent,
 * and no length either. */
static bool fits(const int found[4], const int expected[4]) {
  for (int k = 0; k < 3; ++k) {
    if (found[k] != expected[k]) return false;
  }
  const bool plain = found[0] == 0 && found[1] == 0 && found[2] == 0;
  return !plain || found[3] == 0 || found[3] == expected[3];
}

/* Numbers beside parameters may be meant in any unit (0.1*k, with 0.1 m in mind): what only units of parameters say is a warning. */
static bool check_dimension(reader *r, const yoke_yaml_node *at, const char *key, const yoke_expression *expression,
                            quantity q, bool has_units) {
  int  dimension[4];
  char unit[60];
  if (q == Q_ANY || !yoke_expression_dimension(expression, dimension)) return true;
  if (q == Q_ANGULAR_VELOCITY && strstr(yoke_expression_text(expression), "Hz") != NULL &&
      strstr(yoke_expression_text(expression), "pi") == NULL) {
    return model_mistake(r, at, key, "found '%.60s', turns per second, expected %s: write 2*pi*(%.60s)",
                         yoke_expression_text(expression), quantities[q].text, yoke_expression_text(expression));
  }
  if (fits(dimension, quantities[q].dimension)) return true;
  yoke_unit_text(dimension, unit, sizeof unit);
  if (has_units) {
    model_warning(r, at, key,
                  "found '%.60s', which has the unit %s by its parameters, expected %s; the number is used as it is: "
                  "correct the unit of the parameter, or leave it out",
                  yoke_expression_text(expression), unit, quantities[q].text);
    return true;
  }
  return model_mistake(r, at, key, "found '%.60s' with the unit %s, expected %s", yoke_expression_text(expression),
                       unit, quantities[q].text);
}

bool model_expression_text(reader *r, const scope *s, const yoke_yaml_node *at, const char *key, const char *text,
                           variables v, quantity q, yoke_expression **out) {
  lookup_context     context = {.r = r, .s = s, .v = v, .at = at, .key = key, .text = text};
  const yoke_symbols symbols = {
      .lookup = lookup, .unit = lookup_unit, .clash = warn_of_clash, .suggest = suggest, .user = &context};
  char message[400]        = "";
  *out                     = NULL;
  const yoke_status status = yoke_expression_compile(text, &symbols, message, sizeof message, out);
  if (status == YOKE_E_MEMORY) return model_out_of_memory(r);
  if (context.bad) {
    yoke_expression_destroy(out);
    return false;
  }
  if (status != YOKE_OK) {
    yoke_yaml_node place  = *at;
    int            column = 0, used = 0;
    if (sscanf(message, "column %d: %n", &column, &used) == 1 && used > 0) {
      place.column += column - 1 + (at->quoted ? 1 : 0);
    } else {
      used = 0;
    }
    return model_mistake(r, &place, key, "found '%.60s': %s", text, message + used);
  }
  if (check_dimension(r, at, key, *out, q, context.has_units)) return true;
  yoke_expression_destroy(out);
  return false;
}

/* Compiles without recording what is wrong; *is_constant: it is good and reads no variable. */
static lookup_context probe(reader *r, const scope *s, const char *text, variables v, bool *is_constant) {
  lookup_context     context = {.r = r, .s = s, .v = v, .is_probe = true};
  const yoke_symbols symbols = {.lookup = lookup, .user = &context};
  yoke_expression   *unused  = NULL;
  char               message[400];
  *is_constant = yoke_expression_compile(text, &symbols, message, sizeof message, &unused) == YOKE_OK &&
                 yoke_expression_is_constant(unused);
  yoke_expression_destroy(&unused);
  return context;
}

bool model_reads_quantities(reader *r, const scope *s, const char *text) {
  bool unused;
  return probe(r, s, text, VARIABLES_LAW, &unused).reads;
}

bool model_is_number(reader *r, const scope *s, const char *text) {
  bool is_constant;
  (void)probe(r, s, text, VARIABLES_NONE, &is_constant);
  return is_constant;
}

bool model_expression(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, variables v, quantity q,
                      yoke_expression **out) {
  *out = NULL;
  if (node == NULL || yoke_yaml_is_nothing(node) || node->kind != YOKE_YAML_SCALAR)
    return model_expected(r, node, key, quantities[q].text);
  return model_expression_text(r, s, node, key, node->text, v, q, out);
}

/* ---- numbers ---- */

/* A plain decimal number, the common case: no need to compile. */
static bool plain_number(const char *text, double *out) {
  const char *p = text;
  if (*p == '+' || *p == '-') ++p;
  if (!isdigit((unsigned char)*p) && !(*p == '.' && isdigit((unsigned char)p[1]))) return false;
  if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) return false;
  char        *end;
  const double value = strtod(text, &end);
  while (*end == ' ') ++end;
  if (*end != '\0' || !isfinite(value)) return false;
  *out = value;
  return true;
}

/* `unit` NULL: not asked for. */
static bool read_number(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, quantity q, double *out,
                        bool *has_unit, int unit[4]) {
  if (node == NULL || yoke_yaml_is_nothing(node) || node->kind != YOKE_YAML_SCALAR)
    return model_expected(r, node, key, quantities[q].text);
  if (plain_number(node->text, out)) return true;
  yoke_expression *expression;
  if (!model_expression_text(r, s, node, key, node->text, VARIABLES_NONE, q, &expression)) return false;
  const double value = yoke_expression_evaluate(expression, NULL, NULL);
  if (unit != NULL) *has_unit = yoke_expression_dimension(expression, unit);
  yoke_expression_destroy(&expression);
  if (!isfinite(value)) {
    return model_mistake(r, node, key, "found '%.60s' = %g, expected a finite number", node->text, value);
  }
  *out = value;
  return true;
}

bool model_number(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, quantity q, double *out) {
  return read_number(r, s, node, key, q, out, NULL, NULL);
}

bool model_number_with_unit(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, double *out,
                            bool *has_unit, int unit[4]) {
  *has_unit = false;
  return read_number(r, s, node, key, Q_ANY, out, has_unit, unit);
}

bool model_positive(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, quantity q, double *out) {
  if (!model_number(r, s, node, key, q, out)) return false;
  if (*out > 0) return true;
  return model_mistake(r, node, key, "found %g, expected %s greater than 0", *out, quantities[q].text);
}

bool model_not_negative(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, quantity q,
                        double *out) {
  if (!model_number(r, s, node, key, q, out)) return false;
  if (*out >= 0) return true;
  return model_mistake(r, node, key, "found %g, expected %s, 0 or greater", *out, quantities[q].text);
}

bool model_integer(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, long min, long max,
                   long *out) {
  double value = 0;
  if (!model_number(r, s, node, key, Q_NUMBER, &value)) return false;
  if (value != floor(value) || value < (double)min || value > (double)max) {
    return model_mistake(r, node, key, "found %.17g, expected a whole number from %ld to %ld", value, min, max);
  }
  *out = (long)value;
  return true;
}

bool model_numbers(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, quantity q, int min, int max,
                   double *out, int *n) {
  if (node == NULL || node->kind != YOKE_YAML_LIST || node->n < min || node->n > max) {
    char expected[120], to[40] = "";
    if (min < max) model_print(to, sizeof to, " to %d", max);
    model_print(expected, sizeof expected, "a list of %d%s numbers, each %s", min, to, quantities[q].text);
    return model_expected(r, node, key, expected);
  }
  bool good = true;
  for (int k = 0; k < max; ++k) {
    out[k] = 0;
    if (k < node->n) good = model_number(r, s, node->items[k], key, q, &out[k]) && good;
  }
  if (n != NULL) *n = node->n;
  return good;
}

bool model_optional(reader *r, const scope *s, const yoke_yaml_node *map, const char *key, quantity q, double *out) {
  const yoke_yaml_node *node = yoke_yaml_find(map, key);
  return node == NULL || model_number(r, s, node, key, q, out);
}

/* ---- names ---- */

bool model_index_text(reader *r, const scope *s, const yoke_yaml_node *at, const char *key, const char *text,
                      size_t length, long *out) {
  char copy[NAME_SIZE];
  if (length == 0 || length >= sizeof copy)
    return model_mistake(r, at, key, "found '%.60s', expected an index in brackets", at->text);
  model_print(copy, sizeof copy, "%.*s", (int)length, text);
  double value;
  if (!plain_number(copy, &value)) {
    yoke_expression *expression;
    if (!model_expression_text(r, s, at, key, copy, VARIABLES_NONE, Q_NUMBER, &expression)) return false;
    value = yoke_expression_evaluate(expression, NULL, NULL);
    yoke_expression_destroy(&expression);
  }
  if (!(fabs(value) < 1e9) || value != floor(value)) {
    return model_mistake(r, at, key, "found the index '%s' = %g, expected a whole number", copy, value);
  }
  *out = (long)value;
  return true;
}

bool model_fold_name(reader *r, const scope *s, const yoke_yaml_node *at, const char *key, const char *text, char *out,
                     size_t size) {
  size_t k = 0;
  for (const char *p = text; *p != '\0';) {
    if (k + 24 >= size) return model_mistake(r, at, key, "found a name longer than %zu letters", size);
    if (*p != '[') {
      out[k++] = *p++;
      continue;
    }
    const char *end   = p + 1;
    int         depth = 1;
    for (; *end != '\0' && depth > 0; ++end) depth += (*end == '[') - (*end == ']');
    long index = 0;
    if (depth != 0) return model_mistake(r, at, key, "found '%.60s', expected ']' behind the index", text);
    if (!model_index_text(r, s, at, key, p + 1, (size_t)(end - p) - 2, &index)) return false;
    k += model_print(out + k, size - k, "[%ld]", index);
    p = end;
  }
  out[k] = '\0';
  return true;
}

int model_find(const scope *s, const yoke_names *names, const char *name) {
  for (; s != NULL; s = s->parent) {
    char full[2 * NAME_SIZE];
    model_print(full, sizeof full, "%s%s", s->prefix, name);
    const int i = yoke_names_find(names, full);
    if (i != YOKE_NAMES_NONE) return i;
  }
  return YOKE_NAMES_NONE;
}

void model_refuse(reader *r, const char *full_name) {
  char *copy = yoke_arena_text(&r->model->arena, full_name);
  if (model_has_memory(r) && yoke_names_add(&r->refused_names, copy, 0) == YOKE_NAMES_NO_MEMORY) model_out_of_memory(r);
}

bool model_is_refused(const reader *r, const scope *s, const char *name) {
  if (r->refused_names.n == 0) return false;
  for (; s != NULL; s = s->parent) {
    char full[2 * NAME_SIZE];
    for (size_t k = model_print(full, sizeof full, "%s%s", s->prefix, name) + 1; k-- > 0;) {
      if (k > 0 && full[k] != '\0' && full[k] != '.' && full[k] != '[') continue;
      full[k] = '\0';
      if (yoke_names_find(&r->refused_names, full) != YOKE_NAMES_NONE) return true;
    }
  }
  return false;
}

int model_add_frame(reader *r, const yoke_yaml_node *at, const char *name, const yoke_frame *frame) {
  yoke_model *m = r->model;
  if (!model_grow(r, &m->frames, m->n_frames, &r->capacity_frames, sizeof *m->frames)) return -1;
  char *copy = yoke_arena_text(&m->arena, name);
  if (!model_has_memory(r)) return -1;
  switch (yoke_names_add(&r->frame_names, copy, m->n_frames)) {
  case YOKE_NAMES_ADDED: break;
  case YOKE_NAMES_EXISTS:
    model_mistake(r, at, NULL, "found a second frame '%s', expected different names", name);
    return -1;
  default: model_out_of_memory(r); return -1;
  }
  m->frames[m->n_frames]      = *frame;
  m->frames[m->n_frames].name = copy;
  return m->n_frames++;
}

/* A point of the ground written in place: [0, 0, 0]. */
static bool ground_point(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, int *out) {
  yoke_frame frame = {.body = YOKE_GROUND, .axes = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  if (!model_numbers(r, s, node, key, Q_LENGTH, 1, 3, frame.origin, NULL)) return false;
  char name[40];
  model_print(name, sizeof name, "ground/%d", r->model->n_frames);
  *out = model_add_frame(r, node, name, &frame);
  return *out >= 0;
}

/* "c[5]" on a chain of at least 5 masses: makes the frame. 0: not such a name, 1: done, -1: mistake recorded. */
static int chain_frame(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, const char *name,
                       int *out) {
  const char *bracket = strrchr(name, '[');
  if (bracket == NULL) return 0;
  char body[NAME_SIZE];
  model_print(body, sizeof body, "%.*s", (int)(bracket - name), name);
  const int i = model_find(s, &r->body_names, body);
  if (i < 0 || r->model->bodies[i].kind != YOKE_BODY_CHAIN) return 0;
  char      *end;
  const long mass = strtol(bracket + 1, &end, 10);
  const int  n    = r->model->bodies[i].chain == NULL ? 0 : r->model->bodies[i].chain->n;
  if (end[0] != ']' || end[1] != '\0') return 0;
  if (mass < 1 || mass > n) {
    model_mistake(r, node, key, "found mass %ld of chain '%s', expected 1 to %d", mass, r->model->bodies[i].name, n);
    return -1;
  }
  char full[2 * NAME_SIZE];
  model_print(full, sizeof full, "%s[%ld]", r->model->bodies[i].name, mass);
  yoke_frame frame = {.body = i, .mass = (int)mass - 1, .axes = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  *out             = model_add_frame(r, node, full, &frame);
  return *out >= 0 ? 1 : -1;
}

bool model_frame(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, int *out) {
  if (node != NULL && node->kind == YOKE_YAML_LIST) return ground_point(r, s, node, key, out);
  if (node == NULL || yoke_yaml_is_nothing(node) || node->kind != YOKE_YAML_SCALAR) {
    return model_expected(r, node, key, "a body, a frame ('body.frame') or a point of the ground ([x, y, z])");
  }
  char name[NAME_SIZE];
  if (!model_fold_name(r, s, node, key, node->text, name, sizeof name)) return false;
  *out = model_find(s, &r->frame_names, name);
  if (*out != YOKE_NAMES_NONE) return true;
  if (model_is_refused(r, s, name)) return false;
  const int done = chain_frame(r, s, node, key, name, out);
  if (done != 0) return done > 0;
  const int body = model_find(s, &r->body_names, name);
  if (body >= 0)
    return model_mistake(r, node, key, "found the chain '%s', expected one of its masses: %s[i]", name, name);
  char did_you_mean[NAME_SIZE];
  return model_mistake(r, node, key, "found '%s', expected the name of a body or frame%s", name,
                       hint(yoke_names_nearest(&r->frame_names, name), did_you_mean, sizeof did_you_mean));
}

/* ---- arrays and loops ---- */

bool model_grow(reader *r, void *items_pointer, int n, size_t *capacity, size_t size) {
  return yoke_grow(items_pointer, capacity, (size_t)n + 1, size) || model_out_of_memory(r);
}

void model_full_name(const scope *s, const char *name, bool counted, char *out, size_t size) {
  if (counted) {
    model_print(out, size, "%s%s[%ld]", s->prefix, name, (long)s->index);
  } else {
    model_print(out, size, "%s%s", s->prefix, name);
  }
}

/* False: there are mistakes, or copies that are not read for mistakes of those before them. */
static bool each_of_count(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node,
                          model_entry_reader *one) {
  const yoke_yaml_node *count = yoke_yaml_find(node, "count");
  long                  n     = 1;
  if (count == NULL) return one(r, s, key, node, false);
  if (!model_integer(r, s, count, "count", 0, MAX_COUNT, &n)) return false;
  const bool   had   = s->has_index;
  const double index = s->index;
  bool         good  = true;
  s->has_index       = true;
  for (long i = 1; i <= n && good; ++i) { /* the same mistake in every copy is told once */
    const int before = r->n_errors;
    s->index         = (double)i;
    good             = one(r, s, key, node, true) && r->n_errors == before;
  }
  s->has_index = had;
  s->index     = index;
  return good;
}

static void each(reader *r, scope *s, const char *section, bool takes_scalars, model_entry_reader *one) {
  char path[NAME_SIZE];
  model_print(path, sizeof path, "%s%s", s->prefix, section);
  model_enter(r, "", NULL);
  const yoke_yaml_node *map;
  if (!model_map(r, yoke_yaml_find(s->node, section), path, &map)) {
    const size_t n = strlen(s->prefix);
    model_print(path, sizeof path, "%.*s", (int)(n > 0 ? n - 1 : 0), s->prefix); /* without its dot */
    model_refuse(r, path);
  }
  if (map == NULL) return;
  for (int k = 0; k < map->n; ++k) {
    const yoke_yaml_node *key = map->keys[k], *node = map->items[k];
    const bool            fits = node->kind == YOKE_YAML_MAP || (takes_scalars && node->kind == YOKE_YAML_SCALAR);
    model_enter(r, path, key->text);
    bool good = model_check_name(r, key, false);
    if (good && !fits)
      good = model_expected(r, node, NULL,
                            takes_scalars ? "an expression, or a map ('value: ...')" : "a map ('kind: ...')");
    if (good && each_of_count(r, s, key, node, one)) continue;
    char name[NAME_SIZE];
    model_full_name(s, key->text, false, name, sizeof name);
    model_refuse(r, name);
  }
  model_enter(r, "", NULL);
}

void model_each(reader *r, scope *s, const char *section, model_entry_reader *one) {
  each(r, s, section, false, one);
}

void model_each_value(reader *r, scope *s, const char *section, model_entry_reader *one) {
  each(r, s, section, true, one);
}
