#include "integrate/implicit.h"
#include "base/memory.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NULL, too, where E has entries beside its diagonal. */
static double *diagonal_mass(yoke_implicit *implicit) {
  const yoke_dae     *dae = implicit->dae;
  const yoke_pattern *p   = dae->pattern;
  double             *E   = yoke_arena_take(&implicit->arena, (size_t)dae->nx + 1, sizeof *E);
  for (int j = 0; E != NULL && j < dae->nx; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      if (p->row[k] == j)
        E[j] = dae->E[k];
      else if (dae->E[k] != 0.0)
        return NULL;
    }
  }
  return E;
}

/* Nonzeros of E, given in the columns of the common pattern, by rows. */
static bool compress_mass(yoke_implicit *implicit) {
  const yoke_dae     *dae = implicit->dae;
  const yoke_pattern *p   = dae->pattern;
  size_t              n   = 0;
  implicit->E_diagonal    = diagonal_mass(implicit);
  for (int k = 0; k < p->nnz; ++k) n += dae->E[k] != 0.0;
  implicit->E_start = yoke_arena_take(&implicit->arena, (size_t)dae->nx + 2, sizeof *implicit->E_start);
  implicit->E_col   = yoke_arena_take(&implicit->arena, n + 1, sizeof *implicit->E_col);
  implicit->E_value = yoke_arena_take(&implicit->arena, n + 1, sizeof *implicit->E_value);
  if (implicit->arena.has_failed) return false;
  int *start = implicit->E_start + 1; /* start[i] runs over row i while it is filled */
  for (int k = 0; k < p->nnz; ++k) {
    if (dae->E[k] != 0.0 && p->row[k] + 1 < dae->nx) ++start[p->row[k] + 1];
  }
  for (int i = 1; i < dae->nx; ++i) start[i] += start[i - 1];
  for (int j = 0; j < dae->nx; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      if (dae->E[k] == 0.0) continue;
      const int at          = start[p->row[k]]++;
      implicit->E_col[at]   = j;
      implicit->E_value[at] = dae->E[k];
    }
  }
  return true;
}

/* The diagonal of multipliers holds only the regularisation. */
static yoke_status create_linear(yoke_context *ctx, yoke_implicit *implicit, yoke_linear_kind kind) {
  uint8_t *is_weak = yoke_allocate((size_t)implicit->nx + 1, sizeof *is_weak);
  if (is_weak == NULL) return yoke_out_of_memory(ctx, "an implicit integrator");
  for (int i = 0; i < implicit->nx; ++i) {
    const yoke_component component = (yoke_component)implicit->dae->component[i];
    is_weak[i] = component == YOKE_COMPONENT_LAMBDA || component == YOKE_COMPONENT_MU || component == YOKE_COMPONENT_NU;
  }
  const int         n_levels = implicit->nq != implicit->nv ? 0 : implicit->dae->i_a >= 0 ? 2 : 1; /* q' = v, v' = a */
  const yoke_status status =
      yoke_linear_create_motion(ctx, implicit->dae->pattern, is_weak, kind, implicit->nv, n_levels, &implicit->linear);
  free(is_weak);
  return status;
}

static yoke_dae_form form_of(const yoke_equations *equations, const yoke_integrator_options *options) {
  return equations->feels ? YOKE_DAE_INDEX1 : options->form;
}

static yoke_implicit begin(const yoke_equations *equations) {
  return (yoke_implicit){
      .equations = equations, .nq = equations->nq, .nv = equations->nv, .n_lambda = yoke_n_multipliers(equations)};
}

bool yoke_implicit_outline(const yoke_equations *equations, const yoke_integrator_options *options,
                           yoke_implicit *out) {
  if (equations->ops->dae_size == NULL) return false;
  *out = begin(equations);
  equations->ops->dae_size(equations->self, form_of(equations, options), &out->nx, &out->nnz);
  return true;
}

