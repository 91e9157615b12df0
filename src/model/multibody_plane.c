/* Mechanisms in the plane: joints between bodies of kind planar and the ground. A row there has four numbers that are not 0, n (the same on
 * both bodies, with opposite signs) and a moment on each body,
 *   S_ij = n_i . n_j / m + t_i t_j / J  for every body that rows i and j share,
 * so nothing else is found, stored and multiplied. Products and sums are those of multibody_ordinary.c without its zeros, in the same order:
 * the same bits. */
#include "model/multibody_internal.h"

#include "base/simd.h"
#include <string.h>

enum { NX, NY, T0, T1, ROW }; /* of a row: n on side 0, moments on sides 0 and 1 */

bool mb_is_plane(const yoke_multibody *mb) {
  for (int j = 0; j < mb->n_joints; ++j) {
    for (int side = 0; side < 2; ++side) {
      const int node = mb->joints[j].link.node[side];
      if (node > 0 && mb->nodes[node].kind != YOKE_BODY_PLANAR) return false;
    }
  }
  return mb->n_joints > 0 && mb->n_guided == 0 && mb->n_flexibles == 0;
}

/* Two points on each other: the most frequent joint. */
bool mb_plane_is_pin(const mb_joint *joint) {
  return joint->n == 2 && joint->motion == NULL && joint->row[0].kind == YOKE_ROW_POINT && joint->row[0].k == 0 &&
         joint->row[1].kind == YOKE_ROW_POINT && joint->row[1].k == 1;
}

static void pin_rows(const mb_work *w, const mb_joint *joint, bool with_rates, double *row) {
  const yoke_pose *A = &w->pose[joint->link.node[0]], *B = &w->pose[joint->link.node[1]];
  const double    *oa = joint->link.origin[0], *ob = joint->link.origin[1], wa = A->w[2], wb = B->w[2];
  const double     ax = A->R[0] * oa[0] + A->R[1] * oa[1], ay = A->R[3] * oa[0] + A->R[4] * oa[1];
  const double     bx = B->R[0] * ob[0] + B->R[1] * ob[1], by = B->R[3] * ob[0] + B->R[4] * ob[1];
  const int        g = joint->g0;
  w->s[g]            = (A->r[0] + ax) - (B->r[0] + bx);
  w->s[g + 1]        = (A->r[1] + ay) - (B->r[1] + by);
  row[NX]            = 1.0;
  row[NY]            = 0.0;
  row[T0]            = -ay;
  row[T1]            = by;
  row[ROW + NX]      = 0.0;
  row[ROW + NY]      = 1.0;
  row[ROW + T0]      = ax;
  row[ROW + T1]      = -bx;
  if (!with_rates) return;
  w->rate[g]      = A->v[0] - ay * wa - B->v[0] + by * wb;
  w->rate[g + 1]  = A->v[1] + ax * wa - B->v[1] - bx * wb;
  w->gamma[g]     = wb * (wb * bx) - wa * (wa * ax);
  w->gamma[g + 1] = wb * (wb * by) - wa * (wa * ay);
}

static void other_rows(const mb_work *w, const mb_joint *joint, double t, bool with_rates, double *row) {
  mb_joint_rows(w, joint, t, with_rates);
  for (int i = 0; i < joint->n; ++i, row += ROW) {
    const double *grad = w->grad + 12 * (joint->g0 + i);
    row[NX]            = grad[0];
    row[NY]            = grad[1];
    row[T0]            = grad[5];
    row[T1]            = grad[11];
  }
}

static void set_rows(const mb_work *w, const mb_joint *joint, double t, bool with_rates) {
  double *row = w->plane + ROW * joint->g0;
  if (mb_plane_is_pin(joint)) {
    pin_rows(w, joint, with_rates, row);
  } else {
    other_rows(w, joint, t, with_rates, row);
  }
}

void mb_plane_rows(const yoke_multibody *mb, const mb_work *w, double t, bool with_rates) {
  memset(w->motion_rate, 0, (size_t)mb->ng * sizeof *w->motion_rate);
  for (int j = 0; j < mb->n_joints; ++j) set_rows(w, &mb->joints[j], t, with_rates);
}

void mb_plane_rows_part(const yoke_multibody *mb, const mb_work *w, double t, bool with_rates, const mb_part *part) {
  MB_EACH(j, part, MB_SPAN_JOINT) set_rows(w, &mb->joints[j], t, with_rates);
}

