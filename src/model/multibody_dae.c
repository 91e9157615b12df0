/* Implicit view: E x' = F(t, x, u) with its analytic Jacobian (forms in equations.h).
 *
 * The traversal (multibody_traversal.h) gives pattern and values. Blocks of joints have many entries that vanish for all states (a
 * revolute joint's moments do not depend on positions): those that are exactly zero at several pseudo-random states are left
 * out. Blocks of forces and loads stay full, since laws may be flat somewhere. */
#include "model/multibody_traversal.h"

#include "base/finite.h"
#include "base/memory.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* ---- recording ---- */

static void grow(mb_sink *s) {
  const int    capacity = s->capacity < INT_MAX / 2 ? 2 * s->capacity + 1024 : INT_MAX;
  const size_t needed   = (size_t)capacity;
  s->failed             = s->failed || s->n == INT_MAX || !yoke_grow(&s->row, &s->room[0], needed, sizeof *s->row) ||
              !yoke_grow(&s->col, &s->room[1], needed, sizeof *s->col) ||
              !yoke_grow(&s->used, &s->room[2], needed, sizeof *s->used);
  s->capacity = s->failed ? s->capacity : capacity;
}

void mb_sink_record(mb_sink *s, int row, int col, bool is_used) {
  const uint8_t used = s->full || is_used;
  if (s->again) {
    s->used[s->n++] |= used;
    return;
  }
  if (s->n == s->capacity) grow(s);
  if (s->failed) return;
  s->used[s->n]  = used;
  s->row[s->n]   = row;
  s->col[s->n++] = col;
}

void mb_sink_clear(mb_sink *s) {
  free(s->row);
  free(s->col);
  free(s->used);
  *s = (mb_sink){0};
}

/* ---- traversal ---- */

/* Force Jacobian of two bodies, K and D [12, 12] inertial, f [12] the force itself; D may be NULL. */
static void emit_pair(const mb_traversal *x, const yoke_link *link, const double f[12], double *K, const double *D) {
  double rows[36], block[42];
  for (int s = 0; s < 2; ++s) add_turning(K + 12 * 6 * s + 6 * s, 12, f + 6 * s + 3);
  for (int s = 0; s < 2; ++s) {
    const mb_node *a = &x->mb->nodes[link->node[s]];
    const double  *R = x->w->pose[link->node[s]].R;
    for (int c = 0; c < 2; ++c) {
      const mb_node *b = &x->mb->nodes[link->node[c]];
      rows_to_v(a, R, 6, K + 12 * 6 * s + 6 * c, 12, rows);
      columns_to_q(b, x->q, a->nv, rows, 6, block);
      emit(x->out, x->i_force + a->iv, a->nv, b->iq, b->nq, block, b->nq);
      if (D == NULL) continue;
      rows_to_v(a, R, 6, D + 12 * 6 * s + 6 * c, 12, rows);
      columns_to_v(b, x->w->pose[link->node[c]].R, a->nv, rows, 6, block);
      emit(x->out, x->i_force + a->iv, a->nv, x->dae->i_v + b->iv, b->nv, block, b->nv);
    }
  }
}

/* The same for d(G^T mu)/dq in the kinematic rows. */
static void emit_pair_kinematic(const mb_traversal *x, const yoke_link *link, const double f[12], double *P) {
  double rows[42], block[49];
  for (int s = 0; s < 2; ++s) add_turning(P + 12 * 6 * s + 6 * s, 12, f + 6 * s + 3);
  for (int s = 0; s < 2; ++s) {
    const mb_node *a = &x->mb->nodes[link->node[s]];
    for (int c = 0; c < 2; ++c) {
      const mb_node *b = &x->mb->nodes[link->node[c]];
      rows_to_q(a, x->q, 6, P + 12 * 6 * s + 6 * c, 12, rows);
      columns_to_q(b, x->q, a->nq, rows, 6, block);
      emit(x->out, a->iq, a->nq, b->iq, b->nq, block, b->nq);
    }
  }
}

/* d(grad . X)/d(dr, dphi) for X = (.., R c, .., R d) with vectors that turn with their bodies: X^T H + X_w x t. */
static void contract(const double H[144], const double grad[12], const double X[12], double h[12]) {
  for (int c = 0; c < 12; ++c) {
    h[c] = 0.0;
    for (int r = 0; r < 12; ++r) h[c] += X[r] * H[12 * r + c];
  }
  vec3_add_cross(h + 3, 1.0, X + 3, grad + 3);
  vec3_add_cross(h + 9, 1.0, X + 9, grad + 9);
}

/* Accelerations (a, R alpha) of a node as a six-vector in inertial axes. */
static void acceleration_of(const mb_traversal *x, int index, double y[6]) {
  const mb_node *node = &x->mb->nodes[index];
  double         b[6] = {0.0};
  for (int k = 0; k < node->nv; ++k) b[node->freedom[k]] = x->a[node->iv + k];
  vec3_copy(y, b);
  mat3_apply(y + 3, x->w->pose[index].R, b + 3);
}

/* Patterns are those of all rows: they do not depend on what is retired when they are made. */
static bool is_retired(const mb_traversal *x, int g) {
  return x->mb->retired[g] && !(x->out != NULL && x->out->J == NULL);
}

/* Joints of a form: guided ones have rows in INDEX1, the only form they have. */
static int n_joints_of(const mb_traversal *x) {
  return x->mb->n_joints + x->mb->n_guided;
}

/* Which guided joint is it? NULL: an ordinary one. */
static const mb_guided *guided_of(const yoke_multibody *mb, const mb_joint *joint) {
  const ptrdiff_t k = joint - mb->joints - mb->n_joints;
  return k >= 0 ? &mb->guided[k] : NULL;
}

/* Derivative of grad . A + n . w x (w x c) of a row that does not carry gamma, n its force direction on the real side; c and w turn with the body:
 *   d = (H (A + a)) + a x n . dphi + (wc x n + c x (n x w)) . R domega,  a = w x (w x c), wc = w x c. */
static void bare_gradient(const mb_traversal *x, const mb_joint *joint, int i, int side, const yoke_link_state *state,
                          const double A[12], double d[24]) {
  const double *grad = x->w->grad + 12 * (joint->g0 + i), *n = grad + 6 * side;
  const double *w = x->w->pose[joint->link.node[side]].w;
  double        c[3], wc[3], a[3], nw[3], H[144] = {0.0};
  yoke_row_hessian_add(&joint->row[i], state, 1.0, H);
  memset(d, 0, 24 * sizeof *d);
  contract(H, grad, A, d);
  mb_centripetal(joint, side, x->w->pose, c, wc, a);
  for (int k = 0; k < 12; ++k) {
    for (int r = 0; r < 3; ++r) d[k] += a[r] * H[12 * (6 * side + r) + k];
  }
  vec3_add_cross(d + 6 * side + 3, 1.0, a, n);
  vec3_cross(nw, n, w);
  vec3_add_cross(d + 12 + 6 * side + 3, 1.0, wc, n);
  vec3_add_cross(d + 12 + 6 * side + 3, 1.0, c, nw);
}

