#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void yoke_assert_failed(const char *file, int line, const char *condition) {
  fprintf(stderr, "%s:%d: internal error: %s does not hold\n", file, line, condition);
  abort();
}
