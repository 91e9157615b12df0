/* auto: explicit while nothing is stiff, implicit where it pays.
 *
 * Holds an explicit and an implicit integrator that work in turn on the same state block (of the larger size);
 * state->method says which one is at work, so that the choice is saved and restored with the state. It depends on
 * evaluations, steps and rates of the motion only, never on the clock. Costs are measured, in evaluations of f with fixed
 * prices of solving and factoring, per simulated second:
 *   explicit -> implicit  stability may have limited as many steps as cost what a trial of the implicit method costs, so that
 *                         a wrong guess at most doubles the work; or the explicit method cannot go on;
 *   implicit -> explicit  in sum it costs more than the explicit method would: what that had cost before, in proportion to the
 *                         spectral radius rho now and then, and (but for rods and cables) not less than what steps of the
 *                         length of the implicit ones would cost. Behind a short trial the next one takes four times as long to come. Checked every ten
 *                         steps; rho from a power iteration with differences of f.
 * With constraints and at tight tolerances the explicit method is one of high order; where stops are nearer than its steps one of
 * low order takes its place, until it needs more than two steps from stop to stop. Without constraints, where the low order loses
 * little, that one begins.
 * A switch is decided at an accepted point and made at the beginning of the next step: dense output stays with the
 * method that made the step. The implicit method is made when it is first turned to where the equations tell the size of its view before
 * (dae_size): for most large models it never is, and its room in the states is never touched. Models without an implicit view, and those too
 * large to factor within reason, stay explicit. With fixed steps the cost plays no part: the implicit method stays once the explicit one is unstable. */
#include "base/memory.h"
#include "integrate/explicit.h"
#include "integrate/explicit_rk.h"
#include "integrate/implicit.h"
#include "integrate/methods.h"
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
  EXPLICIT       = 0, /* values of state->method */
  IMPLICIT       = 1,
  SHORT          = 2,    /* explicit too, where stops are so near that a low order does */
  RADAU_SYSTEM   = 1000, /* unknowns up to which radau5 is used instead of bdf, which is poor on the imaginary axis */
  LARGEST_SYSTEM = 1000000, /* unknowns up to which an implicit method is prepared */
  MOST_BANDED    = 200,     /* unknowns in bands: a factorisation costs as many evaluations for more of them */
  CHECK_EVERY    = 10,      /* implicit steps between two checks */
  FIRST_ROUNDS   = 4,       /* of the power iteration, with a vector that knows nothing */
  TRIAL_CHECKS   = 10,      /* an implicit phase that ends before was a trial */
  FEWEST_STIFF   = 15,      /* steps that stability must have limited */
  MOST_STIFF     = 1000000,
  LIMITED_STEPS  = 10, /* in a row end at stops */
  MOST_SHORT     = 2   /* times that the method of low order is taken back, then it does not come again */
};

static const double LIMITED = 3; /* stops are near: the step could be so much longer */

static const double HYSTERESIS    = 1.2; /* the implicit method is dear when it costs so much more */
static const double WORST_LOSS    = 0.5; /* of the cost of a trial, ends the implicit phase */
static const double MOST_SAVED    = 2;   /* of the cost of a trial, may be lost again before */
static const double ACCURATE_COST = 4; /* evaluations of explicit methods for a step of the length of an implicit one */

typedef struct auto_self {
  size_t                     tail; /* offset of auto_own in the state */
  bool                       has_implicit, has_short, begins_short;
  int                        patience; /* stiff checks before the first change to the implicit method */
  yoke_integrator            explicit_method, short_method;
  yoke_integrator            implicit_plan;   /* the implicit method but for its self: sizes of states and scratch */
  _Atomic(yoke_integrator *) implicit_method; /* NULL: not made yet */
  double                     iteration_cost, factor_cost; /* in evaluations of f */
  double                     trial_cost;                  /* of a trial of the implicit method, guessed */
  size_t work, u, q, v, fq, fv, gq, gv; /* scratch of the power iteration, behind that of the methods */
  size_t zq, zv;                        /* offsets of the power vector in the state */
} auto_self;
_Static_assert(offsetof(auto_self, explicit_method.scratch_size) <= 64, "an explicit step reads one cache line");

