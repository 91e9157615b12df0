#include "coupling/state_reset.h"

#include "base/finite.h"
#include "linalg/lapack.h"
#include "base/memory.h"
#include "linalg/block_ldl.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_ROWS            = YOKE_JOINT_MAX_ROWS,
  POSITION_ITERATIONS = 12,
  VELOCITY_ITERATIONS = 3,
  DENSE_LIMIT         = 600, /* rows up to which the minimum-norm solve is dense */
  SWEEPS              = 6
};

static const double pivot_limit = 1e-11; /* relative to the diagonal of S */
static const double rank_limit  = 1e-11; /* condition of S kept by the minimum-norm solve */
static const double tolerance   = 2e-15; /* |s| / size, |s'| / speed that count as 0 */
static const double rounding =
    1e-11; /* |s| / (size + H speed), |s'| / (speed + size / H) below which an iteration that no longer helps has met its rounding */

/* One coupling that is reset. */
typedef struct reset_wire {
  const graph_wire *wire;
  int               n, row; /* rows and the first of them */
  yoke_reset_rows   rows;   /* at the present trial */
  size_t            diagonal;
} reset_wire;

/* One side of such a coupling in a subsystem. */
typedef struct reset_end {
  int wire, side, first; /* reset_wire; its rows start here among those of the subsystem */
} reset_end;

typedef struct reset_subsystem {
  int            index; /* in the graph */
  int            n_ends, n;
  reset_end     *ends;
  yoke_port_row *rows;  /* [n] */
  double        *W;     /* [n, n] */
  double        *kappa; /* [n] */
  int           *edge;  /* [n_ends, n_ends] block of S between ends p > q */
} reset_subsystem;

struct yoke_state_reset {
  yoke_arena       arena;
  bool             is_trial;                 /* trial states and y_new, else accepted states and y */
  int              n_wires, n_subsystems, n; /* n: rows */
  reset_wire      *wires;
  int             *of_wire; /* [graph wires] reset_wire, -1: none */
  reset_subsystem *subsystems;
  yoke_block_ldl  *ldl;
  int              n_edges;
  size_t          *edge_at;  /* [n_edges] place of a block in values */
  int             *edge_row; /* [n_edges] which coupling has its rows */
  double          *values, *x, *b, *scale;
  double          *dense, *dense_work;
  int             *pivot;
};

/* ---- creation ---- */

static yoke_status check_memory(const yoke_state_reset *r, yoke_context *ctx) {
  return yoke_arena_check(&r->arena, ctx, "the state reset");
}

void yoke_state_reset_destroy(yoke_state_reset **reset) {
  yoke_state_reset *r = *reset;
  if (r == NULL) return;
  yoke_block_ldl_destroy(&r->ldl);
  yoke_arena_free(&r->arena);
  free(r);
  *reset = NULL;
}

static bool asks_for_reset(const yoke_wire *wire) {
  return wire->formulation->joint != NULL && wire->formulation->joint->resets_states;
}

static bool is_wanted(const yoke_graph *g, bool of_trials) {
  for (int i = 0; i < g->n_wires; ++i) {
    if (of_trials ? asks_for_reset(&g->wires[i].wire) : g->wires[i].wire.joint != NULL) return true;
  }
  return false;
}

/* The subsystem that stands for all that joints connect with this one. */
static int group_of(int *leader, int subsystem) {
  while (leader[subsystem] != subsystem) subsystem = leader[subsystem] = leader[leader[subsystem]];
  return subsystem;
}

/* takes[i]: does coupling i take part? Of accepted states every joint. In trials those that ask for it, and every joint that bodies which they
 * move can open: those of all subsystems that joints connect with theirs. */
