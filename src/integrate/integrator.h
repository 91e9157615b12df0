/* Integrator: advances equations of motion in time, made to be stopped, repeated and restarted.
 *
 * An integrator is a constant object (method, options, equations). All that changes lives in a *state*: one flat
 * block of `state_size` bytes that starts with a yoke_integrator_state. Copying a state is one memory copy plus
 * retaining the factors it refers to (yoke_integrator_copy). Scratch belongs to the caller's task.
 *
 * Invariants:
 *   1. start, copy, step: the same bits as copy of a copy; nothing outside the state influences a step.
 *   2. A step never passes t_stop, a break point of the inputs or of the equations. Clipping does not set the next h.
 *   3. A stage or a state that is not finite is a rejected step.
 *   4. Multipliers and quadratures are in no error norm.
 *   5. Steps that do not get on (progress.h) end with YOKE_E_STEP_TOO_SMALL and a message that names who is to blame, if that is known.
 *   6. A step that ends where a load jumps has its left limit, one that begins there its right limit. */
#ifndef YOKE_INTEGRATE_INTEGRATOR_H
#define YOKE_INTEGRATE_INTEGRATOR_H

#include "base/counters.h"
#include "base/memory.h"
#include "base/pack.h"
#include "base/progress.h"
#include "model/equations.h"
#include <yoke/signal.h>
#include <stddef.h>

/* Head of every state. Arrays live in the same block behind it; use the accessors below. */
typedef struct yoke_integrator_state {
  double t;      /* current time, exactly t_stop after a stop there */
  double h;      /* proposal for the next step, not clipped */
  double t_prev; /* start of the last step: dense output covers [t_prev, t] */
  double
                t_look; /* steps that end before it are not looked into: their dense output may be cheap (cubic Hermite); +infinity: nobody
                         * ever looks into the step, which may have no dense output. Set by the caller before it; -infinity after a start: every step is looked into */
  int           order;
  int           method; /* `auto`: which method is at work */
  yoke_counts   counters;
  yoke_progress progress;
  yoke_factor  *factor[2];        /* real and complex factor in use; counted references */
  void         *foreign;          /* guests: solver memory outside the block, made by start; NULL for all others */
  void (*release)(void *foreign); /* called by yoke_integrator_state_destroy and before a second start; NULL: nothing */
  /* followed by q [nq], v [nv], a [nv], lambda [ng], then what the method needs */
} yoke_integrator_state;

typedef struct yoke_integrator_options {
  double           fixed_step; /* > 0: no error control, this step (the last one before a stop may be shorter) */
  double           rtol, atol; /* 1e-8, 1e-10 */
  double           max_step;   /* 0: no limit */
  double           first_step; /* 0: chosen */
  int              max_order;  /* abm, bdf; 0: the method's own. With fixed_step: the order to use once started up */
  yoke_linear_kind linear;
  yoke_dae_form    form;
  double           alpha, beta; /* Baumgarte, index 1 */
  double           rho_inf;     /* genalpha, default 0.8 */
} yoke_integrator_options;

yoke_integrator_options yoke_integrator_options_default(void);

typedef struct yoke_integrator yoke_integrator;

/* Rule that carries tangents over the steps of a method (tangents.h). */
typedef enum yoke_tangent_rule {
  YOKE_TANGENTS_NONE,
  YOKE_TANGENTS_EXPLICIT,
  YOKE_TANGENTS_IMPLICIT,
  YOKE_TANGENTS_AT_WORK /* that of the method at work */
} yoke_tangent_rule;

/* What has changed at the point of a state. */
typedef enum yoke_disturbance {
  YOKE_INPUTS_JUMPED,
  YOKE_STATE_NUDGED, /* q and v by a little, and inputs perhaps */
  YOKE_STATE_RESET   /* q and v */
} yoke_disturbance;

