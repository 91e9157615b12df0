/* Native subsystem.
 *
 * State: the integrator's own block, then
 *   u, u' [nu]           inputs at the state's time as the last step (or the start) saw them: a step whose inputs begin
 *                        elsewhere tells the integrator that they jumped or kinked
 *   base [n_integrals]   quadratures of the ports' positions when the last step was accepted
 *   old, dead [n_events] and native_found (if there are events): event functions and what was found of them in the last step
 * Scratch: the integrator's, then arrays of inputs, accelerations and multipliers. */
#include "subsystem/native.h"

#include "base/memory.h"
#include "integrate/event_search.h"
#include "integrate/solver_options.h"
#include "model/assembly.h"
#include "model/prescribed.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Crossings of event functions in the last step. */
typedef struct native_found {
  int              n;
  bool             is_fresh; /* the next micro step is the first, or the first behind an event */
  double           until;    /* what lies behind did not fit; +infinity: all did */
  yoke_found_event list[];   /* [YOKE_MAX_FOUND + n_events] */
} native_found;

typedef struct native {
  const yoke_model       *model;
  yoke_equations          equations;
  yoke_multibody         *mb; /* lives as long as the equations */
  yoke_integrator        *integrator;
  double                 *q_start, *v_start; /* [nq], [nv] consistent start */
  int                     n_ports, n_integrals;
  const yoke_port_shape **port_shape;             /* [n_ports] */
  bool                    has_extras;             /* of some port */
  yoke_input_kind        *input_kind;             /* [nu] */
  int                     i_integral;             /* first quadrature of the ports in q */
  size_t                  at_u, at_rate, at_base; /* bytes into the state */
  size_t                  at_left, at_a, at_a2, at_terms, at_lambda, at_lambda_0; /* bytes into the scratch */
  bool                    is_prescribed, has_image;          /* motion given; ports with an image */
  size_t                  at_q, at_v;                        /* bytes into the scratch: other places */
  int                    *direction;                         /* [n_events] */
  size_t                  at_old, at_dead, at_found;         /* bytes into the state */
  size_t at_now, at_before, at_event_q, at_event_v, at_time; /* bytes into the scratch; only with events */
} native;

static const native *of(const yoke_subsystem *subsystem) {
  return yoke_subsystem_bare(subsystem)->self;
}

static double *doubles(const void *block, size_t at) {
  return (double *)(void *)((char *)(uintptr_t)block + at);
}

static size_t reserve(size_t *size, int n) {
  const size_t at = *size;
  *size += ((size_t)n * sizeof(double) + 63) / 64 * 64;
  return at;
}

/* ---- inputs ---- */

/* Do the inputs at t differ from those that the state has seen? Rounding differences do not count. */
static bool inputs_jump(const native *n, void *scratch, const void *state, const yoke_signal *u, double t) {
  const size_t at[2] = {n->at_u, n->at_rate};
  double      *now   = doubles(scratch, n->at_left);
  for (int derivative = 0; derivative <= 1; ++derivative) {
    const double *seen = doubles(state, at[derivative]);
    yoke_signal_value(u, t, YOKE_SIDE_RIGHT, derivative, now);
    for (int i = 0; i < n->equations.nu; ++i) {
      if (!(fabs(now[i] - seen[i]) <= 1e-11 * fmax(fabs(now[i]), fabs(seen[i])))) return true;
    }
  }
  return false;
}

static void remember_inputs(const native *n, void *state, const yoke_signal *u, double t, yoke_side side) {
  if (n->equations.nu == 0) return;
  yoke_signal_value(u, t, side, 0, doubles(state, n->at_u));
  yoke_signal_value(u, t, side, 1, doubles(state, n->at_rate));
}

/* ---- events ---- */

static yoke_event_search search_of(const native *n, void *scratch, const void *state) {
  return (yoke_event_search){.n         = n->equations.n_events,
                             .direction = n->direction,
                             .old       = doubles(state, n->at_old),
                             .dead      = doubles(state, n->at_dead),
                             .now       = doubles(scratch, n->at_now),
                             .before    = doubles(scratch, n->at_before),
                             .time      = doubles(scratch, n->at_time),
                             .q         = doubles(scratch, n->at_event_q),
                             .v         = doubles(scratch, n->at_event_v)};
}

static native_found *found_of(const native *n, const void *state) {
  return (native_found *)(void *)((char *)(uintptr_t)state + n->at_found);
}

