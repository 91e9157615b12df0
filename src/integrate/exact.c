/* Exact solution of linear systems x' = A x + B u(t) + b, x = (q, v), with polynomial inputs.
 *
 * On one piece u(t + s) = sum_k w_k s^k / k! with w_k the k-th derivative of u at t. The augmented vector
 * z = (x, w_0, ..., w_d, 1) obeys z' = Z z with the constant matrix
 *       [ A  B  0 ..  b ]
 *   Z = [ 0  0  I ..  0 ]      (each w_k is the derivative of w_{k-1})
 *       [ 0  0  0 ..  0 ]
 * so that z(t + h) = exp(Z h) z(t): no error besides rounding, for any h and inputs up to degree 7.
 *
 * exp(Z h) by scaling and squaring with the Pade approximant of degree 13 (Higham, SIAM J. Matrix Anal. Appl. 26,
 * 2005). The first n rows of the last one are kept in the state together with their h, so that steps of equal length
 * cost one matrix-vector product, as much as copying the state. Lengths that differ by rounding only (macro steps
 * T_{N+1} - T_N) use the same matrix and a first-order correction whose error is below 1e-20 relative. */
#include "linalg/lapack.h"
#include "base/memory.h"
#include "integrate/explicit.h"
#include "integrate/methods.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  N_MATRICES  = 7,
  SMALL_LIMIT = 160 /* up to here a plain elimination is faster than LAPACK's, whose threads wait for each other */
};

typedef struct exact_self {
  yoke_arena arena;        /* of A, B, b */
  int        n;            /* nq + nv */
  double    *A, *B, *b;    /* [n, n], [n, nu], [n] */
  double     input_scale;  /* B and b are divided, w multiplied by it: keeps large B from causing needless squarings */
  double     natural_step; /* resolves the fastest motion, for the location of events [s] */
  size_t     work, u, x_new, z, qdot, a, lambda, matrices, pivots; /* scratch */
  size_t     x0, w0, power;                                        /* own part of the state; power: [n, N] */
} exact_self;

typedef struct exact_own {
  double  h;      /* of the exponential kept here, 0: none */
  int32_t degree; /* of the inputs it was made for */
  int32_t degree_last;
} exact_own;

static int augmented_size(int n, int nu, int degree) {
  return n + nu * (degree + 1) + 1;
}

/* ---- matrix exponential, row major [N, N] ---- */

static void multiply(int N, const double *restrict X, const double *restrict Y, double *restrict out) {
  memset(out, 0, (size_t)N * N * sizeof *out);
  for (int i = 0; i < N; ++i) {
    double *row = out + (size_t)i * N;
    for (int k = 0; k < N; ++k) {
      const double  x = X[(size_t)i * N + k];
      const double *y = Y + (size_t)k * N;
      if (x == 0) continue;
      for (int j = 0; j < N; ++j) row[j] += x * y[j];
    }
  }
}

/* Largest absolute row sum */
static double row_norm(int rows, int cols, const double *X) {
  double norm = 0;
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (int j = 0; j < cols; ++j) sum += fabs(X[(size_t)i * cols + j]);
    if (!(sum <= norm)) norm = sum;
  }
  return norm;
}

/* B := A^-1 B, both [N, N]; A is destroyed. Gaussian elimination with row pivoting. */
static yoke_status solve_small(int N, double *restrict A, double *restrict B) {
  for (int k = 0; k < N; ++k) {
    int best = k;
    for (int i = k + 1; i < N; ++i) {
      if (fabs(A[(size_t)i * N + k]) > fabs(A[(size_t)best * N + k])) best = i;
    }
    double *a = A + (size_t)k * N, *b = B + (size_t)k * N;
    if (!(fabs(A[(size_t)best * N + k]) > 0)) return YOKE_SINGULAR;
    for (int j = 0; best != k && j < N; ++j) {
      double *p = A + (size_t)best * N + j, *q = B + (size_t)best * N + j, old;
      old = a[j], a[j] = *p, *p = old;
      old = b[j], b[j] = *q, *q = old;
    }
    for (int i = k + 1; i < N; ++i) {
      double      *c = A + (size_t)i * N, *d = B + (size_t)i * N;
      const double factor = c[k] / a[k];
      if (factor == 0) continue;
      for (int j = k + 1; j < N; ++j) c[j] -= factor * a[j];
      for (int j = 0; j < N; ++j) d[j] -= factor * b[j];
    }
  }
  for (int k = N - 1; k >= 0; --k) {
    double      *b     = B + (size_t)k * N;
    const double pivot = A[(size_t)k * N + k];
    for (int i = k + 1; i < N; ++i) {
      const double  factor = A[(size_t)k * N + i];
      const double *c      = B + (size_t)i * N;
      if (factor == 0) continue;
      for (int j = 0; j < N; ++j) b[j] -= factor * c[j];
    }
    for (int j = 0; j < N; ++j) b[j] /= pivot;
  }
  return YOKE_OK;
}

