/* Signals of a plan: numbers that a part reads and does not own.
 *
 *   1. Loads, laws of elements and events are searched for variables of other parts, inputs of the model and outputs of foreign subsystems. Every
 *      (part, variable) gets one input of the part, whatever reads it. What lies between two parts has none: plan_readings.c, plan_cut_joints.c.
 *   2. An input of the model enters it directly (`held`). The force of a rigid joint that is cut is an input of the sides that feel it. Anything
 *      else, and that force in other parts, comes over a wire of formulation signal. */
#include "master/plan_builder.h"

#include "coupling/scheme.h"
#include "master/foreign_part.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is read ---- */

int plan_variable_part(const plan_builder *b, int variable) {
  const yoke_variable *v = &b->model->variables[variable];
  int                  body[2], mass[2];
  if (v->kind == YOKE_VARIABLE_INPUT) return PLAN_OUTSIDE;
  if (v->kind == YOKE_VARIABLE_FOREIGN) return b->model->foreigns[v->object].part;
  if (v->kind == YOKE_VARIABLE_FORCE) {
    int part[2];
    plan_connection_parts(b, v->object, part);
    return part[0] == part[1] ? part[0] : PLAN_BETWEEN;
  }
  (void)yoke_variable_bodies(b->model, v, body,
                             mass); /* of what lies between two bodies both are in one part (plan_cut_joints.c) */
  return yoke_place_find(&b->plan->places, body[0], mass[0]).part;
}

/* Forces of elements between two parts are their couplings' own; those of rigid joints are inputs of the sides. */
static yoke_status refuse_cut_element(const plan_builder *b, const yoke_variable *v) {
  const yoke_connection *c = &b->model->connections[v->object];
  int                    part[2];
  if (yoke_connection_is_joint(c->kind) && !c->flexible) return YOKE_OK;
  plan_connection_parts(b, v->object, part);
  return yoke_fail(
      b->ctx, YOKE_E_MODEL,
      "the force of '%s', a force element between subsystems '%s' and '%s', cannot be read by events: write its "
      "law there, or keep its bodies in one subsystem",
      c->name, plan_part_name(b, part[0]), plan_part_name(b, part[1]));
}

yoke_status plan_note_signal(plan_builder *b, int variable, int part, int n, const int *frame) {
  const int source = plan_variable_part(b, variable);
  if (source == PLAN_BETWEEN) YOKE_TRY(refuse_cut_element(b, &b->model->variables[variable]));
  if (source == part) return YOKE_OK;
  if (!yoke_grow(&b->signals, &b->capacity_signals, (size_t)b->n_signals + 1, sizeof *b->signals))
    return plan_no_memory(b);
  b->signals[b->n_signals++] = (plan_signal){.part       = part,
                                             .variable   = variable,
                                             .source     = source,
                                             .input      = -1,
                                             .coupling   = -1,
                                             .multiplier = -1,
                                             .is_bare    = n == 0};
  for (int i = 0; source != PLAN_OUTSIDE && i < n; ++i) YOKE_TRY(plan_note_felt(b, part, frame[i], variable));
  return YOKE_OK;
}

/* Signals of a formula of a part, which acts on the bodies of n frames. */
static yoke_status note(plan_builder *b, const yoke_expression *e, int part, int n, const int *frame) {
  for (int k = 0; e != NULL && k < yoke_expression_n_variables(e); ++k) {
    const int variable = yoke_expression_variables(e)[k] - 1;
    if (variable >= 0) YOKE_TRY(plan_note_signal(b, variable, part, n, frame)); /* else t */
  }
  return YOKE_OK;
}

/* ---- events ---- */

int plan_first_native(const plan_builder *b) {
  for (int p = 0; p < b->model->n_parts; ++p) {
    if (!b->model->parts[p].is_foreign) return p;
  }
  return -1;
}

