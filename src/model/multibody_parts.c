/* Parts: a mechanism along the split of its model, in two halves that are evaluated side by side and meet at every evaluation.
 *
 * Everything that one half can do by itself it does: poses, weights, rows, factors, the way in of a solve. What the joints between the halves do to both is
 * then found from what each says of itself there, exactly (trees: multibody_tree.c; in the plane: block_ldl.h), and both go on with it. So the
 * halves take the same steps, with the errors of the mechanism as a whole, and no force between them is ever predicted.
 *
 * Invariant: who does which half, and when, changes no bit of the result. The split does: sums are formed in another order. */
#include "model/multibody_internal.h"

#include "exec/lockstep.h"
#include <math.h>
#include <string.h>

/* ---- structure ---- */

/* What keeps a mechanism from being evaluated in parts; NULL: nothing. */
static const char *obstacle(const yoke_multibody *mb) {
  if (mb->tree == NULL && !(mb->is_plane && mb->n_norms == 0))
    return "its joints are neither a tree in space nor all in the plane";
  if (mb->n_chains > 0) return "it has chains";
  if (mb->n_loop > 0) return "its loads read accelerations or forces";
  if (mb->n_guided > 0 || mb->n_ghosts > 0) return "it is a part itself";
  return NULL;
}

/* Part of the model that a node belongs to; -1: none. */
static void find_owners(const yoke_multibody *mb, int *owner) {
  const yoke_model *model = mb->model;
  for (int i = 0; i < mb->n_nodes; ++i) owner[i] = -1;
  for (int p = 0; p < model->n_parts; ++p) {
    for (int b = 0; b < model->parts[p].n_bodies; ++b) {
      const int node = mb->body_node[model->parts[p].bodies[b]];
      if (node > 0) owner[node] = p;
    }
  }
}

/* Work on the nodes of the half that is found to be at the tip, over that of others: it also finds its compliance there. */
static const double tip_cost = 1.2;

/* The joint of a tree between two parts that makes the halves most equal; -1: there is none. `weight` [n_nodes] is scratch. */
static int find_cut(const yoke_multibody *mb, const int *owner, int *weight) {
  const int n     = mb_tree_n_joints(mb);
  int       best  = -1;
  double    least = INFINITY;
  for (int i = 0; i < n; ++i) {
    int child, parent;
    mb_tree_ends(mb, i, &child, &parent);
    weight[child] += 1; /* all that hangs on it has been here */
    weight[parent] += weight[child];
    if (parent == 0 || owner[child] == owner[parent]) continue;
    const double longer = fmax(weight[child], tip_cost * (n - weight[child]));
    if (longer < least) {
      least = longer;
      best  = i;
    }
  }
  return best;
}

/* Half of each node of a tree: 1 behind the cut. */
static void share_tree(const yoke_multibody *mb, int cut, bool *is_behind) {
  for (int i = mb_tree_n_joints(mb) - 1; i >= 0; --i) {
    int child, parent;
    mb_tree_ends(mb, i, &child, &parent);
    is_behind[child] = i == cut || is_behind[parent];
  }
}

/* Half of each node in the plane: the first parts of the model, and the others. False: there is nothing to share. */
static bool share_plane(const yoke_multibody *mb, const int *owner, bool *is_behind) {
  int    first = 0, n_before = 0;
  double least = INFINITY;
  for (int p = 0; p < mb->model->n_parts - 1; ++p) {
    n_before += mb->model->parts[p].n_bodies;
    const double longer = fmax(n_before, mb->model->n_bodies - n_before);
    if (!(longer < least)) continue;
    least = longer;
    first = p + 1;
  }
  for (int i = 1; i < mb->n_nodes; ++i) is_behind[i] = owner[i] >= first;
  return first > 0;
}

static yoke_status take_part(yoke_multibody *mb, int n_nodes, int n_joints, mb_part *part) {
  part->node  = yoke_arena_take(&mb->arena, (size_t)n_nodes + 1, sizeof *part->node);
  part->joint = yoke_arena_take(&mb->arena, (size_t)n_joints + 1, sizeof *part->joint);
  return mb->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
}

