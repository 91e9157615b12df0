#include "frames/joint_rows.h"

#include "linalg/space.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void yoke_row_label(const yoke_row *row, char *label, size_t size) {
  const char axis[] = "xyz";
  switch (row->kind) {
  case YOKE_ROW_POINT: snprintf(label, size, "atpoint %c", axis[row->k]); break;
  case YOKE_ROW_STRETCH: snprintf(label, size, "stretch"); break;
  case YOKE_ROW_INPLANE: snprintf(label, size, "inplane %c", axis[row->l]); break;
  case YOKE_ROW_ALONG: snprintf(label, size, "along %c", axis[row->k]); break;
  case YOKE_ROW_PERPENDICULAR: snprintf(label, size, "perpendicular %c%c", axis[row->k], axis[row->l]); break;
  case YOKE_ROW_DISTANCE: snprintf(label, size, "distance"); break;
  case YOKE_ROW_ANGLE: snprintf(label, size, "angle"); break;
  case YOKE_ROW_TURN: snprintf(label, size, "turn"); break;
  case YOKE_ROW_ROTATION: snprintf(label, size, "rotation %c", axis[row->k]); break;
  case YOKE_ROW_CARRIED: snprintf(label, size, "carried %c", axis[row->k]); break;
  case YOKE_ROW_CARRIED_TURN: snprintf(label, size, "carried turn %c", axis[row->k]); break;
  case YOKE_ROW_SLOPE: snprintf(label, size, "slope %c", axis[row->l]); break;
  }
}

bool yoke_row_is_length(const yoke_row *row) {
  return row->kind != YOKE_ROW_PERPENDICULAR && row->kind != YOKE_ROW_ANGLE && row->kind != YOKE_ROW_TURN &&
         row->kind != YOKE_ROW_ROTATION && row->kind != YOKE_ROW_CARRIED_TURN && row->kind != YOKE_ROW_SLOPE;
}

bool yoke_row_carried(const yoke_row *row, int carrier, yoke_row *out) {
  const bool turns = row->kind == YOKE_ROW_PERPENDICULAR && row->k < row->l;
  if (!turns && row->kind != YOKE_ROW_POINT) return false;
  /* x1.z2, y1.z2, x1.y2 as axes x, y, z */
  *out = turns ? (yoke_row){YOKE_ROW_CARRIED_TURN, row->l == 1 ? 2 : row->k, carrier}
               : (yoke_row){YOKE_ROW_CARRIED, row->k, carrier};
  return true;
}

static void set_axes(const yoke_link *link, const yoke_pose *poses, yoke_link_state *out) {
  for (int side = 0; side < 2; ++side) {
    const double *R = poses[link->node[side]].R, *A = link->axes[side];
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) {
        out->e[side][k][i] = R[3 * i] * A[k] + R[3 * i + 1] * A[3 + k] + R[3 * i + 2] * A[6 + k];
      }
    }
  }
}

/* All but the axes. */
static void set_points(const yoke_link *link, const yoke_pose *poses, yoke_link_state *out) {
  double C[2][3], Cd[2][3], Cdd[2][3];
  for (int side = 0; side < 2; ++side) {
    const yoke_pose *pose = &poses[link->node[side]];
    mat3_apply(out->p[side], pose->R, link->origin[side]);
    vec3_copy(out->v[side], pose->v);
    vec3_copy(out->w[side], pose->w);
    double wp[3];
    vec3_cross(wp, pose->w, out->p[side]);
    vec3_cross(Cdd[side], pose->w, wp);
    for (int i = 0; i < 3; ++i) {
      C[side][i]  = pose->r[i] + out->p[side][i];
      Cd[side][i] = pose->v[i] + wp[i];
    }
  }
  for (int i = 0; i < 3; ++i) {
    out->D[i]   = C[0][i] - C[1][i];
    out->Dd[i]  = Cd[0][i] - Cd[1][i];
    out->Ddd[i] = Cdd[0][i] - Cdd[1][i];
    out->C[i]   = C[0][i];
    out->Cd[i]  = Cd[0][i];
    out->Cdd[i] = Cdd[0][i];
  }
  out->turn = poses[link->node[1]].angle - poses[link->node[0]].angle;
}

