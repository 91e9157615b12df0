/* Parts: a mechanism along the split of its model, in two halves that are evaluated side by side and meet at every evaluation.
 *
 * Everything that one half can do by itself it does: poses, weights, rows, factors, the way in of a solve. What the joints between the halves do to both is
 * then found from what each says of itself there, exactly (trees: multibody_tree.c; in the plane: block_ldl.h), and both go on with it. So the
 * halves take the same steps, with the errors of the mechanism as a whole, and no force between them is ever predicted.
 *
 * They go in rounds (lockstep.h): what both have to say is read by one thread alone between two rounds. Threads meet once per evaluation of a
 * mechanism under its own weight, and once more where forces, or cut joints in the plane that are no pins, want the poses of both.
 *
 * Invariant: who does which half, and when, changes no bit of the result. The split does: sums are formed in another order. */
#include "model/multibody_internal.h"

#include "base/finite.h"
#include "exec/lockstep.h"
#include "linalg/space.h"
#include <math.h>
#include <string.h>

/* ---- order ---- */

/* Indices by rising keys in 0 .. n_keys - 1, equal ones as they are. `start` [n_keys + 1] is scratch, all 0. */
static void sort_by_key(int n, const int *key, int n_keys, int *start, int *sorted) {
  for (int i = 0; i < n; ++i) ++start[key[i] + 1];
  for (int k = 0; k < n_keys; ++k) start[k + 1] += start[k];
  for (int i = 0; i < n; ++i) sorted[start[key[i]]++] = i;
}

/* Points of a flexible body and masses of a chain stay where they are: with them there are no parts. */
static bool can_be_sorted(const yoke_model *model) {
  for (int b = 0; b < model->n_bodies; ++b) {
    if (model->bodies[b].kind == YOKE_BODY_CHAIN || model->bodies[b].flexible != 0) return false;
  }
  return model->n_ghosts == 0;
}

/* Part that both ends belong to, the ground to any; n_parts: they differ, or have none. */
static int part_of_connection(const yoke_model *model, const int *owner, const yoke_connection *connection) {
  int part = -1;
  for (int side = 0; side < 2; ++side) {
    const int body = model->frames[connection->frame[side]].body;
    if (body < 0) continue;
    if (part >= 0 && owner[body] != part) return model->n_parts;
    part = owner[body];
  }
  return part >= 0 ? part : model->n_parts;
}

/* Where ranges of two threads meet in memory, each fetches lines that the other writes, and prefetches more of them: in every array, in every
 * evaluation. Sorted, they meet once per array. */
yoke_status mb_parts_order(const yoke_model *model, yoke_context *ctx, yoke_arena *scratch, int **bodies,
                           int **connections) {
  const size_t n_bodies = (size_t)model->n_bodies + 1, n_connections = (size_t)model->n_connections + 1;
  const size_t n_keys = (size_t)model->n_parts + 1;
  if (!can_be_sorted(model)) return YOKE_OK;
  int *owner = yoke_arena_take(scratch, n_bodies, sizeof *owner), *key;
  key        = yoke_arena_take(scratch, n_connections, sizeof *key);
  int *start[2];
  for (int i = 0; i < 2; ++i) start[i] = yoke_arena_take(scratch, n_keys + 1, sizeof *start[i]);
  int *sorted[2] = {yoke_arena_take(scratch, n_bodies, sizeof **sorted),
                    yoke_arena_take(scratch, n_connections, sizeof **sorted)};
  YOKE_TRY(yoke_arena_check(scratch, ctx, "parts of %d bodies", model->n_bodies));
  for (int b = 0; b < model->n_bodies; ++b) owner[b] = model->n_parts;
  for (int p = 0; p < model->n_parts; ++p) {
    for (int k = 0; k < model->parts[p].n_bodies; ++k) owner[model->parts[p].bodies[k]] = p;
  }
  for (int c = 0; c < model->n_connections; ++c) key[c] = part_of_connection(model, owner, &model->connections[c]);
  sort_by_key(model->n_bodies, owner, (int)n_keys, start[0], sorted[0]);
  sort_by_key(model->n_connections, key, (int)n_keys, start[1], sorted[1]);
  *bodies      = sorted[0];
  *connections = sorted[1];
  return YOKE_OK;
}

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

