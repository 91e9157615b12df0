#include "analysis/equilibrium.h"

#include "analysis/downhill.h"
#include "linalg/lapack.h"
#include "base/cancel.h"
#include "base/memory.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_STEPS    = 2000,
  POLISH       = 4,
  PATIENCE     = 150, /* steps without a new smallest force after which there is no hope */
  MAX_HALVINGS = 10,  /* of a load step */
  MOST_DENSE   = 200  /* unknowns of a dense matrix */
};

static const double largest_turn = 0.2; /* per step: angles [rad], and first moves relative to the size of the model */
static const double tolerance    = 1e-11; /* of accelerations, relative to those that the forces alone would give */
static const double on_the_way   = 1e-6;  /* the same of load steps but the last */
static const double rounding     = 4 * DBL_EPSILON; /* of positions, relative to the size of the model */

/* S[slot] += factor J[a], or factor J[a] J[b]. */
typedef struct term {
  int    slot, column, a, b;
  double factor;
} term;

typedef struct rest {
  yoke_arena                      arena;
  yoke_context                   *ctx;
  yoke_whole_model               *whole;
  const yoke_equilibrium_options *options;
  yoke_dae                       *dae;
  int                             nq, nqs, nv, ng, n; /* n = nv + ng */
  double                         *x, *F, *J;          /* index-1 form: [nx], [nx], [nnz] */
  double                         *q_before, *q_load;  /* [nq]; that of the last load step */
  double                         *force;              /* [nv] without reactions */
  double                         *start_force;        /* [nv] f_0 */
  double                         *q, *zero, *a;       /* [nq], [nv], [nv] */
  double                         *a_0, *lambda_0;     /* [nv], [ng] that f_0 alone gives */
  void                           *motion;             /* factor of the accelerations */
  yoke_pattern                   *pattern;            /* of S [n, n] */
  yoke_linear                    *linear;
  yoke_factor                    *factor;
  int                             n_stiff, n_mass, n_joint; /* terms of K, of M, of G and G^T */
  term                           *stiff, *mass, *joint;
  double                         *S, *M, *b, *work; /* [nnz], [n_mass], [n] */
  double                          relief;           /* 1 - s */
  double                          size;  /* of the model: largest distance from the origin [m], at least a small one */
  double                          scale; /* accelerations that count as large [m/s^2] */
  double                         *noise; /* [nv] accelerations that rounding of positions makes [m/s^2, rad/s^2] */
  double                          reach; /* largest move of a step [m] */
  bool                            has_potential; /* of all forces, and none is relieved by load steps */
  double                          fall;          /* of the potential so far [J] */
  bool                           *turns;         /* [nv] component is a rotation */
  yoke_equilibrium_facts          facts;
} rest;

static double t_of(const rest *r) {
  return r->whole->model->t_start;
}

/* What f_0 alone would do at q: part of it is taken away. */
static yoke_status relieve(rest *r, double *lambda) {
  const yoke_equations *e = &r->whole->equations;
  YOKE_TRY(e->ops->motion_factor(e->self, r->whole->work, t_of(r), r->q, r->zero, NULL, r->motion));
  memcpy(r->a_0, r->start_force, (size_t)r->nv * sizeof *r->a_0);
  memset(r->lambda_0, 0, (size_t)r->ng * sizeof *r->lambda_0);
  e->ops->motion_solve(e->self, r->motion, 1, r->a_0, r->lambda_0);
  for (int i = 0; i < r->nv; ++i) r->a[i] -= r->relief * r->a_0[i];
  for (int g = 0; g < r->ng; ++g) lambda[g] -= r->relief * r->lambda_0[g];
  return YOKE_OK;
}

