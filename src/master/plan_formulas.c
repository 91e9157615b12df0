/* Outputs that the user wrote as expressions of others. */
#include "master/plan_directory.h"

/* What a run does not have is told where it is read first. */
static bool reads(const yoke_expression *x, int reference) {
  for (int k = 0; k < yoke_expression_n_variables(x); ++k) {
    if (yoke_expression_variables(x)[k] == reference + 1) return true;
  }
  return false;
}

static const char *first_reader(const yoke_model *model, int reference) {
  for (int i = 0; i < model->n_user_outputs; ++i) {
    if (reads(model->user_outputs[i].value, reference)) return model->user_outputs[i].where;
  }
  for (int i = 0; i < model->n_foreigns; ++i) {
    const yoke_foreign *foreign = &model->foreigns[i];
    for (int k = 0; k < foreign->n_inputs; ++k) {
      if (reads(foreign->inputs[k].value, reference)) return foreign->inputs[k].where;
    }
  }
  return "outputs";
}

/* The output that reference k names; with another split or method it might be there. */
static yoke_status resolve(plan_builder *b, int k, yoke_output *out) {
  const yoke_output_reference *reference = &b->model->references[k];
  char                         nearest[PLAN_NAME_LENGTH];
  if (reference->user >= 0) {
    *out = (yoke_output){.source = YOKE_OUTPUT_FORMULA, .index = reference->user};
    return YOKE_OK;
  }
  if (plan_search(b->plan, reference->name, out, nearest)) return YOKE_OK;
  const char *where = first_reader(b->model, k);
  *out              = (yoke_output){.source = YOKE_OUTPUT_NONE};
  if (plan_is_absent(b->plan, reference->name)) {
    yoke_note(b->ctx, "%s: '%s' does not exist in this run, nor what is made of it", where, reference->name);
    return YOKE_OK;
  }
  char why[PLAN_WHY_LENGTH];
  if (plan_is_untold(b->plan, reference->name, why, sizeof why))
    return yoke_fail(b->ctx, YOKE_E_MODEL, "%s: '%s' does not exist: %s", where, reference->name, why);
  return yoke_fail(b->ctx, YOKE_E_MODEL, "%s: found '%s', expected the name of an output%s%s%s", where, reference->name,
                   nearest[0] != '\0' ? "; did you mean '" : "", nearest, nearest[0] != '\0' ? "'?" : "");
}

static bool reads_absent(const yoke_output_formulas *f, const yoke_output_formula *formula) {
  for (int k = 0; k < yoke_expression_n_variables(formula->expression); ++k) {
    const int reference = yoke_expression_variables(formula->expression)[k] - 1;
    if (reference < 0) continue; /* t */
    const yoke_output *read = &f->references[reference];
    if (read->source == YOKE_OUTPUT_NONE) return true;
    if (read->source == YOKE_OUTPUT_FORMULA && f->list[read->index].is_absent) return true;
  }
  return false;
}

void plan_mark_absent(yoke_output_formulas *f) {
  for (int depth = 0, is_more = 1; is_more; ++depth) {
    is_more = 0;
    for (int i = 0; i < f->n; ++i) {
      is_more |= f->list[i].depth > depth;
      if (f->list[i].depth == depth) f->list[i].is_absent = reads_absent(f, &f->list[i]);
    }
  }
}

yoke_status plan_take_formulas(plan_builder *b) {
  const yoke_model     *model = b->model;
  yoke_output_formulas *f     = &b->plan->formulas;
  yoke_arena           *arena = &b->plan->arena;
  f->list                     = yoke_arena_take(arena, (size_t)model->n_user_outputs + 1, sizeof *f->list);
  f->references               = yoke_arena_take(arena, (size_t)model->n_references + 1, sizeof *f->references);
  f->reference_name           = yoke_arena_take(arena, (size_t)model->n_references + 1, sizeof *f->reference_name);
  if (arena->has_failed) return plan_no_memory(b);
  for (int k = 0; k < model->n_references; ++k) {
    f->reference_name[k] = yoke_arena_text(arena, model->references[k].name);
    YOKE_TRY(resolve(b, k, &f->references[k]));
  }
  f->n_references = model->n_references;
  for (int i = 0; i < model->n_user_outputs; ++i) {
    const yoke_user_output *user = &model->user_outputs[i];
    f->list[f->n++]              = (yoke_output_formula){.name        = yoke_arena_text(arena, user->name),
                                                         .unit        = yoke_arena_text(arena, user->unit),
                                                         .description = yoke_arena_text(arena, user->description),
                                                         .expression  = yoke_expression_retain(user->value),
                                                         .depth       = user->depth};
  }
  plan_mark_absent(f);
  return arena->has_failed ? plan_no_memory(b) : YOKE_OK;
}

const char *yoke_plan_output_description(const yoke_plan *plan, int i) {
  const yoke_output *output = &plan->outputs.list[i];
  if (output->source == YOKE_OUTPUT_INPUT) return plan->inputs[output->index].description;
  return output->source == YOKE_OUTPUT_FORMULA ? plan->formulas.list[output->index].description : "";
}
