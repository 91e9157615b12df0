#include "master/plan_builder.h"

yoke_status plan_sort_loads(plan_builder *b) {
  const yoke_model *model = b->model;
  for (int i = 0; i < model->n_loads; ++i) {
    yoke_load load = model->loads[i];
    const int part = plan_frame_part(b, load.frame);
    if (part < 0) continue; /* on the ground: no effect */
    load.frame = b->frame_map[load.frame];
    if (yoke_submodel_add_load(plan_submodel(b, part), &load) < 0) return plan_no_memory(b);
    YOKE_TRY(plan_copy_load(b, i));
    YOKE_TRY(plan_copy_body_load(b, i));
  }
  return YOKE_OK;
}

static bool reads_signals(const plan_builder *b, const yoke_expression *e, int part) {
  for (int k = 0; k < yoke_expression_n_variables(e); ++k) {
    if (plan_find_signal(b, part, yoke_expression_variables(e)[k] - 1) != NULL) return true;
  }
  return false;
}

yoke_plan_event plan_event(plan_builder *b, int i, int part, int own) {
  const yoke_event *event = &b->model->events[i];
  return (yoke_plan_event){.name       = yoke_arena_text(&b->plan->arena, event->name),
                           .sets       = event->action == YOKE_EVENT_SET,
                           .stops      = event->action == YOKE_EVENT_STOP,
                           .is_brought = reads_signals(b, event->when, part),
                           .part       = part,
                           .own        = own};
}

yoke_status plan_sort_events(plan_builder *b) {
  const yoke_model *model = b->model;
  const int         most  = model->n_events + plan_n_foreign_events(b);
  b->plan->n_events       = model->n_events;
  b->plan->events         = yoke_arena_take(&b->plan->arena, (size_t)most + 1, sizeof *b->plan->events);
  if (b->plan->arena.has_failed) return plan_no_memory(b);
  for (int i = 0; i < model->n_events; ++i) {
    const int part     = b->event_part[i];
    b->plan->events[i] = plan_event(b, i, part, yoke_submodel_add_event(plan_submodel(b, part), &model->events[i]));
    if (b->plan->events[i].own < 0 || b->plan->arena.has_failed) return plan_no_memory(b);
  }
  return YOKE_OK;
}

/* A variable of a part: its body, frame or connection there, or an input. What belongs to others, which nothing here reads, is a state of body 0. */
static yoke_variable own_variable(const plan_builder *b, int number, int part) {
  const yoke_variable *from   = &b->model->variables[number];
  const plan_signal   *signal = plan_find_signal(b, part, number);
  if (signal != NULL) return (yoke_variable){.kind = YOKE_VARIABLE_SIGNAL, .object = signal->input};
  if (yoke_variable_is_signal(from)) return (yoke_variable){.body = 0};
  const yoke_place place      = yoke_place_find(&b->plan->places, from->body, from->mass);
  yoke_variable    own        = *from;
  const bool       is_between = yoke_variable_is_between(from);
  if (place.part != part || (is_between && b->connections[from->object].part != part))
    return (yoke_variable){.body = 0};
  own.body = place.body;
  own.mass = place.mass;
  if (yoke_variable_is_of_frame(from)) own.object = b->frame_map[from->object];
  if (is_between) own.object = b->connections[from->object].own;
  return own;
}

yoke_status plan_sort_variables(plan_builder *b) {
  const int n = b->model->n_variables;
  for (int p = 0; p < b->plan->n_parts && n > 0; ++p) {
    yoke_model *m       = plan_submodel(b, p)->model;
    bool        is_read = m->n_loads > 0 || m->n_events > 0;
    for (int c = 0; c < m->n_connections; ++c) is_read = is_read || m->connections[c].formula != NULL;
    if (!is_read) continue;
    m->variables = yoke_allocate((size_t)n, sizeof *m->variables);
    if (m->variables == NULL) return plan_no_memory(b);
    m->n_variables = n;
    for (int k = 0; k < n; ++k) m->variables[k] = own_variable(b, k, p);
  }
  return YOKE_OK;
}

/* An integral of a position is a quadrature of the subsystem that owns the body. */
yoke_status plan_sort_integrals(plan_builder *b) {
  yoke_plan *s = b->plan;
  s->integrals = yoke_arena_take(&s->arena, (size_t)b->model->output.n_integrals + 1, sizeof *s->integrals);
  if (s->arena.has_failed) return plan_no_memory(b);
  for (int k = 0; k < b->model->output.n_integrals; ++k) {
    yoke_variable position;
    YOKE_TRY(yoke_model_integral(b->ctx, b->model, k, &position));
    const yoke_place place = yoke_place_find(&s->places, position.body, position.mass);
    if (plan_foreign(b, place.part) != NULL) {
      return yoke_fail(
          b->ctx, YOKE_E_MODEL,
          "output.integrals: '%s' belongs to subsystem '%s', which is no part of the mechanics: let it show "
          "the integral itself",
          b->model->output.integrals[k], plan_part_name(b, place.part));
    }
    position.body = place.body;
    position.mass = place.mass;
    s->integrals[k] =
        (yoke_plan_integral){place.part, yoke_submodel_add_integral(plan_submodel(b, place.part), &position)};
    if (s->integrals[k].own < 0) return plan_no_memory(b);
  }
  return YOKE_OK;
}
