/* radau5: the 3-stage Radau IIA method of order 5 on E x' = F(t, x, u).
 *
 *   E z_i = h sum_j a_ij F(t + c_j h, x_n + z_j),  x_{n+1} = x_n + z_3   (stiffly accurate, L-stable)
 *
 * Simplified Newton in the variables w = T^-1 z, which split A^-1 into a real and a complex part
 * (E. Hairer, G. Wanner: Solving Ordinary Differential Equations II, IV.8):
 *   ((gamma / h) E - J) dw_1 = ...,   ((alpha + i beta) / h E - J) (dw_2 + i dw_3) = ...
 *
 * Invariants:
 *   1. J is made together with the factors (it costs little beside them) and is not part of the state.
 *   2. Norms, of the error and of Newton, count q and v only. A multiplier that has not converged shows in v, because
 *      G^T lambda h enters v; what does not show there (redundant constraints) has no influence on the motion.
 *   3. a and lambda of an accepted point come from the equations on the acceleration level (order 5), not from the
 *      stages (order 3 in index 2). The algebraic parts of the stages only start the next Newton iteration.
 *   4. Stage values of quadratures follow from a last evaluation of F when the last Newton increment was not small:
 *      their rows of J are empty, so Newton leaves them one iteration behind. Where motions are prescribed they always do: the
 *      work of these reads multipliers, whose increments are in no norm. */
#include "integrate/hop.h"
#include "integrate/implicit.h"
#include "integrate/methods.h"
#include "base/memory.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_STAGES = 3, MAX_ITERATIONS = 7, MAX_ITERATIONS_FIXED = 20, HOP_AFTER = 2, MAX_HOPS = 8 };

/* c = ((4 - sqrt 6) / 10, (4 + sqrt 6) / 10, 1) */
static const double C[N_STAGES] = {0.15505102572168219018, 0.64494897427831780982, 1.0};

/* A, rows by stage; used for quadratures. */
static const double A[N_STAGES][N_STAGES] = {{0.19681547722366042711, -0.06553542585019838811, 0.02377097434822015118},
                                             {0.39442431473908727700, 0.29207341166522846302, -0.04154875212599793027},
                                             {0.37640306270046727505, 0.51248582618842161384, 0.11111111111111111111}};

/* T^-1 A^-1 T = (GAMMA) + (ALPHA, -BETA; BETA, ALPHA) */
static const double GAMMA = 3.63783425274449573220842;
static const double ALPHA = 2.68108287362775213389579;
static const double BETA  = 3.05043019924741056942637;

static const double T[N_STAGES][N_STAGES] = {
    {9.1232394870892942792e-02, -0.14125529502095420843, -3.0029194105147424492e-02},
    {0.24171793270710701896, 0.20412935229379993199, 0.38294211275726193779},
    {0.96604818261509293619, 1.0, 0.0}};

static const double T_INVERSE[N_STAGES][N_STAGES] = {
    {4.3255798900631553510, 0.33919925181580986954, 0.54177053993587487119},
    {-4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196},
    {-0.50287263494578687595, 2.5719269498556054292, -0.59603920482822492497}};

/* Embedded formula of order 3: e = ((gamma / h) E - J)^-1 (F(x_n) + E sum_i D_i z_i / h),
 * D = (-(13 + 7 sqrt 6), -13 + 7 sqrt 6, -1) / 3, times gamma0 = GAMMA being part of the factor. */
static const double D[N_STAGES] = {-10.04880939982741556246, 1.38214273316074889579, -1.0 / 3.0};

static const double LOOSE      = 0.8;  /* the estimate is held below LOOSE rtol^(4/5) */
static const double LOOSE_ATOL = 0.25; /* the same for atol */
static const double NEWTON     = 0.01; /* and Newton's error below NEWTON rtol, because it adds up over the steps */
static const double STALL      = 0.03; /* Newton increments of this size, in units of the error norm, may be rounding */
static const double HOP_ATOL   = 1.0e-5; /* largest absolute error of a step across a singular position */
static const double SAFETY     = 0.9;
static const double SHRINK     = 5.0;     /* h may shrink to 1/5 ... */
static const double GROW       = 8.0;     /* ... and grow to 8 h in one step */
static const double KEEP       = 1.2;     /* a proposal within [h, 1.2 h] keeps h and so the factors */
static const double THETA_FRESH = 0.05;   /* slower convergence than this: new J and factors */
static const double SAME_STEP   = 2.0e-3; /* factors of a step this near (relative) still serve */

typedef struct radau5 {
  yoke_implicit *implicit;
  double         rtol, atol; /* of the embedded formula, see create */
  double         newton;     /* Newton stops at this error, in units of the norm */
  double         stall;      /* an increment below this that does not shrink is rounding */
  int            max_iterations;
  bool           is_fixed;
} radau5;

/* Own part of the state; followed by qdot [nq], algebraic x [nx - nq - nv], z [3, nx], bump [nq + nv]. */
typedef struct radau5_memory {
  double h_factor;    /* step of the factors, 0: they must be made anew */
  double contraction; /* theta / (1 - theta) of the last Newton iteration */
  double h_accepted;  /* of the last accepted step, 0: none */
  double error_accepted;
  double h_smooth;       /* length of the last steps that went without trouble: that of a hop */
  double h_newton;       /* Newton failed at about this step: stay below, and forget it slowly; 0: no limit */
  int    has_polynomial; /* z holds the last step */
  int    is_calm;        /* an accepted step went before: no start, no disturbance */
} radau5_memory;

typedef struct radau5_parts {
  radau5_memory *memory;
  double        *qdot, *algebraic, *z[N_STAGES], *bump;
} radau5_parts;

