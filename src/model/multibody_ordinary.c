/* Ordinary view: accelerations with the multipliers eliminated on the acceleration level, and projections.
 *
 *   S lambda = -(gamma + 2 alpha g' + beta^2 g + G M^-1 f),  S = G M^-1 G^T,  a = M^-1 (f + G^T lambda)
 *
 * S has one small block per joint and one per pair of joints that share a body; block_ldl factors it. A pivot that
 * collapses (redundant rows, singular position) switches to a minimum-norm solve. */
#include "linalg/lapack.h"
#include "model/multibody_internal.h"

#include "base/finite.h"
#include "base/simd.h"
#include "linalg/space.h"
#include <math.h>
#include <string.h>

static const double pivot_limit = 1e-10; /* relative to the original diagonal of S */
static const double tree_limit  = 1e-14; /* the same without loops: pivots of long chains fall with the length cubed */
static const double rank_limit  = 1e-11; /* condition of S kept by the minimum-norm solve */
static const double singular_limit = 1e-4; /* pivot below which derivative is noisy: eps / 1e-4 and more */

enum { REGULARISED_SWEEPS = 4 };

/* Is there a way that is quicker than S of all models? Loads that read accelerations solve again with gradients and W. */
static bool is_quick(const yoke_multibody *mb) {
  return (mb->tree != NULL || mb->is_plane) && mb->n_loop == 0;
}

/* ---- scratch ---- */

/* Hands out consecutive 64-byte aligned pieces; counts only when base is NULL. */
typedef struct carver {
  char  *base;
  size_t used;
} carver;

static void *take(carver *c, size_t count, size_t size) {
  void *piece = c->base == NULL ? NULL : c->base + c->used;
  c->used += (count * size + 63) / 64 * 64;
  return piece;
}

static double *take_doubles(carver *c, size_t count) {
  return take(c, count, sizeof(double));
}

static size_t dense_rows(const yoke_multibody *mb) {
  return mb->ng <= MB_DENSE_LIMIT ? (size_t)mb->ng : 0;
}

static size_t dense_work_size(const yoke_multibody *mb) {
  return dense_rows(mb) > 0 ? 70 * (dense_rows(mb) + 1) : 0;
}

static void carve_felt(const yoke_multibody *mb, carver *c, mb_work *w) {
  const size_t loop = (size_t)mb->n_loop;
  w->felt           = take_doubles(c, (size_t)mb->n_felt);
  w->loop_P         = take_doubles(c, loop * loop);
  w->loop_r         = take_doubles(c, loop);
  w->loop_a         = take_doubles(c, loop > 0 ? (size_t)mb->nv : 0);
  w->loop_lambda    = take_doubles(c, loop > 0 ? (size_t)mb->n_rows : 0);
}

/* These first: energies and events need no more. */
static void carve_poses(const yoke_multibody *mb, carver *c, mb_work *w) {
  w->variables = take_doubles(c, (size_t)mb_n_variables(mb) + 1);
  w->pose      = take(c, (size_t)mb->n_nodes + (size_t)mb->n_ghosts, sizeof *w->pose);
}

static void carve(const yoke_multibody *mb, carver *c, mb_work *w) {
  const size_t nodes = (size_t)mb->n_nodes, all = nodes + (size_t)mb->n_ghosts;
  const size_t ng = (size_t)mb->ng, nd = dense_rows(mb), rows = (size_t)mb->n_rows, np = (size_t)mb_n_probes(mb);
  size_t       longest = 0;
  for (int i = 0; i < mb->n_chains; ++i)
    longest = (size_t)mb->chains[i].n > longest ? (size_t)mb->chains[i].n : longest;
  carve_poses(mb, c, w);
  w->wrench          = take_doubles(c, 6 * all);
  w->acceleration    = take_doubles(c, 6 * nodes);
  w->push            = take_doubles(c, (size_t)mb->n_push);
  w->cross           = take_doubles(c, mb->n_cross);
  w->W               = take_doubles(c, 9 * nodes);
  w->grad            = take_doubles(c, 12 * rows);
  w->Y               = take_doubles(c, 12 * ng);
  w->s               = take_doubles(c, rows);
  w->rate            = take_doubles(c, rows);
  w->gamma           = take_doubles(c, rows);
  w->lambda          = take_doubles(c, rows);
  w->motion_rate     = take_doubles(c, ng);
  w->S               = take_doubles(c, mb->ldl != NULL ? yoke_block_ldl_n_values(mb->ldl) : 0);
  w->tree            = take_doubles(c, mb_tree_scratch(mb));
  w->plane           = take_doubles(c, mb->is_plane ? 4 * ng : 0);
  w->parted          = take(c, 1, mb_parts_scratch(mb));
  w->dense           = take_doubles(c, nd * nd);
  w->dense_work      = take_doubles(c, dense_work_size(mb));
  w->scale           = take_doubles(c, ng);
  w->rhs             = take_doubles(c, ng);
  w->pivot           = take(c, nd, sizeof *w->pivot);
  w->gradient        = take_doubles(c, (size_t)mb_n_variables(mb) + 1);
  w->chain           = take_doubles(c, 7 * longest);
  w->a               = take_doubles(c, (size_t)mb->nv);
  const size_t jumps = (size_t)mb->n_jumps, nb = jumps < MB_MOST_BETWEEN ? jumps : MB_MOST_BETWEEN;
  w->share       = jumps > 0 ? take_doubles(c, jumps) : NULL;
  w->change      = take(c, jumps, sizeof *w->change);
  w->jump        = take_doubles(c, jumps);
  w->rest_B      = take_doubles(c, nb * nb);
  w->rest_r      = take_doubles(c, nb);
  w->rest_C      = take_doubles(c, nb * nb);
  w->rest_x      = take_doubles(c, nb);
  w->rest_y      = take_doubles(c, nb);
  w->rest_q      = take_doubles(c, jumps > 0 ? (size_t)mb->nq : 0);
  w->rest_a      = take_doubles(c, jumps > 0 ? (size_t)mb->nv : 0);
  w->rest_v      = take_doubles(c, jumps > 0 ? (size_t)mb->nv : 0);
  w->probe       = take_doubles(c, 12 * np);
  w->probe_b     = take_doubles(c, np * ng);
  w->probe_x     = take_doubles(c, np > 0 ? (np + 1) * ng : 0);
  w->probe_W     = take_doubles(c, np * np);
  w->probe_work  = take_doubles(c, np * (np + 72));
  w->probe_pivot = take(c, np, sizeof *w->probe_pivot);
  w->probe_node  = take(c, np, sizeof *w->probe_node);
  if (mb->n_felt > 0) carve_felt(mb, c, w);
}

