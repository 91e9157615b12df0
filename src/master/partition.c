#include "base/memory.h"
#include "base/text.h"
#include "master/partition_internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef YOKE_WITH_METIS
#include <metis.h>
#endif

void yoke_assignment_release(yoke_assignment *assignment) {
  free(assignment->part_of);
  free(assignment->pieces);
  *assignment = (yoke_assignment){0};
}

void yoke_proposal_release(yoke_proposal *proposal) {
  for (int i = 0; i < proposal->n_cuts; ++i) free(proposal->cuts[i].name);
  free(proposal->cuts);
  free(proposal->parts);
  *proposal = (yoke_proposal){0};
}

static yoke_status fail_memory(yoke_context *ctx) {
  return yoke_out_of_memory(ctx, "the proposal of a split");
}

typedef struct edge {
  int  a, b; /* groups, a < b */
  long weight;
} edge;

typedef struct body_graph {
  yoke_arena   arena;
  int         *n_pieces;  /* [n_bodies] of chains that are cut into parts of their own; else 0 */
  int         *parent;    /* [n_bodies] */
  int         *group;     /* [n_bodies] number of the group; -1: cut chain */
  bool        *is_loaded; /* [n_bodies] */
  int          n_groups;
  int         *cost; /* [n_groups] */
  int          n_elements;
  cut_element *elements; /* [n_connections] those between groups */
  int          n_edges;
  edge        *edges;   /* [n_connections] merged */
  int         *part_of; /* [n_groups] */
  bool         cuts_joints;
} body_graph;

static bool allocate_graph(const yoke_model *model, body_graph *g) {
  const size_t n = (size_t)model->n_bodies, m = (size_t)model->n_connections + 1;
  *g           = (body_graph){0};
  g->n_pieces  = yoke_arena_take(&g->arena, n, sizeof *g->n_pieces);
  g->parent    = yoke_arena_take(&g->arena, n, sizeof *g->parent);
  g->group     = yoke_arena_take(&g->arena, n, sizeof *g->group);
  g->is_loaded = yoke_arena_take(&g->arena, n, sizeof *g->is_loaded);
  g->cost      = yoke_arena_take(&g->arena, n, sizeof *g->cost);
  g->part_of   = yoke_arena_take(&g->arena, n, sizeof *g->part_of);
  g->elements  = yoke_arena_take(&g->arena, m, sizeof *g->elements);
  g->edges     = yoke_arena_take(&g->arena, m, sizeof *g->edges);
  return !g->arena.has_failed;
}

