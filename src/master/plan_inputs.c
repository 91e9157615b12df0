/* Inputs of a plan: numbers from outside, and what the inputs of foreign subsystems read.
 *
 * An input of a foreign subsystem is an expression of outputs.
 *   1. All of them are shown at one place (a native part, or one port of a foreign subsystem): one signal carries the expression.
 *   2. They are at several places and the expression is affine in them: one signal for each, which add up in the input.
 *   3. It is an input of the model, or a constant: nothing is coupled, the number enters directly. */
#include "master/plan_directory.h"

#include "master/foreign_part.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- inputs of the model ---- */

/* Numbers that may enter directly beside inputs of the model: constants of foreign subsystems. */
static size_t most_constants(const yoke_model *model) {
  size_t n = 0;
  for (int i = 0; i < model->n_foreigns; ++i) n += (size_t)model->foreigns[i].n_inputs;
  return n;
}

yoke_status plan_take_inputs(plan_builder *b) {
  yoke_plan        *plan  = b->plan;
  yoke_arena       *arena = &plan->arena;
  const yoke_model *model = b->model;
  const size_t      more  = most_constants(model) + 1;
  plan->inputs            = yoke_arena_take(arena, (size_t)model->n_inputs + more, sizeof *plan->inputs);
  plan->held              = yoke_arena_take(arena, (size_t)b->n_signals + more, sizeof *plan->held);
  if (arena->has_failed) return plan_no_memory(b);
  for (int k = 0; k < model->n_inputs; ++k) {
    const yoke_model_input *from   = &model->inputs[k];
    plan->inputs[plan->n_inputs++] = (yoke_plan_input){.name        = yoke_arena_text(arena, from->name),
                                                       .unit        = yoke_arena_text(arena, from->unit),
                                                       .description = yoke_arena_text(arena, from->description),
                                                       .value       = from->value};
  }
  return arena->has_failed ? plan_no_memory(b) : YOKE_OK;
}

/* ---- what an input reads ---- */

/* One output that it reads, and where it is shown. */
typedef struct source {
  int         number; /* of the variable */
  const char *name;
  yoke_output output;
  int         part, port; /* port of a foreign part; -1: a native one, which gets a port for it */
  int         y;          /* of that port */
} source;

/* An input that is being connected. */
typedef struct reading {
  const yoke_foreign       *foreign;
  const yoke_foreign_input *input;
  plan_end                  to;
  int                       n;
  source                   *list; /* [n] */
  bool                      has_t;
} reading;

static yoke_status refuse(const plan_builder *b, const reading *r, const char *name, const char *why) {
  return yoke_fail(b->ctx, YOKE_E_MODEL, "%s: found '%s', %s", r->input->where, name, why);
}

static yoke_status look_at(const plan_builder *b, const reading *r, source *s) {
  switch (s->output.source) {
  case YOKE_OUTPUT_PART: break;
  case YOKE_OUTPUT_INPUT: return YOKE_OK;
  case YOKE_OUTPUT_WIRE:
    return refuse(
        b, r, s->name,
        "which lies between two subsystems: read quantities of the bodies at its ends instead, or keep them in "
        "one subsystem");
  case YOKE_OUTPUT_TOTAL: return refuse(b, r, s->name, "which is a sum over all subsystems: read quantities of one");
  case YOKE_OUTPUT_ZERO: return refuse(b, r, s->name, "which is always 0: leave it out");
  case YOKE_OUTPUT_FORMULA:
  case YOKE_OUTPUT_NONE: return refuse(b, r, s->name, "which this run does not have: leave it out");
  }
  s->part                          = s->output.index;
  const yoke_foreign_part *foreign = plan_foreign(b, s->part);
  s->port                          = -1;
  if (s->part == r->to.part) return refuse(b, r, s->name, "an output of the same subsystem: it knows its own outputs");
  if (foreign == NULL) return YOKE_OK;
  s->port = yoke_foreign_part_port_of(foreign, yoke_handle_output(s->output.handle));
  s->y    = yoke_handle_output(s->output.handle) - foreign->y_at[s->port];
  return YOKE_OK;
}

