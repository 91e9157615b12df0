/* Work of dampers and loads of a native subsystem.
 *
 * A part of a split counts it beside its solver, which knows nothing of it: the solver's equations, steps and bits are those of a run that
 * counts nothing. With P the powers lost and brought in [W]
 *   D += h sum w_i P_d(t_i),  X += h sum w_i P_x(t_i)     t_i the three points of Gauss of a micro step
 * Where q' = v, q is the quintic Hermite polynomial of (q, q', q'') at the ends of the micro step, and v its derivative. Its error e vanishes at
 * both ends, so that of the work of F(t) is  int F e' dt = -int F' e dt = O(h^7), as that of the points is: order 6. Elsewhere, and in steps of
 * radau5 and bdf, whose stiff modes may have accelerations at the ends that tell nothing of the inside, q and v are the dense output that costs
 * nothing, at least cubic: order 4. So they are where laws jump.
 * A model that runs as a whole integrates both along as quadratures of its equations (multibody.h), as accurate as its solver is; so does a part
 * with prescribed motions of joints, or with loads that read accelerations or forces of joints: their powers follow from multipliers. */
#include "native/native_internal.h"

#include <math.h>
#include <string.h>

bool native_integrates_work(const yoke_native_def *def) {
  const yoke_model *model = def->model;
  if (def->is_whole) return true;
  for (int c = 0; c < model->n_connections; ++c) {
    if (model->connections[c].motion != NULL) return true;
  }
  for (int k = 0; k < model->n_variables; ++k) {
    if (yoke_variable_is_felt(&model->variables[k])) return true;
  }
  return false;
}

static double *work_of(const native *n, const void *state) {
  return native_doubles(state, n->at->work);
}

/* q' = v, but for quadratures, on which no power depends. */
static bool has_rates(const yoke_equations *e) {
  return e->nq - e->n_quadratures == e->nv && e->n_norms == 0 && !e->drifts;
}

bool native_work_looks(const native *n) {
  const yoke_tangent_rule rule = n->integrator->ops->tangents;
  return !has_rates(&n->equations) || rule == YOKE_TANGENTS_IMPLICIT || rule == YOKE_TANGENTS_AT_WORK;
}

/* Is the last micro step one between two ends? Where laws jump on the way there is good dense output anyway, with the rates behind the jump. */
static bool is_joined(const native *n, const yoke_integrator_state *head) {
  return n->work_is_joined && yoke_integrator_at_work(n->integrator, head)->ops->tangents != YOKE_TANGENTS_IMPLICIT;
}

int native_work_keeps(const native *n) {
  return has_rates(&n->equations) ? 3 * n->equations.nv : 0;
}

void native_begin_work(const native *n, void *scratch, const yoke_integrator_state *head) {
  const size_t nv   = (size_t)n->equations.nv;
  double      *from = native_doubles(scratch, n->at->work_from);
  if (!n->work_is_joined) return;
  memcpy(from, yoke_integrator_q(n->integrator, head), nv * sizeof *from);
  memcpy(from + nv, yoke_integrator_v(n->integrator, head), nv * sizeof *from);
  memcpy(from + 2 * nv, yoke_integrator_a(n->integrator, head), nv * sizeof *from);
}

/* Points of Gauss on [0, 1], (1 -+ sqrt(3/5))/2 and 1/2, and their weights. */
enum { N_POINTS = 3 };
static const double point[N_POINTS]  = {0.11270166537925831, 0.5, 0.88729833462074169};
static const double weight[N_POINTS] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};

/* Quintic Hermite polynomials at a point s, r = 1 - s, and their derivatives by s: of q1 - q0, h v0, h v1, h^2 a0, h^2 a1. */
typedef struct hermite {
  double q[5], v[5];
} hermite;
#define HERMITE(s, r)                                                                                                  \
  {                                                                                                                    \
    {(s) * (s) * (s) * (10 - 15 * (s) + 6 * (s) * (s)), (s) * (r) * (r) * (r) * (1 + 3 * (s)),                         \
     (s) * (s) * (s) * (r) * (3 * (s)-4), 0.5 * (s) * (s) * (r) * (r) * (r), 0.5 * (s) * (s) * (s) * (r) * (r)},       \
        {30 * (s) * (s) * (r) * (r), (r) * (r) * (1 - 3 * (s)) * (1 + 5 * (s)),                                        \
         (s) * (s) * (3 * (s)-2) * (6 - 5 * (s)), 0.5 * (s) * (r) * (r) * (2 - 5 * (s)),                               \
         0.5 * (s) * (s) * (r) * (3 - 5 * (s))},                                                                       \
  }
static const hermite at_point[N_POINTS] = {HERMITE(0.11270166537925831, 0.88729833462074169), HERMITE(0.5, 0.5),
                                           HERMITE(0.88729833462074169, 0.11270166537925831)};
