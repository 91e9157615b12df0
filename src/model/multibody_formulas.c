/* Force elements whose force is an expression of the model's variables: F(t, q, v) along the row of the element, -F grad on its bodies.
 * They store nothing, but for laws of their deflection alone; what they take from the bodies counts as dissipated. */
#include "model/multibody_internal.h"

#include <math.h>
#include <string.h>

double mb_formula_row(const yoke_multibody *mb, const mb_formula *formula, const mb_work *w, yoke_link_state *state,
                      double grad[12]) {
  const yoke_force_element *el = &mb->forces[formula->force];
  yoke_link_state_set(&el->link, w->pose, state);
  yoke_row_gradient(&el->row[0], state, grad);
  return yoke_expression_evaluate(formula->expression, w->variables, NULL);
}

yoke_status mb_formula_forces(const yoke_multibody *mb, const mb_work *w) {
  for (int i = 0; i < mb->n_formulas; ++i) {
    const int      *node = mb->forces[mb->formulas[i].force].link.node;
    yoke_link_state state;
    double          grad[12];
    const double    F = mb_formula_row(mb, &mb->formulas[i], w, &state, grad);
    if (!isfinite(F)) return YOKE_NON_FINITE;
    for (int k = 0; k < 6; ++k) {
      w->wrench[6 * node[0] + k] -= F * grad[k];
      w->wrench[6 * node[1] + k] -= F * grad[6 + k];
    }
  }
  return YOKE_OK;
}

double mb_formula_power(const yoke_multibody *mb, const mb_work *w) {
  double power = 0.0;
  for (int i = 0; i < mb->n_formulas; ++i) {
    yoke_link_state state;
    double          grad[12];
    if (mb->formulas[i].elastic != NULL) continue;
    const double F = mb_formula_row(mb, &mb->formulas[i], w, &state, grad);
    power += F * yoke_row_rate(grad, &state);
  }
  return power;
}

double mb_formula_potential(const yoke_multibody *mb, const mb_work *w) {
  double V = 0.0;
  for (int i = 0; i < mb->n_formulas; ++i) {
    const mb_formula *formula = &mb->formulas[i];
    if (formula->elastic != NULL) V += yoke_law_potential(formula->elastic, w->variables[formula->x]);
  }
  return V;
}

bool yoke_multibody_is_element(const yoke_multibody *mb, int connection) {
  return mb->connection_force[connection] >= 0;
}

void yoke_multibody_element_response(const yoke_multibody *mb, void *work, int connection, double t, const double *q,
                                     const double *v, const double *u, const yoke_element_change *change, double *dy) {
  const yoke_expression *formula = mb->model->connections[connection].formula;
  const int              n       = change->n;
  mb_work                w;
  memset(dy, 0, (size_t)n * sizeof *dy);
  if (formula == NULL) return;
  mb_work_carve(mb, work, &w);
  yoke_multibody_variables(mb, work, t, q, v, u, w.variables);
  mb_poses(mb, &w, q, v, false);
  yoke_expression_evaluate(formula, w.variables, w.gradient);
  for (int i = 0; i < yoke_expression_n_variables(formula); ++i) {
    const int   number = yoke_expression_variables(formula)[i], input = mb_input_of(mb, number) - change->first;
    mb_gradient g = {.n = 0};
    if (input >= 0 && input < n) dy[input] += w.gradient[i];
    if (number > 0) mb_variable_gradient(mb, &w, number, q, change->a, &g);
    for (int e = 0; e < g.n; ++e) {
      const double *rows = g.entry[e].level == YOKE_LEVEL_ACCELERATION ? change->da
                           : g.entry[e].level == YOKE_LEVEL_FORCE      ? change->dlambda
                                                                       : NULL;
      for (int k = 0; rows != NULL && k < n; ++k)
        dy[k] += w.gradient[i] * g.entry[e].value * rows[(ptrdiff_t)g.entry[e].index * n + k];
    }
  }
}
