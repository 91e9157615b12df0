#include "api/rest.h"

#include "base/cancel.h"

enum { LOAD_STEPS = 10 };

static yoke_status search(yoke_context *ctx, int n_loads, const char *remedy, yoke_rest *rest) {
  const yoke_equilibrium_options options = {.n_loads = n_loads, .remedy = remedy};
  return yoke_equilibrium_find(ctx, &rest->whole, &options, &rest->facts);
}

/* All at once; its failure is nobody's business where load steps lead there. */
static yoke_status search_twice(yoke_context *ctx, yoke_rest *rest) {
  static const char *const remedy =
      "is it held against every motion? Else start nearer to a rest state, or look at how it moves (yoke run)";
  yoke_context *own = NULL;
  YOKE_TRY(yoke_context_create(&own));
  yoke_context_watch_with(own, ctx, true);
  yoke_status status = search(own, 1, remedy, rest);
  if (status != YOKE_OK && status != YOKE_E_NOT_CONVERGED) status = search(ctx, 1, remedy, rest);
  if (status == YOKE_E_NOT_CONVERGED) status = search(ctx, LOAD_STEPS, remedy, rest);
  yoke_context_destroy(&own);
  return status;
}

yoke_status yoke_rest_find(yoke_context *ctx, const yoke_model *model, int load_steps, yoke_rest *out) {
  *out = (yoke_rest){0};
  YOKE_TRY(yoke_whole_model_create(ctx, model, 0, NULL, &out->whole));
  YOKE_TRY(yoke_equilibrium_check_motions(ctx, &out->whole, NULL));
  if (load_steps == 0) return search_twice(ctx, out);
  return search(ctx, load_steps, "take more load steps, or start nearer to a rest state", out);
}

void yoke_rest_clear(yoke_rest *rest) {
  yoke_whole_model_clear(&rest->whole);
  *rest = (yoke_rest){0};
}
