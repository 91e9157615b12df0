/* Notation: A = [G; d(coordinate)/dq] has one row per condition, W = 1 for every freedom and 0 for those of kept bodies
 * (small when the joints cannot be closed without them). One Newton step of the positions is the weighted minimum-norm solution of A d = -r:
 *   d = W A^T y,  (A W A^T + eps D) y = -r,  D = diag(A W A^T).
 * The regularisation eps makes redundant conditions harmless: consistent ones do not change the solution. */
#include "model/assembly.h"
#include "base/memory.h"
#include "model/redundancy.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITERATIONS = 60, MAX_HALVINGS = 12, MAX_JOINT_FREEDOMS = 12 };
static const double regularisation = 1e-12; /* eps */
static const double kept_weight    = 1e-6;  /* kept bodies that have to move: share of their mobility */
static const double probe_step     = 1e-2;  /* distance of a second position [rad, or share of the extent] */
static const double tolerance      = 1e-12; /* |r| relative to the size of the mechanism */

typedef struct problem {
  yoke_arena            arena; /* of all arrays below, and of scratch */
  const yoke_model     *model;
  const yoke_multibody *mb;
  const yoke_equations *equations;
  void                 *work;
  double                t;
  int                   n_rows; /* ng + joint coordinates */
  int                   n_coordinates;
  int                  *coordinate_connection; /* [n_coordinates] */
  int                   nnz;                   /* entries of A, by rows */
  int                  *row_start, *column;
  double               *value;
  int                  *G_slot;  /* entry of A for each entry of G's pattern */
  double               *G;       /* values of G */
  double               *weight;  /* [nv] share of mobility */
  bool                  is_free; /* the joint coordinates the user fixed do not count */
  /* S = A W A^T, its pattern and how to fill it: products[k] adds value[a] W value[b] to slot. */
  yoke_pattern         *S_pattern;
  yoke_linear          *linear;
  double               *S, *r, *y, *d, *linear_work;
  int                   n_products;
  int                  *product_a, *product_b, *product_slot;
} problem;

static void problem_clear(problem *p) {
  yoke_linear_destroy(&p->linear);
  yoke_pattern_destroy(&p->S_pattern);
  yoke_arena_free(&p->arena);
}

/* Freedoms of kept bodies get this mobility. Returns whether there are any. */
static bool set_weights(problem *p, bool velocity, double kept) {
  bool any = false;
  for (int i = 0; i < p->equations->nv; ++i) p->weight[i] = 1.0;
  for (int b = 0; b < p->model->n_bodies; ++b) {
    const yoke_body *body = &p->model->bodies[b];
    if (velocity ? !body->fix_velocity : !body->fix_position) continue;
    const int first = yoke_multibody_v_offset(p->mb, b);
    for (int i = 0; i < yoke_body_nv(body); ++i) p->weight[first + i] = kept;
    any = true;
  }
  return any;
}

