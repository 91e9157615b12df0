/* Where a compiled model is and how it moves: poses, ports, moves, masses, and what the rest of the program asks about it. */
#include "model/multibody_internal.h"

#include "base/simd.h"
#include "linalg/space.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- poses and moves ---- */

/* Disturbances fade along a chain of bodies by a constant factor per body. Below 1e-70 rad they are no motion, but their
 * products become subnormal numbers, which cost the processor a hundred times as much as others. */
static YOKE_ALWAYS_INLINE double without_trace(double x) {
  return fabs(x) < 1e-70 ? 0.0 : x;
}

static YOKE_ALWAYS_INLINE void rigid_pose(const double *q, const double *v, yoke_pose *pose) {
  vec3_copy(pose->r, q);
  quaternion_rotation(pose->R, (const double[]){q[3], without_trace(q[4]), without_trace(q[5]), without_trace(q[6])});
  pose->angle = 0.0;
  if (v != NULL) {
    for (int k = 0; k < 3; ++k) pose->v[k] = without_trace(v[k]);
    mat3_apply(pose->w, pose->R, (const double[]){without_trace(v[3]), without_trace(v[4]), without_trace(v[5])});
  } else {
    vec3_set(pose->v, 0.0, 0.0, 0.0);
    vec3_set(pose->w, 0.0, 0.0, 0.0);
  }
}

/* Every number once: clearing all of them first would take longer than the rest. */
static void planar_pose(const double *q, const double *v, yoke_pose *pose) {
  const double c = cos(q[2]), s = sin(q[2]);
  vec3_set(pose->r, q[0], q[1], 0.0);
  vec3_set(pose->R, c, -s, 0.0);
  vec3_set(pose->R + 3, s, c, 0.0);
  vec3_set(pose->R + 6, 0.0, 0.0, 1.0);
  vec3_set(pose->v, v != NULL ? v[0] : 0.0, v != NULL ? v[1] : 0.0, 0.0);
  vec3_set(pose->w, 0.0, 0.0, v != NULL ? v[2] : 0.0);
  pose->angle = q[2];
}

static YOKE_ALWAYS_INLINE void node_pose(const mb_node *node, const double *q, const double *v, yoke_pose *pose) {
  q += node->iq;
  if (v != NULL) v += node->iv;
  if (node->kind == YOKE_BODY_RIGID && node->nv > 0) {
    rigid_pose(q, v, pose);
    return;
  }
  if (node->kind == YOKE_BODY_PLANAR && node->nv > 0) {
    planar_pose(q, v, pose);
    return;
  }
  memset(pose, 0, sizeof *pose);
  pose->R[0] = pose->R[4] = pose->R[8] = 1.0;
  if (node->nv == 0) return; /* the ground */
  switch (node->kind) {
  case YOKE_BODY_RIGID: break;  /* above */
  case YOKE_BODY_PLANAR: break; /* above */
  case YOKE_BODY_PARTICLE:
    vec3_copy(pose->r, q);
    if (v != NULL) vec3_copy(pose->v, v);
    break;
  case YOKE_BODY_MASS1D:
  case YOKE_BODY_CHAIN:
    pose->r[0] = q[0];
    if (v != NULL) pose->v[0] = v[0];
    break;
  }
}

void mb_node_pose(const mb_node *node, const double *q, const double *v, yoke_pose *pose) {
  node_pose(node, q, v, pose);
}

static void turned_inverse_inertia(const mb_node *node, const double R[9], double W[9]) {
  if (node->kind == YOKE_BODY_RIGID) { /* W = (R J^-1) R^T, symmetric */
    double A[9];
    mat3_multiply(A, R, node->inverse_inertia);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j <= i; ++j) {
        W[3 * i + j] = W[3 * j + i] = A[3 * i] * R[3 * j] + A[3 * i + 1] * R[3 * j + 1] + A[3 * i + 2] * R[3 * j + 2];
      }
    }
  } else {
    memcpy(W, node->inverse_inertia, 9 * sizeof *W);
  }
}