/* GGL: rows are g' = 0. */
static void velocity_row(const mb_traversal *x, const mb_joint *joint, int i, const yoke_link_state *state,
                         mb_joint_parts *p) {
  const double *grad = x->w->grad + 12 * (joint->g0 + i);
  yoke_row_rate_gradient(&joint->row[i], state, grad, p->by_q[i]);
  memcpy(p->by_v[i], grad, 12 * sizeof *grad);
}

/* INDEX1: the derivative d [24] of g'', and those of the terms of Baumgarte. */
static void acceleration_row(const mb_traversal *x, const mb_joint *joint, int i, const yoke_link_state *state,
                             const double d[24], mb_joint_parts *p) {
  const double *grad    = x->w->grad + 12 * (joint->g0 + i);
  const double  damping = 2.0 * x->mb->alpha, stiffness = x->mb->beta * x->mb->beta;
  memcpy(p->by_q[i], d, 12 * sizeof *d);
  memcpy(p->by_v[i], d + 12, 12 * sizeof *d);
  if (guided_of(x->mb, joint) != NULL) return;
  if (damping != 0.0) {
    double h[12];
    yoke_row_rate_gradient(&joint->row[i], state, grad, h);
    for (int k = 0; k < 12; ++k) {
      p->by_q[i][k] += damping * h[k];
      p->by_v[i][k] += damping * grad[k];
    }
  }
  for (int k = 0; stiffness != 0.0 && k < 12; ++k) p->by_q[i][k] += stiffness * grad[k];
}

/* The rows' own equations. */
static void set_own_rows(const mb_traversal *x, const mb_joint *joint, const yoke_link_state *state,
                         mb_joint_parts *p) {
  const mb_guided *guided = guided_of(x->mb, joint);
  const bool       index1 = x->dae->form == YOKE_DAE_INDEX1, is_bare = guided != NULL && !guided->has_gamma;
  double           A[12], d[YOKE_CONNECTION_MAX_ROWS][24];
  for (int side = 0; index1 && side < 2; ++side) acceleration_of(x, joint->link.node[side], A + 6 * side);
  if (index1 && !is_bare) yoke_rows_second_gradient(joint->n, joint->row, state, A, d);
  for (int i = 0; i < joint->n; ++i) {
    if (is_retired(x, joint->g0 + i)) continue; /* its equation is lambda = 0 */
    if (is_bare) bare_gradient(x, joint, i, guided->side, state, A, d[i]);
    if (index1) {
      acceleration_row(x, joint, i, state, d[i], p);
    } else {
      velocity_row(x, joint, i, state, p);
    }
  }
}

void mb_set_joint_parts(const mb_traversal *x, const mb_joint *joint, mb_joint_parts *p) {
  yoke_link_state state;
  memset(p, 0, sizeof *p);
  yoke_link_state_for(&joint->link, joint->n, joint->row, x->w->pose, &state);
  set_own_rows(x, joint, &state, p);
  for (int i = 0; i < joint->n; ++i) {
    const int     g    = joint->g0 + i;
    const double *grad = x->w->grad + 12 * g;
    yoke_row_hessian_add(&joint->row[i], &state, x->lambda[g], p->H_lambda);
    for (int k = 0; k < 12; ++k) {
      p->f_lambda[k] += x->lambda[g] * grad[k];
      p->grad_t[k * joint->n + i] = grad[k];
      p->own_grad[i][k]           = is_retired(x, g) ? 0.0 : grad[k];
    }
    if (x->mu == NULL) continue;
    yoke_row_hessian_add(&joint->row[i], &state, x->mu[g], p->H_mu);
    for (int k = 0; k < 12; ++k) p->f_mu[k] += x->mu[g] * grad[k];
  }
}

static void emit_joint(const mb_traversal *x, const mb_joint *joint) {
  const yoke_dae *dae = x->dae;
  const int       n   = joint->n;
  const bool      ggl = dae->form == YOKE_DAE_GGL;
  mb_joint_parts  p;
  double          block[7 * YOKE_CONNECTION_MAX_ROWS];
  mb_set_joint_parts(x, joint, &p);
  emit_pair(x, &joint->link, p.f_lambda, p.H_lambda, NULL);
  if (ggl) emit_pair_kinematic(x, &joint->link, p.f_mu, p.H_mu);
  for (int s = 0; s < 2; ++s) {
    const int      index = joint->link.node[s];
    const mb_node *node  = &x->mb->nodes[index];
    const double  *R = x->w->pose[index].R, *grad = p.own_grad[0] + 6 * s;
    rows_to_v(node, R, n, p.grad_t + 6 * s * n, n, block);
    emit(x->out, x->i_force + node->iv, node->nv, dae->i_lambda + joint->g0, n, block, n);
    columns_to_q(node, x->q, n, p.by_q[0] + 6 * s, 12, block);
    emit(x->out, dae->i_lambda + joint->g0, n, node->iq, node->nq, block, node->nq);
    columns_to_v(node, R, n, p.by_v[0] + 6 * s, 12, block);
    emit(x->out, dae->i_lambda + joint->g0, n, dae->i_v + node->iv, node->nv, block, node->nv);
    if (ggl) {
      rows_to_q(node, x->q, n, p.grad_t + 6 * s * n, n, block);
      emit(x->out, node->iq, node->nq, dae->i_mu + joint->g0, n, block, n);
      columns_to_q(node, x->q, n, grad, 12, block);
      emit(x->out, dae->i_mu + joint->g0, n, node->iq, node->nq, block, node->nq);
    } else {
      columns_to_v(node, R, n, grad, 12, block);
      emit(x->out, dae->i_lambda + joint->g0, n, dae->i_a + node->iv, node->nv, block, node->nv);
    }
  }
}

