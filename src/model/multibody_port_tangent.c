/* Tangents of what ports show, and of the integrals of their positions.
 *
 * With c = R origin, w and alpha in inertial axes, and a small turn dphi that carries w and alpha along,
 *   dc = dphi x c,   dw = dphi x w + R domega,   dalpha = dphi x alpha + R domega',
 * the outputs C = r + c, C' = v + w x c, C'' = a + alpha x c + w x (w x c) change by
 *   dC   = dr - [c] dphi
 *   dC'  = dv + ([c][w] - [w][c]) dphi - [c] R domega
 *   dC'' = da + ([c][alpha] - [alpha][c] + [w x c][w] + [w][c][w] - [w][w][c]) dphi - ([w x c] + [w][c]) R domega - [c] R domega'. */
#include "model/multibody_traversal.h"

#include "linalg/columns.h"

enum { MOST_ROWS = YOKE_PORT_MAX_P + 2 * YOKE_PORT_MAX_V };

/* Rows of y (p, v, accelerations) by the columns of the node's q, v and a. */
typedef struct port_map {
  double by_q[MOST_ROWS][7], by_v[MOST_ROWS][6], by_a[MOST_ROWS][6];
} port_map;

/* 3x3 block of A [6, 6] at (row, column) += s M. */
static void add_block(double *A, int row, int column, double s, const double M[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) A[6 * (row + i) + column + j] += s * M[3 * i + j];
  }
}

static void add_product(double *A, int row, int column, double s, const double M[9], const double N[9]) {
  double MN[9];
  mat3_multiply(MN, M, N);
  add_block(A, row, column, s, MN);
}

/* Derivatives [6, 6] in inertial axes: `arm` of C and the angles by (dr, dphi), of velocities by (dv, R domega) and of accelerations by
 * (da, R domega'), which are all the same; v_q and a_q of velocities and accelerations by (dr, dphi), a_v by (dv, R domega). */
typedef struct frame_map {
  double arm[36], v_q[36], a_q[36], a_v[36];
} frame_map;

static void set_arm(frame_map *f, const double c[3]) {
  double C[9];
  mat3_cross(C, c);
  memset(f->arm, 0, sizeof f->arm);
  for (int i = 0; i < 6; ++i) f->arm[7 * i] = 1.0;
  add_block(f->arm, 0, 3, -1.0, C);
}

static void set_motion(frame_map *f, const double c[3], const double w[3], const double alpha[3]) {
  double C[9], W[9], A[9], WC[9], wc[3], CW[9], Wc[9];
  mat3_cross(C, c);
  mat3_cross(W, w);
  mat3_cross(A, alpha);
  vec3_cross(wc, w, c);
  mat3_cross(Wc, wc);
  mat3_multiply(CW, C, W);
  mat3_multiply(WC, W, C);
  memset(f->v_q, 0, sizeof f->v_q);
  add_block(f->v_q, 0, 3, 1.0, CW);
  add_block(f->v_q, 0, 3, -1.0, WC);
  add_block(f->v_q, 3, 3, -1.0, W);
  memset(f->a_q, 0, sizeof f->a_q);
  add_product(f->a_q, 0, 3, 1.0, C, A);
  add_product(f->a_q, 0, 3, -1.0, A, C);
  add_product(f->a_q, 0, 3, 1.0, Wc, W);
  add_product(f->a_q, 0, 3, 1.0, W, CW);
  add_product(f->a_q, 0, 3, -1.0, W, WC);
  add_block(f->a_q, 3, 3, -1.0, A);
  memset(f->a_v, 0, sizeof f->a_v);
  add_block(f->a_v, 0, 3, -1.0, Wc);
  add_block(f->a_v, 0, 3, -1.0, WC);
}

void mb_acceleration_rows(const double c[3], const double w[3], const double alpha[3], int k, double by_q[6],
                          double by_v[6], double by_a[6]) {
  frame_map f;
  set_arm(&f, c);
  set_motion(&f, c, w, alpha);
  memcpy(by_q, f.a_q + 6 * k, 6 * sizeof *by_q);
  memcpy(by_v, f.a_v + 6 * k, 6 * sizeof *by_v);
  memcpy(by_a, f.arm + 6 * k, 6 * sizeof *by_a);
}

