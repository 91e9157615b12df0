/* Report of the assembly: how far bodies and velocities were moved, which rows were left out, whether anything can move.
 *
 * A body that was moved by more than 1e-6 of the model's length (or turned by as many rad) is noted, one by more than 1 % is
 * refused, unless the model asks for the assembly: `assemble: true`, or a joint coordinate (`initial`) or a
 * port of a foreign subsystem that it has to meet.
 * Velocities that were given, and changed by more than 1e-6 of the fastest one, are noted; bodies at rest follow the others. */
#ifndef YOKE_MODEL_ASSEMBLY_REPORT_H
#define YOKE_MODEL_ASSEMBLY_REPORT_H

#include "model/assembly.h"

/* To be called for whole models. Fails with YOKE_E_MODEL where the start is refused. */
yoke_status yoke_assembly_report(yoke_context *ctx, const yoke_model *model, const yoke_equations *equations,
                                 const yoke_multibody *mb, const yoke_assembly *assembly);

#endif
