/* Guided rows: rows of joints at ghosts that the accelerations of the real side meet, and what a joint at a ghost could do
 * to its real side.
 *
 * With L the gradients of n rows on their real sides, G those of the model's own joints, S = G M^-1 G^T and
 *   b_i = G M^-1 L_i^T,   x_i = S^-1 b_i,   W_ij = L_i M^-1 L_j^T - b_i . x_j
 * W is the compliance of the rows with the own joints honoured: a unit multiplier of row j accelerates row i by W_ij. For
 * free accelerations a and the own joints' multipliers lambda_0 without guided rows,
 *   W mu = -(c + L a + b lambda_0),   lambda = lambda_0 - sum mu_i x_i,
 * where c is gamma and the prescribed part of the rows. A pivot of W that collapses (a position in which the own joints
 * hold a row) switches to a minimum-norm solve. */
#include "linalg/lapack.h"
#include "model/multibody_internal.h"

#include "linalg/space.h"
#include <math.h>
#include <string.h>

enum { MOST_ROWS = 6 };

static const double stuck_limit = 1e-9;  /* compliance of a row against that of its body alone below which it is held */
static const double pivot_limit = 1e-10; /* the same for pivots while solving */
static const double rank_limit  = 1e-11; /* condition of W kept by the minimum-norm solve */

/* ---- structure ---- */

int mb_real_side(const yoke_multibody *mb, const yoke_link *link) {
  const bool is_ghost[2] = {link->node[0] >= mb->n_nodes, link->node[1] >= mb->n_nodes};
  if (is_ghost[0] == is_ghost[1]) return -1;
  return is_ghost[0] ? 1 : 0;
}

static bool is_row_input(const yoke_input *input, int c) {
  return input->frame == c && (input->kind == YOKE_INPUT_ROW_ACCELERATION ||
                               input->kind == YOKE_INPUT_ROW_ACCELERATION_BARE || input->kind == YOKE_INPUT_PRESCRIBED);
}

bool mb_is_guided(const yoke_multibody_options *options, int c) {
  for (int i = 0; i < options->n_inputs; ++i) {
    if (is_row_input(&options->inputs[i], c)) return true;
  }
  return false;
}

/* Rows that are ever looked at together: at most those of all joints at ghosts. */
int mb_n_probes(const yoke_multibody *mb) {
  int n = mb->n_rows - mb->ng;
  for (int i = 0; i < mb->n_driven; ++i) n += mb->driven[i].n;
  return n;
}

static yoke_status check_guided(const yoke_multibody *mb, yoke_context *ctx, int c, int n_rows,
                                const yoke_multibody_options *options) {
  const yoke_connection *connection = &mb->model->connections[c];
  if (n_rows == 0 || connection->flexible || connection->motion != NULL ||
      mb_real_side(mb, &mb->joints[mb->n_joints + mb->n_guided].link) < 0) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "connection '%s': accelerations of rows can be given only for a rigid joint without prescribed "
                     "motion that ends at one ghost",
                     connection->name);
  }
  for (int i = 0; i < options->n_inputs; ++i) {
    if (options->inputs[i].frame != c || options->inputs[i].kind != YOKE_INPUT_LAMBDA) continue;
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "connection '%s': input %d is a multiplier, but accelerations of rows are given; a joint takes one "
        "or the other",
        connection->name, i);
  }
  return YOKE_OK;
}