/* One cache line: every copy of a state takes it along. */
typedef struct auto_own {
  double rho; /* spectral radius, last estimate [1/s] */
  /* Where the last check was, or (explicit) where stability began to be the limit: time and cost so far. */
  double t_check, cost_check;
  double rho_first; /* at the first check of an implicit phase */
  double loss;      /* cost of the implicit phase beyond that of explicit steps */
  double
          explicit_cost; /* of the last explicit phase, where stability was the limit [evaluations per second]; it, patience_factor,
                          * is_forced and n_short outlive a change of method */
  int32_t n_checks;
  int32_t patience_factor; /* 0 means 1; grows when the implicit method did not pay */
  int8_t  wants_switch;    /* 1 + the method that it wants; 0: none */
  int8_t  steps_since_check;
  int8_t  limited; /* steps of late that ended at a stop (SHORT: less those that did not) */
  int8_t  n_short; /* times that the method of low order was too slow */
  int8_t  has_vector;
  int8_t  is_forced; /* the explicit method could not go on: what it had cost plays no part */
} auto_own;
_Static_assert(sizeof(auto_own) <= 64, "one cache line");

static auto_own *own_of(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  const auto_self *self = integrator->self;
  return (auto_own *)(void *)explicit_at(state, self->tail);
}

static const yoke_integrator *at_work(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  const auto_self *self = integrator->self;
  if (state->method == IMPLICIT) return atomic_load_explicit(&self->implicit_method, memory_order_acquire);
  return state->method == SHORT ? &self->short_method : &self->explicit_method;
}

/* ---- creation ---- */

static yoke_integrator plan_method(const yoke_integrator *integrator, const yoke_integrator_ops *ops) {
  yoke_integrator method = {.ops          = ops,
                            .equations    = integrator->equations,
                            .at           = integrator->at,
                            .options      = integrator->options,
                            .arena        = integrator->arena,
                            .state_size   = integrator->at->own,
                            .scratch_size = integrator->equations->work_size};
  if (ops != &dopri5_ops && ops != &dop853_ops) method.options.first_step = 0;
  return method;
}

static yoke_status create_method(yoke_context *ctx, const yoke_integrator *integrator, const yoke_integrator_ops *ops,
                                 yoke_integrator *method) {
  *method = plan_method(integrator, ops);
  return ops->create(ctx, method);
}

static void destroy_implicit(yoke_integrator *method) {
  if (method == NULL) return;
  method->ops->destroy(method);
  free(method);
}

/* Is all as large as it was thought to be? While it is planned there is no room yet. */
static bool has_room(const auto_self *self, const yoke_integrator *made) {
  const yoke_integrator *plan = &self->implicit_plan;
  return self->tail == 0 || (made->state_size <= plan->state_size && made->scratch_size <= plan->scratch_size);
}

/* Steps from several states of one subsystem may turn at the same time: each makes the method, and the first one is kept. They are equal to
 * the bit. `ctx` may be NULL. */
static yoke_status need_implicit(const yoke_integrator *integrator, yoke_context *ctx) {
  auto_self *self = integrator->self;
  if (atomic_load_explicit(&self->implicit_method, memory_order_acquire) != NULL) return YOKE_OK;
  yoke_integrator *made = yoke_allocate(1, sizeof *made), *first = NULL;
  if (made == NULL) return yoke_out_of_memory(ctx, "solver '%s'", self->implicit_plan.ops->name);
  *made              = self->implicit_plan;
  yoke_status status = made->ops->create(ctx, made);
  if (status == YOKE_OK && !has_room(self, made)) {
    status = yoke_fail(ctx, YOKE_E_INTERNAL, "solver '%s' is larger than its equations told", made->ops->name);
  }
  if (status == YOKE_OK && atomic_compare_exchange_strong(&self->implicit_method, &first, made)) return YOKE_OK;
  destroy_implicit(made);
  return status;
}

