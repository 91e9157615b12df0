/* Trees: accelerations of bodies with six freedoms whose joints make no loop, from the leaves to the roots and back (articulated bodies,
 * Featherstone 2008, chapter 7), in the coordinates and with the rows of all other models.
 *
 * With accelerations (x, alpha) of child c and parent p in inertial axes and arms r from the centres of mass to the joint, rows are
 *   e_i . (x_c + alpha_c x r_c - x_p - alpha_p x r_p) = b_i     of points,
 *   t_i . (alpha_c - alpha_p)                         = b_i     of turns.
 * So the motion V_c of the child at the joint is that of the parent, plus what the rows ask for (the bases dual to e and t give it),
 * plus one unknown for each direction s that no row has. The child with all that hangs on it is I_A V_c = F + W there, W from the joint; s.W = 0
 * eliminates direction after direction:
 *   U = I_A s,  D = s.U,  I_A -= U U^T / D,  F -= U (s.F) / D,
 * and what is left over is carried by the parent. Off the constraints this is exact too, as the rows are the rows of g''.
 *
 * In parts (multibody_parts.c) the tree is cut at one joint. What hangs on it, part 1, and the rest, part 0, go side by side: part 1 as always, part
 * 0 as if nothing hung on the joint's parent, whose acceleration then is a_free + C W under a wrench W there. On the way out C follows from the root
 * to the parent, by the same steps as accelerations:
 *   C -> (1 - s U^T/D) C (1 - U s^T/D) + s s^T/D,
 * and W is what part 1 does to its parent, W = F - I (a_free + C W). */
#include "model/multibody_internal.h"

#include "base/simd.h"
#include "linalg/space.h"
#include "model/joint_lanes.h"
#include <math.h>
#include <string.h>

static const double dependent = 1e-12; /* sine, squared, between rows that count as parallel */
enum { LEAST_LANES = 3 };              /* joints of one kind in a row: fewer are quicker one by one */

/* A joint seen from the body that it carries. */
typedef struct tree_joint {
  const mb_joint *joint;
  int             child, parent; /* nodes; parent 0: the ground */
  int             side;          /* of the child */
  double          sign;          /* of the rows on the child: 1 on side 0, -1 on side 1 */
  int             n_points, n_turns;
  int             point[3], turn[3]; /* which of the rows of the joint */
  bool            is_bare; /* three rows of inertial axes, then cosines: revolute, spherical, fixed, universal */
  int             n_free, free_at; /* directions without rows: 3 - n_points of translation, then 3 - n_turns */
  int  from, to;  /* loads of the child and of the parent; -1: nothing hangs on the child, the parent is the ground */
  bool is_first;  /* of those that hang on the parent */
  bool is_guided; /* its rows are those of mb_guided_rows, its parent is a ghost */
  int  lanes;     /* which of `lanes` begin with it; -1: none */
} tree_joint;

struct mb_tree {
  int               n_joints, n_free, n_roots, n_outside, n_loads;
  tree_joint       *joints;    /* children before their parents */
  int              *root;      /* [n_roots] bodies of trees that no joint ties to the ground */
  int              *root_load; /* [n_roots] */
  int              *outside;   /* [n_outside] nodes without joints */
  /* joints of one kind that follow each other in `joints` */
  yoke_joint_lanes *lanes; /* [n_lanes], in room for [n_joints / LEAST_LANES] */
  int               n_lanes;
  /* in parts: joints of part 1 come first, then those of part 0 from first_joint on, the cut one last */
  bool              is_cut;
  int               first_joint;
  int               n_path;
  int              *path; /* [n_path] joints from the root to the parent of the cut one */
};

/* Symmetric parts are stored by rows of the upper triangle: 00 01 02 11 12 22. */
typedef struct tree_inertia {
  double M[6], H[9], J[6]; /* (force, moment) = [M H; H^T J] (x, alpha) */
} tree_inertia;

typedef struct tree_link {
  double       arm[2][3];        /* of the child, of the parent */
  double       point_dual[3][3]; /* not of bare joints, whose rows are their own */
  double       turn_dual[3][3];
  double       known[6]; /* what the rows ask for */
  tree_inertia inertia;  /* at the joint, all directions eliminated */
} tree_link;

/* What hangs on a body, at its centre of mass: kept from the first of them until the body itself is eliminated. Then another body takes the
 * place, so that few are in use and stay in the cache; those of two parts never share a line of it. */
typedef struct tree_load {
  tree_inertia inertia;
  double       force[6];
  double       apart[5];
} tree_load;
_Static_assert(sizeof(tree_load) == 256, "whole lines");

typedef struct tree_free {
  double s[3], U[6], inverse; /* 1 / D */
  double e;                   /* s.F / D */
} tree_free;

typedef struct tree_root {
  double L[36]; /* unit lower triangle, inverse pivots on the diagonal */
} tree_root;

/* The parent of the cut joint, without what hangs on that. */
typedef struct tree_tip {
  tree_inertia C;     /* (alpha, x) = [M H; H^T J] (moment, force): the other way round, as `shift` wants it */
  double       a[6];  /* a_free */
  double       L[36]; /* 1 + I C, factored */
  int          pivot[6];
  double       W[6];
} tree_tip;

/* Scratch of a tree. */
typedef struct tree_work {
  tree_link *link; /* [n_joints] */
  tree_free *free; /* [n_free] */
  tree_load *load; /* [n_loads] */
  tree_root *root; /* [n_roots] */
  tree_tip  *tip;
} tree_work;

/* Where its parts begin, and its end, in doubles. */
enum { N_PIECES = 5 };
static void layout(const mb_tree *tree, size_t at[N_PIECES + 1]) {
  const size_t size[N_PIECES] = {(size_t)tree->n_joints * sizeof(tree_link), (size_t)tree->n_free * sizeof(tree_free),
                                 (size_t)tree->n_loads * sizeof(tree_load), (size_t)tree->n_roots * sizeof(tree_root),
                                 tree->is_cut ? sizeof(tree_tip) : 0};
  at[0]                       = 0;
  for (int i = 0; i < N_PIECES; ++i) at[i + 1] = at[i] + (size[i] + 63) / 64 * 8;
}

static tree_work view(const mb_tree *tree, double *base) {
  size_t at[N_PIECES + 1];
  layout(tree, at);
  return (tree_work){.link = (tree_link *)base,
                     .free = (tree_free *)(base + at[1]),
                     .load = (tree_load *)(base + at[2]),
                     .root = (tree_root *)(base + at[3]),
                     .tip  = (tree_tip *)(base + at[4])};
}

size_t mb_tree_scratch(const yoke_multibody *mb) {
  size_t at[N_PIECES + 1] = {0};
  if (mb->tree != NULL) layout(mb->tree, at);
  return at[N_PIECES];
}

/* ---- structure ---- */

/* Rows of a joint as points and turns. False: rows of another kind, or rows of points that have no common arm. */
static bool sort_rows(const mb_joint *joint, tree_joint *out) {
  int n_bare    = 0;
  out->joint    = joint;
  out->n_points = out->n_turns = 0;
  for (int i = 0; i < joint->n; ++i) {
    switch (joint->row[i].kind) {
    case YOKE_ROW_POINT:
      if (out->n_points < 3) out->point[out->n_points] = i;
      n_bare += joint->row[i].k == i;
      ++out->n_points;
      break;
    case YOKE_ROW_INPLANE:
      if (out->n_points < 3) out->point[out->n_points] = i;
      ++out->n_points;
      break;
    case YOKE_ROW_PERPENDICULAR:
    case YOKE_ROW_ANGLE:
      if (out->n_turns < 3) out->turn[out->n_turns] = i;
      ++out->n_turns;
      break;
    default: return false;
    }
  }
  if (out->n_points > 3 || out->n_turns > 3) return false;
  for (int i = 1; i < out->n_points; ++i) {
    if (joint->row[out->point[i]].kind != joint->row[out->point[0]].kind) return false;
  }
  out->is_bare = n_bare == 3 && joint->motion == NULL;
  out->n_free  = 6 - out->n_points - out->n_turns;
  return true;
}