yoke_status mb_build_guided(yoke_multibody *mb, yoke_context *ctx, int c, const yoke_multibody_options *options) {
  const yoke_connection *connection = &mb->model->connections[c];
  mb_joint              *joint      = &mb->joints[mb->n_joints + mb->n_guided];
  mb_guided             *guided     = &mb->guided[mb->n_guided];
  yoke_row               rows[MOST_ROWS];
  const int              n = yoke_joint_rows(connection->kind, rows);
  *joint                   = (mb_joint){.connection = c, .g0 = mb->n_rows};
  mb_set_link(mb, connection->frame, &joint->link);
  YOKE_TRY(check_guided(mb, ctx, c, n, options));
  guided->side = mb_real_side(mb, &joint->link);
  for (int r = 0; r < n; ++r) {
    int found = -1;
    for (int i = 0; i < options->n_inputs; ++i) {
      if (is_row_input(&options->inputs[i], c) && options->inputs[i].component == r) found = i;
    }
    if (found < 0) continue; /* not met: without effect, or left to other joints */
    joint->row[joint->n]     = rows[r];
    joint->own[joint->n]     = r;
    guided->input[joint->n]  = found;
    guided->factor[joint->n] = options->inputs[found].factor;
    guided->has_gamma        = options->inputs[found].kind != YOKE_INPUT_ROW_ACCELERATION_BARE;
    guided->is_prescribed    = options->inputs[found].kind == YOKE_INPUT_PRESCRIBED;
    ++joint->n;
  }
  mb->n_rows += joint->n;
  ++mb->n_guided;
  return YOKE_OK;
}

/* ---- rows ---- */

/* The frame of a joint off the centre of mass is accelerated by w x (w x c) beside the body. */
void mb_centripetal(const mb_joint *joint, int side, const yoke_pose *poses, double c[3], double wc[3], double a[3]) {
  const yoke_pose *pose = &poses[joint->link.node[side]];
  mat3_apply(c, pose->R, joint->link.origin[side]);
  vec3_cross(wc, pose->w, c);
  vec3_cross(a, pose->w, wc);
}

void mb_guided_rows(const yoke_multibody *mb, const mb_work *w, const double *u) {
  for (int k = 0; k < mb->n_guided; ++k) {
    const mb_joint  *joint  = &mb->joints[mb->n_joints + k];
    const mb_guided *guided = &mb->guided[k];
    yoke_link_state  state;
    double           c[3], wc[3], a[3];
    yoke_link_state_for(&joint->link, joint->n, joint->row, w->pose, &state);
    mb_centripetal(joint, guided->side, w->pose, c, wc, a);
    for (int i = 0; i < joint->n; ++i) {
      const int g    = joint->g0 + i;
      double   *grad = w->grad + 12 * g;
      w->s[g]        = yoke_row_gradient(&joint->row[i], &state, grad);
      w->rate[g]     = yoke_row_rate(grad, &state);
      w->gamma[g] = guided->has_gamma ? yoke_row_gamma(&joint->row[i], &state) : vec3_dot(grad + 6 * guided->side, a);
      if (u != NULL) w->gamma[g] += guided->factor[i] * u[guided->input[i]];
      memset(grad + 6 * (1 - guided->side), 0, 6 * sizeof *grad);
    }
  }
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0.0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

void mb_set_probe(const yoke_multibody *mb, const mb_work *w, int i, int node, const double grad[6]) {
  double *place = w->probe + 12 * i, *Y = place + 6;
  memcpy(place, grad, 6 * sizeof *place);
  if (mb->nodes[node].flexible > 0) {
    mb_flexible_response(mb, w, node, grad, node, Y);
    return;
  }
  for (int k = 0; k < 3; ++k) Y[k] = mb->nodes[node].inverse_mass[k] * grad[k];
  mat3_apply(Y + 3, w->W + 9 * node, grad + 3);
}

void mb_push_probe(const yoke_multibody *mb, const mb_work *w, int i, int node, double s) {
  const double *grad = w->probe + 12 * i, *Y = grad + 6;
  if (mb->nodes[node].flexible > 0) {
    mb_push_node(mb, w, node, s, grad);
    return;
  }
  for (int k = 0; k < 6; ++k) w->acceleration[6 * node + k] += s * Y[k];
}

/* b = G M^-1 grad^T of row number i, which is on this node. */
static void joint_response(const yoke_multibody *mb, const mb_work *w, int i, int node, double *b) {
  const double *grad = w->probe + 12 * i, *Y = grad + 6;
  memset(b, 0, (size_t)mb->ng * sizeof *b);
  for (int j = 0; j < mb->n_joints; ++j) {
    const mb_joint *joint = &mb->joints[j];
    for (int side = 0; side < 2; ++side) {
      const int own = joint->link.node[side];
      double    y[6];
      if (own != node && !mb_is_same_flexible(mb, own, node)) continue;
      if (own != node) mb_flexible_response(mb, w, node, grad, own, y);
      for (int g = joint->g0; g < joint->g0 + joint->n; ++g)
        b[g] += dot(6, w->grad + 12 * g + 6 * side, own != node ? y : Y);
    }
  }
}

/* Row i against a unit multiplier of row j, no joint considered. */
static double free_compliance(const yoke_multibody *mb, const mb_work *w, int i, int node_i, int j, int node_j) {
  double y[6];
  if (node_i == node_j) return dot(6, w->probe + 12 * i, w->probe + 12 * j + 6);
  if (!mb_is_same_flexible(mb, node_i, node_j)) return 0.0;
  mb_flexible_response(mb, w, node_j, w->probe + 12 * j, node_i, y);
  return dot(6, w->probe + 12 * i, y);
}

yoke_status mb_compliance(const yoke_multibody *mb, const mb_work *w, int n, const int *node, int n_more, double *W) {
  const ptrdiff_t ng = mb->ng;
  for (int i = 0; ng > 0 && i < n; ++i) {
    joint_response(mb, w, i, node[i], w->probe_b + i * ng);
    memcpy(w->probe_x + i * ng, w->probe_b + i * ng, (size_t)ng * sizeof *w->probe_x);
  }
  if (ng > 0) YOKE_TRY(mb_solve_many(mb, w, n + n_more, w->probe_x));
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = free_compliance(mb, w, i, node[i], j, node[j]);
      if (ng > 0) sum -= dot(mb->ng, w->probe_b + i * ng, w->probe_x + j * ng);
      W[i * n + j] = W[j * n + i] = sum;
    }
  }
  return YOKE_OK;
}

