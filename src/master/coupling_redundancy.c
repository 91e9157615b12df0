#include "master/coupling_redundancy.h"

#include "base/memory.h"
#include "base/text.h"
#include "model/redundancy.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMED = 50 }; /* rows whose origin is looked for, a least-squares problem each */

bool yoke_is_coupling(const yoke_model *model, const yoke_places *places, int connection) {
  int part[2];
  for (int side = 0; side < 2; ++side) {
    const yoke_frame *frame = &model->frames[model->connections[connection].frame[side]];
    if (frame->body < 0) return false; /* the ground is in every part */
    part[side] = yoke_place_find(places, frame->body, frame->mass).part;
  }
  return part[0] != part[1];
}

static bool is_retired(const yoke_start *start, int row) {
  const yoke_multibody *mb = start->mb;
  return yoke_start_retired(start, yoke_multibody_row_connection(mb, row))[yoke_multibody_row_own(mb, row)];
}

/* Marks per row of G; NULL: no memory. */
static bool *marks(const yoke_start *start) {
  const int ng  = yoke_multibody_G_pattern(start->mb)->n_rows;
  bool     *out = yoke_allocate((size_t)ng + 1, sizeof *out);
  for (int r = 0; r < ng && out != NULL; ++r) out[r] = is_retired(start, r);
  return out;
}

/* Adds the joints that row `row` follows from to `is_source` [n_connections]. */
static yoke_status find_sources(const yoke_multibody *mb, void *work, double t, const double *q, const bool *retired,
                                int row, bool *is_source) {
  const yoke_pattern *pattern = yoke_multibody_G_pattern(mb);
  const size_t        ng = (size_t)pattern->n_rows, nv = (size_t)pattern->n_cols;
  double             *block = yoke_allocate((size_t)pattern->nnz + 2 * ng + nv + 1, sizeof *block);
  if (block == NULL) return YOKE_E_MEMORY;
  double *G = block, *one = G + pattern->nnz, *x = one + ng, *f = x + ng, largest = 0.0;
  one[row] = 1.0;
  yoke_multibody_G(mb, work, t, q, G);
  yoke_sparse_multiply_transposed(pattern, G, one, f);
  const yoke_status status = yoke_redundancy_express(mb, work, t, q, retired, f, x);
  for (size_t r = 0; r < ng; ++r) largest = fmax(largest, fabs(x[r]));
  for (size_t r = 0; r < ng && status == YOKE_OK; ++r) {
    if (fabs(x[r]) > 1e-6 * largest) is_source[yoke_multibody_row_connection(mb, (int)r)] = true;
  }
  free(block);
  return status;
}

/* One warning per coupling: its rows, and the joints they follow from. */
static yoke_status warn_of(yoke_context *ctx, const yoke_model *model, const yoke_multibody *mb, void *work,
                           const double *q, const bool *retired, int connection, int *n_named) {
  const int ng        = yoke_multibody_G_pattern(mb)->n_rows;
  bool     *is_source = yoke_allocate((size_t)model->n_connections + 1, sizeof *is_source);
  char      rows[200] = "", sources[400] = "", label[200];
  int       n = 0, n_sources = 0;
  if (is_source == NULL) return YOKE_E_MEMORY;
  yoke_status status = YOKE_OK;
  for (int r = 0; r < ng && status == YOKE_OK; ++r) {
    if (!retired[r] || yoke_multibody_row_connection(mb, r) != connection) continue;
    yoke_multibody_row_label(mb, r, label, sizeof label);
    yoke_text_append(rows, sizeof rows, "%s%s", n++ > 0 ? ", " : "",
                     label + strlen(model->connections[connection].name) + 2);
    if ((*n_named)++ < MOST_NAMED) status = find_sources(mb, work, model->t_start, q, retired, r, is_source);
  }
  for (int c = 0; c < model->n_connections && status == YOKE_OK; ++c) {
    if (!is_source[c]) continue;
    yoke_text_append(sources, sizeof sources, "%s'%s'", n_sources++ > 0 ? ", " : "", model->connections[c].name);
  }
  free(is_source);
  if (status != YOKE_OK || n == 0) return status;
  yoke_warn(
      ctx,
      "coupling '%s': %s %s %s from other rows of %s and %s left out, the others carry %s force; the motion is the "
      "same, but forces in these joints are not unique: give one of them fewer rows to make them so",
      model->connections[connection].name, n > 1 ? "rows" : "row", rows, n > 1 ? "follow" : "follows",
      n_sources > 0 ? sources : "the mechanism", n > 1 ? "are" : "is", n > 1 ? "their" : "its");
  return YOKE_OK;
}

