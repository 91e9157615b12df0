#include "analysis/stand_in.h"

#include "base/memory.h"
#include "analysis/linear_subsystem.h"
#include <stdlib.h>

/* Outputs of a native subsystem as a function of a point. */
typedef struct port_outputs {
  const yoke_subsystem *native;
  const yoke_multibody *mb;
  void                 *work;
  double                t;
} port_outputs;

static yoke_status show_ports(void *user, const yoke_linear_point *point, double *y) {
  const port_outputs *p = user;
  for (int k = 0; k < p->native->n_ports; ++k) {
    const yoke_port *port = &p->native->ports[k];
    double          *own  = y + port->y_at;
    yoke_multibody_port(p->mb, p->work, k, point->q, point->v, point->a, own);
    if (yoke_port_n_extra(port) == 0) continue;
    own += yoke_shape_n_y(port->shape);
    YOKE_TRY(yoke_multibody_extras(p->mb, p->work, k, p->t, point->q, point->u, point->lambda, own));
  }
  return YOKE_OK;
}

/* Copies of masses are coordinates of their own: no joint holds them. */
static yoke_linear_halo halo_of(yoke_arena *arena, const yoke_linearize_def *at, const yoke_linearization *l,
                                const yoke_native_halo *from) {
  int    *x = yoke_arena_take(arena, (size_t)from->n, sizeof *x);
  double *p = yoke_arena_take(arena, (size_t)from->n, sizeof *p),
         *v = yoke_arena_take(arena, (size_t)from->n, sizeof *v);
  for (int k = 0; !arena->has_failed && k < from->n; ++k) {
    const int mass = from->first + k * from->step, component = yoke_multibody_v_offset(at->mb, from->body) + mass;
    p[k] = at->q[yoke_multibody_q_offset(at->mb, from->body) + mass];
    v[k] = at->v[component];
    while (x[k] < l->n_freedoms - 1 && l->coordinate[x[k]] != component) ++x[k];
  }
  return (yoke_linear_halo){.n = from->n, .x = x, .p = p, .v = v};
}

static yoke_status create(yoke_context *ctx, const yoke_subsystem *native, const yoke_submodel *part,
                          const yoke_linearize_def *at, const yoke_linearization *l, yoke_subsystem **out) {
  yoke_arena        scratch = {0};
  yoke_linear_halo *halos   = yoke_arena_take(&scratch, (size_t)part->n_halos, sizeof *halos);
  for (int k = 0; !scratch.has_failed && k < part->n_halos; ++k) halos[k] = halo_of(&scratch, at, l, &part->halos[k]);
  const yoke_linear_def def    = {.name    = native->name,
                                  .n_x     = l->n_x,
                                  .nu      = l->nu,
                                  .ny      = l->ny,
                                  .A       = l->A,
                                  .B       = l->B,
                                  .C       = l->C,
                                  .D       = l->D,
                                  .f0      = l->f0,
                                  .y0      = l->y0,
                                  .u0      = l->u0,
                                  .mass    = l->mass,
                                  .n_ports = native->n_ports,
                                  .ports   = native->ports,
                                  .n_halos = part->n_halos,
                                  .halos   = halos};
  yoke_status           status = yoke_arena_check(&scratch, ctx, "subsystem '%s'", native->name);
  if (status == YOKE_OK) status = yoke_linear_create_subsystem(ctx, &def, out);
  yoke_arena_free(&scratch);
  return status;
}

yoke_status yoke_stand_in_create(yoke_context *ctx, const yoke_subsystem *native, const yoke_submodel *part,
                                 const void *state, const double *u, yoke_linearization *linearization,
                                 yoke_subsystem **out) {
  const yoke_integrator_state *head       = yoke_native_state(native, state);
  const yoke_integrator       *integrator = yoke_native_integrator(native);
  port_outputs                 ports      = {.native = native, .mb = yoke_native_multibody(native), .t = head->t};
  const yoke_linearize_def     def        = {.model     = part->model,
                                             .equations = yoke_native_equations(native),
                                             .mb        = ports.mb,
                                             .t         = head->t,
                                             .q         = yoke_integrator_q(integrator, head),
                                             .v         = yoke_integrator_v(integrator, head),
                                             .u         = u,
                                             .ny        = native->ny,
                                             .output    = show_ports,
                                             .user      = &ports};
  *out                                    = NULL;
  *linearization                          = (yoke_linearization){0};
  ports.work                              = yoke_allocate(1, yoke_native_equations(native)->work_size + 1);
  if (ports.work == NULL) return yoke_out_of_memory(ctx, "subsystem '%s'", native->name);
  yoke_status status = yoke_linearize(ctx, &def, linearization);
  if (status == YOKE_OK) status = create(ctx, native, part, &def, linearization, out);
  free(ports.work);
  return status;
}