/* All that follows from implicit->dae. */
static yoke_status complete(yoke_context *ctx, yoke_implicit *implicit, yoke_linear_kind linear) {
  if (implicit->dae->i_v != implicit->nq) {
    return yoke_fail(ctx, YOKE_E_INTERNAL, "implicit view: v starts at %d of x, expected %d", implicit->dae->i_v,
                     implicit->nq);
  }
  implicit->nx  = implicit->dae->nx;
  implicit->nnz = implicit->dae->pattern->nnz;
  for (int i = 0; i < implicit->nx; ++i) {
    const yoke_component kind = (yoke_component)implicit->dae->component[i];
    implicit->n_normed += kind <= YOKE_COMPONENT_INTEGRAL;
    if (kind == YOKE_COMPONENT_INTEGRAL || kind == YOKE_COMPONENT_QUADRATURE) implicit->has_quadratures = true;
  }
  if (!compress_mass(implicit)) return yoke_out_of_memory(ctx, "an implicit integrator");
  return create_linear(ctx, implicit, linear);
}

static yoke_status create(yoke_context *ctx, const yoke_equations *equations, yoke_dae *dae, yoke_dae_form form,
                          yoke_linear_kind linear, yoke_implicit **out) {
  yoke_implicit *implicit = yoke_allocate(1, sizeof *implicit);
  if (implicit == NULL) return yoke_out_of_memory(ctx, "an implicit integrator");
  *implicit          = begin(equations);
  implicit->arena    = yoke_arena_of(ctx);
  yoke_status status = YOKE_OK;
  if (dae == NULL) status = equations->ops->dae_create(equations->self, ctx, form, &implicit->own_dae);
  implicit->dae = dae != NULL ? dae : implicit->own_dae;
  if (status == YOKE_OK) status = complete(ctx, implicit, linear);
  if (status != YOKE_OK) {
    yoke_implicit_destroy(&implicit);
    return status;
  }
  *out = implicit;
  return YOKE_OK;
}

yoke_status yoke_implicit_create_of(yoke_context *ctx, const yoke_equations *equations, yoke_dae *dae,
                                    yoke_linear_kind linear, yoke_implicit **out) {
  *out = NULL;
  return create(ctx, equations, dae, dae->form, linear, out);
}

yoke_status yoke_implicit_create(yoke_context *ctx, const yoke_equations *equations,
                                 const yoke_integrator_options *options, yoke_implicit **out) {
  *out = NULL;
  if (equations->ops->dae_create == NULL || equations->ops->dae_rhs == NULL || equations->ops->dae_jacobian == NULL) {
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                     "equations of kind '%s' have no implicit view, use an explicit integrator (dopri5, dop853, abm)",
                     equations->ops->kind);
  }
  return create(ctx, equations, NULL, form_of(equations, options), options->linear, out);
}

void yoke_implicit_destroy(yoke_implicit **implicit) {
  if (implicit == NULL || *implicit == NULL) return;
  yoke_linear_destroy(&(*implicit)->linear);
  yoke_dae_destroy(&(*implicit)->own_dae);
  yoke_arena_free(&(*implicit)->arena);
  free(*implicit);
  *implicit = NULL;
}

/* Copy n values to x + at, or zeros; nothing when the part is absent. */
static void pack_part(double *x, int at, int n, const double *from) {
  if (at < 0 || n == 0) return;
  if (from != NULL) {
    memcpy(x + at, from, (size_t)n * sizeof *x);
  } else {
    memset(x + at, 0, (size_t)n * sizeof *x);
  }
}

void yoke_implicit_pack(const yoke_implicit *implicit, const double *q, const double *v, const double *a,
                        const double *lambda, double *x) {
  const yoke_dae *dae = implicit->dae;
  memset(x, 0, (size_t)implicit->nx * sizeof *x);
  pack_part(x, 0, implicit->nq, q);
  pack_part(x, dae->i_v, implicit->nv, v);
  pack_part(x, dae->i_a, implicit->nv, a);
  pack_part(x, dae->i_lambda, implicit->n_lambda, lambda);
}