/* Sets of bodies that stay together: parent[i] is another body of the set, the smallest one its own parent. */
static int root_of(int *parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static void join_bodies(void *user, int body_a, int mass_a, int body_b, int mass_b) {
  int      *parent = user;
  const int a = root_of(parent, body_a), c = root_of(parent, body_b);
  (void)mass_a, (void)mass_b;
  if (a < c) parent[c] = a;
  if (c < a) parent[a] = c;
}

/* Chains larger than one and a half parts that nothing holds to other bodies get as many parts as they cost; the rest keeps one at least. */
static void choose_chains(const yoke_model *model, body_graph *g, int n_parts) {
  double total = 0.0;
  int    left  = n_parts;
  for (int k = 0; k < model->n_bodies; ++k) total += yoke_body_nv(&model->bodies[k]);
  for (int k = 0; k < model->n_bodies; ++k) { /* alone: neither a member nor the root of a larger set */
    const int root = root_of(g->parent, k);
    if (root != k) g->n_pieces[root] = g->n_pieces[k] = -1;
  }
  const int rest = model->n_bodies > 1 ? 1 : 0;
  for (int k = 0; k < model->n_bodies; ++k) {
    const double share    = yoke_body_nv(&model->bodies[k]) * n_parts / total;
    const bool   is_chain = model->bodies[k].kind == YOKE_BODY_CHAIN && g->n_pieces[k] == 0;
    int          n        = rest == 0 ? n_parts : (int)(share + 0.5);
    if (n > left - rest) n = left - rest;
    if (n > yoke_body_nv(&model->bodies[k])) n = yoke_body_nv(&model->bodies[k]);
    g->n_pieces[k] = is_chain && (share > 1.5 || rest == 0) && n >= 2 ? n : 0;
    left -= g->n_pieces[k];
  }
}

static void find_groups(const yoke_model *model, body_graph *g) {
  for (int k = 0; k < model->n_bodies; ++k) {
    const int root = root_of(g->parent, k);
    g->group[k]    = -1;
    if (model->bodies[k].kind == YOKE_BODY_CHAIN) g->is_loaded[k] = model->bodies[k].chain->n_loads > 0;
    if (g->n_pieces[k] > 0) continue;
    g->group[k] = root == k ? g->n_groups++ : g->group[root]; /* a root comes before the others */
    g->cost[g->group[k]] += yoke_body_nv(&model->bodies[k]);
  }
  for (int i = 0; i < model->n_loads; ++i) {
    const int body = model->frames[model->loads[i].frame].body;
    if (body >= 0 && cut_is_strong(&model->loads[i])) g->is_loaded[body] = true;
  }
}

static int compare_edges(const void *a, const void *b) {
  const edge *x = a, *y = b;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return (x->b > y->b) - (x->b < y->b);
}

static void find_edges(const yoke_model *model, body_graph *g, yoke_proposal *facts) {
  for (int i = 0; i < model->n_connections; ++i) {
    const yoke_connection *c = &model->connections[i];
    const yoke_frame      *f = &model->frames[c->frame[0]], *h = &model->frames[c->frame[1]];
    if (f->body < 0 || h->body < 0 || (g->group[f->body] >= 0 && g->group[f->body] == g->group[h->body])) continue;
    if (cut_is_rigid(c) && (!g->cuts_joints || f->body == h->body)) continue; /* of a chain within itself */
    cut_element *e = &g->elements[g->n_elements++];
    *e             = (cut_element){.connection = i,
                                   .body       = {f->body, h->body},
                                   .mass       = {f->mass, h->mass},
                                   .is_loaded  = g->is_loaded[f->body] || g->is_loaded[h->body]};
    cut_measure_connection(model, c, e);
    cut_note(e, facts);
  }
  /* sums of METIS stay below 2^30 */
  const double most = fmin(1e5, ldexp(1.0, 29) / (g->n_elements + 1));
  int          n    = 0;
  for (int i = 0; i < g->n_elements; ++i) {
    const cut_element *e = &g->elements[i];
    const int          a = g->group[e->body[0]], c = g->group[e->body[1]];
    const double       w = 1000.0 * cut_badness(e, facts->frequency_range[1]);
    if (a >= 0 && c >= 0) g->edges[n++] = (edge){a < c ? a : c, a < c ? c : a, 1 + (long)fmin(w, most)};
  }
  qsort(g->edges, (size_t)n, sizeof *g->edges, compare_edges);
  for (int i = 0; i < n; ++i) {
    edge *last = g->n_edges > 0 ? &g->edges[g->n_edges - 1] : NULL;
    if (last != NULL && last->a == g->edges[i].a && last->b == g->edges[i].b) {
      last->weight += g->edges[i].weight;
    } else {
      g->edges[g->n_edges++] = g->edges[i];
    }
  }
}

/* Groups that nothing joins: each to the part that costs least so far. */
static void pack(body_graph *g, int n_parts, int *part_cost) {
  for (int i = 0; i < g->n_groups; ++i) {
    int least = 0;
    for (int k = 1; k < n_parts; ++k) least = part_cost[k] < part_cost[least] ? k : least;
    g->part_of[i] = least;
    part_cost[least] += g->cost[i];
  }
}

#ifdef YOKE_WITH_METIS
/* The graph in METIS' form: neighbours of group i are adjacency[start[i]] ... */
static yoke_status run_metis(yoke_context *ctx, body_graph *g, int n_parts) {
  const size_t n = (size_t)g->n_groups, m = 2 * (size_t)g->n_edges;
  idx_t       *start     = yoke_arena_take(&g->arena, n + 1, sizeof *start);
  idx_t       *cost      = yoke_arena_take(&g->arena, n, sizeof *cost);
  idx_t       *part      = yoke_arena_take(&g->arena, n, sizeof *part);
  idx_t       *adjacency = yoke_arena_take(&g->arena, m, sizeof *adjacency);
  idx_t       *weight    = yoke_arena_take(&g->arena, m, sizeof *weight);
  if (g->arena.has_failed) return fail_memory(ctx);
  for (size_t i = 0; i < n; ++i) cost[i] = g->cost[i];
  for (int i = 0; i < g->n_edges; ++i) {
    start[g->edges[i].a + 1]++;
    start[g->edges[i].b + 1]++;
  }
  for (size_t i = 0; i < n; ++i) start[i + 1] += start[i];
  for (size_t i = 0; i < n; ++i) part[i] = start[i]; /* where the next neighbour goes */
  for (int i = 0; i < g->n_edges; ++i) {
    const edge *e      = &g->edges[i];
    weight[part[e->a]] = weight[part[e->b]] = (idx_t)e->weight;
    adjacency[part[e->a]++]                 = e->b;
    adjacency[part[e->b]++]                 = e->a;
  }
  /* A part may cost 3 % more than the mean; or 20 % more if that saves a fifth of what is cut. */
  static const idx_t imbalance[2] = {30, 200};
  idx_t              options[METIS_NOPTIONS], n_groups = g->n_groups, one = 1, parts = n_parts, least = 0;
  int                code = METIS_OK;
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED]  = 1;
  options[METIS_OPTION_NCUTS] = 20;
  options[METIS_OPTION_NITER] = 20;
  for (int trial = 0; trial < 2 && code == METIS_OK; ++trial) {
    idx_t cut                     = 0;
    options[METIS_OPTION_UFACTOR] = imbalance[trial];
    code                          = (n_parts > 16 ? METIS_PartGraphKway : METIS_PartGraphRecursive)(
        &n_groups, &one, start, adjacency, cost, NULL, weight, &parts, NULL, NULL, options, &cut, part);
    if (trial > 0 && cut >= 0.8 * least) break;
    least = cut;
    for (size_t i = 0; i < n; ++i) g->part_of[i] = (int)part[i];
  }
  if (code == METIS_ERROR_MEMORY) return fail_memory(ctx);
  return code == METIS_OK ? YOKE_OK : yoke_fail(ctx, YOKE_E_INTERNAL, "METIS failed with code %d", code);
}
#else
static yoke_status run_metis(yoke_context *ctx, body_graph *g, int n_parts) {
  (void)g, (void)n_parts;
  return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                   "this build has no METIS: it proposes splits of single chains only; write the split by hand, or "
                   "build with YOKE_WITH_METIS");
}
#endif

