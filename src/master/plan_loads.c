#include "master/plan_builder.h"

/* Part of a variable; *part < 0 takes it over, a different one is a mistake. */
static yoke_status agree(const plan_builder *b, const char *what, const char *name, int variable, int *part) {
  const yoke_model    *model = b->model;
  const yoke_variable *v     = &model->variables[variable - 1];
  int                  body[2], mass[2];
  const int            n = yoke_variable_bodies(model, v, body, mass);
  for (int k = 0; k < n; ++k) {
    const int own = yoke_place_find(&b->plan->places, body[k], mass[k]).part;
    if (*part < 0) *part = own;
    if (own == *part) continue;
    char state[300];
    yoke_variable_name(model, v, state, sizeof state);
    return yoke_fail(b->ctx, YOKE_E_MODEL,
                     "%s '%s' of subsystem '%s' uses '%s' of subsystem '%s': keep these bodies in one subsystem", what,
                     name, plan_part_name(b, *part), state, plan_part_name(b, own));
  }
  return YOKE_OK;
}

static yoke_status agree_expression(const plan_builder *b, const char *what, const char *name, const yoke_expression *e,
                                    int *part) {
  for (int k = 0; e != NULL && k < yoke_expression_n_variables(e); ++k) {
    const int variable = yoke_expression_variables(e)[k];
    if (variable > 0) YOKE_TRY(agree(b, what, name, variable, part));
  }
  return YOKE_OK;
}

yoke_status plan_sort_loads(plan_builder *b) {
  const yoke_model *model = b->model;
  for (int c = 0; c < model->n_connections; ++c) { /* their parts are settled */
    const yoke_connection *connection = &model->connections[c];
    YOKE_TRY(agree_expression(b, "the law of", connection->name, connection->formula, &b->connections[c].part));
  }
  for (int i = 0; i < model->n_loads; ++i) {
    yoke_load load = model->loads[i];
    int       part = plan_frame_part(b, load.frame);
    if (part < 0) continue; /* on the ground: no effect */
    for (int k = 0; k < 3; ++k) YOKE_TRY(agree_expression(b, "load", load.name, load.value[k], &part));
    load.frame = b->frame_map[load.frame];
    if (yoke_submodel_add_load(plan_submodel(b, part), &load) < 0) return plan_no_memory(b);
  }
  return YOKE_OK;
}

yoke_plan_event plan_event(plan_builder *b, int i, int part, int own) {
  const yoke_event *event = &b->model->events[i];
  return (yoke_plan_event){.name  = yoke_arena_text(&b->plan->arena, event->name),
                           .sets  = event->action == YOKE_EVENT_SET,
                           .stops = event->action == YOKE_EVENT_STOP,
                           .part  = part,
                           .own   = own};
}

yoke_status plan_sort_events(plan_builder *b) {
  const yoke_model *model = b->model;
  b->plan->n_events       = model->n_events;
  b->plan->events         = yoke_arena_take(&b->plan->arena, (size_t)model->n_events + 1, sizeof *b->plan->events);
  if (b->plan->arena.has_failed) return plan_no_memory(b);
  for (int i = 0; i < model->n_events; ++i) {
    const yoke_event *event = &model->events[i];
    int               part  = -1;
    for (int k = 0; k < event->n_set; ++k) YOKE_TRY(agree(b, "event", event->name, event->variable[k], &part));
    YOKE_TRY(agree_expression(b, "event", event->name, event->when, &part));
    for (int k = 0; k < event->n_set; ++k) YOKE_TRY(agree_expression(b, "event", event->name, event->value[k], &part));
    if (part < 0) part = 0; /* of time alone: any subsystem sees it */
    b->plan->events[i] = plan_event(b, i, part, yoke_submodel_add_event(plan_submodel(b, part), event));
    if (b->plan->events[i].own < 0 || b->plan->arena.has_failed) return plan_no_memory(b);
  }
  return YOKE_OK;
}

/* A variable of a part: its body, frame or connection there. What belongs to others, which nothing here reads, is a state of body 0. */
static yoke_variable own_variable(const plan_builder *b, const yoke_variable *from, int part) {
  const yoke_place place      = yoke_place_find(&b->plan->places, from->body, from->mass);
  yoke_variable    own        = *from;
  const bool       is_between = from->kind == YOKE_VARIABLE_JOINT || from->kind == YOKE_VARIABLE_DEFLECTION;
  if (place.part != part || (is_between && b->connections[from->object].part != part))
    return (yoke_variable){.body = 0};
  own.body = place.body;
  own.mass = place.mass;
  if (from->kind == YOKE_VARIABLE_FRAME) own.object = b->frame_map[from->object];
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
    for (int k = 0; k < n; ++k) m->variables[k] = own_variable(b, &b->model->variables[k], p);
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
    position.body          = place.body;
    position.mass          = place.mass;
    s->integrals[k] =
        (yoke_plan_integral){place.part, yoke_submodel_add_integral(plan_submodel(b, place.part), &position)};
    if (s->integrals[k].own < 0) return plan_no_memory(b);
  }
  return YOKE_OK;
}
