/* Overrides: includes and `--set path=value`, applied to the tree before anything is read from it. */
#include "io/model_reader.h"
#include "base/text.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INCLUDES = 1000, MAX_INCLUDE_DEPTH = 32 };

/* Maps of named things: entries of several files are put together. In all other keys the including file wins. */
static const char *const collections[] = {"parameters", "bodies", "frames",  "connections", "inputs",   "subsystems",
                                          "loads",      "events", "outputs", "assemblies",  "instances"};

static bool is_collection(const char *key) {
  for (int k = 0; k < MODEL_COUNT(collections); ++k) {
    if (strcmp(key, collections[k]) == 0) return true;
  }
  return false;
}

/* ---- includes ---- */

typedef struct include_list {
  char *path[MAX_INCLUDES]; /* real paths of all files read */
  int   n;
  int   stack[MAX_INCLUDE_DEPTH]; /* those being read, outermost first */
  int   n_stack;
} include_list;

/* Entries of `from` into the map `to`. A parameter that `to` has keeps its value; any other name found twice is a mistake. */
static bool merge_collection(reader *r, const char *section, yoke_yaml_node *to, const yoke_yaml_node *from) {
  yoke_names       names = {0};
  yoke_yaml_node **keys  = calloc((size_t)from->n + 1, sizeof *keys),
                 **items = calloc((size_t)from->n + 1, sizeof *items);
  bool good              = keys != NULL && items != NULL;
  int  n                 = 0;
  for (int k = 0; k < to->n && good; ++k) good = yoke_names_add(&names, to->keys[k]->text, k) != YOKE_NAMES_NO_MEMORY;
  for (int k = 0; k < from->n && good; ++k) {
    const int known = yoke_names_find(&names, from->keys[k]->text);
    if (known == YOKE_NAMES_NONE) {
      keys[n]    = from->keys[k];
      items[n++] = from->items[k];
    } else if (strcmp(section, "parameters") != 0) {
      char first[600];
      model_position(to->keys[known], first, sizeof first);
      model_enter(r, section, NULL);
      model_mistake(r, from->keys[k], from->keys[k]->text, "found twice, first at %s, expected once", first);
      model_enter(r, "", NULL);
    }
  }
  good = good && yoke_yaml_append(r->yaml, to, keys, items, n) == YOKE_OK;
  yoke_names_clear(&names);
  free(keys);
  free(items);
  return good || model_out_of_memory(r);
}

static bool merge_tree(reader *r, yoke_yaml_node *to, const yoke_yaml_node *from) {
  for (int k = 0; k < from->n; ++k) {
    const char *key = from->keys[k]->text;
    if (strcmp(key, "yoke") == 0 || strcmp(key, "include") == 0 || strcmp(key, "name") == 0) continue;
    yoke_yaml_node *own = yoke_yaml_find(to, key);
    if (yoke_yaml_is_nothing(own)) {
      if (yoke_yaml_put(r->yaml, to, from->keys[k], from->items[k]) != YOKE_OK) return model_out_of_memory(r);
    } else if (is_collection(key) && own->kind == YOKE_YAML_MAP && from->items[k]->kind == YOKE_YAML_MAP) {
      yoke_yaml_node *copy = yoke_yaml_copy_shallow(r->yaml, own);
      if (copy == NULL || yoke_yaml_put(r->yaml, to, yoke_yaml_new_scalar(r->yaml, own, key), copy) != YOKE_OK) {
        return model_out_of_memory(r);
      }
      if (!merge_collection(r, key, copy, from->items[k])) return false;
    }
  }
  return true;
}

/* "a.yaml -> b.yaml -> a.yaml" */
static bool include_cycle(reader *r, const yoke_yaml_node *at, const include_list *list, int index) {
  char   text[900] = "";
  size_t used      = 0;
  int    first     = 0;
  while (list->stack[first] != index) ++first;
  for (int k = first; k <= list->n_stack && used < sizeof text; ++k) {
    const char *path = list->path[k < list->n_stack ? list->stack[k] : index];
    used += model_print(text + used, sizeof text - used, "%s%s", k == first ? "" : " -> ", path);
  }
  return model_mistake(r, at, "include", "found a cycle: %s, expected files that do not include themselves", text);
}

