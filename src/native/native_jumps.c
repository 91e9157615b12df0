/* Jumps of laws and loads of a native subsystem: each is held on one side during a micro step, which ends where its switching function does. There it
 * changes sides, or stays between them (multibody.h), and the integrator begins anew. */
#include "native/native_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
  PARTS          = 8,   /* in which a step is searched, ... */
  MOST_PARTS     = 64,  /* ... and where something is held between, in more if it takes more */
  MAX_BISECTIONS = 200, /* until neighbouring numbers */
  MAX_SECTIONS   = 30,
  MAX_SHORTER    = 8, /* times a step is made shorter in which a share is not seen well */
  MAX_AT_A_TIME  = 16 /* changes of a jump without a step */
};

static const double NOISE       = 1e-12; /* of the largest margin so far: rounding */
static const double MOST_CHANGE = 0.25;  /* of a share in a part */
static const double LEFT        = 1e-9;  /* of a part: the left limit at its end */
static const double GROWTH =
    2.0; /* of steps while something is held between: what holds it is seen before it is too fast for them */
static const double SHORTER = 0.125;
static const double NEAR    = 0.5; /* of a margin that turns: the parabola through its neighbours may be so far off */

static int n_jumps(const native *n) {
  return yoke_multibody_n_jumps(n->mb);
}

bool native_can_hold_jumps(const native *n) {
  return n_jumps(n) > 0 && !n->integrator->ops->no_copy && !n->is_prescribed;
}

static yoke_jump_change *changes_of(const native *n, void *scratch) {
  return (yoke_jump_change *)(void *)((char *)scratch + n->at->change);
}

static yoke_jump_mode mode_of(const native *n, const yoke_integrator_state *head, int k) {
  return yoke_multibody_jump_mode(n->mb, yoke_integrator_q(n->integrator, head), k);
}

/* -1: none. */
static int first_resting(const native *n, const yoke_integrator_state *head) {
  for (int k = 0; k < n_jumps(n); ++k) {
    if (mode_of(n, head, k) == YOKE_JUMP_BETWEEN) return k;
  }
  return -1;
}

static bool rests(const native *n, const yoke_integrator_state *head) {
  return first_resting(n, head) >= 0;
}

/* Values of all jumps at t, which the last step covers, in the modes of the state. */
static yoke_status values_at(const native *n, void *scratch, const yoke_integrator_state *head, const yoke_signal *u,
                             double t, yoke_side side, double *value) {
  double *q = native_doubles(scratch, n->at->look_q), *v = native_doubles(scratch, n->at->look_v);
  double *now = native_doubles(scratch, n->at->left);
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
  case YOKE_JUMP_FOLLOWS:
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
  const changed         x = {native_doubles(scratch, n->at->look_q), native_doubles(scratch, n->at->look_v),
                             native_doubles(scratch, n->at->left)};
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
  if (!n->holds_jumps) return YOKE_OK;
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
  double *margins;               /* [n_jumps, 3] */
} jump_search;

/* None is beyond its end: how far are they from it? */
static void note_sizes(const jump_search *s) {
  const native *n    = s->n;
  double       *most = native_doubles(s->head, n->at->jump_most), *since = native_doubles(s->head, n->at->jump_since);
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
  const native *n    = s->n;
  const double *most = native_doubles(s->head, n->at->jump_most);
  if (values_at(n, s->scratch, s->head, s->u, s->head->t_prev, YOKE_SIDE_RIGHT, s->first) != YOKE_OK) return false;
  if (values_at(n, s->scratch, s->head, s->u, s->head->t, YOKE_SIDE_LEFT, s->value) != YOKE_OK) return false;
  for (int k = 0; k < n_jumps(n); ++k) {
    const yoke_jump_mode mode  = mode_of(n, s->head, k);
    const double         begin = margin(mode, s->first[k]), end = margin(mode, s->value[k]);
    const double         size = mode == YOKE_JUMP_BETWEEN ? 1.0 : fmax(most[k], fmax(fabs(begin), fabs(end)));
    s->least[k]               = -NOISE * size - (begin < 0.0 ? 2.0 * fabs(begin) : 0.0);
    if (isinf(begin)) s->least[k] = -(double)INFINITY;
  }
  return true;
}

/* Margins of the last three places that were looked at, at equal distances. */
static void shift_margins(const jump_search *s) {
  for (int k = 0; k < n_jumps(s->n); ++k) {
    s->margins[3 * k]     = s->margins[3 * k + 1];
    s->margins[3 * k + 1] = s->margins[3 * k + 2];
    s->margins[3 * k + 2] = margin(mode_of(s->n, s->head, k), s->value[k]);
  }
}

