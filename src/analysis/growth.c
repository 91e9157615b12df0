#include "analysis/growth.h"

#include "analysis/whole_model.h"
#include "base/cancel.h"
#include "integrate/integrator.h"
#include "model/model_length.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_STATES = 200, MAX_EVALUATIONS = 20000, N_TIMES = 1000 };

static const double delta  = 1e-5; /* of the spread: far above what the solver leaves, far below what it becomes */
static const double rtol   = 1e-6;
static const double moving = 1e-6; /* of the largest spread of its kind: what moves less stands still */

bool yoke_growth_is_likely(const yoke_model *model) {
  for (int i = 0; i < model->n_loads; ++i) {
    if (model->loads[i].kind == YOKE_LOAD_CONTACT) return true;
  }
  for (int b = 0; b < model->n_bodies; ++b) {
    const yoke_chain *chain = model->bodies[b].chain;
    for (int i = 0; chain != NULL && i < chain->n_loads; ++i) {
      if (chain->loads[i].kind == YOKE_CHAIN_CONTACT) return true;
    }
  }
  return false;
}

static bool is_small(const yoke_model *model) {
  int n = 0;
  for (int b = 0; b < model->n_bodies && n <= MAX_STATES; ++b) n += 2 * yoke_body_nv(&model->bodies[b]);
  for (int i = 0; i < model->n_events; ++i) {
    if (model->events[i].action != YOKE_EVENT_RECORD) return false;
  }
  return n <= MAX_STATES && model->n_foreigns == 0 && model->n_inputs == 0 && model->t_end > model->t_start;
}

/* A whole model on its way. */
typedef struct pilot {
  yoke_whole_model       whole;
  yoke_arena             arena;
  yoke_integrator       *integrator;
  yoke_integrator_state *state;
  void                  *scratch;
  int                    n;              /* nq + nv */
  double                *first, *second; /* [N_TIMES, n] q and v of the two runs */
  double                *start, *spread; /* [n] */
} pilot;

static void clear(pilot *p) {
  yoke_integrator_state_destroy(&p->state);
  yoke_integrator_scratch_destroy(&p->scratch);
  yoke_integrator_destroy(&p->integrator);
  yoke_arena_free(&p->arena);
  yoke_whole_model_clear(&p->whole);
}

static yoke_status prepare(pilot *p, const yoke_model *model, yoke_context *quiet) {
  yoke_integrator_options options = yoke_integrator_options_default();
  YOKE_TRY(yoke_whole_model_create(quiet, model, 0, NULL, &p->whole));
  const yoke_equations *e = &p->whole.equations;
  options.rtol            = rtol;
  options.atol            = 1e-2 * rtol * yoke_model_length(model);
  YOKE_TRY(yoke_integrator_create(quiet, "auto", e, &options, &p->integrator));
  YOKE_TRY(yoke_integrator_state_create(p->integrator, &p->state));
  YOKE_TRY(yoke_integrator_scratch_create(p->integrator, &p->scratch));
  p->n      = e->nq + e->nv;
  p->first  = yoke_arena_take(&p->arena, (size_t)p->n * N_TIMES, sizeof *p->first);
  p->second = yoke_arena_take(&p->arena, (size_t)p->n * N_TIMES, sizeof *p->second);
  p->start  = yoke_arena_take(&p->arena, (size_t)p->n, sizeof *p->start);
  p->spread = yoke_arena_take(&p->arena, (size_t)p->n, sizeof *p->spread);
  if (p->arena.has_failed) return YOKE_E_MEMORY;
  memcpy(p->start, p->whole.q, (size_t)e->nq * sizeof *p->start);
  memcpy(p->start + e->nq, p->whole.v, (size_t)e->nv * sizeof *p->start);
  return YOKE_OK;
}