/* METIS may leave a part of a small graph empty: it gets, from the costliest part with more than one group, the group that costs most
 * there without being all of it. */
static void fill_empty_parts(body_graph *g, int n_parts, int *part_cost, int *part_size) {
  for (int i = 0; i < g->n_groups; ++i) {
    part_cost[g->part_of[i]] += g->cost[i];
    part_size[g->part_of[i]]++;
  }
  for (int k = 0; k < n_parts; ++k) {
    if (part_size[k] > 0) continue;
    int from = -1, group = -1;
    for (int p = 0; p < n_parts; ++p) {
      if (part_size[p] > 1 && (from < 0 || part_cost[p] > part_cost[from])) from = p;
    }
    if (from < 0) return;
    for (int i = 0; i < g->n_groups; ++i) {
      if (g->part_of[i] == from && (group < 0 || g->cost[i] > g->cost[group])) group = i;
    }
    g->part_of[group] = k;
    part_size[from]--, part_size[k]++;
    part_cost[from] -= g->cost[group];
    part_cost[k] += g->cost[group];
  }
}

/* Parts in the order of their first body, after `first`. */
static void number_parts(body_graph *g, const yoke_model *model, int first, int n_parts, int *number) {
  int n = first;
  for (int k = 0; k < n_parts; ++k) number[k] = -1;
  for (int k = 0; k < model->n_bodies; ++k) {
    if (g->group[k] < 0) continue;
    const int part = g->part_of[g->group[k]];
    if (number[part] < 0) number[part] = n++;
  }
  for (int i = 0; i < g->n_groups; ++i) g->part_of[i] = number[g->part_of[i]];
}

