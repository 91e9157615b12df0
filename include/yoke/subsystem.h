/* Subsystem type: code of one's own that takes part in a co-simulation like a part of the model.
 *
 * A type makes instances, one for every subsystem of a model that names it:
 *   subsystems: {pump: {kind: user, type: gear-pump, parameters: {...}, ports: {...}, inputs: {...}, outputs: {...}}}
 * An instance is constant. All that changes from step to step is in states, blocks of `state_size` bytes, 64-byte aligned, which the engine
 * holds and hands in. A step is repeated from copies of a state, several states of one instance are at work at the same time on different
 * threads (as far as `repeat` allows), and it must be a pure function of its state and its inputs: the same bits again.
 *
 *   inputs  u   the wrenches on the ports in their order, n_v components each, then the signal inputs in their order
 *   outputs y   per port its positions p, velocities v and accelerations a, then the signal outputs in their order
 * A wrench is force and moment about the origin of the port in inertial axes. Shapes of ports and their components (SI units):
 *   line    p x                     v vx                  wrench fx
 *   plane   p x y angle             v vx vy omega         wrench fx fy mz
 *   point   p x y z                 v vx vy vz            wrench fx fy fz
 *   frame   p x y z q0 q1 q2 q3     v vx vy vz wx wy wz   wrench fx fy fz mx my mz   (w in inertial axes, q unit Euler parameters)
 * Accelerations are those of v. Positions and velocities must not depend on the inputs at the same instant, accelerations and signal outputs may.
 *
 * Functions give YOKE_OK, > 0 where a shorter step may help, YOKE_E_SUBSYSTEM (with a message by yoke_fail) where nothing does. What is NULL the
 * subsystem cannot do: a scheme or a formulation that needs it says so. Structs begin with their size (yoke/simulation.h). */
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

/* What an instance is. `size` is set by the engine, the rest by `create`; what it points to lives until `destroy`. */
typedef struct yoke_user_instance {
  size_t                  size;
  void                   *self;
  int                     n_ports, n_inputs, n_outputs, n_events;
  const yoke_user_port   *ports;
  const yoke_user_signal *inputs, *outputs;
  const char *const      *events; /* [n_events] names */
  size_t                  state_size;
} yoke_user_instance;

/* One step. `size`, t, t_end and is_new are given; t_reached and event are told. */
typedef struct yoke_user_step {
  size_t size;
  double t, t_end;
  bool   is_new;    /* inputs may jump at t: at t the right limits count */
  double t_reached; /* is t_end; a step that an event ends tells its time, in (t, t_end] */
  int    event;     /* number of the event at t_reached; is -1: none */
} yoke_user_step;

/* ---- abilities ---- */

/* Steps can be repeated from copies of a state. */
typedef struct yoke_user_repeat {
  size_t size;
  int    most_states; /* that may be at work at once; 0: any; 1: one, tasks then run one after another */
  /* NULL: states are bytes without pointers and are copied as such. Else `to` is zeroed or a state. */
  yoke_status (*copy)(void *self, void *to, const void *from);
} yoke_user_repeat;

/* Derivatives of the outputs with respect to the inputs at the state's time; dy_du [nu, ny] row major, zeroed: accelerations and signal outputs. Without it they are
 * found by differences of `output`. */
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

/* Derivatives of the outputs at the end of a step along directions of the inputs over it: dy [n, ny] row major. `from` and `to` are the states before and
 * behind the step. Without it perturbed steps take its place. YOKE_E_UNSUPPORTED: not for this step. */
typedef struct yoke_user_response {
  size_t size;
  yoke_status (*response)(void *self, const void *from, const void *to, const yoke_signal *u,
                          const yoke_user_step *step, const yoke_user_directions *directions, double *dy);
} yoke_user_response;

