/* Native subsystem: a (sub)model compiled by multibody, its integrator, its ports.
 * Inputs u: in the order of `inputs`. Outputs y: those of port 0, port 1, ... (port.h), each with its extras behind. */
#ifndef YOKE_NATIVE_NATIVE_H
#define YOKE_NATIVE_NATIVE_H

#include "integrate/integrator.h"
#include "model/multibody.h"
#include "frames/port.h"
#include "subsystem/subsystem.h"

typedef struct yoke_native_def {
  const char              *name;
  const yoke_model        *model; /* kept; solver settings inside */
  int                      n_ports;
  const int               *port_frame;   /* [n_ports] frames of the model */
  const yoke_port_request *port_request; /* [n_ports] extras of the ports; NULL: none */
  int                      n_inputs;
  const yoke_input        *inputs; /* [n_inputs] multibody.h */
  int                      n_integrals;
  const yoke_variable     *integrals; /* [n_integrals] positions whose time integrals are wanted */
  bool no_integrals; /* integrals of outputs are not wanted and are 0: a lone chain then keeps its fast equations */
} yoke_native_def;

yoke_status yoke_native_create(yoke_context *ctx, const yoke_native_def *def, yoke_subsystem **out);

/* Is it a native subsystem, or a wrapper around one? */
bool yoke_native_is(const yoke_subsystem *subsystem);

/* Inside, for outputs of the whole model: of native subsystems and wrappers around them only. */
const yoke_model            *yoke_native_model(const yoke_subsystem *subsystem);
const yoke_equations        *yoke_native_equations(const yoke_subsystem *subsystem);
const yoke_multibody        *yoke_native_multibody(const yoke_subsystem *subsystem);
const yoke_integrator       *yoke_native_integrator(const yoke_subsystem *subsystem);
const yoke_integrator_state *yoke_native_state(const yoke_subsystem *subsystem, const void *state);

#endif