/* Crossings of a part of the last micro step: all of them or, when they might not fit, none. There is room for the first part. */
static void note_part(const yoke_event_search *search, const yoke_event_part *part, native_found *found) {
  if (found->n > YOKE_MAX_FOUND) found->until = fmin(found->until, part->from);
  for (int k = 0; isinf(found->until) && k < search->n; ++k) {
    if (search->time[k] <= part->to) found->list[found->n++] = (yoke_found_event){k, search->time[k]};
  }
}

/* Crossings of the last micro step, part by part. */
static void note_found(const native *n, const yoke_event_search *search, const yoke_integrator_state *state,
                       native_found *found) {
  yoke_event_part part = yoke_event_first_part(search, n->integrator, state);
  while (yoke_event_next_part(state, found->is_fresh, &part)) {
    if (yoke_event_search_part(search, n->integrator, state, &part)) note_part(search, &part, found);
    yoke_event_search_move(search);
  }
  found->is_fresh = false;
}

static void begin_events(const native *n, void *scratch, void *state) {
  if (n->equations.n_events == 0) return;
  const yoke_event_search search = search_of(n, scratch, state);
  yoke_event_search_begin(&search, n->integrator, state);
  found_of(n, state)->is_fresh = true;
}

/* As yoke_integrator_advance, and every micro step is searched. */
static yoke_status advance_with_events(const native *n, void *scratch, yoke_integrator_state *state,
                                       const yoke_signal *u, double t_stop, yoke_context *ctx) {
  const yoke_event_search search = search_of(n, scratch, state);
  native_found           *found  = found_of(n, state);
  found->n                       = 0;
  found->until                   = (double)INFINITY;
  while (state->t < t_stop) {
    YOKE_TRY(yoke_integrator_step(n->integrator, scratch, state, u, t_stop, ctx));
    note_found(n, &search, state, found);
  }
  return YOKE_OK;
}

static yoke_found_events native_events(const yoke_subsystem *subsystem, const void *state) {
  const native *n = subsystem->self;
  if (n->equations.n_events == 0) return (yoke_found_events){.until = (double)INFINITY};
  const native_found *found = found_of(n, state);
  return (yoke_found_events){.n = found->n, .list = found->list, .until = found->until};
}

static double native_event_ahead(const yoke_subsystem *subsystem, void *scratch, const void *state, int event) {
  const native           *n      = subsystem->self;
  const yoke_event_search search = search_of(n, scratch, state);
  return yoke_event_search_secant(&search, n->integrator, state, event);
}

static void native_event_done(const yoke_subsystem *subsystem, void *scratch, void *state, int event) {
  const native           *n      = subsystem->self;
  const yoke_event_search search = search_of(n, scratch, state);
  yoke_event_search_done(&search, n->integrator, state, event);
  found_of(n, state)->is_fresh = true;
}

/* ---- calls ---- */

static yoke_status native_start(const yoke_subsystem *subsystem, void *scratch, void *state, double t,
                                const yoke_signal *u, yoke_context *ctx) {
  const native *n = subsystem->self;
  memset((char *)state + n->at_u, 0, subsystem->state_size - n->at_u);
  const yoke_status status = yoke_integrator_start(n->integrator, scratch, state, t, n->q_start, n->v_start, u, ctx);
  if (status != YOKE_OK) return yoke_fail(ctx, status, "subsystem '%s' cannot start at t = %.9g s", subsystem->name, t);
  remember_inputs(n, state, u, t, YOKE_SIDE_RIGHT);
  begin_events(n, scratch, state);
  return YOKE_OK;
}

static yoke_status native_assign(const yoke_subsystem *subsystem, void *scratch, void *state, const double *q,
                                 const double *v, const yoke_signal *u, yoke_context *ctx) {
  const native                *n    = subsystem->self;
  yoke_integrator_state *const head = state;
  YOKE_TRY(yoke_integrator_reset(n->integrator, scratch, head, q, v, u, ctx));
  remember_inputs(n, state, u, head->t, YOKE_SIDE_RIGHT);
  begin_events(n, scratch, state);
  return YOKE_OK;
}

static yoke_status native_disturb(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                                  yoke_context *ctx) {
  const native                *n    = subsystem->self;
  yoke_integrator_state *const head = state;
  YOKE_TRY(yoke_integrator_disturb(n->integrator, scratch, head, u, ctx));
  remember_inputs(n, state, u, head->t, YOKE_SIDE_RIGHT);
  return YOKE_OK;
}