/* X := exp(X); work holds 6 matrices. Balanced first (D X D^-1 with D of powers of 2, exact), so that the units of q and
 * v do not cause needless squarings, each of which may double the rounding errors. LAPACK sees the transposes of our
 * row-major matrices; as both sides of the last equation are polynomials of X they commute, and so transposing is free. */
static yoke_status exponential(int N, double *X, double *work, double *scale, lapack_int *pivots) {
  static const double c[14] = {64764752532480000.0,
                               32382376266240000.0,
                               7771770303897600.0,
                               1187353796428800.0,
                               129060195264000.0,
                               10559470521600.0,
                               670442572800.0,
                               33522128640.0,
                               1323241920.0,
                               40840800.0,
                               960960.0,
                               16380.0,
                               182.0,
                               1.0};
  const double        theta = 5.371920351148152; /* norm up to which the approximant has full accuracy */
  const size_t        n2    = (size_t)N * N;
  double             *X2 = work, *X4 = X2 + n2, *X6 = X4 + n2, *U = X6 + n2, *V = U + n2, *temp = V + n2;

  if (!isfinite(row_norm(N, N, X))) return YOKE_NON_FINITE;
  lapack_int low, high;
  if (lapack_dgebal('S', N, X, N, &low, &high, scale) != 0) return YOKE_NON_FINITE;
  const double norm      = row_norm(N, N, X);
  int          squarings = 0;
  if (norm > theta) (void)frexp(norm / theta, &squarings);
  for (size_t i = 0; i < n2; ++i) X[i] = ldexp(X[i], -squarings);

  multiply(N, X, X, X2);
  multiply(N, X2, X2, X4);
  multiply(N, X2, X4, X6);
  for (size_t i = 0; i < n2; ++i) temp[i] = c[13] * X6[i] + c[11] * X4[i] + c[9] * X2[i];
  multiply(N, X6, temp, V);
  for (size_t i = 0; i < n2; ++i) V[i] += c[7] * X6[i] + c[5] * X4[i] + c[3] * X2[i];
  for (int i = 0; i < N; ++i) V[(size_t)i * N + i] += c[1];
  multiply(N, X, V, U);
  for (size_t i = 0; i < n2; ++i) temp[i] = c[12] * X6[i] + c[10] * X4[i] + c[8] * X2[i];
  multiply(N, X6, temp, V);
  for (size_t i = 0; i < n2; ++i) V[i] += c[6] * X6[i] + c[4] * X4[i] + c[2] * X2[i];
  for (int i = 0; i < N; ++i) V[(size_t)i * N + i] += c[0];

  /* (V - U) exp(X) = V + U */
  for (size_t i = 0; i < n2; ++i) {
    X[i]    = V[i] + U[i];
    temp[i] = V[i] - U[i];
  }
  if (N <= SMALL_LIMIT) {
    YOKE_TRY(solve_small(N, temp, X));
  } else if (lapack_dgesv(N, N, temp, N, pivots, X, N) != 0) {
    return YOKE_SINGULAR;
  }
  for (int i = 0; i < squarings; ++i) {
    multiply(N, X, X, temp);
    memcpy(X, temp, n2 * sizeof *X);
  }
  /* In our order of storage the balanced matrix was D X D^-1. */
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) X[(size_t)i * N + j] *= scale[j] / scale[i];
  }
  return isfinite(row_norm(N, N, X)) ? YOKE_OK : YOKE_NON_FINITE;
}

/* First n rows of exp(Z h) to out [n + 1, N], whose room serves in between; matrices holds N_MATRICES of [N, N]. */
static yoke_status augmented_power(const exact_self *self, int nu, int degree, double h, double *matrices,
                                   lapack_int *pivots, double *out) {
  const int n = self->n, N = augmented_size(n, nu, degree);
  double   *Z = matrices;
  memset(Z, 0, (size_t)N * N * sizeof *Z);
  for (int i = 0; i < n; ++i) {
    double *row = Z + (size_t)i * N;
    for (int j = 0; j < n; ++j) row[j] = h * self->A[(size_t)i * n + j];
    for (int j = 0; j < nu; ++j) row[n + j] = h * self->B[(size_t)i * nu + j] / self->input_scale;
    row[N - 1] = h * self->b[i] / self->input_scale;
  }
  for (int i = 0; i < nu * degree; ++i) Z[(size_t)(n + i) * N + n + nu + i] = h;
  YOKE_TRY(exponential(N, Z, Z + (size_t)N * N, out, pivots));
  memcpy(out, Z, (size_t)n * N * sizeof *out);
  return YOKE_OK;
}