enum { N_LISTS = 3 }; /* the parts, and what is between them */
static mb_part *part_of(mb_parts *parts, int part) {
  return part == MB_CUT ? &parts->cut : &parts->part[part];
}

/* Entries [begin, begin + n) of a kind join the last span where they follow it. */
static void extend(mb_part *part, int kind, int begin, int n) {
  yoke_range *spans   = part->spans[kind];
  int        *n_spans = &part->n_spans[kind];
  if (*n_spans == 0 || spans[*n_spans - 1].end != begin) spans[(*n_spans)++] = (yoke_range){begin, begin};
  spans[*n_spans - 1].end += n;
}

static yoke_status take_spans(yoke_multibody *mb, int kind, int most) {
  for (int p = 0; p < N_LISTS; ++p)
    part_of(mb->parts, p)->spans[kind] = yoke_arena_take(&mb->arena, (size_t)most + 1, sizeof(yoke_range));
  return mb->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
}

/* Nodes and joints, and `part` of the joints. */
static yoke_status find_spans(yoke_multibody *mb, const bool *is_behind, int *part) {
  mb_parts *parts = mb->parts;
  for (int kind = 0; kind < MB_SPAN_COUPLING; ++kind)
    YOKE_TRY(take_spans(mb, kind, kind < MB_SPAN_JOINT ? mb->n_nodes : mb->n_joints));
  parts->cut_side = yoke_arena_take(&mb->arena, (size_t)mb->n_joints + 1, sizeof *parts->cut_side);
  if (mb->arena.has_failed) return YOKE_E_MEMORY;
  for (int i = 1; i < mb->n_nodes; ++i) {
    mb_part *to = &parts->part[is_behind[i]];
    extend(to, MB_SPAN_NODE, i, 1);
    extend(to, MB_SPAN_Q, mb->nodes[i].iq, mb->nodes[i].nq);
    extend(to, MB_SPAN_V, mb->nodes[i].iv, mb->nodes[i].nv);
  }
  for (int j = 0; j < mb->n_joints; ++j) {
    const int *node = mb->joints[j].link.node;
    const int  a = node[0] > 0 ? node[0] : node[1], b = node[1] > 0 ? node[1] : node[0];
    part[j]            = is_behind[a] == is_behind[b] ? is_behind[a] : MB_CUT;
    parts->cut_side[j] = is_behind[node[0]] ? 1 : 0;
    extend(part_of(parts, part[j]), MB_SPAN_JOINT, j, 1);
    extend(part_of(parts, part[j]), MB_SPAN_ROW, mb->joints[j].g0, mb->joints[j].n);
  }
  return YOKE_OK;
}

yoke_status mb_parts_create(yoke_multibody *mb, yoke_context *ctx, yoke_arena *scratch, int *part) {
  const char  *why       = obstacle(mb);
  const size_t nodes     = (size_t)mb->n_nodes;
  int         *owner     = yoke_arena_take(scratch, nodes, sizeof *owner);
  int         *weight    = yoke_arena_take(scratch, nodes, sizeof *weight);
  bool        *is_behind = yoke_arena_take(scratch, nodes, sizeof *is_behind);
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
  if (mb->parts == NULL || find_spans(mb, is_behind, part) != YOKE_OK)
    return yoke_out_of_memory(ctx, "parts of %d bodies", mb->n_nodes);
  return YOKE_OK;
}

