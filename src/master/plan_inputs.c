/* Inputs of a plan: numbers from outside, and what the inputs of foreign subsystems read.
 *
 * An input of a foreign subsystem is an expression of outputs and of inputs of the model.
 *   1. All of them are shown at one place (a native part, or one port of a foreign subsystem): one signal carries the expression.
 *   2. They are at several places and the expression is affine in them: one signal for each, which add up in the input.
 *   3. It is an input of the model, or a constant: nothing is coupled, the number enters directly.
 *   4. Anything else is gathered by a native part, the host: what it does not show itself enters it and is shown as it came in, so that all are
 *      at one place. */
#include "master/plan_directory.h"

#include "master/foreign_part.h"
#include "model/joint_formula.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- inputs of the model ---- */

/* Numbers that may enter for the inputs of foreign subsystems: inputs of the model, or a constant. */
static size_t most_numbers(const yoke_model *model) {
  size_t n = 0;
  for (int i = 0; i < model->n_foreigns; ++i) {
    for (int k = 0; k < model->foreigns[i].n_inputs; ++k)
      n += (size_t)yoke_expression_n_variables(model->foreigns[i].inputs[k].value) + 1;
  }
  return n;
}

yoke_status plan_take_inputs(plan_builder *b) {
  yoke_plan        *plan  = b->plan;
  yoke_arena       *arena = &plan->arena;
  const yoke_model *model = b->model;
  const size_t      more  = most_numbers(model) + 1;
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
  const char *name;
  yoke_output output;
  int         part, port; /* port of a foreign part; -1: a native one, which gets a port for it */
  int         y;          /* of that port */
} source;

/* An input that is being connected. */
typedef struct reading {
  plan_builder             *b;
  const yoke_foreign       *foreign;
  const yoke_foreign_input *input;
  plan_end                  to;
  int                       n, capacity;
  source                   *list;  /* [n] */
  yoke_expression          *value; /* of t, number 0, and source k, number k + 1 */
  bool                      has_t;
  int                       n_numbers; /* sources that are inputs of the model */
} reading;

static yoke_status refuse(const reading *r, const char *name, const char *why) {
  return yoke_fail(r->b->ctx, YOKE_E_MODEL, "%s: found '%s', %s", r->input->where, name, why);
}

/* Can an input read it? */
static yoke_status check_output(const reading *r, const char *name, const yoke_output *output) {
  switch (output->source) {
  case YOKE_OUTPUT_PART:
    if (output->index != r->to.part) return YOKE_OK;
    return refuse(r, name, "an output of the same subsystem: it knows its own outputs");
  case YOKE_OUTPUT_INPUT: return YOKE_OK;
  case YOKE_OUTPUT_WIRE:
    return refuse(
        r, name,
        "which lies between two subsystems: read quantities of the bodies at its ends instead, or keep them in "
        "one subsystem");
  case YOKE_OUTPUT_TOTAL: return refuse(r, name, "which is a sum over all subsystems: read quantities of one");
  case YOKE_OUTPUT_ACCOUNT:
    return refuse(r, name, "a number of the energy account, which is known behind a step: read quantities of a body");
  case YOKE_OUTPUT_ZERO: return refuse(r, name, "which is always 0: leave it out");
  case YOKE_OUTPUT_FORMULA:
  case YOKE_OUTPUT_NONE: break;
  }
  return refuse(r, name, "which this run does not have: leave it out");
}

/* Number of the source that is this output, a new one if need be. */
static int number_of(reading *r, const char *name, const yoke_output *output) {
  for (int k = 0; k < r->n; ++k) {
    const yoke_output *known = &r->list[k].output;
    if (known->source == output->source && known->index == output->index && known->handle == output->handle)
      return k + 1;
  }
  source *s = &r->list[r->n++];
  *s        = (source){.name = name, .output = *output, .part = PLAN_OUTSIDE, .port = -1};
  if (output->source == YOKE_OUTPUT_INPUT) {
    ++r->n_numbers;
    return r->n;
  }
  s->part                          = output->index;
  const yoke_foreign_part *foreign = plan_foreign(r->b, s->part);
  if (foreign != NULL) {
    s->port = yoke_foreign_part_port_of(foreign, yoke_handle_output(output->handle));
    s->y    = yoke_handle_output(output->handle) - foreign->y_at[s->port];
  }
  return r->n;
}

/* The output that is a state of a body or of a frame. */
static int number_of_variable(void *user, const yoke_variable *v) {
  reading          *r     = user;
  const yoke_place  place = yoke_place_find(&r->b->plan->places, v->body, v->mass);
  const yoke_output output =
      v->kind == YOKE_VARIABLE_FRAME
          ? (yoke_output){.source = YOKE_OUTPUT_PART, .index = place.part, .handle = plan_variable_handle(r->b, v)}
          : plan_component_output(r->b->plan, v->body, v->is_velocity ? YOKE_NATIVE_V : YOKE_NATIVE_Q,
                                  v->mass + v->component);
  char name[300];
  yoke_variable_name(r->b->model, v, name, sizeof name);
  const char *kept = yoke_arena_text(&r->b->plan->arena, name);
  return kept != NULL && r->n < r->capacity ? number_of(r, kept, &output) : 0;
}