/* Load or input on one node: K and D [6, 6]; f [6]. */
static void emit_single(const mb_traversal *x, int index, const double f[6], double *K, const double *D) {
  const mb_node *node = &x->mb->nodes[index];
  const double  *R    = x->w->pose[index].R;
  double         rows[36], block[42];
  add_turning(K, 6, f + 3);
  rows_to_v(node, R, 6, K, 6, rows);
  columns_to_q(node, x->q, node->nv, rows, 6, block);
  emit(x->out, x->i_force + node->iv, node->nv, node->iq, node->nq, block, node->nq);
  rows_to_v(node, R, 6, D, 6, rows);
  columns_to_v(node, R, node->nv, rows, 6, block);
  emit(x->out, x->i_force + node->iv, node->nv, x->dae->i_v + node->iv, node->nv, block, node->nv);
}

/* Where the components of a level are in x. */
static int first_of(const yoke_dae *dae, yoke_quantity_level level) {
  switch (level) {
  case YOKE_LEVEL_POSITION: return 0;
  case YOKE_LEVEL_VELOCITY: return dae->i_v;
  case YOKE_LEVEL_ACCELERATION: return dae->i_a;
  case YOKE_LEVEL_FORCE: return dae->i_lambda;
  case YOKE_LEVEL_ENERGY: break;
  }
  return -1;
}

/* Derivatives of `direction` [6] times an expression on one node by what the expression reads; its gradient is known. */
static void emit_expression(const mb_traversal *x, int index, const double direction[6], const yoke_expression *value) {
  const mb_node *node = &x->mb->nodes[index];
  for (int i = 0; i < yoke_expression_n_variables(value); ++i) {
    const int number = yoke_expression_variables(value)[i];
    if (number == 0) continue; /* t */
    mb_gradient variable;
    mb_variable_gradient(x->mb, x->w, number, x->q, x->a, &variable);
    for (int e = 0; e < variable.n; ++e) {
      double    scaled[6], column[6];
      const int first = first_of(x->dae, variable.entry[e].level), place = first + variable.entry[e].index;
      if (first < 0) continue; /* accelerations are no part of GGL */
      for (int r = 0; r < 6; ++r) scaled[r] = direction[r] * (x->w->gradient[i] * variable.entry[e].value);
      rows_to_v(node, x->w->pose[index].R, 1, scaled, 1, column);
      emit(x->out, x->i_force + node->iv, node->nv, place, 1, column, 1);
    }
  }
}

void mb_visit_load(const mb_traversal *x, const yoke_load_element *el, mb_visit *visit) {
  double direction[6];
  for (int k = 0; k < 3; ++k) {
    const yoke_expression *value = el->load->value[k];
    if (value == NULL || el->load->kind == YOKE_LOAD_DRAG || el->load->kind == YOKE_LOAD_CONTACT) continue;
    yoke_expression_evaluate(value, x->w->variables, x->w->gradient);
    yoke_load_direction(el, x->w->pose, k, direction);
    visit(x, el->node, direction, value);
  }
}

void mb_visit_formula(const mb_traversal *x, const mb_formula *formula, const double grad[12], mb_visit *visit) {
  const int *node = x->mb->forces[formula->force].link.node;
  double     direction[12];
  yoke_expression_evaluate(formula->expression, x->w->variables, x->w->gradient);
  for (int k = 0; k < 12; ++k) direction[k] = -grad[k];
  for (int side = 0; side < 2; ++side) visit(x, node[side], direction + 6 * side, formula->expression);
}

static void emit_load(const mb_traversal *x, const yoke_load_element *el) {
  double f[6], K[36], D[36];
  yoke_load_jacobian(el, x->w->pose, x->w->variables, f, K, D);
  emit_single(x, el->node, f, K, D);
  mb_visit_load(x, el, emit_expression);
}

static void emit_formula(const mb_traversal *x, const mb_formula *formula) {
  const yoke_force_element *el = &x->mb->forces[formula->force];
  yoke_link_state           state;
  double                    grad[12], f[12], K[144] = {0.0};
  const double              F = mb_formula_row(x->mb, formula, x->w, &state, grad);
  yoke_row_hessian_add(&el->row[0], &state, -F, K);
  for (int k = 0; k < 12; ++k) f[k] = -F * grad[k];
  emit_pair(x, &el->link, f, K, NULL);
  mb_visit_formula(x, formula, grad, emit_expression);
}

/* Moment p x F of a force input turns with the body; a moment input is fixed in space. */
static void emit_input(const mb_traversal *x, const mb_input *input, double u) {
  double       f[6] = {0.0}, K[36] = {0.0}, p[3], M[9];
  const double D[36] = {0.0};
  if (input->node < 0) return; /* moves a ghost or is a multiplier: inputs have no columns */
  f[input->freedom] = u * input->factor;
  if (input->freedom < 3) {
    mat3_apply(p, x->w->pose[input->node].R, input->origin);
    mat3_cross_cross(M, f, p);
    vec3_cross(f + 3, p, f);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) K[6 * (3 + i) + 3 + j] = M[3 * i + j];
    }
  }
  emit_single(x, input->node, f, K, D);
}

static void emit_driven(const mb_traversal *x, const mb_driven *driven) {
  const double D[36] = {0.0};
  double       f[6], K[36];
  mb_driven_force(driven, x->w->pose, x->u, f, K);
  emit_single(x, driven->link.node[driven->side], f, K, D);
  if (!x->mb->has_mu) return;
  const mb_node *node = &x->mb->nodes[driven->link.node[driven->side]];
  double         rows[42], block[49];
  mb_driven_move(driven, x->w->pose, x->u, f, K); /* d(T mu grad)/dq with T held; emit_quaternion has the rest */
  add_turning(K, 6, f + 3);
  rows_to_q(node, x->q, 6, K, 6, rows);
  columns_to_q(node, x->q, node->nq, rows, 6, block);
  emit(x->out, node->iq, node->nq, node->iq, node->nq, block, node->nq);
}

static void emit_one(mb_sink *out, int row, int col, double value) {
  emit(out, row, 1, col, 1, &value, 1);
}

/* 0 = lambda and 0 = mu in the rows of retired constraints. */
static void emit_retired(const mb_traversal *x) {
  for (int g = 0; g < x->mb->ng; ++g) {
    const double one = x->mb->retired[g] ? 1.0 : 0.0;
    emit_one(x->out, x->dae->i_lambda + g, x->dae->i_lambda + g, one);
    if (x->dae->i_mu >= 0) emit_one(x->out, x->dae->i_mu + g, x->dae->i_mu + g, one);
  }
}