/* Are all joints such as trees can have, as far as each tells by itself? */
static bool can_be_tree(const yoke_multibody *mb) {
  if (mb->n_flexibles > 0) return false;
  tree_joint unused;
  for (int j = 0; j < mb->n_joints + mb->n_guided; ++j) {
    if (!sort_rows(&mb->joints[j], &unused)) return false;
    for (int side = 0; side < 2; ++side) {
      const int node = mb_own_node(mb, &mb->joints[j].link, side);
      if (node > 0 && mb->nodes[node].kind != YOKE_BODY_RIGID) return false;
    }
  }
  return mb->n_joints + mb->n_guided > 0;
}

/* Bodies that hang on `node`, nearest first, behind the *n that are in `found`. */
static void grow(const yoke_multibody *mb, const int *start, const int *list, int node, bool *is_done,
                 tree_joint *found, int *n) {
  for (int at = *n, from = node;; from = found[at++].child) {
    for (int i = start[from]; i < start[from + 1]; ++i) {
      const mb_joint *joint = &mb->joints[list[i] / 2];
      const int       side = 1 - list[i] % 2, child = mb_own_node(mb, &joint->link, side);
      if (is_done[child]) continue;
      is_done[child]   = true;
      tree_joint *next = &found[(*n)++];
      (void)sort_rows(joint, next);
      next->child     = child;
      next->parent    = from;
      next->side      = side;
      next->sign      = side == 0 ? 1.0 : -1.0;
      next->is_guided = joint >= mb->joints + mb->n_joints;
      next->is_bare &= !next->is_guided;
    }
    if (at == *n) return;
  }
}

/* Places for loads, handed on as soon as they are free, in each part by itself. `place` [n_nodes], 0 everywhere, and `spare` [n_joints] are
 * scratch. */
static void share_loads(mb_tree *tree, int *place, int *spare) {
  int n_spare   = 0;
  tree->n_loads = 0;
  for (int i = 0; i < tree->n_joints; ++i) {
    tree_joint *joint = &tree->joints[i];
    if (tree->is_cut && i == tree->first_joint) {
      n_spare = 0;
      ++tree->n_loads; /* nobody's: caches also fetch what is beside */
    }
    joint->from = place[joint->child] - 1;
    joint->to   = -1;
    if (joint->from >= 0) spare[n_spare++] = joint->from;
    if (joint->parent == 0) continue;
    if (tree->is_cut && i == tree->n_joints - 1) { /* apart from what hangs on the parent in part 0 */
      joint->is_first = true;
      joint->to       = tree->n_loads++;
      continue;
    }
    joint->is_first = place[joint->parent] == 0;
    if (joint->is_first) place[joint->parent] = 1 + (n_spare > 0 ? spare[--n_spare] : tree->n_loads++);
    joint->to = place[joint->parent] - 1;
  }
  for (int i = 0; i < tree->n_roots; ++i) tree->root_load[i] = place[tree->root[i]] - 1;
}

/* Can a joint be in lanes? */
static bool has_lanes(const tree_joint *joint) {
  return joint->is_bare && (joint->n_turns == 0 || joint->n_turns == 2);
}

/* Lane l is this joint. */
static void set_lane(const yoke_multibody *mb, const tree_joint *joint, int l, yoke_joint_lanes *lanes) {
  const yoke_link *link = &joint->joint->link;
  for (int end = 0; end < 2; ++end) {
    const int side      = end == 0 ? joint->side : 1 - joint->side;
    lanes->node[end][l] = link->node[side];
    for (int k = 0; k < 3; ++k) lanes->origin[end][k][l] = link->origin[side][k];
    for (int i = 0; i < joint->n_turns; ++i) {
      const yoke_row *row  = &joint->joint->row[3 + i];
      const int       axis = side == 0 ? row->k : row->l;
      for (int k = 0; k < 3; ++k) lanes->axis[i][end][k][l] = link->axes[side][3 * k + axis];
    }
  }
  for (int k = 0; k < 9; ++k) lanes->inertia[k][l] = mb->nodes[joint->child].inertia[k];
}

/* How many joints from `first` on, before `end`, are of one kind. */
static int n_alike(const mb_tree *tree, int first, int end) {
  const tree_joint *joints = tree->joints;
  int               n      = 0;
  if (!has_lanes(&joints[first])) return 1;
  while (n < YOKE_JOINT_LANES && first + n < end && has_lanes(&joints[first + n]) &&
         joints[first + n].n_turns == joints[first].n_turns)
    ++n;
  return n;
}

/* Lanes of the joints from `begin` to `end`. */
static void form_lanes(const yoke_multibody *mb, mb_tree *tree, int begin, int end) {
  for (int j = begin, n; j < end; j += n) {
    n = n_alike(tree, j, end);
    for (int i = j; i < j + n; ++i) tree->joints[i].lanes = -1;
    if (n < LEAST_LANES) continue;
    yoke_joint_lanes *lanes = &tree->lanes[tree->n_lanes];
    tree->joints[j].lanes   = tree->n_lanes++;
    lanes->is_revolute      = tree->joints[j].n_turns == 2;
    lanes->n                = n;
    for (int l = 0; l < YOKE_JOINT_LANES; ++l) set_lane(mb, &tree->joints[l < n ? j + l : j], l, lanes);
  }
}

yoke_status mb_tree_create(yoke_multibody *mb, yoke_context *ctx, yoke_arena *scratch, const int *start,
                           const int *list) {
  if (!can_be_tree(mb)) return YOKE_OK;
  const size_t nodes = (size_t)mb->n_nodes, joints = (size_t)mb->n_joints + (size_t)mb->n_guided;
  bool        *is_done = yoke_arena_take(scratch, nodes, sizeof *is_done);
  tree_joint  *found   = yoke_arena_take(scratch, joints, sizeof *found);
  int         *place   = yoke_arena_take(scratch, nodes, sizeof *place);
  int         *spare   = yoke_arena_take(scratch, joints, sizeof *spare);
  mb_tree     *tree    = yoke_arena_take(&mb->arena, 1, sizeof *tree);
  if (tree == NULL) return yoke_out_of_memory(ctx, "the tree of %d joints", mb->n_joints);
  tree->joints    = yoke_arena_take(&mb->arena, joints, sizeof *tree->joints);
  tree->root      = yoke_arena_take(&mb->arena, nodes, sizeof *tree->root);
  tree->root_load = yoke_arena_take(&mb->arena, nodes, sizeof *tree->root_load);
  tree->outside   = yoke_arena_take(&mb->arena, nodes, sizeof *tree->outside);
  tree->lanes     = yoke_arena_take(&mb->arena, joints / LEAST_LANES, sizeof *tree->lanes);
  if (scratch->has_failed || mb->arena.has_failed)
    return yoke_out_of_memory(ctx, "the tree of %d joints", mb->n_joints);
  is_done[0] = true;
  grow(mb, start, list, 0, is_done, found, &tree->n_joints);
  for (int node = 1; node < mb->n_nodes; ++node) {
    if (is_done[node]) continue;
    is_done[node] = true;
    if (start[node] == start[node + 1]) {
      tree->outside[tree->n_outside++] = node;
    } else {
      tree->root[tree->n_roots++] = node;
      grow(mb, start, list, node, is_done, found, &tree->n_joints);
    }
  }
  if (tree->n_joints < mb->n_joints + mb->n_guided) return YOKE_OK; /* the others close loops */
  for (int i = 0; i < tree->n_joints; ++i) {
    tree_joint *joint = &tree->joints[i];
    *joint            = found[tree->n_joints - 1 - i];
    joint->free_at    = tree->n_free;
    tree->n_free += joint->n_free;
  }
  share_loads(tree, place, spare);
  form_lanes(mb, tree, 0, tree->n_joints);
  mb->tree = tree;
  return YOKE_OK;
}

