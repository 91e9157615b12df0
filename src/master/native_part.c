#include "master/native_part.h"

yoke_status yoke_native_part_make(yoke_context *ctx, const void *definition, yoke_subsystem **out) {
  const yoke_native_part *part = definition;
  return yoke_native_create(ctx, &part->def, out);
}
