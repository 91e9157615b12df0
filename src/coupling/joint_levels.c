#include "coupling/joint_levels.h"

#include "linalg/space.h"
#include <math.h>
#include <string.h>

void yoke_joint_frames_set(const yoke_joint_element *joint, const yoke_port_shape *const shape[2],
                           const double *const y[2], yoke_joint_frames *out) {
  yoke_pose poses[2];
  for (int s = 0; s < 2; ++s) {
    const double *v = y[s] + yoke_shape_at_v(shape[s]), *a = y[s] + yoke_shape_at_a(shape[s]);
    yoke_shape_pose(shape[s], y[s], v, &poses[s]);
    yoke_shape_spread(shape[s], v, out->V + 6 * s);
    yoke_shape_spread(shape[s], a, out->A + 6 * s);
  }
  yoke_link_state_for(&joint->link, joint->n, joint->row, poses, &out->link);
}

double yoke_joint_row_share(const yoke_joint_element *joint, const yoke_port_shape *const shape[2],
                            const double *const y[2], int own, int side, bool with_gamma) {
  yoke_joint_frames x;
  double            grad[12], sum = 0.0;
  yoke_joint_frames_set(joint, shape, y, &x);
  for (int i = 0; i < joint->n; ++i) {
    if (joint->own[i] != own) continue;
    (void)yoke_row_gradient(&joint->row[i], &x.link, grad);
    for (int k = 6 * side; k < 6 * side + 6; ++k) sum += grad[k] * x.A[k];
    if (with_gamma) sum += yoke_row_gamma(&joint->row[i], &x.link);
  }
  return sum;
}

/* Force or moment [3] on side 1 of all rows that are carried as `kind`, carried rows for own ones if `is_carried`. */
static void sum_wrench(const yoke_joint_element *joint, const yoke_link_state *x, yoke_row_kind kind, bool is_carried,
                       const double *force, double sum[3]) {
  const int at = kind == YOKE_ROW_CARRIED ? 0 : 3;
  memset(sum, 0, 3 * sizeof *sum);
  for (int i = 0; i < joint->n; ++i) {
    yoke_row carried;
    double   grad[12];
    if (!yoke_row_carried(&joint->row[i], joint->carrier - 1, &carried) || carried.kind != kind) continue;
    (void)yoke_row_gradient(is_carried ? &carried : &joint->row[i], x, grad);
    for (int k = 0; k < 3; ++k) sum[k] += force[joint->own[i]] * grad[at + k];
  }
}

/* Multiplier of a row of a closed joint that bears its share of a force or moment: of x1.z2 and y1.z2 they are -y1 and x1, of x1.y2 z1. */
static double own_share(const yoke_row *row, const yoke_link_state *x, const double z[3]) {
  if (row->kind == YOKE_ROW_POINT) return z[row->k];
  if (row->l == 1) return vec3_dot(z, x->e[0][2]);
  return row->k == 0 ? -vec3_dot(z, x->e[0][1]) : vec3_dot(z, x->e[0][0]);
}

void yoke_joint_turn_force(const yoke_joint_element *joint, const yoke_port_shape *const shape[2],
                           const double *const y[2], bool is_back, double *force) {
  yoke_pose       poses[2];
  yoke_link_state x;
  double          sum[2][3];
  if (joint->carrier == 0) return;
  for (int s = 0; s < 2; ++s) yoke_shape_pose(shape[s], y[s], y[s] + yoke_shape_at_v(shape[s]), &poses[s]);
  yoke_link_state_set(&joint->link, poses, &x);
  sum_wrench(joint, &x, YOKE_ROW_CARRIED, !is_back, force, sum[0]);
  sum_wrench(joint, &x, YOKE_ROW_CARRIED_TURN, !is_back, force, sum[1]);
  for (int i = 0; i < joint->n; ++i) {
    yoke_row carried;
    if (!yoke_row_carried(&joint->row[i], joint->carrier - 1, &carried)) continue;
    const double *z      = sum[carried.kind == YOKE_ROW_CARRIED ? 0 : 1];
    force[joint->own[i]] = is_back ? vec3_dot(z, x.e[joint->carrier - 1][carried.k]) : own_share(&joint->row[i], &x, z);
  }
}

static double dot12(const double *a, const double *b) {
  double sum = 0.0;
  for (int k = 0; k < 12; ++k) sum += a[k] * b[k];
  return sum;
}

void yoke_joint_levels(const yoke_joint_element *joint, const yoke_port_shape *const shape[2], const double *const y[2],
                       double level[YOKE_JOINT_LEVELS][YOKE_JOINT_MAX_ROWS]) {
  yoke_joint_frames x;
  yoke_joint_frames_set(joint, shape, y, &x);
  for (int i = 0; i < joint->n; ++i) {
    const yoke_row *row = &joint->row[i];
    double          grad[12];
    level[0][i] = yoke_row_gradient(row, &x.link, grad) - joint->offset[i];
    level[1][i] = yoke_row_rate(grad, &x.link);
    level[2][i] = dot12(grad, x.A) + yoke_row_gamma(row, &x.link);
  }
}