/* ---- the cut ---- */

int mb_tree_n_joints(const yoke_multibody *mb) {
  return mb->tree->n_joints;
}

void mb_tree_ends(const yoke_multibody *mb, int i, int *child, int *parent) {
  *child  = mb->tree->joints[i].child;
  *parent = mb->tree->joints[i].parent;
}

/* Joints of part 1 first, the cut one last, else in the order that was found. */
static void sort_joints(mb_tree *tree, int cut, const bool *is_behind, const tree_joint *found) {
  int n = 0;
  for (int part = 1; part >= 0; --part) {
    for (int i = 0; i < tree->n_joints; ++i) {
      if (i != cut && is_behind[found[i].child] == (part == 1)) tree->joints[n++] = found[i];
    }
    if (part == 1) tree->first_joint = n;
  }
  tree->joints[n] = found[cut];
  tree->n_free    = 0;
  for (int i = 0; i < tree->n_joints; ++i) {
    tree->joints[i].free_at = tree->n_free;
    tree->n_free += tree->joints[i].n_free;
  }
}

/* Joints on the way from the root to the parent of the cut one. `above` [n_nodes] is scratch. */
static void find_path(mb_tree *tree, int *above) {
  const int last = tree->n_joints - 1;
  int       n    = 0;
  for (int i = tree->first_joint; i < last; ++i) above[tree->joints[i].child] = 1 + i;
  for (int node = tree->joints[last].parent; above[node] > 0; node = tree->joints[above[node] - 1].parent) ++n;
  tree->n_path = n;
  for (int node = tree->joints[last].parent; above[node] > 0; node = tree->joints[above[node] - 1].parent)
    tree->path[--n] = above[node] - 1;
}

yoke_status mb_tree_cut(yoke_multibody *mb, yoke_context *ctx, yoke_arena *scratch, int cut, const bool *is_behind) {
  mb_tree     *tree   = mb->tree;
  const size_t joints = (size_t)tree->n_joints, nodes = (size_t)mb->n_nodes;
  tree_joint  *found = yoke_arena_copy(scratch, tree->joints, joints, sizeof *found);
  int         *place = yoke_arena_take(scratch, nodes, sizeof *place);
  int         *spare = yoke_arena_take(scratch, joints, sizeof *spare);
  int         *above = yoke_arena_take(scratch, nodes, sizeof *above);
  tree->path         = yoke_arena_take(&mb->arena, joints, sizeof *tree->path);
  if (scratch->has_failed || mb->arena.has_failed)
    return yoke_out_of_memory(ctx, "the tree of %d joints", mb->n_joints);
  tree->is_cut = true;
  sort_joints(tree, cut, is_behind, found);
  share_loads(tree, place, spare);
  find_path(tree, above);
  tree->n_lanes = 0;
  form_lanes(mb, tree, 0, tree->first_joint);
  form_lanes(mb, tree, tree->first_joint, tree->n_joints - 1);
  form_lanes(mb, tree, tree->n_joints - 1, tree->n_joints);
  return YOKE_OK;
}

void mb_tree_inertia(const yoke_multibody *mb, const mb_work *w) {
  for (int i = 0; i < mb->tree->n_outside; ++i) mb_node_inertia(mb, w, mb->tree->outside[i]);
}

int mb_tree_outside(const yoke_multibody *mb, const int **nodes) {
  *nodes = mb->tree->outside;
  return mb->tree->n_outside;
}

/* ---- rows ---- */

static YOKE_ALWAYS_INLINE void scaled(double y[3], double s, const double x[3]) {
  vec3_set(y, s * x[0], s * x[1], s * x[2]);
}

/* Of n independent vectors v: the dual basis d in their span, v_i . d_j = 1 or 0, and the 3 - n directions across them, `stride` doubles apart.
 * False: they are dependent. */
static YOKE_ALWAYS_INLINE bool complete_basis(int n, double (*v)[3], double (*d)[3], double *across, size_t stride) {
  if (n == 0) {
    for (int i = 0; i < 3; ++i) vec3_set(across + (size_t)i * stride, i == 0, i == 1, i == 2);
    return true;
  }
  if (n == 1) {
    const double *x = v[0], v2 = vec3_dot(x, x);
    const int     k = fabs(x[0]) < fabs(x[1]) ? (fabs(x[0]) < fabs(x[2]) ? 0 : 2) : (fabs(x[1]) < fabs(x[2]) ? 1 : 2);
    double        unit[3] = {k == 0, k == 1, k == 2};
    if (!(v2 > 0.0)) return false;
    scaled(d[0], 1.0 / v2, x);
    vec3_cross(across, x, unit);
    vec3_cross(across + stride, d[0], across);
    return true;
  }
  double c[3];
  vec3_cross(c, v[0], v[1]);
  if (n == 2) {
    const double c2 = vec3_dot(c, c), inverse = 1.0 / c2;
    if (!(c2 > dependent * vec3_dot(v[0], v[0]) * vec3_dot(v[1], v[1]))) return false;
    vec3_copy(across, c);
    vec3_cross(d[0], v[1], c);
    vec3_cross(d[1], c, v[0]);
    scaled(d[0], inverse, d[0]);
    scaled(d[1], inverse, d[1]);
    return true;
  }
  const double det = vec3_dot(c, v[2]), inverse = 1.0 / det;
  if (!(det * det > dependent * vec3_dot(v[0], v[0]) * vec3_dot(v[1], v[1]) * vec3_dot(v[2], v[2]))) return false;
  vec3_cross(d[0], v[1], v[2]);
  vec3_cross(d[1], v[2], v[0]);
  scaled(d[0], inverse, d[0]);
  scaled(d[1], inverse, d[1]);
  scaled(d[2], inverse, c);
  return true;
}

/* What of w->s, w->rate and w->gamma is wanted. */
enum { GAPS = 1, RATES = 2, GAMMAS = 4 };

/* Three rows of inertial axes, then cosines, as in joint_rows.c, with common parts found once. */
static YOKE_ALWAYS_INLINE void bare_rows(const mb_work *w, const tree_joint *x, int wanted, tree_link *link,
                                         double (*turn)[3]) {
  const mb_joint  *joint = x->joint;
  const yoke_link *l     = &joint->link;
  const yoke_pose *A = &w->pose[l->node[0]], *B = &w->pose[l->node[1]];
  double          *s = w->s + joint->g0, *rate = w->rate + joint->g0, *gamma = w->gamma + joint->g0;
  double           pa[3], pb[3], va[3], vb[3], aa[3], ab[3];
  mat3_apply(pa, A->R, l->origin[0]);
  mat3_apply(pb, B->R, l->origin[1]);
  vec3_copy(link->arm[0], x->side == 0 ? pa : pb);
  vec3_copy(link->arm[1], x->side == 0 ? pb : pa);
  vec3_cross(va, A->w, pa);
  vec3_cross(vb, B->w, pb);
  vec3_cross(aa, A->w, va);
  vec3_cross(ab, B->w, vb);
  for (int i = 0; i < 3; ++i) {
    if (wanted & GAPS) s[i] = (A->r[i] + pa[i]) - (B->r[i] + pb[i]) - joint->offset[i];
    if (wanted & RATES) rate[i] = (A->v[i] + va[i]) - (B->v[i] + vb[i]);
    if (wanted & GAMMAS) gamma[i] = aa[i] - ab[i];
  }
  const double dw[3] = {A->w[0] - B->w[0], A->w[1] - B->w[1], A->w[2] - B->w[2]}, dw2 = vec3_dot(dw, dw);
  double       a[3] = {0.0}, b[3] = {0.0}, t[3];
  for (int i = 0, at = -1; i < x->n_turns; ++i) {
    const yoke_row *row = &joint->row[3 + i];
    const double   *F = l->axes[0] + row->k, *G = l->axes[1] + row->l;
    mat3_apply(a, A->R, (const double[]){F[0], F[3], F[6]});
    if (row->l != at) mat3_apply(b, B->R, (const double[]){G[0], G[3], G[6]});
    at = row->l;
    vec3_cross(t, a, b);
    scaled(turn[i], x->sign, t);
    const double cosine = vec3_dot(a, b);
    if (wanted & GAPS) s[3 + i] = cosine - joint->offset[3 + i];
    if (wanted & RATES) rate[3 + i] = vec3_dot(t, dw);
    if (wanted & GAMMAS) { /* (wa x (wa x a)).b + 2 (wa x a).(wb x b) + a.(wb x (wb x b)) */
      const double wa_a = vec3_dot(A->w, a), wa_b = vec3_dot(A->w, b), wb_a = vec3_dot(B->w, a),
                   wb_b = vec3_dot(B->w, b);
      gamma[3 + i]      = wa_a * wa_b + wb_a * wb_b - 2.0 * wa_b * wb_a - dw2 * cosine;
    }
  }
}

