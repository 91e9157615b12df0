/* Equations of a model that is one chain: those of chain_kernel.h, whose inputs are forces on masses. */
#include "model/multibody_internal.h"

#include "base/memory.h"

yoke_status mb_chain_equations_create(yoke_context *ctx, const yoke_model *model, int n_inputs,
                                      const yoke_input *inputs, yoke_equations *out) {
  yoke_arena   scratch = {0};
  const size_t most    = (size_t)n_inputs + 1;
  int         *mass    = yoke_arena_take(&scratch, most, sizeof *mass);
  double      *factor  = yoke_arena_take(&scratch, most, sizeof *factor);
  yoke_status  status  = yoke_arena_check(&scratch, ctx, "%d inputs", n_inputs);
  for (int i = 0; status == YOKE_OK && i < n_inputs; ++i) {
    mass[i]   = model->frames[inputs[i].frame].mass;
    factor[i] = inputs[i].factor;
  }
  if (status == YOKE_OK) {
    status = yoke_chain_equations_create(ctx, model->bodies[0].chain, model->gravity[0], n_inputs, mass, factor, out);
  }
  yoke_arena_free(&scratch);
  return status;
}
