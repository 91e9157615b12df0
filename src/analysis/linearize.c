#include "analysis/linearize.h"

#include "linalg/lapack.h"
#include "analysis/whole_model.h"
#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STENCIL = 4 };
static const double stencil_at[STENCIL]     = {-2.0, -1.0, 1.0, 2.0};
static const double stencil_weight[STENCIL] = {1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0};

static const double rank_tolerance = 1e-9; /* of the pivots of G, relative to the largest */
static const double rotation_share =
    1e-2; /* a rotation is given up for a constraint only when translations are worse by this */
static const double step_turn =
    1e-3; /* of outputs along a motion: they are trigonometric in angles, linear in the rest */
static const double step_input =
    1e-5; /* of inputs, relative to max(1, |u|): positions of ghosts enter by their geometry */

/* Everything about the point. Matrices are row major but for those handed to LAPACK. */
typedef struct linear_point {
  const yoke_linearize_def *def;
  yoke_linearization       *out;
  yoke_arena                arena; /* of all arrays below, and of scratch */
  yoke_context             *ctx;
  int       nq, nqs, nv, ng, nm, nu, nx; /* nqs: q without quadratures; nm: multipliers, guided rows too */
  int       i_v, i_a, i_lambda;
  void     *work;
  double   *q, *v, *u, *a, *lambda, *qdot; /* at the point; u [nu] */
  yoke_dae *dae;                           /* index-1 form, and its J: */
  double   *values;                        /* [nnz] */
  double   *J;                             /* [nx, nx] index-1 form */
  double   *J_rate;                        /* [ng, nq] d(G v)/dq; NULL: at rest */
  double   *T_norm;                        /* [nv] squared norms of the columns of T */
  int       rank;
  int      *pivot;            /* [nv] columns of G: first `rank` dependent, the others independent, increasing */
  double   *QR, *tau, *scale; /* of G with scaled columns, column major [ng, nv] */
  double   *dtheta, *dv, *da; /* [n_x, nv] motion, velocity and acceleration along each component of x */
  double   *dlambda;          /* [n_x, nm] multipliers */
} linear_point;

static double J_at(const linear_point *p, int row, int col) {
  return p->J[(size_t)row * (size_t)p->nx + (size_t)col];
}

static double T_at(const linear_point *p, int row, int k) {
  return J_at(p, row, p->i_v + k);
}

static yoke_status no_memory(const linear_point *p) {
  return yoke_out_of_memory(p->ctx, "the linearisation of a system of %d velocities", p->nv);
}

static yoke_status check_memory(const linear_point *p) {
  return p->arena.has_failed || p->out->arena.has_failed ? no_memory(p) : YOKE_OK;
}

/* ---- Jacobians ---- */

static void densify(const yoke_pattern *pattern, const double *values, int n, double *out) {
  memset(out, 0, (size_t)n * (size_t)n * sizeof *out);
  for (int c = 0; c < pattern->n_cols; ++c) {
    for (int k = pattern->col_start[c]; k < pattern->col_start[c + 1]; ++k)
      out[(size_t)pattern->row[k] * (size_t)n + (size_t)c] = values[k];
  }
}

/* J of one form at the point: values [nnz] and dense [nx, nx]. *dae is given, also on failure. */
static yoke_status jacobian(linear_point *p, yoke_dae_form form, yoke_dae **dae, double **sparse, double **J) {
  const yoke_equations *e = p->def->equations;
  YOKE_TRY(e->ops->dae_create(e->self, p->ctx, form, dae));
  const int nx     = (*dae)->nx;
  double   *values = *sparse = yoke_arena_take(&p->arena, (size_t)(*dae)->pattern->nnz + 1, sizeof *values);
  *J                         = yoke_arena_take(&p->arena, (size_t)nx * (size_t)nx + 1, sizeof **J);
  const size_t mark          = yoke_arena_mark(&p->arena);
  double      *x             = yoke_arena_take(&p->arena, (size_t)nx + 1, sizeof *x);
  YOKE_TRY(check_memory(p));
  memcpy(x, p->q, (size_t)p->nq * sizeof *x);
  memcpy(x + (*dae)->i_v, p->v, (size_t)p->nv * sizeof *x);
  if ((*dae)->i_a >= 0) memcpy(x + (*dae)->i_a, p->a, (size_t)p->nv * sizeof *x);
  if ((*dae)->i_lambda >= 0) memcpy(x + (*dae)->i_lambda, p->lambda, (size_t)p->nm * sizeof *x);
  if (e->ops->dae_jacobian(e->self, *dae, p->work, p->def->t, x, p->u, values) != YOKE_OK) {
    return yoke_fail(p->ctx, YOKE_E_UNSTABLE, "model '%s': a derivative of a force is not finite there",
                     p->def->model->name);
  }
  densify((*dae)->pattern, values, nx, *J);
  yoke_arena_release(&p->arena, mark);
  return YOKE_OK;
}