/* Could jump k have been beyond its end for a while between the last three places, as far as a parabola can tell? */
static bool may_dip(const double m[3]) {
  const double bend = m[0] - 2.0 * m[1] + m[2], slope = 0.5 * (m[2] - m[0]);
  return m[1] <= m[0] && m[1] <= m[2] && bend > 0.0 && m[1] - 0.5 * slope * slope / bend < NEAR * m[1];
}

/* The least margin of jump k between two times, by golden sections: a place where it is beyond its end; NaN: there is none. */
static double find_dip(const jump_search *s, int k, double from, double to) {
  static const double golden = 0.6180339887498949;
  double              at[2]  = {to - golden * (to - from), from + golden * (to - from)}, m[2];
  for (int i = 0; i < MAX_SECTIONS; ++i) {
    for (int side = 0; side < 2; ++side) {
      if (beyond(s, at[side]) >= 0) return at[side];
      m[side] = margin(mode_of(s->n, s->head, k), s->value[k]);
    }
    *(m[0] < m[1] ? &to : &from) = at[m[0] < m[1] ? 1 : 0];
    at[0]                        = to - golden * (to - from);
    at[1]                        = from + golden * (to - from);
  }
  return (double)NAN;
}

/* Some jump that is beyond its end before `to`, where none is: its place becomes *at. */
static bool find_any_dip(const jump_search *s, double from, double to, double *at) {
  for (int k = 0; k < n_jumps(s->n); ++k) {
    if (!may_dip(s->margins + 3 * k)) continue;
    *at = find_dip(s, k, from, to);
    if (!isnan(*at)) return true;
  }
  return false;
}

/* First time at which a jump reaches the end of its mode: none is at `from`, some is at `to`. */
static double bisect(const jump_search *s, double from, double to, int *which) {
  *which = beyond(s, to);
  for (int i = 0; i < MAX_BISECTIONS; ++i) {
    const double middle = from + 0.5 * (to - from);
    if (middle <= from || middle >= to) break;
    const int k = beyond(s, middle);
    if (k >= 0) *which = k;
    *(k >= 0 ? &to : &from) = middle;
  }
  return to;
}

/* Is a share that may leave between the last three places not seen well enough? Nothing else keeps steps short while all is at rest. */
static bool is_coarse(const jump_search *s) {
  for (int k = 0; k < n_jumps(s->n); ++k) {
    const double *m = s->margins + 3 * k;
    if (mode_of(s->n, s->head, k) != YOKE_JUMP_BETWEEN) continue;
    const double change = fmax(fabs(m[1] - m[0]), fabs(m[2] - m[1]));
    if (change > MOST_CHANGE || fabs(m[0] - 2.0 * m[1] + m[2]) > NEAR * fmin(m[0], fmin(m[1], m[2]))) return true;
  }
  return false;
}

/* Places at equal distances take a fast oscillation for a slow one. One more in a part, where the fraction of a quadratic sequence of the golden section
 * lies: are shares there what their neighbours say? */
static bool is_alias(const jump_search *s, int number, double from, double to) {
  static const double golden = 0.6180339887498949;
  const double        turns = (double)number * number * golden, share = turns - floor(turns);
  bool                found = false;
  if (values_at(s->n, s->scratch, s->head, s->u, from + share * (to - from), YOKE_SIDE_LEFT, s->value) != YOKE_OK)
    return false;
  for (int k = 0; k < n_jumps(s->n); ++k) {
    const double *m = s->margins + 3 * k;
    if (mode_of(s->n, s->head, k) != YOKE_JUMP_BETWEEN) continue;
    const double off  = margin(YOKE_JUMP_BETWEEN, s->value[k]) - (m[1] + share * (m[2] - m[1]));
    const double size = m[2] > 0.0 ? fmin(m[1], m[2]) : fmax(m[1], -m[2]); /* it may leave in this part */
    found             = found || fabs(m[2] - m[1]) > MOST_CHANGE || fabs(off) > fmin(0.5 * MOST_CHANGE, NEAR * size);
  }
  return found;
}

/* The same in n parts. *is_seen: they are enough. */
static double find_end_in_parts(const jump_search *s, int n_parts, int *which, bool *is_seen) {
  const double t0 = s->head->t_prev, t1 = s->head->t, length = (t1 - t0) / n_parts;
  const bool   is_resting = rests(s->n, s->head);
  *is_seen                = true;
  for (int k = 0; k < n_jumps(s->n); ++k) s->value[k] = s->first[k];
  shift_margins(s);
  for (int j = 1; j <= n_parts; ++j) {
    const double last = is_resting ? fmin(t1 - LEFT * length, nextafter(t1, t0)) : t1; /* there loads may switch */
    const double from = t0 + (j - 1) * length, to = j == n_parts ? last : t0 + j * length;
    double       dip;
    const bool   is_beyond = beyond(s, to) >= 0;
    shift_margins(s);
    if (is_beyond && is_resting) *is_seen = *is_seen && !is_alias(s, j, from, to);
    if (is_beyond) return bisect(s, from, to, which);
    if (j > 1 && find_any_dip(s, from - length, to, &dip)) return bisect(s, from - length, dip, which);
    if (!is_resting || !*is_seen) continue;
    *is_seen = !(j > 1 && is_coarse(s)) && !is_alias(s, j, from, to);
  }
  return (double)INFINITY;
}

