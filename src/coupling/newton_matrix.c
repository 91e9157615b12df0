#include "coupling/newton_matrix.h"

#include "base/clock.h"
#include "base/simd.h"
#include "linalg/block_lu.h"
#include <stdlib.h>
#include <string.h>

/* Products that are worth a task: some ten microseconds. */
static const double worth_a_task = 2e4;

/* Products of a factorisation by blocks from which on it takes the place of KLU: some ten microseconds where KLU takes fifty. Smaller ones stay with it, whose pivots
 * are chosen from all rows. */
static const double worth_blocks = 5e4;
enum { least_block = 3 };

/* Couplings whose rows are one task. */
typedef struct newton_batch {
  int first, last;
} newton_batch;

/* Of one worker. */
typedef struct newton_bench {
  graph_lent *lent;
  yoke_arena *scratch, own;
  double     *rows;   /* dc/dy of one side by outputs [n_y, n_c] */
  int        *output; /* [n_y] which ones these are */
} newton_bench;

struct graph_newton {
  int            n_batches, n_benches;
  newton_batch  *batches;
  newton_bench  *benches; /* [workers] */
  yoke_cost     *cost;    /* [n_batches] as last measured; 0: not known */
  int            n_parts; /* of the factors; 0: KLU */
  yoke_cost     *part_cost;
  /* of the list that runs */
  yoke_part_work work;
};

/* ---- set-up ---- */

/* Newton matrix: conditions of a wire against its own unknowns and all that enter its two subsystems. */
static yoke_status build_pattern(yoke_graph *g, yoke_context *ctx) {
  size_t n = 0;
  for (int i = 0; i < g->n_wires; ++i) {
    const graph_wire *wire = &g->wires[i];
    size_t            own  = 0;
    for (int k = 0; k < wire->n_channels; ++k) own += (size_t)g->channels[wire->first + k].n_nodes;
    n += (size_t)wire->n_c * (own + (size_t)g->subsystems[wire->wire.subsystem[0]].n_columns +
                              (size_t)g->subsystems[wire->wire.subsystem[1]].n_columns);
  }
  yoke_arena  scratch = {0};
  int        *row     = yoke_arena_take(&scratch, n, sizeof *row);
  int        *col     = yoke_arena_take(&scratch, n, sizeof *col);
  int        *slot    = yoke_arena_take(&scratch, n, sizeof *slot);
  yoke_status status  = yoke_arena_check(&scratch, ctx, "a Newton matrix of %d conditions", g->n_c);
  for (int pass = 0; pass < 2 && status == YOKE_OK; ++pass) { /* 0: count and build the pattern; 1: hand out slots */
    size_t at = 0;
    for (int i = 0; i < g->n_wires; ++i) {
      graph_wire *wire      = &g->wires[i];
      const int   first_w   = wire->n_channels > 0 ? g->channels[wire->first].w_at : 0;
      const int   n_own     = wire->n_c; /* unknowns of a coupling are as many as its conditions */
      const int   counts[3] = {n_own, g->subsystems[wire->wire.subsystem[0]].n_columns,
                               g->subsystems[wire->wire.subsystem[1]].n_columns};
      for (int part = 0; part < 3; ++part) {
        int **place = part == 0 ? &wire->slot_own : &wire->slot_side[part - 1];
        if (pass == 1) {
          *place = yoke_arena_take(&g->arena, (size_t)wire->n_c * (size_t)counts[part], sizeof **place);
          if (*place == NULL) status = yoke_out_of_memory(ctx, "the couplings");
        }
        for (int r = 0; r < wire->n_c && status == YOKE_OK; ++r) {
          for (int k = 0; k < counts[part]; ++k, ++at) {
            row[at] = wire->c_at + r;
            col[at] = part == 0 ? first_w + k : g->subsystems[wire->wire.subsystem[part - 1]].column[k];
            if (pass == 1) (*place)[r * counts[part] + k] = slot[at];
          }
        }
      }
    }
    if (pass == 0 && status == YOKE_OK)
      status = yoke_pattern_create(ctx, g->n_c, g->n_w, (int)at, row, col, slot, &g->pattern);
  }
  yoke_arena_free(&scratch);
  return status;
}

