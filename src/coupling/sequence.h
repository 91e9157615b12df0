/* Gauss-Seidel: one pass in which the subsystems are integrated one after another, and later ones use what earlier ones found. */
#ifndef YOKE_COUPLING_SEQUENCE_H
#define YOKE_COUPLING_SEQUENCE_H

#include "coupling/graph_internal.h"

/* The end nodes of channels that enter a subsystem whose partner is already done come from u = phi(y): with the partner's new
 * outputs, and with the subsystem's own outputs of the last pass (`has_pass`) or, before any pass, its motion continued with its
 * accelerations extrapolated one degree below the order of the run, which keeps the order k + 1. The sources leave this open for
 * force/force; one degree more has the same order, but less stability, also of degree 2 without damping (Kraft App. C). */
yoke_status graph_pass_in_sequence(yoke_graph *graph, bool has_pass, int aims, yoke_step_statistics *statistics,
                                   yoke_context *ctx);

#endif
