/* Jumps of laws and loads of a native subsystem: each is held on one side during a micro step, which ends where its switching function does. There it
 * changes sides, or stays between them (multibody.h), and the integrator begins anew. */
#include "native/native_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
  PARTS          = 8,   /* in which a step is searched, ... */
  PARTS_BETWEEN  = 2,   /* ... and where something is held between: each look takes evaluations */
  MAX_BISECTIONS = 200, /* until neighbouring numbers */
  MAX_AT_A_TIME  = 8    /* changes of a jump without a step */
};

static const double NOISE = 1e-12; /* of the largest margin in a step: rounding */

static int n_jumps(const native *n) {
  return yoke_multibody_n_jumps(n->mb);
}

bool native_holds_jumps(const native *n) {
  return n_jumps(n) > 0 && !n->integrator->ops->no_copy && !n->is_prescribed;
}

static yoke_jump_change *changes_of(const native *n, void *scratch) {
  return (yoke_jump_change *)(void *)((char *)scratch + n->at_change);
}

static yoke_jump_mode mode_of(const native *n, const yoke_integrator_state *head, int k) {
  return yoke_multibody_jump_mode(n->mb, yoke_integrator_q(n->integrator, head), k);
}

static bool rests(const native *n, const yoke_integrator_state *head) {
  for (int k = 0; k < n_jumps(n); ++k) {
    if (mode_of(n, head, k) == YOKE_JUMP_BETWEEN) return true;
  }
  return false;
}

/* Values of all jumps at t, which the last step covers, in the modes of the state. */
static yoke_status values_at(const native *n, void *scratch, const yoke_integrator_state *head, const yoke_signal *u,
                             double t, yoke_side side, double *value) {
  double *q = native_doubles(scratch, n->at_look_q), *v = native_doubles(scratch, n->at_look_v);
  double *now = native_doubles(scratch, n->at_left);
  yoke_integrator_interpolate(n->integrator, head, t, q, v);
  if (n->equations.nu > 0) yoke_signal_value(u, t, side, 0, now);
  return yoke_multibody_jumps(n->mb, scratch, t, q, v, now, value);
}

/* How far a jump is from the end of its mode. */
static double margin(yoke_jump_mode mode, double value) {
  switch (mode) {
  case YOKE_JUMP_LOW: return -value;
  case YOKE_JUMP_HIGH: return value;
  case YOKE_JUMP_BETWEEN: return fmin(value, 1.0 - value);
  case YOKE_JUMP_FREE: break;
  }
  return (double)INFINITY;
}

/* q and v in the scratch, and the inputs from the right. */
typedef struct changed {
  double *q, *v, *u;
} changed;

static changed begin_change(const native *n, void *scratch, const yoke_integrator_state *head, const yoke_signal *u) {
  const yoke_equations *e = &n->equations;
  const changed         x = {native_doubles(scratch, n->at_look_q), native_doubles(scratch, n->at_look_v),
                             native_doubles(scratch, n->at_left)};
  memcpy(x.q, yoke_integrator_q(n->integrator, head), (size_t)e->nq * sizeof *x.q);
  memcpy(x.v, yoke_integrator_v(n->integrator, head), (size_t)e->nv * sizeof *x.v);
  if (e->nu > 0) yoke_signal_value(u, head->t, YOKE_SIDE_RIGHT, 0, x.u);
  return x;
}

static yoke_status refuse(const native *n, const yoke_integrator_state *head, int k, const char *what,
                          yoke_context *ctx) {
  char name[300];
  yoke_multibody_jump_name(n->mb, k, name, sizeof name);
  return yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL,
                   "%s jumps at t = %.9g s and %s replace the jump by a steep smooth function, tanh(x/w) for sign(x) "
                   "with w below what matters",
                   name, head->t, what);
}

/* The state takes new modes, if there are any. */
static yoke_status end_change(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u,
                              const changed *x, yoke_status status, yoke_context *ctx) {
  if (status != YOKE_OK)
    return yoke_fail(ctx, status, "laws or loads that jump at t = %.9g s: no side of theirs has finite accelerations",
                     head->t);
  const size_t size = (size_t)n->equations.nq * sizeof *x->q;
  if (memcmp(x->q, yoke_integrator_q(n->integrator, head), size) == 0) return YOKE_OK;
  return yoke_integrator_reset(n->integrator, scratch, head, x->q, x->v, u, ctx);
}

