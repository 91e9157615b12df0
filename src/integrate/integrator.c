/* What all integrators share: creation by name, states, start, stops and break points, resets, copies. */
#include "integrate/integrator.h"
#include "integrate/guests.h"
#include "integrate/methods.h"
#include "base/cancel.h"
#include "base/assert.h"
#include "base/jump.h"
#include "base/memory.h"
#include "base/text.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const yoke_integrator_ops *const methods[] = {
#define X(symbol) &symbol,
#include "integrate/integrator_list.def"
#undef X
};

enum {
  N_OWN        = (int)(sizeof methods / sizeof methods[0]),
  MOST_METHODS = N_OWN + 8,
  LINE         = 64 /* bytes */,
  LONG         = 32 /* numbers */
};

static size_t round_up(size_t bytes) {
  return (bytes + LINE - 1) / LINE * LINE;
}
static size_t array_size(int n) {
  return round_up((size_t)n * sizeof(double));
}

/* Own methods, then guests; NULL: no such number. */
static const yoke_integrator_ops *method(int i) {
  if (i < 0 || i >= yoke_integrator_n_methods()) return NULL;
  return i < N_OWN ? methods[i] : yoke_guest_integrators[i - N_OWN];
}

int yoke_integrator_n_methods(void) {
  int n = N_OWN;
  while (n < MOST_METHODS && yoke_guest_integrators[n - N_OWN] != NULL) ++n;
  return n;
}
const char *yoke_integrator_method_name(int i) {
  return method(i) != NULL ? method(i)->name : NULL;
}
const char *yoke_integrator_method_summary(int i) {
  return method(i) != NULL ? method(i)->summary : NULL;
}

const char *yoke_integrator_method_reads(int i) {
  return method(i) != NULL ? method(i)->reads : NULL;
}

bool yoke_integrator_wanders(const char *name) {
  for (int i = 0; i < yoke_integrator_n_methods(); ++i) {
    if (strcmp(method(i)->name, name) == 0) return method(i)->wanders;
  }
  return false;
}

int yoke_integrator_reads_end(const char *name) {
  for (int i = 0; i < yoke_integrator_n_methods(); ++i) {
    if (strcmp(method(i)->name, name) == 0) return method(i)->reads_end;
  }
  return 0;
}

yoke_integrator_options yoke_integrator_options_default(void) {
  return (yoke_integrator_options){
      .rtol = 1e-8, .atol = 1e-10, .linear = YOKE_LINEAR_KLU, .form = YOKE_DAE_GGL, .rho_inf = 0.8};
}

/* ---- layout of a state: head, q, v, a, lambda, own ---- */

size_t yoke_array_reserve(size_t *size, int n) {
  const bool   is_long = n >= LONG;
  const size_t offset = is_long ? round_up(*size) : *size, bytes = (size_t)n * sizeof(double);
  *size = offset + (is_long ? round_up(bytes) : bytes);
  return offset;
}

static yoke_state_places state_places(const yoke_equations *e) {
  size_t            size = sizeof(yoke_integrator_state);
  yoke_state_places at;
  at.q      = yoke_array_reserve(&size, e->nq);
  at.v      = yoke_array_reserve(&size, e->nv);
  at.a      = yoke_array_reserve(&size, e->nv);
  at.lambda = yoke_array_reserve(&size, yoke_n_multipliers(e));
  at.own    = round_up(size);
  return at;
}

size_t yoke_integrator_head_size(const yoke_equations *e) {
  return state_places(e).own;
}

static void *part(const yoke_integrator_state *state, size_t offset) {
  return (char *)state + offset;
}

double *yoke_integrator_lambda(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  return part(state, integrator->at->lambda);
}

void *yoke_integrator_own(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  return part(state, integrator->at->own);
}

size_t yoke_integrator_used(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  return integrator->ops->used != NULL ? integrator->ops->used(integrator, state) : integrator->state_size;
}