static void unpack_part(const double *x, int at, int n, double *to) {
  if (at >= 0 && n > 0 && to != NULL) memcpy(to, x + at, (size_t)n * sizeof *x);
}

void yoke_implicit_unpack(const yoke_implicit *implicit, const double *x, double *q, double *v, double *a,
                          double *lambda) {
  const yoke_dae *dae = implicit->dae;
  unpack_part(x, 0, implicit->nq, q);
  unpack_part(x, dae->i_v, implicit->nv, v);
  unpack_part(x, dae->i_a, implicit->nv, a);
  unpack_part(x, dae->i_lambda, implicit->n_lambda, lambda);
}

void yoke_implicit_mass(const yoke_implicit *implicit, const double *x, double *y) {
  if (implicit->E_diagonal != NULL) {
    for (int i = 0; i < implicit->nx; ++i) y[i] = implicit->E_diagonal[i] * x[i];
    return;
  }
  for (int i = 0; i < implicit->nx; ++i) {
    double sum = 0.0;
    for (int k = implicit->E_start[i]; k < implicit->E_start[i + 1]; ++k) {
      sum += implicit->E_value[k] * x[implicit->E_col[k]];
    }
    y[i] = sum;
  }
}

void yoke_implicit_mass_add(const yoke_implicit *implicit, double factor, const double *x, double *y) {
  if (implicit->E_diagonal != NULL) {
    for (int i = 0; i < implicit->nx; ++i) y[i] += factor * (implicit->E_diagonal[i] * x[i]);
    return;
  }
  for (int i = 0; i < implicit->nx; ++i) {
    double sum = 0.0;
    for (int k = implicit->E_start[i]; k < implicit->E_start[i + 1]; ++k) {
      sum += implicit->E_value[k] * x[implicit->E_col[k]];
    }
    y[i] += factor * sum;
  }
}

yoke_status yoke_implicit_rhs(const yoke_implicit *implicit, void *work, double *u_work, const yoke_signal *u,
                              yoke_side side, double t, const double *x, double *F) {
  const yoke_equations *equations = implicit->equations;
  if (!yoke_all_finite(implicit->nx, x)) return YOKE_NON_FINITE;
  if (equations->nu > 0) yoke_signal_value(u, t, side, 0, u_work);
  YOKE_TRY(equations->ops->dae_rhs(equations->self, implicit->dae, work, t, x, u_work, F));
  return yoke_all_finite(implicit->nx, F) ? YOKE_OK : YOKE_NON_FINITE;
}

yoke_status yoke_implicit_jacobian(const yoke_implicit *implicit, void *work, double *u_work, const yoke_signal *u,
                                   yoke_side side, double t, const double *x, double *J) {
  const yoke_equations *equations = implicit->equations;
  if (equations->nu > 0) yoke_signal_value(u, t, side, 0, u_work);
  return equations->ops->dae_jacobian(equations->self, implicit->dae, work, t, x, u_work, J);
}

yoke_status yoke_implicit_factor(const yoke_implicit *implicit, double alpha, double beta, const double *J, double *re,
                                 double *im, yoke_factor **factor) {
  const double *E = implicit->dae->E, *R = implicit->dae->R;
  const double  regular = YOKE_IMPLICIT_DELTA / alpha;
  for (int k = 0; k < implicit->nnz; ++k) re[k] = alpha * E[k] - J[k] + regular * R[k];
  if (beta == 0.0) return yoke_factor_make(implicit->linear, re, NULL, factor);
  for (int k = 0; k < implicit->nnz; ++k) im[k] = beta * E[k];
  return yoke_factor_make(implicit->linear, re, im, factor);
}

/* By the kind of x_i; q and v come first. */
static double atol_of(const yoke_implicit *implicit, int i, double atol) {
  const double *size = implicit->equations->size;
  return size != NULL && i < implicit->nq + implicit->nv ? atol * size[i] : atol;
}

