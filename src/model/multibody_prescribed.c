/* Prescribed motion: bodies moved onto the rows of joints at ghosts whose motion is given, and ports moved to their images.
 *
 * With L the gradients of the prescribed rows on the real sides and G those of the model's own joints, position and velocity
 * take the least change, measured by the masses, that meets both:
 *   positions:   min 1/2 dx^T M dx   with  s(q (+) dx) = 0,  g(q (+) dx) = 0      (Newton)
 *   velocities:  min 1/2 dv^T M dv   with  s' = 0,  g' = 0
 * which is the motion that impulses in the joints cause (on a flexible body: in its coupled points alone). The part of the motion that no impulse reaches is left alone, so
 * what the solver integrates there is not disturbed. Guided rows of other couplings keep what they have. */
#include "model/multibody_internal.h"

#include "base/memory.h"
#include "linalg/space.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITERATIONS = 25 };

static const double position_tol = 1e-13; /* |s| / size */

bool yoke_multibody_is_prescribed(const yoke_multibody *mb) {
  for (int k = 0; k < mb->n_guided; ++k) {
    if (mb->guided[k].is_prescribed) return true;
  }
  return false;
}

/* A distance at a ghost has its length written down; all other rows vanish in a closed joint. */
static double row_offset(const yoke_multibody *mb, const mb_joint *joint, int i) {
  return joint->row[i].kind == YOKE_ROW_DISTANCE ? mb->model->connections[joint->connection].length : 0.0;
}

/* Poses, gradients and residuals of all rows, on velocity level or (v NULL) on position level; those of guided rows that
 * are not prescribed are 0. *by_tree: the tree can meet them. */
static double *set_rows(const yoke_multibody *mb, const mb_work *w, double t, const double *u, const double *q,
                        const double *v, bool *by_tree) {
  double *residual = v != NULL ? w->rate : w->s;
  mb_poses(mb, w, q, v, false);
  mb_ghost_poses(mb, w, u);
  mb_guided_rows(mb, w, NULL);
  *by_tree = mb->tree != NULL && mb_tree_rows(mb, w, t, v != NULL);
  if (!*by_tree) mb_inertia(mb, w);
  if (!*by_tree && mb->ng > 0) mb_constraints(mb, w, t, v != NULL);
  for (int k = 0; k < mb->n_guided; ++k) {
    const mb_joint *joint = &mb->joints[mb->n_joints + k];
    for (int i = 0; i < joint->n; ++i) {
      if (v == NULL) residual[joint->g0 + i] -= row_offset(mb, joint, i);
      if (!mb->guided[k].is_prescribed) residual[joint->g0 + i] = 0.0;
    }
  }
  return residual;
}

/* dv := least change that takes the residuals away to first order. */
static yoke_status least_change(const yoke_multibody *mb, const mb_work *w, double t, bool by_tree,
                                const double *residual, double *dv) {
  memset(w->acceleration, 0, 6 * (size_t)mb->n_nodes * sizeof *w->acceleration);
  mb_push_begin(mb, w);
  memset(dv, 0, (size_t)mb->nv * sizeof *dv);
  for (int g = 0; g < mb->n_rows; ++g) w->lambda[g] = -residual[g];
  if (by_tree && mb_tree_factor(mb, w)) {
    mb_tree_solve(mb, w, NULL, w->lambda, NULL);
  } else {
    for (int g = mb->ng; g < mb->n_rows; ++g) w->gamma[g] = residual[g];
    if (by_tree) mb_inertia(mb, w);
    if (by_tree && mb->ng > 0) mb_constraints(mb, w, t, false);
    YOKE_TRY(mb_guide(mb, w, w->lambda));
    mb_add_reactions(mb, w, w->lambda);
  }
  mb_write_nodes(mb, w, dv);
  for (int i = 0; i < mb->nv; ++i) {
    if (!isfinite(dv[i])) return YOKE_NON_FINITE;
  }
  return YOKE_OK;
}

yoke_status yoke_multibody_prescribe(const yoke_multibody *mb, void *work, double t, const double *u, double *q,
                                     double *v) {
  mb_work w;
  bool    by_tree;
  if (mb_line_follows(mb)) return mb_line_prescribe(mb, u, q, v);
  mb_work_carve(mb, work, &w);
  w.is_alone = true; /* what is prescribed jumps where it is extrapolated; inner freedoms feel accelerations only */
  for (int iteration = 0;; ++iteration) {
    const double *residual = set_rows(mb, &w, t, u, q, NULL, &by_tree);
    const double  size     = mb_position_residual(mb, &w, mb->n_joints + mb->n_guided, residual);
    if (!isfinite(size)) return YOKE_NON_FINITE;
    if (size <= position_tol) break;
    if (iteration == MOST_ITERATIONS) return YOKE_NOT_CONVERGED;
    YOKE_TRY(least_change(mb, &w, t, by_tree, residual, w.a));
    yoke_multibody_move(mb, q, w.a);
  }
  const double *residual = set_rows(mb, &w, t, u, q, v, &by_tree);
  YOKE_TRY(least_change(mb, &w, t, by_tree, residual, w.a));
  for (int i = 0; i < mb->nv; ++i) v[i] += w.a[i];
  return YOKE_OK;
}

/* ---- what moves together ---- */

bool yoke_multibody_has_points(const yoke_multibody *mb) {
  bool has_rod = false;
  for (int i = 0; i < mb->n_forces; ++i) has_rod = has_rod || mb->forces[i].rod != NULL;
  return has_rod || mb->n_flexibles > 0;
}