size_t yoke_integrator_tail(const yoke_integrator *integrator) {
  return integrator->ops->tail != NULL ? integrator->ops->tail(integrator) : integrator->state_size;
}

size_t yoke_integrator_fresh(const yoke_integrator *integrator) {
  return integrator->ops->fresh != NULL ? integrator->ops->fresh(integrator) : integrator->state_size;
}

/* ---- creation ---- */

static const yoke_integrator_ops *find_method(yoke_context *ctx, const char *name) {
  const char *names[MOST_METHODS];
  const int   n = yoke_integrator_n_methods();
  for (int i = 0; i < n; ++i) {
    names[i] = method(i)->name;
    if (name != NULL && strcmp(names[i], name) == 0) return method(i);
  }
  const char *nearest = name != NULL ? yoke_text_nearest(name, names, n) : NULL;
  if (nearest != NULL) {
    (void)yoke_fail(ctx, YOKE_E_USAGE, "solver '%s' is unknown; did you mean '%s'?", name, nearest);
  } else {
    (void)yoke_fail(ctx, YOKE_E_USAGE,
                    "solver '%s' is unknown; expected auto, dopri5, radau5, bdf or another of the list",
                    name != NULL ? name : "");
  }
  return NULL;
}

static yoke_status check_options(yoke_context *ctx, const char *name, const yoke_integrator_options *o) {
  const struct {
    const char *key;
    double      value;
  } list[] = {{"rtol", o->rtol},         {"atol", o->atol},   {"step", o->fixed_step}, {"first_step", o->first_step},
              {"max_step", o->max_step}, {"alpha", o->alpha}, {"beta", o->beta}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
    if (!(list[i].value >= 0) || isinf(list[i].value)) {
      return yoke_fail(ctx, YOKE_E_USAGE, "solver '%s': %s is %g, expected a finite number >= 0", name, list[i].key,
                       list[i].value);
    }
  }
  if (o->rtol + o->atol <= 0) return yoke_fail(ctx, YOKE_E_USAGE, "solver '%s': rtol and atol are both 0", name);
  if (o->max_order < 0) {
    return yoke_fail(ctx, YOKE_E_USAGE, "solver '%s': max_order is %d, expected >= 1", name, o->max_order);
  }
  return YOKE_OK;
}

/* The common part keeps its scratch (one row of inputs twice) behind that of the method. */
static double *common_u(const yoke_integrator *integrator, void *scratch) {
  const size_t size = 2 * array_size(integrator->equations->nu + 1);
  return (double *)(void *)((char *)scratch + integrator->scratch_size - size);
}

yoke_status yoke_integrator_create(yoke_context *ctx, const char *name, const yoke_equations *equations,
                                   const yoke_integrator_options *options, yoke_integrator **out) {
  *out                           = NULL;
  const yoke_integrator_ops *ops = find_method(ctx, name);
  if (ops == NULL) return YOKE_E_USAGE;
  const yoke_integrator_options o = options != NULL ? *options : yoke_integrator_options_default();
  YOKE_TRY(check_options(ctx, name, &o));
  YOKE_TRY(yoke_context_go_on(ctx));

  yoke_arena               arena      = yoke_arena_of(ctx);
  yoke_integrator         *integrator = yoke_arena_take(&arena, 1, sizeof *integrator);
  yoke_arena              *own        = yoke_arena_take(&arena, 1, sizeof *own);
  const yoke_state_places  places     = state_places(equations);
  const yoke_state_places *at         = yoke_arena_share(&arena, &places, sizeof places);
  if (arena.has_failed) {
    yoke_arena_free(&arena);
    return yoke_out_of_memory(ctx, "solver '%s'", name);
  }
  *own                     = arena;
  integrator->arena        = own;
  integrator->ops          = ops;
  integrator->equations    = equations;
  integrator->at           = at;
  integrator->options      = o;
  integrator->state_size   = integrator->at->own;
  integrator->scratch_size = equations->work_size;
  const yoke_status status = ops->create(ctx, integrator);
  if (status != YOKE_OK) {
    yoke_integrator_destroy(&integrator);
    return status;
  }
  integrator->state_size   = round_up(integrator->state_size);
  integrator->scratch_size = round_up(integrator->scratch_size) + 2 * array_size(equations->nu + 1);
  *out                     = integrator;
  return YOKE_OK;
}

