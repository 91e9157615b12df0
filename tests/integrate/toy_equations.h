/* Small problems for the tests of the integrators, written out by hand. Each fills a yoke_equations whose `self` is a
 * static constant (or a pointer to constant data of the caller): nothing to destroy.
 *
 *   toy_nonlinear   q1' = v1, q2' = v2, Kepler's problem v' = -q / |q|^3, eccentricity 0.5: exact solution
 *   toy_duffing     q'' = -q^3 - 0.1 q' + cos(t), fused `stage`; _plain: the same without it
 *   toy_vanderpol   q'' = ((1 - q^2) q' - q) / eps (stiff for small eps)
 *   toy_linear      two masses, springs and dampers, one input force u(t), forced at mass 2; `linear` view
 *   toy_pendulum    planar pendulum in x, y: g = (x^2 + y^2 - 1) / 2, gravity 9.81, one mass of 1 kg; index-2 GGL and
 *                   index 1 views; reference by the angle equation phi'' = -9.81 sin(phi) (toy_angle)
 *   toy_fading      q'' = -100 q - d (q' - cos(3 t)), d = 1e5 until t = 1, then 0.1: stiff before, smooth after
 *   toy_push        q'' = u(t), one mass, for break points: exact for polynomials
 *
 * Implicit views follow equations.h: GGL x = (q, v, lambda, mu), INDEX1 x = (q, v, a, lambda). */
#ifndef TESTS_INTEGRATE_TOY_EQUATIONS_H
#define TESTS_INTEGRATE_TOY_EQUATIONS_H

#include "base/memory.h"
#include "model/equations.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a dense implicit view of a small system -------------------------------------------------------------------- */

/* What the generic view needs: v' = f(t, q, v, u) / 1 (unit masses), with at most one constraint. */
typedef struct toy_problem {
  int n, ng, nu; /* nq = nv = n, masses 1 */
  /* f [n]; df_dq, df_dv [n, n] row major (NULL: not wanted) */
  void (*force)(const struct toy_problem *p, double t, const double *q, const double *v, const double *u, double *f,
                double *df_dq, double *df_dv);
  double parameter;
} toy_problem;

/* Constraint of the pendulum: g = (q . q - 1) / 2, G = q^T, gamma = v . v. */
static double toy_dot(int n, const double *x, const double *y) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

static inline yoke_status toy_finite(int n, const double *x) {
  for (int i = 0; i < n; ++i) {
    if (!isfinite(x[i])) return YOKE_NON_FINITE;
  }
  return YOKE_OK;
}

static yoke_status toy_derivative(const void *self, void *work, double t, const double *q, const double *v,
                                  const double *u, double *qdot, double *a, double *lambda) {
  const toy_problem *p = self;
  (void)work;
  p->force(p, t, q, v, u, a, NULL, NULL);
  if (qdot != NULL) memcpy(qdot, v, (size_t)p->n * sizeof *qdot);
  if (p->ng == 1) {
    /* G (f + G^T lambda) + gamma = 0 */
    const double l = -(toy_dot(p->n, q, a) + toy_dot(p->n, v, v)) / toy_dot(p->n, q, q);
    for (int i = 0; i < p->n; ++i) a[i] += q[i] * l;
    if (lambda != NULL) lambda[0] = l;
  }
  return toy_finite(p->n, a);
}

static yoke_status toy_project_position(const void *self, void *work, double t, double *q) {
  const toy_problem *p = self;
  (void)work;
  (void)t;
  const double r = sqrt(toy_dot(p->n, q, q));
  if (!(r > 0) || !isfinite(r)) return YOKE_NON_FINITE;
  if (fabs(r - 1) <= 2e-16) return YOKE_OK;
  for (int i = 0; i < p->n; ++i) q[i] /= r;
  return YOKE_OK;
}

static yoke_status toy_project_velocity(const void *self, void *work, double t, const double *q, double *v) {
  const toy_problem *p = self;
  (void)work;
  (void)t;
  const double s = toy_dot(p->n, q, v) / toy_dot(p->n, q, q);
  if (!isfinite(s)) return YOKE_NON_FINITE;
  for (int i = 0; i < p->n; ++i) v[i] -= s * q[i];
  return YOKE_OK;
}

