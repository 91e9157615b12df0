#include "model/assembly_rows.h"
#include "linalg/space.h"

#include <stdio.h>
#include <string.h>

enum { MAX_JOINT_FREEDOMS = 12, MOST_NAMED = 5 };
static const double regularisation = 1e-12; /* eps */
static const double shared_gap     = 0.05;  /* of the largest: joints that are named with it */

void yoke_assembly_rows_clear(yoke_assembly_rows *rows) {
  yoke_linear_destroy(&rows->linear);
  yoke_pattern_destroy(&rows->S_pattern);
  yoke_arena_free(&rows->arena);
}

/* ---- mobility ---- */

static void weigh_body(yoke_assembly_rows *p, yoke_assembly_level level, int b, double share) {
  const yoke_body *body  = &p->model->bodies[b];
  const int        first = yoke_multibody_v_offset(p->mb, b);
  for (int i = 0; i < yoke_body_nv(body); ++i) {
    const int c        = first + i;
    const int rotation = body->kind == YOKE_BODY_RIGID ? i - 3 : body->kind == YOKE_BODY_PLANAR && i == 2 ? 2 : -1;
    double    inverse_mass, J[9];
    yoke_multibody_mobility(p->mb, b, i, &inverse_mass, J);
    if (level == YOKE_ASSEMBLY_POSITIONS) {
      p->weight[c] = share * p->unit[c] * p->unit[c];
    } else if (rotation < 0) {
      p->weight[c] = share * inverse_mass;
    } else {
      p->weight[c] = share * J[4 * rotation];
    }
    for (int k = 0; k < 3 && body->kind == YOKE_BODY_RIGID && rotation >= 0; ++k) {
      p->turn[3 * c + k] = level == YOKE_ASSEMBLY_VELOCITIES ? share * J[3 * rotation + k]
                           : k == rotation                   ? p->weight[c]
                                                             : 0.0;
    }
  }
}

bool yoke_assembly_weigh(yoke_assembly_rows *rows, yoke_assembly_level level, double kept) {
  bool any = false;
  for (int b = 0; b < rows->model->n_bodies; ++b) {
    const yoke_body *body    = &rows->model->bodies[b];
    const bool       is_kept = level == YOKE_ASSEMBLY_POSITIONS ? body->fix_position : body->fix_velocity;
    weigh_body(rows, level, b, is_kept ? kept : 1.0);
    any = any || is_kept;
  }
  return any;
}

/* ---- structure ---- */

/* Row pattern of A: the rows of G, then one row per joint coordinate. Within a row all freedoms of a body stand together. */
static yoke_status build_rows(yoke_assembly_rows *p, const double *q, const double *v) {
  const yoke_pattern *G  = yoke_multibody_G_pattern(p->mb);
  const int           ng = p->equations->ng;
  p->row_start           = yoke_arena_take(&p->arena, (size_t)p->n_rows + 2, sizeof *p->row_start);
  const size_t most      = (size_t)G->nnz + (size_t)p->n_coordinates * MAX_JOINT_FREEDOMS + 1;
  p->column              = yoke_arena_take(&p->arena, most, sizeof *p->column);
  p->value               = yoke_arena_take(&p->arena, most, sizeof *p->value);
  p->weighted            = yoke_arena_take(&p->arena, most, sizeof *p->weighted);
  p->G_slot              = yoke_arena_take(&p->arena, (size_t)G->nnz, sizeof *p->G_slot);
  p->G                   = yoke_arena_take(&p->arena, (size_t)G->nnz, sizeof *p->G);
  int *next              = yoke_arena_take(&p->arena, (size_t)ng, sizeof *next);
  if (p->arena.has_failed) return YOKE_E_MEMORY;
  for (int k = 0; k < G->nnz; ++k) ++p->row_start[G->row[k] + 1];
  for (int r = 0; r < ng; ++r) p->row_start[r + 1] += p->row_start[r];
  memcpy(next, p->row_start, (size_t)ng * sizeof *next);
  for (int c = 0; c < G->n_cols; ++c) {
    for (int k = G->col_start[c]; k < G->col_start[c + 1]; ++k) {
      p->G_slot[k]            = next[G->row[k]]++;
      p->column[p->G_slot[k]] = c;
    }
  }
  int nnz = p->row_start[ng];
  for (int k = 0; k < p->n_coordinates; ++k) {
    double    coordinate, rate, value[MAX_JOINT_FREEDOMS];
    const int n = yoke_multibody_joint_coordinate(p->mb, p->work, p->coordinate_connection[k], q, v, &coordinate, &rate,
                                                  p->column + nnz, value);
    nnz += n;
    p->row_start[ng + k + 1] = nnz;
  }
  p->nnz = nnz;
  return YOKE_OK;
}