static yoke_status look_at_all(const plan_builder *b, reading *r) {
  const yoke_expression *value = r->input->value;
  for (int k = 0; k < yoke_expression_n_variables(value); ++k) {
    const int number = yoke_expression_variables(value)[k];
    if (number == 0) {
      r->has_t = true;
      continue;
    }
    source *s = &r->list[r->n++];
    *s        = (source){.number = number,
                         .name   = b->model->references[number - 1].name,
                         .output = b->plan->formulas.references[number - 1]};
    YOKE_TRY(look_at(b, r, s));
  }
  return YOKE_OK;
}

/* ---- connections ---- */

static void hold(const plan_builder *b, const reading *r, int number) {
  yoke_plan *plan            = b->plan;
  plan->held[plan->n_held++] = (yoke_held_entry){.number = number, .subsystem = r->to.part, .input = r->to.input};
}

/* A number that enters directly: a constant, or an input of the model as it is. */
static yoke_status connect_number(const plan_builder *b, const reading *r) {
  yoke_plan *plan = b->plan;
  if (r->n > 0) {
    hold(b, r, r->list[0].output.index);
    return YOKE_OK;
  }
  const int number     = plan->n_inputs + plan->n_constants++;
  plan->inputs[number] = (yoke_plan_input){.value = yoke_expression_evaluate(r->input->value, NULL, NULL)};
  hold(b, r, number);
  return YOKE_OK;
}

/* Side 1 of a signal that reads n sources of one place. */
static yoke_status place(plan_builder *b, const source *list, int n, plan_end *end, int *n_values) {
  const yoke_foreign_part *foreign = plan_foreign(b, list->part);
  *end                             = (plan_end){.part = list->part, .port = list->port, .shape = &yoke_shape_signal};
  if (foreign != NULL) {
    const yoke_foreign *from = &b->model->foreigns[b->model->parts[list->part].foreign];
    for (int k = 0; k < from->n_ports; ++k) {
      if (foreign->port[k] == list->port) end->shape = from->ports[k].shape;
    }
    *n_values = foreign->n_y[list->port];
    return YOKE_OK;
  }
  int64_t *handles = yoke_allocate((size_t)n, sizeof *handles);
  if (handles == NULL) return plan_no_memory(b);
  for (int k = 0; k < n; ++k) handles[k] = list[k].output.handle;
  *n_values = n;
  end->port = yoke_submodel_add_signal_port(plan_submodel(b, list->part), n, handles);
  free(handles);
  return end->port >= 0 ? YOKE_OK : plan_no_memory(b);
}

/* One signal with the whole expression, whose variables become values of the port. */
static yoke_status connect_place(plan_builder *b, const reading *r) {
  yoke_signal_law  law = {.factor = 1.0};
  yoke_expression *own = NULL;
  plan_end         from;
  char             name[600];
  YOKE_TRY(place(b, r->list, r->n, &from, &law.n));
  int *number = yoke_allocate((size_t)b->model->n_references + 1, sizeof *number);
  if (number == NULL) return plan_no_memory(b);
  for (int k = 0; k < r->n; ++k) number[r->list[k].number] = 1 + (r->list[k].port >= 0 ? r->list[k].y : k);
  const yoke_status status = yoke_expression_replace(r->input->value, number, NULL, &own);
  free(number);
  if (status != YOKE_OK) return plan_no_memory(b);
  law.expression = own;
  snprintf(name, sizeof name, "%s.%s", r->foreign->name, r->input->name);
  return plan_add_signal(b, name, &from, &r->to, &law);
}