/* First time in the last step at which a jump reaches the end of its mode; +infinity: none does, NaN: the step is too long to tell. */
static double find_end(const jump_search *s, int *which) {
  bool is_seen = true;
  *which       = -1;
  if (!set_least(s)) return (double)INFINITY;
  for (int n_parts = PARTS; n_parts <= MOST_PARTS; n_parts *= 2) {
    const double end = find_end_in_parts(s, n_parts, which, &is_seen);
    if (is_seen) return end;
    *which = -1;
  }
  return (double)NAN;
}

/* ---- steps ---- */

static const double AT_REST = 1e-4; /* of the largest value so far */

/* Jump `which` is crossed again and again: does the motion rest there? */
static yoke_status rest_there(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u,
                              int which, bool *rests_now, yoke_context *ctx) {
  double       *value = native_doubles(scratch, n->at->jump);
  bool         *small = (bool *)(void *)changes_of(n, scratch);
  const double *most  = native_doubles(head, n->at->jump_most);
  YOKE_TRY(values_at(n, scratch, head, u, head->t, YOKE_SIDE_LEFT, value));
  for (int k = 0; k < n_jumps(n); ++k) {
    const yoke_jump_mode mode = mode_of(n, head, k);
    small[k] = mode == YOKE_JUMP_BETWEEN || (mode != YOKE_JUMP_FOLLOWS && fabs(value[k]) <= AT_REST * most[k]);
  }
  const changed     x      = begin_change(n, scratch, head, u);
  const yoke_status status = yoke_multibody_follow(n->mb, scratch, head->t, x.q, x.v, x.u, which, small, rests_now);
  return *rests_now ? end_change(n, scratch, head, u, &x, status, ctx) : status;
}

/* Jump k has reached its end at the state, and hardly left it before, again and again. What solvers cannot tell from 0 goes on for ever: swings that
 * their errors feed. */
static bool chatters(const native *n, void *scratch, const yoke_integrator_state *head, const yoke_signal *u, int k) {
  const yoke_integrator_options *o = &n->integrator->options;
  const changed                  x = begin_change(n, scratch, head, u);
  const double doubt = yoke_multibody_jump_doubt(n->mb, scratch, head->t, x.q, x.v, x.u, k, o->atol, o->rtol);
  const double small = fmax(NATIVE_CHATTER * native_doubles(head, n->at->jump_most)[k], doubt);
  return native_chatters(head->t, small, native_doubles(head, n->at->jump_since) + k,
                         (native_pause *)(void *)native_doubles(head, n->at->jump_pause) + k);
}

