#include "analysis/prediction.h"

#include "analysis/stability.h"
#include "base/cancel.h"
#include "base/memory.h"
#include "master/macro_settings.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  MAX_STATES = 200, /* of the bodies */
  MAX_ROWS   = 400, /* of the amplification matrix */
  DESCENTS   = 10,  /* times the step is divided by DESCENT while a stable one is searched */
  DESCENT    = 4,
  BISECTIONS = 7
};

static const double tolerance = 1e-6; /* of rho in the verdict: below it errors grow too slowly for a warning */
static const double strict    = 0.0;  /* in the step that is named: as yoke stability --limit has it */

static int n_states(const yoke_model *model) {
  int n = 0;
  for (int b = 0; b < model->n_bodies && n <= MAX_STATES; ++b) n += 2 * yoke_body_nv(&model->bodies[b]);
  return n;
}

/* ln of the growth over the run beyond that of the model itself. */
static double growth(const yoke_model *model, const yoke_stability_point *point) {
  const double n_steps = ceil((model->t_end - model->t_start) / point->H);
  return n_steps * log(point->rho / fmax(1.0, point->model));
}

/* Largest stable step below `unstable`, to one percent; 0: none down to a millionth of it, or none that can be judged. */
static yoke_status limit_below(yoke_stability *s, double unstable, double slack, yoke_context *ctx, double *stable) {
  yoke_stability_point point;
  *stable = 0.0;
  for (int i = 0; i < DESCENTS && *stable == 0.0; ++i) {
    YOKE_TRY(yoke_stability_at(s, unstable / DESCENT, &point, ctx));
    if (yoke_stability_is_stable(&point, slack)) {
      *stable = point.H;
    } else {
      unstable = point.H;
    }
  }
  for (int i = 0; i<BISECTIONS && * stable> 0.0; ++i) {
    YOKE_TRY(yoke_stability_at(s, 0.5 * (*stable + unstable), &point, ctx));
    *(yoke_stability_is_stable(&point, slack) ? stable : &unstable) = point.H;
  }
  return YOKE_OK;
}

/* What may help where no step does, and is not in use already. Corrected schemes are alike here: the map is linear. */
static void describe_remedy(const yoke_model *model, char *text, size_t size) {
  yoke_macro_settings macro;
  yoke_macro_settings_read(model, 1.0, false, &macro);
  const bool  is_corrected = strstr(macro.scheme.scheme, "implicit") != NULL;
  const char *order        = macro.scheme.order == 0 ? "" : is_corrected ? "a lower order or " : "a lower order, ";
  snprintf(text, size, "%sanother formulation%s", order, is_corrected ? "" : " or scheme semi-implicit");
}

static void warn(yoke_context *ctx, const yoke_model *model, const yoke_stability *s, const yoke_stability_point *point,
                 double limit) {
  char about[80] = "", remedy[120];
  if (yoke_stability_is_linearized(s)) snprintf(about, sizeof about, " about the rest state near its start");
  char who[160] = "errors grow"; /* of no coupling in particular */
  if (point->coupling[0] != '\0') snprintf(who, sizeof who, "coupling '%.120s' grows", point->coupling);
  if (limit > 0.0) {
    yoke_warn(ctx,
              "macro step %.6g s is predicted unstable%s: %s by a factor of %.6g per step; the largest "
              "stable step is about %.3g s (yoke stability tells more, --no-predict skips this)",
              point->H, about, who, point->rho, limit);
    return;
  }
  describe_remedy(model, remedy, sizeof remedy);
  yoke_warn(ctx,
            "macro step %.6g s is predicted unstable%s: %s by a factor of %.6g per step, and no smaller step was found "
            "to be stable; use %s (yoke stability tells more, --no-predict skips this)",
            point->H, about, who, point->rho, remedy);
}

yoke_status yoke_predict_stability(yoke_context *ctx, const yoke_model *model, double *grown) {
  yoke_context        *quiet = NULL;
  yoke_stability      *s     = NULL;
  yoke_stability_point point;
  *grown = (double)NAN;
  if (model->n_parts == 0 || model->n_foreigns > 0 || !model->cosimulation.has_step || n_states(model) > MAX_STATES)
    return YOKE_OK;
  yoke_status status = yoke_context_create(&quiet);
  if (status == YOKE_OK) yoke_context_watch_with(quiet, ctx, true);
  if (status == YOKE_OK) status = yoke_stability_create(quiet, model, MAX_ROWS, &s);
  if (status == YOKE_OK)
    status = yoke_stability_at(s, fmin(model->cosimulation.step, model->t_end - model->t_start), &point, quiet);
  const bool is_stable = status != YOKE_OK || yoke_stability_is_stable(&point, tolerance);
  if (status == YOKE_OK) *grown = is_stable ? 1.0 : fmax(1.0, exp(fmin(growth(model, &point), 200.0)));
  if (!is_stable && growth(model, &point) > log(10.0)) {
    double limit = 0.0;
    status       = limit_below(s, point.H, strict, quiet, &limit);
    if (status == YOKE_OK && limit == 0.0) status = limit_below(s, point.H, tolerance, quiet, &limit); /* undamped */
    if (status != YOKE_E_MEMORY) warn(ctx, model, s, &point, limit);
  }
  yoke_stability_destroy(&s);
  yoke_context_destroy(&quiet);
  if (status != YOKE_E_MEMORY) return YOKE_OK;
  return yoke_out_of_memory(ctx, "the prediction whether the macro step is stable; --no-predict skips it");
}
