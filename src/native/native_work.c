/* Work of dampers and loads of a native subsystem.
 *
 * A part of a split counts it beside its solver, which knows nothing of it: the solver's equations, steps and bits are those of a run that
 * counts nothing. With P the powers lost and brought in [W]
 *   D += h sum w_i P_d(t_i),  X += h sum w_i P_x(t_i)     t_i the three points of Gauss of a micro step
 * Where q' = v, q is the quintic Hermite polynomial of (q, q', q'') at the ends of the micro step, and v its derivative. Its error e vanishes at
 * both ends, so that of the work of F(t) is  int F e' dt = -int F' e dt = O(h^7), as that of the points is: order 6. Elsewhere, and in steps of
 * radau5 and bdf, whose stiff modes may have accelerations at the ends that tell nothing of the inside, q and v are the dense output that costs
 * nothing, at least cubic, at two points: order 4. So they are where laws jump.
 * Equations whose powers depend on velocities alone tell the works of those points from both ends (equations.h, `work`), without poses.
 * Equations that tell the powers of dampers, which follow from v, with their rates (equations.h, `losses`: chains), have them in panels of some
 * micro steps: P and P' at the ends alone,
 *   D += h (P0 + P1)/2 + h^2 (P0' - P1')/12 + c      c: degree 5, through P and P' where the panel before began
 * of order 6 in the length h of a panel, which follows from c; no panel is much longer than two of the one before. Loads are looked at
 * in every micro step in which they change; steady ones, of forces F, work by the change of sum F x (count_loads).
 * Panels end where the state jumps (native_close_work); what looks at the work before a panel has ended evaluates the powers there and changes
 * nothing.
 * A model that runs as a whole integrates both along as quadratures of its equations (multibody.h), as accurate as its solver is; so does a part
 * with prescribed motions of joints, or with loads that read accelerations or forces of joints: their powers follow from multipliers. */
#include "native/native_internal.h"

#include "base/simd.h"
#include "model/ends.h"
#include <float.h>
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

/* q' = v, but for quadratures, on which no power depends. */
static bool has_rates(const yoke_equations *e) {
  return e->nq - e->n_quadratures == e->nv && e->n_norms == 0 && !e->drifts;
}

/* Is the last micro step one between two ends? Where laws jump on the way there is good dense output anyway, with the rates behind the jump. */
static bool is_joined(const native *n, const yoke_integrator_state *head) {
  if (!n->work_is_joined || !n->work_varies) return n->work_is_joined;
  return yoke_integrator_at_work(n->integrator, head)->ops->tangents != YOKE_TANGENTS_IMPLICIT;
}

void native_work_join(native *n) {
  const yoke_tangent_rule rule = n->integrator->ops->tangents;
  n->work_varies               = rule == YOKE_TANGENTS_AT_WORK;
  n->work_is_joined            = native_work_keeps(n) > 0 && !n->holds_jumps && rule != YOKE_TANGENTS_IMPLICIT;
  n->work_is_told              = n->counts_work && n->work_is_joined && n->equations.ops->work != NULL &&
                    n->equations.ops->work(n->equations.self, NULL, NULL);
}

int native_work_keeps(const native *n) {
  return has_rates(&n->equations) ? 3 * n->equations.nv : 0;
}

void native_work_plan(native *n) {
  const yoke_equations *e = &n->equations;
  n->work_has_panels      = false;
  if (!n->counts_work || !n->work_is_joined || e->ops->losses == NULL) return;
  n->work_loaded     = e->ops->loaded(e->self, &n->work_n_loaded);
  n->work_has_panels = true;
}

int native_work_size(const native *n) {
  const size_t size = n->work_has_panels ? sizeof(native_work) : sizeof((native_work){0}.sum);
  return n->tells_work ? (int)(size / sizeof(double)) : 0;
}

/* What is left out of a panel's work is about 2 x^(3/2) of it, with x the share of its higher part: as accurate as the solver is, or 3e-7. */
double native_work_share(double rtol) {
  return fmax(cbrt(0.25 * rtol * rtol), 3e-5);
}