char *model_relative_path(const char *from, const char *text) {
  const char  *slash  = strrchr(from, '/');
  const size_t folder = text[0] == '/' || slash == NULL ? 0 : (size_t)(slash - from) + 1;
  char        *path   = malloc(folder + strlen(text) + 1);
  if (path == NULL) return NULL;
  memcpy(path, from, folder);
  memcpy(path + folder, text, strlen(text) + 1);
  return path;
}

bool model_keep_file(reader *r, const char *path) {
  yoke_model *m     = r->model;
  char      **files = realloc(m->files, ((size_t)m->n_files + 1) * sizeof *files);
  if (files == NULL) return model_out_of_memory(r);
  m->files          = files;
  files[m->n_files] = yoke_text_copy(path);
  if (files[m->n_files] == NULL) return model_out_of_memory(r);
  ++m->n_files;
  return true;
}

static bool include_all(reader *r, yoke_yaml_node *root, const char *path, include_list *list);

static bool include_file(reader *r, yoke_yaml_node *root, const yoke_yaml_node *node, const char *from,
                         include_list *list) {
  if (yoke_yaml_is_nothing(node) || node->kind != YOKE_YAML_SCALAR)
    return model_expected(r, node, "include", "the path of a model file");
  char *path = model_relative_path(from, node->text);
  if (path == NULL) return model_out_of_memory(r);
  char *real = realpath(path, NULL);
  bool  good = real != NULL;
  if (real == NULL) model_no_file(r, node, "include", path);
  int index = -1;
  for (int k = 0; k < list->n && good && index < 0; ++k) {
    if (real != NULL && strcmp(list->path[k], real) == 0) index = k;
  }
  for (int k = 0; k < list->n_stack && index >= 0 && good; ++k) {
    if (list->stack[k] == index) good = include_cycle(r, node, list, index);
  }
  if (good && index < 0) {
    yoke_yaml_node *tree   = NULL;
    yoke_status     status = YOKE_OK;
    if (list->n == MAX_INCLUDES || list->n_stack == MAX_INCLUDE_DEPTH) {
      good = model_mistake(r, node, "include", "found more than %d files or nesting deeper than %d", MAX_INCLUDES,
                           MAX_INCLUDE_DEPTH);
    } else if ((status = yoke_yaml_read_file(r->ctx, r->yaml, path, &tree)) != YOKE_OK) {
      good = model_unreadable(r, status);
    } else if (!model_keep_file(r, path)) {
      good = false;
    } else {
      list->stack[list->n_stack++] = list->n;
      list->path[list->n++]        = real;
      real                         = NULL;
      if (tree != NULL && tree->kind != YOKE_YAML_MAP) good = model_expected(r, tree, NULL, "keys of a model file");
      if (tree != NULL && good) good = include_all(r, tree, path, list) && merge_tree(r, root, tree);
      --list->n_stack;
    }
  }
  free(real);
  free(path);
  return good;
}

static bool include_all(reader *r, yoke_yaml_node *root, const char *path, include_list *list) {
  const yoke_yaml_node *node = yoke_yaml_find(root, "include");
  bool                  good = true;
  if (yoke_yaml_is_nothing(node)) return true;
  if (node->kind != YOKE_YAML_LIST) return include_file(r, root, node, path, list);
  for (int k = 0; k < node->n; ++k) good = include_file(r, root, node->items[k], path, list) && good;
  return good;
}

