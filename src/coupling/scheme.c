#include "coupling/scheme.h"

#include <string.h>

#define X(symbol) extern const yoke_scheme_ops symbol;
#include "coupling/scheme_list.def"
#undef X

static const yoke_scheme_ops *const schemes[] = {
#define X(symbol) &symbol,
#include "coupling/scheme_list.def"
#undef X
};

int yoke_scheme_n(void) {
  return (int)(sizeof schemes / sizeof schemes[0]);
}

const yoke_scheme_ops *yoke_scheme_at(int i) {
  return i >= 0 && i < yoke_scheme_n() ? schemes[i] : NULL;
}

const yoke_scheme_ops *yoke_scheme_find(const char *name) {
  for (int i = 0; i < yoke_scheme_n(); ++i) {
    if (strcmp(schemes[i]->traits.name, name) == 0) return schemes[i];
  }
  return NULL;
}