/* Lists of nodes, ends of cut joints first where rows of these come before all others (in the plane), and of joints. */
static yoke_status fill_lists(yoke_multibody *mb, const bool *is_behind, bool *is_end, int *part) {
  mb_parts *parts = mb->parts;
  for (int p = 0; p < 2; ++p) YOKE_TRY(take_part(mb, mb->n_nodes, mb->n_joints, &parts->part[p]));
  YOKE_TRY(take_part(mb, 0, mb->n_joints, &parts->cut));
  for (int j = 0; j < mb->n_joints; ++j) {
    const int *node = mb->joints[j].link.node;
    const int  a = node[0] > 0 ? node[0] : node[1], b = node[1] > 0 ? node[1] : node[0];
    part[j]                       = is_behind[a] == is_behind[b] ? is_behind[a] : MB_CUT;
    mb_part *list                 = part[j] == MB_CUT ? &parts->cut : &parts->part[part[j]];
    list->joint[list->n_joints++] = j;
    if (part[j] == MB_CUT && mb->tree == NULL) is_end[a] = is_end[b] = true;
  }
  for (int early = 1; early >= 0; --early) {
    for (int i = 1; i < mb->n_nodes; ++i) {
      mb_part *list = &parts->part[is_behind[i]];
      if (is_end[i] != (early == 1)) continue;
      list->node[list->n_nodes++] = i;
      list->n_early += early;
    }
  }
  return YOKE_OK;
}

yoke_status mb_parts_create(yoke_multibody *mb, yoke_context *ctx, yoke_arena *scratch, int *part) {
  const char  *why       = obstacle(mb);
  const size_t nodes     = (size_t)mb->n_nodes;
  int         *owner     = yoke_arena_take(scratch, nodes, sizeof *owner);
  int         *weight    = yoke_arena_take(scratch, nodes, sizeof *weight);
  bool        *is_behind = yoke_arena_take(scratch, nodes, sizeof *is_behind);
  bool        *is_end    = yoke_arena_take(scratch, nodes, sizeof *is_end);
  YOKE_TRY(yoke_arena_check(scratch, ctx, "parts of %d bodies", mb->n_nodes));
  if (why == NULL) {
    find_owners(mb, owner);
    const int cut = mb->tree != NULL ? find_cut(mb, owner, weight) : -1;
    if (cut >= 0) {
      share_tree(mb, cut, is_behind);
      YOKE_TRY(mb_tree_cut(mb, ctx, scratch, cut, is_behind));
    } else if (mb->tree != NULL || !share_plane(mb, owner, is_behind)) {
      why = "its split cuts no joint between two bodies";
    }
  }
  if (why != NULL) {
    yoke_note(ctx, "model '%s' cannot be evaluated in parts: %s; its parts run as one, on one thread", mb->model->name,
              why);
    return YOKE_OK;
  }
  mb->parts = yoke_arena_take(&mb->arena, 1, sizeof *mb->parts);
  if (mb->parts == NULL || fill_lists(mb, is_behind, is_end, part) != YOKE_OK)
    return yoke_out_of_memory(ctx, "parts of %d bodies", mb->n_nodes);
  return YOKE_OK;
}

/* A block of S is in the column of the joint that is eliminated first: not that of a cut one, unless both are. */
yoke_status mb_parts_complete(yoke_multibody *mb, yoke_context *ctx, const int *part) {
  mb_parts *parts = mb->parts;
  parts->has_forces =
      mb->n_forces + mb->n_loads + mb->n_formulas + mb->n_inputs + mb->n_driven > 0 || mb->needs_variables;
  if (mb->tree != NULL) return YOKE_OK;
  mb_part *const list[] = {&parts->part[0], &parts->part[1], &parts->cut};
  for (int p = 0; p < 3; ++p)
    list[p]->coupling = yoke_arena_take(&mb->arena, (size_t)mb->n_couplings + 1, sizeof *list[p]->coupling);
  if (mb->arena.has_failed) return yoke_out_of_memory(ctx, "parts of %d joints", mb->n_joints);
  for (int i = 0; i < mb->n_couplings; ++i) {
    const int a = part[mb->couplings[i].a], b = part[mb->couplings[i].b];
    mb_part  *to                    = list[a < b ? a : b];
    to->coupling[to->n_couplings++] = i;
  }
  return YOKE_OK;
}