/* Sizes of the implicit method; it is made at once where only that tells them. */
static yoke_status plan_implicit(yoke_context *ctx, const yoke_integrator *integrator, bool use_radau) {
  auto_self    *self = integrator->self;
  yoke_implicit outline;
  self->implicit_plan = plan_method(integrator, use_radau ? &radau5_ops : &bdf_ops);
  if (yoke_implicit_outline(integrator->equations, &integrator->options, &outline)) {
    const bool is_condensed = outline.nq == outline.nv && outline.n_lambda == 0; /* of velocities alone */
    YOKE_TRY(yoke_linear_check(ctx, integrator->options.linear, outline.nx - (is_condensed ? outline.nq : 0)));
    return (use_radau ? radau5_outline : bdf_outline)(ctx, &self->implicit_plan, &outline);
  }
  YOKE_TRY(need_implicit(integrator, ctx));
  const yoke_integrator *made      = atomic_load(&self->implicit_method);
  self->implicit_plan.state_size   = made->state_size;
  self->implicit_plan.scratch_size = made->scratch_size;
  return YOKE_OK;
}

static void lay_out(auto_self *self, yoke_integrator *integrator) {
  const yoke_equations  *e = integrator->equations;
  const yoke_integrator *x = &self->explicit_method, *y = &self->implicit_plan; /* short_method needs less than x */
  size_t size           = self->has_implicit && y->scratch_size > x->scratch_size ? y->scratch_size : x->scratch_size;
  self->work            = explicit_reserve(&size, e->work_size);
  self->u               = yoke_array_reserve(&size, e->nu + 1);
  size_t *const parts[] = {&self->q, &self->fq, &self->gq, &self->v, &self->fv, &self->gv};
  if (self->has_implicit) {
    for (int i = 0; i < 6; ++i) *parts[i] = yoke_array_reserve(&size, i < 3 ? e->nq : e->nv);
  }
  integrator->scratch_size = size;

  size = self->has_implicit && y->state_size > x->state_size ? y->state_size : x->state_size;
  if (self->has_implicit) {
    self->zq = yoke_array_reserve(&size, e->nq);
    self->zv = yoke_array_reserve(&size, e->nv);
  }
  self->tail             = explicit_reserve(&size, sizeof(auto_own));
  integrator->state_size = size;
}

/* Prices as measured: a fused evaluation without loads costs about 1.5 ns per mass, an iteration of bdf with its tridiagonal solve 18 times,
 * a Jacobian with its factors 40 times as much. Other models: instructions of 2 (n = 18) to 20 (n = 119) evaluations for a factorisation and its Jacobian; of 14 (cable) and 27
 * (rod) with any number of elements, because the work in a band grows as that of an evaluation does; of 1 and 2 for a solve there. radau5
 * solves a real and a complex system per iteration. */
static void set_prices(auto_self *self, bool use_radau, double n) {
  const yoke_equations *e          = self->explicit_method.equations;
  const bool            is_fused   = explicit_rk_is_fused(&self->explicit_method);
  const double          evaluation = 1 + e->load_cost;
  const double          banded     = e->n_banded > 0 ? n * e->n_banded / e->nv : 0; /* unknowns in bands */
  const double          priced     = n - banded + fmin(banded, MOST_BANDED);
  self->iteration_cost = is_fused ? (use_radau ? 56 : 18) / evaluation : 0.5 + (banded > 0 ? banded / n : 0);
  self->factor_cost    = is_fused ? 40 / evaluation : 2 + 0.1 * priced;
  self->trial_cost     = 20 * (6 + 2 * self->iteration_cost) + 8 * self->factor_cost;
  self->patience       = (int)fmax(FEWEST_STIFF, self->trial_cost / explicit_rk_n_stages(&self->explicit_method));
}

