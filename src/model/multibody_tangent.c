/* The system of the accelerations for many right-hand sides,
 *   M a - G^T lambda = r_a,   G a = r_g,
 * rows of own joints, then guided ones. Everything is in coordinates of v, moments in body axes, in which M is constant:
 *   a_0 = M^-1 r_a,   S lambda = r_g - G a_0,   a = a_0 + M^-1 G^T lambda.
 * Guided rows border S as in multibody_guided.c, b_i = G M^-1 L_i^T, x_i = S^-1 b_i, W = L M^-1 L^T - b x:
 *   W mu = r_L - L a_0 - b lambda_0,   lambda = lambda_0 - x mu.
 * Retired rows are rows of zeros with 1 on the diagonal of S.
 * Forces that follow what they bring about (multibody_loop.c) add F' C (a, lambda) to r_a, where C tells how what is felt follows a and lambda. With
 * Z, the solutions of the system for the columns of F' alone, z_0 that for r:
 *   z = z_0 + Z (1 - C Z)^-1 C z_0.
 *
 * A factor is a block of doubles: rows of G per joint and side [n, nv of the node], M^-1 G^T [nv, n], S, then b, x [n_guided, ng] and W, then
 * Z and C [n_loop, nv + n_rows] and (1 - C Z)^-1 [n_loop, n_loop]. */
#include "model/multibody_traversal.h"

#include "linalg/columns.h"
#include "linalg/space.h"
#include <string.h>

static const double stuck_limit =
    1e-10; /* pivot of W against the compliance of the body alone, as in multibody_guided.c */

/* ---- the factor ---- */

typedef struct motion {
  double *G, *Y, *S, *b, *x, *W, *Z, *C, *inverse;
  size_t  size; /* doubles */
} motion;

static double *part(double *block, size_t *used, size_t count) {
  double *piece = block == NULL ? NULL : block + *used;
  *used += (count + 7) / 8 * 8;
  return piece;
}

static motion motion_of(const yoke_multibody *mb, const void *factor) {
  double      *block = (double *)(uintptr_t)factor;
  const size_t ng = (size_t)mb->ng, n_guided = (size_t)(mb->n_rows - mb->ng), n_loop = (size_t)mb->n_loop;
  motion       m = {.size = 0};
  m.G            = part(block, &m.size, 12 * (size_t)mb->n_rows);
  m.Y            = part(block, &m.size, 12 * (size_t)mb->n_rows);
  m.S            = part(block, &m.size, mb->ldl != NULL ? yoke_block_ldl_n_values(mb->ldl) : 0);
  m.b            = part(block, &m.size, n_guided * ng);
  m.x            = part(block, &m.size, n_guided * ng);
  m.W            = part(block, &m.size, n_guided * n_guided);
  m.Z            = part(block, &m.size, n_loop * ((size_t)mb->nv + (size_t)mb->n_rows));
  m.C            = part(block, &m.size, n_loop * ((size_t)mb->nv + (size_t)mb->n_rows));
  m.inverse      = part(block, &m.size, n_loop * n_loop);
  return m;
}

size_t mb_motion_size(const yoke_multibody *mb) {
  return (motion_of(mb, NULL).size + 8) * sizeof(double); /* never 0 bytes */
}

/* Where the side of a joint is in G and in Y. */
static size_t at_side(const mb_joint *joint, int side) {
  return (size_t)(12 * joint->g0 + 6 * joint->n * side);
}

/* y [nv] := accelerations of node a under forces x on node b of the same flexible body. */
static void flexible_response(const yoke_multibody *mb, const mb_node *a, const mb_node *b, const double *x,
                              double *y) {
  for (int k = 0; k < a->nv; ++k) {
    y[k] = 0.0;
    for (int l = 0; l < b->nv; ++l) y[k] += mb_flexible_compliance(mb, a, k, b, l) * x[l];
  }
}