/* Largest acceleration from rest at q; r->x gets (q, 0, 0, lambda). */
static yoke_status acceleration(rest *r, double *largest, int *where) {
  const yoke_equations *e = &r->whole->equations;
  memset(r->x, 0, (size_t)r->dae->nx * sizeof *r->x);
  memcpy(r->x, r->q, (size_t)r->nq * sizeof *r->x);
  double *lambda = r->dae->i_lambda >= 0 ? r->x + r->dae->i_lambda : r->b;
  YOKE_TRY(e->ops->derivative(e->self, r->whole->work, t_of(r), r->q, r->zero, NULL, NULL, r->a, lambda));
  if (r->relief > 0.0) YOKE_TRY(relieve(r, lambda));
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
  const yoke_equations *e = &r->whole->equations;
  const yoke_dae       *d = r->dae;
  YOKE_TRY(e->ops->dae_jacobian(e->self, d, r->whole->work, t_of(r), r->x, NULL, r->J));
  if (r->ng > 0) memset(r->x + d->i_lambda, 0, (size_t)r->ng * sizeof *r->x); /* lambda itself is solved for */
  YOKE_TRY(e->ops->dae_rhs(e->self, d, r->whole->work, t_of(r), r->x, NULL, r->F));
  memset(r->S, 0, (size_t)r->pattern->nnz * sizeof *r->S);
  for (int k = 0; k < r->n_stiff; ++k) r->S[r->stiff[k].slot] -= r->J[r->stiff[k].a] * r->J[r->stiff[k].b];
  for (int k = 0; k < r->n_mass; ++k) r->S[r->mass[k].slot] += inverse * r->M[k];
  for (int k = 0; k < r->n_joint; ++k) r->S[r->joint[k].slot] += r->joint[k].factor * r->J[r->joint[k].a];
  for (int i = 0; i < r->nv; ++i) r->b[i] = r->force[i] = r->F[d->i_a + i] - r->relief * r->start_force[i];
  for (int g = 0; g < r->ng; ++g) r->b[r->nv + g] = 0.0; /* q is projected after each step */
  return YOKE_OK;
}

/* Least squares of least norm, for free motions. */
static yoke_status solve_singular(rest *r) {
  const int    n       = r->n;
  const size_t entries = (size_t)n * (size_t)n;
  double      *S       = yoke_allocate(entries + 1, sizeof *S);
  lapack_int  *pivots  = yoke_allocate((size_t)n + 1, sizeof *pivots), rank;
  lapack_int   info    = LAPACK_NO_MEMORY;
  for (int c = 0; S != NULL && c < n; ++c) {
    for (int k = r->pattern->col_start[c]; k < r->pattern->col_start[c + 1]; ++k)
      S[(size_t)c * (size_t)n + (size_t)r->pattern->row[k]] = r->S[k];
  }
  if (S != NULL && pivots != NULL) info = lapack_dgelsy(n, n, 1, S, n, r->b, n, pivots, 1e-12, &rank);
  free(S);
  free(pivots);
  if (info == LAPACK_NO_MEMORY) return yoke_out_of_memory(r->ctx, "the rest state of %d velocities", r->nv);
  return info == 0 ? YOKE_OK : YOKE_SINGULAR;
}