yoke_status native_begin_jumps(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u,
                               yoke_context *ctx) {
  if (!native_holds_jumps(n)) return YOKE_OK;
  const changed     x      = begin_change(n, scratch, head, u);
  const yoke_status status = yoke_multibody_begin_jumps(n->mb, scratch, head->t, x.q, x.v, x.u);
  return end_change(n, scratch, head, u, &x, status, ctx);
}

/* ---- search ---- */

typedef struct jump_search {
  const native                *n;
  void                        *scratch;
  const yoke_integrator_state *head;
  const yoke_signal           *u;
  double *value, *first, *least; /* [n_jumps] values; margins where the step begins; margins that are still inside */
} jump_search;

/* None is beyond its end: how far are they from it? */
static void note_sizes(const jump_search *s) {
  const native *n    = s->n;
  double       *most = native_doubles(s->head, n->at_jump_most), *since = native_doubles(s->head, n->at_jump_since);
  for (int k = 0; k < n_jumps(n); ++k) {
    const yoke_jump_mode mode = mode_of(n, s->head, k);
    if (mode == YOKE_JUMP_FREE || mode == YOKE_JUMP_BETWEEN) continue;
    most[k]  = fmax(most[k], fabs(s->value[k]));
    since[k] = fmax(since[k], fabs(s->value[k]));
  }
}

/* Is some jump beyond the end of its mode at t? -1: none, or it cannot be told. */
static int beyond(const jump_search *s, double t) {
  const native *n = s->n;
  if (values_at(n, s->scratch, s->head, s->u, t, YOKE_SIDE_LEFT, s->value) != YOKE_OK) return -1;
  for (int k = 0; k < n_jumps(n); ++k) {
    if (margin(mode_of(n, s->head, k), s->value[k]) < s->least[k]) return k;
  }
  note_sizes(s);
  return -1;
}

/* Margins of the ends: behind a change one may begin beyond its end by rounding errors. */
static bool set_least(const jump_search *s) {
  const native *n = s->n;
  if (values_at(n, s->scratch, s->head, s->u, s->head->t_prev, YOKE_SIDE_RIGHT, s->first) != YOKE_OK) return false;
  if (values_at(n, s->scratch, s->head, s->u, s->head->t, YOKE_SIDE_LEFT, s->value) != YOKE_OK) return false;
  for (int k = 0; k < n_jumps(n); ++k) {
    const yoke_jump_mode mode  = mode_of(n, s->head, k);
    const double         begin = margin(mode, s->first[k]), end = margin(mode, s->value[k]);
    s->least[k] = -NOISE * fmax(fabs(begin), fabs(end)) - (begin < 0.0 ? 2.0 * fabs(begin) : 0.0);
    if (isinf(begin)) s->least[k] = -(double)INFINITY;
  }
  return true;
}

/* First time in the last step at which a jump reaches the end of its mode; +infinity: none does. */
static double find_end(const jump_search *s, int *which) {
  const double t0 = s->head->t_prev, t1 = s->head->t;
  const int    n_parts = rests(s->n, s->head) ? PARTS_BETWEEN : PARTS;
  double       from    = t0;
  *which               = -1;
  if (!set_least(s)) return (double)INFINITY;
  for (int j = 1; j <= n_parts && *which < 0; ++j) {
    double to = j == n_parts ? t1 : t0 + j * (t1 - t0) / n_parts;
    *which    = beyond(s, to);
    for (int i = 0; *which >= 0 && i < MAX_BISECTIONS; ++i) {
      const double middle = from + 0.5 * (to - from);
      if (middle <= from || middle >= to) break;
      const int k = beyond(s, middle);
      if (k >= 0) *which = k;
      *(k >= 0 ? &to : &from) = middle;
    }
    if (*which >= 0) return to;
    from = to;
  }
  return (double)INFINITY;
}

/* ---- steps ---- */