void yoke_joint_reset_rows(const yoke_joint_element *joint, const yoke_port_shape *const shape[2],
                           const double *const y[2], yoke_reset_rows *out) {
  yoke_joint_frames x;
  yoke_joint_frames_set(joint, shape, y, &x);
  out->size = out->speed = 1e-300;
  for (int s = 0; s < 2; ++s) {
    const int n_p = shape[s]->n_p;
    for (int k = 0; k < n_p; ++k) out->size = fmax(out->size, fabs(y[s][k]));
    for (int k = 0; k < shape[s]->n_v; ++k) out->speed = fmax(out->speed, fabs(y[s][n_p + k]));
  }
  for (int i = 0; i < joint->n; ++i) {
    double grad[12];
    out->s[i]    = yoke_row_gradient(&joint->row[i], &x.link, grad) - joint->offset[i];
    out->rate[i] = yoke_row_rate(grad, &x.link);
    for (int s = 0; s < 2; ++s) {
      for (int k = 0; k < shape[s]->n_v; ++k) out->L[s][i][k] = grad[6 * s + shape[s]->v[k].freedom];
    }
  }
}

void yoke_joint_power(const yoke_joint_element *joint, const yoke_port_shape *const shape[2], const double *const y[2],
                      double *const force[2], double power[2]) {
  yoke_joint_frames x;
  yoke_joint_frames_set(joint, shape, y, &x);
  power[0] = power[1] = 0.0;
  for (int i = 0; i < joint->n; ++i) {
    double grad[12];
    (void)yoke_row_gradient(&joint->row[i], &x.link, grad);
    for (int s = 0; s < 2; ++s) {
      for (int k = 6 * s; k < 6 * s + 6; ++k) power[s] += force[s][joint->own[i]] * grad[k] * x.V[k];
    }
  }
}

/* The freedom along which a row is linear, wherever the frames are, whose origins are those of the ports; -1: it is not. */
static int freedom_of(const yoke_row *row, bool is_on_line) {
  if (row->kind == YOKE_ROW_POINT) return row->k;
  if (row->kind == YOKE_ROW_TURN) return 5;
  return is_on_line && row->kind != YOKE_ROW_DISTANCE ? 0 : -1;
}

void yoke_joint_line_set(const yoke_joint_element *joint, const yoke_port_shape *const shape[2], yoke_joint_line *out) {
  const bool is_on_line = shape[0] == &yoke_shape_line && shape[1] == &yoke_shape_line;
  *out                  = (yoke_joint_line){.is_such = joint->carrier == 0};
  for (int i = 0; i < joint->n; ++i) {
    static const yoke_pose at_rest[2] = {{.R = {[0] = 1.0, [4] = 1.0, [8] = 1.0}},
                                         {.R = {[0] = 1.0, [4] = 1.0, [8] = 1.0}}};
    const int              freedom    = freedom_of(&joint->row[i], is_on_line);
    yoke_link_state        x;
    double                 grad[12];
    out->is_such = out->is_such && freedom >= 0;
    if (!out->is_such) return;
    yoke_link_state_set(&joint->link, at_rest, &x);
    (void)yoke_row_gradient(&joint->row[i], &x, grad);
    for (int s = 0; s < 2; ++s) {
      const int v      = yoke_shape_component(shape[s], freedom);
      out->p[s][i]     = v >= 0 ? yoke_shape_coordinate(shape[s], v) : -1;
      out->v[s][i]     = yoke_shape_at_v(shape[s]) + v;
      out->slope[s][i] = grad[6 * s + freedom];
      out->is_such     = out->is_such && (v < 0 || out->p[s][i] >= 0);
    }
  }
}

/* With the Hessian H of the row (d grad = H dx): s_x = grad, s'_x = V H, s''_x = A H + gamma_x.
 * The gradient of gamma keeps w fixed in the bodies; fixed in space: gamma_x phi - gamma_w (phi x w). */
void yoke_row_level_slopes(const yoke_row *row, const yoke_joint_frames *f,
                           yoke_level_slopes level[YOKE_JOINT_LEVELS]) {
  double grad[12], gamma[24], H[144] = {0.0};
  memset(level, 0, YOKE_JOINT_LEVELS * sizeof *level);
  (void)yoke_row_gradient(row, &f->link, grad);
  yoke_row_hessian_add(row, &f->link, 1.0, H);
  yoke_rows_second_gradient(1, row, &f->link, NULL, &gamma);
  for (int s = 0; s < 2; ++s) vec3_add_cross(gamma + 6 * s + 3, -1.0, f->link.w[s], gamma + 12 + 6 * s + 3);
  for (int c = 0; c < 12; ++c) {
    level[0].x[c] = level[1].V[c] = level[2].A[c] = grad[c];
    level[2].x[c]                                 = gamma[c];
    level[2].V[c]                                 = gamma[12 + c];
    for (int r = 0; r < 12; ++r) {
      level[1].x[c] += f->V[r] * H[12 * r + c];
      level[2].x[c] += f->A[r] * H[12 * r + c];
    }
  }
}

void yoke_row_share_slopes(const yoke_row *row, const yoke_joint_frames *f, int side, yoke_level_slopes *out) {
  double grad[12], H[144] = {0.0};
  memset(out, 0, sizeof *out);
  (void)yoke_row_gradient(row, &f->link, grad);
  yoke_row_hessian_add(row, &f->link, 1.0, H);
  for (int r = 6 * side; r < 6 * side + 6; ++r) {
    out->A[r] = grad[r];
    for (int c = 0; c < 12; ++c) out->x[c] += f->A[r] * H[12 * r + c];
  }
}

void yoke_level_slopes_add(const yoke_port_shape *shape, int side, const double *L, double weight,
                           const yoke_level_slopes *slopes, double *dy) {
  const int np = shape->n_p, nv = shape->n_v;
  for (int k = 0; k < nv; ++k) {
    const int r = 6 * side + shape->v[k].freedom;
    for (int j = 0; j < np; ++j) dy[j] += weight * slopes->x[r] * L[k * np + j];
    dy[np + k] += weight * slopes->V[r];
    dy[np + nv + k] += weight * slopes->A[r];
  }
}