static yoke_status native_step(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                               double t, double H, yoke_context *ctx) {
  const native                *n    = subsystem->self;
  yoke_integrator_state *const head = state;
  if (head->t != t) {
    return yoke_fail(ctx, YOKE_E_USAGE, "subsystem '%s': a step starts at t = %.17g s but its state is at %.17g s",
                     subsystem->name, t, head->t);
  }
  yoke_status status = YOKE_OK;
  if (inputs_jump(n, scratch, state, u, t)) status = yoke_integrator_disturb(n->integrator, scratch, head, u, ctx);
  if (status == YOKE_OK) {
    status = n->equations.n_events > 0
                 ? advance_with_events(n, scratch, head, u, yoke_step_end(u, t, H), ctx)
                 : yoke_integrator_advance(n->integrator, scratch, head, u, yoke_step_end(u, t, H), ctx);
  }
  if (status != YOKE_OK) {
    return yoke_fail(ctx, status, "subsystem '%s': the step of %.6g s from t = %.9g s failed: %s", subsystem->name, H,
                     t, yoke_status_text(status));
  }
  remember_inputs(n, state, u, yoke_step_end(u, t, H), YOKE_SIDE_LEFT);
  if (!n->is_prescribed) return YOKE_OK;
  /* Shown is what the equations have seen; to them it makes no difference. */
  status = yoke_multibody_prescribe(n->mb, scratch, head->t, doubles(state, n->at_u),
                                    yoke_integrator_q(n->integrator, head), yoke_integrator_v(n->integrator, head));
  if (status == YOKE_OK) return YOKE_OK;
  return yoke_fail(ctx, status, "subsystem '%s': its bodies cannot follow the motion prescribed at t = %.9g s",
                   subsystem->name, head->t);
}

/* Where outputs are taken: the state's own q and v, or where prescribed motions u put them. */
typedef struct place {
  const double *q, *v;
} place;

static yoke_status find_place(const native *n, void *scratch, const void *state, const double *u, place *out) {
  const yoke_integrator_state *head = state;
  *out = (place){yoke_integrator_q(n->integrator, head), yoke_integrator_v(n->integrator, head)};
  if (!n->is_prescribed) return YOKE_OK;
  double *q = doubles(scratch, n->at_q), *v = doubles(scratch, n->at_v);
  memcpy(q, out->q, (size_t)n->equations.nq * sizeof *q);
  memcpy(v, out->v, (size_t)n->equations.nv * sizeof *v);
  *out = (place){q, v};
  return yoke_multibody_prescribe(n->mb, scratch, head->t, u, q, v);
}

/* Accelerations a [nv] at the place under the left limit of the inputs, which stay in the scratch at at_left. */
static yoke_status accelerations(const native *n, void *scratch, const void *state, const place *at, const double *u,
                                 double *a) {
  const yoke_equations *e = &n->equations;
  return e->ops->derivative(e->self, scratch, ((const yoke_integrator_state *)state)->t, at->q, at->v, u, NULL, a,
                            doubles(scratch, n->at_lambda));
}

/* Acceleration [6, by freedom] of port k at its image. */
static yoke_status show_image(const native *n, void *scratch, const void *state, int k, const double *u, double *out) {
  const double t = ((const yoke_integrator_state *)state)->t;
  double      *q = doubles(scratch, n->at_q), *v = doubles(scratch, n->at_v), *a = doubles(scratch, n->at_a2);
  double       y[YOKE_PORT_MAX_Y];
  const place  image = {q, v};
  memcpy(q, yoke_integrator_q(n->integrator, state), (size_t)n->equations.nq * sizeof *q);
  memcpy(v, yoke_integrator_v(n->integrator, state), (size_t)n->equations.nv * sizeof *v);
  YOKE_TRY(yoke_multibody_move_port(n->mb, scratch, k, t, u, q, v));
  YOKE_TRY(accelerations(n, scratch, state, &image, u, a));
  yoke_multibody_port(n->mb, scratch, k, q, v, a, y);
  yoke_shape_spread(n->port_shape[k], y + yoke_shape_at_a(n->port_shape[k]), out);
  return YOKE_OK;
}

/* Images of all ports that have one: the last of their extras. The multipliers of `accelerations` are lost. */
static yoke_status show_images(const native *n, void *scratch, const void *state, const double *u, double *y) {
  for (int k = 0; n->has_image && k < n->n_ports; ++k) {
    y += yoke_shape_n_y(n->port_shape[k]) + yoke_multibody_n_extras(n->mb, k);
    if (yoke_multibody_has_image(n->mb, k)) YOKE_TRY(show_image(n, scratch, state, k, u, y - 6));
  }
  return YOKE_OK;
}