/* x_new = P (x, scaled w, scale) */
static void apply(const exact_self *self, int N, const double *P, const double *z, double *x_new) {
  for (int i = 0; i < self->n; ++i) {
    double sum = 0;
    for (int j = 0; j < N; ++j) sum += P[(size_t)i * N + j] * z[j];
    x_new[i] = sum;
  }
}

/* ---- creation ---- */

static void destroy(yoke_integrator *integrator) {
  exact_self *self = integrator->self;
  if (self == NULL) return;
  yoke_arena_free(&self->arena);
  free(self);
  integrator->self = NULL;
}

static void lay_out(exact_self *self, yoke_integrator *integrator) {
  const yoke_equations *e = integrator->equations;
  const int             n = self->n, N = augmented_size(n, e->nu, YOKE_SIGNAL_MAX_DEGREE);
  size_t                size = 0;
  self->work                 = explicit_reserve(&size, e->work_size);
  self->u                    = yoke_array_reserve(&size, e->nu + 1);
  self->x_new                = yoke_array_reserve(&size, n);
  self->z                    = yoke_array_reserve(&size, N);
  self->qdot                 = yoke_array_reserve(&size, e->nq);
  self->a                    = yoke_array_reserve(&size, e->nv);
  self->lambda               = yoke_array_reserve(&size, yoke_n_multipliers(e));
  self->matrices             = explicit_reserve(&size, N_MATRICES * sizeof(double) * (size_t)N * (size_t)N);
  self->pivots               = explicit_reserve(&size, (size_t)N * sizeof(lapack_int));
  integrator->scratch_size   = size;
  size                       = 0;
  (void)explicit_reserve(&size, sizeof(exact_own));
  self->x0    = yoke_array_reserve(&size, n);
  self->w0    = yoke_array_reserve(&size, N);
  self->power = explicit_reserve(&size, sizeof(double) * (size_t)(n + 1) * (size_t)N); /* one row more for scales */
  integrator->state_size = yoke_integrator_head_size(e) + size;
}

static yoke_status read_matrices(yoke_context *ctx, yoke_integrator *integrator, exact_self *self) {
  const yoke_equations *e       = integrator->equations;
  const size_t          n       = (size_t)self->n;
  yoke_arena            scratch = {0};
  void                 *work    = yoke_arena_take(&scratch, 1, e->work_size + 1);
  double               *A2      = e->n_events > 0 ? yoke_arena_take(&scratch, n * n + 1, sizeof *A2) : NULL;
  self->A                       = yoke_arena_take(&self->arena, n * n + 1, sizeof *self->A);
  self->B                       = yoke_arena_take(&self->arena, n * (size_t)e->nu + 1, sizeof *self->B);
  self->b                       = yoke_arena_take(&self->arena, n + 1, sizeof *self->b);
  yoke_status status            = scratch.has_failed || self->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
  if (status == YOKE_OK) status = e->ops->linear(e->self, work, self->A, self->B, self->b);
  if (status == YOKE_OK) {
    const double norm_A = row_norm(self->n, self->n, self->A);
    const double norm_B = row_norm(self->n, e->nu, self->B) + row_norm(self->n, 1, self->b);
    self->input_scale   = norm_A > 0 && norm_B > norm_A ? norm_B / norm_A : 1;
    self->natural_step  = (double)INFINITY;
    if (A2 != NULL) {
      multiply(self->n, self->A, self->A, A2);
      const double rho = sqrt(row_norm(self->n, self->n, A2)); /* >= spectral radius */
      if (rho > 0) self->natural_step = 0.5 / rho;
    }
    if (!isfinite(norm_A) || !isfinite(norm_B))
      status = yoke_fail(ctx, YOKE_E_MODEL, "solver 'exact': a coefficient of the linear model is not finite");
  } else if (status == YOKE_E_MEMORY) {
    status = yoke_out_of_memory(ctx, "solver 'exact': a system of %d states", self->n);
  } else {
    status = yoke_fail(ctx, YOKE_E_UNSUPPORTED, "solver 'exact' needs a linear model; this one is not linear");
  }
  yoke_arena_free(&scratch);
  return status;
}

