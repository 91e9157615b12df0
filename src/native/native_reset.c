/* Resets of a native subsystem: impulses along rows at its ports, and its state as a vector. */
#include "native/native_internal.h"

#include <string.h>

static yoke_status row_response(const yoke_subsystem *subsystem, void *scratch, const void *state, int count,
                                const yoke_port_row *rows, double *W) {
  const native *n = subsystem->self;
  const double *q = yoke_integrator_q(n->integrator, state);
  return yoke_multibody_row_response(n->mb, scratch, ((const yoke_integrator_state *)state)->t, q, count, rows, W);
}

/* q := q (+) response to `move`, then v += response to `kick`; both back onto the own joints. */
static yoke_status push(const yoke_subsystem *subsystem, void *scratch, void *state, int count,
                        const yoke_port_row *rows, const double *move, const double *kick) {
  const native         *n = subsystem->self;
  const yoke_equations *e = &n->equations;
  const double          t = yoke_integrator_motions_at(n->integrator, state);
  double               *q = yoke_integrator_q(n->integrator, state), *v = yoke_integrator_v(n->integrator, state);
  double               *dv = native_doubles(scratch, n->at->a);
  native_close_work(n, scratch, state);
  if (move != NULL) {
    YOKE_TRY(yoke_multibody_row_push(n->mb, scratch, t, q, count, rows, move, dv));
    yoke_multibody_move(n->mb, q, dv);
    if (e->ng + e->n_norms > 0) YOKE_TRY(e->ops->project_position(e->self, scratch, t, q));
    native_hold_events(n, scratch, state);
  }
  if (e->ng + e->n_norms > 0) YOKE_TRY(e->ops->project_velocity(e->self, scratch, t, q, v));
  if (kick == NULL) return YOKE_OK;
  YOKE_TRY(yoke_multibody_row_push(n->mb, scratch, t, q, count, rows, kick, dv));
  for (int i = 0; i < e->nv; ++i) v[i] += dv[i];
  return YOKE_OK;
}

static yoke_status reset(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                         yoke_context *ctx) {
  const native                *n    = subsystem->self;
  yoke_integrator_state *const head = state;
  native_free_jumps(n, head, yoke_integrator_q(n->integrator, head));
  YOKE_TRY(yoke_integrator_reset(n->integrator, scratch, head, yoke_integrator_q(n->integrator, head),
                                 yoke_integrator_v(n->integrator, head), u, ctx));
  return native_begin_jumps(n, scratch, head, u, ctx);
}

static yoke_status kick(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                        bool *is_kicked, yoke_context *ctx) {
  const native *n = subsystem->self;
  *is_kicked      = yoke_integrator_is_kicked(n->integrator, state);
  if (*is_kicked) native_close_work(n, scratch, state);
  return *is_kicked ? yoke_integrator_disturb(n->integrator, scratch, state, u, ctx) : YOKE_OK;
}

static void motions(const yoke_subsystem *subsystem, void *scratch, const void *state, double *y) {
  const native      *n   = subsystem->self;
  const native_point own = native_own_point(n, state);
  double            *a   = native_doubles(scratch, n->at->a);
  memset(a, 0, (size_t)n->equations.nv * sizeof *a);
  native_show_motions(n, scratch, state, &own, a, y);
}

static void account(const yoke_subsystem *subsystem, void *scratch, void *state, double sign) {
  const native         *n   = subsystem->self;
  const yoke_equations *e   = &n->equations;
  const native_point    own = native_own_point(n, state);
  yoke_energy           energy;
  if (!n->tells_work) return;
  e->ops->energy(e->self, scratch, own.t, own.q, own.v, &energy);
  native_bring_in(n, state, yoke_integrator_q(n->integrator, state), sign * (energy.kinetic + energy.potential));
}

const yoke_reset_ops native_resets = {
    .account = account, .row_response = row_response, .push = push, .reset = reset, .kick = kick, .motions = motions};

/* ---- the state as a vector: q without quadratures, then v ---- */

static int n_x(const yoke_subsystem *subsystem) {
  const native         *n = subsystem->self;
  const yoke_equations *e = &n->equations;
  return e->ng + e->n_norms > 0 ? -1 : e->nq - e->n_quadratures + e->nv;
}

static void get_x(const yoke_subsystem *subsystem, const void *state, double *x) {
  const native *n  = subsystem->self;
  const int     nq = n->equations.nq - n->equations.n_quadratures;
  memcpy(x, yoke_integrator_q(n->integrator, state), (size_t)nq * sizeof *x);
  memcpy(x + nq, yoke_integrator_v(n->integrator, state), (size_t)n->equations.nv * sizeof *x);
}

/* The inputs stay those that the state has seen. */
static yoke_status set_x(const yoke_subsystem *subsystem, void *scratch, void *state, const double *x) {
  const native          *n    = subsystem->self;
  const yoke_equations  *e    = &n->equations;
  yoke_integrator_state *head = state;
  const int              nq   = e->nq - e->n_quadratures;
  const double           t[2] = {head->t, head->t + 1.0};
  const yoke_signal      held = {.n = e->nu, .n_pieces = 1, .degree = 0, .t = t, .c = native_doubles(state, n->at->u)};
  double                *q    = yoke_integrator_q(n->integrator, head);
  native_close_work(n, scratch, state);
  memcpy(q, x, (size_t)nq * sizeof *q);
  memset(q + nq, 0, (size_t)e->n_quadratures * sizeof *q);
  memset(native_doubles(state, n->at->base), 0, (size_t)n->n_integrals * sizeof *q);
  memcpy(yoke_integrator_v(n->integrator, head), x + nq, (size_t)e->nv * sizeof *q);
  return yoke_integrator_reset(n->integrator, scratch, head, q, yoke_integrator_v(n->integrator, head), &held, NULL);
}

const yoke_linear_ops native_linear = {.n_x = n_x, .get_x = get_x, .set_x = set_x};
