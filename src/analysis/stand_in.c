#include "analysis/stand_in.h"

#include "base/memory.h"
#include "analysis/linear_subsystem.h"
#include "linalg/space.h"
#include <stdlib.h>
#include <string.h>

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

/* Which entry of xi is component `component` of v; -1: it depends on others. */
static int entry_of(const yoke_linearization *l, int component) {
  for (int k = 0; k < l->n_freedoms; ++k) {
    if (l->coordinate[k] == component) return k;
  }
  return -1;
}

/* How a port at a body's own frame moves the components of the body's v (rotations in space are about its axes), at q:
 * P [n_v, n_p], V [n_v, n_v]; and what the port shows at (q, v). */
static void port_of_body(const yoke_port_shape *shape, const double *q, const double *v, double *P, double *V,
                         double *p0, double *v0) {
  const int n_p = shape->n_p, n_v = shape->n_v;
  double    L[YOKE_PORT_MAX_V * YOKE_PORT_MAX_P], R[9];
  memset(V, 0, (size_t)(n_v * n_v) * sizeof *V);
  for (int c = 0; c < n_v; ++c) V[c * n_v + c] = 1.0;
  if (shape == &yoke_shape_frame) {
    quaternion_rotation(R, q + 3);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) V[(3 + i) * n_v + 3 + k] = R[3 * k + i];
  }
  yoke_shape_left_inverse(shape, q, L);
  memset(P, 0, (size_t)(n_v * n_p) * sizeof *P);
  memset(v0, 0, (size_t)n_v * sizeof *v0);
  memcpy(p0, q, (size_t)n_p * sizeof *p0);
  for (int i = 0; i < n_v; ++i) {
    for (int k = 0; k < n_v; ++k) {
      for (int j = 0; j < n_p; ++j) P[i * n_p + j] += V[i * n_v + k] * L[k * n_p + j];
      v0[k] += V[i * n_v + k] * v[i];
    }
  }
}

/* A joint within a halo holds all its bodies, so that the coordinates which depend on others follow. At a state that turns in space V would
 * depend on the orientation too: such models are linearised at rest. */
static yoke_linear_halo halo_of(yoke_arena *arena, const yoke_linearize_def *at, const yoke_linearization *l,
                                const yoke_native_halo *from) {
  const yoke_port_shape *shape = yoke_body_shape(at->model->bodies[from->body].kind);
  const size_t           n_p = (size_t)shape->n_p, n_v = (size_t)shape->n_v, n = (size_t)from->n;
  int    *x = yoke_arena_take(arena, n * n_v, sizeof *x), *port = yoke_arena_take(arena, n * n_v, sizeof *port);
  double *P = yoke_arena_take(arena, n * n_v * n_p, sizeof *P), *V = yoke_arena_take(arena, n * n_v * n_v, sizeof *V),
         *p0 = yoke_arena_take(arena, n * n_p, sizeof *p0), *v0 = yoke_arena_take(arena, n * n_v, sizeof *v0);
  yoke_linear_halo halo = {.shape = shape, .n_ports = from->n, .x = x, .from = port, .P = P, .V = V, .p = p0, .v = v0};
  double           own_P[YOKE_PORT_MAX_V * YOKE_PORT_MAX_P], own_V[YOKE_PORT_MAX_V * YOKE_PORT_MAX_V];
  for (int k = 0; !arena->has_failed && k < from->n; ++k) {
    const int mass = from->first + k * from->step, at_v = yoke_multibody_v_offset(at->mb, from->body) + mass;
    port_of_body(shape, at->q + yoke_multibody_q_offset(at->mb, from->body) + mass, at->v + at_v, own_P, own_V,
                 p0 + (size_t)k * n_p, v0 + (size_t)k * n_v);
    for (size_t c = 0; c < n_v; ++c) {
      const int entry = entry_of(l, at_v + (int)c);
      if (entry < 0) continue;
      x[halo.n]    = entry;
      port[halo.n] = k;
      memcpy(P + (size_t)halo.n * n_p, own_P + c * n_p, n_p * sizeof *P);
      memcpy(V + (size_t)halo.n * n_v, own_V + c * n_v, n_v * sizeof *V);
      ++halo.n;
    }
  }
  return halo;
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
