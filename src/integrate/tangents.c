/* Tangents over a macro step: begin, then one micro step after another.
 *
 * A micro step is tried with one step of its rule, then with 2, 4, ... equal ones. Each direction takes the first trial that is good for
 * itself: with one step by the estimate of the rule, with more by what doubling them has changed at the end of the micro step (stiff parts that
 * die away on the way do not matter), a fifteenth of which is added: extrapolation to order 5. So the bits of a direction do not depend on
 * others, and nothing is remembered from the step before.
 *
 * G dq = 0 and G dv + d(G v)/dq dq = 0 hold up to the error of the rule: the variational equations of the index-1 form keep these sums. */
#include "integrate/tangents.h"
#include "base/assert.h"
#include "integrate/explicit.h"
#include "integrate/tangents_internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 16, FIRST_DOUBT = 4 };

/* Of the tolerance: what the change of J may do to a stage (w->change), where that of the middle serves all of a micro step. */
static const double STEADY = 0.1;

/* Of one micro step, relative to the tangents: what is asked for, FINEST at least, or where the steps of the solver themselves are rougher MULTIPLE times their tolerance,
 * at most ROUGHEST. A correction by the response leaves as large a part of itself, which is far below what it corrects. */
static const double FINEST = 5e-6, MULTIPLE = 500.0, ROUGHEST = 5e-3;

static double tolerance_of(const walk *w) {
  const yoke_integrator_options *o = &w->tangents->integrator->options;
  if (o->fixed_step > 0.0) return fmax(w->directions->tolerance, FINEST);
  const bool   is_stiff = !w->is_explicit || w->equations->n_banded > 0;
  const double asked    = fmax(w->directions->tolerance, is_stiff ? w->directions->stiff_tolerance : 0.0);
  return fmax(asked, fmin(fmax(MULTIPLE * o->rtol, FINEST), ROUGHEST));
}

/* ---- creation ---- */

static bool has_ops(const yoke_integrator *integrator) {
  const yoke_equations_ops *ops = integrator->equations->ops;
  return integrator->ops->tangents != YOKE_TANGENTS_NONE && ops->dae_create != NULL && ops->dae_jacobian != NULL &&
         ops->dae_input_jacobian != NULL && ops->motion_factor != NULL && ops->motion_solve != NULL &&
         ops->stage == NULL && /* chains alone: perturbed steps of the fused kernel are cheaper */
         (ops->quadrature_tangent != NULL || integrator->equations->n_quadratures == 0) &&
         (ops->tangent_project != NULL || !integrator->equations->drifts);
}

/* Steps of several states may need it at the same time: each makes it, the first one is kept, and they are equal to the bit. `ctx` may be
 * NULL. */
static yoke_status need_implicit(const yoke_tangents *tangents, yoke_context *ctx, const yoke_implicit **out) {
  yoke_tangents *self = (yoke_tangents *)tangents; /* it changes in nothing else */
  yoke_implicit *made = NULL, *first = atomic_load_explicit(&self->implicit, memory_order_acquire);
  if (first == NULL) {
    YOKE_TRY(yoke_implicit_create_of(ctx, self->integrator->equations, self->dae, YOKE_LINEAR_KLU, &made));
    if (atomic_compare_exchange_strong(&self->implicit, &first, made)) {
      first = made;
    } else {
      yoke_implicit_destroy(&made);
    }
  }
  *out = first;
  return YOKE_OK;
}

/* What the implicit rule needs is made with an implicit method, and with `auto` when that first works with one. */
static yoke_status create_dae(yoke_context *ctx, yoke_tangents *tangents) {
  const yoke_integrator *integrator = tangents->integrator;
  const yoke_equations  *e          = integrator->equations;
  const yoke_implicit   *implicit;
  YOKE_TRY(e->ops->dae_create(e->self, ctx, YOKE_DAE_INDEX1, &tangents->dae));
  tangents->may_be_implicit = integrator->ops->linear != NULL; /* only implicit methods have linear solvers */
  if (!tangents->may_be_implicit || integrator->ops->linear(integrator, 0) == NULL) return YOKE_OK;
  return need_implicit(tangents, ctx, &implicit);
}

