#include "analysis/whole_model.h"

#include "base/memory.h"
#include "model/assembly.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static yoke_status assemble(yoke_context *ctx, const yoke_multibody_options *options, yoke_whole_model *w) {
  yoke_equations *e = &w->equations;
  yoke_assembly   assembly;
  YOKE_TRY(yoke_assembly_create(ctx, w->model, options, NULL, e, &w->mb, &assembly));
  w->work = yoke_arena_take(&w->arena, e->work_size + 1, 1);
  w->q    = yoke_arena_copy(&w->arena, assembly.q, (size_t)e->nq + 1, sizeof *w->q);
  w->v    = yoke_arena_copy(&w->arena, assembly.v, (size_t)e->nv + 1, sizeof *w->v);
  yoke_multibody_retire(w->mb, assembly.n_redundant, assembly.redundant);
  w->n_redundant = assembly.n_redundant;
  yoke_assembly_clear(&assembly);
  return yoke_arena_check(&w->arena, ctx, "model '%s'", w->model->name);
}

yoke_status yoke_whole_model_create(yoke_context *ctx, const yoke_model *model, int n_inputs, const yoke_input *inputs,
                                    yoke_whole_model *out) {
  const yoke_multibody_options options = {.n_inputs = n_inputs, .inputs = inputs};
  *out                                 = (yoke_whole_model){.model = model};
  if (model->n_foreigns > 0)
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                     "model '%s' has no equations as a whole: '%s' is a subsystem of its own, whose code only steps",
                     model->name, model->foreigns[0].name);
  const yoke_status status = assemble(ctx, &options, out);
  if (status != YOKE_OK) yoke_whole_model_clear(out);
  return status;
}

void yoke_whole_model_clear(yoke_whole_model *whole) {
  if (whole->equations.ops != NULL) yoke_equations_destroy(&whole->equations);
  yoke_arena_free(&whole->arena);
  *whole = (yoke_whole_model){0};
}

int yoke_multibody_freedom_body(const yoke_model *model, const yoke_multibody *mb, int i, int *component,
                                bool *is_rotation) {
  for (int b = 0; b < model->n_bodies; ++b) {
    const yoke_body *body = &model->bodies[b];
    const int        at   = yoke_multibody_v_offset(mb, b);
    if (i < at || i >= at + yoke_body_nv(body)) continue;
    *component   = i - at;
    *is_rotation = (body->kind == YOKE_BODY_PLANAR && i - at == 2) || (body->kind == YOKE_BODY_RIGID && i - at >= 3);
    return b;
  }
  *component   = 0;
  *is_rotation = false;
  return -1;
}

void yoke_multibody_freedom_name(const yoke_model *model, const yoke_multibody *mb, int i, bool is_velocity, char *name,
                                 size_t size) {
  int       component;
  bool      is_rotation;
  char      part[64] = "?";
  const int b        = yoke_multibody_freedom_body(model, mb, i, &component, &is_rotation);
  if (b < 0) {
    snprintf(name, size, "%s[%d]", is_velocity ? "v" : "q", i);
    return;
  }
  const yoke_body *body = &model->bodies[b];
  if (!is_velocity && is_rotation && body->kind == YOKE_BODY_RIGID) {
    snprintf(part, sizeof part, "turn %c", "xyz"[component - 3]);
  } else {
    (void)yoke_body_component_name(body, is_velocity, component, part, sizeof part);
  }
  snprintf(name, size, "%s.%s", body->name, part);
}