/* S [na, nb] += what rows a on side_a and rows b on side_b do to each other by a body that both have there. */
static YOKE_ALWAYS_INLINE void add_rows(const mb_node *node, int na, const double *restrict a, int side_a, int nb,
                                        const double *restrict b, int side_b, double *restrict S) {
  const double sign = side_a == side_b ? 1.0 : -1.0, x = sign * node->inverse_mass[0], y = sign * node->inverse_mass[1];
  const double z = node->inverse_inertia[8];
  for (int i = 0; i < na; ++i, a += ROW) {
    for (int k = 0; k < nb; ++k) {
      const double *c   = b + ROW * k;
      double        sum = S[nb * i + k];
      sum += a[NX] * (x * c[NX]);
      sum += a[NY] * (y * c[NY]);
      S[nb * i + k] = sum + a[T0 + side_a] * (z * c[T0 + side_b]);
    }
  }
}

static YOKE_ALWAYS_INLINE void add_diagonal(const yoke_multibody *mb, const mb_work *w, int j) {
  const mb_joint *joint = &mb->joints[j];
  const double   *row   = w->plane + ROW * joint->g0;
  double         *S     = w->S + mb->diagonal_at[j];
  for (int side = 0; side < 2; ++side) {
    const mb_node *node = &mb->nodes[joint->link.node[side]];
    if (joint->n == 2) {
      add_rows(node, 2, row, side, 2, row, side, S);
    } else {
      add_rows(node, joint->n, row, side, joint->n, row, side, S);
    }
  }
}

static YOKE_ALWAYS_INLINE void add_coupling(const yoke_multibody *mb, const mb_work *w, int i) {
  const mb_coupling *c = &mb->couplings[i];
  const mb_joint    *a = &mb->joints[c->a], *b = &mb->joints[c->b];
  const double      *row_a = w->plane + ROW * a->g0, *row_b = w->plane + ROW * b->g0;
  const mb_node     *node = &mb->nodes[a->link.node[c->side_a]];
  if (a->n == 2 && b->n == 2) {
    add_rows(node, 2, row_a, c->side_a, 2, row_b, c->side_b, w->S + c->at);
  } else {
    add_rows(node, a->n, row_a, c->side_a, b->n, row_b, c->side_b, w->S + c->at);
  }
}

YOKE_SIMD bool mb_plane_factor(const yoke_multibody *mb, const mb_work *w) {
  memset(w->S, 0, yoke_block_ldl_n_blocks(mb->ldl) * sizeof *w->S);
  for (int j = 0; j < mb->n_joints; ++j) add_diagonal(mb, w, j);
  for (int i = 0; i < mb->n_couplings; ++i) add_coupling(mb, w, i);
  return yoke_block_ldl_factor(mb->ldl, w->S, mb_pivot_limit(mb)) == YOKE_OK;
}

/* What rows still want of free accelerations; the ground has none. */
static YOKE_ALWAYS_INLINE void subtract_free(const mb_work *w, const mb_joint *joint, double *lambda) {
  static const double rest[6];
  const int          *node = joint->link.node;
  const double       *a    = node[0] > 0 ? w->acceleration + 6 * node[0] : rest;
  const double       *b    = node[1] > 0 ? w->acceleration + 6 * node[1] : rest;
  const double       *row  = w->plane + ROW * joint->g0;
  for (int g = joint->g0; g < joint->g0 + joint->n; ++g, row += ROW) {
    const double here  = row[NX] * a[0] + row[NY] * a[1] + row[T0] * a[5];
    const double there = -row[NX] * b[0] - row[NY] * b[1] + row[T1] * b[5];
    lambda[g] -= here + there;
  }
}

static YOKE_ALWAYS_INLINE void add_reaction(const yoke_multibody *mb, const mb_work *w, const mb_joint *joint,
                                            const double *lambda) {
  const double *row = w->plane + ROW * joint->g0;
  for (int side = 0; side < 2; ++side) {
    if (joint->link.node[side] == 0) continue; /* the ground does not move, and belongs to all parts */
    const mb_node *node = &mb->nodes[joint->link.node[side]];
    const double   sign = side == 0 ? 1.0 : -1.0, x = sign * node->inverse_mass[0], y = sign * node->inverse_mass[1];
    double        *a      = w->acceleration + 6 * joint->link.node[side];
    double         sum[3] = {0.0};
    for (int i = 0; i < joint->n; ++i) {
      const double  l = lambda[joint->g0 + i];
      const double *r = row + ROW * i;
      sum[0] += x * r[NX] * l;
      sum[1] += y * r[NY] * l;
      sum[2] += node->inverse_inertia[8] * r[T0 + side] * l;
    }
    a[0] += sum[0];
    a[1] += sum[1];
    a[5] += sum[2];
  }
}

