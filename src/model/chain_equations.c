/* Equations of motion of a model that is one chain: q = positions, v = velocities, q' = v, M diagonal. */
#include "model/chain_private.h"

#include "base/memory.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void chain_destroy(void *self) {
  yoke_chain_kernel *kernel = self;
  yoke_chain_kernel_destroy(&kernel);
}

/* ---- ordinary view ---- */

static yoke_status chain_derivative(const void *self, void *work, double t, const double *q, const double *v,
                                    const double *u, double *qdot, double *a, double *lambda) {
  const yoke_chain_kernel *kernel = self;
  (void)work;
  (void)lambda;
  if (qdot != NULL) memcpy(qdot, v, (size_t)kernel->n * sizeof *v);
  return yoke_chain_evaluate(kernel, t, kernel->gx, q, v, u, false, a);
}

static yoke_status chain_reinput(const void *self, double t, const double *q, const double *v, const double *u,
                                 double *a) {
  const yoke_chain_kernel *kernel = self;
  return yoke_chain_reinput(kernel, t, kernel->gx, q, v, u, a);
}

static yoke_status chain_stage(const void *self, void *work, double t, double h, double c, int s, const double *a,
                               const double *abar, const double *q, const double *v, const double *const *A,
                               const double *u, double *X_out, double *V_out, double *out, const double *e,
                               const double *ebar, double atol, double rtol, double *error_sum) {
  const yoke_chain_kernel *kernel = self;
  (void)work;
  const yoke_stage stage = {.t     = t,
                            .h     = h,
                            .c     = c,
                            .s     = s,
                            .a     = a,
                            .abar  = abar,
                            .q     = q,
                            .v     = v,
                            .A     = A,
                            .u     = u,
                            .X_out = X_out,
                            .V_out = V_out,
                            .out   = out,
                            .e     = e,
                            .ebar  = ebar,
                            .atol  = atol,
                            .rtol  = rtol};
  return yoke_chain_sweep(kernel, kernel->gx, NULL, NULL, 1, &stage, error_sum);
}

static yoke_status chain_sweep(const void *self, void *work, yoke_lockstep *helpers, int n_stages,
                               const yoke_stage *stages, double *error_sum) {
  const yoke_chain_kernel *kernel = self;
  for (int first = 0; first < n_stages; first += YOKE_CHAIN_SWEEP) {
    const int count = n_stages - first < YOKE_CHAIN_SWEEP ? n_stages - first : YOKE_CHAIN_SWEEP;
    YOKE_TRY(yoke_chain_sweep(kernel, kernel->gx, helpers, work, count, stages + first, error_sum));
  }
  return YOKE_OK;
}

/* ---- implicit view ----
 *
 * GGL without constraints: x = (q, v),    q' = v,  M v' = f(t, q, v).
 * INDEX1:                  x = (q, v, a), q' = v,  v' = a,  0 = f(t, q, v) - M a.
 * f sits in the rows from i_f on. In column j of q and of v it has the rows j-1, j, j+1 (tridiagonal), so that the
 * entries of the pattern, columns in order and rows sorted, are, with `|` between columns,
 *   GGL     q_j: (j) E f f f  |  v_j: (j) 1 f f f                         E: diagonal of E only
 *   INDEX1  q_j: (j) E f f f  |  v_j: (j) 1 (n+j) E f f f  |  a_j: (n+j) 1 (2n+j) -m
 * and can be written in one sweep without a table of slots. */

static int f_start(int n, yoke_dae_form form) {
  return form == YOKE_DAE_GGL ? n : 2 * n;
}

/* Rows of column `col` (0 <= col < nx) into rows[5]; how many. */
static int column_rows(int n, yoke_dae_form form, int col, int rows[5]) {
  const int part = col / n, j = col % n, i_f = f_start(n, form);
  int       count = 0;
  if (part == 2) {
    rows[count++] = n + j;
    rows[count++] = 2 * n + j;
    return count;
  }
  rows[count++] = j;
  if (part == 1 && form == YOKE_DAE_INDEX1) rows[count++] = n + j;
  for (int i = j > 0 ? j - 1 : 0; i <= j + 1 && i < n; ++i) rows[count++] = i_f + i;
  return count;
}

