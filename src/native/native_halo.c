/* Halos of a native subsystem: masses that are copies of others', which get their owners' motion between steps. */
#include "native/native_internal.h"

#include "linalg/space.h"
#include <string.h>

yoke_status native_take_halos(yoke_context *ctx, native *n, yoke_subsystem *s, const yoke_native_def *def) {
  n->has_halos = def->n_halos > 0;
  n->halos     = yoke_arena_take(&s->arena, (size_t)def->n_halos, sizeof *n->halos);
  YOKE_TRY(yoke_arena_check(&s->arena, ctx, "%d halos", def->n_halos));
  for (int k = 0; k < def->n_halos; ++k) {
    const yoke_native_halo *from = &def->halos[k];
    n->halos[k]                  = (native_halo){.shape = yoke_body_shape(def->model->bodies[from->body].kind),
                                                 .q     = yoke_multibody_q_offset(n->mb, from->body) + from->first,
                                                 .v     = yoke_multibody_v_offset(n->mb, from->body) + from->first,
                                                 .step  = from->step,
                                                 .n     = from->n};
  }
  return YOKE_OK;
}

/* Positions and velocities of a body are those of a port at its own frame but for the angular velocity in space, which is in body axes. */
static void take_body(const yoke_port_shape *shape, const double *y, double *q, double *v) {
  memcpy(q, y, (size_t)shape->n_p * sizeof *q);
  memcpy(v, y + yoke_shape_at_v(shape), (size_t)shape->n_v * sizeof *v);
  if (yoke_shape_n_turned(shape) == 0 || shape != &yoke_shape_frame) return;
  double R[9];
  quaternion_rotation(R, q + 3);
  mat3_apply_transposed(v + 3, R, y + yoke_shape_at_v(shape) + 3);
}

/* The next step begins with the derivative at the new point. */
static void take(const yoke_subsystem *subsystem, void *state, int halo, const double *y) {
  const native      *n = subsystem->self;
  const native_halo *h = &n->halos[halo];
  double            *q = yoke_integrator_q(n->integrator, state), *v = yoke_integrator_v(n->integrator, state);
  const int          n_y = yoke_shape_n_y(h->shape);
  for (int k = 0; k < h->n; ++k) take_body(h->shape, y + k * n_y, q + h->q + k * h->step, v + h->v + k * h->step);
  *native_doubles(state, n->at->nudged) = 1.0;
}

bool native_is_nudged(const native *n, void *state) {
  if (!n->has_halos) return false;
  double    *flag      = native_doubles(state, n->at->nudged);
  const bool is_nudged = *flag != 0.0;
  *flag                = 0.0;
  return is_nudged;
}

const yoke_halo_ops native_halo_calls = {.take = take};