typedef struct yoke_integrator_ops {
  const char *name;    /* "radau5" */
  const char *summary; /* one line for `yoke help solvers` */
  const char *reads;   /* keys of yoke_solver_rows (solver_options.h) that it reads, separated by blanks */

  /* Check that equations and options fit (message otherwise) and build what is constant. */
  yoke_status (*create)(yoke_context *ctx, yoke_integrator *integrator);
  void (*destroy)(yoke_integrator *integrator);

  /* State is zeroed, head and q, v, a, lambda are set and consistent at state->t; inputs `u`. Set up the rest, choose h. */
  yoke_status (*start)(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                       const yoke_signal *u);

  /* One accepted micro step, at most to t_limit (> state->t); rejected attempts are repeated inside. On success t, t_prev,
   * q, v, a (at the new t, left limit of u), lambda are those of the new point. Step too small: YOKE_E_STEP_TOO_SMALL
   * with a message through `ctx` of yoke_integrator_step. */
  yoke_status (*step)(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                      const yoke_signal *u, double t_limit, yoke_context *ctx);

  /* q and v at t in [t_prev, t] of the last step. */
  void (*interpolate)(const yoke_integrator *integrator, const yoke_integrator_state *state, double t, double *q,
                      double *v);

  /* Inputs jumped at state->t, or q and v were reset (already written and consistent): drop or damp what is stale. a and lambda are
   * recomputed; not by those that end with the derivative, of equations without fused stages, where q and v stay: they do it here. */
  yoke_status (*disturb)(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                         const yoke_signal *u, yoke_disturbance what);

  /* q and v at the end of the last step have moved a little: what the method keeps of that point follows, with the left limit of the inputs.
   * NULL: it keeps more than that (yoke_integrator_shift). */
  yoke_status (*renew)(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                       const yoke_signal *u);

  /* Linear solvers that the factors of a state may belong to: i = 0, 1, ...; NULL behind the last. NULL: states hold no factor. */
  const yoke_linear *(*linear)(const yoke_integrator *integrator, int i);

  /* Which bytes of a state mean something, so that a copy and a pack take them along: so many from its start (NULL: all of them), and those
   * behind `tail` (NULL: none). Dense output of a step that nobody looks into (t_look) may stay behind. */
  size_t (*used)(const yoke_integrator *integrator, const yoke_integrator_state *state);
  size_t (*tail)(const yoke_integrator *integrator);

  /* Bytes from its start that are zero when `start` is called, as are those behind `tail`; NULL: all. What lies between is written before it is
   * read: room that nobody ever writes takes no memory. */
  size_t (*fresh)(const yoke_integrator *integrator);

  /* What the method at work in a state that was read from bytes needs, where that is not made before it is wanted. NULL: nothing. */
  yoke_status (*prepare)(const yoke_integrator *integrator, const yoke_integrator_state *state, yoke_context *ctx);

  /* May the method's own counts and flags of a state that was read from bytes be? NULL: there are none that matter. */
  bool (*is_sound)(const yoke_integrator *integrator, const yoke_integrator_state *state);

  /* The method that made the last step, where several take turns (`auto`). NULL: the integrator itself. */
  const yoke_integrator *(*at_work)(const yoke_integrator *integrator, const yoke_integrator_state *state);

  yoke_tangent_rule tangents;

  int reads_end; /* order 1: the end of a step at which inputs are read, -1 its start, 1 its end. 0: inside, or higher order */
  bool
      ends_with_derivative; /* a and lambda of a step's end are those of the equations' `derivative` there, to the bit */
  bool
       wanders; /* implicit steps and orders that follow from more than the last point: a repeated macro step may have others, and
                             * multipliers of its joints show it */
  bool no_copy; /* the state holds more than its flat block (`foreign` of its head): no copy, no pack */
} yoke_integrator_ops;

/* Where the arrays of a state are, bytes from its start. */
typedef struct yoke_state_places {
  size_t q, v, a, own, lambda; /* own: what the method needs, on a cache line */
} yoke_state_places;