/* Pattern of S and the list of products that fill it: rows r and s of A share a column. */
static yoke_status build_normal_matrix(yoke_assembly_rows *p, yoke_arena *scratch, yoke_context *ctx) {
  const int nv        = p->equations->nv;
  int      *col_start = yoke_arena_take(scratch, (size_t)nv + 2, sizeof *col_start);
  int      *entry     = yoke_arena_take(scratch, (size_t)p->nnz, sizeof *entry);
  int      *row_of    = yoke_arena_take(scratch, (size_t)p->nnz, sizeof *row_of);
  if (scratch->has_failed) return YOKE_E_MEMORY;
  for (int r = 0; r < p->n_rows; ++r) {
    for (int k = p->row_start[r]; k < p->row_start[r + 1]; ++k) {
      row_of[k] = r;
      ++col_start[p->column[k] + 2];
    }
  }
  for (int c = 0; c < nv; ++c) col_start[c + 2] += col_start[c + 1];
  for (int k = 0; k < p->nnz; ++k) entry[col_start[p->column[k] + 1]++] = k;
  size_t n = 0;
  for (int c = 0; c < nv; ++c)
    n += (size_t)(col_start[c + 1] - col_start[c]) * (size_t)(col_start[c + 1] - col_start[c]);
  if (n > 200000000) {
    return yoke_fail(ctx, YOKE_E_MODEL, "one body carries too many joints for the assembly (%zu products)", n);
  }
  n += (size_t)p->n_rows; /* the diagonal is always there */
  int *rows       = yoke_arena_take(scratch, n, sizeof *rows);
  int *cols       = yoke_arena_take(scratch, n, sizeof *cols);
  p->product_a    = yoke_arena_take(&p->arena, n, sizeof *p->product_a);
  p->product_b    = yoke_arena_take(&p->arena, n, sizeof *p->product_b);
  p->product_slot = yoke_arena_take(&p->arena, n, sizeof *p->product_slot);
  if (scratch->has_failed || p->arena.has_failed) return YOKE_E_MEMORY;
  int m = 0;
  for (int c = 0; c < nv; ++c) {
    for (int i = col_start[c]; i < col_start[c + 1]; ++i) {
      for (int j = col_start[c]; j < col_start[c + 1]; ++j) {
        p->product_a[m] = entry[i];
        p->product_b[m] = entry[j];
        rows[m]         = row_of[entry[i]];
        cols[m]         = row_of[entry[j]];
        ++m;
      }
    }
  }
  p->n_products = m;
  for (int r = 0; r < p->n_rows; ++r) rows[m + r] = cols[m + r] = r;
  YOKE_TRY(yoke_pattern_create(ctx, p->n_rows, p->n_rows, m + p->n_rows, rows, cols, p->product_slot, &p->S_pattern));
  YOKE_TRY(yoke_linear_create(ctx, p->S_pattern, YOKE_LINEAR_KLU, &p->linear));
  p->S           = yoke_arena_take(&p->arena, (size_t)p->S_pattern->nnz, sizeof *p->S);
  p->r           = yoke_arena_take(&p->arena, (size_t)p->n_rows, sizeof *p->r);
  p->y           = yoke_arena_take(&p->arena, (size_t)p->n_rows, sizeof *p->y);
  p->d           = yoke_arena_take(&p->arena, (size_t)nv, sizeof *p->d);
  p->linear_work = yoke_arena_take(&p->arena, yoke_linear_work_size(p->linear), sizeof *p->linear_work);
  return p->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
}

