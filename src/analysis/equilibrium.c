#include "analysis/equilibrium.h"

#include "base/memory.h"
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_STEPS = 2000,
  POLISH    = 4,
  PATIENCE  = 150
}; /* steps without a new smallest force after which there is no hope */

static const double largest_turn = 0.2; /* per step: angles [rad], and first moves relative to the size of the model */
static const double tolerance    = 1e-11; /* of accelerations, relative to those that the forces alone would give */
static const double rounding     = 4 * DBL_EPSILON; /* of positions, relative to the size of the model */

typedef struct rest {
  yoke_arena        arena;
  yoke_context     *ctx;
  yoke_whole_model *whole;
  yoke_dae         *dae;
  int               nq, nqs, nv, ng, n; /* n = nv + ng */
  double           *x, *F, *J, *dense;  /* index-1 form: [nx], [nx], [nnz], [nx, nx] */
  double           *q_before;           /* [nq] */
  double           *force;              /* [nv] without reactions */
  double           *q, *zero, *a;       /* [nq], [nv], [nv] */
  double           *S, *b, *M;          /* [n, n] column major, [n], [nv, nv] */
  lapack_int       *pivots;
  double            size;  /* of the model: largest distance from the origin [m], at least a small one */
  double            scale; /* accelerations that count as large [m/s^2] */
  double            noise; /* accelerations that rounding of positions makes [m/s^2] */
  double            reach; /* largest move of a step [m] */
  bool             *turns; /* [nv] component is a rotation */
} rest;

/* Largest acceleration from rest at q; r->x gets (q, 0, 0, lambda). */
static yoke_status acceleration(rest *r, double *largest, int *where) {
  const yoke_equations *e = &r->whole->equations;
  memset(r->x, 0, (size_t)r->dae->nx * sizeof *r->x);
  memcpy(r->x, r->q, (size_t)r->nq * sizeof *r->x);
  double *lambda = r->dae->i_lambda >= 0 ? r->x + r->dae->i_lambda : r->b;
  YOKE_TRY(
      e->ops->derivative(e->self, r->whole->work, r->whole->model->t_start, r->q, r->zero, NULL, NULL, r->a, lambda));
  *largest = 0.0;
  for (int i = 0; i < r->nv; ++i) {
    const double size = fabs(r->a[i]) * (r->turns[i] ? r->size : 1.0);
    if (size <= *largest) continue;
    *largest = size;
    *where   = i;
  }
  return isfinite(*largest) ? YOKE_OK : YOKE_NON_FINITE;
}

/* Matrix and right-hand side of one step; 1/dtau = `inverse`. */
static yoke_status set_step(rest *r, double inverse) {
  const yoke_equations *e  = &r->whole->equations;
  const yoke_dae       *d  = r->dae;
  const size_t          nx = (size_t)d->nx, n = (size_t)r->n;
  YOKE_TRY(e->ops->dae_jacobian(e->self, d, r->whole->work, r->whole->model->t_start, r->x, NULL, r->J));
  memset(r->dense, 0, nx * nx * sizeof *r->dense);
  for (int c = 0; c < d->nx; ++c) {
    for (int k = d->pattern->col_start[c]; k < d->pattern->col_start[c + 1]; ++k)
      r->dense[(size_t)d->pattern->row[k] * nx + (size_t)c] = r->J[k];
  }
  if (r->ng > 0) memset(r->x + d->i_lambda, 0, (size_t)r->ng * sizeof *r->x); /* lambda itself is solved for */
  YOKE_TRY(e->ops->dae_rhs(e->self, d, r->whole->work, r->whole->model->t_start, r->x, NULL, r->F));
  memset(r->S, 0, n * n * sizeof *r->S);
  for (int j = 0; j < r->nqs; ++j) { /* -K = -d(f + G^T lambda)/dq T; T is all but diagonal */
    for (int k = 0; k < r->nv; ++k) {
      const double T = r->dense[(size_t)j * nx + (size_t)(d->i_v + k)];
      for (int i = 0; T != 0.0 && i < r->nv; ++i)
        r->S[(size_t)k * n + (size_t)i] -= r->dense[(size_t)(d->i_a + i) * nx + (size_t)j] * T;
    }
  }
  for (int i = 0; i < r->nv; ++i) {
    const double *row = r->dense + (size_t)(d->i_a + i) * nx;
    for (int k = 0; k < r->nv; ++k)
      r->S[(size_t)k * n + (size_t)i] += inverse * r->M[(size_t)i * (size_t)r->nv + (size_t)k];
    for (int g = 0; g < r->ng; ++g) r->S[(size_t)(r->nv + g) * n + (size_t)i] = -row[d->i_lambda + g];
    r->b[i] = r->force[i] = r->F[d->i_a + i];
  }
  for (int g = 0; g < r->ng; ++g) {
    const double *row = r->dense + (size_t)(d->i_lambda + g) * nx;
    for (int k = 0; k < r->nv; ++k) r->S[(size_t)k * n + (size_t)(r->nv + g)] = row[d->i_a + k];
    r->S[(size_t)(r->nv + g) * n + (size_t)(r->nv + g)] = row[d->i_lambda + g]; /* retired rows: lambda = 0 */
    r->b[r->nv + g]                                     = 0.0;                  /* q is projected after each step */
  }
  return YOKE_OK;
}

