#include "frames/rod_element.h"

#include "linalg/space.h"
#include <string.h>

/* What all calls need: vectors of the edge in inertial axes, those of the curvature in axes of frame 1. */
typedef struct rod_state {
  const double *Ro, *wo, *R1;
  double        d[3], a[3]; /* r2 - r1 and its rate */
  double        q0, qv[3];  /* Euler parameters of frame 2 against frame 1, q0 >= 0 */
  double        spin[3];    /* R1^T (w2 - w1) */
  double        strain[6];  /* Gamma - Gamma0, K - K0 */
  double        rate[6];    /* Gamma', K' */
  double        force[6];   /* n, m */
} rod_state;

/* Rates of the curvature: K' = B spin / k with B = q0 - [qv]x, as B psi / 2 is what a small rotation psi adds to qv. */
static void apply_B(const rod_state *s, const double x[3], double y[3]) {
  vec3_cross(y, x, s->qv);
  vec3_add(y, s->q0, x);
}

static void rod_set(const yoke_rod_element *el, const yoke_pose *a, const yoke_pose *b, rod_state *s) {
  const yoke_pose *owner = el->owner == 0 ? a : b;
  double           A[9], q[4], c[3], x[3], dw[3];
  s->Ro = owner->R;
  s->wo = owner->w;
  s->R1 = a->R;
  for (int i = 0; i < 3; ++i) {
    s->d[i] = b->r[i] - a->r[i];
    s->a[i] = b->v[i] - a->v[i];
    dw[i]   = b->w[i] - a->w[i];
  }
  vec3_copy(x, s->a);
  vec3_add_cross(x, 1.0, s->d, s->wo);
  mat3_apply_transposed(c, s->Ro, s->d);
  mat3_apply_transposed(s->rate, s->Ro, x);
  for (int i = 0; i < 3; ++i) {
    s->strain[i] = c[i] / el->edge - (i == 2 ? 1.0 : 0.0) - el->natural[i];
    s->rate[i] /= el->edge;
  }
  for (int i = 0; i < 3; ++i) { /* A = R1^T R2 */
    for (int j = 0; j < 3; ++j)
      A[3 * i + j] = a->R[i] * b->R[j] + a->R[3 + i] * b->R[3 + j] + a->R[6 + i] * b->R[6 + j];
  }
  quaternion_of_rotation(q, A);
  s->q0 = q[0];
  vec3_copy(s->qv, q + 1);
  mat3_apply_transposed(s->spin, a->R, dw);
  apply_B(s, s->spin, s->rate + 3);
  for (int i = 0; i < 3; ++i) {
    s->strain[3 + i] = 2.0 / el->bend * s->qv[i] - el->natural[3 + i];
    s->rate[3 + i] /= el->bend;
  }
  for (int i = 0; i < 6; ++i) s->force[i] = el->stiffness[i] * s->strain[i] + el->damping[i] * s->rate[i];
}

/* F = R_o n and M = R1 B^T m, which pull side 1 towards side 2. */
static void resultants(const rod_state *s, double F[3], double M[3]) {
  double moment[3];
  mat3_apply(F, s->Ro, s->force);
  vec3_cross(moment, s->qv, s->force + 3);
  vec3_add(moment, s->q0, s->force + 3);
  mat3_apply(M, s->R1, moment);
}

static void set_force(const yoke_rod_element *el, const rod_state *s, const double F[3], const double M[3],
                      double f[12]) {
  for (int i = 0; i < 3; ++i) {
    f[i]     = F[i];
    f[3 + i] = M[i];
    f[6 + i] = -F[i];
    f[9 + i] = -M[i];
  }
  vec3_add_cross(f + 3 + 6 * el->owner, 1.0, s->d, F);
}

void yoke_rod_element_force(const yoke_rod_element *el, const yoke_pose *a, const yoke_pose *b, double f[12]) {
  rod_state s;
  double    F[3], M[3];
  rod_set(el, a, b, &s);
  resultants(&s, F, M);
  set_force(el, &s, F, M, f);
}