void mb_plane_solve(const yoke_multibody *mb, const mb_work *w, double *lambda) {
  for (int j = 0; j < mb->n_joints; ++j) subtract_free(w, &mb->joints[j], lambda);
  yoke_block_ldl_solve(mb->ldl, w->S, lambda);
  for (int j = 0; j < mb->n_joints; ++j) add_reaction(mb, w, &mb->joints[j], lambda);
}

/* ---- in parts ---- */

static const mb_part *part_of(const yoke_multibody *mb, int part) {
  return part == MB_CUT ? &mb->parts->cut : &mb->parts->part[part];
}

void mb_plane_begin_cut(const yoke_multibody *mb, const mb_work *w) {
  MB_EACH(j, &mb->parts->cut, MB_SPAN_JOINT) {
    double *row   = w->plane + ROW * mb->joints[j].g0;
    row[NX]       = 1.0;
    row[NY]       = 0.0;
    row[ROW + NX] = 0.0;
    row[ROW + NY] = 1.0;
  }
}

/* The moments of pin_rows on this side. */
void mb_plane_cut_rows_of(const yoke_multibody *mb, const mb_work *w, int part) {
  const mb_parts *parts = mb->parts;
  MB_EACH(j, &parts->cut, MB_SPAN_JOINT) {
    const mb_joint *joint = &mb->joints[j];
    const int       side  = part == 0 ? parts->cut_side[j] : 1 - parts->cut_side[j];
    const double   *R = w->pose[joint->link.node[side]].R, *o = joint->link.origin[side];
    const double    x = R[0] * o[0] + R[1] * o[1], y = R[3] * o[0] + R[4] * o[1];
    double         *row  = w->plane + ROW * joint->g0;
    row[T0 + side]       = side == 0 ? -y : y;
    row[ROW + T0 + side] = side == 0 ? x : -x;
  }
}

YOKE_SIMD void mb_plane_blocks_part(const yoke_multibody *mb, const mb_work *w, int part) {
  const mb_part *p = part_of(mb, part);
  yoke_block_ldl_clear_part(mb->ldl, w->S, part);
  MB_EACH(j, p, MB_SPAN_JOINT) add_diagonal(mb, w, j);
  MB_EACH(i, p, MB_SPAN_COUPLING) add_coupling(mb, w, i);
}

bool mb_plane_factor_part(const yoke_multibody *mb, const mb_work *w, int part) {
  return yoke_block_ldl_factor_part(mb->ldl, w->S, mb_pivot_limit(mb), part) == YOKE_OK;
}

bool mb_plane_between_factor(const yoke_multibody *mb, const mb_work *w) {
  return yoke_block_ldl_factor_between(mb->ldl, w->S, mb_pivot_limit(mb)) == YOKE_OK;
}

void mb_plane_in_part(const yoke_multibody *mb, const mb_work *w, double *lambda, int part) {
  const mb_part *p = part_of(mb, part);
  MB_EACH(j, p, MB_SPAN_JOINT) subtract_free(w, &mb->joints[j], lambda);
  yoke_block_ldl_forward_part(mb->ldl, w->S, lambda, part);
}

void mb_plane_between_solve(const yoke_multibody *mb, const mb_work *w, double *lambda) {
  const mb_part *p = &mb->parts->cut;
  MB_EACH(j, p, MB_SPAN_JOINT) subtract_free(w, &mb->joints[j], lambda);
  yoke_block_ldl_solve_between(mb->ldl, w->S, lambda);
  MB_EACH(j, p, MB_SPAN_JOINT) add_reaction(mb, w, &mb->joints[j], lambda);
}

void mb_plane_out_part(const yoke_multibody *mb, const mb_work *w, double *lambda, int part) {
  const mb_part *p = part_of(mb, part);
  yoke_block_ldl_backward_part(mb->ldl, w->S, lambda, part);
  MB_EACH(j, p, MB_SPAN_JOINT) add_reaction(mb, w, &mb->joints[j], lambda);
}