static void choose_wires(const yoke_state_reset *r, const yoke_graph *g, int *leader, bool *asks, bool *takes) {
  for (int i = 0; i < g->n_subsystems; ++i) leader[i] = i;
  for (int i = 0; i < g->n_wires; ++i) {
    const int *ends = g->wires[i].wire.subsystem;
    if (g->wires[i].wire.joint != NULL) leader[group_of(leader, ends[0])] = group_of(leader, ends[1]);
  }
  for (int i = 0; i < g->n_wires; ++i) {
    const yoke_wire *wire = &g->wires[i].wire;
    if (!r->is_trial || asks_for_reset(wire)) asks[group_of(leader, wire->subsystem[0])] = true;
  }
  for (int i = 0; i < g->n_wires; ++i) {
    const yoke_wire *wire = &g->wires[i].wire;
    takes[i]              = wire->joint != NULL && asks[group_of(leader, wire->subsystem[0])];
  }
}

static void *state_of(const yoke_state_reset *r, const graph_subsystem *s) {
  return r->is_trial && s->trial != NULL ? s->trial : s->accepted;
}

static double *outputs_of(const yoke_state_reset *r, const graph_subsystem *s) {
  return r->is_trial ? s->y_new : s->y;
}

static yoke_status take_wires(yoke_state_reset *r, const yoke_graph *g, yoke_context *ctx) {
  yoke_arena        scratch = {0};
  int              *leader  = yoke_arena_take(&scratch, (size_t)g->n_subsystems, sizeof *leader);
  bool             *asks    = yoke_arena_take(&scratch, (size_t)g->n_subsystems, sizeof *asks);
  bool             *takes   = yoke_arena_take(&scratch, (size_t)g->n_wires, sizeof *takes);
  const yoke_status status  = yoke_arena_check(&scratch, ctx, "the state reset");
  if (status == YOKE_OK) choose_wires(r, g, leader, asks, takes);
  for (int i = 0; status == YOKE_OK && i < g->n_wires; ++i) {
    const yoke_wire *wire = &g->wires[i].wire;
    r->of_wire[i]         = -1;
    if (!takes[i]) continue;
    r->of_wire[i]   = r->n_wires;
    reset_wire *out = &r->wires[r->n_wires++];
    out->wire       = &g->wires[i];
    out->n          = wire->joint->n;
    out->row        = r->n;
    r->n += out->n;
  }
  yoke_arena_free(&scratch);
  return status;
}

/* The first formulation that resets states. */
static const char *asking_formulation(const yoke_graph *g) {
  int i = 0;
  while (i < g->n_wires - 1 && !asks_for_reset(&g->wires[i].wire)) ++i;
  return g->wires[i].wire.formulation->name;
}

static yoke_status check_abilities(const yoke_state_reset *r, const yoke_graph *g, const reset_subsystem *s,
                                   yoke_context *ctx) {
  const yoke_subsystem *subsystem = g->subsystems[s->index].subsystem;
  if (subsystem->ops->reset != NULL) return YOKE_OK;
  const yoke_wire *wire = &r->wires[s->ends[0].wire].wire->wire;
  if (!r->is_trial)
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                     "coupling '%s': an event has set states, and subsystem '%s' cannot be reset to close the joint",
                     wire->name, subsystem->name);
  return yoke_fail(ctx, YOKE_E_MODEL,
                   "coupling '%s': subsystem '%s' cannot be reset, which formulation %s needs%s; use another solver "
                   "there, or formulation stabilized-index-2",
                   wire->name, subsystem->name, asking_formulation(g),
                   asks_for_reset(wire) ? "" : " in a model that mixes it with others");
}

