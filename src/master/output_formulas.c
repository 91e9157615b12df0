#include "master/output_formulas.h"

static int deepest(const yoke_output_formulas *f) {
  int depth = 0;
  for (int i = 0; i < f->n; ++i) depth = f->list[i].depth > depth ? f->list[i].depth : depth;
  return depth;
}

/* References of one formula are read, formulas among them evaluated. */
static void mark_reads(const yoke_formula_work *w, const yoke_expression *x, bool *is_evaluated) {
  for (int k = 0; k < yoke_expression_n_variables(x); ++k) {
    const int reference = yoke_expression_variables(x)[k] - 1;
    if (reference < 0) continue; /* t */
    const yoke_output *read = &w->formulas->references[reference];
    w->is_read[reference]   = true;
    if (read->source == YOKE_OUTPUT_FORMULA) is_evaluated[read->index] = true;
  }
}

bool yoke_formula_work_create(yoke_arena *arena, const yoke_output_formulas *formulas, int n, const yoke_output *list,
                              yoke_formula_work *out) {
  static const yoke_output_formulas none = {0};
  const yoke_output_formulas       *f    = formulas != NULL ? formulas : &none;
  const size_t                      n_f = (size_t)f->n + 1, n_r = (size_t)f->n_references + 1;
  bool                             *is_evaluated = yoke_arena_take(arena, n_f, sizeof *is_evaluated);
  *out                                           = (yoke_formula_work){.formulas    = f,
                                                                       .is_read     = yoke_arena_take(arena, n_r, sizeof(bool)),
                                                                       .variables   = yoke_arena_take(arena, n_r, sizeof(double)),
                                                                       .order       = yoke_arena_take(arena, n_f, sizeof(int)),
                                                                       .variable_of = yoke_arena_take(arena, n_f, sizeof(int)),
                                                                       .value       = yoke_arena_take(arena, n_f, sizeof(double))};
  if (arena->has_failed) return false;
  for (int i = 0; i < n; ++i) {
    if (list[i].source == YOKE_OUTPUT_FORMULA) is_evaluated[list[i].index] = true;
  }
  for (int depth = deepest(f); depth >= 0; --depth) { /* what a formula reads is less deep */
    for (int i = 0; i < f->n; ++i) {
      if (is_evaluated[i] && f->list[i].depth == depth) mark_reads(out, f->list[i].expression, is_evaluated);
    }
  }
  for (int depth = 0; depth <= deepest(f); ++depth) {
    for (int i = 0; i < f->n; ++i) {
      if (is_evaluated[i] && f->list[i].depth == depth) out->order[out->n_order++] = i;
    }
  }
  for (int i = 0; i < f->n; ++i) out->variable_of[i] = -1;
  for (int k = 0; k < f->n_references; ++k) {
    if (f->references[k].source == YOKE_OUTPUT_FORMULA) out->variable_of[f->references[k].index] = k + 1;
  }
  return true;
}

void yoke_formula_work_evaluate(const yoke_formula_work *w) {
  for (int i = 0; i < w->n_order; ++i) {
    const int k = w->order[i];
    w->value[k] = yoke_expression_evaluate(w->formulas->list[k].expression, w->variables, NULL);
    if (w->variable_of[k] >= 0) w->variables[w->variable_of[k]] = w->value[k];
  }
}