YOKE_SIMD void mb_poses(const yoke_multibody *mb, const mb_work *w, const double *q, const double *v,
                        bool with_inertia) {
  memset(&w->pose[0], 0, sizeof w->pose[0]);
  w->pose[0].R[0] = w->pose[0].R[4] = w->pose[0].R[8] = 1.0;
  for (int i = 1; i < mb->n_nodes; ++i) node_pose(&mb->nodes[i], q, v, &w->pose[i]);
  if (with_inertia) mb_inertia(mb, w);
}

YOKE_SIMD void mb_poses_of(const yoke_multibody *mb, const mb_work *w, const double *q, const double *v,
                           const mb_part *part) {
  MB_EACH(i, part, MB_SPAN_NODE) node_pose(&mb->nodes[i], q, v, &w->pose[i]);
}

void mb_node_inertia(const yoke_multibody *mb, const mb_work *w, int node) {
  turned_inverse_inertia(&mb->nodes[node], w->pose[node].R, w->W + 9 * node);
}

void mb_inertia(const yoke_multibody *mb, const mb_work *w) {
  memset(w->W, 0, 9 * sizeof *w->W);
  for (int i = 1; i < mb->n_nodes; ++i) mb_node_inertia(mb, w, i);
}

void mb_ghost_position(const mb_ghost *ghost, const double *u, double *p) {
  for (int k = 0; k < ghost->shape->n_p; ++k) {
    p[k] = u != NULL && ghost->from_p[k] >= 0 ? u[ghost->from_p[k]] : ghost->p[k];
  }
}

void mb_ghost_motion(const mb_ghost *ghost, const double *u, double *p, double *v) {
  mb_ghost_position(ghost, u, p);
  for (int k = 0; k < ghost->shape->n_v; ++k) {
    v[k] = u != NULL && ghost->from_v[k] >= 0 ? u[ghost->from_v[k]] : ghost->v[k];
  }
}

void mb_ghost_poses(const yoke_multibody *mb, const mb_work *w, const double *u) {
  for (int g = 0; g < mb->n_ghosts; ++g) {
    const mb_ghost *ghost = &mb->ghosts[g];
    double          p[YOKE_PORT_MAX_P], v[YOKE_PORT_MAX_V];
    mb_ghost_motion(ghost, u, p, v);
    yoke_shape_pose(ghost->shape, p, v, &w->pose[mb->n_nodes + g]);
  }
}

bool mb_is_cut(const yoke_multibody *mb, const yoke_link *link) {
  return link->node[0] >= mb->n_nodes || link->node[1] >= mb->n_nodes;
}

/* Pose of any node; a ghost is where the model put it. */
static void any_pose(const yoke_multibody *mb, int index, const double *q, const double *v, yoke_pose *pose) {
  if (index < mb->n_nodes) {
    mb_node_pose(&mb->nodes[index], q, v, pose);
  } else {
    const mb_ghost *ghost = &mb->ghosts[index - mb->n_nodes];
    yoke_shape_pose(ghost->shape, ghost->p, v != NULL ? ghost->v : NULL, pose);
  }
}

/* ---- ports ---- */

void mb_port_pose(const yoke_multibody *mb, const mb_port *port, const double *q, const double *v, yoke_pose *pose) {
  if (mb_is_line_kind(port->kind)) {
    yoke_shape_pose(port->shape, q + port->iq, v != NULL ? v + port->iv : NULL, pose);
  } else {
    mb_node_pose(&mb->nodes[port->node], q, v, pose);
  }
}

void mb_port_position(const mb_port *port, const yoke_pose *pose, double *position) {
  double C[3];
  mat3_apply(C, pose->R, port->origin);
  vec3_add(C, 1.0, pose->r);
  const int n = port->shape->n_integrals;
  for (int k = 0; k < n; ++k) position[k] = C[k];
  if (port->kind == YOKE_BODY_PLANAR) position[2] = pose->angle + port->angle;
}

