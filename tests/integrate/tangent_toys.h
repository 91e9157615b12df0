/* Small equations with the operations of tangents, written out by hand; INDEX1 view only, masses 1, at most one constraint.
 *
 *   toy_modes      two masses, K and D with given frequencies and dampings along (0.6, 0.8) and (-0.8, 0.6); u_0, u_1 are forces; a quadrature,
 *                  the integral of q_0. Closed form of the response to inputs 1 and t (modes_response).
 *   toy_angle      phi'' = -9.81 sin(phi) - 0.1 phi' + u_0 cos(phi)
 *   toy_slip, toy_slider  phi' = omega + u_0 / 2, without forces and with those of toy_angle
 *   toy_rod        the planar pendulum g = (x^2 + y^2 - 1) / 2 with the forces u_0, u_1 and drag
 */
#ifndef TESTS_INTEGRATE_TANGENT_TOYS_H
#define TESTS_INTEGRATE_TANGENT_TOYS_H

#include "base/memory.h"
#include "model/equations.h"
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 2 /* velocities, and inputs */ };

typedef struct tangent_toy {
  int n, ng, nu, n_quadratures; /* nv = n, nq = n + n_quadratures */
  /* f [n]; df/dq, df/dv [n, n], df/du [n, nu], row major, NULL: not wanted */
  void (*force)(const struct tangent_toy *p, const double *q, const double *v, const double *u, double *f, double *f_q,
                double *f_v, double *f_u);
  double omega[MOST], zeta[MOST]; /* toy_modes */
  double wall;                    /* `branch` changes where q_0 passes it */
  double slip;                    /* q_0' = v_0 + slip u_0 */
} tangent_toy;

static double dot(int n, const double *x, const double *y) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

static yoke_status derivative(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                              double *qdot, double *a, double *lambda) {
  const tangent_toy *p = self;
  (void)work, (void)t;
  p->force(p, q, v, u, a, NULL, NULL, NULL);
  for (int i = 0; i < p->n && qdot != NULL; ++i) qdot[i] = v[i] + (i == 0 ? p->slip * u[0] : 0);
  if (qdot != NULL && p->n_quadratures > 0) qdot[p->n] = q[0];
  if (p->ng > 0) {
    const double l = -(dot(p->n, q, a) + dot(p->n, v, v)) / dot(p->n, q, q);
    for (int i = 0; i < p->n; ++i) a[i] += q[i] * l;
    if (lambda != NULL) lambda[0] = l;
  }
  return isfinite(dot(p->n, a, a)) ? YOKE_OK : YOKE_NON_FINITE;
}

static yoke_status project_position(const void *self, void *work, double t, double *q) {
  const tangent_toy *p = self;
  const double       r = sqrt(dot(p->n, q, q));
  (void)work, (void)t;
  for (int i = 0; i < p->n; ++i) q[i] /= r;
  return isfinite(r) ? YOKE_OK : YOKE_NON_FINITE;
}

static yoke_status project_velocity(const void *self, void *work, double t, const double *q, double *v) {
  const tangent_toy *p = self;
  const double       s = dot(p->n, q, v) / dot(p->n, q, q);
  (void)work, (void)t;
  for (int i = 0; i < p->n; ++i) v[i] -= s * q[i];
  return isfinite(s) ? YOKE_OK : YOKE_NON_FINITE;
}

/* Full patterns: slot of (row, col) is col * nx + row. */
static yoke_pattern *full_pattern(yoke_context *ctx, int rows, int cols) {
  int          *row = yoke_allocate((size_t)(rows * cols) + 1, sizeof *row);
  int          *col = yoke_allocate((size_t)(rows * cols) + 1, sizeof *col);
  yoke_pattern *out = NULL;
  if (row == NULL || col == NULL) abort();
  for (int i = 0; i < rows * cols; ++i) row[i] = i % rows, col[i] = i / rows;
  if (yoke_pattern_create(ctx, rows, cols, rows * cols, row, col, NULL, &out) != YOKE_OK) abort();
  free(row);
  free(col);
  return out;
}

