#include "analysis/convergence.h"
#include "analysis/gather.h"
#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double resting = 1e-6; /* share of the largest deviation that counts as rest */

const char *yoke_deviation_name(int kind) {
  static const char *const names[YOKE_N_DEVIATIONS] = {"global position", "global velocity", "local position",
                                                       "local velocity"};
  return kind >= 0 && kind < YOKE_N_DEVIATIONS ? names[kind] : "";
}

/* Sums of one error over the macro points, by component. The reference is shifted by its first value: a component far from 0
 * loses no digits. */
typedef struct sums {
  int     n;
  double *defect, *shift, *sum, *squares; /* [n] */
} sums;

typedef struct measurement {
  yoke_arena                arena;
  yoke_context             *ctx;
  const yoke_error_request *request;
  yoke_system              *system;
  yoke_gather              *gather;
  double                    t; /* of the last macro point */
  double                   *q, *v, *q_last, *v_last, *q_ref, *v_ref;
  sums                      sums[YOKE_N_DEVIATIONS];
  int64_t                   n_steps;
  yoke_status               status; /* of the reference */
} measurement;

static void sums_create(yoke_arena *arena, sums *s, int n) {
  s->n       = n;
  s->defect  = yoke_arena_take(arena, (size_t)n, sizeof *s->defect);
  s->shift   = yoke_arena_take(arena, (size_t)n, sizeof *s->shift);
  s->sum     = yoke_arena_take(arena, (size_t)n, sizeof *s->sum);
  s->squares = yoke_arena_take(arena, (size_t)n, sizeof *s->squares);
}

static void sums_add(sums *s, bool is_first, const double *x, const double *reference) {
  if (is_first) memcpy(s->shift, reference, (size_t)s->n * sizeof *s->shift);
  for (int i = 0; i < s->n; ++i) {
    const double e = x[i] - reference[i], r = reference[i] - s->shift[i];
    s->defect[i] += e * e;
    s->sum[i] += r;
    s->squares[i] += r * r;
  }
}

static double sums_error(const sums *s, int64_t n_steps) {
  double largest = 0.0, total = 0.0;
  for (int i = 0; i < s->n; ++i) { /* sum becomes the squared deviation */
    s->sum[i] = fmax(0.0, s->squares[i] - s->sum[i] * s->sum[i] / (double)n_steps);
    largest   = fmax(largest, s->sum[i]);
  }
  const double least = largest > 0.0 ? resting * resting * largest : (double)n_steps;
  for (int i = 0; i < s->n; ++i) total += s->defect[i] / fmax(s->sum[i], least);
  return sqrt(total);
}

static yoke_status compare_at(measurement *m, double t) {
  const yoke_error_request *r        = m->request;
  const bool                is_first = m->n_steps == 0;
  YOKE_TRY(yoke_gather_take(m->gather, m->system, m->q, m->v));
  YOKE_TRY(yoke_reference_advance(r->global, t, m->q_ref, m->v_ref, m->ctx));
  sums_add(&m->sums[YOKE_DEVIATION_GLOBAL_POSITION], is_first, m->q, m->q_ref);
  sums_add(&m->sums[YOKE_DEVIATION_GLOBAL_VELOCITY], is_first, m->v, m->v_ref);
  if (r->local != NULL) {
    YOKE_TRY(yoke_reference_start(r->local, m->t, m->q_last, m->v_last, m->ctx));
    YOKE_TRY(yoke_reference_advance(r->local, t, m->q_ref, m->v_ref, m->ctx));
    sums_add(&m->sums[YOKE_DEVIATION_LOCAL_POSITION], is_first, m->q, m->q_ref);
    sums_add(&m->sums[YOKE_DEVIATION_LOCAL_VELOCITY], is_first, m->v, m->v_ref);
    memcpy(m->q_last, m->q, (size_t)yoke_reference_nq(r->global) * sizeof(double));
    memcpy(m->v_last, m->v, (size_t)yoke_reference_nv(r->global) * sizeof(double));
  }
  m->t = t;
  ++m->n_steps;
  return YOKE_OK;
}

static yoke_status at_macro_point(void *user, double t, double H, int order, const yoke_step_statistics *statistics) {
  (void)H, (void)order, (void)statistics;
  measurement *m = user;
  m->status      = compare_at(m, t);
  return m->status;
}

static bool report(void *user, double t) {
  const measurement *m = user;
  return m->request->progress == NULL || m->request->progress(m->request->user, t);
}

static yoke_status prepare(measurement *m) {
  YOKE_TRY(yoke_gather_create(m->ctx, m->request->model, yoke_system_plan(m->system), &m->gather));
  const int nq = yoke_reference_nq(m->request->global), nv = yoke_reference_nv(m->request->global);
  m->q      = yoke_arena_take(&m->arena, (size_t)nq, sizeof *m->q);
  m->q_last = yoke_arena_take(&m->arena, (size_t)nq, sizeof *m->q);
  m->q_ref  = yoke_arena_take(&m->arena, (size_t)nq, sizeof *m->q);
  m->v      = yoke_arena_take(&m->arena, (size_t)nv, sizeof *m->v);
  m->v_last = yoke_arena_take(&m->arena, (size_t)nv, sizeof *m->v);
  m->v_ref  = yoke_arena_take(&m->arena, (size_t)nv, sizeof *m->v);
  for (int e = 0; e < YOKE_N_DEVIATIONS; ++e) sums_create(&m->arena, &m->sums[e], e % 2 == 0 ? nq : nv);
  YOKE_TRY(yoke_arena_check(&m->arena, m->ctx, "the measurement of errors"));
  YOKE_TRY(yoke_gather_take(m->gather, m->system, m->q_last, m->v_last));
  m->t = yoke_system_t(m->system);
  return yoke_reference_start(m->request->global, m->t, m->q_last, m->v_last, m->ctx);
}

yoke_status yoke_convergence_measure(yoke_context *ctx, yoke_system *system, const yoke_error_request *request,
                                     double *error, int64_t *n_steps) {
  measurement     m      = {.ctx = ctx, .request = request, .system = system};
  const yoke_sink sink   = {.user = &m, .macro = at_macro_point, .progress = report};
  yoke_status     status = prepare(&m);
  if (status == YOKE_OK) status = yoke_system_run(system, request->model->t_end, &sink, NULL, ctx);
  for (int e = 0; e < YOKE_N_DEVIATIONS; ++e) {
    const bool is_known = status == YOKE_OK && m.n_steps > 0 && (e < 2 || request->local != NULL);
    error[e]            = is_known ? sums_error(&m.sums[e], m.n_steps) : (double)NAN;
    if (is_known && !isfinite(error[e]))
      status = yoke_fail(ctx, YOKE_E_UNSTABLE, "the %s error is not finite", yoke_deviation_name(e));
  }
  *n_steps = m.n_steps;
  yoke_gather_destroy(&m.gather);
  yoke_arena_free(&m.arena);
  return status;
}