/* Jump `which` has reached the end of its mode at the state, and others may have, too. */
static yoke_status pass(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u, int which,
                        yoke_context *ctx) {
  yoke_jump_change *change = changes_of(n, scratch);
  double           *value  = native_doubles(scratch, n->at_jump);
  if (mode_of(n, head, which) != YOKE_JUMP_BETWEEN &&
      native_chatters(native_doubles(head, n->at_jump_most)[which], native_doubles(head, n->at_jump_since) + which,
                      native_doubles(head, n->at_jump_chatter) + which))
    return refuse(n, head, which, "does so again and again;", ctx);
  YOKE_TRY(values_at(n, scratch, head, u, head->t, YOKE_SIDE_LEFT, value));
  for (int k = 0; k < n_jumps(n); ++k) {
    const yoke_jump_mode mode = mode_of(n, head, k);
    change[k]                 = YOKE_JUMP_STAYS;
    if (mode == YOKE_JUMP_FREE || !(k == which || margin(mode, value[k]) < 0.0)) continue;
    change[k] = mode != YOKE_JUMP_BETWEEN ? YOKE_JUMP_AT_ZERO
                : value[k] > 0.5          ? YOKE_JUMP_GOES_HIGH
                                          : YOKE_JUMP_GOES_LOW;
  }
  const changed     x      = begin_change(n, scratch, head, u);
  int               unable = -1;
  const yoke_status status = yoke_multibody_settle(n->mb, scratch, head->t, x.q, x.v, x.u, change, &unable);
  if (unable >= 0)
    return refuse(
        n, head, unable,
        "holds the motion there, which is not possible by what other subsystems show, nor for more than 64 at a "
        "time; keep what it reads in one subsystem, or",
        ctx);
  return end_change(n, scratch, head, u, &x, status, ctx);
}

static yoke_integrator_state *spare_of(const native *n, void *scratch) {
  return (yoke_integrator_state *)(void *)((char *)scratch + n->at_spare);
}

static void release(yoke_integrator_state *spare) {
  for (int i = 0; i < 2; ++i) yoke_factor_release(&spare->factor[i]);
}

/* Steps from the state that is kept in `spare` up to the end of a mode. */
static yoke_status step_held(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u,
                             double t_end, int *which, yoke_context *ctx) {
  yoke_integrator_state *spare  = spare_of(n, scratch);
  double                *value  = native_doubles(scratch, n->at_jump);
  const jump_search      search = {n, scratch, head, u, value, value + n_jumps(n), value + 2 * n_jumps(n)};
  const double           t      = head->t;
  YOKE_TRY(yoke_integrator_step(n->integrator, scratch, head, u, t_end, ctx));
  const double end = find_end(&search, which);
  if (!(end < head->t)) return YOKE_OK;
  const yoke_counts made = head->counters;
  yoke_integrator_copy(n->integrator, head, spare);
  head->counters = made;
  if (end - t <= 4.0 * DBL_EPSILON * fmax(fabs(t), end - t)) return YOKE_OK; /* it is there already */
  const int first = *which;
  YOKE_TRY(yoke_integrator_step(n->integrator, scratch, head, u, end, ctx));
  *which = head->t == end ? first : -1;
  return YOKE_OK;
}

yoke_status native_step_to_jump(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u,
                                double t_end, int *which, yoke_context *ctx) {
  yoke_integrator_state *spare = spare_of(n, scratch);
  *which                       = -1;
  if (!native_holds_jumps(n)) return yoke_integrator_step(n->integrator, scratch, head, u, t_end, ctx);
  const double t = head->t;
  for (int i = 0; head->t == t; ++i) {
    if (*which >= 0) YOKE_TRY(pass(n, scratch, head, u, *which, ctx));
    YOKE_TRY(native_begin_jumps(n, scratch, head, u, ctx));
    if (i > MAX_AT_A_TIME * n_jumps(n)) return refuse(n, head, *which, "does so again and again;", ctx);
    memset(spare, 0, sizeof *spare);
    yoke_integrator_copy(n->integrator, spare, head);
    const yoke_status status = step_held(n, scratch, head, u, t_end, which, ctx);
    release(spare);
    YOKE_TRY(status);
  }
  return YOKE_OK;
}

yoke_status native_pass_jump(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u,
                             int which, yoke_context *ctx) {
  return which >= 0 ? pass(n, scratch, head, u, which, ctx) : YOKE_OK;
}