/* Compliance of row i for its body alone. */
static double local_compliance(const mb_work *w, int i) {
  return dot(6, w->probe + 12 * i, w->probe + 12 * i + 6);
}

/* W = L D L^T in place (lower part). First row whose pivot falls below `limit` of its body's own compliance, -1: none. */
static int factor_compliance(const mb_work *w, int n, double limit, double *W) {
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < j; ++k) W[j * n + j] -= W[j * n + k] * W[j * n + k] * W[k * n + k];
    if (!(W[j * n + j] > limit * local_compliance(w, j))) return j;
    for (int i = j + 1; i < n; ++i) {
      for (int k = 0; k < j; ++k) W[i * n + j] -= W[i * n + k] * W[j * n + k] * W[k * n + k];
      W[i * n + j] /= W[j * n + j];
    }
  }
  return -1;
}

/* W x = x; minimum-norm when singular. */
static yoke_status solve_compliance(const mb_work *w, int n, const double *W, double *x) {
  double *F = w->probe_work;
  memcpy(F, W, (size_t)n * (size_t)n * sizeof *F);
  if (factor_compliance(w, n, pivot_limit, F) < 0) {
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < i; ++k) x[i] -= F[i * n + k] * x[k];
    }
    for (int i = n - 1; i >= 0; --i) {
      x[i] /= F[i * n + i];
      for (int k = i + 1; k < n; ++k) x[i] -= F[k * n + i] * x[k];
    }
    return YOKE_OK;
  }
  lapack_int rank = 0;
  memcpy(F, W, (size_t)n * (size_t)n * sizeof *F);
  for (int i = 0; i < n * n; ++i) {
    if (!isfinite(F[i])) return YOKE_NON_FINITE;
  }
  for (int i = 0; i < n; ++i) {
    if (!isfinite(x[i])) return YOKE_NON_FINITE;
    w->probe_pivot[i] = 0;
  }
  const lapack_int info =
      lapack_dgelsy_work(n, n, 1, F, n, x, n, w->probe_pivot, rank_limit, &rank, F + n * n, (lapack_int)(72 * n));
  return info == 0 ? YOKE_OK : YOKE_SINGULAR;
}

