/* A model that runs as a whole: one part, no wires, free steps. */
#include "master/plan_builder.h"

#include <stdio.h>
#include <stdlib.h>

static yoke_status take_places(plan_builder *b) {
  yoke_places *p = &b->plan->places;
  const int    n = b->model->n_bodies;
  p->piece_at    = yoke_arena_take(&p->arena, (size_t)n + 1, sizeof *p->piece_at);
  p->pieces      = yoke_arena_take(&p->arena, (size_t)n + 1, sizeof *p->pieces);
  if (p->arena.has_failed) return plan_no_memory(b);
  p->n_bodies = n;
  for (int i = 0; i < n; ++i) {
    const yoke_body *body = &b->model->bodies[i];
    p->piece_at[i + 1]    = i + 1;
    p->pieces[i]          = (yoke_piece){.n = body->kind == YOKE_BODY_CHAIN ? body->chain->n : 1, .place = {.body = i}};
  }
  return YOKE_OK;
}

static yoke_status take_events(plan_builder *b) {
  yoke_plan *plan = b->plan;
  plan->events    = yoke_arena_take(&plan->arena, (size_t)b->model->n_events + 1, sizeof *plan->events);
  if (plan->arena.has_failed) return plan_no_memory(b);
  plan->n_events = b->model->n_events;
  for (int i = 0; i < plan->n_events; ++i) plan->events[i] = plan_event(b, i, 0, i);
  return plan->arena.has_failed ? plan_no_memory(b) : YOKE_OK;
}

static yoke_status take_integrals(plan_builder *b) {
  yoke_plan *plan = b->plan;
  const int  n    = b->model->output.n_integrals;
  plan->integrals = yoke_arena_take(&plan->arena, (size_t)n + 1, sizeof *plan->integrals);
  if (plan->arena.has_failed) return plan_no_memory(b);
  for (int k = 0; k < n; ++k) {
    yoke_variable position;
    YOKE_TRY(yoke_model_integral(b->ctx, b->model, k, &position));
    plan->integrals[k] = (yoke_plan_integral){0, yoke_submodel_add_integral(plan_submodel(b, 0), &position)};
    if (plan->integrals[k].own < 0) return plan_no_memory(b);
  }
  return YOKE_OK;
}

/* Inputs of the model enter its only subsystem; variables that read them read its inputs. */
static yoke_status connect_inputs(plan_builder *b) {
  yoke_plan     *plan  = b->plan;
  yoke_submodel *whole = plan_submodel(b, 0);
  const int      n     = b->model->n_variables;
  yoke_variable *own   = yoke_allocate((size_t)n + 1, sizeof *own);
  if (own == NULL) return plan_no_memory(b);
  b->n_signals       = n; /* at most */
  yoke_status status = plan_take_inputs(b);
  b->n_signals       = 0;
  for (int k = 0; k < n && status == YOKE_OK; ++k) {
    const yoke_input input = {.kind = YOKE_INPUT_SIGNAL, .component = 1, .factor = 1.0};
    own[k]                 = b->model->variables[k];
    if (own[k].kind != YOKE_VARIABLE_INPUT) continue;
    const int at = yoke_submodel_add_input(whole, &input);
    if (at < 0) status = plan_no_memory(b);
    if (at < 0) break;
    plan->held[plan->n_held++] = (yoke_held_entry){.number = own[k].object, .input = at};
    own[k]                     = (yoke_variable){.kind = YOKE_VARIABLE_SIGNAL, .object = at};
  }
  if (status == YOKE_OK && plan->n_held > 0) {
    yoke_model *reading = yoke_model_reading(b->model, own);
    if (reading == NULL) status = plan_no_memory(b);
    if (reading != NULL) yoke_model_destroy(&whole->model);
    if (reading != NULL) whole->model = reading;
  }
  free(own);
  return status;
}

/* There is nothing to couple: one plain integration per step. */
static void take_steps(plan_builder *b) {
  yoke_scheme_settings *scheme = &b->plan->scheme;
  yoke_macro_settings_read(b->model, 1.0, false, &b->macro);
  *scheme = b->macro.scheme;
  snprintf(scheme->scheme, sizeof scheme->scheme, "explicit");
  scheme->order         = 0;
  scheme->gauss_seidel  = false;
  scheme->predictor     = YOKE_PREDICTOR_EXTRAPOLATION;
  scheme->start         = YOKE_START_RAMP;
  scheme->jacobian      = YOKE_JACOBIAN_FINITE_DIFFERENCE;
  scheme->stop_anywhere = true;
  scheme->in_place      = b->plan->n_events == 0;
  b->plan->step.is_free = true;
}

/* The start that was given: as many numbers as a model without quadratures has. */
static yoke_status take_start(plan_builder *b, const double *q, const double *v) {
  yoke_native_part *whole = &b->plan->native[0];
  size_t            nq = 0, nv = 0;
  if (q == NULL) return YOKE_OK;
  for (int i = 0; i < b->model->n_bodies; ++i) {
    nq += (size_t)yoke_body_nq(&b->model->bodies[i]);
    nv += (size_t)yoke_body_nv(&b->model->bodies[i]);
  }
  whole->q = yoke_arena_copy(&b->plan->arena, q, nq, sizeof *q);
  whole->v = yoke_arena_copy(&b->plan->arena, v, nv, sizeof *v);
  return b->plan->arena.has_failed ? plan_no_memory(b) : YOKE_OK;
}

yoke_status plan_take_whole(plan_builder *b, const yoke_plan_options *options) {
  yoke_plan *plan = b->plan;
  if (b->model->n_foreigns > 0)
    return yoke_fail(b->ctx, YOKE_E_MODEL,
                     "model '%s' cannot run as a whole: '%s' is a subsystem of its own; run it without --monolithic",
                     plan->name, b->model->foreigns[0].name);
  plan->native   = yoke_arena_take(&plan->arena, 1, sizeof *plan->native);
  plan->parts    = yoke_arena_take(&plan->arena, 1, sizeof *plan->parts);
  b->connections = yoke_arena_take(&plan->arena, (size_t)b->model->n_connections + 1, sizeof *b->connections);
  if (plan->arena.has_failed) return plan_no_memory(b);
  plan->parts[0].name        = plan->name;
  plan->n_parts              = 1;
  plan_submodel(b, 0)->model = (yoke_model *)(uintptr_t)yoke_model_retain(b->model); /* never written */
  for (int c = 0; c < b->model->n_connections; ++c) b->connections[c] = (plan_connection){0, c};
  plan->native[0].in_parts = options->in_parts;
  YOKE_TRY(take_start(b, options->q, options->v));
  YOKE_TRY(take_places(b));
  YOKE_TRY(take_events(b));
  YOKE_TRY(take_integrals(b));
  YOKE_TRY(connect_inputs(b));
  take_steps(b);
  plan->facts = (yoke_plan_facts){.n_bodies = b->model->n_bodies, .n_connections = b->model->n_connections};
  return YOKE_OK;
}