/* r->b := S^-1 b; least squares of least norm when singular (free motions). */
static yoke_status solve(rest *r) {
  const int n = r->n;
  double   *S = r->dense; /* has room: nx >= n */
  memcpy(S, r->S, (size_t)n * (size_t)n * sizeof *S);
  double *b = r->F;
  memcpy(b, r->b, (size_t)n * sizeof *b);
  if (LAPACKE_dgesv(LAPACK_COL_MAJOR, n, 1, S, n, r->pivots, b, n) == 0) {
    memcpy(r->b, b, (size_t)n * sizeof *b);
  } else {
    lapack_int rank;
    memset(r->pivots, 0, (size_t)n * sizeof *r->pivots);
    const lapack_int info = LAPACKE_dgelsy(LAPACK_COL_MAJOR, n, n, 1, r->S, n, r->b, n, r->pivots, 1e-12, &rank);
    if (info == LAPACK_WORK_MEMORY_ERROR) return yoke_out_of_memory(r->ctx, "the rest state of %d velocities", r->nv);
    if (info != 0) return YOKE_SINGULAR;
  }
  for (int i = 0; i < n; ++i) {
    if (!isfinite(r->b[i])) return YOKE_NON_FINITE;
  }
  return YOKE_OK;
}

/* Largest component of a move, relative to what one step may do. */
static double size_of_move(const rest *r) {
  double size = 0.0;
  for (int i = 0; i < r->nv; ++i) size = fmax(size, fabs(r->b[i]) / (r->turns[i] ? largest_turn : r->reach));
  return size;
}

/* What the forces do along the move; reactions of joints do nothing. Negative: the step, long enough to be Newton's, heads for a
 * rest state on a crest. */
static double work_of_move(const rest *r) {
  double sum = 0.0;
  for (int i = 0; i < r->nv; ++i) sum += r->force[i] * r->b[i];
  return sum;
}

/* Root of the sum of squared accelerations: unlike the largest one it falls from the beginning. */
static double effort(const rest *r) {
  double sum = 0.0;
  for (int i = 0; i < r->nv; ++i) sum += r->a[i] * r->a[i] * (r->turns[i] ? r->size * r->size : 1.0);
  return sqrt(sum);
}

/* Move q by r->b and back onto the constraints. */
static yoke_status move(rest *r) {
  const yoke_equations *e = &r->whole->equations;
  yoke_multibody_move(r->whole->mb, r->q, r->b);
  if (e->ops->normalise != NULL) e->ops->normalise(e->self, r->q);
  return e->ng > 0 ? e->ops->project_position(e->self, r->whole->work, r->whole->model->t_start, r->q) : YOKE_OK;
}