/* YOKE_NOT_CONVERGED: too long a way. */
static yoke_status fly(pilot *p, double *rows, int64_t *evaluations, yoke_context *quiet) {
  const yoke_equations *e  = &p->whole.equations;
  const double          t0 = p->whole.model->t_start, t1 = p->whole.model->t_end;
  YOKE_TRY(yoke_integrator_start(p->integrator, p->scratch, p->state, t0, p->start, p->start + e->nq, NULL, quiet));
  const int64_t before = *evaluations;
  for (int k = 1; k <= N_TIMES;) {
    YOKE_TRY(yoke_integrator_step(p->integrator, p->scratch, p->state, NULL, t1, quiet));
    *evaluations = before + p->state->counters.evaluations;
    if (p->state->counters.evaluations > MAX_EVALUATIONS) return YOKE_NOT_CONVERGED;
    for (; k <= N_TIMES; ++k) {
      const double t   = k < N_TIMES ? t0 + (t1 - t0) * k / N_TIMES : t1;
      double      *row = &rows[(size_t)(k - 1) * (size_t)p->n];
      if (t > p->state->t) break;
      yoke_integrator_interpolate(p->integrator, p->state, t, row, row + e->nq);
    }
  }
  return YOKE_OK;
}

static void measure_spreads(pilot *p) {
  for (int i = 0; i < p->n; ++i) {
    double low = p->start[i], high = p->start[i];
    for (int k = 0; k < N_TIMES; ++k) {
      low  = fmin(low, p->first[(size_t)k * (size_t)p->n + (size_t)i]);
      high = fmax(high, p->first[(size_t)k * (size_t)p->n + (size_t)i]);
    }
    p->spread[i] = high - low;
  }
}

static double largest_spread(const pilot *p, int from, int to) {
  double largest = 0.0;
  for (int i = from; i < to; ++i) largest = fmax(largest, p->spread[i]);
  return largest;
}

/* What stands still has no spread from here on. Neighbours move to different sides: nothing is merely moved as a whole. */
static void disturb(pilot *p) {
  const int    nq     = p->whole.equations.nq;
  const double q_most = largest_spread(p, 0, nq), v_most = largest_spread(p, nq, p->n);
  for (int i = 0; i < p->n; ++i) {
    const int own = i < nq ? i : i - nq;
    if (p->spread[i] <= moving * (i < nq ? q_most : v_most)) p->spread[i] = 0.0;
    p->start[i] += (own % 2 == 0 ? delta : -delta) * p->spread[i];
  }
}

/* NRMSE of coordinate i. */
static double difference(const pilot *p, int i) {
  double sum = 0.0, mean = 0.0, motion = 0.0;
  for (int k = 0; k < N_TIMES; ++k) mean += p->first[(size_t)k * (size_t)p->n + (size_t)i] / N_TIMES;
  for (int k = 0; k < N_TIMES; ++k) {
    const size_t at = (size_t)k * (size_t)p->n + (size_t)i;
    const double x = p->first[at] - mean, d = p->second[at] - p->first[at];
    sum += d * d;
    motion += x * x;
  }
  return sqrt(sum / motion);
}

static double compare(const pilot *p) {
  double growth = 1.0;
  for (int i = 0; i < p->n; ++i) {
    if (p->spread[i] > 0.0) growth = fmax(growth, difference(p, i) / delta);
  }
  return growth;
}

static yoke_status measure(pilot *p, const yoke_model *model, yoke_context *quiet, yoke_growth *growth) {
  YOKE_TRY(prepare(p, model, quiet));
  YOKE_TRY(fly(p, p->first, &growth->evaluations, quiet));
  measure_spreads(p);
  disturb(p);
  YOKE_TRY(fly(p, p->second, &growth->evaluations, quiet));
  growth->factor = compare(p);
  return YOKE_OK;
}

yoke_status yoke_growth_measure(yoke_context *ctx, const yoke_model *model, yoke_growth *growth) {
  yoke_context *quiet = NULL;
  pilot         p     = {0};
  *growth             = (yoke_growth){.factor = (double)NAN};
  if (!is_small(model)) return YOKE_OK;
  yoke_status status = yoke_context_create(&quiet);
  if (status == YOKE_OK) yoke_context_watch_with(quiet, ctx, true);
  if (status == YOKE_OK) status = measure(&p, model, quiet, growth);
  clear(&p);
  yoke_context_destroy(&quiet);
  if (status == YOKE_E_MEMORY)
    return yoke_out_of_memory(ctx, "the growth of errors; cosimulation.step.growth 1 skips it");
  return status == YOKE_E_INTERRUPTED ? status : YOKE_OK;
}
