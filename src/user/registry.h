/* Registry: the types that a context knows, attached to it (base/hooks.h). */
#ifndef YOKE_USER_REGISTRY_H
#define YOKE_USER_REGISTRY_H

#include "user/user.h"
#include <stdatomic.h>

/* A loaded library, closed with its last owner. */
typedef struct user_library {
  atomic_int owners;
  void      *handle;
  char       path[]; /* for messages */
} user_library;

user_library *user_library_retain(user_library *library); /* NULL: stays NULL */
void          user_library_release(user_library **library);

/* Type and abilities are copies; type.name, type.summary and the pointers to abilities lead into this struct or behind it. */
struct yoke_user_entry {
  atomic_int         owners;
  user_library      *library; /* NULL: of the program itself */
  yoke_user_type     type;
  yoke_user_repeat   repeat;
  yoke_user_instant  instant;
  yoke_user_response response;
  yoke_user_events   events;
  yoke_user_energy   energy;
  yoke_user_pack     pack;
  yoke_user_inside   inside;
  char               texts[]; /* name and summary */
};

/* library NULL: of the program; else the entry becomes one of its owners. */
yoke_status user_registry_add(yoke_context *ctx, const yoke_user_type *type, user_library *library);
/* The types behind the first n are forgotten. */
void        user_registry_cut(yoke_context *ctx, int n);

#endif
