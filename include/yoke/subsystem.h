/* Subsystem type: code of one's own that takes part in a co-simulation like a part of the model.
 *
 * A type makes instances, one for every subsystem of a model that names it:
 *   subsystems: {pump: {kind: user, type: gear-pump, parameters: {...}, ports: {...}, inputs: {...}, outputs: {...}}}
 * An instance is constant. All that changes from step to step is in states, blocks of `state_size` bytes, 64-byte aligned, which the engine
 * holds and hands in. A step must be a pure function of its state and its inputs, the same bits again: it is repeated from copies of a state.
 *
 *   inputs  u [nu]   the wrenches on the ports in their order, n_v components each, then the signal inputs in their order
 *   outputs y [ny]   per port its positions p, velocities v and accelerations a, then the signal outputs in their order
 * A wrench is force and moment about the origin of the port in inertial axes. Shapes of ports and their components (SI units):
 *   line    p x                     v vx                  wrench fx
 *   plane   p x y angle             v vx vy omega         wrench fx fy mz
 *   point   p x y z                 v vx vy vz            wrench fx fy fz
 *   frame   p x y z q0 q1 q2 q3     v vx vy vz wx wy wz   wrench fx fy fz mx my mz   (w in inertial axes, q unit Euler parameters)
 * Accelerations are those of v, as many as there are velocities. Positions and velocities must not depend on the inputs at the same
 * instant, accelerations and signal outputs may. On success every value is finite. What is handed in as const stays as it is.
 *
 * Codes that functions give:
 *   YOKE_OK                                                  done
 *   YOKE_NOT_CONVERGED, YOKE_NON_FINITE, YOKE_SINGULAR       not this time; a shorter step may help, where nobody needs to go back for it
 *   YOKE_E_MEMORY, YOKE_E_SUBSYSTEM                          nothing helps; what has a context says why by yoke_fail (the name of the
 *                                                            subsystem is added). The run ends with exit code 7 and 6
 * Others count as YOKE_NOT_CONVERGED where they are > 0 and as YOKE_E_SUBSYSTEM where they are < 0. A context may be NULL, for yoke_fail too. What a step says that
 * succeeds is dropped, since steps are repeated.
 *
 * Threads: create, destroy and start of one instance are called by one thread at a time; all others may be called at the same time on
 * different threads for different states of one instance, unless `most_states` of the ability repeat says that there is one at a time.
 * Exceptions of C++ must not leave a function.
 *
 * An ability that is NULL the subsystem does not have: a scheme or a formulation that needs it says so before the run. Structs begin with
 * their size: the engine reads as much as the type was compiled for, a type reads and writes as much as `size` says (yoke/simulation.h). */
#ifndef YOKE_USER_SUBSYSTEM_H
#define YOKE_USER_SUBSYSTEM_H

#include <yoke/context.h>
#include <yoke/export.h>
#include <yoke/signal.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a type made for an older header would be misunderstood. */
enum { YOKE_SUBSYSTEM_ABI = 1 };

typedef struct yoke_user_port {
  const char *name;  /* "flange" */
  const char *shape; /* "line", "plane", "point", "frame" */
} yoke_user_port;

typedef struct yoke_user_signal {
  const char *name, *unit; /* unit NULL: none */
} yoke_user_signal;

/* A parameter of the model: a number (SI units), or a text. */
typedef struct yoke_user_argument {
  const char *name;
  const char *text; /* NULL: a number */
  double      value;
} yoke_user_argument;

/* What an instance is. `size` is set by the engine, the rest is zero and is filled by `create`; what it points to lives until `destroy`.
 * Ports and inputs have the names and shapes that the model file writes, in any order; outputs that it does not name are not read. */
typedef struct yoke_user_instance {
  size_t                  size;
  void                   *self; /* handed to all calls */
  int                     n_ports, n_inputs, n_outputs, n_events;
  const yoke_user_port   *ports;
  const yoke_user_signal *inputs, *outputs;
  const char *const      *events;     /* [n_events] names */
  size_t                  state_size; /* bytes; may be 0 */
} yoke_user_instance;