typedef struct radau5_work {
  void   *equations;
  double *u, *x, *scale, *scale_newton, *X, *error, *rates, *rates_new;
  double *z[N_STAGES], *w[N_STAGES], *r[N_STAGES], *Ew[N_STAGES];
  double *J, *re, *im, *linear;
  double *motion[N_STAGES + 2]; /* [n_motions] at the start, at the stages, and at a point between them */
} radau5_work;

/* ---- layout ---- */

static size_t parts_layout(const yoke_implicit *implicit, char *base, radau5_parts *parts) {
  const size_t nx = (size_t)implicit->nx, n = (size_t)implicit->nq + (size_t)implicit->nv;
  size_t       at  = yoke_cache_lines(sizeof(radau5_memory));
  parts->memory    = (radau5_memory *)(void *)base;
  parts->qdot      = yoke_carve(base, &at, (size_t)implicit->nq);
  parts->algebraic = yoke_carve(base, &at, nx - n);
  for (int i = 0; i < N_STAGES; ++i) parts->z[i] = yoke_carve(base, &at, nx);
  parts->bump = yoke_carve(base, &at, n);
  return at;
}

static radau5_parts parts_of(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  const radau5 *self = integrator->self;
  radau5_parts  parts;
  (void)parts_layout(self->implicit, yoke_integrator_own(integrator, state), &parts);
  return parts;
}

static size_t work_layout(const yoke_implicit *implicit, char *base, radau5_work *work) {
  const size_t nx = (size_t)implicit->nx, nnz = (size_t)implicit->nnz;
  size_t       at    = yoke_cache_lines(implicit->equations->work_size);
  work->equations    = base;
  work->u            = yoke_carve(base, &at, (size_t)implicit->equations->nu + 1);
  work->x            = yoke_carve(base, &at, nx);
  work->scale        = yoke_carve(base, &at, nx);
  work->scale_newton = yoke_carve(base, &at, nx);
  work->X            = yoke_carve(base, &at, nx);
  work->error        = yoke_carve(base, &at, nx);
  work->rates        = yoke_carve(base, &at, nx);
  work->rates_new    = yoke_carve(base, &at, nx);
  for (int i = 0; i < N_STAGES; ++i) {
    work->z[i]  = yoke_carve(base, &at, nx);
    work->w[i]  = yoke_carve(base, &at, nx);
    work->r[i]  = yoke_carve(base, &at, nx);
    work->Ew[i] = yoke_carve(base, &at, nx);
  }
  work->J      = yoke_carve(base, &at, nnz);
  work->re     = yoke_carve(base, &at, nnz);
  work->im     = yoke_carve(base, &at, nnz);
  work->linear = yoke_carve(base, &at, yoke_linear_work_of_rows(implicit->nx));
  for (int i = 0; i < N_STAGES + 2; ++i)
    work->motion[i] = yoke_carve(base, &at, (size_t)implicit->equations->n_motions);
  return at;
}

/* ---- life ---- */

static void set_sizes(yoke_integrator *integrator, const yoke_implicit *implicit) {
  radau5_parts parts;
  radau5_work  work;
  integrator->state_size   = yoke_integrator_head_size(integrator->equations) + parts_layout(implicit, NULL, &parts);
  integrator->scratch_size = work_layout(implicit, NULL, &work);
}

yoke_status radau5_outline(yoke_context *ctx, yoke_integrator *integrator, const yoke_implicit *outline) {
  (void)ctx;
  set_sizes(integrator, outline);
  return YOKE_OK;
}

static yoke_status radau5_create(yoke_context *ctx, yoke_integrator *integrator) {
  const yoke_integrator_options *options = &integrator->options;
  radau5                        *self    = yoke_allocate(1, sizeof *self);
  if (self == NULL) return yoke_out_of_memory(ctx, "solver 'radau5'");
  integrator->self = self;
  YOKE_TRY(yoke_implicit_create(ctx, integrator->equations, options, &self->implicit));

  /* The estimated error is O(h^4), that of the solution O(h^5): the solution is good to rtol when the estimate is kept
   * below about rtol^(4/5). */
  self->rtol = LOOSE * pow(options->rtol, 0.8);
  self->atol = LOOSE_ATOL * pow(options->atol, 0.8);
  if (integrator->equations->size != NULL)
    self->atol = LOOSE_ATOL * pow(options->rtol, 0.8) * options->atol / options->rtol;
  self->newton = 1.0;
  if (options->rtol > 0.0) self->newton = fmax(10.0 * DBL_EPSILON, NEWTON * options->rtol) / self->rtol;
  if (options->atol > 0.0) self->newton = fmin(self->newton, NEWTON * options->atol / self->atol);
  self->stall          = STALL;
  self->is_fixed       = options->fixed_step > 0.0;
  self->max_iterations = MAX_ITERATIONS;
  if (self->is_fixed) { /* orders are measured with it: Newton to rounding */
    self->rtol           = 1.0e-13;
    self->atol           = 1.0e-13;
    self->newton         = 0.1;
    self->stall          = 1.0e3;
    self->max_iterations = MAX_ITERATIONS_FIXED;
  }
  set_sizes(integrator, self->implicit);
  return YOKE_OK;
}

static void radau5_destroy(yoke_integrator *integrator) {
  radau5 *self = integrator->self;
  if (self == NULL) return;
  yoke_implicit_destroy(&self->implicit);
  free(self);
  integrator->self = NULL;
}

/* The point x of a state: q, v and the algebraic parts. */
static void load_point(const yoke_integrator *integrator, const yoke_integrator_state *state, double *x) {
  const yoke_implicit *implicit = ((const radau5 *)integrator->self)->implicit;
  const radau5_parts   parts    = parts_of(integrator, state);
  const int            n        = implicit->nq + implicit->nv;
  memcpy(x, yoke_integrator_q(integrator, state), (size_t)implicit->nq * sizeof *x);
  memcpy(x + implicit->nq, yoke_integrator_v(integrator, state), (size_t)implicit->nv * sizeof *x);
  memcpy(x + n, parts.algebraic, (size_t)(implicit->nx - n) * sizeof *x);
}

