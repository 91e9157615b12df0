/* Sized structs: those that cross the border of the library begin with their size, which is what the caller knows of them. */
#ifndef YOKE_BASE_SIZED_H
#define YOKE_BASE_SIZED_H

#include <yoke/context.h>
#include <stddef.h>

/* Can a struct of this size be one? YOKE_E_USAGE: `name` is the name of its type. */
yoke_status yoke_sized_check(yoke_context *ctx, const void *given, const char *name);

/* What the caller gave in `given` to `own`, which has `size` bytes: what he does not know of becomes zero, and what the library does not know
 * must be zero. given NULL: all is zero. `own` tells its own size. */
yoke_status yoke_sized_take(yoke_context *ctx, const void *given, void *own, size_t size, const char *name);

/* As much of `own` as the caller has room for in `out`, whose size becomes what was filled. Checked before. */
void yoke_sized_give(void *out, const void *own, size_t size);

/* Both: the check, then what there is to show. */
yoke_status yoke_sized_show(yoke_context *ctx, void *out, const void *own, size_t size, const char *name);

/* The same for item i of list[n]. YOKE_E_USAGE: there is no item i. */
yoke_status yoke_sized_show_item(yoke_context *ctx, void *out, const void *list, int n, int i, size_t size,
                                 const char *name);

#endif