/* A block of S is in the column of the joint that is eliminated first: not that of a cut one, unless both are. */
yoke_status mb_parts_complete(yoke_multibody *mb, yoke_context *ctx, const int *part) {
  mb_parts *parts = mb->parts;
  parts->has_forces =
      mb->n_forces + mb->n_loads + mb->n_formulas + mb->n_inputs + mb->n_driven > 0 || mb->needs_variables;
  parts->is_direct = !parts->has_forces;
  if (mb->tree != NULL) return YOKE_OK;
  MB_EACH(j, &parts->cut, MB_SPAN_JOINT) parts->is_direct = parts->is_direct && mb_plane_is_pin(&mb->joints[j]);
  if (take_spans(mb, MB_SPAN_COUPLING, mb->n_couplings) != YOKE_OK)
    return yoke_out_of_memory(ctx, "parts of %d joints", mb->n_joints);
  for (int i = 0; i < mb->n_couplings; ++i) {
    const int a = part[mb->couplings[i].a], b = part[mb->couplings[i].b];
    extend(part_of(parts, a < b ? a : b), MB_SPAN_COUPLING, i, 1);
  }
  return YOKE_OK;
}

bool yoke_multibody_help(yoke_multibody *mb, yoke_lockstep *helpers) {
  if (mb->parts == NULL) return false;
  mb->parts->helpers = helpers;
  return true;
}

/* ---- what a part does by itself ---- */

static void set_poses(const yoke_multibody *mb, const mb_work *w, int part, const double *q, const double *v) {
  mb_poses_of(mb, w, q, v, &mb->parts->part[part]);
}

/* Joints without a motion write no rate of it. */
static void forget_motions(const yoke_multibody *mb, const mb_work *w, const mb_part *p) {
  if (mb->n_motions == 0) return; /* nobody reads them */
  MB_EACH(g, p, MB_SPAN_ROW) w->motion_rate[g] = 0.0;
}

static void want_accelerations(const yoke_multibody *mb, const mb_work *w, const mb_part *p) {
  MB_EACH(g, p, MB_SPAN_ROW) w->lambda[g] = mb_wanted_acceleration(mb, w, g);
}

/* What belongs to no part and nobody changes: the ground, and rates of cut joints. All threads read it, so it is written once. */
static void begin(const yoke_multibody *mb, const mb_work *w) {
  memset(&w->pose[0], 0, sizeof w->pose[0]);
  w->pose[0].R[0] = w->pose[0].R[4] = w->pose[0].R[8] = 1.0;
  memset(w->wrench, 0, 6 * sizeof *w->wrench);
  memset(w->acceleration, 0, 6 * sizeof *w->acceleration);
  forget_motions(mb, w, &mb->parts->cut);
}

/* ---- right-hand sides ---- */

/* Where accelerations are wanted, and where to. */
typedef struct evaluation {
  double        t;
  const double *q, *v, *u;
  double       *qdot, *a, *lambda; /* qdot, lambda: NULL, not wanted */
} evaluation;

/* What a part says, on lines of its own. */
typedef struct part_flags {
  bool is_sound, is_finite;
  char apart[126];
} part_flags;

struct yoke_parted {
  const yoke_multibody *mb;
  mb_work               w;
  char                  apart[128]; /* from what changes */
  part_flags            flags[2];
  evaluation            now, met;  /* what is entered; what was met and is to be left */
  bool                  is_placed; /* poses are there, and what others but the parts themselves do */
  bool                  is_whole;  /* what was met has been found without parts */
};

size_t mb_parts_scratch(const yoke_multibody *mb) {
  return mb->parts != NULL ? sizeof(yoke_parted) : 0;
}

/* Powers of motions want the multipliers, which come last. */
static bool has_late_quadratures(const yoke_multibody *mb) {
  return mb->has_energy && mb->n_motions > 0;
}

static yoke_parted *open_work(const yoke_multibody *mb, void *work) {
  mb_work w;
  mb_work_carve(mb, work, &w);
  yoke_parted *x = w.parted;
  *x             = (yoke_parted){.mb = mb, .w = w, .flags = {{.is_finite = true}, {.is_finite = true}}};
  begin(mb, &w);
  return x;
}