/* Extras of all ports behind their other outputs, for the inputs u and the multipliers that `accelerations` left. */
static yoke_status show_extras(const native *n, void *scratch, const void *state, const place *at, const double *u,
                               double *y) {
  const double *lambda = doubles(scratch, n->at_lambda);
  const double  t      = ((const yoke_integrator_state *)state)->t;
  for (int k = 0; n->has_extras && k < n->n_ports; ++k) {
    y += yoke_shape_n_y(n->port_shape[k]);
    YOKE_TRY(yoke_multibody_extras(n->mb, scratch, k, t, at->q, u, lambda, y));
    y += yoke_multibody_n_extras(n->mb, k);
  }
  return YOKE_OK;
}

static void show_ports(const native *n, void *scratch, const void *state, const place *at, const double *a, double *y) {
  const double *base = doubles(state, n->at_base);
  for (int k = 0; k < n->n_ports; ++k) {
    const int count = n->port_shape[k]->n_integrals;
    yoke_multibody_port(n->mb, scratch, k, at->q, at->v, a, y);
    y += yoke_shape_n_y(n->port_shape[k]);
    for (int i = 0; n->n_integrals > 0 && i < count; ++i) y[i - count] -= *base++;
    y += yoke_multibody_n_extras(n->mb, k);
  }
}

static yoke_status native_output(const yoke_subsystem *subsystem, void *scratch, const void *state,
                                 const yoke_signal *u, double *y) {
  const native                *n    = subsystem->self;
  const yoke_integrator_state *head = state;
  double                      *left = doubles(scratch, n->at_left), *a = doubles(scratch, n->at_a);
  if (n->equations.nu > 0) yoke_signal_value(u, head->t, YOKE_SIDE_LEFT, 0, left);
  place at;
  YOKE_TRY(find_place(n, scratch, state, left, &at));
  YOKE_TRY(accelerations(n, scratch, state, &at, left, a));
  show_ports(n, scratch, state, &at, a, y);
  YOKE_TRY(show_extras(n, scratch, state, &at, left, y));
  return show_images(n, scratch, state, left, y);
}

static void native_copy(const yoke_subsystem *subsystem, void *dst, const void *src) {
  const native *n = subsystem->self;
  if (dst == src) return;
  yoke_integrator_copy(n->integrator, dst, src);
  memcpy((char *)dst + n->at_u, (const char *)src + n->at_u, subsystem->state_size - n->at_u);
}

static void native_accept(const yoke_subsystem *subsystem, void *state) {
  const native *n = subsystem->self;
  if (n->n_integrals == 0) return;
  memcpy(doubles(state, n->at_base), yoke_integrator_q(n->integrator, state) + n->i_integral,
         (size_t)n->n_integrals * sizeof(double));
}

static void native_release(const yoke_subsystem *subsystem, void *state) {
  yoke_integrator_state *head = state;
  (void)subsystem;
  for (int i = 0; i < 2; ++i) yoke_factor_release(&head->factor[i]);
  if (head->release != NULL) head->release(head->foreign);
  head->foreign = NULL;
  head->release = NULL;
}

static void native_counters(const yoke_subsystem *subsystem, const void *state, yoke_counters *out) {
  (void)subsystem;
  *out = ((const yoke_integrator_state *)state)->counters;
}

static double largest(int n, const double *x) {
  double size = 0.0;
  for (int i = 0; i < n; ++i) size = fmax(size, fabs(x[i]));
  return size;
}

/* Outputs whose accelerations are those that the ports show for accelerations a of the bodies; the others are 0. */
static void show_accelerations(const native *n, void *scratch, const void *state, const double *a, double *out) {
  const double *q = yoke_integrator_q(n->integrator, state), *v = yoke_integrator_v(n->integrator, state);
  for (int k = 0; k < n->n_ports; ++k) {
    const int at_a = yoke_shape_at_a(n->port_shape[k]), at_integral = yoke_shape_at_integral(n->port_shape[k]);
    const int n_y = yoke_shape_n_y(n->port_shape[k]) + yoke_multibody_n_extras(n->mb, k);
    yoke_multibody_port(n->mb, scratch, k, q, v, a, out);
    for (int i = 0; i < n_y; ++i) {
      if (i < at_a || i >= at_integral) out[i] = 0.0;
    }
    out += n_y;
  }
}