/* Part of an event: that of the states it sets, else of the first state it reads, else any. */
static yoke_status find_part(const plan_builder *b, const yoke_event *event, int *part) {
  const yoke_model *model = b->model;
  *part                   = -1;
  for (int k = 0; k < event->n_set; ++k) {
    const yoke_variable *v   = &model->variables[event->variable[k] - 1];
    const int            own = yoke_place_find(&b->plan->places, v->body, v->mass).part;
    if (*part < 0) *part = own;
    if (own == *part) continue;
    return yoke_fail(b->ctx, YOKE_E_MODEL,
                     "event '%s' sets states of subsystems '%s' and '%s': keep these bodies in one subsystem, or write "
                     "two events",
                     event->name, plan_part_name(b, *part), plan_part_name(b, own));
  }
  for (int k = 0; *part < 0 && k < yoke_expression_n_variables(event->when); ++k) {
    const int variable  = yoke_expression_variables(event->when)[k] - 1;
    int       source[2] = {PLAN_OUTSIDE, PLAN_OUTSIDE};
    if (variable >= 0) source[0] = source[1] = plan_variable_part(b, variable);
    if (source[0] == PLAN_BETWEEN) plan_connection_parts(b, model->variables[variable].object, source);
    for (int side = 0; *part < 0 && side < 2; ++side) {
      if (source[side] >= 0 && !model->parts[source[side]].is_foreign) *part = source[side];
    }
  }
  if (*part < 0) *part = plan_first_native(b);
  if (*part >= 0) return YOKE_OK;
  return yoke_fail(
      b->ctx, YOKE_E_MODEL,
      "event '%s': the model has no bodies, whose solver could find it; let a subsystem of its own tell it",
      event->name);
}

/* ---- all ---- */

static int compare_signals(const void *a, const void *b) {
  const plan_signal *x = a, *y = b;
  return x->part != y->part ? x->part - y->part : x->variable - y->variable;
}

static void sort(plan_builder *b) {
  int n = 0;
  if (b->n_signals > 1) qsort(b->signals, (size_t)b->n_signals, sizeof *b->signals, compare_signals);
  for (int k = 0; k < b->n_signals; ++k) {
    if (n == 0 || compare_signals(&b->signals[n - 1], &b->signals[k]) != 0)
      b->signals[n++] = b->signals[k];
    else
      b->signals[n - 1].is_bare = b->signals[n - 1].is_bare || b->signals[k].is_bare;
  }
  b->n_signals = n;
}

yoke_status plan_find_signals(plan_builder *b) {
  const yoke_model *model = b->model;
  b->event_part           = yoke_arena_take(&b->plan->arena, (size_t)model->n_events + 1, sizeof *b->event_part);
  if (b->event_part == NULL) return plan_no_memory(b);
  for (int c = 0; c < model->n_connections; ++c) {
    const yoke_connection *connection = &model->connections[c];
    int                    part[2];
    plan_connection_parts(b, c, part);
    if (part[0] == part[1])
      YOKE_TRY(note(b, connection->formula, part[0], 2, connection->frame));
    else
      YOKE_TRY(plan_note_readings(b, c, part));
  }
  for (int i = 0; i < model->n_loads; ++i) {
    const yoke_load *load = &model->loads[i];
    const int        part = plan_frame_part(b, load->frame);
    for (int k = 0; part >= 0 && k < 3; ++k) YOKE_TRY(note(b, load->value[k], part, 1, &load->frame));
  }
  for (int i = 0; i < model->n_events; ++i) {
    const yoke_event *event = &model->events[i];
    YOKE_TRY(find_part(b, event, &b->event_part[i]));
    YOKE_TRY(note(b, event->when, b->event_part[i], 0, NULL));
    for (int k = 0; k < event->n_set; ++k) YOKE_TRY(note(b, event->value[k], b->event_part[i], 0, NULL));
  }
  sort(b);
  return YOKE_OK;
}

const plan_signal *plan_find_signal(const plan_builder *b, int part, int variable) {
  const plan_signal wanted = {.part = part, .variable = variable};
  if (b->n_signals == 0) return NULL;
  return bsearch(&wanted, b->signals, (size_t)b->n_signals, sizeof wanted, compare_signals);
}

/* ---- wires ---- */