/* Rows of slopes that rows of F belong to, and J by these rows. */
static yoke_status list_rows(yoke_context *ctx, yoke_tangents *tangents) {
  const yoke_equations *e        = tangents->integrator->equations;
  const yoke_dae       *dae      = tangents->dae;
  const yoke_pattern   *p        = dae->pattern;
  const int             n_states = e->nq + e->nv, n_lambda = yoke_n_multipliers(e);
  tangents->n_rows = n_states + n_lambda;
  tangents->row_of = yoke_arena_take(&tangents->arena, (size_t)dae->nx + 1, sizeof *tangents->row_of);
  tangents->start  = yoke_arena_take(&tangents->arena, (size_t)tangents->n_rows + 2, sizeof *tangents->start);
  tangents->col    = yoke_arena_take(&tangents->arena, (size_t)p->nnz + 1, sizeof *tangents->col);
  tangents->slot   = yoke_arena_take(&tangents->arena, (size_t)p->nnz + 1, sizeof *tangents->slot);
  tangents->mass   = yoke_arena_take(&tangents->arena, (size_t)e->nv + 1, sizeof *tangents->mass);
  YOKE_TRY(yoke_arena_check(&tangents->arena, ctx, "tangents"));
  int *row_of = tangents->row_of;
  for (int i = 0; i < dae->nx; ++i) row_of[i] = -1;
  for (int i = 0; i < e->nq - e->n_quadratures; ++i) row_of[i] = i;
  for (int i = 0; i < e->nv; ++i) row_of[dae->i_a + i] = e->nq + i;
  for (int i = 0; i < n_lambda; ++i) row_of[dae->i_lambda + i] = n_states + i;

  int *next = tangents->start + 1; /* next[r] runs over row r while it is filled, and ends as the start of row r + 1 */
  for (int k = 0; k < p->col_start[n_states]; ++k) {
    if (row_of[p->row[k]] >= 0 && row_of[p->row[k]] + 1 < tangents->n_rows) ++next[row_of[p->row[k]] + 1];
  }
  for (int r = 1; r < tangents->n_rows; ++r) next[r] += next[r - 1];
  for (int j = 0; j < n_states; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      const int r = row_of[p->row[k]];
      if (r < 0) continue;
      tangents->col[next[r]]    = j;
      tangents->slot[next[r]++] = k;
    }
  }
  for (int i = 0; i < e->nv; ++i) {
    int k = p->col_start[dae->i_a + i];
    while (p->row[k] != dae->i_a + i) ++k; /* the pattern is full: the diagonal of M is in it */
    tangents->mass[i] = k;
  }
  return YOKE_OK;
}

yoke_status yoke_tangents_create(yoke_context *ctx, const yoke_integrator *integrator, yoke_tangents **out) {
  *out = NULL;
  if (!has_ops(integrator)) return YOKE_OK;
  yoke_tangents *tangents = yoke_allocate(1, sizeof *tangents);
  if (tangents == NULL) return yoke_out_of_memory(ctx, "tangents");
  tangents->arena      = yoke_arena_of(ctx);
  tangents->integrator = integrator;
  yoke_status status   = create_dae(ctx, tangents);
  if (status == YOKE_OK && tangents->dae->input_pattern == NULL) {
    yoke_tangents_destroy(&tangents);
    return YOKE_OK;
  }
  if (status == YOKE_OK) status = list_rows(ctx, tangents);
  if (status != YOKE_OK) {
    yoke_tangents_destroy(&tangents);
    return status;
  }
  *out = tangents;
  return YOKE_OK;
}

void yoke_tangents_destroy(yoke_tangents **tangents) {
  if (tangents == NULL || *tangents == NULL) return;
  yoke_implicit *implicit = atomic_load(&(*tangents)->implicit);
  yoke_implicit_destroy(&implicit);
  yoke_dae_destroy(&(*tangents)->dae);
  yoke_arena_free(&(*tangents)->arena);
  free(*tangents);
  *tangents = NULL;
}

const yoke_dae *yoke_tangents_dae(const yoke_tangents *tangents) {
  return tangents->dae;
}

/* ---- room ---- */

