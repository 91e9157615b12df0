#include "api/rest.h"

#include "base/cancel.h"
#include <math.h>

enum { LOAD_STEPS = 10 };

static yoke_status search(yoke_context *ctx, int n_loads, const char *remedy, yoke_rest *rest) {
  const yoke_equilibrium_options options = {.n_loads = n_loads, .remedy = remedy, .with_stability = true};
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

static void warn_if_unstable(yoke_context *ctx, const yoke_model *model, const yoke_equilibrium_facts *facts) {
  if (!(facts->mu < 0.0)) return;
  yoke_warn(
      ctx,
      "model '%s': this rest state is unstable: beside it %s moves away, without dampers by a factor of e in %.3g s "
      "(smallest eigenvalue of the stiffness by the mass %.3g 1/s^2); start a little beside it to find a stable one",
      model->name, facts->along, 1.0 / sqrt(-facts->mu), facts->mu);
}

yoke_status yoke_rest_find(yoke_context *ctx, const yoke_model *model, int load_steps, yoke_rest *out) {
  *out = (yoke_rest){0};
  YOKE_TRY(yoke_whole_model_create(ctx, model, 0, NULL, &out->whole));
  YOKE_TRY(yoke_equilibrium_check_motions(ctx, &out->whole, NULL));
  if (load_steps == 0)
    YOKE_TRY(search_twice(ctx, out));
  else
    YOKE_TRY(search(ctx, load_steps, "take more load steps, or start nearer to a rest state", out));
  warn_if_unstable(ctx, model, &out->facts);
  return YOKE_OK;
}

void yoke_rest_clear(yoke_rest *rest) {
  yoke_whole_model_clear(&rest->whole);
  *rest = (yoke_rest){0};
}