/* Groups into the parts first .. first + n_parts - 1. */
static yoke_status divide_groups(yoke_context *ctx, const yoke_model *model, body_graph *g, int first, int n_parts) {
  if (n_parts == 0 && g->n_groups == 0) return YOKE_OK;
  if (g->n_groups < n_parts) {
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "the model cannot be split into %d parts, it has only %d %s of bodies that are not held together by %s",
        first + n_parts, first + g->n_groups, first + g->n_groups == 1 ? "group" : "groups",
        g->cuts_joints ? "loads, events or laws"
                       : "rigid joints or loads; give a joint `stiffness` to make it flexible");
  }
  int *cost = yoke_arena_take(&g->arena, (size_t)n_parts, sizeof *cost);
  int *size = yoke_arena_take(&g->arena, (size_t)n_parts, sizeof *size);
  if (g->arena.has_failed) return fail_memory(ctx);
  if (n_parts > 1 && g->n_edges == 0) {
    pack(g, n_parts, cost);
    memset(cost, 0, (size_t)n_parts * sizeof *cost);
  } else if (n_parts > 1) {
    YOKE_TRY(run_metis(ctx, g, n_parts));
  }
  fill_empty_parts(g, n_parts, cost, size);
  number_parts(g, model, first, n_parts, size);
  return YOKE_OK;
}

static int part_at(const yoke_assignment *a, const body_graph *g, int body, int mass) {
  int part = a->part_of[body];
  if (g->n_pieces[body] > 0) {
    while (mass >= a->pieces[part].first + a->pieces[part].n) ++part;
  }
  return part;
}

static yoke_status take_bodies(yoke_context *ctx, const yoke_model *model, const body_graph *g, yoke_assignment *out,
                               yoke_proposal *facts) {
  for (int k = 0; k < model->n_bodies; ++k) {
    if (g->group[k] < 0) continue;
    out->part_of[k] = g->part_of[g->group[k]];
    facts->parts[out->part_of[k]].n_bodies++;
    facts->parts[out->part_of[k]].cost += yoke_body_nv(&model->bodies[k]);
  }
  for (int i = 0; i < g->n_elements; ++i) {
    const cut_element     *e       = &g->elements[i];
    const yoke_connection *c       = &model->connections[e->connection];
    const int              part[2] = {part_at(out, g, e->body[0], e->mass[0]), part_at(out, g, e->body[1], e->mass[1])};
    if (part[0] == part[1]) continue;
    YOKE_TRY(cut_take(ctx, e, yoke_text_copy(c->name), yoke_connection_kind_name(c->kind), part, facts));
  }
  return YOKE_OK;
}

static void join_all(const yoke_model *model, body_graph *g) {
  for (int k = 0; k < model->n_bodies; ++k) g->parent[k] = k;
  cut_visit_bonds(model, g->cuts_joints, join_bodies, g->parent);
  for (int k = 0; k < model->n_bodies; ++k) { /* points of a flexible body stay together */
    const int number = model->bodies[k].flexible;
    if (number > 0) join_bodies(g->parent, k, 0, model->flexibles[number - 1].first_body, 0);
  }
}