/* One step. `size`, t, t_end and is_new are given; t_reached and event are told. */
typedef struct yoke_user_step {
  size_t size;
  double t, t_end;
  bool
         is_new; /* the first one, or inputs or laws have jumped at t: what is remembered of the inputs before t is worth nothing */
  double t_reached; /* is t_end; a step that an event ends tells its time, in (t, t_end] */
  int    event;     /* number of the event at t_reached; is -1: none */
} yoke_user_step;

/* ---- abilities ---- */

/* Steps can be repeated from copies of a state. Needed by all schemes but `explicit`, and by step control. */
typedef struct yoke_user_repeat {
  size_t size;
  int    most_states; /* that may be at work at once; 0: any; 1: one, its steps then run one after another */
  /* NULL: states are bytes without pointers and are copied as such. Else `to` is zeroed or a state, also where this fails. */
  yoke_status (*copy)(void *self, void *to, const void *from);
} yoke_user_repeat;

/* Derivatives of the outputs with respect to the inputs at the state's time, inputs u [nu]: dy_du [nu, ny] row major comes zeroed, and
 * those of accelerations and signal outputs are filled. Without it they are found by differences of `output`. */
typedef struct yoke_user_instant {
  size_t size;
  yoke_status (*response)(void *self, const void *state, double t, const double *u, double *dy_du);
} yoke_user_instant;

/* Direction d changes input number input[e] by component e of du, for every entry e with direction[e] == d; entries are sorted by direction. */
typedef struct yoke_user_directions {
  size_t      size;
  int         n, n_entries;
  const int  *direction, *input; /* [n_entries] */
  yoke_signal du;                /* [n_entries] components, over the step */
} yoke_user_directions;

/* Derivatives of the outputs at the end of a step along directions of the inputs over it: dy [n, ny] row major, all of it filled. `from`
 * and `to` are the states before and behind the step. Without it perturbed steps take its place, and so they do for one step where it
 * gives YOKE_E_UNSUPPORTED. It is not asked for steps with events. With ability repeat only. */
typedef struct yoke_user_response {
  size_t size;
  yoke_status (*response)(void *self, const void *from, const void *to, const yoke_signal *u,
                          const yoke_user_step *step, const yoke_user_directions *directions, double *dy);
} yoke_user_response;

/* Events: a step ends where one is found and tells it (yoke_user_step.event). Behind it the step may be asked to go on as if nothing had
 * happened, because others look further; and it may be repeated to end at that very time, where it must tell the event again. A step that tells more than a million
 * of them is refused. Once all subsystems stand there, the event acts. Where one of them cannot go back, it acts at the end of the macro step, and a warning tells. */
typedef struct yoke_user_events {
  size_t size;
  /* The state changes at its time t; u [nu]: inputs. NULL: events are only recorded. */
  yoke_status (*act)(void *self, void *state, int event, double t, const double *u, yoke_context *ctx);
} yoke_user_events;

/* Energies of the state [J]: kinetic, potential, dissipated and brought in from outside since the start. Work through ports is none of these. */
typedef struct yoke_user_energy {
  size_t size;
  void (*values)(void *self, const void *state, double energy[4]);
} yoke_user_energy;

/* The state as bytes without pointers, to go on from in another process. Where states are such bytes themselves (ability repeat without
 * `copy`) this is not needed. */
typedef struct yoke_user_pack {
  size_t size;
  size_t (*n_bytes)(void *self, const void *state);
  yoke_status (*pack)(void *self, const void *state, void *bytes); /* [n_bytes] */
  /* `state` is zeroed or a state, and where this fails as it was; bytes are 64-byte aligned. */
  yoke_status (*unpack)(void *self, void *state, const void *bytes, size_t n_bytes);
} yoke_user_pack;

/* Outputs at times t inside the last step, behind its begin and not behind t_reached; u [nu]: inputs at t. Without it they are
 * interpolated for result files: positions and velocities of ports by cubics, all else by straight lines. */
typedef struct yoke_user_inside {
  size_t size;
  yoke_status (*output)(void *self, const void *state, double t, const double *u, double *y);
} yoke_user_inside;