/* Do the accelerations depend on an input of this kind as on a force? */
static bool is_affine(yoke_input_kind kind) {
  return kind == YOKE_INPUT_FORCE || kind == YOKE_INPUT_LAMBDA || kind == YOKE_INPUT_ROW_ACCELERATION ||
         kind == YOKE_INPUT_ROW_ACCELERATION_BARE || kind == YOKE_INPUT_PRESCRIBED;
}

/* Change of the reactions, which are extras and as linear as the accelerations, from the multipliers before (`old`) and after. */
static void show_reactions(const native *n, const double *old, const double *now, double change, double *out) {
  for (int k = 0; n->has_extras && k < n->n_ports; ++k) {
    out += yoke_shape_n_y(n->port_shape[k]);
    yoke_multibody_reaction(n->mb, k, old, now, change, out);
    out += yoke_multibody_n_extras(n->mb, k);
  }
}

/* a is linear in forces and multipliers, so one difference for each is exact up to rounding; a second one of the size of a
 * itself where a unit force is lost in a. Rows of inputs that move ghosts are 0. */
static yoke_status native_compliance(const yoke_subsystem *subsystem, void *scratch, const void *state,
                                     const yoke_signal *u, double *da_du) {
  const native                *n    = subsystem->self;
  const yoke_integrator_state *head = state;
  const int                    nv = n->equations.nv, ny = subsystem->ny;
  double *left = doubles(scratch, n->at_left), *a = doubles(scratch, n->at_a), *a2 = doubles(scratch, n->at_a2);
  double *terms = doubles(scratch, n->at_terms); /* w x (w x c): what ports show without accelerations of bodies */
  memset(a2, 0, (size_t)nv * sizeof *a2);
  show_accelerations(n, scratch, state, a2, terms);
  if (subsystem->nu > 0) yoke_signal_value(u, head->t, YOKE_SIDE_LEFT, 0, left);
  const place at = {yoke_integrator_q(n->integrator, head), yoke_integrator_v(n->integrator, head)};
  YOKE_TRY(accelerations(n, scratch, state, &at, left, a));
  double *lambda = doubles(scratch, n->at_lambda), *lambda_0 = doubles(scratch, n->at_lambda_0);
  memcpy(lambda_0, lambda, (size_t)yoke_n_multipliers(&n->equations) * sizeof *lambda);
  for (int j = 0; j < subsystem->nu; ++j) {
    const double u_j      = left[j];
    const bool   is_force = is_affine(n->input_kind[j]); /* else a ghost, whose law may be nonlinear: a small change */
    double      *row = da_du + (size_t)j * (size_t)ny, delta = is_force ? 1.0 : 1e-6 * fmax(1.0, fabs(u_j));
    double       last = 1.0;
    for (int k = 0; k < ny; ++k) row[k] = 0.0;
    for (int pass = 0; pass < 2; ++pass) {
      left[j]             = u_j + delta;
      const double change = left[j] - u_j; /* what was really added */
      last                = change;
      YOKE_TRY(accelerations(n, scratch, state, &at, left, a2));
      for (int i = 0; i < nv; ++i) a2[i] = (a2[i] - a[i]) / change;
      const double size = largest(nv, a2), wanted = fmax(largest(nv, a), fabs(u_j) * size);
      if (!is_force || size * delta >= 0.1 * wanted || size == 0.0) break;
      delta = wanted / size;
    }
    left[j] = u_j;
    show_accelerations(n, scratch, state, a2, row);
    for (int k = 0; k < ny; ++k) row[k] -= terms[k];
    show_reactions(n, lambda_0, lambda, last, row);
  }
  return YOKE_OK;
}

/* ---- the state as a vector: q without quadratures, then v ---- */

static int native_n_x(const yoke_subsystem *subsystem) {
  const native         *n = subsystem->self;
  const yoke_equations *e = &n->equations;
  return e->ng + e->n_norms > 0 ? -1 : e->nq - e->n_quadratures + e->nv;
}

static void native_get_x(const yoke_subsystem *subsystem, const void *state, double *x) {
  const native *n  = subsystem->self;
  const int     nq = n->equations.nq - n->equations.n_quadratures;
  memcpy(x, yoke_integrator_q(n->integrator, state), (size_t)nq * sizeof *x);
  memcpy(x + nq, yoke_integrator_v(n->integrator, state), (size_t)n->equations.nv * sizeof *x);
}

