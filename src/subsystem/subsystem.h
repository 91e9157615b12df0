/* Subsystem: something that integrates itself over a macro step under given inputs and shows outputs.
 *
 * The subsystem is constant and shared by tasks; everything that changes is in a state. The main, perturbed and
 * comparison integrations of one subsystem run side by side on their own states and scratch.
 *
 * Contract (the `checked` wrapper watches it):
 *   1. step starts from a state that was started, accepted, unpacked or copied from such a one, at its time t.
 *   2. step is a pure function of (state, inputs, request): the same bits again after copying the state back.
 *   3. No value is ever not finite on success.
 * Inputs and outputs are flat arrays whose meaning was fixed when the subsystem was created.
 *
 * What every subsystem can do stands in its ops; what only some can do comes in groups, and a group that is NULL means "cannot". */
#ifndef YOKE_SUBSYSTEM_SUBSYSTEM_H
#define YOKE_SUBSYSTEM_SUBSYSTEM_H

#include "base/counters.h"
#include "base/directions.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/pack.h"
#include "exec/lockstep.h"
#include "frames/port.h"
#include <yoke/signal.h>
#include <float.h>
#include <math.h>

typedef struct yoke_subsystem yoke_subsystem;

/* ---- ports ---- */

/* One port as the wires see it. */
typedef struct yoke_port {
  const char            *name;
  const yoke_port_shape *shape;
  int                    y_at, n_y; /* its outputs in y: p, v, accelerations, integrals, then extras (port.h) */
  unsigned               takes;     /* set of YOKE_TAKES_...: what it can feel */
  int                    wrench_at; /* first of shape->n_v inputs that are the wrench on the port; shape `signal`: its input; -1: its inputs are made for its wires
                                      * one by one when the subsystem is created (native.h) */
  bool no_integrals;                /* its integrals are no more than zeros: formulations that read them are refused */
} yoke_port;

enum {
  YOKE_TAKES_WRENCH            = 1, /* always */
  YOKE_TAKES_COPY              = 2, /* of the partner's motion */
  YOKE_TAKES_ROW_MULTIPLIER    = 4,
  YOKE_TAKES_ROW_ACCELERATION  = 8,
  YOKE_TAKES_SECOND_MULTIPLIER = 16,
  YOKE_TAKES_PRESCRIBED_MOTION = 32,
  YOKE_TAKES_ALL               = 63, /* of a frame */
  YOKE_TAKES_SIGNAL            = 64 /* a port of shape `signal` that is an input; one that is an output takes nothing */
};

/* Outputs of a port behind those of its shape. */
static inline int yoke_port_n_extra(const yoke_port *port) {
  return port->n_y - yoke_shape_n_y(port->shape);
}

/* ---- a step ---- */

/* Derivatives of the outputs at t_end with respect to directions of the inputs (group `response`). */
typedef struct yoke_response {
  yoke_directions directions;
  void           *room;   /* 64-byte aligned, bytes as the group says; nothing in it is kept */
  double         *dy;     /* [n directions, ny] told, when is_made */
  double         *dx;     /* [n directions, n_x] told, when can_shift: how the state changes; NULL: not wanted */
  double         *dy_off; /* [n directions, ny] told with dx: what motions of dy are off by, as far as it is known */
  int64_t evaluations, jacobians; /* told: right-hand sides and Jacobians that it took besides those of the step */
  bool    can_shift;              /* told, with is_made: the state that the step led to may be shifted */
  bool
      is_made; /* told; false: this step has none (a singular position, a jump of a law): perturbed integrations take its place */
} yoke_response;

