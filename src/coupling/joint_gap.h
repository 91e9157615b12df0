/* Joint gap: what a rigid joint across the split leaves open at the end of a trial (invariant 6 of the design).
 *
 * Levels of a row are s [m, rad], s' and s''. Angles count with the length L of the model, so that all rows of a joint have
 * the same unit: a turn by s moves a point at the distance L by L s. With the macro step H a level is *met* when
 *   |s| <= 1e-6 L,   |s'| <= 1e-6 L / H,   |s''| <= 1e-6 L / H^2,
 * or when it is as small as rounding lets it be. Whatever the level, this adds up to about 1e-6 L over a step. */
#ifndef YOKE_COUPLING_JOINT_GAP_H
#define YOKE_COUPLING_JOINT_GAP_H

#include "coupling/constraint.h"
#include "coupling/graph_internal.h"

typedef struct joint_gap {
  double level[YOKE_JOINT_LEVELS]; /* largest |s| [m], |s'| [m/s], |s''| [m/s^2] of all rows, angles times L */
  bool   is_met[YOKE_JOINT_LEVELS];
  int    row; /* that of level[0] */
} joint_gap;

/* Sizes of positions, velocities and accelerations of both ports, angles times L: rows are differences of numbers like these.
 * Euler parameters are angles of size 1. */
void graph_port_sizes(const graph_wire *wire, const double *const y[2], double L, double size[3]);

/* Of a wire with a joint, from the outputs of the last pass; settings.length > 0. */
void graph_joint_gap(const yoke_graph *graph, const graph_wire *wire, joint_gap *out);

/* Do all levels that the conditions hold count as met after the last pass? Those of a state reset are held behind the last pass
 * and do not count here, nor do weighted sets, which hold none. */
bool graph_levels_are_met(const yoke_graph *graph);

/* Are there joints, are they closed so far, and is there nothing else but signals that could be open? Corrections that do not settle are then
 * noise of the subsystems' solvers, which multipliers feel m / H^2 times. */
bool graph_joints_are_closed(const yoke_graph *graph);

/* The end of a trial: YOKE_JOINT_OPEN when a joint, whatever its formulation declares, is open by more than
 * settings.joint_tolerance. The largest levels of all joints go to statistics->residuals; the widest gap is kept for the message. */
yoke_status graph_check_gaps(yoke_graph *graph, yoke_step_statistics *statistics);

#endif
