#include "analysis/gather.h"

#include "native/native.h"
#include <stdlib.h>

typedef struct gathered_part {
  int      n;
  int64_t *handles; /* [n] */
  int     *place;   /* [n] in q, then in v */
  double  *values;  /* [n] */
} gathered_part;

struct yoke_gather {
  yoke_arena     arena;
  int            n_parts, nq, nv;
  gathered_part *parts;
};

void yoke_gather_visit(const yoke_model *model, const yoke_plan *plan, yoke_gather_visitor visit, void *user) {
  int at = 0;
  for (int velocity = 0; velocity < 2; ++velocity) {
    for (int b = 0; b < model->n_bodies; ++b) {
      const yoke_body *body     = &model->bodies[b];
      const bool       is_chain = body->kind == YOKE_BODY_CHAIN;
      const int        n        = velocity ? yoke_body_nv(body) : yoke_body_nq(body);
      for (int i = 0; i < n; ++i) {
        const yoke_place place = yoke_place_find(&plan->places, b, is_chain ? i : 0);
        visit(user, at++, place.part,
              yoke_native_handle(velocity ? YOKE_NATIVE_V : YOKE_NATIVE_Q, place.body, is_chain ? place.mass : i));
      }
    }
  }
}

static void count(void *user, int at, int part, int64_t handle) {
  yoke_gather *g = user;
  (void)at, (void)handle;
  ++g->parts[part].n;
}

static void take(void *user, int at, int part, int64_t handle) {
  yoke_gather   *g     = user;
  gathered_part *own   = &g->parts[part];
  own->handles[own->n] = handle;
  own->place[own->n++] = at;
}

static yoke_status fill(yoke_context *ctx, const yoke_model *model, const yoke_plan *plan, yoke_gather *g) {
  g->n_parts = plan->n_parts;
  for (int b = 0; b < model->n_bodies; ++b) {
    g->nq += yoke_body_nq(&model->bodies[b]);
    g->nv += yoke_body_nv(&model->bodies[b]);
  }
  g->parts = yoke_arena_take(&g->arena, (size_t)plan->n_parts + 1, sizeof *g->parts);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "%d positions", g->nq));
  yoke_gather_visit(model, plan, count, g);
  for (int p = 0; p < g->n_parts; ++p) {
    gathered_part *part = &g->parts[p];
    const size_t   n    = (size_t)part->n + 1;
    part->handles       = yoke_arena_take(&g->arena, n, sizeof *part->handles);
    part->place         = yoke_arena_take(&g->arena, n, sizeof *part->place);
    part->values        = yoke_arena_take(&g->arena, n, sizeof *part->values);
    part->n             = 0;
  }
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "%d positions", g->nq));
  yoke_gather_visit(model, plan, take, g);
  return YOKE_OK;
}

yoke_status yoke_gather_create(yoke_context *ctx, const yoke_model *model, const yoke_plan *plan, yoke_gather **out) {
  *out           = NULL;
  yoke_gather *g = yoke_allocate(1, sizeof *g);
  if (g == NULL) return yoke_out_of_memory(ctx, "the states of all subsystems");
  const yoke_status status = fill(ctx, model, plan, g);
  if (status == YOKE_OK)
    *out = g;
  else
    yoke_gather_destroy(&g);
  return status;
}

void yoke_gather_destroy(yoke_gather **gather) {
  if (*gather == NULL) return;
  yoke_arena_free(&(*gather)->arena);
  free(*gather);
  *gather = NULL;
}

int yoke_gather_nq(const yoke_gather *gather) {
  return gather->nq;
}

int yoke_gather_nv(const yoke_gather *gather) {
  return gather->nv;
}

yoke_status yoke_gather_take(yoke_gather *g, yoke_system *system, double *q, double *v) {
  for (int p = 0; p < g->n_parts; ++p) {
    const gathered_part *part = &g->parts[p];
    YOKE_TRY(yoke_system_observe(system, p, part->n, part->handles, part->values));
    for (int i = 0; i < part->n; ++i)
      *(part->place[i] < g->nq ? q + part->place[i] : v + part->place[i] - g->nq) = part->values[i];
  }
  return YOKE_OK;
}