/* q' and the algebraic parts at a point where the history is of no use. */
static yoke_status begin(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                         const yoke_signal *u) {
  const yoke_implicit  *implicit  = ((const radau5 *)integrator->self)->implicit;
  const yoke_equations *equations = integrator->equations;
  const radau5_parts    parts     = parts_of(integrator, state);
  const int             n         = implicit->nq + implicit->nv;
  double               *q = yoke_integrator_q(integrator, state), *v = yoke_integrator_v(integrator, state);
  double               *a = yoke_integrator_a(integrator, state), *lambda = yoke_integrator_lambda(integrator, state);
  radau5_work           work;
  (void)work_layout(implicit, scratch, &work);
  if (equations->nu > 0) yoke_signal_value(u, state->t, YOKE_SIDE_RIGHT, 0, work.u);
  YOKE_TRY(equations->ops->derivative(equations->self, work.equations, state->t, q, v, work.u, parts.qdot, a, lambda));
  ++state->counters.evaluations;
  yoke_implicit_pack(implicit, q, v, a, lambda, work.x);
  memcpy(parts.algebraic, work.x + n, (size_t)(implicit->nx - n) * sizeof(double));
  memcpy(work.rates, parts.qdot, (size_t)implicit->nq * sizeof(double));
  memcpy(work.rates + implicit->nq, a, (size_t)implicit->nv * sizeof(double));
  parts.memory->has_polynomial = 0;
  parts.memory->is_calm        = 0;
  parts.memory->h_accepted     = 0.0;
  parts.memory->contraction    = 1.0;
  if (!(state->h > 0.0)) state->h = yoke_implicit_first_step(implicit, &integrator->options, work.x, work.rates, 3);
  return YOKE_OK;
}

static yoke_status radau5_start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                const yoke_signal *u) {
  state->h     = 0.0;
  state->order = 5;
  return begin(integrator, scratch, state, u);
}

static yoke_status radau5_disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                  const yoke_signal *u, yoke_disturbance what) {
  if (what == YOKE_STATE_RESET) parts_of(integrator, state).memory->h_factor = 0.0;
  return begin(integrator, scratch, state, u);
}

/* ---- the polynomial of a step ---- */

/* Weights l_i with C(s) = sum_i l_i z_i: the cubic through 0 at s = 0 and z_i at c_i. */
static void collocation_weights(double s, double *l) {
  for (int i = 0; i < N_STAGES; ++i) {
    l[i] = s / C[i];
    for (int j = 0; j < N_STAGES; ++j) {
      if (j != i) l[i] *= (s - C[j]) / (C[i] - C[j]);
    }
  }
}

/* Weights of C'(s) at s = 0 or at s = c_3 = 1. */
static void collocation_slope_weights(bool at_end, double *l) {
  const double node[4] = {0.0, C[0], C[1], C[2]};
  const int    at      = at_end ? 3 : 0;
  for (int i = 1; i < 4; ++i) {
    double slope = 0.0; /* derivative of the Lagrange polynomial of node i at node `at` */
    for (int skip = 0; skip < 4; ++skip) {
      if (skip == i) continue;
      double product = 1.0 / (node[i] - node[skip]);
      for (int j = 0; j < 4; ++j) {
        if (j != i && j != skip) product *= (node[at] - node[j]) / (node[i] - node[j]);
      }
      slope += product;
    }
    l[i - 1] = slope;
  }
}

/* B(s) with B(0) = B(1) = 0, B'(0) = 1, B'(c_i) = 0. The Radau nodes make one quartic do all of this. Adding
 * bump * B, bump = h x'(t_n) - C'(0), to the collocation cubic lifts the dense output from order 3 to 4. */
static double bump_shape(double s) {
  return s * (1.0 + s * (-4.5 + s * (6.0 - 2.5 * s)));
}

static void radau5_interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t,
                               double *q, double *v) {
  const yoke_implicit *implicit = ((const radau5 *)integrator->self)->implicit;
  const radau5_parts   parts    = parts_of(integrator, state);
  const double        *q1 = yoke_integrator_q(integrator, state), *v1 = yoke_integrator_v(integrator, state);
  const double         s = (t - state->t_prev) / (state->t - state->t_prev);
  double               l[N_STAGES];
  collocation_weights(s, l);
  const double b = bump_shape(s);
  l[2] -= 1.0; /* counted from the end of the step */
  for (int i = 0; i < implicit->nq; ++i) {
    q[i] = q1[i] + l[0] * parts.z[0][i] + l[1] * parts.z[1][i] + l[2] * parts.z[2][i] + b * parts.bump[i];
  }
  for (int k = 0; k < implicit->nv; ++k) {
    const int i = implicit->nq + k;
    v[k]        = v1[k] + l[0] * parts.z[0][i] + l[1] * parts.z[1][i] + l[2] * parts.z[2][i] + b * parts.bump[i];
  }
}

/* Rates x' at the start of a step: from the polynomial of the step before (smooth in stiff components), else from the
 * equations. */
static void start_rates(const yoke_implicit *implicit, const radau5_parts *parts, const double *a, double *rates) {
  if (parts->memory->has_polynomial) {
    double l[N_STAGES];
    collocation_slope_weights(true, l);
    for (int i = 0; i < implicit->nq + implicit->nv; ++i) {
      rates[i] = (l[0] * parts->z[0][i] + l[1] * parts->z[1][i] + l[2] * parts->z[2][i]) / parts->memory->h_accepted;
    }
  } else {
    memcpy(rates, parts->qdot, (size_t)implicit->nq * sizeof *rates);
    memcpy(rates + implicit->nq, a, (size_t)implicit->nv * sizeof *rates);
  }
}

