/* Inside of a native subsystem, shared by native*.c.
 *
 * State: the integrator's own block, then
 *   u, u' [nu]           inputs at the state's time as the last step (or the start) saw them: a step whose inputs begin
 *                        elsewhere tells the integrator that they jumped or kinked
 *   size, size' [nu]     the largest that they have been: rounding of these is no jump
 *   base [n_integrals]   quadratures of the ports' positions when the last step was accepted
 *   old, dead, most, since [n_events], native_pause [n_events] and native_found (if there are events): event functions (event_search.h), how often in a
 *                        row each happened again although it had hardly left zero, and what was found of them in the last step
 *   nudged [1] (if there are halos) not 0: their masses have moved since the last step
 *   most, since [n_jumps], native_pause [n_jumps] the same of the switching functions of jumps (native_jumps.c)
 * Scratch: the integrator's, then arrays of inputs, accelerations and multipliers. */
#ifndef YOKE_NATIVE_INTERNAL_H
#define YOKE_NATIVE_INTERNAL_H

#include "native/native.h"
#include "integrate/tangents.h"
#include <stddef.h>

/* Crossings of event functions in the last step. */
typedef struct native_found {
  int              n;
  bool             is_fresh; /* the next micro step is the first, or the first behind an event */
  double           until;    /* what lies behind did not fit; +infinity: all did */
  yoke_found_event list[];   /* [YOKE_MAX_FOUND + n_events] */
} native_found;

/* What handles ask of a point. */
typedef struct native_wanted {
  bool accelerations, energy, residual, outputs;
} native_wanted;

/* A port on a line, and where its outputs are. */
typedef struct native_line {
  yoke_line_port port;
  int            y_at;
} native_line;

/* Masses q, q + step, ... of a chain's positions, and likewise of its velocities; or those of one other body. */
typedef struct native_halo {
  const yoke_port_shape *shape;
  int                    q, v, step, n;
} native_halo;

/* Where things are: bytes into the state or into the scratch. Equal subsystems share it. */
typedef struct native_places {
  size_t u, rate, bend, size, size_rate, base; /* into the state */
  size_t work; /* the same: what was dissipated and brought in since the start (native_work.c) */
  size_t left; /* into the scratch */
  size_t a, lambda, a2, terms, lambda_0, g; /* the same */
  size_t x, B, factor, da, dlambda, dy;     /* the same: with dae */
  size_t q, v;                              /* the same: other places */
  size_t old, dead, most, since, pause;     /* into the state */
  size_t found;                             /* the same */
  size_t now, before, time, seen;           /* into the scratch; only with events */
  size_t variables, set;                    /* the same: of expressions, values that an event sets */
  size_t look_q, look_v, look_y;            /* into the scratch: inside a micro step */
  size_t jump_most, jump_since, jump_pause; /* into the state */
  /* number + 1 of the jump where the last step ended and that the next one passes first; 0: none */
  size_t jump_next;
  size_t nudged;                 /* into the state: halos have moved */
  size_t work_q, work_v, work_u; /* into the scratch: inside a micro step */
  size_t work_from;              /* the same: q, v, a where it begins; of equations with q' = v */
  size_t work_loads;             /* q, v, a there of each load over time */
  size_t jump, change, spare;    /* into the scratch: of jumps; a state to go back to */
} native_places;