/* Where the parts of a room for n directions are. */
typedef struct room_parts {
  size_t head, x[N_POINTS], u[N_POINTS], du[N_POINTS], J[N_POINTS], B[N_POINTS], factor[N_POINTS], y, k, result, trial,
      before, error, change, off, reach, rate, stage, base, slope[N_SLOPES], matrix, column, right, linear, norm,
      sample[4], is_done, takes, waits;
  size_t size;
} room_parts;

/* Each input has at most one entry in a direction. */
static size_t most_entries(const yoke_equations *e, int n) {
  return (size_t)e->nu * (size_t)n;
}

static room_parts lay_out(const yoke_tangents *tangents, int n) {
  const yoke_equations *e   = tangents->integrator->equations;
  const yoke_dae       *dae = tangents->dae;
  const size_t          d = sizeof(double), n_y = (size_t)(e->nq + e->nv) * (size_t)n * d,
               n_slope = (size_t)tangents->n_rows * (size_t)n * d, nx = (size_t)dae->nx * d,
               nnz = (size_t)dae->pattern->nnz * d;
  room_parts p     = {0};
  p.head           = explicit_reserve(&p.size, sizeof(tangents_head));
  for (int i = 0; i < N_POINTS; ++i) {
    p.x[i]      = explicit_reserve(&p.size, nx);
    p.u[i]      = explicit_reserve(&p.size, ((size_t)e->nu + 1) * d);
    p.du[i]     = explicit_reserve(&p.size, most_entries(e, n) * d);
    p.J[i]      = explicit_reserve(&p.size, nnz);
    p.B[i]      = explicit_reserve(&p.size, (size_t)dae->input_pattern->nnz * d);
    p.factor[i] = explicit_reserve(&p.size, e->motion_size);
  }
  size_t *const states[] = {&p.y, &p.result, &p.trial, &p.before, &p.error, &p.off, &p.stage, &p.base};
  for (size_t i = 0; i < sizeof states / sizeof states[0]; ++i) *states[i] = explicit_reserve(&p.size, n_y);
  p.k = explicit_reserve(&p.size, n_slope);
  for (int i = 0; i < N_SLOPES; ++i) p.slope[i] = explicit_reserve(&p.size, n_slope);
  p.reach = explicit_reserve(&p.size, (size_t)n * d);
  p.rate  = explicit_reserve(&p.size, (size_t)n * d);
  p.norm  = explicit_reserve(&p.size, 6 * (size_t)n * d);
  for (int i = 0; i < 4; ++i) p.sample[i] = explicit_reserve(&p.size, most_entries(e, n) * d);
  p.is_done = explicit_reserve(&p.size, (size_t)n);
  p.takes   = explicit_reserve(&p.size, (size_t)n);
  p.waits   = explicit_reserve(&p.size, (size_t)n);
  if (!tangents->may_be_implicit) return p;
  p.change = explicit_reserve(&p.size, n_y);
  p.matrix = explicit_reserve(&p.size, nnz);
  p.column = explicit_reserve(&p.size, nx);
  p.right  = explicit_reserve(&p.size, nx);
  p.linear = explicit_reserve(&p.size, yoke_linear_work_of_rows(dae->nx) * d);
  return p;
}

size_t yoke_tangents_room(const yoke_tangents *tangents, int n) {
  return lay_out(tangents, n).size;
}

static tangents_point point_at(const void *room, const room_parts *p, int i) {
  return (tangents_point){.x      = explicit_at(room, p->x[i]),
                          .u      = explicit_at(room, p->u[i]),
                          .du     = explicit_at(room, p->du[i]),
                          .J      = explicit_at(room, p->J[i]),
                          .B      = explicit_at(room, p->B[i]),
                          .factor = explicit_at(room, p->factor[i])};
}

