/* Lighter side: which end of a joint across a split gives way more easily, from the assembled start.
 *
 * W of a side [n, n]: accelerations in the joint's rows under unit multipliers, W = G C G^T, where C is the response of the
 * port's accelerations to forces and moments on it with the joints inside its subsystem honoured, and G the rows' gradient. */
#ifndef YOKE_MASTER_LIGHTER_SIDE_H
#define YOKE_MASTER_LIGHTER_SIDE_H

#include "coupling/formulation.h"
#include "master/submodel.h"

/* One end of the joint: its frame in the submodel, and its motion at the start (port.h). */
typedef struct yoke_joint_end {
  const yoke_model      *submodel;
  int                    frame;
  const yoke_port_shape *shape;
  double                 p[YOKE_PORT_MAX_P], v[YOKE_PORT_MAX_V];
} yoke_joint_end;

/* C [6, 6]: accelerations of the end, column by column for a unit force or moment on it. */
yoke_status yoke_joint_end_response(yoke_context *ctx, const yoke_joint_end *end, double C[36]);

/* *side = 0 or 1: the one that should be prescribed, so that the smallest ratio of effective masses (other side to this one)
 * over all directions of the joint is as large as possible. *ratio is that ratio. */
yoke_status yoke_lighter_side(yoke_context *ctx, const yoke_joint_element *joint, const yoke_joint_end end[2],
                              int *side, double *ratio);

#endif