/* Distance of the farthest place from the origin [m]. */
static double farthest(const yoke_model *model) {
  double size = 0.0;
  for (int f = 0; f < model->n_frames; ++f) size = fmax(size, vec3_norm(model->frames[f].origin));
  for (int b = 0; b < model->n_bodies; ++b) size = fmax(size, vec3_norm(model->bodies[b].position));
  return size;
}

static bool is_length(const yoke_assembly_rows *p, int row) {
  const int ng = p->equations->ng;
  if (row < ng) return yoke_multibody_row_is_length(p->mb, row);
  return p->model->connections[p->coordinate_connection[row - ng]].kind == YOKE_CONNECTION_TRANSLATIONAL;
}

static yoke_status build_units(yoke_assembly_rows *p) {
  const size_t nv = (size_t)p->equations->nv, n = (size_t)p->n_rows;
  p->unit     = yoke_arena_take(&p->arena, nv, sizeof *p->unit);
  p->weight   = yoke_arena_take(&p->arena, nv, sizeof *p->weight);
  p->turn     = yoke_arena_take(&p->arena, 3 * nv, sizeof *p->turn);
  p->is_turn  = yoke_arena_take(&p->arena, nv, sizeof *p->is_turn);
  p->row_unit = yoke_arena_take(&p->arena, n, sizeof *p->row_unit);
  p->is_out   = yoke_arena_take(&p->arena, n, sizeof *p->is_out);
  if (p->arena.has_failed) return YOKE_E_MEMORY;
  const double length = yoke_multibody_length(p->mb);
  yoke_multibody_units(p->mb, p->unit);
  p->size = fmax(1.0, farthest(p->model) / length);
  for (int r = 0; r < p->n_rows; ++r) p->row_unit[r] = is_length(p, r) ? length : 1.0;
  for (int b = 0; b < p->model->n_bodies; ++b) {
    if (p->model->bodies[b].kind == YOKE_BODY_RIGID) p->is_turn[yoke_multibody_v_offset(p->mb, b) + 3] = true;
  }
  return YOKE_OK;
}

/* Joint coordinates that the user fixed. */
static yoke_status find_coordinates(yoke_assembly_rows *p, yoke_context *ctx, const double *q, const double *v) {
  p->coordinate_connection =
      yoke_arena_take(&p->arena, (size_t)p->model->n_connections, sizeof *p->coordinate_connection);
  if (p->arena.has_failed) return YOKE_E_MEMORY;
  for (int c = 0; c < p->model->n_connections; ++c) {
    const yoke_connection *connection = &p->model->connections[c];
    if (!connection->has_initial && !connection->has_initial_rate) continue;
    double coordinate, rate, value[MAX_JOINT_FREEDOMS];
    int    column[MAX_JOINT_FREEDOMS];
    if (yoke_multibody_joint_coordinate(p->mb, p->work, c, q, v, &coordinate, &rate, column, value) == 0) {
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "connection '%s': a %s has no joint coordinate, so `initial` has no meaning here",
                       connection->name, yoke_connection_kind_name(connection->kind));
    }
    p->coordinate_connection[p->n_coordinates++] = c;
  }
  return YOKE_OK;
}