static walk carve(const yoke_tangents *tangents, const void *room, int n) {
  const yoke_equations *e = tangents->integrator->equations;
  const room_parts      p = lay_out(tangents, n);
  walk                  w = {.tangents  = tangents,
                             .equations = e,
                             .head      = (tangents_head *)(void *)explicit_at(room, p.head),

                             .n       = n,
                             .n_y     = (size_t)(e->nq + e->nv) * (size_t)n,
                             .n_slope = (size_t)tangents->n_rows * (size_t)n,
                             .y       = explicit_at(room, p.y),
                             .k       = explicit_at(room, p.k),
                             .result  = explicit_at(room, p.result),
                             .trial   = explicit_at(room, p.trial),
                             .before  = explicit_at(room, p.before),
                             .error   = explicit_at(room, p.error),
                             .change  = explicit_at(room, p.change),
                             .off     = explicit_at(room, p.off),
                             .reach   = explicit_at(room, p.reach),
                             .rate    = explicit_at(room, p.rate),
                             .stage   = explicit_at(room, p.stage),
                             .base    = explicit_at(room, p.base),
                             .matrix  = explicit_at(room, p.matrix),
                             .column  = explicit_at(room, p.column),
                             .right   = explicit_at(room, p.right),
                             .linear  = explicit_at(room, p.linear),
                             .norm    = explicit_at(room, p.norm),
                             .is_done = (uint8_t *)explicit_at(room, p.is_done),
                             .takes   = (uint8_t *)explicit_at(room, p.takes),
                             .waits   = (uint8_t *)explicit_at(room, p.waits)};
  for (int i = 0; i < N_SLOPES; ++i) w.slope[i] = explicit_at(room, p.slope[i]);
  for (int i = 0; i < 4; ++i) w.sample[i] = explicit_at(room, p.sample[i]);
  for (int i = 0; i < N_POINTS; ++i) w.at[i] = point_at(room, &p, i);
  return w;
}

static walk open_walk(const yoke_tangents *tangents, void *room, void *scratch, const yoke_integrator_state *state,
                      const yoke_signal *u, const yoke_directions *directions) {
  YOKE_ASSERT((size_t)directions->n_entries <= most_entries(tangents->integrator->equations, directions->n));
  walk w        = carve(tangents, room, directions->n);
  w.state       = state;
  w.u           = u != NULL ? u : &yoke_signal_none;
  w.directions  = directions;
  w.work        = scratch;
  w.is_explicit = yoke_integrator_at_work(tangents->integrator, state)->ops->tangents == YOKE_TANGENTS_EXPLICIT;
  return w;
}

yoke_tangent_view yoke_tangents_view(const yoke_tangents *tangents, const void *room) {
  const tangents_head *head = room;
  const walk           w    = carve(tangents, room, head->n);
  const size_t         n_q  = (size_t)w.equations->nq * (size_t)w.n;
  return (yoke_tangent_view){.evaluations = head->evaluations,
                             .jacobians   = head->jacobians,
                             .off_q       = w.off,
                             .off_v       = w.off + n_q,
                             .n           = w.n,
                             .dq          = w.y,
                             .dv          = w.y + n_q,
                             .da          = w.k + n_q,
                             .dlambda     = w.k + w.n_y,
                             .q           = w.at[END].x,
                             .v           = w.at[END].x + tangents->dae->i_v,
                             .a           = w.at[END].x + tangents->dae->i_a};
}

/* ---- trials ---- */

/* Directions for which the trial is good take it as their result, extrapolated if there was one before; *left counts those that still wait. `change`: further
 * errors of trials that follow each other, which these do not show; NULL: none.
 * YOKE_NOT_CONVERGED: one of them will not be good with the most steps either, since doubling them divides an error by about 16. */
static yoke_status settle(const walk *w, int m, const double *change, int *left) {
  const double *error     = tangents_errors(w, m);
  const bool    is_better = m > 1 || tangents_are_rough(w);
  const double *best      = is_better ? w->error : w->trial; /* the error becomes the extrapolated trial */
  const size_t  n         = (size_t)w->n;
  const double  limit     = tolerance_of(w);
  const double  hope      = m < MOST_STEPS ? 10 * limit * pow((double)MOST_STEPS / m, 4) : 0;
  /* with one step of the explicit rule: minus its defect, the Lobatto formula */
  const double  better = m > 1 ? 1.0 / 15.0 : -1.0;
  for (size_t i = 0; is_better && i < w->n_y; ++i) w->error[i] = w->trial[i] + better * w->error[i];
  for (size_t i = 0; i < n; ++i) {
    const bool takes_part = tangents_takes_part(w, (int)i);
    w->takes[i]           = takes_part && error[i] <= limit;
    if (takes_part && !w->takes[i] && m >= FIRST_DOUBT && !(error[i] <= hope)) return YOKE_NOT_CONVERGED;
    w->is_done[i] |= w->takes[i];
    *left -= w->takes[i];
  }
  for (size_t k = 0; k < w->n_y; k += n) {
    for (size_t i = 0; i < n; ++i) {
      if (!w->takes[i]) continue;
      w->result[k + i] = best[k + i];
      const double off = is_better ? best[k + i] - w->trial[k + i] : -w->error[k + i];
      w->off[k + i] += off + (change != NULL ? copysign(change[k + i], off) : 0.0);
    }
  }
  return YOKE_OK;
}

