/* dF/du of the index-1 form: what inputs do to the rates of q, to the equations of motion and to guided rows.
 *
 *   force, moment           wrench on its body, at the frame's origin
 *   multiplier lambda, mu   grad of its row on the real side: a force, a velocity (within the own joints)
 *   beta of a guided row    factor
 *   signal                  through expressions of loads and formulas that read it
 *   p and v of a ghost      through all that ends there: force elements, rows under multipliers (whose gradients turn), guided rows.
 *                           Orientations need not be normalised, hence dphi = L dp with the left inverse of the ghost's shape. v of a ghost is
 *                           in inertial axes, so a turn of its own leaves w alone: dphi x w + R domega = 0. */
#include "model/multibody_traversal.h"

#include <math.h>

/* Motion (dr, dphi) of a ghost for a unit of component k of its p. */
static void ghost_direction(const mb_traversal *x, int g, int k, double d[6]) {
  const mb_ghost        *ghost = &x->mb->ghosts[g];
  const yoke_port_shape *shape = ghost->shape;
  double                 p[YOKE_PORT_MAX_P], L[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V];
  mb_ghost_position(ghost, x->u, p);
  yoke_shape_left_inverse(shape, p, L);
  memset(d, 0, 6 * sizeof *d);
  for (int j = 0; j < shape->n_v; ++j) d[shape->v[j].freedom] = L[j * shape->n_p + k];
}

static double dot6(const double *a, const double *b) {
  double sum = 0.0;
  for (int k = 0; k < 6; ++k) sum += a[k] * b[k];
  return sum;
}

/* Rows that depend on the motion of node `index`, a ghost: Q [n, 6] on (dr, dphi), V [n, 6] on (dv, R domega), NULL: not at all. */
static void emit_ghost(const mb_traversal *x, int index, int row, int n, const double *Q, const double *V, int stride) {
  const int       g     = index - x->mb->n_nodes;
  const mb_ghost *ghost = &x->mb->ghosts[g];
  double          column[YOKE_CONNECTION_MAX_ROWS];
  for (int k = 0; k < ghost->shape->n_p; ++k) {
    double d[6], turn[3];
    if (ghost->from_p[k] < 0) continue;
    ghost_direction(x, g, k, d);
    vec3_cross(turn, x->w->pose[index].w, d + 3);
    for (int r = 0; r < n; ++r) {
      column[r] = dot6(Q + r * stride, d);
      if (V != NULL) column[r] += vec3_dot(V + r * stride + 3, turn);
    }
    emit(x->out, row, n, ghost->from_p[k], 1, column, 1);
  }
  for (int k = 0; V != NULL && k < ghost->shape->n_v; ++k) {
    if (ghost->from_v[k] < 0) continue;
    emit(x->out, row, n, ghost->from_v[k], 1, V + ghost->shape->v[k].freedom, stride);
  }
}

/* Wrench z [6] on a node for a unit of an input. */
static void emit_wrench(const mb_traversal *x, int index, const double z[6], int input) {
  const mb_node *node = &x->mb->nodes[index];
  double         column[6];
  rows_to_v(node, x->w->pose[index].R, 1, z, 1, column);
  emit(x->out, x->i_force + node->iv, node->nv, input, 1, column, 1);
}

/* The wrench on the real side turns with the ghost: block [6, 6] of K, D [12, 12] (D NULL: none). */
static void emit_ghost_wrench(const mb_traversal *x, const yoke_link *link, int side, const double *K,
                              const double *D) {
  const mb_node *node = &x->mb->nodes[link->node[side]];
  const double  *R    = x->w->pose[link->node[side]].R;
  const int      at   = 12 * 6 * side + 6 * (1 - side);
  double         rows_K[36], rows_D[36];
  rows_to_v(node, R, 6, K + at, 12, rows_K);
  if (D != NULL) rows_to_v(node, R, 6, D + at, 12, rows_D);
  emit_ghost(x, link->node[1 - side], x->i_force + node->iv, node->nv, rows_K, D != NULL ? rows_D : NULL, 6);
}

static void emit_force_input(const mb_traversal *x, int i) {
  const mb_input *input = &x->mb->inputs[i];
  double          z[6]  = {0.0}, p[3];
  if (input->node < 0) return; /* of another kind */
  z[input->freedom] = input->factor;
  if (input->freedom < 3) {
    mat3_apply(p, x->w->pose[input->node].R, input->origin);
    vec3_cross(z + 3, p, z);
  }
  emit_wrench(x, input->node, z, i);
}