/* r->b := S^-1 b. YOKE_SINGULAR: the matrix is, and too large for other ways. */
static yoke_status solve(rest *r) {
  const yoke_status status = yoke_factor_make(r->linear, r->S, NULL, &r->factor);
  if (status == YOKE_OK)
    yoke_factor_solve(r->factor, r->b, NULL, r->work);
  else if (status == YOKE_SINGULAR && r->n <= MOST_DENSE)
    YOKE_TRY(solve_singular(r));
  else
    return status;
  for (int i = 0; i < r->n; ++i) {
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
  return e->ng > 0 ? e->ops->project_position(e->self, r->whole->work, t_of(r), r->q) : YOKE_OK;
}

/* r->b := the motion that the forces of the start lead to in a long time, (M/dtau + K)^-1 f: where nothing holds the model it is much larger than
 * elsewhere, and stiffness takes no part in the work of the forces along it; where they push away from a crest, what they accelerate. False:
 * something does hold it. */
static bool finds_free_motion(rest *r) {
  static const double share    = 0.01; /* of the work */
  const double        measured = r->scale / r->size;
  double              largest;
  int                 unused;
  r->relief = 0.0;
  memcpy(r->q, r->whole->q, (size_t)r->nq * sizeof *r->q);
  if (acceleration(r, &largest, &unused) != YOKE_OK) return false;
  for (double inverse = 1e-4 * measured; inverse > 1e-11 * measured; inverse *= 1e-2) {
    double kinetic = 0.0;
    if (set_step(r, inverse) != YOKE_OK || solve(r) != YOKE_OK) return false;
    for (int k = 0; k < r->n_mass; ++k)
      kinetic += r->b[r->pattern->row[r->mass[k].slot]] * r->M[k] * r->b[r->mass[k].column];
    const double work = work_of_move(r);
    if (work > 0.0 && work - inverse * kinetic <= share * work) return true;
    if (work >= 0.0) continue;
    memcpy(r->b, r->a, (size_t)r->nv * sizeof *r->b);
    return true;
  }
  return false;
}

/* Names the largest component of the motion r->b and what drives it. */
static yoke_status blame(const rest *r) {
  static const char *const remedies[] = {
      [YOKE_DRIVER_WEIGHT]     = "hold it by a joint or a spring, or leave the weight out (gravity)",
      [YOKE_DRIVER_LOAD]       = "hold it by a joint or a spring, or leave the load out",
      [YOKE_DRIVER_CONNECTION] = "hold it by a joint, or by a spring whose force grows against it",
      [YOKE_DRIVER_BODY]       = "hold it by a joint or a spring, or leave the load out"};
  static const char *const words[] = {[YOKE_DRIVER_WEIGHT]     = "the weight",
                                      [YOKE_DRIVER_LOAD]       = "load",
                                      [YOKE_DRIVER_CONNECTION] = "the force of connection",
                                      [YOKE_DRIVER_BODY]       = "what acts inside of"};
  const yoke_whole_model  *w       = r->whole;
  const yoke_driver        driver  = yoke_multibody_driver(w->mb, w->work, t_of(r), w->q, r->b);
  int                      where   = 0;
  double                   most    = 0.0;
  char                     name[96];
  for (int i = 0; i < r->nv; ++i) {
    const double size = fabs(r->b[i]) * (r->turns[i] ? r->size : 1.0);
    if (size <= most) continue;
    most  = size;
    where = i;
  }
  if (driver.kind == YOKE_DRIVER_NONE) return YOKE_OK;
  yoke_multibody_freedom_name(w->model, w->mb, where, true, name, sizeof name);
  return yoke_fail(r->ctx, YOKE_E_NOT_CONVERGED,
                   "model '%s': no rest state was found: %s%s%s%s drives %s, which nothing holds: from rest it changes "
                   "by %.3g per second; %s%s",
                   w->model->name, words[driver.kind], driver.name != NULL ? " '" : "",
                   driver.name != NULL ? driver.name : "", driver.name != NULL ? "'" : "", name, r->a[where],
                   remedies[driver.kind], r->options->otherwise != NULL ? r->options->otherwise : "");
}

/* `where` is the acceleration r->a that is largest. */
static yoke_status not_found(rest *r, int where) {
  char         name[96], share[60] = "";
  const double acceleration = fabs(r->a[where]);
  yoke_multibody_freedom_name(r->whole->model, r->whole->mb, where, true, name, sizeof name);
  if (r->relief > 0.0) snprintf(share, sizeof share, " with %.3g of the loads", 1.0 - r->relief);
  if (finds_free_motion(r)) YOKE_TRY(blame(r));
  return yoke_fail(r->ctx, YOKE_E_NOT_CONVERGED,
                   "model '%s': no rest state was found near the start%s: from rest, %s still changes by %.3g per "
                   "second; %s",
                   r->whole->model->name, share, name, acceleration, r->options->remedy);
}

/* r->a := forces `most` with signs of pattern number p: all alike, in turn, and at random. */
static void sign_forces(rest *r, const double *most, int p) {
  uint32_t seed = 2463534242u + (uint32_t)p;
  for (int i = 0; i < r->nv; ++i) {
    seed              = seed * 1664525u + 1013904223u;
    const bool is_neg = p == 0 ? false : p == 1 ? i % 2 != 0 : seed >> 31 != 0;
    r->a[i]           = is_neg ? -most[i] : most[i];
  }
}

/* Stiff springs turn rounding of positions into forces, sum over positions of |K| delta, of any signs: what they accelerate, joints included,
 * each freedom by its own, so that a heavy body that is driven away is not taken for the noise of light ones. r->a and r->b are scratch. */
static yoke_status find_noise(rest *r) {
  enum { PATTERNS = 6 };
  static const double   margin = 4.0; /* of the few patterns over any */
  const yoke_equations *e      = &r->whole->equations;
  YOKE_TRY(set_step(r, 0.0));
  double *most = r->b;
  memset(most, 0, (size_t)r->nv * sizeof *most);
  memset(r->noise, 0, (size_t)r->nv * sizeof *r->noise);
  for (int c = 0; c < r->nv; ++c) {
    for (int k = r->pattern->col_start[c]; k < r->pattern->col_start[c + 1]; ++k) {
      const int i = r->pattern->row[k];
      if (i < r->nv) most[i] += fabs(r->S[k]) * rounding * (r->turns[c] ? 1.0 : r->size);
    }
  }
  if (e->ops->motion_factor == NULL) { /* masses alone */
    for (int k = 0; k < r->n_mass; ++k) {
      const int i = r->pattern->row[r->mass[k].slot];
      if (i == r->mass[k].column && r->M[k] > 0.0) r->noise[i] = margin * most[i] / r->M[k];
    }
    return YOKE_OK;
  }
  YOKE_TRY(e->ops->motion_factor(e->self, r->whole->work, t_of(r), r->q, r->zero, NULL, r->motion));
  for (int p = 0; p < PATTERNS; ++p) {
    sign_forces(r, most, p);
    memset(r->lambda_0, 0, (size_t)r->n * sizeof *r->lambda_0);
    e->ops->motion_solve(e->self, r->motion, 1, r->a, r->lambda_0);
    for (int i = 0; i < r->nv; ++i) r->noise[i] = fmax(r->noise[i], margin * fabs(r->a[i]));
  }
  return YOKE_OK;
}

/* Of the accelerations r->a. */
static bool is_at_rest(const rest *r, double factor) {
  const double limit = factor * (r->relief > 0.0 ? on_the_way : tolerance) * r->scale;
  for (int i = 0; i < r->nv; ++i) {
    const double unit = r->turns[i] ? r->size : 1.0;
    if (!(fabs(r->a[i]) * unit <= fmax(limit, r->noise[i] * unit))) return false;
  }
  return true;
}

static double potential(const rest *r) {
  const yoke_equations *e      = &r->whole->equations;
  yoke_energy           energy = {0};
  if (r->has_potential && !(r->relief > 0.0)) e->ops->energy(e->self, r->whole->work, t_of(r), r->q, r->zero, &energy);
  return energy.potential;
}

/* Fall of the potential that a move promises: f b / 2 + b M b / (2 dtau), because K b = M b / dtau - f along it. */
static double promise(const rest *r, double inverse) {
  double sum = 0.0;
  for (int k = 0; k < r->n_mass; ++k) {
    const int slot = r->mass[k].slot, column = r->mass[k].column;
    sum += r->b[r->pattern->row[slot]] * r->M[k] * r->b[column];
  }
  return 0.5 * (work_of_move(r) + inverse * sum);
}

/* A step that was made: r->q is behind it, q_before before it. */
typedef struct trial {
  yoke_status status;
  double      effort, fall, promise; /* before it; of the potential */
} trial;

/* How a step went: false: not far enough down, or into a wall. *inverse: of the next one. */
static bool judge(rest *r, const trial *step, double now, double *inverse) {
  const bool is_weighed = r->has_potential && !(r->relief > 0.0) && step->promise > 1e-9 * r->fall;
  if (is_weighed && step->status == YOKE_OK) {
    const double share = step->fall / step->promise;
    if (!(share > 0.1)) {
      *inverse *= 4.0;
      return false;
    }
    r->fall += step->fall;
    *inverse *= share > 0.7 ? fmin(0.25, fmax(now / step->effort, 0.01)) : share > 0.4 ? 0.7 : 2.0;
    return true;
  }
  if (!(now <= 10.0 * step->effort)) {
    *inverse *= 16.0;
    r->reach *= 0.25;
    return false;
  }
  *inverse *= now < step->effort ? fmin(fmax(now / step->effort, 0.1), 0.5) : 0.7; /* forces may grow on the way down */
  return true;
}

/* Steps in pseudo-time until the accelerations vanish. *where: the one that does not (YOKE_NOT_CONVERGED). */
static yoke_status relax(rest *r, double *largest, int *where) {
  int n_still = 0, n_idle = 0;
  YOKE_TRY(acceleration(r, largest, where));
  YOKE_TRY(find_noise(r));
  YOKE_TRY(acceleration(r, largest, where));
  double now = effort(r), smallest = now, height = potential(r), lowest = height;
  r->scale       = fmax(r->scale, *largest);
  r->reach       = largest_turn * r->size;
  r->fall        = 0.0;
  double inverse = r->scale / (0.01 * r->size); /* 1/dtau: the first step moves by about a hundredth of the size */
  for (int step = 0; step < MAX_STEPS && n_idle < PATIENCE; ++step) {
    if (is_at_rest(r, 1.0) && (*largest == 0.0 || r->relief > 0.0 || ++n_still > POLISH)) return YOKE_OK;
    YOKE_TRY(yoke_context_go_on(r->ctx));
    ++r->facts.steps;
    YOKE_TRY(set_step(r, inverse));
    const yoke_status solved = solve(r);
    if (solved != YOKE_OK && solved != YOKE_SINGULAR) return solved;
    const double size     = solved == YOKE_OK ? size_of_move(r) : (double)INFINITY;
    const bool   is_close = n_still > 0 || is_at_rest(r, 1e3); /* rounding decides what is uphill */
    if (size > 1.0 || (!is_close && work_of_move(r) < 0.0)) {  /* too far, or uphill: a shorter step from here */
      inverse = fmax(4.0 * inverse, 1e-6);
      YOKE_TRY(acceleration(r, largest, where));
      continue;
    }
    if (n_still > 0 && size < 1e-13) return YOKE_OK;
    trial made = {.effort = now, .promise = promise(r, inverse)};
    memcpy(r->q_before, r->q, (size_t)r->nq * sizeof *r->q);
    made.status = move(r);
    if (made.status == YOKE_OK) made.status = acceleration(r, largest, where);
    now               = made.status == YOKE_OK ? effort(r) : (double)INFINITY;
    const double here = made.status == YOKE_OK ? potential(r) : (double)INFINITY;
    made.fall         = height - here;
    if (!judge(r, &made, now, &inverse)) {
      memcpy(r->q, r->q_before, (size_t)r->nq * sizeof *r->q);
      YOKE_TRY(acceleration(r, largest, where));
      now = effort(r);
      ++n_idle;
      continue;
    }
    height = here;
    r->reach *= 1.5; /* lengths are not known beforehand */
    n_idle   = now < 0.99 * smallest || height < lowest - 1e-3 * r->fall ? 0 : n_idle + 1;
    smallest = fmin(smallest, now);
    if (n_idle == 0) lowest = height;
  }
  return is_at_rest(r, 1e3) ? YOKE_OK : YOKE_NOT_CONVERGED;
}

/* Rest states of ever larger shares of the forces; a step that finds none is halved. */
static yoke_status follow(rest *r) {
  const double least = ldexp(1.0 / r->options->n_loads, -MAX_HALVINGS);
  double       share = 0.0, step = 1.0 / r->options->n_loads, largest = 0.0;
  int          where = 0;
  memcpy(r->q_load, r->q, (size_t)r->nq * sizeof *r->q);
  while (share < 1.0) {
    const double next        = 1.0 - share > 1.0001 * step ? share + step : 1.0;
    r->relief                = 1.0 - next;
    const yoke_status status = relax(r, &largest, &where);
    if (status < 0) return status;
    if (status == YOKE_OK) {
      memcpy(r->q_load, r->q, (size_t)r->nq * sizeof *r->q);
      share = next;
      ++r->facts.n_loads;
      continue;
    }
    memcpy(r->q, r->q_load, (size_t)r->nq * sizeof *r->q);
    step *= 0.5;
    if (step < least) return not_found(r, where);
  }
  r->facts.acceleration = largest;
  return YOKE_OK;
}

static yoke_status search(rest *r) {
  double largest = 0.0;
  int    where   = 0;
  if (r->options->n_loads > 1) return follow(r);
  const yoke_status status = relax(r, &largest, &where);
  r->facts.acceleration    = largest;
  return status == YOKE_NOT_CONVERGED ? not_found(r, where) : status;
}

/* Is there a way downhill from r->q? The freedom that moves most along it. */
static yoke_status find_stability(rest *r) {
  double  largest, most = 0.0;
  int     where = 0;
  double *M     = yoke_arena_take(&r->arena, (size_t)r->pattern->nnz + 1, sizeof *M);
  YOKE_TRY(yoke_arena_check(&r->arena, r->ctx, "the rest state of %d velocities", r->nv));
  YOKE_TRY(acceleration(r, &largest, &where));
  YOKE_TRY(set_step(r, 0.0));
  memset(M, 0, (size_t)r->pattern->nnz * sizeof *M);
  for (int k = 0; k < r->n_mass; ++k) M[r->mass[k].slot] += r->M[k];
  const yoke_downhill_def def = {.nv = r->nv, .pattern = r->pattern, .linear = r->linear, .S = r->S, .M = M};
  YOKE_TRY(yoke_downhill_find(r->ctx, &def, r->b, &r->facts.mu));
  for (int i = 0; i < r->nv && r->facts.mu < 0.0; ++i) {
    const double size = fabs(r->b[i]) * (r->turns[i] ? r->size : 1.0);
    if (size <= most) continue;
    most  = size;
    where = i;
  }
  if (r->facts.mu < 0.0)
    yoke_multibody_freedom_name(r->whole->model, r->whole->mb, where, false, r->facts.along, sizeof r->facts.along);
  return YOKE_OK;
}

/* ---- the matrix ---- */

typedef struct triplets {
  int   n, capacity;
  int  *row, *column;
  term *terms;
} triplets;

/* One more entry of S; a NULL list only counts. */
static void add(triplets *list, int row, int column, int a, int b, double factor) {
  if (list->row != NULL) {
    list->row[list->n]    = row;
    list->column[list->n] = column;
    list->terms[list->n]  = (term){.column = column, .a = a, .b = b, .factor = factor};
  }
  ++list->n;
}

/* K = d(f + G^T lambda)/dq T: products of entries of J. */
static void add_stiffness(const rest *r, triplets *list) {
  const yoke_dae     *d = r->dae;
  const yoke_pattern *p = d->pattern;
  for (int k = 0; k < r->nv; ++k) {
    for (int b = p->col_start[d->i_v + k]; b < p->col_start[d->i_v + k + 1] && p->row[b] < r->nqs; ++b) {
      const int j = p->row[b];
      for (int a = p->col_start[j]; a < p->col_start[j + 1]; ++a) {
        if (p->row[a] >= d->i_a && p->row[a] < d->i_a + r->nv) add(list, p->row[a] - d->i_a, k, a, b, -1.0);
      }
    }
  }
}

/* M, with its sign in the rows 0 = f + G^T lambda - M a. */
static void add_mass(const rest *r, triplets *list) {
  const yoke_dae     *d = r->dae;
  const yoke_pattern *p = d->pattern;
  for (int k = 0; k < r->nv; ++k) {
    for (int a = p->col_start[d->i_a + k]; a < p->col_start[d->i_a + k + 1]; ++a) {
      if (p->row[a] >= d->i_a && p->row[a] < d->i_a + r->nv) add(list, p->row[a] - d->i_a, k, a, -1, -1.0);
    }
  }
}

/* G, -G^T; rows that are retired have lambda = 0. */
static void add_joints(const rest *r, triplets *list) {
  const yoke_dae     *d = r->dae;
  const yoke_pattern *p = d->pattern;
  if (r->ng == 0) return;
  for (int k = 0; k < r->nv; ++k) {
    for (int a = p->col_start[d->i_a + k]; a < p->col_start[d->i_a + k + 1]; ++a) {
      if (p->row[a] >= d->i_lambda && p->row[a] < d->i_lambda + r->ng)
        add(list, r->nv + p->row[a] - d->i_lambda, k, a, -1, 1.0);
    }
  }
  for (int g = 0; g < r->ng; ++g) {
    for (int a = p->col_start[d->i_lambda + g]; a < p->col_start[d->i_lambda + g + 1]; ++a) {
      if (p->row[a] >= d->i_a && p->row[a] < d->i_a + r->nv) add(list, p->row[a] - d->i_a, r->nv + g, a, -1, -1.0);
      if (p->row[a] == d->i_lambda + g) add(list, r->nv + g, r->nv + g, a, -1, 1.0);
    }
  }
}

static void add_all(rest *r, triplets *list) {
  add_stiffness(r, list);
  r->n_stiff = list->n;
  add_mass(r, list);
  r->n_mass = list->n - r->n_stiff;
  add_joints(r, list);
  r->n_joint = list->n - r->n_stiff - r->n_mass;
}

/* Where everything goes, and what all factors of S share. */
static yoke_status find_pattern(rest *r) {
  triplets list = {0};
  add_all(r, &list);
  const size_t n = (size_t)list.n + 1;
  list.terms = r->stiff = yoke_arena_take(&r->arena, n, sizeof *r->stiff);
  const size_t mark     = yoke_arena_mark(&r->arena);
  list.row              = yoke_arena_take(&r->arena, n, sizeof *list.row);
  list.column           = yoke_arena_take(&r->arena, n, sizeof *list.column);
  int     *slot         = yoke_arena_take(&r->arena, n, sizeof *slot);
  uint8_t *is_weak      = yoke_arena_take(&r->arena, (size_t)r->n + 1, 1);
  YOKE_TRY(yoke_arena_check(&r->arena, r->ctx, "the rest state of %d velocities", r->nv));
  list.n = 0;
  add_all(r, &list);
  r->mass  = r->stiff + r->n_stiff;
  r->joint = r->mass + r->n_mass;
  memset(is_weak + r->nv, 1, (size_t)r->ng);
  YOKE_TRY(yoke_pattern_create(r->ctx, r->n, r->n, list.n, list.row, list.column, slot, &r->pattern));
  for (int k = 0; k < list.n; ++k) r->stiff[k].slot = slot[k];
  const yoke_linear_kind kind = r->n <= MOST_DENSE ? YOKE_LINEAR_DENSE : YOKE_LINEAR_KLU;
  YOKE_TRY(yoke_linear_create_saddle(r->ctx, r->pattern, is_weak, kind, &r->linear));
  yoke_arena_release(&r->arena, mark);
  r->S    = yoke_arena_take(&r->arena, (size_t)r->pattern->nnz + 1, sizeof *r->S);
  r->M    = yoke_arena_take(&r->arena, (size_t)r->n_mass + 1, sizeof *r->M);
  r->work = yoke_arena_take(&r->arena, yoke_linear_work_size(r->linear) + 1, sizeof *r->work);
  return yoke_arena_check(&r->arena, r->ctx, "the rest state of %d velocities", r->nv);
}

/* ---- the search ---- */

/* Lengths, accelerations. */
static void find_sizes(rest *r) {
  const yoke_whole_model *w = r->whole;
  r->size                   = 1e-3;
  for (int b = 0; b < w->model->n_bodies; ++b) {
    const int at = yoke_multibody_q_offset(w->mb, b), n_q = yoke_body_nq(&w->model->bodies[b]);
    const int n_lengths = w->model->bodies[b].kind == YOKE_BODY_RIGID ? 3 : n_q;
    for (int i = 0; i < n_lengths; ++i) {
      if (w->model->bodies[b].kind == YOKE_BODY_PLANAR && i == 2) continue;
      r->size = fmax(r->size, fabs(w->q[at + i]));
    }
  }
  for (int i = 0; i < 3; ++i) r->scale = fmax(r->scale, fabs(w->model->gravity[i]));
}

/* Forces and moments that are given, or read the model, have no potential that the energies know. */
static bool has_potential(const yoke_whole_model *w) {
  const yoke_model *model = w->model;
  if (w->equations.ops->energy == NULL) return false;
  for (int i = 0; i < model->n_loads; ++i) {
    if (model->loads[i].kind == YOKE_LOAD_FORCE || model->loads[i].kind == YOKE_LOAD_TORQUE) return false;
  }
  for (int c = 0; c < model->n_connections; ++c) {
    if (model->connections[c].formula != NULL || !yoke_law_is_elastic(&model->connections[c].law)) return false;
  }
  for (int b = 0; b < model->n_bodies; ++b) {
    if (model->bodies[b].chain != NULL && model->bodies[b].chain->n_loads > 0) return false;
  }
  return true;
}

static yoke_status take_room(rest *r) {
  const yoke_equations *e  = &r->whole->equations;
  const size_t          nx = (size_t)r->dae->nx, n = (size_t)r->n, nv = (size_t)r->nv, nq = (size_t)r->nq;
  r->x           = yoke_arena_take(&r->arena, nx + 1, sizeof(double));
  r->F           = yoke_arena_take(&r->arena, nx + 1, sizeof(double));
  r->J           = yoke_arena_take(&r->arena, (size_t)r->dae->pattern->nnz + 1, sizeof(double));
  r->q           = yoke_arena_take(&r->arena, nq + 1, sizeof(double));
  r->q_before    = yoke_arena_take(&r->arena, nq + 1, sizeof(double));
  r->q_load      = yoke_arena_take(&r->arena, nq + 1, sizeof(double));
  r->zero        = yoke_arena_take(&r->arena, nv + 1, sizeof(double));
  r->force       = yoke_arena_take(&r->arena, nv + 1, sizeof(double));
  r->start_force = yoke_arena_take(&r->arena, nv + 1, sizeof(double));
  r->a           = yoke_arena_take(&r->arena, nv + 1, sizeof(double));
  r->a_0         = yoke_arena_take(&r->arena, nv + 1, sizeof(double));
  r->lambda_0    = yoke_arena_take(&r->arena, n + 1, sizeof(double));
  r->b           = yoke_arena_take(&r->arena, n + 1, sizeof(double));
  r->noise       = yoke_arena_take(&r->arena, nv + 1, sizeof(double));
  r->turns       = yoke_arena_take(&r->arena, nv + 1, sizeof *r->turns);
  r->motion      = yoke_arena_take(&r->arena, e->motion_size + 1, 1);
  return yoke_arena_check(&r->arena, r->ctx, "the rest state of %d velocities", r->nv);
}

static yoke_status prepare(rest *r) {
  const yoke_whole_model *w = r->whole;
  const yoke_equations   *e = &w->equations;
  double                  largest;
  int                     unused;
  YOKE_TRY(e->ops->dae_create(e->self, r->ctx, YOKE_DAE_INDEX1, &r->dae));
  YOKE_TRY(take_room(r));
  YOKE_TRY(find_pattern(r));
  memcpy(r->q, w->q, (size_t)r->nq * sizeof *r->q);
  for (int k = 0; k < r->nv; ++k) (void)yoke_multibody_freedom_body(w->model, w->mb, k, &(int){0}, &r->turns[k]);
  find_sizes(r);
  r->has_potential = has_potential(w);
  YOKE_TRY(acceleration(r, &largest, &unused));
  YOKE_TRY(set_step(r, 0.0));
  memcpy(r->start_force, r->force, (size_t)r->nv * sizeof *r->force);
  for (int k = 0; k < r->n_mass; ++k) r->M[k] = r->mass[k].factor * r->J[r->mass[k].a];
  return YOKE_OK;
}

yoke_status yoke_equilibrium_check_motions(yoke_context *ctx, const yoke_whole_model *whole, const char *otherwise) {
  const yoke_model *model = whole->model;
  double            motion[3];
  const int         c = yoke_multibody_moving(whole->mb, model->t_start, motion);
  if (c < 0) return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_NOT_CONVERGED,
      "model '%s': no rest state: the motion of joint '%s' goes on at t = %g s, by %g per second and %g per "
      "second squared; hold it where it is, motion: %.12g%s",
      model->name, model->connections[c].name, model->t_start, motion[1], motion[2], motion[0],
      otherwise != NULL ? otherwise : "");
}