void yoke_link_state_set(const yoke_link *link, const yoke_pose *poses, yoke_link_state *out) {
  set_points(link, poses, out);
  set_axes(link, poses, out);
}

void yoke_link_state_for(const yoke_link *link, int n, const yoke_row *rows, const yoke_pose *poses,
                         yoke_link_state *out) {
  const unsigned bare = 1u << YOKE_ROW_POINT | 1u << YOKE_ROW_STRETCH | 1u << YOKE_ROW_DISTANCE | 1u << YOKE_ROW_TURN;
  set_points(link, poses, out);
  for (int i = n - 1; i >= 0; --i) { /* rows of axes stand behind those of points */
    if ((bare >> rows[i].kind & 1u) != 0u) continue;
    set_axes(link, poses, out);
    return;
  }
}

/* ---- rows without effect ---- */

static double pseudo_random(uint32_t *seed) { /* in (-1, 1) */
  *seed = *seed * 1664525u + 1013904223u;
  return ((double)(*seed >> 8) + 0.5) / 8388608.0 - 1.0;
}

/* Somewhere among the places that the freedoms of the shape allow. */
static void random_pose(const yoke_port_shape *shape, uint32_t *seed, yoke_pose *pose) {
  const unsigned freedoms = shape != NULL ? yoke_shape_freedoms(shape) : 0u;
  double         q[4]     = {0.5, 0.0, 0.0, 0.0};
  memset(pose, 0, sizeof *pose);
  for (int i = 0; i < 3; ++i) {
    if ((freedoms >> i & 1u) != 0u) pose->r[i] = pseudo_random(seed);
    if ((freedoms >> (3 + i) & 1u) != 0u) q[1 + i] = pseudo_random(seed);
  }
  quaternion_rotation(pose->R, q);
}

/* Largest part of a gradient that moves a freedom of the shape. */
static double kept_size(const yoke_port_shape *shape, const double *g) {
  double size = 0.0;
  for (int k = 0; shape != NULL && k < shape->n_v; ++k) size = fmax(size, fabs(g[shape->v[k].freedom]));
  return size;
}

bool yoke_row_is_idle(const yoke_row *row, const yoke_link *link, const yoke_port_shape *const shape[2]) {
  static const double zero  = 1e-9; /* unit lengths */
  yoke_link           local = *link;
  uint32_t            seed  = 12345u;
  local.node[0]             = 0;
  local.node[1]             = 1;
  for (int trial = 0; trial < 3; ++trial) {
    yoke_pose       pose[2];
    yoke_link_state state;
    double          grad[12];
    for (int side = 0; side < 2; ++side) random_pose(shape[side], &seed, &pose[side]);
    yoke_link_state_set(&local, pose, &state);
    yoke_row_gradient(row, &state, grad);
    for (int side = 0; side < 2; ++side) {
      if (kept_size(shape[side], grad + 6 * side) > zero) return false;
    }
  }
  return true;
}

double yoke_row_rate(const double grad[12], const yoke_link_state *x) {
  return vec3_dot(grad, x->v[0]) + vec3_dot(grad + 3, x->w[0]) + vec3_dot(grad + 6, x->v[1]) +
         vec3_dot(grad + 9, x->w[1]);
}

static void set_gradient(double grad[12], const double n[3], const double t1[3], const double t2[3]) {
  for (int i = 0; i < 3; ++i) {
    grad[i]     = n[i];
    grad[3 + i] = t1[i];
    grad[6 + i] = -n[i];
    grad[9 + i] = t2[i];
  }
}

/* s = D . n with a fixed inertial direction n. */
static double point_gradient(const yoke_link_state *x, const double n[3], double grad[12]) {
  double t1[3], t2[3];
  vec3_cross(t1, x->p[0], n);
  vec3_cross(t2, n, x->p[1]);
  set_gradient(grad, n, t1, t2);
  return vec3_dot(x->D, n);
}

/* s = (C_a - C_b) . e, e fixed on body b; side a is `a`. */
static double inplane_gradient(const yoke_link_state *x, int a, const double e[3], double grad[12]) {
  const int    b    = 1 - a;
  const double sign = a == 0 ? 1.0 : -1.0;
  double      *ga = grad + 6 * a, *gb = grad + 6 * b;
  double       B[3]; /* C_a - r_b */
  for (int i = 0; i < 3; ++i) {
    B[i]  = sign * x->D[i] + x->p[b][i];
    ga[i] = e[i];
    gb[i] = -e[i];
  }
  vec3_cross(ga + 3, x->p[a], e);
  vec3_cross(gb + 3, e, B);
  return sign * vec3_dot(x->D, e);
}