/* What one step shall do and tell. yoke_step_over makes the plain one. */
typedef struct yoke_step_request {
  size_t         size; /* of this struct as the caller knows it */
  double         t, t_end;
  bool           begins_anew;   /* inputs or loads jump at t: right limits count */
  bool           stop_anywhere; /* the step may end before t_end (native: after one micro step) */
  /* > 0: a step that takes more right-hand sides than this, and than twenty times as many as the steps before did in that time (the first one: ten
   * times as many as this), may be given up: YOKE_E_UNSTABLE. */
  int64_t        most_evaluations;
  bool           is_draft; /* nobody goes on from where it leads: works need not be counted */
  double         t_look;   /* from this time on somebody observes inside the last micro step; +infinity: nobody */
  /* Values of handles at times inside the step, t < times[i] <= t_end, rising; left limits of the inputs. */
  int            n_times, n_handles;
  const double  *times;
  const int64_t *handles;
  double *values; /* [n_times, n_handles] room; belongs to the state that is stepped: the caller keeps one per state */
  yoke_response *response; /* NULL: not wanted. The step has the same bits with and without */
  /* told: */
  double         t_reached;  /* t_end unless the step ended early */
  int            n_observed; /* times[0 .. n_observed - 1] <= t_reached were observed */
} yoke_step_request;

/* From t over H: to where the inputs end when that is t + H but for rounding, so that macro points keep their bits. */
static inline yoke_step_request yoke_step_over(const yoke_signal *u, double t, double H) {
  const double end = u != NULL ? u->t[u->n_pieces] : (double)INFINITY, sum = t + H;
  const bool   is_end = fabs(end - sum) <= 4.0 * DBL_EPSILON * fmax(fabs(t), fabs(sum));
  return (yoke_step_request){
      .size = sizeof(yoke_step_request), .t = t, .t_end = is_end ? end : sum, .t_look = (double)INFINITY};
}

/* ---- abilities ---- */

/* States can be copied: steps can be repeated, and several integrations run side by side. */
typedef struct yoke_repeat_ops {
  /* Save and restore. dst is a state of this subsystem, or a block that is all zero or was cleared. */
  yoke_status (*copy)(const yoke_subsystem *subsystem, void *dst, const void *src);
  /* A block with anything in it that nobody needs becomes one to copy onto. Optional, NULL: by zeroing all of it. */
  void (*clear)(const yoke_subsystem *subsystem, void *block);
  int most_states; /* at work at once; 0: any; 1: one instance, its tasks then run one after another */
} yoke_repeat_ops;

/* Response of the outputs to the inputs at the state's time: dy_du has shape [nu, ny], row major, of which only accelerations (and extras
 * and signals made of them) are filled; the rest is 0. */
typedef struct yoke_instant_ops {
  yoke_status (*response)(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                          yoke_side side, double *dy_du);
} yoke_instant_ops;

/* Response of the outputs at the end of a step to the inputs over it: yoke_step_request.response. */
typedef struct yoke_response_ops {
  size_t (*room)(const yoke_subsystem *subsystem,
                 int                   n_directions); /* bytes; 0: steps of this subsystem have no response */
  /* Both or none. Numbers x of a state that change with the inputs of its last step; 0: states are never shifted. */
  int (*n_x)(const yoke_subsystem *subsystem);
  /* Behind a step whose response can_shift: x += dx [n_x], where the inputs u would have led to, to first order; own constraints are honoured, and
   * outputs belong to it. What was observed and found inside of the step stays that of the old inputs. Not YOKE_OK: the state is of no use any
   * more. */
  yoke_status (*shift)(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                       const double *dx);
} yoke_response_ops;

/* A zero crossing of event `event` (number of the subsystem's own) inside a step. */
typedef struct yoke_found_event {
  int    event;
  double t;
} yoke_found_event;
/* Those of the last step, not sorted: at most YOKE_MAX_FOUND and one more of each event. */
enum { YOKE_MAX_FOUND = 64 };
typedef struct yoke_found_events {
  int                     n;
  const yoke_found_event *list;  /* inside the state */
  double                  until; /* crossings behind this time did not fit: the step was too long; +infinity: all did */
} yoke_found_events;

