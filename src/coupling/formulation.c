/* The list of formulations. */
#include "coupling/formulation.h"

#include <string.h>

#define X(symbol) extern const yoke_formulation_ops symbol;
#include "coupling/formulation_list.def"
#undef X

static const yoke_formulation_ops *const formulations[] = {
#define X(symbol) &symbol,
#include "coupling/formulation_list.def"
#undef X
};

enum { N_FORMULATIONS = (int)(sizeof formulations / sizeof formulations[0]) };

int yoke_formulation_n(void) {
  return N_FORMULATIONS;
}

const yoke_formulation_ops *yoke_formulation_at(int i) {
  return i >= 0 && i < N_FORMULATIONS ? formulations[i] : NULL;
}

const yoke_formulation_ops *yoke_formulation_find(const char *name) {
  for (int i = 0; name != NULL && i < N_FORMULATIONS; ++i) {
    if (strcmp(formulations[i]->name, name) == 0) return formulations[i];
  }
  return NULL;
}

bool yoke_formulation_reads(const yoke_formulation_ops *ops, const char *key) {
  if (ops == NULL || ops->keys == NULL) return true;
  const size_t n = strlen(key);
  for (const char *at = ops->keys; *at != '\0';) {
    const size_t length = strcspn(at, " ");
    if (length == n && strncmp(at, key, n) == 0) return true;
    at += length + strspn(at + length, " ");
  }
  return false;
}