/* s = C1 . e, e fixed on body 2. */
static double slope_gradient(const yoke_link_state *x, const double e[3], double grad[12]) {
  for (int i = 0; i < 3; ++i) {
    grad[i]     = e[i];
    grad[6 + i] = 0.0;
  }
  vec3_cross(grad + 3, x->p[0], e);
  vec3_cross(grad + 9, e, x->C);
  return vec3_dot(x->C, e);
}

static double distance_gradient(const yoke_link_state *x, double grad[12]) {
  const double L    = vec3_norm(x->D);
  double       n[3] = {0.0, 0.0, 0.0};
  if (L > 0.0) vec3_set(n, x->D[0] / L, x->D[1] / L, x->D[2] / L);
  point_gradient(x, n, grad);
  return L;
}

/* What the angle row needs: a = x1.x2, b = y1.x2, their torque vectors, rho^2 = a^2 + b^2. */
typedef struct angle_parts {
  double a, b, inverse; /* 1 / rho^2, 0 where the angle is undefined */
  double ta[3], tb[3], t1[3];
} angle_parts;

static void angle_set(const yoke_link_state *x, angle_parts *p) {
  p->a              = vec3_dot(x->e[0][0], x->e[1][0]);
  p->b              = vec3_dot(x->e[0][1], x->e[1][0]);
  const double rho2 = p->a * p->a + p->b * p->b;
  p->inverse        = rho2 > 0.0 ? 1.0 / rho2 : 0.0;
  vec3_cross(p->ta, x->e[0][0], x->e[1][0]);
  vec3_cross(p->tb, x->e[0][1], x->e[1][0]);
  for (int i = 0; i < 3; ++i) p->t1[i] = (p->a * p->tb[i] - p->b * p->ta[i]) * p->inverse;
}

/* Rotation vector theta = k(q0) qv of the relative Euler parameters (q0, qv), q0 >= 0, k = 2 acos(q0) / |qv|, with
 * k' = dk/dq0 and k''. A small rotation psi (axes of frame 1) of frame 2 against frame 1 gives
 *   dq0 = -psi.qv / 2,  dqv = (q0 psi + psi x qv) / 2. */
typedef struct rotation_parts {
  double q0, qv[3], k, k1, k2;
} rotation_parts;

static void rotation_set(const yoke_link_state *x, rotation_parts *r) {
  double R[9], q[4];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) R[3 * i + j] = vec3_dot(x->e[0][i], x->e[1][j]);
  }
  quaternion_of_rotation(q, R);
  r->q0 = q[0];
  vec3_copy(r->qv, q + 1);
  const double s2 = vec3_dot(r->qv, r->qv);
  if (s2 < 1e-4) {
    r->k  = 2.0 + s2 * (1.0 / 3.0 + s2 * (3.0 / 20.0 + s2 * (5.0 / 56.0)));
    r->k1 = -2.0 / 3.0 - s2 * (4.0 / 15.0 + s2 * (16.0 / 105.0));
    r->k2 = 8.0 / 15.0 + s2 * (12.0 / 35.0);
  } else {
    const double s = sqrt(s2);
    r->k           = 2.0 * atan2(s, r->q0) / s;
    r->k1          = (r->k * r->q0 - 2.0) / s2;
    r->k2          = (3.0 * r->k1 * r->q0 + r->k) / s2;
  }
}

/* d theta_k / d psi in axes of frame 1. */
static void rotation_direction(const rotation_parts *r, int k, double g[3]) {
  double e[3] = {0.0, 0.0, 0.0}, c[3];
  e[k]        = 1.0;
  vec3_cross(c, r->qv, e);
  for (int i = 0; i < 3; ++i) g[i] = 0.5 * (-r->k1 * r->qv[k] * r->qv[i] + r->k * (r->q0 * e[i] + c[i]));
}

