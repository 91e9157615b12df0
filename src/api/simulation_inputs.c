/* Inputs of a simulation: numbers that are set from outside, between steps. */
#include "api/simulation.h"

#include "base/given.h"
#include "base/sized.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

int yoke_simulation_n_inputs(const yoke_simulation *s) {
  return s->run.plan->n_inputs;
}

static const char *text_of(const char *text) {
  return text != NULL ? text : "";
}

yoke_status yoke_simulation_input(yoke_context *ctx, const yoke_simulation *s, int i, yoke_input_facts *out) {
  const yoke_plan *plan = s->run.plan;
  if (i < 0 || i >= plan->n_inputs)
    return yoke_fail(ctx, YOKE_E_USAGE, "there is no input number %d: the model has %d, counted from 0", i,
                     plan->n_inputs);
  const yoke_plan_input *input = &plan->inputs[i];
  const yoke_input_facts facts = {.name        = input->name,
                                  .unit        = text_of(input->unit),
                                  .description = text_of(input->description),
                                  .value       = yoke_system_input(s->run.system, i)};
  return yoke_sized_show(ctx, out, &facts, sizeof facts, "yoke_input_facts");
}

static yoke_status refuse(yoke_context *ctx, const yoke_plan *plan, const char *name) {
  const char **names   = calloc((size_t)plan->n_inputs + 1, sizeof *names);
  const char  *nearest = NULL;
  for (int i = 0; names != NULL && i < plan->n_inputs; ++i) names[i] = plan->inputs[i].name;
  if (names != NULL) nearest = yoke_text_nearest(name, names, plan->n_inputs);
  const yoke_status status =
      plan->n_inputs == 0 ? yoke_fail(ctx, YOKE_E_USAGE, "there is no input '%s': the model has no `inputs`", name)
                          : yoke_fail(ctx, YOKE_E_USAGE, "there is no input '%s'%s%s%s", name,
                                      nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                                      nearest != NULL ? "'?" : "");
  free(names);
  return status;
}

yoke_status yoke_simulation_find_inputs(yoke_context *ctx, const yoke_simulation *s, int n, const char *const *names,
                                        int *inputs) {
  const yoke_plan *plan   = s->run.plan;
  yoke_status      status = YOKE_OK;
  YOKE_TRY(yoke_given_texts(ctx, n, names, "the name of an input"));
  for (int k = 0; k < n; ++k) {
    int i = 0;
    while (i < plan->n_inputs && strcmp(plan->inputs[i].name, names[k]) != 0) ++i;
    inputs[k] = i;
    if (i == plan->n_inputs) status = refuse(ctx, plan, names[k]);
  }
  return status;
}

yoke_status yoke_simulation_set(yoke_context *ctx, yoke_simulation *s, int n, const int *inputs, const double *values) {
  YOKE_TRY(simulation_check_idle(ctx, s));
  yoke_reader_forget(s->reader);
  return yoke_system_set_inputs(s->run.system, n, inputs, values, ctx);
}