/* Euler parameters y = z / |z| of the frame's axes, z = p b with those of the body and of the frame in the body: dy = (1 - y y^T) dp b / |z|. */
static void set_parameters(const mb_port *port, const double p[4], double rows[4][7]) {
  double z[4];
  mb_turn_by(z, p, port->orientation);
  const double size = sqrt(quaternion_norm2(z));
  for (int k = 0; k < 4; ++k) {
    double unit[4] = {0.0}, dz[4], along = 0.0;
    unit[k] = 1.0;
    mb_turn_by(dz, unit, port->orientation);
    for (int i = 0; i < 4; ++i) along += z[i] * dz[i] / (size * size);
    for (int i = 0; i < 4; ++i) rows[i][3 + k] = (dz[i] - along * z[i]) / size;
  }
}

/* Rows of p that are coordinates; they are the first ones, and so are those that are integrated. */
static void set_coordinates(const mb_port *port, const mb_node *node, const double *q, const frame_map *f,
                            double rows[][7]) {
  const yoke_port_shape *shape = port->shape;
  for (int k = 0; k < shape->n_p; ++k) {
    double row[7] = {0.0};
    if (shape->p[k].rate < 0) continue;
    columns_to_q(node, q, 1, f->arm + 6 * shape->v[shape->p[k].rate].freedom, 6, row);
    memcpy(rows[k], row, sizeof row);
  }
}

/* For a port on a node that has freedoms. */
static void set_map(const yoke_multibody *mb, const mb_port *port, const double *q, const double *v, const double *a,
                    port_map *map) {
  const mb_node         *node  = &mb->nodes[port->node];
  const yoke_port_shape *shape = port->shape;
  yoke_pose              pose;
  frame_map              f;
  double                 c[3], alpha[3], body[6] = {0.0};
  memset(map, 0, sizeof *map);
  mb_node_pose(node, q, v, &pose);
  mat3_apply(c, pose.R, port->origin);
  for (int i = 0; i < node->nv; ++i) body[node->freedom[i]] = a[node->iv + i];
  mat3_apply(alpha, pose.R, body + 3);
  set_arm(&f, c);
  set_motion(&f, c, pose.w, alpha);
  set_coordinates(port, node, q, &f, map->by_q);
  if (port->kind == YOKE_BODY_RIGID) set_parameters(port, q + node->iq + 3, map->by_q + 3);
  for (int i = 0; i < shape->n_v; ++i) {
    const int at_v = shape->n_p + i, at_a = at_v + shape->n_v, row = 6 * shape->v[i].freedom;
    columns_to_q(node, q, 1, f.v_q + row, 6, map->by_q[at_v]);
    columns_to_v(node, pose.R, 1, f.arm + row, 6, map->by_v[at_v]);
    columns_to_q(node, q, 1, f.a_q + row, 6, map->by_q[at_a]);
    columns_to_v(node, pose.R, 1, f.a_v + row, 6, map->by_v[at_a]);
    columns_to_v(node, pose.R, 1, f.arm + row, 6, map->by_a[at_a]);
  }
}

static YOKE_ALWAYS_INLINE void apply_map(const mb_node *node, const port_map *map, int n_rows, int n, const double *dq,
                                         const double *dv, const double *da, double *dy) {
  const ptrdiff_t row = n;
  for (int r = 0; r < n_rows; ++r) {
    yoke_columns_add(node->nq, map->by_q[r], n, dq + node->iq * row, dy + r * row);
    yoke_columns_add(node->nv, map->by_v[r], n, dv + node->iv * row, dy + r * row);
    yoke_columns_add(node->nv, map->by_a[r], n, da + node->iv * row, dy + r * row);
  }
}

bool yoke_multibody_has_tangents(const yoke_multibody *mb) {
  for (int k = 0; k < mb->n_ports; ++k) {
    if ((mb->ports[k].extras & ~YOKE_EXTRA_REACTION) != 0) return false;
  }
  return true;
}

/* Reactions of port k, n directions each: those of a guided joint are multipliers, others are 0. */
static void show_reactions(const yoke_multibody *mb, const mb_port *port, int n, const double *dlambda, double *dy) {
  if ((port->extras & YOKE_EXTRA_REACTION) == 0 || port->guided < 0) return;
  const mb_joint *joint = &mb->joints[mb->n_joints + port->guided];
  memcpy(dy, dlambda + (ptrdiff_t)joint->g0 * n, (size_t)joint->n * (size_t)n * sizeof *dy);
}