void mb_turn_by(double p[4], const double a[4], const double b[4]) {
  double v[3];
  vec3_cross(v, a + 1, b + 1);
  vec3_add(v, a[0], b + 1);
  vec3_add(v, b[0], a + 1);
  p[0] = a[0] * b[0] - vec3_dot(a + 1, b + 1);
  vec3_copy(p + 1, v);
}

bool yoke_multibody_line_port(const yoke_multibody *mb, int k, yoke_line_port *out) {
  const mb_port *port = &mb->ports[k];
  *out = (yoke_line_port){.iq = port->iq, .iv = port->iv, .i_integral = port->i_integral, .origin = port->origin[0]};
  return mb_is_line_kind(port->kind);
}

/* With c = R origin, w and alpha in inertial axes:
 *   C = r + c,  C' = v + w x c,  C'' = a + alpha x c + w x (w x c),  (R omega)' = R omega'. */
void yoke_multibody_port(const yoke_multibody *mb, void *work, int k, const double *q, const double *v, const double *a,
                         double *y) {
  const mb_port *port = &mb->ports[k];
  yoke_line_port line;
  if (yoke_multibody_line_port(mb, k, &line)) {
    yoke_line_port_show(&line, q, v, a, y);
    return;
  }
  const int n_p = port->shape->n_p, n_v = port->shape->n_v;
  const int n_integrals = port->shape->n_integrals;
  yoke_pose pose;
  double    c[3], wc[3], rate[6], second[6] = {0.0};
  (void)work;
  mb_port_pose(mb, port, q, v, &pose);
  mb_port_position(port, &pose, y);
  if (port->kind == YOKE_BODY_RIGID) {
    const double ground[4] = {1.0, 0.0, 0.0, 0.0};
    mb_turn_by(y + 3, port->node > 0 ? q + mb->nodes[port->node].iq + 3 : ground, port->orientation);
    quaternion_normalise(y + 3);
  }
  if (port->node > 0) {
    const mb_node *node    = &mb->nodes[port->node];
    double         body[6] = {0.0};
    for (int i = 0; i < node->nv; ++i) body[node->freedom[i]] = a[node->iv + i];
    vec3_copy(second, body);
    mat3_apply(second + 3, pose.R, body + 3);
  }
  mat3_apply(c, pose.R, port->origin);
  vec3_cross(wc, pose.w, c);
  vec3_copy(rate, pose.v);
  vec3_add(rate, 1.0, wc);
  vec3_copy(rate + 3, pose.w);
  vec3_add_cross(second, 1.0, second + 3, c);
  vec3_add_cross(second, 1.0, pose.w, wc);
  for (int i = 0; i < n_v; ++i) {
    y[n_p + i]       = rate[port->shape->v[i].freedom];
    y[n_p + n_v + i] = second[port->shape->v[i].freedom];
  }
  for (int i = 0; i < n_integrals; ++i) {
    y[n_p + 2 * n_v + i] = port->i_integral >= 0 ? q[port->i_integral + i] : 0.0;
  }
}

void yoke_multibody_pose(const yoke_multibody *mb, const double *q, int body, double r[3], double R[9]) {
  yoke_pose pose;
  if (body < 0 || body >= mb->model->n_bodies || mb->model->bodies[body].kind == YOKE_BODY_CHAIN) {
    memset(&pose, 0, sizeof pose);
    pose.R[0] = pose.R[4] = pose.R[8] = 1.0;
    if (body >= 0 && body < mb->model->n_bodies) pose.r[0] = q[mb->body_q[body]];
  } else {
    mb_node_pose(&mb->nodes[mb->body_node[body]], q, NULL, &pose);
  }
  vec3_copy(r, pose.r);
  memcpy(R, pose.R, sizeof pose.R);
}