/* The inputs stay those that the state has seen. */
static yoke_status native_set_x(const yoke_subsystem *subsystem, void *scratch, void *state, const double *x) {
  const native          *n    = subsystem->self;
  const yoke_equations  *e    = &n->equations;
  yoke_integrator_state *head = state;
  const int              nq   = e->nq - e->n_quadratures;
  const double           t[2] = {head->t, head->t + 1.0};
  const yoke_signal      held = {.n = e->nu, .n_pieces = 1, .degree = 0, .t = t, .c = doubles(state, n->at_u)};
  double                *q    = yoke_integrator_q(n->integrator, head);
  memcpy(q, x, (size_t)nq * sizeof *q);
  memset(q + nq, 0, (size_t)e->n_quadratures * sizeof *q);
  memset(doubles(state, n->at_base), 0, (size_t)n->n_integrals * sizeof *q);
  memcpy(yoke_integrator_v(n->integrator, head), x + nq, (size_t)e->nv * sizeof *q);
  return yoke_integrator_reset(n->integrator, scratch, head, q, yoke_integrator_v(n->integrator, head), &held, NULL);
}

/* ---- resets ---- */

static yoke_status native_row_response(const yoke_subsystem *subsystem, void *scratch, const void *state, int count,
                                       const yoke_port_row *rows, double *W) {
  const native *n = subsystem->self;
  const double *q = yoke_integrator_q(n->integrator, state);
  return yoke_multibody_row_response(n->mb, scratch, ((const yoke_integrator_state *)state)->t, q, count, rows, W);
}

/* q := q (+) response to `move`, then v += response to `kick`; both back onto the own joints. */
static yoke_status native_push(const yoke_subsystem *subsystem, void *scratch, void *state, int count,
                               const yoke_port_row *rows, const double *move, const double *kick) {
  const native         *n = subsystem->self;
  const yoke_equations *e = &n->equations;
  const double          t = ((const yoke_integrator_state *)state)->t;
  double               *q = yoke_integrator_q(n->integrator, state), *v = yoke_integrator_v(n->integrator, state);
  double               *dv = doubles(scratch, n->at_a);
  if (move != NULL) {
    YOKE_TRY(yoke_multibody_row_push(n->mb, scratch, t, q, count, rows, move, dv));
    yoke_multibody_move(n->mb, q, dv);
    if (e->ng + e->n_norms > 0) YOKE_TRY(e->ops->project_position(e->self, scratch, t, q));
  }
  if (e->ng + e->n_norms > 0) YOKE_TRY(e->ops->project_velocity(e->self, scratch, t, q, v));
  if (kick == NULL) return YOKE_OK;
  YOKE_TRY(yoke_multibody_row_push(n->mb, scratch, t, q, count, rows, kick, dv));
  for (int i = 0; i < e->nv; ++i) v[i] += dv[i];
  return YOKE_OK;
}

static yoke_status native_reset(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                                yoke_context *ctx) {
  const native                *n    = subsystem->self;
  yoke_integrator_state *const head = state;
  return yoke_integrator_reset(n->integrator, scratch, head, yoke_integrator_q(n->integrator, head),
                               yoke_integrator_v(n->integrator, head), u, ctx);
}

/* ---- creation ---- */

static void native_destroy(yoke_subsystem *subsystem) {
  native *n = subsystem->self;
  yoke_integrator_destroy(&n->integrator);
  if (n->equations.ops != NULL) yoke_equations_destroy(&n->equations);
  yoke_subsystem_free(subsystem);
}

static const yoke_subsystem_ops native_ops = {
    .kind         = "native",
    .destroy      = native_destroy,
    .start        = native_start,
    .step         = native_step,
    .output       = native_output,
    .copy         = native_copy,
    .accept       = native_accept,
    .disturb      = native_disturb,
    .counters     = native_counters,
    .compliance   = native_compliance,
    .row_response = native_row_response,
    .push         = native_push,
    .reset        = native_reset,
    .release      = native_release,
    .n_x          = native_n_x,
    .get_x        = native_get_x,
    .set_x        = native_set_x,
    .events       = native_events,
    .event_ahead  = native_event_ahead,
    .event_done   = native_event_done,
    .assign       = native_assign,
};

/* Integrators whose state cannot be copied: no way back. */
static const yoke_subsystem_ops forward_ops = {
    .kind        = "native",
    .destroy     = native_destroy,
    .start       = native_start,
    .step        = native_step,
    .output      = native_output,
    .accept      = native_accept,
    .disturb     = native_disturb,
    .counters    = native_counters,
    .compliance  = native_compliance,
    .release     = native_release,
    .events      = native_events,
    .event_ahead = native_event_ahead,
    .event_done  = native_event_done,
    .assign      = native_assign,
};