void yoke_integrator_destroy(yoke_integrator **integrator) {
  if (integrator == NULL || *integrator == NULL) return;
  if ((*integrator)->ops->destroy != NULL) (*integrator)->ops->destroy(*integrator);
  yoke_arena arena = *(*integrator)->arena;
  yoke_arena_free(&arena);
  *integrator = NULL;
}

yoke_status yoke_integrator_state_create(const yoke_integrator *integrator, yoke_integrator_state **out) {
  *out = yoke_allocate(1, integrator->state_size);
  return *out != NULL ? YOKE_OK : YOKE_E_MEMORY;
}

/* Whatever the state holds outside its block. */
static void release_references(yoke_integrator_state *state) {
  for (int i = 0; i < 2; ++i) yoke_factor_release(&state->factor[i]);
  if (state->release != NULL) state->release(state->foreign);
  state->foreign = NULL;
  state->release = NULL;
}

void yoke_integrator_state_destroy(yoke_integrator_state **state) {
  if (state == NULL || *state == NULL) return;
  release_references(*state);
  free(*state);
  *state = NULL;
}

yoke_status yoke_integrator_scratch_create(const yoke_integrator *integrator, void **out) {
  *out = yoke_allocate(1, integrator->scratch_size > 0 ? integrator->scratch_size : 1);
  return *out != NULL ? YOKE_OK : YOKE_E_MEMORY;
}

void yoke_integrator_scratch_destroy(void **scratch) {
  if (scratch == NULL) return;
  free(*scratch);
  *scratch = NULL;
}

/* ---- limits at jumps ---- */

static const double NEAR_JUMP = 2e-14; /* of the time: more than switching times are off by rounding */

/* Loads and laws that jump at t have their limits shortly before and behind it, at a distance that rounding of the switching time, and of what
 * it is compared with, does not bridge. t itself where nothing jumps, or a step from t_from on is hardly longer than that. */
static double left_of_jump(const yoke_equations *e, double t_from, double t) {
  const double rest = NEAR_JUMP * fmax(fabs(t_from), fabs(t));
  if (e->switches == NULL || !(t - t_from > 8 * rest)) return t;
  return yoke_switches_jump_at(e->switches, t) ? t - rest : t;
}

static double right_of_jump(const yoke_equations *e, double t) {
  if (e->switches == NULL || !yoke_switches_jump_at(e->switches, t)) return t;
  return t + fmax(NEAR_JUMP * fabs(t), DBL_MIN);
}

static double before_jump(double t) {
  return t - NEAR_JUMP * fabs(t);
}

bool yoke_integrator_is_kicked(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  const yoke_equations *e = integrator->equations;
  if (e->n_motions == 0 || e->ops->is_kicked == NULL || e->switches == NULL) return false;
  if (!yoke_switches_jump_at(e->switches, state->t)) return false;
  return e->ops->is_kicked(e->self, before_jump(state->t), right_of_jump(e, state->t));
}

double yoke_integrator_motions_at(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  if (!yoke_integrator_is_kicked(integrator, state)) return state->t;
  return state->t_prev == state->t ? right_of_jump(integrator->equations, state->t) : before_jump(state->t);
}

/* ---- start and reset ---- */

/* `u` NULL stands for no inputs. */
static yoke_status check_inputs(const yoke_integrator *integrator, const yoke_signal **u_given, yoke_context *ctx) {
  const int nu = integrator->equations->nu;
  if (*u_given == NULL) *u_given = &yoke_signal_none;
  const yoke_signal *u = *u_given;
  if (u->n == nu) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE, "solver '%s': %d inputs were given, expected %d", integrator->ops->name, u->n,
                   nu);
}

