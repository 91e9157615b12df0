/* Semi-implicit (symplectic) Euler with a fixed step:
 *   v1 = v + h a(t, q, v),   q1 = q + h T(q) v1,   then projection onto the constraints.
 * First order; keeps the energy of undamped oscillators bounded for h omega < 2. */
#include "base/memory.h"
#include "integrate/explicit.h"
#include "integrate/methods.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct semi_self {
  size_t work, u, q_new, v_new, qdot, a_new, lambda, before; /* scratch */
  size_t q0, v0;                                             /* own part of the state */
} semi_self;

static yoke_status create(yoke_context *ctx, yoke_integrator *integrator) {
  const yoke_equations *e = integrator->equations;
  if (!(integrator->options.fixed_step > 0)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "solver 'semi-euler' has no error control: give it a fixed step (key step)");
  }
  semi_self *self = yoke_allocate(1, sizeof *self);
  if (self == NULL) return yoke_out_of_memory(ctx, "solver 'semi-euler'");
  size_t size              = 0;
  self->work               = explicit_reserve(&size, e->work_size);
  self->u                  = yoke_array_reserve(&size, e->nu + 1);
  self->q_new              = yoke_array_reserve(&size, e->nq);
  self->v_new              = yoke_array_reserve(&size, e->nv);
  self->qdot               = yoke_array_reserve(&size, e->nq);
  self->a_new              = yoke_array_reserve(&size, e->nv);
  self->lambda             = yoke_array_reserve(&size, yoke_n_multipliers(e));
  self->before             = yoke_array_reserve(&size, e->nq + e->nv);
  integrator->scratch_size = size;
  size                     = 0;
  self->q0                 = yoke_array_reserve(&size, e->nq);
  self->v0                 = yoke_array_reserve(&size, e->nv);
  integrator->state_size   = yoke_integrator_head_size(e) + size;
  integrator->self         = self;
  return YOKE_OK;
}

static void destroy(yoke_integrator *integrator) {
  free(integrator->self);
  integrator->self = NULL;
}

static yoke_status start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                         const yoke_signal *u) {
  (void)scratch, (void)u;
  state->h     = integrator->options.fixed_step;
  state->order = 1;
  return YOKE_OK;
}

static yoke_status try_step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                            const yoke_signal *u, double h, double t_new) {
  const semi_self      *self = integrator->self;
  const yoke_equations *e    = integrator->equations;
  const double         *q = yoke_integrator_q(integrator, state), *v = yoke_integrator_v(integrator, state);
  const double         *a     = yoke_integrator_a(integrator, state);
  double               *q_new = explicit_at(scratch, self->q_new), *v_new = explicit_at(scratch, self->v_new);
  double               *qdot = explicit_at(scratch, self->qdot), *a_new = explicit_at(scratch, self->a_new),
         *u_now = explicit_at(scratch, self->u);
  void *work    = explicit_at(scratch, self->work);
  bool  moved;

  for (int i = 0; i < e->nv; ++i) v_new[i] = v[i] + h * a[i];
  if (e->is_second_order) {
    for (int i = 0; i < e->nq; ++i) q_new[i] = q[i] + h * v_new[i];
  } else {
    YOKE_TRY(explicit_evaluate(integrator, work, u_now, &state->counters, u, state->t, YOKE_SIDE_RIGHT, q, v_new, qdot,
                               a_new, NULL));
    for (int i = 0; i < e->nq; ++i) q_new[i] = q[i] + h * qdot[i];
  }
  YOKE_TRY(explicit_project(integrator, work, t_new, q_new, v_new, explicit_at(scratch, self->before), &moved));
  return explicit_evaluate(integrator, work, u_now, &state->counters, u, t_new, YOKE_SIDE_LEFT, q_new, v_new, NULL,
                           a_new, explicit_at(scratch, self->lambda));
}

static yoke_status step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                        const yoke_signal *u, double t_limit, yoke_context *ctx) {
  const semi_self      *self   = integrator->self;
  const yoke_equations *e      = integrator->equations;
  const double          t_left = t_limit - state->t;
  const double          h      = explicit_clip(integrator->options.fixed_step, t_left, true);
  const double          t_new  = h == t_left ? t_limit : state->t + h;
  const yoke_status     status = try_step(integrator, scratch, state, u, h, t_new);
  if (status != YOKE_OK) {
    ++state->counters.rejected;
    if (status > 0) return explicit_fail_small(integrator, state, h, status != YOKE_NON_FINITE, ctx);
    return yoke_fail(ctx, status, "solver 'semi-euler' failed at t = %.9g s", state->t);
  }
  double      *q = yoke_integrator_q(integrator, state), *v = yoke_integrator_v(integrator, state);
  const void  *own    = yoke_integrator_own(integrator, state);
  const size_t q_size = (size_t)e->nq * sizeof *q, v_size = (size_t)e->nv * sizeof *v;
  memcpy(explicit_at(own, self->q0), q, q_size);
  memcpy(explicit_at(own, self->v0), v, v_size);
  memcpy(q, explicit_at(scratch, self->q_new), q_size);
  memcpy(v, explicit_at(scratch, self->v_new), v_size);
  memcpy(yoke_integrator_a(integrator, state), explicit_at(scratch, self->a_new), v_size);
  memcpy(yoke_integrator_lambda(integrator, state), explicit_at(scratch, self->lambda),
         (size_t)yoke_n_multipliers(e) * sizeof *q);
  state->t_prev = state->t;
  state->t      = t_new;
  ++state->counters.steps;
  return YOKE_OK;
}

/* Linear: as accurate as the method. */
static void interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t, double *q,
                        double *v) {
  const semi_self      *self  = integrator->self;
  const yoke_equations *e     = integrator->equations;
  const double          theta = (t - state->t_prev) / (state->t - state->t_prev);
  const void           *own   = yoke_integrator_own(integrator, state);
  const double         *q0 = explicit_at(own, self->q0), *q1 = yoke_integrator_q(integrator, state);
  const double         *v0 = explicit_at(own, self->v0), *v1 = yoke_integrator_v(integrator, state);
  for (int i = 0; i < e->nq; ++i) q[i] = q0[i] + theta * (q1[i] - q0[i]);
  for (int i = 0; i < e->nv; ++i) v[i] = v0[i] + theta * (v1[i] - v0[i]);
}

/* Nothing is remembered beyond a, which the caller has refreshed. */
static yoke_status disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                           const yoke_signal *u, yoke_disturbance what) {
  (void)integrator, (void)scratch, (void)state, (void)u, (void)what;
  return YOKE_OK;
}

const yoke_integrator_ops semi_euler_ops = {
    .name        = "semi-euler",
    .summary     = "semi-implicit (symplectic) Euler of order 1 with a fixed step",
    .reads       = "step constraints alpha beta",
    .create      = create,
    .destroy     = destroy,
    .start       = start,
    .step        = step,
    .interpolate = interpolate,
    .disturb     = disturb,
    .reads_end   = -1,
};
