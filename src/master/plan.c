#include "master/foreign_part.h"
#include "master/plan_directory.h"

#include "base/cancel.h"
#include "model/model_switches.h"
#include "model/model_times.h"
#include <stdio.h>
#include <stdlib.h>

yoke_status plan_no_memory(const plan_builder *b) {
  return yoke_out_of_memory(b->ctx, "the plan of model '%s'", b->model->name);
}

const char *plan_part_name(const plan_builder *b, int part) {
  return b->model->parts[part].name;
}

yoke_submodel *plan_submodel(const plan_builder *b, int part) {
  return &b->plan->native[part].submodel;
}

/* ---- parts ---- */

/* Integrals of positions are outputs for conditions on integrals only; without them chains keep their fast equations. */
static bool needs_integrals(const yoke_plan *plan, int part) {
  for (int k = 0; k < plan->n_couplings; ++k) {
    const yoke_plan_coupling *c = &plan->couplings[k];
    if (c->settings.extension == YOKE_EXTENSION_I && (c->part[0] == part || c->part[1] == part)) return true;
  }
  return false;
}

/* An evaluation takes about so many times as long for a freedom of a body with joints as for a mass of a chain. */
static const double body_freedom = 30.0, foreign_cost = 300.0;

static double cost_of(const yoke_model *model) {
  double cost = 1.0;
  for (int b = 0; b < model->n_bodies; ++b)
    cost += (model->bodies[b].chain != NULL ? 1.0 : body_freedom) * yoke_body_nv(&model->bodies[b]);
  return cost;
}

void plan_define_part(yoke_plan *plan, int part) {
  yoke_native_part    *native  = &plan->native[part];
  const yoke_submodel *s       = &native->submodel;
  native->def                  = (yoke_native_def){.name         = plan->parts[part].name,
                                                   .model        = s->model,
                                                   .n_ports      = s->n_ports,
                                                   .port_frame   = s->port_frame,
                                                   .port_request = s->port_request,
                                                   .port_signals = s->port_signals,
                                                   .n_inputs     = s->n_inputs,
                                                   .inputs       = s->inputs,
                                                   .n_integrals  = s->n_integrals,
                                                   .integrals    = s->integrals,
                                                   .n_halos      = s->n_halos,
                                                   .halos        = s->halos,
                                                   .length       = plan->scheme.length,
                                                   .time         = plan->scheme.time,
                                                   .energy       = plan->has_work,
                                                   .q            = native->q,
                                                   .v            = native->v,
                                                   .is_whole     = plan->step.is_free,
                                                   .in_parts     = native->in_parts,
                                                   .no_integrals = !needs_integrals(plan, part),
                                                   .no_response  = !yoke_scheme_asks_response(&plan->scheme, part)};
  plan->parts[part].definition = native;
  plan->parts[part].make       = yoke_native_part_make;
  plan->parts[part].is_pooled  = true;
  plan->parts[part].residual   = yoke_native_handle(YOKE_NATIVE_RESIDUAL, 0, 0);
  plan->parts[part].cost       = cost_of(s->model);
}

/* Events that act in it, samples of a controller say, are too many for the log. */
static void define_foreign(yoke_plan *plan, const yoke_foreign_part *foreign) {
  yoke_plan_part *part = &plan->parts[foreign->part];
  part->definition     = foreign;
  part->make           = yoke_foreign_part_make;
  part->residual       = YOKE_NO_HANDLE;
  part->cost           = foreign_cost;
  for (int k = 0; k < plan->n_events; ++k) {
    if (plan->events[k].part == foreign->part) plan->events[k].is_quiet = plan->events[k].sets;
  }
}