static yoke_status create(yoke_context *ctx, yoke_integrator *integrator) {
  const yoke_equations          *e    = integrator->equations;
  const yoke_integrator_options *o    = &integrator->options;
  auto_self                     *self = yoke_arena_take(integrator->arena, 1, sizeof *self);
  if (self == NULL) return yoke_out_of_memory(ctx, "solver 'auto'");
  integrator->self = self;

  /* With constraints every evaluation solves a linear system, and every step projects: the higher order pays. Without them it pays at tight
   * tolerances, and for sure where steps are free; chains sweep through memory once per stage. */
  const bool is_chain = e->ops->stage != NULL, is_fixed = o->fixed_step > 0;
  const bool is_high = e->ng > 0 || o->rtol <= (is_chain || is_fixed ? 1e-9 : 1e-7);
  YOKE_TRY(create_method(ctx, integrator, is_high ? &dop853_ops : &dopri5_ops, &self->explicit_method));
  self->begins_short = e->ng == 0 && is_high && o->rtol > 1e-9;
  if ((e->ng > 0 || self->begins_short) && !is_fixed) {
    self->has_short = true;
    YOKE_TRY(create_method(ctx, integrator, &dopri5_ops, &self->short_method));
  }
  const double n = (double)e->nq + e->nv + 2.0 * e->ng + e->n_norms;
  if (e->ops->dae_create != NULL && n <= LARGEST_SYSTEM) {
    const bool use_radau = o->rtol < 1e-9 || n <= RADAU_SYSTEM;
    self->has_implicit   = true;
    YOKE_TRY(plan_implicit(ctx, integrator, use_radau));
    YOKE_TRY(explicit_rk_watch_stiffness(ctx, &self->explicit_method));
    if (self->has_short) YOKE_TRY(explicit_rk_watch_stiffness(ctx, &self->short_method));
    set_prices(self, use_radau, n);
  }
  lay_out(self, integrator);
  return YOKE_OK;
}

static void destroy(yoke_integrator *integrator) {
  auto_self *self = integrator->self;
  if (self == NULL) return;
  destroy_implicit(atomic_load(&self->implicit_method));
  integrator->self = NULL;
}

/* ---- spectral radius ---- */

static double norm2(int n, const double *x, int m, const double *y) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * x[i];
  for (int i = 0; i < m; ++i) sum += y[i] * y[i];
  return sqrt(sum);
}

/* (zq, zv) := J (zq, zv) by a difference of f at (q, v), whose value there is (fq, fv). */
static yoke_status apply_jacobian(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                  const yoke_signal *u, double *zq, double *zv) {
  const auto_self      *self = integrator->self;
  const yoke_equations *e    = integrator->equations;
  const double         *q = yoke_integrator_q(integrator, state), *v = yoke_integrator_v(integrator, state);
  double *q1 = explicit_at(scratch, self->q), *v1 = explicit_at(scratch, self->v), *gq = explicit_at(scratch, self->gq);
  double *gv = explicit_at(scratch, self->gv), *fq = explicit_at(scratch, self->fq),
         *fv          = explicit_at(scratch, self->fv);
  const double z_norm = norm2(e->nq, zq, e->nv, zv), y_norm = norm2(e->nq, q, e->nv, v);
  if (!(z_norm > 0) || !isfinite(z_norm)) return YOKE_NON_FINITE;
  const double delta = sqrt(DBL_EPSILON) * fmax(y_norm, 1e-3) / z_norm;
  for (int i = 0; i < e->nq; ++i) q1[i] = q[i] + delta * zq[i];
  for (int i = 0; i < e->nv; ++i) v1[i] = v[i] + delta * zv[i];
  YOKE_TRY(explicit_evaluate(integrator, explicit_at(scratch, self->work), explicit_at(scratch, self->u),
                             &state->counters, u, state->t, YOKE_SIDE_LEFT, q1, v1, gq, gv, NULL));
  for (int i = 0; i < e->nq; ++i) zq[i] = (gq[i] - fq[i]) / delta;
  for (int i = 0; i < e->nv; ++i) zv[i] = (gv[i] - fv[i]) / delta;
  return YOKE_OK;
}