static yoke_status create_pattern(yoke_context *ctx, int n, yoke_dae *dae) {
  size_t nnz = 1; /* one to spare: never 0 bytes */
  int    rows[5];
  for (int col = 0; col < dae->nx; ++col) nnz += (size_t)column_rows(n, dae->form, col, rows);
  yoke_arena  scratch = {0};
  int        *row     = yoke_arena_take(&scratch, nnz, sizeof *row);
  int        *col_of  = yoke_arena_take(&scratch, nnz, sizeof *col_of);
  yoke_status status  = yoke_arena_check(&scratch, ctx, "a Jacobian of %zu entries", nnz);
  if (status == YOKE_OK) {
    int k = 0;
    for (int col = 0; col < dae->nx; ++col) {
      const int count = column_rows(n, dae->form, col, rows);
      for (int i = 0; i < count; ++i, ++k) {
        row[k]    = rows[i];
        col_of[k] = col;
      }
    }
    status = yoke_pattern_create(ctx, dae->nx, dae->nx, k, row, col_of, NULL, &dae->pattern);
  }
  yoke_arena_free(&scratch);
  return status;
}

/* E: 1 for q, then M (GGL) or 1 (INDEX1) for v; the diagonal entry of a column is where row == column. */
static void fill_E(const yoke_chain_kernel *kernel, yoke_dae *dae) {
  for (int col = 0; col < 2 * kernel->n; ++col) {
    for (int k = dae->pattern->col_start[col]; k < dae->pattern->col_start[col + 1]; ++k) {
      if (dae->pattern->row[k] != col) continue;
      dae->E[k] = col < kernel->n || dae->form == YOKE_DAE_INDEX1 ? 1.0 : kernel->mass[col - kernel->n];
    }
  }
}

/* Input k acts in the row of its mass. */
static yoke_status create_input_pattern(yoke_context *ctx, const yoke_chain_kernel *kernel, yoke_dae *dae) {
  yoke_arena   scratch = {0};
  const size_t most    = (size_t)kernel->n_inputs + 1;
  int         *row     = yoke_arena_take(&scratch, most, sizeof *row);
  int         *col     = yoke_arena_take(&scratch, most, sizeof *col);
  yoke_status  status  = yoke_arena_check(&scratch, ctx, "%d inputs of a chain", kernel->n_inputs);
  for (int k = 0; status == YOKE_OK && k < kernel->n_inputs; ++k) {
    row[k] = dae->i_a + kernel->inputs[k].mass;
    col[k] = kernel->inputs[k].input;
  }
  if (status == YOKE_OK) {
    status = yoke_pattern_create(ctx, dae->nx, kernel->n_inputs, kernel->n_inputs, row, col, NULL, &dae->input_pattern);
  }
  yoke_arena_free(&scratch);
  return status;
}

static yoke_status chain_dae_create(const void *self, yoke_context *ctx, yoke_dae_form form, yoke_dae **out) {
  const yoke_chain_kernel *kernel = self;
  const int                n      = kernel->n;
  *out                            = NULL;
  if (n > INT_MAX / 12) {
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "chain: %d masses are too many for an implicit integrator, at most %d", n,
                     INT_MAX / 12);
  }
  yoke_dae *dae = calloc(1, sizeof *dae);
  if (dae == NULL) return yoke_out_of_memory(ctx, "an implicit integrator of a chain of %d masses", n);
  dae->arena         = yoke_arena_of(ctx);
  const bool index1  = form == YOKE_DAE_INDEX1;
  dae->form          = form;
  dae->nx            = index1 ? 3 * n : 2 * n;
  dae->i_v           = n;
  dae->i_a           = index1 ? 2 * n : -1;
  dae->i_lambda      = -1;
  dae->i_mu          = -1;
  dae->i_nu          = -1;
  yoke_status status = create_pattern(ctx, n, dae);
  if (status == YOKE_OK && index1) status = create_input_pattern(ctx, kernel, dae);
  if (status == YOKE_OK) {
    dae->component = yoke_arena_take(&dae->arena, (size_t)dae->nx, sizeof *dae->component);
    dae->E         = yoke_arena_take(&dae->arena, (size_t)dae->pattern->nnz, sizeof *dae->E);
    dae->R         = yoke_arena_take(&dae->arena, (size_t)dae->pattern->nnz, sizeof *dae->R);
    status         = yoke_arena_check(&dae->arena, ctx, "an implicit integrator of a chain of %d masses", n);
  }
  if (status != YOKE_OK) {
    yoke_dae_destroy(&dae);
    return status;
  }
  memset(dae->component, YOKE_COMPONENT_Q, (size_t)n);
  memset(dae->component + n, YOKE_COMPONENT_V, (size_t)n);
  if (index1) memset(dae->component + 2 * n, YOKE_COMPONENT_A, (size_t)n);
  fill_E(kernel, dae);
  *out = dae;
  return YOKE_OK;
}