yoke_status yoke_equilibrium_find(yoke_context *ctx, yoke_whole_model *whole, const yoke_equilibrium_options *options,
                                  yoke_equilibrium_facts *facts) {
  static const yoke_equilibrium_options standard = {.remedy = "start nearer to one"};
  const yoke_equations                 *e        = &whole->equations;
  if (options == NULL) options = &standard;
  rest r = {.ctx     = ctx,
            .whole   = whole,
            .options = options,
            .nq      = e->nq,
            .nqs     = e->nq - e->n_quadratures,
            .nv      = e->nv,
            .ng      = e->ng,
            .n       = e->nv + e->ng};
  if (e->ops->dae_create == NULL)
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "model '%s' has no analytic Jacobian", whole->model->name);
  if (options->n_loads > 1 && e->ops->motion_factor == NULL)
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "model '%s' has no load steps; search its rest state without them",
                     whole->model->name);
  yoke_status status = prepare(&r);
  if (status == YOKE_OK) status = search(&r);
  if (status == YOKE_OK && options->with_stability) status = find_stability(&r);
  if (status > 0)
    status = yoke_fail(ctx, YOKE_E_NOT_CONVERGED, "model '%s': the search for a rest state failed (%s)",
                       whole->model->name, yoke_status_text(status));
  if (status == YOKE_OK) {
    memcpy(whole->q, r.q, (size_t)r.nq * sizeof *r.q);
    memset(whole->v, 0, (size_t)r.nv * sizeof *whole->v);
    if (facts != NULL) *facts = r.facts;
  }
  yoke_factor_release(&r.factor);
  yoke_linear_destroy(&r.linear);
  yoke_pattern_destroy(&r.pattern);
  yoke_dae_destroy(&r.dae);
  yoke_arena_free(&r.arena);
  return status;
}