/* Kinematic rows of Euler parameters: p' = 1/2 E(p) (omega + m) + p nu, R m in w->acceleration. `norm` counts rigid bodies. */
static void emit_quaternion(const mb_traversal *x, int index, int norm) {
  const mb_node *node  = &x->mb->nodes[index];
  const double  *p     = x->q + node->iq + 3;
  const double  *omega = x->v + node->iv + 3;
  double         E[12], m[3], O[16], gyro[9], Jw[3], A[9], B[9];
  mat3_apply_transposed(m, x->w->pose[index].R, x->w->acceleration + 6 * index + 3);
  vec3_add(m, 1.0, omega);
  quaternion_E(E, p);
  for (int i = 0; i < 12; ++i) E[i] *= 0.5;
  emit(x->out, node->iq + 3, 4, x->dae->i_v + node->iv + 3, 3, E, 3);
  mat3_cross(A, m);
  for (int i = 0; i < 4; ++i) { /* 1/2 [0 -m^T; m -[m]x] + nu I */
    for (int j = 0; j < 4; ++j) {
      O[4 * i + j] = i == 0 && j == 0 ? 0.0
                     : i == 0         ? -0.5 * m[j - 1]
                     : j == 0         ? 0.5 * m[i - 1]
                                      : -0.5 * A[3 * (i - 1) + j - 1];
    }
    if (x->nu != NULL) O[5 * i] += x->nu[norm];
  }
  emit(x->out, node->iq + 3, 4, node->iq + 3, 4, O, 4);
  if (x->dae->i_nu >= 0) {
    emit(x->out, node->iq + 3, 4, x->dae->i_nu + norm, 1, p, 1);
    emit(x->out, x->dae->i_nu + norm, 1, node->iq + 3, 4, p, 4);
  }
  if (node->flexible > 0) return; /* its rotations are small */
  /* -omega x J omega: derivative [J omega]x - [omega]x J */
  mat3_apply(Jw, node->inertia, omega);
  mat3_cross(gyro, Jw);
  mat3_cross(A, omega);
  mat3_multiply(B, A, node->inertia);
  for (int i = 0; i < 9; ++i) gyro[i] -= B[i];
  emit(x->out, x->i_force + node->iv + 3, 3, x->dae->i_v + node->iv + 3, 3, gyro, 3);
}

/* Index-1 rows v' = a and -M a of a node. */
static void emit_mass(const mb_traversal *x, const mb_node *node) {
  for (int k = 0; k < node->nv; ++k) {
    emit_one(x->out, x->dae->i_v + node->iv + k, x->dae->i_a + node->iv + k, 1.0);
    for (int l = 0; l < node->nv; ++l) {
      const int a = node->freedom[k], b = node->freedom[l];
      if ((a < 3) != (b < 3) || (a < 3 && a != b)) continue;
      emit_one(x->out, x->i_force + node->iv + k, x->dae->i_a + node->iv + l,
               a < 3 ? -node->mass : -node->inertia[3 * (a - 3) + b - 3]);
    }
  }
}

static void emit_nodes(const mb_traversal *x) {
  int norm = 0;
  for (int i = 1; i < x->mb->n_nodes; ++i) {
    const mb_node *node = &x->mb->nodes[i];
    if (node->kind == YOKE_BODY_CHAIN) continue;
    for (int k = 0; k < node->nv && k < 3; ++k) emit_one(x->out, node->iq + k, x->dae->i_v + node->iv + k, 1.0);
    if (node->kind == YOKE_BODY_RIGID) emit_quaternion(x, i, norm++);
    if (x->dae->form == YOKE_DAE_INDEX1 && node->flexible == 0) emit_mass(x, node);
  }
}

static void emit_chain(const mb_traversal *x, const mb_chain *chain) {
  const int     n = chain->n;
  double       *c = x->w->chain;
  const double *m = yoke_chain_kernel_mass(chain->kernel);
  yoke_chain_kernel_jacobian(chain->kernel, x->t, x->q + chain->iq, x->v + chain->iv, c, c + n, c + 2 * n, c + 3 * n,
                             c + 4 * n, c + 5 * n);
  for (int i = 0; i < n; ++i) {
    const int row = x->i_force + chain->iv + i, column[2] = {chain->iq + i, x->dae->i_v + chain->iv + i};
    emit_one(x->out, chain->iq + i, x->dae->i_v + chain->iv + i, 1.0);
    for (int k = 0; k < 2; ++k) {
      const double *d = c + 3 * n * k;
      if (i > 0) emit_one(x->out, row, column[k] - 1, d[i]);
      emit_one(x->out, row, column[k], d[n + i]);
      if (i + 1 < n) emit_one(x->out, row, column[k] + 1, d[2 * n + i]);
    }
    if (x->dae->form == YOKE_DAE_INDEX1) {
      emit_one(x->out, x->dae->i_v + chain->iv + i, x->dae->i_a + chain->iv + i, 1.0);
      emit_one(x->out, row, x->dae->i_a + chain->iv + i, -m[i]);
    }
  }
}

/* Where an entry of the mass matrix of a flexible body goes: row + i and column + j of the sink, s times. */
typedef struct mass_sink {
  mb_sink *out;
  int      row, column, stride;
  double   s;
} mass_sink;

static void emit_mass_entry(void *user, int row, int column, double value) {
  const mass_sink *m = user;
  for (int k = 0; k < m->stride; ++k)
    emit_one(m->out, m->row + row * m->stride + k, m->column + column * m->stride + k, m->s * value);
}

/* Derivatives of inner forces. */
typedef struct flexible_sink {
  const mb_traversal *x;
  const mb_flexible  *f;
} flexible_sink;

static void emit_flexible_block(void *user, bool by_velocity, int row, int column, int size, const double *A) {
  const flexible_sink *s     = user;
  const int            first = by_velocity ? s->x->dae->i_v + s->f->iv : s->f->iq;
  emit(s->x->out, s->x->i_force + s->f->iv + row, size, first + column, size, A, size);
}

static void emit_flexible(const mb_traversal *x, const mb_flexible *f) {
  flexible_sink s = {x, f};
  yoke_flexible_jacobian(f->given, x->q + f->iq, x->v + f->iv, emit_flexible_block, &s);
  if (x->dae->form != YOKE_DAE_INDEX1) return;
  mass_sink m = {x->out, x->i_force + f->iv, x->dae->i_a + f->iv, f->stride, -1.0};
  yoke_flexible_mass(f->given, emit_mass_entry, &m);
  for (int i = f->iv; i < f->iv + f->n; ++i) emit_one(x->out, x->dae->i_v + i, x->dae->i_a + i, 1.0);
}

