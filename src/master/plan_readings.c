/* Readings of a plan: what the law of an element between two parts reads besides its deflection.
 *
 * The law is evaluated where both ports are known, by the coupling. What it reads are outputs of the two ports, behind those of their shapes:
 *   1. a quantity of a side is shown by the port of that side;
 *   2. quantities of third parts and inputs of the model are signals to the host, a side that is native, whose port shows them as they came in. */
#include "master/plan_builder.h"

#include <stdlib.h>

/* The side whose port shows what belongs to part `source`; -1: both sides are foreign and show what they have. */
static int side_of(const plan_builder *b, const int part[2], int source) {
  for (int side = 0; side < 2; ++side) {
    if (source == part[side] && plan_foreign(b, part[side]) == NULL) return side;
  }
  return plan_foreign(b, part[0]) == NULL ? 0 : plan_foreign(b, part[1]) == NULL ? 1 : -1;
}

static bool is_own(const plan_builder *b, int connection, int variable) {
  const yoke_variable *v = &b->model->variables[variable];
  return v->kind == YOKE_VARIABLE_DEFLECTION && v->object == connection;
}

yoke_status plan_note_readings(plan_builder *b, int c, const int part[2]) {
  const yoke_connection *connection = &b->model->connections[c];
  const yoke_expression *formula    = connection->formula;
  for (int k = 0; formula != NULL && k < yoke_expression_n_variables(formula); ++k) {
    const int variable = yoke_expression_variables(formula)[k] - 1;
    if (variable < 0 || is_own(b, c, variable)) continue; /* t, x, v */
    const int source = plan_variable_part(b, variable), side = side_of(b, part, source);
    if (side < 0)
      return yoke_fail(b->ctx, YOKE_E_MODEL,
                       "the law of '%s' reads quantities of the model, and subsystems '%s' and '%s' at its ends are no "
                       "part of the mechanics: let one of them have the law, and read the quantities as inputs",
                       connection->name, plan_part_name(b, part[0]), plan_part_name(b, part[1]));
    if (source != part[side]) YOKE_TRY(plan_note_signal(b, variable, part[side], 1, &connection->frame[side]));
  }
  return YOKE_OK;
}

/* Number that a variable of the formula has in the law: x, v, t, then what is read in its order. */
static void number_variables(const plan_builder *b, const yoke_plan_coupling *k, const yoke_expression *formula,
                             int *number) {
  int n = 0;
  for (int i = 0; i < yoke_expression_n_variables(formula); ++i) {
    const int variable = yoke_expression_variables(formula)[i] - 1;
    if (variable < 0)
      number[0] = 2;
    else if (is_own(b, k->connection, variable))
      number[variable + 1] = b->model->variables[variable].is_velocity ? 1 : 0;
    else
      number[variable + 1] = 3 + n++;
  }
}

yoke_status plan_take_readings(plan_builder *b, yoke_plan_coupling *k) {
  const yoke_expression *formula = b->model->connections[k->connection].formula;
  if (formula == NULL) return YOKE_OK;
  yoke_arena  *arena   = &b->plan->arena;
  const size_t most    = (size_t)yoke_expression_n_variables(formula) + 1;
  int          next[2] = {yoke_shape_n_y(k->shape[0]), yoke_shape_n_y(k->shape[1])};
  k->read              = yoke_arena_take(arena, most, sizeof *k->read);
  k->read_variable     = yoke_arena_take(arena, most, sizeof *k->read_variable);
  int *number          = yoke_allocate((size_t)b->model->n_variables + 1, sizeof *number);
  if (arena->has_failed || number == NULL) {
    free(number);
    return plan_no_memory(b);
  }
  number_variables(b, k, formula, number);
  const yoke_status status = yoke_expression_replace(formula, number, NULL, &k->law.expression);
  free(number);
  if (status != YOKE_OK) return plan_no_memory(b);
  for (int i = 0; i < yoke_expression_n_variables(formula); ++i) {
    const int variable = yoke_expression_variables(formula)[i] - 1;
    if (variable < 0 || is_own(b, k->connection, variable)) continue;
    const int side              = side_of(b, k->part, plan_variable_part(b, variable));
    k->read[k->n_read]          = (yoke_law_reading){.side = side, .y = next[side]++};
    k->read_variable[k->n_read] = variable;
    ++k->n_read;
  }
  return YOKE_OK;
}

int plan_n_readings(const yoke_plan_coupling *k, int side) {
  int n = 0;
  for (int i = 0; i < k->n_read; ++i) n += k->read[i].side == side;
  return n;
}

yoke_status plan_show_readings(plan_builder *b) {
  for (int c = 0; c < b->plan->n_couplings; ++c) {
    const yoke_plan_coupling *k = &b->plan->couplings[c];
    for (int side = 0; side < 2; ++side) {
      const int n = plan_n_readings(k, side);
      if (n == 0) continue;
      int64_t *handles = yoke_allocate((size_t)n, sizeof *handles);
      if (handles == NULL) return plan_no_memory(b);
      int count = 0;
      for (int i = 0; i < k->n_read; ++i) {
        if (k->read[i].side != side) continue;
        const plan_signal *signal = plan_find_signal(b, k->part[side], k->read_variable[i]);
        handles[count++]          = signal != NULL ? yoke_native_handle(YOKE_NATIVE_INPUT, signal->input, 0)
                                                   : plan_variable_handle(b, &b->model->variables[k->read_variable[i]]);
      }
      const bool is_shown = yoke_submodel_show_signals(plan_submodel(b, k->part[side]), k->port[side], n, handles);
      free(handles);
      if (!is_shown) return plan_no_memory(b);
    }
  }
  return YOKE_OK;
}

yoke_status plan_reading_outputs(const plan_builder *b, int coupling, double t, const yoke_whole_state *at,
                                 double *const y[2]) {
  const yoke_plan_coupling *k = &b->plan->couplings[coupling];
  if (k->n_read == 0) return YOKE_OK;
  double *values = yoke_allocate((size_t)yoke_multibody_n_variables(b->start.mb), sizeof *values);
  if (values == NULL) return plan_no_memory(b);
  yoke_multibody_variables(b->start.mb, b->start.work, t, at->q, at->v, NULL, values);
  for (int i = 0; i < k->n_read; ++i) y[k->read[i].side][k->read[i].y] = values[k->read_variable[i] + 1];
  free(values);
  return YOKE_OK;
}