yoke_status yoke_assembly_rows_create(yoke_context *ctx, const yoke_model *model, const yoke_multibody *mb,
                                      const yoke_equations *equations, void *work, double t, const double *q,
                                      const double *v, yoke_assembly_rows *out) {
  *out               = (yoke_assembly_rows){.model = model, .mb = mb, .equations = equations, .work = work, .t = t};
  yoke_status status = find_coordinates(out, ctx, q, v);
  out->n_rows        = equations->ng + out->n_coordinates;
  if (status == YOKE_OK && out->n_rows > 0) {
    yoke_arena scratch = {0};
    status             = build_units(out);
    if (status == YOKE_OK) status = build_rows(out, q, v);
    if (status == YOKE_OK) status = build_normal_matrix(out, &scratch, ctx);
    yoke_arena_free(&scratch);
  }
  if (status != YOKE_OK) yoke_assembly_rows_clear(out);
  return status == YOKE_E_MEMORY ? yoke_out_of_memory(ctx, "the assembly of %d constraints", out->n_rows) : status;
}

/* ---- values ---- */

static double wrapped(double angle) { /* into (-pi, pi]: an angle given as 350 deg is met at -10 deg */
  return remainder(angle, 2.0 * acos(-1.0));
}

double yoke_assembly_residual(yoke_assembly_rows *rows, yoke_assembly_level level, const double *q, const double *v) {
  const int  ng       = rows->equations->ng;
  const bool velocity = level == YOKE_ASSEMBLY_VELOCITIES;
  if (ng > 0) {
    rows->equations->ops->constraint(rows->equations->self, rows->work, rows->t, q, v, velocity ? NULL : rows->r,
                                     velocity ? rows->r : NULL);
  }
  for (int k = 0; k < rows->n_coordinates; ++k) {
    const yoke_connection *c = &rows->model->connections[rows->coordinate_connection[k]];
    double                 coordinate, rate, value[MAX_JOINT_FREEDOMS];
    int                    column[MAX_JOINT_FREEDOMS];
    yoke_multibody_joint_coordinate(rows->mb, rows->work, rows->coordinate_connection[k], q, v, &coordinate, &rate,
                                    column, value);
    if (velocity) {
      rows->r[ng + k] = c->has_initial_rate ? rate - c->initial_rate : 0.0;
    } else if (!c->has_initial || rows->is_free) {
      rows->r[ng + k] = 0.0;
    } else {
      rows->r[ng + k] =
          c->kind == YOKE_CONNECTION_TRANSLATIONAL ? coordinate - c->initial : wrapped(coordinate - c->initial);
    }
  }
  double largest = 0.0;
  for (int i = 0; i < rows->n_rows; ++i) {
    if (rows->is_out[i]) rows->r[i] = 0.0;
    if (!isfinite(rows->r[i])) return INFINITY;
    largest = fmax(largest, fabs(rows->r[i]) / rows->row_unit[i]);
  }
  return largest;
}

double yoke_assembly_distance(const yoke_assembly_rows *rows) {
  double sum = 0.0;
  for (int i = 0; i < rows->n_rows; ++i) sum += rows->r[i] * rows->r[i] / (rows->row_unit[i] * rows->row_unit[i]);
  return sqrt(sum);
}

static void weigh_entries(yoke_assembly_rows *p) {
  for (int k = 0; k < p->nnz; ++k) {
    const int c    = p->column[k];
    p->weighted[k] = p->weight[c] * p->value[k];
    if (!p->is_turn[c]) continue;
    for (int i = 0; i < 3; ++i) p->weighted[k + i] = vec3_dot(p->turn + 3 * (c + i), p->value + k);
    k += 2;
  }
}

void yoke_assembly_fill(yoke_assembly_rows *rows, yoke_assembly_level level, const double *q, const double *v) {
  const yoke_pattern *G  = yoke_multibody_G_pattern(rows->mb);
  const int           ng = rows->equations->ng;
  yoke_multibody_G(rows->mb, rows->work, rows->t, q, rows->G);
  for (int k = 0; k < G->nnz; ++k) rows->value[rows->G_slot[k]] = rows->is_out[G->row[k]] ? 0.0 : rows->G[k];
  for (int k = 0; k < rows->n_coordinates; ++k) {
    const yoke_connection *c = &rows->model->connections[rows->coordinate_connection[k]];
    const int              i = rows->row_start[ng + k];
    double                 coordinate, rate;
    int                    column[MAX_JOINT_FREEDOMS];
    const int  n         = yoke_multibody_joint_coordinate(rows->mb, rows->work, rows->coordinate_connection[k], q, v,
                                                           &coordinate, &rate, column, rows->value + i);
    const bool is_wished = level == YOKE_ASSEMBLY_VELOCITIES ? c->has_initial_rate : c->has_initial && !rows->is_free;
    if (!is_wished || rows->is_out[ng + k]) memset(rows->value + i, 0, (size_t)n * sizeof *rows->value);
  }
  weigh_entries(rows);
}