static yoke_status dae_create(const void *self, yoke_context *ctx, yoke_dae_form form, yoke_dae **out) {
  const tangent_toy *p  = self;
  const int          nq = p->n + p->n_quadratures, nx = nq + 2 * p->n + p->ng;
  yoke_dae          *dae = yoke_allocate(1, sizeof *dae);
  (void)form;
  if (dae == NULL) abort();
  *dae           = (yoke_dae){.form = YOKE_DAE_INDEX1, .nx = nx, .i_v = nq, .i_a = nq + p->n, .i_mu = -1, .i_nu = -1};
  dae->i_lambda  = p->ng > 0 ? nq + 2 * p->n : -1;
  dae->component = yoke_arena_take(&dae->arena, (size_t)nx, 1);
  dae->E         = yoke_arena_take(&dae->arena, (size_t)(nx * nx), sizeof *dae->E);
  dae->R         = yoke_arena_take(&dae->arena, (size_t)(nx * nx), sizeof *dae->R);
  if (dae->arena.has_failed) abort();
  for (int i = 0; i < nx; ++i) {
    dae->component[i] = (uint8_t)(i < p->n         ? YOKE_COMPONENT_Q
                                  : i < nq         ? YOKE_COMPONENT_INTEGRAL
                                  : i < nq + p->n  ? YOKE_COMPONENT_V
                                  : i < nx - p->ng ? YOKE_COMPONENT_A
                                                   : YOKE_COMPONENT_LAMBDA);
    if (i < nq + p->n) dae->E[i * nx + i] = 1;
  }
  dae->pattern       = full_pattern(ctx, nx, nx);
  dae->input_pattern = full_pattern(ctx, nx, p->nu);
  *out               = dae;
  return YOKE_OK;
}

static yoke_status dae_rhs(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                           const double *u, double *F) {
  const tangent_toy *p = self;
  const double      *q = x, *v = x + dae->i_v, *a = x + dae->i_a;
  (void)work, (void)t;
  p->force(p, q, v, u, F + dae->i_a, NULL, NULL, NULL);
  if (p->n_quadratures > 0) F[p->n] = q[0];
  for (int i = 0; i < p->n; ++i) {
    F[i]            = v[i] + (i == 0 ? p->slip * u[0] : 0);
    F[dae->i_v + i] = a[i];
    F[dae->i_a + i] -= a[i];
    if (p->ng > 0) F[dae->i_a + i] += q[i] * x[dae->i_lambda];
  }
  if (p->ng > 0) F[dae->i_lambda] = dot(p->n, q, a) + dot(p->n, v, v);
  return YOKE_OK;
}

static yoke_status dae_jacobian(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                const double *u, double *J) {
  const tangent_toy *p = self;
  const int          n = p->n, nx = dae->nx, i_v = dae->i_v, i_a = dae->i_a, i_l = dae->i_lambda;
  double             f[MOST], f_q[MOST * MOST], f_v[MOST * MOST];
  (void)work, (void)t;
  memset(J, 0, (size_t)(nx * nx) * sizeof *J);
  p->force(p, x, x + i_v, u, f, f_q, f_v, NULL);
#define AT(row, col) J[(col)*nx + (row)]
  for (int i = 0; i < n; ++i) {
    AT(i, i_v + i)       = 1;
    AT(i_v + i, i_a + i) = 1;
    AT(i_a + i, i_a + i) = -1;
    for (int j = 0; j < n; ++j) {
      AT(i_a + i, j)       = f_q[i * n + j];
      AT(i_a + i, i_v + j) = f_v[i * n + j];
    }
    if (p->ng == 0) continue;
    AT(i_a + i, i) += x[i_l];
    AT(i_a + i, i_l) = x[i];
    AT(i_l, i)       = x[i_a + i];
    AT(i_l, i_v + i) = 2 * x[i_v + i];
    AT(i_l, i_a + i) = x[i];
  }
#undef AT
  return YOKE_OK;
}

static yoke_status dae_input_jacobian(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                      const double *u, double *B) {
  const tangent_toy *p = self;
  double             f[MOST], f_q[MOST * MOST], f_v[MOST * MOST], f_u[MOST * MOST];
  (void)work, (void)t;
  memset(B, 0, (size_t)(dae->nx * p->nu) * sizeof *B);
  p->force(p, x, x + dae->i_v, u, f, f_q, f_v, f_u);
  B[0] = p->slip;
  for (int i = 0; i < p->n; ++i) {
    for (int j = 0; j < p->nu; ++j) B[j * dae->nx + dae->i_a + i] = f_u[i * p->nu + j];
  }
  return YOKE_OK;
}