/* Entries as listed above, without those beyond the ends of the chain. */
static void chain_dae_size(const void *self, yoke_dae_form form, int *nx, int *nnz) {
  const yoke_chain_kernel *kernel = self;
  const int                n = kernel->n, n_f = 2 * (3 * n - 2);
  *nx  = form == YOKE_DAE_INDEX1 ? 3 * n : 2 * n;
  *nnz = form == YOKE_DAE_INDEX1 ? n_f + 5 * n : n_f + 2 * n;
}

static yoke_status chain_dae_rhs(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                 const double *u, double *F) {
  const yoke_chain_kernel *kernel = self;
  const int                n = kernel->n, i_f = f_start(n, dae->form);
  (void)work;
  memcpy(F, x + n, (size_t)n * sizeof *F);
  YOKE_TRY(yoke_chain_evaluate(kernel, t, kernel->gx, x, x + n, u, true, F + i_f));
  if (dae->form == YOKE_DAE_INDEX1) {
    const double *a = x + 2 * n;
    memcpy(F + n, a, (size_t)n * sizeof *F);
    for (int i = 0; i < n; ++i) F[i_f + i] -= kernel->mass[i] * a[i];
  }
  return YOKE_OK;
}

/* Column j of a tridiagonal df with element slopes k_j, k_{j+1}:
 * rows j-1, j, j+1 are k_j, extra - (k_j + k_{j+1}), k_{j+1}. */
static double *put_column(double *J, int n, int j, double k_left, double k_right, double extra) {
  if (j > 0) *J++ = k_left;
  *J++ = extra - (k_left + k_right);
  if (j + 1 < n) *J++ = k_right;
  return J;
}

static yoke_status chain_dae_jacobian(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                      const double *u, double *J) {
  const yoke_chain_kernel *kernel = self;
  const int                n      = kernel->n;
  const bool               index1 = dae->form == YOKE_DAE_INDEX1;
  const double            *v      = x + n;
  double                   kx[YOKE_CHAIN_BLOCK + 1], kv[YOKE_CHAIN_BLOCK + 1];
  double                  *J_q = J, *J_v = J + dae->pattern->col_start[n];
  double                   check  = 0.0; /* stays 0 while all slopes are finite */
  int                      i_load = 0;
  (void)work;
  (void)t;
  (void)u;
  for (int j0 = 0; j0 < n; j0 += YOKE_CHAIN_BLOCK) {
    const int count = n - j0 < YOKE_CHAIN_BLOCK ? n - j0 : YOKE_CHAIN_BLOCK;
    yoke_chain_slopes(kernel, j0, count + 1, x, v, kx, kv);
    for (int k = 0; k < count; ++k) {
      const int j = j0 + k;
      while (i_load < kernel->loads.n_forces && kernel->loads.forces[i_load].mass < j) ++i_load;
      const double contact = yoke_chain_contact_slope(kernel, j, x[j], &i_load);
      check += 0.0 * (kx[k] + kv[k] + contact);
      *J_q++ = 0.0;
      J_q    = put_column(J_q, n, j, kx[k], kx[k + 1], contact);
      *J_v++ = 1.0;
      if (index1) *J_v++ = 0.0;
      J_v = put_column(J_v, n, j, kv[k], kv[k + 1], 0.0);
    }
    check += 0.0 * (kx[count] + kv[count]);
  }
  if (index1) {
    for (int j = 0; j < n; ++j) {
      *J_v++ = 1.0;
      *J_v++ = -kernel->mass[j];
    }
  }
  return check == 0.0 ? YOKE_OK : YOKE_NON_FINITE;
}

/* ---- tangents: forces on masses, M a = r_a ---- */

static yoke_status chain_dae_input_jacobian(const void *self, const yoke_dae *dae, void *work, double t,
                                            const double *x, const double *u, double *B) {
  const yoke_chain_kernel *kernel = self;
  (void)dae;
  (void)work;
  (void)t;
  (void)x;
  (void)u;
  for (int k = 0; k < kernel->n_inputs; ++k)
    B[kernel->inputs[k].input] = kernel->inputs[k].factor; /* one in each column */
  return YOKE_OK;
}

static yoke_status chain_motion_factor(const void *self, void *work, double t, const double *q, const double *v,
                                       const double *u, void *factor) {
  (void)self;
  (void)work;
  (void)t;
  (void)q;
  (void)v;
  (void)u;
  (void)factor;
  return YOKE_OK;
}

