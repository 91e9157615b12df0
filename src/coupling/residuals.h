/* Residuals: how far the conditions of all couplings are from holding, by kind and with a unit each, for the report. */
#ifndef YOKE_COUPLING_RESIDUALS_H
#define YOKE_COUPLING_RESIDUALS_H

#include "coupling/graph_internal.h"

/* Units of all conditions and channels, once the wires are built. */
void graph_units_set(yoke_graph *graph);

/* What residuals of a kind are measured by: L, L/H, L/H^2, and the largest force or moment at the end of the last
 * trial (graph_residuals_by_kind). */
double graph_residual_size(const yoke_graph *graph, yoke_residual_kind kind);

/* Largest |c| of the last pass by kind into statistics->residuals, and what they are measured by into statistics->sizes; a kind that
 * no condition has keeps size 0. Levels of joints are added by graph_check_gaps. */
void graph_residuals_by_kind(yoke_graph *graph, yoke_step_statistics *statistics);

#endif
