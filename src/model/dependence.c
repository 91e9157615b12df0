#include "model/dependence.h"

#include "base/memory.h"
#include <limits.h>
#include <stdlib.h>

/* Sets of unknowns; the smallest one stands for its set. */
static int find(int *parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static void join(int *parent, int i, int j) {
  const int a = find(parent, i), b = find(parent, j);
  parent[a > b ? a : b] = a > b ? b : a;
}

typedef struct parts {
  const yoke_dae *dae;
  int             n_states, nv;
} parts;

static bool is_position(const parts *p, int i) {
  return i < p->n_states;
}
static bool is_velocity(const parts *p, int i) {
  return i >= p->dae->i_v && i < p->dae->i_v + p->nv;
}
static bool is_state(const parts *p, int i) {
  return is_position(p, i) || is_velocity(p, i);
}
/* Accelerations and multipliers. */
static bool is_algebraic(const parts *p, int i) {
  return !is_state(p, i) && p->dae->component[i] >= YOKE_COMPONENT_A;
}

static void join_unknowns(const parts *p, int *parent) {
  const yoke_pattern *J = p->dae->pattern;
  for (int i = 0; i < p->dae->nx; ++i) parent[i] = i;
  for (int k = 0; k < p->nv; ++k) join(parent, p->dae->i_v + k, p->dae->i_a >= 0 ? p->dae->i_a + k : p->dae->i_v);
  for (int j = 0; j < p->dae->nx; ++j) {
    for (int k = J->col_start[j]; k < J->col_start[j + 1]; ++k) {
      const int  i          = J->row[k];
      const bool kinematics = is_position(p, i) && (is_state(p, j) || is_algebraic(p, j));
      if (kinematics || (is_algebraic(p, i) && is_algebraic(p, j))) join(parent, i, j);
    }
  }
}

/* Number the sets that have states, and list these. */
static void number(const parts *p, int *parent, int *block, yoke_dependence_blocks *out) {
  const int nx = p->dae->nx;
  for (int i = 0; i < nx; ++i) block[i] = -1;
  for (int i = 0; i < nx; ++i) {
    if (!is_state(p, i)) continue;
    const int first = find(parent, i);
    if (block[first] < 0) block[first] = out->n++;
    ++out->start[block[first] + 1];
  }
  for (int i = nx - 1; i >= 0; --i) block[i] = block[find(parent, i)]; /* the smallest comes last */
  for (int b = 0; b < out->n; ++b) out->start[b + 1] += out->start[b];
  for (int i = 0, *at = out->coloured; i < nx; ++i) { /* borrowed to count */
    if (is_state(p, i)) out->member[out->start[block[i]] + at[block[i]]++] = i;
  }
}

/* Entries of J by blocks, the diagonal first: pairs (on which, which acts). */
static int list_pairs(const parts *p, const int *block, int n_blocks, int *row, int *col) {
  const yoke_pattern *J = p->dae->pattern;
  int                 n = 0;
  for (int b = 0; b < n_blocks; ++b) row[n] = col[n] = b, ++n;
  for (int j = 0; j < p->dae->nx; ++j) {
    if (!is_state(p, j)) continue;
    for (int k = J->col_start[j]; k < J->col_start[j + 1]; ++k) {
      const int i = J->row[k];
      if (!is_algebraic(p, i) || block[i] < 0 || block[i] == block[j]) continue;
      row[n]   = block[i];
      col[n++] = block[j];
    }
  }
  return n;
}

/* Greedy in the order of the blocks: the first colour that no block which acts on the same rows has. */
static void paint(const yoke_pattern *acts_on, const yoke_pattern *felt_by, int *colour, int *taken,
                  yoke_dependence_blocks *out) {
  const int n = out->n;
  for (int j = 0; j < n; ++j) colour[j] = -1, taken[j] = -1;
  for (int j = 0; j < n; ++j) {
    for (int k = acts_on->col_start[j]; k < acts_on->col_start[j + 1]; ++k) {
      const int i = acts_on->row[k];
      for (int l = felt_by->col_start[i]; l < felt_by->col_start[i + 1]; ++l) {
        if (colour[felt_by->row[l]] >= 0) taken[colour[felt_by->row[l]]] = j;
      }
    }
    while (taken[++colour[j]] == j) {
    }
    if (colour[j] >= out->n_colours) out->n_colours = colour[j] + 1;
  }
  int at = 0;
  for (int c = 0; c < out->n_colours; ++c) {
    out->colour_start[c] = at;
    for (int j = 0; j < n; ++j) {
      if (colour[j] == c) out->coloured[at++] = j;
    }
  }
  out->colour_start[out->n_colours] = at;
}

yoke_status yoke_dependence_blocks_set(yoke_context *ctx, const yoke_dae *dae, int n_states, int nv, yoke_arena *arena,
                                       yoke_dependence_blocks *out) {
  const parts  p       = {dae, n_states, nv};
  const size_t nx      = (size_t)dae->nx;
  const size_t most    = nx + (size_t)dae->pattern->nnz;
  yoke_arena   scratch = {0};
  int         *parent  = yoke_arena_take(&scratch, nx + 1, sizeof *parent),
      *block           = yoke_arena_take(&scratch, nx + 1, sizeof *block);
  int *row = yoke_arena_take(&scratch, most + 1, sizeof *row), *col = yoke_arena_take(&scratch, most + 1, sizeof *col);
  yoke_pattern *felt_by = NULL;
  *out                  = (yoke_dependence_blocks){0};
  out->start            = yoke_arena_take(arena, nx + 2, sizeof *out->start);
  out->member           = yoke_arena_take(arena, nx + 1, sizeof *out->member);
  out->colour_start     = yoke_arena_take(arena, nx + 2, sizeof *out->colour_start);
  out->coloured         = yoke_arena_take(arena, nx + 1, sizeof *out->coloured);
  yoke_status status    = scratch.has_failed || arena->has_failed || most > INT_MAX ? YOKE_E_MEMORY : YOKE_OK;
  if (status == YOKE_OK) {
    join_unknowns(&p, parent);
    number(&p, parent, block, out);
    const int n = list_pairs(&p, block, out->n, row, col);
    status      = yoke_pattern_create(ctx, out->n, out->n, n, row, col, NULL, &out->acts_on);
    if (status == YOKE_OK) status = yoke_pattern_create(ctx, out->n, out->n, n, col, row, NULL, &felt_by);
  }
  if (status == YOKE_OK) paint(out->acts_on, felt_by, parent, block, out);
  yoke_pattern_destroy(&felt_by);
  yoke_arena_free(&scratch);
  return status;
}

void yoke_dependence_blocks_forget(yoke_dependence_blocks *blocks) {
  yoke_pattern_destroy(&blocks->acts_on);
}
