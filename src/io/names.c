#include "io/names.h"
#include "base/text.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a, 64 bits. */
static size_t hash(const char *text) {
  uint64_t h = 14695981039346656037u;
  for (; *text != '\0'; ++text) h = (h ^ (unsigned char)*text) * 1099511628211u;
  return (size_t)(h ^ (h >> 32));
}

/* Slot that holds `name` or the empty one where it belongs. The table always has an empty slot. */
static size_t slot_of(const yoke_names *names, const char *name) {
  size_t s = hash(name) & (names->capacity - 1);
  while (names->key[s] != NULL && strcmp(names->key[s], name) != 0) s = (s + 1) & (names->capacity - 1);
  return s;
}

static bool grow(yoke_names *names) {
  yoke_names bigger = {.n = names->n, .capacity = names->capacity == 0 ? 32 : 2 * names->capacity};
  bigger.key        = calloc(bigger.capacity, sizeof *bigger.key);
  bigger.value      = calloc(bigger.capacity, sizeof *bigger.value);
  if (bigger.key == NULL || bigger.value == NULL) {
    free(bigger.key);
    free(bigger.value);
    return false;
  }
  for (size_t i = 0; i < names->capacity; ++i) {
    if (names->key[i] == NULL) continue;
    const size_t s  = slot_of(&bigger, names->key[i]);
    bigger.key[s]   = names->key[i];
    bigger.value[s] = names->value[i];
  }
  free(names->key);
  free(names->value);
  names->key      = bigger.key;
  names->value    = bigger.value;
  names->capacity = bigger.capacity;
  return true;
}

yoke_names_result yoke_names_add(yoke_names *names, const char *name, int value) {
  if (2 * (names->n + 1) > names->capacity && !grow(names)) return YOKE_NAMES_NO_MEMORY;
  const size_t s = slot_of(names, name);
  if (names->key[s] != NULL) return YOKE_NAMES_EXISTS;
  names->key[s]   = name;
  names->value[s] = value;
  ++names->n;
  return YOKE_NAMES_ADDED;
}

int yoke_names_find(const yoke_names *names, const char *name) {
  if (names->capacity == 0) return YOKE_NAMES_NONE;
  const size_t s = slot_of(names, name);
  return names->key[s] == NULL ? YOKE_NAMES_NONE : names->value[s];
}

void yoke_names_clear(yoke_names *names) {
  free(names->key);
  free(names->value);
  *names = (yoke_names){0};
}

const char *yoke_names_nearest(const yoke_names *names, const char *name) {
  enum { LIMIT = 20000 };
  const size_t n    = names->n < LIMIT ? names->n : LIMIT;
  const char **list = calloc(n + 1, sizeof *list);
  if (list == NULL) return NULL;
  size_t k = 0;
  for (size_t i = 0; i < names->capacity && k < n; ++i) {
    if (names->key[i] != NULL) list[k++] = names->key[i];
  }
  const char *nearest = yoke_text_nearest(name, list, (int)k);
  free(list);
  return nearest;
}
