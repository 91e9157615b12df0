#include "analysis/reference.h"
#include "base/memory.h"
#include "integrate/integrator.h"
#include "model/multibody.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EXACT = 400 }; /* states; beyond, a matrix exponential costs more than it saves */

struct yoke_reference {
  yoke_arena             arena;
  yoke_equations         equations;
  yoke_multibody        *mb; /* owned by the equations */
  yoke_integrator       *integrator;
  yoke_integrator_state *state;
  void                  *scratch;
  double                 t0;
  double                *dq, *dv; /* of the start, see above */
  bool                   has_drift;
};

static yoke_status choose(yoke_reference *r, const char *solver, double rtol, yoke_context *ctx) {
  yoke_integrator_options options = yoke_integrator_options_default();
  options.rtol                    = rtol > 0.0 ? rtol : 1e-13;
  options.atol                    = options.rtol;
  if (solver != NULL) return yoke_integrator_create(ctx, solver, &r->equations, &options, &r->integrator);
  if (r->equations.nq + r->equations.nv <= MAX_EXACT) {
    const yoke_status status = yoke_integrator_create(NULL, "exact", &r->equations, &options, &r->integrator);
    if (status == YOKE_E_MEMORY) return yoke_out_of_memory(ctx, "the reference");
    if (status == YOKE_OK) return YOKE_OK;
  }
  return yoke_integrator_create(ctx, "dop853", &r->equations, &options, &r->integrator);
}

yoke_status yoke_reference_create(yoke_context *ctx, const yoke_model *model, const char *solver, double rtol,
                                  yoke_reference **out) {
  const yoke_multibody_options options = {.energy = false};
  *out                                 = NULL;
  yoke_reference *r                    = yoke_allocate(1, sizeof *r);
  if (r == NULL) return yoke_out_of_memory(ctx, "the reference");
  yoke_status status = yoke_multibody_create(ctx, model, &options, &r->equations, &r->mb);
  if (status == YOKE_OK) status = choose(r, solver, rtol, ctx);
  if (status == YOKE_OK) {
    r->dq = yoke_arena_take(&r->arena, (size_t)r->equations.nq + 1, sizeof(double));
    r->dv = yoke_arena_take(&r->arena, (size_t)r->equations.nv + 1, sizeof(double));
    if (r->arena.has_failed || yoke_integrator_state_create(r->integrator, &r->state) != YOKE_OK ||
        yoke_integrator_scratch_create(r->integrator, &r->scratch) != YOKE_OK)
      status = yoke_out_of_memory(ctx, "the reference");
  }
  if (status != YOKE_OK) {
    yoke_reference_destroy(&r);
    return status;
  }
  *out = r;
  return YOKE_OK;
}

void yoke_reference_destroy(yoke_reference **reference) {
  yoke_reference *r = *reference;
  if (r == NULL) return;
  yoke_integrator_state_destroy(&r->state);
  yoke_integrator_scratch_destroy(&r->scratch);
  yoke_integrator_destroy(&r->integrator);
  if (r->equations.ops != NULL) yoke_equations_destroy(&r->equations);
  yoke_arena_free(&r->arena);
  free(r);
  *reference = NULL;
}

const char *yoke_reference_solver(const yoke_reference *reference) {
  return reference->integrator->ops->name;
}

int yoke_reference_nq(const yoke_reference *reference) {
  return reference->equations.nq;
}

int yoke_reference_nv(const yoke_reference *reference) {
  return reference->equations.nv;
}

yoke_status yoke_reference_start(yoke_reference *r, double t, const double *q, const double *v, yoke_context *ctx) {
  YOKE_TRY(yoke_integrator_start(r->integrator, r->scratch, r->state, t, q, v, &yoke_signal_none, ctx));
  r->state->t_look          = (double)INFINITY;
  const double *q_projected = yoke_integrator_q(r->integrator, r->state);
  const double *v_projected = yoke_integrator_v(r->integrator, r->state);
  r->t0                     = t;
  r->has_drift              = r->equations.ng > 0;
  for (int i = 0; i < r->equations.nq; ++i) r->dq[i] = q[i] - q_projected[i];
  for (int i = 0; i < r->equations.nv; ++i) r->dv[i] = v[i] - v_projected[i];
  return YOKE_OK;
}

yoke_status yoke_reference_advance(yoke_reference *r, double t_end, double *q, double *v, yoke_context *ctx) {
  YOKE_TRY(yoke_integrator_advance(r->integrator, r->scratch, r->state, &yoke_signal_none, t_end, ctx));
  const int nq = r->equations.nq, nv = r->equations.nv;
  memcpy(q, yoke_integrator_q(r->integrator, r->state), (size_t)nq * sizeof *q);
  memcpy(v, yoke_integrator_v(r->integrator, r->state), (size_t)nv * sizeof *v);
  if (!r->has_drift) return YOKE_OK;
  for (int i = 0; i < nq; ++i) q[i] += r->dq[i] + (nq == nv ? (t_end - r->t0) * r->dv[i] : 0.0);
  for (int i = 0; i < nv; ++i) v[i] += r->dv[i];
  return YOKE_OK;
}