static yoke_status take_subsystem(yoke_state_reset *r, const yoke_graph *g, int index, yoke_context *ctx) {
  const graph_subsystem *part = &g->subsystems[index];
  int                    room = 0;
  for (int e = 0; e < part->n_ends; ++e) room += r->of_wire[part->ends[e].wire] >= 0;
  if (room == 0) return YOKE_OK;
  reset_subsystem *s = &r->subsystems[r->n_subsystems++];
  *s = (reset_subsystem){.index = index, .ends = yoke_arena_take(&r->arena, (size_t)room, sizeof *s->ends)};
  YOKE_TRY(check_memory(r, ctx));
  for (int e = 0; e < part->n_ends; ++e) {
    const int w = r->of_wire[part->ends[e].wire];
    if (w < 0) continue;
    s->ends[s->n_ends++] = (reset_end){w, part->ends[e].side, s->n};
    s->n += r->wires[w].n;
  }
  YOKE_TRY(check_abilities(r, g, s, ctx));
  const size_t n = (size_t)s->n, n_ends = (size_t)s->n_ends;
  s->rows  = yoke_arena_take(&r->arena, n, sizeof *s->rows);
  s->W     = yoke_arena_take(&r->arena, n * n, sizeof *s->W);
  s->kappa = yoke_arena_take(&r->arena, n, sizeof *s->kappa);
  s->edge  = yoke_arena_take(&r->arena, n_ends * n_ends, sizeof *s->edge);
  return check_memory(r, ctx);
}

/* Blocks of S beside the diagonal: pairs of couplings in one subsystem (a coupling has one side there). */
static yoke_status take_edges(yoke_state_reset *r, yoke_context *ctx) {
  size_t n = 1;
  for (int i = 0; i < r->n_subsystems; ++i) n += (size_t)r->subsystems[i].n_ends * (size_t)r->subsystems[i].n_ends;
  yoke_arena scratch = {0};
  int       *a       = yoke_arena_take(&scratch, n, sizeof *a);
  int       *b       = yoke_arena_take(&scratch, n, sizeof *b);
  int       *size    = yoke_arena_take(&scratch, (size_t)r->n_wires + 1, sizeof *size);
  r->edge_at         = yoke_arena_take(&r->arena, n, sizeof *r->edge_at);
  r->edge_row        = yoke_arena_take(&r->arena, n, sizeof *r->edge_row);
  yoke_status status = yoke_arena_check(&scratch, ctx, "the state reset");
  if (status == YOKE_OK) status = check_memory(r, ctx);
  for (int i = 0; status == YOKE_OK && i < r->n_subsystems; ++i) {
    const reset_subsystem *s = &r->subsystems[i];
    for (int p = 0; p < s->n_ends; ++p) {
      for (int q = 0; q < p; ++q) {
        s->edge[p * s->n_ends + q] = r->n_edges;
        a[r->n_edges]              = s->ends[p].wire;
        b[r->n_edges++]            = s->ends[q].wire;
      }
    }
  }
  for (int w = 0; status == YOKE_OK && w < r->n_wires; ++w) size[w] = r->wires[w].n;
  if (status == YOKE_OK) status = yoke_block_ldl_create(ctx, r->n_wires, size, r->n_edges, a, b, &r->ldl);
  for (int e = 0; status == YOKE_OK && e < r->n_edges; ++e) {
    r->edge_at[e] = yoke_block_ldl_edge(r->ldl, e, &r->edge_row[e]);
  }
  for (int w = 0; status == YOKE_OK && w < r->n_wires; ++w) r->wires[w].diagonal = yoke_block_ldl_diagonal(r->ldl, w);
  yoke_arena_free(&scratch);
  return status;
}

static yoke_status take_memory(yoke_state_reset *r, yoke_context *ctx) {
  const size_t n = (size_t)r->n, nd = r->n <= DENSE_LIMIT ? n : 0;
  r->values     = yoke_arena_take(&r->arena, yoke_block_ldl_n_values(r->ldl), sizeof *r->values);
  r->x          = yoke_arena_take(&r->arena, n, sizeof *r->x);
  r->b          = yoke_arena_take(&r->arena, n, sizeof *r->b);
  r->scale      = yoke_arena_take(&r->arena, n, sizeof *r->scale);
  r->dense      = yoke_arena_take(&r->arena, nd * nd, sizeof *r->dense);
  r->dense_work = yoke_arena_take(&r->arena, 70 * (nd + 1), sizeof *r->dense_work);
  r->pivot      = yoke_arena_take(&r->arena, nd, sizeof *r->pivot);
  return check_memory(r, ctx);
}