static void chain_motion_solve(const void *self, const void *factor, int n, double *a, double *lambda) {
  const yoke_chain_kernel *kernel = self;
  (void)factor;
  (void)lambda;
  for (int i = 0; i < kernel->n; ++i, a += n) {
    const double inverse = 1.0 / kernel->mass[i];
    for (int k = 0; k < n; ++k) a[k] *= inverse;
  }
}

static void chain_quadrature_tangent(const void *self, void *work, double t, const double *q, const double *v, int n,
                                     const double *dq, const double *dv, double *rate) {
  (void)self; /* there are none */
  (void)work;
  (void)t;
  (void)q;
  (void)v;
  (void)n;
  (void)dq;
  (void)dv;
  (void)rate;
}

/* ---- energy, linear systems ---- */

static void chain_energy(const void *self, void *work, double t, const double *q, const double *v, yoke_energy *out) {
  const yoke_chain_kernel *kernel = self;
  (void)work;
  (void)t;
  memset(out, 0, sizeof *out);
  yoke_chain_kernel_energy(kernel, kernel->gx, q, v, &out->kinetic, &out->potential);
}

static void chain_powers(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                         double *dissipated, double *external) {
  (void)work;
  (void)u;
  yoke_chain_kernel_powers(self, t, q, v, dissipated, external);
}

static void chain_losses(const void *self, const double *v, const double *a, double *lost, double *rate) {
  const yoke_chain_kernel *kernel = self;
  kernel->dampers.losses(kernel, v, a, lost, rate);
}

static const int *chain_loaded(const void *self, int *n) {
  return yoke_chain_kernel_loaded(self, n);
}

static void chain_load_powers(const void *self, uint64_t some, int n, const double *t, const double *v, double *power) {
  yoke_chain_kernel_load_powers(self, some, n, t, v, power);
}

static yoke_loading chain_loading(const void *self, double t, double *until, uint64_t *acting) {
  return yoke_chain_kernel_loading(self, t, until, acting);
}

static bool is_linear(const yoke_chain_kernel *kernel) {
  if (kernel->law != YOKE_CHAIN_LINEAR || kernel->loads.has_contact) return false;
  for (int g = 0; g < kernel->loads.n_shapes; ++g) {
    if (!yoke_chain_shape_is_constant(&kernel->loads.shapes[g])) return false;
  }
  return true;
}

/* Rows of q: (0, 1). Rows of v: w_i (k_i, -(k_i + k_{i+1}), k_{i+1}) in q and likewise in v, w = 1/m. */
static yoke_status chain_linear(const void *self, void *work, double *A, double *B, double *b) {
  const yoke_chain_kernel *kernel = self;
  const size_t             n = (size_t)kernel->n, size = 2 * n;
  (void)work;
  if (!is_linear(kernel)) return YOKE_E_UNSUPPORTED;
  if (A != NULL) {
    memset(A, 0, size * size * sizeof *A);
    for (size_t i = 0; i < n; ++i) {
      const yoke_chain_element left  = yoke_chain_element_at(kernel, (int)i),
                               right = yoke_chain_element_at(kernel, (int)i + 1);
      const double w                 = 1.0 / kernel->mass[i];
      double      *row               = A + (n + i) * size;
      A[i * size + n + i]            = 1.0;
      row[i]                         = -(left.c + right.c) * w;
      row[n + i]                     = -(left.d + right.d) * w;
      if (i > 0) {
        row[i - 1]     = left.c * w;
        row[n + i - 1] = left.d * w;
      }
      if (i + 1 < n) {
        row[i + 1]     = right.c * w;
        row[n + i + 1] = right.d * w;
      }
    }
  }
  if (B != NULL) {
    const size_t nu = (size_t)kernel->n_inputs;
    memset(B, 0, size * nu * sizeof *B);
    for (size_t k = 0; k < nu; ++k) {
      const yoke_chain_input *input                            = &kernel->inputs[k];
      B[(n + (size_t)input->mass) * nu + (size_t)input->input] = input->factor / kernel->mass[input->mass];
    }
  }
  if (b != NULL) {
    memset(b, 0, n * sizeof *b);
    for (size_t i = 0; i < n; ++i) b[n + i] = kernel->gx;
    for (int k = 0; k < kernel->loads.n_forces; ++k) {
      const yoke_chain_force *load = &kernel->loads.forces[k];
      b[n + (size_t)load->mass] +=
          load->amplitude * yoke_chain_shape_value(&kernel->loads.shapes[load->shape], 0.0) / kernel->mass[load->mass];
    }
  }
  return YOKE_OK;
}

