#include "model/linear_body.h"

void yoke_linear_body_mass(const yoke_linear_body *body, int n, yoke_flexible_entry *entry, void *user) {
  const yoke_symmetric *M = &body->mass;
  for (int i = 0; i < n; ++i) {
    for (int k = M->start[i]; k < M->start[i + 1]; ++k) entry(user, i, M->column[k], M->value[k]);
  }
}

static double row_times(const yoke_symmetric *A, int i, const double *x) {
  double sum = 0.0;
  for (int k = A->start[i]; k < A->start[i + 1]; ++k) sum += A->value[k] * x[A->column[k]];
  return sum;
}

static double row_times_difference(const yoke_symmetric *A, int i, const double *x, const double *y) {
  double sum = 0.0;
  for (int k = A->start[i]; k < A->start[i + 1]; ++k) sum += A->value[k] * (x[A->column[k]] - y[A->column[k]]);
  return sum;
}

void yoke_linear_body_force(const yoke_linear_body *body, int n, const double *q, const double *v, double *f) {
  for (int i = 0; i < n; ++i) {
    f[i] = body->load[i] - row_times_difference(&body->stiffness, i, q, body->rest) - row_times(&body->damping, i, v);
  }
}

static void visit(const yoke_symmetric *A, int n, bool by_velocity, yoke_flexible_block *block, void *user) {
  for (int i = 0; i < n; ++i) {
    for (int k = A->start[i]; k < A->start[i + 1]; ++k) {
      const double minus = -A->value[k];
      block(user, by_velocity, i, A->column[k], 1, &minus);
    }
  }
}

void yoke_linear_body_jacobian(const yoke_linear_body *body, int n, yoke_flexible_block *block, void *user) {
  visit(&body->stiffness, n, false, block, user);
  visit(&body->damping, n, true, block, user);
}

void yoke_linear_body_energy(const yoke_linear_body *body, int n, const double *q, const double *v, double *kinetic,
                             double *potential, double *dissipated) {
  for (int i = 0; i < n; ++i) {
    const double d = q[i] - body->rest[i];
    *kinetic += 0.5 * v[i] * row_times(&body->mass, i, v);
    *potential += d * (0.5 * row_times_difference(&body->stiffness, i, q, body->rest) - body->load[i]);
    *dissipated += v[i] * row_times(&body->damping, i, v);
  }
}

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
  out->rest = yoke_arena_copy(arena, from->rest, (size_t)n, sizeof *out->rest);
  out->load = yoke_arena_copy(arena, from->load, (size_t)n, sizeof *out->load);
}
