/* Rows of joints, eight side by side. Every loop over lanes is code for one joint, which compilers turn into vectors. */
#include "model/joint_lanes.h"

#include "base/simd.h"
#include "linalg/space.h"
#include <string.h>

enum { LANES = YOKE_JOINT_LANES };

/* How the two ends turn. */
typedef struct turning {
  yoke_lane R[2][9], w[2][3];
} turning;

static YOKE_ALWAYS_INLINE void gather(const yoke_joint_lanes *joints, const yoke_pose *poses, turning *out) {
  for (int end = 0; end < 2; ++end) {
    for (int l = 0; l < LANES; ++l) {
      const yoke_pose *pose = &poses[joints->node[end][l]];
      for (int k = 0; k < 9; ++k) out->R[end][k][l] = pose->R[k];
      for (int k = 0; k < 3; ++k) out->w[end][k][l] = pose->w[k];
    }
  }
}

/* n numbers of one lane. */
static YOKE_ALWAYS_INLINE void get(int n, const yoke_lane *from, int l, double *to) {
  for (int k = 0; k < n; ++k) to[k] = from[k][l];
}
static YOKE_ALWAYS_INLINE void put(int n, const double *from, int l, yoke_lane *to) {
  for (int k = 0; k < n; ++k) to[k][l] = from[k];
}

/* Arms, and -gamma of the points: the parent's w x (w x r) less the child's. */
static YOKE_ALWAYS_INLINE void set_points(const yoke_joint_lanes *joints, const turning *x,
                                          yoke_joint_view *restrict out) {
  for (int l = 0; l < LANES; ++l) {
    double a[2][3];
    for (int end = 0; end < 2; ++end) {
      double R[9], w[3], origin[3], p[3], v[3];
      get(9, x->R[end], l, R);
      get(3, x->w[end], l, w);
      get(3, joints->origin[end], l, origin);
      mat3_apply(p, R, origin);
      vec3_cross(v, w, p);
      vec3_cross(a[end], w, v);
      put(3, p, l, out->arm[end]);
    }
    for (int k = 0; k < 3; ++k) out->known[k][l] = -(a[0][k] - a[1][k]);
  }
}

static YOKE_ALWAYS_INLINE void set_inertia(const yoke_joint_lanes *joints, const turning *x,
                                           yoke_joint_view *restrict out) {
  for (int l = 0; l < LANES; ++l) {
    double R[9], J[9], A[9];
    get(9, x->R[0], l, R);
    get(9, joints->inertia, l, J);
    mat3_multiply(A, R, J);
    out->inertia[0][l] = vec3_dot(A, R);
    out->inertia[1][l] = vec3_dot(A, R + 3);
    out->inertia[2][l] = vec3_dot(A, R + 6);
    out->inertia[3][l] = vec3_dot(A + 3, R + 3);
    out->inertia[4][l] = vec3_dot(A + 3, R + 6);
    out->inertia[5][l] = vec3_dot(A + 6, R + 6);
  }
}

/* Direction of cosine i on one end. */
static YOKE_ALWAYS_INLINE void set_axis(const yoke_joint_lanes *joints, int i, int end, const double R[9], int l,
                                        double e[3]) {
  double own[3];
  get(3, joints->axis[i][end], l, own);
  mat3_apply(e, R, own);
}

/* Gradient t of the cosine of a (child) and b (parent), and its gamma,
 *   (wa x (wa x a)).b + 2 (wa x a).(wb x b) + a.(wb x (wb x b)). */
static YOKE_ALWAYS_INLINE double cosine_row(const double a[3], const double b[3], const double wa[3],
                                            const double wb[3], double dw2, double t[3]) {
  const double wa_a = vec3_dot(wa, a), wa_b = vec3_dot(wa, b), wb_a = vec3_dot(wb, a), wb_b = vec3_dot(wb, b);
  vec3_cross(t, a, b);
  return wa_a * wa_b + wb_a * wb_b - 2.0 * wa_b * wb_a - dw2 * vec3_dot(a, b);
}

/* Two cosines: the axis across their gradients, the dual basis, and what they ask for. */
static YOKE_ALWAYS_INLINE void set_turns(const yoke_joint_lanes *joints, const turning *x,
                                         yoke_joint_view *restrict out) {
  for (int l = 0; l < LANES; ++l) {
    double A[9], B[9], wa[3], wb[3], a0[3], a1[3], b0[3], b1[3], t0[3], t1[3], c[3], d0[3], d1[3];
    get(9, x->R[0], l, A);
    get(9, x->R[1], l, B);
    get(3, x->w[0], l, wa);
    get(3, x->w[1], l, wb);
    set_axis(joints, 0, 0, A, l, a0);
    set_axis(joints, 1, 0, A, l, a1);
    set_axis(joints, 0, 1, B, l, b0);
    set_axis(joints, 1, 1, B, l, b1);
    const double dw[3] = {wa[0] - wb[0], wa[1] - wb[1], wa[2] - wb[2]}, dw2 = vec3_dot(dw, dw);
    const double gamma0 = cosine_row(a0, b0, wa, wb, dw2, t0), gamma1 = cosine_row(a1, b1, wa, wb, dw2, t1);
    vec3_cross(c, t0, t1);
    const double c2 = vec3_dot(c, c), inverse = 1.0 / c2;
    vec3_cross(d0, t1, c);
    vec3_cross(d1, c, t0);
    vec3_set(d0, inverse * d0[0], inverse * d0[1], inverse * d0[2]);
    vec3_set(d1, inverse * d1[0], inverse * d1[1], inverse * d1[2]);
    for (int k = 0; k < 3; ++k) out->known[3 + k][l] = 0.0 - gamma0 * d0[k] - gamma1 * d1[k];
    put(3, d0, l, out->turn_dual[0]);
    put(3, d1, l, out->turn_dual[1]);
    put(3, c, l, out->s);
    out->cross2[l]   = c2;
    out->product2[l] = vec3_dot(t0, t0) * vec3_dot(t1, t1);
  }
}

YOKE_SIMD void yoke_joint_lanes_view(const yoke_joint_lanes *joints, const yoke_pose *poses,
                                     yoke_joint_view *restrict out) {
  turning x;
  gather(joints, poses, &x);
  set_points(joints, &x, out);
  set_inertia(joints, &x, out);
  if (joints->is_revolute) {
    set_turns(joints, &x, out);
  } else {
    memset(out->known + 3, 0, 3 * sizeof *out->known);
  }
}