static void toy_constraint(const void *self, void *work, double t, const double *q, const double *v, double *g,
                           double *gd) {
  const toy_problem *p = self;
  (void)work;
  (void)t;
  if (g != NULL) g[0] = (toy_dot(p->n, q, q) - 1) / 2;
  if (gd != NULL) gd[0] = toy_dot(p->n, q, v);
}

/* The pattern is full: slot of (row, col) is col * nx + row. */
static yoke_status toy_dae_create(const void *self, yoke_context *ctx, yoke_dae_form form, yoke_dae **out) {
  const toy_problem *p   = self;
  const int          n   = p->n;
  const bool         ggl = form == YOKE_DAE_GGL;
  const int          nx  = ggl ? 2 * n + 2 * p->ng : 3 * n + p->ng;

  yoke_dae *dae = yoke_allocate(1, sizeof *dae);
  int      *row = yoke_allocate((size_t)nx * nx, sizeof *row);
  int      *col = yoke_allocate((size_t)nx * nx, sizeof *col);
  if (dae == NULL || row == NULL || col == NULL) abort();
  for (int i = 0; i < nx * nx; ++i) row[i] = i % nx, col[i] = i / nx;
  dae->form      = form;
  dae->nx        = nx;
  dae->i_v       = n;
  dae->i_a       = ggl ? -1 : 2 * n;
  dae->i_lambda  = p->ng == 0 ? -1 : ggl ? 2 * n : 3 * n;
  dae->i_mu      = p->ng == 0 || !ggl ? -1 : 2 * n + p->ng;
  dae->i_nu      = -1;
  dae->component = yoke_arena_take(&dae->arena, (size_t)nx, 1);
  dae->E         = yoke_arena_take(&dae->arena, (size_t)nx * nx, sizeof *dae->E);
  dae->R         = yoke_arena_take(&dae->arena, (size_t)nx * nx, sizeof *dae->R);
  if (dae->arena.has_failed) abort();
  for (int i = 0; i < nx; ++i) {
    yoke_component kind = i < n ? YOKE_COMPONENT_Q : i < 2 * n ? YOKE_COMPONENT_V : YOKE_COMPONENT_LAMBDA;
    if (dae->i_a >= 0 && i >= dae->i_a && i < dae->i_a + n) kind = YOKE_COMPONENT_A;
    if (dae->i_mu >= 0 && i >= dae->i_mu) kind = YOKE_COMPONENT_MU;
    dae->component[i] = (uint8_t)kind;
    if (i < 2 * n) dae->E[i * nx + i] = 1;
  }
  const yoke_status status = yoke_pattern_create(ctx, nx, nx, nx * nx, row, col, NULL, &dae->pattern);
  free(row);
  free(col);
  *out = dae;
  return status;
}

static yoke_status toy_dae_rhs(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                               const double *u, double *F) {
  const toy_problem *p = self;
  const int          n = p->n;
  (void)work;
  const double *q = x, *v = x + n;
  if (dae->form == YOKE_DAE_GGL) {
    p->force(p, t, q, v, u, F + n, NULL, NULL);
    for (int i = 0; i < n; ++i) F[i] = v[i];
    if (p->ng == 1) {
      for (int i = 0; i < n; ++i) {
        F[i] += q[i] * x[dae->i_mu];
        F[n + i] += q[i] * x[dae->i_lambda];
      }
      F[dae->i_lambda] = toy_dot(n, q, v);
      F[dae->i_mu]     = (toy_dot(n, q, q) - 1) / 2;
    }
  } else {
    const double *a = x + dae->i_a;
    p->force(p, t, q, v, u, F + dae->i_a, NULL, NULL);
    for (int i = 0; i < n; ++i) {
      F[i]     = v[i];
      F[n + i] = a[i];
      F[dae->i_a + i] -= a[i];
      if (p->ng == 1) F[dae->i_a + i] += q[i] * x[dae->i_lambda];
    }
    if (p->ng == 1) F[dae->i_lambda] = toy_dot(n, q, a) + toy_dot(n, v, v);
  }
  return toy_finite(dae->nx, F);
}

