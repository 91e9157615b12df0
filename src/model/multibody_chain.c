/* Equations of a model that is one chain: those of chain_kernel.h, whose inputs are forces, with a factor for each input. Factors
 * that are all 1 need nothing else; otherwise every call is passed on with scaled inputs. */
#include "model/multibody_internal.h"

#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_STAGES = 16 }; /* passed on in one sweep */

typedef struct scaled_chain {
  yoke_equations inner;
  double         factor[]; /* [nu] */
} scaled_chain;

static void scaled_destroy(void *self) {
  scaled_chain *chain = self;
  if (chain == NULL) return;
  yoke_equations_destroy(&chain->inner);
  free(chain);
}

/* Row i of scaled inputs lies behind the scratch of the inner equations. */
static const double *scale(const scaled_chain *chain, void *work, int i, const double *u) {
  double *out =
      (double *)(void *)((char *)work + (chain->inner.work_size + 63) / 64 * 64) + (size_t)i * chain->inner.nu;
  if (u == NULL) return NULL;
  for (int k = 0; k < chain->inner.nu; ++k) out[k] = chain->factor[k] * u[k];
  return out;
}

static yoke_status scaled_derivative(const void *self, void *work, double t, const double *q, const double *v,
                                     const double *u, double *qdot, double *a, double *lambda) {
  const scaled_chain *chain = self;
  return chain->inner.ops->derivative(chain->inner.self, work, t, q, v, scale(chain, work, 0, u), qdot, a, lambda);
}

static yoke_status scaled_dae_create(const void *self, yoke_context *ctx, yoke_dae_form form, yoke_dae **out) {
  const scaled_chain *chain = self;
  return chain->inner.ops->dae_create(chain->inner.self, ctx, form, out);
}

static yoke_status scaled_dae_rhs(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                  const double *u, double *F) {
  const scaled_chain *chain = self;
  return chain->inner.ops->dae_rhs(chain->inner.self, dae, work, t, x, scale(chain, work, 0, u), F);
}

static yoke_status scaled_dae_jacobian(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                       const double *u, double *J) {
  const scaled_chain *chain = self;
  return chain->inner.ops->dae_jacobian(chain->inner.self, dae, work, t, x, scale(chain, work, 0, u), J);
}

static yoke_status scaled_dae_input_jacobian(const void *self, const yoke_dae *dae, void *work, double t,
                                             const double *x, const double *u, double *B) {
  const scaled_chain *chain = self;
  YOKE_TRY(chain->inner.ops->dae_input_jacobian(chain->inner.self, dae, work, t, x, scale(chain, work, 0, u), B));
  for (int i = 0; i < chain->inner.nu; ++i) {
    for (int k = dae->input_pattern->col_start[i]; k < dae->input_pattern->col_start[i + 1]; ++k)
      B[k] *= chain->factor[i];
  }
  return YOKE_OK;
}

static yoke_status scaled_motion_factor(const void *self, void *work, double t, const double *q, const double *u,
                                        void *factor) {
  const scaled_chain *chain = self;
  return chain->inner.ops->motion_factor(chain->inner.self, work, t, q, scale(chain, work, 0, u), factor);
}

static void scaled_motion_solve(const void *self, const void *factor, int n, double *a, double *lambda) {
  const scaled_chain *chain = self;
  chain->inner.ops->motion_solve(chain->inner.self, factor, n, a, lambda);
}

static void scaled_quadrature_tangent(const void *self, void *work, double t, const double *q, const double *v, int n,
                                      const double *dq, const double *dv, double *rate) {
  const scaled_chain *chain = self;
  chain->inner.ops->quadrature_tangent(chain->inner.self, work, t, q, v, n, dq, dv, rate);
}

static yoke_status scaled_stage(const void *self, void *work, double t, double h, double c, int s, const double *a,
                                const double *abar, const double *q, const double *v, const double *const *A,
                                const double *u, double *X_out, double *V_out, double *out, const double *e,
                                const double *ebar, double atol, double rtol, double *error_sum) {
  const scaled_chain *chain = self;
  return chain->inner.ops->stage(chain->inner.self, work, t, h, c, s, a, abar, q, v, A, scale(chain, work, 0, u), X_out,
                                 V_out, out, e, ebar, atol, rtol, error_sum);
}