static yoke_status create_parts(plan_builder *b) {
  yoke_plan   *plan = b->plan;
  const size_t n    = (size_t)b->model->n_parts + 1;
  plan->parts       = yoke_arena_take(&plan->arena, n, sizeof *plan->parts);
  plan->native      = yoke_arena_take(&plan->arena, n, sizeof *plan->native);
  b->frame_map      = yoke_allocate((size_t)b->model->n_frames + 1, sizeof *b->frame_map);
  if (plan->arena.has_failed || b->frame_map == NULL) return plan_no_memory(b);
  plan->n_parts = b->model->n_parts;
  for (int p = 0; p < plan->n_parts; ++p) {
    plan->parts[p].name = yoke_arena_text(&plan->arena, b->model->parts[p].name);
    if (plan->arena.has_failed) return plan_no_memory(b);
    YOKE_TRY(yoke_context_go_on(b->ctx));
    YOKE_TRY(yoke_submodel_create(b->ctx, &b->start, &plan->places, p, plan_submodel(b, p)));
  }
  return YOKE_OK;
}

/* ---- creation ---- */

void yoke_plan_destroy(yoke_plan **plan) {
  if (plan == NULL || *plan == NULL) return;
  yoke_plan *p = *plan;
  for (int k = 0; k < p->n_couplings; ++k) {
    if (p->wires[k].self != NULL) p->wires[k].formulation->destroy(p->wires[k].self);
    yoke_law_clear(&p->couplings[k].law);
    yoke_expression *own = (yoke_expression *)(uintptr_t)p->couplings[k].signal.expression; /* of a signal */
    yoke_expression_destroy(&own);
  }
  for (int i = 0; i < p->n_foreigns; ++i) yoke_user_release(&p->foreigns[i].entry);
  for (int i = 0; p->native != NULL && i < p->n_parts; ++i) yoke_submodel_clear(&p->native[i].submodel);
  for (int i = 0; i < p->formulas.n; ++i) yoke_expression_destroy(&p->formulas.list[i].expression);
  yoke_output_list_clear(&p->outputs);
  yoke_switches_clear(&p->switches);
  yoke_places_clear(&p->places);
  yoke_arena_free(&p->arena);
  free(p);
  *plan = NULL;
}

static void take_facts(const plan_builder *b, yoke_plan_facts *facts) {
  const yoke_equations *e = &b->start.equations;
  *facts                  = (yoke_plan_facts){.n_bodies      = b->model->n_bodies - yoke_model_n_port_bodies(b->model),
                                              .n_connections = b->model->n_connections,
                                              .nq            = e->nq,
                                              .nv            = e->nv,
                                              .ng            = e->ng,
                                              .n_redundant   = b->start.assembly.n_redundant,
                                              .n_freedoms    = e->nv - e->ng + b->start.assembly.n_redundant};
}

/* Who names a word of energy is told what it does not do. */
static void tell_energy_of_halos(const plan_builder *b) {
  if (b->model->energy != 1 || !yoke_plan_has_halos(b->plan)) return;
  yoke_note(b->ctx, "cosimulation.energy: %s", plan_halos_tell);
  if (yoke_energy_acts(b->macro.energy))
    yoke_note(b->ctx, "cosimulation.energy: couplings with halos have no work of their own and are not corrected");
}

/* Bodies, connections, loads and events to their parts; what is cut becomes couplings. */
static yoke_status split(plan_builder *b, const yoke_plan_options *options) {
  yoke_plan *plan = b->plan;
  YOKE_TRY(plan_find_foreigns(b, options));
  YOKE_TRY(yoke_places_create(b->ctx, b->model, &plan->places));
  YOKE_TRY(plan_read_settings(b, plan_takes_halos(b, options)));
  YOKE_TRY(yoke_model_switches(b->ctx, b->model, true, &plan->switches));
  YOKE_TRY(plan_find_halos(b));
  YOKE_TRY(plan_find_copies(b));
  YOKE_TRY(plan_rewrite_joints(b));
  YOKE_TRY(yoke_start_create(b->ctx, b->model, &plan->places, options->q, options->v, &b->start));
  take_facts(b, &plan->facts);
  plan_set_placeholders(b);
  YOKE_TRY(create_parts(b));
  YOKE_TRY(plan_add_copies(b));
  YOKE_TRY(plan_map_frames(b));
  YOKE_TRY(plan_find_signals(b));
  YOKE_TRY(plan_take_inputs(b));
  YOKE_TRY(plan_sort_connections(b));
  YOKE_TRY(plan_set_couplings(b)); /* while no part has ghosts */
  for (int k = 0; k < plan->n_couplings; ++k) YOKE_TRY(plan_connect(b, k));
  YOKE_TRY(plan_connect_copies(b));
  YOKE_TRY(plan_connect_signals(b));
  YOKE_TRY(plan_show_readings(b));
  YOKE_TRY(plan_sort_loads(b));
  YOKE_TRY(plan_sort_events(b));
  YOKE_TRY(plan_add_foreign_events(b));
  YOKE_TRY(plan_sort_variables(b));
  tell_energy_of_halos(b);
  return plan_sort_integrals(b);
}