static yoke_status toy_dae_jacobian(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                    const double *u, double *J) {
  const toy_problem *p = self;
  const int          n = p->n, nx = dae->nx;
  (void)work;
  const double *q = x, *v = x + n;
  double        f[8], df_dq[64], df_dv[64];
  memset(J, 0, (size_t)nx * nx * sizeof *J);
  p->force(p, t, q, v, u, f, df_dq, df_dv);
  const int i_f = dae->form == YOKE_DAE_GGL ? n : dae->i_a; /* rows of the force balance */
#define TOY_J(row, col) J[(col)*nx + (row)]
  for (int i = 0; i < n; ++i) {
    TOY_J(i, n + i) = 1;
    for (int j = 0; j < n; ++j) {
      TOY_J(i_f + i, j)     = df_dq[i * n + j];
      TOY_J(i_f + i, n + j) = df_dv[i * n + j];
    }
    if (dae->i_a >= 0) {
      TOY_J(n + i, dae->i_a + i) = 1;
      TOY_J(i_f + i, dae->i_a + i) -= 1;
    }
    if (p->ng == 0) continue;
    TOY_J(i_f + i, i) += x[dae->i_lambda];
    TOY_J(i_f + i, dae->i_lambda) = q[i];
    if (dae->i_mu >= 0) {
      TOY_J(i, i) += x[dae->i_mu];
      TOY_J(i, dae->i_mu)         = q[i];
      TOY_J(dae->i_lambda, i)     = v[i];
      TOY_J(dae->i_lambda, n + i) = q[i];
      TOY_J(dae->i_mu, i)         = q[i];
    } else {
      TOY_J(dae->i_lambda, i)            = x[dae->i_a + i];
      TOY_J(dae->i_lambda, n + i)        = 2 * v[i];
      TOY_J(dae->i_lambda, dae->i_a + i) = q[i];
    }
  }
#undef TOY_J
  return toy_finite(nx * nx, J);
}

/* One fused stage, see equations.h; serves every toy without constraints. */
static yoke_status toy_stage(const void *self, void *work, double t, double h, double c, int s, const double *a,
                             const double *abar, const double *q, const double *v, const double *const *A,
                             const double *u, double *X_out, double *V_out, double *out, const double *e,
                             const double *ebar, double atol, double rtol, double *error_sum) {
  const toy_problem *p = self;
  (void)work;
  double X[8], V[8];
  for (int i = 0; i < p->n; ++i) {
    double x_sum = 0, v_sum = 0;
    for (int j = 0; j < s; ++j) {
      x_sum += abar[j] * A[j][i];
      v_sum += a[j] * A[j][i];
    }
    X[i] = q[i] + h * c * v[i] + h * h * x_sum;
    V[i] = v[i] + h * v_sum;
    if (X_out != NULL) X_out[i] = X[i];
    if (V_out != NULL) V_out[i] = V[i];
  }
  p->force(p, t, X, V, u, out, NULL, NULL);
  if (error_sum != NULL) {
    double sum = 0;
    for (int i = 0; i < p->n; ++i) {
      double x_err = ebar[s] * out[i], v_err = e[s] * out[i];
      for (int j = 0; j < s; ++j) {
        x_err += ebar[j] * A[j][i];
        v_err += e[j] * A[j][i];
      }
      x_err *= h * h / (atol + rtol * fmax(fabs(q[i]), fabs(X[i])));
      v_err *= h / (atol + rtol * fmax(fabs(v[i]), fabs(V[i])));
      sum += x_err * x_err + v_err * v_err;
    }
    *error_sum = sum;
  }
  return toy_finite(p->n, out);
}

/* ---- the problems ------------------------------------------------------------------------------------------------- */