static yoke_status create(yoke_context *ctx, yoke_integrator *integrator) {
  const yoke_equations *e = integrator->equations;
  if (e->ops->linear == NULL || e->ng + e->n_norms > 0) {
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "solver 'exact' needs a linear model without joints");
  }
  exact_self *self = yoke_allocate(1, sizeof *self);
  if (self == NULL) return yoke_out_of_memory(ctx, "solver 'exact'");
  self->arena      = yoke_arena_of(ctx);
  integrator->self = self;
  self->n          = e->nq + e->nv;
  lay_out(self, integrator);
  return read_matrices(ctx, integrator, self);
}

/* ---- steps ---- */

static double longest_step(const yoke_integrator *integrator) {
  const exact_self              *self = integrator->self;
  const yoke_integrator_options *o    = &integrator->options;
  if (o->fixed_step > 0) return o->fixed_step;
  const double h = integrator->equations->n_events > 0 ? self->natural_step : (double)INFINITY;
  return o->max_step > 0 ? fmin(h, o->max_step) : h;
}

static yoke_status start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                         const yoke_signal *u) {
  (void)scratch, (void)u;
  state->h     = longest_step(integrator);
  state->order = 0; /* exact */
  return YOKE_OK;
}

/* The matrix for a step of length h and inputs of this degree: the one kept in the state when it fits, else a new one. */
static yoke_status find_power(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state, double h,
                              int degree) {
  const exact_self *self = integrator->self;
  exact_own        *own  = yoke_integrator_own(integrator, state);
  if (own->h > 0 && own->degree == degree && fabs(h - own->h) <= 1e-10 * own->h) return YOKE_OK;
  own->h = 0;
  YOKE_TRY(augmented_power(self, integrator->equations->nu, degree, h, explicit_at(scratch, self->matrices),
                           (lapack_int *)(void *)explicit_at(scratch, self->pivots), explicit_at(own, self->power)));
  ++state->counters.factorings;
  own->h      = h;
  own->degree = degree;
  return YOKE_OK;
}

/* x += delta (A x + B u + b) */
static void correct_length(const exact_self *self, int nu, double delta, const double *u_now, double *x, double *temp) {
  const int n = self->n;
  for (int i = 0; i < n; ++i) {
    double sum = self->b[i];
    for (int j = 0; j < n; ++j) sum += self->A[(size_t)i * n + j] * x[j];
    for (int j = 0; j < nu; ++j) sum += self->B[(size_t)i * nu + j] * u_now[j];
    temp[i] = sum;
  }
  for (int i = 0; i < n; ++i) x[i] += delta * temp[i];
}

static yoke_status try_step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                            const yoke_signal *u, double h, double t_new) {
  const exact_self     *self   = integrator->self;
  const yoke_equations *e      = integrator->equations;
  exact_own            *own    = yoke_integrator_own(integrator, state);
  const int             degree = e->nu > 0 ? u->degree : 0, N = augmented_size(self->n, e->nu, degree);
  double               *z = explicit_at(scratch, self->z), *x_new = explicit_at(scratch, self->x_new),
         *u_now = explicit_at(scratch, self->u);
  YOKE_TRY(find_power(integrator, scratch, state, h, degree));

  memcpy(z, yoke_integrator_q(integrator, state), (size_t)e->nq * sizeof *z);
  memcpy(z + e->nq, yoke_integrator_v(integrator, state), (size_t)e->nv * sizeof *z);
  for (int k = 0; e->nu > 0 && k <= degree; ++k) {
    yoke_signal_value(u, state->t, YOKE_SIDE_RIGHT, k, z + self->n + k * e->nu);
  }
  z[N - 1] = 1;
  for (int i = self->n; i < N; ++i) z[i] *= self->input_scale;
  apply(self, N, explicit_at(own, self->power), z, x_new);
  if (h != own->h) {
    if (e->nu > 0) yoke_signal_value(u, t_new, YOKE_SIDE_LEFT, 0, u_now);
    correct_length(self, e->nu, h - own->h, u_now, x_new, explicit_at(scratch, self->matrices));
  }
  return explicit_evaluate(integrator, explicit_at(scratch, self->work), u_now, &state->counters, u, t_new,
                           YOKE_SIDE_LEFT, x_new, x_new + e->nq, explicit_at(scratch, self->qdot),
                           explicit_at(scratch, self->a), NULL);
}