static void lay_out(native *n, yoke_subsystem *s) {
  const yoke_equations *e = &n->equations;
  s->state_size           = n->integrator->state_size;
  n->at_u                 = reserve(&s->state_size, e->nu);
  n->at_rate              = reserve(&s->state_size, e->nu);
  n->at_base              = reserve(&s->state_size, n->n_integrals);
  n->at_old               = reserve(&s->state_size, e->n_events);
  n->at_dead              = reserve(&s->state_size, e->n_events);
  const size_t found      = sizeof(native_found) + (YOKE_MAX_FOUND + (size_t)e->n_events) * sizeof(yoke_found_event);
  n->at_found             = reserve(&s->state_size, e->n_events > 0 ? (int)(found / sizeof(double)) + 1 : 0);
  s->scratch_size         = (n->integrator->scratch_size + 63) / 64 * 64;
  n->at_left              = reserve(&s->scratch_size, e->nu);
  n->at_a                 = reserve(&s->scratch_size, e->nv);
  n->at_a2                = reserve(&s->scratch_size, e->nv);
  n->at_lambda            = reserve(&s->scratch_size, yoke_n_multipliers(e));
  n->at_lambda_0          = reserve(&s->scratch_size, yoke_n_multipliers(e));
  n->at_terms             = reserve(&s->scratch_size, s->ny);
  n->at_q                 = reserve(&s->scratch_size, n->is_prescribed || n->has_image ? e->nq : 0);
  n->at_v                 = reserve(&s->scratch_size, n->is_prescribed || n->has_image ? e->nv : 0);
  n->at_now               = reserve(&s->scratch_size, e->n_events);
  n->at_before            = reserve(&s->scratch_size, e->n_events);
  n->at_time              = reserve(&s->scratch_size, e->n_events);
  n->at_event_q           = reserve(&s->scratch_size, e->n_events > 0 ? e->nq : 0);
  n->at_event_v           = reserve(&s->scratch_size, e->n_events > 0 ? e->nv : 0);
}

static void count_ports(native *n, yoke_subsystem *s, const yoke_native_def *def) {
  n->n_ports = def->n_ports;
  for (int k = 0; k < def->n_ports; ++k) {
    const int              body  = def->model->frames[def->port_frame[k]].body;
    const yoke_port_shape *shape = yoke_body_shape(body >= 0 ? def->model->bodies[body].kind : YOKE_BODY_RIGID);
    n->port_shape[k]             = shape;
    if (!def->no_integrals) n->n_integrals += shape->n_integrals;
    s->ny += yoke_shape_n_y(shape) + yoke_multibody_n_extras(n->mb, k);
    n->has_extras = n->has_extras || yoke_multibody_n_extras(n->mb, k) > 0;
    n->has_image  = n->has_image || yoke_multibody_has_image(n->mb, k);
  }
  n->i_integral = n->equations.nq - n->equations.n_quadratures; /* the first quadratures */
}

/* Guided rows must be free: a body that its own joints hold cannot follow them. */
static yoke_status check_guided(yoke_context *ctx, const native *n, void *work) {
  char      label[32];
  int       side;
  const int c = yoke_multibody_stuck_guide(n->mb, work, n->model->t_start, n->q_start, label, sizeof label, &side);
  if (c < 0) return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_MODEL,
      "joint '%s': side %d cannot follow its row '%s', because other joints or couplings of its subsystem decide "
      "that motion; %s",
      n->model->connections[c].name, side + 1, label,
      yoke_multibody_is_prescribed(n->mb)
          ? "let the other side be prescribed, or use formulation stabilized-index-2"
          : "let the other side be the displacement side, or use decomposition force/force");
}

/* Positions and velocities that fit the joints, and the rows that follow from others (as in a run of a whole model). */
static yoke_status find_start(yoke_context *ctx, native *n, yoke_arena *arena) {
  const yoke_equations *e        = &n->equations;
  yoke_assembly         assembly = {0};
  void                 *work     = yoke_allocate(1, e->work_size + 1);
  n->q_start                     = yoke_arena_take(arena, (size_t)e->nq + 1, sizeof *n->q_start);
  n->v_start                     = yoke_arena_take(arena, (size_t)e->nv + 1, sizeof *n->v_start);
  yoke_status status             = work == NULL || arena->has_failed ? YOKE_E_MEMORY : YOKE_OK;
  if (status == YOKE_OK) {
    yoke_multibody_initial_guess(n->mb, n->q_start, n->v_start);
    if (e->ng > 0) {
      status = yoke_assembly_solve(ctx, n->model, n->mb, e, work, n->model->t_start, n->q_start, n->v_start, &assembly);
      if (status == YOKE_OK) yoke_multibody_retire(n->mb, assembly.n_redundant, assembly.redundant);
    }
  }
  if (status == YOKE_OK) status = check_guided(ctx, n, work);
  yoke_assembly_clear(&assembly);
  free(work);
  return status;
}