/* Arms of a joint, to the point that its rows of points are about. */
static void set_arms(const tree_joint *x, const yoke_link_state *state, tree_link *link) {
  /* rows on axes of frame 2 are about the point of frame 1 */
  const bool on_axes = x->n_points > 0 && x->joint->row[x->point[0]].kind == YOKE_ROW_INPLANE;
  for (int side = 0; side < 2; ++side) {
    double *arm = link->arm[side == x->side ? 0 : 1];
    vec3_copy(arm, state->p[side]);
    if (on_axes && side == 1) vec3_add(arm, 1.0, state->D);
  }
}

/* Rows of any kind: arms, and what they have on the child, from their gradients. Those of guided joints are there. */
static void other_rows(const mb_work *w, const tree_joint *x, double t, bool with_rates, tree_link *link,
                       double (*point)[3], double (*turn)[3]) {
  const mb_joint *joint = x->joint;
  const double   *grad  = w->grad + 12 * joint->g0 + 6 * x->side;
  yoke_link_state state;
  if (!x->is_guided) mb_joint_rows(w, joint, t, with_rates);
  yoke_link_state_for(&joint->link, joint->n, joint->row, w->pose, &state);
  set_arms(x, &state, link);
  for (int i = 0; i < x->n_points; ++i) vec3_copy(point[i], grad + 12 * x->point[i]);
  for (int i = 0; i < x->n_turns; ++i) vec3_copy(turn[i], grad + 12 * x->turn[i] + 3);
}

/* s, rate, gamma, arms and bases of one joint. False: its rows depend on each other. */
static YOKE_ALWAYS_INLINE bool set_rows(const mb_work *w, const tree_work *x, const tree_joint *joint, double t,
                                        int wanted, tree_link *link) {
  const size_t stride     = sizeof(tree_free) / sizeof(double);
  bool         is_regular = true;
  tree_free   *free       = &x->free[joint->free_at];
  double       turn[3][3], point[3][3];
  if (joint->is_bare) {
    bare_rows(w, joint, wanted, link, turn);
  } else {
    other_rows(w, joint, t, wanted != GAPS, link, point, turn);
    is_regular = complete_basis(joint->n_points, point, link->point_dual, free->s, stride);
    free += 3 - joint->n_points;
  }
  return complete_basis(joint->n_turns, turn, link->turn_dual, free->s, stride) && is_regular;
}

/* Joints of a part of the tree in their order: 0, 1, and the cut one. A tree that is not cut is part 0. */
enum { CUT = 2 };
typedef struct tree_range {
  int begin, end;
} tree_range;

static int n_ranges(const mb_tree *tree) {
  return tree->is_cut ? 3 : 1;
}

static tree_range range_of(const mb_tree *tree, int part) {
  if (!tree->is_cut) return (tree_range){0, tree->n_joints};
  switch (part) {
  case 0: return (tree_range){tree->first_joint, tree->n_joints - 1};
  case 1: return (tree_range){0, tree->first_joint};
  default: return (tree_range){tree->n_joints - 1, tree->n_joints};
  }
}

static YOKE_ALWAYS_INLINE bool set_all_rows(const yoke_multibody *mb, const mb_work *w, double t, bool with_rates,
                                            tree_range range) {
  const tree_work x          = view(mb->tree, w->tree);
  bool            is_regular = true;
  for (int j = range.begin; j < range.end; ++j) {
    const tree_joint *joint = &mb->tree->joints[j];
    is_regular &=
        with_rates ? set_rows(w, &x, joint, t, GAPS | RATES, &x.link[j]) : set_rows(w, &x, joint, t, GAPS, &x.link[j]);
  }
  return is_regular;
}

YOKE_SIMD bool mb_tree_rows(const yoke_multibody *mb, const mb_work *w, double t, bool with_rates) {
  memset(w->motion_rate, 0, (size_t)mb->ng * sizeof *w->motion_rate);
  return set_all_rows(mb, w, t, with_rates, (tree_range){0, mb->tree->n_joints});
}

YOKE_SIMD bool mb_tree_rows_part(const yoke_multibody *mb, const mb_work *w, double t, bool with_rates, int part) {
  return set_all_rows(mb, w, t, with_rates, range_of(mb->tree, part));
}

static YOKE_ALWAYS_INLINE void set_all_gaps(const yoke_multibody *mb, const mb_work *w, double t, tree_range range) {
  double    unused[3][3];
  tree_link link;
  for (int j = range.begin; j < range.end; ++j) {
    const tree_joint *joint = &mb->tree->joints[j];
    if (joint->is_bare) {
      bare_rows(w, joint, GAPS | RATES, &link, unused);
    } else {
      mb_joint_rows(w, joint->joint, t, true);
    }
  }
}

YOKE_SIMD void mb_tree_gaps(const yoke_multibody *mb, const mb_work *w, double t) {
  set_all_gaps(mb, w, t, (tree_range){0, mb->tree->n_joints});
}

YOKE_SIMD void mb_tree_gaps_part(const yoke_multibody *mb, const mb_work *w, double t, int part) {
  set_all_gaps(mb, w, t, range_of(mb->tree, part));
}

/* ---- factors ---- */

/* I seen from a point at q: (x, alpha) there give x + q x alpha here. */
static YOKE_ALWAYS_INLINE void shift(tree_inertia *I, const double q[3]) {
  const double *M = I->M, *J = I->J, q0 = q[0], q1 = q[1], q2 = q[2];
  double       *H = I->H, G[9]; /* H + M [q]x; J + [q]x^T G + H^T [q]x */
  G[0]            = H[0] + (M[1] * q2 - M[2] * q1);
  G[1]            = H[1] + (M[2] * q0 - M[0] * q2);
  G[2]            = H[2] + (M[0] * q1 - M[1] * q0);
  G[3]            = H[3] + (M[3] * q2 - M[4] * q1);
  G[4]            = H[4] + (M[4] * q0 - M[1] * q2);
  G[5]            = H[5] + (M[1] * q1 - M[3] * q0);
  G[6]            = H[6] + (M[4] * q2 - M[5] * q1);
  G[7]            = H[7] + (M[5] * q0 - M[2] * q2);
  G[8]            = H[8] + (M[2] * q1 - M[4] * q0);
  I->J[0]         = J[0] - (q1 * (G[6] + H[6]) - q2 * (G[3] + H[3]));
  I->J[1]         = J[1] - (q1 * G[7] - q2 * G[4]) - (q2 * H[0] - q0 * H[6]);
  I->J[2]         = J[2] - (q1 * G[8] - q2 * G[5]) - (q0 * H[3] - q1 * H[0]);
  I->J[3]         = J[3] - (q2 * (G[1] + H[1]) - q0 * (G[7] + H[7]));
  I->J[4]         = J[4] - (q2 * G[2] - q0 * G[8]) - (q0 * H[4] - q1 * H[1]);
  I->J[5]         = J[5] - (q0 * (G[5] + H[5]) - q1 * (G[2] + H[2]));
  memcpy(H, G, sizeof G);
}