/* C := R diag(c) R^T */
static void turned_diagonal(double C[9], const double R[9], const double c[3]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j <= i; ++j) {
      C[3 * i + j] = C[3 * j + i] =
          R[3 * i] * c[0] * R[3 * j] + R[3 * i + 1] * c[1] * R[3 * j + 1] + R[3 * i + 2] * c[2] * R[3 * j + 2];
    }
  }
}

/* C := R A R^T */
static void turned(double C[9], const double R[9], const double A[9]) {
  double B[9];
  mat3_multiply(B, R, A);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      C[3 * i + j] = B[3 * i] * R[3 * j] + B[3 * i + 1] * R[3 * j + 1] + B[3 * i + 2] * R[3 * j + 2];
  }
}

static void add_block(double *H, int row, int column, double s, const double M[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) H[12 * (row + i) + column + j] += s * M[3 * i + j];
  }
}

/* dF = F_d dd + F_phi dphi_o + F_a da + F_w R_o domega_o, and the moment d x F of the owner. With Cl = R_o C_G R_o^T / l, and Dl likewise:
 *   F_d = Cl - Dl [w]x,  F_phi = -[F]x + F_d [d]x + Dl [a]x,  F_a = Dl,  F_w = Dl [d]x. */
static void edge_jacobian(const yoke_rod_element *el, const rod_state *s, const double F[3], double *K, double *D) {
  const int    o            = 6 * el->owner + 3;
  const double stiffness[3] = {el->stiffness[0] / el->edge, el->stiffness[1] / el->edge, el->stiffness[2] / el->edge};
  const double damping[3]   = {el->damping[0] / el->edge, el->damping[1] / el->edge, el->damping[2] / el->edge};
  double       F_d[9], F_phi[9], F_a[9], F_w[9], Fx[9], dx[9], X[9], Y[9];
  turned_diagonal(F_d, s->Ro, stiffness);
  turned_diagonal(F_a, s->Ro, damping);
  mat3_cross(Fx, F);
  mat3_cross(dx, s->d);
  mat3_cross(X, s->wo);
  mat3_multiply(Y, F_a, X);
  for (int i = 0; i < 9; ++i) F_d[i] -= Y[i];
  mat3_multiply(F_phi, F_d, dx);
  mat3_cross(X, s->a);
  mat3_multiply(Y, F_a, X);
  for (int i = 0; i < 9; ++i) F_phi[i] += Y[i] - Fx[i];
  mat3_multiply(F_w, F_a, dx);
  for (int side = 0; side < 2; ++side) { /* force +F on side 1, -F on side 2; dd = dr2 - dr1 */
    const double sign = side == 0 ? 1.0 : -1.0;
    add_block(K, 6 * side, 0, -sign, F_d);
    add_block(K, 6 * side, 6, sign, F_d);
    add_block(K, 6 * side, o, sign, F_phi);
    add_block(D, 6 * side, 0, -sign, F_a);
    add_block(D, 6 * side, 6, sign, F_a);
    add_block(D, 6 * side, o, sign, F_w);
  }
  mat3_multiply(X, dx, F_d); /* d(d x F) = -[F]x dd + [d]x dF */
  for (int i = 0; i < 9; ++i) X[i] -= Fx[i];
  add_block(K, o, 0, -1.0, X);
  add_block(K, o, 6, 1.0, X);
  mat3_multiply(X, dx, F_phi);
  add_block(K, o, o, 1.0, X);
  mat3_multiply(X, dx, F_a);
  add_block(D, o, 0, -1.0, X);
  add_block(D, o, 6, 1.0, X);
  mat3_multiply(X, dx, F_w);
  add_block(D, o, o, 1.0, X);
}

/* M = R1 mu, mu = B^T m. A rotation psi of frame 2 against frame 1 (axes of frame 1) gives dq0 = -qv.psi / 2, dqv = B psi / 2 and, with
 * fixed angular velocities in body axes, d(spin) = -[u]x psi, u = R1^T w2. */