/* What every step reads comes first. */
typedef struct native {
  yoke_integrator     *integrator;
  const native_line   *lines; /* [n_ports] their motions where all of them are on lines; else NULL */
  const native_places *at;
  int                  n_ports, n_integrals;
  int                  i_integral;               /* first quadrature of the ports in q */
  bool                 has_extras;               /* of some port */
  bool                 is_prescribed, has_image; /* motion given; ports with an image */
  bool                 is_loose;                 /* rows of joints are left out */
  bool                 has_signals;              /* among the inputs */
  bool                 events_see_inputs;        /* they read signals, or feel the forces */
  bool                 has_signal_ports;         /* some port shows signals */
  bool                 needs_accelerations;      /* some port shows what follows from them */
  bool                 holds_jumps;              /* of laws or loads */
  bool                 has_halos;
  bool                 shows_motions_only; /* of its own state: no extras, no signals, no images, no motion given */
  bool                 counts_work;        /* beside the solver: native_work.c */
  yoke_equations       equations;
  yoke_multibody      *mb;    /* lives as long as the equations */
  yoke_port           *ports; /* [n_ports] */
  const yoke_model    *model;
  yoke_native_signals *signals;           /* [n_ports] of frames: mostly n = 0 */
  native_wanted        shown;             /* what all signals ask for */
  bool                 work_reads_inputs; /* powers of dampers and loads depend on inputs */
  bool
                   work_looks; /* it looks into micro steps: those that are joined by their ends need no dense output, implicit ones of `auto` have it anyway */
  bool             work_is_joined;  /* micro steps are joined by their ends (native_work.c) ... */
  bool             work_is_told;    /* by the equations, from these ends */
  bool             work_varies;     /* ... but for those of some of the methods of `auto` */
  bool             work_has_panels; /* what dampers take is counted over several micro steps at once */
  const int       *work_loaded;     /* [work_n_loaded] freedoms on which loads work then */
  int              work_n_loaded;
  double           work_share;        /* of a panel's work that what panels of several micro steps leave out may be */
  bool             tells_work;        /* it is wanted, counted or integrated along */
  double          *q_start, *v_start; /* [nq], [nv] consistent start */
  int              n_redundant;       /* constraint rows that follow from the others */
  int             *redundant;         /* [n_redundant] */
  yoke_input_kind *input_kind;        /* [nu] */
  bool            *input_is_shown;    /* [nu] a signal of another subsystem */
  double          *input_size;        /* [nu] of motions by the length and time of the model; else 1 */
  int             *direction;         /* [n_events] */
  bool            *is_brought;        /* [n_events] signals take part in it */
  yoke_tangents   *tangents;          /* NULL: the method, the equations or the ports have none */
  const yoke_dae
              *dae; /* of the response at one instant, that of the tangents where there are any; NULL: by differences */
  yoke_dae    *own_dae; /* NULL: it is not its own */
  native_halo *halos;   /* copies of masses that others own */
} native;
_Static_assert(offsetof(native, equations.work_size) <= 128, "a step of a chain reads two cache lines");

static inline double *native_doubles(const void *block, size_t at) {
  return (double *)(void *)((char *)(uintptr_t)block + at);
}

static inline bool native_is_signal(const native *n, int port) {
  return n->ports[port].shape == &yoke_shape_signal;
}

/* Inputs and their rates at t are those that the state has seen. */
void native_remember_inputs(const native *n, void *state, const yoke_signal *u, double t, yoke_side side);

/* native_output.c */

/* A point of the motion. */
typedef struct native_point {
  double        t;
  const double *q, *v;
} native_point;

/* The state's own point; from the right: as far behind its time as it takes for loads that switch there. */
native_point               native_point_at(const native *n, const void *state, yoke_side side);
/* The state's own, as it is. */
static inline native_point native_own_point(const native *n, const void *state) {
  const yoke_integrator_state *head = (const yoke_integrator_state *)state;
  return (native_point){head->t, yoke_integrator_q(n->integrator, head), yoke_integrator_v(n->integrator, head)};
}
/* The point goes to where prescribed motions u put it, if there are any. */
yoke_status native_prescribe(const native *n, void *scratch, const double *u, native_point *point);
/* Accelerations a [nv] at the point under the inputs u; the multipliers stay in the scratch at at->lambda. */
yoke_status native_accelerations(const native *n, void *scratch, const native_point *at, const double *u, double *a);
/* Outputs y of all ports, just behind native_accelerations. Integrals count from the state's last accepted step. u: at the point's time, of
 * `signal`. */
void native_show_motions(const native *n, void *scratch, const void *state, const native_point *at, const double *a,
                         double *y);
yoke_status native_show(const native *n, void *scratch, const void *state, const native_point *at,
                        const native_point *image_from, const yoke_signal *signal, const double *u, const double *a,
                        double *y);
yoke_status native_output(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                          yoke_side side, double *y);

/* native_events.c */

/* What is known of a function that comes to 0 again and again. */
typedef struct native_pause {
  double chatter;       /* how often in a row it hardly left 0, and soon came back */
  double last, longest; /* when it was there last; longest time in between [s] */
} native_pause;

/* Of the largest value of a function so far: what hardly leaves 0. */
#define NATIVE_CHATTER 3e-11

/* The function is 0 at t; it has been `since` at its largest since it was 0 last, which is nothing where it is at most `small`. Does it so again and
 * again? */