static YOKE_ALWAYS_INLINE void apply_symmetric(const double S[6], const double x[3], double y[3]) {
  y[0] = S[0] * x[0] + S[1] * x[1] + S[2] * x[2];
  y[1] = S[1] * x[0] + S[3] * x[1] + S[4] * x[2];
  y[2] = S[2] * x[0] + S[4] * x[1] + S[5] * x[2];
}

/* y = I x */
static YOKE_ALWAYS_INLINE void apply_inertia(const tree_inertia *I, const double x[6], double y[6]) {
  double z[3];
  apply_symmetric(I->M, x, y);
  mat3_apply(z, I->H, x + 3);
  vec3_add(y, 1.0, z);
  apply_symmetric(I->J, x + 3, y + 3);
  mat3_apply_transposed(z, I->H, x);
  vec3_add(y + 3, 1.0, z);
}

/* J of a body in inertial axes: R J R^T. */
static YOKE_ALWAYS_INLINE void turned_inertia(const double J[9], const double R[9], double out[6]) {
  double A[9];
  mat3_multiply(A, R, J);
  out[0] = vec3_dot(A, R);
  out[1] = vec3_dot(A, R + 3);
  out[2] = vec3_dot(A, R + 6);
  out[3] = vec3_dot(A + 3, R + 3);
  out[4] = vec3_dot(A + 3, R + 6);
  out[5] = vec3_dot(A + 6, R + 6);
}

/* What a node carries, and itself, with J in inertial axes. */
static YOKE_ALWAYS_INLINE void add_own(const mb_node *node, const double J[6], tree_inertia *I) {
  I->M[0] += node->mass;
  I->M[3] += node->mass;
  I->M[5] += node->mass;
  for (int i = 0; i < 6; ++i) I->J[i] += J[i];
}

static YOKE_ALWAYS_INLINE void add_inertia(const tree_inertia *from, tree_inertia *to) {
  for (int i = 0; i < 6; ++i) to->M[i] += from->M[i];
  for (int i = 0; i < 9; ++i) to->H[i] += from->H[i];
  for (int i = 0; i < 6; ++i) to->J[i] += from->J[i];
}

static YOKE_ALWAYS_INLINE void subtract_square(double s, const double u[3], double S[6]) {
  const double u0 = s * u[0], u1 = s * u[1], u2 = s * u[2];
  S[0] -= u0 * u[0];
  S[1] -= u0 * u[1];
  S[2] -= u0 * u[2];
  S[3] -= u1 * u[1];
  S[4] -= u1 * u[2];
  S[5] -= u2 * u[2];
}

/* One direction, a turn or a translation. False: no inertia there. */
static YOKE_ALWAYS_INLINE bool eliminate(bool turns, tree_free *free, tree_inertia *I) {
  double *U = free->U;
  if (turns) {
    mat3_apply(U, I->H, free->s);
    apply_symmetric(I->J, free->s, U + 3);
  } else {
    apply_symmetric(I->M, free->s, U);
    mat3_apply_transposed(U + 3, I->H, free->s);
  }
  const double D = vec3_dot(free->s, turns ? U + 3 : U), inverse = 1.0 / D;
  free->inverse = inverse;
  subtract_square(inverse, U, I->M);
  subtract_square(inverse, U + 3, I->J);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) I->H[3 * i + k] -= (inverse * U[i]) * U[3 + k];
  }
  return D > 0.0;
}

/* L D L^T of a free root. */
static bool factor_root(const tree_inertia *I, double L[36]) {
  static const int symmetric[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      L[6 * i + k]           = I->M[symmetric[3 * i + k]];
      L[6 * (3 + i) + k]     = I->H[3 * k + i];
      L[6 * (3 + i) + 3 + k] = I->J[symmetric[3 * i + k]];
    }
  }
  for (int j = 0; j < 6; ++j) {
    double d = L[7 * j];
    for (int k = 0; k < j; ++k) {
      double x = L[6 * j + k];
      for (int i = 0; i < k; ++i) x -= L[6 * j + i] * L[6 * k + i];
      L[6 * j + k] = x;
    }
    for (int k = 0; k < j; ++k) {
      const double x = L[6 * j + k];
      L[6 * j + k]   = x * L[7 * k];
      d -= x * L[6 * j + k];
    }
    if (!(d > 0.0)) return false;
    L[7 * j] = 1.0 / d;
  }
  return true;
}

static void solve_root(const double L[36], double x[6]) {
  for (int j = 1; j < 6; ++j) {
    for (int k = 0; k < j; ++k) x[j] -= L[6 * j + k] * x[k];
  }
  for (int j = 0; j < 6; ++j) x[j] *= L[7 * j];
  for (int j = 5; j > 0; --j) {
    for (int k = 0; k < j; ++k) x[k] -= L[6 * j + k] * x[j];
  }
}

/* A body with all that hangs on it, seen by its parent; its own J in inertial axes. Needs arms and free directions. False: it has no inertia. */
static YOKE_ALWAYS_INLINE bool factor_joint(const yoke_multibody *mb, const tree_work *x, const tree_joint *joint,
                                            const double J[6], tree_link *link) {
  bool         is_sound = true;
  tree_free   *free     = &x->free[joint->free_at];
  tree_inertia I        = {.M = {0.0}};
  if (joint->from >= 0) I = x->load[joint->from].inertia;
  add_own(&mb->nodes[joint->child], J, &I);
  shift(&I, link->arm[0]);
  for (int k = 0; k < 3 - joint->n_points; ++k) is_sound &= eliminate(false, free++, &I);
  for (int k = 0; k < 3 - joint->n_turns; ++k) is_sound &= eliminate(true, free++, &I);
  link->inertia = I;
  if (joint->to < 0) return is_sound;
  shift(&I, (const double[]){-link->arm[1][0], -link->arm[1][1], -link->arm[1][2]});
  if (joint->is_first) {
    x->load[joint->to].inertia = I;
  } else {
    add_inertia(&I, &x->load[joint->to].inertia);
  }
  return is_sound;
}

static bool factor_roots(const yoke_multibody *mb, const mb_work *w, const tree_work *x) {
  bool is_sound = true;
  for (int i = 0; i < mb->tree->n_roots; ++i) {
    const int    node = mb->tree->root[i], load = mb->tree->root_load[i];
    double       J[6];
    tree_inertia I = {.M = {0.0}};
    if (load >= 0) I = x->load[load].inertia;
    turned_inertia(mb->nodes[node].inertia, w->pose[node].R, J);
    add_own(&mb->nodes[node], J, &I);
    is_sound &= factor_root(&I, x->root[i].L);
  }
  return is_sound;
}