/* Project q, v of a state that was reset, and compute a, lambda with the right limit of the inputs, unless the method does. The caller has
 * set t to that of the loads. */
static yoke_status make_consistent(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                   const yoke_signal *u, yoke_disturbance what, yoke_context *ctx) {
  const yoke_equations *e = integrator->equations;
  double               *q = yoke_integrator_q(integrator, state), *v = yoke_integrator_v(integrator, state);
  double               *u_now = common_u(integrator, scratch);
  if (e->nu > 0) yoke_signal_value(u, state->t, YOKE_SIDE_RIGHT, 0, u_now);

  /* A method that goes on from the derivative alone bears q and v as they are, moved by less than its errors. */
  const bool  is_light = yoke_integrator_at_work(integrator, state)->ops->ends_with_derivative;
  const bool  moves    = what == YOKE_STATE_RESET || (what == YOKE_STATE_NUDGED && !is_light);
  yoke_status status   = YOKE_OK;
  if (moves && e->ng + e->n_norms > 0) {
    status = e->ops->project_position(e->self, scratch, state->t, q);
    if (status == YOKE_OK) status = e->ops->project_velocity(e->self, scratch, state->t, q, v);
    if (status != YOKE_OK) {
      return yoke_fail(ctx, status, "solver '%s': q and v cannot be projected onto the constraints at t = %.9g s",
                       integrator->ops->name, state->t);
    }
  }
  double    *a            = yoke_integrator_a(integrator, state);
  const bool is_left_over = what == YOKE_INPUTS_JUMPED && is_light;
  if (is_left_over && e->ops->stage == NULL) return YOKE_OK; /* `disturb` of such a method evaluates all of it */
  if (is_left_over && e->ops->reinput != NULL) {
    status = e->ops->reinput(e->self, state->t, q, v, u_now, a);
  } else {
    status =
        e->ops->derivative(e->self, scratch, state->t, q, v, u_now, NULL, a, yoke_integrator_lambda(integrator, state));
  }
  ++state->counters.evaluations;
  if (status != YOKE_OK) {
    return yoke_fail(ctx, status, "solver '%s': accelerations cannot be computed at t = %.9g s (%s)",
                     integrator->ops->name, state->t, yoke_status_text(status));
  }
  return YOKE_OK;
}

yoke_status yoke_integrator_start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                  double t, const double *q, const double *v, const yoke_signal *u, yoke_context *ctx) {
  const yoke_equations *e = integrator->equations;
  YOKE_TRY(check_inputs(integrator, &u, ctx));
  if (!isfinite(t)) return yoke_fail(ctx, YOKE_E_USAGE, "solver '%s': start time is %g", integrator->ops->name, t);
  release_references(state);
  /* q and v may lie in this very state (a restart from itself) */
  memmove(yoke_integrator_q(integrator, state), q, (size_t)e->nq * sizeof *q);
  memmove(yoke_integrator_v(integrator, state), v, (size_t)e->nv * sizeof *v);
  memset(state, 0, sizeof *state);
  const size_t rest = integrator->at->a, tail = yoke_integrator_tail(integrator);
  memset((char *)state + rest, 0, yoke_integrator_fresh(integrator) - rest);
  memset((char *)state + tail, 0, integrator->state_size - tail);

  state->t           = t;
  state->t_prev      = t;
  state->t_look      = -(double)INFINITY;
  state->progress.t  = t;
  state->t           = right_of_jump(e, t);
  yoke_status status = make_consistent(integrator, scratch, state, u, YOKE_STATE_RESET, ctx);
  if (status != YOKE_OK) return status;
  status   = integrator->ops->start(integrator, scratch, state, u);
  state->t = t;
  if (status != YOKE_OK) {
    return yoke_fail(ctx, status, "solver '%s' cannot start at t = %.9g s (%s)", integrator->ops->name, t,
                     yoke_status_text(status));
  }
  return YOKE_OK;
}

