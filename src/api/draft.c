/* Draft of a model: a tree as the reader of model files gets it, grown by paths.
 *
 * Nodes have numbers, and a child is found by "number of its parent, times that was replaced, key" in one table: the time of a call does not depend on the size of
 * the draft. What was below a node that is replaced is not found any more. */
#include <yoke/draft.h>

#include "api/run.h"
#include "base/given.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "io/model_file.h"
#include "io/names.h"
#include "io/setting_tables.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TOLD = 20, MAX_KEY = 256, MAX_PATH = 1024, MAX_SHOWN = 300, ROOT = 0 };

typedef struct draft_node {
  yoke_yaml_node *node;
  int             n_replaced;
} draft_node;

/* What a call got wrong, and at which path: it is gone when the path, or one above it, is set anew. */
typedef struct draft_mistake {
  char *path, *text;
} draft_mistake;

struct yoke_draft {
  yoke_yaml     *yaml;
  const char    *name;
  size_t         n, capacity;
  draft_node    *nodes; /* [n] */
  yoke_names     children;
  int            n_mistakes;
  draft_mistake *mistakes; /* [n_mistakes] */
  size_t         capacity_mistakes;
  bool           is_out_of_memory;
};

/* ---- mistakes ---- */

static void free_mistake(draft_mistake *m) {
  free(m->path);
  free(m->text);
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
mistake(yoke_draft *d, const char *path, const char *format, ...) {
  char    what[MAX_SHOWN], text[3 * MAX_SHOWN];
  va_list arguments;
  if (d->is_out_of_memory) return;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  snprintf(text, sizeof text, "%.100s: key '%.300s': %s", d->name, path != NULL ? path : "", what);
  draft_mistake own = {.path = yoke_text_copy(path != NULL ? path : ""), .text = yoke_text_copy(text)};
  if (own.path != NULL && own.text != NULL &&
      yoke_grow(&d->mistakes, &d->capacity_mistakes, (size_t)d->n_mistakes + 1, sizeof *d->mistakes)) {
    d->mistakes[d->n_mistakes++] = own;
    return;
  }
  free_mistake(&own);
  d->is_out_of_memory = true;
}

/* What is set anew takes the place of all that was said at this path and below it. */
static void forget_mistakes(yoke_draft *d, const char *path) {
  const size_t length = strlen(path);
  int          n      = 0;
  for (int i = 0; i < d->n_mistakes; ++i) {
    const char *own = d->mistakes[i].path;
    if (strncmp(own, path, length) == 0 && (own[length] == '\0' || own[length] == '.'))
      free_mistake(&d->mistakes[i]);
    else
      d->mistakes[n++] = d->mistakes[i];
  }
  d->n_mistakes = n;
}

static int no_memory(yoke_draft *d) {
  d->is_out_of_memory = true;
  return -1;
}

/* ---- the tree ---- */

/* A number for a node; -1: out of memory. */
static int number_node(yoke_draft *d, yoke_yaml_node *node) {
  if (node == NULL || !yoke_grow(&d->nodes, &d->capacity, d->n + 1, sizeof *d->nodes)) return no_memory(d);
  d->nodes[d->n] = (draft_node){.node = node};
  return (int)d->n++;
}

static void child_key(const yoke_draft *d, int parent, const char *key, char text[MAX_KEY + 32]) {
  snprintf(text, MAX_KEY + 32, "%d %d %s", parent, d->nodes[parent].n_replaced, key);
}

/* A numbered node is a child of another; gives its number. */
static int remember(yoke_draft *d, int parent, const char *key, int child) {
  char text[MAX_KEY + 32];
  if (child < 0) return child;
  child_key(d, parent, key, text);
  const char *kept = yoke_yaml_keep_text(d->yaml, text, strlen(text));
  if (kept == NULL || yoke_names_add(&d->children, kept, child) == YOKE_NAMES_NO_MEMORY) return no_memory(d);
  return child;
}

/* The number of an entry: 1 to one more than there are; 0: none. */
static int entry_of(const yoke_yaml_node *list, const char *key) {
  char      *end;
  const long k = strtol(key, &end, 10);
  return *end == '\0' && key[0] >= '1' && key[0] <= '9' && k <= (long)list->n + 1 ? (int)k : 0;
}

/* A new entry of a list or map. NULL: out of memory. */
static yoke_yaml_node *append(yoke_draft *d, yoke_yaml_node *node, const char *key) {
  const bool      is_map = node->kind == YOKE_YAML_MAP;
  yoke_yaml_node *child  = yoke_yaml_new_scalar(d->yaml, node, "");
  yoke_yaml_node *name   = is_map ? yoke_yaml_new_scalar(d->yaml, node, key) : NULL;
  if (child == NULL || (is_map && name == NULL)) return NULL;
  return yoke_yaml_append(d->yaml, node, is_map ? &name : NULL, &child, 1) == YOKE_OK ? child : NULL;
}

/* The child of this key, which comes into being; -1: a mistake, or out of memory. */
static int child_of(yoke_draft *d, int parent, const char *key, const char *path) {
  yoke_yaml_node *node = d->nodes[parent].node;
  char            text[MAX_KEY + 32], shown[100];
  if (node->kind == YOKE_YAML_SCALAR && yoke_yaml_is_nothing(node)) node->kind = YOKE_YAML_MAP;
  if (node->kind == YOKE_YAML_SCALAR) {
    snprintf(shown, sizeof shown, "%.90s", node->text);
    mistake(d, path, "found the value '%s' on the way, expected keys", shown);
    return -1;
  }
  child_key(d, parent, key, text);
  const int known = yoke_names_find(&d->children, text);
  if (known != YOKE_NAMES_NONE) return known;
  const int entry = node->kind == YOKE_YAML_LIST ? entry_of(node, key) : 1;
  if (entry == 0) {
    mistake(d, path, "found '%s', expected the number of an entry, 1 to %d: this is a list", key, node->n + 1);
    return -1;
  }
  if (yoke_yaml_n_nodes(d->yaml) >= YOKE_YAML_MAX_NODES) {
    mistake(d, path, "found more than %d values, expected fewer", (int)YOKE_YAML_MAX_NODES);
    return -1;
  }
  const bool is_there = node->kind == YOKE_YAML_LIST && entry <= node->n; /* of a list that was set as a whole */
  return remember(d, parent, key, number_node(d, is_there ? node->items[entry - 1] : append(d, node, key)));
}

/* ---- paths ---- */

/* The next key of a path; false: there is none, or a mistake. */
static bool next_key(yoke_draft *d, const char *path, const char **at, char key[MAX_KEY]) {
  const char  *begin     = *at;
  const bool   is_quoted = *begin == '"';
  const char  *end       = is_quoted ? strchr(begin + 1, '"') : begin + strcspn(begin, ".");
  const char  *behind    = end == NULL ? NULL : is_quoted ? end + 1 : end;
  const size_t n         = end == NULL ? 0 : (size_t)(end - begin) - (is_quoted ? 1 : 0);
  if (behind == NULL || n == 0 || n >= MAX_KEY || (*behind != '.' && *behind != '\0')) {
    mistake(d, path, "found a path that is none, expected keys parted by dots, as in bodies.rod.mass");
    return false;
  }
  memcpy(key, begin + (is_quoted ? 1 : 0), n);
  key[n] = '\0';
  *at    = *behind == '.' ? behind + 1 : NULL;
  return true;
}

/* The node at a path, with nothing in it. NULL: a mistake, or out of memory. */
static yoke_yaml_node *place(yoke_draft *d, const char *path, yoke_yaml_kind kind) {
  const char *at     = path;
  int         number = ROOT, depth = 0;
  char        key[MAX_KEY];
  if (d->is_out_of_memory) return NULL;
  if (path == NULL || !yoke_yaml_is_text(path)) {
    mistake(d, path != NULL ? "..." : NULL, "found a path that is no text, expected keys parted by dots");
    return NULL;
  }
  forget_mistakes(d, path);
  while (at != NULL && number >= 0) {
    if (!next_key(d, path, &at, key)) return NULL;
    if (++depth >= YOKE_YAML_MAX_DEPTH) {
      mistake(d, path, "found nesting deeper than %d levels", (int)YOKE_YAML_MAX_DEPTH);
      return NULL;
    }
    number = child_of(d, number, key, path);
  }
  if (number < 0) return NULL;
  yoke_yaml_node *node = d->nodes[number].node;
  if (node->n > 0) ++d->nodes[number].n_replaced;
  *node = (yoke_yaml_node){.kind = kind, .file = node->file, .text = "", .weight = 1};
  return node;
}

static bool is_given(yoke_draft *d, const char *path, int n, const void *values) {
  if (n >= 0 && (n == 0 || values != NULL)) return true;
  mistake(d, path, "found a list of %d without values", n);
  return false;
}

static void fill_text(yoke_draft *d, const char *path, yoke_yaml_node *node, const char *text) {
  if (node == NULL) return;
  if (text == NULL || !yoke_yaml_is_text(text)) {
    mistake(d, path, "found %s, expected a text in UTF-8", text == NULL ? "NULL" : "bytes that are no text");
    return;
  }
  node->text = yoke_yaml_keep_text(d->yaml, text, strlen(text));
  if (node->text != NULL) return;
  node->text          = "";
  d->is_out_of_memory = true;
}

static void fill_number(yoke_draft *d, const char *path, yoke_yaml_node *node, double value) {
  char text[YOKE_TEXT_NUMBER];
  yoke_text_number(value, text);
  if (!isfinite(value)) mistake(d, path, "found %s, expected a finite number", text);
  fill_text(d, path, node, text);
}

static yoke_yaml_node *entry(yoke_draft *d, yoke_yaml_node *list) {
  yoke_yaml_node *node = append(d, list, NULL);
  if (node == NULL) d->is_out_of_memory = true;
  return node;
}

void yoke_draft_set_number(yoke_draft *d, const char *path, double value) {
  fill_number(d, path, place(d, path, YOKE_YAML_SCALAR), value);
}

void yoke_draft_set_numbers(yoke_draft *d, const char *path, int n, const double *values) {
  yoke_yaml_node *list = is_given(d, path, n, values) ? place(d, path, YOKE_YAML_LIST) : NULL;
  for (int i = 0; list != NULL && i < n; ++i) fill_number(d, path, entry(d, list), values[i]);
}

void yoke_draft_set_text(yoke_draft *d, const char *path, const char *text) {
  fill_text(d, path, place(d, path, YOKE_YAML_SCALAR), text);
}

void yoke_draft_set_texts(yoke_draft *d, const char *path, int n, const char *const *texts) {
  yoke_yaml_node *list = is_given(d, path, n, texts) ? place(d, path, YOKE_YAML_LIST) : NULL;
  for (int i = 0; list != NULL && i < n; ++i) fill_text(d, path, entry(d, list), texts[i]);
}

void yoke_draft_set_quoted(yoke_draft *d, const char *path, const char *text) {
  yoke_yaml_node *node = place(d, path, YOKE_YAML_SCALAR);
  if (node != NULL) node->quoted = true;
  fill_text(d, path, node, text);
}

void yoke_draft_set_flag(yoke_draft *d, const char *path, bool value) {
  yoke_draft_set_text(d, path, value ? "true" : "false");
}

void yoke_draft_set_list(yoke_draft *d, const char *path) {
  (void)place(d, path, YOKE_YAML_LIST);
}

void yoke_draft_set_map(yoke_draft *d, const char *path) {
  (void)place(d, path, YOKE_YAML_MAP);
}

/* ---- what everybody writes ---- */

/* Keys of one object: "bodies.NAME.". */
typedef struct object {
  yoke_draft *draft;
  char        path[MAX_PATH];
  size_t      n; /* letters in front of a key */
} object;

static bool open_object(yoke_draft *d, const char *section, const char *name, object *out) {
  if (name == NULL || name[0] == '\0' || strlen(name) >= MAX_KEY || strpbrk(name, ".\"") != NULL) {
    mistake(d, section, "found the name '%.60s', expected letters, digits and '_'", name != NULL ? name : "NULL");
    return false;
  }
  out->draft = d;
  out->n     = (size_t)snprintf(out->path, sizeof out->path, "%s.%s.", section, name);
  return true;
}

/* Takes the struct of an object and opens it. */
static bool begin(yoke_draft *d, const char *section, const char *name, const void *given, void *own, size_t size,
                  const char *type, object *out) {
  if (!open_object(d, section, name, out)) return false;
  out->path[out->n - 1] = '\0';
  const bool is_good    = given != NULL && yoke_sized_take(NULL, given, own, size, type) == YOKE_OK;
  if (!is_good) mistake(d, out->path, "found a %s without its size, expected sizeof(%s)", type, type);
  if (is_good) yoke_draft_set_map(d, out->path);
  out->path[out->n - 1] = '.';
  return is_good;
}

static const char *key(object *o, const char *name) {
  snprintf(o->path + o->n, sizeof o->path - o->n, "%s", name);
  return o->path;
}

static void put_text(object *o, const char *name, const char *text) {
  if (text != NULL) yoke_draft_set_text(o->draft, key(o, name), text);
}

static void put_number(object *o, const char *name, double value) {
  if (value != 0.0) yoke_draft_set_number(o->draft, key(o, name), value);
}

/* The first `least` numbers and those behind them up to the last that is not 0; nothing where all are. */
static void put_numbers(object *o, const char *name, int least, int most, const double *values) {
  int n = most;
  while (n > 0 && values[n - 1] == 0.0) --n;
  if (n > 0) yoke_draft_set_numbers(o->draft, key(o, name), n > least ? n : least, values);
}

/* Texts up to the first NULL; one alone is no list. */
static void put_texts(object *o, const char *name, int most, const char *const *texts) {
  int n = 0;
  while (n < most && texts[n] != NULL) ++n;
  if (n == 1) put_text(o, name, texts[0]);
  if (n > 1) yoke_draft_set_texts(o->draft, key(o, name), n, texts);
}

void yoke_draft_add_body(yoke_draft *d, const char *name, const yoke_draft_body *given) {
  yoke_draft_body b;
  object          o;
  if (!begin(d, "bodies", name, given, &b, sizeof b, "yoke_draft_body", &o)) return;
  const bool is_planar = b.kind != NULL && strcmp(b.kind, "planar") == 0;
  const bool is_line   = b.kind != NULL && strcmp(b.kind, "mass1d") == 0;
  put_text(&o, "kind", b.kind);
  put_number(&o, "mass", b.mass);
  put_number(&o, "angle", b.angle);
  put_numbers(&o, "orientation", 4, 4, b.orientation);
  if (is_planar) {
    put_number(&o, "inertia", b.inertia[0]);
    put_number(&o, "omega", b.omega[0]);
  } else {
    put_numbers(&o, "inertia", b.inertia[3] != 0.0 || b.inertia[4] != 0.0 || b.inertia[5] != 0.0 ? 6 : 3, 6, b.inertia);
    put_numbers(&o, "omega", 3, 3, b.omega);
  }
  if (is_line) {
    put_number(&o, "x", b.position[0]);
    put_number(&o, "v", b.velocity[0]);
  } else {
    put_numbers(&o, "position", 2, 3, b.position);
    put_numbers(&o, "velocity", 2, 3, b.velocity);
  }
}

void yoke_draft_add_frame(yoke_draft *d, const char *body, const char *name, const yoke_draft_frame *given) {
  yoke_draft_frame f;
  object           of, o;
  if (!open_object(d, "frames", body, &of)) return;
  of.path[of.n - 1] = '\0';
  if (!begin(d, of.path, name, given, &f, sizeof f, "yoke_draft_frame", &o)) return;
  yoke_draft_set_numbers(d, key(&o, "at"), f.at[2] != 0.0 ? 3 : 2, f.at);
  put_numbers(&o, "axis", 3, 3, f.axis);
  put_numbers(&o, "orientation", 4, 4, f.orientation);
}

void yoke_draft_add_connection(yoke_draft *d, const char *name, const yoke_draft_connection *given) {
  yoke_draft_connection c;
  object                o;
  if (!begin(d, "connections", name, given, &c, sizeof c, "yoke_draft_connection", &o)) return;
  put_text(&o, "kind", c.kind);
  put_texts(&o, "between", 2, c.between);
  put_numbers(&o, "axis", 3, 3, c.axis);
  put_number(&o, "stiffness", c.stiffness);
  put_number(&o, "damping", c.damping);
  put_number(&o, "length", c.length);
  put_number(&o, "free_length", c.free_length);
  put_number(&o, "free_angle", c.free_angle);
  put_text(&o, "law", c.law);
  put_text(&o, "motion", c.motion);
}

void yoke_draft_add_load(yoke_draft *d, const char *name, const yoke_draft_load *given) {
  yoke_draft_load l;
  object          o;
  if (!begin(d, "loads", name, given, &l, sizeof l, "yoke_draft_load", &o)) return;
  put_text(&o, "kind", l.kind);
  put_text(&o, "on", l.on);
  put_texts(&o, "force", 3, l.force);
  put_texts(&o, "torque", 3, l.torque);
  put_number(&o, "omega", l.omega);
  put_number(&o, "phase", l.phase);
  if (l.follower) yoke_draft_set_flag(d, key(&o, "follower"), true);
}

void yoke_draft_add_part(yoke_draft *d, const char *name, int n, const char *const *bodies) {
  object o;
  if (!open_object(d, "split", name, &o)) return;
  o.path[o.n - 1] = '\0';
  yoke_draft_set_texts(d, o.path, n, bodies);
}

void yoke_draft_add_output(yoke_draft *d, const char *name, const char *expression, const char *unit) {
  object o;
  if (!open_object(d, "outputs", name, &o)) return;
  yoke_draft_set_text(d, key(&o, "value"), expression);
  if (unit != NULL) yoke_draft_set_quoted(d, key(&o, "unit"), unit);
}

void yoke_draft_add_input(yoke_draft *d, const char *name, double value, const char *unit) {
  object o;
  if (!open_object(d, "inputs", name, &o)) return;
  yoke_draft_set_number(d, key(&o, "value"), value);
  if (unit != NULL) yoke_draft_set_quoted(d, key(&o, "unit"), unit);
}

/* A map of names and what stands behind them; a value that is missing is nothing. */
static void put_entries(object *o, const char *name, int n, const yoke_draft_entry *entries, bool is_quoted) {
  if (n == 0) return;
  if (!is_given(o->draft, key(o, name), n, entries)) return;
  yoke_draft_set_map(o->draft, o->path);
  object list = *o;
  list.n      = strlen(o->path) + 1;
  snprintf(list.path + list.n - 1, sizeof list.path - list.n + 1, ".");
  for (int i = 0; i < n; ++i) {
    const yoke_draft_entry *e = &entries[i];
    if (e->name == NULL || e->name[0] == '\0' || strlen(e->name) >= MAX_KEY || strpbrk(e->name, ".\"") != NULL)
      mistake(o->draft, key(o, name), "found the name '%.60s', expected letters, digits and '_'",
              e->name != NULL ? e->name : "NULL");
    else if (is_quoted)
      yoke_draft_set_quoted(o->draft, key(&list, e->name), e->value != NULL ? e->value : "");
    else
      yoke_draft_set_text(o->draft, key(&list, e->name), e->value);
  }
}

void yoke_draft_add_subsystem(yoke_draft *d, const char *name, const yoke_draft_subsystem *given) {
  yoke_draft_subsystem s;
  object               o;
  if (!begin(d, "subsystems", name, given, &s, sizeof s, "yoke_draft_subsystem", &o)) return;
  put_text(&o, "kind", s.kind != NULL ? s.kind : "user");
  put_text(&o, "type", s.type);
  put_entries(&o, "parameters", s.n_parameters, s.parameters, false);
  put_entries(&o, "ports", s.n_ports, s.ports, false);
  put_entries(&o, "inputs", s.n_inputs, s.inputs, false);
  put_entries(&o, "outputs", s.n_outputs, s.outputs, true);
}

void yoke_draft_choose(yoke_draft *d, const char *name, const char *value) {
  char       path[MAX_PATH];
  const bool is_option = name != NULL && yoke_setting_of_option(name, path, sizeof path);
  yoke_draft_set_text(d, is_option ? path : name, value);
}

/* ---- life ---- */

yoke_status yoke_draft_create(yoke_context *ctx, const char *name, yoke_draft **out) {
  *out = NULL;
  YOKE_TRY(yoke_given(ctx, name, "name of a draft"));
  yoke_draft *d = yoke_allocate(1, sizeof *d);
  if (d != NULL && yoke_yaml_create(&d->yaml) == YOKE_OK) d->name = yoke_yaml_keep_text(d->yaml, name, strlen(name));
  const yoke_yaml_node like = {.file = d != NULL ? d->name : NULL};
  if (like.file != NULL) {
    (void)number_node(d, yoke_yaml_new_map(d->yaml, &like));
    yoke_draft_set_text(d, "yoke", "1");
  }
  if (like.file == NULL || d->is_out_of_memory) {
    yoke_draft_destroy(&d);
    return yoke_out_of_memory(ctx, "the draft '%s'", name);
  }
  *out = d;
  return YOKE_OK;
}

void yoke_draft_destroy(yoke_draft **draft) {
  if (draft == NULL || *draft == NULL) return;
  yoke_draft *d = *draft;
  for (int i = 0; i < d->n_mistakes; ++i) free_mistake(&d->mistakes[i]);
  free(d->mistakes);
  yoke_names_clear(&d->children);
  yoke_yaml_destroy(&d->yaml);
  free(d->nodes);
  free(d);
  *draft = NULL;
}

yoke_status yoke_draft_status(const yoke_draft *d) {
  return d->is_out_of_memory ? YOKE_E_MEMORY : d->n_mistakes > 0 ? YOKE_E_MODEL : YOKE_OK;
}

yoke_status yoke_model_build(yoke_context *ctx, const yoke_draft *d, const yoke_load_options *options,
                             yoke_model **out) {
  *out = NULL;
  if (d->is_out_of_memory) return yoke_out_of_memory(ctx, "the draft '%s'", d->name);
  for (int i = 0; i < d->n_mistakes && i < MAX_TOLD; ++i) (void)yoke_fail(ctx, YOKE_E_MODEL, "%s", d->mistakes[i].text);
  if (d->n_mistakes > MAX_TOLD)
    (void)yoke_fail(ctx, YOKE_E_MODEL, "%s: and %d more mistakes", d->name, d->n_mistakes - MAX_TOLD);
  if (d->n_mistakes > 0) return YOKE_E_MODEL;
  return yoke_model_from_tree(ctx, d->name, d->nodes[ROOT].node, options, out);
}