/* Rows of G, those inside subsystems first. */
static yoke_status choose(const yoke_places *places, yoke_start *start) {
  const yoke_model     *model = start->model;
  const yoke_multibody *mb    = start->mb;
  const double         *q     = start->assembly.probe;
  const int             ng    = yoke_multibody_G_pattern(mb)->n_rows;
  int                  *order = yoke_allocate((size_t)ng + 1, sizeof *order), *rows = NULL, at = 0, n = 0;
  yoke_status           status = order != NULL ? YOKE_OK : YOKE_E_MEMORY;
  for (int coupling = 0; coupling < 2 && status == YOKE_OK; ++coupling) {
    for (int r = 0; r < ng; ++r) {
      if (yoke_is_coupling(model, places, yoke_multibody_row_connection(mb, r)) == (coupling == 1)) order[at++] = r;
    }
  }
  if (status == YOKE_OK)
    status = yoke_redundancy_rows(mb, start->work, model->t_start, q, order, YOKE_REDUNDANCY_DISTANCE, &n, &rows);
  for (int i = 0; i < n && status == YOKE_OK; ++i) {
    const int connection = yoke_multibody_row_connection(mb, rows[i]);
    if (!yoke_is_coupling(model, places, connection)) continue;
    yoke_start_retired(start, connection)[yoke_multibody_row_own(mb, rows[i])] = true;
    start->any_retired                                                         = true;
  }
  free(order);
  free(rows);
  return status;
}

/* Rows that the equations of the whole model leave out (assembly.h): those of couplings are left out there, too. */
static void take_left_out(const yoke_places *places, yoke_start *start) {
  const bool *left_out = start->assembly.left_out;
  for (int c = 0; c < start->model->n_connections && left_out != NULL; ++c) {
    for (int i = 0; i < YOKE_CONNECTION_MAX_ROWS && yoke_is_coupling(start->model, places, c); ++i)
      yoke_start_retired(start, c)[i] = left_out[(ptrdiff_t)YOKE_CONNECTION_MAX_ROWS * c + i];
  }
}

yoke_status yoke_coupling_redundancy_find(yoke_context *ctx, const yoke_places *places, yoke_start *start) {
  const yoke_model *model = start->model;
  start->retired          = yoke_arena_take(&start->arena, YOKE_CONNECTION_MAX_ROWS * (size_t)model->n_connections + 1,
                                            sizeof *start->retired);
  bool       *retired     = NULL;
  int         n_named     = 0;
  yoke_status status      = start->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
  if (status == YOKE_OK) take_left_out(places, start);
  if (status == YOKE_OK && start->assembly.n_redundant > 0) {
    status = choose(places, start);
    if (status == YOKE_OK) {
      retired = marks(start);
      status  = retired != NULL ? YOKE_OK : YOKE_E_MEMORY;
    }
    for (int c = 0; c < model->n_connections && status == YOKE_OK; ++c) {
      if (yoke_is_coupling(model, places, c))
        status = warn_of(ctx, model, start->mb, start->work, start->assembly.probe, retired, c, &n_named);
    }
  }
  free(retired);
  return status == YOKE_OK ? YOKE_OK : yoke_out_of_memory(ctx, "the search for couplings that repeat others");
}

yoke_status yoke_coupling_redundancy_move(const yoke_start *start, double t, const double *q, double *lambda) {
  if (!start->any_retired) return YOKE_OK;
  bool *retired = marks(start);
  if (retired == NULL) return YOKE_E_MEMORY;
  const yoke_status status = yoke_redundancy_move(start->mb, start->work, t, q, retired, lambda);
  free(retired);
  return status;
}