/* ---- Newton ---- */

static void predict_stages(const yoke_implicit *implicit, const radau5_parts *parts, double h,
                           const radau5_work *work) {
  const int n = implicit->nq + implicit->nv;
  for (int i = 0; i < N_STAGES; ++i) {
    if (parts->memory->has_polynomial) {
      double l[N_STAGES];
      collocation_weights(1.0 + C[i] * h / parts->memory->h_accepted, l);
      l[2] -= 1.0;
      for (int k = 0; k < implicit->nx; ++k) {
        work->z[i][k] = l[0] * parts->z[0][k] + l[1] * parts->z[1][k] + l[2] * parts->z[2][k];
      }
    } else {
      for (int k = 0; k < n; ++k) work->z[i][k] = C[i] * h * work->rates[k];
      for (int k = n; k < implicit->nx; ++k) work->z[i][k] = 0.0;
    }
  }
  for (int k = 0; k < implicit->nx; ++k) {
    const double z0 = work->z[0][k], z1 = work->z[1][k], z2 = work->z[2][k];
    for (int i = 0; i < N_STAGES; ++i) {
      work->w[i][k] = T_INVERSE[i][0] * z0 + T_INVERSE[i][1] * z1 + T_INVERSE[i][2] * z2;
    }
  }
}

/* r_i = F(t + c_i h, x_n + z_i) */
static yoke_status evaluate_stages(const yoke_implicit *implicit, yoke_integrator_state *state, const yoke_signal *u,
                                   double h, const radau5_work *work) {
  for (int i = 0; i < N_STAGES; ++i) {
    for (int k = 0; k < implicit->nx; ++k) work->X[k] = work->x[k] + work->z[i][k];
    ++state->counters.evaluations;
    YOKE_TRY(yoke_implicit_rhs(implicit, work->equations, work->u, u, YOKE_SIDE_LEFT, state->t + C[i] * h, work->X,
                               work->r[i]));
  }
  return YOKE_OK;
}

/* Right-hand sides T^-1 F - (lambda / h) E w of the transformed systems, in place of F. */
static void transform_residual(const yoke_implicit *implicit, double h, const radau5_work *work) {
  const double gamma = GAMMA / h, alpha = ALPHA / h, beta = BETA / h;
  for (int i = 0; i < N_STAGES; ++i) yoke_implicit_mass(implicit, work->w[i], work->Ew[i]);
  for (int k = 0; k < implicit->nx; ++k) {
    const double f0 = work->r[0][k], f1 = work->r[1][k], f2 = work->r[2][k];
    const double e1 = work->Ew[1][k], e2 = work->Ew[2][k];
    double       r[N_STAGES];
    for (int i = 0; i < N_STAGES; ++i) r[i] = T_INVERSE[i][0] * f0 + T_INVERSE[i][1] * f1 + T_INVERSE[i][2] * f2;
    work->r[0][k] = r[0] - gamma * work->Ew[0][k];
    work->r[1][k] = r[1] - (alpha * e1 - beta * e2);
    work->r[2][k] = r[2] - (beta * e1 + alpha * e2);
  }
}

/* w += r, z = T w */
static void update_stages(const yoke_implicit *implicit, const radau5_work *work) {
  for (int k = 0; k < implicit->nx; ++k) {
    for (int i = 0; i < N_STAGES; ++i) work->w[i][k] += work->r[i][k];
    const double w0 = work->w[0][k], w1 = work->w[1][k], w2 = work->w[2][k];
    for (int i = 0; i < N_STAGES; ++i) work->z[i][k] = T[i][0] * w0 + T[i][1] * w1 + T[i][2] * w2;
  }
}

static double stage_norm(const yoke_implicit *implicit, const radau5_work *work) {
  double sum = 0.0;
  for (int i = 0; i < N_STAGES; ++i) {
    const double norm = yoke_implicit_norm(implicit, work->r[i], work->scale_newton);
    sum += norm * norm;
  }
  return sqrt(sum / N_STAGES);
}

typedef struct newton_result {
  yoke_status status;      /* YOKE_NOT_CONVERGED and other positive ones: repeat with fresh factors or a smaller step */
  double      theta;       /* rate of convergence, 0 after one iteration */
  double      contraction; /* theta / (1 - theta), what is left of the error after the last increment */
  double      last;        /* norm of the last increment */
  double      shrink;      /* on failure: proposed factor for h */
  int         iterations;
} newton_result;

static newton_result newton(const radau5 *self, yoke_integrator_state *state, const radau5_memory *memory,
                            const yoke_signal *u, double h, const radau5_work *work) {
  const yoke_implicit *implicit = self->implicit;
  newton_result        result   = {.status = YOKE_NOT_CONVERGED, .shrink = 0.5};
  result.contraction            = pow(fmax(memory->contraction, DBL_EPSILON), 0.8);
  double norm_old = 0.0, rate_old = 0.0;
  for (int iteration = 1; iteration <= self->max_iterations; ++iteration) {
    const yoke_status status = evaluate_stages(implicit, state, u, h, work);
    if (status != YOKE_OK) {
      result.status = status;
      result.shrink = 0.25;
      return result;
    }
    transform_residual(implicit, h, work);
    yoke_factor_solve(state->factor[0], work->r[0], NULL, work->linear);
    yoke_factor_solve(state->factor[1], work->r[1], work->r[2], work->linear);
    ++state->counters.iterations;
    result.iterations = iteration;
    const double norm = stage_norm(implicit, work);
    if (!isfinite(norm)) {
      result.status = YOKE_NON_FINITE;
      result.shrink = 0.25;
      return result;
    }
    if (iteration > 1) {
      const double rate = norm / norm_old;
      result.theta      = iteration == 2 ? rate : sqrt(rate * rate_old);
      rate_old          = rate;
      /* Rounding stops the progress (near singular positions, or at fixed steps that ask for all digits). */
      if (result.theta > 0.3 && norm < self->stall) {
        update_stages(implicit, work);
        result.status      = YOKE_OK;
        result.contraction = 1.0;
        result.last        = norm;
        return result;
      }
      if (result.theta >= (iteration == 2 ? 2.0 : 0.99)) return result;
      /* The first rate alone is a poor guess: rates alternate when q and v take turns. */
      result.contraction    = fmin(result.theta, 0.99) / (1.0 - fmin(result.theta, 0.99));
      const int    left     = self->max_iterations - iteration;
      const double expected = result.contraction * norm * pow(result.theta, left) / self->newton;
      if (iteration > 2 && expected >= 1.0) { /* too slow: the step that would have made it */
        result.shrink = 0.8 * pow(fmin(20.0, fmax(1.0e-4, expected)), -1.0 / (4 + left));
        return result;
      }
    }
    norm_old = fmax(norm, DBL_EPSILON);
    update_stages(implicit, work);
    result.last = norm;
    if (result.contraction * norm <= self->newton) {
      result.status = YOKE_OK;
      return result;
    }
  }
  return result;
}

