/* Wrapper without a way back: states cannot be copied, and what builds on that is not there either. */
#include "subsystem/wrapper.h"

yoke_status yoke_subsystem_forward(yoke_context *ctx, yoke_subsystem *inner, yoke_subsystem **out) {
  YOKE_TRY(yoke_wrapper_create(ctx, "forward", inner, sizeof(yoke_wrapper), 0, out));
  yoke_wrapper *self = (*out)->self;
  self->ops.repeat   = NULL;
  self->ops.reset    = NULL;
  self->ops.linear   = NULL;
  return YOKE_OK;
}