static yoke_parted *parts_open(const void *self, void *work) {
  const yoke_multibody *mb = self;
  if (mb->parts == NULL || mb->n_jumps > 0 || has_late_quadratures(mb)) return NULL;
  return open_work(mb, work);
}

static int parts_spans(const yoke_parted *x, int part, bool of_q, const yoke_range **spans) {
  const mb_part *p    = &x->mb->parts->part[part];
  const int      kind = of_q ? MB_SPAN_Q : MB_SPAN_V;
  *spans              = p->spans[kind];
  return p->n_spans[kind];
}

static void parts_begin(yoke_parted *x, double t, const double *q, const double *v, const double *u, double *qdot,
                        double *a, double *lambda) {
  x->now       = (evaluation){.t = t, .q = q, .v = v, .u = u, .qdot = qdot, .a = a, .lambda = lambda};
  x->is_placed = false;
  if (x->mb->parts->has_forces) memset(x->w.wrench, 0, 6 * sizeof *x->w.wrench);
  if (x->mb->tree == NULL && x->mb->parts->is_direct) mb_plane_begin_cut(x->mb, &x->w);
}

static void go_in(yoke_parted *x, int part) {
  const yoke_multibody *mb = x->mb;
  const mb_work        *w  = &x->w;
  const mb_part        *p  = &mb->parts->part[part];
  if (mb->tree != NULL) {
    x->flags[part].is_sound = mb_tree_accelerate_part(mb, w, x->now.t, part);
    return;
  }
  mb_plane_blocks_part(mb, w, part);
  x->flags[part].is_sound = mb_plane_factor_part(mb, w, part);
  if (!x->flags[part].is_sound) return;
  mb_free_accelerations_of(mb, w, p);
  want_accelerations(mb, w, p);
  mb_plane_in_part(mb, w, w->lambda, part);
}

static void parts_enter(yoke_parted *x, int part) {
  const yoke_multibody *mb = x->mb;
  const mb_part        *p  = &mb->parts->part[part];
  if (x->is_placed) {
    go_in(x, part);
    return;
  }
  set_poses(mb, &x->w, part, x->now.q, x->now.v);
  forget_motions(mb, &x->w, p);
  mb_weights_of(mb, &x->w, x->now.v, p);
  if (mb->tree == NULL) mb_plane_rows_part(mb, &x->w, x->now.t, true, p);
  if (!mb->parts->is_direct) return;
  if (mb->tree == NULL) mb_plane_cut_rows_of(mb, &x->w, part);
  go_in(x, part);
}

/* What the parts do to each other. False: rows depend on each other. */
static bool meet(const yoke_parted *x) {
  const yoke_multibody *mb = x->mb;
  const mb_work        *w  = &x->w;
  if (!x->flags[0].is_sound || !x->flags[1].is_sound) return false;
  if (mb->tree != NULL) {
    if (!mb_tree_accelerate_part(mb, w, x->now.t, MB_CUT)) return false;
    const int *outside, n = mb_tree_outside(mb, &outside);
    mb_tree_inertia(mb, w);
    for (int i = 0; i < n; ++i) mb_free_acceleration(mb, w, outside[i], NULL);
    return true;
  }
  if (!mb_plane_between_factor(mb, w)) return false;
  want_accelerations(mb, w, &mb->parts->cut);
  mb_plane_between_solve(mb, w, w->lambda);
  return true;
}

/* Behind the poses of all: what wants them. */
static yoke_status place_others(yoke_parted *x) {
  const yoke_multibody *mb = x->mb;
  const evaluation     *e  = &x->now;
  if (mb->parts->has_forces) YOKE_TRY(mb_other_forces(mb, &x->w, e->t, e->q, e->v, e->u));
  if (mb->tree != NULL) return YOKE_OK;
  mb_plane_rows_part(mb, &x->w, e->t, true, &mb->parts->cut);
  mb_plane_blocks_part(mb, &x->w, MB_CUT);
  return YOKE_OK;
}