/* Invariant 4: z_i = h sum_j a_ij F_j in the rows of quadratures. */
static yoke_status finish_quadratures(const yoke_implicit *implicit, yoke_integrator_state *state, const yoke_signal *u,
                                      double h, const radau5_work *work) {
  YOKE_TRY(evaluate_stages(implicit, state, u, h, work));
  for (int k = 0; k < implicit->nq; ++k) {
    if (implicit->dae->component[k] != YOKE_COMPONENT_INTEGRAL &&
        implicit->dae->component[k] != YOKE_COMPONENT_QUADRATURE)
      continue;
    for (int i = 0; i < N_STAGES; ++i) {
      work->z[i][k] = h * (A[i][0] * work->r[0][k] + A[i][1] * work->r[1][k] + A[i][2] * work->r[2][k]);
    }
  }
  return YOKE_OK;
}

/* ---- one step ---- */

static yoke_status make_factors(const radau5 *self, yoke_integrator_state *state, radau5_memory *memory, double h,
                                const radau5_work *work) {
  const yoke_implicit *implicit = self->implicit;
  memory->h_factor              = 0.0;
  state->counters.factorings += 2;
  YOKE_TRY(yoke_implicit_factor(implicit, GAMMA / h, 0.0, work->J, work->re, NULL, &state->factor[0]));
  YOKE_TRY(yoke_implicit_factor(implicit, ALPHA / h, BETA / h, work->J, work->re, work->im, &state->factor[1]));
  memory->h_factor = h;
  return YOKE_OK;
}

/* Norm of the filtered embedded error; filtered once more after trouble, when it is large only because of stiff
 * components. */
static yoke_status estimate_error(const radau5 *self, yoke_integrator_state *state, bool is_calm, const yoke_signal *u,
                                  double h, const radau5_work *work, double *error) {
  const yoke_implicit *implicit = self->implicit;
  double              *sum = work->X, *base = work->r[0], *e = work->error;
  for (int k = 0; k < implicit->nx; ++k) {
    sum[k] = (D[0] * work->z[0][k] + D[1] * work->z[1][k] + D[2] * work->z[2][k]) / h;
  }
  yoke_implicit_mass(implicit, sum, base);
  memcpy(e, base, (size_t)implicit->nx * sizeof *e);
  yoke_implicit_mass_add(implicit, 1.0, work->rates, e); /* F(x_n) = E x'; constraints hold at x_n: zero rows */
  yoke_factor_solve(state->factor[0], e, NULL, work->linear);
  *error = fmax(yoke_implicit_norm(implicit, e, work->scale), 1.0e-10);
  if (*error < 1.0 || is_calm || !isfinite(*error)) return isfinite(*error) ? YOKE_OK : YOKE_NON_FINITE;

  for (int k = 0; k < implicit->nx; ++k) work->X[k] = work->x[k] + e[k];
  ++state->counters.evaluations;
  YOKE_TRY(yoke_implicit_rhs(implicit, work->equations, work->u, u, YOKE_SIDE_RIGHT, state->t, work->X, e));
  for (int k = 0; k < implicit->nx; ++k) e[k] += base[k];
  yoke_factor_solve(state->factor[0], e, NULL, work->linear);
  *error = fmax(yoke_implicit_norm(implicit, e, work->scale), 1.0e-10);
  return isfinite(*error) ? YOKE_OK : YOKE_NON_FINITE;
}

/* How well does the cubic of a step follow the prescribed motions? The embedded formula cannot tell: the constraints give
 * what moves with them the right values at every stage, however long the step is, but the work of these motions and
 * samples between the stages would be those of the cubic. In units of the norm of the error, which is O(h^4) as well. */
static double motion_error(const radau5 *self, const yoke_integrator_state *state, double h, const radau5_work *work) {
  static const double   between[2] = {0.4, 0.85}; /* of the step */
  const yoke_equations *e          = self->implicit->equations;
  double *const        *m          = work->motion;
  double                largest    = 0.0;
  e->ops->motions(e->self, state->t, m[0]);
  for (int i = 0; i < N_STAGES; ++i) e->ops->motions(e->self, state->t + C[i] * h, m[i + 1]);
  for (int p = 0; p < 2; ++p) {
    double l[N_STAGES];
    collocation_weights(between[p], l);
    e->ops->motions(e->self, state->t + between[p] * h, m[N_STAGES + 1]);
    for (int k = 0; k < e->n_motions; ++k) {
      double cubic = m[0][k], size = fabs(m[0][k]);
      for (int i = 0; i < N_STAGES; ++i) {
        cubic += l[i] * (m[i + 1][k] - m[0][k]);
        size = fmax(size, fabs(m[i + 1][k]));
      }
      largest = fmax(largest, fabs(m[N_STAGES + 1][k] - cubic) / (self->atol + self->rtol * size + DBL_MIN));
    }
  }
  return largest;
}