/* ---- a macro step ---- */

/* w->at[END].x is the motion at head->t: slope of w->y there with the right limit of the inputs. */
static yoke_status take_right(const walk *w, bool is_zero) {
  const yoke_equations *e = w->equations;
  const double          t = w->head->t;
  const tangents_point *p = &w->at[END];
  if (e->ops->branch != NULL) {
    if (e->nu > 0) yoke_signal_value(w->u, t, YOKE_SIDE_RIGHT, 0, p->u);
    w->head->branch = e->ops->branch(e->self, w->work, t, p->x, p->x + w->tangents->dae->i_v, p->u);
  }
  YOKE_TRY(tangents_linearise(w, p, t, YOKE_SIDE_RIGHT, !is_zero, false));
  YOKE_TRY(tangents_factor(w, p, t));
  tangents_slope(w, p, t, is_zero ? NULL : w->y, w->k);
  w->head->took_right = true;
  return YOKE_OK;
}

/* w->at[END].x := the state's. */
static void take_motion(const walk *w) {
  const yoke_integrator *integrator = w->tangents->integrator;
  double                *x          = w->at[END].x;
  memcpy(x, yoke_integrator_q(integrator, w->state), (size_t)w->equations->nq * sizeof *x);
  memcpy(x + w->tangents->dae->i_v, yoke_integrator_v(integrator, w->state), (size_t)w->equations->nv * sizeof *x);
}

yoke_status yoke_tangents_begin(const yoke_tangents *tangents, void *room, void *scratch,
                                const yoke_integrator_state *state, const yoke_signal *u,
                                const yoke_directions *directions) {
  const walk w = open_walk(tangents, room, scratch, state, u, directions);
  *w.head      = (tangents_head){.t = state->t, .n = directions->n};
  memset(w.y, 0, w.n_y * sizeof *w.y);
  memset(w.off, 0, w.n_y * sizeof *w.off);
  memset(w.reach, 0, (size_t)w.n * sizeof *w.reach);
  take_motion(&w);
  return take_right(&w, true);
}

yoke_status yoke_tangents_turn(const yoke_tangents *tangents, void *room, void *scratch,
                               const yoke_integrator_state *state, const yoke_signal *u,
                               const yoke_directions *directions) {
  const walk w = open_walk(tangents, room, scratch, state, u, directions);
  take_motion(&w);
  return take_right(&w, false);
}

/* Have the inputs, their directions or the equations another right limit at t? */
static bool is_break(const walk *w, double t) {
  const double before = nextafter(t, -(double)INFINITY);
  return yoke_signal_next_break(w->u, before) == t || yoke_signal_next_break(&w->directions->du, before) == t ||
         yoke_equations_next_break(w->equations, before) == t;
}

typedef yoke_status trial_of(const walk *w, int m);

/* Trials with m, 2 m, ... steps until the n_left directions that take part have their results. */
static yoke_status double_steps(const walk *w, trial_of *try, int m, const double *change, int n_left) {
  for (; n_left > 0; m *= 2) {
    if (m > 1) memcpy(w->before, w->trial, w->n_y * sizeof *w->trial);
    YOKE_TRY(try(w, m));
    for (size_t i = 0; m > 1 && i < w->n_y; ++i) w->error[i] = w->trial[i] - w->before[i];
    YOKE_TRY(settle(w, m, change, &n_left));
  }
  return YOKE_OK;
}