bool yoke_multibody_help(yoke_multibody *mb, yoke_lockstep *helpers) {
  if (mb->parts == NULL) return false;
  mb->parts->helpers = helpers;
  return true;
}

/* ---- side by side ---- */

typedef struct evaluation {
  const yoke_multibody *mb;
  const mb_work        *w;
  double                t;
  const double         *q, *v;
  double               *qdot, *a, *lambda;
  bool                  reads_lambda, with_rates;
  bool                  is_sound[2], is_finite[2];
  const double         *residual;
  double                largest[2];
} evaluation;

typedef void (*half)(evaluation *x, int part);

typedef struct halves {
  evaluation *x;
  half        run;
} halves;

static void run_halves(void *user, int i, int n) {
  const halves *h = user;
  for (int part = i; part < 2; part += n) h->run(h->x, part);
}

/* Both parts, the first and longest time that poses are wanted or not. */
static void share(evaluation *x, bool is_first, half run) {
  halves h = {x, run};
  if (is_first)
    yoke_lockstep_run(x->mb->parts->helpers, 2, x->mb->n_nodes, run_halves, &h);
  else
    yoke_lockstep_follow(x->mb->parts->helpers, 2, run_halves, &h);
}

static void set_poses(const evaluation *x, int part, int first, int last) {
  const mb_part *p = &x->mb->parts->part[part];
  for (int i = first; i < last; ++i) mb_node_pose(&x->mb->nodes[p->node[i]], x->q, x->v, &x->w->pose[p->node[i]]);
}

/* Joints without a motion write no rate of it. */
static void forget_motions(const evaluation *x, const mb_part *p) {
  if (x->mb->n_motions == 0) return; /* nobody reads them */
  for (int i = 0; i < p->n_joints; ++i) {
    const mb_joint *joint = &x->mb->joints[p->joint[i]];
    for (int g = joint->g0; g < joint->g0 + joint->n; ++g) x->w->motion_rate[g] = 0.0;
  }
}

/* The ground, and in the plane the ends of cut joints. */
static void begin(const evaluation *x) {
  memset(&x->w->pose[0], 0, sizeof x->w->pose[0]);
  x->w->pose[0].R[0] = x->w->pose[0].R[4] = x->w->pose[0].R[8] = 1.0;
  forget_motions(x, &x->mb->parts->cut);
  for (int part = 0; part < 2; ++part) set_poses(x, part, 0, x->mb->parts->part[part].n_early);
}

/* ---- right-hand sides ---- */

static void go_in(evaluation *x, int part) {
  const yoke_multibody *mb = x->mb;
  const mb_part        *p  = &mb->parts->part[part];
  if (mb->tree != NULL) {
    x->is_sound[part] = mb_tree_accelerate_part(mb, x->w, x->t, part);
    return;
  }
  mb_plane_rows_part(mb, x->w, x->t, true, p);
  mb_plane_blocks_part(mb, x->w, part);
  x->is_sound[part] = mb_plane_factor_part(mb, x->w, part);
  if (!x->is_sound[part]) return;
  for (int i = 0; i < p->n_nodes; ++i) mb_free_acceleration(mb, x->w, p->node[i], x->a);
  for (int i = 0; i < p->n_joints; ++i) {
    const mb_joint *joint = &mb->joints[p->joint[i]];
    for (int g = joint->g0; g < joint->g0 + joint->n; ++g) x->lambda[g] = mb_wanted_acceleration(mb, x->w, g);
  }
  mb_plane_in_part(mb, x->w, x->lambda, part);
}

static void place_and_go_in(evaluation *x, int part) {
  const mb_part *p = &x->mb->parts->part[part];
  set_poses(x, part, p->n_early, p->n_nodes);
  forget_motions(x, p);
  for (int i = 0; i < p->n_nodes; ++i) mb_node_weight(x->mb, x->w, x->v, p->node[i]);
  if (!x->mb->parts->has_forces) go_in(x, part);
}