static void curvature_jacobian(const yoke_rod_element *el, const rod_state *s, const yoke_pose *b, const double M[3],
                               double *K, double *D) {
  const double *m = s->force + 3;
  double        B[9], u[3], X[9], Y[9], rate[9], mu[9], by_spin[9], Mx[9];
  mat3_cross(B, s->qv);
  for (int i = 0; i < 9; ++i) B[i] = (i % 4 == 0 ? s->q0 : 0.0) - B[i];
  mat3_apply_transposed(u, s->R1, b->w);
  /* k dK'/dpsi = -spin qv^T / 2 + [spin]x B / 2 - B [u]x */
  mat3_cross(X, s->spin);
  mat3_multiply(rate, X, B);
  mat3_cross(X, u);
  mat3_multiply(Y, B, X);
  for (int i = 0; i < 9; ++i) rate[i] = 0.5 * (rate[i] - s->spin[i / 3] * s->qv[i % 3]) - Y[i];
  /* dm/dpsi and dm/dspin */
  for (int i = 0; i < 9; ++i) {
    X[i] = (el->stiffness[3 + i / 3] * B[i] + el->damping[3 + i / 3] * rate[i]) / el->bend;
    Y[i] = el->damping[3 + i / 3] * B[i] / el->bend;
  }
  mat3_multiply_transposed(mu, B, X); /* B^T X */
  mat3_multiply_transposed(by_spin, B, Y);
  mat3_cross(X, m);
  mat3_multiply(Y, X, B);
  for (int i = 0; i < 9; ++i) mu[i] -= 0.5 * (Y[i] + m[i / 3] * s->qv[i % 3]);
  turned(X, s->R1, mu);
  turned(Y, s->R1, by_spin);
  mat3_cross(Mx, M);
  for (int side = 0; side < 2; ++side) { /* moment +M on side 1, -M on side 2 */
    const double sign = side == 0 ? 1.0 : -1.0;
    add_block(K, 3 + 6 * side, 3, -sign, Mx);
    add_block(K, 3 + 6 * side, 3, -sign, X);
    add_block(K, 3 + 6 * side, 9, sign, X);
    add_block(D, 3 + 6 * side, 3, -sign, Y);
    add_block(D, 3 + 6 * side, 9, sign, Y);
  }
}

void yoke_rod_element_jacobian(const yoke_rod_element *el, const yoke_pose *a, const yoke_pose *b, double f[12],
                               double K[144], double D[144]) {
  rod_state s;
  double    F[3], M[3];
  rod_set(el, a, b, &s);
  resultants(&s, F, M);
  set_force(el, &s, F, M, f);
  memset(K, 0, 144 * sizeof *K);
  memset(D, 0, 144 * sizeof *D);
  edge_jacobian(el, &s, F, K, D);
  curvature_jacobian(el, &s, b, M, K, D);
}

void yoke_rod_element_energy(const yoke_rod_element *el, const yoke_pose *a, const yoke_pose *b, double *potential,
                             double *power_dissipated) {
  rod_state s;
  rod_set(el, a, b, &s);
  for (int i = 0; i < 6; ++i) {
    const double length = i < 3 ? el->edge : el->bend;
    if (potential != NULL) *potential += 0.5 * length * el->stiffness[i] * s.strain[i] * s.strain[i];
    if (power_dissipated != NULL) *power_dissipated += length * el->damping[i] * s.rate[i] * s.rate[i];
  }
}

void yoke_rod_element_output(const yoke_rod_element *el, const yoke_pose *a, const yoke_pose *b, double *force,
                             double *strain) {
  rod_state s;
  rod_set(el, a, b, &s);
  if (force != NULL) memcpy(force, s.force, sizeof s.force);
  if (strain != NULL) memcpy(strain, s.strain, sizeof s.strain);
}