typedef struct yoke_event_ops {
  /* Crossings inside the last step. */
  yoke_found_events (*found)(const yoke_subsystem *subsystem, const void *state);
  /* The step ended before event `event` by a little: where it will be. In the past: its function turned away before it was there. */
  double (*ahead)(const yoke_subsystem *subsystem, void *scratch, const void *state, int event);
  /* Event `event` was dealt with at the state's time: it is not found again until its function has left 0. */
  void (*done)(const yoke_subsystem *subsystem, void *scratch, void *state, int event);
  /* The state, or its inputs, which are `u` from here on, have jumped at an event elsewhere: what its functions passed over thereby is no
   * crossing. */
  void (*begin)(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u);
  /* The event's own assignments happen at the state's time: its expressions are read from the state, all before any is written; own joints are
   * honoured; the energy that this brings in is counted as external work; the solver takes the state as a new one. */
  yoke_status (*act)(const yoke_subsystem *subsystem, void *scratch, void *state, int event, const yoke_signal *u,
                     yoke_context *ctx);
} yoke_event_ops;

/* Quantities by handle. handle < 0: output y[-1 - handle] of the ports; handle >= 0: the kind's own numbering (native.h). */
#define YOKE_NO_HANDLE INT64_MIN
static inline int64_t yoke_output_handle(int k) {
  return -1 - (int64_t)k;
}
static inline int yoke_handle_output(int64_t handle) {
  return (int)(-1 - handle);
}

/* At t inside the last micro step (t_look must have been told) or at the state's time; `side`: which limit of the inputs. */
typedef struct yoke_observe_ops {
  yoke_status (*at)(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u, double t,
                    yoke_side side, int n, const int64_t *handles, double *values);
} yoke_observe_ops;

enum { YOKE_ENERGY_KINETIC, YOKE_ENERGY_POTENTIAL, YOKE_ENERGY_DISSIPATED, YOKE_ENERGY_EXTERNAL, YOKE_N_ENERGIES };

/* Handles of its energies [J]; YOKE_NO_HANDLE: this one is not accounted for. Work through ports is no external work, and elements that end
 * at a ghost (the wire holds them) do not count. With `observe`. */
typedef struct yoke_energy_ops {
  void (*handles)(const yoke_subsystem *subsystem, int64_t out[YOKE_N_ENERGIES]);
  /* Optional, and without tasks beside it: all of them, none left out, at the time that the state has reached. false: inputs have a part in
   * them, and they are to be observed. */
  bool (*reached)(const yoke_subsystem *subsystem, void *scratch, const void *state, double out[YOKE_N_ENERGIES]);
} yoke_energy_ops;

/* Reset of a state by impulses along n rows at its ports (port.h), its own constraints honoured. */
typedef struct yoke_reset_ops {
  /* W [n, n], velocity along row i after a unit impulse along row j. */
  yoke_status (*row_response)(const yoke_subsystem *subsystem, void *scratch, const void *state, int n,
                              const yoke_port_row *rows, double *W);
  /* Positions move as far as velocities `move` [n impulses] would carry them in unit time, velocities change by `kick`; NULL: nothing. */
  yoke_status (*push)(const yoke_subsystem *subsystem, void *scratch, void *state, int n, const yoke_port_row *rows,
                      const double *move, const double *kick);
  /* The pushes are over, the solver takes the state as a new one; u as at the end of the step that led here. */
  yoke_status (*reset)(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                       yoke_context *ctx);
  /* Prescribed motions of its own that jump at the state's time, or whose rates do, take the state across; *is_kicked: is there one? u as for
   * `reset`. NULL: there is none. */
  yoke_status (*kick)(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                      bool *is_kicked, yoke_context *ctx);
  /* Positions and velocities of the state itself over those that `output` wrote into y, where an input gives a port its motion. NULL:
   * `output` shows the state's own. */
  void (*motions)(const yoke_subsystem *subsystem, void *scratch, const void *state, double *y);
  /* `sign` times the energy of the state is counted as external work: -1 before pushes and 1 behind them count what these bring in. NULL:
   * no work is counted. */
  void (*account)(const yoke_subsystem *subsystem, void *scratch, void *state, double sign);
} yoke_reset_ops;