/* y [nv] := M^-1 x of a node. */
static void inverse_mass(const yoke_multibody *mb, const mb_node *node, const double *x, double *y) {
  if (node->flexible > 0) {
    flexible_response(mb, node, node, x, y);
    return;
  }
  for (int k = 0; k < node->nv && k < 3; ++k) {
    y[k] = (node->freedom[k] < 3 ? node->inverse_mass[node->freedom[k]] : node->inverse_inertia[8]) * x[k];
  }
  if (node->kind == YOKE_BODY_RIGID && node->nv > 0) mat3_apply(y + 3, node->inverse_inertia, x + 3);
}

static void set_rows(const yoke_multibody *mb, const mb_work *w, const motion *m) {
  for (int j = 0; j < mb->n_joints + mb->n_guided; ++j) {
    const mb_joint *joint = &mb->joints[j];
    for (int side = 0; side < 2; ++side) {
      const int      index = joint->link.node[side];
      const mb_node *node  = &mb->nodes[index]; /* no freedoms: the ground or a ghost */
      double        *G = m->G + at_side(joint, side), *Y = m->Y + at_side(joint, side);
      for (int i = 0; i < joint->n; ++i) {
        double y[6] = {0.0};
        mb_kept_row(node, w->pose[index].R, w->grad + 12 * (joint->g0 + i) + 6 * side, G + i * node->nv);
        if (mb->retired[joint->g0 + i]) memset(G + i * node->nv, 0, (size_t)node->nv * sizeof *G);
        inverse_mass(mb, node, G + i * node->nv, y);
        for (int k = 0; k < node->nv; ++k) Y[k * joint->n + i] = y[k];
      }
    }
  }
}

/* S [na, nb] += G [na, nv] Y [nv, nb] */
static YOKE_ALWAYS_INLINE void add_product(int na, int nb, int nv, const double *G, const double *restrict Y,
                                           double *restrict S) {
  for (int r = 0; r < na; ++r) {
    double sum[YOKE_BLOCK_MAX];
    for (int c = 0; c < nb; ++c) sum[c] = S[r * nb + c];
    for (int k = 0; k < nv; ++k) {
      for (int c = 0; c < nb; ++c) sum[c] += G[r * nv + k] * Y[k * nb + c];
    }
    for (int c = 0; c < nb; ++c) S[r * nb + c] = sum[c];
  }
}

/* S [na, nb] += G_a M^-1 G_b^T at different nodes of a flexible body. */
static void add_cross(const yoke_multibody *mb, const mb_coupling *c, const motion *m, double *S) {
  const mb_joint *a = &mb->joints[c->a], *b = &mb->joints[c->b];
  const mb_node  *to = &mb->nodes[a->link.node[c->side_a]], *from = &mb->nodes[b->link.node[c->side_b]];
  const double   *G = m->G + at_side(b, c->side_b);
  double          Y[6 * YOKE_BLOCK_MAX];
  for (int i = 0; i < b->n; ++i) {
    double y[6];
    flexible_response(mb, to, from, G + i * from->nv, y);
    for (int k = 0; k < to->nv; ++k) Y[k * b->n + i] = y[k];
  }
  add_product(a->n, b->n, to->nv, m->G + at_side(a, c->side_a), Y, S);
}

/* S [a, b] += G_a Y_b on one body. Constant sizes let the compiler unroll the common joints. */
YOKE_SIMD static void add_block(const mb_joint *a, int side_a, const mb_joint *b, int side_b, int nv, const motion *m,
                                double *S) {
  const double *G = m->G + at_side(a, side_a), *Y = m->Y + at_side(b, side_b);
  if (nv == 3 && a->n == 2 && b->n == 2) {
    add_product(2, 2, 3, G, Y, S);
  } else if (nv == 6 && a->n == 5 && b->n == 5) {
    add_product(5, 5, 6, G, Y, S);
  } else if (nv == 6 && a->n == 3 && b->n == 3) {
    add_product(3, 3, 6, G, Y, S);
  } else {
    add_product(a->n, b->n, nv, G, Y, S);
  }
}