size_t mb_work_size(const yoke_multibody *mb) {
  carver  c = {NULL, 0};
  mb_work w;
  carve(mb, &c, &w);
  return c.used + 64;
}

void mb_work_carve(const yoke_multibody *mb, void *block, mb_work *w) {
  carver c    = {block, 0};
  w->is_alone = false;
  carve(mb, &c, w);
}

void mb_work_carve_poses(const yoke_multibody *mb, void *block, mb_work *w) {
  carver c = {block, 0};
  if (mb->n_felt > 0 || mb->n_jumps > 0)
    mb_work_carve(mb, block, w);
  else
    carve_poses(mb, &c, w);
}

/* ---- forces ---- */

/* Weight and -omega x J omega. */
static YOKE_ALWAYS_INLINE void node_weight(const yoke_multibody *mb, const mb_work *w, const double *v, int i) {
  const mb_node *node = &mb->nodes[i];
  double        *f    = w->wrench + 6 * i;
  const bool     own  = node->kind != YOKE_BODY_CHAIN && node->flexible == 0; /* others add their own weight */
  const double   m    = own ? node->mass : 0.0;
  for (int k = 0; k < 3; ++k) {
    f[k]     = m * mb->model->gravity[k];
    f[3 + k] = 0.0;
  }
  if (node->kind == YOKE_BODY_RIGID && node->flexible == 0) {
    const double *omega = v + node->iv + 3;
    double        Jw[3], M[3];
    mat3_apply(Jw, node->inertia, omega);
    vec3_cross(M, Jw, omega);
    mat3_apply(f + 3, w->pose[i].R, M);
  }
}

YOKE_SIMD void mb_weights_of(const yoke_multibody *mb, const mb_work *w, const double *v, const mb_part *part) {
  MB_EACH(i, part, MB_SPAN_NODE) node_weight(mb, w, v, i);
}

YOKE_SIMD static void weight_and_gyroscopic(const yoke_multibody *mb, const mb_work *w, const double *v) {
  memset(w->wrench, 0, 6 * sizeof *w->wrench);
  memset(w->wrench + 6 * mb->n_nodes, 0, 6 * (size_t)mb->n_ghosts * sizeof *w->wrench);
  for (int i = 1; i < mb->n_nodes; ++i) node_weight(mb, w, v, i);
}

static void apply_input(const mb_input *input, const yoke_pose *poses, double u, double *wrench) {
  if (input->node < 0) return; /* moves a ghost or is a multiplier */
  double *f = wrench + 6 * input->node;
  u *= input->factor;
  f[input->freedom] += u;
  if (input->freedom < 3) {
    double p[3], F[3] = {0.0, 0.0, 0.0};
    F[input->freedom] = u;
    mat3_apply(p, poses[input->node].R, input->origin);
    vec3_add_cross(f + 3, 1.0, p, F);
  }
}

/* Sum over rows of u[input] grad on the real side, and its derivatives. */
static void sum_rows(const mb_driven *driven, const int *input, const yoke_pose *poses, const double *u, double f[6],
                     double *H) {
  const int       at = 6 * driven->side;
  yoke_link_state state;
  double          full[144];
  yoke_link_state_for(&driven->link, driven->n, driven->row, poses, &state);
  memset(f, 0, 6 * sizeof *f);
  if (H != NULL) memset(full, 0, sizeof full);
  for (int i = 0; i < driven->n; ++i) {
    const double lambda = u != NULL && input[i] >= 0 ? u[input[i]] : 0.0;
    double       grad[12];
    yoke_row_gradient(&driven->row[i], &state, grad);
    for (int k = 0; k < 6; ++k) f[k] += lambda * grad[at + k];
    if (H != NULL) yoke_row_hessian_add(&driven->row[i], &state, lambda, full);
  }
  for (int r = 0; H != NULL && r < 6; ++r) memcpy(H + 6 * r, full + 12 * (at + r) + at, 6 * sizeof *H);
}

void mb_driven_force(const mb_driven *driven, const yoke_pose *poses, const double *u, double f[6], double *H) {
  sum_rows(driven, driven->input, poses, u, f, H);
}

void mb_driven_move(const mb_driven *driven, const yoke_pose *poses, const double *u, double f[6], double *H) {
  sum_rows(driven, driven->mu, poses, u, f, H);
}

yoke_status mb_forces(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                      const double *u) {
  weight_and_gyroscopic(mb, w, v);
  return mb_other_forces(mb, w, t, q, v, u);
}

yoke_status mb_other_forces(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                            const double *u) {
  for (int i = 0; i < mb->n_forces; ++i) yoke_force_element_apply(&mb->forces[i], w->pose, t, w->wrench);
  if (mb->needs_variables) mb_variables(mb, w, t, q, v, u);
  for (int i = 0; i < mb->n_loads; ++i) YOKE_TRY(yoke_load_apply(&mb->loads[i], w->pose, w->variables, w->wrench));
  if (mb->n_formulas > 0) YOKE_TRY(mb_formula_forces(mb, w));
  for (int i = 0; i < mb->n_inputs; ++i) apply_input(&mb->inputs[i], w->pose, u[i], w->wrench);
  for (int i = 0; i < mb->n_driven; ++i) {
    const mb_driven *driven = &mb->driven[i];
    double           f[6];
    mb_driven_force(driven, w->pose, u, f, NULL);
    for (int k = 0; k < 6; ++k) w->wrench[6 * driven->link.node[driven->side] + k] += f[k];
  }
  return YOKE_OK;
}

static YOKE_ALWAYS_INLINE void node_rates(const yoke_multibody *mb, const double *q, const double *v, double *qdot,
                                          int i) {
  const mb_node *node = &mb->nodes[i];
  for (int k = 0; k < node->nv && k < 3; ++k) qdot[node->iq + k] = v[node->iv + k];
  if (node->kind == YOKE_BODY_RIGID) quaternion_rate(qdot + node->iq + 3, q + node->iq + 3, v + node->iv + 3);
}

void mb_node_rates(const yoke_multibody *mb, const double *q, const double *v, double *qdot, int i) {
  node_rates(mb, q, v, qdot, i);
}

YOKE_SIMD void mb_rates_of(const yoke_multibody *mb, const double *q, const double *v, const mb_part *part,
                           double *qdot) {
  MB_EACH(i, part, MB_SPAN_NODE) node_rates(mb, q, v, qdot, i);
}

