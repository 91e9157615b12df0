/* A state of a user subsystem as bytes: what the engine keeps, then the block of the type, as it is or as the type packs it. */
#include "user/user_internal.h"

#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static yoke_status pack(const yoke_subsystem *subsystem, const void *state, yoke_pack *out, yoke_context *ctx) {
  const user_self      *self  = subsystem->self;
  const yoke_user_pack *own   = self->type->pack;
  const void           *inner = user_inner_seen(self, state);
  yoke_pack_tag(out, "user");
  yoke_pack_text(out, self->type->name);
  yoke_pack_block(out, self->at_inner, state);
  if (own == NULL) {
    yoke_pack_int64(out, (int64_t)self->instance.state_size);
    yoke_pack_block(out, self->instance.state_size, inner);
    return YOKE_OK;
  }
  const size_t n     = own->n_bytes(self->instance.self, inner);
  void        *bytes = yoke_allocate(n + 1, 1);
  if (bytes == NULL) return yoke_out_of_memory(ctx, "%zu bytes of a state of subsystem '%s'", n, subsystem->name);
  const yoke_status status = user_status(own->pack(self->instance.self, inner, bytes));
  yoke_pack_int64(out, (int64_t)n);
  yoke_pack_block(out, n, bytes);
  free(bytes);
  return status;
}

/* No more than a step leaves behind? */
static bool is_sound(const user_self *self, const void *block) {
  user_front              front;
  const yoke_found_event *list = (const void *)((const char *)block + self->at_found);
  memcpy(&front, block, sizeof front);
  if (!yoke_is_bool(&front.is_in_use) || !yoke_is_bool(&front.has_ends) || !yoke_is_count(front.n_steps)) return false;
  if (!isfinite(front.t) || !(front.t_begin <= front.t_before && front.t_before <= front.t) || isnan(front.until))
    return false;
  if (front.n_found < 0 || front.n_found > (self->instance.n_events > 0 ? YOKE_MAX_FOUND : 0)) return false;
  for (int i = 0; i < front.n_found; ++i) {
    yoke_found_event event;
    memcpy(&event, list + i, sizeof event);
    if (event.event < 0 || event.event >= self->instance.n_events || !isfinite(event.t)) return false;
  }
  return true;
}

static yoke_status unpack_own(const yoke_subsystem *subsystem, const void *bytes, size_t n, void *state,
                              yoke_context *ctx) {
  const user_self *self = subsystem->self;
  void            *copy = yoke_allocate(n + 1, 1);
  if (copy == NULL) return yoke_out_of_memory(ctx, "%zu bytes of a state of subsystem '%s'", n, subsystem->name);
  memcpy(copy, bytes, n);
  ((user_front *)state)->is_in_use = true;
  const yoke_status status =
      user_status(self->type->pack->unpack(self->instance.self, user_inner(self, state), copy, n));
  free(copy);
  return status;
}

static yoke_status unpack(const yoke_subsystem *subsystem, void *scratch, yoke_unpack *in, void *state,
                          yoke_context *ctx) {
  const user_self *self = subsystem->self;
  (void)scratch;
  yoke_unpack_tag(in, "user");
  if (strcmp(yoke_unpack_text(in), self->type->name) != 0) yoke_unpack_refuse(in, "the type of a subsystem is another");
  const void   *front = yoke_unpack_block(in, self->at_inner);
  const int64_t n     = yoke_unpack_int64(in);
  if (front != NULL && !is_sound(self, front)) yoke_unpack_refuse(in, "no step leaves such a state");
  if (n < 0 || (self->type->pack == NULL && n != (int64_t)self->instance.state_size))
    yoke_unpack_refuse(in, "the state of a subsystem has another size");
  const void *inner = yoke_unpack_block(in, (size_t)n);
  YOKE_TRY(yoke_unpack_check(in, ctx));
  if (self->type->pack != NULL)
    YOKE_TRY(unpack_own(subsystem, inner, (size_t)n, state, ctx));
  else
    memcpy(user_inner(self, state), inner, (size_t)n);
  memcpy(state, front, self->at_inner);
  return YOKE_OK;
}

const yoke_pack_ops user_packing = {.pack = pack, .unpack = unpack};