static yoke_status factor_S(const yoke_multibody *mb, const motion *m) {
  memset(m->S, 0, yoke_block_ldl_n_blocks(mb->ldl) * sizeof *m->S);
  for (int j = 0; j < mb->n_joints; ++j) {
    const mb_joint *joint = &mb->joints[j];
    double         *S     = m->S + mb->diagonal_at[j];
    for (int side = 0; side < 2; ++side) {
      add_block(joint, side, joint, side, mb->nodes[joint->link.node[side]].nv, m, S);
    }
    for (int i = 0; i < joint->n; ++i) {
      if (mb->retired[joint->g0 + i]) S[i * (joint->n + 1)] = 1.0;
    }
  }
  for (int i = mb->n_couplings; i < mb->n_couplings + mb->n_own_couplings; ++i) {
    const mb_coupling *c                                  = &mb->couplings[i];
    const int          n                                  = mb->joints[c->a].n;
    double             P[YOKE_BLOCK_MAX * YOKE_BLOCK_MAX] = {0.0}, *S = m->S + c->at;
    add_cross(mb, c, m, P);
    for (int r = 0; r < n * n; ++r) S[r] += P[r] + P[r % n * n + r / n];
  }
  for (int i = 0; i < mb->n_couplings; ++i) {
    const mb_coupling *c = &mb->couplings[i];
    const mb_joint    *a = &mb->joints[c->a], *b = &mb->joints[c->b];
    if (c->cross >= 0) {
      add_cross(mb, c, m, m->S + c->at);
      continue;
    }
    add_block(a, c->side_a, b, c->side_b, mb->nodes[a->link.node[c->side_a]].nv, m, m->S + c->at);
  }
  return yoke_block_ldl_factor(mb->ldl, m->S, mb_pivot_limit(mb));
}

/* ---- guided rows ---- */

/* Real side of the guided joint that row i of them belongs to, and its place there. */
static const mb_joint *guided_row(const yoke_multibody *mb, int i, int *side, int *place) {
  const int       j     = mb->row_joint[mb->ng + i];
  const mb_joint *joint = &mb->joints[j];
  *side                 = mb->guided[j - mb->n_joints].side;
  *place                = mb->ng + i - joint->g0;
  return joint;
}

/* L_i M^-1 L_k^T of one body; 0 where they are on different ones. */
static double own_compliance(const yoke_multibody *mb, const motion *m, int i, int k) {
  int             side_i, side_k, at_i, at_k;
  const mb_joint *a = guided_row(mb, i, &side_i, &at_i), *b = guided_row(mb, k, &side_k, &at_k);
  const int       nv     = mb->nodes[a->link.node[side_i]].nv;
  double          sum    = 0.0;
  const int       node_i = a->link.node[side_i], node_k = b->link.node[side_k];
  if (node_i != node_k && mb_is_same_flexible(mb, node_i, node_k)) {
    double        y[6];
    const double *own = m->G + at_side(a, side_i) + at_i * nv;
    flexible_response(mb, &mb->nodes[node_i], &mb->nodes[node_k],
                      m->G + at_side(b, side_k) + at_k * mb->nodes[node_k].nv, y);
    for (int l = 0; l < nv; ++l) sum += own[l] * y[l];
    return sum;
  }
  if (node_i != node_k) return 0.0;
  const double *G = m->G + at_side(a, side_i) + at_i * nv, *Y = m->Y + at_side(b, side_k) + at_k;
  for (int l = 0; l < nv; ++l) sum += G[l] * Y[l * b->n];
  return sum;
}