static void toy_fill(yoke_equations *equations, const yoke_equations_ops *ops, const toy_problem *p) {
  memset(equations, 0, sizeof *equations);
  equations->ops             = ops;
  equations->self            = (void *)(uintptr_t)p;
  equations->nq              = p->n;
  equations->nv              = p->n;
  equations->ng              = p->ng;
  equations->nu              = p->nu;
  equations->is_second_order = p->ng == 0;
  equations->work_size       = 64;
}

/* Kepler: v' = -q / r^3; start (1 - e, 0), (0, sqrt((1 + e) / (1 - e))), period 2 pi. */
#define TOY_ECCENTRICITY 0.5
static void toy_kepler_force(const toy_problem *p, double t, const double *q, const double *v, const double *u,
                             double *f, double *df_dq, double *df_dv) {
  (void)p, (void)t, (void)v, (void)u;
  const double r2 = q[0] * q[0] + q[1] * q[1], r3 = r2 * sqrt(r2);
  for (int i = 0; i < 2; ++i) f[i] = -q[i] / r3;
  if (df_dq == NULL) return;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      df_dq[2 * i + j] = 3 * q[i] * q[j] / (r3 * r2) - (i == j ? 1 / r3 : 0);
      df_dv[2 * i + j] = 0;
    }
  }
}

static inline void toy_nonlinear_exact(double t, double *q, double *v) {
  const double e = TOY_ECCENTRICITY;
  double       E = t; /* eccentric anomaly: E - e sin E = t */
  for (int i = 0; i < 60; ++i) E -= (E - e * sin(E) - t) / (1 - e * cos(E));
  const double b = sqrt(1 - e * e), Ed = 1 / (1 - e * cos(E));
  q[0] = cos(E) - e;
  q[1] = b * sin(E);
  v[0] = -sin(E) * Ed;
  v[1] = b * cos(E) * Ed;
}

/* q'' = -q^3 - 0.1 q' + cos t */
static void toy_duffing_force(const toy_problem *p, double t, const double *q, const double *v, const double *u,
                              double *f, double *df_dq, double *df_dv) {
  (void)p, (void)u;
  f[0] = -q[0] * q[0] * q[0] - 0.1 * v[0] + cos(t);
  if (df_dq == NULL) return;
  df_dq[0] = -3 * q[0] * q[0];
  df_dv[0] = -0.1;
}

/* eps = p->parameter */
static void toy_vanderpol_force(const toy_problem *p, double t, const double *q, const double *v, const double *u,
                                double *f, double *df_dq, double *df_dv) {
  (void)t, (void)u;
  f[0] = ((1 - q[0] * q[0]) * v[0] - q[0]) / p->parameter;
  if (df_dq == NULL) return;
  df_dq[0] = (-2 * q[0] * v[0] - 1) / p->parameter;
  df_dv[0] = (1 - q[0] * q[0]) / p->parameter;
}

static void toy_fading_force(const toy_problem *p, double t, const double *q, const double *v, const double *u,
                             double *f, double *df_dq, double *df_dv) {
  (void)p, (void)u;
  const double d = t < 1 ? 1e5 : 0.1;
  f[0]           = -100 * q[0] - d * (v[0] - cos(3 * t));
  if (df_dq != NULL) df_dq[0] = -100, df_dv[0] = -d;
}

static double toy_fading_break(const void *self, double t) {
  (void)self;
  return t < 1 ? 1 : (double)INFINITY;
}

/* Masses of 1 kg: wall -c1,d1- m1 -c2,d2- m2 <- u. */
#define TOY_C1 10.0
#define TOY_C2 4.0
#define TOY_D1 0.2
#define TOY_D2 0.1
static void toy_linear_force(const toy_problem *p, double t, const double *q, const double *v, const double *u,
                             double *f, double *df_dq, double *df_dv) {
  (void)p, (void)t;
  const double spring = TOY_C2 * (q[1] - q[0]) + TOY_D2 * (v[1] - v[0]);
  f[0]                = -TOY_C1 * q[0] - TOY_D1 * v[0] + spring;
  f[1]                = -spring + u[0] + 0.3; /* 0.3: a constant force, so that b is not 0 */
  if (df_dq == NULL) return;
  df_dq[0] = -TOY_C1 - TOY_C2, df_dq[1] = TOY_C2, df_dq[2] = TOY_C2, df_dq[3] = -TOY_C2;
  df_dv[0] = -TOY_D1 - TOY_D2, df_dv[1] = TOY_D2, df_dv[2] = TOY_D2, df_dv[3] = -TOY_D2;
}