/* Put the end of the step in work->x (q, v, algebraic), and its q' and a, lambda behind; the state is not touched
 * before all of it is known to be fine. */
static yoke_status end_point(const yoke_integrator *integrator, yoke_integrator_state *state, const yoke_signal *u,
                             double t_new, const radau5_work *work) {
  const yoke_implicit  *implicit = ((const radau5 *)integrator->self)->implicit;
  const yoke_equations *e        = integrator->equations;
  double               *x = work->X, *q = x, *v = x + implicit->nq;
  for (int k = 0; k < implicit->nx; ++k) x[k] = work->x[k] + work->z[2][k];
  if (e->ops->normalise != NULL) e->ops->normalise(e->self, q);
  /* GGL holds g = 0 and g' = 0 at the end of the step to Newton's tolerance; index 1 holds g'' = 0 only. */
  const bool is_loose =
      implicit->dae->form == YOKE_DAE_INDEX1 && integrator->options.alpha == 0.0 && integrator->options.beta == 0.0;
  if (is_loose && e->ng + e->n_norms > 0) {
    YOKE_TRY(e->ops->project_position(e->self, work->equations, t_new, q));
    YOKE_TRY(e->ops->project_velocity(e->self, work->equations, t_new, q, v));
  }
  if (e->nu > 0) yoke_signal_value(u, t_new, YOKE_SIDE_LEFT, 0, work->u);
  ++state->counters.evaluations;
  YOKE_TRY(e->ops->derivative(e->self, work->equations, t_new, q, v, work->u, work->rates_new,
                              work->rates_new + implicit->nq, work->error));
  return yoke_all_finite(implicit->nx, x) && yoke_all_finite(implicit->nq + implicit->nv, work->rates_new)
             ? YOKE_OK
             : YOKE_NON_FINITE;
}

/* Write the end point into the state. */
static void accept(const yoke_integrator *integrator, yoke_integrator_state *state, const radau5_parts *parts, double h,
                   double t_new, const radau5_work *work) {
  const yoke_implicit *implicit = ((const radau5 *)integrator->self)->implicit;
  const int            nq = implicit->nq, nv = implicit->nv, n = nq + nv;
  double               l[N_STAGES];
  start_rates(implicit, parts, yoke_integrator_a(integrator, state), work->rates); /* before z is overwritten */
  collocation_slope_weights(false, l);
  for (int k = 0; k < implicit->nx; ++k) {
    if (k < n) { /* end values may have been normalised or projected */
      work->z[2][k]  = work->X[k] - work->x[k];
      parts->bump[k] = h * work->rates[k] - (l[0] * work->z[0][k] + l[1] * work->z[1][k] + l[2] * work->z[2][k]);
    }
    for (int i = 0; i < N_STAGES; ++i) parts->z[i][k] = work->z[i][k];
  }
  memcpy(parts->algebraic, work->X + n, (size_t)(implicit->nx - n) * sizeof(double));
  memcpy(yoke_integrator_q(integrator, state), work->X, (size_t)nq * sizeof(double));
  memcpy(yoke_integrator_v(integrator, state), work->X + nq, (size_t)nv * sizeof(double));
  memcpy(parts->qdot, work->rates_new, (size_t)nq * sizeof(double));
  memcpy(yoke_integrator_a(integrator, state), work->rates_new + nq, (size_t)nv * sizeof(double));
  memcpy(yoke_integrator_lambda(integrator, state), work->error, (size_t)implicit->n_lambda * sizeof(double));
  parts->memory->has_polynomial = 1;
  parts->memory->is_calm        = 1;
  parts->memory->h_accepted     = h;
  state->t_prev                 = state->t;
  state->t                      = t_new;
  ++state->counters.steps;
}

/* h / quotient is the next step: by the error, and by the trend of the last two errors (K. Gustafsson). */
static double step_quotient(const radau5_memory *memory, double h, double error, int iterations, bool use_trend) {
  const double safety   = fmin(SAFETY, SAFETY * (1 + 2 * MAX_ITERATIONS) / (iterations + 2 * MAX_ITERATIONS));
  double       quotient = pow(error, 0.25) / safety;
  if (use_trend && memory->h_accepted > 0.0 && memory->is_calm) {
    const double trend = memory->h_accepted / h * pow(error * error / memory->error_accepted, 0.25) / SAFETY;
    quotient           = fmax(quotient, trend);
  }
  return fmax(1.0 / GROW, fmin(SHRINK, quotient));
}

/* Proposal after an accepted step of length h. `proposal` was the step before clipping. */
static void propose(const yoke_integrator *integrator, yoke_integrator_state *state, radau5_memory *memory,
                    double proposal, double h, double quotient, double theta) {
  const double max_step = integrator->options.max_step;
  double       h_new    = h / quotient;
  if (max_step > 0.0) h_new = fmin(h_new, max_step);
  if (memory->h_newton > 0.0) {
    h_new = fmin(h_new, fmax(h, 0.9 * memory->h_newton));
    memory->h_newton *= 1.05;
  }
  if (theta > THETA_FRESH) {
    memory->h_factor = 0.0;
  } else if (h_new >= h && h_new <= KEEP * h) {
    h_new = h;
  }
  state->h = h < proposal ? fmax(proposal, h_new) : h_new; /* a clipped step only ever lengthens the proposal */
}

/* J and factors for step h. J is taken inside the step, at the predicted second stage: that halves the distance to the
 * stages and, more important, steps off a singular position that x_n happens to be near. After failures, and when the
 * prediction reaches far, at x_n. */