/* Steps of the implicit rule with one linearisation for all of the micro step, for directions for which that does. */
static yoke_status try_frozen_steps(const walk *w, int *left) {
  const double limit  = tolerance_of(w);
  int          n_here = 0;
  YOKE_TRY(tangents_frozen_trial(w, 1));
  memcpy(w->before, w->error, w->n_y * sizeof *w->error);
  memcpy(w->error, w->change, w->n_y * sizeof *w->error);
  const double *error = tangents_errors(w, 1);
  for (int i = 0; i < w->n; ++i) {
    w->waits[i] = !(error[i] <= STEADY * limit);
    n_here += tangents_takes_part(w, i);
  }
  memcpy(w->error, w->before, w->n_y * sizeof *w->error);
  *left -= n_here;
  YOKE_TRY(settle(w, 1, w->change, &n_here));
  YOKE_TRY(double_steps(w, tangents_frozen_trial, 2, w->change, n_here));
  memset(w->waits, 0, (size_t)w->n);
  return YOKE_OK;
}

/* w->result of all directions. *has_slope: slope[4] is theirs. Steps of implicit methods may be short enough for one of the explicit rule,
 * which costs a fifth of one of the implicit rule; where it is not good, trials begin anew with that one. */
static yoke_status try_steps(const walk *w, bool is_implicit, bool *has_slope) {
  int left = w->n;
  memset(w->is_done, 0, (size_t)w->n);
  memset(w->waits, 0, (size_t)w->n);
  w->head->known = 0;
  YOKE_TRY(tangents_explicit_trial(w, 1));
  YOKE_TRY(settle(w, 1, NULL, &left));
  *has_slope = left == 0 && !tangents_are_rough(w);
  if (!is_implicit) return double_steps(w, tangents_explicit_trial, 2, NULL, left);
  memset(w->rate, 0, (size_t)w->n * sizeof *w->rate);
  if (left > 0) YOKE_TRY(try_frozen_steps(w, &left));
  return double_steps(w, tangents_implicit_trial, 1, NULL, left);
}

yoke_status yoke_tangents_advance(const yoke_tangents *tangents, void *room, void *scratch,
                                  const yoke_integrator_state *state, const yoke_signal *u,
                                  const yoke_directions *directions) {
  walk                   w           = open_walk(tangents, room, scratch, state, u, directions);
  const yoke_integrator *at_work     = yoke_integrator_at_work(tangents->integrator, state);
  const bool             is_implicit = at_work->ops->tangents == YOKE_TANGENTS_IMPLICIT;
  YOKE_ASSERT(w.head->n == directions->n && w.head->t == state->t_prev);
  if (is_implicit) YOKE_TRY(need_implicit(tangents, NULL, &w.implicit));
  if (!w.head->took_right && is_break(&w, w.head->t)) YOKE_TRY(take_right(&w, false));

  /* The first factor of the implicit rule hands its pivot order on to the others of this micro step: they depend on nothing before. */
  bool         has_slope   = false;
  yoke_factor *pivots      = NULL;
  w.pivots                 = &pivots;
  const yoke_status status = try_steps(&w, is_implicit, &has_slope);
  yoke_factor_release(&pivots);
  YOKE_TRY(status);

  memcpy(w.y, w.result, w.n_y * sizeof *w.y);
  if (w.equations->drifts) { /* as the step has projected q and v */
    const tangents_point *end = &w.at[END];
    const size_t          n_q = (size_t)w.equations->nq * (size_t)w.n;
    w.equations->ops->tangent_project(w.equations->self, w.work, end->factor, state->t, end->x,
                                      end->x + tangents->dae->i_v, w.n, w.y, w.y + n_q, w.slope[1] + n_q,
                                      w.slope[1] + w.n_y);
    has_slope = false;
  }
  if (has_slope) {
    memcpy(w.k, w.slope[4], w.n_slope * sizeof *w.k);
  } else { /* the first trial has factored the end */
    tangents_slope(&w, &w.at[END], state->t, w.y, w.k);
  }
  w.head->t          = state->t;
  w.head->took_right = false;
  return YOKE_OK;
}
