#include "analysis/stand_in.h"

#include "base/memory.h"
#include "analysis/linear_subsystem.h"
#include <stdlib.h>

/* Outputs of a native subsystem as a function of a point. */
typedef struct port_outputs {
  yoke_arena              arena;
  const yoke_multibody   *mb;
  void                   *work;
  double                  t;
  int                     n_ports;
  const yoke_port_shape **shape;    /* [n_ports] */
  int                    *n_extras; /* [n_ports] */
} port_outputs;

static yoke_status show_ports(void *user, const yoke_linear_point *point, double *y) {
  const port_outputs *p = user;
  for (int k = 0; k < p->n_ports; ++k) {
    yoke_multibody_port(p->mb, p->work, k, point->q, point->v, point->a, y);
    y += yoke_shape_n_y(p->shape[k]);
    if (p->n_extras[k] > 0)
      YOKE_TRY(yoke_multibody_extras(p->mb, p->work, k, p->t, point->q, point->u, point->lambda, y));
    y += p->n_extras[k];
  }
  return YOKE_OK;
}

static yoke_status set_ports(yoke_context *ctx, const yoke_subsystem *native, const yoke_submodel *part,
                             port_outputs *out) {
  out->work     = yoke_arena_take(&out->arena, yoke_native_equations(native)->work_size + 1, 1);
  out->shape    = yoke_arena_take(&out->arena, (size_t)part->n_ports + 1, sizeof *out->shape);
  out->n_extras = yoke_arena_take(&out->arena, (size_t)part->n_ports + 1, sizeof *out->n_extras);
  YOKE_TRY(yoke_arena_check(&out->arena, ctx, "subsystem '%s'", native->name));
  for (int k = 0; k < part->n_ports; ++k) {
    const int body   = part->model->frames[part->port_frame[k]].body;
    out->shape[k]    = yoke_body_shape(body >= 0 ? part->model->bodies[body].kind : YOKE_BODY_RIGID);
    out->n_extras[k] = yoke_multibody_n_extras(out->mb, k);
  }
  return YOKE_OK;
}

static yoke_status create(yoke_context *ctx, const yoke_subsystem *native, const yoke_linearization *l,
                          const port_outputs *ports, yoke_subsystem **out) {
  const yoke_linear_def def = {.name     = native->name,
                               .n_x      = l->n_x,
                               .nu       = l->nu,
                               .ny       = l->ny,
                               .A        = l->A,
                               .B        = l->B,
                               .C        = l->C,
                               .D        = l->D,
                               .f0       = l->f0,
                               .y0       = l->y0,
                               .u0       = l->u0,
                               .mass     = l->mass,
                               .n_ports  = ports->n_ports,
                               .n_extras = ports->n_extras,
                               .shape    = ports->shape};
  return yoke_linear_create_subsystem(ctx, &def, out);
}

yoke_status yoke_stand_in_create(yoke_context *ctx, const yoke_subsystem *native, const yoke_submodel *part,
                                 const void *state, const double *u, yoke_linearization *linearization,
                                 yoke_subsystem **out) {
  const yoke_integrator_state *head       = yoke_native_state(native, state);
  const yoke_integrator       *integrator = yoke_native_integrator(native);
  port_outputs                 ports = {.mb = yoke_native_multibody(native), .t = head->t, .n_ports = part->n_ports};
  const yoke_linearize_def     def   = {.model     = part->model,
                                        .equations = yoke_native_equations(native),
                                        .mb        = ports.mb,
                                        .t         = head->t,
                                        .q         = yoke_integrator_q(integrator, head),
                                        .v         = yoke_integrator_v(integrator, head),
                                        .u         = u,
                                        .ny        = native->ny,
                                        .output    = show_ports,
                                        .user      = &ports};
  *out                               = NULL;
  *linearization                     = (yoke_linearization){0};
  yoke_status status                 = set_ports(ctx, native, part, &ports);
  if (status == YOKE_OK) status = yoke_linearize(ctx, &def, linearization);
  if (status == YOKE_OK) status = create(ctx, native, linearization, &ports, out);
  yoke_arena_free(&ports.arena);
  return status;
}
