#include "model/loads.h"

#include "linalg/space.h"
#include <string.h>

enum { LARGEST_EXPONENT = 700 }; /* exp(700) is finite with room for the amplitude */

static double value_of(const yoke_load *load, int k, const double *variables) {
  return load->value[k] == NULL ? 0.0 : yoke_expression_evaluate(load->value[k], variables, NULL);
}

void yoke_load_direction(const yoke_load_element *el, const yoke_pose *poses, int k, double direction[6]) {
  const yoke_pose *pose = &poses[el->node];
  double           d[3] = {0.0, 0.0, 0.0}, p[3];
  if (el->load->follower) {
    const double axis[3] = {el->axes[k], el->axes[3 + k], el->axes[6 + k]};
    mat3_apply(d, pose->R, axis);
  } else {
    d[k] = 1.0;
  }
  memset(direction, 0, 6 * sizeof *direction);
  if (el->load->kind == YOKE_LOAD_TORQUE) {
    vec3_copy(direction + 3, d);
  } else {
    mat3_apply(p, pose->R, el->origin);
    vec3_copy(direction, d);
    vec3_cross(direction + 3, p, d);
  }
}

/* Position s of the frame along the contact direction. */
static double contact_position(const yoke_load_element *el, const yoke_pose *pose, double p[3]) {
  mat3_apply(p, pose->R, el->origin);
  return vec3_dot(pose->r, el->load->direction) + vec3_dot(p, el->load->direction);
}

/* Of the frame's origin, which is p from the body's own. */
static void velocity_of(const yoke_load_element *el, const yoke_pose *pose, double p[3], double c[3]) {
  mat3_apply(p, pose->R, el->origin);
  vec3_cross(c, pose->w, p);
  vec3_add(c, 1.0, pose->v);
}

/* Wrench of one load; false when it is not finite. */
static bool evaluate(const yoke_load_element *el, const yoke_pose *poses, const double *variables, double f[6]) {
  const yoke_load *load = el->load;
  const yoke_pose *pose = &poses[el->node];
  double           p[3], direction[6], c[3];
  memset(f, 0, 6 * sizeof *f);
  switch (load->kind) {
  case YOKE_LOAD_FORCE:
  case YOKE_LOAD_TORQUE:
    for (int k = 0; k < 3; ++k) {
      if (load->value[k] == NULL) continue;
      const double value = value_of(load, k, variables);
      if (!isfinite(value)) return false;
      yoke_load_direction(el, poses, k, direction);
      for (int i = 0; i < 6; ++i) f[i] += value * direction[i];
    }
    return true;
  case YOKE_LOAD_DRAG: {
    velocity_of(el, pose, p, c);
    const double factor = -load->drag_linear - load->drag_quadratic * vec3_norm(c);
    vec3_add(f, factor, c);
    vec3_cross(f + 3, p, f);
    vec3_add(f + 3, -load->drag_rotational, pose->w);
    return true;
  }
  case YOKE_LOAD_CONTACT: {
    const double exponent = load->slope * contact_position(el, pose, p);
    if (!(exponent <= LARGEST_EXPONENT)) return false;
    vec3_add(f, load->amplitude * exp(exponent), load->direction);
    vec3_cross(f + 3, p, f);
    return true;
  }
  }
  return true;
}

yoke_status yoke_load_apply(const yoke_load_element *el, const yoke_pose *poses, const double *variables,
                            double *wrench) {
  double f[6];
  if (!evaluate(el, poses, variables, f)) return YOKE_NON_FINITE;
  for (int i = 0; i < 6; ++i) wrench[6 * el->node + i] += f[i];
  return YOKE_OK;
}

static void block6_add(double *A, int row, int column, double s, const double M[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) A[6 * (row + i) + column + j] += s * M[3 * i + j];
  }
}

/* M = p x F with dp = dphi x p and dF given by 3x3 blocks dF_r, dF_phi: dM = [F][p] dphi + [p] dF. */
static void point_force_jacobian(double *K, const double p[3], const double F[3], const double dF_r[9],
                                 const double dF_phi[9]) {
  double P[9], M[9];
  mat3_cross(P, p);
  block6_add(K, 0, 0, 1.0, dF_r);
  block6_add(K, 0, 3, 1.0, dF_phi);
  mat3_multiply(M, P, dF_r);
  block6_add(K, 3, 0, 1.0, M);
  mat3_multiply(M, P, dF_phi);
  block6_add(K, 3, 3, 1.0, M);
  if (F != NULL) {
    mat3_cross_cross(M, F, p);
    block6_add(K, 3, 3, 1.0, M);
  }
}