bool native_chatters(double t, double small, double *since, native_pause *pause);
/* At the start. */
void native_begin_pauses(const native *n, void *state, double t);

/* native_jumps.c */

/* Are there laws or loads that jump, and are they held during steps? Creation: n->holds_jumps. */
bool        native_can_hold_jumps(const native *n);
/* A micro step to t_end, or to where jump `which` (-1: none) reaches the end of its mode; there native_pass_jump changes it, once the step has been
 * looked into. */
yoke_status native_step_to_jump(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u,
                                double t_end, int *which, yoke_context *ctx);
yoke_status native_pass_jump(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u,
                             int which, yoke_response *response, yoke_context *ctx);
/* The next micro step passes it instead, so that the state can be looked into as long as it stays. */
void        native_keep_jump(const native *n, yoke_integrator_state *head, int which);
bool        native_jump_is_sound(const native *n, const void *next); /* at->jump_next of a state that was packed */
/* The modes in q are forgotten: the state goes elsewhere. */
void        native_free_jumps(const native *n, yoke_integrator_state *head, double *q);
/* Jumps that are free take sides, those that are between leave where the inputs ask for it. */
yoke_status native_begin_jumps(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u,
                               yoke_context *ctx);

/* native_work.c */

/* Is work a quadrature of the equations, which the solver integrates along? Else it is counted beside it, where there is any. */
bool native_integrates_work(const yoke_native_def *def);
/* What a state keeps of it; numbers only, the first two of them alone where there are no panels. */
typedef struct native_work {
  double   sum[2];                              /* dissipated up to the open panel, external: since the start [J] */
  double   t, power, rate;                      /* where it begins: what dampers take [W], and how it changes [W/s] */
  double   h_before, power_before, rate_before; /* where the panel before began, and its length; 0: there is none */
  double   reach;            /* the open panel goes no farther: what is known of the one before is too short */
  double   rest_until;       /* no load is looked at before; -infinity: in every micro step */
  double   loads_until;      /* what is known of the loads counts until then [s] */
  double   steady_t, steady; /* where loads became steady, and their sum times positions there [s, J] */
  uint64_t looked_at;        /* which loads are, if any (equations.h, `loading`) */
  int8_t left; /* micro steps until the open panel ends, at most; 0: there is none, or micro steps have points inside */
  int8_t length;      /* of panels [micro steps]; 0: micro steps by points inside */
  int8_t is_open;     /* 1: a panel begins at t; -1: panels have been given up */
  int8_t wait;        /* micro steps by points inside before a panel is tried again */
  int8_t patience;    /* the longest of them, since panels were of use */
  int8_t method;      /* at work where the panel began (yoke_integrator_state) */
  int8_t knows_loads; /* 1: all that is said of loads counts */
  int8_t loading;     /* yoke_loading */
} native_work;
_Static_assert(sizeof(native_work) % sizeof(double) == 0, "a state holds it as numbers");
/* Sets what the native part knows of panels. */
void   native_work_plan(native *n);
double native_work_share(double rtol);
int    native_work_size(const native *n); /* of it */
/* The state is about to jump: what was counted up to here stays. */
void   native_close_work(const native *n, void *scratch, void *state);
/* Sets what it knows of their ends. */
void   native_work_join(native *n);
/* Numbers that it keeps of where a micro step begins. */
int    native_work_keeps(const native *n);
/* Before a micro step that counts and goes no farther than t_end, and behind it: all of it, from head->t_prev on. */
void   native_begin_work(const native *n, void *scratch, yoke_integrator_state *head, double t_end);
void   native_count_work(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u);
void   native_count_told_work(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u);

static inline native_work *native_work_of(const native *n, const void *state) {
  return (native_work *)(void *)native_doubles(state, n->at->work);
}

/* The same where a panel is open and no load changes: nothing is to be kept of a micro step, and nothing to be counted behind one that does not
 * end the panel. True: so it is. */
static inline bool native_work_rests(const native *n, const yoke_integrator_state *head, double t_end) {
  const native_work *w = native_work_of(n, head);
  return w->left > 0 && t_end <= w->rest_until;
}
static inline bool native_work_goes_on(const native *n, const yoke_integrator_state *head) {
  native_work *w = native_work_of(n, head);
  if (w->left <= 1 || 2.0 * head->t - head->t_prev > w->reach || head->method != w->method) return false;
  --w->left;
  return true;
}

