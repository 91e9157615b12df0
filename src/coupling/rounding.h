/* Rounding of the unknowns: how well can the corrector know a coupling value?
 *
 * A condition c(u, y) is a difference of numbers, and known to a share of their sizes only: eta = sum |dc/dy| |y| + sum |dc/du| |u|, times
 * a multiple of the unit of rounding. A multiplier that is found from positions over a step H moves them by H^2 / m, so that their rounding
 * asks for corrections of eps |q| m / H^2, whatever the multiplier is, and asks for more the shorter the step is. In general the corrections
 * of rounding are those of conditions of the size eta and any sign,
 *   J r = s eta,   s = +1 or -1,
 * by the matrix at hand: positions, velocities and copies each count with their own size. */
#ifndef YOKE_COUPLING_ROUNDING_H
#define YOKE_COUPLING_ROUNDING_H

#include "coupling/graph_internal.h"

/* Is graph->delta, which `graph->c_before` has asked for, no more than rounding beside what the corrector's test allows? */
yoke_status graph_is_rounding(yoke_graph *graph, bool *is_rounding, yoke_context *ctx);

#endif