static yoke_status toy_linear_matrices(const void *self, void *work, double *A, double *B, double *b) {
  const double u[1] = {0}, zero[2] = {0};
  double       f[2], df_dq[4], df_dv[4];
  (void)work;
  toy_linear_force(self, 0, zero, zero, u, f, df_dq, df_dv);
  if (A != NULL) {
    memset(A, 0, 16 * sizeof *A);
    A[0 * 4 + 2] = A[1 * 4 + 3] = 1;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        A[(2 + i) * 4 + j]     = df_dq[2 * i + j];
        A[(2 + i) * 4 + 2 + j] = df_dv[2 * i + j];
      }
    }
  }
  if (B != NULL) memset(B, 0, 4 * sizeof *B), B[3] = 1;
  if (b != NULL) memset(b, 0, 4 * sizeof *b), b[3] = 0.3;
  return YOKE_OK;
}

/* q'' = u(t) */
static void toy_push_force(const toy_problem *p, double t, const double *q, const double *v, const double *u, double *f,
                           double *df_dq, double *df_dv) {
  (void)p, (void)t, (void)q, (void)v;
  f[0] = u[0];
  if (df_dq != NULL) df_dq[0] = df_dv[0] = 0;
}

/* Pendulum, gravity in -y; x = sin(phi), y = -cos(phi). */
#define TOY_GRAVITY 9.81
static void toy_pendulum_force(const toy_problem *p, double t, const double *q, const double *v, const double *u,
                               double *f, double *df_dq, double *df_dv) {
  (void)p, (void)t, (void)q, (void)v, (void)u;
  f[0] = 0;
  f[1] = -TOY_GRAVITY;
  if (df_dq != NULL) memset(df_dq, 0, 4 * sizeof *df_dq), memset(df_dv, 0, 4 * sizeof *df_dv);
}

static void toy_angle_force(const toy_problem *p, double t, const double *q, const double *v, const double *u,
                            double *f, double *df_dq, double *df_dv) {
  (void)p, (void)t, (void)v, (void)u;
  f[0] = -TOY_GRAVITY * sin(q[0]);
  if (df_dq != NULL) df_dq[0] = -TOY_GRAVITY * cos(q[0]), df_dv[0] = 0;
}

#define TOY_IMPLICIT .dae_create = toy_dae_create, .dae_rhs = toy_dae_rhs, .dae_jacobian = toy_dae_jacobian
static const yoke_equations_ops toy_plain_ops = {.kind = "toy", .derivative = toy_derivative, TOY_IMPLICIT};
static const yoke_equations_ops toy_fused_ops = {
    .kind = "toy fused", .derivative = toy_derivative, .stage = toy_stage, TOY_IMPLICIT};
static const yoke_equations_ops toy_linear_ops = {
    .kind = "toy linear", .derivative = toy_derivative, .linear = toy_linear_matrices, TOY_IMPLICIT};
static const yoke_equations_ops toy_constrained_ops = {.kind             = "toy constrained",
                                                       .derivative       = toy_derivative,
                                                       .project_position = toy_project_position,
                                                       .project_velocity = toy_project_velocity,
                                                       .constraint       = toy_constraint,
                                                       TOY_IMPLICIT};

static const yoke_equations_ops toy_fading_ops = {
    .kind = "fading", .derivative = toy_derivative, .next_break = toy_fading_break, TOY_IMPLICIT};