/* What every step reads comes first. */
struct yoke_integrator {
  const yoke_integrator_ops *ops;
  const yoke_equations      *equations;
  void                      *self;         /* constant data of the method */
  const yoke_state_places   *at;           /* shared with equal ones */
  size_t                     state_size;   /* bytes, set by create: yoke_integrator_state, then the method's own */
  size_t                     scratch_size; /* bytes, set by create: at least equations->work_size */
  yoke_integrator_options    options;
  yoke_arena                *arena; /* of the integrator and what its method takes from it; freed behind `destroy` */
};

_Static_assert(offsetof(struct yoke_integrator, options.rtol) <= 64, "a step reads one cache line");

/* Lays arrays of n numbers out one behind the other: returns the offset [bytes] of the new one and adds it to *size. Long ones have cache
 * lines of their own; short ones share them, because of many small subsystems every line counts. */
size_t yoke_array_reserve(size_t *size, int n);

/* Bytes of head and q, v, a, lambda, rounded up to 64; the method's own data starts there. */
size_t                yoke_integrator_head_size(const yoke_equations *equations);
static inline double *yoke_integrator_part(const yoke_integrator_state *state, size_t at) {
  return (double *)(void *)((char *)(uintptr_t)state + at);
}
static inline double *yoke_integrator_q(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  return yoke_integrator_part(state, integrator->at->q);
}
static inline double *yoke_integrator_v(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  return yoke_integrator_part(state, integrator->at->v);
}
static inline double *yoke_integrator_a(const yoke_integrator *integrator, const yoke_integrator_state *state) {
  return yoke_integrator_part(state, integrator->at->a);
}
double *yoke_integrator_lambda(const yoke_integrator *integrator, const yoke_integrator_state *state);
void   *yoke_integrator_own(const yoke_integrator *integrator, const yoke_integrator_state *state);

/* Bytes of a state that a copy takes along (`used`, `tail`). */
size_t yoke_integrator_used(const yoke_integrator *integrator, const yoke_integrator_state *state);
size_t yoke_integrator_tail(const yoke_integrator *integrator);
/* Those that `start` wants zero (`fresh`). */
size_t yoke_integrator_fresh(const yoke_integrator *integrator);

/* By name; unknown names give YOKE_E_USAGE with the nearest ones. `equations` is kept. */
yoke_status yoke_integrator_create(yoke_context *ctx, const char *name, const yoke_equations *equations,
                                   const yoke_integrator_options *options, yoke_integrator **out);
void        yoke_integrator_destroy(yoke_integrator **integrator);

/* The method that made the last step and its name: under `auto` the one it chose, else the integrator itself. */
const yoke_integrator *yoke_integrator_at_work(const yoke_integrator *integrator, const yoke_integrator_state *state);
const char *yoke_integrator_method_at_work(const yoke_integrator *integrator, const yoke_integrator_state *state);

/* Number, name and summary of the methods of integrator_list.def and of the guests. */
int         yoke_integrator_n_methods(void);
const char *yoke_integrator_method_name(int i);
const char *yoke_integrator_method_summary(int i);
const char *yoke_integrator_method_reads(int i);
bool        yoke_integrator_wanders(const char *name);   /* unknown names: false */
int         yoke_integrator_reads_end(const char *name); /* unknown names: 0 */

/* States and scratch: 64-byte aligned. Give. */
yoke_status yoke_integrator_state_create(const yoke_integrator *integrator, yoke_integrator_state **out);
void        yoke_integrator_state_destroy(yoke_integrator_state **state);
yoke_status yoke_integrator_scratch_create(const yoke_integrator *integrator, void **out);
void        yoke_integrator_scratch_destroy(void **scratch);