/* `work` comes in from outside at the state's time [J]; whose q it is: the state's, or that which follows. */
void native_bring_in(const native *n, void *state, double *q, double work);
/* Dissipated and external work up to t, in the last micro step. */
void native_work_at(const native *n, void *scratch, const void *state, const yoke_signal *u, const native_point *at,
                    yoke_energy *out);
/* The same up to the state's own point. */
void native_work_reached(const native *n, void *scratch, const void *state, yoke_energy *out);

/* native_signals.c */

/* What port k of the definition shows by handles. */
yoke_status native_take_signals(yoke_context *ctx, native *n, yoke_subsystem *s, const yoke_native_def *def, int k);
bool        native_signals_have_tangents(const native *n);
bool        native_shows_joint_forces(const native *n); /* by signals */

/* Changes at a point, n directions side by side; dq and dv NULL: accelerations and multipliers change alone. */
typedef struct native_change {
  native_point           at;
  const double          *a;
  int                    n;
  const double          *dq, *dv, *da, *dlambda;
  /* changes of the inputs at the point's time; NULL: input first + i has a unit in direction i */
  const yoke_directions *du;
  int                    first;
} native_change;

/* Where the signals of port k are among its outputs: behind all others. */
static inline int native_signals_at(const native *n, int port) {
  return n->ports[port].n_y - n->signals[port].n;
}

/* Tangent of the signals of port k, into their rows of dy [n_y, n]. */
void native_signals_tangent(const native *n, void *scratch, int k, const native_change *change, double *dy);
/* The same at one instant, with the inputs u; change->du is NULL. */
void native_signals_respond(const native *n, void *scratch, int k, const native_change *change, const double *u,
                            double *dy);

/* native_instant.c; create behind equations and input kinds. */
yoke_status                   native_instant_create(yoke_context *ctx, native *n);
extern const yoke_instant_ops native_instant;

/* native_response.c: begin where a step begins, advance behind each micro step, show dy at its end. Where it fails the response is not made. */
extern const yoke_response_ops native_response;
yoke_status native_response_begin(const native *n, void *scratch, const void *state, const yoke_signal *u,
                                  yoke_response *response);
yoke_status native_response_turn(const native *n, void *scratch, const void *state, const yoke_signal *u,
                                 yoke_response *response); /* the equations have a kink here */
yoke_status native_response_advance(const native *n, void *scratch, const void *state, const yoke_signal *u,
                                    yoke_response *response);
void        native_response_end(const native *n, void *scratch, const void *state, int ny, yoke_response *response);

/* native_events.c. The functions of the events from the state's time on; no crossing in a step that begins; those of its last micro step. */
void                        native_begin_events(const native *n, void *scratch, void *state);
/* The positions were moved onto joints: events that were dealt with at this time stay so. */
void                        native_hold_events(const native *n, void *scratch, void *state);
void                        native_forget_found(const native *n, void *state);
void                        native_note_found(const native *n, void *scratch, void *state, const yoke_signal *u);
/* May a state that was read hold this? `found` is where its native_found lies, not aligned. */
bool                        native_found_is_sound(const native *n, const void *found);
extern const yoke_event_ops native_events;

/* native_observe.c. What handles ask for is added. */
void        native_want(int n, const int64_t *handles, native_wanted *out);
/* Outputs of all signals into y, just behind native_accelerations (if they ask for these). */
void        native_show_signals(const native *n, void *scratch, const void *state, const native_point *at,
                                const yoke_signal *signal, const double *u, const double *a, double *y);
/* All times of the request that the last micro step has reached. */
yoke_status native_observe_passed(const native *n, void *scratch, const void *state, const yoke_signal *u,
                                  yoke_step_request *request);
extern const yoke_observe_ops native_observe;
extern const yoke_energy_ops  native_energy;

/* native_halo.c. Creation; have the masses of a halo moved since the last step? Asked once. */
yoke_status native_take_halos(yoke_context *ctx, native *n, yoke_subsystem *s, const yoke_native_def *def);
bool        native_is_nudged(const native *n, void *state);
extern const yoke_halo_ops native_halo_calls;

/* native_reset.c */
extern const yoke_reset_ops  native_resets;
extern const yoke_linear_ops native_linear;

#endif
