#include "coupling/kept_matrix.h"

#include <math.h>
#include <string.h>

static bool keeps_matrix(const yoke_graph *g) {
  return g->broyden != NULL || (g->scheme->traits.corrects_to_tolerance && !g->renews_matrix);
}

bool graph_keeps_columns(const yoke_graph *g) {
  return g->broyden != NULL || (g->settings.monitor && g->scheme->traits.corrects_to_tolerance);
}

bool graph_matrix_fits(const yoke_graph *g) {
  return keeps_matrix(g) && g->made.is_made && g->made.degree == g->degree && fabs(g->H - g->made.H) < 0.1 * g->made.H;
}

/* What dy/dw of one subsystem costs, in integrations of it. */
static int cost_of(const graph_subsystem *s) {
  switch (s->jacobian) {
  case YOKE_JACOBIAN_FINITE_DIFFERENCE: return s->n_columns;
  case YOKE_JACOBIAN_TANGENT: return 2; /* about */
  case YOKE_JACOBIAN_ANALYTIC:
  case YOKE_JACOBIAN_BROYDEN: break;
  }
  return 0;
}

void graph_matrix_serves(yoke_graph *g, int corrections) {
  enum { USUAL = 2 }; /* corrections with a new matrix */
  double cost = 0.0;
  if (g->broyden != NULL) return;
  if (g->is_kept) ++g->made.age;
  for (int i = 0; i < g->n_subsystems; ++i) cost += cost_of(&g->subsystems[i]);
  const double more = (double)(corrections - USUAL) * (double)g->n_subsystems;
  if (g->made.age * more >= 2.0 * cost) g->made.is_made = false;
}

/* Columns of all subsystems, from or into the block. */
static void copy_columns(const yoke_graph *g, bool is_restored) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    const graph_subsystem *s    = &g->subsystems[i];
    const size_t           size = (size_t)s->n_columns * (size_t)s->subsystem->ny * sizeof(double);
    memcpy(is_restored ? s->dy : s->dy_kept, is_restored ? s->dy_kept : s->dy, size);
  }
}

static void copy_broyden(const yoke_graph *g, double *to, const double *from) {
  const size_t n = (size_t)g->n_c;
  if (g->broyden != NULL) memcpy(to, from, n * n * sizeof *to);
}

static void share_factors(yoke_factor **to, yoke_factor *const *from) {
  for (int set = 0; set < YOKE_COUPLING_MAX_SETS; ++set) {
    if (to[set] == from[set]) continue;
    yoke_factor_release(&to[set]);
    to[set] = yoke_factor_retain(from[set]);
  }
}

void graph_matrix_restore(yoke_graph *g) {
  share_factors(g->factor, g->factor_kept);
  copy_broyden(g, g->broyden, g->broyden_kept);
  if (g->is_touched && graph_keeps_columns(g)) copy_columns(g, true);
  g->is_touched = false;
  g->made       = g->block->made;
}

void graph_matrix_accept(yoke_graph *g) {
  share_factors(g->factor_kept, g->factor);
  copy_broyden(g, g->broyden_kept, g->broyden);
  if (g->is_touched && graph_keeps_columns(g)) copy_columns(g, false);
  g->is_touched  = false;
  g->block->made = g->made;
}

void graph_matrix_drop(yoke_graph *g) {
  g->made.is_made = g->block->made.is_made = false;
}

void graph_matrix_pack(const yoke_graph *g, yoke_pack *out) {
  for (int set = 0; set < YOKE_COUPLING_MAX_SETS; ++set) graph_factor_pack(g->factor_kept[set], out);
}

yoke_status graph_matrix_unpack(const yoke_graph *g, const matrix_tag *tag, yoke_unpack *in, yoke_context *ctx,
                                yoke_factor **factors) {
  const bool needs_factors = tag->is_made && g->broyden == NULL && g->n_c > 0;
  for (int set = 0; set < YOKE_COUPLING_MAX_SETS; ++set) {
    YOKE_TRY(graph_factor_unpack(g->linear, in, ctx, &factors[set]));
    if (needs_factors && set < g->n_sets && factors[set] == NULL) yoke_unpack_refuse(in, "a matrix without factors");
  }
  return yoke_unpack_check(in, ctx);
}

void graph_matrix_take(yoke_graph *g, yoke_factor **factors) {
  for (int set = 0; set < YOKE_COUPLING_MAX_SETS; ++set) graph_factor_replace(&g->factor_kept[set], &factors[set]);
  g->is_touched = true;
}
