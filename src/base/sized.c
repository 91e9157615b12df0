#include "base/sized.h"

#include <stdint.h>
#include <string.h>

enum { LARGEST = 1 << 16 }; /* bytes; a size beyond was never set */

static size_t size_of(const void *sized) {
  size_t size;
  memcpy(&size, sized, sizeof size);
  return size;
}

yoke_status yoke_sized_check(yoke_context *ctx, const void *given, const char *name) {
  const size_t size = size_of(given);
  if (size > sizeof size && size <= LARGEST) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE, "the member `size` of a %s is %zu; set it to sizeof(%s)", name, size, name);
}

yoke_status yoke_sized_take(yoke_context *ctx, const void *given, void *own, size_t size, const char *name) {
  memset(own, 0, size);
  if (given == NULL) return YOKE_OK;
  YOKE_TRY(yoke_sized_check(ctx, given, name));
  const size_t   known = size_of(given);
  const uint8_t *bytes = given;
  for (size_t i = size; i < known; ++i) {
    if (bytes[i] == 0) continue;
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "a %s has %zu bytes and asks in byte %zu for what this library, which knows %zu, does not have; use "
        "the newer library that the program was compiled for",
        name, known, i, size);
  }
  memcpy(own, given, known < size ? known : size);
  return YOKE_OK;
}

void yoke_sized_give(void *out, const void *own, size_t size) {
  size_t known = size_of(out);
  if (known > size) known = size;
  memcpy(out, own, known);
  memcpy(out, &known, sizeof known);
}