/* rho = sqrt(|J J z| / |z|): J J maps positions to positions, so that the units of q and v do not matter. */
static yoke_status estimate_radius(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                   const yoke_signal *u) {
  const auto_self      *self = integrator->self;
  const yoke_equations *e    = integrator->equations;
  auto_own             *own  = own_of(integrator, state);
  double               *zq = explicit_at(state, self->zq), *zv = explicit_at(state, self->zv);
  const int             rounds = own->has_vector ? 1 : FIRST_ROUNDS;
  if (!own->has_vector) { /* any vector with a part in every direction */
    for (int i = 0; i < e->nq; ++i) zq[i] = 1 + 0.5 * sin(1.0 + 3.0 * i);
    for (int i = 0; i < e->nv; ++i) zv[i] = 1 + 0.5 * cos(2.0 + 5.0 * i);
    own->has_vector = 1;
  }
  YOKE_TRY(explicit_evaluate(integrator, explicit_at(scratch, self->work), explicit_at(scratch, self->u),
                             &state->counters, u, state->t, YOKE_SIDE_LEFT, yoke_integrator_q(integrator, state),
                             yoke_integrator_v(integrator, state), explicit_at(scratch, self->fq),
                             explicit_at(scratch, self->fv), NULL));
  for (int round = 0; round < rounds; ++round) {
    const double before = norm2(e->nq, zq, e->nv, zv);
    for (int i = 0; i < 2; ++i) YOKE_TRY(apply_jacobian(integrator, scratch, state, u, zq, zv));
    const double after = norm2(e->nq, zq, e->nv, zv);
    own->rho           = sqrt(after / before);
    if (!(after > 0) || !isfinite(after)) return YOKE_NON_FINITE;
    for (int i = 0; i < e->nq; ++i) zq[i] /= after;
    for (int i = 0; i < e->nv; ++i) zv[i] /= after;
  }
  return YOKE_OK;
}

/* ---- the choice ---- */

/* Of the run so far, in evaluations of f. */
static double cost_of(const auto_self *self, const yoke_integrator_state *state) {
  const yoke_counts *n = &state->counters;
  if (n->iterations == 0 && n->factorings == 0) return (double)n->evaluations;
  return (double)n->evaluations + self->iteration_cost * (double)n->iterations +
         self->factor_cost * (double)n->factorings;
}

static void begin_window(const auto_self *self, const yoke_integrator_state *state, auto_own *own) {
  own->t_check    = state->t;
  own->cost_check = cost_of(self, state);
}

/* Cost per second since the window began. */
static double window_cost(const auto_self *self, const yoke_integrator_state *state, const auto_own *own) {
  return (cost_of(self, state) - own->cost_check) / fmax(state->t - own->t_check, DBL_MIN);
}

/* Hand the state over to a method: q, v, a, lambda and counters stay, the method's own part begins anew. */
static yoke_status switch_method(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                 const yoke_signal *u, int method) {
  const auto_self *self = integrator->self;
  const size_t     head = integrator->at->own, tail = self->tail;
  for (int i = 0; i < 2; ++i) yoke_factor_release(&state->factor[i]);
  const auto_own before       = *own_of(integrator, state);
  auto_own      *own          = own_of(integrator, state);
  const double   step         = state->method != IMPLICIT && method != IMPLICIT ? state->t - state->t_prev : 0;
  state->method               = method;
  const yoke_integrator *next = at_work(integrator, state);
  memset((char *)state + head, 0, (method == IMPLICIT ? tail : yoke_integrator_fresh(next)) - head);
  memset((char *)state + tail, 0, integrator->state_size - tail);
  own->patience_factor = before.patience_factor;
  own->is_forced       = before.is_forced;
  own->explicit_cost   = before.explicit_cost;
  own->n_short         = before.n_short;
  begin_window(self, state, own);
  YOKE_TRY(next->ops->start(next, scratch, state, u));
  if (step > 0) state->h = step; /* from one explicit method to the other: the step is known */
  return YOKE_OK;
}

/* Switch with a message when the other method cannot start. */
static yoke_status turn(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                        const yoke_signal *u, int method, yoke_context *ctx) {
  yoke_status status = method == IMPLICIT ? need_implicit(integrator, ctx) : YOKE_OK;
  if (status != YOKE_OK) return status;
  status = switch_method(integrator, scratch, state, u, method);
  if (status == YOKE_OK) return YOKE_OK;
  return yoke_fail(ctx, status, "solver 'auto': '%s' cannot start at t = %.9g s (%s)",
                   at_work(integrator, state)->ops->name, state->t, yoke_status_text(status));
}

