/* Native subsystem: a (sub)model compiled by multibody, its integrator, its ports.
 * Inputs u: in the order of `inputs`. Outputs y: those of port 0, port 1, ... (port.h), each with its extras behind. */
#ifndef YOKE_NATIVE_NATIVE_H
#define YOKE_NATIVE_NATIVE_H

#include "integrate/integrator.h"
#include "model/multibody.h"
#include "frames/port.h"
#include "subsystem/subsystem.h"

/* What a port of shape `signal` shows, or that of a frame behind all else: values of handles (below), in this order. */
typedef struct yoke_native_signals {
  int            n;
  const int64_t *handles;
} yoke_native_signals;

/* Masses first, first + step, ... (step 1 or -1) of a chain are copies of masses that others own; any other body is one "mass", number 0. */
typedef struct yoke_native_halo {
  int body, first, step, n;
} yoke_native_halo;

typedef struct yoke_native_def {
  const char                *name;
  const yoke_model          *model; /* kept; solver settings inside */
  int                        n_ports;
  const int                 *port_frame;   /* [n_ports] frames of the model; -1: a port of shape `signal` */
  const yoke_port_request   *port_request; /* [n_ports] extras of the ports; NULL: none */
  const yoke_native_signals *port_signals; /* [n_ports] of frames: n 0, or more numbers; NULL: no port shows any */
  int                        n_inputs;
  const yoke_input          *inputs; /* [n_inputs] multibody.h */
  int                        n_integrals;
  const yoke_variable       *integrals; /* [n_integrals] positions whose time integrals are wanted */
  int                        n_halos;
  const yoke_native_halo    *halos;        /* [n_halos] */
  double                     length, time; /* sizes of the whole model [m, s]; 0: not known */
  const double              *q, *v;        /* start (no quadratures), where it fits the joints; NULL: assembled */
  bool                       is_whole;     /* a model that runs as a whole: its start is told about */
  bool                       in_parts;     /* multibody.h */
  bool                       energy;       /* dissipated and external work are wanted */
  bool                       no_response;  /* nobody asks for it: what it needs is not built */
  bool no_integrals; /* integrals of outputs are not wanted and are 0: a lone chain then keeps its fast equations */
} yoke_native_def;

yoke_status yoke_native_create(yoke_context *ctx, const yoke_native_def *def, yoke_subsystem **out);

/* Handles of what can be observed (subsystem.h): quantity, index, component. O(1) each beside what a point of the motion costs. */
typedef enum yoke_native_quantity {
  YOKE_NATIVE_Q, /* of body `index`: component of its positions; chains: the mass */
  YOKE_NATIVE_V,
  YOKE_NATIVE_A,
  YOKE_NATIVE_FORCE,    /* of connection `index`: row of a joint or of a force element */
  YOKE_NATIVE_G,        /* violation of a row, or deflection */
  YOKE_NATIVE_ENERGY,   /* index: YOKE_ENERGY_... */
  YOKE_NATIVE_INTEGRAL, /* index: which of `integrals` */
  YOKE_NATIVE_RESIDUAL, /* largest |g| of the own joints */
  YOKE_NATIVE_FRAME_Q,  /* of frame `index`: component as of its body */
  YOKE_NATIVE_FRAME_V,
  YOKE_NATIVE_FRAME_A,
  YOKE_NATIVE_COORDINATE, /* of joint `index` (a connection): which of its coordinates (joint_coordinate.h) */
  YOKE_NATIVE_COORDINATE_RATE,
  YOKE_NATIVE_INPUT /* number `index` of its own inputs, as it came in: who reads it there reads it where it is known */
} yoke_native_quantity;

enum { YOKE_NATIVE_FIELD = 29 }; /* bits of index and of component */

static inline int64_t yoke_native_handle(yoke_native_quantity quantity, int index, int component) {
  return (int64_t)quantity << (2 * YOKE_NATIVE_FIELD) | (int64_t)index << YOKE_NATIVE_FIELD | (int64_t)component;
}

static inline yoke_native_quantity yoke_native_quantity_of(int64_t handle) {
  return (yoke_native_quantity)(handle >> (2 * YOKE_NATIVE_FIELD));
}
static inline int yoke_native_index_of(int64_t handle) {
  return (int)(handle >> YOKE_NATIVE_FIELD & (((int64_t)1 << YOKE_NATIVE_FIELD) - 1));
}
static inline int yoke_native_component_of(int64_t handle) {
  return (int)(handle & (((int64_t)1 << YOKE_NATIVE_FIELD) - 1));
}

/* Constraint rows that follow from the others. */
int yoke_native_n_redundant(const yoke_subsystem *subsystem);

/* Is it a native subsystem, or a wrapper around one? */
bool yoke_native_is(const yoke_subsystem *subsystem);

/* Inside, for outputs of the whole model: of native subsystems and wrappers around them only. */
const yoke_model            *yoke_native_model(const yoke_subsystem *subsystem);
const yoke_equations        *yoke_native_equations(const yoke_subsystem *subsystem);
const yoke_multibody        *yoke_native_multibody(const yoke_subsystem *subsystem);
const yoke_integrator       *yoke_native_integrator(const yoke_subsystem *subsystem);
const yoke_integrator_state *yoke_native_state(const yoke_subsystem *subsystem, const void *state);

#endif