/* Unknowns of a coupling are a block. The work of a chain of them, which others exceed. */
static yoke_status create_linear(yoke_graph *g, yoke_context *ctx) {
  double work = 0.0;
  for (int i = 0; i < g->n_wires; ++i) work += 4.0 * g->wires[i].n_c * g->wires[i].n_c * g->wires[i].n_c;
  if (work < worth_blocks || g->n_c < least_block * g->n_wires)
    return yoke_linear_create(ctx, g->pattern, YOKE_LINEAR_KLU, &g->linear);
  const size_t mark   = yoke_arena_mark(&g->work);
  int         *first  = yoke_arena_take(&g->work, (size_t)g->n_wires + 1, sizeof *first);
  yoke_status  status = yoke_arena_check(&g->work, ctx, "the blocks of %d couplings", g->n_wires);
  for (int i = 0; status == YOKE_OK && i < g->n_wires; ++i) first[i + 1] = first[i] + g->wires[i].n_c;
  if (status == YOKE_OK) status = yoke_linear_create_blocks(ctx, g->pattern, g->n_wires, first, &g->linear);
  yoke_arena_release(&g->work, mark);
  return status;
}

double graph_newton_products(const yoke_graph *g, int i) {
  const graph_wire *wire = &g->wires[i];
  double            n    = 0.0;
  for (int side = 0; side < 2; ++side)
    n += (double)g->subsystems[wire->wire.subsystem[side]].n_columns * wire->n_y[side];
  return n * wire->n_c;
}

/* Rows of couplings that follow each other, as many as are worth a task. */
static void deal_batches(const yoke_graph *g, graph_newton *m) {
  double work = worth_a_task;
  for (int i = 0; i < g->n_wires; ++i) {
    if (work >= worth_a_task) {
      m->batches[m->n_batches++].first = i;
      work                             = 0.0;
    }
    work += g->n_sets * graph_newton_products(g, i);
    m->batches[m->n_batches - 1].last = i + 1;
  }
}

/* The first worker has what the graph has. */
static yoke_status take_benches(yoke_graph *g, graph_newton *m, yoke_context *ctx) {
  const size_t n    = m->n_batches > 1 || m->n_parts > 1 ? (size_t)yoke_exec_n_workers(g->exec) : 1;
  size_t       most = 0, most_y = 0;
  for (int i = 0; i < g->n_wires; ++i) {
    for (int side = 0; side < 2; ++side) {
      const size_t n_y = (size_t)g->wires[i].n_y[side], size = n_y * (size_t)g->wires[i].n_c;
      if (size > most) most = size;
      if (n_y > most_y) most_y = n_y;
    }
  }
  m->benches = yoke_arena_take(&g->arena, n, sizeof *m->benches);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "%zu workers", n));
  for (m->n_benches = 0; m->n_benches < (int)n; ++m->n_benches) {
    newton_bench *bench = &m->benches[m->n_benches];
    bench->lent         = m->n_benches == 0 ? &g->lent : yoke_arena_take(&g->arena, 1, sizeof *bench->lent);
    bench->rows         = yoke_arena_take(&g->arena, most, sizeof *bench->rows);
    bench->output       = yoke_arena_take(&g->arena, most_y, sizeof *bench->output);
    if (m->n_benches > 0 && bench->lent != NULL) graph_take_lent(g, bench->lent);
    YOKE_TRY(yoke_arena_check(&g->arena, ctx, "%zu workers", n));
    bench->own     = yoke_arena_of(ctx);
    bench->scratch = m->n_benches == 0 ? &g->work : &bench->own;
    if (m->n_benches > 0) YOKE_TRY(graph_warm_up(g, bench->scratch, ctx));
  }
  return YOKE_OK;
}

yoke_status graph_newton_create(yoke_graph *g, yoke_context *ctx) {
  YOKE_TRY(build_pattern(g, ctx));
  if (g->n_c == 0) return YOKE_OK;
  YOKE_TRY(create_linear(g, ctx));
  graph_newton *m = g->newton = yoke_arena_take(&g->arena, 1, sizeof *m);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "a Newton matrix of %d conditions", g->n_c));
  const size_t n = (size_t)g->n_wires;
  m->n_parts     = yoke_linear_n_parts(g->linear);
  m->batches     = yoke_arena_take(&g->arena, n, sizeof *m->batches);
  m->cost        = yoke_arena_take(&g->arena, n, sizeof *m->cost);
  m->part_cost   = yoke_arena_take(&g->arena, (size_t)m->n_parts + 1, sizeof *m->part_cost);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "a Newton matrix of %d conditions", g->n_c));
  deal_batches(g, m);
  YOKE_TRY(yoke_exec_expect(g->exec, ctx, m->n_batches > m->n_parts ? m->n_batches : m->n_parts));
  return take_benches(g, m, ctx);
}

