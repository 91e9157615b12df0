/* On which sides of its jumps a model lies: loads, laws and formulas that are written down, with steps, signs or comparisons of the state. */
#include "model/multibody_internal.h"

#include "base/pack.h"

enum { TIME_OF_LOADS = 0, TIME_OF_FORMULAS = 0, TIME_OF_LAWS = 2 }; /* which variable of the expression is the time */

/* As they are written, whatever is held (multibody_jumps.c). */
static const yoke_expression *load_value(const yoke_multibody *mb, int i, int k) {
  if (mb->loads[i].node >= mb->n_nodes) return NULL; /* acts on the world outside */
  return mb->model->loads[i].value[k];
}

static const yoke_expression *law_of(const yoke_multibody *mb, const yoke_force_element *element) {
  return element->law != NULL ? mb->model->connections[element->connection].law.expression : NULL;
}

static const yoke_expression *formula_of(const yoke_multibody *mb, int i) {
  return mb->model->connections[mb->forces[mb->formulas[i].force].connection].formula;
}

bool mb_find_jumps(const yoke_multibody *mb) {
  for (int i = 0; i < mb->n_loads; ++i) {
    for (int k = 0; k < 3; ++k) {
      const yoke_expression *value = load_value(mb, i, k);
      if (value != NULL && yoke_expression_can_jump(value, TIME_OF_LOADS)) return true;
    }
  }
  for (int i = 0; i < mb->n_forces; ++i) {
    const yoke_expression *law = law_of(mb, &mb->forces[i]);
    if (law != NULL && yoke_expression_can_jump(law, TIME_OF_LAWS)) return true;
  }
  for (int i = 0; i < mb->n_formulas; ++i) {
    if (formula_of(mb, i) != NULL && yoke_expression_can_jump(formula_of(mb, i), TIME_OF_FORMULAS)) return true;
  }
  return false;
}

uint64_t mb_load_branch(uint64_t sum, const yoke_multibody *mb, const mb_work *w, int i) {
  for (int k = 0; k < 3; ++k) {
    const yoke_expression *value = load_value(mb, i, k);
    if (value != NULL) sum = yoke_expression_branch(sum, value, w->variables, TIME_OF_LOADS);
  }
  return sum;
}

uint64_t mb_law_branch(uint64_t sum, const yoke_multibody *mb, const mb_work *w, int i_force, double t) {
  const yoke_force_element *element = &mb->forces[i_force];
  yoke_link_state           state;
  if (law_of(mb, element) == NULL) return sum;
  yoke_link_state_set(&element->link, w->pose, &state);
  for (int i = 0; i < element->n; ++i) {
    double       grad[12];
    const double x            = yoke_row_gradient(&element->row[i], &state, grad) - element->offset[i];
    const double variables[3] = {x, yoke_row_rate(grad, &state), t};
    sum                       = yoke_expression_branch(sum, law_of(mb, element), variables, TIME_OF_LAWS);
  }
  return sum;
}

uint64_t mb_formula_branch(uint64_t sum, const yoke_multibody *mb, const mb_work *w, int i) {
  return formula_of(mb, i) != NULL ? yoke_expression_branch(sum, formula_of(mb, i), w->variables, TIME_OF_FORMULAS)
                                   : sum;
}

uint64_t mb_branch(const void *self, void *work, double t, const double *q, const double *v, const double *u) {
  const yoke_multibody *mb  = self;
  uint64_t              sum = YOKE_CHECKSUM_START;
  mb_work               w;
  if (!mb->can_jump) return 0;
  if (mb->n_loop > 0) mb_feel_at(mb, work, t, q, v, u);
  mb_work_carve(mb, work, &w);
  mb_poses(mb, &w, q, v, false);
  mb_ghost_poses(mb, &w, u);
  if (mb->needs_variables) mb_variables(mb, &w, t, q, v, u);
  if (mb_rests(mb, q))
    sum = yoke_checksum(sum, &t, sizeof t); /* J does not know how shares depend on the state: nowhere alike */
  for (int i = 0; i < mb->n_loads; ++i) sum = mb_load_branch(sum, mb, &w, i);
  for (int i = 0; i < mb->n_forces; ++i) sum = mb_law_branch(sum, mb, &w, i, t);
  for (int i = 0; i < mb->n_formulas; ++i) sum = mb_formula_branch(sum, mb, &w, i);
  return sum;
}
