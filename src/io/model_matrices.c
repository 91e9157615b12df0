/* Matrices of linear bodies that stand in files of their own: `mass: beam_mass.mtx` becomes what the file holds,
 * {size: n, symmetric: true, entries: [[row, column, value], ...]}, before anything is read. */
#include "base/text.h"
#include "io/matrix_market.h"
#include "io/model_reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const matrix_keys[] = {"mass", "damping", "stiffness", "constraints"};

/* A scalar that ends in .mtx. */
static bool is_file(const yoke_yaml_node *node) {
  if (node == NULL || node->kind != YOKE_YAML_SCALAR) return false;
  const size_t n = strlen(node->text);
  return n > 4 && strcmp(node->text + n - 4, ".mtx") == 0;
}

/* As a text of YAML. Gives; NULL: no memory. */
static char *text_of(const yoke_market_matrix *matrix, size_t *size) {
  const size_t room = 128 + (size_t)matrix->n * (2 * 12 + YOKE_TEXT_NUMBER + 8);
  char        *text = malloc(room);
  if (text == NULL) return NULL;
  size_t at = model_print(text, room, "{size: [%d, %d], symmetric: %s, entries: [", matrix->n_rows, matrix->n_cols,
                          matrix->is_symmetric ? "true" : "false");
  for (int k = 0; k < matrix->n; ++k) {
    char number[YOKE_TEXT_NUMBER];
    yoke_text_number(matrix->value[k], number);
    at +=
        model_print(text + at, room - at, "%s[%d, %d, %s]", k == 0 ? "" : ", ", matrix->row[k], matrix->col[k], number);
  }
  at += model_print(text + at, room - at, "]}");
  *size = at;
  return text;
}

/* `key`: where the node stands. */
static bool read_matrix(reader *r, const char *path, const yoke_yaml_node *node, const char *key,
                        yoke_yaml_node **out) {
  char              *file   = model_relative_path(node->line > 0 ? node->file : path, node->text);
  yoke_market_matrix matrix = {0};
  if (file == NULL) return model_out_of_memory(r);
  if (access(file, F_OK) != 0) {
    (void)model_no_file(r, node, key, file);
    free(file);
    return false;
  }
  const yoke_status status = yoke_market_read(r->ctx, file, &matrix);
  bool              good   = status == YOKE_OK ? model_keep_file(r, file) : model_unreadable(r, status);
  size_t            size   = 0;
  char             *text   = good ? text_of(&matrix, &size) : NULL;
  if (good && text == NULL) good = model_out_of_memory(r);
  if (good) {
    const yoke_status read = yoke_yaml_read_text(r->ctx, r->yaml, file, text, size, out);
    if (read != YOKE_OK) good = model_unreadable(r, read);
  }
  free(text);
  free(file);
  yoke_market_clear(&matrix);
  return good;
}

/* The map below `key` of `map`, copied there so that it may change; NULL: there is none. */
static yoke_yaml_node *open_map(reader *r, yoke_yaml_node *map, const char *key) {
  yoke_yaml_node *own = yoke_yaml_find(map, key);
  if (own == NULL || own->kind != YOKE_YAML_MAP) return NULL;
  yoke_yaml_node *copy = yoke_yaml_copy_shallow(r->yaml, own);
  if (copy == NULL || yoke_yaml_put(r->yaml, map, yoke_yaml_new_scalar(r->yaml, own, key), copy) != YOKE_OK) {
    model_out_of_memory(r);
    return NULL;
  }
  return copy;
}

static bool has_files(const yoke_yaml_node *bodies) {
  for (int k = 0; bodies != NULL && bodies->kind == YOKE_YAML_MAP && k < bodies->n; ++k) {
    for (int i = 0; i < MODEL_COUNT(matrix_keys); ++i) {
      if (is_file(yoke_yaml_find(bodies->items[k], matrix_keys[i]))) return true;
    }
  }
  return false;
}

/* Bodies of the model, or of an assembly. */
static bool inline_bodies(reader *r, const char *path, yoke_yaml_node *owner) {
  if (!has_files(yoke_yaml_find(owner, "bodies"))) return true;
  yoke_yaml_node *bodies = open_map(r, owner, "bodies");
  if (bodies == NULL) return false;
  for (int k = 0; k < bodies->n; ++k) {
    yoke_yaml_node *body = NULL;
    for (int i = 0; i < MODEL_COUNT(matrix_keys); ++i) {
      const yoke_yaml_node *node = yoke_yaml_find(bodies->items[k], matrix_keys[i]);
      yoke_yaml_node       *read = NULL;
      if (!is_file(node)) continue;
      if (body == NULL) body = open_map(r, bodies, bodies->keys[k]->text);
      char key[NAME_SIZE];
      model_print(key, sizeof key, "bodies.%s.%s", bodies->keys[k]->text, matrix_keys[i]);
      if (body == NULL || !read_matrix(r, path, node, key, &read)) return false;
      if (yoke_yaml_put(r->yaml, body, yoke_yaml_new_scalar(r->yaml, node, matrix_keys[i]), read) != YOKE_OK)
        return model_out_of_memory(r);
    }
  }
  return true;
}

bool model_inline_matrices(reader *r, const char *path, yoke_yaml_node **root) {
  const yoke_yaml_node *assemblies = yoke_yaml_find(*root, "assemblies");
  bool                  is_any     = has_files(yoke_yaml_find(*root, "bodies"));
  for (int k = 0; assemblies != NULL && assemblies->kind == YOKE_YAML_MAP && k < assemblies->n; ++k)
    is_any = is_any || has_files(yoke_yaml_find(assemblies->items[k], "bodies"));
  if (!is_any) return true;
  yoke_yaml_node *own = yoke_yaml_copy_shallow(r->yaml, *root);
  if (own == NULL) return model_out_of_memory(r);
  *root     = own;
  bool good = inline_bodies(r, path, own);
  if (!good || assemblies == NULL || assemblies->kind != YOKE_YAML_MAP) return good;
  yoke_yaml_node *copies = open_map(r, own, "assemblies");
  for (int k = 0; good && copies != NULL && k < copies->n; ++k) {
    yoke_yaml_node *one = open_map(r, copies, copies->keys[k]->text);
    good                = one == NULL ? r->n_errors == 0 : inline_bodies(r, path, one);
  }
  return good;
}