yoke_status plan_add_signal(plan_builder *b, const char *name, const plan_end *from, const plan_end *to,
                            const yoke_signal_law *law) {
  yoke_plan          *plan = b->plan;
  const int           k    = plan->n_couplings++;
  yoke_plan_coupling *c    = &plan->couplings[k];
  yoke_wire          *wire = &plan->wires[k];
  *c                       = (yoke_plan_coupling){.name       = yoke_arena_text(&plan->arena, name),
                                                  .connection = -1,
                                                  .chain      = -1,
                                                  .element    = -1,
                                                  .frame      = {-1, -1},
                                                  .part       = {from->part, to->part},
                                                  .port       = {from->port, to->port},
                                                  .shape      = {from->shape, to->shape},
                                                  .is_signal  = true,
                                                  .signal     = *law};
  *wire                    = (yoke_wire){.name      = c->name,
                                         .subsystem = {from->part, to->part},
                                         .port      = {from->port, to->port},
                                         .shape     = {from->shape, to->shape},
                                         .n_y       = {law->n, 0}};
  if (to->port < 0) {
    wire->input_at[1] = yoke_arena_take(&plan->arena, 1, sizeof *wire->input_at[1]);
    if (wire->input_at[1] != NULL) *wire->input_at[1] = to->input;
  }
  if (plan->arena.has_failed) return plan_no_memory(b);
  YOKE_TRY(plan_set_signal(b, k));
  const yoke_coupling_def def = yoke_plan_coupling_def(plan, k);
  wire->formulation           = def.formulation;
  return wire->formulation->create(b->ctx, &def, &wire->self);
}

static yoke_symbol_kind picked(void *user, const char *name, double *value, int *variable) {
  (void)name, (void)value;
  *variable = *(const int *)user;
  return YOKE_SYMBOL_VARIABLE;
}

yoke_expression *plan_pick(int number) {
  const yoke_symbols symbols = {.lookup = picked, .user = &number};
  yoke_expression   *out     = NULL;
  char               message[100];
  (void)yoke_expression_compile("y", &symbols, message, sizeof message, &out);
  return out;
}

const yoke_foreign_part *plan_foreign(const plan_builder *b, int part) {
  const yoke_split_part *p = &b->model->parts[part];
  return p->is_foreign ? &b->plan->foreigns[p->foreign] : NULL;
}

int64_t plan_variable_handle(const plan_builder *b, const yoke_variable *v) {
  if (v->kind == YOKE_VARIABLE_JOINT)
    return yoke_native_handle(v->is_velocity ? YOKE_NATIVE_COORDINATE_RATE : YOKE_NATIVE_COORDINATE,
                              b->connections[v->object].own, v->component);
  if (v->kind == YOKE_VARIABLE_FRAME)
    return yoke_native_handle(v->is_velocity ? YOKE_NATIVE_FRAME_V : YOKE_NATIVE_FRAME_Q, b->frame_map[v->object],
                              v->component);
  if (v->kind == YOKE_VARIABLE_FRAME_ACCELERATION)
    return yoke_native_handle(YOKE_NATIVE_FRAME_A, b->frame_map[v->object], v->component);
  if (v->kind == YOKE_VARIABLE_FORCE)
    return yoke_native_handle(YOKE_NATIVE_FORCE, b->connections[v->object].own, v->component);
  const yoke_place           place    = yoke_place_find(&b->plan->places, v->body, v->mass);
  const yoke_native_quantity quantity = v->kind == YOKE_VARIABLE_ACCELERATION ? YOKE_NATIVE_A
                                        : v->is_velocity                      ? YOKE_NATIVE_V
                                                                              : YOKE_NATIVE_Q;
  return yoke_native_handle(quantity, place.body, place.mass + v->component);
}

/* Where the variable is shown, and what of it the signal is. */
static yoke_status find_end(const plan_builder *b, const plan_signal *s, plan_end *end, yoke_signal_law *law) {
  const yoke_variable     *v       = &b->model->variables[s->variable];
  const yoke_foreign_part *foreign = plan_foreign(b, s->source);
  *end                             = (plan_end){.part = s->source, .shape = &yoke_shape_signal};
  *law                             = (yoke_signal_law){.n = 1, .factor = 1.0};
  if (foreign == NULL) {
    const int64_t handle =
        s->multiplier >= 0 ? yoke_native_handle(YOKE_NATIVE_INPUT, s->multiplier, 0) : plan_variable_handle(b, v);
    end->port = yoke_submodel_add_signal_port(plan_submodel(b, s->source), 1, &handle);
    return end->port >= 0 ? YOKE_OK : plan_no_memory(b);
  }
  if (v->kind == YOKE_VARIABLE_FOREIGN) {
    end->port = foreign->output[v->component];
    return YOKE_OK;
  }
  const yoke_place place = yoke_place_find(&b->plan->places, v->body, v->mass); /* its bodies are its ports */
  end->port              = foreign->port[place.body];
  end->shape             = yoke_body_shape(b->model->bodies[v->body].kind);
  law->n                 = yoke_shape_n_y(end->shape);
  law->expression        = plan_pick(1 + v->component +
                                     (v->kind == YOKE_VARIABLE_ACCELERATION ? yoke_shape_at_a(end->shape)
                                      : v->is_velocity                      ? yoke_shape_at_v(end->shape)
                                                                            : 0));
  return law->expression != NULL ? YOKE_OK : plan_no_memory(b);
}