yoke_status yoke_assembly_step(yoke_assembly_rows *rows) {
  memset(rows->S, 0, (size_t)rows->S_pattern->nnz * sizeof *rows->S);
  for (int m = 0; m < rows->n_products; ++m)
    rows->S[rows->product_slot[m]] += rows->weighted[rows->product_a[m]] * rows->value[rows->product_b[m]];
  for (int r = 0; r < rows->n_rows; ++r) {
    double *diagonal = &rows->S[rows->product_slot[rows->n_products + r]];
    *diagonal += *diagonal > 0.0 ? regularisation * *diagonal : 1.0;
    rows->y[r] = -rows->r[r];
  }
  yoke_factor      *factor = NULL;
  const yoke_status status = yoke_factor_make(rows->linear, rows->S, NULL, &factor);
  if (status == YOKE_OK) yoke_factor_solve(factor, rows->y, NULL, rows->linear_work);
  yoke_factor_release(&factor);
  memset(rows->d, 0, (size_t)rows->equations->nv * sizeof *rows->d);
  if (status != YOKE_OK) return status;
  for (int r = 0; r < rows->n_rows; ++r) {
    for (int k = rows->row_start[r]; k < rows->row_start[r + 1]; ++k)
      rows->d[rows->column[k]] += rows->weighted[k] * rows->y[r];
  }
  return YOKE_OK;
}

/* ---- names ---- */

static int connection_of(const yoke_assembly_rows *p, int row) {
  const int ng = p->equations->ng;
  return row < ng ? yoke_multibody_row_connection(p->mb, row) : p->coordinate_connection[row - ng];
}

static const char *unit_of(const yoke_assembly_rows *p, int row, yoke_assembly_level level) {
  if (level == YOKE_ASSEMBLY_VELOCITIES) return is_length(p, row) ? "m/s" : "rad/s";
  return is_length(p, row) ? "m" : "rad";
}

/* The row with the largest gap of a joint that has not been named yet. */
static int next_gap(const yoke_assembly_rows *p, const int *named, int n_named) {
  int    best    = -1;
  double largest = 0.0;
  for (int r = 0; r < p->n_rows; ++r) {
    const double gap    = fabs(p->r[r]) / p->row_unit[r];
    bool         is_new = true;
    for (int k = 0; k < n_named; ++k) is_new = is_new && named[k] != connection_of(p, r);
    if (!is_new || !(gap > largest)) continue;
    largest = gap;
    best    = r;
  }
  return best;
}

int yoke_assembly_name_gaps(const yoke_assembly_rows *rows, yoke_assembly_level level, char *text, size_t size) {
  int    named[MOST_NAMED], n = 0;
  double largest = 0.0;
  text[0]        = '\0';
  while (n < MOST_NAMED) {
    const int r = next_gap(rows, named, n);
    if (r < 0) break;
    const double gap = fabs(rows->r[r]) / rows->row_unit[r];
    if (n == 0) largest = gap;
    if (gap < shared_gap * largest) break;
    named[n]          = connection_of(rows, r);
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s'%s'%s by %.3g %s", n > 0 ? ", " : "",
             rows->model->connections[named[n]].name,
             r < rows->equations->ng             ? ""
             : level == YOKE_ASSEMBLY_VELOCITIES ? " (its initial_rate)"
                                                 : " (its initial)",
             fabs(rows->r[r]), unit_of(rows, r, level));
    ++n;
  }
  return n;
}
