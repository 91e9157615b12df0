/* Where dy/dw of each subsystem comes from, and the room that responses need. */
#ifndef YOKE_COUPLING_COLUMN_SOURCES_H
#define YOKE_COUPLING_COLUMN_SOURCES_H

#include "coupling/graph_internal.h"

/* Does the scheme need dy/dw at all? */
bool graph_corrects_by_newton(const yoke_graph *graph);

/* `jacobian` of all subsystems: what was asked for, and perturbed integrations instead of tangents that a subsystem does not have; one that
 * was asked for them by name is noted. Room for responses. */
yoke_status graph_choose_columns(yoke_graph *graph, yoke_context *ctx);

#endif
