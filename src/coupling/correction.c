#include "coupling/correction.h"
#include "coupling/newton_matrix.h"
#include "coupling/newton_ranks.h"
#include "linalg/lapack.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* Solvers that read coupling values once in a macro step, or twice, do not tell those in between from each other. */
static yoke_status singular(const yoke_graph *g, yoke_context *ctx) {
  return yoke_fail(ctx, YOKE_SINGULAR,
                   "the coupling conditions are singular at t = %.9g s (%d conditions); a solver with a fixed step "
                   "(solvers.NAME.step) needs several of them in a macro step",
                   g->t_next, g->n_c);
}

static void tag_matrix(yoke_graph *g) {
  g->made    = (matrix_tag){.is_made = true, .degree = g->degree, .H = g->H};
  g->is_kept = false;
}

static yoke_status make_factors(yoke_graph *g) {
  if (g->newton_ranks != NULL) return newton_ranks_make(g);
  graph_newton_assemble(g);
  for (int set = 0; set < g->n_sets; ++set) YOKE_TRY(graph_newton_factor(g, set));
  return YOKE_OK;
}

yoke_status graph_make_matrix(yoke_graph *g, yoke_context *ctx) {
  if (g->n_c == 0) return YOKE_OK;
  g->made.is_made = false;
  if (g->broyden != NULL) {
    graph_newton_assemble(g);
    const size_t n = (size_t)g->n_c;
    memset(g->broyden, 0, n * n * sizeof *g->broyden);
    for (int c = 0; c < g->n_w; ++c) {
      for (int k = g->pattern->col_start[c]; k < g->pattern->col_start[c + 1]; ++k) {
        g->broyden[(size_t)c * n + (size_t)g->pattern->row[k]] = g->J[k];
      }
    }
    tag_matrix(g);
    return YOKE_OK;
  }
  const yoke_status status = make_factors(g);
  if (status == YOKE_E_MEMORY) return yoke_out_of_memory(ctx, "the factors of %d coupling conditions", g->n_c);
  if (status != YOKE_OK) return status == YOKE_SINGULAR ? singular(g, ctx) : status;
  tag_matrix(g);
  return YOKE_OK;
}

/* delta = mean of the corrections of all sets; c is that of set 0 in the end. */
static void correct_by_sets(yoke_graph *g) {
  memset(g->delta, 0, (size_t)g->n_c * sizeof *g->delta);
  for (int set = g->n_sets - 1; set >= 0; --set) {
    graph_residual(g, set);
    for (int i = 0; i < g->n_c; ++i) g->delta_set[i] = -g->c[i];
    yoke_factor_solve(g->factor[set], g->delta_set, NULL, g->linear_work);
    for (int i = 0; i < g->n_wires; ++i) {
      const graph_wire *wire = &g->wires[i];
      /* unknowns of a coupling are as many as its conditions, and in the same place */
      for (int k = wire->c_at; k < wire->c_at + wire->n_c; ++k) g->delta[k] += wire->share[set] * g->delta_set[k];
    }
  }
}

yoke_status graph_solve(yoke_graph *g, double *x, yoke_context *ctx) {
  if (g->broyden == NULL) {
    yoke_factor_solve(g->factor[0], x, NULL, g->linear_work);
    return YOKE_OK;
  }
  const size_t n     = (size_t)g->n_c;
  double      *copy  = g->broyden + n * n;
  lapack_int  *pivot = (lapack_int *)(void *)(copy + n * n);
  memcpy(copy, g->broyden, n * n * sizeof *copy);
  const lapack_int info = lapack_dgesv(g->n_c, 1, copy, g->n_c, pivot, x, g->n_c);
  return info == 0 ? YOKE_OK : singular(g, ctx);
}

yoke_status graph_correct(yoke_graph *g, yoke_context *ctx) {
  yoke_status status = YOKE_OK;
  for (int i = 0; i < g->n_c; ++i) g->delta[i] = -g->c[i];
  if (g->n_c == 0) return YOKE_OK;
  if (g->n_sets > 1)
    correct_by_sets(g);
  else
    status = graph_solve(g, g->delta, ctx);
  YOKE_TRY(yoke_graph_agree(g, "correction", status, (size_t)g->n_c * sizeof *g->delta, g->delta));
  for (int i = 0; i < g->n_c; ++i) {
    if (!isfinite(g->delta[i])) return YOKE_NON_FINITE;
  }
  return YOKE_OK;
}

static double largest_condition(const yoke_graph *g) {
  double largest = 0.0;
  for (int i = 0; i < g->n_c; ++i) {
    const double size = fabs(g->c[i]);
    if (!(size <= largest)) largest = size; /* NaN too */
  }
  return largest;
}

yoke_status graph_remainder(yoke_graph *g, bool has_conditions, double *largest, yoke_context *ctx) {
  if (!has_conditions) graph_residual(g, 0);
  *largest = largest_condition(g);
  if (g->n_sets == 1) return YOKE_OK;
  YOKE_TRY(graph_correct(g, ctx));
  memset(g->delta_set, 0, (size_t)g->n_c * sizeof *g->delta_set);
  for (int c = 0; c < g->n_w; ++c) {
    for (int k = g->pattern->col_start[c]; k < g->pattern->col_start[c + 1]; ++k) {
      g->delta_set[g->pattern->row[k]] += g->J[k] * g->delta[c];
    }
  }
  *largest = 0.0;
  for (int i = 0; i < g->n_c; ++i) *largest = fmax(*largest, fabs(g->delta_set[i]));
  return YOKE_OK;
}

void graph_broyden_improve(yoke_graph *g, const double *c_old, const double *delta) {
  const size_t n    = (size_t)g->n_c;
  double       size = 0.0;
  for (size_t i = 0; i < n; ++i) size += delta[i] * delta[i];
  if (!(size > 0.0)) return;
  for (size_t r = 0; r < n; ++r) {
    double *row = g->broyden + r; /* stride n */
    double  gap = g->c[r] - c_old[r];
    for (size_t k = 0; k < n; ++k) gap -= row[k * n] * delta[k];
    for (size_t k = 0; k < n; ++k) row[k * n] += gap * delta[k] / size;
  }
}