/* What the parts do to each other. */
static bool meet(const evaluation *x) {
  const yoke_multibody *mb = x->mb;
  if (!x->is_sound[0] || !x->is_sound[1]) return false;
  if (mb->tree != NULL) return mb_tree_accelerate_part(mb, x->w, x->t, MB_CUT);
  if (!mb_plane_between_factor(mb, x->w)) return false;
  for (int i = 0; i < mb->parts->cut.n_joints; ++i) {
    const mb_joint *joint = &mb->joints[mb->parts->cut.joint[i]];
    for (int g = joint->g0; g < joint->g0 + joint->n; ++g) x->lambda[g] = mb_wanted_acceleration(mb, x->w, g);
  }
  mb_plane_between_solve(mb, x->w, x->lambda);
  return true;
}

/* Results of one part. */
typedef struct writing {
  const evaluation *x;
  double            sum; /* finite as long as all of them are */
} writing;

static void write_node(void *user, int i) {
  writing          *to = user;
  const evaluation *x  = to->x;
  const double     *y  = x->w->acceleration + 6 * i;
  mb_node_write(x->mb, x->w, x->a, i);
  if (x->qdot != NULL) mb_node_rates(x->mb, x->q, x->v, x->qdot, i);
  /* accelerations have all of q and v in them: rates are finite where they are */
  to->sum += ((fabs(y[0]) + fabs(y[1])) + (fabs(y[2]) + fabs(y[3]))) + (fabs(y[4]) + fabs(y[5]));
}

static void go_out(evaluation *x, int part) {
  const yoke_multibody *mb = x->mb;
  const mb_part        *p  = &mb->parts->part[part];
  writing               to = {.x = x};
  if (mb->tree != NULL) {
    mb_tree_out_part(mb, x->w, x->w->wrench, x->reads_lambda ? x->lambda : NULL, part, write_node, &to);
  } else {
    mb_plane_out_part(mb, x->w, x->lambda, part);
    for (int i = 0; i < p->n_nodes; ++i) write_node(&to, p->node[i]);
  }
  x->is_finite[part] = isfinite(to.sum);
}

bool mb_parts_respond(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                      const double *u, double *qdot, double *a, double *lambda, bool reads_lambda,
                      yoke_status *status) {
  evaluation x   = {.mb = mb, .w = w, .t = t, .q = q, .v = v, .qdot = qdot, .a = a, .lambda = lambda};
  x.reads_lambda = reads_lambda;
  *status        = YOKE_OK;
  begin(&x);
  memset(w->wrench, 0, 6 * sizeof *w->wrench);
  memset(w->acceleration, 0, 6 * sizeof *w->acceleration);
  if (mb->tree != NULL) mb_tree_inertia(mb, w);
  if (mb->tree == NULL) {
    mb_plane_rows_part(mb, w, t, true, &mb->parts->cut);
    mb_plane_blocks_part(mb, w, MB_CUT);
  }
  share(&x, true, place_and_go_in);
  if (mb->parts->has_forces) {
    *status = mb_other_forces(mb, w, t, q, v, u);
    if (*status != YOKE_OK) return true;
    share(&x, false, go_in);
  }
  if (!meet(&x)) return false;
  if (mb->tree != NULL) {
    const int *outside, n = mb_tree_outside(mb, &outside);
    for (int i = 0; i < n; ++i) mb_node_inertia(mb, w, outside[i]);
    for (int i = 0; i < n; ++i) mb_free_acceleration(mb, w, outside[i], a);
  }
  share(&x, false, go_out);
  if (mb->tree != NULL && reads_lambda) mb_tree_out_part(mb, w, w->wrench, lambda, MB_CUT, NULL, NULL);
  if (!x.is_finite[0] || !x.is_finite[1]) *status = YOKE_NON_FINITE;
  return true;
}

/* ---- projections ---- */

static void look(evaluation *x, int part) {
  const mb_part *p = &x->mb->parts->part[part];
  set_poses(x, part, p->n_early, p->n_nodes);
  forget_motions(x, p);
  if (x->mb->tree != NULL) {
    x->is_sound[part] = mb_tree_rows_part(x->mb, x->w, x->t, x->with_rates, part);
  } else {
    mb_plane_rows_part(x->mb, x->w, x->t, x->with_rates, p);
  }
}