YOKE_SIMD void mb_kinematics(const yoke_multibody *mb, const double *q, const double *v, double *qdot) {
  for (int c = 0; c < mb->n_chains; ++c) {
    memcpy(qdot + mb->chains[c].iq, v + mb->chains[c].iv, (size_t)mb->chains[c].n * sizeof *v);
  }
  for (int i = 1; i < mb->n_nodes; ++i) node_rates(mb, q, v, qdot, i);
}

/* ---- constraints ---- */

void mb_motion(const mb_joint *joint, double t, double *value, double *rate, double *second) {
  *value = yoke_expression_second(joint->motion, t, rate, second);
}

void mb_motions(const void *self, double t, double *value) {
  const yoke_multibody *mb = self;
  int                   k  = 0;
  for (int j = 0; j < mb->n_joints; ++j) {
    if (mb->joints[j].motion != NULL) value[k++] = yoke_expression_evaluate(mb->joints[j].motion, &t, NULL);
  }
}

double mb_row_value(const mb_joint *joint, int i, double s, double motion) {
  double x = s - joint->offset[i];
  if (joint->motion == NULL || i != joint->n - 1) return x;
  x -= motion;
  return joint->row[i].kind == YOKE_ROW_ANGLE ? remainder(x, 2.0 * acos(-1.0)) : x;
}

void mb_joint_rows(const mb_work *w, const mb_joint *joint, double t, bool with_rates) {
  yoke_link_state state;
  double          motion = 0.0, motion_rate = 0.0, motion_second = 0.0;
  if (joint->motion != NULL) mb_motion(joint, t, &motion, &motion_rate, &motion_second);
  yoke_link_state_for(&joint->link, joint->n, joint->row, w->pose, &state);
  for (int i = 0; i < joint->n; ++i) {
    const int    g    = joint->g0 + i;
    double      *grad = w->grad + 12 * g;
    const double s    = yoke_row_gradient(&joint->row[i], &state, grad);
    w->s[g]           = mb_row_value(joint, i, s, motion);
    w->motion_rate[g] = 0.0;
    if (!with_rates) continue;
    w->rate[g]  = yoke_row_rate(grad, &state);
    w->gamma[g] = yoke_row_gamma(&joint->row[i], &state);
  }
  if (joint->motion != NULL) {
    const int g       = joint->g0 + joint->n - 1;
    w->motion_rate[g] = motion_rate;
    if (with_rates) {
      w->rate[g] -= motion_rate;
      w->gamma[g] -= motion_second;
    }
  }
}

void mb_constraints(const yoke_multibody *mb, const mb_work *w, double t, bool with_rates) {
  for (int j = 0; j < mb->n_joints; ++j) mb_joint_rows(w, &mb->joints[j], t, with_rates);
}

/* Y [6, n] = (M^-1 grad)^T for one side of a joint with n rows. */
static YOKE_ALWAYS_INLINE void apply_inverse_mass(const mb_node *node, const double *W, int n, const double *grad,
                                                  double *restrict Y) {
  for (int i = 0; i < n; ++i, grad += 12) {
    for (int k = 0; k < 3; ++k) {
      Y[k * n + i]       = node->inverse_mass[k] * grad[k];
      Y[(3 + k) * n + i] = W[3 * k] * grad[3] + W[3 * k + 1] * grad[4] + W[3 * k + 2] * grad[5];
    }
  }
}