static yoke_status not_found(const rest *r, double largest, int where) {
  char name[96];
  yoke_multibody_freedom_name(r->whole->model, r->whole->mb, where, true, name, sizeof name);
  return yoke_fail(
      r->ctx, YOKE_E_NOT_CONVERGED,
      "model '%s': no rest state was found near the start: from rest, %s still changes by %.3g per second; "
      "start nearer to one, or linearise about the start itself (yoke info --at start)",
      r->whole->model->name, name, largest);
}

/* Stiff springs turn rounding of positions into forces: sum over positions of |K| delta, over the mass. */
static yoke_status find_noise(rest *r) {
  YOKE_TRY(set_step(r, 0.0));
  for (int i = 0; i < r->nv; ++i) {
    double force = 0.0;
    for (int k = 0; k < r->nv; ++k)
      force += fabs(r->S[(size_t)k * (size_t)r->n + (size_t)i]) * rounding * (r->turns[k] ? 1.0 : r->size);
    const double mass = r->M[(size_t)i * (size_t)r->nv + (size_t)i];
    if (mass > 0.0) r->noise = fmax(r->noise, force / mass * (r->turns[i] ? r->size : 1.0));
  }
  return YOKE_OK;
}

static bool is_at_rest(const rest *r, double largest, double factor) {
  return largest <= fmax(factor * tolerance * r->scale, r->noise);
}

/* Steps in pseudo-time until the accelerations vanish. */
static yoke_status relax(rest *r) {
  double largest = 0.0;
  int    where = 0, n_still = 0, n_idle = 0;
  YOKE_TRY(acceleration(r, &largest, &where));
  YOKE_TRY(find_noise(r));
  YOKE_TRY(acceleration(r, &largest, &where));
  double now = effort(r), smallest = now;
  r->scale       = fmax(r->scale, largest);
  r->reach       = largest_turn * r->size;
  double inverse = r->scale / (0.01 * r->size); /* 1/dtau: the first step moves by about a hundredth of the size */
  for (int step = 0; step < MAX_STEPS && n_idle < PATIENCE; ++step) {
    if (is_at_rest(r, largest, 1.0) && (largest == 0.0 || ++n_still > POLISH)) return YOKE_OK;
    YOKE_TRY(set_step(r, inverse));
    YOKE_TRY(solve(r));
    const double size = size_of_move(r);
    if (size > 1.0 || (n_still == 0 && work_of_move(r) < 0.0)) { /* too far, or uphill: a shorter step from here */
      inverse = fmax(4.0 * inverse, 1e-6);
      YOKE_TRY(acceleration(r, &largest, &where));
      continue;
    }
    if (n_still > 0 && size < 1e-13) return YOKE_OK;
    const double before = now;
    memcpy(r->q_before, r->q, (size_t)r->nq * sizeof *r->q);
    yoke_status status = move(r);
    if (status == YOKE_OK) status = acceleration(r, &largest, &where);
    now = status == YOKE_OK ? effort(r) : (double)INFINITY;
    if (!(now <= 10.0 * before)) { /* into a wall: back, and not that far again */
      memcpy(r->q, r->q_before, (size_t)r->nq * sizeof *r->q);
      YOKE_TRY(acceleration(r, &largest, &where));
      now = effort(r);
      inverse *= 16.0;
      r->reach *= 0.25;
      ++n_idle;
      continue;
    }
    inverse *= now < before ? fmin(fmax(now / before, 0.1), 0.5) : 0.7; /* forces may grow on the way down */
    r->reach *= 1.5;                                                    /* lengths are not known beforehand */
    n_idle   = now < 0.99 * smallest ? 0 : n_idle + 1;
    smallest = fmin(smallest, now);
  }
  return is_at_rest(r, largest, 1e3) ? YOKE_OK : not_found(r, largest, where);
}