static yoke_status tell_method(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                               const yoke_signal *u, yoke_disturbance what, yoke_context *ctx) {
  const yoke_equations *e = integrator->equations;
  const double          t = state->t, behind = right_of_jump(e, t);
  if (yoke_integrator_is_kicked(integrator, state)) {
    double *q = yoke_integrator_q(integrator, state), *v = yoke_integrator_v(integrator, state);
    YOKE_TRY(e->ops->kick(e->self, scratch, before_jump(t), behind, q, v));
    what = YOKE_STATE_RESET;
  }
  state->t                  = behind;
  state->t_prev             = state->t; /* nothing to interpolate before this point, and it is not disturbed twice */
  yoke_status status        = make_consistent(integrator, scratch, state, u, what, ctx);
  const bool  is_consistent = status == YOKE_OK;
  if (is_consistent) status = integrator->ops->disturb(integrator, scratch, state, u, what);
  state->t = state->t_prev = t;
  if (status == YOKE_OK || !is_consistent) return status;
  return yoke_fail(ctx, status, "solver '%s' cannot restart at t = %.9g s (%s)", integrator->ops->name, state->t,
                   yoke_status_text(status));
}

yoke_status yoke_integrator_reset(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                  const double *q, const double *v, const yoke_signal *u, yoke_context *ctx) {
  const yoke_equations *e = integrator->equations;
  YOKE_TRY(check_inputs(integrator, &u, ctx));
  memmove(yoke_integrator_q(integrator, state), q, (size_t)e->nq * sizeof *q);
  memmove(yoke_integrator_v(integrator, state), v, (size_t)e->nv * sizeof *v);
  return tell_method(integrator, scratch, state, u, YOKE_STATE_RESET, ctx);
}

yoke_status yoke_integrator_disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                    const yoke_signal *u, yoke_context *ctx) {
  YOKE_TRY(check_inputs(integrator, &u, ctx));
  return tell_method(integrator, scratch, state, u, YOKE_INPUTS_JUMPED, ctx);
}

yoke_status yoke_integrator_nudge(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                  const yoke_signal *u, yoke_context *ctx) {
  YOKE_TRY(check_inputs(integrator, &u, ctx));
  return tell_method(integrator, scratch, state, u, YOKE_STATE_NUDGED, ctx);
}

/* ---- shifts ---- */

bool yoke_integrator_can_shift(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  return yoke_integrator_at_work(integrator, state)->ops->renew != NULL;
}

yoke_status yoke_integrator_shift(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                  const double *dq, const double *dv, const yoke_signal *u) {
  const yoke_integrator *method = yoke_integrator_at_work(integrator, state);
  const yoke_equations  *e      = integrator->equations;
  const double           t      = state->t;
  double                *q = yoke_integrator_q(integrator, state), *v = yoke_integrator_v(integrator, state);
  YOKE_ASSERT(method->ops->renew != NULL);
  for (int i = 0; i < e->nq; ++i) q[i] += dq[i];
  for (int i = 0; i < e->nv; ++i) v[i] += dv[i];
  if (e->ng + e->n_norms > 0) {
    YOKE_TRY(e->ops->project_position(e->self, scratch, t, q));
    YOKE_TRY(e->ops->project_velocity(e->self, scratch, t, q, v));
  }
  state->t                 = left_of_jump(e, state->t_prev, t); /* invariant 6 */
  const yoke_status status = method->ops->renew(method, scratch, state, u != NULL ? u : &yoke_signal_none);
  state->t                 = t;
  return status;
}

/* ---- steps, stops and break points ---- */

/* Size of input i in a signal: of its values where pieces start, and of its rates, which rounding makes the larger the shorter a piece is. */
static double input_size(const yoke_signal *u, int i, int derivative) {
  const size_t stride = (size_t)u->degree + 1;
  double       size   = 0.0;
  for (int p = 0; p < u->n_pieces; ++p) {
    const double *c    = u->c + ((size_t)p * (size_t)u->n + (size_t)i) * stride;
    const double  rate = (u->degree > 0 ? fabs(c[1]) : 0.0) + fabs(c[0]) / (u->t[p + 1] - u->t[p]);
    size               = fmax(size, derivative == 0 ? fabs(c[0]) : rate);
  }
  return size;
}