void mb_node_move(const mb_node *node, double *q, const double *dv) {
  double       *x = q + node->iq;
  const double *d = dv + node->iv;
  if (node->kind == YOKE_BODY_CHAIN) return;
  if (node->kind != YOKE_BODY_RIGID) {
    for (int i = 0; i < node->nv; ++i) x[i] += d[i];
    return;
  }
  double dp[4];
  vec3_add(x, 1.0, d);
  quaternion_normalise(x + 3);
  quaternion_rate(dp, x + 3, d + 3);
  for (int i = 0; i < 4; ++i) x[3 + i] += dp[i];
  quaternion_normalise(x + 3);
}

void yoke_multibody_move(const yoke_multibody *mb, double *q, const double *dv) {
  for (int c = 0; c < mb->n_chains; ++c) {
    for (int i = 0; i < mb->chains[c].n; ++i) q[mb->chains[c].iq + i] += dv[mb->chains[c].iv + i];
  }
  if (mb->is_chain_alone) {
    for (int i = 0; i < mb->nv; ++i) q[i] += dv[i];
  }
  for (int n = 1; n < mb->n_nodes; ++n) mb_node_move(&mb->nodes[n], q, dv);
}

void yoke_multibody_initial_guess(const yoke_multibody *mb, double *q, double *v) {
  const yoke_model *model = mb->model;
  for (int i = mb->nq_states; i < mb->nq; ++i) q[i] = 0.0;
  for (int b = 0; b < model->n_bodies; ++b) {
    const yoke_body *body = &model->bodies[b];
    double          *x = q + mb->body_q[b], *y = v + mb->body_v[b];
    switch (body->kind) {
    case YOKE_BODY_RIGID:
      vec3_copy(x, body->position);
      vec3_copy(y, body->velocity);
      vec3_copy(y + 3, body->omega);
      memcpy(x + 3, body->orientation, sizeof body->orientation);
      if (!(quaternion_norm2(x + 3) > 0.0)) x[3] = 1.0;
      quaternion_normalise(x + 3);
      break;
    case YOKE_BODY_PLANAR:
      vec3_set(x, body->position[0], body->position[1], body->angle);
      vec3_set(y, body->velocity[0], body->velocity[1], body->omega[2]);
      break;
    case YOKE_BODY_PARTICLE:
      vec3_copy(x, body->position);
      vec3_copy(y, body->velocity);
      break;
    case YOKE_BODY_MASS1D:
      x[0] = body->position[0];
      y[0] = body->velocity[0];
      break;
    case YOKE_BODY_CHAIN:
      for (int i = 0; i < body->chain->n; ++i) {
        x[i] = body->chain->x0.each != NULL ? body->chain->x0.each[i] : body->chain->x0.value;
        y[i] = body->chain->v0.each != NULL ? body->chain->v0.each[i] : body->chain->v0.value;
      }
      break;
    }
  }
}

/* ---- mass matrix ---- */

void yoke_multibody_mass_apply(const yoke_multibody *mb, const double *x, double *y) {
  if (mb->is_chain_alone) {
    const yoke_per_mass *mass = &mb->model->bodies[0].chain->mass;
    for (int i = 0; i < mb->nv; ++i) y[i] = x[i] * (mass->each != NULL ? mass->each[i] : mass->value);
  }
  for (int c = 0; c < mb->n_chains; ++c) {
    const double *m = yoke_chain_kernel_mass(mb->chains[c].kernel);
    for (int i = 0; i < mb->chains[c].n; ++i) {
      const int k = mb->chains[c].iv + i;
      y[k]        = x[k] * m[i];
    }
  }
  if (mb->n_flexibles > 0) mb_flexible_mass_apply(mb, x, y);
  for (int n = 1; n < mb->n_nodes; ++n) {
    const mb_node *node = &mb->nodes[n];
    if (node->kind == YOKE_BODY_CHAIN || node->flexible > 0) continue;
    for (int i = 0; i < node->nv && node->freedom[i] < 3; ++i) y[node->iv + i] = node->mass * x[node->iv + i];
    if (node->kind == YOKE_BODY_RIGID) {
      double r[3];
      mat3_apply(r, node->inertia, x + node->iv + 3);
      vec3_copy(y + node->iv + 3, r);
    } else if (node->kind == YOKE_BODY_PLANAR) {
      y[node->iv + 2] = x[node->iv + 2] * node->inertia[8];
    }
  }
}