static const toy_problem toy_problem_fading   = {.n = 1, .force = toy_fading_force};
static const toy_problem toy_problem_kepler   = {.n = 2, .force = toy_kepler_force};
static const toy_problem toy_problem_duffing  = {.n = 1, .force = toy_duffing_force};
static const toy_problem toy_problem_mild     = {.n = 1, .force = toy_vanderpol_force, .parameter = 0.5};
static const toy_problem toy_problem_stiff    = {.n = 1, .force = toy_vanderpol_force, .parameter = 1e-6};
static const toy_problem toy_problem_linear   = {.n = 2, .nu = 1, .force = toy_linear_force};
static const toy_problem toy_problem_push     = {.n = 1, .nu = 1, .force = toy_push_force};
static const toy_problem toy_problem_pendulum = {.n = 2, .ng = 1, .force = toy_pendulum_force};
static const toy_problem toy_problem_angle    = {.n = 1, .force = toy_angle_force};

static inline void toy_nonlinear(yoke_equations *e) {
  toy_fill(e, &toy_plain_ops, &toy_problem_kepler);
}
static inline void toy_nonlinear_fused(yoke_equations *e) {
  toy_fill(e, &toy_fused_ops, &toy_problem_kepler);
}
static inline void toy_duffing(yoke_equations *e) {
  toy_fill(e, &toy_fused_ops, &toy_problem_duffing);
}
static inline void toy_duffing_plain(yoke_equations *e) {
  toy_fill(e, &toy_plain_ops, &toy_problem_duffing);
}
/* q(0) = 2, v(0) = -0.66 lies on the slow curve of the stiff one (eps = 1e-6); eps = 0.5 for the mild one. */
static inline void toy_vanderpol(yoke_equations *e) {
  toy_fill(e, &toy_plain_ops, &toy_problem_stiff);
}
static inline void toy_vanderpol_mild(yoke_equations *e) {
  toy_fill(e, &toy_plain_ops, &toy_problem_mild);
}
static inline void toy_fading(yoke_equations *e) {
  toy_fill(e, &toy_fading_ops, &toy_problem_fading);
}
static inline void toy_linear(yoke_equations *e) {
  toy_fill(e, &toy_linear_ops, &toy_problem_linear);
}
static inline void toy_push(yoke_equations *e) {
  toy_fill(e, &toy_plain_ops, &toy_problem_push);
}
static inline void toy_pendulum(yoke_equations *e) {
  toy_fill(e, &toy_constrained_ops, &toy_problem_pendulum);
}
static inline void toy_angle(yoke_equations *e) {
  toy_fill(e, &toy_plain_ops, &toy_problem_angle);
}

/* Starts: toy_nonlinear at t = 0 by toy_nonlinear_exact(0, q, v); pendulum at the angle phi with angular velocity w. */
static inline void toy_pendulum_state(double phi, double w, double *q, double *v) {
  q[0] = sin(phi), q[1] = -cos(phi);
  v[0] = w * cos(phi), v[1] = w * sin(phi);
}

/* Pendulum from rest at 90 degrees, by Taylor-free means: the angle equation integrated with classical Runge-Kutta of
 * order 4 and Richardson extrapolation, error below 1e-13 for t <= 3. */
static inline void toy_pendulum_reference(double t, double *q, double *v) {
  long double y[2][2];
  for (int k = 0; k < 2; ++k) {
    const int         n   = 8000 << k;
    const long double h   = (long double)t / n;
    long double       phi = 1.570796326794896619231321691639751442L, w = 0;
    for (int i = 0; i < n; ++i) {
      const long double k1 = -(long double)TOY_GRAVITY * sinl(phi);
      const long double w2 = w + h / 2 * k1, k2 = -(long double)TOY_GRAVITY * sinl(phi + h / 2 * w);
      const long double w3 = w + h / 2 * k2, k3 = -(long double)TOY_GRAVITY * sinl(phi + h / 2 * w2);
      const long double w4 = w + h * k3, k4 = -(long double)TOY_GRAVITY * sinl(phi + h * w3);
      phi += h / 6 * (w + 2 * w2 + 2 * w3 + w4);
      w += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    y[k][0] = phi, y[k][1] = w;
  }
  const long double phi = y[1][0] + (y[1][0] - y[0][0]) / 15, w = y[1][1] + (y[1][1] - y[0][1]) / 15;
  toy_pendulum_state((double)phi, (double)w, q, v);
}

#endif