/* Motion that is prescribed is built into the equations. */
static yoke_status prescribe(yoke_context *ctx, native *n) {
  yoke_equations base = n->equations;
  n->is_prescribed    = true;
  n->equations        = (yoke_equations){0};
  return yoke_prescribed_create(ctx, &base, n->mb, &n->equations);
}

static yoke_status build(yoke_context *ctx, const yoke_native_def *def, native *n, yoke_subsystem *s) {
  yoke_integrator_options      solver  = yoke_solver_options(&def->model->solver);
  const yoke_multibody_options options = {.n_ports        = def->n_ports,
                                          .port_frame     = def->port_frame,
                                          .port_request   = def->port_request,
                                          .port_integrals = !def->no_integrals,
                                          .n_integrals    = def->n_integrals,
                                          .integrals      = def->integrals,
                                          .n_inputs       = def->n_inputs,
                                          .inputs         = def->inputs,
                                          .alpha          = solver.alpha,
                                          .beta           = solver.beta};
  solver.dense                         = def->model->n_events > 0; /* else nobody looks between macro points */
  n->model                             = def->model;
  YOKE_TRY(yoke_multibody_create(ctx, def->model, &options, &n->equations, &n->mb));
  const bool is_prescribed = yoke_multibody_is_prescribed(n->mb);
  if (is_prescribed) {
    YOKE_TRY(find_start(ctx, n, &s->arena));
    YOKE_TRY(prescribe(ctx, n));
  }
  YOKE_TRY(yoke_integrator_create(ctx, def->model->solver.kind, &n->equations, &solver, &n->integrator));
  if (!is_prescribed) YOKE_TRY(find_start(ctx, n, &s->arena));
  s->nu = def->n_inputs;
  for (int i = 0; i < def->n_inputs; ++i) n->input_kind[i] = def->inputs[i].kind;
  count_ports(n, s, def);
  lay_out(n, s);
  for (int k = 0; k < n->equations.n_events; ++k) n->direction[k] = def->model->events[k].direction;
  s->ops = n->integrator->ops->no_copy ? &forward_ops : &native_ops;
  return YOKE_OK;
}

yoke_status yoke_native_create(yoke_context *ctx, const yoke_native_def *def, yoke_subsystem **out) {
  yoke_subsystem *s = NULL;
  *out              = NULL;
  YOKE_TRY(yoke_subsystem_new(ctx, def->name, sizeof(native), &s));
  native *n          = s->self;
  s->ops             = &native_ops;
  n->port_shape      = yoke_arena_take(&s->arena, (size_t)def->n_ports + 1, sizeof *n->port_shape);
  n->input_kind      = yoke_arena_take(&s->arena, (size_t)def->n_inputs + 1, sizeof *n->input_kind);
  n->direction       = yoke_arena_take(&s->arena, (size_t)def->model->n_events + 1, sizeof *n->direction);
  yoke_status status = yoke_arena_check(&s->arena, ctx, "subsystem '%s'", def->name);
  if (status == YOKE_OK) status = build(ctx, def, n, s);
  if (status != YOKE_OK) {
    yoke_subsystem_destroy(&s);
    return yoke_fail(ctx, status, "subsystem '%s' cannot be built: %s", def->name, yoke_status_text(status));
  }
  *out = s;
  return YOKE_OK;
}

/* ---- inside ---- */

const yoke_model *yoke_native_model(const yoke_subsystem *subsystem) {
  return of(subsystem)->model;
}

const yoke_equations *yoke_native_equations(const yoke_subsystem *subsystem) {
  return &of(subsystem)->equations;
}

const yoke_multibody *yoke_native_multibody(const yoke_subsystem *subsystem) {
  return of(subsystem)->mb;
}

const yoke_integrator *yoke_native_integrator(const yoke_subsystem *subsystem) {
  return of(subsystem)->integrator;
}

const yoke_integrator_state *yoke_native_state(const yoke_subsystem *subsystem, const void *state) {
  (void)subsystem;
  return state; /* at the start of the block, also inside wrappers */
}