bool model_merge_includes(reader *r, const yoke_yaml_node *tree, const char *path, yoke_yaml_node **root) {
  include_list *list = calloc(1, sizeof *list);
  if (list == NULL) return model_out_of_memory(r);
  char *real = realpath(path, NULL); /* NULL for a text without a file */
  if (real != NULL) {
    list->path[list->n++]        = real;
    list->stack[list->n_stack++] = 0;
  }
  bool good = real == NULL || model_keep_file(r, path);
  *root     = yoke_yaml_copy_shallow(r->yaml, tree);
  if (good) good = *root != NULL ? include_all(r, *root, path, list) : model_out_of_memory(r);
  if (*root != NULL) yoke_yaml_remove(*root, "include");
  for (int k = 0; k < list->n; ++k) free(list->path[k]);
  free(list);
  return good;
}

/* ---- --set ---- */

/* Everything below an override is at the position "--set path=value". The value was read from its own text: no aliases from outside. */
static void forget_lines(yoke_yaml_node *node) {
  node->line = 0;
  for (int k = 0; k < node->n; ++k) {
    if (node->keys != NULL) node->keys[k]->line = 0;
    if (node->items[k]->line != 0) forget_lines(node->items[k]);
  }
}

/* Things that exist once are not created by an override of one of their keys: that would hide a typing mistake. */
static bool check_exists(reader *r, const yoke_yaml_node *at, const yoke_yaml_node *map, const char *section,
                         const char *name) {
  if (yoke_yaml_find(map, name) != NULL) return true;
  yoke_names names = {0};
  for (int k = 0; k < map->n; ++k) yoke_names_add(&names, map->keys[k]->text, k);
  const char *nearest = yoke_names_nearest(&names, name);
  model_mistake(r, at, NULL, "found '%.60s', expected a name below '%s'%s%s%s", name, section,
                nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?");
  yoke_names_clear(&names);
  return false;
}

/* The child `name` of `map`, ready to be changed: a fresh copy put in its place, or a new map. NULL: mistake recorded. */
static yoke_yaml_node *descend(reader *r, yoke_yaml_node *node, const char *name, const char *section, int level,
                               yoke_yaml_node *value) {
  yoke_yaml_node **slot = NULL, *child = NULL;
  if (node->kind == YOKE_YAML_LIST) {
    char      *end;
    const long k = strtol(name, &end, 10);
    if (*end != '\0' || k < 1 || k > node->n) {
      model_mistake(r, value, NULL, "found '%.60s', expected a number from 1 to %d: this is a list", name, node->n);
      return NULL;
    }
    slot  = &node->items[k - 1];
    child = *slot;
  } else {
    if (level == 1 && is_collection(section) && strcmp(section, "frames") != 0 &&
        !check_exists(r, value, node, section, name))
      return NULL;
    child = yoke_yaml_find(node, name);
  }
  const bool is_word = child != NULL && child->kind == YOKE_YAML_SCALAR && !yoke_yaml_is_nothing(child);
  /* `solvers: {default: bdf}` is short for {default: {kind: bdf}}; a fixed macro step gives way to one with control */
  const bool is_short =
      is_word && level == 1 && (strcmp(section, "solvers") == 0 || strcmp(section, "cosimulation") == 0);
  if (is_word && !is_short) {
    char text[100];
    model_mistake(r, value, NULL, "found %s at '%.60s', expected a map whose keys can be set",
                  model_describe(child, text, sizeof text), name);
    return NULL;
  }
  yoke_yaml_node *fresh = child == NULL || child->kind == YOKE_YAML_SCALAR ? yoke_yaml_new_map(r->yaml, value)
                                                                           : yoke_yaml_copy_shallow(r->yaml, child);
  yoke_yaml_node *key   = yoke_yaml_new_scalar(r->yaml, value, name);
  bool            good  = fresh != NULL && key != NULL;
  if (good && is_short && strcmp(section, "solvers") == 0) {
    yoke_yaml_node *kind = yoke_yaml_new_scalar(r->yaml, value, "kind");
    good                 = kind != NULL && yoke_yaml_put(r->yaml, fresh, kind, child) == YOKE_OK;
  }
  if (good && slot != NULL) *slot = fresh;
  if (good && slot == NULL) good = yoke_yaml_put(r->yaml, node, key, fresh) == YOKE_OK;
  if (!good) model_out_of_memory(r);
  return good ? fresh : NULL;
}

/* Write `value` at `path` (modified). */
static bool set_path(reader *r, yoke_yaml_node *root, char *path, yoke_yaml_node *value) {
  yoke_yaml_node *node    = root;
  const char     *section = path;
  int             level   = 0;
  const char     *name    = path;
  for (char *dot = strchr(name, '.'); dot != NULL; dot = strchr(name, '.')) {
    *dot = '\0';
    if (name[0] == '\0')
      return model_mistake(r, value, NULL, "found an empty name, expected path=value as in bodies.rod.mass=2");
    node = descend(r, node, name, section, level++, value);
    if (node == NULL) return false;
    name = dot + 1;
  }
  if (name[0] == '\0')
    return model_mistake(r, value, NULL, "found an empty name, expected path=value as in bodies.rod.mass=2");
  if (node->kind == YOKE_YAML_LIST) {
    char      *end;
    const long k = strtol(name, &end, 10);
    if (*end != '\0' || k < 1 || k > node->n) {
      return model_mistake(r, value, NULL, "found '%.60s', expected a number from 1 to %d: this is a list", name,
                           node->n);
    }
    node->items[k - 1] = value;
    return true;
  }
  if (level == 1 && strcmp(section, "inputs") == 0) { /* an input exists, and keeps its unit */
    if (!check_exists(r, value, node, section, name)) return false;
    if (value->kind == YOKE_YAML_SCALAR && yoke_yaml_find(node, name)->kind == YOKE_YAML_MAP) {
      node = descend(r, node, name, section, level, value);
      name = "value";
    }
  }
  if (node == NULL) return false;
  yoke_yaml_node *key = yoke_yaml_new_scalar(r->yaml, value, name);
  if (key == NULL || yoke_yaml_put(r->yaml, node, key, value) != YOKE_OK) return model_out_of_memory(r);
  return true;
}

static bool apply_one(reader *r, yoke_yaml_node *root, const char *option) {
  char label[300];
  model_print(label, sizeof label, "--set %.280s", option);
  const char *equals = strchr(option, '=');
  if (equals == NULL || equals == option) {
    yoke_yaml_node at = {.file = label};
    return model_mistake(r, &at, NULL, "expected path=value as in bodies.rod.mass=2");
  }
  yoke_yaml_node   *value  = NULL;
  const yoke_status status = yoke_yaml_read_text(r->ctx, r->yaml, label, equals + 1, strlen(equals + 1), &value);
  if (status != YOKE_OK) return model_unreadable(r, status);
  const char          *file  = yoke_yaml_keep_text(r->yaml, label, strlen(label));
  const yoke_yaml_node blank = {.file = file};
  if (value == NULL && file != NULL) value = yoke_yaml_new_scalar(r->yaml, &blank, "");
  char *path = yoke_text_copy(option);
  if (value == NULL || path == NULL) {
    free(path);
    return model_out_of_memory(r);
  }
  forget_lines(value);
  path[equals - option] = '\0';
  bool good;
  if (strcmp(path, "include") == 0) {
    good = model_mistake(r, value, NULL, "files cannot be included by an override");
  } else {
    good = set_path(r, root, path, value);
  }
  free(path);
  return good;
}

bool model_apply_overrides(reader *r, yoke_yaml_node **root, const yoke_overrides *overrides) {
  bool good = true;
  if (overrides == NULL || overrides->n == 0) return true;
  *root = yoke_yaml_copy_shallow(r->yaml, *root);
  if (*root == NULL) return model_out_of_memory(r);
  for (int k = 0; k < overrides->n; ++k) good = apply_one(r, *root, overrides->texts[k]) && good;
  return good;
}