static bool is_coordinate(const yoke_output *output) {
  return output->source == YOKE_OUTPUT_WIRE &&
         (output->quantity == YOKE_WIRE_COORDINATE || output->quantity == YOKE_WIRE_COORDINATE_RATE);
}

/* The coordinate of a joint between two parts as what its bodies show. */
static yoke_status take_coordinate(reading *r, const yoke_output *output, yoke_expression **out) {
  const int connection = r->b->plan->couplings[output->index].connection;
  const int coordinate =
      output->coordinate->row.kind == YOKE_ROW_ALONG ? YOKE_COORDINATE_DISTANCE : YOKE_COORDINATE_ANGLE;
  const bool is_rate = output->quantity == YOKE_WIRE_COORDINATE_RATE;
  if (yoke_joint_formula(r->b->model, connection, coordinate, is_rate, number_of_variable, r, out) != YOKE_OK)
    return plan_no_memory(r->b);
  for (int k = 0; k < r->n; ++k) YOKE_TRY(check_output(r, r->list[k].name, &r->list[k].output));
  return YOKE_OK;
}

/* The force of a rigid joint between two parts as the input of a native side. */
static bool find_multiplier(const reading *r, const yoke_output *output, yoke_output *out) {
  int part, input;
  if (output->source != YOKE_OUTPUT_WIRE || output->quantity != YOKE_WIRE_FORCE) return false;
  const int c = r->b->plan->couplings[output->index].connection;
  if (c < 0 || !plan_find_multiplier(r->b, c, output->row, -1, &part, &input)) return false;
  *out = (yoke_output){
      .source = YOKE_OUTPUT_PART, .index = part, .handle = yoke_native_handle(YOKE_NATIVE_INPUT, input, 0)};
  return true;
}

/* Sources, and the expression of them. number [n_references + 1], inner [n_references + 1]: all 0. */
static yoke_status look_at_all(reading *r, int *number, yoke_expression **inner) {
  const plan_builder    *b     = r->b;
  const yoke_expression *value = r->input->value;
  for (int i = 0; i < yoke_expression_n_variables(value); ++i) {
    const int k = yoke_expression_variables(value)[i];
    r->has_t    = r->has_t || k == 0;
    if (k == 0) continue;
    const char        *name   = b->model->references[k - 1].name;
    const yoke_output *output = &b->plan->formulas.references[k - 1];
    yoke_output        multiplier;
    if (is_coordinate(output)) {
      YOKE_TRY(take_coordinate(r, output, &inner[k]));
    } else if (find_multiplier(r, output, &multiplier)) {
      number[k] = number_of(r, name, &multiplier);
    } else {
      YOKE_TRY(check_output(r, name, output));
      number[k] = number_of(r, name, output);
    }
  }
  const yoke_status status = yoke_expression_replace(value, number, (const yoke_expression *const *)inner, &r->value);
  if (status == YOKE_E_MODEL)
    return refuse(r, yoke_expression_text(value), "which reads coordinates of joints between subsystems too often");
  return status == YOKE_OK ? YOKE_OK : plan_no_memory(b);
}

static yoke_status look(reading *r) {
  const size_t      n      = (size_t)r->b->model->n_references + 1;
  int              *number = yoke_allocate(n, sizeof *number);
  yoke_expression **inner  = yoke_allocate(n, sizeof(yoke_expression *));
  const yoke_status status = number == NULL || inner == NULL ? plan_no_memory(r->b) : look_at_all(r, number, inner);
  for (size_t k = 0; inner != NULL && k < n; ++k) yoke_expression_destroy(&inner[k]);
  free(inner);
  free(number);
  return status;
}

/* ---- connections ---- */

static void hold(const plan_builder *b, int number, int part, int input) {
  yoke_plan *plan            = b->plan;
  plan->held[plan->n_held++] = (yoke_held_entry){.number = number, .subsystem = part, .input = input};
}