/* F = c(|v_C|) v_C with v_C = v + w x p; dv_C = dv - [p] dw + w x (dphi x p), dw = dphi x w + R domega. */
static void drag_jacobian(const yoke_load_element *el, const yoke_pose *pose, const double F[3], double *K, double *D) {
  double p[3], c[3], P[9], W[9], A[9], B[9], dF_v[9], dF_phi[9], M[9];
  mat3_apply(p, pose->R, el->origin);
  vec3_cross(c, pose->w, p);
  vec3_add(c, 1.0, pose->v);
  const double speed = vec3_norm(c);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      dF_v[3 * i + j] = i == j ? -el->load->drag_linear - el->load->drag_quadratic * speed : 0.0;
      if (speed > 0.0) dF_v[3 * i + j] -= el->load->drag_quadratic * c[i] * c[j] / speed;
    }
  }
  mat3_cross(P, p);
  mat3_cross(W, pose->w);
  mat3_multiply(A, P, W); /* dphi part of dv_C: [p][w] - [w][p] */
  mat3_multiply(B, W, P);
  for (int i = 0; i < 9; ++i) A[i] -= B[i];
  mat3_multiply(dF_phi, dF_v, A);
  const double none[9] = {0.0};
  point_force_jacobian(K, p, F, none, dF_phi);
  mat3_multiply(M, dF_v, P);
  for (int i = 0; i < 9; ++i) M[i] = -M[i];
  point_force_jacobian(D, p, NULL, dF_v, M);
  block6_add(K, 3, 3, el->load->drag_rotational, W); /* -k dw, dw = -[w] dphi + R domega */
  for (int i = 3; i < 6; ++i) D[7 * i] -= el->load->drag_rotational;
}

void yoke_load_jacobian(const yoke_load_element *el, const yoke_pose *poses, const double *variables, double f[6],
                        double K[36], double D[36]) {
  const yoke_load *load = el->load;
  const yoke_pose *pose = &poses[el->node];
  double           p[3], A[9], B[9] = {0.0};
  memset(K, 0, 36 * sizeof *K);
  memset(D, 0, 36 * sizeof *D);
  if (!evaluate(el, poses, variables, f)) return;
  mat3_apply(p, pose->R, el->origin);
  switch (load->kind) {
  case YOKE_LOAD_FORCE: /* follower: dF = dphi x F */
    memset(A, 0, sizeof A);
    if (load->follower) mat3_cross(A, f);
    for (int i = 0; i < 9; ++i) A[i] = -A[i];
    point_force_jacobian(K, p, f, B, A);
    break;
  case YOKE_LOAD_TORQUE:
    mat3_cross(A, f + 3);
    if (load->follower) block6_add(K, 3, 3, -1.0, A);
    break;
  case YOKE_LOAD_DRAG: drag_jacobian(el, pose, f, K, D); break;
  case YOKE_LOAD_CONTACT: { /* dF = B F (d . (dr - [p] dphi)) */
    double P[9];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) B[3 * i + j] = load->slope * f[i] * load->direction[j];
    }
    mat3_cross(P, p);
    mat3_multiply(A, B, P);
    for (int i = 0; i < 9; ++i) A[i] = -A[i];
    point_force_jacobian(K, p, f, B, A);
    break;
  }
  }
}

void yoke_load_energy(const yoke_load_element *el, const yoke_pose *poses, double *potential) {
  double f[6], p[3];
  if (el->load->kind != YOKE_LOAD_CONTACT || !evaluate(el, poses, NULL, f)) return;
  /* F = A exp(B s): U = -A / B exp(B s); a constant force when B = 0. */
  const double s = contact_position(el, &poses[el->node], p), A = el->load->amplitude, B = el->load->slope;
  *potential -= B != 0.0 ? A / B * exp(B * s) : A * s;
}

void yoke_load_powers(const yoke_load_element *el, const yoke_pose *poses, const double *variables,
                      double *power_dissipated, double *power_external) {
  const yoke_load *load = el->load;
  const yoke_pose *pose = &poses[el->node];
  double           f[6], p[3], c[3];
  if (load->kind == YOKE_LOAD_DRAG) { /* the force is along the velocity of the frame's origin, the moment along w */
    velocity_of(el, pose, p, c);
    const double factor = load->drag_linear + (load->drag_quadratic != 0.0 ? load->drag_quadratic * vec3_norm(c) : 0.0);
    *power_dissipated += factor * vec3_dot(c, c) + load->drag_rotational * vec3_dot(pose->w, pose->w);
  } else if (load->kind != YOKE_LOAD_CONTACT && evaluate(el, poses, variables, f)) {
    *power_external += vec3_dot(f, pose->v) + vec3_dot(f + 3, pose->w);
  }
}