/* Events: a step ends where one is found (yoke_user_step.event). Then all subsystems stand at this time, and the event acts. */
typedef struct yoke_user_events {
  size_t size;
  /* NULL: events are only recorded. The state changes at its time; inputs u. */
  yoke_status (*act)(void *self, void *state, int event, double t, const double *u, yoke_context *ctx);
} yoke_user_events;

/* Energies of the state [J]: kinetic, potential, dissipated and brought in from outside since the start. Work through ports is none of these. */
typedef struct yoke_user_energy {
  size_t size;
  void (*values)(void *self, const void *state, double energy[4]);
} yoke_user_energy;

/* The state as bytes without pointers, to go on from in another process. Where states are such bytes themselves this is not needed. */
typedef struct yoke_user_pack {
  size_t size;
  size_t (*n_bytes)(void *self, const void *state);
  yoke_status (*pack)(void *self, const void *state, void *bytes);
  yoke_status (*unpack)(void *self, void *state, const void *bytes,
                        size_t n_bytes); /* `state` is zeroed or a state; as before on failure */
} yoke_user_pack;

/* Outputs inside the last step, at times t in (t of the step, t_reached]. Without it they are interpolated for result files: positions and velocities
 * of ports by cubics, signals and energies by straight lines. */
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
  const char *summary; /* one line */
  void       *user;    /* handed to `create` */

  /* An instance for subsystem `name` of a model. Unknown or missing arguments are its own to refuse (YOKE_E_MODEL with a message). */
  yoke_status (*create)(yoke_context *ctx, void *user, const char *name, int n_arguments,
                        const yoke_user_argument *arguments, yoke_user_instance *out);
  void (*destroy)(void *self); /* NULL: nothing to do */

  /* `state` (zeroed, or a state that was started before) becomes the state at t. u: inputs at t. */
  yoke_status (*start)(void *self, void *state, double t, const double *u, yoke_context *ctx);
  /* From t to t_end under the inputs u (yoke_signal_value). */
  yoke_status (*step)(void *self, void *state, const yoke_signal *u, yoke_user_step *step, yoke_context *ctx);
  /* At the state's time t. u: inputs at t. */
  yoke_status (*output)(void *self, const void *state, double t, const double *u, double *y);
  void (*release)(void *self, void *state); /* what a state holds outside its block is given back. NULL: nothing */

  const yoke_user_repeat   *repeat;
  const yoke_user_instant  *instant;
  const yoke_user_response *response;
  const yoke_user_events   *events;
  const yoke_user_energy   *energy;
  const yoke_user_pack     *pack;
  const yoke_user_inside   *inside;
};

/* Models that are simulated with this context may name the type from now on. A copy is kept with what the abilities say; names, functions and `user` must outlive the context and all
 * that was created with it.
 *   YOKE_E_USAGE         a name that is taken or empty, a size that cannot be, `create`, `start`, `step` or `output` are missing
 *   YOKE_E_UNSUPPORTED   another ABI */
YOKE_API yoke_status yoke_context_add_type(yoke_context *ctx, const yoke_user_type *type);

/* The types of a shared library: it shows a function
 *   const yoke_user_type *const *yoke_plugin_types(int abi);
 * that gives a list which ends with NULL, or NULL where it was not made for this ABI. The library stays loaded until the context and all that was created with it are
 * destroyed. Loading runs code of the library: load only what you trust.
 *   YOKE_E_IO            the file cannot be loaded
 *   YOKE_E_UNSUPPORTED   it has no such function, or was made for another ABI
 * and what yoke_context_add_type says. */
YOKE_API yoke_status yoke_context_load_plugin(yoke_context *ctx, const char *path);

/* Types that a context knows. */
YOKE_API int         yoke_context_n_types(const yoke_context *ctx);
YOKE_API const char *yoke_context_type_name(const yoke_context *ctx, int i);
YOKE_API const char *yoke_context_type_summary(const yoke_context *ctx, int i);

#ifdef __cplusplus
}
#endif
#endif