/* Row pattern of A: the rows of G, then one row per joint coordinate. */
static yoke_status build_rows(problem *p, const double *q, const double *v) {
  const yoke_pattern *G  = yoke_multibody_G_pattern(p->mb);
  const int           ng = p->equations->ng;
  p->row_start           = yoke_arena_take(&p->arena, (size_t)p->n_rows + 2, sizeof *p->row_start);
  const size_t most      = (size_t)G->nnz + (size_t)p->n_coordinates * MAX_JOINT_FREEDOMS + 1;
  p->column              = yoke_arena_take(&p->arena, most, sizeof *p->column);
  p->value               = yoke_arena_take(&p->arena, most, sizeof *p->value);
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
static yoke_status build_normal_matrix(problem *p, yoke_arena *scratch, yoke_context *ctx) {
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

static double wrapped(double angle) { /* into (-pi, pi]: an angle given as 350 deg is met at -10 deg */
  return remainder(angle, 2.0 * acos(-1.0));
}

/* r at q; on the velocity level with v. Returns the largest |r| and its row. */
static double residual(problem *p, const double *q, const double *v, bool velocity, int *worst) {
  const int ng = p->equations->ng;
  if (ng > 0) {
    p->equations->ops->constraint(p->equations->self, p->work, p->t, q, v, velocity ? NULL : p->r,
                                  velocity ? p->r : NULL);
  }
  for (int k = 0; k < p->n_coordinates; ++k) {
    const yoke_connection *c = &p->model->connections[p->coordinate_connection[k]];
    double                 coordinate, rate, value[MAX_JOINT_FREEDOMS];
    int                    column[MAX_JOINT_FREEDOMS];
    yoke_multibody_joint_coordinate(p->mb, p->work, p->coordinate_connection[k], q, v, &coordinate, &rate, column,
                                    value);
    if (velocity) {
      p->r[ng + k] = c->has_initial_rate ? rate - c->initial_rate : 0.0;
    } else if (!c->has_initial || p->is_free) {
      p->r[ng + k] = 0.0;
    } else {
      p->r[ng + k] =
          c->kind == YOKE_CONNECTION_TRANSLATIONAL ? coordinate - c->initial : wrapped(coordinate - c->initial);
    }
  }
  double largest = 0.0;
  *worst         = -1;
  for (int i = 0; i < p->n_rows; ++i) {
    if (!(fabs(p->r[i]) <= largest)) { /* catches not-a-number */
      largest = fabs(p->r[i]);
      *worst  = i;
    }
    if (isnan(p->r[i])) return INFINITY;
  }
  return largest;
}

/* Values of A at q. A coordinate without a wish on this level gets an empty row. */
static void fill_rows(problem *p, const double *q, const double *v, bool velocity) {
  const yoke_pattern *G = yoke_multibody_G_pattern(p->mb);
  yoke_multibody_G(p->mb, p->work, p->t, q, p->G);
  for (int k = 0; k < G->nnz; ++k) p->value[p->G_slot[k]] = p->G[k];
  for (int k = 0; k < p->n_coordinates; ++k) {
    const yoke_connection *c = &p->model->connections[p->coordinate_connection[k]];
    const int              i = p->row_start[p->equations->ng + k];
    double                 coordinate, rate;
    int                    column[MAX_JOINT_FREEDOMS];
    const int n = yoke_multibody_joint_coordinate(p->mb, p->work, p->coordinate_connection[k], q, v, &coordinate, &rate,
                                                  column, p->value + i);
    if (velocity ? !c->has_initial_rate : !c->has_initial || p->is_free)
      memset(p->value + i, 0, (size_t)n * sizeof *p->value);
  }
}

/* S = A W A^T, not yet regularised. */
static void fill_normal_matrix(problem *p) {
  memset(p->S, 0, (size_t)p->S_pattern->nnz * sizeof *p->S);
  for (int m = 0; m < p->n_products; ++m) {
    const int a = p->product_a[m], b = p->product_b[m];
    p->S[p->product_slot[m]] += p->value[a] * p->weight[p->column[a]] * p->value[b];
  }
}

/* d = -W A^T (S + eps D)^-1 r */
static yoke_status newton_direction(problem *p) {
  fill_normal_matrix(p);
  for (int r = 0; r < p->n_rows; ++r) {
    double *diagonal = &p->S[p->product_slot[p->n_products + r]];
    *diagonal += *diagonal > 0.0 ? regularisation * *diagonal : 1.0;
    p->y[r] = -p->r[r];
  }
  yoke_factor      *factor = NULL;
  const yoke_status status = yoke_factor_make(p->linear, p->S, NULL, &factor);
  if (status == YOKE_OK) yoke_factor_solve(factor, p->y, NULL, p->linear_work);
  yoke_factor_release(&factor);
  memset(p->d, 0, (size_t)p->equations->nv * sizeof *p->d);
  if (status != YOKE_OK) return status;
  for (int r = 0; r < p->n_rows; ++r) {
    for (int k = p->row_start[r]; k < p->row_start[r + 1]; ++k)
      p->d[p->column[k]] += p->weight[p->column[k]] * p->value[k] * p->y[r];
  }
  return YOKE_OK;
}

static void name_row(const problem *p, int row, char *label, size_t size) {
  if (row < 0) {
    snprintf(label, size, "unknown joint");
  } else if (row < p->equations->ng) {
    yoke_multibody_row_label(p->mb, row, label, size);
  } else {
    snprintf(label, size, "%s: initial coordinate",
             p->model->connections[p->coordinate_connection[row - p->equations->ng]].name);
  }
}

/* Size of the mechanism [m]: residuals are judged against it. */
static double extent(const yoke_model *model) {
  double size = 0.0;
  for (int f = 0; f < model->n_frames; ++f) {
    for (int k = 0; k < 3; ++k) size = fmax(size, fabs(model->frames[f].origin[k]));
  }
  for (int b = 0; b < model->n_bodies; ++b) {
    for (int k = 0; k < 3; ++k) size = fmax(size, fabs(model->bodies[b].position[k]));
  }
  return fmax(size, 1e-3);
}

static double norm(int n, const double *x) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += x[i] * x[i];
  return sqrt(sum);
}

static double largest_of(int n, const double *x) {
  double largest = 0.0;
  for (int i = 0; i < n; ++i) largest = fmax(largest, fabs(x[i]));
  return largest;
}

static double position_limit(const problem *p) {
  return tolerance * fmax(1.0, extent(p->model));
}

/* Damped Newton: a step is bounded by the size of the mechanism and halved until |r| falls. `total` [nv], NULL: not
 * wanted, receives the sum of all steps. p->r is left at the result. Not converged: q is the best position found. */
static yoke_status close_positions(problem *p, double *q, const double *v, double *total) {
  const int    nq = p->equations->nq, nv = p->equations->nv;
  const double limit = position_limit(p), longest = fmax(1.0, extent(p->model));
  const size_t mark   = yoke_arena_mark(&p->arena);
  double      *trial  = yoke_arena_take(&p->arena, (size_t)nq, sizeof *trial);
  double      *step   = yoke_arena_take(&p->arena, (size_t)nv, sizeof *step);
  yoke_status  status = YOKE_OK;
  int          worst;
  if (p->arena.has_failed) return YOKE_E_MEMORY;
  for (int i = 0; i < MAX_ITERATIONS && residual(p, q, v, false, &worst) > limit; ++i) {
    const double now = norm(p->n_rows, p->r);
    fill_rows(p, q, v, false);
    status = newton_direction(p);
    if (status != YOKE_OK) break;
    double share = fmin(1.0, longest / fmax(largest_of(nv, p->d), 1e-300)), after = now;
    for (int k = 0; k < MAX_HALVINGS; ++k, share *= 0.5) {
      for (int j = 0; j < nv; ++j) step[j] = share * p->d[j];
      memcpy(trial, q, (size_t)nq * sizeof *trial);
      yoke_multibody_move(p->mb, trial, step);
      (void)residual(p, trial, v, false, &worst);
      after = norm(p->n_rows, p->r);
      if (after < now * (1.0 - 0.1 * share)) break;
    }
    if (!(after < now)) break; /* the last digits, or a dead end */
    memcpy(q, trial, (size_t)nq * sizeof *q);
    for (int j = 0; j < nv && total != NULL; ++j) total[j] += step[j];
  }
  yoke_arena_release(&p->arena, mark);
  if (status == YOKE_E_MEMORY) return status;
  return residual(p, q, v, false, &worst) <= 1e4 * limit ? YOKE_OK : YOKE_NOT_CONVERGED;
}

static yoke_status fail_open(const problem *p, yoke_context *ctx) {
  char label[200];
  int  worst = 0;
  for (int i = 0; i < p->n_rows; ++i) {
    if (!(fabs(p->r[i]) <= fabs(p->r[worst]))) worst = i;
  }
  name_row(p, worst, label, sizeof label);
  return yoke_fail(ctx, YOKE_E_MODEL,
                   "the mechanism cannot be assembled: joint '%s' stays open by %.3g (m or rad) from the given start; "
                   "check lengths, frames and the starting positions",
                   label, fabs(p->r[worst]));
}

/* Kept bodies stand still unless the joints cannot be closed without them. */
static yoke_status solve_positions(problem *p, yoke_context *ctx, double *q, const double *v, double *moved) {
  const int    nq    = p->equations->nq;
  const size_t mark  = yoke_arena_mark(&p->arena);
  double      *guess = yoke_arena_copy(&p->arena, q, (size_t)nq, sizeof *guess);
  double      *total = yoke_arena_take(&p->arena, (size_t)p->equations->nv, sizeof *total);
  if (p->arena.has_failed) return YOKE_E_MEMORY;
  const bool  any_kept = set_weights(p, false, 0.0);
  yoke_status status   = close_positions(p, q, v, total);
  if (status == YOKE_NOT_CONVERGED && any_kept) {
    (void)set_weights(p, false, kept_weight);
    memcpy(q, guess, (size_t)nq * sizeof *q);
    memset(total, 0, (size_t)p->equations->nv * sizeof *total);
    status = close_positions(p, q, v, total);
    if (status == YOKE_OK) yoke_note(ctx, "the joints cannot be closed without moving bodies marked `keep`");
  }
  *moved = largest_of(p->equations->nv, total);
  yoke_arena_release(&p->arena, mark);
  return status == YOKE_NOT_CONVERGED ? fail_open(p, ctx) : status;
}

/* Linear: one step, then refinement. *now receives the largest |r|. Fails with YOKE_E_MEMORY only. */
static yoke_status correct_velocities(problem *p, const double *q, double *v, double limit, int *worst, double *now) {
  *now = residual(p, q, v, true, worst);
  for (int i = 0; i < 3 && *now > limit; ++i) {
    fill_rows(p, q, v, true);
    const yoke_status status = newton_direction(p);
    if (status == YOKE_E_MEMORY) return status;
    if (status != YOKE_OK) break;
    for (int j = 0; j < p->equations->nv; ++j) v[j] += p->d[j];
    *now = residual(p, q, v, true, worst);
  }
  return YOKE_OK;
}

static yoke_status solve_velocities(problem *p, yoke_context *ctx, const double *q, double *v) {
  const double scale    = fmax(1.0, largest_of(p->equations->nv, v));
  int          worst    = -1;
  const bool   any_kept = set_weights(p, true, 0.0);
  double       now      = 0.0;
  YOKE_TRY(correct_velocities(p, q, v, tolerance * scale, &worst, &now));
  if (!(now <= 1e-7 * scale) && any_kept) {
    (void)set_weights(p, true, kept_weight);
    YOKE_TRY(correct_velocities(p, q, v, tolerance * scale, &worst, &now));
    if (now <= 1e-7 * scale) yoke_note(ctx, "no velocities fit all joints unless bodies marked `keep` change theirs");
  }
  if (!(now <= 1e-7 * scale)) {
    char label[200];
    name_row(p, worst, label, sizeof label);
    return yoke_fail(ctx, YOKE_E_MODEL, "no velocities fit all joints: '%s' is violated by %.3g (m/s or rad/s)", label,
                     now);
  }
  return YOKE_OK;
}

/* Another position q2 of the mechanism near q: a small step along a pseudo-random direction without its part that
 * violates the constraints, then closed again. A mechanism that cannot move stays. */
static yoke_status probe_position(problem *p, const double *q, const double *v, double *q2) {
  const int    nv   = p->equations->nv;
  const size_t mark = yoke_arena_mark(&p->arena);
  double      *step = yoke_arena_take(&p->arena, (size_t)nv, sizeof *step);
  if (p->arena.has_failed) return YOKE_E_MEMORY;
  uint32_t seed = 1u;
  for (int i = 0; i < nv; ++i) {
    seed         = seed * 1664525u + 1013904223u;
    p->weight[i] = 1.0;
    step[i]      = (double)(seed >> 8) / 8388608.0 - 1.0;
  }
  memcpy(q2, q, (size_t)p->equations->nq * sizeof *q2);
  p->is_free = true;
  fill_rows(p, q, v, false);
  yoke_status status = YOKE_OK;
  for (int sweep = 0; sweep < 2 && status == YOKE_OK; ++sweep) { /* twice: the solve is regularised */
    for (int r = 0; r < p->n_rows; ++r) {
      p->r[r] = 0.0;
      for (int k = p->row_start[r]; k < p->row_start[r + 1]; ++k) p->r[r] += p->value[k] * step[p->column[k]];
    }
    status = newton_direction(p);
    for (int i = 0; i < nv; ++i) step[i] += p->d[i];
  }
  const double size = largest_of(nv, step), scale = probe_step * fmin(1.0, extent(p->model)) / fmax(size, 1e-300);
  if (status == YOKE_OK && size > 1e-6) {
    for (int i = 0; i < nv; ++i) step[i] *= scale;
    yoke_multibody_move(p->mb, q2, step);
    status = close_positions(p, q2, v, NULL);
  }
  p->is_free = false;
  yoke_arena_release(&p->arena, mark);
  return status;
}

/* Rows that follow from the others at q and also at another position: at a singular position some do so for an
 * instant only. When no second position is found, no row counts as redundant. */
static yoke_status find_redundancy(problem *p, const double *q, const double *v, yoke_assembly *out) {
  YOKE_TRY(yoke_redundancy_rows(p->mb, p->work, p->t, q, NULL, &out->n_redundant, &out->redundant));
  if (out->n_redundant == 0) return YOKE_OK;
  out->probe = malloc(((size_t)p->equations->nq + 1) * sizeof *out->probe);
  if (out->probe == NULL) return YOKE_E_MEMORY;
  const yoke_status status = probe_position(p, q, v, out->probe);
  free(out->redundant);
  out->redundant   = NULL;
  out->n_redundant = 0;
  if (status == YOKE_OK)
    return yoke_redundancy_rows(p->mb, p->work, p->t, out->probe, NULL, &out->n_redundant, &out->redundant);
  return status != YOKE_E_MEMORY ? YOKE_OK : status;
}

yoke_status yoke_assembly_solve(yoke_context *ctx, const yoke_model *model, const yoke_multibody *mb,
                                const yoke_equations *equations, void *work, double t, double *q, double *v,
                                yoke_assembly *out) {
  *out = (yoke_assembly){0};
  yoke_multibody_initial_guess(mb, q, v);
  problem p               = {.model = model, .mb = mb, .equations = equations, .work = work, .t = t};
  p.coordinate_connection = yoke_arena_take(&p.arena, (size_t)model->n_connections, sizeof *p.coordinate_connection);
  yoke_status status      = yoke_arena_check(&p.arena, ctx, "the assembly of %d constraints", equations->ng);
  if (status != YOKE_OK) {
    problem_clear(&p);
    return status;
  }
  for (int c = 0; c < model->n_connections; ++c) {
    const yoke_connection *connection = &model->connections[c];
    if (!connection->has_initial && !connection->has_initial_rate) continue;
    double coordinate, rate, value[MAX_JOINT_FREEDOMS];
    int    column[MAX_JOINT_FREEDOMS];
    if (yoke_multibody_joint_coordinate(mb, work, c, q, v, &coordinate, &rate, column, value) == 0) {
      problem_clear(&p);
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "connection '%s': a %s has no joint coordinate, so `initial` has no meaning here",
                       connection->name, yoke_connection_kind_name(connection->kind));
    }
    p.coordinate_connection[p.n_coordinates++] = c;
  }
  p.n_rows = equations->ng + p.n_coordinates;
  if (p.n_rows == 0) {
    problem_clear(&p);
    return YOKE_OK;
  }
  yoke_arena scratch = {0};
  p.weight           = yoke_arena_take(&p.arena, (size_t)equations->nv, sizeof *p.weight);
  status             = build_rows(&p, q, v);
  if (status == YOKE_OK) status = build_normal_matrix(&p, &scratch, ctx);
  yoke_arena_free(&scratch);
  if (status == YOKE_OK) status = solve_positions(&p, ctx, q, v, &out->moved);
  if (status == YOKE_OK) status = solve_velocities(&p, ctx, q, v);
  if (status == YOKE_OK && equations->ng > 0) status = find_redundancy(&p, q, v, out);
  problem_clear(&p);
  return status == YOKE_E_MEMORY ? yoke_out_of_memory(ctx, "the assembly of %d constraints", p.n_rows) : status;
}

void yoke_assembly_clear(yoke_assembly *assembly) {
  free(assembly->redundant);
  free(assembly->probe);
  *assembly = (yoke_assembly){0};
}
