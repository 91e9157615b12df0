/* Formulas: outputs that are expressions of others, evaluated from exactly the numbers that are shown. */
#ifndef YOKE_MASTER_OUTPUT_FORMULAS_H
#define YOKE_MASTER_OUTPUT_FORMULAS_H

#include "master/outputs.h"

/* Those of a list at work, and those that they read. */
typedef struct yoke_formula_work {
  const yoke_output_formulas *formulas;
  bool                       *is_read;   /* [n_references] */
  double                     *variables; /* [n_references + 1] t, then references: to be filled but for formulas */
  int                         n_order;
  int                        *order;       /* [n_order] formulas by rising depth */
  int                        *variable_of; /* [n] which variable a formula is for others; -1: none */
  double                     *value;       /* [n] */
} yoke_formula_work;

/* For the formulas of list [n] (formulas NULL: there are none); arrays from the arena. false: out of memory. */
bool yoke_formula_work_create(yoke_arena *arena, const yoke_output_formulas *formulas, int n, const yoke_output *list,
                              yoke_formula_work *out);
void yoke_formula_work_evaluate(const yoke_formula_work *work);

#endif