bool mb_parts_look(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v) {
  evaluation x = {.mb = mb, .w = w, .t = t, .q = q, .v = v, .with_rates = v != NULL, .is_sound = {true, true}};
  begin(&x);
  share(&x, false, look);
  if (mb->tree != NULL) return mb_tree_rows_part(mb, w, t, v != NULL, MB_CUT) && x.is_sound[0] && x.is_sound[1];
  mb_plane_rows_part(mb, w, t, v != NULL, &mb->parts->cut);
  return true;
}

static void look_again(evaluation *x, int part) {
  const mb_part *p = &x->mb->parts->part[part];
  set_poses(x, part, p->n_early, p->n_nodes);
  forget_motions(x, p);
  if (x->mb->tree != NULL) {
    mb_tree_gaps_part(x->mb, x->w, x->t, part);
  } else {
    mb_plane_rows_part(x->mb, x->w, x->t, true, p);
  }
}

void mb_parts_look_again(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v) {
  evaluation x = {.mb = mb, .w = w, .t = t, .q = q, .v = v};
  begin(&x);
  share(&x, false, look_again);
  if (mb->tree != NULL) {
    mb_tree_gaps_part(mb, w, t, MB_CUT);
  } else {
    mb_plane_rows_part(mb, w, t, true, &mb->parts->cut);
  }
}

static void find_residual(evaluation *x, int part) {
  const mb_part *p       = &x->mb->parts->part[part];
  double         largest = 0.0;
  for (int i = 0; i < p->n_joints; ++i) mb_raise_residual(x->mb, x->w, p->joint[i], x->residual, &largest);
  x->largest[part] = largest;
}

double mb_parts_residual(const yoke_multibody *mb, const mb_work *w, const double *residual) {
  const mb_part *cut     = &mb->parts->cut;
  evaluation     x       = {.mb = mb, .w = w, .residual = residual};
  double         largest = 0.0;
  share(&x, false, find_residual);
  for (int i = 0; i < cut->n_joints; ++i) mb_raise_residual(mb, w, cut->joint[i], residual, &largest);
  for (int part = 0; part < 2; ++part) {
    if (!(x.largest[part] <= largest)) largest = x.largest[part];
  }
  return largest;
}

static void factor(evaluation *x, int part) {
  if (x->mb->tree == NULL) mb_plane_blocks_part(x->mb, x->w, part);
  x->is_sound[part] =
      x->mb->tree != NULL ? mb_tree_factor_part(x->mb, x->w, part) : mb_plane_factor_part(x->mb, x->w, part);
}

bool mb_parts_factor(const yoke_multibody *mb, const mb_work *w) {
  evaluation x = {.mb = mb, .w = w};
  if (mb->tree == NULL) mb_plane_blocks_part(mb, w, MB_CUT);
  share(&x, false, factor);
  if (!x.is_sound[0] || !x.is_sound[1]) return false;
  return mb->tree != NULL ? mb_tree_factor_part(mb, w, MB_CUT) : mb_plane_between_factor(mb, w);
}

static void solve_in(evaluation *x, int part) {
  if (x->mb->tree != NULL) {
    mb_tree_in_part(x->mb, x->w, NULL, x->lambda, part);
  } else {
    mb_plane_in_part(x->mb, x->w, x->lambda, part);
  }
}

static void write_move(void *user, int i) {
  const evaluation *x = user;
  mb_node_write(x->mb, x->w, x->a, i);
}

static void solve_out(evaluation *x, int part) {
  const mb_part *p = &x->mb->parts->part[part];
  if (x->mb->tree != NULL) {
    mb_tree_out_part(x->mb, x->w, NULL, NULL, part, write_move, x);
    return;
  }
  mb_plane_out_part(x->mb, x->w, x->lambda, part);
  for (int i = 0; i < p->n_nodes; ++i) write_move(x, p->node[i]);
}

void mb_parts_solve(const yoke_multibody *mb, const mb_work *w, double *lambda, double *dv) {
  evaluation x = {.mb = mb, .w = w, .lambda = lambda, .a = dv};
  share(&x, false, solve_in);
  if (mb->tree != NULL) {
    mb_tree_in_part(mb, w, NULL, lambda, MB_CUT);
  } else {
    mb_plane_between_solve(mb, w, lambda);
  }
  share(&x, false, solve_out);
}