void yoke_multibody_mobility(const yoke_multibody *mb, int body, int mass, double *inverse_mass, double J_inverse[9]) {
  const yoke_body *b = &mb->model->bodies[body];
  memset(J_inverse, 0, 9 * sizeof *J_inverse);
  if (b->kind == YOKE_BODY_CHAIN) {
    const yoke_per_mass *m = &b->chain->mass;
    *inverse_mass          = 1.0 / (m->each != NULL ? m->each[mass] : m->value);
    return;
  }
  *inverse_mass = 1.0 / b->mass;
  memcpy(J_inverse, mb->nodes[mb->body_node[body]].inverse_inertia, 9 * sizeof *J_inverse);
}

/* ---- questions ---- */

int yoke_multibody_q_offset(const yoke_multibody *mb, int body) {
  return mb->body_q[body];
}

int yoke_multibody_integral_at(const yoke_multibody *mb, int k) {
  return mb->i_integral + k;
}

int yoke_multibody_dissipated_at(const yoke_multibody *mb) {
  return mb->i_dissipated;
}

int yoke_multibody_external_at(const yoke_multibody *mb) {
  return mb->i_external;
}

int yoke_multibody_v_offset(const yoke_multibody *mb, int body) {
  return mb->body_v[body];
}

void yoke_multibody_retire(yoke_multibody *mb, int n, const int *rows) {
  if (mb->ng == 0) return;
  memset(mb->retired, 0, (size_t)mb->ng * sizeof *mb->retired);
  for (int i = 0; i < n; ++i) mb->retired[rows[i]] = 1;
}

int yoke_multibody_row_connection(const yoke_multibody *mb, int row) {
  return mb->joints[mb->row_joint[row]].connection;
}

int yoke_multibody_row_own(const yoke_multibody *mb, int row) {
  const mb_joint *joint = &mb->joints[mb->row_joint[row]];
  return joint->own[row - joint->g0];
}

void yoke_multibody_row_label(const yoke_multibody *mb, int row, char *label, size_t size) {
  const mb_joint *joint = &mb->joints[mb->row_joint[row]];
  char            text[32];
  yoke_row_label(&joint->row[row - joint->g0], text, sizeof text);
  snprintf(label, size, "%s: %s", mb->model->connections[joint->connection].name, text);
}

void yoke_multibody_units(const yoke_multibody *mb, double *unit) {
  for (int i = 0; i < mb->nv; ++i) unit[i] = mb->length;
  for (int n = 1; n < mb->n_nodes; ++n) {
    const mb_node *node = &mb->nodes[n];
    for (int k = 0; k < node->nv; ++k) {
      if (node->freedom[k] >= 3) unit[node->iv + k] = 1.0;
    }
  }
  for (int b = 0; b < mb->model->n_bodies; ++b) {
    for (int k = 0; mb->model->bodies[b].is_direction && k < 3; ++k) unit[mb->body_v[b] + k] = 1.0;
  }
}

void yoke_multibody_sizes(const yoke_multibody *mb, double length, double time, double *size) {
  double *rate = size + mb->nq;
  for (int i = 0; i < mb->nq; ++i) size[i] = 1.0;
  yoke_multibody_units(mb, rate); /* mb->length, or 1 of what turns */
  for (int i = 0; i < mb->nv; ++i) rate[i] = (rate[i] == mb->length ? 1.0 : 1.0 / length) / (3.0 * time);
  for (int b = 0; b < mb->model->n_bodies; ++b) {
    const yoke_body *body = &mb->model->bodies[b];
    const int        n    = yoke_body_nq(body);
    /* positions come first, then what turns */
    const int        first = body->is_direction               ? 0
                             : body->kind == YOKE_BODY_RIGID  ? 3
                             : body->kind == YOKE_BODY_PLANAR ? 2
                                                              : n;
    for (int k = first; k < n; ++k) size[mb->body_q[b] + k] = 1.0 / length;
  }
}