/* ---- accelerations ---- */

/* All guided rows into w->probe. Needs W and their gradients. */
static void set_guided_probes(const yoke_multibody *mb, const mb_work *w) {
  for (int k = 0; k < mb->n_guided; ++k) {
    const mb_joint *joint = &mb->joints[mb->n_joints + k];
    const int       side  = mb->guided[k].side;
    for (int g = joint->g0; g < joint->g0 + joint->n; ++g) {
      w->probe_node[g - mb->ng] = joint->link.node[side];
      mb_set_probe(mb, w, g - mb->ng, joint->link.node[side], w->grad + 12 * g + 6 * side);
    }
  }
}

yoke_status mb_guide(const yoke_multibody *mb, const mb_work *w, double *lambda) {
  const int       n  = mb->n_rows - mb->ng;
  const ptrdiff_t ng = mb->ng;
  double         *mu = lambda + ng, *lambda_0 = ng > 0 ? w->probe_x + n * ng : NULL;
  const int      *node = w->probe_node;
  set_guided_probes(mb, w);
  if (ng > 0) memcpy(lambda_0, lambda, (size_t)ng * sizeof *lambda);
  YOKE_TRY(mb_compliance(mb, w, n, node, 1, w->probe_W));
  for (int i = 0; i < n; ++i) {
    mu[i] = -(w->gamma[ng + i] + dot(6, w->probe + 12 * i, w->acceleration + 6 * node[i]));
    if (ng > 0) mu[i] -= dot(mb->ng, w->probe_b + i * ng, lambda_0);
  }
  YOKE_TRY(solve_compliance(w, n, w->probe_W, mu));
  for (ptrdiff_t g = 0; g < ng; ++g) {
    lambda[g] = lambda_0[g];
    for (int i = 0; i < n; ++i) lambda[g] -= mu[i] * w->probe_x[i * ng + g];
  }
  for (int i = 0; i < n; ++i) mb_push_probe(mb, w, i, node[i], mu[i]);
  return YOKE_OK;
}

/* ---- what a joint at a ghost could do ---- */

/* The joint at a ghost behind a connection. */
typedef struct ghost_joint {
  const yoke_link *link;
  const yoke_row  *row;
  int              n, side;
} ghost_joint;

static ghost_joint of_driven(const mb_driven *driven) {
  return (ghost_joint){&driven->link, driven->row, driven->n, driven->side};
}

static ghost_joint of_guided(const yoke_multibody *mb, int k) {
  const mb_joint *joint = &mb->joints[mb->n_joints + k];
  return (ghost_joint){&joint->link, joint->row, joint->n, mb->guided[k].side};
}

/* Its rows into w->probe, their compliance into W [n, n]. Needs poses with inertia, ghosts too, and gradients of own joints. */
static yoke_status joint_compliance(const yoke_multibody *mb, const mb_work *w, const ghost_joint *joint, double *W) {
  const int       index = joint->link->node[joint->side];
  int             node[MOST_ROWS];
  yoke_link_state state;
  yoke_link_state_for(joint->link, joint->n, joint->row, w->pose, &state);
  for (int i = 0; i < joint->n; ++i) {
    double grad[12];
    (void)yoke_row_gradient(&joint->row[i], &state, grad);
    node[i] = index;
    mb_set_probe(mb, w, i, index, grad + 6 * joint->side);
  }
  return mb_compliance(mb, w, joint->n, node, 0, W);
}