static yoke_status scaled_sweep(const void *self, void *work, int n_stages, const yoke_stage *stages,
                                double *error_sum) {
  const scaled_chain *chain = self;
  for (int first = 0; first < n_stages; first += MOST_STAGES) {
    const int  count = n_stages - first < MOST_STAGES ? n_stages - first : MOST_STAGES;
    yoke_stage local[MOST_STAGES];
    for (int i = 0; i < count; ++i) {
      local[i]   = stages[first + i];
      local[i].u = scale(chain, work, i, stages[first + i].u);
    }
    YOKE_TRY(chain->inner.ops->sweep(chain->inner.self, work, count, local, error_sum));
  }
  return YOKE_OK;
}

static void scaled_energy(const void *self, void *work, double t, const double *q, const double *v, yoke_energy *out) {
  const scaled_chain *chain = self;
  chain->inner.ops->energy(chain->inner.self, work, t, q, v, out);
}

static yoke_status scaled_linear(const void *self, void *work, double *A, double *B, double *b) {
  const scaled_chain *chain = self;
  const size_t        n = (size_t)chain->inner.nq + (size_t)chain->inner.nv, nu = (size_t)chain->inner.nu;
  YOKE_TRY(chain->inner.ops->linear(chain->inner.self, work, A, B, b));
  for (size_t i = 0; B != NULL && i < n * nu; ++i) B[i] *= chain->factor[i % nu];
  return YOKE_OK;
}

static const yoke_equations_ops scaled_ops = {
    .kind               = "chain",
    .destroy            = scaled_destroy,
    .derivative         = scaled_derivative,
    .dae_create         = scaled_dae_create,
    .dae_rhs            = scaled_dae_rhs,
    .dae_jacobian       = scaled_dae_jacobian,
    .dae_input_jacobian = scaled_dae_input_jacobian,
    .motion_factor      = scaled_motion_factor,
    .motion_solve       = scaled_motion_solve,
    .quadrature_tangent = scaled_quadrature_tangent,
    .stage              = scaled_stage,
    .sweep              = scaled_sweep,
    .energy             = scaled_energy,
    .linear             = scaled_linear,
};

/* Wraps `out`, which it takes. */
static yoke_status wrap(yoke_context *ctx, int n_inputs, const yoke_input *inputs, yoke_equations *out) {
  scaled_chain *chain = yoke_allocate(1, sizeof *chain + (size_t)n_inputs * sizeof chain->factor[0]);
  if (chain == NULL) {
    yoke_equations_destroy(out);
    return yoke_out_of_memory(ctx, "%d inputs", n_inputs);
  }
  chain->inner = *out;
  for (int i = 0; i < n_inputs; ++i) chain->factor[i] = inputs[i].factor;
  out->ops       = &scaled_ops;
  out->self      = chain;
  out->work_size = (out->work_size + 63) / 64 * 64 + (size_t)MOST_STAGES * (size_t)n_inputs * sizeof(double);
  return YOKE_OK;
}

yoke_status mb_chain_equations_create(yoke_context *ctx, const yoke_model *model, int n_inputs,
                                      const yoke_input *inputs, yoke_equations *out) {
  bool plain = true;
  int *mass  = yoke_allocate((size_t)n_inputs + 1, sizeof *mass);
  if (mass == NULL) return yoke_out_of_memory(ctx, "%d inputs", n_inputs);
  for (int i = 0; i < n_inputs; ++i) {
    mass[i] = model->frames[inputs[i].frame].mass;
    plain   = plain && inputs[i].factor == 1.0;
  }
  const yoke_status status =
      yoke_chain_equations_create(ctx, model->bodies[0].chain, model->gravity[0], n_inputs, mass, out);
  free(mass);
  if (status != YOKE_OK || plain) return status;
  return wrap(ctx, n_inputs, inputs, out);
}