/* Components in frame 1 to inertial axes. */
static void from_frame_1(const yoke_link_state *x, const double g[3], double y[3]) {
  for (int i = 0; i < 3; ++i) y[i] = x->e[0][0][i] * g[0] + x->e[0][1][i] * g[1] + x->e[0][2][i] * g[2];
}

double yoke_row_gradient(const yoke_row *row, const yoke_link_state *x, double grad[12]) {
  double n[3] = {0.0, 0.0, 0.0}, t1[3], t2[3];
  switch (row->kind) {
  case YOKE_ROW_POINT: n[row->k] = 1.0; return point_gradient(x, n, grad);
  case YOKE_ROW_STRETCH: n[0] = -1.0; return point_gradient(x, n, grad);
  case YOKE_ROW_CARRIED: (void)point_gradient(x, x->e[row->l][row->k], grad); return 0.0;
  case YOKE_ROW_CARRIED_TURN:
    for (int i = 0; i < 3; ++i) t2[i] = -x->e[row->l][row->k][i];
    set_gradient(grad, n, x->e[row->l][row->k], t2);
    return 0.0;
  case YOKE_ROW_INPLANE: return inplane_gradient(x, 0, x->e[1][row->l], grad);
  case YOKE_ROW_SLOPE: return slope_gradient(x, x->e[1][row->l], grad);
  case YOKE_ROW_ALONG: return inplane_gradient(x, 1, x->e[0][row->k], grad);
  case YOKE_ROW_PERPENDICULAR:
    vec3_cross(t1, x->e[0][row->k], x->e[1][row->l]);
    vec3_set(t2, -t1[0], -t1[1], -t1[2]);
    set_gradient(grad, n, t1, t2);
    return vec3_dot(x->e[0][row->k], x->e[1][row->l]);
  case YOKE_ROW_DISTANCE: return distance_gradient(x, grad);
  case YOKE_ROW_ANGLE: {
    angle_parts p;
    angle_set(x, &p);
    vec3_set(t2, -p.t1[0], -p.t1[1], -p.t1[2]);
    set_gradient(grad, n, p.t1, t2);
    return atan2(p.b, p.a);
  }
  case YOKE_ROW_TURN:
    vec3_set(t1, 0.0, 0.0, -1.0);
    vec3_set(t2, 0.0, 0.0, 1.0);
    set_gradient(grad, n, t1, t2);
    return x->turn;
  case YOKE_ROW_ROTATION: {
    rotation_parts r;
    double         g[3];
    rotation_set(x, &r);
    rotation_direction(&r, row->k, g);
    from_frame_1(x, g, t2);
    vec3_set(t1, -t2[0], -t2[1], -t2[2]);
    set_gradient(grad, n, t1, t2);
    return r.k * r.qv[row->k];
  }
  }
  return 0.0;
}

/* e.Ddd + 2 e'.Dd + e''.D for an axis e that turns with w. */
static double turning_gamma(const double D[3], const double Dd[3], const double Ddd[3], const double e[3],
                            const double w[3]) {
  double e1[3], e2[3];
  vec3_cross(e1, w, e);
  vec3_cross(e2, w, e1);
  return vec3_dot(Ddd, e) + 2.0 * vec3_dot(Dd, e1) + vec3_dot(D, e2);
}

/* Rate and second rate (without accelerations) of e1_k . e2_l. */
static void cosine_rates(const yoke_link_state *x, int k, int l, double *rate, double *gamma) {
  const double *a = x->e[0][k], *b = x->e[1][l];
  double        a1[3], a2[3], b1[3], b2[3];
  vec3_cross(a1, x->w[0], a);
  vec3_cross(a2, x->w[0], a1);
  vec3_cross(b1, x->w[1], b);
  vec3_cross(b2, x->w[1], b1);
  *rate  = vec3_dot(a1, b) + vec3_dot(a, b1);
  *gamma = vec3_dot(a2, b) + 2.0 * vec3_dot(a1, b1) + vec3_dot(a, b2);
}