double yoke_multibody_length(const yoke_multibody *mb) {
  return mb->length;
}

bool yoke_multibody_row_is_length(const yoke_multibody *mb, int row) {
  const mb_joint *joint = &mb->joints[mb->row_joint[row]];
  return yoke_row_is_length(&joint->row[row - joint->g0]);
}

bool yoke_multibody_row_is_motion(const yoke_multibody *mb, int row) {
  const mb_joint *joint = &mb->joints[mb->row_joint[row]];
  return joint->motion != NULL && row == joint->g0 + joint->n - 1;
}

bool yoke_multibody_has_loops(const yoke_multibody *mb) {
  return mb->has_loops;
}

const yoke_pattern *yoke_multibody_G_pattern(const yoke_multibody *mb) {
  return mb->G_pattern;
}

void mb_kept_row(const mb_node *node, const double R[9], const double *grad, double *out) {
  double g[6];
  vec3_copy(g, grad);
  mat3_apply_transposed(g + 3, R, grad + 3);
  for (int k = 0; k < node->nv; ++k) out[k] = g[node->freedom[k]];
}

void yoke_multibody_G(const yoke_multibody *mb, void *work, double t, const double *q, double *values) {
  if (mb->ng == 0) return;
  mb_work w;
  mb_work_carve(mb, work, &w);
  mb_poses(mb, &w, q, NULL, false);
  mb_constraints(mb, &w, t, false);
  memset(values, 0, (size_t)mb->G_pattern->nnz * sizeof *values);
  int n = 0;
  for (int j = 0; j < mb->n_joints; ++j) {
    for (int i = 0; i < mb->joints[j].n; ++i) {
      for (int side = 0; side < 2; ++side) {
        const int      k    = mb->joints[j].link.node[side];
        const mb_node *node = &mb->nodes[k];
        double         row[6];
        mb_kept_row(node, w.pose[k].R, w.grad + 12 * (mb->joints[j].g0 + i) + 6 * side, row);
        for (int c = 0; c < node->nv; ++c) values[mb->G_slot[n++]] += row[c];
      }
    }
  }
}

int yoke_multibody_joint_coordinate(const yoke_multibody *mb, void *work, int connection, const double *q,
                                    const double *v, double *coordinate, double *rate, int column[12],
                                    double value[12]) {
  yoke_row        row;
  yoke_link       link;
  yoke_pose       pose[2];
  yoke_link_state state;
  double          grad[12];
  int             n = 0;
  (void)work;
  if (!yoke_joint_coordinate_row(mb->model->connections[connection].kind, &row)) return 0;
  mb_set_link(mb, mb->model->connections[connection].frame, &link);
  const int index[2] = {link.node[0], link.node[1]};
  for (int side = 0; side < 2; ++side) {
    any_pose(mb, index[side], q, v, &pose[side]);
    link.node[side] = side;
  }
  yoke_link_state_set(&link, pose, &state);
  *coordinate = yoke_row_gradient(&row, &state, grad);
  *rate       = yoke_row_rate(grad, &state);
  for (int side = 0; side < 2; ++side) {
    const mb_node *node = &mb->nodes[index[side]];
    mb_kept_row(node, pose[side].R, grad + 6 * side, value + n);
    for (int k = 0; k < node->nv; ++k) column[n++] = node->iv + k;
  }
  return n;
}

int yoke_multibody_multiplier_at(const yoke_multibody *mb, int connection, int r) {
  const int j = mb->connection_joint[connection];
  for (int i = 0; j >= 0 && i < mb->joints[j].n; ++i) {
    if (mb->joints[j].own[i] == r) return mb->joints[j].g0 + i;
  }
  return -1;
}