static int first_of(int *parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static bool is_real(const yoke_multibody *mb, int node) {
  return node > 0 && node < mb->n_nodes; /* neither the ground nor a ghost */
}

/* Nodes of a joint belong together; without one, the Euler parameters of a body, which are normalised. */
int yoke_multibody_sets(const yoke_multibody *mb, int *set) {
  const size_t nodes  = (size_t)mb->n_nodes + 1;
  int         *parent = yoke_allocate(3 * nodes, sizeof *parent), n = 0;
  if (parent == NULL) return -1;
  int *number = parent + nodes, *is_joined = number + nodes;
  for (int i = 0; i < mb->n_nodes; ++i) parent[i] = i;
  for (int j = 0; j < mb->n_joints + mb->n_guided; ++j) {
    const int *node = mb->joints[j].link.node;
    for (int side = 0; side < 2; ++side) {
      if (is_real(mb, node[side])) is_joined[node[side]] = 1;
    }
    if (is_real(mb, node[0]) && is_real(mb, node[1])) parent[first_of(parent, node[0])] = first_of(parent, node[1]);
  }
  for (int i = 0; i < mb->nq + mb->nv; ++i) set[i] = -1;
  for (int i = 1; i < mb->n_nodes; ++i) {
    const bool is_set = is_joined[i] != 0 || mb->nodes[i].kind == YOKE_BODY_RIGID;
    if (is_set && first_of(parent, i) == i) number[i] = n++;
  }
  for (int i = 1; i < mb->n_nodes; ++i) {
    const mb_node *node = &mb->nodes[i];
    const int      own = number[first_of(parent, i)], first = is_joined[i] != 0 ? 0 : 3;
    if (is_joined[i] == 0 && node->kind != YOKE_BODY_RIGID) continue;
    for (int k = first; k < node->nq; ++k) set[node->iq + k] = own;
    for (int k = 0; is_joined[i] != 0 && k < node->nv; ++k) set[mb->nq + node->iv + k] = own;
  }
  free(parent);
  return n;
}

/* ---- images ---- */

bool yoke_multibody_has_image(const yoke_multibody *mb, int k) {
  return (mb->ports[k].extras & YOKE_EXTRA_IMAGE) != 0;
}

/* Body of a rigid port with the frame's axes p [4] (normalised) and origin C, velocities C', w. */
static void place_rigid(const mb_port *port, const mb_node *node, const double *p, const double *v, double *q,
                        double *vel) {
  const double *b = port->orientation;
  double        body[4], R[9], c[3], omega[3];
  /* p = body b, hence body = p b^-1 */
  const double  back[4] = {b[0], -b[1], -b[2], -b[3]};
  vec3_cross(body + 1, p + 4, back + 1);
  vec3_add(body + 1, p[3], back + 1);
  vec3_add(body + 1, back[0], p + 4);
  body[0] = p[3] * back[0] - vec3_dot(p + 4, back + 1);
  quaternion_normalise(body);
  quaternion_rotation(R, body);
  mat3_apply(c, R, port->origin);
  mat3_apply_transposed(omega, R, v + 3);
  memcpy(q + node->iq + 3, body, sizeof body);
  vec3_copy(vel + node->iv + 3, omega);
  for (int k = 0; k < 3; ++k) {
    q[node->iq + k]   = p[k] - c[k];
    vel[node->iv + k] = v[k];
  }
  vec3_add_cross(vel + node->iv, -1.0, v + 3, c);
}

static void place_planar(const mb_port *port, const mb_node *node, const double *p, const double *v, double *q,
                         double *vel) {
  const double angle = p[2] - port->angle, s = sin(angle), c = cos(angle);
  const double arm[2] = {c * port->origin[0] - s * port->origin[1], s * port->origin[0] + c * port->origin[1]};
  q[node->iq]         = p[0] - arm[0];
  q[node->iq + 1]     = p[1] - arm[1];
  q[node->iq + 2]     = angle;
  vel[node->iv]       = v[0] + v[2] * arm[1];
  vel[node->iv + 1]   = v[1] - v[2] * arm[0];
  vel[node->iv + 2]   = v[2];
}

yoke_status yoke_multibody_move_port(const yoke_multibody *mb, void *work, int k, double t, const double *u, double *q,
                                     double *v) {
  const mb_port *port = &mb->ports[k];
  double         p[YOKE_PORT_MAX_P], rate[YOKE_PORT_MAX_V];
  for (int i = 0; i < port->shape->n_p; ++i) p[i] = u[port->image_p[i]];
  for (int i = 0; i < port->shape->n_v; ++i) rate[i] = u[port->image_v[i]];
  if (mb_is_line_kind(port->kind)) {
    q[port->iq] = p[0] - port->origin[0];
    v[port->iv] = rate[0];
  } else {
    const mb_node *node = &mb->nodes[port->node];
    if (port->kind == YOKE_BODY_RIGID) place_rigid(port, node, p, rate, q, v);
    if (port->kind == YOKE_BODY_PLANAR) place_planar(port, node, p, rate, q, v);
    for (int i = 0; port->kind == YOKE_BODY_PARTICLE && i < 3; ++i) {
      q[node->iq + i] = p[i] - port->origin[i];
      v[node->iv + i] = rate[i];
    }
  }
  YOKE_TRY(mb_project_position(mb, work, t, q));
  return mb_project_velocity(mb, work, t, q, v);
}
