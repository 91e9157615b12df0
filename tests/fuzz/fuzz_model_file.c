/* libFuzzer entry: any bytes as a model file. Loading, compiling and assembling must end with a status, never a crash. */
#include <stddef.h>
#include <stdint.h>

#include "master/system.h"
#include <yoke/model.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Models that load but are large only cost time here. */
static bool is_small(const yoke_model *model) {
  int n = 0;
  for (int b = 0; b < model->n_bodies; ++b) n += yoke_body_nq(&model->bodies[b]);
  return n <= 2000 && model->n_connections <= 500;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  yoke_context *ctx   = NULL;
  yoke_model   *model = NULL;
  if (yoke_context_create(&ctx) != YOKE_OK) return 0;
  if (yoke_model_load_text(ctx, "fuzz.yaml", (const char *)data, size, NULL, &model) == YOKE_OK && is_small(model)) {
    const yoke_plan_options whole  = {.is_whole = true};
    yoke_plan              *plan   = NULL;
    yoke_system            *system = NULL;
    if (yoke_plan_create(ctx, model, &whole, &plan) == YOKE_OK &&
        yoke_system_create(ctx, plan, NULL, &system) == YOKE_OK)
      yoke_system_destroy(&system);
    yoke_plan_destroy(&plan);
  }
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return 0;
}