/* Signals are searched from their values in the assembled model: where they are 0 an expression may have no value. */
static yoke_status guess_values(const plan_builder *b) {
  yoke_arena  *arena  = &b->plan->arena;
  const double t      = b->model->t_start;
  double      *values = yoke_arena_take(arena, (size_t)yoke_multibody_n_variables(b->start.mb), sizeof *values);
  if (values == NULL) return plan_no_memory(b);
  yoke_multibody_variables(b->start.mb, b->start.work, t, b->start.q, b->start.v, NULL, values);
  for (int k = 0; k < b->n_signals; ++k) {
    const plan_signal *s = &b->signals[k];
    if (s->coupling >= 0) b->plan->wires[s->coupling].guess = &values[s->variable + 1];
  }
  return YOKE_OK;
}

/* The force of a joint that is cut: the part's own input, or that of another part, which shows it. */
static yoke_status find_multiplier(const plan_builder *b, plan_signal *s) {
  const yoke_variable *v = &b->model->variables[s->variable];
  char                 name[300];
  if (plan_find_multiplier(b, v->object, v->component, s->part, &s->source, &s->multiplier)) {
    if (s->source == s->part) s->input = s->multiplier;
    return YOKE_OK;
  }
  yoke_variable_name(b->model, v, name, sizeof name);
  return yoke_fail(
      b->ctx, YOKE_E_MODEL,
      "'%s' cannot be read: the row does nothing to its bodies or follows from other joints, or both subsystems at "
      "its ends are no part of the mechanics",
      name);
}

yoke_status plan_connect_signals(plan_builder *b) {
  yoke_plan *plan = b->plan;
  for (int k = 0; k < b->n_signals; ++k) {
    plan_signal         *s = &b->signals[k];
    const yoke_variable *v = &b->model->variables[s->variable];
    const yoke_input input = {.kind = YOKE_INPUT_SIGNAL, .component = s->source == PLAN_OUTSIDE ? 1 : 0, .factor = 1.0};
    if (s->source == PLAN_BETWEEN) YOKE_TRY(find_multiplier(b, s));
    if (s->input >= 0) continue;
    s->input = yoke_submodel_add_input(plan_submodel(b, s->part), &input);
    if (s->input < 0) return plan_no_memory(b);
    if (s->source == PLAN_OUTSIDE) {
      plan->held[plan->n_held++] = (yoke_held_entry){.number = v->object, .subsystem = s->part, .input = s->input};
      continue;
    }
    char            state[300], name[600];
    plan_end        from;
    const plan_end  to = {.part = s->part, .port = -1, .input = s->input, .shape = &yoke_shape_signal};
    yoke_signal_law law;
    yoke_variable_name(b->model, v, state, sizeof state);
    snprintf(name, sizeof name, "%s -> %s", state, plan_part_name(b, s->part));
    YOKE_TRY(find_end(b, s, &from, &law));
    s->coupling = plan->n_couplings;
    YOKE_TRY(plan_add_signal(b, name, &from, &to, &law));
  }
  YOKE_TRY(guess_values(b));
  return plan->step.is_controlled ? plan_show_felt(b) : YOKE_OK;
}

/* ---- values of the whole model ---- */

yoke_status plan_signal_output(const plan_builder *b, int coupling, double t, const yoke_whole_state *at, double *y) {
  double *values = yoke_allocate((size_t)yoke_multibody_n_variables(b->start.mb), sizeof *values);
  if (values == NULL) return YOKE_E_MEMORY;
  yoke_multibody_variables(b->start.mb, b->start.work, t, at->q, at->v, NULL, values);
  for (int k = 0; k < b->n_signals; ++k) {
    if (b->signals[k].coupling == coupling) *y = values[b->signals[k].variable + 1];
  }
  free(values);
  return YOKE_OK;
}
