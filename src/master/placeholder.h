/* Placeholder: takes the place of a foreign subsystem where a model is looked at and its code is not there. It has the ports of the model at their places,
 * each as a unit mass, shows signals that are 0, and cannot step. */
#ifndef YOKE_MASTER_PLACEHOLDER_H
#define YOKE_MASTER_PLACEHOLDER_H

#include "subsystem/subsystem.h"

typedef struct yoke_placeholder_def {
  const char                   *name;
  int                           n_ports, n_inputs, n_outputs; /* mechanical ports, then signals */
  char *const                  *port_name;                    /* of all, in this order */
  const yoke_port_shape *const *shape;                        /* [n_ports] */
  const double *y; /* [ny] what it shows at rest: positions and velocities of the ports, accelerations 0 */
} yoke_placeholder_def;

yoke_status yoke_placeholder_create(yoke_context *ctx, const yoke_placeholder_def *def,
                                    yoke_subsystem **out); /* gives */

#endif