double yoke_row_gamma(const yoke_row *row, const yoke_link_state *x) {
  double rate, gamma;
  switch (row->kind) {
  case YOKE_ROW_POINT: return x->Ddd[row->k];
  case YOKE_ROW_STRETCH: return -x->Ddd[0];
  case YOKE_ROW_INPLANE: return turning_gamma(x->D, x->Dd, x->Ddd, x->e[1][row->l], x->w[1]);
  case YOKE_ROW_ALONG: return -turning_gamma(x->D, x->Dd, x->Ddd, x->e[0][row->k], x->w[0]);
  case YOKE_ROW_SLOPE: return turning_gamma(x->C, x->Cd, x->Cdd, x->e[1][row->l], x->w[1]);
  case YOKE_ROW_PERPENDICULAR: cosine_rates(x, row->k, row->l, &rate, &gamma); return gamma;
  case YOKE_ROW_DISTANCE: {
    const double L = vec3_norm(x->D);
    if (!(L > 0.0)) return 0.0;
    const double Ld = vec3_dot(x->D, x->Dd) / L;
    return (vec3_dot(x->D, x->Ddd) + vec3_dot(x->Dd, x->Dd) - Ld * Ld) / L;
  }
  case YOKE_ROW_ANGLE: { /* phi' = (a b' - b a') / rho^2, phi'' = (a b'' - b a'' - 2 phi' (a a' + b b')) / rho^2 */
    angle_parts p;
    double      a1, a2, b1, b2;
    angle_set(x, &p);
    cosine_rates(x, 0, 0, &a1, &a2);
    cosine_rates(x, 1, 0, &b1, &b2);
    const double phi1 = (p.a * b1 - p.b * a1) * p.inverse;
    return (p.a * b2 - p.b * a2 - 2.0 * phi1 * (p.a * a1 + p.b * b1)) * p.inverse;
  }
  case YOKE_ROW_TURN:
  case YOKE_ROW_ROTATION:
  case YOKE_ROW_CARRIED:
  case YOKE_ROW_CARRIED_TURN: return 0.0;
  }
  return 0.0;
}

static void block_add(double *H, int row, int column, double s, const double M[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) H[12 * (row + i) + column + j] += s * M[3 * i + j];
  }
}

/* block += s [a]x [b]x */
static void block_cross_cross(double *H, int row, int column, double s, const double a[3], const double b[3]) {
  double M[9];
  mat3_cross_cross(M, a, b);
  block_add(H, row, column, s, M);
}

static void block_cross(double *H, int row, int column, double s, const double a[3]) {
  double M[9];
  mat3_cross(M, a);
  block_add(H, row, column, s, M);
}

static void block_outer(double *H, int row, int column, double s, const double a[3], const double b[3]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) H[12 * (row + i) + column + j] += s * a[i] * b[j];
  }
}

/* t1 = p1 x n, t2 = n x p2, n fixed. */
static void point_hessian(const yoke_link_state *x, const double n[3], double f, double *H) {
  block_cross_cross(H, 3, 3, f, n, x->p[0]);
  block_cross_cross(H, 9, 9, -f, n, x->p[1]);
}

/* The same with n = e fixed on body `b`: dn = dphi_b x n. */
static void carried_hessian(const yoke_link_state *x, int b, const double n[3], double f, double *H) {
  const int by = 6 * b + 3;
  point_hessian(x, n, f, H);
  block_cross(H, 0, by, -f, n);
  block_cross_cross(H, 3, by, -f, x->p[0], n);
  block_cross(H, 6, by, f, n);
  block_cross_cross(H, 9, by, f, x->p[1], n);
}

/* n = e, t_a = p_a x e, t_b = e x B, with de = dphi_b x e and dB = dr_a - [p_a] dphi_a - dr_b. */
static void inplane_hessian(const yoke_link_state *x, int a, const double e[3], double f, double *H) {
  const int    b = 1 - a, ra = 6 * a, rb = 6 * b;
  const double sign = a == 0 ? 1.0 : -1.0;
  double       B[3];
  for (int i = 0; i < 3; ++i) B[i] = sign * x->D[i] + x->p[b][i];
  block_cross(H, ra, rb + 3, -f, e);
  block_cross(H, rb, rb + 3, f, e);
  block_cross_cross(H, ra + 3, ra + 3, f, e, x->p[a]);
  block_cross_cross(H, ra + 3, rb + 3, -f, x->p[a], e);
  block_cross(H, rb + 3, ra, f, e);
  block_cross_cross(H, rb + 3, ra + 3, -f, e, x->p[a]);
  block_cross(H, rb + 3, rb, -f, e);
  block_cross_cross(H, rb + 3, rb + 3, f, B, e);
}