static yoke_status add_quadratures(yoke_parted *x) {
  const yoke_multibody *mb = x->mb;
  const evaluation     *e  = &x->now;
  if (e->qdot == NULL || mb->nq == mb->nq_states || has_late_quadratures(mb)) return YOKE_OK;
  mb_quadratures(mb, &x->w, e->t, e->q, e->v, e->u, NULL, e->qdot);
  for (int i = mb->nq_states; i < mb->nq; ++i) {
    if (!isfinite(e->qdot[i])) return YOKE_NON_FINITE;
  }
  return YOKE_OK;
}

static yoke_status parts_end(const yoke_parted *x) {
  return x->flags[0].is_finite && x->flags[1].is_finite ? YOKE_OK : YOKE_NON_FINITE;
}

static yoke_status parts_meet(yoke_parted *x, bool *is_met) {
  const yoke_multibody *mb = x->mb;
  const evaluation     *e  = &x->now;
  *is_met                  = x->is_placed || mb->parts->is_direct;
  YOKE_TRY(parts_end(x)); /* of what was left on the way here */
  if (!x->is_placed) YOKE_TRY(place_others(x));
  x->is_placed = true;
  if (!*is_met) return YOKE_OK;
  x->met      = x->now;
  x->is_whole = !meet(x);
  if (x->is_whole) return mb_derivative_whole(mb, &x->w, e->t, e->q, e->v, e->u, e->qdot, e->a, e->lambda);
  return add_quadratures(x);
}

/* Of a tree, on the way out. */
static void write_node(void *user, int i) {
  const yoke_parted *x = user;
  mb_node_write(x->mb, &x->w, x->met.a, i);
  if (x->met.qdot != NULL) mb_node_rates(x->mb, x->met.q, x->met.v, x->met.qdot, i);
}

static bool is_finite_span(int n_spans, const yoke_range *spans, const double *x) {
  for (int k = 0; k < n_spans; ++k) {
    if (!yoke_all_finite(spans[k].end - spans[k].begin, x + spans[k].begin)) return false;
  }
  return true;
}

static void copy_multipliers(const yoke_parted *x, const mb_part *p) {
  MB_EACH(g, p, MB_SPAN_ROW) x->met.lambda[g] = x->w.lambda[g];
}

/* The way out. Multipliers of cut joints are those of the part behind. */
static void parts_leave(yoke_parted *x, int part) {
  const yoke_multibody *mb     = x->mb;
  const mb_work        *w      = &x->w;
  const mb_part        *p      = &mb->parts->part[part];
  double               *lambda = x->met.lambda;
  if (x->is_whole) return;
  if (mb->tree != NULL) {
    mb_tree_out_part(mb, w, w->wrench, lambda, part, write_node, x);
    if (lambda != NULL && part == 1) mb_tree_out_part(mb, w, w->wrench, lambda, MB_CUT, NULL, NULL);
  } else {
    mb_plane_out_part(mb, w, w->lambda, part);
    mb_write_nodes_of(mb, w, p, x->met.a);
    if (x->met.qdot != NULL) mb_rates_of(mb, x->met.q, x->met.v, p, x->met.qdot);
    if (lambda != NULL) copy_multipliers(x, p);
    if (lambda != NULL && part == 1) copy_multipliers(x, &mb->parts->cut);
  }
  /* accelerations have all of q and v in them: rates are finite where they are */
  x->flags[part].is_finite = is_finite_span(p->n_spans[MB_SPAN_V], p->spans[MB_SPAN_V], x->met.a);
}

const yoke_parts_ops mb_parts_ops = {.open  = parts_open,
                                     .spans = parts_spans,
                                     .begin = parts_begin,
                                     .enter = parts_enter,
                                     .meet  = parts_meet,
                                     .leave = parts_leave,
                                     .end   = parts_end};