/* The factor is q. */
typedef struct motion_factor_data {
  const tangent_toy *p;
  double             q[MOST];
} motion_factor_data;

static yoke_status motion_factor(const void *self, void *work, double t, const double *q, const double *v,
                                 const double *u, void *factor) {
  const tangent_toy  *p = self;
  motion_factor_data *f = factor;
  (void)work, (void)t, (void)v, (void)u;
  f->p = p;
  memcpy(f->q, q, (size_t)p->n * sizeof *q);
  return p->ng > 0 && dot(p->n, q, q) < 0.5 ? YOKE_SINGULAR : YOKE_OK;
}

static void motion_solve(const void *self, const void *factor, int n, double *a, double *lambda) {
  const motion_factor_data *f = factor;
  (void)self;
  for (int d = 0; d < n && f->p->ng > 0; ++d) { /* a = r_a + q lambda, q . a = r_g */
    double sum = 0;
    for (int i = 0; i < f->p->n; ++i) sum += f->q[i] * a[i * n + d];
    lambda[d] = (lambda[d] - sum) / dot(f->p->n, f->q, f->q);
    for (int i = 0; i < f->p->n; ++i) a[i * n + d] += f->q[i] * lambda[d];
  }
}

static void quadrature_tangent(const void *self, void *work, double t, const double *q, const double *v, int n,
                               const double *dq, const double *dv, double *rate) {
  (void)self, (void)work, (void)t, (void)q, (void)v, (void)dv;
  memcpy(rate, dq, (size_t)n * sizeof *rate);
}

static uint64_t branch(const void *self, void *work, double t, const double *q, const double *v, const double *u) {
  const tangent_toy *p = self;
  (void)work, (void)t, (void)v, (void)u;
  return q[0] > p->wall;
}

#define TANGENT_OPS                                                                                                    \
  .kind = "toy", .derivative = derivative, .dae_create = dae_create, .dae_rhs = dae_rhs, .dae_jacobian = dae_jacobian, \
  .dae_input_jacobian = dae_input_jacobian, .motion_factor = motion_factor, .motion_solve = motion_solve,              \
  .quadrature_tangent = quadrature_tangent
static const yoke_equations_ops toy_ops        = {TANGENT_OPS};
static const yoke_equations_ops toy_walled_ops = {TANGENT_OPS, .branch = branch};
static const yoke_equations_ops toy_joint_ops  = {TANGENT_OPS, .project_position = project_position,
                                                  .project_velocity = project_velocity};

static yoke_equations toy_equations(const yoke_equations_ops *ops, const tangent_toy *p) {
  return (yoke_equations){.ops           = ops,
                          .self          = (void *)(uintptr_t)p,
                          .nq            = p->n + p->n_quadratures,
                          .nv            = p->n,
                          .ng            = p->ng,
                          .nu            = p->nu,
                          .n_quadratures = p->n_quadratures,
                          .work_size     = 64,
                          .motion_size   = sizeof(motion_factor_data)};
}

/* ---- modes ---- */

static const double mode[MOST][MOST] = {{0.6, 0.8}, {-0.8, 0.6}};

static void modes_force(const tangent_toy *p, const double *q, const double *v, const double *u, double *f, double *f_q,
                        double *f_v, double *f_u) {
  double K[4] = {0}, D[4] = {0};
  for (int m = 0; m < 2; ++m) {
    for (int k = 0; k < 4; ++k) {
      K[k] -= p->omega[m] * p->omega[m] * mode[m][k / 2] * mode[m][k % 2];
      D[k] -= 2 * p->zeta[m] * p->omega[m] * mode[m][k / 2] * mode[m][k % 2];
    }
  }
  for (int i = 0; i < 2; ++i) f[i] = dot(2, K + 2 * i, q) + dot(2, D + 2 * i, v) + u[i];
  if (f_q != NULL) memcpy(f_q, K, sizeof K);
  if (f_v != NULL) memcpy(f_v, D, sizeof D);
  if (f_u != NULL) f_u[0] = f_u[3] = 1, f_u[1] = f_u[2] = 0;
}