/* n = e, t1 = p1 x e, t2 = e x C1, with de = dphi2 x e and dC1 = dr1 - [p1] dphi1. */
static void slope_hessian(const yoke_link_state *x, const double e[3], double f, double *H) {
  block_cross(H, 0, 9, -f, e);
  block_cross_cross(H, 3, 3, f, e, x->p[0]);
  block_cross_cross(H, 3, 9, -f, x->p[0], e);
  block_cross(H, 9, 0, f, e);
  block_cross_cross(H, 9, 3, -f, e, x->p[0]);
  block_cross_cross(H, 9, 9, f, x->C, e);
}

/* Gradient with n = D / L: the part of fixed n, and dn = (I - n n^T) / L dD. */
static void distance_hessian(const yoke_link_state *x, double f, double *H) {
  const double L = vec3_norm(x->D);
  if (!(L > 0.0)) return;
  double n[3], P[9], cross[2][9], columns[4][9]; /* dD = sum of columns */
  vec3_set(n, x->D[0] / L, x->D[1] / L, x->D[2] / L);
  point_hessian(x, n, f, H);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) P[3 * i + j] = ((i == j ? 1.0 : 0.0) - n[i] * n[j]) / L;
  }
  mat3_cross(cross[0], x->p[0]);
  mat3_cross(cross[1], x->p[1]);
  memcpy(columns[0], P, sizeof P);
  mat3_multiply(columns[1], P, cross[0]);
  mat3_multiply(columns[3], P, cross[1]);
  for (int i = 0; i < 9; ++i) {
    columns[1][i] = -columns[1][i];
    columns[2][i] = -P[i];
  }
  for (int c = 0; c < 4; ++c) {
    double M[9];
    block_add(H, 0, 3 * c, f, columns[c]);
    block_add(H, 6, 3 * c, -f, columns[c]);
    mat3_multiply(M, cross[0], columns[c]);
    block_add(H, 3, 3 * c, f, M);
    mat3_multiply(M, cross[1], columns[c]);
    block_add(H, 9, 3 * c, -f, M);
  }
}

/* t1 = e1 x e2 = -t2. */
static void cosine_hessian(double *H, const double e1[3], const double e2[3], double f) {
  for (int side = 0; side < 2; ++side) {
    const double s = side == 0 ? f : -f;
    block_cross_cross(H, 3 + 6 * side, 3, s, e2, e1);
    block_cross_cross(H, 3 + 6 * side, 9, -s, e1, e2);
  }
}

/* t1 = (a tb - b ta) / rho^2 with da = ta.(dphi1 - dphi2), db = tb.(dphi1 - dphi2). */
static void angle_hessian(const yoke_link_state *x, double f, double *H) {
  angle_parts p;
  angle_set(x, &p);
  cosine_hessian(H, x->e[0][1], x->e[1][0], f * p.a * p.inverse);
  cosine_hessian(H, x->e[0][0], x->e[1][0], -f * p.b * p.inverse);
  double drho2[3];
  for (int i = 0; i < 3; ++i) drho2[i] = 2.0 * (p.a * p.ta[i] + p.b * p.tb[i]);
  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 2; ++c) {
      const double s = (r == c ? f : -f) * p.inverse;
      block_outer(H, 3 + 6 * r, 3 + 6 * c, s, p.tb, p.ta);
      block_outer(H, 3 + 6 * r, 3 + 6 * c, -s, p.ta, p.tb);
      block_outer(H, 3 + 6 * r, 3 + 6 * c, -s, p.t1, drho2);
    }
  }
}