/* b_i = G M^-1 L_i^T */
static void set_b(const yoke_multibody *mb, const motion *m, int i, double *b) {
  int             side, place;
  const mb_joint *row  = guided_row(mb, i, &side, &place);
  const int       node = row->link.node[side], nv = mb->nodes[node].nv;
  const double   *Y = m->Y + at_side(row, side) + place;
  memset(b, 0, (size_t)mb->ng * sizeof *b);
  for (int j = 0; j < mb->n_joints; ++j) {
    const mb_joint *joint = &mb->joints[j];
    for (int s = 0; s < 2; ++s) {
      const int     own = joint->link.node[s];
      const double *G   = m->G + at_side(joint, s);
      if (own != node && mb_is_same_flexible(mb, own, node)) {
        const int own_nv = mb->nodes[own].nv;
        double    y[6];
        flexible_response(mb, &mb->nodes[own], &mb->nodes[node], m->G + at_side(row, side) + place * nv, y);
        for (int r = 0; r < joint->n; ++r) {
          for (int k = 0; k < own_nv; ++k) b[joint->g0 + r] += G[r * own_nv + k] * y[k];
        }
      }
      if (own != node) continue;
      for (int r = 0; r < joint->n; ++r) {
        for (int k = 0; k < nv; ++k) b[joint->g0 + r] += G[r * nv + k] * Y[k * row->n];
      }
    }
  }
}

/* W = L D L^T in place, lower part; D itself on the diagonal. */
static yoke_status factor_W(const yoke_multibody *mb, const motion *m) {
  const int       n  = mb->n_rows - mb->ng;
  const ptrdiff_t ng = mb->ng;
  double         *W  = m->W;
  for (int i = 0; mb->ng > 0 && i < n; ++i) {
    set_b(mb, m, i, m->b + i * ng);
    memcpy(m->x + i * ng, m->b + i * ng, (size_t)ng * sizeof *m->x);
    yoke_block_ldl_solve(mb->ldl, m->S, m->x + i * ng);
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k <= i; ++k) {
      W[i * n + k] = own_compliance(mb, m, i, k);
      for (ptrdiff_t g = 0; g < ng; ++g) W[i * n + k] -= m->b[i * ng + g] * m->x[k * ng + g];
    }
  }
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < j; ++k) W[j * n + j] -= W[j * n + k] * W[j * n + k] * W[k * n + k];
    if (!(W[j * n + j] > stuck_limit * own_compliance(mb, m, j, j))) return YOKE_SINGULAR;
    for (int i = j + 1; i < n; ++i) {
      for (int k = 0; k < j; ++k) W[i * n + j] -= W[i * n + k] * W[j * n + k] * W[k * n + k];
      W[i * n + j] /= W[j * n + j];
    }
  }
  return YOKE_OK;
}

static yoke_status factor_rows(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *u,
                               const motion *m) {
  if (mb->n_rows == 0) return YOKE_OK;
  mb_poses(mb, w, q, NULL, false);
  if (mb->ng > 0) mb_constraints(mb, w, t, false);
  if (mb->n_guided > 0) {
    mb_ghost_poses(mb, w, u);
    mb_guided_rows(mb, w, NULL);
  }
  set_rows(mb, w, m);
  if (mb->ng > 0) YOKE_TRY(factor_S(mb, m));
  return mb->n_guided > 0 ? factor_W(mb, m) : YOKE_OK;
}

/* ---- solves ---- */

static YOKE_ALWAYS_INLINE void scale_row(double s, int n, double *x) {
  for (int k = 0; k < n; ++k) x[k] *= s;
}