static void emit_force_element(const mb_traversal *x, const yoke_force_element *element) {
  const int side = mb_real_side(x->mb, &element->link);
  double    f[12], K[144], D[144];
  if (side < 0) return; /* no ghost, or nothing but ghosts */
  yoke_force_element_jacobian(element, x->w->pose, x->t, f, K, D);
  emit_ghost_wrench(x, &element->link, side, K, D);
}

/* Wrench z [6] times an expression on a node, for a unit of each signal that it reads. */
static void emit_expression(const mb_traversal *x, int index, const double z[6], const yoke_expression *value) {
  for (int i = 0; i < yoke_expression_n_variables(value); ++i) {
    const int input = mb_input_of(x->mb, yoke_expression_variables(value)[i]);
    double    scaled[6];
    if (input < 0) continue;
    for (int r = 0; r < 6; ++r) scaled[r] = z[r] * x->w->gradient[i];
    emit_wrench(x, index, scaled, input);
  }
}

static void emit_signals(const mb_traversal *x) {
  const yoke_multibody *mb = x->mb;
  if (mb->n_signals == 0) return;
  if (mb->n_loop > 0) mb_feel(mb, x->w, x->q, x->v, x->a, x->lambda);
  mb_variables(mb, x->w, x->t, x->q, x->v, x->u);
  for (int i = 0; i < mb->n_loads; ++i) mb_visit_load(x, &mb->loads[i], emit_expression);
  for (int i = 0; i < mb->n_formulas; ++i) {
    yoke_link_state state;
    double          grad[12];
    (void)mb_formula_row(mb, &mb->formulas[i], x->w, &state, grad);
    mb_visit_formula(x, &mb->formulas[i], grad, emit_expression);
  }
}

static void emit_guided(const mb_traversal *x, int k) {
  const mb_joint  *joint  = &x->mb->joints[x->mb->n_joints + k];
  const mb_guided *guided = &x->mb->guided[k];
  const int        ghost = 1 - guided->side, row = x->dae->i_lambda + joint->g0;
  mb_joint_parts   p;
  mb_set_joint_parts(x, joint, &p);
  emit_ghost_wrench(x, &joint->link, guided->side, p.H_lambda, NULL);
  emit_ghost(x, joint->link.node[ghost], row, joint->n, p.by_q[0] + 6 * ghost, p.by_v[0] + 6 * ghost, 12);
  for (int i = 0; i < joint->n; ++i) emit(x->out, row + i, 1, guided->input[i], 1, &guided->factor[i], 1);
}

/* ---- second multipliers ---- */

/* Velocity z [6] of a node for a unit of an input, within the own joints if there are any (`is_factored`: see mb_within). */
static yoke_status emit_move(const mb_traversal *x, bool is_factored, int index, const double z[6], int input) {
  const yoke_multibody *mb   = x->mb;
  const mb_node        *node = &mb->nodes[index];
  double                column[7];
  if (mb->ng == 0) {
    rows_to_q(node, x->q, 1, z, 1, column);
    emit(x->out, node->iq, node->nq, input, 1, column, 1);
    return YOKE_OK;
  }
  memset(x->w->acceleration, 0, 6 * (size_t)mb->n_nodes * sizeof *x->w->acceleration);
  for (int k = 0; k < node->nv; ++k) x->w->acceleration[6 * index + node->freedom[k]] = z[node->freedom[k]];
  if (x->out->J != NULL) YOKE_TRY(mb_within(mb, x->w, is_factored));
  for (int i = 1; i < mb->n_nodes; ++i) {
    rows_to_q(&mb->nodes[i], x->q, 1, x->w->acceleration + 6 * i, 1, column);
    emit(x->out, mb->nodes[i].iq, mb->nodes[i].nq, input, 1, column, 1);
  }
  return YOKE_OK;
}

static bool has_mu(const mb_driven *driven) {
  for (int i = 0; i < driven->n; ++i) {
    if (driven->mu[i] >= 0) return true;
  }
  return false;
}