/* ---- the type ---- */

typedef struct yoke_user_type yoke_user_type;
struct yoke_user_type {
  size_t      size;
  int         abi;     /* YOKE_SUBSYSTEM_ABI */
  const char *name;    /* "gear-pump" */
  const char *summary; /* one line; NULL: none */
  void       *user;    /* handed to `create` */

  /* An instance for subsystem `name` of a model; name and arguments are good for the call. One is also made, started with inputs of 0 and
   * destroyed where the engine looks at what a model is made of. Unknown or missing arguments are its own to
   * refuse: YOKE_E_MODEL with a message. YOKE_E_IO: a file that they name. `destroy` is not called where it fails. */
  yoke_status (*create)(yoke_context *ctx, void *user, const char *name, int n_arguments,
                        const yoke_user_argument *arguments, yoke_user_instance *out);
  void (*destroy)(void *self); /* NULL: nothing to do */

  /* `state` (zeroed, or a state that was started before) becomes the state at t; u [nu]: inputs at t. Called again until the inputs belong
   * to the outputs of all subsystems. */
  yoke_status (*start)(void *self, void *state, double t, const double *u, yoke_context *ctx);
  /* From t, the time of the state, to t_end under the inputs u (yoke_signal_value), which cover the step. */
  yoke_status (*step)(void *self, void *state, const yoke_signal *u, yoke_user_step *step, yoke_context *ctx);
  /* At the state's time t; u [nu]: inputs at t. All of y [ny] is filled. */
  yoke_status (*output)(void *self, const void *state, double t, const double *u, double *y);
  /* The step that ended here counts: no step is repeated from before. NULL: nothing to do. */
  void (*accept)(void *self, void *state);
  /* What a state holds outside its block is given back, once for every block that start, copy or unpack were called for, whatever they gave;
   * behind it the block is zeroed. NULL: nothing to do. */
  void (*release)(void *self, void *state);

  const yoke_user_repeat   *repeat;
  const yoke_user_instant  *instant;
  const yoke_user_response *response;
  const yoke_user_events   *events;
  const yoke_user_energy   *energy;
  const yoke_user_pack     *pack;
  const yoke_user_inside   *inside;
};

/* Models that are simulated with this context may name the type from now on. A copy is kept of the type, its texts and its abilities;
 * functions and `user` must outlive the context and all that was created with it. Contexts do not share what they know.
 *   YOKE_E_USAGE         a name that is taken or empty, a size that cannot be, a function that is missing: `create`, `start`, `step`, `output`,
 *                        or one of an ability that is not said to be optional; ability response without repeat
 *   YOKE_E_UNSUPPORTED   another ABI
 *   YOKE_E_MEMORY */
YOKE_API yoke_status yoke_context_add_type(yoke_context *ctx, const yoke_user_type *type);

/* The types of a shared library, which shows the function yoke_plugin_types. All of them, or none where this fails. The library stays loaded until the
 * context and all that was created with it are destroyed. Loading runs code of the library: load only what you trust. A path without a
 * slash is a file of the present folder.
 *   YOKE_E_IO            the file cannot be loaded
 *   YOKE_E_UNSUPPORTED   it has no such function, or was made for another ABI
 * and what yoke_context_add_type says. */
YOKE_API yoke_status yoke_context_load_plugin(yoke_context *ctx, const char *path);

/* How many types a context knows, and their names and summaries ("" where there is none); i from 0, in the order they were added. NULL where
 * there is no such type. Texts belong to the context. */
YOKE_API int         yoke_context_n_types(const yoke_context *ctx);
YOKE_API const char *yoke_context_type_name(const yoke_context *ctx, int i);
YOKE_API const char *yoke_context_type_summary(const yoke_context *ctx, int i);

/* What a plugin defines and the library does not: its types, a list that ends with NULL and lives as long as the plugin is loaded; NULL where
 * it was not made for this ABI. In C++ too its linkage is that of C by this declaration. */
YOKE_API const yoke_user_type *const *yoke_plugin_types(int abi);

#ifdef __cplusplus
}
#endif
#endif