/* a := M^-1 a */
static YOKE_ALWAYS_INLINE void apply_inverse_mass(const yoke_multibody *mb, int n, double *a) {
  const ptrdiff_t row = n;
  for (int c = 0; c < mb->n_chains; ++c) {
    const double *mass = yoke_chain_kernel_mass(mb->chains[c].kernel);
    for (int i = 0; i < mb->chains[c].n; ++i) scale_row(1.0 / mass[i], n, a + (mb->chains[c].iv + i) * row);
  }
  for (int i = 0; i < mb->n_flexibles; ++i) {
    const mb_flexible *f = &mb->flexibles[i];
    yoke_band_solve(&f->band, f->stride * n, a + f->iv * row);
  }
  for (int i = 1; i < mb->n_nodes; ++i) {
    const mb_node *node = &mb->nodes[i];
    const double  *J    = node->inverse_inertia;
    double        *x    = a + node->iv * row;
    if (node->kind == YOKE_BODY_CHAIN || node->flexible > 0) continue;
    for (int k = 0; k < node->nv && k < 3; ++k) {
      scale_row(node->freedom[k] < 3 ? node->inverse_mass[node->freedom[k]] : J[8], n, x + k * row);
    }
    if (node->kind != YOKE_BODY_RIGID) continue;
    double *m0 = x + 3 * row, *m1 = x + 4 * row, *m2 = x + 5 * row;
    for (int k = 0; k < n; ++k) {
      const double b0 = m0[k], b1 = m1[k], b2 = m2[k];
      m0[k] = J[0] * b0 + J[1] * b1 + J[2] * b2;
      m1[k] = J[3] * b0 + J[4] * b1 + J[5] * b2;
      m2[k] = J[6] * b0 + J[7] * b1 + J[8] * b2;
    }
  }
}

/* lambda := lambda - G a in the rows of a joint; 0 in retired ones. */
static YOKE_ALWAYS_INLINE void subtract_rows(const yoke_multibody *mb, const mb_joint *joint, const motion *m, int n,
                                             const double *a, double *lambda) {
  const ptrdiff_t row = n;
  for (int i = 0; i < joint->n; ++i) {
    double *y = lambda + (joint->g0 + i) * row;
    if (mb->retired[joint->g0 + i]) {
      memset(y, 0, (size_t)n * sizeof *y);
      continue;
    }
    for (int side = 0; side < 2; ++side) {
      const mb_node *node = &mb->nodes[joint->link.node[side]];
      const double  *G    = m->G + at_side(joint, side) + i * node->nv;
      double         minus[6];
      for (int k = 0; k < node->nv; ++k) minus[k] = -G[k];
      yoke_columns_add(node->nv, minus, n, a + node->iv * row, y);
    }
  }
}

/* The same of one side, on a flexible body. */
static void add_flexible_reactions(const yoke_multibody *mb, const mb_joint *joint, int side, const motion *m, int n,
                                   const double *lambda, double *a) {
  const ptrdiff_t    row  = n;
  const mb_node     *node = &mb->nodes[joint->link.node[side]];
  const mb_flexible *f    = &mb->flexibles[node->flexible - 1];
  const double      *G = m->G + at_side(joint, side), *X = f->X + (ptrdiff_t)node->column * f->n;
  for (int r = 0; r < f->n; ++r) {
    double y[YOKE_CONNECTION_MAX_ROWS];
    for (int i = 0; i < joint->n; ++i) {
      y[i] = 0.0;
      for (int k = 0; k < node->nv; ++k) y[i] += X[(ptrdiff_t)k * f->n + r] * G[i * node->nv + k];
    }
    yoke_columns_add(joint->n, y, n, lambda + joint->g0 * row, a + (f->iv + r) * row);
  }
}

/* a += M^-1 G^T lambda of a joint. */
static YOKE_ALWAYS_INLINE void add_reactions(const yoke_multibody *mb, const mb_joint *joint, const motion *m, int n,
                                             const double *lambda, double *a) {
  const ptrdiff_t row = n;
  for (int side = 0; side < 2; ++side) {
    const mb_node *node = &mb->nodes[joint->link.node[side]];
    const double  *Y    = m->Y + at_side(joint, side);
    if (node->flexible > 0) {
      add_flexible_reactions(mb, joint, side, m, n, lambda, a);
      continue;
    }
    for (int k = 0; k < node->nv; ++k) {
      yoke_columns_add(joint->n, Y + k * joint->n, n, lambda + joint->g0 * row, a + (node->iv + k) * row);
    }
  }
}

/* y -= s x */
static YOKE_ALWAYS_INLINE void subtract_column(double s, int n, const double *x, double *restrict y) {
  for (int k = 0; k < n; ++k) y[k] -= s * x[k];
}