/* G^T lambda of the first joints into `out` [n_nodes, 6] (added). */
static void add_multipliers(const yoke_multibody *mb, const mb_work *w, int n_joints, const double *lambda,
                            double *out) {
  for (int j = 0; j < n_joints; ++j) {
    const mb_joint *joint = &mb->joints[j];
    for (int i = joint->g0; i < joint->g0 + joint->n; ++i) {
      double *a = out + 6 * joint->link.node[0], *b = out + 6 * joint->link.node[1];
      for (int k = 0; k < 6; ++k) {
        a[k] += lambda[i] * w->grad[12 * i + k];
        b[k] += lambda[i] * w->grad[12 * i + 6 + k];
      }
    }
  }
}

void mb_traversal_set(mb_traversal *x, const double *state) {
  const yoke_dae *dae = x->dae;
  x->q                = state;
  x->v                = state + dae->i_v;
  x->a                = dae->i_a >= 0 ? state + dae->i_a : NULL;
  x->lambda           = dae->i_lambda >= 0 ? state + dae->i_lambda : NULL;
  x->mu               = dae->i_mu >= 0 ? state + dae->i_mu : NULL;
  x->nu               = dae->i_nu >= 0 ? state + dae->i_nu : NULL;
  x->i_force          = dae->form == YOKE_DAE_GGL ? dae->i_v : dae->i_a;
}

/* All derivatives of F. */
static void traverse(mb_traversal *x) {
  const yoke_multibody *mb = x->mb;
  mb_poses(mb, x->w, x->q, x->v, false);
  mb_ghost_poses(mb, x->w, x->u);
  if (mb->n_loop > 0) mb_feel(mb, x->w, x->q, x->v, x->a, x->lambda);
  if (mb->needs_variables) mb_variables(mb, x->w, x->t, x->q, x->v, x->u);
  if (mb->ng > 0) mb_constraints(mb, x->w, x->t, false);
  if (mb->n_guided > 0) mb_guided_rows(mb, x->w, x->u);
  memset(x->w->acceleration, 0, 6 * (size_t)mb->n_nodes * sizeof *x->w->acceleration);
  if (x->mu != NULL) add_multipliers(mb, x->w, mb->n_joints, x->mu, x->w->acceleration);
  for (int i = 0; mb->has_mu && i < mb->n_driven; ++i) {
    const mb_driven *driven = &mb->driven[i];
    double           z[6];
    mb_driven_move(driven, x->w->pose, x->u, z, NULL);
    for (int k = 0; k < 6; ++k) x->w->acceleration[6 * driven->link.node[driven->side] + k] += z[k];
  }
  x->out->full = true;
  emit_nodes(x);
  for (int c = 0; c < mb->n_chains; ++c) emit_chain(x, &mb->chains[c]);
  for (int i = 0; i < mb->n_flexibles; ++i) emit_flexible(x, &mb->flexibles[i]);
  x->out->full = false;
  for (int j = 0; j < mb->n_joints; ++j) emit_joint(x, &mb->joints[j]);
  x->out->full = true; /* the ghosts of guided joints have no pseudo-random states */
  for (int j = mb->n_joints; j < n_joints_of(x); ++j) emit_joint(x, &mb->joints[j]);
  emit_retired(x);
  for (int i = 0; i < mb->n_forces; ++i) {
    double f[12], K[144], D[144];
    yoke_force_element_jacobian(&mb->forces[i], x->w->pose, x->t, f, K, D);
    emit_pair(x, &mb->forces[i].link, f, K, D);
  }
  for (int i = 0; i < mb->n_loads; ++i) emit_load(x, &mb->loads[i]);
  for (int i = 0; i < mb->n_formulas; ++i) emit_formula(x, &mb->formulas[i]);
  for (int i = 0; i < mb->n_inputs; ++i) emit_input(x, &mb->inputs[i], x->u != NULL ? x->u[i] : 0.0);
  for (int i = 0; i < mb->n_driven; ++i) emit_driven(x, &mb->driven[i]);
}

/* ---- E and R ---- */

/* Places that E and R need, behind those of J. */
static void emit_constant_places(const yoke_multibody *mb, const yoke_dae *dae, mb_sink *out) {
  for (int i = 0; i < mb->nq; ++i) emit_one(out, i, i, 0.0);
  for (int i = 0; i < mb->nv; ++i) emit_one(out, dae->i_v + i, dae->i_v + i, 0.0);
  for (int n = 1; n < mb->n_nodes; ++n) {
    const mb_node *node = &mb->nodes[n];
    if (node->kind != YOKE_BODY_RIGID) continue;
    const double zero[9] = {0.0};
    emit(out, dae->i_v + node->iv + 3, 3, dae->i_v + node->iv + 3, 3, zero, 3);
  }
  for (int i = 0; dae->form == YOKE_DAE_GGL && i < mb->n_flexibles; ++i) {
    const mb_flexible *f = &mb->flexibles[i];
    mass_sink          m = {out, dae->i_v + f->iv, dae->i_v + f->iv, f->stride, 0.0};
    yoke_flexible_mass(f->given, emit_mass_entry, &m);
  }
  for (int g = 0; g < mb->n_rows; ++g) {
    emit_one(out, dae->i_lambda + g, dae->i_lambda + g, 0.0);
    if (dae->i_mu >= 0) emit_one(out, dae->i_mu + g, dae->i_mu + g, 0.0);
  }
}

