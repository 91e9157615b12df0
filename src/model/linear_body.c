#include "model/linear_body.h"

#include "linalg/space.h"
#include <string.h>

void yoke_linear_body_mass(const yoke_linear_body *body, int n, yoke_flexible_entry *entry, void *user) {
  const yoke_symmetric *M = &body->mass;
  for (int i = 0; i < n; ++i) {
    for (int k = M->start[i]; k < M->start[i + 1]; ++k) entry(user, i, M->column[k], M->value[k]);
  }
}

/* ---- displacements ---- */

/* Which of the three rotations of a rigid point is freedom i? -1: it is none. Triples rise. */
static int turn_of(const yoke_linear_body *body, int i) {
  int low = 0, high = body->n_turns;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (body->turn[middle] + 3 > i) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low < body->n_turns && i >= body->turn[low] ? i - body->turn[low] : -1;
}

/* d = slope q - rest */
static double slope_of(const yoke_linear_body *body, int i) {
  return body->n_turns > 0 && turn_of(body, i) >= 0 ? 2.0 : 1.0;
}

static double displacement(const yoke_linear_body *body, const double *q, int i) {
  return slope_of(body, i) * q[body->place[i]] - body->rest[i];
}

/* T^T = q0 - [qv]x of a triple. */
static void set_turning(const double *p, double T[9]) {
  mat3_cross(T, p + 1);
  for (int k = 0; k < 9; ++k) T[k] = (k % 4 == 0 ? p[0] : 0.0) - T[k];
}

/* Euler parameters of the point of a triple. */
static const double *parameters_of(const yoke_linear_body *body, const double *q, int turn) {
  return q + body->place[body->turn[turn]] - 1;
}

static double row_times(const yoke_symmetric *A, int i, const double *x) {
  double sum = 0.0;
  for (int k = A->start[i]; k < A->start[i + 1]; ++k) sum += A->value[k] * x[A->column[k]];
  return sum;
}

/* (K d)_i */
static double spring_force(const yoke_linear_body *body, int i, const double *q) {
  const yoke_symmetric *K   = &body->stiffness;
  double                sum = 0.0;
  for (int k = K->start[i]; k < K->start[i + 1]; ++k) sum += K->value[k] * displacement(body, q, K->column[k]);
  return sum;
}

/* ---- forces ---- */

void yoke_linear_body_force(const yoke_linear_body *body, int n, const double *q, const double *v, double *f) {
  for (int i = 0; i < n; ++i) f[i] = body->load[i] - spring_force(body, i, q);
  for (int t = 0; t < body->n_turns; ++t) {
    double T[9], g[3];
    vec3_copy(g, f + body->turn[t]);
    set_turning(parameters_of(body, q, t), T);
    mat3_apply(f + body->turn[t], T, g);
  }
  for (int i = 0; i < n; ++i) f[i] -= row_times(&body->damping, i, v);
}

/* Rows of a triple mix: -T^T K dd/dq, and d(T^T g)/dq with g = load - K d: g by q0, [g]x by qv. */
static void turned_rows(const yoke_linear_body *body, int turn, const double *q, yoke_flexible_block *block,
                        void *user) {
  const yoke_symmetric *K     = &body->stiffness;
  const int             first = body->turn[turn], at = body->place[first] - 1;
  double                T[9], g[3], C[9];
  set_turning(q + at, T);
  for (int k = 0; k < 3; ++k) {
    g[k] = body->load[first + k] - spring_force(body, first + k, q);
    for (int e = K->start[first + k]; e < K->start[first + k + 1]; ++e) {
      const double x = -K->value[e] * slope_of(body, K->column[e]);
      for (int l = 0; l < 3; ++l) {
        const double share = T[3 * l + k] * x;
        block(user, false, first + l, body->place[K->column[e]], 1, &share);
      }
    }
  }
  mat3_cross(C, g);
  for (int l = 0; l < 3; ++l) {
    block(user, false, first + l, at, 1, &g[l]);
    for (int k = 0; k < 3; ++k) block(user, false, first + l, at + 1 + k, 1, &C[3 * l + k]);
  }
}

void yoke_linear_body_jacobian(const yoke_linear_body *body, int n, const double *q, yoke_flexible_block *block,
                               void *user) {
  const yoke_symmetric *K = &body->stiffness, *D = &body->damping;
  for (int i = 0; i < n; ++i) {
    for (int k = K->start[i]; (body->n_turns == 0 || turn_of(body, i) < 0) && k < K->start[i + 1]; ++k) {
      const double x = -K->value[k] * slope_of(body, K->column[k]);
      block(user, false, i, body->place[K->column[k]], 1, &x);
    }
    for (int k = D->start[i]; k < D->start[i + 1]; ++k) {
      const double x = -D->value[k];
      block(user, true, i, D->column[k], 1, &x);
    }
  }
  for (int t = 0; t < body->n_turns; ++t) turned_rows(body, t, q, block, user);
}

void yoke_linear_body_energy(const yoke_linear_body *body, int n, const double *q, const double *v, double *kinetic,
                             double *potential) {
  for (int i = 0; i < n; ++i) {
    *kinetic += 0.5 * v[i] * row_times(&body->mass, i, v);
    *potential += displacement(body, q, i) * (0.5 * spring_force(body, i, q) - body->load[i]);
  }
}

void yoke_linear_body_power_lost(const yoke_linear_body *body, int n, const double *v, double *lost) {
  for (int i = 0; i < n; ++i) *lost += v[i] * row_times(&body->damping, i, v);
}

/* ---- copies ---- */

static void copy_matrix(yoke_arena *arena, const yoke_symmetric *from, int n, yoke_symmetric *out) {
  const size_t nnz = (size_t)from->start[n];
  out->start       = yoke_arena_copy(arena, from->start, (size_t)n + 1, sizeof *out->start);
  out->column      = yoke_arena_copy(arena, from->column, nnz, sizeof *out->column);
  out->value       = yoke_arena_copy(arena, from->value, nnz, sizeof *out->value);
}

void yoke_linear_body_copy(yoke_arena *arena, const yoke_linear_body *from, int n, yoke_linear_body *out) {
  copy_matrix(arena, &from->mass, n, &out->mass);
  copy_matrix(arena, &from->damping, n, &out->damping);
  copy_matrix(arena, &from->stiffness, n, &out->stiffness);
  out->rest    = yoke_arena_copy(arena, from->rest, (size_t)n, sizeof *out->rest);
  out->load    = yoke_arena_copy(arena, from->load, (size_t)n, sizeof *out->load);
  out->place   = yoke_arena_copy(arena, from->place, (size_t)n, sizeof *out->place);
  out->n_turns = from->n_turns;
  out->turn    = yoke_arena_copy(arena, from->turn, (size_t)from->n_turns, sizeof *out->turn);
}