/* Power lost at the state's own point, and its rate. */
static void find_losses(const native *n, const yoke_integrator_state *head, double *power, double *rate) {
  n->equations.ops->losses(n->equations.self, yoke_integrator_v(n->integrator, head),
                           yoke_integrator_a(n->integrator, head), power, rate);
}

/* From panel to panel: far behind one that is shorter by more c is noise. Of equal micro steps 2.5 times as many; rounding does not decide. */
static const double most_growth = 2.51;

/* A panel of w->length micro steps begins here. */
static void open_panel(const yoke_integrator_state *head, double power, double rate, native_work *w) {
  w->t       = head->t;
  w->power   = power;
  w->rate    = rate;
  w->reach   = w->h_before > 0.0 ? w->t + most_growth * w->h_before : (double)INFINITY;
  w->left    = w->length;
  w->method  = (int8_t)head->method;
  w->is_open = 1;
}

static YOKE_APART void open_first_panel(const native *n, const yoke_integrator_state *head, native_work *w) {
  double power, rate;
  find_losses(n, head, &power, &rate);
  w->length = 1;
  open_panel(head, power, rate, w);
}

/* q, v, a of the loaded freedoms where a micro step begins. */
static void keep_loaded(const native *n, const yoke_integrator_state *head, uint64_t which, double *from) {
  const double *q = yoke_integrator_q(n->integrator, head), *v = yoke_integrator_v(n->integrator, head),
               *a = yoke_integrator_a(n->integrator, head);
  for (int i = 0; i < n->work_n_loaded; ++i, from += 3) {
    const int m = n->work_loaded[i];
    if (!yoke_load_is_among(which, i)) continue;
    from[0] = q[m];
    from[1] = v[m];
    from[2] = a[m];
  }
}

/* ---- loads over time, of equations that tell the velocities which they work on ---- */

/* Sum of steady loads times positions, which changes by their work. */
static double load_potential(const native *n, void *scratch, double t, const double *q) {
  double *room = native_doubles(scratch, n->at->work_v), sum;
  for (int i = 0; i < n->work_n_loaded; ++i) room[i] = q[n->work_loaded[i]];
  n->equations.ops->load_powers(n->equations.self, YOKE_ALL_LOADS, 1, &t, room, &sum);
  return sum;
}

/* Done by steady loads since they became so, up to q. */
static double steady_work(const native *n, void *scratch, const native_work *w, const double *q) {
  if (!w->knows_loads || w->loading != YOKE_LOADS_STEADY) return 0.0;
  return load_potential(n, scratch, w->steady_t, q) - w->steady;
}

static void close_loads(const native *n, void *scratch, native_work *w, const double *q) {
  w->sum[1] += steady_work(n, scratch, w, q);
  w->knows_loads = 0;
  w->rest_until  = -(double)INFINITY;
}

static YOKE_APART void begin_loads(const native *n, void *scratch, const yoke_integrator_state *head, double t_end,
                                   native_work *w) {
  if (!w->knows_loads || head->t >= w->loads_until) {
    const double *q = yoke_integrator_q(n->integrator, head);
    close_loads(n, scratch, w, q);
    w->loading     = (int8_t)n->equations.ops->loading(n->equations.self, head->t, &w->loads_until, &w->looked_at);
    w->knows_loads = 1;
    w->rest_until  = w->loading == YOKE_LOADS_VARY ? -(double)INFINITY : w->loads_until;
    w->steady_t    = head->t;
    if (w->loading == YOKE_LOADS_STEADY) w->steady = load_potential(n, scratch, head->t, q);
  }
  if (t_end > w->loads_until) w->looked_at = YOKE_ALL_LOADS; /* the micro step may lead to others */
  if (w->loading == YOKE_LOADS_VARY || t_end > w->loads_until)
    keep_loaded(n, head, w->looked_at, native_doubles(scratch, n->at->work_loads));
}

/* q, v, a where a micro step begins. */
static void keep_point(const native *n, const yoke_integrator_state *head, double *restrict from) {
  const int     nv = n->equations.nv;
  const double *q = yoke_integrator_q(n->integrator, head), *v = yoke_integrator_v(n->integrator, head),
               *a = yoke_integrator_a(n->integrator, head);
  for (int i = 0; i < nv; ++i) { /* mostly few: three calls of memcpy take longer */
    from[i]                     = q[i];
    from[(ptrdiff_t)nv + i]     = v[i];
    from[2 * (ptrdiff_t)nv + i] = a[i];
  }
}