/* Start at t from q, v (projected onto the constraints before use if they are off). Here and below `u` may be NULL: no inputs. */
yoke_status yoke_integrator_start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                  double t, const double *q, const double *v, const yoke_signal *u, yoke_context *ctx);
/* YOKE_E_INTERRUPTED, without a message: `ctx` is cancelled (base/cancel.h), nothing changed. */
yoke_status yoke_integrator_step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                 const yoke_signal *u, double t_stop, yoke_context *ctx);
/* Steps until t_stop exactly. Restarts at break points where the inputs jump. */
yoke_status yoke_integrator_advance(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                    const yoke_signal *u, double t_stop, yoke_context *ctx);
void        yoke_integrator_interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t,
                                        double *q, double *v);
/* Was anybody to look into the last step (t_look)? Else only its end is known. */
bool        yoke_integrator_has_inside(const yoke_integrator_state *state);
/* Does a prescribed motion or its rate jump where the state is? Then `disturb`, or the next step, takes q and v across by a kick. */
bool        yoke_integrator_is_kicked(const yoke_integrator *integrator, const yoke_integrator_state *state);
/* When motions have the limits that q and v follow: state->t, or shortly before or behind it at a kick that is to come or is over. */
double      yoke_integrator_motions_at(const yoke_integrator *integrator, const yoke_integrator_state *state);
/* q, v changed from outside: project, recompute a and lambda, tell the method. */
yoke_status yoke_integrator_reset(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                  const double *q, const double *v, const yoke_signal *u, yoke_context *ctx);
/* The inputs jumped at state->t although the new signal does not show it (its first piece starts here): recompute a and
 * lambda with the right limit, tell the method. Jumps at interior break points of one signal are found by step itself. */
yoke_status yoke_integrator_disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                    const yoke_signal *u, yoke_context *ctx);
/* q and v moved a little at state->t, where others replaced copies of their own: a and lambda are computed anew with the right limit of the
 * inputs. Methods that keep nothing but the derivative at the point go on as they were, without a projection; the others restart, radau5 with
 * the factors that it has. */
yoke_status yoke_integrator_nudge(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                  const yoke_signal *u, yoke_context *ctx);
/* May the end of the last step be moved (yoke_integrator_shift)? Where the method at work keeps nothing of the steps before but lengths and errors. */
bool        yoke_integrator_can_shift(const yoke_integrator *integrator, const yoke_integrator_state *state);
/* The last step, had it been made with the inputs u, ends at q + dq and v + dv to first order: it does so, projected; a and lambda are those of that
 * point with the left limit of u. The way there is known by its ends alone. Not YOKE_OK: the state is of no use any more. */
yoke_status yoke_integrator_shift(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                  const double *dq, const double *dv, const yoke_signal *u);
/* dst := src, one copy. Both of this integrator. */
void        yoke_integrator_copy(const yoke_integrator *integrator, yoke_integrator_state *dst,
                                 const yoke_integrator_state *src);

/* A state as bytes: it goes on with the same bits in another process, in a state of an integrator of the same method, made from the
 * same equations and options (YOKE_E_USAGE where these differ visibly). Guests cannot: YOKE_E_UNSUPPORTED. When unpack fails the
 * state is as before. */
yoke_status yoke_integrator_pack(const yoke_integrator *integrator, const yoke_integrator_state *state, yoke_pack *pack,
                                 yoke_context *ctx);
yoke_status yoke_integrator_unpack(const yoke_integrator *integrator, yoke_unpack *in, yoke_integrator_state *state,
                                   yoke_context *ctx);

/* Shared by methods: sqrt(mean((e_i / (atol + rtol max(|y0_i|, |y1_i|)))^2)) over the first n entries whose weight[i] is not 0
 * (weight NULL: all). */
double yoke_error_norm(int n, const double *e, const double *y0, const double *y1, double atol, double rtol,
                       const uint8_t *weight);

/* Relative error that a step across a singular position may have when the user asks for rtol: 1000 rtol, because the error
 * test sees rounding errors there, but not below 1e-7, and never above 1e-5 or rtol itself. */
double yoke_singular_rtol(double rtol);

#endif