/* One direction of a joint: C -> (1 - s U^T/D) C (1 - U s^T/D) + s s^T/D = C - s z^T - z s^T with z = C U/D - s (U.C U/D + 1)/(2 D). */
static YOKE_ALWAYS_INLINE void release(bool turns, const tree_free *free, tree_inertia *C) {
  const double  V[6] = {free->U[3], free->U[4], free->U[5], free->U[0], free->U[1], free->U[2]};
  const double *s    = free->s;
  double        z[6];
  apply_inertia(C, V, z);
  const double half = 0.5 * free->inverse * (1.0 + free->inverse * (vec3_dot(V, z) + vec3_dot(V + 3, z + 3)));
  for (int i = 0; i < 6; ++i) z[i] *= free->inverse;
  double *own = turns ? z : z + 3, *S = turns ? C->M : C->J;
  vec3_add(own, -half, s);
  for (int i = 0, k = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j, ++k) S[k] -= s[i] * own[j] + own[i] * s[j];
  }
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) C->H[3 * i + k] -= turns ? s[i] * z[3 + k] : z[i] * s[k];
  }
}

/* C of a free root: the inverse of its inertia. */
static void root_compliance(const double L[36], tree_inertia *C) {
  static const int symmetric[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
  for (int k = 0; k < 6; ++k) {
    double x[6] = {0.0};
    x[k]        = 1.0;
    solve_root(L, x);
    for (int i = 0; i < 3; ++i) {
      if (k >= 3) C->M[symmetric[3 * i + k - 3]] = x[3 + i];
      if (k < 3) C->H[3 * i + k] = x[3 + i];
      if (k < 3) C->J[symmetric[3 * i + k]] = x[i];
    }
  }
}

/* L U of 1 + I C with rows exchanged, I of part 1 at the parent of the cut joint. False: it is singular. */
static bool factor_tip(const mb_tree *tree, const tree_work *x) {
  const tree_inertia *I   = &x->load[tree->joints[tree->n_joints - 1].to].inertia;
  tree_tip           *tip = x->tip;
  double             *L   = tip->L;
  for (int k = 0; k < 6; ++k) {
    double unit[6]    = {0.0}, c[6], y[6];
    unit[(k + 3) % 6] = 1.0;
    apply_inertia(&tip->C, unit, y);
    for (int i = 0; i < 6; ++i) c[i] = y[(i + 3) % 6];
    apply_inertia(I, c, y);
    for (int i = 0; i < 6; ++i) L[6 * i + k] = y[i] + (i == k);
  }
  for (int k = 0; k < 6; ++k) {
    int best = k;
    for (int i = k + 1; i < 6; ++i) {
      if (fabs(L[6 * i + k]) > fabs(L[6 * best + k])) best = i;
    }
    tip->pivot[k] = best;
    for (int j = 0; j < 6; ++j) {
      const double swap = L[6 * k + j];
      L[6 * k + j]      = L[6 * best + j];
      L[6 * best + j]   = swap;
    }
    if (!(fabs(L[7 * k]) > 0.0)) return false;
    for (int i = k + 1; i < 6; ++i) {
      L[6 * i + k] /= L[7 * k];
      for (int j = k + 1; j < 6; ++j) L[6 * i + j] -= L[6 * i + k] * L[6 * k + j];
    }
  }
  return true;
}

static void solve_tip(const tree_tip *tip, double W[6]) {
  const double *L = tip->L;
  for (int k = 0; k < 6; ++k) {
    const double swap = W[k];
    W[k]              = W[tip->pivot[k]];
    W[tip->pivot[k]]  = swap;
  }
  for (int i = 1; i < 6; ++i) {
    for (int k = 0; k < i; ++k) W[i] -= L[6 * i + k] * W[k];
  }
  for (int i = 5; i >= 0; --i) {
    for (int k = i + 1; k < 6; ++k) W[i] -= L[6 * i + k] * W[k];
    W[i] /= L[7 * i];
  }
}

/* ---- solves ---- */

/* What rows ask for. */
static YOKE_ALWAYS_INLINE void set_known(const tree_joint *joint, const double *b, tree_link *link) {
  double *c = link->known;
  b += joint->joint->g0;
  if (joint->is_bare) {
    scaled(c, joint->sign, b);
  } else {
    vec3_set(c, 0.0, 0.0, 0.0);
    for (int i = 0; i < joint->n_points; ++i) vec3_add(c, b[joint->point[i]], link->point_dual[i]);
  }
  vec3_set(c + 3, 0.0, 0.0, 0.0);
  for (int i = 0; i < joint->n_turns; ++i) vec3_add(c + 3, b[joint->turn[i]], link->turn_dual[i]);
}

static YOKE_ALWAYS_INLINE double dot6(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

/* What acts on a body and on all that hangs on it. */
static YOKE_ALWAYS_INLINE void set_force(const tree_work *x, int load, int node, const double *wrench, double F[6]) {
  for (int i = 0; i < 6; ++i) F[i] = wrench != NULL ? wrench[6 * node + i] : 0.0;
  for (int i = 0; load >= 0 && i < 6; ++i) F[i] += x->load[load].force[i];
}

/* Adds to what hangs on the parent: F at the joint. */
static YOKE_ALWAYS_INLINE void pass_force(const tree_work *x, const tree_joint *joint, const tree_link *link,
                                          double F[6]) {
  if (joint->to < 0) return;
  double *to = x->load[joint->to].force;
  vec3_add_cross(F + 3, 1.0, link->arm[1], F);
  for (int i = 0; i < 6; ++i) to[i] = joint->is_first ? F[i] : to[i] + F[i];
}

/* Forces on the way from the leaves to the roots. Needs what the rows ask for. */
static YOKE_ALWAYS_INLINE void go_in(const tree_work *x, const tree_joint *joint, const tree_link *link,
                                     const double *wrench) {
  tree_free *free = &x->free[joint->free_at];
  double     F[6], c[6];
  set_force(x, joint->from, joint->child, wrench, F);
  vec3_add_cross(F + 3, -1.0, link->arm[0], F);
  for (int k = 0; k < joint->n_free; ++k, ++free) {
    free->e = vec3_dot(free->s, k < 3 - joint->n_points ? F : F + 3) * free->inverse;
    for (int i = 0; i < 6; ++i) F[i] -= free->U[i] * free->e;
  }
  apply_inertia(&link->inertia, link->known, c);
  for (int i = 0; i < 6; ++i) F[i] -= c[i];
  pass_force(x, joint, link, F);
}

/* Motion of a child under that of its parent. */
static YOKE_ALWAYS_INLINE void move_child(const tree_work *x, const tree_joint *joint, const tree_link *link,
                                          const double *from, double *to) {
  double z[6];
  for (int i = 0; i < 6; ++i) z[i] = from[i] + link->known[i];
  vec3_add_cross(z, 1.0, from + 3, link->arm[1]);
  for (int k = joint->n_free - 1; k >= 0; --k) {
    const tree_free *free = &x->free[joint->free_at + k];
    vec3_add(k < 3 - joint->n_points ? z : z + 3, free->e - dot6(free->U, z) * free->inverse, free->s);
  }
  vec3_add_cross(z, 1.0, link->arm[0], z + 3);
  memcpy(to, z, sizeof z);
}

static YOKE_ALWAYS_INLINE void move_root(const yoke_multibody *mb, const tree_work *x, int i, const double *wrench,
                                         double *a) {
  set_force(x, mb->tree->root_load[i], mb->tree->root[i], wrench, a);
  solve_root(x->root[i].L, a);
}

/* Motions from the roots to the leaves. */
static YOKE_ALWAYS_INLINE void go_out(const yoke_multibody *mb, const mb_work *w, const tree_work *x, tree_range range,
                                      mb_node_visit *visit, void *user) {
  for (int j = range.end - 1; j >= range.begin; --j) {
    const tree_joint *joint = &mb->tree->joints[j];
    move_child(x, joint, &x->link[j], w->acceleration + 6 * joint->parent, w->acceleration + 6 * joint->child);
    if (visit != NULL) visit(user, joint->child); /* meanwhile its own children can go on */
  }
}

/* Nodes that are no child of a joint, and that of the cut one. */
static void visit_others(const mb_tree *tree, int part, mb_node_visit *visit, void *user) {
  for (int i = 0; part == 0 && i < tree->n_roots; ++i) visit(user, tree->root[i]);
  for (int i = 0; part == 0 && i < tree->n_outside; ++i) visit(user, tree->outside[i]);
  if (part == 1) visit(user, tree->joints[tree->n_joints - 1].child);
}

static YOKE_ALWAYS_INLINE void move_roots(const yoke_multibody *mb, const mb_work *w, const tree_work *x,
                                          const double *wrench) {
  memset(w->acceleration, 0, 6 * sizeof *w->acceleration);
  for (int i = 0; i < mb->tree->n_roots; ++i) move_root(mb, x, i, wrench, w->acceleration + 6 * mb->tree->root[i]);
}

/* ---- the cut ---- */

/* Where the way to the parent of the cut joint begins: the ground or a free root. */
static int start_of(const mb_tree *tree) {
  return tree->n_path > 0 ? tree->joints[tree->path[0]].parent : tree->joints[tree->n_joints - 1].parent;
}

/* C and a_free of the parent of the cut joint, one of them or both side by side. For a_free behind the way in of part 0. */
static YOKE_ALWAYS_INLINE void reach_tip(const yoke_multibody *mb, const tree_work *x, const double *wrench,
                                         bool with_C, bool with_a) {
  const mb_tree *tree = mb->tree;
  tree_inertia   C    = {.M = {0.0}};
  double         a[6] = {0.0}, r[3] = {0.0}; /* r: from where C is to the centre of mass */
  for (int i = 0; i < tree->n_roots; ++i) {
    if (tree->root[i] != start_of(tree)) continue;
    if (with_C) root_compliance(x->root[i].L, &C);
    if (with_a) move_root(mb, x, i, wrench, a);
  }
  for (int i = 0; i < tree->n_path; ++i) {
    const tree_joint *joint = &tree->joints[tree->path[i]];
    const tree_link  *link  = &x->link[tree->path[i]];
    if (with_a) move_child(x, joint, link, a, a);
    if (!with_C) continue;
    vec3_add(r, 1.0, link->arm[1]);
    shift(&C, r);
    for (int k = joint->n_free - 1; k >= 0; --k) release(k >= 3 - joint->n_points, &x->free[joint->free_at + k], &C);
    scaled(r, -1.0, link->arm[0]);
  }
  if (with_a) memcpy(x->tip->a, a, sizeof a);
  if (!with_C) return;
  shift(&C, r);
  x->tip->C = C;
}

/* W of part 1, and with it the child of the cut joint. Behind the ways in, that of the cut joint too. */
static void meet(const yoke_multibody *mb, const mb_work *w, const tree_work *x) {
  const int         last  = mb->tree->n_joints - 1;
  const tree_joint *joint = &mb->tree->joints[last];
  const tree_load  *load  = &x->load[joint->to];
  tree_tip         *tip   = x->tip;
  double            y[6], a[6];
  apply_inertia(&load->inertia, tip->a, y);
  for (int i = 0; i < 6; ++i) tip->W[i] = load->force[i] - y[i];
  solve_tip(tip, tip->W);
  apply_inertia(&tip->C, (const double[]){tip->W[3], tip->W[4], tip->W[5], tip->W[0], tip->W[1], tip->W[2]}, y);
  for (int i = 0; i < 6; ++i) a[i] = tip->a[i] + y[(i + 3) % 6];
  move_child(x, joint, &x->link[last], a, w->acceleration + 6 * joint->child);
}

/* W on its way to the root: what it adds to e. A root gets it as a wrench of its own: *at_root [6]. */
static YOKE_ALWAYS_INLINE void bring_W(const yoke_multibody *mb, const tree_work *x, double at_root[6]) {
  double *F = at_root;
  memcpy(F, x->tip->W, 6 * sizeof *F);
  for (int i = mb->tree->n_path - 1; i >= 0; --i) {
    const tree_joint *joint = &mb->tree->joints[mb->tree->path[i]];
    const tree_link  *link  = &x->link[mb->tree->path[i]];
    tree_free        *free  = &x->free[joint->free_at];
    vec3_add_cross(F + 3, -1.0, link->arm[0], F);
    for (int k = 0; k < joint->n_free; ++k, ++free) {
      const double e = vec3_dot(free->s, k < 3 - joint->n_points ? F : F + 3) * free->inverse;
      free->e += e;
      for (int r = 0; r < 6; ++r) F[r] -= free->U[r] * e;
    }
    vec3_add_cross(F + 3, 1.0, link->arm[1], F);
  }
}

/* Motions of part 0 under W, roots first. */
static YOKE_ALWAYS_INLINE void move_roots_under_W(const yoke_multibody *mb, const mb_work *w, const tree_work *x,
                                                  const double *wrench) {
  const mb_tree *tree  = mb->tree;
  const int      start = start_of(tree);
  double         F[6];
  bring_W(mb, x, F);
  move_roots(mb, w, x, wrench);
  for (int i = 0; i < tree->n_roots; ++i) {
    if (tree->root[i] != start) continue;
    solve_root(x->root[i].L, F);
    for (int k = 0; k < 6; ++k) w->acceleration[6 * start + k] += F[k];
  }
}

/* Multipliers: what every joint must do to move its child, and all that hangs on it, like this. */
static YOKE_ALWAYS_INLINE void set_multipliers(const yoke_multibody *mb, const mb_work *w, const tree_work *x,
                                               const double *wrench, double *lambda, tree_range range) {
  const int tip = mb->tree->is_cut ? mb->tree->joints[mb->tree->n_joints - 1].parent : 0;
  for (int j = range.begin; j < range.end; ++j) {
    const tree_joint *joint = &mb->tree->joints[j];
    const tree_link  *link  = &x->link[j];
    const mb_node    *node  = &mb->nodes[joint->child];
    const double     *a = w->acceleration + 6 * joint->child, *R = w->pose[joint->child].R;
    double           *y = lambda + joint->joint->g0, W[6], alpha[3], Ja[3], M[3];
    set_force(x, joint->from, joint->child, wrench, W);
    for (int i = 0; joint->child == tip && i < 6; ++i) W[i] += x->tip->W[i];
    mat3_apply_transposed(alpha, R, a + 3);
    mat3_apply(Ja, node->inertia, alpha);
    mat3_apply(M, R, Ja);
    for (int i = 0; i < 3; ++i) {
      W[i]     = node->mass * a[i] - W[i];
      W[3 + i] = M[i] - W[3 + i];
    }
    vec3_add_cross(W + 3, -1.0, link->arm[0], W);
    if (joint->is_bare) {
      scaled(y, joint->sign, W);
    } else {
      for (int i = 0; i < joint->n_points; ++i) y[joint->point[i]] = vec3_dot(link->point_dual[i], W);
    }
    for (int i = 0; i < joint->n_turns; ++i) y[joint->turn[i]] = vec3_dot(link->turn_dual[i], W + 3);
    for (int i = 0; i < 6; ++i) W[i] = -W[i]; /* on the parent */
    pass_force(x, joint, link, W);
  }
}

/* ---- parts ---- */

static YOKE_ALWAYS_INLINE bool factor_range(const yoke_multibody *mb, const mb_work *w, const tree_work *x,
                                            tree_range range) {
  bool is_sound = true;
  for (int j = range.begin; j < range.end; ++j) {
    const tree_joint *joint = &mb->tree->joints[j];
    double            J[6];
    turned_inertia(mb->nodes[joint->child].inertia, w->pose[joint->child].R, J);
    is_sound &= factor_joint(mb, x, joint, J, &x->link[j]);
  }
  return is_sound;
}

YOKE_SIMD bool mb_tree_factor_part(const yoke_multibody *mb, const mb_work *w, int part) {
  const tree_work x        = view(mb->tree, w->tree);
  const bool      is_sound = factor_range(mb, w, &x, range_of(mb->tree, part));
  if (part == 1) return is_sound;
  if (part == CUT) return is_sound && factor_tip(mb->tree, &x);
  if (!factor_roots(mb, w, &x)) return false;
  if (mb->tree->is_cut) reach_tip(mb, &x, NULL, true, false);
  return is_sound;
}

bool mb_tree_factor(const yoke_multibody *mb, const mb_work *w) {
  bool is_sound = true;
  for (int part = 0; part < n_ranges(mb->tree); ++part) is_sound = mb_tree_factor_part(mb, w, part) && is_sound;
  return is_sound;
}

static YOKE_ALWAYS_INLINE void go_in_range(const yoke_multibody *mb, const tree_work *x, const double *wrench,
                                           const double *b, tree_range range) {
  for (int j = range.begin; j < range.end; ++j) {
    set_known(&mb->tree->joints[j], b, &x->link[j]);
    go_in(x, &mb->tree->joints[j], &x->link[j], wrench);
  }
}

YOKE_SIMD void mb_tree_in_part(const yoke_multibody *mb, const mb_work *w, const double *wrench, const double *b,
                               int part) {
  const tree_work x = view(mb->tree, w->tree);
  go_in_range(mb, &x, wrench, b, range_of(mb->tree, part));
  if (part == 0 && mb->tree->is_cut) reach_tip(mb, &x, wrench, false, true);
  if (part == CUT) meet(mb, w, &x);
}

YOKE_SIMD void mb_tree_out_part(const yoke_multibody *mb, const mb_work *w, const double *wrench, double *lambda,
                                int part, mb_node_visit *visit, void *user) {
  const tree_work  x     = view(mb->tree, w->tree);
  const tree_range range = range_of(mb->tree, part);
  if (part == 0 && mb->tree->is_cut) {
    move_roots_under_W(mb, w, &x, wrench);
  } else if (part == 0) {
    move_roots(mb, w, &x, wrench);
  }
  if (visit != NULL) visit_others(mb->tree, part, visit, user);
  if (part != CUT) go_out(mb, w, &x, range, visit, user);
  if (lambda != NULL) set_multipliers(mb, w, &x, wrench, lambda, range);
}

void mb_tree_solve(const yoke_multibody *mb, const mb_work *w, const double *wrench, const double *b, double *lambda) {
  for (int part = 0; part < n_ranges(mb->tree); ++part) mb_tree_in_part(mb, w, wrench, b, part);
  for (int part = 0; part < n_ranges(mb->tree); ++part) mb_tree_out_part(mb, w, wrench, lambda, part, NULL, NULL);
}

/* One way in for all: what a joint needs is still in the cache. */
static YOKE_ALWAYS_INLINE bool bring_in(const yoke_multibody *mb, const mb_work *w, const tree_work *x,
                                        const tree_joint *joint, double t, int wanted, tree_link *link) {
  const int  g0 = joint->joint->g0, n = joint->joint->n;
  const bool is_regular = set_rows(w, x, joint, t, wanted, link);
  double     J[6];
  turned_inertia(mb->nodes[joint->child].inertia, w->pose[joint->child].R, J);
  const bool is_sound = factor_joint(mb, x, joint, J, link);
  for (int g = g0; g < g0 + n; ++g) {
    w->lambda[g] = wanted == GAMMAS || joint->is_guided ? -w->gamma[g] : mb_wanted_acceleration(mb, w, g);
  }
  set_known(joint, w->lambda, link);
  go_in(x, joint, link, w->wrench);
  return is_regular && is_sound;
}

/* Lane l. False: rows depend on each other. */
static YOKE_ALWAYS_INLINE bool take_lane(const yoke_joint_view *view, int l, bool is_revolute, tree_link *link,
                                         tree_free *free, double J[6]) {
  for (int k = 0; k < 3; ++k) {
    link->arm[0][k] = view->arm[0][k][l];
    link->arm[1][k] = view->arm[1][k][l];
  }
  for (int k = 0; k < 6; ++k) {
    link->known[k] = view->known[k][l];
    J[k]           = view->inertia[k][l];
  }
  if (!is_revolute) return complete_basis(0, NULL, NULL, free->s, sizeof(tree_free) / sizeof(double));
  for (int k = 0; k < 3; ++k) {
    free->s[k]            = view->s[k][l];
    link->turn_dual[0][k] = view->turn_dual[0][k][l];
    link->turn_dual[1][k] = view->turn_dual[1][k][l];
  }
  return view->cross2[l] > dependent * view->product2[l];
}

/* The same of joints side by side, which have no gaps to damp. */
static YOKE_ALWAYS_INLINE bool bring_lanes_in(const yoke_multibody *mb, const mb_work *w, const tree_work *x,
                                              const yoke_joint_lanes *lanes, int first) {
  yoke_joint_view view;
  bool            is_sound = true;
  yoke_joint_lanes_view(lanes, w->pose, &view);
  for (int l = 0; l < lanes->n; ++l) {
    const tree_joint *joint = &mb->tree->joints[first + l];
    tree_link        *link  = &x->link[first + l];
    double            J[6];
    is_sound &= take_lane(&view, l, lanes->is_revolute, link, &x->free[joint->free_at], J);
    is_sound &= factor_joint(mb, x, joint, J, link);
    go_in(x, joint, link, w->wrench);
  }
  return is_sound;
}

static YOKE_ALWAYS_INLINE bool bring_range_in(const yoke_multibody *mb, const mb_work *w, const tree_work *x, double t,
                                              tree_range range) {
  const mb_tree *tree      = mb->tree;
  const bool     is_damped = mb->alpha != 0.0 || mb->beta != 0.0;
  bool           is_sound  = true;
  for (int j = range.begin, n; j < range.end; j += n) {
    const tree_joint *joint = &tree->joints[j];
    n                       = 1;
    if (is_damped) {
      is_sound &= bring_in(mb, w, x, joint, t, GAPS | RATES | GAMMAS, &x->link[j]);
    } else if (joint->lanes >= 0) {
      n = tree->lanes[joint->lanes].n;
      is_sound &= bring_lanes_in(mb, w, x, &tree->lanes[joint->lanes], j);
    } else {
      is_sound &= bring_in(mb, w, x, joint, t, GAMMAS, &x->link[j]);
    }
  }
  return is_sound;
}

YOKE_SIMD bool mb_tree_accelerate_part(const yoke_multibody *mb, const mb_work *w, double t, int part) {
  const tree_work x        = view(mb->tree, w->tree);
  const bool      is_sound = bring_range_in(mb, w, &x, t, range_of(mb->tree, part));
  if (part == 1) return is_sound;
  if (part == CUT) {
    if (!is_sound || !factor_tip(mb->tree, &x)) return false;
    meet(mb, w, &x);
    return true;
  }
  if (!factor_roots(mb, w, &x) || !is_sound) return false;
  if (!mb->tree->is_cut) return true;
  reach_tip(mb, &x, w->wrench, true, true);
  return true;
}

bool mb_tree_accelerate(const yoke_multibody *mb, const mb_work *w, double t, double *lambda) {
  memset(w->motion_rate, 0, (size_t)mb->ng * sizeof *w->motion_rate);
  bool is_sound = true;
  for (int part = 0; is_sound && part < n_ranges(mb->tree); ++part) is_sound = mb_tree_accelerate_part(mb, w, t, part);
  for (int part = 0; is_sound && part < n_ranges(mb->tree); ++part)
    mb_tree_out_part(mb, w, w->wrench, lambda, part, NULL, NULL);
  return is_sound;
}