void native_begin_work(const native *n, void *scratch, yoke_integrator_state *head, double t_end) {
  if (!n->work_is_joined) return;
  if (n->work_has_panels) {
    native_work *w = native_work_of(n, head);
    if (w->is_open == 0 && is_joined(n, head)) open_first_panel(n, head, w);
    if (n->work_n_loaded > 0)
      begin_loads(n, scratch, head, t_end, w);
    else
      w->rest_until = (double)INFINITY;
    if (w->length > 0) return;
  }
  keep_point(n, head, native_doubles(scratch, n->at->work_from));
}

/* Points between both ends of a micro step (model/ends.h). */
enum { N_POINTS = YOKE_ENDS_POINTS };
static const double *const point = yoke_ends_point, *const weight = yoke_ends_weight;
static const yoke_hermite *const at_point = yoke_ends_hermite;

/* Powers at t, q, v over a time dt. Both ends of a micro step are where prescribed motions put them, and what is between is as near to that as it is to
 * the motion. */
static void add_powers(const native *n, void *scratch, const yoke_signal *u, double t, double dt, double *q, double *v,
                       double sum[2]) {
  const yoke_equations *e   = &n->equations;
  double               *now = native_doubles(scratch, n->at->work_u), dissipated, external;
  if (n->work_reads_inputs) yoke_signal_value(u, t, YOKE_SIDE_LEFT, 0, now);
  e->ops->powers(e->self, scratch, t, q, v, now, &dissipated, &external);
  sum[0] += dt * dissipated;
  sum[1] += dt * external;
}

/* The two points of Gauss, which are as good as dense output is. */
enum { N_DENSE = 2 };
static const double dense_point[N_DENSE] = {0.21132486540518713, 0.78867513459481287};

/* Work from t0 to t1 inside the last micro step, on the dense output. */
static YOKE_APART void integrate(const native *n, void *scratch, const void *state, const yoke_signal *u, double t0,
                                 double t1, double sum[2]) {
  const yoke_equations *e = &n->equations;
  double               *q = native_doubles(scratch, n->at->work_q), *v = native_doubles(scratch, n->at->work_v);
  for (int i = 0; i < N_DENSE; ++i) {
    const double t = t0 + dense_point[i] * (t1 - t0);
    yoke_integrator_interpolate(n->integrator, state, t, q, v);
    if (e->ops->normalise != NULL) e->ops->normalise(e->self, q);
    add_powers(n, scratch, u, t, (t1 - t0) / N_DENSE, q, v, sum);
  }
}

/* Numbers of a point of a micro step of length h: y0 [nv] at its begin, y1 [nv] at its end, for y of q, v, a. */
static void join(const yoke_hermite *c, int nv, double h, const double *restrict q0, const double *restrict q1,
                 const double *restrict v0, const double *restrict v1, const double *restrict a0,
                 const double *restrict a1, double *restrict q, double *restrict v) {
  const double per_h = 1.0 / h, hh = h * h;
  const double q_q = c->q[0], q_v0 = h * c->q[1], q_v1 = h * c->q[2], q_a0 = hh * c->q[3], q_a1 = hh * c->q[4];
  const double v_q = per_h * c->v[0], v_v0 = c->v[1], v_v1 = c->v[2], v_a0 = h * c->v[3], v_a1 = h * c->v[4];
  for (int i = 0; i < nv; ++i) {
    const double dq = q1[i] - q0[i];
    q[i]            = q0[i] + q_q * dq + (q_v0 * v0[i] + q_v1 * v1[i]) + (q_a0 * a0[i] + q_a1 * a1[i]);
    v[i]            = v_q * dq + v_v0 * v0[i] + v_v1 * v1[i] + (v_a0 * a0[i] + v_a1 * a1[i]);
  }
}