/* One signal for every output; the constant goes with the first. */
static yoke_status connect_sum(plan_builder *b, const reading *r) {
  double *zeros = yoke_allocate((size_t)b->model->n_references + 1 + (size_t)r->n, sizeof *zeros);
  if (zeros == NULL) return plan_no_memory(b);
  double      *slope = zeros + b->model->n_references + 1;
  const double constant =
      yoke_expression_evaluate(r->input->value, zeros, slope); /* variables in the order of the list */
  yoke_status status = YOKE_OK;
  for (int k = 0; k < r->n && status == YOKE_OK; ++k) {
    const source   *s   = &r->list[k];
    yoke_signal_law law = {.factor = slope[k], .offset = k == 0 ? constant : 0.0};
    plan_end        from;
    char            name[600];
    snprintf(name, sizeof name, "%s.%s[%d]", r->foreign->name, r->input->name, k + 1);
    status = place(b, s, 1, &from, &law.n);
    if (status == YOKE_OK && s->port >= 0 && law.n > 1) {
      law.expression = plan_pick(s->y + 1);
      if (law.expression == NULL) status = plan_no_memory(b);
    }
    if (status == YOKE_OK) status = plan_add_signal(b, name, &from, &r->to, &law);
  }
  free(zeros);
  return status;
}

/* Is it nothing but the output that it reads? */
static yoke_status find_plain(const plan_builder *b, const reading *r, bool *is_plain) {
  double *zeros = yoke_allocate((size_t)b->model->n_references + 1, sizeof *zeros), slope = 0.0;
  if (zeros == NULL) return plan_no_memory(b);
  *is_plain = r->n == 1 && !r->has_t && yoke_expression_is_affine(r->input->value) &&
              yoke_expression_evaluate(r->input->value, zeros, &slope) == 0.0 && slope == 1.0;
  free(zeros);
  return YOKE_OK;
}

/* An output at another place than the first; NULL: all are at one. */
static const char *elsewhere(const reading *r) {
  for (int k = 1; k < r->n; ++k) {
    if (r->list[k].part != r->list[0].part || r->list[k].port != r->list[0].port) return r->list[k].name;
  }
  return NULL;
}

static yoke_status connect(plan_builder *b, reading *r) {
  bool is_plain  = false;
  int  n_numbers = 0;
  YOKE_TRY(look_at_all(b, r));
  YOKE_TRY(find_plain(b, r, &is_plain));
  for (int k = 0; k < r->n; ++k) n_numbers += r->list[k].output.source == YOKE_OUTPUT_INPUT;
  if (r->n == 0 && r->has_t)
    return refuse(b, r, yoke_expression_text(r->input->value),
                  "an expression of t alone: the subsystem knows the time itself");
  if (r->n == 0 || (n_numbers == 1 && is_plain)) return connect_number(b, r);
  if (n_numbers > 0)
    return refuse(b, r, yoke_expression_text(r->input->value),
                  "which makes something of an input of the model: give the subsystem that input by its name, and what "
                  "else it reads as another input");
  const char *other = elsewhere(r);
  if (other == NULL) return connect_place(b, r);
  if (yoke_expression_is_affine(r->input->value) && !r->has_t) return connect_sum(b, r);
  return yoke_fail(
      b->ctx, YOKE_E_MODEL,
      "%s: found '%s', which reads '%s' and '%s' of several subsystems and is no sum of them with constant "
      "factors: give the subsystem an input for each",
      r->input->where, yoke_expression_text(r->input->value), r->list[0].name, other);
}

yoke_status plan_connect_inputs(plan_builder *b) {
  for (int i = 0; i < b->plan->n_foreigns; ++i) {
    const yoke_foreign      *foreign = &b->model->foreigns[i];
    const yoke_foreign_part *own     = &b->plan->foreigns[i];
    for (int k = 0; k < foreign->n_inputs; ++k) {
      const int port = own->input[k];
      reading   r    = {.foreign = foreign,
                        .input   = &foreign->inputs[k],
                        .to = {.part = foreign->part, .port = port, .input = own->u_at[port], .shape = &yoke_shape_signal}};
      r.list         = yoke_allocate((size_t)yoke_expression_n_variables(r.input->value) + 1, sizeof *r.list);
      if (r.list == NULL) return plan_no_memory(b);
      const yoke_status status = connect(b, &r);
      free(r.list);
      YOKE_TRY(status);
    }
  }
  return YOKE_OK;
}