/* The state as a vector x [n_x] of independent coordinates and velocities, for analyses: read, and write (the time stays, integrals of
 * outputs start from zero). n_x < 0: its coordinates depend on each other. */
typedef struct yoke_linear_ops {
  int (*n_x)(const yoke_subsystem *subsystem);
  void (*get_x)(const yoke_subsystem *subsystem, const void *state, double *x);
  yoke_status (*set_x)(const yoke_subsystem *subsystem, void *scratch, void *state, const double *x);
} yoke_linear_ops;

/* The state as bytes without pointers (base/pack.h), to go on from in another process with the same bits. */
typedef struct yoke_pack_ops {
  yoke_status (*pack)(const yoke_subsystem *subsystem, const void *state, yoke_pack *out, yoke_context *ctx);
  /* Into a state of this subsystem, or a block as for `copy`. Where it fails the state is as before. */
  yoke_status (*unpack)(const yoke_subsystem *subsystem, void *scratch, yoke_unpack *in, void *state,
                        yoke_context *ctx);
} yoke_pack_ops;

/* Copies of bodies that belong to other subsystems, in halos around its own (coupling/overlap.c). */
typedef struct yoke_halo_ops {
  /* Between steps: the bodies of halo number `halo` get positions and velocities from y, the outputs of ports at their originals one behind
   * the other in the order of the halo. They are off by a little at most: the solver goes on with its step and order where it can. */
  void (*take)(const yoke_subsystem *subsystem, void *state, int halo, const double *y);
} yoke_halo_ops;

/* All groups: X(type, member of the ops). Wrappers pass every group on from this list (wrapper.h). */
#define YOKE_SUBSYSTEM_GROUPS(X)                                                                                       \
  X(yoke_repeat_ops, repeat)                                                                                           \
  X(yoke_instant_ops, instant)                                                                                         \
  X(yoke_response_ops, response)                                                                                       \
  X(yoke_event_ops, events)                                                                                            \
  X(yoke_observe_ops, observe)                                                                                         \
  X(yoke_energy_ops, energy)                                                                                           \
  X(yoke_reset_ops, reset)                                                                                             \
  X(yoke_linear_ops, linear)                                                                                           \
  X(yoke_halo_ops, halo)                                                                                               \
  X(yoke_pack_ops, pack)

typedef struct yoke_subsystem_ops {
  const char *kind; /* "native"; wrappers: "forward", "checked", "traced" */
  void (*destroy)(yoke_subsystem *subsystem);

  /* State and scratch have the sizes below. `u` covers [t, t_end]. */
  yoke_status (*start)(const yoke_subsystem *subsystem, void *scratch, void *state, double t, const yoke_signal *u,
                       yoke_context *ctx);
  yoke_status (*step)(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                      yoke_step_request *request, yoke_context *ctx);
  /* At the state's time; `side`: which limit of the inputs counts. */
  yoke_status (*output)(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                        yoke_side side, double *y);

  /* Optional: NULL means there is nothing to do. */
  /* The step that ended at the state's time was accepted: integrals of outputs start again from zero. */
  void (*accept)(const yoke_subsystem *subsystem, void *state);
  void (*counters)(const yoke_subsystem *subsystem, const void *state, yoke_counters *out);
  /* What a state holds outside its block is given back; the block may then be freed or used for a new start. */
  void (*release)(const yoke_subsystem *subsystem, void *state);
  /* Before the first start, not by wrappers: threads (kept) help inside of its steps, which have the same bits. NULL: would they have something
   * to do? */
  bool (*help)(const yoke_subsystem *subsystem, yoke_lockstep *helpers);

#define YOKE_GROUP(type, name) const type *name;
  YOKE_SUBSYSTEM_GROUPS(YOKE_GROUP)
#undef YOKE_GROUP
} yoke_subsystem_ops;