YOKE_SIMD bool yoke_multibody_port_tangent(const yoke_multibody *mb, void *work, int k, const double *q,
                                           const double *v, const double *a, int n, const double *dq, const double *dv,
                                           const double *da, const double *dlambda, double *dy) {
  const mb_port         *port  = &mb->ports[k];
  const yoke_port_shape *shape = port->shape;
  const ptrdiff_t        row   = n;
  const int              n_y   = yoke_shape_n_y(shape);
  const size_t           bytes = (size_t)n * sizeof *dy;
  (void)work;
  if ((port->extras & ~YOKE_EXTRA_REACTION) != 0) return false;
  memset(dy, 0, (size_t)(n_y + yoke_multibody_n_extras(mb, k)) * bytes);
  if (mb_is_line_kind(port->kind)) {
    memcpy(dy, dq + port->iq * row, bytes);
    memcpy(dy + row, dv + port->iv * row, bytes);
    memcpy(dy + 2 * row, da + port->iv * row, bytes);
  } else if (port->node > 0) {
    port_map map;
    set_map(mb, port, q, v, a, &map);
    apply_map(&mb->nodes[port->node], &map, shape->n_p + 2 * shape->n_v, n, dq, dv, da, dy);
  }
  if (port->i_integral >= 0) {
    memcpy(dy + yoke_shape_at_integral(shape) * row, dq + port->i_integral * row, (size_t)shape->n_integrals * bytes);
  }
  show_reactions(mb, port, n, dlambda, dy + n_y * row);
  return true;
}

YOKE_SIMD void yoke_multibody_port_response(const yoke_multibody *mb, int k, const double *q, int n, const double *da,
                                            const double *dlambda, double *dy) {
  const mb_port         *port  = &mb->ports[k];
  const yoke_port_shape *shape = port->shape;
  const ptrdiff_t        row   = n;
  const int              n_y   = yoke_shape_n_y(shape);
  double                *out   = dy + yoke_shape_at_a(shape) * row;
  memset(dy, 0, (size_t)(n_y + yoke_multibody_n_extras(mb, k)) * (size_t)n * sizeof *dy);
  if (mb_is_line_kind(port->kind)) {
    memcpy(out, da + port->iv * row, (size_t)n * sizeof *dy);
  } else if (port->node > 0) {
    const mb_node *node = &mb->nodes[port->node];
    yoke_pose      pose;
    frame_map      f;
    double         c[3], by_a[6];
    mb_node_pose(node, q, NULL, &pose);
    mat3_apply(c, pose.R, port->origin);
    set_arm(&f, c);
    for (int i = 0; i < shape->n_v; ++i) {
      columns_to_v(node, pose.R, 1, f.arm + 6 * shape->v[i].freedom, 6, by_a);
      yoke_columns_add(node->nv, by_a, n, da + node->iv * row, out + i * row);
    }
  }
  show_reactions(mb, port, n, dlambda, dy + n_y * row);
}

/* ---- integrals ---- */

YOKE_SIMD void mb_quadrature_tangent(const void *self, void *work, double t, const double *q, const double *v, int n,
                                     const double *dq, const double *dv, double *rate) {
  const yoke_multibody *mb  = self;
  const ptrdiff_t       row = n;
  (void)work;
  (void)t;
  (void)v;
  (void)dv;
  memset(rate, 0, (size_t)(mb->nq - mb->nq_states) * (size_t)n * sizeof *rate);
  for (int k = 0; mb->n_port_integrals > 0 && k < mb->n_ports; ++k) {
    const mb_port *port = &mb->ports[k];
    const mb_node *node = &mb->nodes[port->node];
    double        *out  = rate + (port->i_integral - mb->nq_states) * row;
    if (mb_is_line_kind(port->kind)) {
      memcpy(out, dq + port->iq * row, (size_t)n * sizeof *rate);
    } else if (port->node > 0) {
      yoke_pose pose;
      frame_map f;
      double    c[3], rows[YOKE_PORT_MAX_P][7];
      mb_node_pose(node, q, NULL, &pose);
      mat3_apply(c, pose.R, port->origin);
      set_arm(&f, c);
      set_coordinates(port, node, q, &f, rows);
      for (int i = 0; i < port->shape->n_integrals; ++i) {
        yoke_columns_add(node->nq, rows[port->shape->integral_of[i]], n, dq + node->iq * row, out + i * row);
      }
    }
  }
  for (int k = 0; k < mb->n_integrals; ++k) {
    memcpy(rate + (mb->i_integral - mb->nq_states + k) * row, dq + mb->integral[k] * row, (size_t)n * sizeof *rate);
  }
}
