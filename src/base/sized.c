#include "base/sized.h"

#include "base/given.h"
#include <stdint.h>
#include <string.h>

enum { LARGEST = 1 << 16 }; /* bytes; a size beyond was never set */

static size_t size_of(const void *sized) {
  size_t size;
  memcpy(&size, sized, sizeof size);
  return size;
}

yoke_status yoke_sized_check(yoke_context *ctx, const void *given, const char *name) {
  YOKE_TRY(yoke_given(ctx, given, name));
  const size_t size = size_of(given);
  if (size > sizeof size && size <= LARGEST) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE, "the member `size` of a %s is %zu; set it to sizeof(%s)", name, size, name);
}

yoke_status yoke_sized_take(yoke_context *ctx, const void *given, void *own, size_t size, const char *name) {
  memset(own, 0, size);
  memcpy(own, &size, sizeof size);
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
  memcpy(own, &size, sizeof size); /* what it says of itself */
  return YOKE_OK;
}

void yoke_sized_give(void *out, const void *own, size_t size) {
  size_t known = size_of(out);
  if (known > size) known = size;
  memcpy(out, own, known);
  memcpy(out, &known, sizeof known);
}

yoke_status yoke_sized_show(yoke_context *ctx, void *out, const void *own, size_t size, const char *name) {
  YOKE_TRY(yoke_sized_check(ctx, out, name));
  yoke_sized_give(out, own, size);
  return YOKE_OK;
}

yoke_status yoke_sized_show_item(yoke_context *ctx, void *out, const void *list, int n, int i, size_t size,
                                 const char *name) {
  YOKE_TRY(yoke_sized_check(ctx, out, name));
  if (i < 0 || i >= n)
    return yoke_fail(ctx, YOKE_E_USAGE, "there is no %s number %d: there are %d, counted from 0", name, i, n);
  yoke_sized_give(out, (const char *)list + (size_t)i * size, size);
  return YOKE_OK;
}