static yoke_status refresh(const radau5 *self, yoke_integrator_state *state, radau5_memory *memory,
                           const yoke_signal *u, double h, int n_failures, const radau5_work *work) {
  const yoke_implicit *implicit  = self->implicit;
  const bool           is_inside = memory->has_polynomial && h <= 2.0 * memory->h_accepted && n_failures % 3 != 2;
  const double        *x         = work->x;
  if (is_inside) {
    for (int k = 0; k < implicit->nx; ++k) work->X[k] = work->x[k] + work->z[1][k];
    x = work->X;
  }
  ++state->counters.jacobians;
  YOKE_TRY(yoke_implicit_jacobian(implicit, work->equations, work->u, u, is_inside ? YOKE_SIDE_LEFT : YOKE_SIDE_RIGHT,
                                  is_inside ? state->t + C[1] * h : state->t, x, work->J));
  return make_factors(self, state, memory, h, work);
}

/* One try with step h: was it accepted? If not, *shrink times h is the next try (1: with fresh factors). */
static bool try_step(const yoke_integrator *integrator, yoke_integrator_state *state, const radau5_parts *parts,
                     const yoke_signal *u, double proposal, double h, double t_new, int n_failures,
                     const radau5_work *work, double *shrink, yoke_status *status) {
  const radau5  *self   = integrator->self;
  radau5_memory *memory = parts->memory;
  *shrink               = 0.25;
  memcpy(work->rates, parts->qdot, (size_t)self->implicit->nq * sizeof(double));
  memcpy(work->rates + self->implicit->nq, yoke_integrator_a(integrator, state),
         (size_t)self->implicit->nv * sizeof(double));
  predict_stages(self->implicit, parts, h, work);
  const bool is_fresh =
      state->factor[0] == NULL || state->factor[1] == NULL || fabs(memory->h_factor - h) > SAME_STEP * h;
  if (is_fresh) {
    *status = refresh(self, state, memory, u, h, n_failures, work);
    if (*status != YOKE_OK) return false;
  }
  const newton_result result = newton(self, state, memory, u, h, work);
  *status                    = result.status;
  if (result.status != YOKE_OK) {
    *shrink          = result.shrink;
    memory->h_factor = 0.0;
    if (is_fresh && result.status == YOKE_NOT_CONVERGED) memory->h_newton = h;
    if (!is_fresh) { /* first blame the old factors */
      if (result.status == YOKE_NOT_CONVERGED) *shrink = 1.0;
    }
    return false;
  }
  double quotient = 1.0;
  if (!self->is_fixed) {
    double error = 0.0;
    *status      = estimate_error(self, state, memory->is_calm, u, h, work, &error);
    if (*status != YOKE_OK) return false;
    if (integrator->equations->n_motions > 0) error = fmax(error, motion_error(self, state, h, work));
    quotient = step_quotient(memory, h, error, result.iterations, error < 1.0);
    if (error >= 1.0) {
      *status         = YOKE_NOT_CONVERGED;
      *shrink         = fmin(0.9, 1.0 / quotient);
      memory->is_calm = 0;
      return false;
    }
    memory->error_accepted = fmax(1.0e-2, error);
  }
  if (self->implicit->has_quadratures && (result.last > self->newton || integrator->equations->n_motions > 0)) {
    *status = finish_quadratures(self->implicit, state, u, h, work);
    if (*status != YOKE_OK) return false;
  }
  *status = end_point(integrator, state, u, t_new, work);
  if (*status != YOKE_OK) return false;
  accept(integrator, state, parts, h, t_new, work);
  memory->contraction = result.contraction;
  if (self->is_fixed) {
    if (result.theta > THETA_FRESH) memory->h_factor = 0.0;
  } else {
    if (n_failures == 0) memory->h_smooth = fmax(h, 0.9 * memory->h_smooth);
    propose(integrator, state, memory, proposal, h, quotient, result.theta);
  }
  return true;
}

/* Near a singular position the multipliers that Newton asks for exceed those of the minimum-norm solution.
 * work->r holds its last increments. */
static bool is_near_singular(const yoke_integrator *integrator, const yoke_integrator_state *state,
                             const radau5_work *work) {
  const yoke_implicit *implicit = ((const radau5 *)integrator->self)->implicit;
  const double        *lambda   = yoke_integrator_lambda(integrator, state);
  double               size = 0.0, increment = 0.0;
  if (implicit->dae->i_lambda < 0) return false;
  for (int k = 0; k < implicit->n_lambda; ++k) {
    size = fmax(size, fabs(lambda[k]));
    for (int i = 0; i < N_STAGES; ++i) increment = fmax(increment, fabs(work->r[i][implicit->dae->i_lambda + k]));
  }
  return implicit->n_lambda > 0 && increment > size;
}

/* Allowed errors of a hop, its scale. At a singular position rounding errors of the accelerations move what is near 0
 * as much as what is large, so there the absolute error is that of a component of size 1, as long as that is small. */
static void hop_scale(const yoke_integrator *integrator, const yoke_integrator_state *state, const radau5_work *work) {
  const yoke_equations *e    = integrator->equations;
  double                rtol = integrator->options.rtol, atol = integrator->options.atol;
  if (e->ops->is_singular != NULL && e->ops->is_singular(e->self, work->equations, state->t, work->x)) {
    rtol = yoke_singular_rtol(rtol);
    atol = fmax(atol, fmin(rtol, HOP_ATOL));
  }
  yoke_implicit_scale_newton(((const radau5 *)integrator->self)->implicit, atol, rtol, work->x, work->Ew[2]);
}