/* s of a row that is left out. */
static double open_by(const yoke_multibody *mb, const mb_left_out *row, const double *q) {
  yoke_link       link = row->link;
  yoke_pose       pose[2];
  yoke_link_state state;
  double          grad[12];
  for (int side = 0; side < 2; ++side) {
    any_pose(mb, row->link.node[side], q, NULL, &pose[side]);
    link.node[side] = side;
  }
  yoke_link_state_set(&link, pose, &state);
  return yoke_row_gradient(&row->row, &state, grad) - row->offset;
}

double yoke_multibody_left_open(const yoke_multibody *mb, const double *q, int *connection) {
  double largest = 0.0;
  for (int i = 0; i < mb->n_left_out; ++i) {
    const mb_left_out *row = &mb->left_out[i];
    const double       gap = fabs(open_by(mb, row, q)) / (yoke_row_is_length(&row->row) ? mb->length : 1.0);
    if (gap <= largest) continue;
    largest     = gap;
    *connection = row->connection;
  }
  return largest;
}

int yoke_multibody_connection_output(const yoke_multibody *mb, void *work, int connection, double t, const double *q,
                                     const double *v, const double *u, const double *lambda,
                                     double force[YOKE_CONNECTION_MAX_ROWS], double g[YOKE_CONNECTION_MAX_ROWS]) {
  const yoke_connection *c = &mb->model->connections[connection];
  mb_work                w;
  yoke_row               rows[6];
  int                    n = yoke_joint_rows(c->kind, rows) + (c->motion != NULL);
  for (int i = 0; i < YOKE_CONNECTION_MAX_ROWS; ++i) force[i] = g[i] = 0.0;
  mb_work_carve(mb, work, &w);
  const int        joint = mb->connection_joint[connection], element = mb->connection_force[connection];
  const yoke_link *link = joint >= 0 ? &mb->joints[joint].link : element >= 0 ? &mb->forces[element].link : NULL;
  for (int side = 0; side < 2 && link != NULL; ++side) {
    any_pose(mb, link->node[side], q, v, &w.pose[link->node[side]]);
  }
  if (element >= 0) { /* a flexible joint's multiplier is -F */
    const yoke_force_element *el   = &mb->forces[element];
    const double              sign = yoke_connection_is_joint(c->kind) ? -1.0 : 1.0;
    yoke_force_element_output(el, w.pose, t, force, g);
    for (int i = 0; i < mb->n_formulas; ++i) {
      if (mb->formulas[i].force != element) continue;
      (void)(mb->n_loop > 0 ? mb_derivative(mb, work, t, q, v, u, NULL, w.a, NULL) : mb_rest(mb, work, t, q, v, u));
      mb_work no_poses = w;
      no_poses.pose    = NULL;
      mb_variables(mb, &no_poses, t, q, v, u);
      force[0] += yoke_expression_evaluate(mb->formulas[i].expression, w.variables, NULL);
    }
    for (int i = 0; i < el->n; ++i) force[i] *= sign;
    if (n < el->n) n = el->n;
  }
  if (joint >= 0) {
    const mb_joint *jt = &mb->joints[joint];
    yoke_link_state state;
    double          grad[12], motion = 0.0, rate, second;
    if (jt->motion != NULL) mb_motion(jt, t, &motion, &rate, &second);
    yoke_link_state_set(&jt->link, w.pose, &state);
    for (int i = 0; i < jt->n; ++i) {
      g[jt->own[i]] = mb_row_value(jt, i, yoke_row_gradient(&jt->row[i], &state, grad), motion);
      if (lambda != NULL) force[jt->own[i]] = lambda[jt->g0 + i];
    }
  }
  for (int i = 0; i < mb->n_left_out; ++i) {
    if (mb->left_out[i].connection == connection) g[mb->left_out[i].own] = open_by(mb, &mb->left_out[i], q);
  }
  return n;
}