/* One evaluation by itself. */
typedef struct lone_evaluation {
  yoke_parted *x;
  bool         is_met;
  yoke_status  status;
} lone_evaluation;

static void go_on_alone(void *user, int part) {
  const lone_evaluation *e = user;
  if (e->is_met) {
    parts_leave(e->x, part);
  } else {
    parts_enter(e->x, part);
  }
}

static bool meet_alone(void *user) {
  lone_evaluation *e = user;
  if (e->is_met) {
    e->status = parts_end(e->x);
    return false;
  }
  e->status = parts_meet(e->x, &e->is_met);
  return e->status == YOKE_OK;
}

yoke_status mb_parts_derivative(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                                const double *u, double *qdot, double *a, double *lambda) {
  lone_evaluation e    = {.x = open_work(mb, work)};
  const bool      late = qdot != NULL && has_late_quadratures(mb);
  if (lambda == NULL && late) lambda = e.x->w.lambda;
  parts_begin(e.x, t, q, v, u, qdot, a, lambda);
  yoke_lockstep_rounds(mb->parts->helpers, YOKE_N_PARTS, mb->nv, go_on_alone, meet_alone, &e);
  YOKE_TRY(e.status);
  if (!late || e.x->is_whole) return YOKE_OK;
  mb_quadratures(mb, &e.x->w, t, q, v, u, lambda, qdot);
  for (int i = mb->nq_states; i < mb->nq; ++i) {
    if (!isfinite(qdot[i])) return YOKE_NON_FINITE;
  }
  return YOKE_OK;
}

/* ---- projections ---- */

/* What the parts do in a round. */
typedef enum projection_round {
  LOOK,      /* poses and rows */
  GO_IN,     /* the way in of a solve, with new factors or those that are there */
  MOVE,      /* the way out, q moves along, and w->s and rates follow where the factors may serve there too */
  ACCELERATE /* the way out, v moves along */
} projection_round;

typedef struct projection {
  const yoke_multibody *mb;
  const mb_work        *w;
  double                t;
  double               *q;      /* where it is moved, or NULL */
  const double         *q_rows; /* where rows are found */
  double               *v;      /* NULL: not wanted */
  projection_round      round;
  bool                  of_v; /* v is what moves, or is about to */
  bool                  is_fresh, serves, with_factors;
  int                   n_moves;
  double                limit; /* of the residual */
  bool                  is_sound[2], is_finite[2];
  double                largest[2];
  bool                  fails; /* rows depend on each other */
  yoke_status           status;
} projection;

static double part_residual(const projection *p, const mb_part *part) {
  double largest = 0.0;
  MB_EACH(j, part, MB_SPAN_JOINT) mb_raise_residual(p->mb, p->w, j, p->w->s, &largest);
  return largest;
}

/* Of all parts, behind rows of the cut joints; NaN stays. */
static double residual(const projection *p) {
  double largest = part_residual(p, &p->mb->parts->cut);
  for (int part = 0; part < 2; ++part) {
    if (!(p->largest[part] <= largest)) largest = p->largest[part];
  }
  return largest;
}

/* Unit Euler parameters, and is all finite that was given? */
static bool check_start(const projection *p, const mb_part *part) {
  const yoke_multibody *mb = p->mb;
  if (p->q != NULL && mb->n_norms > 0) {
    MB_EACH(i, part, MB_SPAN_NODE) {
      if (mb->nodes[i].kind == YOKE_BODY_RIGID) quaternion_normalise(p->q + mb->nodes[i].iq + 3);
    }
  }
  return is_finite_span(part->n_spans[MB_SPAN_Q], part->spans[MB_SPAN_Q], p->q_rows) &&
         (p->v == NULL || is_finite_span(part->n_spans[MB_SPAN_V], part->spans[MB_SPAN_V], p->v));
}

