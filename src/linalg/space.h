/* Space: vectors, 3x3 matrices (row major) and Euler parameters, inline.
 *
 * Euler parameters p = (q0, q1, q2, q3) turn body axes into inertial axes: x_inertial = R(p) x_body.
 * Rates: p' = 1/2 E(p) omega with omega in the body frame, p' = 1/2 Ebar(p) w with w in the inertial frame. */
#ifndef YOKE_LINALG_SPACE_H
#define YOKE_LINALG_SPACE_H

#include <math.h>

static inline double vec3_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double vec3_norm(const double a[3]) {
  return sqrt(vec3_dot(a, a));
}

static inline void vec3_set(double y[3], double x0, double x1, double x2) {
  y[0] = x0;
  y[1] = x1;
  y[2] = x2;
}

static inline void vec3_copy(double y[3], const double x[3]) {
  vec3_set(y, x[0], x[1], x[2]);
}

/* y += s x */
static inline void vec3_add(double y[3], double s, const double x[3]) {
  y[0] += s * x[0];
  y[1] += s * x[1];
  y[2] += s * x[2];
}

/* c = a x b; c may be a or b */
static inline void vec3_cross(double c[3], const double a[3], const double b[3]) {
  const double c0 = a[1] * b[2] - a[2] * b[1];
  const double c1 = a[2] * b[0] - a[0] * b[2];
  const double c2 = a[0] * b[1] - a[1] * b[0];
  vec3_set(c, c0, c1, c2);
}

/* y += s a x b */
static inline void vec3_add_cross(double y[3], double s, const double a[3], const double b[3]) {
  y[0] += s * (a[1] * b[2] - a[2] * b[1]);
  y[1] += s * (a[2] * b[0] - a[0] * b[2]);
  y[2] += s * (a[0] * b[1] - a[1] * b[0]);
}

/* y = A x; y is not x */
static inline void mat3_apply(double y[3], const double A[9], const double x[3]) {
  y[0] = A[0] * x[0] + A[1] * x[1] + A[2] * x[2];
  y[1] = A[3] * x[0] + A[4] * x[1] + A[5] * x[2];
  y[2] = A[6] * x[0] + A[7] * x[1] + A[8] * x[2];
}

/* y = A^T x; y is not x */
static inline void mat3_apply_transposed(double y[3], const double A[9], const double x[3]) {
  y[0] = A[0] * x[0] + A[3] * x[1] + A[6] * x[2];
  y[1] = A[1] * x[0] + A[4] * x[1] + A[7] * x[2];
  y[2] = A[2] * x[0] + A[5] * x[1] + A[8] * x[2];
}

/* C = A B; C is neither A nor B */
static inline void mat3_multiply(double C[9], const double A[9], const double B[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
  }
}

/* C = A^T B */
static inline void mat3_multiply_transposed(double C[9], const double A[9], const double B[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
  }
}

/* [a]x: [a]x b = a x b */
static inline void mat3_cross(double C[9], const double a[3]) {
  C[0] = C[4] = C[8] = 0.0;
  C[1]               = -a[2];
  C[2]               = a[1];
  C[3]               = a[2];
  C[5]               = -a[0];
  C[6]               = -a[1];
  C[7]               = a[0];
}

/* C = [a]x [b]x = b a^T - (a.b) I */
static inline void mat3_cross_cross(double C[9], const double a[3], const double b[3]) {
  const double ab = vec3_dot(a, b);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) C[3 * i + j] = b[i] * a[j] - (i == j ? ab : 0.0);
  }
}

/* Inverse by cofactors; returns the determinant (0: B is not written). */
static inline double mat3_invert(double B[9], const double A[9]) {
  const double c0  = A[4] * A[8] - A[5] * A[7];
  const double c1  = A[5] * A[6] - A[3] * A[8];
  const double c2  = A[3] * A[7] - A[4] * A[6];
  const double det = A[0] * c0 + A[1] * c1 + A[2] * c2;
  if (det == 0.0) return 0.0;
  const double s = 1.0 / det;
  B[0]           = s * c0;
  B[1]           = s * (A[2] * A[7] - A[1] * A[8]);
  B[2]           = s * (A[1] * A[5] - A[2] * A[4]);
  B[3]           = s * c1;
  B[4]           = s * (A[0] * A[8] - A[2] * A[6]);
  B[5]           = s * (A[2] * A[3] - A[0] * A[5]);
  B[6]           = s * c2;
  B[7]           = s * (A[1] * A[6] - A[0] * A[7]);
  B[8]           = s * (A[0] * A[4] - A[1] * A[3]);
  return det;
}

