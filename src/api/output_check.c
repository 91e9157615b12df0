#include "api/output_check.h"
#include "base/file.h"

static yoke_status check_inputs(yoke_context *ctx, const yoke_model *model, const yoke_output_use *output) {
  for (int i = 0; model != NULL && i < model->n_files; ++i) {
    if (!yoke_file_is_same(output->name, model->files[i])) continue;
    return yoke_fail(ctx, YOKE_E_USAGE, "%s '%s' would overwrite %s '%s'; name another file", output->use, output->name,
                     i == 0 ? "the model file" : "a file that the model includes,", model->files[i]);
  }
  return YOKE_OK;
}

yoke_status yoke_output_check(yoke_context *ctx, const yoke_model *model, int n, const yoke_output_use *outputs) {
  for (int i = 0; i < n; ++i) {
    if (outputs[i].name == NULL) continue;
    YOKE_TRY(check_inputs(ctx, model, &outputs[i]));
    for (int k = 0; k < i; ++k) {
      if (outputs[k].name == NULL || !yoke_file_is_same(outputs[i].name, outputs[k].name)) continue;
      return yoke_fail(ctx, YOKE_E_USAGE, "%s '%s' and %s '%s' are one file; name another one", outputs[k].use,
                       outputs[k].name, outputs[i].use, outputs[i].name);
    }
  }
  return YOKE_OK;
}