yoke_status yoke_state_reset_create(yoke_context *ctx, const yoke_graph *g, bool of_trials, yoke_state_reset **out) {
  *out = NULL;
  if (!is_wanted(g, of_trials)) return YOKE_OK;
  yoke_state_reset *r = yoke_allocate(1, sizeof *r);
  if (r == NULL) return yoke_out_of_memory(ctx, "the state reset");
  r->is_trial        = of_trials;
  r->arena           = yoke_arena_of(ctx);
  r->wires           = yoke_arena_take(&r->arena, (size_t)g->n_wires, sizeof *r->wires);
  r->of_wire         = yoke_arena_take(&r->arena, (size_t)g->n_wires, sizeof *r->of_wire);
  r->subsystems      = yoke_arena_take(&r->arena, (size_t)g->n_subsystems, sizeof *r->subsystems);
  yoke_status status = check_memory(r, ctx);
  if (status == YOKE_OK) status = take_wires(r, g, ctx);
  for (int i = 0; status == YOKE_OK && i < g->n_subsystems; ++i) status = take_subsystem(r, g, i, ctx);
  if (status == YOKE_OK) status = take_edges(r, ctx);
  if (status == YOKE_OK) status = take_memory(r, ctx);
  if (status != YOKE_OK) {
    yoke_state_reset_destroy(&r);
    return status;
  }
  *out = r;
  return YOKE_OK;
}

/* ---- the system of all rows ---- */

/* Rows of all couplings from the trial outputs. */
static void look_at_rows(yoke_state_reset *r, const yoke_graph *g) {
  for (int w = 0; w < r->n_wires; ++w) {
    reset_wire      *wire = &r->wires[w];
    const yoke_wire *own  = &wire->wire->wire;
    const double    *y[2];
    for (int side = 0; side < 2; ++side) {
      y[side] = graph_port(wire->wire, side, outputs_of(r, &g->subsystems[own->subsystem[side]]));
    }
    yoke_joint_reset_rows(own->joint, own->shape, y, &wire->rows);
  }
  for (int i = 0; i < r->n_subsystems; ++i) {
    const reset_subsystem *s = &r->subsystems[i];
    for (int e = 0; e < s->n_ends; ++e) {
      const reset_end  *end  = &s->ends[e];
      const reset_wire *wire = &r->wires[end->wire];
      for (int k = 0; k < wire->n; ++k) {
        yoke_port_row *row = &s->rows[end->first + k];
        row->port          = wire->wire->wire.port[end->side];
        memcpy(row->wrench, wire->rows.L[end->side][k], sizeof row->wrench);
      }
    }
  }
}

/* S += the block of W between ends p >= q. */
static void add_block(yoke_state_reset *r, const reset_subsystem *s, int p, int q) {
  const reset_end *a = &s->ends[p], *b = &s->ends[q];
  const int        na = r->wires[a->wire].n, nb = r->wires[b->wire].n;
  const int        edge   = p == q ? -1 : s->edge[p * s->n_ends + q];
  const bool       turned = edge >= 0 && r->edge_row[edge] != a->wire; /* the block has the rows of b */
  double          *S      = r->values + (edge >= 0 ? r->edge_at[edge] : r->wires[a->wire].diagonal);
  for (int i = 0; i < na; ++i) {
    for (int j = 0; j < nb; ++j) S[turned ? j * na + i : i * nb + j] += s->W[(a->first + i) * s->n + b->first + j];
  }
}

/* S with its diagonal raised by `shift` of itself; scale = 1 / sqrt(S_ii). */
static void assemble(yoke_state_reset *r, double shift) {
  memset(r->values, 0, yoke_block_ldl_n_blocks(r->ldl) * sizeof *r->values);
  for (int i = 0; i < r->n_subsystems; ++i) {
    for (int p = 0; p < r->subsystems[i].n_ends; ++p) {
      for (int q = 0; q <= p; ++q) add_block(r, &r->subsystems[i], p, q);
    }
  }
  for (int w = 0; w < r->n_wires; ++w) {
    const int n = r->wires[w].n;
    for (int i = 0; i < n; ++i) {
      double *d                     = &r->values[r->wires[w].diagonal + (size_t)(i * (n + 1))];
      r->scale[r->wires[w].row + i] = *d > 0.0 ? 1.0 / sqrt(*d) : 0.0;
      *d *= 1.0 + shift;
    }
  }
}

