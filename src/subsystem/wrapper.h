/* Wrapper: a subsystem around another one. It begins as the inner one: every call, of the core and of every group that the inner one has,
 * goes inside with the inner state. A kind of wrapper then replaces the calls that it changes, in `ops` and in the groups, which are its
 * own copies. */
#ifndef YOKE_SUBSYSTEM_WRAPPER_H
#define YOKE_SUBSYSTEM_WRAPPER_H

#include "subsystem/subsystem.h"

/* First member of the self of every wrapper. */
typedef struct yoke_wrapper {
  yoke_subsystem    *inner; /* owned */
  yoke_subsystem_ops ops;   /* of the wrapper; its groups are those below, or NULL */
#define YOKE_GROUP(type, name) type name;
  YOKE_SUBSYSTEM_GROUPS(YOKE_GROUP)
#undef YOKE_GROUP
} yoke_wrapper;

/* Around `inner` (takes, also on failure), with a self of self_size >= sizeof(yoke_wrapper) bytes. `front` bytes of the wrapper's own stand in
 * its states before the inner state. */
yoke_status yoke_wrapper_create(yoke_context *ctx, const char *kind, yoke_subsystem *inner, size_t self_size,
                                size_t front, yoke_subsystem **out);

/* The inner state inside one of the wrapper's. */
static inline void *yoke_wrapper_state(const yoke_subsystem *wrapper, void *state) {
  return (char *)state + wrapper->inner_at;
}
static inline const void *yoke_wrapper_state_seen(const yoke_subsystem *wrapper, const void *state) {
  return (const char *)state + wrapper->inner_at;
}

#endif