struct yoke_subsystem {
  const yoke_subsystem_ops *ops;
  void                     *self;
  int                       nu, ny, n_ports;
  const yoke_port          *ports;                    /* [n_ports] */
  size_t                    state_size, scratch_size; /* bytes; both 64-byte aligned blocks */
  const yoke_subsystem     *inner;                    /* wrappers: what is inside; else NULL */
  size_t                    inner_at;                 /* wrappers: where its state starts in theirs, bytes */
  char                     *name;
  yoke_arena                arena;      /* of name, self and what they point to */
  size_t                    state_rest; /* bytes of a state, behind its beginning, that may never be written; 0: none */
};

void yoke_subsystem_destroy(yoke_subsystem **subsystem);

/* Blocks for one task. Give. */
yoke_status yoke_subsystem_state_create(const yoke_subsystem *subsystem, void **out);
void        yoke_subsystem_state_destroy(const yoke_subsystem *subsystem, void **state);
/* For blocks that the caller frees: what the state holds outside is given back. state may be NULL. */
void        yoke_subsystem_state_release(const yoke_subsystem *subsystem, void *state);
void        yoke_subsystem_state_clear(const yoke_subsystem *subsystem, void *block); /* `clear` of the repeat group */
yoke_status yoke_subsystem_scratch_create(const yoke_subsystem *subsystem, void **out);
void        yoke_subsystem_scratch_destroy(void **scratch);

/* Public calls: check arguments, dispatch, and check that outputs are finite and that a step tells a time and a count that can be. */
yoke_status yoke_subsystem_start(const yoke_subsystem *s, void *scratch, void *state, double t, const yoke_signal *u,
                                 yoke_context *ctx);
yoke_status yoke_subsystem_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                                yoke_step_request *request, yoke_context *ctx);
yoke_status yoke_subsystem_output(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                  yoke_side side, double *y);
/* Nothing happens when the subsystem cannot repeat, or has no `accept`. */
yoke_status yoke_subsystem_copy(const yoke_subsystem *s, void *dst, const void *src);
void        yoke_subsystem_accept(const yoke_subsystem *s, void *state);
/* All 0 when the subsystem does not count. */
void        yoke_subsystem_counters(const yoke_subsystem *s, const void *state, yoke_counters *out);

/* What all kinds begin with: a subsystem of this name with a zeroed self of self_size bytes; its ops are for the caller to set. Their
 * `destroy` ends with yoke_subsystem_free. */
yoke_status yoke_subsystem_new(yoke_context *ctx, const char *name, size_t self_size, yoke_subsystem **out);
void        yoke_subsystem_free(yoke_subsystem *subsystem);

/* The subsystem inside all wrappers, and its state inside theirs. */
const yoke_subsystem *yoke_subsystem_bare(const yoke_subsystem *subsystem);
const void           *yoke_subsystem_bare_state(const yoke_subsystem *subsystem, const void *state);

/* Wrappers: take the inner subsystem, also when they fail.
 * `forward` makes a subsystem that cannot go back, as many foreign ones cannot.
 * `checked` enforces the contract with messages that name the subsystem; every seventh step is repeated from a copy and must give the
 * same bits. `traced` logs one line per call, on the thread that runs the task. */
yoke_status yoke_subsystem_forward(yoke_context *ctx, yoke_subsystem *inner, yoke_subsystem **out);
yoke_status yoke_subsystem_check(yoke_context *ctx, yoke_subsystem *inner, yoke_subsystem **out);
yoke_status yoke_subsystem_traced(yoke_context *ctx, yoke_subsystem *inner, yoke_log log, yoke_subsystem **out);

#endif