/* Block S of couplings a and b, scaled to a unit diagonal, into the dense matrix and its transpose. */
static void put_dense(const yoke_state_reset *r, const reset_wire *a, const reset_wire *b, const double *S) {
  const size_t n = (size_t)r->n;
  for (int i = 0; i < a->n; ++i) {
    for (int j = 0; j < b->n; ++j) {
      const size_t row = (size_t)a->row + (size_t)i, col = (size_t)b->row + (size_t)j;
      r->dense[row * n + col] = r->dense[col * n + row] = S[i * b->n + j] * r->scale[row] * r->scale[col];
    }
  }
}

static void fill_dense(const yoke_state_reset *r) {
  memset(r->dense, 0, (size_t)r->n * (size_t)r->n * sizeof *r->dense);
  for (int w = 0; w < r->n_wires; ++w) put_dense(r, &r->wires[w], &r->wires[w], r->values + r->wires[w].diagonal);
  for (int i = 0; i < r->n_subsystems; ++i) {
    const reset_subsystem *s = &r->subsystems[i];
    for (int p = 0; p < s->n_ends; ++p) {
      for (int q = 0; q < p; ++q) {
        const int  edge   = s->edge[p * s->n_ends + q];
        const bool turned = r->edge_row[edge] != s->ends[p].wire;
        put_dense(r, &r->wires[s->ends[turned ? q : p].wire], &r->wires[s->ends[turned ? p : q].wire],
                  r->values + r->edge_at[edge]);
      }
    }
  }
}

static yoke_status solve_dense(const yoke_state_reset *r, double *x) {
  const int  n    = r->n;
  lapack_int rank = 0;
  fill_dense(r);
  for (int i = 0; i < n; ++i) {
    x[i] *= r->scale[i];
    r->pivot[i] = 0;
  }
  const lapack_int info =
      lapack_dgelsy_work(n, n, 1, r->dense, n, x, n, r->pivot, rank_limit, &rank, r->dense_work, 70 * (n + 1));
  for (int i = 0; i < n; ++i) x[i] *= r->scale[i];
  return info == 0 ? YOKE_OK : YOKE_SINGULAR;
}

/* Many rows: (S + e D) x_{k+1} = b + e D x_k from x_0 = 0, D = diag(S), tends to the solution of least scaled norm. */
static yoke_status solve_regularised(yoke_state_reset *r, double *x) {
  const double e = 1e-8;
  memcpy(r->b, x, (size_t)r->n * sizeof *x);
  assemble(r, e);
  if (yoke_block_ldl_factor(r->ldl, r->values, 0.01 * e) != YOKE_OK) return YOKE_SINGULAR;
  yoke_block_ldl_solve(r->ldl, r->values, x);
  for (int sweep = 1; sweep < SWEEPS; ++sweep) {
    for (int i = 0; i < r->n; ++i) {
      const double d = r->scale[i] > 0.0 ? 1.0 / (r->scale[i] * r->scale[i]) : 0.0;
      x[i]           = r->b[i] + e * d * x[i];
    }
    yoke_block_ldl_solve(r->ldl, r->values, x);
  }
  return YOKE_OK;
}

/* S x = x for the present answers W. */
static yoke_status solve(yoke_state_reset *r, double *x) {
  for (int i = 0; i < r->n_subsystems; ++i) {
    if (!yoke_all_finite(r->subsystems[i].n * r->subsystems[i].n, r->subsystems[i].W)) return YOKE_NON_FINITE;
  }
  assemble(r, 0.0);
  if (yoke_block_ldl_factor(r->ldl, r->values, pivot_limit) == YOKE_OK) {
    yoke_block_ldl_solve(r->ldl, r->values, x);
  } else {
    assemble(r, 0.0);
    YOKE_TRY(r->n <= DENSE_LIMIT ? solve_dense(r, x) : solve_regularised(r, x));
  }
  return yoke_all_finite(r->n, x) ? YOKE_OK : YOKE_NON_FINITE;
}