/* v at the three points, by what is even and odd about the middle. */
static void join_velocities(int n, double h, const double *restrict q0, const double *restrict q1,
                            const double *restrict v0, const double *restrict v1, const double *restrict a0,
                            const double *restrict a1, double *restrict first, double *restrict middle,
                            double *restrict last) {
  const double *p = at_point[0].v, *m = at_point[1].v;
  const double  even_q = p[0] / h, even_v = 0.5 * (p[1] + p[2]), odd_v = 0.5 * (p[1] - p[2]),
               even_a = 0.5 * h * (p[3] - p[4]), odd_a = 0.5 * h * (p[3] + p[4]);
  const double middle_q = m[0] / h, middle_v = m[1], middle_a = h * m[3];
  for (int i = 0; i < n; ++i) {
    const double dq = q1[i] - q0[i], v = v0[i] + v1[i], a = a0[i] - a1[i];
    const double even = even_q * dq + even_v * v + even_a * a;
    const double odd  = odd_v * (v0[i] - v1[i]) + odd_a * (a0[i] + a1[i]);
    first[i]          = even + odd;
    middle[i]         = middle_q * dq + middle_v * v + middle_a * a;
    last[i]           = even - odd;
  }
}

static double work_of_powers(double h, const double power[N_POINTS]) {
  return h * (weight[0] * (power[0] + power[2]) + weight[1] * power[1]);
}

/* Work of loads over a micro step, by the velocities v [N_POINTS, n_loaded] at its points. */
static double work_of_loads(const native *n, uint64_t which, double t, double h, const double *v) {
  const double times[N_POINTS] = {t + point[0] * h, t + point[1] * h, t + point[2] * h};
  double       power[N_POINTS];
  n->equations.ops->load_powers(n->equations.self, which, N_POINTS, times, v, power);
  return work_of_powers(h, power);
}

/* Loss over a micro step of equations that tell the powers of dampers by v alone: q is not asked for. */
static YOKE_APART double integrate_velocities(const native *n, void *scratch, const yoke_integrator_state *head) {
  const yoke_equations *e  = &n->equations;
  const ptrdiff_t       nv = e->nv;
  const double         *q0 = native_doubles(scratch, n->at->work_from), *v0 = q0 + nv, *a0 = v0 + nv;
  double               *v = native_doubles(scratch, n->at->work_v), lost[N_POINTS], rate;
  const double          h = head->t - head->t_prev;
  join_velocities(e->nv, h, q0, yoke_integrator_q(n->integrator, head), v0, yoke_integrator_v(n->integrator, head), a0,
                  yoke_integrator_a(n->integrator, head), v, v + nv, v + 2 * nv);
  for (int k = 0; k < N_POINTS; ++k) e->ops->losses(e->self, v + k * nv, NULL, &lost[k], &rate);
  return work_of_powers(h, lost);
}