/* lambda [ng, n] and mu [n_guided, n] from what is left of r_g when lambda holds lambda_0. */
static YOKE_ALWAYS_INLINE void solve_guided(const yoke_multibody *mb, const motion *m, int n, double *lambda,
                                            double *mu) {
  const ptrdiff_t row = n, ng = mb->ng;
  const int       n_mu = mb->n_rows - mb->ng;
  for (int i = 0; i < n_mu; ++i) {
    for (ptrdiff_t g = 0; g < ng; ++g) {
      if (m->b[i * ng + g] != 0.0) subtract_column(m->b[i * ng + g], n, lambda + g * row, mu + i * row);
    }
    for (int k = 0; k < i; ++k) subtract_column(m->W[i * n_mu + k], n, mu + k * row, mu + i * row);
  }
  for (int i = n_mu - 1; i >= 0; --i) {
    scale_row(1.0 / m->W[i * n_mu + i], n, mu + i * row);
    for (int k = i + 1; k < n_mu; ++k) subtract_column(m->W[k * n_mu + i], n, mu + k * row, mu + i * row);
    for (ptrdiff_t g = 0; g < ng; ++g) subtract_column(m->x[i * ng + g], n, mu + i * row, lambda + g * row);
  }
}

/* Without what forces feel. */
YOKE_SIMD static void solve_plain(const yoke_multibody *mb, const motion *m, int n, double *a, double *lambda) {
  const int n_joints = mb->n_joints + mb->n_guided;
  apply_inverse_mass(mb, n, a);
  for (int j = 0; j < n_joints; ++j) subtract_rows(mb, &mb->joints[j], m, n, a, lambda);
  if (mb->ng > 0) yoke_block_ldl_solve_many(mb->ldl, m->S, n, lambda);
  if (mb->n_guided > 0) solve_guided(mb, m, n, lambda, lambda + (ptrdiff_t)mb->ng * n);
  for (int j = 0; j < n_joints; ++j) add_reactions(mb, &mb->joints[j], m, n, lambda, a);
}

/* ---- what forces feel ---- */