static double *entry(const yoke_pattern *pattern, double *values, int row, int col) {
  int low = pattern->col_start[col], high = pattern->col_start[col + 1] - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (pattern->row[middle] < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return values + low;
}

/* Entries of E of a flexible body. */
typedef struct mass_places {
  yoke_dae *dae;
  int       first, stride;
} mass_places;

static void add_mass_entry(void *user, int row, int column, double value) {
  const mass_places *m = user;
  for (int k = 0; k < m->stride; ++k)
    *entry(m->dae->pattern, m->dae->E, m->first + row * m->stride + k, m->first + column * m->stride + k) += value;
}

static void set_E(const yoke_multibody *mb, yoke_dae *dae) {
  const bool ggl = dae->form == YOKE_DAE_GGL;
  for (int i = 0; i < mb->nq; ++i) *entry(dae->pattern, dae->E, i, i) = 1.0;
  for (int i = 0; !ggl && i < mb->nv; ++i) *entry(dae->pattern, dae->E, dae->i_v + i, dae->i_v + i) = 1.0;
  for (int c = 0; ggl && c < mb->n_chains; ++c) {
    for (int i = 0; i < mb->chains[c].n; ++i) {
      const int k                        = dae->i_v + mb->chains[c].iv + i;
      *entry(dae->pattern, dae->E, k, k) = yoke_chain_kernel_mass(mb->chains[c].kernel)[i];
    }
  }
  for (int i = 0; ggl && i < mb->n_flexibles; ++i) {
    mass_places m = {dae, dae->i_v + mb->flexibles[i].iv, mb->flexibles[i].stride};
    yoke_flexible_mass(mb->flexibles[i].given, add_mass_entry, &m);
  }
  for (int n = 1; ggl && n < mb->n_nodes; ++n) {
    const mb_node *node = &mb->nodes[n];
    const int      base = dae->i_v + node->iv;
    if (node->kind == YOKE_BODY_CHAIN || node->flexible > 0) continue;
    for (int k = 0; k < node->nv; ++k) {
      if (node->freedom[k] < 3) *entry(dae->pattern, dae->E, base + k, base + k) = node->mass;
    }
    if (node->kind == YOKE_BODY_PLANAR) *entry(dae->pattern, dae->E, base + 2, base + 2) = node->inertia[8];
    for (int i = 0; node->kind == YOKE_BODY_RIGID && i < 9; ++i) {
      *entry(dae->pattern, dae->E, base + 3 + i / 3, base + 3 + i % 3) = node->inertia[i];
    }
  }
}

/* R = -diag(G M^-1 G^T) for velocity (or acceleration) constraints, -diag(G G^T) for position constraints, at the guess. */
static void set_R(const yoke_multibody *mb, const mb_work *w, const double *q, yoke_dae *dae) {
  if (mb->n_rows == 0) return;
  mb_poses(mb, w, q, NULL, true);
  mb_ghost_poses(mb, w, NULL);
  mb_constraints(mb, w, mb->model->t_start, false);
  mb_guided_rows(mb, w, NULL);
  for (int g = 0; g < mb->n_rows; ++g) {
    double by_mass = 0.0, plain = 0.0;
    for (int side = 0; side < 2; ++side) {
      const int      index = mb->joints[mb->row_joint[g]].link.node[side];
      const mb_node *node  = &mb->nodes[index];
      if (index >= mb->n_nodes) continue; /* a ghost */
      const double *n = w->grad + 12 * g + 6 * side, *t = n + 3;
      double        row[6], Wt[3];
      if (node->flexible > 0) {
        double y[6];
        mb_flexible_response(mb, w, index, n, index, y);
        by_mass += vec3_dot(n, y) + vec3_dot(t, y + 3);
      } else {
        mat3_apply(Wt, w->W + 9 * index, t);
        by_mass += vec3_dot(t, Wt);
        for (int k = 0; k < 3; ++k) by_mass += node->inverse_mass[k] * n[k] * n[k];
      }
      columns_to_v(node, w->pose[index].R, 1, n, 12, row);
      for (int k = 0; k < node->nv; ++k) plain += row[k] * row[k];
    }
    *entry(dae->pattern, dae->R, dae->i_lambda + g, dae->i_lambda + g) = by_mass > 0.0 ? -by_mass : -1.0;
    if (dae->i_mu >= 0) *entry(dae->pattern, dae->R, dae->i_mu + g, dae->i_mu + g) = plain > 0.0 ? -plain : -1.0;
  }
}

/* ---- creation ---- */

static void set_parts(const yoke_multibody *mb, yoke_dae_form form, yoke_dae *dae) {
  const bool ggl = form == YOKE_DAE_GGL;
  int        n   = mb->nq + mb->nv;
  dae->form      = form;
  dae->i_v       = mb->nq;
  dae->i_a = dae->i_lambda = dae->i_mu = dae->i_nu = -1;
  if (!ggl) {
    dae->i_a = n;
    n += mb->nv;
  }
  if (mb->n_rows > 0) {
    dae->i_lambda = n;
    n += mb->n_rows;
  }
  if (ggl && mb->ng > 0) {
    dae->i_mu = n;
    n += mb->ng;
  }
  if (ggl && mb->n_norms > 0) {
    dae->i_nu = n;
    n += mb->n_norms;
  }
  dae->nx = n;
}

static uint8_t component_at(const yoke_multibody *mb, const yoke_dae *dae, int i) {
  /* Integrals of positions are results that somebody asked for: they count in error norms. The work of dampers and loads is
   * watched only. */
  if (i < mb->nq) {
    if (i < mb->nq_states) return YOKE_COMPONENT_Q;
    return i != mb->i_dissipated && i != mb->i_external ? YOKE_COMPONENT_INTEGRAL : YOKE_COMPONENT_QUADRATURE;
  }
  if (dae->i_nu >= 0 && i >= dae->i_nu) return YOKE_COMPONENT_NU;
  if (dae->i_mu >= 0 && i >= dae->i_mu) return YOKE_COMPONENT_MU;
  if (dae->i_lambda >= 0 && i >= dae->i_lambda) return YOKE_COMPONENT_LAMBDA;
  if (dae->i_a >= 0 && i >= dae->i_a) return YOKE_COMPONENT_A;
  return YOKE_COMPONENT_V;
}

/* A state without special values: nothing is aligned, at rest or unloaded. */
static void scatter_state(const yoke_dae *dae, uint32_t *seed, double *state) {
  for (int i = 0; i < dae->nx; ++i) {
    *seed    = *seed * 1664525u + 1013904223u;
    state[i] = 0.2 + (double)(*seed >> 8) / 16777216.0;
    if ((*seed >> 12) % 2 == 1) state[i] = -state[i];
  }
}

/* Triplets that are used move to the front; place[k] is the new number of the k-th, or -1. Returns how many stay. */
static int keep_used(mb_sink *s, int *place) {
  int n = 0;
  for (int k = 0; k < s->n; ++k) {
    place[k] = s->used[k] ? n : -1;
    if (!s->used[k]) continue;
    s->row[n]   = s->row[k];
    s->col[n++] = s->col[k];
  }
  return n;
}

/* Structure by traversals that record. */
static yoke_status record(const yoke_multibody *mb, yoke_dae *parts, const mb_work *w, double *state, mb_sink *out,
                          mb_dae **result) {
  mb_traversal x    = {.mb = mb, .dae = parts, .w = w, .out = out, .t = mb->model->t_start};
  uint32_t     seed = 2024u;
  mb_traversal_set(&x, state);
  for (int trial = 0; trial < 3 && !out->failed; ++trial) {
    scatter_state(parts, &seed, state);
    out->n = 0;
    traverse(&x);
    out->again = true;
  }
  out->again = false;
  emit_constant_places(mb, parts, out);
  if (out->failed) return YOKE_E_MEMORY;
  mb_dae *dae = yoke_allocate(1, sizeof *dae + ((size_t)out->n + 1) * sizeof dae->slot[0]);
  if (dae == NULL) return YOKE_E_MEMORY;
  dae->base           = *parts;
  dae->n_slots        = out->n;
  *result             = dae;
  dae->base.component = yoke_arena_take(&dae->base.arena, (size_t)parts->nx + 1, sizeof *dae->base.component);
  if (dae->base.arena.has_failed) return YOKE_E_MEMORY;
  for (int i = 0; i < parts->nx; ++i) dae->base.component[i] = component_at(mb, parts, i);
  const int n_used = keep_used(out, dae->slot);
  int      *where  = yoke_allocate((size_t)n_used + 1, sizeof *where);
  if (where == NULL) return YOKE_E_MEMORY;
  const yoke_status status =
      yoke_pattern_create(NULL, parts->nx, parts->nx, n_used, out->row, out->col, where, &dae->base.pattern);
  for (int k = 0; status == YOKE_OK && k < out->n; ++k) dae->slot[k] = dae->slot[k] >= 0 ? where[dae->slot[k]] : -1;
  free(where);
  if (status != YOKE_OK) return status;
  dae->base.E = yoke_arena_take(&dae->base.arena, (size_t)dae->base.pattern->nnz + 1, sizeof *dae->base.E);
  dae->base.R = yoke_arena_take(&dae->base.arena, (size_t)dae->base.pattern->nnz + 1, sizeof *dae->base.R);
  if (dae->base.arena.has_failed) return YOKE_E_MEMORY;
  set_E(mb, &dae->base);
  yoke_multibody_initial_guess(mb, state, state + parts->i_v);
  set_R(mb, w, state, &dae->base);
  return YOKE_OK;
}

yoke_status mb_dae_create(const void *self, yoke_context *ctx, yoke_dae_form form, yoke_dae **out) {
  const yoke_multibody *mb    = self;
  yoke_dae              parts = {0};
  mb_dae               *dae   = NULL;
  mb_work               w;
  mb_sink               s = {0};
  *out                    = NULL;
  set_parts(mb, mb->n_guided > 0 ? YOKE_DAE_INDEX1 : form, &parts);
  parts.arena         = yoke_arena_of(ctx);
  yoke_arena  scratch = {0};
  void       *block   = yoke_arena_take(&scratch, 1, mb_work_size(mb));
  double     *state   = yoke_arena_take(&scratch, (size_t)parts.nx + 1, sizeof *state);
  yoke_status status  = YOKE_E_MEMORY;
  if (!scratch.has_failed) {
    mb_work_carve(mb, block, &w);
    status = record(mb, &parts, &w, state, &s, &dae);
  }
  if (status == YOKE_OK && parts.form == YOKE_DAE_INDEX1) status = mb_inputs_record(mb, &w, state, dae);
  mb_sink_clear(&s);
  yoke_arena_free(&scratch);
  if (status != YOKE_OK) {
    yoke_dae *base = dae != NULL ? &dae->base : NULL;
    yoke_dae_destroy(&base);
    return yoke_out_of_memory(ctx, "the Jacobian of %d unknowns", parts.nx);
  }
  *out = &dae->base;
  return YOKE_OK;
}

/* Entries of G, its transpose and its derivatives in the rows and columns of a joint, and what its two bodies do to each other. */
static size_t n_joint_entries(const yoke_multibody *mb, const mb_joint *joint, bool ggl) {
  const mb_node *a = &mb->nodes[joint->link.node[0]], *b = &mb->nodes[joint->link.node[1]];
  const int      nq = a->nq + b->nq, nv = a->nv + b->nv;
  const int      across = a->nv * b->nq + b->nv * a->nq + (ggl ? 2 * a->nq * b->nq : 0);
  return (size_t)(across + joint->n * (ggl ? 3 * nq + 2 * nv : nq + 3 * nv));
}

/* What an expression on a node may depend on. */
static size_t n_expression_entries(const mb_node *node, const yoke_expression *value) {
  const int most = (int)(sizeof((mb_gradient){0}.entry) / sizeof((mb_gradient){0}.entry[0]));
  return value != NULL ? (size_t)(node->nv * most * yoke_expression_n_variables(value)) : 0;
}

void mb_dae_size(const void *self, yoke_dae_form form, int *nx, int *nnz) {
  const yoke_multibody *mb    = self;
  yoke_dae              parts = {0};
  set_parts(mb, mb->n_guided > 0 ? YOKE_DAE_INDEX1 : form, &parts);
  const bool ggl = parts.form == YOKE_DAE_GGL;
  /* diagonals of E and R; three columns of q and of v for a mass of a chain, and its own */
  size_t     n = (size_t)mb->nq + (size_t)mb->nv + (size_t)mb->n_rows * (ggl ? 2 : 1);
  for (int c = 0; c < mb->n_chains; ++c) n += 9 * (size_t)mb->chains[c].n;
  for (int i = 0; i < mb->n_flexibles; ++i) n += yoke_flexible_n_entries(mb->flexibles[i].given);
  for (int i = 1; i < mb->n_nodes;
       ++i) { /* q' and v' by the q and v of the body itself, its norm or its accelerations */
    const mb_node *node = &mb->nodes[i];
    const int      all  = node->nq + node->nv;
    n += (size_t)(all * all + (ggl ? 8 : node->nv * (node->nv + 1)));
  }
  for (int j = 0; j < mb->n_joints + mb->n_guided; ++j) n += n_joint_entries(mb, &mb->joints[j], ggl);
  for (int i = 0; i < mb->n_forces; ++i) {
    const mb_node *a = &mb->nodes[mb->forces[i].link.node[0]], *b = &mb->nodes[mb->forces[i].link.node[1]];
    n += (size_t)(a->nv * (b->nq + b->nv) + b->nv * (a->nq + a->nv));
  }
  for (int i = 0; i < mb->n_loads; ++i) {
    const mb_node *node = &mb->nodes[mb->loads[i].node];
    for (int k = 0; k < 3; ++k) n += n_expression_entries(node, mb->loads[i].load->value[k]);
  }
  for (int i = 0; i < mb->n_formulas; ++i) {
    const int *node = mb->forces[mb->formulas[i].force].link.node;
    for (int s = 0; s < 2; ++s) n += n_expression_entries(&mb->nodes[node[s]], mb->formulas[i].expression);
  }
  *nx  = parts.nx;
  *nnz = n < INT_MAX ? (int)n : INT_MAX;
}

/* ---- F and J ---- */

static void write_kinematics(const mb_traversal *x, double *F) {
  const yoke_multibody *mb   = x->mb;
  int                   norm = 0;
  mb_kinematics(mb, x->q, x->v, F);
  for (int i = 1; i < mb->n_nodes; ++i) {
    const mb_node *node = &mb->nodes[i];
    const double  *m    = x->w->acceleration + 6 * i; /* G^T mu */
    double         rows[7];
    if (x->mu != NULL) {
      rows_to_q(node, x->q, 1, m, 1, rows);
      for (int k = 0; k < node->nq; ++k) F[node->iq + k] += rows[k];
    }
    if (node->kind != YOKE_BODY_RIGID) continue;
    const double *p = x->q + node->iq + 3;
    if (x->nu != NULL) {
      for (int k = 0; k < 4; ++k) F[node->iq + 3 + k] += p[k] * x->nu[norm];
      F[x->dae->i_nu + norm] = 0.5 * (quaternion_norm2(p) - 1.0);
    }
    ++norm;
  }
}

/* Rows of the equations of motion from the wrenches. */
static yoke_status write_forces(const mb_traversal *x, double *F) {
  const yoke_multibody *mb = x->mb;
  for (int c = 0; c < mb->n_chains; ++c) {
    const mb_chain *chain = &mb->chains[c];
    YOKE_TRY(yoke_chain_kernel_force(chain->kernel, x->t, mb->model->gravity[0], x->q + chain->iq, x->v + chain->iv,
                                     F + x->i_force + chain->iv));
  }
  if (mb->n_flexibles > 0) mb_flexible_forces(mb, x->q, x->v, F + x->i_force);
  for (int i = 1; i < mb->n_nodes; ++i) {
    const mb_node *node = &mb->nodes[i];
    double        *f    = F + x->i_force + node->iv;
    if (node->kind == YOKE_BODY_CHAIN) {
      f[0] += x->w->wrench[6 * i];
    } else if (node->flexible > 0) {
      double own[6];
      rows_to_v(node, x->w->pose[i].R, 1, x->w->wrench + 6 * i, 1, own);
      for (int k = 0; k < node->nv; ++k) f[k] += own[k];
    } else {
      rows_to_v(node, x->w->pose[i].R, 1, x->w->wrench + 6 * i, 1, f);
    }
  }
  return YOKE_OK;
}

static void write_constraints(const mb_traversal *x, double *F) {
  const yoke_multibody *mb = x->mb;
  const mb_work        *w  = x->w;
  if (x->dae->form == YOKE_DAE_GGL) {
    for (int g = 0; g < mb->ng; ++g) {
      F[x->dae->i_lambda + g] = mb->retired[g] ? x->lambda[g] : w->rate[g];
      F[x->dae->i_mu + g]     = mb->retired[g] ? x->mu[g] : w->s[g];
    }
    return;
  }
  for (int j = 0; j < n_joints_of(x); ++j) {
    const mb_joint *joint     = &mb->joints[j];
    const bool      is_guided = j >= mb->n_joints;
    double          A[12];
    for (int side = 0; side < 2; ++side) acceleration_of(x, joint->link.node[side], A + 6 * side);
    for (int g = joint->g0; g < joint->g0 + joint->n; ++g) {
      double sum = w->gamma[g];
      if (!is_guided) sum += 2.0 * mb->alpha * w->rate[g] + mb->beta * mb->beta * w->s[g];
      for (int k = 0; k < 12; ++k) sum += w->grad[12 * g + k] * A[k];
      F[x->dae->i_lambda + g] = mb->retired[g] ? x->lambda[g] : sum;
    }
  }
}

yoke_status mb_dae_rhs(const void *self, const yoke_dae *dae, void *work, double t, const double *state,
                       const double *u, double *F) {
  const yoke_multibody *mb = self;
  mb_work               w;
  mb_work_carve(mb, work, &w);
  mb_traversal x = {.mb = mb, .dae = dae, .w = &w, .t = t, .u = u};
  mb_traversal_set(&x, state);
  YOKE_TRY(mb_rest(mb, work, t, x.q, x.v, u));
  mb_poses(mb, &w, x.q, x.v, false);
  mb_ghost_poses(mb, &w, u);
  if (mb->n_loop > 0) mb_feel(mb, &w, x.q, x.v, x.a, x.lambda);
  YOKE_TRY(mb_forces(mb, &w, t, x.q, x.v, u));
  if (mb->n_rows > 0) {
    mb_constraints(mb, &w, t, true);
    mb_guided_rows(mb, &w, u);
    add_multipliers(mb, &w, mb->n_joints + mb->n_guided, x.lambda, w.wrench);
    if (x.mu != NULL) {
      memset(w.acceleration, 0, 6 * (size_t)mb->n_nodes * sizeof *w.acceleration);
      add_multipliers(mb, &w, mb->n_joints, x.mu, w.acceleration);
    }
    write_constraints(&x, F);
  }
  write_kinematics(&x, F);
  YOKE_TRY(mb_add_drift(mb, &w, x.q, u, dae->form == YOKE_DAE_INDEX1, F)); /* GGL: its own mu keeps g = 0 */
  if (mb->nq > mb->nq_states) mb_quadratures(mb, &w, t, x.q, x.v, u, x.lambda, F);
  YOKE_TRY(write_forces(&x, F));
  if (dae->form == YOKE_DAE_INDEX1) {
    memcpy(F + dae->i_v, x.a, (size_t)mb->nv * sizeof *F);
    yoke_multibody_mass_apply(mb, x.a, w.a);
    for (int i = 0; i < mb->nv; ++i) F[dae->i_a + i] -= w.a[i];
  }
  return yoke_all_finite(dae->nx, F) ? YOKE_OK : YOKE_NON_FINITE;
}

yoke_status mb_dae_jacobian(const void *self, const yoke_dae *dae, void *work, double t, const double *state,
                            const double *u, double *J) {
  const yoke_multibody *mb = self;
  mb_work               w;
  mb_work_carve(mb, work, &w);
  const mb_dae *own = (const mb_dae *)dae; /* base is its first member */
  mb_sink       out = {.J = J, .slot = own->slot};
  mb_traversal  x   = {.mb = mb, .dae = dae, .w = &w, .out = &out, .t = t, .u = u};
  memset(J, 0, (size_t)dae->pattern->nnz * sizeof *J);
  mb_traversal_set(&x, state);
  YOKE_TRY(mb_rest(mb, work, t, x.q, x.v, u)); /* J has the shares, not how they depend on x */
  traverse(&x);
  return yoke_all_finite(dae->pattern->nnz, J) ? YOKE_OK : YOKE_NON_FINITE;
}