/* t2 = R1 g_k = -t1: dt2 = dphi1 x t2 + R1 (dg_k/dpsi) R1^T (dphi2 - dphi1). */
static void rotation_hessian(const yoke_link_state *x, int k, double f, double *H) {
  rotation_parts r;
  double         g[3], t2[3], dg[9], R1[9], M[9], N[9];
  rotation_set(x, &r);
  rotation_direction(&r, k, g);
  from_frame_1(x, g, t2);
  for (int j = 0; j < 3; ++j) { /* column j: psi = unit vector j */
    double psi[3] = {0.0, 0.0, 0.0}, ek[3] = {0.0, 0.0, 0.0}, dqv[3], c1[3], c2[3];
    psi[j] = 1.0;
    ek[k]  = 1.0;
    vec3_cross(dqv, psi, r.qv);
    const double dq0 = -0.5 * r.qv[j];
    for (int i = 0; i < 3; ++i) dqv[i] = 0.5 * (r.q0 * psi[i] + dqv[i]);
    vec3_cross(c1, r.qv, ek);
    vec3_cross(c2, dqv, ek);
    for (int i = 0; i < 3; ++i) {
      dg[3 * i + j] = 0.5 * (-r.k2 * dq0 * r.qv[k] * r.qv[i] - r.k1 * (dqv[k] * r.qv[i] + r.qv[k] * dqv[i]) +
                             r.k1 * dq0 * (r.q0 * ek[i] + c1[i]) + r.k * (dq0 * ek[i] + c2[i]));
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) R1[3 * i + j] = x->e[0][j][i];
  }
  mat3_multiply(M, R1, dg);
  for (int i = 0; i < 3; ++i) { /* N = M R1^T */
    for (int j = 0; j < 3; ++j)
      N[3 * i + j] = M[3 * i] * R1[3 * j] + M[3 * i + 1] * R1[3 * j + 1] + M[3 * i + 2] * R1[3 * j + 2];
  }
  for (int side = 0; side < 2; ++side) {
    const double s = side == 1 ? f : -f;
    block_cross(H, 3 + 6 * side, 3, -s, t2);
    block_add(H, 3 + 6 * side, 3, -s, N);
    block_add(H, 3 + 6 * side, 9, s, N);
  }
}

void yoke_row_hessian_add(const yoke_row *row, const yoke_link_state *x, double factor, double H[144]) {
  double n[3] = {0.0, 0.0, 0.0};
  switch (row->kind) {
  case YOKE_ROW_POINT:
    n[row->k] = 1.0;
    point_hessian(x, n, factor, H);
    break;
  case YOKE_ROW_STRETCH:
    n[0] = -1.0;
    point_hessian(x, n, factor, H);
    break;
  case YOKE_ROW_INPLANE: inplane_hessian(x, 0, x->e[1][row->l], factor, H); break;
  case YOKE_ROW_ALONG: inplane_hessian(x, 1, x->e[0][row->k], factor, H); break;
  case YOKE_ROW_SLOPE: slope_hessian(x, x->e[1][row->l], factor, H); break;
  case YOKE_ROW_PERPENDICULAR: cosine_hessian(H, x->e[0][row->k], x->e[1][row->l], factor); break;
  case YOKE_ROW_DISTANCE: distance_hessian(x, factor, H); break;
  case YOKE_ROW_ANGLE: angle_hessian(x, factor, H); break;
  case YOKE_ROW_TURN: break;
  case YOKE_ROW_ROTATION: rotation_hessian(x, row->k, factor, H); break;
  case YOKE_ROW_CARRIED: carried_hessian(x, row->l, x->e[row->l][row->k], factor, H); break;
  case YOKE_ROW_CARRIED_TURN:
    block_cross(H, 3, 6 * row->l + 3, -factor, x->e[row->l][row->k]);
    block_cross(H, 9, 6 * row->l + 3, factor, x->e[row->l][row->k]);
    break;
  }
}

/* V^T H, and the turning of w with its body: t.(dphi x w) = dphi.(w x t). */
void yoke_row_rate_gradient(const yoke_row *row, const yoke_link_state *x, const double grad[12], double h[12]) {
  double H[144] = {0.0}, V[12];
  yoke_row_hessian_add(row, x, 1.0, H);
  for (int side = 0; side < 2; ++side) {
    vec3_copy(V + 6 * side, x->v[side]);
    vec3_copy(V + 6 * side + 3, x->w[side]);
  }
  for (int c = 0; c < 12; ++c) {
    h[c] = 0.0;
    for (int r = 0; r < 12; ++r) h[c] += V[r] * H[12 * r + c];
  }
  vec3_add_cross(h + 3, 1.0, x->w[0], grad + 3);
  vec3_add_cross(h + 9, 1.0, x->w[1], grad + 9);
}
