/* Prescribed: equations of a multibody whose motion is given in some rows (YOKE_INPUT_PRESCRIBED).
 *
 * Before anything is evaluated, q and v are moved onto the rows and onto the model's own joints (yoke_multibody_prescribe),
 *   (q^, v^) = P(q, v, t, u),   q' = T(q^) v^,   v' = a(t, q^, v^, u),
 * so what an integrator carries in these directions has no effect: positions and velocities are those given, without drift,
 * at every instant, jumps included. There are no constraints left (ng = 0): all rows count as guided (equations.h), lambda is
 * (own joints, guided rows). The implicit view is E x' = F with x = (q, v), E = 1 and J from differences, between states
 * that can act on each other (dependence.h). With rods, cables and linear bodies it is that of the equations inside with
 * x = (q, v, a, lambda) at (q^, v^): J is their own, a band, times d(q^, v^)/d(q, v), which couples the nodes of a joint alone. */
#ifndef YOKE_MODEL_PRESCRIBED_H
#define YOKE_MODEL_PRESCRIBED_H

#include "model/multibody.h"

/* Takes `base`, the equations of `mb`; on failure too. */
yoke_status yoke_prescribed_create(yoke_context *ctx, yoke_equations *base, const yoke_multibody *mb,
                                   yoke_equations *out);

#endif