static double dot(ptrdiff_t n, const double *x, const double *y) {
  double sum = 0.0;
  for (ptrdiff_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

/* Row i of C. */
static void set_C(const yoke_multibody *mb, const mb_work *w, int i, const double *q, const double *a, double *C) {
  mb_gradient g;
  memset(C, 0, ((size_t)mb->nv + (size_t)mb->n_rows) * sizeof *C);
  mb_variable_gradient(mb, w, mb->felt[mb->loop[i]].number, q, a, &g);
  for (int e = 0; e < g.n; ++e) {
    if (g.entry[e].level == YOKE_LEVEL_ACCELERATION) C[g.entry[e].index] += g.entry[e].value;
    if (g.entry[e].level == YOKE_LEVEL_FORCE) C[mb->nv + g.entry[e].index] += g.entry[e].value;
  }
}

/* Z, C and (1 - C Z)^-1 at (t, q, v), where the rows are factored. */
static yoke_status factor_loop(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                               const double *u, const motion *m) {
  const int       n = mb->n_loop;
  const ptrdiff_t N = (ptrdiff_t)mb->nv + mb->n_rows;
  mb_work         w;
  mb_work_carve(mb, work, &w);
  YOKE_TRY(mb_derivative(mb, work, t, q, v, u, NULL, w.a, NULL)); /* poses and variables */
  for (int j = 0; j < n; ++j) {
    double *Z = m->Z + j * N;
    mb_loop_forces(mb, &w, j);
    memset(Z, 0, (size_t)N * sizeof *Z);
    for (int i = 1; i < mb->n_nodes; ++i)
      rows_to_v(&mb->nodes[i], w.pose[i].R, 1, w.wrench + 6 * i, 1, Z + mb->nodes[i].iv);
    solve_plain(mb, m, 1, Z, Z + mb->nv);
    set_C(mb, &w, j, q, w.a, m->C + j * N);
  }
  for (int c = 0; c < n; ++c) {
    for (int i = 0; i < n; ++i) {
      w.loop_r[i] = i == c ? 1.0 : 0.0;
      for (int j = 0; j < n; ++j) w.loop_P[i * n + j] = dot(N, m->C + i * N, m->Z + j * N);
    }
    if (mb_loop_solve(n, w.loop_P, w.loop_r) >= 0) return YOKE_SINGULAR;
    for (int i = 0; i < n; ++i) m->inverse[i * n + c] = w.loop_r[i];
  }
  return YOKE_OK;
}

/* z += Z (1 - C Z)^-1 C z for n directions. */
static void add_loop(const yoke_multibody *mb, const motion *m, int n, double *a, double *lambda) {
  const int       n_loop = mb->n_loop;
  const ptrdiff_t N = (ptrdiff_t)mb->nv + mb->n_rows, row = n;
  for (int k = 0; k < n; ++k) {
    double s[MB_MOST_IN_LOOP];
    for (int i = 0; i < n_loop; ++i) {
      const double *C = m->C + i * N;
      s[i]            = 0.0;
      for (ptrdiff_t r = 0; r < mb->nv; ++r) s[i] += C[r] * a[r * row + k];
      for (ptrdiff_t r = 0; r < mb->n_rows; ++r) s[i] += C[mb->nv + r] * lambda[r * row + k];
    }
    for (int j = 0; j < n_loop; ++j) {
      const double *Z = m->Z + j * N;
      const double  x = dot(n_loop, m->inverse + j * n_loop, s);
      for (ptrdiff_t r = 0; r < mb->nv; ++r) a[r * row + k] += x * Z[r];
      for (ptrdiff_t r = 0; r < mb->n_rows; ++r) lambda[r * row + k] += x * Z[mb->nv + r];
    }
  }
}

/* ---- calls ---- */

yoke_status mb_motion_factor(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                             void *factor) {
  const yoke_multibody *mb = self;
  const motion          m  = motion_of(mb, factor);
  mb_work               w;
  mb_work_carve(mb, work, &w);
  YOKE_TRY(factor_rows(mb, &w, t, q, u, &m));
  return mb->n_loop > 0 ? factor_loop(mb, work, t, q, v, u, &m) : YOKE_OK;
}

void mb_motion_solve(const void *self, const void *factor, int n, double *a, double *lambda) {
  const yoke_multibody *mb = self;
  const motion          m  = motion_of(mb, factor);
  solve_plain(mb, &m, n, a, lambda);
  if (mb->n_loop > 0) add_loop(mb, &m, n, a, lambda);
}

/* ---- projection ---- */

/* a [nv, n] := dq in coordinates of v, rotations 2 E^T dp; and back, dq += T a with rotations 1/2 E a. */
static void turn_to_v(const mb_node *node, const double *q, int n, const double *dq, double *a) {
  const ptrdiff_t row = n;
  double          E[12];
  const double   *from = dq + node->iq * row;
  double         *to   = a + node->iv * row;
  memcpy(to, from, (size_t)(node->nv < 3 ? node->nv : 3) * (size_t)n * sizeof *to);
  if (node->kind != YOKE_BODY_RIGID || node->nv == 0) return;
  quaternion_E(E, q + node->iq + 3);
  for (int c = 0; c < 3; ++c) {
    memset(to + (3 + c) * row, 0, (size_t)n * sizeof *to);
    for (int r = 0; r < 4; ++r) {
      for (int k = 0; k < n; ++k) to[(3 + c) * row + k] += 2.0 * E[3 * r + c] * from[(3 + r) * row + k];
    }
  }
}

static void add_from_v(const mb_node *node, const double *q, int n, const double *a, double *dq) {
  const ptrdiff_t row = n;
  double          E[12];
  const double   *from = a + node->iv * row, *p = q + node->iq + 3;
  double         *to = dq + node->iq * row;
  for (int i = 0; i < (node->nv < 3 ? node->nv : 3) * n; ++i) to[i] += from[i];
  if (node->kind != YOKE_BODY_RIGID || node->nv == 0) return;
  quaternion_E(E, p);
  const double norm2 = quaternion_norm2(p);
  for (int k = 0; k < n; ++k) {
    double along = 0.0;
    for (int r = 0; r < 4; ++r) along += p[r] * to[(3 + r) * row + k] / norm2;
    for (int r = 0; r < 4; ++r) {
      double *x = &to[(3 + r) * row + k];
      *x -= along * p[r]; /* unit norms */
      for (int c = 0; c < 3; ++c) *x += 0.5 * E[3 * r + c] * from[(3 + c) * row + k];
    }
  }
}

/* a := M^-1 G^T S^-1 lambda of the own joints. */
static void react(const yoke_multibody *mb, const motion *m, int n, double *lambda, double *a) {
  yoke_block_ldl_solve_many(mb->ldl, m->S, n, lambda);
  memset(a, 0, (size_t)mb->nv * (size_t)n * sizeof *a);
  for (int j = 0; j < mb->n_joints; ++j) add_reactions(mb, &mb->joints[j], m, n, lambda, a);
}

/* lambda -= d(G v)/dq dq of a joint, whose parts are those of the stabilised form. */
static void subtract_turning(const mb_traversal *x, const mb_joint *joint, int n, const double *dq, double *lambda) {
  const ptrdiff_t row = n;
  mb_joint_parts  parts;
  double          block[7 * YOKE_CONNECTION_MAX_ROWS];
  mb_set_joint_parts(x, joint, &parts);
  for (int side = 0; side < 2; ++side) {
    const mb_node *node = &x->mb->nodes[joint->link.node[side]];
    columns_to_q(node, x->q, joint->n, parts.by_q[0] + 6 * side, 12, block);
    for (int i = 0; i < joint->n * node->nq; ++i) block[i] = -block[i];
    for (int i = 0; i < joint->n; ++i)
      yoke_columns_add(node->nq, block + i * node->nq, n, dq + node->iq * row, lambda + (joint->g0 + i) * row);
  }
}

void mb_tangent_project(const void *self, void *work, const void *factor, double t, const double *q, const double *v,
                        int n, double *dq, double *dv, double *a, double *lambda) {
  const yoke_multibody *mb   = self;
  const motion          m    = motion_of(mb, factor);
  const yoke_dae        form = {.form = YOKE_DAE_GGL};
  const size_t          size = (size_t)mb->ng * (size_t)n * sizeof *lambda;
  mb_work               w;
  mb_work_carve(mb, work, &w);
  for (int i = 1; i < mb->n_nodes; ++i) turn_to_v(&mb->nodes[i], q, n, dq, a);
  memset(lambda, 0, size);
  for (int j = 0; j < mb->n_joints; ++j) subtract_rows(mb, &mb->joints[j], &m, n, a, lambda);
  react(mb, &m, n, lambda, a);
  for (int i = 1; i < mb->n_nodes; ++i) add_from_v(&mb->nodes[i], q, n, a, dq);

  mb_poses(mb, &w, q, v, false);
  mb_constraints(mb, &w, t, false);
  memset(w.lambda, 0, (size_t)mb->n_rows * sizeof *w.lambda);
  const mb_traversal x = {.mb = mb, .dae = &form, .w = &w, .t = t, .q = q, .v = v, .lambda = w.lambda};
  memset(lambda, 0, size);
  for (int j = 0; j < mb->n_joints; ++j) {
    subtract_rows(mb, &mb->joints[j], &m, n, dv, lambda);
    subtract_turning(&x, &mb->joints[j], n, dq, lambda);
  }
  react(mb, &m, n, lambda, a);
  for (ptrdiff_t i = 0; i < (ptrdiff_t)mb->nv * n; ++i) dv[i] += a[i];
}