static bool set_rows(const projection *p, int part, bool with_rates) {
  const yoke_multibody *mb   = p->mb;
  const mb_part        *list = part == MB_CUT ? &mb->parts->cut : &mb->parts->part[part];
  if (part != MB_CUT) {
    set_poses(mb, p->w, part, p->q_rows, with_rates ? p->v : NULL);
    forget_motions(mb, p->w, list);
  }
  if (mb->tree != NULL) return mb_tree_rows_part(mb, p->w, p->t, with_rates, part);
  mb_plane_rows_part(mb, p->w, p->t, with_rates, list);
  return true;
}

static void set_gaps(const projection *p, int part) {
  const yoke_multibody *mb   = p->mb;
  const mb_part        *list = part == MB_CUT ? &mb->parts->cut : &mb->parts->part[part];
  if (part != MB_CUT) {
    set_poses(mb, p->w, part, p->q_rows, p->v);
    forget_motions(mb, p->w, list);
  }
  if (mb->tree != NULL) {
    mb_tree_gaps_part(mb, p->w, p->t, part);
  } else {
    mb_plane_rows_part(mb, p->w, p->t, true, list);
  }
}

static bool factor(const projection *p, int part) {
  const yoke_multibody *mb = p->mb;
  if (mb->tree != NULL) return mb_tree_factor_part(mb, p->w, part);
  mb_plane_blocks_part(mb, p->w, part);
  return part == MB_CUT ? mb_plane_between_factor(mb, p->w) : mb_plane_factor_part(mb, p->w, part);
}

/* Right-hand side of a move, from rest. */
static void set_right_hand_side(const projection *p, const mb_part *part) {
  const double *wanted = p->of_v ? p->w->rate : p->w->s;
  MB_EACH(i, part, MB_SPAN_NODE) memset(p->w->acceleration + 6 * i, 0, 6 * sizeof *p->w->acceleration);
  MB_EACH(g, part, MB_SPAN_ROW) p->w->lambda[g] = -wanted[g];
}

static void write_move(void *user, int i) {
  const projection *p = user;
  mb_node_write(p->mb, p->w, p->w->a, i);
}

static void go_out(projection *p, int part) {
  const yoke_multibody *mb   = p->mb;
  const mb_part        *list = &mb->parts->part[part];
  if (mb->tree != NULL) {
    mb_tree_out_part(mb, p->w, NULL, NULL, part, write_move, p);
  } else {
    mb_plane_out_part(mb, p->w, p->w->lambda, part);
    mb_write_nodes_of(mb, p->w, list, p->w->a);
  }
  p->is_finite[part] = is_finite_span(list->n_spans[MB_SPAN_V], list->spans[MB_SPAN_V], p->w->a);
}

static void move(projection *p, int part) {
  const mb_part *list = &p->mb->parts->part[part];
  go_out(p, part);
  if (!p->is_finite[part]) return;
  MB_EACH(i, list, MB_SPAN_NODE) mb_node_move(&p->mb->nodes[i], p->q, p->w->a);
  if (!p->serves) return;
  set_gaps(p, part);
  p->largest[part] = part_residual(p, list);
}

static void accelerate(projection *p, int part) {
  const mb_part *list = &p->mb->parts->part[part];
  go_out(p, part);
  MB_EACH(i, list, MB_SPAN_V) p->v[i] += p->w->a[i];
  p->is_finite[part] = is_finite_span(list->n_spans[MB_SPAN_V], list->spans[MB_SPAN_V], p->v);
}

static void project_part(void *user, int part) {
  projection    *p    = user;
  const mb_part *list = &p->mb->parts->part[part];
  switch (p->round) {
  case LOOK:
    if (p->is_fresh) p->is_finite[part] = check_start(p, list);
    p->is_sound[part] = set_rows(p, part, p->of_v);
    if (!p->of_v) p->largest[part] = part_residual(p, list);
    break;
  case GO_IN:
    set_right_hand_side(p, list);
    p->is_sound[part] = !p->with_factors || factor(p, part);
    if (!p->is_sound[part]) break;
    if (p->mb->tree != NULL) {
      mb_tree_in_part(p->mb, p->w, NULL, p->w->lambda, part);
    } else {
      mb_plane_in_part(p->mb, p->w, p->w->lambda, part);
    }
    break;
  case MOVE: move(p, part); break;
  case ACCELERATE: accelerate(p, part); break;
  }
}