#undef HERMITE

/* Powers at t, q, v, which go to where prescribed motions put them, over a time dt. */
static void add_powers(const native *n, void *scratch, const yoke_signal *u, double t, double dt, double *q, double *v,
                       double sum[2]) {
  const yoke_equations *e   = &n->equations;
  double               *now = native_doubles(scratch, n->at->work_u), dissipated, external;
  if (n->work_reads_inputs) yoke_signal_value(u, t, YOKE_SIDE_LEFT, 0, now);
  if (n->is_prescribed && yoke_multibody_prescribe(n->mb, scratch, t, now, q, v) != YOKE_OK) return;
  e->ops->powers(e->self, scratch, t, q, v, now, &dissipated, &external);
  sum[0] += dt * dissipated;
  sum[1] += dt * external;
}

/* Work from t0 to t1 inside the last micro step, on the dense output. */
static void integrate(const native *n, void *scratch, const void *state, const yoke_signal *u, double t0, double t1,
                      double sum[2]) {
  const yoke_equations *e = &n->equations;
  double               *q = native_doubles(scratch, n->at->work_q), *v = native_doubles(scratch, n->at->work_v);
  for (int i = 0; i < N_POINTS; ++i) {
    const double t = t0 + point[i] * (t1 - t0);
    yoke_integrator_interpolate(n->integrator, state, t, q, v);
    if (e->ops->normalise != NULL) e->ops->normalise(e->self, q);
    add_powers(n, scratch, u, t, weight[i] * (t1 - t0), q, v, sum);
  }
}

/* Numbers of a point of a micro step of length h: y0 [nv] at its begin, y1 [nv] at its end, for y of q, v, a. */
static void join(const hermite *c, int nv, double h, const double *restrict q0, const double *restrict q1,
                 const double *restrict v0, const double *restrict v1, const double *restrict a0,
                 const double *restrict a1, double *restrict q, double *restrict v) {
  const double hh = h * h, per_h = 1.0 / h;
  for (int i = 0; i < nv; ++i) {
    const double dq = q1[i] - q0[i];
    q[i] = q0[i] + c->q[0] * dq + h * (c->q[1] * v0[i] + c->q[2] * v1[i]) + hh * (c->q[3] * a0[i] + c->q[4] * a1[i]);
    v[i] = per_h * c->v[0] * dq + c->v[1] * v0[i] + c->v[2] * v1[i] + h * (c->v[3] * a0[i] + c->v[4] * a1[i]);
  }
}

/* Work over the micro step between what native_begin_work kept and the state's own. */
static void integrate_joined(const native *n, void *scratch, const yoke_integrator_state *head, const yoke_signal *u,
                             double sum[2]) {
  const int     nv = n->equations.nv, nq = n->equations.nq;
  const double *q0 = native_doubles(scratch, n->at->work_from);
  const double *q1 = yoke_integrator_q(n->integrator, head), *v1 = yoke_integrator_v(n->integrator, head),
               *a1 = yoke_integrator_a(n->integrator, head);
  double      *q = native_doubles(scratch, n->at->work_q), *v = native_doubles(scratch, n->at->work_v);
  const double h = head->t - head->t_prev;
  for (int i = nv; i < nq; ++i) q[i] = q1[i]; /* modes of jumps */
  for (int k = 0; k < N_POINTS; ++k) {
    join(&at_point[k], nv, h, q0, q1, q0 + nv, v1, q0 + 2 * (ptrdiff_t)nv, a1, q, v);
    add_powers(n, scratch, u, head->t_prev + point[k] * h, weight[k] * h, q, v, sum);
  }
}

void native_count_work(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u) {
  double *work = work_of(n, head), sum[2] = {0.0, 0.0};
  if (!(head->t > head->t_prev)) return;
  if (is_joined(n, head))
    integrate_joined(n, scratch, head, u, sum);
  else
    integrate(n, scratch, head, u, head->t_prev, head->t, sum);
  for (int k = 0; k < 2; ++k) work[k] += sum[k];
}

void native_bring_in(const native *n, void *state, double *q, double work) {
  const int external = yoke_multibody_external_at(n->mb);
  if (external >= 0)
    q[external] += work;
  else
    work_of(n, state)[1] += work;
}

void native_work_at(const native *n, void *scratch, const void *state, const yoke_signal *u, double t,
                    yoke_energy *out) {
  const yoke_integrator_state *head    = state;
  const double                *work    = work_of(n, state);
  double                       rest[2] = {0.0, 0.0};
  if (yoke_multibody_external_at(n->mb) >= 0) return; /* quadratures, which the energy has told */
  if (n->counts_work && t < head->t && yoke_integrator_has_inside(head))
    integrate(n, scratch, state, u, fmax(t, head->t_prev), head->t, rest);
  out->dissipated = work[0] - rest[0];
  out->external   = work[1] - rest[1];
}