/* All that multipliers of a joint at a ghost do. */
static yoke_status emit_driven(const mb_traversal *x, const mb_driven *driven, bool is_factored) {
  const int       index = driven->link.node[driven->side], other = driven->link.node[1 - driven->side];
  const mb_ghost *ghost = &x->mb->ghosts[other - x->mb->n_nodes];
  yoke_link_state state;
  double          H_lambda[144] = {0.0}, H_mu[144] = {0.0};
  yoke_link_state_set(&driven->link, x->w->pose, &state);
  for (int i = 0; i < driven->n; ++i) {
    const double lambda = x->u != NULL && driven->input[i] >= 0 ? x->u[driven->input[i]] : 0.0;
    const double mu     = x->u != NULL && driven->mu[i] >= 0 ? x->u[driven->mu[i]] : 0.0;
    double       grad[12];
    (void)yoke_row_gradient(&driven->row[i], &state, grad);
    yoke_row_hessian_add(&driven->row[i], &state, lambda, H_lambda);
    yoke_row_hessian_add(&driven->row[i], &state, mu, H_mu);
    if (driven->input[i] >= 0) emit_wrench(x, index, grad + 6 * driven->side, driven->input[i]);
    if (driven->mu[i] >= 0) YOKE_TRY(emit_move(x, is_factored, index, grad + 6 * driven->side, driven->mu[i]));
  }
  emit_ghost_wrench(x, &driven->link, driven->side, H_lambda, NULL);
  for (int k = 0; has_mu(driven) && k < ghost->shape->n_p; ++k) {
    const double *H = H_mu + 12 * 6 * driven->side + 6 * (1 - driven->side);
    double        d[6], z[6];
    if (ghost->from_p[k] < 0) continue;
    ghost_direction(x, other - x->mb->n_nodes, k, d);
    for (int r = 0; r < 6; ++r) z[r] = dot6(H + 12 * r, d);
    YOKE_TRY(emit_move(x, is_factored, index, z, ghost->from_p[k]));
  }
  return YOKE_OK;
}

/* ---- all inputs ---- */

static yoke_status traverse(const mb_traversal *x) {
  const yoke_multibody *mb          = x->mb;
  bool                  is_factored = false;
  mb_poses(mb, x->w, x->q, x->v, false);
  mb_ghost_poses(mb, x->w, x->u);
  if (mb->n_guided > 0) mb_guided_rows(mb, x->w, x->u);
  for (int i = 0; i < mb->n_inputs; ++i) emit_force_input(x, i);
  for (int i = 0; i < mb->n_forces; ++i) emit_force_element(x, &mb->forces[i]);
  emit_signals(x);
  for (int k = 0; k < mb->n_guided; ++k) emit_guided(x, k);
  if (mb->has_mu && mb->ng > 0) {
    mb_constraints(mb, x->w, x->t, false);
    is_factored = mb_within_begin(mb, x->w);
  }
  for (int i = 0; i < mb->n_driven; ++i) YOKE_TRY(emit_driven(x, &mb->driven[i], is_factored));
  return YOKE_OK;
}

yoke_status mb_inputs_record(const yoke_multibody *mb, const mb_work *w, const double *state, mb_dae *dae) {
  mb_sink      out = {.full = true};
  mb_traversal x   = {.mb = mb, .dae = &dae->base, .w = w, .out = &out, .t = mb->model->t_start};
  mb_traversal_set(&x, state);
  yoke_status status = traverse(&x);
  dae->input_slot    = yoke_arena_take(&dae->base.arena, (size_t)out.n + 1, sizeof *dae->input_slot);
  if (out.failed || dae->base.arena.has_failed) status = YOKE_E_MEMORY;
  if (status == YOKE_OK) {
    status = yoke_pattern_create(NULL, dae->base.nx, mb->n_inputs, out.n, out.row, out.col, dae->input_slot,
                                 &dae->base.input_pattern);
  }
  mb_sink_clear(&out);
  return status;
}

yoke_status mb_dae_input_jacobian(const void *self, const yoke_dae *dae, void *work, double t, const double *state,
                                  const double *u, double *B) {
  const yoke_multibody *mb = self;
  mb_work               w;
  mb_work_carve(mb, work, &w);
  const mb_dae *own = (const mb_dae *)dae; /* base is its first member */
  mb_sink       out = {.J = B, .slot = own->input_slot};
  mb_traversal  x   = {.mb = mb, .dae = dae, .w = &w, .out = &out, .t = t, .u = u};
  double        sum = 0.0;
  memset(B, 0, (size_t)dae->input_pattern->nnz * sizeof *B);
  mb_traversal_set(&x, state);
  YOKE_TRY(traverse(&x));
  for (int k = 0; k < dae->input_pattern->nnz; ++k) sum += fabs(B[k]);
  return isfinite(sum) ? YOKE_OK : YOKE_NON_FINITE;
}