static yoke_status step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                        const yoke_signal *u, double t_limit, yoke_context *ctx) {
  const exact_self     *self   = integrator->self;
  const yoke_equations *e      = integrator->equations;
  const double          t_left = t_limit - state->t;
  const double          h      = explicit_clip(longest_step(integrator), t_left, true);
  const double          t_new  = h == t_left ? t_limit : state->t + h;
  if (e->nu > 0 && u->degree > YOKE_SIGNAL_MAX_DEGREE) {
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "solver 'exact': inputs have degree %d, expected at most %d", u->degree,
                     YOKE_SIGNAL_MAX_DEGREE);
  }
  const yoke_status status = try_step(integrator, scratch, state, u, h, t_new);
  if (status != YOKE_OK) {
    return yoke_fail(ctx, YOKE_E_UNSTABLE, "solver 'exact': no finite solution over %.3g s from t = %.9g s (%s)", h,
                     state->t, yoke_status_text(status));
  }
  exact_own    *own = yoke_integrator_own(integrator, state);
  const double *z = explicit_at(scratch, self->z), *x_new = explicit_at(scratch, self->x_new);
  const int     n_w = augmented_size(0, e->nu, own->degree);
  own->degree_last  = own->degree;
  memcpy(explicit_at(own, self->x0), z, (size_t)self->n * sizeof *z);
  memcpy(explicit_at(own, self->w0), z + self->n, (size_t)n_w * sizeof *z);
  memcpy(yoke_integrator_q(integrator, state), x_new, (size_t)e->nq * sizeof *z);
  memcpy(yoke_integrator_v(integrator, state), x_new + e->nq, (size_t)e->nv * sizeof *z);
  memcpy(yoke_integrator_a(integrator, state), explicit_at(scratch, self->a), (size_t)e->nv * sizeof *z);
  state->t_prev = state->t;
  state->t      = t_new;
  ++state->counters.steps;
  return YOKE_OK;
}

/* Exact too: exp(Z (t - t_prev)) is computed for the point. Without memory for it: linear. */
static void interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t, double *q,
                        double *v) {
  const exact_self     *self = integrator->self;
  const yoke_equations *e    = integrator->equations;
  const exact_own      *own  = yoke_integrator_own(integrator, state);
  const int             n = self->n, degree = own->degree_last, N = augmented_size(n, e->nu, degree);
  const double         *x0       = explicit_at(own, self->x0);
  yoke_arena            scratch  = {0};
  double               *matrices = yoke_arena_take(&scratch, N_MATRICES * (size_t)N * (size_t)N, sizeof *matrices);
  double               *power    = yoke_arena_take(&scratch, (size_t)(n + 1) * (size_t)N, sizeof *power);
  double               *z        = yoke_arena_take(&scratch, (size_t)N + (size_t)n, sizeof *z);
  lapack_int           *pivots   = yoke_arena_take(&scratch, (size_t)N, sizeof *pivots);
  yoke_status           status   = YOKE_E_MEMORY;
  if (!scratch.has_failed) {
    status = augmented_power(self, e->nu, degree, t - state->t_prev, matrices, pivots, power);
    memcpy(z, x0, (size_t)n * sizeof *z);
    memcpy(z + n, explicit_at(own, self->w0), (size_t)(N - n) * sizeof *z);
    if (status == YOKE_OK) {
      apply(self, N, power, z, z + N);
      memcpy(q, z + N, (size_t)e->nq * sizeof *q);
      memcpy(v, z + N + e->nq, (size_t)e->nv * sizeof *v);
    }
  }
  if (status != YOKE_OK) {
    const double  theta = (t - state->t_prev) / (state->t - state->t_prev);
    const double *q1 = yoke_integrator_q(integrator, state), *v1 = yoke_integrator_v(integrator, state);
    for (int i = 0; i < e->nq; ++i) q[i] = x0[i] + theta * (q1[i] - x0[i]);
    for (int i = 0; i < e->nv; ++i) v[i] = x0[e->nq + i] + theta * (v1[i] - x0[e->nq + i]);
  }
  yoke_arena_free(&scratch);
}

/* Nothing depends on the past. */
static yoke_status disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                           const yoke_signal *u, yoke_disturbance what) {
  (void)integrator, (void)scratch, (void)state, (void)u, (void)what;
  return YOKE_OK;
}

static bool is_sound(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  const exact_own *own = yoke_integrator_own(integrator, state);
  return own->degree >= 0 && own->degree <= YOKE_SIGNAL_MAX_DEGREE && own->degree_last >= 0 &&
         own->degree_last <= YOKE_SIGNAL_MAX_DEGREE;
}

const yoke_integrator_ops exact_ops = {
    .name        = "exact",
    .summary     = "exact solution of linear models by the matrix exponential",
    .reads       = "step max_step constraints alpha beta",
    .create      = create,
    .destroy     = destroy,
    .start       = start,
    .step        = step,
    .interpolate = interpolate,
    .disturb     = disturb,
    .is_sound    = is_sound,
};