/* Jump `which` has reached the end of its mode at the state, and others may have, too. */
static yoke_status pass(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u, int which,
                        yoke_context *ctx) {
  yoke_jump_change *change = changes_of(n, scratch);
  double           *value  = native_doubles(scratch, n->at->jump);
  const double     *most   = native_doubles(head, n->at->jump_most);
  if (mode_of(n, head, which) != YOKE_JUMP_BETWEEN && !yoke_multibody_is_kink(n->mb, which) &&
      chatters(n, scratch, head, u, which)) {
    bool rests_now = false;
    YOKE_TRY(rest_there(n, scratch, head, u, which, &rests_now, ctx));
    return rests_now ? YOKE_OK : refuse(n, head, which, "does so again and again;", ctx);
  }
  YOKE_TRY(values_at(n, scratch, head, u, head->t, YOKE_SIDE_LEFT, value));
  for (int k = 0; k < n_jumps(n); ++k) {
    const yoke_jump_mode mode = mode_of(n, head, k);
    change[k]                 = YOKE_JUMP_STAYS;
    const double near         = yoke_multibody_is_kink(n->mb, k) ? -DBL_MIN : NOISE * most[k];
    if (mode == YOKE_JUMP_FREE || !(k == which || margin(mode, value[k]) <= near)) continue;
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

void native_keep_jump(const native *n, yoke_integrator_state *head, int which) {
  if (n->holds_jumps) *native_doubles(head, n->at->jump_next) = which + 1;
}

bool native_jump_is_sound(const native *n, const void *next) {
  double number = 0.0;
  if (n->holds_jumps) memcpy(&number, next, sizeof number);
  return number >= 0.0 && number <= n_jumps(n) && number == floor(number);
}

static yoke_status pass_kept(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u,
                             yoke_context *ctx) {
  const int which = (int)*native_doubles(head, n->at->jump_next) - 1;
  native_keep_jump(n, head, -1);
  return which >= 0 ? pass(n, scratch, head, u, which, ctx) : YOKE_OK;
}

void native_free_jumps(const native *n, yoke_integrator_state *head, double *q) {
  yoke_multibody_free_jumps(n->mb, q);
  native_keep_jump(n, head, -1);
}

static yoke_integrator_state *spare_of(const native *n, void *scratch) {
  return (yoke_integrator_state *)(void *)((char *)scratch + n->at->spare);
}

static void release(yoke_integrator_state *spare) {
  for (int i = 0; i < 2; ++i) yoke_factor_release(&spare->factor[i]);
}

/* Is jump k farther from the end of its mode than it was with the value `before`? Then it was a mistake of a long step. */
static bool is_farther(const jump_search *s, int k, double before) {
  const yoke_jump_mode mode = mode_of(s->n, s->head, k);
  return values_at(s->n, s->scratch, s->head, s->u, s->head->t, YOKE_SIDE_LEFT, s->value) == YOKE_OK &&
         margin(mode, s->value[k]) > margin(mode, before);
}

/* Steps from the state that is kept in `spare`, at most to *t_end, up to the end of a mode. Where that is here, or the step too long to tell and need not
 * be made (must_go), *t_end comes nearer. */
static yoke_status step_held(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u,
                             bool must_go, double *t_end, int *which, yoke_context *ctx) {
  yoke_integrator_state *spare  = spare_of(n, scratch);
  double                *value  = native_doubles(scratch, n->at->jump);
  const jump_search      search = {
           n, scratch, head, u, value, value + n_jumps(n), value + 2 * n_jumps(n), value + 3 * n_jumps(n)};
  const double t = head->t;
  YOKE_TRY(yoke_integrator_step(n->integrator, scratch, head, u, *t_end, ctx));
  const double made = head->t, end = find_end(&search, which);
  if (end >= head->t || (isnan(end) && must_go)) return YOKE_OK;
  const yoke_counts counters = head->counters;
  yoke_integrator_copy(n->integrator, head, spare);
  head->counters = counters;
  if (isnan(end) || end - t <= 4.0 * DBL_EPSILON * fmax(fabs(t), end - t)) {
    *t_end = t + SHORTER * (made - t);
    return YOKE_OK;
  }
  const int    first  = *which;
  const double before = search.first[first];
  YOKE_TRY(yoke_integrator_step(n->integrator, scratch, head, u, end, ctx));
  *which = head->t == end ? first : -1;
  if (*which < 0 || !is_farther(&search, first, before)) return YOKE_OK;
  *which  = -1;
  head->h = fmin(head->h, SHORTER * (made - t));
  return YOKE_OK;
}

yoke_status native_step_to_jump(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u,
                                double t_end, int *which, yoke_context *ctx) {
  *which = -1;
  if (!n->holds_jumps) return yoke_integrator_step(n->integrator, scratch, head, u, t_end, ctx);
  yoke_integrator_state *spare = spare_of(n, scratch);
  YOKE_TRY(pass_kept(n, scratch, head, u, ctx));
  const double t = head->t;
  if (rests(n, head) && head->t_prev < t) t_end = fmin(t_end, t + GROWTH * (t - head->t_prev));
  for (int i = 0; head->t == t; ++i) {
    if (*which >= 0) YOKE_TRY(pass(n, scratch, head, u, *which, ctx));
    YOKE_TRY(native_begin_jumps(n, scratch, head, u, ctx));
    if (i > MAX_AT_A_TIME * n_jumps(n))
      return refuse(n, head,
                    *which >= 0      ? *which
                    : rests(n, head) ? first_resting(n, head)
                                     : 0,
                    "does so again and again;", ctx);
    memset(spare, 0, sizeof *spare);
    yoke_integrator_copy(n->integrator, spare, head);
    const yoke_status status = step_held(n, scratch, head, u, i > MAX_SHORTER, &t_end, which, ctx);
    release(spare);
    YOKE_TRY(status);
  }
  return YOKE_OK;
}

yoke_status native_pass_jump(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u,
                             int which, yoke_response *response, yoke_context *ctx) {
  if (which < 0) return YOKE_OK;
  YOKE_TRY(pass(n, scratch, head, u, which, ctx));
  return yoke_multibody_is_kink(n->mb, which) ? native_response_turn(n, scratch, head, u, response) : YOKE_OK;
}