/* Where macro steps are shorter than the steps of a method of high order, one of low order does with half the evaluations. */
static void judge_length(const yoke_integrator *integrator, const yoke_integrator_state *state, double t_limit) {
  const auto_self *self       = integrator->self;
  auto_own        *own        = own_of(integrator, state);
  const bool       is_limited = state->t == t_limit;
  if (!self->has_short || own->wants_switch) return;
  if (state->method == EXPLICIT) {
    const bool is_short = is_limited && own->n_short < MOST_SHORT && state->h > LIMITED * (state->t - state->t_prev);
    own->limited        = (int8_t)(is_short ? own->limited + 1 : 0);
    if (own->limited >= LIMITED_STEPS) own->wants_switch = 1 + SHORT;
  } else { /* two steps from stop to stop cost what one of high order costs */
    own->limited = (int8_t)(!is_limited                    ? own->limited - 1
                            : own->limited < LIMITED_STEPS ? own->limited + 1
                                                           : own->limited);
    if (own->limited > -LIMITED_STEPS) return;
    ++own->n_short;
    own->wants_switch = 1 + EXPLICIT;
  }
}

static void judge_explicit(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  const auto_self *self     = integrator->self;
  auto_own        *own      = own_of(integrator, state);
  const int        suspects = explicit_rk_suspects(at_work(integrator, state), state);
  const double     needed   = (double)self->patience * (own->patience_factor > 1 ? own->patience_factor : 1);
  if (suspects == 0) begin_window(self, state, own);
  if (suspects < fmin(needed, MOST_STIFF)) return;
  own->wants_switch  = 1 + IMPLICIT;
  own->is_forced     = 0;
  own->explicit_cost = window_cost(self, state, own);
}

/* What explicit steps would cost per second now; `step` is the mean length of the implicit ones. That says nothing for rods and cables, whose
 * waves bdf follows with steps a tenth as long as those that the explicit method had made: they cost what they had cost. */
static double expected_cost(const auto_self *self, const auto_own *own, double step) {
  const yoke_integrator *method   = &self->explicit_method;
  const double           stable   = own->is_forced
                                        ? explicit_rk_n_stages(method) * own->rho / (0.8 * explicit_rk_stiff_bound(method))
                                        : own->explicit_cost * own->rho / own->rho_first;
  const bool             has_cost = method->equations->n_banded > 0 && !own->is_forced;
  return has_cost ? stable : fmax(stable, ACCURATE_COST / step);
}

static void judge_implicit(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                           const yoke_signal *u) {
  const auto_self *self = integrator->self;
  auto_own        *own  = own_of(integrator, state);
  if (++own->steps_since_check < CHECK_EVERY) return;
  const double cost = window_cost(self, state, own), step = (state->t - own->t_check) / own->steps_since_check;
  own->steps_since_check = 0;
  if (estimate_radius(integrator, scratch, state, u) != YOKE_OK) {
    own->has_vector = 0;
  } else if (own->n_checks++ == 0) { /* the first steps are those of a start */
    own->rho_first = own->rho;
  } else { /* a few dear steps, at a jump, do not outweigh many that pay */
    const double saved = MOST_SAVED * self->trial_cost;
    own->loss += (cost - HYSTERESIS * expected_cost(self, own, step)) * (state->t - own->t_check);
    own->loss = fmax(own->loss, -saved);
    if (own->loss > WORST_LOSS * self->trial_cost) own->wants_switch = 1 + EXPLICIT;
  }
  begin_window(self, state, own);
  if (!own->wants_switch) return;
  const bool is_trial  = own->n_checks < TRIAL_CHECKS;
  own->patience_factor = is_trial ? (int32_t)fmin(4.0 * fmax(own->patience_factor, 1), MOST_STIFF) : 1;
}

/* ---- interface ---- */

static yoke_status start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                         const yoke_signal *u) {
  const auto_self *self = integrator->self;
  state->method         = self->begins_short ? SHORT : EXPLICIT;
  begin_window(self, state, own_of(integrator, state));
  const yoke_integrator *method = at_work(integrator, state);
  return method->ops->start(method, scratch, state, u);
}