/* ---- pushes ---- */

/* Largest |s| (|s'| when `velocities`), NaN when something is not finite: in units of its own size, and of what rounding of positions and
 * velocities makes of them over a step. Near the origin and at rest the first vanishes, the second does not. */
typedef struct remainder_size {
  double own, step;
} remainder_size;

/* Minus all of them into x. */
static remainder_size residual(const yoke_state_reset *r, double H, bool velocities) {
  remainder_size largest = {0.0, 0.0};
  for (int w = 0; w < r->n_wires; ++w) {
    const reset_wire *wire = &r->wires[w];
    for (int i = 0; i < wire->n; ++i) {
      const double value  = velocities ? wire->rows.rate[i] : wire->rows.s[i];
      const double size   = velocities ? wire->rows.speed : wire->rows.size;
      const double step   = velocities ? wire->rows.size / H : wire->rows.speed * H;
      r->x[wire->row + i] = -value;
      if (!(fabs(value) / size <= largest.own)) largest.own = fabs(value) / size;
      if (!(fabs(value) / (size + step) <= largest.step)) largest.step = fabs(value) / (size + step);
    }
  }
  return largest;
}

/* Inputs of the last pass, or those at T_N. */
static void signal_of(const yoke_state_reset *r, yoke_graph *g, int index, double *times, yoke_signal *signal) {
  if (r->is_trial)
    graph_signal(g, index, -1, 0.0, times, g->signal_c[0], signal);
  else
    graph_held_signal(g, index, g->block->past_t[0], times, g->signal_c[0], signal);
}

/* New outputs of a subsystem; behind an event with its own motion, also where that is given by another one's. */
static yoke_status show(const yoke_state_reset *r, yoke_graph *g, int index) {
  graph_subsystem *s = &g->subsystems[index];
  double           times[GRAPH_MAX_BREAKS + 2];
  yoke_signal      signal;
  const void      *state = state_of(r, s);
  signal_of(r, g, index, times, &signal);
  YOKE_TRY(yoke_subsystem_output(s->subsystem, g->scratch[0], state, &signal, YOKE_SIDE_LEFT, outputs_of(r, s)));
  if (!r->is_trial && s->subsystem->ops->reset->motions != NULL)
    s->subsystem->ops->reset->motions(s->subsystem, g->scratch[0], state, outputs_of(r, s));
  return YOKE_OK;
}

/* Energy that closes joints behind an event is work from outside, as that of the event itself. */
static void account(const yoke_state_reset *r, yoke_graph *g, double sign) {
  for (int i = 0; !r->is_trial && i < r->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[r->subsystems[i].index];
    if (s->subsystem->ops->reset->account != NULL)
      s->subsystem->ops->reset->account(s->subsystem, g->scratch[0], state_of(r, s), sign);
  }
}

/* The solver learns of the new state. Behind an event so does the search for others. */
static yoke_status take(const yoke_state_reset *r, yoke_graph *g, int index, yoke_context *ctx) {
  graph_subsystem *s = &g->subsystems[index];
  double           times[GRAPH_MAX_BREAKS + 2];
  yoke_signal      signal;
  void            *state = state_of(r, s);
  signal_of(r, g, index, times, &signal);
  YOKE_TRY(s->subsystem->ops->reset->reset(s->subsystem, g->scratch[0], state, &signal, ctx));
  if (!r->is_trial && s->subsystem->ops->events != NULL)
    s->subsystem->ops->events->begin(s->subsystem, g->scratch[0], state, &signal);
  return yoke_subsystem_output(s->subsystem, g->scratch[0], state, &signal, YOKE_SIDE_LEFT, outputs_of(r, s));
}

/* What is done with every subsystem that takes part. */
typedef struct reset_call {
  yoke_state_reset *r;
  bool              velocities;
  yoke_context     *ctx;
} reset_call;