static inline double quaternion_norm2(const double p[4]) {
  return p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3];
}

/* R of the normalised p. */
static inline void quaternion_rotation(double R[9], const double p[4]) {
  const double n2 = quaternion_norm2(p);
  const double s  = 2.0 / n2;
  const double xx = s * p[1] * p[1], yy = s * p[2] * p[2], zz = s * p[3] * p[3];
  const double xy = s * p[1] * p[2], xz = s * p[1] * p[3], yz = s * p[2] * p[3];
  const double wx = s * p[0] * p[1], wy = s * p[0] * p[2], wz = s * p[0] * p[3];
  R[0] = 1.0 - (yy + zz);
  R[1] = xy - wz;
  R[2] = xz + wy;
  R[3] = xy + wz;
  R[4] = 1.0 - (xx + zz);
  R[5] = yz - wx;
  R[6] = xz - wy;
  R[7] = yz + wx;
  R[8] = 1.0 - (xx + yy);
}

/* E(p), 4x3 row major. */
static inline void quaternion_E(double E[12], const double p[4]) {
  E[0]  = -p[1];
  E[1]  = -p[2];
  E[2]  = -p[3];
  E[3]  = p[0];
  E[4]  = -p[3];
  E[5]  = p[2];
  E[6]  = p[3];
  E[7]  = p[0];
  E[8]  = -p[1];
  E[9]  = -p[2];
  E[10] = p[1];
  E[11] = p[0];
}

/* Ebar(p) = E(p) R(p)^T, 4x3 row major. */
static inline void quaternion_Ebar(double E[12], const double p[4]) {
  E[0]  = -p[1];
  E[1]  = -p[2];
  E[2]  = -p[3];
  E[3]  = p[0];
  E[4]  = p[3];
  E[5]  = -p[2];
  E[6]  = -p[3];
  E[7]  = p[0];
  E[8]  = p[1];
  E[9]  = p[2];
  E[10] = -p[1];
  E[11] = p[0];
}

/* pdot = 1/2 E(p) omega */
static inline void quaternion_rate(double pdot[4], const double p[4], const double omega[3]) {
  pdot[0] = 0.5 * (-p[1] * omega[0] - p[2] * omega[1] - p[3] * omega[2]);
  pdot[1] = 0.5 * (p[0] * omega[0] - p[3] * omega[1] + p[2] * omega[2]);
  pdot[2] = 0.5 * (p[3] * omega[0] + p[0] * omega[1] - p[1] * omega[2]);
  pdot[3] = 0.5 * (-p[2] * omega[0] + p[1] * omega[1] + p[0] * omega[2]);
}

static inline void quaternion_normalise(double p[4]) {
  const double n = sqrt(quaternion_norm2(p));
  if (!(n > 0.0)) return;
  for (int i = 0; i < 4; ++i) p[i] /= n;
}

/* Unit p with q0 >= 0 of a rotation matrix; the largest component is the divisor. */
static inline void quaternion_of_rotation(double p[4], const double R[9]) {
  const double trace = R[0] + R[4] + R[8];
  if (trace > 0.0) {
    const double s = 2.0 * sqrt(1.0 + trace);
    p[0]           = 0.25 * s;
    p[1]           = (R[7] - R[5]) / s;
    p[2]           = (R[2] - R[6]) / s;
    p[3]           = (R[3] - R[1]) / s;
  } else {
    int i = R[4] > R[0] ? 1 : 0;
    if (R[8] > R[4 * i]) i = 2;
    const int    j = (i + 1) % 3, k = (i + 2) % 3;
    const double s = 2.0 * sqrt(fmax(0.0, 1.0 + R[4 * i] - R[4 * j] - R[4 * k]));
    p[0]           = (R[3 * k + j] - R[3 * j + k]) / s;
    p[1 + i]       = 0.25 * s;
    p[1 + j]       = (R[3 * j + i] + R[3 * i + j]) / s;
    p[1 + k]       = (R[3 * k + i] + R[3 * i + k]) / s;
  }
  if (p[0] < 0.0) {
    for (int i = 0; i < 4; ++i) p[i] = -p[i];
  }
}

#endif
