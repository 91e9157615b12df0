/* libFuzzer entry: any bytes as a model file. Loading, compiling and assembling must end with a status, never a crash. */
#include <stddef.h>
#include <stdint.h>

#include "master/simulation.h"
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
    yoke_simulation *simulation = NULL;
    if (yoke_simulation_create(ctx, model, &simulation) == YOKE_OK) yoke_simulation_destroy(&simulation);
  }
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return 0;
}