/* Has the model fewer groups than parts are asked for? Chains may be cut into many. */
static bool is_short_of_groups(const yoke_model *model, body_graph *g, int n_parts) {
  int n = 0;
  join_all(model, g);
  for (int k = 0; k < model->n_bodies; ++k) {
    if (model->bodies[k].kind == YOKE_BODY_CHAIN) return false;
    n += root_of(g->parent, k) == k;
  }
  return n < n_parts;
}

static yoke_status propose(yoke_context *ctx, const yoke_model *model, body_graph *g, yoke_assignment *out,
                           yoke_proposal *facts) {
  int first = 0;
  join_all(model, g);
  choose_chains(model, g, out->n_parts);
  for (int k = 0; k < model->n_bodies; ++k) {
    if (g->n_pieces[k] == 0) continue;
    out->part_of[k] = first;
    YOKE_TRY(cut_chain(ctx, model, k, first, g->n_pieces[k], out, facts));
    first += g->n_pieces[k];
  }
  find_groups(model, g);
  find_edges(model, g, facts);
  facts->n_groups += g->n_groups;
  YOKE_TRY(divide_groups(ctx, model, g, first, out->n_parts - first));
  return take_bodies(ctx, model, g, out, facts);
}

/* The model without ports of foreign subsystems, whose bodies are the last ones, and what ends there. false: no memory. */
static bool leave_ports(const yoke_model *model, yoke_model *own, yoke_connection **connections) {
  *own         = *model;
  *connections = yoke_allocate((size_t)model->n_connections + 1, sizeof **connections);
  if (*connections == NULL) return false;
  own->connections   = *connections;
  own->n_connections = 0;
  own->n_bodies -= yoke_model_n_port_bodies(model);
  for (int i = 0; i < model->n_connections; ++i) {
    const int *frame = model->connections[i].frame;
    if (model->frames[frame[0]].body < own->n_bodies && model->frames[frame[1]].body < own->n_bodies)
      own->connections[own->n_connections++] = model->connections[i];
  }
  return true;
}

static yoke_status propose_own(yoke_context *ctx, const yoke_model *model, int n_parts, bool may_cut_joints,
                               yoke_assignment *out, yoke_proposal *facts) {
  if (model->n_bodies == 0) return yoke_fail(ctx, YOKE_E_USAGE, "the model has no bodies to split");
  body_graph g;
  facts->parts = yoke_allocate((size_t)n_parts, sizeof *facts->parts);
  out->pieces  = yoke_allocate((size_t)n_parts, sizeof *out->pieces);
  out->part_of = yoke_allocate((size_t)model->n_bodies, sizeof *out->part_of);
  yoke_status status =
      allocate_graph(model, &g) && facts->parts && out->pieces && out->part_of ? YOKE_OK : fail_memory(ctx);
  if (facts->parts) facts->n_parts = n_parts;
  if (status == YOKE_OK) g.cuts_joints = may_cut_joints && is_short_of_groups(model, &g, n_parts);
  if (status == YOKE_OK) status = propose(ctx, model, &g, out, facts);
  yoke_arena_free(&g.arena);
  double sum = 0.0, largest = 0.0;
  for (int k = 0; k < facts->n_parts; ++k) {
    sum += facts->parts[k].cost;
    largest = fmax(largest, facts->parts[k].cost);
  }
  facts->balance = sum > 0.0 ? largest * n_parts / sum : 1.0;
  return status;
}

yoke_status yoke_partition_propose(yoke_context *ctx, const yoke_model *model, int n_parts, bool may_cut_joints,
                                   yoke_assignment *out, yoke_proposal *facts) {
  yoke_model       own;
  yoke_connection *connections;
  *out   = (yoke_assignment){.n_parts = n_parts};
  *facts = (yoke_proposal){0};
  if (!leave_ports(model, &own, &connections)) return fail_memory(ctx);
  out->n_bodies            = own.n_bodies;
  const yoke_status status = propose_own(ctx, &own, n_parts, may_cut_joints, out, facts);
  free(connections);
  return status;
}