static bool is_at_rest(const linear_point *p) {
  for (int i = 0; i < p->nv; ++i) {
    if (p->v[i] != 0.0) return false;
  }
  return true;
}

/* d(G v + g_t)/dq from the velocity rows of the GGL form; g_t does not depend on q. */
static yoke_status rate_jacobian(linear_point *p) {
  yoke_dae *dae = NULL;
  double   *J = NULL, *values = NULL;
  if (p->ng == 0 || is_at_rest(p)) return YOKE_OK;
  if (p->nm > p->ng) {
    return yoke_fail(p->ctx, YOKE_E_UNSUPPORTED,
                     "model '%s' moves and has joints of its own beside rows that are guided from outside: it can be "
                     "linearised at rest only",
                     p->def->model->name);
  }
  p->J_rate           = yoke_arena_take(&p->arena, (size_t)p->ng * (size_t)p->nq + 1, sizeof *p->J_rate);
  const size_t mark   = yoke_arena_mark(&p->arena);
  yoke_status  status = jacobian(p, YOKE_DAE_GGL, &dae, &values, &J);
  for (int g = 0; status == YOKE_OK && g < p->ng; ++g)
    memcpy(p->J_rate + (size_t)g * (size_t)p->nq, J + ((size_t)dae->i_lambda + (size_t)g) * (size_t)dae->nx,
           (size_t)p->nq * sizeof *J);
  yoke_dae_destroy(&dae);
  yoke_arena_release(&p->arena, mark);
  return status;
}

static yoke_status set_jacobians(linear_point *p) {
  YOKE_TRY(jacobian(p, YOKE_DAE_INDEX1, &p->dae, &p->values, &p->J));
  p->nx       = p->dae->nx;
  p->i_v      = p->dae->i_v;
  p->i_a      = p->dae->i_a;
  p->i_lambda = p->dae->i_lambda;
  if (p->i_a < 0) {
    return yoke_fail(
        p->ctx, YOKE_E_UNSUPPORTED,
        "model '%s': motion of it is prescribed from outside by a kinematic coupling, and it is not linear; "
        "such a model cannot be linearised",
        p->def->model->name);
  }
  for (int k = 0; k < p->nv; ++k) {
    p->T_norm[k] = 0.0;
    for (int i = 0; i < p->nqs; ++i) p->T_norm[k] += T_at(p, i, k) * T_at(p, i, k);
  }
  return rate_jacobian(p);
}

/* out [nx] += factor * column c of J. */
static void add_column(const linear_point *p, int c, double factor, double *out) {
  const yoke_pattern *pattern = p->dae->pattern;
  for (int k = pattern->col_start[c]; factor != 0.0 && k < pattern->col_start[c + 1]; ++k)
    out[pattern->row[k]] += factor * p->values[k];
}

/* dq [nq] = T dtheta. out [nx] is room for a product with J. */
static void to_q(const linear_point *p, const double *dtheta, double *out, double *dq) {
  memset(out, 0, (size_t)p->nx * sizeof *out);
  for (int k = 0; k < p->nv; ++k) add_column(p, p->i_v + k, dtheta[k], out);
  memcpy(dq, out, (size_t)p->nq * sizeof *dq);
}

/* out [nx] = J (dq, dv, 0, 0). */
static void respond(const linear_point *p, const double *dq, const double *dv, double *out) {
  memset(out, 0, (size_t)p->nx * sizeof *out);
  for (int i = 0; i < p->nqs; ++i) add_column(p, i, dq[i], out);
  for (int k = 0; k < p->nv; ++k) add_column(p, p->i_v + k, dv[k], out);
}