/* Rows i and j of one node, for the body alone; a point of a flexible body is alone where the others are held. */
static double alone_compliance(const yoke_multibody *mb, const mb_work *w, int node, int i, int j) {
  double y[6];
  if (mb->nodes[node].flexible == 0) return dot(6, w->probe + 12 * i, w->probe + 12 * j + 6);
  mb_flexible_alone(mb, w, node, w->probe + 12 * j, y);
  return dot(6, w->probe + 12 * i, y);
}

void mb_look(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *u) {
  mb_poses(mb, w, q, NULL, true);
  mb_ghost_poses(mb, w, u);
  if (mb->ng > 0) mb_constraints(mb, w, t, false);
}

int yoke_multibody_n_extras(const yoke_multibody *mb, int k) {
  const mb_port *port = &mb->ports[k];
  if (port->extras == 0) return 0;
  return yoke_port_n_extras(port->extras,
                            port->guided >= 0 ? of_guided(mb, port->guided).n : mb->driven[port->driven].n);
}

void yoke_multibody_reaction(const yoke_multibody *mb, int k, const double *old, const double *now, double change,
                             double *y) {
  const mb_port *port = &mb->ports[k];
  if ((port->extras & YOKE_EXTRA_REACTION) == 0 || port->guided < 0) return;
  const mb_joint *joint = &mb->joints[mb->n_joints + port->guided];
  for (int i = 0; i < joint->n; ++i) y[i] = (now[joint->g0 + i] - old[joint->g0 + i]) / change;
}

yoke_status yoke_multibody_extras(const yoke_multibody *mb, void *work, int k, double t, const double *q,
                                  const double *u, const double *lambda, double *y) {
  const mb_port *port = &mb->ports[k];
  mb_work        w;
  if (port->extras == 0) return YOKE_OK;
  const ghost_joint joint = port->guided >= 0 ? of_guided(mb, port->guided) : of_driven(&mb->driven[port->driven]);
  if ((port->extras & YOKE_EXTRA_REACTION) != 0) {
    for (int i = 0; i < joint.n; ++i) {
      *y++ = port->guided >= 0 ? lambda[mb->joints[mb->n_joints + port->guided].g0 + i] : 0.0;
    }
  }
  if ((port->extras & ~YOKE_EXTRA_REACTION) == 0) return YOKE_OK;
  double W[MOST_ROWS * MOST_ROWS];
  mb_work_carve(mb, work, &w);
  mb_look(mb, &w, t, q, u);
  YOKE_TRY(joint_compliance(mb, &w, &joint, W));
  if ((port->extras & YOKE_EXTRA_COMPLIANCE) != 0) {
    memcpy(y, W, (size_t)(joint.n * joint.n) * sizeof *y);
    y += joint.n * joint.n;
  }
  for (int i = 0; (port->extras & YOKE_EXTRA_LOCAL_COMPLIANCE) != 0 && i < joint.n; ++i) {
    for (int j = 0; j < joint.n; ++j) *y++ = alone_compliance(mb, &w, joint.link->node[joint.side], i, j);
  }
  return YOKE_OK;
}

int yoke_multibody_stuck_guide(const yoke_multibody *mb, void *work, double t, const double *q, char *label,
                               size_t size, int *side) {
  const int n = mb->n_rows - mb->ng;
  mb_work   w;
  if (n == 0) return -1;
  mb_work_carve(mb, work, &w);
  mb_look(mb, &w, t, q, NULL);
  mb_guided_rows(mb, &w, NULL);
  set_guided_probes(mb, &w);
  int row = 0;
  if (mb_compliance(mb, &w, n, w.probe_node, 0, w.probe_W) == YOKE_OK) {
    row = factor_compliance(&w, n, stuck_limit, w.probe_W);
  }
  if (row < 0) return -1;
  const mb_joint *joint = &mb->joints[mb->row_joint[mb->ng + row]];
  yoke_row_label(&joint->row[mb->ng + row - joint->g0], label, size);
  *side = mb->guided[joint - mb->joints - mb->n_joints].side;
  return joint->connection;
}