/* A number that enters directly: a constant, or an input of the model as it is. */
static yoke_status connect_number(const reading *r) {
  yoke_plan *plan   = r->b->plan;
  int        number = r->n > 0 ? r->list[0].output.index : plan->n_inputs + plan->n_constants++;
  if (r->n == 0)
    plan->inputs[number] = (yoke_plan_input){.value = yoke_expression_evaluate(r->input->value, NULL, NULL)};
  hold(r->b, number, r->to.part, r->to.input);
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
static yoke_status connect_place(const reading *r) {
  yoke_signal_law  law = {.factor = 1.0};
  yoke_expression *own = NULL;
  plan_end         from;
  char             name[600];
  YOKE_TRY(place(r->b, r->list, r->n, &from, &law.n));
  int *number = yoke_allocate((size_t)r->n + 1, sizeof *number);
  if (number == NULL) return plan_no_memory(r->b);
  for (int k = 0; k < r->n; ++k) number[k + 1] = 1 + (r->list[k].port >= 0 ? r->list[k].y : k);
  const yoke_status status = yoke_expression_replace(r->value, number, NULL, &own);
  free(number);
  if (status != YOKE_OK) return plan_no_memory(r->b);
  law.expression = own;
  snprintf(name, sizeof name, "%s.%s", r->foreign->name, r->input->name);
  return plan_add_signal(r->b, name, &from, &r->to, &law);
}

/* One signal that is source s alone, times a factor. */
static yoke_status connect_source(plan_builder *b, const char *name, const source *s, const plan_end *to, double factor,
                                  double offset) {
  yoke_signal_law law = {.factor = factor, .offset = offset};
  plan_end        from;
  YOKE_TRY(place(b, s, 1, &from, &law.n));
  if (s->port >= 0 && law.n > 1) {
    law.expression = plan_pick(s->y + 1);
    if (law.expression == NULL) return plan_no_memory(b);
  }
  return plan_add_signal(b, name, &from, to, &law);
}

/* Value and slopes [n] where all sources are 0. */
static yoke_status look_at_zero(const reading *r, double *value, double **slope) {
  double *zeros = yoke_allocate(2 * (size_t)r->n + 2, sizeof *zeros);
  *slope        = zeros;
  if (zeros == NULL) return plan_no_memory(r->b);
  *value = yoke_expression_evaluate(r->value, zeros + r->n + 1, zeros); /* variables in the order of the list, no t */
  return YOKE_OK;
}

/* One signal for every output; the constant goes with the first. */
static yoke_status connect_sum(const reading *r) {
  double *slope = NULL, constant = 0.0;
  YOKE_TRY(look_at_zero(r, &constant, &slope));
  yoke_status status = YOKE_OK;
  for (int k = 0; k < r->n && status == YOKE_OK; ++k) {
    char name[600];
    snprintf(name, sizeof name, "%s.%s[%d]", r->foreign->name, r->input->name, k + 1);
    status = connect_source(r->b, name, &r->list[k], &r->to, slope[k], k == 0 ? constant : 0.0);
  }
  free(slope);
  return status;
}

/* ---- by a host ---- */

/* The value that a source of a native part has in the assembled model, for the search of its signal; 0: it is none of its motions. */
static double value_at_start(const plan_builder *b, const source *s) {
  const yoke_start          *start    = &b->start;
  const yoke_native_quantity quantity = yoke_native_quantity_of(s->output.handle);
  const int                  index    = yoke_native_index_of(s->output.handle);
  const int                  k        = yoke_native_component_of(s->output.handle);
  const bool                 is_rate  = quantity == YOKE_NATIVE_V || quantity == YOKE_NATIVE_FRAME_V;
  for (int body = 0; (quantity == YOKE_NATIVE_Q || quantity == YOKE_NATIVE_V) && body < b->model->n_bodies; ++body) {
    const yoke_place place = yoke_place_find(&b->plan->places, body, 0);
    if (place.part == s->part && place.body == index && b->model->bodies[body].kind != YOKE_BODY_CHAIN)
      return is_rate ? start->v[start->v_at[body] + k] : start->q[start->q_at[body] + k];
  }
  for (int f = 0; (quantity == YOKE_NATIVE_FRAME_Q || quantity == YOKE_NATIVE_FRAME_V) && f < b->model->n_frames; ++f) {
    if (b->frame_map[f] == index && plan_frame_part(b, f) == s->part)
      return yoke_multibody_frame(start->mb, f, is_rate ? YOKE_LEVEL_VELOCITY : YOKE_LEVEL_POSITION, k, start->q,
                                  start->v, NULL);
  }
  return 0.0;
}

/* A source enters the host, which then shows it. */
static yoke_status gather(plan_builder *b, int host, source *s) {
  const yoke_input input = {
      .kind = YOKE_INPUT_SIGNAL, .component = s->output.source == YOKE_OUTPUT_INPUT ? 1 : 0, .factor = 1.0};
  const int    own  = yoke_submodel_add_input(plan_submodel(b, host), &input);
  const source from = *s;
  if (own < 0) return plan_no_memory(b);
  s->part          = host;
  s->port          = -1;
  s->output.handle = yoke_native_handle(YOKE_NATIVE_INPUT, own, 0);
  if (from.output.source == YOKE_OUTPUT_INPUT) {
    hold(b, from.output.index, host, own);
    return YOKE_OK;
  }
  const plan_end to    = {.part = host, .port = -1, .input = own, .shape = &yoke_shape_signal};
  double        *guess = yoke_arena_take(&b->plan->arena, 1, sizeof *guess);
  char           name[600];
  if (guess == NULL) return plan_no_memory(b);
  snprintf(name, sizeof name, "%s -> %s", from.name, plan_part_name(b, host));
  if (from.port < 0) *guess = value_at_start(b, &from);
  YOKE_TRY(connect_source(b, name, &from, &to, 1.0, 0.0));
  if (from.port < 0) b->plan->wires[b->plan->n_couplings - 1].guess = guess;
  return YOKE_OK;
}

/* The first native part that shows one of the sources, else the first one; -1: there is none. */
static int find_host(const reading *r) {
  for (int k = 0; k < r->n; ++k) {
    if (r->list[k].part >= 0 && r->list[k].port < 0) return r->list[k].part;
  }
  return plan_first_native(r->b);
}

static yoke_status connect_by_host(reading *r) {
  const int host = find_host(r);
  if (host < 0)
    return refuse(r, yoke_expression_text(r->input->value),
                  "which makes something of several subsystems or inputs of the model, and there are no bodies whose "
                  "subsystem could gather them: give the subsystem an input for each");
  for (int k = 0; k < r->n; ++k) {
    if (r->list[k].part != host) YOKE_TRY(gather(r->b, host, &r->list[k]));
  }
  return connect_place(r);
}

/* Is it nothing but the output that it reads? */
static yoke_status find_plain(const reading *r, bool *is_plain) {
  double *slope = NULL, value = 0.0;
  *is_plain = false;
  if (r->n != 1 || r->has_t || !yoke_expression_is_affine(r->value)) return YOKE_OK;
  YOKE_TRY(look_at_zero(r, &value, &slope));
  *is_plain = value == 0.0 && slope[0] == 1.0;
  free(slope);
  return YOKE_OK;
}

static bool is_one_place(const reading *r) {
  for (int k = 1; k < r->n; ++k) {
    if (r->list[k].part != r->list[0].part || r->list[k].port != r->list[0].port) return false;
  }
  return r->n_numbers == 0;
}

static yoke_status connect(reading *r) {
  bool is_plain = false;
  YOKE_TRY(look(r));
  YOKE_TRY(find_plain(r, &is_plain));
  if (r->n == 0 && r->has_t)
    return refuse(r, yoke_expression_text(r->input->value),
                  "an expression of t alone: the subsystem knows the time itself");
  if (r->n == 0 || (r->n_numbers == 1 && is_plain)) return connect_number(r);
  if (is_one_place(r)) return connect_place(r);
  if (r->n_numbers == 0 && yoke_expression_is_affine(r->value) && !r->has_t) return connect_sum(r);
  return connect_by_host(r);
}

/* Does the output belong to a connection, whose coordinate it may be? */
static bool is_of_connection(const yoke_model *model, const char *name) {
  char        object[PLAN_NAME_LENGTH];
  const char *dot = strrchr(name, '.');
  if (dot == NULL || (size_t)(dot - name) >= sizeof object) return false;
  memcpy(object, name, (size_t)(dot - name));
  object[dot - name] = '\0';
  return yoke_model_find_connection(model, object) >= 0;
}

size_t plan_most_sources(const yoke_model *model, const yoke_expression *value) {
  size_t n = 0;
  for (int i = 0; i < yoke_expression_n_variables(value); ++i) {
    const int k = yoke_expression_variables(value)[i];
    if (k > 0) n += is_of_connection(model, model->references[k - 1].name) ? YOKE_JOINT_FORMULA_MOST : 1;
  }
  return n;
}

yoke_status plan_connect_inputs(plan_builder *b) {
  for (int i = 0; i < b->plan->n_foreigns; ++i) {
    const yoke_foreign      *foreign = &b->model->foreigns[i];
    const yoke_foreign_part *own     = &b->plan->foreigns[i];
    for (int k = 0; k < foreign->n_inputs; ++k) {
      const int    port = own->input[k];
      const size_t most = plan_most_sources(b->model, foreign->inputs[k].value);
      reading      r    = {.b       = b,
                           .foreign = foreign,
                           .input   = &foreign->inputs[k],
                           .to = {.part = foreign->part, .port = port, .input = own->u_at[port], .shape = &yoke_shape_signal},
                           .capacity = (int)most};
      r.list            = yoke_allocate(most + 1, sizeof *r.list);
      if (r.list == NULL) return plan_no_memory(b);
      const yoke_status status = connect(&r);
      yoke_expression_destroy(&r.value);
      free(r.list);
      YOKE_TRY(status);
    }
  }
  return YOKE_OK;
}