/* Loads are smooth: no break points, no events. */
static const yoke_equations_ops chain_ops = {
    .kind               = "chain",
    .destroy            = chain_destroy,
    .derivative         = chain_derivative,
    .reinput            = chain_reinput,
    .dae_create         = chain_dae_create,
    .dae_size           = chain_dae_size,
    .dae_rhs            = chain_dae_rhs,
    .dae_jacobian       = chain_dae_jacobian,
    .dae_input_jacobian = chain_dae_input_jacobian,
    .motion_factor      = chain_motion_factor,
    .motion_solve       = chain_motion_solve,
    .quadrature_tangent = chain_quadrature_tangent,
    .stage              = chain_stage,
    .sweep              = chain_sweep,
    .energy             = chain_energy,
    .powers             = chain_powers,
    .losses             = chain_losses,
    .loaded             = chain_loaded,
    .load_powers        = chain_load_powers,
    .loading            = chain_loading,
    .linear             = chain_linear,
};

/* ---- creation ---- */

static int compare_inputs(const void *a, const void *b) {
  const yoke_chain_input *p = a, *q = b;
  if (p->mass != q->mass) return p->mass < q->mass ? -1 : 1;
  return p->input < q->input ? -1 : p->input > q->input ? 1 : 0;
}

static yoke_status create_inputs(yoke_context *ctx, yoke_chain_kernel *kernel, int n_inputs, const int *input_mass,
                                 const double *input_factor) {
  if (n_inputs <= 0) return YOKE_OK;
  for (int k = 0; k < n_inputs; ++k) {
    if (input_mass[k] < 0 || input_mass[k] >= kernel->n) {
      return yoke_fail(ctx, YOKE_E_MODEL, "chain: input %d acts on mass %d, expected 1 to %d", k + 1, input_mass[k] + 1,
                       kernel->n);
    }
  }
  yoke_chain_input *inputs = yoke_allocate((size_t)n_inputs, sizeof *inputs);
  if (inputs == NULL) return yoke_out_of_memory(ctx, "%d inputs of a chain", n_inputs);
  for (int k = 0; k < n_inputs; ++k) {
    inputs[k] =
        (yoke_chain_input){.mass = input_mass[k], .input = k, .factor = input_factor != NULL ? input_factor[k] : 1.0};
  }
  qsort(inputs, (size_t)n_inputs, sizeof *inputs, compare_inputs);
  kernel->inputs   = yoke_arena_share(&kernel->arena, inputs, (size_t)n_inputs * sizeof *inputs);
  kernel->n_inputs = n_inputs;
  free(inputs);
  return yoke_arena_check(&kernel->arena, ctx, "%d inputs of a chain", n_inputs);
}

yoke_status yoke_chain_equations_create(yoke_context *ctx, const yoke_chain *chain, double gx, int n_inputs,
                                        const int *input_mass, const double *input_factor, yoke_equations *out) {
  memset(out, 0, sizeof *out);
  if (!isfinite(gx)) return yoke_fail(ctx, YOKE_E_MODEL, "chain: gravity is %g m/s^2, expected a finite number", gx);
  yoke_chain_kernel *kernel = NULL;
  YOKE_TRY(yoke_chain_kernel_create(ctx, chain, &kernel));
  kernel->gx               = gx;
  const yoke_status status = create_inputs(ctx, kernel, n_inputs, input_mass, input_factor);
  if (status != YOKE_OK) {
    yoke_chain_kernel_destroy(&kernel);
    return status;
  }
  out->ops             = &chain_ops;
  out->self            = kernel;
  out->nq              = chain->n;
  out->nv              = chain->n;
  out->nu              = n_inputs > 0 ? n_inputs : 0;
  out->is_second_order = true;
  out->load_cost       = yoke_chain_loads_cost(&kernel->loads) / chain->n;
  out->work_size =
      64 + ((size_t)chain->n / YOKE_CHAIN_BLOCK + 1) * sizeof(double); /* errors of blocks, which live on the stack */
  out->motion_size = 64;                                               /* unused: masses are constant */
  return YOKE_OK;
}

const yoke_chain_kernel *yoke_chain_equations_kernel(const yoke_equations *equations) {
  return equations->ops == &chain_ops ? equations->self : NULL;
}