static yoke_status step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                        const yoke_signal *u, double t_limit, yoke_context *ctx) {
  const auto_self *self   = integrator->self;
  const int        wanted = own_of(integrator, state)->wants_switch;
  if (wanted) YOKE_TRY(turn(integrator, scratch, state, u, wanted - 1, ctx));

  const yoke_integrator *method = at_work(integrator, state);
  const bool  may_turn = state->method != IMPLICIT && self->has_implicit && !(integrator->options.fixed_step > 0);
  yoke_status status   = method->ops->step(method, scratch, state, u, t_limit, may_turn ? NULL : ctx);
  if (may_turn && (status == YOKE_E_STEP_TOO_SMALL || status == YOKE_E_UNSTABLE)) {
    own_of(integrator, state)->is_forced = 1;
    YOKE_TRY(turn(integrator, scratch, state, u, IMPLICIT, ctx));
    method = at_work(integrator, state);
    status = method->ops->step(method, scratch, state, u, t_limit, ctx);
  }
  if (status != YOKE_OK) {
    return may_turn && state->method != IMPLICIT
               ? yoke_fail(ctx, status, "solver 'auto' failed at t = %.9g s (%s)", state->t, yoke_status_text(status))
               : status;
  }
  if (state->method != IMPLICIT) judge_length(integrator, state, t_limit);
  if (!self->has_implicit) return YOKE_OK;
  if (state->method != IMPLICIT) {
    judge_explicit(integrator, state);
  } else if (!(integrator->options.fixed_step > 0)) {
    judge_implicit(integrator, scratch, state, u);
  }
  return YOKE_OK;
}

static void interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t, double *q,
                        double *v) {
  const yoke_integrator *method = at_work(integrator, state);
  method->ops->interpolate(method, state, t, q, v);
}

static yoke_status disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                           const yoke_signal *u, yoke_disturbance what) {
  const yoke_integrator *method = at_work(integrator, state);
  return method->ops->disturb(method, scratch, state, u, what);
}

/* Only what the method at work uses, and the part of `auto`; the power vector lies between them and is used beside implicit methods, which
 * use all that is theirs. */
static size_t used(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  const auto_self *self = integrator->self;
  return state->method == IMPLICIT ? self->tail : yoke_integrator_used(at_work(integrator, state), state);
}

static size_t tail(const yoke_integrator *integrator) {
  const auto_self *self = integrator->self;
  return self->tail;
}

static const yoke_linear *linear(const yoke_integrator *integrator, int i) {
  const auto_self       *self   = integrator->self;
  const yoke_integrator *method = atomic_load_explicit(&self->implicit_method, memory_order_acquire);
  return method != NULL ? method->ops->linear(method, i) : NULL;
}

static size_t fresh(const yoke_integrator *integrator) {
  const auto_self *self = integrator->self;
  return yoke_integrator_fresh(self->begins_short ? &self->short_method : &self->explicit_method);
}

static yoke_status prepare(const yoke_integrator *integrator, const yoke_integrator_state *state, yoke_context *ctx) {
  const auto_self *self = integrator->self;
  return state->method == IMPLICIT && self->has_implicit ? need_implicit(integrator, ctx) : YOKE_OK;
}

static bool is_sound(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  const auto_self *self     = integrator->self;
  const auto_own  *own      = own_of(integrator, state);
  const bool       exists[] = {[EXPLICIT] = true, [IMPLICIT] = self->has_implicit, [SHORT] = self->has_short};
  if (state->method < EXPLICIT || state->method > SHORT || !exists[state->method]) return false;
  if (own->wants_switch < 0 || own->wants_switch > 1 + SHORT) return false;
  if (own->wants_switch > 0 && !exists[own->wants_switch - 1]) return false;
  const yoke_integrator *method = at_work(integrator, state);
  return yoke_is_count(own->steps_since_check) && yoke_is_count(own->n_checks) && yoke_is_count(own->patience_factor) &&
         (method->ops->is_sound == NULL || method->ops->is_sound(method, state));
}

const yoke_integrator_ops auto_ops = {
    .name        = "auto",
    .summary     = "explicit or implicit as the model needs it, chosen and changed during the run",
    .reads       = "rtol atol step max_step max_order linear constraints alpha beta",
    .create      = create,
    .destroy     = destroy,
    .start       = start,
    .step        = step,
    .interpolate = interpolate,
    .disturb     = disturb,
    .linear      = linear,
    .used        = used,
    .tail        = tail,
    .fresh       = fresh,
    .prepare     = prepare,
    .is_sound    = is_sound,
    .at_work     = at_work,
    .tangents    = YOKE_TANGENTS_AT_WORK,
};