/* Response of eta'' = -omega^2 eta - 2 zeta omega eta' + t^degree (degree 0 or 1) from rest: out = (integral, eta, eta', eta'').
 * With the roots r, s of the mode the response to 1 is 1 / omega^2 + (s e^{r t} - r e^{s t}) / (omega^2 (r - s)). */
static void mode_response(double omega, double zeta, int degree, double t, double out[4]) {
  const double complex root = omega * csqrt(zeta * zeta - 1), r = -zeta * omega + root, s = -zeta * omega - root;
  for (int level = 0; level < 4; ++level) {
    const int            d = level - 1 - degree; /* derivatives of the response to 1; negative: integrals */
    const double complex x = cpow(r, d), y = cpow(s, d);
    double complex       sum  = s * x * cexp(r * t) - r * y * cexp(s * t);
    double               poly = 0, power = 1;
    if (d == 0) poly = 1;
    if (d < 0) { /* integrals start from 0 */
      for (int k = 0; k < -d; ++k) {
        sum -= (s * x * cpow(r, k) - r * y * cpow(s, k)) * power;
        power *= t / (k + 1);
      }
      poly = power;
    }
    out[level] = (poly + creal(sum / (r - s))) / (omega * omega);
  }
}

/* (q_0, q_1, integral, v_0, v_1, a_0, a_1) of the response to u_input = t^degree. */
static void modes_response(const tangent_toy *p, int input, int degree, double t, double out[7]) {
  memset(out, 0, 7 * sizeof *out);
  for (int m = 0; m < 2 && t > 0; ++m) {
    double eta[4];
    mode_response(p->omega[m], p->zeta[m], degree, t, eta);
    for (int i = 0; i < 2; ++i) {
      out[i] += mode[m][i] * mode[m][input] * eta[1];
      out[3 + i] += mode[m][i] * mode[m][input] * eta[2];
      out[5 + i] += mode[m][i] * mode[m][input] * eta[3];
    }
    out[2] += mode[m][0] * mode[m][input] * eta[0];
  }
}

static tangent_toy toy_modes(double omega_0, double zeta_0, double omega_1, double zeta_1) {
  return (tangent_toy){
      .n = 2, .nu = 2, .n_quadratures = 1, .force = modes_force, .omega = {omega_0, omega_1}, .zeta = {zeta_0, zeta_1}};
}

/* ---- pendulums ---- */

static void angle_force(const tangent_toy *p, const double *q, const double *v, const double *u, double *f, double *f_q,
                        double *f_v, double *f_u) {
  (void)p;
  f[0] = -9.81 * sin(q[0]) - 0.1 * v[0] + u[0] * cos(q[0]);
  if (f_q != NULL) f_q[0] = -9.81 * cos(q[0]) - u[0] * sin(q[0]);
  if (f_v != NULL) f_v[0] = -0.1;
  if (f_u != NULL) f_u[0] = cos(q[0]);
}

static void rod_force(const tangent_toy *p, const double *q, const double *v, const double *u, double *f, double *f_q,
                      double *f_v, double *f_u) {
  (void)p, (void)q;
  f[0] = u[0] - 0.3 * v[0];
  f[1] = u[1] - 9.81 - 0.3 * v[1];
  if (f_q != NULL) memset(f_q, 0, 4 * sizeof *f_q);
  if (f_v != NULL) f_v[0] = f_v[3] = -0.3, f_v[1] = f_v[2] = 0;
  if (f_u != NULL) f_u[0] = f_u[3] = 1, f_u[1] = f_u[2] = 0;
}

/* Nothing but slip: dv = 0. */
static void no_force(const tangent_toy *p, const double *q, const double *v, const double *u, double *f, double *f_q,
                     double *f_v, double *f_u) {
  (void)p, (void)q, (void)v, (void)u;
  f[0] = 0;
  if (f_q != NULL) f_q[0] = f_v[0] = 0;
  if (f_u != NULL) f_u[0] = 0;
}

static const tangent_toy toy_slip   = {.n = 1, .nu = 1, .force = no_force, .slip = 0.5};
static const tangent_toy toy_slider = {.n = 1, .nu = 1, .force = angle_force, .slip = 0.5};
static const tangent_toy toy_angle  = {.n = 1, .nu = 1, .force = angle_force, .wall = 0.5};
static const tangent_toy toy_rod    = {.n = 2, .ng = 1, .nu = 2, .force = rod_force};

#endif