static inline double dot6(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

/* S [na, nb] += grad (12 numbers per row, the first six of them) Y, Y [6, nb]; inner loops run over independent sums. */
static YOKE_ALWAYS_INLINE void add_product(int na, int nb, const double *restrict grad, const double *restrict Y,
                                           double *restrict S) {
  for (int r = 0; r < na; ++r) {
    double sum[YOKE_BLOCK_MAX];
    for (int c = 0; c < nb; ++c) sum[c] = S[r * nb + c];
    for (int k = 0; k < 6; ++k) {
      const double g = grad[12 * r + k];
      for (int c = 0; c < nb; ++c) sum[c] += g * Y[k * nb + c];
    }
    for (int c = 0; c < nb; ++c) S[r * nb + c] = sum[c];
  }
}

/* Constant sizes let the compiler unroll the common joints. */
YOKE_SIMD static void add_block(int na, int nb, const double *grad, const double *Y, double *S) {
  if (na == 5 && nb == 5) {
    add_product(5, 5, grad, Y, S);
  } else if (na == 2 && nb == 2) {
    add_product(2, 2, grad, Y, S);
  } else if (na == 3 && nb == 3) {
    add_product(3, 3, grad, Y, S);
  } else {
    add_product(na, nb, grad, Y, S);
  }
}

/* Y of one side of a joint. */
static double *side_Y(const mb_work *w, const mb_joint *joint, int side) {
  return w->Y + 12 * joint->g0 + 6 * joint->n * side;
}

static const double *coupling_Y(const mb_work *w, const mb_coupling *c, const mb_joint *b) {
  return c->cross >= 0 ? w->cross + c->cross : side_Y(w, b, c->side_b);
}

/* Blocks of S; `shift` raises the diagonal by this part of itself. Needs Y. */
static void assemble_S(const yoke_multibody *mb, const mb_work *w, double shift) {
  memset(w->S, 0, yoke_block_ldl_n_blocks(mb->ldl) * sizeof *w->S);
  for (int j = 0; j < mb->n_joints; ++j) {
    const mb_joint *joint = &mb->joints[j];
    double         *S     = w->S + mb->diagonal_at[j];
    for (int side = 0; side < 2; ++side) {
      if (joint->link.node[side] == 0) continue; /* the ground does not move */
      add_block(joint->n, joint->n, w->grad + 12 * joint->g0 + 6 * side, side_Y(w, joint, side), S);
    }
    for (int i = 0; shift != 0.0 && i < joint->n; ++i) S[i * (joint->n + 1)] *= 1.0 + shift;
  }
  for (int i = 0; i < mb->n_couplings; ++i) {
    const mb_coupling *c = &mb->couplings[i];
    const mb_joint    *a = &mb->joints[c->a], *b = &mb->joints[c->b];
    add_block(a->n, b->n, w->grad + 12 * a->g0 + 6 * c->side_a, coupling_Y(w, c, b), w->S + c->at);
  }
  for (int i = mb->n_couplings; i < mb->n_couplings + mb->n_own_couplings; ++i) {
    const mb_coupling *c                                  = &mb->couplings[i];
    const mb_joint    *a                                  = &mb->joints[c->a];
    double             P[YOKE_BLOCK_MAX * YOKE_BLOCK_MAX] = {0.0}, *S = w->S + c->at;
    add_block(a->n, a->n, w->grad + 12 * a->g0 + 6 * c->side_a, coupling_Y(w, c, a), P);
    for (int r = 0; r < a->n * a->n; ++r) S[r] += P[r] + P[r % a->n * a->n + r / a->n];
  }
}

/* Y = grad^T in the kept freedoms: inverse mass for unit masses and inertias. */
static void all_unit_mass(const yoke_multibody *mb, const mb_work *w) {
  memset(w->cross, 0, mb->n_cross * sizeof *w->cross);
  for (int j = 0; j < mb->n_joints; ++j) {
    const mb_joint *joint = &mb->joints[j];
    for (int side = 0; side < 2; ++side) {
      const mb_node *node = &mb->nodes[joint->link.node[side]];
      const double  *grad = w->grad + 12 * joint->g0 + 6 * side;
      double        *Y    = side_Y(w, joint, side);
      memset(Y, 0, 6 * (size_t)joint->n * sizeof *Y);
      for (int k = 0; k < node->nv; ++k) {
        for (int i = 0; i < joint->n; ++i) Y[node->freedom[k] * joint->n + i] = grad[12 * i + node->freedom[k]];
      }
    }
  }
}

/* Y [6, n] of one side of a joint at node `to` of its flexible body. */
static void flexible_Y(const yoke_multibody *mb, const mb_work *w, const mb_joint *joint, int side, int to, double *Y) {
  for (int i = 0; i < joint->n; ++i) {
    double y[6];
    mb_flexible_response(mb, w, joint->link.node[side], w->grad + 12 * (joint->g0 + i) + 6 * side, to, y);
    for (int k = 0; k < 6; ++k) Y[k * joint->n + i] = y[k];
  }
}

static void all_inverse_mass(const yoke_multibody *mb, const mb_work *w) {
  for (int i = 0; mb->n_cross > 0 && i < mb->n_couplings + mb->n_own_couplings; ++i) {
    const mb_coupling *c = &mb->couplings[i];
    if (c->cross < 0) continue;
    flexible_Y(mb, w, &mb->joints[c->b], c->side_b, mb->joints[c->a].link.node[c->side_a], w->cross + c->cross);
  }
  for (int j = 0; j < mb->n_joints; ++j) {
    const mb_joint *joint = &mb->joints[j];
    for (int side = 0; side < 2; ++side) {
      const int     node = joint->link.node[side];
      const double *grad = w->grad + 12 * joint->g0 + 6 * side;
      if (mb->nodes[node].flexible > 0) {
        flexible_Y(mb, w, joint, side, node, side_Y(w, joint, side));
      } else if (joint->n == 5) {
        apply_inverse_mass(&mb->nodes[node], w->W + 9 * node, 5, grad, side_Y(w, joint, side));
      } else {
        apply_inverse_mass(&mb->nodes[node], w->W + 9 * node, joint->n, grad, side_Y(w, joint, side));
      }
    }
  }
}

/* ---- minimum-norm solves ---- */

/* Several sums that do not wait for each other. */
/* Rows scaled to a unit diagonal: scale_i = 1 / sqrt(S_ii). Needs the blocks of S. */
static void set_scale(const yoke_multibody *mb, const mb_work *w) {
  for (int j = 0; j < mb->n_joints; ++j) {
    const int n = mb->joints[j].n;
    for (int i = 0; i < n; ++i) {
      const double d                 = w->S[mb->diagonal_at[j] + (size_t)(i * (n + 1))];
      w->scale[mb->joints[j].g0 + i] = d > 0.0 ? 1.0 / sqrt(d) : 0.0;
    }
  }
}

/* Scaled block S [na, nb] of joints a and b into the dense matrix and its transpose. */
static void put_dense(const yoke_multibody *mb, const mb_work *w, int a, int b, const double *S) {
  const size_t n = (size_t)mb->ng;
  for (int r = 0; r < mb->joints[a].n; ++r) {
    for (int c = 0; c < mb->joints[b].n; ++c) {
      const int    i = mb->joints[a].g0 + r, j = mb->joints[b].g0 + c;
      const double x                      = S[r * mb->joints[b].n + c] * w->scale[i] * w->scale[j];
      w->dense[(size_t)i * n + (size_t)j] = w->dense[(size_t)j * n + (size_t)i] = x;
    }
  }
}

static void fill_dense(const yoke_multibody *mb, const mb_work *w) {
  memset(w->dense, 0, (size_t)mb->ng * (size_t)mb->ng * sizeof *w->dense);
  for (int j = 0; j < mb->n_joints; ++j) put_dense(mb, w, j, j, w->S + mb->diagonal_at[j]);
  for (int i = 0; i < mb->n_couplings; ++i) {
    put_dense(mb, w, mb->couplings[i].a, mb->couplings[i].b, w->S + mb->couplings[i].at);
  }
}

static yoke_status solve_dense(const yoke_multibody *mb, const mb_work *w, double *x) {
  const int  n    = mb->ng;
  lapack_int rank = 0;
  fill_dense(mb, w);
  if (!yoke_all_finite(n * n, w->dense)) return YOKE_NON_FINITE;
  for (int i = 0; i < n; ++i) {
    x[i] *= w->scale[i];
    w->pivot[i] = 0;
  }
  const lapack_int info = lapack_dgelsy_work(n, n, 1, w->dense, n, x, n, w->pivot, rank_limit, &rank, w->dense_work,
                                             (lapack_int)dense_work_size(mb));
  for (int i = 0; i < n; ++i) x[i] *= w->scale[i];
  return info == 0 ? YOKE_OK : YOKE_SINGULAR;
}

/* Many rows: (S + e D) x_{k+1} = b + e D x_k from x_0 = 0, D = diag(S). Iterates stay in the range of S, so they tend to the
 * solution of least (scaled) norm. */
static yoke_status solve_regularised(const yoke_multibody *mb, const mb_work *w, double *x) {
  const double e = 1e-8;
  assemble_S(mb, w, e);
  if (yoke_block_ldl_factor(mb->ldl, w->S, 0.01 * e) != YOKE_OK) return YOKE_SINGULAR;
  memcpy(w->rhs, x, (size_t)mb->ng * sizeof *x);
  yoke_block_ldl_solve(mb->ldl, w->S, x);
  for (int sweep = 1; sweep < REGULARISED_SWEEPS; ++sweep) {
    for (int r = 0; r < mb->ng; ++r) {
      const double d = w->scale[r] > 0.0 ? 1.0 / (w->scale[r] * w->scale[r]) : 0.0;
      x[r]           = w->rhs[r] + e * d * x[r];
    }
    yoke_block_ldl_solve(mb->ldl, w->S, x);
  }
  return YOKE_OK;
}

double mb_pivot_limit(const yoke_multibody *mb) {
  return mb->has_loops ? pivot_limit : tree_limit;
}

/* S x = x for the present Y and n right-hand sides x [n, ng]. *is_factored (NULL: not asked): the factors are there for more of them. */
static yoke_status solve_S(const yoke_multibody *mb, const mb_work *w, int n, double *x, bool *is_factored) {
  assemble_S(mb, w, 0.0);
  const bool is_regular = yoke_block_ldl_factor(mb->ldl, w->S, mb_pivot_limit(mb)) == YOKE_OK;
  if (is_factored != NULL) *is_factored = is_regular;
  if (is_regular) {
    for (int k = 0; k < n; ++k) yoke_block_ldl_solve(mb->ldl, w->S, x + (ptrdiff_t)k * mb->ng);
    return YOKE_OK;
  }
  if (!yoke_all_finite(12 * mb->ng, w->grad) || !yoke_all_finite(n * mb->ng, x)) return YOKE_NON_FINITE;
  assemble_S(mb, w, 0.0);
  set_scale(mb, w);
  for (int k = 0; k < n; ++k) {
    double *one = x + (ptrdiff_t)k * mb->ng;
    YOKE_TRY(mb->ng <= MB_DENSE_LIMIT ? solve_dense(mb, w, one) : solve_regularised(mb, w, one));
  }
  return YOKE_OK;
}

yoke_status mb_solve_many(const yoke_multibody *mb, const mb_work *w, int n, double *x) {
  all_inverse_mass(mb, w);
  return solve_S(mb, w, n, x, NULL);
}

yoke_status mb_solve(const yoke_multibody *mb, const mb_work *w, double *x) {
  return mb_solve_many(mb, w, 1, x);
}

/* ---- accelerations ---- */

/* Chain masses already have theirs in a. */
static YOKE_ALWAYS_INLINE void free_acceleration(const yoke_multibody *mb, const mb_work *w, int i, const double *a) {
  const mb_node *node = &mb->nodes[i];
  const double  *f    = w->wrench + 6 * i;
  double        *y    = w->acceleration + 6 * i;
  for (int k = 0; k < 3; ++k) y[k] = node->inverse_mass[k] * f[k];
  mat3_apply(y + 3, node->kind == YOKE_BODY_RIGID ? w->W + 9 * i : node->inverse_inertia, f + 3);
  if (node->kind == YOKE_BODY_CHAIN) y[0] += a[node->iv];
}

void mb_free_acceleration(const yoke_multibody *mb, const mb_work *w, int i, const double *a) {
  free_acceleration(mb, w, i, a);
}

void mb_free_accelerations_of(const yoke_multibody *mb, const mb_work *w, const mb_part *part) {
  MB_EACH(i, part, MB_SPAN_NODE) free_acceleration(mb, w, i, NULL);
}

static void free_accelerations(const yoke_multibody *mb, const mb_work *w, double *a) {
  memset(w->acceleration, 0, 6 * sizeof *w->acceleration);
  for (int i = 1; i < mb->n_nodes; ++i) {
    if (mb->nodes[i].flexible == 0) free_acceleration(mb, w, i, a);
  }
  if (mb->n_flexibles > 0) mb_flexible_accelerate(mb, w, a);
}

/* Accelerations of chains and inner forces of flexible bodies. */
static yoke_status inner_accelerations(const yoke_multibody *mb, double t, const double *q, const double *v,
                                       double *a) {
  if (mb->n_flexibles > 0) mb_flexible_forces(mb, q, v, a);
  for (int c = 0; c < mb->n_chains; ++c) {
    const mb_chain *chain = &mb->chains[c];
    const double   *m     = yoke_chain_kernel_mass(chain->kernel);
    double         *y     = a + chain->iv;
    YOKE_TRY(yoke_chain_kernel_force(chain->kernel, t, mb->model->gravity[0], q + chain->iq, v + chain->iv, y));
    for (int i = 0; i < chain->n; ++i) y[i] /= m[i];
  }
  return YOKE_OK;
}

/* w->acceleration += Y lambda of all sides. `pushes`: sides on flexible bodies move all of these. */
static YOKE_ALWAYS_INLINE void add_reactions(const yoke_multibody *mb, const mb_work *w, const double *lambda,
                                             bool pushes) {
  for (int j = 0; j < mb->n_joints; ++j) {
    const mb_joint *joint = &mb->joints[j];
    for (int side = 0; side < 2; ++side) {
      const int     node = joint->link.node[side];
      const double *Y    = side_Y(w, joint, side);
      if (pushes && mb->nodes[node].flexible > 0) {
        for (int g = joint->g0; g < joint->g0 + joint->n; ++g)
          mb_push_node(mb, w, node, lambda[g], w->grad + 12 * g + 6 * side);
        continue;
      }
      double *a = w->acceleration + 6 * node;
      for (int k = 0; k < 6; ++k) {
        double sum = 0.0;
        for (int i = 0; i < joint->n; ++i) sum += Y[k * joint->n + i] * lambda[joint->g0 + i];
        a[k] += sum;
      }
    }
  }
}

void mb_add_reactions(const yoke_multibody *mb, const mb_work *w, const double *lambda) {
  add_reactions(mb, w, lambda, true);
}

static YOKE_ALWAYS_INLINE void node_write(const yoke_multibody *mb, const mb_work *w, double *a, int i) {
  const mb_node *node = &mb->nodes[i];
  const double  *y    = w->acceleration + 6 * i;
  double        *out  = a + node->iv;
  if (node->kind == YOKE_BODY_RIGID) {
    vec3_copy(out, y);
    mat3_apply_transposed(out + 3, w->pose[i].R, y + 3);
  } else {
    for (int k = 0; k < node->nv; ++k) out[k] = y[node->freedom[k]];
  }
}

void mb_node_write(const yoke_multibody *mb, const mb_work *w, double *a, int i) {
  node_write(mb, w, a, i);
}

YOKE_SIMD void mb_write_nodes(const yoke_multibody *mb, const mb_work *w, double *a) {
  if (mb->n_flexibles > 0) mb_push_write(mb, w, a);
  for (int i = 1; i < mb->n_nodes; ++i) {
    if (mb->nodes[i].flexible == 0) node_write(mb, w, a, i);
  }
}

YOKE_SIMD void mb_write_nodes_of(const yoke_multibody *mb, const mb_work *w, const mb_part *part, double *a) {
  MB_EACH(i, part, MB_SPAN_NODE) node_write(mb, w, a, i);
}

/* qdot of a node += T z, z [6] in inertial axes. */
static void add_rate(const mb_node *node, const double *R, const double *q, const double z[6], double *qdot) {
  if (node->kind != YOKE_BODY_RIGID) {
    for (int k = 0; k < node->nv; ++k) qdot[node->iq + k] += z[node->freedom[k]];
    return;
  }
  double omega[3], rate[4];
  mat3_apply_transposed(omega, R, z + 3);
  quaternion_rate(rate, q + node->iq + 3, omega);
  for (int k = 0; k < 3; ++k) qdot[node->iq + k] += z[k];
  for (int k = 0; k < 4; ++k) qdot[node->iq + 3 + k] += rate[k];
}

bool mb_within_begin(const yoke_multibody *mb, const mb_work *w) {
  all_unit_mass(mb, w);
  assemble_S(mb, w, 0.0);
  return yoke_block_ldl_factor(mb->ldl, w->S, mb_pivot_limit(mb)) == YOKE_OK;
}

yoke_status mb_within(const yoke_multibody *mb, const mb_work *w, bool is_factored) {
  double *nu = w->gamma;
  for (int j = 0; j < mb->n_joints; ++j) {
    const mb_joint *joint = &mb->joints[j];
    const double   *a = w->acceleration + 6 * joint->link.node[0], *b = w->acceleration + 6 * joint->link.node[1];
    for (int g = joint->g0; g < joint->g0 + joint->n; ++g) {
      nu[g] = -dot6(w->grad + 12 * g, a) - dot6(w->grad + 12 * g + 6, b);
    }
  }
  if (is_factored) {
    yoke_block_ldl_solve(mb->ldl, w->S, nu);
  } else {
    all_unit_mass(mb, w);
    YOKE_TRY(solve_S(mb, w, 1, nu, NULL));
  }
  add_reactions(mb, w, nu, false);
  return YOKE_OK;
}

yoke_status mb_add_drift(const yoke_multibody *mb, const mb_work *w, const double *q, const double *u, bool within,
                         double *qdot) {
  const bool projects = within && mb->ng > 0;
  bool       moves    = false;
  if (!mb->has_mu || u == NULL) return YOKE_OK;
  if (projects) memset(w->acceleration, 0, 6 * (size_t)mb->n_nodes * sizeof *w->acceleration);
  for (int i = 0; i < mb->n_driven; ++i) {
    const int      index = mb->driven[i].link.node[mb->driven[i].side];
    const mb_node *node  = &mb->nodes[index];
    double         z[6];
    mb_driven_move(&mb->driven[i], w->pose, u, z, NULL);
    if (!projects) add_rate(node, w->pose[index].R, q, z, qdot);
    for (int k = 0; projects && k < node->nv; ++k) {
      w->acceleration[6 * index + node->freedom[k]] += z[node->freedom[k]];
      moves = moves || z[node->freedom[k]] != 0.0;
    }
  }
  if (!moves) return YOKE_OK;
  YOKE_TRY(mb_within(mb, w, false));
  for (int i = 1; i < mb->n_nodes; ++i) add_rate(&mb->nodes[i], w->pose[i].R, q, w->acceleration + 6 * i, qdot);
  return YOKE_OK;
}

/* S lambda = lambda of the joints for free accelerations in w->acceleration. */
static void set_right_hand_side(const yoke_multibody *mb, const mb_work *w, double *lambda) {
  for (int j = 0; j < mb->n_joints; ++j) {
    const mb_joint *joint = &mb->joints[j];
    const double   *a = w->acceleration + 6 * joint->link.node[0], *b = w->acceleration + 6 * joint->link.node[1];
    for (int g = joint->g0; g < joint->g0 + joint->n; ++g) {
      lambda[g] = mb_wanted_acceleration(mb, w, g) - (dot6(w->grad + 12 * g, a) + dot6(w->grad + 12 * g + 6, b));
    }
  }
}

static YOKE_ALWAYS_INLINE yoke_status accelerate(const yoke_multibody *mb, const mb_work *w, double *a,
                                                 double *lambda) {
  free_accelerations(mb, w, a);
  if (mb->ng > 0) set_right_hand_side(mb, w, lambda);
  if (mb->n_guided > 0)
    YOKE_TRY(mb_guide(mb, w, lambda));
  else if (mb->ng > 0)
    YOKE_TRY(mb_solve(mb, w, lambda));
  mb_add_reactions(mb, w, lambda);
  mb_write_nodes(mb, w, a);
  return YOKE_OK;
}

static YOKE_ALWAYS_INLINE yoke_status respond(const yoke_multibody *mb, const mb_work *w, double t, const double *q,
                                              const double *v, const double *u, double *a, double *lambda) {
  YOKE_TRY(mb_forces(mb, w, t, q, v, u));
  YOKE_TRY(inner_accelerations(mb, t, q, v, a));
  if (mb->ng > 0) mb_constraints(mb, w, t, true);
  if (mb->n_guided > 0) mb_guided_rows(mb, w, u);
  return accelerate(mb, w, a, lambda);
}

yoke_status mb_accelerate(const yoke_multibody *mb, const mb_work *w, double *a, double *lambda) {
  return accelerate(mb, w, a, lambda);
}

yoke_status mb_respond(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                       const double *u, double *a, double *lambda) {
  return respond(mb, w, t, q, v, u, a, lambda);
}

/* Poses for the way that this model can go, and W as far as that reads it. */
static void quick_poses(const yoke_multibody *mb, const mb_work *w, const double *q, const double *v) {
  mb_poses(mb, w, q, v, !is_quick(mb));
  if (!is_quick(mb)) return;
  if (mb->tree != NULL) mb_tree_inertia(mb, w);
  for (int i = 1; mb->is_plane && mb->n_norms > 0 && i < mb->n_nodes; ++i) {
    if (mb->nodes[i].kind == YOKE_BODY_RIGID) mb_node_inertia(mb, w, i);
  }
}

/* Accelerations under the wrenches by the tree or in the plane. False: rows depend on each other. lambda NULL: not wanted. */
static bool accelerate_quickly(const yoke_multibody *mb, const mb_work *w, double t, const double *u, double *a,
                               double *lambda) {
  if (mb->tree != NULL) {
    const int *outside, n = mb_tree_outside(mb, &outside);
    if (mb->n_guided > 0) mb_guided_rows(mb, w, u);
    for (int i = 0; i < n; ++i) mb_free_acceleration(mb, w, outside[i], a);
    return mb_tree_accelerate(mb, w, t, lambda);
  }
  mb_plane_rows(mb, w, t, true);
  if (!mb_plane_factor(mb, w)) return false;
  free_accelerations(mb, w, a);
  if (lambda == NULL) lambda = w->lambda;
  for (int g = 0; g < mb->ng; ++g) lambda[g] = mb_wanted_acceleration(mb, w, g);
  mb_plane_solve(mb, w, lambda);
  return true;
}

/* mb_respond on the quick way, or on the other one where that cannot go it. */
static yoke_status respond_quickly(const yoke_multibody *mb, const mb_work *w, double t, const double *q,
                                   const double *v, const double *u, double *a, double *lambda, bool reads_lambda) {
  YOKE_TRY(mb_forces(mb, w, t, q, v, u));
  YOKE_TRY(inner_accelerations(mb, t, q, v, a));
  if (accelerate_quickly(mb, w, t, u, a, reads_lambda ? lambda : NULL)) {
    mb_write_nodes(mb, w, a);
    return YOKE_OK;
  }
  mb_inertia(mb, w);
  return respond(mb, w, t, q, v, u, a, lambda);
}

yoke_status mb_derivative(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                          double *qdot, double *a, double *lambda) {
  YOKE_TRY(mb_rest(self, work, t, q, v, u));
  return mb_derivative_held(self, work, t, q, v, u, qdot, a, lambda);
}

yoke_status mb_derivative_held(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                               const double *u, double *qdot, double *a, double *lambda) {
  if (mb->parts != NULL) return mb_parts_derivative(mb, work, t, q, v, u, qdot, a, lambda);
  mb_work w;
  mb_work_carve(mb, work, &w);
  return mb_derivative_whole(mb, &w, t, q, v, u, qdot, a, lambda);
}

yoke_status mb_derivative_whole(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                                const double *u, double *qdot, double *a, double *lambda) {
  const bool reads_lambda = lambda != NULL || (qdot != NULL && mb->has_energy && mb->n_motions > 0);
  if (lambda == NULL) lambda = w->lambda;
  quick_poses(mb, w, q, v);
  mb_ghost_poses(mb, w, u);
  if (mb->n_loop > 0) {
    YOKE_TRY(mb_close_loop(mb, w, t, q, v, u, a, lambda));
  } else if (is_quick(mb)) {
    YOKE_TRY(respond_quickly(mb, w, t, q, v, u, a, lambda, reads_lambda));
  } else {
    YOKE_TRY(respond(mb, w, t, q, v, u, a, lambda));
  }
  if (qdot != NULL) {
    mb_kinematics(mb, q, v, qdot);
    if (mb->has_mu && is_quick(mb)) mb_constraints(mb, w, t, true);
    YOKE_TRY(mb_add_drift(mb, w, q, u, true, qdot));
    if (mb->nq > mb->nq_states) mb_quadratures(mb, w, t, q, v, u, reads_lambda ? lambda : NULL, qdot);
    if (!yoke_all_finite(mb->nq, qdot)) return YOKE_NON_FINITE;
  }
  return yoke_all_finite(mb->nv, a) ? YOKE_OK : YOKE_NON_FINITE;
}

/* ---- projections ---- */

void mb_constraint(const void *self, void *work, double t, const double *q, const double *v, double *g, double *gd) {
  const yoke_multibody *mb = self;
  mb_work               w;
  mb_work_carve(mb, work, &w);
  mb_poses(mb, &w, q, gd != NULL ? v : NULL, false);
  mb_constraints(mb, &w, t, gd != NULL);
  if (g != NULL) memcpy(g, w.s, (size_t)mb->ng * sizeof *g);
  if (gd != NULL) memcpy(gd, w.rate, (size_t)mb->ng * sizeof *gd);
}

void mb_raise_residual(const yoke_multibody *mb, const mb_work *w, int j, const double *residual, double *largest) {
  const mb_joint *joint = &mb->joints[j];
  double          size  = mb->length;
  for (int side = 0; side < 2; ++side) {
    size = fmax(size, vec3_norm(w->pose[joint->link.node[side]].r) + vec3_norm(joint->link.origin[side]));
  }
  for (int i = 0; i < joint->n; ++i) {
    const double scale = yoke_row_is_length(&joint->row[i]) ? size : 1.0;
    const double r     = fabs(residual[joint->g0 + i]) / scale;
    if (!(r <= *largest)) *largest = r; /* also keeps NaN */
  }
}

double mb_position_residual(const yoke_multibody *mb, const mb_work *w, int n_joints, const double *residual) {
  double largest = 0.0;
  for (int j = 0; j < n_joints; ++j) mb_raise_residual(mb, w, j, residual, &largest);
  return largest;
}

/* Poses and rows at (q, v) for a move, in which guided rows have no part. True: the quick way, which can make it. */
static bool look(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v) {
  const bool by_tree = mb->tree != NULL && mb->n_guided == 0;
  mb_poses(mb, w, q, v, false);
  if (mb->is_plane) {
    mb_plane_rows(mb, w, t, v != NULL);
    return true;
  }
  if (by_tree && mb_tree_rows(mb, w, t, v != NULL)) return true;
  mb_inertia(mb, w);
  mb_constraints(mb, w, t, v != NULL);
  return false;
}

static bool factor_quickly(const yoke_multibody *mb, const mb_work *w) {
  return mb->tree != NULL ? mb_tree_factor(mb, w) : mb_plane_factor(mb, w);
}

/* w->s and rates at (q, v); factors stay those of the last look, and serve. */
static void look_again(const yoke_multibody *mb, const mb_work *w, bool quick, double t, const double *q,
                       const double *v) {
  mb_poses(mb, w, q, v, false);
  if (quick && mb->tree != NULL) {
    mb_tree_gaps(mb, w, t);
  } else if (quick) {
    mb_plane_rows(mb, w, t, true);
  } else {
    mb_constraints(mb, w, t, true);
  }
}

/* Right-hand side of a move, from rest. */
static void begin_move(const yoke_multibody *mb, const mb_work *w, const double *residual, double *dv) {
  memset(w->acceleration, 0, 6 * (size_t)mb->n_nodes * sizeof *w->acceleration);
  mb_push_begin(mb, w);
  memset(dv, 0, (size_t)mb->nv * sizeof *dv);
  for (int g = 0; g < mb->ng; ++g) w->lambda[g] = -residual[g];
}

/* Into dv, too. */
static void solve_quickly(const yoke_multibody *mb, const mb_work *w, double *dv) {
  if (mb->tree != NULL) {
    mb_tree_solve(mb, w, NULL, w->lambda, NULL);
  } else {
    mb_plane_solve(mb, w, w->lambda);
  }
  mb_write_nodes(mb, w, dv);
}

/* The smallest dv in the mass norm with G dv = -residual, after a look, which was quick or not. *is_factored: `move_again` can follow. */
static yoke_status least_move(const yoke_multibody *mb, const mb_work *w, bool *quick, double t, const double *residual,
                              double *dv, bool *is_factored) {
  begin_move(mb, w, residual, dv);
  *is_factored = *quick && factor_quickly(mb, w);
  if (*is_factored) {
    solve_quickly(mb, w, dv);
    return YOKE_OK;
  }
  if (*quick) {
    mb_inertia(mb, w);
    mb_constraints(mb, w, t, false);
    *quick = false;
  }
  all_inverse_mass(mb, w);
  YOKE_TRY(solve_S(mb, w, 1, w->lambda, is_factored));
  mb_add_reactions(mb, w, w->lambda);
  mb_write_nodes(mb, w, dv);
  return YOKE_OK;
}

/* The same with the factors that are there. */
static void move_again(const yoke_multibody *mb, const mb_work *w, bool quick, const double *residual, double *dv) {
  begin_move(mb, w, residual, dv);
  if (quick) {
    solve_quickly(mb, w, dv);
    return;
  }
  yoke_block_ldl_solve(mb->ldl, w->S, w->lambda);
  mb_add_reactions(mb, w, w->lambda);
  mb_write_nodes(mb, w, dv);
}

/* Newton in the mass norm: S dlambda = -g, q := q (+) M^-1 G^T dlambda. Where the last factors are near enough, v (NULL: none) is projected
 * with them: *is_done. Not with loops: near a singular position S is another one after the smallest move. */
static yoke_status project(const yoke_multibody *mb, const mb_work *w, double t, double *q, double *v, bool *is_done) {
  double limit = mb_position_skip;
  *is_done     = false;
  for (int i = 1; mb->n_norms > 0 && i < mb->n_nodes; ++i) {
    if (mb->nodes[i].kind == YOKE_BODY_RIGID) quaternion_normalise(q + mb->nodes[i].iq + 3);
  }
  if (!yoke_all_finite(mb->nq, q)) return YOKE_NON_FINITE;
  if (mb->ng == 0) return YOKE_OK;
  for (int iteration = 0; iteration <= MB_POSITION_ITERATIONS; ++iteration) {
    bool         quick    = look(mb, w, t, q, NULL), is_factored;
    const double residual = mb_position_residual(mb, w, mb->n_joints, w->s);
    if (!isfinite(residual)) return YOKE_NON_FINITE;
    if (residual <= limit) return YOKE_OK;
    limit = mb_position_tol;
    YOKE_TRY(least_move(mb, w, &quick, t, w->s, w->a, &is_factored));
    if (!yoke_all_finite(mb->nv, w->a)) return YOKE_NON_FINITE;
    yoke_multibody_move(mb, q, w->a);
    if (v == NULL || !is_factored || residual > mb_near_enough || mb->has_loops) continue;
    look_again(mb, w, quick, t, q, v);
    if (!(mb_position_residual(mb, w, mb->n_joints, w->s) <= limit)) continue;
    move_again(mb, w, quick, w->rate, w->a);
    for (int i = 0; i < mb->nv; ++i) v[i] += w->a[i];
    *is_done = true;
    return yoke_all_finite(mb->nv, v) ? YOKE_OK : YOKE_NON_FINITE;
  }
  return YOKE_NOT_CONVERGED;
}

yoke_status mb_project_position(const void *self, void *work, double t, double *q) {
  const yoke_multibody *mb = self;
  mb_work               w;
  bool                  is_done;
  yoke_status           status;
  mb_work_carve(self, work, &w);
  if (mb->parts != NULL && mb_parts_project(mb, &w, t, q, q, NULL, &status)) return status;
  return project(self, &w, t, q, NULL, &is_done);
}

/* S dlambda = -g', v += M^-1 G^T dlambda. */
yoke_status mb_project_velocity(const void *self, void *work, double t, const double *q, double *v) {
  const yoke_multibody *mb = self;
  mb_work               w;
  bool                  is_factored;
  yoke_status           status;
  if (!yoke_all_finite(mb->nv, v)) return YOKE_NON_FINITE;
  if (mb->ng == 0) return YOKE_OK;
  mb_work_carve(mb, work, &w);
  if (mb->parts != NULL && mb_parts_project(mb, &w, t, NULL, q, v, &status)) return status;
  bool quick = look(mb, &w, t, q, v);
  YOKE_TRY(least_move(mb, &w, &quick, t, w.rate, w.a, &is_factored));
  for (int i = 0; i < mb->nv; ++i) v[i] += w.a[i];
  return yoke_all_finite(mb->nv, v) ? YOKE_OK : YOKE_NON_FINITE;
}

yoke_status mb_project(const void *self, void *work, double t, double *q, double *v) {
  const yoke_multibody *mb = self;
  mb_work               w;
  bool                  is_done;
  yoke_status           status;
  mb_work_carve(self, work, &w);
  if (mb->parts != NULL && mb_parts_project(mb, &w, t, q, q, v, &status)) return status;
  YOKE_TRY(project(self, &w, t, q, v, &is_done));
  return is_done ? YOKE_OK : mb_project_velocity(self, work, t, q, v);
}

/* Does a pivot of S nearly collapse? In a tree that is no sign of a singular position. */
bool mb_is_singular(const void *self, void *work, double t, const double *q) {
  const yoke_multibody *mb = self;
  mb_work               w;
  if (mb->ng == 0) return false;
  mb_work_carve(mb, work, &w);
  mb_poses(mb, &w, q, NULL, true);
  mb_constraints(mb, &w, t, false);
  all_inverse_mass(mb, &w);
  assemble_S(mb, &w, 0.0);
  return yoke_block_ldl_factor(mb->ldl, w.S, mb->has_loops ? singular_limit : tree_limit) != YOKE_OK;
}