/* Does an input or its first derivative jump at the interior break point t? Rounding differences do not count. */
static bool input_jumps(const yoke_signal *u, double t, double *left, double *right) {
  for (int derivative = 0; derivative <= 1; ++derivative) {
    yoke_signal_value(u, t, YOKE_SIDE_LEFT, derivative, left);
    yoke_signal_value(u, t, YOKE_SIDE_RIGHT, derivative, right);
    for (int i = 0; i < u->n; ++i) {
      if (yoke_is_jump(left[i], right[i], input_size(u, i, derivative))) return true;
    }
  }
  return false;
}

/* The last step ended at a point where the right-hand side is not smooth. A state that was started, reset or disturbed
 * here (t_prev == t) has taken the right limit already. */
static bool is_disturbed(const yoke_integrator *integrator, void *scratch, const yoke_integrator_state *state,
                         const yoke_signal *u) {
  if (state->t_prev == state->t) return false;
  const double before = nextafter(state->t, -(double)INFINITY);
  if (yoke_equations_next_break(integrator->equations, before) == state->t) return true;
  if (u->n == 0 || yoke_signal_next_break(u, before) != state->t) return false;
  double *left = common_u(integrator, scratch);
  return input_jumps(u, state->t, left, left + array_size(u->n + 1) / sizeof *left);
}

/* Steps of about `reach` are too short: who is to blame? */
static void add_blame(const yoke_integrator *integrator, void *scratch, const yoke_integrator_state *state,
                      const yoke_signal *u, double reach, yoke_context *ctx) {
  const yoke_equations *e     = integrator->equations;
  double               *u_now = common_u(integrator, scratch);
  char                  text[600];
  text[0] = '\0';
  if (e->ops->blame == NULL) return;
  if (e->nu > 0) yoke_signal_value(u, state->t, YOKE_SIDE_LEFT, 0, u_now);
  e->ops->blame(e->self, scratch, state->t, yoke_integrator_q(integrator, state), yoke_integrator_v(integrator, state),
                u_now, yoke_integrator_a(integrator, state), yoke_integrator_lambda(integrator, state), reach, text,
                sizeof text);
  if (text[0] != '\0') (void)yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL, "at t = %.9g s: %s", state->t, text);
}

/* A step was made on the way to t_stop, or not. */
static yoke_status watch_progress(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                  const yoke_signal *u, double t_stop, yoke_status status, yoke_context *ctx) {
  const yoke_counts *c     = &state->counters;
  const double       reach = 1e3 * DBL_EPSILON * fmax(fabs(state->t), t_stop - state->t);
  yoke_standstill    made;
  if (status == YOKE_E_STEP_TOO_SMALL) add_blame(integrator, scratch, state, u, reach, ctx);
  if (status != YOKE_OK || integrator->options.fixed_step > 0) return status;
  if (!yoke_progress_stands(&state->progress, state->t, t_stop, c->steps, c->rejected, &made)) return YOKE_OK;
  (void)yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL,
                  "solver '%s' does not get on: the last %lld steps and %lld rejected ones led from t = %.9g s %.3g s "
                  "further",
                  integrator->ops->name, (long long)made.steps, (long long)made.rejected, state->t - made.way,
                  made.way);
  add_blame(integrator, scratch, state, u, fmax(reach, made.way), ctx);
  return YOKE_E_STEP_TOO_SMALL;
}