static yoke_status prepare(rest *r) {
  const yoke_whole_model *w = r->whole;
  const yoke_equations   *e = &w->equations;
  YOKE_TRY(e->ops->dae_create(e->self, r->ctx, YOKE_DAE_INDEX1, &r->dae));
  const size_t nx = (size_t)r->dae->nx, n = (size_t)r->n, nv = (size_t)r->nv;
  r->x        = yoke_arena_take(&r->arena, nx + 1, sizeof(double));
  r->F        = yoke_arena_take(&r->arena, nx + 1, sizeof(double));
  r->J        = yoke_arena_take(&r->arena, (size_t)r->dae->pattern->nnz + 1, sizeof(double));
  r->dense    = yoke_arena_take(&r->arena, nx * nx + 1, sizeof(double));
  r->q        = yoke_arena_take(&r->arena, (size_t)r->nq + 1, sizeof(double));
  r->q_before = yoke_arena_take(&r->arena, (size_t)r->nq + 1, sizeof(double));
  r->zero     = yoke_arena_take(&r->arena, nv + 1, sizeof(double));
  r->force    = yoke_arena_take(&r->arena, nv + 1, sizeof(double));
  r->a        = yoke_arena_take(&r->arena, nv + 1, sizeof(double));
  r->S        = yoke_arena_take(&r->arena, n * n + 1, sizeof(double));
  r->b        = yoke_arena_take(&r->arena, n + 1, sizeof(double));
  r->M        = yoke_arena_take(&r->arena, nv * nv + 1, sizeof(double));
  r->pivots   = yoke_arena_take(&r->arena, n + 1, sizeof *r->pivots);
  r->turns    = yoke_arena_take(&r->arena, nv + 1, sizeof *r->turns);
  YOKE_TRY(yoke_arena_check(&r->arena, r->ctx, "the rest state of %d velocities", r->nv));
  memcpy(r->q, w->q, (size_t)r->nq * sizeof *r->q);
  for (int k = 0; k < r->nv; ++k) {
    int component;
    (void)yoke_multibody_freedom_body(w->model, w->mb, k, &component, &r->turns[k]);
    r->zero[k] = 1.0;
    yoke_multibody_mass_apply(w->mb, r->zero, r->a);
    for (int i = 0; i < r->nv; ++i) r->M[(size_t)i * nv + (size_t)k] = r->a[i];
    r->zero[k] = 0.0;
  }
  r->size = 1e-3;
  for (int b = 0; b < w->model->n_bodies; ++b) {
    const int at = yoke_multibody_q_offset(w->mb, b), n_q = yoke_body_nq(&w->model->bodies[b]);
    const int n_lengths = w->model->bodies[b].kind == YOKE_BODY_RIGID ? 3 : n_q;
    for (int i = 0; i < n_lengths; ++i) {
      if (w->model->bodies[b].kind == YOKE_BODY_PLANAR && i == 2) continue;
      r->size = fmax(r->size, fabs(w->q[at + i]));
    }
  }
  for (int i = 0; i < 3; ++i) r->scale = fmax(r->scale, fabs(w->model->gravity[i]));
  return YOKE_OK;
}

yoke_status yoke_equilibrium_find(yoke_context *ctx, yoke_whole_model *whole) {
  const yoke_equations *e = &whole->equations;
  rest                  r = {.ctx   = ctx,
                             .whole = whole,
                             .nq    = e->nq,
                             .nqs   = e->nq - e->n_quadratures,
                             .nv    = e->nv,
                             .ng    = e->ng,
                             .n     = e->nv + e->ng};
  if (e->ops->dae_create == NULL)
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "model '%s' has no analytic Jacobian", whole->model->name);
  yoke_status status = prepare(&r);
  if (status == YOKE_OK) {
    status = relax(&r);
    if (status > 0)
      status = yoke_fail(ctx, YOKE_E_NOT_CONVERGED, "model '%s': the search for a rest state failed (%s)",
                         whole->model->name, yoke_status_text(status));
  }
  if (status == YOKE_OK) {
    memcpy(whole->q, r.q, (size_t)r.nq * sizeof *r.q);
    memset(whole->v, 0, (size_t)r.nv * sizeof *whole->v);
  }
  yoke_dae_destroy(&r.dae);
  yoke_arena_free(&r.arena);
  return status;
}