void graph_newton_destroy(yoke_graph *g) {
  graph_newton *m = g->newton;
  for (int k = 0; m != NULL && k < m->n_benches; ++k) yoke_arena_free(&m->benches[k].own);
  yoke_linear_destroy(&g->linear);
  yoke_pattern_destroy(&g->pattern);
}

/* ---- rows of a coupling ---- */

/* dc/dy of one side, of the outputs that are read at all. */
typedef struct side_rows {
  int           n;      /* outputs */
  const int    *output; /* [n] */
  const double *rows;   /* [n, n_c] */
  int           n_c;
} side_rows;

/* J[slot] += dc/dy dy for N conditions and M columns, which are constants; columns [n_y] of ny numbers, slots of a condition `step` apart. */
static YOKE_ALWAYS_INLINE void add_some(int M, int N, const side_rows *side, int first, const double *dy, size_t ny,
                                        const int *slot, int step, double *J) {
  double sum[4][8];
  for (int c = 0; c < M; ++c) {
    for (int r = 0; r < N; ++r) sum[c][r] = 0.0;
  }
  for (int i = 0; i < side->n; ++i) {
    const double *row = side->rows + i * side->n_c + first, *y = dy + side->output[i];
    for (int c = 0; c < M; ++c) {
      for (int r = 0; r < N; ++r) sum[c][r] += row[r] * y[(size_t)c * ny];
    }
  }
  for (int c = 0; c < M; ++c) {
    for (int r = 0; r < N; ++r) J[slot[(first + r) * step + c]] += sum[c][r];
  }
}

static YOKE_ALWAYS_INLINE void add_conditions(int N, const side_rows *side, int first, int n_columns, const double *dy,
                                              size_t ny, const int *slot, double *J) {
  int c = 0;
  for (; c + 4 <= n_columns; c += 4) add_some(4, N, side, first, dy + (size_t)c * ny, ny, slot + c, n_columns, J);
  for (; c < n_columns; ++c) add_some(1, N, side, first, dy + (size_t)c * ny, ny, slot + c, n_columns, J);
}

YOKE_SIMD static void add_side(const side_rows *side, int n_columns, const double *dy, size_t ny, const int *slot,
                               double *J) {
  int r = 0;
  for (; r + 8 <= side->n_c; r += 8) add_conditions(8, side, r, n_columns, dy, ny, slot, J);
  switch (side->n_c - r) {
  case 7: add_conditions(7, side, r, n_columns, dy, ny, slot, J); break;
  case 6: add_conditions(6, side, r, n_columns, dy, ny, slot, J); break;
  case 5: add_conditions(5, side, r, n_columns, dy, ny, slot, J); break;
  case 4: add_conditions(4, side, r, n_columns, dy, ny, slot, J); break;
  case 3: add_conditions(3, side, r, n_columns, dy, ny, slot, J); break;
  case 2: add_conditions(2, side, r, n_columns, dy, ny, slot, J); break;
  case 1: add_conditions(1, side, r, n_columns, dy, ny, slot, J); break;
  default: break;
  }
}

/* dc/dy [n_c, n_y] of a side by outputs, so that the sums of all conditions go side by side. */
static side_rows turn_rows(int n_c, int n_y, const double *dc_dy, const newton_bench *bench) {
  side_rows side = {.output = bench->output, .rows = bench->rows, .n_c = n_c};
  for (int k = 0; k < n_y; ++k) {
    double *row     = bench->rows + side.n * n_c;
    bool    is_read = false;
    for (int r = 0; r < n_c; ++r) {
      row[r]  = dc_dy[r * n_y + k];
      is_read = is_read || row[r] != 0.0; /* NaN too */
    }
    bench->output[side.n] = k;
    side.n += is_read;
  }
  return side;
}