/* Component k of T^+ z: the tangent motion of a change z of q; columns of T are orthogonal. */
static double tangent(const linear_point *p, int k, const double *z) {
  const yoke_pattern *pattern = p->dae->pattern;
  double              sum     = 0.0;
  for (int i = pattern->col_start[p->i_v + k]; i < pattern->col_start[p->i_v + k + 1]; ++i) {
    if (pattern->row[i] < p->nqs) sum += p->values[i] * z[pattern->row[i]];
  }
  return sum / p->T_norm[k];
}

/* ---- independent coordinates ---- */

static int by_size(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

static yoke_status choose_coordinates(linear_point *p) {
  int         component;
  bool        is_rotation;
  lapack_int *jpvt = yoke_arena_take(&p->arena, (size_t)p->nv + 1, sizeof *jpvt);
  p->pivot         = yoke_arena_take(&p->arena, (size_t)p->nv + 1, sizeof *p->pivot);
  p->QR            = yoke_arena_take(&p->arena, (size_t)p->ng * (size_t)p->nv + 1, sizeof *p->QR);
  p->tau           = yoke_arena_take(&p->arena, (size_t)p->nv + (size_t)p->ng + 1, sizeof *p->tau);
  p->scale         = yoke_arena_take(&p->arena, (size_t)p->nv + 1, sizeof *p->scale);
  YOKE_TRY(check_memory(p));
  for (int k = 0; k < p->nv; ++k) {
    (void)yoke_multibody_freedom_body(p->def->model, p->def->mb, k, &component, &is_rotation);
    p->scale[k] = is_rotation ? rotation_share : 1.0;
    p->pivot[k] = k;
    for (int g = 0; g < p->ng; ++g)
      p->QR[(size_t)k * (size_t)p->ng + (size_t)g] = J_at(p, p->i_lambda + g, p->i_a + k) * p->scale[k];
  }
  if (p->ng == 0) return YOKE_OK;
  const lapack_int info = lapack_dgeqp3(p->ng, p->nv, p->QR, p->ng, jpvt, p->tau);
  if (info == LAPACK_NO_MEMORY) return no_memory(p);
  if (info != 0)
    return yoke_fail(p->ctx, YOKE_E_UNSTABLE, "model '%s': the constraints are not finite", p->def->model->name);
  for (int k = 0; k < p->nv; ++k) p->pivot[k] = (int)jpvt[k] - 1;
  const int most = p->ng < p->nv ? p->ng : p->nv;
  while (p->rank < most &&
         fabs(p->QR[(size_t)p->rank * (size_t)p->ng + (size_t)p->rank]) > rank_tolerance * fabs(p->QR[0]))
    ++p->rank;
  return YOKE_OK;
}

/* R11 x = b in place, b [rank]. */
static void solve_dependent(const linear_point *p, double *b) {
  for (int i = p->rank - 1; i >= 0; --i) {
    for (int j = i + 1; j < p->rank; ++j) b[i] -= p->QR[(size_t)j * (size_t)p->ng + (size_t)i] * b[j];
    b[i] /= p->QR[(size_t)i * (size_t)p->ng + (size_t)i];
  }
}

/* Column of N for the independent component pivot[k], k >= rank: out [nv]. */
static void tangent_column(const linear_point *p, int k, double *b, double *out) {
  memset(out, 0, (size_t)p->nv * sizeof *out);
  out[p->pivot[k]] = 1.0;
  for (int i = 0; i < p->rank; ++i) b[i] = -p->QR[(size_t)k * (size_t)p->ng + (size_t)i] / p->scale[p->pivot[k]];
  solve_dependent(p, b);
  for (int i = 0; i < p->rank; ++i) out[p->pivot[i]] = b[i] * p->scale[p->pivot[i]];
}

/* Velocities that a displacement dtheta at constant eta brings about: G dv = -d(G v)/dq T dtheta. b [ng]. */
static yoke_status turning_velocity(const linear_point *p, const double *dtheta, double *dq, double *b, double *out) {
  memset(out, 0, (size_t)p->nv * sizeof *out);
  if (p->J_rate == NULL) return YOKE_OK;
  to_q(p, dtheta, dq + p->nq, dq);
  for (int g = 0; g < p->ng; ++g) {
    b[g] = 0.0;
    for (int i = 0; i < p->nqs; ++i) b[g] -= p->J_rate[(size_t)g * (size_t)p->nq + (size_t)i] * dq[i];
  }
  const int most = p->ng < p->nv ? p->ng : p->nv;
  if (lapack_dormqr('L', 'T', p->ng, 1, most, p->QR, p->ng, p->tau, b, p->ng) != 0) return no_memory(p);
  solve_dependent(p, b);
  for (int i = 0; i < p->rank; ++i) out[p->pivot[i]] = b[i] * p->scale[p->pivot[i]];
  return YOKE_OK;
}

/* N and the directions (dtheta, dv) of all components of x. */
static yoke_status set_directions(linear_point *p) {
  yoke_linearization *out = p->out;
  const size_t        nv = (size_t)p->nv, nf = (size_t)(p->nv - p->rank);
  out->nv           = p->nv;
  out->n_freedoms   = (int)nf;
  out->n_x          = 2 * (int)nf;
  out->coordinate   = yoke_arena_take(&out->arena, nf + 1, sizeof *out->coordinate);
  out->N            = yoke_arena_take(&out->arena, nv * nf + 1, sizeof *out->N);
  p->dtheta         = yoke_arena_take(&p->arena, 2 * nf * nv + 1, sizeof *p->dtheta);
  p->dv             = yoke_arena_take(&p->arena, 2 * nf * nv + 1, sizeof *p->dv);
  p->da             = yoke_arena_take(&p->arena, 2 * nf * nv + 1, sizeof *p->da);
  p->dlambda        = yoke_arena_take(&p->arena, 2 * nf * (size_t)p->nm + 1, sizeof *p->dlambda);
  const size_t mark = yoke_arena_mark(&p->arena);
  double      *b    = yoke_arena_take(&p->arena, (size_t)p->ng + nv + (size_t)p->nq + (size_t)p->nx + 1, sizeof *b);
  YOKE_TRY(check_memory(p));
  for (size_t j = 0; j < nf; ++j) out->coordinate[j] = p->pivot[(size_t)p->rank + j];
  qsort(out->coordinate, nf, sizeof *out->coordinate, by_size);
  for (size_t j = 0; j < nf; ++j) {
    double *dtheta = p->dtheta + j * nv, *eta = p->dv + (nf + j) * nv;
    int     k = p->rank;
    while (p->pivot[k] != out->coordinate[j]) ++k;
    tangent_column(p, k, b, dtheta);
    memcpy(eta, dtheta, nv * sizeof *eta);
    for (size_t i = 0; i < nv; ++i) out->N[i * nf + j] = dtheta[i];
    YOKE_TRY(turning_velocity(p, dtheta, b + p->ng + p->nv, b, p->dv + j * nv));
  }
  yoke_arena_release(&p->arena, mark);
  return YOKE_OK;
}

/* M_r = N^T M N [n_freedoms, n_freedoms]. */
static yoke_status set_mass(linear_point *p) {
  yoke_linearization *out = p->out;
  const size_t        nv = (size_t)p->nv, nf = (size_t)out->n_freedoms;
  const size_t        mark   = yoke_arena_mark(&p->arena);
  double             *Mn     = yoke_arena_take(&p->arena, nv, sizeof *Mn);
  double             *column = yoke_arena_take(&p->arena, nv, sizeof *column);
  out->mass                  = yoke_arena_take(&out->arena, nf * nf + 1, sizeof *out->mass);
  YOKE_TRY(check_memory(p));
  for (size_t j = 0; j < nf; ++j) {
    for (size_t i = 0; i < nv; ++i) column[i] = out->N[i * nf + j];
    yoke_multibody_mass_apply(p->def->mb, column, Mn);
    for (size_t k = 0; k < nf; ++k) {
      for (size_t i = 0; i < nv; ++i) out->mass[k * nf + j] += out->N[i * nf + k] * Mn[i];
    }
  }
  yoke_arena_release(&p->arena, mark);
  return YOKE_OK;
}

/* ---- accelerations ---- */

/* S X = B, B [n, m] column major in place; S is destroyed. Singular S: least squares of least norm. */
static yoke_status solve(linear_point *p, int n, int m, double *S, double *B) {
  const size_t mark   = yoke_arena_mark(&p->arena);
  double      *copy   = yoke_arena_copy(&p->arena, S, (size_t)n * (size_t)n, sizeof *copy);
  double      *right  = yoke_arena_copy(&p->arena, B, (size_t)n * (size_t)m, sizeof *right);
  lapack_int  *pivots = yoke_arena_take(&p->arena, (size_t)n + 1, sizeof *pivots);
  lapack_int   rank, info = 0;
  YOKE_TRY(check_memory(p));
  if (lapack_dgesv(n, m, copy, n, pivots, right, n) == 0) {
    memcpy(B, right, (size_t)n * (size_t)m * sizeof *B);
  } else {
    memset(pivots, 0, (size_t)n * sizeof *pivots);
    info = lapack_dgelsy(n, n, m, S, n, B, n, pivots, 1e-13, &rank);
  }
  yoke_arena_release(&p->arena, mark);
  if (info == LAPACK_NO_MEMORY) return no_memory(p);
  if (info == 0) return YOKE_OK;
  return yoke_fail(p->ctx, YOKE_E_UNSTABLE, "model '%s': the accelerations are not determined", p->def->model->name);
}

/* The matrix of accelerations and multipliers, column major, in the arena. NULL: out of memory. */
static double *saddle_matrix(linear_point *p) {
  const int n = p->nv + p->nm;
  double   *S = yoke_arena_take(&p->arena, (size_t)n * (size_t)n + 1, sizeof *S);
  for (int r = 0; S != NULL && r < n; ++r) {
    for (int c = 0; c < n; ++c) S[(size_t)c * (size_t)n + (size_t)r] = J_at(p, p->i_a + r, p->i_a + c);
  }
  return S;
}

/* da along all components of x, and with them A. */
static yoke_status set_A(linear_point *p) {
  yoke_linearization *out = p->out;
  const int           n = p->nv + p->nm, m = out->n_x, nf = out->n_freedoms;
  const size_t        mark = yoke_arena_mark(&p->arena);
  double             *S    = saddle_matrix(p);
  double             *B    = yoke_arena_take(&p->arena, (size_t)n * (size_t)m + 1, sizeof *B);
  double             *dq   = yoke_arena_take(&p->arena, (size_t)p->nq, sizeof *dq);
  double             *rate = yoke_arena_take(&p->arena, (size_t)p->nx, sizeof *rate);
  out->A                   = yoke_arena_take(&out->arena, (size_t)m * (size_t)m + 1, sizeof *out->A);
  YOKE_TRY(check_memory(p));
  for (int j = 0; j < m; ++j) {
    const double *dtheta = p->dtheta + (size_t)j * (size_t)p->nv, *dv = p->dv + (size_t)j * (size_t)p->nv;
    to_q(p, dtheta, rate, dq);
    respond(p, dq, dv, rate);
    for (int r = 0; r < n; ++r) B[(size_t)j * (size_t)n + (size_t)r] = 0.0 - rate[p->i_a + r];
    for (int i = 0; i < nf; ++i) out->A[(size_t)i * (size_t)m + (size_t)j] = tangent(p, out->coordinate[i], rate);
  }
  YOKE_TRY(solve(p, n, m, S, B));
  for (int j = 0; j < m; ++j) {
    const double *da = B + (size_t)j * (size_t)n;
    memcpy(p->da + (size_t)j * (size_t)p->nv, da, (size_t)p->nv * sizeof *da);
    memcpy(p->dlambda + (size_t)j * (size_t)p->nm, da + p->nv, (size_t)p->nm * sizeof *da);
    for (int i = 0; i < nf; ++i) out->A[(size_t)(nf + i) * (size_t)m + (size_t)j] = da[out->coordinate[i]];
  }
  yoke_arena_release(&p->arena, mark);
  return YOKE_OK;
}

/* ---- inputs and outputs ---- */

static yoke_status evaluate(const linear_point *p, double *qdot, double *a, double *lambda) {
  const yoke_equations *e      = p->def->equations;
  const yoke_status     status = e->ops->derivative(e->self, p->work, p->def->t, p->q, p->v, p->u, qdot, a, lambda);
  if (status == YOKE_OK) return YOKE_OK;
  return yoke_fail(p->ctx, YOKE_E_UNSTABLE, "model '%s': its accelerations cannot be computed there (%s)",
                   p->def->model->name, yoke_status_text(status));
}

static yoke_status show(const linear_point *p, const double *q, const double *v, const double *a, const double *lambda,
                        double *y) {
  const yoke_linear_point point = {.q = q, .v = v, .u = p->u, .a = a, .lambda = lambda};
  if (p->def->ny == 0) return YOKE_OK;
  const yoke_status status = p->def->output(p->def->user, &point, y);
  return status == YOKE_OK ? YOKE_OK
                           : yoke_fail(p->ctx, YOKE_E_UNSTABLE, "model '%s': its outputs cannot be computed there (%s)",
                                       p->def->model->name, yoke_status_text(status));
}

/* B, and D from the accelerations that inputs bring about. */
static yoke_status set_B(linear_point *p) {
  yoke_linearization *out = p->out;
  const int           nf = out->n_freedoms, ny = p->def->ny;
  const size_t        mark = yoke_arena_mark(&p->arena), nu = (size_t)out->nu;
  double             *qdot   = yoke_arena_take(&p->arena, (size_t)p->nq, sizeof *qdot);
  double             *dq     = yoke_arena_take(&p->arena, (size_t)p->nq, sizeof *dq);
  double             *a      = yoke_arena_take(&p->arena, (size_t)p->nv, sizeof *a);
  double             *da     = yoke_arena_take(&p->arena, (size_t)p->nv, sizeof *da);
  double             *y      = yoke_arena_take(&p->arena, (size_t)ny, sizeof *y);
  double             *dy     = yoke_arena_take(&p->arena, (size_t)ny, sizeof *dy);
  double             *lambda = yoke_arena_take(&p->arena, (size_t)p->nm, sizeof *lambda);
  out->B                     = yoke_arena_take(&out->arena, (size_t)out->n_x * nu + 1, sizeof *out->B);
  out->D                     = yoke_arena_take(&out->arena, (size_t)ny * nu + 1, sizeof *out->D);
  yoke_status status         = check_memory(p);
  for (int j = 0; status == YOKE_OK && j < p->nu; ++j) {
    const double u = p->u[j], h = step_input * fmax(1.0, fabs(u));
    memset(dq, 0, (size_t)p->nq * sizeof *dq);
    memset(da, 0, (size_t)p->nv * sizeof *da);
    memset(dy, 0, (size_t)ny * sizeof *dy);
    for (int s = 0; s < STENCIL && status == YOKE_OK; ++s) {
      p->u[j] = u + stencil_at[s] * h;
      status  = evaluate(p, qdot, a, lambda);
      if (status == YOKE_OK) status = show(p, p->q, p->v, a, lambda, y);
      if (status != YOKE_OK) break;
      for (int i = 0; i < p->nq; ++i) dq[i] += stencil_weight[s] / h * (qdot[i] - p->qdot[i]);
      for (int i = 0; i < p->nv; ++i) da[i] += stencil_weight[s] / h * (a[i] - p->a[i]);
      for (int i = 0; i < ny; ++i) dy[i] += stencil_weight[s] / h * (y[i] - out->y0[i]);
    }
    p->u[j] = u;
    for (int i = 0; i < nf; ++i) {
      out->B[(size_t)i * nu + (size_t)j]        = tangent(p, out->coordinate[i], dq);
      out->B[(size_t)(nf + i) * nu + (size_t)j] = da[out->coordinate[i]];
    }
    for (int i = 0; i < ny; ++i) out->D[(size_t)i * nu + (size_t)j] = dy[i];
  }
  yoke_arena_release(&p->arena, mark);
  return status;
}

/* Columns of B and D for forces on the velocities: S (da, dlambda) = (-1, 0) for a unit force, outputs are linear in a. */
static yoke_status set_forces(linear_point *p) {
  yoke_linearization *out = p->out;
  const int           n = p->nv + p->nm, nf = out->n_freedoms, ny = p->def->ny;
  const size_t        nu = (size_t)out->nu;
  if (!p->def->with_forces) return YOKE_OK;
  const size_t mark   = yoke_arena_mark(&p->arena);
  double      *S      = saddle_matrix(p);
  double      *X      = yoke_arena_take(&p->arena, (size_t)n * (size_t)p->nv + 1, sizeof *X);
  double      *y      = yoke_arena_take(&p->arena, (size_t)ny, sizeof *y);
  double      *a      = yoke_arena_take(&p->arena, (size_t)p->nv, sizeof *a);
  double      *lambda = yoke_arena_take(&p->arena, (size_t)p->nm, sizeof *lambda);
  yoke_status  status = check_memory(p);
  for (int k = 0; status == YOKE_OK && k < p->nv; ++k) X[(size_t)k * (size_t)n + (size_t)k] = -1.0;
  if (status == YOKE_OK) status = solve(p, n, p->nv, S, X);
  for (int k = 0; status == YOKE_OK && k < p->nv; ++k) {
    const double *da = X + (size_t)k * (size_t)n;
    const size_t  j  = (size_t)p->nu + (size_t)k;
    for (int i = 0; i < nf; ++i) out->B[(size_t)(nf + i) * nu + j] = da[out->coordinate[i]];
    for (int i = 0; i < p->nv; ++i) a[i] = p->a[i] + da[i];
    for (int i = 0; i < p->nm; ++i) lambda[i] = p->lambda[i] + da[p->nv + i];
    status = show(p, p->q, p->v, a, lambda, y);
    for (int i = 0; i < ny && status == YOKE_OK; ++i) out->D[(size_t)i * nu + j] = y[i] - out->y0[i];
  }
  yoke_arena_release(&p->arena, mark);
  return status;
}

static yoke_status set_C(linear_point *p) {
  yoke_linearization *out = p->out;
  const int           ny  = p->def->ny;
  const size_t        nv = (size_t)p->nv, nq = (size_t)p->nq, nm = (size_t)p->nm;
  const size_t        mark   = yoke_arena_mark(&p->arena);
  double             *q      = yoke_arena_take(&p->arena, nq, sizeof *q);
  double             *v      = yoke_arena_take(&p->arena, nv, sizeof *v);
  double             *a      = yoke_arena_take(&p->arena, nv, sizeof *a);
  double             *move   = yoke_arena_take(&p->arena, nv, sizeof *move);
  double             *y      = yoke_arena_take(&p->arena, (size_t)ny, sizeof *y);
  double             *dy     = yoke_arena_take(&p->arena, (size_t)ny, sizeof *dy);
  double             *lambda = yoke_arena_take(&p->arena, nm, sizeof *lambda);
  out->ny                    = ny;
  out->C                     = yoke_arena_take(&out->arena, (size_t)ny * (size_t)out->n_x + 1, sizeof *out->C);
  out->y0                    = yoke_arena_take(&out->arena, (size_t)ny + 1, sizeof *out->y0);
  yoke_status status         = check_memory(p);
  if (status == YOKE_OK) status = show(p, p->q, p->v, p->a, p->lambda, out->y0);
  for (int j = 0; status == YOKE_OK && ny > 0 && j < out->n_x; ++j) {
    const double *dtheta = p->dtheta + (size_t)j * nv, *dv = p->dv + (size_t)j * nv, *da = p->da + (size_t)j * nv,
                 *dlambda = p->dlambda + (size_t)j * nm;
    double most           = 1.0;
    for (size_t i = 0; i < nv; ++i) most = fmax(most, fabs(dtheta[i]));
    const double h = step_turn / most;
    memset(dy, 0, (size_t)ny * sizeof *dy);
    for (int s = 0; s < STENCIL && status == YOKE_OK; ++s) {
      const double by = stencil_at[s] * h;
      memcpy(q, p->q, nq * sizeof *q);
      for (size_t i = 0; i < nv; ++i) {
        move[i] = by * dtheta[i];
        v[i]    = p->v[i] + by * dv[i];
        a[i]    = p->a[i] + by * da[i];
      }
      for (size_t i = 0; i < nm; ++i) lambda[i] = p->lambda[i] + by * dlambda[i];
      yoke_multibody_move(p->def->mb, q, move);
      status = show(p, q, v, a, lambda, y);
      for (int i = 0; i < ny; ++i) dy[i] += stencil_weight[s] / h * (y[i] - out->y0[i]);
    }
    for (int i = 0; i < ny; ++i) out->C[(size_t)i * (size_t)out->n_x + (size_t)j] = dy[i];
  }
  yoke_arena_release(&p->arena, mark);
  return status;
}

/* ---- all ---- */

static yoke_status set_point(linear_point *p) {
  const yoke_linearize_def *def = p->def;
  p->work                       = yoke_arena_take(&p->arena, def->equations->work_size + 1, 1);
  p->q                          = yoke_arena_take(&p->arena, (size_t)p->nq + 1, sizeof *p->q);
  p->v                          = yoke_arena_take(&p->arena, (size_t)p->nv + 1, sizeof *p->v);
  p->u                          = yoke_arena_take(&p->arena, (size_t)p->nu + 1, sizeof *p->u);
  p->a                          = yoke_arena_take(&p->arena, (size_t)p->nv + 1, sizeof *p->a);
  p->lambda                     = yoke_arena_take(&p->arena, (size_t)p->nm + 1, sizeof *p->lambda);
  p->qdot                       = yoke_arena_take(&p->arena, (size_t)p->nq + 1, sizeof *p->qdot);
  p->T_norm                     = yoke_arena_take(&p->arena, (size_t)p->nv + 1, sizeof *p->T_norm);
  YOKE_TRY(check_memory(p));
  memcpy(p->q, def->q, (size_t)p->nq * sizeof *p->q);
  memcpy(p->v, def->v, (size_t)p->nv * sizeof *p->v);
  if (def->u != NULL) memcpy(p->u, def->u, (size_t)p->nu * sizeof *p->u);
  return evaluate(p, p->qdot, p->a, p->lambda);
}

static yoke_status set_constants(const linear_point *p) {
  yoke_linearization *out = p->out;
  out->f0                 = yoke_arena_take(&out->arena, (size_t)out->n_x + 1, sizeof *out->f0);
  out->u0                 = yoke_arena_take(&out->arena, (size_t)out->nu + 1, sizeof *out->u0);
  YOKE_TRY(check_memory(p));
  memcpy(out->u0, p->u, (size_t)p->nu * sizeof *p->u);
  for (int i = 0; i < out->n_freedoms; ++i) {
    out->f0[i]                   = tangent(p, out->coordinate[i], p->qdot);
    out->f0[out->n_freedoms + i] = p->a[out->coordinate[i]];
  }
  return YOKE_OK;
}

static yoke_status linearize(linear_point *p) {
  YOKE_TRY(set_point(p));
  YOKE_TRY(set_jacobians(p));
  YOKE_TRY(choose_coordinates(p));
  YOKE_TRY(set_directions(p));
  YOKE_TRY(set_mass(p));
  YOKE_TRY(set_A(p));
  YOKE_TRY(set_C(p));
  p->out->nu = p->nu + (p->def->with_forces ? p->nv : 0);
  YOKE_TRY(set_constants(p));
  YOKE_TRY(set_B(p));
  return set_forces(p);
}

static bool all_finite(size_t n, const double *values) {
  for (size_t i = 0; values != NULL && i < n; ++i) {
    if (!isfinite(values[i])) return false;
  }
  return true;
}

/* Eigenvalue solvers may not come back from a matrix with infinities. */
static yoke_status check_finite(yoke_context *ctx, const char *name, const yoke_linearization *l) {
  const size_t n = (size_t)l->n_x, nu = (size_t)l->nu, ny = (size_t)l->ny;
  if (all_finite(n * n, l->A) && all_finite(n * nu, l->B) && all_finite(ny * n, l->C) && all_finite(ny * nu, l->D) &&
      all_finite(n, l->f0) && all_finite(ny, l->y0))
    return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_UNSTABLE,
      "model '%s': its linearised equations have coefficients that are not finite; are masses, stiffnesses "
      "and dampings of a sensible size?",
      name);
}

yoke_status yoke_linearize(yoke_context *ctx, const yoke_linearize_def *def, yoke_linearization *out) {
  const yoke_equations *e = def->equations;
  linear_point          p = {.def = def,
                             .out = out,
                             .ctx = ctx,
                             .nq  = e->nq,
                             .nqs = e->nq - e->n_quadratures,
                             .nv  = e->nv,
                             .ng  = e->ng,
                             .nm  = yoke_n_multipliers(e),
                             .nu  = e->nu};
  *out                    = (yoke_linearization){0};
  if (e->ops->dae_create == NULL) {
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "model '%s' has no analytic Jacobian to linearise it with",
                     def->model->name);
  }
  yoke_status status = linearize(&p);
  if (status == YOKE_OK) status = check_finite(ctx, def->model->name, out);
  yoke_dae_destroy(&p.dae);
  yoke_arena_free(&p.arena);
  if (status != YOKE_OK) yoke_linearization_clear(out);
  return status;
}

void yoke_linearization_clear(yoke_linearization *l) {
  yoke_arena_free(&l->arena);
  *l = (yoke_linearization){0};
}