void yoke_implicit_scale(const yoke_implicit *implicit, double atol, double rtol, const double *x0, const double *x1,
                         double *scale) {
  const uint8_t *component = implicit->dae->component;
  for (int i = 0; i < implicit->nx; ++i) {
    const bool is_normed = component[i] <= YOKE_COMPONENT_INTEGRAL;
    double     size      = fabs(x0[i]);
    if (x1 != NULL && fabs(x1[i]) > size) size = fabs(x1[i]);
    scale[i] = is_normed ? 1.0 / (atol_of(implicit, i, atol) + rtol * size + DBL_MIN) : 0.0; /* atol may be 0 */
  }
}

void yoke_implicit_scale_newton(const yoke_implicit *implicit, double atol, double rtol, const double *x,
                                double *scale) {
  const uint8_t *component = implicit->dae->component;
  double         size_q = 0.0, size_v = 0.0;
  for (int i = 0; i < implicit->nx; ++i) {
    if (component[i] == YOKE_COMPONENT_Q) size_q = fmax(size_q, fabs(x[i]));
    if (component[i] == YOKE_COMPONENT_V) size_v = fmax(size_v, fabs(x[i]));
  }
  for (int i = 0; i < implicit->nx; ++i) {
    const bool is_q = component[i] == YOKE_COMPONENT_Q || component[i] == YOKE_COMPONENT_INTEGRAL,
               is_v = component[i] == YOKE_COMPONENT_V;
    /* Angles say nothing of the positions of small bodies. */
    const double own = atol_of(implicit, i, atol), most = atol > 0.0 ? 100.0 * own / rtol : (double)INFINITY;
    const double size = fmax(fabs(x[i]), fmin(0.01 * (is_q ? size_q : size_v), most));
    scale[i]          = is_q || is_v ? 1.0 / (own + rtol * size + DBL_MIN) : 0.0;
  }
}

double yoke_implicit_norm(const yoke_implicit *implicit, const double *d, const double *scale) {
  double sum = 0.0;
  for (int i = 0; i < implicit->nx; ++i) { /* 0 * infinity is not a number: a bad multiplier shows too */
    const double e = d[i] * scale[i];
    sum += e * e;
  }
  return implicit->n_normed > 0 ? sqrt(sum / implicit->n_normed) : sqrt(sum);
}

double yoke_step_clip(double t, double h, double t_limit, bool is_fixed, bool *is_last) {
  const double left    = t_limit - t;
  const double stretch = is_fixed ? 1.0 + 1.0e-9 : 1.1;
  *is_last             = left <= stretch * h;
  if (*is_last) return left;
  return !is_fixed && left < 2.0 * h ? 0.5 * left : h;
}

double yoke_implicit_first_step(const yoke_implicit *implicit, const yoke_integrator_options *options, const double *x,
                                const double *rates, int order) {
  const uint8_t *component = implicit->dae->component;
  double         size = 0.0, speed = 0.0;
  if (options->fixed_step > 0.0) return options->fixed_step;
  for (int i = 0; i < implicit->nq + implicit->nv; ++i) {
    if (component[i] != YOKE_COMPONENT_Q && component[i] != YOKE_COMPONENT_V) continue;
    const double scale = 1.0 / (atol_of(implicit, i, options->atol) + options->rtol * fabs(x[i]) + DBL_MIN);
    size += x[i] * scale * (x[i] * scale);
    speed += rates[i] * scale * (rates[i] * scale);
  }
  const double n = implicit->n_normed > 0 ? implicit->n_normed : 1.0;
  size           = sqrt(size / n);
  speed          = sqrt(speed / n);
  double h       = options->first_step;
  if (!(h > 0.0)) {
    /* |x'| h = 1 / 100 of |x|, and the local error of the method, guessed as (|x'| h / |x|)^(order + 1) |x|, about 1 */
    const double whole = size > 1.0 ? size : 1.0;
    const double share = fmin(0.01, 0.5 * pow(whole, -1.0 / (order + 1)));
    h                  = speed > 0.0 && isfinite(speed) ? share * whole / speed : 1.0e-6;
  }
  if (options->max_step > 0.0 && h > options->max_step) h = options->max_step;
  return h;
}
