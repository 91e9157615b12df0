#include "model/model_times.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static yoke_status check(yoke_context *ctx, const yoke_model *m, const char *key, double value) {
  const double span = m->t_end - m->t_start, resolution = 4 * DBL_EPSILON * fmax(fabs(m->t_start), fabs(m->t_end));
  const double least = fmax(span / YOKE_MOST_STEPS, resolution);
  if (!(value > 0.0) || !(value < least)) return YOKE_OK;
  if (value < resolution) {
    return yoke_fail(
        ctx, YOKE_E_MODEL,
        "%s is %.6g s, but times near t = %.6g s can only be told apart from %.3g s on; use at least %.3g s", key,
        value, fmax(fabs(m->t_start), fabs(m->t_end)), resolution, least);
  }
  return yoke_fail(
      ctx, YOKE_E_MODEL,
      "%s is %.6g s: %.3g of them from t = %.6g s to %.6g s, more than the %.0e that a run may have; use at "
      "least %.3g s, or a nearer t_end",
      key, value, span / value, m->t_start, m->t_end, YOKE_MOST_STEPS, least);
}

static yoke_status check_solver(yoke_context *ctx, const yoke_model *m, const char *name, const yoke_solver_def *def) {
  char key[200];
  snprintf(key, sizeof key, "solvers.%.160s.step", name);
  const yoke_status step = check(ctx, m, key, def->step);
  snprintf(key, sizeof key, "solvers.%.160s.max_step", name);
  const yoke_status max_step = check(ctx, m, key, def->max_step);
  return step != YOKE_OK ? step : max_step;
}

yoke_status yoke_model_check_times(yoke_context *ctx, const yoke_model *model) {
  const yoke_setting_value *max = yoke_settings_find(&model->cosimulation.given, "cosimulation.step", "max");
  const struct {
    const char *key;
    double      value;
  } list[]           = {{"output.every", model->output.every},
                        {"cosimulation.step", model->cosimulation.step},
                        {"cosimulation.step.max", max != NULL ? max->number[0] : 0.0}};
  yoke_status status = check_solver(ctx, model, "default", &model->solver);
  for (int k = 0; k < model->n_parts; ++k) {
    const yoke_split_part *part = &model->parts[k];
    const yoke_status      one  = part->has_solver ? check_solver(ctx, model, part->name, &part->solver) : YOKE_OK;
    if (status == YOKE_OK) status = one;
  }
  for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
    if (model->n_parts == 0 && i > 0) break; /* nothing is split: no macro step */
    const yoke_status one = check(ctx, model, list[i].key, list[i].value);
    if (status == YOKE_OK) status = one;
  }
  return status;
}
