#include "master/plan_builder.h"

#include <stdio.h>

static void state_name(const yoke_model *model, int variable, char *text, size_t size) {
  const yoke_variable *v = &model->variables[variable - 1];
  char                 component[64];
  if (!yoke_body_component_name(&model->bodies[v->body], v->is_velocity, v->mass + v->component, component,
                                sizeof component))
    component[0] = '\0';
  snprintf(text, size, "%s.%s", model->bodies[v->body].name, component);
}

/* Part of a variable; *part < 0 takes it over, a different one is a mistake. */
static yoke_status agree(const plan_builder *b, const char *what, const char *name, int variable, int *part) {
  const yoke_model    *model = b->model;
  const yoke_variable *v     = &model->variables[variable - 1];
  const int            own   = yoke_place_find(&b->plan->places, v->body, v->mass).part;
  if (*part < 0) *part = own;
  if (own == *part) return YOKE_OK;
  char state[200];
  state_name(model, variable, state, sizeof state);
  return yoke_fail(b->ctx, YOKE_E_MODEL,
                   "%s '%s' of subsystem '%s' uses '%s' of subsystem '%s': keep these bodies in one subsystem", what,
                   name, plan_part_name(b, *part), state, plan_part_name(b, own));
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