static bool end_projection(projection *p, yoke_status status) {
  p->status = status;
  return false;
}

static bool fail_projection(projection *p) {
  p->fails = true;
  return false;
}

static bool go_on(projection *p, projection_round round) {
  p->round = round;
  return true;
}

/* q is where it shall be. */
static bool end_position(projection *p) {
  if (p->v == NULL) return end_projection(p, YOKE_OK);
  p->of_v = true;
  return go_on(p, LOOK);
}

/* Newton in the mass norm, as in multibody_ordinary.c. Where the last factors are near enough, v is projected with them; not with loops. */
static bool meet_look(projection *p) {
  if (p->is_fresh && !(p->is_finite[0] && p->is_finite[1])) return end_projection(p, YOKE_NON_FINITE);
  p->is_fresh         = false;
  const bool is_sound = set_rows(p, MB_CUT, p->of_v);
  if (!p->is_sound[0] || !p->is_sound[1] || !is_sound) return fail_projection(p);
  p->with_factors = true;
  if (p->of_v) return go_on(p, GO_IN);
  const double largest = residual(p);
  if (!isfinite(largest)) return end_projection(p, YOKE_NON_FINITE);
  if (largest <= p->limit) return end_position(p);
  if (p->n_moves > MB_POSITION_ITERATIONS) return end_projection(p, YOKE_NOT_CONVERGED);
  p->limit  = mb_position_tol;
  p->serves = p->v != NULL && largest <= mb_near_enough && !p->mb->has_loops;
  ++p->n_moves;
  return go_on(p, GO_IN);
}

static bool meet_inside(projection *p) {
  const yoke_multibody *mb = p->mb;
  if (!p->is_sound[0] || !p->is_sound[1]) return fail_projection(p);
  if (p->with_factors && !factor(p, MB_CUT)) return fail_projection(p);
  set_right_hand_side(p, &mb->parts->cut);
  if (mb->tree != NULL) {
    mb_tree_in_part(mb, p->w, NULL, p->w->lambda, MB_CUT);
  } else {
    mb_plane_between_solve(mb, p->w, p->w->lambda);
  }
  p->round = p->of_v ? ACCELERATE : MOVE;
  return true;
}

static bool meet_moved(projection *p) {
  if (!p->is_finite[0] || !p->is_finite[1]) return end_projection(p, YOKE_NON_FINITE);
  if (!p->serves) return go_on(p, LOOK);
  set_gaps(p, MB_CUT);
  if (!(residual(p) <= p->limit)) return go_on(p, LOOK);
  p->of_v         = true;
  p->with_factors = false;
  return go_on(p, GO_IN);
}

static bool meet_projected(void *user) {
  projection *p = user;
  switch (p->round) {
  case LOOK: return meet_look(p);
  case GO_IN: return meet_inside(p);
  case MOVE: return meet_moved(p);
  default: return end_projection(p, p->is_finite[0] && p->is_finite[1] ? YOKE_OK : YOKE_NON_FINITE);
  }
}

bool mb_parts_project(const yoke_multibody *mb, const mb_work *w, double t, double *q_moved, const double *q, double *v,
                      yoke_status *status) {
  projection p = {.mb       = mb,
                  .w        = w,
                  .t        = t,
                  .q        = q_moved,
                  .q_rows   = q,
                  .v        = v,
                  .of_v     = q_moved == NULL,
                  .is_fresh = true,
                  .limit    = mb_position_skip};
  begin(mb, w);
  yoke_lockstep_rounds(mb->parts->helpers, YOKE_N_PARTS, 0.0, project_part, meet_projected, &p);
  *status = p.status;
  return !p.fails;
}