static int index_of(const void *user, int i) {
  const reset_call *call = user;
  return call->r->subsystems[i].index;
}

static yoke_status show_one(yoke_graph *g, int i, void *user) {
  const reset_call *call = user;
  return show(call->r, g, index_of(call, i));
}

static yoke_status take_one(yoke_graph *g, int i, void *user) {
  const reset_call *call = user;
  return take(call->r, g, index_of(call, i), call->ctx);
}

static yoke_status respond_one(yoke_graph *g, int i, void *user) {
  const reset_call      *call  = user;
  const reset_subsystem *s     = &call->r->subsystems[i];
  const graph_subsystem *owner = &g->subsystems[s->index];
  return owner->subsystem->ops->reset->row_response(owner->subsystem, g->scratch[0], state_of(call->r, owner), s->n,
                                                    s->rows, s->W);
}

/* Impulses x along all rows. */
static yoke_status push_one(yoke_graph *g, int i, void *user) {
  const reset_call       *call  = user;
  const yoke_state_reset *r     = call->r;
  const reset_subsystem  *s     = &r->subsystems[i];
  graph_subsystem        *owner = &g->subsystems[s->index];
  for (int e = 0; e < s->n_ends; ++e) {
    const reset_wire *wire = &r->wires[s->ends[e].wire];
    memcpy(s->kappa + s->ends[e].first, r->x + wire->row, (size_t)wire->n * sizeof *s->kappa);
  }
  YOKE_TRY(owner->subsystem->ops->reset->push(owner->subsystem, g->scratch[0], state_of(r, owner), s->n, s->rows,
                                              call->velocities ? NULL : s->kappa, call->velocities ? s->kappa : NULL));
  return show(r, g, s->index);
}

static yoke_status each(reset_call *call, yoke_graph *g, yoke_status (*one)(yoke_graph *g, int i, void *user)) {
  return graph_each(g, call->r->n_subsystems, index_of, one, call);
}

/* Newton on one level until nothing is left or rounding stops it. */
static yoke_status bring_down(yoke_state_reset *r, yoke_graph *g, bool velocities, bool *moved) {
  const int  most = velocities ? VELOCITY_ITERATIONS : POSITION_ITERATIONS;
  double     last = INFINITY;
  reset_call call = {.r = r, .velocities = velocities};
  for (int k = 0;; ++k) {
    look_at_rows(r, g);
    const remainder_size now = residual(r, r->is_trial ? g->H : g->block->H, velocities);
    if (!isfinite(now.step)) return YOKE_NON_FINITE;
    if (now.own <= tolerance || (now.step <= rounding && now.step > 0.1 * last)) return YOKE_OK;
    if (k == most) return now.step <= rounding ? YOKE_OK : YOKE_NOT_CONVERGED;
    last = now.step;
    YOKE_TRY(each(&call, g, respond_one));
    YOKE_TRY(yoke_graph_agree(g, "impulses", solve(r, r->x), (size_t)r->n * sizeof *r->x, r->x));
    if (!*moved) account(r, g, -1.0);
    *moved = true;
    YOKE_TRY(each(&call, g, push_one));
  }
}

yoke_status yoke_state_reset_run(yoke_state_reset *r, yoke_graph *g, yoke_context *ctx) {
  bool        moved  = false;
  reset_call  call   = {.r = r, .ctx = ctx};
  yoke_status status = r->is_trial ? YOKE_OK : each(&call, g, show_one);
  if (status == YOKE_OK) status = bring_down(r, g, false, &moved);
  if (status == YOKE_OK) status = bring_down(r, g, true, &moved);
  if (moved && status == YOKE_OK) account(r, g, 1.0);
  if (moved && status == YOKE_OK) status = each(&call, g, take_one);
  if (status == YOKE_OK || status == YOKE_NON_FINITE) return status;
  return yoke_fail(ctx, status,
                   "the states at t = %.9g s cannot be projected onto the joints between the subsystems (%s)",
                   r->is_trial ? g->t_next : g->block->past_t[0], yoke_status_text(status));
}