/* Rows of one coupling:  dc/dw = dc/du [node is the end] + dc/du' d(u')/dw + dc/d(int u) d(int u)/dw + sum over sides dc/dy dy/dw. */
static void add_wire(const yoke_graph *g, int number, int set, const newton_bench *bench, double *J) {
  graph_wire wire         = g->wires[number]; /* with what this worker lends */
  wire.lent               = bench->lent;
  wire.scratch            = bench->scratch;
  const graph_lent  *lent = wire.lent;
  yoke_coupling_view view = graph_view(g, &wire);
  view.set                = graph_set(&wire, set);
  wire.wire.formulation->jacobian(wire.wire.self, &view, lent->dc_du, lent->dc_du_dot, lent->dc_du_integral,
                                  lent->dc_dy[0], lent->dc_dy[1]);
  int own = 0;
  for (int k = 0; k < wire.n_channels; ++k) {
    const graph_channel *channel = &g->channels[wire.first + k];
    const yoke_past      past    = graph_past(g, channel);
    yoke_layout_measures by_w[YOKE_LAYOUT_MAX_NODES];
    yoke_layout_slopes(&channel->layout, &past, by_w);
    for (int j = 0; j < channel->n_nodes; ++j, ++own) {
      for (int r = 0; r < wire.n_c; ++r) {
        const int at = r * wire.n_channels + k;
        double    value =
            lent->dc_du_dot[at] * by_w[j].end_derivative / g->H + lent->dc_du_integral[at] * by_w[j].integral * g->H;
        if (j == channel->n_nodes - 1) value += lent->dc_du[at];
        J[wire.slot_own[r * wire.n_c + own]] += value;
      }
    }
  }
  for (int side = 0; side < 2; ++side) {
    const graph_subsystem *s    = &g->subsystems[wire.wire.subsystem[side]];
    const side_rows        rows = turn_rows(wire.n_c, wire.n_y[side], lent->dc_dy[side], bench);
    add_side(&rows, s->n_columns, s->dy + wire.y_at[side], (size_t)s->subsystem->ny, wire.slot_side[side], J);
  }
}

void graph_newton_add_rows(const yoke_graph *g, int wire, int worker) {
  add_wire(g, wire, 0, &g->newton->benches[worker], g->J);
}

/* ---- the matrix ---- */

static void assemble_batch(void *user, int i, int worker) {
  const yoke_graph *g     = user;
  graph_newton     *m     = g->newton;
  const double      begin = yoke_clock_now();
  const size_t      nnz   = (size_t)g->pattern->nnz;
  for (int set = 0; set < g->n_sets; ++set) {
    for (int k = m->batches[i].first; k < m->batches[i].last; ++k)
      add_wire(g, k, set, &m->benches[worker], g->J + (size_t)set * nnz);
  }
  m->cost[i] = yoke_cost_follow(m->cost[i], yoke_clock_now() - begin);
}

void graph_newton_assemble(yoke_graph *g) {
  graph_newton *m = g->newton;
  memset(g->J, 0, (size_t)g->n_sets * (size_t)g->pattern->nnz * sizeof *g->J);
  if (m->n_batches > 1) {
    yoke_exec_run(g->exec, m->n_batches, m->cost[0] > 0 ? m->cost : NULL, assemble_batch, g);
    return;
  }
  for (int set = 0; set < g->n_sets; ++set) {
    for (int i = 0; i < g->n_wires; ++i)
      add_wire(g, i, set, &m->benches[0], g->J + (size_t)set * (size_t)g->pattern->nnz);
  }
}

/* ---- factors ---- */

static void factor_part(void *user, int part, int worker) {
  graph_newton *m     = user;
  const double  begin = yoke_clock_now();
  (void)worker;
  yoke_factor_part(&m->work, part);
  m->part_cost[part] = yoke_cost_follow(m->part_cost[part], yoke_clock_now() - begin);
}

yoke_status graph_newton_factor(yoke_graph *g, int set) {
  graph_newton *m  = g->newton;
  const double *J  = g->J + (size_t)set * (size_t)g->pattern->nnz;
  yoke_factor **to = &g->factor[set];
  if (m->n_parts > 0) {
    yoke_status status = yoke_factor_begin_parts(g->linear, J, to, &m->work);
    if (status == YOKE_OK) {
      yoke_exec_run(g->exec, m->n_parts, m->part_cost[0] > 0 ? m->part_cost : NULL, factor_part, m);
      status = yoke_factor_end_parts(&m->work, to);
    }
    if (status != YOKE_SINGULAR) return status;
  }
  return yoke_factor_make(g->linear, J, NULL, to); /* with pivots from all rows */
}