yoke_status yoke_integrator_step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                 const yoke_signal *u, double t_stop, yoke_context *ctx) {
  YOKE_TRY(check_inputs(integrator, &u, ctx));
  if (t_stop == state->t) return YOKE_OK;
  if (!(t_stop > state->t)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "solver '%s': cannot step back from t = %.17g s to %.17g s",
                     integrator->ops->name, state->t, t_stop);
  }
  if (yoke_context_is_cancelled(ctx)) return YOKE_E_INTERRUPTED;
  if (is_disturbed(integrator, scratch, state, u))
    YOKE_TRY(tell_method(integrator, scratch, state, u, YOKE_INPUTS_JUMPED, ctx));

  /* Invariant 2 */
  double t_limit = fmin(t_stop, yoke_equations_next_break(integrator->equations, state->t));
  if (u->n > 0) t_limit = fmin(t_limit, yoke_signal_next_break(u, state->t));

  /* Invariant 6: between the limits, but nobody else sees them. */
  const double t = state->t, t_left = left_of_jump(integrator->equations, t, t_limit);
  const double t_right     = state->t_prev == t ? right_of_jump(integrator->equations, t) : t;
  state->t                 = t_right;
  const yoke_status status = integrator->ops->step(integrator, scratch, state, u, t_left, ctx);
  if (state->t == t_left) state->t = t_limit;
  if (state->t == t_right) state->t = t;
  if (state->t_prev == t_right) state->t_prev = t;
  return watch_progress(integrator, scratch, state, u, t_stop, status, ctx);
}

yoke_status yoke_integrator_advance(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                    const yoke_signal *u, double t_stop, yoke_context *ctx) {
  if (!(t_stop >= state->t) || isinf(t_stop)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "solver '%s': cannot advance from t = %.17g s to %.17g s",
                     integrator->ops->name, state->t, t_stop);
  }
  while (state->t < t_stop) YOKE_TRY(yoke_integrator_step(integrator, scratch, state, u, t_stop, ctx));
  return YOKE_OK;
}

bool yoke_integrator_has_inside(const yoke_integrator_state *state) {
  return state->t_look < (double)INFINITY;
}

void yoke_integrator_interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t,
                                 double *q, double *v) {
  const yoke_equations *e = integrator->equations;
  if (t == state->t || state->t_prev == state->t) {
    memcpy(q, yoke_integrator_q(integrator, state), (size_t)e->nq * sizeof *q);
    memcpy(v, yoke_integrator_v(integrator, state), (size_t)e->nv * sizeof *v);
    return;
  }
  integrator->ops->interpolate(integrator, state, t, q, v);
}

const yoke_integrator *yoke_integrator_at_work(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  return integrator->ops->at_work != NULL ? integrator->ops->at_work(integrator, state) : integrator;
}

const char *yoke_integrator_method_at_work(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  return yoke_integrator_at_work(integrator, state)->ops->name;
}

void yoke_integrator_copy(const yoke_integrator *integrator, yoke_integrator_state *dst,
                          const yoke_integrator_state *src) {
  if (dst == src || integrator->ops->no_copy) return;
  for (int i = 0; i < 2; ++i) {
    if (dst->factor[i] == src->factor[i]) { /* as in most repeated steps: the reference goes on, no count is touched */
      dst->factor[i] = NULL;
    } else {
      (void)yoke_factor_retain(src->factor[i]);
    }
  }
  release_references(dst);
  const size_t tail = yoke_integrator_tail(integrator);
  memcpy(dst, src, yoke_integrator_used(integrator, src));
  memcpy((char *)dst + tail, (const char *)src + tail, integrator->state_size - tail);
}

double yoke_error_norm(int n, const double *e, const double *y0, const double *y1, double atol, double rtol,
                       const uint8_t *weight) {
  double sum   = 0;
  int    count = 0;
  for (int i = 0; i < n; ++i) {
    if (weight != NULL && weight[i] == 0) continue;
    const double scale = atol + rtol * fmax(fabs(y0[i]), fabs(y1[i]));
    const double r     = e[i] / scale;
    sum += r * r;
    ++count;
  }
  return count > 0 ? sqrt(sum / count) : 0;
}

double yoke_singular_rtol(double rtol) {
  const double loose = 1e3, least = 1e-7, most = 1e-5;
  return fmax(rtol, fmin(most, fmax(loose * rtol, least)));
}
