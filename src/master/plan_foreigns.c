/* Foreign subsystems of a plan: they are found and asked where their ports are before the model is assembled. */
#include "master/plan_builder.h"

#include "master/foreign_part.h"
#include <stdio.h>

/* The model with bodies of its own, which foreign ports may move. */
static yoke_status copy_bodies(plan_builder *b, yoke_body **out) {
  const yoke_model *model = b->model;
  *out                    = yoke_arena_copy(&b->plan->arena, model->bodies, (size_t)model->n_bodies, sizeof **out);
  if (b->plan->arena.has_failed) return plan_no_memory(b);
  b->standing        = *model;
  b->standing.bodies = *out;
  b->model           = &b->standing;
  return YOKE_OK;
}

yoke_status plan_find_foreigns(plan_builder *b, const yoke_plan_options *options) {
  yoke_plan  *plan  = b->plan;
  yoke_arena *arena = &plan->arena;
  yoke_body  *bodies;
  const int   n = b->model->n_foreigns;
  if (n == 0) return YOKE_OK;
  plan->foreigns = yoke_arena_take(arena, (size_t)n, sizeof *plan->foreigns);
  if (plan->foreigns == NULL) return plan_no_memory(b);
  YOKE_TRY(copy_bodies(b, &bodies));
  for (; plan->n_foreigns < n;) {
    const yoke_foreign *from = &b->model->foreigns[plan->n_foreigns];
    yoke_foreign_part  *own  = &plan->foreigns[plan->n_foreigns++];
    yoke_foreign_part_take(arena, from, own);
    if (arena->has_failed) return plan_no_memory(b);
    if (options->is_dry) {
      yoke_foreign_part_dry(arena, from, own);
      yoke_note(b->ctx, "subsystem '%s': code of type '%s' is not loaded here, what it does is not looked at",
                from->name, from->type);
    } else {
      YOKE_TRY(yoke_foreign_part_find(b->ctx, arena, from, b->model->t_start, bodies, own));
    }
    if (arena->has_failed) return plan_no_memory(b);
  }
  return YOKE_OK;
}

/* Placeholders are where the assembly has put their ports. */
void plan_set_placeholders(const plan_builder *b) {
  const yoke_whole_state at = {b->start.q, b->start.v, b->start.a};
  for (int i = 0; i < b->plan->n_foreigns; ++i) {
    const yoke_foreign      *from = &b->model->foreigns[i];
    const yoke_foreign_part *own  = &b->plan->foreigns[i];
    for (int k = 0; own->y != NULL && k < from->n_ports; ++k) {
      const yoke_frame frame = {.body = from->ports[k].body};
      double          *y     = own->y + own->y_at[own->port[k]];
      yoke_start_motion(&b->start, &at, &frame, y, y + yoke_shape_at_v(from->ports[k].shape));
    }
  }
}

int plan_n_foreign_events(const plan_builder *b) {
  int n = 0;
  for (int i = 0; i < b->plan->n_foreigns; ++i) n += b->plan->foreigns[i].n_events;
  return n;
}

yoke_status plan_add_foreign_events(plan_builder *b) {
  yoke_plan *plan = b->plan;
  for (int i = 0; i < plan->n_foreigns; ++i) {
    const yoke_foreign_part *foreign = &plan->foreigns[i];
    for (int k = 0; k < foreign->n_events; ++k) {
      char name[400];
      snprintf(name, sizeof name, "%s.%s", foreign->name, foreign->events[k]);
      plan->events[plan->n_events++] = (yoke_plan_event){.name       = yoke_arena_text(&plan->arena, name),
                                                         .sets       = foreign->acts,
                                                         .is_brought = true,
                                                         .part       = foreign->part,
                                                         .own        = k};
    }
  }
  return plan->arena.has_failed ? plan_no_memory(b) : YOKE_OK;
}