/* Newton failed again and again near a singular position: across it by an explicit step. Small steps make the approach
 * worse, because deviations from the constraints grow with 1 / distance, so a larger error is allowed where the position
 * is singular indeed; what looks like it may be a jump of a force or a step that is too long. The cubic through the ends
 * takes the place of the collocation polynomial. False: nothing changed. */
static bool hop(const yoke_integrator *integrator, yoke_integrator_state *state, const radau5_parts *parts,
                const yoke_signal *u, double h_max, double t_limit, const radau5_work *work) {
  const radau5        *self     = integrator->self;
  const yoke_implicit *implicit = self->implicit;
  const int            nq = implicit->nq, n = nq + implicit->nv;
  const yoke_hop       step = {.x         = work->x,
                               .rates     = work->rates,
                               .x_new     = work->X,
                               .rates_new = work->rates_new,
                               .lambda    = work->error,
                               .k         = {NULL, work->r[0], work->r[1], work->r[2], work->Ew[0], work->Ew[1]},
                               .equations = work->equations,
                               .u         = work->u,
                               .scale     = work->Ew[2]};
  memcpy(work->rates, parts->qdot, (size_t)nq * sizeof(double));
  memcpy(work->rates + nq, yoke_integrator_a(integrator, state), (size_t)implicit->nv * sizeof(double));
  hop_scale(integrator, state, work);
  double h = h_max;
  for (int attempt = 0; attempt < MAX_HOPS; ++attempt) {
    bool is_last       = false;
    h                  = yoke_step_clip(state->t, h, t_limit, false, &is_last);
    const double t_new = is_last ? t_limit : state->t + h;
    double       error = 0.0;
    if (yoke_hop_step(implicit, &step, u, state->t, h, t_new, state, &error) != YOKE_OK) {
      h *= 0.3;
      continue;
    }
    if (error > 1.0) {
      ++state->counters.rejected;
      h *= fmax(0.2, SAFETY * pow(error, -0.2));
      continue;
    }
    for (int k = 0; k < n; ++k) { /* cubic with the end rates, at c_i */
      const double rise = work->X[k] - work->x[k];
      for (int i = 0; i < N_STAGES; ++i) {
        const double s = C[i], r = 1.0 - s;
        work->z[i][k] = s * rise + s * r * (r * (h * work->rates[k] - rise) - s * (h * work->rates_new[k] - rise));
      }
    }
    for (int i = 0; i < N_STAGES; ++i) memset(work->z[i] + n, 0, (size_t)(implicit->nx - n) * sizeof(double));
    memcpy(work->w[0], work->X, (size_t)n * sizeof(double));
    yoke_implicit_pack(implicit, work->w[0], work->w[0] + nq, work->rates_new + nq, work->error, work->X);
    accept(integrator, state, parts, h, t_new, work);
    parts->memory->h_factor       = 0.0;
    parts->memory->h_newton       = 0.0;
    parts->memory->error_accepted = 0.1;
    state->h                      = h_max;
    return true;
  }
  return false;
}

static yoke_status radau5_step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                               const yoke_signal *u, double t_limit, yoke_context *ctx) {
  const radau5      *self  = integrator->self;
  const radau5_parts parts = parts_of(integrator, state);
  radau5_work        work;
  (void)work_layout(self->implicit, scratch, &work);
  load_point(integrator, state, work.x);
  memset(work.rates, 0, (size_t)self->implicit->nx * sizeof(double));
  yoke_implicit_scale(self->implicit, self->atol, self->rtol, work.x, NULL, work.scale);
  yoke_implicit_scale_newton(self->implicit, self->atol, self->rtol, work.x, work.scale_newton);

  const double h_first    = state->h;
  double       proposal   = h_first;
  int          n_failures = 0;
  for (;;) {
    bool         is_last = false;
    const double h       = yoke_step_clip(state->t, proposal, t_limit, self->is_fixed, &is_last);
    const double t_new   = is_last ? t_limit : state->t + h;
    double       shrink  = 1.0;
    yoke_status  status  = YOKE_OK;
    if (try_step(integrator, state, &parts, u, proposal, h, t_new, n_failures, &work, &shrink, &status)) return YOKE_OK;
    if (status < 0) {
      return yoke_fail(ctx, status, "solver 'radau5' failed at t = %.9g s (%s)", state->t, yoke_status_text(status));
    }
    if (shrink < 1.0) {
      ++n_failures;
      ++state->counters.rejected;
      if (n_failures >= HOP_AFTER && !self->is_fixed && status == YOKE_NOT_CONVERGED &&
          is_near_singular(integrator, state, &work) &&
          hop(integrator, state, &parts, u, fmax(h_first, parts.memory->h_smooth), t_limit, &work)) {
        return YOKE_OK;
      }
      proposal = shrink * h;
      state->h = proposal;
      if (proposal < 10.0 * DBL_EPSILON * fabs(state->t) || proposal < 1.0e-30 || self->is_fixed) {
        return yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL, "solver 'radau5': step %.3g s at t = %.9g s failed (%s)%s", h,
                         state->t, yoke_status_text(status),
                         self->is_fixed ? ", and the step is fixed" : ", and the step cannot become smaller");
      }
    }
  }
}

static const yoke_linear *radau5_linear(const yoke_integrator *integrator, int i) {
  return i == 0 ? ((const radau5 *)integrator->self)->implicit->linear : NULL;
}

const yoke_integrator_ops radau5_ops = {
    .name        = "radau5",
    .summary     = "implicit Runge-Kutta of order 5 (Radau IIA), stiff systems and constraints",
    .reads       = "rtol atol step max_step linear constraints alpha beta",
    .create      = radau5_create,
    .destroy     = radau5_destroy,
    .start       = radau5_start,
    .step        = radau5_step,
    .interpolate = radau5_interpolate,
    .disturb     = radau5_disturb,
    .linear      = radau5_linear,
    .tangents    = YOKE_TANGENTS_IMPLICIT,
};
