/* The past of `start: exact`: outputs and channel values at t_start - H, t_start - 2 H, ... from the whole model integrated backwards. */
#include "master/plan_builder.h"

#include "master/coupling_redundancy.h"
#include <string.h>

enum { EXACT_SUBSTEPS = 400 }; /* Runge-Kutta steps per macro step back into the past */

typedef struct backward { /* one Runge-Kutta step of the whole model */
  double *q, *v, *a, *lambda, *x, *w, *kq[4], *kv[4];
} backward;

static yoke_status step_back(const yoke_start *start, const backward *b, double t, double h) {
  static const double   share[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  const yoke_equations *e = &start->equations;
  for (int s = 0; s < 4; ++s) {
    for (int i = 0; i < e->nq; ++i) b->x[i] = b->q[i] + (s > 0 ? share[s] * h * b->kq[s - 1][i] : 0.0);
    for (int i = 0; i < e->nv; ++i) b->w[i] = b->v[i] + (s > 0 ? share[s] * h * b->kv[s - 1][i] : 0.0);
    YOKE_TRY(e->ops->derivative(e->self, start->work, t + share[s] * h, b->x, b->w, NULL, b->kq[s], b->kv[s], NULL));
  }
  for (int s = 0; s < 4; ++s) {
    for (int i = 0; i < e->nq; ++i) b->q[i] += h * weight[s] * b->kq[s][i];
    for (int i = 0; i < e->nv; ++i) b->v[i] += h * weight[s] * b->kv[s][i];
  }
  return YOKE_OK;
}

/* One macro step back to t, with accelerations and multipliers there. */
static yoke_status macro_step_back(const yoke_start *start, const backward *b, double t_from, double H, double t) {
  const yoke_equations *e = &start->equations;
  const double          h = -H / EXACT_SUBSTEPS;
  for (int j = 0; j < EXACT_SUBSTEPS; ++j) YOKE_TRY(step_back(start, b, t_from + (double)j * h, h));
  YOKE_TRY(e->ops->derivative(e->self, start->work, t, b->q, b->v, NULL, NULL, b->a, b->lambda));
  return yoke_coupling_redundancy_move(start, t, b->q, b->lambda);
}

/* Outputs of all ports and channel values of joints for the state that was reached. */
static yoke_status note_point(const plan_builder *b, const backward *state, yoke_plan_point *point) {
  const yoke_plan       *plan = b->plan;
  const yoke_whole_state at   = {state->q, state->v, state->a};
  double                *next = point->y, *u = point->u;
  for (int k = 0; k < plan->n_couplings; ++k) {
    const yoke_plan_coupling *coupling = &plan->couplings[k];
    const yoke_wire          *wire     = &plan->wires[k];
    double                   *y[2], force[YOKE_CONNECTION_MAX_ROWS] = {0.0}, g[YOKE_CONNECTION_MAX_ROWS];
    if (coupling->is_signal) YOKE_TRY(plan_signal_output(b, k, point->t, &at, next));
    for (int side = 0; side < 2; ++side) {
      y[side] = next;
      next += wire->n_y[side];
      if (!coupling->is_signal) plan_port_outputs(b, k, side, &at, y[side]);
    }
    YOKE_TRY(plan_reading_outputs(b, k, point->t, &at, y));
    if (!coupling->is_joint) continue; /* its law gives the values */
    yoke_multibody_connection_output(b->start.mb, b->start.work, coupling->connection, point->t, state->q, state->v,
                                     NULL, state->lambda, force, g);
    plan_joint_values(plan, k, force, (const double *const[2]){y[0], y[1]}, u);
    u += plan_n_channels(wire);
  }
  return YOKE_OK;
}

/* Macro points that the highest degree of the run can use. */
static int depth(const yoke_plan *plan) {
  int order = plan->scheme.order;
  for (int k = 0; k < plan->n_couplings; ++k) {
    const yoke_wire *wire = &plan->wires[k];
    for (int i = 0; wire->formulation->extrapolation != NULL && i < plan_n_channels(wire); ++i) {
      const int own = wire->formulation->extrapolation->order(wire->self, i);
      order         = own > order ? own : order;
    }
  }
  return order + 1;
}

static yoke_status allocate(const plan_builder *b, yoke_arena *scratch, backward *state) {
  yoke_plan            *plan = b->plan;
  const yoke_equations *e    = &b->start.equations;
  const size_t          nq = (size_t)e->nq + 1, nv = (size_t)e->nv + 1;
  size_t                ny = 0, nu = 0;
  for (int k = 0; k < plan->n_couplings; ++k) {
    ny += (size_t)(plan->wires[k].n_y[0] + plan->wires[k].n_y[1]);
    nu += plan->couplings[k].is_joint ? (size_t)plan_n_channels(&plan->wires[k]) : 0;
  }
  state->q      = yoke_arena_copy(scratch, b->start.q, nq, sizeof(double));
  state->v      = yoke_arena_copy(scratch, b->start.v, nv, sizeof(double));
  state->x      = yoke_arena_take(scratch, nq, sizeof(double));
  state->w      = yoke_arena_take(scratch, nv, sizeof(double));
  state->a      = yoke_arena_take(scratch, nv, sizeof(double));
  state->lambda = yoke_arena_take(scratch, (size_t)e->ng + 1, sizeof(double));
  for (int s = 0; s < 4; ++s) state->kq[s] = yoke_arena_take(scratch, nq, sizeof(double));
  for (int s = 0; s < 4; ++s) state->kv[s] = yoke_arena_take(scratch, nv, sizeof(double));
  plan->n_past = depth(plan);
  plan->past   = yoke_arena_take(&plan->arena, (size_t)plan->n_past, sizeof *plan->past);
  if (scratch->has_failed || plan->arena.has_failed) return YOKE_E_MEMORY;
  for (int k = 0; k < plan->n_past; ++k) {
    plan->past[k].y = yoke_arena_take(&plan->arena, ny + 1, sizeof(double));
    plan->past[k].u = yoke_arena_take(&plan->arena, nu + 1, sizeof(double));
  }
  return plan->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
}

yoke_status plan_find_past(plan_builder *b) {
  yoke_plan *plan    = b->plan;
  yoke_arena scratch = {0};
  backward   state;
  if (plan->scheme.start != YOKE_START_EXACT) return YOKE_OK;
  if (plan->n_foreigns > 0)
    return yoke_fail(
        b->ctx, YOKE_E_MODEL,
        "start exact: subsystem '%s' cannot be integrated backwards from its start; use start ramp or graded",
        b->model->foreigns[0].name);
  yoke_status status = allocate(b, &scratch, &state);
  for (int k = 0; status == YOKE_OK && k < plan->n_past; ++k) {
    yoke_plan_point *point = &plan->past[k];
    point->t               = plan->t_start - (double)(k + 1) * plan->step.H;
    status = macro_step_back(&b->start, &state, plan->t_start - (double)k * plan->step.H, plan->step.H, point->t);
    if (status == YOKE_OK) status = note_point(b, &state, point);
  }
  yoke_arena_free(&scratch);
  if (status == YOKE_E_MEMORY) return plan_no_memory(b);
  return status == YOKE_OK
             ? YOKE_OK
             : yoke_fail(b->ctx, YOKE_E_MODEL, "start exact: the model cannot be integrated backwards from its start");
}