/* Work over the micro step between what native_begin_work kept and the state's own. */
static YOKE_APART void integrate_joined(const native *n, void *scratch, const yoke_integrator_state *head,
                                        const yoke_signal *u, double sum[2]) {
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

/* Work of loads over the last micro step, whose other end native_begin_work kept. */
static double load_work(const native *n, void *scratch, const yoke_integrator_state *head, uint64_t which) {
  const int     count = n->work_n_loaded, *list = n->work_loaded;
  const double  h    = head->t - head->t_prev;
  const double *from = native_doubles(scratch, n->at->work_loads);
  double       *v    = native_doubles(scratch, n->at->work_v);
  const double *q1 = yoke_integrator_q(n->integrator, head), *v1 = yoke_integrator_v(n->integrator, head),
               *a1 = yoke_integrator_a(n->integrator, head);
  for (int i = 0; i < count; ++i, from += 3) {
    const int m = list[i];
    if (!yoke_load_is_among(which, i)) continue;
    join_velocities(1, h, from, q1 + m, from + 1, v1 + m, from + 2, a1 + m, v + i, v + count + i, v + 2 * count + i);
  }
  return work_of_loads(n, which, head->t_prev, h, v);
}

/* While no load changes nothing is to be done; a micro step on the way out of that is counted as one in which they do. */
static YOKE_APART void count_loads(const native *n, void *scratch, const yoke_integrator_state *head, native_work *w) {
  const int loading = w->loading;
  if (loading != YOKE_LOADS_VARY && head->t <= w->loads_until) return;
  if (loading == YOKE_LOADS_STEADY) {
    const double *from = native_doubles(scratch, n->at->work_loads);
    double       *q    = native_doubles(scratch, n->at->work_q);
    for (int i = 0; i < n->work_n_loaded; ++i) q[n->work_loaded[i]] = from[3 * (ptrdiff_t)i];
    close_loads(n, scratch, w, q);
  }
  w->sum[1] += load_work(n, scratch, head, w->looked_at);
  if (loading != YOKE_LOADS_VARY) w->knows_loads = 0;
}

/* Work from w->t on over a panel of length h: that of the cubic Hermite polynomial p3 of P and P' at its ends, and *higher, what the values at
 * the begin of the panel before, s = -r in units of h, add to it: with w = s^2 (s - 1)^2
 *   p5 = p3 + w (A + B s),  int_0^1 w = 1/30,  int_0^1 w s = 1/60 */
static inline double panel_work(const native_work *w, double h, double power, double rate, double *higher) {
  const double dP = power - w->power, from = h * w->rate, to = h * rate;
  *higher = 0.0;
  if (w->h_before > 0.0) {
    const double r = w->h_before / h, c2 = 3.0 * dP - 2.0 * from - to,
                 c3    = from + to - 2.0 * dP; /* p3 in powers of s */
    const double value = w->power_before - (w->power - r * (from - r * (c2 - r * c3)));
    const double slope = h * w->rate_before - (from - r * (2.0 * c2 - 3.0 * r * c3));
    const double x = r * (1.0 + r), per_w = 1.0 / (x * x); /* w = x^2, w' = -2 x (1 + 2 r) at s = -r */
    const double q = value * per_w, B = (slope + 2.0 * x * (1.0 + 2.0 * r) * q) * per_w, A = q + r * B;
    *higher = h * (2.0 * A + B) * (1.0 / 60.0);
  }
  return h * (0.5 * (w->power + power) + (from - to) * (1.0 / 12.0));
}

/* Share of the higher part that single micro steps bear before their inside is looked at. */
static const double most_of_one = 1e-3;
enum { LONGEST = 8 /* micro steps */ };
/* Micro steps before panels are tried again where they did not pay. */
enum { FIRST_PATIENCE = 2, LONGEST_PATIENCE = 32 };

static inline double larger(double a, double b) {
  return a > b ? a : b;
}

/* Behind a panel of length h with the work `size` and its higher part: c. Small works need not be known better than what is usually done in such a
 * time, as far as single micro steps go. No branch waits for c, which comes late and decides now this way and now that. */
static int next_length(const native *n, const native_work *w, double t, double h, double size, double c) {
  const double most  = n->work_share * size;
  const int is_small = c<0.25 * most, is_large = c> most, knows = w->h_before > 0.0, length = w->length;
  if (length > 1) return length + (is_small & (length < LONGEST)) - is_large * ((length + 1) / 2);
  const double past = t - n->model->t_start, of_one = most_of_one * larger(size * past, fabs(w->sum[0]) * h);
  return length == 1 ? (c * past <= of_one) * (1 + (knows & is_small)) : knows & (c * past < 0.5 * of_one);
}

static void forget_panels(native_work *w, int wait) {
  w->left = w->length = w->is_open = 0;
  w->h_before                      = 0.0;
  w->wait                          = (int8_t)wait;
}

/* Powers at both kinds of points cost more than they save. Where panels have been of no use since the last time, the next trial is twice as far. */
static void give_up_panels(native_work *w) {
  const int twice = 2 * w->patience;
  w->patience     = (int8_t)(w->patience > 0 ? (twice < LONGEST_PATIENCE ? twice : LONGEST_PATIENCE) : FIRST_PATIENCE);
  forget_panels(w, w->patience);
  w->is_open = -1;
}

/* A point of the panels: the one that ends here is counted, unless its micro step was, and the next begins. */
static YOKE_APART void end_panel(const native *n, const yoke_integrator_state *head, native_work *w) {
  double power, rate;
  find_losses(n, head, &power, &rate);
  if (w->is_open > 0) {
    const bool   knows = w->h_before > 0.0;
    const double h     = head->t - w->t;
    double       higher;
    const double work = panel_work(w, h, power, rate, &higher);
    if (w->length > 0) w->sum[0] += work + higher;
    w->length = (int8_t)next_length(n, w, head->t, h, larger(fabs(work), DBL_MIN), fabs(higher));
    if (knows && w->length == 0) {
      give_up_panels(w);
      return;
    }
    if (knows) w->patience = 0;
    w->h_before     = h;
    w->power_before = w->power;
    w->rate_before  = w->rate;
  }
  open_panel(head, power, rate, w);
}

static void count_panels(const native *n, void *scratch, const yoke_integrator_state *head, native_work *w) {
  if (n->work_n_loaded > 0) count_loads(n, scratch, head, w);
  if (w->length == 0) {
    w->sum[0] += integrate_velocities(n, scratch, head);
    if (w->wait > 0) {
      --w->wait;
      return;
    }
  } else if (native_work_goes_on(n, head)) {
    return;
  }
  end_panel(n, head, w);
}

/* `auto` has changed its method: the last panel is left as it began, and loads where the micro step did. */
static YOKE_APART void leave_panels(const native *n, void *scratch, const yoke_integrator_state *head, native_work *w) {
  double *q = native_doubles(scratch, n->at->work_q), *v = native_doubles(scratch, n->at->work_v);
  if (w->left > 0) w->sum[0] += (head->t_prev - w->t) * (w->power + 0.5 * (head->t_prev - w->t) * w->rate);
  forget_panels(w, 0);
  if (!w->knows_loads) return;
  yoke_integrator_interpolate(n->integrator, head, head->t_prev, q, v);
  close_loads(n, scratch, w, q);
}

/* Apart from all else, which takes more room. */
void native_count_told_work(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u) {
  if (n->work_varies && !is_joined(n, head)) {
    native_count_work(n, scratch, head, u);
    return;
  }
  const ptrdiff_t nv   = n->equations.nv;
  const double   *q0   = native_doubles(scratch, n->at->work_from);
  const yoke_ends ends = {head->t_prev,
                          head->t - head->t_prev,
                          q0,
                          q0 + nv,
                          q0 + 2 * nv,
                          yoke_integrator_q(n->integrator, head),
                          yoke_integrator_v(n->integrator, head),
                          yoke_integrator_a(n->integrator, head)};
  if (ends.h > 0.0) (void)n->equations.ops->work(n->equations.self, &ends, native_work_of(n, head)->sum);
}

/* Without panels, or where the method has changed. */
static YOKE_APART void count_otherwise(const native *n, void *scratch, const yoke_integrator_state *head,
                                       const yoke_signal *u, native_work *w) {
  const bool joined = is_joined(n, head);
  if (n->work_has_panels && joined) {
    count_panels(n, scratch, head, w);
    return;
  }
  if (n->work_has_panels) leave_panels(n, scratch, head, w);
  if (joined)
    integrate_joined(n, scratch, head, u, w->sum);
  else
    integrate(n, scratch, head, u, head->t_prev, head->t, w->sum);
}

void native_count_work(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u) {
  native_work *w = native_work_of(n, head);
  if (!(head->t > head->t_prev)) return;
  if (n->work_has_panels && w->is_open != 0 && w->method == head->method)
    count_panels(n, scratch, head, w);
  else
    count_otherwise(n, scratch, head, u, w);
}

/* Power lost at the state's own point, and its rate, where a panel is open. */
typedef struct losses_now {
  double power, rate;
} losses_now;

static losses_now losses_of(const native *n, const yoke_integrator_state *head, const native_work *w) {
  losses_now now = {w->power, w->rate};
  if (w->is_open > 0 && w->t != head->t) find_losses(n, head, &now.power, &now.rate); /* else a panel has ended here */
  return now;
}

/* Lost in a panel that has not ended, up to there. */
static double open_loss(const native_work *w, const yoke_integrator_state *head, losses_now now) {
  double higher;
  if (w->left == 0 || w->t == head->t) return 0.0;
  const double lost = panel_work(w, head->t - w->t, now.power, now.rate, &higher);
  return lost + higher;
}

void native_close_work(const native *n, void *scratch, void *state) {
  native_work *w = native_work_of(n, state);
  if (!n->work_has_panels) return;
  close_loads(n, scratch, w, yoke_integrator_q(n->integrator, state));
  w->sum[0] += open_loss(w, state, losses_of(n, state, w));
  forget_panels(w, 0);
}

void native_bring_in(const native *n, void *state, double *q, double work) {
  const int external = yoke_multibody_external_at(n->mb);
  if (external >= 0)
    q[external] += work;
  else
    native_work_of(n, state)->sum[1] += work;
}

/* Work of panels from t to the state's own point, inside of the last micro step: by the values at both ends and the rates at the last one, v at t. */
static void rest_of_panels(const native *n, void *scratch, const yoke_integrator_state *head, losses_now now, double t,
                           const double *v, double rest[2]) {
  const yoke_equations *e  = &n->equations;
  const native_work    *w  = native_work_of(n, head);
  const double          h  = head->t - t;
  const double         *v1 = yoke_integrator_v(n->integrator, head), *a1 = yoke_integrator_a(n->integrator, head);
  double               *v_at  = native_doubles(scratch, n->at->work_v), power, rate;
  const int             count = n->work_n_loaded, *list = n->work_loaded;
  e->ops->losses(e->self, v, NULL, &power, &rate);
  rest[0] += h * (power + 2.0 * now.power - 0.5 * h * now.rate) / 3.0;
  if (w->knows_loads && w->loading != YOKE_LOADS_VARY) return; /* steady ones work by their positions */
  for (int k = 0; k < N_POINTS; ++k) {
    const double s = 1.0 - point[k]; /* back from the end */
    for (int i = 0; i < count; ++i) {
      const int    m      = list[i];
      const double bend   = v[m] - v1[m] + h * a1[m];
      v_at[k * count + i] = v1[m] - s * h * a1[m] + s * s * bend;
    }
  }
  if (count > 0) rest[1] += work_of_loads(n, YOKE_ALL_LOADS, t, h, v_at);
}

void native_work_at(const native *n, void *scratch, const void *state, const yoke_signal *u, const native_point *at,
                    yoke_energy *out) {
  const yoke_integrator_state *head    = state;
  const native_work           *work    = native_work_of(n, state);
  const bool                   is_past = n->counts_work && at->t < head->t && yoke_integrator_has_inside(head);
  double                       rest[2] = {0.0, 0.0};
  if (yoke_multibody_external_at(n->mb) >= 0) return; /* quadratures, which the energy has told */
  if (!n->work_has_panels) {
    if (is_past) integrate(n, scratch, state, u, fmax(at->t, head->t_prev), head->t, rest);
    out->dissipated = work->sum[0] - rest[0];
    out->external   = work->sum[1] - rest[1];
    return;
  }
  const losses_now now     = losses_of(n, head, work);
  const bool       is_open = is_past && work->is_open > 0;
  if (is_open)
    rest_of_panels(n, scratch, head, now, fmax(at->t, head->t_prev), at->v, rest);
  else if (is_past)
    integrate(n, scratch, state, u, fmax(at->t, head->t_prev), head->t, rest);
  out->dissipated = work->sum[0] + open_loss(work, head, now) - rest[0];
  out->external   = work->sum[1] - rest[1];
  out->external += steady_work(n, scratch, work, is_open ? at->q : yoke_integrator_q(n->integrator, head));
}

/* Apart from what looks into micro steps. */
void native_work_reached(const native *n, void *scratch, const void *state, yoke_energy *out) {
  if (n->work_has_panels) {
    const native_point at = native_own_point(n, state);
    native_work_at(n, scratch, state, NULL, &at, out);
  } else if (yoke_multibody_external_at(n->mb) < 0) {
    const native_work *work = native_work_of(n, state);
    out->dissipated         = work->sum[0];
    out->external           = work->sum[1];
  }
}