/* What reads outputs by name, and what follows from all couplings. */
static yoke_status finish_split(plan_builder *b) {
  YOKE_TRY(plan_connect_inputs(b));
  plan_choose_step(b);
  return plan_find_past(b);
}

static bool is_passive(const yoke_model *m) {
  if (m->n_loads > 0 || m->n_events > 0 || m->n_foreigns > 0 || m->n_inputs > 0) return false;
  for (int b = 0; b < m->n_bodies; ++b) {
    if (m->bodies[b].chain != NULL && m->bodies[b].chain->n_loads > 0) return false;
  }
  for (int k = 0; k < m->n_connections; ++k) {
    const yoke_connection *c = &m->connections[k];
    if (c->motion != NULL || c->formula != NULL || c->law.expression != NULL) return false;
  }
  return true;
}

static yoke_status build(plan_builder *b, const yoke_plan_options *options) {
  yoke_plan *plan = b->plan;
  YOKE_TRY(yoke_model_check_times(b->ctx, b->model));
  b->growth          = options->growth;
  plan->name         = yoke_arena_text(&plan->arena, b->model->name != NULL ? b->model->name : "");
  plan->t_start      = b->model->t_start;
  plan->t_end        = b->model->t_end;
  plan->every        = b->model->output.every;
  plan->energy_limit = yoke_macro_energy_limit(b->model);
  snprintf(plan->solver, sizeof plan->solver, "%s", b->model->solver.kind);
  if (plan->arena.has_failed) return plan_no_memory(b);
  YOKE_TRY(yoke_context_go_on(b->ctx));
  YOKE_TRY(options->is_whole ? plan_take_whole(b, options) : split(b, options));
  plan->has_work = plan_needs_work(b, options);
  YOKE_TRY(yoke_context_go_on(b->ctx));
  YOKE_TRY(plan_name_outputs(b));
  plan->directory->is_passive = is_passive(b->model);
  YOKE_TRY(plan_take_formulas(b));
  if (!options->is_whole) YOKE_TRY(finish_split(b));
  for (int p = 0; p < plan->n_parts; ++p) plan_define_part(plan, p);
  for (int i = 0; i < plan->n_foreigns; ++i) define_foreign(plan, &plan->foreigns[i]);
  return plan_select_outputs(b);
}

yoke_status yoke_plan_create(yoke_context *ctx, const yoke_model *model, const yoke_plan_options *options,
                             yoke_plan **out) {
  static const yoke_plan_options standard = {0};
  plan_builder                   b        = {.ctx = ctx, .model = model, .plan = yoke_allocate(1, sizeof *b.plan)};
  *out                                    = NULL;
  if (b.plan == NULL) return plan_no_memory(&b);
  b.plan->arena            = yoke_arena_of(ctx);
  const yoke_status status = build(&b, options != NULL ? options : &standard);
  free(b.frame_map);
  free(b.signals);
  free(b.felt);
  free(b.copies);
  for (int k = 0; k < b.n_rewritten; ++k) yoke_expression_destroy(&b.rewritten[k]);
  free(b.rewritten);
  yoke_start_clear(&b.start);
  if (status == YOKE_OK)
    *out = b.plan;
  else
    yoke_plan_destroy(&b.plan);
  return status;
}
